//! The start, the clock, and what a program asks about its own memory and statuses (MPI-5.0 §11, §19.1, §19.3).

use std::ptr::null_mut;

use crate::abi::STATUS_SIZE;
use crate::argument::{Address, Integer, report};
use crate::c;
use crate::names::named;
use crate::routine::routine;
use crate::section::{Choice, element};

routine! {
    plain "init" MPI_Init PMPI_Init, as call (ierror: *mut Integer) {
        report(ierror, call(null_mut(), null_mut()));
    }
}

routine! {
    plain "init_thread" MPI_Init_thread PMPI_Init_thread,
    as call (required: *const Integer, provided: *mut Integer, ierror: *mut Integer) {
        report(ierror, call(null_mut(), null_mut(), *required, provided.cast()));
    }
}

routine! {
    plain "pcontrol" MPI_Pcontrol PMPI_Pcontrol,
    as call (level: *const Integer) {
        call(*level);
    }
}

routine! {
    descriptor "sizeof" MPI_Wtime PMPI_Wtime, as _call (variable: Choice, size: *mut Integer, ierror: *mut Integer) {
        *size = element(variable) as Integer;
        report(ierror, 0);
    }
}

macro_rules! functions {
    ($($stem:literal $c:ident $pc:ident ($($argument:ident),*) -> $result:ty;)*) => {$(
        named! {
            plain "mpi_" "mpi_" $stem ($($argument: *const isize),*) [-> $result] {
                // SAFETY: the program passes what the interface of the function says.
                unsafe { c::$c($(*$argument),*) }
            }
        }
        named! {
            plain "pmpi_" "pmpir_" $stem ($($argument: *const isize),*) [-> $result] {
                // SAFETY: as above.
                unsafe { c::$pc($(*$argument),*) }
            }
        }
    )*};
}

functions! {
    "wtime" MPI_Wtime PMPI_Wtime() -> f64;
    "wtick" MPI_Wtick PMPI_Wtick() -> f64;
    "aint_add" MPI_Aint_add PMPI_Aint_add(base, disp) -> isize;
    "aint_diff" MPI_Aint_diff PMPI_Aint_diff(addr1, addr2) -> isize;
}

macro_rules! nothing {
    ($($form:ident $start:literal $f08:literal)*) => {$(
        // MPI-5.0 §19.1.17: that it might read the buffer is all that it does.
        named! { $form $start $f08 "f_sync_reg" (_buf: Address) [] {} }
    )*};
}

nothing! { address "mpi_" "mpi_" address "pmpi_" "pmpir_" descriptor "mpi_" "mpi_" descriptor "pmpi_" "pmpir_" }

macro_rules! statuses {
    ($($stem:literal)*) => {$(
        routine! {
            plain $stem MPI_Wtime PMPI_Wtime, as _call
            (from: *const [Integer; STATUS_SIZE], to: *mut [Integer; STATUS_SIZE], ierror: *mut Integer) {
                *to = *from;
                report(ierror, 0);
            }
        }
    )*};
}

// A status is the same in all three interfaces.
statuses! { "status_f2f08" "status_f082f" }
