//! How fast a link brings long messages to one peer, by what the peer says has come.
//!
//! Used by `bundle`; does no I/O and has no clock. What must stay true: a link that was slow once is tried again.

use std::time::Duration;

/// Bytes of long messages on one link that the peer has not said it has, at most.
const WINDOW: u64 = 1 << 20;
/// Time over which one value of the speed is taken.
const SPAN: Duration = Duration::from_micros(500);
/// A link counts as at least this part as fast as the fastest.
const SLOWEST: f64 = 1.0 / 16.0;

/// The long messages on one link to one peer.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Bytes under way.
    under_way: u64,
    /// Bytes that have come since then.
    since: Duration,
    come: u64,
    /// Bytes per second; 0 while nothing is known.
    speed: f64,
}

impl Pace {
    /// So many bytes begin their way.
    pub(super) fn begin(&mut self, now: Duration, bytes: u64) {
        if self.under_way == 0 {
            (self.since, self.come) = (now, 0);
        }
        self.under_way += bytes;
    }

    /// So many bytes have come.
    pub(super) fn end(&mut self, now: Duration, bytes: u64) {
        self.under_way = self.under_way.saturating_sub(bytes);
        self.come += bytes;
        let span = now.saturating_sub(self.since);
        if span >= SPAN {
            let speed = self.come as f64 / span.as_secs_f64();
            self.speed = if self.speed == 0.0 { speed } else { 0.75 * self.speed + 0.25 * speed };
            (self.since, self.come) = (now, 0);
        }
    }

    /// Nothing is under way any more.
    pub(super) fn forget(&mut self) {
        self.under_way = 0;
    }

    /// Whether so many more bytes may begin their way.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.under_way == 0 || self.under_way + bytes <= WINDOW
    }

    /// What is known of its speed.
    pub(super) fn speed(&self) -> f64 {
        self.speed
    }

    /// When so many more bytes would have come, if `fastest` is the speed of the fastest link.
    pub(super) fn until(&self, bytes: u64, fastest: f64) -> f64 {
        let speed = match self.speed {
            0.0 => fastest,
            speed => speed.max(fastest * SLOWEST),
        };
        (self.under_way + bytes) as f64 / speed.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two links, one of which is four times as fast, bring parts of 64 KiB of a long message: they end at about the same
    /// time, each with its share, also where all of the message fits into their windows.
    #[test]
    fn parts_go_where_they_come_first() {
        for (parts, share) in [(1000, 780..=820), (30, 22..=26)] {
            let speeds = [100e6, 25e6];
            let mut paces = [Pace::default(), Pace::default()];
            let (mut now, mut left, mut free) = (0.0f64, parts + 200, [0.0f64; 2]);
            let (mut given, mut ends) = ([0, 0], Vec::<(f64, usize)>::new());
            while left > 0 || !ends.is_empty() {
                let fastest = paces.iter().map(Pace::speed).fold(0.0, f64::max);
                let until = |link: usize| paces[link].until(65536, fastest);
                let link = usize::from(until(1) < until(0));
                if left > 0 && paces[link].has_room(65536) {
                    paces[link].begin(Duration::from_secs_f64(now), 65536);
                    free[link] = free[link].max(now) + 65536.0 / speeds[link];
                    ends.push((free[link], link));
                    // The first ones are for learning; all of them come before the others begin.
                    if left <= parts {
                        given[link] += 1;
                    }
                    left -= 1;
                    if left != parts {
                        continue;
                    }
                }
                loop {
                    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
                    let (at, link) = ends.remove(0);
                    now = at;
                    paces[link].end(Duration::from_secs_f64(now), 65536);
                    if left != parts || ends.is_empty() {
                        break;
                    }
                }
            }
            assert!(share.contains(&given[0]), "{given:?}");
            assert!((free[0] - free[1]).abs() < 0.006, "{free:?}");
        }
    }

    #[test]
    fn a_link_that_stood_still_is_tried_again() {
        let mut slow = Pace { speed: 1.0, ..Pace::default() };
        let mut fast = Pace { speed: 1e9, ..Pace::default() };
        let mut n = 0;
        while fast.until(1000, 1e9) <= slow.until(1000, 1e9) {
            fast.begin(Duration::ZERO, 1000);
            n += 1;
        }
        assert_eq!(n, 16);
        slow.begin(Duration::ZERO, 1000);
        slow.forget();
        assert!(slow.has_room(1 << 30) && !fast.has_room(1 << 20));
    }
}
