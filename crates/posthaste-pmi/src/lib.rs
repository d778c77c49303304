//! Process management: how ranks learn who they are, exchange a few words at start-up, and are started.
//!
//! Ranks are `client`s; the launcher is `spawn`, which serves them by `server`. The wire is PMI-1.1, which MPICH's
//! Hydra, Slurm and Flux speak too: our ranks run under those launchers, and programs built with other libraries of
//! that family run under ours.
//!
//! Rooms, each using only those before it: [`mod@line`] (the text on the wire) → [`kvs`] (what the ranks say to each
//! other) → [`sets`] (which of them have a name together) → [`spawning`] (what a rank asks the launcher to start) → [`client`] (a rank's side) → [`mapping`] (which rank is on which node) → [`launcher`] (all that a rank asks of
//! the launcher that started it) → [`server`] (the launcher's side, without I/O) → [`spawn`] (starting processes on
//! this host and seeing them to their end) → [`hosts`] (the same on several hosts) → [`family`] (a job with all the jobs
//! that its processes ask for: what mpiexec is).
#![forbid(unsafe_code)]

pub mod line;

pub mod kvs;

pub mod sets;

pub mod spawning;

pub mod client;

pub mod mapping;

pub mod launcher;

pub mod server;

pub mod spawn;

pub mod hosts;

pub mod family;
