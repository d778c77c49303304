//! posthaste for Fortran: `libmpifort_abi.so.1` (MPI-5.0 chapter 19 and §20.4.2), for `mpif.h` and the modules `mpi` and
//! `mpi_f08`.
//!
//! Every routine calls the C function of its name, and one with `p` in front the function with `P` in front, through the
//! dynamic linker: so a tool that overrides `MPI_Send` sees a call from Fortran once. `c` and `routines` are written by
//! `cargo xtask fortran` from the table of the C interface and `abi/fortran.csv`, which adds what only Fortran has to know.
//!
//! What must stay true: an INTEGER is a C `int`; the number of a handle is the handle (`handle.rs` of posthaste-abi), so what C
//! passes by address a little-endian machine reads as INTEGER, too; a routine without choice buffer is the same one in all
//! three interfaces, as an optional `ierror` that is absent is a null pointer.
#![allow(clippy::too_many_arguments, reason = "routines of MPI have as many")]

#[cfg(target_endian = "big")]
compile_error!(
    "callbacks read the handles that C passes by address as INTEGER, which takes a little-endian machine"
);

mod abi;
mod argument;
mod descriptor;
// Tests of that library's rooms run here.
#[cfg(test)]
#[path = "../../posthaste-mpich-fortran/src/descriptor.rs"]
mod descriptor_of_mpich;
mod export;
mod names;
mod routine;
mod text;

#[rustfmt::skip]
mod c;
mod peers;
mod section;

mod attribute;
mod datarep;
mod environment;
// Unit tests are linked without the C library, and this calls it when it is loaded; programs test what calls C.
#[cfg(not(test))]
mod facts;
mod generalized;
mod info;
mod removed;
mod spawn;
mod modules;

#[rustfmt::skip]
mod routines;
