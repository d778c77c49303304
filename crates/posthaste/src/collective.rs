//! Collective operations: all ranks of a communicator call them, in the same order.
//!
//! They are methods of a [`Communicator`] (blocking) and of a [`Scope`] (nonblocking). MPI-5.0 chapter 6; §6.12 for the
//! nonblocking forms.
//!
//! What must stay true: lengths are checked against each other and the number of ranks before anything is planned,
//! so a schedule never reaches beyond a slice; both forms use the same plans.

use posthaste_core::buffer::{Equivalence, UserBuf};
use posthaste_core::coll::{self, Operand, Schedule};
use posthaste_core::comm::Comm;
use posthaste_core::datatype::Datatype;
use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};

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
        self.run("barrier", Ok(coll::barrier(self.core())))
    }

    /// Copies the root's `data` to every rank (`MPI_Bcast`, MPI-5.0 §6.4). All ranks pass the same length.
    ///
    /// # Errors
    /// A root that is no rank; [`ErrorClass::Truncate`] when the lengths differ.
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
    /// A `result` of another length; an operation that `T` does not have ([`ErrorClass::Op`]).
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
    pub(crate) fn run(&self, call: &'static str, plan: Checked<Schedule>) -> Result<()> {
        self.named(call, plan.and_then(|schedule| self.engine().run(schedule)))
    }
}

/// The nonblocking forms: the operation goes on while the program does, as in
/// [`Communicator::scope`]. All ranks start the collective operations of a communicator in the same order.
impl<'scope> Scope<'scope, '_> {
    /// Starts a barrier (`MPI_Ibarrier`): the request is over when every rank has started it.
    ///
    /// # Errors
    /// As [`Communicator::barrier`].
    pub fn barrier(&'scope self) -> Result<Request<'scope>> {
        self.start_plan("barrier", Ok(coll::barrier(self.communicator().core())))
    }

    /// Starts [`Communicator::broadcast`] (`MPI_Ibcast`).
    ///
    /// # Errors
    /// As the blocking form.
    pub fn broadcast<T: Equivalence>(
        &'scope self,
        data: &'scope mut [T],
        root: usize,
    ) -> Result<Request<'scope>> {
        self.start_plan("broadcast", broadcast(self.communicator().core(), data, root))
    }

    /// Starts [`Communicator::reduce`] (`MPI_Ireduce`).
    ///
    /// # Errors
    /// As the blocking form.
    pub fn reduce<T: Equivalence>(
        &'scope self,
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
        &'scope self,
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
        &'scope self,
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
        &'scope self,
        data: &'scope [T],
        all: &'scope mut [T],
    ) -> Result<Request<'scope>> {
        self.start_plan("all_gather", all_gather(self.communicator().core(), data, all))
    }

    /// Starts a planned operation on buffers lent for `'scope`.
    fn start_plan(&'scope self, call: &'static str, plan: Checked<Schedule>) -> Result<Request<'scope>> {
        self.started(call, plan.and_then(|schedule| self.communicator().engine().start(schedule)))
    }
}

fn broadcast<T: Equivalence>(comm: &Comm, data: &mut [T], root: usize) -> Checked<Schedule> {
    let root = argument::root(root, comm.size())?;
    let count = data.len() as u64;
    coll::bcast(comm, Operand::new(UserBuf::borrowed_mut(data), count, &Datatype::of::<T>()), root)
}

fn reduce<T: Equivalence>(
    comm: &Comm,
    data: &[T],
    result: &mut [T],
    operation: Operation,
    root: usize,
) -> Checked<Schedule> {
    let root = argument::root(root, comm.size())?;
    if comm.rank() == root {
        check_length("the length of result", result.len(), data.len(), 1)?;
    }
    let (send, recv) = (UserBuf::borrowed(data), UserBuf::borrowed_mut(result));
    let op = operation.op()?;
    coll::reduce(comm, Some(send), recv, data.len() as u64, &Datatype::of::<T>(), &op, root)
}

fn all_reduce<T: Equivalence>(
    comm: &Comm,
    data: &[T],
    result: &mut [T],
    operation: Operation,
) -> Checked<Schedule> {
    check_length("the length of result", result.len(), data.len(), 1)?;
    let (send, recv) = (UserBuf::borrowed(data), UserBuf::borrowed_mut(result));
    let op = operation.op()?;
    coll::allreduce(comm, Some(send), recv, data.len() as u64, &Datatype::of::<T>(), &op)
}

fn all_reduce_in_place<T: Equivalence>(
    comm: &Comm,
    data: &mut [T],
    operation: Operation,
) -> Checked<Schedule> {
    let count = data.len() as u64;
    coll::allreduce(comm, None, UserBuf::borrowed_mut(data), count, &Datatype::of::<T>(), &operation.op()?)
}

fn gather<T: Equivalence>(comm: &Comm, data: &[T], all: &mut [T], root: usize) -> Checked<Schedule> {
    let root = argument::root(root, comm.size())?;
    let (datatype, count) = (Datatype::of::<T>(), data.len() as u64);
    let send = Operand::new(UserBuf::borrowed(data), count, &datatype);
    if comm.rank() != root {
        return coll::gather(comm, Some(send), None, root);
    }
    check_length("the length of all", all.len(), data.len(), comm.size() as usize)?;
    coll::gather(comm, Some(send), Some(Operand::new(UserBuf::borrowed_mut(all), count, &datatype)), root)
}

fn all_gather<T: Equivalence>(comm: &Comm, data: &[T], all: &mut [T]) -> Checked<Schedule> {
    check_length("the length of all", all.len(), data.len(), comm.size() as usize)?;
    let (datatype, count) = (Datatype::of::<T>(), data.len() as u64);
    let send = Operand::new(UserBuf::borrowed(data), count, &datatype);
    coll::allgather(comm, Some(send), Operand::new(UserBuf::borrowed_mut(all), count, &datatype))
}

/// Checks that a result has room for `blocks` blocks of `length` elements, and no more.
fn check_length(argument: &'static str, got: usize, length: usize, blocks: usize) -> Checked<()> {
    if length.checked_mul(blocks) == Some(got) {
        return Ok(());
    }
    let expected = match blocks {
        1 => format!("{length}, the length of data"),
        _ => format!("{blocks} times {length}, once the length of data for each rank"),
    };
    Err(Cause::invalid(ErrorClass::Count, argument, got, expected))
}
