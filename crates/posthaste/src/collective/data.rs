//! Collective operations that move data: MPI-5.0 §6.3 to §6.8.

use posthaste_core::buffer::Equivalence;
use posthaste_core::slice::Collective;

use super::{Counts, Plan, Plans};
use crate::argument;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::scope::{Request, Scope};

collectives! { Communicator, Scope, Plans, 'a;
    /// Waits until every rank has called it (MPI-5.0 §6.3).
    ///
    /// # Errors
    /// When a rank has ended.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// universe.world().barrier()?;
    /// // In a scope one can do something else meanwhile.
    /// universe.world().scope(|s| s.barrier().map(drop))?;
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Barrier", "MPI_Ibarrier", "MPI_Barrier_init")
    fn barrier[]() = |comm| Ok(Collective::barrier(comm));

    /// Copies the root's `data` to every rank (MPI-5.0 §6.4). All ranks pass the same length;
    /// [`Communicator::broadcast_vec`] needs no length.
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
    #[doc(alias = "broadcast_into")]
    ("MPI_Bcast", "MPI_Ibcast", "MPI_Bcast_init")
    fn broadcast[T: Equivalence](data: &'a mut [T], root: usize) =
        |comm| Collective::bcast(comm, data, argument::root(root, comm.size())?);

    /// Collects the ranks' `data` in `all` on the root, in the order of ranks (MPI-5.0 §6.5).
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
    #[doc(alias = "gather_into")]
    #[doc(alias = "gather_into_root")]
    ("MPI_Gather", "MPI_Igather", "MPI_Gather_init")
    fn gather[T: Equivalence](data: &'a [T], all: &'a mut [T], root: usize) =
        |comm| Collective::gather(comm, data, all, argument::root(root, comm.size())?);

    /// As [`Communicator::gather`] with one buffer (`MPI_IN_PLACE`): on the root that of all ranks, which its own data lies in
    /// already, elsewhere the rank's data.
    ///
    /// # Errors
    /// A root that is no rank; on the root a length that is no multiple of `size()`.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut squares = if world.rank() == 0 { vec![0; world.size()] } else { vec![world.rank() * world.rank()] };
    /// world.gather_in_place(&mut squares, 0)?;
    /// assert!(world.rank() != 0 || squares.iter().enumerate().all(|(rank, square)| *square == rank * rank));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Gather", "MPI_Igather", "MPI_Gather_init")
    fn gather_in_place[T: Equivalence](data: &'a mut [T], root: usize) =
        |comm| Collective::gather_in_place(comm, data, argument::root(root, comm.size())?);

    /// As [`Communicator::gather`], with blocks of different lengths (MPI-5.0 §6.5). `all` and `counts`, which says how long
    /// they are and where they go, are used on the root only.
    ///
    /// # Errors
    /// A root that is no rank. On the root, a block outside of `all` or over another, and `data` that is not as long as the
    /// root's block.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // Rank 0 has one number, rank 1 has two, and so on.
    /// let mine = vec![world.rank(); world.rank() + 1];
    /// let counts: Vec<usize> = (1..=world.size()).collect();
    /// let mut all = vec![0; counts.iter().sum()];
    /// world.gather_varying(&mine, &mut all, &counts, 0)?;
    /// if world.rank() == 0 {
    ///     assert_eq!(all.last(), Some(&(world.size() - 1)));
    /// }
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "gather_varcount_into")]
    #[doc(alias = "gather_varcount_into_root")]
    ("MPI_Gatherv", "MPI_Igatherv", "MPI_Gatherv_init")
    fn gather_varying['c, T: Equivalence](
        data: &'a [T], all: &'a mut [T], counts: impl Into<Counts<'c>>, root: usize
    ) = |comm| Collective::gatherv(comm, data, (all, &counts.into()), argument::root(root, comm.size())?);

    /// As [`Communicator::gather_varying`] with one buffer, as in [`Communicator::gather_in_place`].
    ///
    /// # Errors
    /// As [`Communicator::gather_varying`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let own = universe.own();
    /// let mut all = [7; 3];
    /// own.gather_varying_in_place(&mut all, &[3], 0)?;
    /// assert_eq!(all, [7; 3]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Gatherv", "MPI_Igatherv", "MPI_Gatherv_init")
    fn gather_varying_in_place['c, T: Equivalence](
        data: &'a mut [T], counts: impl Into<Counts<'c>>, root: usize
    ) = |comm| Collective::gatherv_in_place(comm, data, &counts.into(), argument::root(root, comm.size())?);

    /// Gives each rank its block of the root's `all` in `data`, in the order of ranks (MPI-5.0 §6.6).
    ///
    /// All ranks pass `data` of one length. On the root, `all` is `size()` times as long; on the others it is not
    /// used and may be empty.
    ///
    /// # Errors
    /// A root that is no rank; an `all` of another length on the root.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let all: Vec<usize> = if world.rank() == 0 { (0..2 * world.size()).collect() } else { vec![] };
    /// let mut mine = [0; 2];
    /// world.scatter(&all, &mut mine, 0)?;
    /// assert_eq!(mine, [2 * world.rank(), 2 * world.rank() + 1]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "scatter_into")]
    #[doc(alias = "scatter_into_root")]
    ("MPI_Scatter", "MPI_Iscatter", "MPI_Scatter_init")
    fn scatter[T: Equivalence](all: &'a [T], data: &'a mut [T], root: usize) =
        |comm| Collective::scatter(comm, all, data, argument::root(root, comm.size())?);

    /// As [`Communicator::scatter`] with one buffer (`MPI_IN_PLACE`): on the root that of all ranks, where its own block stays,
    /// elsewhere the rank's block.
    ///
    /// # Errors
    /// A root that is no rank; on the root a length that is no multiple of `size()`.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut data = if world.rank() == 0 { vec![5; world.size()] } else { vec![0] };
    /// world.scatter_in_place(&mut data, 0)?;
    /// assert_eq!(data[0], 5);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Scatter", "MPI_Iscatter", "MPI_Scatter_init")
    fn scatter_in_place[T: Equivalence](data: &'a mut [T], root: usize) =
        |comm| Collective::scatter_in_place(comm, data, argument::root(root, comm.size())?);

    /// As [`Communicator::scatter`], with blocks of different lengths (MPI-5.0 §6.6). `all` and `counts` are used on the root
    /// only; blocks may have elements in common.
    ///
    /// # Errors
    /// A root that is no rank. On the root, a block outside of `all`, and `data` that is not as long as the root's block.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::Counts;
    /// // Overlapping windows of three numbers.
    /// let all: Vec<usize> = (0..world.size() + 2).collect();
    /// let (counts, places) = (vec![3; world.size()], Vec::from_iter(0..world.size()));
    /// let mut window = [0; 3];
    /// world.scatter_varying(&all, Counts::at(&counts, &places), &mut window, 0)?;
    /// assert_eq!(window, [world.rank(), world.rank() + 1, world.rank() + 2]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "scatter_varcount_into")]
    #[doc(alias = "scatter_varcount_into_root")]
    ("MPI_Scatterv", "MPI_Iscatterv", "MPI_Scatterv_init")
    fn scatter_varying['c, T: Equivalence](
        all: &'a [T], counts: impl Into<Counts<'c>>, data: &'a mut [T], root: usize
    ) = |comm| Collective::scatterv(comm, (all, &counts.into()), data, argument::root(root, comm.size())?);

    /// Collects the ranks' `data` in `all` on every rank, in the order of ranks (MPI-5.0 §6.7).
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
    #[doc(alias = "all_gather_into")]
    ("MPI_Allgather", "MPI_Iallgather", "MPI_Allgather_init")
    fn all_gather[T: Equivalence](data: &'a [T], all: &'a mut [T]) =
        |comm| Collective::allgather(comm, data, all);

    /// As [`Communicator::all_gather`], with each rank's data in its place already (`MPI_IN_PLACE`).
    ///
    /// # Errors
    /// A length that is no multiple of `size()`.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut ranks = vec![0; world.size()];
    /// ranks[world.rank()] = world.rank();
    /// world.all_gather_in_place(&mut ranks)?;
    /// assert_eq!(ranks, Vec::from_iter(0..world.size()));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Allgather", "MPI_Iallgather", "MPI_Allgather_init")
    fn all_gather_in_place[T: Equivalence](all: &'a mut [T]) =
        |comm| Collective::allgather_in_place(comm, all);

    /// As [`Communicator::all_gather`], with blocks of different lengths (MPI-5.0 §6.7).
    /// [`Communicator::all_gather_vec`] works the lengths out.
    ///
    /// # Errors
    /// A block outside of `all` or over another; `data` that is not as long as this rank's block.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mine = vec![world.rank(); world.rank() + 1];
    /// let counts: Vec<usize> = (1..=world.size()).collect();
    /// let mut all = vec![0; counts.iter().sum()];
    /// world.all_gather_varying(&mine, &mut all, &counts)?;
    /// assert_eq!(all.last(), Some(&(world.size() - 1)));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "all_gather_varcount_into")]
    ("MPI_Allgatherv", "MPI_Iallgatherv", "MPI_Allgatherv_init")
    fn all_gather_varying['c, T: Equivalence](
        data: &'a [T], all: &'a mut [T], counts: impl Into<Counts<'c>>
    ) = |comm| Collective::allgatherv(comm, data, (all, &counts.into()));

    /// As [`Communicator::all_gather_varying`], with each rank's data in its place already (`MPI_IN_PLACE`).
    ///
    /// # Errors
    /// A block outside of `all` or over another.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let own = universe.own();
    /// let mut all = [3, 4];
    /// own.all_gather_varying_in_place(&mut all, &[2])?;
    /// assert_eq!(all, [3, 4]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Allgatherv", "MPI_Iallgatherv", "MPI_Allgatherv_init")
    fn all_gather_varying_in_place['c, T: Equivalence](all: &'a mut [T], counts: impl Into<Counts<'c>>) =
        |comm| Collective::allgatherv_in_place(comm, all, &counts.into());

    /// Sends each rank its block of `data` and collects their blocks in `all`, both in the order of ranks (MPI-5.0 §6.8). Blocks
    /// of all ranks have one length.
    ///
    /// # Errors
    /// A length that is no multiple of `size()`; an `all` of another length.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // A matrix of which each rank has a row; afterwards it has a column.
    /// let row: Vec<usize> = (0..world.size()).map(|column| 100 * world.rank() + column).collect();
    /// let mut column = vec![0; world.size()];
    /// world.all_to_all(&row, &mut column)?;
    /// assert!(column.iter().enumerate().all(|(row, number)| *number == 100 * row + world.rank()));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "all_to_all_into")]
    ("MPI_Alltoall", "MPI_Ialltoall", "MPI_Alltoall_init")
    fn all_to_all[T: Equivalence](data: &'a [T], all: &'a mut [T]) =
        |comm| Collective::alltoall(comm, data, all);

    /// As [`Communicator::all_to_all`], with what comes in the place of what went (`MPI_IN_PLACE`).
    ///
    /// # Errors
    /// A length that is no multiple of `size()`.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut data = vec![world.rank(); world.size()];
    /// world.all_to_all_in_place(&mut data)?;
    /// assert_eq!(data, Vec::from_iter(0..world.size()));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Alltoall", "MPI_Ialltoall", "MPI_Alltoall_init")
    fn all_to_all_in_place[T: Equivalence](data: &'a mut [T]) =
        |comm| Collective::alltoall_in_place(comm, data);

    /// As [`Communicator::all_to_all`], with blocks of different lengths (MPI-5.0 §6.8). What a rank expects from another is
    /// as long as what that one sends it. [`Communicator::all_to_all_vec`] works out what is expected.
    ///
    /// # Errors
    /// A block outside of its slice, or over another in `all`.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // To rank r go r numbers.
    /// let sent: Vec<usize> = (0..world.size()).collect();
    /// let received = vec![world.rank(); world.size()];
    /// let data = vec![world.rank(); sent.iter().sum()];
    /// let mut all = vec![0; world.rank() * world.size()];
    /// world.all_to_all_varying(&data, &sent, &mut all, &received)?;
    /// assert_eq!(all, Vec::from_iter((0..world.size()).flat_map(|rank| vec![rank; world.rank()])));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "all_to_all_varcount_into")]
    ("MPI_Alltoallv", "MPI_Ialltoallv", "MPI_Alltoallv_init")
    fn all_to_all_varying['s, 'r, T: Equivalence](
        data: &'a [T], sent: impl Into<Counts<'s>>, all: &'a mut [T], received: impl Into<Counts<'r>>
    ) = |comm| Collective::alltoallv(comm, (data, &sent.into()), (all, &received.into()));

    /// As [`Communicator::all_to_all_varying`], with what comes in the place of what went (`MPI_IN_PLACE`): two ranks
    /// exchange blocks of one length.
    ///
    /// # Errors
    /// A block outside of `data` or over another.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let own = universe.own();
    /// let mut data = [3, 4];
    /// own.all_to_all_varying_in_place(&mut data, &[2])?;
    /// assert_eq!(data, [3, 4]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Alltoallv", "MPI_Ialltoallv", "MPI_Alltoallv_init")
    fn all_to_all_varying_in_place['c, T: Equivalence](data: &'a mut [T], counts: impl Into<Counts<'c>>) =
        |comm| Collective::alltoallv_in_place(comm, data, &counts.into());
}

impl Communicator<'_> {
    /// Returns the root's `value` on every rank.
    ///
    /// # Errors
    /// A root that is no rank.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// assert_eq!(world.broadcast_one(world.rank(), 0)?, 0);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn broadcast_one<T: Equivalence>(&self, value: T, root: usize) -> Result<T> {
        let mut data = [value];
        let checked = argument::root(root, self.core().size());
        self.run("broadcast_one", checked.and_then(|root| Collective::bcast(self.core(), &mut data, root)))?;
        Ok(data[0])
    }
}
