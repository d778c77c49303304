//! posthaste as a C library: `libmpi_abi.so.1`, the interface of MPI-5.0 with its standard ABI (chapter 20).
//!
//! The door between C and the engine, and nothing else. Each chapter of the standard has its file here; an
//! entry turns handles into objects (`handle`), checks pointers (`pointer`), calls one function of
//! `posthaste-core`, and turns the outcome into an error code (`call`, `failure`). The header is
//! `include/mpi.h`; the tables that both are compared with lie in `abi/`.
//!
//! What must stay true: every function of the standard is exported as `MPI_X` and `PMPI_X`, nothing else is
//! exported, and no code of the library calls either.
// The names are those of the C interface.
#![allow(non_snake_case, non_camel_case_types)]
// Argument lists are those of the standard.
#![allow(clippy::too_many_arguments)]

mod bsend;
mod call;
mod coll_buffers;
mod coll_plan;
mod communicator;
mod completion;
pub mod constants;
mod failure;
mod grequest;
mod handle;
mod library;
mod memory;
mod persistent;
mod pointer;
mod status;
pub mod types;

pub mod env;
pub mod abi;
pub mod pt2pt;
pub mod request;
pub mod partitioned;
pub mod datatype;
pub mod pack;
pub mod op;
pub mod coll;
pub mod coll_nonblocking;
pub mod coll_persistent;
pub mod group;
pub mod comm;
pub mod topology;
pub mod neighbor;
pub mod attribute;
pub mod info;
pub mod errhandler;
pub mod rma;
pub mod dynamic;
pub mod session;
pub mod io;
pub mod convert;
pub mod tool;

pub use pointer::{In, Out};
