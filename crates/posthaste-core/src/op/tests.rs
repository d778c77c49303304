//! Tests of `op`.

use super::*;

fn datatype(named: Named) -> Datatype {
    named.into()
}

#[test]
fn half_precision_survives_the_way_through_single() {
    for bits in 0..=u16::MAX {
        let half = Half(bits);
        if half.widened().is_nan() {
            assert!(Half::rounded(half.widened()).widened().is_nan());
        } else {
            assert_eq!(Half::rounded(half.widened()), half);
        }
    }
    assert_eq!(Half(0x3c00).widened(), 1.0);
    assert_eq!(Half::rounded(65519.0), Half(0x7bff));
    assert_eq!(Half::rounded(65520.0), Half(0x7c00));
    assert_eq!(Half::rounded(1.0 + 2f32.powi(-11)), Half(0x3c00));
    assert_eq!(Half::rounded(1.0 + 3.0 * 2f32.powi(-11)), Half(0x3c02));
    assert_eq!(Half::rounded(2f32.powi(-25)), Half(0));
    assert_eq!(Half::rounded(1.5 * 2f32.powi(-25)), Half(1));
    assert_eq!(Half::rounded(2f32.powi(-26)), Half(0));
}

#[test]
fn every_pair_of_operation_and_type_is_computed_or_refused() {
    let (input, inout) = (OwnedBuf::new(256), OwnedBuf::new(256));
    for (predefined, name) in Predefined::ALL {
        let op = Op::from(predefined);
        for builtin in Builtin::all() {
            let datatype = datatype(builtin.named);
            let result = op.apply(&datatype, input.user_buf(), inout.user_buf(), 2);
            let defined = predefined.classes().is_empty() || predefined.classes().contains(&builtin.class);
            let allowed = defined || predefined.reaches(builtin);
            let strict = op.check_strict(&datatype);
            assert_eq!(strict.is_ok(), defined && check_kind(predefined, builtin).is_ok());
            match result {
                Ok(()) => assert!(allowed),
                Err(error) => {
                    assert!(error.to_string().contains(name), "{error}");
                    assert!(error.to_string().contains(builtin.name), "{error}");
                    assert!(!allowed || check_kind(predefined, builtin).is_err());
                }
            }
        }
    }
}

#[test]
fn a_function_of_slices_sees_whole_elements_wherever_they_lie() {
    let op = Op::of_slices(
        |input: &[u64], inout: &mut [u64]| {
            assert!(!input.contains(&7), "seven");
            inout.iter_mut().zip(input).for_each(|(to, from)| *to += 10 * *from);
        },
        false,
    );
    assert!(!op.is_commutative() && op.predefined().is_none());
    for shift in [0, 3] {
        let (input, inout) = (OwnedBuf::new(64), OwnedBuf::new(64));
        let place = |buf: &OwnedBuf, at: isize| buf.user_buf().offset(shift + 8 * at);
        let put = |buf: &OwnedBuf, at: isize, value: u64| {
            buf.user_buf().copy_in(shift + 8 * at, Source::from(&value.to_ne_bytes()[..]));
        };
        for at in 0..3 {
            put(&input, at, at as u64 + 1);
            put(&inout, at, 5);
        }
        let (from, to) = (place(&input, 0), place(&inout, 0));
        op.apply(&datatype(Named::Uint64), from, to, 2).unwrap();
        let mut got = [0; 24];
        inout.user_buf().copy_out(shift, posthaste_os::mem::Sink::from(&mut got[..]));
        let got = got.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word));
        assert_eq!(got.collect::<Vec<_>>(), [15, 25, 5]);
        put(&input, 1, 7);
        let error = op.apply(&datatype(Named::Uint64), from, to, 2).unwrap_err();
        assert!(error.to_string().contains("panicked: seven"), "{error}");
    }
    for other in [Named::Uint32, Named::CDoubleComplex, Named::Double] {
        assert_eq!(op.check(&datatype(other)).unwrap_err().class(), ErrorClass::Op);
    }
}

// Elsewhere there is no arithmetic for it.
#[test]
#[cfg(target_arch = "x86_64")]
fn extended_precision_reduces() {
    let (input, inout) = (OwnedBuf::new(64), OwnedBuf::new(64));
    let store = |buf: &OwnedBuf, at: isize, value: f64| {
        let three = [Extended::from_f64(value)];
        let place = buf.user_buf().offset(at);
        combine(Operands::packed(Source::from(&[0u8; 16][..]), place), place, 1, |_, _| three[0]);
    };
    for at in 0..4 {
        store(&input, 16 * at, 2.0 + at as f64);
        store(&inout, 16 * at, 10.0);
    }
    let read = |at: isize| {
        let mut got = [0u8; 16];
        inout.user_buf().copy_out(16 * at, posthaste_os::mem::Sink::from(&mut got[..]));
        got
    };
    let bytes = |value: f64| {
        let buf = OwnedBuf::new(16);
        store(&buf, 0, value);
        buf.source().to_vec()
    };
    Op::from(Predefined::Sum)
        .apply(&datatype(Named::LongDouble), input.user_buf(), inout.user_buf(), 2)
        .unwrap();
    assert_eq!(read(1).to_vec(), bytes(13.0));
    // (4 + 5i)(10 + 10i) = -10 + 90i
    let two = |buf: &OwnedBuf| buf.user_buf().offset(32);
    Op::from(Predefined::Prod)
        .apply(&datatype(Named::CLongDoubleComplex), two(&input), two(&inout), 1)
        .unwrap();
    assert_eq!((read(2).to_vec(), read(3).to_vec()), (bytes(-10.0), bytes(90.0)));
    Op::from(Predefined::Max)
        .apply(&datatype(Named::LongDouble), input.user_buf(), inout.user_buf(), 4)
        .unwrap();
    assert_eq!(read(2).to_vec(), bytes(4.0));
}

/// What left operands are made of.
const LEFT: u64 = 1;

/// Pseudorandom operands. Of floating-point numbers among the left ones some are infinite, and some are not numbers; of two that
/// are not, either may be the result.
fn operands(seed: u64, bytes: usize) -> Vec<u8> {
    let is_left = seed == LEFT;
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    let byte = |_| match (is_left, next()) {
        (true, ..64) => 0xff,
        (true, byte) => byte,
        (false, byte) => byte & 0xbf,
    };
    (0..bytes).map(byte).collect()
}

/// What comes of two operands does not depend on how many are combined in a call, nor on where they lie.
#[test]
fn many_elements_are_combined_as_each_alone() {
    const MOST: u64 = 100;
    for (predefined, name) in Predefined::ALL {
        let op = Op::from(predefined);
        for builtin in Builtin::all() {
            let datatype = datatype(builtin.named);
            if predefined.classes().is_empty() || op.check(&datatype).is_err() {
                continue;
            }
            let (extent, packed) = (builtin.extent as usize, builtin.size as usize);
            let bytes = MOST as usize * extent + 8;
            let bufs = [LEFT, 2, 3, 3].map(|seed| {
                let mut buf = OwnedBuf::new(bytes);
                buf.sink().copy_from(&operands(seed, bytes));
                buf
            });
            for (shift, count) in [(0, 31), (0, 32), (3, 33), (0, 97), (5, MOST)] {
                let [left, right, alone, result] = bufs.each_ref().map(|buf| buf.user_buf().offset(shift));
                let all = |buf: &OwnedBuf| buf.source().to_vec();
                for buf in [alone, result] {
                    buf.copy_in(0, Source::from(&all(&bufs[1])[shift as usize..]));
                }
                for at in 0..count {
                    let [left, alone] = [left, alone].map(|buf| buf.offset(at as isize * extent as isize));
                    op.apply(&datatype, left, alone, 1).unwrap();
                }
                op.apply(&datatype, left, result, count).unwrap();
                assert_eq!(all(&bufs[2]), all(&bufs[3]), "{name} of {count} {}", builtin.name);
                if packed == extent {
                    let given = &all(&bufs[0])[shift as usize..][..count as usize * packed];
                    result.copy_in(0, Source::from(&all(&bufs[1])[shift as usize..]));
                    op.apply_packed(&datatype, Source::from(given), result, count).unwrap();
                    assert_eq!(all(&bufs[2]), all(&bufs[3]), "{name} of {count} packed {}", builtin.name);
                    result.copy_in(0, Source::from(&operands(4, count as usize * packed)[..]));
                    let beside = Operands::packed(Source::from(given), right);
                    by_kind(predefined, builtin, beside, result, count);
                    assert_eq!(all(&bufs[2]), all(&bufs[3]), "{name} of {count} {} beside", builtin.name);
                }
            }
        }
    }
}

/// Integers in words become what an array of them becomes.
#[test]
fn integers_in_words_become_the_same() {
    let mut seen = 0;
    for (predefined, name) in Predefined::ALL {
        for builtin in Builtin::all() {
            let Some(combined) = predefined.on_words(builtin) else { continue };
            let size = builtin.size as usize;
            let (left, right) = (operands(LEFT, 64 * size), operands(2, 64 * size));
            let (mut input, mut inout) = (OwnedBuf::new(left.len()), OwnedBuf::new(right.len()));
            input.sink().copy_from(&left);
            inout.sink().copy_from(&right);
            let (from, to) = (input.user_buf(), inout.user_buf());
            Op::from(predefined).apply(&datatype(builtin.named), from, to, 64).unwrap();
            let word = |bytes: &[u8]| {
                let mut word = [0; 8];
                word[..size].copy_from_slice(bytes);
                u64::from_le_bytes(word)
            };
            let words = left.chunks(size).zip(right.chunks(size)).map(|(a, b)| combined(word(a), word(b)));
            let expected: Vec<u64> = inout.source().to_vec().chunks(size).map(word).collect();
            assert_eq!(words.collect::<Vec<u64>>(), expected, "{name} of {}", builtin.name);
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}
