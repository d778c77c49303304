//! Random programs with epochs of all kinds over simulated networks, on memory of random lengths, numbers and units, with random
//! datatypes on both sides. No two operations of a program race, so memory and fetched buffers have to be as if one operation had
//! been done after the other. Also where two members lose each other, as far as that is between them and the third one.
//!
//! A program is drawn before it runs, with what has to come of it. Its steps are those of `world/windows`, without its waiting.
//! Parts: `program` draws it, `layouts` its datatypes; here it runs.

mod layouts;
mod program;

use std::collections::VecDeque;
use std::sync::Arc;

use super::tests::{
    Additions, Cut, Expected, MEMBERS, Reach, Wrong, in_some_weather, over_some_links, windows,
};
use super::*;
use crate::buffer::OwnedBuf;
use crate::coll;
use crate::config::Config;
use crate::datatype::Format;
use crate::ids::ContextId;
use crate::progress::Vci;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::{recv, send};
use crate::request::Status;
use crate::testing::Bench;
use crate::wire::{Envelope, Mode};
use layouts::MARGIN;
use program::{Kind, Memories, Operation, Program, Sort, Step};

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

/// An operation that has begun.
struct Begun {
    operation: Box<Operation>,
    /// Of the origin.
    given: OwnedBuf,
    into: OwnedBuf,
    /// What this must be when the operation is done.
    expected: Expected,
}

/// What a member waits for: a request, and whom it needs; nobody in particular.
type Awaited = (RequestId, Option<usize>);

/// A member of a program that runs.
#[derive(Default)]
struct Member {
    steps: VecDeque<Step>,
    /// What the step waits for; `None`: it has not begun.
    waits: Option<Vec<Awaited>>,
    /// Whom the step has needed in vain.
    missed: Vec<Option<usize>>,
    /// The step, or the wait for the end of the exposure, must end with an error: it needs somebody who is known to be lost.
    must_fail: bool,
    wait_must_fail: bool,
    /// Words that tell of the end of exposures: receives that `MPI_Win_post` has begun.
    completed: Vec<Awaited>,
    /// A fence has failed, so no access epoch has begun.
    unfenced: bool,
    begun: Vec<Begun>,
}

/// A program that runs.
struct Run {
    bench: Bench,
    windows: Vec<Arc<Window>>,
    memories: Memories,
    buffers: Vec<OwnedBuf>,
    members: Vec<Member>,
    accessed: Vec<Vec<[bool; MEMBERS]>>,
    /// Elements of which nothing is known, because what should have been done to them may not have been.
    torn: Vec<Vec<bool>>,
    /// Elements that both of two access who have lost each other: nobody knows in which order.
    unordered: Vec<Vec<bool>>,
    additions: Additions,
    mutant: Mutant,
    /// The first two members have lost each other.
    are_cut: bool,
    /// How often one of them has been told that.
    told: usize,
}

impl Run {
    /// Runs a program of so many epochs to its end; how often somebody was told of a loss.
    fn of(
        mut bench: Bench,
        (reach, mutant): (Reach, Mutant),
        epochs: (usize, Sort),
        cut: Cut,
    ) -> std::result::Result<usize, String> {
        let memories = Memories::random(&bench);
        let buffers: Vec<OwnedBuf> =
            (0..MEMBERS).map(|rank| OwnedBuf::new(memories.bytes(rank) as usize)).collect();
        let windows = windows(&mut bench, (&buffers, memories.units), reach);
        let keeps = matches!(cut, Cut::AllLinks(_));
        let Program { steps, model, accessed } = Program::random(&bench, memories, epochs, keeps);
        let torn: Vec<Vec<bool>> = model.iter().map(|all| vec![false; all.len()]).collect();
        let unordered = torn.clone();
        let members = steps.into_iter().map(|steps| Member { steps, ..Member::default() }).collect();
        let additions = Additions::default();
        let (are_cut, told) = (false, 0);
        let mut run = Self {
            bench,
            windows,
            memories,
            buffers,
            members,
            accessed,
            torn,
            unordered,
            additions,
            mutant,
            are_cut,
            told,
        };
        for step in 0..2_000_000 {
            if cut.now(step, &run.bench) {
                run.part();
            }
            let at = run.bench.network.random(MEMBERS as u64) as usize;
            run.go_on(at)?;
            run.bench.step();
            if run.members.iter().all(|member| member.steps.is_empty()) {
                run.compare(&model)?;
                return Ok(run.told);
            }
        }
        Err("it does not end".to_owned())
    }

    /// At the end the memory is as the model says.
    fn compare(&mut self, model: &[Vec<u64>]) -> Wrong {
        (0..10_000).for_each(|_| self.bench.step());
        for (rank, (buffer, model)) in self.buffers.iter().zip(model).enumerate() {
            let found = self.memories.numbers.values(buffer);
            for (at, (found, expected)) in found.iter().zip(model).enumerate() {
                if found != expected && !self.torn[rank][at] {
                    return Err(format!("element {at} of {rank} is {found}, expected {expected}"));
                }
            }
        }
        let known = |target: usize, at: usize| (!self.torn[target][at]).then(|| model[target][at]);
        self.additions.follow_each_other(|target, place| known(target, place as usize))
    }

    /// The first two members have lost each other.
    fn part(&mut self) {
        self.are_cut = true;
        self.disorder([0, 1]);
    }

    /// Nothing says any more which of these two comes first where both go.
    fn disorder(&mut self, both: [usize; 2]) {
        for (target, all) in self.accessed.iter().enumerate() {
            for (unordered, by) in self.unordered[target].iter_mut().zip(all) {
                *unordered |= both.into_iter().all(|member| by[member] || member == target);
            }
        }
    }

    /// Whether it is known what an element is like at this point of the program.
    fn is_known(&self, target: usize, at: usize) -> bool {
        !self.torn[target][at] && !self.unordered[target][at]
    }

    /// An operation was not done, as far as is known.
    fn left_out(&mut self, operation: &Operation) {
        operation.places().for_each(|at| self.torn[operation.target][at] = true);
    }

    /// A member ends something with this because it needs another one: that is right where it has lost that one, and nowhere else.
    /// Who needs all, in a barrier, hears of it from those who have lost each other.
    fn bears(&mut self, at: usize, needs: Option<usize>, why: &Error) -> Wrong {
        let is_lost = self.are_cut && needs.is_none_or(|needs| at < 2 && needs == 1 - at);
        let names = |rank: usize| why.to_string().contains(&format!("rank {rank} of the world"));
        let names_it = needs.map_or_else(|| names(0) || names(1), names);
        if !is_lost || !names_it || why.class() != ErrorClass::ProcAborted {
            return Err(format!("{at} fails: {why}"));
        }
        self.told += 1;
        if needs.is_none() {
            (0..MEMBERS).filter(|other| *other != at).for_each(|other| self.disorder([at, other]));
        }
        self.members[at].missed.push(needs);
        let torn = self.members[at].begun.iter().map(|begun| &begun.operation);
        let torn: Vec<_> = torn.filter(|operation| Some(operation.target) == needs).cloned().collect();
        torn.iter().for_each(|operation| self.left_out(operation));
        Ok(())
    }

    /// Whether a member knows that it has lost one of these.
    fn has_lost(&self, at: usize, needs: &[usize]) -> bool {
        at < 2 && needs.contains(&(1 - at)) && !self.bench.vcis[at].engine.losses.is_empty()
    }

    /// A member cannot begin an epoch: the program leaves out what it has of it.
    fn leave_out(&mut self, at: usize) {
        while let Some(step) = self.members[at].steps.remove(1) {
            match step {
                Step::Start(operation) => self.left_out(&operation),
                Step::Complete(_) | Step::Unlock(_) | Step::UnlockAll => break,
                _ => {}
            }
        }
    }

    /// One member goes on, if it can.
    fn go_on(&mut self, at: usize) -> Wrong {
        let Some(step) = self.members[at].steps.front().cloned() else { return Ok(()) };
        if self.members[at].waits.is_none() {
            self.members[at].missed.clear();
            self.members[at].must_fail = false;
            let waits = self.begin(at, &step)?;
            self.members[at].waits = Some(waits);
        }
        let waits = std::mem::take(&mut self.members[at].waits).unwrap_or_default();
        let mut open = Vec::new();
        for (id, needs) in waits {
            match self.bench.take(at, id) {
                Some(Status { error: Some(why), .. }) => self.bears(at, needs, &why)?,
                Some(_) => {}
                None => open.push((id, needs)),
            }
        }
        let is_open = !open.is_empty();
        self.members[at].waits = Some(open);
        if is_open || !self.is_over(at, &step)? {
            return Ok(());
        }
        if self.members[at].must_fail && self.members[at].missed.is_empty() {
            return Err(format!("{at} goes on without who is lost"));
        }
        self.members[at].waits = None;
        self.members[at].steps.pop_front();
        Ok(())
    }

    /// Flushes those of these targets that have something to do.
    fn flush(&mut self, at: usize, targets: &[usize]) -> Wrong {
        let window = self.windows[at].clone();
        for target in window.traffic().dirty(targets) {
            let Vci { engine, methods, operations, .. } = &mut self.bench.vcis[at];
            if let Err(why) = operations.flush(engine, methods, &window, target) {
                self.bears(at, Some(target), &why)?;
            }
        }
        Ok(())
    }

    /// What became of what was started towards these targets.
    fn outcome(&mut self, at: usize, targets: &[usize]) -> Wrong {
        let window = self.windows[at].clone();
        for target in targets {
            if let Err(why) = window.traffic().outcome(*target) {
                self.bears(at, Some(*target), &why)?;
            }
        }
        Ok(())
    }

    /// Asks for locks, of which those that cannot be had are missed.
    fn lock(&mut self, at: usize, targets: &[usize], kind: LockKind) -> Wrong {
        self.members[at].must_fail = self.has_lost(at, targets);
        let window = self.windows[at].clone();
        for target in targets {
            let Vci { engine, methods, operations, .. } = &mut self.bench.vcis[at];
            if let Err(why) = operations.lock(engine, methods, &window, (*target, kind)) {
                self.bears(at, Some(*target), &why)?;
            }
        }
        Ok(())
    }

    fn unlock(&mut self, at: usize, targets: &[usize]) -> Wrong {
        let window = self.windows[at].clone();
        for target in targets {
            let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
            if let Err(why) = Operations::unlock(engine, methods, &window, *target) {
                self.bears(at, Some(*target), &why)?;
            }
        }
        Ok(())
    }

    /// The locks that were asked for are there; all of them, or none is kept.
    fn locked(&mut self, at: usize, targets: &[usize]) -> std::result::Result<bool, String> {
        self.outcome(at, targets)?;
        let missed = std::mem::take(&mut self.members[at].missed);
        let had: Vec<usize> =
            targets.iter().copied().filter(|target| !missed.contains(&Some(*target))).collect();
        if !missed.is_empty() {
            self.unlock(at, &had)?;
            self.leave_out(at);
        }
        self.members[at].missed = missed;
        Ok(had.len() == targets.len())
    }

    /// Begins a step; what it waits for.
    fn begin(&mut self, at: usize, step: &Step) -> std::result::Result<Vec<Awaited>, String> {
        let wrong = |why: Error| why.to_string();
        let window = self.windows[at].clone();
        let all: Vec<usize> = (0..MEMBERS).collect();
        match step {
            Step::Start(operation) => self.start(at, operation)?,
            Step::Flush(None) if self.mutant == Mutant::Fence => {}
            Step::Flush(target) => self.flush(at, &target.map_or(all, |target| vec![target]))?,
            Step::Barrier => {
                self.members[at].must_fail = self.has_lost(at, &all);
                let schedule = coll::barrier(window.comm());
                let Vci { engine, methods, running, .. } = &mut self.bench.vcis[at];
                return Ok(vec![(running.start(engine, methods, schedule).map_err(wrong)?, None)]);
            }
            Step::Fenced(is_last) => {
                window.epochs().check_fence(false).map_err(wrong)?;
                // Behind a barrier that has failed no epoch begins.
                window.epochs().fenced(*is_last || self.members[at].unfenced);
            }
            Step::Post(origins) => {
                self.members[at].wait_must_fail = self.has_lost(at, origins);
                for origin in origins {
                    let word = self.word(at, *origin, COMPLETED)?;
                    self.members[at].completed.push(word);
                    self.tell(at, *origin, POSTED)?;
                }
            }
            Step::Begin(targets) => {
                window.epochs().check_start().map_err(wrong)?;
                return targets.iter().map(|target| self.word(at, *target, POSTED)).collect();
            }
            Step::Complete(targets) if self.mutant == Mutant::Complete => self.tell_completed(at, targets)?,
            Step::Complete(targets) => self.flush(at, targets)?,
            Step::Wait => {
                let member = &mut self.members[at];
                member.must_fail = std::mem::take(&mut member.wait_must_fail);
                return Ok(std::mem::take(&mut member.completed));
            }
            Step::Lock(target, kind) => {
                window.epochs().check_lock(*target).map_err(wrong)?;
                self.lock(at, &[*target], *kind)?;
            }
            Step::LockAll => {
                window.epochs().check_lock_all().map_err(wrong)?;
                self.lock(at, &all, LockKind::Shared)?;
            }
            Step::Unlock(target) => {
                window.epochs().check_unlock(*target).map_err(wrong)?;
                window.epochs().unlock(*target);
                self.unlock(at, &[*target])?;
            }
            Step::UnlockAll => {
                window.epochs().check_unlock_all().map_err(wrong)?;
                window.epochs().completed();
                self.unlock(at, &all)?;
            }
            Step::Look(values) => {
                let found = self.memories.numbers.values(&self.buffers[at]);
                for (place, value) in values {
                    if found[*place] != *value && self.is_known(at, *place) {
                        let found = found[*place];
                        return Err(format!("{at} finds {found} in element {place}, expected {value}"));
                    }
                }
            }
        }
        Ok(Vec::new())
    }

    /// Begins to receive a word of another member.
    fn word(&mut self, at: usize, from: usize, tag: i32) -> std::result::Result<Awaited, String> {
        let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
        let pattern = Pattern { context: ContextId::WORLD, source: from as i32, tag };
        let word = recv::start(engine, methods, &pattern, Segment::empty());
        word.map(|word| (word, Some(from))).map_err(|why| why.to_string())
    }

    /// Says a word to another member.
    fn tell(&mut self, at: usize, to: usize, tag: i32) -> Wrong {
        let segment = Segment::empty();
        let (context, source, types) = (ContextId::WORLD, at as i32, segment.types());
        let envelope = Envelope { context, source, tag, len: 0, mode: Mode::Standard, types };
        let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
        match send::start(engine, methods, Peer(to as u32), &envelope, segment) {
            Ok(_) => Ok(()),
            Err(why) => self.bears(at, Some(to), &why),
        }
    }

    fn tell_completed(&mut self, at: usize, targets: &[usize]) -> Wrong {
        targets.iter().try_for_each(|target| self.tell(at, *target, COMPLETED))
    }

    /// Whether a step is over whose requests are; what follows then.
    fn is_over(&mut self, at: usize, step: &Step) -> std::result::Result<bool, String> {
        let window = self.windows[at].clone();
        let quiet =
            |targets: &[usize]| targets.iter().all(|target| window.traffic().is_quiet(*target, Age::LAST));
        let all: Vec<usize> = (0..MEMBERS).collect();
        match step {
            Step::Barrier => self.members[at].unfenced = !self.members[at].missed.is_empty(),
            Step::Flush(None) if self.mutant == Mutant::Fence => {}
            Step::Flush(target) => {
                let targets = target.map_or(all, |target| vec![target]);
                if !quiet(&targets) {
                    return Ok(false);
                }
                self.outcome(at, &targets)?;
                if target.is_none() {
                    self.fetched(at)?;
                }
            }
            Step::Complete(targets) => {
                if !quiet(targets) {
                    return Ok(false);
                }
                self.outcome(at, targets)?;
                self.fetched(at)?;
                window.epochs().check_complete().map_err(|why| why.to_string())?;
                window.epochs().completed();
                if self.mutant != Mutant::Complete {
                    self.tell_completed(at, targets)?;
                }
            }
            Step::Begin(targets) if self.members[at].missed.is_empty() => window.epochs().started(targets),
            Step::Begin(targets) => {
                // The others hear that nothing will be accessed.
                let missed = &self.members[at].missed;
                let posted: Vec<usize> =
                    targets.iter().copied().filter(|target| !missed.contains(&Some(*target))).collect();
                self.tell_completed(at, &posted)?;
                self.leave_out(at);
            }
            Step::Lock(target, kind) => {
                if !quiet(&[*target]) {
                    return Ok(false);
                }
                if self.locked(at, &[*target])? {
                    window.epochs().lock(*target, *kind, false);
                }
            }
            Step::LockAll => {
                if !quiet(&all) {
                    return Ok(false);
                }
                if self.locked(at, &all)? {
                    window.epochs().lock_all(false);
                }
            }
            // The buffers of one target are done; those of others may not be.
            Step::Unlock(_) => self.fetched(at)?,
            _ => {}
        }
        Ok(true)
    }

    /// All operations of a member are done: what they have fetched, and that nothing else has changed.
    fn fetched(&mut self, at: usize) -> Wrong {
        for Begun { operation, given, into, expected } in std::mem::take(&mut self.members[at].begun) {
            let found = self.memories.numbers.values(&into);
            let is_known = operation.places().all(|at| self.is_known(operation.target, at));
            if self.mutant != Mutant::Honest {
                std::mem::forget((given, into)); // they may still be in use
            }
            match expected {
                Expected::These(_) if !is_known => {}
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
        let (window, numbers) = (self.windows[at].clone(), self.memories.numbers);
        let first = self.buffers[*target].user_buf().address() as u64;
        let byte = disp * numbers.size();
        let disp = match window.flavor() {
            Flavor::Dynamic => (first + byte) as i64,
            _ => (byte / self.memories.units[*target]) as i64,
        };
        let to = At { rank: *target as i32, disp, count: theirs.count, datatype: &theirs.datatype };
        let bytes = theirs.count * theirs.datatype.size();
        let place = match window.locate(&to, bytes, false) {
            Ok(place) => place.ok_or("nowhere")?,
            Err(why) if self.members[at].unfenced && why.class() == ErrorClass::RmaSync => {
                self.left_out(operation);
                return Ok(());
            }
            Err(why) => return Err(why.to_string()),
        };
        let (given, data) = match kind {
            Kind::Swap(succeeds) => {
                let expects = expected.as_ref().ok_or("a swap of a known value")?[0] ^ u64::from(!succeeds);
                let both = numbers.filled(&[expects, values[0]]);
                let segment = Segment::contiguous(both.user_buf(), 2 * numbers.size());
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
                let what = (numbers.element(), Update::Combine(*op));
                operations.update(origin, &window, (&to, place), what, &data, Some(&old).filter(|_| fetches))
            }
            Kind::Swap(_) => {
                let what = (numbers.element(), Update::CompareAndSwap);
                operations.update(origin, &window, (&to, place), what, &data, Some(&old))
            }
        };
        let expected = match expected {
            _ if !fetches => Expected::Anything,
            Some(_) => Expected::These(numbers.values(&end)),
            None => {
                let element = (*target, operation.disp);
                Expected::Before { word: MARGIN as usize, element, value: values[0] }
            }
        };
        self.members[at].begun.push(Begun { operation: operation.clone().into(), given, into, expected });
        started.or_else(|why| self.bears(at, Some(*target), &why))
    }
}

#[test]
fn random_programs_end_as_one_operation_after_the_other() {
    for reach in [Reach::Transport, Reach::Packets, Reach::Mixed, Reach::Attached] {
        for seed in 1..=15 {
            let how = (reach, Mutant::Honest);
            let ended = Run::of(in_some_weather(seed), how, (12, Sort::Any), Cut::Nothing);
            ended.unwrap_or_else(|wrong| panic!("{reach:?}, seed {seed}: {wrong}"));
        }
    }
    for seed in 1..=2 {
        let bench = Bench::over_tcp(seed, &[Format::NATIVE; MEMBERS], &Config::default());
        let ended = Run::of(bench, (Reach::Packets, Mutant::Honest), (12, Sort::Any), Cut::Nothing);
        ended.unwrap_or_else(|wrong| panic!("TCP, seed {seed}: {wrong}"));
    }
}

#[test]
fn random_programs_end_the_same_where_packets_overtake_and_a_link_breaks() {
    for reach in [Reach::Packets, Reach::Attached] {
        for seed in 1..=15 {
            let (how, cut) = ((reach, Mutant::Honest), Cut::OneLink(200 * seed));
            let ended = Run::of(over_some_links(seed), how, (12, Sort::Any), cut);
            ended.unwrap_or_else(|wrong| panic!("{reach:?}, seed {seed}: {wrong}"));
        }
    }
}

/// Two members lose each other in the middle: whatever needs the other one ends with an error that names it, nobody waits for ever,
/// and what each does with the third one goes on as before.
#[test]
fn epochs_of_all_sorts_end_where_two_lose_each_other() {
    for sort in [Sort::Fences, Sort::Starts, Sort::Locks, Sort::Any] {
        for reach in [Reach::Transport, Reach::Packets, Reach::Mixed, Reach::Attached] {
            let mut told = 0;
            for seed in 1..=10 {
                let (how, cut) = ((reach, Mutant::Honest), Cut::AllLinks(300 * seed));
                let ended = Run::of(in_some_weather(seed), how, (12, sort), cut);
                told += ended.unwrap_or_else(|wrong| panic!("{sort:?}, {reach:?}, seed {seed}: {wrong}"));
            }
            assert!(told > 60, "{sort:?}, {reach:?}: {told} errors");
        }
    }
    for seed in 1..=10 {
        let (how, cut) = ((Reach::Packets, Mutant::Honest), Cut::AllLinks(300 * seed));
        let ended = Run::of(over_some_links(seed), how, (12, Sort::Any), cut);
        ended.unwrap_or_else(|wrong| panic!("several links, seed {seed}: {wrong}"));
    }
}

#[test]
fn the_model_finds_who_comes_to_a_fence_or_completes_too_early() {
    let caught = |bench: fn(u64) -> Bench, mutant: Mutant| {
        let run = |seed: u64| Run::of(bench(seed), (Reach::Packets, mutant), (20, Sort::Any), Cut::Nothing);
        (1..=30).filter(|seed| run(*seed).is_err()).count()
    };
    // Over several links packets stay in order, too: there the word of a complete cannot pass what came before it.
    let found = [
        caught(in_some_weather, Mutant::Fence),
        caught(in_some_weather, Mutant::Complete),
        caught(over_some_links, Mutant::Fence),
    ];
    assert!(found.iter().zip([3, 3, 1]).all(|(found, least)| *found >= least), "{found:?} of 30");
}
