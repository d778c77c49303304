//! What a collective operation needs to know of a communicator: who takes part, and under which context.
//!
//! What must stay true: all members count the collective operations of a team alike (MPI-5.0 §6.14: they call
//! them in the same order), so the count separates the messages of one operation from those of the next.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::coll::board::Boards;
use crate::coll::choose::{self, Cpus};
use crate::coll::nodes::Nodes;
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::{ContextId, Peer};

/// The members of a communicator, from the point of view of one of them.
#[derive(Debug)]
pub struct Team {
    context: ContextId,
    group: Arc<Group>,
    rank: u32,
    accord: Accord,
    /// All members share so many CPUs of one host, where this process has boards or none.
    crowd: OnceLock<(u32, Option<Arc<Boards>>)>,
    /// Who shares a node, where there are several.
    nodes: OnceLock<Arc<Nodes>>,
    /// Each member is on a node of its own.
    apart: OnceLock<()>,
    sequence: AtomicU32,
    serial: u64,
}

/// What decides beside the arguments how members go about a collective operation: every member has to say the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accord {
    /// Members share CPUs: then a rank should have to run as few times as possible.
    pub shares_cpus: bool,
    /// Nothing is combined in another order because of CPUs, hosts or methods (`POSTHASTE_REPRODUCIBLE`).
    pub keeps_bits: bool,
    /// Messages say what their types are (`POSTHASTE_CHECK_TYPES`), so they go straight between memory that the program has described.
    pub checks_types: bool,
}

impl Accord {
    /// That of members who share CPUs, or do not, without any settings.
    pub fn of_cpus(shares_cpus: bool) -> Self {
        Self { shares_cpus, ..Self::default() }
    }

    /// Of two groups that become one: what either of them needs.
    pub fn with(self, other: Self) -> Self {
        Self::from_bits(self.bits() | other.bits())
    }

    /// As it is sent.
    pub fn bits(self) -> u8 {
        let flags = [self.shares_cpus, self.keeps_bits, self.checks_types];
        flags.iter().rev().fold(0, |bits, flag| bits << 1 | u8::from(*flag))
    }

    /// What such bits say.
    pub fn from_bits(bits: u8) -> Self {
        let flag = |at: u8| bits >> at & 1 != 0;
        Self { shares_cpus: flag(0), keeps_bits: flag(1), checks_types: flag(2) }
    }
}

/// Teams so far. Each copy of this code in a process counts its own, and keeps apart only those.
static TEAMS: AtomicU64 = AtomicU64::new(0);

impl Team {
    /// The team of `group` in a context, seen by its member with the given rank.
    pub fn new(context: ContextId, group: Arc<Group>, rank: u32, accord: Accord) -> Self {
        let serial = TEAMS.fetch_add(1, Ordering::Relaxed);
        let (crowd, nodes, apart) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { context, group, rank, accord, crowd, nodes, apart, sequence: AtomicU32::new(0), serial }
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

    /// What all members go by.
    #[inline]
    pub fn accord(&self) -> Accord {
        self.accord
    }

    /// Says what all members go by; every member must say the same.
    pub fn set_accord(&mut self, accord: Accord) {
        self.accord = accord;
    }

    /// Whether members share CPUs.
    pub(super) fn is_oversubscribed(&self) -> bool {
        self.accord.shares_cpus
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

    /// Each member is on a node of its own; every member must say so.
    pub fn stands_apart(&self) {
        self.apart.get_or_init(|| ());
    }

    /// Whether that has been said.
    pub(super) fn is_apart(&self) -> bool {
        self.apart.get().is_some()
    }

    /// Who shares a node, where there are several and some have several members.
    #[inline]
    pub(crate) fn nodes(&self) -> Option<&Nodes> {
        self.nodes.get().map(|nodes| &**nodes)
    }

    /// Who shares CPUs; all members say the same.
    pub(super) fn cpus(&self) -> Cpus {
        match self.crowd.get() {
            Some((cpus, _)) => Cpus::OneHost(*cpus),
            None if self.accord.shares_cpus => Cpus::Shared,
            None => Cpus::Own,
        }
    }

    /// The same for what decides in which order operands are combined.
    pub(super) fn cpus_that_combine(&self) -> Cpus {
        if self.accord.keeps_bits { Cpus::Own } else { self.cpus() }
    }

    /// Radix of a tree in which operands are combined.
    pub(super) fn combining_radix(&self) -> u32 {
        choose::radix(self.accord.shares_cpus && !self.accord.keeps_bits)
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
