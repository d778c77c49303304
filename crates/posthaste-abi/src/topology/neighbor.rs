//! C functions for neighbourhood collectives (MPI-5.0 §8.6 to §8.8). Three blocks: blocking, nonblocking, persistent.

use std::ffi::{c_int, c_void};

use super::plan;
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Request};
use crate::call::mpi_fn;
use crate::coll::blocking::run;
use crate::coll::nonblocking::begin;
use crate::coll::persistent::prepare;
use crate::coll::plan::member;
use crate::object::info::hints;

// Blocking.
mpi_fn! {
    /// MPI-5.0 §8.6
    fn MPI_Neighbor_allgather / PMPI_Neighbor_allgather(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm) raises comm => {
        let schedule = plan::allgather(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype)?;
        run(schedule)
    }
    /// MPI-5.0 §8.6
    fn MPI_Neighbor_allgather_c / PMPI_Neighbor_allgather_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm) raises comm => {
        run(plan::allgather(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)?)
    }
    /// MPI-5.0 §8.6
    fn MPI_Neighbor_allgatherv / PMPI_Neighbor_allgatherv(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>,
        recvtype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcounts, displs, recvtype)?;
        run(schedule)
    }
    /// MPI-5.0 §8.6
    fn MPI_Neighbor_allgatherv_c / PMPI_Neighbor_allgatherv_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>, displs: In<MPI_Aint>,
        recvtype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
            displs, recvtype)?;
        run(schedule)
    }
    /// MPI-5.0 §8.6
    fn MPI_Neighbor_alltoall / PMPI_Neighbor_alltoall(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm) raises comm => {
        let schedule = plan::alltoall(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype)?;
        run(schedule)
    }
    /// MPI-5.0 §8.6
    fn MPI_Neighbor_alltoall_c / PMPI_Neighbor_alltoall_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm) raises comm => {
        run(plan::alltoall(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)?)
    }
    /// MPI-5.0 §8.6
    fn MPI_Neighbor_alltoallv / PMPI_Neighbor_alltoallv(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<c_int>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<c_int>, recvtype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        run(schedule)
    }
    /// MPI-5.0 §8.6
    fn MPI_Neighbor_alltoallv_c / PMPI_Neighbor_alltoallv_c(sendbuf: *const c_void,
        sendcounts: In<MPI_Count>, sdispls: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, rdispls: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm)
        raises comm => {
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        run(schedule)
    }
    /// MPI-5.0 §8.6
    fn MPI_Neighbor_alltoallw / PMPI_Neighbor_alltoallw(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm) raises comm => {
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        run(schedule)
    }
    /// MPI-5.0 §8.6
    fn MPI_Neighbor_alltoallw_c / PMPI_Neighbor_alltoallw_c(sendbuf: *const c_void,
        sendcounts: In<MPI_Count>, sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm)
        raises comm => {
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        run(schedule)
    }
}

// Nonblocking.
mpi_fn! {
    /// MPI-5.0 §8.7
    fn MPI_Ineighbor_allgather / PMPI_Ineighbor_allgather(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::allgather(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §8.7
    fn MPI_Ineighbor_allgather_c / PMPI_Ineighbor_allgather_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::allgather(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §8.7
    fn MPI_Ineighbor_allgatherv / PMPI_Ineighbor_allgatherv(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>,
        recvtype: MPI_Datatype, comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcounts, displs, recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §8.7
    fn MPI_Ineighbor_allgatherv_c / PMPI_Ineighbor_allgatherv_c(sendbuf: *const c_void,
        sendcount: MPI_Count, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        displs: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm, request: Out<MPI_Request>)
        raises comm => {
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
            displs, recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §8.7
    fn MPI_Ineighbor_alltoall / PMPI_Ineighbor_alltoall(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::alltoall(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §8.7
    fn MPI_Ineighbor_alltoall_c / PMPI_Ineighbor_alltoall_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm, request: Out<MPI_Request>) raises comm => {
        let schedule = plan::alltoall(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §8.7
    fn MPI_Ineighbor_alltoallv / PMPI_Ineighbor_alltoallv(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<c_int>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<c_int>, recvtype: MPI_Datatype, comm: MPI_Comm, request: Out<MPI_Request>)
        raises comm => {
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §8.7
    fn MPI_Ineighbor_alltoallv_c / PMPI_Ineighbor_alltoallv_c(sendbuf: *const c_void,
        sendcounts: In<MPI_Count>, sdispls: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, rdispls: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §8.7
    fn MPI_Ineighbor_alltoallw / PMPI_Ineighbor_alltoallw(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm, request: Out<MPI_Request>)
        raises comm => {
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        begin(schedule, comm, request)
    }
    /// MPI-5.0 §8.7
    fn MPI_Ineighbor_alltoallw_c / PMPI_Ineighbor_alltoallw_c(sendbuf: *const c_void,
        sendcounts: In<MPI_Count>, sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm,
        request: Out<MPI_Request>) raises comm => {
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        begin(schedule, comm, request)
    }
}

// Persistent. The hints have no effect.
mpi_fn! {
    /// MPI-5.0 §8.8
    fn MPI_Neighbor_allgather_init / PMPI_Neighbor_allgather_init(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::allgather(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §8.8
    fn MPI_Neighbor_allgather_init_c / PMPI_Neighbor_allgather_init_c(sendbuf: *const c_void,
        sendcount: MPI_Count, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count,
        recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::allgather(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §8.8
    fn MPI_Neighbor_allgatherv_init / PMPI_Neighbor_allgatherv_init(sendbuf: *const c_void,
        sendcount: c_int, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>,
        displs: In<c_int>, recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcounts, displs, recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §8.8
    fn MPI_Neighbor_allgatherv_init_c / PMPI_Neighbor_allgatherv_init_c(sendbuf: *const c_void,
        sendcount: MPI_Count, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        displs: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::allgatherv(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
            displs, recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §8.8
    fn MPI_Neighbor_alltoall_init / PMPI_Neighbor_alltoall_init(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoall(&*member(comm)?, sendbuf, sendcount.into(), sendtype, recvbuf,
            recvcount.into(), recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §8.8
    fn MPI_Neighbor_alltoall_init_c / PMPI_Neighbor_alltoall_init_c(sendbuf: *const c_void,
        sendcount: MPI_Count, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count,
        recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoall(&*member(comm)?, sendbuf, sendcount, sendtype, recvbuf, recvcount,
            recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §8.8
    fn MPI_Neighbor_alltoallv_init / PMPI_Neighbor_alltoallv_init(sendbuf: *const c_void,
        sendcounts: In<c_int>, sdispls: In<c_int>, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcounts: In<c_int>, rdispls: In<c_int>, recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §8.8
    fn MPI_Neighbor_alltoallv_init_c / PMPI_Neighbor_alltoallv_init_c(sendbuf: *const c_void,
        sendcounts: In<MPI_Count>, sdispls: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, rdispls: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoallv(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
            recvcounts, rdispls, recvtype)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §8.8
    fn MPI_Neighbor_alltoallw_init / PMPI_Neighbor_alltoallw_init(sendbuf: *const c_void,
        sendcounts: In<c_int>, sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void,
        recvcounts: In<c_int>, rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        prepare(schedule, comm, request)
    }
    /// MPI-5.0 §8.8
    fn MPI_Neighbor_alltoallw_init_c / PMPI_Neighbor_alltoallw_init_c(sendbuf: *const c_void,
        sendcounts: In<MPI_Count>, sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>) raises comm => {
        hints(info)?;
        let schedule = plan::alltoallw(&*member(comm)?, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
            recvcounts, rdispls, recvtypes)?;
        prepare(schedule, comm, request)
    }
}
