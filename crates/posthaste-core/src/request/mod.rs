//! Requests: what a user waits for, and what the protocols keep about a transfer under way.
//!
//! Rooms: [`table`] holds them, [`by_slot`] what few of them have besides, [`complete`] ends them, [`composite`] makes one of several, [`outside`] takes ends from
//! outside the engine, [`tasks`] has wakers, [`states`] says what the program's handlers and everything else do to each other. The states are seed
//! 004's: null (no request), inactive, active, finished; the engine has one word more, for a request that is finished and may
//! be completed: it is complete when no handler has to run any more. MPI-5.0 §3.7.
//!
//! What must stay true: a request's segment is in exactly one place: here while it waits, in the method while
//! the method moves the data.

pub mod complete;
pub mod composite;
pub mod outside;
pub mod states;
pub mod table;
pub mod tasks;
pub mod by_slot;

use std::any::Any;
use std::sync::Arc;

use posthaste_os::park::SleeperId;

use crate::datatype::Segment;
use crate::error::Error;
use crate::ids::{ANY_SOURCE, ANY_TAG, ContextId, Peer, RequestId};

pub use composite::Composite;
pub use table::Table;
use tasks::TaskId;

/// What a finished request reports (MPI-5.0 §3.2.5).
#[derive(Clone, Debug)]
pub struct Status {
    /// Rank of the sender in the communicator.
    pub source: i32,
    /// Tag of the message.
    pub tag: i32,
    /// Bytes received.
    pub bytes: u64,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// The message's outcome, if it went wrong.
    pub error: Option<Error>,
}

impl Status {
    /// The status of a send, of a null request, or of nothing at all (MPI-5.0 §3.7.3, "empty status").
    pub const EMPTY: Self =
        Self { source: ANY_SOURCE, tag: ANY_TAG, bytes: 0, cancelled: false, error: None };
}

/// Runs once, outside all locks, when its request is over: what the library itself does then.
pub type Handler = Box<dyn FnOnce(RequestId, &Status) + Send>;

/// A handler of the program (seed 004): invoked when a request is finished that it is attached to, on whichever thread is
/// there, outside all locks. One may serve many requests, also at the same time.
pub trait Invoke: Any + Send + Sync {
    /// The request, by the name that the program knows, is finished.
    fn invoke(&self, request: RequestId);

    /// Whether somebody counts on being called: it can be neither replaced nor detached before it has been invoked.
    fn stays(&self) -> bool {
        false
    }
}

impl Invoke for std::task::Waker {
    fn invoke(&self, _request: RequestId) {
        self.wake_by_ref();
    }
}

/// A handler of the program, shared by the requests that it is attached to.
pub type SharedHandler = Arc<dyn Invoke>;

/// What is to happen at the end of a request.
pub enum AtEnd {
    /// The library does something.
    Run(Handler),
    /// The program's handler is due, of the request by this name.
    Invoke(RequestId),
}

/// What a request is doing.
#[derive(Debug)]
pub enum State {
    /// Created, not started (persistent requests).
    Inactive,
    /// A send whose message has not left; it keeps its place in the queue of what waits for its peer.
    SendPending {
        /// What is to be sent.
        segment: Segment,
        /// Whom.
        to: Peer,
        /// Its place in the queue.
        place: u64,
    },
    /// Asked, no answer yet. The segment stays for the case that the answer is an ok-to-send.
    SendAsked {
        /// What is to be sent.
        segment: Segment,
        /// Whom.
        to: Peer,
    },
    /// The method copies; with `ack` a synchronous send that also waits for its match.
    Sending {
        /// Whom.
        to: Peer,
        /// Its request, once that is known.
        receiver: RequestId,
        /// The data has left.
        sent: bool,
        /// The match has been acknowledged, or need not be.
        acknowledged: bool,
    },
    /// A receive in the queue of posted receives.
    Posted {
        /// Where the message goes.
        segment: Segment,
        /// Its place in the queue.
        entry: u32,
        /// The process from which it comes, as far as that is known.
        from: Option<Peer>,
    },
    /// Matched; the method brings the data.
    Receiving {
        /// Room in the receive buffer, in bytes.
        room: u64,
        /// Length of the message.
        len: u64,
        /// The sender.
        from: Peer,
        /// Its request.
        sender: RequestId,
        /// The sender waits to hear that everything is here.
        fin: bool,
    },
    /// Matched; the sender writes into the receive buffer, or says that it cannot.
    Exposed(Box<Exposed>),
    /// The transfer is over, or never was; a device copies (`pt2pt::staging`).
    Staging,
    /// A collective operation in this context; its steps are in `coll`.
    Schedule(ContextId),
    /// The members of the communicator with this context for collective operations agree; what they say is in `pt2pt::agreed`.
    Agreeing(ContextId),
    /// Several parts: it ends when they all have.
    Composite(Box<Composite>),
    /// What others do, outside the engine, and end.
    External,
    /// The transfer is over, its handler has not run yet.
    Finished,
    /// Over; the next wait or test takes the status.
    Complete,
}

/// A receive whose sender writes into its buffer.
#[derive(Debug)]
pub struct Exposed {
    /// Where the message goes.
    pub segment: Segment,
    /// Length of the message, for which there is room.
    pub len: u64,
    /// The sender.
    pub from: Peer,
    /// Its request.
    pub sender: RequestId,
}

/// Who wants to know of a request's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Who looks at it.
    Caller,
    /// A sleeping thread, which has to be notified.
    Sleeper(SleeperId),
    /// A task that awaits it, and has to be woken.
    Task(TaskId),
    /// The request that it is a part of. It leaves the table when it ends.
    Part {
        /// The slot of that request, which does not leave the table before.
        whole: u32,
        /// The whole reports what this part reports.
        leads: bool,
    },
    /// Nobody: it leaves the table when it ends.
    Nobody,
}

/// A request.
pub struct Request {
    /// What it is doing.
    pub state: State,
    /// What it reports when it is over.
    pub status: Status,
    /// Who wants to know of its end.
    pub audience: Audience,
    /// A send whose message has been asked back.
    pub cancelling: bool,
    /// Its buffer is device memory: the end of the transfer goes through `pt2pt::staging`.
    pub staged: bool,
    /// What is to happen at the end.
    pub handler: Option<Box<AtEnd>>,
}

impl Request {
    /// A request in `state`, with an empty status.
    #[inline]
    pub fn new(state: State) -> Self {
        let (audience, status) = (Audience::Caller, Status::EMPTY);
        Self { state, status, audience, cancelling: false, staged: false, handler: None }
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("state", &self.state)
            .field("status", &self.status)
            .field("audience", &self.audience)
            .field("handler", &self.handler.is_some())
            .finish()
    }
}
