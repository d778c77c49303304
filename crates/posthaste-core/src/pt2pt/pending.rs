//! What waits to leave towards one peer: packets that found no room, and messages that the peer throttles.
//!
//! The engine has one for each peer for whom something has had to wait. What must stay true: messages leave in the
//! order in which they were started (MPI-5.0 §3.5); packets without a message go first, for they may be what the peer
//! waits for, and no message depends on coming before them. A message keeps its place until it leaves or is taken out,
//! so its place names it.

use std::collections::{BTreeSet, VecDeque};

use crate::ids::{Peer, RequestId};
use crate::peers::PeerMap;
use crate::pt2pt::index::Index;
use crate::pt2pt::matching::{self, Pattern, SHAPES};
use crate::wire::{Emit, Envelope, Seek, Sought};

/// What waits to leave, by peer. A peer for whom nothing has had to wait costs a pointer at most.
#[derive(Debug, Default)]
pub(super) struct Queues(PeerMap<Pending>);

impl Queues {
    /// What waits for a peer.
    #[inline]
    pub(super) fn get(&self, to: Peer) -> Option<&Pending> {
        self.0.get(to)
    }

    /// The same, to be changed.
    pub(super) fn get_mut(&mut self, to: Peer) -> Option<&mut Pending> {
        self.0.get_mut(to)
    }

    /// Where something that has to wait for a peer is put.
    pub(super) fn of(&mut self, to: Peer) -> &mut Pending {
        self.0.get_or_make(to, Pending::default)
    }

    /// Nothing of a peer waits, and nothing will.
    pub(super) fn forget(&mut self, to: Peer) {
        self.0.forget(to);
    }

    /// The next peer, from `first` on, for whom something waits.
    pub(super) fn next_waiting(&self, first: Peer) -> Option<Peer> {
        self.0.iter_from(first).find(|(_, pending)| !pending.is_empty()).map(|(peer, _)| peer)
    }

    /// Whether something waits for this peer. Out of line: the fast paths come here only while something waits for somebody.
    #[cold]
    #[inline(never)]
    pub(super) fn is_waiting(&self, to: Peer) -> bool {
        self.get(to).is_some_and(|pending| !pending.is_empty())
    }

    /// Whether something waits for any peer.
    pub(super) fn are_waiting(&self) -> bool {
        self.next_waiting(Peer(0)).is_some()
    }
}

/// A message that has not left. Its data is in its request.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Its request.
    pub id: RequestId,
    /// Its envelope.
    pub envelope: Envelope,
    /// The receiver has been shown it, and may ask for it any time.
    pub shown: bool,
    /// It has been asked back, so it is not shown to the receiver again.
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
    /// Places of messages whose data is not there yet.
    without_data: BTreeSet<u64>,
    /// The receiver asks for messages by itself: none leaves unasked until it says otherwise.
    frozen: bool,
    /// Its question, while it is open.
    pub question: Option<Seek>,
    /// Messages by what may be asked for, made when it is; entries are places from `base` on.
    indexes: [Option<Index>; SHAPES],
    base: u64,
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
        let place = self.end();
        for (shape, index) in self.indexes.iter_mut().enumerate() {
            if let Some(index) = index {
                index.push(matching::key_in_shape(&envelope, shape), (place - self.base) as u32);
            }
        }
        self.messages.push_back(Some(Waiting { id, envelope, shown: false, cancelling: false }));
        place
    }

    /// The same for a message whose data is not there yet: neither it nor one behind it leaves, or is shown to the receiver.
    pub fn push_without_data(&mut self, id: RequestId, envelope: Envelope) -> u64 {
        let place = self.push(id, envelope);
        self.without_data.insert(place);
        place
    }

    /// The data of the message at a place is there.
    pub fn data_is_there(&mut self, place: u64) {
        self.without_data.remove(&place);
    }

    /// The message whose turn it is, if its data is there.
    pub fn front(&self) -> Option<Waiting> {
        self.messages.front().copied().flatten().filter(|_| self.first < self.ready_end())
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
            self.hide(place);
            self.data_is_there(place);
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

    /// The place behind the last message that may leave or be shown, but for its turn.
    pub fn ready_end(&self) -> u64 {
        self.without_data.first().copied().unwrap_or_else(|| self.end())
    }

    /// The place of the first message that answers the question.
    pub fn seek(&mut self, seek: &Seek) -> Option<u64> {
        self.seek_anywhere(seek).filter(|place| *place < self.ready_end())
    }

    fn seek_anywhere(&mut self, seek: &Seek) -> Option<u64> {
        match seek.what {
            Sought::All(_) => self.next_from(seek.first),
            Sought::Fitting(context, source, tag) | Sought::Next(context, source, tag) => {
                self.first_fitting(&Pattern { context, source, tag })
            }
        }
    }

    fn next_from(&self, first: u64) -> Option<u64> {
        let skipped = usize::try_from(first.saturating_sub(self.first)).ok()?.min(self.messages.len());
        let shown = |message: &Option<Waiting>| message.is_some_and(|waiting| !waiting.cancelling);
        let found = self.messages.range(skipped..).position(shown)?;
        Some(self.first + (skipped + found) as u64)
    }

    fn first_fitting(&mut self, pattern: &Pattern) -> Option<u64> {
        let shape = matching::shape(pattern);
        if self.indexes[shape].is_none() {
            if self.indexes.iter().all(Option::is_none) {
                self.base = self.first;
            }
            let mut index = Index::new();
            for (at, waiting) in self.messages.iter().enumerate() {
                if let Some(waiting) = waiting.filter(|waiting| !waiting.cancelling) {
                    let entry = self.first + at as u64 - self.base;
                    index.push(matching::key_in_shape(&waiting.envelope, shape), entry as u32);
                }
            }
            self.indexes[shape] = Some(index);
        }
        let entry = self.indexes[shape].as_ref()?.front(pattern.key())?;
        Some(self.base + u64::from(entry))
    }

    /// Notes that the message at a place is asked back, if the receiver has been shown it; it is not shown again.
    pub fn ask_back(&mut self, place: u64) -> bool {
        let Some(waiting) = self.at(place).filter(|waiting| waiting.shown) else { return false };
        waiting.cancelling = true;
        self.hide(place);
        true
    }

    /// The message at this place is not shown to the receiver any more.
    fn hide(&mut self, place: u64) {
        for index in self.indexes.iter_mut().flatten() {
            index.remove((place - self.base) as u32);
        }
    }

    /// Messages may leave in their order, or not.
    pub fn freeze(&mut self, frozen: bool, question: Option<Seek>) {
        self.frozen = frozen;
        self.question = question;
        // Only who asks needs the indexes; and their entries grow with the messages that pass through.
        let passed = self.first - self.base;
        if !frozen || passed > 4096 + self.messages.len() as u64 {
            self.indexes = Default::default();
        }
    }
}
