//! One step of everything that is under way.
//!
//! Never blocks.

use posthaste_os::park::{SleeperId, Sleepers, Wake, Wants};
use posthaste_os::wake::Doorbell;

use crate::coll::{self, Running};
use crate::dispatch;
use crate::ids::RequestId;
use crate::method::Methods;
use crate::pt2pt::{Action, Engine, action, flow, staging};
use crate::request::complete;

/// Operations on the fast paths between two steps of progress.
const QUICK: u32 = 1024;

/// How long a thread sleeps.
#[derive(Debug)]
pub enum Until<'a> {
    /// All these requests have ended.
    All(&'a [RequestId]),
    /// One of these requests has ended.
    Any(&'a [RequestId]),
    /// Something happens.
    Event,
    /// There is something to do that nobody else does.
    Bell,
}

/// A thread that is registered as a sleeper.
#[derive(Clone, Copy, Debug)]
pub struct Asleep {
    /// Under which number.
    pub sleeper: SleeperId,
    /// It listens for all.
    pub listens: bool,
    /// The ticket for the bell, if it sleeps there.
    pub ticket: Option<u32>,
}

impl Asleep {
    /// Registers the calling thread. Who listens has said so at the bell when others can see that it is there, or they would
    /// ring too early.
    pub fn register(sleepers: &Sleepers, wants: Wants, bell: Option<&Doorbell>) -> Self {
        sleepers.with(|parked| {
            let sleeper = parked.register(wants, bell.is_none());
            let listens = parked.is_listener(sleeper);
            let ticket = bell.filter(|_| listens).map(Doorbell::about_to_sleep);
            Self { sleeper, listens, ticket }
        })
    }
}

/// What one lock protects: an engine, its methods, and the schedules they advance.
#[derive(Debug)]
pub struct Vci {
    /// Requests and matching.
    pub engine: Engine,
    /// The ways to the peers.
    pub methods: Methods,
    /// Collective operations under way.
    pub running: Running,
    /// What had happened when sleepers were last told.
    told: u64,
    /// Steps so far, by any thread.
    pub steps: u64,
    /// Operations so far that looked at one peer only.
    quick: u32,
    actions: Vec<Action>,
}

impl Vci {
    /// A VCI around an engine and its methods.
    pub fn new(engine: Engine, methods: Methods) -> Self {
        Self {
            engine,
            methods,
            running: Running::default(),
            told: 0,
            steps: 0,
            quick: 0,
            actions: Vec::new(),
        }
    }

    /// Whether something has happened that threads of this process which sleep in the library may have to know.
    #[inline]
    pub fn concerns(&self, sleepers: &Sleepers) -> bool {
        sleepers.are_there()
            && (!self.engine.finished.told.is_empty()
                || self.is_copying()
                || (self.happened() != self.told && (sleepers.are_curious() || self.has_work())))
    }

    /// Counts what a sleeper may wait for.
    #[inline]
    pub(crate) fn happened(&self) -> u64 {
        self.engine.finished.ends + self.engine.matching.arrivals()
    }

    /// Whether there is something that goes on by itself where somebody is awake.
    fn has_work(&self) -> bool {
        let Self { engine, running, .. } = self;
        engine.has_pending_work()
            || !running.is_empty()
            || !engine.finished.handlers.is_empty()
            || self.is_copying()
    }

    /// Whether bytes are being copied for which nobody else cares: nobody sleeps meanwhile.
    #[inline]
    pub fn is_copying(&self) -> bool {
        !self.methods.is_quiet() || self.engine.has_staged()
    }

    /// Whom to wake, once the VCI has been left.
    #[cold]
    pub fn wakes(&mut self, sleepers: &Sleepers) -> Vec<Wake> {
        let work = self.has_work();
        let happened = self.happened();
        let news = std::mem::replace(&mut self.told, happened) != happened;
        let told = self.engine.finished.told.drain(..);
        sleepers.with(|parked| {
            let mut wakes: Vec<Wake> = told.filter_map(|sleeper| parked.ended(sleeper)).collect();
            if work {
                wakes.extend(parked.rouse_listener());
            }
            if news {
                wakes.extend(parked.happened());
            }
            wakes
        })
    }

    /// The calling thread is about to sleep: on the bell if it is to listen for all, unless there is none or it only dozes.
    /// `None`: what it waits for is there, or may be: something has happened since it looked, when `seen` had. Whoever
    /// wakes up calls [`Vci::awake`].
    pub fn falls_asleep(
        &mut self,
        sleepers: &Sleepers,
        until: &Until<'_>,
        bell: Option<&Doorbell>,
        seen: u64,
    ) -> Option<Asleep> {
        let news = self.happened() != seen;
        self.told = self.happened();
        let register = |wants| Asleep::register(sleepers, wants, bell);
        let table = &mut self.engine.requests;
        let (ids, all) = match until {
            Until::All(ids) => (*ids, true),
            Until::Any(ids) => (*ids, false),
            Until::Event if news => return None,
            Until::Event => return Some(register(Wants::Anything)),
            Until::Bell => return Some(register(Wants::Ends(usize::MAX))),
        };
        let goes_on =
            |id: &&RequestId| table.get(**id).is_some_and(|request| !complete::is_complete(request));
        let open = ids.iter().filter(goes_on).count();
        if open == 0 || (!all && open < ids.len()) {
            return None;
        }
        let registered = register(Wants::Ends(if all { open } else { 1 }));
        for id in ids {
            complete::watch(&mut self.engine.requests, *id, registered.sleeper);
        }
        Some(registered)
    }

    /// A thread that slept is awake.
    pub fn awake(&mut self, sleepers: &Sleepers, until: &Until<'_>, sleeper: SleeperId) {
        let ids = match until {
            Until::All(ids) | Until::Any(ids) => *ids,
            Until::Event | Until::Bell => &[],
        };
        for id in ids {
            complete::unwatch(&mut self.engine.requests, *id, sleeper);
        }
        self.engine.finished.told.retain(|told| *told != sleeper);
        sleepers.with(|parked| parked.unregister(sleeper));
    }

    /// Called by fast paths, which look at one peer only: it must not keep us from everything else.
    #[inline]
    pub fn stay_fair(&mut self) {
        self.quick += 1;
        if self.quick.is_multiple_of(QUICK) {
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
        let Self { engine, methods, running, actions, .. } = self;
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
            busy |= action::retry_pending(engine, methods);
            busy |= flow::advance(engine, methods);
            busy |= engine.with_onesided(|onesided, _| onesided.advance(methods));
        }
        if engine.has_staged() {
            busy |= staging::advance(engine, methods);
        }
        if !running.is_empty() {
            busy |= coll::advance(engine, methods, running);
        }
        busy
    }
}
