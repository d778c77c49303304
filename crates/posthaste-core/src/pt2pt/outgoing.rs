//! Where the sends under way go, for whoever asks what is under way. The protocols themselves need it only once.
//!
//! An entry is written when a send takes a request, off the fast path. What must stay true: an entry counts only with
//! the generation it was noted for, so it need not be taken back.

use crate::ids::{Peer, RequestId};
use crate::request::table::place;
use crate::wire::Envelope;

/// Receiver and envelope of sends, by the slots of their requests.
#[derive(Debug, Default)]
pub struct Outgoing {
    entries: Vec<Option<(u32, Peer, Envelope)>>,
}

impl Outgoing {
    /// Notes a send that has taken a request.
    pub fn note(&mut self, id: RequestId, to: Peer, envelope: &Envelope) {
        let slot = place(id.slot);
        if self.entries.len() <= slot {
            self.entries.resize(slot + 1, None);
        }
        self.entries[slot] = Some((id.generation, to, *envelope));
    }

    /// The receiver and the envelope of a send whose request is alive.
    pub fn find(&self, id: RequestId) -> Option<(Peer, Envelope)> {
        let (generation, to, envelope) = (*self.entries.get(place(id.slot))?)?;
        (generation == id.generation).then_some((to, envelope))
    }
}
