//! Long messages in ready mode: their receives are posted, so they leave without asking where others have to ask.

use crate::pair::{Pair, Way};
use posthaste_core::buffer::Base;
use posthaste_core::config::Config;
use posthaste_core::datatype::{Segment, Types};
use posthaste_core::ids::{ContextId, Peer};
use posthaste_core::progress::Vci;
use posthaste_core::pt2pt::send::{self, Started};
use posthaste_core::trace::Counter;
use posthaste_core::wire::{Envelope, Mode};

const LEN: usize = 400_000;
const MESSAGES: usize = 5;

/// Sends some messages at once, their receives posted before or after; the order of receives, if after, is from last to
/// first. How many of them had to ask.
fn asked(mode: Mode, posted: bool) -> u64 {
    let config = Config::default();
    let mut pair =
        Pair::new(1, Way::SharedMemory { oversubscribed: false, ranks: 2, heap: false, own: 0 }, &config);
    let out: Vec<Vec<u8>> = (0..MESSAGES).map(|n| vec![n as u8 + 1; LEN]).collect();
    let mut into: Vec<Vec<u8>> = (0..MESSAGES).map(|_| vec![0; LEN]).collect();
    let mut receive = |pair: &mut Pair, n: usize| {
        // SAFETY: as long as the message, and there until all messages are.
        let base = unsafe { Base::new(into[n].as_mut_ptr()) };
        pair.recv(1, 0, n as i32, Segment::bytes_at(base, LEN as u64))
    };
    let early: Vec<_> = (0..MESSAGES).filter(|_| posted).map(|n| receive(&mut pair, n)).collect();
    let sends: Vec<_> = (0..MESSAGES)
        .map(|n| {
            let (context, tag, len, types) = (ContextId::WORLD, n as i32, LEN as u64, Types::UNKNOWN);
            let envelope = Envelope { context, source: 0, tag, len, mode, types };
            let Vci { engine, methods, .. } = &mut pair.vcis[0];
            // SAFETY: as long as the message, only read, and there until all messages are.
            let segment = Segment::bytes_at(unsafe { Base::new(out[n].as_ptr().cast_mut()) }, len);
            let Started::Request(id) = send::start(engine, methods, Peer(1), &envelope, segment).unwrap()
            else {
                panic!("a long message is over at once")
            };
            id
        })
        .collect();
    for _ in 0..1000 {
        pair.step();
    }
    if posted {
        early.into_iter().for_each(|id| drop(pair.finish(1, id)));
    } else {
        for n in (0..MESSAGES).rev() {
            let id = receive(&mut pair, n);
            pair.finish(1, id);
        }
    }
    sends.into_iter().for_each(|id| drop(pair.finish(0, id)));
    assert!(into == out, "{mode:?}");
    pair.counted(Counter::PutShm)
}

#[test]
fn they_do_not_ask_and_early_ones_arrive_all_the_same() {
    assert_eq!(asked(Mode::Standard, true), MESSAGES as u64 - 1);
    assert_eq!(asked(Mode::Ready, true), 0);
    for mode in [Mode::Standard, Mode::Ready] {
        asked(mode, false);
    }
}
