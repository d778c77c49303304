//! Collective operations made into the engine's schedules (MPI-5.0 chapter 6): which arguments count at this rank, that
//! buffers are apart, and which of its two forms an operation takes.
//!
//! A buffer comes in as a function that resolves it. `None` is a buffer whose data are in place. What must stay true:
//! arguments that the standard calls insignificant at a rank are not looked at there.

use posthaste_core::buffer::Base;
use posthaste_core::coll::{self, Data, Pieces, Reduced, Schedule, TypedPieces, inter};
use posthaste_core::comm::Comm;
use posthaste_core::datatype::Datatype;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::ROOT;
use posthaste_core::op::{Op, Predefined};

use super::buffers::{InPlace, apart, memory};
use super::library::library;

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

fn looks(comm: &Comm, root: i32) -> Looks {
    match comm.bridge() {
        None => Looks { own: true, all: comm.rank() == root },
        // A wrong root is found by the engine.
        Some(_) => Looks { own: root >= 0, all: root == ROOT },
    }
}

pub(crate) fn barrier(comm: &Comm) -> Result<Schedule> {
    Ok(comm.bridge().map_or_else(|| coll::barrier(comm), inter::barrier))
}

pub(crate) fn bcast(comm: &Comm, data: impl FnOnce() -> Result<Data>, root: i32) -> Result<Schedule> {
    if let Some(bridge) = comm.bridge() {
        let looks = looks(comm, root);
        let data = (looks.own || looks.all).then(data).transpose()?;
        return inter::bcast(bridge, data.as_ref().map(Data::operand), root);
    }
    coll::bcast(comm, data()?.operand(), root)
}

pub(crate) fn gather(
    comm: &Comm,
    send: impl FnOnce() -> Result<Option<Data>>,
    recv: impl FnOnce() -> Result<Data>,
    root: i32,
) -> Result<Schedule> {
    let looks = looks(comm, root);
    let send = if looks.own { send()? } else { None };
    let recv = looks.all.then(recv).transpose()?;
    if let (Some(send), Some(recv)) = (&send, &recv) {
        apart(comm, send.memory(1), recv.memory(ranks(comm)), InPlace::Send)?;
    }
    let (send, recv) = (send.as_ref().map(Data::operand), recv.as_ref().map(Data::operand));
    match comm.bridge() {
        Some(bridge) => inter::gather(bridge, send, recv, root),
        None => coll::gather(comm, send, recv, root),
    }
}

/// As the other operations with a block for each rank, it says how many ranks those are.
pub(crate) fn gatherv(
    comm: &Comm,
    send: impl FnOnce() -> Result<Option<Data>>,
    recv: impl FnOnce(usize) -> Result<Pieces>,
    root: i32,
) -> Result<Schedule> {
    let looks = looks(comm, root);
    let send = if looks.own { send()? } else { None };
    let recv = if looks.all { Some(recv(ranks(comm))?) } else { None };
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
    send: impl FnOnce() -> Result<Data>,
    recv: impl FnOnce() -> Result<Option<Data>>,
    root: i32,
) -> Result<Schedule> {
    let looks = looks(comm, root);
    let send = looks.all.then(send).transpose()?;
    let recv = if looks.own { recv()? } else { None };
    if let (Some(send), Some(recv)) = (&send, &recv) {
        apart(comm, send.memory(ranks(comm)), recv.memory(1), InPlace::Recv)?;
    }
    let (send, recv) = (send.as_ref().map(Data::operand), recv.as_ref().map(Data::operand));
    match comm.bridge() {
        Some(bridge) => inter::scatter(bridge, send, recv, root),
        None => coll::scatter(comm, send, recv, root),
    }
}

pub(crate) fn scatterv(
    comm: &Comm,
    send: impl FnOnce(usize) -> Result<Pieces>,
    recv: impl FnOnce() -> Result<Option<Data>>,
    root: i32,
) -> Result<Schedule> {
    let looks = looks(comm, root);
    let send = if looks.all { Some(send(ranks(comm))?) } else { None };
    let recv = if looks.own { recv()? } else { None };
    if let (Some(send), Some(recv)) = (&send, &recv) {
        apart(comm, send.memory(), recv.memory(1), InPlace::Recv)?;
    }
    let (send, recv) = (send.as_ref().map(Pieces::blocks), recv.as_ref().map(Data::operand));
    match comm.bridge() {
        Some(bridge) => inter::scatterv(bridge, send, recv, root),
        None => coll::scatterv(comm, send, recv, root),
    }
}

pub(crate) fn allgather(comm: &Comm, send: Option<&Data>, recv: &Data) -> Result<Schedule> {
    if let Some(send) = send {
        apart(comm, send.memory(1), recv.memory(ranks(comm)), InPlace::Send)?;
    }
    let (send, recv) = (send.map(Data::operand), recv.operand());
    match comm.bridge() {
        Some(bridge) => inter::allgather(bridge, send, recv),
        None => coll::allgather(comm, send, recv),
    }
}

pub(crate) fn allgatherv(
    comm: &Comm,
    send: impl FnOnce() -> Result<Option<Data>>,
    recv: impl FnOnce(usize) -> Result<Pieces>,
) -> Result<Schedule> {
    let (send, recv) = (send()?, recv(ranks(comm))?);
    if let Some(send) = &send {
        apart(comm, send.memory(1), recv.memory(), InPlace::Send)?;
    }
    let (send, recv) = (send.as_ref().map(Data::operand), recv.blocks());
    match comm.bridge() {
        Some(bridge) => inter::allgatherv(bridge, send, recv),
        None => coll::allgatherv(comm, send, recv),
    }
}

pub(crate) fn alltoall(comm: &Comm, send: Option<&Data>, recv: &Data) -> Result<Schedule> {
    if let Some(send) = send {
        apart(comm, send.memory(ranks(comm)), recv.memory(ranks(comm)), InPlace::Send)?;
    }
    let (send, recv) = (send.map(Data::operand), recv.operand());
    match comm.bridge() {
        Some(bridge) => inter::alltoall(bridge, send, recv),
        None => coll::alltoall(comm, send, recv),
    }
}

pub(crate) fn alltoallv(
    comm: &Comm,
    send: impl FnOnce(usize) -> Result<Option<Pieces>>,
    recv: impl FnOnce(usize) -> Result<Pieces>,
) -> Result<Schedule> {
    let ranks = ranks(comm);
    let (send, recv) = (send(ranks)?, recv(ranks)?);
    if let Some(send) = &send {
        apart(comm, send.memory(), recv.memory(), InPlace::Send)?;
    }
    let (send, recv) = (send.as_ref().map(Pieces::blocks), recv.blocks());
    match comm.bridge() {
        Some(bridge) => inter::alltoallv(bridge, send, recv),
        None => coll::alltoallv(comm, send, recv),
    }
}

pub(crate) fn alltoallw(
    comm: &Comm,
    send: impl FnOnce(usize) -> Result<Option<TypedPieces>>,
    recv: impl FnOnce(usize) -> Result<TypedPieces>,
) -> Result<Schedule> {
    let ranks = ranks(comm);
    let (send, recv) = (send(ranks)?, recv(ranks)?);
    if let Some(send) = &send {
        apart(comm, send.memory(), recv.memory(), InPlace::Send)?;
    }
    let (send, recv) = (send.as_ref().map(TypedPieces::blocks), recv.blocks());
    match comm.bridge() {
        Some(bridge) => inter::alltoallw(bridge, send, recv),
        None => coll::alltoallw(comm, send, recv),
    }
}

/// What a reduction combines: so many elements of a type, or at each rank so many of them, by an operation.
pub(crate) struct Reduction<N = u64> {
    /// Number of elements.
    pub(crate) count: N,
    /// Their type.
    pub(crate) datatype: Datatype,
    /// How two of them become one.
    pub(crate) op: Op,
}

/// Checks that an operation is one for reductions of such elements. `MPI_REPLACE` and `MPI_NO_OP` are for one-sided
/// communication alone (MPI-5.0 §12.3.4).
#[inline]
pub(crate) fn check_op(op: &Op, datatype: &Datatype) -> Result<()> {
    if matches!(op.predefined(), Some(Predefined::Replace | Predefined::NoOp)) {
        let expected = "an operation for reductions: this one is for one-sided communication";
        return Err(Error::invalid(ErrorClass::Op, "op", op.name(), expected));
    }
    if library().strict { op.check_strict(datatype) } else { Ok(()) }
}

/// The receive buffer knows whether it counts, and is not looked at where it does not.
pub(crate) fn reduce(
    comm: &Comm,
    what: &Reduction,
    send: impl FnOnce() -> Result<Option<Base>>,
    recv: impl FnOnce(bool) -> Result<Base>,
    root: i32,
) -> Result<Schedule> {
    let Reduction { count, datatype, op } = what;
    let looks = looks(comm, root);
    let send = if looks.own { send()? } else { None };
    let recv = recv(looks.all)?;
    if let (Some(send), true) = (&send, looks.all) {
        apart(comm, memory(send, *count, datatype), memory(&recv, *count, datatype), InPlace::Send)?;
    }
    let buffers = Reduced::at(send, recv, *count, datatype);
    match comm.bridge() {
        Some(bridge) => inter::reduce(bridge, buffers, op, root),
        None => coll::reduce(comm, buffers, op, root),
    }
}

/// For each function, how many times as long the send buffer is as the receive buffer, which does not count where that is 0.
macro_rules! reductions_to_all {
    ($($name:ident: $times:expr;)*) => {$(
        pub(crate) fn $name(
            comm: &Comm,
            what: &Reduction,
            send: Option<Base>,
            recv: Base,
        ) -> Result<Schedule> {
            let Reduction { count, datatype, op } = what;
            let times: fn(&Comm) -> u64 = $times;
            if let Some(send) = &send {
                let sent = memory(send, count.saturating_mul(times(comm)), datatype);
                apart(comm, sent, memory(&recv, *count, datatype), InPlace::Send)?;
            }
            let buffers = Reduced::at(send, recv, *count, datatype);
            match comm.bridge() {
                Some(bridge) => inter::$name(bridge, buffers, op),
                None => coll::$name(comm, buffers, op),
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

/// There is a count for each rank of the local group, also on an intercommunicator. The buffers are resolved for the number of
/// elements that lie there.
pub(crate) fn reduce_scatter(
    comm: &Comm,
    what: &Reduction<Vec<u64>>,
    send: impl FnOnce(u64) -> Result<Option<Base>>,
    recv: impl FnOnce(u64) -> Result<Base>,
) -> Result<Schedule> {
    let Reduction { count: counts, datatype, op } = what;
    let total = counts.iter().copied().fold(0, u64::saturating_add);
    let mine = counts.get(comm.rank() as usize).copied().unwrap_or(0);
    let send = send(total)?;
    let recv = recv(if send.is_some() { mine } else { total })?;
    if let Some(send) = &send {
        apart(comm, memory(send, total, datatype), memory(&recv, mine, datatype), InPlace::Send)?;
    }
    let buffers = Reduced::at(send, recv, &counts[..], datatype);
    match comm.bridge() {
        Some(bridge) => inter::reduce_scatter(bridge, buffers, op),
        None => coll::reduce_scatter(comm, buffers, op),
    }
}
