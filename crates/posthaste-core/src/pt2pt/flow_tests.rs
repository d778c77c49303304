//! When a receiver says that it does not receive, by the clock of the simulated network.

use std::task::Waker;

use super::PATIENCE;
use crate::buffer::OwnedBuf;
use crate::config::Config;
use crate::ids::ContextId;
use crate::progress::Vci;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::probe;
use crate::request::complete;
use crate::testing::{Bench, CALM};

const MESSAGES: usize = 1000;
const LEN: usize = 100;

/// Engine 0 has sent engine 1 more than it keeps.
fn flooded() -> (Bench, OwnedBuf) {
    let config = Config { unexpected_bytes: 2000, ..Config::default() };
    let mut bench = Bench::new(7, 2, CALM, &config);
    let data = OwnedBuf::new(LEN);
    for _ in 0..MESSAGES {
        bench.send(0, 1, 5, &data, false);
    }
    for _ in 0..1000 {
        bench.vcis.iter_mut().for_each(|vci| _ = vci.progress());
    }
    assert!(bench.vcis[1].engine.flow.is_throttling());
    (bench, data)
}

/// Lets time pass, during which the receiver makes progress.
fn pass(bench: &mut Bench, milliseconds: u128) {
    for _ in 0..milliseconds {
        bench.network.tick();
        bench.vcis[1].progress();
    }
}

fn receive(bench: &mut Bench, messages: usize, into: &OwnedBuf) {
    for _ in 0..messages {
        let id = bench.recv(1, 0, 5, into);
        let is_over =
            |bench: &Bench| bench.vcis[1].engine.requests.get(id).is_some_and(complete::is_complete);
        for _ in 0..10_000 {
            if is_over(bench) {
                break;
            }
            bench.vcis.iter_mut().for_each(|vci| _ = vci.progress());
        }
        assert!(is_over(bench));
        bench.vcis[1].engine.requests.remove(id);
    }
}

fn has_reported(bench: &Bench) -> bool {
    bench.vcis[1].engine.flow.reported.contains(&crate::ids::Peer(0))
}

#[test]
fn a_receiver_that_comes_later_says_nothing() {
    let (mut bench, data) = flooded();
    pass(&mut bench, PATIENCE.as_millis() - 1);
    assert!(!has_reported(&bench));
    receive(&mut bench, MESSAGES, &data);
    pass(&mut bench, 2 * PATIENCE.as_millis());
    assert!(!has_reported(&bench) && !bench.vcis[1].engine.flow.is_throttling());
}

#[test]
fn one_that_does_not_receive_says_so_once() {
    let (mut bench, data) = flooded();
    pass(&mut bench, PATIENCE.as_millis());
    assert!(has_reported(&bench));
    receive(&mut bench, MESSAGES, &data);
    assert!(has_reported(&bench) && !bench.vcis[1].engine.flow.is_throttling());
}

#[test]
fn one_that_receives_now_and_then_has_time_again() {
    let (mut bench, data) = flooded();
    pass(&mut bench, PATIENCE.as_millis() - 1);
    // So many that it is within the budget, and so few that the sender is still throttled.
    let over = |bench: &Bench| {
        let engine = &bench.vcis[1].engine;
        engine.matching.unexpected_bytes(crate::ids::Peer(0)) > engine.config.unexpected_bytes
    };
    while over(&bench) {
        receive(&mut bench, 1, &data);
    }
    assert!(bench.vcis[1].engine.flow.is_throttling());
    pass(&mut bench, 2 * PATIENCE.as_millis());
    assert!(!has_reported(&bench));
    receive(&mut bench, MESSAGES / 10, &data);
    pass(&mut bench, PATIENCE.as_millis() - 1);
    assert!(!has_reported(&bench));
}

/// A task that waits for a message which its sender holds back.
#[test]
fn a_task_hears_of_a_message_that_is_held_back() {
    let (mut bench, data) = flooded();
    bench.send(0, 1, 6, &data, false);
    let pattern = Pattern { context: ContextId::WORLD, source: 0, tag: 6 };
    let Vci { engine, methods, .. } = &mut bench.vcis[1];
    assert!(probe::take(engine, methods, &pattern).is_none());
    engine.listeners.listen(None, Waker::noop());
    let is_told = |bench: &Bench| {
        let due = &bench.vcis[1].engine.finished.handlers;
        due.iter().any(|due| matches!(due, complete::Due::Wake(_)))
    };
    for _ in 0..10_000 {
        bench.vcis.iter_mut().for_each(|vci| _ = vci.progress());
        if is_told(&bench) {
            break;
        }
    }
    assert!(is_told(&bench));
    let Vci { engine, methods, .. } = &mut bench.vcis[1];
    assert!(probe::take(engine, methods, &pattern).is_some());
}
