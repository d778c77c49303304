//! posthaste as a C library: `libmpi_abi.so.1`, the interface of MPI-5.0 with its standard ABI (chapter 20).
//!
//! The door between C and the engine, and nothing else. Each chapter of the standard has its folder here; an
//! entry turns handles into objects (`object`), checks pointers (`abi::pointer`), calls one function of
//! `posthaste-core`, and turns the outcome into an error code (`call`, `failure`). The header is
//! `include/mpi.h`; the tables that both are compared with lie in `abi/`.
//!
//! The rooms below stand in their order, what entries need before the chapters with the entries; a room uses only rooms
//! before it, and a file of a room only files before it in the room's `mod.rs` (tested by `cargo xtask test`).
//!
//! What must stay true: every function of the standard is exported as `MPI_X` and `PMPI_X`, nothing else is
//! exported but what `posthaste.h` finds (`extension`), and no code of the library calls either.
// The names are those of the C interface.
#![allow(non_snake_case, non_camel_case_types)]
// Argument lists are those of the standard.
#![allow(clippy::too_many_arguments)]

mod layer;
pub mod abi;
mod mapping;
mod handle;
mod object;
mod failure;
mod call;
mod request;

pub mod env;
pub mod pt2pt;
pub mod datatype;
pub mod coll;
pub mod comm;
pub mod topology;
pub mod win;
pub mod dynamic;
pub mod io;
pub mod tool;
pub mod extension;

pub use abi::pointer::{In, Out};

// The numbers of the standard ABI are the engine's, so ranks and tags go to it as they are.
const _: () = assert!(mapping::ranks::SAME);
