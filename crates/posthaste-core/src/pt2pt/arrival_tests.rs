//! What each call does with the message that is next, by its policy.

use super::*;
use posthaste_os::node::Node;

use crate::buffer::OwnedBuf;
use crate::config::Config;
use crate::datatype::Datatype;
use crate::ids::{ANY_SOURCE, ANY_TAG, ContextId};
use crate::method::shm::Shm;
use crate::method::{Load, Route, Routes};
use crate::progress::Vci;
use crate::pt2pt::policy::{MatchedProbe, Probe, Receive, Start};
use crate::pt2pt::{recv, send};
use crate::testing::{Bench, CALM};

/// The message that is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Case {
    Short,
    Synchronous,
    Ready,
    Long,
    /// Longer than its buffer.
    Cut,
    /// Wanted by a receive that is posted.
    Posted,
}

/// The call that looks.
#[derive(Clone, Copy, Debug)]
enum Who {
    Probe,
    MatchedProbe,
    /// Whether it has looked before.
    Receive(bool),
    /// Whether messages are explained.
    Start(bool),
}

/// What a call finds, as a letter, and the messages found too early.
fn found(case: Case, who: Who) -> (char, u64) {
    let mut bench = Bench::new(3, 2, CALM, &Config { eager_limit: 64, ..Config::default() });
    let (len, room) = match case {
        Case::Long => (300, 300),
        Case::Cut => (8, 4),
        _ => (8, 8),
    };
    let (data, into) = (OwnedBuf::new(len), OwnedBuf::new(room));
    let posted = (case == Case::Posted).then(|| bench.recv(1, 0, 5, &into));
    let mode = match case {
        Case::Synchronous => Mode::Synchronous,
        Case::Ready => Mode::Ready,
        _ => Mode::Standard,
    };
    let (context, len) = (ContextId::WORLD, len as u64);
    let envelope = Envelope { context, source: 0, tag: 5, len, mode, types: Types::UNKNOWN };
    let Vci { engine, methods, .. } = &mut bench.vcis[0];
    let segment = Segment::contiguous(data.user_buf(), len);
    send::start(engine, methods, Peer(1), &envelope, segment).unwrap();
    (0..100).for_each(|_| bench.network.tick());
    let Vci { engine, methods, .. } = &mut bench.vcis[1];
    let pattern = Pattern { context, source: 0, tag: 5 };
    let segment = Segment::contiguous(into.user_buf(), room as u64);
    let (from, into) = (Some(Peer(0)), &segment);
    let found = match who {
        Who::Probe => look(engine, methods, from, &pattern, &mut Probe),
        Who::MatchedProbe => look(engine, methods, from, &pattern, &mut MatchedProbe),
        Who::Receive(waited) => look(engine, methods, from, &pattern, &mut Receive { into, waited }),
        Who::Start(explained) => look(engine, methods, from, &pattern, &mut Start { into, explained }),
    };
    let letter = match found.break_value().expect("it has come") {
        Found::Message(status) => {
            assert_eq!((status.source, status.tag, status.bytes), (0, 5, len));
            'm'
        }
        Found::Taken(message) => {
            assert_eq!(message.envelope.len, len);
            'h'
        }
        Found::Served => 's',
        Found::Other => '-',
    };
    let early = engine.counts.get(Counter::EarlyReady);
    if let Some(id) = posted {
        assert_eq!(bench.finish(1, id).bytes, len); // whatever was looked for
    }
    (letter, early)
}

#[test]
fn each_call_takes_what_its_policy_says_and_says_of_ready_mode_what_it_must() {
    use Case::{Cut, Long, Posted, Ready, Short, Synchronous};
    let rows = [
        (Who::Probe, "mmmmm-", 0),
        (Who::MatchedProbe, "hhhhh-", 1),
        (Who::Receive(false), "mmhh--", 1),
        (Who::Receive(true), "mmmh--", 0),
        (Who::Start(false), "mmh--s", 1),
        (Who::Start(true), "--h--s", 1),
    ];
    for (who, expected, early) in rows {
        for (case, letter) in [Short, Synchronous, Ready, Long, Cut, Posted].into_iter().zip(expected.chars())
        {
            let early = if case == Ready { early } else { 0 };
            assert_eq!(found(case, who), (letter, early), "{who:?}, {case:?}");
        }
    }
}

/// Two processes with a way between them: rings, or the simulated network.
fn two(rings: bool) -> [Methods; 2] {
    let config = Config::default();
    if !rings {
        let mut bench = Bench::new(3, 2, CALM, &config);
        return [0, 1].map(|_| bench.vcis.remove(0).methods);
    }
    let node = Node::create(2).expect("memory for two processes");
    [0, 1].map(|me| {
        let ranks = vec![Peer(0), Peer(1)];
        let shm = Shm::new(&node, me, ranks, &config, false).expect("rings for two processes");
        let routes = Routes::new(2, Route::Loopback).with(Peer(1 - me as u32), Route::Shm(1 - me as u32));
        Methods::new(routes, Peer(me as u32)).with(Some(shm))
    })
}

#[test]
fn only_a_message_with_exactly_this_envelope_is_taken_by_its_header() {
    let plain = Pattern { context: ContextId::WORLD, source: 0, tag: 5 }.plain(8);
    let types = Segment::typed(OwnedBuf::new(8).user_buf(), 1, &Datatype::of::<u64>()).types();
    let others = [
        Envelope { context: ContextId::WORLD.collective(), ..plain },
        Envelope { source: 1, ..plain },
        Envelope { source: -1, ..plain },
        Envelope { tag: 4, ..plain },
        Envelope { tag: -1, ..plain },
        Envelope { len: 7, ..plain },
        Envelope { len: 17, ..plain },
        Envelope { mode: Mode::Ready, ..plain },
        Envelope { mode: Mode::Synchronous, ..plain },
        Envelope { types, ..plain },
        Envelope { types: Types { canonical: true, ..Types::UNKNOWN }, ..plain },
    ];
    for rings in [true, false] {
        for (sent, is_taken) in others.map(|other| (other, false)).into_iter().chain([
            (plain, true),
            (Envelope { len: 9, ..plain }, true),
            (Envelope { len: 16, ..plain }, true),
        ]) {
            let [mut from, mut to] = two(rings);
            let (data, into) = (OwnedBuf::new(20), OwnedBuf::new(16));
            let take = |to: &mut Methods| {
                to.take_plain(Peer(0), &plain, 16, |data| {
                    Segment::contiguous(into.user_buf(), 16).unpack(data);
                })
            };
            assert_eq!(to.take_next(Peer(0), |_| true), Next::Nothing);
            assert_eq!(take(&mut to), ControlFlow::Continue(()));
            let emit = match sent.mode {
                Mode::Synchronous => Emit::eager_synchronous(&sent, RequestId { slot: 7, generation: 1 }),
                _ => Emit::eager(&sent),
            };
            let room = from.claim(Peer(1), emit.front().len() + sent.len as usize, Load::Message);
            room.expect("room").write(&emit, Some(&mut Segment::contiguous(data.user_buf(), sent.len)));
            let mut looks = (0..1000).map(|_| take(&mut to));
            let found = looks.find_map(ControlFlow::break_value).expect("it has come");
            assert_eq!(found, is_taken.then_some(sent.len), "{sent:?}, rings: {rings}");
            let next = to.take_next(Peer(0), |packet| {
                assert!(matches!(packet, Packet::Eager { envelope, .. } if *envelope == sent), "{packet:?}");
                true
            });
            let left = if is_taken { Next::Nothing } else { Next::Taken };
            assert_eq!(next, left, "what is not taken stays: {sent:?}, rings: {rings}");
        }
    }
}

/// Posts a receive of so many bytes from process 0, of which is known that it is that.
fn posted(bench: &mut Bench, tag: i32, into: &OwnedBuf) -> RequestId {
    let Vci { engine, methods, .. } = &mut bench.vcis[1];
    let pattern = Pattern { context: ContextId::WORLD, source: 0, tag };
    let segment = Segment::contiguous(into.user_buf(), into.len() as u64);
    recv::start_from(engine, methods, Some(Peer(0)), &pattern, segment).expect("room for a request")
}

/// What a wait for a posted receive finds, when this message is next.
fn waited(bench: &mut Bench, (tag, len, mode): (i32, usize, Mode), id: RequestId) -> ControlFlow<bool> {
    let (data, types) = (OwnedBuf::new(len), Types::UNKNOWN);
    let len = len as u64;
    let envelope = Envelope { context: ContextId::WORLD, source: 0, tag, len, mode, types };
    let Vci { engine, methods, .. } = &mut bench.vcis[0];
    send::start(engine, methods, Peer(1), &envelope, Segment::contiguous(data.user_buf(), len)).unwrap();
    (0..100).for_each(|_| bench.network.tick());
    let Vci { engine, methods, .. } = &mut bench.vcis[1];
    recv::posted_at_once(engine, methods, id, 3)
}

#[test]
fn a_wait_takes_the_message_of_its_receive_and_leaves_what_needs_more() {
    let room = OwnedBuf::new(16);
    let cases = [
        ((5, 16, Mode::Standard), true),
        ((5, 0, Mode::Standard), true),
        ((5, 17, Mode::Standard), false),
        ((5, 16, Mode::Synchronous), false),
        ((5, 16, Mode::Ready), false),
        ((6, 16, Mode::Standard), false),
    ];
    for (message, is_over) in cases {
        let mut bench = Bench::new(3, 2, CALM, &Config::default());
        let id = posted(&mut bench, 5, &room);
        let Vci { engine, methods, .. } = &mut bench.vcis[1];
        assert_eq!(recv::posted_at_once(engine, methods, id, 3), ControlFlow::Continue(()));
        assert_eq!(waited(&mut bench, message, id), ControlFlow::Break(is_over), "{message:?}");
        assert_eq!(bench.vcis[1].engine.matching.has_posted(), !is_over);
        if message.0 != 5 {
            continue;
        }
        let status = bench.finish(1, id);
        assert_eq!((status.source, status.tag, status.bytes), (0, 5, message.1.min(16) as u64));
        assert_eq!(status.error.is_some(), message.1 > 16, "{message:?}");
    }
}

#[test]
fn a_wait_leaves_a_message_that_an_earlier_receive_is_to_have() {
    for (earlier_source, earlier_tag) in [(0, 5), (ANY_SOURCE, 5), (0, ANY_TAG)] {
        let rooms = [OwnedBuf::new(16), OwnedBuf::new(16)];
        let mut bench = Bench::new(3, 2, CALM, &Config::default());
        let earlier = bench.recv(1, earlier_source, earlier_tag, &rooms[0]);
        let later = posted(&mut bench, 5, &rooms[1]);
        let message = (5, 8, Mode::Standard);
        assert_eq!(waited(&mut bench, message, later), ControlFlow::Break(false));
        assert_eq!(bench.finish(1, earlier).bytes, 8);
        assert_eq!(waited(&mut bench, message, later), ControlFlow::Break(true));
        assert_eq!(bench.finish(1, later).bytes, 8);
    }
}

#[test]
fn a_wait_leaves_receives_that_name_no_process_or_no_tag() {
    let room = OwnedBuf::new(16);
    let mut bench = Bench::new(3, 2, CALM, &Config::default());
    let unnamed = bench.recv(1, 0, 5, &room);
    assert_eq!(waited(&mut bench, (5, 8, Mode::Standard), unnamed), ControlFlow::Break(false));
    bench.finish(1, unnamed);
    let any = posted(&mut bench, ANY_TAG, &room);
    assert_eq!(waited(&mut bench, (5, 8, Mode::Standard), any), ControlFlow::Break(false));
    bench.finish(1, any);
}
