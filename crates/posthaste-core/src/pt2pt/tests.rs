//! The protocols in the simulator, against a naive model of what must arrive.

use crate::buffer::OwnedBuf;
use crate::config::{Config, LeavePinned, LongProtocol};
use crate::datatype::Segment;
use crate::error::ErrorClass;
use crate::ids::{ANY_SOURCE, ANY_TAG};
use crate::pt2pt::send::Started;
use crate::testing::{Bench, CALM, ROUGH};

fn filled(len: usize, seed: usize) -> OwnedBuf {
    let mut buf = OwnedBuf::new(len);
    let bytes: Vec<u8> = (0..len).map(|i| (i * 7 + seed * 13) as u8).collect();
    buf.sink().copy_from(&bytes);
    buf
}

/// A receive buffer between guards: the receive gets only `room` of its bytes.
fn guarded(room: usize) -> OwnedBuf {
    let mut buf = OwnedBuf::new(room + 16);
    buf.sink().copy_from(&vec![0xee; room + 16]);
    buf
}

/// Every size around the limits × every long protocol × posted first or later × exact or wildcard ×
/// synchronous or not, in rough weather.
#[test]
fn every_message_arrives_whole_and_in_order() {
    every_message_arrives(12, |seed, config| Bench::new(seed, 3, ROUGH, config));
}

/// A method that is one file and one line of the list, and has only what each must have.
#[test]
fn the_smallest_method_brings_every_message() {
    every_message_arrives(2, |seed, config| Bench::over_mailboxes(seed, 3, config));
    messages_stay_in_order(2, |seed, config| Bench::over_mailboxes(seed, 2, config));
}

fn every_message_arrives(seeds: u64, bench: impl Fn(u64, &Config) -> Bench) {
    for seed in 1..=seeds {
        for long in [LongProtocol::Auto, LongProtocol::Get, LongProtocol::Put] {
            let config = Config { long_protocol: long, eager_limit: 64, ..Config::default() };
            let mut bench = bench(seed, &config);
            let sizes = [0, 1, 40, 63, 64, 65, 92, 93, 100, 101, 1000, 5000];
            let mut sends = Vec::new();
            let mut receives = Vec::new();
            for (n, size) in sizes.iter().enumerate() {
                let (from, to) = (n % 2, 2);
                let (wild, early, synchronous) =
                    (n % 3 == 0, (n + seed as usize).is_multiple_of(2), n % 4 == 1);
                let (source, tag) = if wild { (ANY_SOURCE, n as i32) } else { (from as i32, n as i32) };
                let into = OwnedBuf::new(*size);
                if early {
                    receives.push((n, bench.recv(to, source, tag, &into), into));
                    let data = filled(*size, n);
                    sends.push((from, bench.send(from, to as u32, n as i32, &data, synchronous), data));
                } else {
                    let data = filled(*size, n);
                    sends.push((from, bench.send(from, to as u32, n as i32, &data, synchronous), data));
                    for _ in 0..bench.network.random(200) {
                        bench.step();
                    }
                    receives.push((n, bench.recv(to, source, tag, &into), into));
                }
            }
            for (n, id, into) in &receives {
                let status = bench.finish(2, *id);
                assert!(status.error.is_none(), "seed {seed} {long:?}: {status:?}");
                assert_eq!((status.source, status.tag), ((n % 2) as i32, *n as i32), "seed {seed} {long:?}");
                assert_eq!(status.bytes, sizes[*n] as u64);
                let expected = filled(sizes[*n], *n);
                assert_eq!(
                    into.source().to_vec(),
                    expected.source().to_vec(),
                    "seed {seed} {long:?} message {n}"
                );
            }
            for (from, started, _data) in sends {
                if let Started::Request(id) = started {
                    assert!(bench.finish(from, id).error.is_none());
                }
            }
            assert!(bench.vcis.iter().all(|vci| vci.engine.requests.is_empty()), "seed {seed} {long:?}");
        }
    }
}

/// MPI-5.0 §3.5: messages that fit the same receives do not overtake each other, whatever their sizes.
#[test]
fn messages_do_not_overtake() {
    messages_stay_in_order(20, |seed, config| Bench::new(seed, 2, ROUGH, config));
}

fn messages_stay_in_order(seeds: u64, bench: impl Fn(u64, &Config) -> Bench) {
    for seed in 1..=seeds {
        let config = Config { eager_limit: 64, ..Config::default() };
        let mut bench = bench(seed, &config);
        let sizes: Vec<usize> = (0..40).map(|n| 1 + (n * 37 + seed as usize * 11) % 300).collect();
        let data: Vec<OwnedBuf> = sizes.iter().enumerate().map(|(n, size)| filled(*size, n)).collect();
        let sends: Vec<Started> = data.iter().map(|data| bench.send(0, 1, 5, data, false)).collect();
        for (n, size) in sizes.iter().enumerate() {
            let into = OwnedBuf::new(300);
            let tag = if n % 2 == 0 { ANY_TAG } else { 5 };
            let id = bench.recv(1, if n % 3 == 0 { ANY_SOURCE } else { 0 }, tag, &into);
            let status = bench.finish(1, id);
            assert_eq!(status.bytes, *size as u64, "seed {seed} message {n}");
            assert_eq!(into.source().to_vec()[..*size], data[n].source().to_vec()[..], "seed {seed}");
        }
        for started in sends {
            if let Started::Request(id) = started {
                bench.finish(0, id);
            }
        }
    }
}

/// A network that insists on registration: every way of a long message registers what it touches and lets it go; what is
/// pinned, as the buffer of a persistent request, is registered once.
#[test]
fn memory_is_registered_as_long_as_it_is_touched() {
    let weather = crate::method::sim::Weather { registers: true, ..CALM };
    for long in [LongProtocol::Auto, LongProtocol::Get, LongProtocol::Write, LongProtocol::Pipeline] {
        let (leave_pinned, pipeline_part) = (LeavePinned::Off, 512);
        let config =
            Config { long_protocol: long, eager_limit: 64, leave_pinned, pipeline_part, ..Config::default() };
        let mut bench = Bench::new(5, 2, weather, &config);
        let (data, into) = (filled(10_000, 1), OwnedBuf::new(10_000));
        let segment = |buffer: &OwnedBuf| Segment::contiguous(buffer.user_buf(), 10_000);
        let round = |bench: &mut Bench| {
            let receive = bench.recv(1, 0, 1, &into);
            let started = bench.send(0, 1, 1, &data, false);
            assert!(bench.finish(1, receive).error.is_none());
            if let Started::Request(id) = started {
                assert!(bench.finish(0, id).error.is_none());
            }
            for _ in 0..200 {
                bench.step();
            }
            assert_eq!(into.source().to_vec(), data.source().to_vec());
        };
        round(&mut bench);
        let (there, made) = bench.network.registered();
        assert_eq!((there, bench.network.unregistered()), (0, 0), "{long:?}");
        assert!(made >= 2, "{long:?} registered {made} times");
        let pins = [
            bench.vcis[0].methods.pin(&segment(&data), false),
            bench.vcis[1].methods.pin(&segment(&into), true),
        ];
        for _ in 0..3 {
            round(&mut bench);
        }
        assert_eq!(bench.network.registered(), (2, made + 2), "{long:?}");
        for (vci, pins) in bench.vcis.iter_mut().zip(pins) {
            vci.methods.unpin(pins);
        }
        assert_eq!(bench.network.registered().0, 0, "{long:?}");
    }
}

#[test]
fn a_synchronous_send_ends_only_after_the_match() {
    for size in [0, 8, 64, 65, 1000] {
        for get in [true, false] {
            let weather = crate::method::sim::Weather { get, ..CALM };
            let mut bench = Bench::new(1, 2, weather, &Config { eager_limit: 64, ..Config::default() });
            let data = filled(size, 1);
            let Started::Request(id) = bench.send(0, 1, 1, &data, true) else { panic!("ended at once") };
            for _ in 0..1000 {
                bench.step();
            }
            assert!(bench.take(0, id).is_none(), "{size} bytes: ended without a receive");
            let into = OwnedBuf::new(size);
            let receive = bench.recv(1, 0, 1, &into);
            bench.finish(1, receive);
            bench.finish(0, id);
        }
    }
}

#[test]
fn a_longer_message_is_cut_and_nothing_is_overrun() {
    for long in [LongProtocol::Get, LongProtocol::Put] {
        for (size, room) in [(8, 4), (64, 0), (65, 64), (1000, 10), (1000, 999)] {
            let config = Config { long_protocol: long, eager_limit: 64, ..Config::default() };
            let mut bench = Bench::new(3, 2, ROUGH, &config);
            let data = filled(size, 2);
            let started = bench.send(0, 1, 1, &data, false);
            let into = guarded(room);
            let segment = Segment::contiguous(into.user_buf(), room as u64);
            let id = {
                let crate::progress::Vci { engine, methods, .. } = &mut bench.vcis[1];
                let pattern = super::Pattern { context: crate::ids::ContextId::WORLD, source: 0, tag: 1 };
                super::recv::start(engine, methods, &pattern, segment).unwrap()
            };
            let status = bench.finish(1, id);
            assert_eq!(status.error.unwrap().class(), ErrorClass::Truncate);
            let bytes = into.source().to_vec();
            assert_eq!(bytes[..room], data.source().to_vec()[..room], "{long:?} {size} into {room}");
            assert!(bytes[room..].iter().all(|byte| *byte == 0xee), "{long:?} {size} into {room}: overrun");
            if let Started::Request(id) = started {
                bench.finish(0, id);
            }
            // Both sides are usable afterwards.
            let (again, back) = (filled(9, 3), OwnedBuf::new(9));
            bench.send(0, 1, 2, &again, false);
            let id = bench.recv(1, 0, 2, &back);
            assert_eq!(bench.finish(1, id).bytes, 9);
        }
    }
}

#[test]
fn a_cancelled_receive_ends_and_leaves_the_message_to_the_next() {
    let mut bench = Bench::new(1, 2, CALM, &Config::default());
    let into = OwnedBuf::new(4);
    let id = bench.recv(1, 0, 1, &into);
    super::recv::cancel(&mut bench.vcis[1].engine, id);
    assert!(bench.take(1, id).unwrap().cancelled);
    let data = filled(4, 1);
    bench.send(0, 1, 1, &data, false);
    let next = bench.recv(1, 0, 1, &into);
    assert_eq!(bench.finish(1, next).bytes, 4);
}

#[test]
fn messages_to_ourselves() {
    for size in [0, 10, 5000, 100_000] {
        let mut bench = Bench::new(1, 1, CALM, &Config::default());
        let (data, into) = (filled(size, 4), OwnedBuf::new(size));
        let started = bench.send(0, 0, 1, &data, size == 10);
        let id = bench.recv(0, 0, 1, &into);
        bench.finish(0, id);
        if let Started::Request(id) = started {
            bench.finish(0, id);
        }
        assert_eq!(into.source().to_vec(), data.source().to_vec());
    }
}

/// Packets about a message of two processes, from a third that knows the names of both requests: dropped and counted.
#[test]
fn a_third_process_can_end_nothing() {
    use crate::ids::{Peer, RequestId};
    use crate::trace::Counter;
    use crate::wire::{BufferCursor, Emit, Granted, RemoteMemory, WriteOutcome};
    let count = |bench: &Bench, at: usize| {
        let crate::progress::Vci { engine, methods, .. } = &bench.vcis[at];
        engine.counts.get(Counter::StalePackets) + methods.counts.get(Counter::StalePackets)
    };
    // Thrown at one engine, which looks at them at once while the others stand still.
    let forge = |bench: &mut Bench, at: u32, all: &[Emit]| {
        let before = count(bench, at as usize);
        for emit in all {
            assert!(bench.vcis[2].methods.send(Peer(at), emit));
        }
        (0..20).for_each(|_| _ = bench.vcis[at as usize].progress());
        assert_eq!(count(bench, at as usize) - before, all.len() as u64);
    };
    for (long, len, synchronous) in [
        (LongProtocol::Put, 3000, false),
        (LongProtocol::Put, 3000, true),
        (LongProtocol::Get, 3000, false),
        (LongProtocol::Auto, 10, true),
    ] {
        let config = Config { long_protocol: long, eager_limit: 64, ..Config::default() };
        let mut bench = Bench::new(1, 3, CALM, &config);
        let (data, into) = (filled(len, 3), OwnedBuf::new(len));
        let Started::Request(sender) = bench.send(0, 1, 5, &data, synchronous) else {
            panic!("{long:?}: over at once")
        };
        let cursor = BufferCursor { buffer: 0, persistent: false, start: 0 };
        let to_the_sender = |receiver: RequestId| {
            [
                Emit::ok_to_send(sender, receiver, Granted::Fragments),
                Emit::ok_to_send(
                    sender,
                    receiver,
                    Granted::Memory(RemoteMemory::Address { address: 4096, key: 0 }),
                ),
                Emit::ok_to_send(sender, receiver, Granted::Memory(RemoteMemory::Shared { offset: 4096 })),
                Emit::ok_to_send(sender, receiver, Granted::Windows { until: 4096 }),
                Emit::fin(sender, false),
                Emit::fin(sender, true),
                Emit::sync_ack(sender),
            ]
        };
        forge(&mut bench, 0, &to_the_sender(RequestId { slot: 1, generation: 1 }));
        let receiver = bench.recv(1, 0, 5, &into);
        // The receiver hears of the message and answers; its sender does not look.
        if long == LongProtocol::Put {
            (0..20).for_each(|_| _ = bench.vcis[1].progress());
            let outcomes = [WriteOutcome::Done, WriteOutcome::Unreadable, WriteOutcome::Refused];
            forge(&mut bench, 1, &outcomes.map(|outcome| Emit::written(receiver, outcome)));
            forge(&mut bench, 1, &[Emit::stream(receiver, cursor)]);
            forge(&mut bench, 1, &[Emit::data(receiver, 0), Emit::data(receiver, 2999)]);
        }
        let status = bench.finish(1, receiver);
        assert!(status.error.is_none() && status.bytes == len as u64, "{long:?}: {status:?}");
        assert!(bench.finish(0, sender).error.is_none());
        assert_eq!(into.source().to_vec(), data.source().to_vec());
        assert!(bench.vcis.iter().all(|vci| vci.engine.requests.is_empty()));
    }
}

/// The answer to a message that was asked back counts only when it comes from its receiver.
#[test]
fn a_third_process_does_not_answer_for_the_receiver() {
    use crate::ids::Peer;
    use crate::pt2pt::cancel;
    use crate::trace::Counter;
    use crate::wire::Emit;
    for (long, len, synchronous) in [(LongProtocol::Put, 3000, false), (LongProtocol::Auto, 10, true)] {
        for taken in [false, true] {
            let config = Config { long_protocol: long, eager_limit: 64, ..Config::default() };
            let mut bench = Bench::new(1, 3, CALM, &config);
            let data = filled(len, 3);
            let Started::Request(id) = bench.send(0, 1, 5, &data, synchronous) else {
                panic!("over at once")
            };
            (0..20).for_each(|_| _ = bench.vcis[1].progress());
            let crate::progress::Vci { engine, methods, .. } = &mut bench.vcis[0];
            assert!(cancel::cancel(engine, methods, id));
            assert!(bench.vcis[2].methods.send(Peer(0), &Emit::taken_back(id, taken)));
            (0..20).for_each(|_| _ = bench.vcis[0].progress());
            assert!(bench.take(0, id).is_none(), "{long:?}: ended by a third process");
            assert!(bench.finish(0, id).cancelled, "{long:?}: not cancelled though nobody received it");
            assert_eq!(bench.vcis[0].engine.counts.get(Counter::StalePackets), 1);
        }
    }
}

/// A receive outside the table, a grant nobody asked for: dropped and counted.
#[test]
fn stale_packets_change_nothing() {
    use crate::ids::{ContextId, Peer, RequestId};
    use crate::trace::Counter;
    use crate::wire::{Emit, Envelope, Found, Granted, Mode, Part, RemoteMemory, Seek, Sought, WriteOutcome};
    let mut bench = Bench::new(1, 2, CALM, &Config::default());
    let forged = RequestId { slot: 77, generation: 3 };
    let (context, types) = (ContextId::WORLD, crate::datatype::Types::UNKNOWN);
    let envelope = Envelope { context, source: 0, tag: 1, len: 1 << 60, mode: Mode::Standard, types };
    let part = Part { receiver: forged, offset: 0, len: 8, memory: None };
    let found = |message| Found { serial: 0, place: u64::MAX, message };
    for emit in [
        Emit::ok_to_send(forged, forged, Granted::Memory(RemoteMemory::Address { address: 4096, key: 0 })),
        Emit::window(part),
        Emit::filled(part),
        Emit::written(forged, WriteOutcome::Unreadable),
        Emit::fin(forged, false),
        Emit::sync_ack(forged),
        Emit::data(forged, u64::MAX),
        // These are not counted: they may come late in an honest run.
        Emit::found(&found(None)),
        Emit::found(&found(Some((forged, envelope)))),
        Emit::seek(&Seek { serial: 9, first: u64::MAX, what: Sought::All(u32::MAX - 1) }),
        Emit::seek(&Seek { serial: 9, first: u64::MAX, what: Sought::Next(ContextId(3), -7, -9) }),
        Emit::resume(),
        Emit::take_back(forged),
        Emit::taken_back(forged, true),
    ] {
        assert!(bench.vcis[0].methods.send(Peer(1), &emit));
    }
    for _ in 0..1000 {
        bench.step();
    }
    let vci = &bench.vcis[1];
    let stale = vci.engine.counts.get(Counter::StalePackets) + vci.methods.counts.get(Counter::StalePackets);
    assert_eq!(stale, 7);
    assert!(vci.engine.requests.is_empty());
}
