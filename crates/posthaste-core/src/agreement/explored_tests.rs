//! Every order of events, and every process ending before every one of them: each state is met once. Short forms are in the gate; five
//! processes of which two end, whoever contributes when, take minutes:
//!
//! ```sh
//! cargo test --release -p posthaste-core --lib -- --ignored --nocapture explored
//! ```
//!
//! What would not change anything any more is no part of a state. That is sound because each step of [`forget`] takes a state to one from
//! which the same can happen, but for events that change nothing and send nothing:
//!
//! * What an ended process knew, and what is on its way to it: it takes no part in any event, and [`Job::check`] looks at those
//!   that are alive. What it has sent stays.
//! * What is on its way from a process that the receiver knows to be lost: it is not taken, and hearing of that loss teaches nothing.
//!   Who is known to be lost has ended ([`Job::check`]) and sends nothing more.
//! * News of losses that the receiver knows, and a decision for one that has decided. Neither is ever forgotten, so that a message
//!   changes nothing whenever it comes; the same message is tried to see it. A process that waits for the end of another after its
//!   last message waits for one message less.
//!
//! And what a process sends for one event it sends before anything else happens, unless it ends in between: an event at
//! another process changes nothing but that one and the ends of what is on its way from it, so it could not be told from an order
//! in which others were faster. Numbers of processes cannot be exchanged for each other: whoever has the lowest that is left is the root,
//! and all trees follow their order.
//!
//! That it is right is also tried: of three processes, and of four of which one ends, all states are met with nothing forgotten, and are
//! the same ones when it is forgotten behind all.
//!
//! States are known by 128 bits of their hashes: that two of a million are the same is less likely than 10^-26.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::tests::{Event, Job, TREES};
use super::{Agreement, Message, Tree};

/// Whether a state is kept as it is, or without what would not change anything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    All,
    Needed,
}

/// The states that were met.
type States = HashSet<[u64; 2]>;

fn name_of(job: &Job) -> [u64; 2] {
    [0_u8, 1].map(|salt| {
        let mut hasher = DefaultHasher::new();
        (salt, job).hash(&mut hasher);
        hasher.finish()
    })
}

/// The same without what would not change anything.
fn forget(job: &mut Job) {
    let n = job.n();
    for ended in job.ended.clone() {
        job.parts[ended] = Agreement::new(ended as u32, n as u32, Tree::Binomial, []);
        job.under_way.iter_mut().for_each(|from| from[ended].clear());
        job.unsent.iter_mut().for_each(|unsent| unsent.retain(|(to, _)| *to as usize != ended));
        job.heard.retain(|(rank, _)| *rank != ended);
    }
    let alive: Vec<usize> = job.alive().collect();
    for (rank, from) in alive.into_iter().flat_map(|rank| (0..n).map(move |from| (rank, from))) {
        let part = &job.parts[rank];
        if part.lost.contains(&(from as u32)) {
            job.under_way[from][rank].clear();
            job.heard.insert((rank, from));
            continue;
        }
        job.under_way[from][rank].retain(|message| {
            let is_needed = match message {
                Message::Lost(lost) => !lost.iter().all(|lost| part.lost.contains(lost)),
                Message::Decided(_) => part.decided.is_none(),
                Message::Contribution { .. } => true,
            };
            let mut tried = part.clone();
            assert!(is_needed || (tried.receive(from as u32, message.clone()).is_empty() && tried == *part));
            is_needed
        });
    }
}

/// Meets all states from a first one on, where so many may end, and tells `on` of each.
fn explore(mut first: Job, ends: usize, keep: Keep, mut on: impl FnMut(&Job)) -> usize {
    let n = first.n();
    first.sent.fill(0);
    let (mut known, mut open) = (States::new(), vec![first]);
    while let Some(job) = open.pop() {
        let sender = job.alive().find(|rank| !job.unsent[*rank].is_empty());
        let events = sender.map_or_else(|| job.events(), |rank| vec![Event::Send(rank)]);
        if events.is_empty() {
            job.check_end();
        }
        let next = events.iter().map(|event| {
            let mut next = job.clone();
            next.happens(*event);
            next
        });
        let may_end = job.ended.len() < ends;
        let mortal = job.alive().filter(|rank| may_end && sender.is_none_or(|sender| sender == *rank));
        let killed = mortal.filter(|_| job.ended.len() + 1 < n).map(|rank| {
            let mut next = job.clone();
            next.ends(rank);
            next.check();
            next
        });
        for mut next in next.chain(killed) {
            next.sent.fill(0); // only counted, and no part of the state
            if keep == Keep::Needed {
                forget(&mut next);
            }
            if known.insert(name_of(&next)) {
                on(&next);
                open.push(next);
            }
        }
    }
    known.len()
}

/// Who contributes when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    /// All before anything else happens.
    Together,
    /// Whenever it may be.
    Whenever,
}

fn first(n: usize, tree: Tree, begin: Begin) -> Job {
    let mut job = Job::new(n, tree);
    if begin == Begin::Together {
        (0..n).for_each(|rank| job.happens(Event::Contribute(rank)));
    }
    job
}

/// How many states there are with both trees, and with one in which each has one below it.
fn states(n: usize, ends: usize, begin: Begin) -> [usize; 3] {
    let trees = [TREES[0], TREES[1], Tree::Flat(1)];
    trees.map(|tree| explore(first(n, tree, begin), ends, Keep::Needed, |_| ()))
}

#[test]
fn what_is_forgotten_would_not_have_changed_anything() {
    for (n, ends, begin) in [(2, 1, Begin::Whenever), (3, 2, Begin::Whenever), (4, 1, Begin::Together)] {
        let mut met = [States::new(), States::new()];
        let job = || first(n, TREES[0], begin);
        let all = explore(job(), ends, Keep::All, |job| {
            let mut job = job.clone();
            forget(&mut job);
            met[0].insert(name_of(&job));
        });
        let needed = explore(job(), ends, Keep::Needed, |job| {
            met[1].insert(name_of(job));
        });
        assert!(met[0] == met[1] && met[1].len() == needed, "{n} ranks: {needed} of {all} states");
        assert!(all > needed, "{n} ranks: {needed} of {all} states");
    }
}

type Case = (usize, usize, Begin, [usize; 3]);

fn agree_as_expected(cases: &[Case]) {
    let found = cases.iter().map(|(n, ends, begin, _)| {
        let found = states(*n, *ends, *begin);
        println!("{n} ranks, of which {ends} end, contributions {begin:?}: {found:?} states");
        (*n, *ends, *begin, found)
    });
    assert_eq!(found.collect::<Vec<Case>>(), cases);
}

#[test]
fn two_to_four_agree_in_every_order_of_events_whoever_ends_when() {
    agree_as_expected(&[
        (2, 1, Begin::Whenever, [32, 32, 32]),
        (3, 2, Begin::Whenever, [764, 764, 582]),
        (4, 1, Begin::Whenever, [4_818, 6_851, 2_750]),
        (4, 2, Begin::Together, [11_159, 14_882, 6_807]),
    ]);
}

/// With five.
#[test]
#[ignore = "takes minutes; see the top of the file"]
fn up_to_five_agree_in_every_order_of_events_whoever_ends_when() {
    agree_as_expected(&[
        (4, 2, Begin::Whenever, [21_404, 36_258, 12_831]),
        (4, 3, Begin::Together, [14_745, 20_030, 9_157]),
        (5, 1, Begin::Whenever, [57_782, 59_540, 18_615]),
        (5, 2, Begin::Together, [379_385, 458_954, 114_135]),
        (5, 2, Begin::Whenever, [907_825, 1_137_942, 269_180]),
    ]);
}
