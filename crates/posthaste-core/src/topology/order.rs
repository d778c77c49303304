//! Which rank of the old communicator gets which place of a topology, where the user leaves that to us (`reorder`, MPI-5.0 §8.5).
//!
//! Edges within a node are cheap, those between nodes are not. So several ways to lay the nodes out are tried, the edges that lead
//! out of a node are counted for each, and ranks leave their places only for fewer of these. W. D. Gropp, "Using node and socket
//! information to implement MPI Cartesian topologies" (Parallel Computing 85, 2019), has figures for grids.
//!
//! What must stay true: all members come to the same result, which follows from the topology and the nodes alone; the ranks that have
//! a place are those that have one without it, and rank 0 keeps its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::comm::Comm;
use crate::group::Group;

/// How many shapes of the part of a node are tried in a grid.
const SHAPES: usize = 6;
/// Of how many at most these are chosen: many dimensions have many.
const MOST_SHAPES: usize = 4096;

/// The old rank at each place of a topology.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Place `r` is of rank `r`.
    Kept,
    /// As listed.
    Changed(Vec<u32>),
}

impl Order {
    /// The members of `comm` that have one of the first `places` places, in this order.
    pub(super) fn group(&self, comm: &Comm, places: u32) -> Group {
        let old = comm.group();
        match self {
            Self::Kept => Group::of(old.peers().take(places as usize).collect()),
            Self::Changed(ranks) => Group::of(ranks.iter().filter_map(|rank| old.peer(*rank)).collect()),
        }
    }

    /// The place of an old rank, of so many.
    pub(super) fn place_of(&self, rank: u32, places: u32) -> Option<u32> {
        match self {
            Self::Kept => Some(rank).filter(|rank| *rank < places),
            Self::Changed(ranks) => {
                ranks.iter().zip(0..).find(|(one, _)| **one == rank).map(|(_, place)| place)
            }
        }
    }
}

/// The node of each of the first `places` members of `comm`; `None` where it makes no difference who is where.
pub(super) fn nodes(comm: &Comm, places: u32) -> Option<Vec<u32>> {
    let nodes = comm.nodes()?;
    Some((0..places).map(|rank| nodes.node(rank)).collect())
}

/// The order in which the fewest of `edges` lead out of a node, of `ways`: the node of each place for each. `nodes`: those of the
/// ranks.
fn best(
    nodes: &[u32],
    edges: impl Fn(&mut dyn FnMut(u32, u32)),
    ways: impl Iterator<Item = Vec<u32>>,
) -> Order {
    let between = |of: &[u32]| {
        let mut count = 0_u64;
        edges(&mut |from, to| count += u64::from(of[from as usize] != of[to as usize]));
        count
    };
    let kept = between(nodes);
    let counted = ways.map(|of| (between(&of), of));
    match counted.min_by_key(|(count, _)| *count) {
        Some((count, of)) if count < kept => Order::Changed(ranks(nodes, &of)),
        _ => Order::Kept,
    }
}

/// The rank at each place, where the node of each is known: ranks of one node keep their order.
fn ranks(nodes: &[u32], of_places: &[u32]) -> Vec<u32> {
    let mut at = vec![0; nodes.len()];
    by_node(of_places).into_iter().zip(by_node(nodes)).for_each(|(place, rank)| at[place as usize] = rank);
    at
}

/// Numbers of entries, those of one node after those of another.
fn by_node(nodes: &[u32]) -> Vec<u32> {
    let mut sorted: Vec<u32> = (0..nodes.len() as u32).collect();
    sorted.sort_by_key(|entry| nodes[*entry as usize]); // keeps their order
    sorted
}

/// How many of the entries each node has.
fn counts(nodes: &[u32]) -> Vec<u32> {
    let mut counts = vec![0; nodes.iter().max().map_or(0, |most| *most as usize + 1)];
    nodes.iter().for_each(|node| counts[*node as usize] += 1);
    counts
}

/// The order for a grid with these dimensions, of which each goes round or not: blocks of it are given to one node after the other.
pub(super) fn of_grid(nodes: &[u32], dims: &[(u32, bool)]) -> Order {
    let edges = |count: &mut dyn FnMut(u32, u32)| {
        let mut stride = nodes.len() as u32;
        for (size, periodic) in dims {
            let around = stride;
            stride /= size;
            for place in 0..nodes.len() as u32 {
                let coord = place / stride % size;
                if coord + 1 < *size {
                    count(place, place + stride);
                } else if *periodic {
                    count(place, place + stride - around);
                }
            }
        }
    };
    let mut filled = nodes.to_vec();
    filled.sort_unstable();
    let most = counts(nodes).into_iter().max().unwrap_or(0);
    let ways = shapes(dims, most).into_iter().map(|shape| {
        let mut of = vec![0; nodes.len()];
        in_blocks(dims, &shape).into_iter().zip(&filled).for_each(|(place, node)| of[place as usize] = *node);
        of
    });
    best(nodes, edges, ways)
}

/// Shapes of blocks that a grid falls into, of `most` places or, where none has so many, fewer: those with short borders first, and
/// rows of single places.
fn shapes(dims: &[(u32, bool)], most: u32) -> Vec<Vec<u32>> {
    let mut shapes: Vec<Vec<u32>> = vec![Vec::new()];
    let volume = |shape: &[u32]| shape.iter().product::<u32>();
    for (size, _) in dims {
        let longer = |shape: &Vec<u32>| {
            let room = most / volume(shape);
            let lengths = (1..=room.min(*size)).filter(|length| size % length == 0);
            lengths.map(|length| [&shape[..], &[length]].concat()).collect::<Vec<_>>()
        };
        shapes = shapes.iter().flat_map(longer).collect();
        if shapes.len() > MOST_SHAPES {
            shapes.sort_by_cached_key(|shape| Reverse(volume(shape)));
            shapes.truncate(MOST_SHAPES);
        }
    }
    if shapes.iter().any(|shape| volume(shape) == most) {
        shapes.retain(|shape| volume(shape) == most);
    }
    // The part of a block's places that lie at one of its borders; a dimension in one piece has none.
    let borders = |shape: &Vec<u32>| -> u64 {
        let cut = dims.iter().zip(shape).filter(|((size, _), length)| size != *length);
        cut.map(|(_, length)| (1 << 32) / u64::from(*length)).sum()
    };
    shapes.sort_by_cached_key(borders);
    shapes.truncate(SHAPES);
    shapes.push(vec![1; dims.len()]);
    shapes
}

/// All places of a grid, block after block.
fn in_blocks(dims: &[(u32, bool)], shape: &[u32]) -> Vec<u32> {
    let places: u32 = dims.iter().map(|(size, _)| size).product();
    let block = |place: &u32| {
        let (mut rest, mut block, mut stride) = (*place, 0, 1);
        for ((size, _), length) in dims.iter().zip(shape).rev() {
            block += rest % size / length * stride;
            stride *= size / length;
            rest /= size;
        }
        block
    };
    let mut sorted: Vec<u32> = (0..places).collect();
    sorted.sort_by_cached_key(block); // keeps their order within a block
    sorted
}

/// The order for a graph with these neighbours of each place: each node takes a place and then always the one with the most edges to
/// what it has.
pub(super) fn of_graph<'a>(nodes: &[u32], neighbors: impl Fn(u32) -> &'a [i32]) -> Order {
    let edges = |count: &mut dyn FnMut(u32, u32)| {
        for place in 0..nodes.len() as u32 {
            neighbors(place).iter().for_each(|to| count(place, *to as u32));
        }
    };
    best(nodes, edges, std::iter::once_with(|| grown(nodes, edges)))
}

fn grown(nodes: &[u32], edges: impl Fn(&mut dyn FnMut(u32, u32))) -> Vec<u32> {
    // An edge binds both of its ends.
    let mut bound: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    edges(&mut |from, to| {
        bound[from as usize].push(to);
        bound[to as usize].push(from);
    });
    let mut of: Vec<Option<u32>> = vec![None; nodes.len()];
    let mut edges_to = vec![0_u32; nodes.len()];
    let mut next = 0;
    for (room, node) in counts(nodes).into_iter().zip(0..) {
        let mut reached = Vec::new();
        let mut best: BinaryHeap<(u32, Reverse<usize>)> = BinaryHeap::new();
        for _ in 0..room {
            // What is taken, or has more edges by now, stands further up as well.
            let taken = loop {
                match best.pop() {
                    Some((count, Reverse(place))) if of[place].is_none() && edges_to[place] == count => {
                        break place;
                    }
                    Some(_) => {}
                    None => {
                        next += of[next..].iter().take_while(|node| node.is_some()).count();
                        break next;
                    }
                }
            };
            of[taken] = Some(node);
            for to in bound[taken].iter().map(|to| *to as usize).filter(|to| of[*to].is_none()) {
                edges_to[to] += 1;
                best.push((edges_to[to], Reverse(to)));
                reached.push(to);
            }
        }
        reached.into_iter().for_each(|to| edges_to[to] = 0);
    }
    of.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// How many edges lead out of a node, where the ranks are in this order: each one twice.
    fn between(nodes: &[u32], order: &Order, neighbors: impl Fn(usize) -> Vec<usize>) -> usize {
        let node = |place: usize| match order {
            Order::Kept => nodes[place],
            Order::Changed(ranks) => nodes[ranks[place] as usize],
        };
        (0..nodes.len()).map(|at| neighbors(at).iter().filter(|to| node(at) != node(**to)).count()).sum()
    }

    fn in_grid(dims: &[(u32, bool)]) -> impl Fn(usize) -> Vec<usize> + use<> {
        let dims = dims.to_vec();
        move |place| {
            let (mut stride, mut found) = (1, Vec::new());
            for (size, periodic) in dims.iter().rev().map(|(size, periodic)| (*size as usize, *periodic)) {
                let (coord, base) = (place / stride % size, place - place / stride % size * stride);
                for step in [coord.checked_sub(1).or(periodic.then_some(size - 1)), Some(coord + 1)] {
                    match step {
                        Some(to) if to < size => found.push(base + to * stride),
                        Some(_) if periodic => found.push(base),
                        _ => {}
                    }
                }
                stride *= size;
            }
            found
        }
    }

    fn is_a_permutation(order: &Order, n: usize) -> bool {
        let Order::Changed(ranks) = order else { return true };
        let mut sorted = ranks.clone();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..n as u32)
    }

    #[test]
    fn a_node_gets_a_block_of_a_grid() {
        // Sixteen ranks a node, on a square of 16: rows would cut 32 edges of each node, squares of four cut 16.
        let nodes: Vec<u32> = (0..256).map(|rank| rank / 16).collect();
        let dims = [(16, true), (16, true)];
        let order = of_grid(&nodes, &dims);
        let neighbors = in_grid(&dims);
        assert_eq!(between(&nodes, &Order::Kept, &neighbors), 16 * 32);
        assert_eq!(between(&nodes, &order, &neighbors), 16 * 16);
        assert!(is_a_permutation(&order, 256));
        // The first block is of the first node, in the order of its ranks.
        let Order::Changed(ranks) = order else { panic!("kept") };
        assert_eq!((&ranks[..5], &ranks[16..20]), (&[0, 1, 2, 3, 16][..], &[4, 5, 6, 7][..]));
    }

    #[test]
    fn ranks_dealt_out_in_turns_come_together() {
        let nodes: Vec<u32> = (0..8).map(|rank| rank % 2).collect();
        let line = [(8, false)];
        let order = of_grid(&nodes, &line);
        assert_eq!(order, Order::Changed(vec![0, 2, 4, 6, 1, 3, 5, 7]));
        assert_eq!(between(&nodes, &order, in_grid(&line)), 2);
        assert_eq!(
            (order.place_of(4, 8), order.place_of(1, 8), order.place_of(8, 8)),
            (Some(2), Some(4), None)
        );
    }

    #[test]
    fn what_is_well_laid_out_stays() {
        let nodes: Vec<u32> = (0..8).map(|rank| rank / 4).collect();
        for dims in [&[(8, false)][..], &[(4, true), (2, true)], &[(2, false), (2, false), (2, false)]] {
            assert_eq!(of_grid(&nodes, dims), Order::Kept, "{dims:?}");
        }
        assert_eq!(of_grid(&[0, 0, 1], &[]), Order::Kept);
        assert_eq!((Order::Kept.place_of(2, 3), Order::Kept.place_of(3, 3)), (Some(2), None));
    }

    /// Numbers as [`Comm::nodes`] gives them, by first members.
    fn numbered(places: &[u32]) -> Vec<u32> {
        let mut known: Vec<u32> = Vec::new();
        let number = |place: &u32| {
            known.iter().position(|one| one == place).unwrap_or_else(|| {
                known.push(*place);
                known.len() - 1
            }) as u32
        };
        places.iter().map(number).collect()
    }

    proptest! {
        #[test]
        fn fewer_edges_than_before_and_rank_0_stays(
            dims in vec((1..6_u32, any::<bool>()), 0..4),
            places in vec(0..5_u32, 1..130),
        ) {
            let n = dims.iter().map(|(size, _)| *size as usize).product();
            let nodes = numbered(&(0..n).map(|rank| places[rank % places.len()]).collect::<Vec<_>>());
            let neighbors = in_grid(&dims);
            let lists: Vec<Vec<i32>> =
                (0..n).map(|at| neighbors(at).into_iter().map(|to| to as i32).collect()).collect();
            for order in [of_grid(&nodes, &dims), of_graph(&nodes, |at| &lists[at as usize])] {
                prop_assert!(is_a_permutation(&order, n));
                prop_assert_eq!(order.place_of(0, n as u32), Some(0));
                let edges = |order| between(&nodes, order, &neighbors);
                prop_assert!(order == Order::Kept || edges(&order) < edges(&Order::Kept));
            }
        }
    }

    #[test]
    fn a_graph_falls_into_its_parts() {
        // Two rings of four, whose ranks take turns; nodes have the first and the last four.
        let nodes = [0, 0, 0, 0, 1, 1, 1, 1];
        let lists: Vec<Vec<i32>> = (0..8).map(|at| vec![(at + 2) % 8, (at + 6) % 8]).collect();
        let order = of_graph(&nodes, |at| &lists[at as usize]);
        assert_eq!(order, Order::Changed(vec![0, 4, 1, 5, 2, 6, 3, 7]));
        // A graph without edges has nothing to gain.
        assert_eq!(of_graph(&nodes, |_| &[]), Order::Kept);
    }
}
