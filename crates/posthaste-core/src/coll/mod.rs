//! Collective operations as schedules (MPI-5.0 chapter 6).
//!
//! It knows `pt2pt` by (context, peer) only, never by a communicator.
//!
//! - [`Team`]: who takes part. `plan`: what the algorithms have in common; `recent`: plans of calls that come again. [`Schedule`], [`Running`], [`Walk`]:
//!   how steps are taken; `straight`: while nothing is out of the ordinary; `place`: whatever happens; `behind`: what is left behind. `steps`: what they are. `choose`: which algorithm. `board`: where several copy the same data from. `tree`: shapes. `nodes`, `levels`: members on several nodes. One file for each family of operations.
//! - [`inter`]: the same operations across the two groups of an intercommunicator.
//!
//! What must stay true: operands are combined in an order that does not depend on who comes first, and in that of ranks if they do not
//! commute; every rank of an allreduce gets the same bits.

mod small_exchanges;
mod abandoned;
mod allgather;
mod alltoall;
mod barrier;
mod bcast;
mod behind;
mod board;
mod choose;
mod gather;
pub mod inter;
mod label;
mod levels;
mod local;
mod neighbor;
mod nodes;
mod owned;
mod place;
mod plan;
mod recent;
mod reduce;
mod scan;
mod schedule;
mod staged;
mod steps;
mod straight;
mod stray;
mod team;
#[cfg(test)]
mod tests;
mod tree;

pub use allgather::{allgather, allgatherv};
pub use alltoall::{TypedBlocks, alltoall, alltoallv, alltoallw};
pub use barrier::{barrier, disconnect, fence, free_window};
pub use bcast::bcast;
pub use board::Boards;
pub use gather::{gather, gatherv, scatter, scatterv};
pub use inter::Bridge;
pub use local::{copy_locally, reduce_locally};
pub use neighbor::{
    Neighbors, neighbor_allgather, neighbor_allgatherv, neighbor_alltoall, neighbor_alltoallv,
    neighbor_alltoallw,
};
pub use nodes::Nodes;
pub use owned::{Data, Pieces, TypedPieces};
pub use plan::{Blocks, Operand, Reduced, check_types};
pub use recent::Call;
pub use reduce::{allreduce, reduce, reduce_scatter, reduce_scatter_block};
pub use scan::{exscan, scan};
pub use schedule::{About, Running, Schedule, Walk, advance};
pub use small_exchanges::{
    broadcast, broadcast_group, broadcast_some, exchange, neighbors_in_group, pass_on, share, swap, unite,
};
pub use team::{Accord, Team};
