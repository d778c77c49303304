//! Segments against the type map: sizes and bounds, packing and unpacking in random pieces, lists of runs, copies
//! from type to type, absolute addresses.

use crate::oracle::{Arena, Model, Outcome, build, counts, cuts, noise, piece_sizes, recipe, sized};
use posthaste_core::datatype::{Datatype, copy};
use posthaste_os::mem::{Sink, Source};
use proptest::prelude::*;

/// Packed bytes that a test works with at most.
const MOST: u64 = 60_000;

/// Packs `count` elements in pieces of the given sizes, used in turn, and unpacks them so elsewhere. Nothing else
/// changes, on either side.
pub(crate) fn pack_and_unpack(model: &Model, count: u64, sizes: &[usize]) {
    let offsets = model.bytes(count);
    let mut arena = Arena::new(&offsets, noise);
    let before = arena.memory.clone();
    let expected: Vec<u8> = offsets.iter().map(|at| arena.at(*at)).collect();

    let mut segment = arena.segment(model, count);
    assert_eq!(segment.len(), expected.len() as u64);
    let mut packed = vec![0xEE; expected.len() + 16];
    let mut at = 0;
    for now in cuts(expected.len(), sizes) {
        assert_eq!(segment.pack(Sink::from(&mut packed[at..at + now])), now);
        at += now;
    }
    assert_eq!(segment.pack(Sink::from(&mut packed[at..])), 0);
    assert_eq!(&packed[..at], &expected[..]);
    assert!(packed[at..].iter().all(|byte| *byte == 0xEE));
    assert_eq!(arena.memory, before);

    let mut target = Arena::new(&offsets, |_| 0xA5);
    let outcome = Outcome::new(&target, offsets.iter().copied().zip(expected.iter().copied()));
    let mut segment = target.segment(model, count);
    let mut at = 0;
    for now in cuts(expected.len(), sizes) {
        assert_eq!(segment.unpack(Source::from(&expected[at..at + now])), now);
        at += now;
    }
    assert_eq!(segment.unpack(Source::from(&[1u8, 2][..])), 0);
    assert!(outcome.allows(&target.memory));
}

proptest! {
    #[test]
    fn size_and_bounds_follow_the_type_map(recipe in recipe()) {
        let model = build(&recipe);
        let datatype = &model.datatype;
        prop_assert_eq!(datatype.size(), model.size());
        prop_assert_eq!((datatype.lb(), datatype.ub()), (model.lb, model.ub));
        prop_assert_eq!(datatype.extent(), model.extent());
        let low = model.map.iter().map(|(at, _)| *at).min().unwrap_or(0);
        let high = model.map.iter().map(|(at, len)| at + *len as i64).max().unwrap_or(0);
        prop_assert_eq!((datatype.true_lb(), datatype.true_extent()), (low, high - low));
        prop_assert_eq!(datatype.elements(), model.map.len() as u64);
        let mut bytes = 0;
        for (i, (_, len)) in model.map.iter().enumerate().take(50) {
            prop_assert_eq!(datatype.elements_in(bytes), Some(i as u64));
            if *len > 1 {
                prop_assert_eq!(datatype.elements_in(bytes + len - 1), None);
            }
            bytes += len;
        }
    }

    #[test]
    fn pack_and_unpack_in_pieces(recipe in recipe(), count in counts(), sizes in piece_sizes()) {
        if let Some((model, count)) = sized(&recipe, count, MOST) {
            pack_and_unpack(&model, count, &sizes);
        }
    }

    #[test]
    fn absolute_addresses(recipe in recipe(), count in counts(), sizes in piece_sizes()) {
        let Some((model, count)) = sized(&recipe, count, MOST) else { return Ok(()) };
        let offsets = model.bytes(count);
        let mut arena = Arena::new(&offsets, noise);
        let expected: Vec<u8> = offsets.iter().map(|at| arena.at(*at)).collect();
        let mut segment = arena.absolute(&model, count);
        let mut packed = vec![0; expected.len()];
        let mut at = 0;
        for now in cuts(expected.len(), &sizes) {
            prop_assert_eq!(segment.pack(Sink::from(&mut packed[at..at + now])), now);
            at += now;
        }
        prop_assert_eq!(packed, expected);
    }

    #[test]
    fn seek_runs_and_rest(recipe in recipe(), count in counts(), seed in any::<usize>(), most in 1usize..40) {
        let Some((model, count)) = sized(&recipe, count, MOST) else { return Ok(()) };
        let offsets = model.bytes(count);
        let mut arena = Arena::new(&offsets, noise);
        let mut segment = arena.segment(&model, count);
        let start = if offsets.is_empty() { 0 } else { seed % offsets.len() };
        segment.seek(start as u64);

        let rest = &offsets[start..];
        let one_run = rest.windows(2).all(|pair| pair[1] == pair[0] + 1);
        match segment.rest() {
            Some((at, len)) => {
                prop_assert!(one_run);
                prop_assert_eq!(len, rest.len() as u64);
                if let Some(first) = rest.first() {
                    prop_assert_eq!(at, arena.address(*first));
                }
            }
            None => prop_assert!(!rest.is_empty()),
        }
        let mut list = Vec::new();
        let mut runs = 0;
        while segment.remaining() > 0 {
            let before = list.len();
            let bytes = segment.runs(most, 777, &mut list);
            prop_assert!(bytes > 0 && bytes <= 777);
            prop_assert!(list.len() - before <= most);
            runs += list.len() - before;
        }
        prop_assert_eq!(runs, list.len());
        let addresses: Vec<usize> = list.iter().flat_map(|(at, len)| *at..at + len).collect();
        let expected: Vec<usize> = rest.iter().map(|at| arena.address(*at)).collect();
        prop_assert_eq!(addresses, expected);
    }

    #[test]
    fn copy_between_any_two(a in recipe(), b in recipe(), counts in (counts(), counts())) {
        let (Some((a, count_a)), Some((b, count_b))) = (sized(&a, counts.0, MOST), sized(&b, counts.1, MOST)) else {
            return Ok(());
        };
        let (from, to) = (a.bytes(count_a), b.bytes(count_b));
        let mut source = Arena::new(&from, noise);
        let mut target = Arena::new(&to, |_| 0xA5);
        let outcome = Outcome::new(&target, to.iter().copied().zip(from.iter().map(|at| source.at(*at))));
        let mut from = source.segment(&a, count_a);
        let mut to = target.segment(&b, count_b);
        let len = copy(&mut from, &mut to);
        prop_assert_eq!(len, from.len().min(to.len()));
        prop_assert_eq!((from.position(), to.position()), (len, len));
        prop_assert!(outcome.allows(&target.memory));
    }

    /// However a list of bytes was spelled, the layout is the same.
    #[test]
    fn the_layout_depends_on_the_bytes_alone(recipe in recipe()) {
        let model = build(&recipe);
        if model.map.len() > 500 || model.map.is_empty() {
            return Ok(());
        }
        let (at, lengths): (Vec<i64>, Vec<i64>) = model.map.iter().map(|(at, len)| (*at, *len as i64)).unzip();
        let spelled = Datatype::hindexed(&lengths, &at, &Datatype::byte()).unwrap();
        prop_assert_eq!(spelled.layout(), model.datatype.layout(), "{} / {}", spelled.layout(), model.datatype.layout());
    }
}
