//! Operands of reductions as they lie in memory, and the loops over them.
//!
//! The arithmetic is that of `op`. Part of the room `buffer`, whose promise ([`Base::new`](super::Base::new)) every block here rests
//! on.
//!
//! What must stay true: operands have no alignment; padding inside a pair is never written; each result comes of one pair of
//! operands by one operation, so it does not depend on how many are computed at once.

use std::hint::black_box;
use std::marker::PhantomData;

use super::{Equivalence, Quad, UserBuf};
use posthaste_os::mem::Source;

/// One operand of a reduction, as it lies in memory.
///
/// # Safety
/// `EXTENT` is the distance of neighbours in an array, and `load` and `store` touch only bytes within it. Where `IN_VECTORS` is true, that is
/// the size of the type, every byte belongs to its value, and any bytes are one.
pub(crate) unsafe trait Element: Copy {
    /// Distance of neighbours, in bytes.
    const EXTENT: usize;
    /// Whether the processor computes with vectors of them.
    const IN_VECTORS: bool = false;
    /// Reads one operand.
    ///
    /// # Safety
    /// `from` is valid for reading `EXTENT` bytes; no alignment is needed.
    unsafe fn load(from: *const u8) -> Self;
    /// Writes one operand, and no padding.
    ///
    /// # Safety
    /// `to` is valid for writing `EXTENT` bytes; no alignment is needed.
    unsafe fn store(self, to: *mut u8);
}

macro_rules! plain_elements {
    ($in_vectors:literal: $($rust:ty),* $(,)?) => {$(
        // SAFETY: no padding and every bit pattern valid: the whole value is moved.
        unsafe impl Element for $rust {
            const EXTENT: usize = size_of::<Self>();
            const IN_VECTORS: bool = $in_vectors;
            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                // SAFETY: handed on to the caller.
                unsafe { from.cast::<Self>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
                // SAFETY: handed on to the caller.
                unsafe { to.cast::<Self>().write_unaligned(self) };
            }
        }
    )*};
}
plain_elements! { true: i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 }
plain_elements! {
    false: i128, u128, Half, Extended, Quad, [Half; 2], [f32; 2], [f64; 2], [Extended; 2], [Quad; 2],
}

/// A value with its index, laid out like the C structure of the pair types (MPI-5.0 §6.9.4).
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct Pair<V, I> {
    pub(crate) value: V,
    pub(crate) index: I,
}

// SAFETY: the two fields are moved one by one at their places in the structure, padding is left alone.
unsafe impl<V: Element, I: Element> Element for Pair<V, I> {
    const EXTENT: usize = size_of::<Self>();
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: both fields lie within `EXTENT`, for which the caller vouches.
        unsafe { Self { value: V::load(from), index: I::load(from.add(std::mem::offset_of!(Self, index))) } }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: both fields lie within `EXTENT`, for which the caller vouches.
        unsafe {
            self.value.store(to);
            self.index.store(to.add(std::mem::offset_of!(Self, index)));
        }
    }
}

/// Left and right operands, as they lie in memory.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a> {
    left: *const u8,
    /// Bytes of left operands.
    len: usize,
    right: UserBuf,
    stream: PhantomData<Source<'a>>,
}

impl<'a> Operands<'a> {
    /// Two arrays in user memory.
    pub(crate) fn arrays(left: UserBuf, right: UserBuf) -> Self {
        Self { left: left.0, len: usize::MAX, right, stream: PhantomData }
    }

    /// A packed stream, of elements without padding, and an array.
    pub(crate) fn packed(left: Source<'a>, right: UserBuf) -> Self {
        Self { left: left.as_ptr(), len: left.len(), right, stream: PhantomData }
    }
}

/// `result = f(left, right)` for `count` neighbours, but for no more than left operands lie there whole. Results may take the place of
/// the right operands.
#[inline]
pub(crate) fn combine<T: Element>(
    operands: Operands<'_>,
    result: UserBuf,
    count: u64,
    f: impl Fn(T, T) -> T,
) {
    let count = (count as usize).min(operands.len / T::EXTENT);
    // SAFETY: `count` elements lie within the source; other sides by the promise of `Base::new`.
    unsafe { combine_raw([operands.left, operands.right.0], result.0, count, f) };
}

/// Shows `count` neighbours of input and inout, which do not overlap, to a function of slices. The caller has compared `T` with
/// the datatype of the operands.
///
/// This is the one place where references into buffers are made. While operands are combined no message that writes to them
/// is under way (a fence comes before), and the program has lent them.
pub(crate) fn combine_slices<T: Equivalence>(
    input: UserBuf,
    inout: UserBuf,
    count: u64,
    f: impl Fn(&[T], &mut [T]),
) {
    let (count, from, to) = (count as usize, input.0.cast::<T>(), inout.0.cast::<T>());
    if count == 0 {
        return;
    }
    if from.is_aligned() && to.is_aligned() {
        // SAFETY: valid for `count` elements by the promise of `Base::new` or by a borrow, aligned, any bit pattern is a
        // value (`Equivalence`); nobody else looks at them, as said above.
        unsafe { f(std::slice::from_raw_parts(from, count), std::slice::from_raw_parts_mut(to, count)) };
        return;
    }
    // Elements of a wide alignment in a temporary of a narrower one.
    // SAFETY: as above, and no alignment is needed.
    let read = |from: *mut T| (0..count).map(|at| unsafe { from.add(at).read_unaligned() }).collect();
    let (input, mut result): (Vec<T>, Vec<T>) = (read(from), read(to));
    f(&input, &mut result);
    for (at, value) in result.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe { to.add(at).write_unaligned(value) };
    }
}

/// `result = f(left, right)` for `count` neighbours.
///
/// # Safety
/// All are valid for `count` elements, `result` for writing. Where `result` overlaps `left`, or `right` at another place, results mean
/// nothing.
#[inline(always)]
unsafe fn combine_raw<T: Element>(
    [left, right]: [*const u8; 2],
    result: *mut u8,
    count: usize,
    f: impl Fn(T, T) -> T,
) {
    let mut done = 0;
    #[cfg(target_arch = "x86_64")]
    if T::IN_VECTORS && count >= BLOCK && is_x86_feature_detected!("avx2") {
        // SAFETY: as the caller says, and the processor has AVX2.
        done = unsafe { combine_blocks([left, right], result, count, &f) };
    }
    for at in (done..count).map(|i| i * T::EXTENT) {
        // SAFETY: element `i` of `count`, for which the caller vouches.
        unsafe { f(T::load(left.add(at)), T::load(right.add(at))).store(result.add(at)) };
    }
}

/// Elements of a block, all of which are loaded before one is stored.
#[cfg(target_arch = "x86_64")]
const BLOCK: usize = 32;

/// As many of them as are whole blocks, by vectors of 32 bytes; how many. Loops over a few elements do not come here, and keep to what every processor
/// of this kind has.
///
/// # Safety
/// As for `combine_raw`; the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline(never)]
unsafe fn combine_blocks<T: Element>(
    [left, right]: [*const u8; 2],
    result: *mut u8,
    count: usize,
    f: &impl Fn(T, T) -> T,
) -> usize {
    const { assert!(!T::IN_VECTORS || T::EXTENT == size_of::<T>()) };
    // A compiler that sees that results replace the right operands stores the maximum of two vectors by a masked store, where the left
    // ones are greater, which takes five times as long.
    let result = black_box(result);
    let blocks = count / BLOCK;
    for at in (0..blocks).map(|block| block * BLOCK * T::EXTENT) {
        // SAFETY: a block of elements for which the caller vouches; as `IN_VECTORS` promises, any bytes are values and all are written.
        unsafe {
            let lefts = left.add(at).cast::<[T; BLOCK]>().read_unaligned();
            let mut values = right.add(at).cast::<[T; BLOCK]>().read_unaligned();
            for (left, value) in lefts.into_iter().zip(&mut values) {
                *value = f(left, *value);
            }
            result.add(at).cast::<[T; BLOCK]>().write_unaligned(values);
        }
    }
    blocks * BLOCK
}

/// IEEE 754 half precision, as its bits; `op` computes with it in single precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Half(pub(crate) u16);

/// C's `long double` on this machine: 80-bit extended precision in 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct Extended([u8; 16]);

#[cfg(target_arch = "x86_64")]
impl Extended {
    /// Whether the machine computes with this format.
    pub(crate) const SUPPORTED: bool = true;

    /// The sum, rounded once.
    #[inline]
    pub(crate) fn plus(self, other: Self) -> Self {
        self.through(other, 0)
    }

    /// The difference, rounded once.
    #[inline]
    pub(crate) fn minus(self, other: Self) -> Self {
        self.through(other, 1)
    }

    /// The product, rounded once.
    #[inline]
    pub(crate) fn times(self, other: Self) -> Self {
        self.through(other, 2)
    }

    #[inline(always)]
    fn through(self, other: Self, what: u8) -> Self {
        let mut result = Self([0; 16]);
        macro_rules! compute {
            ($instruction:literal) => {
                // SAFETY: reads two operands and writes ten bytes of the result; the coprocessor's stack is
                // as empty after as before, and its registers are declared overwritten.
                unsafe {
                    std::arch::asm!(
                        "fld tbyte ptr [{a}]", "fld tbyte ptr [{b}]", $instruction, "fstp tbyte ptr [{r}]",
                        a = in(reg) &raw const self, b = in(reg) &raw const other, r = in(reg) &raw mut result,
                        out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                        out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                        options(nostack),
                    )
                }
            };
        }
        match what {
            0 => compute!("faddp st(1), st"),
            1 => compute!("fsubp st(1), st"),
            _ => compute!("fmulp st(1), st"),
        }
        result
    }

    /// How the two compare; `None` when one is not a number.
    #[inline]
    pub(crate) fn compare(self, other: Self) -> Option<std::cmp::Ordering> {
        let (below, unordered, equal): (u8, u8, u8);
        // SAFETY: reads two operands, sets flags and three registers; the coprocessor's stack is as empty after
        // as before, and its registers are declared overwritten.
        unsafe {
            std::arch::asm!(
                "fld tbyte ptr [{b}]", "fld tbyte ptr [{a}]", "fucomip st, st(1)", "fstp st(0)",
                "setb {below}", "setp {unordered}", "sete {equal}",
                a = in(reg) &raw const self, b = in(reg) &raw const other,
                below = out(reg_byte) below, unordered = out(reg_byte) unordered, equal = out(reg_byte) equal,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack, readonly),
            );
        }
        Some(match (unordered, equal, below) {
            (1, ..) => return None,
            (_, 1, _) => std::cmp::Ordering::Equal,
            (_, _, 1) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        })
    }

    /// The same value in the wider format.
    #[cfg(test)]
    pub(crate) fn from_f64(value: f64) -> Self {
        let mut result = Self([0; 16]);
        // SAFETY: reads eight bytes, writes ten; the coprocessor's stack is as empty after as before.
        unsafe {
            std::arch::asm!(
                "fld qword ptr [{a}]", "fstp tbyte ptr [{r}]",
                a = in(reg) &raw const value, r = in(reg) &raw mut result,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        result
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Extended {
    pub(crate) const SUPPORTED: bool = false;
    pub(crate) fn plus(self, _: Self) -> Self {
        self
    }
    pub(crate) fn minus(self, _: Self) -> Self {
        self
    }
    pub(crate) fn times(self, _: Self) -> Self {
        self
    }
    pub(crate) fn compare(self, _: Self) -> Option<std::cmp::Ordering> {
        None
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    #[test]
    fn extended_precision_keeps_more_than_double() {
        let (one, tiny) = (Extended::from_f64(1.0), Extended::from_f64(2f64.powi(-60)));
        let sum = one.plus(tiny);
        assert_eq!(sum.compare(one), Some(Ordering::Greater));
        assert_eq!(sum.minus(one).compare(tiny), Some(Ordering::Equal));
        assert_eq!(Extended::from_f64(3.0).times(Extended::from_f64(-2.0)), Extended::from_f64(-6.0));
        assert_eq!(Extended::from_f64(3.0).minus(Extended::from_f64(5.0)), Extended::from_f64(-2.0));
        assert_eq!(Extended::from_f64(f64::NAN).compare(one), None);
        assert_eq!(tiny.compare(one), Some(Ordering::Less));
    }
}
