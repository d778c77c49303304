//! IEEE 754 quadruple precision in integer arithmetic, because neither the machine nor the compiler has it: what
//! reductions on `MPI_REAL16` and `MPI_COMPLEX32` compute with.
//!
//! What must stay true: every result is the exact one, rounded once to nearest, ties to even, as the same expression
//! gives in C and Fortran.

use std::cmp::Ordering;

/// Bits of the fraction.
const FRACTION: u32 = 112;
const BIAS: i32 = 16383;
/// The exponent field of infinities and NaNs.
const TOP: i32 = 0x7fff;
const SIGN: u128 = 1 << 127;
/// The bit in front of the fraction.
const HIDDEN: u128 = 1 << FRACTION;
/// Bits kept below the last one while a result is not rounded yet; the lowest says whether anything follows it.
const SPARE: u32 = 3;

/// A number of 128 bits, as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Quad(pub(crate) u128);

/// A finite number: `fraction` × 2^(`exponent` - BIAS - FRACTION), the hidden bit in the fraction.
#[derive(Clone, Copy)]
struct Finite {
    exponent: i32,
    fraction: u128,
}

impl Quad {
    const NAN: Self = Self((TOP as u128) << FRACTION | HIDDEN >> 1);

    /// The sum, rounded once.
    pub(crate) fn plus(self, other: Self) -> Self {
        let (Some(a), Some(b)) = (self.finite(), other.finite()) else { return self.plus_special(other) };
        let (mut sign, mut larger, mut smaller) = (self.0 & SIGN, a, b);
        if (b.exponent, b.fraction) > (a.exponent, a.fraction) {
            (sign, larger, smaller) = (other.0 & SIGN, b, a);
        }
        let high = larger.fraction << SPARE;
        let low = shifted(smaller.fraction << SPARE, (larger.exponent - smaller.exponent) as u32);
        let same = (self.0 ^ other.0) & SIGN == 0;
        let fraction = if same { high + low } else { high - low };
        if fraction == 0 && !same {
            return Self(0); // what cancels is positive
        }
        Self(sign | rounded(larger.exponent, fraction))
    }

    /// The difference, rounded once.
    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(Self(other.0 ^ SIGN))
    }

    /// The product, rounded once.
    pub(crate) fn times(self, other: Self) -> Self {
        let sign = (self.0 ^ other.0) & SIGN;
        let (Some(a), Some(b)) = (self.finite(), other.finite()) else {
            let is_nan = self.is_nan() || other.is_nan() || self.0 & !SIGN == 0 || other.0 & !SIGN == 0;
            return if is_nan { Self::NAN } else { Self(sign | (TOP as u128) << FRACTION) };
        };
        if a.fraction == 0 || b.fraction == 0 {
            return Self(sign);
        }
        let (a, b) = (a.normal(), b.normal());
        let (high, low) = product(a.fraction, b.fraction);
        // The product begins at bit 224 or 225; its hidden bit belongs `SPARE` above that of a fraction.
        let down = FRACTION - SPARE;
        let rest = u128::from(low & ((1 << down) - 1) != 0);
        let fraction = high << (128 - down) | low >> down | rest;
        Self(sign | rounded(a.exponent + b.exponent - BIAS, fraction))
    }

    /// Which is larger; nothing is said of a NaN.
    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        if self.is_nan() || other.is_nan() {
            return None;
        }
        // With the sign taken apart, bits are in the order of magnitudes.
        let key = |bits: u128| {
            let magnitude = (bits & !SIGN) as i128;
            if bits & SIGN == 0 { magnitude } else { -magnitude }
        };
        Some(key(self.0).cmp(&key(other.0)))
    }

    fn is_nan(self) -> bool {
        self.0 & !SIGN > (TOP as u128) << FRACTION
    }

    fn finite(self) -> Option<Finite> {
        let field = (self.0 >> FRACTION) as i32 & TOP;
        let fraction = self.0 & (HIDDEN - 1);
        match field {
            TOP => None,
            0 => Some(Finite { exponent: 1, fraction }),
            _ => Some(Finite { exponent: field, fraction: fraction | HIDDEN }),
        }
    }

    #[cold]
    fn plus_special(self, other: Self) -> Self {
        if self.is_nan() || other.is_nan() {
            return Self::NAN;
        }
        match (self.finite(), other.finite()) {
            (Some(_), _) => other,
            (_, Some(_)) => self,
            _ if self == other => self,
            _ => Self::NAN,
        }
    }
}

impl PartialOrd for Quad {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.compare(*other)
    }
}

impl Finite {
    /// The same number, not 0, with the hidden bit set.
    fn normal(self) -> Self {
        let up = self.fraction.leading_zeros() - (127 - FRACTION);
        Self { exponent: self.exponent - up as i32, fraction: self.fraction << up }
    }
}

/// `bits` shifted right; the lowest bit says whether anything was lost.
fn shifted(bits: u128, by: u32) -> u128 {
    match bits.checked_shr(by) {
        Some(left) => left | u128::from(left << by != bits),
        None => u128::from(bits != 0),
    }
}

/// Exponent and fraction of the number nearest to `fraction` (with `SPARE` further bits) × 2^exponent.
fn rounded(mut exponent: i32, mut fraction: u128) -> u128 {
    let first = FRACTION + SPARE;
    let top = 127 - fraction.leading_zeros().min(127);
    if top > first {
        fraction = shifted(fraction, top - first);
        exponent += (top - first) as i32;
    } else {
        // No further than the exponent of subnormal numbers.
        let up = ((first - top) as i32).min(exponent - 1).max(0);
        fraction <<= up;
        exponent -= up;
    }
    if exponent < 1 {
        fraction = shifted(fraction, (1 - exponent) as u32);
        exponent = 1;
    }
    let (spare, half) = (fraction & ((1 << SPARE) - 1), 1 << (SPARE - 1));
    fraction >>= SPARE;
    if spare > half || (spare == half && fraction & 1 == 1) {
        fraction += 1;
    }
    // A carry runs into the exponent by itself, out of the fraction as out of the subnormal numbers.
    let bits = (((exponent - 1) as u128) << FRACTION) + fraction;
    bits.min((TOP as u128) << FRACTION)
}

/// The product, in two halves.
fn product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let ((a1, a0), (b1, b0)) = ((a >> 64, a & LOW), (b >> 64, b & LOW));
    let (low, middle, other, high) = (a0 * b0, a0 * b1, a1 * b0, a1 * b1);
    let sum = (low >> 64) + (middle & LOW) + (other & LOW);
    (high + (middle >> 64) + (other >> 64) + (sum >> 64), sum << 64 | low & LOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Exact: every double is a quad.
    fn quad(value: f64) -> Quad {
        let bits = value.to_bits();
        let sign = u128::from(bits >> 63) << 127;
        let (field, fraction) = ((bits >> 52) as i32 & 0x7ff, u128::from(bits & ((1 << 52) - 1)));
        match (field, fraction) {
            (0, 0) => Quad(sign),
            (0, _) => Quad(sign | rounded(BIAS - 1022, fraction << (60 + SPARE))),
            (0x7ff, _) => Quad(sign | (TOP as u128) << FRACTION | fraction << 60),
            _ => Quad(sign | ((field - 1023 + BIAS) as u128) << FRACTION | fraction << 60),
        }
    }

    proptest! {
        /// Whole numbers of 53 bits: sums and products are exact, so doubles and integers know them.
        #[test]
        fn whole_numbers(a in -(1i64 << 53)..1 << 53, b in -(1i64 << 53)..1 << 53) {
            prop_assert_eq!(quad(a as f64).plus(quad(b as f64)).minus(quad(b as f64)), quad(a as f64));
            let (small, other) = (a >> 27, b >> 27);
            prop_assert_eq!(quad(small as f64).times(quad(other as f64)), quad((small * other) as f64));
            prop_assert_eq!(quad(a as f64).compare(quad(b as f64)), Some(a.cmp(&b)));
        }

        /// What commutes and what cancels, for any bits.
        #[test]
        fn any_bits(a: u128, b: u128) {
            let (a, b) = (Quad(a), Quad(b));
            prop_assert_eq!(a.plus(b), b.plus(a));
            prop_assert_eq!(a.times(b), b.times(a));
            if a.finite().is_some() {
                prop_assert_eq!(a.minus(a), Quad(0));
                prop_assert_eq!(a.times(quad(1.0)), a);
                prop_assert_eq!(a.plus(Quad(0)).0 & !SIGN, a.0 & !SIGN);
            }
        }
    }

    #[test]
    fn the_edges() {
        let infinity = quad(f64::INFINITY);
        let (largest, least) = (Quad(infinity.0 - 1), Quad(1));
        assert_eq!(largest.plus(largest), infinity);
        assert_eq!(largest.times(quad(2.0)), infinity);
        assert_eq!(infinity.minus(infinity), Quad::NAN);
        assert_eq!(infinity.times(Quad(0)), Quad::NAN);
        assert_eq!(infinity.times(quad(-1.0)), Quad(infinity.0 | SIGN));
        assert_eq!(least.plus(least), Quad(2));
        assert_eq!(least.times(quad(0.5)), Quad(0)); // a tie, to even
        assert_eq!(Quad(3).times(quad(0.5)), Quad(2));
        assert_eq!(Quad(HIDDEN - 1).plus(least), Quad(HIDDEN)); // the largest subnormal number and the next
        let last = Quad(quad(1.0).0 + 1); // 1 + 2^-112
        assert_eq!(quad(1.0).plus(last.minus(quad(1.0))), last);
        assert_eq!(quad(-0.0).plus(quad(-0.0)), quad(-0.0));
        assert_eq!(quad(f64::NAN).compare(quad(1.0)), None);
        assert_eq!(quad(-0.0).compare(quad(0.0)), Some(Ordering::Equal));
    }
}
