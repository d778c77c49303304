//! Whether a job left something behind: a process, a zombie, a file in /dev/shm.
//! Every job of the fault tests carries a mark in its environment, which its processes inherit and which can be
//! read in /proc, so that other programs of this machine are never taken for leftovers.
//! What must stay true: a job gets five seconds to disappear, not more. What another launcher starts for
//! itself it may keep longer.

use std::{
    collections::BTreeSet,
    fs, process,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use crate::{
    process::{Job, wait_until},
    project::Fallible,
};

const MARK: &str = "POSTHASTE_TEST_MARK";
/// In the command of Open MPI's agents, and of the ssh that starts them, which outlives an abort by more than five seconds.
const OF_PRRTE: &str = "bin/prted ";
const PATIENCE: Duration = Duration::from_secs(5);

/// The watch over one job.
#[derive(Debug)]
pub(crate) struct Watch {
    mark: String,
    files: BTreeSet<String>,
    zombies: BTreeSet<u32>,
}

impl Watch {
    /// Begins before the job is started.
    pub(crate) fn begin() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("{}.{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self { mark, files: shared_files(), zombies: zombies() }
    }

    /// Marks a job; several may carry the same mark.
    pub(crate) fn mark(&self, job: Job) -> Job {
        job.env(MARK, &self.mark)
    }

    /// The mark as an argument of `env`, for launchers that pass nothing on to other hosts.
    pub(crate) fn variable(&self) -> String {
        format!("{MARK}={}", self.mark)
    }

    /// The processes that carry the mark now, with their command lines.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        let wanted = self.variable();
        processes()
            .filter(|pid| *pid != process::id())
            .filter(|pid| {
                let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environment.split(|b| *b == 0).any(|variable| variable == wanted.as_bytes())
            })
            .map(|pid| (pid, command_line(pid)))
            .collect()
    }

    /// Ends after the job has ended: an error names what is still there.
    pub(crate) fn nothing_left(&self) -> Fallible {
        let mut left = Vec::new();
        let is_gone = wait_until(PATIENCE, || {
            left = self.left();
            left.is_empty()
        });
        if is_gone { Ok(()) } else { Err(format!("the job left behind: {}", left.join(", "))) }
    }

    fn left(&self) -> Vec<String> {
        let ours = self.processes().into_iter().filter(|(_, command)| !command.contains(OF_PRRTE));
        let mut left: Vec<String> = ours.map(|(pid, command)| format!("process {pid} ({command})")).collect();
        let files = shared_files();
        let new = files.difference(&self.files).map(|name| format!("/dev/shm/{name}"));
        left.extend(new.filter(|path| !is_mapped(path)));
        left.extend(zombies().difference(&self.zombies).map(|pid| format!("zombie {pid}")));
        left
    }
}

/// The ids of all processes.
pub(crate) fn processes() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|e| e.file_name().to_str()?.parse().ok())
}

/// The command line of a process.
pub(crate) fn command_line(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ").trim().to_owned()
}

fn shared_files() -> BTreeSet<String> {
    let entries = fs::read_dir("/dev/shm").into_iter().flatten().flatten();
    entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether a process has this file mapped: it belongs to another job of this machine then, as those of the job that is
/// watched must be gone themselves.
fn is_mapped(path: &str) -> bool {
    processes()
        .any(|pid| fs::read_to_string(format!("/proc/{pid}/maps")).is_ok_and(|maps| maps.contains(path)))
}

/// Zombies that were one of the programs which fault tests run, and whose parent still lives. Those that have fallen
/// to process 1 are its to bury, whenever it comes to that.
fn zombies() -> BTreeSet<u32> {
    let ours = ["mpiexec", "mpirun", "faulty", "ranks"];
    processes()
        .filter(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // pid (name) state ...; the name may contain anything but is followed by the last bracket.
            let Some((head, rest)) = stat.rsplit_once(')') else { return false };
            let name = head.split_once('(').map_or("", |(_, name)| name);
            let mut fields = rest.split_whitespace();
            let (state, parent) = (fields.next(), fields.next());
            state == Some("Z") && parent != Some("1") && ours.contains(&name)
        })
        .collect()
}
