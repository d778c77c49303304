//! The message-passing engine of posthaste.
//!
//! The rooms below stand in the order of a message's journey; a room uses only rooms before it.
#![forbid(unsafe_op_in_unsafe_fn)]
#![deny(unsafe_code)]

pub mod ids;
pub mod config;
pub mod error;
pub mod explain;
pub mod trace;
#[allow(unsafe_code)] // one of the two homes of unsafe code: memory that users vouched for
pub mod buffer;
pub mod datatype;
pub mod wire;
pub mod request;
pub mod method;
pub mod pt2pt;
pub mod group;
pub mod op;
pub mod info;
pub mod attribute;
pub mod coll;
pub mod comm;
pub mod dispatch;
pub mod progress;
pub mod wait;
pub mod world;

#[cfg(test)]
mod testing;
