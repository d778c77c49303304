//! posthaste as a C library with the ABI of MPICH: `libmpi.so.12`, for programs that were built with MPICH, Intel MPI, MVAPICH
//! or Cray MPICH and run here unchanged.
//!
//! A face of the C library: the rooms of `posthaste-abi`, compiled over another ABI. What is only MPICH's stands in the rooms
//! at the end: conversions for Fortran that are functions there, and names that the standard has removed. Facts of the ABI are
//! those of MPICH's published header and library, with which `cargo xtask test --only mpich` compares them.
//!
//! What must stay true: no room of `posthaste-abi` knows which face it is compiled for.
#![allow(non_snake_case, non_camel_case_types)]
#![allow(clippy::too_many_arguments)]

#[path = "../../posthaste-abi/src/layer/mod.rs"]
mod layer;
pub mod abi;
#[path = "../../posthaste-abi/src/mapping/mod.rs"]
mod mapping;
#[path = "../../posthaste-abi/src/handle.rs"]
mod handle;
#[path = "../../posthaste-abi/src/object/mod.rs"]
mod object;
#[path = "../../posthaste-abi/src/failure.rs"]
mod failure;
#[path = "../../posthaste-abi/src/call.rs"]
mod call;
#[path = "../../posthaste-abi/src/request/mod.rs"]
mod request;
#[path = "../../posthaste-abi/src/env/mod.rs"]
pub mod env;
#[path = "../../posthaste-abi/src/pt2pt/mod.rs"]
pub mod pt2pt;
#[path = "../../posthaste-abi/src/datatype/mod.rs"]
pub mod datatype;
#[path = "../../posthaste-abi/src/coll/mod.rs"]
pub mod coll;
#[path = "../../posthaste-abi/src/comm/mod.rs"]
pub mod comm;
#[path = "../../posthaste-abi/src/topology/mod.rs"]
pub mod topology;
#[path = "../../posthaste-abi/src/win/mod.rs"]
pub mod win;
#[path = "../../posthaste-abi/src/dynamic/mod.rs"]
pub mod dynamic;
#[path = "../../posthaste-abi/src/io/mod.rs"]
pub mod io;
#[path = "../../posthaste-abi/src/tool/mod.rs"]
pub mod tool;
#[path = "../../posthaste-abi/src/extension/mod.rs"]
pub mod extension;

pub mod fortran;
pub mod removed;

pub use abi::pointer::{In, Out};
