//! Which algorithm a collective operation takes: pure functions and their tables.
//!
//! What must stay true: every member comes to the same choice, so a choice depends only on what is the same everywhere:
//! the size of the team, the bytes of the message, and whether CPUs are shared.

/// Members that one member serves in one round where CPUs are shared: a leaf then runs once in an operation, and
/// only teams larger than this have more than one level.
const CROWDED_RADIX: u32 = 64;
/// Radix of trees where every member has a CPU: a hop takes as long as a few sends.
const RADIX: u32 = 4;
/// Shortest message that is worth cutting into blocks, and shortest block, in bytes.
const LONG: u64 = 16 << 10;
const LONG_BLOCK: u64 = 2 << 10;
/// Shortest broadcast in blocks.
const LONG_BCAST: u64 = 64 << 10;
/// Shortest operand that is combined where it arrives, in bytes: of shorter ones the copy costs less than waiting for one after the
/// other.
const ON_ARRIVAL: u64 = 1 << 10;
/// Pieces in which long data goes down a tree of several levels, in bytes: each fits into a bounce buffer. No round number: data that is
/// a multiple of it takes a message more.
pub(super) const PIECE: u64 = (32 << 10) - 64;
/// Longest data that goes on a board, and fewest members that copy it from there.
const LONGEST_BOARD: u64 = 4 << 20;
const BOARD_MEMBERS: usize = 3;
/// Block length from which on each block of an allgather takes the direct way.
const DIRECT_BLOCK: u64 = 4 << 10;
/// Most members that take it where CPUs are shared: the messages grow with the square.
const CROWDED_DIRECT: u32 = 8;
/// Most bytes of all members' blocks that go through one member: messages take more time than their bytes, up to about 1 KiB each.
const THROUGH_ONE: u64 = 64 << 10;
/// Most members that all talk to all at once.
const DIRECT_MEMBERS: u32 = 32;

/// Ways of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Barrier {
    /// log2(n) rounds in which everybody sends and receives.
    Dissemination,
    /// Up and down a tree of this radix.
    Tree(u32),
}

/// Ways of a broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bcast {
    /// Down a tree of this radix.
    Tree(u32),
    /// The root gives everybody a block, and everybody gives it to everybody.
    Blocks,
}

/// Ways of a reduction to one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduce {
    /// Up a tree of this radix.
    Tree(u32),
    /// Everybody combines a block and gives it to the root.
    Blocks,
}

/// Ways of a reduction to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allreduce {
    /// Up and down a tree of this radix.
    Tree(u32),
    /// Pairs at growing distance exchange what they have.
    Doubling,
    /// Everybody combines a block and gives it to everybody.
    Blocks,
}

/// Ways of a gather to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allgather {
    /// Up and down a tree of this radix.
    Tree(u32),
    /// Like the barrier, with the blocks collected so far.
    Dissemination,
    /// Everybody gives its block to everybody.
    Direct,
    /// Every block goes round.
    Ring,
}

/// Ways of an exchange of all with all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alltoall {
    /// Everybody sends everybody its block.
    Direct,
    /// Everybody sends all of its blocks to one member and gets its own from there: twice as many bytes, in a message each way.
    ThroughOne,
}

/// Radix of a tree in which data is only moved, not combined: copies at inner members cost more than messages.
pub(super) fn moving_radix() -> u32 {
    CROWDED_RADIX
}

/// The way of a barrier.
pub(super) fn barrier(n: u32, oversubscribed: bool) -> Barrier {
    if oversubscribed && n > 2 { Barrier::Tree(CROWDED_RADIX) } else { Barrier::Dissemination }
}

/// The way of a broadcast of so many bytes.
pub(super) fn bcast(n: u32, bytes: u64, oversubscribed: bool) -> Bcast {
    if n > 2 && bytes >= LONG_BCAST && !oversubscribed {
        Bcast::Blocks
    } else {
        Bcast::Tree(radix(oversubscribed))
    }
}

/// The way of a reduction of so many bytes.
pub(super) fn reduce(n: u32, bytes: u64, oversubscribed: bool) -> Reduce {
    if is_long(n, bytes) { Reduce::Blocks } else { Reduce::Tree(radix(oversubscribed)) }
}

/// The way of a reduction to all of so many bytes.
pub(super) fn allreduce(n: u32, bytes: u64, oversubscribed: bool) -> Allreduce {
    if is_long(n, bytes) {
        Allreduce::Blocks
    } else if oversubscribed && n > 2 {
        Allreduce::Tree(CROWDED_RADIX)
    } else {
        Allreduce::Doubling
    }
}

/// The way of a gather to all with so many bytes in each block.
pub(super) fn allgather(n: u32, block: u64, oversubscribed: bool) -> Allgather {
    let is_short = block < DIRECT_BLOCK && n > 2;
    if oversubscribed && (is_short || n > CROWDED_DIRECT) {
        Allgather::Tree(CROWDED_RADIX)
    } else if is_short {
        Allgather::Dissemination
    } else if n <= DIRECT_MEMBERS {
        Allgather::Direct
    } else {
        Allgather::Ring
    }
}

/// The way of an exchange of all with all with so many bytes in each block.
pub(super) fn alltoall(n: u32, block: u64, oversubscribed: bool) -> Alltoall {
    let all = u64::from(n).saturating_mul(u64::from(n)).saturating_mul(block);
    if oversubscribed && n > 2 && all <= THROUGH_ONE { Alltoall::ThroughOne } else { Alltoall::Direct }
}

/// How many messages a member of an exchange of all with all has under way in each direction.
pub(super) fn exchange_window() -> u32 {
    DIRECT_MEMBERS
}

/// Whether operands of so many bytes are combined where they arrive.
pub(super) fn is_combined_on_arrival(bytes: u64) -> bool {
    bytes >= ON_ARRIVAL
}

/// Whether data that goes to so many members goes on a board, where there are boards. This is no choice that members have to share:
/// their messages are the same.
pub(super) fn is_for_a_board(bytes: u64, members: usize) -> bool {
    bytes <= LONGEST_BOARD && members >= BOARD_MEMBERS
}

/// Whether data may go down a tree of this radix in pieces: inner members pass each piece on while the next one comes.
pub(super) fn may_come_in_pieces(n: u32, radix: u32) -> bool {
    n > radix
}

/// In how many pieces so many bytes go there. All but the last one are of [`PIECE`] bytes and the last one is not, so that each tells
/// whether others follow.
pub(super) fn pieces(bytes: u64) -> u64 {
    if bytes >= 2 * PIECE || bytes == PIECE { bytes / PIECE + 1 } else { 1 }
}

/// Radix of trees for short messages.
pub(super) fn radix(oversubscribed: bool) -> u32 {
    if oversubscribed { CROWDED_RADIX } else { RADIX }
}

fn is_long(n: u32, bytes: u64) -> bool {
    bytes >= LONG && bytes / u64::from(n.max(1)) >= LONG_BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_each_member_has_a_cpu() {
        for (n, bytes, expected) in [
            (2, 8, Allreduce::Doubling),
            (2, 1 << 20, Allreduce::Blocks),
            (16, 8 << 10, Allreduce::Doubling),
            (16, 32 << 10, Allreduce::Blocks),
            (64, 32 << 10, Allreduce::Doubling),
            (64, 128 << 10, Allreduce::Blocks),
        ] {
            assert_eq!(allreduce(n, bytes, false), expected, "{n} members, {bytes} bytes");
        }
        assert_eq!(barrier(16, false), Barrier::Dissemination);
        assert_eq!(bcast(16, 8, false), Bcast::Tree(4));
        assert_eq!(bcast(2, 1 << 20, false), Bcast::Tree(4));
        assert_eq!(bcast(3, 1 << 20, false), Bcast::Blocks);
        assert_eq!(reduce(4, 8, false), Reduce::Tree(4));
        assert_eq!(reduce(4, 1 << 20, false), Reduce::Blocks);
        assert_eq!(allgather(16, 8, false), Allgather::Dissemination);
        assert_eq!(allgather(16, 8 << 10, false), Allgather::Direct);
        assert_eq!(allgather(64, 8 << 10, false), Allgather::Ring);
        assert_eq!(allgather(2, 8, false), Allgather::Direct);
    }

    #[test]
    fn where_members_share_cpus() {
        for n in [3, 16, 64, 1000] {
            assert_eq!(barrier(n, true), Barrier::Tree(64));
            assert_eq!(allreduce(n, 8, true), Allreduce::Tree(64));
            assert_eq!(bcast(n, 1 << 20, true), Bcast::Tree(64));
            assert_eq!(reduce(n, 8, true), Reduce::Tree(64));
            assert_eq!(reduce(n, 16 << 20, true), Reduce::Blocks);
            assert_eq!(allgather(n, 8, true), Allgather::Tree(64));
            let few = if n * n * 8 <= 64 << 10 { Alltoall::ThroughOne } else { Alltoall::Direct };
            assert_eq!((alltoall(n, 8, true), alltoall(n, 8, false)), (few, Alltoall::Direct));
            let long = if n == 3 { Allgather::Direct } else { Allgather::Tree(64) };
            assert_eq!(allgather(n, 1 << 20, true), long);
        }
        assert_eq!(barrier(2, true), Barrier::Dissemination);
        assert_eq!(
            (alltoall(8, 1024, true), alltoall(8, 1025, true)),
            (Alltoall::ThroughOne, Alltoall::Direct)
        );
        assert_eq!(alltoall(2, 8, true), Alltoall::Direct);
        assert_eq!(allreduce(2, 8, true), Allreduce::Doubling);
    }
}
