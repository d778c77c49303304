//! Collective operations as C describes them, with handles and addresses.
//!
//! `blocking`, `nonblocking` and `persistent` differ only in what they do with a schedule; `layer::coll` knows which
//! arguments count.

use std::ffi::{c_int, c_void};

use posthaste_core::buffer::Base;
use posthaste_core::coll::Schedule;
use posthaste_core::comm::Comm;
use posthaste_core::datatype::Datatype;
use posthaste_core::error::Result;

use super::buffers::{data, list_of_counts, pieces, typed_pieces, unless_in_place};
use crate::abi::constants::{MPI_INT, MPI_PROC_NULL, MPI_SUM};
use crate::abi::pointer::{In, Number, Plain};
use crate::abi::types::{MPI_Comm, MPI_Datatype, MPI_Op};
use crate::layer::coll::{self, Reduction};
use crate::layer::object_ref::ObjectRef;
use crate::mapping::ranks::root_in;
use crate::object::communicator;
use crate::object::datatype::committed;
use crate::object::memory::{array, base, count as checked_count};
use crate::object::op;

pub(crate) use crate::layer::coll::barrier;

/// The communicator of a collective operation.
pub(crate) fn member(comm: MPI_Comm) -> Result<ObjectRef<Comm>> {
    communicator::find("comm", comm)
}

pub(crate) fn bcast(
    comm: &Comm,
    buffer: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    root: c_int,
) -> Result<Schedule> {
    coll::bcast(comm, || data("buffer", buffer, count, datatype), root_in(root))
}

pub(crate) fn gather(
    comm: &Comm,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    root: c_int,
) -> Result<Schedule> {
    let send = || unless_in_place(sendbuf, || data("sendbuf", sendbuf, sendcount, sendtype));
    coll::gather(comm, send, || data("recvbuf", recvbuf, recvcount, recvtype), root_in(root))
}

pub(crate) fn gatherv<C: Plain + Number, D: Plain + Number>(
    comm: &Comm,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: In<C>,
    displs: In<D>,
    recvtype: MPI_Datatype,
    root: c_int,
) -> Result<Schedule> {
    let send = || unless_in_place(sendbuf, || data("sendbuf", sendbuf, sendcount, sendtype));
    coll::gatherv(comm, send, |ranks| pieces(recvbuf, recvcounts, displs, recvtype, ranks), root_in(root))
}

pub(crate) fn scatter(
    comm: &Comm,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    root: c_int,
) -> Result<Schedule> {
    let recv = || unless_in_place(recvbuf, || data("recvbuf", recvbuf, recvcount, recvtype));
    coll::scatter(comm, || data("sendbuf", sendbuf, sendcount, sendtype), recv, root_in(root))
}

pub(crate) fn scatterv<C: Plain + Number, D: Plain + Number>(
    comm: &Comm,
    sendbuf: *const c_void,
    sendcounts: In<C>,
    displs: In<D>,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
    root: c_int,
) -> Result<Schedule> {
    let recv = || unless_in_place(recvbuf, || data("recvbuf", recvbuf, recvcount, recvtype));
    coll::scatterv(comm, |ranks| pieces(sendbuf, sendcounts, displs, sendtype, ranks), recv, root_in(root))
}

pub(crate) fn allgather(
    comm: &Comm,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: MPI_Datatype,
) -> Result<Schedule> {
    let send = unless_in_place(sendbuf, || data("sendbuf", sendbuf, sendcount, sendtype))?;
    coll::allgather(comm, send.as_ref(), &data("recvbuf", recvbuf, recvcount, recvtype)?)
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
    let send = || unless_in_place(sendbuf, || data("sendbuf", sendbuf, sendcount, sendtype));
    coll::allgatherv(comm, send, |ranks| pieces(recvbuf, recvcounts, displs, recvtype, ranks))
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
    let send = unless_in_place(sendbuf, || data("sendbuf", sendbuf, sendcount, sendtype))?;
    coll::alltoall(comm, send.as_ref(), &data("recvbuf", recvbuf, recvcount, recvtype)?)
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
    let send = |ranks| unless_in_place(sendbuf, || pieces(sendbuf, sendcounts, sdispls, sendtype, ranks));
    coll::alltoallv(comm, send, |ranks| pieces(recvbuf, recvcounts, rdispls, recvtype, ranks))
}

pub(crate) fn alltoallw<C: Plain + Number, D: Plain + Number>(
    comm: &Comm,
    sendbuf: *const c_void,
    sendcounts: In<C>,
    sdispls: In<D>,
    sendtypes: In<MPI_Datatype>,
    recvbuf: *mut c_void,
    recvcounts: In<C>,
    rdispls: In<D>,
    recvtypes: In<MPI_Datatype>,
) -> Result<Schedule> {
    let send =
        |ranks| unless_in_place(sendbuf, || typed_pieces(sendbuf, sendcounts, sdispls, sendtypes, ranks));
    coll::alltoallw(comm, send, |ranks| typed_pieces(recvbuf, recvcounts, rdispls, recvtypes, ranks))
}

fn reduction(count: i64, datatype: MPI_Datatype, op: MPI_Op) -> Result<Reduction> {
    let count = checked_count("count", count)?;
    let datatype = committed("datatype", datatype)?;
    Ok(Reduction { count, op: op::find(op, &datatype)?, datatype })
}

/// One of the buffers of a reduction.
fn reduced(argument: &'static str, buf: *const c_void, count: u64, datatype: &Datatype) -> Result<Base> {
    let buf = array(argument, buf, count, datatype)?;
    // SAFETY: the program describes both of its buffers by this count and datatype.
    Ok(unsafe { base(buf) })
}

pub(crate) fn reduce(
    comm: &Comm,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
    root: c_int,
) -> Result<Schedule> {
    // Of who only stands by nothing else is looked at.
    let stands_by = root == MPI_PROC_NULL && comm.remote().is_some();
    let what = if stands_by { reduction(0, MPI_INT, MPI_SUM)? } else { reduction(count, datatype, op)? };
    let send = || unless_in_place(sendbuf, || reduced("sendbuf", sendbuf, what.count, &what.datatype));
    let recv = |counts| {
        let buf = if counts { recvbuf } else { std::ptr::null_mut() };
        reduced("recvbuf", buf, if counts { what.count } else { 0 }, &what.datatype)
    };
    coll::reduce(comm, &what, send, recv, root_in(root))
}

macro_rules! reductions_to_all {
    ($($name:ident receives at $receives:expr;)*) => {$(
        pub(crate) fn $name(
            comm: &Comm,
            sendbuf: *const c_void,
            recvbuf: *mut c_void,
            count: i64,
            datatype: MPI_Datatype,
            op: MPI_Op,
        ) -> Result<Schedule> {
            let what = reduction(count, datatype, op)?;
            let buffer = |argument, buf, count| reduced(argument, buf, count, &what.datatype);
            let send = unless_in_place(sendbuf, || buffer("sendbuf", sendbuf, what.count))?;
            let receives: fn(i32) -> bool = $receives;
            let recv = match send.is_none() || receives(comm.rank()) {
                true => buffer("recvbuf", recvbuf, what.count),
                false => buffer("recvbuf", std::ptr::null(), 0),
            };
            coll::$name(comm, &what, send, recv?)
        }
    )*};
}

// What a rank does not receive is not looked at.
reductions_to_all! {
    allreduce receives at |_| true;
    scan receives at |_| true;
    exscan receives at |rank| rank > 0;
    reduce_scatter_block receives at |_| true;
}

pub(crate) fn reduce_scatter<C: Plain + Number>(
    comm: &Comm,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: In<C>,
    datatype: MPI_Datatype,
    op: MPI_Op,
) -> Result<Schedule> {
    let count = list_of_counts(recvcounts, comm.size() as usize)?;
    let datatype = committed("datatype", datatype)?;
    let what = Reduction { count, op: op::find(op, &datatype)?, datatype };
    let buffer = |argument, buf, count| reduced(argument, buf, count, &what.datatype);
    let send = |count| unless_in_place(sendbuf, || buffer("sendbuf", sendbuf, count));
    coll::reduce_scatter(comm, &what, send, |count| buffer("recvbuf", recvbuf, count))
}
