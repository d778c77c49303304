//! Ports whose caller is a rank of their owner's job: the two send messages instead of connecting.
//!
//! ```text
//!   caller                                   owner of the port
//!     hello          tag: the TCP port  ---->  taken by whoever accepts there
//!                    tag: of the call   <----  nonce
//!     stays, or has gone                ---->
//!     members        <-------------------->    members
//!     all have entered them <------------->    all have entered them
//! ```
//!
//! A caller that is not answered soon calls by a connection, too: where the port is closed, that says so. What must stay true: all
//! that is sent under a call's tag comes in this order, so one that has gone is told from one that stays; nobody waits for a
//! process that is lost.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use posthaste_os::machine;

use super::{Way, filled};
use crate::buffer::OwnedBuf;
use crate::comm::Comm;
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::ANY_SOURCE;
use crate::meeting::{Knock, Knocked, PortName, answer};
use crate::progress::Vci;
use crate::pt2pt::matching::{Pattern, Unexpected};
use crate::pt2pt::{probe, recv};
use crate::request::Status;
use crate::request::composite::{self, Composite};
use crate::wait::Awaited;
use crate::wire::Mode;
use crate::world::World;

/// Tags below are ports.
const FIRST_TAG: u32 = 1 << 16;
/// Until a caller calls by a connection as well.
const ALONE: Duration = Duration::from_millis(20);
/// Until the system is asked for anything.
const EARLY: Duration = Duration::from_micros(20);
/// What a caller says that is still there. Nothing at all: it has gone; or, from the owner, it is not let in.
const STAYS: &[u8] = b"S";

/// The next call of this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// How a root may meet another rank of its job.
pub(super) enum Within {
    /// It calls one, since then.
    Calls { whom: There, knock: Knock, since: Duration },
    /// Others may call.
    Listens(PortName),
    /// Not at all.
    No,
}

/// Where messages of a call go to and come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct There {
    rank: i32,
    tag: i32,
}

impl Within {
    /// What the root looks for: an answer, or a caller.
    fn pattern(&self, place: &Comm) -> Option<Pattern> {
        let (source, tag) = match self {
            Self::Calls { whom, .. } => (whom.rank, whom.tag),
            Self::Listens(name) => (ANY_SOURCE, name.port.into()),
            Self::No => return None,
        };
        Some(Pattern { context: place.context(), source, tag })
    }

    /// Whether a connection is not tried yet.
    pub(super) fn is_enough(&self) -> bool {
        matches!(self, Self::Calls { since, .. } if machine::now() < *since + ALONE)
    }
}

impl World {
    /// What a root begins with that has a list of so many bytes. Where its communicator has a VCI of its own, it would hear no
    /// messages while it waits, and connects.
    pub(super) fn begin_within(&self, comm: &Comm, way: &Way, list: usize) -> Result<Within> {
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
                let tag = FIRST_TAG + NEXT.fetch_add(1, Ordering::Relaxed) % (1 << 30);
                let (knock, hello) = Knock::new(name, list, tag)?;
                let whom = There { rank, tag: tag as i32 };
                let port = There { rank, tag: name.port.into() };
                // Of one that is lost, or no rank, the connection tells more.
                Ok(match self.say_within(port, &hello) {
                    Ok(()) => Within::Calls { whom, knock, since: machine::now() },
                    Err(_) => Within::No,
                })
            }
            Way::Children(..) | Way::Socket(..) => Ok(Within::No),
        }
    }

    /// What has come for it, if anything. A caller whose owner is lost is not answered any more.
    pub(super) fn look_within(&self, within: &mut Within, vci: &mut Vci) -> Option<Unexpected> {
        let pattern = within.pattern(self.founding())?;
        let message = probe::take(&mut vci.engine, &mut vci.methods, &pattern);
        if message.is_none() && pattern.source != ANY_SOURCE && vci.engine.never_ends(&pattern).is_some() {
            *within = Within::No;
        }
        message
    }

    /// What comes in the first moments.
    pub(super) fn look_early_within(&self, within: &mut Within) -> Option<Unexpected> {
        let at = within.pattern(self.founding())?.context.vci();
        let until = machine::now() + EARLY;
        loop {
            self.runtime.step(at);
            let message = self.look_within(within, &mut self.vci_at(at));
            if message.is_some() || machine::now() >= until {
                return message;
            }
            std::hint::spin_loop();
        }
    }

    /// What comes of the message that was found: the other root, who stays, and what is known of it. Who is passed by hears why over
    /// a connection, as who calls and is not let in does.
    pub(super) fn meet_within(
        &self,
        call: &'static str,
        within: &mut Within,
        message: Unexpected,
        list: usize,
        until: Option<Duration>,
    ) -> Option<(There, Knocked)> {
        let rank = message.envelope.source;
        let said = self.take_within(call, message);
        match within {
            Within::Calls { whom, knock, .. } => {
                let (whom, known) = (*whom, said.ok().and_then(|said| knock.answered(&said)));
                *within = Within::No;
                known.filter(|_| self.say_within(whom, STAYS).is_ok()).map(|known| (whom, known))
            }
            Within::Listens(name) => {
                let (known, tag, said) = answer(name, &said.ok()?, list).ok()??;
                let whom = There { rank, tag: tag as i32 };
                let stays = self.say_within(whom, &said).is_ok() && self.stays(call, whom, until);
                stays.then_some((whom, known))
            }
            Within::No => None,
        }
    }

    /// Whether the caller, who has been answered, is still there.
    fn stays(&self, call: &'static str, whom: There, until: Option<Duration>) -> bool {
        let place = self.founding();
        let pattern = Pattern { context: place.context(), source: whom.rank, tag: whom.tag };
        let awaited = |_: &Vci| Awaited::OtherJob(format!("for rank {} of this job", whom.rank));
        let said = self.waiting.until(pattern.context.vci(), call, awaited, |vci: &mut Vci| {
            let message = probe::take(&mut vci.engine, &mut vci.methods, &pattern);
            let is_over = || {
                vci.engine.never_ends(&pattern).is_some()
                    || until.is_some_and(|until| machine::now() >= until)
            };
            message.map(Some).or_else(|| is_over().then_some(None))
        });
        match said {
            Some(message) => self.take_within(call, message).is_ok_and(|said| said == STAYS),
            None => {
                self.leave_within(whom);
                false
            }
        }
    }

    /// The list of the other root, for our own.
    pub(super) fn swap_within(&self, whom: There, own: &[u8], theirs: usize) -> Result<Vec<u8>> {
        let (out, room) = (filled(own), OwnedBuf::try_new(theirs)?);
        let outgoing = Segment::contiguous(out.user_buf(), own.len() as u64);
        let incoming = Segment::contiguous(room.user_buf(), theirs as u64);
        let There { rank, tag } = whom;
        let status = self.exchange(self.founding(), (outgoing, rank, tag), (incoming, rank, tag))?;
        if status.bytes != theirs as u64 {
            let text = format!("rank {rank} of this job has gone while the two met");
            return Err(status.error.unwrap_or_else(|| Error::other(ErrorClass::ProcAborted, text)));
        }
        Ok(room.source().to_vec())
    }

    /// The root has met somebody else, or nobody.
    pub(super) fn end_within(&self, within: Within) {
        if let Within::Calls { whom, .. } = within {
            self.leave_within(whom);
        }
    }

    /// Callers at a port that is closed are told so.
    pub(super) fn refuse_within(&self, call: &'static str, name: &PortName) {
        while let Ok(Some(Some(message))) = self.improbe(self.founding(), ANY_SOURCE, name.port.into()) {
            let rank = message.envelope.source;
            let said = self.take_within(call, message);
            if let Ok(Ok(Some((_, tag, _)))) = said.map(|said| answer(name, &said, 1)) {
                self.leave_within(There { rank, tag: tag as i32 });
            }
        }
    }

    fn leave_within(&self, whom: There) {
        // Who is lost does not wait.
        let _ = self.say_within(whom, &[]);
    }

    /// It goes on by itself where it has to wait, behind a flood of messages, say.
    fn say_within(&self, whom: There, said: &[u8]) -> Result<()> {
        let place = self.founding();
        let said = filled(said);
        let segment = Segment::contiguous(said.user_buf(), said.len() as u64);
        let whole = Composite::of(1).keeping_alive(Some(said));
        let whole = composite::begin(&mut self.vci_of(place).engine.requests, whole, Status::EMPTY)?;
        let sent = self.isend(place, whom.rank, whom.tag, segment, Mode::Standard);
        let Vci { engine, .. } = &mut *self.vci_of(place);
        match &sent {
            Ok(send) => {
                composite::add(&mut engine.requests, &mut engine.finished, whole, *send, false);
                recv::detach(engine, whole);
            }
            Err(_) => drop(engine.requests.remove(whole)),
        }
        sent.map(drop)
    }

    fn take_within(&self, call: &'static str, message: Unexpected) -> Result<Vec<u8>> {
        // Nothing that is sent under the tag of a port or a call is longer.
        let room = OwnedBuf::new(256.min(message.envelope.len as usize));
        let segment = Segment::contiguous(room.user_buf(), room.len() as u64);
        let id = self.imrecv(&mut Some(message), segment)?;
        let status = self.wait_in(call, id)?;
        status.error.map_or_else(|| Ok(room.source().to_vec()), Err)
    }
}
