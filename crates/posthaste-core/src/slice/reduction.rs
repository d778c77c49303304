//! Reductions of borrowed slices (MPI-5.0 §6.9 to §6.11).
//!
//! What must stay true: as in `collective`.

use super::collective::{block, check_length, ranks};
use crate::buffer::{Equivalence, UserBuf};
use crate::coll::{self, Reduced, Team};
use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result};
use crate::op::Op;
use crate::slice::Collective;

impl<'a> Collective<'a> {
    /// The ranks' `data` is combined into the root's `result`.
    ///
    /// # Errors
    /// A root that is no rank; a `result` of another length on the root; an operation that `T` does not have.
    pub fn reduce<T: Equivalence>(
        team: &Team,
        data: &'a [T],
        result: &'a mut [T],
        op: &Op,
        root: i32,
    ) -> Result<Self> {
        if team.rank() == root {
            check_length("the length of result", result.len(), data.len(), 1)?;
        }
        let datatype = Datatype::of::<T>();
        coll::reduce(team, apart(data, result, data.len(), &datatype), op, root).map(Self::of)
    }

    /// As [`Collective::reduce`], with the result in the place of the root's data; that of other ranks stays.
    ///
    /// # Errors
    /// A root that is no rank; an operation that `T` does not have.
    pub fn reduce_in_place<T: Equivalence>(
        team: &Team,
        data: &'a mut [T],
        op: &Op,
        root: i32,
    ) -> Result<Self> {
        let (count, datatype) = (data.len(), Datatype::of::<T>());
        let reduced = if team.rank() == root {
            in_place(data, count, &datatype)
        } else {
            apart(data, &mut [], count, &datatype)
        };
        coll::reduce(team, reduced, op, root).map(Self::of)
    }

    /// The ranks' `data` is combined into every rank's `result`.
    ///
    /// # Errors
    /// A `result` of another length; an operation that `T` does not have.
    pub fn allreduce<T: Equivalence>(
        team: &Team,
        data: &'a [T],
        result: &'a mut [T],
        op: &Op,
    ) -> Result<Self> {
        check_length("the length of result", result.len(), data.len(), 1)?;
        let datatype = Datatype::of::<T>();
        coll::allreduce(team, apart(data, result, data.len(), &datatype), op).map(Self::of)
    }

    /// As [`Collective::allreduce`], with the result in the place of the data.
    ///
    /// # Errors
    /// An operation that `T` does not have.
    pub fn allreduce_in_place<T: Equivalence>(team: &Team, data: &'a mut [T], op: &Op) -> Result<Self> {
        let (count, datatype) = (data.len(), Datatype::of::<T>());
        coll::allreduce(team, in_place(data, count, &datatype), op).map(Self::of)
    }

    /// The ranks' `data` is combined, and each rank gets a block of that in `result`.
    ///
    /// # Errors
    /// A `data` that has not the length of all ranks' results; an operation that `T` does not have.
    pub fn reduce_scatter_block<T: Equivalence>(
        team: &Team,
        data: &'a [T],
        result: &'a mut [T],
        op: &Op,
    ) -> Result<Self> {
        let count = block("the length of data", data.len(), ranks(team))?;
        check_result(result.len(), count)?;
        let datatype = Datatype::of::<T>();
        coll::reduce_scatter_block(team, apart(data, result, count, &datatype), op).map(Self::of)
    }

    /// As [`Collective::reduce_scatter_block`], with the result at the beginning of the data.
    ///
    /// # Errors
    /// A `data` that is no block for each rank; an operation that `T` does not have.
    pub fn reduce_scatter_block_in_place<T: Equivalence>(
        team: &Team,
        data: &'a mut [T],
        op: &Op,
    ) -> Result<Self> {
        let count = block("the length of data", data.len(), ranks(team))?;
        let datatype = Datatype::of::<T>();
        coll::reduce_scatter_block(team, in_place(data, count, &datatype), op).map(Self::of)
    }

    /// As [`Collective::reduce_scatter_block`], with blocks of different lengths, which all ranks know.
    ///
    /// # Errors
    /// Counts that do not add up to the length of `data`; a `result` of another length than this rank's; an operation that `T` does
    /// not have.
    pub fn reduce_scatter<T: Equivalence>(
        team: &Team,
        data: &'a [T],
        result: &'a mut [T],
        counts: &[usize],
        op: &Op,
    ) -> Result<Self> {
        let counts = check_counts(ranks(team), data.len(), counts)?;
        check_result(result.len(), counts[team.rank() as usize] as usize)?;
        let datatype = Datatype::of::<T>();
        let (send, recv) = (UserBuf::borrowed(data), UserBuf::borrowed_mut(result));
        let reduced = Reduced::new(Some(send), recv, &counts[..], &datatype);
        coll::reduce_scatter(team, reduced, op).map(Self::of)
    }

    /// As [`Collective::reduce_scatter`], with the result at the beginning of the data.
    ///
    /// # Errors
    /// Counts that do not add up to the length of `data`; an operation that `T` does not have.
    pub fn reduce_scatter_in_place<T: Equivalence>(
        team: &Team,
        data: &'a mut [T],
        counts: &[usize],
        op: &Op,
    ) -> Result<Self> {
        let counts = check_counts(ranks(team), data.len(), counts)?;
        let datatype = Datatype::of::<T>();
        let reduced = Reduced::new(None, UserBuf::borrowed_mut(data), &counts[..], &datatype);
        coll::reduce_scatter(team, reduced, op).map(Self::of)
    }

    /// The `data` of all ranks up to each is combined into its `result`.
    ///
    /// # Errors
    /// A `result` of another length; an operation that `T` does not have.
    pub fn scan<T: Equivalence>(team: &Team, data: &'a [T], result: &'a mut [T], op: &Op) -> Result<Self> {
        check_length("the length of result", result.len(), data.len(), 1)?;
        let datatype = Datatype::of::<T>();
        coll::scan(team, apart(data, result, data.len(), &datatype), op).map(Self::of)
    }

    /// As [`Collective::scan`], with the result in the place of the data.
    ///
    /// # Errors
    /// An operation that `T` does not have.
    pub fn scan_in_place<T: Equivalence>(team: &Team, data: &'a mut [T], op: &Op) -> Result<Self> {
        let (count, datatype) = (data.len(), Datatype::of::<T>());
        coll::scan(team, in_place(data, count, &datatype), op).map(Self::of)
    }

    /// The `data` of all ranks before each is combined into its `result`; that of rank 0 stays as it is.
    ///
    /// # Errors
    /// As [`Collective::scan`].
    pub fn exscan<T: Equivalence>(team: &Team, data: &'a [T], result: &'a mut [T], op: &Op) -> Result<Self> {
        check_length("the length of result", result.len(), data.len(), 1)?;
        let datatype = Datatype::of::<T>();
        coll::exscan(team, apart(data, result, data.len(), &datatype), op).map(Self::of)
    }

    /// As [`Collective::exscan`], with the result in the place of the data.
    ///
    /// # Errors
    /// An operation that `T` does not have.
    pub fn exscan_in_place<T: Equivalence>(team: &Team, data: &'a mut [T], op: &Op) -> Result<Self> {
        let (count, datatype) = (data.len(), Datatype::of::<T>());
        coll::exscan(team, in_place(data, count, &datatype), op).map(Self::of)
    }
}

/// Combines `data` into `result` on this rank alone, `data` being the left operands (MPI-5.0 §6.9.7).
///
/// # Errors
/// A `result` of another length; an operation that `T` does not have; a panic of its function.
pub fn reduce_local<T: Equivalence>(data: &[T], result: &mut [T], op: &Op) -> Result<()> {
    check_length("the length of result", result.len(), data.len(), 1)?;
    let (input, inout) = (UserBuf::borrowed(data), UserBuf::borrowed_mut(result));
    op.apply(&Datatype::of::<T>(), input, inout, data.len() as u64)
}

pub(super) fn apart<'d, T: Equivalence>(
    data: &[T],
    result: &mut [T],
    count: usize,
    datatype: &'d Datatype,
) -> Reduced<'d> {
    let (send, recv) = (UserBuf::borrowed(data), UserBuf::borrowed_mut(result));
    Reduced::new(Some(send), recv, count as u64, datatype)
}

fn in_place<'d, T: Equivalence>(data: &mut [T], count: usize, datatype: &'d Datatype) -> Reduced<'d> {
    Reduced::new(None, UserBuf::borrowed_mut(data), count as u64, datatype)
}

pub(super) fn check_result(got: usize, count: usize) -> Result<()> {
    if got == count {
        return Ok(());
    }
    let expected = format_args!("{count}, the length of this rank's block");
    Err(Error::invalid(ErrorClass::Count, "the length of result", got, expected))
}

/// One count for each rank, which add up to the length of the data.
pub(super) fn check_counts(ranks: usize, len: usize, counts: &[usize]) -> Result<Vec<u64>> {
    if counts.len() != ranks {
        let got = format_args!("{} entries long", counts.len());
        let expected = format_args!("{ranks}, one for each rank");
        return Err(Error::invalid(ErrorClass::Count, "counts", got, expected));
    }
    let sum = counts.iter().try_fold(0usize, |sum, count| sum.checked_add(*count));
    if sum != Some(len) {
        let expected = format_args!("the sum of the counts {counts:?}");
        return Err(Error::invalid(ErrorClass::Count, "the length of data", len, expected));
    }
    Ok(counts.iter().map(|count| *count as u64).collect())
}
