//! Conversion between data in memory and its canonical form: `external32` (MPI-5.0 §14.5.2) for Pack_external and
//! files, and the form in which processes of unlike format exchange data.
//!
//! Both forms are big-endian, with IEEE floating point; `external32` has its own sizes for `long` (4) and `wchar_t`
//! (2), between processes those of memory are kept, so that no value is lost and every position and count is the same
//! on both sides.
//!
//! What must stay true: any byte of the canonical stream is a valid beginning and end. An element that is cut on its
//! way in is put together in the user's memory: what is there is converted out, the new bytes are laid over it and
//! the whole is converted back, which loses nothing when the parts arrive in order.

use posthaste_os::mem::{Sink, Source};

use super::Datatype;
use super::builtin::{Builtin, Kind};
use super::format::{Format, Order};
use super::segment::Segment;
use super::signature::{Measure, Run};
use crate::error::{Error, ErrorClass, Result};

/// Bytes converted at a time.
const CHUNK: usize = 2048;

/// A canonical form, and the order of bytes in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// `Native`: the sizes of memory; `External32`: its own.
    pub(super) measure: Measure,
    pub(super) order: Order,
}

const EXTERNAL32: Form = Form { measure: Measure::External32, order: Format::NATIVE.order };

/// Bytes of `count` elements in `external32`; `None` when they do not fit into 63 bits.
pub fn packed_size(count: u64, datatype: &Datatype) -> Option<u64> {
    let size = datatype.signature().bytes(Measure::External32).checked_mul(count)?;
    i64::try_from(size).is_ok().then_some(size)
}

/// Fills `sink` with the bytes of a typed segment's `external32` form from byte `at` on.
///
/// # Errors
/// A value that the form has too few bytes for; the sink is filled nevertheless.
pub fn pack(segment: &Segment, at: u64, sink: Sink<'_>) -> Result<()> {
    match pack_as(segment, EXTERNAL32, at, sink) {
        None => Ok(()),
        Some(basic) => {
            let text = format!(
                "a value of type {} does not fit into the {} bytes that external32 has for it",
                basic.name,
                basic.external32_size()
            );
            Err(Error::other(ErrorClass::Conversion, text))
        }
    }
}

/// Puts `source`, bytes of the `external32` form from byte `at` on, in their places in a typed segment.
pub fn unpack(segment: &Segment, at: u64, source: Source<'_>) {
    unpack_as(segment, EXTERNAL32, at, source);
}

/// Packs; the first type of which a value did not fit.
pub(super) fn pack_as(segment: &Segment, form: Form, at: u64, sink: Sink<'_>) -> Option<&'static Builtin> {
    let (mut native, mut canonical) = ([0u8; CHUNK], [0u8; CHUNK]);
    let (mut raw, to) = (segment.in_memory(), at + sink.len() as u64);
    let (mut sink, mut misfit) = (Some(sink), None);
    segment.signature()?.runs(form.measure, at, to, &mut |run| {
        let rule = Rule::of(run.basic, form);
        rule.chunks(run, |chunk| {
            let (native, canonical) =
                (&mut native[..chunk.native_len], &mut canonical[..chunk.canonical_len]);
            raw.seek(chunk.native);
            raw.pack(Sink::from(&mut *native));
            if !rule.out(native, canonical) {
                misfit.get_or_insert(run.basic);
            }
            let (first, last) = chunk.within(at, to);
            if let Some(room) = sink.take() {
                let (mut part, rest) = room.split_at(last - first);
                part.copy_from(&canonical[first..last]);
                sink = Some(rest);
            }
        });
        true
    });
    misfit
}

/// Unpacks.
pub(super) fn unpack_as(segment: &Segment, form: Form, at: u64, source: Source<'_>) {
    let (mut native, mut canonical) = ([0u8; CHUNK], [0u8; CHUNK]);
    let (mut raw, to) = (segment.in_memory(), at + source.len() as u64);
    let mut source = source;
    let Some(signature) = segment.signature() else { return };
    signature.runs(form.measure, at, to, &mut |run| {
        let rule = Rule::of(run.basic, form);
        rule.chunks(run, |chunk| {
            let (native, canonical) =
                (&mut native[..chunk.native_len], &mut canonical[..chunk.canonical_len]);
            let (first, last) = chunk.within(at, to);
            if last - first < chunk.canonical_len {
                raw.seek(chunk.native);
                raw.pack(Sink::from(&mut *native));
                rule.out(native, canonical);
            }
            let (part, rest) = source.split_at(last - first);
            part.copy_to(&mut canonical[first..last]);
            source = rest;
            rule.back(canonical, native);
            raw.seek(chunk.native);
            raw.unpack(Source::from(&*native));
        });
        true
    });
}

/// How the elements of a basic type are converted.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// Numbers in an element: two in a complex one.
    numbers: usize,
    /// Bytes of a number in memory.
    native: usize,
    /// Bytes of a number in the canonical form.
    canonical: usize,
    number: Number,
    order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    /// Only the order of bytes may differ.
    Plain,
    /// The 80-bit format against quadruple precision.
    Extended,
    /// An integer with fewer bytes in the canonical form.
    Signed,
    /// The same without a sign.
    Unsigned,
}

/// Some neighbouring elements on both sides.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    native: u64,
    native_len: usize,
    start: u64,
    canonical_len: usize,
}

impl Chunk {
    /// Which of its canonical bytes lie in `from..to`.
    fn within(&self, from: u64, to: u64) -> (usize, usize) {
        let last = (to - self.start).min(self.canonical_len as u64);
        (from.saturating_sub(self.start).min(last) as usize, last as usize)
    }
}

impl Rule {
    fn of(basic: &Builtin, form: Form) -> Self {
        let (numbers, number) = match basic.kind {
            Kind::Complex(_) => (2, Number::Plain),
            Kind::Extended => (1, Number::Extended),
            Kind::ComplexExtended => (2, Number::Extended),
            _ => (1, Number::Plain),
        };
        let size = basic.size as usize;
        let canonical = match form.measure {
            Measure::Native => size,
            Measure::External32 => basic.external32_size() as usize,
        };
        let number = match basic.kind {
            _ if canonical == size => number,
            // Characters of 2 bytes have no sign.
            Kind::Signed(_) if basic.class != super::Class::Character => Number::Signed,
            _ => Number::Unsigned,
        };
        Self { numbers, native: size / numbers, canonical: canonical / numbers, number, order: form.order }
    }

    /// Cuts a run into chunks.
    fn chunks(&self, run: Run, mut each: impl FnMut(Chunk)) {
        let (native, canonical) = (self.native * self.numbers, self.canonical * self.numbers);
        let most = (CHUNK / native.max(canonical)) as u64;
        let mut done = 0;
        while done < run.count {
            let count = (run.count - done).min(most);
            each(Chunk {
                native: run.native + done * native as u64,
                native_len: count as usize * native,
                start: run.start + done * canonical as u64,
                canonical_len: count as usize * canonical,
            });
            done += count;
        }
    }

    /// Converts whole numbers out of memory; whether all of them fit. What does not fit is cut.
    fn out(&self, native: &[u8], canonical: &mut [u8]) -> bool {
        let mut fit = true;
        for (from, to) in native.chunks_exact(self.native).zip(canonical.chunks_exact_mut(self.canonical)) {
            match self.number {
                Number::Plain => {
                    to.copy_from_slice(from);
                    self.turn(to);
                }
                Number::Extended => to.copy_from_slice(&quad_of_extended(self.word(from)).to_be_bytes()),
                Number::Signed | Number::Unsigned => {
                    let word = self.word(from);
                    let kept = &word.to_be_bytes()[16 - self.canonical..];
                    to.copy_from_slice(kept);
                    fit &= self.integer(kept) == word;
                }
            }
        }
        fit
    }

    /// Converts whole numbers back into memory.
    fn back(&self, canonical: &[u8], native: &mut [u8]) {
        for (from, to) in canonical.chunks_exact(self.canonical).zip(native.chunks_exact_mut(self.native)) {
            match self.number {
                Number::Plain => {
                    to.copy_from_slice(from);
                    self.turn(to);
                }
                Number::Extended => {
                    let mut quad = [0; 16];
                    quad.copy_from_slice(from);
                    self.store(extended_of_quad(u128::from_be_bytes(quad)), to);
                }
                Number::Signed | Number::Unsigned => self.store(self.integer(from), to),
            }
        }
    }

    /// Between memory and the canonical form, where only the order differs.
    fn turn(&self, number: &mut [u8]) {
        if self.order == Order::Little {
            number.reverse();
        }
    }

    /// The word of a number in memory, with its sign.
    fn word(&self, native: &[u8]) -> u128 {
        let mut number = [0; 16];
        let number = &mut number[..native.len()];
        number.copy_from_slice(native);
        self.turn(number);
        self.integer(number)
    }

    /// The word of a big-endian number, with its sign.
    fn integer(&self, number: &[u8]) -> u128 {
        let sign = self.number == Number::Signed && number[0] & 0x80 != 0;
        number.iter().fold(if sign { u128::MAX } else { 0 }, |word, byte| word << 8 | u128::from(*byte))
    }

    /// Stores the low bytes of a word in memory.
    fn store(&self, word: u128, native: &mut [u8]) {
        native.copy_from_slice(&word.to_be_bytes()[16 - native.len()..]);
        self.turn(native);
    }
}

/// The integer bit of the 80-bit format, which quadruple precision does not store.
const INTEGER_BIT: u64 = 1 << 63;
/// What makes a NaN quiet, in the fraction of the 80-bit format.
const QUIET: u64 = 1 << 62;
/// The exponent of infinity and NaN in both formats.
const SPECIAL: u128 = 0x7fff;
/// Bits of the fraction in quadruple precision that the 80-bit format does not have.
const FEWER: u32 = 112 - 63;

/// Quadruple precision of the 80-bit format in the low bytes of a word; exact.
fn quad_of_extended(word: u128) -> u128 {
    let fraction = word as u64;
    let (sign, exponent) = (word >> 79 & 1, word >> 64 & SPECIAL);
    let special = |fraction: u64| SPECIAL << 112 | u128::from(fraction & !INTEGER_BIT) << FEWER;
    let magnitude = match exponent {
        // Without the integer bit: zero or subnormal; with it: as if the exponent were 1.
        0 => u128::from(fraction) << FEWER,
        SPECIAL => special(fraction),
        // Encodings that processors have not accepted since the 80387.
        _ if fraction & INTEGER_BIT == 0 => special(QUIET),
        _ => exponent << 112 | u128::from(fraction & !INTEGER_BIT) << FEWER,
    };
    sign << 127 | magnitude
}

/// The 80-bit format of a number in quadruple precision; rounded to the nearest, to even where two are as near.
fn extended_of_quad(quad: u128) -> u128 {
    let (sign, exponent) = (quad >> 127, quad >> 112 & SPECIAL);
    let fraction = quad & ((1 << 112) - 1);
    let kept = (fraction >> FEWER) as u64;
    let (exponent, fraction) = match exponent {
        SPECIAL if fraction == 0 => (SPECIAL, INTEGER_BIT),
        // A NaN must not become infinity when the low bits go.
        SPECIAL => (SPECIAL, INTEGER_BIT | if kept == 0 { QUIET } else { kept }),
        _ => {
            let (rest, half) = (fraction & ((1 << FEWER) - 1), 1u128 << (FEWER - 1));
            let up = rest > half || (rest == half && kept & 1 == 1);
            let integer = if exponent == 0 { 0 } else { INTEGER_BIT };
            match (kept | integer).checked_add(u64::from(up)) {
                // All ones have become the next power of two.
                None => (exponent + 1, INTEGER_BIT),
                // The largest subnormal number has become the smallest normal one.
                Some(fraction) if exponent == 0 && fraction == INTEGER_BIT => (1, fraction),
                Some(fraction) => (exponent, fraction),
            }
        }
    };
    sign << 79 | exponent << 64 | u128::from(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::OwnedBuf;
    use crate::named::Named;
    use proptest::prelude::*;

    fn datatype(named: Named) -> Datatype {
        named.into()
    }

    /// The external32 form of one element with these bytes.
    fn packed(named: Named, bytes: &[u8]) -> Result<Vec<u8>> {
        let datatype = datatype(named);
        let mut buf = OwnedBuf::new(datatype.extent() as usize);
        buf.sink().copy_from(bytes);
        let mut out = vec![0; packed_size(1, &datatype).unwrap() as usize];
        pack(&Segment::typed(buf.user_buf(), 1, &datatype), 0, Sink::from(&mut out[..])).map(|()| out)
    }

    #[test]
    fn values_are_big_endian_with_the_sizes_of_the_standard() {
        assert_eq!(packed(Named::Int, &0x0102_0304i32.to_ne_bytes()).unwrap(), [1, 2, 3, 4]);
        assert_eq!(packed(Named::Double, &1.0f64.to_ne_bytes()).unwrap(), [0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(packed(Named::Long, &(-2i64).to_ne_bytes()).unwrap(), [0xff, 0xff, 0xff, 0xfe]);
        assert_eq!(
            packed(Named::UnsignedLong, &0xffff_fffeu64.to_ne_bytes()).unwrap(),
            [0xff, 0xff, 0xff, 0xfe]
        );
        assert_eq!(packed(Named::Wchar, &0xe9u32.to_ne_bytes()).unwrap(), [0, 0xe9]);
        let complex = [1.0f32.to_ne_bytes(), 2.0f32.to_ne_bytes()].concat();
        assert_eq!(packed(Named::CFloatComplex, &complex).unwrap(), [0x3f, 0x80, 0, 0, 0x40, 0, 0, 0]);
        let pair = [1i16.to_ne_bytes(), [0; 2], 2i16.to_ne_bytes(), [0; 2]].concat();
        assert_eq!(packed(Named::ShortInt, &pair).unwrap(), [0, 1, 0, 0, 0, 2]);
        for (named, size) in [
            (Named::Aint, 8),
            (Named::Long, 4),
            (Named::Wchar, 2),
            (Named::LongDouble, 16),
            (Named::CLongDoubleComplex, 32),
            (Named::LongInt, 8),
            (Named::CBool, 1),
        ] {
            assert_eq!(packed_size(1, &datatype(named)), Some(size), "{named:?}");
        }
        assert_eq!(packed_size(u64::MAX / 2, &datatype(Named::Double)), None);
    }

    #[test]
    fn what_does_not_fit_is_an_error_that_names_the_type() {
        for (named, value) in [
            (Named::Long, 1i64 << 31),
            (Named::Long, -(1 << 31) - 1),
            (Named::UnsignedLong, 1 << 32),
            (Named::UnsignedLong, -1),
        ] {
            let error = packed(named, &value.to_ne_bytes()).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Conversion);
        }
        let error = packed(Named::Wchar, &0x1_f600u32.to_ne_bytes()).unwrap_err().to_string();
        assert_eq!(
            error,
            "a value of type MPI_WCHAR does not fit into the 2 bytes that external32 has for it"
        );
    }

    /// Bits of an 80-bit number: sign and exponent, fraction.
    fn extended(head: u16, fraction: u64) -> u128 {
        u128::from(head) << 64 | u128::from(fraction)
    }

    #[test]
    fn long_double_becomes_quadruple_precision_and_back() {
        let pairs = [
            (extended(0, 0), 0),
            (extended(0x8000, 0), 1 << 127),
            (extended(0x3fff, 1 << 63), 0x3fff << 112),
            (extended(0xbfff, 3 << 62), (0xbfff_u128 << 112) | 1 << 111),
            (extended(0x7fff, 1 << 63), 0x7fff << 112),
            (extended(0x7fff, 3 << 62), 0x7fff << 112 | 1 << 111),
            (extended(0, 1), 1 << 49),
            (extended(0, (1 << 63) - 1), ((1 << 63) - 1) << 49),
            (extended(1, 1 << 63), 1 << 112),
            (extended(0x7ffe, u64::MAX), 0x7ffe << 112 | ((1 << 63) - 1) << 49),
        ];
        for (short, quad) in pairs {
            assert_eq!(quad_of_extended(short), quad, "{short:x}");
            assert_eq!(extended_of_quad(quad), short, "{quad:x}");
        }
        // Encodings of the 80-bit format that are not what the processor would write.
        assert_eq!(quad_of_extended(extended(0, 1 << 63)), 1 << 112);
        assert_eq!(quad_of_extended(extended(0x3fff, 1)) >> 112, 0x7fff);
        // Rounding: to the nearest, to even, over the edge of a power of two, over the edge of the range.
        let one = 0x3fff_u128 << 112;
        assert_eq!(extended_of_quad(one | 1 << 48), extended(0x3fff, 1 << 63));
        assert_eq!(extended_of_quad(one | 1 << 48 | 1), extended(0x3fff, 1 << 63 | 1));
        assert_eq!(extended_of_quad(one | 3 << 48), extended(0x3fff, 1 << 63 | 2));
        assert_eq!(extended_of_quad(one | ((1 << 112) - 1)), extended(0x4000, 1 << 63));
        assert_eq!(extended_of_quad((0x7fff_u128 << 112) - 1), extended(0x7fff, 1 << 63));
        assert_eq!(extended_of_quad((1 << 112) - 1), extended(1, 1 << 63));
        assert_eq!(extended_of_quad(0x7fff << 112 | 1), extended(0x7fff, 3 << 62));
    }

    proptest! {
        #[test]
        fn long_doubles_survive(head: u16, fraction: u64) {
            let fraction = if head & 0x7fff == 0 { fraction & !INTEGER_BIT } else { fraction | INTEGER_BIT };
            let number = extended(head, fraction);
            prop_assert_eq!(extended_of_quad(quad_of_extended(number)), number);
        }

        /// Packed whole, then unpacked in pieces of any length, and packed again in pieces.
        #[test]
        fn any_byte_is_a_place_to_stop(
            values in proptest::collection::vec((any::<i32>(), any::<f64>(), any::<u16>(), any::<u64>()), 1..5),
            pieces in proptest::collection::vec(1..40usize, 1..40),
        ) {
            let types = [datatype(Named::Long), datatype(Named::Double), datatype(Named::LongDouble), datatype(Named::Wchar)];
            let datatype = Datatype::structure(&[1, 1, 1, 1], &[0, 8, 16, 32], &types).unwrap();
            let (extent, count) = (datatype.extent() as usize, values.len() as u64);
            let mut bytes = vec![0u8; extent * values.len()];
            for (at, (long, double, wide, fraction)) in bytes.chunks_exact_mut(extent).zip(&values) {
                at[..8].copy_from_slice(&i64::from(*long).to_ne_bytes());
                at[8..16].copy_from_slice(&double.to_ne_bytes());
                at[16..32].copy_from_slice(&extended(0x3fff, fraction | INTEGER_BIT).to_ne_bytes());
                at[32..36].copy_from_slice(&u32::from(*wide).to_ne_bytes());
            }
            let mut user = OwnedBuf::new(bytes.len());
            user.sink().copy_from(&bytes);
            let segment = Segment::typed(user.user_buf(), count, &datatype);
            let mut whole = vec![0; packed_size(count, &datatype).unwrap() as usize];
            prop_assert_eq!(whole.len(), 30 * values.len());
            pack(&segment, 0, Sink::from(&mut whole[..])).unwrap();
            let (again, mut packed) = (OwnedBuf::new(bytes.len()), vec![0; whole.len()]);
            let target = Segment::typed(again.user_buf(), count, &datatype);
            let mut at = 0;
            for piece in pieces.iter().cycle() {
                let end = (at + piece).min(whole.len());
                unpack(&target, at as u64, Source::from(&whole[at..end]));
                pack(&segment, at as u64, Sink::from(&mut packed[at..end])).unwrap();
                at = end;
                if at == whole.len() { break; }
            }
            prop_assert_eq!(again.source().to_vec(), bytes);
            prop_assert_eq!(packed, whole);
        }
    }
}
