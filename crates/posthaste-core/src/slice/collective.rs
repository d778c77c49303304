//! Collective operations on borrowed slices: those that move data (MPI-5.0 §6.3 to §6.8).
//!
//! What must stay true: a schedule reaches no further than the slices of its arguments, whose lengths are checked here first.

use std::marker::PhantomData;

use super::Counts;
use crate::buffer::{Equivalence, UserBuf};
use crate::coll::{self, Operand, Schedule, Team};
use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result};

/// A collective operation on borrowed slices, ready to be started.
///
/// ```compile_fail,E0499
/// use posthaste_core::{coll::Team, op::Op, slice::Collective};
/// fn twice(team: &Team, sum: &Op, data: &mut [i32]) {
///     let first = Collective::allreduce_in_place(team, data, sum);
///     let second = Collective::allreduce_in_place(team, data, sum); // error: cannot borrow as mutable more than once
///     drop((first, second));
/// }
/// ```
#[derive(Debug)]
pub struct Collective<'a> {
    schedule: Schedule,
    borrow: PhantomData<&'a mut [u8]>,
}

impl<'a> Collective<'a> {
    /// Every rank has started it.
    pub fn barrier(team: &Team) -> Self {
        Self::of(coll::barrier(team))
    }

    /// The root's `data` is copied to every rank.
    ///
    /// # Errors
    /// A root that is no rank.
    pub fn bcast<T: Equivalence>(team: &Team, data: &'a mut [T], root: i32) -> Result<Self> {
        coll::bcast(team, written(data, data.len(), &Datatype::of::<T>()), root).map(Self::of)
    }

    /// The ranks' `data` is collected in `all` on the root.
    ///
    /// # Errors
    /// A root that is no rank; on the root an `all` that has not the length of all ranks' data.
    pub fn gather<T: Equivalence>(team: &Team, data: &'a [T], all: &'a mut [T], root: i32) -> Result<Self> {
        let datatype = Datatype::of::<T>();
        let is_root = team.rank() == root;
        if is_root {
            check_length("the length of all", all.len(), data.len(), ranks(team))?;
        }
        let recv = is_root.then(|| written(all, data.len(), &datatype));
        coll::gather(team, Some(read(data, &datatype)), recv, root).map(Self::of)
    }

    /// As [`Collective::gather`]; `data` is that of all ranks on the root, whose own is in its place, and elsewhere one rank's.
    ///
    /// # Errors
    /// A root that is no rank; on the root `data` that is no block for each rank.
    pub fn gather_in_place<T: Equivalence>(team: &Team, data: &'a mut [T], root: i32) -> Result<Self> {
        let datatype = Datatype::of::<T>();
        if team.rank() == root {
            let block = block("the length of data", data.len(), ranks(team))?;
            return coll::gather(team, None, Some(written(data, block, &datatype)), root).map(Self::of);
        }
        coll::gather(team, Some(read(data, &datatype)), None, root).map(Self::of)
    }

    /// As [`Collective::gather`], with blocks of different lengths; `counts` are used on the root.
    ///
    /// # Errors
    /// A root that is no rank; on the root blocks outside of `all`, or one over another.
    pub fn gatherv<T: Equivalence>(
        team: &Team,
        data: &'a [T],
        (all, counts): (&'a mut [T], &Counts<'_>),
        root: i32,
    ) -> Result<Self> {
        let datatype = Datatype::of::<T>();
        let mut recv = None;
        if team.rank() == root {
            check_own("data", data.len(), counts.count(root as usize))?;
            recv = Some(counts.write("the length of all", all, of_ranks(team))?);
        }
        let recv = recv.as_ref().map(coll::Pieces::blocks);
        coll::gatherv(team, Some(read(data, &datatype)), recv, root).map(Self::of)
    }

    /// As [`Collective::gatherv`], with `data` as in [`Collective::gather_in_place`].
    ///
    /// # Errors
    /// As [`Collective::gatherv`].
    pub fn gatherv_in_place<T: Equivalence>(
        team: &Team,
        data: &'a mut [T],
        counts: &Counts<'_>,
        root: i32,
    ) -> Result<Self> {
        if team.rank() == root {
            let recv = counts.write("the length of data", data, of_ranks(team))?;
            return coll::gatherv(team, None, Some(recv.blocks()), root).map(Self::of);
        }
        coll::gatherv(team, Some(read(data, &Datatype::of::<T>())), None, root).map(Self::of)
    }

    /// Each rank gets its block of the root's `all` in `data`.
    ///
    /// # Errors
    /// A root that is no rank; on the root an `all` that has not the length of all ranks' data.
    pub fn scatter<T: Equivalence>(team: &Team, all: &'a [T], data: &'a mut [T], root: i32) -> Result<Self> {
        let datatype = Datatype::of::<T>();
        let (is_root, block) = (team.rank() == root, data.len());
        if is_root {
            check_length("the length of all", all.len(), block, ranks(team))?;
        }
        let send = is_root.then(|| Operand::new(UserBuf::borrowed(all), block as u64, &datatype));
        coll::scatter(team, send, Some(written(data, block, &datatype)), root).map(Self::of)
    }

    /// As [`Collective::scatter`]; `data` is that of all ranks on the root, whose own block stays, and elsewhere one rank's.
    ///
    /// # Errors
    /// A root that is no rank; on the root `data` that is no block for each rank.
    pub fn scatter_in_place<T: Equivalence>(team: &Team, data: &'a mut [T], root: i32) -> Result<Self> {
        let datatype = Datatype::of::<T>();
        if team.rank() == root {
            let block = block("the length of data", data.len(), ranks(team))?;
            return coll::scatter(team, Some(written(data, block, &datatype)), None, root).map(Self::of);
        }
        coll::scatter(team, None, Some(written(data, data.len(), &datatype)), root).map(Self::of)
    }

    /// As [`Collective::scatter`], with blocks of different lengths; `counts` are used on the root.
    ///
    /// # Errors
    /// A root that is no rank; on the root blocks outside of `all`.
    pub fn scatterv<T: Equivalence>(
        team: &Team,
        (all, counts): (&'a [T], &Counts<'_>),
        data: &'a mut [T],
        root: i32,
    ) -> Result<Self> {
        let mut send = None;
        if team.rank() == root {
            check_own("data", data.len(), counts.count(root as usize))?;
            send = Some(counts.read("the length of all", all, of_ranks(team))?);
        }
        let datatype = Datatype::of::<T>();
        let send = send.as_ref().map(coll::Pieces::blocks);
        coll::scatterv(team, send, Some(written(data, data.len(), &datatype)), root).map(Self::of)
    }

    /// The ranks' `data` is collected in `all` on every rank.
    ///
    /// # Errors
    /// An `all` that has not the length of all ranks' data.
    pub fn allgather<T: Equivalence>(team: &Team, data: &'a [T], all: &'a mut [T]) -> Result<Self> {
        check_length("the length of all", all.len(), data.len(), ranks(team))?;
        let datatype = Datatype::of::<T>();
        let recv = written(all, data.len(), &datatype);
        coll::allgather(team, Some(read(data, &datatype)), recv).map(Self::of)
    }

    /// As [`Collective::allgather`], with each rank's data in its place.
    ///
    /// # Errors
    /// An `all` that is no block for each rank.
    pub fn allgather_in_place<T: Equivalence>(team: &Team, all: &'a mut [T]) -> Result<Self> {
        let block = block("the length of all", all.len(), ranks(team))?;
        coll::allgather(team, None, written(all, block, &Datatype::of::<T>())).map(Self::of)
    }

    /// As [`Collective::allgather`], with blocks of different lengths.
    ///
    /// # Errors
    /// Blocks outside of `all`, or one over another; `data` that is no block.
    pub fn allgatherv<T: Equivalence>(
        team: &Team,
        data: &'a [T],
        (all, counts): (&'a mut [T], &Counts<'_>),
    ) -> Result<Self> {
        check_own("data", data.len(), counts.count(team.rank() as usize))?;
        let recv = counts.write("the length of all", all, of_ranks(team))?;
        let datatype = Datatype::of::<T>();
        coll::allgatherv(team, Some(read(data, &datatype)), recv.blocks()).map(Self::of)
    }

    /// As [`Collective::allgatherv`], with each rank's data in its place.
    ///
    /// # Errors
    /// Blocks outside of `all`, or one over another.
    pub fn allgatherv_in_place<T: Equivalence>(
        team: &Team,
        all: &'a mut [T],
        counts: &Counts<'_>,
    ) -> Result<Self> {
        let recv = counts.write("the length of all", all, of_ranks(team))?;
        coll::allgatherv(team, None, recv.blocks()).map(Self::of)
    }

    /// Each rank gets its block of everybody's `data`.
    ///
    /// # Errors
    /// A `data` that is no block for each rank; an `all` of another length.
    pub fn alltoall<T: Equivalence>(team: &Team, data: &'a [T], all: &'a mut [T]) -> Result<Self> {
        let block = block("the length of data", data.len(), ranks(team))?;
        check_length("the length of all", all.len(), data.len(), 1)?;
        let datatype = Datatype::of::<T>();
        let send = Operand::new(UserBuf::borrowed(data), block as u64, &datatype);
        coll::alltoall(team, Some(send), written(all, block, &datatype)).map(Self::of)
    }

    /// As [`Collective::alltoall`], with what comes in the place of what went.
    ///
    /// # Errors
    /// A `data` that is no block for each rank.
    pub fn alltoall_in_place<T: Equivalence>(team: &Team, data: &'a mut [T]) -> Result<Self> {
        let block = block("the length of data", data.len(), ranks(team))?;
        coll::alltoall(team, None, written(data, block, &Datatype::of::<T>())).map(Self::of)
    }

    /// As [`Collective::alltoall`], with blocks of different lengths.
    ///
    /// # Errors
    /// Blocks outside of their slices, or one over another in `all`.
    pub fn alltoallv<T: Equivalence>(
        team: &Team,
        (data, sent): (&'a [T], &Counts<'_>),
        (all, received): (&'a mut [T], &Counts<'_>),
    ) -> Result<Self> {
        let own = team.rank() as usize;
        if sent.count(own) != received.count(own) {
            let got = format_args!("{} for rank {own}, which is this one", received.count(own));
            let expected = format_args!("as many as it sends to itself, {}", sent.count(own));
            return Err(Error::invalid(ErrorClass::Count, "the count of all", got, expected));
        }
        let send = sent.read("the length of data", data, of_ranks(team))?;
        let recv = received.write("the length of all", all, of_ranks(team))?;
        coll::alltoallv(team, Some(send.blocks()), recv.blocks()).map(Self::of)
    }

    /// As [`Collective::alltoallv`], with what comes in the place of what went; so two ranks exchange blocks of one length.
    ///
    /// # Errors
    /// Blocks outside of `data`, or one over another.
    pub fn alltoallv_in_place<T: Equivalence>(
        team: &Team,
        data: &'a mut [T],
        counts: &Counts<'_>,
    ) -> Result<Self> {
        let recv = counts.write("the length of data", data, of_ranks(team))?;
        coll::alltoallv(team, None, recv.blocks()).map(Self::of)
    }

    pub(super) fn of(schedule: Schedule) -> Self {
        Self { schedule, borrow: PhantomData }
    }

    /// The schedule, for a caller that keeps the borrow until the operation is over.
    pub(crate) fn lend(self) -> Schedule {
        self.schedule
    }
}

pub(super) fn ranks(team: &Team) -> usize {
    team.size() as usize
}

fn of_ranks(team: &Team) -> (usize, &'static str) {
    (ranks(team), "rank")
}

pub(super) fn read<'d, T: Equivalence>(data: &[T], datatype: &'d Datatype) -> Operand<'d> {
    Operand::new(UserBuf::borrowed(data), data.len() as u64, datatype)
}

/// A block of `count` elements, or as many of them as the caller has checked that there is room for.
pub(super) fn written<'d, T: Equivalence>(
    room: &mut [T],
    count: usize,
    datatype: &'d Datatype,
) -> Operand<'d> {
    Operand::new(UserBuf::borrowed_mut(room), count as u64, datatype)
}

/// The length of each of so many blocks.
pub(super) fn block(argument: &'static str, len: usize, blocks: usize) -> Result<usize> {
    match len.checked_div(blocks) {
        Some(block) if block * blocks == len => Ok(block),
        _ => {
            let expected = format_args!("a multiple of {blocks}, a block for each rank");
            Err(Error::invalid(ErrorClass::Count, argument, len, expected))
        }
    }
}

/// Checks that this rank sends, or receives, itself the block that it says.
fn check_own(argument: &'static str, len: usize, count: usize) -> Result<()> {
    if len == count {
        return Ok(());
    }
    let expected = format_args!("the count of this rank's block, {count}");
    Err(Error::invalid(ErrorClass::Count, argument, format_args!("{len} elements long"), expected))
}

/// Checks that a result has room for `blocks` blocks of `length` elements, and no more.
pub(super) fn check_length(argument: &'static str, got: usize, length: usize, blocks: usize) -> Result<()> {
    if length.checked_mul(blocks) == Some(got) {
        return Ok(());
    }
    let expected = match blocks {
        1 => format!("{length}, the length of data"),
        _ => format!("{blocks} times {length}, once the length of data for each rank"),
    };
    Err(Error::invalid(ErrorClass::Count, argument, got, expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::Comm;
    use crate::ids::Peer;
    use crate::op::{Op, Predefined};

    #[test]
    fn a_collective_operation_never_reaches_beyond_a_slice() {
        let team = &*Comm::own(Peer(0));
        let sum = Op::from(Predefined::Sum);
        let (data, mut short, mut long) = ([1i32; 4], [0i32; 3], [0i32; 5]);
        for room in [&mut short[..], &mut long[..]] {
            let class = |result: Result<Collective<'_>>| result.unwrap_err().class();
            assert_eq!(class(Collective::reduce(team, &data, room, &sum, 0)), ErrorClass::Count);
            assert_eq!(class(Collective::allreduce(team, &data, room, &sum)), ErrorClass::Count);
            assert_eq!(class(Collective::gather(team, &data, room, 0)), ErrorClass::Count);
            assert_eq!(class(Collective::allgather(team, &data, room)), ErrorClass::Count);
        }
        let mut room = [0i32; 4];
        Collective::allgather(team, &data, &mut room).unwrap();
    }
}
