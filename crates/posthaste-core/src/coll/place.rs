//! How far a schedule has come, and how it goes on from there, whatever happens.
//!
//! What must stay true: a step that fails does not stop the others, for the peers wait for our messages. The first error ends up in
//! the status.

use std::ops::{ControlFlow, Range};

use crate::buffer::{Direction, OwnedBuf};
use crate::coll::board::Boards;
use crate::coll::label::Label;
use crate::coll::steps::{Plan, Step};
use crate::coll::{choose, stray};
use crate::datatype::{self, Segment};
use crate::error::{Cause, Error, ErrorClass, Result};
use crate::ids::{Peer, RequestId};
use crate::method::Methods;
use crate::pt2pt::arrival::{self, Found};
use crate::pt2pt::policy::Collective;
use crate::pt2pt::send::Started;
use crate::pt2pt::{Engine, recv, send, staging};
use crate::request::{State, Status, complete};
use crate::trace::Counter;
use crate::wire::Envelope;

/// A message under way.
#[derive(Debug)]
struct Outstanding {
    id: RequestId,
    step: usize,
    /// Where it comes, if that is not where it goes.
    aside: Option<Box<Aside>>,
}

impl Outstanding {
    /// What no step has started.
    fn unplanned(id: RequestId) -> Self {
        Self { id, step: usize::MAX, aside: None }
    }
}

/// A message to be combined that comes by a method which does not keep the order of bytes: it waits here until it is whole.
#[derive(Debug)]
struct Aside {
    memory: OwnedBuf,
    into: Segment,
}

/// How far a schedule has come.
#[derive(Debug, Default)]
pub(super) struct Place {
    next: usize,
    lists: Lists,
    /// Messages of `outstanding` that are over.
    settled: usize,
    /// How many unexpected messages there had been when strays were last looked for.
    arrivals: u64,
    /// No other operation of its communicator is under way: whatever lies here of those before it is nobody's.
    is_alone: bool,
    /// Nothing is received any more: what would be cannot come.
    given_up: bool,
    /// That is so because members do not do the same; who is still sent something hears of it.
    told: bool,
    says: Says,
    error: Option<Error>,
}

/// What those are sent who wait for this member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Says {
    /// What is planned.
    #[default]
    Data,
    /// No data, and this tag in place of the plan's: what they have to hear.
    Word(i32),
    /// Nothing: the communicator is revoked, of which all members hear.
    Nothing,
}

/// What is under way; the memory goes from one operation to the next.
#[derive(Debug, Default)]
pub(super) struct Lists {
    outstanding: Vec<Outstanding>,
    /// Receives that are looked for and not posted yet, the last one first.
    awaited: Vec<Awaited>,
}

/// A receive that is looked for.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    step: usize,
    /// What comes is not wanted.
    is_dropped: bool,
}

/// What becomes of receives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Receives {
    Posted,
    LookedFor,
}

impl Place {
    /// The beginning.
    pub(super) fn new(lists: Lists) -> Self {
        Self { lists, ..Self::default() }
    }

    /// Where the straight way has bent before step `next`, with receives that are `open`, and with what has gone wrong.
    pub(super) fn behind_straight(
        lists: Lists,
        (next, open, error): (usize, Range<usize>, Option<Error>),
        plan: &Plan,
        (engine, methods): (&mut Engine, &mut Methods),
        receives: Receives,
    ) -> Self {
        let mut place = Self { next, error, lists, ..Self::default() };
        engine.requests.reserve(true);
        for step in open.filter(|step| matches!(plan.steps[*step], Step::Receive { .. })) {
            place.expect(engine, methods, plan, step, receives);
        }
        place.take_group(plan, engine, methods, receives);
        engine.requests.reserve(false);
        place
    }

    /// The messages that are under way.
    pub(super) fn under_way(&self) -> impl ExactSizeIterator<Item = RequestId> + '_ {
        self.lists.outstanding[self.settled..].iter().map(|message| message.id)
    }

    /// How far it is, to be compared.
    pub(super) fn reached(&self) -> (usize, usize) {
        (self.next, self.settled)
    }

    /// The end: the lists, whose memory may be used again; what has gone wrong, and whether others were told.
    pub(super) fn over(self) -> (Lists, Option<Error>, bool) {
        let Self { mut lists, error, told, .. } = self;
        lists.outstanding.clear();
        (lists, error, told)
    }

    /// Whether it is alone from now on. Who has become so looks again at what came before.
    pub(super) fn is_now(&mut self, alone: bool) {
        if alone && !self.is_alone {
            self.arrivals = 0;
        }
        self.is_alone = alone;
    }

    /// Goes as far as possible; its messages may go beyond the limit of requests, because the peers count on them. Returns true at the
    /// end.
    #[inline(never)]
    pub(super) fn go(
        &mut self,
        plan: &Plan,
        engine: &mut Engine,
        methods: &mut Methods,
        receives: Receives,
    ) -> bool {
        engine.requests.reserve(true);
        let over = self.advance(plan, engine, methods, receives);
        engine.requests.reserve(false);
        over
    }

    /// Goes as far as possible. Returns true at the end.
    fn advance(
        &mut self,
        plan: &Plan,
        engine: &mut Engine,
        methods: &mut Methods,
        receives: Receives,
    ) -> bool {
        loop {
            while !self.lists.awaited.is_empty() {
                if !self.receive_next(plan, engine, methods, receives)
                    && !self.gives_up(plan, engine, methods)
                {
                    return false;
                }
            }
            if !self.settle(plan, engine) {
                if self.gives_up(plan, engine, methods) {
                    continue;
                }
                return self.leaves(plan, engine);
            }
            if self.take_group(plan, engine, methods, receives) {
                return true;
            }
        }
    }

    /// Whether it is over but for messages that may stay behind.
    fn leaves(&mut self, plan: &Plan, engine: &mut Engine) -> bool {
        if plan.boards.is_empty() || self.next < plan.steps.len() || !self.has_received(plan, engine) {
            return false;
        }
        // The receiver knows where it lies, and needs no help to copy it.
        let is_offered = |id| match engine.requests.get(id) {
            Some(request) => matches!(request.state, State::SendAsked { .. } | State::Complete),
            None => false,
        };
        let may_stay = |message: &Outstanding| {
            matches!(plan.steps.get(message.step), Some(Step::Send { segment, .. })
                if plan.boards.iter().any(|board| board.gives(segment)))
                && is_offered(message.id)
        };
        self.error.is_none()
            && !self.given_up
            && self.says == Says::Data
            && self.lists.outstanding[self.settled..].iter().all(may_stay)
            && Boards::may_stay(&plan.boards)
    }

    /// Takes steps up to the end of their group. Returns true at the end of all, if nothing is under way.
    fn take_group(
        &mut self,
        plan: &Plan,
        engine: &mut Engine,
        methods: &mut Methods,
        receives: Receives,
    ) -> bool {
        loop {
            let Some(step) = plan.steps.get(self.next) else {
                if self.lists.is_quiet() {
                    return true;
                }
                break;
            };
            self.next += 1;
            match step {
                Step::Fence if self.lists.is_quiet() => {}
                Step::Turn if self.lists.is_quiet() || self.has_received(plan, engine) => {}
                Step::Fence | Step::Turn => break,
                Step::Receive { .. } => self.expect(engine, methods, plan, self.next - 1, receives),
                step => {
                    if let Err(error) = self.take(engine, methods, plan, step) {
                        self.failed(plan, error);
                    }
                }
            }
        }
        self.lists.awaited.reverse();
        false
    }

    /// Begins to wait for the message of a receive.
    fn expect(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        plan: &Plan,
        step: usize,
        receives: Receives,
    ) {
        let awaited = Awaited { step, is_dropped: false };
        match receives {
            _ if self.given_up => {}
            Receives::Posted => self.post(engine, methods, plan, awaited),
            Receives::LookedFor => self.lists.awaited.push(awaited),
        }
    }

    /// Whether a message has come that says that what is waited for cannot come. Then nothing is received any more.
    #[inline]
    fn gives_up(&mut self, plan: &Plan, engine: &mut Engine, methods: &mut Methods) -> bool {
        engine.matching.has_early()
            && self.arrivals != engine.matching.arrivals()
            && self.look_for_strays(plan, engine, methods)
    }

    #[cold]
    fn look_for_strays(&mut self, plan: &Plan, engine: &mut Engine, methods: &mut Methods) -> bool {
        // What has been looked at once is not looked at again.
        let new =
            engine.matching.arrivals() - std::mem::replace(&mut self.arrivals, engine.matching.arrivals());
        if self.told {
            let late = stray::late(engine, plan.context, plan.tag);
            let dropped = stray::drop_all(engine, methods, &late);
            self.lists.outstanding.extend(dropped.into_iter().map(Outstanding::unplanned));
            return !late.is_empty();
        }
        let mut strays = stray::clashing(engine, plan, new);
        if self.is_alone {
            strays.extend(stray::older(engine, plan, new));
        }
        if strays.is_empty() {
            return false;
        }
        // Who waits for nobody's message is not kept waiting by who has given up.
        if !self.waits_for_messages(plan) {
            strays.retain(|stray| !Label::gives_up(stray.tag));
        }
        let lacking = strays.iter().find(|stray| Label::lacks(stray.tag).is_some());
        let Some(first) = lacking.or(strays.first()) else { return false };
        self.has_not_come(plan, stray::mismatch(engine, plan, first));
        (self.given_up, self.told) = (true, true);
        if self.says == Says::Data {
            self.says = Says::Word(Label::giving_up(plan.tag));
        }
        self.lists.awaited.clear();
        for Outstanding { id, .. } in &self.lists.outstanding {
            recv::cancel(engine, *id);
        }
        // Nothing else of this operation is received any more, either; who has sent it shall not wait.
        let late = stray::late(engine, plan.context, plan.tag);
        let mut requests = stray::drop_all(engine, methods, &late);
        // Who waits for others than us hears of it, too.
        if lacking.is_none() && strays.iter().any(|stray| !Label::gives_up(stray.tag)) {
            requests.extend(stray::tell_all(engine, methods, plan));
        }
        self.lists.outstanding.extend(requests.into_iter().map(Outstanding::unplanned));
        true
    }

    /// Whether anything is to be received, now or later.
    fn waits_for_messages(&self, plan: &Plan) -> bool {
        let is_receive = |step: usize| matches!(plan.steps.get(step), Some(Step::Receive { .. }));
        let under_way = self.lists.outstanding.iter().map(|message| message.step);
        !self.lists.awaited.is_empty() || under_way.chain(self.next..plan.steps.len()).any(is_receive)
    }

    /// Receives the message that is awaited first, straight out of its packet. If it needs the general way, it and
    /// all that are awaited after it are posted, so that none gets what is another's. Returns false when it goes on
    /// being looked for.
    #[inline]
    fn receive_next(
        &mut self,
        plan: &Plan,
        engine: &mut Engine,
        methods: &mut Methods,
        receives: Receives,
    ) -> bool {
        if receives == Receives::LookedFor
            && let Some(Awaited { step, is_dropped }) = self.lists.awaited.last().copied()
            && let Some(Step::Receive { from, peer, segment }) = plan.steps.get(step)
        {
            let pattern = plan.pattern(*from);
            if engine.matching.peek_unexpected(&pattern).is_none() {
                let nothing = Segment::empty();
                let into = if is_dropped { &nothing } else { segment };
                match arrival::look(engine, methods, Some(*peer), &pattern, &mut Collective { into }) {
                    ControlFlow::Continue(()) => return false,
                    ControlFlow::Break(Found::Message(status)) => {
                        self.lists.awaited.pop();
                        self.check(plan, engine, step, status, None);
                        return true;
                    }
                    ControlFlow::Break(Found::Taken(message)) => {
                        self.lists.awaited.pop();
                        let (whom, into) = ((*peer, step), into.clone());
                        self.begin(engine, methods, plan, whom, into, |engine, methods, segment| {
                            recv::start_unexpected(engine, methods, message, segment)
                        });
                        return true;
                    }
                    ControlFlow::Break(Found::Served | Found::Other) => {}
                }
            }
        }
        while let Some(awaited) = self.lists.awaited.pop() {
            self.post(engine, methods, plan, awaited);
        }
        true
    }

    fn post(&mut self, engine: &mut Engine, methods: &mut Methods, plan: &Plan, awaited: Awaited) {
        let Awaited { step, is_dropped } = awaited;
        let Step::Receive { from, peer, segment } = &plan.steps[step] else { return };
        let (pattern, whom) = (plan.pattern(*from), (*peer, step));
        let into = if is_dropped { Segment::empty() } else { segment.clone() };
        self.begin(engine, methods, plan, whom, into, |engine, methods, segment| {
            recv::start(engine, methods, &pattern, segment)
        });
    }

    /// Begins to receive a message, where it goes if it can be combined there as it arrives.
    #[inline]
    fn begin(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        plan: &Plan,
        (peer, step): (Peer, usize),
        mut segment: Segment,
        start: impl FnOnce(&mut Engine, &mut Methods, Segment) -> Result<RequestId>,
    ) {
        let mut aside = None;
        if segment.is_combined() && !methods.caps(peer).in_order {
            let memory = OwnedBuf::new(segment.len() as usize);
            let whole = Segment::contiguous(memory.user_buf(), segment.len());
            aside = Some(Box::new(Aside { memory, into: std::mem::replace(&mut segment, whole) }));
        }
        match start(engine, methods, segment) {
            Ok(id) => self.lists.outstanding.push(Outstanding { id, step, aside }),
            Err(error) => self.has_not_come(plan, error),
        }
    }

    /// Takes the ends of messages. Returns whether all that were started are over.
    fn settle(&mut self, plan: &Plan, engine: &mut Engine) -> bool {
        while let Some(Outstanding { id, step, aside }) = self.lists.outstanding.get_mut(self.settled) {
            if is_under_way(engine, *id) {
                let is_turn = matches!(plan.steps.get(self.next.wrapping_sub(1)), Some(Step::Turn));
                let has_received = is_turn && self.has_received(plan, engine);
                // The rest of somebody's pieces is to be received, or something begins behind the turn.
                return is_turn && !self.lists.awaited.is_empty()
                    || has_received && self.next < plan.steps.len();
            }
            let (step, aside) = (*step, aside.take());
            if let Some(request) = engine.requests.remove(*id) {
                self.check(plan, engine, step, request.status, aside);
            }
            self.settled += 1;
        }
        self.lists.outstanding.clear();
        self.settled = 0;
        true
    }

    /// Takes the ends of receives that are over, whatever was started before them. Returns whether all are.
    fn has_received(&mut self, plan: &Plan, engine: &mut Engine) -> bool {
        let mut at = self.settled;
        while let Some(Outstanding { id, step, .. }) = self.lists.outstanding.get(at) {
            if !matches!(plan.steps.get(*step), Some(Step::Receive { .. })) {
                at += 1;
            } else if is_under_way(engine, *id) {
                return false;
            } else {
                let Outstanding { id, step, aside } = self.lists.outstanding.remove(at);
                if let Some(request) = engine.requests.remove(id) {
                    self.check(plan, engine, step, request.status, aside);
                }
            }
        }
        self.lists.awaited.is_empty()
    }

    fn take(&mut self, engine: &mut Engine, methods: &mut Methods, plan: &Plan, step: &Step) -> Result<()> {
        let at = self.next - 1;
        match step {
            Step::Send { .. } if self.says == Says::Nothing => {}
            // Who is not told yet gets no data, for which it might have to come back.
            Step::Send { to, .. } if let Says::Word(tag) = self.says => {
                if let Started::Request(id) = stray::say(engine, methods, plan, tag, *to)? {
                    self.lists.outstanding.push(Outstanding { id, step: at, aside: None });
                }
            }
            Step::Send { to, segment } => {
                let envelope = Envelope { types: segment.types(), ..plan.envelope(segment.len()) };
                let mut segment = segment.clone();
                if segment.is_plain() && send::at_once(engine, methods, *to, &envelope, &mut segment) {
                    return Ok(());
                }
                let started = send::start_general(engine, methods, *to, &envelope, segment)?;
                if let Started::Request(id) = started {
                    self.lists.outstanding.push(Outstanding { id, step: at, aside: None });
                }
            }
            Step::Combine { input, inout, count } => {
                if let Some((op, datatype)) = &plan.reduction {
                    op.apply(datatype, *input, *inout, *count)?;
                }
            }
            Step::Copy { from, to } => {
                let copied = datatype::copy(&mut from.clone(), &mut to.clone());
                engine.counts.add(Counter::CollectiveCopied, copied);
                let (sent, room) = (from.len(), to.len());
                if sent != room {
                    // What a rank gives itself is a block as any other one.
                    let class = if sent > room { ErrorClass::Truncate } else { ErrorClass::NotSame };
                    return Err(differ(plan, plan.rank as u32, sent, room, class));
                }
            }
            // The steps may have written less than planned; the device's memory keeps what it has.
            Step::Stage { direction: Direction::In, .. } if self.error.is_some() => {}
            Step::Stage { direction, runs } => {
                let id = staging::copy(engine, *direction, runs)?;
                self.lists.outstanding.push(Outstanding { id, step: at, aside: None });
            }
            Step::Receive { .. } | Step::Fence | Step::Turn => {}
        }
        Ok(())
    }

    /// Looks at the end of one message: it must have gone well and be exactly as long as planned.
    fn check(
        &mut self,
        plan: &Plan,
        engine: &mut Engine,
        step: usize,
        status: Status,
        aside: Option<Box<Aside>>,
    ) {
        let Some(Step::Receive { from, segment, .. }) = plan.steps.get(step) else {
            if let Some(error) = status.error {
                self.failed(plan, error);
            }
            return;
        };
        engine.counts.add(Counter::CollectiveDelivered, status.bytes);
        if !segment.is_combined() || aside.is_some() {
            engine.counts.add(Counter::CollectiveCopied, status.bytes);
        }
        if status.error.is_none() && status.bytes == segment.len() {
            if let Some(mut aside) = aside {
                aside.into.unpack(aside.memory.source());
            }
            return;
        }
        // Of the pieces of data the first ones may have been asked back.
        match engine.contexts.check_revoked(plan.context) {
            Ok(()) => self.differs(plan, step, (*from, segment.len()), status),
            Err(revoked) => self.has_not_come(plan, revoked),
        }
    }

    /// A message has not gone well, or is not as long as planned.
    #[cold]
    fn differs(&mut self, plan: &Plan, step: usize, (from, expected): (u32, u64), status: Status) {
        let mut sent = status.bytes;
        let error = match status.error {
            None => differ(plan, from, sent, expected, ErrorClass::NotSame),
            Some(error) => match error.cause() {
                Cause::Truncated { sent: all, room } => {
                    sent = *all;
                    differ(plan, from, sent, *room, ErrorClass::Truncate)
                }
                _ if error.class() == ErrorClass::Type => {
                    Error::other(ErrorClass::Type, format!("{}: {error}", plan.name))
                }
                _ => error,
            },
        };
        if matches!(error.class(), ErrorClass::NotSame | ErrorClass::Truncate) && plan.comes_in_pieces(step) {
            self.expect_pieces(step, expected, sent);
        }
        self.has_not_come(plan, error);
    }

    /// So many bytes have come where a piece of another length was expected: nothing more comes from there, or more than is planned,
    /// which is received and dropped, or its sender would wait.
    #[cold]
    fn expect_pieces(&mut self, step: usize, expected: u64, sent: u64) {
        if expected == choose::PIECE {
            self.given_up = true;
        } else if self.given_up {
            // Nothing is received any more.
        } else if sent == choose::PIECE {
            self.lists.awaited.push(Awaited { step, is_dropped: true });
        }
    }

    /// A start before this one has failed for a loss: nothing is received, and others hear that what this one would pass on is missing.
    #[cold]
    pub(super) fn fails_again(&mut self, name: &str, tag: i32) {
        let text = format!("{name}: a member was lost in an earlier start of this operation");
        self.given_up = true;
        self.says = Says::Word(Label::lacking(tag, None));
        self.error = Some(Error::other(ErrorClass::ProcAborted, text));
    }

    /// Something else than a receive has failed. Who could not be told by a barrier may never have come, either.
    #[cold]
    fn failed(&mut self, plan: &Plan, error: Error) {
        if Label::is_barrier(plan.tag) {
            return self.has_not_come(plan, error);
        }
        self.fails_for(error);
    }

    /// Something has gone wrong. In a communicator that is revoked nothing is sent from then on: who goes the straight way may not have
    /// noticed, and would take for what it waits for what others send on without having it, or one piece of data for another.
    #[cold]
    fn fails_for(&mut self, error: Error) {
        if error.class() == ErrorClass::Revoked {
            self.says = Says::Nothing;
        }
        self.error.get_or_insert(error);
    }

    /// What was to be received has not come. If that is for a loss, nobody takes for whole what is sent from now on.
    #[cold]
    fn has_not_come(&mut self, plan: &Plan, error: Error) {
        // A message that cannot be read where it lies has a sender whose end is not known yet, or that has taken its memory away.
        if matches!(error.class(), ErrorClass::ProcAborted | ErrorClass::Buffer) {
            let lost = error.lost_process().and_then(|lost| plan.group.as_ref()?.rank_of(Peer(lost)));
            let tag = Label::lacking(plan.tag, lost);
            // What is outside the count of operations cannot say so.
            if self.says == Says::Data && tag != plan.tag {
                self.says = Says::Word(tag);
            }
        }
        self.fails_for(error);
    }
}

impl Lists {
    /// Whether nothing is under way.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.outstanding.is_empty() && self.awaited.is_empty()
    }
}

/// Whether a message is not over.
fn is_under_way(engine: &Engine, id: RequestId) -> bool {
    engine.requests.get(id).is_some_and(|request| !complete::is_complete(request))
}

#[cold]
fn differ(plan: &Plan, from: u32, got: u64, expected: u64, class: ErrorClass) -> Error {
    let text = format!(
        "{}: rank {from} sent {got} bytes where rank {} expected {expected}: counts or datatypes differ between the \
         ranks, or collective operations were called in different orders",
        plan.name, plan.rank,
    );
    Error::other(class, text)
}
