//! One-sided communication by packets, over the simulated network, several links, TCP and to ourselves, against a naive
//! model of the memory.

use std::collections::HashMap;
use std::ops::Range;

use posthaste_os::mem::Source;

use super::*;
use crate::buffer::device::testing::{DeviceBuf, simulated};
use crate::config::Config;
use crate::datatype::{Datatype, Format};
use crate::method::Load;
use crate::named::Named;
use crate::progress::Vci;
use crate::testing::{Bench, CALM, ROUGH};
use crate::wire::{Emit, OneSided as Packet, Refusal, Refused};

/// Bytes that only one origin writes.
const OWN: u64 = 240;
/// Where all origins meet: a counter from which each draws tickets, one to which each adds, one that grows by
/// compare-and-swap.
const SHARED: u64 = 24;

mod long;
mod scattered;

fn memory(bytes: &[u8]) -> OwnedBuf {
    let mut memory = OwnedBuf::new(bytes.len());
    memory.sink().copy_from(bytes);
    memory
}

fn all(memory: &OwnedBuf) -> Segment {
    Segment::contiguous(memory.user_buf(), memory.len() as u64)
}

fn i32s() -> &'static Builtin {
    Datatype::of::<i32>().builtin().expect("predefined")
}

fn u64s() -> &'static Builtin {
    Datatype::of::<u64>().builtin().expect("predefined")
}

/// Does something with the one-sided communication of an engine.
fn at<T>(bench: &mut Bench, engine: usize, act: impl FnOnce(&mut OneSided, &mut Methods) -> T) -> T {
    let Vci { engine, methods, .. } = &mut bench.vcis[engine];
    engine.with_onesided(|onesided, _| act(onesided, methods))
}

/// Steps until an engine's next operation is over.
fn next_done(bench: &mut Bench, engine: usize) -> Done {
    for _ in 0..1_000_000 {
        if let Some(done) = at(bench, engine, |onesided, _| onesided.next_done()) {
            return done;
        }
        bench.step();
    }
    panic!("nothing of engine {engine} ends");
}

/// What a peer must not do.
#[derive(Clone, Copy, PartialEq)]
enum Mutant {
    Honest,
    /// It takes a put that is over for one that is done.
    NeverFlushes,
    /// It adds by a get and a put.
    AddsApart,
}

/// An operation under way.
struct Open {
    /// Memory of the origin that it uses.
    buffers: Vec<OwnedBuf>,
    /// What the first of them must hold at the end.
    expected: Option<Vec<u8>>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    Ticket,
    /// A compare-and-swap that expects this.
    Swap(u64),
    Flush,
}

/// Several engines that access the memory of the first one.
struct Story {
    bench: Bench,
    memory: OwnedBuf,
    key: RemoteKey,
    /// Where the method of each origin finds the memory by itself; nowhere, where everything goes by packets.
    reach: Vec<Option<RemoteMemory>>,
    model: Vec<u8>,
    /// By origin and token.
    open: HashMap<(usize, Token), Open>,
    /// What each origin has accessed since its last flush.
    touched: Vec<Vec<Range<u64>>>,
    tokens: u64,
    tickets: Vec<u64>,
    added: u64,
    swapped: u64,
    mutant: Mutant,
}

type Wrong = std::result::Result<(), String>;

impl Story {
    fn new(bench: Bench, mutant: Mutant) -> Self {
        Self::reaching(bench, mutant, false)
    }

    /// The same, with memory that methods reach by themselves, if they can.
    fn reaching(mut bench: Bench, mutant: Mutant, by_itself: bool) -> Self {
        let origins = bench.vcis.len();
        let len = OWN * origins as u64 + SHARED;
        let bytes: Vec<u8> = (0..len).map(|at| if at < len - SHARED { at as u8 } else { 0 }).collect();
        let memory = memory(&bytes);
        let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&memory))).unwrap();
        let reach = (0..origins as u32)
            .map(|origin| {
                let found =
                    at(&mut bench, 0, |onesided, methods| onesided.memory_for(methods, key, Peer(origin)));
                found.filter(|_| by_itself)
            })
            .collect();
        let touched = vec![Vec::new(); origins];
        let (open, tickets) = (HashMap::new(), Vec::new());
        let model = bytes;
        Self {
            bench,
            memory,
            key,
            reach,
            model,
            open,
            touched,
            tokens: 0,
            tickets,
            added: 0,
            swapped: 0,
            mutant,
        }
    }

    fn random(&self, n: u64) -> u64 {
        self.bench.network.random(n)
    }

    fn bytes(&self, n: u64) -> Vec<u8> {
        (0..n).map(|_| self.random(256) as u8).collect()
    }

    fn target(&self, origin: usize, offset: u64) -> Target {
        Target { peer: Peer(0), key: self.key, memory: self.reach[origin], offset, scattered: None }
    }

    fn shared(&self, origin: usize, counter: u64) -> Target {
        self.target(origin, self.model.len() as u64 - SHARED + 8 * counter)
    }

    fn opened(
        &mut self,
        origin: usize,
        buffers: Vec<OwnedBuf>,
        expected: Option<Vec<u8>>,
        kind: Kind,
    ) -> Token {
        self.tokens += 1;
        let token = Token(self.tokens);
        self.open.insert((origin, token), Open { buffers, expected, kind });
        token
    }

    /// Looks at what is over.
    fn settle(&mut self) -> Wrong {
        for origin in 0..self.bench.vcis.len() {
            while let Some(done) = at(&mut self.bench, origin, |onesided, _| onesided.next_done()) {
                done.outcome.map_err(|error| error.to_string())?;
                let open = self.open.remove(&(origin, done.token)).ok_or("an operation ends twice")?;
                let got = open.buffers.first().map(|buffer| buffer.source().to_vec()).unwrap_or_default();
                if open.expected.is_some_and(|expected| expected != got) {
                    return Err(format!("origin {origin} fetched something else"));
                }
                let word = |bytes: Vec<u8>| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
                match open.kind {
                    Kind::Ticket => self.tickets.push(word(got)),
                    Kind::Swap(expected) if word(got) == expected => self.swapped += 1,
                    Kind::Flush
                        if self.open.keys().any(|(other, token)| *other == origin && *token < done.token) =>
                    {
                        return Err(format!("a flush of origin {origin} overtakes"));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn steps(&mut self, n: u64) -> Wrong {
        (0..n).try_for_each(|_| {
            self.bench.step();
            self.settle()
        })
    }

    fn flush(&mut self, origin: usize) -> Wrong {
        self.touched[origin].clear();
        if self.mutant == Mutant::NeverFlushes {
            return Ok(());
        }
        let token = self.opened(origin, Vec::new(), None, Kind::Flush);
        let key = self.key;
        at(&mut self.bench, origin, |onesided, methods| onesided.flush(methods, (Peer(0), key), token))
            .unwrap();
        self.until(|story| !story.open.contains_key(&(origin, token)))
    }

    fn until(&mut self, over: impl Fn(&Self) -> bool) -> Wrong {
        for _ in 0..1_000_000 {
            if over(self) {
                return Ok(());
            }
            self.steps(1)?;
        }
        Err("nothing ends".into())
    }

    /// One random operation of an origin.
    fn act(&mut self, origin: usize) -> Wrong {
        match self.random(7) {
            0 | 1 => self.put(origin),
            2 | 3 => self.get(origin),
            4 => self.combine(origin),
            5 => self.draw(origin),
            _ => self.swap(origin),
        }
    }

    /// A random range of what only this origin writes; accesses between two flushes do not overlap.
    fn range(&mut self, origin: usize, align: u64) -> std::result::Result<Range<u64>, String> {
        let first = self.random(OWN / align) * align;
        let len = (1 + self.random(OWN / align)) * align;
        let base = OWN * origin as u64;
        let range = base + first..base + (first + len).min(OWN);
        if self.touched[origin].iter().any(|other| other.start < range.end && range.start < other.end) {
            self.flush(origin)?;
        }
        self.touched[origin].push(range.clone());
        Ok(range)
    }

    fn put(&mut self, origin: usize) -> Wrong {
        let range = self.range(origin, 1)?;
        let bytes = self.bytes(range.end - range.start);
        self.model[range.start as usize..range.end as usize].copy_from_slice(&bytes);
        let data = memory(&bytes);
        let (segment, target) = (all(&data), self.target(origin, range.start));
        let token = self.opened(origin, vec![data], None, Kind::Plain);
        at(&mut self.bench, origin, |onesided, methods| onesided.put(methods, target, segment, token))
            .unwrap();
        Ok(())
    }

    fn get(&mut self, origin: usize) -> Wrong {
        let range = self.range(origin, 1)?;
        let expected = self.model[range.start as usize..range.end as usize].to_vec();
        let into = OwnedBuf::new(expected.len());
        let (segment, target) = (all(&into), self.target(origin, range.start));
        let token = self.opened(origin, vec![into], Some(expected), Kind::Plain);
        at(&mut self.bench, origin, |onesided, methods| onesided.get(methods, target, segment, token))
            .unwrap();
        Ok(())
    }

    /// Sums of integers, which may be fetched.
    fn combine(&mut self, origin: usize) -> Wrong {
        let range = self.range(origin, 4)?;
        let operands = self.bytes(range.end - range.start);
        let target = &mut self.model[range.start as usize..range.end as usize];
        let before = target.to_vec();
        for (place, operand) in target.chunks_exact_mut(4).zip(operands.chunks_exact(4)) {
            let number = |bytes: &[u8]| i32::from_ne_bytes(bytes.try_into().expect("four bytes"));
            place.copy_from_slice(&number(place).wrapping_add(number(operand)).to_ne_bytes());
        }
        let fetches = self.random(2) == 0;
        let (old, data) = (OwnedBuf::new(operands.len()), memory(&operands));
        let result = fetches.then(|| all(&old));
        let what = Atomic::Combine(Predefined::Sum, all(&data));
        let target = self.target(origin, range.start);
        let token = self.opened(origin, vec![old, data], fetches.then_some(before), Kind::Plain);
        at(&mut self.bench, origin, |onesided, methods| {
            onesided.atomic(methods, target, i32s(), what, result, token)
        })
        .unwrap();
        Ok(())
    }

    /// Draws a ticket, and adds to another counter.
    fn draw(&mut self, origin: usize) -> Wrong {
        let by = self.random(1000);
        self.added += by;
        self.add(origin, self.shared(origin, 1), by, false)?;
        if self.mutant == Mutant::AddsApart {
            let (into, target) = (OwnedBuf::new(8), self.shared(origin, 0));
            let segment = all(&into);
            let token = self.opened(origin, vec![into], None, Kind::Ticket);
            at(&mut self.bench, origin, |onesided, methods| onesided.get(methods, target, segment, token))
                .unwrap();
            self.until(|story| !story.open.contains_key(&(origin, token)))?;
            let data = memory(&(self.tickets.last().ok_or("no ticket")? + 1).to_ne_bytes());
            let segment = all(&data);
            let token = self.opened(origin, vec![data], None, Kind::Plain);
            at(&mut self.bench, origin, |onesided, methods| onesided.put(methods, target, segment, token))
                .unwrap();
            return Ok(());
        }
        self.add(origin, self.shared(origin, 0), 1, true)
    }

    fn add(&mut self, origin: usize, target: Target, by: u64, fetches: bool) -> Wrong {
        let (old, data) = (OwnedBuf::new(8), memory(&by.to_ne_bytes()));
        let (result, what) = (fetches.then(|| all(&old)), Atomic::Combine(Predefined::Sum, all(&data)));
        let kind = if fetches { Kind::Ticket } else { Kind::Plain };
        let token = self.opened(origin, vec![old, data], None, kind);
        at(&mut self.bench, origin, |onesided, methods| {
            onesided.atomic(methods, target, u64s(), what, result, token)
        })
        .unwrap();
        Ok(())
    }

    /// Makes the third counter one larger, if it is what it seems to be.
    fn swap(&mut self, origin: usize) -> Wrong {
        let guess = self.swapped;
        let (old, expected) = (OwnedBuf::new(8), memory(&guess.to_ne_bytes()));
        let more = memory(&(guess + 1).to_ne_bytes());
        let (result, what) = (all(&old), Atomic::CompareAndSwap(all(&expected), all(&more)));
        let target = self.shared(origin, 2);
        let token = self.opened(origin, vec![old], None, Kind::Swap(guess));
        at(&mut self.bench, origin, |onesided, methods| {
            onesided.atomic(methods, target, u64s(), what, Some(result), token)
        })
        .unwrap();
        Ok(())
    }

    /// Everything, and the memory at the end.
    fn run(mut self, operations: usize) -> Wrong {
        let origins = self.bench.vcis.len() as u64;
        for _ in 0..operations {
            let origin = self.random(origins) as usize;
            self.act(origin)?;
            let pause = self.random(6);
            self.steps(pause)?;
        }
        (0..origins as usize).try_for_each(|origin| self.flush(origin))?;
        let shared = self.model.len() - SHARED as usize;
        let end = self.memory.source().to_vec();
        if end[..shared] != self.model[..shared] {
            return Err("the memory is not what the model says".into());
        }
        self.until(|story| story.open.is_empty())?;
        self.tickets.sort_unstable();
        let drawn = self.tickets.len() as u64;
        if !self.tickets.iter().copied().eq(0..drawn) {
            return Err(format!("{drawn} tickets are not the first {drawn} numbers: {:?}", self.tickets));
        }
        let counters = [drawn, self.added, self.swapped];
        if end[shared..] != counters.map(u64::to_ne_bytes).concat() {
            return Err(format!("the counters are not {counters:?}"));
        }
        if self.bench.vcis.iter().any(|vci| vci.engine.has_pending()) {
            return Err("something waits to leave".into());
        }
        Ok(())
    }
}

fn in_some_weather(seed: u64) -> Bench {
    Bench::new(seed, 4, if seed.is_multiple_of(3) { CALM } else { ROUGH }, &Config::default())
}

#[test]
fn random_operations_do_what_the_model_says() {
    for seed in 1..=40 {
        let story = Story::new(in_some_weather(seed), Mutant::Honest);
        story.run(150).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
    for seed in 1..=3 {
        let benches = [
            Bench::over_tcp(seed, &[Format::NATIVE; 3], &Config::default()),
            Bench::over_mailboxes(seed, 3, &Config::default()),
            Bench::over_links(seed, &[Format::NATIVE; 3], &[ROUGH, CALM], &Config::default()),
        ];
        for bench in benches {
            let story = Story::new(bench, Mutant::Honest);
            story.run(60).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        }
    }
}

/// The same where methods read and write by themselves, and the network refuses some of it.
#[test]
fn what_methods_do_by_themselves_comes_to_the_same() {
    for seed in 1..=40 {
        let story = Story::reaching(in_some_weather(seed), Mutant::Honest, true);
        assert!(story.reach.iter().all(Option::is_some), "the simulated network has a one-sided transport");
        story.run(150).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
    }
    let caught =
        |seed: &u64| Story::reaching(in_some_weather(*seed), Mutant::AddsApart, true).run(150).is_err();
    let caught = (1..=40).filter(caught).count();
    assert!(caught >= 10, "{caught} of 40");
}

/// A method's own reads and writes, and the flush behind them, need nothing of the target.
#[test]
fn a_target_that_does_nothing_delays_nobody() {
    let mut bench = Bench::new(1, 2, CALM, &Config::default());
    let (exposed, data, into) = (memory(&[1; 5000]), memory(&[2; 100]), OwnedBuf::new(5000));
    let (key, found) = at(&mut bench, 0, |onesided, methods| {
        let key = onesided.expose(&all(&exposed)).unwrap();
        (key, onesided.memory_for(methods, key, Peer(1)))
    });
    let target = |offset| Target { peer: Peer(0), key, memory: found, offset, scattered: None };
    let alone = |bench: &mut Bench, tokens: &[u64]| {
        (0..20).for_each(|_| _ = bench.vcis[1].progress());
        for token in tokens {
            let done = at(bench, 1, |onesided, _| onesided.next_done()).expect("over without the target");
            assert_eq!(done.token, Token(*token));
            done.outcome.unwrap();
        }
    };
    at(&mut bench, 1, |onesided, methods| {
        onesided.put(methods, target(300), all(&data), Token(1)).unwrap();
        onesided.flush(methods, (Peer(0), key), Token(2)).unwrap();
    });
    alone(&mut bench, &[1, 2]);
    at(&mut bench, 1, |onesided, methods| onesided.get(methods, target(0), all(&into), Token(3)).unwrap());
    alone(&mut bench, &[3]);
    let expected = [vec![1; 300], vec![2; 100], vec![1; 4600]].concat();
    assert_eq!((exposed.source().to_vec(), into.source().to_vec()), (expected.clone(), expected));
    // By packets the same waits for the target.
    at(&mut bench, 1, |onesided, methods| {
        let target = Target { memory: None, ..target(0) };
        onesided.get(methods, target, all(&into), Token(4)).unwrap();
    });
    (0..20).for_each(|_| _ = bench.vcis[1].progress());
    assert!(at(&mut bench, 1, |onesided, _| onesided.next_done()).is_none());
    succeeds(&mut bench, 1, 4);
    // What is not exposed any more is refused by the network, and then by the target.
    at(&mut bench, 0, |onesided, methods| onesided.forget(methods, key));
    at(&mut bench, 1, |onesided, methods| onesided.get(methods, target(0), all(&into), Token(5)).unwrap());
    let text = "rank 0 of the world refuses access to 5000 bytes at 0: the memory is not exposed";
    fails(&mut bench, 1, 5, ErrorClass::RmaAttach, text);
}

#[test]
fn the_model_finds_who_does_not_flush_and_who_is_not_atomic() {
    for mutant in [Mutant::NeverFlushes, Mutant::AddsApart] {
        let caught =
            (1..=40).filter(|seed| Story::new(in_some_weather(*seed), mutant).run(150).is_err()).count();
        assert!(caught >= 10, "{caught} of 40");
    }
}

/// The error that ends an engine's next operation.
fn fails(bench: &mut Bench, engine: usize, token: u64, class: ErrorClass, text: &str) {
    let done = next_done(bench, engine);
    assert_eq!(done.token, Token(token));
    let error = done.outcome.expect_err("an error");
    assert_eq!((error.class(), error.to_string().as_str()), (class, text));
}

fn succeeds(bench: &mut Bench, engine: usize, token: u64) {
    let done = next_done(bench, engine);
    assert_eq!(done.token, Token(token));
    done.outcome.unwrap();
}

#[test]
fn beyond_the_memory_nothing_is_reached() {
    let mut bench = Bench::new(1, 2, CALM, &Config::default());
    // What is exposed lies between guards.
    let (whole, data) = (memory(&[7; 48]), memory(&[1; 1000]));
    let exposed = Segment::contiguous(whole.user_buf().offset(16), 16);
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&exposed)).unwrap();
    let refusal = |len: u64, offset: u64| {
        format!("rank 0 of the world refuses access to {len} bytes at {offset}: the memory has 16 bytes")
    };
    for (offset, len) in [(0, 17), (9, 8), (16, 1), (17, 0), (u64::MAX, 2), (u64::MAX - 3, 4)] {
        let target = Target { peer: Peer(0), key, memory: None, offset, scattered: None };
        let segment = || Segment::contiguous(data.user_buf(), len);
        at(&mut bench, 1, |onesided, methods| onesided.get(methods, target, segment(), Token(1))).unwrap();
        fails(&mut bench, 1, 1, ErrorClass::RmaRange, &refusal(len, offset));
        at(&mut bench, 1, |onesided, methods| {
            onesided.put(methods, target, segment(), Token(2)).unwrap();
            onesided.flush(methods, (Peer(0), key), Token(3)).unwrap();
            onesided.flush(methods, (Peer(0), key), Token(4)).unwrap();
        });
        succeeds(&mut bench, 1, 2);
        fails(&mut bench, 1, 3, ErrorClass::RmaRange, &refusal(len, offset));
        succeeds(&mut bench, 1, 4);
    }
    // Four numbers of which the last does not fit; with values that are fetched and without.
    let numbers = || Segment::contiguous(data.user_buf(), 16);
    let target = Target { peer: Peer(0), key, memory: None, offset: 4, scattered: None };
    for old in [Some(OwnedBuf::new(16)), None] {
        at(&mut bench, 1, |onesided, methods| {
            let what = Atomic::Combine(Predefined::Sum, numbers());
            onesided.atomic(methods, target, i32s(), what, old.as_ref().map(all), Token(5)).unwrap();
            onesided.flush(methods, (Peer(0), key), Token(6)).unwrap();
        });
        match old {
            Some(_) => {
                fails(&mut bench, 1, 5, ErrorClass::RmaRange, &refusal(16, 4));
                succeeds(&mut bench, 1, 6);
            }
            None => {
                succeeds(&mut bench, 1, 5);
                fails(&mut bench, 1, 6, ErrorClass::RmaRange, &refusal(16, 4));
            }
        }
    }
    assert_eq!(whole.source().to_vec(), [7; 48]);
    // A long put ends in its middle.
    let target = Target { peer: Peer(0), key, memory: None, offset: 0, scattered: None };
    at(&mut bench, 1, |onesided, methods| {
        onesided.put(methods, target, all(&data), Token(7)).unwrap();
        onesided.flush(methods, (Peer(0), key), Token(8)).unwrap();
    });
    let outcomes = [next_done(&mut bench, 1).outcome, next_done(&mut bench, 1).outcome];
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 1, "reported once");
    assert_eq!(whole.source().to_vec(), [7; 48]);
}

/// A flush tells what was refused of its own memory, whichever flush comes first.
#[test]
fn a_refusal_is_told_by_the_flush_for_its_memory() {
    let mut bench = Bench::new(1, 2, CALM, &Config::default());
    let (first, second, data) = (memory(&[7; 8]), memory(&[8; 8]), memory(&[1; 16]));
    let keys = [&first, &second]
        .map(|memory| at(&mut bench, 0, |onesided, _| onesided.expose(&all(memory))).unwrap());
    at(&mut bench, 1, |onesided, methods| {
        let target = |key| Target { peer: Peer(0), key, memory: None, offset: 0, scattered: None };
        onesided.put(methods, target(keys[0]), all(&data), Token(1)).unwrap();
        onesided.put(methods, target(keys[1]), Segment::contiguous(data.user_buf(), 8), Token(2)).unwrap();
        onesided.flush(methods, (Peer(0), keys[1]), Token(3)).unwrap();
    });
    (1..=3).for_each(|token| succeeds(&mut bench, 1, token));
    at(&mut bench, 1, |onesided, methods| onesided.flush(methods, (Peer(0), keys[0]), Token(4)).unwrap());
    let text = "rank 0 of the world refuses access to 16 bytes at 0: the memory has 8 bytes";
    fails(&mut bench, 1, 4, ErrorClass::RmaRange, text);
    assert_eq!((first.source().to_vec(), second.source().to_vec()), (vec![7; 8], vec![1; 8]));
}

/// Many small puts leave together, so what they cost is their bytes and not their number.
#[test]
fn puts_over_tcp_gather_until_the_flush() {
    const PUTS: u64 = 1000;
    let mut bench = Bench::over_tcp(1, &[Format::NATIVE; 2], &Config::default());
    let bytes: Vec<u8> = (0..8 * PUTS).map(|at| (at * 7) as u8).collect();
    let (exposed, data) = (OwnedBuf::new(bytes.len()), memory(&bytes));
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
    let put = |onesided: &mut OneSided, methods: &mut Methods, n: u64| {
        let target = Target { peer: Peer(0), key, memory: None, offset: 8 * n, scattered: None };
        let part = all(&data).part(8 * n, 8 * n + 8).unwrap();
        onesided.put(methods, target, part, Token(n)).unwrap();
    };
    let writes = |bench: &mut Bench| bench.vcis[1].methods.tcp().expect("it is there").writes(Peer(0));
    // The connection is made first.
    at(&mut bench, 1, |onesided, methods| {
        put(onesided, methods, 0);
        onesided.flush(methods, (Peer(0), key), Token(1)).unwrap();
    });
    (0..2).for_each(|token| succeeds(&mut bench, 1, token));
    let before = writes(&mut bench);
    at(&mut bench, 1, |onesided, methods| {
        (0..PUTS).for_each(|n| put(onesided, methods, n));
        onesided.flush(methods, (Peer(0), key), Token(PUTS)).unwrap();
    });
    (0..=PUTS).for_each(|token| succeeds(&mut bench, 1, token));
    let writes = writes(&mut bench) - before;
    assert!(writes <= 16, "{PUTS} puts took {writes} writes");
    assert_eq!(exposed.source().to_vec(), bytes);
}

#[test]
fn a_stale_key_reaches_nothing() {
    let mut bench = Bench::new(1, 2, CALM, &Config::default());
    let (old, new, into) = (memory(&[7; 8]), memory(&[8; 8]), memory(&[0; 8]));
    let stale = at(&mut bench, 0, |onesided, methods| {
        let stale = onesided.expose(&all(&old)).unwrap();
        onesided.forget(methods, stale);
        assert_ne!(onesided.expose(&all(&new)).unwrap(), stale);
        onesided.forget(methods, stale);
        stale
    });
    let text = "rank 0 of the world refuses access to 8 bytes at 0: the memory is not exposed";
    for key in [stale, RemoteKey { slot: 9, generation: 1 }, RemoteKey::from_bytes([0xff; 8])] {
        let target = Target { peer: Peer(0), key, memory: None, offset: 0, scattered: None };
        at(&mut bench, 1, |onesided, methods| onesided.get(methods, target, all(&into), Token(1))).unwrap();
        fails(&mut bench, 1, 1, ErrorClass::RmaAttach, text);
    }
    // The memory goes while what was asked for waits to leave.
    let long = memory(&[5; 100_000]);
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&long))).unwrap();
    let into = OwnedBuf::new(100_000);
    let target = Target { peer: Peer(0), key, memory: None, offset: 0, scattered: None };
    at(&mut bench, 1, |onesided, methods| onesided.get(methods, target, all(&into), Token(2))).unwrap();
    for _ in 0..20 {
        bench.vcis[0].progress();
    }
    at(&mut bench, 0, |onesided, methods| onesided.forget(methods, key));
    drop(long);
    let error = next_done(&mut bench, 1).outcome.unwrap_err();
    assert_eq!(error.class(), ErrorClass::RmaAttach);
    assert_eq!(new.source().to_vec(), [8; 8]);
}

#[test]
fn memory_of_a_device_is_refused() {
    let device = simulated(3, 0);
    let (buffer, host) = (DeviceBuf::new(&device, 8), OwnedBuf::new(8));
    let segment = || Segment::bytes_at(buffer.base(), 8);
    let mut bench = Bench::new(1, 2, CALM, &Config::default());
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&host))).unwrap();
    let target = Target { peer: Peer(0), key, memory: None, offset: 0, scattered: None };
    let outcomes = at(&mut bench, 1, |onesided, methods| {
        let (sum, swap) =
            (Atomic::Combine(Predefined::Sum, segment()), Atomic::CompareAndSwap(segment(), all(&host)));
        [
            onesided.expose(&segment()).map(drop),
            onesided.put(methods, target, segment(), Token(1)),
            onesided.get(methods, target, segment(), Token(1)),
            onesided.atomic(methods, target, u64s(), sum, None, Token(1)),
            onesided.atomic(methods, target, u64s(), swap, Some(all(&host)), Token(1)),
        ]
    });
    for outcome in outcomes {
        assert_eq!(outcome.unwrap_err().class(), ErrorClass::Buffer);
    }
    assert!(!bench.vcis[1].engine.has_pending());
}

/// Elements with padding keep it; what a type cannot do is an error of the caller, and from a liar a refusal.
#[test]
fn elements_are_those_of_their_type() {
    let mut bench = Bench::new(1, 2, CALM, &Config::default());
    let pair = Builtin::of(Named::DoubleInt); // 12 bytes, of which an array has one every 16
    assert_eq!((pair.size, pair.extent), (12, 16));
    let exposed = memory(&[1.5f64.to_ne_bytes(), [9, 0, 0, 0, 0xee, 0xee, 0xee, 0xee]].concat().repeat(2));
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
    let target = Target { peer: Peer(0), key, memory: None, offset: 0, scattered: None };
    let packed = |value: f64, index: i32| [&value.to_ne_bytes()[..], &index.to_ne_bytes()[..]].concat();
    let data = memory(&[packed(2.5, 3), packed(0.5, 4)].concat());
    let old = OwnedBuf::new(24);
    at(&mut bench, 1, |onesided, methods| {
        let what = Atomic::Combine(Predefined::Maxloc, all(&data));
        onesided.atomic(methods, target, pair, what, Some(all(&old)), Token(1))
    })
    .unwrap();
    succeeds(&mut bench, 1, 1);
    assert_eq!(old.source().to_vec(), [packed(1.5, 9), packed(1.5, 9)].concat());
    let padding = [0xee; 4];
    let expected = [packed(2.5, 3), padding.to_vec(), packed(1.5, 9), padding.to_vec()].concat();
    assert_eq!(exposed.source().to_vec(), expected);

    let classes = at(&mut bench, 1, |onesided, methods| {
        let mut start =
            |what, old| onesided.atomic(methods, target, i32s(), what, old, Token(2)).unwrap_err().class();
        let four = |n| Segment::contiguous(data.user_buf(), n);
        [
            start(Atomic::Combine(Predefined::Maxloc, four(4)), None),
            start(Atomic::Combine(Predefined::Sum, four(5)), None),
            start(Atomic::Combine(Predefined::Sum, four(8)), Some(four(4))),
            start(Atomic::CompareAndSwap(four(4), four(8)), None),
        ]
    });
    assert_eq!(classes, [ErrorClass::Op, ErrorClass::Count, ErrorClass::Count, ErrorClass::Count]);

    // What only a liar sends: unknown operations and types, half an element, answers that nobody asked for.
    let access = Access { serial: 1, key, offset: 0, scattered: None };
    let what = |operation, element| Atomically { operation, element, fetches: true };
    let (sum, int) = (Predefined::Sum.on_the_wire(), i32s().named.on_the_wire());
    for (what, n) in [(what(99, int), 4), (what(sum, 0xffff), 4), (what(sum, int), 6), (what(0, int), 4)] {
        let emit = Emit::atomic(access, what);
        let claim = bench.vcis[1].methods.claim(Peer(0), emit.front().len() + n, Load::Control);
        claim.unwrap().write(&emit, Some(&mut Segment::contiguous(data.user_buf(), n as u64)));
    }
    assert!(bench.vcis[1].methods.send(Peer(0), &Emit::answer(77)));
    (0..200).for_each(|_| bench.step());
    assert_eq!(exposed.source().to_vec(), expected);
    let stale = |bench: &Bench, at: usize| bench.vcis[at].engine.counts.get(Counter::StalePackets);
    assert_eq!(stale(&bench, 0), 1);
}

/// What is under way towards a peer that is lost ends with the loss's sentence, and so does what would begin.
#[test]
fn a_loss_ends_what_is_under_way() {
    for after in [0, 2, 10, 60] {
        let mut bench = Bench::new(after + 1, 3, ROUGH, &Config::default());
        let (exposed, data, into) = (memory(&[3; 50_000]), OwnedBuf::new(50_000), OwnedBuf::new(50_000));
        let keys =
            [0, 2].map(|peer| at(&mut bench, peer, |onesided, _| onesided.expose(&all(&exposed))).unwrap());
        let target = |which: usize| Target {
            peer: Peer([0, 2][which]),
            key: keys[which],
            memory: None,
            offset: 0,
            scattered: None,
        };
        at(&mut bench, 1, |onesided, methods| {
            onesided.get(methods, target(1), all(&into), Token(1)).unwrap();
            onesided.put(methods, target(1), all(&data), Token(2)).unwrap();
            onesided.flush(methods, (Peer(2), keys[1]), Token(3)).unwrap();
            onesided.get(methods, target(0), Segment::contiguous(data.user_buf(), 9000), Token(4)).unwrap();
        });
        (0..after).for_each(|_| bench.step());
        bench.network.cut(Peer(1), Peer(2));
        let mut ended = Vec::new();
        for _ in 0..4 {
            let Done { token, outcome } = next_done(&mut bench, 1);
            if token != Token(4) {
                let error = outcome.unwrap_err();
                assert_eq!(error.class(), ErrorClass::ProcAborted);
                assert!(error.to_string().contains("rank 2 of the world"), "{error}");
            } else {
                outcome.unwrap();
            }
            ended.push(token.0);
        }
        ended.sort_unstable();
        assert_eq!(ended, [1, 2, 3, 4]);
        let late =
            at(&mut bench, 1, |onesided, methods| onesided.flush(methods, (Peer(2), keys[1]), Token(5)));
        assert_eq!(late.unwrap_err().class(), ErrorClass::ProcAborted);
        (0..1000).for_each(|_| bench.step());
        assert!(
            bench.vcis.iter().all(|vci| !vci.engine.has_pending()),
            "something waits for a peer that is lost"
        );
    }
}

/// However many questions one asks, the others have their turn, and messages do, too.
#[test]
fn many_gets_and_messages_share_a_way() {
    let mut bench = Bench::new(5, 2, ROUGH, &Config { eager_limit: 64, ..Config::default() });
    let exposed = memory(&(0..3000).map(|at| (at * 7) as u8).collect::<Vec<u8>>());
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
    let into: Vec<OwnedBuf> = (0..300).map(|_| OwnedBuf::new(3000)).collect();
    at(&mut bench, 1, |onesided, methods| {
        for (n, into) in (0..).zip(&into) {
            let target = Target { peer: Peer(0), key, memory: None, offset: 0, scattered: None };
            onesided.get(methods, target, all(into), Token(n)).unwrap();
        }
    });
    let (data, received) = (memory(&[6; 500]), OwnedBuf::new(500));
    let receive = bench.recv(0, 1, 4, &received);
    bench.send(1, 0, 4, &data, false);
    assert!(bench.finish(0, receive).error.is_none());
    assert_eq!(received.source().to_vec(), data.source().to_vec());
    let ends = at(&mut bench, 1, |onesided, _| onesided.ends());
    assert!(ends < 300, "the message waited for every get");
    (0..300).for_each(|n| succeeds(&mut bench, 1, n));
    assert!(into.iter().all(|into| into.source().to_vec() == exposed.source().to_vec()));
}

/// Answers do not wait behind questions that may not leave yet, on either side.
#[test]
fn two_that_ask_each_other_much_are_both_answered() {
    const GETS: u64 = 300;
    for seed in 1..=5 {
        let mut bench = Bench::new(seed, 2, ROUGH, &Config::default());
        let memories = [memory(&[10; 64]), memory(&[11; 64])];
        let into = [memory(&[0; 64]), memory(&[0; 64])];
        let keys: Vec<RemoteKey> = (0..2)
            .map(|engine| at(&mut bench, engine, |onesided, _| onesided.expose(&all(&memories[engine]))))
            .map(|key| key.unwrap())
            .collect();
        for token in 0..GETS {
            for engine in 0..2 {
                let target = Target {
                    peer: Peer(1 - engine as u32),
                    key: keys[1 - engine],
                    memory: None,
                    offset: token % 64,
                    scattered: None,
                };
                let place = Segment::contiguous(into[engine].user_buf().offset((token % 64) as isize), 1);
                at(&mut bench, engine, |onesided, methods| {
                    onesided.get(methods, target, place, Token(token))
                })
                .unwrap();
            }
        }
        for token in 0..GETS {
            (0..2).for_each(|engine| succeeds(&mut bench, engine, token));
        }
        assert_eq!((into[0].source().to_vec(), into[1].source().to_vec()), (vec![11; 64], vec![10; 64]));
    }
}

/// A lock has one exclusive holder at a time, and goes on when its holder is lost.
#[test]
fn a_lock_is_granted_when_the_holder_is_done_or_gone() {
    let mut bench = Bench::new(3, 3, ROUGH, &Config::default());
    let memory = memory(&[0; 8]);
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&memory))).unwrap();
    let lock = |bench: &mut Bench, engine: usize, token: u64| {
        at(bench, engine, |onesided, methods| onesided.lock(methods, (Peer(0), key), true, Token(token)))
            .unwrap();
    };
    lock(&mut bench, 1, 1);
    succeeds(&mut bench, 1, 1);
    lock(&mut bench, 2, 2);
    lock(&mut bench, 0, 3);
    (0..2000).for_each(|_| bench.step());
    for engine in [0, 2] {
        assert!(at(&mut bench, engine, |onesided, _| onesided.next_done()).is_none());
    }
    at(&mut bench, 1, |onesided, methods| onesided.unlock(methods, (Peer(0), key))).unwrap();
    let first = (0..100_000).find_map(|_| {
        bench.step();
        [0, 2]
            .into_iter()
            .find(|engine| at(&mut bench, *engine, |onesided, _| onesided.next_done()).is_some())
    });
    let (first, other, token) = if first == Some(0) { (0, 2, 2) } else { (2, 0, 3) };
    let why = Error::other(ErrorClass::ProcAborted, "gone");
    at(&mut bench, 0, |onesided, _| onesided.lose(Peer(first), &why, false));
    succeeds(&mut bench, other, token);
    at(&mut bench, other, |onesided, methods| {
        let stale = RemoteKey { generation: 77, ..key };
        onesided.lock(methods, (Peer(0), stale), true, Token(9)).unwrap();
    });
    assert_eq!(next_done(&mut bench, other).outcome.unwrap_err().class(), ErrorClass::RmaAttach);
}

/// What a peer says of an operation that it has not been asked for ends nothing: the buffers are still in use.
#[test]
fn only_what_has_left_is_answered_or_refused() {
    const GETS: u64 = 80;
    let mut bench = Bench::new(1, 2, CALM, &Config::default());
    let (exposed, into, old) = (memory(&[3; 8]), memory(&[0; 8 * GETS as usize]), OwnedBuf::new(8));
    let (key, found) = at(&mut bench, 0, |onesided, methods| {
        let key = onesided.expose(&all(&exposed)).unwrap();
        (key, onesided.memory_for(methods, key, Peer(1)))
    });
    let lies = |bench: &mut Bench, serial: u64| {
        let stale = |bench: &Bench| bench.vcis[1].engine.counts.get(Counter::StalePackets);
        let before = stale(bench);
        let access = Access { serial, key, offset: 0, scattered: None };
        let refused = Refused { access, why: Refusal::OutOfRange, len: 8, size: 8 };
        bench.vcis[1].engine.with_onesided(|onesided, counts| {
            onesided.arrived(Peer(0), Packet::Answer(serial, Source::from(&[9; 8][..])), counts);
            onesided.arrived(Peer(0), Packet::Refused(refused), counts);
        });
        assert_eq!(stale(bench) - before, 2, "operation {serial}");
        assert!(at(bench, 1, |onesided, _| onesided.next_done()).is_none(), "operation {serial}");
    };
    // What the method does by itself.
    let target = Target { peer: Peer(0), key, memory: found, offset: 0, scattered: None };
    at(&mut bench, 1, |onesided, methods| {
        onesided.get(methods, target, Segment::contiguous(into.user_buf(), 8), Token(1)).unwrap();
        onesided.put(methods, target, Segment::contiguous(into.user_buf().offset(8), 0), Token(2)).unwrap();
    });
    (1..=2).for_each(|serial| lies(&mut bench, serial));
    (1..=2).for_each(|token| succeeds(&mut bench, 1, token));
    // What waits because too much is unanswered: a get, an atomic operation, a lock and a flush, and behind it a put.
    let target = Target { memory: None, ..target };
    at(&mut bench, 1, |onesided, methods| {
        for token in 3..2 + GETS {
            let place = Segment::contiguous(into.user_buf().offset(8 * (token - 3) as isize), 8);
            onesided.get(methods, target, place, Token(token)).unwrap();
        }
        let sum = Atomic::Combine(Predefined::Replace, all(&exposed));
        onesided.atomic(methods, target, u64s(), sum, Some(all(&old)), Token(2 + GETS)).unwrap();
        onesided.flush(methods, (Peer(0), key), Token(3 + GETS)).unwrap();
        onesided.lock(methods, (Peer(0), key), true, Token(4 + GETS)).unwrap();
        onesided.put(methods, target, all(&exposed), Token(5 + GETS)).unwrap();
    });
    (3 + 64..6 + GETS).for_each(|serial| lies(&mut bench, serial));
    let mut ended: Vec<u64> = (3..6 + GETS)
        .map(|_| {
            let Done { token, outcome } = next_done(&mut bench, 1);
            outcome.unwrap();
            token.0
        })
        .collect();
    ended.sort_unstable();
    assert!(ended.into_iter().eq(3..6 + GETS));
    assert_eq!(into.source().to_vec()[..8 * GETS as usize - 8], [3; 8 * GETS as usize - 8]);
    assert_eq!(old.source().to_vec(), [3; 8]);
    // Nothing is unsure any more: a refusal belongs to nothing.
    at(&mut bench, 1, |onesided, methods| onesided.flush(methods, (Peer(0), key), Token(99)).unwrap());
    succeeds(&mut bench, 1, 99);
    lies(&mut bench, 7);
}
