//! Tasks that wait for a message to come, as a probe does: they look again when a message has come that nobody expected, and
//! when a peer is lost.
//!
//! What must stay true: who looks and registers does both in one visit of the VCI, so that no message comes between. No
//! waker is dropped there (`request::tasks`).

use std::task::Waker;

use crate::pt2pt::Engine;
use crate::request::complete::Due;

/// The number of a registration, never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenerId(u64);

/// The tasks of one VCI.
#[derive(Debug, Default)]
pub struct Listeners {
    last: u64,
    wakers: Vec<(ListenerId, Waker)>,
}

impl Listeners {
    /// Wakes a task once, when there may be something new. `before`: its registration so far, whose waker comes back.
    pub fn listen(&mut self, before: Option<ListenerId>, waker: &Waker) -> (ListenerId, Option<Waker>) {
        let known = before.and_then(|before| self.forget(before));
        self.last += 1;
        self.wakers.push((ListenerId(self.last), waker.clone()));
        (ListenerId(self.last), known)
    }

    /// The task does not listen any more. Its waker.
    pub fn forget(&mut self, id: ListenerId) -> Option<Waker> {
        let place = self.wakers.iter().position(|(known, _)| *known == id)?;
        Some(self.wakers.swap_remove(place).1)
    }
}

impl Engine {
    /// There may be something new for who listens.
    #[inline]
    pub(super) fn tell_listeners(&mut self) {
        if !self.listeners.wakers.is_empty() {
            let wakers = self.listeners.wakers.drain(..);
            self.finished.handlers.extend(wakers.map(|(_, waker)| Due::Wake(waker)));
        }
    }
}
