//! C functions for what the ABI says about itself (MPI-5.0 chapter 20).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_int, c_void};

use crate::call::{mpi_fn, unsupported};
use crate::constants::{MPI_ABI_SUBVERSION, MPI_ABI_VERSION};
use crate::pointer::Out;
use crate::types::MPI_Info;

// Versions, facts and Fortran.
unsupported! {
    "20";
    fn MPI_Abi_get_info / PMPI_Abi_get_info(info: Out<MPI_Info>);
    fn MPI_Abi_get_fortran_info / PMPI_Abi_get_fortran_info(info: Out<MPI_Info>);
    fn MPI_Abi_set_fortran_info / PMPI_Abi_set_fortran_info(info: MPI_Info);
    fn MPI_Abi_get_fortran_booleans / PMPI_Abi_get_fortran_booleans(logical_size: c_int,
        logical_true: *mut c_void, logical_false: *mut c_void, is_set: Out<c_int>);
    fn MPI_Abi_set_fortran_booleans / PMPI_Abi_set_fortran_booleans(logical_size: c_int,
        logical_true: *mut c_void, logical_false: *mut c_void);
}

mpi_fn! {
    /// MPI-5.0 chapter 20
    fn MPI_Abi_get_version / PMPI_Abi_get_version(abi_major: Out<c_int>, abi_minor: Out<c_int>) anytime {
        abi_major.set("abi_major", MPI_ABI_VERSION)?;
        abi_minor.set("abi_minor", MPI_ABI_SUBVERSION)
    }
}
