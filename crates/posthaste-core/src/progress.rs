//! One step of everything that is under way.
//!
//! Called by `wait` (and by tests that drive engines themselves); calls `method`, `dispatch`, `pt2pt::{action, flow}`,
//! `coll`. Never blocks.

use crate::coll::{self, Running};
use crate::dispatch;
use crate::method::Methods;
use crate::pt2pt::{Action, Engine, action, down, flow};

/// Operations on the fast paths between two steps of progress.
const QUICK: u32 = 1024;

/// What one lock protects: an engine, its methods, and the schedules they advance.
#[derive(Debug)]
pub struct Lane {
    /// Requests and matching.
    pub engine: Engine,
    /// The ways to the peers.
    pub methods: Methods,
    /// Collective operations under way.
    pub running: Running,
    /// Threads of this process that sleep in the library.
    pub sleepers: u32,
    /// The engine's count of ended requests when sleepers were last woken.
    pub told_sleepers: u64,
    /// Operations so far that looked at one peer only.
    quick: u32,
    actions: Vec<Action>,
}

impl Lane {
    /// A lane around an engine and its methods.
    pub fn new(engine: Engine, methods: Methods) -> Self {
        Self {
            engine,
            methods,
            running: Running::default(),
            sleepers: 0,
            told_sleepers: 0,
            quick: 0,
            actions: Vec::new(),
        }
    }

    /// Whether a thread of this process that sleeps in the library has to look: a request has ended, or there are
    /// bytes to be copied by this process.
    #[inline]
    pub fn concerns_sleepers(&self) -> bool {
        self.sleepers > 0 && (self.engine.finished.ends != self.told_sleepers || !self.methods.is_quiet())
    }

    /// Called by fast paths, which look at one peer only: it must not keep us from everything else.
    #[inline]
    pub fn stay_fair(&mut self) {
        self.quick += 1;
        if self.quick.is_multiple_of(QUICK) {
            self.progress();
        }
    }

    /// Whether nothing is under way that needs progress, so that a fast path may be taken.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.running.is_empty() && !self.engine.has_chores() && self.methods.is_drained()
    }

    /// Polls once, answers what came, retries what waits for room, advances schedules. Returns whether anything
    /// happened.
    #[inline]
    pub fn progress(&mut self) -> bool {
        let Self { engine, methods, running, actions, .. } = self;
        let mut busy = methods.poll(|event, _| {
            if let Some(asked) = dispatch::on_event(engine, event) {
                actions.push(asked);
            }
        });
        for asked in actions.drain(..) {
            action::perform(engine, methods, asked);
        }
        if engine.has_chores() {
            busy |= action::retry_pending(engine, methods);
            busy |= flow::advance(engine, methods);
            busy |= down::sweep(engine);
        }
        if !running.is_empty() {
            busy |= coll::advance(engine, methods, running);
        }
        busy
    }
}
