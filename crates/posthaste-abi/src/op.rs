//! C functions for reduction operations (MPI-5.0 §6.9).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_int, c_void};

use crate::call::unsupported;
use crate::pointer::Out;
use crate::types::{MPI_Count, MPI_Datatype, MPI_Op, MPI_User_function, MPI_User_function_c};

// Operations.
unsupported! {
    "6.9";
    fn MPI_Op_create / PMPI_Op_create(user_fn: MPI_User_function, commute: c_int, op: Out<MPI_Op>);
    fn MPI_Op_create_c / PMPI_Op_create_c(user_fn: MPI_User_function_c, commute: c_int, op: Out<MPI_Op>);
    fn MPI_Op_free / PMPI_Op_free(op: Out<MPI_Op>);
    fn MPI_Op_commutative / PMPI_Op_commutative(op: MPI_Op, commute: Out<c_int>);
    fn MPI_Reduce_local / PMPI_Reduce_local(inbuf: *const c_void, inoutbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op);
    fn MPI_Reduce_local_c / PMPI_Reduce_local_c(inbuf: *const c_void, inoutbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op);
}
