//! Neighbourhood collectives as C describes them, with handles and addresses.

use std::ffi::c_void;

use posthaste_core::coll::Schedule;
use posthaste_core::comm::Comm;
use posthaste_core::error::Result;
use posthaste_core::ids::PROC_NULL;

use crate::abi::constants::MPI_IN_PLACE;
use crate::abi::pointer::{In, Number, Plain};
use crate::abi::types::{MPI_Aint, MPI_Datatype};
use crate::coll::buffers::{data, list_of_counts, pieces_of, typed_pieces_of};
use crate::layer::neighbor;

pub(crate) fn allgather(
    comm: &Comm,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
) -> Result<Schedule> {
    let send = |to: &[i32]| data("sendbuf", sendbuf, count(to, sendbuf, sendcount), sendtype);
    let recv = |from: &[i32]| data("recvbuf", recvbuf, count(from, recvbuf, recvcount), recvtype);
    neighbor::allgather(comm, send, recv)
}

pub(crate) fn allgatherv<C: Plain + Number, D: Plain + Number>(
    comm: &Comm,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: In<C>,
    displs: In<D>,
    recvtype: MPI_Datatype,
) -> Result<Schedule> {
    let send = |to: &[i32]| data("sendbuf", sendbuf, count(to, sendbuf, sendcount), sendtype);
    let recv = |from: &[i32]| pieces_of(recvbuf, counts(from, recvbuf, recvcounts)?, displs, recvtype);
    neighbor::allgatherv(comm, send, recv)
}

pub(crate) fn alltoall(
    comm: &Comm,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
) -> Result<Schedule> {
    let send = |to: &[i32]| data("sendbuf", sendbuf, count(to, sendbuf, sendcount), sendtype);
    let recv = |from: &[i32]| data("recvbuf", recvbuf, count(from, recvbuf, recvcount), recvtype);
    neighbor::alltoall(comm, send, recv)
}

pub(crate) fn alltoallv<C: Plain + Number, D: Plain + Number>(
    comm: &Comm,
    sendbuf: *const c_void,
    sendcounts: In<C>,
    sdispls: In<D>,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: In<C>,
    rdispls: In<D>,
    recvtype: MPI_Datatype,
) -> Result<Schedule> {
    let send = |to: &[i32]| pieces_of(sendbuf, counts(to, sendbuf, sendcounts)?, sdispls, sendtype);
    let recv = |from: &[i32]| pieces_of(recvbuf, counts(from, recvbuf, recvcounts)?, rdispls, recvtype);
    neighbor::alltoallv(comm, send, recv)
}

pub(crate) fn alltoallw<C: Plain + Number>(
    comm: &Comm,
    sendbuf: *const c_void,
    sendcounts: In<C>,
    sdispls: In<MPI_Aint>,
    sendtypes: In<MPI_Datatype>,
    recvbuf: *mut c_void,
    recvcounts: In<C>,
    rdispls: In<MPI_Aint>,
    recvtypes: In<MPI_Datatype>,
) -> Result<Schedule> {
    let send = |to: &[i32]| typed_pieces_of(sendbuf, counts(to, sendbuf, sendcounts)?, sdispls, sendtypes);
    let recv =
        |from: &[i32]| typed_pieces_of(recvbuf, counts(from, recvbuf, recvcounts)?, rdispls, recvtypes);
    neighbor::alltoallw(comm, send, recv)
}

/// The count of a buffer with a block of `count` elements for each neighbour: without any neighbour there are none.
/// `MPI_IN_PLACE` is a mistake all the same.
fn count(neighbors: &[i32], buf: *const c_void, count: i64) -> i64 {
    let is_nobody = neighbors.iter().all(|neighbor| *neighbor == PROC_NULL);
    if is_nobody && buf.addr() != MPI_IN_PLACE { count.min(0) } else { count }
}

/// The counts of a buffer with a block of its own length for each neighbour: that of `MPI_PROC_NULL` has no elements.
fn counts<C: Plain + Number>(neighbors: &[i32], buf: *const c_void, counts: In<C>) -> Result<Vec<u64>> {
    let mut counts = list_of_counts(counts, neighbors.len())?;
    if buf.addr() != MPI_IN_PLACE {
        for (count, _) in counts.iter_mut().zip(neighbors).filter(|(_, neighbor)| **neighbor == PROC_NULL) {
            *count = 0;
        }
    }
    Ok(counts)
}
