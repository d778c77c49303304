//! Jobs that meet, over the simulated network: whatever communicators they make together and apart, no message matches in
//! a wrong context.
//!
//! All jobs count their contexts from the same number, so a job's communicators have the same contexts as those of any
//! other, and processes number each other as they have met. An oracle knows which communicator each message was sent in.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::coll::{Accord, Schedule};
use crate::comm::create::Members;
use crate::comm::details::{Details, Inherited};
use crate::comm::{Comm, Creation};
use crate::config::Config;
use crate::datatype::{Datatype, Segment, Types};
use crate::error::Result;
use crate::group::Group;
use crate::ids::{ANY_SOURCE, ANY_TAG, ContextId, Peer, RequestId};
use crate::jobs::JobId;
use crate::method::Route;
use crate::progress::Vci;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::send::Started;
use crate::pt2pt::{recv, send};
use crate::testing::{Bench, ROUGH};
use crate::wire::{Envelope, Mode};

/// Bytes of a message: the label of its communicator, and its sender's rank there.
const LETTER: usize = 8;

/// A process: its job, its rank there, and how it calls the others, by their addresses.
struct Process {
    job: usize,
    rank: u32,
    peers: BTreeMap<usize, Peer>,
    count: u32,
}

/// A communicator, as all of its members have it.
struct Shared {
    label: u32,
    /// Addresses, in the order of ranks.
    members: Vec<usize>,
    comms: Vec<Arc<Comm>>,
}

/// Several jobs on one network.
struct Meeting {
    bench: Bench,
    jobs: Vec<JobId>,
    processes: Vec<Process>,
    alive: Vec<Shared>,
    labels: u32,
    /// The mutant: who allocates the context of a communicator of several jobs forgets to name its own.
    forgetful: bool,
}

/// Something that an oracle does not allow.
type Wrong = std::result::Result<(), String>;

impl Meeting {
    fn new(seed: u64, sizes: &[u32], forgetful: bool) -> Self {
        let bench = Bench::of_jobs(seed, sizes, ROUGH, &Config::default());
        let mut meeting =
            Self { bench, jobs: Vec::new(), processes: Vec::new(), alive: Vec::new(), labels: 0, forgetful };
        for (job, size) in sizes.iter().enumerate() {
            let id = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                ^ (job as u64 + 1).wrapping_mul(0x0123_4567_89ab);
            meeting.jobs.push(JobId(id));
            let first = meeting.processes.len();
            for rank in 0..*size {
                let peers = (0..*size).map(|peer| (first + peer as usize, Peer(peer))).collect();
                meeting.processes.push(Process { job, rank, peers, count: ContextId::FIRST_COUNT });
            }
            let comms = (0..*size).map(|rank| Arc::new(Comm::world(rank, *size))).collect();
            meeting.keep((first..first + *size as usize).collect(), comms);
        }
        meeting
    }

    fn random(&self, n: usize) -> usize {
        self.bench.network.random(n as u64) as usize
    }

    fn keep(&mut self, members: Vec<usize>, comms: Vec<Arc<Comm>>) {
        self.labels += 1;
        self.alive.push(Shared { label: self.labels, members, comms });
    }

    /// A context that a process allocates, for a communicator of several jobs or not.
    fn allocate(&mut self, at: usize, spans: bool) -> ContextId {
        let Process { job, rank, count, .. } = &mut self.processes[at];
        let context = ContextId::allocated(*rank, 0, *count).expect("a small count");
        *count += ContextId::STEP;
        if spans && !self.forgetful {
            return context.allocated_in(self.jobs[*job]).expect("few jobs");
        }
        context
    }

    /// How a process calls another one, which it meets if it has not yet.
    fn meet(&mut self, at: usize, other: usize) -> Peer {
        let vci = &mut self.bench.vcis[at];
        let address = Peer(other as u32);
        *self.processes[at].peers.entry(other).or_insert_with(|| {
            let peer = vci.methods.join(Route::Sim);
            vci.methods.name_simulated(peer, address);
            peer
        })
    }

    /// All members of some communicators make one together.
    fn join(&mut self) {
        let mut members: Vec<usize> = Vec::new();
        for _ in 0..=1 + self.random(2) {
            let chosen = &self.alive[self.random(self.alive.len())];
            let more: Vec<usize> =
                chosen.members.iter().copied().filter(|at| !members.contains(at)).collect();
            members.extend(more);
        }
        // Anybody may come first, and found it.
        let first = self.random(members.len());
        members.rotate_left(first);
        let words = self.allocate(members[0], true).words();
        let mut comms = Vec::new();
        for (rank, at) in members.clone().into_iter().enumerate() {
            let peers = members.iter().map(|other| self.meet(at, *other)).collect();
            let all = Members { group: Arc::new(Group::of(peers)), rank: rank as u32, remote: None };
            comms.push(
                all.comm(words, Accord::default(), Details::new("", Inherited::default()))
                    .expect("a context"),
            );
        }
        self.keep(members, comms);
    }

    /// Makes communicators out of one, by the operation that all its members call.
    fn make(
        &mut self,
        from: usize,
        plan: impl Fn(&Comm, usize, &mut dyn FnMut() -> Result<ContextId>) -> Result<(Schedule, Creation)>,
    ) -> Wrong {
        let members = self.alive[from].members.clone();
        let comms = self.alive[from].comms.clone();
        let spans = comms[0].context().spans_jobs() || (self.forgetful && self.is_mixed(&members));
        let (mut started, mut creations) = (Vec::new(), Vec::new());
        for ((rank, at), comm) in members.iter().enumerate().zip(&comms) {
            let planned = plan(comm, rank, &mut || Ok(self.allocate(*at, spans)));
            let (schedule, creation) = planned.map_err(|why| why.to_string())?;
            let Vci { engine, methods, running, .. } = &mut self.bench.vcis[*at];
            started.push((*at, running.start(engine, methods, schedule).map_err(|why| why.to_string())?));
            creations.push(creation);
            self.steps(20);
        }
        started.into_iter().try_for_each(|(at, id)| self.end(at, id).map(drop))?;
        let mut made: BTreeMap<u64, Vec<(i32, usize, Arc<Comm>)>> = BTreeMap::new();
        for (at, creation) in members.into_iter().zip(creations) {
            if let Some(comm) = creation.finish().map_err(|why| why.to_string())? {
                made.entry(comm.context().0).or_default().push((comm.rank(), at, comm));
            }
        }
        for mut all in made.into_values() {
            all.sort_by_key(|(rank, ..)| *rank);
            if !(0..).zip(&all).all(|(rank, (own, ..))| *own == rank) {
                return Err("two communicators out of one have the same context".into());
            }
            let (members, comms) = all.into_iter().map(|(_, at, comm)| (at, comm)).unzip();
            self.keep(members, comms);
        }
        Ok(())
    }

    fn is_mixed(&self, members: &[usize]) -> bool {
        members.iter().any(|at| self.processes[*at].job != self.processes[members[0]].job)
    }

    fn steps(&mut self, most: usize) {
        for _ in 0..self.random(most) {
            self.bench.step();
        }
    }

    /// Steps until a request has ended well.
    fn end(&mut self, at: usize, id: RequestId) -> std::result::Result<i32, String> {
        for _ in 0..200_000 {
            if let Some(status) = self.bench.take(at, id) {
                return status.error.map_or(Ok(status.source), |why| Err(why.to_string()));
            }
            self.bench.step();
        }
        Err("a request does not end".into())
    }

    /// Messages in several communicators at once, all with the same tag, received in any order.
    fn talk(&mut self) -> Wrong {
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for _ in 0..12 {
            let shared = &self.alive[self.random(self.alive.len())];
            let (from, to) = (self.random(shared.members.len()), self.random(shared.members.len()));
            let (context, label) = (shared.comms[0].context(), shared.label);
            let (sender, receiver) = (shared.members[from], shared.members[to]);
            let peer = shared.comms[from].group().peer(to as u32).expect("a member");
            let receive_first = self.random(2) == 0;
            if receive_first {
                received.push(self.receive(receiver, context, label));
            }
            let mut data = OwnedBuf::new(LETTER);
            data.sink().copy_from([label, from as u32].map(u32::to_le_bytes).as_flattened());
            let mode = if self.random(3) == 0 { Mode::Synchronous } else { Mode::Standard };
            let (len, types) = (LETTER as u64, Types::UNKNOWN);
            let envelope = Envelope { context, source: from as i32, tag: 0, len, mode, types };
            let segment = Segment::new(data.user_buf(), len, &Datatype::byte());
            let Vci { engine, methods, .. } = &mut self.bench.vcis[sender];
            if let Started::Request(id) =
                send::start(engine, methods, peer, &envelope, segment).expect("room")
            {
                sent.push((sender, id, data));
            }
            self.steps(40);
            if !receive_first {
                received.push(self.receive(receiver, context, label));
            }
        }
        for (at, id, _data) in &sent {
            self.end(*at, *id)?;
        }
        for (at, id, label, into) in &received {
            let source = self.end(*at, *id)?;
            let expected = [*label, source as u32].map(u32::to_le_bytes);
            if into.source().to_vec() != expected.as_flattened() {
                return Err(format!("a receive in communicator {label} got {:?}", into.source().to_vec()));
            }
        }
        Ok(())
    }

    fn receive(&mut self, at: usize, context: ContextId, label: u32) -> (usize, RequestId, u32, OwnedBuf) {
        let into = OwnedBuf::new(LETTER);
        let segment = Segment::new(into.user_buf(), LETTER as u64, &Datatype::byte());
        let pattern = Pattern { context, source: ANY_SOURCE, tag: ANY_TAG };
        let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
        (at, recv::start(engine, methods, &pattern, segment).expect("room"), label, into)
    }

    /// One random step of the story.
    fn go_on(&mut self) -> Wrong {
        let from = self.random(self.alive.len());
        match self.random(6) {
            0 => self.join(),
            1 => self.make(from, |comm, _, allocate| comm.plan_dup(allocate))?,
            2 => {
                let colors: Vec<Option<i32>> = self.alive[from]
                    .members
                    .iter()
                    .map(|_| [Some(0), Some(0), Some(1), None][self.random(4)])
                    .collect();
                self.make(from, |comm, rank, allocate| {
                    comm.plan_split(colors[rank], -(rank as i32), allocate)
                })?;
            }
            3 if self.alive.len() > 6 => drop(self.alive.swap_remove(from)),
            _ => self.talk()?,
        }
        Ok(())
    }
}

/// A story of some random jobs.
fn story(seed: u64, forgetful: bool) -> Wrong {
    let draw = |n: u64, below: u64| (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (8 * n)) % below;
    let sizes: Vec<u32> = (0..2 + draw(1, 4)).map(|job| 1 + draw(2 + job, 4) as u32).collect();
    let mut meeting = Meeting::new(seed, &sizes, forgetful);
    (0..60).try_for_each(|_| meeting.go_on())
}

/// Two thousand jobs and more.
#[test]
fn no_message_matches_in_a_wrong_context() {
    for seed in 0..700 {
        let outcome = story(seed, false);
        assert!(outcome.is_ok(), "seed {seed}: {outcome:?}");
    }
}

#[test]
fn a_founder_that_does_not_name_its_job_is_found_out() {
    let wrong = (0..30).filter(|seed| {
        std::panic::catch_unwind(|| story(*seed, true)).map_or(true, |outcome| outcome.is_err())
    });
    let wrong = wrong.count();
    assert!(wrong > 4, "only {wrong} of 30 stories went wrong");
}
