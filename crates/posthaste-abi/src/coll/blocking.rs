//! C functions for blocking collective communication (MPI-5.0 §6.3 to §6.11).
//!
//! `plan` makes the schedule, the engine runs it to its end. A call that a program repeats runs the same schedule again.

use std::ffi::{c_int, c_void};

use posthaste_core::coll::{Call, Schedule};
use posthaste_core::comm::Comm;
use posthaste_core::error::Result;

use super::plan::{self as plan, member};
use crate::abi::pointer::In;
use crate::abi::types::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Op};
use crate::call::mpi_fn;
use crate::handle::is_lasting;
use crate::layer::library::library;

// Barrier.
mpi_fn! {
    /// MPI-5.0 §6.3
    fn MPI_Barrier / PMPI_Barrier(comm: MPI_Comm) raises comm => {
        repeat(comm, "MPI_Barrier", [], [], plan::barrier)
    }
}

// Broadcast.
mpi_fn! {
    /// MPI-5.0 §6.4
    fn MPI_Bcast / PMPI_Bcast(buffer: *mut c_void, count: c_int, datatype: MPI_Datatype, root: c_int,
        comm: MPI_Comm) raises comm => {
        let numbers = [buffer.addr() as u64, count as u64, root as u64];
        repeat(comm, "MPI_Bcast", numbers, [datatype.number()], |comm| {
            plan::bcast(comm, buffer, count.into(), datatype, root)
        })
    }
    /// MPI-5.0 §6.4
    fn MPI_Bcast_c / PMPI_Bcast_c(buffer: *mut c_void, count: MPI_Count, datatype: MPI_Datatype, root: c_int,
        comm: MPI_Comm) raises comm => {
        let numbers = [buffer.addr() as u64, count as u64, root as u64];
        repeat(comm, "MPI_Bcast", numbers, [datatype.number()], |comm| {
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
        let schedule = plan::gather(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype, root)?;
        run(schedule)
    }
    /// MPI-5.0 §6.5
    fn MPI_Gather_c / PMPI_Gather_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
        raises comm => {
        run(plan::gather(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root)?)
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
        let schedule = plan::scatter(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype, root)?;
        run(schedule)
    }
    /// MPI-5.0 §6.6
    fn MPI_Scatter_c / PMPI_Scatter_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm)
        raises comm => {
        run(plan::scatter(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root)?)
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
        let numbers = [sendbuf.addr() as u64, sendcount as u64, recvbuf.addr() as u64, recvcount as u64];
        repeat(comm, "MPI_Allgather", numbers, [sendtype.number(), recvtype.number()], |comm| {
            plan::allgather(comm, sendbuf, sendcount.into(), sendtype, recvbuf, recvcount.into(), recvtype)
        })
    }
    /// MPI-5.0 §6.7
    fn MPI_Allgather_c / PMPI_Allgather_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm) raises comm => {
        let numbers = [sendbuf.addr() as u64, sendcount as u64, recvbuf.addr() as u64, recvcount as u64];
        repeat(comm, "MPI_Allgather", numbers, [sendtype.number(), recvtype.number()], |comm| {
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
        let numbers = [sendbuf.addr() as u64, sendcount as u64, recvbuf.addr() as u64, recvcount as u64];
        repeat(comm, "MPI_Alltoall", numbers, [sendtype.number(), recvtype.number()], |comm| {
            plan::alltoall(comm, sendbuf, sendcount.into(), sendtype, recvbuf, recvcount.into(), recvtype)
        })
    }
    /// MPI-5.0 §6.8
    fn MPI_Alltoall_c / PMPI_Alltoall_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        let numbers = [sendbuf.addr() as u64, sendcount as u64, recvbuf.addr() as u64, recvcount as u64];
        repeat(comm, "MPI_Alltoall", numbers, [sendtype.number(), recvtype.number()], |comm| {
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
        let numbers = [sendbuf.addr() as u64, recvbuf.addr() as u64, count as u64, root as u64];
        repeat(comm, "MPI_Reduce", numbers, [datatype.number(), op.number()], |comm| {
            plan::reduce(comm, sendbuf, recvbuf, count.into(), datatype, op, root)
        })
    }
    /// MPI-5.0 §6.9
    fn MPI_Reduce_c / PMPI_Reduce_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, root: c_int, comm: MPI_Comm) raises comm => {
        let numbers = [sendbuf.addr() as u64, recvbuf.addr() as u64, count as u64, root as u64];
        repeat(comm, "MPI_Reduce", numbers, [datatype.number(), op.number()], |comm| {
            plan::reduce(comm, sendbuf, recvbuf, count, datatype, op, root)
        })
    }
    /// MPI-5.0 §6.9
    fn MPI_Allreduce / PMPI_Allreduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        let numbers = [sendbuf.addr() as u64, recvbuf.addr() as u64, count as u64];
        repeat(comm, "MPI_Allreduce", numbers, [datatype.number(), op.number()], |comm| {
            plan::allreduce(comm, sendbuf, recvbuf, count.into(), datatype, op)
        })
    }
    /// MPI-5.0 §6.9
    fn MPI_Allreduce_c / PMPI_Allreduce_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        let numbers = [sendbuf.addr() as u64, recvbuf.addr() as u64, count as u64];
        repeat(comm, "MPI_Allreduce", numbers, [datatype.number(), op.number()], |comm| {
            plan::allreduce(comm, sendbuf, recvbuf, count, datatype, op)
        })
    }
}

// Reduce-scatter.
mpi_fn! {
    /// MPI-5.0 §6.10
    fn MPI_Reduce_scatter_block / PMPI_Reduce_scatter_block(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcount: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        run(plan::reduce_scatter_block(&*member(comm)?, sendbuf, recvbuf, recvcount.into(), datatype, op)?)
    }
    /// MPI-5.0 §6.10
    fn MPI_Reduce_scatter_block_c / PMPI_Reduce_scatter_block_c(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcount: MPI_Count, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        run(plan::reduce_scatter_block(&*member(comm)?, sendbuf, recvbuf, recvcount, datatype, op)?)
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
        run(plan::scan(&*member(comm)?, sendbuf, recvbuf, count.into(), datatype, op)?)
    }
    /// MPI-5.0 §6.11
    fn MPI_Scan_c / PMPI_Scan_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        run(plan::scan(&*member(comm)?, sendbuf, recvbuf, count, datatype, op)?)
    }
    /// MPI-5.0 §6.11
    fn MPI_Exscan / PMPI_Exscan(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        run(plan::exscan(&*member(comm)?, sendbuf, recvbuf, count.into(), datatype, op)?)
    }
    /// MPI-5.0 §6.11
    fn MPI_Exscan_c / PMPI_Exscan_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) raises comm => {
        run(plan::exscan(&*member(comm)?, sendbuf, recvbuf, count, datatype, op)?)
    }
}

/// Runs the schedule that `make` makes, or made for the call before that was the same: the same numbers (addresses, counts,
/// ranks) and handles, none of them of an object that the program may have changed since.
#[inline(always)]
fn repeat<const NUMBERS: usize, const HANDLES: usize>(
    comm: MPI_Comm,
    name: &'static str,
    numbers: [u64; NUMBERS],
    handles: [usize; HANDLES],
    make: impl FnOnce(&Comm) -> Result<Schedule>,
) -> Result<()> {
    let comm = member(comm)?;
    if comm.bridge().is_some() || !handles.iter().all(|handle| is_lasting(*handle)) {
        return run(make(&comm)?);
    }
    let mut arguments = [0; Call::ARGUMENTS];
    let all = numbers.into_iter().chain(handles.into_iter().map(|handle| handle as u64));
    arguments.iter_mut().zip(all).for_each(|(place, number)| *place = number);
    let call = Call::new(&comm, name, arguments);
    match call.again(&comm) {
        Some(schedule) => run(schedule),
        None => run(call.keeping(make(&comm)?)),
    }
}

pub(crate) fn run(schedule: Schedule) -> Result<()> {
    library().world.run(schedule)
}
