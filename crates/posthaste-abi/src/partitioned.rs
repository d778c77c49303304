//! C functions for partitioned communication (MPI-5.0 chapter 4).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.
//!
//! Some headers for this ABI pass the count of `MPI_Psend_init` and `MPI_Precv_init` as a 64-bit integer. The
//! standard says `int`; read as one, the low half of what they pass is the same count.

use std::ffi::{c_int, c_void};

use crate::call::unsupported;
use crate::pointer::{In, Out};
use crate::types::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Request};

// Partitioned communication.
unsupported! {
    "4.2";
    fn MPI_Psend_init / PMPI_Psend_init(buf: *const c_void, partitions: c_int, count: c_int,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Psend_init_c / PMPI_Psend_init_c(buf: *const c_void, partitions: c_int, count: MPI_Count,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Precv_init / PMPI_Precv_init(buf: *mut c_void, partitions: c_int, count: c_int,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Precv_init_c / PMPI_Precv_init_c(buf: *mut c_void, partitions: c_int, count: MPI_Count,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>);
    fn MPI_Pready / PMPI_Pready(partition: c_int, request: MPI_Request);
    fn MPI_Pready_range / PMPI_Pready_range(partition_low: c_int, partition_high: c_int,
        request: MPI_Request);
    fn MPI_Pready_list / PMPI_Pready_list(length: c_int, array_of_partitions: In<c_int>,
        request: MPI_Request);
    fn MPI_Parrived / PMPI_Parrived(request: MPI_Request, partition: c_int, flag: Out<c_int>);
}
