//! Ranges of addresses that a process tells the others of its host, in memory that all of them have mapped: what it has attached to
//! a dynamic window of one-sided communication (MPI-5.0 §12.2.4).
//!
//! ```text
//!   0   version   odd while the ranges change
//!   8   count     how many there are
//!   16  ranges    each: the first byte, and the one behind the last; in order, without a byte in common
//! ```
//!
//! Each other process has a word of its own beside them, in which it says that it uses a range, and by which version it has found it.
//!
//! What must stay true: there is one writer; a range that is used is one that was told, whole; who has told other ranges, and has seen
//! that no word speaks of a version before these, has every range to itself that is not among them. Proved by `tests/loom.rs`.

use std::sync::atomic::Ordering;

use crate::memory::{AtomicU64, fence};

/// Bytes of the ranges of one process: a page.
pub const ROOM: usize = 4096;

/// Most ranges that are told.
#[cfg(not(loom))]
pub const MOST: usize = 255;
/// As few as the model can follow.
#[cfg(loom)]
pub const MOST: usize = 1;

/// The ranges of one process. Zeros are none.
#[derive(Debug)]
#[repr(C)]
pub struct Ranges {
    version: AtomicU64,
    count: AtomicU64,
    ranges: [Bounds; MOST],
}

#[derive(Debug)]
#[repr(C)]
struct Bounds {
    start: AtomicU64,
    end: AtomicU64,
}

/// A version of the ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u64);

/// A range is used until this is dropped.
#[derive(Debug)]
pub struct Use<'a>(&'a AtomicU64);

#[cfg(not(loom))]
const _: () = assert!(size_of::<Ranges>() == ROOM);

impl Default for Ranges {
    fn default() -> Self {
        let zero = || AtomicU64::new(0);
        let ranges = std::array::from_fn(|_| Bounds { start: zero(), end: zero() });
        Self { version: zero(), count: zero(), ranges }
    }
}

impl Ranges {
    /// Tells these ranges, by their first bytes and those behind their last ones, in order, instead of all before: as many as there
    /// is room for. Their version.
    pub fn tell(&self, ranges: impl Iterator<Item = (u64, u64)>) -> Version {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        // SYNC: whoever sees something of what follows sees the odd version after its own fence.
        fence(Ordering::Release);
        let mut count = 0;
        for (place, (start, end)) in self.ranges.iter().zip(ranges) {
            place.start.store(start, Ordering::Relaxed);
            place.end.store(end, Ordering::Relaxed);
            count += 1;
        }
        self.count.store(count, Ordering::Relaxed);
        let told = version.wrapping_add(2);
        // SYNC: pairs with the first load in `begin`: with this version all of it is seen.
        self.version.store(told, Ordering::Release);
        // SYNC: pairs with the one in `begin`: either this version is seen there, or the word here.
        fence(Ordering::SeqCst);
        Version(told)
    }

    /// Whether so many bytes are within a range, which the process with this word then uses. No, too, while ranges change.
    pub fn begin<'a>(&self, word: &'a AtomicU64, address: u64, len: u64) -> Option<Use<'a>> {
        let version = self.version.load(Ordering::Acquire);
        if !version.is_multiple_of(2) || !self.hold(address, len) {
            return None;
        }
        word.store(version + 1, Ordering::Relaxed);
        let using = Use(word);
        // SYNC: as in `tell`. Also: who has seen a part of other ranges sees that the version has changed.
        fence(Ordering::SeqCst);
        (self.version.load(Ordering::Relaxed) == version).then_some(using)
    }

    /// Whether so many bytes are within a range, if the ranges do not change.
    fn hold(&self, address: u64, len: u64) -> bool {
        let count = (self.count.load(Ordering::Relaxed) as usize).min(MOST);
        let told = &self.ranges[..count];
        // The last one that begins at the address or before.
        let behind = told.partition_point(|bounds| bounds.start.load(Ordering::Relaxed) <= address);
        let end = behind.checked_sub(1).map_or(0, |at| told[at].end.load(Ordering::Relaxed));
        address.checked_add(len).is_some_and(|last| last <= end)
    }
}

impl Version {
    /// Whether the process with this word uses no range of a version before.
    pub fn is_unused_before(self, word: &AtomicU64) -> bool {
        // SYNC: pairs with the store at the end of a use: what was done there is over.
        let used = word.load(Ordering::Acquire);
        used == 0 || used > self.0
    }
}

impl Drop for Use<'_> {
    fn drop(&mut self) {
        // SYNC: pairs with the load in `is_unused_before`.
        self.0.store(0, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn holds(ranges: &Ranges, address: u64, len: u64) -> bool {
        ranges.begin(&AtomicU64::new(0), address, len).is_some()
    }

    #[test]
    fn what_is_told_is_found() {
        let ranges = Ranges::default();
        assert!(!holds(&ranges, 0, 1) && !holds(&ranges, 100, 1));
        ranges.tell([(100, 140), (200, 260)].into_iter());
        for (address, len) in [(100, 40), (139, 1), (200, 1), (259, 1), (230, 0)] {
            assert!(holds(&ranges, address, len), "{address}, {len}");
        }
        for (address, len) in [(99, 1), (139, 2), (140, 1), (100, 160), (260, 1), (200, u64::MAX)] {
            assert!(!holds(&ranges, address, len), "{address}, {len}");
        }
        ranges.tell([(200, 260)].into_iter());
        assert!(!holds(&ranges, 100, 1) && holds(&ranges, 200, 60));
        ranges.tell(std::iter::empty());
        assert!(!holds(&ranges, 200, 1));
    }

    #[test]
    fn there_may_be_more_than_there_is_room_for() {
        let ranges = Ranges::default();
        ranges.tell((1..=MOST as u64 + 5).map(|at| (100 * at, 100 * at + 50)));
        assert!(holds(&ranges, 100 * MOST as u64, 50) && !holds(&ranges, 100 * MOST as u64 + 100, 50));
    }

    #[test]
    fn a_use_is_of_the_version_by_which_it_was_found() {
        let (ranges, word) = (Ranges::default(), AtomicU64::new(0));
        let first = ranges.tell([(100, 140)].into_iter());
        let using = ranges.begin(&word, 100, 40).unwrap();
        assert!(first.is_unused_before(&word));
        let second = ranges.tell([(200, 240)].into_iter());
        assert!(!second.is_unused_before(&word));
        drop(using);
        assert!(second.is_unused_before(&word));
        assert!(ranges.begin(&word, 100, 40).is_none() && second.is_unused_before(&word));
    }
}
