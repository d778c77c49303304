//! Buffers that belong to an operation until it is over.
//!
//! What must stay true: nobody touches or frees them before they are taken back. So dropping the value does neither: what is
//! not taken back stays in memory for ever, where a transfer that nobody ends may write.

use std::ptr::NonNull;

/// A value that stays where it is until it is taken back, wherever this handle of it goes.
#[derive(Debug)]
pub(crate) struct Kept<B> {
    at: NonNull<B>,
}

// SAFETY: it owns the value, like a box.
unsafe impl<B: Send> Send for Kept<B> {}

impl<B> Kept<B> {
    pub(crate) fn new(value: B) -> Self {
        Self { at: NonNull::from(Box::leak(Box::new(value))) }
    }

    /// The value, to describe the buffers in it to the engine, before anything has been started with them.
    pub(crate) fn lend(&mut self) -> &mut B {
        // SAFETY: it is in a box that nobody else knows, and the borrow is exclusive.
        unsafe { self.at.as_mut() }
    }

    /// The value, once every operation on it is over.
    pub(crate) fn take_back(self) -> B {
        // SAFETY: it came from a box, and this handle of it, the only one, ends here.
        unsafe { *Box::from_raw(self.at.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn what_is_not_taken_back_is_never_freed() {
        let witness = Arc::new(());
        let mut kept = Kept::new((witness.clone(), 5));
        kept.lend().1 += 1;
        let place = kept.at;
        let moved = Box::new(kept);
        assert_eq!(moved.at, place);
        assert_eq!(moved.take_back().1, 6);
        assert_eq!(Arc::strong_count(&witness), 1);
        {
            let _never_taken_back = Kept::new(witness.clone());
        }
        assert_eq!(Arc::strong_count(&witness), 2, "it has leaked");
    }
}
