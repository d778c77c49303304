//! The names that compilers give the routines, and those to which `mpi_f08` binds what differs there.
//!
//! The forms: `plain` is the same in all interfaces; `c_pointer`, too, but `mpi` has it under a second name besides, with the address
//! that C gives as TYPE(C_PTR) (MPI-5.0 §9.2); `address` is for `mpif.h` and `mpi` alone; `descriptor` for `mpi_f08`, with choice
//! buffers, `text` with a text besides, which is a descriptor as well; `lengths` is for an ABI where that comes with its length;
//! `pointer` for `mpi_f08`, with an address that C gives. The same with `large_` are for `mpi_f08`, with long counts.

/// `named! { form "mpi_" "mpi_" "x" (arguments) [-> result] { body } }`, with the beginnings of names, the second one of those that
/// only `mpi_f08` has. The second name of a routine is what gfortran's option -fsecond-underscore makes; one that is bound to its
/// name has only one.
macro_rules! named {
    (plain $($rest:tt)*) => { $crate::names::named! { address $($rest)* } };
    (c_pointer $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! {
            [
                concat!($start, $stem, "_"), concat!($start, $stem, "__"), concat!($start, $stem, "_cptr_"),
                concat!($start, $stem, "_cptr__")
            ] $($rest)*
        }
    };
    (address $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! { [concat!($start, $stem, "_"), concat!($start, $stem, "__")] $($rest)* }
    };
    (lengths $($rest:tt)*) => {};
    (large_lengths $($rest:tt)*) => {};
    (large_plain $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! { [concat!($start, $stem, "_c_"), concat!($start, $stem, "_c__")] $($rest)* }
    };
    (large_descriptor $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! { [concat!($start, $stem, "_c_f08ts")] $($rest)* }
    };
    (large_pointer $($rest:tt)*) => { $crate::names::named! { large_descriptor $($rest)* } };
    (large_text $($rest:tt)*) => { $crate::names::named! { large_descriptor $($rest)* } };
    ($form:ident $start:literal $f08:literal $stem:literal $($rest:tt)*) => {
        $crate::export::export! { [concat!($start, $stem, "_f08ts")] $($rest)* }
    };
}

pub(crate) use named;
