//! Matching: posted receives meet messages, in MPI's order.
//!
//! A posted receive is filed under its own pattern; a message looks under the four patterns that it fits and takes the
//! receive posted first. A message nobody expected is filed under those patterns that receives have used so far, so
//! that an exact and a wildcard receive both find the earliest one with a single look. While there are few of a kind they
//! are not filed but stand in their order, and all are looked at. MPI-5.0 §3.5: "Messages are non-overtaking"; seed 000
//! "find or allocate".
//!
//! What must stay true: stamps grow, so "first" means first posted or first arrived; every entry leaves all its
//! queues at once; the entries of a kind are all among the few or all filed, and filed until the last has left.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::RangeBounds;
use std::sync::{Arc, Weak};

use posthaste_os::mem::Source;

use crate::datatype::Types;
use crate::error::Error;
use crate::ids::{ANY_SOURCE, ANY_TAG, ContextId, Peer, RequestId};
use crate::peers::PeerTable;
use crate::pt2pt::index::{Few, Index, Key};
use crate::wire::{BufferCursor, Envelope, Mode, Offer};

/// What a receive or a probe asks for. `source` and `tag` may be [`ANY_SOURCE`] and [`ANY_TAG`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// Communication context.
    pub context: ContextId,
    /// Rank in the communicator.
    pub source: i32,
    /// Tag.
    pub tag: i32,
}

impl Pattern {
    pub(super) fn key(&self) -> Key {
        Key { context: self.context.0, source: self.source, tag: self.tag }
    }

    /// The envelope of so many bytes in standard mode that fit. If something is left open, no message has it.
    #[inline(always)]
    pub fn plain(&self, len: u64) -> Envelope {
        let Self { context, source, tag } = *self;
        Envelope { context, source, tag, len, mode: Mode::Standard, types: Types::UNKNOWN }
    }

    /// Whether a message fits.
    pub fn fits(&self, envelope: &Envelope) -> bool {
        self.context == envelope.context
            && (self.source == envelope.source || self.source == ANY_SOURCE)
            && (self.tag == envelope.tag || self.tag == ANY_TAG)
    }
}

/// What an unexpected message brought.
#[derive(Debug)]
pub enum Content {
    /// All of it, copied.
    Eager {
        /// The data.
        data: Vec<u8>,
        /// The sender's request, if it waits for the match.
        sender: Option<RequestId>,
    },
    /// A question.
    Asked {
        /// The sender's request.
        sender: RequestId,
        /// Where the message can be had.
        offer: Offer,
        /// The first bytes of it.
        first: Vec<u8>,
    },
}

/// A message nobody had expected.
#[derive(Debug)]
pub struct Unexpected {
    /// Its envelope.
    pub envelope: Envelope,
    /// The process that sent it.
    pub from: Peer,
    /// What came.
    pub content: Content,
    /// What its receive is to say of it: in ready mode it came too early.
    pub error: Option<Error>,
}

impl Unexpected {
    /// What it takes here.
    fn bytes(&self) -> u64 {
        let data = match &self.content {
            Content::Eager { data, .. } => data.capacity() as u64,
            Content::Asked { first, .. } => first.capacity() as u64,
        };
        ENVELOPE_BYTES + data
    }

    /// Whether its sender is done with it.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.content, Content::Eager { sender: None, .. })
    }

    /// The sender's request, if it has one.
    fn sender(&self) -> Option<RequestId> {
        match self.content {
            Content::Eager { sender, .. } => sender,
            Content::Asked { sender, .. } => Some(sender),
        }
    }
}

/// The four ways in which a receive can ask, by how much it leaves open.
pub(super) const SHAPES: usize = 4;

pub(super) fn shape(pattern: &Pattern) -> usize {
    usize::from(pattern.source == ANY_SOURCE) | usize::from(pattern.tag == ANY_TAG) << 1
}

pub(super) fn key_in_shape(envelope: &Envelope, shape: usize) -> Key {
    Key { context: envelope.context.0, source: envelope.source, tag: envelope.tag }.in_shape(shape)
}

/// Room for an eager message that nobody expected comes in these lengths, so that what one message leaves serves the
/// next: a short one takes no long room, and a long one finds none that it would have to stretch.
const CLASSES: [usize; 3] = [64, 512, 4096];
/// Rooms of each length that are reserved for reuse.
const MOST_SPARE: usize = 256;
/// Early messages of collective operations that one look goes through.
const MOST_LOOKED_AT: usize = 128;
/// Looks at the end of an operation after which what has been taken is forgotten, wanted or not.
const LOOKS: u32 = 64;
/// The tags of one collective operation of a communicator differ in so many of their low bits only.
pub const OPERATION_BITS: u32 = 11;
/// What an unexpected message costs besides its data: its place in the queue and in up to four indexes, which grow by
/// doubling, and what the allocator adds.
const ENVELOPE_BYTES: u64 = 256;

#[derive(Debug)]
struct Posted {
    pattern: Pattern,
    id: RequestId,
    stamp: u64,
}

/// Entries in places of their own, which are used again.
#[derive(Debug)]
struct Places<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Places<T> {
    const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    #[inline(always)]
    fn get(&self, at: u32) -> Option<&T> {
        self.places.get(at as usize)?.as_ref()
    }

    /// The place of a new entry.
    #[inline(always)]
    fn put(&mut self, entry: T) -> u32 {
        let at = match self.free.pop() {
            Some(at) => at,
            None => self.add(),
        };
        self.places[at as usize] = Some(entry);
        at
    }

    #[cold]
    fn add(&mut self) -> u32 {
        self.places.push(None);
        self.places.len() as u32 - 1
    }

    #[inline(always)]
    fn take(&mut self, at: u32) -> Option<T> {
        let entry = self.places.get_mut(at as usize)?.take()?;
        self.free.push(at);
        Some(entry)
    }

    /// All entries with their places, in no order.
    fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.places.iter().enumerate().filter_map(|(at, entry)| Some((at as u32, entry.as_ref()?)))
    }
}

/// A context, shapes, and the life of the communicator.
type Narrow = (ContextId, u8, Weak<()>);

/// The shapes in which no receive of this context asks.
#[inline]
fn never_asked(narrow: &[Narrow], context: ContextId) -> u8 {
    narrow.iter().find(|(other, ..)| *other == context).map_or(0, |(_, shapes, _)| *shapes)
}

/// Posted receives and unexpected messages of one VCI.
#[derive(Debug)]
pub struct Matching {
    posted: Places<Posted>,
    posted_few: Few,
    posted_index: Index,
    /// Posted receives of each shape: shapes without any are not looked up.
    posted_shapes: [usize; SHAPES],
    posted_count: usize,
    /// Each with its stamp.
    unexpected: Places<(u64, Unexpected)>,
    unexpected_count: usize,
    unexpected_few: Few,
    unexpected_indexes: [Option<Index>; SHAPES],
    /// What came in contexts of collective operations, in its order; of that perhaps some has been taken since.
    early: VecDeque<Pattern>,
    /// The same of what came without data, which may say what becomes of an operation: that of each by itself.
    early_empty: BTreeMap<(u64, i32), Vec<Pattern>>,
    early_empty_count: usize,
    /// Looks at them, coming round.
    looks: u32,
    /// Contexts whose receives never ask in some shapes, a bit for each, as long as their communicators live.
    narrow: Vec<Narrow>,
    stamp: u64,
    arrivals: u64,
    /// What the unexpected messages of each peer take.
    unexpected_bytes: PeerTable<u64>,
    /// Memory of eager messages that have been taken, for the next ones of its class.
    spare: [Vec<Vec<u8>>; CLASSES.len()],
}

/// What the messages of a collective operation have in common.
fn operation(context: ContextId, tag: i32) -> (u64, i32) {
    (context.0, tag >> OPERATION_BITS)
}

impl Default for Matching {
    fn default() -> Self {
        Self {
            posted: Places::new(),
            posted_few: Few::new(),
            posted_index: Index::new(),
            posted_shapes: [0; SHAPES],
            posted_count: 0,
            unexpected: Places::new(),
            unexpected_count: 0,
            unexpected_few: Few::new(),
            unexpected_indexes: [Some(Index::new()), None, None, None],
            early: VecDeque::new(),
            early_empty: BTreeMap::new(),
            early_empty_count: 0,
            looks: 0,
            narrow: Vec::new(),
            stamp: 0,
            arrivals: 0,
            unexpected_bytes: PeerTable::default(),
            spare: [const { Vec::new() }; CLASSES.len()],
        }
    }
}

impl Matching {
    /// Files a receive. The number returned takes it back ([`Matching::unpost`]).
    #[inline(always)]
    pub fn post(&mut self, pattern: Pattern, id: RequestId) -> u32 {
        self.stamp += 1;
        let entry = self.posted.put(Posted { pattern, id, stamp: self.stamp });
        self.posted_shapes[shape(&pattern)] += 1;
        let few = self.are_few_posted();
        self.posted_count += 1;
        if few {
            if self.posted_few.push(pattern.key(), entry) {
                return entry;
            }
            self.file_few_posted();
        }
        self.posted_index.push(pattern.key(), entry);
        entry
    }

    /// Whether no posted receive is filed.
    #[inline(always)]
    fn are_few_posted(&self) -> bool {
        self.posted_few.len() == self.posted_count
    }

    #[cold]
    fn file_few_posted(&mut self) {
        for (key, entry) in self.posted_few.take() {
            self.posted_index.push(key, entry);
        }
    }

    /// Takes out the receive that was posted first among those that fit.
    #[inline]
    pub fn take_posted(&mut self, envelope: &Envelope) -> Option<RequestId> {
        let entry = self.posted_entry(envelope)?;
        self.unpost(entry)
    }

    #[inline]
    fn posted_entry(&self, envelope: &Envelope) -> Option<u32> {
        if self.posted_count == 0 {
            return None;
        }
        if self.are_few_posted() {
            let exact = key_in_shape(envelope, 0);
            return self.posted_few.find(|key| key.admits(&exact));
        }
        if self.posted_shapes[0] == self.posted_count {
            // No wildcards: the queue of exactly this pattern is the only one to look at.
            return self.posted_index.front(key_in_shape(envelope, 0));
        }
        let mut first: Option<(u64, u32)> = None;
        let never = never_asked(&self.narrow, envelope.context);
        for shape in 0..SHAPES {
            if self.posted_shapes[shape] == 0 || never & 1 << shape != 0 {
                continue;
            }
            if let Some(entry) = self.posted_index.front(key_in_shape(envelope, shape))
                && let Some(posted) = self.posted.get(entry)
                && first.is_none_or(|(stamp, _)| posted.stamp < stamp)
            {
                first = Some((posted.stamp, entry));
            }
        }
        Some(first?.1)
    }

    /// Whether a receive is posted that this message has to go to.
    #[inline]
    pub fn expects(&self, envelope: &Envelope) -> bool {
        self.posted_entry(envelope).is_some()
    }

    /// Whether this receive is the one to which the message has to go.
    #[inline]
    pub fn is_first(&self, entry: u32, envelope: &Envelope) -> bool {
        self.posted_entry(envelope) == Some(entry)
    }

    /// Takes a receive back; its request.
    #[inline]
    pub fn unpost(&mut self, entry: u32) -> Option<RequestId> {
        let posted = self.posted.take(entry)?;
        if self.are_few_posted() {
            self.posted_few.remove(entry);
        } else {
            self.posted_index.remove(entry);
        }
        self.posted_shapes[shape(&posted.pattern)] -= 1;
        self.posted_count -= 1;
        Some(posted.id)
    }

    /// Stores a message that nobody expected.
    pub fn add_unexpected(&mut self, message: Unexpected) {
        self.stamp += 1;
        self.arrivals += 1;
        let envelope = message.envelope;
        *self.unexpected_bytes.entry(message.from) += message.bytes();
        if envelope.context.is_collective() {
            self.note_early(&envelope);
        }
        let entry = self.unexpected.put((self.stamp, message));
        let few = self.are_few_unexpected();
        self.unexpected_count += 1;
        if few {
            if self.unexpected_few.push(key_in_shape(&envelope, 0), entry) {
                return;
            }
            self.file_few_unexpected();
        }
        let Self { unexpected_indexes, narrow, .. } = self;
        for (shape, index) in unexpected_indexes.iter_mut().enumerate() {
            if let Some(index) = index
                && (shape == 0 || never_asked(narrow, envelope.context) & 1 << shape == 0)
            {
                index.push(key_in_shape(&envelope, shape), entry);
            }
        }
    }

    /// From now on receives of this context never leave open whom they are from, or never the tag, until this is said
    /// otherwise; `life` is that of its communicator. False, and nothing changes, if a receive that does is posted.
    pub fn promise(
        &mut self,
        context: ContextId,
        no_any_source: bool,
        no_any_tag: bool,
        life: &Arc<()>,
    ) -> bool {
        let breaks = |shape: usize| no_any_source && shape & 1 != 0 || no_any_tag && shape & 2 != 0;
        if self.all_posted().any(|(pattern, _)| pattern.context == context && breaks(shape(pattern))) {
            return false;
        }
        self.narrow.retain(|(other, _, life)| *other != context && life.strong_count() > 0);
        let never = (0..SHAPES).filter(|shape| breaks(*shape)).fold(0, |never, shape| never | 1 << shape);
        if never != 0 {
            self.narrow.push((context, never, Arc::downgrade(life)));
        }
        // The next receive that leaves something open files all that is there now.
        self.unexpected_indexes[1..].iter_mut().for_each(|index| *index = None);
        true
    }

    /// Whether no unexpected message is filed.
    #[inline(always)]
    fn are_few_unexpected(&self) -> bool {
        self.unexpected_few.len() == self.unexpected_count
    }

    #[cold]
    fn file_few_unexpected(&mut self) {
        for (key, entry) in self.unexpected_few.take() {
            for (shape, index) in self.unexpected_indexes.iter_mut().enumerate() {
                if let Some(index) = index {
                    index.push(key.in_shape(shape), entry);
                }
            }
        }
    }

    /// Copies an eager message that nobody expected, into memory used before if there is some.
    pub fn copy_of(&mut self, data: Source<'_>) -> Vec<u8> {
        let room = CLASSES.iter().position(|room| data.len() <= *room);
        let spare = room.and_then(|class| self.spare[class].pop());
        let mut copy = spare.unwrap_or_else(|| Vec::with_capacity(room.map_or(data.len(), |at| CLASSES[at])));
        copy.resize(data.len(), 0);
        data.copy_to(&mut copy);
        copy
    }

    /// Takes the memory of an eager message back.
    pub fn recycle(&mut self, data: Vec<u8>) {
        let class = CLASSES.iter().position(|room| data.capacity() == *room);
        if let Some(spare) = class.map(|class| &mut self.spare[class])
            && spare.len() < MOST_SPARE
        {
            spare.push(data);
        }
    }

    /// The message that arrived first among those that fit; it stays.
    #[inline]
    pub fn peek_unexpected(&mut self, pattern: &Pattern) -> Option<&Unexpected> {
        let entry = self.unexpected_entry(pattern)?;
        self.unexpected.get(entry).map(|(_, message)| message)
    }

    /// Whether messages of collective operations may have come that nobody has asked for yet.
    #[inline(always)]
    pub fn has_early(&self) -> bool {
        !(self.early.is_empty() && self.early_empty.is_empty())
    }

    /// Messages of a context of collective operations that nobody has asked for yet and that are `wanted`, in the order in which they came,
    /// those without data at the end. Where there are many it is the oldest and the newest, and all without data of the operation with this
    /// tag: who is far behind does not look at all of them in every operation. Of those that are none of the last `new` unexpected messages
    /// the caller knows already.
    pub fn early(
        &mut self,
        context: ContextId,
        tag: i32,
        new: u64,
        wanted: impl Fn(&Pattern) -> bool,
    ) -> Vec<Pattern> {
        if self.unexpected_count == 0 {
            self.early.clear();
            self.early_empty.clear();
            self.early_empty_count = 0;
            return Vec::new();
        }
        let half = MOST_LOOKED_AT / 2;
        let is_first_look = new > half as u64;
        // Notes of operations that are started again are never wanted: as long as one stays, no operation ends without a look.
        self.looks = self.looks.wrapping_add(u32::from(is_first_look));
        if is_first_look && self.looks.is_multiple_of(LOOKS) && self.early.len() <= MOST_LOOKED_AT {
            self.forget_early();
        }
        let len = self.early.len();
        let oldest = if is_first_look { len.min(half) } else { 0 };
        let newest = half.min(usize::try_from(new).unwrap_or(half));
        let ends = (0..oldest).chain(len.saturating_sub(newest).max(oldest)..len);
        let is_wanted = |early: &Pattern| early.context == context && wanted(early);
        let found: Vec<usize> = ends.filter(|at| is_wanted(&self.early[*at])).collect();
        // What has been taken is forgotten, so that it is looked for once.
        let mut taken = Vec::new();
        let mut some: Vec<Pattern> = Vec::with_capacity(found.len());
        for at in found {
            let early = self.early[at];
            if self.unexpected_entry(&early).is_some() { some.push(early) } else { taken.push(at) }
        }
        for at in taken.into_iter().rev() {
            self.early.remove(at);
        }
        let operation = operation(context, tag);
        let empty = if is_first_look && self.early_empty_count <= MOST_LOOKED_AT {
            (context.0, i32::MIN)..=(context.0, i32::MAX)
        } else {
            operation..=operation
        };
        some.extend(self.empty_among(empty, wanted));
        some
    }

    /// Those of them without data that are of operations before that with this tag.
    pub fn empty_before(
        &mut self,
        context: ContextId,
        tag: i32,
        wanted: impl Fn(&Pattern) -> bool,
    ) -> Vec<Pattern> {
        self.empty_among((context.0, i32::MIN)..operation(context, tag), wanted)
    }

    /// Those of these operations.
    fn empty_among(
        &mut self,
        operations: impl RangeBounds<(u64, i32)>,
        wanted: impl Fn(&Pattern) -> bool,
    ) -> Vec<Pattern> {
        let all = self.early_empty.range(operations).flat_map(|(_, early)| early.iter().copied());
        let mut some: Vec<Pattern> = all.filter(wanted).collect();
        some.retain(|early| {
            let is_there = self.unexpected_entry(early).is_some();
            if !is_there {
                self.forget_empty(early);
            }
            is_there
        });
        some
    }

    /// Such a message has been taken.
    fn forget_empty(&mut self, taken: &Pattern) {
        let operation = operation(taken.context, taken.tag);
        let Some(early) = self.early_empty.get_mut(&operation) else { return };
        let before = early.len();
        early.retain(|early| early != taken);
        self.early_empty_count -= before - early.len();
        if early.is_empty() {
            self.early_empty.remove(&operation);
        }
    }

    /// All such messages that are wanted, of all contexts.
    pub fn all_early(&mut self, wanted: impl Fn(&Pattern) -> bool) -> Vec<Pattern> {
        let all = self.early.iter().chain(self.early_empty.values().flatten());
        let some: Vec<Pattern> = all.copied().filter(wanted).collect();
        some.into_iter().filter(|early| self.unexpected_entry(early).is_some()).collect()
    }

    #[inline(never)]
    fn note_early(&mut self, envelope: &Envelope) {
        // Those that are there are at most half of those that are noted, so each message is looked at about once.
        if self.early.len() + self.early_empty_count >= 2 * self.unexpected_count + 64 {
            self.forget_early();
        }
        let Envelope { context, source, tag, len, .. } = *envelope;
        let early = Pattern { context, source, tag };
        if len == 0 {
            self.early_empty.entry(operation(context, tag)).or_default().push(early);
            self.early_empty_count += 1;
        } else {
            self.early.push_back(early);
        }
    }

    /// Forgets what has been taken, and what is noted twice: messages of one kind come again and again, and of those that are there
    /// one note says enough.
    fn forget_early(&mut self) {
        let (mut early, mut empty) = (std::mem::take(&mut self.early), std::mem::take(&mut self.early_empty));
        let mut noted = HashSet::new();
        let mut is_wanted = |early: &Pattern| self.unexpected_entry(early).is_some() && noted.insert(*early);
        early.retain(&mut is_wanted);
        empty.retain(|_, of_one| {
            of_one.retain(&mut is_wanted);
            !of_one.is_empty()
        });
        self.early_empty_count = empty.values().map(Vec::len).sum();
        (self.early, self.early_empty) = (early, empty);
    }

    /// Takes out the message that arrived first among those that fit.
    #[inline]
    pub fn take_unexpected(&mut self, pattern: &Pattern) -> Option<Unexpected> {
        let entry = self.unexpected_entry(pattern)?;
        self.remove_unexpected(entry)
    }

    #[inline]
    fn remove_unexpected(&mut self, entry: u32) -> Option<Unexpected> {
        let (_, message) = self.unexpected.take(entry)?;
        if self.are_few_unexpected() {
            self.unexpected_few.remove(entry);
        } else {
            self.unexpected_indexes.iter_mut().flatten().for_each(|index| index.remove(entry));
        }
        self.unexpected_count -= 1;
        *self.unexpected_bytes.entry(message.from) -= message.bytes();
        Some(message)
    }

    /// Takes out the message that a peer's request stands behind. Every message is looked at: this is for cancelling.
    pub fn take_back(&mut self, from: Peer, sender: RequestId) -> Option<Unexpected> {
        let is_it = |message: &Unexpected| message.from == from && message.sender() == Some(sender);
        let (entry, _) = self.unexpected.iter().find(|(_, (_, message))| is_it(message))?;
        self.remove_unexpected(entry)
    }

    /// Stores the messages of a peer that lie in bounce buffers: `copy` gives the data of one that begins there, of which so much was
    /// there, if it is whole. One that is not stays without its buffer.
    pub fn take_over(
        &mut self,
        from: Peer,
        mut copy: impl FnMut((BufferCursor, u64), u64) -> Option<Vec<u8>>,
    ) {
        let all = self.unexpected.places.iter_mut().flatten().map(|(_, message)| message);
        for message in all.filter(|message| message.from == from) {
            let Envelope { len, mode, .. } = message.envelope;
            let before = message.bytes();
            let Content::Asked { sender, offer, .. } = &mut message.content else { continue };
            let Offer::Stream { cursor, filled } = *offer else { continue };
            *offer = Offer::Nothing;
            if let Some(data) = copy((cursor, filled), len) {
                let sender = (mode == Mode::Synchronous).then_some(*sender);
                message.content = Content::Eager { data, sender };
                *self.unexpected_bytes.entry(from) += message.bytes() - before;
            }
        }
    }

    /// Forgets what a peer has announced and not sent.
    pub fn forget_questions(&mut self, from: Peer) {
        self.forget(|message| message.from == from && matches!(message.content, Content::Asked { .. }));
    }

    /// Takes out all unexpected messages for which this holds.
    pub fn forget(&mut self, holds: impl Fn(&Unexpected) -> bool) -> Vec<Unexpected> {
        let entries = self.unexpected.iter().filter(|(_, (_, message))| holds(message));
        let entries: Vec<u32> = entries.map(|(entry, _)| entry).collect();
        entries.into_iter().filter_map(|entry| self.remove_unexpected(entry)).collect()
    }

    /// What the unexpected messages of a peer take, in bytes, each with its envelope.
    #[inline]
    pub fn unexpected_bytes(&self, from: Peer) -> u64 {
        self.unexpected_bytes.get(from).copied().unwrap_or(0)
    }

    #[inline]
    fn unexpected_entry(&mut self, pattern: &Pattern) -> Option<u32> {
        if self.are_few_unexpected() {
            let wanted = pattern.key();
            return self.unexpected_few.find(|key| wanted.admits(key));
        }
        let shape = shape(pattern);
        if self.unexpected_indexes[shape].is_none() {
            self.index_shape(shape);
        }
        self.unexpected_indexes[shape].as_ref()?.front(pattern.key())
    }

    /// The first receive of this shape: files every unexpected message under it, once.
    #[cold]
    fn index_shape(&mut self, shape: usize) {
        let filed = |(entry, (stamp, message)): (u32, &(u64, Unexpected))| {
            (*stamp, entry, key_in_shape(&message.envelope, shape))
        };
        let mut entries: Vec<(u64, u32, Key)> = self.unexpected.iter().map(filed).collect();
        entries.sort_unstable_by_key(|(stamp, ..)| *stamp);
        let mut index = Index::new();
        for (_, entry, key) in entries {
            index.push(key, entry);
        }
        self.unexpected_indexes[shape] = Some(index);
    }

    /// The receive that was posted first among those that fit; it stays.
    pub fn peek_posted(&self, envelope: &Envelope) -> Option<RequestId> {
        self.posted_entry(envelope).and_then(|entry| self.posted.get(entry)).map(|posted| posted.id)
    }

    /// The posted receives in the order of posting, unless there are more than so many.
    pub fn posted_in_order(&self, most: usize) -> Option<Vec<RequestId>> {
        if self.posted_count > most {
            return None;
        }
        let mut posted: Vec<&Posted> = self.posted.iter().map(|(_, posted)| posted).collect();
        posted.sort_unstable_by_key(|posted| posted.stamp);
        Some(posted.into_iter().map(|posted| posted.id).collect())
    }

    /// What a posted receive asks for.
    pub fn posted_pattern(&self, entry: u32) -> Option<Pattern> {
        self.posted.get(entry).map(|posted| posted.pattern)
    }

    /// What the posted receives wait for.
    pub fn posted_patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.posted.iter().map(|(_, posted)| &posted.pattern)
    }

    /// Counts the messages that nobody expected.
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Whether there is any unexpected message.
    #[inline]
    pub fn has_unexpected(&self) -> bool {
        self.unexpected_count > 0
    }

    /// Number of posted receives.
    #[inline]
    pub fn posted_count(&self) -> usize {
        self.posted_count
    }

    /// Whether any receive is posted.
    #[inline]
    pub fn has_posted(&self) -> bool {
        self.posted_count > 0
    }

    /// The pattern of a posted receive.
    pub fn posted(&self, entry: u32) -> Option<&Pattern> {
        self.posted.get(entry).map(|posted| &posted.pattern)
    }

    /// All posted receives, in no order.
    pub fn all_posted(&self) -> impl Iterator<Item = (&Pattern, RequestId)> {
        self.posted.iter().map(|(_, posted)| (&posted.pattern, posted.id))
    }

    /// All unexpected messages, in no order.
    pub fn all_unexpected(&self) -> impl Iterator<Item = &Unexpected> {
        self.unexpected.iter().map(|(_, (_, message))| message)
    }

    /// Number of posted receives and of unexpected messages.
    pub fn depths(&self) -> (usize, usize) {
        (self.posted_count, self.unexpected_count)
    }
}

#[cfg(test)]
mod tests;
