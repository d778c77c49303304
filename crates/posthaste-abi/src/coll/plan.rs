//! Collective operations as C describes them, made into the engine's schedules (MPI-5.0 chapter 6).
//!
//! Called by `blocking`, `nonblocking` and `persistent`, which differ only in what they do with a schedule;
//! calls `posthaste_core::coll`. What must stay true: arguments that the standard calls insignificant at a rank are
//! not looked at there.

use std::ffi::{c_int, c_void};

use posthaste_core::buffer::UserBuf;
use posthaste_core::coll::{self, Schedule, inter};
use posthaste_core::comm::Comm;
use posthaste_core::datatype::Datatype;
use posthaste_core::error::Result;

use super::buffers::{Data, InPlace, Pieces, TypedPieces, apart, is_in_place, list_of_counts, memory};
use crate::abi::pointer::{In, Number, Plain};
use crate::abi::types::{MPI_Comm, MPI_Datatype, MPI_Op};
use crate::handle::Held;
use crate::object::communicator;
use crate::object::datatype::committed;
use crate::object::memory::{array, count as checked_count};
use crate::object::op;

/// The communicator of a collective operation.
pub(crate) fn member(comm: MPI_Comm) -> Result<Held<Comm>> {
    communicator::find("comm", comm)
}

/// How many ranks there are that data comes from or goes to.
fn ranks(comm: &Comm) -> usize {
    comm.remote().unwrap_or(comm.group()).size() as usize
}

/// What the caller of an operation with a root has to look at.
#[derive(Clone, Copy)]
struct Looks {
    /// At the argument of every rank (on an intercommunicator: of the group that the root is not in).
    own: bool,
    /// At the argument of the root.
    all: bool,
}

fn looks(comm: &Comm, root: c_int) -> Looks {
    match comm.bridge() {
        None => Looks { own: true, all: comm.rank() == root },
        // A wrong root is found by the engine.
        Some(_) => Looks { own: root >= 0, all: root == inter::ROOT },
    }
}

pub(crate) fn barrier(comm: &Comm) -> Result<Schedule> {
    Ok(comm.bridge().map_or_else(|| coll::barrier(comm), inter::barrier))
}

pub(crate) fn bcast(
    comm: &Comm,
    buffer: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    root: c_int,
) -> Result<Schedule> {
    if let Some(bridge) = comm.bridge() {
        let looks = looks(comm, root);
        let data =
            (looks.own || looks.all).then(|| Data::new("buffer", buffer, count, datatype)).transpose()?;
        return inter::bcast(bridge, data.as_ref().map(Data::operand), root);
    }
    let data = Data::new("buffer", buffer, count, datatype)?;
    coll::bcast(comm, data.operand(), root)
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
    let looks = looks(comm, root);
    let send = Data::if_needed(looks.own, "sendbuf", sendbuf, sendcount, sendtype)?;
    let recv = if looks.all { Some(Data::new("recvbuf", recvbuf, recvcount, recvtype)?) } else { None };
    if let (Some(send), Some(recv)) = (&send, &recv) {
        apart(comm, send.memory(1), recv.memory(ranks(comm)), InPlace::Send)?;
    }
    let (send, recv) = (send.as_ref().map(Data::operand), recv.as_ref().map(Data::operand));
    match comm.bridge() {
        Some(bridge) => inter::gather(bridge, send, recv, root),
        None => coll::gather(comm, send, recv, root),
    }
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
    let looks = looks(comm, root);
    let send = Data::if_needed(looks.own, "sendbuf", sendbuf, sendcount, sendtype)?;
    let recv =
        if looks.all { Some(Pieces::new(recvbuf, recvcounts, displs, recvtype, ranks(comm))?) } else { None };
    if let (Some(send), Some(recv)) = (&send, &recv) {
        apart(comm, send.memory(1), recv.memory(), InPlace::Send)?;
    }
    let (send, recv) = (send.as_ref().map(Data::operand), recv.as_ref().map(Pieces::blocks));
    match comm.bridge() {
        Some(bridge) => inter::gatherv(bridge, send, recv, root),
        None => coll::gatherv(comm, send, recv, root),
    }
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
    let looks = looks(comm, root);
    let send = if looks.all { Some(Data::new("sendbuf", sendbuf, sendcount, sendtype)?) } else { None };
    let recv = Data::if_needed(looks.own, "recvbuf", recvbuf, recvcount, recvtype)?;
    if let (Some(send), Some(recv)) = (&send, &recv) {
        apart(comm, send.memory(ranks(comm)), recv.memory(1), InPlace::Recv)?;
    }
    let (send, recv) = (send.as_ref().map(Data::operand), recv.as_ref().map(Data::operand));
    match comm.bridge() {
        Some(bridge) => inter::scatter(bridge, send, recv, root),
        None => coll::scatter(comm, send, recv, root),
    }
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
    let looks = looks(comm, root);
    let send =
        if looks.all { Some(Pieces::new(sendbuf, sendcounts, displs, sendtype, ranks(comm))?) } else { None };
    let recv = Data::if_needed(looks.own, "recvbuf", recvbuf, recvcount, recvtype)?;
    if let (Some(send), Some(recv)) = (&send, &recv) {
        apart(comm, send.memory(), recv.memory(1), InPlace::Recv)?;
    }
    let (send, recv) = (send.as_ref().map(Pieces::blocks), recv.as_ref().map(Data::operand));
    match comm.bridge() {
        Some(bridge) => inter::scatterv(bridge, send, recv, root),
        None => coll::scatterv(comm, send, recv, root),
    }
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
    let send = Data::unless_in_place("sendbuf", sendbuf, sendcount, sendtype)?;
    let recv = Data::new("recvbuf", recvbuf, recvcount, recvtype)?;
    if let Some(send) = &send {
        apart(comm, send.memory(1), recv.memory(ranks(comm)), InPlace::Send)?;
    }
    let (send, recv) = (send.as_ref().map(Data::operand), recv.operand());
    match comm.bridge() {
        Some(bridge) => inter::allgather(bridge, send, recv),
        None => coll::allgather(comm, send, recv),
    }
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
    let send = Data::unless_in_place("sendbuf", sendbuf, sendcount, sendtype)?;
    let recv = Pieces::new(recvbuf, recvcounts, displs, recvtype, ranks(comm))?;
    if let Some(send) = &send {
        apart(comm, send.memory(1), recv.memory(), InPlace::Send)?;
    }
    let (send, recv) = (send.as_ref().map(Data::operand), recv.blocks());
    match comm.bridge() {
        Some(bridge) => inter::allgatherv(bridge, send, recv),
        None => coll::allgatherv(comm, send, recv),
    }
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
    let send = Data::unless_in_place("sendbuf", sendbuf, sendcount, sendtype)?;
    let recv = Data::new("recvbuf", recvbuf, recvcount, recvtype)?;
    if let Some(send) = &send {
        apart(comm, send.memory(ranks(comm)), recv.memory(ranks(comm)), InPlace::Send)?;
    }
    let (send, recv) = (send.as_ref().map(Data::operand), recv.operand());
    match comm.bridge() {
        Some(bridge) => inter::alltoall(bridge, send, recv),
        None => coll::alltoall(comm, send, recv),
    }
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
    let ranks = ranks(comm);
    let send = if is_in_place(sendbuf) {
        None
    } else {
        Some(Pieces::new(sendbuf, sendcounts, sdispls, sendtype, ranks)?)
    };
    let recv = Pieces::new(recvbuf, recvcounts, rdispls, recvtype, ranks)?;
    if let Some(send) = &send {
        apart(comm, send.memory(), recv.memory(), InPlace::Send)?;
    }
    let (send, recv) = (send.as_ref().map(Pieces::blocks), recv.blocks());
    match comm.bridge() {
        Some(bridge) => inter::alltoallv(bridge, send, recv),
        None => coll::alltoallv(comm, send, recv),
    }
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
    let ranks = ranks(comm);
    let send = if is_in_place(sendbuf) {
        None
    } else {
        Some(TypedPieces::new(sendbuf, sendcounts, sdispls, sendtypes, ranks)?)
    };
    let recv = TypedPieces::new(recvbuf, recvcounts, rdispls, recvtypes, ranks)?;
    if let Some(send) = &send {
        apart(comm, send.memory(), recv.memory(), InPlace::Send)?;
    }
    let (send, recv) = (send.as_ref().map(TypedPieces::blocks), recv.blocks());
    match comm.bridge() {
        Some(bridge) => inter::alltoallw(bridge, send, recv),
        None => coll::alltoallw(comm, send, recv),
    }
}

/// The send buffer of a reduction; `None` for `MPI_IN_PLACE`.
fn reduced(buf: *const c_void, count: u64, datatype: &Datatype) -> Result<Option<UserBuf>> {
    if is_in_place(buf) { Ok(None) } else { array("sendbuf", buf, count, datatype).map(Some) }
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
    let count = checked_count("count", count)?;
    let datatype = committed("datatype", datatype)?;
    let op = op::find(op, &datatype)?;
    let looks = looks(comm, root);
    let send = if looks.own { reduced(sendbuf, count, &datatype)? } else { None };
    let recv = if looks.all { array("recvbuf", recvbuf, count, &datatype)? } else { UserBuf::none() };
    if let (Some(send), true) = (send, looks.all) {
        apart(comm, memory(send, count, &datatype), memory(recv, count, &datatype), InPlace::Send)?;
    }
    match comm.bridge() {
        Some(bridge) => inter::reduce(bridge, send, recv, count, &datatype, &op, root),
        None => coll::reduce(comm, send, recv, count, &datatype, &op, root),
    }
}

/// For each function, how many times as long the send buffer is as the receive buffer, which does not count where that is 0.
macro_rules! reductions_to_all {
    ($($name:ident: $times:expr;)*) => {$(
        pub(crate) fn $name(
            comm: &Comm,
            sendbuf: *const c_void,
            recvbuf: *mut c_void,
            count: i64,
            datatype: MPI_Datatype,
            op: MPI_Op,
        ) -> Result<Schedule> {
            let count = checked_count("count", count)?;
            let datatype = committed("datatype", datatype)?;
            let op = op::find(op, &datatype)?;
            let send = reduced(sendbuf, count, &datatype)?;
            let recv = array("recvbuf", recvbuf, count, &datatype)?;
            let times: fn(&Comm) -> u64 = $times;
            if let Some(send) = send {
                let sent = memory(send, count.saturating_mul(times(comm)), &datatype);
                apart(comm, sent, memory(recv, count, &datatype), InPlace::Send)?;
            }
            match comm.bridge() {
                Some(bridge) => inter::$name(bridge, send, recv, count, &datatype, &op),
                None => coll::$name(comm, send, recv, count, &datatype, &op),
            }
        }
    )*};
}

reductions_to_all! {
    allreduce: |_| 1;
    scan: |_| 1;
    exscan: |comm| u64::from(comm.rank() != 0);
    reduce_scatter_block: |comm| comm.size() as u64;
}

pub(crate) fn reduce_scatter<C: Plain + Number>(
    comm: &Comm,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: In<C>,
    datatype: MPI_Datatype,
    op: MPI_Op,
) -> Result<Schedule> {
    // Of the local group, also on an intercommunicator.
    let counts = list_of_counts(recvcounts, comm.size() as usize)?;
    let datatype = committed("datatype", datatype)?;
    let op = op::find(op, &datatype)?;
    let total = counts.iter().copied().fold(0, u64::saturating_add);
    let mine = counts.get(comm.rank() as usize).copied().unwrap_or(0);
    let send = reduced(sendbuf, total, &datatype)?;
    let recv = array("recvbuf", recvbuf, if send.is_some() { mine } else { total }, &datatype)?;
    if let Some(send) = send {
        apart(comm, memory(send, total, &datatype), memory(recv, mine, &datatype), InPlace::Send)?;
    }
    match comm.bridge() {
        Some(bridge) => inter::reduce_scatter(bridge, send, recv, &counts, &datatype, &op),
        None => coll::reduce_scatter(comm, send, recv, &counts, &datatype, &op),
    }
}
