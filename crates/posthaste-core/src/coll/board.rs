//! Boards: memory out of which several members on one host copy the same data.
//!
//! Where ranks share CPUs, who sends long data to several of them would copy it once for each, and take turns with each. On a board it
//! is copied once, and whoever runs next copies it out. The messages are those of any other memory that a process shares with its
//! peers (`Protocol::Shared`), so nobody else has to know of it, and where the peers cannot reach it they go another way.
//!
//! What must stay true: a board goes back when the plan that names it is over, when all have copied; boards that nobody uses take no
//! more than [`KEPT`] bytes of a process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_os::heap::{Block, Heap};

use crate::buffer::UserBuf;
use crate::coll::choose;
use crate::datatype::Segment;

/// Most bytes of boards that are kept for the next operation.
const KEPT: usize = 8 << 20;
/// Fewest bytes of a board.
const LEAST: usize = 64 << 10;

/// The boards of a process.
#[derive(Debug)]
pub struct Boards {
    heap: Arc<Heap>,
    /// Shortest data that goes on a board.
    limit: u64,
    free: Mutex<Vec<Block>>,
}

/// Memory that is in use by one plan.
#[derive(Debug)]
pub(super) struct Board {
    block: Option<Block>,
    home: Arc<Boards>,
}

impl Boards {
    /// Boards in memory that this process shares with its peers, for data of at least `limit` bytes.
    pub fn new(heap: Arc<Heap>, limit: usize) -> Arc<Self> {
        Arc::new(Self { heap, limit: limit as u64, free: Mutex::default() })
    }

    /// A board for so many bytes that go to so many members, if it is worth it and there is memory.
    pub(super) fn take(self: &Arc<Self>, bytes: u64, members: usize) -> Option<Board> {
        if bytes < self.limit || !choose::is_for_a_board(bytes, members) {
            return None;
        }
        let len = (bytes as usize).next_power_of_two().max(LEAST);
        let kept = {
            let mut free = self.free();
            let at = free.iter().position(|block| block.len() == len);
            at.map(|at| free.swap_remove(at))
        };
        let block = kept.or_else(|| {
            let new = Block::new(Some(&self.heap), len).ok()?;
            // Memory that peers cannot reach would be copied once more.
            self.heap.find(new.as_ptr().addr(), len as u64).map(|_| new)
        })?;
        Some(Board { block: Some(block), home: self.clone() })
    }

    /// Whether data lies in memory that peers can reach, already.
    pub(super) fn have(&self, data: &Segment) -> bool {
        let at = data.contiguous_rest();
        at.is_some_and(|(base, len)| self.heap.find(base.address(), len).is_some())
    }

    fn free(&self) -> MutexGuard<'_, Vec<Block>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Board {
    /// Its first byte.
    pub(super) fn base(&self) -> UserBuf {
        self.block.as_ref().map_or(UserBuf::none(), UserBuf::block)
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let Some(block) = self.block.take() else { return };
        let mut free = self.home.free();
        if free.iter().map(Block::len).sum::<usize>() + block.len() <= KEPT {
            free.push(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use posthaste_os::node::Node;

    use super::*;
    use crate::coll::schedule::Step;
    use crate::coll::{self, Operand, Team};
    use crate::datatype::Datatype;
    use crate::group::Group;
    use crate::ids::ContextId;

    fn boards(limit: usize) -> Arc<Boards> {
        Boards::new(Heap::new(&Node::create(1).unwrap(), 0), limit)
    }

    #[test]
    fn a_board_is_used_again_and_few_are_kept() {
        let boards = boards(100);
        assert!(boards.take(99, 7).is_none() && boards.take(100, 2).is_none(), "not worth it");
        assert!(boards.take((4 << 20) + 1, 7).is_none(), "too long");
        let first = boards.take(100, 3).unwrap();
        let base = first.base();
        assert_ne!(boards.take(100, 3).unwrap().base(), base, "it is in use");
        drop(first);
        let again = [boards.take(65536, 3).unwrap(), boards.take(65536, 3).unwrap()];
        assert!(again.iter().any(|board| board.base() == base), "it is free again");
        assert!(boards.have(&Segment::contiguous(base, 65536)));
        drop((0..5).map(|_| boards.take(3 << 20, 3).unwrap()).collect::<Vec<_>>());
        drop(again);
        assert_eq!(boards.free().iter().map(Block::len).sum::<usize>(), KEPT);
    }

    #[test]
    fn what_goes_to_several_is_copied_once() {
        let data = crate::buffer::OwnedBuf::new(1 << 20);
        let byte = Datatype::of::<u8>();
        let steps = |n, count, boards: Option<&Arc<Boards>>| {
            let team = Team::new(ContextId::WORLD, Arc::new(Group::range(0, n)), 0, true);
            boards.into_iter().for_each(|boards| team.share_boards(boards));
            let schedule = coll::bcast(&team, Operand::new(data.user_buf(), count, &byte), 0).unwrap();
            let copies = |step: &&Step| matches!(step, Step::Copy { .. });
            let leaves_from = |step: &Step| match step {
                Step::Send { segment, .. } => segment.contiguous_rest().map(|(base, _)| base),
                _ => None,
            };
            let sources: Vec<UserBuf> = schedule.0.steps.iter().filter_map(leaves_from).collect();
            assert_eq!(sources.len(), n as usize - 1);
            assert!(sources.iter().all(|source| *source == sources[0]));
            (schedule.0.steps.iter().filter(copies).count(), sources[0] == data.user_buf())
        };
        let boards = boards(64 << 10);
        assert_eq!(steps(8, 1 << 20, Some(&boards)), (1, false));
        for (n, count, boards) in
            [(8, 1 << 20, None), (8, 1 << 15, Some(&boards)), (3, 1 << 20, Some(&boards))]
        {
            assert_eq!(steps(n, count, boards), (0, true), "{n} members, {count} bytes");
        }
    }
}
