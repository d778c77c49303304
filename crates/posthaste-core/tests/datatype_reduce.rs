//! Reductions against naive loops: every kind of element, arrays and packed streams, user operations on
//! derived types, padding left alone (MPI-5.0 §6.9).

use posthaste_core::buffer::{Base, Equivalence, is_dense};
use posthaste_core::datatype::{Datatype, Segment};
use posthaste_core::error::ErrorClass;
use posthaste_core::named::Named;
use posthaste_core::op::{Op, Predefined};
use posthaste_os::mem::{Sink, Source};
use proptest::prelude::*;
use std::fmt::Debug;

const SUM: Predefined = Predefined::Sum;
const MIN: Predefined = Predefined::Min;
const MAX: Predefined = Predefined::Max;
const PROD: Predefined = Predefined::Prod;
const BAND: Predefined = Predefined::Band;
const BOR: Predefined = Predefined::Bor;
const BXOR: Predefined = Predefined::Bxor;
const LAND: Predefined = Predefined::Land;
const LOR: Predefined = Predefined::Lor;
const LXOR: Predefined = Predefined::Lxor;
const MINLOC: Predefined = Predefined::Minloc;
const MAXLOC: Predefined = Predefined::Maxloc;
const REPLACE: Predefined = Predefined::Replace;
const NO_OP: Predefined = Predefined::NoOp;

fn op(handle: Predefined) -> Op {
    handle.into()
}

fn builtin(named: Named) -> Datatype {
    named.into()
}

fn raw<T>(slice: &mut [T]) -> Base {
    // SAFETY: used only while the slice lives, and within it.
    unsafe { Base::new(slice.as_mut_ptr().cast()) }
}

/// The bytes of numbers.
fn bytes_of<T>(slice: &mut [T]) -> Vec<u8> {
    let len = size_of_val(slice);
    raw(slice).source(len).to_vec()
}

/// Applies `op` to arrays and to the packed form, at odd addresses, and compares with the naive result.
fn check<T: Copy + PartialEq + Debug>(
    handle: Predefined,
    datatype: &Datatype,
    a: &[T],
    b: &[T],
    naive: impl Fn(T, T) -> T,
) {
    let count = a.len().min(b.len());
    let bytes = count * size_of::<T>();
    let (mut input, mut inout) = (vec![0xEEu8; bytes + 3], vec![0xEEu8; bytes + 3]);
    let mut packed = inout.clone();
    let (mut a, mut b) = (a[..count].to_vec(), b[..count].to_vec());
    input[1..1 + bytes].copy_from_slice(&bytes_of(&mut a));
    inout[1..1 + bytes].copy_from_slice(&bytes_of(&mut b));
    packed[1..1 + bytes].copy_from_slice(&bytes_of(&mut b));
    op(handle).apply_at(datatype, raw(&mut input[1..]), raw(&mut inout[1..]), count as u64).unwrap();
    op(handle)
        .apply_packed_at(datatype, Source::from(&input[1..1 + bytes]), raw(&mut packed[1..]), count as u64)
        .unwrap();
    assert_eq!(inout, packed);
    assert_eq!((inout[0], &inout[bytes + 1..]), (0xEE, &[0xEE, 0xEE][..]));
    let expected: Vec<T> = a.iter().zip(&b).map(|(a, b)| naive(*a, *b)).collect();
    let mut got = b;
    raw(&mut got).sink(bytes).copy_from(&inout[1..1 + bytes]);
    assert_eq!(got, expected, "{} on {datatype:?}", op(handle).name());
}

macro_rules! integers {
    ($name:ident, $rust:ty) => {
        proptest! {
            #[test]
            fn $name(a in prop::collection::vec(any::<$rust>(), 0..70), b in prop::collection::vec(any::<$rust>(), 70)) {
                let t = Datatype::of::<$rust>();
                check(SUM, &t, &a, &b, |a, b| a.wrapping_add(b));
                check(PROD, &t, &a, &b, |a, b| a.wrapping_mul(b));
                check(MAX, &t, &a, &b, |a, b| a.max(b));
                check(MIN, &t, &a, &b, |a, b| a.min(b));
                check(BAND, &t, &a, &b, |a, b| a & b);
                check(BOR, &t, &a, &b, |a, b| a | b);
                check(BXOR, &t, &a, &b, |a, b| a ^ b);
                check(LAND, &t, &a, &b, |a, b| (a != 0 && b != 0) as $rust);
                check(LOR, &t, &a, &b, |a, b| (a != 0 || b != 0) as $rust);
                check(LXOR, &t, &a, &b, |a, b| ((a != 0) != (b != 0)) as $rust);
                check(REPLACE, &t, &a, &b, |a, _| a);
                check(NO_OP, &t, &a, &b, |_, b| b);
            }
        }
    };
}
integers!(signed_8, i8);
integers!(unsigned_8, u8);
integers!(signed_16, i16);
integers!(unsigned_16, u16);
integers!(signed_32, i32);
integers!(unsigned_32, u32);
integers!(signed_64, i64);
integers!(unsigned_64, u64);

proptest! {
    #[test]
    fn floating(a in prop::collection::vec(-1e9f64..1e9, 0..70), b in prop::collection::vec(-1e9f64..1e9, 70)) {
        let t = Datatype::of::<f64>();
        check(SUM, &t, &a, &b, |a, b| a + b);
        check(PROD, &t, &a, &b, |a, b| a * b);
        check(MAX, &t, &a, &b, f64::max);
        check(MIN, &t, &a, &b, f64::min);
        let (a, b): (Vec<f32>, Vec<f32>) = a.iter().zip(&b).map(|(a, b)| (*a as f32, *b as f32)).unzip();
        check(SUM, &Datatype::of::<f32>(), &a, &b, |a, b| a + b);
        check(MAX, &builtin(Named::Real), &a, &b, f32::max);
    }

    #[test]
    fn complex(a in prop::collection::vec(any::<[f32; 2]>(), 0..40), b in prop::collection::vec(any::<[f32; 2]>(), 40)) {
        let bits = |z: [f32; 2]| z.map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() });
        let sum = |a: [f32; 2], b: [f32; 2]| [a[0] + b[0], a[1] + b[1]];
        let product = |a: [f32; 2], b: [f32; 2]| [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];
        for (handle, naive) in [(SUM, sum as fn([f32; 2], [f32; 2]) -> [f32; 2]), (PROD, product)] {
            let (mut input, mut inout) = (a.clone(), b.clone());
            op(handle).apply_at(&builtin(Named::CFloatComplex), raw(&mut input), raw(&mut inout), a.len() as u64).unwrap();
            for (i, (a, b)) in a.iter().zip(&b).enumerate() {
                prop_assert_eq!(bits(inout[i]), bits(naive(*a, *b)));
            }
            prop_assert_eq!(&inout[a.len()..].iter().map(|z| bits(*z)).collect::<Vec<_>>(),
                &b[a.len()..].iter().map(|z| bits(*z)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn located(list in prop::collection::vec((-3i32..3, 0i32..9, -3i32..3, 0i32..9), 0..50)) {
        for (handle, better) in [(MINLOC, i32::lt as fn(&i32, &i32) -> bool), (MAXLOC, i32::gt)] {
            let naive = |a: (i32, i32), b: (i32, i32)| match (better(&a.0, &b.0), better(&b.0, &a.0)) {
                (true, _) => a,
                (_, true) => b,
                _ => (a.0, a.1.min(b.1)),
            };
            let a: Vec<[i32; 2]> = list.iter().map(|x| [x.0, x.1]).collect();
            let b: Vec<[i32; 2]> = list.iter().map(|x| [x.2, x.3]).collect();
            check(handle, &builtin(Named::TwoInt), &a, &b, |a, b| naive((a[0], a[1]), (b[0], b[1])).into());
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct DoubleInt {
    value: f64,
    index: i32,
    /// What C leaves undefined; no reduction may touch it.
    padding: u32,
}

#[test]
fn pairs_with_padding_are_reduced_from_arrays_and_packed_streams() {
    let pair = |value: f64, index| DoubleInt { value, index, padding: 0xDEAD_BEEF };
    // More than one portion of the temporary.
    let count = 5000;
    let mut input: Vec<DoubleInt> = (0..count).map(|i| pair(f64::from(i % 7), i)).collect();
    let start: Vec<DoubleInt> = (0..count).map(|i| pair(f64::from(i % 5), 1)).collect();
    let expected: Vec<DoubleInt> = (0..count)
        .map(|i| match ((i % 7), (i % 5)) {
            (a, b) if a > b => pair(f64::from(a), i),
            (a, b) if a < b => pair(f64::from(b), 1),
            (_, b) => pair(f64::from(b), i.min(1)),
        })
        .collect();
    let datatype = builtin(Named::DoubleInt);
    let mut inout = start.clone();
    op(MAXLOC).apply_at(&datatype, raw(&mut input), raw(&mut inout), count as u64).unwrap();
    assert_eq!(inout, expected);
    let mut packed = vec![0u8; 12 * count as usize];
    Segment::elements_at(raw(&mut input), count as u64, &datatype).pack(Sink::from(&mut packed[..]));
    let mut inout = start;
    op(MAXLOC).apply_packed_at(&datatype, Source::from(&packed[..]), raw(&mut inout), count as u64).unwrap();
    assert_eq!(inout, expected);
    assert!(
        op(MAXLOC)
            .apply_packed_at(&datatype, Source::from(&packed[1..]), raw(&mut inout), count as u64)
            .is_err()
    );
}

#[test]
fn user_operations_see_whole_elements_of_derived_types() {
    // Every second integer of four, beginning with the second: [_, x, _, y].
    let datatype = Datatype::hindexed(&[1, 1], &[4, 12], &Datatype::of::<i32>()).unwrap();
    let datatype = Datatype::resized(&datatype, 0, 16).unwrap();
    let add = Op::user(
        |input, inout, count, datatype| {
            for i in 0..count as isize {
                for at in [4, 12] {
                    let at = i * datatype.extent() as isize + at;
                    // SAFETY: both arrays hold `count` elements, and the datatype has integers at these places.
                    unsafe {
                        let (input, inout) = (input.offset(at).cast::<i32>(), inout.offset(at).cast::<i32>());
                        inout.write_unaligned(input.read_unaligned() - 2 * inout.read_unaligned());
                    }
                }
            }
        },
        false,
    );
    assert!(!add.is_commutative() && op(SUM).is_commutative());
    let count = 3000i32;
    let mut input: Vec<i32> = (0..4 * count).collect();
    let mut inout = vec![1i32; 4 * count as usize];
    let expected: Vec<i32> = (0..4 * count).map(|i| if i % 2 == 1 { i - 2 } else { 1 }).collect();
    let mut packed = vec![0u8; 8 * count as usize];
    Segment::elements_at(raw(&mut input), count as u64, &datatype).pack(Sink::from(&mut packed[..]));
    add.apply_packed_at(&datatype, Source::from(&packed[..]), raw(&mut inout), count as u64).unwrap();
    assert_eq!(inout, expected);
    inout.fill(1);
    add.apply_at(&datatype, raw(&mut input), raw(&mut inout), count as u64).unwrap();
    assert_eq!(inout, expected);
}

#[test]
fn logical_values_and_half_precision() {
    let (a, b) = ([0u8, 0, 7, 1], [0u8, 3, 0, 1]);
    check(LAND, &builtin(Named::CBool), &a, &b, |a, b| (a != 0 && b != 0) as u8);
    check(LXOR, &builtin(Named::CBool), &a, &b, |a, b| ((a != 0) ^ (b != 0)) as u8);
    let wide = |x: [u8; 4]| x.map(u32::from);
    check(LOR, &builtin(Named::Logical), &wide(a), &wide(b), |a, b| (a != 0 || b != 0) as u32);
    // 1.5 + 2.25 = 3.75, -4 + 0.5 = -3.5
    let (a, b) = ([0x3e00u16, 0xc400], [0x4080u16, 0x3800]);
    check(SUM, &builtin(Named::Real2), &a, &b, |a, _| if a == 0x3e00 { 0x4380 } else { 0xc300 });
    check(MAX, &builtin(Named::Real2), &a, &b, |_, b| b);
}

#[test]
fn what_other_libraries_compute_is_computed_unless_it_is_strict() {
    let (a, b): (Vec<i8>, Vec<i8>) = (i8::MIN..=i8::MAX).map(|a| (a, a.wrapping_mul(37))).unzip();
    let char = builtin(Named::Char);
    check(SUM, &char, &a, &b, i8::wrapping_add);
    check(MIN, &char, &a, &b, i8::min);
    check(BXOR, &char, &a, &b, |a, b| a ^ b);
    check(LAND, &char, &a, &b, |a, b| (a != 0 && b != 0) as i8);
    let (a, b): (Vec<u8>, Vec<u8>) = a.iter().zip(&b).map(|(a, b)| (*a as u8, *b as u8)).unzip();
    check(MAX, &Datatype::byte(), &a, &b, u8::max);
    check(PROD, &Datatype::byte(), &a, &b, u8::wrapping_mul);
    let addresses = [0i64, 0, i64::MIN, 1];
    check(LXOR, &builtin(Named::Aint), &addresses, &[0, 1 << 40, 0, 5], |a, b| ((a != 0) != (b != 0)) as i64);
    for (handle, datatype) in [(SUM, char), (MAX, Datatype::byte()), (LOR, builtin(Named::Count))] {
        let error = op(handle).check_strict(&datatype).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Op);
    }
    assert!(op(SUM).check_strict(&Datatype::of::<i8>()).is_ok());
}

#[test]
fn operations_on_the_wrong_types_are_refused_by_name() {
    let (mut a, mut b) = ([1u8; 64], [2u8; 64]);
    let vector = Datatype::contiguous(2, &Datatype::of::<i32>()).unwrap();
    for (handle, datatype, word) in [
        (SUM, builtin(Named::Wchar), "MPI_SUM on MPI_WCHAR"),
        (BAND, builtin(Named::Character), "MPI_BAND on MPI_CHARACTER"),
        (LAND, builtin(Named::Byte), "MPI_LAND on MPI_BYTE"),
        (BAND, builtin(Named::Double), "MPI_BAND on MPI_DOUBLE"),
        (MAXLOC, builtin(Named::Int), "MPI_MAXLOC on MPI_INT"),
        (MAX, builtin(Named::CDoubleComplex), "MPI_MAX on MPI_C_DOUBLE_COMPLEX"),
        (LAND, builtin(Named::Double), "MPI_LAND on MPI_DOUBLE"),
        (SUM, vector, "MPI_SUM on the derived type"),
    ] {
        let error = op(handle).apply_at(&datatype, raw(&mut a), raw(&mut b), 1).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Op);
        assert!(error.to_string().contains(word), "{error}");
    }
    assert_eq!(b, [2; 64]);
    assert_eq!(op(SUM).predefined(), Some(SUM));
}

#[test]
fn every_number_of_the_typed_api_is_its_datatype() {
    fn matches<T: Equivalence>() {
        let datatype = Datatype::of::<T>();
        assert_eq!((datatype.size(), datatype.extent()), (size_of::<T>() as u64, size_of::<T>() as i64));
        assert!(datatype.named().is_some() && is_dense::<T>());
    }
    matches::<i8>();
    matches::<u8>();
    matches::<i16>();
    matches::<u16>();
    matches::<i32>();
    matches::<u32>();
    matches::<i64>();
    matches::<u64>();
    matches::<isize>();
    matches::<usize>();
    matches::<f32>();
    matches::<f64>();
}
