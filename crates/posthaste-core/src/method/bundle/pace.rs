//! How fast a link brings long messages to one peer, by what the peer says has come.
//!
//! Does no I/O and has no clock. What must stay true: what is measured is the time between two answers while more was
//! under way, so that a link is not called slow because it had little to do, nor because who answers had no CPU for once; a
//! link that was slow is tried again, which takes a tenth of the time at most.

use std::time::Duration;

/// Bytes of long messages on one link that the peer has not said it has, at most.
const WINDOW: u64 = 1 << 20;
/// Times over which one value of the speed is taken, and at least where there is no more to come.
const SPAN: Duration = Duration::from_micros(500);
const SHORT_SPAN: Duration = Duration::from_micros(20);
/// A link that has stood idle so many times as long as it would take is tried again.
const PATIENCE: f64 = 10.0;

/// The long messages on one link to one peer.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Bytes under way.
    under_way: u64,
    /// Since when what comes is measured, and the bytes that have come since.
    span: Option<(Duration, u64)>,
    /// Since when nothing is under way.
    idle_since: Duration,
    /// Bytes per second.
    speed: f64,
    /// How many values that stands on, up to two. One is none: it may have been a rank that had no CPU.
    values: u8,
    /// What is under way is a trial, which began with the span.
    is_tried: bool,
}

impl Pace {
    /// So many bytes begin their way.
    pub(super) fn begin(&mut self, now: Duration, bytes: u64) {
        if self.is_due(now, bytes) {
            (self.is_tried, self.span) = (true, Some((now, 0)));
        }
        self.under_way += bytes;
    }

    /// So many bytes have come.
    pub(super) fn end(&mut self, now: Duration, bytes: u64) {
        self.under_way = self.under_way.saturating_sub(bytes);
        let is_idle = self.under_way == 0;
        if is_idle {
            self.idle_since = now;
        }
        let Some((since, before)) = self.span else {
            self.span = (!is_idle).then_some((now, 0));
            return;
        };
        let (span, come) = (now.saturating_sub(since), before + bytes);
        self.span = (!is_idle).then_some((since, come));
        if span < if is_idle { SHORT_SPAN } else { SPAN } {
            return;
        }
        let speed = come as f64 / span.as_secs_f64();
        self.speed = match self.values {
            0 | 1 => self.speed.max(speed),
            // With the delay of the network in it.
            _ if self.is_tried => self.speed.max(0.5 * (self.speed + speed)),
            _ => 0.75 * self.speed + 0.25 * speed,
        };
        self.values = 2.min(self.values + 1);
        self.is_tried = false;
        self.span = (!is_idle).then_some((now, 0));
    }

    /// Whether something is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way > 0
    }

    /// Nothing is under way any more.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Whether so many more bytes may begin their way.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.under_way == 0 || self.under_way + bytes <= WINDOW
    }

    /// Its speed; 0 while that is not known.
    pub(super) fn speed(&self) -> f64 {
        if self.values < 2 { 0.0 } else { self.speed }
    }

    /// How long it takes until so many more bytes have come, if `fastest` is the speed of the fastest link.
    pub(super) fn until(&self, now: Duration, bytes: u64, fastest: f64) -> f64 {
        let takes = |speed: f64| (self.under_way + bytes) as f64 / speed.max(1.0);
        if self.values < 2 {
            return takes(fastest);
        }
        // Before what would wait on the fastest link behind more than half a window.
        let tried = (WINDOW / 2) as f64 / fastest;
        if self.is_due(now, bytes) { takes(self.speed).min(tried) } else { takes(self.speed) }
    }

    /// Whether it has stood idle long enough for a trial with so many bytes.
    fn is_due(&self, now: Duration, bytes: u64) -> bool {
        let idle = now.saturating_sub(self.idle_since).as_secs_f64();
        self.under_way == 0 && self.values == 2 && idle > PATIENCE * bytes as f64 / self.speed.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: u64 = 65536;

    /// Links with these speeds bring a message in so many parts, beginning at `now`: how many each of them had, and when
    /// each of them was through.
    fn bring(paces: &mut [Pace; 2], speeds: [f64; 2], parts: usize, now: f64) -> ([usize; 2], [f64; 2]) {
        let (mut now, mut given, mut through, mut left) = (now, [0; 2], [now; 2], parts);
        let mut ends: Vec<(f64, usize)> = Vec::new();
        loop {
            while left > 0 {
                let fastest = paces.iter().map(Pace::speed).fold(0.0, f64::max);
                let until = |link: usize| paces[link].until(Duration::from_secs_f64(now), PART, fastest);
                let link = usize::from(until(1) < until(0));
                if !paces[link].has_room(PART) {
                    break;
                }
                paces[link].begin(Duration::from_secs_f64(now), PART);
                through[link] = through[link].max(now) + PART as f64 / speeds[link];
                ends.push((through[link], link));
                (given[link], left) = (given[link] + 1, left - 1);
            }
            ends.sort_by(|a, b| a.0.total_cmp(&b.0));
            let Some((end, link)) = (!ends.is_empty()).then(|| ends.remove(0)) else {
                return (given, through);
            };
            now = end;
            paces[link].end(Duration::from_secs_f64(now), PART);
        }
    }

    #[test]
    fn links_get_their_shares_and_end_at_the_same_time() {
        let mut paces = [Pace::default(), Pace::default()];
        let speeds = [100e6, 25e6];
        let (_, first) = bring(&mut paces, speeds, 300, 0.0);
        let (given, through) = bring(&mut paces, speeds, 1000, first[0].max(first[1]));
        assert!((780..=820).contains(&given[0]), "{given:?}");
        assert!((through[0] - through[1]).abs() < 0.004, "{through:?}");
        // Also where all of it fits into the windows.
        let (given, through) = bring(&mut paces, speeds, 20, through[0].max(through[1]));
        assert!((15..=17).contains(&given[0]), "{given:?} {through:?}");
        // The links change places.
        let (_, end) = bring(&mut paces, [25e6, 100e6], 1000, through[0].max(through[1]));
        let (given, _) = bring(&mut paces, [25e6, 100e6], 1000, end[0].max(end[1]));
        assert!((180..=220).contains(&given[0]), "{given:?}");
    }

    /// Whoever is to say what has come gets no CPU for so long in the middle of the first value of one link.
    #[test]
    fn a_rank_that_stands_still_makes_no_link_slow() {
        for stop in [0.01, 0.2, 2.0] {
            let mut paces = [Pace::default(), Pace::default()];
            for (link, late) in [stop, 0.001].into_iter().enumerate() {
                paces[link].begin(Duration::ZERO, 2 * PART);
                paces[link].end(Duration::ZERO, PART);
                paces[link].end(Duration::from_secs_f64(late), PART);
            }
            let (given, _) = bring(&mut paces, [100e6; 2], 3000, stop + 0.001);
            assert!(given.iter().all(|parts| *parts > 1400), "after {stop} s: {given:?}, {paces:?}");
        }
    }

    #[test]
    fn a_link_that_stood_still_is_tried_again() {
        let slow = Pace { speed: 1e6, values: 2, ..Pace::default() };
        let fast = |under_way| Pace { speed: 1e9, values: 2, under_way, ..Pace::default() };
        let is_tried = |seconds, under_way| {
            let now = Duration::from_secs_f64(seconds);
            slow.until(now, PART, 1e9) < fast(under_way).until(now, PART, 1e9)
        };
        assert!(!is_tried(0.6, WINDOW) && is_tried(0.7, WINDOW) && !is_tried(10.0, 0));
        // One that is not slow any more gets its share.
        let mut paces = [slow, fast(0)];
        let (_, through) = bring(&mut paces, [100e6; 2], 3000, 0.0);
        let (given, _) = bring(&mut paces, [100e6; 2], 1000, through[0].max(through[1]));
        assert!(given.iter().all(|parts| *parts > 480), "{given:?} {paces:?}");
    }

    #[test]
    fn a_link_with_little_to_do_is_not_called_slow() {
        let mut pace = Pace::default();
        for at in 1..100 {
            pace.begin(Duration::from_secs(at), PART);
            pace.end(Duration::from_secs(at), PART);
        }
        assert_eq!(pace.speed(), 0.0);
        pace.forget();
        assert!(pace.has_room(1 << 30) && !Pace { under_way: 1, ..Pace::default() }.has_room(1 << 20));
    }
}
