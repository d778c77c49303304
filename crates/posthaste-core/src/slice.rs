//! Slices of a Rust program as buffers: the way into the engine that needs no promise, because the types carry the borrow.
//!
//! What must stay true:
//! - A buffer reaches only elements of the slice that it borrows; two parts of one slice of which one is written never
//!   share an element. Lengths are checked before anything is planned, so a schedule reaches no further either.
//! - The borrow is given up by `lend` alone, whose callers (`world::scope`) return, or let a scope end, only when every
//!   operation on the buffer is over.

mod buffer;
mod indexed;
mod strided;

use std::marker::PhantomData;

use crate::buffer::{Equivalence, UserBuf, is_dense};
use crate::coll::{self, Operand, Reduced, Schedule, Team};
use crate::comm::Comm;
use crate::datatype::{Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::op::Op;
use crate::topology;

pub use buffer::{Buffer, BufferMut};
pub use strided::{Parts, Steps};

/// Numbers to be sent, which nobody writes to as long as this lives.
///
/// ```compile_fail,E0597
/// use posthaste_core::slice::SendBuf;
/// let buffer = {
///     let data = [1, 2, 3];
///     SendBuf::new(&data) // error: does not live long enough
/// };
/// drop(buffer);
/// ```
///
/// ```compile_fail,E0506
/// use posthaste_core::slice::SendBuf;
/// let mut data = [1, 2, 3];
/// let buffer = SendBuf::new(&data);
/// data[0] = 4; // error: cannot assign because it is borrowed
/// drop(buffer);
/// ```
#[derive(Clone, Debug)]
pub struct SendBuf<'a> {
    segment: Segment,
    borrow: PhantomData<&'a [u8]>,
}

/// Room for numbers to be received, which nobody looks at as long as this lives.
///
/// ```compile_fail,E0505
/// use posthaste_core::slice::RecvBuf;
/// let mut room = vec![0; 3];
/// let buffer = RecvBuf::new(&mut room);
/// drop(room); // error: cannot move out because it is borrowed
/// drop(buffer);
/// ```
///
/// It is no buffer to be sent, nor the other way round, and nobody outside of this crate sees the segment in it:
///
/// ```compile_fail,E0624
/// use posthaste_core::slice::SendBuf;
/// SendBuf::new(&[1, 2, 3]).lend(); // error: private
/// ```
#[derive(Debug)]
pub struct RecvBuf<'a> {
    segment: Segment,
    borrow: PhantomData<&'a mut [u8]>,
}

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

impl<'a> SendBuf<'a> {
    /// All of a slice.
    #[inline]
    pub fn new<T: Equivalence>(data: &'a [T]) -> Self {
        Self::of(whole::<T>(UserBuf::borrowed(data), data.len()))
    }

    fn of(segment: Segment) -> Self {
        Self { segment, borrow: PhantomData }
    }

    /// The segment, for a caller that keeps the borrow until the operation is over.
    #[inline]
    pub(crate) fn lend(self) -> Segment {
        self.segment
    }
}

impl<'a> RecvBuf<'a> {
    /// All of a slice.
    #[inline]
    pub fn new<T: Equivalence>(room: &'a mut [T]) -> Self {
        let len = room.len();
        Self::of(whole::<T>(UserBuf::borrowed_mut(room), len))
    }

    /// The same room for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> RecvBuf<'_> {
        RecvBuf::of(self.segment.clone())
    }

    fn of(segment: Segment) -> Self {
        Self { segment, borrow: PhantomData }
    }

    /// As [`SendBuf::lend`].
    #[inline]
    pub(crate) fn lend(self) -> Segment {
        self.segment
    }
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
        let (send, recv) = (Some(UserBuf::borrowed(data)), UserBuf::borrowed_mut(result));
        let datatype = Datatype::of::<T>();
        let reduced = Reduced::new(send, recv, data.len() as u64, &datatype);
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
        let (send, recv) = (Some(UserBuf::borrowed(data)), UserBuf::borrowed_mut(result));
        let datatype = Datatype::of::<T>();
        let reduced = Reduced::new(send, recv, data.len() as u64, &datatype);
        coll::allreduce(team, reduced, op).map(Self::of)
    }

    /// As [`Collective::allreduce`], with the result in the place of the data.
    ///
    /// # Errors
    /// An operation that `T` does not have.
    pub fn allreduce_in_place<T: Equivalence>(team: &Team, data: &'a mut [T], op: &Op) -> Result<Self> {
        let (count, recv) = (data.len() as u64, UserBuf::borrowed_mut(data));
        let datatype = Datatype::of::<T>();
        let reduced = Reduced::new(None, recv, count, &datatype);
        coll::allreduce(team, reduced, op).map(Self::of)
    }

    /// The ranks' `data` is collected in `all` on the root.
    ///
    /// # Errors
    /// A root that is no rank; on the root an `all` that has not the length of all ranks' data.
    pub fn gather<T: Equivalence>(team: &Team, data: &'a [T], all: &'a mut [T], root: i32) -> Result<Self> {
        let datatype = Datatype::of::<T>();
        let is_root = team.rank() == root;
        if is_root {
            check_length("the length of all", all.len(), data.len(), team.size() as usize)?;
        }
        let recv = is_root.then(|| written(all, data.len(), &datatype));
        coll::gather(team, Some(read(data, &datatype)), recv, root).map(Self::of)
    }

    /// The ranks' `data` is collected in `all` on every rank.
    ///
    /// # Errors
    /// An `all` that has not the length of all ranks' data.
    pub fn allgather<T: Equivalence>(team: &Team, data: &'a [T], all: &'a mut [T]) -> Result<Self> {
        check_length("the length of all", all.len(), data.len(), team.size() as usize)?;
        let datatype = Datatype::of::<T>();
        let recv = written(all, data.len(), &datatype);
        coll::allgather(team, Some(read(data, &datatype)), recv).map(Self::of)
    }

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

    fn of(schedule: Schedule) -> Self {
        Self { schedule, borrow: PhantomData }
    }

    /// As [`SendBuf::lend`].
    pub(crate) fn lend(self) -> Schedule {
        self.schedule
    }
}

/// All of `len` elements.
#[inline]
fn whole<T: Equivalence>(buf: UserBuf, len: usize) -> Segment {
    if const { is_dense::<T>() } {
        Segment::contiguous(buf, (len * size_of::<T>()) as u64)
    } else {
        Segment::new(buf, len as u64, &Datatype::of::<T>())
    }
}

fn read<'d, T: Equivalence>(data: &[T], datatype: &'d Datatype) -> Operand<'d> {
    Operand::new(UserBuf::borrowed(data), data.len() as u64, datatype)
}

/// A block of `count` elements, or as many of them as the caller has checked that there is room for.
fn written<'d, T: Equivalence>(room: &mut [T], count: usize, datatype: &'d Datatype) -> Operand<'d> {
    Operand::new(UserBuf::borrowed_mut(room), count as u64, datatype)
}

/// Checks that a result has room for `blocks` blocks of `length` elements, and no more.
fn check_length(argument: &'static str, got: usize, length: usize, blocks: usize) -> Result<()> {
    if length.checked_mul(blocks) == Some(got) {
        return Ok(());
    }
    let expected = match blocks {
        1 => format!("{length}, the length of data"),
        _ => format!("{blocks} times {length}, once the length of data for each rank"),
    };
    Err(Error::invalid(ErrorClass::Count, argument, got, expected))
}

/// Checks that a buffer is `blocks` blocks of `length` elements, and no more.
fn check_blocks(argument: &'static str, got: usize, length: usize, blocks: usize, of: &str) -> Result<()> {
    if length.checked_mul(blocks) == Some(got) {
        return Ok(());
    }
    let expected = format_args!("{blocks} times {length}, a block for each {of}");
    Err(Error::invalid(ErrorClass::Count, argument, got, expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Peer;
    use crate::op::Predefined;

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
