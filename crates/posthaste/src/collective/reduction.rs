//! Collective operations that combine data: MPI-5.0 §6.9 to §6.11.

use posthaste_core::buffer::Equivalence;
use posthaste_core::slice::{self, Collective};

use super::{Plan, Plans};
use crate::argument;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::operation::Reduction;
use crate::scope::{Request, Scope};

collectives! { Communicator, Scope, Plans, 'a;
    /// Combines the ranks' `data` position by position into the root's `result` (MPI-5.0 §6.9.1).
    ///
    /// All ranks pass `data` of one length. `result` has that length on the root; on the others it is not used and
    /// may be empty.
    ///
    /// # Errors
    /// A root that is no rank; a `result` of another length on the root; an operation that `T` does not have; a panic in the
    /// operation's function ([`ErrorClass::Op`](crate::ErrorClass::Op)).
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
    #[doc(alias = "reduce_into")]
    #[doc(alias = "reduce_into_root")]
    ("MPI_Reduce", "MPI_Ireduce", "MPI_Reduce_init")
    fn reduce[T: Equivalence](
        data: &'a [T], result: &'a mut [T], operation: impl Reduction<T>, root: usize
    ) = |comm| {
        Collective::reduce(comm, data, result, &operation.op(), argument::root(root, comm.size())?)
    };

    /// As [`Communicator::reduce`], with the result in the place of the root's data (`MPI_IN_PLACE`); that of others stays.
    ///
    /// # Errors
    /// As [`Communicator::reduce`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut sum = [1];
    /// world.reduce_in_place(&mut sum, posthaste::Operation::Sum, 0)?;
    /// assert_eq!(sum[0], if world.rank() == 0 { world.size() } else { 1 });
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Reduce", "MPI_Ireduce", "MPI_Reduce_init")
    fn reduce_in_place[T: Equivalence](data: &'a mut [T], operation: impl Reduction<T>, root: usize) =
        |comm| Collective::reduce_in_place(comm, data, &operation.op(), argument::root(root, comm.size())?);

    /// Combines the ranks' `data` position by position into every rank's `result` (MPI-5.0 §6.9.6). All ranks pass
    /// the same length, for `data` and `result`.
    ///
    /// # Errors
    /// A `result` of another length; an operation that `T` does not have ([`ErrorClass::Op`](crate::ErrorClass::Op)); a
    /// panic in the operation's function.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// use posthaste::Operation::Sum;
    /// let world = universe.world();
    /// let mut sums = [0.0; 2];
    /// world.all_reduce(&[1.0, 0.5], &mut sums, Sum)?;
    /// assert_eq!(sums[0], world.size() as f64);
    /// // Or while something else is computed.
    /// let (mine, mut total) = ([2.0], [0.0]);
    /// world.scope(|s| {
    ///     s.all_reduce(&mine, &mut total, Sum)?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(total[0], 2.0 * world.size() as f64);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "all_reduce_into")]
    ("MPI_Allreduce", "MPI_Iallreduce", "MPI_Allreduce_init")
    fn all_reduce[T: Equivalence](data: &'a [T], result: &'a mut [T], operation: impl Reduction<T>) =
        |comm| Collective::allreduce(comm, data, result, &operation.op());

    /// As [`Communicator::all_reduce`], with the result in the place of the data (`MPI_IN_PLACE`).
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut range = [world.rank() as i64, -(world.rank() as i64)];
    /// world.all_reduce_in_place(&mut range, posthaste::Operation::Minimum)?;
    /// assert_eq!(range, [0, 1 - world.size() as i64]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Allreduce", "MPI_Iallreduce", "MPI_Allreduce_init")
    fn all_reduce_in_place[T: Equivalence](data: &'a mut [T], operation: impl Reduction<T>) =
        |comm| Collective::allreduce_in_place(comm, data, &operation.op());

    /// Combines the ranks' `data` position by position, and gives each rank its block of the result, in the order of ranks
    /// (MPI-5.0 §6.10.1). `data` is `size()` times as long as `result`.
    ///
    /// # Errors
    /// A `data` or a `result` of another length; otherwise as [`Communicator::all_reduce`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let data: Vec<usize> = (0..world.size()).collect();
    /// let mut mine = [0];
    /// world.reduce_scatter_block(&data, &mut mine, posthaste::Operation::Sum)?;
    /// assert_eq!(mine[0], world.rank() * world.size());
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "reduce_scatter_block_into")]
    ("MPI_Reduce_scatter_block", "MPI_Ireduce_scatter_block", "MPI_Reduce_scatter_block_init")
    fn reduce_scatter_block[T: Equivalence](
        data: &'a [T], result: &'a mut [T], operation: impl Reduction<T>
    ) = |comm| Collective::reduce_scatter_block(comm, data, result, &operation.op());

    /// As [`Communicator::reduce_scatter_block`], with the result at the beginning of the data (`MPI_IN_PLACE`). What lies
    /// behind it afterwards is anything.
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter_block`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut data: Vec<usize> = (0..world.size()).collect();
    /// world.reduce_scatter_block_in_place(&mut data, posthaste::Operation::Sum)?;
    /// assert_eq!(data[0], world.rank() * world.size());
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Reduce_scatter_block", "MPI_Ireduce_scatter_block", "MPI_Reduce_scatter_block_init")
    fn reduce_scatter_block_in_place[T: Equivalence](data: &'a mut [T], operation: impl Reduction<T>) =
        |comm| Collective::reduce_scatter_block_in_place(comm, data, &operation.op());

    /// As [`Communicator::reduce_scatter_block`], with blocks of different lengths: `counts`, which all ranks pass alike
    /// (MPI-5.0 §6.10.2).
    ///
    /// # Errors
    /// Counts that do not add up to the length of `data`; a `result` that is not as long as this rank's count; otherwise as
    /// [`Communicator::all_reduce`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let counts: Vec<usize> = (1..=world.size()).collect();
    /// let data = vec![1; counts.iter().sum()];
    /// let mut mine = vec![0; world.rank() + 1];
    /// world.reduce_scatter(&data, &mut mine, &counts, posthaste::Operation::Sum)?;
    /// assert!(mine.iter().all(|sum| *sum == world.size()));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Reduce_scatter", "MPI_Ireduce_scatter", "MPI_Reduce_scatter_init")
    fn reduce_scatter['c, T: Equivalence](
        data: &'a [T], result: &'a mut [T], counts: &'c [usize], operation: impl Reduction<T>
    ) = |comm| Collective::reduce_scatter(comm, data, result, counts, &operation.op());

    /// As [`Communicator::reduce_scatter`], with the result at the beginning of the data (`MPI_IN_PLACE`). What lies behind it
    /// afterwards is anything.
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let own = universe.own();
    /// let mut data = [3, 4];
    /// own.reduce_scatter_in_place(&mut data, &[2], posthaste::Operation::Sum)?;
    /// assert_eq!(data, [3, 4]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Reduce_scatter", "MPI_Ireduce_scatter", "MPI_Reduce_scatter_init")
    fn reduce_scatter_in_place['c, T: Equivalence](
        data: &'a mut [T], counts: &'c [usize], operation: impl Reduction<T>
    ) = |comm| Collective::reduce_scatter_in_place(comm, data, counts, &operation.op());

    /// Combines the `data` of all ranks up to each one, itself included, into its `result` (MPI-5.0 §6.11.1).
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut below = [0];
    /// world.scan(&[1], &mut below, posthaste::Operation::Sum)?;
    /// assert_eq!(below[0], world.rank() + 1);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "scan_into")]
    ("MPI_Scan", "MPI_Iscan", "MPI_Scan_init")
    fn scan[T: Equivalence](data: &'a [T], result: &'a mut [T], operation: impl Reduction<T>) =
        |comm| Collective::scan(comm, data, result, &operation.op());

    /// As [`Communicator::scan`], with the result in the place of the data (`MPI_IN_PLACE`).
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut product = [2.0];
    /// world.scan_in_place(&mut product, posthaste::Operation::Product)?;
    /// assert_eq!(product[0], 2f64.powi(world.rank() as i32 + 1));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Scan", "MPI_Iscan", "MPI_Scan_init")
    fn scan_in_place[T: Equivalence](data: &'a mut [T], operation: impl Reduction<T>) =
        |comm| Collective::scan_in_place(comm, data, &operation.op());

    /// Combines the `data` of all ranks before each one into its `result` (MPI-5.0 §6.11.2). That of rank 0, before which
    /// nobody is, stays as it is.
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // Where do my 10 lines begin in a file of all ranks?
    /// let mut first = [0];
    /// world.exclusive_scan(&[10], &mut first, posthaste::Operation::Sum)?;
    /// assert_eq!(first[0], 10 * world.rank());
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "exclusive_scan_into")]
    ("MPI_Exscan", "MPI_Iexscan", "MPI_Exscan_init")
    fn exclusive_scan[T: Equivalence](data: &'a [T], result: &'a mut [T], operation: impl Reduction<T>) =
        |comm| Collective::exscan(comm, data, result, &operation.op());

    /// As [`Communicator::exclusive_scan`], with the result in the place of the data (`MPI_IN_PLACE`).
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut first = [10];
    /// world.exclusive_scan_in_place(&mut first, posthaste::Operation::Sum)?;
    /// assert_eq!(first[0], if world.rank() == 0 { 10 } else { 10 * world.rank() });
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Exscan", "MPI_Iexscan", "MPI_Exscan_init")
    fn exclusive_scan_in_place[T: Equivalence](data: &'a mut [T], operation: impl Reduction<T>) =
        |comm| Collective::exscan_in_place(comm, data, &operation.op());
}

/// Reductions of single values, and of one rank.
impl Communicator<'_> {
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
    pub fn all_reduce_one<T: Equivalence>(&self, value: T, operation: impl Reduction<T>) -> Result<T> {
        let mut data = [value];
        let plan = Collective::allreduce_in_place(self.core(), &mut data, &operation.op());
        self.run("all_reduce_one", plan)?;
        Ok(data[0])
    }

    /// Combines one value of each rank up to this one, and returns the result.
    ///
    /// # Errors
    /// An operation that `T` does not have.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// assert_eq!(world.scan_one(1, posthaste::Operation::Sum)?, world.rank() + 1);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn scan_one<T: Equivalence>(&self, value: T, operation: impl Reduction<T>) -> Result<T> {
        let mut data = [value];
        self.run("scan_one", Collective::scan_in_place(self.core(), &mut data, &operation.op()))?;
        Ok(data[0])
    }

    /// Combines one value of each rank before this one, and returns the result; `None` on rank 0.
    ///
    /// # Errors
    /// An operation that `T` does not have.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let before = world.exclusive_scan_one(1, posthaste::Operation::Sum)?;
    /// assert_eq!(before.unwrap_or(0), world.rank());
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn exclusive_scan_one<T: Equivalence>(
        &self,
        value: T,
        operation: impl Reduction<T>,
    ) -> Result<Option<T>> {
        let mut data = [value];
        let plan = Collective::exscan_in_place(self.core(), &mut data, &operation.op());
        self.run("exclusive_scan_one", plan)?;
        Ok((self.rank() > 0).then_some(data[0]))
    }

    /// Combines `data` into `result` position by position on this rank alone (MPI-5.0 §6.9.7); `data` has the left operands.
    ///
    /// # Errors
    /// A `result` of another length; an operation that `T` does not have; a panic in the operation's function.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut result = [1.0, 2.0];
    /// world.reduce_local(&[3.0, 1.0], &mut result, posthaste::Operation::Maximum)?;
    /// assert_eq!(result, [3.0, 2.0]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Reduce_local")]
    #[doc(alias = "reduce_local_into")]
    pub fn reduce_local<T: Equivalence>(
        &self,
        data: &[T],
        result: &mut [T],
        operation: impl Reduction<T>,
    ) -> Result<()> {
        self.named("reduce_local", slice::reduce_local(data, result, &operation.op()))
    }
}
