//! Starting the processes of a job and seeing them to their end: one function, [`spawn`].
//!
//! Called by mpiexec, which is a small program over it. Calls `server`, `posthaste_os::{node, process}` and the
//! system. What must stay true: when [`spawn`] returns, nothing of the job is left, neither process nor
//! descriptor; one event loop and no threads; a slow reader of our output never keeps us from noticing a death.
//! Seed B12 ("mpirun is a small program over spawn_multiple"), MPI-5.0 §11.5 and §11.8.
//!
//! # Environment of a rank
//! `PMI_RANK`, `PMI_SIZE`, `PMI_FD` (the PMI-1.1 connection, an inherited socket), `PMI_SPAWNED=0`;
//! `POSTHASTE_NODE_FD` (the node segment), `POSTHASTE_LOCAL_RANK`, `POSTHASTE_LOCAL_SIZE`; `MPI_LOCALRANKID`,
//! `MPI_LOCALNRANKS` (what other launchers of the family set). The two descriptors stay open over `execve`; all
//! others of the launcher are closed. Standard input is the launcher's own for rank 0 and empty for the others;
//! standard output and error are pipes.
//!
//! Parts: `resolve` (programs and directories exist) → `verdict` (what an end of a process means, and the
//! sentence for it) → `output` (lines stay whole) → `input` (a terminal's keys go to rank 0) → `start` (environment,
//! CPUs, fork) → `ending` (when to ask, when to kill) → `run` (the loop).

mod ending;
mod input;
mod output;
mod resolve;
mod run;
mod start;
mod verdict;

pub use output::Stream;
pub use verdict::Ended;

use posthaste_os::node::Node;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// Some processes that run the same program.
#[derive(Clone, Debug, Default)]
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
    pub directory: Option<PathBuf>,
}

/// How processes are confined to CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// A process was started.
    fn started(&mut self, rank: usize, pid: i32) {
        let _ = (rank, pid);
    }
    /// A signal came that is passed on to the processes.
    fn signal(&mut self, signal: i32) {
        let _ = signal;
    }
    /// A process ended.
    fn ended(&mut self, rank: usize, how: Ended) {
        let _ = (rank, how);
    }
    /// Somebody wants to know what the ranks are doing: the lines for standard error.
    fn explain(&mut self, node: &Node) -> String {
        let _ = node;
        String::new()
    }
    /// All processes have ended; the node segment with its counters is still there.
    fn finished(&mut self, node: &Node) {
        let _ = node;
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
    fn new(code: i32, sentence: impl Into<String>) -> Self {
        Self { code, sentence: sentence.into() }
    }
}

/// Starts the processes of `job`, serves them, passes their output on to our own standard streams and returns
/// when all have ended. What failed is said in one sentence on standard error, begun with `name`. Standard input
/// goes to rank 0; our own becomes the empty file when it is not a terminal.
///
/// # Errors
/// When the job cannot be started: no such program or directory, no memory, no processes.
pub fn spawn(job: &Job, name: &str, hooks: &mut dyn Hooks) -> Result<Outcome, Refused> {
    run::Run::start(job, name, hooks)?.until_the_end()
}
