//! Random programs with epochs of all kinds over simulated networks, with random datatypes on both sides. No two operations of a
//! program race, so memory and fetched buffers have to be as if one operation had been done after the other.
//!
//! A program is drawn before it runs, with what has to come of it. Its steps are those of `world/windows`, without its waiting.

use std::collections::VecDeque;
use std::sync::Arc;

use super::tests::{
    Additions, Expected, MEMBERS, Reach, Wrong, element, filled, in_some_weather, windows, words,
};
use super::*;
use crate::buffer::OwnedBuf;
use crate::coll;
use crate::config::Config;
use crate::datatype::Format;
use crate::named::Named;
use crate::op::Predefined;
use crate::progress::Vci;
use crate::testing::Bench;

/// Elements of each member's memory, and behind them those to which all may add.
const ELEMENTS: u64 = 60;
const SHARED: u64 = 4;
/// Room on each side of what a datatype describes.
const MARGIN: i64 = 80;
/// Tags of the words of a start and a complete.
const POSTED: i32 = 0;
const COMPLETED: i32 = 1;

/// What a member must not do.
#[derive(Clone, Copy, PartialEq)]
enum Mutant {
    Honest,
    /// It comes to the fence before its operations are done.
    Fence,
    /// It says that it is done before it is.
    Complete,
}

/// Elements of a datatype of some numbers of four bytes.
#[derive(Clone)]
struct Layout {
    datatype: Datatype,
    count: u64,
    /// Where each is, from the beginning.
    places: Vec<i64>,
}

impl Layout {
    /// One of `n` elements, of any constructor.
    fn random(bench: &Bench, n: u64) -> Self {
        let random = |n| bench.network.random(n);
        let halves = n.is_multiple_of(2) && n > 0 && random(3) == 0;
        let (count, each) = if halves { (2, n / 2) } else { (1, n) };
        let shape = shape(bench, each, 2);
        // The bounds of a part that was resized are those of the whole, which may reach farther.
        let datatype = Datatype::resized(&shape, 0, shape.true_lb() + shape.true_extent()).unwrap();
        // Where the elements are is read off a buffer in which each is its own place.
        let numbers: Vec<u32> = (0..2 * MARGIN as u32).collect();
        let (buffer, mut packed) = (filled(&numbers), OwnedBuf::new(4 * n as usize));
        let from = buffer.user_buf().offset(4 * MARGIN as isize / 2);
        Segment::new(from, count, &datatype).pack(packed.sink());
        let places = words(&packed.source().to_vec());
        Self { datatype, count, places: places.iter().map(|at| i64::from(*at) - MARGIN / 2).collect() }
    }

    /// A buffer of the origin, and what is described of it; `values`: its elements, in their order.
    fn buffer(&self, values: &[u32]) -> (OwnedBuf, Segment) {
        let mut all = vec![0xdead_beef; 2 * MARGIN as usize];
        for (place, value) in self.places.iter().zip(values) {
            all[(MARGIN + place) as usize] = *value;
        }
        let buffer = filled(&all);
        let segment = Segment::new(buffer.user_buf().offset(4 * MARGIN as isize), self.count, &self.datatype);
        (buffer, segment)
    }
}

/// A datatype of `n` elements.
fn shape(bench: &Bench, n: u64, depth: u32) -> Datatype {
    let random = |n| bench.network.random(n);
    let unsigned = Datatype::from(Named::Unsigned);
    let blocks = || {
        let (mut lengths, mut left) = (Vec::new(), n);
        while left > 0 {
            let length = 1 + random(left);
            lengths.push(length as i64);
            left -= length;
        }
        lengths
    };
    // Places of blocks one behind the other, and in any order.
    let ordered = |lengths: &[i64]| {
        let mut end = 0;
        let places = lengths.iter().map(|length| {
            let place = end + random(3) as i64;
            end = place + length;
            place
        });
        places.collect::<Vec<i64>>()
    };
    match random(if depth == 0 || n < 2 { 4 } else { 6 }) {
        0 => Datatype::contiguous(n as i64, &unsigned),
        1 => {
            let block = (1..=n).rev().find(|block| n.is_multiple_of(*block) && random(3) == 0).unwrap_or(1);
            Datatype::vector((n / block) as i64, block as i64, (block + random(3)) as i64, &unsigned)
        }
        2 => {
            let lengths = blocks();
            Datatype::indexed(&lengths, &ordered(&lengths), &unsigned)
        }
        3 => {
            let lengths = blocks();
            let places = ordered(&lengths);
            let mut all: Vec<(i64, i64)> = lengths.into_iter().zip(places).collect();
            (1..all.len()).for_each(|at| all.swap(at, random(at as u64 + 1) as usize));
            let (lengths, places): (Vec<i64>, Vec<i64>) = all.into_iter().unzip();
            let bytes: Vec<i64> = places.iter().map(|place| 4 * place).collect();
            Datatype::hindexed(&lengths, &bytes, &unsigned)
        }
        4 => {
            let first = 1 + random(n - 1);
            let types = [shape(bench, first, depth - 1), shape(bench, n - first, depth - 1)];
            let (behind, gap) = (types[0].true_lb() + types[0].true_extent(), 4 * random(3) as i64);
            Datatype::structure(&[1, 1], &[0, behind + gap - types[1].true_lb()], &types)
        }
        _ => {
            let each = shape(bench, n / 2, depth - 1);
            let extent = each.true_lb() + each.true_extent() + 4 * random(2) as i64;
            let apart = Datatype::resized(&each, 0, extent).unwrap();
            let pair = Datatype::contiguous(2, &apart).unwrap();
            if n.is_multiple_of(2) {
                Ok(pair)
            } else {
                Datatype::structure(&[1, 1], &[0, 2 * extent], &[pair, unsigned.clone()])
            }
        }
    }
    .unwrap()
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Put,
    Get,
    /// With what it fetches, or without.
    Combine(Predefined, bool),
    Swap(bool),
}

/// An operation, and what it fetches.
#[derive(Clone)]
struct Operation {
    target: usize,
    /// Element at which the target's datatype begins.
    disp: i64,
    theirs: Layout,
    ours: Layout,
    /// How what is fetched lies.
    fetched: Layout,
    kind: Kind,
    values: Vec<u32>,
    /// What it fetches; nothing is known where others add at the same time.
    expected: Option<Vec<u32>>,
}

/// A step of a member.
#[derive(Clone)]
enum Step {
    Start(Box<Operation>),
    /// Waits for what was started towards a target, or all.
    Flush(Option<usize>),
    /// All come here.
    Barrier,
    /// Beginning and end of the epoch of a fence.
    Fenced(bool),
    Post(Vec<usize>),
    Begin(Vec<usize>),
    Complete(Vec<usize>),
    /// The end of the exposure.
    Wait,
    Lock(usize, LockKind),
    Unlock(usize),
    LockAll,
    UnlockAll,
    /// These elements of the own memory are like this now.
    Look(Vec<(u64, u32)>),
}

/// Who may access an element in an epoch.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    Free,
    /// It was accessed by operations that must not meet others before a flush.
    Plain,
    /// By accumulate operations, which keep their order.
    Combined,
}

/// A program in the making.
struct Author<'a> {
    bench: &'a Bench,
    model: Vec<Vec<u32>>,
    steps: Vec<VecDeque<Step>>,
    /// Whose each element of each target is in this epoch.
    owners: Vec<Vec<usize>>,
    uses: Vec<Vec<Use>>,
    /// Elements that this epoch has changed.
    changed: Vec<Vec<bool>>,
    /// Where the members look at what the fence before has left, unless this epoch changes it.
    looks: bool,
}

impl<'a> Author<'a> {
    /// A program of so many epochs for each member, and the memory at its end.
    fn write(bench: &'a Bench, epochs: usize) -> (Vec<VecDeque<Step>>, Vec<Vec<u32>>) {
        let all = (ELEMENTS + SHARED) as usize;
        let mut author = Self {
            bench,
            model: vec![vec![0; all]; MEMBERS],
            steps: vec![VecDeque::new(); MEMBERS],
            owners: Vec::new(),
            uses: Vec::new(),
            changed: Vec::new(),
            looks: false,
        };
        for _ in 0..epochs {
            author.epoch();
        }
        author.all(|_| Step::Barrier);
        (author.steps, author.model)
    }

    fn random(&self, n: u64) -> u64 {
        self.bench.network.random(n)
    }

    fn all(&mut self, step: impl Fn(usize) -> Step) {
        self.steps.iter_mut().enumerate().for_each(|(rank, steps)| steps.push_back(step(rank)));
    }

    fn epoch(&mut self) {
        let all = (ELEMENTS + SHARED) as usize;
        // Owners have runs of elements, so that long operations find room.
        self.owners = (0..MEMBERS).map(|_| (0..ELEMENTS).map(|_| 0).collect()).collect();
        for target in 0..MEMBERS {
            let mut at = 0;
            while at < ELEMENTS {
                let (end, owner) = ((at + 1 + self.random(24)).min(ELEMENTS), self.random(MEMBERS as u64));
                self.owners[target][at as usize..end as usize].fill(owner as usize);
                at = end;
            }
        }
        self.uses = vec![vec![Use::Free; all]; MEMBERS];
        self.changed = vec![vec![false; all]; MEMBERS];
        let before = self.model.clone();
        let written = self.steps.iter().map(VecDeque::len).collect::<Vec<usize>>();
        let looks = std::mem::replace(&mut self.looks, false);
        match self.random(3) {
            0 => self.fences(looks),
            1 => self.starts(),
            _ => self.locks(),
        }
        if looks {
            // Others may be in this epoch already.
            for rank in 0..MEMBERS {
                let still =
                    (0..all).filter(|at| !self.changed[rank][*at]).map(|at| (at as u64, before[rank][at]));
                self.steps[rank].insert(written[rank], Step::Look(still.collect()));
            }
        }
    }

    fn fences(&mut self, follows_fence: bool) {
        if !follows_fence {
            self.all(|_| Step::Barrier);
        }
        self.all(|_| Step::Fenced(false));
        for origin in 0..MEMBERS {
            for _ in 0..self.random(6) {
                let target = self.random(MEMBERS as u64) as usize;
                self.operation(origin, target);
            }
        }
        self.all(|_| Step::Flush(None));
        self.all(|_| Step::Barrier);
        self.all(|_| Step::Fenced(true));
        self.looks = true;
    }

    fn starts(&mut self) {
        let takes_part: Vec<Vec<bool>> =
            (0..MEMBERS).map(|_| (0..MEMBERS).map(|_| self.random(2) == 0).collect()).collect();
        let targets = |origin: usize| (0..MEMBERS).filter(|target| takes_part[origin][*target]).collect();
        let origins = |target: usize| (0..MEMBERS).filter(|origin| takes_part[*origin][target]).collect();
        self.all(|rank| Step::Post(origins(rank)));
        self.all(|rank| Step::Begin(targets(rank)));
        for origin in 0..MEMBERS {
            let targets: Vec<usize> = targets(origin);
            for _ in 0..self.random(6) * u64::from(!targets.is_empty()) {
                self.operation(origin, targets[self.random(targets.len() as u64) as usize]);
            }
        }
        self.all(|rank| Step::Complete(targets(rank)));
        self.all(|_| Step::Wait);
        for rank in 0..MEMBERS {
            let now = (0..).zip(self.model[rank].iter().copied()).collect();
            self.steps[rank].push_back(Step::Look(now));
        }
    }

    fn locks(&mut self) {
        self.all(|_| Step::Barrier);
        for origin in 0..MEMBERS {
            if self.random(4) == 0 {
                self.steps[origin].push_back(Step::LockAll);
                for _ in 0..self.random(6) {
                    let target = self.random(MEMBERS as u64) as usize;
                    self.operation(origin, target);
                    self.now_and_then_flush(origin, target);
                }
                self.steps[origin].extend([Step::Flush(None), Step::UnlockAll]);
                self.flushed(origin, None);
                continue;
            }
            for _ in 0..self.random(3) {
                let target = self.random(MEMBERS as u64) as usize;
                let kind = [LockKind::Shared, LockKind::Exclusive][self.random(2) as usize];
                self.steps[origin].push_back(Step::Lock(target, kind));
                for _ in 0..self.random(4) {
                    self.operation(origin, target);
                    self.now_and_then_flush(origin, target);
                }
                self.steps[origin].extend([Step::Flush(Some(target)), Step::Unlock(target)]);
                self.flushed(origin, Some(target));
            }
        }
        self.all(|_| Step::Barrier);
    }

    fn now_and_then_flush(&mut self, origin: usize, target: usize) {
        if self.random(3) == 0 {
            self.steps[origin].push_back(Step::Flush(Some(target)));
            self.flushed(origin, Some(target));
        }
    }

    fn flushed(&mut self, origin: usize, target: Option<usize>) {
        for at in (0..MEMBERS).filter(|at| target.is_none_or(|target| target == *at)) {
            let owned = self.uses[at].iter_mut().zip(&self.owners[at]);
            owned.filter(|(_, owner)| **owner == origin).for_each(|(used, _)| *used = Use::Free);
        }
    }

    /// A random operation, if there is room for one.
    fn operation(&mut self, origin: usize, target: usize) {
        let n = 1 + self.random(10);
        let values: Vec<u32> = (0..n).map(|_| self.random(1000) as u32).collect();
        if self.random(4) == 0 {
            return self.add(origin, target, 1 + values[0]);
        }
        let operation =
            [Predefined::Sum, Predefined::Max, Predefined::Bxor, Predefined::Replace, Predefined::NoOp]
                [self.random(5) as usize];
        let kind = match self.random(6) {
            0 | 1 => Kind::Put,
            2 => Kind::Get,
            3 => Kind::Swap(self.random(2) == 0),
            4 => Kind::Combine(operation, true),
            _ if operation == Predefined::NoOp => return,
            _ => Kind::Combine(operation, false),
        };
        let combines = matches!(kind, Kind::Combine(..) | Kind::Swap(_));
        let n = if matches!(kind, Kind::Swap(_)) { 1 } else { n };
        let layout = |n| match kind {
            Kind::Swap(_) => Layout { datatype: Datatype::from(Named::Unsigned), count: 1, places: vec![0] },
            _ => Layout::random(self.bench, n),
        };
        let theirs = layout(n);
        let is_free = |disp: i64| {
            theirs.places.iter().all(|place| {
                let at = disp + place;
                (0..ELEMENTS as i64).contains(&at)
                    && self.owners[target][at as usize] == origin
                    && match self.uses[target][at as usize] {
                        Use::Free => true,
                        Use::Plain => false,
                        Use::Combined => combines,
                    }
            })
        };
        let first = self.random(ELEMENTS) as i64;
        let Some(disp) = (first..ELEMENTS as i64).chain(0..first).find(|disp| is_free(*disp)) else { return };
        let at: Vec<usize> = theirs.places.iter().map(|place| (disp + place) as usize).collect();
        let was: Vec<u32> = at.iter().map(|at| self.model[target][*at]).collect();
        let combined = |was: u32, value: u32| match kind {
            Kind::Put | Kind::Combine(Predefined::Replace, _) | Kind::Swap(true) => value,
            Kind::Combine(Predefined::Sum, _) => was.wrapping_add(value),
            Kind::Combine(Predefined::Max, _) => was.max(value),
            Kind::Combine(Predefined::Bxor, _) => was ^ value,
            _ => was,
        };
        for (at, value) in at.iter().zip(&values) {
            let element = &mut self.model[target][*at];
            self.changed[target][*at] |= combined(*element, *value) != *element;
            *element = combined(*element, *value);
            self.uses[target][*at] = if combines { Use::Combined } else { Use::Plain };
        }
        let [ours, fetched] = [0, 1].map(|_| layout(n));
        let values = values[..n as usize].to_vec();
        self.start(
            origin,
            Operation { target, disp, theirs, ours, fetched, kind, values, expected: Some(was) },
        );
    }

    /// Adds to an element to which others add at the same time.
    fn add(&mut self, origin: usize, target: usize, value: u32) {
        let place = ELEMENTS + self.random(SHARED);
        self.model[target][place as usize] += value;
        self.changed[target][place as usize] = true;
        let one = Layout { datatype: Datatype::from(Named::Unsigned), count: 1, places: vec![0] };
        let (kind, values) = (Kind::Combine(Predefined::Sum, self.random(2) == 0), vec![value]);
        let (theirs, ours, fetched) = (one.clone(), one.clone(), one);
        let disp = place as i64;
        self.start(origin, Operation { target, disp, theirs, ours, fetched, kind, values, expected: None });
    }

    fn start(&mut self, origin: usize, operation: Operation) {
        self.steps[origin].push_back(Step::Start(Box::new(operation)));
    }
}

/// A program that runs.
struct Run {
    bench: Bench,
    windows: Vec<Arc<Window>>,
    memories: Vec<OwnedBuf>,
    steps: Vec<VecDeque<Step>>,
    /// What the step of each member waits for; `None`: it has not begun.
    waits: Vec<Option<Vec<RequestId>>>,
    /// Words that tell of the end of exposures: receives that `MPI_Win_post` has begun.
    completed: Vec<Vec<RequestId>>,
    /// Buffers in use, and what they must hold when their operations are done.
    buffers: Vec<Vec<(OwnedBuf, Expected)>>,
    additions: Additions,
    mutant: Mutant,
}

impl Run {
    /// Runs a program of so many epochs to its end.
    fn of(mut bench: Bench, reach: Reach, mutant: Mutant, epochs: usize) -> Wrong {
        let memories: Vec<OwnedBuf> =
            (0..MEMBERS).map(|_| filled(&vec![0; (ELEMENTS + SHARED) as usize])).collect();
        let windows = windows(&mut bench, &memories, reach);
        let (steps, model) = Author::write(&bench, epochs);
        let (waits, completed) = (vec![None; MEMBERS], vec![Vec::new(); MEMBERS]);
        let buffers = (0..MEMBERS).map(|_| Vec::new()).collect();
        let additions = Additions::default();
        let mut run = Self { bench, windows, memories, steps, waits, completed, buffers, additions, mutant };
        for _ in 0..2_000_000 {
            let at = run.bench.network.random(MEMBERS as u64) as usize;
            run.go_on(at)?;
            run.bench.step();
            if run.steps.iter().all(VecDeque::is_empty) {
                (0..10_000).for_each(|_| run.bench.step());
                let found = run.memories.iter().map(|memory| words(&memory.source().to_vec()));
                let differ = found.zip(&model).position(|(found, model)| found != *model);
                if let Some(rank) = differ {
                    return Err(format!("the memory of {rank} is another one"));
                }
                return run.additions.follow_each_other(|target, place| Some(model[target][place as usize]));
            }
        }
        Err("it does not end".to_owned())
    }

    /// One member goes on, if it can.
    fn go_on(&mut self, at: usize) -> Wrong {
        let Some(step) = self.steps[at].front().cloned() else { return Ok(()) };
        if self.waits[at].is_none() {
            self.waits[at] = Some(self.begin(at, &step)?);
        }
        let waits = self.waits[at].as_mut().expect("it has begun");
        let mut failed = None;
        waits.retain(|id| match self.bench.take(at, *id) {
            Some(status) => {
                failed = failed.take().or(status.error);
                false
            }
            None => true,
        });
        if let Some(why) = failed {
            return Err(why.to_string());
        }
        if !waits.is_empty() || !self.is_over(at, &step)? {
            return Ok(());
        }
        self.waits[at] = None;
        self.steps[at].pop_front();
        Ok(())
    }

    fn flush(&mut self, at: usize, targets: &[usize]) -> Wrong {
        let window = &self.windows[at];
        let Vci { engine, methods, operations, .. } = &mut self.bench.vcis[at];
        for target in window.traffic().dirty(targets) {
            operations.flush(engine, methods, window, target).map_err(|why| why.to_string())?;
        }
        Ok(())
    }

    /// Begins a step; what it waits for.
    fn begin(&mut self, at: usize, step: &Step) -> std::result::Result<Vec<RequestId>, String> {
        let wrong = |why: Error| why.to_string();
        let window = self.windows[at].clone();
        let none = OwnedBuf::new(0);
        match step {
            Step::Start(operation) => self.start(at, operation)?,
            Step::Flush(None) if self.mutant == Mutant::Fence => {}
            Step::Flush(target) => {
                let all = target.map_or_else(|| (0..MEMBERS).collect(), |target| vec![target]);
                self.flush(at, &all)?;
            }
            Step::Barrier => {
                let schedule = coll::barrier(window.comm());
                let Vci { engine, methods, running, .. } = &mut self.bench.vcis[at];
                return Ok(vec![running.start(engine, methods, schedule).map_err(wrong)?]);
            }
            Step::Fenced(is_last) => {
                window.epochs().check_fence(false).map_err(wrong)?;
                window.epochs().fenced(*is_last);
            }
            Step::Post(origins) => {
                for origin in origins {
                    let word = self.bench.recv(at, *origin as i32, COMPLETED, &none);
                    self.completed[at].push(word);
                    self.bench.send(at, *origin as u32, POSTED, &none, false);
                }
            }
            Step::Begin(targets) => {
                window.epochs().check_start().map_err(wrong)?;
                return Ok(targets
                    .iter()
                    .map(|target| self.bench.recv(at, *target as i32, POSTED, &none))
                    .collect());
            }
            Step::Complete(targets) if self.mutant == Mutant::Complete => self.tell_completed(at, targets),
            Step::Complete(targets) => self.flush(at, targets)?,
            Step::Wait => return Ok(std::mem::take(&mut self.completed[at])),
            Step::Lock(target, kind) => {
                window.epochs().check_lock(*target).map_err(wrong)?;
                let Vci { engine, methods, operations, .. } = &mut self.bench.vcis[at];
                operations.lock(engine, methods, &window, (*target, *kind)).map_err(wrong)?;
            }
            Step::LockAll => {
                window.epochs().check_lock_all().map_err(wrong)?;
                let Vci { engine, methods, operations, .. } = &mut self.bench.vcis[at];
                for target in 0..MEMBERS {
                    operations.lock(engine, methods, &window, (target, LockKind::Shared)).map_err(wrong)?;
                }
            }
            Step::Unlock(target) => {
                window.epochs().check_unlock(*target).map_err(wrong)?;
                window.epochs().unlock(*target);
                let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
                Operations::unlock(engine, methods, &window, *target).map_err(wrong)?;
            }
            Step::UnlockAll => {
                window.epochs().check_unlock_all().map_err(wrong)?;
                window.epochs().completed();
                let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
                for target in 0..MEMBERS {
                    Operations::unlock(engine, methods, &window, target).map_err(wrong)?;
                }
            }
            Step::Look(values) => {
                let found = words(&self.memories[at].source().to_vec());
                for (place, value) in values {
                    if found[*place as usize] != *value {
                        let found = found[*place as usize];
                        return Err(format!("{at} finds {found} in element {place}, expected {value}"));
                    }
                }
            }
        }
        Ok(Vec::new())
    }

    fn tell_completed(&mut self, at: usize, targets: &[usize]) {
        let none = OwnedBuf::new(0);
        for target in targets {
            self.bench.send(at, *target as u32, COMPLETED, &none, false);
        }
    }

    /// Whether a step is over whose requests are; what follows then.
    fn is_over(&mut self, at: usize, step: &Step) -> std::result::Result<bool, String> {
        let window = self.windows[at].clone();
        let quiet = |targets: &[usize]| targets.iter().all(|target| window.traffic().is_quiet(*target));
        let outcome = |targets: &[usize]| {
            targets
                .iter()
                .try_for_each(|target| window.traffic().outcome(*target))
                .map_err(|why| why.to_string())
        };
        let all: Vec<usize> = (0..MEMBERS).collect();
        match step {
            Step::Flush(None) if self.mutant == Mutant::Fence => {}
            Step::Flush(target) => {
                let targets = target.map_or(all, |target| vec![target]);
                if !quiet(&targets) {
                    return Ok(false);
                }
                outcome(&targets)?;
                if target.is_none() {
                    self.fetched(at)?;
                }
            }
            Step::Complete(targets) => {
                if !quiet(targets) {
                    return Ok(false);
                }
                outcome(targets)?;
                self.fetched(at)?;
                window.epochs().check_complete().map_err(|why| why.to_string())?;
                window.epochs().completed();
                if self.mutant != Mutant::Complete {
                    self.tell_completed(at, targets);
                }
            }
            Step::Begin(targets) => window.epochs().started(targets),
            Step::Lock(target, kind) => {
                if !quiet(&[*target]) {
                    return Ok(false);
                }
                outcome(&[*target])?;
                window.epochs().lock(*target, *kind, false);
            }
            Step::LockAll => {
                if !quiet(&all) {
                    return Ok(false);
                }
                outcome(&all)?;
                window.epochs().lock_all(false);
            }
            // The buffers of one target are done; those of others may not be.
            Step::Unlock(_) => self.fetched(at)?,
            _ => {}
        }
        Ok(true)
    }

    /// All operations of a member are done: what they have fetched, and that nothing else has changed.
    fn fetched(&mut self, at: usize) -> Wrong {
        for (buffer, expected) in self.buffers[at].drain(..) {
            let found = words(&buffer.source().to_vec());
            if self.mutant != Mutant::Honest {
                std::mem::forget(buffer); // it may still be in use
            }
            match expected {
                Expected::These(expected) if expected != found => {
                    return Err(format!("{at} has fetched {found:x?}, expected {expected:x?}"));
                }
                Expected::Before { word, element, value } => {
                    self.additions.fetched(element, found[word], value);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn start(&mut self, at: usize, operation: &Operation) -> Wrong {
        let Operation { target, disp, theirs, ours, fetched, kind, values, expected } = operation;
        let window = self.windows[at].clone();
        let first = self.memories[*target].user_buf().address() as i64;
        let disp = if window.flavor() == Flavor::Dynamic { first + 4 * disp } else { *disp };
        let to = At { rank: *target as i32, disp, count: theirs.count, datatype: &theirs.datatype };
        let bytes = theirs.count * theirs.datatype.size();
        let place = window.locate(&to, bytes, false).map_err(|why| why.to_string())?.ok_or("nowhere")?;
        let (given, data) = match kind {
            Kind::Swap(succeeds) => {
                let expects = expected.as_ref().ok_or("a swap of a known value")?[0] ^ u32::from(!succeeds);
                let both = filled(&[expects, values[0]]);
                let segment = Segment::contiguous(both.user_buf(), 8);
                (both, segment)
            }
            _ => ours.buffer(values),
        };
        let (into, old) = fetched.buffer(&vec![0; values.len()]);
        let (end, _) = fetched.buffer(expected.as_deref().unwrap_or_default());
        let Vci { engine, methods, operations, .. } = &mut self.bench.vcis[at];
        let origin = &mut Origin { engine, methods, request: None };
        let fetches = !matches!(kind, Kind::Put | Kind::Combine(_, false));
        let started = match kind {
            Kind::Put => operations.put(origin, &window, (&to, place), &data),
            Kind::Get => operations.get(origin, &window, (&to, place), &old),
            Kind::Combine(op, _) => {
                let what = (element(), Update::Combine(*op));
                operations.update(origin, &window, (&to, place), what, &data, Some(&old).filter(|_| fetches))
            }
            Kind::Swap(_) => {
                let what = (element(), Update::CompareAndSwap);
                operations.update(origin, &window, (&to, place), what, &data, Some(&old))
            }
        };
        let end = words(&end.source().to_vec());
        self.buffers[at].push((given, Expected::Anything));
        let expected = match expected {
            _ if !fetches => Expected::Anything,
            Some(_) => Expected::These(end),
            None => {
                let element = (*target, operation.disp as u64);
                Expected::Before { word: MARGIN as usize, element, value: values[0] }
            }
        };
        self.buffers[at].push((into, expected));
        started.map_err(|why| why.to_string())
    }
}

#[test]
fn random_programs_end_as_one_operation_after_the_other() {
    for reach in [Reach::Transport, Reach::Packets, Reach::Mixed, Reach::Attached] {
        for seed in 1..=15 {
            let ended = Run::of(in_some_weather(seed), reach, Mutant::Honest, 12);
            ended.unwrap_or_else(|wrong| panic!("{reach:?}, seed {seed}: {wrong}"));
        }
    }
    for seed in 1..=2 {
        let bench = Bench::over_tcp(seed, &[Format::NATIVE; MEMBERS], &Config::default());
        let ended = Run::of(bench, Reach::Packets, Mutant::Honest, 12);
        ended.unwrap_or_else(|wrong| panic!("TCP, seed {seed}: {wrong}"));
    }
}

#[test]
fn the_model_finds_who_comes_to_a_fence_or_completes_too_early() {
    for mutant in [Mutant::Fence, Mutant::Complete] {
        let is_caught = |seed: &u64| Run::of(in_some_weather(*seed), Reach::Packets, mutant, 20).is_err();
        let caught = (1..=30).filter(is_caught).count();
        assert!(caught >= 3, "{caught} of 30");
    }
}
