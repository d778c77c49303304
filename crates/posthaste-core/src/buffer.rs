//! User memory: the only place of the engine that touches memory by address.
//!
//! Payload memory is seen through the bounded views of `posthaste_os::mem`.
//!
//! - `kernel`: the loops that pack and unpack; `vector`: the same by wide vectors; `element`: the loops that reduce; `quad`:
//!   arithmetic for them that the machine lacks; `located`: their pairs. `equivalence`: which types of Rust programs may be in such
//!   memory; `elements`: memory of them that belongs to a request; `repeated`: buffers of persistent collective operations; `kept`:
//!   buffers that belong to their operation. `cells`: elements of windows, in place. `device`: memory that only devices can touch.
//!
//! What must stay true:
//! - From outside of this crate, user memory comes in two ways only: by [`Base::new`], whose caller promises that every
//!   byte of one description stays valid until the operations on it are complete; and by a borrow (`slice`), whose
//!   lifetime ends after them. Every `unsafe` block here rests on one of the two for the user's side, and on a checked
//!   length for the other side.
//! - A `UserBuf`, which is an address in such memory, stays in this crate. It reaches further than what was described, so
//!   the crate as a whole answers for staying within it: what has an address has the description beside it.
//! - User memory has no alignment: words are moved with unaligned loads and stores.
//! - No reference into user memory is ever made, so a user who breaks the rules of MPI-5.0 §3.7.2 (touching a
//!   buffer in flight) gets wrong data and nothing worse. Slices that were borrowed are the exception: a function that
//!   combines slices sees them as such (`element: combine_slices`), and what repeats an operation lends them between its runs (`repeated`).

mod cells;
pub mod device;
mod element;
mod elements;
mod equivalence;
mod kept;
mod kernel;
mod located;
mod quad;
mod repeated;
mod vector;

pub use cells::Cells;
pub(crate) use device::{Copies, Direction};
pub(crate) use element::{Element, Extended, Half, Operands, Pair, combine, combine_slices};
pub(crate) use elements::Elements;
#[doc(hidden)]
pub use equivalence::equivalence_of_fields;
pub use equivalence::{Equivalence, Field, Shape, is_dense, packed_size, shape_of_field, zeroed};
pub(crate) use kept::Kept;
pub use kernel::Span;
pub(crate) use kernel::{Mover, Turns, Visitor};
pub use located::{Locate, Located};
pub(crate) use quad::Quad;
pub(crate) use repeated::Repeated;

use posthaste_os::fabric::{Endpoint, NotStarted, Place, Registration, Remote};
pub use posthaste_os::heap::Block;
use posthaste_os::mapped::{Atom, Mapped, WideAtom};
use posthaste_os::mem::{self, Sink, Source, Store};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};

use crate::error::Error;

/// Where a buffer of the program begins, with the program's word for it: the one way into the engine for an address.
///
/// It is good for one description, which says how far the buffer reaches: it goes by value into what makes a segment
/// ([`Segment`](crate::datatype::Segment)) or the argument of a collective operation
/// ([`Operand`](crate::coll::Operand) and its kin). Before that one can only look at the address.
///
/// ```compile_fail,E0382
/// use posthaste_core::{buffer::Base, datatype::Segment};
/// let mut data = [0u8; 4];
/// // SAFETY: four bytes, and nothing is started with them.
/// let base = unsafe { Base::new(data.as_mut_ptr()) };
/// let four = Segment::bytes_at(base, 4);
/// let more = Segment::bytes_at(base, 4000); // error: the word was for four bytes, and has been taken
/// ```
#[derive(Debug)]
pub struct Base(*mut u8);

impl Base {
    /// Gives the word. Null is allowed: displacements are then absolute addresses (`MPI_BOTTOM`, MPI-5.0 §5.1.5), whose
    /// memory must have been exposed.
    ///
    /// # Safety
    /// For the one description that takes this value (counts, displacements and datatypes; one block for each rank where
    /// the operation has one for each), every byte that it reaches from `base`
    /// - is readable, and where something is received, unpacked or combined into it, writable, until every operation on
    ///   the description, a copy or a part of it is complete, or freed if it is persistent; and
    /// - is meanwhile not accessed by the program in a way that MPI forbids (MPI-5.0 §3.7.2).
    #[inline]
    pub const unsafe fn new(base: *mut u8) -> Self {
        Self(base)
    }

    /// `len` bytes to be read, without a copy.
    #[inline]
    pub fn source<'a>(self, len: usize) -> Source<'a> {
        self.buf().source(len)
    }

    /// `len` bytes to be written, without a copy.
    #[inline]
    pub fn sink<'a>(self, len: usize) -> Sink<'a> {
        self.buf().sink(len)
    }

    /// The address as a number, to be compared with others.
    #[inline]
    pub fn address(&self) -> usize {
        self.0.addr()
    }

    /// The address for whoever takes the value with its description.
    #[inline]
    pub(crate) const fn buf(self) -> UserBuf {
        UserBuf(self.0)
    }
}

/// Bytes of the program in one run that the processor reaches: for what is over before its call returns.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    buf: UserBuf,
    len: u64,
}

impl Run {
    /// `len` bytes; `None`: on a device.
    #[inline(always)]
    pub fn at(base: Base, len: u64) -> Option<Self> {
        if device::is_registered() && len > 0 && device::is_owned(base.address(), 1) {
            return None;
        }
        Some(Self { buf: base.buf(), len })
    }

    /// `len` bytes of a buffer that the program has lent, which is never on a device.
    #[inline(always)]
    pub(crate) fn lent(buf: UserBuf, len: u64) -> Self {
        Self { buf, len }
    }

    /// All of some memory of the engine.
    #[cfg(test)]
    pub(crate) fn of(memory: &OwnedBuf) -> Self {
        Self { buf: memory.user_buf(), len: memory.len() as u64 }
    }

    /// How many bytes there are.
    #[inline(always)]
    pub(crate) fn len(self) -> u64 {
        self.len
    }

    /// The bytes, to be read.
    #[inline(always)]
    pub(crate) fn source<'a>(self) -> Source<'a> {
        self.buf.source(self.len as usize)
    }

    /// Copies as many bytes to another place.
    #[inline(always)]
    pub(crate) fn copy_to(self, place: UserBuf) {
        // SAFETY: both sides by the promise of `Base::new`.
        unsafe { mem::move_bytes(self.buf.0, place.0, self.len as usize) };
    }

    /// Replaces the bytes by those of another place.
    #[inline(always)]
    pub(crate) fn copy_from(self, place: UserBuf) {
        // SAFETY: as above.
        unsafe { mem::move_bytes(place.0, self.buf.0, self.len as usize) };
    }

    /// The bits of all bytes, in the low bytes, if they are a word.
    #[inline(always)]
    pub(crate) fn word(self) -> Option<u64> {
        let at = self.buf.0;
        // SAFETY: as many bytes are readable by the promise of `Base::new`; the address need not be aligned.
        unsafe {
            match self.len {
                8 => Some(at.cast::<u64>().read_unaligned()),
                4 => Some(u64::from(at.cast::<u32>().read_unaligned())),
                2 => Some(u64::from(at.cast::<u16>().read_unaligned())),
                1 => Some(u64::from(at.read())),
                _ => None,
            }
        }
    }

    /// Replaces what [`Run::word`] gives; nothing if that is nothing.
    #[inline(always)]
    pub(crate) fn set_word(self, word: u64) {
        let at = self.buf.0;
        // SAFETY: as in `word`, and writable.
        unsafe {
            match self.len {
                8 => at.cast::<u64>().write_unaligned(word),
                4 => at.cast::<u32>().write_unaligned(word as u32),
                2 => at.cast::<u16>().write_unaligned(word as u16),
                1 => at.write(word as u8),
                _ => {}
            }
        }
    }
}

/// An address in a buffer that somebody vouched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UserBuf(*mut u8);

// SAFETY: what was promised in `Base::new` holds on every thread, and a slice's numbers are `Send` and `Sync`.
unsafe impl Send for UserBuf {}
// SAFETY: as above; the type itself has no interior state.
unsafe impl Sync for UserBuf {}

impl UserBuf {
    /// A base without any bytes, for operations of length zero.
    pub(crate) const fn none() -> Self {
        Self(ptr::null_mut())
    }

    /// A place in memory that several processes have mapped. Whoever takes it keeps the mapping, and stays within it.
    #[inline]
    pub(crate) fn mapped(memory: &Mapped, at: usize) -> Self {
        Self(memory.as_ptr().wrapping_add(at))
    }

    /// The beginning of memory that the library has allocated. Whoever takes it keeps the memory, and stays within it.
    pub(crate) fn block(memory: &Block) -> Self {
        Self(memory.as_ptr())
    }

    /// The bytes of a slice, to be read from. The borrow ends with this call: only `slice` may call it, whose types carry
    /// the borrow on.
    #[inline]
    pub(crate) fn borrowed<T: Equivalence>(slice: &[T]) -> Self {
        Self(slice.as_ptr().cast_mut().cast())
    }

    /// The bytes of a slice, to be written to. The same duty as with [`UserBuf::borrowed`].
    #[inline]
    pub(crate) fn borrowed_mut<T: Equivalence>(slice: &mut [T]) -> Self {
        Self(slice.as_mut_ptr().cast())
    }

    /// The address as a pointer, for a user's function.
    pub(crate) fn as_ptr(self) -> *mut u8 {
        self.0
    }

    /// The address `by` bytes further on.
    #[inline]
    #[must_use]
    pub(crate) fn offset(self, by: isize) -> Self {
        if self.0.is_null() {
            // An absolute address carries no provenance of its own; Get_address exposed it.
            return Self(ptr::with_exposed_provenance_mut(by as usize));
        }
        Self(self.0.wrapping_offset(by))
    }

    /// The address as a number, for the kernel and for diagnostics.
    #[inline]
    pub(crate) fn address(self) -> usize {
        self.0.addr()
    }

    /// `len` bytes from here as a source, without copying.
    #[inline]
    pub(crate) fn source<'a>(self, len: usize) -> Source<'a> {
        if len == 0 {
            return Source::from(&[][..]);
        }
        // SAFETY: readable until the operation ends (promise of `Base::new`).
        unsafe { Source::from_raw(self.0, len) }
    }

    /// `len` bytes from here as a sink, without copying.
    #[inline]
    pub(crate) fn sink<'a>(self, len: usize) -> Sink<'a> {
        if len == 0 {
            return Sink::from(&mut [][..]);
        }
        // SAFETY: writable until the operation ends and never seen through a reference (promise of `Base::new`).
        unsafe { Sink::from_raw(self.0, len) }
    }

    /// Fills `sink` with the bytes at `offset`.
    #[inline]
    pub(crate) fn copy_out(self, offset: isize, mut sink: Sink<'_>) {
        let from = self.offset(offset).0;
        // SAFETY: the user's side by the promise of `Base::new`, the other by the sink's own length. `copy` and
        // not `copy_nonoverlapping`: the sink may be user memory of the same rank.
        unsafe { mem::move_bytes(from, sink.as_mut_ptr(), sink.len()) };
    }

    /// As [`UserBuf::copy_out`], into a bounce buffer by this kind of copy.
    pub(crate) fn send_out(self, offset: isize, mut sink: Sink<'_>, store: Store) {
        let from = self.offset(offset).0;
        // SAFETY: as in `copy_out`; a bounce buffer is no user memory, so the two do not overlap.
        unsafe { mem::send_bytes(from, sink.as_mut_ptr(), sink.len(), store) };
    }

    /// As [`UserBuf::copy_in`], out of a bounce buffer by this kind of copy.
    pub(crate) fn receive_in(self, offset: isize, source: Source<'_>, store: Store) {
        let to = self.offset(offset).0;
        // SAFETY: as in `send_out`, with the roles exchanged.
        unsafe { mem::receive_bytes(source.as_ptr(), to, source.len(), store) };
    }

    /// Copies all of `source` to `offset`.
    #[inline]
    pub(crate) fn copy_in(self, offset: isize, source: Source<'_>) {
        let to = self.offset(offset).0;
        // SAFETY: as in `copy_out`, with the roles exchanged.
        unsafe { mem::move_bytes(source.as_ptr(), to, source.len()) };
    }

    /// The element of `size` bytes here, if the processor can change it in one step.
    #[inline(always)]
    pub(crate) fn atom<'a>(self, size: usize) -> Option<Atom<'a>> {
        // SAFETY: readable and writable until the operation ends, and never seen through a reference (promise of `Base::new`).
        unsafe { Atom::at(self.0, size) }
    }

    /// The element of 16 bytes here, if the processor can change it in one step.
    pub(crate) fn wide_atom<'a>(self) -> Option<WideAtom<'a>> {
        // SAFETY: as above.
        unsafe { WideAtom::at(self.0) }
    }

    /// Copies `len` bytes from another user buffer to here; the two may overlap.
    #[inline]
    pub(crate) fn copy_from(self, from: Self, len: usize) {
        // SAFETY: both sides by the promise of `Base::new`.
        unsafe { mem::copy_bytes(from.0, self.0, len) };
    }
}

/// Zeroed heap memory for temporaries of the engine, aligned to a cache line. It does not move while it is
/// owned. Pages of long ones cost nothing until they are touched.
#[derive(Debug)]
pub struct OwnedBuf {
    base: NonNull<u8>,
    len: usize,
    /// What was allocated; nothing for no bytes.
    allocated: Option<(NonNull<u8>, Layout)>,
}

// SAFETY: plain memory without ties to a thread.
unsafe impl Send for OwnedBuf {}
// SAFETY: shared access goes through copies by address only, as for any user buffer.
unsafe impl Sync for OwnedBuf {}

impl OwnedBuf {
    const ALIGN: usize = 64;

    /// `len` zero bytes. Aborts the process when there is no memory, as every allocation in Rust does.
    pub fn new(len: usize) -> Self {
        Self::allocate(len).unwrap_or_else(|layout| handle_alloc_error(layout))
    }

    /// The same, for a length that the program chooses.
    ///
    /// # Errors
    /// No memory.
    pub(crate) fn try_new(len: usize) -> Result<Self, Error> {
        Self::allocate(len).map_err(|_| Error::no_memory(format!("there is no memory for {len} bytes")))
    }

    /// What could not be allocated is the error.
    fn allocate(len: usize) -> Result<Self, Layout> {
        if len == 0 {
            return Ok(Self { base: NonNull::dangling(), len, allocated: None });
        }
        // Asked for more than the usual alignment, the allocator would write the zeros itself.
        let layout = Layout::array::<u8>(len.saturating_add(Self::ALIGN));
        let layout = layout.map_err(|_| Layout::new::<u8>())?;
        // SAFETY: the size is not zero.
        let all = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(layout)?;
        // SAFETY: the next multiple of `ALIGN` and `len` bytes behind it lie within the allocation.
        let base = unsafe { all.add(all.align_offset(Self::ALIGN)) };
        Ok(Self { base, len, allocated: Some((all, layout)) })
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory as a user buffer. Only within the engine: whoever takes it keeps the owner alive until the
    /// last operation on it is complete, and stays within [`OwnedBuf::len`].
    pub(crate) fn user_buf(&self) -> UserBuf {
        UserBuf(self.base.as_ptr())
    }

    /// The bytes to read from.
    pub fn source(&self) -> Source<'_> {
        // SAFETY: `len` bytes are owned and stay for the borrow.
        unsafe { Source::from_raw(self.base.as_ptr(), self.len()) }
    }

    /// The bytes to write to.
    pub fn sink(&mut self) -> Sink<'_> {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { Sink::from_raw(self.base.as_ptr(), self.len()) }
    }
}

impl Drop for OwnedBuf {
    fn drop(&mut self) {
        if let Some((all, layout)) = self.allocated {
            // SAFETY: allocated in `new` with this layout, freed once.
            unsafe { dealloc(all.as_ptr(), layout) };
        }
    }
}

/// A run of user memory (address, length) to be sent from where it lies.
///
/// The run is one of a segment: it lies in a buffer that the caller vouched for ([`Base::new`] or a borrow).
pub(crate) fn run<'a>((address, len): (usize, usize)) -> Source<'a> {
    UserBuf(ptr::with_exposed_provenance_mut(address)).source(len)
}

/// Numbers in memory that was allocated for messages (`MPI_Alloc_mem`); zero at first. It is used as a slice.
#[derive(Debug)]
pub struct Memory<T> {
    block: Block,
    len: usize,
    numbers: PhantomData<T>,
}

impl<T: Equivalence> Memory<T> {
    /// The number of bytes that `len` numbers take.
    pub fn bytes(len: usize) -> usize {
        len.saturating_mul(size_of::<T>())
    }

    /// As many numbers as fit into a block.
    pub fn new(block: Block) -> Self {
        const { assert!(align_of::<T>() <= Block::ALIGN, "the alignment of an element is at most 64") };
        let len = block.len().checked_div(size_of::<T>()).unwrap_or(0);
        Self { block, len, numbers: PhantomData }
    }
}

impl<T: Equivalence> Deref for Memory<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: the block has room for `len` numbers and is aligned for them; every bit pattern is one (`Equivalence`),
        // and peers write only while a receive holds a mutable borrow of the slice.
        unsafe { std::slice::from_raw_parts(self.block.as_ptr().cast(), self.len) }
    }
}

impl<T: Equivalence> DerefMut for Memory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.block.as_ptr().cast(), self.len) }
    }
}

impl<T: Equivalence> AsMut<[T]> for Memory<T> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

/// Copies from the memory of process `pid` at `remote` into runs of user memory (address, length), in order.
/// Returns the number of bytes copied.
///
/// The runs are those of a segment: they lie in a buffer that the caller vouched for ([`Base::new`] or a borrow).
///
/// # Errors
/// What the system said.
pub(crate) fn read_peer(pid: u32, remote: u64, runs: &[(usize, usize)]) -> std::io::Result<usize> {
    // SAFETY: `Segment::runs` lists ranges of a `UserBuf` only, writable until the request is over.
    unsafe { posthaste_os::peer_copy::read(pid, remote, runs) }
}

/// Copies runs of user memory (address, length), in order, into the memory of process `pid` at `remote`. Returns the
/// number of bytes copied.
///
/// # Errors
/// What the system said.
pub(crate) fn write_peer(pid: u32, remote: u64, runs: &[(usize, usize)]) -> std::io::Result<usize> {
    // SAFETY: as for `read_peer`; and `remote` is where the peer's receive wants this message.
    unsafe { posthaste_os::peer_copy::write(pid, remote, runs) }
}

/// Reads from a peer's memory into a run of user memory (address, length).
///
/// # Errors
/// When the network does not take it, now or ever.
pub(crate) fn read_remote(
    endpoint: &mut Endpoint,
    run: (usize, usize),
    local: Option<&Registration>,
    from: Remote,
    place: Place,
    token: u64,
) -> Result<(), NotStarted<()>> {
    // SAFETY: the run is one of a segment, which lists ranges of a `UserBuf` only: writable until the request is over,
    // which the method reports after the end of the read. Its lease keeps the registration as long.
    unsafe { endpoint.read(run, local, from, place, token) }
}

/// Writes a run of user memory (address, length) into a peer's memory.
///
/// # Errors
/// When the network does not take it, now or ever.
pub(crate) fn write_remote(
    endpoint: &mut Endpoint,
    run: (usize, usize),
    local: Option<&Registration>,
    to: Remote,
    place: Place,
    token: u64,
) -> Result<(), NotStarted<()>> {
    // SAFETY: as for `read_remote`, and readable.
    unsafe { endpoint.write(run, local, to, place, token) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owned_buffer_is_zeroed_and_copied_in_and_out() {
        let mut owned = OwnedBuf::new(100);
        assert_eq!(owned.source().to_vec(), vec![0; 100]);
        owned.user_buf().copy_in(10, Source::from(&[1u8, 2, 3][..]));
        let mut out = [0u8; 4];
        owned.user_buf().copy_out(9, Sink::from(&mut out[..]));
        assert_eq!(out, [0, 1, 2, 3]);
        owned.sink().copy_from(&[7]);
        assert_eq!(owned.source().to_vec()[0], 7);
        assert_eq!(owned.user_buf().address() % 64, 0);
        assert!(OwnedBuf::new(0).is_empty());
    }

    #[test]
    fn absolute_addresses_start_at_null() {
        let value = [5u8; 3];
        let address = value.as_ptr().expose_provenance();
        let mut out = [0u8; 3];
        UserBuf::none().copy_out(address as isize, Sink::from(&mut out[..]));
        assert_eq!(out, value);
    }
}
