//! Evenly spaced elements of a slice, such as the column of a matrix, as one buffer; and several such parts of one slice in
//! flight at the same time. MPI-5.0 §5.1.2.

use std::fmt;
use std::marker::PhantomData;

use super::{RecvBuf, SendBuf};
use crate::buffer::{Equivalence, UserBuf};
use crate::datatype::{Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};

/// Indices: `start`, `start + stride`, … `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The first index.
    pub start: usize,
    /// How many there are.
    pub count: usize,
    /// Distance of neighbours.
    pub stride: usize,
}

/// Hands out parts of one slice: a part that is written has no element in common with any other.
#[derive(Debug)]
pub struct Parts<'a, T> {
    base: UserBuf,
    len: usize,
    taken: Vec<(Steps, bool)>,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a> SendBuf<'a> {
    /// Some elements of a slice.
    ///
    /// # Errors
    /// When an element lies outside of it, or the stride is 0.
    pub fn strided<T: Equivalence>(data: &'a [T], steps: Steps) -> Result<Self> {
        segment::<T>(UserBuf::borrowed(data), steps.within(data.len())?).map(Self::of)
    }
}

impl<'a> RecvBuf<'a> {
    /// Some elements of a slice.
    ///
    /// # Errors
    /// When an element lies outside of it, or the stride is 0.
    pub fn strided<T: Equivalence>(room: &'a mut [T], steps: Steps) -> Result<Self> {
        let steps = steps.within(room.len())?;
        segment::<T>(UserBuf::borrowed_mut(room), steps).map(Self::of)
    }
}

impl<'a, T: Equivalence> Parts<'a, T> {
    /// Takes the slice.
    pub fn new(data: &'a mut [T]) -> Self {
        Self { len: data.len(), base: UserBuf::borrowed_mut(data), taken: Vec::new(), borrow: PhantomData }
    }

    /// A part to be sent.
    ///
    /// # Errors
    /// When an element lies outside of the slice or in a part to be received into, or the stride is 0.
    pub fn read(&mut self, steps: Steps) -> Result<SendBuf<'a>> {
        segment::<T>(self.base, self.take(steps, false)?).map(SendBuf::of)
    }

    /// A part to be received into.
    ///
    /// # Errors
    /// When an element lies outside of the slice or in any other part, or the stride is 0.
    pub fn write(&mut self, steps: Steps) -> Result<RecvBuf<'a>> {
        segment::<T>(self.base, self.take(steps, true)?).map(RecvBuf::of)
    }

    fn take(&mut self, steps: Steps, written: bool) -> Result<Steps> {
        let steps = steps.within(self.len)?;
        let clash = self.taken.iter().find(|(other, theirs)| (written || *theirs) && steps.meets(other));
        if let Some((other, _)) = clash {
            let expected = format_args!("no element in common with the part of {other}");
            return Err(Error::invalid(ErrorClass::Buffer, "the part", steps, expected));
        }
        self.taken.push((steps, written));
        Ok(steps)
    }
}

/// The elements of a slice that begins at `base` and has all of these indices.
fn segment<T: Equivalence>(base: UserBuf, steps: Steps) -> Result<Segment> {
    // Fits: the element lies in a slice, and slices have at most isize::MAX bytes.
    let first = if steps.count == 0 { base } else { base.offset((steps.start * size_of::<T>()) as isize) };
    let datatype = Datatype::vector(steps.count as i64, 1, steps.stride as i64, &Datatype::of::<T>())?;
    Ok(Segment::new(first, 1, &datatype))
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements from {} with stride {}", self.count, self.start, self.stride)
    }
}

impl Steps {
    /// The same, if all indices are below `len`.
    fn within(self, len: usize) -> Result<Self> {
        let Self { start, count, stride } = self;
        if stride == 0 {
            return Err(Error::invalid(ErrorClass::Arg, "stride", 0, "at least 1"));
        }
        let Some(gaps) = count.checked_sub(1) else { return Ok(Self { stride: 1, ..self }) };
        let last = gaps.checked_mul(stride).and_then(|offset| offset.checked_add(start));
        if last.is_none_or(|last| last >= len) {
            let expected = format_args!("all within the {len} elements of the slice");
            return Err(Error::invalid(ErrorClass::Buffer, "the view", self, expected));
        }
        // The stride of a single element says nothing, and may be as large as it likes.
        Ok(if count == 1 { Self { stride: 1, ..self } } else { self })
    }

    /// Whether an index belongs to both: the first index that solves both congruences, compared with the
    /// range that both cover.
    fn meets(&self, other: &Self) -> bool {
        if self.count == 0 || other.count == 0 {
            return false;
        }
        let low = self.start.max(other.start) as i128;
        let high = self.last().min(other.last());
        if low > high {
            return false;
        }
        let (stride, theirs) = (self.stride as i128, other.stride as i128);
        let (gcd, inverse) = gcd_and_inverse(stride, theirs);
        let distance = other.start as i128 - self.start as i128;
        if distance % gcd != 0 {
            return false;
        }
        let period = theirs / gcd;
        let steps = (distance / gcd * inverse).rem_euclid(period);
        let solution = self.start as i128 + steps * stride;
        low + (solution - low).rem_euclid(stride * period) <= high
    }

    fn last(&self) -> i128 {
        self.start as i128 + (self.count as i128 - 1) * self.stride as i128
    }
}

/// Greatest common divisor `g` of two positive numbers, and an `x` with `a x ≡ g (mod b)`, |x| ≤ b.
fn gcd_and_inverse(a: i128, b: i128) -> (i128, i128) {
    let (mut old, mut new) = ((a, 1), (b, 0));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    old
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_found_exactly() {
        let all: Vec<Steps> = (0..7)
            .flat_map(|start| (0..5).map(move |count| (start, count)))
            .flat_map(|(start, count)| (1..7).map(move |stride| (start, count, stride)))
            .map(|(start, count, stride)| Steps { start, count, stride })
            .collect();
        let indices =
            |steps: &Steps| (0..steps.count).map(|i| steps.start + i * steps.stride).collect::<Vec<_>>();
        for a in &all {
            for b in &all {
                let common = indices(a).iter().any(|index| indices(b).contains(index));
                assert_eq!(a.meets(b), common, "{a} and {b}");
            }
        }
    }
}
