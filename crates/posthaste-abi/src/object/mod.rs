//! What the handles of C programs stand for: the tables of each kind of object, and what goes with an object but is
//! no part of the engine's.
//!
//! A file uses only those before it in the list below (tested by `cargo xtask test`).

pub(crate) mod site;
pub(crate) mod error_code;
pub(crate) mod errhandler;
pub(crate) mod session;
pub(crate) mod info;
pub(crate) mod group;
pub(crate) mod communicator;
pub(crate) mod parents;
pub(crate) mod datatype;
pub(crate) mod memory;
pub(crate) mod op;
pub(crate) mod window;
pub(crate) mod attribute;

use std::ffi::c_char;

use posthaste_core::error::Result;

use crate::abi::constants::MPI_MAX_OBJECT_NAME;
use crate::abi::pointer::In;

/// A name for an object, cut to the longest one that an object can have.
pub(crate) fn object_name(argument: &'static str, name: In<c_char>) -> Result<String> {
    let mut name = name.text(argument)?;
    name.truncate(name.floor_char_boundary(MPI_MAX_OBJECT_NAME as usize - 1));
    Ok(name)
}
