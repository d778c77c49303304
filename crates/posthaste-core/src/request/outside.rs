//! Ends of requests that come from outside the engine: from a thread of a file, a device or a name server, which may be
//! inside no VCI, whatever the level of thread support.
//!
//! Whoever ends a request ([`crate::request::State::External`]) leaves that here, and a thread that is inside the VCI
//! performs it with its next step.
//!
//! What must stay true: an end is seen by the first step that begins after it was left.

use std::sync::atomic::{AtomicBool, Ordering};

use posthaste_os::sync::Mutex;

use crate::ids::RequestId;
use crate::request::Status;

/// Ends that nobody has performed yet, of the requests of one VCI.
#[derive(Debug)]
pub struct Outside {
    some: AtomicBool,
    ends: Mutex<Vec<(RequestId, Status)>>,
}

impl Default for Outside {
    fn default() -> Self {
        Self { some: AtomicBool::new(false), ends: Mutex::new(Vec::new()) }
    }
}

impl Outside {
    /// Leaves an end, on any thread.
    pub fn leave(&self, id: RequestId, status: Status) {
        self.ends.with(|ends| ends.push((id, status)));
        // SYNC: pairs with the Acquire in `take`: who sees that there is something finds it.
        self.some.store(true, Ordering::Release);
    }

    /// Whether there may be something to take.
    #[inline]
    pub fn has_some(&self) -> bool {
        self.some.load(Ordering::Relaxed)
    }

    /// What was left.
    #[cold]
    pub fn take(&self) -> Vec<(RequestId, Status)> {
        self.some.swap(false, Ordering::Acquire);
        self.ends.with(std::mem::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_threads_leave_is_taken_once() {
        let outside = Outside::default();
        assert!(!outside.has_some());
        std::thread::scope(|threads| {
            for slot in 0..4 {
                let outside = &outside;
                threads.spawn(move || {
                    (0..100).for_each(|generation| {
                        outside.leave(RequestId { slot, generation }, Status::EMPTY);
                    });
                });
            }
        });
        assert!(outside.has_some());
        let mut taken: Vec<_> = outside.take().into_iter().map(|(id, _)| (id.slot, id.generation)).collect();
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), 400);
        assert!(!outside.has_some() && outside.take().is_empty());
    }
}
