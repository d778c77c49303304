//! C functions for pack and unpack (MPI-5.0 §5.2, §5.3).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_char, c_int, c_void};

use crate::call::unsupported;
use crate::pointer::{In, Out};
use crate::types::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype};

// Pack and unpack.
unsupported! {
    "5.2";
    fn MPI_Pack / PMPI_Pack(inbuf: *const c_void, incount: c_int, datatype: MPI_Datatype, outbuf: *mut c_void,
        outsize: c_int, position: Out<c_int>, comm: MPI_Comm);
    fn MPI_Pack_c / PMPI_Pack_c(inbuf: *const c_void, incount: MPI_Count, datatype: MPI_Datatype,
        outbuf: *mut c_void, outsize: MPI_Count, position: Out<MPI_Count>, comm: MPI_Comm);
    fn MPI_Unpack / PMPI_Unpack(inbuf: *const c_void, insize: c_int, position: Out<c_int>,
        outbuf: *mut c_void, outcount: c_int, datatype: MPI_Datatype, comm: MPI_Comm);
    fn MPI_Unpack_c / PMPI_Unpack_c(inbuf: *const c_void, insize: MPI_Count, position: Out<MPI_Count>,
        outbuf: *mut c_void, outcount: MPI_Count, datatype: MPI_Datatype, comm: MPI_Comm);
    fn MPI_Pack_size / PMPI_Pack_size(incount: c_int, datatype: MPI_Datatype, comm: MPI_Comm,
        size: Out<c_int>);
    fn MPI_Pack_size_c / PMPI_Pack_size_c(incount: MPI_Count, datatype: MPI_Datatype, comm: MPI_Comm,
        size: Out<MPI_Count>);
}

// Canonical pack and unpack.
unsupported! {
    "5.3";
    fn MPI_Pack_external / PMPI_Pack_external(datarep: In<c_char>, inbuf: *const c_void, incount: c_int,
        datatype: MPI_Datatype, outbuf: *mut c_void, outsize: MPI_Aint, position: Out<MPI_Aint>);
    fn MPI_Pack_external_c / PMPI_Pack_external_c(datarep: In<c_char>, inbuf: *const c_void,
        incount: MPI_Count, datatype: MPI_Datatype, outbuf: *mut c_void, outsize: MPI_Count,
        position: Out<MPI_Count>);
    fn MPI_Unpack_external / PMPI_Unpack_external(datarep: In<c_char>, inbuf: *const c_void, insize: MPI_Aint,
        position: Out<MPI_Aint>, outbuf: *mut c_void, outcount: c_int, datatype: MPI_Datatype);
    fn MPI_Unpack_external_c / PMPI_Unpack_external_c(datarep: In<c_char>, inbuf: *const c_void,
        insize: MPI_Count, position: Out<MPI_Count>, outbuf: *mut c_void, outcount: MPI_Count,
        datatype: MPI_Datatype);
    fn MPI_Pack_external_size / PMPI_Pack_external_size(datarep: In<c_char>, incount: c_int,
        datatype: MPI_Datatype, size: Out<MPI_Aint>);
    fn MPI_Pack_external_size_c / PMPI_Pack_external_size_c(datarep: In<c_char>, incount: MPI_Count,
        datatype: MPI_Datatype, size: Out<MPI_Count>);
}
