//! One step of everything that is under way.
//!
//! Called by `wait` (and by tests that drive engines themselves); calls `method`, `dispatch`, `pt2pt::action`,
//! `coll`. Never blocks.

use crate::coll::{self, Running};
use crate::dispatch;
use crate::method::Methods;
use crate::pt2pt::{Action, Engine, action};

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
    actions: Vec<Action>,
}

impl Lane {
    /// A lane around an engine and its methods.
    pub fn new(engine: Engine, methods: Methods) -> Self {
        Self { engine, methods, running: Running::default(), sleepers: 0, actions: Vec::new() }
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
        if engine.has_pending() {
            busy |= action::retry_pending(engine, methods);
        }
        if !running.is_empty() {
            busy |= coll::advance(engine, methods, running);
        }
        busy
    }
}
