//! Operations that own their buffers, as futures.
//!
//! They are what plain async programs take: such a future may be raced against others, dropped and forgotten. Core's `world`
//! has the rules beneath it: the buffers are the engine's until the operation is over. MPI-5.0 §3.7, §6.12.
//!
//! What must stay true: an operation begins when it is called, not when it is first polled, so collective operations
//! begin in the order of the program.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use posthaste_core::buffer::{Equivalence, Memory};
use posthaste_core::error::Result as Checked;
use posthaste_core::request;
use posthaste_core::slice::{Collective, RecvBuf, SendBuf};
use posthaste_core::wire::Mode;
use posthaste_core::world::{Owned, Transfer, World};

use crate::argument::{Destination, Source, Status, Tag, root};
use crate::communicator::Communicator;
use crate::error::{Error, Result};
use crate::operation::Operation;
use crate::point_to_point::outcome;

/// A buffer that an operation can own: vectors, boxed slices and [`Memory`] of numbers.
///
/// A type of the program can be one: it owns its elements.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::OwnedBuffer;
/// struct Field { values: Vec<f64>, name: &'static str }
///
/// impl OwnedBuffer for Field {
///     type Element = f64;
///     fn elements(&self) -> &[f64] { &self.values }
///     fn elements_mut(&mut self) -> &mut [f64] { &mut self.values }
/// }
///
/// let field = Field { values: vec![1.0; 8], name: "pressure" };
/// let (summed, field) = world.all_reduce_owned(field, posthaste::Operation::Sum).wait();
/// summed?;
/// assert_eq!((field.name, field.elements()[7]), ("pressure", world.size() as f64));
/// let mut list = vec![1, 2, 3];
/// list.elements_mut()[0] = 0;
/// assert_eq!(list.elements(), [0, 2, 3]);
/// # Ok(())
/// # }
/// ```
pub trait OwnedBuffer: Send + 'static {
    /// What is in it.
    type Element: Equivalence;

    /// The numbers to be sent.
    fn elements(&self) -> &[Self::Element];

    /// The room for numbers to be received.
    fn elements_mut(&mut self) -> &mut [Self::Element];
}

macro_rules! buffer {
    ($($buffer:ty),*) => {$(
        impl<T: Equivalence> OwnedBuffer for $buffer {
            type Element = T;

            fn elements(&self) -> &[T] {
                self
            }

            fn elements_mut(&mut self) -> &mut [T] {
                self
            }
        }
    )*};
}

buffer!(Vec<T>, Box<[T]>, Memory<T>);

/// An operation under way that owns its buffers: a future of its outcome and the buffers.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut receive = world.receive_owned(vec![0; 3], 0, 7);
/// let send = world.send_owned(vec![1, 2, 3], 0, 7);
/// let ((received, numbers), (sent, _)) = universe.block_on(futures::future::join(&mut receive, send));
/// assert_eq!((received?.count::<i32>(), numbers), (Some(3), vec![1, 2, 3]));
/// sent?;
/// drop(world.receive_owned(vec![0; 3], 0, 7)); // nobody sends another one: it is taken back
/// # Ok(())
/// # }
/// ```
///
/// Dropped, it is not waited for, and nobody writes into memory that has been freed: a receive that has no message yet is
/// taken back, and so the message is another receive's; anything else goes on, and its buffers are freed when it is over. (A
/// message that has begun to arrive is lost with the receive. [`Incoming`](crate::Incoming) loses none.) Forgotten
/// ([`std::mem::forget`]), it goes on, and its buffers are never freed.
///
/// Polled or waited for again after it has given its buffers back, it panics, as futures may.
///
/// It is no future of other threads, as its [`Universe`](crate::Universe) is none of theirs, and its buffers cannot be reached:
///
/// ```compile_fail,E0382
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// let buffer = vec![0; 4];
/// let receive = world.receive_owned(buffer, 0, 0);
/// println!("{buffer:?}"); // error: borrow of moved value
/// # drop(receive);
/// ```
///
/// They own what is in them, so that nothing ends before the operation does:
///
/// ```compile_fail,E0277
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// let mut buffer = [0; 4];
/// world.receive_owned(&mut buffer[..], 0, 0); // error: the trait `OwnedBuffer` is not implemented
/// ```
///
/// And it ends before its universe:
///
/// ```compile_fail,E0505
/// let universe = posthaste::init().unwrap();
/// let world = universe.world();
/// let receive = world.receive_owned(vec![0; 4], 0, 0);
/// universe.finalize().unwrap(); // error: cannot move out because it is borrowed
/// drop(receive);
/// ```
#[must_use = "dropped at once, a receive is taken back, and nobody hears of an error"]
pub struct InFlight<'u, B: Send + 'static> {
    call: &'static str,
    engine: &'u World,
    state: State<'u, B>,
}

enum State<'u, B: Send + 'static> {
    UnderWay(Owned<'u, B>),
    /// It was not started; `None` when that has been told.
    Refused(Option<(Error, B)>),
}

// Its buffers are elsewhere, or not in use.
impl<B: Send + 'static> Unpin for InFlight<'_, B> {}

impl<'u> Communicator<'u> {
    /// Starts to send a buffer (`MPI_Isend`). The future's output is the outcome, and the buffer.
    ///
    /// # Errors
    /// In the outcome: as [`Communicator::send`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # universe.block_on(async {
    /// let (sent, numbers) = world.send_owned(vec![1, 2, 3], 0, 0).await;
    /// sent?;
    /// assert_eq!(numbers, [1, 2, 3]);
    /// # world.receive_vec_async::<i32>(0, 0).await?;
    /// # Ok::<(), posthaste::Error>(())
    /// # })?;
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn send_owned<B: OwnedBuffer>(
        &self,
        data: B,
        to: impl Into<Destination>,
        tag: i32,
    ) -> InFlight<'u, B> {
        let to = to.into().number(self.peers());
        self.start_owned("send_owned", data, |data| {
            Ok(Transfer::Send(SendBuf::new(data.elements()), to?, tag, Mode::Standard))
        })
    }

    /// Starts to receive into a buffer (`MPI_Irecv`), whose length stays; see [`Communicator::receive_vec_async`] for a message
    /// of any length. The future's output is the outcome, and the buffer.
    ///
    /// # Errors
    /// In the outcome: as [`Communicator::receive`].
    pub fn receive_owned<B: OwnedBuffer>(
        &self,
        buffer: B,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> InFlight<'u, B> {
        let pattern = self.pattern(from.into(), tag.into());
        self.start_owned("receive_owned", buffer, |buffer| {
            let (from, tag) = pattern?;
            Ok(Transfer::Receive(RecvBuf::new(buffer.elements_mut()), from, tag))
        })
    }

    /// Starts a barrier (`MPI_Ibarrier`); see [`Communicator::barrier`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// universe.block_on(world.barrier_async()).0?;
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn barrier_async(&self) -> InFlight<'u, ()> {
        self.start_collective("barrier_async", (), |_| Ok(Collective::barrier(self.core())))
    }

    /// Starts to copy the root's `data` to every rank (`MPI_Ibcast`); see [`Communicator::broadcast`].
    ///
    /// # Errors
    /// In the outcome: as the blocking form.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let (copied, numbers) = world.broadcast_owned(vec![world.rank(); 2], 0).wait();
    /// copied?;
    /// assert_eq!(numbers, [0, 0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn broadcast_owned<B: OwnedBuffer>(&self, data: B, root: usize) -> InFlight<'u, B> {
        self.start_collective("broadcast_owned", data, |data| {
            Collective::bcast(self.core(), data.elements_mut(), self::root(root, self.core().size())?)
        })
    }

    /// Starts to combine the ranks' `data` position by position, on every rank in its place (`MPI_Iallreduce` with
    /// `MPI_IN_PLACE`); see [`Communicator::all_reduce_in_place`].
    ///
    /// # Errors
    /// In the outcome: as the blocking form.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let sum = world.all_reduce_owned(vec![1.0, 2.0], posthaste::Operation::Sum);
    /// // … compute something else …
    /// let (summed, sums) = universe.block_on(sum);
    /// summed?;
    /// assert_eq!(sums[0], world.size() as f64);
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_reduce_owned<B: OwnedBuffer>(&self, data: B, operation: Operation) -> InFlight<'u, B> {
        self.start_collective("all_reduce_owned", data, |data| {
            Collective::allreduce_in_place(self.core(), data.elements_mut(), &operation.op())
        })
    }

    /// Starts to collect the ranks' `data` in `all` on every rank (`MPI_Iallgather`); see [`Communicator::all_gather`].
    ///
    /// # Errors
    /// In the outcome: as the blocking form.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let (gathered, (_, all)) = world.all_gather_owned(vec![world.rank()], vec![0; world.size()]).wait();
    /// gathered?;
    /// assert_eq!(all, Vec::from_iter(0..world.size()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_gather_owned<B, A>(&self, data: B, all: A) -> InFlight<'u, (B, A)>
    where
        B: OwnedBuffer,
        A: OwnedBuffer<Element = B::Element>,
    {
        self.start_collective("all_gather_owned", (data, all), |(data, all)| {
            Collective::allgather(self.core(), data.elements(), all.elements_mut())
        })
    }

    /// Starts any collective operation with buffers that it owns: `plan` says which one.
    fn start_collective<B: Send + 'static>(
        &self,
        call: &'static str,
        buffers: B,
        plan: impl for<'a> FnOnce(&'a mut B) -> Checked<Collective<'a>>,
    ) -> InFlight<'u, B> {
        self.start_owned(call, buffers, |buffers| {
            self.of_one_group()?;
            plan(buffers).map(Transfer::Collective)
        })
    }

    fn start_owned<B: Send + 'static>(
        &self,
        call: &'static str,
        buffers: B,
        plan: impl for<'a> FnOnce(&'a mut B) -> Checked<Transfer<'a>>,
    ) -> InFlight<'u, B> {
        let engine = self.engine();
        let state = match engine.start_owned(self.core(), buffers, plan) {
            Ok(owned) => State::UnderWay(owned),
            Err((cause, buffers)) => State::Refused(Some((named(call, engine, cause), buffers))),
        };
        InFlight { call, engine, state }
    }
}

impl<B: Send + 'static> InFlight<'_, B> {
    /// Waits until the operation is over: what awaiting it gives.
    pub fn wait(self) -> (Result<Status>, B) {
        let Self { call, engine, state } = self;
        match state {
            State::UnderWay(owned) => told(call, engine, owned.wait()),
            State::Refused(told) => refused(told),
        }
    }
}

impl<B: Send + 'static> Future for InFlight<'_, B> {
    type Output = (Result<Status>, B);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { call, engine, state } = self.get_mut();
        match state {
            State::UnderWay(owned) => owned.poll(context.waker()).map(|ended| told(call, engine, ended)),
            State::Refused(told) => Poll::Ready(refused(told.take())),
        }
    }
}

impl<B: Send + 'static> fmt::Debug for InFlight<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused = matches!(self.state, State::Refused(_));
        write!(f, "InFlight({}, {})", self.call, if refused { "refused" } else { "started" })
    }
}

fn told<B>(
    call: &'static str,
    engine: &World,
    (status, buffers): (Checked<request::Status>, B),
) -> (Result<Status>, B) {
    (status.and_then(outcome).map_err(|cause| named(call, engine, cause)), buffers)
}

fn refused<B>(told: Option<(Error, B)>) -> (Result<Status>, B) {
    let (why, buffers) = told.expect("an operation is polled after its end");
    (Err(why), buffers)
}

#[cold]
fn named(call: &'static str, engine: &World, cause: posthaste_core::error::Error) -> Error {
    Error::new(call, Some(engine.rank() as usize), cause)
}
