//! Requests as futures, scopes whose body is async, and the executor of a [`Universe`].
//!
//! What must stay true: a future of a borrowed buffer belongs to a scope, and a scope is left by a call that returns, never by
//! the end of a future: one that was forgotten would leave its buffers to a transfer that goes on.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::argument::Status;
use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::scope::{Request, Scope};
use crate::universe::Universe;

/// Awaits the end of the operation, as [`Request::wait`] does; polled again, it tells the same once more. A request that is
/// dropped or forgotten goes on; its scope waits for it.
impl Future for Request<'_> {
    type Output = Result<Status>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().poll_end(context.waker())
    }
}

impl Communicator<'_> {
    /// As [`Communicator::scope`], with a body that may await its requests: it is run on this thread to its end
    /// ([`Universe::block_on`]), which blocks the thread.
    ///
    /// It is a call and not a future because a future can be forgotten, with the borrows of its buffers, while their transfers
    /// go on. Where the thread is an executor's, the calls that own their buffers are the ones to take, such as
    /// [`Communicator::send_owned`].
    ///
    /// # Errors
    /// As [`Communicator::scope`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mine = [rank as f64; 100];
    /// let mut theirs = [0.0; 100];
    /// world.scope_async(async |s| {
    ///     let incoming = s.receive(&mut theirs, (rank + size - 1) % size, 0)?;
    ///     s.send(&mine, (rank + 1) % size, 0)?.await?;
    ///     assert_eq!(incoming.await?.count::<f64>(), Some(100));
    ///     Ok(())
    /// })?;
    /// assert_eq!(theirs[0] as usize, (rank + size - 1) % size);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// While a buffer is in flight it cannot be read,
    ///
    /// ```compile_fail,E0502
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut buffer = [0; 4];
    /// world.scope_async(async |s| {
    ///     let request = s.receive(&mut buffer, 0, 0)?;
    ///     println!("{buffer:?}"); // error: cannot borrow as immutable
    ///     request.await?;
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// nor written,
    ///
    /// ```compile_fail,E0506
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut data = [1, 2, 3, 4];
    /// world.scope_async(async |s| {
    ///     let request = s.send(&data, 0, 0)?;
    ///     data[0] = 5; // error: cannot assign because it is borrowed
    ///     request.await?;
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// nor moved or dropped, also not when its request has been forgotten;
    ///
    /// ```compile_fail,E0505
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut buffer = vec![0; 4];
    /// world.scope_async(async |s| {
    ///     std::mem::forget(s.receive(&mut buffer, 0, 0)?);
    ///     drop(buffer); // error: cannot move out because it is borrowed
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// it is not of the body's future, which ends before the scope does;
    ///
    /// ```compile_fail,E0597
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// world.scope_async(async |s| {
    ///     let mut short_lived = [0; 4];
    ///     s.receive(&mut short_lived, 0, 0)?.await?; // error: does not live long enough
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// two receives cannot share it;
    ///
    /// ```compile_fail,E0499
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut buffer = [0; 4];
    /// world.scope_async(async |s| {
    ///     let first = s.receive(&mut buffer, 0, 0)?;
    ///     let second = s.receive(&mut buffer, 0, 1)?; // error: cannot borrow as mutable more than once
    ///     first.await?;
    ///     second.await?;
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// and no future of it leaves the scope.
    ///
    /// ```compile_fail
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let data = [1, 2, 3, 4];
    /// let request = world.scope_async(async |s| s.send(&data, 0, 0)).unwrap(); // error: lifetime may not live long enough
    /// ```
    pub fn scope_async<'env, F, R>(&'env self, body: F) -> Result<R>
    where
        F: for<'scope> AsyncFnOnce(&Scope<'scope, 'env>) -> Result<R>,
    {
        self.try_scope_async(body)
    }

    /// As [`Communicator::scope_async`], with a body that fails with any error type into which an [`Error`] can be turned; see
    /// [`Communicator::try_scope`].
    ///
    /// # Errors
    /// As [`Communicator::scope`].
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut text = [0; 2];
    /// let number = world.try_scope_async(async |s| {
    ///     let received = s.receive(&mut text, 0, 0)?;
    ///     s.send(b"42", 0, 0)?.await?;
    ///     received.await?;
    ///     let number: u8 = "42".parse()?; // an error of the standard library, were it none
    ///     Ok::<_, Box<dyn std::error::Error>>(number)
    /// })?;
    /// assert_eq!((number, &text), (42, b"42"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_scope_async<'env, F, R, E>(&'env self, body: F) -> std::result::Result<R, E>
    where
        F: for<'scope> AsyncFnOnce(&Scope<'scope, 'env>) -> std::result::Result<R, E>,
        E: From<Error>,
    {
        self.try_scope(|s| self.engine().block_on("scope_async", body(s)))
    }
}

impl Universe {
    /// Runs a future to its end on this thread. While it has nothing to do, messages are moved, and when nothing happens the
    /// thread sleeps: until something comes, or somebody wakes the future, on any thread. No progress thread is needed.
    ///
    /// Other executors run futures of posthaste as well. Without the progress thread ([`init_with_progress`](crate::init_with_progress),
    /// `POSTHASTE_PROGRESS_THREAD=1`) a future that is not ready has them poll it again and again there, because nobody
    /// would look for its message.
    ///
    /// ```
    /// let universe = posthaste::init()?;
    /// let world = universe.world();
    /// universe.block_on(async {
    ///     world.send_owned(vec![1.5, 2.5], 0, 0).await.0?;
    ///     let (status, values) = world.receive_owned(vec![0.0; 2], 0, 0).await;
    ///     assert_eq!((status?.count::<f64>(), values), (Some(2), vec![1.5, 2.5]));
    ///     Ok::<(), posthaste::Error>(())
    /// })?;
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.engine().block_on("block_on", future)
    }
}
