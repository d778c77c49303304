//! C functions for neighbourhood collectives (MPI-5.0 §8.6 to §8.8).

use std::ffi::{c_int, c_void};

use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Request};
use crate::call::unsupported;

// Blocking.
unsupported! {
    "8.6";
    fn MPI_Neighbor_allgather / PMPI_Neighbor_allgather(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm);
    fn MPI_Neighbor_allgather_c / PMPI_Neighbor_allgather_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm);
    fn MPI_Neighbor_allgatherv / PMPI_Neighbor_allgatherv(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>,
        recvtype: MPI_Datatype, comm: MPI_Comm);
    fn MPI_Neighbor_allgatherv_c / PMPI_Neighbor_allgatherv_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>, displs: In<MPI_Aint>,
        recvtype: MPI_Datatype, comm: MPI_Comm);
    fn MPI_Neighbor_alltoall / PMPI_Neighbor_alltoall(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm);
    fn MPI_Neighbor_alltoall_c / PMPI_Neighbor_alltoall_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm);
    fn MPI_Neighbor_alltoallv / PMPI_Neighbor_alltoallv(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<c_int>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<c_int>, recvtype: MPI_Datatype, comm: MPI_Comm);
    fn MPI_Neighbor_alltoallv_c / PMPI_Neighbor_alltoallv_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        sdispls: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        rdispls: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm);
    fn MPI_Neighbor_alltoallw / PMPI_Neighbor_alltoallw(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm);
    fn MPI_Neighbor_alltoallw_c / PMPI_Neighbor_alltoallw_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm);
}

// Nonblocking.
unsupported! {
    "8.7";
    fn MPI_Ineighbor_allgather / PMPI_Ineighbor_allgather(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, request: Out<MPI_Request>);
    fn MPI_Ineighbor_allgather_c / PMPI_Ineighbor_allgather_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm, request: Out<MPI_Request>);
    fn MPI_Ineighbor_allgatherv / PMPI_Ineighbor_allgatherv(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>,
        recvtype: MPI_Datatype, comm: MPI_Comm, request: Out<MPI_Request>);
    fn MPI_Ineighbor_allgatherv_c / PMPI_Ineighbor_allgatherv_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>, displs: In<MPI_Aint>,
        recvtype: MPI_Datatype, comm: MPI_Comm, request: Out<MPI_Request>);
    fn MPI_Ineighbor_alltoall / PMPI_Ineighbor_alltoall(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, request: Out<MPI_Request>);
    fn MPI_Ineighbor_alltoall_c / PMPI_Ineighbor_alltoall_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm, request: Out<MPI_Request>);
    fn MPI_Ineighbor_alltoallv / PMPI_Ineighbor_alltoallv(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<c_int>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<c_int>, recvtype: MPI_Datatype, comm: MPI_Comm, request: Out<MPI_Request>);
    fn MPI_Ineighbor_alltoallv_c / PMPI_Ineighbor_alltoallv_c(sendbuf: *const c_void,
        sendcounts: In<MPI_Count>, sdispls: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, rdispls: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm,
        request: Out<MPI_Request>);
    fn MPI_Ineighbor_alltoallw / PMPI_Ineighbor_alltoallw(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm, request: Out<MPI_Request>);
    fn MPI_Ineighbor_alltoallw_c / PMPI_Ineighbor_alltoallw_c(sendbuf: *const c_void,
        sendcounts: In<MPI_Count>, sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm,
        request: Out<MPI_Request>);
}

// Persistent.
unsupported! {
    "8.8";
    fn MPI_Neighbor_allgather_init / PMPI_Neighbor_allgather_init(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Neighbor_allgather_init_c / PMPI_Neighbor_allgather_init_c(sendbuf: *const c_void,
        sendcount: MPI_Count, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count,
        recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Neighbor_allgatherv_init / PMPI_Neighbor_allgatherv_init(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>,
        recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Neighbor_allgatherv_init_c / PMPI_Neighbor_allgatherv_init_c(sendbuf: *const c_void,
        sendcount: MPI_Count, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        displs: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Neighbor_alltoall_init / PMPI_Neighbor_alltoall_init(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Neighbor_alltoall_init_c / PMPI_Neighbor_alltoall_init_c(sendbuf: *const c_void,
        sendcount: MPI_Count, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count,
        recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Neighbor_alltoallv_init / PMPI_Neighbor_alltoallv_init(sendbuf: *const c_void,
        sendcounts: In<c_int>, sdispls: In<c_int>, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcounts: In<c_int>, rdispls: In<c_int>, recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Neighbor_alltoallv_init_c / PMPI_Neighbor_alltoallv_init_c(sendbuf: *const c_void,
        sendcounts: In<MPI_Count>, sdispls: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, rdispls: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Neighbor_alltoallw_init / PMPI_Neighbor_alltoallw_init(sendbuf: *const c_void,
        sendcounts: In<c_int>, sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void,
        recvcounts: In<c_int>, rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Neighbor_alltoallw_init_c / PMPI_Neighbor_alltoallw_init_c(sendbuf: *const c_void,
        sendcounts: In<MPI_Count>, sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>);
}
