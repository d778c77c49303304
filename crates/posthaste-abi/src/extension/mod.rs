//! C functions beside the standard, which `posthaste.h` finds when a program runs: handlers of requests, and continuations
//! over them.

pub mod handlers;
pub mod continuations;
