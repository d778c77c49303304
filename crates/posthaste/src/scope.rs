//! Nonblocking communication within a scope that borrows the buffers until it is over.
//!
//! A scope comes from [`Communicator::scope`]; core's `world` has one beneath it, which keeps what must stay true: whatever
//! way a scope is left, every operation started in it is over first. MPI-5.0 §3.7.

use std::fmt;
use std::task::{Poll, Waker};

use posthaste_core::error::Result as Checked;
use posthaste_core::slice::{RecvBuf, SendBuf};
use posthaste_core::wire::Mode;
use posthaste_core::world;

use crate::argument::{Destination, Source, Status, Tag};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::point_to_point::outcome;

/// Starts operations that go on while the program does; see [`Communicator::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    communicator: &'env Communicator<'env>,
    operations: world::Scope<'scope, 'env>,
}

/// An operation under way. Dropping it does not end the operation: the scope waits for it.
pub struct Request<'scope> {
    call: &'static str,
    communicator: &'scope Communicator<'scope>,
    operation: world::Operation<'scope>,
    done: Option<Result<Status>>,
    /// Whether somebody has been told that it is over.
    is_told: bool,
}

impl<'u> Communicator<'u> {
    /// Runs `body`, which may start operations that go on by themselves, and waits for all of them.
    ///
    /// Buffers are lent to the scope: until it is over, the compiler lets nobody write to what is being sent and
    /// nobody look at what is being received. Requests may be waited for earlier, one by one.
    ///
    /// # Errors
    /// What `body` returned; otherwise what went wrong with an operation that `body` did not wait for. When `body`
    /// returns an error or panics, receives that have no message yet are taken back, since their messages may
    /// never come; everything else is waited for.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mine = [rank as f64; 100];
    /// let mut theirs = [0.0; 100];
    /// world.scope(|s| {
    ///     let incoming = s.receive(&mut theirs, (rank + size - 1) % size, 0)?;
    ///     s.send(&mine, (rank + 1) % size, 0)?;
    ///     // … compute something else …
    ///     let status = incoming.wait()?;
    ///     assert_eq!(status.count::<f64>(), Some(100));
    ///     Ok(())
    /// })?;
    /// assert_eq!(theirs[0] as usize, (rank + size - 1) % size);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A buffer that is being received into cannot be read:
    ///
    /// ```compile_fail,E0502
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut buffer = [0; 4];
    /// world.scope(|s| {
    ///     s.receive(&mut buffer, 0, 0)?;
    ///     println!("{buffer:?}"); // error: cannot borrow as immutable
    ///     s.send(&[1, 2, 3, 4], 0, 0)?;
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// A buffer that is being sent cannot be written:
    ///
    /// ```compile_fail,E0506
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut data = [1, 2, 3, 4];
    /// world.scope(|s| {
    ///     s.send(&data, 0, 0)?;
    ///     data[0] = 5; // error: cannot assign because it is borrowed
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// A buffer that does not live as long as the scope cannot be lent to it:
    ///
    /// ```compile_fail,E0597
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// world.scope(|s| {
    ///     let mut short_lived = [0; 4];
    ///     s.receive(&mut short_lived, 0, 0)?; // error: does not live long enough
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// Two receives cannot share a buffer:
    ///
    /// ```compile_fail,E0499
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut buffer = [0; 4];
    /// world.scope(|s| {
    ///     s.receive(&mut buffer, 0, 0)?;
    ///     s.receive(&mut buffer, 0, 1)?; // error: cannot borrow as mutable more than once
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// And a request cannot leave its scope:
    ///
    /// ```compile_fail
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let data = [1, 2, 3, 4];
    /// let request = world.scope(|s| s.send(&data, 0, 0)).unwrap(); // error: lifetime may not live long enough
    /// ```
    pub fn scope<'env, F, R>(&'env self, body: F) -> Result<R>
    where
        F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> Result<R>,
    {
        self.engine().scope(|operations| {
            // A panic or an error leaves the rest to the end of core's scope.
            let scope = Scope { communicator: self, operations };
            let result = body(&scope)?;
            scope.finish()?;
            Ok(result)
        })
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Starts to send a slice, one element or a view (`MPI_Isend`); see [`Communicator::send`]. What is borrowed lives as long as the
    /// scope; views can also be given away.
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    #[doc(alias = "MPI_Isend", alias = "immediate_send")]
    pub fn send(
        &self,
        data: impl Into<SendBuf<'scope>>,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<Request<'scope>> {
        self.start_send("send", data.into(), to.into(), tag, Mode::Standard)
    }

    /// Starts to send; the request is over when the receive has begun (`MPI_Issend`).
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let data = [1, 2];
    /// world.scope(|s| {
    ///     let mut sent = s.send_synchronous(&data, 0, 0)?;
    ///     assert!(sent.test()?.is_none());
    ///     world.receive(&mut [0; 2], 0, 0)?;
    ///     sent.wait().map(drop)
    /// })
    /// # }
    /// ```
    #[doc(alias = "MPI_Issend", alias = "immediate_synchronous_send")]
    pub fn send_synchronous(
        &self,
        data: impl Into<SendBuf<'scope>>,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<Request<'scope>> {
        self.start_send("send_synchronous", data.into(), to.into(), tag, Mode::Synchronous)
    }

    /// Starts to send with the promise that the receive has been started (`MPI_Irsend`); see [`Communicator::send_ready`].
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let (data, mut got) = ([1.5; 3], [0.0; 3]);
    /// world.scope(|s| {
    ///     s.receive(&mut got, 0, 0)?;
    ///     s.send_ready(&data, 0, 0).map(drop)
    /// })?;
    /// assert_eq!(got, data);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Irsend", alias = "immediate_ready_send")]
    pub fn send_ready(
        &self,
        data: impl Into<SendBuf<'scope>>,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<Request<'scope>> {
        self.start_send("send_ready", data.into(), to.into(), tag, Mode::Ready)
    }

    /// Starts to receive into a slice, one element or a view (`MPI_Irecv`); see [`Communicator::receive`].
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    #[doc(alias = "MPI_Irecv", alias = "immediate_receive_into")]
    pub fn receive(
        &self,
        buffer: impl Into<RecvBuf<'scope>>,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request<'scope>> {
        self.start_receive("receive", buffer.into(), from.into(), tag.into())
    }

    fn start_send(
        &self,
        call: &'static str,
        data: SendBuf<'scope>,
        to: Destination,
        tag: i32,
        mode: Mode,
    ) -> Result<Request<'scope>> {
        let comm = self.communicator.core();
        let to = self.communicator.named(call, to.number(self.communicator.peers()))?;
        self.started(call, self.operations.isend(call, comm, (data, to, tag), mode))
    }

    fn start_receive(
        &self,
        call: &'static str,
        buffer: RecvBuf<'scope>,
        from: Source,
        tag: Tag,
    ) -> Result<Request<'scope>> {
        let communicator = self.communicator;
        let (from, tag) = communicator.named(call, communicator.pattern(from, tag))?;
        self.started(call, self.operations.irecv(call, communicator.core(), (buffer, from, tag)))
    }

    pub(crate) fn communicator(&self) -> &'env Communicator<'env> {
        self.communicator
    }

    pub(crate) fn operations(&self) -> &world::Scope<'scope, 'env> {
        &self.operations
    }

    /// The request for an operation.
    pub(crate) fn started(
        &self,
        call: &'static str,
        operation: Checked<world::Operation<'scope>>,
    ) -> Result<Request<'scope>> {
        let operation = self.communicator.named(call, operation)?;
        Ok(Request { call, communicator: self.communicator, operation, done: None, is_told: false })
    }

    /// Waits for everything; the error is that of the operation started first.
    fn finish(&self) -> Result<()> {
        let mut result = Ok(());
        while let Some((call, status)) = self.operations.wait_for_last() {
            if let Err(error) = self.communicator.named(call, status.and_then(outcome)) {
                result = Err(error);
            }
        }
        result
    }
}

impl<'scope> Request<'scope> {
    /// Waits until the operation is over (`MPI_Wait`). The status of a receive is about its message; that of
    /// any other operation is empty.
    ///
    /// # Errors
    /// What went wrong with the message: one longer than the buffer, a peer that has ended.
    #[doc(alias = "MPI_Wait")]
    pub fn wait(mut self) -> Result<Status> {
        if let Some(done) = self.done.take() {
            return done;
        }
        self.communicator.named(self.call, self.operation.wait().and_then(outcome))
    }

    /// Says whether the operation is over (`MPI_Test`), and its status if so; again at every later call.
    ///
    /// # Errors
    /// As [`Request::wait`].
    #[doc(alias = "MPI_Test")]
    pub fn test(&mut self) -> Result<Option<Status>> {
        if self.done.is_none() {
            let tested = self.communicator.named(self.call, self.operation.test())?;
            let Some(status) = tested else { return Ok(None) };
            self.done = Some(self.communicator.named(self.call, outcome(status)));
        }
        self.is_told = true;
        self.done.clone().transpose()
    }

    /// Cancels the operation where that is still possible (`MPI_Cancel`, MPI-5.0 §3.8.4): a receive that has no message yet, a send whose
    /// message nobody has received. Either way it is over soon, and [`Status::is_cancelled`] says what came of it.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut buffer = [0; 4];
    /// world.scope(|s| {
    ///     let mut request = s.receive(&mut buffer, 0, 0)?;
    ///     request.cancel();
    ///     assert!(request.wait()?.is_cancelled());
    ///     Ok(())
    /// })
    /// # }
    /// ```
    #[doc(alias = "MPI_Cancel")]
    pub fn cancel(&mut self) {
        if self.done.is_none() {
            self.operation.cancel();
        }
    }

    /// Its operation, unless somebody has been told of its end.
    pub(crate) fn awaited(&self) -> Option<&world::Operation<'scope>> {
        if self.is_told { None } else { Some(&self.operation) }
    }
}

impl Request<'_> {
    /// As [`Request::test`], without a step; `waker` is woken at the end.
    pub(crate) fn poll_end(&mut self, waker: &Waker) -> Poll<Result<Status>> {
        if self.done.is_none() {
            let status = match self.operation.poll(waker) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(status)) => outcome(status),
                Err(why) => Err(why),
            };
            self.done = Some(self.communicator.named(self.call, status));
        }
        self.is_told = true;
        self.done.clone().map_or(Poll::Pending, Poll::Ready)
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let active = self.operations.under_way();
        write!(f, "Scope({active} operations under way)")
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({}, {})", self.call, if self.done.is_some() { "over" } else { "under way" })
    }
}
