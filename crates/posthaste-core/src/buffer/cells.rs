//! Elements of windows, in place: memory that other processes may change at any time, unless a lock keeps them away.
//!
//! What must stay true: whoever makes these keeps the memory, and stays within it. Of elements that others may change no
//! reference is ever made: they are read and written one by one, and every bit pattern is a value, so a program with a race
//! sees wrong numbers and nothing worse. References are made of elements that are locked for this process alone.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::{Equivalence, UserBuf};

/// Elements of a window that loads and stores reach, and that other ranks may change at the same time: like a slice of
/// [`Cell`](std::cell::Cell)s, of which nobody has a reference.
///
/// What is stored here is seen by other ranks, and what they store is seen here, when the ranks have synchronised (MPI-5.0
/// §12.4): by the end of an epoch, or by `sync` and a message between them. An element is read and written as a whole only if
/// it is a number of at most eight bytes; elements that several ranks change are for `fetch_and_op` and its kin.
pub struct Cells<'a, T> {
    first: NonNull<T>,
    len: usize,
    /// Not for other threads: the epoch is this one's.
    memory: PhantomData<(&'a (), *mut T)>,
}

impl<T> Clone for Cells<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Cells<'_, T> {}

impl<T: Equivalence> Cells<'_, T> {
    /// `len` elements from `base`; `None`: they are not aligned. The lifetime ends before the memory does.
    pub(crate) fn new(base: UserBuf, len: usize) -> Option<Self> {
        Some(Self { first: aligned(base, len)?, len, memory: PhantomData })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What an element is.
    ///
    /// # Panics
    /// As the index of a slice does, when there is no such element.
    #[inline]
    pub fn get(&self, index: usize) -> T {
        assert!(index < self.len, "the index is {index} but there are {} elements", self.len);
        // SAFETY: within the memory, aligned, and every bit pattern is a value. It may change meanwhile: volatile, so that what
        // was read stays what it is.
        unsafe { self.first.add(index).read_volatile() }
    }

    /// Replaces an element.
    ///
    /// # Panics
    /// As [`Cells::get`].
    #[inline]
    pub fn set(&self, index: usize, value: T) {
        assert!(index < self.len, "the index is {index} but there are {} elements", self.len);
        // SAFETY: as in `get`; nobody has a reference to it.
        unsafe { self.first.add(index).write_volatile(value) };
    }

    /// Copies elements from `from` on.
    ///
    /// # Panics
    /// As [`Cells::get`].
    pub fn read(&self, from: usize, into: &mut [T]) {
        self.check(from, into.len());
        // SAFETY: both sides have as many elements; what is borrowed is no memory of a window. Bytes of any kind are copied.
        unsafe { std::ptr::copy(self.first.as_ptr().wrapping_add(from), into.as_mut_ptr(), into.len()) };
    }

    /// Replaces elements from `from` on.
    ///
    /// # Panics
    /// As [`Cells::get`].
    pub fn write(&self, from: usize, data: &[T]) {
        self.check(from, data.len());
        // SAFETY: as in `read`, and nobody has a reference to them.
        unsafe { std::ptr::copy(data.as_ptr(), self.first.as_ptr().wrapping_add(from), data.len()) };
    }

    fn check(&self, from: usize, len: usize) {
        let end = from.checked_add(len);
        assert!(
            end.is_some_and(|end| end <= self.len),
            "{len} elements from {from} on are beyond the end of {} elements",
            self.len
        );
    }
}

impl<T> fmt::Debug for Cells<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cells({} elements)", self.len)
    }
}

impl UserBuf {
    /// `len` elements that are locked for this process alone as long as `'a`; `None`: they are not aligned.
    pub(crate) fn locked<'a, T: Equivalence>(self, len: usize) -> Option<&'a mut [T]> {
        let first = aligned(self, len)?;
        // SAFETY: whoever calls has locked them, and keeps the memory; aligned, and every bit pattern is a value.
        Some(unsafe { std::slice::from_raw_parts_mut(first.as_ptr(), len) })
    }
}

/// The first element, if elements of this type may lie there; any place for none.
fn aligned<T: Equivalence>(base: UserBuf, len: usize) -> Option<NonNull<T>> {
    if len == 0 || size_of::<T>() == 0 {
        return Some(NonNull::dangling());
    }
    NonNull::new(base.0.cast::<T>()).filter(|first| first.is_aligned())
}

#[cfg(test)]
mod tests {
    use super::super::OwnedBuf;
    use super::*;

    #[test]
    fn elements_are_read_and_written_in_place() {
        let memory = OwnedBuf::new(80);
        let cells = Cells::<u64>::new(memory.user_buf(), 10).unwrap();
        cells.set(9, 7);
        cells.write(0, &[1, 2, 3]);
        let mut some = [0; 4];
        cells.read(1, &mut some);
        assert_eq!((some, cells.get(9), cells.len()), ([2, 3, 0, 0], 7, 10));
        let all: &mut [u64] = memory.user_buf().locked(10).unwrap();
        assert_eq!(all, [1, 2, 3, 0, 0, 0, 0, 0, 0, 7]);
        assert!(Cells::<u64>::new(memory.user_buf().offset(4), 1).is_none(), "not aligned");
        assert!(memory.user_buf().offset(2).locked::<u32>(1).is_none());
        assert_eq!(Cells::<u32>::new(UserBuf::none(), 0).unwrap().len(), 0);
        assert_eq!(UserBuf::none().locked::<[u32; 0]>(3).unwrap().len(), 3);
    }

    #[test]
    fn nothing_beyond_the_end_is_reached() {
        let memory = OwnedBuf::new(8);
        let cells = Cells::<u16>::new(memory.user_buf(), 4).unwrap();
        let refused = |call: &dyn Fn()| {
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err());
        };
        refused(&|| assert_eq!(cells.get(4), 0));
        refused(&|| cells.set(usize::MAX, 1));
        refused(&|| cells.write(3, &[1, 2]));
        refused(&|| cells.read(usize::MAX, &mut [1, 2]));
        assert_eq!(memory.source().to_vec(), [0; 8]);
    }
}
