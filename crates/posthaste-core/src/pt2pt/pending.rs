//! What waits to leave towards one peer: packets that found no room, and messages that the peer holds back.
//!
//! Owned by the engine, one per peer; used by `action`, `flow`, `cancel`, `rendezvous`. What must stay true: messages leave
//! in the order in which they were started (MPI-5.0 §3.5); packets without a message go first, for they may be
//! what the peer waits for, and no message depends on coming before them. A message keeps its place until it
//! leaves or is taken out, so its place names it.

use std::collections::VecDeque;

use crate::ids::RequestId;
use crate::pt2pt::matching::Pattern;
use crate::wire::{Emit, Envelope, Seek, Sought};

/// A message that has not left. Its data is in its request.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Its request.
    pub id: RequestId,
    /// Its envelope.
    pub envelope: Envelope,
    /// The receiver has been told of it, and may ask for it any time.
    pub shown: bool,
    /// It has been asked back, so the receiver is not told of it again.
    pub cancelling: bool,
}

/// What waits to leave towards one peer.
#[derive(Debug, Default)]
pub struct Pending {
    /// Packets without messages.
    pub control: VecDeque<Emit>,
    /// Messages in order; those taken out leave holes, but never in front.
    messages: VecDeque<Option<Waiting>>,
    /// Place of the first of them.
    first: u64,
    /// The receiver asks for messages by itself: none leaves unasked until it says otherwise.
    pub frozen: bool,
    /// Its question, while it is open.
    pub question: Option<Seek>,
}

impl Pending {
    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.control.is_empty() && self.messages.is_empty()
    }

    /// Whether the message in front may leave.
    pub fn may_send_messages(&self) -> bool {
        self.control.is_empty() && !self.frozen
    }

    /// Puts a message at the end; its place.
    pub fn push(&mut self, id: RequestId, envelope: Envelope) -> u64 {
        self.messages.push_back(Some(Waiting { id, envelope, shown: false, cancelling: false }));
        self.end() - 1
    }

    /// The message whose turn it is.
    pub fn front(&self) -> Option<Waiting> {
        self.messages.front().copied().flatten()
    }

    /// The message at a place.
    pub fn at(&mut self, place: u64) -> Option<&mut Waiting> {
        let at = place.checked_sub(self.first)?;
        self.messages.get_mut(usize::try_from(at).ok()?)?.as_mut()
    }

    /// Takes out the message at a place, if it is still there.
    pub fn remove(&mut self, place: u64) {
        if let Some(at) = place.checked_sub(self.first)
            && let Some(message) = self.messages.get_mut(at as usize)
        {
            *message = None;
        }
        while let Some(None) = self.messages.front() {
            self.messages.pop_front();
            self.first += 1;
        }
    }

    /// Takes out the message whose turn it was.
    pub fn pop(&mut self) {
        self.remove(self.first);
    }

    /// The place behind the last message.
    pub fn end(&self) -> u64 {
        self.first + self.messages.len() as u64
    }

    /// The place of the first message that answers the question.
    pub fn seek(&self, seek: &Seek) -> Option<u64> {
        let skipped = seek.first.saturating_sub(self.first);
        let from = usize::try_from(skipped).ok()?.min(self.messages.len());
        let fits = |waiting: &Waiting| match seek.what {
            _ if waiting.cancelling => false,
            Sought::All(_) => true,
            Sought::Fitting(context, source, tag) => Pattern { context, source, tag }.fits(&waiting.envelope),
        };
        let found = self.messages.range(from..).position(|message| message.as_ref().is_some_and(fits))?;
        Some(self.first + (from + found) as u64)
    }
}
