//! Segments against a naive type map: random nested types, random counts, random split points.
//!
//! The oracle expands every type element by element into (offset, length) entries, exactly as MPI-5.0 §5.1
//! defines it, and knows nothing of layouts. Guard bytes stand around and between everything.

use posthaste_core::buffer::UserBuf;
use posthaste_core::datatype::{Datatype, Order, Segment, copy};
use posthaste_os::mem::{Sink, Source};
use proptest::prelude::*;
use std::collections::HashMap;

/// A type and what the standard says about it.
#[derive(Clone, Debug)]
struct Model {
    datatype: Datatype,
    /// Offset and length of every basic element, in order.
    map: Vec<(i64, u64)>,
    lb: i64,
    ub: i64,
    marked: bool,
    align: i64,
}

impl Model {
    fn builtin(handle: u32) -> Self {
        let datatype = Datatype::from_abi(handle).unwrap();
        let builtin = datatype.builtin().unwrap();
        let (align, extent) = (builtin.align as i64, builtin.extent);
        let map = match handle {
            0x22c => vec![(0, 2), (4, 4)],
            0x229 => vec![(0, 8), (8, 4)],
            _ => vec![(0, builtin.size)],
        };
        Self { datatype, map, lb: 0, ub: extent, marked: false, align }
    }

    fn extent(&self) -> i64 {
        self.ub - self.lb
    }

    fn size(&self) -> u64 {
        self.map.iter().map(|(_, len)| len).sum()
    }

    fn is_void(&self) -> bool {
        self.map.is_empty() && !self.marked
    }

    /// The type made of copies of children at displacements in bytes, in order.
    fn of(datatype: Datatype, copies: &[(i64, &Self)]) -> Self {
        let copies: Vec<_> = copies.iter().filter(|(_, child)| !child.is_void()).collect();
        let marked = copies.iter().any(|(_, child)| child.marked);
        let bounds = copies.iter().filter(|(_, child)| child.marked == marked);
        let lb = bounds.clone().map(|(at, child)| at + child.lb).min().unwrap_or(0);
        let mut ub = bounds.map(|(at, child)| at + child.ub).max().unwrap_or(0);
        let align = copies.iter().map(|(_, child)| child.align).max().unwrap_or(1);
        if !marked {
            while (ub - lb) % align != 0 {
                ub += 1;
            }
        }
        let map = copies
            .iter()
            .flat_map(|(by, child)| child.map.iter().map(move |(at, len)| (at + by, *len)))
            .collect();
        Self { datatype, map, lb, ub, marked, align }
    }

    /// The offset of every packed byte of `count` elements.
    fn bytes(&self, count: u64) -> Vec<i64> {
        (0..count as i64)
            .flat_map(|i| self.map.iter().map(move |(at, len)| (at + i * self.extent(), *len)))
            .flat_map(|(at, len)| (0..len as i64).map(move |byte| at + byte))
            .collect()
    }
}

/// What to build; displacements are kept apart so that receives do not overlap.
#[derive(Clone, Debug)]
enum Recipe {
    Builtin(u32),
    Contiguous(i64, Box<Self>),
    Vector(i64, i64, i64, Box<Self>),
    Hvector(i64, i64, i64, Box<Self>),
    Indexed(Vec<(i64, i64)>, Box<Self>),
    Hindexed(Vec<(i64, i64)>, Box<Self>),
    IndexedBlock(i64, Vec<i64>, Box<Self>),
    Struct(Vec<(i64, i64, Self)>),
    Resized(i64, i64, Box<Self>),
    Dup(Box<Self>),
    Subarray(Vec<(i64, i64, i64)>, bool, Box<Self>),
}

fn build(recipe: &Recipe) -> Model {
    match recipe {
        Recipe::Builtin(handle) => Model::builtin(*handle),
        Recipe::Contiguous(count, child) => {
            let child = build(child);
            let datatype = Datatype::contiguous(*count, &child.datatype).unwrap();
            let copies: Vec<_> = (0..*count).map(|i| (i * child.extent(), &child)).collect();
            Model::of(datatype, &copies)
        }
        Recipe::Vector(count, length, stride, child) => {
            let child = build(child);
            let datatype = Datatype::vector(*count, *length, *stride, &child.datatype).unwrap();
            blocks(datatype, (0..*count).map(|i| (i * stride * child.extent(), *length)), &child)
        }
        Recipe::Hvector(count, length, stride, child) => {
            let child = build(child);
            let datatype = Datatype::hvector(*count, *length, *stride, &child.datatype).unwrap();
            blocks(datatype, (0..*count).map(|i| (i * stride, *length)), &child)
        }
        Recipe::Indexed(list, child) => {
            let child = build(child);
            let (at, lengths): (Vec<_>, Vec<_>) = list.iter().copied().unzip();
            let datatype = Datatype::indexed(&lengths, &at, &child.datatype).unwrap();
            blocks(datatype, list.iter().map(|(at, length)| (at * child.extent(), *length)), &child)
        }
        Recipe::Hindexed(list, child) => {
            let child = build(child);
            let (at, lengths): (Vec<_>, Vec<_>) = list.iter().copied().unzip();
            let datatype = Datatype::hindexed(&lengths, &at, &child.datatype).unwrap();
            blocks(datatype, list.iter().copied(), &child)
        }
        Recipe::IndexedBlock(length, list, child) => {
            let child = build(child);
            let datatype = Datatype::indexed_block(*length, list, &child.datatype).unwrap();
            blocks(datatype, list.iter().map(|at| (at * child.extent(), *length)), &child)
        }
        Recipe::Struct(list) => {
            let models: Vec<Model> = list.iter().map(|(_, _, recipe)| build(recipe)).collect();
            let lengths: Vec<i64> = list.iter().map(|entry| entry.1).collect();
            let at: Vec<i64> = list.iter().map(|entry| entry.0).collect();
            let types: Vec<Datatype> = models.iter().map(|model| model.datatype.clone()).collect();
            let datatype = Datatype::structure(&lengths, &at, &types).unwrap();
            let copies: Vec<_> = models
                .iter()
                .zip(list)
                .flat_map(|(model, (at, length, _))| {
                    (0..*length).map(move |i| (at + i * model.extent(), model))
                })
                .collect();
            Model::of(datatype, &copies)
        }
        Recipe::Resized(lb, extent, child) => {
            let child = build(child);
            let datatype = Datatype::resized(&child.datatype, *lb, *extent).unwrap();
            Model { datatype, lb: *lb, ub: lb + extent, marked: true, ..child }
        }
        Recipe::Dup(child) => {
            let child = build(child);
            Model { datatype: Datatype::dup(&child.datatype).unwrap(), ..child }
        }
        Recipe::Subarray(dimensions, c_order, child) => subarray(dimensions, *c_order, &build(child)),
    }
}

fn blocks(datatype: Datatype, list: impl Iterator<Item = (i64, i64)>, child: &Model) -> Model {
    let copies: Vec<_> =
        list.flat_map(|(at, length)| (0..length).map(move |i| (at + i * child.extent(), child))).collect();
    Model::of(datatype, &copies)
}

fn subarray(dimensions: &[(i64, i64, i64)], c_order: bool, child: &Model) -> Model {
    let column = |f: fn(&(i64, i64, i64)) -> i64| dimensions.iter().map(f).collect::<Vec<_>>();
    let (sizes, subsizes, starts) = (column(|d| d.0), column(|d| d.1), column(|d| d.2));
    let order = if c_order { Order::C } else { Order::Fortran };
    let datatype = Datatype::subarray(&sizes, &subsizes, &starts, order, &child.datatype).unwrap();
    // Slowest dimension first.
    let mut axes: Vec<usize> = (0..sizes.len()).collect();
    if !c_order {
        axes.reverse();
    }
    let mut places = vec![0i64];
    for axis in axes {
        places = places
            .iter()
            .flat_map(|place| (0..subsizes[axis]).map(move |i| (place, i)))
            .map(|(place, i)| place * sizes[axis] + starts[axis] + i)
            .collect();
    }
    let copies: Vec<_> = places.iter().map(|place| (place * child.extent(), child)).collect();
    let ub = sizes.iter().product::<i64>() * child.extent();
    Model { lb: 0, ub, marked: true, ..Model::of(datatype, &copies) }
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let builtin =
        prop::sample::select(vec![0x247u32, 0x208, 0x209, 0x214, 0x216, 0x220, 0x22c, 0x229, 0x2ca]);
    builtin.prop_map(Recipe::Builtin).prop_recursive(5, 24, 4, |inner| {
        let child = inner.clone().prop_map(Box::new);
        let list = prop::collection::vec((-9i64..40, 0i64..4), 0..6);
        prop_oneof![
            (0i64..6, child.clone()).prop_map(|(n, c)| Recipe::Contiguous(n, c)),
            (0i64..6, 0i64..4, -6i64..9, child.clone()).prop_map(|(n, l, s, c)| Recipe::Vector(n, l, s, c)),
            (0i64..6, 0i64..4, -50i64..70, child.clone())
                .prop_map(|(n, l, s, c)| Recipe::Hvector(n, l, s, c)),
            (list.clone(), child.clone()).prop_map(|(list, c)| Recipe::Indexed(list, c)),
            (list, child.clone()).prop_map(|(list, c)| Recipe::Hindexed(list, c)),
            (0i64..4, prop::collection::vec(-9i64..40, 0..6), child.clone())
                .prop_map(|(l, list, c)| Recipe::IndexedBlock(l, list, c)),
            prop::collection::vec((-40i64..90, 0i64..3, inner), 0..4).prop_map(Recipe::Struct),
            (-20i64..20, -5i64..90, child.clone()).prop_map(|(lb, e, c)| Recipe::Resized(lb, e, c)),
            child.clone().prop_map(Recipe::Dup),
            (prop::collection::vec((1i64..5, 1i64..5, 0i64..5), 1..4), any::<bool>(), child).prop_map(
                |(dimensions, c_order, c)| {
                    let fit = |(subsize, extra, start): (i64, i64, i64)| {
                        (subsize + extra, subsize, start.min(extra))
                    };
                    Recipe::Subarray(dimensions.into_iter().map(fit).collect(), c_order, c)
                }
            ),
        ]
    })
}

/// Memory that covers `offsets`, with room around, and the base such that offset 0 is the type's origin.
struct Arena {
    memory: Vec<u8>,
    origin: i64,
}

impl Arena {
    const ROOM: i64 = 64;

    fn new(offsets: &[i64], mut fill: impl FnMut(usize) -> u8) -> Self {
        let low = offsets.iter().copied().min().unwrap_or(0).min(0);
        let high = offsets.iter().copied().max().unwrap_or(0).max(0);
        let len = (high - low + 1 + 2 * Self::ROOM) as usize;
        Self { memory: (0..len).map(&mut fill).collect(), origin: Self::ROOM - low }
    }

    fn buf(&mut self) -> UserBuf {
        // SAFETY: every offset of the model lies within the arena, which outlives the segments on it.
        unsafe { UserBuf::new(self.memory.as_mut_ptr().wrapping_offset(self.origin as isize)) }
    }

    fn at(&self, offset: i64) -> u8 {
        self.memory[(self.origin + offset) as usize]
    }
}

fn noise(i: usize) -> u8 {
    (i.wrapping_mul(2_654_435_761) >> 7) as u8
}

/// Cuts `len` into pieces by a list of random lengths, used in turn.
fn cuts(len: usize, sizes: &[usize]) -> Vec<usize> {
    let (mut left, mut cuts) = (len, Vec::new());
    for size in sizes.iter().cycle() {
        if left == 0 {
            break;
        }
        let now = (*size).clamp(1, left);
        cuts.push(now);
        left -= now;
    }
    cuts
}

/// What a receive may leave behind: bytes described once have one value, bytes described more often any of
/// theirs (such receives are erroneous, MPI-5.0 §4.1.11), all others their old one.
struct Outcome {
    memory: Vec<u8>,
    repeated: HashMap<usize, Vec<u8>>,
}

impl Outcome {
    fn new(target: &Arena, writes: impl Iterator<Item = (i64, u8)>) -> Self {
        let (mut memory, mut written) = (target.memory.clone(), vec![false; target.memory.len()]);
        let mut repeated = HashMap::<usize, Vec<u8>>::new();
        for (offset, byte) in writes {
            let at = (target.origin + offset) as usize;
            if written[at] {
                repeated.entry(at).or_insert_with(|| vec![memory[at]]).push(byte);
            }
            (memory[at], written[at]) = (byte, true);
        }
        Self { memory, repeated }
    }

    fn allows(&self, memory: &[u8]) -> bool {
        memory.iter().zip(&self.memory).enumerate().all(|(at, (got, expected))| {
            got == expected || self.repeated.get(&at).is_some_and(|values| values.contains(got))
        })
    }
}

/// Mostly a few elements, sometimes enough for the loops that work on many at once.
fn counts() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0u64..6, 2 => 6u64..100, 1 => 100u64..4000]
}

/// Lengths of pieces: short ones cut everywhere, long ones let the loops run.
fn piece_sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![3 => 1usize..200, 1 => 200usize..60_000], 1..8)
}

/// A model and a count that keep the test small.
fn sized(recipe: &Recipe, count: u64) -> Option<(Model, u64)> {
    let model = build(recipe);
    let span = model.extent().abs().max(1) * count as i64;
    (model.size() * count < 60_000 && span < 4_000_000).then_some((model, count))
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
        let Some((model, count)) = sized(&recipe, count) else { return Ok(()) };
        let offsets = model.bytes(count);
        let mut arena = Arena::new(&offsets, noise);
        let expected: Vec<u8> = offsets.iter().map(|at| arena.at(*at)).collect();

        let mut segment = Segment::new(arena.buf(), count, &model.datatype);
        prop_assert_eq!(segment.len(), expected.len() as u64);
        let mut packed = vec![0xEE; expected.len() + 16];
        let mut at = 0;
        for now in cuts(expected.len(), &sizes) {
            prop_assert_eq!(segment.pack(Sink::from(&mut packed[at..at + now])), now);
            at += now;
        }
        prop_assert_eq!(segment.pack(Sink::from(&mut packed[at..])), 0);
        prop_assert_eq!(&packed[..at], &expected[..]);
        prop_assert!(packed[at..].iter().all(|byte| *byte == 0xEE));

        // Unpack the same bytes; what is not described stays as it was.
        let mut target = Arena::new(&offsets, |_| 0xA5);
        let outcome = Outcome::new(&target, offsets.iter().copied().zip(expected.iter().copied()));
        let mut segment = Segment::new(target.buf(), count, &model.datatype);
        let mut at = 0;
        for now in cuts(expected.len(), &sizes) {
            prop_assert_eq!(segment.unpack(Source::from(&expected[at..at + now])), now);
            at += now;
        }
        prop_assert_eq!(segment.unpack(Source::from(&[1u8, 2][..])), 0);
        prop_assert!(outcome.allows(&target.memory));
    }

    #[test]
    fn seek_runs_and_rest(recipe in recipe(), count in counts(), seed in any::<usize>(), most in 1usize..40) {
        let Some((model, count)) = sized(&recipe, count) else { return Ok(()) };
        let offsets = model.bytes(count);
        let mut arena = Arena::new(&offsets, noise);
        let buf = arena.buf();
        let mut segment = Segment::new(buf, count, &model.datatype);
        let start = if offsets.is_empty() { 0 } else { seed % offsets.len() };
        segment.seek(start as u64);

        let rest = &offsets[start..];
        let one_run = rest.windows(2).all(|pair| pair[1] == pair[0] + 1);
        match segment.contiguous_rest() {
            Some((at, len)) => {
                prop_assert!(one_run);
                prop_assert_eq!(len, rest.len() as u64);
                if let Some(first) = rest.first() {
                    prop_assert_eq!(at.address(), buf.offset(*first as isize).address());
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
        let expected: Vec<usize> = rest.iter().map(|at| buf.offset(*at as isize).address()).collect();
        prop_assert_eq!(addresses, expected);
    }

    #[test]
    fn copy_between_any_two(a in recipe(), b in recipe(), counts in (counts(), counts())) {
        let (Some((a, count_a)), Some((b, count_b))) = (sized(&a, counts.0), sized(&b, counts.1)) else {
            return Ok(());
        };
        let (from, to) = (a.bytes(count_a), b.bytes(count_b));
        let mut source = Arena::new(&from, noise);
        let mut target = Arena::new(&to, |_| 0xA5);
        let outcome = Outcome::new(&target, to.iter().copied().zip(from.iter().map(|at| source.at(*at))));
        let mut from = Segment::new(source.buf(), count_a, &a.datatype);
        let mut to = Segment::new(target.buf(), count_b, &b.datatype);
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
