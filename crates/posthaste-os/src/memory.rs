//! The words and bytes that rings, bounce buffers and doorbells share, in one of two kinds.
//!
//! [`crate::ring`], [`crate::pool`] and [`crate::wake`] hold the protocols. Built as usual, the words are plain atomics
//! in the segment and every function is a pointer addition. Built with `--cfg loom` they are a model in which each
//! access is checked against all orders in which it could happen. What must stay true: both kinds have the same
//! functions, and no decision of a protocol (what is written when, with which ordering) is made here, so that what the
//! model proves holds for what runs.

#[cfg(loom)]
pub mod model;
#[cfg(not(loom))]
mod segment;

#[cfg(loom)]
pub(crate) use model::*;
#[cfg(not(loom))]
pub(crate) use segment::*;
