//! Where the words lie by which members of a window whose memory is mapped synchronise: in front of the memory. Whoever waits looks
//! at them, and whoever writes them takes no part of anybody else's time.
//!
//! ```text
//!   locks     a line for each target: LockWords
//!   fences    a line for each member: how many fences it has come to
//!   words     for each member a row, for each other one in it: how often that has posted to it, and completed to it; and whether the
//!             member has a shared lock of that one, for reports alone
//! ```
//!
//! What must stay true: a word of a fence or of an epoch only grows, and only the member that it is of writes it. Who has written
//! one rings whoever may sleep for it, as for a packet.

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

use posthaste_os::counted_word::CountedWord;
use posthaste_os::lock_words::{LINE, LockWords};
use posthaste_os::mapped::{Mapped, PAGE};

use super::LockKind;

/// Bytes of the words of one member about another one.
const PAIR: usize = 24;
/// Where among them stands whether the member has a shared lock.
const SHARES: usize = 16;

/// Bytes of the words of so many members, whole pages.
pub fn control(members: usize) -> usize {
    row_at(members, members).next_multiple_of(PAGE)
}

/// Where the row of a member begins.
fn row_at(members: usize, member: usize) -> usize {
    2 * members * LINE + member * (members * PAIR).next_multiple_of(LINE)
}

/// The words of one target.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(&'a LockWords);

impl<'a> Words<'a> {
    /// Those of a target.
    #[inline]
    pub fn of(memory: &'a Mapped, target: usize) -> Self {
        Self(memory.lock_words(target * LINE))
    }
}

impl Deref for Words<'_> {
    type Target = LockWords;
    #[inline]
    fn deref(&self) -> &LockWords {
        self.0
    }
}

/// What a member tells another one of its epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// It has begun an exposure epoch for it.
    Posted = 0,
    /// It has ended its access epoch to it.
    Completed = 8,
}

/// The words of fences and epochs of so many members.
#[derive(Clone, Copy, Debug)]
pub struct EpochWords<'a> {
    memory: &'a Mapped,
    members: usize,
}

impl<'a> EpochWords<'a> {
    /// Those of a window's memory.
    #[inline]
    pub fn of(memory: &'a Mapped, members: usize) -> Self {
        Self { memory, members }
    }

    #[inline]
    fn fences(self, member: usize) -> &'a CountedWord {
        self.memory.counted_word((self.members + member) * LINE)
    }

    #[inline]
    fn word(self, about: Word, to: usize, from: usize) -> &'a CountedWord {
        self.memory.counted_word(row_at(self.members, to) + from * PAIR + about as usize)
    }

    /// Says whether a member has a shared lock of a target.
    #[inline]
    pub fn share(self, me: usize, target: usize, shares: bool) {
        let word = self.memory.word(row_at(self.members, me) + target * PAIR + SHARES);
        word.store(shares.into(), Ordering::Relaxed);
    }

    /// The members that have a shared lock of a target, as they say.
    pub fn sharers(self, target: usize) -> impl Iterator<Item = usize> {
        (0..self.members).filter(move |member| {
            let at = row_at(self.members, *member) + target * PAIR + SHARES;
            self.memory.word(at).load(Ordering::Relaxed) != 0
        })
    }

    /// A member comes to a fence. What it has done before is seen by whoever sees that.
    #[inline]
    pub fn come(self, me: usize, fence: u64) {
        self.fences(me).counts(fence);
    }

    /// The first member from this one on that has not come to a fence.
    #[inline]
    pub fn absent(self, fence: u64, from: usize) -> Option<usize> {
        (from..self.members).find(|member| self.fences(*member).count() < fence)
    }

    /// A member tells another one, so many times by now; that one then sees what came before.
    #[inline]
    pub fn tell(self, about: Word, to: usize, me: usize, times: u64) {
        self.word(about, to, me).counts(times);
    }

    /// How often a member has been told by another one.
    #[inline]
    pub fn told(self, about: Word, me: usize, from: usize) -> u64 {
        self.word(about, me, from).count()
    }
}

/// How many words this process has told each other member, how many of that member's it has heeded, where that member is rung, and to
/// how many fences this process has come. The epochs of a window are one at a time of each kind.
#[derive(Debug)]
pub struct Heeded {
    fences: AtomicU64,
    others: Box<[Other]>,
}

#[derive(Debug, Default)]
struct Other {
    posted: Counts,
    completed: Counts,
    local: Option<u32>,
}

#[derive(Debug, Default)]
struct Counts {
    told: AtomicU64,
    heeded: AtomicU64,
}

/// One more; nobody else counts meanwhile.
#[inline]
fn next(count: &AtomicU64) -> u64 {
    let next = count.load(Ordering::Relaxed) + 1;
    count.store(next, Ordering::Relaxed);
    next
}

impl Heeded {
    /// `locals`: the numbers of the members on this node, except of this process.
    pub(crate) fn new(locals: impl Iterator<Item = Option<u32>>) -> Self {
        let others = locals.map(|local| Other { local, ..Other::default() }).collect();
        Self { fences: AtomicU64::new(0), others }
    }

    #[inline]
    fn counts(&self, about: Word, of: usize) -> &Counts {
        match about {
            Word::Posted => &self.others[of].posted,
            Word::Completed => &self.others[of].completed,
        }
    }

    /// The number of the fence to which this process comes now.
    #[inline]
    pub fn next_fence(&self) -> u64 {
        next(&self.fences)
    }

    /// How often this process has told a member, with this time.
    #[inline]
    pub fn next_word(&self, about: Word, to: usize) -> u64 {
        next(&self.counts(about, to).told)
    }

    /// The number of a member on this node; `None`: it is this process.
    #[inline]
    pub fn local(&self, member: usize) -> Option<u32> {
        self.others[member].local
    }

    /// Whether a member has told something new.
    #[inline]
    pub fn is_new(&self, words: EpochWords<'_>, about: Word, me: usize, from: usize) -> bool {
        words.told(about, me, from) > self.counts(about, from).heeded.load(Ordering::Relaxed)
    }

    /// The word of a member has been heeded.
    #[inline]
    pub fn heed(&self, about: Word, from: usize) {
        next(&self.counts(about, from).heeded);
    }
}

impl LockKind {
    /// Whether it is for one member alone.
    pub fn is_exclusive(self) -> bool {
        self == Self::Exclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_locks_of_their_own() {
        let (memory, _) = Mapped::create(control(3)).unwrap();
        assert!(Words::of(&memory, 2).try_lock(0, true));
        assert_eq!([0, 1, 2].map(|target| Words::of(&memory, target).holders().0), [None, None, Some(0)]);
    }

    #[test]
    fn a_fence_is_over_when_all_have_come() {
        let (memory, _) = Mapped::create(control(3)).unwrap();
        let words = EpochWords::of(&memory, 3);
        let absent = |come, fence, from| {
            words.come(come, fence);
            words.absent(fence, from)
        };
        assert_eq!(absent(1, 1, 0), Some(0));
        assert_eq!(absent(0, 1, 0), Some(2));
        assert_eq!(absent(2, 1, 2), None);
        assert_eq!(absent(2, 2, 0), Some(0), "the next one");
        assert_eq!(words.absent(1, 0), None);
    }

    #[test]
    fn no_two_words_share_a_place() {
        for members in [1, 2, 3, 8, 64] {
            let (memory, _) = Mapped::create(control(members)).unwrap();
            let words = EpochWords::of(&memory, members);
            for to in 0..members {
                for from in 0..members {
                    words.tell(Word::Posted, to, from, 1);
                    words.tell(Word::Completed, to, from, 1);
                    words.share(from, to, true);
                }
                words.come(to, 1);
                assert!(Words::of(&memory, to).try_lock(0, true));
            }
            for to in 0..members {
                let told = |about| (0..members).all(|from| words.told(about, to, from) == 1);
                assert!(told(Word::Posted) && told(Word::Completed), "{members} members");
                assert_eq!(Words::of(&memory, to).holders(), (Some(0), 0));
                assert_eq!(words.sharers(to).count(), members);
                words.share(0, to, false);
                assert!(words.sharers(to).eq(1..members));
            }
            assert_eq!((words.absent(1, 0), words.absent(2, 0)), (None, Some(0)));
        }
    }

    #[test]
    fn a_word_is_heeded_once() {
        let (memory, _) = Mapped::create(control(2)).unwrap();
        let (words, heeded) = (EpochWords::of(&memory, 2), Heeded::new([None; 2].into_iter()));
        assert!(!heeded.is_new(words, Word::Posted, 0, 1));
        words.tell(Word::Posted, 0, 1, 1);
        assert!(heeded.is_new(words, Word::Posted, 0, 1) && !heeded.is_new(words, Word::Completed, 0, 1));
        assert!(!heeded.is_new(words, Word::Posted, 1, 0));
        heeded.heed(Word::Posted, 1);
        assert!(!heeded.is_new(words, Word::Posted, 0, 1));
        let next = [Word::Posted, Word::Posted, Word::Completed].map(|about| heeded.next_word(about, 1));
        assert_eq!((next, heeded.next_fence(), heeded.next_fence()), ([1, 2, 1], 1, 2));
    }
}
