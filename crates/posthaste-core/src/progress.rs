//! One step of everything that is under way.
//!
//! Never blocks.

mod strangers;

use crate::coll::{self, Running};
use crate::dispatch;
use crate::method::Methods;
use crate::pt2pt::{Action, Engine, action, flow, staging};
use crate::win::Operations;
use strangers::Strangers;

/// Operations on the fast paths between two steps of progress.
const QUICK: u32 = 1024;
/// The same of waits.
const QUICK_WAITS: u32 = 32;

/// What one lock protects: an engine, its methods, and the schedules they advance.
#[derive(Debug)]
pub struct Vci {
    /// Requests and matching.
    pub engine: Engine,
    /// The ways to the peers.
    pub methods: Methods,
    /// Collective operations under way.
    pub running: Running,
    /// Operations of windows under way.
    pub operations: Operations,
    /// What had happened when sleepers were last notified.
    pub(crate) last_notified: u64,
    /// Steps so far, by any thread.
    pub steps: u64,
    /// Operations so far that looked at one peer only.
    quick: u32,
    actions: Vec<Action>,
    /// When processes of other jobs were attended.
    strangers: Strangers,
    /// The thread inside calls no function of the program.
    serves: bool,
}

impl Vci {
    /// A VCI around an engine and its methods.
    pub fn new(engine: Engine, methods: Methods) -> Self {
        Self {
            engine,
            methods,
            running: Running::default(),
            operations: Operations::default(),
            last_notified: 0,
            steps: 0,
            quick: 0,
            actions: Vec::new(),
            strangers: Strangers::new(),
            serves: false,
        }
    }

    /// Whether bytes are being copied for which nobody else cares: nobody sleeps meanwhile.
    #[inline]
    pub fn is_copying(&self) -> bool {
        !self.methods.is_quiet() || self.engine.has_staged()
    }

    /// Called by fast paths, which look at one peer only: it must not keep us from everything else.
    #[inline]
    pub fn stay_fair(&mut self) {
        self.progress_every(QUICK);
    }

    /// The same for waits, after which the program may compute for long while others wait for an answer.
    #[inline]
    pub fn wait_fairly(&mut self) {
        self.progress_every(QUICK_WAITS);
    }

    #[inline(always)]
    fn progress_every(&mut self, operations: u32) {
        self.quick += 1;
        if self.quick.is_multiple_of(operations) {
            self.progress();
        }
    }

    /// Whether fast paths, which stay in one VCI, have been taken often enough for a look at the others.
    #[inline]
    pub fn is_time_for_others(&self) -> bool {
        self.quick.is_multiple_of(QUICK)
    }

    /// Whether nothing is under way that needs progress, so that a fast path may be taken.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.running.is_empty() && !self.engine.has_pending_work() && self.methods.is_drained()
    }

    /// Polls once, answers what came, retries what waits for room, advances schedules. Returns whether anything
    /// happened.
    #[inline]
    pub fn progress(&mut self) -> bool {
        let Self { engine, methods, running, operations, actions, serves, .. } = self;
        self.steps += 1;
        let mut busy = methods.poll(|event, _| {
            if let Some(asked) = dispatch::on_event(engine, event) {
                actions.push(asked);
            }
        });
        for asked in actions.drain(..) {
            action::perform(engine, methods, asked);
        }
        if engine.outside.has_some() {
            engine.end_from_outside();
            busy = true;
        }
        if engine.has_pending_work() {
            busy |= action::perform_asked(engine, methods);
            busy |= action::retry_pending(engine, methods);
            busy |= flow::advance(engine, methods);
            busy |= engine.with_onesided(|onesided, _| onesided.advance(methods));
        }
        if engine.has_news_of_windows() {
            busy |= operations.settle(engine);
        }
        if engine.has_staged() {
            busy |= staging::advance(engine, methods);
        }
        if running.has_to_look() && !*serves {
            busy |= coll::advance(engine, methods, running);
        }
        busy
    }

    /// One step but for schedules, which call operations of the program.
    #[cold]
    pub(crate) fn serve(&mut self) -> bool {
        self.serves = true;
        let busy = self.progress();
        self.serves = false;
        busy
    }

    /// Whether there is something to do that may call functions of the program.
    pub(crate) fn owes(&self) -> bool {
        let finished = &self.engine.finished;
        self.running.has_to_look() || !finished.handlers.is_empty()
    }
}
