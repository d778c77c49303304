//! Partitioned communication: a message whose parts leave as soon as each is ready (MPI-5.0 chapter 4).
//!
//! ```text
//!   sender                                        receiver
//!   announce      -- channel, partitions, ---->   listen, announced
//!                    bytes of each
//!   start                                         start            (posts a receive for each of the sender's
//!   ready(2)      -- message, tag 2 --------->    has_arrived       partitions, once announced)
//!   ready(0)      -- message, tag 0 --------->
//! ```
//!
//! Each pair of operations has a context of its own, the channel, which the sender allocates; its partition `i` is the
//! message with tag `i` there. So partitions need no protocol of their own, nothing else can match them, and starting
//! again is sending again. Which operations are a pair is settled by the announcements: ordinary short messages in a
//! third context of the communicator, under the user's tag, so that they match in the order in which the operations
//! were initialised. Each start is a composite request of its messages.
//!
//! What must stay true: the receiver follows the sender's partitioning, its own one only says what `arrived` asks
//! about; a user's partition is never touched before it is ready nor after its bytes have arrived. A channel is known
//! as long as its operation: each end forgets it for itself, when no start is active.

use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::datatype::{Segment, Types};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::{ANY_TAG, ContextId, Peer, RequestId};
use crate::method::Methods;
use crate::pt2pt::matching::{Pattern, Unexpected};
use crate::pt2pt::send::Started;
use crate::pt2pt::{Engine, flow, recv, send};
use crate::request::{Audience, Composite, Handler, Request, State, Status, Table, complete, composite};
use crate::trace::Counter;
use crate::wire::{Envelope, Mode};

/// What the sender announces once, before the first partition.
#[derive(Clone, Copy, Debug)]
struct Announcement {
    channel: ContextId,
    partitions: u64,
    /// Of each partition.
    bytes: u64,
}

impl Announcement {
    const LEN: usize = 32;

    fn written(&self) -> OwnedBuf {
        let mut buf = OwnedBuf::new(Self::LEN);
        let [context, job] = self.channel.words();
        let words = [context, job, self.partitions, self.bytes].map(u64::to_le_bytes);
        buf.sink().copy_from(words.as_flattened());
        buf
    }

    /// `None` for what cannot be one.
    fn read(buf: &OwnedBuf) -> Option<Self> {
        let bytes = buf.source().to_vec();
        let word = |at: usize| bytes[at * 8..].first_chunk().map(|word| u64::from_le_bytes(*word));
        let (partitions, bytes) = (word(2)?, word(3)?);
        let fits = i32::try_from(partitions).is_ok() && partitions.checked_mul(bytes).is_some();
        Some(Self { channel: ContextId::from_words([word(0)?, word(1)?])?, partitions, bytes })
            .filter(|_| fits)
    }
}

/// A buffer in equal partitions.
#[derive(Debug)]
pub struct Parts {
    whole: Segment,
    count: u32,
    /// Of each.
    bytes: u64,
}

impl Parts {
    /// `whole` in `count` partitions.
    pub fn new(whole: Segment, count: u32) -> Self {
        let bytes = whole.len().checked_div(count.into()).unwrap_or(0);
        Self { whole, count, bytes }
    }

    /// A partition's number, checked.
    ///
    /// # Errors
    /// A number that no partition has.
    pub fn number(&self, argument: &'static str, partition: i32) -> Result<u32> {
        u32::try_from(partition).ok().filter(|partition| *partition < self.count).ok_or_else(|| {
            let expected = match self.count {
                0 => "nothing: the request has no partitions".to_owned(),
                count => format!("0..={} (the request has {count} partitions)", count - 1),
            };
            Error::invalid(ErrorClass::Arg, argument, partition, expected)
        })
    }
}

/// The sender's end.
#[derive(Debug)]
pub struct Sending {
    /// `None`: to `MPI_PROC_NULL`.
    to: Option<Peer>,
    channel: ContextId,
    /// Our rank.
    rank: i32,
    parts: Parts,
    /// The request of the last start: it ends when all partitions have left.
    whole: Option<RequestId>,
    ready: Vec<bool>,
}

impl Sending {
    /// Makes the operation: our rank in the communicator, and a context that was allocated for it. The receiver has to
    /// hear of it ([`announce`](Sending::announce)) before anything else.
    pub fn new(to: Option<Peer>, rank: i32, channel: ContextId, parts: Parts) -> Self {
        let ready = vec![false; parts.count as usize];
        Self { to, channel, rank, parts, whole: None, ready }
    }

    /// Announces it to the receiver, in the communicator's context and under the user's tag.
    ///
    /// # Errors
    /// When the table of requests is full.
    pub fn announce(
        &self,
        engine: &mut Engine,
        methods: &mut Methods,
        context: ContextId,
        tag: i32,
    ) -> Result<()> {
        let Some(to) = self.to else { return Ok(()) };
        let Self { channel, rank, parts: Parts { count, bytes, .. }, .. } = *self;
        let memory = Announcement { channel, partitions: count.into(), bytes }.written();
        let len = memory.len() as u64;
        let (mode, types) = (Mode::Standard, Types::UNKNOWN);
        let envelope = Envelope { context: context.partitioned(), source: rank, tag, len, mode, types };
        let segment = Segment::contiguous(memory.user_buf(), len);
        if let Started::Request(id) = send::start(engine, methods, to, &envelope, segment)? {
            // The memory stays as long as that takes.
            forget_after(engine, id, Box::new(move |_, _| drop(memory)));
        }
        engine.contexts.alias(channel, context, &engine.matching, &engine.requests);
        Ok(())
    }

    /// The operation is gone, and no start of it is active: so is its channel, as far as this end knows it.
    pub fn forget(&self, engine: &mut Engine) {
        engine.contexts.forget(self.channel);
    }

    /// Its context.
    pub fn channel(&self) -> ContextId {
        self.channel
    }

    /// The partitions.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Starts; nothing leaves before it is ready. The request of this start ends when everything has left.
    ///
    /// # Errors
    /// When the table of requests is full.
    pub fn start(&mut self, engine: &mut Engine) -> Result<RequestId> {
        let whole = Composite::of(self.parts.count as usize);
        let whole = composite::begin(&mut engine.requests, whole, Status::EMPTY)?;
        self.ready.fill(false);
        Ok(*self.whole.insert(whole))
    }

    /// Whether a partition may be made ready now.
    ///
    /// # Errors
    /// When the operation is not active, or the partition is ready already.
    pub fn may_be_ready(&self, requests: &Table, partition: u32) -> Result<()> {
        if self.whole.is_none_or(|whole| requests.get(whole).is_none()) {
            let expected = "an active one: partitions are made ready after MPI_Start";
            return Err(Error::invalid(ErrorClass::Request, "request", "inactive", expected));
        }
        if self.ready[partition as usize] {
            let got = format_args!("{partition}, which is ready already");
            let expected = "one that has not been made ready since MPI_Start";
            return Err(Error::invalid(ErrorClass::Arg, "partition", got, expected));
        }
        Ok(())
    }

    /// A partition is ready: it leaves.
    ///
    /// # Errors
    /// As [`Sending::may_be_ready`]; when the table of requests is full, and then the partition is not ready.
    pub fn ready(&mut self, engine: &mut Engine, methods: &mut Methods, partition: u32) -> Result<()> {
        self.may_be_ready(&engine.requests, partition)?;
        let Some(whole) = self.whole else { return Ok(()) };
        let mut part = Table::DONE;
        // The operation ends with it.
        let reaches = |to| engine.losses.check(to);
        let reached = engine.contexts.check_revoked(self.channel);
        if let Err(why) = reached.and_then(|()| self.to.map_or(Ok(()), reaches)) {
            let status = Status { error: Some(why), ..Status::EMPTY };
            part = engine.requests.insert(Request { status, ..Request::new(State::Complete) })?;
        } else if let Some(to) = self.to {
            let from = u64::from(partition) * self.parts.bytes;
            let segment = self.parts.whole.part(from, from + self.parts.bytes)?;
            let Self { channel: context, rank: source, .. } = *self;
            let (tag, len, types) = (partition as i32, segment.len(), segment.types());
            let envelope = Envelope { context, source, tag, len, mode: Mode::Standard, types };
            let started = match segment.is_plain() {
                true => send::start(engine, methods, to, &envelope, segment)?,
                false => send::start_general(engine, methods, to, &envelope, segment)?,
            };
            if let Started::Request(id) = started {
                part = id;
            }
        }
        self.ready[partition as usize] = true;
        let Engine { requests, finished, .. } = engine;
        composite::add(requests, finished, whole, part, false);
        Ok(())
    }
}

/// Nobody waits for the request; the handler hears of its end.
pub(crate) fn forget_after(engine: &mut Engine, id: RequestId, handler: Handler) {
    complete::attach(&mut engine.requests, &mut engine.finished, id, handler);
    if let Some(request) = engine.requests.get_mut(id) {
        request.audience = Audience::Nobody;
    }
}

/// The receiver's end.
#[derive(Debug)]
pub struct Receiving {
    source: i32,
    tag: i32,
    parts: Parts,
    /// The announcement's memory.
    heard: Arc<OwnedBuf>,
    /// Its receive and the communicator's context, once somebody listens.
    listening: Option<(RequestId, ContextId)>,
    /// The announcement, or what was wrong with it. `None` until it comes.
    announced: Option<Result<Announcement>>,
    /// The request of the last start: it ends when all partitions have arrived.
    whole: Option<RequestId>,
    /// Its messages, in the order of the sender's partitions.
    messages: Vec<RequestId>,
    /// Nobody has it any more.
    is_gone: bool,
}

impl Receiving {
    /// Makes the operation. Somebody has to [`listen`](Receiving::listen) for its announcement.
    pub fn new(source: i32, tag: i32, parts: Parts) -> Self {
        let heard = Arc::new(OwnedBuf::new(Announcement::LEN));
        Self {
            source,
            tag,
            parts,
            heard,
            listening: None,
            announced: None,
            whole: None,
            messages: Vec::new(),
            is_gone: false,
        }
    }

    /// The same from `MPI_PROC_NULL`: nothing will come, and nothing is waited for.
    pub fn from_nobody(status: &Status, parts: Parts) -> Self {
        // No context is named by it: no message is ever asked for.
        let nothing = Announcement { channel: ContextId::WORLD, partitions: 0, bytes: 0 };
        Self { announced: Some(Ok(nothing)), ..Self::new(status.source, status.tag, parts) }
    }

    /// Waits for the announcement in the communicator's context; the handler then has to call
    /// [`announced`](Receiving::announced), if this value is still there. The announcement is taken in either case, so that the
    /// next one meets the next receive.
    ///
    /// # Errors
    /// When the table of requests is full.
    pub fn listen(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        context: ContextId,
        handler: Handler,
    ) -> Result<()> {
        let pattern = Pattern { context: context.partitioned(), source: self.source, tag: self.tag };
        let segment = Segment::contiguous(self.heard.user_buf(), self.heard.len() as u64);
        let id = recv::start(engine, methods, &pattern, segment)?;
        self.listening = Some((id, context));
        let heard = Arc::clone(&self.heard);
        let handler: Handler = Box::new(move |id, status| {
            handler(id, status);
            drop(heard);
        });
        forget_after(engine, id, handler);
        Ok(())
    }

    /// The announcement has come.
    pub fn announced(&mut self, engine: &mut Engine, methods: &mut Methods, status: &Status) {
        let Some((_, context)) = self.listening else { return };
        let whole = status.error.is_none() && status.bytes == Announcement::LEN as u64;
        let announcement = if whole { Announcement::read(&self.heard) } else { None };
        let announcement = announcement.filter(|Announcement { channel, .. }| {
            engine.contexts.alias(*channel, context, &engine.matching, &engine.requests)
        });
        if self.is_gone {
            self.announced = announcement.map(Ok);
            return self.forget(engine, methods);
        }
        self.announced = Some(announcement.ok_or_else(|| {
            if let Some(why) = &status.error {
                return why.clone();
            }
            let text = format!("rank {} announced a partitioned message that cannot be", self.source);
            Error::other(ErrorClass::Intern, text)
        }));
        if self.is_active(&engine.requests) {
            self.post(engine, methods);
        }
    }

    /// The operation is gone, and no start of it is active: so is its channel, as far as this end knows it. What has come there is
    /// nobody's.
    pub fn forget(&mut self, engine: &mut Engine, methods: &mut Methods) {
        let heard = self.announced.take().filter(|_| self.listening.is_some());
        self.is_gone = true;
        let Some(Ok(Announcement { channel, .. })) = heard else { return };
        if engine.contexts.is_revoked(channel) {
            return; // It stays so as long as its communicator is known: what is on its way there is not stored.
        }
        engine.contexts.forget(channel);
        engine.contexts.receives_no_more(channel);
        let came = Pattern { context: channel, source: self.source, tag: ANY_TAG };
        let mut stale = 0;
        while engine.matching.peek_unexpected(&came).is_some_and(Unexpected::is_over) {
            drop(engine.matching.take_unexpected(&came));
            stale += 1;
        }
        engine.counts.add(Counter::StalePackets, stale);
        if stale > 0 && engine.flow.is_throttling() {
            flow::ease(engine, methods);
        }
    }

    /// The partitions.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    fn is_active(&self, requests: &Table) -> bool {
        self.whole.is_some_and(|whole| requests.get(whole).is_some())
    }

    /// Starts. The request of this start ends when everything has arrived.
    ///
    /// # Errors
    /// When the table of requests is full.
    pub fn start(&mut self, engine: &mut Engine, methods: &mut Methods) -> Result<RequestId> {
        // What is known of the messages, and then each of them.
        let status = Status { source: self.source, tag: self.tag, ..Status::EMPTY };
        let whole = composite::begin(&mut engine.requests, Composite::of(1), status)?;
        self.messages.clear();
        self.whole = Some(whole);
        match (&self.announced, self.listening) {
            (Some(_), _) => self.post(engine, methods),
            (None, Some((announcement, _))) => composite::mention(&mut engine.requests, whole, announcement),
            (None, None) => {}
        }
        Ok(whole)
    }

    /// The announcement is there: posts a receive for each of the sender's partitions. What goes wrong is reported at the end.
    fn post(&mut self, engine: &mut Engine, methods: &mut Methods) {
        let Self { source, parts, announced, messages, whole, .. } = self;
        let (Some(whole), Some(announced)) = (*whole, &*announced) else { return };
        let posted = announced.clone().and_then(|Announcement { channel, partitions, bytes }| {
            let truncated = Error::truncated(partitions * bytes, parts.whole.len());
            composite::says_when_truncated(&mut engine.requests, whole, truncated);
            (0..partitions).try_for_each(|number| {
                let pattern = Pattern { context: channel, source: *source, tag: number as i32 };
                let from = number * bytes;
                let segment = parts.whole.part(from, from + bytes)?;
                let id = recv::start(engine, methods, &pattern, segment)?;
                messages.push(id);
                let Engine { requests, finished, .. } = &mut *engine;
                composite::expect(requests, whole, 1);
                composite::add(requests, finished, whole, id, false);
                Ok(())
            })
        });
        let status = Status { error: posted.err(), ..Status::EMPTY };
        if status.error.is_some() {
            for id in &*messages {
                recv::cancel(engine, *id);
            }
        }
        complete::part_ended(&mut engine.requests, &mut engine.finished, whole, status, false);
    }

    /// Whether all bytes of a partition of ours have arrived; those of an operation that is not active have.
    pub fn has_arrived(&self, requests: &Table, partition: u32) -> bool {
        if !self.is_active(requests) {
            return true;
        }
        let is_there = |messages: &[RequestId]| messages.iter().all(|id| requests.get(*id).is_none());
        match &self.announced {
            None => false,
            Some(Ok(Announcement { partitions, bytes, .. })) if *bytes > 0 => {
                let from = u64::from(partition) * self.parts.bytes;
                let first = (from / bytes).min(*partitions) as usize;
                let last = (from + self.parts.bytes).div_ceil(*bytes).min(*partitions) as usize;
                // Some have not been posted if the table of requests was full.
                self.messages.get(first..last).is_some_and(is_there)
            }
            Some(_) => is_there(&self.messages),
        }
    }
}

#[cfg(test)]
#[path = "partitioned_tests.rs"]
mod tests;
