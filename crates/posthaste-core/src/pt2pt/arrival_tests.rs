//! What each call does with the message that is next, by its policy.

use super::*;
use crate::buffer::OwnedBuf;
use crate::config::Config;
use crate::ids::ContextId;
use crate::progress::Vci;
use crate::pt2pt::send;
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

/// What a call finds, as a letter, and the messages found too early.
fn found(case: Case, wish: impl FnOnce(&mut Segment) -> Wish<'_>, policy: Policy) -> (char, u64) {
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
    let mut segment = Segment::contiguous(into.user_buf(), room as u64);
    let found = look(engine, methods, Some(Peer(0)), &pattern, wish(&mut segment), policy);
    let letter = match found.break_value().expect("it has come") {
        Found::Message(status) => {
            assert_eq!((status.source, status.tag, status.bytes), (0, 5, len));
            'm'
        }
        Found::Held(held) => {
            assert_eq!(held.envelope.len, len);
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

/// How a call looks: its wish, and whether its policy has an early message.
type Row = (&'static str, fn(&mut Segment) -> Wish<'_>, Policy, &'static str, u64);

#[test]
fn each_call_takes_what_its_policy_says_and_says_of_ready_mode_what_it_must() {
    use Case::{Cut, Long, Posted, Ready, Short, Synchronous};
    let rows: [Row; 6] = [
        ("a probe", |_| Wish::Hear, Policy::PROBE, "mmmmm-", 0),
        ("a matched probe", |_| Wish::Take, Policy::MATCHED_PROBE, "hhhhh-", 1),
        ("a receive", |segment| Wish::Receive(segment), Policy::blocking(false), "mmhh--", 1),
        ("a receive that waits", |segment| Wish::Receive(segment), Policy::blocking(true), "mmmh--", 0),
        ("the start of a receive", |segment| Wish::Receive(segment), Policy::start(true), "mmh--s", 1),
        ("an explained one", |segment| Wish::Receive(segment), Policy::start(false), "--h--s", 1),
    ];
    for (who, wish, policy, expected, early) in rows {
        for (case, letter) in [Short, Synchronous, Ready, Long, Cut, Posted].into_iter().zip(expected.chars())
        {
            let early = if case == Ready { early } else { 0 };
            assert_eq!(found(case, wish, policy), (letter, early), "{who}, {case:?}");
        }
    }
}
