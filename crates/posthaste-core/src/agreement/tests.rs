//! Processes that agree over a network in which messages between two of them keep their order, and that end at any point: also
//! between two messages that one event makes them send.

use std::collections::{BTreeSet, VecDeque};

use super::{Agreement, Common, Contribution, Decision, Message, Tree};

/// Both shapes: of the flat one few below each other already make two levels.
pub(super) const TREES: [Tree; 2] = [Tree::Binomial, Tree::Flat(3)];

/// What a rank contributes: it has acknowledged that rank 0 is lost, and that it is itself.
fn contribution(flags: i64, rank: usize) -> Contribution {
    let acknowledged = BTreeSet::from([0, rank as u32]);
    Contribution { flags, acknowledged, proposal: [rank as u64, 7] }
}

/// Processes, what is under way between them, and who has ended.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Job {
    pub(super) parts: Vec<Agreement>,
    flags: Vec<i64>,
    /// What a process has yet to send for its last event; it takes nothing else meanwhile.
    pub(super) unsent: Vec<VecDeque<(u32, Message)>>,
    /// By sender and receiver.
    pub(super) under_way: Vec<Vec<VecDeque<Message>>>,
    pub(super) ended: BTreeSet<usize>,
    /// Who has heard of whose end.
    pub(super) heard: BTreeSet<(usize, usize)>,
    pub(super) sent: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Contribute(usize),
    Send(usize),
    Arrive(usize, usize),
    Hear(usize, usize),
}

impl Job {
    pub(super) fn new(n: usize, tree: Tree) -> Self {
        let part = |rank| Agreement::new(rank as u32, n as u32, tree, []);
        Self {
            parts: (0..n).map(part).collect(),
            // Each lacks a bit of its own.
            flags: (0..n).map(|rank| !(1 << (rank % 31))).collect(),
            unsent: vec![VecDeque::new(); n],
            under_way: vec![vec![VecDeque::new(); n]; n],
            ended: BTreeSet::new(),
            heard: BTreeSet::new(),
            sent: vec![0; n],
        }
    }

    pub(super) fn n(&self) -> usize {
        self.parts.len()
    }

    pub(super) fn alive(&self) -> impl Iterator<Item = usize> {
        (0..self.n()).filter(|rank| !self.ended.contains(rank))
    }

    /// What can happen next, besides that somebody ends.
    pub(super) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for rank in self.alive() {
            if !self.unsent[rank].is_empty() {
                events.push(Event::Send(rank));
                continue;
            }
            if self.parts[rank].own.is_none() {
                events.push(Event::Contribute(rank));
            }
            for from in 0..self.n() {
                if !self.under_way[from][rank].is_empty() {
                    events.push(Event::Arrive(from, rank));
                } else if self.ended.contains(&from) && !self.heard.contains(&(rank, from)) {
                    events.push(Event::Hear(rank, from));
                }
            }
        }
        events
    }

    pub(super) fn happens(&mut self, event: Event) {
        let (rank, out) = match event {
            Event::Contribute(rank) => {
                (rank, self.parts[rank].contribute(contribution(self.flags[rank], rank)))
            }
            Event::Send(rank) => {
                let (to, message) = self.unsent[rank].pop_front().expect("something to send");
                self.under_way[rank][to as usize].push_back(message);
                self.sent[rank] += 1;
                return;
            }
            Event::Arrive(from, rank) => {
                let message = self.under_way[from][rank].pop_front().expect("a message");
                (rank, self.parts[rank].receive(from as u32, message))
            }
            Event::Hear(rank, ended) => {
                self.heard.insert((rank, ended));
                (rank, self.parts[rank].lose(ended as u32))
            }
        };
        self.unsent[rank].extend(out);
        self.check();
    }

    /// The process ends: what it has not sent never leaves, what comes for it nobody takes.
    pub(super) fn ends(&mut self, rank: usize) {
        self.ended.insert(rank);
        self.unsent[rank].clear();
        self.under_way.iter_mut().for_each(|from| from[rank].clear());
    }

    /// At no time have two that are alive decided differently, what they have decided is right, and nobody is taken for lost who is alive.
    pub(super) fn check(&self) {
        let known = |rank: usize| self.parts[rank].lost.iter().map(|lost| *lost as usize);
        let have_ended = self.alive().flat_map(known).all(|lost| self.ended.contains(&lost));
        assert!(have_ended, "lost, and alive:\n{}", self.shown());
        let mut decisions = self.alive().filter_map(|rank| self.parts[rank].decision());
        let Some(first) = decisions.next() else { return };
        assert!(decisions.all(|other| other == first), "two outcomes:\n{}", self.shown());
        let ended: Vec<u32> = self.ended.iter().map(|rank| *rank as u32).collect();
        assert!(
            first.lost.iter().all(|lost| ended.contains(lost)),
            "{first:?} of {ended:?}:\n{}",
            self.shown()
        );
        let all = |ranks: &mut dyn Iterator<Item = usize>| ranks.fold(-1, |all, rank| all & self.flags[rank]);
        let (most, least) = (all(&mut self.alive()), all(&mut (0..self.n())));
        let Decision { common: Common { flags, acknowledged }, proposal, lost } = first;
        assert!(flags & !most == 0 && least & !flags == 0, "{first:?}:\n{}", self.shown());
        assert_eq!(*acknowledged, lost.iter().all(|rank| *rank == 0), "{first:?}:\n{}", self.shown());
        let root = (0..self.n() as u32).find(|rank| !lost.contains(rank)).expect("who decides is not lost");
        assert_eq!(*proposal, [root.into(), 7], "{first:?}:\n{}", self.shown());
    }

    /// Nothing more happens: everybody alive has decided.
    pub(super) fn check_end(&self) {
        assert!(
            self.alive().all(|rank| self.parts[rank].decision().is_some()),
            "no outcome:\n{}",
            self.shown()
        );
    }

    fn shown(&self) -> String {
        let line = |part: &Agreement| format!("{part:?}\n");
        format!("ended: {:?}\n{}", self.ended, self.parts.iter().map(line).collect::<String>())
    }
}

/// Numbers that look random, from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % end
    }
}

/// Runs in an order that the seed chooses; `ends` are the processes that end, each before the event of a number.
fn run(n: usize, seed: u64, ends: &[(usize, usize)]) -> (Job, usize) {
    let (mut job, mut random) = (Job::new(n, TREES[seed as usize % 2]), Random(seed));
    for step in 0.. {
        for (rank, _) in ends.iter().filter(|(_, at)| *at == step) {
            job.ends(*rank);
            job.check();
        }
        let events = job.events();
        if events.is_empty() && ends.iter().all(|(_, at)| *at <= step) {
            job.check_end();
            return (job, step);
        }
        if !events.is_empty() {
            job.happens(events[random.below(events.len())]);
        }
    }
    unreachable!("the loop ends only by a return")
}

/// As [`run`], and says the seed when it fails.
fn seeded(n: usize, seed: u64, ends: &[(usize, usize)]) -> (Job, usize) {
    let outcome = std::panic::catch_unwind(|| run(n, seed, ends));
    outcome.unwrap_or_else(|_| panic!("{n} ranks, seed {seed}, ends {ends:?}"))
}

#[test]
fn four_and_five_agree_whoever_ends_before_whichever_event() {
    for n in [4, 5] {
        for seed in 0..4 {
            let (_, events) = seeded(n, seed, &[]);
            for (one, at) in (0..n).flat_map(|rank| (0..=events).map(move |at| (rank, at))) {
                seeded(n, seed, &[(one, at)]);
                // And a second one soon after, when the others are still dealing with the first.
                for (two, after) in
                    (0..n).filter(|two| *two != one).flat_map(|two| [(two, 0), (two, 3), (two, 8)])
                {
                    seeded(n, seed, &[(one, at), (two, at + after)]);
                }
            }
        }
    }
}

#[test]
fn many_agree_whoever_ends() {
    for seed in 0..300 {
        let mut random = Random(seed ^ 0x5eed);
        let n = 2 + random.below(40);
        let mut victims = BTreeSet::new();
        (0..random.below(n)).for_each(|_| _ = victims.insert(random.below(n)));
        let ends: Vec<(usize, usize)> =
            victims.into_iter().take(n - 1).map(|rank| (rank, random.below(8 * n))).collect();
        seeded(n, seed, &ends);
    }
}

#[test]
fn without_a_loss_nobody_sends_more_than_its_edges() {
    for n in 1..70 {
        let (job, _) = seeded(n, 2 * n as u64, &[]);
        let most = 2 * n.next_power_of_two().ilog2() as usize;
        assert!(job.sent.iter().all(|sent| *sent <= most), "{n} ranks: {:?}", job.sent);
        assert_eq!(job.sent.iter().sum::<usize>(), 2 * (n - 1));
    }
}

#[test]
fn losses_that_are_known_before_take_no_part() {
    let mut part = Agreement::new(2, 4, Tree::Binomial, [0, 1, 3, 9, 2]);
    assert!(part.contribute(contribution(6, 2)).is_empty());
    let decision = part.decision().expect("the only one left");
    assert_eq!((decision.common.flags, &decision.lost[..]), (6, &[0, 1, 3][..]));
}

#[test]
fn what_cannot_be_is_not_taken() {
    let mut part = Agreement::new(0, 2, Tree::Binomial, []);
    let common = Common { flags: 1, acknowledged: true };
    let theirs =
        |lost: &[u32]| Message::Contribution { common, proposal: [0; 2], decided: None, lost: lost.to_vec() };
    assert_eq!(part.contribute(contribution(3, 0)).len(), 1);
    for from in [0, 2, u32::MAX] {
        assert!(part.receive(from, theirs(&[])).is_empty() && part.decision().is_none());
    }
    // It says that we are lost: it is in no tree with us.
    assert_eq!(part.receive(1, theirs(&[0, 7])), [(1, Message::Lost(Vec::new()))]);
    assert!(part.receive(1, theirs(&[])).is_empty());
    assert_eq!(part.decision().expect("all have contributed").common.flags, 1);
}
