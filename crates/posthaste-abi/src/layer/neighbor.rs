//! Neighbourhood collectives made into the engine's schedules (MPI-5.0 §8.6 to §8.8): there is a topology, and buffers are
//! apart.
//!
//! A buffer comes in as a function that resolves it for a number of neighbours. What must stay true: blocks of
//! `MPI_PROC_NULL` are not looked at.

use posthaste_core::coll::{self, Data, Pieces, Schedule, TypedPieces};
use posthaste_core::comm::Comm;
use posthaste_core::datatype::Array;
use posthaste_core::error::Result;
use posthaste_core::ids::PROC_NULL;
use posthaste_core::topology::neighbors;

use super::buffers::{InPlace, apart};

pub(crate) fn allgather(comm: &Comm, send: &Data, recv: &Data) -> Result<Schedule> {
    let neighbors = neighbors(comm)?;
    apart(comm, send.memory(1), recv.memory(neighbors.sources().len()), InPlace::Neither)?;
    coll::neighbor_allgather(comm, &neighbors, send.operand(), recv.operand())
}

pub(crate) fn allgatherv(
    comm: &Comm,
    send: impl FnOnce() -> Result<Data>,
    recv: impl FnOnce(usize) -> Result<Pieces>,
) -> Result<Schedule> {
    let neighbors = neighbors(comm)?;
    let (send, recv) = (send()?, recv(neighbors.sources().len())?);
    apart(comm, send.memory(1), there(recv.memory(), neighbors.sources()), InPlace::Neither)?;
    coll::neighbor_allgatherv(comm, &neighbors, send.operand(), recv.blocks())
}

pub(crate) fn alltoall(comm: &Comm, send: &Data, recv: &Data) -> Result<Schedule> {
    let neighbors = neighbors(comm)?;
    let (from, to) = (neighbors.sources().len(), neighbors.destinations().len());
    apart(comm, send.memory(to), recv.memory(from), InPlace::Neither)?;
    coll::neighbor_alltoall(comm, &neighbors, send.operand(), recv.operand())
}

pub(crate) fn alltoallv(
    comm: &Comm,
    send: impl FnOnce(usize) -> Result<Pieces>,
    recv: impl FnOnce(usize) -> Result<Pieces>,
) -> Result<Schedule> {
    let neighbors = neighbors(comm)?;
    let (from, to) = (neighbors.sources(), neighbors.destinations());
    let (send, recv) = (send(to.len())?, recv(from.len())?);
    apart(comm, there(send.memory(), to), there(recv.memory(), from), InPlace::Neither)?;
    coll::neighbor_alltoallv(comm, &neighbors, send.blocks(), recv.blocks())
}

pub(crate) fn alltoallw(
    comm: &Comm,
    send: impl FnOnce(usize) -> Result<TypedPieces>,
    recv: impl FnOnce(usize) -> Result<TypedPieces>,
) -> Result<Schedule> {
    let neighbors = neighbors(comm)?;
    let (from, to) = (neighbors.sources(), neighbors.destinations());
    let (send, recv) = (send(to.len())?, recv(from.len())?);
    apart(comm, there(send.memory(), to), there(recv.memory(), from), InPlace::Neither)?;
    coll::neighbor_alltoallw(comm, &neighbors, send.blocks(), recv.blocks())
}

/// The blocks of neighbours that there are.
fn there<'a>(
    blocks: impl Iterator<Item = Array<'a>> + Clone,
    neighbors: &[i32],
) -> impl Iterator<Item = Array<'a>> + Clone {
    blocks.zip(neighbors).filter(|(_, neighbor)| **neighbor != PROC_NULL).map(|(block, _)| block)
}
