//! Which algorithm a collective operation takes: pure functions and their tables.
//!
//! Called by the plans; calls nothing. What must stay true: every member comes to the same choice, so a choice
//! depends only on what is the same everywhere: the size of the team, the bytes of the message, whether CPUs are
//! shared, the properties of the operation.

/// Members that one member serves in one round where CPUs are shared: a leaf then runs once in an operation, and
/// only teams larger than this have more than one level.
const CROWDED_RADIX: u32 = 64;
/// Radix of trees where every member has a CPU: a hop takes as long as a few sends.
const RADIX: u32 = 4;

/// Radix of trees.
pub(super) fn radix(crowded: bool) -> u32 {
    if crowded { CROWDED_RADIX } else { RADIX }
}

/// Ways of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Barrier {
    /// log2(n) rounds in which everybody sends and receives.
    Dissemination,
    /// Up and down a tree of this radix.
    Tree(u32),
}

/// The way of a barrier.
pub(super) fn barrier(n: u32, crowded: bool) -> Barrier {
    if crowded && n > 2 { Barrier::Tree(CROWDED_RADIX) } else { Barrier::Dissemination }
}
