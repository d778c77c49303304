//! Collective operations on intercommunicators (MPI-5.0 §6.2.2, §6.2.3 and the paragraphs on intercommunicators of each
//! operation): what one group gives, the other one gets.
//!
//! Both groups together are one team, so a part of an operation that stays in one group is the algorithm for a
//! communicator among that run of its members, and a part between the groups is a message between two members of the
//! team.
//!
//! What must stay true: both groups agree on which of them comes first in the team; no operation is in place.

use std::sync::Arc;

use crate::buffer::UserBuf;
use crate::coll::label::Function;
use crate::coll::plan::{Blocks, Draft, Operand, Reduced, Run};
use crate::coll::{Accord, Schedule, Team, TypedBlocks, bcast as down, choose, reduce as up};
use crate::datatype::{Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::{ContextId, PROC_NULL, ROOT, WrongRoot};
use crate::op::Op;

/// Longer operands are combined two at a time, in bytes.
const LONG: u64 = 16 << 10;

/// Both groups of an intercommunicator as one team.
#[derive(Debug)]
pub struct Bridge {
    team: Team,
    local: Run,
    remote: Run,
}

/// Who the caller is in an operation with a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The root.
    Root,
    /// In the group of the root, with nothing to do.
    Bystander,
    /// In the other group; the root's rank in the team.
    Across(u32),
}

/// A function and its name for messages.
type Name = (Function, &'static str);

/// A function and its name for messages; ranks in them count through both groups.
macro_rules! named {
    ($function:ident, $name:literal) => {
        (
            Function::$function,
            concat!($name, " on an intercommunicator, whose ranks here count through both groups"),
        )
    };
}

impl Bridge {
    /// The team of two groups without a common member, seen by the member of `local` with the given rank.
    /// `is_first`: the local group's members come before those of the other.
    pub fn new(
        context: ContextId,
        (local, remote): (&Group, &Group),
        rank: u32,
        is_first: bool,
        accord: Accord,
    ) -> Self {
        let (first, second) = if is_first { (local, remote) } else { (remote, local) };
        let all = Arc::new(Group::of(first.peers().chain(second.peers()).collect()));
        let run = |group: &Group, is_first| Run {
            first: if is_first { 0 } else { first.size() },
            size: group.size(),
        };
        let (local, remote) = (run(local, is_first), run(remote, !is_first));
        Self { team: Team::new(context, all, local.first + rank, accord), local, remote }
    }

    /// Both groups.
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// Whether the local group comes first in the team.
    pub fn is_first(&self) -> bool {
        self.local.first == 0
    }

    /// Rank in the team of the local group's member 0.
    pub fn local_first(&self) -> u32 {
        self.local.first
    }

    /// Rank in the team of the remote group's member 0.
    pub fn remote_first(&self) -> u32 {
        self.remote.first
    }

    fn rank(&self) -> u32 {
        self.team.rank() as u32 - self.local.first
    }

    /// Ranks of the remote group's members in the team.
    fn others(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        (0..self.remote.size).zip(self.remote.first..)
    }

    fn part(&self, root: i32) -> Result<Part> {
        match root {
            ROOT => Ok(Part::Root),
            PROC_NULL => Ok(Part::Bystander),
            rank if rank >= 0 && (rank as u32) < self.remote.size => {
                Ok(Part::Across(self.remote.first + rank as u32))
            }
            wrong => {
                let last = self.remote.size - 1;
                let expected = format!("0..={last} (a rank of the remote group), MPI_ROOT or MPI_PROC_NULL");
                Err(Error::invalid(ErrorClass::Root, "root", WrongRoot(wrong), expected))
            }
        }
    }
}

/// Nobody leaves before everybody of the other group has come.
pub fn barrier(bridge: &Bridge) -> Schedule {
    super::barrier(&bridge.team)
}

/// The same of both groups in `MPI_Comm_disconnect`.
pub fn disconnect(bridge: &Bridge) -> Schedule {
    super::disconnect(&bridge.team)
}

/// The group that the root is not in gets what the root has.
///
/// # Errors
/// A root that is neither a rank of the remote group nor one of the two special values; a missing operand (only in
/// the root's group may it be missing, elsewhere than at the root).
pub fn bcast(bridge: &Bridge, data: Option<Operand<'_>>, root: i32) -> Result<Schedule> {
    let part = bridge.part(root)?;
    let mut draft = draft_rooted(bridge, named!(Bcast, "MPI_Bcast"), part, 4);
    match (part, data) {
        (Part::Bystander, _) => {}
        (_, None) => return Err(missing("buffer")),
        (Part::Root, Some(data)) => draft.send(bridge.remote.first, data.all()),
        (Part::Across(root), Some(data)) => {
            if bridge.rank() == 0 {
                draft.receive(root, data.all());
            }
            draft.within(bridge.local);
            down::by_tree(&mut draft, &data.all(), 0, choose::radix(bridge.team.is_oversubscribed()));
        }
    }
    draft.ended()
}

/// The root gets the operands of all members of the other group, one after the other. `send` is significant in the
/// other group, `recv` (its count is that of one block) at the root.
///
/// # Errors
/// As [`bcast`].
pub fn gather(
    bridge: &Bridge,
    send: Option<Operand<'_>>,
    recv: Option<Operand<'_>>,
    root: i32,
) -> Result<Schedule> {
    let recv = recv.map(|recv| move |rank| recv.block(rank));
    to_root(bridge, named!(Gather, "MPI_Gather"), send, recv, root)
}

/// As [`gather`], with blocks of different lengths in any place.
///
/// # Errors
/// As [`bcast`].
pub fn gatherv(
    bridge: &Bridge,
    send: Option<Operand<'_>>,
    recv: Option<Blocks<'_>>,
    root: i32,
) -> Result<Schedule> {
    let recv = recv.map(|recv| move |rank| recv.block(rank));
    to_root(bridge, named!(Gatherv, "MPI_Gatherv"), send, recv, root)
}

/// Each member of the other group gets its block of what the root has. `send` (its count is that of one block) is
/// significant at the root, `recv` in the other group.
///
/// # Errors
/// As [`bcast`].
pub fn scatter(
    bridge: &Bridge,
    send: Option<Operand<'_>>,
    recv: Option<Operand<'_>>,
    root: i32,
) -> Result<Schedule> {
    let send = send.map(|send| move |rank| send.block(rank));
    from_root(bridge, named!(Scatter, "MPI_Scatter"), send, recv, root)
}

/// As [`scatter`], with blocks of different lengths in any place.
///
/// # Errors
/// As [`bcast`].
pub fn scatterv(
    bridge: &Bridge,
    send: Option<Blocks<'_>>,
    recv: Option<Operand<'_>>,
    root: i32,
) -> Result<Schedule> {
    let send = send.map(|send| move |rank| send.block(rank));
    from_root(bridge, named!(Scatterv, "MPI_Scatterv"), send, recv, root)
}

/// Everybody gets the operands of all members of the other group, one after the other; the count of `recv` is that of
/// one block.
///
/// # Errors
/// A missing operand.
pub fn allgather(bridge: &Bridge, send: Option<Operand<'_>>, recv: Operand<'_>) -> Result<Schedule> {
    let send = send.ok_or_else(|| missing("sendbuf"))?;
    Ok(across(bridge, named!(Allgather, "MPI_Allgather"), |_| send.all(), |rank| recv.block(rank)))
}

/// As [`allgather`], with blocks of different lengths in any place.
///
/// # Errors
/// A missing operand.
pub fn allgatherv(bridge: &Bridge, send: Option<Operand<'_>>, recv: Blocks<'_>) -> Result<Schedule> {
    let send = send.ok_or_else(|| missing("sendbuf"))?;
    Ok(across(bridge, named!(Allgatherv, "MPI_Allgatherv"), |_| send.all(), |rank| recv.block(rank)))
}

/// Everybody sends each member of the other group a block of its own; counts are those of one block.
///
/// # Errors
/// A missing operand.
pub fn alltoall(bridge: &Bridge, send: Option<Operand<'_>>, recv: Operand<'_>) -> Result<Schedule> {
    let send = send.ok_or_else(|| missing("sendbuf"))?;
    Ok(across(bridge, named!(Alltoall, "MPI_Alltoall"), |rank| send.block(rank), |rank| recv.block(rank)))
}

/// As [`alltoall`], with blocks of different lengths in any place.
///
/// # Errors
/// A missing operand.
pub fn alltoallv(bridge: &Bridge, send: Option<Blocks<'_>>, recv: Blocks<'_>) -> Result<Schedule> {
    let send = send.ok_or_else(|| missing("sendbuf"))?;
    Ok(across(bridge, named!(Alltoallv, "MPI_Alltoallv"), |rank| send.block(rank), |rank| recv.block(rank)))
}

/// As [`alltoallv`], with a type for each block and displacements in bytes.
///
/// # Errors
/// A missing operand.
pub fn alltoallw(bridge: &Bridge, send: Option<TypedBlocks<'_>>, recv: TypedBlocks<'_>) -> Result<Schedule> {
    let send = send.ok_or_else(|| missing("sendbuf"))?;
    Ok(across(bridge, named!(Alltoallw, "MPI_Alltoallw"), |rank| send.block(rank), |rank| recv.block(rank)))
}

/// The root gets the combination of the operands of the other group. `send` is significant in the other group,
/// `recv` at the root.
///
/// # Errors
/// As [`bcast`]; an operation that the type does not have.
pub fn reduce(
    bridge: &Bridge,
    Reduced { send, recv, count, datatype }: Reduced<'_>,
    op: &Op,
    root: i32,
) -> Result<Schedule> {
    let part = bridge.part(root)?;
    let mut draft = draft_rooted(bridge, named!(Reduce, "MPI_Reduce"), part, 12);
    // With MPI_PROC_NULL for a root nothing else is significant (MPI-5.0 §6.9.1).
    if !matches!(part, Part::Bystander) {
        draft.reduce_with(op, datatype)?;
    }
    match part {
        Part::Bystander => {}
        Part::Root => draft.receive(bridge.remote.first, Operand { buf: recv, count, datatype }.all()),
        Part::Across(root) => {
            let own = Operand { buf: send.ok_or_else(|| missing("sendbuf"))?, count, datatype };
            if let Some(sum) = combine(bridge, &mut draft, own) {
                draft.send(root, sum.all());
            }
        }
    }
    draft.ended()
}

/// Everybody gets the combination of the operands of the other group.
///
/// # Errors
/// An operation that the type does not have; a missing operand.
pub fn allreduce(
    bridge: &Bridge,
    Reduced { send, recv, count, datatype }: Reduced<'_>,
    op: &Op,
) -> Result<Schedule> {
    let mut draft = draft(bridge, named!(Allreduce, "MPI_Allreduce"), 16);
    draft.reduce_with(op, datatype)?;
    let own = Operand { buf: send.ok_or_else(|| missing("sendbuf"))?, count, datatype };
    let result = Operand { buf: recv, ..own };
    if let Some(sum) = combine(bridge, &mut draft, own) {
        draft.send(bridge.remote.first, sum.all());
        draft.receive(bridge.remote.first, result.all());
    }
    draft.within(bridge.local);
    down::by_tree(&mut draft, &result.all(), 0, choose::radix(bridge.team.is_oversubscribed()));
    draft.ended()
}

/// Everybody gets its block of the combination of the operands of the other group; `counts` are the blocks of the
/// local group, and both groups' blocks are equally long together.
///
/// # Errors
/// An operation that the type does not have; a list of counts of the wrong length; a missing operand.
pub fn reduce_scatter(
    bridge: &Bridge,
    Reduced { send, recv, count: counts, datatype }: Reduced<'_, &[u64]>,
    op: &Op,
) -> Result<Schedule> {
    if counts.len() != bridge.local.size as usize {
        let expected = format_args!("one count for each of {} ranks of the local group", bridge.local.size);
        return Err(Error::invalid(ErrorClass::Count, "recvcounts", counts.len(), expected));
    }
    scattered(bridge, named!(ReduceScatter, "MPI_Reduce_scatter"), send, recv, counts, datatype, op)
}

/// [`reduce_scatter`] with blocks of one length.
///
/// # Errors
/// As [`reduce_scatter`].
pub fn reduce_scatter_block(
    bridge: &Bridge,
    Reduced { send, recv, count, datatype }: Reduced<'_>,
    op: &Op,
) -> Result<Schedule> {
    let counts = vec![count; bridge.local.size as usize];
    scattered(
        bridge,
        named!(ReduceScatterBlock, "MPI_Reduce_scatter_block"),
        send,
        recv,
        &counts,
        datatype,
        op,
    )
}

/// Prefixes need one order of all ranks, which two groups do not have.
///
/// # Errors
/// Always (MPI-5.0 §6.11: not for intercommunicators).
pub fn scan(_: &Bridge, _: Reduced<'_>, _: &Op) -> Result<Schedule> {
    Err(Error::invalid(ErrorClass::Comm, "comm", "an intercommunicator", "an intracommunicator"))
}

pub use scan as exscan;

fn scattered(
    bridge: &Bridge,
    name: Name,
    send: Option<UserBuf>,
    recv: UserBuf,
    counts: &[u64],
    datatype: &Datatype,
    op: &Op,
) -> Result<Schedule> {
    let mut draft = draft(bridge, name, 16);
    draft.reduce_with(op, datatype)?;
    let all = counts.iter().copied().fold(0, u64::saturating_add);
    let own = Operand { buf: send.ok_or_else(|| missing("sendbuf"))?, count: all, datatype };
    let rank = bridge.rank();
    let result = Operand { buf: recv, count: counts[rank as usize], datatype };
    let Some(sum) = combine(bridge, &mut draft, own) else {
        draft.receive(bridge.local.first, result.all());
        return draft.ended();
    };
    let other = draft.temporary(1, all, datatype).get(0);
    draft.send(bridge.remote.first, sum.all());
    draft.receive(bridge.remote.first, other.all());
    draft.fence();
    let mut first = counts[0];
    for (member, count) in (bridge.local.first..).zip(counts).skip(1) {
        draft.send(member, other.part(first, *count));
        first = first.saturating_add(*count);
    }
    draft.copy(other.part(0, counts[0]), result.all());
    draft.ended()
}

/// An empty schedule of the next operation, with room for so many steps.
fn draft(bridge: &Bridge, (function, name): Name, steps: usize) -> Draft<'_> {
    Draft::named(&bridge.team, function, name, steps)
}

/// The same with a root, which all name that send or receive anything.
fn draft_rooted(bridge: &Bridge, name: Name, part: Part, steps: usize) -> Draft<'_> {
    let mut draft = draft(bridge, name, steps);
    match part {
        Part::Root => draft.rooted(draft.me()),
        Part::Across(root) => draft.rooted(root),
        Part::Bystander => {}
    }
    draft
}

/// Combines the operands of the local group; its rank 0 gets to know where the result will lie.
fn combine<'d>(bridge: &Bridge, draft: &mut Draft<'_>, own: Operand<'d>) -> Option<Operand<'d>> {
    let sum = (bridge.rank() == 0).then(|| draft.temporary(1, own.count, own.datatype).get(0));
    draft.within(bridge.local);
    let result = sum.map_or(UserBuf::none(), |sum| sum.buf);
    // Whoever has many children may have to store what each of them sends.
    let is_long = own.count.saturating_mul(own.datatype.size()) > LONG;
    let radix = if is_long { 2 } else { bridge.team.combining_radix() };
    up::by_tree(draft, own, result, 0, radix);
    draft.everywhere();
    draft.fence();
    sum
}

fn to_root(
    bridge: &Bridge,
    name: Name,
    own: Option<Operand<'_>>,
    block: Option<impl Fn(u32) -> Segment>,
    root: i32,
) -> Result<Schedule> {
    let part = bridge.part(root)?;
    let mut draft = draft_rooted(bridge, name, part, bridge.remote.size as usize);
    match part {
        Part::Bystander => {}
        Part::Root => {
            let block = block.ok_or_else(|| missing("recvbuf"))?;
            bridge.others().for_each(|(rank, member)| draft.receive(member, block(rank)));
        }
        Part::Across(root) => draft.send(root, own.ok_or_else(|| missing("sendbuf"))?.all()),
    }
    draft.ended()
}

fn from_root(
    bridge: &Bridge,
    name: Name,
    block: Option<impl Fn(u32) -> Segment>,
    own: Option<Operand<'_>>,
    root: i32,
) -> Result<Schedule> {
    let part = bridge.part(root)?;
    let mut draft = draft_rooted(bridge, name, part, bridge.remote.size as usize);
    match part {
        Part::Bystander => {}
        Part::Root => {
            let block = block.ok_or_else(|| missing("sendbuf"))?;
            bridge.others().for_each(|(rank, member)| draft.send(member, block(rank)));
        }
        Part::Across(root) => draft.receive(root, own.ok_or_else(|| missing("recvbuf"))?.all()),
    }
    draft.ended()
}

/// Everybody talks to everybody of the other group. In turn k member r of the smaller group talks to those k further on
/// in a circle as long as the larger one, so whoever waits at the end of a window waits for the same turns.
fn across(
    bridge: &Bridge,
    name: Name,
    send: impl Fn(u32) -> Segment,
    receive: impl Fn(u32) -> Segment,
) -> Schedule {
    let circle = bridge.local.size.max(bridge.remote.size);
    let mut draft = draft(bridge, name, 2 * bridge.remote.size as usize + 1);
    for turn in 0..circle {
        let (to, from) = ((bridge.rank() + turn) % circle, (bridge.rank() + circle - turn) % circle);
        if to < bridge.remote.size {
            draft.send(bridge.remote.first + to, send(to));
        }
        if from < bridge.remote.size {
            draft.receive(bridge.remote.first + from, receive(from));
        }
        if (turn + 1) % choose::exchange_window() == 0 {
            draft.fence();
        }
    }
    draft.done()
}

#[cold]
fn missing(argument: &'static str) -> Error {
    let expected = "a buffer: no operation on an intercommunicator is in place";
    Error::invalid(ErrorClass::Buffer, argument, "MPI_IN_PLACE", expected)
}
