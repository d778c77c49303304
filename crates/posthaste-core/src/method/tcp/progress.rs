//! A turn of TCP: what waits is written, what has come is read and handed on, time is looked at, and what is lost is reported.
//!
//! What must stay true: while shared memory is polled, too, most turns leave the sockets alone; nothing that has been
//! read waits for a socket; a peer is lost once.

use std::io;
use std::time::Duration;

use posthaste_os::socket::Ready;

use crate::error::{Error, ErrorClass};
use crate::ids::Peer;
use crate::method::tcp::incoming::{Garbage, Read};
use crate::method::tcp::pair::{Pairing, Settled};
use crate::method::tcp::{DOORS, LISTENER, State, Tcp, UNLOOKED, Way};
use crate::method::{Event, report};
use crate::trace::{Counter, Counts};

/// Polls between two looks at the sockets while shared memory is polled, at most.
const RARELY: u32 = 32;
/// Looks at the connection that was busy last between two looks at all of them: at first, and where nothing has come elsewhere for long.
/// A look at all takes as long as several at one.
pub(super) const FAVOUR: u32 = 4;
const MOST_FAVOUR: u32 = 32;
/// Fruitless looks until no connection is the busy one any more.
const FORGET: u32 = 4096;
/// Reads from one connection before the others have their turn.
const READS: usize = 8;
/// Looks at the sockets between two looks at the clock, and the time between two looks at everybody's health.
const LOOKS_PER_CLOCK: u32 = 256;
const BETWEEN_CHECKS: Duration = Duration::from_secs(1);

impl Tcp {
    pub(super) fn progress(
        &mut self,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        self.round += 1;
        counts.add(Counter::Gathered, std::mem::take(&mut self.gathered));
        let mut busy = false;
        if self.siblings.has_letters(self.identity.vci) {
            self.read_letters();
            busy = true;
        }
        if !self.pending.is_empty() {
            busy |= self.flush_all();
        }
        if !self.loaded.is_empty() {
            for peer in std::mem::take(&mut self.loaded) {
                if let Some(way) = self.known(peer) {
                    way.is_loaded = false;
                    way.input.store_what_nobody_took();
                }
                busy |= self.process(peer, counts, on);
            }
        }
        if self.until_look > 0 {
            self.until_look -= 1;
        } else {
            let found = self.look(counts, on);
            busy |= found;
            self.interval = match self.shares {
                true if !found => (self.interval * 2).clamp(1, RARELY),
                _ => 0,
            };
            self.until_look = self.interval;
        }
        busy | report(&mut self.done, &mut self.lost, counts, on)
    }

    /// The next poll looks at the sockets, and at the clock: this process has slept.
    pub(super) fn look_at_sockets(&mut self) {
        self.until_look = 0;
        self.looks = LOOKS_PER_CLOCK - 1;
    }

    /// Looks at the sockets.
    fn look(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        self.looks = self.looks.wrapping_add(1);
        // What was refused for want of a look may leave now.
        let mut found = std::mem::take(&mut self.unlooked) >= UNLOOKED;
        if let Some(peer) = self.busy {
            let received = self.receive(peer, counts, on);
            self.misses = if received { 0 } else { self.misses + 1 };
            found |= received;
            if self.misses >= FORGET {
                self.busy = None;
            }
            // Where looks are rare already, each is at all.
            let is_favoured = !self.looks.is_multiple_of(self.favour) && self.interval < RARELY;
            if is_favoured && self.reaching.is_empty() {
                return found;
            }
        }
        let mut ready = std::mem::take(&mut self.ready);
        self.set.wait(Duration::ZERO, &mut ready);
        let mut busy = found;
        let busy_one = self.busy.map(|peer| peer.0.into());
        let elsewhere = ready.iter().any(|ready| ready.write || Some(ready.token) != busy_one);
        self.favour = if elsewhere { FAVOUR } else { (self.favour * 2).min(MOST_FAVOUR) };
        for Ready { token, read, write } in ready.drain(..) {
            if token == LISTENER {
                self.accept(counts);
            } else if token >> 32 == DOORS >> 32 {
                self.door_is_ready((token - DOORS) as usize, counts);
            } else if token > u32::MAX.into() {
                continue; // the pipe that ends sleeps, or a set of others
            } else {
                let peer = Peer(token as u32);
                if write && let Some(way) = self.known(peer) {
                    way.out.blocked = false;
                    self.flush(peer);
                }
                busy |= read && self.receive(peer, counts, on);
                continue;
            }
            busy = true;
        }
        self.ready = ready;
        // Last: this process may have been away for long, and what has come meanwhile came in time.
        if self.looks.is_multiple_of(LOOKS_PER_CLOCK) || !self.reaching.is_empty() {
            self.pass_time(counts);
        }
        busy
    }

    #[cold]
    fn pass_time(&mut self, counts: &mut Counts) {
        self.look_at_the_clock(counts);
        let now = self.now();
        if now - self.checked < BETWEEN_CHECKS {
            return;
        }
        self.checked = now;
        let up: Vec<Peer> = self.ways.iter().filter(|(_, way)| way.is_up()).map(|(peer, _)| peer).collect();
        for peer in up {
            let Some(Way { state: State::Up(stream), unwritable, is_loaded, .. }) = self.ways.get(peer)
            else {
                continue;
            };
            // Nothing is said here any more, and nothing that has arrived waits for the program.
            let is_to_end = unwritable.is_some() && !is_loaded;
            match stream.health() {
                // What has been said since it fell silent: before that it may have been idle for long.
                Ok(health) if health.unanswered || is_to_end => {
                    let dead = self.tuning.dead;
                    let Some(way) = self.known(peer) else { continue };
                    let since = *way.silent_since.get_or_insert(now);
                    if (is_to_end || health.silent >= dead) && now - since >= dead {
                        let silent = || format!("its system has not answered for {} s", dead.as_secs());
                        let why = way.unwritable.take().unwrap_or_else(silent);
                        self.lose(peer, &why);
                    }
                }
                _ => self.way(peer).silent_since = None,
            }
        }
    }

    /// Reads what has come from a peer, and looks at it.
    fn receive(
        &mut self,
        peer: Peer,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let mut busy = false;
        for _ in 0..READS {
            let Some(Way { state: State::Up(stream), input, is_loaded, unwritable, .. }) = self.known(peer)
            else {
                return busy;
            };
            if input.is_asking() {
                return busy;
            }
            let into = input.arriving().and_then(|(data, left)| {
                let mut into = None;
                on(Event::DataArriving(peer, data, left, &mut into), counts);
                into
            });
            let read = input.read(stream, into);
            let is_full = matches!(read, Ok(Read::Full));
            match read {
                Ok(Read::Nothing) => return busy,
                Ok(Read::Full | Read::Some) => {
                    (self.busy, self.misses) = (Some(peer), 0);
                    self.process(peer, counts, on);
                    busy = true;
                }
                // What has been read before comes first: nobody has said yet where it is to go.
                Ok(Read::End) | Err(_) if *is_loaded => return busy,
                Ok(Read::End) if input.has_parted => self.end_way(peer, State::None),
                // Each VCI hears of it by itself: its last message in another one may still be on its way.
                Ok(Read::End) if input.bye => {
                    let why = self.loss(peer, "it has finalised");
                    self.fail(peer, why);
                }
                Ok(Read::End) => {
                    let why = unwritable.take().unwrap_or_else(|| "it has closed its connection".to_owned());
                    self.lose(peer, &why);
                }
                Err(error) => {
                    let why = unwritable.take().unwrap_or_else(|| error.to_string());
                    self.lose(peer, &why);
                }
            }
            if !is_full {
                return true;
            }
        }
        busy
    }

    /// Looks at what has been read from a peer.
    fn process(
        &mut self,
        peer: Peer,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let Some(way) = self.ways.get_mut(peer) else { return false };
        let throttled = way.throttled;
        match way.input.process(peer, &mut way.throttled, counts, on) {
            Ok(busy) => {
                if let Some(said) = way.input.said.take()
                    && !self.hear_of_segment(peer, said)
                {
                    return self.refuse_the_rest(peer, counts, on);
                }
                let Some(way) = self.ways.get_mut(peer) else { return true };
                // The engine says what to do with a message that begins to arrive; then there may be more here.
                if way.input.has_something() && !way.is_loaded {
                    way.is_loaded = true;
                    self.loaded.push(peer);
                }
                // Messages that were throttled may leave: not yet, but what waits for room looks again.
                busy || throttled != way.throttled
            }
            Err(Garbage) => self.refuse_the_rest(peer, counts, on),
        }
    }

    /// What a peer sends makes no sense.
    fn refuse_the_rest(
        &mut self,
        peer: Peer,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        on(Event::Malformed(peer), counts);
        self.lose(peer, "it has sent something unreadable");
        true
    }

    /// Writes what has gathered.
    #[inline]
    pub(super) fn flush_pending(&mut self) {
        self.round += 1;
        if !self.pending.is_empty() {
            self.flush_all();
        }
    }

    /// Writes what waits for any peer, as far as there is room.
    #[cold]
    fn flush_all(&mut self) -> bool {
        let mut busy = false;
        for peer in std::mem::take(&mut self.pending) {
            if let Some(way) = self.known(peer) {
                way.is_pending = false;
                busy |= self.flush(peer);
            }
        }
        busy
    }

    /// Writes what waits for a peer, as far as there is room. Returns whether anything left.
    pub(super) fn flush(&mut self, peer: Peer) -> bool {
        let set = &self.set;
        let Some(way) = self.ways.get_mut(peer) else { return false };
        let mut busy = Ok(false);
        if let State::Up(stream) = &way.state
            && !way.out.blocked
            && way.unwritable.is_none()
        {
            busy = way.out.write(stream, &mut self.done);
            if way.out.blocked != way.watched_for_room
                && set.change(stream, peer.0.into(), way.out.blocked).is_ok()
            {
                way.watched_for_room = way.out.blocked;
            }
            if way.is_closing && way.out.is_empty() {
                stream.close_writing();
            }
        }
        if !way.out.is_empty() && !way.is_pending {
            way.is_pending = true;
            self.pending.push(peer);
        }
        busy.unwrap_or_else(|error| {
            self.stop_writing(peer, &error);
            true
        })
    }

    /// Nothing more leaves for a peer, which is lost as soon as all that has arrived is read.
    #[cold]
    fn stop_writing(&mut self, peer: Peer, why: &io::Error) {
        let Some(way) = self.known(peer) else { return };
        way.unwritable = Some(why.to_string());
        if let State::Up(stream) = &way.state {
            stream.close();
        }
        self.until_look = 0;
    }

    /// The connection to a peer is gone.
    pub(in crate::method) fn lose(&mut self, peer: Peer, why: &str) {
        if self.ways.get(peer).is_some_and(|way| way.is_parting) {
            return self.end_way(peer, State::None);
        }
        self.tell_of_loss(peer, why);
        let error = self.loss(peer, why);
        self.fail(peer, error);
    }

    pub(super) fn loss(&self, peer: Peer, why: &str) -> Error {
        let text = format!("the connection to {} is lost: {why}", self.identity.name(peer));
        Error::other(ErrorClass::ProcAborted, text)
    }

    /// A peer is down: forgets everything about it but that, and reports it to the engine.
    pub(super) fn fail(&mut self, peer: Peer, error: Error) {
        let shares = matches!(self.way(peer).pairing, Pairing::Shared);
        self.end_way(peer, State::Down);
        match shares {
            _ if self.is_leaving => {}
            true => self.settled.push(Settled::Lost(peer, error)),
            false => self.lost.push_back((peer, error)),
        }
    }

    /// There is no connection to a peer any more, nor anything under way to one.
    pub(super) fn end_way(&mut self, peer: Peer, state: State) {
        self.reaching.retain(|other| *other != peer);
        self.pending.retain(|other| *other != peer);
        self.loaded.retain(|other| *other != peer);
        for door in &mut self.doors {
            door.take_if(|door| door.called() == Some(peer));
        }
        if self.busy == Some(peer) {
            self.busy = None;
        }
        let format = self.way(peer).format;
        *self.way(peer) = Way { state, format, ..Way::default() };
    }
}
