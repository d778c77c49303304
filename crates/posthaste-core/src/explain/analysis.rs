//! What follows from the reports of all ranks: who waits for whom, what can never end, what is nearly right.
//!
//! Pure: it is given what was read from the node segment and from the system. The wait-for graph has two kinds of
//! edges: a receive from a named rank needs that rank, one from any rank needs one of all others, a wait for several
//! needs all of them or one of them. Ranks are stuck when they form a set in which nobody can go on unless another one
//! does: the greatest such set is what is left when all others are taken away, again and again.
//!
//! What must stay true: reports of different ranks are not of the same instant. A rank blocks another one only if it
//! has waited for [`SETTLED`] and was still waiting when the other one looked last: whatever it sent before that the
//! other one has found. Ranks in a report are checked.

use std::collections::BTreeMap;
use std::time::Duration;

use posthaste_os::node::Life;

use super::words;
use super::{Goal, Message, Operation, PERSISTENT, Part, Report, Wait};
use crate::ids::{ANY_SOURCE, ANY_TAG};

/// How long a wait has lasted when it is not a passing one.
pub const SETTLED: Duration = Duration::from_millis(500);
/// Most ranks named in one sentence.
const MOST_NAMED: usize = 8;

/// Most sentences about what follows.
const MOST_FOUND: usize = 32;

/// What the system says about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// It runs, or could.
    Running,
    /// It sleeps in a system call.
    Asleep,
    /// A signal or a debugger has stopped it.
    Stopped,
    /// It has ended.
    Gone,
    /// It runs on another host; nothing else is known of it.
    Elsewhere,
}

/// All that is known of one rank from outside.
#[derive(Clone, Debug)]
pub struct State {
    /// Its process id.
    pub pid: u32,
    /// How far it is between initialisation and finalisation.
    pub life: Life,
    /// What its process does.
    pub process: Process,
    /// What it published; `None` when that cannot be read.
    pub report: Option<Report>,
}

/// What a rank is doing, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    NotStarted,
    Outside,
    Waiting,
    Stopped,
    Finalised,
    Aborted,
    Gone,
    Elsewhere,
}

impl State {
    /// A rank on another host.
    pub const ELSEWHERE: Self =
        Self { pid: 0, life: Life::Absent, process: Process::Elsewhere, report: None };

    pub(super) fn doing(&self) -> Doing {
        match (self.process, self.life) {
            (Process::Elsewhere, _) => Doing::Elsewhere,
            (Process::Gone, _) => Doing::Gone,
            (_, Life::Finalised) => Doing::Finalised,
            (_, Life::Aborted) => Doing::Aborted,
            (Process::Stopped, _) => Doing::Stopped,
            (_, Life::Absent) => Doing::NotStarted,
            (_, Life::Inside) if self.waits().is_empty() => Doing::Outside,
            (_, Life::Inside) => Doing::Waiting,
        }
    }

    pub(super) fn waits(&self) -> &[Wait] {
        self.report.as_ref().map_or(&[], |report| &report.waits)
    }
}

/// Says in lines what each rank does, and behind `so:` what follows from it. `states` are all ranks of the job in
/// order, of which those on other hosts are not shown; `now` is [`posthaste_os::machine::now`] when they were read.
pub fn explain(states: &[State], now: Duration) -> String {
    let states = &who_has_locks(states)[..];
    let known = states.iter().enumerate().filter(|(_, state)| state.doing() != Doing::Elsewhere);
    let mut text: String = known.map(|(rank, state)| words::of_rank(rank, state, now)).collect();
    let mut found = stuck(states, now);
    found.extend(mismatched_operations(states));
    found.extend(absent(states, now));
    found.extend(near_misses(states));
    if found.len() > MOST_FOUND {
        let more = found.split_off(MOST_FOUND).len();
        found.push(format!("{more} more like these"));
    }
    if found.is_empty() {
        found.push("no rank is known to be stuck".into());
    }
    for sentence in found {
        text.push_str(&format!("  so: {sentence}\n"));
    }
    text
}

/// The same, with those who have a lock in the place of its owner, who has been asked for it and knows them.
fn who_has_locks(states: &[State]) -> Vec<State> {
    let holders = |waiter: usize, goal: &Goal| -> Vec<Goal> {
        let Goal::Message(message @ Message { part: Part::ForOwner, peer: Some(owner), .. }) = goal else {
            return Vec::new();
        };
        let report = states.get(*owner as usize).and_then(|state| state.report.as_ref());
        let locks = report.map_or(&[][..], |report| &report.locks);
        let of_waiter = locks.iter().filter(|(rank, _)| *rank as usize == waiter);
        let held = |holder| Goal::Message(Message { part: Part::ForLock, peer: Some(holder), ..*message });
        of_waiter.map(|(_, holder)| held(*holder)).collect()
    };
    let mut known = states.to_vec();
    for (rank, state) in known.iter_mut().enumerate() {
        let waits = state.report.iter_mut().flat_map(|report| &mut report.waits);
        for wait in waits.filter(|wait| wait.call.starts_with("MPI_Win_lock")) {
            let with_holders = |goal: &Goal| match holders(rank, goal) {
                nobody if nobody.is_empty() => vec![goal.clone()],
                holders => holders,
            };
            wait.goals = wait.goals.iter().flat_map(with_holders).collect();
        }
    }
    known
}

/// The ranks of which one has to do something before this message goes on; `None` when it goes on by itself.
fn needed(states: &[State], message: &Message) -> Option<Vec<usize>> {
    match message.part {
        Part::Posted
        | Part::Probed
        | Part::ForMatch
        | Part::ForData
        | Part::ForLock
        | Part::ForPost
        | Part::ForComplete
        | Part::ForFence => {}
        // An owner does what it is asked for while it waits itself.
        Part::Reassembly | Part::ForRoom | Part::Unexpected | Part::ForOwner => return None,
    }
    match message.peer {
        Some(peer) => (states.len() > peer as usize).then(|| vec![peer as usize]),
        None => (message.rank == ANY_SOURCE).then(|| (0..states.len()).collect()),
    }
}

/// The rank that was asked to do something on a window: where it does not wait in MPI, that is why nothing has come of it.
fn asked(states: &[State], message: &Message) -> Option<Vec<usize>> {
    let owner = message.peer.filter(|_| message.part == Part::ForOwner)? as usize;
    (owner < states.len()).then(|| vec![owner])
}

/// Who can never go on, and whom the others wait for.
fn stuck(states: &[State], now: Duration) -> Vec<String> {
    let never: Vec<bool> = states
        .iter()
        .map(|state| matches!(state.doing(), Doing::Finalised | Doing::Aborted | Doing::Gone))
        .collect();
    let settled = |state: &State| state.waits().iter().all(|wait| now.saturating_sub(wait.since) >= SETTLED);
    let mut stuck: Vec<bool> = states
        .iter()
        .enumerate()
        .map(|(rank, state)| never[rank] || (state.doing() == Doing::Waiting && settled(state)))
        .collect();
    loop {
        let free = |&rank: &usize| stuck[rank] && !never[rank] && !waits_for(states, rank, &stuck);
        let freed: Vec<usize> = (0..states.len()).filter(free).collect();
        if freed.is_empty() {
            break;
        }
        freed.into_iter().for_each(|rank| stuck[rank] = false);
    }
    let follow = |rank: usize| if stuck[rank] && !never[rank] { next(states, rank, &stuck) } else { None };
    let after: Vec<Option<usize>> = (0..states.len()).map(follow).collect();
    let (mut found, in_cycle) = cycles(states, &after);
    let mut by: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for rank in (0..states.len()).filter(|&rank| stuck[rank] && !in_cycle[rank]) {
        if let Some(other) = after[rank] {
            by.entry(other).or_default().push(rank);
        }
    }
    for (&other, waiters) in &by {
        let end =
            if never[other] { words::state(&states[other]) + ": that never ends" } else { "is stuck".into() };
        found.push(waiting(waiters, other, &end));
    }
    found.extend(waited_for(states, &stuck));
    found
}

/// The cycles among ranks of which each waits for the next, and which ranks are in one.
fn cycles(states: &[State], after: &[Option<usize>]) -> (Vec<String>, Vec<bool>) {
    let (mut found, mut in_cycle, mut seen) =
        (Vec::new(), vec![false; after.len()], vec![false; after.len()]);
    for first in 0..after.len() {
        let mut way = Vec::new();
        let mut at = Some(first);
        while let Some(rank) = at.filter(|&rank| !seen[rank]) {
            seen[rank] = true;
            way.push(rank);
            at = after[rank];
        }
        if let Some(begin) = way.iter().position(|&rank| Some(rank) == at) {
            let mut cycle = way.split_off(begin);
            cycle.iter().for_each(|&rank| in_cycle[rank] = true);
            cycle.push(cycle[0]);
            let threaded =
                cycle.iter().any(|&rank| states[rank].report.as_ref().is_some_and(|report| report.threaded));
            let unless = if threaded { ", unless another thread of theirs helps" } else { "" };
            found.push(format!("{}: a deadlock{unless}", path(&cycle)));
        }
    }
    (found, in_cycle)
}

/// Whether each call of `rank` waits for nothing but ranks that are `stuck`.
fn waits_for(states: &[State], rank: usize, stuck: &[bool]) -> bool {
    let looked = states[rank].report.as_ref().map_or(Duration::ZERO, |report| report.at);
    let silent =
        |&other: &usize| stuck[other] && states[other].waits().iter().all(|wait| wait.since < looked);
    let blocked = |message: &Message| needed(states, message).is_some_and(|others| others.iter().all(silent));
    let goal = |goal: &Goal| goal.messages().iter().any(blocked);
    let call = |wait: &Wait| {
        if wait.any {
            wait.more == 0 && !wait.goals.is_empty() && wait.goals.iter().all(goal)
        } else {
            wait.goals.iter().any(goal)
        }
    };
    states[rank].waits().iter().all(call)
}

/// A rank that a stuck rank waits for.
fn next(states: &[State], rank: usize, stuck: &[bool]) -> Option<usize> {
    let messages = states[rank].waits().iter().flat_map(|wait| &wait.goals).flat_map(Goal::messages);
    messages
        .filter_map(|message| needed(states, message))
        .find(|others| others.iter().all(|&other| stuck[other]))
        .and_then(|others| others.iter().find(|other| **other != rank).or(others.first()).copied())
}

/// `rank 0 waits for rank 1, which waits for rank 2`.
fn path(way: &[usize]) -> String {
    let mut text = format!("rank {}", way[0]);
    for (place, pair) in way.windows(2).enumerate() {
        let link = if place == 0 { " waits" } else { ", which waits" };
        if pair[0] == pair[1] {
            text.push_str(&format!("{link} for itself"));
        } else if place < MOST_NAMED || place + 2 == way.len() {
            text.push_str(&format!("{link} for rank {}", pair[1]));
        } else if place == MOST_NAMED {
            text.push_str(", and so on");
        }
    }
    text
}

/// Whom the ranks wait for that are not stuck: one sentence for each such rank that is not waiting itself.
fn waited_for(states: &[State], stuck: &[bool]) -> Vec<String> {
    let mut by: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for rank in (0..states.len()).filter(|&rank| !stuck[rank] && states[rank].doing() == Doing::Waiting) {
        let messages = states[rank].waits().iter().flat_map(|wait| &wait.goals).flat_map(Goal::messages);
        for mut others in
            messages.filter_map(|message| needed(states, message).or_else(|| asked(states, message)))
        {
            others.retain(|&other| !stuck[other] && states[other].doing() != Doing::Waiting);
            // Of several that could help nobody is to blame.
            let &[other] = &others[..] else { continue };
            let waiters = by.entry(other).or_default();
            if !waiters.contains(&rank) {
                waiters.push(rank);
            }
        }
    }
    by.iter().map(|(&other, waiters)| waiting(waiters, other, &words::state(&states[other]))).collect()
}

/// `ranks 0 and 2 wait for rank 1, which is stuck`.
fn waiting(waiters: &[usize], other: usize, end: &str) -> String {
    let verb = if waiters.len() == 1 { "waits" } else { "wait" };
    format!("{} {verb} for rank {other}, which {end}", words::ranks(waiters, MOST_NAMED))
}

/// Ranks that are in different collective operations where they should be in the same.
fn mismatched_operations(states: &[State]) -> Vec<String> {
    let mut seen: BTreeMap<(u64, i32), (usize, &Operation)> = BTreeMap::new();
    let mut found = Vec::new();
    for (rank, state) in states.iter().enumerate().filter(|(_, state)| state.doing() == Doing::Waiting) {
        for goal in state.waits().iter().flat_map(|wait| &wait.goals) {
            let Goal::Operation(operation) = goal else { continue };
            if operation.number < 0 {
                continue;
            }
            let (first, other) =
                *seen.entry((operation.communicator, operation.number)).or_insert((rank, operation));
            if (&other.name, other.root) != (&operation.name, operation.root) {
                let communicator = words::communicator(state, operation.communicator);
                found.push(format!(
                    "rank {first} is in {} and rank {rank} in {}, both as {} of {communicator}: all ranks \
                     must call the same",
                    words::call(other),
                    words::call(operation),
                    words::numbered(operation.number)
                ));
            }
        }
    }
    found
}

/// A collective operation as its ranks see it.
struct Gathering<'a> {
    /// One of those that wait in it, and what it calls it.
    state: &'a State,
    operation: &'a Operation,
    waiting: Vec<usize>,
    missing: Vec<usize>,
}

/// The communicator of all ranks.
const WORLD: u64 = 0;
/// Operations that are over for nobody before all members have come.
const NOBODY_LEAVES: [&str; 6] = [
    "MPI_Barrier",
    "MPI_Allreduce",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Alltoall",
    "MPI_Reduce_scatter_block",
];

/// Which ranks have not come to a collective operation where others have waited for them for a while.
fn absent(states: &[State], now: Duration) -> Vec<String> {
    // By communicator and number.
    let mut seen: BTreeMap<(u64, i32), Gathering<'_>> = BTreeMap::new();
    for (rank, state) in states.iter().enumerate().filter(|(_, state)| state.doing() == Doing::Waiting) {
        let settled = |wait: &&Wait| now.saturating_sub(wait.since) >= SETTLED;
        for goal in state.waits().iter().filter(settled).flat_map(|wait| &wait.goals) {
            let Goal::Operation(operation) = goal else { continue };
            if operation.number < 0 {
                continue;
            }
            let key = (operation.communicator, operation.number);
            let new = || Gathering { state, operation, waiting: Vec::new(), missing: Vec::new() };
            let gathering = seen.entry(key).or_insert_with(new);
            gathering.waiting.push(rank);
            let needed = operation.messages.iter().filter_map(|message| needed(states, message));
            gathering.missing.extend(needed.flatten().filter(|&other| is_absent(&states[other], key)));
        }
    }
    // Nobody leaves such an operation before all have come, so whoever is not in it is missing, also where nobody here waits for it. Which
    // ranks are members is known of all ranks together.
    for (key, gathering) in &mut seen {
        if key.0 == WORLD
            && !gathering.missing.is_empty()
            && NOBODY_LEAVES.contains(&&*gathering.operation.name)
        {
            gathering.missing.extend((0..states.len()).filter(|rank| is_absent(&states[*rank], *key)));
        }
    }
    seen.values()
        .filter(|gathering| !gathering.missing.is_empty())
        .map(|gathering| gathering.sentence(states))
        .collect()
}

impl Gathering<'_> {
    /// `rank 1 has not come to MPI_Barrier, collective operation 3 of MPI_COMM_WORLD, where ranks 0 and 2 wait`.
    fn sentence(&self, states: &[State]) -> String {
        let Self { state, operation, waiting, missing } = self;
        let verb = if missing.iter().all(|rank| *rank == missing[0]) { "has" } else { "have" };
        // What it has started without waiting for it is not known then.
        let outside = missing.iter().any(|rank| states[*rank].waits().is_empty());
        format!(
            "{} {verb} not come to {}, {} of {}{}, where {} wait{}",
            words::ranks(missing, MOST_NAMED),
            words::call(operation),
            words::numbered(operation.number),
            words::communicator(state, operation.communicator),
            if outside { ", or left MPI again before its end" } else { "" },
            words::ranks(waiting, MOST_NAMED),
            if waiting.len() == 1 { "s" } else { "" },
        )
    }
}

/// Whether a rank is neither in this operation nor past it, as far as it has published.
fn is_absent(state: &State, (communicator, number): (u64, i32)) -> bool {
    let Some(report) = &state.report else { return state.doing() != Doing::Elsewhere };
    let goals = report.waits.iter().flat_map(|wait| &wait.goals).filter_map(|goal| match goal {
        Goal::Operation(operation) => Some((operation.communicator, operation.number)),
        Goal::Message(_) => None,
    });
    let mut known = goals.chain(report.under_way.iter().copied());
    // Those that are started again are not done in the order of their numbers.
    let is_past = |at: i32| at == number || (at | number) & PERSISTENT == 0 && at > number;
    !known.any(|(other, at)| other == communicator && is_past(at))
}

/// Messages that would have gone through if one thing about them were different.
fn near_misses(states: &[State]) -> Vec<String> {
    let mut found = Vec::new();
    // Of a receiver and a sender that miss each other only one is reported.
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (rank, state) in states.iter().enumerate().filter(|(_, state)| state.doing() == Doing::Waiting) {
        let Some(report) = &state.report else { continue };
        for goal in report.waits.iter().flat_map(|wait| &wait.goals).flat_map(Goal::messages) {
            if matches!(goal.part, Part::Posted | Part::Probed)
                && let Some((message, what)) = best(goal, &report.unexpected.shown)
            {
                pairs.extend(message.peer.map(|peer| (rank, peer as usize)));
                found.push(words::missed_receive(state, rank, goal, message, what));
            }
        }
    }
    for (rank, state) in states.iter().enumerate().filter(|(_, state)| state.doing() == Doing::Waiting) {
        for goal in state.waits().iter().flat_map(|wait| &wait.goals).flat_map(Goal::messages) {
            let Some(peer) = goal.peer.map(|peer| peer as usize) else { continue };
            let Some(there) = states.get(peer).and_then(|state| state.report.as_ref()) else { continue };
            if !matches!(goal.part, Part::ForMatch | Part::ForData) || pairs.contains(&(peer, rank)) {
                continue;
            }
            let posted: Vec<Message> = there
                .posted
                .shown
                .iter()
                .filter(|posted| posted.peer.is_none_or(|from| from as usize == rank))
                .map(|posted| Message { rank: goal.rank, ..*posted })
                .collect();
            if let Some((posted, what)) = best(goal, &posted) {
                found.push(words::missed_send(states, rank, goal, posted, what));
            }
        }
    }
    found
}

/// What keeps a message and a receive apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Differs {
    Tag,
    Communicator,
    Source,
}

/// The message that comes nearest to what is wanted, missing it by one thing.
fn best<'a>(wanted: &Message, candidates: &'a [Message]) -> Option<(&'a Message, Differs)> {
    let fits = |any: i32, left: i32, right: i32| left == right || left == any || right == any;
    let misses = |message: &&Message, differs: Differs| {
        let tag = fits(ANY_TAG, wanted.tag, message.tag);
        let source = fits(ANY_SOURCE, wanted.rank, message.rank);
        let communicator = wanted.communicator == message.communicator;
        match differs {
            Differs::Tag => !tag && source && communicator,
            Differs::Communicator => {
                tag && !communicator && (wanted.peer == message.peer || wanted.peer.is_none())
            }
            Differs::Source => tag && !source && communicator,
        }
    };
    [Differs::Tag, Differs::Communicator, Differs::Source]
        .into_iter()
        .find_map(|differs| Some((candidates.iter().find(|message| misses(message, differs))?, differs)))
}

#[cfg(test)]
#[path = "analysis_tests.rs"]
mod tests;
