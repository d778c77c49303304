//! Graphs that every rank knows whole (MPI-5.0 §8.5.3, §8.5.5, §8.5.8).
//!
//! What must stay true: the ends of the neighbours' lists never fall and the last is the number of edges; every edge leads to
//! a node.

use std::sync::Arc;

use crate::coll::Schedule;
use crate::comm::{Comm, Creation};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::ContextId;
use crate::topology::order::{self, Order};
use crate::topology::{Topology, intra};

/// A graph: the neighbours of each node, which is the rank of the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where the neighbours of each node end among the edges.
    index: Vec<i32>,
    /// The neighbours of one node after the other.
    edges: Vec<i32>,
    symmetric: bool,
}

impl Graph {
    /// A graph for the ranks of `comm`, which may be more than it has nodes. Two nodes may have several edges, and a node may
    /// be its own neighbour.
    ///
    /// # Errors
    /// On an intercommunicator; more nodes than ranks; ends that fall or are not those of the edges; an edge to no node.
    pub fn new(comm: &Comm, index: &[i32], edges: &[i32]) -> Result<Self> {
        intra(comm)?;
        let nodes = Self::nodes_for(comm, index.len())?;
        let count = Self::edges_of(index)?;
        if count != edges.len() {
            let got = format_args!("{} entries long", edges.len());
            let expected = format_args!("as long as the last entry of indx says, {count}");
            return Err(Error::invalid(ErrorClass::Arg, "edges", got, expected));
        }
        if let Some((at, edge)) = edges.iter().enumerate().find(|(_, edge)| !(0..nodes).contains(*edge)) {
            let expected = format_args!("a node, 0..={}", nodes - 1);
            return Err(Error::invalid(
                ErrorClass::Arg,
                "edges",
                format_args!("{edge} at index {at}"),
                expected,
            ));
        }
        let mut graph = Self { index: index.to_vec(), edges: edges.to_vec(), symmetric: false };
        graph.symmetric = graph.is_as_its_reverse();
        Ok(graph)
    }

    /// How many edges a graph with these ends has.
    ///
    /// # Errors
    /// Ends that fall, or begin below 0.
    pub fn edges_of(index: &[i32]) -> Result<usize> {
        let mut last = 0;
        for (at, end) in index.iter().enumerate() {
            if *end < last {
                let expected = format_args!("{last} or more: ends of the nodes' lists of neighbours");
                let got = format_args!("{end} at index {at}");
                return Err(Error::invalid(ErrorClass::Arg, "indx", got, expected));
            }
            last = *end;
        }
        Ok(last as usize)
    }

    /// Plans the communicator that carries the graph; those that are no node get none. Ranks stay as they are, or get an order in
    /// which fewer neighbours are on different hosts (`reorder`).
    ///
    /// # Errors
    /// When no context can be allocated.
    pub fn plan(
        self,
        comm: &Comm,
        reorder: bool,
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        let order = if reorder { self.order(comm) } else { Order::Kept };
        let group = order.group(comm, self.size());
        comm.plan_subset("MPI_Graph_create", &Arc::new(group), Some(Topology::Graph(self).stored()), allocate)
    }

    /// The node that rank `rank` of `comm` becomes where ranks are reordered; `None` if it becomes none.
    pub fn node_of(&self, comm: &Comm, rank: u32) -> Option<u32> {
        self.order(comm).place_of(rank, self.size())
    }

    fn order(&self, comm: &Comm) -> Order {
        let neighbors = |node| self.of_node(node as usize);
        order::nodes(comm, self.size()).map_or(Order::Kept, |nodes| order::of_graph(&nodes, neighbors))
    }

    fn size(&self) -> u32 {
        self.index.len() as u32
    }

    /// Where the neighbours of each node end among [`Graph::edges`].
    pub fn index(&self) -> &[i32] {
        &self.index
    }

    /// The neighbours of one node after the other.
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// The neighbours of a node.
    ///
    /// # Errors
    /// A rank that is no node.
    pub fn neighbors(&self, rank: i32) -> Result<&[i32]> {
        match usize::try_from(rank).ok().filter(|rank| *rank < self.index.len()) {
            Some(rank) => Ok(self.of_node(rank)),
            None => {
                let expected = format_args!("0..={}", self.index.len() as i64 - 1);
                Err(Error::invalid(ErrorClass::Rank, "rank", rank, expected))
            }
        }
    }

    /// Whether any two nodes have as many edges in the one direction as in the other, which neighbourhood collectives need
    /// (MPI-5.0 §8.6).
    pub(super) fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    fn of_node(&self, node: usize) -> &[i32] {
        let end = |node: usize| self.index[node] as usize;
        let first = node.checked_sub(1).map_or(0, end);
        &self.edges[first..end(node)]
    }

    fn is_as_its_reverse(&self) -> bool {
        let all = (0..self.index.len())
            .flat_map(|node| self.of_node(node).iter().map(move |to| (node as i32, *to)));
        let mut edges: Vec<(i32, i32)> = all.collect();
        let mut reversed: Vec<(i32, i32)> = edges.iter().map(|(from, to)| (*to, *from)).collect();
        edges.sort_unstable();
        reversed.sort_unstable();
        edges == reversed
    }

    fn nodes_for(comm: &Comm, nodes: usize) -> Result<i32> {
        match i32::try_from(nodes) {
            Ok(nodes) if nodes <= comm.size() => Ok(nodes),
            _ => {
                let expected = format_args!("at most as many as the communicator has ranks, {}", comm.size());
                Err(Error::invalid(ErrorClass::Arg, "nnodes", nodes, expected))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_are_between_the_ends() {
        let comm = Comm::world(0, 5);
        let graph = Graph::new(&comm, &[2, 2, 5, 6], &[1, 3, 2, 2, 0, 0]).unwrap();
        let neighbors = |rank| graph.neighbors(rank).unwrap().to_vec();
        assert_eq!(
            [neighbors(0), neighbors(1), neighbors(2), neighbors(3)],
            [vec![1, 3], vec![], vec![2, 2, 0], vec![0]]
        );
        for wrong in [-1, 4, i32::MAX] {
            assert_eq!(graph.neighbors(wrong).unwrap_err().class(), ErrorClass::Rank);
        }
        assert!(!graph.is_symmetric());
        assert!(Graph::new(&comm, &[2, 3, 5], &[1, 2, 0, 0, 2]).unwrap().is_symmetric());
        assert!(!Graph::new(&comm, &[2, 3], &[1, 1, 0]).unwrap().is_symmetric());
        assert!(Graph::new(&comm, &[], &[]).unwrap().neighbors(0).is_err());
    }

    #[test]
    fn what_is_no_graph_is_refused() {
        let comm = Comm::world(0, 3);
        for (index, edges, argument) in [
            (&[1, 2, 2, 2][..], &[1, 0][..], "nnodes is 4, "),
            (&[2, 1], &[1, 0], "indx is 1 at index 1, "),
            (&[-1, 1], &[1], "indx is -1 at index 0, "),
            (&[1, 2], &[1], "edges is 1 entries long, "),
            (&[1, 2], &[1, 2], "edges is 2 at index 1, expected a node, 0..=1"),
            (&[1, 2], &[-1, 0], "edges is -1 at index 0, "),
        ] {
            let error = Graph::new(&comm, index, edges).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Arg);
            assert!(error.to_string().starts_with(argument), "{error}");
        }
    }
}
