//! Partitioned operations over the simulated network.

use super::*;
use crate::config::Config;
use crate::datatype::Datatype;
use crate::group::Group;
use crate::method::sim::Weather;
use crate::named::Named;
use crate::progress::Vci;
use crate::pt2pt::contexts::{Membership, Name};
use crate::pt2pt::revoked;
use crate::request::complete::Due;
use crate::testing::{Bench, CALM, ROUGH};
use std::sync::mpsc;

const CHANNEL: ContextId = ContextId(1 << 28 | 12);

fn sending(bench: &mut Bench, data: &OwnedBuf, partitions: u32) -> Sending {
    sending_through(bench, CHANNEL, data, partitions)
}

fn sending_through(bench: &mut Bench, channel: ContextId, data: &OwnedBuf, partitions: u32) -> Sending {
    let whole = Segment::contiguous(data.user_buf(), data.len() as u64);
    let Vci { engine, methods, .. } = &mut bench.vcis[0];
    let parts = Parts::new(whole, partitions);
    let sending = Sending::new(Some(Peer(1)), 0, channel, parts);
    sending.announce(engine, methods, ContextId::WORLD, 7).unwrap();
    sending
}

fn listening(bench: &mut Bench, whole: Segment, partitions: u32) -> (Receiving, mpsc::Receiver<Status>) {
    let (sent, heard) = mpsc::channel();
    let mut receiving = Receiving::new(0, 7, Parts::new(whole, partitions));
    let Vci { engine, methods, .. } = &mut bench.vcis[1];
    let handler = Box::new(move |_, status: &Status| sent.send(status.clone()).unwrap());
    receiving.listen(engine, methods, ContextId::WORLD, handler).unwrap();
    (receiving, heard)
}

/// Takes the status of a start that is over.
fn taken(bench: &mut Bench, at: usize, whole: RequestId) -> Option<Status> {
    let requests = &mut bench.vcis[at].engine.requests;
    requests.get(whole).filter(|request| complete::is_complete(request))?;
    requests.remove(whole).map(|request| request.status)
}

/// One step, and the handler if it is due.
fn step(bench: &mut Bench, receiving: &mut Receiving, heard: &mpsc::Receiver<Status>) {
    bench.step();
    for vci in &mut bench.vcis {
        while let Some(Due::Run(id, handler, status)) = vci.engine.finished.handlers.pop_front() {
            handler(id, &status);
            complete::handled(&mut vci.engine.requests, &mut vci.engine.finished, id);
        }
    }
    if let Ok(status) = heard.try_recv() {
        let Vci { engine, methods, .. } = &mut bench.vcis[1];
        receiving.announced(engine, methods, &status);
    }
}

const WORLD: ContextId = ContextId::WORLD;

/// Two engines that know who is in the world.
fn acquainted(seed: u64, weather: Weather, config: &Config) -> Bench {
    let mut bench = Bench::new(seed, 2, weather, config);
    for (me, vci) in bench.vcis.iter_mut().enumerate() {
        let members = Membership::new(Name::default(), Arc::new(Group::range(0, 2)), me as i32);
        let engine = &mut vci.engine;
        for context in [WORLD, WORLD.partitioned(), WORLD.collective()] {
            engine.contexts.learn(context, members.clone(), &engine.matching, &engine.requests);
        }
    }
    bench
}

/// Whichever end goes first, before the announcement has come or after, with partitions or without.
#[test]
fn ten_thousand_operations_leave_nothing_behind() {
    let mut bench = acquainted(1, CALM, &Config::default());
    let sizes = |bench: &Bench| [0, 1].map(|at: usize| bench.vcis[at].engine.contexts.sizes());
    let before = sizes(&bench);
    let (data, room) = (OwnedBuf::new(8), OwnedBuf::new(8));
    for count in 0..10_000 {
        let channel = ContextId::allocated(0, 0, (count + 3) * ContextId::STEP).unwrap();
        let (mut receiving, heard) = listening(&mut bench, Segment::contiguous(room.user_buf(), 8), 2);
        let mut sending = sending_through(&mut bench, channel, &data, 2);
        if count % 4 == 0 {
            let sent = sending.start(&mut bench.vcis[0].engine).unwrap();
            let Vci { engine, methods, .. } = &mut bench.vcis[0];
            (0..2).for_each(|number| sending.ready(engine, methods, number).unwrap());
            let Vci { engine, methods, .. } = &mut bench.vcis[1];
            let received = receiving.start(engine, methods).unwrap();
            let (mut out, mut into) = (None, None);
            while out.is_none() || into.is_none() {
                step(&mut bench, &mut receiving, &heard);
                out = out.or_else(|| taken(&mut bench, 0, sent));
                into = into.or_else(|| taken(&mut bench, 1, received));
            }
            assert!(into.unwrap().error.is_none());
        }
        for receiver in [count % 3 == 0, count % 3 != 0] {
            let Vci { engine, methods, .. } = &mut bench.vcis[usize::from(receiver)];
            match receiver {
                true => receiving.forget(engine, methods),
                false => sending.forget(engine),
            }
            (0..count % 5 * 8).for_each(|_| step(&mut bench, &mut receiving, &heard));
        }
        while !bench.vcis.iter().all(|vci| vci.engine.requests.is_empty()) {
            step(&mut bench, &mut receiving, &heard);
        }
    }
    assert_eq!(sizes(&bench), before);
    assert!(bench.vcis.iter().all(|vci| vci.engine.matching.depths() == (0, 0)));
}

/// Partitions that were never asked for go with the operation, and those of a revoked communicator that come after it.
#[test]
fn what_comes_for_an_operation_that_is_gone_is_not_kept() {
    for (is_revoked, is_late) in [(false, false), (false, true), (true, true)] {
        let mut bench = acquainted(3, CALM, &Config::default());
        let before = bench.vcis[1].engine.contexts.sizes();
        let (data, room) = (OwnedBuf::new(64), OwnedBuf::new(64));
        let (mut receiving, heard) = listening(&mut bench, Segment::contiguous(room.user_buf(), 64), 4);
        let mut sending = sending(&mut bench, &data, 4);
        while receiving.announced.is_none() {
            step(&mut bench, &mut receiving, &heard);
        }
        sending.start(&mut bench.vcis[0].engine).unwrap();
        let Vci { engine, methods, .. } = &mut bench.vcis[0];
        (0..4).for_each(|number| sending.ready(engine, methods, number).unwrap());
        if is_revoked {
            let Vci { engine, methods, .. } = &mut bench.vcis[1];
            let received = receiving.start(engine, methods).unwrap();
            revoked::revoke(engine, methods, WORLD);
            assert!(taken(&mut bench, 1, received).is_some_and(|status| status.error.is_some()));
        } else if !is_late {
            (0..200).for_each(|_| step(&mut bench, &mut receiving, &heard));
            assert_eq!(bench.vcis[1].engine.matching.depths(), (0, 4));
        }
        let Vci { engine, methods, .. } = &mut bench.vcis[1];
        receiving.forget(engine, methods);
        (0..200).for_each(|_| step(&mut bench, &mut receiving, &heard));
        let engine = &bench.vcis[1].engine;
        assert_eq!(engine.matching.depths(), (0, 0), "revoked: {is_revoked}");
        let stale = engine.counts.get(Counter::StalePackets);
        assert_eq!((stale, engine.contexts.sizes() == before), (4, !is_revoked));
    }
}

/// Both ends of a channel that is revoked with its communicator: what is under way ends, and what is started later.
#[test]
fn a_revoked_communicator_ends_its_partitions() {
    for seed in 1..=20_u64 {
        let mut bench = acquainted(seed, ROUGH, &Config { eager_limit: 64, ..Config::default() });
        let (data, room) = (OwnedBuf::new(8000), OwnedBuf::new(8000));
        let whole = Segment::contiguous(room.user_buf(), 8000);
        let (mut receiving, heard) = listening(&mut bench, whole, 4);
        let mut sending = sending(&mut bench, &data, 4);
        let Vci { engine, methods, .. } = &mut bench.vcis[0];
        let sent = sending.start(engine).unwrap();
        sending.ready(engine, methods, 1).unwrap();
        let Vci { engine, methods, .. } = &mut bench.vcis[1];
        let received = receiving.start(engine, methods).unwrap();
        (0..seed * 5).for_each(|_| step(&mut bench, &mut receiving, &heard));
        let Vci { engine, methods, .. } = &mut bench.vcis[1];
        revoked::revoke(engine, methods, WORLD);
        (0..2000).for_each(|_| step(&mut bench, &mut receiving, &heard));
        let revoked_is = |status: Option<Status>| {
            let why = status.expect("it has ended").error.expect("an error");
            assert_eq!(why.class(), ErrorClass::Revoked, "seed {seed}: {why}");
        };
        revoked_is(taken(&mut bench, 1, received));
        let Vci { engine, methods, .. } = &mut bench.vcis[0];
        for partition in [0, 2, 3] {
            sending.ready(engine, methods, partition).unwrap();
        }
        revoked_is(taken(&mut bench, 0, sent));
        let Vci { engine, methods, .. } = &mut bench.vcis[1];
        let late = receiving.start(engine, methods).unwrap();
        revoked_is(taken(&mut bench, 1, late));
        for Vci { engine, .. } in &bench.vcis {
            assert!(engine.requests.is_empty() && engine.matching.depths() == (0, 0), "seed {seed}");
        }
    }
}

/// Partition counts that divide each other and that do not, short and long partitions, ready in any order,
/// announced early and late, three starts each, into every second double.
#[test]
fn partitions_arrive_one_by_one_whatever_both_sides_count() {
    let doubles = Datatype::vector(1, 1, 2, &Datatype::from(Named::Double)).unwrap();
    let spread = Datatype::resized(&doubles, 0, 16).unwrap();
    for seed in 1..=8u64 {
        for (out, into, len) in [(1, 1, 8), (8, 3, 24 * 40), (3, 8, 24 * 40), (5, 40, 4000), (4, 4, 80_000)] {
            let mut bench = Bench::new(seed, 2, ROUGH, &Config { eager_limit: 64, ..Config::default() });
            let mut data = OwnedBuf::new(len);
            let room = OwnedBuf::new(len * 2);
            let whole = Segment::new(room.user_buf(), len as u64 / 8, &spread);
            let (mut receiving, heard) = listening(&mut bench, whole.clone(), into);
            let mut sending = sending(&mut bench, &data, out);
            for round in 0..3u32 {
                data.sink().copy_from(&(0..len).map(|i| (i as u32 * 7 + round) as u8).collect::<Vec<_>>());
                let sent = sending.start(&mut bench.vcis[0].engine).unwrap();
                let Vci { engine, methods, .. } = &mut bench.vcis[1];
                let received = receiving.start(engine, methods).unwrap();
                for n in 0..out {
                    let number = (n * 7 + seed as u32) % out;
                    let Vci { engine, methods, .. } = &mut bench.vcis[0];
                    sending.ready(engine, methods, number).unwrap();
                    let again = sending.ready(engine, methods, number).unwrap_err();
                    assert_eq!(again.class(), ErrorClass::Arg);
                    // What has been made ready arrives, without the rest.
                    let reached = |receiving: &Receiving, bench: &Bench| {
                        let requests = &bench.vcis[1].engine.requests;
                        (0..into).filter(|own| receiving.has_arrived(requests, *own)).count() as u32
                    };
                    let covered = (0..into)
                        .filter(|own| {
                            let (from, to) = (own * out, (own + 1) * out);
                            (0..out).all(|p| {
                                p * into >= to || (p + 1) * into <= from || sending.ready[p as usize]
                            })
                        })
                        .count() as u32;
                    let mut steps = 0;
                    while reached(&receiving, &bench) < covered {
                        step(&mut bench, &mut receiving, &heard);
                        steps += 1;
                        assert!(steps < 1_000_000, "seed {seed}: {out} to {into}");
                    }
                    assert_eq!(reached(&receiving, &bench), covered);
                }
                let status = loop {
                    if let Some(status) = taken(&mut bench, 1, received) {
                        break status;
                    }
                    step(&mut bench, &mut receiving, &heard);
                };
                assert_eq!((status.source, status.tag, status.bytes), (0, 7, len as u64));
                assert!(status.error.is_none(), "{status:?}");
                while taken(&mut bench, 0, sent).is_none() {
                    step(&mut bench, &mut receiving, &heard);
                }
                assert!(sending.may_be_ready(&bench.vcis[0].engine.requests, 0).is_err());
                let mut got = OwnedBuf::new(len);
                whole.clone().pack(got.sink());
                assert_eq!(got.source().to_vec(), data.source().to_vec(), "seed {seed}: {out} to {into}");
            }
            assert!(bench.vcis.iter().all(|vci| vci.engine.requests.is_empty()), "seed {seed}");
        }
    }
}

#[test]
fn a_longer_message_is_cut_and_a_forged_announcement_fails() {
    let mut bench = Bench::new(1, 2, ROUGH, &Config::default());
    let (data, room) = (OwnedBuf::new(40), OwnedBuf::new(30));
    let whole = Segment::contiguous(room.user_buf(), 30);
    let (mut receiving, heard) = listening(&mut bench, whole.clone(), 3);
    let mut sending = sending(&mut bench, &data, 4);
    sending.start(&mut bench.vcis[0].engine).unwrap();
    let Vci { engine, methods, .. } = &mut bench.vcis[0];
    (0..4).for_each(|n| sending.ready(engine, methods, n).unwrap());
    let Vci { engine, methods, .. } = &mut bench.vcis[1];
    let received = receiving.start(engine, methods).unwrap();
    let status = loop {
        step(&mut bench, &mut receiving, &heard);
        if let Some(status) = taken(&mut bench, 1, received) {
            break status;
        }
    };
    let error = status.error.unwrap();
    assert_eq!(error.class(), ErrorClass::Truncate);
    assert_eq!(error.to_string(), "the message has 40 bytes, the receive buffer has room for 30");

    for words in [[1, 1, 1], [12 | 1 << 48, 1, 1], [12, 1 << 31, 1], [12, 3, u64::MAX]] {
        let (mut forged, _) = listening(&mut bench, whole.clone(), 3);
        let mut memory = OwnedBuf::new(Announcement::LEN);
        memory.sink().copy_from(words.map(u64::to_le_bytes).as_flattened());
        forged.heard = Arc::new(memory);
        let Vci { engine, methods, .. } = &mut bench.vcis[1];
        let whole = forged.start(engine, methods).unwrap();
        forged.announced(engine, methods, &Status { bytes: 24, ..Status::EMPTY });
        let Some(status) = taken(&mut bench, 1, whole) else { panic!("{words:?} is believed") };
        assert_eq!(status.error.unwrap().class(), ErrorClass::Intern);
    }
}
