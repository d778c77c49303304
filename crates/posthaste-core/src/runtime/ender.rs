//! Ending a request from any thread: one that is inside no VCI, and that MPI may not even know of.
//!
//! What must stay true: whoever sleeps for the request is woken, also when it was just about to sleep.

use std::sync::Arc;

use crate::ids::RequestId;
use crate::request::Status;
use crate::request::outside::Outside;
use crate::runtime::Runtime;

/// The right to end a request, once, on any thread. Without it the request never ends.
#[derive(Debug)]
pub struct Ender {
    runtime: Arc<Runtime>,
    outside: Arc<Outside>,
    id: RequestId,
}

impl Ender {
    /// For a request in the VCI that has this `outside`.
    pub(crate) fn new(runtime: &Arc<Runtime>, outside: &Arc<Outside>, id: RequestId) -> Self {
        Self { runtime: runtime.clone(), outside: outside.clone(), id }
    }

    /// Ends it. A handler of the request runs on a thread that is inside the library or comes there next.
    pub fn end(self, status: Status) {
        self.outside.leave(self.id, status);
        // Who registers as the listener after this looks once more before it sleeps, and finds the end.
        if let Some(wake) = self.runtime.sleepers.with(|parked| parked.rouse_listener()) {
            self.runtime.wake(wake);
        }
    }
}
