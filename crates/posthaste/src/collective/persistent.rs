//! Persistent collective operations: planned once, started as often as wanted (MPI-5.0 §6.13).
//!
//! What must stay true: the operation owns its buffers and lends them to the program between its runs; core's
//! `world::repeated` sees to that.

use std::fmt;

use posthaste_core::buffer::Equivalence;
use posthaste_core::{slice, world};

use super::{Plan, Plans};
use crate::communicator::Communicator;
use crate::error::Result;

/// A collective operation that can be started again and again; see [`Communicator::persistent`].
///
/// It owns two buffers: the data that it reads, and the result that it writes. Between its runs the program reads and writes both.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::Operation::Maximum;
/// // How far from its end an iteration is, over all ranks.
/// let mut error = world.persistent(vec![8.0], vec![0.0], |plans, mine, all| plans.all_reduce(mine, all, Maximum))?;
/// while { error.start()?.wait()?; error.result()[0] > 1.0 } {
///     error.data_mut()[0] /= 2.0;
/// }
/// assert_eq!(error.data(), [1.0]);
/// # Ok(())
/// # }
/// ```
pub struct Persistent<'c, T: Equivalence> {
    call: &'static str,
    communicator: &'c Communicator<'c>,
    operation: world::Repeated<'c, T>,
}

/// A run of a [`Persistent`] operation. Dropping it does not end the run: whoever looks at the buffers next, waits.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut copy = world.persistent(vec![], vec![world.rank()], |plans, _, data| plans.broadcast(data, 0))?;
/// drop(copy.start()?);
/// assert_eq!(copy.result(), [0]);
/// # Ok(())
/// # }
/// ```
#[must_use = "wait for the end of the operation"]
pub struct Started<'p, 'c, T: Equivalence> {
    persistent: &'p mut Persistent<'c, T>,
}

impl Communicator<'_> {
    /// Plans a collective operation that is started by [`Persistent::start`] as often as wanted (`MPI_Allreduce_init` and its
    /// kin, MPI-5.0 §6.13). All ranks call this in the same order, and start what they have planned in the same order.
    ///
    /// It takes the buffers and owns them from now on, so nobody touches them while the operation runs. `plan` chooses the
    /// operation. All those of [`Communicator`] can be chosen, also those among neighbours; one in place takes the `result`
    /// alone, a barrier neither.
    ///
    /// # Errors
    /// Those of the operation.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::Operation::Sum;
    /// let mut sum = world.persistent(vec![0.0; 100], vec![0.0; 100], |plans, data, result| {
    ///     plans.all_reduce(data, result, Sum)
    /// })?;
    /// for step in 0..3 {
    ///     sum.data_mut().fill(f64::from(step));
    ///     let running = sum.start()?;
    ///     // … compute something else …
    ///     running.wait()?;
    ///     assert_eq!(sum.result()[0], f64::from(step) * world.size() as f64);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// While it runs, its buffers are out of reach:
    ///
    /// ```compile_fail,E0499
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut copy = world.persistent(vec![], vec![0; 4], |plans, _, all| plans.broadcast(all, 0)).unwrap();
    /// let running = copy.start().unwrap();
    /// copy.result_mut()[0] = 5; // error: cannot borrow as mutable more than once
    /// running.wait().unwrap();
    /// ```
    ///
    /// And it has no other buffers than its own:
    ///
    /// ```compile_fail
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut other = [0; 4];
    /// let copy = world.persistent(vec![0], vec![0], |plans, _, _| plans.broadcast(&mut other, 0)); // error: lifetime
    /// ```
    #[doc(alias = "all_reduce_init")]
    #[doc(alias = "MPI_Start")]
    pub fn persistent<T, F>(&self, data: Vec<T>, result: Vec<T>, plan: F) -> Result<Persistent<'_, T>>
    where
        T: Equivalence,
        F: for<'a> FnOnce(Plans<'_>, &'a [T], &'a mut [T]) -> Result<Plan<'a>>,
    {
        self.keep(data, result, |data, result| plan(self.plans(), data, result))
    }

    /// Plans an operation that owns its buffers.
    pub(crate) fn keep<T, F>(&self, data: Vec<T>, result: Vec<T>, plan: F) -> Result<Persistent<'_, T>>
    where
        T: Equivalence,
        F: for<'a> FnOnce(&'a [T], &'a mut [T]) -> Result<Plan<'a>>,
    {
        let mut name = "persistent";
        let operation = slice::Persistent::new(data, result, |data, result| {
            plan(data, result).map(|Plan { call, operation }| {
                name = call;
                operation
            })
        })?;
        Ok(Persistent { call: name, communicator: self, operation: self.engine().repeated(operation) })
    }
}

impl<'c, T: Equivalence> Persistent<'c, T> {
    /// Starts the operation (`MPI_Start`). All ranks do so, in the same order as other collective operations.
    ///
    /// # Errors
    /// What went wrong in a run before whose [`Started`] was dropped.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut barrier = world.persistent(Vec::<u8>::new(), vec![], |plans, _, _| plans.barrier())?;
    /// barrier.start()?.wait()?;
    /// barrier.start()?.wait()?;
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Start")]
    pub fn start(&mut self) -> Result<Started<'_, 'c, T>> {
        let started = self.operation.start();
        self.communicator.named(self.call, started)?;
        Ok(Started { persistent: self })
    }

    /// What the operation reads.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let all = vec![0; world.size()];
    /// let mut gather = world.persistent(vec![3], all, |plans, data, all| plans.all_gather(data, all))?;
    /// gather.start()?.wait()?;
    /// assert_eq!(gather.data(), [3]);
    /// assert!(gather.result().iter().all(|number| *number == 3));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn data(&self) -> &[T] {
        self.operation.operation().data()
    }

    /// The same, to be written for the next run.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let own = universe.own();
    /// let mut gather = own.persistent(vec![3], vec![0], |plans, data, all| plans.all_gather(data, all))?;
    /// gather.data_mut()[0] = 4;
    /// gather.start()?.wait()?;
    /// assert_eq!(gather.result(), [4]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn data_mut(&mut self) -> &mut [T] {
        self.operation.operation_mut().data_mut()
    }

    /// What the operation writes; see [`Persistent::data`].
    pub fn result(&self) -> &[T] {
        self.operation.operation().result()
    }

    /// The same, to be written for the next run of an operation in place.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::Operation::Product;
    /// let mut power = world.persistent(vec![], vec![0], |plans, _, data| plans.all_reduce_in_place(data, Product))?;
    /// power.result_mut()[0] = 1;
    /// power.start()?.wait()?;
    /// assert_eq!(power.result(), [1]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn result_mut(&mut self) -> &mut [T] {
        self.operation.operation_mut().result_mut()
    }
}

impl<T: Equivalence> Started<'_, '_, T> {
    /// Waits until the operation is over on this rank (`MPI_Wait`).
    ///
    /// # Errors
    /// What went wrong with one of its messages, or in the function of its reduction.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut copy = world.persistent(vec![], vec![world.rank()], |plans, _, data| plans.broadcast(data, 0))?;
    /// let running = copy.start()?;
    /// running.wait()?;
    /// assert_eq!(copy.result(), [0]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Wait")]
    pub fn wait(self) -> Result<()> {
        let over = self.persistent.operation.wait();
        self.persistent.communicator.named(self.persistent.call, over)
    }

    /// Says whether the operation is over (`MPI_Test`); again at every later call.
    ///
    /// # Errors
    /// As [`Started::wait`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut barrier = world.persistent(Vec::<u8>::new(), vec![], |plans, _, _| plans.barrier())?;
    /// let mut running = barrier.start()?;
    /// while !running.test()? {
    ///     // … compute something else …
    /// }
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Test")]
    pub fn test(&mut self) -> Result<bool> {
        let over = self.persistent.operation.test();
        self.persistent.communicator.named(self.persistent.call, over)
    }
}

impl<T: Equivalence> fmt::Debug for Persistent<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.operation.is_running() { "under way" } else { "at rest" };
        write!(f, "Persistent({}, {how})", self.call)
    }
}

impl<T: Equivalence> fmt::Debug for Started<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Started({})", self.persistent.call)
    }
}
