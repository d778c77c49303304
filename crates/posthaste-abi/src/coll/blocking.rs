//! C functions for blocking collective communication (MPI-5.0 §6.3 to §6.11).
//!
//! `plan` makes the schedule, the engine runs it to its end. A call that a program repeats, maybe with buffers that lie elsewhere,
//! runs the same schedule again.

use std::ffi::{c_int, c_void};
use std::ptr::null;

use posthaste_core::coll::{Call, Schedule};
use posthaste_core::comm::Comm;
use posthaste_core::error::Result;

use super::plan::{self as plan, member};
use crate::abi::constants::MPI_IN_PLACE;
use crate::abi::pointer::In;
use crate::abi::types::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Op};
use crate::call::mpi_fn;
use crate::handle::is_lasting;
use crate::layer::library::library;
use crate::object::memory::{base, is_address};

// Barrier.
mpi_fn! {
    /// MPI-5.0 §6.3
    fn MPI_Barrier / PMPI_Barrier(comm: MPI_Comm) raises comm => {
        repeat(comm, "MPI_Barrier", |_| ([], [], []), plan::barrier)
    }
}

// Broadcast.
mpi_fn! {
    /// MPI-5.0 §6.4
    fn MPI_Bcast / PMPI_Bcast(buffer: *mut c_void, count: c_int, datatype: MPI_Datatype, root: c_int,
        comm: MPI_Comm) raises comm => {
        let told = |_: &Comm| ([buffer.cast_const()], [count as u64, root as u64], [datatype.number()]);
        repeat(comm, "MPI_Bcast", told, |comm| {
            plan::bcast(comm, buffer, count.into(), datatype, root)
        })
    }
    /// MPI-5.0 §6.4
    fn MPI_Bcast_c / PMPI_Bcast_c(buffer: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, root: c_int,
        comm: MPI_Comm) raises comm => {
        let told = |_: &Comm| ([buffer.cast_const()], [count as u64, root as u64], [datatype.number()]);
        repeat(comm, "MPI_Bcast", told, |comm| {
            plan::bcast(comm, buffer, count, datatype, root)
        })
    }
}

// Gather.
mpi_fn! {
    /// MPI-5.0 §6.5
    fn MPI_Gather / PMPI_Gather(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
        raises comm => {
        let send = Told { buf: sendbuf, count: sendcount.into(), datatype: sendtype };
        let recv = Told { buf: recvbuf, count: recvcount.into(), datatype: recvtype };
        repeat(comm, "MPI_Gather", |comm| send.and_at_root(recv, root, comm), |comm| {
            plan::gather(comm, sendbuf, sendcount.into(), sendtype, recvbuf, recvcount.into(), recvtype, root)
        })
    }
    /// MPI-5.0 §6.5
    fn MPI_Gather_c / PMPI_Gather_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
        raises comm => {
        let send = Told { buf: sendbuf, count: sendcount, datatype: sendtype };
        let recv = Told { buf: recvbuf, count: recvcount, datatype: recvtype };
        repeat(comm, "MPI_Gather", |comm| send.and_at_root(recv, root, comm), |comm| {
            plan::gather(comm, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root)
        })
    }
    /// MPI-5.0 §6.5
    fn MPI_Gatherv / PMPI_Gatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>, recvtype: MPI_Datatype, root: c_int,
        comm: MPI_Comm) raises comm => {
        let schedule = plan::gatherv(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcounts, displs, recvtype, root)?;
        run(schedule)
    }
    /// MPI-5.0 §6.5
    fn MPI_Gatherv_c / PMPI_Gatherv_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: In<MPI_Count>, displs: In<MPI_Aint>, recvtype: MPI_Datatype,
        root: c_int, comm: MPI_Comm) raises comm => {
        let schedule = plan::gatherv(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
            displs, recvtype, root)?;
        run(schedule)
    }
}

// Scatter.
mpi_fn! {
    /// MPI-5.0 §6.6
    fn MPI_Scatter / PMPI_Scatter(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
        raises comm => {
        let send = Told { buf: sendbuf, count: sendcount.into(), datatype: sendtype };
        let recv = Told { buf: recvbuf, count: recvcount.into(), datatype: recvtype };
        repeat(comm, "MPI_Scatter", |comm| recv.and_at_root(send, root, comm), |comm| {
            plan::scatter(comm, sendbuf, sendcount.into(), sendtype, recvbuf, recvcount.into(), recvtype, root)
        })
    }
    /// MPI-5.0 §6.6
    fn MPI_Scatter_c / PMPI_Scatter_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
        raises comm => {
        let send = Told { buf: sendbuf, count: sendcount, datatype: sendtype };
        let recv = Told { buf: recvbuf, count: recvcount, datatype: recvtype };
        repeat(comm, "MPI_Scatter", |comm| recv.and_at_root(send, root, comm), |comm| {
            plan::scatter(comm, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root)
        })
    }
    /// MPI-5.0 §6.6
    fn MPI_Scatterv / PMPI_Scatterv(sendbuf: *const c_void, sendcounts: In<c_int>, displs: In<c_int>,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int,
        comm: MPI_Comm) raises comm => {
        let schedule = plan::scatterv(&*member(comm)?, sendbuf, sendcounts, displs, sendtype, recvbuf,
            recvcount.into(), recvtype, root)?;
        run(schedule)
    }
    /// MPI-5.0 §6.6
    fn MPI_Scatterv_c / PMPI_Scatterv_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        displs: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count,
        recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm) raises comm => {
        let schedule = plan::scatterv(&*member(comm)?, sendbuf, sendcounts, displs, sendtype, recvbuf,
            recvcount, recvtype, root)?;
        run(schedule)
    }
}

// Gather to all.
mpi_fn! {
    /// MPI-5.0 §6.7
    fn MPI_Allgather / PMPI_Allgather(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        let (counts, types) = ([sendcount as u64, recvcount as u64], [sendtype.number(), recvtype.number()]);
        repeat(comm, "MPI_Allgather", |_| ([sendbuf, recvbuf.cast_const()], counts, types), |comm| {
            plan::allgather(comm, sendbuf, sendcount.into(), sendtype, recvbuf, recvcount.into(), recvtype)
        })
    }
    /// MPI-5.0 §6.7
    fn MPI_Allgather_c / PMPI_Allgather_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm) raises comm => {
        let (counts, types) = ([sendcount as u64, recvcount as u64], [sendtype.number(), recvtype.number()]);
        repeat(comm, "MPI_Allgather", |_| ([sendbuf, recvbuf.cast_const()], counts, types), |comm| {
            plan::allgather(comm, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
        })
    }
    /// MPI-5.0 §6.7
    fn MPI_Allgatherv / PMPI_Allgatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>, recvtype: MPI_Datatype,
        comm: MPI_Comm) raises comm => {
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcounts, displs, recvtype)?;
        run(schedule)
    }
    /// MPI-5.0 §6.7
    fn MPI_Allgatherv_c / PMPI_Allgatherv_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>, displs: In<MPI_Aint>,
        recvtype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
            displs, recvtype)?;
        run(schedule)
    }
}

// All to all.
mpi_fn! {
    /// MPI-5.0 §6.8
    fn MPI_Alltoall / PMPI_Alltoall(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        let (counts, types) = ([sendcount as u64, recvcount as u64], [sendtype.number(), recvtype.number()]);
        repeat(comm, "MPI_Alltoall", |_| ([sendbuf, recvbuf.cast_const()], counts, types), |comm| {
            plan::alltoall(comm, sendbuf, sendcount.into(), sendtype, recvbuf, recvcount.into(), recvtype)
        })
    }
    /// MPI-5.0 §6.8
    fn MPI_Alltoall_c / PMPI_Alltoall_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        let (counts, types) = ([sendcount as u64, recvcount as u64], [sendtype.number(), recvtype.number()]);
        repeat(comm, "MPI_Alltoall", |_| ([sendbuf, recvbuf.cast_const()], counts, types), |comm| {
            plan::alltoall(comm, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)
        })
    }
    /// MPI-5.0 §6.8
    fn MPI_Alltoallv / PMPI_Alltoallv(sendbuf: *const c_void, sendcounts: In<c_int>, sdispls: In<c_int>,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>, rdispls: In<c_int>,
        recvtype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        run(schedule)
    }
    /// MPI-5.0 §6.8
    fn MPI_Alltoallv_c / PMPI_Alltoallv_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        sdispls: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        rdispls: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        run(schedule)
    }
    /// MPI-5.0 §6.8
    fn MPI_Alltoallw / PMPI_Alltoallw(sendbuf: *const c_void, sendcounts: In<c_int>, sdispls: In<c_int>,
        sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<c_int>, rdispls: In<c_int>,
        recvtypes: In<MPI_Datatype>, comm: MPI_Comm) raises comm => {
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        run(schedule)
    }
    /// MPI-5.0 §6.8
    fn MPI_Alltoallw_c / PMPI_Alltoallw_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm) raises comm => {
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        run(schedule)
    }
}

// Reductions.
mpi_fn! {
    /// MPI-5.0 §6.9
    fn MPI_Reduce / PMPI_Reduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, root: c_int, comm: MPI_Comm) raises comm => {
        let told = |comm: &Comm| {
            let recvbuf = if comm.rank() == root { recvbuf.cast_const() } else { null() };
            ([sendbuf, recvbuf], [count as u64, root as u64], [datatype.number(), op.number()])
        };
        repeat(comm, "MPI_Reduce", told, |comm| {
            plan::reduce(comm, sendbuf, recvbuf, count.into(), datatype, op, root)
        })
    }
    /// MPI-5.0 §6.9
    fn MPI_Reduce_c / PMPI_Reduce_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, root: c_int, comm: MPI_Comm) raises comm => {
        let told = |comm: &Comm| {
            let recvbuf = if comm.rank() == root { recvbuf.cast_const() } else { null() };
            ([sendbuf, recvbuf], [count as u64, root as u64], [datatype.number(), op.number()])
        };
        repeat(comm, "MPI_Reduce", told, |comm| {
            plan::reduce(comm, sendbuf, recvbuf, count, datatype, op, root)
        })
    }
    /// MPI-5.0 §6.9
    fn MPI_Allreduce / PMPI_Allreduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        let handles = [datatype.number(), op.number()];
        repeat(comm, "MPI_Allreduce", |_| ([sendbuf, recvbuf.cast_const()], [count as u64], handles), |comm| {
            plan::allreduce(comm, sendbuf, recvbuf, count.into(), datatype, op)
        })
    }
    /// MPI-5.0 §6.9
    fn MPI_Allreduce_c / PMPI_Allreduce_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        let handles = [datatype.number(), op.number()];
        repeat(comm, "MPI_Allreduce", |_| ([sendbuf, recvbuf.cast_const()], [count as u64], handles), |comm| {
            plan::allreduce(comm, sendbuf, recvbuf, count, datatype, op)
        })
    }
}

// Reduce-scatter.
mpi_fn! {
    /// MPI-5.0 §6.10
    fn MPI_Reduce_scatter_block / PMPI_Reduce_scatter_block(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcount: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        let handles = [datatype.number(), op.number()];
        repeat(comm, "MPI_Reduce_scatter_block", |_| ([sendbuf, recvbuf.cast_const()], [recvcount as u64], handles), |comm| {
            plan::reduce_scatter_block(comm, sendbuf, recvbuf, recvcount.into(), datatype, op)
        })
    }
    /// MPI-5.0 §6.10
    fn MPI_Reduce_scatter_block_c / PMPI_Reduce_scatter_block_c(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcount: MPI_Count, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        let handles = [datatype.number(), op.number()];
        repeat(comm, "MPI_Reduce_scatter_block", |_| ([sendbuf, recvbuf.cast_const()], [recvcount as u64], handles), |comm| {
            plan::reduce_scatter_block(comm, sendbuf, recvbuf, recvcount, datatype, op)
        })
    }
    /// MPI-5.0 §6.10
    fn MPI_Reduce_scatter / PMPI_Reduce_scatter(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcounts: In<c_int>, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        run(plan::reduce_scatter(&*member(comm)?, sendbuf, recvbuf, recvcounts, datatype, op)?)
    }
    /// MPI-5.0 §6.10
    fn MPI_Reduce_scatter_c / PMPI_Reduce_scatter_c(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        run(plan::reduce_scatter(&*member(comm)?, sendbuf, recvbuf, recvcounts, datatype, op)?)
    }
}

// Scans.
mpi_fn! {
    /// MPI-5.0 §6.11
    fn MPI_Scan / PMPI_Scan(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        let handles = [datatype.number(), op.number()];
        repeat(comm, "MPI_Scan", |_| ([sendbuf, recvbuf.cast_const()], [count as u64], handles), |comm| {
            plan::scan(comm, sendbuf, recvbuf, count.into(), datatype, op)
        })
    }
    /// MPI-5.0 §6.11
    fn MPI_Scan_c / PMPI_Scan_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        let handles = [datatype.number(), op.number()];
        repeat(comm, "MPI_Scan", |_| ([sendbuf, recvbuf.cast_const()], [count as u64], handles), |comm| {
            plan::scan(comm, sendbuf, recvbuf, count, datatype, op)
        })
    }
    /// MPI-5.0 §6.11
    fn MPI_Exscan / PMPI_Exscan(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        let handles = [datatype.number(), op.number()];
        repeat(comm, "MPI_Exscan", |_| ([sendbuf, recvbuf.cast_const()], [count as u64], handles), |comm| {
            plan::exscan(comm, sendbuf, recvbuf, count.into(), datatype, op)
        })
    }
    /// MPI-5.0 §6.11
    fn MPI_Exscan_c / PMPI_Exscan_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        let handles = [datatype.number(), op.number()];
        repeat(comm, "MPI_Exscan", |_| ([sendbuf, recvbuf.cast_const()], [count as u64], handles), |comm| {
            plan::exscan(comm, sendbuf, recvbuf, count, datatype, op)
        })
    }
}

/// One buffer of a call with its count and type.
#[derive(Clone, Copy)]
struct Told {
    buf: *const c_void,
    count: i64,
    datatype: MPI_Datatype,
}

impl Told {
    /// What tells a call apart which looks at this everywhere, and at `other` where `root` is.
    #[inline(always)]
    fn and_at_root(
        self,
        other: Self,
        root: c_int,
        comm: &Comm,
    ) -> ([*const c_void; 2], [u64; 3], [usize; 2]) {
        let counts = [self.count as u64, root as u64];
        match comm.rank() == root {
            true => {
                let handles = [self.datatype.number(), other.datatype.number()];
                ([self.buf, other.buf], [counts[0], counts[1], other.count as u64], handles)
            }
            false => ([self.buf, null()], [counts[0], counts[1], 0], [self.datatype.number(), 0]),
        }
    }
}

/// Runs the schedule that `make` makes, or made for a call before that was the same as `told` by its buffers, if others than null
/// count at this rank, by its numbers (counts and ranks) and by handles, none of them of an object that the program may have changed
/// since. Buffers may lie elsewhere.
#[inline(always)]
fn repeat<const BUFFERS: usize, const NUMBERS: usize, const HANDLES: usize>(
    comm: MPI_Comm,
    name: &'static str,
    told: impl FnOnce(&Comm) -> ([*const c_void; BUFFERS], [u64; NUMBERS], [usize; HANDLES]),
    make: impl FnOnce(&Comm) -> Result<Schedule>,
) -> Result<()> {
    const { assert!(1 + NUMBERS + HANDLES <= Call::ARGUMENTS && BUFFERS <= Call::BUFFERS) };
    let comm = member(comm)?;
    let (given, numbers, handles) = told(&comm);
    if comm.bridge().is_some() || !handles.iter().all(|handle| is_lasting(*handle)) {
        return run(make(&comm)?);
    }
    let mut buffers = [const { None }; Call::BUFFERS];
    // What is no address of a buffer tells a call apart.
    let mut others = 0;
    for (place, buf) in buffers.iter_mut().zip(given) {
        others <<= 2;
        match buf.addr() {
            // SAFETY: the program describes its buffers by these counts and datatypes.
            _ if is_address(buf) => *place = Some(unsafe { base(buf) }),
            MPI_IN_PLACE => others |= 1,
            _ => others |= 2,
        }
    }
    let mut arguments = [0; Call::ARGUMENTS];
    let all = numbers.into_iter().chain(handles.into_iter().map(|handle| handle as u64));
    arguments.iter_mut().zip(std::iter::once(others).chain(all)).for_each(|(place, number)| *place = number);
    let call = Call::new(&comm, name, arguments, buffers);
    match call.again(&comm) {
        Some(schedule) => run(schedule),
        None => run(call.keeping(make(&comm)?)),
    }
}

pub(crate) fn run(schedule: Schedule) -> Result<()> {
    library().world.run(schedule)
}
