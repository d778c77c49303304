//! Sleeping: on the bell as the thread that listens for all, or parked until its own wait is over.
//!
//! While another thread of this process looks around all the time, who would listen only dozes, so that peers need not wake
//! this process for each of their messages. What must stay true: between saying "I sleep" and sleeping a thread looks at
//! everything once more; nobody sleeps while this process itself has bytes to copy.

use std::time::Duration;

use posthaste_os::{machine, park};

use crate::progress::Vci;
use crate::runtime::{Asleep, serves_only};
use crate::trace::Counter;
use crate::wait::report::{Awaited, Reporter};
use crate::wait::{Idler, Waiting};

/// Longest sleep before a look around.
const NAP: Duration = Duration::from_millis(250);
/// The same while connections are being made, which may need a further step without being rung for, and until a call has
/// waited for so long: then it says for what. Most sleeps are shorter, and where ranks share CPUs they are many.
const SHORT_NAP: Duration = Duration::from_millis(20);
/// Longest sleep while other threads of this process look around, too: at first, and after several such sleeps.
const DOZE: Duration = Duration::from_micros(200);
pub(super) const LONGEST_DOZE: Duration = Duration::from_millis(2);
/// So many looks around within a sleep are all the time: what peers want waits for one of them, or for the end of a doze, and a
/// program that looks in now and then would have it wait for long.
const ALL_THE_TIME: u64 = 4;

impl Waiting {
    /// A wait is over.
    #[inline]
    pub(super) fn leave(&self, idler: &Idler) {
        if idler.looks || idler.note.is_some() || self.runtime.sleepers.lack_listener() {
            self.leave_after_sleep(idler);
        }
    }

    #[cold]
    fn leave_after_sleep(&self, idler: &Idler) {
        if let (Some(reporter), Some(note)) = (&self.reporter, &idler.note) {
            reporter.retract(note);
        }
        let called = self.runtime.sleepers.with(|parked| {
            if idler.looks {
                parked.stops_looking();
            }
            parked.call_listener()
        });
        if let Some(wake) = called {
            self.runtime.wake(wake);
        }
    }

    /// Sleeps: as the thread that listens for all, if there is none, else parked until its own wait is over.
    #[cold]
    pub(super) fn sleep(
        &self,
        at: usize,
        idler: &mut Idler,
        call: &'static str,
        awaited: &dyn Fn(&Vci) -> Awaited,
    ) {
        let mut vci = self.runtime.enter(at);
        let dozes = self.dozes(idler, vci.steps);
        let settled = idler.has_settled();
        let bell = (!dozes).then_some(&self.runtime.doorbell);
        let awaited = awaited(&vci);
        let until = awaited.until();
        let Some(asleep) = vci.falls_asleep(&self.runtime.sleepers, &until, bell, idler.happened) else {
            return;
        };
        self.registered(idler);
        let serves = serves_only();
        let handlers = self.runtime.may_take_over() || (!serves && !vci.engine.finished.handlers.is_empty());
        let busy = if serves { vci.serve() } else { vci.progress() };
        idler.steps += 1;
        if busy && serves && vci.owes() {
            vci.leave_while(|| self.runtime.rouse_parked());
        }
        if busy || handlers || awaited.is_there() || (asleep.ticket.is_some() && vci.is_copying()) {
            self.stays_awake(asleep);
            return vci.awake(&self.runtime.sleepers, &until, asleep.sleeper);
        }
        vci.engine.counts.add(Counter::Sleeps, 1);
        if let Some(reporter) = self.due_reporter(idler, settled) {
            let call = (call, idler.began.unwrap_or_default());
            reporter.publish(&mut idler.note, call, (at, &vci), &awaited, false);
            awaited.attend_senders(&mut vci);
        }
        let nap = match asleep.ticket {
            _ if vci.methods.is_connecting() => SHORT_NAP,
            // Peers ring this process for a word that they have written; who is awake then need not know whose it is.
            None if awaited.watches_memory() => LONGEST_DOZE,
            _ => nap(settled),
        };
        (idler.slept, idler.steps) = (true, vci.steps);
        drop(vci);
        self.rest(at, idler, asleep, dozes, nap);
        self.stays_awake(asleep);
        self.runtime.enter(at).awake(&self.runtime.sleepers, &until, asleep.sleeper);
        self.runtime.look_at_descriptors();
        self.runtime.look_at_sockets(&[at], asleep.ticket.is_some());
        self.forget_own_visits(idler);
    }

    /// A thread does not sleep at the bell any more; before another one may listen.
    pub(super) fn stays_awake(&self, asleep: Asleep) {
        if asleep.ticket.is_some() && self.runtime.doorbell.stay_awake() {
            self.runtime.look_again();
        }
    }

    /// Who publishes what a call waits for that has waited for a while, unless that has just been published.
    pub(super) fn due_reporter(&self, idler: &Idler, settled: bool) -> Option<&Reporter> {
        self.reporter.as_ref().filter(|_| settled && !Reporter::is_fresh(idler.note.as_ref()))
    }

    /// Whether who is about to sleep only dozes: while another thread looks around all the time, peers need not wake this
    /// one for each of its messages. `steps`: those of its VCI so far, of which the idler knows its own.
    pub(super) fn dozes(&self, idler: &mut Idler, steps: u64) -> bool {
        let others = std::mem::take(&mut idler.others);
        idler.slept && (others || steps >= idler.steps + ALL_THE_TIME)
    }

    /// Who was awake for the moment has been registered again; when it is not any more, it looks for all.
    pub(super) fn registered(&self, idler: &mut Idler) {
        if std::mem::replace(&mut idler.looks, true) {
            self.runtime.sleepers.with(|parked| parked.stops_looking());
        }
    }

    /// Sleeps, registered and outside all VCIs. A listener looks at the other VCIs first; what it finds there to be done
    /// wakes it like anybody else's doing.
    pub(super) fn rest(&self, at: usize, idler: &mut Idler, asleep: Asleep, dozes: bool, nap: Duration) {
        let doze = idler.doze.max(DOZE);
        idler.doze = if dozes { LONGEST_DOZE.min(2 * doze) } else { DOZE };
        self.runtime.open_called();
        let looks = asleep.listens && self.runtime.has_vcis();
        let nap = if looks { nap.min(self.settle_others(at, idler)) } else { nap };
        match asleep.ticket {
            Some(ticket) => {
                let woken = self.runtime.doorbell.sleep(ticket, nap);
                idler.roused = woken.anything;
                // What is ready there concerns a thread that waits for it, which may be parked.
                if woken.others {
                    self.runtime.tell_the_curious();
                }
            }
            None if asleep.listens => park::park(doze),
            None => park::park(nap),
        }
    }

    /// Advances the other VCIs for a listener that is about to sleep; for how long it may.
    #[cold]
    fn settle_others(&self, at: usize, idler: &mut Idler) -> Duration {
        self.runtime.advance_others(at);
        let is_connecting = self.runtime.is_connecting_elsewhere(at);
        self.forget_own_visits(idler);
        if is_connecting { SHORT_NAP } else { NAP }
    }

    /// Where this thread has just been does not count as others' doing.
    pub(super) fn forget_own_visits(&self, idler: &mut Idler) {
        if self.runtime.has_vcis() {
            self.runtime.forget_own_visits(idler.seen.get_or_insert_default());
        }
    }
}

impl Idler {
    /// Whether the call has waited for so long that it is worth telling.
    pub(super) fn has_settled(&self) -> bool {
        self.began.is_none_or(|began| machine::now().saturating_sub(began) >= SHORT_NAP)
    }
}

/// For how long a call sleeps: until it is to tell what it waits for, or to look around.
pub(super) fn nap(settled: bool) -> Duration {
    if settled { NAP } else { SHORT_NAP }
}
