//! Persistent requests, and requests of two messages (MPI-5.0 §3.9, §3.10, §6.13).
//!
//! A persistent request keeps a place in the engine's table, inactive; each start has a request of its own, and the engine
//! knows which (`core::pt2pt::persistent`).
//!
//! What must stay true: the handle stays the same through all starts; the request of a start is taken out of the table
//! exactly once.

use std::sync::{Arc, Mutex, PoisonError};

use posthaste_core::coll::Schedule;
use posthaste_core::comm::Comm;
use posthaste_core::datatype::Segment;
use posthaste_core::error::Result;
use posthaste_core::ids::RequestId;
use posthaste_core::method::Pins;
use posthaste_core::progress::Vci;
use posthaste_core::pt2pt::persistent::{self, Begun, Message};
use posthaste_core::pt2pt::{Engine, recv};
use posthaste_core::request::{Composite, Request, State, Status, Table, composite};
use posthaste_core::runtime::Entered;

use super::bsend;
use super::library::library;
use super::object_ref::ObjectRef;
use super::request::{self, AtEnd, CommKey, Failure};

/// What a persistent request starts.
pub(crate) enum Plan {
    /// A message, which the engine has and starts; its communicator stays with it.
    Message {
        /// Where.
        comm: ObjectRef<Comm>,
    },
    /// A send in buffered mode.
    Buffered {
        /// Where.
        comm: ObjectRef<Comm>,
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
    pins: Mutex<Pins>,
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
    store(None, plan, comm)
}

/// The same for a message, whose communicator is `owner`.
pub(crate) fn prepare_message(message: Message, owner: ObjectRef<Comm>, comm: CommKey) -> Result<RequestId> {
    store(Some(message), Plan::Message { comm: owner }, comm)
}

fn store(message: Option<Message>, plan: Plan, comm: CommKey) -> Result<RequestId> {
    let (id, pins) = {
        let mut vci = plan.vci();
        let id = vci.engine.requests.insert(Request::new(State::Inactive))?;
        let pins = match &message {
            Some(Message::Send { segment, .. }) => vci.methods.pin(segment, false),
            Some(Message::Recv { segment, .. }) => vci.methods.pin(segment, true),
            Some(Message::Nobody(_)) | None => Pins::default(),
        };
        vci.engine.persistent.insert(id, message);
        (id, Mutex::new(pins))
    };
    request::persists(id, comm, Arc::new(Persistent { id, plan, comm, pins }));
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
        {
            let engine = &self.vci().engine;
            engine.persistent.check_inactive(&engine.requests, self.id)?;
        }
        let active = match &self.plan {
            Plan::Message { .. } => {
                // The engine starts all that have no handler.
                let mut vci = self.vci();
                let Vci { engine, methods, .. } = &mut *vci;
                return persistent::start_aside(engine, methods, self.id).map(|_| ());
            }
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

    fn cancel(&self, _over: bool) -> Result<bool> {
        let mut vci = self.vci();
        if let Some(id) = vci.engine.persistent.active(self.id) {
            request::take_back(&mut vci, id);
        }
        Ok(true)
    }

    fn freed(&self) -> Result<bool> {
        let pins = std::mem::take(&mut *self.pins.lock().unwrap_or_else(PoisonError::into_inner));
        let mut vci = self.vci();
        vci.methods.unpin(pins);
        let engine = &mut vci.engine;
        if let Some(id) = engine.persistent.forget(self.id) {
            recv::detach(engine, id);
        }
        Ok(true)
    }
}

/// A send and a receive under one request (MPI-5.0 §3.10, `MPI_Isendrecv`), which reports what was received. `sent` is the
/// memory that the send leaves from.
pub(crate) fn both(
    (send, recv): (RequestId, RequestId),
    sent: Option<Vec<u8>>,
    owner: &Comm,
    comm: CommKey,
) -> Result<RequestId> {
    let mut vci = library().world.vci_of(owner);
    recv::finish(&mut vci.engine, recv);
    let Engine { requests, finished, .. } = &mut vci.engine;
    let whole = composite::begin(requests, Composite::of(2).keeping_alive(sent), Status::EMPTY)?;
    request::belongs(whole, comm);
    composite::add(requests, finished, whole, recv, true);
    composite::add(requests, finished, whole, send, false);
    Ok(whole)
}
