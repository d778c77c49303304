//! Making communicators: duplicate, split, subset (MPI-5.0 §7.4.2).
//!
//! Called by the doors: a plan gives a schedule and a [`Creation`]; the door runs the schedule (blocking or as a
//! request) and then calls [`Creation::finish`].
//!
//! What must stay true: the context of a new communicator is founded by its rank 0 alone, so nobody has to agree on
//! a number; the members only have to be told.

use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::coll::{self, Schedule, Team};
use crate::comm::Comm;
use crate::comm::details::Inherited;
use crate::error::{Error, ErrorClass, Result};
use crate::group::{Group, UNDEFINED};
use crate::ids::{ContextId, Peer};

/// A communicator in the making; its schedule is under way.
#[derive(Debug)]
pub struct Creation {
    outcome: Arc<OwnedBuf>,
    what: What,
    crowded: bool,
    inherited: Inherited,
}

#[derive(Debug)]
enum What {
    /// The outcome is the context; group and rank are known. `None` for who is no member.
    Known(Option<(Arc<Group>, u32)>),
    /// The outcome says for each rank of the old group: color, key, context to be used if it is rank 0.
    Split { old: Arc<Group>, rank: u32, color: i32 },
}

/// Bytes that each rank tells in a split.
const TOLD: usize = 16;

impl Comm {
    /// Plans a duplicate: the same group in a new context. `found` makes a context of this process; it is asked
    /// where this process will be rank 0.
    ///
    /// # Errors
    /// When no context can be founded; on an intercommunicator.
    pub fn plan_dup(&self, found: impl FnOnce() -> Result<ContextId>) -> Result<(Schedule, Creation)> {
        self.intra_only("MPI_Comm_dup of an intercommunicator")?;
        let outcome = context_of(self.rank() == 0, found)?;
        let schedule = coll::tell(self, "MPI_Comm_dup", outcome.clone());
        let known = What::Known(Some((self.group().clone(), self.rank() as u32)));
        Ok((schedule, self.creation(outcome, known)))
    }

    /// Plans a split: who says the same color comes into the same communicator, in the order of keys; the color
    /// [`UNDEFINED`] gives none.
    ///
    /// # Errors
    /// A negative color; otherwise as [`Comm::plan_dup`].
    pub fn plan_split(
        &self,
        color: i32,
        key: i32,
        found: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        self.intra_only("MPI_Comm_split of an intercommunicator")?;
        if color < 0 && color != UNDEFINED {
            let expected = format_args!("0 or more, or MPI_UNDEFINED ({UNDEFINED})");
            return Err(Error::invalid(ErrorClass::Arg, "color", color, expected));
        }
        let (me, n) = (self.rank() as usize, self.size() as usize);
        let context = if color == UNDEFINED { 0 } else { found()?.0 };
        let mut told = vec![0; n * TOLD];
        let mine = &mut told[me * TOLD..][..TOLD];
        mine[..4].copy_from_slice(&color.to_le_bytes());
        mine[4..8].copy_from_slice(&key.to_le_bytes());
        mine[8..].copy_from_slice(&context.to_le_bytes());
        let outcome = filled(&told);
        let schedule = coll::share(self, "MPI_Comm_split", outcome.clone());
        let split = What::Split { old: self.group().clone(), rank: self.rank() as u32, color };
        Ok((schedule, self.creation(outcome, split)))
    }

    /// Plans a communicator of `group`, which all members of this one call; they may name different groups if
    /// nobody is in two of them.
    ///
    /// # Errors
    /// A group with a process that is no member; otherwise as [`Comm::plan_dup`].
    pub fn plan_create(
        &self,
        group: &Arc<Group>,
        found: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        self.intra_only("MPI_Comm_create on an intercommunicator")?;
        let members = self.members(group)?;
        let rank = group.rank_of(self.me());
        let outcome = context_of(rank == Some(0), found)?;
        let schedule = coll::tell_some(self, "MPI_Comm_create", &members, outcome.clone());
        let known = What::Known(rank.map(|rank| (group.clone(), rank)));
        Ok((schedule, self.creation(outcome, known)))
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
        found: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        self.intra_only("MPI_Comm_create_group on an intercommunicator")?;
        if tag < 0 {
            return Err(Error::invalid(ErrorClass::Tag, "tag", tag, "0 or more"));
        }
        let members = self.members(group)?;
        let Some(rank) = group.rank_of(self.me()) else {
            let got = format_args!("a group of {} processes without this one", group.size());
            return Err(Error::invalid(ErrorClass::Group, "group", got, "a group with the calling process"));
        };
        let outcome = context_of(rank == 0, found)?;
        let schedule = coll::tell_group(self, "MPI_Comm_create_group", &members, tag, outcome.clone());
        Ok((schedule, self.creation(outcome, What::Known(Some((group.clone(), rank))))))
    }

    fn creation(&self, outcome: Arc<OwnedBuf>, what: What) -> Creation {
        Creation { outcome, what, crowded: self.is_crowded(), inherited: self.inherited() }
    }

    fn me(&self) -> Peer {
        self.group().peer(self.rank() as u32).unwrap_or(Peer(u32::MAX))
    }

    /// The ranks here of a group's members.
    fn members(&self, group: &Group) -> Result<Vec<u32>> {
        let rank = |peer: Peer| {
            self.group().rank_of(peer).ok_or_else(|| {
                let got = format_args!("a group with the process {} of the world", peer.0);
                Error::invalid(ErrorClass::Group, "group", got, "processes of the communicator")
            })
        };
        group.peers().map(rank).collect()
    }

    fn intra_only(&self, what: &'static str) -> Result<()> {
        if self.remote().is_some() { Err(Error::unsupported(what)) } else { Ok(()) }
    }
}

impl Creation {
    /// The new communicator, once the schedule is over and went well; `None` for who is no member of any.
    ///
    /// # Errors
    /// When what the others told makes no sense.
    pub fn finish(self) -> Result<Option<Arc<Comm>>> {
        let told = self.outcome.source().to_vec();
        let (context, group, rank) = match self.what {
            What::Known(None) => return Ok(None),
            What::Split { color: UNDEFINED, .. } => return Ok(None),
            What::Known(Some((group, rank))) => (number(&told, 0), group, rank),
            What::Split { old, rank, color } => {
                let mut members: Vec<(i32, u32)> = told
                    .chunks_exact(TOLD)
                    .zip(0..)
                    .filter(|(told, _)| told[..4] == color.to_le_bytes())
                    .map(|(told, rank)| (number(told, 4) as i32, rank))
                    .collect();
                members.sort_unstable();
                let context =
                    members.first().map_or(0, |(_, first)| number(&told, *first as usize * TOLD + 8));
                let own = members.iter().position(|(_, member)| *member == rank).unwrap_or_default();
                let peers = members.iter().filter_map(|(_, member)| old.peer(*member)).collect();
                (context, Arc::new(Group::of(peers)), own as u32)
            }
        };
        if context < u64::from(ContextId::FIRST_COUNT) || context & 1 != 0 || group.size() == 0 {
            let text = format!("rank 0 of the new communicator told a context that cannot be ({context})");
            return Err(Error::other(ErrorClass::Intern, text));
        }
        let team = Team::new(ContextId(context), group, rank, self.crowded);
        Ok(Some(Arc::new(Comm::new(team, None, "", self.inherited))))
    }
}

/// Eight bytes for a context, filled in by who founds it.
fn context_of(is_founder: bool, found: impl FnOnce() -> Result<ContextId>) -> Result<Arc<OwnedBuf>> {
    let context = if is_founder { found()?.0 } else { 0 };
    Ok(filled(&context.to_le_bytes()))
}

fn filled(bytes: &[u8]) -> Arc<OwnedBuf> {
    let mut owned = OwnedBuf::new(bytes.len());
    owned.sink().copy_from(bytes);
    Arc::new(owned)
}

/// Up to eight bytes of a number, the lowest first.
fn number(told: &[u8], at: usize) -> u64 {
    let bytes = told.get(at..).unwrap_or_default();
    bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
