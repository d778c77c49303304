//! What the living do when other processes end: they revoke, agree, shrink, and ask who is lost. The names and rules are those
//! of the MPI forum's fault tolerance working group (ULFM); `docs/faults.md` is for users.

use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};

use crate::agreement::Decision;
use crate::comm::{Comm, without_context};
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::{ContextId, RequestId};
use crate::progress::Vci;
use crate::pt2pt::agreed::{self, Hears, Purpose};
use crate::pt2pt::{action, loss, recv, revoked};
use crate::request::complete;
use crate::wait::Awaited;
use crate::world::{World, outcome};

/// A communicator of those that are left, in the making: its request is under way.
#[derive(Debug)]
pub struct Shrinking(Arc<OnceLock<Decision>>);

impl Shrinking {
    fn decision(&self) -> Result<&Decision> {
        let undecided = || Error::other(ErrorClass::Intern, "the members have not agreed on who is left");
        self.0.get().ok_or_else(undecided)
    }
}

/// What the members of a communicator decide, under way. Dropped, it goes on, and nobody asks for the outcome.
#[derive(Debug)]
pub struct Deciding<'w> {
    world: &'w World,
    /// `None`: it is over.
    id: Option<RequestId>,
    decision: Shrinking,
    hears: Hears,
}

impl Deciding<'_> {
    /// Waits for the decision, in a call with this name.
    ///
    /// # Errors
    /// Somebody is lost whom not everybody has acknowledged, of bits, which are agreed on all the same.
    pub fn wait(&mut self, call: &'static str) -> Result<()> {
        self.id.take().map_or(Ok(()), |id| self.world.wait_in(call, id).and_then(outcome))
    }

    /// As [`World::poll`]: the outcome, as [`Deciding::wait`] gives it.
    pub fn poll(&mut self, waker: &Waker) -> Poll<Result<()>> {
        let Some(id) = self.id else { return Poll::Ready(Ok(())) };
        let polled = match self.world.poll(id, waker) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(status)) => outcome(status),
            Err(why) => Err(why),
        };
        self.id = None;
        Poll::Ready(polled)
    }

    /// The bits, once there is a decision: of an intercommunicator, those of the other group.
    ///
    /// # Errors
    /// There is none.
    pub fn flags(&self) -> Result<i32> {
        self.decision.decision().map(|decision| self.hears.of(decision.common.flags))
    }

    /// The communicator of the members of `comm` that are left, once there is a decision.
    ///
    /// # Errors
    /// As [`World::finish_shrink`].
    pub fn shrunk(&self, comm: &Comm) -> Result<Arc<Comm>> {
        self.world.finish_shrink(comm, &self.decision)
    }
}

impl Drop for Deciding<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let waker = recv::detach(&mut self.world.vci_with(id.slot as usize).engine, id);
            // Behind the lock: it may call anything.
            drop(waker);
        }
    }
}

impl World {
    /// Revokes a communicator: whatever its members wait for on it ends with `MPIX_ERR_REVOKED`, and what they start there later,
    /// except agreements and shrinking. The others hear of it without doing anything for it.
    pub fn revoke(&self, comm: &Comm) {
        let Vci { engine, methods, .. } = &mut *self.vci_of(comm);
        revoked::revoke(engine, methods, comm.context());
        methods.flush_gathered();
    }

    /// Whether this process has heard that a communicator is revoked.
    pub fn is_revoked(&self, comm: &Comm) -> bool {
        if !comm.is_revoked() {
            self.step_in(comm);
        }
        comm.is_revoked()
    }

    /// The members of a communicator, of both groups of an intercommunicator, that this process knows to be lost, in the order in
    /// which it heard of them. Only the first so many of them have been acknowledged. Who has asked hears of those of other jobs, too,
    /// to whom it has never talked: soon, if not at once.
    pub fn failed(&self, comm: &Comm) -> (Group, usize) {
        self.step_in(comm);
        let mut vci = self.vci_of(comm);
        if comm.context().spans_jobs() {
            let members =
                comm.group().peers().chain(comm.remote().into_iter().flat_map(|group| group.peers()));
            members.for_each(|peer| vci.methods.attend(peer));
        }
        vci.engine.failed(comm.context())
    }

    /// Acknowledges the first `count` of [`World::failed`], or all that are known if there are less: receives from anybody do not
    /// fail on account of them any more, nor do agreements if all members have acknowledged them. Gives how many are acknowledged now.
    pub fn acknowledge(&self, comm: &Comm, count: usize) -> usize {
        let Vci { engine, methods, .. } = &mut *self.vci_of(comm);
        loss::acknowledge(engine, methods, comm.context(), count)
    }

    /// Begins to agree on the bits of an `i32` in `flags`: those that all have that are alive replace it, on an intercommunicator those
    /// that all of the other group have. The request fails if somebody is lost whom not all of them have acknowledged, at all of them
    /// alike; the bits are agreed on all the same.
    ///
    /// # Errors
    /// A full table of requests.
    pub fn start_agree(&self, comm: &Comm, flags: Segment) -> Result<RequestId> {
        let mut own = [0; 4];
        flags.clone().pack(own[..].as_mut().into());
        let hears = hears_of_others(comm);
        let own = hears.contributes(i32::from_ne_bytes(own));
        self.contribute(comm, own, [0; 2], Purpose::Flags(flags, hears))
    }

    /// Begins to agree on bits, as [`World::start_agree`] does, without memory of the caller.
    ///
    /// # Errors
    /// As there.
    pub fn start_deciding(&self, comm: &Comm, flags: i32) -> Result<Deciding<'_>> {
        self.start_deciding_in(comm, comm.context(), flags, hears_of_others(comm))
    }

    fn start_deciding_in(
        &self,
        comm: &Comm,
        series: ContextId,
        flags: i32,
        hears: Hears,
    ) -> Result<Deciding<'_>> {
        let decision = Arc::new(OnceLock::new());
        let (own, purpose) = (hears.contributes(flags), Purpose::Bits(decision.clone()));
        let id = self.contribute_in(comm, series, own, [0; 2], purpose)?;
        Ok(Deciding { world: self, id: Some(id), decision: Shrinking(decision), hears })
    }

    /// Agrees on bits about what the members of a communicator make, in a call with this name, unless the communicator is revoked: then
    /// some may never come to it.
    ///
    /// # Errors
    /// `MPIX_ERR_REVOKED`; as [`World::agree`].
    pub(super) fn agree_on_making(
        &self,
        call: &'static str,
        comm: &Comm,
        flags: i32,
    ) -> Result<(i32, Result<()>)> {
        let mut deciding = self.start_deciding_in(comm, comm.context().making(), flags, Hears::All)?;
        if let Some(id) = deciding.id {
            let is_over = |vci: &Vci| vci.engine.requests.get(id).is_none_or(complete::is_complete);
            let awaited = |_: &Vci| Awaited::All(vec![id]);
            self.waiting.until(comm.context().vci(), call, awaited, |vci| {
                (is_over(vci) || comm.is_revoked()).then_some(())
            });
            if !is_over(&self.vci_of(comm)) {
                return Err(comm.check_revoked().err().unwrap_or_else(|| {
                    Error::other(ErrorClass::Intern, "the members have not agreed, and nothing is revoked")
                }));
            }
        }
        let outcome = deciding.wait(call);
        Ok((deciding.flags()?, outcome))
    }

    /// Agrees on bits, in a call with this name: see [`World::start_agree`].
    ///
    /// # Errors
    /// As there; somebody is lost whom not everybody has acknowledged. The bits are agreed on then, too.
    pub fn agree(&self, call: &'static str, comm: &Comm, flags: i32) -> Result<(i32, Result<()>)> {
        let mut deciding = self.start_deciding(comm, flags)?;
        let outcome = deciding.wait(call);
        Ok((deciding.flags()?, outcome))
    }

    /// Begins to make a communicator of the members that are left, which all of them have to call.
    ///
    /// # Errors
    /// A full table of requests. That no context can be allocated is an error at the end, at all members.
    pub fn start_shrink(&self, comm: &Comm) -> Result<(RequestId, Shrinking)> {
        let proposal =
            self.allocate_context_from(comm).map_or_else(|why| without_context(&why), ContextId::words);
        let decision = Arc::new(OnceLock::new());
        let id = self.contribute(comm, 0, proposal, Purpose::Whole(decision.clone()))?;
        Ok((id, Shrinking(decision)))
    }

    /// The same, kept until it is over.
    ///
    /// # Errors
    /// As [`World::start_shrink`].
    pub fn start_leaving_out(&self, comm: &Comm) -> Result<Deciding<'_>> {
        let (id, decision) = self.start_shrink(comm)?;
        Ok(Deciding { world: self, id: Some(id), decision, hears: Hears::All })
    }

    /// The communicator of the members of `comm` that are left, once the request is over.
    ///
    /// # Errors
    /// As [`Comm::shrunk`].
    pub fn finish_shrink(&self, comm: &Comm, shrinking: &Shrinking) -> Result<Arc<Comm>> {
        let made = comm.shrunk(shrinking.decision()?)?;
        self.joins(&made)?;
        Ok(made)
    }

    /// The communicator of the members that are left, in a call with this name.
    ///
    /// # Errors
    /// As [`World::start_shrink`] and [`World::finish_shrink`].
    pub fn shrink(&self, call: &'static str, comm: &Comm) -> Result<Arc<Comm>> {
        let mut deciding = self.start_leaving_out(comm)?;
        deciding.wait(call)?;
        deciding.shrunk(comm)
    }

    fn contribute(&self, comm: &Comm, flags: i64, proposal: [u64; 2], purpose: Purpose) -> Result<RequestId> {
        self.contribute_in(comm, comm.context(), flags, proposal, purpose)
    }

    fn contribute_in(
        &self,
        comm: &Comm,
        series: ContextId,
        flags: i64,
        proposal: [u64; 2],
        purpose: Purpose,
    ) -> Result<RequestId> {
        let Vci { engine, methods, .. } = &mut *self.vci_of(comm);
        let id = agreed::agree(engine, series, flags, proposal, purpose)?;
        action::perform_asked(engine, methods);
        methods.flush_gathered();
        Ok(id)
    }
}

/// Of whose bits a member of this communicator hears when the program agrees on some.
fn hears_of_others(comm: &Comm) -> Hears {
    match comm.bridge() {
        None => Hears::All,
        Some(bridge) if bridge.is_first() => Hears::Second,
        Some(_) => Hears::First,
    }
}
