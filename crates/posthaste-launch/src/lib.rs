//! The tools that start and build message-passing programs: `mpiexec`, `mpicc`, `mpicxx`, `mpifort`; `posthaste-info` and
//! `posthaste-names`.
//!
//! Rooms: [`options`] (the command line of mpiexec, pure), [`explain`] (what the ranks of a job are doing) → [`show`] (what
//! becomes of their output) →
//! [`mpiexec`] (a small program over `posthaste_pmi::spawn`); [`environment`] (other MPIs in the same Python environment),
//! [`modules`] (what a Fortran compiler needs) → [`wrapper`] (the compiler commands), [`info`] (what is usable here);
//! [`names`] (a server for names of services).
#![forbid(unsafe_code)]

pub mod options;

pub mod explain;

pub mod show;

pub mod mpiexec;

pub mod environment;

pub mod modules;

pub mod wrapper;

pub mod info;

pub mod names;
