//! Writing schedules: what the algorithms of this room have in common.
//!
//! What must stay true: between two members the messages of one operation match in the order in which both sides
//! plan them, because they share one tag (MPI-5.0 §3.5).

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::buffer::{Base, OwnedBuf, UserBuf, device};
use crate::coll::board::{Board, Boards};
use crate::coll::choose::Reduce;
use crate::coll::label::{self, Function, Label};
use crate::coll::steps::{Plan, Step};
use crate::coll::{Schedule, Team, choose, recent, staged};
use crate::datatype::{Datatype, Segment};
use crate::error::{Error, Result};
use crate::ids::Peer;
use crate::op::Op;

/// A buffer argument: so many elements of a datatype.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// Where the first element lies.
    pub(crate) buf: UserBuf,
    /// Number of elements (per rank, where the operation has a block for each).
    pub(crate) count: u64,
    /// Their type.
    pub(crate) datatype: &'a Datatype,
}

/// A buffer argument with a block for each rank, of different lengths.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a> {
    /// What displacements count from.
    pub(crate) buf: UserBuf,
    /// Number of elements of each block.
    pub(crate) counts: &'a [u64],
    /// Place of each block, in extents of the datatype.
    pub(crate) displacements: &'a [i64],
    /// Type of the elements.
    pub(crate) datatype: &'a Datatype,
}

/// The buffer arguments of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct Reduced<'a, Count = u64> {
    /// Our operand; `None` for `MPI_IN_PLACE`.
    pub(crate) send: Option<UserBuf>,
    /// Where the result goes.
    pub(crate) recv: UserBuf,
    /// Number of elements, or of those of each rank's block.
    pub(crate) count: Count,
    /// Their type.
    pub(crate) datatype: &'a Datatype,
}

impl<'a, Count> Reduced<'a, Count> {
    /// Buffers of the program. `send` is `None` for `MPI_IN_PLACE`.
    pub fn at(send: Option<Base>, recv: Base, count: Count, datatype: &'a Datatype) -> Self {
        Self::new(send.map(Base::buf), recv.buf(), count, datatype)
    }

    /// See [`Reduced::at`].
    pub(crate) fn new(send: Option<UserBuf>, recv: UserBuf, count: Count, datatype: &'a Datatype) -> Self {
        Self { send, recv, count, datatype }
    }
}

/// Whether messages say what their types are, where they go straight from and to what the program describes. Each copy of this
/// code in a process has its own, and its engine says so when it begins.
static TYPED: AtomicBool = AtomicBool::new(false);

/// From now on the types of operands are checked, or not (`POSTHASTE_CHECK_TYPES`).
pub fn check_types(yes: bool) {
    // SYNC: nothing else is read on account of it.
    TYPED.store(yes, Ordering::Relaxed);
}

/// Whether they are.
#[inline]
fn checks_types() -> bool {
    TYPED.load(Ordering::Relaxed)
}

/// Elements in memory that the program has described.
#[inline]
pub(super) fn described(buf: UserBuf, count: u64, datatype: &Datatype) -> Segment {
    if checks_types() {
        return Segment::typed(buf, count, datatype);
    }
    Segment::new(buf, count, datatype)
}

impl<'a> Operand<'a> {
    /// An operand in the program's memory.
    pub fn at(base: Base, count: u64, datatype: &'a Datatype) -> Self {
        Self::new(base.buf(), count, datatype)
    }

    /// An operand.
    pub(crate) fn new(buf: UserBuf, count: u64, datatype: &'a Datatype) -> Self {
        Self { buf, count, datatype }
    }

    /// Packed bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.datatype.size())
    }

    /// All of it.
    pub(super) fn all(&self) -> Segment {
        described(self.buf, self.count, self.datatype)
    }

    /// Address of an element.
    pub(super) fn element(&self, element: u64) -> UserBuf {
        self.buf.offset((element as i64).wrapping_mul(self.datatype.extent()) as isize)
    }

    /// Some of its elements.
    pub(super) fn part(&self, first: u64, count: u64) -> Segment {
        described(self.element(first), count, self.datatype)
    }

    /// Block number `block` of those that follow each other.
    pub(super) fn block(&self, block: u32) -> Segment {
        self.blocks(block, 1)
    }

    /// The same as an operand.
    pub(super) fn at_block(self, block: u32) -> Self {
        Self { buf: self.element(u64::from(block).wrapping_mul(self.count)), ..self }
    }

    /// Several blocks.
    pub(super) fn blocks(&self, first: u32, blocks: u32) -> Segment {
        self.part(u64::from(first).wrapping_mul(self.count), u64::from(blocks).saturating_mul(self.count))
    }
}

impl<'a> Blocks<'a> {
    /// Blocks in the program's memory.
    pub fn at(base: Base, counts: &'a [u64], displacements: &'a [i64], datatype: &'a Datatype) -> Self {
        Self { buf: base.buf(), counts, displacements, datatype }
    }

    /// The block of a rank; lists that are too short have empty blocks at the end.
    pub(super) fn block(&self, rank: u32) -> Segment {
        self.at_block(rank).all()
    }

    /// The same as an operand.
    pub(super) fn at_block(&self, rank: u32) -> Operand<'a> {
        let (count, buf) = self.place(rank);
        Operand { buf, count, datatype: self.datatype }
    }

    /// A datatype of which one element is the blocks of some ranks that follow each other, from where displacements count.
    ///
    /// # Errors
    /// Blocks of which there is no datatype.
    pub(super) fn together(&self, first: u32, ranks: u32) -> Result<Datatype> {
        let of = first as usize..(first + ranks) as usize;
        let lengths: Vec<i64> = self.counts[of.clone()].iter().map(|count| *count as i64).collect();
        let extent = self.datatype.extent();
        let places: Vec<i64> =
            self.displacements[of].iter().map(|place| place.wrapping_mul(extent)).collect();
        Datatype::hindexed(&lengths, &places, self.datatype)
    }

    /// Length and address of the block of a rank.
    pub(super) fn place(&self, rank: u32) -> (u64, UserBuf) {
        let rank = rank as usize;
        let (Some(count), Some(displacement)) = (self.counts.get(rank), self.displacements.get(rank)) else {
            return (0, self.buf);
        };
        (*count, self.buf.offset(displacement.wrapping_mul(self.datatype.extent()) as isize))
    }
}

/// An operand that goes away in parts.
pub(super) struct Parts<'d> {
    own: Operand<'d>,
    /// Where it lies packed.
    board: Option<UserBuf>,
}

impl<'d> Parts<'d> {
    /// Of an operand where it is.
    pub(super) fn of(own: Operand<'d>) -> Self {
        Self { own, board: None }
    }

    /// Some of its elements.
    pub(super) fn part(&self, first: u64, count: u64) -> Segment {
        let size = self.own.datatype.size();
        match self.board {
            Some(board) => Segment::contiguous(board.offset((first * size) as isize), count * size),
            None => self.own.part(first, count),
        }
    }
}

/// A schedule being written.
pub(super) struct Draft<'a> {
    pub(super) team: &'a Team,
    plan: Box<Plan>,
    /// What tells the operation apart, as far as all members know it.
    label: Option<Label>,
    /// The members that ranks count now: neighbours, or these, with our place among them.
    run: Run,
    listed: Option<(Arc<[u32]>, u32)>,
    /// There is no memory for it.
    lacks: Option<Error>,
}

/// Neighbours among the members of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The first of them.
    pub(super) first: u32,
    /// How many there are.
    pub(super) size: u32,
}

impl<'a> Draft<'a> {
    /// An empty schedule of the team's next operation, with room for so many steps.
    #[inline]
    pub(super) fn new(team: &'a Team, function: Function, steps: usize) -> Self {
        let number = team.next_number();
        let label = Label::new(number, function);
        let draft = Self { label: Some(label), ..Self::with_tag(team, function.name(), steps, label.tag()) };
        if label::is_meeting(number) { draft.after_a_meeting() } else { draft }
    }

    /// The same behind a meeting of all members: see [`label`].
    #[cold]
    fn after_a_meeting(mut self) -> Self {
        self.plan.meets = true;
        self.label = None;
        self.meet(2);
        self.fence();
        self
    }

    /// Everybody waits for everybody: after round k everybody knows of the radix^k members before it, by messages from those at multiples
    /// of the distance before.
    pub(super) fn meet(&mut self, radix: u32) {
        let (me, n) = (self.me(), self.n());
        let nothing = || Segment::contiguous(UserBuf::none(), 0);
        let mut distance = 1;
        while distance < n {
            self.fence();
            for by in (1..radix).map(|turn| turn.saturating_mul(distance)).take_while(|by| *by < n) {
                self.send((me + by) % n, nothing());
                self.receive((me + n - by) % n, nothing());
            }
            distance = distance.saturating_mul(radix);
        }
    }

    /// The same under a name of its own for messages.
    pub(super) fn named(team: &'a Team, function: Function, name: &'static str, steps: usize) -> Self {
        let mut draft = Self::new(team, function, steps);
        draft.plan.name = name;
        draft
    }

    /// Says which member is the root; all have to say the same.
    #[inline]
    pub(super) fn rooted(&mut self, root: u32) {
        self.tell(|label| label.rooted(root));
        self.plan.root = Some(root);
    }

    /// Says which way the operation goes among those that depend on the bytes of a message; all have to go the same.
    #[inline]
    pub(super) fn going(&mut self, way: u32) {
        self.tell(|label| label.going(way));
    }

    /// Says more in the label. Who stands by knows neither root nor way, and meets the others all the same: a label of a meeting says
    /// neither.
    #[inline]
    fn tell(&mut self, more: impl FnOnce(Label) -> Label) {
        if let Some(label) = self.label.take() {
            let label = self.label.insert(more(label));
            self.plan.tag = label.tag();
        }
    }

    /// An empty schedule under a tag of its own.
    pub(super) fn with_tag(team: &'a Team, name: &'static str, steps: usize, tag: i32) -> Self {
        let spare = with_spare(|spare| spare.plans.pop()).flatten();
        let mut plan = spare.unwrap_or_else(|| Box::new(Plan::empty()));
        plan.steps.reserve(steps);
        plan.name = name;
        plan.context = team.context().collective();
        plan.rank = team.rank();
        if plan.group.as_ref().is_none_or(|group| !Arc::ptr_eq(group, team.group())) {
            plan.group = Some(team.group().clone());
        }
        plan.root = None;
        plan.meets = false;
        plan.tag = tag;
        let run = Run { first: 0, size: team.size() as u32 };
        Self { team, plan, label: None, run, listed: None, lacks: None }
    }

    /// From now on ranks count some members only, this process among them, as if they were a team of their own.
    pub(super) fn within(&mut self, run: Run) {
        self.run = run;
    }

    /// The same of any members, in the order of this list.
    pub(super) fn among(&mut self, members: &Arc<[u32]>) {
        let rank = self.team.rank() as u32;
        let place = members.iter().position(|member| *member == rank);
        debug_assert!(place.is_some(), "rank {rank} among {members:?}");
        self.listed = Some((members.clone(), place.unwrap_or(0) as u32));
    }

    /// From now on ranks count all members.
    pub(super) fn everywhere(&mut self) {
        self.listed = None;
        self.run = Run { first: 0, size: self.team.size() as u32 };
    }

    /// Our rank.
    pub(super) fn me(&self) -> u32 {
        match &self.listed {
            None => self.team.rank() as u32 - self.run.first,
            Some((_, place)) => *place,
        }
    }

    /// Number of members.
    pub(super) fn n(&self) -> u32 {
        match &self.listed {
            None => self.run.size,
            Some((members, _)) => members.len() as u32,
        }
    }

    /// The rank in the team of a member that is counted now.
    pub(super) fn rank(&self, member: u32) -> u32 {
        match &self.listed {
            None => self.run.first + member,
            Some((members, _)) => members[member as usize],
        }
    }

    pub(super) fn send(&mut self, to: u32, segment: Segment) {
        self.send_of(self.rank(to), segment);
    }

    /// As `send`, to a rank of the team.
    pub(super) fn send_of(&mut self, to: u32, segment: Segment) {
        self.send_to(self.team.peer(to), segment);
    }

    /// As `receive`, from a rank of the team.
    pub(super) fn receive_of(&mut self, from: u32, segment: Segment) {
        self.receive_from(self.team.peer(from), from, segment);
    }

    /// Plans what we do with each pair of others: whom we send to and whom we receive from, in an order that never has two members send
    /// to the same third at once, and with no more than a window of them under way.
    pub(super) fn with_all_others(&mut self, mut each: impl FnMut(&mut Self, u32, u32)) {
        let (me, n) = (self.me(), self.n());
        for distance in 1..n {
            each(self, (me + distance) % n, (me + n - distance) % n);
            if distance % choose::exchange_window() == 0 {
                self.fence();
            }
        }
    }

    /// Sends to a process that need not be a member.
    pub(super) fn send_to(&mut self, to: Peer, segment: Segment) {
        self.plan.steps.push(Step::Send { to, segment });
    }

    pub(super) fn receive(&mut self, from: u32, segment: Segment) {
        self.receive_of(self.rank(from), segment);
    }

    /// Receives from a process that need not be a member, but has this rank in its messages.
    pub(super) fn receive_from(&mut self, peer: Peer, from: u32, segment: Segment) {
        self.plan.steps.push(Step::Receive { from, peer, segment });
    }

    pub(super) fn fence(&mut self) {
        if !matches!(self.plan.steps.last(), None | Some(Step::Fence)) {
            self.plan.steps.push(Step::Fence);
        }
    }

    /// As a fence, for receives alone.
    pub(super) fn turn(&mut self) {
        if !matches!(self.plan.steps.last(), None | Some(Step::Fence | Step::Turn)) {
            self.plan.steps.push(Step::Turn);
        }
    }

    /// A turn behind the receive of a piece of data: twice, by which it is known ([`Plan::comes_in_pieces`]).
    pub(super) fn turn_behind_piece(&mut self) {
        if let Some(Step::Receive { .. }) = self.plan.steps.last() {
            self.plan.steps.extend([Step::Turn, Step::Turn]);
        }
        self.turn();
    }

    pub(super) fn copy(&mut self, from: Segment, to: Segment) {
        if !(from.is_empty() && to.is_empty()) {
            self.plan.steps.push(Step::Copy { from, to });
        }
    }

    /// Says what `combine` computes.
    pub(super) fn reduce_with(&mut self, op: &Op, datatype: &Datatype) -> Result<()> {
        op.check(datatype)?;
        self.plan.reduction = Some((op.clone(), datatype.clone()));
        Ok(())
    }

    /// How `n` members combine operands of so many bytes for one of them.
    pub(super) fn way_of_reduction(&self, n: u32, bytes: u64) -> Reduce {
        let is_predefined = self.plan.reduction.as_ref().is_some_and(|(op, _)| op.predefined().is_some());
        choose::reduce(n, bytes, self.team.cpus_that_combine(), is_predefined)
    }

    /// Whether it makes no difference in which order operands are combined.
    pub(super) fn commutes(&self) -> bool {
        self.plan.reduction.as_ref().is_some_and(|(op, _)| op.is_commutative())
    }

    /// Whether so many elements are combined where they arrive. This is no choice that members have to share: their messages are the
    /// same.
    pub(super) fn combines_on_arrival(&self, count: u64) -> bool {
        let Some((op, datatype)) = &self.plan.reduction else { return false };
        choose::is_combined_on_arrival(count.saturating_mul(datatype.size()))
            && !self.team.accord().checks_types
            && !self.team.accord().keeps_bits
            && op.on_arrival(datatype).is_some()
    }

    /// `result = what comes op right`, element by element as it comes. Nothing else reads or writes the result meanwhile.
    pub(super) fn receive_combining<'d>(&mut self, from: u32, mut right: Operand<'d>, result: Operand<'d>) {
        // Steps on device memory work in a mirror, which they name by their own segments.
        if right.buf != result.buf && device::is_registered() {
            self.copy(right.all(), result.all());
            right = result;
        }
        let Some((op, datatype)) = &self.plan.reduction else { return };
        if let Some(mut combination) = op.on_arrival(datatype) {
            if right.buf != result.buf {
                combination = combination.with_right(right.buf);
            }
            self.receive(from, Segment::combined(result.buf, result.count, combination.into()));
        }
    }

    /// `inout = input op inout`.
    pub(super) fn combine(&mut self, input: UserBuf, inout: UserBuf, count: u64) {
        if count > 0 {
            self.plan.steps.push(Step::Combine { input, inout, count });
        }
    }

    /// Combines `terms` and what lies in `into`, which is the term of the highest rank, in the order of the terms.
    pub(super) fn fold(&mut self, terms: &[UserBuf], into: UserBuf, count: u64) {
        for term in terms.iter().rev() {
            self.combine(*term, into, count);
        }
    }

    /// Memory for `arrays` arrays of `count` elements each; the operand's elements are those of one array.
    pub(super) fn temporary<'d>(&mut self, arrays: u64, count: u64, datatype: &'d Datatype) -> Arrays<'d> {
        // One array reaches from its lowest byte to its highest, rounded up to keep the alignment of the next.
        const ALIGN: i64 = 64;
        let reach = datatype.extent().saturating_mul(count.saturating_sub(1).min(i64::MAX as u64) as i64);
        let low = datatype.true_lb().saturating_add(reach.min(0));
        let high = datatype.true_lb().saturating_add(datatype.true_extent()).saturating_add(reach.max(0));
        let origin = low.div_euclid(ALIGN).saturating_mul(-ALIGN);
        let len = high.saturating_add(origin).max(0) as u64;
        let stride = len.checked_next_multiple_of(ALIGN as u64).unwrap_or(u64::MAX);
        let buf = self.bytes(stride.saturating_mul(arrays) as usize);
        Arrays { first: buf.offset(origin as isize), stride, count, datatype }
    }

    /// Memory for packed bytes. It holds anything.
    pub(super) fn bytes(&mut self, len: usize) -> UserBuf {
        let spare = with_spare(|spare| {
            let fits = |buf: &OwnedBuf| buf.len() >= len && buf.len() / 4 <= len.max(1024);
            spare.bufs.iter().position(fits).map(|at| spare.bufs.swap_remove(at))
        });
        let owned = spare.flatten().map_or_else(|| OwnedBuf::try_new(len.max(64)), Ok);
        let owned = match owned {
            Ok(owned) => owned,
            Err(why) => {
                self.lacks.get_or_insert(why);
                return OwnedBuf::new(0).user_buf();
            }
        };
        let buf = owned.user_buf();
        self.plan.temporaries.push(owned);
        buf
    }

    /// Data that goes to so many members, as it is or on a board.
    pub(super) fn for_several(&mut self, data: Segment, members: usize) -> Segment {
        match self.on_board(&data, |boards, bytes| boards.for_several(bytes, members)) {
            Some(there) => Segment::contiguous(there, data.len()),
            None => data,
        }
    }

    /// Sends data to one member: from a board, if there is one for it, so that we need not wait until it is copied.
    pub(super) fn send_and_leave(&mut self, to: u32, data: Segment) {
        let there = self.on_board(&data, Boards::for_one);
        let data = there.map_or_else(|| data.clone(), |there| Segment::contiguous(there, data.len()));
        self.send(to, data);
    }

    /// Where data lies on a board, if there is one for so many bytes.
    fn on_board(
        &mut self,
        data: &Segment,
        take: impl FnOnce(&Arc<Boards>, u64) -> Option<Board>,
    ) -> Option<UserBuf> {
        // What says its types says them with the memory that the program has described.
        let boards =
            self.team.boards().filter(|boards| !self.team.accord().checks_types && !boards.have(data))?;
        let board = take(boards, data.len())?;
        let there = board.base();
        self.copy(data.clone(), Segment::contiguous(there, data.len()));
        self.plan.boards.push(board);
        Some(there)
    }

    /// Our operand, of which parts with so many elements go away to be combined: as it is or on a board.
    pub(super) fn for_combining<'d>(
        &mut self,
        own: Operand<'d>,
        parts: impl Iterator<Item = u64>,
    ) -> Parts<'d> {
        let is_worth_it = choose::is_combined_from_board(self.n(), own.bytes(), self.team.cpus());
        let size = own.datatype.size();
        let messages = parts.map(|count| count.saturating_mul(size));
        let take = |boards: &Arc<Boards>, bytes| boards.for_combining(bytes, messages);
        let board = if is_worth_it { self.on_board(&own.all(), take) } else { None };
        Parts { own, board }
    }

    /// Keeps memory alive that the steps name.
    pub(super) fn keep_alive(&mut self, outcome: Arc<OwnedBuf>) {
        self.plan.outcome = Some(outcome);
    }

    /// The schedule.
    ///
    /// # Errors
    /// There is no memory for what it needs.
    pub(super) fn ended(mut self) -> Result<Schedule> {
        match self.lacks.take() {
            Some(why) => Err(why),
            None => Ok(self.done()),
        }
    }

    /// The schedule, where little memory is needed.
    pub(super) fn done(mut self) -> Schedule {
        if device::is_registered() {
            staged::stage(&mut self.plan);
        }
        Schedule(self.plan)
    }
}

/// Memory of plans that are over, for the next ones: an operation on few bytes shall not allocate.
#[derive(Default)]
#[allow(clippy::vec_box)] // a plan goes from here to a schedule and back without being moved
struct Spare {
    plans: Vec<Box<Plan>>,
    bufs: Vec<OwnedBuf>,
}

/// Most plans and buffers kept, most steps of a plan and longest buffer.
const SPARES: usize = 4;
const SPARE_STEPS: usize = 1024;
const SPARE_BYTES: usize = 4 << 20;

thread_local! {
    // Each copy of this code in a process has its own: memory for the next plan, from wherever the last one came.
    static SPARE: RefCell<Spare> = const {
        RefCell::new(Spare { plans: Vec::new(), bufs: Vec::new() })
    };
}

/// Takes a plan that is over: whole, if it may be needed again, or its memory. `failed`: it is not to be kept.
#[inline]
pub(super) fn recycle(plan: Box<Plan>, failed: bool) {
    if plan.recurs.is_none() || failed {
        return take_apart(plan);
    }
    if let Some(last) = recent::put_back(plan) {
        take_apart(last);
    }
}

fn take_apart(mut plan: Box<Plan>) {
    // What the program has put into an operation may plan something when it is dropped.
    drop(plan.reduction.take());
    with_spare(|spare| {
        plan.steps.clear();
        plan.recurs = None;
        plan.outcome = None;
        plan.boards.clear();
        plan.absent.clear();
        if plan.steps.capacity() > SPARE_STEPS {
            plan.steps = Vec::new();
        }
        for buf in plan.temporaries.drain(..).filter(|buf| buf.len() <= SPARE_BYTES) {
            if spare.bufs.len() >= SPARES {
                spare.bufs.remove(0);
            }
            spare.bufs.push(buf);
        }
        if spare.plans.len() < SPARES {
            spare.plans.push(plan);
        }
    });
}

/// Shows the spare memory of this thread; a thread that is ending has none.
fn with_spare<T>(look: impl FnOnce(&mut Spare) -> T) -> Option<T> {
    SPARE.try_with(|spare| look(&mut spare.borrow_mut())).ok()
}

/// Temporary arrays of one length, one behind the other.
#[derive(Clone, Copy)]
pub(super) struct Arrays<'d> {
    first: UserBuf,
    stride: u64,
    count: u64,
    datatype: &'d Datatype,
}

impl<'d> Arrays<'d> {
    pub(super) fn get(&self, index: u64) -> Operand<'d> {
        let buf = self.first.offset(self.stride.wrapping_mul(index) as isize);
        Operand { buf, count: self.count, datatype: self.datatype }
    }
}

/// Where block `index` of `blocks` nearly equal ones begins among `count` elements.
pub(super) fn split(count: u64, index: u32, blocks: u32) -> u64 {
    let (index, blocks) = (u64::from(index), u64::from(blocks.max(1)));
    count / blocks * index + (count % blocks).min(index)
}
