//! Two groups become an intercommunicator (MPI-5.0 §7.6.2).
//!
//! [`Comm::plan_intercomm`] gives a first schedule, and each outcome the next one, until the communicator is made. The
//! leaders exchange a context, how many they are and who they are; then each informs its own group. Of the two
//! contexts the smaller is used, and its group is the first one, so nobody has to wait for a decision.
//!
//! What must stay true: a leader that fails reports it to its group, instead of leaving it waiting.

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::coll::{self, Schedule};
use crate::comm::Comm;
use crate::comm::create::{Members, context_in, filled, number};
use crate::comm::details::Details;
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::{ContextId, Peer};

const NAME: &str = "MPI_Intercomm_create";

/// How an intercommunicator in the making goes on.
#[derive(Debug)]
pub enum Next<'a> {
    /// This schedule has to be run; its outcome goes to [`Introduction::next`].
    Run(Schedule, Introduction<'a>),
    /// Done.
    Made(Arc<Comm>),
}

/// An intercommunicator in the making.
#[derive(Debug)]
pub struct Introduction<'a> {
    local: &'a Comm,
    leader: u32,
    stage: Stage<'a>,
}

#[derive(Debug)]
enum Stage<'a> {
    /// The leaders exchange their heads.
    Heads { way: Way<'a>, own: Head, outcome: Arc<OwnedBuf> },
    /// The leaders exchange their members.
    Lists { way: Way<'a>, own: Head, theirs: Head, outcome: Arc<OwnedBuf> },
    /// A leader sends its group what came out: a head and, at the leader, the members of the other group or the error.
    Verdict { outcome: Arc<OwnedBuf>, leader: Option<Result<Vec<u8>>> },
    /// A leader sends its group the members of the other.
    Members { head: Head, outcome: Arc<OwnedBuf> },
}

/// How a leader reaches the other one.
#[derive(Clone, Copy, Debug)]
struct Way<'a> {
    peer_comm: &'a Comm,
    peer: Peer,
    rank: u32,
    tag: i32,
}

/// What is sent before the members. No members: it went wrong, and the context is the class of the error.
#[derive(Clone, Copy, Debug)]
struct Head {
    context: [u64; 2],
    size: u32,
    oversubscribed: bool,
    /// In a verdict: our group is the first.
    first: bool,
}

/// Most members a group may have: world ranks in contexts have 20 bits.
const MOST: u32 = 1 << 20;

impl Head {
    const LEN: usize = 24;

    fn failed(class: ErrorClass) -> Self {
        Self { context: [class as u64, 0], size: 0, oversubscribed: false, first: false }
    }

    fn bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..16].copy_from_slice(self.context.map(u64::to_le_bytes).as_flattened());
        bytes[16..20].copy_from_slice(&self.size.to_le_bytes());
        bytes[20] = u8::from(self.oversubscribed);
        bytes[21] = u8::from(self.first);
        bytes
    }

    /// # Errors
    /// When the head says that something went wrong there, or makes no sense.
    fn parse(bytes: &[u8], whose: &str) -> Result<Self> {
        let flag = |at: usize| bytes.get(at).is_some_and(|flag| *flag != 0);
        let head = Self {
            context: context_in(bytes, 0),
            size: number(bytes, 16) as u32,
            oversubscribed: flag(20),
            first: flag(21),
        };
        if (1..=MOST).contains(&head.size) {
            return Ok(head);
        }
        let class = usize::try_from(head.context[0]).ok().and_then(|at| ErrorClass::ALL.get(at).copied());
        let mut text = format!("{whose} could not take part");
        if let Some(class) = class {
            // Writing to a string does not fail.
            let _ = write!(text, ": {} ({})", class.text(), class.name());
        }
        Err(Error::other(class.unwrap_or(ErrorClass::Intern), text))
    }
}

impl Comm {
    /// Plans an intercommunicator between this communicator's group and that of `remote_leader`, a rank of
    /// `peer_comm`; both of these are looked at by `local_leader` only.
    ///
    /// # Errors
    /// On an intercommunicator; a leader that is no rank; a negative tag. What only the leader can know is an error at
    /// the end, for the whole group.
    pub fn plan_intercomm<'a>(
        &'a self,
        local_leader: i32,
        peer_comm: Result<&'a Self>,
        remote_leader: i32,
        tag: i32,
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<Next<'a>> {
        if self.remote().is_some() {
            let expected = "an intracommunicator";
            return Err(Error::invalid(ErrorClass::Comm, "local_comm", "an intercommunicator", expected));
        }
        if local_leader < 0 || local_leader >= self.size() {
            let expected = format!("0..={}, a rank of local_comm", self.size() - 1);
            return Err(Error::invalid(ErrorClass::Rank, "local_leader", local_leader, expected));
        }
        if tag < 0 {
            return Err(Error::invalid(ErrorClass::Tag, "tag", tag, "0 or more"));
        }
        let introduction = |stage| Introduction { local: self, leader: local_leader as u32, stage };
        if self.rank() != local_leader {
            return Ok(introduction(Stage::waiting()).run());
        }
        let way = peer_comm.and_then(|peer_comm| self.way(peer_comm, remote_leader, tag));
        let way = match way {
            Ok(way) => way,
            Err(error) => return Ok(introduction(Stage::failed(error)).run()),
        };
        // Without a context the other leader must hear of it too: it waits for us.
        let own = match allocate() {
            Ok(context) => {
                let oversubscribed = self.is_oversubscribed() || way.peer_comm.is_oversubscribed();
                Head { context: context.words(), size: self.group().size(), oversubscribed, first: false }
            }
            Err(error) => Head::failed(error.class()),
        };
        let outcome = filled(&[own.bytes(), [0; Head::LEN]].concat());
        Ok(introduction(Stage::Heads { way, own, outcome }).run())
    }

    fn way<'a>(&self, peer_comm: &'a Self, remote_leader: i32, tag: i32) -> Result<Way<'a>> {
        let wrong = |expected: String| {
            Err(Error::invalid(ErrorClass::Rank, "remote_leader", remote_leader, expected))
        };
        let group = peer_comm.remote().unwrap_or(peer_comm.group());
        let rank = u32::try_from(remote_leader).ok();
        let Some((rank, peer)) = rank.and_then(|rank| Some((rank, group.peer(rank)?))) else {
            return wrong(format!("0..={}, a rank of peer_comm", i64::from(group.size()) - 1));
        };
        if let Some(local) = self.group().rank_of(peer) {
            return wrong(format!("a process of the other group (this one has rank {local} in local_comm)"));
        }
        Ok(Way { peer_comm, peer, rank, tag })
    }
}

impl<'a> Introduction<'a> {
    /// The next step, after the last one's schedule ended with `outcome`.
    ///
    /// # Errors
    /// When something went wrong that the whole group knows of now.
    pub fn next(self, outcome: Result<()>) -> Result<Next<'a>> {
        let Self { local, leader, stage } = self;
        let stage = match stage {
            Stage::Heads { way, own, outcome: received } => {
                outcome.and_then(|()| Self::heads(local, way, own, &received)).unwrap_or_else(Stage::failed)
            }
            Stage::Lists { own, theirs, outcome: received, .. } => {
                outcome.map_or_else(Stage::failed, |()| Stage::agreed(own, theirs, &received))
            }
            Stage::Verdict { outcome: received, leader } => {
                let list = leader.transpose()?;
                outcome?;
                let head = Head::parse(&received.source().to_vec(), "the leader of the local group")?;
                let list = list.unwrap_or_else(|| vec![0; head.size as usize * 4]);
                Stage::Members { head, outcome: filled(&list) }
            }
            Stage::Members { head, outcome: received } => {
                outcome?;
                return local.bridged(head, &received.source().to_vec()).map(Next::Made);
            }
        };
        Ok(Self { local, leader, stage }.run())
    }

    fn heads(local: &Comm, way: Way<'a>, own: Head, received: &OwnedBuf) -> Result<Stage<'a>> {
        let received = received.source().to_vec();
        Head::parse(&own.bytes(), "the leader of the local group")?;
        let theirs = Head::parse(&received[Head::LEN..], "the leader of the remote group")?;
        let mut list: Vec<u8> = local.group().peers().flat_map(|peer| peer.0.to_le_bytes()).collect();
        list.resize(list.len() + theirs.size as usize * 4, 0);
        let outcome = filled(&list);
        Ok(Stage::Lists { way, own, theirs, outcome })
    }

    fn run(self) -> Next<'a> {
        let schedule = match &self.stage {
            Stage::Heads { way, outcome, .. } => way.swap(Head::LEN, outcome),
            Stage::Lists { way, own, outcome, .. } => way.swap(own.size as usize * 4, outcome),
            Stage::Verdict { outcome, .. } | Stage::Members { outcome, .. } => {
                coll::broadcast(self.local, NAME, self.leader, outcome.clone())
            }
        };
        Next::Run(schedule, self)
    }
}

impl Stage<'_> {
    /// A member waits for its leader.
    fn waiting() -> Self {
        Self::Verdict { outcome: filled(&[0; Head::LEN]), leader: None }
    }

    /// The leader reports that it failed.
    fn failed(error: Error) -> Self {
        Self::Verdict { outcome: filled(&Head::failed(error.class()).bytes()), leader: Some(Err(error)) }
    }

    /// The leader knows everything.
    fn agreed(own: Head, theirs: Head, received: &OwnedBuf) -> Self {
        let first = own.context < theirs.context;
        let head = Head {
            context: own.context.min(theirs.context),
            size: theirs.size,
            oversubscribed: own.oversubscribed || theirs.oversubscribed,
            first,
        };
        let list = received.source().to_vec().split_off(own.size as usize * 4);
        Self::Verdict { outcome: filled(&head.bytes()), leader: Some(Ok(list)) }
    }
}

impl Way<'_> {
    fn swap(&self, own: usize, outcome: &Arc<OwnedBuf>) -> Schedule {
        coll::swap(self.peer_comm, NAME, (self.peer, self.rank), self.tag, own, outcome.clone())
    }
}

impl Comm {
    /// The intercommunicator, once everything is known.
    fn bridged(&self, head: Head, list: &[u8]) -> Result<Arc<Self>> {
        let peers: Vec<Peer> = list.chunks_exact(4).map(|peer| Peer(number(peer, 0) as u32)).collect();
        let distinct: HashSet<&Peer> = peers.iter().collect();
        if distinct.len() != peers.len() {
            let text = "the remote group has a process twice".to_owned();
            return Err(Error::other(ErrorClass::Intern, text));
        }
        let other = Group::of(peers);
        if let Some(both) = other.peers().find(|peer| self.group().rank_of(*peer).is_some()) {
            let got =
                format!("a group with process {} of the world, which is in the remote group too", both.0);
            let expected = "two groups without a common member";
            return Err(Error::invalid(ErrorClass::Comm, "local_comm", got, expected));
        }
        let members = Members {
            group: self.group().clone(),
            rank: self.rank() as u32,
            remote: Some((Arc::new(other), head.first)),
        };
        members.comm(head.context, head.oversubscribed, Details::new("", self.inherited()))
    }
}
