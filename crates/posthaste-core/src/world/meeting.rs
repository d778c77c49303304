//! Other jobs: ports, the calls by which two groups meet, and how they part (MPI-5.0 §11.9, §11.10).
//!
//! ```text
//!   every rank           root                             every rank
//!   its card  ------->   finds the other root, swaps
//!                        the lists of members   ------->  enters the others in its table
//!   all have  <-------   swaps whether all have <-------  says whether it could
//! ```
//!
//! `within`: roots that are ranks of one job.
//!
//! What must stay true: nobody uses the new communicator before all members of both groups know each other; what goes wrong at
//! one of them is an error at all of them. So everybody goes through all steps, whatever has gone wrong in one. Who cannot know in the
//! end whether others have the new communicator revokes it.

mod abroad;
mod head;
mod introduction;
mod names;
mod spawning;
mod within;

pub use spawning::Parents;

use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::socket::Set;
use posthaste_pmi::client::Started;

use super::World;
use crate::buffer::OwnedBuf;
use crate::coll::{self, Operand};
use crate::comm::{Comm, Groups};
use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result};
use crate::jobs::JobId;
use crate::meeting::{Call, Line, Meeting, Member, OverSocket, Party, Port, PortName, over_socket};
use crate::method::tcp::Pass;
use crate::progress::Vci;
use crate::wait::Awaited;
pub(super) use abroad::Abroad;
use head::Head;
use within::{Letters, MetWithin};

/// Whether a group has what it needs, as its members are told; 0: nobody has told them.
const NO: u8 = 1;
const YES: u8 = 2;

/// Time for who has come to say the rest, though the call's own time is over.
const GRACE: Duration = Duration::from_secs(1);

/// Time for a caller that was let in to say the rest, while others may wait behind it.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a root comes to the other one.
enum Way {
    Accept(Arc<Mutex<Port>>),
    /// Those that the launcher has started; the number of the request for them, if it says when they end.
    Children(Arc<Mutex<Port>>, Option<Started>),
    Connect(Call, PortName),
    Socket(OverSocket, RawFd),
}

impl Way {
    fn step(&mut self, set: &Set) -> Result<Option<Meeting>> {
        match self {
            Self::Accept(port) | Self::Children(port, _) => lock(port).step(set),
            Self::Connect(call, _) => call.step(set),
            Self::Socket(socket, _) => socket.step(),
        }
    }

    fn watch_in(&self, set: &Set) -> io::Result<()> {
        match self {
            Self::Accept(port) | Self::Children(port, _) => lock(port).watch_in(set),
            Self::Connect(..) => Ok(()), // each try comes in when it begins
            Self::Socket(socket, _) => socket.watch_in(set),
        }
    }

    /// The error when the time is over, so many seconds.
    fn nobody_came(&self, place: &str, limit: f64) -> Error {
        match self {
            Self::Children(..) => {
                let text = format!(
                    "the processes that were started have not come to MPI_Init within {limit} s (POSTHASTE_CONNECT_S), and their launcher does not say whether they run"
                );
                Error::other(ErrorClass::Spawn, text)
            }
            _ => Error::other(ErrorClass::Port, format!("no other job was met {place} within {limit} s")),
        }
    }

    /// What stands behind the name of the call in sentences.
    fn place(&self) -> String {
        match self {
            Self::Accept(port) | Self::Children(port, _) => format!("at {}", lock(port).name().shown()),
            Self::Connect(_, name) => format!("to {}", name.shown()),
            Self::Socket(_, fd) => format!("over the socket {fd}"),
        }
    }
}

fn lock(port: &Mutex<Port>) -> MutexGuard<'_, Port> {
    port.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What came of it at a root.
struct Met<'a> {
    /// Where the other root is, which waits to hear whether all members of this group know those of its own.
    link: Option<Link<'a>>,
    outcome: Result<Others>,
}

/// The other group.
struct Others {
    is_first: bool,
    /// By which the members of both know each other.
    pass: Pass,
    /// With the context that is used.
    party: Party,
}

enum Link<'a> {
    Line(Line),
    Within(Letters),
    Way(&'a Groups<'a>),
}

impl<'a> From<Result<(Link<'a>, Others)>> for Met<'a> {
    fn from(outcome: Result<(Link<'a>, Others)>) -> Self {
        match outcome {
            Ok((link, others)) => Self { link: Some(link), outcome: Ok(others) },
            Err(why) => Self { link: None, outcome: Err(why) },
        }
    }
}

/// What a root hears first.
enum Heard {
    /// The other root's list, over the connection with it.
    List(Party),
    /// The same, of another rank of its job.
    Within(MetWithin),
}

impl World {
    /// The job of this process.
    pub fn job(&self) -> JobId {
        self.common.abroad.own.job
    }

    /// Opens a port at which other jobs find this process (MPI-5.0 §11.9.2): its name, which holds a secret.
    ///
    /// # Errors
    /// When there is no port or no interface for it.
    pub fn open_port(&self) -> Result<String> {
        let port = Port::open(&self.vci().engine.config, Some(self.own_name()))?;
        let name = port.name().to_string();
        let mut ports = self.common.abroad.ports.lock().unwrap_or_else(PoisonError::into_inner);
        ports.insert(name.clone(), Arc::new(Mutex::new(port)));
        Ok(name)
    }

    /// Closes a port; who waits at it is sent away.
    ///
    /// # Errors
    /// A port that this process has not opened.
    pub fn close_port(&self, name: &str) -> Result<()> {
        let port = self.common.abroad.port(name)?;
        lock(&port).close();
        self.common.abroad.ports.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        let name = lock(&port).name().clone();
        self.refuse_within(&name);
        Ok(())
    }

    /// Waits for another group at a port: an intercommunicator with it. All ranks of `comm` call it, in the function `call` of their
    /// API; `port`, the port's name and the time limit of the call, is asked at the root alone.
    ///
    /// # Errors
    /// What is wrong at the root, at all ranks; a time limit that is over.
    pub fn accept(
        &self,
        call: &'static str,
        comm: &Comm,
        root: i32,
        port: impl FnOnce() -> Result<(String, Option<Duration>)>,
    ) -> Result<Arc<Comm>> {
        self.meet(call, comm, root, || {
            let (name, limit) = port()?;
            Ok((Way::Accept(self.common.abroad.port(&name)?), limit))
        })
    }

    /// The other side of [`World::accept`], which waits for `POSTHASTE_CONNECT_S` unless it has a time limit of its own.
    ///
    /// # Errors
    /// As [`World::accept`]; a port where nobody listens.
    pub fn connect(
        &self,
        call: &'static str,
        comm: &Comm,
        root: i32,
        port: impl FnOnce() -> Result<(String, Option<Duration>)>,
    ) -> Result<Arc<Comm>> {
        self.meet(call, comm, root, || {
            let (name, limit) = port()?;
            let name: PortName = name.parse()?;
            let limit = limit.unwrap_or_else(|| self.connect_time());
            Ok((Way::Connect(Call::new(name.clone(), &self.vci().engine.config), name), Some(limit)))
        })
    }

    /// How long others have to come of whom nothing else is heard.
    fn connect_time(&self) -> Duration {
        Duration::from_secs(self.vci().engine.config.connect_s.into())
    }

    /// The same inside another call, for a port that is there as long as the other job is: its end is an error, and nothing else
    /// ends the wait.
    fn connect_in(&self, call: &'static str, comm: &Comm, root: i32, port: &str) -> Result<Arc<Comm>> {
        self.meet(call, comm, root, || {
            let name: PortName = port.parse()?;
            Ok((Way::Connect(Call::new(name.clone(), &self.vci().engine.config), name), None))
        })
    }

    /// An intercommunicator with the process at the other end of a socket (MPI-5.0 §11.10.5).
    ///
    /// # Errors
    /// A descriptor that is no connected stream socket; what became of it.
    pub fn join_over(&self, fd: RawFd) -> Result<Arc<Comm>> {
        self.meet("MPI_Comm_join", self.own(), 0, || Ok((Way::Socket(over_socket(fd)?, fd), None)))
    }

    fn meet(
        &self,
        call: &'static str,
        comm: &Comm,
        root: i32,
        way: impl FnOnce() -> Result<(Way, Option<Duration>)>,
    ) -> Result<Arc<Comm>> {
        Self::check_meeting(comm, root)?;
        let gathered = self.gather_members(call, comm, root);
        self.conclude(call, comm, root, gathered, |members| {
            let talked = members.and_then(|members| {
                let (way, limit) = way()?;
                let context = self.allocate_between_jobs()?.words();
                let party = Party { context, accord: comm.accord(), members };
                self.talk(call, comm, way, limit, &party).map(|(link, mut others)| {
                    if others.is_first {
                        others.party.context = context;
                    }
                    (link, others)
                })
            });
            talked.into()
        })
    }

    /// What all members of a group do once its root has their cards: the root finds the other group by `meet`.
    fn conclude<'a>(
        &self,
        call: &'static str,
        comm: &Comm,
        root: i32,
        gathered: Result<Vec<Member>>,
        meet: impl FnOnce(Result<Vec<Member>>) -> Met<'a>,
    ) -> Result<Arc<Comm>> {
        let is_root = comm.rank() == root;
        let (took_part, mut met) =
            if is_root { (Ok(()), Some(meet(gathered))) } else { (gathered.map(drop), None) };
        let told = self.tell(call, comm, root, met.as_ref().map(|met| &met.outcome));
        let mut peers = Vec::new();
        let entered = took_part.and(told.as_ref().map_err(Error::clone)).and_then(|(head, body)| {
            if let Some(class) = head.failed {
                return Err(Error::other(class, String::from_utf8_lossy(body)));
            }
            self.enter(&Party::read(body)?, head.pass, &mut peers)
        });
        let link = met.as_mut().and_then(|met| met.link.as_mut());
        let all_have = self.all_have(call, comm, root, entered.is_ok(), link);
        let may_have = entered.is_ok() && all_have.is_err();
        // What the root says itself says most.
        let outcome = met.map_or(Ok(()), |met| met.outcome.map(drop)).and(entered);
        let outcome = outcome.and(all_have.and_then(|missing| missing.map_or(Ok(()), Err)));
        let (head, _) = told?;
        let make = |peers| {
            let made = comm.met(peers, head.context, head.accord, head.is_first)?;
            self.joins(&made)?;
            Ok(made)
        };
        match outcome {
            Ok(()) => make(peers),
            Err(why) if may_have => {
                self.revoke(&*make(peers)?);
                Err(why)
            }
            Err(why) => {
                self.withdraw(&peers, head.pass.label);
                Err(why)
            }
        }
    }

    fn check_meeting(comm: &Comm, root: i32) -> Result<()> {
        if comm.remote().is_some() {
            let expected = "an intracommunicator";
            return Err(Error::invalid(ErrorClass::Comm, "comm", "an intercommunicator", expected));
        }
        if root < 0 || root >= comm.size() {
            let expected = format!("0..={}, a rank of comm", comm.size() - 1);
            return Err(Error::invalid(ErrorClass::Root, "root", root, expected));
        }
        Ok(())
    }

    /// The members of `comm`, at the root; nobody elsewhere.
    fn gather_members(&self, call: &'static str, comm: &Comm, root: i32) -> Result<Vec<Member>> {
        let card = self.own_card();
        let name = self.common.abroad.own;
        let own = Member { name, card: card.clone().unwrap_or_default() };
        // Who cannot be reached says so in its place: the root waits for it.
        let mut bytes = own.bytes().or_else(|_| Member { name, card: String::new() }.bytes())?;
        bytes.resize(Member::PLACE, 0);
        let bytes = self.gather(call, comm, root, &bytes)?;
        let members = (0..).zip(bytes.chunks_exact(Member::PLACE)).map(|(rank, bytes)| {
            let (member, _) = Member::read(bytes)?;
            if member.card.is_empty() {
                let text = format!("rank {rank} of the communicator cannot be reached by other jobs");
                let why = card.as_ref().err().map_or(text, |why| format!("this process cannot: {why}"));
                return Err(Error::other(ErrorClass::Other, why));
            }
            Ok(member)
        });
        members.collect()
    }

    /// Whether all members of a communicator are there, and it is not revoked.
    fn check_members(vci: &Vci, comm: &Comm) -> Result<()> {
        comm.check_revoked()?;
        let losses = &vci.engine.losses;
        losses.among(comm.group()).next().map_or(Ok(()), |lost| losses.check(lost))
    }

    /// Finds the other root and swaps lists with it. The other members of `comm` wait meanwhile: it comes to nothing when one of them is
    /// lost, or revokes it.
    fn talk(
        &self,
        call: &'static str,
        comm: &Comm,
        mut way: Way,
        limit: Option<Duration>,
        own: &Party,
    ) -> Result<(Link<'static>, Others)> {
        let (place, bytes) = (way.place(), own.bytes()?);
        // What is too long for the clock is no limit.
        let end =
            |limit| machine::now().checked_add(limit).filter(|until| until.checked_add(GRACE).is_some());
        let until = limit.and_then(end);
        let mut within = self.begin_within(comm, &way)?;
        // The system is asked for nothing as long as messages may be enough.
        let mut heard = self.early_within(&mut within, &bytes).map(|met| Ok(Heard::Within(met)));
        let (mut set, mut found): (Option<Set>, Option<Meeting>) = (None, None);
        let mut since = Duration::ZERO;
        let step = |vci: &mut Vci| {
            if let Some(heard) = heard.take() {
                return Some(heard);
            }
            if matches!(way, Way::Accept(_) | Way::Connect(..))
                && let Err(why) = Self::check_members(vci, comm)
            {
                return Some(Err(why));
            }
            if let Way::Children(_, asked) = way
                && let Err(why) = self.check_spawned(asked)
            {
                return Some(Err(why));
            }
            if found.is_none()
                && let Some(met) = within.step(self.founding(), vci, &bytes)
            {
                return Some(Ok(Heard::Within(met)));
            }
            if !within.is_enough() && set.is_none() {
                set = match self.watch_way(&way) {
                    Ok(set) => Some(set),
                    Err(why) => return Some(Err(why)),
                };
            }
            if let Some(set) = &set {
                if found.is_none() && !within.is_enough() {
                    found = match way.step(set) {
                        Ok(found) => found,
                        Err(why) => return Some(Err(why)),
                    };
                    if let Some(Meeting { line, .. }) = &mut found {
                        line.send(&bytes);
                        since = machine::now();
                    }
                }
                if let Some(Meeting { line, .. }) = &mut found {
                    match line.step() {
                        Ok(Some(said)) => return Some(Party::read(&said).map(Heard::List)),
                        // It is stopped, and others may wait behind it.
                        Ok(None) if matches!(way, Way::Accept(_)) && machine::now() > since + PATIENCE => {
                            found = None;
                        }
                        Ok(None) => line.watch_for_room(set),
                        // Who called has given up while it waited; others may come.
                        Err(_) if matches!(way, Way::Accept(_)) => found = None,
                        Err(why) => return Some(Err(lost_root(&place, &why))),
                    }
                }
            }
            let until = until?;
            // Who has come says more in a moment.
            let until = if found.is_some() || within.has_found() { until + GRACE } else { until };
            (machine::now() >= until).then(|| {
                let limit = limit.unwrap_or_default().as_secs_f64();
                Err(way.nobody_came(&place, limit))
            })
        };
        let vci = comm.context().vci();
        let heard = self.waiting.until(vci, call, |_| Awaited::OtherJob(place.clone()), step);
        within.end(self.founding(), &mut self.vci_of(self.founding()));
        let (link, is_first, pass, party) = match heard? {
            Heard::List(party) => {
                let nobody = || Error::other(ErrorClass::Intern, "a list came over no connection");
                let Meeting { line, is_first, pass } = found.ok_or_else(nobody)?;
                (Link::Line(line), is_first, pass, Ok(party))
            }
            Heard::Within(MetWithin { whom, pass, list }) => {
                (Link::Within(whom), matches!(way, Way::Accept(_)), pass, Party::read(&list))
            }
        };
        let party = party.and_then(|party| own.check_disjoint(&party, "comm").map(|()| party));
        match party {
            Ok(party) => Ok((link, Others { is_first, pass, party })),
            Err(why) => {
                if let Link::Within(whom) = link {
                    whom.leave(false, self.founding(), &mut self.vci_of(self.founding()));
                }
                Err(why)
            }
        }
    }

    /// Lets a sleeper hear of what comes to a root.
    fn watch_way(&self, way: &Way) -> Result<Set> {
        self.sleep_on(|set| {
            way.watch_in(set)?;
            if matches!(way, Way::Children(..)) { self.watch_launcher_in(set) } else { Ok(()) }
        })
    }

    /// What this call's sleep waits for, besides all else, until it is dropped.
    fn sleep_on(&self, watch: impl FnOnce(&Set) -> io::Result<()>) -> Result<Set> {
        let watched = Set::new().and_then(|set| {
            watch(&set)?;
            self.runtime.sleep_on(&set)?;
            Ok(set)
        });
        watched.map_err(|e| Error::system("watching for another job", e))
    }

    /// The root tells its group what came out: a head, and the other group's members or what went wrong. Whoever misses a part goes
    /// on, because others wait for it.
    fn tell(
        &self,
        call: &'static str,
        comm: &Comm,
        root: i32,
        met: Option<&Result<Others>>,
    ) -> Result<(Head, Vec<u8>)> {
        let said = met.map(|met| {
            met.as_ref().map_err(Error::clone).and_then(|others| Ok((others, others.party.bytes()?)))
        });
        let (head, body) = match said {
            None => (vec![0; Head::LEN], Vec::new()),
            Some(Err(why)) => {
                let text = why.to_string().into_bytes();
                (Head::failed(&why, text.len()).bytes(), text)
            }
            Some(Ok((Others { is_first, pass, party }, body))) => {
                let accord = comm.accord().with(party.accord);
                let (is_first, len, pass) = (*is_first, body.len() as u64, *pass);
                let head = Head { failed: None, is_first, accord, len, context: party.context, pass };
                (head.bytes(), body)
            }
        };
        let heard = self.broadcast(call, comm, root, &head);
        let head = Head::read(heard.as_ref().unwrap_or(&head));
        let body = if body.is_empty() { vec![0; head.len as usize] } else { body };
        let body = self.broadcast(call, comm, root, &body);
        heard.and_then(|_| Ok((head, body?)))
    }

    /// The same number of bytes of each member, at the root; nothing elsewhere. They go up the tree that [`World::broadcast`] goes down.
    fn gather(&self, call: &'static str, comm: &Comm, root: i32, own: &[u8]) -> Result<Vec<u8>> {
        let members = if comm.rank() == root { comm.size() as usize } else { 0 };
        let (all, block, byte) = (OwnedBuf::new(own.len() * members), own.len() as u64, Datatype::byte());
        let own = filled(own);
        let to = (members > 0).then(|| Operand::new(all.user_buf(), block, &byte));
        let from = Operand::new(own.user_buf(), block, &byte);
        self.run_in(call, coll::gather(comm, Some(from), to, root)?)?;
        Ok(all.source().to_vec())
    }

    fn broadcast(&self, call: &'static str, comm: &Comm, root: i32, bytes: &[u8]) -> Result<Vec<u8>> {
        let outcome = Arc::new(filled(bytes));
        self.run_in(call, coll::broadcast(comm, call, root as u32, outcome.clone()))?;
        Ok(outcome.source().to_vec())
    }

    /// Whether all members of both groups know each other; if not, why. Each hears it on the way by which it heard the rest: who left
    /// because that way is broken is not waited for.
    ///
    /// # Errors
    /// When this process does not hear it, or cannot tell it: others may have heard it.
    fn all_have(
        &self,
        call: &'static str,
        comm: &Comm,
        root: i32,
        own: bool,
        link: Option<&mut Link<'_>>,
    ) -> Result<Option<Error>> {
        // Who is lost has not said that it has them.
        let flags = self.gather(call, comm, root, &[u8::from(own)]);
        let here = flags.is_ok_and(|flags| flags.iter().all(|flag| *flag == 1));
        let there = match link {
            Some(Link::Line(line)) => self.have_they(call, line, here),
            Some(Link::Within(whom)) => self.have_they_within(call, whom, here),
            Some(Link::Way(strangers)) => {
                self.swap(strangers, &[u8::from(here)], 1).ok().map(|said| said == [1])
            }
            None => None,
        };
        let said = if comm.rank() == root { told(here, there) } else { [0; 2] };
        heard(&self.broadcast(call, comm, root, &said)?)
    }

    /// Whether all members of the other group have what they need, for the same of our own; `None` when its root is lost.
    fn have_they(&self, call: &'static str, line: &mut Line, here: bool) -> Option<bool> {
        line.send(&[u8::from(here)]);
        // Without it the wait looks now and then.
        let _set = self.sleep_on(|set| line.watch_in(set));
        let step = |_: &mut Vci| match line.step() {
            Ok(said) => said.map(|said| Some(said == [1])),
            Err(_) => Some(None),
        };
        let awaited = |_: &Vci| Awaited::OtherJob("with the members of the other job".into());
        self.waiting.until(0, call, awaited, step)
    }
}

/// What a root tells its group: whether all members here have what they need, and whether all there do, if it has heard that.
fn told(here: bool, there: Option<bool>) -> [u8; 2] {
    match (here, there) {
        (false, _) => [NO, NO],
        (true, Some(false)) => [YES, NO],
        (true, Some(true)) => [YES, YES],
        // The others may have heard that all have it.
        (true, None) => [0; 2],
    }
}

/// What its members learn from that, as [`World::all_have`] gives it.
fn heard(said: &[u8]) -> Result<Option<Error>> {
    let lost = |text| Error::other(ErrorClass::ProcAborted, text);
    let whose = match said {
        [YES, YES] => return Ok(None),
        [YES, NO] => "the other job",
        [NO, _] => "this job",
        _ => {
            let text = "a process has ended before it could tell what the groups know";
            return Err(lost(text.to_owned()));
        }
    };
    Ok(Some(lost(format!("a process of {whose} has ended, or cannot reach the others"))))
}

fn filled(bytes: &[u8]) -> OwnedBuf {
    let mut owned = OwnedBuf::new(bytes.len());
    owned.sink().copy_from(bytes);
    owned
}

fn lost_root(place: &str, why: &io::Error) -> Error {
    Error::other(ErrorClass::ProcAborted, format!("the root of the other job, met {place}, is lost: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who learns nothing may have a communicator that others use, and revokes it; whose members miss something, nobody has it.
    #[test]
    fn a_group_that_has_not_heard_of_the_other_one_knows_nothing() {
        let learns = |here, there| heard(&told(here, there));
        assert!(learns(true, Some(true)).unwrap().is_none());
        for (here, there, whose) in [
            (true, Some(false), "the other job"),
            (false, Some(true), "this job"),
            (false, Some(false), "this job"),
            (false, None, "this job"),
        ] {
            let why = learns(here, there).unwrap().expect("somebody misses something");
            assert!(why.to_string().contains(whose), "{here}, {there:?}: {why}");
        }
        assert_eq!(learns(true, None).unwrap_err().class(), ErrorClass::ProcAborted);
        // What comes from a process that has heard nothing itself, and what makes no sense.
        for said in [&[0; 2][..], &[0, YES], &[YES, 0], &[YES, 3], &[3, YES], &[], &[YES]] {
            assert_eq!(heard(said).unwrap_err().class(), ErrorClass::ProcAborted, "{said:?}");
        }
    }
}
