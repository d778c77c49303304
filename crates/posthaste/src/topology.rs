//! Topologies: who is whose neighbour (MPI-5.0 chapter 8). What neighbours exchange is in `collective/neighbor`.
//!
//! What must stay true: a rank of a topology is one of its communicator; nobody is `None`.

use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::topology::{self, Cart, DistGraph, Edges, Graph};

use crate::argument;
use crate::communicator::Communicator;
use crate::error::Result;

/// Making communicators with a topology. All ranks call these functions; ranks stay in their order.
impl Communicator<'_> {
    /// Arranges the ranks in a grid, the last coordinate counting fastest (`MPI_Cart_create`, MPI-5.0 §8.5.1). Along a
    /// dimension that is `periodic` the grid goes round. All ranks pass the same.
    ///
    /// A grid may have fewer places than there are ranks; who has none gets `None`.
    ///
    /// # Errors
    /// A size of 0, more places than ranks, or not one entry of `periodic` for each size.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let ring = world.cartesian(&[world.size()], &[true])?.expect("a place for every rank");
    /// let (before, next) = ring.shift(0, 1)?;
    /// let mut left = [0];
    /// ring.send_receive(&[ring.rank()], next, 0, &mut left, before, 0)?;
    /// assert_eq!(Some(left[0]), before);
    /// # Ok(())
    /// # }
    /// ```
    pub fn cartesian(&self, sizes: &[usize], periodic: &[bool]) -> Result<Option<Self>> {
        let plan = grid(self, sizes, periodic)
            .and_then(|cart| cart.plan(self.core(), || self.engine().allocate_context()));
        self.create("cartesian", plan)
    }

    /// Gives each rank the neighbours that stand at its place in a list that all ranks pass alike (`MPI_Graph_create`,
    /// MPI-5.0 §8.5.3).
    ///
    /// The same neighbour may stand there several times, and a rank may be its own. The list may be shorter than there are
    /// ranks; who is not in it gets `None`. [`Communicator::distributed_graph`] needs no rank that knows everything.
    ///
    /// # Errors
    /// More lists than ranks; a neighbour without a list.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // A star around rank 0.
    /// let star: Vec<Vec<usize>> =
    ///     (0..world.size()).map(|rank| if rank == 0 { (1..world.size()).collect() } else { vec![0] }).collect();
    /// let star = world.graph(&star)?.expect("every rank is in it");
    /// assert_eq!(star.sources()?.len(), if star.rank() == 0 { star.size() - 1 } else { 1 });
    /// # Ok(())
    /// # }
    /// ```
    pub fn graph<L: AsRef<[usize]>>(&self, neighbors: &[L]) -> Result<Option<Self>> {
        let plan = graph(self, neighbors)
            .and_then(|graph| graph.plan(self.core(), || self.engine().allocate_context()));
        self.create("graph", plan)
    }

    /// Makes a graph of which each rank says where the edges to it come from and where the edges from it lead to
    /// (`MPI_Dist_graph_create_adjacent`, MPI-5.0 §8.5.4). Both ends of an edge name it, as often as there are edges.
    ///
    /// # Errors
    /// A rank that nobody has.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let ring = world.adjacent_graph(&[(rank + size - 1) % size], &[(rank + 1) % size])?;
    /// assert_eq!(ring.destinations()?, [Some((rank + 1) % size)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn adjacent_graph(&self, sources: &[usize], destinations: &[usize]) -> Result<Self> {
        let size = self.core().size();
        let made = argument::ranks("sources", sources, size).and_then(|sources| {
            let destinations = argument::ranks("destinations", destinations, size)?;
            DistGraph::adjacent(self.core(), &sources, &destinations, None)
        });
        self.carry("adjacent_graph", "MPI_Dist_graph_create_adjacent", made)
    }

    /// Makes a graph of edges, each from one rank to another, which any rank may name (`MPI_Dist_graph_create`, MPI-5.0
    /// §8.5.4). An edge that is named twice is there twice.
    ///
    /// # Errors
    /// A rank that nobody has.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // Rank 0 knows the graph: from itself to everybody.
    /// let edges: Vec<(usize, usize)> =
    ///     if world.rank() == 0 { (0..world.size()).map(|to| (0, to)).collect() } else { vec![] };
    /// let tree = world.distributed_graph(&edges)?;
    /// assert_eq!(tree.sources()?, [Some(0)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn distributed_graph(&self, edges: &[(usize, usize)]) -> Result<Self> {
        const CALL: &str = "distributed_graph";
        let (sources, destinations): (Vec<usize>, Vec<usize>) = edges.iter().copied().unzip();
        let size = self.core().size();
        let sources = self.named(CALL, argument::ranks("edges", &sources, size))?;
        let destinations = self.named(CALL, argument::ranks("edges", &destinations, size))?;
        let degrees = vec![1; edges.len()];
        let edges =
            Edges { sources: &sources, degrees: &degrees, destinations: &destinations, weights: None };
        let (schedule, announced) = self.named(CALL, edges.plan(self.core()))?;
        self.named(CALL, self.engine().run(schedule))?;
        let (schedule, delivered) = self.named(CALL, announced.plan())?;
        self.named(CALL, self.engine().run(schedule))?;
        self.carry(CALL, "MPI_Dist_graph_create", delivered.finish())
    }

    /// A communicator of the same ranks with a graph.
    fn carry(&self, call: &'static str, name: &'static str, graph: Checked<DistGraph>) -> Result<Self> {
        let plan = graph.and_then(|graph| graph.plan(self.core(), name, || self.engine().allocate_context()));
        let made = self.create(call, plan)?;
        self.named(
            call,
            made.ok_or_else(|| Cause::other(ErrorClass::Intern, "this rank got no communicator")),
        )
    }
}

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
    pub fn rank_at(&self, coordinates: &[i32]) -> Result<usize> {
        let rank = topology::cart(self.core()).and_then(|cart| cart.rank(coordinates));
        self.named("rank_at", rank).map(|rank| rank as usize)
    }

    /// Who sends to this rank and to whom it sends when everybody in the grid sends by `displacement` along a dimension
    /// (`MPI_Cart_shift`, MPI-5.0 §8.5.6); `None` beyond the border.
    ///
    /// # Errors
    /// No grid; no such dimension.
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
}

fn grid(comm: &Communicator<'_>, sizes: &[usize], periodic: &[bool]) -> Checked<Cart> {
    if periodic.len() != sizes.len() {
        let got = format_args!("{} entries long", periodic.len());
        let expected = format_args!("one for each size, {}", sizes.len());
        return Err(Cause::invalid(ErrorClass::Dims, "periodic", got, expected));
    }
    let size = |size: &usize| {
        i32::try_from(*size).map_err(|_| {
            let expected = format_args!("at most {}", i32::MAX);
            Cause::invalid(ErrorClass::Dims, "sizes", size, expected)
        })
    };
    let sizes: Vec<i32> = sizes.iter().map(size).collect::<Checked<_>>()?;
    let periodic: Vec<i32> = periodic.iter().map(|periodic| i32::from(*periodic)).collect();
    Cart::new(comm.core(), &sizes, &periodic)
}

fn graph<L: AsRef<[usize]>>(comm: &Communicator<'_>, neighbors: &[L]) -> Checked<Graph> {
    let size = comm.core().size();
    let mut index = Vec::with_capacity(neighbors.len());
    let mut edges = Vec::new();
    for list in neighbors {
        edges.extend(argument::ranks("neighbors", list.as_ref(), size)?);
        index.push(i32::try_from(edges.len()).map_err(|_| {
            let expected = format_args!("at most {} edges", i32::MAX);
            Cause::invalid(ErrorClass::Arg, "neighbors", edges.len(), expected)
        })?);
    }
    Graph::new(comm.core(), &index, &edges)
}
