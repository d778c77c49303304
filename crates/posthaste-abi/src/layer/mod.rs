//! What every C binding needs and no binding's numbers: the semantics that lie between the engine and the entries of a
//! face, in terms of the engine's objects.
//!
//! What must stay true: nothing here knows a handle, a constant or a struct of an ABI. This is the first room, so none of
//! those can be named (tested by `cargo xtask test`).
#![deny(unsafe_code)]

#[allow(unsafe_code)] // one pointer, which is all that MPI_Init makes and MPI_Finalize takes away
pub(crate) mod library;
pub(crate) mod object_ref;
pub(crate) mod error_code;
pub(crate) mod errhandler;
pub(crate) mod failure;
pub(crate) mod attribute;
pub(crate) mod communicator;
pub(crate) mod hardware;
pub(crate) mod arguments;
pub(crate) mod buffers;
pub(crate) mod coll;
pub(crate) mod neighbor;
pub(crate) mod request;
#[allow(unsafe_code)] // the place of a message in a buffer: nobody else knows that it is free
pub(crate) mod bsend;
pub(crate) mod persistent;
pub(crate) mod partitioned;
