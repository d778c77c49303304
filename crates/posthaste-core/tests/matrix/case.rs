//! One cell of the matrix: a message, how its receive meets it, and everything that must be true afterwards.

use crate::memory::{Kind, Layout, Memory};
use crate::pair::{Pair, Way};
use crate::proof;

use posthaste_core::config::Config;
use posthaste_core::datatype::Segment;
use posthaste_core::error::ErrorClass;
use posthaste_core::ids::{ANY_SOURCE, ANY_TAG, ContextId, Peer, RequestId};
use posthaste_core::progress::Vci;
use posthaste_core::pt2pt::arrival::{self, Found};
use posthaste_core::pt2pt::matching::Pattern;
use posthaste_core::pt2pt::policy::Receive;
use posthaste_core::pt2pt::send::Started;
use posthaste_core::pt2pt::{probe, recv};
use posthaste_core::request::Status;
use posthaste_core::trace::Counter;

/// How message and receive meet. Each is another entrance of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// The receive is posted first.
    Posted,
    /// The message lies in the unexpected queue.
    Unexpected,
    /// The same, and a matched probe takes it out (MPI_Mprobe, MPI_Mrecv).
    Probed,
    /// The packet has arrived and nobody has looked at it (the fast path of MPI_Irecv).
    Waiting,
    /// The same for the fast path of MPI_Recv, which looks for the packet itself.
    Blocking,
}

/// Room in the receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Just enough.
    Exact,
    /// More than enough.
    Ample,
    /// Too little: the message is cut.
    Short,
}

/// One message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) synchronous: bool,
    pub(crate) from: Layout,
    pub(crate) to: Layout,
    pub(crate) meeting: Meeting,
    pub(crate) any_source: bool,
    pub(crate) any_tag: bool,
    pub(crate) capacity: Room,
    pub(crate) len: u64,
}

/// Every combination for a message of `len` bytes.
pub(crate) fn product(len: u64) -> impl Iterator<Item = Case> {
    use Meeting::{Blocking, Posted, Probed, Unexpected, Waiting};
    const ROOMS: [Room; 3] = [Room::Exact, Room::Ample, Room::Short];
    let meetings = [Posted, Unexpected, Probed, Waiting, Blocking];
    let mut cases = Vec::new();
    for synchronous in [false, true] {
        for (from, to) in Layout::ALL.into_iter().flat_map(|from| Layout::ALL.map(|to| (from, to))) {
            for meeting in meetings {
                for (any_source, any_tag) in [(false, false), (false, true), (true, false), (true, true)] {
                    let case = |capacity| Case {
                        synchronous,
                        from,
                        to,
                        meeting,
                        any_source,
                        any_tag,
                        capacity,
                        len,
                    };
                    cases.extend(ROOMS.map(case));
                }
            }
        }
    }
    // Nothing is shorter than nothing.
    cases.into_iter().filter(move |case| len > 0 || case.capacity != Room::Short)
}

impl Case {
    const TAG: i32 = 7;

    /// Bytes that the receive has room for.
    pub(crate) fn room(&self) -> u64 {
        match self.capacity {
            Room::Exact => self.len,
            Room::Ample => self.len + 13,
            Room::Short => self.len - 1 - self.len / 3,
        }
    }

    /// Whether the receive buffer takes all of the message in one piece.
    pub(crate) fn is_one_place(&self) -> bool {
        self.to.is_whole(self.room()) && self.room() >= self.len
    }

    fn pattern(&self) -> Pattern {
        let source = if self.any_source { ANY_SOURCE } else { 0 };
        let tag = if self.any_tag { ANY_TAG } else { Self::TAG };
        Pattern { context: ContextId::WORLD, source, tag }
    }

    /// Sends and receives the message, and looks at everything that came of it. Returns the ways it went.
    pub(crate) fn run(
        &self,
        pair: &mut Pair,
        way: Way,
        packet: u64,
        config: &Config,
        memory: &mut Memory,
    ) -> Result<Vec<Counter>, String> {
        let before = proof::carried(pair);
        let (from, to) = ((self.from, self.len), (self.to, self.room()));
        let (out, into) = memory.segments(from, to);
        let status = self.travel(pair, out, into)?;
        memory.check(from, to)?;
        self.check(&status)?;
        if !pair.vcis.iter().all(|vci| vci.engine.requests.is_empty()) {
            return Err("a request is left over".to_owned());
        }
        let taken = proof::taken(&before, &proof::carried(pair), self.len)?;
        // What lies on a device goes by memory of the engine, in one piece.
        let whole = Self { from: Layout::Whole, to: Layout::Whole, ..*self };
        let goes_as = if memory.kind() == Kind::Device { &whole } else { self };
        let allowed = proof::allowed(way, packet, config, goes_as);
        if allowed.contains(&&taken[..]) {
            Ok(taken)
        } else {
            Err(format!("it went by {taken:?}, expected {allowed:?}"))
        }
    }

    fn travel(&self, pair: &mut Pair, out: Segment, into: Segment) -> Result<Status, String> {
        let (last, pattern) = (pair.receiver(), self.pattern());
        let mut into = Some(into);
        let mut post = |pair: &mut Pair| pair.recv(last, pattern.source, pattern.tag, into.take().unwrap());
        let posted = (self.meeting == Meeting::Posted).then(|| post(pair));
        let before = pair.counted(Counter::Unexpected);
        let started = pair.send(0, Self::TAG, out, self.synchronous);
        if matches!(self.meeting, Meeting::Unexpected | Meeting::Probed) {
            arrive(pair, |pair| pair.counted(Counter::Unexpected) > before)?;
        } else if posted.is_none() && last > 0 {
            // Whatever the sender can do alone.
            for _ in 0..40 {
                pair.vcis[0].progress();
                pair.network.tick();
            }
        }
        let met = match posted {
            Some(id) => Met::Request(id),
            None => self.meet(pair, into.take().unwrap())?,
        };
        let status = match met {
            Met::Over(status) => status,
            Met::Request(id) => pair.finish(last, id),
        };
        if let Started::Request(id) = started {
            let ended = pair.finish(0, id);
            if let Some(error) = ended.error {
                return Err(format!("the send ended with: {error}"));
            }
        }
        Ok(status)
    }

    /// Receives what has arrived.
    fn meet(&self, pair: &mut Pair, mut into: Segment) -> Result<Met, String> {
        let (last, pattern) = (pair.receiver(), self.pattern());
        let Vci { engine, methods, .. } = &mut pair.vcis[last];
        let sender = Peer(0);
        // Who does not name a source does not know where to look.
        let met = match self.meeting {
            Meeting::Probed => {
                let seen = probe::probe(engine, methods, &pattern).ok_or("a probe finds nothing")?;
                if (seen.source, seen.tag, seen.bytes) != (0, Self::TAG, self.len) {
                    return Err(format!("a probe finds {seen:?}"));
                }
                let message =
                    probe::take(engine, methods, &pattern).ok_or("a matched probe finds nothing")?;
                if probe::probe(engine, methods, &pattern).is_some() {
                    return Err("a message is found although a matched probe took it".to_owned());
                }
                recv::start_unexpected(engine, methods, message, into)
            }
            Meeting::Waiting if !self.any_source && methods.is_next_there(sender) => {
                recv::start_there(engine, methods, sender, &pattern, into)
            }
            Meeting::Blocking if !into.is_on_device() => {
                let from = (!self.any_source).then_some(sender);
                let look = |_| {
                    let mut call = Receive { into: &mut into, waited: true };
                    arrival::look(engine, methods, from, &pattern, &mut call).break_value()
                };
                match (0..3).find_map(look) {
                    Some(Found::Message(status)) => return Ok(Met::Over(status)),
                    Some(Found::Taken(message)) => recv::start_unexpected(engine, methods, message, into),
                    Some(Found::Served | Found::Other) | None => recv::start(engine, methods, &pattern, into),
                }
            }
            _ => recv::start(engine, methods, &pattern, into),
        };
        met.map(Met::Request).map_err(|error| error.to_string())
    }

    fn check(&self, status: &Status) -> Result<(), String> {
        let class = status.error.as_ref().map(|error| error.class());
        let cut = (self.capacity == Room::Short).then_some(ErrorClass::Truncate);
        let expected = (0, Self::TAG, self.len.min(self.room()), cut);
        let found = (status.source, status.tag, status.bytes, class);
        if found == expected && !status.cancelled {
            Ok(())
        } else {
            Err(format!("{status:?}, expected {expected:?}"))
        }
    }
}

/// What a receive has come to.
enum Met {
    Over(Status),
    Request(RequestId),
}

/// Steps until something has arrived.
fn arrive(pair: &mut Pair, has: impl Fn(&Pair) -> bool) -> Result<(), String> {
    for _ in 0..1_000_000 {
        if has(pair) {
            return Ok(());
        }
        pair.step();
    }
    Err("the message does not arrive".to_owned())
}
