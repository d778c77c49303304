//! A second face of the C library, for the tests: the rooms of `posthaste-abi` over another ABI.
//!
//! It shows that they contain no number of an ABI: here handles are integers, `MPI_Status` has another layout, and all
//! constants have other values. The part `face` of `cargo xtask test` runs C programs with it. It is no ABI of anybody, and
//! nothing installs it.
#![allow(non_snake_case, non_camel_case_types)]
#![allow(clippy::too_many_arguments)]

#[path = "../../../crates/posthaste-abi/src/layer/mod.rs"]
mod layer;
pub mod abi;
#[path = "../../../crates/posthaste-abi/src/mapping/mod.rs"]
mod mapping;
#[path = "../../../crates/posthaste-abi/src/handle.rs"]
mod handle;
#[path = "../../../crates/posthaste-abi/src/object/mod.rs"]
mod object;
#[path = "../../../crates/posthaste-abi/src/failure.rs"]
mod failure;
#[path = "../../../crates/posthaste-abi/src/call.rs"]
mod call;
#[path = "../../../crates/posthaste-abi/src/request/mod.rs"]
mod request;
#[path = "../../../crates/posthaste-abi/src/env/mod.rs"]
pub mod env;
#[path = "../../../crates/posthaste-abi/src/pt2pt/mod.rs"]
pub mod pt2pt;
#[path = "../../../crates/posthaste-abi/src/datatype/mod.rs"]
pub mod datatype;
#[path = "../../../crates/posthaste-abi/src/coll/mod.rs"]
pub mod coll;
#[path = "../../../crates/posthaste-abi/src/comm/mod.rs"]
pub mod comm;
#[path = "../../../crates/posthaste-abi/src/topology/mod.rs"]
pub mod topology;
#[path = "../../../crates/posthaste-abi/src/win/mod.rs"]
pub mod win;
#[path = "../../../crates/posthaste-abi/src/dynamic/mod.rs"]
pub mod dynamic;
#[path = "../../../crates/posthaste-abi/src/io/mod.rs"]
pub mod io;
#[path = "../../../crates/posthaste-abi/src/tool/mod.rs"]
pub mod tool;
#[path = "../../../crates/posthaste-abi/src/extension/mod.rs"]
pub mod extension;

pub use abi::pointer::{In, Out};

// Otherwise nothing would be shown.
const _: () = assert!(!mapping::ranks::SAME);
