//! Evenly spaced elements of a slice, such as the column of a matrix, as one message; and several such parts of
//! one slice in flight at the same time.
//!
//! They are vectors of core's `datatype` (MPI-5.0 §5.1.2).
//!
//! What must stay true: a view reaches only elements of the slice it borrows (checked when it is made), and two
//! parts of one slice of which one is written never share an element (checked by [`Parts`]).

use std::fmt;
use std::marker::PhantomData;

use posthaste_core::buffer::{Equivalence, UserBuf};
use posthaste_core::datatype::{Datatype, Segment};
use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};

use crate::error::{Error, Result};

/// Evenly spaced elements to be sent: `count` of them, the first at `start`, each `stride` after the one before.
///
/// The receiver may take them as a slice of `count` elements or with a view of its own: a message carries
/// elements, not their places.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// // The second column of a matrix with two rows of three.
/// let matrix = [1, 2, 3, 4, 5, 6];
/// let column = posthaste::Strided::new(&matrix, 1, 2, 3)?;
/// let mut got = [0; 2];
/// world.scope(|s| {
///     s.receive(&mut got, 0, 0)?;
///     s.send_strided(column, 0, 0)?;
///     Ok(())
/// })?;
/// assert_eq!(got, [2, 5]);
/// # Ok(())
/// # }
/// ```
pub struct Strided<'a, T> {
    place: Place,
    borrow: PhantomData<&'a [T]>,
}

/// Evenly spaced elements to be received into; otherwise like [`Strided`].
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut matrix = [0; 6];
/// let column = posthaste::StridedMut::new(&mut matrix, 2, 2, 3)?;
/// world.scope(|s| {
///     s.receive_strided(column, 0, 0)?;
///     s.send(&[8, 9], 0, 0)?;
///     Ok(())
/// })?;
/// assert_eq!(matrix, [0, 0, 8, 0, 0, 9]);
/// # Ok(())
/// # }
/// ```
pub struct StridedMut<'a, T> {
    place: Place,
    borrow: PhantomData<&'a mut [T]>,
}

/// Hands out parts of one slice for several messages at the same time.
///
/// The compiler cannot see that two columns of a matrix have no element in common. So this takes the whole slice
/// and checks each part against those handed out before: a part that is written must not touch any other.
/// The slice is free again when all of its parts are gone.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// // Two rows of four, the outer columns being halos: the inner columns are sent into them.
/// let mut field = [0, 1, 2, 0, 0, 3, 4, 0];
/// let mut parts = posthaste::Parts::new(&mut field);
/// let (first, last) = (parts.read(1, 2, 4)?, parts.read(2, 2, 4)?);
/// let (left, right) = (parts.write(0, 2, 4)?, parts.write(3, 2, 4)?);
/// assert!(parts.write(4, 4, 1).is_err(), "the second row meets all of them");
/// world.scope(|s| {
///     s.receive_strided(left, 0, 0)?;
///     s.receive_strided(right, 0, 1)?;
///     s.send_strided(last, 0, 0)?;
///     s.send_strided(first, 0, 1)?;
///     Ok(())
/// })?;
/// assert_eq!(field, [2, 1, 2, 1, 4, 3, 4, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Parts<'a, T> {
    base: UserBuf,
    len: usize,
    taken: Vec<(Steps, bool)>,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T: Equivalence> Strided<'a, T> {
    /// A view of `data`.
    ///
    /// # Errors
    /// When an element lies outside of `data`, or `stride` is 0.
    pub fn new(data: &'a [T], start: usize, count: usize, stride: usize) -> Result<Self> {
        Self::over("Strided::new", UserBuf::borrowed(data), Steps::within(data.len(), start, count, stride))
    }

    fn over(call: &'static str, base: UserBuf, steps: Checked<Steps>) -> Result<Self> {
        let place = steps.and_then(|steps| Place::new::<T>(base, steps));
        Ok(Self { place: place.map_err(|cause| Error::new(call, None, cause))?, borrow: PhantomData })
    }
}

impl<'a, T: Equivalence> StridedMut<'a, T> {
    /// A view of `data`.
    ///
    /// # Errors
    /// When an element lies outside of `data`, or `stride` is 0.
    pub fn new(data: &'a mut [T], start: usize, count: usize, stride: usize) -> Result<Self> {
        let steps = Steps::within(data.len(), start, count, stride);
        Self::over("StridedMut::new", UserBuf::borrowed_mut(data), steps)
    }

    fn over(call: &'static str, base: UserBuf, steps: Checked<Steps>) -> Result<Self> {
        let place = steps.and_then(|steps| Place::new::<T>(base, steps));
        Ok(Self { place: place.map_err(|cause| Error::new(call, None, cause))?, borrow: PhantomData })
    }
}

impl<'a, T: Equivalence> Parts<'a, T> {
    /// Takes the slice.
    pub fn new(data: &'a mut [T]) -> Self {
        Self { len: data.len(), base: UserBuf::borrowed_mut(data), taken: Vec::new(), borrow: PhantomData }
    }

    /// A part to be sent: `count` elements from `start`, `stride` apart. Parts to be sent may overlap.
    ///
    /// # Errors
    /// When an element lies outside of the slice or in a part to be received into, or `stride` is 0.
    pub fn read(&mut self, start: usize, count: usize, stride: usize) -> Result<Strided<'a, T>> {
        Strided::over("Parts::read", self.base, self.take(start, count, stride, false))
    }

    /// A part to be received into: `count` elements from `start`, `stride` apart.
    ///
    /// # Errors
    /// When an element lies outside of the slice or in any other part, or `stride` is 0.
    pub fn write(&mut self, start: usize, count: usize, stride: usize) -> Result<StridedMut<'a, T>> {
        StridedMut::over("Parts::write", self.base, self.take(start, count, stride, true))
    }

    fn take(&mut self, start: usize, count: usize, stride: usize, written: bool) -> Checked<Steps> {
        let steps = Steps::within(self.len, start, count, stride)?;
        let clash = self.taken.iter().find(|(other, theirs)| (written || *theirs) && steps.meets(other));
        if let Some((other, _)) = clash {
            let expected = format_args!("no element in common with the part of {other}");
            return Err(Cause::invalid(ErrorClass::Buffer, "the part", steps, expected));
        }
        self.taken.push((steps, written));
        Ok(steps)
    }
}

impl<T> Strided<'_, T> {
    pub(crate) fn segment(&self) -> Segment {
        self.place.segment()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.place.steps.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> StridedMut<'_, T> {
    pub(crate) fn segment(&self) -> Segment {
        self.place.segment()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.place.steps.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Clone for Strided<'_, T> {
    fn clone(&self) -> Self {
        Self { place: self.place.clone(), borrow: PhantomData }
    }
}

impl<T> fmt::Debug for Strided<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Strided({})", self.place.steps)
    }
}

impl<T> fmt::Debug for StridedMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StridedMut({})", self.place.steps)
    }
}

/// Where the elements lie.
#[derive(Clone)]
struct Place {
    first: UserBuf,
    steps: Steps,
    /// All elements as one.
    datatype: Datatype,
}

impl Place {
    fn new<T: Equivalence>(base: UserBuf, steps: Steps) -> Checked<Self> {
        // Fits: the element lies in a slice, and slices have at most isize::MAX bytes.
        let first =
            if steps.count == 0 { base } else { base.offset((steps.start * size_of::<T>()) as isize) };
        let datatype = Datatype::vector(steps.count as i64, 1, steps.stride as i64, &Datatype::of::<T>())?;
        Ok(Self { first, steps, datatype })
    }

    fn segment(&self) -> Segment {
        Segment::new(self.first, 1, &self.datatype)
    }
}

/// Indices: `start`, `start + stride`, … `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Steps {
    start: usize,
    count: usize,
    stride: usize,
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements from {} with stride {}", self.count, self.start, self.stride)
    }
}

impl Steps {
    /// Checks that all indices are below `len`.
    fn within(len: usize, start: usize, count: usize, stride: usize) -> Checked<Self> {
        let steps = Self { start, count, stride };
        if stride == 0 {
            return Err(Cause::invalid(ErrorClass::Arg, "stride", 0, "at least 1"));
        }
        let Some(gaps) = count.checked_sub(1) else { return Ok(Self { stride: 1, ..steps }) };
        let last = gaps.checked_mul(stride).and_then(|offset| offset.checked_add(start));
        if last.is_none_or(|last| last >= len) {
            let expected = format_args!("all within the {len} elements of the slice");
            return Err(Cause::invalid(ErrorClass::Buffer, "the view", steps, expected));
        }
        // The stride of a single element says nothing, and may be as large as it likes.
        Ok(if count == 1 { Self { stride: 1, ..steps } } else { steps })
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
    fn views_outside_of_the_slice_are_refused() {
        let data = [0u8; 10];
        for (start, count, stride) in [(0, 10, 1), (9, 1, 5), (0, 4, 3), (10, 0, 1), (1, 3, 4), (99, 0, 7)] {
            assert_eq!(Strided::new(&data, start, count, stride).unwrap().len(), count);
        }
        let huge = usize::MAX;
        for (start, count, stride) in
            [(0, 11, 1), (10, 1, 1), (1, 4, 3), (0, 2, huge), (huge, 2, 1), (0, huge, 3)]
        {
            let error = Strided::new(&data, start, count, stride).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Buffer, "{error}");
        }
        assert_eq!(Strided::new(&data, 0, 3, 0).unwrap_err().class(), ErrorClass::Arg);
    }

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

    #[test]
    fn only_a_written_part_keeps_others_away() {
        let mut data = [0i32; 12];
        let mut parts = Parts::new(&mut data);
        parts.read(0, 4, 3).unwrap();
        parts.read(0, 6, 2).unwrap();
        let error = parts.write(0, 12, 1).unwrap_err();
        assert!(error.to_string().contains("4 elements from 0 with stride 3"), "{error}");
        parts.write(1, 2, 6).unwrap();
        parts.read(7, 1, 1).unwrap_err();
        parts.read(5, 1, 1).unwrap();
        assert_eq!(data, [0; 12], "the slice is free again");
    }
}
