//! Which algorithm a collective operation takes: pure functions and their tables.
//!
//! What must stay true: every member comes to the same choice, so a choice depends only on what is the same everywhere:
//! the size of the team, the bytes of the message, whether CPUs are shared, and how many there are where all members share those of one
//! host. What depends on the bytes goes into the label of the messages ([`label`](super::label)): members may say different counts.

/// Members that one member serves in one round where CPUs are shared: a leaf then runs once in an operation, and
/// only teams larger than this have more than one level.
const CROWDED_RADIX: u32 = 64;
/// Radix of trees where every member has a CPU: a hop takes as long as a few sends.
const RADIX: u32 = 4;
/// The number of an allreduce in groups of more than two, for the label: none of owners of so short an operand, nor of lanes.
const IN_GROUPS: u32 = 255;
/// Radix of exchanges between nodes.
const FAR_RADIX: u32 = 4;
/// Longest operand, in bytes, of which several copies leave at once: longer ones take longer to leave than to get there.
const AT_ONCE: u64 = 4 << 10;
/// Shortest message that is worth cutting into blocks, and shortest block, in bytes.
const LONG: u64 = 16 << 10;
const LONG_BLOCK: u64 = 2 << 10;
/// Shortest broadcast in blocks.
const LONG_BCAST: u64 = 64 << 10;
/// Shortest operand that is combined where it arrives, in bytes: of shorter ones the copy costs less than waiting for one after the
/// other.
const ON_ARRIVAL: u64 = 1 << 10;
/// Pieces in which long data goes down a tree of several levels, in bytes: each fits into a bounce buffer of up to 16 ranks. No round
/// number: data that is a multiple of it takes a message more.
pub(super) const PIECE: u64 = (32 << 10) - 64;
/// So many pieces are on their way to each member below at a time: each takes a request, and all are looked at in turn.
pub(super) const PIECES_AT_ONCE: u64 = 32;
/// Where all share the CPUs of one host: members so few that all combine (measured with eight bounce buffers each), and bytes of all
/// operands from which on those of more members are long.
const FEW: u32 = 6;
const MUCH: u64 = 256 << 10;
/// Bytes for which one member there combines the operands of all, where there are [few](Cpus::are_for_few) for each CPU and where there
/// are more; the result goes to all, or to the root.
const OWNED_FOR_ALL: [u64; 2] = [16 << 10, 64 << 10];
const OWNED_FOR_ROOT: [u64; 2] = [1, 256 << 10];
/// Longest message to one member that goes on a board: of longer ones the copy costs more than the wait.
const LONGEST_TO_ONE: u64 = 1 << 20;
/// Longest data that goes on a board, and fewest members that copy it from there.
pub(super) const LONGEST_BOARD: u64 = 4 << 20;
const BOARD_MEMBERS: usize = 3;
/// Block length from which on each block of an allgather takes the direct way.
const DIRECT_BLOCK: u64 = 4 << 10;
/// Most members that take it where CPUs are shared: the messages grow with the square.
const CROWDED_DIRECT: u32 = 8;
/// Most bytes of all members' blocks that go through one member: messages take more time than their bytes, up to about 1 KiB each.
const THROUGH_ONE: u64 = 64 << 10;
/// The same where more than [`FEW`] share the CPUs of one host, and the longest block there.
const THROUGH_ONE_OF_HOST: u64 = 256 << 10;
const BLOCK_THROUGH_ONE: u64 = 2 << 10;
/// Most bytes that all members of a node have for those of another one, where they go in one message.
const COMBINED: u64 = 32 << 10;
/// Most bytes of all edges between two neighbours that are packed for their message.
const PACKED: u64 = 32 << 10;
/// Length of a part from which on each member of a node combines its own with those of other nodes.
const LANE_PART: u64 = 64 << 10;
/// Length of a block from which on both members of each node, or all of them, gather those of other nodes.
const GATHERED_BY_TWO: u64 = 16 << 10;
const GATHERED_BY_ALL: u64 = 1 << 20;
/// Most members that all talk to all at once.
const DIRECT_MEMBERS: u32 = 32;

/// Who shares CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cpus {
    /// Each member has its own.
    Own,
    /// Some members share some.
    Shared,
    /// All members share so many of one host.
    OneHost(u32),
}

impl Cpus {
    /// Whether so many members are no more than two on each of the CPUs that they share.
    fn are_for_few(self, n: u32) -> bool {
        if let Self::OneHost(cpus) = self { n <= cpus.saturating_mul(2) } else { true }
    }
}

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
    /// So many members combine a block each and give it to the root, which is one of them.
    Blocks(u32),
}

/// Ways of a reduction to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allreduce {
    /// Up and down a tree of this radix.
    Tree(u32),
    /// Groups of so many, or of pairs, at growing distance exchange what they have.
    Multiplying(u32),
    /// So many members combine a block each and give it to everybody.
    Blocks(u32),
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

/// Ways of a reduction of which everybody gets a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReduceScatter {
    /// Everybody sends everybody the elements of its block.
    Direct,
    /// One member combines all, and gives everybody its block.
    ThroughOne,
}

/// Ways of a prefix reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scan {
    /// log2(n) rounds, in which almost everybody sends, receives and combines.
    Doubling,
    /// One after the other: n rounds, in each of which one member does.
    Chain,
}

/// Whether blocks that all send to all go through the leaders of nodes, of which the largest has so many members: where a message takes
/// longer than their bytes.
pub(super) fn alltoall_goes_through_leaders(members: u32, block: u64) -> bool {
    let members = u64::from(members);
    block.saturating_mul(members).saturating_mul(members) <= COMBINED
}

/// Whether each of so many members on each node combines a part of so many bytes with those on the others: what is long takes longer
/// through one of them, what is short takes more messages. J. L. Träff, S. Hunold, "Decomposing MPI collectives for exploiting multi-lane
/// communication" (CLUSTER 2020).
pub(super) fn takes_lanes(members: u32, part: u64, oversubscribed: bool) -> bool {
    part >= LANE_PART && members <= if oversubscribed { CROWDED_DIRECT } else { DIRECT_MEMBERS }
}

/// Whether each of so many members on each node gathers blocks of so many bytes from other nodes: two always share the work; of more, each hands
/// on what it gets to all others, in more messages than one member would.
pub(super) fn gathers_in_lanes(members: u32, block: u64, oversubscribed: bool) -> bool {
    let least = if members <= 2 { GATHERED_BY_TWO } else { GATHERED_BY_ALL };
    block >= least && takes_lanes(members, block.max(LANE_PART), oversubscribed)
}

/// Whether blocks of so many bytes that go in one message are packed for it: where copies cost less than a datatype that says where the
/// blocks lie. Each side may choose its own.
pub(super) fn are_packed(bytes: u64) -> bool {
    bytes <= PACKED
}

impl Bcast {
    /// Its number among the ways of a broadcast, for the label of its messages.
    pub(super) fn number(self) -> u32 {
        if let Self::Blocks = self { 1 } else { 0 }
    }
}

impl Reduce {
    /// The same of a reduction.
    pub(super) fn number(self) -> u32 {
        if let Self::Blocks(owners) = self { owners } else { 0 }
    }
}

impl Allreduce {
    /// The same of a reduction to all. Trees and pairs are never chosen for the same members.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Blocks(owners) => owners,
            Self::Multiplying(radix) if radix > 2 => IN_GROUPS,
            Self::Multiplying(_) | Self::Tree(_) => 0,
        }
    }
}

impl Allgather {
    /// The same of a gather to all.
    pub(super) fn number(self) -> u32 {
        match self {
            Self::Tree(_) => 0,
            Self::Dissemination => 1,
            Self::Direct => 2,
            Self::Ring => 3,
        }
    }
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
    if n > 2 && bytes >= LONG_BCAST && bytes / u64::from(n) >= LONG_BLOCK && !oversubscribed {
        Bcast::Blocks
    } else {
        Bcast::Tree(radix(oversubscribed))
    }
}

/// The way of a reduction of so many bytes. Between two with a CPU each the root combines what arrives while the rest is on its way, if
/// the operation `is_predefined`: to share that out takes a second message.
pub(super) fn reduce(n: u32, bytes: u64, cpus: Cpus, is_predefined: bool) -> Reduce {
    if n == 2 && cpus == Cpus::Own && is_predefined {
        return Reduce::Tree(RADIX);
    }
    match owners(n, bytes, cpus, OWNED_FOR_ROOT) {
        Some(owners) => Reduce::Blocks(owners),
        None => Reduce::Tree(radix(cpus != Cpus::Own)),
    }
}

/// The way of a reduction to all of so many bytes.
pub(super) fn allreduce(n: u32, bytes: u64, cpus: Cpus) -> Allreduce {
    if let Some(owners) = owners(n, bytes, cpus, OWNED_FOR_ALL) {
        Allreduce::Blocks(owners)
    } else if cpus != Cpus::Own && n > 2 {
        Allreduce::Tree(CROWDED_RADIX)
    } else {
        Allreduce::Multiplying(2)
    }
}

/// The same between nodes, of which one member each takes part.
pub(super) fn allreduce_of_nodes(nodes: u32, bytes: u64, oversubscribed: bool) -> Allreduce {
    match allreduce(nodes, bytes, Cpus::Own) {
        Allreduce::Multiplying(_) if bytes <= AT_ONCE => {
            Allreduce::Multiplying(radix_of_nodes(oversubscribed))
        }
        way => way,
    }
}

/// Members of a group that exchange something between nodes at once: a message is on its way for longer than some take to leave, but where
/// CPUs are shared the work counts.
pub(super) fn radix_of_nodes(oversubscribed: bool) -> u32 {
    if oversubscribed { 2 } else { FAR_RADIX }
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
pub(super) fn alltoall(n: u32, block: u64, cpus: Cpus) -> Alltoall {
    if go_through_one(n, block, cpus) { Alltoall::ThroughOne } else { Alltoall::Direct }
}

/// The way of a reduction of which everybody gets a block of so many bytes.
pub(super) fn reduce_scatter(n: u32, block: u64, cpus: Cpus) -> ReduceScatter {
    if go_through_one(n, block, cpus) { ReduceScatter::ThroughOne } else { ReduceScatter::Direct }
}

/// Whether it takes less time to give one member all that everybody has for everybody than to send it there.
fn go_through_one(n: u32, block: u64, cpus: Cpus) -> bool {
    let all = u64::from(n).saturating_mul(u64::from(n)).saturating_mul(block);
    match cpus {
        Cpus::Own => false,
        Cpus::Shared => n > 2 && all <= THROUGH_ONE,
        Cpus::OneHost(_) => n > FEW && block <= BLOCK_THROUGH_ONE && all <= THROUGH_ONE_OF_HOST,
    }
}

/// The way of a prefix reduction of members who are on one host and share its CPUs (`is_crowd`), or not.
pub(super) fn scan(n: u32, is_crowd: bool) -> Scan {
    if is_crowd && n > 2 { Scan::Chain } else { Scan::Doubling }
}

/// How many messages a member of an exchange of all with all has under way in each direction.
pub(super) fn exchange_window() -> u32 {
    DIRECT_MEMBERS
}

/// Whether operands of so many bytes are combined where they arrive.
pub(super) fn is_combined_on_arrival(bytes: u64) -> bool {
    bytes >= ON_ARRIVAL
}

/// Whether data that goes to one member goes on a board, so that its sender need not wait. Neither is this a choice to be shared.
pub(super) fn is_for_a_board_to_one(bytes: u64) -> bool {
    bytes <= LONGEST_TO_ONE
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

/// Whether the operand of each of so many members goes on a board, out of which few combine. As [`is_for_a_board`] this is no choice
/// that members have to share.
pub(super) fn is_combined_from_board(n: u32, bytes: u64, cpus: Cpus) -> bool {
    (LONG..=LONGEST_BOARD).contains(&bytes) && !cpus.are_for_few(n) && is_much(n, bytes)
}

/// How many members combine a block each of operands of so many bytes, if that is worth it. Where many share each CPU of one host, no more
/// than there are CPUs can combine at once, and each is one more to be waited for.
fn owners(n: u32, bytes: u64, cpus: Cpus, [owned_by_few, owned]: [u64; 2]) -> Option<u32> {
    let blocks = |bytes_of_each: u64, least: u32, most: u32| {
        let blocks = (bytes / bytes_of_each).clamp(least.into(), most.into());
        Some(blocks.min(n.into()) as u32).filter(|_| bytes >= LONG)
    };
    match cpus {
        Cpus::OneHost(shared) if cpus.are_for_few(n) => blocks(owned_by_few, shared, n.max(shared)),
        Cpus::OneHost(shared) if n <= FEW => blocks(owned, shared, shared),
        Cpus::OneHost(shared) => blocks(owned, 1, shared).filter(|_| is_much(n, bytes)),
        _ => (bytes >= LONG && bytes / u64::from(n.max(1)) >= LONG_BLOCK).then_some(n),
    }
}

fn is_much(n: u32, bytes: u64) -> bool {
    bytes.saturating_mul(n.into()) >= MUCH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_each_member_has_a_cpu() {
        for (n, bytes, expected) in [
            (2, 8, Allreduce::Multiplying(2)),
            (2, 1 << 20, Allreduce::Blocks(2)),
            (16, 8 << 10, Allreduce::Multiplying(2)),
            (16, 32 << 10, Allreduce::Blocks(16)),
            (64, 32 << 10, Allreduce::Multiplying(2)),
            (64, 128 << 10, Allreduce::Blocks(64)),
        ] {
            assert_eq!(allreduce(n, bytes, Cpus::Own), expected, "{n} members, {bytes} bytes");
        }
        assert_eq!(barrier(16, false), Barrier::Dissemination);
        assert_eq!(bcast(16, 8, false), Bcast::Tree(4));
        assert_eq!(bcast(2, 1 << 20, false), Bcast::Tree(4));
        assert_eq!(bcast(3, 1 << 20, false), Bcast::Blocks);
        assert_eq!(reduce(4, 8, Cpus::Own, true), Reduce::Tree(4));
        assert_eq!(reduce(2, 1 << 20, Cpus::Own, true), Reduce::Tree(4));
        assert_eq!(reduce(2, 1 << 20, Cpus::Own, false), Reduce::Blocks(2));
        assert_eq!(reduce(4, 1 << 20, Cpus::Own, true), Reduce::Blocks(4));
        assert_eq!(allgather(16, 8, false), Allgather::Dissemination);
        assert_eq!(allgather(16, 8 << 10, false), Allgather::Direct);
        assert_eq!(allgather(64, 8 << 10, false), Allgather::Ring);
        assert_eq!(allgather(2, 8, false), Allgather::Direct);
    }

    #[test]
    fn where_members_share_cpus() {
        for n in [3, 16, 64, 1000] {
            assert_eq!(barrier(n, true), Barrier::Tree(64));
            assert_eq!(allreduce(n, 8, Cpus::Shared), Allreduce::Tree(64));
            assert_eq!(bcast(n, 1 << 20, true), Bcast::Tree(64));
            assert_eq!(reduce(n, 8, Cpus::Shared, true), Reduce::Tree(64));
            assert_eq!(reduce(n, 16 << 20, Cpus::Shared, true), Reduce::Blocks(n));
            assert_eq!(allgather(n, 8, true), Allgather::Tree(64));
            let few = if n * n * 8 <= 64 << 10 { Alltoall::ThroughOne } else { Alltoall::Direct };
            assert_eq!((alltoall(n, 8, Cpus::Shared), alltoall(n, 8, Cpus::Own)), (few, Alltoall::Direct));
            let long = if n == 3 { Allgather::Direct } else { Allgather::Tree(64) };
            assert_eq!(allgather(n, 1 << 20, true), long);
        }
        assert_eq!(barrier(2, true), Barrier::Dissemination);
        for (cpus, n, longest) in
            [(Cpus::Shared, 8, 1024), (Cpus::OneHost(2), 8, 2048), (Cpus::OneHost(2), 32, 256)]
        {
            let ways = (alltoall(n, longest, cpus), alltoall(n, longest + 1, cpus));
            assert_eq!(ways, (Alltoall::ThroughOne, Alltoall::Direct), "{n} members, {cpus:?}");
        }
        assert_eq!(alltoall(6, 8, Cpus::OneHost(2)), Alltoall::Direct);
        assert_eq!(reduce_scatter(8, 2048, Cpus::OneHost(2)), ReduceScatter::ThroughOne);
        assert_eq!(reduce_scatter(8, 2049, Cpus::OneHost(2)), ReduceScatter::Direct);
        assert_eq!([2, 3].map(|n| scan(n, true)), [Scan::Doubling, Scan::Chain]);
        assert_eq!(scan(64, false), Scan::Doubling);
        let gathered = [(2, 16 << 10), (2, 8), (4, 512 << 10), (4, 1 << 20)];
        assert_eq!(gathered.map(|(n, block)| gathers_in_lanes(n, block, true)), [true, false, false, true]);
        assert_eq!(alltoall(2, 8, Cpus::Shared), Alltoall::Direct);
        assert_eq!(allreduce(2, 8, Cpus::Shared), Allreduce::Multiplying(2));
    }

    #[test]
    fn where_all_share_the_cpus_of_one_host() {
        for (n, bytes, expected) in [
            (2, 8, Allreduce::Multiplying(2)),
            (2, 1 << 20, Allreduce::Blocks(2)),
            (4, (16 << 10) - 1, Allreduce::Tree(64)),
            (4, 16 << 10, Allreduce::Blocks(2)),
            (4, 48 << 10, Allreduce::Blocks(3)),
            (4, 1 << 20, Allreduce::Blocks(4)),
            (6, 16 << 10, Allreduce::Blocks(2)),
            (6, 4 << 20, Allreduce::Blocks(2)),
            (8, (32 << 10) - 1, Allreduce::Tree(64)),
            (8, 32 << 10, Allreduce::Blocks(1)),
            (8, 128 << 10, Allreduce::Blocks(2)),
            (8, 4 << 20, Allreduce::Blocks(2)),
            (64, 15 << 10, Allreduce::Tree(64)),
            (64, 16 << 10, Allreduce::Blocks(1)),
        ] {
            assert_eq!(allreduce(n, bytes, Cpus::OneHost(2)), expected, "{n} members, {bytes} bytes");
        }
        assert_eq!(allreduce(3, 16 << 10, Cpus::OneHost(12)), Allreduce::Blocks(3));
        assert_eq!(allreduce(6, 1 << 20, Cpus::OneHost(1)), Allreduce::Blocks(1));
        assert_eq!(allreduce(100, 1 << 20, Cpus::OneHost(12)), Allreduce::Blocks(12));
        assert_eq!(reduce(4, 16 << 10, Cpus::OneHost(2), true), Reduce::Blocks(4));
        assert_eq!(reduce(8, 31 << 10, Cpus::OneHost(2), true), Reduce::Tree(64));
        assert_eq!(reduce(8, 256 << 10, Cpus::OneHost(2), true), Reduce::Blocks(1));
        assert_eq!(reduce(8, 1 << 20, Cpus::OneHost(2), true), Reduce::Blocks(2));
    }
}
