//! When a method that is costly to look at has its turn, in a process that polls cheap ones as well.
//!
//! What must stay true: what has come is seen within so many polls; while nothing comes, the cheap methods are not
//! slowed down; a method that is alone is looked at with every poll.

/// Polls that may pass between two looks.
pub(super) const MOST: u32 = 32;

/// Whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Rarely {
    /// There are cheap methods.
    shares: bool,
    /// Polls until the next look, and between the looks before.
    left: u32,
    interval: u32,
}

impl Rarely {
    /// Cheap methods are polled, too.
    pub(super) fn share(&mut self) {
        self.shares = true;
    }

    /// The next poll looks.
    pub(super) fn soon(&mut self) {
        self.left = 0;
    }

    /// Whether this poll looks; then [`Rarely::looked`] hears of it.
    #[inline]
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_due
    }

    /// Something was found, or nothing.
    #[inline]
    pub(super) fn looked(&mut self, found: bool) {
        self.interval = if self.shares && !found { (self.interval * 2).clamp(1, MOST) } else { 0 };
        self.left = self.interval;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks among so many polls.
    fn looks(rarely: &mut Rarely, polls: u32, found: bool) -> u32 {
        let mut looks = 0;
        for _ in 0..polls {
            if rarely.is_due() {
                looks += 1;
                rarely.looked(found);
            }
        }
        looks
    }

    #[test]
    fn fruitless_looks_become_rare_and_fruitful_ones_do_not() {
        let mut rarely = Rarely::default();
        assert_eq!(looks(&mut rarely, 1000, false), 1000, "nothing else is polled");
        rarely.share();
        assert!(looks(&mut rarely, 10_000, false) <= 10_000 / MOST + 6);
        assert!(looks(&mut rarely, 1 + MOST, true) >= 1, "what comes is seen in time");
        assert_eq!(looks(&mut rarely, 1000, true), 1000);
        assert!(looks(&mut rarely, 1000, false) > 0);
        rarely.soon();
        assert_eq!(looks(&mut rarely, 1, false), 1);
    }
}
