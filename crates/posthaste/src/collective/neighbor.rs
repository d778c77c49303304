//! Collective operations among the neighbours of a topology: MPI-5.0 §8.6 to §8.8.

use posthaste_core::buffer::Equivalence;
use posthaste_core::slice::Collective;

use super::{Counts, Plan, Plans};
use crate::communicator::Communicator;
use crate::scope::{Request, Scope};

collectives! { Communicator, Scope, Plans, 'a;
    /// Sends `data` to all destinations and collects that of the sources in `all`, in the order of
    /// [`Communicator::sources`] (MPI-5.0 §8.6.1). All ranks pass `data` of one length; `all` has
    /// a block of it for each source. The block of nobody stays as it is.
    ///
    /// # Errors
    /// No topology; an `all` of another length.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let line = world.cartesian(&[world.size()], &[false])?.expect("a place for every rank");
    /// let mut around = [-1; 2];
    /// line.neighbor_all_gather(&[line.rank() as i32], &mut around)?;
    /// // Nobody is below rank 0, and nobody is above the last one.
    /// assert_eq!(around[0], line.rank() as i32 - 1);
    /// # Ok(())
    /// # }
    /// ```
    ("MPI_Neighbor_allgather", "MPI_Ineighbor_allgather", "MPI_Neighbor_allgather_init")
    fn neighbor_all_gather[T: Equivalence](data: &'a [T], all: &'a mut [T]) =
        |comm| Collective::neighbor_allgather(comm, data, all);

    /// As [`Communicator::neighbor_all_gather`], with blocks of different lengths: `counts` has those of the sources
    /// (MPI-5.0 §8.6.1).
    ///
    /// # Errors
    /// No topology; a block outside of `all` or over another.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let before = (rank + size - 1) % size;
    /// let ring = world.adjacent_graph(&[before], &[(rank + 1) % size])?;
    /// let mut came = vec![0; before + 1];
    /// ring.neighbor_all_gather_varying(&vec![rank; rank + 1], &mut came, &[before + 1])?;
    /// assert_eq!(came, vec![before; before + 1]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Neighbor_allgatherv", "MPI_Ineighbor_allgatherv", "MPI_Neighbor_allgatherv_init")
    fn neighbor_all_gather_varying['c, T: Equivalence](
        data: &'a [T], all: &'a mut [T], counts: impl Into<Counts<'c>>
    ) = |comm| Collective::neighbor_allgatherv(comm, data, (all, &counts.into()));

    /// Sends each destination its block of `data`, and collects the blocks of the sources in `all`
    /// (MPI-5.0 §8.6.2). Blocks of all ranks have one length.
    ///
    /// Of several edges between two ranks the first block that is sent arrives as the first from that rank. In a grid what is
    /// sent down along a dimension arrives from above, also where both are the same rank.
    ///
    /// # Errors
    /// No topology; a `data` or an `all` that is not one block for each destination, or each source.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let ring = world.cartesian(&[world.size()], &[true])?.expect("a place for every rank");
    /// let (down, up) = (1, 2);
    /// let mut came = [0; 2];
    /// ring.neighbor_all_to_all(&[down, up], &mut came)?;
    /// // From below came what was sent up.
    /// assert_eq!(came, [up, down]);
    /// // In a scope the program computes meanwhile what needs no halo.
    /// let (edges, mut halo) = ([1.0, 2.0], [0.0; 2]);
    /// ring.scope(|s| {
    ///     s.neighbor_all_to_all(&edges, &mut halo)?;
    ///     Ok(())
    /// })?;
    /// assert_eq!(halo, [2.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ("MPI_Neighbor_alltoall", "MPI_Ineighbor_alltoall", "MPI_Neighbor_alltoall_init")
    fn neighbor_all_to_all[T: Equivalence](data: &'a [T], all: &'a mut [T]) =
        |comm| Collective::neighbor_alltoall(comm, data, all);

    /// As [`Communicator::neighbor_all_to_all`], with blocks of different lengths: `sent` has those of the destinations,
    /// `received` those of the sources (MPI-5.0 §8.6.2).
    ///
    /// # Errors
    /// No topology; a block outside of its slice, or over another in `all`.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // Rows of two to the one below, rows of three to the one above, whatever lies between.
    /// use posthaste::Counts;
    /// let ring = world.cartesian(&[world.size()], &[true])?.expect("a place for every rank");
    /// let field = [1, 1, 0, 0, 2, 2, 2];
    /// let mut halo = [0; 5];
    /// ring.neighbor_all_to_all_varying(&field, Counts::at(&[2, 3], &[0, 4]), &mut halo, &[3, 2])?;
    /// assert_eq!(halo, [2, 2, 2, 1, 1]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    ("MPI_Neighbor_alltoallv", "MPI_Ineighbor_alltoallv", "MPI_Neighbor_alltoallv_init")
    fn neighbor_all_to_all_varying['s, 'r, T: Equivalence](
        data: &'a [T], sent: impl Into<Counts<'s>>, all: &'a mut [T], received: impl Into<Counts<'r>>
    ) = |comm| Collective::neighbor_alltoallv(comm, (data, &sent.into()), (all, &received.into()));
}
