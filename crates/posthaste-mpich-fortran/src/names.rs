//! The names that compilers give the routines, and those that `mpi_f08` of MPICH has for its own. The forms are those of
//! `posthaste-fortran`. With long counts MPICH and Intel MPI have names of their own.
//!
//! What must stay true: a routine that is exported is called as MPICH's is.

/// `named! { form "mpi_" "mpi_" "x" (arguments) [-> result] { body } }`, with the beginnings of names, the second one of those that
/// only `mpi_f08` has.
macro_rules! named {
    (plain $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! {
            [concat!($start, $stem, "_"), concat!($start, $stem, "__"), concat!($f08, $stem, "_f08_")] $($rest)*
        }
    };
    (c_pointer $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! {
            [
                concat!($start, $stem, "_"), concat!($start, $stem, "__"), concat!($start, $stem, "_cptr_"),
                concat!($start, $stem, "_cptr__"), concat!($f08, $stem, "_f08_")
            ] $($rest)*
        }
    };
    (address $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! { [concat!($start, $stem, "_"), concat!($start, $stem, "__")] $($rest)* }
    };
    (descriptor $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! { [concat!($f08, $stem, "_f08ts_")] $($rest)* }
    };
    (lengths $($rest:tt)*) => { $crate::names::named! { descriptor $($rest)* } };
    (pointer $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! { [concat!($f08, $stem, "_f08_")] $($rest)* }
    };
    (text $($rest:tt)*) => {};
    (large_plain $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! { [concat!($f08, $stem, "_f08_large_"), concat!($f08, $stem, "_c_f08_")] $($rest)* }
    };
    (large_pointer $($rest:tt)*) => { $crate::names::named! { large_plain $($rest)* } };
    (large_descriptor $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! { [concat!($f08, $stem, "_f08ts_large_"), concat!($f08, $stem, "_c_f08ts_")] $($rest)* }
    };
    (large_lengths $($rest:tt)*) => { $crate::names::named! { large_descriptor $($rest)* } };
    (large_text $($rest:tt)*) => {};
}

pub(crate) use named;
