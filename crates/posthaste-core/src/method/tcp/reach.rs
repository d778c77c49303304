//! Reaching a peer: its addresses are tried in turn with little time between, and the first that answers with a proof is
//! used. An address that swallows everything costs nobody more than that little time.
//!
//! ```text
//!   two that reach for each other at once:
//!   the lower rank   keeps the other's connection waiting until its own stands (then drops it) or has failed
//!   the higher rank  takes the other's connection and gives its own up
//! ```
//!
//! What must stay true: an address where nobody takes the call is given up within the time that is set, and when none
//! is left a sentence names every address and what became of it; who has taken the call is waited for, because a rank
//! that computes does not look; strangers are bounded in number and time, counted, and reported once.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use posthaste_os::node::VCIS;
use posthaste_os::socket::Stream;

use crate::error::{Error, ErrorClass, say};
use crate::ids::Peer;
use crate::method::tcp::door::{Door, Step, Why};
use crate::method::tcp::handshake::Introduction;
use crate::method::tcp::outgoing::{BYE, PART};
use crate::method::tcp::{DOORS, LISTENER, State, Tcp};
use crate::trace::{Counter, Counts};

/// Between the first tries of two addresses.
const BETWEEN: Duration = Duration::from_millis(50);
/// Time for a stranger to prove that it is none.
const PATIENCE: Duration = Duration::from_secs(5);
/// Strangers at one time.
const MOST_STRANGERS: usize = 256;
/// A stranger may be sent away for another after this time.
const AGED: Duration = Duration::from_secs(1);
/// How long the peer's own connection waits for the outcome of ours.
const POLITENESS: Duration = Duration::from_secs(1);
/// Calls to addresses whose owner was there and went.
const MOST_CALLS: u32 = 64;
/// Connections accepted in one go.
const ACCEPTS: usize = 32;

/// A peer that is being reached for.
#[derive(Debug)]
pub(super) struct Reaching {
    node: String,
    /// Addresses that are to be tried.
    rest: VecDeque<SocketAddr>,
    calls: u32,
    /// Doors under way.
    tries: usize,
    /// One of them has given its proof; no other is opened as long as it stands.
    found: bool,
    next_at: Duration,
    deadline: Duration,
    /// What became of each address, last.
    failures: Vec<(SocketAddr, String)>,
    has_warned: bool,
    /// The peer's own connection, which waits for the outcome of ours.
    waiting: Option<(Door, Introduction, Duration)>,
}

impl Reaching {
    /// Whether the peer takes part in a connection already, so that it may have said something.
    pub(super) fn has_found(&self) -> bool {
        self.found || self.waiting.is_some()
    }

    fn failed(&mut self, address: SocketAddr, why: String) {
        match self.failures.iter_mut().find(|(known, _)| *known == address) {
            Some((_, last)) => *last = why,
            None => self.failures.push((address, why)),
        }
    }

    fn failures_in_words(&self) -> String {
        if self.failures.is_empty() {
            return "it has no address".into();
        }
        let all: Vec<String> =
            self.failures.iter().map(|(address, why)| format!("{address}: {why}")).collect();
        all.join("; ")
    }
}

impl Tcp {
    /// Begins to reach for a peer.
    pub(super) fn reach(&mut self, peer: Peer) {
        let known = self.identity.abroad.card(peer).cloned();
        let card = match known.map_or_else(|| self.siblings.card(peer), Ok) {
            Ok(card) => card,
            Err(error) => {
                let text = format!("{} cannot be reached: {error}", self.identity.name(peer));
                return self.fail(peer, Error::other(ErrorClass::Other, text));
            }
        };
        self.begin_pairing(peer, &card);
        let now = self.now();
        let rest = card.endpoints().collect();
        let reaching = Reaching {
            node: card.node,
            rest,
            calls: 0,
            tries: 0,
            found: false,
            next_at: now,
            deadline: now + self.connect_time,
            failures: Vec::new(),
            has_warned: false,
            waiting: None,
        };
        let way = self.way(peer);
        way.format = Some(card.format);
        way.state = State::Reaching(Box::new(reaching));
        self.reaching.push(peer);
        self.go_on_reaching(peer, now);
    }

    fn reaching(&mut self, peer: Peer) -> Option<&mut Reaching> {
        match &mut self.ways.get_mut(peer)?.state {
            State::Reaching(reaching) => Some(reaching),
            _ => None,
        }
    }

    /// Tries the next address, if it is time; ends when there is none left.
    fn go_on_reaching(&mut self, peer: Peer, now: Duration) {
        let tuning = self.tuning;
        while let Some(reaching) = self.reaching(peer) {
            let found = reaching.found;
            let enough =
                |(_, _, since): &mut (Door, Introduction, Duration)| !found && now - *since > POLITENESS;
            if let Some((door, introduction, _)) = reaching.waiting.take_if(enough) {
                return self.open(peer, door, introduction, true);
            }
            if now >= reaching.deadline {
                self.stop_waiting(peer);
            }
            let Some(reaching) = self.reaching(peer) else { return };
            if reaching.rest.is_empty() && reaching.tries == 0 {
                return self.give_up(peer);
            }
            if reaching.found || now < reaching.next_at {
                return;
            }
            let Some(address) = reaching.rest.pop_front() else { return };
            reaching.calls += 1;
            reaching.next_at = now + BETWEEN;
            match Stream::connect(address, &tuning) {
                Ok(stream) => {
                    reaching.tries += 1;
                    let door = Door::calling(stream, address, peer, now);
                    self.open_door(door, true);
                }
                Err(error) => {
                    reaching.failed(address, error.to_string());
                    reaching.next_at = now;
                }
            }
        }
    }

    fn open_door(&mut self, door: Door, write: bool) {
        let at = self.doors.iter().position(Option::is_none).unwrap_or(self.doors.len());
        if at == self.doors.len() {
            self.doors.push(None);
        }
        // A full set is as good as a door that never moves: its time runs out.
        let _ = self.set.add(&door.stream, DOORS | at as u64, write);
        self.doors[at] = Some(door);
    }

    /// The time is over: where nobody has taken the call, nobody will. Who has taken it may be busy.
    fn stop_waiting(&mut self, peer: Peer) {
        self.close_calls(peer, Door::is_unanswered);
        let (me, time, name) = (self.identity.me, self.connect_time, self.identity.name(peer));
        let Some(reaching) = self.reaching(peer) else { return };
        if reaching.tries > 0 && !std::mem::replace(&mut reaching.has_warned, true) {
            say(format_args!(
                "{name} on node {} has taken a connection of rank {} and has not said a word for {} s: it \
                 may be computing, or somebody else has its address; rank {} waits",
                reaching.node,
                me.0,
                time.as_secs(),
                me.0
            ));
        }
    }

    /// No address of the peer works from here. Its own connection may.
    fn give_up(&mut self, peer: Peer) {
        let (time, name) = (self.connect_time, self.identity.name(peer));
        let Some(reaching) = self.reaching(peer) else { return };
        if let Some((door, introduction, _)) = reaching.waiting.take() {
            return self.open(peer, door, introduction, true);
        }
        let text = format!(
            "{name} on node {} cannot be reached over TCP within {} s: {}",
            reaching.node,
            time.as_secs(),
            reaching.failures_in_words()
        );
        self.fail(peer, Error::other(ErrorClass::Other, text));
    }

    /// Closes those of our own tries to reach a peer that are `meant`.
    fn close_calls(&mut self, peer: Peer, meant: impl Fn(&Door) -> bool) {
        for at in 0..self.doors.len() {
            if let Some(door) = self.doors[at].take_if(|door| door.called() == Some(peer) && meant(door))
                && let Some(reaching) = self.reaching(peer)
            {
                reaching.tries -= 1;
                reaching.failed(door.address, "no answer".into());
            }
        }
    }

    /// A door has something to say.
    pub(super) fn door_is_ready(&mut self, at: usize, counts: &mut Counts) {
        let Some(door) = self.doors.get_mut(at).and_then(Option::as_mut) else { return };
        let called = door.called();
        match door.advance(&self.identity, &self.set, DOORS | at as u64) {
            Step::Wait => {}
            Step::Failed(why) => {
                let Some(door) = self.doors[at].take() else { return };
                match called {
                    Some(peer) => self.call_failed(peer, &door, why),
                    None => self.stranger_failed(&door, why, counts),
                }
            }
            Step::Found => {
                // The others are not needed any more.
                let Some(door) = self.doors[at].take() else { return };
                if let Some(peer) = called {
                    self.close_calls(peer, |_| true);
                    if let Some(reaching) = self.reaching(peer) {
                        (reaching.found, reaching.tries) = (true, 1);
                    }
                }
                self.doors[at] = Some(door);
                self.door_is_ready(at, counts);
            }
            Step::Open(introduction) => {
                if let (Some(door), Some(peer)) = (self.doors[at].take(), called) {
                    counts.add(Counter::ConnectionsMade, 1);
                    self.open(peer, door, introduction, false);
                }
            }
            Step::Proven(introduction) => {
                if let Some(door) = self.doors[at].take() {
                    counts.add(Counter::ConnectionsMade, 1);
                    if introduction.vci == self.identity.vci {
                        self.admit(door, introduction);
                    } else {
                        self.hand_over(door, introduction);
                    }
                }
            }
        }
    }

    fn call_failed(&mut self, peer: Peer, door: &Door, why: Why) {
        let (now, time) = (self.now(), self.connect_time);
        let Some(reaching) = self.reaching(peer) else { return };
        reaching.next_at = now;
        if matches!(why, Why::Gone(_)) && reaching.calls < MOST_CALLS {
            // It may have had no room, or no time.
            reaching.rest.push_back(door.address);
            reaching.next_at = now + BETWEEN;
            reaching.deadline = reaching.deadline.max(reaching.next_at + time);
        }
        let (Why::Unreachable(why) | Why::Gone(why) | Why::Stranger(why)) = why;
        reaching.failed(door.address, why);
        (reaching.tries, reaching.found) = (reaching.tries - 1, false);
        self.go_on_reaching(peer, now);
    }

    fn stranger_failed(&mut self, door: &Door, why: Why, counts: &mut Counts) {
        match why {
            // One of several tries of a peer that has found a better one.
            Why::Unreachable(_) | Why::Gone(_) => {}
            Why::Stranger(why) => self.refuse(door, &why, counts),
        }
        self.listen_again();
    }

    /// Counts a stranger that is sent away, and reports the first.
    fn refuse(&mut self, door: &Door, why: &str, counts: &mut Counts) {
        counts.add(Counter::ConnectionsRefused, 1);
        if !std::mem::replace(&mut self.warned_of_strangers, true) {
            say(format_args!(
                "rank {} of the world has refused a connection from {}: {why} (others will only be counted, as \
                 connections.refused)",
                self.identity.me.0, door.address
            ));
        }
    }

    /// A peer has proved who it is, and waits for our word.
    pub(super) fn admit(&mut self, door: Door, introduction: Introduction) {
        let peer = introduction.from;
        let goes_before = self.identity.goes_before(peer);
        self.listen_again();
        let now = self.now();
        match &mut self.way(peer).state {
            State::None => self.open(peer, door, introduction, true),
            State::Reaching(reaching) if goes_before => {
                reaching.waiting = Some((door, introduction, now));
            }
            State::Reaching(_) => self.open(peer, door, introduction, true),
            // There is one already, or the peer has been given up.
            State::Up(_) | State::Down => {}
        }
    }

    /// This connection is the one. `say`: the other side waits to hear so.
    fn open(&mut self, peer: Peer, door: Door, introduction: Introduction, say: bool) {
        self.close_calls(peer, |_| true);
        self.reaching.retain(|other| *other != peer);
        let opened = if say { door.go() } else { Ok(()) };
        let set = &self.set;
        let opened = opened.and_then(|()| match set.change(&door.stream, peer.0.into(), false) {
            // It was out of the set while it waited.
            Err(_) => set.add(&door.stream, peer.0.into(), false),
            ok => ok,
        });
        if let Some(card) = self.identity.abroad.card(peer).cloned() {
            self.begin_pairing(peer, &card);
        }
        let way = self.way(peer);
        if way.format.is_some_and(|card| card != introduction.format) {
            let name = self.identity.name(peer);
            let text = format!("{name} names two data formats, one in its business card");
            return self.fail(peer, Error::other(ErrorClass::Other, text));
        }
        way.format = Some(introduction.format);
        way.state = State::Up(door.stream);
        match opened {
            Ok(()) if way.unwritable.is_some() => self.say_nothing_more(peer),
            Ok(()) => {
                self.offer_segment(peer);
                self.flush(peer);
                match self.ways.get(peer) {
                    Some(way) if way.is_parting => self.say_last(peer, PART),
                    Some(way) if self.is_leaving && !way.is_closing => self.say_last(peer, BYE),
                    _ => {}
                }
            }
            Err(error) => self.lose(peer, &error.to_string()),
        }
    }

    /// Somebody is at the door.
    pub(super) fn accept(&mut self, counts: &mut Counts) {
        for _ in 0..ACCEPTS {
            let now = self.now();
            if !self.has_room_for_a_stranger(now, counts) {
                return self.stop_listening();
            }
            let Some(listener) = &self.listener else { return };
            match listener.accept() {
                Ok(Some((stream, address))) => {
                    if stream.tune(&self.tuning).is_ok() {
                        self.open_door(Door::answering(stream, address, now), false);
                    }
                }
                Ok(None) => return,
                Err(error) => {
                    if !std::mem::replace(&mut self.warned_of_accept, true) {
                        say(format_args!(
                            "rank {} of the world cannot accept a connection: {error}; it will try again",
                            self.identity.me.0
                        ));
                    }
                    return self.stop_listening();
                }
            }
        }
    }

    fn has_room_for_a_stranger(&mut self, now: Duration, counts: &mut Counts) -> bool {
        let doors = || self.doors.iter().enumerate().filter_map(|(at, door)| Some((at, door.as_ref()?)));
        let strangers = || doors().filter(|(_, door)| door.is_strange());
        if doors().count() >= MOST_STRANGERS + 2 * VCIS * self.identity.callers() {
            return false; // somebody repeats what ranks have said
        }
        if strangers().count() < MOST_STRANGERS {
            return true;
        }
        let oldest = strangers().min_by_key(|(_, door)| door.since).map(|(at, door)| (at, door.since));
        match oldest {
            Some((at, since)) if now - since >= AGED => {
                if let Some(door) = self.doors[at].take() {
                    self.refuse(&door, "it is slow and others wait", counts);
                }
                true
            }
            _ => false,
        }
    }

    /// The listener would wake us all the time.
    fn stop_listening(&mut self) {
        if let Some(listener) = &self.listener
            && self.is_listening
            && self.set.remove(listener).is_ok()
        {
            self.is_listening = false;
        }
    }

    pub(super) fn listen_again(&mut self) {
        if let Some(listener) = &self.listener
            && !self.is_listening
            && self.set.add(listener, LISTENER, false).is_ok()
        {
            self.is_listening = true;
        }
    }

    /// Time has passed.
    pub(super) fn look_at_the_clock(&mut self, counts: &mut Counts) {
        let now = self.now();
        for peer in self.reaching.clone() {
            self.go_on_reaching(peer, now);
        }
        for at in 0..self.doors.len() {
            let late = |door: &mut Door| door.is_strange() && now - door.since > PATIENCE;
            if let Some(door) = self.doors[at].take_if(late) {
                self.refuse(&door, "it does not say who it is", counts);
            }
        }
        self.listen_again();
    }
}
