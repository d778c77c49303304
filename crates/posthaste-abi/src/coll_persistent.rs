//! C functions for persistent collective communication (MPI-5.0 §6.13).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_int, c_void};

use crate::call::unsupported;
use crate::pointer::{In, Out};
use crate::types::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};

// Persistent collectives.
unsupported! {
    "6.13";
    fn MPI_Barrier_init / PMPI_Barrier_init(comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Bcast_init / PMPI_Bcast_init(buffer: *mut c_void, count: c_int, datatype: MPI_Datatype,
        root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Bcast_init_c / PMPI_Bcast_init_c(buffer: *mut c_void, count: MPI_Count, datatype: MPI_Datatype,
        root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Gather_init / PMPI_Gather_init(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Gather_init_c / PMPI_Gather_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Gatherv_init / PMPI_Gatherv_init(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>, recvtype: MPI_Datatype, root: c_int,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Gatherv_init_c / PMPI_Gatherv_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>, displs: In<MPI_Aint>,
        recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Scatter_init / PMPI_Scatter_init(sendbuf: *const c_void, sendcount: c_int, sendtype: MPI_Datatype,
        recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Scatter_init_c / PMPI_Scatter_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Scatterv_init / PMPI_Scatterv_init(sendbuf: *const c_void, sendcounts: In<c_int>,
        displs: In<c_int>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int,
        recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Scatterv_init_c / PMPI_Scatterv_init_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        displs: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count,
        recvtype: MPI_Datatype, root: c_int, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Allgather_init / PMPI_Allgather_init(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Allgather_init_c / PMPI_Allgather_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Allgatherv_init / PMPI_Allgatherv_init(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>, displs: In<c_int>,
        recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Allgatherv_init_c / PMPI_Allgatherv_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>, displs: In<MPI_Aint>,
        recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Alltoall_init / PMPI_Alltoall_init(sendbuf: *const c_void, sendcount: c_int,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: c_int, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Alltoall_init_c / PMPI_Alltoall_init_c(sendbuf: *const c_void, sendcount: MPI_Count,
        sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcount: MPI_Count, recvtype: MPI_Datatype,
        comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Alltoallv_init / PMPI_Alltoallv_init(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<c_int>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<c_int>, recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Alltoallv_init_c / PMPI_Alltoallv_init_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        sdispls: In<MPI_Aint>, sendtype: MPI_Datatype, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        rdispls: In<MPI_Aint>, recvtype: MPI_Datatype, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Alltoallw_init / PMPI_Alltoallw_init(sendbuf: *const c_void, sendcounts: In<c_int>,
        sdispls: In<c_int>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<c_int>,
        rdispls: In<c_int>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Alltoallw_init_c / PMPI_Alltoallw_init_c(sendbuf: *const c_void, sendcounts: In<MPI_Count>,
        sdispls: In<MPI_Aint>, sendtypes: In<MPI_Datatype>, recvbuf: *mut c_void, recvcounts: In<MPI_Count>,
        rdispls: In<MPI_Aint>, recvtypes: In<MPI_Datatype>, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Reduce_init / PMPI_Reduce_init(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, root: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Reduce_init_c / PMPI_Reduce_init_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, root: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Allreduce_init / PMPI_Allreduce_init(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Allreduce_init_c / PMPI_Allreduce_init_c(sendbuf: *const c_void, recvbuf: *mut c_void,
        count: MPI_Count, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Reduce_scatter_block_init / PMPI_Reduce_scatter_block_init(sendbuf: *const c_void,
        recvbuf: *mut c_void, recvcount: c_int, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Reduce_scatter_block_init_c / PMPI_Reduce_scatter_block_init_c(sendbuf: *const c_void,
        recvbuf: *mut c_void, recvcount: MPI_Count, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm,
        info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Reduce_scatter_init / PMPI_Reduce_scatter_init(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcounts: In<c_int>, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Reduce_scatter_init_c / PMPI_Reduce_scatter_init_c(sendbuf: *const c_void, recvbuf: *mut c_void,
        recvcounts: In<MPI_Count>, datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Scan_init / PMPI_Scan_init(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Scan_init_c / PMPI_Scan_init_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Exscan_init / PMPI_Exscan_init(sendbuf: *const c_void, recvbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
    fn MPI_Exscan_init_c / PMPI_Exscan_init_c(sendbuf: *const c_void, recvbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, info: MPI_Info, request: Out<MPI_Request>);
}
