//! What a collective operation needs to know of a communicator: who takes part, and under which context.
//!
//! What must stay true: all members count the collective operations of a team alike (MPI-5.0 §6.14: they call
//! them in the same order), so the count separates the messages of one operation from those of the next.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::coll::board::Boards;
use crate::coll::choose::{self, Cpus};
use crate::coll::nodes::Nodes;
use crate::coll::plan;
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::{ContextId, Peer};

/// The members of a communicator, from the point of view of one of them.
#[derive(Debug)]
pub struct Team {
    context: ContextId,
    group: Arc<Group>,
    rank: u32,
    oversubscribed: bool,
    /// All members share so many CPUs of one host, where this process has boards or none.
    crowd: OnceLock<(u32, Option<Arc<Boards>>)>,
    /// Who shares a node, where there are several.
    nodes: OnceLock<Arc<Nodes>>,
    sequence: AtomicU32,
    serial: u64,
}

/// Teams so far. Each copy of this code in a process counts its own, and keeps apart only those.
static TEAMS: AtomicU64 = AtomicU64::new(0);

impl Team {
    /// The team of `group` in a context, seen by its member with the given rank.
    pub fn new(context: ContextId, group: Arc<Group>, rank: u32, oversubscribed: bool) -> Self {
        let serial = TEAMS.fetch_add(1, Ordering::Relaxed);
        let (crowd, nodes, sequence) = (OnceLock::new(), OnceLock::new(), AtomicU32::new(0));
        Self { context, group, rank, oversubscribed, crowd, nodes, sequence, serial }
    }

    /// A number that no other team of this process has or had.
    #[inline]
    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    /// Context of point-to-point messages; collective ones use its neighbour.
    #[inline]
    pub fn context(&self) -> ContextId {
        self.context
    }

    /// The members.
    #[inline]
    pub fn group(&self) -> &Arc<Group> {
        &self.group
    }

    /// Our own rank.
    #[inline]
    pub fn rank(&self) -> i32 {
        self.rank as i32
    }

    /// Number of members.
    #[inline]
    pub fn size(&self) -> i32 {
        self.group.size() as i32
    }

    /// Whether members share CPUs: then a rank should have to run as few times as possible.
    pub fn is_oversubscribed(&self) -> bool {
        self.oversubscribed
    }

    /// Says whether members share CPUs; every member must say the same.
    pub fn set_oversubscribed(&mut self, oversubscribed: bool) {
        self.oversubscribed = oversubscribed;
    }

    /// All members are on one host, where ranks share so many CPUs; every member must say the same. What goes to several may go on one
    /// of these boards, which not every member need have.
    pub fn is_crowd(&self, cpus: u32, boards: Option<&Arc<Boards>>) {
        self.crowd.get_or_init(|| (cpus, boards.cloned()));
    }

    /// The members are on these nodes; every member must say the same.
    pub fn is_on(&self, nodes: Arc<Nodes>) {
        self.nodes.get_or_init(|| nodes);
    }

    /// Who shares a node, where there are several and some have several members.
    #[inline]
    pub(super) fn nodes(&self) -> Option<&Nodes> {
        self.nodes.get().map(|nodes| &**nodes)
    }

    /// Who shares CPUs; all members say the same.
    pub(super) fn cpus(&self) -> Cpus {
        match self.crowd.get() {
            Some((cpus, _)) => Cpus::OneHost(*cpus),
            None if self.oversubscribed => Cpus::Shared,
            None => Cpus::Own,
        }
    }

    /// The same for what decides in which order operands are combined.
    pub(super) fn cpus_that_combine(&self) -> Cpus {
        if plan::keeps_bits() { Cpus::Own } else { self.cpus() }
    }

    /// Radix of a tree in which operands are combined.
    pub(super) fn combining_radix(&self) -> u32 {
        choose::radix(self.oversubscribed && !plan::keeps_bits())
    }

    pub(super) fn boards(&self) -> Option<&Arc<Boards>> {
        self.crowd.get()?.1.as_ref()
    }

    /// The number of the next collective operation.
    pub(super) fn next_number(&self) -> u32 {
        self.sequence.fetch_add(1, Ordering::Relaxed)
    }

    /// The same before it is taken.
    #[inline]
    pub(super) fn upcoming_number(&self) -> u32 {
        self.sequence.load(Ordering::Relaxed)
    }

    /// As if so many operations were over.
    #[cfg(test)]
    pub(super) fn skip(&self, operations: u32) {
        self.sequence.fetch_add(operations, Ordering::Relaxed);
    }

    /// The tag of an operation that only some members take part in, told apart by a user's tag. It is no
    /// [`Label`](super::label::Label) and none that means "any".
    pub(super) fn group_tag(tag: i32) -> i32 {
        match i32::MIN + (tag & i32::MAX) {
            crate::ids::ANY_TAG => i32::MAX,
            tag => tag,
        }
    }

    /// The member with this rank, which the caller has taken from the group.
    pub(super) fn peer(&self, rank: u32) -> Peer {
        self.group.peer(rank).unwrap_or(Peer(u32::MAX))
    }

    /// Checks the root of an operation.
    pub(super) fn root(&self, root: i32) -> Result<u32> {
        if root >= 0 && root < self.size() {
            return Ok(root as u32);
        }
        Err(Error::invalid(
            ErrorClass::Root,
            "root",
            crate::ids::WrongRoot(root),
            format_args!("0..={}", self.size() - 1),
        ))
    }
}
