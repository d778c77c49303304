//! Collective operations among neighbours on borrowed slices (MPI-5.0 §8.6).
//!
//! What must stay true: as in `collective`.

use super::Counts;
use super::collective::{read, written};
use crate::buffer::{Equivalence, UserBuf};
use crate::coll::{self, Operand};
use crate::comm::Comm;
use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result};
use crate::slice::Collective;
use crate::topology;

impl<'a> Collective<'a> {
    /// `data` goes to all destinations of this rank; the data of its sources is collected in `all`.
    ///
    /// # Errors
    /// Without a topology; an `all` that has not the length of all sources' data.
    pub fn neighbor_allgather<T: Equivalence>(comm: &Comm, data: &'a [T], all: &'a mut [T]) -> Result<Self> {
        let neighbors = topology::neighbors(comm)?;
        check_blocks("the length of all", all.len(), data.len(), neighbors.sources().len(), "source")?;
        let datatype = Datatype::of::<T>();
        let recv = written(all, data.len(), &datatype);
        coll::neighbor_allgather(comm, &neighbors, read(data, &datatype), recv).map(Self::of)
    }

    /// Each destination of this rank gets its block of `data`, and the blocks of the sources are collected in `all`.
    ///
    /// # Errors
    /// Without a topology; a `data` or an `all` that is not one block for each destination, or each source, of one length.
    pub fn neighbor_alltoall<T: Equivalence>(comm: &Comm, data: &'a [T], all: &'a mut [T]) -> Result<Self> {
        let neighbors = topology::neighbors(comm)?;
        let (from, to) = (neighbors.sources().len(), neighbors.destinations().len());
        // Whoever sends nothing learns the length of a block from its room.
        let block = data.len().checked_div(to).or(all.len().checked_div(from)).unwrap_or(0);
        check_blocks("the length of data", data.len(), block, to, "destination")?;
        check_blocks("the length of all", all.len(), block, from, "source")?;
        let datatype = Datatype::of::<T>();
        let send = Operand::new(UserBuf::borrowed(data), block as u64, &datatype);
        coll::neighbor_alltoall(comm, &neighbors, send, written(all, block, &datatype)).map(Self::of)
    }

    /// As [`Collective::neighbor_allgather`], with blocks of different lengths.
    ///
    /// # Errors
    /// Without a topology; blocks outside of `all`, or one over another.
    pub fn neighbor_allgatherv<T: Equivalence>(
        comm: &Comm,
        data: &'a [T],
        (all, counts): (&'a mut [T], &Counts<'_>),
    ) -> Result<Self> {
        let neighbors = topology::neighbors(comm)?;
        let recv = counts.write("the length of all", all, (neighbors.sources().len(), "source"))?;
        let datatype = Datatype::of::<T>();
        coll::neighbor_allgatherv(comm, &neighbors, read(data, &datatype), recv.blocks()).map(Self::of)
    }

    /// As [`Collective::neighbor_alltoall`], with blocks of different lengths.
    ///
    /// # Errors
    /// Without a topology; blocks outside of their slices, or one over another in `all`.
    pub fn neighbor_alltoallv<T: Equivalence>(
        comm: &Comm,
        (data, sent): (&'a [T], &Counts<'_>),
        (all, received): (&'a mut [T], &Counts<'_>),
    ) -> Result<Self> {
        let neighbors = topology::neighbors(comm)?;
        let send = sent.read("the length of data", data, (neighbors.destinations().len(), "destination"))?;
        let recv = received.write("the length of all", all, (neighbors.sources().len(), "source"))?;
        coll::neighbor_alltoallv(comm, &neighbors, send.blocks(), recv.blocks()).map(Self::of)
    }
}

/// Checks that a buffer is `blocks` blocks of `length` elements, and no more.
fn check_blocks(argument: &'static str, got: usize, length: usize, blocks: usize, of: &str) -> Result<()> {
    if length.checked_mul(blocks) == Some(got) {
        return Ok(());
    }
    let expected = format_args!("{blocks} times {length}, a block for each {of}");
    Err(Error::invalid(ErrorClass::Count, argument, got, expected))
}
