//! Communicators: a team with everything a user may hang on it (MPI-5.0 §7.2, §7.4).
//!
//! `coll` sees the [`Team`] only. `create`: how new ones are made; `from_group` and `founding`: out of a group alone (§7.4.2); `inter`: how two groups become an intercommunicator
//! (§7.6) and one group again; `shrink`: what is left when members are lost; `levels`: where their ranks part; `details`: what users hang on them.
//!
//! What must stay true: turning a rank of the world into a peer is one comparison.

mod create;
mod details;
mod from_group;
mod founding;
mod inter;
mod levels;
mod meeting;
mod shrink;
#[cfg(test)]
mod founding_tests;
#[cfg(test)]
mod inter_tests;
#[cfg(test)]
mod jobs_tests;
#[cfg(test)]
pub(crate) mod tests;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::coll::{Accord, Bridge, Team};
use crate::error::{Error, ErrorClass, Result};
use crate::group::{Comparison, Group};
use crate::ids::{ContextId, PROC_NULL, Peer, Wrong};
use crate::pt2pt::Engine;
use details::{Details, Inherited, Known};

pub use create::Creation;
pub(crate) use create::without_context;
pub use details::{MAX_NAME, Topology};
pub use founding::{Founded, Founding};
pub use from_group::{Mark, without_caller};
pub use inter::{Groups, Introduction, Next};
pub use levels::Levels;

/// A communicator.
#[derive(Debug)]
pub struct Comm {
    team: Team,
    /// The other side of an intercommunicator.
    remote: Option<Remote>,
    details: Details,
    known: Known,
}

/// The other side of an intercommunicator.
#[derive(Debug)]
struct Remote {
    group: Arc<Group>,
    /// Both sides, for collective operations. Point-to-point messages of both sides share the context: a process is
    /// in one of the groups only, so it never gets messages from two processes with the same rank.
    bridge: Bridge,
}

impl Deref for Comm {
    type Target = Team;

    #[inline]
    fn deref(&self) -> &Team {
        &self.team
    }
}

impl Comm {
    /// `MPI_COMM_WORLD`.
    pub fn world(rank: u32, size: u32) -> Self {
        let team = Team::new(ContextId::WORLD, Arc::new(Group::range(0, size)), rank, Accord::default());
        Self::new(team, None, Details::new("MPI_COMM_WORLD", Inherited::default()))
    }

    /// `MPI_COMM_SELF`.
    pub fn own(me: Peer) -> Self {
        let team = Team::new(ContextId::SELF, Arc::new(Group::range(me.0, 1)), 0, Accord::default());
        Self::new(team, None, Details::new("MPI_COMM_SELF", Inherited::default()))
    }

    /// All processes of the job, of which nobody has a handle: in it communicators are founded that are made of a group alone.
    pub fn founding(rank: u32, size: u32) -> Self {
        let team = Team::new(ContextId::FOUNDING, Arc::new(Group::range(0, size)), rank, Accord::default());
        Self::new(team, None, Details::new("the founding of communicators from groups", Inherited::default()))
    }

    fn new(team: Team, remote: Option<Remote>, details: Details) -> Self {
        let target = remote.as_ref().map_or(team.group(), |remote| &remote.group);
        let all = remote.as_ref().map_or(&team, |remote| remote.bridge.team());
        let (users, everybody) = ((target, team.rank()), (all.group(), all.rank()));
        let known = Known::new(team.context(), &details, users, everybody);
        known.set_crowded(all.accord().shares_cpus);
        Self { team, remote, details, known }
    }

    /// Makes the engine of its VCI know who is behind its contexts.
    pub fn make_known(&self, engine: &mut Engine) {
        for (context, membership) in &self.known.0 {
            engine.contexts.learn(*context, membership.clone(), &engine.matching, &engine.requests);
        }
    }

    /// Whether it is revoked.
    #[inline]
    pub fn is_revoked(&self) -> bool {
        self.known.users().is_revoked()
    }

    /// As [`Membership::marks`](crate::pt2pt::contexts::Membership::marks).
    pub(crate) fn marks(&self, word: &Arc<AtomicU64>) {
        self.known.users().marks(word);
    }

    /// Fails when it is revoked.
    ///
    /// # Errors
    /// `MPIX_ERR_REVOKED`.
    #[inline]
    pub fn check_revoked(&self) -> Result<()> {
        self.known.users().check_revoked()
    }

    /// Says what all members go by; every member must say the same.
    pub fn set_accord(&mut self, accord: Accord) {
        self.team.set_accord(accord);
        self.known.set_crowded(accord.shares_cpus);
    }

    /// The other side of an intercommunicator.
    pub fn remote(&self) -> Option<&Arc<Group>> {
        self.remote.as_ref().map(|remote| &remote.group)
    }

    /// Both sides of an intercommunicator, for collective operations.
    pub fn bridge(&self) -> Option<&Bridge> {
        self.remote.as_ref().map(|remote| &remote.bridge)
    }

    /// How many ranks messages can go to or come from: those of the other side of an intercommunicator.
    #[inline]
    pub fn peers(&self) -> i32 {
        match &self.remote {
            None => self.size(),
            Some(remote) => remote.group.size() as i32,
        }
    }

    /// How alike two communicators are (MPI-5.0 §7.4.1).
    pub fn compare(&self, other: &Self) -> Comparison {
        if self.context() == other.context() {
            return Comparison::Ident;
        }
        let local = self.group().compare(other.group());
        let remote = match (self.remote(), other.remote()) {
            (None, None) => Comparison::Ident,
            (Some(own), Some(other)) => own.compare(other),
            _ => Comparison::Unequal,
        };
        match (local, remote) {
            (Comparison::Ident, Comparison::Ident) => Comparison::Congruent,
            (Comparison::Unequal, _) | (_, Comparison::Unequal) => Comparison::Unequal,
            _ => Comparison::Similar,
        }
    }

    /// The process a message goes to; `None` for `MPI_PROC_NULL`.
    ///
    /// # Errors
    /// A rank that nobody has; the communicator is revoked.
    #[inline]
    pub fn destination(&self, to: i32) -> Result<Option<Peer>> {
        if (to as u32) < self.known.users().identity() {
            return Ok(Some(Peer(to as u32)));
        }
        // Taken apart, so that the common way above stays in registers.
        self.look_up("dest", to)?.map_or(Ok(None), |peer| Ok(Some(peer)))
    }

    /// The process a message comes from; `None` for `MPI_PROC_NULL`. Not for `MPI_ANY_SOURCE`.
    ///
    /// # Errors
    /// A rank that nobody has; the communicator is revoked.
    #[inline]
    pub fn source(&self, from: i32) -> Result<Option<Peer>> {
        if (from as u32) < self.known.users().identity() {
            return Ok(Some(Peer(from as u32)));
        }
        self.look_up("source", from)
    }

    #[cold]
    #[inline(never)]
    fn look_up(&self, argument: &'static str, rank: i32) -> Result<Option<Peer>> {
        self.check_revoked()?;
        if rank == PROC_NULL {
            return Ok(None);
        }
        let group = self.remote().unwrap_or(self.team.group());
        if let Some(peer) = u32::try_from(rank).ok().and_then(|rank| group.peer(rank)) {
            return Ok(Some(peer));
        }
        let expected = format!("0..={} or MPI_PROC_NULL", i64::from(group.size()) - 1);
        Err(Error::invalid(ErrorClass::Rank, argument, Wrong(rank), expected))
    }
}
