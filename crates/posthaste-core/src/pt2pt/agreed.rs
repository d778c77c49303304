//! Agreements of the members of a communicator, of whom some may end meanwhile: the messages of `crate::agreement` as packets, one
//! agreement of a communicator after the other.
//!
//! ```text
//!   agree       a call contributes; its request ends with the decision
//!   arrived     words of a message; the last ones make it whole
//!   lost        a member has ended, which changes the tree of all agreements that are open
//!   joined      what others said of a communicator before this process knew it
//!   close       communicators that were freed: one more agreement, of which nobody is told
//! ```
//!
//! What must stay true: a process contributes to an agreement when it has heard the outcome of the one before. So whoever has heard
//! an outcome knows that all that are alive have heard all earlier ones, which may be forgotten; the last one is kept, because
//! others may still depend on it, also when the communicator is freed. So its members agree once more then, when they come by: on
//! that outcome nobody depends, so with it everything is forgotten. Who still waits for it is told that it is over, and otherwise keeps
//! a little memory. Who is lost by a decision is lost for this process, too,
//! whatever its method says, so that all members go on with the same ones; it is told, in case that it lives (`loss`).
//!
//! Does no I/O. MPIX_Comm_agree and MPIX_Comm_shrink in the proposals of the MPI forum's fault tolerance working group.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use crate::agreement::{Agreement, Common, Contribution, Decision, Message, Outgoing, Proposal};
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::{ContextId, IdMap, IdSet, Peer, RequestId};
use crate::pt2pt::contexts::Membership;
use crate::pt2pt::{Action, Engine, Losses};
use crate::request::{Request, State, Status};
use crate::trace::Counter;
use crate::wire::{Emit, SAID, Said};

/// Messages about communicators that this process does not know yet.
const MOST_EARLY: usize = 1 << 16;
/// Communicators of which it is remembered that their agreements are over: who does not know that yet soon asks.
const MOST_CLOSED: usize = 1 << 10;
/// Words of a message: no job has so many ranks.
const MOST_WORDS: usize = 1 << 22;

/// Whose bits a member hears of: there are bits for each group of an intercommunicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    /// Of those of all members.
    All,
    /// It is of the first group, and hears of the bits of the second one.
    Second,
    /// It is of the second group, and hears of those of the first one.
    First,
}

impl Hears {
    /// The bits that it contributes: those of the first group stand in the lower half.
    pub fn contributes(self, flags: i32) -> i64 {
        let (flags, none) = (i64::from(flags as u32), i64::from(u32::MAX));
        if self == Self::First { flags << 32 | none } else { none << 32 | flags }
    }

    /// The bits that it hears of, out of those that all have in common.
    pub fn of(self, common: i64) -> i32 {
        let (first, second) = (common as i32, (common >> 32) as i32);
        match self {
            Self::All => first & second,
            Self::First => first,
            Self::Second => second,
        }
    }
}

/// What becomes of a decision.
#[derive(Debug)]
pub enum Purpose {
    /// The bits go here, an `i32`; the request fails if somebody is lost whom not everybody has acknowledged.
    Flags(Segment, Hears),
    /// It goes here as it is; the request fails as for the bits.
    Bits(Arc<OnceLock<Decision>>),
    /// It goes here as it is.
    Whole(Arc<OnceLock<Decision>>),
    /// Nowhere: the communicator was freed, and this was its last one.
    Closing,
}

/// The agreements of one VCI.
#[derive(Debug, Default)]
pub struct Agreements {
    of: IdMap<ContextId, Series>,
    /// The words so far of a message that is not whole.
    partial: IdMap<Peer, Vec<u32>>,
    early: Vec<Early>,
    /// Communicators whose agreements are over, with the number of the last one, and in the order in which that came.
    closed: IdMap<ContextId, u32>,
    closings: VecDeque<ContextId>,
    /// Peers to whom something was said because this process waits for them: of a process to which nobody has a way, nobody
    /// hears that it has ended.
    greeted: IdSet<Peer>,
    /// Where a message becomes words.
    words: Vec<u32>,
}

/// A message about a communicator that this process does not know yet.
#[derive(Debug)]
struct Early {
    from: Peer,
    context: ContextId,
    serial: u32,
    message: Message,
}

/// The agreements of one communicator, numbered from 1.
#[derive(Debug)]
struct Series {
    members: Arc<Membership>,
    /// How many this process has begun.
    begun: u32,
    /// How many it has heard the outcome of.
    decided: u32,
    /// Its own that are open, in their order; it has contributed to the first.
    own: VecDeque<Own>,
    /// The last one that is decided, and those that are open, with their numbers.
    parts: Vec<(u32, Agreement)>,
    /// The last one of its own is there.
    is_closing: bool,
}

#[derive(Debug)]
struct Own {
    /// `None` once it is made.
    contribution: Option<Contribution>,
    /// None of the last one.
    request: Option<RequestId>,
    purpose: Purpose,
}

impl Series {
    fn part(&mut self, serial: u32, losses: &Losses) -> &mut Agreement {
        let Self { members, parts, .. } = self;
        let place = parts.iter().position(|(number, _)| *number == serial).unwrap_or_else(|| {
            let lost = losses.among(members.group()).filter_map(|peer| members.group().rank_of(peer));
            let part = Agreement::new(members.own() as u32, members.group().size(), members.tree(), lost);
            parts.push((serial, part));
            parts.len() - 1
        });
        &mut parts[place].1
    }
}

/// This process takes part in the next agreement of the communicator with this context. What its members make has agreements of its own
/// ([`ContextId::making`]), which no call of the program takes part in.
///
/// # Errors
/// A full table of requests.
pub fn agree(
    engine: &mut Engine,
    context: ContextId,
    flags: i64,
    proposal: Proposal,
    purpose: Purpose,
) -> Result<RequestId> {
    let (context, known) = (context.of_agreements(), context.point_to_point());
    let Some(members) = engine.contexts.get(known.collective()).cloned() else {
        return Err(Error::other(ErrorClass::Intern, "the engine does not know the communicator"));
    };
    let request = engine.requests.insert(Request::new(State::Agreeing(known.collective())))?;
    close(engine);
    engine.counts.add(Counter::Agreements, 1);
    let acknowledged = if engine.losses.is_empty() {
        BTreeSet::new()
    } else {
        let (failed, acknowledged) = engine.failed(known);
        failed.peers().take(acknowledged).filter_map(|peer| members.group().rank_of(peer)).collect()
    };
    let series = engine.agreements.series(context, members);
    series.begun += 1;
    let contribution = Some(Contribution { flags, acknowledged, proposal });
    series.own.push_back(Own { contribution, request: Some(request), purpose });
    go_on(engine, context);
    Ok(request)
}

/// Takes part in the last agreement of communicators that were freed.
fn close(engine: &mut Engine) {
    let is_left = |series: &Series| series.members.is_freed() && !series.is_closing;
    let left = engine.agreements.of.iter_mut().filter(|(_, series)| is_left(series));
    let mut closing: Vec<ContextId> = Vec::new();
    for (context, series) in left {
        series.is_closing = true;
        series.begun += 1;
        let contribution = Some(Contribution::default());
        let own = Own { contribution, request: None, purpose: Purpose::Closing };
        series.own.push_back(own);
        closing.push(*context);
    }
    closing.sort_unstable_by_key(|context| context.0);
    closing.into_iter().for_each(|context| go_on(engine, context));
}

impl Engine {
    /// Which agreement of its communicator a request waits for, counted from 1; 0 if for none.
    pub fn agreement_of(&self, id: RequestId) -> i32 {
        let place = |series: &Series| {
            let ahead = series.own.iter().position(|own| own.request == Some(id))?;
            Some(series.decided as i32 + ahead as i32 + 1)
        };
        self.agreements.of.values().find_map(place).unwrap_or(0)
    }
}

impl Agreements {
    fn series(&mut self, context: ContextId, members: Arc<Membership>) -> &mut Series {
        let (parts, own) = (Vec::new(), VecDeque::new());
        self.of.entry(context).or_insert(Series {
            members,
            begun: 0,
            decided: 0,
            own,
            parts,
            is_closing: false,
        })
    }

    /// Everything about a communicator is forgotten, but that it is.
    fn closed(&mut self, context: ContextId, last: u32) {
        self.opened(context);
        self.closed.insert(context, last);
        self.closings.push_back(context);
        if self.closings.len() > MOST_CLOSED
            && let Some(oldest) = self.closings.pop_front()
        {
            self.closed.remove(&oldest);
        }
    }

    /// Nothing is known any more of an older communicator with this context.
    fn opened(&mut self, context: ContextId) {
        self.of.remove(&context);
        if self.closed.remove(&context).is_some() {
            self.closings.retain(|closing| *closing != context);
        }
    }

    /// How many communicators something is kept of, and how many messages of unknown ones.
    #[cfg(test)]
    pub(super) fn kept(&self) -> (usize, usize) {
        (self.of.len(), self.early.len())
    }
}

/// Contributes where the turn has come, and ends what is decided.
fn go_on(engine: &mut Engine, context: ContextId) {
    loop {
        let Engine { agreements, losses, .. } = engine;
        let Some(series) = agreements.of.get_mut(&context) else { return };
        let Some(Own { contribution, .. }) = series.own.front_mut() else { return };
        let (serial, contribution) = (series.decided + 1, contribution.take());
        let part = series.part(serial, losses);
        let out = contribution.map_or_else(Vec::new, |contribution| part.contribute(contribution));
        let decision = part.decision().cloned();
        say(engine, context, serial, out);
        let Some(decision) = decision else { return greet(engine, context, serial) };
        end(engine, context, decision);
    }
}

/// Says that nobody is lost, as far as we know, to those for whom we wait, once.
fn greet(engine: &mut Engine, context: ContextId, serial: u32) {
    let Agreements { of, greeted, .. } = &mut engine.agreements;
    let Some(Series { members, parts, .. }) = of.get(&context) else { return };
    let awaited = parts.iter().filter(|(number, _)| *number == serial).flat_map(|(_, part)| part.awaited());
    let is_new = |rank: &u32| members.group().peer(*rank).is_some_and(|peer| greeted.insert(peer));
    let greetings = awaited.filter(is_new).map(|rank| (rank, Message::Lost(Vec::new()))).collect();
    say(engine, context, serial, greetings);
}

/// The first of our own is decided.
fn end(engine: &mut Engine, context: ContextId, decision: Decision) {
    let Some(series) = engine.agreements.of.get_mut(&context) else { return };
    let Some(Own { request, purpose, .. }) = series.own.pop_front() else { return };
    series.decided += 1;
    let decided = series.decided;
    series.parts.retain(|(serial, _)| *serial >= decided);
    let members = series.members.clone();
    let lost: Vec<Peer> = decision.lost.iter().filter_map(|rank| members.group().peer(*rank)).collect();
    let mut status = Status::EMPTY;
    if !decision.common.acknowledged && !matches!(purpose, Purpose::Whole(_)) {
        status.error = Some(unacknowledged(&lost));
    }
    match purpose {
        Purpose::Flags(mut flags, hears) => {
            if request.is_some_and(|request| engine.requests.get(request).is_some()) {
                flags.unpack(hears.of(decision.common.flags).to_ne_bytes()[..].into());
            }
        }
        Purpose::Bits(outcome) | Purpose::Whole(outcome) => _ = outcome.set(decision),
        // Nobody depends on the outcome: whom somebody has lost on a communicator that is gone is not lost for all.
        Purpose::Closing => return engine.agreements.closed(context, decided),
    }
    if let Some(request) = request.filter(|request| engine.requests.get(*request).is_some()) {
        engine.complete(request, status);
    }
    for peer in lost {
        let text = format!("rank {} of the world has ended, as others have found", peer.0);
        engine.ask(Action::Lose { peer, why: Error::other(ErrorClass::ProcAborted, text), may_live: true });
    }
}

#[cold]
fn unacknowledged(lost: &[Peer]) -> Error {
    let ranks: Vec<String> = lost.iter().map(|peer| peer.0.to_string()).collect();
    let (ranks, have) = (ranks.join(", "), if lost.len() == 1 { "has" } else { "have" });
    let text = format!("rank {ranks} of the world {have} ended, which not everybody has acknowledged");
    let why = Error::other(ErrorClass::ProcAborted, text);
    lost.first().map_or(why.clone(), |peer| Error::lost(peer.0, &why))
}

/// Words of a message have come.
pub(crate) fn arrived(engine: &mut Engine, from: Peer, said: &Said<'_>) {
    let mut bytes = [0; SAID * size_of::<u32>()];
    if said.words.len() > bytes.len() {
        // Its message ends with it, or what has come so far would begin the next one.
        engine.agreements.partial.remove(&from);
        return engine.counts.add(Counter::MalformedPackets, 1);
    }
    let len = said.words.copy_to(&mut bytes);
    let mut words = [0; SAID];
    let words = &mut words[..len / size_of::<u32>()];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let is_whole = said.rest as usize == words.len();
    let message = if is_whole && engine.agreements.partial.is_empty() {
        Message::of_words(words)
    } else {
        let so_far = engine.agreements.partial.entry(from).or_default();
        so_far.extend_from_slice(words);
        if !is_whole && so_far.len() <= MOST_WORDS {
            return;
        }
        Message::of_words(&engine.agreements.partial.remove(&from).unwrap_or_default())
    };
    match message {
        Some(message) => heard(engine, from, said.context.of_agreements(), said.serial, message),
        None => engine.counts.add(Counter::MalformedPackets, 1),
    }
}

fn heard(engine: &mut Engine, from: Peer, context: ContextId, serial: u32, message: Message) {
    if let Some(last) = engine.agreements.closed.get(&context) {
        return is_closed(engine, from, context, (serial, *last), &message);
    }
    let known = engine.contexts.get(context.point_to_point().collective()).cloned();
    let Engine { agreements, losses, counts, .. } = engine;
    let series = match (agreements.of.contains_key(&context), known) {
        (true, _) => agreements.of.get_mut(&context),
        (false, Some(members)) => Some(agreements.series(context, members)),
        (false, None) => None,
    };
    let Some(series) = series else {
        if agreements.early.len() < MOST_EARLY {
            agreements.early.push(Early { from, context, serial, message });
        } else {
            counts.add(Counter::StalePackets, 1);
        }
        return;
    };
    // Nobody is further than one agreement beyond those that we have begun: it would need what we contribute.
    let rank = series.members.group().rank_of(from);
    let (Some(rank), true) = (rank, (series.decided.max(1)..=series.begun + 1).contains(&serial)) else {
        return counts.add(Counter::StalePackets, 1);
    };
    let out = series.part(serial, losses).receive(rank, message);
    say(engine, context, serial, out);
    go_on(engine, context);
}

/// All that are alive have heard the outcomes of a communicator that has been freed. Who has not heard that may forget them, too.
#[cold]
fn is_closed(
    engine: &mut Engine,
    from: Peer,
    context: ContextId,
    (serial, last): (u32, u32),
    message: &Message,
) {
    if serial != last || matches!(message, Message::Decided(_)) {
        return engine.counts.add(Counter::StalePackets, 1);
    }
    let common = Common { flags: 0, acknowledged: true };
    let over = Message::Decided(Decision { common, proposal: [0; 2], lost: Vec::new() });
    say_to(engine, from, context, serial, &over);
}

/// This process knows a communicator from now on.
pub(super) fn joined(engine: &mut Engine, context: ContextId) {
    let context = context.point_to_point();
    for series in [context, context.making()] {
        let members = engine.contexts.get(context.collective());
        let is_same = |series: &Series| members.is_some_and(|members| Arc::ptr_eq(&series.members, members));
        if !engine.agreements.of.get(&series).is_some_and(is_same) {
            engine.agreements.opened(series);
        }
        let early = engine.agreements.early.extract_if(.., |early| early.context == series);
        for Early { from, serial, message, .. } in early.collect::<Vec<_>>() {
            heard(engine, from, series, serial, message);
        }
    }
    close(engine);
}

/// This process has parted from a peer: communicators with it that were freed are over without a last agreement. Should the two meet
/// again, nothing has been said to it on the new connection.
pub(super) fn parted(engine: &mut Engine, peer: Peer) {
    engine.agreements.greeted.remove(&peer);
    let is_over =
        |series: &Series| series.members.is_freed() && series.members.group().rank_of(peer).is_some();
    let over = engine.agreements.of.iter().filter(|(_, series)| is_over(series));
    let over: Vec<(ContextId, u32)> =
        over.map(|(context, series)| (*context, series.begun + u32::from(!series.is_closing))).collect();
    over.into_iter().for_each(|(context, last)| engine.agreements.closed(context, last));
}

/// A process is lost, and all that it said has come.
pub(super) fn lost(engine: &mut Engine, peer: Peer) {
    engine.agreements.partial.remove(&peer);
    let contexts: Vec<ContextId> = engine.agreements.of.keys().copied().collect();
    for context in contexts {
        let Some(series) = engine.agreements.of.get_mut(&context) else { continue };
        let Some(rank) = series.members.group().rank_of(peer) else { continue };
        let out: Vec<(u32, Vec<Outgoing>)> =
            series.parts.iter_mut().map(|(serial, part)| (*serial, part.lose(rank))).collect();
        out.into_iter().for_each(|(serial, out)| say(engine, context, serial, out));
        go_on(engine, context);
    }
}

/// This process leaves, and others may not have heard of what it has: that somebody is lost keeps who leaves from waiting for them, and
/// so do other jobs. It tells everybody, for as a process that is gone it is taken for lost, and then nobody takes what it has told
/// those below it.
pub fn leave(engine: &mut Engine) {
    let Engine { agreements, losses, .. } = engine;
    let may_lack_it = |context: &ContextId| !losses.is_empty() || context.spans_jobs();
    let last =
        agreements.of.iter().filter(|(context, _)| may_lack_it(context)).filter_map(|(context, series)| {
            let (_, last) = series.parts.iter().find(|(serial, _)| *serial == series.decided)?;
            let decision = last.decision()?.clone();
            Some((
                *context,
                series.decided,
                series.members.group().size(),
                series.members.own() as u32,
                decision,
            ))
        });
    for (context, serial, size, own, decision) in last.collect::<Vec<_>>() {
        let others = (0..size).filter(|rank| *rank != own);
        say(engine, context, serial, others.map(|rank| (rank, Message::Decided(decision.clone()))).collect());
    }
}

/// Has messages sent, each in as many packets as it takes.
fn say(engine: &mut Engine, context: ContextId, serial: u32, out: Vec<Outgoing>) {
    for (rank, message) in out {
        let series = engine.agreements.of.get(&context);
        let Some(to) = series.and_then(|series| series.members.group().peer(rank)) else { continue };
        say_to(engine, to, context, serial, &message);
    }
}

fn say_to(engine: &mut Engine, to: Peer, context: ContextId, serial: u32, message: &Message) {
    let mut words = std::mem::take(&mut engine.agreements.words);
    message.put_words(&mut words);
    for from in (0..words.len()).step_by(SAID) {
        engine.ask(Action::Control(to, Emit::agreement(context, serial, &words[from..])));
    }
    words.clear();
    engine.agreements.words = words;
}
