//! The words and bytes of rings, bounce buffers and doorbells as a model that loom checks.
//!
//! It takes the place of the segment. Words are loom's atomics. Bytes are real memory with a tracker for each ring cell
//! and each byte of a bounce buffer: handing out a [`Sink`] counts as writing, handing out a [`Source`] as reading, and
//! two that no ordering of the protocol keeps apart stop the run. That moment may stand for the whole access, because
//! views borrow from the end that made them and so are gone before it commits or gives back.
//!
//! What must stay true: as said in `memory`. Where the segment is harsher than loom, so is this model: a payload
//! that covers the sequence word of a cell leaves there the value that would hurt most ([`Shape::payload_word`]).

use std::cell;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex as Private};
use std::time::Duration;

use loom::cell as tracked;
use loom::sync::{Condvar, Mutex};

pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, fence};

use crate::mem::{Sink, Source};
use crate::node::{ACTIVE_WORDS, End};
use crate::pool::Talk;
use crate::ring::{CELL, HEADER, cells_for};

/// Sizes of a model.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Ranks of the host.
    pub ranks: usize,
    /// Cells of each ring.
    pub ring_cells: usize,
    /// Bounce buffers of each receiver.
    pub buffers: usize,
    /// Bytes of each bounce buffer.
    pub buffer_bytes: usize,
    /// What payload leaves where a reader looks for a sequence number: the number of a later lap.
    pub payload_word: u32,
}

/// The model in place of the node segment; made anew in each run.
#[derive(Clone, Debug)]
pub struct Node(Arc<Model>);

#[derive(Debug)]
struct Model {
    shape: Shape,
    rings: Vec<Ring>,
    taken: Vec<AtomicU64>,
    buffers: Vec<Buffer>,
    bells: Vec<Bell>,
    ends: Private<HashSet<(End, usize, usize)>>,
}

/// One cell: its sequence word, and a tracker of all that is beside it.
#[derive(Debug)]
struct Cell {
    flag: cell::UnsafeCell<AtomicU32>,
    body: tracked::UnsafeCell<()>,
}

#[derive(Debug)]
struct Ring {
    head: AtomicU64,
    cells: Vec<Cell>,
    bytes: Box<[cell::UnsafeCell<u8>]>,
}

#[derive(Debug)]
struct Buffer {
    filled: AtomicU64,
    drained: AtomicU64,
    trackers: Vec<tracked::UnsafeCell<()>>,
    bytes: Box<[cell::UnsafeCell<u8>]>,
}

#[derive(Debug)]
struct Bell {
    sleeping: Sleeping,
    futex: AtomicU32,
    active: [AtomicU64; ACTIVE_WORDS],
    queue: Mutex<()>,
    woken: Condvar,
}

/// The `sleeping` word. The owner stores, the others swap. A swap directly follows the value that it read, so what
/// the owner stores next is newer than the swap; loom does not know that of plain stores and would let a third
/// rank read the swapped value behind the store. So here the owner swaps, too.
#[derive(Debug)]
pub(crate) struct Sleeping(AtomicU32);

impl Sleeping {
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }

    pub(crate) fn store(&self, value: u32, order: Ordering) {
        self.0.swap(value, order);
    }

    pub(crate) fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.0.swap(value, order)
    }
}

// SAFETY: loom runs one thread at a time and switches between them only inside its own operations.
unsafe impl Send for Model {}
// SAFETY: as above; bytes are reached behind a tracker.
unsafe impl Sync for Model {}

fn zeroes(len: usize) -> Box<[cell::UnsafeCell<u8>]> {
    (0..len).map(|_| cell::UnsafeCell::new(0)).collect()
}

impl Node {
    /// Fresh memory, all zero.
    pub fn new(shape: Shape) -> Self {
        let make_cell =
            |_| Cell { flag: cell::UnsafeCell::new(AtomicU32::new(0)), body: tracked::UnsafeCell::new(()) };
        let ring = |_| Ring {
            head: AtomicU64::new(0),
            cells: (0..shape.ring_cells).map(make_cell).collect(),
            bytes: zeroes(shape.ring_cells * CELL),
        };
        let buffer = |_| Buffer {
            filled: AtomicU64::new(0),
            drained: AtomicU64::new(0),
            trackers: (0..shape.buffer_bytes).map(|_| tracked::UnsafeCell::new(())).collect(),
            bytes: zeroes(shape.buffer_bytes),
        };
        let bell = |_| Bell {
            sleeping: Sleeping(AtomicU32::new(0)),
            futex: AtomicU32::new(0),
            active: std::array::from_fn(|_| AtomicU64::new(0)),
            queue: Mutex::new(()),
            woken: Condvar::new(),
        };
        Self(Arc::new(Model {
            shape,
            rings: (0..shape.ranks * shape.ranks).map(ring).collect(),
            taken: (0..shape.ranks).map(|_| AtomicU64::new(0)).collect(),
            buffers: (0..shape.ranks * shape.buffers).map(buffer).collect(),
            bells: (0..shape.ranks).map(bell).collect(),
            ends: Private::default(),
        }))
    }

    pub(crate) fn take_end(&self, end: End, to: usize, from: usize) {
        assert!(self.0.ends.lock().expect("one thread at a time").insert((end, to, from)));
    }

    pub(crate) fn ring_cells(&self) -> usize {
        self.0.shape.ring_cells
    }

    pub(crate) fn buffers(&self) -> usize {
        self.0.shape.buffers
    }

    /// There are none in the model.
    pub fn own_buffer_bytes(&self) -> usize {
        0
    }

    pub(crate) fn buffer_bytes(&self) -> usize {
        self.0.shape.buffer_bytes
    }

    pub(crate) fn buffers_taken(&self, to: usize) -> &AtomicU64 {
        &self.0.taken[to]
    }

    pub(crate) fn sleeping(&self, rank: usize) -> &Sleeping {
        &self.0.bells[rank].sleeping
    }

    pub(crate) fn futex(&self, rank: usize) -> &AtomicU32 {
        &self.0.bells[rank].futex
    }

    pub(crate) fn active(&self, rank: usize) -> &[AtomicU64; ACTIVE_WORDS] {
        &self.0.bells[rank].active
    }
}

/// Cells and head word of one ring.
#[derive(Debug)]
pub(crate) struct RingMemory {
    node: Node,
    ring: usize,
}

impl RingMemory {
    pub(crate) fn new(node: &Node, to: usize, from: usize) -> Self {
        Self { ring: to * node.0.shape.ranks + from, node: node.clone() }
    }

    fn ring(&self) -> &Ring {
        &self.node.0.rings[self.ring]
    }

    /// Address of a byte of the cell `at`; whoever asks has informed the tracker.
    fn address(&self, at: usize, offset: usize) -> *mut u8 {
        self.ring().bytes.as_ptr().cast_mut().cast::<u8>().wrapping_add(at * CELL + offset)
    }

    /// The cells after the first of a record.
    fn further(&self, at: usize, len: usize) -> &[Cell] {
        &self.ring().cells[at + 1..at + cells_for(len)]
    }

    pub(crate) fn head(&self) -> &AtomicU64 {
        &self.ring().head
    }

    /// # Safety
    /// None: the model checks.
    pub(crate) unsafe fn flag(&self, at: usize) -> &AtomicU32 {
        // SAFETY: the only mutable reference, in `sink`, is gone before another thread runs.
        unsafe { &*self.ring().cells[at].flag.get() }
    }

    /// # Safety
    /// None: the model checks.
    pub(crate) unsafe fn set_len(&self, at: usize, len: u32) {
        // SAFETY: four bytes of the cell, which the tracker found to be ours.
        self.ring().cells[at]
            .body
            .with_mut(|_| unsafe { self.address(at, 4).cast::<u32>().write_unaligned(len) });
    }

    /// # Safety
    /// None: the model checks.
    pub(crate) unsafe fn len(&self, at: usize) -> u32 {
        // SAFETY: four bytes of the cell, which the tracker found to be readable.
        self.ring().cells[at].body.with(|_| unsafe { self.address(at, 4).cast::<u32>().read_unaligned() })
    }

    /// # Safety
    /// None: the model checks.
    pub(crate) unsafe fn set_header(&self, at: usize, header: &[u8; HEADER]) {
        // SAFETY: as in `set_len`.
        self.ring().cells[at]
            .body
            .with_mut(|_| unsafe { self.address(at, 8).cast::<[u8; HEADER]>().write(*header) });
    }

    /// # Safety
    /// None: the model checks.
    pub(crate) unsafe fn header(&self, at: usize) -> [u8; HEADER] {
        // SAFETY: as in `len`.
        self.ring().cells[at].body.with(|_| unsafe { self.address(at, 8).cast::<[u8; HEADER]>().read() })
    }

    /// # Safety
    /// None: the model checks.
    pub(crate) unsafe fn sink<'a>(&self, at: usize, len: usize) -> Sink<'a> {
        self.ring().cells[at].body.with_mut(|_| ());
        for cell in self.further(at, len) {
            cell.body.with_mut(|_| ());
            // SAFETY: no other thread runs meanwhile; loom stops the run if another could be at this word.
            unsafe { &mut *cell.flag.get() }.with_mut(|word| *word = self.node.0.shape.payload_word);
        }
        // SAFETY: the cells are contiguous and inside the ring (indexed above).
        unsafe { Sink::from_raw(self.address(at, 8 + HEADER), len) }
    }

    /// # Safety
    /// None: the model checks.
    pub(crate) unsafe fn source<'a>(&self, at: usize, len: usize) -> Source<'a> {
        self.ring().cells[at].body.with(|_| ());
        for cell in self.further(at, len) {
            cell.body.with(|_| ());
            // SAFETY: as in `flag`; loom stops the run if another could be writing this word.
            unsafe { (*cell.flag.get()).unsync_load() };
        }
        // SAFETY: the cells are contiguous and inside the ring (indexed above).
        unsafe { Source::from_raw(self.address(at, 8 + HEADER), len) }
    }
}

/// Control words and data of one bounce buffer.
#[derive(Debug)]
pub(crate) struct BufferMemory {
    node: Node,
    buffer: usize,
}

impl BufferMemory {
    pub(crate) fn new(node: &Node, to: usize, index: usize) -> Self {
        assert!(index < node.buffers());
        Self { buffer: to * node.buffers() + index, node: node.clone() }
    }

    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    fn buffer(&self) -> &Buffer {
        &self.node.0.buffers[self.buffer]
    }

    pub(crate) fn filled(&self) -> &AtomicU64 {
        &self.buffer().filled
    }

    pub(crate) fn drained(&self) -> &AtomicU64 {
        &self.buffer().drained
    }

    /// There are no own buffers in the model.
    pub(crate) fn own_size(&self) -> Option<&AtomicU64> {
        None
    }

    /// See above.
    pub(crate) fn populate(&self, _: usize) {}

    /// See above.
    pub(crate) fn talk(&self) -> Option<Talk<'_>> {
        None
    }

    /// # Safety
    /// None: the model checks.
    pub(crate) unsafe fn sink<'a>(&self, offset: usize, len: usize) -> Sink<'a> {
        self.buffer().trackers[offset..offset + len].iter().for_each(|tracker| tracker.with_mut(|_| ()));
        // SAFETY: inside the buffer (indexed above).
        unsafe { Sink::from_raw(self.buffer().bytes.as_ptr().cast_mut().cast::<u8>().add(offset), len) }
    }

    /// # Safety
    /// None: the model checks.
    pub(crate) unsafe fn source<'a>(&self, offset: usize, len: usize) -> Source<'a> {
        self.buffer().trackers[offset..offset + len].iter().for_each(|tracker| tracker.with(|_| ()));
        // SAFETY: inside the buffer (indexed above).
        unsafe { Source::from_raw(self.buffer().bytes.as_ptr().cast::<u8>().add(offset), len) }
    }
}

/// The model's system has heavy fences.
pub(crate) fn join_fences() -> bool {
    true
}

/// A fence of the sender's own, in place of the one that the sleeper's barrier runs on the sender's CPU.
///
/// The barrier puts a full fence at *some* point P of whatever the sender is doing. Between writing a record and
/// reading the sleeper's words, that is this fence. Before both, the reads come after P, and so see words written
/// before the barrier. After both, the record was written before P, and so is seen by a look after the barrier.
/// Either way at least one of the two sees the other, which is all that a fence on both sides promises too. Not
/// covered by this argument: an order between two senders, which would have a fence here and none in truth. No
/// sender relies on one; what they do to each other goes through read-modify-write operations on one word.
pub(crate) fn light_fence() {
    fence(Ordering::SeqCst);
}

/// The sleeper's own part of its barrier; what it does to the others is in [`light_fence`].
pub(crate) fn heavy_fence() {
    fence(Ordering::SeqCst);
}

/// Compares and queues in one step, as the kernel does. Time never passes here: a lost wake-up is a deadlock.
pub(crate) fn futex_wait(node: &Node, rank: usize, ticket: u32, _limit: Duration) {
    let bell = &node.0.bells[rank];
    let queue = bell.queue.lock().expect("a run ends at its first panic");
    if bell.futex.load(Ordering::Relaxed) == ticket {
        drop(bell.woken.wait(queue).expect("a run ends at its first panic"));
    }
}

pub(crate) fn futex_wake(node: &Node, rank: usize) {
    let bell = &node.0.bells[rank];
    let _queue = bell.queue.lock().expect("a run ends at its first panic");
    bell.woken.notify_all();
}

/// Nobody in the model sleeps on a pipe; whoever is on the futex is woken.
pub(crate) fn pipe_wake(node: &Node, rank: usize) {
    futex_wake(node, rank);
}
