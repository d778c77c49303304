//! Requests that end outside the engine: by a call of whoever has their [`Ender`], or by a descriptor that becomes readable.
//!
//! What must stay true: such a request ends in `request::outside` like any other, so every wait and test sees it.

use std::os::fd::OwnedFd;

use super::World;
use crate::error::{Error, Result};
use crate::ids::RequestId;
use crate::request::{Request, State};
use crate::runtime::{Ender, WhenReady};

impl World {
    /// A request that ends when whoever has its [`Ender`] says so, on any thread: of what others do, outside the engine.
    /// It belongs to the first VCI.
    ///
    /// # Errors
    /// A full table of requests.
    pub fn external(&self) -> Result<(RequestId, Ender)> {
        let engine = &mut self.vci().engine;
        let id = engine.requests.insert(Request::new(State::External))?;
        Ok((id, Ender::new(&self.runtime, &engine.outside, id)))
    }

    /// A request that ends when `when_ready`, which is asked whenever the descriptor can be read, says what came of it. A
    /// thread that sleeps in a call sleeps on the descriptor, too; it is closed at the end. The request belongs to the first
    /// VCI.
    ///
    /// # Errors
    /// A full table of requests; what the system says of the descriptor (it cannot watch files on disk).
    pub fn when_readable(&self, fd: OwnedFd, when_ready: WhenReady) -> Result<RequestId> {
        let (id, outside) = {
            let engine = &mut self.vci().engine;
            (engine.requests.insert(Request::new(State::External))?, engine.outside.clone())
        };
        let watched = self.runtime.watch((&outside, id), fd, when_ready);
        watched.map(|()| id).map_err(|why| {
            self.vci().engine.requests.remove(id);
            Error::system("watching a descriptor", why)
        })
    }
}
