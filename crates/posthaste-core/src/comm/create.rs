//! Making communicators: duplicate, split, subset, merge (MPI-5.0 §7.4.2, §7.6.2).
//!
//! A plan gives a schedule and a [`Creation`]; whoever runs the schedule (blocking or as a request) calls
//! [`Creation::finish`] then.
//!
//! What must stay true: the context of a new communicator is allocated by its rank 0 alone, so nobody has to agree on
//! a number; the members only have to hear of it. They hear also that it has none to give: nobody waits for who has
//! failed.

use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::coll::{self, Accord, Bridge, Schedule, Team};
use crate::comm::details::{Details, Inherited, Topology};
use crate::comm::{Comm, Remote, from_group};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::{ContextId, Peer};

/// A communicator in the making; its schedule is under way.
#[derive(Debug)]
pub struct Creation {
    outcome: Arc<OwnedBuf>,
    what: What,
    accord: Accord,
    inherited: Inherited,
    topology: Option<Topology>,
    /// Why this process has no context to give.
    failed: Option<Error>,
}

#[derive(Debug)]
pub(super) enum What {
    /// The outcome is the context; members are known. `None` for who is no member.
    Known(Option<Members>),
    /// The outcome is the context, the founder's proof that it means the same creation, and whether it shares CPUs.
    Founded { members: Members, proof: u64 },
    /// The outcome says for each rank of the old communicator (both groups of an intercommunicator): color, key,
    /// context to be used if it is rank 0.
    Split { old: Members, color: i32 },
    /// The outcome says for each rank of both groups whether it wants to be high (2) or not (1), and for the first the context; 0 of who
    /// has not said it.
    Merge { old: Members },
}

/// Who is in a communicator, and with which rank this process.
#[derive(Clone, Debug)]
pub(super) struct Members {
    pub(super) group: Arc<Group>,
    pub(super) rank: u32,
    /// The other side of an intercommunicator, and whether ours is the first.
    pub(super) remote: Option<(Arc<Group>, bool)>,
}

/// Bytes that each rank sends in a split: two numbers and a context.
const SPLIT_BYTES: usize = 8 + CONTEXT;
/// Bytes of a context in a message.
pub(super) const CONTEXT: usize = 16;
/// Said in a split by who comes into no communicator.
const NO_COLOR: i32 = -1;

impl Comm {
    /// Plans a duplicate: the same group in a new context. `allocate` makes a context of this process; it is asked
    /// where this process will be rank 0.
    ///
    /// # Errors
    /// None: that no context can be allocated is an error at the end, at all members.
    pub fn plan_dup(&self, allocate: impl FnOnce() -> Result<ContextId>) -> Result<(Schedule, Creation)> {
        let team = self.everybody();
        let (context, failed) = context_of(team.rank() == 0, allocate);
        let outcome = filled(&context);
        let schedule = coll::broadcast(team, "MPI_Comm_dup", 0, outcome.clone());
        let creation = self.creation(outcome, What::Known(Some(self.own_members())));
        Ok((schedule, Creation { topology: self.topology().cloned(), failed, ..creation }))
    }

    /// Plans a split: who says the same color comes into the same communicator, in the order of keys; the color
    /// `None` gives none. Of an intercommunicator each side is split, and colors that only one side says give
    /// none.
    ///
    /// # Errors
    /// A negative color; otherwise as [`Comm::plan_dup`].
    pub fn plan_split(
        &self,
        color: Option<i32>,
        key: i32,
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        if let Some(color) = color.filter(|color| *color < 0) {
            let expected = "0 or more, or MPI_UNDEFINED";
            return Err(Error::invalid(ErrorClass::Arg, "color", color, expected));
        }
        let (context, failed) = context_of(color.is_some(), allocate);
        let color = color.unwrap_or(NO_COLOR);
        let (schedule, outcome) = self.share("MPI_Comm_split", color, key, &context);
        let creation = self.creation(outcome, What::Split { old: self.own_members(), color });
        Ok((schedule, Creation { failed, ..creation }))
    }

    /// Plans to make one group of both sides of an intercommunicator; the side that says `high` comes second. If both
    /// say the same, the order is arbitrary, but the same for all.
    ///
    /// # Errors
    /// Not an intercommunicator; otherwise as [`Comm::plan_dup`].
    pub fn plan_merge(
        &self,
        high: bool,
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        if self.remote().is_none() {
            let expected = "an intercommunicator";
            return Err(Error::invalid(ErrorClass::Comm, "intercomm", "an intracommunicator", expected));
        }
        let (context, failed) = context_of(self.everybody().rank() == 0, allocate);
        let (schedule, outcome) = self.share("MPI_Intercomm_merge", 1 + i32::from(high), 0, &context);
        let creation = self.creation(outcome, What::Merge { old: self.own_members() });
        Ok((schedule, Creation { failed, ..creation }))
    }

    /// Plans a communicator of `group`, which all members of this one call; they may name different groups if
    /// nobody is in two of them. On an intercommunicator each side names members of its own.
    ///
    /// # Errors
    /// A group with a process that is no member; otherwise as [`Comm::plan_dup`].
    pub fn plan_create(
        &self,
        group: &Arc<Group>,
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        if self.remote().is_none() {
            return self.plan_subset("MPI_Comm_create", group, None, allocate);
        }
        self.members(group)?;
        // No side knows the group of the other: it is a split into those inside and those outside.
        match group.rank_of(self.me()) {
            Some(rank) => self.plan_split(Some(0), rank as i32, allocate),
            None => self.plan_split(None, 0, allocate),
        }
    }

    /// [`Comm::plan_create`] on an intracommunicator, for the operation `name`, with a topology.
    pub(crate) fn plan_subset(
        &self,
        name: &'static str,
        group: &Arc<Group>,
        topology: Option<Topology>,
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        let members = self.members(group)?;
        let rank = group.rank_of(self.me());
        let (context, failed) = context_of(rank == Some(0), allocate);
        let outcome = filled(&context);
        let schedule = coll::broadcast_some(self, name, &members, outcome.clone());
        let known = rank.map(|rank| Members { group: group.clone(), rank, remote: None });
        Ok((schedule, Creation { topology, failed, ..self.creation(outcome, What::Known(known)) }))
    }

    /// Plans a communicator of `group`, which only the members of the group call; the tag tells such calls apart
    /// that several threads make at the same time.
    ///
    /// # Errors
    /// A group with a process that is no member, or without this process; a negative tag.
    pub fn plan_create_group(
        &self,
        group: &Arc<Group>,
        tag: i32,
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        if self.remote().is_some() {
            let expected = "an intracommunicator";
            return Err(Error::invalid(ErrorClass::Comm, "comm", "an intercommunicator", expected));
        }
        if tag < 0 {
            return Err(Error::invalid(ErrorClass::Tag, "tag", tag, "0 or more"));
        }
        let members = self.members(group)?;
        let Some(rank) = group.rank_of(self.me()) else {
            let got = format_args!("a group of {} processes without this one", group.size());
            return Err(Error::invalid(ErrorClass::Group, "group", got, "a group with the calling process"));
        };
        let (context, failed) = context_of(rank == 0, allocate);
        let outcome = filled(&context);
        let schedule = coll::broadcast_group(self, "MPI_Comm_create_group", &members, tag, outcome.clone());
        let known = Members { group: group.clone(), rank, remote: None };
        Ok((schedule, Creation { failed, ..self.creation(outcome, What::Known(Some(known))) }))
    }

    /// A schedule by which everybody, of both groups, gets to know two numbers and a context of everybody.
    fn share(
        &self,
        name: &'static str,
        one: i32,
        two: i32,
        context: &[u8; CONTEXT],
    ) -> (Schedule, Arc<OwnedBuf>) {
        let team = self.everybody();
        let (me, n) = (team.rank() as usize, team.size() as usize);
        let mut received = vec![0; n * SPLIT_BYTES];
        let mine = &mut received[me * SPLIT_BYTES..][..SPLIT_BYTES];
        mine[..4].copy_from_slice(&one.to_le_bytes());
        mine[4..8].copy_from_slice(&two.to_le_bytes());
        mine[8..].copy_from_slice(context);
        let outcome = filled(&received);
        (coll::share(team, name, outcome.clone()), outcome)
    }

    pub(super) fn creation(&self, outcome: Arc<OwnedBuf>, what: What) -> Creation {
        let accord = self.everybody().accord();
        Creation { outcome, what, accord, inherited: self.inherited(), topology: None, failed: None }
    }

    /// The members of both groups.
    pub(super) fn everybody(&self) -> &Team {
        self.bridge().map_or(self, Bridge::team)
    }

    fn own_members(&self) -> Members {
        let remote = self.remote.as_ref().map(|remote| (remote.group.clone(), remote.bridge.is_first()));
        Members { group: self.group().clone(), rank: self.rank() as u32, remote }
    }

    pub(super) fn me(&self) -> Peer {
        self.group().peer(self.rank() as u32).unwrap_or(Peer(u32::MAX))
    }

    /// The ranks here of a group's members.
    pub(super) fn members(&self, group: &Group) -> Result<Vec<u32>> {
        let rank = |peer: Peer| {
            self.group().rank_of(peer).ok_or_else(|| {
                let got = format_args!("a group with the process {} of the world", peer.0);
                Error::invalid(
                    ErrorClass::Group,
                    "group",
                    got,
                    "processes of the communicator's (local) group",
                )
            })
        };
        group.peers().map(rank).collect()
    }
}

impl Creation {
    /// The new communicator, once the schedule is over and went well; `None` for who is no member of any.
    ///
    /// # Errors
    /// When its rank 0 could allocate no context; when what the others sent makes no sense.
    pub fn finish(self) -> Result<Option<Arc<Comm>>> {
        let received = self.outcome.source().to_vec();
        let mut accord = self.accord;
        let made = match self.what {
            What::Known(members) => members.map(|members| (context_in(&received, 0), members)),
            What::Founded { members, proof } => {
                accord = from_group::founded(&received, proof)?;
                Some((context_in(&received, 0), members))
            }
            What::Split { old, color } => old.split(&received, color),
            What::Merge { old } => Some((context_in(&received, 8), old.merged(&received)?)),
        };
        let Some((context, members)) = made else { return Ok(None) };
        let details = Details::new("", self.inherited).with_topology(self.topology);
        members.comm(context, accord, details).map(Some).map_err(|why| self.failed.unwrap_or(why))
    }
}

impl Members {
    /// Their communicator.
    pub(super) fn comm(self, words: [u64; 2], accord: Accord, details: Details) -> Result<Arc<Comm>> {
        let Self { group, rank, remote } = self;
        let Some(context) = ContextId::from_words(words).filter(|_| group.size() > 0) else {
            return Err(refused(words));
        };
        let remote = remote.map(|(other, is_first)| {
            let bridge = Bridge::new(context, (&group, &other), rank, is_first, accord);
            Remote { group: other, bridge }
        });
        let team = Team::new(context, group, rank, accord);
        Ok(Arc::new(Comm::new(team, remote, details)))
    }

    /// Ranks of the local and of the remote group's first members in the team of both.
    fn firsts(&self) -> (usize, usize) {
        match &self.remote {
            Some((other, false)) => (other.size() as usize, 0),
            _ => (0, self.group.size() as usize),
        }
    }

    /// What a split makes of them, with the context; `None` if nobody is with this process, or nobody on the other
    /// side.
    fn split(&self, received: &[u8], color: i32) -> Option<([u64; 2], Self)> {
        if color == NO_COLOR {
            return None;
        }
        // Those who say this color, in the new order: (key, old rank).
        let same = |first: usize, group: &Group| {
            let received =
                received.chunks_exact(SPLIT_BYTES).skip(first).take(group.size() as usize).zip(0..);
            let same = received.filter(|(received, _)| received[..4] == color.to_le_bytes());
            let mut members: Vec<(i32, u32)> =
                same.map(|(received, rank)| (number(received, 4) as i32, rank)).collect();
            members.sort_unstable();
            let peers = members.iter().filter_map(|(_, member)| group.peer(*member)).collect();
            (members, Arc::new(Group::of(peers)))
        };
        let (first, far) = self.firsts();
        let (members, group) = same(first, &self.group);
        let rank = members.iter().position(|(_, member)| *member == self.rank)? as u32;
        let context_of = |first: usize, members: &[(i32, u32)]| {
            let (_, leader) = members.first()?;
            Some(context_in(received, (first + *leader as usize) * SPLIT_BYTES + 8))
        };
        let own = context_of(first, &members)?;
        let Some((other, is_first)) = &self.remote else {
            return Some((own, Self { group, rank, remote: None }));
        };
        let (others, other) = same(far, other);
        let theirs = context_of(far, &others)?;
        let context = if *is_first { own } else { theirs };
        Some((context, Self { group, rank, remote: Some((other, *is_first)) }))
    }

    /// Both sides as one group.
    fn merged(&self, received: &[u8]) -> Result<Self> {
        let Some((other, is_first)) = &self.remote else { return Ok(self.clone()) };
        let (first, far) = self.firsts();
        let high = |first: usize, group: &Group| {
            let wishes = received.chunks_exact(SPLIT_BYTES).skip(first).take(group.size() as usize);
            let wishes: Vec<u8> = wishes.map(|received| received[0]).collect();
            if let Some(rank) = wishes.iter().position(|wish| *wish == 0) {
                let text = format!(
                    "rank {rank} of one of the groups has ended before it said whether it wants to be high"
                );
                return Err(Error::other(ErrorClass::ProcAborted, text));
            }
            let high = wishes.first().copied().unwrap_or(1);
            if wishes.iter().all(|other| *other == high) {
                return Ok(high == 2);
            }
            let expected = "the same at all ranks of one group";
            Err(Error::invalid(ErrorClass::Arg, "high", "different at ranks of one group", expected))
        };
        let (own, theirs) = (high(first, &self.group)?, high(far, other)?);
        let goes_first = if own == theirs { *is_first } else { theirs };
        let (low, high) = if goes_first { (&self.group, other) } else { (other, &self.group) };
        let rank = if goes_first { self.rank } else { other.size() + self.rank };
        Ok(Self { group: Arc::new(low.union(high)), rank, remote: None })
    }
}

/// The bytes of a context, filled in by who allocates it, and why that failed. The others hear of it as a context that cannot be: no
/// number, and where the job would stand, one more than the class of the error.
fn context_of(
    is_founder: bool,
    allocate: impl FnOnce() -> Result<ContextId>,
) -> ([u8; CONTEXT], Option<Error>) {
    match is_founder.then(allocate).transpose() {
        Ok(context) => (bytes_of(context), None),
        Err(why) => (bytes(without_context(&why)), Some(why)),
    }
}

/// What a founder says that has no context.
pub(crate) fn without_context(why: &Error) -> [u64; 2] {
    [0, 1 + why.class() as u64]
}

/// What came as a context is none.
fn refused(words: [u64; 2]) -> Error {
    let class = words[1].checked_sub(1).and_then(|at| ErrorClass::ALL.get(usize::try_from(at).ok()?));
    match (words[0], class) {
        (0, Some(class)) => {
            let (text, name) = (class.text(), class.name());
            let text = format!("rank 0 of the new communicator could allocate no context: {text} ({name})");
            Error::other(*class, text)
        }
        _ => {
            let text = format!("rank 0 of the new communicator sent a context that cannot be ({words:x?})");
            Error::other(ErrorClass::Intern, text)
        }
    }
}

/// A context as it is sent; zeros where there is none.
pub(super) fn bytes_of(context: Option<ContextId>) -> [u8; CONTEXT] {
    bytes(context.map_or([0; 2], ContextId::words))
}

fn bytes(words: [u64; 2]) -> [u8; CONTEXT] {
    let mut bytes = [0; CONTEXT];
    bytes.copy_from_slice(words.map(u64::to_le_bytes).as_flattened());
    bytes
}

/// The context that was sent here.
pub(super) fn context_in(received: &[u8], at: usize) -> [u64; 2] {
    [number(received, at), number(received, at + 8)]
}

pub(super) fn filled(bytes: &[u8]) -> Arc<OwnedBuf> {
    let mut owned = OwnedBuf::new(bytes.len());
    owned.sink().copy_from(bytes);
    Arc::new(owned)
}

/// Up to eight bytes of a number, the lowest first.
pub(super) fn number(received: &[u8], at: usize) -> u64 {
    let bytes = received.get(at..).unwrap_or_default();
    bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
