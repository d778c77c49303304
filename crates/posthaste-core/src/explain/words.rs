//! The sentences: what a rank does, what its calls wait for, what misses what.
//!
//! Pure. What must stay true: every sentence names ranks of the world; where a rank has another number in its
//! communicator, that is said as well.

use std::time::Duration;

use super::analysis::{Differs, Doing};
use super::{
    Goal, Handled, List, Message, Operation, PERSISTENT, Part, Process, Report, Standing, State, Wait,
};
use crate::ids::{ANY_SOURCE, ANY_TAG};

/// Most messages shown of a list, and goals of a wait.
const MOST_SHOWN: usize = 6;

/// The lines about one rank.
pub(super) fn of_rank(rank: usize, state: &State, now: Duration) -> String {
    let mut text = format!("  rank {rank} ");
    if state.pid != 0 {
        text.push_str(&format!("(pid {}) ", state.pid));
    }
    if state.doing() != Doing::Waiting {
        text.push_str(&self::state(state));
        text.push('\n');
        return text;
    }
    let empty = Report::default();
    let report = state.report.as_ref().unwrap_or(&empty);
    for (place, wait) in report.waits.iter().enumerate() {
        let before = if place == 0 { "" } else { "    and " };
        text.push_str(&format!("{before}{}\n", of_wait(report, wait, now)));
    }
    for handled in report.handled.iter().take(MOST_SHOWN) {
        text.push_str(&format!("    {}\n", of_handler(handled, now)));
    }
    if report.handled.len() > MOST_SHOWN {
        text.push_str(&format!("    handlers: {} more\n", report.handled.len() - MOST_SHOWN));
    }
    // What a call waits for has been said.
    let goals: Vec<&Message> =
        report.waits.iter().flat_map(|wait| &wait.goals).flat_map(Goal::messages).collect();
    for (what, list) in
        [("posted", &report.posted), ("unexpected", &report.unexpected), ("sending", &report.sends)]
    {
        let rest = list.shown.iter().filter(|message| !goals.contains(message));
        text.push_str(&of_list(report, what, &List { shown: rest.copied().collect(), more: list.more }));
    }
    text
}

/// `has been in MPI_Recv for 3.2 s: waits for …`.
fn of_wait(report: &Report, wait: &Wait, now: Duration) -> String {
    let since = now.saturating_sub(wait.since).as_secs_f64();
    let mut text = format!("has been in {} for {since:.1} s", wait.call);
    let goals: Vec<String> =
        wait.goals.iter().take(MOST_SHOWN).map(|goal| of_goal(report, wait, goal)).collect();
    match goals.len() {
        // A generalized request, say: others end it.
        0 => return text + ": waits for something that is no message",
        1 => text.push_str(&format!(": waits for {}", goals[0])),
        _ => {
            let which = if wait.any { "one" } else { "all" };
            text.push_str(&format!(": waits for {which} of {}", goals.join("; ")));
        }
    }
    let more = wait.more + (wait.goals.len() - goals.len()) as u64;
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

/// `the handler of a receive with tag 3 from rank 1 of its communicator has been running for 2.0 s`.
fn of_handler(handled: &Handled, now: Duration) -> String {
    let since = now.saturating_sub(handled.since).as_secs_f64();
    let of = match handled.rank {
        ANY_SOURCE => "a finished request".into(),
        rank => format!("a finished receive with {} from rank {rank} of its communicator", tag(handled.tag)),
    };
    match handled.standing {
        Standing::Runs => format!("the handler of {of} has been running for {since:.1} s"),
        Standing::Disabled => {
            format!("the handler of {of} does not run: handlers have been disabled for {since:.1} s")
        }
        Standing::TooDeep => {
            format!(
                "the handler of {of} does not run: as many run inside each other as may (POSTHASTE_HANDLER_DEPTH)"
            )
        }
    }
}

fn of_goal(report: &Report, wait: &Wait, goal: &Goal) -> String {
    match goal {
        Goal::Message(message) => of_message(report, message),
        Goal::Operation(operation) => of_operation(report, wait, operation),
    }
}

fn of_operation(report: &Report, wait: &Wait, operation: &Operation) -> String {
    let peers: Vec<usize> =
        operation.messages.iter().filter_map(|message| message.peer.map(|peer| peer as usize)).collect();
    let who = if peers.is_empty() { "other ranks".into() } else { ranks(&peers, MOST_SHOWN) };
    let name = if wait.call == operation.name { "" } else { &format!("{}, ", operation.name) };
    let root = if operation.root < 0 { String::new() } else { format!("with root {} ", operation.root) };
    let number =
        if operation.number < 0 { String::new() } else { format!("{} ", numbered(operation.number)) };
    format!("{who} ({name}{number}{root}on {})", report.name(operation.communicator))
}

/// `collective operation 3`.
pub(super) fn numbered(number: i32) -> String {
    match number & PERSISTENT {
        0 => format!("collective operation {number}"),
        _ => format!("persistent collective operation {}", number & !PERSISTENT),
    }
}

/// `MPI_Bcast with root 1`.
pub(super) fn call(operation: &Operation) -> String {
    match operation.root {
        root if root >= 0 => format!("{} with root {root}", operation.name),
        _ => operation.name.clone(),
    }
}

/// What has to come about for a message.
fn of_message(report: &Report, message: &Message) -> String {
    let about = about(report, message);
    match message.part {
        Part::Posted | Part::Probed => format!("a message from {}{about}", who(message)),
        Part::Reassembly => {
            format!("the data of a message from {}{about}, which has been matched", who(message))
        }
        Part::Unexpected => format!("a message from {}{about}, which has come", who(message)),
        Part::ForRoom => format!("room on the way to {} for its message{about}", who(message)),
        Part::ForMatch => format!("{} to receive its message{about}", who(message)),
        Part::ForData => format!("{} to take all of its message{about}", who(message)),
        Part::ForLock => {
            let holder = message.peer.map_or("those who share it".to_owned(), |peer| format!("rank {peer}"));
            format!(
                "{holder} to give back the lock of rank {} there{}",
                message.rank,
                on_window(report, message)
            )
        }
        Part::ForOwner => {
            format!("{} to do what it was asked for{}", who(message), on_window(report, message))
        }
        Part::ForPost => format!("{} to call MPI_Win_post{}", who(message), on_window(report, message)),
        Part::ForComplete => {
            format!("{} to call MPI_Win_complete{}", who(message), on_window(report, message))
        }
        Part::ForFence => format!("{} to call MPI_Win_fence{}", who(message), on_window(report, message)),
    }
}

/// ` with tag 7 of 4 bytes on MPI_COMM_WORLD`.
fn about(report: &Report, message: &Message) -> String {
    let on = message.communicator.map_or_else(String::new, |context| format!(" on {}", report.name(context)));
    let bytes = match message.part {
        Part::Probed => String::new(),
        Part::Posted => format!(", at most {} bytes,", message.bytes),
        _ => format!(" of {} bytes", message.bytes),
    };
    format!(" with {}{bytes}{on}", tag(message.tag))
}

/// ` on a window of MPI_COMM_WORLD`.
fn on_window(report: &Report, message: &Message) -> String {
    message.communicator.map_or_else(String::new, |context| format!(" on {}", report.name(context)))
}

fn tag(tag: i32) -> String {
    if tag == ANY_TAG { "any tag".into() } else { format!("tag {tag}") }
}

/// The other side, by its rank in the world; its rank in the communicator where that is another.
fn who(message: &Message) -> String {
    match message.peer {
        Some(peer) if message.rank >= 0 && peer != message.rank as u32 => {
            format!("rank {peer} ({} there)", message.rank)
        }
        Some(peer) => format!("rank {peer}"),
        None if message.rank == ANY_SOURCE => "any rank".into(),
        None => format!("rank {} of its communicator", message.rank),
    }
}

fn of_list(report: &Report, what: &str, list: &List) -> String {
    let mut text = String::new();
    for message in list.shown.iter().take(MOST_SHOWN) {
        let way = match message.part {
            Part::Posted | Part::Probed | Part::Reassembly | Part::Unexpected => "from",
            _ => "to",
        };
        let state = match message.part {
            Part::ForRoom => ": no room on the way yet",
            Part::ForMatch => ": not received yet",
            Part::ForData => ": not all taken yet",
            _ => "",
        };
        let about = about(report, message);
        text.push_str(&format!("    {what}: {way} {}{about}{state}\n", who(message)));
    }
    let more = list.more + list.shown.len().saturating_sub(MOST_SHOWN) as u64;
    if more > 0 {
        text.push_str(&format!("    {what}: {more} more\n"));
    }
    text
}

/// What a rank does, to follow `which` or its name.
pub(super) fn state(state: &State) -> String {
    let last = state.waits().first().map_or_else(String::new, |wait| format!(" in {}", wait.call));
    match state.doing() {
        Doing::NotStarted => "has not called MPI_Init of this library".into(),
        Doing::Outside if state.report.is_none() => "publishes nothing that can be read".into(),
        Doing::Outside if state.process == Process::Asleep => {
            "is outside MPI, asleep in a call to the system".into()
        }
        Doing::Outside => "is outside MPI, computing".into(),
        Doing::Waiting => format!("waits{last}"),
        Doing::Stopped => format!("is stopped by a signal or a debugger{last}"),
        Doing::Finalised => "has left MPI (MPI_Finalize)".into(),
        Doing::Aborted => "has called MPI_Abort".into(),
        Doing::Gone => "has ended".into(),
        Doing::Elsewhere => "is on another host".into(),
    }
}

/// `rank 3`, `ranks 1, 2 and 5`.
pub(super) fn ranks(ranks: &[usize], most: usize) -> String {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let names: Vec<String> = sorted.iter().take(most).map(ToString::to_string).collect();
    match (&names[..], sorted.len() - names.len()) {
        ([], _) => "no rank".into(),
        ([one], 0) => format!("rank {one}"),
        ([first @ .., last], 0) => format!("ranks {} and {last}", first.join(", ")),
        (all, more) => format!("ranks {} and {more} more", all.join(", ")),
    }
}

/// How a rank calls a communicator.
pub(super) fn communicator(state: &State, context: u64) -> String {
    state.report.as_ref().map_or_else(|| super::names::shown(context, ""), |report| report.name(context))
}

fn on(state: &State, message: &Message) -> String {
    message.communicator.map_or_else(String::new, |context| format!(" on {}", communicator(state, context)))
}

/// `rank 2 waits for tag 7 from rank 1 on MPI_COMM_WORLD; rank 1 has sent tag 8, which lies unexpected at rank 2`.
pub(super) fn missed_receive(
    state: &State,
    rank: usize,
    wanted: &Message,
    there: &Message,
    what: Differs,
) -> String {
    let sent = match what {
        Differs::Tag => tag(there.tag),
        Differs::Communicator => format!("{}{}", tag(there.tag), on(state, there)),
        Differs::Source => format!("{}{} too", tag(there.tag), on(state, there)),
    };
    format!(
        "rank {rank} waits for {} from {}{}; {} has sent {sent}, which lies unexpected at rank {rank}",
        tag(wanted.tag),
        who(wanted),
        on(state, wanted),
        who(there),
    )
}

/// `rank 0 waits for rank 1 to receive tag 8 on MPI_COMM_WORLD; rank 1 has posted a receive for tag 7`.
pub(super) fn missed_send(
    states: &[State],
    rank: usize,
    wanted: &Message,
    posted: &Message,
    what: Differs,
) -> String {
    let peer = wanted.peer.unwrap_or(0) as usize;
    let there = match what {
        Differs::Tag | Differs::Source => tag(posted.tag),
        Differs::Communicator => format!("{}{}", tag(posted.tag), on(&states[peer], posted)),
    };
    format!(
        "rank {rank} waits for rank {peer} to receive {}{}; rank {peer} has posted a receive for {there}",
        tag(wanted.tag),
        on(&states[rank], wanted),
    )
}
