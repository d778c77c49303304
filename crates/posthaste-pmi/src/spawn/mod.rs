//! Starting the processes of a job and seeing them to their end: one function, [`spawn`].
//!
//! mpiexec is a small program over it, for a job on one host; `hosts` does the same for several with the parts of this
//! room. What must stay true: when [`spawn`] returns, nothing of the job is left, neither process nor descriptor; one
//! event loop and no threads; a slow reader of our output never keeps us from noticing a death. Seed B12 ("mpirun is a
//! small program over spawn_multiple"), MPI-5.0 §11.5 and §11.8.
//!
//! # Environment of a rank
//! `PMI_RANK`, `PMI_SIZE`, `PMI_FD` (the PMI-1.1 connection, an inherited socket), `PMI_SPAWNED=0`;
//! `POSTHASTE_NODE_FD` (the segment of the ranks on its host), `POSTHASTE_LOCAL_RANK`, `POSTHASTE_LOCAL_SIZE`,
//! `POSTHASTE_CPUS`; `POSTHASTE_SECRET` (what only processes of this job know); `MPI_LOCALRANKID`, `MPI_LOCALNRANKS`
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
pub use talk::Look;
pub use verdict::Ended;

use console::Console;
use input::Source;
use local::{Local, Ties, refused};
use nix::unistd::dup2_stdin;
use posthaste_os::machine;
use run::Signals;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
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
    /// Its whole environment, or what is added to the job's; see `replaces_environment`.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether `environment` replaces the job's instead of being added to it.
    pub replaces_environment: bool,
    /// Its working directory; ours when absent.
    #[serde(with = "path_on_wire")]
    pub directory: Option<PathBuf>,
}

/// How processes are confined to CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Bind {
    /// To one CPU each (more with `OMP_NUM_THREADS`) if there are enough for all, else not at all.
    #[default]
    Auto,
    /// As `Auto`, also for a job of one process.
    Core,
    /// Not at all.
    None,
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
    /// The CPUs that the processes of each host may use; all when empty.
    pub cpu_set: Vec<usize>,
    /// Which processes get our standard input.
    pub input: Input,
    /// Longest time the job may take.
    pub timeout: Option<Duration>,
}

/// What the caller of [`spawn`] may look at and change while the job runs.
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
    /// A process ended.
    fn ended(&mut self, rank: usize, how: Ended) {
        let _ = (rank, how);
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

/// Starts the processes of `job` on this host, serves them, passes their output on to our own standard streams and
/// returns when all have ended. What failed is said in one sentence on standard error, begun with `name`. Standard input
/// goes where the job says; our own becomes the empty file when it is handed on as it is.
///
/// # Errors
/// When the job cannot be started: no such program or directory, no memory, no processes.
pub fn spawn(job: &Job, name: &str, hooks: &mut dyn Hooks) -> Result<Outcome, Refused> {
    let programs = job.programs_of_ranks()?;
    let mut common = job.common(programs.len(), format!("(vector,(0,1,{}))", programs.len()))?;
    let ranks = (0..).zip(programs).collect();
    let seats = talk::Seats { host: machine::host_name(), ranks };
    let epoll = run::epoll().map_err(refused("cannot make an epoll"))?;
    let signals = Signals::catch(&epoll).map_err(refused("cannot catch signals"))?;
    let console = Console::new(hooks, name, job.timeout, &mut common, epoll.clone());
    let mut console = console.map_err(refused("cannot use the standard streams"))?;
    let readers = job.input.count(common.size);
    let passed_on = readers > 1 || (readers == 1 && io::stdin().is_terminal());
    let ties = Ties { passed_on, patience: None };
    let mut local = Local::start(&common, &seats, ties, &signals.before(), epoll.clone())?;
    if passed_on {
        console.read_from(Source::new().map_err(refused("cannot use standard input"))?);
    } else if let Ok(null) = File::open("/dev/null") {
        // A rank has it; nobody would see that it has closed it if we held it too.
        let _ = dup2_stdin(null);
    }
    run::run(&epoll, &signals, &mut console, &mut local)?;
    Ok(console.outcome())
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

    /// What all hosts have to know of a job of `size` ranks that are placed as `mapping` says.
    pub(crate) fn common(&self, size: usize, mapping: String) -> Result<talk::Common, Refused> {
        if let Some(rank) = self.input.beyond(size) {
            let sentence = format!("standard input is to go to rank {rank}, but the job has {size} ranks");
            return Err(Refused::new(1, sentence));
        }
        Ok(talk::Common {
            name: format!("posthaste-{}", std::process::id()),
            size,
            mapping,
            secret: secret().map_err(refused("cannot read random bytes from /dev/urandom"))?,
            programs: self.programs.clone(),
            environment: self.environment.clone(),
            bind: self.bind,
            cpu_set: self.cpu_set.clone(),
            input: self.input.clone(),
            ..talk::Common::default()
        })
    }
}

/// 64 random hexadecimal digits.
fn secret() -> io::Result<String> {
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
