//! How a pair's own buffer is filled: the messages themselves tell.
//!
//! What was measured once for a processor may not hold for long: a hypervisor gives a job other cores from one second to the next, and
//! with them the faster kind of copy changes, and the better size of the buffer. Or the machine was too busy to measure anything. So the
//! receiver tries other ways now and then. It asks the sender for one after the other, takes the time of some messages in each, and
//! keeps what took least. The time of a message is that from the first look at it to the end of its copy, and what the sender says that
//! copying in takes. It counts once the way has gone round the whole part of the buffer that it uses: before, the lines lie where the
//! way before has left them, which hides what this one costs.
//!
//! What must stay true: a message says nothing of a way that has not gone all around before it ([`Talk::since`]); the sender uses another
//! part of the buffer only when the receiver has copied out everything, and says that it does as asked only when it does all of that;
//! what a setting of either side says is not changed; whatever the other side writes into these words costs speed at most.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::mem::Store;
use crate::memory::AtomicU64;

/// Bytes of the shortest copy that tells something: of the shortest message that takes its way through a bounce buffer, or messages of
/// that length would keep for ever what was usual when the job began.
pub(super) const SHORTEST: u64 = 2 << 10;
/// Messages of each way in a trial; the fastest counts.
const TRIED: u32 = 8;
/// Bytes before the first trial.
const FIRST: u64 = 16 << 20;
/// How many times the bytes of a trial come before the next one: few at first, so that short programs have something of it, later many. In
/// bytes, for a round takes 1,024 messages of 2 KiB and two of 1 MiB.
const FEW: u64 = 16;
const MANY: u64 = 64;
/// Two kinds of copy, by all of the buffer and by a small part.
const MOST_WAYS: usize = 4;
/// Messages in a trial that are of another length than the first one; after so many it ends.
const UNLIKE: u32 = 4096;
/// Messages that begin after the receiver has asked and of which the trial ends if the sender goes on as before.
const UNHEEDED: u32 = 64;
/// Messages that begin while another size waits for an empty buffer, before the sender sees to it that it becomes empty.
const PATIENCE: u32 = 16;

/// How an own buffer is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// By which kind of copy.
    pub store: Store,
    /// Whether as much of it is used as of a buffer that is borrowed, which stays in the caches; else all of it.
    pub small: bool,
}

/// What the settings of a side leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct May {
    /// The kind of copy.
    pub stores: bool,
    /// How much of the buffer is used.
    pub sizes: bool,
}

/// What a receiver asks for; nothing where it is to stay as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) store: Option<Store>,
    pub(super) small: Option<bool>,
}

impl Wanted {
    const BITS: u32 = 4;
    const AS_IT_IS: u64 = 3;

    fn new(way: Way, may: May) -> Self {
        Self { store: may.stores.then_some(way.store), small: may.sizes.then_some(way.small) }
    }

    /// As the low bits of a word.
    fn word(self) -> u64 {
        let number = |store| Store::NAMES.iter().position(|(_, one)| *one == store).map(|at| at as u64);
        let store = self.store.and_then(number).unwrap_or(Self::AS_IT_IS);
        store | self.small.map_or(Self::AS_IT_IS, u64::from) << 2
    }

    pub(super) fn from_word(word: u64) -> Self {
        let store = Store::NAMES.get((word & 3) as usize).map(|(_, store)| *store);
        let small = [Some(false), Some(true), None, None][(word >> 2 & 3) as usize];
        Self { store, small }
    }
}

/// The words by which both ends of an own buffer talk about it.
pub(crate) struct Talk<'a> {
    /// The receiver's, on a line of its own: what it asks for. 0: nothing so far.
    pub(crate) ask: &'a AtomicU64,
    /// The sender's: how many bytes it has filled.
    pub(crate) filled: &'a AtomicU64,
    /// On another line: the last word asked that it heeds,
    pub(crate) heeded: &'a AtomicU64,
    /// where the first message begins that tells what copying so takes,
    pub(crate) since: &'a AtomicU64,
    /// and what copying in takes since then, in ns for 1 MiB.
    pub(crate) fill: &'a AtomicU64,
}

/// Time of so many bytes, in ns for 1 MiB.
pub(super) fn rate(time: Duration, bytes: u64) -> u64 {
    ((time.as_nanos() << 20) / u128::from(bytes.max(1))).try_into().unwrap_or(u64::MAX)
}

/// The sender's part.
#[derive(Debug, Default)]
pub(super) struct Heeding {
    asked: u64,
    /// A word that settings forbid to heed.
    refused: u64,
    store: Option<Store>,
    /// Messages that have begun since another size waits.
    waited: u32,
    /// Pieces whose time is to be taken, where the first of them begins, and the shortest so far.
    timed: u32,
    since: u64,
    best: u64,
}

impl Heeding {
    /// What the receiver has asked for since the last that was heeded or refused.
    #[inline(always)]
    pub(super) fn asked(&self, talk: &Talk<'_>) -> Option<u64> {
        let asked = talk.ask.load(Ordering::Relaxed);
        (asked != self.asked && asked != self.refused).then_some(asked)
    }

    /// Whether the settings allow what is asked for. The kind of copy is heeded at once then; if not, the receiver is not told that
    /// anything is.
    pub(super) fn allows(&mut self, asked: u64, may: May) -> Option<Wanted> {
        let wanted = Wanted::from_word(asked);
        let is_forbidden = (wanted.store.is_some() && !may.stores) || (wanted.small.is_some() && !may.sizes);
        if is_forbidden {
            self.refused = asked;
            return None;
        }
        self.store = wanted.store.or(self.store);
        Some(wanted)
    }

    /// A message begins, and the size that is asked for has to wait.
    pub(super) fn wait(&mut self) {
        self.waited = self.waited.saturating_add(1);
    }

    /// Whether that has gone on for so long that nothing should begin until the buffer is empty.
    #[inline(always)]
    pub(super) fn is_impatient(&self) -> bool {
        self.waited >= PATIENCE
    }

    /// By which kind of copy the receiver wants the buffer filled.
    #[inline(always)]
    pub(super) fn store(&self) -> Option<Store> {
        self.store
    }

    /// From now on all is as this word asks. What begins at `since` and later tells something of it.
    pub(super) fn heed(&mut self, talk: &Talk<'_>, since: u64, asked: u64) {
        (self.asked, self.waited) = (asked, 0);
        (self.timed, self.since, self.best) = (TRIED, since, u64::MAX);
        talk.fill.store(0, Ordering::Relaxed);
        talk.since.store(since, Ordering::Relaxed);
        // SYNC: pairs with the Acquire load in `Chooser::tried`: the two words above.
        talk.heeded.store(asked, Ordering::Release);
    }

    /// Whether the time of a piece of so many bytes that begins here is to be taken.
    #[inline(always)]
    pub(super) fn is_timing(&self, at: u64, bytes: u64) -> bool {
        self.timed > 0 && at >= self.since && bytes >= SHORTEST
    }

    /// So many bytes have been copied in.
    #[cold]
    pub(super) fn took(&mut self, talk: &Talk<'_>, time: Duration, bytes: u64) {
        self.timed = self.timed.saturating_sub(1);
        self.best = self.best.min(rate(time, bytes));
        talk.fill.store(self.best, Ordering::Relaxed);
    }
}

/// Another way that a pair goes from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The way.
    pub way: Way,
    /// Time of 1 MiB, in ns: so far, and by this way.
    pub took: [u64; 2],
}

/// The receiver's part.
#[derive(Debug)]
pub(super) struct Chooser {
    ways: Vec<Way>,
    may: May,
    /// Which of them is asked for between trials.
    chosen: usize,
    /// Words asked so far, and what the sender had filled at the last.
    asks: u64,
    asked_at: u64,
    /// Where the next trial begins, or this one began.
    trial_at: u64,
    /// How many times as many bytes as in the next trial come before the one behind it.
    pause: u64,
    /// Messages to go in this part of a trial.
    left: u32,
    trial: Option<Trial>,
}

/// A trial of all ways, one after the other, beginning with the one that is chosen.
#[derive(Debug)]
struct Trial {
    /// Ways that have been tried.
    done: usize,
    /// The best time of this way so far.
    best: u64,
    /// The time of each way.
    times: [u64; MOST_WAYS],
    /// Messages in which the sender has not heeded what is asked for.
    unheeded: u32,
    /// Only messages like the first are compared, by the logarithm of their length: longer ones take less for each byte.
    like: Option<u32>,
    /// Messages that are not.
    unlike: u32,
}

impl Chooser {
    /// So far this way is usual, and the buffer has been used up to here; what of the way may be changed.
    pub(super) fn new(usual: Way, may: May, at: u64) -> Self {
        let other = if usual.store == Store::Streaming { Store::Plain } else { Store::Streaming };
        let mut ways = vec![usual];
        if may.stores {
            ways.push(Way { store: other, ..usual });
        }
        if may.sizes {
            ways.extend_from_within(..);
            let others = ways.len() / 2;
            ways[others..].iter_mut().for_each(|way| way.small = !way.small);
        }
        let trial_at = at.saturating_add(FIRST);
        Self { ways, may, chosen: 0, asks: 0, asked_at: at, trial_at, pause: FEW, left: 0, trial: None }
    }

    /// Whether the time of a message of so many bytes is to be taken.
    #[inline(always)]
    pub(super) fn is_timing(&self, bytes: u64) -> bool {
        self.trial.is_some() && bytes >= SHORTEST
    }

    /// A message of `len` bytes that began at `start` has been copied out, which took so long if its time was taken. The change, if that
    /// makes one.
    #[inline]
    pub(super) fn ended(
        &mut self,
        talk: &Talk<'_>,
        start: u64,
        len: u64,
        took: impl FnOnce() -> Option<Duration>,
    ) -> Option<Change> {
        if len < SHORTEST {
            return None;
        }
        if self.trial.is_some() {
            return self.tried(talk, start, len, took());
        }
        if start >= self.trial_at {
            self.trial_at = start;
            self.trial = Some(Trial {
                done: 0,
                best: u64::MAX,
                times: [u64::MAX; MOST_WAYS],
                unheeded: 0,
                like: None,
                unlike: 0,
            });
            self.ask(talk, self.chosen);
        }
        None
    }

    #[cold]
    fn tried(&mut self, talk: &Talk<'_>, start: u64, len: u64, took: Option<Duration>) -> Option<Change> {
        let trial = self.trial.as_mut()?;
        // SYNC: pairs with the Release store in `Heeding::heed`.
        let is_heeded = talk.heeded.load(Ordering::Acquire) == talk.ask.load(Ordering::Relaxed);
        if !is_heeded {
            // Its settings may say how it copies. A message that had begun before tells nothing of that.
            trial.unheeded += u32::from(start >= self.asked_at);
            return if trial.unheeded == UNHEEDED { self.decide(talk, start) } else { None };
        }
        let took = took.filter(|_| start >= talk.since.load(Ordering::Relaxed))?;
        if *trial.like.get_or_insert(len.ilog2()) != len.ilog2() {
            trial.unlike += 1;
            return if trial.unlike == UNLIKE { self.decide(talk, start) } else { None };
        }
        trial.best = trial.best.min(rate(took, len));
        self.left -= 1;
        if self.left > 0 {
            return None;
        }
        let way = (self.chosen + trial.done) % self.ways.len();
        trial.times[way] = trial.best.saturating_add(talk.fill.load(Ordering::Relaxed));
        (trial.done, trial.best, trial.unheeded) = (trial.done + 1, u64::MAX, 0);
        if trial.done == self.ways.len() {
            return self.decide(talk, start);
        }
        self.ask(talk, (way + 1) % self.ways.len());
        None
    }

    /// Ends a trial with the message that began here.
    fn decide(&mut self, talk: &Talk<'_>, at: u64) -> Option<Change> {
        let Trial { times, .. } = self.trial.take()?;
        let before = times[self.chosen];
        // A change has to pay: what differs less is chance. Of ways that do not differ it is one that uses all of the buffer: that
        // holds more messages which nobody has received yet, and their senders wait less.
        let least = times.iter().copied().min().unwrap_or(before);
        let pays = least < before - before / 10;
        if pays {
            let are_fastest = |way: &usize| times[*way] <= least.saturating_add(least / 10);
            let fastest = (0..self.ways.len()).filter(are_fastest);
            self.chosen =
                fastest.min_by_key(|way| (self.ways[*way].small, times[*way])).unwrap_or(self.chosen);
        }
        self.ask(talk, self.chosen);
        let spent = at.saturating_sub(self.trial_at);
        self.trial_at = at.saturating_add(self.pause.saturating_mul(spent));
        self.pause = MANY;
        pays.then(|| Change { way: self.ways[self.chosen], took: [before, times[self.chosen]] })
    }

    /// Asks for one of the ways, and for its time.
    fn ask(&mut self, talk: &Talk<'_>, which: usize) {
        self.asks += 1;
        self.asked_at = talk.filled.load(Ordering::Relaxed);
        let wanted = Wanted::new(self.ways[which], self.may);
        talk.ask.store(self.asks << Wanted::BITS | wanted.word(), Ordering::Relaxed);
        self.left = TRIED;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;

    use super::*;

    const PLAIN: Way = Way { store: Store::Plain, small: true };
    const ALL: May = May { stores: true, sizes: true };
    /// Bytes of the buffer, and messages that are many.
    const ROUND: u64 = 64 << 10;
    const LONG: u32 = 4096;

    /// Both ends, and a machine on which each way takes its time.
    struct Pair {
        words: [AtomicU64; 5],
        sender: Heeding,
        sender_may: May,
        way: Way,
        receiver: Chooser,
        changes: Vec<Change>,
        at: u64,
        now: Duration,
    }

    impl Pair {
        fn new(usual: Way) -> Self {
            let words = std::array::from_fn(|_| AtomicU64::new(0));
            let (sender, receiver) = (Heeding::default(), Chooser::new(usual, ALL, 0));
            let (changes, now) = (Vec::new(), Duration::from_secs(1));
            Self { words, sender, sender_may: ALL, way: usual, receiver, changes, at: 0, now }
        }

        /// A message of `len` bytes, of which each KiB takes so many ns to copy in and out, by way; how it was copied.
        fn message(&mut self, len: u64, takes: impl Fn(Way) -> [u64; 2]) -> Way {
            let [ask, filled, heeded, since, fill] = &self.words;
            let talk = Talk { ask, filled, heeded, since, fill };
            if let Some(asked) = self.sender.asked(&talk)
                && let Some(Wanted { store, small }) = self.sender.allows(asked, self.sender_may)
            {
                self.way.store = store.unwrap_or(self.way.store);
                self.way.small = small.unwrap_or(self.way.small);
                self.sender.heed(&talk, self.at + ROUND, asked);
            }
            let [fill, drain] = takes(self.way).map(|ns| Duration::from_nanos(ns * len / 1024));
            self.now += fill;
            if self.sender.is_timing(self.at, len) {
                self.sender.took(&talk, fill, len);
            }
            self.now += drain;
            let is_timed = self.receiver.is_timing(len);
            self.changes.extend(self.receiver.ended(&talk, self.at, len, || is_timed.then_some(drain)));
            self.at += len;
            self.way
        }
    }

    #[test]
    fn the_fastest_way_is_kept_and_a_change_of_the_machine_noticed() {
        for usual in [Store::Plain, Store::Streaming, Store::String] {
            for small in [false, true] {
                let usual = Way { store: usual, small };
                let mut pair = Pair::new(usual);
                let streams = |way: Way| way.store == Store::Streaming;
                let machines: [&dyn Fn(Way) -> [u64; 2]; 4] = [
                    &|way| if !streams(way) && way.small { [30, 40] } else { [60, 50] },
                    &|way| if !streams(way) && !way.small { [30, 40] } else { [60, 50] },
                    &|way| if streams(way) && way.small { [30, 40] } else { [60, 50] },
                    &|way| if streams(way) && !way.small { [30, 40] } else { [60, 50] },
                ];
                for (number, machine) in machines.into_iter().chain(machines).enumerate() {
                    for _ in 0..2 * LONG {
                        pair.message(16 << 10, machine);
                    }
                    let is_right = |way: &Way| machine(*way) == [30, 40];
                    let right = (0..LONG - 100).map(|_| pair.message(16 << 10, machine)).filter(is_right);
                    let share = right.count() as u32 * 100 / LONG;
                    assert!(share >= 95, "{usual:?}, machine {number}: {share} %");
                    let last = pair.changes.last().map_or(usual, |change| change.way);
                    assert!(is_right(&last), "{usual:?}, machine {number}: {:?}", pair.changes);
                }
                assert!(pair.changes.iter().all(|change| change.took[1] < change.took[0]));
                assert!((7..=8).contains(&pair.changes.len()), "{:?}", pair.changes);
            }
        }
    }

    /// A way that goes where another one has left the lines is as fast as that one for a while, or as slow.
    #[test]
    fn the_first_round_by_a_way_tells_nothing_of_it() {
        let fast = Way { store: Store::Streaming, small: false };
        let mut pair = Pair::new(PLAIN);
        let (last, at) = (Cell::new(PLAIN), Cell::new(0));
        for _ in 0..20 * LONG {
            pair.message(8 << 10, |way| {
                at.set(if last.replace(way) == way { at.get() + (8 << 10) } else { 0 });
                match (at.get() < ROUND, way == fast) {
                    (false, true) => [30, 30],
                    (false, false) => [60, 60],
                    (true, true) => [80, 80],
                    (true, false) => [20, 20],
                }
            });
        }
        let ways: Vec<Way> = pair.changes.iter().map(|change| change.way).collect();
        assert_eq!(ways, [fast]);
    }

    /// All of the buffer keeps more messages for later, and that shows in no time of a copy.
    #[test]
    fn of_equal_ways_that_with_all_of_the_buffer_is_taken() {
        let mut pair = Pair::new(PLAIN);
        for _ in 0..LONG {
            pair.message(8 << 10, |way| match (way.store, way.small) {
                (Store::Plain, _) => [60, 60],
                (_, true) => [30, 30],
                (_, false) => [31, 32],
            });
        }
        let ways: Vec<Way> = pair.changes.iter().map(|change| change.way).collect();
        assert_eq!(ways, [Way { store: Store::Streaming, small: false }]);
    }

    #[test]
    fn what_may_not_be_changed_is_not_asked_for() {
        for (stores, sizes, ways) in [(false, false, 1), (true, false, 2), (false, true, 2), (true, true, 4)]
        {
            let may = May { stores, sizes };
            let mut chooser = Chooser::new(PLAIN, may, 0);
            assert_eq!(chooser.ways.len(), ways);
            for way in &chooser.ways {
                let wanted = Wanted::from_word(7 << Wanted::BITS | Wanted::new(*way, may).word());
                assert_eq!(wanted.store, stores.then_some(way.store));
                assert_eq!(wanted.small, sizes.then_some(way.small));
            }
            chooser.ways.dedup();
            assert_eq!(chooser.ways.len(), ways);
            // Nor does a sender whose settings say something.
            let mut pair = Pair::new(PLAIN);
            pair.sender_may = may;
            let fast_elsewhere = |way: Way| if way == PLAIN { [50, 50] } else { [20, 20] };
            let others = (0..9000).filter(|_| pair.message(8 << 10, fast_elsewhere) != PLAIN).count();
            assert_eq!(others > 0, stores && sizes);
            assert_eq!(pair.changes.is_empty(), !(stores && sizes), "{may:?}");
        }
    }

    /// As many messages are under way at once as fit.
    #[test]
    fn messages_that_were_under_way_before_end_no_trial() {
        let mut receiver = Chooser::new(PLAIN, ALL, 0);
        let words: [AtomicU64; 5] = std::array::from_fn(|_| AtomicU64::new(0));
        let [ask, filled, heeded, since, fill] = &words;
        let talk = Talk { ask, filled, heeded, since, fill };
        let (mut sender, mut way, mut at, mut change) = (Heeding::default(), PLAIN, 0, None);
        for _ in 0..40 {
            let window: Vec<(u64, Way)> = (0..256)
                .map(|_| {
                    if let Some(asked) = sender.asked(&talk)
                        && let Some(Wanted { store: Some(store), small: Some(small) }) =
                            sender.allows(asked, ALL)
                    {
                        way = Way { store, small };
                        sender.heed(&talk, at + ROUND, asked);
                    }
                    at += SHORTEST;
                    filled.store(at, Ordering::Relaxed);
                    (at - SHORTEST, way)
                })
                .collect();
            for (start, way) in window {
                let took = Duration::from_micros(if way.small { 9 } else { 5 });
                change = receiver.ended(&talk, start, SHORTEST, || Some(took)).or(change);
            }
        }
        assert!(change.is_some_and(|change| !change.way.small), "{change:?}");
    }

    /// Eight short ones, which take more for each byte, and 24 long ones, again and again: trials begin at the same of them each time.
    #[test]
    fn messages_of_other_lengths_are_not_compared() {
        let mut pair = Pair::new(PLAIN);
        for number in 0..20 * LONG {
            let len = if number % 32 < 8 { 4 << 10 } else { 64 << 10 };
            pair.message(len, |_| if len < 9000 { [50, 99] } else { [50, 30] });
        }
        assert_eq!(pair.changes, []);
    }

    #[test]
    fn what_differs_little_changes_nothing() {
        let mut pair = Pair::new(PLAIN);
        let takes = |way: Way| if way == PLAIN { [50, 50] } else { [49, 48] };
        let others = (0..10 * LONG).filter(|_| pair.message(8 << 10, takes) != PLAIN).count();
        assert!((1..=72 * TRIED as usize).contains(&others), "{others}");
        assert_eq!(pair.changes, []);
    }

    #[test]
    fn short_messages_tell_nothing() {
        let mut pair = Pair::new(PLAIN);
        for _ in 0..10 * LONG {
            assert_eq!(pair.message(SHORTEST - 1, |_| [9, 9]), PLAIN);
        }
    }

    #[test]
    fn a_trial_that_nobody_heeds_ends() {
        let mut pair = Pair::new(PLAIN);
        let [ask, filled, heeded, since, fill] = &pair.words;
        let talk = Talk { ask, filled, heeded, since, fill };
        let mut at = 0;
        for round in 0..4 {
            while !pair.receiver.is_timing(SHORTEST) {
                assert_eq!(pair.receiver.ended(&talk, at, SHORTEST, || None), None);
                at += SHORTEST;
            }
            let mut timed = 0;
            while pair.receiver.is_timing(SHORTEST) {
                assert_eq!(pair.receiver.ended(&talk, at, SHORTEST, || Some(Duration::from_micros(1))), None);
                (at, timed) = (at + SHORTEST, timed + 1);
            }
            // The message that asked had begun before.
            assert_eq!(timed, UNHEEDED, "round {round}");
        }
    }

    #[test]
    fn a_side_that_writes_anything_costs_speed_at_most() {
        let mut pair = Pair::new(PLAIN);
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            pair.words[(state >> 33) as usize % 5].store(state, Ordering::Relaxed);
            pair.message((4 << 10) << ((state >> 40) % 12), |_| [state >> 50, state >> 54]);
        }
    }
}
