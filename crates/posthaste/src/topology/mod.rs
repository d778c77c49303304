//! Topologies: who is whose neighbour (MPI-5.0 chapter 8). Here they are made; `questions` has what can be asked about them, and
//! `collective/neighbor` what neighbours exchange.
//!
//! What must stay true: a rank of a topology is one of its communicator; nobody is `None`.

use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::topology::{self, Cart, DistGraph, Edges, Graph};

use crate::argument;
use crate::communicator::Communicator;
use crate::error::Result;

mod questions;

pub use questions::{Topology, balanced_sizes};

/// Making communicators with a topology. All ranks call these functions; ranks stay in their order, but where a function says otherwise.
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
    #[doc(alias = "MPI_Cart_create")]
    #[doc(alias = "create_cartesian_communicator")]
    pub fn cartesian(&self, sizes: &[usize], periodic: &[bool]) -> Result<Option<Self>> {
        self.arranged("cartesian", sizes, periodic, false)
    }

    /// As [`Communicator::cartesian`], but ranks get the places with which the fewest neighbours are on different hosts: the
    /// ranks of a host a block of the grid. Rank 0 keeps its place, and without a gain everybody does. Whoever
    /// holds data for the old rank moves it, or makes the grid first.
    ///
    /// # Errors
    /// As [`Communicator::cartesian`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let sizes = posthaste::balanced_sizes(world.size(), &[0, 0])?;
    /// let plane = world.cartesian_reordered(&sizes, &[true, true])?.expect("a place for every rank");
    /// assert_eq!(world.cartesian_map(&sizes, &[true, true])?, Some(plane.rank()));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Cart_create")]
    pub fn cartesian_reordered(&self, sizes: &[usize], periodic: &[bool]) -> Result<Option<Self>> {
        self.arranged("cartesian_reordered", sizes, periodic, true)
    }

    fn arranged(
        &self,
        call: &'static str,
        sizes: &[usize],
        periodic: &[bool],
        reorder: bool,
    ) -> Result<Option<Self>> {
        let plan = grid(self, sizes, periodic).and_then(|cart| {
            cart.plan(self.core(), reorder, || self.engine().allocate_context_from(self.core()))
        });
        self.create(call, plan)
    }

    /// Makes the grid of fewer dimensions that this rank is in, of those that the grid of this communicator falls into
    /// (`MPI_Cart_sub`, MPI-5.0 §8.5.7): the dimensions of which `stays` says so remain. All ranks of the grid call it.
    ///
    /// # Errors
    /// [`ErrorClass::Topology`](crate::ErrorClass::Topology) without a grid; not one entry of `stays` for each dimension.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let plane = world.cartesian(&[1, world.size()], &[false, true])?.expect("a place for every rank");
    /// let row = plane.cartesian_sub(&[false, true])?;
    /// assert_eq!((row.rank(), row.size()), (plane.rank(), plane.size()));
    /// assert_eq!(row.grid()?, [(world.size(), true)]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Cart_sub")]
    #[doc(alias = "subgroup")]
    pub fn cartesian_sub(&self, stays: &[bool]) -> Result<Self> {
        const CALL: &str = "cartesian_sub";
        let plan = topology::cart(self.core()).and_then(|cart| {
            check_entries("stays", stays.len(), cart.dimensions())?;
            let stays: Vec<i32> = stays.iter().map(|stays| i32::from(*stays)).collect();
            cart.plan_sub(self.core(), &stays, || self.engine().allocate_context_from(self.core()))
        });
        let made = self.create(CALL, plan)?;
        self.named(CALL, made.ok_or_else(nobody))
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
    #[doc(alias = "MPI_Graph_create")]
    pub fn graph<L: AsRef<[usize]>>(&self, neighbors: &[L]) -> Result<Option<Self>> {
        self.connected("graph", graph(self, neighbors), false)
    }

    /// As [`Communicator::graph`], but ranks may get other numbers, with which fewer neighbours are on different hosts. Rank 0 keeps
    /// its own, and without a gain everybody does.
    ///
    /// # Errors
    /// As [`Communicator::graph`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let ring: Vec<[usize; 1]> = (0..world.size()).map(|rank| [(rank + 1) % world.size()]).collect();
    /// let ordered = world.graph_reordered(&ring)?.expect("every rank is in it");
    /// assert_eq!(world.graph_map(&ring)?, Some(ordered.rank()));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Graph_create")]
    pub fn graph_reordered<L: AsRef<[usize]>>(&self, neighbors: &[L]) -> Result<Option<Self>> {
        self.connected("graph_reordered", graph(self, neighbors), true)
    }

    fn connected(&self, call: &'static str, graph: Checked<Graph>, reorder: bool) -> Result<Option<Self>> {
        let plan = graph.and_then(|graph| {
            graph.plan(self.core(), reorder, || self.engine().allocate_context_from(self.core()))
        });
        self.create(call, plan)
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
    #[doc(alias = "MPI_Dist_graph_create_adjacent")]
    pub fn adjacent_graph(&self, sources: &[usize], destinations: &[usize]) -> Result<Self> {
        let made = self.adjacent(sources, destinations, None);
        self.carry("adjacent_graph", "MPI_Dist_graph_create_adjacent", made)
    }

    /// As [`Communicator::adjacent_graph`], with a weight for each edge, such as the bytes that travel along it: pairs of a rank
    /// and a weight. The two ends of an edge name the same weight. [`Communicator::weights`] returns them.
    ///
    /// # Errors
    /// A rank that nobody has; a weight below 0.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let ring = world.adjacent_graph_weighted(&[((rank + size - 1) % size, 5)], &[((rank + 1) % size, 5)])?;
    /// assert_eq!(ring.weights()?, Some((vec![5], vec![5])));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Dist_graph_create_adjacent")]
    pub fn adjacent_graph_weighted(
        &self,
        sources: &[(usize, i32)],
        destinations: &[(usize, i32)],
    ) -> Result<Self> {
        let (sources, from): (Vec<usize>, Vec<i32>) = sources.iter().copied().unzip();
        let (destinations, to): (Vec<usize>, Vec<i32>) = destinations.iter().copied().unzip();
        let made = self.adjacent(&sources, &destinations, Some([&from, &to]));
        self.carry("adjacent_graph_weighted", "MPI_Dist_graph_create_adjacent", made)
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
    #[doc(alias = "MPI_Dist_graph_create")]
    pub fn distributed_graph(&self, edges: &[(usize, usize)]) -> Result<Self> {
        self.distribute("distributed_graph", edges, None)
    }

    /// As [`Communicator::distributed_graph`], with a weight for each edge: from, to, weight.
    ///
    /// # Errors
    /// A rank that nobody has; a weight below 0.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let loops = world.distributed_graph_weighted(&[(world.rank(), world.rank(), 7)])?;
    /// assert_eq!(loops.weights()?, Some((vec![7], vec![7])));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Dist_graph_create")]
    pub fn distributed_graph_weighted(&self, edges: &[(usize, usize, i32)]) -> Result<Self> {
        let weights: Vec<i32> = edges.iter().map(|(_, _, weight)| *weight).collect();
        let edges: Vec<(usize, usize)> = edges.iter().map(|(from, to, _)| (*from, *to)).collect();
        self.distribute("distributed_graph_weighted", &edges, Some(&weights))
    }

    fn distribute(
        &self,
        call: &'static str,
        edges: &[(usize, usize)],
        weights: Option<&[i32]>,
    ) -> Result<Self> {
        self.named(call, self.of_one_group())?;
        let (sources, destinations): (Vec<usize>, Vec<usize>) = edges.iter().copied().unzip();
        let size = self.core().size();
        let sources = self.named(call, argument::ranks("edges", &sources, size))?;
        let destinations = self.named(call, argument::ranks("edges", &destinations, size))?;
        let degrees = vec![1; edges.len()];
        let edges = Edges { sources: &sources, degrees: &degrees, destinations: &destinations, weights };
        let (schedule, announced) = self.named(call, edges.plan(self.core()))?;
        self.named(call, self.engine().run(schedule))?;
        let (schedule, delivered) = self.named(call, announced.plan())?;
        self.named(call, self.engine().run(schedule))?;
        self.carry(call, "MPI_Dist_graph_create", delivered.finish())
    }

    fn adjacent(
        &self,
        sources: &[usize],
        destinations: &[usize],
        weights: Option<[&[i32]; 2]>,
    ) -> Checked<DistGraph> {
        let size = self.core().size();
        let sources = argument::ranks("sources", sources, size)?;
        let destinations = argument::ranks("destinations", destinations, size)?;
        DistGraph::adjacent(self.core(), &sources, &destinations, weights)
    }

    /// A communicator of the same ranks with a graph.
    fn carry(&self, call: &'static str, name: &'static str, graph: Checked<DistGraph>) -> Result<Self> {
        let plan = graph.and_then(|graph| {
            graph.plan(self.core(), name, || self.engine().allocate_context_from(self.core()))
        });
        let made = self.create(call, plan)?;
        self.named(call, made.ok_or_else(nobody))
    }
}

fn check_entries(argument: &'static str, got: usize, dimensions: usize) -> Checked<()> {
    if got == dimensions {
        return Ok(());
    }
    let expected = format_args!("one for each dimension, {dimensions}");
    Err(Cause::invalid(ErrorClass::Dims, argument, format_args!("{got} entries long"), expected))
}

#[cold]
fn nobody() -> Cause {
    Cause::other(ErrorClass::Intern, "this rank got no communicator")
}

fn grid(comm: &Communicator<'_>, sizes: &[usize], periodic: &[bool]) -> Checked<Cart> {
    check_entries("periodic", periodic.len(), sizes.len())?;
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
