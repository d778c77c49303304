//! Random datatypes of random programs: where their elements lie, and buffers of them.

use crate::buffer::OwnedBuf;
use crate::datatype::{Datatype, Segment};
use crate::testing::Bench;
use crate::win::tests::numbers::Numbers;

/// Room on each side of what a datatype describes.
pub(super) const MARGIN: i64 = 80;

/// Elements of a datatype of some numbers.
#[derive(Clone)]
pub(super) struct Layout {
    numbers: Numbers,
    pub(super) datatype: Datatype,
    pub(super) count: u64,
    /// Where each is, from the beginning.
    pub(super) places: Vec<i64>,
}

impl Layout {
    /// One of `n` elements, of any constructor.
    pub(super) fn random(bench: &Bench, numbers: Numbers, n: u64) -> Self {
        let random = |n| bench.network.random(n);
        let halves = n.is_multiple_of(2) && n > 0 && random(3) == 0;
        let (count, each) = if halves { (2, n / 2) } else { (1, n) };
        let shape = shape(bench, numbers, each, 2);
        // The bounds of a part that was resized are those of the whole, which may reach farther.
        let datatype = Datatype::resized(&shape, 0, shape.true_lb() + shape.true_extent()).unwrap();
        // Where the elements are is read off a buffer in which each is its own place.
        let all: Vec<u64> = (0..2 * MARGIN as u64).collect();
        let (buffer, mut packed) = (numbers.filled(&all), numbers.filled(&vec![0; n as usize]));
        let from = buffer.user_buf().offset(numbers.size() as isize * MARGIN as isize / 2);
        Segment::new(from, count, &datatype).pack(packed.sink());
        let places = numbers.values(&packed).into_iter().map(|at| at as i64 - MARGIN / 2).collect();
        Self { numbers, datatype, count, places }
    }

    /// One element.
    pub(super) fn one(numbers: Numbers) -> Self {
        Self { numbers, datatype: numbers.datatype(), count: 1, places: vec![0] }
    }

    /// A buffer of the origin, and what is described of it; `values`: its elements, in their order.
    pub(super) fn buffer(&self, values: &[u64]) -> (OwnedBuf, Segment) {
        let numbers = self.numbers;
        let mut all = vec![0xdead_beef; 2 * MARGIN as usize];
        for (place, value) in self.places.iter().zip(values) {
            all[(MARGIN + place) as usize] = *value;
        }
        let buffer = numbers.filled(&all);
        let from = buffer.user_buf().offset(numbers.size() as isize * MARGIN as isize);
        let segment = Segment::new(from, self.count, &self.datatype);
        (buffer, segment)
    }
}

/// A datatype of `n` elements.
fn shape(bench: &Bench, numbers: Numbers, n: u64, depth: u32) -> Datatype {
    let random = |n| bench.network.random(n);
    let (one, size) = (numbers.datatype(), numbers.size() as i64);
    let blocks = || {
        let (mut lengths, mut left) = (Vec::new(), n);
        while left > 0 {
            let length = 1 + random(left);
            lengths.push(length as i64);
            left -= length;
        }
        lengths
    };
    // Places of blocks one behind the other, and in any order.
    let ordered = |lengths: &[i64]| {
        let mut end = 0;
        let places = lengths.iter().map(|length| {
            let place = end + random(3) as i64;
            end = place + length;
            place
        });
        places.collect::<Vec<i64>>()
    };
    match random(if depth == 0 || n < 2 { 4 } else { 6 }) {
        0 => Datatype::contiguous(n as i64, &one),
        1 => {
            let block = (1..=n).rev().find(|block| n.is_multiple_of(*block) && random(3) == 0).unwrap_or(1);
            Datatype::vector((n / block) as i64, block as i64, (block + random(3)) as i64, &one)
        }
        2 => {
            let lengths = blocks();
            Datatype::indexed(&lengths, &ordered(&lengths), &one)
        }
        3 => {
            let lengths = blocks();
            let places = ordered(&lengths);
            let mut all: Vec<(i64, i64)> = lengths.into_iter().zip(places).collect();
            (1..all.len()).for_each(|at| all.swap(at, random(at as u64 + 1) as usize));
            let (lengths, places): (Vec<i64>, Vec<i64>) = all.into_iter().unzip();
            let bytes: Vec<i64> = places.iter().map(|place| size * place).collect();
            Datatype::hindexed(&lengths, &bytes, &one)
        }
        4 => {
            let first = 1 + random(n - 1);
            let types =
                [shape(bench, numbers, first, depth - 1), shape(bench, numbers, n - first, depth - 1)];
            let (behind, gap) = (types[0].true_lb() + types[0].true_extent(), size * random(3) as i64);
            Datatype::structure(&[1, 1], &[0, behind + gap - types[1].true_lb()], &types)
        }
        _ => {
            let each = shape(bench, numbers, n / 2, depth - 1);
            let extent = each.true_lb() + each.true_extent() + size * random(2) as i64;
            let apart = Datatype::resized(&each, 0, extent).unwrap();
            let pair = Datatype::contiguous(2, &apart).unwrap();
            if n.is_multiple_of(2) {
                Ok(pair)
            } else {
                Datatype::structure(&[1, 1], &[0, 2 * extent], &[pair, one.clone()])
            }
        }
    }
    .unwrap()
}
