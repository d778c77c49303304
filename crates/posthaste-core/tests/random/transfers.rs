//! Messages of random types between two engines, over every method and protocol: each byte of both memories must be
//! what the type map says, guards included.
//!
//! Types differ on both sides, packets and pieces end at any byte of an element, receives are posted before or after
//! the message came and may be too short, addresses are relative or absolute (MPI-5.0 §3.3.1, §5.1.11, §5.1.12).

use crate::oracle::{Arena, Outcome, Recipe, counts, noise, recipe, sized};
use crate::pair::{Pair, Way, is_there};
use posthaste_core::config::{Config, LeavePinned, LongProtocol};
use posthaste_core::datatype::Segment;
use posthaste_core::error::ErrorClass;
use posthaste_core::ids::ANY_SOURCE;
use posthaste_core::method::sim::Weather;
use posthaste_core::named::Named;
use posthaste_core::pt2pt::send::Started;
use posthaste_core::request::Status;
use posthaste_core::trace::Counter;
use proptest::prelude::*;
use proptest::test_runner::{Config as Run, TestRunner};
use std::cell::Cell;

const BYTE: Recipe = Recipe::Builtin(Named::Byte);

/// Bytes of a message at most: hundreds of packets.
const SMALL: u64 = 10_000;
/// Several rounds of a bounce buffer, and more runs than one direct copy takes.
const LARGE: u64 = 400_000;

/// The types of both sides.
#[derive(Clone, Debug)]
enum Types {
    /// The same.
    Alike(Recipe, u64),
    /// A type into plain bytes: so many thousandths of the message's length.
    Gathered(Recipe, u64, u64),
    /// Plain bytes into a type.
    Scattered(Recipe, u64, u64),
    /// Any two, of any lengths.
    Any((Recipe, u64), (Recipe, u64)),
}

#[derive(Clone, Debug)]
struct Message {
    types: Types,
    /// The receive is posted first.
    early: bool,
    wild: bool,
    synchronous: bool,
    absolute: bool,
}

fn types(most_elements: u64) -> impl Strategy<Value = Types> {
    let counts = || prop_oneof![4 => counts(), 1 => 100..=most_elements];
    let room = prop_oneof![3 => Just(1000u64), 1 => 0u64..1200];
    prop_oneof![
        (recipe(), counts()).prop_map(|(r, n)| Types::Alike(r, n)),
        (recipe(), counts(), room.clone()).prop_map(|(r, n, room)| Types::Gathered(r, n, room)),
        (recipe(), counts(), room).prop_map(|(r, n, room)| Types::Scattered(r, n, room)),
        ((recipe(), counts()), (recipe(), counts())).prop_map(|(a, b)| Types::Any(a, b)),
    ]
}

fn message(most_elements: u64) -> impl Strategy<Value = Message> {
    (types(most_elements), any::<[bool; 4]>()).prop_map(|(types, [early, wild, synchronous, absolute])| {
        Message { types, early, wild, synchronous, absolute }
    })
}

/// A message under way: both memories, and what must become of them.
struct Load {
    source: Arena,
    before: Vec<u8>,
    target: Arena,
    outcome: Outcome,
    segments: Option<(Segment, Segment)>,
    len: u64,
    room: u64,
}

impl Load {
    /// `None` when the types are larger than a test needs.
    fn new(message: &Message, most: u64, seed: usize) -> Option<Self> {
        let ((from, sent), (to, received)) = match &message.types {
            Types::Alike(recipe, count) => (sized(recipe, *count, most)?, sized(recipe, *count, most)?),
            Types::Gathered(recipe, count, thousandths) => {
                let (from, count) = sized(recipe, *count, most)?;
                let room = from.size() * count * thousandths / 1000;
                ((from, count), sized(&BYTE, room, 2 * most)?)
            }
            Types::Scattered(recipe, count, thousandths) => {
                let (to, count) = sized(recipe, *count, most)?;
                let len = to.size() * count * thousandths / 1000;
                (sized(&BYTE, len, 2 * most)?, (to, count))
            }
            Types::Any(a, b) => (sized(&a.0, a.1, most)?, sized(&b.0, b.1, most)?),
        };
        let (out, into) = (from.bytes(sent), to.bytes(received));
        let mut source = Arena::new(&out, |i| noise(i + seed));
        let mut target = Arena::new(&into, |_| 0xA5);
        let outcome = Outcome::new(&target, into.iter().copied().zip(out.iter().map(|at| source.at(*at))));
        let segments = if message.absolute {
            (source.absolute(&from, sent), target.absolute(&to, received))
        } else {
            (source.segment(&from, sent), target.segment(&to, received))
        };
        let (len, room, before) = (out.len() as u64, into.len() as u64, source.memory.clone());
        Some(Self { source, before, target, outcome, segments: Some(segments), len, room })
    }

    fn check(&self, status: &Status, sender: usize, tag: i32) {
        assert_eq!((status.source, status.tag), (sender as i32, tag));
        assert_eq!(status.bytes, self.len.min(self.room));
        let class = status.error.as_ref().map(|error| error.class());
        assert_eq!(class, (self.len > self.room).then_some(ErrorClass::Truncate));
        assert_eq!(self.source.memory, self.before, "the sender's memory was changed");
        assert!(self.outcome.allows(&self.target.memory), "wrong bytes in the receiver's memory");
    }
}

/// Sends all messages, every third the other way, receives them, and looks at every byte.
fn exchange(pair: &mut Pair, messages: &[Message], most: u64) {
    let load = |(n, message)| Some((message, Load::new(message, most, n << 24)?));
    let mut loads: Vec<(&Message, Load)> = messages.iter().enumerate().filter_map(load).collect();
    let last = pair.receiver();
    let sender = |n: usize| if n % 3 == 2 { last } else { 0 };
    let post = |pair: &mut Pair, n: usize, message: &Message, into: Segment| {
        let source = if message.wild { ANY_SOURCE } else { sender(n) as i32 };
        pair.recv(last - sender(n), source, n as i32, into)
    };
    let (mut sends, mut receives, mut late) = (Vec::new(), Vec::new(), Vec::new());
    for (n, (message, load)) in loads.iter_mut().enumerate() {
        let (out, into) = load.segments.take().unwrap();
        if message.early {
            receives.push((n, post(pair, n, message, into)));
        } else {
            late.push((n, *message, into));
        }
        sends.push((n, pair.send(sender(n), n as i32, out, message.synchronous)));
        for _ in 0..pair.network.random(20) {
            pair.step();
        }
    }
    for _ in 0..pair.network.random(100) {
        pair.step();
    }
    for (n, message, into) in late.into_iter().rev() {
        receives.push((n, post(pair, n, message, into)));
    }
    let ended: Vec<_> = receives.into_iter().map(|(n, id)| (n, pair.finish(last - sender(n), id))).collect();
    for (n, started) in sends {
        if let Started::Request(id) = started {
            assert!(pair.finish(sender(n), id).error.is_none());
        }
    }
    for (n, status) in ended {
        loads[n].1.check(&status, sender(n), n as i32);
    }
    assert!(pair.vcis.iter().all(|vci| vci.engine.requests.is_empty()), "requests are left over");
}

/// Lets random messages of at most so many bytes go one way with random settings, and sees to it that they went by `proof`.
fn travel(
    cases: u32,
    most: u64,
    way: impl Strategy<Value = Way>,
    long: impl Strategy<Value = LongProtocol>,
    proof: &[Counter],
) {
    let limits = prop_oneof![0usize..300, Just(4096)];
    let chunks = prop_oneof![64usize..9000, 9000usize..300_000];
    let parts = prop_oneof![64usize..2000, Just(256 << 10)];
    let tcp_limits = prop_oneof![0usize..300, Just(1 << 20)];
    let settings = (limits, tcp_limits, chunks, 0usize..9000, parts, long).prop_map(
        |(eager_limit, tcp_eager_limit, stream_chunk, get_limit, pipeline_part, long_protocol)| Config {
            eager_limit,
            tcp_eager_limit,
            stream_chunk,
            get_limit,
            pipeline_part,
            pipeline_limit: get_limit,
            long_protocol,
            ..Config::default()
        },
    );
    let input = (way, settings, prop::collection::vec(message(most / 60), 1..6), any::<u64>());
    let counts: Vec<Cell<u64>> = proof.iter().map(|_| Cell::new(0)).collect();
    let run = Run { cases, source_file: Some(file!()), ..Run::default() };
    // Few cases may miss a rare way: then they are drawn again.
    for _ in 0..4 {
        let result = TestRunner::new(run.clone()).run(&input, |(way, config, messages, seed)| {
            let mut pair = Pair::new(seed, way, &config);
            exchange(&mut pair, &messages, most);
            for (count, counter) in counts.iter().zip(proof) {
                count.set(count.get() + pair.counted(*counter));
            }
            Ok(())
        });
        if let Err(error) = result {
            panic!("{error}");
        }
        if counts.iter().all(|count| count.get() > 0) {
            break;
        }
    }
    for (count, counter) in counts.iter().zip(proof) {
        assert!(count.get() > 0, "nothing was counted by {counter:?}");
    }
}

fn weather() -> impl Strategy<Value = Way> {
    let packet = prop_oneof![48usize..80, 80usize..400];
    let refuse = prop_oneof![Just(0u64), 2u64..6];
    (packet, 1usize..6, refuse, 0u64..20, any::<bool>(), 0u64..4, any::<bool>()).prop_map(
        |(packet, window, refuse, delay, get, refuse_get, registers)| {
            Way::Simulator(Weather { packet, window, refuse, delay, get, refuse_get, registers })
        },
    )
}

fn shared_memory() -> impl Strategy<Value = Way> {
    let ranks = prop::sample::select(vec![2, 16]);
    let own = prop::sample::select(vec![0, 16 << 10, 20_000]);
    (any::<bool>(), ranks, own).prop_map(|(oversubscribed, ranks, own)| Way::SharedMemory {
        oversubscribed,
        ranks,
        heap: false,
        own,
    })
}

fn any_protocol() -> impl Strategy<Value = LongProtocol> {
    use LongProtocol as L;
    prop::sample::select(vec![L::Auto, L::Stream, L::Get, L::Put, L::Write, L::Pipeline])
}

#[test]
fn in_any_weather() {
    let proof = [
        Counter::EagerShm,
        Counter::GetShm,
        Counter::WriteShm,
        Counter::PipelineShm,
        Counter::PutShm,
        Counter::Unexpected,
        Counter::Pending,
    ];
    travel(150, SMALL, weather(), any_protocol(), &proof);
}

#[test]
fn by_streams() {
    let proof = [Counter::EagerShm, Counter::StreamShm, Counter::Unexpected];
    travel(100, LARGE, shared_memory(), Just(LongProtocol::Stream), &proof);
}

#[test]
fn by_direct_copies() {
    let proof = [Counter::EagerShm, Counter::GetShm, Counter::Unexpected];
    travel(100, LARGE, shared_memory(), Just(LongProtocol::Get), &proof);
}

#[test]
fn by_fragments_in_rings() {
    let proof = [Counter::EagerShm, Counter::PutShm, Counter::Unexpected];
    travel(100, LARGE, shared_memory(), Just(LongProtocol::Put), &proof);
}

#[test]
fn by_the_rule() {
    let proof = [Counter::EagerShm, Counter::StreamShm, Counter::GetShm];
    travel(100, LARGE, shared_memory(), Just(LongProtocol::Auto), &proof);
}

#[test]
fn by_tcp() {
    let proof = [Counter::EagerTcp, Counter::PutTcp, Counter::Unexpected];
    let way = prop::sample::select(vec![0, 10_000]).prop_map(|buffer| Way::Tcp { buffer });
    travel(60, LARGE, way, any_protocol(), &proof);
}

#[test]
fn by_libfabric() {
    let ways = ["tcp", "shm"].into_iter().flat_map(|provider| {
        [LeavePinned::Auto, LeavePinned::Off].map(|leave_pinned| Way::Fabric { provider, leave_pinned })
    });
    let ways: Vec<Way> = ways.filter(|way| is_there(*way)).collect();
    if ways.is_empty() {
        return;
    }
    let proof = [
        Counter::EagerFabric,
        Counter::GetFabric,
        Counter::WriteFabric,
        Counter::PipelineFabric,
        Counter::PutFabric,
        Counter::Unexpected,
    ];
    travel(60, LARGE, prop::sample::select(ways), any_protocol(), &proof);
}

#[test]
fn by_a_plugin() {
    if is_there(Way::Plugin) {
        let proof = [Counter::EagerPlugin, Counter::PutPlugin, Counter::Unexpected];
        travel(60, LARGE, Just(Way::Plugin), any_protocol(), &proof);
    }
}

/// The other end goes away: what it has sent is there, and what waits for it ends with an error that names it.
#[test]
fn a_peer_that_a_plugin_loses_is_down() {
    if !is_there(Way::Plugin) {
        return;
    }
    let mut pair = Pair::new(1, Way::Plugin, &Config::default());
    let nothing = Segment::empty;
    assert!(matches!(pair.send(1, 5, nothing(), false), Started::Complete));
    drop(pair.vcis.pop());
    let (first, second) = (pair.recv(0, 1, 5, nothing()), pair.recv(0, 1, 5, nothing()));
    assert!(pair.finish(0, first).error.is_none());
    let error = pair.finish(0, second).error.expect("nobody is left to send");
    assert_eq!(error.class(), ErrorClass::ProcAborted);
    let text = error.to_string();
    assert!(
        text.contains("rank 1 of the world is lost to the plug-in unix: it has closed its connection"),
        "{text}"
    );
}

#[test]
fn to_ourselves() {
    let proof = [Counter::EagerLoopback, Counter::GetLoopback, Counter::Unexpected];
    travel(100, LARGE, Just(Way::Loopback), any_protocol(), &proof);
}

/// A hundred levels, each an integer before the one below.
#[test]
fn a_hundred_levels_deep() {
    let int = Recipe::Builtin(Named::Int);
    let nested = (0..100).fold(int.clone(), |below, _| {
        Recipe::Resized(0, 900, Box::new(Recipe::Struct(vec![(0, 1, int.clone()), (8, 1, below)])))
    });
    for types in [Types::Alike(nested.clone(), 9), Types::Gathered(nested.clone(), 9, 990)] {
        let message = Message { types, early: false, wild: false, synchronous: false, absolute: false };
        for long in [LongProtocol::Stream, LongProtocol::Get, LongProtocol::Put] {
            let config = Config { long_protocol: long, eager_limit: 1000, ..Config::default() };
            for way in
                [Way::SharedMemory { oversubscribed: false, ranks: 2, heap: false, own: 0 }, Way::Loopback]
            {
                exchange(&mut Pair::new(1, way, &config), std::slice::from_ref(&message), LARGE);
            }
        }
    }
}

/// A piece by setting may be larger than a bounce buffer, and so may a message that is copied in before it is published.
#[test]
fn pieces_larger_than_the_bounce_buffer() {
    let config = Config { stream_chunk: 1 << 20, ..Config::default() };
    let mut pair =
        Pair::new(1, Way::SharedMemory { oversubscribed: false, ranks: 2, heap: false, own: 0 }, &config);
    for count in [1000, 30_000, 1000, 30_000] {
        let types = Types::Alike(Recipe::Builtin(Named::Double), count);
        let message = Message { types, early: false, wild: false, synchronous: false, absolute: false };
        exchange(&mut pair, &[message], LARGE);
    }
}
