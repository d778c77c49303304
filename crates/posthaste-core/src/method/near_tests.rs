//! Processes of two jobs in one process: what they say to each other goes through a segment, in order, also what is said last.

use std::sync::Arc;
use std::time::{Duration, Instant};

use posthaste_os::copying::Copying;
use posthaste_os::socket::Set;

use super::*;
use crate::datatype::{Format, Types};
use crate::ids::ContextId;
use crate::jobs::JobId;
use crate::method::tcp::{Pass, Shelf, Tcp, TcpSetup};
use crate::method::{Methods, Route, Routes};
use crate::wire::{Emit, Envelope, Mode};

const PEER: Peer = Peer(1);

/// Two jobs of one process each, on one host, which have met.
fn pair() -> [Methods; 2] {
    let config = Config { tcp_interfaces: "lo".into(), ..Config::default() };
    let name = |of: u64| ProcessName { job: JobId(of + 10), rank: 0 };
    let mut both: [Methods; 2] = std::array::from_fn(|_| {
        let node = Node::create(1).unwrap();
        node.set_pid(0, std::process::id());
        let setup =
            TcpSetup { me: Peer(0), peers: 1, secret: [1; 32], format: Format::NATIVE, node: "here".into() };
        let (mut tcp, _) = Tcp::new(setup, &config, Box::new(Shelf::default())).unwrap();
        tcp.shares_memory_on(7, Some(Copying::default()));
        let doorbell = Doorbell::new(&node, 0).watching(Arc::new(Set::new().unwrap())).unwrap();
        let near = Near::new(Peer(0), doorbell, &config, false);
        Methods::new(Routes::new(1, Route::Loopback), Peer(0)).with(Some(tcp)).with(Some(near))
    });
    for at in 0..2 {
        let card = both[1 - at].tcp().unwrap().own_card().clone();
        let peer = both[at].join(Route::Tcp);
        assert_eq!(peer, PEER);
        let (own, name) = (name(at as u64), name(1 - at as u64));
        both[at].tcp().unwrap().welcome(own, peer, name, Pass { label: 3, secret: [3; 32] }, card);
    }
    both
}

fn message(tag: i32) -> Emit {
    let (mode, types) = (Mode::Standard, Types::UNKNOWN);
    Emit::eager(&Envelope { context: ContextId::WORLD, source: 0, tag, len: 0, mode, types })
}

/// Polls; the tags of what has come, -1 for a loss, and -2 for that of a peer that may live.
fn hear(methods: &mut Methods) -> Vec<i32> {
    let mut heard = Vec::new();
    methods.poll(|event, _| match event {
        Event::Packet(PEER, Packet::Eager { envelope, .. }) => heard.push(envelope.tag),
        Event::PeerDown(PEER, _) => heard.push(-1),
        Event::PeerGone(PEER, _) => heard.push(-2),
        other => panic!("{other:?}"),
    });
    heard
}

/// Polls both until `done`.
fn until(both: &mut [Methods; 2], mut done: impl FnMut(&mut [Methods; 2]) -> bool) {
    let began = Instant::now();
    while !done(both) {
        assert!(began.elapsed() < Duration::from_secs(20), "it does not come to that");
    }
}

fn say(both: &mut [Methods; 2], from: usize, tag: i32) -> Vec<i32> {
    let mut heard = Vec::new();
    until(both, |both| {
        let said = both[from].send(PEER, &message(tag));
        if !said {
            heard.extend(hear(&mut both[1 - from]));
            assert_eq!(hear(&mut both[from]), []);
        }
        said
    });
    heard
}

#[test]
fn what_two_jobs_say_to_each_other_goes_through_a_segment_in_order() {
    for first in 0..2 {
        let mut both = pair();
        let mut heard = Vec::new();
        for tag in 0..2000 {
            heard.extend(say(&mut both, first, tag));
        }
        let all = (0..2000).collect::<Vec<_>>();
        until(&mut both, |both| {
            heard.extend(hear(&mut both[1 - first]));
            heard.len() >= all.len()
        });
        assert_eq!(heard, all);
        assert!(both.iter().all(|methods| matches!(methods.route(PEER), Route::Near(0))));
    }
}

#[test]
fn what_a_process_says_last_comes_before_its_end() {
    let mut both = pair();
    say(&mut both, 0, 0);
    until(&mut both, |both| hear(&mut both[1]) == [0]);
    (1..100).for_each(|tag| assert_eq!(say(&mut both, 0, tag), []));
    both[0].begin_leaving();
    let mut heard = Vec::new();
    until(&mut both, |both| {
        // Only the sockets are looked at first.
        both[1].look_at_sockets();
        heard.extend(hear(&mut both[1]));
        heard.last() == Some(&-1)
    });
    assert_eq!(heard, (1..100).chain([-1]).collect::<Vec<_>>());
    assert!(!both[1].exclude(PEER), "it has finalised");
    assert!(both[1].route(PEER) == Route::Tcp && hear(&mut both[1]).is_empty(), "the pair is there still");
}

#[test]
fn who_loses_the_connection_to_a_peer_that_lives_does_not_take_its_memory_for_its_own() {
    let mut both = pair();
    say(&mut both, 0, 0);
    until(&mut both, |both| hear(&mut both[1]) == [0]);
    both[0].tcp().unwrap().exclude(PEER);
    until(&mut both, |both| {
        both[1].look_at_sockets();
        hear(&mut both[1]) == [-2]
    });
    assert!(both[1].exclude(PEER), "it lives, and is in this process");
}

#[test]
fn who_has_parted_shares_nothing_and_may_meet_again() {
    let mut both = pair();
    say(&mut both, 1, 0);
    until(&mut both, |both| hear(&mut both[0]) == [0]);
    both.iter_mut().for_each(|methods| methods.forget_peers(&[PEER]));
    assert!(both.iter().all(|methods| methods.route(PEER) == Route::Tcp));
}
