//! Messages in memory of a simulated device: whatever a program can do with them, on either side, in the simulator.

use std::sync::Arc;

use posthaste_os::simulated_device::SimulatedDevice;

use crate::buffer::device::testing::simulated;
use crate::config::{Config, LongProtocol};
use crate::datatype::{ByteOrder, Datatype, Format};
use crate::error::ErrorClass;
use crate::ids::{ContextId, Peer, RequestId};
use crate::progress::Vci;
use crate::pt2pt::persistent::{self, Begun, Message};
use crate::pt2pt::send::Started;
use crate::pt2pt::{Pattern, cancel};
use crate::request::{Request, State, Status};
use crate::testing::{Bench, Buffer, CALM, ROUGH};
use crate::wire::{Envelope, Mode};

fn bytes(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 + seed * 13) as u8).collect()
}

fn filled(len: usize, seed: usize, device: Option<&Arc<SimulatedDevice>>) -> Buffer {
    let mut buffer = Buffer::new(len, device);
    buffer.fill(&bytes(len, seed));
    buffer
}

fn request(started: Started) -> RequestId {
    match started {
        Started::Request(id) => id,
        Started::Complete => panic!("over before the device has copied"),
    }
}

fn config() -> Config {
    Config { eager_limit: 64, ..Config::default() }
}

/// Sizes around the limits × long protocols × kinds of memory × one run or many × posted first or later × synchronous or
/// not × to others and to itself. The bytes between the runs stay, and those behind a message.
#[test]
fn messages_arrive_whatever_memory_they_lie_in() {
    let word = Datatype::of::<u64>();
    let column = Datatype::vector(3, 1, 2, &word).unwrap();
    let column = Datatype::resized(&column, 0, 48).unwrap();
    let mut seed = 0;
    for long in [LongProtocol::Auto, LongProtocol::Get, LongProtocol::Put] {
        for kinds in 1..4 {
            seed += 1;
            let device = simulated(seed, 0);
            let mut bench = Bench::new(seed, 2, ROUGH, &Config { long_protocol: long, ..config() });
            for (n, count) in [0usize, 1, 2, 3, 4, 5, 30, 300].into_iter().enumerate() {
                let (strided_out, strided_in) = (n % 2 == 0, n % 3 == 0);
                let (early, synchronous, to) =
                    (bench.network.random(2) == 0, n % 3 == 1, usize::from(n % 4 != 3));
                let out = filled(count * 48, n, Some(&device).filter(|_| kinds & 1 > 0));
                let into = filled(count * 48 + 96, n + 5, Some(&device).filter(|_| kinds & 2 > 0));
                let (count, datatype) =
                    (count as u64, |strided| if strided { (1, &column) } else { (3, &word) });
                let (each, datatype_out) = datatype(strided_out);
                let segment = out.elements(count * each, datatype_out);
                assert_eq!(segment.is_on_device(), kinds & 1 > 0 && count > 0);
                let (each, datatype_in) = datatype(strided_in);
                let room = into.elements((count + 1) * each, datatype_in);
                let send =
                    |bench: &mut Bench| bench.send_segment(0, to as u32, 1, segment.clone(), synchronous);
                let (receive, started) = match early {
                    true => (bench.recv_segment(to, 0, 1, room), send(&mut bench)),
                    false => {
                        let started = send(&mut bench);
                        (0..bench.network.random(200)).for_each(|_| bench.step());
                        (bench.recv_segment(to, 0, 1, room), started)
                    }
                };
                let status = bench.finish(to, receive);
                let label = format!("{count} columns, {long:?}, kinds {kinds}, seed {seed}");
                assert!(status.error.is_none() && status.bytes == count * 24, "{label}: {status:?}");
                if let Started::Request(id) = started {
                    assert!(bench.finish(0, id).error.is_none(), "{label}");
                }
                let words = |strided: bool, bytes: &[u8]| -> Vec<u8> {
                    let all = bytes.chunks(8).take(count as usize * if strided { 6 } else { 3 });
                    all.step_by(if strided { 2 } else { 1 }).flatten().copied().collect()
                };
                assert_eq!(
                    words(strided_in, &into.bytes()),
                    words(strided_out, &bytes(out.len(), n)),
                    "{label}"
                );
                let behind = count as usize * if strided_in { 48 } else { 24 };
                let before = bytes(into.len(), n + 5);
                assert_eq!(into.bytes()[behind..], before[behind..], "{label}");
                if strided_in {
                    let gaps = |bytes: &[u8]| {
                        bytes.chunks(8).skip(1).step_by(2).flatten().copied().collect::<Vec<_>>()
                    };
                    assert_eq!(gaps(&into.bytes()), gaps(&before), "{label}");
                }
            }
            assert!(bench.vcis.iter().all(|vci| vci.engine.requests.is_empty()));
        }
    }
}

/// Types are checked and converted as if the data lay in memory of the processor.
#[test]
fn types_travel_along() {
    let (word, device) = (Datatype::of::<u32>(), simulated(1, 0));
    let big = Format { order: ByteOrder::Big, ..Format::NATIVE };
    let mut bench = Bench::with_formats(1, &[Format::NATIVE, big], ROUGH, &config());
    let (out, into) = (filled(400, 1, Some(&device)), Buffer::new(400, Some(&device)));
    for count in [4u64, 100] {
        let started = bench.send_segment(0, 1, 1, out.typed(count, &word), false);
        let receive = bench.recv_segment(1, 0, 1, into.typed(count, &word));
        let status = bench.finish(1, receive);
        assert!(status.error.is_none(), "{status:?}");
        assert!(bench.finish(0, request(started)).error.is_none());
        let swapped: Vec<u8> = out.bytes().chunks(4).flat_map(|word| word.iter().rev()).copied().collect();
        assert_eq!(into.bytes()[..count as usize * 4], swapped[..count as usize * 4]);
    }
    let started = bench.send_segment(0, 1, 1, out.typed(4, &word), false);
    let receive = bench.recv_segment(1, 0, 1, into.typed(2, &Datatype::of::<f64>()));
    assert_eq!(bench.finish(1, receive).error.map(|error| error.class()), Some(ErrorClass::Type));
    bench.finish(0, request(started));
}

#[test]
fn a_longer_message_is_cut() {
    let device = simulated(2, 0);
    let mut bench = Bench::new(2, 2, ROUGH, &config());
    for len in [50, 5000] {
        let (out, into) = (filled(len, 1, None), Buffer::new(40, Some(&device)));
        let receive = bench.recv_segment(1, 0, 1, into.elements(30, &Datatype::byte()));
        let started = bench.send_segment(0, 1, 1, out.all(), false);
        let status = bench.finish(1, receive);
        assert_eq!(status.error.map(|error| error.class()), Some(ErrorClass::Truncate));
        assert_eq!((&into.bytes()[..30], &into.bytes()[30..]), (&bytes(30, 1)[..], &[0; 10][..]));
        if let Started::Request(id) = started {
            bench.finish(0, id);
        }
    }
}

/// A send whose copy fails is as if it had never been: what comes behind it goes on. A receive has had its message.
#[test]
fn a_copy_that_fails_ends_its_request_with_a_sentence() {
    let broken = simulated(4, 100);
    let mut bench = Bench::new(4, 2, ROUGH, &config());
    let (out, after, into) = (filled(200, 1, Some(&broken)), filled(200, 2, None), Buffer::new(200, None));
    let failing = bench.send_segment(0, 1, 1, out.all(), false);
    let second = bench.send_segment(0, 1, 1, after.all(), false);
    let receive = bench.recv_segment(1, 0, 1, into.all());
    assert!(bench.finish(1, receive).error.is_none());
    assert_eq!(into.bytes(), after.bytes());
    let address = out.user_buf().address();
    let sentence = |way| {
        format!("the copy of 200 bytes {way} the buffer at {address:#x} on the simulated device failed: ")
    };
    let error = bench.finish(0, request(failing)).error.unwrap().to_string();
    assert!(error.starts_with(&sentence("out of")), "{error}");
    assert!(bench.finish(0, request(second)).error.is_none());

    let receive = bench.recv_segment(1, 0, 1, out.all());
    let started = bench.send_segment(0, 1, 1, after.all(), true);
    let status = bench.finish(1, receive);
    let error = status.error.unwrap().to_string();
    assert!(error.starts_with(&sentence("into")), "{error}");
    assert_eq!((status.bytes, status.tag), (200, 1));
    assert!(bench.finish(0, request(started)).error.is_none());
}

/// A request ends when the device is done with its buffer, not before: also when it is cancelled or its peer is lost.
#[test]
fn the_buffer_is_the_users_again_when_the_device_is_done() {
    for seed in 1..30 {
        let device = simulated(seed, 0);
        let mut bench = Bench::new(seed, 2, CALM, &config());
        let cancels = seed % 2 == 0;
        let (out, into) = (filled(500, 1, Some(&device)), Buffer::new(500, Some(&device)));
        let id = request(bench.send_segment(0, 1, 1, out.all(), false));
        let receive = bench.recv_segment(0, 1, 1, into.all());
        let Vci { engine, methods, .. } = &mut bench.vcis[0];
        if cancels {
            assert!(cancel::cancel(engine, methods, id) && cancel::cancel(engine, methods, id));
            assert!(cancel::cancel(engine, methods, receive));
        } else {
            bench.network.cut(Peer(0), Peer(1));
        }
        let status = loop {
            let under_way = device.under_way();
            if let Some(status) = bench.take(0, id) {
                assert_eq!(under_way, 0, "seed {seed}: over while the device copies");
                break status;
            }
            bench.step();
        };
        let received = bench.finish(0, receive);
        for status in [status, received] {
            assert_eq!(status.cancelled, cancels, "seed {seed}");
            let class = status.error.map(|error| error.class());
            assert_eq!(class, (!cancels).then_some(ErrorClass::ProcAborted), "seed {seed}");
        }
        assert_eq!(into.bytes(), [0; 500]);
        (0..50).for_each(|_| bench.step());
        assert!(!bench.vcis[0].engine.has_pending(), "seed {seed}");
    }
}

#[test]
fn a_persistent_message_is_copied_at_each_start() {
    let device = simulated(6, 0);
    let mut bench = Bench::new(6, 2, ROUGH, &config());
    let (mut out, into) = (Buffer::new(300, Some(&device)), Buffer::new(300, Some(&device)));
    let (context, types, mode) = (ContextId::WORLD, crate::datatype::Types::UNKNOWN, Mode::Standard);
    let envelope = Envelope { context, source: 0, tag: 1, len: 300, mode, types };
    let pattern = Pattern { context, source: 0, tag: 1 };
    let messages = [
        Message::Send { to: Peer(1), envelope, segment: out.all() },
        Message::Recv { from: Some(Peer(0)), pattern, segment: into.all() },
    ];
    let ids: Vec<RequestId> = (0..)
        .zip(messages)
        .map(|(at, message): (usize, _)| {
            let engine = &mut bench.vcis[at].engine;
            let id = engine.requests.insert(Request::new(State::Inactive)).unwrap();
            engine.persistent.insert(id, Some(message));
            id
        })
        .collect();
    for round in 0..4 {
        out.fill(&bytes(300, round));
        for (at, id) in ids.iter().enumerate() {
            let Vci { engine, methods, .. } = &mut bench.vcis[at];
            assert_eq!(persistent::start(engine, methods, *id).unwrap(), Begun::Yes);
        }
        for (at, id) in ids.iter().enumerate() {
            let active = bench.vcis[at].engine.persistent.end(*id).unwrap();
            let Status { error, .. } = bench.finish(at, active);
            assert!(error.is_none());
        }
        assert_eq!(into.bytes(), bytes(300, round));
    }
}
