//! Nonblocking communication within a scope that borrows the buffers until it is over.
//!
//! A scope comes from [`Communicator::scope`]; core's `world` has one beneath it, which keeps what must stay true: whatever
//! way a scope is left, every operation started in it is over first. MPI-5.0 §3.7.

use std::fmt;
use std::task::{Poll, Waker};

use posthaste_core::error::Result as Checked;
use posthaste_core::request;
use posthaste_core::slice::{Buffer, RecvBuf, SendBuf};
use posthaste_core::wire::Mode;
use posthaste_core::world;

use crate::argument::{Destination, Source, Status, Tag};
use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::point_to_point::outcome;

/// Starts operations that go on while the program does; see [`Communicator::scope`].
///
/// Beside the messages here it has the nonblocking forms of all collective operations, under the names and with the arguments of
/// the blocking ones.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::{Operation, Result, Scope};
/// // Part of a scope's body, as a function.
/// fn begin<'scope>(s: &Scope<'scope, '_>, mine: &'scope [f64], sums: &'scope mut [f64]) -> Result<()> {
///     s.barrier()?;
///     s.all_reduce(mine, sums, Operation::Sum).map(drop)
/// }
/// let (mine, mut sums) = ([1.0; 4], [0.0; 4]);
/// world.scope(|s| begin(s, &mine, &mut sums))?;
/// assert_eq!(sums, [world.size() as f64; 4]);
/// # Ok(())
/// # }
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    communicator: &'env Communicator<'env>,
    operations: world::Scope<'scope, 'env>,
}

/// An operation under way. Dropping it does not end the operation: the scope waits for it.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut room = [0; 2];
/// world.scope_async(async |s| {
///     let received = s.receive(&mut room, 0, 0)?;
///     s.send(&[3, 4], 0, 0)?.wait()?; // it is waited for,
///     assert_eq!(received.await?.bytes(), 8); // or awaited
///     Ok(())
/// })?;
/// assert_eq!(room, [3, 4]);
/// # Ok(())
/// # }
/// ```
///
/// There is none that stands for nothing, none that has been freed, and none of another scope. It is completed once,
///
/// ```compile_fail,E0382
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// world.scope(|s| {
///     let sent = s.send(&[1], 0, 0)?;
///     sent.wait()?;
///     sent.wait() // error: use of moved value
/// }).unwrap();
/// ```
///
/// and by its own thread:
///
/// ```compile_fail,E0277
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// world.scope(|s| {
///     let sent = s.send(&[1], 0, 0)?;
///     std::thread::scope(|threads| threads.spawn(|| sent.wait()).join().unwrap()) // error: cannot be sent between threads
/// }).unwrap();
/// ```
#[doc(alias = "MPI_Request")]
pub struct Request<'scope> {
    communicator: &'scope Communicator<'scope>,
    operation: world::Operation<'scope>,
    done: Done,
}

/// What is known of the end of a request.
enum Done {
    /// Nothing.
    No,
    /// How it ended; nobody has been told.
    Known(Result<Status>),
    /// How it ended, which somebody has been told.
    Told(Result<Status>),
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
    /// It cannot be moved or dropped, not even when its request has been forgotten:
    ///
    /// ```compile_fail,E0505
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut buffer = vec![0; 4];
    /// world.scope(|s| {
    ///     std::mem::forget(s.receive(&mut buffer, 0, 0)?);
    ///     drop(buffer); // error: cannot move out because it is borrowed
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
    ///
    /// [`Communicator::try_scope`] has a body that fails with an error type of its own.
    pub fn scope<'env, F, R>(&'env self, body: F) -> Result<R>
    where
        F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> Result<R>,
    {
        self.try_scope(body)
    }

    /// As [`Communicator::scope`], with a body that fails with any error type into which an [`Error`] can be turned.
    ///
    /// # Errors
    /// As [`Communicator::scope`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// #[derive(Debug)]
    /// enum Failure { Mpi(posthaste::Error), NotANumber }
    /// impl From<posthaste::Error> for Failure {
    ///     fn from(error: posthaste::Error) -> Self { Self::Mpi(error) }
    /// }
    ///
    /// let mut room = [0.0];
    /// let checked = world.try_scope(|s| {
    ///     let received = s.receive(&mut room, 0, 0)?; // an error of posthaste
    ///     let sent = [f64::NAN];
    ///     world.send(&sent, 0, 0)?;
    ///     received.wait()?;
    ///     if sent[0].is_nan() { Err(Failure::NotANumber) } else { Ok(()) } // one of the program
    /// });
    /// assert!(matches!(checked, Err(Failure::NotANumber)));
    /// assert!(matches!(world.try_scope(|s| Ok(s.send(&room, 9, 0).map(drop)?)), Err(Failure::Mpi(_))));
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_scope<'env, F, R, E>(&'env self, body: F) -> std::result::Result<R, E>
    where
        F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> std::result::Result<R, E>,
        E: From<Error>,
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
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let data = vec![1.5; 1000];
    /// let mut got = vec![0.0; 1000];
    /// world.scope(|s| {
    ///     s.send(&data, 0, 0)?;
    ///     world.receive(&mut got, 0, 0).map(drop)
    /// })?;
    /// assert_eq!(got, data);
    /// # Ok(())
    /// # }
    /// ```
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

    /// Sends in buffered mode (`MPI_Ibsend`); see [`Communicator::send_buffered`]. The request is over at once, and the data may be
    /// changed.
    ///
    /// # Errors
    /// As [`Communicator::send_buffered`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut data = vec![1; 1 << 20];
    /// let mut got = vec![0; 1 << 20];
    /// world.scope(|s| {
    ///     let mut sent = s.send_buffered(&data, 0, 0)?;
    ///     data.fill(2); // what was sent is a copy
    ///     assert!(sent.test()?.is_some(), "nobody has received it, and it is over");
    ///     s.receive(&mut got, 0, 0).map(drop)
    /// })?;
    /// assert_eq!((got[0], data[0]), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Ibsend", alias = "immediate_buffered_send")]
    pub fn send_buffered<B: Buffer + ?Sized>(
        &self,
        data: &B,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<Request<'scope>> {
        const CALL: &str = "send_buffered";
        self.communicator.buffered(CALL, data.lent(), to.into(), tag)?;
        let request = self.started(CALL, Ok(self.operations.over()))?;
        Ok(Request { done: Done::Known(Ok(Status::of(&request::Status::EMPTY))), ..request })
    }

    /// Starts to send one message and to receive another (`MPI_Isendrecv`); see [`Communicator::send_receive`]. The request is over
    /// when both are, and its status is that of the message that was received.
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let (mine, mut theirs) = ([rank; 3], [0; 3]);
    /// world.scope(|s| {
    ///     let both = s.send_receive(&mine, (rank + 1) % size, 0, &mut theirs, (rank + size - 1) % size, 0)?;
    ///     // … compute something else …
    ///     assert_eq!(both.wait()?.source(), Some((rank + size - 1) % size));
    ///     Ok(())
    /// })?;
    /// assert_eq!(theirs, [(rank + size - 1) % size; 3]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Isendrecv")]
    pub fn send_receive(
        &self,
        data: impl Into<SendBuf<'scope>>,
        to: impl Into<Destination>,
        send_tag: i32,
        buffer: impl Into<RecvBuf<'scope>>,
        from: impl Into<Source>,
        receive_tag: impl Into<Tag>,
    ) -> Result<Request<'scope>> {
        const CALL: &str = "send_receive";
        let communicator = self.communicator;
        let (from, tag) = communicator.named(CALL, communicator.pattern(from.into(), receive_tag.into()))?;
        let to = communicator.named(CALL, to.into().number(communicator.peers()))?;
        let (outgoing, incoming) = ((data.into(), to, send_tag), (buffer.into(), from, tag));
        self.started(CALL, self.operations.exchange(CALL, communicator.core(), outgoing, incoming))
    }

    /// The same with one buffer: what is in it is sent, and what comes replaces it (`MPI_Isendrecv_replace`); see
    /// [`Communicator::send_receive_replace`].
    ///
    /// # Errors
    /// A rank or a tag that does not exist; no memory for a copy of the buffer.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mut values = [rank; 3];
    /// world.scope(|s| {
    ///     s.send_receive_replace(&mut values, (rank + 1) % size, 0, (rank + size - 1) % size, 0).map(drop)
    /// })?;
    /// assert_eq!(values, [(rank + size - 1) % size; 3]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Isendrecv_replace")]
    pub fn send_receive_replace(
        &self,
        buffer: impl Into<RecvBuf<'scope>>,
        to: impl Into<Destination>,
        send_tag: i32,
        from: impl Into<Source>,
        receive_tag: impl Into<Tag>,
    ) -> Result<Request<'scope>> {
        const CALL: &str = "send_receive_replace";
        let communicator = self.communicator;
        let (from, tag) = communicator.named(CALL, communicator.pattern(from.into(), receive_tag.into()))?;
        let to = communicator.named(CALL, to.into().number(communicator.peers()))?;
        let comm = communicator.core();
        let ends = ((to, send_tag), (from, tag));
        self.started(CALL, self.operations.exchange_in_place(CALL, comm, buffer.into(), ends.0, ends.1))
    }

    /// Starts to receive into a slice, one element or a view (`MPI_Irecv`); see [`Communicator::receive`].
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let (mut number, mut list) = (0, [0; 2]);
    /// world.scope(|s| {
    ///     s.receive(&mut number, 0, 1)?;
    ///     s.receive(&mut list, posthaste::ANY, 2)?;
    ///     world.send(&[3, 4], 0, 2)?;
    ///     world.send(&5, 0, 1)
    /// })?;
    /// assert_eq!((number, list), (5, [3, 4]));
    /// # Ok(())
    /// # }
    /// ```
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

    /// That of operations which are started elsewhere.
    pub(crate) fn of(communicator: &'env Communicator<'env>, operations: world::Scope<'scope, 'env>) -> Self {
        Self { communicator, operations }
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
        Ok(Request { communicator: self.communicator, operation, done: Done::No })
    }

    /// Waits for everything; the error is that of the operation started first.
    pub(crate) fn finish(&self) -> Result<()> {
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
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut room = [0u8; 2];
    /// world.scope(|s| {
    ///     let received = s.receive(&mut room, 0, 0)?;
    ///     s.send(b"too long", 0, 0)?;
    ///     assert_eq!(received.wait().unwrap_err().class(), posthaste::ErrorClass::Truncate);
    ///     Ok(())
    /// })
    /// # }
    /// ```
    #[doc(alias = "MPI_Wait")]
    pub fn wait(self) -> Result<Status> {
        match self.done {
            Done::No => told(self.communicator, self.operation.wait()),
            Done::Known(done) | Done::Told(done) => done,
        }
    }

    /// Says whether the operation is over (`MPI_Test`), and its status if so; again at every later call.
    ///
    /// # Errors
    /// As [`Request::wait`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut room = [0u8; 5];
    /// world.scope(|s| {
    ///     let mut received = s.receive(&mut room, 0, 0)?;
    ///     assert!(received.test()?.is_none());
    ///     s.send(b"hello", 0, 0)?;
    ///     while received.test()?.is_none() { /* compute */ }
    ///     Ok(())
    /// })
    /// # }
    /// ```
    #[doc(alias = "MPI_Test", alias = "MPI_Request_get_status")]
    pub fn test(&mut self) -> Result<Option<Status>> {
        let done = match std::mem::replace(&mut self.done, Done::No) {
            Done::No => match self.operation.test() {
                None => return Ok(None),
                Some(ended) => told(self.communicator, ended),
            },
            Done::Known(done) | Done::Told(done) => done,
        };
        self.done = Done::Told(done.clone());
        done.map(Some)
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
        if matches!(self.done, Done::No) {
            self.operation.cancel();
        }
    }

    /// Its operation, unless somebody has been told of its end.
    pub(crate) fn awaited(&self) -> Option<&world::Operation<'scope>> {
        if matches!(self.done, Done::Told(_)) { None } else { Some(&self.operation) }
    }
}

impl Request<'_> {
    /// As [`Request::test`], without a step; `waker` is woken at the end.
    pub(crate) fn poll_end(&mut self, waker: &Waker) -> Poll<Result<Status>> {
        let done = match std::mem::replace(&mut self.done, Done::No) {
            Done::No => match self.operation.poll(waker) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(ended) => told(self.communicator, ended),
            },
            Done::Known(done) | Done::Told(done) => done,
        };
        self.done = Done::Told(done.clone());
        Poll::Ready(done)
    }

    /// The same for a task that does nothing else meanwhile; afterwards it is polled no more.
    pub(crate) fn poll_patiently(&mut self, waker: &Waker) -> Poll<Result<Status>> {
        match std::mem::replace(&mut self.done, Done::No) {
            Done::No => self.operation.poll_patiently(waker).map(|ended| told(self.communicator, ended)),
            Done::Known(done) | Done::Told(done) => Poll::Ready(done),
        }
    }
}

/// How an operation ended.
fn told(communicator: &Communicator<'_>, (call, status): world::Told) -> Result<Status> {
    communicator.named(call, status.and_then(outcome))
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let active = self.operations.under_way();
        write!(f, "Scope({active} operations under way)")
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation.call() {
            Some(call) => write!(f, "Request({call}, under way)"),
            None => f.write_str("Request(over)"),
        }
    }
}
