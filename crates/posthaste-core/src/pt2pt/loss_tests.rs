//! A peer that is lost in the middle of everything, in the simulator and over TCP: each request that concerns it ends with
//! an error that names it, everything else goes on.

use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::config::Config;
use crate::datatype::{Datatype, Format, Segment};
use crate::error::ErrorClass;
use crate::group::Group;
use crate::ids::{ANY_SOURCE, ANY_TAG, ContextId, Peer, RequestId};
use crate::progress::Vci;
use crate::pt2pt::contexts::{Membership, Name};
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::send::Started;
use crate::pt2pt::{recv, send};
use crate::testing::{Bench, CALM, ROUGH};
use crate::wire::{Envelope, Mode};

/// Three engines, of which the last is going to be lost for the first.
struct Loss {
    bench: Bench,
    over_tcp: bool,
}

impl Loss {
    fn all(config: &Config) -> Vec<Self> {
        let tcp = Bench::over_tcp(7, &[Format::NATIVE; 3], config);
        let mut all = vec![Self { bench: tcp, over_tcp: true }];
        for (seed, weather) in [(7, CALM), (8, ROUGH), (9, ROUGH)] {
            all.push(Self { bench: Bench::new(seed, 3, weather, config), over_tcp: false });
        }
        for seed in 10..13 {
            let bench = Bench::over_links(seed, &[Format::NATIVE; 3], &[ROUGH, CALM], config);
            all.push(Self { bench, over_tcp: false });
        }
        all
    }

    /// Engine 2 is gone.
    fn lose(&mut self) {
        if self.over_tcp {
            self.bench.vcis.pop();
        } else {
            for network in std::iter::once(&self.bench.network).chain(&self.bench.others) {
                network.cut(Peer(0), Peer(2));
                network.cut(Peer(1), Peer(2));
            }
        }
    }

    fn steps(&mut self, n: usize) {
        (0..n).for_each(|_| self.bench.step());
    }

    fn request(&mut self, from: usize, to: u32, data: &OwnedBuf, synchronous: bool) -> RequestId {
        match self.bench.send(from, to, 5, data, synchronous) {
            Started::Request(id) => id,
            Started::Complete => panic!("it is over at once"),
        }
    }

    /// The request fails with a sentence about rank 2.
    fn fails(&mut self, at: usize, id: RequestId) {
        let error = self.bench.finish(at, id).error.expect("an error");
        assert_eq!(error.class(), ErrorClass::ProcAborted, "{error}");
        assert!(error.to_string().contains("rank 2 of the world"), "{error}");
    }

    /// Nothing waits to leave engine 0, soon: where there are several links, others have to say that they have it.
    fn drains(&mut self) {
        let is_drained = |vci: &Vci| !vci.engine.has_pending() && vci.methods.is_drained();
        for _ in 0..10_000 {
            if is_drained(&self.bench.vcis[0]) {
                return;
            }
            self.bench.step();
        }
        panic!("something waits");
    }

    /// A message from engine 1 to engine 0 arrives.
    fn others_go_on(&mut self) {
        let (out, into) = (OwnedBuf::new(5000), OwnedBuf::new(5000));
        let id = self.bench.recv(0, 1, 9, &into);
        let started = self.bench.send(1, 0, 9, &out, true);
        assert!(self.bench.finish(0, id).error.is_none());
        if let Started::Request(id) = started {
            assert!(self.bench.finish(1, id).error.is_none());
        }
    }
}

fn config() -> Config {
    Config { eager_limit: 64, tcp_eager_limit: 64, ..Config::default() }
}

#[test]
fn everything_that_concerns_a_lost_peer_ends() {
    for mut loss in Loss::all(&config()) {
        let (short, long) = (OwnedBuf::new(10), OwnedBuf::new(100_000));
        let into: Vec<OwnedBuf> = (0..4).map(|_| OwnedBuf::new(100_000)).collect();
        loss.others_go_on();
        // Here already, and nobody has received it.
        loss.bench.send(2, 0, 1, &short, false);
        loss.bench.send(2, 0, 2, &long, false);
        while loss.bench.vcis[0].engine.matching.depths().1 < 2 {
            loss.bench.step();
        }
        let asked = loss.request(0, 2, &long, false);
        let unmatched = loss.request(0, 2, &short, true);
        let from_it = loss.bench.recv(0, 2, 7, &into[0]);
        let from_any = loss.bench.recv(0, ANY_SOURCE, 8, &into[1]);
        let from_other = loss.bench.recv(0, 1, 9, &into[2]);
        loss.steps(50);
        loss.lose();
        for id in [asked, unmatched, from_it, from_any] {
            loss.fails(0, id);
        }
        assert!(loss.bench.take(0, from_other).is_none(), "nothing is wrong with rank 1");
        let sent = loss.bench.send(1, 0, 9, &short, false);
        assert!(loss.bench.finish(0, from_other).error.is_none());
        if let Started::Request(id) = sent {
            loss.bench.finish(1, id);
        }
        // What came whole is received; what was only asked for cannot be had any more.
        let kept = loss.bench.recv(0, 2, 1, &into[0]);
        let status = loss.bench.finish(0, kept);
        assert!(status.error.is_none() && status.bytes == 10);
        let offered = loss.bench.recv(0, 2, 2, &into[0]);
        loss.fails(0, offered);
        later_operations_fail(&mut loss);
        loss.others_go_on();
        loss.drains();
        assert!(loss.bench.vcis[0].engine.requests.is_empty());
        assert!(!loss.bench.vcis[0].engine.has_pending_work(), "the fast paths are as before");
    }
}

/// Ranks are those of the communicator, also of one that is freed while its receives wait.
#[test]
fn receives_are_ended_by_the_process_behind_their_rank() {
    for mut loss in Loss::all(&config()) {
        let into: Vec<OwnedBuf> = (0..4).map(|_| OwnedBuf::new(10)).collect();
        // They have spoken, or nobody would notice.
        let hello = loss.bench.recv(0, 2, 1, &into[3]);
        loss.bench.send(2, 0, 1, &into[3], false);
        loss.bench.finish(0, hello);
        let context = ContextId::allocated(0, 0, ContextId::FIRST_COUNT).unwrap();
        let Vci { engine, methods, .. } = &mut loss.bench.vcis[0];
        let group = Group::of(vec![Peer(2), Peer(0), Peer(1)]);
        let membership = Membership::new(Name::default(), Arc::new(group), 1);
        engine.contexts.learn(context, membership.clone(), &engine.matching, &engine.requests);
        let mut receive = |source: i32, into: &OwnedBuf| {
            let segment = Segment::new(into.user_buf(), 10, &Datatype::byte());
            let pattern = Pattern { context, source, tag: ANY_TAG };
            recv::start(engine, methods, &pattern, segment).unwrap()
        };
        let [lost, other, any] =
            [(0, &into[0]), (2, &into[1]), (ANY_SOURCE, &into[2])].map(|(s, b)| receive(s, b));
        membership.free();
        loss.steps(20);
        loss.lose();
        loss.fails(0, lost);
        loss.fails(0, any);
        loss.steps(200);
        assert!(loss.bench.take(0, other).is_none(), "rank 2 there is rank 1 of the world");
    }
}

fn later_operations_fail(loss: &mut Loss) {
    let buffer = OwnedBuf::new(100);
    for (mode, len) in [(Mode::Standard, 1), (Mode::Synchronous, 1), (Mode::Standard, 100)] {
        let segment = Segment::new(buffer.user_buf(), len, &Datatype::byte());
        let types = segment.types();
        let envelope = Envelope { context: ContextId::WORLD, source: 0, tag: 3, len, mode, types };
        let Vci { engine, methods, .. } = &mut loss.bench.vcis[0];
        let error = send::start(engine, methods, Peer(2), &envelope, segment).unwrap_err();
        assert!(error.to_string().contains("rank 2 of the world"), "{error}");
    }
    for source in [2, ANY_SOURCE] {
        let late = loss.bench.recv(0, source, ANY_TAG, &buffer);
        loss.fails(0, late);
    }
}

/// The connection breaks while long messages are on their way in both directions.
#[test]
fn a_loss_in_the_middle_of_long_messages_ends_both() {
    for after in [0, 3, 10, 30, 100, 300] {
        for mut loss in Loss::all(&config()) {
            let (out, into) = (OwnedBuf::new(30_000_000), OwnedBuf::new(30_000_000));
            let receive = loss.bench.recv(0, 2, 5, &into);
            loss.bench.recv(2, 0, 5, &into);
            let send = loss.request(0, 2, &out, false);
            loss.request(2, 0, &out, false);
            loss.steps(after);
            loss.lose();
            // What was over before stays so.
            for id in [send, receive] {
                let ended = loss.bench.finish(0, id);
                assert!(ended.error.is_none_or(|why| why.to_string().contains("rank 2 of the world")));
            }
            loss.others_go_on();
            loss.drains();
        }
    }
}

/// A peer that is throttled is lost: the books are in order afterwards.
#[test]
fn a_peer_that_floods_is_lost() {
    for mut loss in Loss::all(&Config { unexpected_bytes: 600, ..config() }) {
        let (data, into) = (OwnedBuf::new(50), OwnedBuf::new(50));
        for _ in 0..30 {
            loss.bench.send(2, 0, 1, &data, false);
        }
        while !loss.bench.vcis[0].engine.flow.is_throttling() {
            loss.bench.step();
        }
        let behind = loss.bench.recv(0, 2, 77, &into);
        loss.steps(20);
        loss.lose();
        loss.fails(0, behind);
        assert!(!loss.bench.vcis[0].engine.flow.is_throttling());
        loss.others_go_on();
    }
}
