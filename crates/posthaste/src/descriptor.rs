//! A descriptor for event loops: epoll, poll, and whatever stands on them.
//!
//! What must stay true: it is one of the process, so whoever empties it looks at everything that was polled with it.

use std::fmt;
use std::future::Future;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use posthaste_core::world::Bell;

use crate::error::Result;
use crate::universe::Universe;

/// A descriptor that can be read when something has finished that was polled with it ([`Universe::descriptor`]).
///
/// ```
/// use std::os::fd::AsFd;
/// # let universe = posthaste::init_with_progress()?;
/// # let world = universe.world();
/// let descriptor = universe.descriptor()?;
/// let mut receive = world.receive_owned(vec![0u8; 5], 0, 0);
/// assert!(descriptor.poll(&mut receive).is_pending());
/// world.send(b"hello", 0, 0)?;
/// // The event loop: watch(descriptor.as_fd()), and when it can be read:
/// # let mut ended = None;
/// while ended.is_none() {
///     descriptor.drain();
///     if let std::task::Poll::Ready((status, buffer)) = descriptor.poll(&mut receive) {
///         status?;
///         ended = Some(buffer);
///     }
/// }
/// assert_eq!(ended.as_deref(), Some(b"hello".as_slice()));
/// # descriptor.as_fd();
/// # Ok::<(), posthaste::Error>(())
/// ```
#[derive(Clone)]
pub struct Descriptor {
    bell: Arc<Bell>,
}

impl Universe {
    /// The descriptor of this process, for an event loop: the program sleeps in its own call (`epoll_wait`, `poll`), and the
    /// progress thread moves messages meanwhile. Every call gives the same descriptor.
    ///
    /// # Errors
    /// Without a progress thread, when none can be started because the engine was opened for one thread
    /// ([`init_with_progress`](crate::init_with_progress) opens it for several); when there are no descriptors left.
    pub fn descriptor(&self) -> Result<Descriptor> {
        let bell = self.world().named("descriptor", self.engine().bell())?;
        Ok(Descriptor { bell })
    }
}

impl Descriptor {
    /// Asks a future whether it is ready; if not, the descriptor can be read when it is worth asking again.
    pub fn poll<F: Future + Unpin>(&self, future: &mut F) -> Poll<F::Output> {
        Pin::new(future).poll(&mut Context::from_waker(&self.waker()))
    }

    /// A waker that makes the descriptor readable.
    ///
    /// ```
    /// let universe = posthaste::init_with_progress()?;
    /// let descriptor = universe.descriptor()?;
    /// descriptor.drain();
    /// descriptor.waker().wake();
    /// let mut watched = [rustix::event::PollFd::new(&descriptor, rustix::event::PollFlags::IN)];
    /// assert_eq!(rustix::event::poll(&mut watched, None).unwrap(), 1);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.bell))
    }

    /// Makes the descriptor unreadable until something finishes. Everything that was polled with it is to be polled after this.
    pub fn drain(&self) {
        self.bell.drain();
    }
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Descriptor({})", self.as_raw_fd())
    }
}
