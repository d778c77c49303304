//! Boards: memory out of which several members on one host copy the same data.
//!
//! Where ranks share CPUs, who sends long data to several of them would copy it once for each, and take turns with each. On a board it
//! is copied once, and whoever runs next copies it out. The messages are those of any other memory that a process shares with its
//! peers (`Protocol::Shared`), so nobody else has to know of it, and where the peers cannot reach it they go another way.
//!
//! What must stay true: a board goes back when all have copied: when the plan that names it is over, or later what stays behind of it
//! ([`behind`](super::behind)). Boards that nobody uses take no
//! more than [`KEPT`] bytes of a process. So a plan that is started again and again has boards only while it runs ([`Absent`]).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_os::heap::{Block, Heap};

use crate::buffer::UserBuf;
use crate::coll::choose;
use crate::datatype::Segment;

/// Most bytes of boards that are kept for the next operation.
const KEPT: usize = 8 << 20;
/// Most bytes that stay behind operations that are over: more would not stay in caches. Who combines reads faster what it gets than others
/// copy it, and so has less of it.
const BEHIND: usize = 2 << 20;
const BEHIND_TO_COMBINE: usize = 128 << 10;
/// Fewest bytes of a board.
const LEAST: usize = 64 << 10;

/// The boards of a process.
#[derive(Debug)]
pub struct Boards {
    heap: Arc<Heap>,
    /// Shortest data that goes on a board.
    limit: u64,
    /// Shortest message that is copied out of there: of shorter ones a board would be a copy more.
    shortest_message: u64,
    free: Mutex<Vec<Block>>,
    /// Bytes of boards that are behind their operations.
    behind: AtomicUsize,
}

/// Memory that is in use by one plan.
#[derive(Debug)]
pub(super) struct Board {
    block: Option<Block>,
    home: Arc<Boards>,
    /// It may stay behind its operation if no more bytes than these are behind then.
    most_behind: usize,
    /// It has.
    is_behind: bool,
}

/// A board that a plan has named and that has gone back since.
#[derive(Debug)]
pub(super) struct Absent {
    home: Arc<Boards>,
    base: UserBuf,
    len: usize,
    most_behind: usize,
}

impl Absent {
    /// A board in its place, if there is memory.
    pub(super) fn again(&self) -> Option<Board> {
        self.home.take(self.len as u64, self.most_behind)
    }

    /// How long it was.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// What lay there lies at the same place behind `base` now.
    pub(super) fn moved(&self, there: &Segment, base: UserBuf) -> Option<Segment> {
        let (at, len) = there.contiguous_rest()?;
        let distance =
            at.address().checked_sub(self.base.address()).filter(|distance| *distance < self.len)?;
        Some(Segment::contiguous(base.offset(distance as isize), len))
    }
}

impl Boards {
    /// Most bytes on one board.
    pub const LONGEST: usize = choose::LONGEST_BOARD as usize;

    /// Boards in memory that this process shares with its peers, who copy messages of at least `shortest_message` bytes out of it; what
    /// goes to several, or is combined by few, has at least `limit` bytes there.
    pub fn new(heap: Arc<Heap>, limit: usize, shortest_message: usize) -> Arc<Self> {
        let (limit, shortest_message) = (limit as u64, shortest_message as u64);
        Arc::new(Self { heap, limit, shortest_message, free: Mutex::default(), behind: AtomicUsize::new(0) })
    }

    /// A board for so many bytes that go to one member, whom we need not wait for then, if it is worth it and there is memory.
    pub(super) fn for_one(self: &Arc<Self>, bytes: u64) -> Option<Board> {
        let is_worth_it = bytes >= self.limit.max(self.shortest_message)
            && choose::is_for_a_board_to_one(bytes)
            && self.behind() + length(bytes) <= BEHIND;
        if is_worth_it { self.take(bytes, BEHIND) } else { None }
    }

    /// A board for so many bytes that go to so many members, if it is worth it and there is memory.
    pub(super) fn for_several(self: &Arc<Self>, bytes: u64, members: usize) -> Option<Board> {
        let is_worth_it =
            bytes >= self.limit.max(self.shortest_message) && choose::is_for_a_board(bytes, members);
        if is_worth_it { self.take(bytes, BEHIND) } else { None }
    }

    /// A board for so many bytes that go away in messages of these lengths, each to who combines it, if it is worth it and there is memory.
    pub(super) fn for_combining(
        self: &Arc<Self>,
        bytes: u64,
        messages: impl Iterator<Item = u64>,
    ) -> Option<Board> {
        let (mut all, mut direct) = (0u64, 0u64);
        for message in messages {
            all = all.saturating_add(message);
            direct = direct.saturating_add(if message >= self.shortest_message { message } else { 0 });
        }
        let is_worth_it = bytes >= self.limit && direct > 0 && direct >= all - direct;
        if is_worth_it { self.take(bytes, BEHIND_TO_COMBINE) } else { None }
    }

    /// A board, if there is memory.
    fn take(self: &Arc<Self>, bytes: u64, most_behind: usize) -> Option<Board> {
        let len = length(bytes);
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
        Some(Board { block: Some(block), home: self.clone(), most_behind, is_behind: false })
    }

    /// Whether data lies in memory that peers can reach, already.
    pub(super) fn have(&self, data: &Segment) -> bool {
        let at = data.contiguous_rest();
        at.is_some_and(|(base, len)| self.heap.find(base.address(), len).is_some())
    }

    /// Whether these may stay behind when their operation is over: if there are any.
    pub(super) fn may_stay(boards: &[Board]) -> bool {
        let bytes: usize = boards.iter().map(Board::len).sum();
        let may = |board: &Board| board.home.behind() + bytes <= board.most_behind;
        !boards.is_empty() && boards.iter().all(may)
    }

    /// How many bytes stay behind. A bound: two threads that look at once may go beyond it by one operation.
    fn behind(&self) -> usize {
        // SYNC: nothing else is read on account of it.
        self.behind.load(Ordering::Relaxed)
    }

    fn free(&self) -> MutexGuard<'_, Vec<Block>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The length of a board for so many bytes.
fn length(bytes: u64) -> usize {
    (bytes as usize).next_power_of_two().max(LEAST)
}

impl Board {
    fn len(&self) -> usize {
        self.block.as_ref().map_or(0, Block::len)
    }

    /// It stays behind its operation, until it goes back.
    pub(super) fn stay_behind(&mut self) {
        if !std::mem::replace(&mut self.is_behind, true) {
            self.home.behind.fetch_add(self.len(), Ordering::Relaxed);
        }
    }

    /// Whether data lies there that peers copy out of it.
    pub(super) fn gives(&self, data: &Segment) -> bool {
        let (Some((at, len)), base) = (data.contiguous_rest(), self.base()) else { return false };
        len >= self.home.shortest_message && at.address().wrapping_sub(base.address()) < self.len()
    }

    /// Its first byte.
    pub(super) fn base(&self) -> UserBuf {
        self.block.as_ref().map_or(UserBuf::none(), UserBuf::block)
    }

    /// Goes back, until the plan that names it runs again.
    pub(super) fn leave(self) -> Absent {
        Absent { home: self.home.clone(), base: self.base(), len: self.len(), most_behind: self.most_behind }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        if self.is_behind {
            self.home.behind.fetch_sub(self.len(), Ordering::Relaxed);
        }
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
    use crate::coll::steps::Step;
    use crate::coll::{self, Accord, Operand, Reduced, Team};
    use crate::datatype::Datatype;
    use crate::group::Group;
    use crate::ids::ContextId;
    use crate::op::{Op, Predefined};

    fn boards(limit: usize) -> Arc<Boards> {
        Boards::new(Heap::new(&Node::create(1).unwrap(), 0), limit, 16 << 10)
    }

    #[test]
    fn a_board_is_used_again_and_few_are_kept() {
        let boards = Boards::new(Heap::new(&Node::create(1).unwrap(), 0), 100, 0);
        assert!(boards.for_several(99, 7).is_none() && boards.for_several(100, 2).is_none(), "not worth it");
        assert!(boards.for_several((4 << 20) + 1, 7).is_none(), "too long");
        let first = boards.for_several(100, 3).unwrap();
        let base = first.base();
        assert_ne!(boards.for_several(100, 3).unwrap().base(), base, "it is in use");
        drop(first);
        let again = [boards.for_several(65536, 3).unwrap(), boards.for_several(65536, 3).unwrap()];
        assert!(again.iter().any(|board| board.base() == base), "it is free again");
        assert!(boards.have(&Segment::contiguous(base, 65536)));
        drop((0..5).map(|_| boards.for_several(3 << 20, 3).unwrap()).collect::<Vec<_>>());
        drop(again);
        assert_eq!(boards.free().iter().map(Block::len).sum::<usize>(), KEPT);
    }

    #[test]
    fn boards_are_for_what_is_copied_out_of_them() {
        let boards = |limit| Boards::new(Heap::new(&Node::create(1).unwrap(), 0), limit, 16 << 10);
        let kib = |messages: &[u64]| messages.iter().map(|kib| kib << 10).collect::<Vec<_>>();
        let combines = |limit: usize, messages: &[u64]| {
            let messages = kib(messages);
            let bytes = messages.iter().sum();
            boards(limit << 10).for_combining(bytes, messages.into_iter()).is_some()
        };
        for (limit, messages, expected) in [
            (16, &[16, 0][..], true),
            (32, &[16, 0], false),
            (16, &[15, 15, 15], false),
            (32, &[64, 15, 15], true),
            (32, &[16, 15, 15], false),
            (0, &[8; 16], false),
            (0, &[], false),
            (256, &[100], false),
            (256, &[255], false),
            (256, &[256], true),
        ] {
            assert_eq!(combines(limit, messages), expected, "limit {limit}, {messages:?} KiB");
        }
        assert!(
            boards(1).for_several((16 << 10) - 1, 7).is_none()
                && boards(1).for_several(16 << 10, 7).is_some()
        );
    }

    /// Every member combines its block, and reads that of each other one once: a board would be a copy more.
    #[test]
    fn reductions_that_scatter_use_no_board() {
        let [own, sum] = [(); 2].map(|()| crate::buffer::OwnedBuf::new(1 << 20));
        let word = Datatype::of::<u64>();
        let boards = boards(32 << 10);
        for block in [4 << 10, 16 << 10, 64 << 10] {
            let team = Team::new(ContextId::WORLD, Arc::new(Group::range(0, 16)), 3, Accord::of_cpus(true));
            team.is_crowd(2, Some(&boards));
            let reduced = Reduced::new(Some(own.user_buf()), sum.user_buf(), block / 8, &word);
            let schedule = coll::reduce_scatter_block(&team, reduced, &Op::from(Predefined::Sum)).unwrap();
            assert!(schedule.0.boards.is_empty(), "blocks of {block} bytes");
        }
    }

    /// A persistent operation has boards only while it runs.
    #[test]
    fn what_is_started_again_and_again_keeps_no_board() {
        let [own, sum] = [(); 2].map(|()| crate::buffer::OwnedBuf::new(4 << 20));
        let word = Datatype::of::<u64>();
        let boards = boards(32 << 10);
        let persistent: Vec<_> = (0..20)
            .map(|_| {
                let team =
                    Team::new(ContextId::WORLD, Arc::new(Group::range(0, 8)), 3, Accord::of_cpus(true));
                team.is_crowd(2, Some(&boards));
                let reduced = Reduced::new(Some(own.user_buf()), sum.user_buf(), (4 << 20) / 8, &word);
                coll::allreduce(&team, reduced, &Op::from(Predefined::Sum)).unwrap().repeated()
            })
            .collect();
        assert!(
            persistent.iter().all(|schedule| schedule.0.boards.is_empty() && schedule.0.absent.len() == 1)
        );
        let free = || boards.free().iter().map(Block::len).sum::<usize>();
        assert!((1..=KEPT).contains(&free()));
        let block = Block::new(Some(&boards.heap), 4 << 20).unwrap();
        // What was on the board is where the new one is.
        let taken = boards.take(4 << 20, 0).unwrap();
        let running = persistent[0].0.lent();
        assert_ne!(running.boards[0].base(), taken.base());
        let source = |plan: &coll::steps::Plan| {
            let sent = plan.steps.iter().find_map(|step| match step {
                Step::Send { segment, .. } => segment.contiguous_rest(),
                _ => None,
            });
            sent.expect("something is sent").0
        };
        assert_eq!(source(&running), running.boards[0].base());
        let copied = running.steps.iter().find_map(|step| match step {
            Step::Copy { from, to } => Some((from.contiguous_rest()?.0, to.contiguous_rest()?)),
            _ => None,
        });
        assert_eq!(copied, Some((own.user_buf(), (running.boards[0].base(), 4 << 20))));
        drop((running, taken, block));
        assert!(free() <= KEPT);
    }

    #[test]
    fn few_combine_what_lies_on_boards() {
        let [own, sum] = [(); 2].map(|()| crate::buffer::OwnedBuf::new(1 << 20));
        let word = Datatype::of::<u64>();
        let boards = boards(32 << 10);
        // What a rank copies, where from; to whom it sends from elsewhere than its own memory.
        let look = |n: u32, rank: u32, bytes: u64| {
            let team = Team::new(ContextId::WORLD, Arc::new(Group::range(0, n)), rank, Accord::of_cpus(true));
            team.is_crowd(2, Some(&boards));
            let reduced = Reduced::new(Some(own.user_buf()), sum.user_buf(), bytes / 8, &word);
            let schedule = coll::allreduce(&team, reduced, &Op::from(Predefined::Sum)).unwrap();
            let base = |segment: &Segment| segment.contiguous_rest().map(|(base, _)| base);
            let steps = schedule.0.steps.iter();
            let copied: Vec<_> = steps
                .clone()
                .filter_map(|step| if let Step::Copy { from, .. } = step { base(from) } else { None })
                .collect();
            let is_own = |at: Option<UserBuf>| at == Some(own.user_buf());
            let sent: Vec<u32> = steps
                .filter_map(|step| match step {
                    Step::Send { to, segment } if !is_own(base(segment)) => Some(to.0),
                    _ => None,
                })
                .collect();
            (copied, sent)
        };
        let [own, sum] = [&own, &sum].map(|buf| buf.user_buf());
        assert_eq!(look(8, 0, 64 << 10), (vec![sum], (1..8).collect()), "it owns all, and gives it to all");
        assert_eq!(look(8, 3, 64 << 10), (vec![own], vec![0]), "it owns nothing");
        assert_eq!(look(8, 3, 1 << 20), (vec![own], vec![0, 1]));
        assert_eq!(look(8, 3, 16 << 10), (vec![], vec![]), "up a tree");
        assert_eq!(look(4, 3, 32 << 10).0, vec![], "the bounce buffers hold it");
        assert_eq!(look(16, 3, 32 << 10), (vec![own], vec![0]), "they do not");
        assert_eq!(look(16, 3, 16 << 10), (vec![], vec![]), "it is short");
    }

    #[test]
    fn what_goes_to_several_is_copied_once() {
        let data = crate::buffer::OwnedBuf::new(1 << 20);
        let byte = Datatype::of::<u8>();
        let steps = |n, count, boards: Option<&Arc<Boards>>| {
            let team = Team::new(ContextId::WORLD, Arc::new(Group::range(0, n)), 0, Accord::of_cpus(true));
            team.is_crowd(2, boards);
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
