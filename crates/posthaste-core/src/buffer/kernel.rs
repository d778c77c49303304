//! The loops that move runs of bytes between user memory and the packed stream.
//!
//! `datatype::segment` shows its runs to a [`Visitor`]. Part of the room `buffer`, whose promise ([`Base::new`](super::Base::new))
//! every block here rests on.
//!
//! What must stay true: a [`Mover`] never leaves its packed range; the length of a run is looked at once per
//! loop and never once per run, which is what keeps these loops as fast as hand-written ones; runs of up to 128
//! bytes are moved without a call, by words that may overlap each other but never reach beyond the run.

use super::UserBuf;
use super::vector::{Permutation, move_runs};
use posthaste_os::mem::{self, Sink, Source};
use std::marker::PhantomData;

/// One run of an irregular list: where it lies relative to the list, how long it is, and how many packed bytes
/// come before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset in user memory, in bytes.
    pub offset: i64,
    /// Length in bytes.
    pub len: u64,
    /// Packed bytes before this run.
    pub start: u64,
}

/// A loop: how often, and how far apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    pub(crate) count: u64,
    pub(crate) stride: i64,
}

impl Turns {
    pub(crate) const ONCE: Self = Self { count: 1, stride: 0 };
}

/// What can be done with the runs of a segment. Each call returns whether to go on.
pub(crate) trait Visitor {
    /// One run.
    fn run(&mut self, at: UserBuf, len: u64) -> bool;
    /// Runs of one length in two nested loops.
    fn strided(&mut self, at: UserBuf, len: u64, inner: Turns, outer: Turns) -> bool;
    /// Runs of one length at a list of offsets, repeated.
    fn blocks(&mut self, at: UserBuf, len: u64, offsets: &[i64], turns: Turns) -> bool;
    /// A list of runs, repeated.
    fn pattern(&mut self, at: UserBuf, spans: &[Span], turns: Turns) -> bool;
}

/// The direction of a move between user memory and the packed stream.
pub(crate) trait Direction {
    /// From user memory to the packed stream.
    const PACKS: bool;
    /// Moves one word.
    ///
    /// # Safety
    /// Both sides are valid for a word, the destination for writing.
    unsafe fn word<W: Copy>(user: *mut u8, packed: *mut u8);
    /// Moves four words that are neighbours in the packed stream and lie at `offsets` in user memory.
    ///
    /// # Safety
    /// As for `word`, for each of the four.
    unsafe fn four<W: Copy>(user: *mut u8, offsets: [isize; 4], packed: *mut u8);
    /// Moves `len` bytes.
    ///
    /// # Safety
    /// Both sides are valid for `len` bytes, the destination for writing.
    unsafe fn bytes(user: *mut u8, packed: *mut u8, len: usize);
}

/// From user memory to the packed stream.
pub(crate) enum Pack {}
/// From the packed stream to user memory.
pub(crate) enum Unpack {}

impl Direction for Pack {
    const PACKS: bool = true;
    #[inline(always)]
    unsafe fn word<W: Copy>(user: *mut u8, packed: *mut u8) {
        // SAFETY: handed on to the caller.
        unsafe { packed.cast::<W>().write_unaligned(user.cast::<W>().read_unaligned()) };
    }
    #[inline(always)]
    unsafe fn four<W: Copy>(user: *mut u8, offsets: [isize; 4], packed: *mut u8) {
        let at = |i: usize| user.wrapping_offset(offsets[i]).cast::<W>();
        // SAFETY: handed on to the caller. All loads stand before the store, so that they become one vector.
        unsafe {
            let words = [
                at(0).read_unaligned(),
                at(1).read_unaligned(),
                at(2).read_unaligned(),
                at(3).read_unaligned(),
            ];
            packed.cast::<[W; 4]>().write_unaligned(words);
        }
    }
    #[inline(always)]
    unsafe fn bytes(user: *mut u8, packed: *mut u8, len: usize) {
        // SAFETY: handed on to the caller.
        unsafe { mem::move_bytes(user, packed, len) };
    }
}

impl Direction for Unpack {
    const PACKS: bool = false;
    #[inline(always)]
    unsafe fn word<W: Copy>(user: *mut u8, packed: *mut u8) {
        // SAFETY: handed on to the caller.
        unsafe { user.cast::<W>().write_unaligned(packed.cast::<W>().read_unaligned()) };
    }
    #[inline(always)]
    unsafe fn four<W: Copy>(user: *mut u8, offsets: [isize; 4], packed: *mut u8) {
        let at = |i: usize| user.wrapping_offset(offsets[i]).cast::<W>();
        // SAFETY: handed on to the caller.
        unsafe {
            let [a, b, c, d] = packed.cast::<[W; 4]>().read_unaligned();
            at(0).write_unaligned(a);
            at(1).write_unaligned(b);
            at(2).write_unaligned(c);
            at(3).write_unaligned(d);
        }
    }
    #[inline(always)]
    unsafe fn bytes(user: *mut u8, packed: *mut u8, len: usize) {
        // SAFETY: handed on to the caller.
        unsafe { mem::move_bytes(packed, user, len) };
    }
}

/// Moves runs between user memory and a packed range, which it walks from front to back and never leaves.
pub(crate) struct Mover<'a, D> {
    packed: *mut u8,
    left: usize,
    memory: PhantomData<(&'a mut [u8], D)>,
}

impl<'a> Mover<'a, Pack> {
    pub(crate) fn packing(mut to: Sink<'a>) -> Self {
        Self { packed: to.as_mut_ptr(), left: to.len(), memory: PhantomData }
    }
}

impl<'a> Mover<'a, Unpack> {
    pub(crate) fn unpacking(from: Source<'a>) -> Self {
        // Never written: `Unpack` only reads its packed side.
        Self { packed: from.as_ptr().cast_mut(), left: from.len(), memory: PhantomData }
    }
}

impl<D: Direction> Mover<'_, D> {
    /// Takes the next `times * len` bytes of the packed range, or nothing when there are fewer: then the
    /// caller's arithmetic is wrong and nothing is touched.
    #[inline]
    fn take(&mut self, len: u64, times: u64) -> Option<*mut u8> {
        let all = usize::try_from(len.checked_mul(times)?).ok()?;
        debug_assert!(all <= self.left, "walked past the packed range");
        self.left = self.left.checked_sub(all)?;
        let at = self.packed;
        self.packed = at.wrapping_add(all);
        Some(at)
    }
}

impl<D: Direction> Visitor for Mover<'_, D> {
    #[inline]
    fn run(&mut self, at: UserBuf, len: u64) -> bool {
        let Some(packed) = self.take(len, 1) else { return false };
        // SAFETY: the user's side by the promise of `Base::new`, the packed side by `take`.
        unsafe { move_run::<D>(at.0, packed, len as usize) };
        true
    }

    fn strided(&mut self, at: UserBuf, len: u64, inner: Turns, outer: Turns) -> bool {
        let (inner, outer) = joined(inner, outer);
        let Some(turns) = inner.count.checked_mul(outer.count) else { return false };
        let Some(packed) = self.take(len, turns) else { return false };
        let (row, len) = ((len * inner.count) as usize, len as usize);
        let permutation = Permutation::<D>::new(std::iter::once((0, len as u64)), inner);
        let one_row = |user, packed| {
            // SAFETY: the user's side by the promise of `Base::new`, the packed side by `take`.
            unsafe {
                match &permutation {
                    Some(permutation) => permutation.run(user, packed),
                    None => {
                        let Turns { count, stride } = inner;
                        move_rows::<D>(Rows { user, stride, packed, step: len, len, count });
                    }
                }
            }
        };
        // An inner loop of a few turns is rather a list of runs.
        let few = if inner.count <= FEW_TURNS { inner.count as i64 } else { 0 };
        let runs = (0..few).map(|turn| (turn.wrapping_mul(inner.stride), len as u64));
        // SAFETY: as above.
        unsafe { each_turn::<D>(at.0, packed, (row, runs), outer, one_row) };
        true
    }

    fn blocks(&mut self, at: UserBuf, len: u64, offsets: &[i64], turns: Turns) -> bool {
        let turn = len * offsets.len() as u64;
        let Some(packed) = self.take(turn, turns.count) else { return false };
        let runs = offsets.iter().map(|offset| (*offset, len));
        // SAFETY: as in `strided`.
        unsafe {
            each_turn::<D>(at.0, packed, (turn as usize, runs), turns, |user, packed| {
                move_list::<D>(user, packed, len as usize, offsets);
            });
        }
        true
    }

    fn pattern(&mut self, at: UserBuf, spans: &[Span], turns: Turns) -> bool {
        let turn = spans.iter().map(|span| span.len).sum();
        let Some(packed) = self.take(turn, turns.count) else { return false };
        let runs = spans.iter().map(|span| (span.offset, span.len));
        // SAFETY: as in `strided`.
        unsafe {
            each_turn::<D>(at.0, packed, (turn as usize, runs), turns, |user, mut packed| {
                for span in spans {
                    let len = span.len as usize;
                    move_run::<D>(user.wrapping_offset(span.offset as isize), packed, len);
                    packed = packed.wrapping_add(len);
                }
            });
        }
        true
    }
}

/// Two nested loops as one, where the rows continue each other.
fn joined(inner: Turns, outer: Turns) -> (Turns, Turns) {
    let adjoin = outer.count > 1 && inner.stride.checked_mul(inner.count as i64) == Some(outer.stride);
    match inner.count.checked_mul(outer.count) {
        Some(count) if adjoin => (Turns { count, ..inner }, Turns::ONCE),
        _ => (inner, outer),
    }
}

/// Moves the turns of a loop over `runs` (offset, length), which are `turn` packed bytes together, by the fastest
/// way that they allow, or else by calling `one` for each turn; without `runs` always so.
///
/// # Safety
/// Every run of every turn is valid on both sides, the destination for writing.
unsafe fn each_turn<D: Direction>(
    mut user: *mut u8,
    mut packed: *mut u8,
    (turn, runs): (usize, impl Iterator<Item = (i64, u64)> + Clone),
    turns: Turns,
    mut one: impl FnMut(*mut u8, *mut u8),
) {
    if let Some(permutation) = Permutation::<D>::new(runs.clone(), turns) {
        // SAFETY: handed on to the caller.
        return unsafe { permutation.run(user, packed) };
    }
    let Some(block) = turns_per_block(turn, runs.clone(), turns) else {
        for _ in 0..turns.count {
            one(user, packed);
            packed = packed.wrapping_add(turn);
            user = user.wrapping_offset(turns.stride as isize);
        }
        return;
    };
    let mut left = turns.count;
    while left > 0 {
        let count = left.min(block);
        let mut start = 0;
        for (offset, len) in runs.clone() {
            let (user, packed) = (user.wrapping_offset(offset as isize), packed.wrapping_add(start));
            let len = len as usize;
            // SAFETY: one run of each turn; handed on to the caller.
            unsafe { move_rows::<D>(Rows { user, stride: turns.stride, packed, step: turn, len, count }) };
            start += len;
        }
        packed = packed.wrapping_add(turn * count as usize);
        user = user.wrapping_offset((turns.stride as isize).wrapping_mul(count as isize));
        left -= count;
    }
}

/// A list of runs repeated often enough is moved run by run through a block of turns that stays in the cache,
/// so that the length of a run is looked at once per block. `None` when turn by turn is better.
fn turns_per_block(turn: usize, runs: impl Iterator, turns: Turns) -> Option<u64> {
    const BLOCK: usize = 4096;
    const MOST_RUNS: usize = 64;
    let block = (BLOCK / turn.max(1)) as u64;
    (block >= 8 && turns.count >= 8 && (1..=MOST_RUNS).contains(&runs.take(MOST_RUNS + 1).count()))
        .then_some(block)
}

/// Turns of an inner loop that are better unrolled: measured with pairs of doubles, columns are five times as fast.
const FEW_TURNS: u64 = 4;

/// 16 bytes in one vector register.
#[cfg(target_arch = "x86_64")]
type Wide = std::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Wide = [u64; 2];

/// Moves one run, short ones without a call. Where `len` is known the match disappears.
///
/// # Safety
/// Both sides are valid for `len` bytes, the destination for writing.
#[inline(always)]
unsafe fn move_run<D: Direction>(user: *mut u8, packed: *mut u8, len: usize) {
    /// Covers `len` bytes, one to two words, by a word at each end.
    #[inline(always)]
    unsafe fn ends<W: Copy, D: Direction>(user: *mut u8, packed: *mut u8, len: usize) {
        let last = len - size_of::<W>();
        // SAFETY: both words lie within `len` bytes, for which the caller vouches.
        unsafe {
            D::word::<W>(user, packed);
            D::word::<W>(user.wrapping_add(last), packed.wrapping_add(last));
        }
    }
    // SAFETY: every word lies within `len` bytes, for which the caller vouches.
    unsafe {
        match len {
            8 => D::word::<u64>(user, packed),
            4 => D::word::<u32>(user, packed),
            16 => D::word::<Wide>(user, packed),
            32 => D::word::<[Wide; 2]>(user, packed),
            64 => D::word::<[Wide; 4]>(user, packed),
            24 => {
                D::word::<Wide>(user, packed);
                D::word::<u64>(user.wrapping_add(16), packed.wrapping_add(16));
            }
            0 => {}
            1 => D::word::<u8>(user, packed),
            2 => D::word::<u16>(user, packed),
            3 => ends::<u16, D>(user, packed, len),
            5..=7 => ends::<u32, D>(user, packed, len),
            9..=15 => ends::<u64, D>(user, packed, len),
            17..=32 => ends::<Wide, D>(user, packed, len),
            33..=48 => {
                D::word::<Wide>(user, packed);
                ends::<Wide, D>(user.wrapping_add(16), packed.wrapping_add(16), len - 16);
            }
            49..=64 => ends::<[Wide; 2], D>(user, packed, len),
            65..=128 => ends::<[Wide; 4], D>(user, packed, len),
            _ => D::bytes(user, packed, len),
        }
    }
}

/// Runs of one length, evenly spaced on both sides.
#[derive(Clone, Copy)]
struct Rows {
    user: *mut u8,
    stride: i64,
    packed: *mut u8,
    /// Distance of two runs in the packed stream.
    step: usize,
    len: usize,
    count: u64,
}

/// Moves evenly spaced runs, by a loop made for their length.
///
/// # Safety
/// Every run is valid on both sides, the destination for writing.
#[inline]
unsafe fn move_rows<D: Direction>(rows: Rows) {
    let Rows { mut user, mut packed, .. } = rows;
    // The iterators own their state: borrowed, it would be written to memory for each run.
    let each = (0..rows.count).map(move |_| {
        let run = (user, packed);
        user = user.wrapping_offset(rows.stride as isize);
        packed = packed.wrapping_add(rows.step);
        run
    });
    // SAFETY: handed on to the caller.
    unsafe {
        if move_runs::<D>(rows.len, each) {
            return;
        }
        match rows.len {
            0 => {}
            8 if rows.step == 8 => move_words::<u64, D>(rows),
            4 if rows.step == 4 => move_words::<u32, D>(rows),
            1 => move_between::<1, 1, D>(rows),
            2 => move_between::<2, 2, D>(rows),
            3 => move_between::<3, 3, D>(rows),
            4 => move_between::<4, 4, D>(rows),
            5..=7 => move_between::<5, 7, D>(rows),
            8 => move_between::<8, 8, D>(rows),
            9..=15 => move_between::<9, 15, D>(rows),
            16 => move_between::<16, 16, D>(rows),
            24 => move_between::<24, 24, D>(rows),
            32 => move_between::<32, 32, D>(rows),
            64 => move_between::<64, 64, D>(rows),
            17..=32 => move_between::<17, 32, D>(rows),
            33..=48 => move_between::<33, 48, D>(rows),
            49..=64 => move_between::<49, 64, D>(rows),
            65..=128 => move_between::<65, 128, D>(rows),
            _ => move_between::<129, { usize::MAX }, D>(rows),
        }
    }
}

/// Moves evenly spaced runs of a length between two bounds, which choose the code for one run.
///
/// # Safety
/// As for `move_rows`.
unsafe fn move_between<const LOW: usize, const HIGH: usize, D: Direction>(rows: Rows) {
    let len = rows.len.clamp(LOW, HIGH);
    let (ahead, next) = four_turns(rows.stride as isize);
    let (step, packed_next) = four_turns(rows.step as isize);
    let (mut user, mut packed) = (rows.user, rows.packed);
    for _ in 0..rows.count / 4 {
        for i in 0..4 {
            // SAFETY: four of the runs, for which the caller vouches.
            unsafe { move_run::<D>(user.wrapping_offset(ahead[i]), packed.wrapping_offset(step[i]), len) };
        }
        user = user.wrapping_offset(next);
        packed = packed.wrapping_offset(packed_next);
    }
    for i in 0..(rows.count % 4) as usize {
        // SAFETY: one of the runs, for which the caller vouches.
        unsafe { move_run::<D>(user.wrapping_offset(ahead[i]), packed.wrapping_offset(step[i]), len) };
    }
}

/// Moves evenly spaced words that are neighbours in the packed stream.
///
/// # Safety
/// As for `move_rows`; a word is one run.
unsafe fn move_words<W: Copy, D: Direction>(rows: Rows) {
    let (ahead, next) = four_turns(rows.stride as isize);
    let word = size_of::<W>();
    let (mut user, mut packed) = (rows.user, rows.packed);
    if D::PACKS && rows.stride.unsigned_abs() >= FAR {
        for _ in 0..rows.count {
            // SAFETY: one of the words, for which the caller vouches.
            unsafe { D::word::<W>(user, packed) };
            user = user.wrapping_offset(rows.stride as isize);
            packed = packed.wrapping_add(word);
            std::hint::black_box(()); // keeps the compiler from unrolling
        }
        return;
    }
    for _ in 0..rows.count / 4 {
        // SAFETY: four of the words, for which the caller vouches.
        unsafe { D::four::<W>(user, ahead, packed) };
        user = user.wrapping_offset(next);
        packed = packed.wrapping_add(4 * word);
    }
    for ahead in &ahead[..(rows.count % 4) as usize] {
        // SAFETY: one of the words, for which the caller vouches.
        unsafe { D::word::<W>(user.wrapping_offset(*ahead), packed) };
        packed = packed.wrapping_add(word);
    }
}

/// Strides from which on words are packed by one load instruction: the CPU foresees where it goes next, but not where four
/// of them go that take turns, each stepping over pages. Stores gain nothing by it.
const FAR: u64 = 512;

/// Offsets of four turns, and where the next four begin. The compiler is kept from deriving each from the one
/// before: a chain of additions would hold a short run back to one per cycle.
#[inline(always)]
fn four_turns(stride: isize) -> ([isize; 4], isize) {
    let third = std::hint::black_box(stride.wrapping_mul(3));
    ([0, stride, stride.wrapping_mul(2), third], stride.wrapping_mul(4))
}

/// Moves runs of one length at a list of offsets.
///
/// # Safety
/// Every run is valid on both sides, the destination for writing.
unsafe fn move_list<D: Direction>(user: *mut u8, packed: *mut u8, len: usize, offsets: &[i64]) {
    #[inline(always)]
    unsafe fn words<D: Direction>(user: *mut u8, packed: *mut u8, len: usize, offsets: &[i64]) {
        let mut packed = packed;
        for offset in offsets {
            // SAFETY: one run of the list; the caller vouches for it.
            unsafe { move_run::<D>(user.wrapping_offset(*offset as isize), packed, len) };
            packed = packed.wrapping_add(len);
        }
    }
    let mut next = packed;
    let each = offsets.iter().map(move |offset| {
        let run = (user.wrapping_offset(*offset as isize), next);
        next = next.wrapping_add(len);
        run
    });
    // SAFETY: handed on to the caller.
    unsafe {
        if move_runs::<D>(len, each) {
            return;
        }
        match len {
            4 => words::<D>(user, packed, 4, offsets),
            8 => words::<D>(user, packed, 8, offsets),
            16 => words::<D>(user, packed, 16, offsets),
            32 => words::<D>(user, packed, 32, offsets),
            _ => words::<D>(user, packed, len, offsets),
        }
    }
}
