//! Ranges of a slice as one message.
//!
//! They are indexed types of core's `datatype` (MPI-5.0 §5.1.2); core's `slice` checks that they lie within the slice, and that nothing
//! is received twice.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use posthaste_core::buffer::Equivalence;
use posthaste_core::slice::{Buffer, BufferMut, RecvBuf, SendBuf};

use crate::error::{Error, Result};

/// Ranges of a slice to be sent, in their order. They may overlap.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let values = [0, 10, 20, 30, 40, 50];
/// let some = posthaste::Indexed::new(&values, &[4..6, 1..2])?;
/// world.send(&some, 0, 0)?;
/// assert_eq!(world.receive_vec::<i32>(0, 0)?.0, [40, 50, 10]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "MPI_Type_indexed", alias = "MPI_Type_create_indexed_block")]
pub struct Indexed<'a, T> {
    elements: SendBuf<'a>,
    len: usize,
    borrow: PhantomData<&'a [T]>,
}

/// Ranges of a slice to be received into, in their order. They have no element in common.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut values = [0; 6];
/// world.send(&[1, 2, 3], 0, 0)?;
/// world.receive(&mut posthaste::IndexedMut::new(&mut values, &[4..6, 1..2])?, 0, 0)?;
/// assert_eq!(values, [0, 3, 0, 0, 1, 2]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "MPI_Type_indexed", alias = "MPI_Type_create_indexed_block")]
pub struct IndexedMut<'a, T> {
    elements: RecvBuf<'a>,
    len: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T: Equivalence> Indexed<'a, T> {
    /// A view of `data`.
    ///
    /// # Errors
    /// A range that is not within `data`.
    pub fn new(data: &'a [T], ranges: &[Range<usize>]) -> Result<Self> {
        let elements = SendBuf::indexed(data, ranges);
        let elements = elements.map_err(|cause| Error::new("Indexed::new", None, cause))?;
        Ok(Self { elements, len: ranges.iter().map(Range::len).sum(), borrow: PhantomData })
    }
}

impl<'a, T: Equivalence> IndexedMut<'a, T> {
    /// A view of `data`.
    ///
    /// # Errors
    /// A range that is not within `data`, or shares an element with another.
    pub fn new(data: &'a mut [T], ranges: &[Range<usize>]) -> Result<Self> {
        let elements = RecvBuf::indexed(data, ranges);
        let elements = elements.map_err(|cause| Error::new("IndexedMut::new", None, cause))?;
        Ok(Self { elements, len: ranges.iter().map(Range::len).sum(), borrow: PhantomData })
    }
}

macro_rules! lengths {
    ($($view:ident),*) => {$(
        impl<T> $view<'_, T> {
            /// Number of elements.
            pub fn len(&self) -> usize {
                self.len
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len == 0
            }
        }

        impl<T> fmt::Debug for $view<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($view), "({} elements)"), self.len)
            }
        }
    )*};
}
lengths!(Indexed, IndexedMut);

impl<T> Buffer for Indexed<'_, T> {
    fn lent(&self) -> SendBuf<'_> {
        self.elements.clone()
    }
}

impl<T> BufferMut for IndexedMut<'_, T> {
    fn lent_mut(&mut self) -> RecvBuf<'_> {
        self.elements.reborrow()
    }
}

impl<'a, T> From<Indexed<'a, T>> for SendBuf<'a> {
    fn from(view: Indexed<'a, T>) -> Self {
        view.elements
    }
}

impl<'a, T> From<IndexedMut<'a, T>> for RecvBuf<'a> {
    fn from(view: IndexedMut<'a, T>) -> Self {
        view.elements
    }
}
