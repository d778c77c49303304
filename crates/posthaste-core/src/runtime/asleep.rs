//! Who is asleep, and who has to be woken: what a VCI knows of the threads that sleep until something happens in it.
//!
//! What must stay true: a thread is registered under the lock of the VCI in which it saw that it has to wait, so whoever
//! leaves that VCI later sees that it sleeps.

use posthaste_os::park::{SleeperId, Sleepers, Wake, Wants};
use posthaste_os::wake::Doorbell;

use crate::ids::RequestId;
use crate::progress::Vci;
use crate::request::complete;

/// How long a thread sleeps.
#[derive(Debug)]
pub enum Until<'a> {
    /// All these requests have ended.
    All(&'a [RequestId]),
    /// One of these requests has ended.
    Any(&'a [RequestId]),
    /// Something happens.
    Event,
    /// The same, or something that no packet tells.
    Unannounced,
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
    /// ring too early. Until now nobody has heard the bell, so those look again that wait for what it alone tells.
    pub fn register(sleepers: &Sleepers, wants: Wants, bell: Option<&Doorbell>) -> Self {
        let (asleep, wakes) = sleepers.with(|parked| {
            let sleeper = parked.register(wants, bell.is_none());
            let listens = parked.is_listener(sleeper);
            let ticket = bell.filter(|_| listens).map(Doorbell::about_to_sleep);
            let wakes = if listens { parked.look_again() } else { Vec::new() };
            (Self { sleeper, listens, ticket }, wakes)
        });
        wakes.into_iter().for_each(|wake| wake.now(|| ()));
        asleep
    }
}

impl Vci {
    /// Whether something has happened that threads of this process which sleep in the library may have to know.
    #[inline]
    pub fn concerns(&self, sleepers: &Sleepers) -> bool {
        sleepers.are_there()
            && (!self.engine.finished.sleepers.is_empty()
                || self.is_copying()
                || (self.happened() != self.last_notified && (sleepers.are_curious() || self.has_work())))
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
            || running.has_to_look()
            || !engine.finished.handlers.is_empty()
            || self.is_copying()
    }

    /// Whom to wake, once the VCI has been left.
    #[cold]
    pub fn wakes(&mut self, sleepers: &Sleepers) -> Vec<Wake> {
        let work = self.has_work();
        let happened = self.happened();
        let news = std::mem::replace(&mut self.last_notified, happened) != happened;
        let ended = self.engine.finished.sleepers.drain(..);
        sleepers.with(|parked| {
            let mut wakes: Vec<Wake> = ended.filter_map(|sleeper| parked.ended(sleeper)).collect();
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
        self.last_notified = self.happened();
        let register = |wants| Asleep::register(sleepers, wants, bell);
        let (ids, all) = match until {
            Until::All(ids) => (*ids, true),
            Until::Any(ids) => (*ids, false),
            Until::Event | Until::Unannounced if news => return None,
            Until::Event => return Some(register(Wants::Anything)),
            Until::Unannounced => return Some(register(Wants::Unannounced)),
            Until::Bell => return Some(register(Wants::Ends(usize::MAX))),
        };
        if self.engine.handlers.any_to_be_looked_at(ids) {
            return None;
        }
        let table = &self.engine.requests;
        let goes_on =
            |id: &&RequestId| table.get(**id).is_some_and(|request| !complete::is_complete(request));
        let open = ids.iter().filter(goes_on).count();
        if open == 0 || (!all && open < ids.len()) {
            return None;
        }
        let registered = register(Wants::Ends(if all { open } else { 1 }));
        for id in ids {
            complete::watch(&mut self.engine.requests, &mut self.engine.finished, *id, registered.sleeper);
        }
        Some(registered)
    }

    /// A thread that slept is awake.
    pub fn awake(&mut self, sleepers: &Sleepers, until: &Until<'_>, sleeper: SleeperId) {
        let ids = match until {
            Until::All(ids) | Until::Any(ids) => *ids,
            Until::Event | Until::Unannounced | Until::Bell => &[],
        };
        for id in ids {
            complete::unwatch(&mut self.engine.requests, *id, sleeper);
        }
        self.engine.finished.sleepers.retain(|ended| *ended != sleeper);
        sleepers.with(|parked| parked.unregister(sleeper));
    }
}
