//! Operations that own their buffers: what a future needs that may be forgotten, since then no borrow of its buffers holds.
//!
//! What must stay true: the engine is never left with a buffer that somebody touches or frees. While an operation is under way
//! its buffers are in [`Kept`]; they come out when it is over. Dropped, a receive that has no message is taken back; what goes
//! on is left to the engine with its buffers, which frees them at its end. Forgotten, the buffers are never freed.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Poll, Waker};

use super::scope::to_the_end;
use crate::buffer::Kept;
use crate::comm::Comm;
use crate::error::{Error, Result, say};
use crate::ids::RequestId;
use crate::pt2pt::matching::Unexpected;
use crate::pt2pt::recv;
use crate::request::{Status, complete};
use crate::slice::{Collective, RecvBuf, SendBuf};
use crate::wire::Mode;
use crate::world::{World, take_if_complete};

/// What is to be started with buffers that it borrows.
#[derive(Debug)]
pub enum Transfer<'a> {
    /// To this rank, with this tag.
    Send(SendBuf<'a>, i32, i32, Mode),
    /// From this rank, with this tag.
    Receive(RecvBuf<'a>, i32, i32),
    /// A message taken out by a probe, which stays if it cannot be started.
    Matched(RecvBuf<'a>, &'a mut Option<Unexpected>),
    /// A collective operation.
    Collective(Collective<'a>),
}

/// What an operation came to, and its buffers.
pub type Ended<B> = (Result<Status>, B);

/// An operation under way that owns its buffers.
pub struct Owned<'w, B: Send + 'static> {
    world: &'w World,
    /// `None`: it is over.
    under_way: Option<(RequestId, Kept<B>)>,
}

impl World {
    /// Starts an operation with buffers that it keeps until it is over; `plan` says what it is.
    ///
    /// The buffers are lent to the operation as if they were borrowed as long as it goes on, so `plan` can use nothing that ends
    /// before. They cannot be of a borrow themselves, which could end while the operation is forgotten:
    ///
    /// ```compile_fail,E0521
    /// use posthaste_core::{comm::Comm, slice::RecvBuf, world::{Transfer, World}};
    /// fn wrong(world: &World, comm: &Comm, borrowed: &mut [u8]) {
    ///     // error: borrowed data escapes
    ///     drop(world.start_owned(comm, borrowed, |room| Ok(Transfer::Receive(RecvBuf::new(room), 0, 0))));
    /// }
    /// ```
    ///
    /// # Errors
    /// What `plan` returned, or a wrong rank or tag, or a full table of requests; with the buffers.
    pub fn start_owned<B: Send + 'static>(
        &self,
        comm: &Comm,
        buffers: B,
        plan: impl for<'a> FnOnce(&'a mut B) -> Result<Transfer<'a>>,
    ) -> std::result::Result<Owned<'_, B>, (Error, B)> {
        let mut kept = Kept::new(buffers);
        let started = plan(kept.lend()).and_then(|transfer| to_the_end(|| self.begin(comm, transfer)));
        match started {
            Ok(id) => Ok(Owned { world: self, under_way: Some((id, kept)) }),
            Err(why) => Err((why, kept.take_back())),
        }
    }

    fn begin(&self, comm: &Comm, transfer: Transfer<'_>) -> Result<RequestId> {
        match transfer {
            Transfer::Send(data, to, tag, mode) => self.isend(comm, to, tag, data.lend(), mode),
            Transfer::Receive(room, from, tag) => self.irecv(comm, from, tag, room.lend()),
            Transfer::Matched(room, message) => self.imrecv(message, room.lend()),
            Transfer::Collective(operation) => self.start(operation.lend()),
        }
    }

    /// Nobody asks for an operation any more. Its buffers come back if it is over, or can be taken back; otherwise they are
    /// freed at its end.
    fn abandon<B: Send + 'static>(&self, id: RequestId, kept: Kept<B>) -> Option<B> {
        let mut vci = self.runtime.enter(self.vci_number(id.slot as usize));
        recv::cancel(&mut vci.engine, id);
        if take_if_complete(&mut vci, id).is_some() {
            return Some(kept.take_back());
        }
        let engine = &mut vci.engine;
        let waker = complete::forget(&mut engine.requests, &mut engine.finished, id);
        let free = Box::new(move |_: RequestId, _: &Status| free(kept.take_back()));
        complete::attach(&mut engine.requests, &mut engine.finished, id, free);
        drop(vci);
        drop(waker);
        None
    }
}

/// Frees buffers on whatever thread finds that they are free, which goes on if the program's own code for that panics.
fn free(buffers: impl Send) {
    if catch_unwind(AssertUnwindSafe(|| drop(buffers))).is_err() {
        say(format_args!(
            "freeing the buffer of an operation that was dropped has panicked: it may not be freed whole"
        ));
    }
}

impl<B: Send + 'static> Owned<'_, B> {
    /// As [`World::poll`]. Not to be called again after it has returned the buffers.
    pub fn poll(&mut self, waker: &Waker) -> Poll<Ended<B>> {
        let (id, kept) = self.under_way.take().expect("an operation is polled after its end");
        match to_the_end(|| self.world.poll(id, waker)) {
            Ok(Poll::Pending) => {
                self.under_way = Some((id, kept));
                Poll::Pending
            }
            Ok(Poll::Ready(status)) => Poll::Ready((Ok(status), kept.take_back())),
            Err(why) => Poll::Ready((Err(why), kept.take_back())),
        }
    }

    /// As [`World::wait`].
    pub fn wait(mut self) -> Ended<B> {
        let (id, kept) = self.under_way.take().expect("an operation is waited for after its end");
        let status = to_the_end(|| self.world.wait(id));
        (status, kept.take_back())
    }

    /// The share of the engine that it was started with.
    pub fn world(&self) -> &World {
        self.world
    }
}

impl<B: Send + 'static> Drop for Owned<'_, B> {
    fn drop(&mut self) {
        if let Some((id, kept)) = self.under_way.take() {
            drop(to_the_end(|| self.world.abandon(id, kept)));
        }
    }
}

impl<B: Send + 'static> fmt::Debug for Owned<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned").field("under_way", &self.under_way.as_ref().map(|(id, _)| id)).finish()
    }
}
