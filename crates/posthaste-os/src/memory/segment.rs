//! The words and bytes of rings, bounce buffers and doorbells as they lie in the node segment.
//!
//! Every function is one address and one access, always inlined. What must stay true: as said in `memory`.

use std::sync::Arc;
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, fence};
use std::sync::atomic::{Ordering, compiler_fence};
use std::time::Duration;

use crate::mem::{Sink, Source};
pub(crate) use crate::node::Node;
use crate::node::{BUFFER_CONTROL, OWN_BUFFER_CONTROL, OwnBuffer};
use crate::pool::Talk;
use crate::ring::{CELL, HEADER};

const MEMBARRIER_GLOBAL_EXPEDITED: libc::c_int = 1 << 1;
const MEMBARRIER_REGISTER_GLOBAL_EXPEDITED: libc::c_int = 1 << 2;

/// Cells and head word of one ring.
#[derive(Debug)]
pub(crate) struct RingMemory {
    base: *mut u8,
    head: *const AtomicU64,
    _node: Node,
}

// SAFETY: addresses in a segment that `_node` keeps mapped, the same on every thread.
unsafe impl Send for RingMemory {}

impl RingMemory {
    /// The ring from `from` to `to`.
    pub(crate) fn new(node: &Node, to: usize, from: usize) -> Self {
        Self { base: node.ring_base(to, from), head: node.ring_head(to, from), _node: node.clone() }
    }

    /// How many cells the reader is done with.
    #[inline(always)]
    pub(crate) fn head(&self) -> &AtomicU64 {
        // SAFETY: in the segment that `_node` keeps mapped, only reached as an atomic.
        unsafe { &*self.head }
    }

    /// Sequence word of the cell `at`.
    ///
    /// # Safety
    /// `at` is inside the ring, and nobody writes payload into that cell meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn flag(&self, at: usize) -> &AtomicU32 {
        // SAFETY: inside the ring (the caller), 64-byte aligned, only reached as an atomic meanwhile.
        unsafe { &*self.base.add(at * CELL).cast() }
    }

    /// Writes the length word of the record at `at`.
    ///
    /// # Safety
    /// `at` is inside the ring and the cell belongs to the caller.
    #[inline(always)]
    pub(crate) unsafe fn set_len(&self, at: usize, len: u32) {
        // SAFETY: inside the cell.
        unsafe { self.base.add(at * CELL + 4).cast::<u32>().write(len) };
    }

    /// Reads the length word of the record at `at`, once: a peer that changes it later gains nothing.
    ///
    /// # Safety
    /// `at` is inside the ring and a record has been published there.
    #[inline(always)]
    pub(crate) unsafe fn len(&self, at: usize) -> u32 {
        // SAFETY: inside the cell.
        unsafe { self.base.add(at * CELL + 4).cast::<u32>().read_volatile() }
    }

    /// Writes the packet header of the record at `at`.
    ///
    /// # Safety
    /// As for `set_len`.
    #[inline(always)]
    pub(crate) unsafe fn set_header(&self, at: usize, header: &[u8; HEADER]) {
        // SAFETY: inside the cell.
        unsafe { self.base.add(at * CELL + 8).cast::<[u8; HEADER]>().write(*header) };
    }

    /// A copy of the packet header of the record at `at`.
    ///
    /// # Safety
    /// As for `len`.
    #[inline(always)]
    pub(crate) unsafe fn header(&self, at: usize) -> [u8; HEADER] {
        // SAFETY: inside the cell; a plain copy of bytes.
        unsafe { self.base.add(at * CELL + 8).cast::<[u8; HEADER]>().read() }
    }

    /// Where the payload of a record at `at` goes.
    ///
    /// # Safety
    /// The cells of a record of `len` bytes at `at` are inside the ring and belong to the caller for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn sink<'a>(&self, at: usize, len: usize) -> Sink<'a> {
        // SAFETY: contiguous cells that hold `len` bytes from here.
        unsafe { Sink::from_raw(self.base.add(at * CELL + 8 + HEADER), len) }
    }

    /// The payload of the record at `at`.
    ///
    /// # Safety
    /// The cells of a record of `len` bytes at `at` are inside the ring, and not given back for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn source<'a>(&self, at: usize, len: usize) -> Source<'a> {
        // SAFETY: contiguous cells that hold `len` bytes from here.
        unsafe { Source::from_raw(self.base.add(at * CELL + 8 + HEADER), len) }
    }
}

/// Control words and data of one bounce buffer.
#[derive(Debug)]
pub(crate) struct BufferMemory {
    filled: *const AtomicU64,
    drained: *const AtomicU64,
    data: *mut u8,
    node: Node,
    /// What keeps a buffer of its own pair mapped.
    own: Option<Arc<OwnBuffer>>,
}

// SAFETY: as for `RingMemory`; the memory of an own buffer is kept mapped by `own`.
unsafe impl Send for BufferMemory {}

impl BufferMemory {
    /// Buffer `index` of receiver `to`.
    pub(crate) fn new(node: &Node, to: usize, index: usize) -> Self {
        // SAFETY: a buffer is `BUFFER_CONTROL` bytes of control lines followed by its data, all in the segment.
        unsafe { Self::at(node, node.buffer_base(to, index), BUFFER_CONTROL, None) }
    }

    /// The buffer of a pair of its own with this number; `None` when nobody has taken it, or it cannot be mapped.
    pub(crate) fn own(node: &Node, number: usize) -> Option<Self> {
        let own = Arc::new(node.own_buffer(number)?);
        // SAFETY: an own buffer is a page with its control lines followed by its data, mapped as long as `own` lives.
        Some(unsafe { Self::at(node, own.base(), OWN_BUFFER_CONTROL, Some(own)) })
    }

    /// # Safety
    /// Two control lines lie at `base` and the data `data` bytes behind it, in memory that `node` or `own` keeps mapped.
    unsafe fn at(node: &Node, base: *mut u8, data: usize, own: Option<Arc<OwnBuffer>>) -> Self {
        // SAFETY: as the caller says.
        let (drained, data) = unsafe { (base.add(64).cast(), base.add(data)) };
        Self { filled: base.cast(), drained, data, node: node.clone(), own }
    }

    /// Bytes of an own buffer that are used, as its sender says; 0 before it has.
    #[inline]
    pub(crate) fn own_size(&self) -> Option<&AtomicU64> {
        // SAFETY: the third line of the control page, mapped by `own`, only reached as an atomic.
        self.own.as_ref().map(|own| unsafe { &*own.base().add(128).cast() })
    }

    /// By which both ends of an own buffer say how it is filled.
    #[inline]
    pub(crate) fn talk(&self) -> Option<Talk<'_>> {
        let own = self.own.as_ref()?;
        // SAFETY: the fourth and fifth line of the control page, mapped by `own`, only reached as atomics.
        let word = |at: usize| unsafe { &*own.base().add(at).cast::<AtomicU64>() };
        let (ask, filled) = (word(192), self.filled());
        Some(Talk { ask, filled, heeded: word(256), since: word(264), fill: word(272) })
    }

    /// Gets the pages of so many bytes of the data at once, where the system can: no page faults on the message path.
    pub(crate) fn populate(&self, bytes: usize) {
        // SAFETY: the range is mapped by whoever made this view, and its contents stay as they are.
        unsafe { libc::madvise(self.data.cast(), bytes, libc::MADV_POPULATE_WRITE) };
    }

    /// The segment that the buffer is in.
    #[inline(always)]
    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// Bytes filled since the beginning; the sender's word.
    #[inline(always)]
    pub(crate) fn filled(&self) -> &AtomicU64 {
        // SAFETY: in the segment that `node` keeps mapped, only reached as an atomic.
        unsafe { &*self.filled }
    }

    /// Bytes drained since the beginning; the receiver's word.
    #[inline(always)]
    pub(crate) fn drained(&self) -> &AtomicU64 {
        // SAFETY: as in `filled`.
        unsafe { &*self.drained }
    }

    /// Room for `len` bytes.
    ///
    /// # Safety
    /// `offset + len` is within the buffer, and those bytes belong to the caller for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn sink<'a>(&self, offset: usize, len: usize) -> Sink<'a> {
        // SAFETY: inside the buffer (the caller).
        unsafe { Sink::from_raw(self.data.add(offset), len) }
    }

    /// `len` bytes that have been filled.
    ///
    /// # Safety
    /// `offset + len` is within the buffer, and those bytes are not given back for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn source<'a>(&self, offset: usize, len: usize) -> Source<'a> {
        // SAFETY: inside the buffer (the caller).
        unsafe { Source::from_raw(self.data.add(offset), len) }
    }
}

/// Asks to be included in the [`heavy_fence`] of every other process; false where the system has none.
pub(crate) fn join_fences() -> bool {
    // SAFETY: the call takes no memory.
    unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 }
}

/// The half of a fence that costs nothing: the [`heavy_fence`] of the sleeper orders what the CPU sees, and the
/// compiler must not swap what is before with what is behind.
#[inline(always)]
pub(crate) fn light_fence() {
    compiler_fence(Ordering::SeqCst);
}

/// A full fence in every process that joined in.
pub(crate) fn heavy_fence() {
    // SAFETY: the call takes no memory.
    unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_GLOBAL_EXPEDITED, 0, 0) };
}

/// Sleeps while the futex word of `rank` is `ticket`, until woken or the time is over.
pub(crate) fn futex_wait(node: &Node, rank: usize, ticket: u32, limit: Duration) {
    let futex: &AtomicU32 = node.futex(rank);
    let time = libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(limit.subsec_nanos()),
    };
    // SAFETY: a futex word in memory that `node` keeps mapped, and a time limit that lives over the call.
    unsafe { libc::syscall(libc::SYS_futex, futex.as_ptr(), libc::FUTEX_WAIT, ticket, &raw const time) };
}

/// Wakes all who sleep on the futex word of `rank`.
pub(crate) fn futex_wake(node: &Node, rank: usize) {
    // SAFETY: a futex word in memory that `node` keeps mapped.
    unsafe { libc::syscall(libc::SYS_futex, node.futex(rank).as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Wakes the one who sleeps on the pipe of `rank`.
pub(crate) fn pipe_wake(node: &Node, rank: usize) {
    node.ring_pipe(rank);
}
