//! Starting the processes of a job on this host and seeing them to their end.
//!
//! `hosts` does the same on several hosts with the parts of this room, and `family` is the function that mpiexec calls.
//! What must stay true: when a job is over, nothing of it is left, neither process nor descriptor; one event loop and no
//! threads; a slow reader of our output never keeps us from noticing a death. MPI-5.0 §11.5 and §11.8.
//!
//! # Environment of a rank
//! `PMI_RANK`, `PMI_SIZE`, `PMI_FD` (the PMI-1.1 connection, an inherited socket), `PMI_SPAWNED` (1 when a
//! process asked for the job);
//! `POSTHASTE_NODE_FD` (the segment of the ranks on its host), `POSTHASTE_LOCAL_RANK`, `POSTHASTE_LOCAL_SIZE`,
//! `POSTHASTE_CPUS`, `POSTHASTE_CPU_LIST`; `POSTHASTE_SECRET` (what only processes of this job know); `MPI_LOCALRANKID`, `MPI_LOCALNRANKS`
//! (what other launchers of the family set). The two descriptors stay open over `execve`; all others of the launcher
//! are closed. Standard input is the launcher's own for rank 0, or the rank that the user names, and empty for the others;
//! standard output and error are pipes. The folder of our own library ends `LD_LIBRARY_PATH` (see `start`).
//!
//! Parts: `resolve` (programs and directories exist) → `verdict` (what an end of a process means, and the
//! sentence for it) → `output` (lines stay whole) → `input` (what goes to the ranks) → `ending` (when to ask, when to kill)
//! → `talk` (what the two sides say to each other) → `look` (a rank seen from outside) → `start` (environment, CPUs,
//! fork) → `run` (the loop) → `local` (the side of the ranks) and `console` (the side of the user).

pub(crate) mod console;
pub(crate) mod ending;
pub(crate) mod input;
pub(crate) mod local;
mod look;
pub(crate) mod output;
mod resolve;
pub(crate) mod run;
mod start;
pub(crate) mod talk;
pub(crate) mod verdict;

pub use console::ask;
pub use input::Input;
pub use look::look;
pub use output::Stream;
pub use talk::{Begun, Look};
pub use verdict::Ended;

use crate::sets::{self, Sets};
use crate::spawning::Pair;
use local::refused;
use posthaste_os::machine;

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// Some processes that run the same program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// How many processes.
    pub count: usize,
    /// The program as the user names it: a path, or a name to look up in `PATH`.
    pub name: OsString,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// The debugger that runs it, which is looked for in `PATH`, and the debugger's own arguments; what runs itself has none.
    pub debugger: Vec<OsString>,
    /// Its whole environment, or what is added to the job's; see `replaces_environment`.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether `environment` replaces the job's instead of being added to it.
    pub replaces_environment: bool,
    /// Where its name is looked for instead of in `PATH`.
    pub path: Option<OsString>,
    /// Its working directory; ours when absent.
    #[serde(with = "path_on_wire")]
    pub directory: Option<PathBuf>,
    /// The process sets that its ranks are in.
    pub sets: Vec<String>,
}

/// How processes are confined to CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bind {
    /// To one CPU each (more with `OMP_NUM_THREADS`) if there are enough for all, else not at all.
    #[default]
    Auto,
    /// As `Auto`, also for a job of one process.
    Core,
    /// As `Core`, but to all CPUs of the part of the machine that has the one of `Core`.
    Within(Part),
    /// Not at all.
    None,
}

/// A part of a machine that CPUs belong to; one that the system does not know is the CPU itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// A socket.
    Package,
    /// CPUs that are near to the same memory.
    NumaNode,
    /// CPUs with one third-level cache.
    L3Cache,
    /// CPUs with one second-level cache.
    L2Cache,
    /// The hardware threads of a core.
    Core,
}

impl Part {
    /// What a sentence calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Package => "socket",
            Self::NumaNode => "NUMA node",
            Self::L3Cache => "L3 cache",
            Self::L2Cache => "L2 cache",
            Self::Core => "core",
        }
    }

    /// How many of them this host has with one of these of its usable CPUs (all when empty); `None` where the system does not
    /// say.
    pub fn count(self, cpu_set: &[usize]) -> Option<usize> {
        let mut usable = machine::affinity();
        usable.retain(|cpu| cpu_set.is_empty() || cpu_set.contains(cpu));
        start::parts(&usable, |cpu| start::part_of(self, cpu)).map(|parts| parts.len())
    }
}

/// All that is to be started.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Ranks are numbered through these in order.
    pub programs: Vec<Program>,
    /// The environment common to all processes.
    pub environment: Vec<(OsString, OsString)>,
    /// Confinement to CPUs.
    pub bind: Bind,
    /// CPUs for each process; as many as its threads (`OMP_NUM_THREADS`) when absent.
    pub width: Option<usize>,
    /// Neighbours among the processes of a host are on different parts of this kind.
    pub spread: Option<Part>,
    /// So many processes on each part of this kind of each host, one part after the other.
    pub per_part: Option<(Part, usize)>,
    /// The CPUs that the processes of each host may use; all when empty.
    pub cpu_set: Vec<usize>,
    /// Which rights files of the processes do not get; what is inherited when absent.
    pub umask: Option<u32>,
    /// A process that is killed does not end the others: the job fails when they have ended.
    pub goes_on: bool,
    /// Which processes get our standard input.
    pub input: Input,
    /// How many processes this job and those that it spawns may have at a time, where somebody has said so.
    pub limit: Option<usize>,
    /// Process sets with their ranks, besides those of the programs.
    pub sets: Vec<(String, Vec<u32>)>,
    /// Longest time the job may take.
    pub timeout: Option<Duration>,
}

/// What the caller of [`crate::family::spawn`] may look at and change while the job runs.
pub trait Hooks {
    /// Output of `rank` is appended to `out`, which goes to `stream`. `text` is whole lines, or, at the end and
    /// for very long lines, a piece without a line end; `continues` says that the piece before was one.
    fn output(&mut self, rank: usize, stream: Stream, text: &[u8], continues: bool, out: &mut Vec<u8>) {
        let _ = (rank, stream, continues);
        out.extend_from_slice(text);
    }
    /// Whether output of several ranks is kept apart by lines even if only one rank writes.
    fn wants_lines(&self) -> bool {
        false
    }
    /// A signal came that is passed on to the processes.
    fn signal(&mut self, signal: i32) {
        let _ = signal;
    }
    /// A process has asked for a new job, whose ranks run here. Their numbers, as in the calls above and below, follow
    /// those of all ranks before.
    fn joined(&mut self, map: &[(String, Vec<usize>)]) {
        let _ = map;
    }
    /// All processes that there are have been started, in the order of their numbers; again when jobs have joined or are over.
    fn begun(&mut self, ranks: &[Begun]) {
        let _ = ranks;
    }
    /// A process ended.
    fn ended(&mut self, rank: usize, how: Ended) {
        let _ = (rank, how);
    }
    /// The job fails, and the processes that are left are about to be ended: the sentence about it, as far as it is known now.
    fn failing(&mut self, sentence: &str) {
        let _ = sentence;
    }
    /// Somebody wants to know what the ranks are doing: the lines for standard error. Ranks of which nothing can be
    /// seen are missing.
    fn explain(&mut self, ranks: &[Look]) -> String {
        let _ = ranks;
        String::new()
    }
    /// All processes have ended; the sums of their counters.
    fn finished(&mut self, counters: &[u64]) {
        let _ = counters;
    }
}

/// How the job went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Exit code for the launcher: 0, or that of the first failure.
    pub code: i32,
}

/// Why a job was not started. Nothing of it is left.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{sentence}")]
pub struct Refused {
    /// Exit code for the launcher.
    pub code: i32,
    /// One sentence for the user.
    pub sentence: String,
}

impl Refused {
    pub(crate) fn new(code: i32, sentence: impl Into<String>) -> Self {
        Self { code, sentence: sentence.into() }
    }
}

impl Job {
    /// The index of its program for each rank.
    pub(crate) fn programs_of_ranks(&self) -> Result<Vec<u32>, Refused> {
        let programs = (0u32..).zip(&self.programs);
        let of_rank: Vec<u32> =
            programs.flat_map(|(index, program)| std::iter::repeat_n(index, program.count)).collect();
        if of_rank.is_empty() {
            return Err(Refused::new(1, "the number of ranks is 0, expected 1 or more"));
        }
        Ok(of_rank)
    }

    /// What all hosts have to know of a job of `size` ranks that are placed as `mapping` says, where there is room for
    /// `room` processes.
    pub(crate) fn common(&self, size: usize, mapping: String, room: usize) -> Result<talk::Common, Refused> {
        if let Some(rank) = self.input.beyond(size) {
            let sentence = format!("standard input is to go to rank {rank}, but the job has {size} ranks");
            return Err(Refused::new(1, sentence));
        }
        let sets = process_sets(&self.programs, &self.sets).map_err(|why| Refused::new(1, why))?;
        let name = format!("posthaste-{}", std::process::id());
        Ok(talk::Common {
            family: name.clone(),
            name,
            preput: sets,
            universe: self.limit.unwrap_or(room).max(size) as i64,
            size,
            mapping,
            secret: secret().map_err(refused("cannot read random bytes from /dev/urandom"))?,
            programs: self.programs.clone(),
            environment: self.environment.clone(),
            bind: self.bind,
            width: self.width,
            spread: self.spread,
            per_part: self.per_part,
            cpu_set: self.cpu_set.clone(),
            umask: self.umask,
            goes_on: self.goes_on,
            input: self.input.clone(),
            // Where agents are to find what we were called with.
            directory: std::env::current_dir().ok().map(Into::into),
            ..talk::Common::default()
        })
    }
}

/// What ranks are told of their process sets: those of these programs and `more`.
pub(crate) fn process_sets(programs: &[Program], more: &[(String, Vec<u32>)]) -> Result<Vec<Pair>, String> {
    let size: usize = programs.iter().map(|program| program.count).sum();
    let counts = programs.iter().map(|program| program.count).collect();
    let mut sets = Sets { programs: counts, named: Vec::new() };
    let mut first = 0;
    for program in programs {
        let end = first + program.count as u32;
        for name in &program.sets {
            sets::check_name(name)?;
            sets.add(name, first..end);
        }
        first = end;
    }
    for (name, ranks) in more {
        sets::check_name(name)?;
        if let Some(beyond) = ranks.iter().find(|rank| **rank as usize >= size) {
            return Err(format!("the process set {name} has rank {beyond}, but the job has {size} ranks"));
        }
        sets.add(name, ranks.iter().copied());
    }
    Ok(sets.emit())
}

/// 64 random hexadecimal digits.
pub(crate) fn secret() -> io::Result<String> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A path travels as the bytes it is, not as text.
mod path_on_wire {
    use super::{Deserialize, OsString, PathBuf, Serialize};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        path.as_ref().map(|path| path.as_os_str().to_owned()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<OsString>::deserialize(from)?.map(PathBuf::from))
    }
}
