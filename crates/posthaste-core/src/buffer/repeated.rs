//! Buffers of operations that are repeated (persistent operations): they belong to the operation, and the program sees them between
//! its runs.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::Equivalence;

/// The numbers of an operation that may be started again.
///
/// What must stay true: whoever has them takes a slice of them only while no operation uses them, and drops them only then.
#[derive(Debug)]
pub(crate) struct Repeated<T> {
    base: NonNull<T>,
    len: usize,
    capacity: usize,
}

impl<T: Equivalence> Repeated<T> {
    /// Takes a vector apart, so that moving the keeper says nothing about the numbers.
    pub(crate) fn new(numbers: Vec<T>) -> Self {
        let mut numbers = ManuallyDrop::new(numbers);
        let base = NonNull::new(numbers.as_mut_ptr()).unwrap_or(NonNull::dangling()); // never null
        Self { base, len: numbers.len(), capacity: numbers.capacity() }
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: the numbers of a vector, which is ours; no operation writes them now (rule of the type).
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, nobody reads them now, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }
}

impl<T> Drop for Repeated<T> {
    fn drop(&mut self) {
        // SAFETY: the parts of the vector that `new` took, put together once; no operation uses them (rule of the type).
        drop(unsafe { Vec::from_raw_parts(self.base.as_ptr(), self.len, self.capacity) });
    }
}
