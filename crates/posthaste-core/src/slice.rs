//! Slices of a Rust program as buffers: the way into the engine that needs no promise, because the types carry the borrow.
//!
//! What must stay true:
//! - A buffer reaches only elements of the slice that it borrows; two parts of one slice of which one is written never
//!   share an element. Lengths are checked before anything is planned, so a schedule reaches no further either.
//! - The borrow is given up by `lend` alone, whose callers (`world::scope`) return, or let a scope end, only when every
//!   operation on the buffer is over.

mod buffer;
mod collective;
mod counts;
mod indexed;
mod neighbor;
mod persistent;
mod reduction;
mod across;
mod strided;

use std::marker::PhantomData;

use crate::buffer::{Equivalence, Run, UserBuf, is_dense};
use crate::datatype::{Datatype, Segment};

pub use buffer::{Buffer, BufferMut};
pub use collective::Collective;
pub use counts::Counts;
pub use persistent::Persistent;
pub use reduction::reduce_local;
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

    /// All bytes of a slice, holes between its numbers included: memory for peers.
    pub(crate) fn bytes_of<T: Equivalence>(room: &'a mut [T]) -> Self {
        let len = size_of_val(room);
        Self::of(Segment::contiguous(UserBuf::borrowed_mut(room), len as u64))
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

/// A slice for a call that is over with it when it returns; `None`: there are holes between its numbers.
#[inline(always)]
pub(crate) fn run<T: Equivalence>(data: &[T]) -> Option<Run> {
    const { is_dense::<T>() }.then(|| Run::lent(UserBuf::borrowed(data), size_of_val(data) as u64))
}

/// As [`run`], to be written to.
#[inline(always)]
pub(crate) fn run_mut<T: Equivalence>(room: &mut [T]) -> Option<Run> {
    let len = size_of_val(room) as u64;
    const { is_dense::<T>() }.then(|| Run::lent(UserBuf::borrowed_mut(room), len))
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
