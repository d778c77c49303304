//! Probes, and the receives of the messages that they took out of the queue.
//!
//! MPI-5.0 §3.8.
//!
//! What must stay true: a fast path finds a message only where the general way would find the same one (see
//! `pt2pt::probe`).

use std::ops::ControlFlow;

use crate::comm::Comm;
use crate::datatype::Segment;
use crate::error::Result;
use crate::ids::{Peer, RequestId};
use crate::progress::Vci;
use crate::pt2pt::matching::Pattern;
pub use crate::pt2pt::matching::Unexpected as Matched;
use crate::pt2pt::matching::Unexpected;
use crate::pt2pt::{probe, recv};
use crate::request::{Status, Table};
use crate::wait::Awaited;
use crate::world::{Sought, World, from_nobody, sought};

impl World {
    /// What a receive would get now, if anything.
    ///
    /// # Errors
    /// A wrong rank or tag; a sender that is down.
    pub fn iprobe(&self, comm: &Comm, from: i32, tag: i32) -> Result<Option<Status>> {
        let Some(Sought { pattern, peer }) = sought(comm, from, tag)? else { return Ok(Some(from_nobody())) };
        let at = pattern.context.vci();
        {
            let mut vci = self.runtime.enter(at);
            heed_losses(&mut vci, &pattern);
            let Vci { engine, methods, .. } = &mut *vci;
            if let Some(status) = probe::probe(engine, methods, &pattern) {
                return Ok(Some(status));
            }
            match probe::at_once(engine, methods, peer, &pattern) {
                ControlFlow::Break(Some(status)) => return Ok(Some(status)),
                ControlFlow::Break(None) => {}
                // Nobody waits for progress.
                ControlFlow::Continue(())
                    if vci.engine.requests.is_empty() && vci.is_quiet() && !self.runtime.has_vcis() =>
                {
                    return vci.engine.never_ends(&pattern).map_or(Ok(None), Err);
                }
                ControlFlow::Continue(()) => {}
            }
        }
        self.runtime.step(at);
        let Vci { engine, methods, .. } = &mut *self.runtime.enter(at);
        match probe::probe(engine, methods, &pattern) {
            None => engine.never_ends(&pattern).map_or(Ok(None), Err),
            found => Ok(found),
        }
    }

    /// Waits until a receive would get something, and says what.
    ///
    /// # Errors
    /// A wrong rank or tag; a sender that is down.
    pub fn probe(&self, comm: &Comm, from: i32, tag: i32) -> Result<Status> {
        let Some(Sought { pattern, peer }) = sought(comm, from, tag)? else { return Ok(from_nobody()) };
        if let Some(status) = self.probe_at_once(peer, &pattern) {
            return Ok(status);
        }
        let awaited = |_: &Vci| Awaited::Message(pattern);
        self.waiting.until(pattern.context.vci(), self.calls.probe, awaited, |vci| {
            let found = probe::probe(&mut vci.engine, &mut vci.methods, &pattern);
            found.map(Ok).or_else(|| vci.engine.never_ends(&pattern).map(Err))
        })
    }

    /// Takes what a receive would get now out of the queue. `Some(None)` is the message from nobody.
    ///
    /// # Errors
    /// A wrong rank or tag; a sender that is down.
    pub fn improbe(&self, comm: &Comm, from: i32, tag: i32) -> Result<Option<Option<Unexpected>>> {
        let Some(Sought { pattern, .. }) = sought(comm, from, tag)? else { return Ok(Some(None)) };
        let at = pattern.context.vci();
        self.runtime.step(at);
        let mut vci = self.runtime.enter(at);
        heed_losses(&mut vci, &pattern);
        let Vci { engine, methods, .. } = &mut *vci;
        match probe::take(engine, methods, &pattern) {
            None => engine.never_ends(&pattern).map_or(Ok(None), Err),
            found => Ok(found.map(Some)),
        }
    }

    /// Waits until a receive would get something, and takes it out of the queue.
    ///
    /// # Errors
    /// A wrong rank or tag; a sender that is down.
    pub fn mprobe(&self, comm: &Comm, from: i32, tag: i32) -> Result<Option<Unexpected>> {
        let Some(Sought { pattern, peer }) = sought(comm, from, tag)? else { return Ok(None) };
        if let Some(message) = self.mprobe_at_once(peer, &pattern) {
            return Ok(Some(message));
        }
        let awaited = |_: &Vci| Awaited::Message(pattern);
        let take = |vci: &mut Vci| {
            let taken = probe::take(&mut vci.engine, &mut vci.methods, &pattern);
            taken.map(Ok).or_else(|| vci.engine.never_ends(&pattern).map(Err))
        };
        self.waiting.until(pattern.context.vci(), self.calls.matched_probe, awaited, take).map(Some)
    }

    /// Begins to receive a message taken out by a probe; the message from nobody is `None`. `Break`: it is over, and its
    /// status carries a truncation. If this fails, `message` stays.
    ///
    /// # Errors
    /// A full table of requests.
    pub fn start_mrecv(
        &self,
        message: &mut Option<Unexpected>,
        mut segment: Segment,
    ) -> Result<ControlFlow<Status, RequestId>> {
        let Some(taken) = message else { return Ok(ControlFlow::Break(from_nobody())) };
        let mut vci = self.runtime.enter(taken.envelope.context.vci());
        let Vci { engine, methods, .. } = &mut *vci;
        if let Some(status) = recv::unexpected_at_once(engine, methods, message, &mut segment) {
            return Ok(ControlFlow::Break(status));
        }
        engine.requests.ensure_room()?;
        let Some(message) = message.take() else { return Ok(ControlFlow::Break(from_nobody())) };
        recv::start_unexpected(engine, methods, message, segment).map(ControlFlow::Continue)
    }

    /// Starts to receive a message taken out by a probe; the message from nobody is `None`. If that fails, `message`
    /// stays.
    ///
    /// # Errors
    /// A full table of requests.
    pub fn imrecv(&self, message: &mut Option<Unexpected>, segment: Segment) -> Result<RequestId> {
        let Some(taken) = message else { return self.completed(0, from_nobody()) };
        let mut vci = self.runtime.enter(taken.envelope.context.vci());
        let Vci { engine, methods, .. } = &mut *vci;
        engine.requests.ensure_room()?;
        match message.take() {
            Some(message) => recv::start_unexpected(engine, methods, message, segment),
            None => Ok(Table::DONE),
        }
    }

    /// As [`World::imrecv`], beyond the limit of the table if it is full: a message that is here already and whose sender waits
    /// is worth a request of the reserve, of which a blocking call and a message that nobody wants each need one for a while.
    ///
    /// # Errors
    /// A reserve that is full, too.
    pub(super) fn imrecv_for_sure(
        &self,
        message: &mut Option<Unexpected>,
        segment: Segment,
    ) -> Result<RequestId> {
        let Some(taken) = message else { return self.completed(0, from_nobody()) };
        let mut vci = self.runtime.enter(taken.envelope.context.vci());
        let Vci { engine, methods, .. } = &mut *vci;
        engine.requests.reserve(true);
        let started = match engine.requests.ensure_room() {
            Ok(()) => message
                .take()
                .map_or(Ok(Table::DONE), |message| recv::start_unexpected(engine, methods, message, segment)),
            Err(full) => Err(full),
        };
        engine.requests.reserve(false);
        started
    }

    /// Nobody wants a message that was taken out by a probe: its sender goes on as if it had been received.
    ///
    /// # Errors
    /// A table of requests that is full with its reserve.
    pub fn discard(&self, message: Matched) -> Result<()> {
        let id = self.imrecv_for_sure(&mut Some(message), Segment::empty())?;
        recv::detach(&mut self.vci_with(id.slot as usize).engine, id);
        Ok(())
    }

    /// The fast path of [`World::probe`], as that of [`World::recv`].
    fn probe_at_once(&self, peer: Option<Peer>, pattern: &Pattern) -> Option<Status> {
        let mut vci = self.runtime.enter(pattern.context.vci());
        vci.stay_fair();
        let found = self.waiting.spin_poll(&mut vci, |Vci { engine, methods, .. }, looks| {
            if let Some(status) = probe::probe(engine, methods, pattern) {
                return Some(Some(status));
            }
            (0..looks).find_map(|_| probe::at_once(engine, methods, peer, pattern).break_value())
        });
        found.flatten()
    }

    /// The fast path of [`World::mprobe`], as that of [`World::recv`].
    fn mprobe_at_once(&self, peer: Option<Peer>, pattern: &Pattern) -> Option<Unexpected> {
        let mut vci = self.runtime.enter(pattern.context.vci());
        vci.stay_fair();
        let found = self.waiting.spin_poll(&mut vci, |Vci { engine, methods, .. }, looks| {
            if let Some(message) = probe::take(engine, methods, pattern) {
                return Some(Some(message));
            }
            (0..looks).find_map(|_| probe::take_at_once(engine, methods, peer, pattern).break_value())
        });
        found.flatten()
    }
}

/// A program that only probes hears of losses, too.
#[inline]
fn heed_losses(vci: &mut Vci, pattern: &Pattern) {
    vci.stay_fair();
    if vci.is_time_for_others() {
        vci.methods.look_at_sockets();
    }
    if pattern.context.spans_jobs() {
        vci.attend_probed(pattern);
    }
}
