//! Neighbourhood collectives made into the engine's schedules (MPI-5.0 §8.6 to §8.8): there is a topology, and buffers are
//! apart.
//!
//! A buffer comes in as a function that resolves it for the neighbours on its side. What must stay true: a block of
//! `MPI_PROC_NULL` is not looked at, and a buffer with no others has no elements.

use posthaste_core::coll::{self, Data, Pieces, Schedule, TypedPieces};
use posthaste_core::comm::Comm;
use posthaste_core::error::Result;
use posthaste_core::topology::neighbors;

use super::buffers::{InPlace, apart};

pub(crate) fn allgather(
    comm: &Comm,
    send: impl FnOnce(&[i32]) -> Result<Data>,
    recv: impl FnOnce(&[i32]) -> Result<Data>,
) -> Result<Schedule> {
    let neighbors = neighbors(comm)?;
    let (from, to) = (neighbors.sources(), neighbors.destinations());
    let (send, recv) = (send(to)?, recv(from)?);
    apart(comm, send.memory(1), recv.memory_of(from), InPlace::Neither)?;
    coll::neighbor_allgather(comm, &neighbors, send.operand(), recv.operand())
}

pub(crate) fn allgatherv(
    comm: &Comm,
    send: impl FnOnce(&[i32]) -> Result<Data>,
    recv: impl FnOnce(&[i32]) -> Result<Pieces>,
) -> Result<Schedule> {
    let neighbors = neighbors(comm)?;
    let (send, recv) = (send(neighbors.destinations())?, recv(neighbors.sources())?);
    apart(comm, send.memory(1), recv.memory(), InPlace::Neither)?;
    coll::neighbor_allgatherv(comm, &neighbors, send.operand(), recv.blocks())
}

pub(crate) fn alltoall(
    comm: &Comm,
    send: impl FnOnce(&[i32]) -> Result<Data>,
    recv: impl FnOnce(&[i32]) -> Result<Data>,
) -> Result<Schedule> {
    let neighbors = neighbors(comm)?;
    let (from, to) = (neighbors.sources(), neighbors.destinations());
    let (send, recv) = (send(to)?, recv(from)?);
    apart(comm, send.memory_of(to), recv.memory_of(from), InPlace::Neither)?;
    coll::neighbor_alltoall(comm, &neighbors, send.operand(), recv.operand())
}

pub(crate) fn alltoallv(
    comm: &Comm,
    send: impl FnOnce(&[i32]) -> Result<Pieces>,
    recv: impl FnOnce(&[i32]) -> Result<Pieces>,
) -> Result<Schedule> {
    let neighbors = neighbors(comm)?;
    let (send, recv) = (send(neighbors.destinations())?, recv(neighbors.sources())?);
    apart(comm, send.memory(), recv.memory(), InPlace::Neither)?;
    coll::neighbor_alltoallv(comm, &neighbors, send.blocks(), recv.blocks())
}

pub(crate) fn alltoallw(
    comm: &Comm,
    send: impl FnOnce(&[i32]) -> Result<TypedPieces>,
    recv: impl FnOnce(&[i32]) -> Result<TypedPieces>,
) -> Result<Schedule> {
    let neighbors = neighbors(comm)?;
    let (send, recv) = (send(neighbors.destinations())?, recv(neighbors.sources())?);
    apart(comm, send.memory(), recv.memory(), InPlace::Neither)?;
    coll::neighbor_alltoallw(comm, &neighbors, send.blocks(), recv.blocks())
}
