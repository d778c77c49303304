//! Barrier (MPI-5.0 §6.3).

use crate::buffer::UserBuf;
use crate::coll::choose::{self, Barrier};
use crate::coll::label::Function;
use crate::coll::levels::Levels;
use crate::coll::plan::Draft;
use crate::coll::tree::{self, Node};
use crate::coll::{Schedule, Team};
use crate::datatype::Segment;

/// Nobody leaves before everybody has come.
pub fn barrier(team: &Team) -> Schedule {
    meet_in(team, Function::Barrier)
}

/// The same in `MPI_Win_fence`.
pub fn fence(team: &Team) -> Schedule {
    meet_in(team, Function::WinFence)
}

/// The same in `MPI_Win_free`.
pub fn free_window(team: &Team) -> Schedule {
    meet_in(team, Function::WinFree)
}

/// The same in `MPI_Comm_disconnect`.
pub fn disconnect(team: &Team) -> Schedule {
    meet_in(team, Function::CommDisconnect)
}

fn meet_in(team: &Team, function: Function) -> Schedule {
    if let Some(levels) = Levels::of(team, 0) {
        return levels.barrier(team, function);
    }
    let n = team.size() as u32;
    match choose::barrier(n, team.is_oversubscribed()) {
        Barrier::Dissemination => {
            let mut draft = Draft::new(team, function, 3 * n.ilog2() as usize + 3);
            draft.meet(if team.is_apart() { choose::radix_of_nodes(team.is_oversubscribed()) } else { 2 });
            draft.done()
        }
        Barrier::Tree(radix) => {
            let node = tree::place(team.rank() as u32, n, radix);
            let mut draft = Draft::new(team, function, 2 * node.children.len() + 4);
            come(&mut draft, &node);
            go(&mut draft, &node);
            draft.done()
        }
    }
}

/// Up a tree: all from here on have come, and the one above hears of it.
pub(super) fn come(draft: &mut Draft<'_>, node: &Node) {
    for (child, _) in &node.children {
        draft.receive(*child, nothing());
    }
    draft.fence();
    if let Some(parent) = node.parent {
        draft.send(parent, nothing());
    }
}

/// Down it: those below may go.
pub(super) fn go(draft: &mut Draft<'_>, node: &Node) {
    if let Some(parent) = node.parent {
        draft.receive(parent, nothing());
        draft.fence();
    }
    for (child, _) in node.children.iter().rev() {
        draft.send(*child, nothing());
    }
}

fn nothing() -> Segment {
    Segment::contiguous(UserBuf::none(), 0)
}
