//! C functions beside the standard, which `posthaste.h` finds when a program runs: handlers of requests, continuations
//! over them, and a descriptor for event loops.

pub mod handlers;
pub mod continuations;
pub mod descriptor;
