//! Collective operations: all ranks of a communicator call them, in the same order.
//!
//! They are methods of a [`Communicator`] (blocking) and of a [`Scope`] (nonblocking); core's `slice` checks lengths and plans
//! the schedules. MPI-5.0 chapter 6; §6.12 for the nonblocking forms.
//!
//! What must stay true: both forms use the same plans.

use posthaste_core::buffer::Equivalence;
use posthaste_core::comm::Comm;
use posthaste_core::error::Result as Checked;
use posthaste_core::slice::Collective;

use crate::argument;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::operation::Operation;
use crate::scope::{Request, Scope};

/// The blocking forms. A call that fails on one rank because of its arguments leaves the others waiting for it.
impl Communicator<'_> {
    /// Waits until every rank has called it (`MPI_Barrier`, MPI-5.0 §6.3).
    ///
    /// # Errors
    /// When a rank has ended.
    pub fn barrier(&self) -> Result<()> {
        self.run("barrier", Ok(Collective::barrier(self.core())))
    }

    /// Copies the root's `data` to every rank (`MPI_Bcast`, MPI-5.0 §6.4). All ranks pass the same length.
    ///
    /// # Errors
    /// A root that is no rank; [`ErrorClass::Truncate`](crate::ErrorClass::Truncate) when the lengths differ.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let mut settings = if world.rank() == 0 { [100, 8] } else { [0; 2] };
    /// world.broadcast(&mut settings, 0)?;
    /// assert_eq!(settings, [100, 8]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn broadcast<T: Equivalence>(&self, data: &mut [T], root: usize) -> Result<()> {
        self.run("broadcast", broadcast(self.core(), data, root))
    }

    /// Returns the root's `value` on every rank.
    ///
    /// # Errors
    /// A root that is no rank.
    pub fn broadcast_one<T: Equivalence>(&self, value: T, root: usize) -> Result<T> {
        let mut data = [value];
        self.run("broadcast_one", broadcast(self.core(), &mut data, root))?;
        Ok(data[0])
    }

    /// Combines the ranks' `data` position by position into the root's `result` (`MPI_Reduce`, MPI-5.0 §6.9.1).
    ///
    /// All ranks pass `data` of one length. `result` has that length on the root; on the others it is not used and
    /// may be empty.
    ///
    /// # Errors
    /// A root that is no rank; a `result` of another length on the root; an operation that `T` does not have.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// use posthaste::Operation::Maximum;
    /// let world = universe.world();
    /// let mut largest = [0.0];
    /// world.reduce(&[world.rank() as f64], &mut largest, Maximum, 0)?;
    /// if world.rank() == 0 {
    ///     assert_eq!(largest[0] as usize, world.size() - 1);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn reduce<T: Equivalence>(
        &self,
        data: &[T],
        result: &mut [T],
        operation: Operation,
        root: usize,
    ) -> Result<()> {
        self.run("reduce", reduce(self.core(), data, result, operation, root))
    }

    /// Combines the ranks' `data` position by position into every rank's `result` (`MPI_Allreduce`, MPI-5.0
    /// §6.9.6). All ranks pass the same length, for `data` and `result`.
    ///
    /// # Errors
    /// A `result` of another length; an operation that `T` does not have ([`ErrorClass::Op`](crate::ErrorClass::Op)).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// use posthaste::Operation::Sum;
    /// let world = universe.world();
    /// let mut sums = [0.0; 2];
    /// world.all_reduce(&[1.0, 0.5], &mut sums, Sum)?;
    /// assert_eq!(sums[0], world.size() as f64);
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_reduce<T: Equivalence>(
        &self,
        data: &[T],
        result: &mut [T],
        operation: Operation,
    ) -> Result<()> {
        self.run("all_reduce", all_reduce(self.core(), data, result, operation))
    }

    /// As [`Communicator::all_reduce`], with the result in the place of the data (`MPI_IN_PLACE`).
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub fn all_reduce_in_place<T: Equivalence>(&self, data: &mut [T], operation: Operation) -> Result<()> {
        self.run("all_reduce_in_place", all_reduce_in_place(self.core(), data, operation))
    }

    /// Combines one value of each rank and returns the result on every rank.
    ///
    /// # Errors
    /// An operation that `T` does not have.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let ranks = world.all_reduce_one(1, posthaste::Operation::Sum)?;
    /// assert_eq!(ranks, world.size());
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_reduce_one<T: Equivalence>(&self, value: T, operation: Operation) -> Result<T> {
        let mut data = [value];
        self.run("all_reduce_one", all_reduce_in_place(self.core(), &mut data, operation))?;
        Ok(data[0])
    }

    /// Collects the ranks' `data` in `all` on the root, in the order of ranks (`MPI_Gather`, MPI-5.0 §6.5).
    ///
    /// All ranks pass `data` of one length. On the root, `all` is `size()` times as long; on the others it is not
    /// used and may be empty.
    ///
    /// # Errors
    /// A root that is no rank; an `all` of another length on the root.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let mut all = if world.rank() == 0 { vec![0; world.size()] } else { vec![] };
    /// world.gather(&[world.rank()], &mut all, 0)?;
    /// assert!(all.iter().enumerate().all(|(i, rank)| i == *rank));
    /// # Ok(())
    /// # }
    /// ```
    pub fn gather<T: Equivalence>(&self, data: &[T], all: &mut [T], root: usize) -> Result<()> {
        self.run("gather", gather(self.core(), data, all, root))
    }

    /// Collects the ranks' `data` in `all` on every rank, in the order of ranks (`MPI_Allgather`, MPI-5.0 §6.7).
    /// All ranks pass `data` of one length; `all` is `size()` times as long.
    ///
    /// # Errors
    /// An `all` of another length.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let mut all = vec![0; 2 * world.size()];
    /// world.all_gather(&[world.rank(), 7], &mut all)?;
    /// assert_eq!(all[2 * world.rank()..][..2], [world.rank(), 7]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_gather<T: Equivalence>(&self, data: &[T], all: &mut [T]) -> Result<()> {
        self.run("all_gather", all_gather(self.core(), data, all))
    }

    /// Runs a planned operation.
    pub(crate) fn run(&self, call: &'static str, plan: Checked<Collective<'_>>) -> Result<()> {
        self.named(call, plan.and_then(|plan| self.engine().run_collective(plan)))
    }
}

/// The nonblocking forms: the operation goes on while the program does, as in
/// [`Communicator::scope`]. All ranks start the collective operations of a communicator in the same order.
impl<'scope> Scope<'scope, '_> {
    /// Starts a barrier (`MPI_Ibarrier`): the request is over when every rank has started it.
    ///
    /// # Errors
    /// As [`Communicator::barrier`].
    pub fn barrier(&self) -> Result<Request<'scope>> {
        self.start_plan("barrier", Ok(Collective::barrier(self.communicator().core())))
    }

    /// Starts [`Communicator::broadcast`] (`MPI_Ibcast`).
    ///
    /// # Errors
    /// As the blocking form.
    pub fn broadcast<T: Equivalence>(&self, data: &'scope mut [T], root: usize) -> Result<Request<'scope>> {
        self.start_plan("broadcast", broadcast(self.communicator().core(), data, root))
    }

    /// Starts [`Communicator::reduce`] (`MPI_Ireduce`).
    ///
    /// # Errors
    /// As the blocking form.
    pub fn reduce<T: Equivalence>(
        &self,
        data: &'scope [T],
        result: &'scope mut [T],
        operation: Operation,
        root: usize,
    ) -> Result<Request<'scope>> {
        self.start_plan("reduce", reduce(self.communicator().core(), data, result, operation, root))
    }

    /// Starts [`Communicator::all_reduce`] (`MPI_Iallreduce`).
    ///
    /// # Errors
    /// As the blocking form.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let (mine, mut total) = ([2.0], [0.0]);
    /// world.scope(|s| {
    ///     s.all_reduce(&mine, &mut total, posthaste::Operation::Sum)?;
    ///     // … compute something else …
    ///     Ok(())
    /// })?;
    /// assert_eq!(total[0], 2.0 * world.size() as f64);
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_reduce<T: Equivalence>(
        &self,
        data: &'scope [T],
        result: &'scope mut [T],
        operation: Operation,
    ) -> Result<Request<'scope>> {
        self.start_plan("all_reduce", all_reduce(self.communicator().core(), data, result, operation))
    }

    /// Starts [`Communicator::gather`] (`MPI_Igather`).
    ///
    /// # Errors
    /// As the blocking form.
    pub fn gather<T: Equivalence>(
        &self,
        data: &'scope [T],
        all: &'scope mut [T],
        root: usize,
    ) -> Result<Request<'scope>> {
        self.start_plan("gather", gather(self.communicator().core(), data, all, root))
    }

    /// Starts [`Communicator::all_gather`] (`MPI_Iallgather`).
    ///
    /// # Errors
    /// As the blocking form.
    pub fn all_gather<T: Equivalence>(
        &self,
        data: &'scope [T],
        all: &'scope mut [T],
    ) -> Result<Request<'scope>> {
        self.start_plan("all_gather", all_gather(self.communicator().core(), data, all))
    }

    /// Starts a planned operation on buffers lent for `'scope`.
    pub(crate) fn start_plan(
        &self,
        call: &'static str,
        plan: Checked<Collective<'scope>>,
    ) -> Result<Request<'scope>> {
        self.started(call, plan.and_then(|plan| self.operations().start(call, plan)))
    }
}

fn broadcast<'a, T: Equivalence>(comm: &Comm, data: &'a mut [T], root: usize) -> Checked<Collective<'a>> {
    Collective::bcast(comm, data, argument::root(root, comm.size())?)
}

fn reduce<'a, T: Equivalence>(
    comm: &Comm,
    data: &'a [T],
    result: &'a mut [T],
    operation: Operation,
    root: usize,
) -> Checked<Collective<'a>> {
    let root = argument::root(root, comm.size())?;
    Collective::reduce(comm, data, result, &operation.op(), root)
}

fn all_reduce<'a, T: Equivalence>(
    comm: &Comm,
    data: &'a [T],
    result: &'a mut [T],
    operation: Operation,
) -> Checked<Collective<'a>> {
    Collective::allreduce(comm, data, result, &operation.op())
}

fn all_reduce_in_place<'a, T: Equivalence>(
    comm: &Comm,
    data: &'a mut [T],
    operation: Operation,
) -> Checked<Collective<'a>> {
    Collective::allreduce_in_place(comm, data, &operation.op())
}

fn gather<'a, T: Equivalence>(
    comm: &Comm,
    data: &'a [T],
    all: &'a mut [T],
    root: usize,
) -> Checked<Collective<'a>> {
    Collective::gather(comm, data, all, argument::root(root, comm.size())?)
}

fn all_gather<'a, T: Equivalence>(comm: &Comm, data: &'a [T], all: &'a mut [T]) -> Checked<Collective<'a>> {
    Collective::allgather(comm, data, all)
}
