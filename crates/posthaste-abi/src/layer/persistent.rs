//! Persistent requests, and requests with two messages behind them (MPI-5.0 §3.9, §3.10, §6.13).
//!
//! A persistent request keeps a place in the engine's table, inactive; while it is active another request stands behind
//! it, and the engine knows which (`core::pt2pt::persistent`).
//!
//! What must stay true: the handle stays the same through all starts; what is behind a request is taken out of the
//! table exactly once.

use std::sync::{Arc, Mutex, PoisonError};

use posthaste_core::coll::Schedule;
use posthaste_core::comm::Comm;
use posthaste_core::datatype::Segment;
use posthaste_core::error::Result;
use posthaste_core::ids::RequestId;
use posthaste_core::method::Holds;
use posthaste_core::progress::Vci;
use posthaste_core::pt2pt::persistent::{self, Begun, Message};
use posthaste_core::pt2pt::recv;
use posthaste_core::request::{Request, State, Status, Table, complete};
use posthaste_core::runtime::Entered;

use super::bsend;
use super::held::Held;
use super::library::library;
use super::request::{self, AtEnd, CommKey, Failure, Stand};

/// What a persistent request starts.
pub(crate) enum Plan {
    /// A message, which the engine has and starts; its communicator stays with it.
    Message {
        /// Where.
        comm: Held<Comm>,
    },
    /// A send in buffered mode.
    Buffered {
        /// Where.
        comm: Held<Comm>,
        /// What.
        segment: Segment,
        /// To whom.
        dest: i32,
        /// With which tag.
        tag: i32,
    },
    /// A collective operation.
    Collective(Arc<Schedule>),
}

struct Persistent {
    id: RequestId,
    plan: Plan,
    comm: CommKey,
    /// What networks know of the buffer, which stays as long as the request (MPI-5.0 §3.9).
    holds: Mutex<Holds>,
}

impl Plan {
    /// The VCI of its messages.
    fn vci(&self) -> Entered<'static> {
        let world = &library().world;
        match self {
            Self::Message { comm } | Self::Buffered { comm, .. } => world.vci_of(comm),
            Self::Collective(schedule) => world.vci_at(schedule.vci()),
        }
    }
}

/// A persistent request of the program.
pub(crate) fn prepare(plan: Plan, comm: CommKey) -> Result<RequestId> {
    keep(None, plan, comm)
}

/// The same for a message, whose communicator is `held`.
pub(crate) fn prepare_message(message: Message, held: Held<Comm>, comm: CommKey) -> Result<RequestId> {
    keep(Some(message), Plan::Message { comm: held }, comm)
}

fn keep(message: Option<Message>, plan: Plan, comm: CommKey) -> Result<RequestId> {
    let (id, holds) = {
        let mut vci = plan.vci();
        let id = vci.engine.requests.insert(Request::new(State::Inactive))?;
        let holds = match &message {
            Some(Message::Send { segment, .. }) => vci.methods.hold(segment, false),
            Some(Message::Recv { segment, .. }) => vci.methods.hold(segment, true),
            Some(Message::Nobody(_)) | None => Holds::default(),
        };
        vci.engine.persistent.keep(id, message);
        (id, Mutex::new(holds))
    };
    request::persists(id, comm, Arc::new(Persistent { id, plan, comm, holds }));
    Ok(id)
}

/// Starts a persistent request. False if it is no request that the engine starts alone.
#[inline(always)]
pub(crate) fn start(vci: &mut Vci, id: RequestId) -> std::result::Result<bool, Failure> {
    vci.stay_fair();
    let Vci { engine, methods, .. } = &mut *vci;
    match persistent::start(engine, methods, id) {
        Ok(Begun::Yes) => Ok(true),
        Ok(Begun::Elsewhere) => Ok(false),
        Err(error) => Err(Failure { comm: Some(request::comm_of(id)), error }),
    }
}

impl Persistent {
    fn vci(&self) -> Entered<'static> {
        library().world.vci_with(self.id.slot as usize)
    }

    fn go(&self) -> Result<()> {
        let world = &library().world;
        self.vci().engine.persistent.check_inactive(self.id)?;
        let active = match &self.plan {
            Plan::Message { .. } => return Ok(()), // the engine has started it
            Plan::Buffered { comm, segment, dest, tag } => {
                bsend::send(comm, *dest, *tag, segment)?;
                Table::DONE
            }
            Plan::Collective(schedule) => world.start_again(schedule)?,
        };
        self.vci().engine.persistent.begin(self.id, active);
        Ok(())
    }
}

impl AtEnd for Persistent {
    fn start(&self) -> std::result::Result<(), Failure> {
        self.go().map_err(|error| Failure { comm: Some(self.comm), error })
    }

    fn stands(&self, vci: &Vci) -> Stand {
        match vci.engine.persistent.active(self.id) {
            None => Stand::Inactive,
            Some(id) => over(vci, id).map_or(Stand::Active, Stand::Over),
        }
    }

    fn clear(&self, vci: &mut Vci) {
        if let Some(id) = vci.engine.persistent.end(self.id) {
            vci.engine.requests.remove(id);
        }
    }

    fn stays(&self) -> bool {
        true
    }

    fn cancel(&self, _over: bool) -> Result<bool> {
        let mut vci = self.vci();
        if let Some(id) = vci.engine.persistent.active(self.id) {
            request::take_back(&mut vci, id);
        }
        Ok(true)
    }

    fn let_go(&self) -> Result<bool> {
        let holds = std::mem::take(&mut *self.holds.lock().unwrap_or_else(PoisonError::into_inner));
        let mut vci = self.vci();
        vci.methods.let_go(holds);
        let engine = &mut vci.engine;
        if let Some(id) = engine.persistent.forget(self.id) {
            recv::detach(engine, id);
        }
        Ok(true)
    }
}

/// The status of a request that is over; a stale one is over too.
fn over(vci: &Vci, id: RequestId) -> Option<Status> {
    match vci.engine.requests.get(id) {
        Some(found) if complete::is_complete(found) => Some(found.status.clone()),
        Some(_) => None,
        None => Some(Status::EMPTY),
    }
}

/// A send and a receive under one request (MPI-5.0 §3.10, `MPI_Isendrecv`). The request tells what was received.
struct Both {
    /// Where.
    comm: Held<Comm>,
    send: RequestId,
    recv: RequestId,
    /// Memory that the send leaves from.
    sent: Mutex<Option<Vec<u8>>>,
}

/// A request for a send and a receive.
pub(crate) fn both(
    (send, recv): (RequestId, RequestId),
    sent: Option<Vec<u8>>,
    held: Held<Comm>,
    comm: CommKey,
) -> Result<RequestId> {
    let both = Both { comm: held.clone(), send, recv, sent: Mutex::new(sent) };
    request::driven(&held, comm, Arc::new(both))
}

impl AtEnd for Both {
    fn behind(&self) -> Vec<RequestId> {
        vec![self.send, self.recv]
    }

    fn stands(&self, vci: &Vci) -> Stand {
        let Some(mut received) = over(vci, self.recv) else { return Stand::Active };
        let Some(sent) = over(vci, self.send) else { return Stand::Active };
        received.error = received.error.or(sent.error);
        Stand::Over(received)
    }

    fn clear(&self, vci: &mut Vci) {
        vci.engine.requests.remove(self.send);
        vci.engine.requests.remove(self.recv);
    }

    fn cancel(&self, _over: bool) -> Result<bool> {
        let mut vci = library().world.vci_of(&self.comm);
        request::take_back(&mut vci, self.recv);
        request::take_back(&mut vci, self.send);
        Ok(true)
    }

    fn let_go(&self) -> Result<bool> {
        let mut vci = library().world.vci_of(&self.comm);
        let engine = &mut vci.engine;
        if let Some(memory) = self.sent.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Both messages go on, and what the send leaves from stays as long.
            let over = Box::new(move |_, _: &Status| drop(memory));
            complete::attach(&mut engine.requests, &mut engine.finished, self.send, over);
        }
        recv::detach(engine, self.send);
        recv::detach(engine, self.recv);
        Ok(true)
    }
}
