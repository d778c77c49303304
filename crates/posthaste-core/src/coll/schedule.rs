//! Schedules: a collective operation as a list of steps, and the place where steps are taken.
//!
//! Called by `world` (start) and `progress` (advance); the plans of this room make schedules. Calls `pt2pt`.
//!
//! Steps are taken in order without waiting, up to the next fence; a fence waits for every message started since
//! the one before. So everything between two fences is under way at the same time. Nothing here blocks.
//!
//! What must stay true: a plan never changes while it runs, and owns or borrows all memory that its steps name,
//! so it can be started again (persistent operations) once it is over. A step that fails does not stop the
//! others: the peers wait for our messages, and would hang without them. The first error ends up in the status.

use std::sync::Arc;

use crate::buffer::{OwnedBuf, UserBuf};
use crate::coll::plan;
use crate::datatype::{self, Datatype, Segment};
use crate::error::{Cause, Error, ErrorClass, Result};
use crate::ids::{ContextId, Peer, RequestId};
use crate::method::Methods;
use crate::op::Op;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::send::Started;
use crate::pt2pt::{Engine, recv, send};
use crate::request::{Request, State, Status, complete};
use crate::wire::Envelope;

/// One step of a collective operation.
#[derive(Debug)]
pub(super) enum Step {
    /// Starts a message.
    Send { to: Peer, segment: Segment },
    /// Starts to receive exactly the segment.
    Receive { from: u32, segment: Segment },
    /// Waits for the messages started so far.
    Fence,
    /// `inout = input op inout`.
    Combine { input: UserBuf, inout: UserBuf, count: u64 },
    /// Moves bytes between buffers of this process.
    Copy { from: Segment, to: Segment },
}

/// All steps of one rank in one operation.
#[derive(Debug)]
pub(super) struct Plan {
    /// The operation, for messages.
    pub(super) name: &'static str,
    /// Context, our rank and tag of its messages.
    pub(super) context: ContextId,
    pub(super) rank: i32,
    pub(super) tag: i32,
    pub(super) steps: Vec<Step>,
    pub(super) reduction: Option<(Op, Datatype)>,
    /// Memory that steps name.
    pub(super) temporaries: Vec<OwnedBuf>,
    /// Memory that steps name and that the caller looks at afterwards.
    pub(super) outcome: Option<Arc<OwnedBuf>>,
}

/// A collective operation, ready to be started. Clones are the same operation, which may run once at a time.
#[derive(Clone, Debug)]
pub struct Schedule(pub(super) Arc<Plan>);

impl Schedule {
    /// The function that does this operation.
    pub fn name(&self) -> &'static str {
        self.0.name
    }
}

/// A message under way.
#[derive(Debug)]
struct Outstanding {
    id: RequestId,
    step: usize,
}

/// A schedule under way.
#[derive(Debug)]
struct Active {
    id: RequestId,
    plan: Arc<Plan>,
    place: Place,
}

/// How far a schedule has come.
#[derive(Debug)]
struct Place {
    next: usize,
    outstanding: Vec<Outstanding>,
    /// Messages of `outstanding` that are over.
    settled: usize,
    error: Option<Error>,
}

/// Collective operations under way.
#[derive(Debug, Default)]
pub struct Running {
    active: Vec<Active>,
    /// The engine's count of ended requests when we last looked.
    seen: u64,
    /// Memory of lists used before.
    spare: Vec<Vec<Outstanding>>,
}

impl Running {
    /// Whether nothing is under way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// What a request under way is: function, context and tag of its messages, and those it waits for now.
    pub fn about(&self, id: RequestId) -> Option<(&'static str, ContextId, i32, Vec<RequestId>)> {
        let Active { plan, place, .. } = self.active.iter().find(|active| active.id == id)?;
        let waits_for = place.outstanding[place.settled..].iter().map(|message| message.id).collect();
        Some((plan.name, plan.context, plan.tag, waits_for))
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
        let id = engine.requests.insert(Request::new(State::Schedule))?;
        self.begin(engine, methods, id, schedule);
        Ok(id)
    }

    /// Starts an operation under a request that exists already (persistent operations).
    pub fn restart(&mut self, engine: &mut Engine, methods: &mut Methods, id: RequestId, schedule: Schedule) {
        if let Some(request) = engine.requests.get_mut(id) {
            request.state = State::Schedule;
        }
        self.begin(engine, methods, id, schedule);
    }

    fn begin(&mut self, engine: &mut Engine, methods: &mut Methods, id: RequestId, schedule: Schedule) {
        let outstanding = self.spare.pop().unwrap_or_default();
        let plan = schedule.0;
        let mut place = Place { next: 0, outstanding, settled: 0, error: None };
        if place.advance(&plan, engine, methods) {
            self.end(engine, Active { id, plan, place });
        } else {
            self.active.push(Active { id, plan, place });
        }
    }

    fn end(&mut self, engine: &mut Engine, active: Active) {
        let Active { id, plan, place: Place { mut outstanding, error, .. } } = active;
        outstanding.clear();
        self.spare.push(outstanding);
        plan::recycle(plan);
        engine.complete(id, Status { error, ..Status::EMPTY });
    }
}

/// Advances every schedule as far as it goes now. Returns whether any moved. Costs one comparison while no
/// request has ended.
#[inline]
pub fn advance(engine: &mut Engine, methods: &mut Methods, running: &mut Running) -> bool {
    if engine.finished.ends == running.seen {
        return false;
    }
    advance_all(engine, methods, running)
}

fn advance_all(engine: &mut Engine, methods: &mut Methods, running: &mut Running) -> bool {
    let mut busy = false;
    running.seen = engine.finished.ends;
    let mut at = 0;
    while let Some(active) = running.active.get_mut(at) {
        let Active { plan, place, .. } = active;
        let before = (place.next, place.settled);
        if place.advance(plan, engine, methods) {
            let active = running.active.remove(at);
            running.end(engine, active);
            busy = true;
        } else {
            busy |= before != (place.next, place.settled);
            at += 1;
        }
    }
    busy
}

impl Place {
    /// Goes as far as possible. Returns true at the end.
    fn advance(&mut self, plan: &Plan, engine: &mut Engine, methods: &mut Methods) -> bool {
        loop {
            if !self.settle(plan, engine) {
                return false;
            }
            loop {
                let Some(step) = plan.steps.get(self.next) else {
                    if self.outstanding.is_empty() {
                        return true;
                    }
                    break;
                };
                self.next += 1;
                if let Step::Fence = step {
                    if self.outstanding.is_empty() {
                        continue;
                    }
                    break;
                }
                if let Err(error) = self.take(engine, methods, plan, step) {
                    self.failed(error);
                }
            }
        }
    }

    /// Takes the ends of messages. Returns whether all that were started are over.
    fn settle(&mut self, plan: &Plan, engine: &mut Engine) -> bool {
        while let Some(Outstanding { id, step }) = self.outstanding.get(self.settled) {
            match engine.requests.get(*id) {
                Some(request) if !complete::is_complete(request) => return false,
                _ => {}
            }
            let step = *step;
            if let Some(request) = engine.requests.remove(*id) {
                self.check(plan, step, request.status);
            }
            self.settled += 1;
        }
        self.outstanding.clear();
        self.settled = 0;
        true
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
                    synchronous: false,
                };
                if let Started::Request(id) = send::start(engine, methods, *to, &envelope, segment.clone())? {
                    self.outstanding.push(Outstanding { id, step: at });
                }
            }
            Step::Receive { from, segment } => {
                let pattern = Pattern { context: plan.context, source: *from as i32, tag: plan.tag };
                let id = recv::start(engine, methods, &pattern, segment.clone())?;
                self.outstanding.push(Outstanding { id, step: at });
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
                datatype::copy(&mut from.clone(), &mut to.clone());
            }
            Step::Fence => {}
        }
        Ok(())
    }

    /// Looks at the end of one message: it must have gone well and be exactly as long as planned.
    fn check(&mut self, plan: &Plan, step: usize, status: Status) {
        let Step::Receive { from, segment } = &plan.steps[step] else {
            if let Some(error) = status.error {
                self.failed(error);
            }
            return;
        };
        let error = match status.error {
            None if status.bytes == segment.len() => return,
            None => differ(plan, *from, status.bytes, segment.len(), ErrorClass::NotSame),
            Some(error) => match error.cause() {
                Cause::Truncated { sent, room } => differ(plan, *from, *sent, *room, ErrorClass::Truncate),
                _ => error,
            },
        };
        self.failed(error);
    }

    #[cold]
    fn failed(&mut self, error: Error) {
        self.error.get_or_insert(error);
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
