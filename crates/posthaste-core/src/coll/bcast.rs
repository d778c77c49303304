//! Broadcast (MPI-5.0 §6.4).

use crate::coll::choose::{self, Bcast};
use crate::coll::label::Function;
use crate::coll::levels::Levels;
use crate::coll::plan::{Draft, Operand, split};
use crate::coll::{Schedule, Team, tree};
use crate::datatype::Segment;
use crate::error::Result;

/// Everybody gets what the root has.
///
/// # Errors
/// A root that is no rank.
pub fn bcast(team: &Team, data: Operand<'_>, root: i32) -> Result<Schedule> {
    let root = team.root(root)?;
    let n = team.size() as u32;
    let mut draft = Draft::new(team, Function::Bcast, 8);
    draft.rooted(root);
    if let Some(levels) = Levels::of(team, root) {
        levels.bcast(&mut draft, &data);
    } else if n > 1 {
        draft.going(choose::bcast(n, data.bytes(), team.is_oversubscribed()).number());
        down(&mut draft, &data, root, team.is_oversubscribed());
    }
    draft.ended()
}

/// The way for so many members.
pub(super) fn down(draft: &mut Draft<'_>, data: &Operand<'_>, root: u32, oversubscribed: bool) {
    match choose::bcast(draft.n(), data.bytes(), oversubscribed) {
        Bcast::Tree(radix) => by_tree(draft, &data.all(), root, radix),
        Bcast::Blocks => {
            draft.fence();
            by_blocks(draft, data, root);
        }
    }
}

/// The neighbors of a member in a tree, by their ranks in the team.
#[derive(Default)]
pub(super) struct Shape {
    parent: Option<u32>,
    /// Those with the longest way to go first.
    children: Vec<u32>,
}

impl Shape {
    /// Those in a tree of this radix, which stands on `root`, among the members that are counted now; besides those it has.
    pub(super) fn add(&mut self, draft: &Draft<'_>, root: u32, radix: u32) {
        let n = draft.n();
        let node = tree::place((draft.me() + n - root) % n, n, radix);
        let rank = |member: u32| draft.rank((member + root) % n);
        self.parent = node.parent.map(rank).or(self.parent);
        // The largest subtree has the longest way.
        self.children.extend(node.children.iter().rev().map(|(child, _)| rank(*child)));
    }
}

/// Down a tree. What was planned before need not be over: the data comes when the root has it. Long data that has several levels to go
/// comes in pieces, and while one comes those before it go on. Nothing is received after that, for who gets fewer pieces than it
/// expects stops receiving.
pub(super) fn by_tree(draft: &mut Draft<'_>, data: &Segment, root: u32, radix: u32) {
    let mut shape = Shape::default();
    shape.add(draft, root, radix);
    by_shape(draft, data, &shape, choose::may_come_in_pieces(draft.n(), radix));
}

/// The same down any tree; `is_cut`: in pieces.
pub(super) fn by_shape(draft: &mut Draft<'_>, data: &Segment, shape: &Shape, is_cut: bool) {
    let Shape { parent, children } = shape;
    draft.fence();
    let whole = data;
    // The runs of all pieces together could take more memory than the data.
    let checks_types = draft.team.accord().checks_types;
    let is_packed = is_cut && choose::pieces(data.len()) > 1 && !checks_types && is_scattered(data);
    let packed = is_packed.then(|| Segment::contiguous(draft.bytes(data.len() as usize), data.len()));
    let data = packed.as_ref().unwrap_or(whole);
    if is_packed && parent.is_none() {
        draft.copy(whole.clone(), data.clone());
        draft.fence();
    }
    for (piece, number) in pieces(data, if is_cut { choose::pieces(data.len()) } else { 1 }).zip(0u64..) {
        if number.is_multiple_of(choose::PIECES_AT_ONCE) && !children.is_empty() {
            draft.fence();
        }
        if let Some(parent) = parent {
            draft.receive_of(*parent, piece.clone());
        }
        if is_cut {
            draft.turn_behind_piece()
        } else {
            draft.turn()
        }
        let piece = draft.for_several(piece, children.len());
        for child in children {
            draft.send_of(*child, piece.clone());
        }
    }
    if is_packed && parent.is_some() {
        draft.fence();
        draft.copy(data.clone(), whole.clone());
    }
}

/// Whether a piece of this data has many runs, each of which is to be listed, because it ends inside of an element.
fn is_scattered(data: &Segment) -> bool {
    const SHORT: u64 = 1024;
    !data.has_whole_elements_in(choose::PIECE) && data.mean_run() < SHORT
}

/// Data in so many pieces. Where it lies in memory it can be described in pieces; if it could not, it would end there, and everybody would
/// be told.
fn pieces(data: &Segment, count: u64) -> impl Iterator<Item = Segment> + '_ {
    let mut is_over = false;
    let piece = move |at: u64| {
        let (from, to) = (at * choose::PIECE, data.len().min((at + 1) * choose::PIECE));
        match count == 1 {
            _ if is_over => None,
            true => Some(data.clone()),
            false if from == to => Some(Segment::empty()),
            false => Some(data.part(from, to).unwrap_or_else(|_| {
                is_over = true;
                Segment::empty()
            })),
        }
    };
    (0..count).map_while(piece)
}

/// The root cuts the packed data into a block for every other member; they exchange their blocks.
pub(super) fn by_blocks(draft: &mut Draft<'_>, data: &Operand<'_>, root: u32) {
    let (n, bytes) = (draft.n(), data.bytes());
    let me = (draft.me() + n - root) % n;
    let whole = data.all();
    let (base, is_packed) = match whole.contiguous_rest() {
        Some((buf, _)) => (buf, true),
        None => (draft.bytes(bytes as usize), false),
    };
    let packed = || Segment::contiguous(base, bytes);
    // Block i is that of the i-th member after the root.
    let block = |i: u32| {
        let (from, to) = (split(bytes, i - 1, n - 1), split(bytes, i, n - 1));
        Segment::contiguous(base.offset(from as isize), to - from)
    };
    let rank = |i: u32| (i + root) % n;
    if me == 0 {
        if !is_packed {
            draft.copy(whole, packed());
        }
        for i in 1..n {
            draft.send(rank(i), block(i));
        }
        return;
    }
    draft.receive(root, block(me));
    draft.fence();
    for distance in 1..n - 1 {
        let to = (me - 1 + distance) % (n - 1) + 1;
        let from = (me - 1 + (n - 1) - distance) % (n - 1) + 1;
        draft.send(rank(to), block(me));
        draft.receive(rank(from), block(from));
    }
    draft.fence();
    if !is_packed {
        draft.copy(packed(), whole);
    }
}
