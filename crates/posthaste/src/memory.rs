//! Slices of numbers as the segments that core moves.
//!
//! What must stay true: whoever makes a segment here keeps the slice borrowed until the operation is complete.
//! Blocking calls do so by returning only then, a scope by its lifetime.

use posthaste_core::buffer::{Equivalence, UserBuf};
use posthaste_core::datatype::Segment;

/// A slice to be sent.
#[inline]
pub(crate) fn outgoing<T: Equivalence>(data: &[T]) -> Segment {
    Segment::contiguous(UserBuf::borrowed(data), size_of_val(data) as u64)
}

/// A slice to be received into.
#[inline]
pub(crate) fn incoming<T: Equivalence>(buffer: &mut [T]) -> Segment {
    Segment::contiguous(UserBuf::borrowed_mut(buffer), size_of_val(buffer) as u64)
}
