//! Constructors of datatypes: wrong arguments, contents, sizes beyond 32 bits, deep nesting, one layout for
//! one set of bytes (MPI-5.0 chapter 5).

use posthaste_core::buffer::Base;
use posthaste_core::datatype::{Builtin, Combiner, Datatype, Dimension, Distribution, Order, Segment};
use posthaste_core::error::{Error, ErrorClass};
use posthaste_core::named::Named;
use posthaste_os::mem::{Sink, Source};

fn builtin(named: Named) -> Datatype {
    named.into()
}

fn int() -> Datatype {
    builtin(Named::Int)
}

fn double() -> Datatype {
    builtin(Named::Double)
}

#[track_caller]
fn refused(result: Result<Datatype, Error>, class: ErrorClass, words: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.class(), class, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "{error:?} does not say {word:?}");
    }
}

#[test]
fn predefined_types_have_the_sizes_of_the_platform() {
    assert_eq!(Builtin::all().len(), 70);
    for named in Named::ALL {
        let datatype = Datatype::from(named);
        assert_eq!(datatype.named(), Some(named));
        assert_eq!(Named::from_the_wire(named.on_the_wire()), Some(named));
        assert!(datatype.name().starts_with("MPI_"));
        assert!(datatype.is_committed());
        assert_eq!(datatype.layout().size(), datatype.size(), "{datatype:?}");
    }
    assert_eq!((Named::from_the_wire(0), Named::from_the_wire(71)), (None, None));
    for (handle, size, extent) in [
        (Named::DoubleInt, 12, 16),
        (Named::ShortInt, 6, 8),
        (Named::LongDoubleInt, 20, 32),
        (Named::TwoInt, 8, 8),
        (Named::LongDouble, 16, 16),
        (Named::CLongDoubleComplex, 32, 32),
        (Named::Wchar, 4, 4),
        (Named::Complex4, 4, 4),
        (Named::Complex32, 32, 32),
    ] {
        let datatype = builtin(handle);
        assert_eq!((datatype.size(), datatype.extent()), (size, extent), "{datatype:?}");
    }
    assert_eq!(Datatype::of::<u64>().name(), "MPI_UINT64_T");
    assert_eq!(Datatype::of::<f32>().name(), "MPI_FLOAT");
}

#[test]
fn wrong_arguments_are_named() {
    let int = int();
    refused(Datatype::contiguous(-1, &int), ErrorClass::Count, &["count is -1", "0 or more"]);
    refused(Datatype::vector(2, -3, 1, &int), ErrorClass::Arg, &["blocklength is -3"]);
    refused(Datatype::indexed(&[1, -2], &[0, 1], &int), ErrorClass::Arg, &["-2 at index 1"]);
    refused(Datatype::hindexed(&[1], &[0, 1], &int), ErrorClass::Arg, &["array_of_displacements is 2"]);
    refused(
        Datatype::structure(&[1, 1], &[0, 8], std::slice::from_ref(&int)),
        ErrorClass::Arg,
        &["array_of_types is 1", "2 block lengths"],
    );
    let sub = |sizes: &[i64], subsizes: &[i64], starts: &[i64]| {
        Datatype::subarray(sizes, subsizes, starts, Order::C, &int)
    };
    refused(sub(&[], &[], &[]), ErrorClass::Arg, &["ndims is 0"]);
    refused(sub(&[4, 0], &[1, 1], &[0, 0]), ErrorClass::Arg, &["array_of_sizes", "0 in dimension 1"]);
    refused(sub(&[4, 4], &[1, 5], &[0, 0]), ErrorClass::Arg, &["array_of_subsizes", "5 in dimension 1"]);
    refused(sub(&[4, 4], &[3, 1], &[2, 0]), ErrorClass::Arg, &["array_of_starts", "2 in dimension 0"]);
    refused(Datatype::vector(3, 1, i64::MAX / 2, &int), ErrorClass::Arg, &["stride", "63 bits"]);
    refused(Datatype::hvector(3, 1, i64::MAX / 2, &int), ErrorClass::Arg, &["63 bits"]);
    refused(Datatype::contiguous(i64::MAX, &int), ErrorClass::Arg, &["63 bits"]);
    refused(Datatype::resized(&int, i64::MAX, 1), ErrorClass::Arg, &["63 bits"]);
    assert!(Datatype::hindexed(&[1, 1], &[i64::MIN, i64::MAX - 8], &int).is_err());
}

#[test]
fn a_grid_of_more_processes_than_can_be_counted_is_refused() {
    let dimension = |processes| Dimension { size: 7, distribution: Distribution::Cyclic, darg: 1, processes };
    let grid = [dimension(1 << 40), dimension(1 << 40)];
    refused(Datatype::darray(i64::MAX, 0, &grid, Order::C, &int()), ErrorClass::Arg, &["array_of_psizes"]);
}

#[test]
fn uncommitted_types_are_refused_for_communication() {
    let pair = Datatype::contiguous(2, &int()).unwrap();
    let error = pair.check_committed().unwrap_err();
    assert_eq!(error.class(), ErrorClass::Type);
    assert!(error.to_string().contains("MPI_Type_contiguous"), "{error}");
    pair.set_name("pair").unwrap();
    assert!(pair.check_committed().unwrap_err().to_string().contains("pair"));
    pair.commit();
    assert!(pair.check_committed().is_ok());
    assert!(Datatype::dup(&pair).unwrap().is_committed());
    assert_eq!(pair.name(), "pair");
    assert!(int().set_name("mine").is_err());
}

#[test]
fn contents_come_back_as_they_were_given() {
    let double = double();
    let vector = Datatype::vector(3, 2, -5, &double).unwrap();
    let contents = vector.contents().unwrap();
    assert_eq!(contents.combiner, Combiner::Vector);
    assert_eq!(contents.ints, [3, 2, -5]);
    assert_eq!(contents.envelope(), (3, 0, 0, 1));
    assert!(contents.types[0].is_same(&double));

    let record = Datatype::structure(&[1, 2], &[0, 8], &[int(), vector.clone()]).unwrap();
    let contents = record.contents().unwrap();
    assert_eq!((&contents.ints[..], &contents.aints[..]), (&[2, 1, 2][..], &[0, 8][..]));
    assert_eq!(contents.envelope(), (3, 2, 0, 2));
    assert!(contents.types[1].is_same(&vector));

    let large = Datatype::hvector(3, 2, 100, &double).unwrap().from_large_counts();
    assert_eq!(large.contents().unwrap().envelope(), (0, 0, 3, 1));
    assert_eq!(large.contents().unwrap().split_large(), (vec![], vec![3, 2, 100]));

    let small = Datatype::subarray(&[4, 6], &[2, 3], &[1, 2], Order::Fortran, &double).unwrap();
    assert_eq!(small.contents().unwrap().ints, [2, 4, 6, 2, 3, 1, 2, 1]);
    let large = small.from_large_counts();
    assert_eq!(large.contents().unwrap().split_large(), (vec![2, 1], vec![4, 6, 2, 3, 1, 2]));

    let resized = Datatype::resized(&double, -8, 64).unwrap();
    assert_eq!(resized.contents().unwrap().aints, [-8, 64]);
    assert_eq!((resized.lb(), resized.ub(), resized.extent()), (-8, 56, 64));
    assert_eq!((resized.true_lb(), resized.true_extent()), (0, 8));
    assert!(double.contents().is_none());
}

#[test]
fn one_set_of_bytes_has_one_layout() {
    let double = double();
    // A face of an array of 6 x 5 x 4 doubles, spelled in five ways.
    let subarray = Datatype::subarray(&[6, 5, 4], &[6, 5, 2], &[0, 0, 1], Order::C, &double).unwrap();
    let row = Datatype::vector(5, 2, 4, &double).unwrap();
    let planes = Datatype::hvector(6, 1, 160, &row).unwrap();
    let shifted = Datatype::hindexed(&[1], &[8], &planes).unwrap();
    assert_eq!(subarray.layout(), shifted.layout());
    let pieces: Vec<i64> = (0..30).map(|i| 8 + 32 * i).collect();
    let blocks = Datatype::hindexed_block(2, &pieces, &double).unwrap();
    assert_eq!(subarray.layout(), blocks.layout());
    let types = vec![Datatype::contiguous(2, &double).unwrap(); 30];
    let record = Datatype::structure(&[1; 30], &pieces, &types).unwrap();
    assert_eq!(subarray.layout(), record.layout());
    let fortran = Datatype::subarray(&[4, 5, 6], &[2, 5, 6], &[1, 0, 0], Order::Fortran, &double).unwrap();
    assert_eq!(subarray.layout(), fortran.layout());
    assert_eq!(subarray.layout().to_string(), "@8 30 x +32 (16), 480 bytes in 30 runs");
}

#[test]
fn counts_beyond_31_bits_cost_nothing() {
    let vector = Datatype::vector(3 << 30, 1, 2, &double()).unwrap();
    assert_eq!((vector.size(), vector.extent()), (3 << 33, (3 << 34) - 8));
    assert_eq!(vector.elements_in(vector.size() - 8), Some((3 << 30) - 1));
    // The last few elements, moved in place: only their memory has to exist.
    let mut tail: Vec<u64> = (0..16).collect();
    // SAFETY: the positions packed below are the last five elements, which lie in `tail`.
    let base = unsafe { Base::new(tail.as_mut_ptr().cast::<u8>().wrapping_sub(((3 << 34) - 16) - 14 * 8)) };
    let mut segment = Segment::elements_at(base, 1, &vector);
    segment.seek(vector.size() - 40);
    let mut out = [0u8; 64];
    assert_eq!(segment.pack(Sink::from(&mut out[..])), 40);
    let values: Vec<u64> =
        out[..40].chunks(8).map(|bytes| u64::from_ne_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(values, [6, 8, 10, 12, 14]);
    segment.seek(vector.size() - 4);
    assert_eq!(segment.unpack(Source::from(&[0u8; 9][..])), 4);
    assert_eq!(tail[14], 14);
}

#[test]
fn deep_nesting_neither_recurses_nor_explodes() {
    // A hundred structures, each an integer before the next.
    let mut nested = int();
    for _ in 0..100 {
        nested = Datatype::structure(&[1, 1], &[0, 8], &[int(), nested]).unwrap();
    }
    assert_eq!(nested.size(), 404);
    assert_eq!(nested.elements_in(402), None);
    assert_eq!(nested.elements_in(400), Some(100));
    assert_eq!(nested.layout().to_string(), "@0 101 x +8 (4), 404 bytes in 101 runs");
    // Two at a time, 40 levels deep: two to the fortieth runs, forty loops.
    let mut doubled = Datatype::hvector(2, 1, 16, &double()).unwrap();
    let mut stride = 40;
    for _ in 0..39 {
        doubled = Datatype::hvector(2, 1, stride, &doubled).unwrap();
        stride = stride * 2 + 8;
    }
    assert_eq!(doubled.layout().runs(), 1 << 40);
    let mut out = [0u8; 64];
    let mut memory = [7u8; 1024];
    // SAFETY: the first eight runs lie within the first 1024 bytes.
    let mut segment = Segment::elements_at(unsafe { Base::new(memory.as_mut_ptr()) }, 1, &doubled);
    assert_eq!(segment.pack(Sink::from(&mut out[..])), 64);
    assert_eq!(out, [7; 64]);
    // A chain of a million types is dropped without using up the stack.
    let mut chain = int();
    for _ in 0..1_000_000 {
        chain = Datatype::dup(&chain).unwrap();
    }
    drop(chain);
}

#[test]
fn uniform_types_know_their_element() {
    let int = int();
    let vector = Datatype::vector(3, 1, 2, &int).unwrap();
    assert_eq!(vector.uniform().map(|builtin| builtin.named), Some(Named::Int));
    let mixed = Datatype::structure(&[1, 1], &[0, 16], &[vector.clone(), double()]).unwrap();
    assert!(mixed.uniform().is_none());
    let alike = Datatype::structure(&[1, 1], &[0, 40], &[vector, int]).unwrap();
    assert_eq!(alike.uniform().map(|builtin| builtin.named), Some(Named::Int));
}
