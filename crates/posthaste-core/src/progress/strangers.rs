//! Processes of other jobs: no launcher tells this one of their end, so who waits for their messages attends them.
//!
//! A wait does that when it falls asleep. Here is the same for programs that test or probe and never sleep. What must stay true: whatever such a
//! program looks for again and again is attended within some seconds, whatever else it looks for between; what comes within a second
//! makes no connection.

use std::time::Duration;

use posthaste_os::machine;
use rustc_hash::FxHashSet;

use super::Vci;
use crate::ids::{ANY_SOURCE, ContextId, Peer};
use crate::pt2pt::matching::Pattern;

/// Time between two looks at what is waited for.
const BETWEEN: Duration = Duration::from_secs(1);
/// Probes between two questions what the time is.
const SELDOM: u32 = 4;
/// Probes, one after the other, that are looked at then: of all communicators in turn, say.
const LOOKED_AT: u32 = 1024;

/// Where processes of other jobs are waited for, and when they were attended.
#[derive(Debug)]
pub(super) struct Strangers {
    tested: Duration,
    probed: Duration,
    /// Probes since then.
    probes: u32,
    /// What has been attended since then.
    attended: FxHashSet<(ContextId, i32)>,
}

impl Strangers {
    pub(super) fn new() -> Self {
        let now = machine::now();
        Self { tested: now, probed: now, probes: LOOKED_AT, attended: FxHashSet::default() }
    }

    /// Whether it is time to look at what posted receives wait for.
    fn is_time_for_tested(&mut self) -> bool {
        let now = machine::now();
        let is_time = now.saturating_sub(self.tested) >= BETWEEN;
        self.tested = if is_time { now } else { self.tested };
        is_time
    }

    /// Whether this probe is one of those whose peers are attended, and has not been since.
    fn is_time_for_probed(&mut self, pattern: &Pattern) -> bool {
        self.probes = self.probes.wrapping_add(1);
        if self.probes > LOOKED_AT {
            // To read the clock takes about as long as a probe.
            if !self.probes.is_multiple_of(SELDOM) {
                return false;
            }
            let now = machine::now();
            if now.saturating_sub(self.probed) < BETWEEN {
                return false;
            }
            (self.probed, self.probes) = (now, 0);
            self.attended.clear();
        }
        self.attended.insert((pattern.context, pattern.source))
    }
}

impl Vci {
    /// The peers whose messages a receive waits for, as far as it names them; where they may be of other jobs also where it does not.
    pub(crate) fn senders(&self, pattern: &Pattern) -> Vec<Peer> {
        match self.engine.contexts.get(pattern.context) {
            Some(known) if pattern.source == ANY_SOURCE && pattern.context.spans_jobs() => {
                known.group().peers().collect()
            }
            known => known.and_then(|known| known.peer(pattern.source)).into_iter().collect(),
        }
    }

    /// Attends those of other jobs whose messages posted receives wait for, now and then.
    pub(crate) fn attend_tested(&mut self) {
        if !self.engine.matching.has_posted() || !self.strangers.is_time_for_tested() {
            return;
        }
        let patterns = self.engine.matching.posted_patterns().filter(|pattern| pattern.context.spans_jobs());
        let mut known = FxHashSet::default();
        let once: Vec<Pattern> =
            patterns.filter(|pattern| known.insert((pattern.context, pattern.source))).copied().collect();
        once.iter().for_each(|pattern| self.attend(pattern));
    }

    /// Attends those of other jobs whose messages the program probes for, now and then.
    pub(crate) fn attend_probed(&mut self, pattern: &Pattern) {
        if self.strangers.is_time_for_probed(pattern) {
            self.attend(pattern);
        }
    }

    fn attend(&mut self, pattern: &Pattern) {
        self.senders(pattern).into_iter().for_each(|peer| self.methods.attend(peer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ANY_TAG;

    #[test]
    fn of_probes_in_turn_each_is_attended_once_in_a_while() {
        let mut strangers = Strangers::new();
        let probes: Vec<Pattern> =
            (0..8).map(|source| Pattern { context: ContextId::WORLD, source, tag: ANY_TAG }).collect();
        let attended = |strangers: &mut Strangers| {
            let turns = (0..2000).flat_map(|_| &probes);
            turns.filter(|pattern| strangers.is_time_for_probed(pattern)).count()
        };
        assert_eq!(attended(&mut strangers), 0, "nothing is late");
        strangers.probed = Duration::ZERO;
        assert_eq!(attended(&mut strangers), probes.len());
        assert_eq!(attended(&mut strangers), 0);
        strangers.tested = Duration::ZERO;
        assert!(strangers.is_time_for_tested() && !strangers.is_time_for_tested());
    }
}
