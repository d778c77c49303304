//! Neighbourhood collectives (MPI-5.0 §8.6 to §8.8): a block from each source, a block to each destination.
//!
//! Everybody posts all of its receives and then sends; there is no fence in between, because neighbours with other numbers of neighbours
//! would have theirs at other places, and wait for each other. A self edge is a copy. The blocks of several edges between two processes go in
//! one message: short ones packed, long ones from where they lie.
//!
//! What must stay true: how blocks leave and where they come in is each side's own matter, the message is the same. Of several edges between
//! two members the first that is sent meets the first that is received. On a grid what is sent down along a dimension is received from above there, also
//! where the process below and the one above are the same: block `s` of the sender becomes block `s ^ 1` of the receiver. On
//! a graph the k-th edge to a process meets its k-th edge from there.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::buffer::device;
use crate::coll::label::Function;
use crate::coll::plan::{Blocks, Draft, Operand, described};
use crate::coll::{Schedule, Team, TypedBlocks, choose};
use crate::datatype::{Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::PROC_NULL;

/// Whom a member of a team talks to, in the order of blocks. `MPI_PROC_NULL` has a block that nobody touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbors<'a> {
    sources: Cow<'a, [i32]>,
    destinations: Cow<'a, [i32]>,
    /// Neighbours come in pairs, below and above along a dimension.
    in_pairs: bool,
}

impl<'a> Neighbors<'a> {
    /// Those on a grid: below and above along each dimension.
    pub fn of_grid(neighbors: Vec<i32>) -> Self {
        Self { sources: neighbors.clone().into(), destinations: neighbors.into(), in_pairs: true }
    }

    /// Those on a graph.
    pub fn of_graph(sources: &'a [i32], destinations: &'a [i32]) -> Self {
        Self { sources: sources.into(), destinations: destinations.into(), in_pairs: false }
    }

    /// Where blocks come from.
    pub fn sources(&self) -> &[i32] {
        &self.sources
    }

    /// Where blocks go to.
    pub fn destinations(&self) -> &[i32] {
        &self.destinations
    }

    /// The blocks that go somewhere, in the order in which they are sent: number and rank.
    fn sends(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..).zip(&*self.destinations).filter_map(|(block, rank)| Some((block, somebody(*rank)?)))
    }

    /// The blocks that come from somewhere, in the order in which they are received: number and rank.
    fn receives(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let order = (0..self.sources.len()).map(|at| if self.in_pairs { at ^ 1 } else { at });
        order.filter_map(|block| Some((block as u32, somebody(self.sources[block])?)))
    }
}

fn somebody(rank: i32) -> Option<u32> {
    if rank == PROC_NULL { None } else { Some(rank as u32) }
}

/// Everybody sends the same operand to all of its destinations and gets those of its sources, one after the other. The count
/// of `recv` is that of one block.
///
/// # Errors
/// Edges from this process to itself that it has at one end only.
pub fn neighbor_allgather(
    team: &Team,
    neighbors: &Neighbors<'_>,
    send: Operand<'_>,
    recv: Operand<'_>,
) -> Result<Schedule> {
    exchange(team, Function::NeighborAllgather, neighbors, |_| send, |block| recv.at_block(block))
}

/// As [`neighbor_allgather`], with blocks of different lengths in any place.
///
/// # Errors
/// Lists that are not as long as there are sources; otherwise as [`neighbor_allgather`].
pub fn neighbor_allgatherv(
    team: &Team,
    neighbors: &Neighbors<'_>,
    send: Operand<'_>,
    recv: Blocks<'_>,
) -> Result<Schedule> {
    check("recvcounts, displs", &[recv.counts.len(), recv.displacements.len()], neighbors.sources())?;
    exchange(team, Function::NeighborAllgatherv, neighbors, |_| send, |block| recv.at_block(block))
}

/// Everybody sends each of its destinations a block of its own. Counts are those of one block.
///
/// # Errors
/// As [`neighbor_allgather`].
pub fn neighbor_alltoall(
    team: &Team,
    neighbors: &Neighbors<'_>,
    send: Operand<'_>,
    recv: Operand<'_>,
) -> Result<Schedule> {
    exchange(
        team,
        Function::NeighborAlltoall,
        neighbors,
        |block| send.at_block(block),
        |block| recv.at_block(block),
    )
}

/// As [`neighbor_alltoall`], with blocks of different lengths in any place.
///
/// # Errors
/// Lists that are not as long as there are neighbours; otherwise as [`neighbor_allgather`].
pub fn neighbor_alltoallv(
    team: &Team,
    neighbors: &Neighbors<'_>,
    send: Blocks<'_>,
    recv: Blocks<'_>,
) -> Result<Schedule> {
    let lengths = |b: &Blocks<'_>| [b.counts.len(), b.displacements.len()];
    check("sendcounts, sdispls", &lengths(&send), neighbors.destinations())?;
    check("recvcounts, rdispls", &lengths(&recv), neighbors.sources())?;
    exchange(
        team,
        Function::NeighborAlltoallv,
        neighbors,
        |block| send.at_block(block),
        |block| recv.at_block(block),
    )
}

/// As [`neighbor_alltoallv`], with a type for each block and displacements in bytes.
///
/// # Errors
/// As [`neighbor_alltoallv`].
pub fn neighbor_alltoallw(
    team: &Team,
    neighbors: &Neighbors<'_>,
    send: TypedBlocks<'_>,
    recv: TypedBlocks<'_>,
) -> Result<Schedule> {
    let lengths = |b: &TypedBlocks<'_>| [b.counts.len(), b.displacements.len(), b.datatypes.len()];
    check("sendcounts, sdispls, sendtypes", &lengths(&send), neighbors.destinations())?;
    check("recvcounts, rdispls, recvtypes", &lengths(&recv), neighbors.sources())?;
    exchange(
        team,
        Function::NeighborAlltoallw,
        neighbors,
        |block| send.at_block(block),
        |block| recv.at_block(block),
    )
}

fn check(argument: &'static str, lengths: &[usize], neighbors: &[i32]) -> Result<()> {
    let n = neighbors.len();
    if lengths.iter().all(|len| *len == n) {
        return Ok(());
    }
    let expected = format_args!("as long as there are neighbours, {n}");
    Err(Error::invalid(ErrorClass::Count, argument, format_args!("{lengths:?} entries long"), expected))
}

fn exchange<'d>(
    team: &Team,
    function: Function,
    neighbors: &Neighbors<'_>,
    send: impl Fn(u32) -> Operand<'d>,
    recv: impl Fn(u32) -> Operand<'d>,
) -> Result<Schedule> {
    let me = team.rank() as u32;
    let own = |(_, rank): &(u32, u32)| *rank == me;
    let (from, to) = (neighbors.receives().filter(own).count(), neighbors.sends().filter(own).count());
    if from != to {
        let got = format_args!("a graph where rank {me} has {from} edges from itself");
        let expected = format_args!("as many as it has to itself, {to}");
        return Err(Error::invalid(ErrorClass::Topology, "comm", got, expected));
    }
    let steps = neighbors.sources.len() + neighbors.destinations.len();
    let mut draft = Draft::new(team, function, steps);
    let mut packed = Vec::new();
    for (rank, edges) in by_rank(neighbors.receives().filter(|edge| !own(edge)), &recv) {
        if are_packed(team, &edges) {
            let all = memory_for(&mut draft, &edges);
            draft.receive(rank, all.clone());
            packed.push((all, edges));
        } else {
            draft.receive(rank, where_they_lie(&edges)?);
        }
    }
    for (rank, edges) in by_rank(neighbors.sends().filter(|edge| !own(edge)), &send) {
        if are_packed(team, &edges) {
            let all = memory_for(&mut draft, &edges);
            for (edge, part) in edges.iter().zip(parts(&all, &edges)?) {
                draft.copy(edge.all(), part);
            }
            draft.send(rank, all);
        } else {
            draft.send(rank, where_they_lie(&edges)?);
        }
    }
    for ((out, _), (into, _)) in neighbors.sends().filter(own).zip(neighbors.receives().filter(own)) {
        draft.copy(send(out).all(), recv(into).all());
    }
    if !packed.is_empty() {
        draft.fence();
    }
    for (all, edges) in packed {
        for (part, edge) in parts(&all, &edges)?.into_iter().zip(edges) {
            draft.copy(part, edge.all());
        }
    }
    draft.ended()
}

/// The blocks of the edges between this process and each other one, in the order of their first edges.
fn by_rank<'d>(
    edges: impl Iterator<Item = (u32, u32)>,
    block: impl Fn(u32) -> Operand<'d>,
) -> Vec<(u32, Vec<Operand<'d>>)> {
    let mut places = HashMap::new();
    let mut all: Vec<(u32, Vec<Operand<'d>>)> = Vec::new();
    for (number, rank) in edges {
        let at = *places.entry(rank).or_insert(all.len());
        if at == all.len() {
            all.push((rank, Vec::with_capacity(1)));
        }
        all[at].1.push(block(number));
    }
    all
}

/// Packed bytes of these blocks.
fn bytes(blocks: &[Operand<'_>]) -> u64 {
    blocks.iter().map(Operand::bytes).fold(0, u64::saturating_add)
}

/// Whether this process packs these blocks.
fn are_packed(team: &Team, blocks: &[Operand<'_>]) -> bool {
    // One datatype of blocks in memory of a device and elsewhere could not be staged.
    let must_be = device::is_registered();
    // Types are compared only where messages go straight between memory of the program.
    let may_be = !team.accord().checks_types && choose::are_packed(bytes(blocks));
    blocks.len() > 1 && (must_be || may_be)
}

/// Memory in which these blocks lie packed, one behind the other.
fn memory_for(draft: &mut Draft<'_>, blocks: &[Operand<'_>]) -> Segment {
    let bytes = bytes(blocks);
    Segment::contiguous(draft.bytes(bytes as usize), bytes)
}

/// Where each of these blocks lies in such memory.
fn parts(all: &Segment, blocks: &[Operand<'_>]) -> Result<Vec<Segment>> {
    let mut from = 0;
    let part = |block: &Operand<'_>| {
        let part = all.part(from, from + block.bytes());
        from += block.bytes();
        part
    };
    blocks.iter().map(part).collect()
}

/// These blocks, one of them at least, in one segment.
///
/// # Errors
/// Blocks of which there is no datatype.
fn where_they_lie(blocks: &[Operand<'_>]) -> Result<Segment> {
    // Empty ones may be anywhere.
    let full: Vec<&Operand<'_>> = blocks.iter().filter(|block| block.bytes() > 0).collect();
    let [first, _, ..] = full[..] else { return Ok(full.first().map_or(blocks[0].all(), |only| only.all())) };
    let lengths: Vec<i64> = full.iter().map(|block| block.count as i64).collect();
    let place = |block: &&Operand<'_>| block.buf.address().wrapping_sub(first.buf.address()) as i64;
    let places: Vec<i64> = full.iter().map(place).collect();
    let types: Vec<Datatype> = full.iter().map(|block| block.datatype.clone()).collect();
    Ok(described(first.buf, 1, &Datatype::structure(&lengths, &places, &types)?))
}
