//! Barrier (MPI-5.0 §6.3).

use crate::buffer::UserBuf;
use crate::coll::choose::{self, Barrier};
use crate::coll::plan::Draft;
use crate::coll::{Schedule, Team, tree};
use crate::datatype::Segment;

/// Nobody leaves before everybody has come.
pub fn barrier(team: &Team) -> Schedule {
    let nothing = || Segment::contiguous(UserBuf::none(), 0);
    let (me, n) = (team.rank() as u32, team.size() as u32);
    match choose::barrier(n, team.is_oversubscribed()) {
        // In round k everybody knows of the 2^k members before it; a message to 2^k further on doubles that.
        Barrier::Dissemination => {
            let mut draft = Draft::new(team, "MPI_Barrier", 3 * n.ilog2() as usize + 3);
            let mut distance = 1;
            while distance < n {
                draft.fence();
                draft.send((me + distance) % n, nothing());
                draft.receive((me + n - distance) % n, nothing());
                distance *= 2;
            }
            draft.done()
        }
        Barrier::Tree(radix) => {
            let node = tree::place(me, n, radix);
            let mut draft = Draft::new(team, "MPI_Barrier", 2 * node.children.len() + 4);
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
