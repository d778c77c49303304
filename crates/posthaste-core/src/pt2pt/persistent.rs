//! Persistent requests: what is described once and started often.
//!
//! The request that the user keeps has a place in the table of requests, inactive; each start has a request of its own
//! behind it. Everything about a message has been checked and looked up when it is inserted, so a start costs less than a
//! nonblocking call. MPI-5.0 §3.9.
//!
//! One that the program has attached a handler to is set aside, so that starts and ends of all others do not look for
//! handlers (`pt2pt::handlers`).
//!
//! What must stay true: an entry counts only with the generation of the request that it was inserted for.

use crate::datatype::Segment;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::{ContextId, Peer, RequestId};
use crate::method::Methods;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::send::Started;
use crate::pt2pt::{Engine, recv, send};
use crate::request::by_slot::BySlot;
use crate::request::table::place;
use crate::request::{Request, State, Status, Table};
use crate::wire::Envelope;

/// A message that may be started.
#[derive(Debug)]
pub enum Message {
    /// A send.
    Send {
        /// Whom.
        to: Peer,
        /// With which envelope.
        envelope: Envelope,
        /// What.
        segment: Segment,
    },
    /// A receive.
    Recv {
        /// From whom; `None` is anybody.
        from: Option<Peer>,
        /// What fits.
        pattern: Pattern,
        /// Into what.
        segment: Segment,
    },
    /// To or from `MPI_PROC_NULL`, or in a communicator that is revoked: what its end reports.
    Nobody(Status),
}

#[derive(Debug)]
struct Entry {
    generation: u32,
    /// `None`: somebody else starts it.
    message: Option<Message>,
    active: Option<RequestId>,
}

/// Persistent requests by the slots of the requests that users keep.
#[derive(Debug, Default)]
pub struct Persistents {
    entries: Vec<Option<Entry>>,
    /// Those with handlers.
    aside: BySlot<Entry>,
}

impl Persistents {
    /// The request `id` is a persistent one, of this message or of something that others start.
    pub fn insert(&mut self, id: RequestId, message: Option<Message>) {
        let slot = place(id.slot);
        if self.entries.len() <= slot {
            self.entries.resize_with(slot + 1, || None);
        }
        self.entries[slot] = Some(Entry { generation: id.generation, message, active: None });
    }

    /// It is one no more; the request of its last start, if that was not ended.
    pub fn forget(&mut self, id: RequestId) -> Option<RequestId> {
        let active = self.end(id);
        if self.entry(id).is_some() {
            self.entries[place(id.slot)] = None;
        }
        self.aside.remove(id);
        active
    }

    /// It has a handler from now on.
    pub(super) fn set_aside(&mut self, id: RequestId) {
        if self.entry(id).is_some()
            && let Some(entry) = self.entries[place(id.slot)].take()
        {
            self.aside.insert(id, entry);
        }
    }

    /// It has none any more.
    pub(super) fn bring_back(&mut self, id: RequestId) {
        if let Some(entry) = self.aside.remove(id) {
            self.entries[place(id.slot)] = Some(entry);
        }
    }

    /// Whether it is persistent.
    pub fn is_persistent(&self, id: RequestId) -> bool {
        self.entry(id).is_some() || self.is_aside(id)
    }

    /// Whether it is persistent, and has a handler.
    pub(super) fn is_aside(&self, id: RequestId) -> bool {
        self.aside.contains(id)
    }

    /// The request behind a persistent one without a handler that is active.
    #[inline]
    pub fn active_plain(&self, id: RequestId) -> Option<RequestId> {
        self.entry(id)?.active
    }

    /// The request behind a persistent one that is active.
    #[inline]
    pub fn active(&self, id: RequestId) -> Option<RequestId> {
        match self.entry(id) {
            Some(entry) => entry.active,
            None => self.aside.get(id)?.active,
        }
    }

    /// What a wait for `id` waits for: itself, or the request of its start. `None`: it is persistent and inactive.
    #[inline]
    pub fn waited_for(&self, id: RequestId) -> Option<RequestId> {
        match self.entry(id).or_else(|| self.aside.get(id)) {
            Some(entry) => entry.active,
            None => Some(id),
        }
    }

    /// It has been started; `active` stands behind it.
    #[inline]
    pub fn begin(&mut self, id: RequestId, active: RequestId) {
        match self.entry_mut(id) {
            Some(entry) => entry.active = Some(active),
            None => self.begin_aside(id, active),
        }
    }

    #[cold]
    fn begin_aside(&mut self, id: RequestId, active: RequestId) {
        if let Some(entry) = self.aside.get_mut(id) {
            entry.active = Some(active);
        }
    }

    /// It is inactive again; the request that stood behind it.
    #[inline]
    pub fn end(&mut self, id: RequestId) -> Option<RequestId> {
        match self.entry_mut(id) {
            Some(entry) => entry.active.take(),
            None => self.end_aside(id),
        }
    }

    #[cold]
    fn end_aside(&mut self, id: RequestId) -> Option<RequestId> {
        self.aside.get_mut(id)?.active.take()
    }

    /// Those that send or receive in a communicator that is revoked: from now on each start ends with this error.
    pub(super) fn revoke(&mut self, context: ContextId, why: &Error) {
        for entry in self.entries.iter_mut().flatten().chain(self.aside.values_mut()) {
            let own = match &entry.message {
                Some(Message::Send { envelope, .. }) => envelope.context,
                Some(Message::Recv { pattern, .. }) => pattern.context,
                Some(Message::Nobody(_)) | None => continue,
            };
            if own.point_to_point() == context {
                entry.message = Some(Message::Nobody(Status { error: Some(why.clone()), ..Status::EMPTY }));
            }
        }
    }

    /// Makes sure that it may be started.
    ///
    /// # Errors
    /// When it is active, or finished and not completed.
    #[inline]
    pub fn check_inactive(&self, requests: &Table, id: RequestId) -> Result<()> {
        self.active(id).map_or(Ok(()), |active| Err(is_active(requests, active)))
    }

    #[inline]
    fn entry(&self, id: RequestId) -> Option<&Entry> {
        self.entries.get(place(id.slot))?.as_ref().filter(|entry| entry.generation == id.generation)
    }

    #[inline]
    fn entry_mut(&mut self, id: RequestId) -> Option<&mut Entry> {
        self.entries.get_mut(place(id.slot))?.as_mut().filter(|entry| entry.generation == id.generation)
    }
}

/// How the start of a persistent request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It is active.
    Yes,
    /// It is not one of a message: somebody else starts it.
    Elsewhere,
}

/// Starts the message of a persistent request.
///
/// # Errors
/// When it is active; when the table of requests is full.
#[inline]
pub fn start(engine: &mut Engine, methods: &mut Methods, id: RequestId) -> Result<Begun> {
    let Some(Entry { message: Some(message), active, .. }) = engine.persistent.entry(id) else {
        return Ok(Begun::Elsewhere);
    };
    if let Some(active) = active {
        return Err(is_active(&engine.requests, *active));
    }
    let active = match message {
        Message::Send { to, envelope, segment } => {
            if segment.is_plain() && send::at_once(engine, methods, *to, envelope, &mut segment.clone()) {
                Table::DONE
            } else {
                let (to, envelope, segment) = (*to, *envelope, segment.clone());
                match send::start_general(engine, methods, to, &envelope, segment)? {
                    Started::Complete => Table::DONE,
                    Started::Request(active) => active,
                }
            }
        }
        Message::Recv { from, pattern, segment } => {
            let (from, pattern, segment) = (*from, *pattern, segment.clone());
            match from {
                Some(from) if methods.is_next_there(from) => {
                    recv::start_there(engine, methods, from, &pattern, segment)?
                }
                _ => recv::start_from(engine, methods, from, &pattern, segment)?,
            }
        }
        Message::Nobody(status) => {
            let over = Request { status: status.clone(), ..Request::new(State::Complete) };
            engine.requests.insert(over)?
        }
    };
    engine.persistent.begin(id, active);
    Ok(Begun::Yes)
}

/// Starts the message of a persistent request that has a handler.
///
/// # Errors
/// As [`start`].
pub fn start_aside(engine: &mut Engine, methods: &mut Methods, id: RequestId) -> Result<Begun> {
    let has_handler = engine.persistent.is_aside(id);
    engine.persistent.bring_back(id);
    let begun = start(engine, methods, id);
    if has_handler {
        engine.persistent.set_aside(id);
    }
    begun
}

#[cold]
fn is_active(requests: &Table, active: RequestId) -> Error {
    let is_finished = active == Table::DONE
        || requests
            .get(active)
            .is_none_or(|request| matches!(request.state, State::Finished | State::Complete));
    let got = if is_finished { "a finished persistent request" } else { "an active persistent request" };
    let expected = "one that is inactive: complete it by a test or wait before it is started again";
    Error::invalid(ErrorClass::Request, "request", got, expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_counts_for_its_own_request_only() {
        let mut persistents = Persistents::default();
        let (old, new) = (RequestId { slot: 3, generation: 1 }, RequestId { slot: 3, generation: 2 });
        let behind = RequestId { slot: 5, generation: 1 };
        persistents.insert(old, None);
        persistents.begin(old, behind);
        assert!(persistents.check_inactive(&Table::new(8), old).is_err());
        persistents.insert(new, None);
        assert_eq!((persistents.active(old), persistents.active(new)), (None, None));
        persistents.begin(new, behind);
        assert_eq!(persistents.forget(old), None);
        assert_eq!(persistents.forget(new), Some(behind));
        assert_eq!(persistents.active(new), None);
    }
}
