//! A descriptor for event loops of the program: it can be read when a request has finished that it watches.
//!
//! A [`Bell`] is a waker of tasks, so whatever can wake a task can ring it, when what the task awaits is there: a handler would
//! ring while it runs, and a test would say that the request goes on. The progress thread finds that requests end while the
//! program sleeps in its event loop.
//!
//! What must stay true: whoever empties the descriptor looks at everything that it watches afterwards; what ends after that
//! rings again.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, PoisonError};
use std::task::Wake;

use posthaste_os::socket::Pipe;

use crate::error::{Error, Result};
use crate::world::World;

/// The descriptor of this process, and what makes it readable.
#[derive(Debug)]
pub struct Bell(Pipe);

impl Bell {
    /// Makes it unreadable until it is rung once more.
    pub fn drain(&self) {
        self.0.drain();
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.ring();
    }
}

impl World {
    /// The descriptor of this process, the same at every call while the engine is open. From the first call on there is a
    /// progress thread.
    ///
    /// # Errors
    /// As [`World::ensure_progress_thread`]; when there are no descriptors left.
    pub fn bell(&self) -> Result<Arc<Bell>> {
        self.ensure_progress_thread()?;
        let mut bell = self.common.bell.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*bell {
            return Ok(Arc::clone(known));
        }
        let pipe = Pipe::new().map_err(|why| Error::system("making the pipe of an event loop", why))?;
        Ok(Arc::clone(bell.insert(Arc::new(Bell(pipe)))))
    }
}
