//! How a small buffer is filled where ranks share CPUs: its sender learns from what its own copies take.
//!
//! A line that the receiver has read has to be owned again before it is written. Between cores that share no cache that takes ten times as
//! long as stores that go past the caches, after which the receiver fetches the data from memory; between cores that share one it costs
//! nothing that shows on one machine, and on another one three times as long as such stores. And what a pair is changes from one second to
//! the next, as ranks change CPUs and a hypervisor moves those.
//!
//! The receiver copies later, when it is given a CPU, so nothing of that is timed. Instead copying past the caches counts twice: the data
//! goes to memory, and comes back from there.
//!
//! What must stay true: the time of a copy counts once the kind of copy has gone round the whole buffer, for before the lines lie where the
//! other kind has left them; a sender that loses its CPU while it copies does not change the kind for that alone.

use std::time::Duration;

use super::choice::{SHORTEST, rate};
use crate::mem::Store;

/// Messages between two trials of the other kind: few after a change, then twice as many each time.
const FEW: u32 = 16;
const MANY: u32 = 256;
/// Messages of a trial at most: as many of the shortest that count as go round the largest buffer, and more.
const TRIED: u32 = 40;
/// Of a copy that takes far longer than those before it so many times their time counts.
const MOST: u64 = 8;

/// The sender's part of what is known of its own copies.
#[derive(Debug)]
pub(super) struct Learned {
    /// Whether copies past the caches are chosen, and whether one of the other kind is tried now.
    streams: bool,
    tries: bool,
    /// What 1 MiB takes, in ns, by plain copies and by those past the caches; 0: unknown.
    took: [u64; 2],
    /// Messages to the next trial or to its end, and how many come between two.
    left: u32,
    pause: u32,
    /// Where the first copy begins whose time counts.
    since: u64,
}

impl Learned {
    /// Of a buffer of `size` bytes whose first message begins at `at`. The first kind is plain, and the other one is tried soon.
    pub(super) fn new(at: u64, size: u64) -> Self {
        Self {
            streams: false,
            tries: false,
            took: [0; 2],
            left: FEW,
            pause: FEW,
            since: at.saturating_add(size),
        }
    }

    /// A message begins here in a buffer of `size` bytes: by which kind of copy.
    #[inline]
    pub(super) fn begin(&mut self, at: u64, size: u64) -> Store {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            match self.tries {
                false => self.switch(at, size, true),
                // These messages are too short to tell anything.
                true => self.end_trial(at, size),
            }
        }
        if self.streams != self.tries { Store::Streaming } else { Store::Plain }
    }

    /// Whether the time of a copy of so many bytes that begins here is to be taken.
    #[inline(always)]
    pub(super) fn is_timing(&self, at: u64, bytes: u64) -> bool {
        at >= self.since && bytes >= SHORTEST
    }

    /// So many bytes have been copied in, up to `at` in a buffer of `size` bytes.
    pub(super) fn took(&mut self, time: Duration, bytes: u64, at: u64, size: u64) {
        let took = &mut self.took[usize::from(self.streams != self.tries)];
        let now = rate(time, bytes).max(1);
        *took = match *took {
            0 => now,
            before if now > before => (before + now.min(before.saturating_mul(MOST))) / 2,
            _ => now,
        };
        let [plain, streaming] = self.took;
        let streams = streaming > 0 && plain > streaming.saturating_mul(2);
        let has_changed = streams != self.streams && plain > 0;
        if has_changed {
            (self.streams, self.pause) = (streams, FEW);
            self.switch(at, size, false);
        } else if self.tries {
            self.end_trial(at, size);
        }
    }

    /// A trial has changed nothing.
    fn end_trial(&mut self, at: u64, size: u64) {
        self.pause = (2 * self.pause).min(MANY);
        self.switch(at, size, false);
    }

    /// From now on the other kind is tried, or no more.
    fn switch(&mut self, at: u64, size: u64, tries: bool) {
        self.tries = tries;
        self.left = if tries { TRIED } else { self.pause };
        self.since = at.saturating_add(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 64 << 10;

    /// Messages of a buffer's size, of which a plain copy takes so many ns and one past the caches so many. How many went past them.
    fn stream(learned: &mut Learned, at: &mut u64, messages: u32, [plain, streaming]: [u64; 2]) -> u32 {
        (0..messages)
            .filter(|_| {
                let store = learned.begin(*at, SIZE);
                let streams = store == Store::Streaming;
                let ns = if streams { streaming } else { plain };
                let is_timed = learned.is_timing(*at, SIZE);
                *at += SIZE;
                if is_timed {
                    learned.took(Duration::from_nanos(ns), SIZE, *at, SIZE);
                }
                streams
            })
            .count() as u32
    }

    const NEAR: [u64; 2] = [1_400, 4_500];
    const FAR: [u64; 2] = [35_000, 2_500];

    #[test]
    fn what_takes_less_is_found_soon_and_found_again_when_it_changes() {
        let mut at = 77;
        let mut learned = Learned::new(at, SIZE);
        assert_eq!(stream(&mut learned, &mut at, FEW - 1, FAR), 0, "plain copies first");
        assert!(stream(&mut learned, &mut at, 1000, FAR) > 970, "{learned:?}");
        // The trial that finds it out comes after at most so many messages.
        stream(&mut learned, &mut at, MANY + 4, NEAR);
        assert!(stream(&mut learned, &mut at, 1000, NEAR) < 50, "{learned:?}");
        // Slow plain copies show without a trial.
        assert!(stream(&mut learned, &mut at, 100, FAR) > 90, "{learned:?}");
    }

    #[test]
    fn where_nothing_differs_much_copies_are_plain() {
        let mut at = 0;
        let mut learned = Learned::new(at, SIZE);
        let streamed = stream(&mut learned, &mut at, 10_000, [4_000, 2_500]);
        assert!((30..200).contains(&streamed), "{streamed}: trials alone");
    }

    #[test]
    fn losing_the_cpu_once_changes_nothing() {
        let mut at = 0;
        let mut learned = Learned::new(at, SIZE);
        stream(&mut learned, &mut at, 2000, NEAR);
        for round in 0..100 {
            stream(&mut learned, &mut at, 1, [5_000_000, 5_000_000]);
            assert!(!learned.streams, "round {round}");
            stream(&mut learned, &mut at, 10, NEAR);
        }
    }

    #[test]
    fn a_trial_ends_with_messages_that_are_too_short_too() {
        let mut at = 0;
        let mut learned = Learned::new(at, SIZE);
        stream(&mut learned, &mut at, 2000, NEAR);
        let streamed = (0..2960).filter(|message| {
            let at = at + message * 1024;
            assert!(!learned.is_timing(at, 1024));
            learned.begin(at, SIZE) == Store::Streaming
        });
        assert_eq!(streamed.count(), 10 * TRIED as usize);
    }

    #[test]
    fn short_copies_and_the_first_round_say_nothing() {
        let learned = Learned::new(100, SIZE);
        assert!(!learned.is_timing(100 + SIZE - 1, SIZE));
        assert!(learned.is_timing(100 + SIZE, SHORTEST));
        assert!(!learned.is_timing(100 + SIZE, SHORTEST - 1));
    }
}
