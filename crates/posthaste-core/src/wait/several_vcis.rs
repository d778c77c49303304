//! Waiting for what belongs to several VCIs: requests of communicators that do not share one.
//!
//! The requests of one call are seldom of that kind. Such a waiter looks at its VCIs one after the other and sleeps
//! until anything happens in any of them, so it may wake for what others wait for. MPI-5.0 §3.7.5. What must stay true:
//! it is registered as a sleeper before its last look.

use posthaste_os::park::Wants;

use crate::progress::Vci;
use crate::runtime::Asleep;
use crate::trace::Counter;
use crate::wait::report::Awaited;
use crate::wait::sleep::nap;
use crate::wait::{Idler, Waiting};

impl Waiting {
    /// As [`Waiting::until`], for the VCIs `among`. `done` enters them itself; `awaited` says of one of them what is
    /// waited for there.
    #[cold]
    pub fn until_among<T>(
        &self,
        among: &[usize],
        call: &'static str,
        awaited: &dyn Fn(&Vci) -> Awaited,
        mut done: impl FnMut() -> Option<T>,
    ) -> T {
        let mut idler = Idler::default();
        loop {
            if let Some(value) = done() {
                self.leave(&idler);
                return value;
            }
            let busy = among.iter().fold(false, |busy, at| self.runtime.advance(*at) | busy);
            if busy {
                (idler.polls, idler.since) = (0, None);
                continue;
            }
            if !self.idle(among, &mut idler) {
                continue;
            }
            if let Some(value) = self.sleep_among(among, &mut idler, call, awaited, &mut done) {
                self.leave(&idler);
                return value;
            }
        }
    }

    /// Sleeps, unless it is done after all.
    fn sleep_among<T>(
        &self,
        among: &[usize],
        idler: &mut Idler,
        call: &'static str,
        awaited: &dyn Fn(&Vci) -> Awaited,
        done: &mut impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let dozes = self.dozes(idler, 0);
        let bell = (!dozes).then_some(&self.runtime.doorbell);
        let asleep = Asleep::register(&self.runtime.sleepers, Wants::Anything, bell);
        self.registered(idler);
        let busy = among.iter().fold(false, |busy, at| self.runtime.advance(*at) | busy);
        let value = done();
        if value.is_none() && !busy && !self.runtime.may_take_over() {
            let settled = idler.has_settled();
            if let Some(reporter) = self.due_reporter(idler, settled) {
                let call = (call, idler.began.unwrap_or_default());
                for (further, at) in among.iter().enumerate() {
                    let mut vci = self.runtime.enter(*at);
                    let awaited = awaited(&vci);
                    reporter.publish(&mut idler.note, call, (*at, &vci), &awaited, further > 0);
                    awaited.attend_senders(&mut vci);
                }
            }
            self.runtime.enter(among[0]).engine.counts.add(Counter::Sleeps, 1);
            idler.slept = true;
            self.rest(among[0], idler, asleep, dozes, nap(settled));
            self.runtime.look_at_descriptors();
            self.runtime.look_at_sockets(among, asleep.ticket.is_some());
            self.forget_own_visits(idler);
        }
        self.stays_awake(asleep);
        self.runtime.sleepers.with(|parked| parked.unregister(asleep.sleeper));
        value
    }
}
