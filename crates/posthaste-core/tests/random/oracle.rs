//! The naive type map that every random test compares with, random recipes for types, and guarded memory.
//!
//! The oracle expands every type element by element into (offset, length) entries, exactly as MPI-5.0 §5.1 defines it,
//! and knows nothing of layouts.

use posthaste_core::buffer::Base;
use posthaste_core::datatype::{DEFAULT_DARG, Datatype, Dimension, Distribution, Order, Segment};
use posthaste_core::named::Named;
use proptest::prelude::*;
use std::collections::HashMap;

/// A type and what the standard says about it.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) datatype: Datatype,
    /// Offset and length of every basic element, in order.
    pub(crate) map: Vec<(i64, u64)>,
    pub(crate) lb: i64,
    pub(crate) ub: i64,
    marked: bool,
    align: i64,
}

impl Model {
    fn builtin(named: Named) -> Self {
        let datatype = Datatype::from(named);
        let builtin = datatype.builtin().unwrap();
        let (align, extent) = (builtin.align as i64, builtin.extent);
        let map = match named {
            Named::ShortInt => vec![(0, 2), (4, 4)],
            Named::DoubleInt => vec![(0, 8), (8, 4)],
            _ => vec![(0, builtin.size)],
        };
        Self { datatype, map, lb: 0, ub: extent, marked: false, align }
    }

    pub(crate) fn extent(&self) -> i64 {
        self.ub - self.lb
    }

    pub(crate) fn size(&self) -> u64 {
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
    pub(crate) fn bytes(&self, count: u64) -> Vec<i64> {
        (0..count as i64)
            .flat_map(|i| self.map.iter().map(move |(at, len)| (at + i * self.extent(), *len)))
            .flat_map(|(at, len)| (0..len as i64).map(move |byte| at + byte))
            .collect()
    }
}

/// What to build; displacements are kept apart so that receives do not overlap.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    Builtin(Named),
    Contiguous(i64, Box<Self>),
    Vector(i64, i64, i64, Box<Self>),
    Hvector(i64, i64, i64, Box<Self>),
    Indexed(Vec<(i64, i64)>, Box<Self>),
    Hindexed(Vec<(i64, i64)>, Box<Self>),
    IndexedBlock(i64, Vec<i64>, Box<Self>),
    HindexedBlock(i64, Vec<i64>, Box<Self>),
    Struct(Vec<(i64, i64, Self)>),
    Resized(i64, i64, Box<Self>),
    Dup(Box<Self>),
    /// Size, part and start in each dimension; whether in the order of C.
    Subarray(Vec<(i64, i64, i64)>, bool, Box<Self>),
    /// Dimensions, the process of the grid, whether in the order of C.
    Darray(Vec<Dimension>, i64, bool, Box<Self>),
}

pub(crate) fn build(recipe: &Recipe) -> Model {
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
        Recipe::HindexedBlock(length, list, child) => {
            let child = build(child);
            let datatype = Datatype::hindexed_block(*length, list, &child.datatype).unwrap();
            blocks(datatype, list.iter().map(|at| (*at, *length)), &child)
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
        Recipe::Darray(dimensions, place, c_order, child) => {
            darray(dimensions, *place, *c_order, &build(child))
        }
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

/// Every process along a dimension owns the indices that are dealt to it (MPI-5.0 §5.1.4).
fn darray(dimensions: &[Dimension], place: i64, c_order: bool, child: &Model) -> Model {
    let size: i64 = dimensions.iter().map(|dimension| dimension.processes).product();
    let rank = place.rem_euclid(size);
    let order = if c_order { Order::C } else { Order::Fortran };
    let datatype = Datatype::darray(size, rank, dimensions, order, &child.datatype).unwrap();
    // Ranks in row-major order, whatever the order of the array.
    let mut rest = rank;
    let mut owned: Vec<Vec<i64>> = Vec::new();
    for dimension in dimensions.iter().rev() {
        let (processes, me) = (dimension.processes, rest % dimension.processes);
        rest /= processes;
        let block = match (dimension.distribution, dimension.darg) {
            (Distribution::None, _) => dimension.size,
            (Distribution::Block, DEFAULT_DARG) => (dimension.size + processes - 1) / processes,
            (Distribution::Cyclic, DEFAULT_DARG) => 1,
            (_, darg) => darg,
        };
        owned.push((0..dimension.size).filter(|index| index / block % processes == me).collect());
    }
    owned.reverse();
    let mut axes: Vec<usize> = (0..dimensions.len()).collect();
    if !c_order {
        axes.reverse();
    }
    let mut places = vec![0i64];
    for axis in axes {
        places = places
            .iter()
            .flat_map(|place| owned[axis].iter().map(move |index| place * dimensions[axis].size + index))
            .collect();
    }
    let copies: Vec<_> = places.iter().map(|place| (place * child.extent(), child)).collect();
    let ub = dimensions.iter().map(|dimension| dimension.size).product::<i64>() * child.extent();
    Model { lb: 0, ub, marked: true, ..Model::of(datatype, &copies) }
}

/// A dimension that fits together: `kind` is none, block or cyclic.
pub(crate) fn dimension(kind: i64, size: i64, processes: i64, darg: i64) -> Dimension {
    let least = (size + processes - 1) / processes;
    match kind {
        0 => Dimension { size, distribution: Distribution::None, darg: DEFAULT_DARG, processes: 1 },
        1 => {
            let darg = if darg == 0 { DEFAULT_DARG } else { least + darg - 1 };
            Dimension { size, distribution: Distribution::Block, darg, processes }
        }
        _ => {
            let darg = if darg == 0 { DEFAULT_DARG } else { darg };
            Dimension { size, distribution: Distribution::Cyclic, darg, processes }
        }
    }
}

/// Predefined types of every size, with and without padding.
pub(crate) const BASIC: [Named; 9] = [
    Named::Byte,
    Named::Short,
    Named::Int,
    Named::Double,
    Named::CDoubleComplex,
    Named::LongDouble,
    Named::ShortInt,
    Named::DoubleInt,
    Named::Real2,
];

pub(crate) fn recipe() -> impl Strategy<Value = Recipe> {
    let builtin = prop::sample::select(&BASIC[..]);
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
            (0i64..4, prop::collection::vec(-60i64..90, 0..6), child.clone())
                .prop_map(|(l, list, c)| Recipe::HindexedBlock(l, list, c)),
            prop::collection::vec((-40i64..90, 0i64..3, inner), 0..4).prop_map(Recipe::Struct),
            (-20i64..20, -5i64..90, child.clone()).prop_map(|(lb, e, c)| Recipe::Resized(lb, e, c)),
            child.clone().prop_map(Recipe::Dup),
            (
                prop::collection::vec((0i64..3, 1i64..7, 1i64..4, 0i64..4), 1..4),
                0i64..27,
                any::<bool>(),
                child.clone()
            )
                .prop_map(|(dimensions, place, c_order, c)| {
                    let fit = |(kind, size, processes, darg)| dimension(kind, size, processes, darg);
                    Recipe::Darray(dimensions.into_iter().map(fit).collect(), place, c_order, c)
                }),
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
pub(crate) struct Arena {
    pub(crate) memory: Vec<u8>,
    pub(crate) origin: i64,
}

impl Arena {
    const ROOM: i64 = 64;

    pub(crate) fn new(offsets: &[i64], mut fill: impl FnMut(usize) -> u8) -> Self {
        let low = offsets.iter().copied().min().unwrap_or(0).min(0);
        let high = offsets.iter().copied().max().unwrap_or(0).max(0);
        let len = (high - low + 1 + 2 * Self::ROOM) as usize;
        Self { memory: (0..len).map(&mut fill).collect(), origin: Self::ROOM - low }
    }

    fn origin(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().wrapping_offset(self.origin as isize)
    }

    pub(crate) fn address(&mut self, offset: i64) -> usize {
        self.origin().addr().wrapping_add_signed(offset as isize)
    }

    /// `count` elements that lie here.
    pub(crate) fn segment(&mut self, model: &Model, count: u64) -> Segment {
        // SAFETY: every offset of the model lies within the arena, which outlives the segments on it.
        let base = unsafe { Base::new(self.origin()) };
        Segment::elements_at(base, count, &model.datatype)
    }

    /// `count` elements that lie here, by absolute addresses (MPI-5.0 §5.1.12, `MPI_BOTTOM`).
    pub(crate) fn absolute(&mut self, model: &Model, count: u64) -> Segment {
        let address = self.memory.as_mut_ptr().expose_provenance() as i64 + self.origin;
        let placed = Datatype::hindexed(&[count as i64], &[address], &model.datatype).unwrap();
        // SAFETY: as in `segment`.
        Segment::elements_at(unsafe { Base::new(std::ptr::null_mut()) }, 1, &placed)
    }

    pub(crate) fn at(&self, offset: i64) -> u8 {
        self.memory[(self.origin + offset) as usize]
    }
}

/// A byte that hardly ever is the same elsewhere, whatever the distance: not even one round of a ring away.
pub(crate) fn noise(i: usize) -> u8 {
    let x = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 56) as u8
}

/// Cuts `len` into pieces by a list of random lengths, used in turn.
pub(crate) fn cuts(len: usize, sizes: &[usize]) -> Vec<usize> {
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
pub(crate) struct Outcome {
    pub(crate) memory: Vec<u8>,
    repeated: HashMap<usize, Vec<u8>>,
}

impl Outcome {
    pub(crate) fn new(target: &Arena, writes: impl Iterator<Item = (i64, u8)>) -> Self {
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

    pub(crate) fn allows(&self, memory: &[u8]) -> bool {
        memory.iter().zip(&self.memory).enumerate().all(|(at, (got, expected))| {
            got == expected || self.repeated.get(&at).is_some_and(|values| values.contains(got))
        })
    }
}

/// Mostly a few elements, sometimes enough for the loops that work on many at once.
pub(crate) fn counts() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0u64..6, 2 => 6u64..100, 1 => 100u64..4000]
}

/// Lengths of pieces: short ones cut everywhere, long ones let the loops run.
pub(crate) fn piece_sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![3 => 1usize..200, 1 => 200usize..60_000], 1..8)
}

/// A model and a count of at most so many bytes; `None` when the recipe makes more.
pub(crate) fn sized(recipe: &Recipe, count: u64, most: u64) -> Option<(Model, u64)> {
    let model = build(recipe);
    let span = model.extent().abs().max(1) * count as i64;
    (model.size() * count < most && span < 4_000_000).then_some((model, count))
}
