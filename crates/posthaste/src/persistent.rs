//! Persistent operations: their arguments are given once, and they are started again and again.
//!
//! MPI-5.0 §3.9. The elements are in memory of the request's own, because nothing that is only borrowed could be changed between two
//! starts; core's `world` has that memory, and shows it to nobody while an operation is under way.

use std::fmt;

use posthaste_core::buffer::Equivalence;
use posthaste_core::error::Result as Checked;
use posthaste_core::slice::SendBuf;
use posthaste_core::wire::Mode;
use posthaste_core::world::Persistent;

use crate::argument::{Destination, Source, Status, Tag};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::point_to_point::outcome;

/// A send that is started again and again, of elements that are its own ([`Communicator::persistent_send`]).
///
/// A value that is dropped waits until the operation is over.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut send = world.persistent_send(&[0; 3], 0, 0)?;
/// for round in 1..4 {
///     send.data_mut()?.fill(round);
///     send.start()?;
///     assert!(send.is_active() && send.data().is_err());
///     assert_eq!(world.receive_vec::<i32>(0, 0)?.0, [round; 3]);
///     send.wait()?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// Who holds its elements cannot start it, and it ends before its universe:
///
/// ```compile_fail,E0499
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// let mut send = world.persistent_send(&[0; 3], 0, 0).unwrap();
/// let elements = send.data_mut().unwrap();
/// send.start().unwrap(); // error: cannot borrow as mutable more than once
/// elements[0] = 5;
/// ```
///
/// ```compile_fail,E0505
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// let mut send = world.persistent_send(&[0; 3], 0, 0).unwrap();
/// universe.finalize().unwrap(); // error: cannot move out because it is borrowed
/// send.start().unwrap();
/// ```
#[doc(alias = "MPI_Request")]
pub struct PersistentSend<'u, T: Equivalence> {
    communicator: Communicator<'u>,
    operation: Persistent<'u, T>,
    to: i32,
    tag: i32,
    /// `None`: buffered.
    mode: Option<Mode>,
}

/// A receive that is started again and again, into elements that are its own ([`Communicator::persistent_receive`]).
///
/// A value that is dropped takes back a receive that has no message yet, and waits until any other is over.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut receive = world.persistent_receive::<i32>(3, 0, 0)?;
/// receive.start()?;
/// receive.cancel();
/// assert!(receive.wait()?.is_cancelled() && !receive.is_active());
/// receive.start()?;
/// world.send(&[1, 2, 3], 0, 0)?;
/// while receive.test()?.is_none() {}
/// assert_eq!(receive.data()?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
///
/// Who looks at its elements cannot start it:
///
/// ```compile_fail,E0502
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// let mut receive = world.persistent_receive::<i32>(3, 0, 0).unwrap();
/// let elements = receive.data().unwrap();
/// receive.start().unwrap(); // error: cannot borrow as mutable because it is borrowed
/// println!("{elements:?}");
/// ```
#[doc(alias = "MPI_Request")]
pub struct PersistentReceive<'u, T: Equivalence> {
    communicator: Communicator<'u>,
    operation: Persistent<'u, T>,
    from: i32,
    tag: i32,
}

impl<'u> Communicator<'u> {
    /// Prepares a send (`MPI_Send_init`). The request has elements of its own, which are those of `data` at first.
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mut outgoing = world.persistent_send(&[rank; 4], (rank + 1) % size, 0)?;
    /// let mut incoming = world.persistent_receive::<usize>(4, (rank + size - 1) % size, 0)?;
    /// for _ in 0..size {
    ///     incoming.start()?;
    ///     outgoing.start()?;
    ///     incoming.wait()?;
    ///     outgoing.wait()?;
    ///     outgoing.data_mut()?.copy_from_slice(incoming.data()?);
    /// }
    /// assert_eq!(incoming.data()?, [rank; 4]); // once round
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Send_init")]
    pub fn persistent_send<T: Equivalence>(
        &self,
        data: &[T],
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<PersistentSend<'u, T>> {
        self.prepare("persistent_send", data, to.into(), tag, Some(Mode::Standard))
    }

    /// The same in synchronous mode (`MPI_Ssend_init`); see [`Communicator::send_synchronous`].
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut send = world.persistent_send_synchronous(&[3], 0, 0)?;
    /// send.start()?;
    /// assert!(send.test()?.is_none(), "nobody receives it");
    /// assert_eq!(world.receive_one::<i32>(0, 0)?.0, 3);
    /// send.wait()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Ssend_init")]
    pub fn persistent_send_synchronous<T: Equivalence>(
        &self,
        data: &[T],
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<PersistentSend<'u, T>> {
        self.prepare("persistent_send_synchronous", data, to.into(), tag, Some(Mode::Synchronous))
    }

    /// The same in ready mode (`MPI_Rsend_init`); see [`Communicator::send_ready`].
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut receive = world.persistent_receive::<i32>(1, 0, 0)?;
    /// let mut send = world.persistent_send_ready(&[3], 0, 0)?;
    /// receive.start()?;
    /// send.start()?; // the receive is there
    /// receive.wait()?;
    /// send.wait()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Rsend_init")]
    pub fn persistent_send_ready<T: Equivalence>(
        &self,
        data: &[T],
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<PersistentSend<'u, T>> {
        self.prepare("persistent_send_ready", data, to.into(), tag, Some(Mode::Ready))
    }

    /// The same in buffered mode (`MPI_Bsend_init`); see [`Communicator::send_buffered`]. It is over when it was started.
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut send = world.persistent_send_buffered(&[3], 0, 0)?;
    /// send.start()?;
    /// send.data_mut()?[0] = 4; // at once
    /// send.start()?;
    /// assert_eq!((world.receive_one(0, 0)?.0, world.receive_one(0, 0)?.0), (3, 4));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Bsend_init")]
    pub fn persistent_send_buffered<T: Equivalence>(
        &self,
        data: &[T],
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<PersistentSend<'u, T>> {
        self.prepare("persistent_send_buffered", data, to.into(), tag, None)
    }

    /// Prepares a receive of up to `len` elements (`MPI_Recv_init`), of which every number is 0 at first.
    ///
    /// # Errors
    /// A rank or a tag that does not exist; no memory.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut receive = world.persistent_receive::<u16>(3, posthaste::ANY, 0)?;
    /// for round in 1..4 {
    ///     receive.start()?;
    ///     assert!(receive.data().is_err(), "it is being received into");
    ///     world.send(&[round, 7], 0, 0)?;
    ///     assert_eq!(receive.wait()?.count::<u16>(), Some(2));
    ///     assert_eq!(receive.data()?, [round, 7, 0]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Recv_init")]
    pub fn persistent_receive<T: Equivalence>(
        &self,
        len: usize,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<PersistentReceive<'u, T>> {
        const CALL: &str = "persistent_receive";
        let (from, tag) = self.named(CALL, self.pattern(from.into(), tag.into()))?;
        let operation = self.named(CALL, Persistent::new(self.engine(), len))?;
        Ok(PersistentReceive { communicator: self.clone(), operation, from, tag })
    }

    fn prepare<T: Equivalence>(
        &self,
        call: &'static str,
        data: &[T],
        to: Destination,
        tag: i32,
        mode: Option<Mode>,
    ) -> Result<PersistentSend<'u, T>> {
        let to = self.named(call, to.number(self.peers()))?;
        let tag = self.named(call, Tag::from(tag).number())?;
        let mut operation = self.named(call, Persistent::new(self.engine(), data.len()))?;
        self.named(call, operation.elements_mut())?.copy_from_slice(data);
        Ok(PersistentSend { communicator: self.clone(), operation, to, tag, mode })
    }
}

impl<T: Equivalence> PersistentSend<'_, T> {
    /// Starts to send (`MPI_Start`).
    ///
    /// # Errors
    /// While it is active.
    #[doc(alias = "MPI_Start")]
    #[inline]
    pub fn start(&mut self) -> Result<()> {
        let Self { communicator, operation, to, tag, mode } = self;
        let started = match mode {
            Some(mode) => operation.isend(communicator.core(), *to, *tag, *mode),
            None => buffered(communicator, operation, *to, *tag),
        };
        self.communicator.named("start", started)
    }

    /// The elements, to be filled for the next start.
    ///
    /// # Errors
    /// While it is active.
    pub fn data_mut(&mut self) -> Result<&mut [T]> {
        self.communicator.named("data_mut", self.operation.elements_mut())
    }
}

fn buffered<T: Equivalence>(
    communicator: &Communicator<'_>,
    operation: &Persistent<'_, T>,
    to: i32,
    tag: i32,
) -> Checked<()> {
    let data = SendBuf::new(operation.elements()?);
    communicator.buffer().send(communicator.engine(), communicator.core(), to, tag, data)
}

impl<T: Equivalence> PersistentReceive<'_, T> {
    /// Starts to receive (`MPI_Start`).
    ///
    /// # Errors
    /// While it is active.
    #[doc(alias = "MPI_Start")]
    #[inline]
    pub fn start(&mut self) -> Result<()> {
        let started = self.operation.irecv(self.communicator.core(), self.from, self.tag);
        self.communicator.named("start", started)
    }
}

macro_rules! requests {
    ($($request:ident),*) => {$(
        impl<T: Equivalence> $request<'_, T> {
            /// The elements.
            ///
            /// # Errors
            /// While it is active.
            pub fn data(&self) -> Result<&[T]> {
                self.communicator.named("data", self.operation.elements())
            }

            /// Whether it has been started and not been completed.
            pub fn is_active(&self) -> bool {
                self.operation.is_active()
            }

            /// Waits until the operation is over (`MPI_Wait`); at once if none was started.
            ///
            /// # Errors
            /// As [`Request::wait`](crate::Request::wait).
            #[doc(alias = "MPI_Wait")]
            #[inline]
            pub fn wait(&mut self) -> Result<Status> {
                let status = self.operation.wait();
                self.communicator.named("wait", status.and_then(outcome))
            }

            /// Completes the operation if it is over (`MPI_Test`), and says its status; an empty one if none was started.
            ///
            /// # Errors
            /// As [`Request::wait`](crate::Request::wait).
            #[doc(alias = "MPI_Test")]
            pub fn test(&mut self) -> Result<Option<Status>> {
                let status = self.operation.test().and_then(|status| status.map(outcome).transpose());
                self.communicator.named("test", status)
            }

            /// Cancels the operation where that is still possible (`MPI_Cancel`). It has to be completed all the same.
            #[doc(alias = "MPI_Cancel")]
            pub fn cancel(&mut self) {
                self.operation.cancel();
            }
        }

        impl<T: Equivalence> fmt::Debug for $request<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let state = if self.is_active() { "active" } else { "inactive" };
                write!(f, concat!(stringify!($request), "({})"), state)
            }
        }
    )*};
}
requests!(PersistentSend, PersistentReceive);
