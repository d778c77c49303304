//! Vectors of 64 bytes, where the CPU has them with masks and a byte permutation (AVX-512 with VBMI; such CPUs do not
//! slow down for them any more).
//!
//! - [`move_runs`]: runs of one to four vectors, whatever their exact length;
//! - [`Permutation`]: short runs at short distances, many at a time: 64 bytes are loaded, put in the other order, and
//!   stored.
//!
//! Part of the room `buffer`, whose promise (`Base::new`) every block here rests on.
//!
//! What must stay true: loads and stores are masked, so that exactly the bytes of the runs are touched on either
//! side; a gap between them is neither read nor written, and may even be no memory at all.

use super::kernel::{Direction, Turns};
use std::marker::PhantomData;
use std::ops::RangeInclusive;

/// Bytes in a vector.
const WIDTH: u64 = 64;

/// Lengths of runs for which [`move_runs`] is the best. Measured on Zen 5 in the first-level cache: twice to three times
/// as fast as words of 16 bytes and as calls of memcpy; at 32 bytes and in the memory it makes no difference.
const RUN: RangeInclusive<usize> = 33..=256;

/// Moves runs of `len` bytes, each given by its addresses in user memory and in the packed stream, and returns true;
/// or does nothing and returns false, where other ways do as well or the CPU lacks the instructions.
///
/// # Safety
/// Every run is valid on both sides, the destination for writing.
#[inline]
pub(super) unsafe fn move_runs<D: Direction>(
    len: usize,
    runs: impl Iterator<Item = (*mut u8, *mut u8)>,
) -> bool {
    if !RUN.contains(&len) || !available() {
        return false;
    }
    // The last vector of a run may be shorter.
    let mask = u64::MAX >> ((WIDTH as usize - len % WIDTH as usize) % WIDTH as usize);
    // SAFETY: the whole vectors and the masked one are `len` bytes together, for which the caller vouches.
    unsafe {
        match len.div_ceil(WIDTH as usize) {
            1 => move_vectors_of_runs::<0, D>(runs, mask),
            2 => move_vectors_of_runs::<1, D>(runs, mask),
            3 => move_vectors_of_runs::<2, D>(runs, mask),
            _ => move_vectors_of_runs::<3, D>(runs, mask),
        }
    }
    true
}

/// Moves `WHOLE` vectors of each run and one with a mask.
///
/// # Safety
/// As for `move_runs`; the CPU has the instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn move_vectors_of_runs<const WHOLE: usize, D: Direction>(
    runs: impl Iterator<Item = (*mut u8, *mut u8)>,
    mask: u64,
) {
    use std::arch::x86_64::{__m512i, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8};
    for (user, packed) in runs {
        let (from, to) = if D::PACKS { (user, packed) } else { (packed, user) };
        let last = WHOLE * WIDTH as usize;
        // SAFETY: as for the function; bytes outside the mask are not touched. All loads stand before the stores.
        unsafe {
            let whole = from.cast::<[__m512i; WHOLE]>().read_unaligned();
            let part = _mm512_maskz_loadu_epi8(mask, from.wrapping_add(last).cast());
            to.cast::<[__m512i; WHOLE]>().write_unaligned(whole);
            _mm512_mask_storeu_epi8(to.wrapping_add(last).cast(), mask, part);
        }
    }
}

/// Never called: nothing is available.
///
/// # Safety
/// None is needed.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn move_vectors_of_runs<const WHOLE: usize, D: Direction>(
    _: impl Iterator<Item = (*mut u8, *mut u8)>,
    _: u64,
) {
}

/// A loop over a few short runs, ready to be moved vector by vector.
pub(super) struct Permutation<D> {
    /// For every byte of the destination's vector the number of the byte it comes from.
    order: [u8; WIDTH as usize],
    /// Where the first vector begins in user memory, relative to the first turn.
    low: isize,
    /// The bytes of as many turns as a vector holds.
    full: Masks,
    /// The bytes of the turns that remain for the last vector.
    rest: Masks,
    /// Number of full vectors.
    count: u64,
    /// Distance of two vectors on either side.
    user_step: isize,
    packed_step: isize,
    direction: PhantomData<D>,
}

/// Which bytes of a vector belong to the runs.
#[derive(Clone, Copy, Default)]
struct Masks {
    user: u64,
    packed: u64,
}

impl<D: Direction> Permutation<D> {
    /// The way to move `turns` of `runs` (offset, length); `None` where plain loops do as well or the CPU lacks the
    /// instructions.
    ///
    /// Measured on Zen 5: a vector takes as long as three words that are loaded and stored one by one, and preparing
    /// as long as 250 words.
    pub(super) fn new(runs: impl Iterator<Item = (i64, u64)> + Clone, turns: Turns) -> Option<Self> {
        const VECTOR: u64 = 3;
        const PREPARING: u64 = 250;
        const FEWEST_TURNS: u64 = 16;
        if turns.count < FEWEST_TURNS || turns.stride == 0 {
            return None;
        }
        let (mut low, mut high, mut turn, mut words) = (i64::MAX, i64::MIN, 0, 0);
        for (offset, len) in runs.clone() {
            (low, high, turn) = (low.min(offset), high.max(offset + len as i64), turn + len);
            words += if len <= 16 && len.is_power_of_two() { 1 } else { 2 };
            if turn > WIDTH {
                return None;
            }
        }
        // Without runs `high - low` is no number.
        let span = u64::try_from(high.checked_sub(low)?).ok().filter(|span| *span <= WIDTH)?;
        let together = (WIDTH / turn.max(1)).min(1 + (WIDTH - span) / turns.stride.unsigned_abs());
        let count = turns.count / together;
        let saved = count * (words * together).saturating_sub(VECTOR);
        if saved < PREPARING || !available() {
            return None;
        }
        let low = low + (turns.stride * (together - 1) as i64).min(0);
        let mut permutation = Self {
            order: [0; WIDTH as usize],
            low: low as isize,
            full: Masks::default(),
            rest: Masks::default(),
            count,
            user_step: (turns.stride * together as i64) as isize,
            packed_step: (turn * together) as isize,
            direction: PhantomData,
        };
        let mut packed = 0;
        for turn in 0..together {
            if turn == turns.count % together {
                permutation.rest = permutation.full;
            }
            for (offset, len) in runs.clone() {
                let user = offset + turn as i64 * turns.stride - low;
                if !permutation.add(user as usize, packed, len as usize) {
                    return None;
                }
                packed += len as usize;
            }
        }
        Some(permutation)
    }

    /// Adds a run of at least one byte, by its places in the vectors. False if it lies over another one where it has to
    /// be written: then which byte comes last depends on the turn.
    fn add(&mut self, user: usize, packed: usize, len: usize) -> bool {
        let bytes = u64::MAX >> (WIDTH as usize - len);
        if !D::PACKS && self.full.user & bytes << user != 0 {
            return false;
        }
        self.full.user |= bytes << user;
        self.full.packed |= bytes << packed;
        let (from, to) = if D::PACKS { (user, packed) } else { (packed, user) };
        for i in 0..len {
            self.order[to + i] = (from + i) as u8;
        }
        true
    }

    /// Moves all turns.
    ///
    /// # Safety
    /// Every run of every turn is valid on both sides, the destination for writing.
    pub(super) unsafe fn run(&self, user: *mut u8, packed: *mut u8) {
        let user = user.wrapping_offset(self.low);
        let times = self.count as isize;
        // SAFETY: the masks hold the bytes of the runs only, for which the caller vouches; `new` has found the
        // instructions.
        unsafe {
            self.move_vectors(self.full, user, packed, self.count);
            if self.rest.packed != 0 {
                let user = user.wrapping_offset(self.user_step.wrapping_mul(times));
                let packed = packed.wrapping_offset(self.packed_step * times);
                self.move_vectors(self.rest, user, packed, 1);
            }
        }
    }

    /// Moves the masked bytes of `count` vectors.
    ///
    /// # Safety
    /// Those bytes are valid on both sides, the destination for writing; the CPU has the instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn move_vectors(&self, masks: Masks, user: *mut u8, packed: *mut u8, count: u64) {
        use std::arch::x86_64::{
            _mm512_loadu_si512, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_permutexvar_epi8,
        };
        let user = (user, masks.user, self.user_step);
        let packed = (packed, masks.packed, self.packed_step);
        let (from, to) = if D::PACKS { (user, packed) } else { (packed, user) };
        let ((mut source, read, source_step), (mut target, write, target_step)) = (from, to);
        // SAFETY: the order is 64 bytes long; masked bytes are for the caller to vouch for, others are not touched.
        unsafe {
            let order = _mm512_loadu_si512(self.order.as_ptr().cast());
            for _ in 0..count {
                let bytes = _mm512_maskz_loadu_epi8(read, source.cast());
                _mm512_mask_storeu_epi8(target.cast(), write, _mm512_permutexvar_epi8(order, bytes));
                source = source.wrapping_offset(source_step);
                target = target.wrapping_offset(target_step);
            }
        }
    }

    /// Never called: nothing is available.
    ///
    /// # Safety
    /// None is needed.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe fn move_vectors(&self, _: Masks, _: *mut u8, _: *mut u8, _: u64) {}
}

/// Whether the CPU can do it.
fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vbmi");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

#[cfg(test)]
mod tests {
    use super::super::kernel::{Pack, Unpack};
    use super::*;
    use proptest::prelude::*;

    const MIDDLE: usize = 50_000;

    /// Moves by permutation and byte by byte; the same must come out, and all else must stay as it was.
    fn compare(runs: &[(i64, u64)], turns: Turns) -> Result<bool, TestCaseError> {
        let turn: u64 = runs.iter().map(|(_, len)| len).sum();
        let mut user: Vec<u8> = (0..2 * MIDDLE).map(|i| (i * 31 + i / 251) as u8).collect();
        let mut packed = vec![7u8; (turn * turns.count) as usize + 64];
        let Some(packing) = Permutation::<Pack>::new(runs.iter().copied(), turns) else { return Ok(false) };
        let places: Vec<usize> = (0..turns.count as i64)
            .flat_map(|turn| runs.iter().map(move |(at, len)| (at + turn * turns.stride, *len as i64)))
            .flat_map(|(at, len)| (at..at + len).map(|at| (MIDDLE as i64 + at) as usize))
            .collect();
        let mut expected: Vec<u8> = places.iter().map(|at| user[*at]).collect();
        expected.resize(packed.len(), 7);
        // SAFETY: all runs lie around the middle of `user`, and `packed` has room for them.
        unsafe { packing.run(user.as_mut_ptr().wrapping_add(MIDDLE), packed.as_mut_ptr()) };
        prop_assert_eq!(&packed, &expected);

        let mut distinct = places.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() < places.len() {
            return Ok(true); // nobody may receive into such a type
        }
        packed.reverse();
        let packed = &mut packed[64..];
        let mut expected = user.clone();
        places.iter().zip(&*packed).for_each(|(at, byte)| expected[*at] = *byte);
        let unpacking = Permutation::<Unpack>::new(runs.iter().copied(), turns);
        prop_assert!(unpacking.is_some());
        if let Some(unpacking) = unpacking {
            // SAFETY: as above.
            unsafe { unpacking.run(user.as_mut_ptr().wrapping_add(MIDDLE), packed.as_mut_ptr()) };
        }
        prop_assert_eq!(&user, &expected);
        Ok(true)
    }

    proptest! {
        #[test]
        fn moves_what_a_loop_moves(
            runs in prop::collection::vec((-20i64..45, 1u64..13), 1..7),
            count in 64u64..400,
            stride in -70i64..70,
        ) {
            compare(&runs, Turns { count, stride })?;
        }
    }

    #[test]
    fn runs_of_every_length_are_moved_whole_and_no_further() {
        for len in 1..=300usize {
            let mut user: Vec<u8> = (0..4096).map(|i| (i * 31 + i / 251) as u8).collect();
            let mut packed = vec![0u8; 3 * len + 64];
            let (from, to) = (user.as_mut_ptr(), packed.as_mut_ptr());
            let runs = (0..3).map(|i| (from.wrapping_add(i * 700), to.wrapping_add(i * len)));
            // SAFETY: three runs of at most 300 bytes fit at both places.
            let moved = unsafe { move_runs::<Pack>(len, runs.clone()) };
            assert_eq!(moved, available() && RUN.contains(&len));
            if !moved {
                continue;
            }
            let expected: Vec<u8> = (0..3).flat_map(|i| user[i * 700..][..len].to_vec()).collect();
            assert_eq!(packed[..3 * len], expected);
            assert!(packed[3 * len..].iter().all(|byte| *byte == 0));

            user.fill(1);
            // SAFETY: as above.
            assert!(unsafe { move_runs::<Unpack>(len, runs) });
            let taken = |at: usize| at < 2100 && at % 700 < len;
            let wanted = |at: usize| if taken(at) { expected[at / 700 * len + at % 700] } else { 1 };
            assert!(user.iter().enumerate().all(|(at, byte)| *byte == wanted(at)), "length {len}");
        }
    }

    #[test]
    fn is_used_for_short_runs() {
        for stride in [4, -4] {
            let moved = compare(&[(0, 3)], Turns { count: 2000, stride });
            assert_eq!(moved.unwrap(), available());
        }
        assert!(!compare(&[(0, 8)], Turns { count: 2000, stride: 24 }).unwrap());
    }
}
