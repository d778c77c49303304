//! What all ranks of two groups do together: what one group gives, the other one gets (MPI-5.0 §6.2.2, §6.2.3).
//!
//! What must stay true: lengths and ranks count by the other group; core's `slice` checks them.

use std::fmt;

use posthaste_core::buffer::Equivalence;
use posthaste_core::comm::Comm;
use posthaste_core::error::Result as Checked;
use posthaste_core::ids::{PROC_NULL, ROOT};
use posthaste_core::slice::{Collective, Counts};

use super::Intercommunicator;
use crate::argument;
use crate::collective::{Persistent, Plan, collectives};
use crate::error::{Error, Result};
use crate::operation::Reduction;
use crate::scope::{Request, Scope};

/// Who the root of an operation between two groups is, as this rank sees it (MPI-5.0 §6.2.3).
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
/// # let side = world.rank() % 2;
/// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
/// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
/// // Rank 0 of the even ranks tells all odd ones.
/// let root = match (side, half.rank()) {
///     (0, 0) => posthaste::Root::Me,
///     (0, _) => posthaste::Root::OfMyGroup,
///     _ => posthaste::Root::Other(0),
/// };
/// let mut word = [if side == 0 { 42 } else { 0 }];
/// others.broadcast(&mut word, root)?;
/// assert_eq!(word, [42]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This rank.
    #[doc(alias = "MPI_ROOT")]
    Me,
    /// Another rank of this group, so this one has nothing to do.
    #[doc(alias = "MPI_PROC_NULL")]
    OfMyGroup,
    /// This rank of the other group.
    Other(usize),
}

/// Starts operations between two groups that go on while the program does; see [`Intercommunicator::scope`].
///
/// It has the nonblocking forms of the collective operations of [`Intercommunicator`]. Everything about messages it has from
/// [`Scope`], where ranks are those of the other group.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
/// # let side = world.rank() % 2;
/// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
/// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
/// use posthaste::{InterScope, Operation, Result};
/// // Part of a scope's body, as a function.
/// fn begin<'scope>(s: &InterScope<'scope, '_>, mine: &'scope [f64], sums: &'scope mut [f64]) -> Result<()> {
///     s.barrier()?;
///     s.all_reduce(mine, sums, Operation::Sum).map(drop)
/// }
/// let (mine, mut sums) = ([1.0; 4], [0.0; 4]);
/// others.scope(|s| begin(s, &mine, &mut sums))?;
/// assert_eq!(sums, [others.remote_size() as f64; 4]);
/// # Ok(())
/// # }
/// ```
pub struct InterScope<'scope, 'env: 'scope> {
    communicator: &'env Intercommunicator<'env>,
    scope: Scope<'scope, 'env>,
}

/// Plans collective operations between two groups, for [`Intercommunicator::persistent`].
///
/// It has the operations that [`Intercommunicator`] has, under the same names and with the same arguments.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
/// # let side = world.rank() % 2;
/// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
/// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
/// let theirs = vec![0; others.remote_size()];
/// let mut gather = others.persistent(vec![side], theirs, |plans, mine, all| plans.all_gather(mine, all))?;
/// gather.start()?.wait()?;
/// assert!(gather.result().iter().all(|their| *their == 1 - side));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InterPlans<'c> {
    communicator: &'c Intercommunicator<'c>,
}

impl<'scope, 'env> std::ops::Deref for InterScope<'scope, 'env> {
    type Target = Scope<'scope, 'env>;

    fn deref(&self) -> &Self::Target {
        &self.scope
    }
}

impl fmt::Debug for InterScope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inter{:?}", self.scope)
    }
}

impl<'scope, 'env> InterScope<'scope, 'env> {
    fn communicator(&self) -> &'env Intercommunicator<'env> {
        self.communicator
    }
}

impl InterPlans<'_> {
    fn planned<'a>(
        &self,
        call: &'static str,
        plan: impl FnOnce(&Comm) -> Checked<Collective<'a>>,
    ) -> Result<Plan<'a>> {
        let communicator = &self.communicator.0;
        communicator.plan(call, plan(communicator.core()))
    }
}

/// Operations that go on while the program does.
impl<'u> Intercommunicator<'u> {
    fn plans(&self) -> InterPlans<'_> {
        InterPlans { communicator: self }
    }

    fn complete(&self, plan: Result<Plan<'_>>) -> Result<()> {
        self.0.complete(plan)
    }

    /// As [`Communicator::scope`](crate::Communicator::scope), for messages and collective operations between the groups.
    ///
    /// # Errors
    /// As [`Communicator::scope`](crate::Communicator::scope).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// let (mine, mut theirs) = ([world.rank()], vec![0; others.remote_size()]);
    /// others.scope(|s| {
    ///     let gathered = s.all_gather(&mine, &mut theirs)?;
    ///     // … compute something else …
    ///     gathered.wait().map(drop)
    /// })?;
    /// assert!(theirs.iter().enumerate().all(|(at, rank)| *rank == 2 * at + 1 - side));
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope<'env, F, R>(&'env self, body: F) -> Result<R>
    where
        F: for<'scope> FnOnce(&InterScope<'scope, 'env>) -> Result<R>,
    {
        self.try_scope(body)
    }

    /// As [`Intercommunicator::scope`], with a body that fails with any error type into which an [`Error`] can be turned; see
    /// [`Communicator::try_scope`](crate::Communicator::try_scope).
    ///
    /// # Errors
    /// As [`Communicator::scope`](crate::Communicator::scope).
    pub fn try_scope<'env, F, R, E>(&'env self, body: F) -> std::result::Result<R, E>
    where
        F: for<'scope> FnOnce(&InterScope<'scope, 'env>) -> std::result::Result<R, E>,
        E: From<Error>,
    {
        self.0.engine().scope(|operations| {
            let scope = InterScope { communicator: self, scope: Scope::of(&self.0, operations) };
            let result = body(&scope)?;
            scope.finish()?;
            Ok(result)
        })
    }

    /// As [`Intercommunicator::scope`], with a body that may await its requests; see [`Communicator::scope_async`](crate::Communicator::scope_async).
    ///
    /// # Errors
    /// As [`Communicator::scope`](crate::Communicator::scope).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// let mut sum = [0];
    /// others.scope_async(async |s| {
    ///     s.all_reduce(&[1], &mut sum, posthaste::Operation::Sum)?.await?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(sum[0], others.remote_size());
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope_async<'env, F, R>(&'env self, body: F) -> Result<R>
    where
        F: for<'scope> AsyncFnOnce(&InterScope<'scope, 'env>) -> Result<R>,
    {
        self.try_scope(|s| self.0.engine().block_on("scope_async", body(s)))
    }

    /// Plans a collective operation between the groups that is started by [`Persistent::start`] as often as wanted (`MPI_Allreduce_init`
    /// and its kin, MPI-5.0 §6.13); see [`Communicator::persistent`](crate::Communicator::persistent). All ranks of both groups call this in the same order.
    ///
    /// # Errors
    /// Those of the operation.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// use posthaste::Operation::Sum;
    /// let mut sum = others.persistent(vec![0], vec![0], |plans, data, sum| plans.all_reduce(data, sum, Sum))?;
    /// for step in 0..3 {
    ///     sum.data_mut()[0] = step;
    ///     sum.start()?.wait()?;
    ///     assert_eq!(sum.result()[0], step * others.remote_size());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn persistent<T, F>(&self, data: Vec<T>, result: Vec<T>, plan: F) -> Result<Persistent<'_, T>>
    where
        T: Equivalence,
        F: for<'a> FnOnce(InterPlans<'_>, &'a [T], &'a mut [T]) -> Result<Plan<'a>>,
    {
        self.0.keep(data, result, |data, result| plan(self.plans(), data, result))
    }
}

collectives! { Intercommunicator, InterScope, InterPlans, 'a;
    /// Waits until every rank of both groups has called it (MPI-5.0 §6.3).
    ///
    /// # Errors
    /// When a rank has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// others.barrier()?;
    /// # Ok(())
    /// # }
    /// ```
    ("MPI_Barrier", "MPI_Ibarrier", "MPI_Barrier_init")
    fn barrier[]() = |comm| Collective::across_barrier(comm);

    /// Copies the root's `data` to every rank of the other group (MPI-5.0 §6.4); see [`Root`].
    ///
    /// # Errors
    /// A root that is no rank of the other group; [`ErrorClass::Truncate`](crate::ErrorClass::Truncate) when the lengths differ.
    ("MPI_Bcast", "MPI_Ibcast", "MPI_Bcast_init")
    fn broadcast[T: Equivalence](data: &'a mut [T], root: Root) =
        |comm| Collective::across_bcast(comm, data, number(root, comm)?);

    /// Collects the `data` of the other group's ranks in `all` on the root (MPI-5.0 §6.5). `data` is used in the other group, `all` on
    /// the root; elsewhere they may be empty.
    ///
    /// # Errors
    /// A root that is no rank of the other group; on the root a length that is no multiple of `remote_size()`.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// use posthaste::Root;
    /// // Rank 0 of the odd ranks hears of all even ones.
    /// let root = match (side, half.rank()) { (1, 0) => Root::Me, (1, _) => Root::OfMyGroup, _ => Root::Other(0) };
    /// let mut all = vec![0; if root == Root::Me { others.remote_size() } else { 0 }];
    /// others.gather(&[world.rank()], &mut all, root)?;
    /// assert!(all.iter().enumerate().all(|(at, rank)| *rank == 2 * at));
    /// # Ok(())
    /// # }
    /// ```
    ("MPI_Gather", "MPI_Igather", "MPI_Gather_init")
    fn gather[T: Equivalence](data: &'a [T], all: &'a mut [T], root: Root) =
        |comm| Collective::across_gather(comm, data, all, number(root, comm)?);

    /// As [`Intercommunicator::gather`], with blocks of different lengths: `counts`, used on the root.
    ///
    /// # Errors
    /// A root that is no rank of the other group; on the root a block outside of `all` or over another.
    ("MPI_Gatherv", "MPI_Igatherv", "MPI_Gatherv_init")
    fn gather_varying['c, T: Equivalence](
        data: &'a [T], all: &'a mut [T], counts: impl Into<Counts<'c>>, root: Root
    ) = |comm| Collective::across_gatherv(comm, data, (all, &counts.into()), number(root, comm)?);

    /// Gives each rank of the other group its block of the root's `all` in `data` (MPI-5.0 §6.6). `all` is used on the root, `data` in
    /// the other group; elsewhere they may be empty.
    ///
    /// # Errors
    /// A root that is no rank of the other group; on the root a length that is no multiple of `remote_size()`.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// use posthaste::Root;
    /// let root = match (side, half.rank()) { (0, 0) => Root::Me, (0, _) => Root::OfMyGroup, _ => Root::Other(0) };
    /// let all: Vec<usize> = if root == Root::Me { (0..others.remote_size()).collect() } else { vec![] };
    /// let mut mine = [usize::MAX];
    /// others.scatter(&all, &mut mine, root)?;
    /// assert!(side == 0 || mine == [half.rank()]);
    /// # Ok(())
    /// # }
    /// ```
    ("MPI_Scatter", "MPI_Iscatter", "MPI_Scatter_init")
    fn scatter[T: Equivalence](all: &'a [T], data: &'a mut [T], root: Root) =
        |comm| Collective::across_scatter(comm, all, data, number(root, comm)?);

    /// As [`Intercommunicator::scatter`], with blocks of different lengths: `counts`, used on the root.
    ///
    /// # Errors
    /// A root that is no rank of the other group; on the root a block outside of `all`.
    ("MPI_Scatterv", "MPI_Iscatterv", "MPI_Scatterv_init")
    fn scatter_varying['c, T: Equivalence](
        all: &'a [T], counts: impl Into<Counts<'c>>, data: &'a mut [T], root: Root
    ) = |comm| Collective::across_scatterv(comm, (all, &counts.into()), data, number(root, comm)?);

    /// Collects the `data` of the other group's ranks in `all` on every rank (MPI-5.0 §6.7). All ranks of a group pass `data` of one
    /// length.
    ///
    /// # Errors
    /// An `all` whose length is no multiple of `remote_size()`.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// let mut theirs = vec![0; others.remote_size()];
    /// others.all_gather(&[world.rank()], &mut theirs)?;
    /// assert!(theirs.iter().enumerate().all(|(at, rank)| *rank == 2 * at + 1 - side));
    /// # Ok(())
    /// # }
    /// ```
    ("MPI_Allgather", "MPI_Iallgather", "MPI_Allgather_init")
    fn all_gather[T: Equivalence](data: &'a [T], all: &'a mut [T]) =
        |comm| Collective::across_allgather(comm, data, all);

    /// As [`Intercommunicator::all_gather`], with blocks of different lengths.
    ///
    /// # Errors
    /// A block outside of `all` or over another.
    ("MPI_Allgatherv", "MPI_Iallgatherv", "MPI_Allgatherv_init")
    fn all_gather_varying['c, T: Equivalence](
        data: &'a [T], all: &'a mut [T], counts: impl Into<Counts<'c>>
    ) = |comm| Collective::across_allgatherv(comm, data, (all, &counts.into()));

    /// Sends each rank of the other group its block of `data` and collects their blocks in `all` (MPI-5.0 §6.8).
    ///
    /// # Errors
    /// A `data` or an `all` whose length is no multiple of `remote_size()`.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// let mut came = vec![0; others.remote_size()];
    /// others.all_to_all(&vec![world.rank(); others.remote_size()], &mut came)?;
    /// assert!(came.iter().enumerate().all(|(at, rank)| *rank == 2 * at + 1 - side));
    /// # Ok(())
    /// # }
    /// ```
    ("MPI_Alltoall", "MPI_Ialltoall", "MPI_Alltoall_init")
    fn all_to_all[T: Equivalence](data: &'a [T], all: &'a mut [T]) =
        |comm| Collective::across_alltoall(comm, data, all);

    /// As [`Intercommunicator::all_to_all`], with blocks of different lengths.
    ///
    /// # Errors
    /// A block outside of its slice, or over another in `all`.
    ("MPI_Alltoallv", "MPI_Ialltoallv", "MPI_Alltoallv_init")
    fn all_to_all_varying['s, 'r, T: Equivalence](
        data: &'a [T], sent: impl Into<Counts<'s>>, all: &'a mut [T], received: impl Into<Counts<'r>>
    ) = |comm| Collective::across_alltoallv(comm, (data, &sent.into()), (all, &received.into()));

    /// Combines the `data` of the other group's ranks position by position into the root's `result` (MPI-5.0 §6.9.1). `data` is used in
    /// the other group, `result` on the root; elsewhere they may be empty.
    ///
    /// # Errors
    /// A root that is no rank of the other group; an operation that `T` does not have.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// use posthaste::{Operation, Root};
    /// let root = match (side, half.rank()) { (1, 0) => Root::Me, (1, _) => Root::OfMyGroup, _ => Root::Other(0) };
    /// let mut sum = [0];
    /// others.reduce(&[1], &mut sum, Operation::Sum, root)?;
    /// assert_eq!(sum[0], if root == Root::Me { others.remote_size() } else { 0 });
    /// # Ok(())
    /// # }
    /// ```
    ("MPI_Reduce", "MPI_Ireduce", "MPI_Reduce_init")
    fn reduce[T: Equivalence](data: &'a [T], result: &'a mut [T], operation: impl Reduction<T>, root: Root) =
        |comm| Collective::across_reduce(comm, data, result, &operation.op(), number(root, comm)?);

    /// Combines the `data` of the other group's ranks position by position into every rank's `result` (MPI-5.0 §6.9.6). Both groups
    /// pass the same length.
    ///
    /// # Errors
    /// A `result` of another length; an operation that `T` does not have.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// let mut sum = [0];
    /// others.all_reduce(&[1], &mut sum, posthaste::Operation::Sum)?;
    /// assert_eq!(sum[0], others.remote_size());
    /// # Ok(())
    /// # }
    /// ```
    ("MPI_Allreduce", "MPI_Iallreduce", "MPI_Allreduce_init")
    fn all_reduce[T: Equivalence](data: &'a [T], result: &'a mut [T], operation: impl Reduction<T>) =
        |comm| Collective::across_allreduce(comm, data, result, &operation.op());

    /// Combines the `data` of the other group's ranks position by position and gives each rank of this one a block of it (MPI-5.0
    /// §6.10.1). Both groups pass the same length.
    ///
    /// # Errors
    /// A `data` whose length is no multiple of `size()`; a `result` that is no block of it; an operation that `T` does not have.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// let data = vec![1; others.size() * others.remote_size()];
    /// let mut block = vec![0; others.remote_size()];
    /// others.reduce_scatter_block(&data, &mut block, posthaste::Operation::Sum)?;
    /// assert!(block.iter().all(|sum| *sum == others.remote_size()));
    /// # Ok(())
    /// # }
    /// ```
    ("MPI_Reduce_scatter_block", "MPI_Ireduce_scatter_block", "MPI_Reduce_scatter_block_init")
    fn reduce_scatter_block[T: Equivalence](data: &'a [T], result: &'a mut [T], operation: impl Reduction<T>) =
        |comm| Collective::across_reduce_scatter_block(comm, data, result, &operation.op());

    /// As [`Intercommunicator::reduce_scatter_block`], with blocks of different lengths: `counts` has one for each rank of the own
    /// group, and all its ranks pass the same (MPI-5.0 §6.10.2).
    ///
    /// # Errors
    /// Counts that do not add up to the length of `data`; a `result` that is not as long as this rank's; an operation that `T` does
    /// not have.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// # if world.size() == 1 { return Ok(()); } // two groups need two ranks
    /// # let side = world.rank() % 2;
    /// # let half = world.split(Some(side), 0)?.expect("every rank has a color");
    /// # let others = half.intercommunicator(0, (half.rank() == 0).then_some((&world, 1 - side)), 0)?;
    /// // All of 4 elements for the first rank of each group.
    /// let counts: Vec<usize> = (0..others.size()).map(|rank| if rank == 0 { 4 } else { 0 }).collect();
    /// let mut block = vec![0; counts[others.rank()]];
    /// others.reduce_scatter(&[1; 4], &mut block, &counts, posthaste::Operation::Sum)?;
    /// assert!(block.iter().all(|sum| *sum == others.remote_size()));
    /// # Ok(())
    /// # }
    /// ```
    ("MPI_Reduce_scatter", "MPI_Ireduce_scatter", "MPI_Reduce_scatter_init")
    fn reduce_scatter[T: Equivalence](
        data: &'a [T], result: &'a mut [T], counts: &[usize], operation: impl Reduction<T>
    ) = |comm| Collective::across_reduce_scatter(comm, data, result, counts, &operation.op());
}

/// A root as core spells it.
fn number(root: Root, comm: &Comm) -> Checked<i32> {
    match root {
        Root::Me => Ok(ROOT),
        Root::OfMyGroup => Ok(PROC_NULL),
        Root::Other(rank) => argument::root(rank, comm.peers()),
    }
}
