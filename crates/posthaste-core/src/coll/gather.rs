//! Gather and scatter (MPI-5.0 §6.5, §6.6).
//!
//! Up to 64 members the root talks to each directly; above, members of a tree collect the packed blocks of their
//! subtrees.
//!
//! What must stay true: only the root looks at the operand that is significant at the root only.

use crate::buffer::UserBuf;
use crate::coll::choose;
use crate::coll::label::Function;
use crate::coll::levels::Levels;
use crate::coll::plan::{Blocks, Draft, Operand};
use crate::coll::{Schedule, Team, tree};
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass, Result};

/// The root gets everybody's operand, one after the other. `send` is `None` for `MPI_IN_PLACE` (root only); `recv`
/// is significant at the root only, its count is that of one block.
///
/// # Errors
/// A root that is no rank; an operand that is missing.
pub fn gather(
    team: &Team,
    send: Option<Operand<'_>>,
    recv: Option<Operand<'_>>,
    root: i32,
) -> Result<Schedule> {
    let root = team.root(root)?;
    let mut draft = Draft::new(team, Function::Gather, 4);
    draft.rooted(root);
    let (own, all) = sides(team, root, "sendbuf", send, "recvbuf", recv)?;
    match two_levels(team, root, own, all) {
        Some((levels, block)) => {
            draft.going(1);
            levels.gather(&mut draft, own, all, block);
        }
        None => collect(&mut draft, own, all, root, choose::moving_radix()),
    }
    draft.ended()
}

/// As [`gather`], with blocks of different lengths in any place.
///
/// # Errors
/// As [`gather`].
pub fn gatherv(
    team: &Team,
    send: Option<Operand<'_>>,
    recv: Option<Blocks<'_>>,
    root: i32,
) -> Result<Schedule> {
    let root = team.root(root)?;
    let mut draft = Draft::new(team, Function::Gatherv, team.size() as usize);
    draft.rooted(root);
    let (own, all) = sides(team, root, "sendbuf", send, "recvbuf", recv)?;
    match (own, all) {
        (Some(own), None) => draft.send_and_leave(root, own.all()),
        (own, Some(all)) => {
            for rank in (0..draft.n()).filter(|rank| *rank != root) {
                draft.receive(rank, all.block(rank));
            }
            if let Some(own) = own {
                draft.copy(own.all(), all.block(root));
            }
        }
        (None, None) => {}
    }
    draft.ended()
}

/// Everybody gets its block of the root's operand. `recv` is `None` for `MPI_IN_PLACE` (root only); `send` is
/// significant at the root only, its count is that of one block.
///
/// # Errors
/// As [`gather`].
pub fn scatter(
    team: &Team,
    send: Option<Operand<'_>>,
    recv: Option<Operand<'_>>,
    root: i32,
) -> Result<Schedule> {
    let root = team.root(root)?;
    let mut draft = Draft::new(team, Function::Scatter, 4);
    draft.rooted(root);
    let (own, all) = sides(team, root, "recvbuf", recv, "sendbuf", send)?;
    match two_levels(team, root, own, all) {
        Some((levels, block)) => {
            draft.going(1);
            levels.scatter(&mut draft, all, own, block);
        }
        None => distribute(&mut draft, all, own, root, choose::moving_radix()),
    }
    draft.ended()
}

/// As [`scatter`], with blocks of different lengths in any place.
///
/// # Errors
/// As [`gather`].
pub fn scatterv(
    team: &Team,
    send: Option<Blocks<'_>>,
    recv: Option<Operand<'_>>,
    root: i32,
) -> Result<Schedule> {
    let root = team.root(root)?;
    let mut draft = Draft::new(team, Function::Scatterv, team.size() as usize);
    draft.rooted(root);
    let (own, all) = sides(team, root, "recvbuf", recv, "sendbuf", send)?;
    match (own, all) {
        (Some(own), None) => draft.receive(root, own.all()),
        (own, Some(all)) => {
            for rank in (0..draft.n()).filter(|rank| *rank != root) {
                draft.send(rank, all.block(rank));
            }
            if let Some(own) = own {
                draft.copy(all.block(root), own.all());
            }
        }
        (None, None) => {}
    }
    draft.ended()
}

/// The two levels in which blocks travel that are short, and how long one is. Types are compared only where messages go straight between
/// memory of the program.
fn two_levels<'t>(
    team: &'t Team,
    root: u32,
    own: Option<Operand<'_>>,
    all: Option<Operand<'_>>,
) -> Option<(Levels<'t>, u64)> {
    let block = all.or(own).map_or(0, |operand| operand.bytes());
    let levels = Levels::of(team, root).filter(|levels| levels.gather_blocks_of(block))?;
    (!team.accord().checks_types).then_some((levels, block))
}

/// Checks that each side is there: the rank's own operand except in place at the root, that of all at the root.
fn sides<'a, A>(
    team: &Team,
    root: u32,
    own_name: &'static str,
    own: Option<Operand<'a>>,
    all_name: &'static str,
    all: Option<A>,
) -> Result<(Option<Operand<'a>>, Option<A>)> {
    let is_root = team.rank() as u32 == root;
    if !is_root && own.is_none() {
        let got = format_args!("MPI_IN_PLACE at rank {}", team.rank());
        let expected = format_args!("a buffer: only the root, rank {root}, may say MPI_IN_PLACE");
        return Err(Error::invalid(ErrorClass::Buffer, own_name, got, expected));
    }
    if is_root && all.is_none() {
        return Err(Error::invalid(ErrorClass::Buffer, all_name, "missing", "a buffer at the root"));
    }
    Ok((own, all.filter(|_| is_root)))
}

/// The part of members `first..first + count`, counted from the root, as at most two runs of ranks.
fn runs(first: u32, count: u32, root: u32, n: u32) -> [(u32, u32); 2] {
    let start = (first + root) % n;
    let straight = count.min(n - start);
    [(start, straight), (0, count - straight)]
}

/// Gathers at `root`; `own` is `None` where the block is in place.
pub(super) fn collect(
    draft: &mut Draft<'_>,
    own: Option<Operand<'_>>,
    all: Option<Operand<'_>>,
    root: u32,
    radix: u32,
) {
    let n = draft.n();
    let node = tree::place((draft.me() + n - root) % n, n, radix);
    if let Some(all) = all {
        for (child, members) in &node.children {
            for (start, count) in runs(*child, *members, root, n) {
                if count > 0 {
                    draft.receive((child + root) % n, all.blocks(start, count));
                }
            }
        }
        if let Some(own) = own {
            draft.copy(own.all(), all.block(root));
        }
        return;
    }
    let (Some(own), Some(parent)) = (own, node.parent) else { return };
    let block = own.bytes();
    let packed = collected(draft, &node, block);
    let Some(base) = packed else { return draft.send_and_leave((parent + root) % n, own.all()) };
    draft.copy(own.all(), Segment::contiguous(base, block));
    let me = (draft.me() + n - root) % n;
    for (child, members) in &node.children {
        let at = base.offset((u64::from(child - me) * block) as isize);
        draft.receive((child + root) % n, Segment::contiguous(at, u64::from(*members) * block));
    }
    draft.fence();
    for (at, count) in pieces(me, &node, parent, root, n) {
        let at = base.offset((u64::from(at) * block) as isize);
        draft.send((parent + root) % n, Segment::contiguous(at, u64::from(count) * block));
    }
}

/// Scatters from `root`; `own` is `None` where the block stays in place.
pub(super) fn distribute(
    draft: &mut Draft<'_>,
    all: Option<Operand<'_>>,
    own: Option<Operand<'_>>,
    root: u32,
    radix: u32,
) {
    let n = draft.n();
    let node = tree::place((draft.me() + n - root) % n, n, radix);
    if let Some(all) = all {
        for (child, members) in node.children.iter().rev() {
            for (start, count) in runs(*child, *members, root, n) {
                if count > 0 {
                    draft.send((child + root) % n, all.blocks(start, count));
                }
            }
        }
        if let Some(own) = own {
            draft.copy(all.block(root), own.all());
        }
        return;
    }
    let (Some(own), Some(parent)) = (own, node.parent) else { return };
    let block = own.bytes();
    let packed = collected(draft, &node, block);
    let Some(base) = packed else { return draft.receive((parent + root) % n, own.all()) };
    let me = (draft.me() + n - root) % n;
    for (at, count) in pieces(me, &node, parent, root, n) {
        let at = base.offset((u64::from(at) * block) as isize);
        draft.receive((parent + root) % n, Segment::contiguous(at, u64::from(count) * block));
    }
    draft.fence();
    for (child, members) in node.children.iter().rev() {
        let at = base.offset((u64::from(child - me) * block) as isize);
        draft.send((child + root) % n, Segment::contiguous(at, u64::from(*members) * block));
    }
    draft.copy(Segment::contiguous(base, block), own.all());
}

/// Memory for the packed blocks of a subtree; a leaf needs none.
fn collected(draft: &mut Draft<'_>, node: &tree::Node, block: u64) -> Option<UserBuf> {
    if node.children.is_empty() {
        return None;
    }
    Some(draft.bytes((u64::from(node.subtree) * block) as usize))
}

/// How a subtree's blocks travel between it and its parent: (first, count). The root's own buffer is in the order of
/// ranks, so there a run that goes round takes two messages.
fn pieces(
    me: u32,
    node: &tree::Node,
    parent: u32,
    root: u32,
    n: u32,
) -> impl Iterator<Item = (u32, u32)> + use<> {
    let [(_, first), (_, second)] = runs(me, node.subtree, root, n);
    let whole = node.subtree;
    let pieces = if parent == 0 { [(0, first), (first, second)] } else { [(0, whole), (whole, 0)] };
    pieces.into_iter().filter(|(_, count)| *count > 0)
}
