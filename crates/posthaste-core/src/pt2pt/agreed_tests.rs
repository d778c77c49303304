//! Engines that agree over the simulated network, and that are revoked, while some of them end: at every event of a small job, and
//! anywhere in larger ones, by seeds.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use crate::agreement::{Decision, Message};
use crate::buffer::OwnedBuf;
use crate::buffer::device::testing::simulated;
use crate::config::Config;
use crate::datatype::{Datatype, Segment};
use crate::error::ErrorClass;
use crate::group::Group;
use crate::ids::{ANY_SOURCE, ANY_TAG, ContextId, Peer, RequestId};
use crate::method::sim::Weather;
use crate::progress::Vci;
use crate::pt2pt::agreed::Hears;
use crate::pt2pt::agreed::{self, Purpose};
use crate::pt2pt::contexts::{Membership, Name};
use crate::pt2pt::send::Started;
use crate::pt2pt::{action, loss, recv, revoked};
use crate::request::Status;
use crate::testing::{Bench, Buffer, CALM, ROUGH};
use crate::trace::Counter;
use crate::wire::{SAID, Said};

const WORLD: ContextId = ContextId::WORLD;

/// Engines of which some end.
struct Job {
    bench: Bench,
    ended: BTreeSet<usize>,
    /// Steps so far.
    steps: usize,
    /// Who ends before which step.
    ends: Vec<(usize, usize)>,
}

impl Job {
    fn new(seed: u64, n: usize, weather: Weather, ends: &[(usize, usize)]) -> Self {
        let mut bench = Bench::new(seed, n as u32, weather, &Config::default());
        for me in 0..n {
            know(&mut bench.vcis[me], me, n);
        }
        Self { bench, ended: BTreeSet::new(), steps: 0, ends: ends.to_vec() }
    }

    fn n(&self) -> usize {
        self.bench.vcis.len()
    }

    fn alive(&self) -> Vec<usize> {
        (0..self.n()).filter(|at| !self.ended.contains(at)).collect()
    }

    /// One step of somebody alive; whoever is to end then ends before it.
    fn step(&mut self) {
        let now = self.steps;
        let ends = self.ends.iter().filter(|(_, at)| *at == now).map(|(victim, _)| *victim);
        ends.collect::<Vec<_>>().into_iter().for_each(|victim| self.end(victim));
        self.steps += 1;
        let alive = self.alive();
        let at = alive[self.bench.network.random(alive.len() as u64) as usize];
        self.bench.vcis[at].progress();
        if self.bench.network.random(4) == 0 {
            self.bench.network.tick();
        }
    }

    fn end(&mut self, victim: usize) {
        if self.ended.insert(victim) {
            let others = (0..self.n()).filter(|other| *other != victim);
            others.for_each(|other| self.bench.network.cut(Peer(other as u32), Peer(victim as u32)));
        }
    }

    /// Everybody alive agrees once: each begins at a random time. Gives the decision of all, and how each request ended.
    fn agree(&mut self) -> (Decision, Vec<(usize, Status)>) {
        self.agree_on(WORLD)
    }

    fn agree_on(&mut self, context: ContextId) -> (Decision, Vec<(usize, Status)>) {
        let n = self.n();
        let mut begun: Vec<Option<(RequestId, Arc<OnceLock<Decision>>)>> = vec![None; n];
        let mut over: Vec<Option<Status>> = vec![None; n];
        for _ in 0..400 * n + 40_000 {
            let alive = self.alive();
            if alive.iter().all(|at| over[*at].is_some()) {
                return self.outcome(begun, over);
            }
            let at = alive[self.bench.network.random(alive.len() as u64) as usize];
            match &begun[at] {
                None => {
                    let decision = Arc::new(OnceLock::new());
                    let (flags, purpose) = (!(1 << (at % 31)), Purpose::Whole(decision.clone()));
                    let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
                    let id = agreed::agree(engine, context, flags, [at as u64, 7], purpose).expect("room");
                    action::perform_asked(engine, methods);
                    begun[at] = Some((id, decision));
                }
                Some((id, _)) if over[at].is_none() => over[at] = self.bench.take(at, *id),
                Some(_) => {}
            }
            self.step();
        }
        panic!("no outcome: {over:?}");
    }

    fn outcome(
        &self,
        begun: Vec<Option<(RequestId, Arc<OnceLock<Decision>>)>>,
        over: Vec<Option<Status>>,
    ) -> (Decision, Vec<(usize, Status)>) {
        let decisions: Vec<Decision> = self
            .alive()
            .iter()
            .map(|at| begun[*at].as_ref().expect("begun").1.get().expect("decided").clone())
            .collect();
        assert!(decisions.iter().all(|other| *other == decisions[0]), "two outcomes: {decisions:?}");
        let decision = decisions[0].clone();
        let ended: Vec<u32> = self.ended.iter().map(|at| *at as u32).collect();
        assert!(decision.lost.iter().all(|rank| ended.contains(rank)), "{decision:?} of {ended:?}");
        let all = |ranks: &[usize]| ranks.iter().fold(-1, |all, rank| all & !(1 << (rank % 31)));
        let (most, least) = (all(&self.alive()), all(&(0..self.n()).collect::<Vec<_>>()));
        let flags = decision.common.flags;
        assert!(flags & !most == 0 && least & !flags == 0, "{decision:?}");
        // Whoever is lost by the decision is lost for everybody.
        for at in self.alive() {
            let (failed, _) = self.bench.vcis[at].engine.failed(WORLD);
            assert!(decision.lost.iter().all(|rank| failed.rank_of(Peer(*rank)).is_some()));
        }
        let statuses = over.into_iter().enumerate().filter_map(|(at, status)| Some((at, status?)));
        (decision, statuses.filter(|(at, _)| !self.ended.contains(at)).collect())
    }
}

/// The engine knows the members of the world.
fn know(vci: &mut Vci, me: usize, n: usize) {
    know_as(WORLD, vci, me, n);
}

/// It knows the same members by another communicator.
fn know_as(context: ContextId, vci: &mut Vci, me: usize, n: usize) -> Arc<Membership> {
    let members = Membership::new(Name::default(), Arc::new(Group::range(0, n as u32)), me as i32);
    members.set_crowded(n % 2 == 1);
    let Vci { engine, methods, .. } = vci;
    for context in [context, context.collective(), context.partitioned()] {
        engine.contexts.learn(context, members.clone(), &engine.matching, &engine.requests);
    }
    revoked::joined(engine, methods, context);
    action::perform_asked(engine, methods);
    members
}

/// Runs a story, and says what it was if it fails.
fn told<T>(about: &str, story: impl FnOnce() -> T + std::panic::UnwindSafe) -> T {
    std::panic::catch_unwind(story).unwrap_or_else(|_| panic!("{about}"))
}

#[test]
fn all_that_are_alive_agree_whoever_ends_before_whichever_step() {
    for n in [4, 5] {
        let mut calm = Job::new(1, n, CALM, &[]);
        let (decision, _) = calm.agree();
        assert!(decision.lost.is_empty() && decision.common.acknowledged, "{decision:?}");
        let steps = calm.steps;
        for (victim, at) in (0..n).flat_map(|victim| (0..steps).map(move |at| (victim, at))) {
            for second in [None, Some(0), Some(5)] {
                let after = second.map(|after| ((victim + 1) % n, at + after));
                let ends: Vec<(usize, usize)> = std::iter::once((victim, at)).chain(after).collect();
                told(&format!("{n} engines, ends {ends:?}"), || {
                    let mut job = Job::new(1, n, CALM, &ends);
                    job.agree();
                    job.agree();
                });
            }
        }
    }
}

#[test]
fn many_agree_whoever_ends() {
    for seed in 0..80_u64 {
        let draw = |n: u64, below: usize| (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> n) as usize % below;
        let n = if seed % 20 == 7 { 64 } else { 2 + draw(7, 18) };
        let weather = if seed % 2 == 0 { ROUGH } else { CALM };
        let ends: Vec<(usize, usize)> = (0..draw(3, n))
            .map(|victim| ((victim * 7 + draw(11, n)) % n, draw(victim as u64 % 40, 60 * n)))
            .collect();
        told(&format!("seed {seed}: {n} engines, ends {ends:?}"), || {
            let mut job = Job::new(seed, n, weather, &ends[..ends.len().min(n - 1)]);
            (0..3).for_each(|_| _ = job.agree());
        });
    }
}

#[test]
fn who_is_acknowledged_by_everybody_is_no_error() {
    let mut job = Job::new(5, 4, ROUGH, &[]);
    job.end(2);
    let (decision, statuses) = job.agree();
    assert!(!decision.common.acknowledged && decision.lost == [2] && statuses.len() == 3);
    for (round, at) in [0, 1, 3].into_iter().enumerate() {
        let Vci { engine, methods, .. } = &mut job.bench.vcis[at];
        assert_eq!(loss::acknowledge(engine, methods, WORLD, 9), 1);
        let (decision, _) = job.agree();
        assert_eq!(decision.common.acknowledged, round == 2, "one that has not is enough");
    }
}

/// What somebody says of a communicator that this process does not know yet waits until it does.
#[test]
fn an_early_contribution_is_kept() {
    let mut job = Job::new(3, 2, CALM, &[]);
    let unknown = ContextId::allocated(0, 0, ContextId::FIRST_COUNT).expect("a small count");
    let members = |own| Membership::new(Name::default(), Arc::new(Group::range(0, 2)), own);
    let mut ids = Vec::new();
    for at in [1, 0] {
        let Vci { engine, methods, .. } = &mut job.bench.vcis[at];
        let context = unknown.collective();
        engine.contexts.learn(context, members(at as i32), &engine.matching, &engine.requests);
        revoked::joined(engine, methods, unknown);
        let purpose = Purpose::Whole(Arc::default());
        ids.push((at, agreed::agree(engine, unknown, 1, [0; 2], purpose).expect("room")));
        (0..200).for_each(|_| job.step());
    }
    assert!(ids.iter().all(|(at, id)| job.bench.take(*at, *id).is_some_and(|status| status.error.is_none())));
}

/// More words than a packet carries end the message that they belong to; the next one is understood.
#[test]
fn nothing_is_left_of_a_message_with_a_packet_that_is_too_long() {
    let mut job = Job::new(8, 2, CALM, &[]);
    let engine = &mut job.bench.vcis[0].engine;
    let mut hear = |words: &[u32], rest: usize| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let said = Said { context: WORLD, serial: 1, rest: rest as u64, words: bytes[..].into() };
        agreed::arrived(engine, Peer(1), &said);
        (engine.counts.get(Counter::MalformedPackets), engine.agreements.kept())
    };
    assert_eq!(hear(&[0; SAID], 2 * SAID + 1), (0, (0, 0)));
    assert_eq!(hear(&[0; SAID + 1], SAID + 1), (1, (0, 0)));
    let mut words = Vec::new();
    Message::Lost(Vec::new()).put_words(&mut words);
    assert_eq!(hear(&words, words.len()), (1, (1, 0)), "the engine has heard of an agreement");
}

/// What was agreed on on communicators that were freed is forgotten, and what comes late of it does no harm, whoever ends meanwhile.
#[test]
fn a_freed_communicator_keeps_no_agreement() {
    const ROUNDS: u32 = 12;
    for seed in 0..60_u64 {
        let draw = |n: u64, below: usize| (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> n) as usize % below;
        let n = 2 + draw(7, 6);
        let weather = if seed % 2 == 0 { ROUGH } else { CALM };
        let end = (draw(13, n), draw(3, 40 * n * ROUNDS as usize));
        let ends: &[(usize, usize)] = if seed % 3 == 0 { &[] } else { &[end] };
        told(&format!("seed {seed}: {n} engines, ends {ends:?}"), || {
            let mut job = Job::new(seed, n, weather, ends);
            for round in 0..ROUNDS {
                let count = ContextId::FIRST_COUNT + round * ContextId::STEP;
                let context = ContextId::allocated(0, 0, count).expect("a small count");
                let mut members = Vec::new();
                for at in job.alive() {
                    members.push(know_as(context, &mut job.bench.vcis[at], at, n));
                    (0..job.bench.network.random(20)).for_each(|_| job.step());
                }
                for _ in 0..job.bench.network.random(3) {
                    job.agree_on(context);
                }
                members.iter().for_each(|members| members.free());
            }
            for at in job.alive() {
                let context = ContextId::allocated(1, 0, ContextId::FIRST_COUNT).expect("a small count");
                know_as(context, &mut job.bench.vcis[at], at, n);
            }
            (0..4000 * n).for_each(|_| job.step());
            for at in job.alive() {
                let (communicators, early) = job.bench.vcis[at].engine.agreements.kept();
                assert_eq!((communicators, early), (0, 0), "at {at}");
            }
        });
    }
}

/// One engine revokes and may end in the middle of saying so: if anybody alive has heard of it, all do, and nothing hangs.
#[test]
fn a_revoked_communicator_ends_what_waits_in_it() {
    for seed in 0..60 {
        let (n, weather) = (2 + seed as usize % 7, if seed % 2 == 0 { ROUGH } else { CALM });
        told(&format!("seed {seed}, {n} engines"), || {
            let mut job = Job::new(seed, n, weather, &[]);
            let buffers: Vec<[OwnedBuf; 3]> = (0..n).map(|_| [100, 5000, 100].map(OwnedBuf::new)).collect();
            let mut ids = Vec::new();
            for (at, [into, long, any]) in buffers.iter().enumerate() {
                ids.push((at, job.bench.recv(at, ((at + 1) % n) as i32, 3, into)));
                ids.push((at, job.bench.recv(at, ANY_SOURCE, 4, any)));
                let to = ((at + n - 1) % n) as u32;
                if let Started::Request(id) = job.bench.send(at, to, 5, long, true) {
                    ids.push((at, id));
                }
            }
            (0..seed as usize % 50).for_each(|_| job.step());
            let revoker = seed as usize % n;
            let Vci { engine, methods, .. } = &mut job.bench.vcis[revoker];
            revoked::revoke(engine, methods, WORLD);
            if seed % 3 == 0 && n > 2 {
                job.end(revoker);
            }
            (0..2000 * n).for_each(|_| job.step());
            let knows = |at: &usize| job.bench.vcis[*at].engine.contexts.is_revoked(WORLD);
            let known = job.alive().iter().filter(|at| knows(at)).count();
            assert!(known == 0 || known == job.alive().len(), "{known} know");
            assert!(known > 0 || job.ended.contains(&revoker));
            if known > 0 {
                check_ended(&mut job, &ids);
            }
        });
    }
}

fn check_ended(job: &mut Job, ids: &[(usize, RequestId)]) {
    for (at, id) in ids.iter().filter(|(at, _)| !job.ended.contains(at)) {
        let status = job.bench.take(*at, *id).expect("it has ended");
        let class = status.error.expect("an error").class();
        assert!(matches!(class, ErrorClass::Revoked | ErrorClass::ProcAborted), "{class:?}");
    }
    for at in job.alive() {
        let into = OwnedBuf::new(8);
        let late = job.bench.recv(at, ANY_SOURCE, ANY_TAG, &into);
        let why = job.bench.take(at, late).and_then(|status| status.error).expect("an error at once");
        assert_eq!(why.class(), ErrorClass::Revoked);
        assert!(job.bench.vcis[at].engine.requests.is_empty());
    }
}

/// A receive from anybody ends when somebody is lost, and goes on when that is acknowledged: with a message that came meanwhile,
/// or one that comes later.
#[test]
fn a_receive_from_anybody_goes_on() {
    for comes_meanwhile in [true, false] {
        let mut job = Job::new(4, 3, CALM, &[]);
        let (data, into) = (OwnedBuf::new(20), OwnedBuf::new(20));
        let any = job.bench.recv(0, ANY_SOURCE, 3, &into);
        job.end(2);
        (0..200).for_each(|_| job.step());
        assert!(recv::is_halted(&job.bench.vcis[0].engine, any));
        if comes_meanwhile {
            job.bench.send(1, 0, 3, &data, false);
            (0..200).for_each(|_| job.step());
        }
        let Vci { engine, methods, .. } = &mut job.bench.vcis[0];
        assert_eq!(loss::acknowledge(engine, methods, WORLD, 1), 1);
        if !comes_meanwhile {
            assert!(job.bench.take(0, any).is_none(), "it waits again");
            job.bench.send(1, 0, 3, &data, false);
            (0..200).for_each(|_| job.step());
        }
        let status = job.bench.take(0, any).expect("a message has come");
        assert!(status.error.is_none() && status.source == 1 && status.bytes == 20);
        // Those that are posted later do not fail either, a receive from the lost one does.
        let later = job.bench.recv(0, ANY_SOURCE, 3, &into);
        assert!(job.bench.take(0, later).is_none());
        let from_it = job.bench.recv(0, 2, 3, &into);
        assert!(job.bench.take(0, from_it).is_some_and(|status| status.error.is_some()));
    }
}

/// Receives from anybody that have ended keep their places: messages come to them in the order in which they were posted, before
/// the loss is acknowledged or behind that, short and long ones, into memory of either kind.
#[test]
fn receives_from_anybody_keep_their_places() {
    let device = simulated(7, 0);
    for (len, on_device, acknowledges) in [
        (20, false, false),
        (20, false, true),
        (5000, false, false),
        (5000, false, true),
        (20, true, true),
        (20, true, false),
        (5000, true, true),
    ] {
        let mut job = Job::new(9, 3, CALM, &[]);
        let data: Vec<OwnedBuf> = (1..4)
            .map(|byte| {
                let mut data = OwnedBuf::new(len);
                data.sink().copy_from(&vec![byte; len]);
                data
            })
            .collect();
        let into: Vec<Buffer> = (0..4).map(|_| Buffer::new(len, on_device.then_some(&device))).collect();
        let mut ids: Vec<RequestId> =
            (0..2).map(|at| job.bench.recv_segment(0, ANY_SOURCE, 3, into[at].all())).collect();
        let given_up = job.bench.recv_segment(0, ANY_SOURCE, 3, into[3].all());
        job.end(2);
        (0..200).for_each(|_| job.step());
        assert!(ids.iter().all(|id| recv::is_halted(&job.bench.vcis[0].engine, *id)));
        assert!(job.bench.take(0, given_up).is_some_and(|status| status.error.is_some()));
        ids.push(job.bench.recv_segment(0, 1, 3, into[2].all()));
        if acknowledges {
            let Vci { engine, methods, .. } = &mut job.bench.vcis[0];
            assert_eq!(loss::acknowledge(engine, methods, WORLD, 1), 1);
        }
        data.iter().for_each(|data| _ = job.bench.send(1, 0, 3, data, false));
        (0..2000).for_each(|_| job.step());
        for (at, id) in ids.into_iter().enumerate() {
            let status = job.bench.take(0, id).expect("its message has come");
            assert!(status.error.is_none(), "{status:?}");
            assert_eq!(into[at].bytes(), data[at].source().to_vec(), "{at}: {len} bytes");
        }
        let engine = &job.bench.vcis[0].engine;
        assert!(engine.requests.is_empty() && engine.matching.depths() == (0, 0));
    }
}

/// The bits come to the caller's buffer.
#[test]
fn bits_are_agreed_on_in_place() {
    let mut job = Job::new(6, 3, CALM, &[]);
    let mut buffers: Vec<OwnedBuf> = (0..3).map(|_| OwnedBuf::new(4)).collect();
    let mut ids = Vec::new();
    for (at, buffer) in buffers.iter_mut().enumerate() {
        let flags = [7_i32, 5, 13][at];
        buffer.sink().copy_from(&flags.to_ne_bytes());
        let segment = Segment::new(buffer.user_buf(), 4, &Datatype::byte());
        let engine = &mut job.bench.vcis[at].engine;
        let (flags, purpose) = (Hears::All.contributes(flags), Purpose::Flags(segment, Hears::All));
        ids.push(agreed::agree(engine, WORLD, flags, [0; 2], purpose).expect("room"));
    }
    (0..500).for_each(|_| job.step());
    for (at, (id, buffer)) in ids.into_iter().zip(&buffers).enumerate() {
        assert!(job.bench.take(at, id).is_some_and(|status| status.error.is_none()));
        assert_eq!(buffer.source().to_vec(), 5_i32.to_ne_bytes());
    }
}

/// Members of an intercommunicator hear of the bits of the other group, and where they make something of those of all.
#[test]
fn each_group_hears_of_the_bits_of_the_other_one() {
    let (first, second) = (Hears::Second, Hears::First);
    for [a, b, c] in [[7, 5, -3], [-1, i32::MIN, i32::MAX], [0, -1, 1]] {
        let common = first.contributes(a) & first.contributes(b) & second.contributes(c);
        assert_eq!((first.of(common), second.of(common), Hears::All.of(common)), (c, a & b, a & b & c));
        let all = [a, b, c].map(|flags| Hears::All.contributes(flags)).iter().fold(-1, |all, own| all & own);
        assert_eq!(Hears::All.of(all), a & b & c);
    }
}
