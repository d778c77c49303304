//! Elements in memory of the library's own, which stays where it is.

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;

use super::{Equivalence, OwnedBuf, UserBuf};
use crate::error::Result;

/// Elements that operations go on with while others of them are looked at: no reference is ever made to more than is asked for.
///
/// What must stay true: whoever shows elements knows that no operation writes to them, and that none reads them if they may be
/// changed; and the value lives until all operations on it are over.
#[derive(Debug)]
pub(crate) struct Elements<T> {
    memory: OwnedBuf,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Equivalence> Elements<T> {
    /// So many elements, of which every number is 0.
    ///
    /// # Errors
    /// No memory.
    pub(crate) fn new(len: usize) -> Result<Self> {
        const { assert!(align_of::<T>() <= OwnedBuf::ALIGN, "the alignment of an element is at most 64") };
        let memory = OwnedBuf::try_new(len.saturating_mul(size_of::<T>()))?;
        Ok(Self { memory, len, elements: PhantomData })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Leaks the memory, of which nothing is shown afterwards: an operation may use it for ever.
    pub(crate) fn leak(&mut self) {
        self.len = 0;
        std::mem::forget(std::mem::replace(&mut self.memory, OwnedBuf::new(0)));
    }

    pub(crate) fn user_buf(&self) -> UserBuf {
        self.memory.user_buf()
    }

    /// The elements of a range; none beyond the end.
    pub(crate) fn part(&self, range: Range<usize>) -> &[T] {
        let (first, len) = self.found(range);
        // SAFETY: the elements lie within the memory, which is aligned for them; every bit pattern is a value, and nobody writes
        // to them as said above.
        unsafe { std::slice::from_raw_parts(first, len) }
    }

    /// The same to be changed.
    pub(crate) fn part_mut(&mut self, range: Range<usize>) -> &mut [T] {
        let (first, len) = self.found(range);
        // SAFETY: as in `part`, nobody reads them either, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(first, len) }
    }

    /// The first of those elements of a range that are there, and how many they are. Without bytes any aligned address will do.
    fn found(&self, Range { start, end }: Range<usize>) -> (*mut T, usize) {
        let end = end.min(self.len);
        let len = end.saturating_sub(start);
        if len * size_of::<T>() == 0 {
            return (NonNull::dangling().as_ptr(), len);
        }
        (self.user_buf().0.cast::<T>().wrapping_add(start), len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stay_within_the_memory() {
        let mut numbers = Elements::<u16>::new(5).unwrap();
        numbers.part_mut(1..3).copy_from_slice(&[7, 8]);
        numbers.part_mut(4..9).fill(9);
        assert_eq!((numbers.part(0..5), numbers.part(5..6).len()), (&[0, 7, 8, 0, 9][..], 0));
        assert_eq!(Elements::<[u32; 0]>::new(3).unwrap().part(0..2).len(), 2);
        assert!(Elements::<f64>::new(0).unwrap().part_mut(0..1).is_empty());
        let error = Elements::<f64>::new(usize::MAX).unwrap_err();
        assert!(error.to_string().contains("18446744073709551615 bytes"), "{error}");
    }
}
