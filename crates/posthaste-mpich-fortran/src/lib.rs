//! posthaste for Fortran programs of MPICH's ABI: `libmpifort.so.12`, for those that were built with `mpif.h`, `mpi` or `mpi_f08` of
//! MPICH, Intel MPI and their kin.
//!
//! The rooms of `posthaste-fortran`, compiled over another ABI: `abi` has its numbers and the variables of its `mpif.h` and modules,
//! `names` the names that its compilers give. What is only MPICH's stands in the rooms at the end: `modules`, what its modules
//! have besides the routines, and `constants`, their handles.
//!
//! What must stay true: as in `posthaste-fortran`; and a handle of C is four bytes long in an array, and wherever else C writes
//! it the first four of those that the routine has set to 0.
#![allow(clippy::too_many_arguments, reason = "routines of MPI have as many")]

#[cfg(target_endian = "big")]
compile_error!(
    "C writes handles of four bytes where the routines have eight, which takes a little-endian machine"
);

mod abi;
#[path = "../../posthaste-fortran/src/argument.rs"]
mod argument;
mod export;
mod names;
#[path = "../../posthaste-fortran/src/routine.rs"]
mod routine;
#[path = "../../posthaste-fortran/src/text.rs"]
mod text;

#[rustfmt::skip]
#[path = "../../posthaste-fortran/src/c.rs"]
mod c;
#[path = "../../posthaste-fortran/src/peers.rs"]
mod peers;
#[path = "../../posthaste-fortran/src/section.rs"]
mod section;

#[path = "../../posthaste-fortran/src/attribute.rs"]
mod attribute;
#[path = "../../posthaste-fortran/src/datarep.rs"]
mod datarep;
#[path = "../../posthaste-fortran/src/environment.rs"]
mod environment;
#[path = "../../posthaste-fortran/src/generalized.rs"]
mod generalized;
#[path = "../../posthaste-fortran/src/info.rs"]
mod info;
#[rustfmt::skip]
mod capitals;
mod constants;
mod descriptor;
mod modules;
#[path = "../../posthaste-fortran/src/removed.rs"]
mod removed;
#[path = "../../posthaste-fortran/src/spawn.rs"]
mod spawn;

#[rustfmt::skip]
#[path = "../../posthaste-fortran/src/routines.rs"]
mod routines;
