//! Schedules: a collective operation as a list of steps, and the place where steps are taken.
//!
//! The plans of this room make schedules.
//!
//! Steps are taken in order without waiting, up to the next fence; a fence waits for every message started since
//! the one before. So everything between two fences is under way at the same time. A turn waits for receives alone, which is enough for
//! what reads what has come. Nothing here blocks.
//!
//! A schedule is started, and then progress advances it; or a blocking call walks through it: then receives are
//! not posted but looked for where the message arrives. It begins on the straight way ([`straight`](super::straight)), which
//! short operations do not leave.
//!
//! What must stay true: a plan never changes while it runs, and owns or borrows all memory that its steps name,
//! so it can be started again (persistent operations) once it is over. A step that fails does not stop the
//! others: the peers wait for our messages, and would hang without them. The first error ends up in the status.

use std::ops::Deref;
use std::sync::Arc;

use crate::coll::abandoned::{Abandoned, Why};
use crate::coll::behind::Behind;
use crate::coll::board::Board;
use crate::coll::label::Label;
use crate::coll::place::{Lists, Place, Receives};
use crate::coll::steps::Plan;
use crate::coll::straight::{Leads, Straight};
use crate::coll::{plan, stray};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::{ContextId, RequestId};
use crate::method::Methods;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::{Engine, recv};
use crate::request::{Request, State, Status};

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
    /// The same, with boards that this run alone has; steps name memory of the other plan, too.
    Lent(Box<Plan>, #[allow(dead_code)] Arc<Schedule>), // kept, not looked at
}

impl Deref for PlanRef {
    type Target = Plan;
    #[inline]
    fn deref(&self) -> &Plan {
        match self {
            Self::Owned(plan) | Self::Lent(plan, _) => plan,
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
        self.0.leave_boards();
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
    /// It is started again and again, and the number is that of the call that made it.
    pub again: bool,
    /// The root's rank.
    pub root: Option<u32>,
    /// The messages that it waits for now.
    pub under_way: Vec<RequestId>,
}

/// A schedule under way.
#[derive(Debug)]
struct Active {
    id: RequestId,
    plan: PlanRef,
    place: Place,
}

/// A schedule that a blocking call walks through.
#[derive(Debug)]
pub struct Walk {
    plan: PlanRef,
    way: Way,
}

/// How far a walk has come.
#[derive(Debug)]
enum Way {
    /// Where nothing is out of the ordinary.
    Straight(Straight),
    /// Anywhere.
    Bent(Place),
}

/// Collective operations under way.
#[derive(Debug, Default)]
pub struct Running {
    active: Vec<Active>,
    /// The engine's counts of ended requests and of unexpected messages when we last looked.
    seen: (u64, u64),
    /// Memory of lists used before.
    spare: Vec<Lists>,
    abandoned: Abandoned,
    /// Messages of operations that are over.
    behind: Behind,
}

impl Running {
    /// Whether nothing is under way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Whether there is something that messages may come for.
    #[inline]
    pub fn has_to_look(&self) -> bool {
        !self.active.is_empty() || !self.abandoned.is_empty() || !self.behind.is_empty()
    }

    /// Whether others have everything of what is over.
    #[inline]
    pub fn has_left(&self) -> bool {
        self.behind.is_empty()
    }

    /// What a request under way is.
    pub fn about(&self, id: RequestId) -> Option<About> {
        let Active { plan, place, .. } = self.active.iter().find(|active| active.id == id)?;
        let under_way = place.under_way().collect();
        let (number, again) = Label::operation(plan.tag).unzip();
        let again = again.unwrap_or(false);
        Some(About { name: plan.name, context: plan.context, number, again, root: plan.root, under_way })
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
        let (place, plan) = (Place::new(self.lists()), PlanRef::Owned(schedule.0));
        self.begin(engine, methods, plan, place)
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
        let mut place = Place::new(self.lists());
        let Plan { context, tag, name, .. } = &*schedule.0;
        match self.abandoned.why(*context, *tag) {
            Some(Why::Loss) => place.fails_again(name, *tag),
            Some(Why::Told) => self.abandoned.forget(*context, *tag),
            None => {}
        }
        let plan = match schedule.0.absent.is_empty() {
            true => PlanRef::Shared(schedule.clone()),
            false => PlanRef::Lent(schedule.0.lent(), schedule.clone()),
        };
        self.begin(engine, methods, plan, place)
    }

    /// Takes over a walk, which from now on goes on with progress.
    ///
    /// # Errors
    /// When the table of requests is full.
    pub fn go_on(&mut self, engine: &mut Engine, methods: &mut Methods, walk: Walk) -> Result<RequestId> {
        let Walk { plan, way } = walk;
        let id = request(engine, &plan)?; // before anything is posted, which has to stay where it is
        let place = match way {
            Way::Straight(straight) => self.bend(engine, methods, &plan, straight, Receives::Posted),
            Way::Bent(place) => place,
        };
        self.set_out(engine, methods, Active { id, plan, place });
        Ok(id)
    }

    /// Whether no other operation of the communicator of this plan is under way, but that at `own`, and none was given up. Asked for only
    /// where messages lie that nobody has asked for.
    fn has_alone(&self, engine: &Engine, plan: &Plan, own: Option<usize>) -> bool {
        engine.matching.has_early()
            && self.abandoned.is_empty()
            && !(0..)
                .zip(&self.active)
                .any(|(at, other)| other.plan.context == plan.context && Some(at) != own)
    }

    fn begin(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        plan: PlanRef,
        place: Place,
    ) -> Result<RequestId> {
        let id = request(engine, &plan)?;
        self.set_out(engine, methods, Active { id, plan, place });
        Ok(id)
    }

    /// Takes a schedule, which from now on goes on with progress; it may be over when this returns.
    fn set_out(&mut self, engine: &mut Engine, methods: &mut Methods, mut active: Active) {
        active.place.is_now(self.has_alone(engine, &active.plan, None));
        if active.place.go(&active.plan, engine, methods, Receives::Posted) {
            self.end(engine, methods, active);
        } else {
            self.active.push(active);
        }
    }

    /// The place where a straight way bends, with all that its last group has begun.
    #[cold]
    #[inline(never)]
    fn bend(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        plan: &Plan,
        straight: Straight,
        receives: Receives,
    ) -> Place {
        Place::behind_straight(self.lists(), straight.end(), plan, (engine, methods), receives)
    }

    /// Takes the end of a walk.
    ///
    /// # Errors
    /// What went wrong with one of its messages; other ranks have called other operations, or with other roots.
    #[inline(always)]
    pub fn over(&mut self, engine: &mut Engine, methods: &mut Methods, walk: Walk) -> Result<()> {
        let Walk { plan, way } = walk;
        let place = match way {
            Way::Straight(straight) => {
                if self.abandoned.is_empty() && !engine.matching.has_early() && straight.is_well() {
                    plan.recycle(false);
                    return Ok(());
                }
                self.bend(engine, methods, &plan, straight, Receives::Posted)
            }
            Way::Bent(place) => place,
        };
        self.close(engine, methods, plan, place)
    }

    /// The same of any schedule.
    #[inline(never)]
    fn close(
        &mut self,
        engine: &mut Engine,
        methods: &mut Methods,
        mut plan: PlanRef,
        place: Place,
    ) -> Result<()> {
        if place.under_way().len() > 0 {
            self.behind.add(plan.take_boards(), place.under_way());
        }
        let (lists, mut error, told) = place.over();
        // After a loss more may come than this run has asked for: from who has not heard of it yet.
        if error.as_ref().is_some_and(|error| error.class() == ErrorClass::ProcAborted) {
            self.abandoned.add(&plan, Why::Loss);
        } else if told {
            self.abandoned.add(&plan, Why::Told);
        }
        if !self.abandoned.is_empty() {
            self.abandoned.drop_late(engine, methods, Some(&plan));
        }
        if engine.matching.has_early() && (error.is_none() || told) {
            // Who has been told that ranks do not do the same need not hear it again of what lies here.
            error = error.or(self.left_over(engine, methods, &plan));
        }
        self.spare.push(lists);
        plan.recycle(error.is_some());
        error.map_or(Ok(()), Err)
    }

    fn lists(&mut self) -> Lists {
        self.spare.pop().unwrap_or_default()
    }

    /// What is wrong if messages of operations that are over lie here.
    #[cold]
    fn left_over(&self, engine: &mut Engine, methods: &mut Methods, plan: &Plan) -> Option<Error> {
        // What is under way may still ask for them.
        if self.active.iter().any(|active| active.plan.context == plan.context) {
            return None;
        }
        let strays = stray::left_over(engine, plan);
        for id in stray::drop_all(engine, methods, &strays) {
            recv::detach(engine, id);
        }
        // What others have given up has gone well here, and so has what they lack.
        let has_gone_well =
            |stray: &&Pattern| Label::gives_up(stray.tag) || Label::lacks(stray.tag).is_some();
        let first = strays.iter().find(|stray| !has_gone_well(stray))?;
        Some(stray::mismatch(engine, plan, first))
    }

    fn end(&mut self, engine: &mut Engine, methods: &mut Methods, Active { id, plan, place }: Active) {
        let error = self.close(engine, methods, plan, place).err();
        engine.complete(id, Status { error, ..Status::EMPTY });
    }
}

/// The request of an operation. It may go beyond the limit, because the peers count on us.
fn request(engine: &mut Engine, plan: &Plan) -> Result<RequestId> {
    engine.requests.reserve(true);
    let inserted = engine.requests.insert(Request::new(State::Schedule(plan.context)));
    engine.requests.reserve(false);
    inserted
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
    if !running.abandoned.is_empty() && engine.matching.has_early() {
        running.abandoned.drop_late(engine, methods, None);
    }
    if !running.behind.is_empty() {
        busy |= running.behind.settle(engine);
    }
    let mut at = 0;
    while at < running.active.len() {
        let is_alone = running.has_alone(engine, &running.active[at].plan, Some(at));
        let Active { plan, place, .. } = &mut running.active[at];
        place.is_now(is_alone);
        let before = place.reached();
        if place.go(plan, engine, methods, Receives::Posted) {
            let active = running.active.remove(at);
            running.end(engine, methods, active);
            busy = true;
        } else {
            busy |= before != place.reached();
            at += 1;
        }
    }
    busy
}

impl PlanRef {
    /// The boards of this run.
    fn take_boards(&mut self) -> Vec<Board> {
        match self {
            Self::Owned(plan) | Self::Lent(plan, _) => std::mem::take(&mut plan.boards),
            Self::Shared(_) => Vec::new(),
        }
    }

    /// The plan is over. `failed`: it is not to be kept.
    #[inline(always)]
    fn recycle(self, failed: bool) {
        if let Self::Owned(plan) = self {
            plan::recycle(plan, failed);
        }
    }
}

impl Walk {
    /// Begins to walk through an operation.
    #[inline(always)]
    pub fn new(schedule: Schedule) -> Self {
        Self { plan: PlanRef::Owned(schedule.0), way: Way::Straight(Straight::default()) }
    }

    /// Takes steps as far as possible and looks once for what they wait for, in the packets that arrive next: no
    /// receive is posted as long as that goes well. Returns true at the end.
    #[inline(always)]
    pub fn look(&mut self, engine: &mut Engine, methods: &mut Methods, running: &mut Running) -> bool {
        if let Way::Straight(straight) = &mut self.way {
            match straight.go(&self.plan, engine, methods) {
                Leads::Over => return true,
                Leads::Waits => return false,
                Leads::Bends => self.bend(engine, methods, running),
            }
        }
        match &mut self.way {
            Way::Straight(_) => false,
            Way::Bent(place) => {
                place.is_now(running.has_alone(engine, &self.plan, None));
                place.go(&self.plan, engine, methods, Receives::LookedFor)
            }
        }
    }

    /// Whether it is still on the straight way.
    #[cfg(test)]
    pub(super) fn is_straight(&self) -> bool {
        matches!(self.way, Way::Straight(_))
    }

    /// Leaves the straight way.
    #[cold]
    #[inline(never)]
    pub(super) fn bend(&mut self, engine: &mut Engine, methods: &mut Methods, running: &mut Running) {
        if let Way::Straight(straight) = &mut self.way {
            let straight = std::mem::take(straight);
            let place = running.bend(engine, methods, &self.plan, straight, Receives::LookedFor);
            self.way = Way::Bent(place);
        }
    }
}
