//! Starting processes (MPI-5.0 §11.8): the root asks the launcher, and what it starts comes to a port of the root.
//!
//! ```text
//!   every rank           root                                     new processes
//!                        opens a port, asks the launcher  ----->  find the port's name with their launcher
//!   hear how it went <-- is answered when all have come
//!   accept               accept                          <------  connect, in MPI_Init
//! ```
//!
//! What must stay true: what goes wrong at the root is an error at all ranks; a program is asked for its arguments at the root
//! alone; without a launcher above us one of our own is started, and only then.

use std::sync::Arc;

use posthaste_pmi::client;
use posthaste_pmi::launcher::Launcher;
use posthaste_pmi::spawning::{Spawning, Spec};

use super::World;
use crate::comm::Comm;
use crate::error::{Error, ErrorClass, Result};
use crate::world::wireup;

/// Where the new processes find the name of the port.
const PORT: &str = "posthaste-parent-port";

impl World {
    /// Starts processes: an intercommunicator with them, and for each that was asked for whether it runs. All ranks of `comm`
    /// call it; `specs`, what is to be started, is asked at the root alone.
    ///
    /// # Errors
    /// What is wrong at the root, at all ranks; when none was started, the launcher's reason (`MPI_ERR_SPAWN`).
    pub fn spawn(
        &self,
        call: &'static str,
        comm: &Comm,
        root: i32,
        specs: impl FnOnce() -> Result<Vec<Spec>>,
    ) -> Result<(Arc<Comm>, Vec<bool>)> {
        Self::check_meeting(comm, root)?;
        let asked = (comm.rank() == root).then(|| self.ask_to_spawn(specs));
        let (port, told) = match asked {
            None => (None, Vec::new()),
            Some(Ok((port, codes))) => (Some(port), told(&Ok(codes))),
            Some(Err(why)) => (None, told(&Err(why))),
        };
        let mut len = [0; 8];
        len[..8].copy_from_slice(&(told.len() as u64).to_le_bytes());
        let len = self.broadcast(call, comm, root, &len)?;
        let len = len.first_chunk().map_or(0, |len| u64::from_le_bytes(*len)) as usize;
        let told = if told.is_empty() { vec![0; len] } else { told };
        let codes = heard(&self.broadcast(call, comm, root, &told)?)?;
        let name = port.clone();
        let made = self.accept_in(call, comm, root, || Ok((name.unwrap_or_default(), None)));
        if let Some(port) = port {
            self.close_port(&port)?;
        }
        Ok((made?, codes.into_iter().map(|code| code == 0).collect()))
    }

    /// The root's part: a port that is open, and the codes.
    fn ask_to_spawn(&self, specs: impl FnOnce() -> Result<Vec<Spec>>) -> Result<(String, Vec<i32>)> {
        let specs = specs()?;
        let port = self.open_port()?;
        let request = Spawning { specs, preput: vec![(PORT.into(), port.clone())] };
        let mut launcher = wireup::lock(&self.common.launcher);
        let answer = match &mut *launcher {
            Some(launcher) => launcher.spawn(&request),
            None => Launcher::start().and_then(|started| launcher.insert(started).spawn(&request)),
        };
        match answer {
            Ok(codes) => Ok((port, codes)),
            Err(why) => {
                self.close_port(&port)?;
                Err(Error::other(ErrorClass::Spawn, reason(why)))
            }
        }
    }

    /// An intercommunicator with those who started this job, if anybody of ours did. All ranks of the job call it, once.
    ///
    /// # Errors
    /// When the launcher does not answer, or the parents are gone.
    pub fn connect_parents(&self) -> Result<Option<Arc<Comm>>> {
        let port = wireup::ask(&self.common.launcher, |launcher| {
            // A child of another library's program has parents that we cannot talk to.
            if launcher.is_spawned() { launcher.left_for_us(PORT) } else { Ok(None) }
        });
        let Some(port) = port.transpose().map_err(wireup::failed)?.flatten() else { return Ok(None) };
        self.connect_in("MPI_Init", self.world(), 0, &port).map(Some)
    }

    /// How many processes the launcher could start in all, with those that run; the size of the job where it does not say.
    pub fn universe_size(&self) -> usize {
        let said = wireup::ask(&self.common.launcher, Launcher::universe_size);
        said.and_then(|said| said.ok().flatten()).unwrap_or_else(|| self.world().size() as usize)
    }

    /// The number of this rank's program among those that its job was started with; 0 where the launcher does not say.
    pub fn application(&self) -> usize {
        let said = wireup::ask(&self.common.launcher, Launcher::application);
        said.and_then(|said| said.ok().flatten()).unwrap_or(0)
    }
}

/// The launcher's own words, without our call of it.
fn reason(error: client::Error) -> String {
    match error {
        client::Error::Refused { why, .. } => why,
        other => other.to_string(),
    }
}

/// What a root tells its group: codes, or a class and a sentence.
fn told(outcome: &Result<Vec<i32>>) -> Vec<u8> {
    match outcome {
        Ok(codes) => [0].into_iter().chain(codes.iter().flat_map(|code| code.to_le_bytes())).collect(),
        Err(why) => [1 + why.class() as u8].into_iter().chain(why.to_string().into_bytes()).collect(),
    }
}

/// The same at the others.
fn heard(told: &[u8]) -> Result<Vec<i32>> {
    match told.split_first() {
        Some((0, codes)) => Ok(codes.as_chunks().0.iter().map(|code| i32::from_le_bytes(*code)).collect()),
        Some((class, text)) => {
            let class = ErrorClass::ALL.get(usize::from(*class) - 1).unwrap_or(&ErrorClass::Intern);
            Err(Error::other(*class, String::from_utf8_lossy(text)))
        }
        None => Err(Error::other(ErrorClass::Intern, "the root has said nothing")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ranks_hear_what_the_root_heard() {
        assert_eq!(heard(&told(&Ok(vec![0, -1, 7]))).unwrap(), [0, -1, 7]);
        let error = heard(&told(&Err(Error::other(ErrorClass::Spawn, "no such program")))).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Spawn);
        assert!(error.to_string().contains("no such program"), "{error}");
        assert_eq!(heard(&[]).unwrap_err().class(), ErrorClass::Intern);
        assert_eq!(heard(&[255]).unwrap_err().class(), ErrorClass::Intern);
    }
}
