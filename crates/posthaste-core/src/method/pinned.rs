//! A cache of registrations of user memory for the next message: registering costs more than a short transfer.
//!
//! For methods that need registered memory. A registration is looked up by address, extended when a longer piece of the
//! same memory is wanted, and the one that was used longest ago goes when there are too many bytes. Seed 000 (VIA),
//! seed 003 ("leave pinned").
//!
//! What must stay true: a registration is found only while the memory that it was made for is still there. A network
//! pins the pages that it was given, and after munmap and mmap (or free and malloc, or madvise) other pages
//! are at the same address. So a registration is cached beyond its operation only if the kernel reports such changes
//! (`posthaste_os::watch`), and it is asked each time before one is found; or if a setting says that the program does
//! none. One that is in use is never ended, only not found any more.

use std::collections::BTreeMap;
use std::io;

use posthaste_os::watch::{self, Gone, Watcher};

use crate::config::LeavePinned;

/// What registering gives: the registration, and whether the network may write there.
pub type Registered<R> = io::Result<(R, bool)>;

/// Keeps a registration as long as it is not given back by [`Pinned::release`].
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Lease(usize);

/// Keeps a registration, and lets it be found, as long as it is not given back by [`Pinned::unpin`].
#[derive(Debug)]
#[must_use]
pub struct Pin(Lease);

#[derive(Debug)]
struct Entry<R> {
    start: usize,
    end: usize,
    region: R,
    writable: bool,
    uses: usize,
    /// When it was used last; its place among those that are idle.
    stamp: u64,
    /// It stands in `places`.
    findable: bool,
    /// Pins of it: as long as there is one, its memory is there.
    pins: usize,
    /// It may be found without one.
    stays: bool,
}

/// The registrations of one method.
#[derive(Debug)]
pub struct Pinned<R> {
    entries: Vec<Option<Entry<R>>>,
    free: Vec<usize>,
    /// Those that can be found, by start; they do not overlap.
    places: BTreeMap<usize, usize>,
    /// Those of them that nobody uses, by last use.
    idle: BTreeMap<u64, usize>,
    caches: bool,
    watcher: Option<Watcher>,
    gone: Box<Gone>,
    bytes: usize,
    limit: usize,
    clock: u64,
    page: usize,
    /// How often memory was registered.
    pub made: u64,
    /// How often that was not needed.
    pub found: u64,
}

impl<R> Pinned<R> {
    /// None yet; idle ones stay while all together have at most `limit` bytes.
    pub fn new(leave: LeavePinned, limit: usize) -> Self {
        let watcher = (leave == LeavePinned::Auto).then(Watcher::start).and_then(Result::ok);
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            places: BTreeMap::new(),
            idle: BTreeMap::new(),
            caches: watcher.is_some() || leave == LeavePinned::On,
            watcher,
            gone: Box::default(),
            bytes: 0,
            limit,
            clock: 0,
            page: watch::page_size(),
            made: 0,
            found: 0,
        }
    }

    /// A registration of these bytes, which `register` makes if there is none. `writing`: the network is to write there.
    ///
    /// # Errors
    /// What `register` said, and when the network may only read there.
    pub fn acquire(
        &mut self,
        address: usize,
        len: usize,
        writing: bool,
        mut register: impl FnMut(usize, usize) -> Registered<R>,
    ) -> io::Result<Lease> {
        self.hear();
        let start = address - address % self.page;
        let end = address.checked_add(len).and_then(|end| end.checked_next_multiple_of(self.page));
        let end = end.ok_or(io::ErrorKind::InvalidInput)?;
        if let Some(slot) = self.find(start, end, writing) {
            self.found += 1;
            self.take(slot);
            return Ok(Lease(slot));
        }
        self.make(start, end, writing, &mut register)
    }

    /// The same for memory that stays until it is unpinned, whatever the program does otherwise (the buffer of a
    /// persistent request, MPI-5.0 §3.9): it is found until then.
    ///
    /// # Errors
    /// As [`Pinned::acquire`].
    pub fn pin(
        &mut self,
        address: usize,
        len: usize,
        writing: bool,
        register: impl FnMut(usize, usize) -> Registered<R>,
    ) -> io::Result<Pin> {
        let lease = self.acquire(address, len, writing, register)?;
        if let Some(entry) = self.entries[lease.0].as_mut() {
            entry.pins += 1;
            if !entry.findable {
                // New, so nothing that can be found overlaps it.
                entry.findable = true;
                self.places.insert(entry.start, lease.0);
            }
        }
        Ok(Pin(lease))
    }

    /// Unpins memory.
    pub fn unpin(&mut self, Pin(lease): Pin) {
        if let Some(entry) = self.entries[lease.0].as_mut() {
            entry.pins -= 1;
            if entry.pins == 0 && !entry.stays && entry.findable {
                entry.findable = false;
                self.places.remove(&entry.start);
            }
        }
        self.release(lease);
    }

    /// The registration.
    pub fn region(&self, lease: &Lease) -> &R {
        &self.entries[lease.0].as_ref().expect("leased, so it is there").region
    }

    /// Gives a registration back.
    pub fn release(&mut self, lease: Lease) {
        let clock = self.tick();
        let Some(entry) = self.entries[lease.0].as_mut() else { return };
        entry.uses -= 1;
        if entry.uses > 0 {
            return;
        }
        if entry.findable {
            entry.stamp = clock;
            self.idle.insert(clock, lease.0);
            self.evict(self.limit);
        } else {
            self.remove(lease.0);
        }
    }

    /// Gives a registration back that is to be ended, and not found again: it ends at once, unless others use it, too.
    pub fn revoke(&mut self, lease: Lease) {
        self.hide(lease.0);
        self.release(lease);
    }

    /// This memory has gone away, or may have.
    pub fn forget(&mut self, start: usize, end: usize) {
        while let Some((_, slot)) = self.overlapping(start, end) {
            self.hide(slot);
        }
    }

    /// Whether registrations stay for the next message.
    pub fn caches(&self) -> bool {
        self.caches
    }

    /// Bytes that are registered.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes note of what the kernel reports.
    fn hear(&mut self) {
        let Some(watcher) = &self.watcher else { return };
        watcher.gone(&mut self.gone);
        if self.gone.is_empty() {
            return;
        }
        let gone = std::mem::take(&mut self.gone);
        for (start, end) in gone.ranges() {
            self.forget(start, end);
        }
        self.gone = gone;
    }

    fn find(&self, start: usize, end: usize, writing: bool) -> Option<usize> {
        let (_, slot) = self.places.range(..=start).next_back()?;
        let entry = self.entries[*slot].as_ref()?;
        (entry.end >= end && (entry.writable || !writing)).then_some(*slot)
    }

    /// The first findable registration with bytes in this range.
    fn overlapping(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let before = self.places.range(..=start).next_back();
        let after = self.places.range(start..end).next();
        let overlaps = |slot: usize| self.entries[slot].as_ref().is_some_and(|entry| entry.end > start);
        let first = before.filter(|(_, slot)| overlaps(**slot)).or(after)?;
        (*first.0 < end).then_some((*first.0, *first.1))
    }

    fn make(
        &mut self,
        start: usize,
        end: usize,
        writing: bool,
        register: &mut impl FnMut(usize, usize) -> Registered<R>,
    ) -> io::Result<Lease> {
        // What was registered of the same memory is part of the new one, if that does not get too long.
        let (mut wide_start, mut wide_end) = (start, end);
        while let Some((_, slot)) = self.overlapping(start, end) {
            if let Some(entry) = &self.entries[slot] {
                (wide_start, wide_end) = (wide_start.min(entry.start), wide_end.max(entry.end));
            }
            self.hide(slot);
        }
        let mut made = None;
        if (wide_start, wide_end) != (start, end) && wide_end - wide_start <= self.limit {
            made = self.register(wide_start, wide_end, register).ok();
        }
        let entry = match made {
            Some(entry) => entry,
            None => match self.register(start, end, register) {
                Err(_) if !self.idle.is_empty() => {
                    self.evict(0); // there may be too many
                    self.register(start, end, register)?
                }
                entry => entry?,
            },
        };
        if writing && !entry.writable {
            let what = format!("the network may not write to memory at {start:#x}");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        self.made += 1;
        self.bytes += entry.end - entry.start;
        let (place, findable) = (entry.start, entry.findable);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() - 1
        });
        self.entries[slot] = Some(entry);
        if findable {
            self.places.insert(place, slot);
        }
        self.evict(self.limit);
        Ok(Lease(slot))
    }

    /// Registers, and before that watches: what happens in between is heard of.
    fn register(
        &mut self,
        start: usize,
        end: usize,
        register: &mut impl FnMut(usize, usize) -> Registered<R>,
    ) -> io::Result<Entry<R>> {
        let is_sure = self.watcher.as_ref().is_none_or(|watcher| watcher.watch(start, end).is_ok());
        let (region, writable) = register(start, end - start)?;
        let stays = self.caches && is_sure;
        Ok(Entry { start, end, region, writable, uses: 1, stamp: 0, findable: stays, pins: 0, stays })
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn take(&mut self, slot: usize) {
        let Some(entry) = self.entries[slot].as_mut() else { return };
        if entry.uses == 0 {
            self.idle.remove(&entry.stamp);
        }
        entry.uses += 1;
    }

    /// Lets idle registrations go, the one that was used longest ago first.
    fn evict(&mut self, limit: usize) {
        while self.bytes > limit
            && let Some((_, slot)) = self.idle.first_key_value()
        {
            let slot = *slot;
            let range = self.entries[slot].as_ref().map(|entry| (entry.start, entry.end));
            self.hide(slot);
            if let (Some(watcher), Some((start, end))) = (&self.watcher, range) {
                watcher.unwatch(start, end);
            }
        }
    }

    /// Is not found any more; goes at once, or when nobody uses it any more.
    fn hide(&mut self, slot: usize) {
        let Some(entry) = self.entries[slot].as_mut() else { return };
        if std::mem::take(&mut entry.findable) {
            self.places.remove(&entry.start);
        }
        if entry.uses == 0 {
            self.idle.remove(&entry.stamp);
            self.remove(slot);
        }
    }

    fn remove(&mut self, slot: usize) {
        if let Some(entry) = self.entries[slot].take() {
            self.bytes -= entry.end - entry.start;
            self.free.push(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::rc::Rc;

    const PAGES: usize = 24;

    /// A registration as a network has it: which pages it pinned. It reports its end.
    #[derive(Debug)]
    struct Region {
        first: usize,
        pages: Vec<u64>,
        alive: Rc<RefCell<Vec<(usize, usize)>>>,
    }

    impl Region {
        fn range(&self) -> (usize, usize) {
            (self.first, self.first + self.pages.len())
        }
    }

    impl Drop for Region {
        fn drop(&mut self) {
            let mut alive = self.alive.borrow_mut();
            let at = alive.iter().position(|range| *range == self.range()).unwrap();
            alive.swap_remove(at);
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Acquire(usize, usize),
        Release(usize),
        Unmap(usize, usize),
        Map(usize, usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let range = || (0..PAGES, 1..8usize).prop_map(|(first, n)| (first, n.min(PAGES - first)));
        let step = prop_oneof![
            4 => range().prop_map(|(first, n)| Step::Acquire(first, n)),
            3 => any::<usize>().prop_map(Step::Release),
            1 => range().prop_map(|(first, n)| Step::Unmap(first, n)),
            1 => range().prop_map(|(first, n)| Step::Map(first, n)),
        ];
        prop::collection::vec(step, 1..80)
    }

    /// The same rules, done by looking at everything.
    #[derive(Debug, Default)]
    struct Naive {
        regions: Vec<Known>,
        clock: u64,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Known {
        id: u64,
        first: usize,
        last: usize,
        uses: usize,
        stamp: u64,
        findable: bool,
    }

    impl Naive {
        fn hide(&mut self, first: usize, last: usize) {
            for known in self.regions.iter_mut().filter(|known| known.first < last && first < known.last) {
                known.findable = false;
            }
            self.regions.retain(|known| known.findable || known.uses > 0);
        }

        fn pages(&self) -> usize {
            self.regions.iter().map(|known| known.last - known.first).sum()
        }

        fn evict(&mut self, limit: usize) {
            while self.pages() > limit
                && let Some(oldest) =
                    self.regions.iter().filter(|known| known.uses == 0).min_by_key(|known| known.stamp)
            {
                let id = oldest.id;
                self.regions.retain(|known| known.id != id);
            }
        }

        /// What the answer must be: its name and range.
        fn acquire(&mut self, at: (usize, usize), limit: usize, mapped: &[Option<u64>]) -> Option<Known> {
            let (first, last) = at;
            self.clock += 1;
            let covers = |known: &&mut Known| known.findable && known.first <= first && last <= known.last;
            if let Some(known) = self.regions.iter_mut().find(covers) {
                known.uses += 1;
                return Some(*known);
            }
            let (mut low, mut high) = at;
            for known in
                self.regions.iter().filter(|known| known.findable && known.first < last && first < known.last)
            {
                (low, high) = (low.min(known.first), high.max(known.last));
            }
            self.hide(first, last);
            let is_mapped = |low: usize, high: usize| mapped[low..high].iter().all(Option::is_some);
            if !(high - low <= limit && is_mapped(low, high)) {
                (low, high) = at;
            }
            if !is_mapped(low, high) {
                self.evict(0);
                return None;
            }
            let new = Known { id: self.clock, first: low, last: high, uses: 1, stamp: 0, findable: true };
            self.regions.push(new);
            self.evict(limit);
            Some(new)
        }

        fn release(&mut self, id: u64, limit: usize) {
            self.clock += 1;
            let known = self.regions.iter_mut().find(|known| known.id == id).unwrap();
            known.uses -= 1;
            known.stamp = self.clock;
            self.regions.retain(|known| known.findable || known.uses > 0);
            self.evict(limit);
        }
    }

    proptest! {
        /// Memory comes and goes; what is found must have pinned the pages that are there now, and exactly those
        /// registrations are alive that the naive rules cache.
        #[test]
        fn what_is_found_is_the_memory_that_is_there(steps in steps(), limit in 4..40usize) {
            let page = watch::page_size();
            let mut mapped: Vec<Option<u64>> = (0..PAGES as u64).map(Some).collect();
            let mut generation = PAGES as u64;
            let alive = Rc::new(RefCell::new(Vec::new()));
            let mut pinned: Pinned<Region> = Pinned::new(LeavePinned::On, limit * page);
            let mut naive = Naive::default();
            let mut leases: Vec<(Lease, u64)> = Vec::new();
            for step in steps {
                match step {
                    Step::Acquire(first, n) => {
                        let answer = pinned.acquire(first * page + 5, n * page - 9, true, |start, len| {
                            let (first, n) = (start / page, len / page);
                            let pages: Option<Vec<u64>> = mapped[first..first + n].iter().copied().collect();
                            let pages = pages.ok_or(io::ErrorKind::InvalidInput)?;
                            alive.borrow_mut().push((first, first + n));
                            Ok((Region { first, pages, alive: alive.clone() }, true))
                        });
                        let expected = naive.acquire((first, first + n), limit, &mapped);
                        prop_assert_eq!(answer.is_ok(), expected.is_some());
                        if let (Ok(lease), Some(known)) = (answer, expected) {
                            let region = pinned.region(&lease);
                            prop_assert_eq!(region.range(), (known.first, known.last));
                            let from = first - region.first;
                            let held = region.pages[from..from + n].iter().copied().map(Some);
                            prop_assert!(held.eq(mapped[first..first + n].iter().copied()));
                            leases.push((lease, known.id));
                        }
                    }
                    Step::Release(at) if !leases.is_empty() => {
                        let (lease, id) = leases.swap_remove(at % leases.len());
                        pinned.release(lease);
                        naive.release(id, limit);
                    }
                    Step::Release(_) => {}
                    Step::Unmap(first, n) => {
                        mapped[first..first + n].fill(None);
                        pinned.forget(first * page, (first + n) * page);
                        naive.hide(first, first + n);
                    }
                    Step::Map(first, n) => {
                        for page in &mut mapped[first..first + n] {
                            generation += 1;
                            page.get_or_insert(generation);
                        }
                    }
                }
                prop_assert_eq!(pinned.bytes(), naive.pages() * page);
                let mut kept: Vec<_> = naive.regions.iter().map(|known| (known.first, known.last)).collect();
                kept.sort_unstable();
                alive.borrow_mut().sort_unstable();
                prop_assert_eq!(&*alive.borrow(), &kept);
            }
            for (lease, _) in leases {
                pinned.release(lease);
            }
            pinned.evict(0);
            prop_assert!(alive.borrow().is_empty());
        }
    }

    #[test]
    fn what_is_not_cached_ends_with_its_use() {
        let mut pinned: Pinned<()> = Pinned::new(LeavePinned::Off, usize::MAX);
        for _ in 0..3 {
            let lease = pinned.acquire(0x1000, 100, true, |_, _| Ok(((), true))).unwrap();
            assert_eq!(pinned.bytes(), pinned.page);
            pinned.release(lease);
            assert_eq!(pinned.bytes(), 0);
        }
        assert_eq!((pinned.made, pinned.found), (3, 0));
    }

    #[test]
    fn what_is_pinned_is_found_until_it_is_unpinned() {
        let mut pinned: Pinned<()> = Pinned::new(LeavePinned::Off, usize::MAX);
        let pin = pinned.pin(0x1000, 100, true, |_, _| Ok(((), true))).unwrap();
        let again = pinned.pin(0x1010, 10, false, |_, _| Ok(((), true))).unwrap();
        let lease = pinned.acquire(0x1000, 50, true, |_, _| Ok(((), true))).unwrap();
        assert_eq!((pinned.made, pinned.found), (1, 2));
        pinned.unpin(pin);
        pinned.unpin(again);
        assert_eq!(pinned.bytes(), pinned.page, "in use");
        let other = pinned.acquire(0x1000, 50, true, |_, _| Ok(((), true))).unwrap();
        assert_eq!((pinned.made, pinned.found), (2, 2), "not found any more");
        pinned.release(other);
        pinned.release(lease);
        assert_eq!(pinned.bytes(), 0);
    }

    #[test]
    fn what_is_revoked_ends_with_its_last_use_and_is_not_found_again() {
        let mut pinned: Pinned<u8> = Pinned::new(LeavePinned::On, usize::MAX);
        let page = pinned.page;
        let register = |_, _| Ok((0, true));
        let [first, second] = [(); 2].map(|()| pinned.acquire(page, page, true, register).unwrap());
        assert_eq!((pinned.made, pinned.found), (1, 1));
        pinned.revoke(first);
        assert_eq!(pinned.bytes(), page, "the other one uses it");
        let third = pinned.acquire(page, page, true, register).unwrap();
        assert_eq!((pinned.made, pinned.found), (2, 1));
        pinned.release(second);
        assert_eq!(pinned.bytes(), page);
        pinned.revoke(third);
        assert_eq!(pinned.bytes(), 0);
    }

    /// Real memory: a block that was freed and allocated again at the same address is registered again.
    #[test]
    fn memory_that_was_freed_is_not_found() {
        let mut pinned: Pinned<()> = Pinned::new(LeavePinned::Auto, usize::MAX);
        if pinned.watcher.is_none() {
            println!("omitted: this system lets nobody watch memory");
            return;
        }
        let mut places = BTreeSet::new();
        for round in 1..=5 {
            let block = Vec::<u8>::with_capacity(64 << 20); // far more than the allocator would keep
            let address = block.as_ptr().addr();
            places.insert(address);
            for again in 0..3 {
                let lease = pinned.acquire(address, block.capacity(), true, |_, _| Ok(((), true))).unwrap();
                pinned.release(lease);
                assert_eq!((pinned.made, pinned.found), (round, (round - 1) * 2 + again));
            }
        }
        assert!(places.len() < 5, "no address came twice: nothing was tested");
    }

    #[test]
    fn memory_that_may_only_be_read_is_no_place_to_write() {
        let mut pinned: Pinned<()> = Pinned::new(LeavePinned::On, usize::MAX);
        let lease = pinned.acquire(0x1000, 1, false, |_, _| Ok(((), false))).unwrap();
        pinned.release(lease);
        assert!(pinned.acquire(0x1000, 1, true, |_, _| Ok(((), false))).is_err());
        let lease = pinned.acquire(0x1000, 1, true, |_, _| Ok(((), true))).unwrap();
        pinned.release(lease);
        assert_eq!((pinned.made, pinned.found), (2, 0));
    }
}
