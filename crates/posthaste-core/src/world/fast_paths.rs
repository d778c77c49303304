//! The fast paths of the blocking calls: a short message goes straight between the user's buffer and its packet,
//! without a request and without a queue; and messages that are described once and started often.
//!
//! MPI-5.0 §3.2, §3.4, §3.9.
//!
//! What must stay true: a fast path takes a message only where the general way would give the same one: no unexpected
//! message fits, and no other posted receive is to have it. Whatever needs attention ends it, and the general way goes on.

use crate::comm::Comm;
use crate::datatype::{Segment, Types};
use crate::error::Result;
use crate::ids::{Peer, RequestId};
use crate::progress::Vci;
use crate::pt2pt::arrival::{self, Found};
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::persistent::Message;
use crate::pt2pt::policy::Receive;
use crate::pt2pt::{recv, send};
use crate::request::{Status, complete};
use crate::runtime::Entered;
use crate::wait::Awaited;
use crate::wire::{Envelope, Mode};
use crate::world::{Sought, World, envelope, from_nobody, sought, to_nobody};

impl World {
    /// Sends a short message if there is room for it at once, and says whether it has; for doors that keep what
    /// cannot leave at once.
    ///
    /// # Errors
    /// A wrong rank or tag.
    pub fn send_at_once(&self, comm: &Comm, to: i32, tag: i32, segment: &Segment) -> Result<bool> {
        let Some(peer) = comm.destination(to)? else { return to_nobody(tag).map(|()| true) };
        let envelope = envelope(comm, tag, segment, Mode::Standard, Types::UNKNOWN)?;
        Ok(self.left_at_once(peer, &envelope, segment))
    }

    /// The same of a message whose arguments are known to be right.
    #[inline]
    pub(super) fn left_at_once(&self, peer: Peer, envelope: &Envelope, segment: &Segment) -> bool {
        let mut vci = self.runtime.enter(envelope.context.vci());
        let Vci { engine, methods, .. } = &mut *vci;
        let left = segment.is_plain() && send::at_once(engine, methods, peer, envelope, &mut segment.clone());
        methods.flush_gathered();
        left
    }

    /// The fast path of [`World::recv`]: looks for the message at the next packet of the peer, or of every peer, for a
    /// short while. It is not taken when anything else is under way that needs attention.
    #[inline]
    pub(super) fn recv_at_once(
        &self,
        peer: Option<Peer>,
        pattern: &Pattern,
        segment: &Segment,
        waited: &mut bool,
    ) -> Found {
        let mut vci = self.runtime.enter(pattern.context.vci());
        vci.stay_fair();
        let found = self.waiting.spin_poll(&mut vci, |Vci { engine, methods, .. }, looks| {
            if engine.matching.peek_unexpected(pattern).is_some() {
                return Some(Found::Other);
            }
            (0..looks).find_map(|_| {
                let mut call = Receive { into: segment, waited: *waited };
                let found = arrival::look(engine, methods, peer, pattern, &mut call).break_value();
                *waited |= found.is_none();
                found
            })
        });
        found.unwrap_or(Found::Other)
    }

    /// As [`World::wait_until`]. `next` names a request that is to end before anything else; while that is the first posted receive that
    /// its message fits, and says from which process that comes, it is looked for there.
    #[inline]
    pub fn wait_in_order<T>(
        &self,
        slot_or_handle: usize,
        call: &'static str,
        awaited: impl Fn(&Vci) -> Awaited,
        next: impl Fn(&Vci) -> Option<RequestId>,
        done: impl FnMut(&mut Vci) -> Option<T>,
    ) -> T {
        let look = |vci: &mut Entered<'_>| {
            vci.is_quiet() && next(vci).is_some_and(|id| self.received_at_once(vci, id))
        };
        self.waiting.until_or(self.vci_number(slot_or_handle), call, awaited, look, done)
    }

    /// Looks for the message of a posted receive for a short while. Whether that has ended it, and nothing else is to be done first.
    #[inline(always)]
    fn received_at_once(&self, vci: &mut Entered<'_>, id: RequestId) -> bool {
        vci.wait_fairly();
        let ended = self.waiting.spin_poll(vci, |Vci { engine, methods, .. }, looks| {
            // Handlers run before the wait is over.
            if !engine.finished.handlers.is_empty() {
                return Some(false);
            }
            recv::posted_at_once(engine, methods, id, looks).break_value()
        });
        ended == Some(true) && vci.engine.finished.handlers.is_empty()
    }

    /// The fast path of a synchronous send: looks for the acknowledgement at the next packet of the peer for a short
    /// while, and leaves what comes behind it to the next receive.
    pub(super) fn acknowledged_at_once(&self, vci: &mut Entered<'_>, peer: Peer, id: RequestId) {
        self.waiting.spin_poll(vci, |Vci { engine, methods, .. }, looks| {
            if engine.requests.get(id).is_none_or(complete::is_complete) {
                return Some(());
            }
            let look = |_| send::acknowledged_at_once(engine, methods, peer, id).break_value();
            (0..looks).find_map(look).map(drop)
        });
    }

    /// A send that may be started often.
    ///
    /// # Errors
    /// A wrong rank or tag.
    pub fn persistent_send(
        &self,
        comm: &Comm,
        to: i32,
        tag: i32,
        segment: Segment,
        mode: Mode,
    ) -> Result<Message> {
        let Some(to) = comm.destination(to)? else {
            return to_nobody(tag).map(|()| Message::Nobody(Status::EMPTY));
        };
        let envelope = envelope(comm, tag, &segment, mode, segment.types())?;
        Ok(Message::Send { to, envelope, segment })
    }

    /// A receive that may be started often.
    ///
    /// # Errors
    /// A wrong rank or tag.
    pub fn persistent_recv(&self, comm: &Comm, from: i32, tag: i32, segment: Segment) -> Result<Message> {
        Ok(match sought(comm, from, tag)? {
            Some(Sought { pattern, peer: from }) => Message::Recv { from, pattern, segment },
            None => Message::Nobody(from_nobody()),
        })
    }
}
