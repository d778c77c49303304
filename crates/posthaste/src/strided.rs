//! Evenly spaced elements of a slice, such as the column of a matrix, as one message; and several such parts of
//! one slice in flight at the same time.
//!
//! They are vectors of core's `datatype` (MPI-5.0 §5.1.2); core's `slice` checks that a view reaches only elements of the slice
//! it borrows, and that two parts of one slice of which one is written never share an element.

use std::fmt;
use std::marker::PhantomData;

use posthaste_core::buffer::Equivalence;
use posthaste_core::error::Result as Checked;
use posthaste_core::slice::{self, Buffer, BufferMut, RecvBuf, SendBuf, Steps};

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
///     s.send(column, 0, 0)?;
///     Ok(())
/// })?;
/// assert_eq!(got, [2, 5]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "MPI_Type_vector")]
pub struct Strided<'a, T> {
    elements: SendBuf<'a>,
    steps: Steps,
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
///     s.receive(column, 0, 0)?;
///     s.send(&[8, 9], 0, 0)?;
///     Ok(())
/// })?;
/// assert_eq!(matrix, [0, 0, 8, 0, 0, 9]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "MPI_Type_vector")]
pub struct StridedMut<'a, T> {
    elements: RecvBuf<'a>,
    steps: Steps,
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
///     s.receive(left, 0, 0)?;
///     s.receive(right, 0, 1)?;
///     s.send(last, 0, 0)?;
///     s.send(first, 0, 1)?;
///     Ok(())
/// })?;
/// assert_eq!(field, [2, 1, 2, 1, 4, 3, 4, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Parts<'a, T>(slice::Parts<'a, T>);

impl<'a, T: Equivalence> Strided<'a, T> {
    /// A view of `data`.
    ///
    /// # Errors
    /// When an element lies outside of `data`, or `stride` is 0.
    pub fn new(data: &'a [T], start: usize, count: usize, stride: usize) -> Result<Self> {
        let steps = Steps { start, count, stride };
        Self::of("Strided::new", steps, SendBuf::strided(data, steps))
    }

    fn of(call: &'static str, steps: Steps, elements: Checked<SendBuf<'a>>) -> Result<Self> {
        let elements = elements.map_err(|cause| Error::new(call, None, cause))?;
        Ok(Self { elements, steps, borrow: PhantomData })
    }
}

impl<'a, T: Equivalence> StridedMut<'a, T> {
    /// A view of `data`.
    ///
    /// # Errors
    /// When an element lies outside of `data`, or `stride` is 0.
    pub fn new(data: &'a mut [T], start: usize, count: usize, stride: usize) -> Result<Self> {
        let steps = Steps { start, count, stride };
        Self::of("StridedMut::new", steps, RecvBuf::strided(data, steps))
    }

    fn of(call: &'static str, steps: Steps, elements: Checked<RecvBuf<'a>>) -> Result<Self> {
        let elements = elements.map_err(|cause| Error::new(call, None, cause))?;
        Ok(Self { elements, steps, borrow: PhantomData })
    }
}

impl<'a, T: Equivalence> Parts<'a, T> {
    /// Takes the slice.
    pub fn new(data: &'a mut [T]) -> Self {
        Self(slice::Parts::new(data))
    }

    /// A part to be sent: `count` elements from `start`, `stride` apart. Parts to be sent may overlap.
    ///
    /// # Errors
    /// When an element lies outside of the slice or in a part to be received into, or `stride` is 0.
    pub fn read(&mut self, start: usize, count: usize, stride: usize) -> Result<Strided<'a, T>> {
        let steps = Steps { start, count, stride };
        Strided::of("Parts::read", steps, self.0.read(steps))
    }

    /// A part to be received into: `count` elements from `start`, `stride` apart.
    ///
    /// # Errors
    /// When an element lies outside of the slice or in any other part, or `stride` is 0.
    pub fn write(&mut self, start: usize, count: usize, stride: usize) -> Result<StridedMut<'a, T>> {
        let steps = Steps { start, count, stride };
        StridedMut::of("Parts::write", steps, self.0.write(steps))
    }
}

impl<T> Strided<'_, T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.steps.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> StridedMut<'_, T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.steps.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Buffer for Strided<'_, T> {
    fn lent(&self) -> SendBuf<'_> {
        self.elements.clone()
    }
}

impl<T> BufferMut for StridedMut<'_, T> {
    fn lent_mut(&mut self) -> RecvBuf<'_> {
        self.elements.reborrow()
    }
}

impl<'a, T> From<Strided<'a, T>> for SendBuf<'a> {
    fn from(view: Strided<'a, T>) -> Self {
        view.elements
    }
}

impl<'a, T> From<StridedMut<'a, T>> for RecvBuf<'a> {
    fn from(view: StridedMut<'a, T>) -> Self {
        view.elements
    }
}

impl<T> Clone for Strided<'_, T> {
    fn clone(&self) -> Self {
        Self { elements: self.elements.clone(), steps: self.steps, borrow: PhantomData }
    }
}

impl<T> fmt::Debug for Strided<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Strided({})", self.steps)
    }
}

impl<T> fmt::Debug for StridedMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StridedMut({})", self.steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorClass;

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
