//! C functions beside the standard, which `posthaste.h` finds when a program runs: handlers of requests, continuations
//! over them, and a descriptor for event loops. Those for programs that survive the loss of processes, which `mpi-ext.h` declares.

pub mod handlers;
pub mod continuations;
pub mod descriptor;
pub mod faults;
