//! Process topologies (MPI-5.0 chapter 8).

use std::ffi::c_int;

use posthaste_core::error::{Error, ErrorClass, Result};

pub mod cart;
pub mod graph;
pub mod dist_graph;
pub(crate) mod plan;
pub mod neighbor;

/// Checks that an array of the program has room for all that it is to get.
fn room_for(argument: &'static str, room: c_int, what: &str, needed: usize) -> Result<()> {
    if usize::try_from(room).is_ok_and(|room| room >= needed) {
        return Ok(());
    }
    let expected = format_args!("at least the number of {what}, {needed}");
    Err(Error::invalid(ErrorClass::Arg, argument, room, expected))
}
