//! Random epochs and operations on windows over simulated networks, against a model of the memory that does one operation
//! after the other. Memory is reached by the method itself or by packets here, as between nodes, over one link or over several, of
//! which one may break; mapped memory is tested by programs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::buffer::OwnedBuf;
use crate::config::Config;
use crate::datatype::Format;
use crate::method::sim::{Network, Weather};
use crate::named::Named;
use crate::op::Predefined;
use crate::progress::Vci;
use crate::testing::{Bench, CALM, ROUGH};
use crate::trace::Counter;
use numbers::Numbers;

pub(super) mod numbers;

pub(super) const MEMBERS: usize = 3;
/// Elements of each member's memory.
const ELEMENTS: u64 = 40;
/// Behind those that exclusive holders use: elements to which shared holders add.
const SHARED: u64 = 4;

/// What a member must not do.
#[derive(Clone, Copy, PartialEq)]
enum Mutant {
    Honest,
    /// It takes a shared lock for an exclusive one.
    Shares,
    /// It looks at what it fetches before that is there.
    Hurries,
}

/// What a member does.
enum Doing {
    Nothing,
    /// It waits for a lock: whose, and whether for itself alone.
    Locking(usize, bool),
    /// It has the lock: so many operations are to come.
    Holding(usize, bool, u64),
    /// It waits for its operations to be done.
    Flushing(usize, bool, u64),
}

/// What memory the members have, and how they reach that of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// The method reads and writes it by itself, unless the weather is against that.
    Transport,
    Packets,
    /// Each of them by one of the two.
    Mixed,
    /// Memory that is attached, which is reached by packets.
    Attached,
}

/// What is cut between the first two members, and at which step.
#[derive(Clone, Copy)]
pub(super) enum Cut {
    Nothing,
    /// One of several links: nobody notices.
    OneLink(u64),
    /// All links: they lose each other.
    AllLinks(u64),
}

impl Cut {
    /// Cuts it when it is time. Whether the two have lost each other.
    pub(super) fn now(self, step: u64, bench: &Bench) -> bool {
        let cut = |network: &Network| network.cut(Peer(0), Peer(1));
        match self {
            Self::OneLink(at) if at == step => cut(&bench.network),
            Self::AllLinks(at) if at == step => {
                std::iter::once(&bench.network).chain(&bench.others).for_each(cut);
            }
            _ => {}
        }
        matches!(self, Self::AllLinks(at) if at == step)
    }
}

/// What a buffer must hold when its operation is done.
#[derive(Debug)]
pub(super) enum Expected {
    Anything,
    These(Vec<u64>),
    /// In this number what an element of a target was before this was added to it, as others do at the same time.
    Before {
        word: usize,
        element: (usize, u64),
        value: u64,
    },
}

/// Additions to elements from 0 on: what each was, and what was added. Not all additions have fetched.
#[derive(Debug, Default)]
pub(super) struct Additions(BTreeMap<(usize, u64), Vec<(u64, u64)>>);

impl Additions {
    pub(super) fn fetched(&mut self, element: (usize, u64), was: u64, value: u64) {
        self.0.entry(element).or_default().push((was, value));
    }

    /// Each has begun where no other one was under way, and all are in the sums of these targets.
    pub(super) fn follow_each_other(&mut self, sum: impl Fn(usize, u64) -> Option<u64>) -> Wrong {
        for ((target, place), steps) in &mut self.0 {
            let Some(sum) = sum(*target, *place) else { continue };
            steps.sort_unstable();
            let starts = steps.iter().skip(1).map(|step| step.0).chain([sum]);
            if steps.iter().zip(starts).any(|((was, value), next)| was + value > next) {
                return Err(format!(
                    "element {place} of {target}, {sum} at last, had these additions: {steps:?}"
                ));
            }
        }
        Ok(())
    }
}

struct Story {
    bench: Bench,
    windows: Vec<Arc<Window>>,
    memories: Vec<OwnedBuf>,
    /// The memory of each member, as it is when no exclusive holder is at work.
    numbers: Numbers,
    model: Vec<Vec<u64>>,
    doing: Vec<Doing>,
    /// Buffers in use, and what they must hold when their operations are done.
    buffers: Vec<Vec<(OwnedBuf, Expected)>>,
    additions: Additions,
    mutant: Mutant,
    /// Members that cannot reach each other any more.
    cut: Option<(usize, usize)>,
}

pub(super) type Wrong = std::result::Result<(), String>;

/// The window of each member on memory that the members have, in units of so many bytes each.
pub(super) fn windows(
    bench: &mut Bench,
    (memories, units): (&[OwnedBuf], [u64; MEMBERS]),
    reach: Reach,
) -> Vec<Arc<Window>> {
    let mut parts = Vec::new();
    for (rank, memory) in memories.iter().enumerate() {
        let all = Segment::contiguous(memory.user_buf(), memory.len() as u64);
        let Vci { engine, methods, .. } = &mut bench.vcis[rank];
        let key = engine.with_onesided(|onesided, _| {
            if reach != Reach::Attached {
                return onesided.expose(&all).unwrap();
            }
            let key = onesided.expose_attached();
            if !memory.is_empty() {
                onesided.attach(key, &all).unwrap();
            }
            key
        });
        let size = memory.len() as u64;
        let other = Peer((rank + 1) as u32 % MEMBERS as u32);
        let memory = engine.with_onesided(|onesided, _| onesided.memory_for(methods, key, other));
        parts.push(Part { key, memory, size, unit: units[rank], base: None });
    }
    let flavor = if reach == Reach::Attached { Flavor::Dynamic } else { Flavor::Create };
    let reached = |part: &Part| {
        let by_itself = match reach {
            Reach::Transport => true,
            Reach::Packets | Reach::Attached => false,
            Reach::Mixed => bench.network.random(2) == 0,
        };
        Part { memory: part.memory.filter(|_| by_itself), ..*part }
    };
    let window = |rank: usize| {
        let comm = Arc::new(Comm::world(rank as u32, MEMBERS as u32));
        let (parts, memory) =
            (parts.iter().take(MEMBERS).map(reached).collect(), (Memory::Program, Vec::new()));
        Arc::new(Window::new(comm, flavor, parts, memory, (&Info::new(), false)))
    };
    (0..MEMBERS).map(window).collect()
}

impl Story {
    fn new(bench: Bench, reach: Reach, mutant: Mutant) -> Self {
        let numbers = Numbers::random(&bench);
        Self::of(numbers, bench, reach, mutant)
    }

    fn of(numbers: Numbers, mut bench: Bench, reach: Reach, mutant: Mutant) -> Self {
        let memories: Vec<OwnedBuf> =
            (0..MEMBERS).map(|_| numbers.filled(&[0; (ELEMENTS + SHARED) as usize])).collect();
        let windows = windows(&mut bench, (&memories, [numbers.size(); MEMBERS]), reach);
        Self {
            bench,
            windows,
            memories,
            numbers,
            model: vec![vec![0; (ELEMENTS + SHARED) as usize]; MEMBERS],
            doing: (0..MEMBERS).map(|_| Doing::Nothing).collect(),
            buffers: (0..MEMBERS).map(|_| Vec::new()).collect(),
            additions: Additions::default(),
            mutant,
            cut: None,
        }
    }

    fn random(&self, n: u64) -> u64 {
        self.bench.network.random(n)
    }

    /// Runs to the end; how much the methods have done by themselves.
    fn run(mut self, epochs: u64, cut: Cut) -> std::result::Result<u64, String> {
        let mut left = epochs;
        for step in 0..2_000_000 {
            if cut.now(step, &self.bench) {
                self.cut = Some((0, 1));
            }
            let at = self.random(MEMBERS as u64) as usize;
            match self.doing[at] {
                Doing::Nothing if left == 0 => {
                    if self.doing.iter().all(|doing| matches!(doing, Doing::Nothing)) {
                        self.compare()?;
                        let transfers = |vci: &Vci| vci.engine.counts.get(Counter::OneSidedTransfers);
                        return Ok(self.bench.vcis.iter().map(transfers).sum());
                    }
                }
                Doing::Nothing => {
                    left -= 1;
                    self.begin(at);
                }
                _ => self.go_on(at)?,
            }
            self.bench.step();
        }
        Err("it does not end".to_owned())
    }

    fn begin(&mut self, at: usize) {
        let (target, exclusive) = (self.random(MEMBERS as u64) as usize, self.random(2) == 0);
        let kind = match exclusive && self.mutant != Mutant::Shares {
            true => LockKind::Exclusive,
            false => LockKind::Shared,
        };
        self.windows[at].epochs().check_lock(target).unwrap();
        let Vci { engine, methods, operations, .. } = &mut self.bench.vcis[at];
        match operations.lock(engine, methods, &self.windows[at], (target, kind)) {
            Ok(()) => self.doing[at] = Doing::Locking(target, exclusive),
            Err(why) => self.bears(at, target, &why).unwrap(),
        }
    }

    /// Whether what is at a target is known no more: an exclusive holder, or who shares it, may have been cut off.
    fn is_torn(&self, target: usize) -> bool {
        self.cut.is_some_and(|(a, b)| target == a || target == b)
    }

    /// An epoch ends with this: that is right where the two cannot reach each other, and nowhere else.
    fn bears(&mut self, at: usize, target: usize, why: &Error) -> Wrong {
        let are_cut = self.cut.is_some_and(|(a, b)| (at, target) == (a, b) || (at, target) == (b, a));
        if !are_cut || why.class() != ErrorClass::ProcAborted {
            return Err(why.to_string());
        }
        if !matches!(self.doing[at], Doing::Nothing | Doing::Locking(..)) {
            self.windows[at].epochs().unlock(target);
        }
        self.buffers[at].clear();
        self.doing[at] = Doing::Nothing;
        Ok(())
    }

    fn go_on(&mut self, at: usize) -> Wrong {
        let window = self.windows[at].clone();
        match self.doing[at] {
            Doing::Locking(target, exclusive) if window.traffic().is_quiet(target, Age::LAST) => {
                if let Err(why) = window.traffic().outcome(target) {
                    return self.bears(at, target, &why);
                }
                window.epochs().lock(target, LockKind::Shared, false);
                self.doing[at] = Doing::Holding(target, exclusive, 1 + self.random(6));
            }
            Doing::Holding(target, exclusive, left) if left > 0 => {
                let started = if exclusive { self.operate(at, target) } else { self.add(at, target) };
                if let Err(why) = started {
                    return self.bears(at, target, &why);
                }
                // Between operations on the same place, of which not all are atomic, the target is asked.
                let flushes = exclusive || left == 1;
                self.doing[at] = if flushes {
                    let Vci { engine, methods, operations, .. } = &mut self.bench.vcis[at];
                    if let Err(why) = operations.flush(engine, methods, &window, target) {
                        return self.bears(at, target, &why);
                    }
                    Doing::Flushing(target, exclusive, left - 1)
                } else {
                    Doing::Holding(target, exclusive, left - 1)
                };
            }
            Doing::Flushing(target, exclusive, left)
                if window.traffic().is_quiet(target, Age::LAST) || self.mutant == Mutant::Hurries =>
            {
                if let Err(why) = window.traffic().outcome(target) {
                    return self.bears(at, target, &why);
                }
                let is_torn = self.is_torn(target);
                for (buffer, expected) in self.buffers[at].drain(..) {
                    let found = self.numbers.values(&buffer);
                    if self.mutant == Mutant::Hurries {
                        std::mem::forget(buffer); // it may still be written to
                    }
                    match expected {
                        Expected::These(expected) if expected != found && !is_torn => {
                            return Err(format!(
                                "{at} fetches {found:?} from {target}, expected {expected:?}"
                            ));
                        }
                        Expected::Before { word, element, value } => {
                            self.additions.fetched(element, found[word], value);
                        }
                        _ => {}
                    }
                }
                self.doing[at] = Doing::Holding(target, exclusive, left);
            }
            Doing::Holding(target, ..) => {
                window.epochs().check_unlock(target).unwrap();
                window.epochs().unlock(target);
                self.doing[at] = Doing::Nothing;
                let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
                if let Err(why) = Operations::unlock(engine, methods, &window, target) {
                    return self.bears(at, target, &why);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Where a displacement of elements is.
    fn disp(&self, target: usize, first: u64) -> i64 {
        match self.windows[0].flavor() {
            Flavor::Dynamic => {
                (self.memories[target].user_buf().address() as u64 + self.numbers.size() * first) as i64
            }
            _ => first as i64,
        }
    }

    /// Starts an operation on these elements; `update` is a put or a get where there is none.
    fn start(
        &mut self,
        at: usize,
        (target, first, datatype): (usize, u64, &Datatype),
        (operands, update): (Option<OwnedBuf>, Option<Update>),
        old: Option<(OwnedBuf, Expected)>,
    ) -> Result<()> {
        let window = self.windows[at].clone();
        let to = At { rank: target as i32, disp: self.disp(target, first), count: 1, datatype };
        let place = window.locate(&to, datatype.size(), true).unwrap().unwrap();
        let segment = |buf: &OwnedBuf| Segment::contiguous(buf.user_buf(), buf.len() as u64);
        let (given, fetched) = (operands.as_ref().map(segment), old.as_ref().map(|(buf, _)| segment(buf)));
        let Vci { engine, methods, operations, .. } = &mut self.bench.vcis[at];
        let origin = &mut Origin { engine, methods, request: None };
        let started = match (given, fetched, update) {
            (Some(data), None, None) => operations.put(origin, &window, (&to, place), &data),
            (None, Some(into), None) => operations.get(origin, &window, (&to, place), &into),
            (given, fetched, update) => {
                let what = (self.numbers.element(), update.expect("an update"));
                let given = given.or(fetched.clone()).expect("operands");
                operations.update(origin, &window, (&to, place), what, &given, fetched.as_ref())
            }
        };
        self.buffers[at].extend(operands.map(|buf| (buf, Expected::Anything)));
        self.buffers[at].extend(old);
        started
    }

    /// A random operation of who has the memory to itself.
    fn operate(&mut self, at: usize, target: usize) -> Result<()> {
        let count = 1 + self.random(6);
        let stride = 1 + self.random(3);
        let reach = (count - 1) * stride + 1;
        let first = self.random(ELEMENTS - reach + 1);
        let numbers = self.numbers;
        let one = numbers.datatype();
        let layout = Datatype::vector(count as i64, 1, stride as i64, &one).unwrap();
        let places: Vec<usize> = (0..count).map(|n| (first + n * stride) as usize).collect();
        let values: Vec<u64> = (0..count).map(|_| numbers.kept(self.random(1000))).collect();
        let was: Vec<u64> = places.iter().map(|place| self.model[target][*place]).collect();
        let result = || (numbers.filled(&vec![0; count as usize]), Expected::These(was.clone()));
        let operation = numbers.operation(&self.bench);
        let combined = |was: u64, value: u64| numbers.combined(operation, was, value);
        let to = (target, first, &layout);
        let set = |story: &mut Self, new: &dyn Fn(u64, u64) -> u64| {
            for ((place, was), value) in places.iter().zip(&was).zip(&values) {
                story.model[target][*place] = new(*was, *value);
            }
        };
        match self.random(5) {
            0 => {
                self.start(at, to, (Some(numbers.filled(&values)), None), None)?;
                set(self, &|_, value| value);
            }
            1 => self.start(at, to, (None, None), Some(result()))?,
            2 if operation != Predefined::NoOp => {
                self.start(at, to, (Some(numbers.filled(&values)), Some(Update::Combine(operation))), None)?;
                set(self, &combined);
            }
            3 if numbers.are_integers() => {
                let old = Some((numbers.filled(&[0]), Expected::These(vec![was[0]])));
                let expected = if self.random(2) == 0 { was[0] } else { was[0] ^ 1 };
                let both = numbers.filled(&[expected, values[0]]);
                self.start(at, (target, first, &one), (Some(both), Some(Update::CompareAndSwap)), old)?;
                if expected == was[0] {
                    self.model[target][first as usize] = values[0];
                }
            }
            _ => {
                let update = Some(Update::Combine(operation));
                self.start(at, to, (Some(numbers.filled(&values)), update), Some(result()))?;
                set(self, &combined);
            }
        }
        Ok(())
    }

    /// An operation of who shares the memory.
    fn add(&mut self, at: usize, target: usize) -> Result<()> {
        let (numbers, place, value) = (self.numbers, ELEMENTS + self.random(SHARED), 1 + self.random(9));
        let before = Expected::Before { word: 0, element: (target, place), value };
        // Sums of single bytes go round, so what was before says nothing of the order.
        let fetches = numbers.size() > 1 && self.random(2) == 0;
        let old = fetches.then(|| (numbers.filled(&[0]), before));
        let update = Some(Update::Combine(Predefined::Sum));
        self.start(at, (target, place, &numbers.datatype()), (Some(numbers.filled(&[value])), update), old)?;
        let sum = &mut self.model[target][place as usize];
        *sum = numbers.combined(Predefined::Sum, *sum, value);
        Ok(())
    }

    /// At the end the memory is as the model says.
    fn compare(&mut self) -> Wrong {
        (0..10_000).for_each(|_| self.bench.step());
        for (rank, (memory, model)) in self.memories.iter().zip(&self.model).enumerate() {
            let found = self.numbers.values(memory);
            if found != *model && !self.is_torn(rank) {
                return Err(format!("the memory of {rank} is {found:?}, expected {model:?}"));
            }
        }
        let (model, torn) = (&self.model, [0, 1, 2].map(|target| self.is_torn(target)));
        self.additions
            .follow_each_other(|target, place| (!torn[target]).then(|| model[target][place as usize]))
    }
}

pub(super) fn in_some_weather(seed: u64) -> Bench {
    Bench::new(seed, MEMBERS as u32, if seed.is_multiple_of(3) { CALM } else { ROUGH }, &Config::default())
}

/// Several links between any two members, each in a weather of its own: what goes over one overtakes what goes over another.
pub(super) fn over_some_links(seed: u64) -> Bench {
    const WIND: Weather = Weather { packet: 256, ..ROUGH };
    const STORM: Weather = Weather { delay: 60, ..WIND };
    let links = [&[WIND, STORM][..], &[STORM, CALM], &[STORM, WIND, CALM]][seed as usize % 3];
    Bench::over_links(seed, &[Format::NATIVE; MEMBERS], links, &Config::default())
}

#[test]
fn random_epochs_leave_what_the_model_says() {
    for reach in [Reach::Transport, Reach::Packets, Reach::Attached] {
        let mut transfers = 0;
        for seed in 1..=20 {
            let story = Story::new(in_some_weather(seed), reach, Mutant::Honest);
            transfers +=
                story.run(40, Cut::Nothing).unwrap_or_else(|wrong| panic!("{reach:?}, seed {seed}: {wrong}"));
        }
        assert_eq!(transfers > 100, reach == Reach::Transport, "{reach:?}: {transfers} by the method");
    }
}

#[test]
fn random_epochs_are_the_same_where_packets_overtake_and_a_link_breaks() {
    for reach in [Reach::Packets, Reach::Attached] {
        for seed in 1..=12 {
            let story = Story::new(over_some_links(seed), reach, Mutant::Honest);
            let ended = story.run(40, Cut::OneLink(150 * seed));
            ended.unwrap_or_else(|wrong| panic!("{reach:?}, seed {seed}: {wrong}"));
        }
    }
}

/// Two members lose each other in the middle: what each does to the other ends with an error that says so, and with the third one
/// all goes on as before.
#[test]
fn epochs_end_where_a_link_is_cut() {
    for reach in [Reach::Transport, Reach::Packets, Reach::Mixed, Reach::Attached] {
        for seed in 1..=20 {
            let story = Story::new(in_some_weather(seed), reach, Mutant::Honest);
            let ended = story.run(60, Cut::AllLinks(100 + 150 * seed));
            ended.unwrap_or_else(|wrong| panic!("{reach:?}, seed {seed}: {wrong}"));
        }
    }
}

#[test]
fn additions_that_overlap_are_found() {
    let follow = |steps: &[(u64, u64)], sum: u64| {
        let mut additions = Additions::default();
        steps.iter().for_each(|(was, value)| additions.fetched((1, 4), *was, *value));
        additions.follow_each_other(|_, _| Some(sum)).is_ok()
    };
    assert!(follow(&[(3, 2), (0, 3), (7, 1)], 8), "2 more have not fetched");
    assert!(!follow(&[(0, 3), (0, 3)], 6), "a lost update");
    assert!(!follow(&[(0, 3), (2, 3)], 9) && !follow(&[(0, 3), (3, 3)], 5));
}

#[test]
fn the_model_finds_who_shares_and_who_hurries() {
    for mutant in [Mutant::Shares, Mutant::Hurries] {
        for bench in [in_some_weather, over_some_links] {
            let story = |seed| Story::new(bench(seed), Reach::Packets, mutant);
            let caught = (1..=20).filter(|seed| story(*seed).run(40, Cut::Nothing).is_err()).count();
            assert!(caught >= 5, "{caught} of 20");
        }
    }
}

#[test]
fn an_access_outside_of_the_target_or_its_epoch_is_refused() {
    let numbers = Numbers::of(Named::Int);
    let story = Story::of(numbers, in_some_weather(1), Reach::Packets, Mutant::Honest);
    let (window, int) = (&story.windows[0], numbers.datatype());
    let at = |disp, count| At { rank: 1, disp, count, datatype: &int };
    let class = |at: &At<'_>, bytes| window.locate(at, bytes, false).unwrap_err().class();
    assert_eq!(class(&at(0, 1), 4), ErrorClass::RmaSync);
    window.epochs().fenced(false);
    let all = (ELEMENTS + SHARED) as i64;
    assert_eq!(class(&at(all, 1), 4), ErrorClass::RmaRange);
    assert_eq!(class(&at(0, 1 << 62), 4), ErrorClass::Type);
    assert_eq!(class(&at(i64::MAX, 1), 4), ErrorClass::RmaRange);
    assert_eq!(class(&at(-1, 1), 4), ErrorClass::Disp);
    assert_eq!(class(&At { rank: 3, ..at(0, 1) }, 4), ErrorClass::Rank);
    assert_eq!(window.locate(&At { rank: PROC_NULL, ..at(0, 1) }, 4, false).unwrap(), None);
    assert_eq!(window.locate(&at(all - 1, 1), 4, false).unwrap().map(|place| place.target), Some(1));
    let text = window.locate(&at(all, 2), 8, false).unwrap_err().to_string();
    assert_eq!(
        text,
        "target_disp is 44: 2 elements of MPI_INT at bytes 176..184, expected bytes 0..176 of rank 1, in units of 4"
    );
}

/// A flush that another thread has begun is seen by whoever flushes the same target meanwhile, until it has been answered.
#[test]
fn a_target_that_is_being_asked_is_never_taken_for_quiet() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let numbers = Numbers::of(Named::Unsigned);
    let mut story = Story::of(numbers, in_some_weather(3), Reach::Packets, Mutant::Honest);
    let window = story.windows[0].clone();
    window.epochs().lock(1, LockKind::Shared, false);
    let int = numbers.datatype();
    // Odd while there is an operation that has not been flushed; negative numbers end it.
    let (round, seen_quiet) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                let before = round.load(Ordering::SeqCst);
                if before == u64::MAX {
                    return;
                }
                let traffic = window.traffic();
                let dirty = !traffic.dirty(&[1]).is_empty();
                let is_quiet = !dirty && traffic.busy(Targets::These(&[1])).is_empty();
                if before % 2 == 1 && is_quiet && round.load(Ordering::SeqCst) == before {
                    seen_quiet.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        for _ in 0..3000 {
            story.start(0, (1, 0, &int), (Some(numbers.filled(&[7])), None), None).unwrap();
            // Only the flush is left.
            while !window.traffic().is_quiet(1, Age::LAST) {
                story.bench.step();
            }
            round.fetch_add(1, Ordering::SeqCst);
            let Vci { engine, methods, operations, .. } = &mut story.bench.vcis[0];
            operations.flush(engine, methods, &window, 1).unwrap();
            round.fetch_add(1, Ordering::SeqCst);
            while !window.traffic().is_quiet(1, Age::LAST) {
                story.bench.step();
            }
            window.traffic().outcome(1).unwrap();
            story.buffers[0].clear();
        }
        round.store(u64::MAX, Ordering::SeqCst);
    });
    window.epochs().unlock(1);
    assert_eq!(seen_quiet.into_inner(), 0, "times that a flush under way was not seen");
}

/// A flush is over although other threads start one operation after the other towards the same target.
#[test]
fn a_flush_does_not_wait_for_what_begins_after_it() {
    let numbers = Numbers::of(Named::Unsigned);
    let mut story = Story::of(numbers, in_some_weather(4), Reach::Packets, Mutant::Honest);
    let window = story.windows[0].clone();
    window.epochs().lock(1, LockKind::Shared, false);
    let int = numbers.datatype();
    let mut flushed = 0;
    let mut so_far = None;
    for step in 0..40_000 {
        if step % 64 == 0 {
            story.start(0, (1, 0, &int), (Some(numbers.filled(&[7])), None), None).unwrap();
        }
        let age = *so_far.get_or_insert_with(|| {
            let Vci { engine, methods, operations, .. } = &mut story.bench.vcis[0];
            operations.flush(engine, methods, &window, 1).unwrap();
            window.traffic().so_far()
        });
        story.bench.step();
        if window.traffic().is_quiet(1, age) {
            (flushed, so_far) = (flushed + u32::from(!window.traffic().is_quiet(1, Age::LAST)), None);
        }
    }
    assert!(flushed > 0, "{flushed} flushes were over while something else was under way");
    while !window.traffic().is_quiet(1, Age::LAST) {
        story.bench.step();
    }
    window.traffic().outcome(1).unwrap();
    window.epochs().unlock(1);
}
