//! Schedules: a collective operation as a list of steps, and the place where steps are taken.
//!
//! The plans of this room make schedules.
//!
//! Steps are taken in order without waiting, up to the next fence; a fence waits for every message started since
//! the one before. So everything between two fences is under way at the same time. A turn waits for receives alone, which is enough for
//! what reads what has come. Nothing here blocks.
//!
//! A schedule is started, and then progress advances it; or a blocking call walks through it: then receives are
//! not posted but looked for where the message arrives, and short operations take no request at all.
//!
//! What must stay true: a plan never changes while it runs, and owns or borrows all memory that its steps name,
//! so it can be started again (persistent operations) once it is over. A step that fails does not stop the
//! others: the peers wait for our messages, and would hang without them. The first error ends up in the status.

use std::ops::{ControlFlow, Deref};
use std::sync::Arc;

use crate::buffer::{Direction, OwnedBuf, UserBuf};
use crate::coll::board::Board;
use crate::coll::label::Label;
use crate::coll::{choose, plan, stray};
use crate::datatype::{self, Datatype, Segment};
use crate::error::{Cause, Error, ErrorClass, Result};
use crate::ids::{ContextId, Peer, RequestId};
use crate::method::Methods;
use crate::op::Op;
use crate::pt2pt::arrival::{self, Found};
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::policy::Collective;
use crate::pt2pt::recv;
use crate::pt2pt::send::Started;
use crate::pt2pt::{Engine, send, staging};
use crate::request::{Request, State, Status, complete};
use crate::trace::Counter;
use crate::wire::{Envelope, Mode};

/// One step of a collective operation.
#[derive(Debug)]
pub(super) enum Step {
    /// Starts a message.
    Send { to: Peer, segment: Segment },
    /// Starts to receive exactly the segment, or to combine with it what comes; `peer` is the process with that rank.
    Receive { from: u32, peer: Peer, segment: Segment },
    /// Waits for the messages started so far.
    Fence,
    /// Waits for the receives among them.
    Turn,
    /// `inout = input op inout`.
    Combine { input: UserBuf, inout: UserBuf, count: u64 },
    /// Moves bytes between buffers of this process.
    Copy { from: Segment, to: Segment },
    /// Starts a copy by a device between its memory and ours: address there, place here, length.
    Stage { direction: Direction, runs: Vec<(usize, UserBuf, usize)> },
}

/// All steps of one rank in one operation.
#[derive(Debug)]
pub(super) struct Plan {
    /// The operation, for messages.
    pub(super) name: &'static str,
    /// The call that it is of, if that may come again.
    pub(super) call: Option<plan::Call>,
    /// Context, our rank and tag of its messages.
    pub(super) context: ContextId,
    pub(super) rank: i32,
    pub(super) tag: i32,
    /// How many members there are, and which is the root.
    pub(super) members: u32,
    pub(super) root: Option<u32>,
    /// All members meet before anything else.
    pub(super) meets: bool,
    pub(super) steps: Vec<Step>,
    pub(super) reduction: Option<(Op, Datatype)>,
    /// Memory that steps name.
    pub(super) temporaries: Vec<OwnedBuf>,
    /// The same for data that several members copy.
    pub(super) boards: Vec<Board>,
    /// Memory that steps name and that the caller looks at afterwards.
    pub(super) outcome: Option<Arc<OwnedBuf>>,
}

/// A collective operation, ready to be started.
#[derive(Debug)]
pub struct Schedule(pub(super) Box<Plan>);

/// Who owns a plan while it runs.
#[derive(Debug)]
enum PlanRef {
    /// This run alone.
    Owned(Box<Plan>),
    /// A persistent request, which runs it once at a time.
    Shared(Arc<Schedule>),
}

impl Deref for PlanRef {
    type Target = Plan;
    #[inline]
    fn deref(&self) -> &Plan {
        match self {
            Self::Owned(plan) => plan,
            Self::Shared(schedule) => &schedule.0,
        }
    }
}

impl Schedule {
    /// The function that does this operation.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// The context of its messages.
    #[inline]
    pub fn context(&self) -> ContextId {
        self.0.context
    }

    /// The VCI of its communicator.
    #[inline]
    pub fn vci(&self) -> usize {
        self.0.context.vci()
    }

    /// The operation as one that is started again and again: see [`Running::start_again`].
    pub fn repeated(mut self) -> Arc<Self> {
        self.0.tag = Label::again(self.0.tag);
        self.into()
    }
}

/// What a collective operation under way is, for reports.
#[derive(Debug)]
pub struct About {
    /// The function.
    pub name: &'static str,
    /// The context of its messages.
    pub context: ContextId,
    /// How many collective operations came before it, coming round; none of one that is outside that count.
    pub number: Option<u32>,
    /// The root's rank.
    pub root: Option<u32>,
    /// The messages that it waits for now.
    pub under_way: Vec<RequestId>,
}

/// A message under way.
#[derive(Debug)]
struct Outstanding {
    id: RequestId,
    step: usize,
    /// Where it comes, if that is not where it goes.
    aside: Option<Box<Aside>>,
}

/// A message to be combined that comes by a method which does not keep the order of bytes: it waits here until it is whole.
#[derive(Debug)]
struct Aside {
    memory: OwnedBuf,
    into: Segment,
}

/// A schedule under way.
#[derive(Debug)]
struct Active {
    id: RequestId,
    walk: Walk,
}

/// A schedule and how far it has come.
#[derive(Debug)]
pub struct Walk {
    plan: PlanRef,
    place: Place,
}

/// How far a schedule has come.
#[derive(Debug, Default)]
struct Place {
    next: usize,
    lists: Lists,
    /// Messages of `outstanding` that are over.
    settled: usize,
    /// How many unexpected messages there had been when strays were last looked for.
    arrivals: u64,
    /// Nothing is received any more: what would be cannot come.
    given_up: bool,
    error: Option<Error>,
}

/// What is under way; the memory goes from one operation to the next.
#[derive(Debug, Default)]
struct Lists {
    outstanding: Vec<Outstanding>,
    /// Receives that are looked for and not posted yet, the last one first.
    awaited: Vec<Awaited>,
}

/// A receive that is looked for.
#[derive(Debug)]
struct Awaited {
    step: usize,
    segment: Segment,
}

/// What becomes of receives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Receives {
    Posted,
    LookedFor,
}

/// Collective operations under way.
#[derive(Debug, Default)]
pub struct Running {
    active: Vec<Active>,
    /// The engine's counts of ended requests and of unexpected messages when we last looked.
    seen: (u64, u64),
    /// Memory of lists used before.
    spare: Vec<Lists>,
}

impl Running {
    /// Whether nothing is under way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// What a request under way is.
    pub fn about(&self, id: RequestId) -> Option<About> {
        let Active { walk: Walk { plan, place }, .. } = self.active.iter().find(|active| active.id == id)?;
        let under_way = place.lists.outstanding[place.settled..].iter().map(|message| message.id).collect();
        let number = Label::of(plan.tag).map(|label| label.number);
        Some(About { name: plan.name, context: plan.context, number, root: plan.root, under_way })
    }

    /// The requests under way.
    pub fn ids(&self) -> impl Iterator<Item = RequestId> + '_ {
        self.active.iter().map(|active| active.id)
    }

    /// Starts an operation; it may be over when this returns.
    ///
    /// # Errors
    /// When the table of requests is full; then no message has left.
    pub fn start(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        schedule: Schedule,
    ) -> Result<RequestId> {
        let walk = self.walk(schedule);
        self.go_on(engine, methods, walk)
    }

    /// Starts an operation that its caller keeps and may start again once it is over (persistent operations). It was made by
    /// [`Schedule::repeated`].
    ///
    /// # Errors
    /// As [`Running::start`].
    pub fn start_again(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        schedule: &Arc<Schedule>,
    ) -> Result<RequestId> {
        let walk = Walk { plan: PlanRef::Shared(schedule.clone()), place: self.place() };
        self.go_on(engine, methods, walk)
    }

    /// Begins to walk through an operation: see [`Walk::look`].
    #[inline]
    pub fn walk(&mut self, schedule: Schedule) -> Walk {
        Walk { plan: PlanRef::Owned(schedule.0), place: self.place() }
    }

    /// Takes over a walk, which from now on goes on with progress.
    ///
    /// # Errors
    /// When the table of requests is full.
    pub fn go_on(&mut self, engine: &mut Engine, methods: &mut Methods, walk: Walk) -> Result<RequestId> {
        engine.requests.reserve(true); // the peers count on us
        let inserted = engine.requests.insert(Request::new(State::Schedule(walk.plan.context)));
        engine.requests.reserve(false);
        let id = inserted?;
        let mut active = Active { id, walk };
        if active.walk.advance(engine, methods) {
            self.end(engine, methods, active);
        } else {
            self.active.push(active);
        }
        Ok(id)
    }

    /// Takes the end of a walk.
    ///
    /// # Errors
    /// What went wrong with one of its messages; other ranks have called other operations, or with other roots.
    #[inline]
    pub fn over(&mut self, engine: &mut Engine, methods: &mut Methods, walk: Walk) -> Result<()> {
        let Walk { plan, place: Place { mut lists, mut error, .. } } = walk;
        if engine.matching.has_early() && error.is_none() {
            error = self.left_over(engine, methods, &plan);
        }
        lists.outstanding.clear();
        self.spare.push(lists);
        if let PlanRef::Owned(plan) = plan {
            plan::recycle(plan, error.is_some());
        }
        error.map_or(Ok(()), Err)
    }

    fn place(&mut self) -> Place {
        Place { lists: self.spare.pop().unwrap_or_default(), ..Place::default() }
    }

    /// What is wrong if messages of operations that are over lie here.
    #[cold]
    fn left_over(&self, engine: &mut Engine, methods: &mut Methods, plan: &Plan) -> Option<Error> {
        // What is under way may still ask for them.
        if self.active.iter().any(|active| active.walk.plan.context == plan.context) {
            return None;
        }
        let strays = stray::left_over(engine, plan);
        for id in stray::drop_all(engine, methods, &strays) {
            recv::detach(engine, id);
        }
        strays.first().map(|stray| stray::mismatch(engine, plan, stray))
    }

    fn end(&mut self, engine: &mut Engine, methods: &mut Methods, Active { id, walk }: Active) {
        let error = self.over(engine, methods, walk).err();
        engine.complete(id, Status { error, ..Status::EMPTY });
    }
}

/// Advances every schedule as far as it goes now. Returns whether any moved. Costs two comparisons while no
/// request has ended and no unexpected message has come.
#[inline]
pub fn advance(engine: &mut Engine, methods: &mut Methods, running: &mut Running) -> bool {
    if (engine.finished.ends, engine.matching.arrivals()) == running.seen {
        return false;
    }
    advance_all(engine, methods, running)
}

fn advance_all(engine: &mut Engine, methods: &mut Methods, running: &mut Running) -> bool {
    let mut busy = false;
    running.seen = (engine.finished.ends, engine.matching.arrivals());
    let mut at = 0;
    while let Some(Active { walk, .. }) = running.active.get_mut(at) {
        let before = (walk.place.next, walk.place.settled);
        if walk.advance(engine, methods) {
            let active = running.active.remove(at);
            running.end(engine, methods, active);
            busy = true;
        } else {
            busy |= before != (walk.place.next, walk.place.settled);
            at += 1;
        }
    }
    busy
}

impl Walk {
    /// Takes steps as far as possible and looks once for what they wait for, in the packets that arrive next: no
    /// receive is posted as long as that goes well. Returns true at the end.
    #[inline]
    pub fn look(&mut self, engine: &mut Engine, methods: &mut Methods) -> bool {
        self.go(engine, methods, Receives::LookedFor)
    }

    /// Takes steps as far as possible. Returns true at the end.
    fn advance(&mut self, engine: &mut Engine, methods: &mut Methods) -> bool {
        self.go(engine, methods, Receives::Posted)
    }

    /// The same: its messages may go beyond the limit of requests, because the peers count on them.
    #[inline]
    fn go(&mut self, engine: &mut Engine, methods: &mut Methods, receives: Receives) -> bool {
        engine.requests.reserve(true);
        let over = self.place.advance(&self.plan, engine, methods, receives);
        engine.requests.reserve(false);
        over
    }
}

impl Place {
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
                return false;
            }
            loop {
                let Some(step) = plan.steps.get(self.next) else {
                    if self.lists.is_quiet() {
                        return true;
                    }
                    break;
                };
                self.next += 1;
                match step {
                    Step::Fence if self.lists.is_quiet() => continue,
                    Step::Turn if self.lists.is_quiet() || self.has_received(plan, engine) => {
                        continue;
                    }
                    Step::Fence | Step::Turn => break,

                    Step::Receive { .. } if self.given_up => {}
                    Step::Receive { segment, .. } => {
                        let (step, segment) = (self.next - 1, segment.clone());
                        match receives {
                            Receives::Posted => self.post(engine, methods, plan, step, segment),
                            Receives::LookedFor => self.lists.awaited.push(Awaited { step, segment }),
                        }
                    }
                    step => {
                        if let Err(error) = self.take(engine, methods, plan, step) {
                            self.failed(error);
                        }
                    }
                }
            }
            self.lists.awaited.reverse();
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
        let strays = stray::clashing(engine, plan, new);
        let Some(first) = strays.first() else { return false };
        self.failed(stray::mismatch(engine, plan, first));
        self.given_up = true;
        self.lists.awaited.clear();
        for Outstanding { id, .. } in &self.lists.outstanding {
            recv::cancel(engine, *id);
        }
        let dropped = stray::drop_all(engine, methods, &strays).into_iter();
        let outstanding = dropped.map(|id| Outstanding { id, step: usize::MAX, aside: None });
        self.lists.outstanding.extend(outstanding);
        true
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
            && let Some(Awaited { step, segment }) = self.lists.awaited.last_mut()
            && let Some(Step::Receive { from, peer, .. }) = plan.steps.get(*step)
        {
            let (step, pattern) = (*step, plan.pattern(*from));
            if engine.matching.peek_unexpected(&pattern).is_none() {
                let mut call = Collective { into: segment };
                match arrival::look(engine, methods, Some(*peer), &pattern, &mut call) {
                    ControlFlow::Continue(()) => return false,
                    ControlFlow::Break(Found::Message(status)) => {
                        self.lists.awaited.pop();
                        self.check(plan, engine, step, status, None);
                        return true;
                    }
                    ControlFlow::Break(Found::Taken(message)) => {
                        let Some(Awaited { segment, .. }) = self.lists.awaited.pop() else { return true };
                        let peer = *peer;
                        self.begin(engine, methods, (peer, step), segment, |engine, methods, segment| {
                            recv::start_unexpected(engine, methods, message, segment)
                        });
                        return true;
                    }
                    ControlFlow::Break(Found::Served | Found::Other) => {}
                }
            }
        }
        while let Some(Awaited { step, segment }) = self.lists.awaited.pop() {
            self.post(engine, methods, plan, step, segment);
        }
        true
    }

    fn post(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        plan: &Plan,
        step: usize,
        segment: Segment,
    ) {
        let Step::Receive { from, peer, .. } = &plan.steps[step] else { return };
        let pattern = plan.pattern(*from);
        self.begin(engine, methods, (*peer, step), segment, |engine, methods, segment| {
            recv::start(engine, methods, &pattern, segment)
        });
    }

    /// Begins to receive a message, where it goes if it can be combined there as it arrives.
    #[inline]
    fn begin(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
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
            Err(error) => self.failed(error),
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
            Step::Send { to, segment } => {
                let envelope = Envelope {
                    context: plan.context,
                    source: plan.rank,
                    tag: plan.tag,
                    len: segment.len(),
                    mode: Mode::Standard,
                    types: segment.types(),
                };
                let started = match segment.is_plain() {
                    true => send::start(engine, methods, *to, &envelope, segment.clone()),
                    false => send::start_general(engine, methods, *to, &envelope, segment.clone()),
                };
                if let Started::Request(id) = started? {
                    self.lists.outstanding.push(Outstanding { id, step: at, aside: None });
                }
            }
            Step::Combine { input, inout, count } => {
                if let Some((op, datatype)) = &plan.reduction {
                    op.apply(datatype, *input, *inout, *count)?;
                }
            }
            Step::Copy { from, to } => {
                if from.len() > to.len() {
                    let (sent, room) = (from.len(), to.len());
                    datatype::copy(&mut from.clone(), &mut to.clone());
                    return Err(differ(plan, plan.rank as u32, sent, room, ErrorClass::Truncate));
                }
                let copied = datatype::copy(&mut from.clone(), &mut to.clone());
                engine.counts.add(Counter::CollectiveCopied, copied);
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
                self.failed(error);
            }
            return;
        };
        engine.counts.add(Counter::CollectiveDelivered, status.bytes);
        if !segment.is_combined_in_place() || aside.is_some() {
            engine.counts.add(Counter::CollectiveCopied, status.bytes);
        }
        if status.error.is_none() && status.bytes == segment.len() {
            if let Some(mut aside) = aside {
                aside.into.unpack(aside.memory.source());
            }
            return;
        }
        self.differs(plan, step, (*from, segment.len()), status);
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
        self.failed(error);
    }

    /// So many bytes have come where a piece of another length was expected: nothing more comes from there, or more than is planned,
    /// which is received and dropped, or its sender would wait.
    #[cold]
    fn expect_pieces(&mut self, step: usize, expected: u64, sent: u64) {
        if expected == choose::PIECE {
            self.given_up = true;
        } else if sent == choose::PIECE {
            self.lists.awaited.push(Awaited { step, segment: Segment::empty() });
        }
    }

    #[cold]
    fn failed(&mut self, error: Error) {
        self.error.get_or_insert(error);
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

impl Plan {
    /// Whether a receive is that of a piece of data, whose length says whether another one follows: see [`choose::pieces`].
    fn comes_in_pieces(&self, receive: usize) -> bool {
        matches!(self.steps[receive..], [_, Step::Turn, Step::Turn, ..])
    }

    fn pattern(&self, from: u32) -> Pattern {
        Pattern { context: self.context, source: from as i32, tag: self.tag }
    }
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
