//! Whether two buffers of one call share bytes (MPI-5.0 §2.3: arguments that are written have no alias).
//!
//! What must stay true: buffers that share no byte are never said to share one, whatever their types, so equal base
//! addresses prove nothing; buffers that are apart cost a few comparisons; the work is bounded, and where it would take
//! more, nothing is said.

use std::ops::Range;

use super::{Datatype, Segment};
use crate::buffer::UserBuf;

/// Runs of each buffer that are compared.
const MOST: usize = 1024;

/// Elements in user memory; a buffer is one array or several.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    /// Address of the first element; nobody looks what lies there.
    pub address: usize,
    /// Number of elements.
    pub count: u64,
    /// Their type.
    pub datatype: &'a Datatype,
}

impl Array<'_> {
    fn buf(&self) -> UserBuf {
        UserBuf::none().offset(self.address as isize)
    }
}

/// Two buffers that share bytes, by address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// From the first to the last byte of the one.
    pub first: Range<i64>,
    /// From the first to the last byte of the other.
    pub second: Range<i64>,
    /// Some of the bytes that both have.
    pub shared: Range<i64>,
}

/// Bytes that both buffers have, if any are found.
#[inline]
pub fn overlap<'a>(
    first: impl Iterator<Item = Array<'a>> + Clone,
    second: impl Iterator<Item = Array<'a>> + Clone,
) -> Option<Overlap> {
    let (a, b) = (hull(first.clone()), hull(second.clone()));
    if a.start >= b.end || b.start >= a.end {
        return None;
    }
    let shared = shared(&runs(first), &runs(second))?;
    Some(Overlap { first: a, second: b, shared })
}

/// From the lowest byte of all arrays to the end of the highest. Without any byte it is before everything.
#[inline]
fn hull<'a>(arrays: impl Iterator<Item = Array<'a>>) -> Range<i64> {
    let reach = |array: Array<'a>| {
        let base = array.address as i64;
        let (low, high) = (array.datatype.true_lb(), array.datatype.layout().true_ub());
        let last = i64::try_from(array.count - 1).unwrap_or(i64::MAX);
        let last = array.datatype.extent().saturating_mul(last);
        let (low, high) = (low.saturating_add(last.min(0)), high.saturating_add(last.max(0)));
        base.saturating_add(low)..base.saturating_add(high)
    };
    let has_bytes = |array: &Array<'a>| array.count > 0 && array.datatype.size() > 0;
    arrays
        .filter(has_bytes)
        .map(reach)
        .reduce(|all, one| all.start.min(one.start)..all.end.max(one.end))
        .unwrap_or(i64::MIN..i64::MIN)
}

/// The first runs of a buffer, by address.
#[cold]
fn runs<'a>(arrays: impl Iterator<Item = Array<'a>>) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    for array @ Array { count, datatype, .. } in arrays {
        if runs.len() == MOST {
            break;
        }
        let buf = array.buf();
        // Neighbours in a contiguous type are one run.
        let mut segment = if datatype.is_contiguous() {
            let len = count.saturating_mul(datatype.size());
            Segment::contiguous(buf.offset(datatype.true_lb() as isize), len)
        } else {
            Segment::new(buf, count, datatype)
        };
        segment.runs(MOST - runs.len(), u64::MAX, &mut runs);
    }
    runs.sort_unstable();
    runs
}

/// Bytes that are in a run of both lists, which are sorted; runs of one list may overlap each other.
fn shared(first: &[(usize, usize)], second: &[(usize, usize)]) -> Option<Range<i64>> {
    let end = |(start, len): (usize, usize)| start.saturating_add(len);
    let (mut a, mut b) = (first.iter().copied().peekable(), second.iter().copied().peekable());
    // How far the runs of each list have reached so far.
    let (mut reached_a, mut reached_b) = (0, 0);
    loop {
        let from_a = match (a.peek(), b.peek()) {
            (Some(a), Some(b)) => a <= b,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return None,
        };
        let (run, reached_other, reached) = if from_a {
            (a.next()?, reached_b, &mut reached_a)
        } else {
            (b.next()?, reached_a, &mut reached_b)
        };
        if run.0 < reached_other {
            return Some(run.0 as i64..end(run).min(reached_other) as i64);
        }
        *reached = end(run).max(*reached);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// An array of `count` elements at an address that nobody looks at.
    fn at(address: usize, count: u64, datatype: &Datatype) -> Array<'_> {
        Array { address, count, datatype }
    }

    fn found(a: &[Array<'_>], b: &[Array<'_>]) -> Option<Overlap> {
        let there = overlap(a.iter().copied(), b.iter().copied());
        assert_eq!(overlap(b.iter().copied(), a.iter().copied()).is_some(), there.is_some());
        there
    }

    /// Every byte of a buffer.
    fn bytes(arrays: &[Array<'_>]) -> HashSet<i64> {
        let mut all = HashSet::new();
        for array in arrays {
            let mut runs = Vec::new();
            Segment::new(array.buf(), array.count, array.datatype).runs(usize::MAX, u64::MAX, &mut runs);
            all.extend(runs.iter().flat_map(|(start, len)| *start as i64..(*start + *len) as i64));
        }
        all
    }

    #[test]
    fn neighbours_are_apart() {
        let int = Datatype::of::<i32>();
        assert_eq!(found(&[at(4096, 4, &int)], &[at(4112, 4, &int)]), None);
        assert_eq!(found(&[at(4096, 4, &int)], &[at(4096, 0, &int)]), None);
        assert_eq!(found(&[], &[at(4096, 1, &int)]), None);
        let overlap = found(&[at(4096, 4, &int)], &[at(4108, 4, &int)]).unwrap();
        assert_eq!(overlap, Overlap { first: 4096..4112, second: 4108..4124, shared: 4108..4112 });
    }

    #[test]
    fn interleaved_types_are_apart_at_one_address() {
        let int = Datatype::of::<i32>();
        let even = Datatype::resized(&int, 0, 8).unwrap();
        let odd = Datatype::resized(&Datatype::hindexed(&[1], &[4], &int).unwrap(), 0, 8).unwrap();
        for count in [1, 2, 100, 1_000_000] {
            assert_eq!(found(&[at(4096, count, &even)], &[at(4096, count, &odd)]), None);
            assert!(found(&[at(4096, count, &even)], &[at(4096, count, &even)]).is_some());
        }
        // Absolute addresses: both begin at nothing.
        let (here, there) =
            (Datatype::hindexed(&[1], &[8192], &int), Datatype::hindexed(&[1], &[9000], &int));
        let (here, there) = (here.unwrap(), there.unwrap());
        assert_eq!(found(&[at(0, 1, &here)], &[at(0, 1, &there)]), None);
        assert!(found(&[at(0, 1, &here)], &[at(8194, 1, &Datatype::byte())]).is_some());
    }

    proptest! {
        #[test]
        fn shared_bytes_are_found_as_by_looking_at_each(
            blocks in prop::collection::vec((0i64..4, 0i64..40, 0usize..120, 0u64..4, any::<bool>(), -9i64..30), 1..6),
        ) {
            let made: Vec<(Datatype, usize, u64, bool)> = blocks
                .iter()
                .map(|(len, gap, address, count, first, extent)| {
                    let lengths = [*len, 1];
                    let base = Datatype::hindexed(&lengths, &[0, *gap], &Datatype::byte()).unwrap();
                    (Datatype::resized(&base, 0, *extent).unwrap(), 1000 + address, *count, *first)
                })
                .collect();
            let of = |first: bool| -> Vec<Array<'_>> {
                let own = made.iter().filter(|one| one.3 == first);
                own.map(|(datatype, address, count, _)| at(*address, *count, datatype)).collect()
            };
            let (a, b) = (of(true), of(false));
            let common: HashSet<i64> = bytes(&a).intersection(&bytes(&b)).copied().collect();
            let there = found(&a, &b);
            prop_assert_eq!(there.is_some(), !common.is_empty());
            if let Some(overlap) = there {
                prop_assert!(overlap.shared.clone().all(|byte| common.contains(&byte)));
                prop_assert!(!overlap.shared.is_empty());
            }
        }
    }
}
