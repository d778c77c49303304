//! When the processes of a failed job are asked to end, when they are killed, and when we stop waiting.
//!
//! Pure. What must stay true: after a failure everybody is gone within two seconds; after a signal of the user,
//! programs that catch it have time to save their work.

use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

const KILL_AFTER: Duration = Duration::from_secs(1);
const ASK_AFTER_USER: Duration = Duration::from_secs(2);
const KILL_AFTER_USER: Duration = Duration::from_secs(5);
const GIVE_UP_AFTER_KILL: Duration = Duration::from_secs(5);

/// How a job is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum How {
    /// After a failure.
    Failure,
    /// After a failure that follows from a signal of the user, passed on to all processes already.
    User,
    /// At once.
    Kill,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Ask all processes to end.
    Ask,
    /// Kill them.
    Kill,
    /// Not even a kill ended them (a process stuck in the system): leave.
    GiveUp,
}

/// The plan for a job's end.
#[derive(Clone, Debug)]
pub(crate) struct Ending {
    plan: Vec<(Instant, Due)>,
}

impl Ending {
    /// The plan from `now` on.
    pub(crate) fn new(how: How, now: Instant) -> Self {
        Self::at(match how {
            How::Failure => [(now, Due::Ask), (now + KILL_AFTER, Due::Kill)],
            How::User => [(now + ASK_AFTER_USER, Due::Ask), (now + KILL_AFTER_USER, Due::Kill)],
            How::Kill => [(now, Due::Ask), (now, Due::Kill)],
        })
    }

    fn at(steps: [(Instant, Due); 2]) -> Self {
        let give_up = (steps[1].0 + GIVE_UP_AFTER_KILL, Due::GiveUp);
        // Taken from the end.
        Self { plan: vec![give_up, steps[1], steps[0]] }
    }

    /// When the last step is due.
    pub(crate) fn gives_up(&self) -> Option<Instant> {
        self.plan.first().map(|step| step.0)
    }

    /// When the next step is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.plan.last().map(|step| step.0)
    }

    /// The step that is due by now, which is then taken off the plan.
    pub(super) fn due(&mut self, now: Instant) -> Option<Due> {
        if self.next()? <= now { self.plan.pop().map(|step| step.1) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_asks_then_kills_within_two_seconds() {
        let now = Instant::now();
        let mut ending = Ending::new(How::Failure, now);
        assert_eq!(ending.due(now), Some(Due::Ask));
        assert_eq!(ending.due(now), None);
        assert!(ending.next().unwrap() <= now + Duration::from_millis(1500));
        assert_eq!(ending.due(now + Duration::from_secs(2)), Some(Due::Kill));
        assert_eq!(ending.due(now + Duration::from_secs(60)), Some(Due::GiveUp));
        assert_eq!((ending.due(now + Duration::from_secs(60)), ending.next()), (None, None));
    }

    #[test]
    fn the_user_gets_more_time_or_none() {
        let now = Instant::now();
        assert_eq!(Ending::new(How::User, now).due(now), None);
        let mut at_once = Ending::new(How::Kill, now);
        assert_eq!((at_once.due(now), at_once.due(now)), (Some(Due::Ask), Some(Due::Kill)));
    }
}
