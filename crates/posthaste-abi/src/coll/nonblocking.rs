//! C functions for nonblocking collective communication (MPI-5.0 §6.12).
//!
//! `plan` makes the schedule, the engine starts it.

use std::ffi::{c_int, c_void};

use posthaste_core::coll::Schedule;
use posthaste_core::error::Result;

use super::plan::{self as plan, member};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Op, MPI_Request};
use crate::call::mpi_fn;
use crate::layer::library::library;
use crate::request::completion;

// Nonblocking collectives.
mpi_fn! {
    /// MPI-5.0 §6.12
    fn MPI_Ibarrier / PMPI_Ibarrier(comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        begin(plan::barrier(&*member(comm)?)?, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ibcast / PMPI_Ibcast(buffer: *mut c_void, count: c_int, datatype: MPI_Datatype, root: c_int,
        comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        begin(plan::bcast(&*member(comm)?, buffer, count.into(), datatype, root)?, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ibcast_c / PMPI_Ibcast_c(buffer: *mut c_void, count: MPI_Count, datatype: MPI_Datatype,
        root: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        begin(plan::bcast(&*member(comm)?, buffer, count, datatype, root)?, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Igather / PMPI_Igather(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let schedule = plan::gather(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype, root)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Igather_c / PMPI_Igather_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let schedule = plan::gather(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype, root)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Igatherv / PMPI_Igatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>, recvtype: MPI_Datatype, root: c_int,
        comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::gatherv(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcounts, displs, recvtype, root)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Igatherv_c / PMPI_Igatherv_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: In<MPI_Count>, displs: In<MPI_Aint>, recvtype: MPI_Datatype,
        root: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::gatherv(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
            displs, recvtype, root)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iscatter / PMPI_Iscatter(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let schedule = plan::scatter(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype, root)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iscatter_c / PMPI_Iscatter_c(sendbuf: *const c_void, sendcount: MPI_Count, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let schedule = plan::scatter(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype, root)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iscatterv / PMPI_Iscatterv(sendbuf: *const c_void, sendcounts: In<c_int>, displs: In<c_int>,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int,
        comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::scatterv(&*member(comm)?, sendbuf, sendcounts, displs, sendtype, recvbuf,
            recvcount.into(), recvtype, root)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iscatterv_c / PMPI_Iscatterv_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        displs: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count,
        recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::scatterv(&*member(comm)?, sendbuf, sendcounts, displs, sendtype, recvbuf,
            recvcount, recvtype, root)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iallgather / PMPI_Iallgather(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let schedule = plan::allgather(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iallgather_c / PMPI_Iallgather_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::allgather(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iallgatherv / PMPI_Iallgatherv(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>, recvtype: MPI_Datatype,
        comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcounts, displs, recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iallgatherv_c / PMPI_Iallgatherv_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>, displs: In<MPI_Aint>,
        recvtype: MPI_Datatype, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
            displs, recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ialltoall / PMPI_Ialltoall(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let schedule = plan::alltoall(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ialltoall_c / PMPI_Ialltoall_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::alltoall(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ialltoallv / PMPI_Ialltoallv(sendbuf: *const c_void, sendcounts: In<c_int>, sdispls: In<c_int>,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>, rdispls: In<c_int>,
        recvtype: MPI_Datatype, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ialltoallv_c / PMPI_Ialltoallv_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        sdispls: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        rdispls: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm, request: Out<MPI_Request>)
        raises comm => {
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ialltoallw / PMPI_Ialltoallw(sendbuf: *const c_void, sendcounts: In<c_int>, sdispls: In<c_int>,
        sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<c_int>, rdispls: In<c_int>,
        recvtypes: In<MPI_Datatype>, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ialltoallw_c / PMPI_Ialltoallw_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm, request: Out<MPI_Request>)
        raises comm => {
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ireduce / PMPI_Ireduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, root: c_int, comm: MPI_Comm, request: Out<MPI_Request>)
        raises comm => {
        let schedule = plan::reduce(&*member(comm)?, sendbuf, recvbuf, count.into(), datatype, op, root)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ireduce_c / PMPI_Ireduce_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, root: c_int, comm: MPI_Comm, request: Out<MPI_Request>)
        raises comm => {
        begin(plan::reduce(&*member(comm)?, sendbuf, recvbuf, count, datatype, op, root)?, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iallreduce / PMPI_Iallreduce(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        begin(plan::allreduce(&*member(comm)?, sendbuf, recvbuf, count.into(), datatype, op)?, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iallreduce_c / PMPI_Iallreduce_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        begin(plan::allreduce(&*member(comm)?, sendbuf, recvbuf, count, datatype, op)?, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ireduce_scatter_block / PMPI_Ireduce_scatter_block(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcount: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: Out<MPI_Request>)
        raises comm => {
        let schedule = plan::reduce_scatter_block(&*member(comm)?, sendbuf, recvbuf, recvcount.into(),
            datatype, op)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ireduce_scatter_block_c / PMPI_Ireduce_scatter_block_c(sendbuf: *const c_void,
        recvbuf: *mut c_void, recvcount: MPI_Count, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let schedule = plan::reduce_scatter_block(&*member(comm)?, sendbuf, recvbuf, recvcount, datatype,
            op)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ireduce_scatter / PMPI_Ireduce_scatter(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcounts: In<c_int>, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: Out<MPI_Request>)
        raises comm => {
        let schedule = plan::reduce_scatter(&*member(comm)?, sendbuf, recvbuf, recvcounts, datatype, op)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Ireduce_scatter_c / PMPI_Ireduce_scatter_c(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let schedule = plan::reduce_scatter(&*member(comm)?, sendbuf, recvbuf, recvcounts, datatype, op)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iscan / PMPI_Iscan(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        begin(plan::scan(&*member(comm)?, sendbuf, recvbuf, count.into(), datatype, op)?, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iscan_c / PMPI_Iscan_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        begin(plan::scan(&*member(comm)?, sendbuf, recvbuf, count, datatype, op)?, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iexscan / PMPI_Iexscan(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        begin(plan::exscan(&*member(comm)?, sendbuf, recvbuf, count.into(), datatype, op)?, comm, request)
    }
    /// MPI-5.0 §6.12
    fn MPI_Iexscan_c / PMPI_Iexscan_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        begin(plan::exscan(&*member(comm)?, sendbuf, recvbuf, count, datatype, op)?, comm, request)
    }
}

pub(crate) fn begin(schedule: Schedule, comm: MPI_Comm, request: Out<MPI_Request>) -> Result<()> {
    request.ready("request")?;
    completion::give(library().world.start(schedule)?, comm, request)
}
