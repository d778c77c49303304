//! A job on several hosts: as on one, with an agent on each host in between.
//!
//! `Tree` is mpiexec's side, [`fn@agent`] is what mpiexec is on the other hosts. An agent runs the ranks of its host
//! exactly as mpiexec runs those of a job on one host (`spawn::local`); what the two sides say to each other
//! (`spawn::talk`) travels as frames over the standard input and output of the ssh, srun or plain process that started
//! the agent: no port, nothing that a firewall could refuse. Where there are more hosts than `FAN_OUT`, agents stand
//! for groups of hosts and start those.
//!
//! What must stay true: a host, an agent or an mpiexec that is lost in any way ends the job everywhere within five
//! seconds, and leaves no process behind; whatever arrives is checked. MPI-5.0 §11.5.
//!
//! A process that waits for a file server is not lost: a thread of its own says that it is there.
//!
//! Parts: `place` (which rank runs where) → `launcher` (how an agent is started) → `frame` (bytes on the way) →
//! `shared` (two threads write them) → `relay` (many agents look like one; no I/O) → `tree` (the agents below us) and
//! `link` (the parent above us) → `agent`.

mod agent;
mod frame;
mod launcher;
mod link;
mod place;
mod relay;
mod shared;
mod tree;

pub use agent::agent;
pub(crate) use frame::Plan;
pub use launcher::{Launcher, Means};
pub use place::{By, Host, NO_SLOTS, Placement, own_addresses};
pub(crate) use place::{Placed, place_each};
pub(crate) use tree::Tree;

use std::time::Duration;

/// Most agents that one process starts and listens to.
const FAN_OUT: usize = 32;
/// How often everybody says that he is there.
const BEAT: Duration = Duration::from_millis(500);
/// Who is silent for so long is lost.
const SILENCE: Duration = Duration::from_millis(3500);
/// An agent that has been stopped for so long is killed with its ranks. Its parent has missed it by then.
const PATIENCE: Duration = Duration::from_millis(4500);

/// The argument that makes an mpiexec an agent.
pub const AGENT: &str = "--posthaste-agent";
