//! What can be asked about a topology (MPI-5.0 §8.5.2, §8.5.5 to §8.5.8).

use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::topology;

use super::{graph, grid};
use crate::argument;
use crate::communicator::Communicator;
use crate::error::{Error, Result};

/// Questions about a topology.
impl Communicator<'_> {
    /// The coordinates of a rank in the grid (`MPI_Cart_coords`).
    ///
    /// # Errors
    /// [`ErrorClass::Topology`](crate::ErrorClass::Topology) without a grid; a rank that nobody has.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let plane = world.cartesian(&[1, world.size()], &[false, false])?.expect("a place for every rank");
    /// assert_eq!(plane.coordinates(plane.rank())?, [0, plane.rank()]);
    /// assert_eq!(plane.rank_at(&[0, 0])?, 0);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Cart_coords")]
    #[doc(alias = "rank_to_coordinates")]
    pub fn coordinates(&self, rank: usize) -> Result<Vec<usize>> {
        let coords =
            topology::cart(self.core()).and_then(|cart| cart.coords(i32::try_from(rank).unwrap_or(-1)));
        let coords = self.named("coordinates", coords)?;
        Ok(coords.into_iter().map(|one| one as usize).collect())
    }

    /// The rank at some coordinates; in dimensions that go round any number is one (`MPI_Cart_rank`).
    ///
    /// # Errors
    /// No grid; coordinates outside of it.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let ring = world.cartesian(&[world.size()], &[true])?.expect("a place for every rank");
    /// assert_eq!(ring.rank_at(&[-1])?, world.size() - 1);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Cart_rank")]
    #[doc(alias = "coordinates_to_rank")]
    pub fn rank_at(&self, coordinates: &[i32]) -> Result<usize> {
        let rank = topology::cart(self.core()).and_then(|cart| cart.rank(coordinates));
        self.named("rank_at", rank).map(|rank| rank as usize)
    }

    /// Who sends to this rank and to whom it sends when everybody in the grid sends by `displacement` along a dimension
    /// (`MPI_Cart_shift`, MPI-5.0 §8.5.6); `None` beyond the border.
    ///
    /// # Errors
    /// No grid; no such dimension.
    #[doc(alias = "MPI_Cart_shift")]
    pub fn shift(&self, dimension: usize, displacement: i32) -> Result<(Option<usize>, Option<usize>)> {
        let dimension = i32::try_from(dimension).unwrap_or(-1);
        let shifted = topology::cart(self.core())
            .and_then(|cart| cart.shift(self.core().rank(), dimension, displacement));
        let (source, destination) = self.named("shift", shifted)?;
        Ok((argument::somebody(source), argument::somebody(destination)))
    }

    /// The ranks that this one gets blocks from, in their order: in a grid those below and above along each dimension, `None`
    /// beyond the border.
    ///
    /// # Errors
    /// [`ErrorClass::Topology`](crate::ErrorClass::Topology) without a topology.
    #[doc(alias = "MPI_Dist_graph_neighbors")]
    pub fn sources(&self) -> Result<Vec<Option<usize>>> {
        let neighbors = self.named("sources", topology::neighbors(self.core()))?;
        Ok(neighbors.sources().iter().map(|rank| argument::somebody(*rank)).collect())
    }

    /// The ranks that this one sends blocks to, as [`Communicator::sources`].
    ///
    /// # Errors
    /// As [`Communicator::sources`].
    pub fn destinations(&self) -> Result<Vec<Option<usize>>> {
        let neighbors = self.named("destinations", topology::neighbors(self.core()))?;
        Ok(neighbors.destinations().iter().map(|rank| argument::somebody(*rank)).collect())
    }

    /// The ranks that have edges to and from a rank in a graph that all ranks know (`MPI_Graph_neighbors`, MPI-5.0 §8.5.5).
    ///
    /// # Errors
    /// [`ErrorClass::Topology`](crate::ErrorClass::Topology) without such a graph; a rank that nobody has.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let star = world.graph(&vec![vec![0]; world.size()])?.expect("every rank is in it");
    /// assert_eq!(star.neighbors_of(world.size() - 1)?, [0]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Graph_neighbors")]
    #[doc(alias = "MPI_Graph_get")]
    pub fn neighbors_of(&self, rank: usize) -> Result<Vec<usize>> {
        let rank = i32::try_from(rank).unwrap_or(-1);
        let neighbors = topology::graph(self.core()).and_then(|graph| graph.neighbors(rank));
        Ok(self.named("neighbors_of", neighbors)?.iter().map(|rank| *rank as usize).collect())
    }

    /// Weights of the edges from [`Communicator::sources`] and to [`Communicator::destinations`] of a distributed graph
    /// (`MPI_Dist_graph_neighbors`); `None` where edges have none.
    ///
    /// # Errors
    /// [`ErrorClass::Topology`](crate::ErrorClass::Topology) without such a graph.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let alone = world.adjacent_graph(&[world.rank()], &[world.rank()])?;
    /// assert_eq!(alone.weights()?, None);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Dist_graph_neighbors")]
    pub fn weights(&self) -> Result<Option<(Vec<i32>, Vec<i32>)>> {
        let graph = self.named("weights", topology::dist_graph(self.core()))?;
        Ok(graph.weights().map(|[from, to]| (from.to_vec(), to.to_vec())))
    }

    /// The size of each dimension of the grid, and whether it goes round (`MPI_Cart_get`).
    ///
    /// # Errors
    /// [`ErrorClass::Topology`](crate::ErrorClass::Topology) without a grid.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let plane = world.cartesian(&[world.size(), 1], &[true, false])?.expect("a place for every rank");
    /// assert_eq!(plane.grid()?, [(world.size(), true), (1, false)]);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Cart_get")]
    #[doc(alias = "MPI_Cartdim_get")]
    #[doc(alias = "get_layout")]
    pub fn grid(&self) -> Result<Vec<(usize, bool)>> {
        let cart = self.named("grid", topology::cart(self.core()))?;
        Ok(cart.sizes().map(|(size, periodic)| (size as usize, periodic)).collect())
    }

    /// Which topology the communicator has (`MPI_Topo_test`).
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::Topology;
    /// assert_eq!(world.topology(), None);
    /// let ring = world.cartesian(&[world.size()], &[true])?.expect("a place for every rank");
    /// assert_eq!(ring.topology(), Some(Topology::Cartesian));
    /// assert_eq!(ring.dup()?.topology(), Some(Topology::Cartesian));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Topo_test")]
    pub fn topology(&self) -> Option<Topology> {
        topology::of(self.core()).map(|found| match found {
            topology::Topology::Cart(_) => Topology::Cartesian,
            topology::Topology::Graph(_) => Topology::Graph,
            topology::Topology::DistGraph(_) => Topology::DistributedGraph,
        })
    }

    /// The rank that [`Communicator::cartesian_reordered`] would give this one (`MPI_Cart_map`, MPI-5.0 §8.5.8); `None` where it
    /// would have no place.
    ///
    /// # Errors
    /// As [`Communicator::cartesian`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// assert_eq!(world.cartesian_map(&[1, 1], &[false, false])?, (world.rank() == 0).then_some(0));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Cart_map")]
    pub fn cartesian_map(&self, sizes: &[usize], periodic: &[bool]) -> Result<Option<usize>> {
        let cart = self.named("cartesian_map", grid(self, sizes, periodic))?;
        Ok(cart.place_of(self.core(), self.rank() as u32).map(|place| place as usize))
    }

    /// The rank that [`Communicator::graph_reordered`] would give this one (`MPI_Graph_map`, MPI-5.0 §8.5.8); `None` where it would
    /// be no node.
    ///
    /// # Errors
    /// As [`Communicator::graph`].
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// assert_eq!(world.graph_map(&[[0]])?, (world.rank() == 0).then_some(0));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Graph_map")]
    pub fn graph_map<L: AsRef<[usize]>>(&self, neighbors: &[L]) -> Result<Option<usize>> {
        let graph = self.named("graph_map", graph(self, neighbors))?;
        Ok(graph.node_of(self.core(), self.rank() as u32).map(|node| node as usize))
    }
}

/// Kinds of topologies (`MPI_Topo_test`).
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let loops = world.adjacent_graph(&[world.rank()], &[world.rank()])?;
/// assert_eq!(loops.topology(), Some(posthaste::Topology::DistributedGraph));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Topology {
    /// A grid ([`Communicator::cartesian`]).
    #[doc(alias = "MPI_CART")]
    Cartesian,
    /// A graph that all ranks know ([`Communicator::graph`]).
    #[doc(alias = "MPI_GRAPH")]
    Graph,
    /// A graph of which each rank knows its own edges ([`Communicator::adjacent_graph`]).
    #[doc(alias = "MPI_DIST_GRAPH")]
    DistributedGraph,
}

/// Sizes for a grid of so many ranks, as close to each other as possible, the largest first (`MPI_Dims_create`, MPI-5.0 §8.5.2).
/// Sizes that are not 0 stay.
///
/// # Errors
/// Sizes that are not 0 and whose product does not divide `ranks`; no ranks.
///
/// ```
/// assert_eq!(posthaste::balanced_sizes(12, &[0, 0])?, [4, 3]);
/// assert_eq!(posthaste::balanced_sizes(12, &[0, 2, 0])?, [3, 2, 2]);
/// assert!(posthaste::balanced_sizes(12, &[5, 0]).is_err());
/// # Ok::<(), posthaste::Error>(())
/// ```
#[doc(alias = "MPI_Dims_create")]
pub fn balanced_sizes(ranks: usize, sizes: &[usize]) -> Result<Vec<usize>> {
    let number = |argument, number: usize| {
        i32::try_from(number).map_err(|_| {
            Cause::invalid(ErrorClass::Dims, argument, number, format_args!("at most {}", i32::MAX))
        })
    };
    let balanced = number("ranks", ranks).and_then(|ranks| {
        let mut sizes: Vec<i32> = sizes.iter().map(|size| number("sizes", *size)).collect::<Checked<_>>()?;
        topology::dims::balance(ranks, &mut sizes)?;
        Ok(sizes.into_iter().map(|size| size as usize).collect())
    });
    balanced.map_err(|cause| Error::new("balanced_sizes", None, cause))
}
