//! Handles and statuses as Fortran holds them (MPI-5.0 §19.3), which are functions of the library in this ABI, and the variables
//! that it exports.
//!
//! An integer of Fortran is a C `int`; a status has the same fields in the same order in C and in both forms of Fortran.

use std::ffi::c_int;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use posthaste_core::error::{Error, ErrorClass, Result};

use crate::abi::constants::{MPI_T_PVAR_ALL_HANDLES, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY};
use crate::abi::types::{
    MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File, MPI_Group, MPI_Info, MPI_Message, MPI_Op, MPI_Request,
    MPI_Session, MPI_Status, MPI_Win,
};
use crate::call::mpi_fn;
use crate::{In, Out};

macro_rules! handles {
    ($($ty:ident $c2f:ident / $pc2f:ident $f2c:ident / $pf2c:ident)*) => {
        mpi_fn! {$(
            /// MPI-5.0 §19.3.4
            fn $c2f / $pc2f(handle: $ty) -> c_int {
                handle.to_int()
            }
            /// MPI-5.0 §19.3.4
            fn $f2c / $pf2c(handle: c_int) -> $ty {
                $ty::from_int(handle)
            }
        )*}
    };
}

handles! {
    MPI_Comm MPI_Comm_c2f / PMPI_Comm_c2f MPI_Comm_f2c / PMPI_Comm_f2c
    MPI_Datatype MPI_Type_c2f / PMPI_Type_c2f MPI_Type_f2c / PMPI_Type_f2c
    MPI_Errhandler MPI_Errhandler_c2f / PMPI_Errhandler_c2f MPI_Errhandler_f2c / PMPI_Errhandler_f2c
    MPI_File MPI_File_c2f / PMPI_File_c2f MPI_File_f2c / PMPI_File_f2c
    MPI_Group MPI_Group_c2f / PMPI_Group_c2f MPI_Group_f2c / PMPI_Group_f2c
    MPI_Info MPI_Info_c2f / PMPI_Info_c2f MPI_Info_f2c / PMPI_Info_f2c
    MPI_Message MPI_Message_c2f / PMPI_Message_c2f MPI_Message_f2c / PMPI_Message_f2c
    MPI_Op MPI_Op_c2f / PMPI_Op_c2f MPI_Op_f2c / PMPI_Op_f2c
    MPI_Request MPI_Request_c2f / PMPI_Request_c2f MPI_Request_f2c / PMPI_Request_f2c
    MPI_Session MPI_Session_c2f / PMPI_Session_c2f MPI_Session_f2c / PMPI_Session_f2c
    MPI_Win MPI_Win_c2f / PMPI_Win_c2f MPI_Win_f2c / PMPI_Win_f2c
}

macro_rules! statuses {
    ($($name:ident / $pname:ident)*) => {
        mpi_fn! {$(
            /// MPI-5.0 §19.3.5
            fn $name / $pname(from: In<MPI_Status>, to: Out<MPI_Status>) anytime {
                none_is_ignored([from.address(), to.place().addr()])?;
                to.set("the status to be written", from.get("the status to be read")?)
            }
        )*}
    };
}

statuses! {
    MPI_Status_c2f / PMPI_Status_c2f
    MPI_Status_f2c / PMPI_Status_f2c
    MPI_Status_c2f08 / PMPI_Status_c2f08
    MPI_Status_f082c / PMPI_Status_f082c
    MPI_Status_f2f08 / PMPI_Status_f2f08
    MPI_Status_f082f / PMPI_Status_f082f
}

/// A pointer that programs read and never write.
#[repr(transparent)]
#[derive(Debug)]
pub struct Fixed(usize);

macro_rules! fixed {
    ($($name:ident = $value:expr;)*) => {$(
        #[doc = concat!("The variable `", stringify!($name), "`: an address that stands for something else.")]
        #[unsafe(no_mangle)]
        pub static $name: Fixed = Fixed($value);
    )*};
}

/// Under their own names, apart from the constants of `abi`.
pub mod variables {
    use super::Fixed;

    fixed! {
        MPI_UNWEIGHTED = super::MPI_UNWEIGHTED;
        MPI_WEIGHTS_EMPTY = super::MPI_WEIGHTS_EMPTY;
        MPI_T_PVAR_ALL_HANDLES = super::MPI_T_PVAR_ALL_HANDLES.0;
    }
}

macro_rules! written_by_fortran {
    ($($name:ident)*) => {$(
        #[doc = concat!("The variable `", stringify!($name), "`, which a Fortran binding sets.")]
        #[unsafe(no_mangle)]
        pub static $name: AtomicPtr<c_int> = AtomicPtr::new(std::ptr::null_mut());
    )*};
}

written_by_fortran! {
    MPI_F_STATUS_IGNORE MPI_F_STATUSES_IGNORE MPI_F08_STATUS_IGNORE MPI_F08_STATUSES_IGNORE
}

/// What the binding writes into those variables: programs have copies of them, of which this library does not hear.
#[unsafe(no_mangle)]
pub static posthaste_ignored_statuses: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];

/// A status that is ignored is an error (MPI-5.0 §19.3.5).
fn none_is_ignored(statuses: [usize; 2]) -> Result<()> {
    let is_ignored = |address: usize| {
        address != 0 && posthaste_ignored_statuses.iter().any(|ignored| ignored.load(Relaxed) == address)
    };
    match statuses.into_iter().any(is_ignored) {
        true => Err(Error::invalid(ErrorClass::Arg, "status", "one that is ignored", "one that is not")),
        false => Ok(()),
    }
}
