//! Reductions to one member and to all, and those that leave a block with each (MPI-5.0 §6.9 to §6.10).
//!
//! What must stay true: operands are combined with `inout = input op inout`, so the running value is always the right operand. What
//! need not commute is combined in the order of ranks, from the highest down, in place. The order is never that of arrival: the same
//! call gives the same bits.
//!
//! Long operands of a predefined operation have no memory of their own at the receiver: each is combined where it arrives, out of the
//! packet or the bounce buffer, when the one before it has been.

use crate::buffer::UserBuf;
use crate::coll::choose::{self, Allreduce, Cpus, Reduce, ReduceScatter};
use crate::coll::label::Function;
use crate::coll::levels::Levels;
use crate::coll::plan::{Draft, Operand, Parts, Reduced, split};
use crate::coll::{Schedule, Team, bcast, tree};
use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result};
use crate::op::Op;

/// The root gets the combination of all operands. `send` is `None` for `MPI_IN_PLACE`, which only the root may
/// say; `recv` is used at the root only.
///
/// # Errors
/// A root that is no rank; an operation that the type does not have; `MPI_IN_PLACE` elsewhere than at the root.
pub fn reduce(
    team: &Team,
    Reduced { send, recv, count, datatype }: Reduced<'_>,
    op: &Op,
    root: i32,
) -> Result<Schedule> {
    let root = team.root(root)?;
    let is_root = team.rank() as u32 == root;
    let mut draft = Draft::new(team, Function::Reduce, 12);
    draft.rooted(root);
    draft.reduce_with(op, datatype)?;
    let own = match send {
        Some(send) => send,
        None if is_root => recv,
        None => return Err(in_place_elsewhere(team.rank(), root)),
    };
    let own = Operand { buf: own, count, datatype };
    if op.is_commutative()
        && !team.accord().keeps_bits
        && let Some(levels) = Levels::of(team, root)
    {
        levels.reduce(&mut draft, own, recv, is_root);
        return draft.ended();
    }
    let way = draft.way_of_reduction(draft.n(), own.bytes());
    draft.going(way.number());
    if root != 0 && !op.is_commutative() && matches!(way, Reduce::Tree(_)) {
        // Going round from the root would change the order.
        let result = if draft.me() == 0 { draft.temporary(1, count, datatype).get(0).buf } else { recv };
        onto(&mut draft, own, result, 0);
        draft.fence();
        if draft.me() == 0 {
            draft.send(root, Operand { buf: result, ..own }.all());
        } else if is_root {
            draft.receive(0, Operand { buf: recv, ..own }.all());
        }
    } else {
        onto(&mut draft, own, recv, root);
    }
    draft.ended()
}

/// The combination at `root`, whose result goes to `recv` (which may be `own`). Not in the order of ranks where a tree does not stand on
/// the first of them.
pub(super) fn onto(draft: &mut Draft<'_>, own: Operand<'_>, recv: UserBuf, root: u32) {
    let (me, n) = (draft.me(), draft.n());
    let owners = match draft.way_of_reduction(n, own.bytes()) {
        Reduce::Tree(radix) => return by_tree(draft, own, recv, root, radix),
        Reduce::Blocks(owners) => owners,
    };
    let owned = Owned { count: own.count, first: root, owners, n };
    let (first, mine) = owned.place(me);
    // Elsewhere than at the root, what is sent to the root lies in a temporary.
    let result = match me == root {
        true => Operand { buf: recv, ..own }.element(first),
        false => draft.temporary(1, mine, own.datatype).get(0).buf,
    };
    combine_block(draft, own, |rank| owned.block(rank), result, me == root && own.buf == recv);
    draft.fence();
    if me == root {
        for (rank, (first, len)) in owned.blocks().filter(|(rank, _)| *rank != root) {
            draft.receive(rank, Operand { buf: recv, ..own }.part(first, len));
        }
    } else if owned.block(me).is_some() {
        draft.send(root, Operand { buf: result, count: mine, datatype: own.datatype }.all());
    }
}

/// Everybody gets the combination of all operands. `send` is `None` for `MPI_IN_PLACE`.
///
/// # Errors
/// An operation that the type does not have.
pub fn allreduce(team: &Team, reduced: Reduced<'_>, op: &Op) -> Result<Schedule> {
    to_all(Draft::new(team, Function::Allreduce, 12), reduced, op)
}

/// As [`allreduce`], in a schedule that is empty yet.
pub(super) fn to_all(
    mut draft: Draft<'_>,
    Reduced { send, recv, count, datatype }: Reduced<'_>,
    op: &Op,
) -> Result<Schedule> {
    draft.reduce_with(op, datatype)?;
    let result = Operand { buf: recv, count, datatype };
    let own = Operand { buf: send.unwrap_or(recv), ..result };
    if draft.n() == 1 {
        copy_unless_same(&mut draft, own, result);
        return draft.ended();
    }
    if let Some(levels) = Levels::of(draft.team, 0)
        && !draft.team.accord().keeps_bits
        && levels.are_for_all(&draft)
        && (op.is_commutative() || levels.are_runs())
    {
        levels.allreduce(&mut draft, own, result);
        return draft.ended();
    }
    let way = match draft.team.cpus_that_combine() {
        Cpus::Own if draft.team.is_apart() && !draft.team.accord().keeps_bits => {
            choose::allreduce_of_nodes(draft.n(), own.bytes(), false)
        }
        cpus => choose::allreduce(draft.n(), own.bytes(), cpus),
    };
    draft.going(way.number());
    match way {
        Allreduce::Tree(radix) => {
            by_tree(&mut draft, own, recv, 0, radix);
            // A member's operand has left it before the result comes, so in place both may be planned at once.
            bcast::by_tree(&mut draft, &result.all(), 0, radix);
        }
        Allreduce::Multiplying(radix) => by_multiplying(&mut draft, own, result, radix),
        Allreduce::Blocks(owners) => by_blocks_to_all(&mut draft, own, result, owners, |_, _| ()),
    }
    draft.ended()
}

/// So many members combine a block each, do `more` with it, and give it to all.
pub(super) fn by_blocks_to_all<'d>(
    draft: &mut Draft<'_>,
    own: Operand<'d>,
    result: Operand<'d>,
    owners: u32,
    more: impl FnOnce(&mut Draft<'_>, Operand<'d>),
) {
    let (me, n) = (draft.me(), draft.n());
    let owned = Owned { count: own.count, first: 0, owners, n };
    let (first, mine) = owned.place(me);
    let owns = owned.block(me).is_some();
    combine_block(draft, own, |rank| owned.block(rank), result.element(first), own.buf == result.buf);
    // Who owns nothing gets nothing before its own operand has left it.
    if owns {
        draft.fence();
        more(draft, Operand { count: mine, buf: result.element(first), ..result });
    }
    let block = owns.then(|| draft.for_several(result.part(first, mine), n as usize - 1));
    for distance in 1..n {
        let (to, from) = ((me + distance) % n, (me + n - distance) % n);
        if let Some(block) = &block {
            draft.send(to, block.clone());
        }
        if let Some((first, len)) = owned.block(from) {
            draft.receive(from, result.part(first, len));
        }
    }
}

/// Everybody gets its block of the combination; the blocks have `counts` elements. `send` is `None` for
/// `MPI_IN_PLACE`.
///
/// # Errors
/// An operation that the type does not have; a list of counts that is not as long as there are ranks.
pub fn reduce_scatter(
    team: &Team,
    Reduced { send, recv, count: counts, datatype }: Reduced<'_, &[u64]>,
    op: &Op,
) -> Result<Schedule> {
    if counts.len() != team.size() as usize {
        let expected = format_args!("one count for each of {} ranks", team.size());
        return Err(Error::invalid(ErrorClass::Count, "recvcounts", counts.len(), expected));
    }
    let mut firsts = Vec::with_capacity(counts.len());
    let all = counts.iter().fold(0u64, |first, count| {
        firsts.push(first);
        first.saturating_add(*count)
    });
    let place = |rank: u32| (firsts[rank as usize], counts[rank as usize]);
    scattered(team, Function::ReduceScatter, send, recv, all, place, datatype, op)
}

/// [`reduce_scatter`] with blocks of one length.
///
/// # Errors
/// An operation that the type does not have.
pub fn reduce_scatter_block(
    team: &Team,
    Reduced { send, recv, count, datatype }: Reduced<'_>,
    op: &Op,
) -> Result<Schedule> {
    let place = |rank: u32| (u64::from(rank).saturating_mul(count), count);
    let all = count.saturating_mul(team.size() as u64);
    scattered(team, Function::ReduceScatterBlock, send, recv, all, place, datatype, op)
}

#[allow(clippy::too_many_arguments)] // the arguments of the operation itself
fn scattered(
    team: &Team,
    function: Function,
    send: Option<UserBuf>,
    recv: UserBuf,
    all: u64,
    place: impl Fn(u32) -> (u64, u64),
    datatype: &Datatype,
    op: &Op,
) -> Result<Schedule> {
    let mut draft = Draft::new(team, function, 3 * team.size() as usize);
    draft.reduce_with(op, datatype)?;
    let own = Operand { buf: send.unwrap_or(recv), count: all, datatype };
    if !team.accord().keeps_bits
        && let Some(levels) = Levels::of(team, 0)
        && levels.gather_blocks_of(own.bytes() / u64::from(draft.n()))
    {
        levels.reduce_scatter(&mut draft, own, recv, place);
        return draft.ended();
    }
    let block = own.bytes() / u64::from(draft.n());
    match choose::reduce_scatter(draft.n(), block, team.cpus_that_combine()) {
        ReduceScatter::ThroughOne => scattered_by_one(&mut draft, own, recv, place),
        ReduceScatter::Direct => {
            combine_block(&mut draft, own, |rank| Some(place(rank)), recv, send.is_none());
        }
    }
    draft.ended()
}

/// The first member combines all operands, and gives everybody its block of the result.
fn scattered_by_one(
    draft: &mut Draft<'_>,
    own: Operand<'_>,
    recv: UserBuf,
    place: impl Fn(u32) -> (u64, u64),
) {
    draft.going(2); // others are that of all exchanges and two levels
    let me = draft.me();
    let (_, count) = place(me);
    let mine = Operand { buf: recv, count, ..own };
    let all = if me == 0 { draft.temporary(1, own.count, own.datatype).get(0) } else { own };
    by_tree(draft, own, all.buf, 0, draft.team.combining_radix());
    // In place the result takes the place of what has left.
    draft.fence();
    if me > 0 {
        return draft.receive(0, mine.all());
    }
    let of_member = |member: u32| {
        let (first, count) = place(member);
        all.part(first, count)
    };
    for member in 1..draft.n() {
        draft.send(member, of_member(member));
    }
    draft.copy(of_member(0), mine.all());
}

/// Up a tree to `root`, whose result goes to `result` (which may be `own`).
pub(super) fn by_tree(draft: &mut Draft<'_>, own: Operand<'_>, result: UserBuf, root: u32, radix: u32) {
    let n = draft.n();
    let node = tree::place((draft.me() + n - root) % n, n, radix);
    let parent = node.parent.map(|parent| (parent + root) % n);
    let result = Operand { buf: result, ..own };
    let Some(((last, _), others)) = node.children.split_last() else {
        match parent {
            Some(parent) => draft.send(parent, own.all()),
            None => copy_unless_same(draft, own, result),
        }
        return;
    };
    if draft.combines_on_arrival(own.count) {
        let sum = match parent {
            Some(_) => draft.temporary(1, own.count, own.datatype).get(0),
            None => result,
        };
        draft.receive_combining((last + root) % n, own, sum);
        for (child, _) in others.iter().rev() {
            draft.turn();
            draft.receive_combining((child + root) % n, sum, sum);
        }
        draft.fence();
        if let Some(parent) = parent {
            draft.send(parent, sum.all());
        }
        return;
    }
    // The operand of the last child arrives where everything is combined.
    let straight = parent.is_none() && result.buf != own.buf;
    let slots = others.len() as u64;
    let temporaries = draft.temporary(slots + u64::from(!straight), own.count, own.datatype);
    let sum = if straight { result } else { temporaries.get(slots) };
    let mut terms = Vec::with_capacity(others.len() + 1);
    terms.push(own.buf);
    for ((child, _), slot) in others.iter().zip(0..) {
        let into = temporaries.get(slot);
        draft.receive((child + root) % n, into.all());
        terms.push(into.buf);
    }
    draft.receive((last + root) % n, sum.all());
    draft.fence();
    draft.fold(&terms, sum.buf, own.count);
    match parent {
        Some(parent) => draft.send(parent, sum.all()),
        None => copy_unless_same(draft, sum, result),
    }
}

/// Groups of a power of two, at distance 1, radix, radix², …, exchange and combine: pairs, or more in fewer steps. Where the number of
/// members is no power of two, the first ones form pairs beforehand, so that what takes part are runs of neighbours throughout.
pub(super) fn by_multiplying(draft: &mut Draft<'_>, own: Operand<'_>, result: Operand<'_>, radix: u32) {
    let (me, n) = (draft.me(), draft.n());
    let power = 1 << n.ilog2();
    let pairs = n - power;
    let mut value = Value::new(own, result);
    if me < 2 * pairs && me % 2 == 0 {
        draft.send(me + 1, own.all());
        draft.receive(me + 1, result.all());
        return;
    }
    if me < 2 * pairs {
        value.receive(draft, me - 1, false);
    }
    // Places among those that are left, and back.
    let place = if me < 2 * pairs { me / 2 } else { me - pairs };
    let rank = |place: u32| if place < pairs { 2 * place + 1 } else { place + pairs };
    let mut distance = 1;
    while distance < power {
        let group = radix.min(power / distance);
        let index = place / distance % group;
        if group == 2 {
            let partner = place ^ distance;
            draft.send(rank(partner), value.now.all());
            value.receive(draft, rank(partner), index == 0);
        } else {
            let first = place - index * distance;
            let group: Vec<u32> = (0..group).map(|at| rank(first + at * distance)).collect();
            value.exchange(draft, &group, index as usize);
        }
        distance *= group;
    }
    copy_unless_same(draft, value.now, result);
    if me < 2 * pairs {
        draft.send(me - 1, result.all());
    }
}

/// The running value of an exchange: where it lies at this point of the plan, and where the next operand goes.
struct Value<'d> {
    now: Operand<'d>,
    /// The value may be overwritten: it is not the user's operand.
    owned: bool,
    result: Operand<'d>,
    /// Made when it is first needed.
    temporary: Option<Operand<'d>>,
}

impl<'d> Value<'d> {
    fn new(own: Operand<'d>, result: Operand<'d>) -> Self {
        Self { now: own, owned: own.buf == result.buf, result, temporary: None }
    }

    /// Plans to combine the value with the next operand, right or left of it.
    fn receive(&mut self, draft: &mut Draft<'_>, from: u32, is_right: bool) {
        // The user's operand may be on its way to somebody meanwhile, but nothing that is combined into.
        if !is_right && !self.owned && draft.combines_on_arrival(self.now.count) {
            draft.receive_combining(from, self.now, self.result);
            draft.fence();
            (self.now, self.owned) = (self.result, true);
            return;
        }
        let incoming = self.incoming(draft, is_right);
        draft.receive(from, incoming.all());
        draft.fence();
        self.combine(draft, incoming, is_right);
    }

    /// Plans to combine the values of a group, in which this one has that place.
    fn exchange(&mut self, draft: &mut Draft<'_>, group: &[u32], place: usize) {
        let values = draft.temporary(group.len() as u64, self.now.count, self.now.datatype);
        let mut terms = Vec::with_capacity(group.len());
        for (member, at) in group.iter().zip(0..) {
            let value = values.get(at);
            if at as usize == place {
                // Nothing is combined into what is on its way.
                draft.copy(self.now.all(), value.all());
            } else {
                draft.send(*member, self.now.all());
                draft.receive(*member, value.all());
            }
            terms.push(value);
        }
        draft.fence();
        let Some(all) = terms.pop() else { return };
        let terms: Vec<UserBuf> = terms.iter().map(|term| term.buf).collect();
        draft.fold(&terms, all.buf, all.count);
        (self.now, self.owned) = (all, true);
    }

    /// Where the next operand, right or left of the value, should be received. What a left operand is combined into
    /// must not be the user's, so the value moves meanwhile.
    fn incoming(&mut self, draft: &mut Draft<'_>, is_right: bool) -> Operand<'d> {
        if !is_right && !self.owned {
            draft.copy(self.now.all(), self.result.all());
            self.now = self.result;
            self.owned = true;
        }
        if self.now.buf != self.result.buf {
            return self.result;
        }
        *self.temporary.get_or_insert_with(|| draft.temporary(1, self.now.count, self.now.datatype).get(0))
    }

    /// Plans to combine the value with an operand that has been received.
    fn combine(&mut self, draft: &mut Draft<'_>, operand: Operand<'d>, is_right: bool) {
        if is_right {
            draft.combine(self.now.buf, operand.buf, self.now.count);
            self.now = operand;
            self.owned = true;
        } else {
            draft.combine(operand.buf, self.now.buf, self.now.count);
        }
    }
}

/// Elements in blocks of nearly equal length, which belong to the first members, counted from one of them.
#[derive(Clone, Copy)]
struct Owned {
    count: u64,
    first: u32,
    owners: u32,
    n: u32,
}

impl Owned {
    /// First element and length of a member's block, of length 0 where it has none.
    fn place(&self, rank: u32) -> (u64, u64) {
        let index = ((rank + self.n - self.first) % self.n).min(self.owners);
        let (first, end) = (split(self.count, index, self.owners), split(self.count, index + 1, self.owners));
        (first, end.min(self.count) - first)
    }

    /// The same of a member that has one, be it empty.
    fn block(&self, rank: u32) -> Option<(u64, u64)> {
        ((rank + self.n - self.first) % self.n < self.owners).then(|| self.place(rank))
    }

    /// All blocks.
    fn blocks(self) -> impl Iterator<Item = (u32, (u64, u64))> {
        (0..self.n).filter_map(move |rank| Some((rank, self.block(rank)?)))
    }
}

/// Everybody sends each other owner its block of `own`, and owners combine the blocks that come into `result`, which is part of `own`
/// if `in_place`. `block` gives first element and length of the block of each rank that owns one.
pub(super) fn combine_block(
    draft: &mut Draft<'_>,
    own: Operand<'_>,
    block: impl Fn(u32) -> Option<(u64, u64)>,
    result: UserBuf,
    in_place: bool,
) {
    let (me, n) = (draft.me(), draft.n());
    let others = (1..n).map(|distance| (me + distance) % n);
    let owners: Vec<(u32, (u64, u64))> = others.filter_map(|rank| Some((rank, block(rank)?))).collect();
    // Who alone combines gives nothing away; and where each member combines a part, each part is read once: a copy on a board takes as long
    // as it saves.
    let all_combine = owners.len() as u32 == n - 1 && block(me).is_some();
    let parts = match owners.is_empty() || all_combine {
        true => Parts::of(own),
        false => draft.for_combining(own, owners.iter().map(|(_, (_, len))| *len)),
    };
    let send = |draft: &mut Draft<'_>| {
        for (to, (first, len)) in &owners {
            draft.send(*to, parts.part(*first, *len));
        }
    };
    let Some((first, count)) = block(me) else { return send(draft) };
    let mine = Operand { buf: own.element(first), count, datatype: own.datatype };
    let result = Operand { buf: result, ..mine };
    if n == 1 {
        return copy_unless_same(draft, mine, result);
    }
    if draft.combines_on_arrival(count) {
        send(draft);
        return combine_block_on_arrival(draft, (mine, result), in_place);
    }
    if draft.commutes() {
        let send_to = |draft: &mut Draft<'_>, to: u32| {
            if let Some((first, len)) = block(to) {
                draft.send(to, parts.part(first, len));
            }
        };
        return combine_block_going_round(draft, send_to, (mine, result), in_place);
    }
    send(draft);
    combine_block_in_order(draft, (mine, result), in_place);
}

/// The same where operands need not commute: from that of the highest rank down, some at a time.
fn combine_block_in_order<'d>(
    draft: &mut Draft<'_>,
    (mine, result): (Operand<'d>, Operand<'d>),
    in_place: bool,
) {
    let (me, last) = (draft.me(), draft.n() - 1);
    // In place, the result's memory is still an operand, or on its way to somebody, until everything has arrived.
    // Only the highest rank may begin with its own operand where it lies.
    let overlaps = in_place && !(mine.buf == result.buf && me == last);
    let window = choose::exchange_window().min(last);
    let temporaries = draft.temporary(u64::from(window) + u64::from(overlaps), mine.count, mine.datatype);
    let sum = if overlaps { temporaries.get(u64::from(window)) } else { result };
    match me == last {
        true => copy_unless_same(draft, mine, sum),
        false => draft.receive(last, sum.all()),
    }
    let mut highest = last;
    while highest > 0 {
        let lowest = highest.saturating_sub(window);
        let incoming = |rank: u32| if rank == me { mine } else { temporaries.get(u64::from(rank - lowest)) };
        for rank in (lowest..highest).rev().filter(|rank| *rank != me) {
            draft.receive(rank, incoming(rank).all());
        }
        // What we have sent need not have left: its receivers may still be at the operands of higher ranks, ours among them.
        draft.turn();
        let terms: Vec<UserBuf> = (lowest..highest).map(|rank| incoming(rank).buf).collect();
        draft.fold(&terms, sum.buf, mine.count);
        highest = lowest;
    }
    if sum.buf != result.buf {
        draft.fence();
    }
    copy_unless_same(draft, sum, result);
}

/// The same where operands commute: our own, that of the member before, and those of the members before that, some at a time. `send_to`
/// sends a member what it combines, if it does.
fn combine_block_going_round<'d>(
    draft: &mut Draft<'_>,
    send_to: impl Fn(&mut Draft<'_>, u32),
    (mine, result): (Operand<'d>, Operand<'d>),
    in_place: bool,
) {
    // In place, the result's memory is on its way to others, unless it is that of our own block.
    let apart = in_place && mine.buf != result.buf;
    let window = choose::exchange_window().min(draft.n() - 1);
    let temporaries = draft.temporary(u64::from(window) + u64::from(apart), mine.count, mine.datatype);
    let sum = if apart { temporaries.get(u64::from(window)) } else { result };
    let mut arrived = Vec::with_capacity(window as usize);
    let (me, n) = (draft.me(), draft.n());
    for distance in 1..n {
        send_to(draft, (me + distance) % n);
        // The first one arrives where everything is combined, unless our own lies there.
        let (incoming, operand) = match distance == 1 && sum.buf != mine.buf {
            true => (sum, mine),
            false => [temporaries.get(arrived.len() as u64); 2].into(),
        };
        draft.receive((me + n - distance) % n, incoming.all());
        arrived.push(operand.buf);
        if distance % window == 0 || distance == n - 1 {
            draft.fence();
            for operand in arrived.drain(..) {
                draft.combine(operand, sum.buf, mine.count);
            }
        }
    }
    copy_unless_same(draft, sum, result);
}

/// The same where operands commute and are combined as they arrive: our own, that of the member before, and those of the members before
/// that, going round. So nobody sends to two at once, or waits for who serves others first.
fn combine_block_on_arrival<'d>(
    draft: &mut Draft<'_>,
    (mine, result): (Operand<'d>, Operand<'d>),
    in_place: bool,
) {
    let (me, n) = (draft.me(), draft.n());
    // In place, the result's memory is on its way to others, unless it is that of our own block.
    let apart = in_place && mine.buf != result.buf;
    let sum = if apart { draft.temporary(1, mine.count, mine.datatype).get(0) } else { result };
    for distance in 1..n {
        let from = (me + n - distance) % n;
        if distance > 1 {
            draft.turn();
        }
        draft.receive_combining(from, if distance == 1 { mine } else { sum }, sum);
    }
    if apart {
        draft.fence();
    }
    copy_unless_same(draft, sum, result);
}

fn copy_unless_same(draft: &mut Draft<'_>, from: Operand<'_>, to: Operand<'_>) {
    if from.buf != to.buf {
        draft.copy(from.all(), to.all());
    }
}

#[cold]
fn in_place_elsewhere(rank: i32, root: u32) -> Error {
    let expected = format!("a buffer: only the root, rank {root}, may say MPI_IN_PLACE");
    Error::invalid(ErrorClass::Buffer, "sendbuf", format_args!("MPI_IN_PLACE at rank {rank}"), expected)
}
