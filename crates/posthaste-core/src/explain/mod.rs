//! What a rank waits for, in a form that others can read and explain: the words for wait states.
//!
//! A rank writes it on its status page in the node segment when it goes to sleep; a reader needs no help of the rank for it.
//! [`Report`]: what one rank publishes. `codec`: how it stands on the status page. [`analysis`]: what follows from the reports of
//! all ranks (who waits for whom, cycles, near misses). `words`: the sentences. [`names`]: how ranks and communicators
//! are called.
//!
//! What must stay true: a report is data from another process, so decoding checks everything; publishing costs nothing
//! until a rank sleeps; nothing is called a deadlock that could still go on by itself.

pub mod analysis;
mod codec;
pub mod names;
mod words;

use std::time::Duration;

pub use analysis::{Process, State, explain};

/// What one rank publishes while it waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// When it looked and had to go on waiting, as [`posthaste_os::machine::now`] tells time.
    pub at: Duration,
    /// Several threads may call: those that do not wait can still help.
    pub threaded: bool,
    /// The calls that wait: one, or more with several threads.
    pub waits: Vec<Wait>,
    /// Posted receives.
    pub posted: List,
    /// Messages that have arrived and that no receive asked for.
    pub unexpected: List,
    /// Sends under way.
    pub sends: List,
    /// Requests with handlers that run, or are due and do not.
    pub handled: Vec<Handled>,
    /// Collective operations under way, by communicator and number, whether a call waits for them or not.
    pub under_way: Vec<(u64, i32)>,
    /// Ranks of the world that wait for locks of memory of this one, each with one that has the lock.
    pub locks: Vec<(u32, u32)>,
    /// Names of the communicators in this report.
    pub names: Vec<(u64, String)>,
}

/// Some messages of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The first ones.
    pub shown: Vec<Message>,
    /// How many there are besides.
    pub more: u64,
}

/// A call that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Its name.
    pub call: String,
    /// Since when, as [`posthaste_os::machine::now`] tells time.
    pub since: Duration,
    /// One of the goals is enough.
    pub any: bool,
    /// What has to come about.
    pub goals: Vec<Goal>,
    /// How many goals there are besides, of which nothing is published.
    pub more: u64,
}

/// What a call waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// One message.
    Message(Message),
    /// Its part in a collective operation.
    Operation(Operation),
}

/// Numbers of operations that are started again and again have this bit: what is counted is the call that made them.
pub const PERSISTENT: i32 = 1 << 30;

/// A collective operation under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The function's name.
    pub name: String,
    /// Context of the communicator.
    pub communicator: u64,
    /// How many collective operations came before it on the communicator, and whether it is [`PERSISTENT`]; negative for those
    /// outside that count.
    pub number: i32,
    /// The root's rank in the communicator; negative where there is none.
    pub root: i32,
    /// The messages that it waits for now.
    pub messages: Vec<Message>,
}

/// One message, from the point of view of the rank that reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// How far it is.
    pub part: Part,
    /// The other side's rank in the world; `None` when any will do, or when it is not known.
    pub peer: Option<u32>,
    /// The other side's rank in the communicator, or `ANY_SOURCE`.
    pub rank: i32,
    /// Its tag, or `ANY_TAG`.
    pub tag: i32,
    /// Context of the communicator; `None` when it is not known any more.
    pub communicator: Option<u64>,
    /// Its length, or the room for it.
    pub bytes: u64,
}

/// How far a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Part {
    /// A receive is posted.
    Posted = 1,
    /// A probe looks for it.
    Probed = 2,
    /// It has been matched, its data is coming.
    Reassembly = 3,
    /// It has come, and no receive asks for it.
    Unexpected = 4,
    /// It is sent when there is room on the way.
    ForRoom = 5,
    /// The receiver has to receive it first.
    ForMatch = 6,
    /// The receiver has to take more of it first.
    ForData = 7,
    /// No message: the peer has to give back the lock of the memory of `rank` in a window.
    ForLock = 8,
    /// No message: the peer has to do what it was asked for on a window.
    ForOwner = 9,
    /// The word that the peer has begun an exposure epoch of a window.
    ForPost = 10,
    /// The word that the peer has ended its access epoch to a window.
    ForComplete = 11,
    /// The word that the peer has come to a fence of a window.
    ForFence = 12,
}

/// A request whose handler keeps it from being completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handled {
    /// The sender's rank in the communicator, of a receive; `ANY_SOURCE` of everything else.
    pub rank: i32,
    /// The tag, or `ANY_TAG`.
    pub tag: i32,
    /// What about the handler.
    pub standing: Standing,
    /// Since when, as [`posthaste_os::machine::now`] tells time; zero if that is not known.
    pub since: Duration,
}

/// How it stands with a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Standing {
    /// It runs.
    Runs = 1,
    /// Handlers are disabled.
    Disabled = 2,
    /// It waits for another one to return: no more may run inside each other.
    TooDeep = 3,
}

impl Goal {
    /// The messages that have to go through, all of them.
    pub fn messages(&self) -> &[Message] {
        match self {
            Self::Message(message) => std::slice::from_ref(message),
            Self::Operation(operation) => &operation.messages,
        }
    }
}

impl Report {
    /// The name of a communicator; of one without a name, how it is called instead.
    pub fn name(&self, context: u64) -> String {
        let given = self.names.iter().find(|(known, _)| *known == context);
        names::shown(context, given.map_or("", |(_, name)| name))
    }
}
