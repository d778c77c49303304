//! Two groups become an intercommunicator (MPI-5.0 §7.6.2).
//!
//! [`Comm::plan_intercomm`] gives a first schedule, and each outcome the next one, until the communicator is made. The
//! leaders exchange a context, how many they are and who they are; then each informs its own group. Of the two
//! contexts the smaller is used, and its group is the first one, so nobody has to wait for a decision.
//!
//! Numbers of processes mean something within one job only. Where one of the three communicators has members of several jobs, a
//! context that names its job says so: that one is used, and the groups are made known to each other by names and business cards,
//! which is the affair of `world/meeting`, as when jobs meet.
//!
//! What must stay true: a leader that fails reports it to its group, instead of leaving it waiting. What comes from other
//! processes is checked: a group names each process once, and only such as this one knows, and none of its own.

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::coll::{self, Accord, Schedule};
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
    /// The groups have to be told of each other by what means something in all jobs.
    Meet(Groups<'a>),
    /// What came of it here, unless not all could be told. Nobody uses it before all of both groups are known to have it.
    Made(Result<Arc<Comm>>, Groups<'a>),
}

/// An intercommunicator in the making.
#[derive(Debug)]
pub struct Introduction<'a> {
    local: &'a Comm,
    leader: u32,
    processes: u32,
    stage: Stage<'a>,
}

#[derive(Debug)]
enum Stage<'a> {
    /// The leaders exchange their heads.
    Heads { way: Way<'a>, own: Head, outcome: Arc<OwnedBuf> },
    /// The leaders exchange their members.
    Lists { way: Way<'a>, own: Head, theirs: Head, outcome: Arc<OwnedBuf> },
    /// A leader sends its group what came out: a head and, at the leader, what it knows or the error.
    Verdict { outcome: Arc<OwnedBuf>, leader: Option<Result<Known<'a>>> },
    /// A leader sends its group the members of the other.
    Members { head: Head, told: Result<()>, way: Option<Way<'a>>, outcome: Arc<OwnedBuf> },
}

/// What a leader knows when its group hears of it.
#[derive(Debug)]
enum Known<'a> {
    /// The members of the other group, and the way to their leader.
    List(Vec<u8>, Way<'a>),
    /// They are of several jobs; the way to their leader.
    Strangers(Way<'a>),
}

/// Two groups that numbers do not describe to each other, or that have yet to hear whether all know each other. All members of both go on
/// with it.
#[derive(Debug)]
pub struct Groups<'a> {
    /// Of the own group.
    pub local: &'a Comm,
    /// The rank of its leader there.
    pub leader: i32,
    /// The context of the new communicator, as it is sent.
    pub context: [u64; 2],
    /// What all members of both go by.
    pub accord: Accord,
    /// Whether the own group is the first.
    pub is_first: bool,
    /// How many processes the other group has.
    pub size: u32,
    /// Whether all heard it whom this process had to tell.
    pub told: Result<()>,
    way: Option<Way<'a>>,
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
    accord: Accord,
    /// In a verdict: our group is the first.
    first: bool,
    /// In a verdict: the groups are told of each other by names.
    by_name: bool,
}

/// Most members a group may have: world ranks in contexts have 20 bits.
const MOST: u32 = 1 << 20;

impl Head {
    const LEN: usize = 24;

    fn failed(class: ErrorClass) -> Self {
        Self { context: [class as u64, 0], size: 0, accord: Accord::default(), first: false, by_name: false }
    }

    /// Whether its group or its leader's way has members of several jobs: only then a context names its job.
    fn spans_jobs(self) -> bool {
        self.context[1] != 0
    }

    fn bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..16].copy_from_slice(self.context.map(u64::to_le_bytes).as_flattened());
        bytes[16..20].copy_from_slice(&self.size.to_le_bytes());
        bytes[20] = self.accord.bits();
        bytes[21] = u8::from(self.first);
        bytes[22] = u8::from(self.by_name);
        bytes
    }

    /// # Errors
    /// When the head says that something went wrong there, or makes no sense.
    fn parse(bytes: &[u8], whose: &str) -> Result<Self> {
        let flag = |at: usize| bytes.get(at).is_some_and(|flag| *flag != 0);
        let head = Self {
            context: context_in(bytes, 0),
            size: number(bytes, 16) as u32,
            accord: Accord::from_bits(bytes.get(20).copied().unwrap_or(0)),
            first: flag(21),
            by_name: flag(22),
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
    /// `peer_comm`; both of these are looked at by `local_leader` only. This process knows the peers below `processes`. `allocate`
    /// makes a context of this process, and hears whether it is for members of several jobs.
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
        processes: u32,
        allocate: impl FnOnce(bool) -> Result<ContextId>,
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
        let introduction =
            |stage| Introduction { local: self, leader: local_leader as u32, processes, stage };
        if self.rank() != local_leader {
            return Ok(introduction(Stage::waiting()).run());
        }
        let way = peer_comm.and_then(|peer_comm| self.way(peer_comm, remote_leader, tag));
        let way = match way {
            Ok(way) => way,
            Err(error) => return Ok(introduction(Stage::failed(error)).run()),
        };
        // Without a context the other leader must hear of it too: it waits for us.
        let spans_jobs = self.context().spans_jobs() || way.peer_comm.context().spans_jobs();
        let own = match allocate(spans_jobs) {
            Ok(context) => {
                let accord = self.accord().with(way.peer_comm.accord());
                let (context, size) = (context.words(), self.group().size());
                Head { context, size, accord, first: false, by_name: false }
            }
            Err(error) => Head::failed(error.class()),
        };
        let outcome = filled(&[own.bytes(), [0; Head::LEN]].concat());
        Ok(introduction(Stage::Heads { way, own, outcome }).run())
    }

    /// Plans to tell the leader of another group, as [`Comm::plan_intercomm`] finds it in this communicator, that the own group
    /// comes to nothing.
    ///
    /// # Errors
    /// A leader that is no rank.
    pub fn plan_refusal(&self, remote_leader: i32, tag: i32, why: ErrorClass) -> Result<Schedule> {
        let way = Way::through(self, remote_leader, tag)?;
        Ok(way.swap(Head::LEN, &filled(&[Head::failed(why).bytes(), [0; Head::LEN]].concat())))
    }

    fn way<'a>(&self, peer_comm: &'a Self, remote_leader: i32, tag: i32) -> Result<Way<'a>> {
        let way = Way::through(peer_comm, remote_leader, tag)?;
        if let Some(local) = self.group().rank_of(way.peer) {
            let expected =
                format_args!("a process of the other group (this one has rank {local} in local_comm)");
            return Err(Error::invalid(ErrorClass::Rank, "remote_leader", remote_leader, expected));
        }
        Ok(way)
    }
}

impl<'a> Introduction<'a> {
    /// The next step, after the last one's schedule ended with `outcome`.
    ///
    /// # Errors
    /// When something went wrong that the whole group knows of now.
    pub fn next(self, outcome: Result<()>) -> Result<Next<'a>> {
        let Self { local, leader, processes, stage } = self;
        let stage = match stage {
            Stage::Heads { way, own, outcome: received } => {
                outcome.and_then(|()| Self::heads(local, way, own, &received)).unwrap_or_else(Stage::failed)
            }
            Stage::Lists { way, own, theirs, outcome: received } => {
                outcome.map_or_else(Stage::failed, |()| {
                    let list =
                        received.source().to_vec().get(own.size as usize * 4..).unwrap_or_default().to_vec();
                    Stage::agreed(own, theirs, Known::List(list, way))
                })
            }
            Stage::Verdict { outcome: received, leader: known } => {
                let known = known.transpose()?;
                let head = Head::parse(&received.source().to_vec(), "the leader of the local group");
                let head = match head {
                    Ok(head) => head,
                    Err(why) => return Err(outcome.err().unwrap_or(why)),
                };
                let Head { context, size, accord, first: is_first, by_name } = head;
                // Whom one has told goes on, although another one could not be told.
                let told = outcome;
                if by_name {
                    let leader = leader as i32;
                    let way = if let Some(Known::Strangers(way)) = known { Some(way) } else { None };
                    let strangers = Groups { local, leader, context, accord, is_first, size, told, way };
                    return Ok(Next::Meet(strangers));
                }
                let (list, way) = match known {
                    Some(Known::List(list, way)) => (list, Some(way)),
                    _ => (vec![0; size as usize * 4], None),
                };
                Stage::Members { head, told, way, outcome: filled(&list) }
            }
            Stage::Members { head, told, way, outcome: received } => {
                let made = local.bridged(head, &received.source().to_vec(), processes);
                let Head { context, size, accord, first: is_first, .. } = head;
                let (leader, told) = (leader as i32, told.and(outcome));
                let groups = Groups { local, leader, context, accord, is_first, size, told, way };
                return Ok(Next::Made(made, groups));
            }
        };
        Ok(Self { local, leader, processes, stage }.run())
    }

    fn heads(local: &Comm, way: Way<'a>, own: Head, received: &OwnedBuf) -> Result<Stage<'a>> {
        let received = received.source().to_vec();
        Head::parse(&own.bytes(), "the leader of the local group")?;
        let theirs = received.get(Head::LEN..).unwrap_or_default();
        let theirs = Head::parse(theirs, "the leader of the remote group")?;
        if theirs.context == own.context {
            let text = format!("the leader of the remote group sent our own context ({:x?})", own.context);
            return Err(Error::other(ErrorClass::Intern, text));
        }
        if own.spans_jobs() || theirs.spans_jobs() {
            return Ok(Stage::agreed(own, theirs, Known::Strangers(way)));
        }
        // One more than each number: who misses the list sends zeros on, and they name nobody.
        let mut list: Vec<u8> = local.group().peers().flat_map(|peer| (peer.0 + 1).to_le_bytes()).collect();
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

impl<'a> Stage<'a> {
    /// A member waits for its leader.
    fn waiting() -> Self {
        Self::Verdict { outcome: filled(&[0; Head::LEN]), leader: None }
    }

    /// The leader reports that it failed.
    fn failed(error: Error) -> Self {
        Self::Verdict { outcome: filled(&Head::failed(error.class()).bytes()), leader: Some(Err(error)) }
    }

    /// The leader knows what its group has to know.
    fn agreed(own: Head, theirs: Head, known: Known<'a>) -> Self {
        // One that names its job goes before one that does not, and then the smaller one.
        let rank = |head: Head| (!head.spans_jobs(), head.context);
        let first = rank(own) < rank(theirs);
        let head = Head {
            context: if first { own.context } else { theirs.context },
            size: theirs.size,
            accord: own.accord.with(theirs.accord),
            first,
            by_name: matches!(known, Known::Strangers(_)),
        };
        Self::Verdict { outcome: filled(&head.bytes()), leader: Some(Ok(known)) }
    }
}

impl Groups<'_> {
    /// Whom the leader finds behind its way: the other leader.
    pub fn other_leader(&self) -> Option<Peer> {
        self.way.map(|way| way.peer)
    }

    /// Swaps the leaders' bytes: `outcome` has the own ones, so many, and behind them room for the others. `None` for who is no
    /// leader.
    pub fn swap(&self, own: usize, outcome: &Arc<OwnedBuf>) -> Option<Schedule> {
        self.way.map(|way| way.swap(own, outcome))
    }
}

impl<'a> Way<'a> {
    /// To this rank of a communicator, or of its remote group.
    fn through(peer_comm: &'a Comm, remote_leader: i32, tag: i32) -> Result<Self> {
        let group = peer_comm.remote().unwrap_or(peer_comm.group());
        let rank = u32::try_from(remote_leader).ok();
        let Some((rank, peer)) = rank.and_then(|rank| Some((rank, group.peer(rank)?))) else {
            let expected = format_args!("0..={}, a rank of peer_comm", i64::from(group.size()) - 1);
            return Err(Error::invalid(ErrorClass::Rank, "remote_leader", remote_leader, expected));
        };
        // Who is lost there is known by the ranks of both groups.
        let rank = peer_comm.everybody().group().rank_of(peer).unwrap_or(rank);
        Ok(Self { peer_comm, peer, rank, tag })
    }

    fn swap(&self, own: usize, outcome: &Arc<OwnedBuf>) -> Schedule {
        coll::swap(self.peer_comm.everybody(), NAME, (self.peer, self.rank), self.tag, own, outcome.clone())
    }
}

impl Comm {
    /// The intercommunicator, once everything is known.
    fn bridged(&self, head: Head, list: &[u8], processes: u32) -> Result<Arc<Self>> {
        let peer = |bytes| Some(Peer((number(bytes, 0) as u32).checked_sub(1)?));
        let peers: Option<Vec<Peer>> = list.chunks_exact(4).map(peer).collect();
        let peers = peers.ok_or_else(|| {
            let text = "a process has ended before it could tell who is in the remote group";
            Error::other(ErrorClass::ProcAborted, text)
        })?;
        let malformed = |text| Err(Error::other(ErrorClass::Intern, text));
        if peers.is_empty() {
            return malformed("the remote group has no process".to_owned());
        }
        if let Some(unknown) = peers.iter().find(|peer| peer.0 >= processes) {
            let last = i64::from(processes) - 1;
            return malformed(format!("the remote group has process {}, expected 0..={last}", unknown.0));
        }
        let distinct: HashSet<&Peer> = peers.iter().collect();
        if distinct.len() != peers.len() {
            return malformed("the remote group has a process twice".to_owned());
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
        members.comm(head.context, head.accord, Details::new("", self.inherited()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESSES: u32 = 8;

    /// What the last step makes of a list of members, from a process of the group 0, 1.
    fn members(list: &[u8], size: u32) -> Result<Arc<Comm>> {
        made(Comm::world(1, 2), list, size)
    }

    fn made(local: Comm, list: &[u8], size: u32) -> Result<Arc<Comm>> {
        let local: &'static Comm = Box::leak(Box::new(local));
        let context = ContextId::allocated(0, 0, ContextId::FIRST_COUNT).expect("a small count").words();
        let head = Head { context, size, accord: Accord::default(), first: true, by_name: false };
        let stage = Stage::Members { head, told: Ok(()), way: None, outcome: filled(list) };
        match (Introduction { local, leader: 0, processes: PROCESSES, stage }).next(Ok(()))? {
            Next::Made(made, _) => made,
            other => panic!("{other:?}"),
        }
    }

    fn list(peers: &[u32]) -> Vec<u8> {
        peers.iter().flat_map(|peer| (peer + 1).to_le_bytes()).collect()
    }

    #[test]
    fn a_group_of_strangers_is_refused() {
        let comm = members(&list(&[7, 2, 3]), 3).expect("a good list");
        let remote = comm.remote().expect("a remote group");
        assert_eq!(remote.peers().collect::<Vec<_>>(), [7, 2, 3].map(Peer));
        for (peers, says) in [
            (&[2, 8][..], "the remote group has process 8, expected 0..=7"),
            (&[u32::MAX - 1], "the remote group has process 4294967294, expected 0..=7"),
            (&[2, 3, 2], "the remote group has a process twice"),
            (&[0, 0], "the remote group has a process twice"),
            (&[2, 1], "process 1 of the world, which is in the remote group too"),
        ] {
            let error = members(&list(peers), peers.len() as u32).expect_err("a malformed group");
            assert!(error.to_string().contains(says), "{peers:?}: {error}");
        }
        let nobody = members(&[1, 2, 3], 0).map(|_| ());
        assert!(nobody.is_err(), "a group of nobody");
    }

    /// A list may come without its beginning or its end, too, for a long one comes in pieces.
    #[test]
    fn a_list_that_did_not_come_names_nobody() {
        let none = [0; 4];
        for came in [none.to_vec(), [&none, &list(&[2])[..]].concat(), [&list(&[2])[..], &none].concat()] {
            let size = came.len() as u32 / 4;
            let error = made(Comm::own(Peer(1)), &came, size).expect_err("a list that is not whole");
            assert_eq!(error.class(), ErrorClass::ProcAborted, "{came:?}: {error}");
        }
    }

    /// Whatever stands in a message, each step ends with a result.
    #[test]
    fn bytes_of_another_leader_cause_no_panic() {
        let (local, peer_comm) = (Comm::world(0, 2), Comm::world(0, PROCESSES));
        let own = Head {
            context: ContextId::WORLD.words(),
            size: 2,
            accord: Accord::default(),
            first: false,
            by_name: false,
        };
        let way = Way { peer_comm: &peer_comm, peer: Peer(5), rank: 5, tag: 0 };
        for seed in 0..2000_u64 {
            let mut state = seed;
            let mut byte = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                // Small sizes among them, for those get further.
                if state >> 63 == 0 { 0 } else { (state >> 40) as u8 }
            };
            let len = (seed % 60) as usize;
            let outcome = filled(&(0..len).map(|_| byte()).collect::<Vec<u8>>());
            let theirs = Head { size: seed as u32 % 5 + 1, ..own };
            let stages = [
                Stage::Heads { way, own, outcome: outcome.clone() },
                Stage::Lists { way, own, theirs, outcome: outcome.clone() },
                Stage::Verdict { outcome: outcome.clone(), leader: None },
                Stage::Members { head: theirs, told: Ok(()), way: None, outcome },
            ];
            for stage in stages {
                let introduction = Introduction { local: &local, leader: 0, processes: PROCESSES, stage };
                if let Ok(Next::Made(Ok(comm), _)) = introduction.next(Ok(())) {
                    let remote = comm.remote().expect("a remote group");
                    assert!(remote.peers().all(|peer| (2..PROCESSES).contains(&peer.0)), "{remote:?}");
                }
            }
        }
    }
}
