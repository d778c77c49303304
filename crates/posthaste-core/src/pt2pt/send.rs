//! Starting a send: the fast path, and the choice of the others.
//!
//! MPI-5.0 §3.2, §3.4.

use std::ops::ControlFlow;

use crate::config::{Config, LongProtocol};
use crate::datatype::Segment;
use crate::error::Result;
use crate::ids::{Peer, RequestId};
use crate::method::{Methods, Next, SHORT_RUN};
use crate::pt2pt::protocol::{self, Protocol, Traits};
use crate::pt2pt::{Engine, action, eager, explained, flow, staging};
use crate::request::{Request, State};
use crate::wire::{Envelope, Mode, Packet};

/// How a send has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// It is over: the buffer is the user's again.
    Complete,
    /// It goes on.
    Request(RequestId),
}

/// Starts a send of `segment` with the given envelope.
///
/// The fast path: a short standard-mode message finds room in its ring at once. It takes no request, no lock,
/// no allocation and no system call. A segment that is not plain is for [`start_general`].
///
/// # Errors
/// When the table of requests is full.
#[inline(always)]
pub fn start(
    engine: &mut Engine,
    methods: &mut Methods,
    to: Peer,
    envelope: &Envelope,
    mut segment: Segment,
) -> Result<Started> {
    if at_once(engine, methods, to, envelope, &mut segment) {
        return Ok(Started::Complete);
    }
    start_general(engine, methods, to, envelope, segment)
}

/// Sends a message if it is short and there is room for it at once; then it is over.
#[inline(always)]
pub fn at_once(
    engine: &Engine,
    methods: &mut Methods,
    to: Peer,
    envelope: &Envelope,
    segment: &mut Segment,
) -> bool {
    envelope.mode != Mode::Synchronous
        && envelope.len < engine.eager_below
        && engine.way_is_free(to)
        && methods.send_eager(to, envelope, segment)
}

/// Takes the acknowledgement of a synchronous message that the receiver has sent back, if that is what is next from
/// there; the request is over then. `Continue`: nothing has come yet; `Break(false)`: this needs the general way.
#[inline]
pub fn acknowledged_at_once(
    engine: &mut Engine,
    methods: &mut Methods,
    to: Peer,
    id: RequestId,
) -> ControlFlow<bool> {
    match methods.take_next(to, |packet| matches!(packet, Packet::SyncAck { sender } if *sender == id)) {
        Next::Nothing => ControlFlow::Continue(()),
        Next::Left => ControlFlow::Break(false),
        Next::Taken => {
            eager::acknowledged(engine, to, id);
            ControlFlow::Break(true)
        }
    }
}

/// As [`start`], for every message: also one that says what its types are, one that has to be converted, and one in device
/// memory.
///
/// # Errors
/// When the table of requests is full, or the receiver is down.
#[inline(never)]
pub fn start_general(
    engine: &mut Engine,
    methods: &mut Methods,
    to: Peer,
    envelope: &Envelope,
    segment: Segment,
) -> Result<Started> {
    let (mut segment, mut envelope) = (segment, *envelope);
    engine.losses.check(to)?;
    engine.contexts.check_revoked(envelope.context)?;
    let bounced = staging::bounce(&mut segment);
    if methods.is_heterogeneous(to) {
        segment = segment.canonical(engine.format);
        envelope.types.canonical = true;
    }
    let envelope = &envelope;
    if let Some(bounced) = bounced {
        return staging::send(engine, to, envelope, segment, bounced);
    }
    if engine.explaining.is_some()
        && envelope.mode != Mode::Synchronous
        && envelope.len <= engine.config.eager_limit as u64
        && engine.way_is_free(to)
        && methods.send_eager(to, envelope, &mut segment)
    {
        explained::sent(engine, to, envelope, "eager", "it is short and there is room for it");
        return Ok(Started::Complete);
    }
    if envelope.mode != Mode::Synchronous
        && matches!(engine.config.long_protocol, LongProtocol::Auto | LongProtocol::Stream)
        && engine.way_is_free(to)
        && !is_copied_once(&engine.config, methods, to, &segment)
        && methods.send_buffered(to, envelope, &mut segment)
    {
        let why = "it is of medium length and our bounce buffer at the receiver is free";
        explained::sent(engine, to, envelope, "stream", why);
        return Ok(Started::Complete);
    }
    if engine.explaining.is_some() {
        let (protocol, why) = proposal(&engine.config, methods, to, envelope, &segment);
        explained::sent(engine, to, envelope, protocol.name(), why);
    }
    let pending = State::SendPending { segment, to, place: u64::MAX };
    let id = engine.requests.insert(Request::new(pending))?;
    engine.outgoing.note(id, to, envelope);
    if !(engine.way_is_free(to) && action::leave(engine, methods, to, id, envelope)) {
        wait_for_room(engine, methods, to, id, envelope);
    }
    Ok(Started::Request(id))
}

/// Whether data is copied but once: it lies in memory from `MPI_Alloc_mem`, or is perhaps received into such memory.
#[inline]
fn is_copied_once(config: &Config, methods: &mut Methods, to: Peer, segment: &Segment) -> bool {
    config.long_protocol == LongProtocol::Auto
        && segment.len() >= config.shared_limit as u64
        && is_memory_shared(config, methods, to, segment)
}

/// To find out where it is received a message has to be matched: one of up to two chunks leaves without. Out of line, so that shorter
/// messages do not pay for it.
#[inline(never)]
fn is_memory_shared(config: &Config, methods: &mut Methods, to: Peer, segment: &Segment) -> bool {
    let may_ask = segment.len() > 2 * config.stream_chunk as u64;
    methods.shared(to, segment).is_some() || (may_ask && methods.caps(to).into)
}

/// Queues a message behind what waits already.
#[cold]
fn wait_for_room(engine: &mut Engine, methods: &mut Methods, to: Peer, id: RequestId, envelope: &Envelope) {
    let queued = engine.with_pending(to, |pending| pending.push(id, *envelope));
    if let Some(Request { state: State::SendPending { place, .. }, .. }) = engine.requests.get_mut(id) {
        *place = queued;
    }
    flow::show(engine, methods, to);
    action::retry_towards(engine, methods, to);
}

/// The way that a message is to go, and why.
pub(super) fn proposal(
    config: &Config,
    methods: &mut Methods,
    to: Peer,
    envelope: &Envelope,
    segment: &Segment,
) -> (Protocol, &'static str) {
    let mut caps = methods.caps(to);
    caps.packet -= envelope.front();
    if envelope.types.canonical || segment.mean_run() < SHORT_RUN.min(envelope.len) {
        caps.in_place = 0;
    }
    let traits = Traits {
        len: envelope.len,
        contiguous: segment.contiguous_rest().is_some(),
        run: segment.mean_run(),
        shared: methods.shared(to, segment).is_some(),
        shared_limit: config.shared_limit,
        eager_limit: if caps.sockets { config.tcp_eager_limit } else { config.eager_limit },
        get_limit: config.get_limit,
        run_limit: config.run_limit,
        pipeline_limit: config.pipeline_limit,
        long: config.long_protocol,
    };
    protocol::choose(&traits, &caps)
}
