//! Flow control: what unexpected messages may cost their receiver, and how a message behind a flood is still found.
//!
//! ```text
//!   sender                                      receiver
//!   messages ------------------------------->   stored, until they take more than the setting allows
//!   refused  <----- throttle ----------------   (a mark where the sender looks for room)
//!   frozen   <----- Seek pattern -----------    a receive is posted that nothing here fits
//!   show     ------ Found envelope -------->    does it match? then it is asked for, as after a request to send
//!   granted  <----- OkToSend --------------
//!   put      ======= data ================>     landed
//!   resumed  <----- Resume ----------------     half of what was stored has been received
//! ```
//!
//! A throttled message stays in its sender's queue and costs its receiver nothing: the receiver looks at
//! envelopes, one by one, and stores none.
//!
//! What must stay true, so that bounding can neither reorder messages nor stop anybody for ever:
//! * The receiver always reads everything that arrives, and packets that are no messages are never throttled.
//! * One question is open for each peer, and a frozen sender sends no message that was not asked for, so what the
//!   receiver knows of its queue cannot be out of date. An answer to a question that was given up is dropped.
//! * A message and a receive meet only if it is the first in its sender's queue that fits the receive, and the receive was
//!   posted first among those that it fits (MPI-5.0 §3.5). For a receive that is asked for, the sender sees to the one
//!   and the receiver to the other. For messages that are looked at in order: no message in front of `next` fits a
//!   receive that has been asked for.
//! * Nothing that fits is missed: every receive is asked for, in the order of posting, and as long as one waits every
//!   message behind `next` is looked at, or the sender looks for the only pattern that matters.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Duration;

use crate::error::say;
use crate::ids::{Peer, RequestId};
use crate::method::Methods;
use crate::pt2pt::action::send_control;
use crate::pt2pt::matching::{Content, Matching, Pattern, Unexpected};
use crate::pt2pt::rendezvous::Asked;
use crate::pt2pt::{Action, Engine, arrival, rendezvous};
use crate::request::{State, Table};
use crate::trace::Counter;
use crate::wire::{Emit, Envelope, Found, Granted, Offer, Seek, Sought};

/// Envelopes shown in answer to one question.
const MOST: u32 = 64;
/// Patterns of probes that are remembered for a peer.
const PROBES: usize = 16;
/// Receives posted before the throttling that are asked for one by one; with more of them all messages are looked at.
const ROUND: usize = 64;
/// How long a peer's messages take more than the setting allows before that is said: receives may well come later.
const PATIENCE: Duration = Duration::from_secs(2);

/// The receiver's side, for all peers.
#[derive(Debug, Default)]
pub struct Flow {
    /// The throttled peers.
    peers: BTreeMap<Peer, Throttled>,
    /// Number of the last question.
    serial: u32,
    /// Peers of which it has been said that their messages are not received.
    reported: HashSet<Peer>,
}

/// A throttled peer.
#[derive(Debug)]
struct Throttled {
    /// The message that was one too many.
    envelope: Envelope,
    /// Since when its messages take more than the setting allows.
    since: Duration,
    /// The open question.
    asked: Option<Question>,
    /// The receive for which nothing was found last.
    last: RequestId,
    /// The place behind the last message, as last reported.
    end: u64,
    /// Place of the first message that has not been looked at.
    next: u64,
    /// Receives that nobody has asked for yet, in the order of posting.
    late: VecDeque<RequestId>,
    /// All posted receives are among those, or were answered with this place, up to which nothing fits them.
    round: Option<u64>,
    /// Probes that found nothing so far.
    probes: Vec<Probe>,
    /// What probes found.
    seen: Vec<Glimpse>,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    serial: u32,
    about: About,
    /// It is answered when there is something, and may be given up.
    open: bool,
}

#[derive(Clone, Copy, Debug)]
enum About {
    /// Every message from `next` on; so many more are shown.
    All(u32),
    Receive(RequestId),
    Probe(Pattern),
}

#[derive(Debug)]
struct Probe {
    pattern: Pattern,
    asked: bool,
}

/// A message that a probe found in its sender's queue.
#[derive(Debug)]
struct Glimpse {
    pattern: Pattern,
    sender: RequestId,
    envelope: Envelope,
}

impl Flow {
    /// Whether any peer is throttled.
    #[inline]
    pub fn is_throttling(&self) -> bool {
        !self.peers.is_empty()
    }

    fn of(&mut self, peer: Peer) -> Option<&mut Throttled> {
        self.peers.get_mut(&peer)
    }

    /// The next throttled peer, from `first` on.
    fn next(&self, first: Peer) -> Option<Peer> {
        self.peers.range(first..).next().map(|(peer, _)| *peer)
    }

    /// This peer is gone. Whether it was throttled.
    pub(super) fn forget(&mut self, peer: Peer) -> bool {
        self.peers.remove(&peer).is_some()
    }

    /// Everything that was seen in the queue of a peer may be gone.
    pub(super) fn forget_seen(&mut self, peer: Peer) {
        if let Some(throttled) = self.of(peer) {
            throttled.seen.clear();
        }
    }
}

/// Receiver: an unexpected message has been stored. Was it one too many?
#[inline]
pub(super) fn stored_unexpected(engine: &mut Engine, from: Peer, envelope: &Envelope) -> Option<Action> {
    let over = engine.matching.unexpected_bytes(from) > engine.config.unexpected_bytes;
    (over && engine.flow.of(from).is_none()).then(|| Action::Throttle(from, *envelope))
}

/// Receiver: throttles a peer: its further messages stay with it.
pub(super) fn throttle(engine: &mut Engine, methods: &mut Methods, from: Peer, envelope: &Envelope) {
    if engine.flow.of(from).is_some() || engine.losses.check(from).is_err() {
        return;
    }
    methods.throttle(from, true);
    let posted = engine.matching.posted_in_order(ROUND);
    let throttled = Throttled {
        envelope: *envelope,
        since: methods.now(),
        asked: None,
        last: RequestId::NONE,
        end: 0,
        next: 0,
        round: posted.is_some().then_some(u64::MAX),
        late: posted.unwrap_or_default().into(),
        probes: Vec::new(),
        seen: Vec::new(),
    };
    engine.flow.peers.insert(from, throttled);
    engine.pending_work += 1;
    engine.counts.add(Counter::Throttled, 1);
}

/// Receiver: says once for each peer that its messages are not received, if that has been so for a while.
fn remind(engine: &mut Engine, methods: &Methods) {
    let Engine { flow: Flow { peers, reported, .. }, matching, config, .. } = engine;
    for (peer, throttled) in peers.iter_mut() {
        if reported.contains(peer) {
            continue;
        }
        let (now, taken) = (methods.now(), matching.unexpected_bytes(*peer));
        if taken <= config.unexpected_bytes {
            throttled.since = now;
        } else if now.saturating_sub(throttled.since) >= PATIENCE {
            reported.insert(*peer);
            let at = peer.0;
            let Envelope { tag, context, len, .. } = &throttled.envelope;
            say(format_args!(
                "rank {} of the world has not received yet what rank {at} has sent: messages have taken more than {} bytes \
                 (POSTHASTE_UNEXPECTED_BYTES) for {} s, {taken} now; one of them has tag {tag} in communicator context {} \
                 and {len} bytes. Rank {at} sends no more until some are received",
                methods.me().0,
                config.unexpected_bytes,
                PATIENCE.as_secs(),
                context.0
            ));
        }
    }
}

/// Receiver: messages have been taken out of the unexpected queue. Lets peers send again of which little is left.
pub(super) fn ease(engine: &mut Engine, methods: &mut Methods) {
    let mut next = Peer(0);
    while let Some(peer) = engine.flow.next(next) {
        next = Peer(peer.0 + 1);
        if engine.matching.unexpected_bytes(peer) <= engine.config.unexpected_bytes / 2 {
            engine.flow.peers.remove(&peer);
            engine.pending_work -= 1;
            methods.throttle(peer, false);
            send_control(engine, methods, peer, Emit::resume());
        }
    }
}

/// Receiver: a receive has been posted while peers are throttled.
pub(super) fn posted(engine: &mut Engine, methods: &mut Methods, id: RequestId) {
    let most = 64 + 2 * engine.matching.depths().0;
    let Engine { flow, requests, .. } = engine;
    for throttled in flow.peers.values_mut() {
        if throttled.late.len() > most {
            // Receives that another peer's messages have matched since.
            throttled.late.retain(|id| entry(requests, *id).is_some());
        }
        throttled.late.push_back(id);
    }
    advance(engine, methods);
}

/// Receiver: asks what there is to ask. Whether there was anything.
pub fn advance(engine: &mut Engine, methods: &mut Methods) -> bool {
    let mut busy = false;
    if !engine.flow.is_throttling() {
        return false;
    }
    ease(engine, methods);
    remind(engine, methods);
    let mut next = Peer(0);
    while let Some(peer) = engine.flow.next(next) {
        next = Peer(peer.0 + 1);
        if let Some(seek) = question(engine, peer) {
            send_control(engine, methods, peer, Emit::seek(&seek));
            busy = true;
        }
    }
    busy
}

/// The next question for a peer: receives and probes that nobody has asked for come first, each by a question that is
/// answered at once; then comes one that stays open until there is more, and is given up for the others.
fn question(engine: &mut Engine, peer: Peer) -> Option<Seek> {
    let Engine { flow: Flow { peers, serial, .. }, requests, matching, .. } = engine;
    let throttled = peers.get_mut(&peer)?;
    if throttled.asked.is_some_and(|question| !question.open) {
        return None;
    }
    let mut special = throttled.not_asked(requests, matching);
    if special.is_none() && throttled.asked.is_none() && throttled.is_far_behind(matching) {
        special = throttled.not_asked(requests, matching);
    }
    let (about, first, what) = match special {
        Some((about, Pattern { context, source, tag })) => (about, 0, Sought::Fitting(context, source, tag)),
        None if throttled.asked.is_some() => return None,
        None => throttled.open_question(requests, matching)?,
    };
    *serial = serial.wrapping_add(1);
    let open = !matches!(what, Sought::Fitting(..));
    throttled.asked = Some(Question { serial: *serial, about, open });
    Some(Seek { serial: *serial, first, what })
}

impl Throttled {
    /// What has to be asked for next.
    fn not_asked(&mut self, requests: &Table, matching: &Matching) -> Option<(About, Pattern)> {
        let late = std::iter::from_fn(|| self.late.pop_front())
            .find_map(|id| Some((About::Receive(id), matching.posted_pattern(entry(requests, id)?)?)));
        late.or_else(|| {
            let probe = self.probes.iter_mut().find(|probe| !probe.asked)?;
            probe.asked = true;
            Some((About::Probe(probe.pattern), probe.pattern))
        })
    }

    /// Everything has been asked for. Whether so much has not been looked at that asking for all again is the shorter way.
    fn is_far_behind(&mut self, matching: &Matching) -> bool {
        if let Some(place) = self.round.take().filter(|place| *place != u64::MAX) {
            self.next = self.next.max(place);
        }
        let waiting = (matching.posted_count() + self.probes.len()) as u64;
        if waiting == 0 || self.end.saturating_sub(self.next) <= waiting * u64::from(MOST) {
            return false;
        }
        let Some(posted) = matching.posted_in_order(ROUND) else { return false };
        self.late = posted.into();
        self.probes.iter_mut().for_each(|probe| probe.asked = false);
        self.round = Some(u64::MAX);
        true
    }

    fn open_question(&self, requests: &Table, matching: &Matching) -> Option<(About, u64, Sought)> {
        let next = |about, Pattern { context, source, tag }| (about, 0, Sought::Next(context, source, tag));
        match (matching.posted_count(), self.probes.len()) {
            (0, 0) => None,
            (0, 1) => Some(next(About::Probe(self.probes[0].pattern), self.probes[0].pattern)),
            (1, 0) if let Some(entry) = entry(requests, self.last) => {
                Some(next(About::Receive(self.last), matching.posted_pattern(entry)?))
            }
            _ => Some((About::All(MOST), self.next, Sought::All(MOST))),
        }
    }

    /// Nothing in front of `place` fits what was asked for.
    fn nothing(&mut self, about: About, place: u64, requests: &Table, matching: &Matching) {
        self.end = place;
        self.round = self.round.map(|round| round.min(place));
        let alone = match about {
            About::Receive(id) => {
                self.last = id;
                entry(requests, id).is_some() && matching.posted_count() == 1 && self.probes.is_empty()
            }
            About::Probe(_) => !matching.has_posted() && self.probes.len() == 1,
            About::All(_) => false,
        };
        if alone {
            self.next = self.next.max(place);
        }
    }
}

/// The place of a receive in the queue of posted ones, if it is still there.
fn entry(requests: &Table, id: RequestId) -> Option<u32> {
    match requests.get(id)?.state {
        State::Posted { entry, .. } => Some(entry),
        _ => None,
    }
}

/// Sender: the receiver asks.
pub(crate) fn asked(engine: &mut Engine, from: Peer, seek: Seek) -> Option<Action> {
    let pending = engine.pending.of(from);
    pending.freeze(true, Some(seek));
    Some(Action::Show(from))
}

/// Sender: answers the open question as far as it can be answered now.
pub(super) fn show(engine: &mut Engine, methods: &mut Methods, to: Peer) {
    loop {
        let Some(pending) = engine.pending.get_mut(to) else { return };
        let Some(seek) = pending.question else { return };
        let (serial, end) = (seek.serial, pending.ready_end());
        let place = pending.seek(&seek);
        let message = place.and_then(|place| pending.at(place)).map(|waiting| {
            waiting.shown = true;
            (waiting.id, waiting.envelope)
        });
        pending.question = match (seek.what, place) {
            // Open until there is more.
            (Sought::Next(..), None) => return,
            (Sought::All(most), None) => {
                let (first, what) = (seek.first.max(end), Sought::All(most.min(MOST)));
                pending.question = Some(Seek { first, what, ..seek });
                return;
            }
            (Sought::All(most), Some(place)) if most > 1 => {
                Some(Seek { first: place + 1, what: Sought::All(most.min(MOST) - 1), ..seek })
            }
            (Sought::All(_) | Sought::Next(..) | Sought::Fitting(..), _) => None,
        };
        let found = Found { serial, place: place.unwrap_or(end), message };
        send_control(engine, methods, to, Emit::found(&found));
    }
}

/// Receiver: the answer, or one of several.
pub(crate) fn found(engine: &mut Engine, from: Peer, found: Found) -> Option<Action> {
    let Engine { flow, requests, matching, .. } = engine;
    let throttled = flow.of(from)?;
    let question = throttled.asked.filter(|question| question.serial == found.serial)?;
    let about = question.about;
    throttled.asked = match about {
        About::All(left) if left > 1 && found.message.is_some() => {
            Some(Question { about: About::All(left - 1), ..question })
        }
        _ => None,
    };
    let Some((sender, envelope)) = found.message else {
        throttled.nothing(about, found.place, requests, matching);
        return None;
    };
    let mut is_probed = false;
    match about {
        About::All(_) => {
            throttled.next = throttled.next.max(found.place.saturating_add(1));
            while let Some(at) = throttled.probes.iter().position(|probe| probe.pattern.fits(&envelope)) {
                let pattern = throttled.probes.swap_remove(at).pattern;
                throttled.seen.push(Glimpse { pattern, sender, envelope });
                engine.finished.ends += 1;
                is_probed = true;
            }
        }
        About::Receive(id) => {
            if matching.peek_posted(&envelope) != Some(id) {
                // It has been matched meanwhile; or one posted before it fits, which will be shown this message.
                throttled.round = throttled.round.map(|round| round.min(found.place));
                return None;
            }
        }
        About::Probe(pattern) => {
            throttled.probes.retain(|probe| probe.pattern != pattern);
            throttled.seen.push(Glimpse { pattern, sender, envelope });
            engine.finished.ends += 1;
            // Tasks look again, too.
            engine.tell_listeners();
            return None;
        }
    }
    let receiver = matching.take_posted(&envelope);
    if receiver.is_some() {
        throttled.seen.clear();
    }
    if is_probed {
        engine.tell_listeners();
    }
    let receiver = receiver?;
    engine.counts.add(Counter::Sought, 1);
    let nothing = Asked { sender, offer: Offer::Nothing, first: (&[][..]).into() };
    rendezvous::matched(engine, from, &envelope, nothing, receiver)
}

/// Receiver: a probe has found nothing here. A throttled message that is known, or a question.
pub(super) fn probe(engine: &mut Engine, methods: &mut Methods, pattern: &Pattern) -> Option<Envelope> {
    let (peer, at) = glimpse(engine, methods, pattern)?;
    Some(engine.flow.of(peer)?.seen[at].envelope)
}

/// As [`probe`], and takes the message out of its sender's queue.
pub(super) fn take(engine: &mut Engine, methods: &mut Methods, pattern: &Pattern) -> Option<Unexpected> {
    let (from, at) = glimpse(engine, methods, pattern)?;
    let Glimpse { sender, envelope, .. } = engine.flow.of(from)?.seen.swap_remove(at);
    engine.flow.forget_seen(from);
    engine.counts.add(Counter::Sought, 1);
    send_control(engine, methods, from, Emit::ok_to_send(sender, RequestId::NONE, Granted::Fragments));
    let content = Content::Asked { sender, offer: Offer::Nothing, first: Vec::new() };
    Some(arrival::set_aside(engine, from, &envelope, content, true))
}

/// What was seen for this pattern, unless an earlier receive is to have it; asks where nothing was.
fn glimpse(engine: &mut Engine, methods: &mut Methods, pattern: &Pattern) -> Option<(Peer, usize)> {
    let Engine { flow, matching, .. } = engine;
    for (peer, throttled) in &mut flow.peers {
        let seen = throttled.seen.iter().position(|seen| seen.pattern == *pattern);
        if let Some(at) = seen
            && matching.peek_posted(&throttled.seen[at].envelope).is_none()
        {
            return Some((*peer, at));
        }
        if seen.is_none() && !throttled.probes.iter().any(|probe| probe.pattern == *pattern) {
            if throttled.probes.len() == PROBES {
                throttled.probes.remove(0);
            }
            throttled.probes.push(Probe { pattern: *pattern, asked: false });
        }
    }
    advance(engine, methods);
    None
}

/// Sender: messages may leave again in their order.
pub(crate) fn resumed(engine: &mut Engine, from: Peer) {
    if let Some(pending) = engine.pending.get_mut(from) {
        pending.freeze(false, None);
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
