//! Jobs that meet (MPI-5.0 §11.9, §11.10): ports, the rendezvous of two roots, and what they tell each other.
//!
//! ```text
//!   root that accepts                       root that connects
//!   listens at a port                       knows the port's name, which has addresses and a secret in it
//!        <---- hello, sealed                      `handshake`
//!        proof ---->
//!        <---- proof
//!        go, members ---->                        `line`, `members`
//!        <---- members
//!        <---- each has entered all of them ---->
//! ```
//!
//! Who has met knows the other's name (job and rank), its business card, and a secret that has never travelled. Connections
//! between all other members are made when they first talk (`method/tcp`).
//!
//! Parts: `port`, names of ports; `handshake`, the proofs, without I/O; `knock`, what is left of it within a job; `line`, frames between the two roots; `rendezvous`, how
//! they find each other; `members`, the list that they exchange; `names`, where ports are found by the name of a service: in a
//! folder, or at a server; `further`, hints of a command that stand in a file.
//!
//! What must stay true: nothing here blocks; what comes from outside is checked and bounded; a stranger at a port costs its
//! owner a place for some seconds and nothing else.

mod further;
mod handshake;
mod knock;
mod line;
mod members;
mod names;
mod port;
mod rendezvous;

pub use further::further_hints;
pub use handshake::pass_between;
pub use knock::{Knock, answer};
pub use line::Line;
pub use members::{Member, Party};
pub use names::{Inquiry, Next, Question, Server, Told, setting_shown};
pub use port::PortName;
/// What a program asks its launcher to start.
pub use posthaste_pmi::spawning::Spec;
pub use rendezvous::{Call, Meeting, OverSocket, Port, over_socket};

use std::time::Duration;

use crate::error::{Error, ErrorClass, Result};
use crate::info::Info;

/// The time limit that hints give a call: seconds under the key `timeout`.
///
/// # Errors
/// A value that is no time.
pub fn time_limit(hints: &Info) -> Result<Option<Duration>> {
    let Some(value) = hints.get(b"timeout") else { return Ok(None) };
    let text = String::from_utf8_lossy(&value);
    let seconds = text.trim().parse::<f64>().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
    seconds.map(Some).ok_or_else(|| {
        Error::invalid(ErrorClass::InfoValue, "info", format!("timeout={text}"), "timeout=SECONDS")
    })
}
