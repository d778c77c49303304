//! What MPICH's modules have besides routines, under the names that gfortran and Intel's compilers give procedures of modules: those
//! that compare handles, the callbacks of `mpi_f08`, conversions of statuses, and sizes of variables.

use crate::abi::STATUS_SIZE;
use crate::argument::{Address, Integer, report};
use crate::attribute::{copies, copies_nothing, deletes_nothing};
use crate::datarep::converts;
use crate::export::export;

macro_rules! in_module {
    ($module:literal $stem:expr, $($rest:tt)*) => {
        export! {
            [concat!("__", $module, "_MOD_mpi_", $stem), concat!($module, "_mp_mpi_", $stem, "_")] $($rest)*
        }
    };
}

macro_rules! comparisons {
    ($($handle:literal)*) => {$(
        comparisons! { @ "_eq" "_f08_eq_f" "_f_eq_f08", $handle, == }
        comparisons! { @ "_neq" "_f08_neq_f" "_f_neq_f08" "_f08_ne_f" "_f_ne_f08", $handle, != }
        of_constants! { $handle "eq" ==, "neq" != }
    )*};
    (@ $($end:literal)*, $handle:literal, $operator:tt) => {
        comparisons! { @@ $operator $handle $($end)* }
    };
    (@@ $operator:tt $handle:literal $first:literal $($more:literal)*) => {
        in_module! {
            "mpi_f08_types" concat!($handle, $first), (a: *const Integer, b: *const Integer) [-> Integer] {
                // SAFETY: there are two handles, or one and its number.
                unsafe { Integer::from(*a $operator *b) }
            }
        }
        comparisons! { @@ $operator $handle $($more)* }
    };
    (@@ $operator:tt $handle:literal) => {};
}

/// The types of handles that the module `mpi` of MPICH has.
macro_rules! of_constants {
    ($handle:literal $($end:literal $operator:tt),*) => {$(
        export! {
            [concat!("__mpi_constants_MOD_", $handle, $end), concat!("mpi_constants_mp_", $handle, $end, "_")]
            (a: *const Integer, b: *const Integer) [-> Integer] {
                // SAFETY: there are two handles.
                unsafe { Integer::from(*a $operator *b) }
            }
        }
    )*};
}

comparisons! {
    "comm" "datatype" "errhandler" "file" "group" "info" "message" "op" "request" "session" "win"
}

macro_rules! copying {
    ($($stem:literal $body:ident)*) => {$(
        in_module! {
            "mpi_f08_callbacks" $stem, (of: *const Integer, keyval: *const Integer, extra_state: *const isize,
                value: *const isize, out: *mut isize, flag: *mut Integer, ierror: *mut Integer) [] {
                // SAFETY: the arguments are those of a copy function.
                unsafe { $body(of, keyval, extra_state, value, out, flag, ierror) }
            }
        }
    )*};
}

copying! {
    "comm_dup_fn" copies "type_dup_fn" copies "win_dup_fn" copies
    "comm_null_copy_fn" copies_nothing "type_null_copy_fn" copies_nothing "win_null_copy_fn" copies_nothing
}

macro_rules! deleting {
    ($($stem:literal)*) => {$(
        in_module! {
            "mpi_f08_callbacks" $stem, (of: *const Integer, keyval: *const Integer, value: *const isize,
                extra_state: *const isize, ierror: *mut Integer) [] {
                // SAFETY: the arguments are those of a delete function.
                unsafe { deletes_nothing(of, keyval, value, extra_state, ierror) }
            }
        }
    )*};
}

deleting! { "comm_null_delete_fn" "type_null_delete_fn" "win_null_delete_fn" }

macro_rules! conversions {
    ($($stem:literal $count:ty;)*) => {$(
        in_module! {
            "mpi_f08_callbacks" $stem, (userbuf: Address, datatype: *const Integer, count: *const $count,
                filebuf: Address, position: *const i64, extra_state: *const isize, ierror: *mut Integer) [] {
                let _ = (userbuf, datatype, count, filebuf, position, extra_state);
                // SAFETY: the arguments are those of a conversion.
                unsafe { converts(ierror) }
            }
        }
    )*};
}

conversions! { "conversion_fn_null" Integer; "conversion_fn_null_c" i64; }

macro_rules! statuses {
    ($($stem:literal)*) => {$(
        in_module! {
            "mpi_f08_types" $stem,
            (from: *const [Integer; STATUS_SIZE], to: *mut [Integer; STATUS_SIZE], ierror: *mut Integer) [] {
                // SAFETY: there are two statuses.
                unsafe {
                    *to = *from;
                    report(ierror, 0);
                }
            }
        }
    )*};
}

statuses! { "status_f082f" "status_f2f08" }

macro_rules! sizes {
    ($($module:literal $stem:literal $size:literal;)*) => {$(
        in_module! {
            $module concat!("sizeof_", $stem), (_variable: Address, size: *mut Integer, ierror: *mut Integer) [] {
                // SAFETY: there is an INTEGER for the size.
                unsafe {
                    *size = $size;
                    report(ierror, 0);
                }
            }
        }
    )*};
}

sizes! {
    "mpi_sizeofs" "ch" 1; "mpi_sizeofs" "chv" 1; "mpi_sizeofs" "l" 4; "mpi_sizeofs" "lv" 4;
    "mpi_sizeofs" "i" 4; "mpi_sizeofs" "iv" 4; "mpi_sizeofs" "i1" 1; "mpi_sizeofs" "i1v" 1;
    "mpi_sizeofs" "i2" 2; "mpi_sizeofs" "i2v" 2; "mpi_sizeofs" "i8" 8; "mpi_sizeofs" "i8v" 8;
    "mpi_sizeofs" "r" 4; "mpi_sizeofs" "rv" 4; "mpi_sizeofs" "d" 8; "mpi_sizeofs" "dv" 8;
    "mpi_sizeofs" "cx" 8; "mpi_sizeofs" "cxv" 8;
    "mpi_f08_types" "character" 1; "mpi_f08_types" "logical" 4;
    "mpi_f08_types" "xint8" 1; "mpi_f08_types" "xint16" 2; "mpi_f08_types" "xint32" 4; "mpi_f08_types" "xint64" 8;
    "mpi_f08_types" "xreal32" 4; "mpi_f08_types" "xreal64" 8; "mpi_f08_types" "xreal128" 16;
    "mpi_f08_types" "xcomplex32" 8; "mpi_f08_types" "xcomplex64" 16; "mpi_f08_types" "xcomplex128" 32;
}
