//! What stands behind the requests of C programs, beyond a request of the engine: how a request ends, sends from the program's
//! buffers, persistent requests, two messages under one request, operations of the program.
//!
//! Used by the chapters whose entries make requests; calls the engine.

pub(crate) mod completion;
pub(crate) mod bsend;
pub(crate) mod persistent;
pub(crate) mod grequest;
