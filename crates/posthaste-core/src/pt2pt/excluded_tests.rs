//! An engine that lives and is taken for lost, because others have lost it: in the simulator, in the middle of long messages of
//! each protocol, on a network whose links break then, and between processes that reach each other's memory all the same.

use std::sync::{Arc, OnceLock};

use crate::agreement::Decision;
use crate::buffer::OwnedBuf;
use crate::config::{Config, LongProtocol};
use crate::error::{Error, ErrorClass};
use crate::group::Group;
use crate::ids::{ContextId, Peer, RequestId};
use crate::method::mailbox::{Mailbox, PostOffice};
use crate::method::{Methods, Route, Routes};
use crate::progress::Vci;
use crate::pt2pt::action;
use crate::pt2pt::agreed::{self, Purpose};
use crate::pt2pt::contexts::{Membership, Name};
use crate::pt2pt::loss;
use crate::pt2pt::send::Started;
use crate::request::State;
use crate::testing::{Bench, CALM, ROUGH};

const WORLD: ContextId = ContextId::WORLD;
const LONG: usize = 20_000;
const PROTOCOLS: [LongProtocol; 4] =
    [LongProtocol::Auto, LongProtocol::Get, LongProtocol::Write, LongProtocol::Put];

/// Engines 0, 1 and 2. The way between 1 and 2 breaks, and no other.
struct Story {
    bench: Bench,
}

impl Story {
    fn new(seed: u64, protocol: LongProtocol, is_one_host: bool) -> Self {
        let weather = if seed.is_multiple_of(2) { ROUGH } else { CALM };
        let config = Config { eager_limit: 64, long_protocol: protocol, ..Config::default() };
        let mut bench = Bench::new(seed, 3, weather, &config);
        if is_one_host {
            bench.network.is_one_host();
        }
        for (me, vci) in bench.vcis.iter_mut().enumerate() {
            let members = Membership::new(Name::default(), Arc::new(Group::range(0, 3)), me as i32);
            let engine = &mut vci.engine;
            for context in [WORLD, WORLD.collective()] {
                engine.contexts.learn(context, members.clone(), &engine.matching, &engine.requests);
            }
        }
        Self { bench }
    }

    fn agree(&mut self, at: usize) -> (RequestId, Arc<OnceLock<Decision>>) {
        let decision = Arc::new(OnceLock::new());
        let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
        let id = agreed::agree(engine, WORLD, 1, [0; 2], Purpose::Whole(decision.clone())).expect("room");
        action::perform_asked(engine, methods);
        (id, decision)
    }

    /// The way between 1 and 2 breaks, and 1 has noticed.
    fn cut(&mut self) {
        self.bench.network.cut(Peer(1), Peer(2));
        while self.bench.vcis[1].engine.losses.is_empty() {
            self.bench.step();
        }
    }

    fn steps(&mut self, n: usize) {
        (0..n).for_each(|_| self.bench.step());
    }

    fn send(&mut self, from: usize, to: u32, data: &OwnedBuf) -> Option<RequestId> {
        match self.bench.send(from, to, 5, data, false) {
            Started::Request(id) => Some(id),
            Started::Complete => None,
        }
    }
}

fn filled(byte: u8) -> OwnedBuf {
    let mut buffer = OwnedBuf::new(LONG);
    buffer.sink().copy_from(&[byte; LONG]);
    buffer
}

/// A buffer is the user's again when its request has ended, whatever the excluded engine has under way; and everything ends.
#[test]
fn nothing_is_written_after_the_end_of_its_request() {
    for seed in 0..200_u64 {
        let (protocol, is_one_host) = (PROTOCOLS[seed as usize % 4], seed % 3 == 0);
        println!("seed {seed}, {protocol:?}, on one host: {is_one_host}");
        let mut story = Story::new(seed, protocol, is_one_host);
        let (mut into, data, theirs) = (filled(0), filled(2), filled(3));
        let receive = story.bench.recv(0, 2, 5, &into);
        let sent = story.send(2, 0, &theirs);
        let back = filled(0);
        let received = story.bench.recv(2, 0, 5, &back);
        let send = story.send(0, 2, &data);
        story.steps(seed as usize * 7 % 150);
        story.cut();
        let agreed: Vec<_> = (0..3).map(|at| story.agree(at)).collect();
        let status = story.bench.finish(0, receive);
        if let Some(why) = &status.error {
            assert_eq!(why.class(), ErrorClass::ProcAborted, "{why}");
            assert!(why.to_string().contains("rank 2 of the world"), "{why}");
        }
        into.sink().copy_from(&[9; LONG]);
        if let Some(send) = send {
            story.bench.finish(0, send);
        }
        for (at, (id, decision)) in agreed.iter().enumerate() {
            assert!(story.bench.finish(at, *id).error.is_none());
            let lost = &decision.get().expect("decided").lost;
            // Each of the two says that the other is lost; who says it first is believed.
            assert!(!lost.is_empty() && !lost.contains(&(at as u32)), "{at} says that {lost:?} are lost");
        }
        // Who is excluded hears of it, so what it waits for ends as well.
        story.bench.finish(2, received);
        if let Some(sent) = sent {
            story.bench.finish(2, sent);
        }
        story.steps(3000);
        assert_eq!(into.source().to_vec(), [9; LONG], "somebody has written into it");
        for vci in &story.bench.vcis {
            assert!(vci.engine.requests.is_empty() && !vci.engine.has_pending() && vci.methods.is_drained());
        }
    }
}

/// What an engine has announced that is excluded is met by no receive.
#[test]
fn what_was_announced_is_forgotten() {
    for is_one_host in [false, true] {
        let mut story = Story::new(5, LongProtocol::Get, is_one_host);
        let theirs = filled(3);
        let sent = story.send(2, 0, &theirs).expect("it is long");
        while story.bench.vcis[0].engine.matching.depths().1 < 1 {
            story.bench.step();
        }
        story.cut();
        let agreed: Vec<_> = (0..3).map(|at| story.agree(at)).collect();
        for (at, (id, _)) in agreed.iter().enumerate() {
            story.bench.finish(at, *id);
        }
        assert_eq!(story.bench.vcis[0].engine.matching.depths().1, 0);
        assert!(story.bench.finish(2, sent).error.is_some());
        // A decision that says it once more is no news.
        let again: Vec<_> = (0..2).map(|at| story.agree(at)).collect();
        for (at, (id, _)) in again.iter().enumerate() {
            assert!(story.bench.finish(at, *id).error.is_none());
        }
    }
}

/// The network may be writing into a buffer when its peer is lost, however that is heard of: the receive ends when it has come back,
/// and so does what the method reads by itself for a window; the rest ends at once.
#[test]
fn a_receive_that_the_network_writes_into_waits_for_it() {
    let office = PostOffice::default();
    let config = Config { eager_limit: 64, ..Config::default() };
    let mut bench = Bench::over_mailboxes(1, 2, &config);
    for (me, vci) in (0..).zip(&mut bench.vcis) {
        let routes = Routes::new(2, Route::Mailbox).with(Peer(me), Route::Loopback);
        vci.methods = Methods::new(routes, Peer(me)).with(Some(Mailbox::new(Peer(me), office.clone())));
    }
    let [into, data, other] = [(); 3].map(|()| filled(1));
    let begun = bench.recv(0, 1, 5, &into);
    let posted = bench.recv(0, 1, 6, &other);
    bench.send(1, 0, 5, &data, false);
    let is_begun = |bench: &Bench| {
        let request = bench.vcis[0].engine.requests.get(begun).expect("under way");
        matches!(request.state, State::Receiving { .. })
    };
    while !is_begun(&bench) {
        bench.vcis[0].progress();
    }
    let lose = |bench: &mut Bench| {
        let Vci { engine, methods, .. } = &mut bench.vcis[0];
        let why = Error::other(ErrorClass::ProcAborted, "its connection broke");
        loss::lose(engine, methods, Peer(1), why, false);
    };
    office.lock().unwrap().moving.insert((Peer(0), Peer(1)));
    lose(&mut bench);
    let status = bench.take(0, posted).expect("nothing of it has come");
    assert_eq!(status.error.expect("of a lost peer").class(), ErrorClass::ProcAborted);
    assert!(bench.take(0, begun).is_none(), "the network is in its buffer");
    lose(&mut bench);
    assert!(bench.take(0, begun).is_none(), "it still is");
    office.lock().unwrap().moving.clear();
    lose(&mut bench);
    let status = bench.take(0, begun).expect("the network is done");
    assert_eq!(status.error.expect("of a lost peer").class(), ErrorClass::ProcAborted);
}
