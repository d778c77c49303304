//! Collective operations as C describes them, made into the engine's schedules (MPI-5.0 chapter 6).
//!
//! Called by `coll`, `coll_nonblocking` and `coll_persistent`, which differ only in what they do with a schedule;
//! calls `posthaste_core::coll`. What must stay true: arguments that the standard calls insignificant at a rank are
//! not looked at there.

use std::ffi::{c_int, c_void};

use posthaste_core::buffer::UserBuf;
use posthaste_core::coll::{self, Blocks, Operand, Schedule, TypedBlocks, inter};
use posthaste_core::comm::Comm;
use posthaste_core::datatype::Datatype;
use posthaste_core::error::{Error, ErrorClass, Result};

use crate::communicator;
use crate::constants::MPI_IN_PLACE;
use crate::datatype::{Number, committed};
use crate::handle::Held;
use crate::memory::{array, count as checked_count};
use crate::op;
use crate::pointer::{In, Plain};
use crate::types::{MPI_Comm, MPI_Datatype, MPI_Op};

/// The communicator of a collective operation.
pub(crate) fn member(comm: MPI_Comm) -> Result<Held<Comm>> {
    communicator::find("comm", comm)
}

/// One buffer with its count and type, resolved.
struct Data {
    buf: UserBuf,
    count: u64,
    datatype: Datatype,
}

impl Data {
    fn new(argument: &'static str, buf: *const c_void, count: i64, datatype: MPI_Datatype) -> Result<Self> {
        let count = checked_count("count", count)?;
        let datatype = committed("datatype", datatype)?;
        Ok(Self { buf: array(argument, buf, count, &datatype)?, count, datatype })
    }

    /// `None` for `MPI_IN_PLACE`.
    fn unless_in_place(
        argument: &'static str,
        buf: *const c_void,
        count: i64,
        datatype: MPI_Datatype,
    ) -> Result<Option<Self>> {
        if is_in_place(buf) { Ok(None) } else { Self::new(argument, buf, count, datatype).map(Some) }
    }

    /// `None` also where the argument is not looked at.
    fn if_needed(
        needed: bool,
        argument: &'static str,
        buf: *const c_void,
        count: i64,
        datatype: MPI_Datatype,
    ) -> Result<Option<Self>> {
        if needed { Self::unless_in_place(argument, buf, count, datatype) } else { Ok(None) }
    }

    fn operand(&self) -> Operand<'_> {
        Operand::new(self.buf, self.count, &self.datatype)
    }
}

/// A buffer with a block for each rank, resolved.
struct Pieces {
    buf: UserBuf,
    counts: Vec<u64>,
    displacements: Vec<i64>,
    datatype: Datatype,
}

impl Pieces {
    fn new<C: Plain + Number, D: Plain + Number>(
        buf: *const c_void,
        counts: In<C>,
        displacements: In<D>,
        datatype: MPI_Datatype,
        ranks: usize,
    ) -> Result<Self> {
        let counts = list_of_counts(counts, ranks)?;
        let displacements = list("displs", displacements, ranks)?;
        let datatype = committed("datatype", datatype)?;
        let buf = array("buffer", buf, counts.iter().copied().max().unwrap_or(0), &datatype)?;
        Ok(Self { buf, counts, displacements, datatype })
    }

    fn blocks(&self) -> Blocks<'_> {
        Blocks {
            buf: self.buf,
            counts: &self.counts,
            displacements: &self.displacements,
            datatype: &self.datatype,
        }
    }
}

/// A buffer with a block of its own type for each rank, resolved.
struct TypedPieces {
    buf: UserBuf,
    counts: Vec<u64>,
    displacements: Vec<i64>,
    datatypes: Vec<Datatype>,
}

impl TypedPieces {
    fn new<C: Plain + Number, D: Plain + Number>(
        buf: *const c_void,
        counts: In<C>,
        displacements: In<D>,
        datatypes: In<MPI_Datatype>,
        ranks: usize,
    ) -> Result<Self> {
        let counts = list_of_counts(counts, ranks)?;
        let displacements = list("displs", displacements, ranks)?;
        let datatypes = datatypes.slice("datatypes", ranks)?;
        let datatypes = datatypes.iter().map(|one| committed("datatypes", *one)).collect::<Result<_>>()?;
        Ok(Self { buf: crate::memory::user_buf(buf), counts, displacements, datatypes })
    }

    fn blocks(&self) -> TypedBlocks<'_> {
        TypedBlocks {
            buf: self.buf,
            counts: &self.counts,
            displacements: &self.displacements,
            datatypes: &self.datatypes,
        }
    }
}

fn is_in_place(buf: *const c_void) -> bool {
    buf.addr() == MPI_IN_PLACE
}

fn list<T: Plain + Number>(argument: &'static str, numbers: In<T>, ranks: usize) -> Result<Vec<i64>> {
    Ok(numbers.slice(argument, ranks)?.iter().map(|number| number.widen()).collect())
}

fn list_of_counts<T: Plain + Number>(counts: In<T>, ranks: usize) -> Result<Vec<u64>> {
    let counts = counts.slice("counts", ranks)?;
    counts
        .iter()
        .enumerate()
        .map(|(rank, count)| {
            u64::try_from(count.widen()).map_err(|_| {
                let got = format_args!("{} for rank {rank}", count.widen());
                Error::invalid(ErrorClass::Count, "counts", got, "0 or more")
            })
        })
        .collect()
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
    match comm.bridge() {
        Some(bridge) => inter::reduce(bridge, send, recv, count, &datatype, &op, root),
        None => coll::reduce(comm, send, recv, count, &datatype, &op, root),
    }
}

macro_rules! reductions_to_all {
    ($($name:ident)*) => {$(
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
            match comm.bridge() {
                Some(bridge) => inter::$name(bridge, send, recv, count, &datatype, &op),
                None => coll::$name(comm, send, recv, count, &datatype, &op),
            }
        }
    )*};
}

reductions_to_all! { allreduce scan exscan reduce_scatter_block }

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
    match comm.bridge() {
        Some(bridge) => inter::reduce_scatter(bridge, send, recv, &counts, &datatype, &op),
        None => coll::reduce_scatter(comm, send, recv, &counts, &datatype, &op),
    }
}
