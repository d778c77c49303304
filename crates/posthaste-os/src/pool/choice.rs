//! Which kind of copy fills a pair's own buffer: the messages themselves tell.
//!
//! What was measured once for a processor may not hold for long: a hypervisor gives a job other cores from one second to the next, and
//! with them the faster kind of copy changes. So the receiver tries another kind now and then. It asks the sender for one, takes the
//! time of some messages, asks for the other one, and keeps what took less. The time of a message is that from the first look at it to
//! the end of its copy, and what the sender says that copying in takes.
//!
//! What must stay true: a message says nothing of a kind that was asked for after it began ([`Talk::since`]); whatever the other side
//! writes into these words costs speed at most.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::mem::Store;
use crate::memory::AtomicU64;

/// Bytes of the shortest message that tells something.
const SHORTEST: u64 = 4 << 10;
/// Messages of each kind in a trial; the fastest counts.
const TRIED: u32 = 8;
/// Messages from one trial to the next: few at first, so that short programs have something of it, later many.
const FIRST: u32 = 64;
const LAST: u32 = 4096;

/// The words by which both ends of an own buffer talk about it.
pub(crate) struct Talk<'a> {
    /// The receiver's, on a line of its own: what it asks for. 0: nothing so far.
    pub(crate) ask: &'a AtomicU64,
    /// The sender's, on another line: the last such word that it heeds,
    pub(crate) heeded: &'a AtomicU64,
    /// where the first message copied so begins,
    pub(crate) since: &'a AtomicU64,
    /// and what copying in takes since then, in ns for 1 MiB.
    pub(crate) fill: &'a AtomicU64,
}

/// Time of so many bytes, in ns for 1 MiB.
fn rate(time: Duration, bytes: u64) -> u64 {
    ((time.as_nanos() << 20) / u128::from(bytes.max(1))).try_into().unwrap_or(u64::MAX)
}

/// The sender's part.
#[derive(Debug, Default)]
pub(super) struct Heeding {
    asked: u64,
    store: Option<Store>,
    /// Pieces whose time is to be taken, and the shortest so far.
    timed: u32,
    best: u64,
}

impl Heeding {
    /// How the message that begins `at` is copied in: as the receiver asks, else as usual.
    #[inline]
    pub(super) fn store(&mut self, talk: &Talk<'_>, at: u64, usual: Store) -> Store {
        let asked = talk.ask.load(Ordering::Relaxed);
        if asked != self.asked {
            self.heed(talk, at, asked);
        }
        self.store.unwrap_or(usual)
    }

    #[cold]
    fn heed(&mut self, talk: &Talk<'_>, at: u64, asked: u64) {
        self.asked = asked;
        self.store = Store::NAMES.get((asked & 3) as usize).map(|(_, store)| *store).filter(|_| asked != 0);
        (self.timed, self.best) = (TRIED, u64::MAX);
        talk.fill.store(0, Ordering::Relaxed);
        talk.since.store(at, Ordering::Relaxed);
        // SYNC: pairs with the Acquire load in `Chooser::tried`: the two words above.
        talk.heeded.store(asked, Ordering::Release);
    }

    /// Whether the time of a piece of so many bytes is to be taken.
    #[inline(always)]
    pub(super) fn is_timing(&self, bytes: u64) -> bool {
        self.timed > 0 && bytes >= SHORTEST
    }

    /// So many bytes have been copied in.
    #[cold]
    pub(super) fn took(&mut self, talk: &Talk<'_>, time: Duration, bytes: u64) {
        self.timed = self.timed.saturating_sub(1);
        self.best = self.best.min(rate(time, bytes));
        talk.fill.store(self.best, Ordering::Relaxed);
    }
}

/// The receiver's part.
#[derive(Debug)]
pub(super) struct Chooser {
    /// The usual kind and the other one.
    kinds: [Store; 2],
    /// Which of them is asked for between trials.
    chosen: usize,
    /// Words asked so far.
    asks: u64,
    /// Messages to go before the next trial, or in this part of one.
    left: u32,
    /// The same from the next trial to the one behind it.
    pause: u32,
    trial: Option<Trial>,
}

/// A trial: which kind is tried, and the best times so far.
#[derive(Debug)]
struct Trial {
    tries: usize,
    best: [u64; 2],
    /// Messages to which the sender has not heeded what is asked for.
    unheeded: u32,
}

impl Chooser {
    pub(super) fn new(usual: Store) -> Self {
        let other = if usual == Store::Streaming { Store::Plain } else { Store::Streaming };
        Self { kinds: [usual, other], chosen: 0, asks: 0, left: FIRST, pause: 8 * FIRST, trial: None }
    }

    /// Whether the time of a message of so many bytes is to be taken.
    #[inline(always)]
    pub(super) fn is_timing(&self, bytes: u64) -> bool {
        self.trial.is_some() && bytes >= SHORTEST
    }

    /// A message of `len` bytes that began at `start` has been copied out, which took so long if its time was taken.
    #[inline]
    pub(super) fn ended(
        &mut self,
        talk: &Talk<'_>,
        start: u64,
        len: u64,
        took: impl FnOnce() -> Option<Duration>,
    ) {
        if len < SHORTEST {
            return;
        }
        if self.trial.is_some() {
            return self.tried(talk, start, len, took());
        }
        self.left -= 1;
        if self.left == 0 {
            self.trial = Some(Trial { tries: self.chosen, best: [u64::MAX; 2], unheeded: 0 });
            self.ask(talk, self.chosen);
        }
    }

    #[cold]
    fn tried(&mut self, talk: &Talk<'_>, start: u64, len: u64, took: Option<Duration>) {
        let Some(trial) = &mut self.trial else { return };
        // SYNC: pairs with the Release store in `Heeding::heed`.
        let is_heeded = talk.heeded.load(Ordering::Acquire) == talk.ask.load(Ordering::Relaxed);
        if !is_heeded {
            // Its settings may say how it copies.
            trial.unheeded += 1;
            if trial.unheeded == LAST {
                (self.trial, self.left) = (None, LAST);
            }
            return;
        }
        let Some(took) = took.filter(|_| start >= talk.since.load(Ordering::Relaxed)) else { return };
        let best = &mut trial.best[trial.tries];
        *best = (*best).min(rate(took, len));
        self.left -= 1;
        if self.left > 0 {
            return;
        }
        *best = best.saturating_add(talk.fill.load(Ordering::Relaxed));
        let other = 1 - self.chosen;
        if trial.tries == self.chosen {
            trial.tries = other;
            return self.ask(talk, other);
        }
        // A change has to pay: what differs less is chance.
        let [old, new] = [self.chosen, other].map(|which| trial.best[which]);
        if new < old - old / 10 {
            self.chosen = other;
        }
        self.trial = None;
        self.ask(talk, self.chosen);
        self.left = self.pause;
        self.pause = (8 * self.pause).min(LAST);
    }

    /// Asks for one of the kinds, and for its time.
    fn ask(&mut self, talk: &Talk<'_>, which: usize) {
        self.asks += 1;
        let number = Store::NAMES.iter().position(|(_, store)| *store == self.kinds[which]).unwrap_or(0);
        talk.ask.store(self.asks << 2 | number as u64, Ordering::Relaxed);
        self.left = TRIED;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Both ends, and a machine on which each kind of copy takes its time.
    struct Pair {
        words: [AtomicU64; 4],
        sender: Heeding,
        receiver: Chooser,
        at: u64,
        now: Duration,
    }

    impl Pair {
        fn new(usual: Store) -> Self {
            let words = std::array::from_fn(|_| AtomicU64::new(0));
            let (sender, receiver) = (Heeding::default(), Chooser::new(usual));
            Self { words, sender, receiver, at: 0, now: Duration::from_secs(1) }
        }

        /// A message of `len` bytes, of which each KiB takes so many ns to copy in and out, by kind; how it was copied.
        fn message(&mut self, len: u64, takes: impl Fn(Store) -> [u64; 2]) -> Store {
            let [ask, heeded, since, fill] = &self.words;
            let talk = Talk { ask, heeded, since, fill };
            let store = self.sender.store(&talk, self.at, self.receiver.kinds[0]);
            let [fill, drain] = takes(store).map(|ns| Duration::from_nanos(ns * len / 1024));
            self.now += fill;
            if self.sender.is_timing(len) {
                self.sender.took(&talk, fill, len);
            }
            self.now += drain;
            let is_timed = self.receiver.is_timing(len);
            self.receiver.ended(&talk, self.at, len, || is_timed.then_some(drain));
            self.at += len;
            store
        }
    }

    #[test]
    fn the_faster_kind_is_kept_and_a_change_of_the_machine_noticed() {
        for usual in [Store::Plain, Store::Streaming, Store::String] {
            let mut pair = Pair::new(usual);
            let takes = |streaming: [u64; 2], other: [u64; 2]| {
                move |store| if store == Store::Streaming { streaming } else { other }
            };
            let (near, far) = (takes([60, 50], [30, 40]), takes([60, 50], [30, 200]));
            let kinds = pair.receiver.kinds;
            for (machine, streams) in [(near, false), (far, true), (near, false), (far, true)] {
                for _ in 0..2 * LAST {
                    pair.message(16 << 10, machine);
                }
                let last =
                    (0..LAST - 100).filter(|_| pair.message(16 << 10, machine) == Store::Streaming).count();
                let share = last as u32 * 100 / LAST;
                assert!(if streams { share > 95 } else { share < 5 }, "{kinds:?}: {share} % stream");
            }
        }
    }

    #[test]
    fn what_differs_little_changes_nothing() {
        let mut pair = Pair::new(Store::Plain);
        let takes = |store| if store == Store::Streaming { [49, 48] } else { [50, 50] };
        let streamed = (0..10 * LAST).filter(|_| pair.message(8 << 10, takes) == Store::Streaming).count();
        assert!((1..=12 * TRIED as usize).contains(&streamed), "{streamed}");
    }

    #[test]
    fn short_messages_tell_nothing() {
        let mut pair = Pair::new(Store::Plain);
        for _ in 0..10 * LAST {
            assert_eq!(pair.message(SHORTEST - 1, |_| [9, 9]), Store::Plain);
        }
    }

    #[test]
    fn a_trial_that_nobody_heeds_ends() {
        let mut pair = Pair::new(Store::Plain);
        let [ask, heeded, since, fill] = &pair.words;
        let talk = Talk { ask, heeded, since, fill };
        for round in 0..4 {
            let timed = (0..2 * LAST).filter(|_| {
                let is_timed = pair.receiver.is_timing(SHORTEST);
                pair.receiver.ended(&talk, 0, SHORTEST, || Some(Duration::from_micros(1)));
                is_timed
            });
            assert_eq!(timed.count(), LAST as usize, "round {round}");
        }
    }

    #[test]
    fn a_side_that_writes_anything_costs_speed_at_most() {
        let mut pair = Pair::new(Store::Plain);
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            pair.words[(state >> 33) as usize % 4].store(state, Ordering::Relaxed);
            pair.message((4 << 10) << ((state >> 40) % 12), |_| [state >> 50, state >> 54]);
        }
    }
}
