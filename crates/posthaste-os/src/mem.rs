//! Views of memory that may be shared with another process.
//!
//! A peer may write shared memory at any time, so payload is never seen as `&[u8]`: it is copied through [`Source`] and
//! [`Sink`], which know their bounds. A private slice converts into either for free.

use std::marker::PhantomData;

/// Bytes to copy from: a private slice or a piece of shared memory. Length is checked on every copy.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    ptr: *const u8,
    len: usize,
    memory: PhantomData<&'a [u8]>,
}

/// Bytes to copy to: a private slice or a piece of shared memory. Length is checked on every copy.
#[derive(Debug)]
pub struct Sink<'a> {
    ptr: *mut u8,
    len: usize,
    memory: PhantomData<&'a mut [u8]>,
}

/// From 2 or 4 KiB on C libraries copy by the processor's string instruction, which takes up to eight times as long as loads and stores
/// where another core has just written what is read.
const LONG: usize = 2 << 10;
/// From so many bytes on what is written is not read again soon: the C library's way goes past the caches.
const VAST: usize = 32 << 20;

/// Moves `n` bytes; the ranges may overlap. Short lengths, of which most messages are, take two loads and two
/// stores instead of a call, long ones loads and stores of vectors.
///
/// # Safety
/// `from` is readable and `to` writable for `n` bytes.
#[inline(always)]
pub unsafe fn move_bytes(from: *const u8, to: *mut u8, n: usize) {
    /// Both ends of the range as words that may overlap in the middle; all loads come before the stores.
    #[inline(always)]
    unsafe fn ends<W>(from: *const u8, to: *mut u8, n: usize) {
        let last = n - size_of::<W>();
        // SAFETY: `n` is at least the size of a word (every caller below), so both words lie in the ranges.
        unsafe {
            let (a, b) = (from.cast::<W>().read_unaligned(), from.add(last).cast::<W>().read_unaligned());
            to.cast::<W>().write_unaligned(a);
            to.add(last).cast::<W>().write_unaligned(b);
        }
    }
    // SAFETY: the caller vouches for `n` bytes on both sides.
    unsafe {
        match n {
            8..=15 => ends::<u64>(from, to, n),
            16..=32 => ends::<u128>(from, to, n),
            4..=7 => ends::<u32>(from, to, n),
            2..=3 => ends::<u16>(from, to, n),
            1 => to.write(from.read()),
            0 => {}
            // Lines are moved upwards.
            LONG..VAST if to.addr().wrapping_sub(from.addr()) >= n => move_lines(from, to, n),
            _ => std::ptr::copy(from, to, n),
        }
    }
}

/// Copies `n` bytes from one place of a program to another; the ranges may overlap. Long ones go past the caches: from so many bytes
/// on, what has been written is not read again before it is evicted, and a line need not be read to be written.
///
/// # Safety
/// As for [`move_bytes`].
#[inline]
pub unsafe fn copy_bytes(from: *const u8, to: *mut u8, n: usize) {
    const ASIDE: usize = 1 << 20;
    let is_apart = || to.addr().abs_diff(from.addr()) >= n;
    // SAFETY: as the caller says.
    unsafe {
        match n >= ASIDE && is_apart() {
            true => stream_bytes(from, to, n),
            false => move_bytes(from, to, n),
        }
    }
}

/// Moves `n` bytes upwards by loads and stores of vectors; as the C library does where the processor has no AVX.
///
/// # Safety
/// `from` is readable and `to` writable for `n` bytes, and `to` does not lie in the range behind `from`.
#[inline(never)]
unsafe fn move_lines(from: *const u8, to: *mut u8, n: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_storeu_si256};
        /// # Safety
        /// As for `move_lines`, on a processor with AVX.
        #[target_feature(enable = "avx")]
        unsafe fn by_vectors(from: *const u8, to: *mut u8, n: usize) {
            // SAFETY: `each_line` names 64 bytes that may be read, and 64 that may be written.
            let line = |from: *const u8, to: *mut u8| unsafe {
                let (from, to) = (from.cast::<__m256i>(), to.cast::<__m256i>());
                let words = [0, 1].map(|word| _mm256_loadu_si256(from.add(word)));
                (0..2).for_each(|word| _mm256_storeu_si256(to.add(word), words[word]));
            };
            // SAFETY: as the caller says.
            unsafe { each_line(from, to, n, line) }
        }
        if std::arch::is_x86_feature_detected!("avx") {
            // SAFETY: as the caller says, and the processor has AVX.
            return unsafe { by_vectors(from, to, n) };
        }
    }
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy(from, to, n) }
}

/// Moves `n` bytes upwards, whole lines of the destination by `line`.
///
/// # Safety
/// `from` is readable and `to` writable for `n` bytes, and `to` does not lie in the range behind `from`. `line` reads all of the 64 bytes
/// at its first argument before it writes those at the second one, which is a multiple of 64.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn each_line(from: *const u8, to: *mut u8, n: usize, line: impl Fn(*const u8, *mut u8)) {
    const LINE: usize = 64;
    let head = to.align_offset(LINE).min(n);
    let done = head + (n - head) / LINE * LINE;
    // SAFETY: head, whole lines and tail lie in the ranges, one behind the other, and `to + head` is aligned.
    unsafe {
        std::ptr::copy(from, to, head);
        let mut at = head;
        while at < done {
            line(from.add(at), to.add(at));
            at += LINE;
        }
        std::ptr::copy(from.add(done), to.add(done), n - done);
    }
}

/// How bytes are copied into and out of memory that another core reads or has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// By loads and stores of vectors.
    Plain,
    /// Into it past the caches (non-temporal stores), out of it as plain ones.
    Streaming,
    /// By the processor's string instruction (`rep movsb`), which may fetch and own lines in another way than loads and
    /// stores do.
    String,
}

impl Store {
    /// All of them, by the names that settings and files use.
    pub const NAMES: [(&str, Self); 3] =
        [("plain", Self::Plain), ("streaming", Self::Streaming), ("string", Self::String)];
}

impl std::fmt::Display for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(Self::NAMES.iter().find(|(_, store)| store == self).map_or("", |(name, _)| name))
    }
}

/// Moves `n` bytes into memory that another core will read.
///
/// # Safety
/// `from` is readable and `to` writable for `n` bytes, and the ranges do not overlap.
#[inline]
pub unsafe fn send_bytes(from: *const u8, to: *mut u8, n: usize, store: Store) {
    // SAFETY: as the caller says.
    unsafe {
        match store {
            Store::Plain => move_bytes(from, to, n),
            Store::Streaming => stream_bytes(from, to, n),
            Store::String => string_bytes(from, to, n),
        }
    }
}

/// Moves `n` bytes out of memory that another core has written.
///
/// # Safety
/// As for [`send_bytes`].
#[inline]
pub unsafe fn receive_bytes(from: *const u8, to: *mut u8, n: usize, store: Store) {
    // SAFETY: as the caller says.
    unsafe {
        match store {
            Store::Plain | Store::Streaming => move_bytes(from, to, n),
            Store::String => string_bytes(from, to, n),
        }
    }
}

/// Moves `n` bytes by the processor's string instruction, where it has one and they are enough to be worth its start.
///
/// # Safety
/// As for [`send_bytes`].
unsafe fn string_bytes(from: *const u8, to: *mut u8, n: usize) {
    #[cfg(target_arch = "x86_64")]
    if n >= 1024 {
        // SAFETY: the instruction reads and writes just these `n` bytes, upwards: the direction flag is clear by the
        // calling convention.
        unsafe {
            std::arch::asm!(
                "rep movsb",
                inout("rcx") n => _,
                inout("rsi") from => _,
                inout("rdi") to => _,
                options(nostack, preserves_flags)
            );
        }
        return;
    }
    // SAFETY: as the caller says.
    unsafe { move_bytes(from, to, n) }
}

/// Moves `n` bytes with stores that go past the caches of this core to whoever reads them next; other processes see them
/// before whatever is stored afterwards. Where the processor has no such stores, as [`move_bytes`].
///
/// # Safety
/// `from` is readable and `to` writable for `n` bytes, and the ranges do not overlap.
unsafe fn stream_bytes(from: *const u8, to: *mut u8, n: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        // SAFETY: `each_line` names 64 bytes that may be read, and 64 aligned ones that may be written.
        let line = |from: *const u8, to: *mut u8| unsafe {
            let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
            let words = [0, 1, 2, 3].map(|word| _mm_loadu_si128(from.add(word)));
            (0..4).for_each(|word| _mm_stream_si128(to.add(word), words[word]));
        };
        // SAFETY: as the caller says.
        unsafe {
            each_line(from, to, n, line);
            // Such stores are ordered by nothing else, not even by a release.
            _mm_sfence();
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: as the caller says.
    unsafe {
        move_bytes(from, to, n)
    }
}

impl<'a> From<&'a [u8]> for Source<'a> {
    #[inline]
    fn from(bytes: &'a [u8]) -> Self {
        Self { ptr: bytes.as_ptr(), len: bytes.len(), memory: PhantomData }
    }
}

impl<'a> From<&'a mut [u8]> for Sink<'a> {
    #[inline]
    fn from(bytes: &'a mut [u8]) -> Self {
        Self { ptr: bytes.as_mut_ptr(), len: bytes.len(), memory: PhantomData }
    }
}

impl<'a> Source<'a> {
    /// A source over raw memory.
    ///
    /// # Safety
    /// `ptr..ptr + len` stays mapped and readable for `'a`. Another process may write it meanwhile.
    #[inline]
    pub unsafe fn from_raw(ptr: *const u8, len: usize) -> Self {
        Self { ptr, len, memory: PhantomData }
    }
    /// Number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Address of the first byte, for `unsafe` copies in `posthaste-core::buffer`.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        self.ptr
    }
    /// The first `at` bytes and the rest; `at` beyond the end is cut to the end.
    #[inline]
    pub fn split_at(self, at: usize) -> (Self, Self) {
        let at = at.min(self.len);
        // `at <= len`: both halves lie inside the original range.
        let rest = Self { ptr: self.ptr.wrapping_add(at), len: self.len - at, memory: PhantomData };
        (Self { len: at, ..self }, rest)
    }
    /// Copies as many bytes as both sides hold, returns how many.
    #[inline]
    pub fn copy_to(&self, to: &mut [u8]) -> usize {
        let n = self.len.min(to.len());
        // SAFETY: `n` is within both ranges; `from_raw`/`From` established that they are mapped, and a
        // private `&mut [u8]` cannot overlap memory that others see.
        unsafe { std::ptr::copy_nonoverlapping(self.ptr, to.as_mut_ptr(), n) };
        n
    }
    /// As [`Source::copy_to`], in this way.
    pub fn receive_to(&self, to: &mut [u8], store: Store) -> usize {
        let n = self.len.min(to.len());
        // SAFETY: `n` is within both ranges, see `copy_to`.
        unsafe { receive_bytes(self.ptr, to.as_mut_ptr(), n, store) };
        n
    }
    /// A private copy of all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len);
        // SAFETY: `len` bytes are mapped (`from_raw`/`From`), the new vector has room for them, and they
        // are initialised by the copy before `set_len`.
        unsafe {
            std::ptr::copy_nonoverlapping(self.ptr, bytes.as_mut_ptr(), self.len);
            bytes.set_len(self.len);
        }
        bytes
    }
}

impl<'a> Sink<'a> {
    /// A sink over raw memory.
    ///
    /// # Safety
    /// `ptr..ptr + len` stays mapped and writable for `'a`, and nobody in this process holds a reference
    /// into it.
    #[inline]
    pub unsafe fn from_raw(ptr: *mut u8, len: usize) -> Self {
        Self { ptr, len, memory: PhantomData }
    }
    /// Number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Address of the first byte, for `unsafe` copies in `posthaste-core::buffer`.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr
    }
    /// The first `at` bytes and the rest; `at` beyond the end is cut to the end.
    #[inline]
    pub fn split_at(self, at: usize) -> (Self, Self) {
        let at = at.min(self.len);
        let rest = Self { ptr: self.ptr.wrapping_add(at), len: self.len - at, memory: PhantomData };
        (Self { len: at, ..self }, rest)
    }
    /// Borrows the same bytes for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> Sink<'_> {
        Sink { ptr: self.ptr, len: self.len, memory: PhantomData }
    }
    /// As [`Sink::copy_from`], in this way.
    pub fn send_from(&mut self, from: &[u8], store: Store) -> usize {
        let n = self.len.min(from.len());
        // SAFETY: `n` is within both ranges, see `copy_from`.
        unsafe { send_bytes(from.as_ptr(), self.ptr, n, store) };
        n
    }
    /// Copies as many bytes as both sides hold, returns how many.
    #[inline]
    pub fn copy_from(&mut self, from: &[u8]) -> usize {
        let n = self.len.min(from.len());
        // SAFETY: as in `Source::copy_to`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.ptr, n) };
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_moved_whole_and_no_further() {
        for n in 0..100usize {
            let from: Vec<u8> = (1..=100).collect();
            let mut to = vec![0u8; 101];
            // SAFETY: both vectors hold at least `n` bytes.
            unsafe { move_bytes(from.as_ptr(), to.as_mut_ptr(), n) };
            assert_eq!(to[..n], from[..n]);
            assert!(to[n..].iter().all(|byte| *byte == 0));
        }
    }

    /// Moves `n` bytes from `a` to `b` within a vector, as `move_them` does and as the standard library does.
    fn moves(move_them: unsafe fn(*const u8, *mut u8, usize), n: usize, a: usize, b: usize) {
        let mut bytes: Vec<u8> = (0..2 * n + 100).map(|at| (at % 251) as u8).collect();
        let mut expected = bytes.clone();
        expected.copy_within(a..a + n, b);
        let base = bytes.as_mut_ptr();
        // SAFETY: both ranges lie in the vector.
        unsafe { move_them(base.add(a), base.add(b), n) };
        assert!(bytes == expected, "{n} bytes from {a} to {b}");
    }

    #[test]
    fn long_ranges_that_overlap_are_moved_as_if_they_did_not() {
        for n in [LONG, LONG + 1, LONG + 63, 3 * LONG + 17] {
            for (a, b) in [(0, 1), (1, 0), (100, 3), (3, 100), (64, 0), (0, 64), (5, n), (n + 9, 4), (70, 70)]
            {
                moves(move_bytes, n, a, b);
            }
        }
    }

    #[test]
    fn vast_ranges_are_copied_whole() {
        let n = (1 << 20) + 77;
        for (a, b) in [(3, n + 5), (n + 3, 1), (0, 9), (9, 0)] {
            moves(copy_bytes, n, a, b);
        }
    }

    #[test]
    fn every_kind_of_copy_moves_every_length_from_and_to_everywhere() {
        let from: Vec<u8> = (0..4000u32).map(|at| (at % 251) as u8).collect();
        for (name, store) in Store::NAMES {
            for n in [0, 1, 15, 63, 64, 65, 128, 200, 500, 1023, 1024, 1025, 3001] {
                for (a, b) in [(0, 0), (1, 0), (0, 1), (13, 50), (50, 13)] {
                    let right = |to: &[u8]| {
                        assert_eq!(to[b..b + n], from[a..a + n]);
                        let rest = to[..b].iter().chain(&to[b + n..]);
                        assert!(rest.into_iter().all(|byte| *byte == 255), "{name}: {n} from {a} to {b}");
                    };
                    let mut to = vec![255u8; 4000];
                    assert_eq!(Sink::from(&mut to[b..b + n]).send_from(&from[a..], store), n);
                    right(&to);
                    to.fill(255);
                    assert_eq!(Source::from(&from[a..]).receive_to(&mut to[b..b + n], store), n);
                    right(&to);
                }
            }
            assert_eq!(store.to_string(), name);
        }
    }

    #[test]
    fn copies_are_cut_to_the_shorter_side() {
        let mut to = [0u8; 3];
        assert_eq!(Source::from(&[1u8, 2, 3, 4][..]).copy_to(&mut to), 3);
        assert_eq!(to, [1, 2, 3]);
        assert_eq!(Sink::from(&mut to[..]).copy_from(&[9]), 1);
        assert_eq!(to, [9, 2, 3]);
        let (a, b) = Source::from(&to[..]).split_at(7);
        assert_eq!((a.len(), b.len()), (3, 0));
    }
}
