//! Routines that MPI-3.0 removed (MPI-5.0 chapter 17), in which addresses are INTEGERs: each is the one that replaced it.

use crate::argument::{Address, Few, Handle, Integer, handle, handles, number, place, report};
use crate::routine::routine;

routine! {
    plain "address" MPI_Get_address PMPI_Get_address, as call
    (location: Address, address: *mut Integer, ierror: *mut Integer) {
        let mut c_address = 0_isize;
        let code = call(place(location), (&raw mut c_address).cast());
        *address = c_address as Integer;
        report(ierror, code);
    }
}

/// The lower bound and the extent of a datatype.
struct Bounds(isize, isize);

macro_rules! bounds {
    ($($stem:literal $chosen:expr;)*) => {$(
        routine! {
            plain $stem MPI_Type_get_extent PMPI_Type_get_extent, as call
            (datatype: *const Integer, bytes: *mut Integer, ierror: *mut Integer) {
                let (mut lb, mut extent) = (0_isize, 0_isize);
                let code = call(handle(datatype), (&raw mut lb).cast(), (&raw mut extent).cast());
                let chosen: fn(Bounds) -> isize = $chosen;
                *bytes = chosen(Bounds(lb, extent)) as Integer;
                report(ierror, code);
            }
        }
    )*};
}

bounds! {
    "type_extent" |bounds| bounds.1;
    "type_lb" |bounds| bounds.0;
    "type_ub" |bounds| bounds.0 + bounds.1;
}

/// Displacements as C has them.
///
/// # Safety
/// There are `count` INTEGERs, or it is not positive.
unsafe fn displacements(from: *const Integer, count: Integer) -> Vec<isize> {
    // SAFETY: as promised.
    (0..usize::try_from(count).unwrap_or(0)).map(|at| unsafe { *from.add(at) as isize }).collect()
}

routine! {
    plain "type_hvector" MPI_Type_create_hvector PMPI_Type_create_hvector, as call
    (count: *const Integer, blocklength: *const Integer, stride: *const Integer, oldtype: *const Integer,
        newtype: *mut Integer, ierror: *mut Integer) {
        let mut made: Handle = 0;
        let code = call(*count, *blocklength, *stride as isize, handle(oldtype), (&raw mut made).cast());
        *newtype = number(made);
        report(ierror, code);
    }
}

routine! {
    plain "type_hindexed" MPI_Type_create_hindexed PMPI_Type_create_hindexed, as call
    (count: *const Integer, blocklengths: Address, places: *const Integer, oldtype: *const Integer,
        newtype: *mut Integer, ierror: *mut Integer) {
        let places = displacements(places, *count);
        let mut made: Handle = 0;
        let code = call(*count, blocklengths, places.as_ptr() as Address, handle(oldtype), (&raw mut made).cast());
        *newtype = number(made);
        report(ierror, code);
    }
}

routine! {
    plain "type_struct" MPI_Type_create_struct PMPI_Type_create_struct, as call
    (count: *const Integer, blocklengths: Address, places: *const Integer, types: *const Integer,
        newtype: *mut Integer, ierror: *mut Integer) {
        let places = displacements(places, *count);
        let mut few = Few::new();
        let mut types = handles(&mut few, types, *count);
        let mut made: Handle = 0;
        let code =
            call(*count, blocklengths, places.as_ptr() as Address, types.address(), (&raw mut made).cast());
        *newtype = number(made);
        report(ierror, code);
    }
}

routine! {
    plain "errhandler_create" MPI_Comm_create_errhandler PMPI_Comm_create_errhandler, as call
    (function: Address, errhandler: *mut Integer, ierror: *mut Integer) {
        let mut made: Handle = 0;
        let code = call(function, (&raw mut made).cast());
        *errhandler = number(made);
        report(ierror, code);
    }
}

routine! {
    plain "errhandler_set" MPI_Comm_set_errhandler PMPI_Comm_set_errhandler, as call
    (comm: *const Integer, errhandler: *const Integer, ierror: *mut Integer) {
        report(ierror, call(handle(comm), handle(errhandler)));
    }
}

routine! {
    plain "errhandler_get" MPI_Comm_get_errhandler PMPI_Comm_get_errhandler, as call
    (comm: *const Integer, errhandler: *mut Integer, ierror: *mut Integer) {
        let mut found: Handle = 0;
        let code = call(handle(comm), (&raw mut found).cast());
        *errhandler = number(found);
        report(ierror, code);
    }
}
