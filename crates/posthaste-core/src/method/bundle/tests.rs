//! Several links in the simulator: links that delay and refuse by themselves overtake each other, and are cut at any time;
//! what was sent arrives whole, once and in order.

use crate::buffer::OwnedBuf;
use crate::config::Config;
use crate::datatype::{Datatype, Format, Segment};
use crate::error::ErrorClass;
use crate::ids::{ANY_TAG, Peer, RequestId};
use crate::method::sim::{Network, Weather};
use crate::named::Named;
use crate::pt2pt::send::Started;
use crate::testing::{Bench, CALM, ROUGH};
use crate::trace::Counter;

fn config() -> Config {
    Config { eager_limit: 64, tcp_eager_limit: 64, stripe_limit: 400, ..Config::default() }
}

/// Rough weather, with room for what a bundle adds to a packet.
const WIND: Weather = Weather { packet: 160, ..ROUGH };
/// The same with long delays.
const STORM: Weather = Weather { delay: 60, ..WIND };

fn filled(len: usize, seed: u64) -> OwnedBuf {
    let mut buf = OwnedBuf::new(len);
    let bytes: Vec<u8> = (0..len).map(|i| (i as u64 * 7 + seed * 13 + (i >> 8) as u64) as u8).collect();
    buf.sink().copy_from(&bytes);
    buf
}

/// A message under way, both sides of it.
struct Message {
    data: OwnedBuf,
    into: OwnedBuf,
    started: Option<Started>,
    receive: Option<RequestId>,
}

/// A run with one seed: engine 0 and 1 send each other messages of all sizes with one tag, so that nothing but their order
/// tells them apart, and links are cut in between.
struct Run {
    seed: u64,
    bench: Bench,
    /// By sender.
    messages: [Vec<Message>; 2],
}

impl Run {
    fn new(seed: u64, weathers: &[Weather], formats: &[Format; 2]) -> Self {
        let bench = Bench::over_links(seed, formats, weathers, &config());
        Self { seed, bench, messages: [Vec::new(), Vec::new()] }
    }

    fn random(&self, n: u64) -> u64 {
        self.bench.network.random(n)
    }

    fn nets(&self) -> Vec<Network> {
        std::iter::once(&self.bench.network).chain(&self.bench.others).cloned().collect()
    }

    /// So many messages each way, started at random times.
    fn plan(&mut self, n: usize) {
        for from in 0..2 {
            for _ in 0..n {
                let len = match self.random(4) {
                    0 => self.random(64) as usize,
                    1 => 60 + self.random(8) as usize,
                    2 => self.random(2000) as usize,
                    _ => self.random(8000) as usize,
                };
                let data = filled(len, self.random(1000));
                let message = Message { data, into: OwnedBuf::new(len), started: None, receive: None };
                self.messages[from].push(message);
            }
        }
    }

    /// Starts the next send or receive of one engine, if there is one left.
    fn start(&mut self, from: usize, receives: bool) {
        let messages = &mut self.messages[from];
        if receives {
            let Some(next) = messages.iter_mut().find(|message| message.receive.is_none()) else { return };
            next.receive = Some(self.bench.recv(1 - from, from as i32, ANY_TAG, &next.into));
        } else {
            let synchronous = self.bench.network.random(4) == 0;
            let Some(next) = messages.iter_mut().find(|message| message.started.is_none()) else { return };
            next.started = Some(self.bench.send(from, 1 - from as u32, 5, &next.data, synchronous));
        }
    }

    fn is_started(&self) -> bool {
        self.messages.iter().flatten().all(|message| message.started.is_some() && message.receive.is_some())
    }

    /// Everything is started and ends well, and every byte is where it belongs.
    fn finish(mut self) -> Self {
        while !self.is_started() {
            let (from, receives) = (self.random(2) as usize, self.random(2) == 0);
            self.start(from, receives);
            self.steps(20);
        }
        for from in 0..2 {
            for n in 0..self.messages[from].len() {
                let message = &self.messages[from][n];
                let (receive, sent) = (message.receive.unwrap(), message.started.as_ref());
                let sent = match sent {
                    Some(Started::Request(id)) => Some(*id),
                    _ => None,
                };
                let what = format!("seed {} message {n} from {from}", self.seed);
                let status = self.bench.finish(1 - from, receive);
                assert!(status.error.is_none(), "{what}: {status:?}");
                let message = &self.messages[from][n];
                assert_eq!(status.bytes, message.data.len() as u64, "{what}");
                assert!(message.into.source().to_vec() == message.data.source().to_vec(), "{what}");
                if let Some(id) = sent {
                    assert!(self.bench.finish(from, id).error.is_none(), "{what}");
                }
            }
        }
        self
    }

    fn steps(&mut self, most: u64) {
        for _ in 0..self.random(most) {
            self.bench.step();
        }
    }

    /// Cuts a link, if it is not the last one.
    fn cut(&mut self, at: &mut Vec<Network>) {
        if at.len() > 1 {
            let net = at.remove(self.random(at.len() as u64) as usize);
            net.cut(Peer(0), Peer(1));
        }
    }

    fn count(&self, counter: Counter) -> u64 {
        self.bench
            .vcis
            .iter()
            .map(|vci| vci.engine.counts.get(counter) + vci.methods.counts.get(counter))
            .sum()
    }

    /// Nothing is stored any more.
    fn drains(&mut self) {
        for _ in 0..100_000 {
            if self.bench.vcis.iter().all(|vci| vci.methods.is_drained() && vci.methods.is_quiet()) {
                return;
            }
            self.bench.step();
        }
        panic!("seed {}: something is stored", self.seed);
    }
}

#[test]
fn links_that_overtake_each_other_keep_the_order_of_messages() {
    for seed in 1..=20 {
        let weathers = [&[WIND, STORM][..], &[STORM, CALM], &[WIND, WIND, STORM, CALM]][seed as usize % 3];
        let mut run = Run::new(seed, weathers, &[Format::NATIVE; 2]);
        run.plan(15);
        let mut run = run.finish();
        run.drains();
        assert_eq!(run.count(Counter::LinksDown), 0);
        let by_link = [Counter::Link1Bytes, Counter::Link2Bytes].map(|link| run.count(link));
        assert!(by_link.iter().all(|bytes| *bytes > 0), "seed {seed}: {by_link:?}");
    }
}

#[test]
fn nothing_is_lost_with_a_link() {
    let mut resent = [0, 0];
    for seed in 1..=60 {
        let weathers = [&[WIND, STORM][..], &[CALM, CALM], &[STORM, WIND, WIND]][seed as usize % 3];
        let mut run = Run::new(seed, weathers, &[Format::NATIVE; 2]);
        run.plan(12);
        let mut nets = run.nets();
        for _ in 0..run.random(60) {
            let (from, receives) = (run.random(2) as usize, run.random(2) == 0);
            run.start(from, receives);
            run.steps(60);
        }
        run.cut(&mut nets);
        run.steps(400);
        if seed % 2 == 0 {
            run.cut(&mut nets);
        }
        let mut run = run.finish();
        run.drains();
        assert!(run.count(Counter::LinksDown) > 0, "seed {seed}");
        assert_eq!(run.count(Counter::PeersDown), 0, "seed {seed}");
        resent[0] += run.count(Counter::Resent);
        resent[1] += run.count(Counter::ResentBytes);
    }
    assert!(resent.iter().all(|n| *n > 50), "the cuts came when nothing was under way: {resent:?}");
}

/// A network that swallows everything and says nothing: the other side says over the other link that it is there.
#[test]
fn a_link_that_falls_silent_is_noticed() {
    for seed in 1..=10 {
        let config = Config { tcp_dead_s: 2, ..config() };
        let bench = Bench::over_links(seed, &[Format::NATIVE; 2], &[WIND, STORM], &config);
        let mut run = Run { seed, bench, messages: [Vec::new(), Vec::new()] };
        run.plan(10);
        for _ in 0..run.random(60) {
            let (from, receives) = (run.random(2) as usize, run.random(2) == 0);
            run.start(from, receives);
            run.steps(60);
        }
        run.nets()[seed as usize % 2].silence(Peer(0), Peer(1));
        let mut run = run.finish();
        run.drains();
        assert_eq!((run.count(Counter::LinksDown), run.count(Counter::PeersDown)), (2, 0), "seed {seed}");
    }
}

/// Parts are cut anywhere, also inside of an element that has to be converted.
#[test]
fn data_in_pieces_between_unlike_formats_survives_a_cut() {
    for seed in 1..=20 {
        let mut run = Run::new(seed, &[WIND, STORM], &[Format::NATIVE, Format::NATIVE.swapped()]);
        let count = 1000;
        let mut data = OwnedBuf::new(2 * 4 * count);
        data.sink().copy_from(
            &(0..count as u32).flat_map(|n| [n.to_le_bytes(), [0; 4]].concat()).collect::<Vec<u8>>(),
        );
        let into = OwnedBuf::new(4 * count);
        let int = Datatype::from(Named::Int);
        let spread = Datatype::vector(count as i64, 1, 2, &int).unwrap();
        let receive = run.bench.recv_segment(1, 0, 1, Segment::typed(into.user_buf(), count as u64, &int));
        let started = run.bench.send_segment(0, 1, 1, Segment::typed(data.user_buf(), 1, &spread), false);
        run.steps(1000);
        run.cut(&mut run.nets());
        assert!(run.bench.finish(1, receive).error.is_none(), "seed {seed}");
        if let Started::Request(id) = started {
            run.bench.finish(0, id);
        }
        // What the other side has is in the other order.
        let expected: Vec<u8> = (0..count as u32).flat_map(u32::to_be_bytes).collect();
        assert!(into.source().to_vec() == expected, "seed {seed}");
    }
}

#[test]
fn a_peer_is_lost_with_its_last_link_and_named_with_all_of_them() {
    for seed in 1..=20 {
        let mut run = Run::new(seed, &[WIND, STORM], &[Format::NATIVE; 2]);
        let into = OwnedBuf::new(20_000);
        let (data, waiting) = (filled(20_000, seed), run.bench.recv(1, 0, 9, &into));
        run.bench.send(0, 1, 5, &data, false);
        run.steps(500);
        for net in run.nets() {
            net.cut(Peer(0), Peer(1));
            run.steps(50);
        }
        let error = run.bench.finish(1, waiting).error.expect("an error");
        assert_eq!(error.class(), ErrorClass::ProcAborted);
        let text = error.to_string();
        let front = "rank 0 of the world is lost on every link: net0: ";
        assert!(text.starts_with(front) && text.contains("; net1: "), "{text}");
        run.steps(200);
        assert_eq!(run.bench.vcis[1].engine.counts.get(Counter::PeersDown), 1);
    }
}

/// A short message costs no part, and one below the limit goes over one link.
#[test]
fn messages_below_the_limit_are_not_split() {
    let weather = Weather { packet: 4096, window: 1 << 20, ..CALM };
    let mut run = Run::new(3, &[weather, weather], &[Format::NATIVE; 2]);
    for (len, both) in [(399, false), (100_000, true)] {
        let before = [Counter::Link1Bytes, Counter::Link2Bytes].map(|link| run.count(link));
        let (data, into) = (filled(len, 1), OwnedBuf::new(len));
        let receive = run.bench.recv(1, 0, 5, &into);
        run.bench.send(0, 1, 5, &data, false);
        run.bench.finish(1, receive);
        run.drains();
        let after = [Counter::Link1Bytes, Counter::Link2Bytes].map(|link| run.count(link));
        let second = after[1] - before[1];
        assert!(if both { second > len as u64 / 3 } else { second == 0 }, "{before:?} {after:?}");
    }
}
