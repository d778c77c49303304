//! Barrier (MPI-5.0 §6.3).

use crate::buffer::UserBuf;
use crate::coll::choose::{self, Barrier};
use crate::coll::label::Function;
use crate::coll::plan::Draft;
use crate::coll::{Schedule, Team, tree};
use crate::datatype::Segment;

/// Nobody leaves before everybody has come.
pub fn barrier(team: &Team) -> Schedule {
    let n = team.size() as u32;
    match choose::barrier(n, team.is_oversubscribed()) {
        Barrier::Dissemination => {
            let mut draft = Draft::new(team, Function::Barrier, 3 * n.ilog2() as usize + 3);
            draft.meet();
            draft.done()
        }
        Barrier::Tree(radix) => {
            let nothing = || Segment::contiguous(UserBuf::none(), 0);
            let node = tree::place(team.rank() as u32, n, radix);
            let mut draft = Draft::new(team, Function::Barrier, 2 * node.children.len() + 4);
            for (child, _) in &node.children {
                draft.receive(*child, nothing());
            }
            draft.fence();
            if let Some(parent) = node.parent {
                draft.send(parent, nothing());
                draft.receive(parent, nothing());
                draft.fence();
            }
            for (child, _) in node.children.iter().rev() {
                draft.send(*child, nothing());
            }
            draft.done()
        }
    }
}
