//! C functions for persistent collective communication (MPI-5.0 §6.13).
//!
//! `plan` makes the schedule, `persistent` keeps it. The hints have no effect.

use std::ffi::{c_int, c_void};

use posthaste_core::coll::Schedule;
use posthaste_core::error::Result;

use super::plan::{self as plan, member};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};
use crate::call::mpi_fn;
use crate::object::info::hints;
use crate::request::persistent::{self, Plan};

// Persistent collectives.
mpi_fn! {
    /// MPI-5.0 §6.13
    fn MPI_Barrier_init / PMPI_Barrier_init(comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>)
        raises comm => {
        hints(info)?;
        prepare(plan::barrier(&*member(comm)?)?, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Bcast_init / PMPI_Bcast_init(buffer: *mut c_void, count: c_int, datatype: MPI_Datatype,
        root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        prepare(plan::bcast(&*member(comm)?, buffer, count.into(), datatype, root)?, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Bcast_init_c / PMPI_Bcast_init_c(buffer: *mut c_void, count: MPI_Count, datatype: MPI_Datatype,
        root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        prepare(plan::bcast(&*member(comm)?, buffer, count, datatype, root)?, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Gather_init / PMPI_Gather_init(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::gather(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype, root)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Gather_init_c / PMPI_Gather_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::gather(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype, root)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Gatherv_init / PMPI_Gatherv_init(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>, recvtype: MPI_Datatype, root: c_int,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::gatherv(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcounts, displs, recvtype, root)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Gatherv_init_c / PMPI_Gatherv_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>, displs: In<MPI_Aint>,
        recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>)
        raises comm => {
        hints(info)?;
        let schedule = plan::gatherv(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
            displs, recvtype, root)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Scatter_init / PMPI_Scatter_init(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::scatter(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype, root)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Scatter_init_c / PMPI_Scatter_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::scatter(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype, root)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Scatterv_init / PMPI_Scatterv_init(sendbuf: *const c_void, sendcounts: In<c_int>,
        displs: In<c_int>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int,
        recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>)
        raises comm => {
        hints(info)?;
        let schedule = plan::scatterv(&*member(comm)?, sendbuf, sendcounts, displs, sendtype, recvbuf,
            recvcount.into(), recvtype, root)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Scatterv_init_c / PMPI_Scatterv_init_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        displs: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count,
        recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>)
        raises comm => {
        hints(info)?;
        let schedule = plan::scatterv(&*member(comm)?, sendbuf, sendcounts, displs, sendtype, recvbuf,
            recvcount, recvtype, root)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Allgather_init / PMPI_Allgather_init(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::allgather(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Allgather_init_c / PMPI_Allgather_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::allgather(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Allgatherv_init / PMPI_Allgatherv_init(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>,
        recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcounts, displs, recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Allgatherv_init_c / PMPI_Allgatherv_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>, displs: In<MPI_Aint>,
        recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
            displs, recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Alltoall_init / PMPI_Alltoall_init(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoall(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Alltoall_init_c / PMPI_Alltoall_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoall(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Alltoallv_init / PMPI_Alltoallv_init(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<c_int>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<c_int>, recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Alltoallv_init_c / PMPI_Alltoallv_init_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        sdispls: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        rdispls: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Alltoallw_init / PMPI_Alltoallw_init(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<c_int>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<c_int>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Alltoallw_init_c / PMPI_Alltoallw_init_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Reduce_init / PMPI_Reduce_init(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, root: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::reduce(&*member(comm)?, sendbuf, recvbuf, count.into(), datatype, op, root)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Reduce_init_c / PMPI_Reduce_init_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, root: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        prepare(plan::reduce(&*member(comm)?, sendbuf, recvbuf, count, datatype, op, root)?, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Allreduce_init / PMPI_Allreduce_init(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>)
        raises comm => {
        hints(info)?;
        let schedule = plan::allreduce(&*member(comm)?, sendbuf, recvbuf, count.into(), datatype, op)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Allreduce_init_c / PMPI_Allreduce_init_c(sendbuf: *const c_void, recvbuf: *mut c_void,
        count: MPI_Count, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        prepare(plan::allreduce(&*member(comm)?, sendbuf, recvbuf, count, datatype, op)?, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Reduce_scatter_block_init / PMPI_Reduce_scatter_block_init(sendbuf: *const c_void,
        recvbuf: *mut c_void, recvcount: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::reduce_scatter_block(&*member(comm)?, sendbuf, recvbuf, recvcount.into(),
            datatype, op)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Reduce_scatter_block_init_c / PMPI_Reduce_scatter_block_init_c(sendbuf: *const c_void,
        recvbuf: *mut c_void, recvcount: MPI_Count, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::reduce_scatter_block(&*member(comm)?, sendbuf, recvbuf, recvcount, datatype,
            op)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Reduce_scatter_init / PMPI_Reduce_scatter_init(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcounts: In<c_int>, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::reduce_scatter(&*member(comm)?, sendbuf, recvbuf, recvcounts, datatype, op)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Reduce_scatter_init_c / PMPI_Reduce_scatter_init_c(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::reduce_scatter(&*member(comm)?, sendbuf, recvbuf, recvcounts, datatype, op)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Scan_init / PMPI_Scan_init(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>)
        raises comm => {
        hints(info)?;
        prepare(plan::scan(&*member(comm)?, sendbuf, recvbuf, count.into(), datatype, op)?, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Scan_init_c / PMPI_Scan_init_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>)
        raises comm => {
        hints(info)?;
        prepare(plan::scan(&*member(comm)?, sendbuf, recvbuf, count, datatype, op)?, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Exscan_init / PMPI_Exscan_init(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>)
        raises comm => {
        hints(info)?;
        prepare(plan::exscan(&*member(comm)?, sendbuf, recvbuf, count.into(), datatype, op)?, comm, request)
    }
    /// MPI-5.0 §6.13
    fn MPI_Exscan_init_c / PMPI_Exscan_init_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>)
        raises comm => {
        hints(info)?;
        prepare(plan::exscan(&*member(comm)?, sendbuf, recvbuf, count, datatype, op)?, comm, request)
    }
}

pub(crate) fn prepare(schedule: Schedule, comm: MPI_Comm, request: Out<MPI_Request>) -> Result<()> {
    persistent::prepare(Plan::Collective(schedule.repeated()), comm, request)
}
