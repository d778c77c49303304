//! Random programs: their steps, and what has to come of them. No two operations of a program race.

use std::collections::VecDeque;

use super::layouts::Layout;
use crate::op::Predefined;
use crate::testing::Bench;
use crate::win::LockKind;
use crate::win::tests::MEMBERS;
use crate::win::tests::numbers::Numbers;

/// Most elements of a member's memory, and behind them those to which all may add.
const ELEMENTS: u64 = 60;
const SHARED: u64 = 4;

/// The memory of the members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memories {
    pub(super) numbers: Numbers,
    /// Elements of each; some have none.
    elements: [u64; MEMBERS],
    /// Bytes behind them, fewer than an element has.
    behind: [u64; MEMBERS],
    /// Bytes of a unit of displacement.
    pub(super) units: [u64; MEMBERS],
}

impl Memories {
    /// One member has as much as there may be, the others have less or nothing.
    pub(super) fn random(bench: &Bench) -> Self {
        let random = |n| bench.network.random(n);
        let (numbers, first) = (Numbers::random(bench), random(MEMBERS as u64) as usize);
        let each = |rank| match random(4) {
            _ if rank == first => ELEMENTS,
            0 => 0,
            1 => 1 + random(ELEMENTS),
            _ => ELEMENTS - random(8),
        };
        let elements = std::array::from_fn(each);
        let behind = elements.map(|elements| if elements == 0 { 0 } else { random(numbers.size()) });
        let size = numbers.size();
        Self {
            numbers,
            elements,
            behind,
            units: elements.map(|_| [1, 2, 3, size, size, 2 * size][random(6) as usize]),
        }
    }

    /// Elements of a member, those to which all may add among them.
    pub(super) fn all(&self, rank: usize) -> u64 {
        self.elements[rank] + if self.elements[rank] == 0 { 0 } else { SHARED }
    }

    /// Bytes of a member.
    pub(super) fn bytes(&self, rank: usize) -> u64 {
        self.all(rank) * self.numbers.size() + self.behind[rank]
    }

    /// Whether an element of a member begins at a whole displacement.
    fn has_disp(&self, rank: usize, element: u64) -> bool {
        (element * self.numbers.size()).is_multiple_of(self.units[rank])
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Put,
    Get,
    /// With what it fetches, or without.
    Combine(Predefined, bool),
    Swap(bool),
}

/// An operation, and what it fetches.
#[derive(Clone)]
pub(super) struct Operation {
    pub(super) target: usize,
    /// Element at which the target's datatype begins.
    pub(super) disp: u64,
    pub(super) theirs: Layout,
    pub(super) ours: Layout,
    /// How what is fetched lies.
    pub(super) fetched: Layout,
    pub(super) kind: Kind,
    pub(super) values: Vec<u64>,
    /// What it fetches; nothing is known where others add at the same time.
    pub(super) expected: Option<Vec<u64>>,
}

impl Operation {
    /// The elements of the target that it accesses.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.theirs.places.iter().map(|place| (self.disp as i64 + place) as usize)
    }
}

/// A step of a member.
#[derive(Clone)]
pub(super) enum Step {
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
    Look(Vec<(usize, u64)>),
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

/// Epochs of a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sort {
    Fences,
    /// Post, start, complete and wait.
    Starts,
    Locks,
    /// One of these each time.
    Any,
}

/// A program.
pub(super) struct Program {
    /// The steps of each member.
    pub(super) steps: Vec<VecDeque<Step>>,
    /// The memory at its end.
    pub(super) model: Vec<Vec<u64>>,
    /// Who accesses each element of each member.
    pub(super) accessed: Vec<Vec<[bool; MEMBERS]>>,
}

impl Program {
    /// A program of so many epochs for each member. `keeps`: each element is for one member alone, if it is not for all.
    pub(super) fn random(
        bench: &Bench,
        memories: Memories,
        (epochs, sort): (usize, Sort),
        keeps: bool,
    ) -> Self {
        let lens = (0..MEMBERS).map(|rank| memories.all(rank) as usize);
        let mut author = Author {
            bench,
            memories,
            sort,
            keeps,
            model: lens.clone().map(|len| vec![0; len]).collect(),
            steps: vec![VecDeque::new(); MEMBERS],
            owners: Vec::new(),
            uses: Vec::new(),
            changed: Vec::new(),
            accessed: lens.map(|len| vec![[false; MEMBERS]; len]).collect(),
            looks: false,
        };
        for _ in 0..epochs {
            author.epoch();
        }
        author.all(|_| Step::Barrier);
        Self { steps: author.steps, model: author.model, accessed: author.accessed }
    }
}

/// A program in the making.
struct Author<'a> {
    bench: &'a Bench,
    memories: Memories,
    sort: Sort,
    keeps: bool,
    model: Vec<Vec<u64>>,
    steps: Vec<VecDeque<Step>>,
    /// Whose each element of each target is in this epoch.
    owners: Vec<Vec<usize>>,
    uses: Vec<Vec<Use>>,
    /// Elements that this epoch has changed.
    changed: Vec<Vec<bool>>,
    accessed: Vec<Vec<[bool; MEMBERS]>>,
    /// Where the members look at what the fence before has left, unless this epoch changes it.
    looks: bool,
}

impl Author<'_> {
    fn random(&self, n: u64) -> u64 {
        self.bench.network.random(n)
    }

    fn all(&mut self, step: impl Fn(usize) -> Step) {
        self.steps.iter_mut().enumerate().for_each(|(rank, steps)| steps.push_back(step(rank)));
    }

    /// Who has which elements in an epoch: runs of them, so that long operations find room.
    fn share_out(&mut self) {
        if self.keeps && !self.owners.is_empty() {
            return;
        }
        self.owners = self.memories.elements.map(|len| vec![0; len as usize]).to_vec();
        for target in 0..MEMBERS {
            let (mut at, len) = (0, self.memories.elements[target]);
            while at < len {
                let (end, owner) = ((at + 1 + self.random(24)).min(len), self.random(MEMBERS as u64));
                self.owners[target][at as usize..end as usize].fill(owner as usize);
                at = end;
            }
        }
    }

    fn epoch(&mut self) {
        self.share_out();
        let lens: Vec<usize> = self.model.iter().map(Vec::len).collect();
        self.uses = lens.iter().map(|len| vec![Use::Free; *len]).collect();
        self.changed = lens.iter().map(|len| vec![false; *len]).collect();
        let before = self.model.clone();
        let written = self.steps.iter().map(VecDeque::len).collect::<Vec<usize>>();
        let looks = std::mem::replace(&mut self.looks, false);
        match self.sort {
            Sort::Fences => self.fences(looks),
            Sort::Starts => self.starts(),
            Sort::Locks => self.locks(),
            Sort::Any => match self.random(3) {
                0 => self.fences(looks),
                1 => self.starts(),
                _ => self.locks(),
            },
        }
        if looks {
            // Others may be in this epoch already.
            for rank in 0..MEMBERS {
                let still = (0..lens[rank]).filter(|at| !self.changed[rank][*at]);
                let still = still.map(|at| (at, before[rank][at])).collect();
                self.steps[rank].insert(written[rank], Step::Look(still));
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
            let now = self.model[rank].iter().copied().enumerate().collect();
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
        let (numbers, len) = (self.memories.numbers, self.memories.elements[target] as i64);
        if len == 0 {
            return;
        }
        let n = 1 + self.random(10);
        let values: Vec<u64> = (0..n).map(|_| numbers.kept(self.random(1000))).collect();
        if self.random(4) == 0 {
            return self.add(origin, target);
        }
        let operation = numbers.operation(self.bench);
        let kind = match self.random(6) {
            0 | 1 => Kind::Put,
            2 => Kind::Get,
            3 if numbers.are_integers() => Kind::Swap(self.random(2) == 0),
            5 if operation != Predefined::NoOp => Kind::Combine(operation, false),
            5 => return,
            _ => Kind::Combine(operation, true),
        };
        let combines = matches!(kind, Kind::Combine(..) | Kind::Swap(_));
        let n = if matches!(kind, Kind::Swap(_)) { 1 } else { n };
        let layout = |n| match kind {
            Kind::Swap(_) => Layout::one(numbers),
            _ => Layout::random(self.bench, numbers, n),
        };
        let theirs = layout(n);
        let is_free = |disp: i64| {
            self.memories.has_disp(target, disp as u64)
                && theirs.places.iter().all(|place| {
                    let at = disp + place;
                    (0..len).contains(&at)
                        && self.owners[target][at as usize] == origin
                        && match self.uses[target][at as usize] {
                            Use::Free => true,
                            Use::Plain => false,
                            Use::Combined => combines,
                        }
                })
        };
        let first = self.random(len as u64) as i64;
        let Some(disp) = (first..len).chain(0..first).find(|disp| is_free(*disp)) else { return };
        let at: Vec<usize> = theirs.places.iter().map(|place| (disp + place) as usize).collect();
        let was: Vec<u64> = at.iter().map(|at| self.model[target][*at]).collect();
        let combined = |was: u64, value: u64| match kind {
            Kind::Put | Kind::Swap(true) => value,
            Kind::Combine(operation, _) => numbers.combined(operation, was, value),
            Kind::Get | Kind::Swap(false) => was,
        };
        for (at, value) in at.iter().zip(&values) {
            let element = &mut self.model[target][*at];
            self.changed[target][*at] |= combined(*element, *value) != *element;
            *element = combined(*element, *value);
            self.uses[target][*at] = if combines { Use::Combined } else { Use::Plain };
        }
        let [ours, fetched] = [0, 1].map(|_| layout(n));
        let (disp, values) = (disp as u64, values[..n as usize].to_vec());
        self.start(
            origin,
            Operation { target, disp, theirs, ours, fetched, kind, values, expected: Some(was) },
        );
    }

    /// Adds to an element to which others add at the same time, if one is at a whole displacement.
    fn add(&mut self, origin: usize, target: usize) {
        let (numbers, value) = (self.memories.numbers, 1 + self.random(100));
        let disp = self.memories.elements[target] + self.random(SHARED);
        if !self.memories.has_disp(target, disp) {
            return;
        }
        let element = &mut self.model[target][disp as usize];
        *element = numbers.combined(Predefined::Sum, *element, value);
        self.changed[target][disp as usize] = true;
        // Sums of single bytes go round, so what was before says nothing of the order.
        let fetches = numbers.size() > 1 && self.random(2) == 0;
        let (kind, values) = (Kind::Combine(Predefined::Sum, fetches), vec![value]);
        let [theirs, ours, fetched] = [0; 3].map(|_| Layout::one(numbers));
        self.start(origin, Operation { target, disp, theirs, ours, fetched, kind, values, expected: None });
    }

    fn start(&mut self, origin: usize, operation: Operation) {
        for place in operation.places() {
            self.accessed[operation.target][place][origin] = true;
        }
        self.steps[origin].push_back(Step::Start(Box::new(operation)));
    }
}
