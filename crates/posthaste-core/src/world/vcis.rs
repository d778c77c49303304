//! The VCIs of this process and what belongs to them: communicators by their context, requests by their slot.
//!
//! MPI-5.0 §11.6.
//!
//! What must stay true: a communicator's founder chooses its VCI and reserves its memory on its node before anybody hears of it, and
//! members on other nodes refuse a communicator for whose VCI they have none; what somebody has made up leads to no VCI that there
//! may not be.

use std::sync::Arc;

use posthaste_os::heap::Heap;
use posthaste_os::node::Node;

use crate::coll::Nodes;
use crate::comm::{Comm, Creation};
use crate::config::Config;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::{ContextId, Peer};
use crate::method::shm::Shm;
use crate::method::tcp::Opener;
use crate::method::{Methods, Route, Routes};
use crate::progress::Vci;
use crate::pt2pt::{Engine, revoked};
use crate::request::table;
use crate::runtime::Entered;
use crate::wait::Awaited;
use crate::world::{Common, World};

impl Common {
    /// Tells a communicator of rank `me` where its members are: whether all share the CPUs of this host, and which share a node.
    pub(super) fn tell_places(&self, me: u32, comm: &Comm) {
        let nodes = &self.nodes;
        if !nodes.are_one()
            && comm.remote().is_none()
            && comm.group().peers().all(|peer| peer.0 < nodes.size())
        {
            let places = || comm.group().peers().map(|peer| nodes.leader(peer.0));
            if let Some(nodes) = Nodes::of(comm.rank() as u32, places()) {
                comm.is_on(nodes);
            } else if Nodes::are_apart(places()) {
                comm.stands_apart();
            }
        }
        let is_here = |peer: Peer| peer.0 < nodes.size() && nodes.leader(peer.0) == nodes.leader(me);
        let Some(cpus) = self.shared_cpus else { return };
        if comm.size() as usize <= self.node.ranks() && comm.group().peers().all(is_here) {
            comm.is_crowd(cpus, self.boards.as_ref());
        }
    }
}

impl World {
    /// The first VCI, for what belongs to no communicator.
    pub fn vci(&self) -> Entered<'_> {
        self.runtime.enter(0)
    }

    /// The VCI of a communicator, for what needs several steps under one lock.
    #[inline]
    pub fn vci_of(&self, comm: &Comm) -> Entered<'_> {
        self.runtime.enter(comm.context().vci())
    }

    /// Whether there are VCIs besides the first.
    #[inline]
    pub fn has_vcis(&self) -> bool {
        self.runtime.has_vcis()
    }

    /// The number of the VCI of a request, by its slot or its C handle.
    #[inline]
    pub fn vci_number(&self, slot_or_handle: usize) -> usize {
        if self.runtime.has_vcis() { self.further_vci(slot_or_handle) } else { 0 }
    }

    fn further_vci(&self, slot_or_handle: usize) -> usize {
        match table::vci_of(slot_or_handle & (table::MOST - 1)) {
            at if self.runtime.is_open(at) => at,
            _ => 0, // garbage leads to no VCI that nobody has opened
        }
    }

    /// The VCI with this number.
    pub fn vci_at(&self, at: usize) -> Entered<'_> {
        self.runtime.enter(at)
    }

    /// The VCI of a request, by its slot or its C handle.
    #[inline]
    pub fn vci_with(&self, slot_or_handle: usize) -> Entered<'_> {
        self.runtime.enter(self.vci_number(slot_or_handle))
    }

    /// A context that this process allocates, in the next VCI.
    ///
    /// # Errors
    /// When its numbers are used up.
    pub fn allocate_context(&self) -> Result<ContextId> {
        self.next_context(|count| match self.common.vcis {
            1 => 0,
            vcis => 1 + (count / u64::from(ContextId::STEP)) as usize % (vcis - 1),
        })
    }

    /// The same for a communicator that is made out of `parent`: where that has members of several jobs, they all have to know
    /// whose context it is, and go through the first VCI, the only one with a way to other jobs.
    ///
    /// # Errors
    /// As [`World::allocate_context`].
    pub fn allocate_context_from(&self, parent: &Comm) -> Result<ContextId> {
        if parent.context().spans_jobs() { self.allocate_between_jobs() } else { self.allocate_context() }
    }

    /// A context in the same VCI as that of `comm`.
    ///
    /// # Errors
    /// As [`World::allocate_context`].
    pub fn allocate_context_beside(&self, comm: &Comm) -> Result<ContextId> {
        if comm.context().spans_jobs() {
            return self.allocate_between_jobs();
        }
        self.next_context(|_| comm.context().vci())
    }

    /// A context of a communicator with members of several jobs.
    pub(super) fn allocate_between_jobs(&self) -> Result<ContextId> {
        let context = self.next_context(|_| 0)?;
        context.allocated_in(self.job()).ok_or_else(|| {
            let text = "this process has heard of as many jobs as it can tell apart (65535)";
            Error::other(ErrorClass::Other, text)
        })
    }

    fn next_context(&self, vci: impl FnOnce(u64) -> usize) -> Result<ContextId> {
        let used_up = || Error::no_memory(format!("rank {} has used up its context ids", self.rank()));
        let founder = &self.common.founder;
        let count = founder.count().ok_or_else(used_up)?;
        let vci = vci(count);
        // Without memory for a VCI of its own the communicator goes through the one that all have.
        let vci = if self.common.node.reserve_vci(vci).is_ok() { vci } else { 0 };
        founder.context(vci, count).ok_or_else(used_up)
    }

    /// The communicator that a creation has made, once its schedule is over: from now on this process also looks after its
    /// VCI. `None` for who is no member.
    ///
    /// # Errors
    /// When what the others sent makes no sense; as [`World::joins`].
    pub fn finish(&self, creation: Creation) -> Result<Option<Arc<Comm>>> {
        let made = creation.finish()?;
        if let Some(comm) = &made {
            self.joins(comm)?;
        }
        Ok(made)
    }

    /// This process looks after the VCI of a new communicator from now on.
    ///
    /// # Errors
    /// When its founder is on another node and there is no memory, or no descriptor, for that VCI on this one.
    pub fn joins(&self, comm: &Arc<Comm>) -> Result<()> {
        let vci = comm.context().vci();
        if !self.runtime.open(vci) {
            let text = format!(
                "rank {} has no memory or no descriptor for VCI {vci}, which the founder of a communicator has chosen (POSTHASTE_VCIS=1 \
                 does without)",
                self.rank()
            );
            return Err(Error::no_memory(text));
        }
        self.common.abroad.connects(comm);
        self.common.tell_places(self.rank(), comm);
        let Vci { engine, methods, .. } = &mut *self.vci_of(comm);
        comm.make_known(engine);
        revoked::joined(engine, methods, comm.context());
        Ok(())
    }

    /// Advances until `done`, which looks at the VCI of a request, gives a value; `awaited` says what is waited for.
    pub fn wait_until<T>(
        &self,
        slot_or_handle: usize,
        call: &'static str,
        awaited: impl Fn(&Vci) -> Awaited,
        done: impl FnMut(&mut Vci) -> Option<T>,
    ) -> T {
        self.waiting.until(self.vci_number(slot_or_handle), call, awaited, done)
    }

    /// The same for requests of several VCIs, which `done` enters itself; `vcis` has a bit for each.
    pub fn wait_among<T>(
        &self,
        vcis: u32,
        call: &'static str,
        awaited: impl Fn(&Vci) -> Awaited,
        done: impl FnMut() -> Option<T>,
    ) -> T {
        let among: Vec<usize> = (0..u32::BITS as usize).filter(|at| vcis & 1 << at != 0).collect();
        self.waiting.until_among(&among, call, &awaited, done)
    }

    /// One step of progress in the VCI of a communicator.
    pub fn step_in(&self, comm: &Comm) {
        self.runtime.step(comm.context().vci());
    }

    /// One step of progress in the VCI of a request.
    pub fn step_with(&self, slot_or_handle: usize) {
        self.runtime.step(self.vci_number(slot_or_handle));
    }

    /// One step of progress in these VCIs, a bit for each.
    pub fn step_among(&self, vcis: u32) {
        (0..u32::BITS as usize).filter(|at| vcis & 1 << at != 0).for_each(|at| self.runtime.step(at));
    }
}

/// What further VCIs are made of, where processes share memory or are reached over TCP.
pub(super) struct Further {
    /// How many VCIs there may be, on every node.
    pub(super) vcis: usize,
    pub(super) node: Node,
    pub(super) local_rank: usize,
    pub(super) node_local: Vec<Peer>,
    pub(super) routes: Routes,
    pub(super) me: Peer,
    pub(super) heap: Option<Arc<Heap>>,
    pub(super) tcp: Option<Opener>,
    pub(super) config: Config,
    pub(super) oversubscribed: bool,
}

impl Further {
    /// A VCI. `None`: this job has none of this number, or there is no room for it.
    pub(super) fn vci(&self, at: usize) -> Option<Vci> {
        let vci = self.make(at);
        if let (None, Some(tcp)) = (&vci, &self.tcp) {
            tcp.refuse(at);
        }
        vci
    }

    /// A VCI that a peer has called and that is not open.
    pub(super) fn called(&self) -> Option<usize> {
        self.tcp.as_ref()?.called()
    }

    fn make(&self, at: usize) -> Option<Vci> {
        let Self { vcis, node, local_rank, node_local, routes, me, heap, tcp, config, oversubscribed } = self;
        // On the founder's node it is reserved already.
        if at >= *vcis || node.reserve_vci(at).is_err() {
            return None;
        }
        let shares = routes.any(|route| matches!(route, Route::Shm(_)));
        let tcp = tcp.as_ref().map(|tcp| tcp.open(at)).transpose().ok()?;
        let tcp = tcp.map(|tcp| if shares { tcp.sharing() } else { tcp });
        let shm = heap.as_ref().map(|heap| {
            let node = node.with_vci(at);
            Shm::of_vci(&node, *local_rank, node_local.clone(), config, *oversubscribed, heap.clone()).ok()
        });
        let is_reached = tcp.is_some();
        let mut methods = Methods::new(routes.clone(), *me).with(shm.flatten()).with(tcp);
        if is_reached {
            methods = methods.hearing_of(node.clone());
        }
        let mut engine = Engine::of_vci(at, config.clone());
        if config.explain {
            engine.explain(*me, methods.ways());
        }
        Some(Vci::new(engine, methods))
    }
}
