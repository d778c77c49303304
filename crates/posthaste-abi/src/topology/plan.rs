//! Neighbourhood collectives as C describes them, with handles and addresses.

use std::ffi::c_void;

use posthaste_core::coll::Schedule;
use posthaste_core::comm::Comm;
use posthaste_core::error::Result;

use crate::abi::pointer::{In, Number, Plain};
use crate::abi::types::{MPI_Aint, MPI_Datatype};
use crate::coll::buffers::{data, pieces, typed_pieces};
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
    let send = data("sendbuf", sendbuf, sendcount, sendtype)?;
    neighbor::allgather(comm, &send, &data("recvbuf", recvbuf, recvcount, recvtype)?)
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
    let send = || data("sendbuf", sendbuf, sendcount, sendtype);
    neighbor::allgatherv(comm, send, |from| pieces(recvbuf, recvcounts, displs, recvtype, from))
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
    let send = data("sendbuf", sendbuf, sendcount, sendtype)?;
    neighbor::alltoall(comm, &send, &data("recvbuf", recvbuf, recvcount, recvtype)?)
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
    let send = |to| pieces(sendbuf, sendcounts, sdispls, sendtype, to);
    neighbor::alltoallv(comm, send, |from| pieces(recvbuf, recvcounts, rdispls, recvtype, from))
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
    let send = |to| typed_pieces(sendbuf, sendcounts, sdispls, sendtypes, to);
    neighbor::alltoallw(comm, send, |from| typed_pieces(recvbuf, recvcounts, rdispls, recvtypes, from))
}
