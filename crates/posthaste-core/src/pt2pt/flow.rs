//! Flow control: what unexpected messages may cost their receiver, and how a message behind a flood is still found.
//!
//! ```text
//!   sender                                      receiver
//!   messages ------------------------------->   kept, until they take more than the setting allows
//!   refused  <----- hold back ---------------   (a mark where the sender looks for room)
//!   frozen   <----- Seek pattern -----------    a receive is posted that nothing here fits
//!   show     ------ Found envelope -------->    does it match? then it is asked for, as after a request to send
//!   granted  <----- OkToSend --------------
//!   put      ======= data ================>     landed
//!   resumed  <----- Resume ----------------     half of what was kept has been received
//! ```
//!
//! Called by `dispatch`, `recv`, `probe`, `progress`; calls `matching`, `pending`, `rendezvous`, `method`. A message that is
//! held back stays in its sender's queue and costs its receiver nothing: the receiver looks at envelopes, one by one,
//! and keeps none.
//!
//! What must stay true, so that bounding can neither reorder messages nor stop anybody for ever:
//! * The receiver always reads everything that arrives, and packets that are no messages are never held back.
//! * One question is open for each peer, and a frozen sender sends no message that was not asked for, so what the
//!   receiver knows of its queue cannot be out of date. An answer to a question that was given up is dropped.
//! * No message in front of `next` fits a receive that has been asked for or was posted before the holding back
//!   began. So a message at `next` goes to the receive posted first among those that fit, and a receive posted later
//!   gets the first message in front of `next` that fits (MPI-5.0 §3.5). Every receive is asked for once, in the order
//!   of posting, and every message is looked at once while a receive waits: nothing that fits is missed.

use std::collections::VecDeque;

use crate::ids::{Peer, RequestId};
use crate::method::Methods;
use crate::pt2pt::action::send_control;
use crate::pt2pt::matching::{Content, Held, Pattern};
use crate::pt2pt::{Action, Engine, rendezvous};
use crate::request::{State, Table};
use crate::trace::Counter;
use crate::wire::{Emit, Envelope, Found, Offer, Seek, Sought};

/// Envelopes told in answer to one question.
const MOST: u32 = 64;
/// Patterns of probes that are remembered for a peer.
const PROBES: usize = 16;

/// The receiver's side, for all peers.
#[derive(Debug, Default)]
pub struct Flow {
    peers: Vec<Option<Box<Holding>>>,
    /// Number of peers that are held back.
    count: usize,
    /// Number of the last question.
    serial: u32,
    /// Peers that have been complained of.
    told: Vec<bool>,
}

/// A peer that is held back.
#[derive(Debug, Default)]
struct Holding {
    /// The open question.
    asked: Option<Question>,
    /// Place of the first message that has not been looked at.
    next: u64,
    /// Receives posted since, which nobody has asked for yet.
    late: VecDeque<RequestId>,
    /// Probes that found nothing so far.
    probes: Vec<Probe>,
    /// What probes found.
    seen: Vec<Glimpse>,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    serial: u32,
    about: About,
}

#[derive(Clone, Copy, Debug)]
enum About {
    /// Every message from `next` on; so many more are told.
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
    /// For so many peers.
    pub fn new(peers: usize) -> Self {
        Self { peers: (0..peers).map(|_| None).collect(), count: 0, serial: 0, told: vec![false; peers] }
    }

    /// Whether any peer is held back.
    #[inline]
    pub fn is_holding(&self) -> bool {
        self.count > 0
    }

    fn of(&mut self, peer: Peer) -> Option<&mut Holding> {
        self.peers.get_mut(peer.index())?.as_deref_mut()
    }

    /// Everything that was seen in the queue of a peer may be gone.
    pub(super) fn forget_seen(&mut self, peer: Peer) {
        if let Some(holding) = self.of(peer) {
            holding.seen.clear();
        }
    }
}

/// Receiver: an unexpected message has been kept. Was it one too many?
#[inline]
pub(super) fn kept(engine: &mut Engine, from: Peer, envelope: &Envelope) -> Option<Action> {
    let over = engine.matching.kept_bytes(from) > engine.config.unexpected_bytes;
    (over && engine.flow.of(from).is_none()).then(|| Action::HoldBack(from, *envelope))
}

/// Receiver: holds the further messages of a peer back.
pub(super) fn hold_back(engine: &mut Engine, methods: &mut Methods, from: Peer, envelope: &Envelope) {
    if engine.flow.of(from).is_some() {
        return;
    }
    methods.hold_back(from, true);
    engine.flow.peers[from.index()] = Some(Box::default());
    engine.flow.count += 1;
    engine.chores += 1;
    engine.counts.add(Counter::HeldBack, 1);
    if !std::mem::replace(&mut engine.flow.told[from.index()], true) {
        eprintln!(
            "posthaste: rank {} of the world floods rank {} with messages that nobody receives: they take {} bytes, \
             the last one has tag {} in communicator context {} and {} bytes. It waits now until some are received \
             (POSTHASTE_UNEXPECTED_BYTES is {})",
            from.0,
            methods.me().0,
            engine.matching.kept_bytes(from),
            envelope.tag,
            envelope.context.0,
            envelope.len,
            engine.config.unexpected_bytes
        );
    }
}

/// Receiver: messages have been taken out of the unexpected queue. Lets peers send again of which little is left.
pub(super) fn ease(engine: &mut Engine, methods: &mut Methods) {
    for at in 0..engine.flow.peers.len() {
        let peer = Peer(at as u32);
        if engine.flow.peers[at].is_some()
            && engine.matching.kept_bytes(peer) <= engine.config.unexpected_bytes / 2
        {
            engine.flow.peers[at] = None;
            engine.flow.count -= 1;
            engine.chores -= 1;
            methods.hold_back(peer, false);
            send_control(engine, methods, peer, Emit::resume());
        }
    }
}

/// Receiver: a receive has been posted while peers are held back.
pub(super) fn posted(engine: &mut Engine, methods: &mut Methods, id: RequestId) {
    let most = 64 + 2 * engine.matching.depths().0;
    let Engine { flow, requests, .. } = engine;
    for holding in flow.peers.iter_mut().flatten() {
        if holding.late.len() > most {
            // Receives that another peer's messages have matched since.
            holding.late.retain(|id| entry(requests, *id).is_some());
        }
        holding.late.push_back(id);
    }
    advance(engine, methods);
}

/// Receiver: asks what there is to ask. Whether there was anything.
pub fn advance(engine: &mut Engine, methods: &mut Methods) -> bool {
    let mut busy = false;
    if !engine.flow.is_holding() {
        return false;
    }
    ease(engine, methods);
    for at in 0..engine.flow.peers.len() {
        if let Some(seek) = question(engine, at) {
            send_control(engine, methods, Peer(at as u32), Emit::seek(&seek));
            busy = true;
        }
    }
    busy
}

/// The next question for a peer: receives posted since come first, then probes, then what has not been looked at.
/// Only the last kind stays open, and is given up for the others.
fn question(engine: &mut Engine, at: usize) -> Option<Seek> {
    let Engine { flow: Flow { peers, serial, .. }, requests, matching, .. } = engine;
    let holding = peers[at].as_mut()?;
    if matches!(holding.asked, Some(Question { about: About::Receive(_) | About::Probe(_), .. })) {
        return None;
    }
    let late = std::iter::from_fn(|| holding.late.pop_front()).find_map(|id| {
        let pattern = matching.posted_pattern(entry(requests, id)?)?;
        Some((About::Receive(id), pattern))
    });
    let special = late.or_else(|| {
        let probe = holding.probes.iter_mut().find(|probe| !probe.asked)?;
        probe.asked = true;
        Some((About::Probe(probe.pattern), probe.pattern))
    });
    let (about, first, what) = match special {
        Some((about, Pattern { context, source, tag })) => (about, 0, Sought::Fitting(context, source, tag)),
        None if holding.asked.is_none() && (matching.has_posted() || !holding.probes.is_empty()) => {
            (About::All(MOST), holding.next, Sought::All(MOST))
        }
        None => return None,
    };
    *serial = serial.wrapping_add(1);
    holding.asked = Some(Question { serial: *serial, about });
    Some(Seek { serial: *serial, first, what })
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
    let pending = engine.pending.get_mut(from.index())?;
    pending.frozen = true;
    pending.question = Some(seek);
    Some(Action::Show(from))
}

/// Sender: answers the open question as far as it can be answered now.
pub(super) fn show(engine: &mut Engine, methods: &mut Methods, to: Peer) {
    loop {
        let pending = &mut engine.pending[to.index()];
        let Some(seek) = pending.question else { return };
        let (serial, end) = (seek.serial, pending.end());
        let place = pending.seek(&seek);
        let message = place.and_then(|place| pending.at(place)).map(|waiting| {
            waiting.shown = true;
            (waiting.id, waiting.envelope)
        });
        pending.question = match (seek.what, place) {
            (Sought::All(most), None) => {
                // Open until there is more.
                pending.question =
                    Some(Seek { first: seek.first.max(end), what: Sought::All(most.min(MOST)), ..seek });
                return;
            }
            (Sought::All(most), Some(place)) if most > 1 => {
                Some(Seek { first: place + 1, what: Sought::All(most.min(MOST) - 1), ..seek })
            }
            (Sought::All(_) | Sought::Fitting(..), _) => None,
        };
        let found = Found { serial, place: place.unwrap_or(end), message };
        send_control(engine, methods, to, Emit::found(&found));
    }
}

/// Receiver: the answer, or one of several.
pub(crate) fn found(engine: &mut Engine, from: Peer, found: Found) -> Option<Action> {
    let Engine { flow, matching, .. } = engine;
    let holding = flow.of(from)?;
    let Question { about, .. } = holding.asked.filter(|question| question.serial == found.serial)?;
    holding.asked = match about {
        About::All(left) if left > 1 && found.message.is_some() => {
            Some(Question { serial: found.serial, about: About::All(left - 1) })
        }
        _ => None,
    };
    let (sender, envelope) = found.message?;
    let receiver = match about {
        About::All(_) => {
            holding.next = holding.next.max(found.place + 1);
            while let Some(at) = holding.probes.iter().position(|probe| probe.pattern.fits(&envelope)) {
                let pattern = holding.probes.swap_remove(at).pattern;
                holding.seen.push(Glimpse { pattern, sender, envelope });
                engine.finished.ends += 1;
            }
            matching.take_posted(&envelope)?
        }
        About::Receive(id) => {
            // What nobody has looked at yet has its turn later. The receive may have been matched meanwhile.
            if found.place >= holding.next || matching.peek_posted(&envelope) != Some(id) {
                return None;
            }
            matching.take_posted(&envelope)?
        }
        About::Probe(pattern) => {
            holding.probes.retain(|probe| probe.pattern != pattern);
            holding.seen.push(Glimpse { pattern, sender, envelope });
            engine.finished.ends += 1;
            return None;
        }
    };
    holding.seen.clear();
    engine.counts.add(Counter::Sought, 1);
    rendezvous::matched(engine, from, &envelope, sender, Offer::Nothing, receiver)
}

/// Receiver: a probe has found nothing here. What is known to be held back, or a question.
pub(super) fn probe(engine: &mut Engine, methods: &mut Methods, pattern: &Pattern) -> Option<Envelope> {
    let (peer, at) = glimpse(engine, methods, pattern)?;
    Some(engine.flow.of(peer)?.seen[at].envelope)
}

/// As [`probe`], and takes the message out of its sender's queue.
pub(super) fn take(engine: &mut Engine, methods: &mut Methods, pattern: &Pattern) -> Option<Held> {
    let (from, at) = glimpse(engine, methods, pattern)?;
    let Glimpse { sender, envelope, .. } = engine.flow.of(from)?.seen.swap_remove(at);
    engine.flow.forget_seen(from);
    engine.counts.add(Counter::Sought, 1);
    send_control(engine, methods, from, Emit::ok_to_send(sender, RequestId::NONE));
    Some(Held { envelope, from, content: Content::Asked { sender, offer: Offer::Nothing } })
}

/// What was seen for this pattern, unless an earlier receive is to have it; asks where nothing was.
fn glimpse(engine: &mut Engine, methods: &mut Methods, pattern: &Pattern) -> Option<(Peer, usize)> {
    let Engine { flow, matching, .. } = engine;
    for (peer, holding) in flow.peers.iter_mut().enumerate() {
        let Some(holding) = holding else { continue };
        let seen = holding.seen.iter().position(|seen| seen.pattern == *pattern);
        if let Some(at) = seen
            && matching.peek_posted(&holding.seen[at].envelope).is_none()
        {
            return Some((Peer(peer as u32), at));
        }
        if seen.is_none() && !holding.probes.iter().any(|probe| probe.pattern == *pattern) {
            if holding.probes.len() == PROBES {
                holding.probes.remove(0);
            }
            holding.probes.push(Probe { pattern: *pattern, asked: false });
        }
    }
    advance(engine, methods);
    None
}

/// Sender: messages may leave again in their order.
pub(crate) fn resumed(engine: &mut Engine, from: Peer) {
    if let Some(pending) = engine.pending.get_mut(from.index()) {
        pending.frozen = false;
        pending.question = None;
    }
}
