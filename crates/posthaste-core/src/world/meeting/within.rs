//! Ports whose caller is a rank of their owner's job: the two send messages instead of connecting.
//!
//! ```text
//!   caller                                   owner of the port
//!     hello          tag: the TCP port  ---->  taken by whoever accepts there
//!                    tag: of the call   <----  nonce
//!     members                           ---->
//!                                       <----  members
//!     all have entered them <------------->    all have entered them
//! ```
//!
//! Who goes says so by a message without data. A caller that is not answered soon, or sent away, calls by a connection, too: where the port
//! is closed, that says so. What must stay true: nothing here waits; nobody is answered who has said that it has gone; whoever gives up a
//! call says so, and takes what the other one has still to say.

use std::sync::atomic::Ordering;
use std::time::Duration;

use posthaste_os::machine;

use super::{PATIENCE, Way, filled};
use crate::buffer::OwnedBuf;
use crate::comm::Comm;
use crate::datatype::{Segment, Types};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::{ANY_SOURCE, RequestId};
use crate::meeting::{Knock, PortName, answer};
use crate::method::tcp::Pass;
use crate::progress::Vci;
use crate::pt2pt::matching::{Pattern, Unexpected};
use crate::pt2pt::send::{self, Started};
use crate::pt2pt::{probe, recv};
use crate::request::composite::{self, Composite};
use crate::request::{Status, Table};
use crate::wait::Awaited;
use crate::wire::Mode;
use crate::world::{World, envelope, take_if_complete};

/// Tags below are ports.
const FIRST_TAG: u32 = 1 << 16;
/// Until a caller tries a connection as well.
const ALONE: Duration = Duration::from_millis(20);

/// How a root may meet another rank of its job.
pub(super) enum Within {
    /// Not at all.
    No,
    /// It calls one, since then, who has not answered.
    Calls { whom: Letters, knock: Knock, since: Duration },
    /// It has been answered and has sent its list; the other one is to come.
    LetIn { whom: Letters, pass: Pass },
    /// Others may call.
    Listens(PortName),
    /// Somebody has called and been answered, then; its list is to come.
    Answered { name: PortName, whom: Letters, pass: Pass, since: Duration },
}

/// The other root is met.
pub(super) struct MetWithin {
    pub(super) whom: Letters,
    pub(super) pass: Pass,
    pub(super) list: Vec<u8>,
}

/// What two roots send each other under the tag of a call.
#[derive(Debug)]
pub(super) struct Letters {
    rank: i32,
    tag: i32,
    /// One that is on its way, and room for it.
    coming: Option<(RequestId, OwnedBuf)>,
}

impl Letters {
    fn new(rank: i32, tag: u32) -> Self {
        Self { rank, tag: tag as i32, coming: None }
    }

    fn pattern(&self, place: &Comm) -> Pattern {
        Pattern { context: place.context(), source: self.rank, tag: self.tag }
    }

    /// The next one that has come.
    ///
    /// # Errors
    /// When the other root has gone.
    pub(super) fn hear(&mut self, place: &Comm, vci: &mut Vci) -> Result<Option<Vec<u8>>> {
        if self.coming.is_none() {
            let pattern = self.pattern(place);
            let Some(message) = probe::take(&mut vci.engine, &mut vci.methods, &pattern) else {
                return vci.engine.never_ends(&pattern).map_or(Ok(None), Err);
            };
            self.coming = Some(receive(vci, message)?);
        }
        let Some((id, _)) = &self.coming else { return Ok(None) };
        let Some(status) = take_if_complete(vci, *id) else { return Ok(None) };
        let room = self.coming.take().map(|(_, room)| room);
        if let Some(why) = status?.error {
            return Err(why);
        }
        let said = room.map_or_else(Vec::new, |room| room.source().to_vec());
        if said.is_empty() {
            return Err(Error::other(
                ErrorClass::ProcAborted,
                format!("rank {} of this job has gone", self.rank),
            ));
        }
        Ok(Some(said))
    }

    /// Sends one. It goes on by itself where it has to wait, behind a flood of messages, say.
    pub(super) fn say(&self, place: &Comm, vci: &mut Vci, said: &[u8]) -> Result<()> {
        say(place, vci, (self.rank, self.tag), said)
    }

    /// This root has gone, and what the other one `owes` will be received by nobody: its list, or that it has gone, too.
    pub(super) fn leave(self, owes: bool, place: &Comm, vci: &mut Vci) {
        let pattern = self.pattern(place);
        let Vci { engine, methods, .. } = &mut *vci;
        if let Some((id, room)) = self.coming {
            // What comes has to come somewhere.
            std::mem::forget(room);
            recv::detach(engine, id);
        } else if owes
            && let Ok(Some(peer)) = place.destination(self.rank)
            && let Ok(id) = recv::start_from(engine, methods, Some(peer), &pattern, Segment::empty())
        {
            recv::detach(engine, id);
        }
        // Who is lost does not wait.
        let _ = say(place, vci, (self.rank, self.tag), &[]);
    }
}

impl Within {
    /// Whether a connection is not tried, or another caller looked for, as things stand.
    pub(super) fn is_enough(&self) -> bool {
        match self {
            Self::Calls { since, .. } => machine::now() < *since + ALONE,
            Self::LetIn { .. } | Self::Answered { .. } => true,
            Self::No | Self::Listens(_) => false,
        }
    }

    /// Whether somebody is there who will say more in a moment.
    pub(super) fn has_found(&self) -> bool {
        matches!(self, Self::LetIn { .. } | Self::Answered { .. })
    }

    /// Goes on, for a root with this list.
    pub(super) fn step(&mut self, place: &Comm, vci: &mut Vci, list: &[u8]) -> Option<MetWithin> {
        let (next, met) = match std::mem::replace(self, Self::No) {
            Self::No => (Self::No, None),
            Self::Calls { mut whom, knock, since } => match whom.hear(place, vci) {
                Ok(None) => (Self::Calls { whom, knock, since }, None),
                Ok(Some(said)) => {
                    match knock.answered(&said).filter(|_| whom.say(place, vci, list).is_ok()) {
                        Some(pass) => (Self::LetIn { whom, pass }, None),
                        None => (Self::No, None),
                    }
                }
                // A connection says why.
                Err(_) => (Self::No, None),
            },
            Self::LetIn { mut whom, pass } => match whom.hear(place, vci) {
                Ok(None) => (Self::LetIn { whom, pass }, None),
                Ok(Some(list)) => (Self::No, Some(MetWithin { whom, pass, list })),
                Err(_) => (Self::No, None),
            },
            Self::Listens(name) => match let_in(place, vci, &name) {
                Some((whom, pass)) => (Self::Answered { name, whom, pass, since: machine::now() }, None),
                None => (Self::Listens(name), None),
            },
            Self::Answered { name, mut whom, pass, since } => match whom.hear(place, vci) {
                // It is stopped, and others may wait behind it.
                Ok(None) if machine::now() > since + PATIENCE => {
                    whom.leave(true, place, vci);
                    (Self::Listens(name), None)
                }
                Ok(None) => (Self::Answered { name, whom, pass, since }, None),
                Ok(Some(theirs)) if whom.say(place, vci, list).is_ok() => {
                    (Self::No, Some(MetWithin { whom, pass, list: theirs }))
                }
                // Others may come.
                Ok(Some(_)) | Err(_) => (Self::Listens(name), None),
            },
        };
        *self = next;
        met
    }

    /// The root has met somebody else, or nobody.
    pub(super) fn end(self, place: &Comm, vci: &mut Vci) {
        match self {
            Self::No | Self::Listens(_) => {}
            Self::Calls { whom, .. } => whom.leave(false, place, vci),
            Self::LetIn { whom, .. } | Self::Answered { whom, .. } => whom.leave(true, place, vci),
        }
    }
}

/// Answers the next caller.
fn let_in(place: &Comm, vci: &mut Vci, name: &PortName) -> Option<(Letters, Pass)> {
    while let Some((whom, pass, said)) = next_caller(place, vci, name) {
        if whom.say(place, vci, &said).is_ok() {
            return Some((whom, pass));
        }
    }
    None
}

/// The next caller at a port that is still there, what its group's members and ours know each other by, and what it is to be answered.
fn next_caller(place: &Comm, vci: &mut Vci, name: &PortName) -> Option<(Letters, Pass, Vec<u8>)> {
    let pattern = Pattern { context: place.context(), source: ANY_SOURCE, tag: name.port.into() };
    loop {
        let message = probe::take(&mut vci.engine, &mut vci.methods, &pattern)?;
        let rank = message.envelope.source;
        let (id, room) = receive(vci, message).ok()?;
        // A hello is so short that it has come with its envelope, unless its sender is held back: then it calls again, by a connection.
        match take_if_complete(vci, id) {
            Some(Ok(Status { error: None, .. })) => {}
            Some(_) => continue,
            None => {
                std::mem::forget(room);
                recv::detach(&mut vci.engine, id);
                continue;
            }
        }
        let Ok(Some((pass, tag, said))) = answer(name, &room.source().to_vec()) else { continue };
        let mut whom = Letters::new(rank, tag);
        // One that goes says so after its hello.
        if matches!(whom.hear(place, vci), Ok(None)) && whom.coming.is_none() {
            return Some((whom, pass, said));
        }
    }
}

/// Begins to receive a message that was found, with a request of the reserve if need be.
fn receive(vci: &mut Vci, message: Unexpected) -> Result<(RequestId, OwnedBuf)> {
    let Vci { engine, methods, .. } = vci;
    let room = OwnedBuf::try_new(usize::try_from(message.envelope.len).unwrap_or(usize::MAX));
    let segment = room
        .as_ref()
        .map_or_else(|_| Segment::empty(), |room| Segment::contiguous(room.user_buf(), room.len() as u64));
    engine.requests.reserve(true);
    let id = recv::start_unexpected(engine, methods, message, segment);
    engine.requests.reserve(false);
    match (id?, room) {
        (id, Ok(room)) => Ok((id, room)),
        (id, Err(why)) => {
            recv::detach(engine, id);
            Err(why)
        }
    }
}

fn say(place: &Comm, vci: &mut Vci, (rank, tag): (i32, i32), said: &[u8]) -> Result<()> {
    let Some(peer) = place.destination(rank)? else { return Ok(()) };
    let said = filled(said);
    let segment = Segment::contiguous(said.user_buf(), said.len() as u64);
    let envelope = envelope(place, tag, &segment, Mode::Standard, Types::UNKNOWN)?;
    let Vci { engine, methods, .. } = vci;
    engine.requests.reserve(true);
    let whole =
        composite::begin(&mut engine.requests, Composite::of(1).keeping_alive(Some(said)), Status::EMPTY);
    let sent = whole.and_then(|whole| match send::start(engine, methods, peer, &envelope, segment) {
        Ok(started) => {
            let part = if let Started::Request(id) = started { id } else { Table::DONE };
            composite::add(&mut engine.requests, &mut engine.finished, whole, part, false);
            recv::detach(engine, whole);
            Ok(())
        }
        Err(why) => {
            engine.requests.remove(whole);
            Err(why)
        }
    });
    engine.requests.reserve(false);
    methods.flush_gathered();
    sent
}

impl World {
    /// What a root begins with. Where its communicator has a VCI of its own, it would hear no messages while it waits, and connects.
    pub(super) fn begin_within(&self, comm: &Comm, way: &Way) -> Result<Within> {
        let place = self.founding();
        if comm.context().vci() != place.context().vci() {
            return Ok(Within::No);
        }
        match way {
            Way::Accept(port) => Ok(Within::Listens(super::lock(port).name().clone())),
            Way::Connect(_, name) => {
                let own = self.own_name();
                let Some(owner) = name.owner.filter(|owner| owner.job == own.job && *owner != own) else {
                    return Ok(Within::No);
                };
                let Ok(rank) = i32::try_from(owner.rank) else { return Ok(Within::No) };
                // SYNC: a number; nothing is read on account of it.
                let count = self.common.abroad.calls.fetch_add(1, Ordering::Relaxed);
                let tag = FIRST_TAG + count % (1 << 30);
                let (knock, hello) = Knock::new(name, tag)?;
                let said = say(place, &mut self.vci_of(place), (rank, name.port.into()), &hello);
                // Of one that is lost, or no rank, the connection tells more.
                Ok(match said {
                    Ok(()) => Within::Calls { whom: Letters::new(rank, tag), knock, since: machine::now() },
                    Err(_) => Within::No,
                })
            }
            Way::Children(..) | Way::Socket(..) => Ok(Within::No),
        }
    }

    /// What comes in the first moments, before the system is asked for anything.
    pub(super) fn early_within(&self, within: &mut Within, list: &[u8]) -> Option<MetWithin> {
        const MOMENTS: Duration = Duration::from_micros(20);
        let place = self.founding();
        let until = machine::now() + MOMENTS;
        while !matches!(within, Within::No) && machine::now() < until {
            self.runtime.step(place.context().vci());
            let met = within.step(place, &mut self.vci_of(place), list);
            if met.is_some() {
                return met;
            }
        }
        None
    }

    /// Whether all members of the other group have what they need, for the same of our own; `None` when its root has gone.
    pub(super) fn have_they_within(
        &self,
        call: &'static str,
        whom: &mut Letters,
        here: bool,
    ) -> Option<bool> {
        let place = self.founding();
        whom.say(place, &mut self.vci_of(place), &[u8::from(here)]).ok()?;
        let awaited = |_: &Vci| Awaited::OtherJob("with the members of the other group".into());
        self.waiting.until(place.context().vci(), call, awaited, |vci: &mut Vci| {
            match whom.hear(place, vci) {
                Ok(said) => said.map(|said| Some(said == [1])),
                Err(_) => Some(None),
            }
        })
    }

    /// Callers at a port that is closed are told so.
    pub(super) fn refuse_within(&self, name: &PortName) {
        let place = self.founding();
        self.runtime.step(place.context().vci());
        let vci = &mut *self.vci_of(place);
        while let Some((whom, ..)) = next_caller(place, vci, name) {
            whom.leave(false, place, vci);
        }
    }
}
