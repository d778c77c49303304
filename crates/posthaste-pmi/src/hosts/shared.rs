//! The way to another process of the job, which the thread that beats uses as well.
//!
//! What must stay true: a beat stands between whole frames; nobody waits with the lock.

use super::frame::emit;
use crate::spawn::output::Sink;
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A sink of two threads.
#[derive(Clone, Debug)]
pub(super) struct Shared(Arc<Mutex<Sink>>);

/// The same, which ends with its owner.
#[derive(Debug)]
pub(super) struct Borrowed(Weak<Mutex<Sink>>);

impl Shared {
    pub(super) fn new(sink: Sink) -> Self {
        Self(Arc::new(Mutex::new(sink)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Sink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lend(&self) -> Borrowed {
        Borrowed(Arc::downgrade(&self.0))
    }

    /// Says this, unless something else is on its way, which says as much.
    pub(super) fn beat(&self, message: &impl Serialize) {
        let mut sink = self.lock();
        if !sink.is_waiting() {
            sink.push(None, |out| emit(message, out));
        }
        sink.flush();
    }
}

impl Borrowed {
    /// As [`Shared::beat`]; false when the owner has given it up.
    pub(super) fn beat(&self, message: &impl Serialize) -> bool {
        self.0.upgrade().map(|sink| Shared(sink).beat(message)).is_some()
    }
}
