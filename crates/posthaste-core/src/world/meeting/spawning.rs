//! Starting processes (MPI-5.0 §11.8): the root asks the launcher, and what it starts comes to a port of the root.
//!
//! ```text
//!   every rank           root                                     new processes
//!                        opens a port, asks the launcher  ----->  find the port's name with their launcher
//!   hear how it went <-- is answered when all have found it
//!   accept               accept                          <------  connect, in MPI_Init
//!                        is told by the launcher if one of them ends before that
//! ```
//!
//! What must stay true: what goes wrong at the root is an error at all ranks; a program is asked for its arguments at the root
//! alone; without a launcher above us one of our own is started, and only then; the root goes on receiving while it waits.

use std::io;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::socket::Set;

use posthaste_pmi::client::{self, Started};
use posthaste_pmi::launcher::Launcher;
use posthaste_pmi::spawning::{PARENTS_PORT, Spawning, Spec};

use super::{Way, World};
use crate::comm::Comm;
use crate::error::{Error, ErrorClass, Result};
use crate::meeting::further_hints;
use crate::progress::Vci;
use crate::wait::Awaited;
use crate::world::wireup;

impl World {
    /// Starts processes: an intercommunicator with them, and for each that was asked for whether it runs; none does after an
    /// error. All ranks of `comm` call it; `specs`, what is to be started, is asked at the root alone. Who cannot know how many
    /// were asked for has an empty list.
    ///
    /// # Errors
    /// What is wrong at the root, at all ranks; when none was started, the launcher's reason (`MPI_ERR_SPAWN`).
    pub fn spawn(
        &self,
        call: &'static str,
        comm: &Comm,
        root: i32,
        specs: impl FnOnce() -> Result<Vec<Spec>>,
    ) -> (Result<Arc<Comm>>, Vec<bool>) {
        if let Err(why) = Self::check_meeting(comm, root) {
            return (Err(why), Vec::new());
        }
        let asked = (comm.rank() == root).then(|| self.ask_to_spawn(call, comm, specs));
        let port = asked.as_ref().and_then(|asked| asked.place.as_ref().ok()).map(|place| place.0.clone());
        let (made, runs) = self.go_on(call, comm, root, asked);
        // Whatever came out: who comes later finds nobody, instead of waiting.
        let closed = port.map_or(Ok(()), |port| self.close_port(&port));
        (made.and_then(|made| closed.map(|()| made)), runs)
    }

    /// What all ranks do when the root has been answered.
    fn go_on(
        &self,
        call: &'static str,
        comm: &Comm,
        root: i32,
        asked: Option<Asked>,
    ) -> (Result<Arc<Comm>>, Vec<bool>) {
        let count = asked.as_ref().map_or(0, |asked| asked.codes.len());
        let told = asked.as_ref().map_or(Vec::new(), |asked| told(&asked.codes));
        let codes = self.tell_codes(call, comm, root, told);
        let made = self.meet(call, comm, root, || {
            let nothing = || Error::other(ErrorClass::Intern, "the root has asked for nothing");
            let (name, number) = asked.ok_or_else(nothing)?.place?;
            let port = self.common.abroad.port(&name)?;
            // Of those whom nobody watches it is not known whether they come.
            let limit = number.is_none().then(|| self.connect_time());
            Ok((Way::Children(port, number), limit))
        });
        match (made, codes) {
            (Ok(made), Ok(codes)) => (Ok(made), codes.into_iter().map(|code| code == 0).collect()),
            (Ok(made), Err(why)) => {
                // Others have the communicator.
                self.revoke(&made);
                (Err(why), Vec::new())
            }
            (Err(why), codes) => (Err(why), vec![false; codes.map_or(count, |codes| codes.len())]),
        }
    }

    /// The codes that the root has. Whoever misses them goes on, because others wait for it.
    fn tell_codes(&self, call: &'static str, comm: &Comm, root: i32, told: Vec<u8>) -> Result<Vec<i32>> {
        let len = self.broadcast(call, comm, root, &(told.len() as u64).to_le_bytes());
        let known = len.as_ref().ok().and_then(|len| len.first_chunk().copied());
        let told = if told.is_empty() { vec![0; known.map_or(0, u64::from_le_bytes) as usize] } else { told };
        let told = self.broadcast(call, comm, root, &told);
        len.and_then(|_| heard(&told?))
    }

    /// The root's part: a port that is open, and the codes.
    fn ask_to_spawn(
        &self,
        call: &'static str,
        comm: &Comm,
        specs: impl FnOnce() -> Result<Vec<Spec>>,
    ) -> Asked {
        let specs = match specs() {
            Ok(specs) => specs,
            Err(why) => return Asked { codes: Vec::new(), place: Err(why) },
        };
        let count = specs.iter().map(|spec| spec.count).sum();
        // What the group could not meet is not started.
        let living = Self::check_members(&self.vci_of(comm), comm);
        let started = living.and_then(|()| self.start_at_port(call, specs));
        match started {
            Ok((place, codes)) => Asked { codes, place: Ok(place) },
            Err(why) => Asked { codes: vec![NOT_STARTED; count], place: Err(why) },
        }
    }

    fn start_at_port(&self, call: &'static str, mut specs: Vec<Spec>) -> Result<(Place, Vec<i32>)> {
        specs.iter_mut().try_for_each(further_hints)?;
        let port = self.open_port()?;
        let request = Spawning { specs, preput: vec![(PARENTS_PORT.into(), port.clone())] };
        match self.wait_for_start(call, &request) {
            Ok((number, codes)) => Ok(((port, number), codes)),
            Err(why) => {
                self.close_port(&port)?;
                Err(why)
            }
        }
    }

    /// Asks the launcher and waits for its answer. Others, of this process, too, may ask it something else meanwhile: this rank
    /// needs it to find a peer that it has not talked to, say.
    fn wait_for_start(&self, call: &'static str, request: &Spawning) -> Result<(Option<Started>, Vec<i32>)> {
        let count: usize = request.specs.iter().map(|spec| spec.count).sum();
        let what = if count == 1 { "process".into() } else { format!("{count} processes") };
        let awaited = |_: &Vci| Awaited::OtherJob(format!("for the launcher to start the {what}"));
        let refused = |why| Error::other(ErrorClass::Spawn, reason(why));
        {
            // Under the lock: another thread may start one, too.
            let mut launcher = wireup::lock(&self.common.launcher);
            if launcher.as_mut().is_none_or(Launcher::has_ended) {
                *launcher = Some(Launcher::start().map_err(refused)?);
            }
            launcher.as_mut().map_or(Ok(()), Launcher::prepare_to_spawn).map_err(refused)?;
        }
        let asked = self.waiting.until(0, call, awaited, |_: &mut Vci| {
            let mut launcher = wireup::lock(&self.common.launcher);
            let Some(launcher) = launcher.as_mut() else { return Some(Err(wireup::gone())) };
            let asked = launcher.spawner().map_err(refused).and_then(|spawner| {
                // Another thread has asked, too.
                if spawner.is_asked() {
                    return Ok(None);
                }
                // First what may fail: once it is asked, the answer has to be waited for.
                let set = self.sleep_on(|set| set.add(&spawner.as_fd(), 0, false))?;
                spawner.ask_for(request).map_err(refused)?;
                Ok(Some((set, spawner.number())))
            });
            asked.transpose()
        });
        let ((set, number), mut ready) = (asked?, Vec::new());
        self.waiting.until(0, call, awaited, |_: &mut Vci| {
            let mut launcher = wireup::lock(&self.common.launcher);
            let Some(launcher) = launcher.as_mut() else { return Some(Err(wireup::gone())) };
            let spawner = match launcher.spawner() {
                Ok(spawner) if spawner.number() == number => spawner,
                // Another one has taken its place.
                Ok(_) => return Some(Err(wireup::gone())),
                Err(why) => return Some(Err(refused(why))),
            };
            ready.clear();
            set.wait(Duration::ZERO, &mut ready);
            let heard = spawner.hear_of(request, !ready.is_empty());
            heard.map(|codes| codes.map(|codes| (spawner.started(), codes))).map_err(refused).transpose()
        })
    }

    /// Lets a sleeper hear what the launcher says of processes that it has started.
    pub(super) fn watch_launcher_in(&self, set: &Set) -> io::Result<()> {
        match wireup::lock(&self.common.launcher).as_mut().map(Launcher::spawner) {
            Some(Ok(spawner)) => set.add(&spawner.as_fd(), 0, false),
            _ => Ok(()),
        }
    }

    /// Whether the processes of the job `started`, as the launcher counts, may still come; of a job that it does not watch, whether it is
    /// there itself.
    pub(super) fn check_spawned(&self, started: Option<Started>) -> Result<()> {
        // Another thread that asks the launcher something hears it as well.
        let Ok(mut launcher) = self.common.launcher.try_lock() else { return Ok(()) };
        let Some(launcher) = launcher.as_mut() else { return Err(wireup::gone()) };
        let checked = launcher.spawner().and_then(|spawner| spawner.check_spawned(started));
        checked.map_err(|why| Error::other(ErrorClass::Spawn, reason(why)))
    }

    /// Connects with those who started this job, if anybody of ours did, the first time that it is called; all ranks of the job
    /// do so. Later ones get what [`World::parents`] gives.
    ///
    /// # Errors
    /// When the launcher does not answer.
    pub fn meet_parents(&self, call: &'static str) -> Result<Parents> {
        let port = wireup::ask(&self.common.launcher, Launcher::parents_port);
        let Some(port) = port.transpose().map_err(wireup::failed)?.flatten() else {
            return Ok(self.parents().map_or(Parents::Nobody, Parents::Met));
        };
        let made = match self.connect_in(call, self.world(), 0, &port) {
            Ok(made) => made,
            Err(why) if matches!(why.class(), ErrorClass::Port | ErrorClass::ProcAborted) => {
                let text = format!(
                    "the processes that started this job do not wait for it any more, so it ends: {why}"
                );
                return Ok(Parents::Gone(Error::other(why.class(), text)));
            }
            Err(why) => return Err(why),
        };
        made.set_name("MPI_COMM_PARENT"); // MPI-5.0 §7.8
        if self.rank() == 0 {
            // Whether the launcher still cares or not, they have been met.
            let _ = wireup::ask(&self.common.launcher, Launcher::has_met_parents);
        }
        *self.common.abroad.parents.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&made);
        Ok(Parents::Met(made))
    }

    /// The intercommunicator with those who started this job, as long as somebody has it and has not disconnected it.
    pub fn parents(&self) -> Option<Arc<Comm>> {
        self.common.abroad.parents.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    /// A communicator has been disconnected: should it be that with the parents, there are none any more.
    pub(super) fn forget_parents(&self, comm: &Comm) {
        let mut parents = self.common.abroad.parents.lock().unwrap_or_else(PoisonError::into_inner);
        if std::ptr::eq(parents.as_ptr(), comm) {
            *parents = Weak::new();
        }
    }

    /// How many processes the launcher could start in all, with those that run; the size of the job where it does not say. Without a
    /// launcher it is how many CPUs one that this process starts would find.
    pub fn universe_size(&self) -> usize {
        let size = self.world().size() as usize;
        match wireup::ask(&self.common.launcher, Launcher::universe_size) {
            Some(said) => said.ok().flatten().unwrap_or(size),
            None => machine::usable_cpus().max(size),
        }
    }

    /// The number of this rank's program among those that its job was started with; 0 where the launcher does not say.
    pub fn application(&self) -> usize {
        let said = wireup::ask(&self.common.launcher, Launcher::application);
        said.and_then(|said| said.ok().flatten()).unwrap_or(0)
    }
}

/// Those who started a job, as its ranks find them.
#[derive(Debug)]
pub enum Parents {
    /// No process has started it.
    Nobody,
    /// The intercommunicator with them.
    Met(Arc<Comm>),
    /// They do not wait for it any more: their call has failed, of which they know, or they have ended. Nobody needs the job.
    Gone(Error),
}

/// The port where new processes are met, and the number of their job as a launcher counts that watches it.
type Place = (String, Option<Started>);

/// What became of a request for processes.
struct Asked {
    /// One for each process that was asked for.
    codes: Vec<i32>,
    place: Result<Place>,
}

/// The code of a process where none was started.
const NOT_STARTED: i32 = -1;

/// The launcher's own words, without our call of it.
fn reason(error: client::Error) -> String {
    match error {
        client::Error::Refused { why, .. } | client::Error::CannotSpawn(why) => why,
        other => other.to_string(),
    }
}

/// In front of codes.
const TOLD: u8 = 1;

/// What a root tells its group, which hears of what went wrong when they meet.
fn told(codes: &[i32]) -> Vec<u8> {
    [TOLD].into_iter().chain(codes.iter().flat_map(|code| code.to_le_bytes())).collect()
}

/// The same at the others: zeros, where somebody on the way to here has missed it.
fn heard(told: &[u8]) -> Result<Vec<i32>> {
    match told.split_first() {
        Some((&TOLD, codes)) => {
            Ok(codes.as_chunks().0.iter().map(|code| i32::from_le_bytes(*code)).collect())
        }
        _ => {
            let text = "a process has ended before it could tell which processes were started";
            Err(Error::other(ErrorClass::ProcAborted, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ranks_hear_what_the_root_heard() {
        assert_eq!(heard(&told(&[0, -1, 7])).unwrap(), [0, -1, 7]);
        for missed in [&[][..], &[0; 13], &[255]] {
            assert_eq!(heard(missed).unwrap_err().class(), ErrorClass::ProcAborted);
        }
    }
}
