//! What the Rust code of a process has allocated, counted: for tests that say what something costs.
//!
//! A global allocator for tests, over that of the system. What must stay true: nothing is counted but what was asked
//! for, so the numbers are the same on every machine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, with a count of the bytes that are allocated.
#[derive(Debug)]
pub struct Counting(AtomicUsize);

impl Counting {
    /// Nothing has been allocated yet.
    #[expect(clippy::new_without_default, reason = "a static needs a constant")]
    pub const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Bytes that are allocated at this time.
    pub fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

// SAFETY: every call is passed on as it is; counting allocates nothing and does not fail. `realloc` and `alloc_zeroed` are
// made of these two by default.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this very function.
        let memory = unsafe { System.alloc(layout) };
        if !memory.is_null() {
            self.0.fetch_add(layout.size(), Ordering::Relaxed);
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.0.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}
