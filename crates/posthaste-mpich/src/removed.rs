//! Functions that MPI-3.0 removed (MPI-5.0 chapter 17), and what MPICH has besides the standard that programs look for.

use std::ffi::{c_int, c_void};

use crate::abi::types::{MPI_Aint, MPI_Comm, MPI_Comm_errhandler_function, MPI_Datatype, MPI_Errhandler};
use crate::call::mpi_fn;
use crate::datatype::derived::{
    PMPI_Type_create_hindexed, PMPI_Type_create_hvector, PMPI_Type_create_struct,
};
use crate::env::errhandler::{
    PMPI_Comm_create_errhandler, PMPI_Comm_get_errhandler, PMPI_Comm_set_errhandler,
};
use crate::env::init::PMPI_Get_address;
use crate::object::datatype::find;
use crate::object::site::Site;
use crate::{In, Out};

mpi_fn! {
    /// Replaced by `MPI_Get_address`.
    fn MPI_Address / PMPI_Address(location: *const c_void, address: Out<MPI_Aint>) -> c_int {
        PMPI_Get_address(location, address)
    }
    /// Replaced by `MPI_Type_create_hindexed`.
    fn MPI_Type_hindexed / PMPI_Type_hindexed(count: c_int, array_of_blocklengths: In<c_int>,
        array_of_displacements: In<MPI_Aint>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>) -> c_int {
        PMPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype)
    }
    /// Replaced by `MPI_Type_create_hvector`.
    fn MPI_Type_hvector / PMPI_Type_hvector(count: c_int, blocklength: c_int, stride: MPI_Aint,
        oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>) -> c_int {
        PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype)
    }
    /// Replaced by `MPI_Type_create_struct`.
    fn MPI_Type_struct / PMPI_Type_struct(count: c_int, array_of_blocklengths: In<c_int>,
        array_of_displacements: In<MPI_Aint>, array_of_types: In<MPI_Datatype>, newtype: Out<MPI_Datatype>)
        -> c_int {
        PMPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype)
    }
    /// Replaced by `MPI_Type_get_extent`.
    fn MPI_Type_extent / PMPI_Type_extent(datatype: MPI_Datatype, extent: Out<MPI_Aint>) raises Site::Process => {
        extent.set("extent", find("datatype", datatype)?.extent() as MPI_Aint)
    }
    /// Replaced by `MPI_Type_get_extent`.
    fn MPI_Type_lb / PMPI_Type_lb(datatype: MPI_Datatype, displacement: Out<MPI_Aint>) raises Site::Process => {
        displacement.set("displacement", find("datatype", datatype)?.lb() as MPI_Aint)
    }
    /// Replaced by `MPI_Type_get_extent`.
    fn MPI_Type_ub / PMPI_Type_ub(datatype: MPI_Datatype, displacement: Out<MPI_Aint>) raises Site::Process => {
        let datatype = find("datatype", datatype)?;
        displacement.set("displacement", (datatype.lb() + datatype.extent()) as MPI_Aint)
    }
    /// Replaced by `MPI_Comm_create_errhandler`.
    fn MPI_Errhandler_create / PMPI_Errhandler_create(function: MPI_Comm_errhandler_function,
        errhandler: Out<MPI_Errhandler>) -> c_int {
        PMPI_Comm_create_errhandler(function, errhandler)
    }
    /// Replaced by `MPI_Comm_set_errhandler`.
    fn MPI_Errhandler_set / PMPI_Errhandler_set(comm: MPI_Comm, errhandler: MPI_Errhandler) -> c_int {
        PMPI_Comm_set_errhandler(comm, errhandler)
    }
    /// Replaced by `MPI_Comm_get_errhandler`.
    fn MPI_Errhandler_get / PMPI_Errhandler_get(comm: MPI_Comm, errhandler: Out<MPI_Errhandler>) -> c_int {
        PMPI_Comm_get_errhandler(comm, errhandler)
    }
    /// Whether buffers may lie in the memory of a device.
    fn MPIX_Query_cuda_support / PMPIX_Query_cuda_support() -> c_int {
        0
    }
    /// Whether buffers may lie in the memory of a device.
    fn MPIX_Query_hip_support / PMPIX_Query_hip_support() -> c_int {
        0
    }
    /// Whether buffers may lie in the memory of a device.
    fn MPIX_Query_ze_support / PMPIX_Query_ze_support() -> c_int {
        0
    }
}

/// `MPI_DUP_FN` and its kin: an attribute goes to the copy of its object as it is (MPI-5.0 §7.7.2).
///
/// # Safety
/// The last two are valid for writing, as the standard wants it of whoever calls such a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIR_Dup_fn(
    _object: c_int,
    _keyval: c_int,
    _extra_state: *mut c_void,
    value_in: *mut c_void,
    value_out: *mut c_void,
    flag: *mut c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        value_out.cast::<*mut c_void>().write(value_in);
        flag.write(1);
    }
    crate::abi::constants::MPI_SUCCESS
}
