//! Atomic operations of several members on one element, against all orders in which they could have been done one after the other:
//! what each has fetched, when it began and when it was over must fit one of them (linearizability).
//!
//! Members reach the element by packets over simulated networks, over one link or over several, or change it in memory that threads have
//! mapped.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use posthaste_os::mapped::Mapped;

use super::tests::numbers::Numbers;
use super::tests::{Cut, MEMBERS, Reach, in_some_weather, over_some_links, windows};
use super::*;
use crate::buffer::{OwnedBuf, Run};
use crate::config::Config;
use crate::datatype::{Builtin, Format};
use crate::named::Named;
use crate::op::Predefined;
use crate::progress::Vci;
use crate::testing::Bench;

/// Operations of each member.
const EACH: usize = 4;
/// The element, so that it is not the first one.
const PLACE: usize = 3;

/// What is done to the element.
#[derive(Clone, Copy, Debug)]
enum What {
    Sum(u64),
    Replace(u64),
    NoOp,
    /// The expected value and the new one.
    Swap(u64, u64),
}

impl What {
    fn random(random: &impl Fn(u64) -> u64, swaps: bool) -> Self {
        // Few values, so that a swap succeeds now and then.
        match random(if swaps { 4 } else { 3 }) {
            0 => Self::Sum(1 + random(2)),
            1 => Self::Replace(random(4)),
            2 => Self::NoOp,
            _ => Self::Swap(random(4), random(4)),
        }
    }

    fn update(self) -> Update {
        match self {
            Self::Sum(_) => Update::Combine(Predefined::Sum),
            Self::Replace(_) => Update::Combine(Predefined::Replace),
            Self::NoOp => Update::Combine(Predefined::NoOp),
            Self::Swap(..) => Update::CompareAndSwap,
        }
    }

    /// Operands, as an operation takes them.
    fn operands(self) -> Vec<u64> {
        match self {
            Self::Sum(value) | Self::Replace(value) => vec![value],
            Self::NoOp => vec![0],
            Self::Swap(expected, new) => vec![expected, new],
        }
    }

    fn after(self, was: u64) -> u64 {
        match self {
            Self::Sum(value) => was + value,
            Self::Replace(value) => value,
            Self::NoOp => was,
            Self::Swap(expected, new) => {
                if was == expected {
                    new
                } else {
                    was
                }
            }
        }
    }
}

/// An operation that is over.
#[derive(Clone, Copy, Debug)]
struct Event {
    what: What,
    /// Ticks of a clock that all share.
    began: u64,
    ended: u64,
    fetched: u64,
}

/// Whether the operations of these members, each with its own in their order, can have been done one after the other on an element that
/// was 0 and holds `last` now.
fn is_linear(members: &[Vec<Event>], last: u64) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![(vec![0; members.len()], 0)];
    while let Some((done, value)) = open.pop() {
        if !seen.insert((done.clone(), value)) {
            continue;
        }
        let next: Vec<(usize, Event)> = members
            .iter()
            .zip(&done)
            .enumerate()
            .filter_map(|(member, (events, done))| Some((member, *events.get(*done)?)))
            .collect();
        if next.is_empty() && value == last {
            return true;
        }
        // Whatever begins after another one has ended comes after it.
        let first_end = next.iter().map(|(_, event)| event.ended).min().unwrap_or(0);
        for (member, event) in next {
            if event.began <= first_end && event.fetched == value {
                let mut done = done.clone();
                done[member] += 1;
                open.push((done, event.what.after(value)));
            }
        }
    }
    false
}

/// How a member does its operations.
#[derive(Clone, Copy, PartialEq)]
enum Mutant {
    Honest,
    /// It reads the element and writes it after that.
    TwoSteps,
    /// It takes what is there for what will be fetched.
    Hurries,
}

/// What a member is doing.
enum Doing {
    Nothing,
    /// It waits for the answer to one operation: into this buffer, of these operands.
    Waits {
        what: What,
        began: u64,
        old: OwnedBuf,
        given: OwnedBuf,
    },
    /// The mutant has read, and writes.
    Writes {
        what: What,
        began: u64,
        fetched: u64,
        buffers: (OwnedBuf, OwnedBuf),
    },
}

struct Story {
    bench: Bench,
    windows: Vec<Arc<Window>>,
    memories: Vec<OwnedBuf>,
    numbers: Numbers,
    doing: Vec<Doing>,
    events: Vec<Vec<Event>>,
    mutant: Mutant,
}

/// Runs one history over a network; the events of each member, and what the element holds at the end.
fn over(mut bench: Bench, reach: Reach, mutant: Mutant, cut: Cut) -> (Vec<Vec<Event>>, u64) {
    let numbers = Numbers::random(&bench);
    let memories: Vec<OwnedBuf> = (0..MEMBERS).map(|_| numbers.filled(&[0; 2 * PLACE])).collect();
    let windows = windows(&mut bench, (&memories, [numbers.size(); MEMBERS]), reach);
    windows.iter().for_each(|window| window.epochs().lock_all(true));
    let doing = (0..MEMBERS).map(|_| Doing::Nothing).collect();
    let events = vec![Vec::new(); MEMBERS];
    let mut story = Story { bench, windows, memories, numbers, doing, events, mutant };
    for tick in 0.. {
        assert!(tick < 2_000_000, "it does not end");
        cut.now(tick, &story.bench);
        let at = story.bench.network.random(MEMBERS as u64) as usize;
        story.go_on(at, tick);
        story.bench.step();
        if story.events.iter().all(|events| events.len() == EACH) {
            break;
        }
    }
    (0..10_000).for_each(|_| story.bench.step());
    let last = numbers.values(&story.memories[0])[PLACE];
    (story.events, last)
}

impl Story {
    fn go_on(&mut self, at: usize, tick: u64) {
        let is_quiet = self.windows[at].traffic().is_quiet(0, Age::LAST) || self.mutant == Mutant::Hurries;
        match std::mem::replace(&mut self.doing[at], Doing::Nothing) {
            Doing::Nothing if self.events[at].len() < EACH => {
                let what = What::random(&|n| self.bench.network.random(n), self.numbers.are_integers());
                let reads = if self.mutant == Mutant::TwoSteps { What::NoOp } else { what };
                let (old, given) = self.start(at, reads);
                self.doing[at] = Doing::Waits { what, began: tick, old, given };
            }
            Doing::Waits { what, began, old, given } if is_quiet => {
                self.windows[at].traffic().outcome(0).unwrap();
                let fetched = self.numbers.values(&old)[0];
                if self.mutant == Mutant::TwoSteps {
                    let buffers = self.start(at, What::Replace(what.after(fetched)));
                    self.doing[at] = Doing::Writes { what, began, fetched, buffers };
                } else {
                    self.events[at].push(Event { what, began, ended: tick, fetched });
                }
                if self.mutant == Mutant::Hurries {
                    std::mem::forget((old, given)); // they may still be in use
                }
            }
            Doing::Writes { what, began, fetched, buffers } if is_quiet => {
                drop(buffers);
                self.events[at].push(Event { what, began, ended: tick, fetched });
            }
            goes_on => self.doing[at] = goes_on,
        }
    }

    /// Starts an operation and its flush: where what is fetched comes, and the operands.
    fn start(&mut self, at: usize, what: What) -> (OwnedBuf, OwnedBuf) {
        let (numbers, datatype) = (self.numbers, self.numbers.datatype());
        let window = self.windows[at].clone();
        let disp = match window.flavor() {
            Flavor::Dynamic => {
                self.memories[0].user_buf().address() as i64 + numbers.size() as i64 * PLACE as i64
            }
            _ => PLACE as i64,
        };
        let to = At { rank: 0, disp, count: 1, datatype: &datatype };
        let place = window.locate(&to, numbers.size(), true).unwrap().unwrap();
        let (given, old) = (numbers.filled(&what.operands()), numbers.filled(&[0]));
        let all = |buf: &OwnedBuf| Segment::contiguous(buf.user_buf(), buf.len() as u64);
        let Vci { engine, methods, operations, .. } = &mut self.bench.vcis[at];
        let origin = &mut Origin { engine, methods, request: None };
        let update = (numbers.element(), what.update());
        operations.update(origin, &window, (&to, place), update, &all(&given), Some(&all(&old))).unwrap();
        operations.flush(engine, methods, &window, 0).unwrap();
        (old, given)
    }
}

#[test]
fn operations_on_one_element_are_as_if_done_one_after_the_other() {
    for reach in [Reach::Transport, Reach::Packets, Reach::Mixed, Reach::Attached] {
        for seed in 1..=60 {
            let (events, last) = over(in_some_weather(seed), reach, Mutant::Honest, Cut::Nothing);
            assert!(is_linear(&events, last), "{reach:?}, seed {seed}: {last} after {events:#?}");
        }
    }
    for seed in 1..=5 {
        let bench = Bench::over_tcp(seed, &[Format::NATIVE; MEMBERS], &Config::default());
        let (events, last) = over(bench, Reach::Packets, Mutant::Honest, Cut::Nothing);
        assert!(is_linear(&events, last), "TCP, seed {seed}: {last} after {events:#?}");
    }
}

#[test]
fn histories_are_linear_where_packets_overtake_and_a_link_breaks() {
    for reach in [Reach::Packets, Reach::Attached] {
        for seed in 1..=60 {
            let (events, last) = over(over_some_links(seed), reach, Mutant::Honest, Cut::OneLink(10 * seed));
            assert!(is_linear(&events, last), "{reach:?}, seed {seed}: {last} after {events:#?}");
        }
    }
}

#[test]
fn who_reads_and_writes_in_two_steps_or_looks_too_early_is_found() {
    for mutant in [Mutant::TwoSteps, Mutant::Hurries] {
        for bench in [in_some_weather, over_some_links] {
            let is_caught = |seed: &u64| {
                let (events, last) = over(bench(*seed), Reach::Packets, mutant, Cut::Nothing);
                !is_linear(&events, last)
            };
            let caught = (1..=30).filter(is_caught).count();
            assert!(caught >= 10, "{caught} of 30");
        }
    }
}

#[test]
fn histories_are_judged_by_values_and_by_time() {
    let event = |what, began, ended, fetched| Event { what, began, ended, fetched };
    let first = event(What::Sum(1), 0, 5, 0);
    let reads = |began, fetched| vec![vec![first], vec![event(What::NoOp, began, 9, fetched)]];
    assert!(is_linear(&reads(6, 1), 1));
    assert!(!is_linear(&reads(6, 0), 1), "it was over before the read began");
    assert!(is_linear(&reads(3, 0), 1) && is_linear(&reads(3, 1), 1), "at the same time: either");
    assert!(!is_linear(&reads(6, 1), 2) && !is_linear(&reads(6, 7), 1));
    let both = vec![vec![first], vec![event(What::Sum(1), 0, 5, 0)]];
    assert!(!is_linear(&both, 1) && !is_linear(&both, 2), "a lost update");
    let swapped = |fetched| vec![vec![first, event(What::Swap(1, 3), 6, 7, fetched)]];
    assert!(is_linear(&swapped(1), 3) && !is_linear(&swapped(1), 1) && !is_linear(&swapped(0), 1));
    let own = vec![vec![event(What::Replace(2), 0, 9, 1), event(What::Sum(1), 0, 9, 0)]];
    assert!(!is_linear(&own, 2), "a member's own stay in their order");
}

/// An element of a mapped window, which threads share.
struct Shared {
    window: Window,
    element: &'static Builtin,
    at: Spot,
    is_honest: bool,
}

impl Shared {
    /// Two members with 64 bytes each, in units of the element. `under_lock`: elements of all kinds are changed so.
    fn new(element: &'static Builtin, is_honest: bool, under_lock: bool) -> Self {
        let (members, start) = (2, control(2));
        let (mapped, _) = Mapped::create(start + 128).unwrap();
        let part = |rank: usize| Part {
            key: RemoteKey { slot: u32::MAX, generation: 0 },
            memory: None,
            size: 64,
            unit: element.size,
            base: Some(UserBuf::mapped(&mapped, start + 64 * rank)),
        };
        let parts = (0..members).map(part).collect();
        let heeded = Heeded::new([None; 2].into_iter());
        let memory = (Memory::Mapped(mapped, heeded), Vec::new());
        let comm = Arc::new(Comm::world(0, members as u32));
        let window = Window::new(comm, Flavor::Allocate, parts, memory, (&Info::new(), true));
        let window = window.changed_under_lock(under_lock);
        window.epochs().lock_all(true);
        Self { window, element, at: Spot { rank: 1, disp: 2 }, is_honest }
    }

    /// What a member does: the operation, or, if it is not honest, a read and a write.
    fn member_operates(&self, what: What, short: bool) -> u64 {
        if self.is_honest {
            return self.operate(what, short);
        }
        let was = self.operate(What::NoOp, short);
        std::thread::yield_now();
        self.operate(What::Replace(what.after(was)), short);
        was
    }

    /// Does an operation, by a short way if there is one; what the element was.
    fn operate(&self, what: What, short: bool) -> u64 {
        let (operands, old) = (self.given(&what.operands()), OwnedBuf::new(self.element.size as usize));
        let is_done = short
            && match what.update() {
                Update::Combine(op) => {
                    let (given, old) = (Run::of(&operands), Run::of(&old));
                    self.window.update_now(self.element, op, Some(given), Some(old), self.at)
                }
                Update::CompareAndSwap => {
                    let [expected, new] = what.operands().try_into().unwrap();
                    let [expected, new] = [expected, new].map(|value| self.given(&[value]));
                    let runs = [Run::of(&expected), Run::of(&new), Run::of(&old)];
                    self.window.swap_now(self.element, runs, self.at)
                }
            };
        if !is_done {
            self.generally(what, &operands, &old);
        }
        let bytes = old.source().to_vec();
        match self.element.size {
            4 => f32::from_le_bytes(bytes.try_into().unwrap()) as u64,
            _ if self.element.named == Named::Double => f64::from_le_bytes(bytes.try_into().unwrap()) as u64,
            _ => u64::from_le_bytes(bytes.try_into().unwrap()),
        }
    }

    fn generally(&self, what: What, operands: &OwnedBuf, old: &OwnedBuf) {
        let datatype = Datatype::from(self.element.named);
        let at = At { rank: 1, disp: self.at.disp, count: 1, datatype: &datatype };
        let place = self.window.locate(&at, self.element.size, true).unwrap().unwrap();
        let all = |buf: &OwnedBuf| Segment::contiguous(buf.user_buf(), buf.len() as u64);
        let operands = Operands { given: Some(all(operands)), old: Some(all(old)) };
        let memory = self.window.mapped().unwrap();
        let busy = || {
            while !Words::of(memory, place.target).try_busy(0) {
                std::thread::yield_now();
            }
            Ok(())
        };
        let update = (self.element, what.update());
        self.window.update_mapped(memory, (&at, place), update, operands, busy).unwrap();
    }

    /// Elements with these values.
    fn given(&self, values: &[u64]) -> OwnedBuf {
        let mut buf = OwnedBuf::new(values.len() * self.element.size as usize);
        let bytes = values.iter().flat_map(|value| match self.element.named {
            Named::Float => (*value as f32).to_le_bytes().to_vec(),
            Named::Double => (*value as f64).to_le_bytes().to_vec(),
            _ => value.to_le_bytes().to_vec(),
        });
        buf.sink().copy_from(&bytes.collect::<Vec<u8>>());
        buf
    }
}

/// Histories of threads in mapped memory that do not fit any order, of so many.
fn wrong_in_memory(named: Named, is_honest: bool, histories: u64) -> usize {
    let is_wrong = |history: &u64| {
        let (clock, shared) =
            (&AtomicU64::new(0), &Shared::new(Builtin::of(named), is_honest, history.is_multiple_of(2)));
        let barrier = &std::sync::Barrier::new(MEMBERS);
        let member = |rank: u64| {
            let state = AtomicU64::new(history * 64 + rank);
            let random = move |n: u64| {
                let next = state.load(Ordering::Relaxed).wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(99);
                state.store(next, Ordering::Relaxed);
                (next >> 33) % n
            };
            move || {
                barrier.wait();
                let one = |_| {
                    let (what, short) = (What::random(&random, named == Named::Uint64), random(2) == 0);
                    let began = clock.fetch_add(1, Ordering::SeqCst);
                    let fetched = shared.member_operates(what, short);
                    Event { what, began, ended: clock.fetch_add(1, Ordering::SeqCst), fetched }
                };
                (0..40).map(one).collect::<Vec<Event>>()
            }
        };
        let events: Vec<Vec<Event>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..MEMBERS as u64).map(|rank| scope.spawn(member(rank))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        !is_linear(&events, shared.operate(What::NoOp, true))
    };
    (1..=histories).filter(is_wrong).count()
}

/// The short way and the general one meet on the element, with and without the lock of the target.
#[test]
fn operations_of_threads_on_a_mapped_element_are_as_if_done_one_after_the_other() {
    for named in [Named::Uint64, Named::Double, Named::Float] {
        assert_eq!(wrong_in_memory(named, true, 300), 0, "{named:?}");
    }
    let caught = wrong_in_memory(Named::Uint64, false, 100);
    assert!(caught >= 5, "{caught} of 100 with reads and writes in two steps");
}
