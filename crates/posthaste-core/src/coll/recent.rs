//! Plans of calls that come again: a program repeats few calls, with the same buffers or with others.
//!
//! What must stay true: a plan serves another call only if making it anew would give the same one. So what is not the same is where
//! buffers lie, at most; and a plan moves to other buffers only if all that its steps name of the program is known to lie in runs
//! behind the beginnings of the old ones, and the new ones are apart as well.

use std::cell::RefCell;

use crate::buffer::{Base, OwnedBuf, UserBuf, device};
use crate::coll::label::{self, Label};
use crate::coll::steps::{Plan, Step};
use crate::coll::{Schedule, Team};

/// Most plans that a thread keeps, most steps of one and bytes that it may hold.
const MOST: usize = 16;
const MOST_STEPS: usize = 64;
const MOST_BYTES: usize = 64 << 10;

thread_local! {
    /// The one that ended last is at the end.
    // Each copy of this code in a process has its own: a plan comes back to the thread that made it.
    #[allow(clippy::vec_box)] // a plan goes from here to a schedule and back without being moved
    static RECENT: RefCell<Vec<Box<Plan>>> = const { RefCell::new(Vec::new()) };
}

/// Buffers of a call whose places may differ from those of another; null where there is none.
type Buffers = [UserBuf; Call::BUFFERS];

/// A call of a collective operation, told from all others of this process by its team, its name, what else it says and where its
/// buffers lie. It names objects by numbers, so it is made of calls only whose objects never change: counts, ranks and what
/// is predefined.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    words: [u64; 2 + Self::ARGUMENTS],
    buffers: Buffers,
}

impl Call {
    /// Most arguments besides the communicator and buffers.
    pub const ARGUMENTS: usize = 6;
    /// Most buffers.
    pub const BUFFERS: usize = 2;

    /// The call of the operation `name` with these arguments, and with buffers that this process gives data from or gets data in.
    #[inline]
    pub fn new(
        team: &Team,
        name: &'static str,
        arguments: [u64; Self::ARGUMENTS],
        buffers: [Option<Base>; Self::BUFFERS],
    ) -> Self {
        let [a, b, c, d, e, f] = arguments;
        let name = name.as_ptr().addr() as u64 ^ (name.len() as u64) << 56;
        let words = [team.serial(), name, a, b, c, d, e, f];
        Self { words, buffers: buffers.map(|buffer| buffer.map_or(UserBuf::none(), Base::buf)) }
    }

    /// Whether another one differs in its buffers at most. Most that differ have another name; the other words all at once: to
    /// stop at the first that differs takes longer, and so does a call of the C library's.
    #[inline]
    fn is_like(&self, other: &Self) -> bool {
        const NAME: usize = 1;
        self.words[NAME] == other.words[NAME]
            && self.words.iter().zip(&other.words).fold(0, |differ, (ours, theirs)| differ | (ours ^ theirs))
                == 0
    }

    /// The schedule that this thread made for such a call before, if it still has it.
    #[inline]
    pub fn again(&self, team: &Team) -> Option<Schedule> {
        if label::is_meeting(team.upcoming_number()) {
            return None;
        }
        let mut plan = with_recent(|recent| {
            let serves = |plan: &Plan| plan.recurs.as_ref().is_some_and(|recurs| recurs.serves(self));
            let at = recent.iter().rposition(|plan| serves(plan))?;
            Some(recent.remove(at))
        })??;
        plan.tag = Label::renumbered(plan.tag, team.next_number());
        if let Some(recurs) = &mut plan.recurs
            && recurs.call.buffers != self.buffers
        {
            recurs.go_to(self.buffers, &mut plan.steps);
        }
        Some(Schedule(plan))
    }

    /// Lets the thread in which it ends keep the schedule of this call for the next one.
    #[must_use]
    pub fn keeping(self, mut schedule: Schedule) -> Schedule {
        let plan = &mut *schedule.0;
        let bytes: usize = plan.temporaries.iter().map(OwnedBuf::len).sum();
        let is_small = plan.steps.len() <= MOST_STEPS && bytes <= MOST_BYTES && plan.boards.is_empty();
        // What lies on a device today may lie elsewhere tomorrow.
        if is_small && !plan.meets && !device::is_registered() {
            let beside = plan
                .steps
                .iter()
                .any(|step| matches!(step, Step::Receive { segment, .. } if segment.right().is_some()));
            plan.recurs = Some(Recurring { call: self, reach: reach(plan, &self.buffers), beside });
        }
        schedule
    }
}

/// The call of a plan that is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recurring {
    call: Call,
    /// How many bytes behind the beginning of each buffer the steps name; `None`: they serve these buffers alone.
    reach: Option<[usize; Call::BUFFERS]>,
    /// Some right operands of what is combined lie elsewhere than the results.
    beside: bool,
}

impl Recurring {
    #[inline]
    fn serves(&self, call: &Call) -> bool {
        self.call.is_like(call) && (self.call.buffers == call.buffers || self.can_go_to(&call.buffers))
    }

    /// Buffers that are not apart are refused by whoever makes a plan.
    #[inline]
    fn can_go_to(&self, buffers: &Buffers) -> bool {
        let Some(reach) = self.reach.filter(|_| !device::is_registered()) else { return false };
        are_apart(buffers, reach)
    }

    fn go_to(&mut self, buffers: Buffers, steps: &mut [Step]) {
        let [first, second] = std::mem::replace(&mut self.call.buffers, buffers).map(UserBuf::address);
        let [near, far] = self.reach.unwrap_or_default();
        let moved = |place: UserBuf| {
            let (behind_first, behind_second) =
                (place.address().wrapping_sub(first), place.address().wrapping_sub(second));
            if behind_first < near {
                buffers[0].offset(behind_first as isize)
            } else if behind_second < far {
                buffers[1].offset(behind_second as isize)
            } else {
                place
            }
        };
        if self.beside {
            for step in &mut *steps {
                if let Step::Receive { segment, .. } = step {
                    segment.move_right(moved);
                }
            }
        }
        for step in steps {
            match step {
                Step::Send { segment, .. } | Step::Receive { segment, .. } => segment.move_by(moved),
                Step::Copy { from, to } => {
                    from.move_by(moved);
                    to.move_by(moved);
                }
                Step::Combine { input, inout, .. } => {
                    *input = moved(*input);
                    *inout = moved(*inout);
                }
                Step::Fence | Step::Turn | Step::Stage { .. } => {}
            }
        }
    }
}

#[inline]
fn are_apart(buffers: &Buffers, reach: [usize; Call::BUFFERS]) -> bool {
    let [first, second] = buffers.map(UserBuf::address);
    first.saturating_add(reach[0]) <= second || second.saturating_add(reach[1]) <= first
}

/// How far the steps of a plan reach behind the beginnings of its buffers, if all that they name of the program are few bytes in runs
/// behind those.
fn reach(plan: &Plan, buffers: &Buffers) -> Option<[usize; Call::BUFFERS]> {
    let mut reach = [0; Call::BUFFERS];
    let is_ours = |place: UserBuf| {
        let behind = |memory: &OwnedBuf| place.address().wrapping_sub(memory.user_buf().address());
        plan.temporaries.iter().any(|memory| behind(memory) < memory.len())
    };
    // Behind which beginning: the nearest one, because the buffers are apart.
    let mut name = |place: UserBuf, len: usize| {
        if len == 0 || is_ours(place) {
            return Some(());
        }
        let behind = |buffer: &UserBuf| place.address().checked_sub(buffer.address());
        let all = buffers.iter().enumerate().filter(|(_, buffer)| **buffer != UserBuf::none());
        let (at, behind) =
            all.filter_map(|(at, buffer)| Some((at, behind(buffer)?))).min_by_key(|(_, behind)| *behind)?;
        reach[at] = behind.checked_add(len)?.max(reach[at]);
        Some(())
    };
    let size = plan.reduction.as_ref().map_or(0, |(_, datatype)| datatype.extent().unsigned_abs() as usize);
    for step in &plan.steps {
        match step {
            Step::Send { segment, .. } | Step::Receive { segment, .. } => {
                for (place, len) in [segment.place()?].into_iter().chain(segment.right()) {
                    name(place, len as usize)?;
                }
            }
            Step::Copy { from, to } => {
                for (place, len) in [from.place()?, to.place()?] {
                    name(place, len as usize)?;
                }
            }
            Step::Combine { input, inout, count } => {
                let len = (*count as usize).checked_mul(size)?;
                name(*input, len)?;
                name(*inout, len)?;
            }
            Step::Fence | Step::Turn => {}
            Step::Stage { .. } => return None,
        }
    }
    (are_apart(buffers, reach) && reach.iter().all(|reach| *reach <= MOST_BYTES)).then_some(reach)
}

/// Takes a plan that may be needed again; gives one for which there is no room any more.
pub(super) fn put_back(plan: Box<Plan>) -> Option<Box<Plan>> {
    let last = with_recent(|recent| {
        let last = (recent.len() == MOST).then(|| recent.remove(0));
        recent.push(plan);
        last
    });
    last.flatten()
}

/// Shows the plans of this thread; a thread that is ending has none.
fn with_recent<T>(look: impl FnOnce(&mut Vec<Box<Plan>>) -> T) -> Option<T> {
    RECENT.try_with(|recent| look(&mut recent.borrow_mut())).ok()
}
