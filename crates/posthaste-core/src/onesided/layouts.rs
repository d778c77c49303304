//! Layouts of targets: how elements lie is described to a target once, and named by a number after that (seed 001, "Remote
//! Memory Access").
//!
//! The origin decides what the target keeps: the layout that it has used least recently gives its number to a new one. What
//! is queued for a peer leaves in its order, so no access meets a layout that has gone. A number that means nothing, which
//! only a peer with a defect names, is refused.
//!
//! What must stay true: a description is read as any bytes of a peer are; a target keeps at most [`KEPT`] layouts of a peer, each
//! from a description of at most [`LONGEST`] words.

use posthaste_os::mem::Source;

use crate::buffer::OwnedBuf;
use crate::datatype::{Datatype, Piece, Shape};
use crate::named::Named;

/// Layouts that a target keeps of each origin.
pub(super) const KEPT: usize = 16;
/// Words of the longest description. A layout that needs more is not described: each of its runs is an access.
const LONGEST: usize = 128;
const WORD: usize = size_of::<i64>();

/// The layouts that a target has been told, each in the place of its number.
#[derive(Debug, Default)]
pub(super) struct Told {
    layouts: Vec<(Datatype, u64)>,
    uses: u64,
}

impl Told {
    /// The number of the layout of a datatype, and whether the target has to be told.
    pub(super) fn number(&mut self, datatype: &Datatype) -> (u32, bool) {
        self.uses += 1;
        let is_same = |(told, _): &(Datatype, u64)| {
            told.extent() == datatype.extent() && told.layout() == datatype.layout()
        };
        if let Some(at) = self.layouts.iter().position(is_same) {
            self.layouts[at].1 = self.uses;
            return (at as u32, false);
        }
        let new = (datatype.clone(), self.uses);
        if self.layouts.len() < KEPT {
            self.layouts.push(new);
            return (self.layouts.len() as u32 - 1, true);
        }
        let oldest = (0..KEPT).min_by_key(|at| self.layouts[*at].1).unwrap_or(0);
        self.layouts[oldest] = new;
        (oldest as u32, true)
    }
}

/// The layouts that an origin has described.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<Option<Datatype>>);

impl Known {
    /// The layout of this number.
    pub(super) fn get(&self, number: u32) -> Option<&Datatype> {
        self.0.get(number as usize)?.as_ref()
    }

    /// The number means what is described. Whether that can be.
    pub(super) fn learn(&mut self, number: u32, description: Source<'_>) -> bool {
        let at = number as usize;
        let Some(datatype) = read(&description.to_vec()).filter(|_| at < KEPT) else { return false };
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(datatype);
        true
    }
}

/// What a target is told of the layout of a datatype, unless that is too long.
pub(super) fn describe(datatype: &Datatype) -> Option<OwnedBuf> {
    let mut words = vec![datatype.extent()];
    write(datatype.layout().piece()?, &mut words)?;
    let mut description = OwnedBuf::new(words.len() * WORD);
    let bytes: Vec<u8> = words.into_iter().flat_map(i64::to_le_bytes).collect();
    description.sink().copy_from(&bytes);
    Some(description)
}

fn write(Piece { offset, shape }: &Piece, words: &mut Vec<i64>) -> Option<()> {
    let number = |n: usize| n as i64;
    words.push(*offset);
    match shape {
        Shape::Run(len) => words.extend([RUN, *len as i64]),
        Shape::Loop(turns) => {
            words.extend([LOOP, turns.count as i64, turns.stride]);
            write(&Piece { offset: 0, shape: turns.body.clone() }, words)?;
        }
        Shape::Blocks(blocks) if blocks.offsets.len() < LONGEST => {
            words.extend([BLOCKS, number(blocks.offsets.len()), blocks.len as i64]);
            words.extend(blocks.offsets.iter());
        }
        Shape::Runs(runs) if runs.spans.len() < LONGEST => {
            words.extend([RUNS, number(runs.spans.len())]);
            words.extend(runs.spans.iter().flat_map(|span| [span.offset, span.len as i64]));
        }
        Shape::List(list) if list.items.len() < LONGEST => {
            words.extend([LIST, number(list.items.len())]);
            list.items.iter().try_for_each(|item| write(&item.piece, words))?;
        }
        Shape::Blocks(_) | Shape::Runs(_) | Shape::List(_) => return None,
    }
    (words.len() <= LONGEST).then_some(())
}

const RUN: i64 = 0;
const LOOP: i64 = 1;
const BLOCKS: i64 = 2;
const RUNS: i64 = 3;
const LIST: i64 = 4;

/// The bytes that a description means, as a datatype with its extent.
fn read(bytes: &[u8]) -> Option<Datatype> {
    let (words, rest) = bytes.as_chunks::<WORD>();
    if words.len() > LONGEST || !rest.is_empty() {
        return None;
    }
    let words = &mut words.iter().map(|word| i64::from_le_bytes(*word));
    let extent = words.next()?;
    let (offset, shape) = piece(words)?;
    let placed = Datatype::hindexed(&[1], &[offset], &shape).ok()?;
    let datatype = Datatype::resized(&placed, 0, extent).ok()?;
    (words.next().is_none() && datatype.size() > 0).then_some(datatype)
}

/// A shape and where it begins. A shape inside another one takes three words at least, so recursion ends.
fn piece(words: &mut impl Iterator<Item = i64>) -> Option<(i64, Datatype)> {
    let byte = Datatype::from(Named::Byte);
    let (offset, kind) = (words.next()?, words.next()?);
    let mut some = || words.next().filter(|n| (1..LONGEST as i64).contains(n));
    let shape = match kind {
        RUN => Datatype::contiguous(words.next()?, &byte),
        LOOP => {
            let (count, stride) = (words.next()?, words.next()?);
            let (by, body) = piece(words)?;
            if by != 0 {
                return None;
            }
            Datatype::hvector(count, 1, stride, &body)
        }
        BLOCKS => {
            let (n, len) = (some()?, words.next()?);
            let offsets: Vec<i64> = words.take(n as usize).collect();
            Datatype::hindexed_block(len, &offsets, &byte)
        }
        RUNS => {
            let spans: Vec<i64> = (0..2 * some()?).map_while(|_| words.next()).collect();
            let (offsets, lengths): (Vec<i64>, Vec<i64>) =
                spans.chunks_exact(2).map(|span| (span[0], span[1])).unzip();
            Datatype::hindexed(&lengths, &offsets, &byte)
        }
        LIST => {
            let pieces: Option<Vec<_>> = (0..some()?).map(|_| piece(words)).collect();
            let (offsets, shapes): (Vec<i64>, Vec<Datatype>) = pieces?.into_iter().unzip();
            Datatype::structure(&vec![1; offsets.len()], &offsets, &shapes)
        }
        _ => return None,
    };
    Some((offset, shape.ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::buffer::UserBuf;
    use crate::datatype::Segment;

    fn runs(datatype: &Datatype, count: u64) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        Segment::new(UserBuf::none(), count, datatype).runs(usize::MAX, u64::MAX, &mut runs);
        runs
    }

    fn datatypes() -> impl Strategy<Value = Datatype> {
        Just(Datatype::from(Named::Int)).prop_recursive(4, 16, 4, |child| {
            let blocks = proptest::collection::vec((1..5i64, -800..800i64), 1..5);
            let (several, one) = (blocks.clone(), child.clone());
            prop_oneof![
                (1..5i64, 1..5i64, -128..128i64, child.clone())
                    .prop_map(|(count, len, stride, child)| Datatype::hvector(count, len, stride, &child)),
                (several, one).prop_map(|(blocks, child)| {
                    let (lengths, offsets): (Vec<i64>, Vec<i64>) = blocks.into_iter().unzip();
                    Datatype::hindexed(&lengths, &offsets, &child)
                }),
                (blocks, proptest::collection::vec(child.clone(), 4)).prop_map(|(blocks, children)| {
                    let (lengths, offsets): (Vec<i64>, Vec<i64>) = blocks.into_iter().unzip();
                    Datatype::structure(&lengths, &offsets, &children[..offsets.len()])
                }),
                (-8..8i64, 0..64i64, child)
                    .prop_map(|(lb, extent, child)| Datatype::resized(&child, lb, extent)),
            ]
            .prop_map(|datatype| datatype.expect("a datatype"))
        })
    }

    fn columns() -> Datatype {
        Datatype::vector(100, 1, 9, &Datatype::of::<f64>()).expect("a datatype")
    }

    proptest! {
        #[test]
        fn a_description_means_the_same_bytes(datatype in datatypes()) {
            match describe(&datatype) {
                None => prop_assert!(datatype.layout().runs() > LONGEST as u64 / 8, "{datatype:?} is short"),
                Some(description) => {
                    let read = read(&description.source().to_vec()).expect("it can be read");
                    prop_assert_eq!(read.extent(), datatype.extent());
                    prop_assert_eq!(runs(&read, 3), runs(&datatype, 3));
                }
            }
        }

        #[test]
        fn bytes_of_a_peer_are_read_or_refused(words in proptest::collection::vec(-2..7i64, 0..24), at in 0..40usize, byte: u8) {
            let bytes: Vec<u8> = words.into_iter().flat_map(i64::to_le_bytes).collect();
            _ = read(&bytes);
            let mut changed = describe(&columns()).expect("it is short").source().to_vec();
            changed[at] = byte;
            _ = read(&changed);
        }
    }

    #[test]
    fn what_is_cut_short_or_too_long_is_refused() {
        let description = describe(&columns()).expect("it is short").source().to_vec();
        assert_eq!(description.len(), 8 * WORD);
        for cut in 0..description.len() {
            assert!(read(&description[..cut]).is_none(), "cut to {cut} bytes");
        }
        let turns = |n| [0, LOOP, 2, 1].repeat(n).into_iter().chain([0, RUN, 1]);
        let nested = |n| [8].into_iter().chain(turns(n)).flat_map(i64::to_le_bytes).collect::<Vec<u8>>();
        assert!(read(&nested(3)).is_some() && read(&nested(LONGEST)).is_none());
        let mut known = Known::default();
        let short = nested(1);
        let short = || Source::from(short.as_slice());
        assert!(known.learn(2, short()) && known.get(2).is_some() && known.get(1).is_none());
        assert!(!known.learn(KEPT as u32, short()) && !known.learn(u32::MAX, short()));
    }

    #[test]
    fn the_least_recently_used_goes() {
        let of = |n: usize| Datatype::vector(2, 1, 2 + n as i64, &Datatype::of::<f64>()).expect("a datatype");
        let mut told = Told::default();
        for n in 0..KEPT {
            assert_eq!(told.number(&of(n)), (n as u32, true));
        }
        assert_eq!(told.number(&of(0)), (0, false));
        assert_eq!(told.number(&of(KEPT)), (1, true), "the second is the oldest");
        assert_eq!(told.number(&of(0)), (0, false));
        assert_eq!(told.number(&of(1)), (2, true));
    }
}
