//! Queues by key: the index that makes matching cost the same at one entry and at 100,000.
//!
//! Each key (context, source, tag) that has entries owns a first-in-first-out queue of them, doubly linked so that any
//! entry leaves at once. Keys are found by hash; what stands in a bucket are queues, not entries, so a long queue slows
//! nobody. A queue that is empty stays: its key comes again as a rule. Those of keys that do not are cleared away when
//! there is no room for a new one. No allocation once the tables have grown to the number of keys and entries in use.
//!
//! [`Few`] is what there is no index for: entries that are so few that looking at all of them is cheaper.

use crate::ids::{ANY_SOURCE, ANY_TAG};

/// What a message or a receive is filed under; wildcards are values of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) context: u64,
    pub(super) source: i32,
    pub(super) tag: i32,
}

impl Key {
    /// Whether a receive of this key takes a message of the other, which has no wildcards.
    #[inline(always)]
    pub(super) fn admits(&self, message: &Self) -> bool {
        self.context == message.context
            && (self.source == message.source || self.source == ANY_SOURCE)
            && (self.tag == message.tag || self.tag == ANY_TAG)
    }

    /// The key of receives that ask for this one in such a way ([`crate::pt2pt::matching::shape`]).
    #[inline(always)]
    pub(super) fn in_shape(self, shape: usize) -> Self {
        let source = if shape & 1 != 0 { ANY_SOURCE } else { self.source };
        let tag = if shape & 2 != 0 { ANY_TAG } else { self.tag };
        Self { source, tag, ..self }
    }
}

const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Queue {
    key: Key,
    head: u32,
    tail: u32,
    /// Next queue in the same bucket, or next free one.
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    queue: u32,
    before: u32,
    after: u32,
}

const UNLINKED: Link = Link { queue: NONE, before: NONE, after: NONE };

/// Queues of entries by key. Entries are numbers that the owner chooses, small and dense.
#[derive(Debug)]
pub(super) struct Index {
    /// A power of two of them, at least as many as queues.
    buckets: Vec<u32>,
    queues: Vec<Queue>,
    free: u32,
    /// The queue that got an entry last: windows of messages have one key.
    recent: u32,
    links: Vec<Link>,
}

impl Index {
    pub(super) fn new() -> Self {
        Self { buckets: vec![NONE; 64], queues: Vec::new(), free: NONE, recent: NONE, links: Vec::new() }
    }

    /// The entry that has waited longest under `key`.
    #[inline]
    pub(super) fn front(&self, key: Key) -> Option<u32> {
        let queue = self.queues.get(self.find(key) as usize)?;
        (queue.head != NONE).then_some(queue.head)
    }

    /// Puts an entry at the end of the queue of `key`.
    #[inline]
    pub(super) fn push(&mut self, key: Key, entry: u32) {
        let queue = match self.queues.get(self.recent as usize) {
            Some(recent) if recent.key == key => self.recent,
            _ => self.find_or_add(key),
        };
        if self.links.len() <= entry as usize {
            self.add_links(entry);
        }
        let place = &mut self.queues[queue as usize];
        self.links[entry as usize] = Link { queue, before: place.tail, after: NONE };
        match place.tail {
            NONE => place.head = entry,
            last => self.links[last as usize].after = entry,
        }
        place.tail = entry;
    }

    /// Takes an entry out, wherever it stands. An entry that is not in the index stays out.
    #[inline]
    pub(super) fn remove(&mut self, entry: u32) {
        let Some(link) = self.links.get_mut(entry as usize) else { return };
        let Link { queue, before, after } = std::mem::replace(link, UNLINKED);
        if queue == NONE {
            return;
        }
        match before {
            NONE => self.queues[queue as usize].head = after,
            before => self.links[before as usize].after = after,
        }
        match after {
            NONE => self.queues[queue as usize].tail = before,
            after => self.links[after as usize].before = before,
        }
    }

    /// The highest bits of the product depend on all of a key's.
    #[inline]
    fn bucket(&self, key: Key) -> usize {
        let low = u64::from(key.source as u32) << 32 | u64::from(key.tag as u32);
        let mixed =
            (low ^ key.context.wrapping_mul(0xd1b5_4a32_d192_ed03)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (u64::BITS - self.buckets.len().trailing_zeros())) as usize
    }

    #[inline]
    fn find(&self, key: Key) -> u32 {
        let mut at = self.buckets[self.bucket(key)];
        while at != NONE {
            let queue = &self.queues[at as usize];
            if queue.key == key {
                break;
            }
            at = queue.next;
        }
        at
    }

    #[cold]
    fn add_links(&mut self, entry: u32) {
        self.links.resize(entry as usize + 1, UNLINKED);
    }

    #[inline(never)]
    fn find_or_add(&mut self, key: Key) -> u32 {
        let found = self.find(key);
        self.recent = if found == NONE { self.add_queue(key) } else { found };
        self.recent
    }

    #[inline(never)]
    fn add_queue(&mut self, key: Key) -> u32 {
        if self.free == NONE && self.queues.len() == self.buckets.len() {
            self.make_room();
        }
        let bucket = self.bucket(key);
        let queue = Queue { key, head: NONE, tail: NONE, next: self.buckets[bucket] };
        let at = self.free;
        let at = if at == NONE {
            self.queues.push(queue);
            self.queues.len() as u32 - 1
        } else {
            self.free = std::mem::replace(&mut self.queues[at as usize], queue).next;
            at
        };
        self.buckets[bucket] = at;
        at
    }

    /// Clears empty queues away; where most are in use there will be more buckets, so that this is rare.
    #[cold]
    fn make_room(&mut self) {
        self.recent = NONE;
        let used = self.queues.iter().filter(|queue| queue.head != NONE).count();
        let buckets = self.buckets.len() * if used * 2 > self.buckets.len() { 4 } else { 1 };
        self.buckets.clear();
        self.buckets.resize(buckets, NONE);
        for at in 0..self.queues.len() {
            let bucket = self.bucket(self.queues[at].key);
            let queue = &mut self.queues[at];
            let list = if queue.head == NONE { &mut self.free } else { &mut self.buckets[bucket] };
            queue.next = std::mem::replace(list, at as u32);
        }
    }
}

/// More entries than this are worth an index.
const FEW: usize = 4;

/// Entries in their order, each with its key.
#[derive(Debug)]
pub(super) struct Few {
    entries: [(Key, u32); FEW],
    len: usize,
}

impl Few {
    pub(super) const fn new() -> Self {
        Self { entries: [(Key { context: 0, source: 0, tag: 0 }, NONE); FEW], len: 0 }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Puts an entry at the end; false if there is no room.
    #[inline(always)]
    pub(super) fn push(&mut self, key: Key, entry: u32) -> bool {
        let Some(place) = self.entries.get_mut(self.len) else { return false };
        *place = (key, entry);
        self.len += 1;
        true
    }

    /// The first entry whose key fits.
    #[inline(always)]
    pub(super) fn find(&self, fits: impl Fn(&Key) -> bool) -> Option<u32> {
        self.as_slice().iter().find(|(key, _)| fits(key)).map(|(_, entry)| *entry)
    }

    /// Takes an entry out.
    #[inline]
    pub(super) fn remove(&mut self, entry: u32) {
        if let Some(at) = self.as_slice().iter().position(|(_, other)| *other == entry) {
            self.len -= 1;
            for at in at..self.len {
                self.entries[at] = self.entries[at + 1];
            }
        }
    }

    /// Takes all entries out, in their order.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (Key, u32)> + use<> {
        let len = std::mem::take(&mut self.len);
        self.entries.into_iter().take(len)
    }

    #[inline(always)]
    fn as_slice(&self) -> &[(Key, u32)] {
        &self.entries[..self.len.min(FEW)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that never uses a tag twice must not make the tables grow, nor look at ever more queues.
    #[test]
    fn keys_that_do_not_come_again_are_cleared_away() {
        let mut index = Index::new();
        let key = |tag| Key { context: 7, source: 1, tag };
        index.push(key(-100), 0);
        for tag in 0..10_000 {
            index.push(key(tag), 1 + tag as u32 % 2);
            assert_eq!(index.front(key(tag)), Some(1 + tag as u32 % 2));
            index.remove(2 - tag as u32 % 2); // the one before, so that there are always two
            assert_eq!(index.front(key(tag - 1)), None);
        }
        assert_eq!(index.front(key(-100)), Some(0));
        assert!(index.queues.len() <= 64 && index.buckets.len() == 64, "{} queues", index.queues.len());
    }

    /// Keys that differ in one part only are spread over the buckets, whichever part it is.
    #[test]
    fn buckets_are_used_alike() {
        let index = Index::new();
        let by: [fn(i32) -> Key; 4] = [
            |n| Key { context: n as u64, source: 0, tag: 0 },
            |n| Key { context: 0, source: n, tag: 0 },
            |n| Key { context: 0, source: 0, tag: n },
            |n| Key { context: 0, source: 3, tag: n * 1024 },
        ];
        for (part, key) in by.iter().enumerate() {
            let mut used = [0; 64];
            (0..128).for_each(|n| used[index.bucket(key(n))] += 1);
            assert!(used.iter().all(|used| *used <= 8), "part {part}: {used:?}");
        }
    }
}
