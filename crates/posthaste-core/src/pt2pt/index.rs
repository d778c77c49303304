//! Queues by key: the index that makes matching cost the same at one entry and at 100,000.
//!
//! Each key (context, source, tag) that has entries owns a first-in-first-out queue of them, doubly linked so that any
//! entry leaves at once. Keys are found by hash; what stands in a bucket are queues, not entries, so a long queue slows
//! nobody. No allocation once the tables have grown to the number of keys and entries in use.

/// What a message or a receive is filed under; wildcards are values of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) context: u64,
    pub(super) source: i32,
    pub(super) tag: i32,
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
    buckets: Vec<u32>,
    queues: Vec<Queue>,
    free: u32,
    used: usize,
    links: Vec<Link>,
}

impl Index {
    pub(super) fn new() -> Self {
        Self { buckets: vec![NONE; 64], queues: Vec::new(), free: NONE, used: 0, links: Vec::new() }
    }

    /// The entry that has waited longest under `key`.
    #[inline]
    pub(super) fn front(&self, key: Key) -> Option<u32> {
        let queue = self.find(key);
        (queue != NONE).then(|| self.queues[queue as usize].head)
    }

    /// Puts an entry at the end of the queue of `key`.
    #[inline]
    pub(super) fn push(&mut self, key: Key, entry: u32) {
        let mut queue = self.find(key);
        if queue == NONE {
            queue = self.add_queue(key);
        }
        if self.links.len() <= entry as usize {
            self.links.resize(entry as usize + 1, UNLINKED);
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
        if self.queues[queue as usize].head == NONE {
            self.drop_queue(queue);
        }
    }

    #[inline]
    fn bucket(&self, key: Key) -> usize {
        let low = u64::from(key.source as u32) << 32 | u64::from(key.tag as u32);
        let mixed = (low ^ key.context.rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.buckets.len() - 1)
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

    fn add_queue(&mut self, key: Key) -> u32 {
        if self.used >= self.buckets.len() {
            self.grow();
        }
        self.used += 1;
        let bucket = self.bucket(key);
        let next = self.buckets[bucket];
        let queue = Queue { key, head: NONE, tail: NONE, next };
        let at = if self.free == NONE {
            self.queues.push(queue);
            self.queues.len() as u32 - 1
        } else {
            let at = self.free;
            self.free = self.queues[at as usize].next;
            self.queues[at as usize] = queue;
            at
        };
        self.buckets[bucket] = at;
        at
    }

    fn drop_queue(&mut self, queue: u32) {
        let Queue { key, next, .. } = self.queues[queue as usize];
        let bucket = self.bucket(key);
        if self.buckets[bucket] == queue {
            self.buckets[bucket] = next;
        } else {
            let mut at = self.buckets[bucket];
            while self.queues[at as usize].next != queue {
                at = self.queues[at as usize].next;
            }
            self.queues[at as usize].next = next;
        }
        self.queues[queue as usize].next = self.free;
        self.free = queue;
        self.used -= 1;
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.buckets);
        self.buckets = vec![NONE; old.len() * 4];
        for mut at in old {
            while at != NONE {
                let Queue { key, next, .. } = self.queues[at as usize];
                let bucket = self.bucket(key);
                self.queues[at as usize].next = self.buckets[bucket];
                self.buckets[bucket] = at;
                at = next;
            }
        }
    }
}
