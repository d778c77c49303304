//! What the side of the ranks and the side of the user say to each other: [`Report`]s go up, [`Order`]s go down.
//!
//! On one host both sides are in one process and this is a plain value; across hosts it travels as a frame (see
//! `hosts`). What must stay true: a report or an order means the same whatever stands between the two sides; ranks are
//! numbered as in the job.

use super::ending::How;
use super::input::Input;
use super::verdict::{Cause, Ended};
use super::{Bind, Part, Program, Stream};
use crate::spawning::{Pair, Spawning};
use posthaste_os::node::Life;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::time::Duration;

/// What all hosts of a job have to know.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Common {
    /// Name of the job's key-value space.
    pub(crate) name: String,
    /// Name of the first job of its family: their ranks share CPUs.
    pub(crate) family: String,
    /// A process asked for it.
    pub(crate) spawned: bool,
    /// What its ranks find in the key-value space.
    pub(crate) preput: Vec<Pair>,
    /// What `MPI_UNIVERSE_SIZE` says; -1 when it is unknown.
    pub(crate) universe: i64,
    /// Ranks in the job.
    pub(crate) size: usize,
    /// How the ranks are placed on hosts, as the key `PMI_process_mapping` says it.
    pub(crate) mapping: String,
    /// What only processes of this job know.
    pub(crate) secret: String,
    pub(crate) programs: Vec<Program>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) bind: Bind,
    /// CPUs for each rank, where somebody has said so.
    pub(crate) width: Option<usize>,
    /// Neighbours among the ranks of a host are on different parts of this kind.
    pub(crate) spread: Option<Part>,
    /// So many ranks on each part of this kind of a host.
    pub(crate) per_part: Option<(Part, usize)>,
    /// The CPUs that the ranks of each host may use; all when empty.
    pub(crate) cpu_set: Vec<usize>,
    /// Which rights files of the ranks do not get, where somebody has said so.
    pub(crate) umask: Option<u32>,
    /// A rank that is killed does not end the others.
    pub(crate) goes_on: bool,
    /// Which ranks get standard input.
    pub(crate) input: Input,
    /// Incomplete lines are passed on at once.
    pub(crate) at_once: bool,
    /// Incomplete lines of this stream are passed on when they have waited a while: somebody looks at a terminal.
    pub(crate) prompt: [bool; 2],
    /// Where we were called; a program without a directory of its own runs there.
    pub(crate) directory: Option<OsString>,
}

/// The ranks that run on one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seats {
    /// How the user calls the host.
    pub(crate) host: String,
    /// For each rank here its number in the job, ascending, and the index of its program.
    pub(crate) ranks: Vec<(u32, u32)>,
}

/// From the side of the ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// A rank wrote this. `continues`: the piece before had no line end.
    Output {
        rank: u32,
        stream: Stream,
        continues: bool,
        #[serde(with = "serde_bytes")]
        text: Vec<u8>,
    },
    /// A line for standard error.
    Say(String),
    /// All ranks below wait at the fence. Pairs put since the last one.
    Fence(Vec<Pair>),
    /// A request that only the top can answer.
    Ask { rank: u32, line: String },
    /// A rank asks for a new job.
    Spawn { rank: u32, request: Spawning },
    /// Ranks have been started on a host.
    Begun(Vec<Begun>),
    /// All ranks below have introduced themselves.
    Ready,
    /// A job that was spawned has met those who asked for it.
    Met,
    /// A job that was spawned is connected with no other one any more (MPI-5.0 §11.10.4).
    Parted,
    /// A new job has begun: its hosts and the ranks there, numbered as in it.
    Joined(Vec<(String, Vec<usize>)>),
    /// Nothing is left of a job that was spawned: these ranks.
    Left { first: u32, count: u32 },
    /// A rank has ended, rightly or not.
    Ended { rank: u32, pid: i32, host: String, how: Ended },
    /// The job fails because of this.
    Failed(Fault),
    /// The job fails, but may go on to its end.
    FailedLater(Fault),
    /// A job fails, and with it those that are connected with it, a group; others go on.
    FailedAlone { group: usize, fault: Fault },
    /// Ranks are out of reach whose job is being ended while others go on.
    Unseen(Vec<u32>),
    /// Ranks are out of reach, or were never started.
    Down { ranks: Vec<u32>, fault: Fault },
    /// The ranks that get it have taken the last piece of input; there may be more.
    InputTaken,
    /// They take no more input.
    InputClosed,
    /// What is to be seen of ranks.
    Looks(Vec<Look>),
    /// Nothing of the job is left below; the sums of the ranks' counters.
    Over(Vec<u64>),
}

/// A rank that has been started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// Its number in the job.
    pub rank: u32,
    /// How the user calls its host.
    pub host: String,
    /// The path of its program there.
    pub executable: String,
    /// Its process id there.
    pub pid: i32,
}

/// What went wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fault {
    /// The number of its job in the family.
    pub(crate) job: u32,
    pub(crate) host: String,
    pub(crate) cause: Cause,
}

/// A rank that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gone {
    pub(crate) rank: u32,
    /// Unknown where its whole host is out of reach.
    pub(crate) pid: Option<i32>,
    pub(crate) host: String,
}

/// From the side of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// All ranks of the job wait at the fence: it opens. What was put before it.
    Open(Vec<Pair>),
    /// The answer to [`Report::Ask`].
    Answer { rank: u32, line: String },
    /// A rank has ended: who waits for it waits in vain.
    Gone(Gone),
    /// Ranks are lost, with their whole host or by themselves, and the job goes on: the others are to hear of it.
    Lost { ranks: Vec<u32>, whole_host: bool },
    /// Pass a signal on to the ranks.
    Signal(i32),
    /// End the ranks.
    End(How),
    /// All ranks of the job have ended: what they left behind may go.
    Finish,
    /// Read this output of the ranks, or leave it for now.
    Read { stream: Stream, on: bool },
    /// Nobody takes this output any more.
    Close(Stream),
    /// Input for the ranks that get it; none is its end.
    Input(#[serde(with = "serde_bytes")] Vec<u8>),
    /// Say what is to be seen of the ranks.
    Look,
}

/// What is to be seen of a rank from outside, without its help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// Its number in the job.
    pub rank: u32,
    /// Its process id.
    pub pid: u32,
    /// How far it is between initialisation and finalisation.
    #[serde(with = "LifeOnWire")]
    pub life: Life,
    /// What its process does, as `/proc/PID/stat` has it; `None` when there is no such process.
    pub process: Option<char>,
    /// What stands on its status page; `None` when that cannot be read.
    #[serde(with = "serde_bytes")]
    pub status_page: Option<Vec<u8>>,
    /// When this was seen, as [`posthaste_os::machine::now`] gives the time on its host.
    pub at: Duration,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Life")]
enum LifeOnWire {
    Absent,
    Inside,
    Finalised,
    Aborted,
}
