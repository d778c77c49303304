//! Combinations: elements that are combined with what lies there as they arrive, instead of taking its place (seed 001, "operations at
//! the destination of a message"). `op` knows how to combine; a segment walks through them ([`Segment`](super::Segment)).
//!
//! What must stay true: the packed bytes come in their order, and each of them once; pieces may end anywhere, so the first part of an
//! element waits here for the rest of it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use posthaste_os::mem::Source;

use super::Datatype;
use crate::buffer::UserBuf;

/// Combines so many packed elements with the right operands at the first place in user memory; the results go to the second one.
type Combine = dyn Fn(Source<'_>, UserBuf, UserBuf, u64) + Send + Sync;

/// How elements are combined. It serves one message at a time.
pub(crate) struct Combination {
    datatype: Datatype,
    /// An element has two to this power bytes.
    power: u32,
    combine: Arc<Combine>,
    /// Where the right operands lie, if not where the results go.
    right: Option<UserBuf>,
    /// What has come of the element in the middle of which the last piece ended.
    begun: Mutex<[u8; Self::LONGEST]>,
}

impl Combination {
    /// Longest element, in bytes: a complex number of two quadruple ones.
    pub(crate) const LONGEST: usize = 32;

    /// Elements without gaps that are combined so; `None` if the type is not like that, or its size no power of two.
    pub(crate) fn new(
        datatype: &Datatype,
        combine: impl Fn(Source<'_>, UserBuf, UserBuf, u64) + Send + Sync + 'static,
    ) -> Option<Self> {
        let size = datatype.size();
        let is_dense = size <= Self::LONGEST as u64 && size as i64 == datatype.extent();
        let begun = Mutex::new([0; Self::LONGEST]);
        let (datatype, combine) = (datatype.clone(), Arc::new(combine));
        let of = |power| Self { datatype, power, combine, right: None, begun };
        (is_dense && size.is_power_of_two()).then(|| of(size.trailing_zeros()))
    }

    /// The same with right operands that lie elsewhere than where the results go.
    #[must_use]
    pub(crate) fn with_right(self, right: UserBuf) -> Self {
        Self { right: Some(right), ..self }
    }

    /// Where right operands lie, if elsewhere than where the results go.
    pub(super) fn right(&self) -> Option<UserBuf> {
        self.right
    }

    /// Says that right operands lie elsewhere. Whoever has the old one under way keeps it.
    pub(super) fn move_right(this: &mut Arc<Self>, right: UserBuf) {
        match Arc::get_mut(this) {
            Some(combination) => combination.right = Some(right),
            None => {
                let (datatype, power, combine) =
                    (this.datatype.clone(), this.power, Arc::clone(&this.combine));
                let begun = Mutex::new([0; Self::LONGEST]);
                *this = Arc::new(Self { datatype, power, combine, right: Some(right), begun });
            }
        }
    }

    /// The type of the elements.
    pub(super) fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// Combines the bytes of `source`, which begin at a position of the array at `at`.
    pub(super) fn unpack(&self, at: UserBuf, position: u64, source: Source<'_>) {
        let within = (1 << self.power) - 1;
        if (position | source.len() as u64) & within == 0 {
            return self.combine(at, position, source);
        }
        self.unpack_pieces(at, position, source);
    }

    /// The same where elements may begin or end elsewhere.
    #[cold]
    fn unpack_pieces(&self, at: UserBuf, mut position: u64, mut source: Source<'_>) {
        let size = 1 << self.power;
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let there = position as usize % size;
        if there > 0 {
            let (part, rest) = source.split_at((size - there).min(source.len()));
            let complete = there + part.len() == size;
            part.copy_to(&mut begun[there..]);
            if !complete {
                return;
            }
            self.combine(at, position - there as u64, Source::from(&begun[..size]));
            (position, source) = (position + part.len() as u64, rest);
        }
        let (elements, rest) = source.split_at(source.len() / size * size);
        self.combine(at, position, elements);
        rest.copy_to(&mut begun[..]);
    }

    /// Combines whole elements with those of the array at `at` from this position on.
    fn combine(&self, at: UserBuf, position: u64, elements: Source<'_>) {
        let [right, result] = [self.right.unwrap_or(at), at].map(|array| array.offset(position as isize));
        (self.combine)(elements, right, result, elements.len() as u64 >> self.power);
    }
}

impl fmt::Debug for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "combination of {:?}", self.datatype)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::buffer::OwnedBuf;
    use crate::datatype::Segment;
    use crate::named::Named;
    use crate::op::{Op, Predefined};

    /// Wherever the pieces end, the result is that of all elements at once.
    #[test]
    fn pieces_may_end_anywhere() {
        let sum = Op::from(Predefined::Sum);
        let mut random = 1u64;
        let mut draw = |n: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % n
        };
        for named in
            [Named::Int8, Named::Int16, Named::Float, Named::Uint64, Named::CDoubleComplex, Named::LongDouble]
        {
            let datatype = Datatype::from(named);
            let len = 40 * datatype.size() as usize;
            for _ in 0..40 {
                let operands = [(); 2].map(|()| (0..len).map(|_| draw(60) as u8).collect::<Vec<u8>>());
                let [expected, got] = [(); 2].map(|()| OwnedBuf::new(len));
                for buf in [&expected, &got] {
                    buf.user_buf().sink(len).copy_from(&operands[0]);
                }
                sum.apply_packed(&datatype, operands[1][..].into(), expected.user_buf(), 40).unwrap();
                let mut combination = sum.on_arrival(&datatype).expect("elements without gaps");
                let elsewhere = OwnedBuf::new(len);
                if draw(2) == 0 {
                    elsewhere.user_buf().copy_from(got.user_buf(), len);
                    got.user_buf().sink(len).copy_from(&operands[1]);
                    combination = combination.with_right(elsewhere.user_buf());
                }
                let mut segment = Segment::combined(got.user_buf(), 40, Arc::new(combination));
                assert!(
                    segment.contiguous_rest().is_none() && !segment.is_plain() && segment.len() == len as u64
                );
                let mut rest = &operands[1][..];
                while !rest.is_empty() {
                    let piece;
                    (piece, rest) = rest.split_at(rest.len().min(1 + draw(50) as usize));
                    assert_eq!(segment.unpack(piece.into()), piece.len());
                }
                assert_eq!(got.source().to_vec(), expected.source().to_vec(), "{datatype:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_combined_on_arrival_takes_the_plain_way() {
        let double = Datatype::from(Named::Double);
        let pair = Datatype::contiguous(2, &double).unwrap();
        let sum = Op::from(Predefined::Sum);
        assert!(sum.on_arrival(&double).is_some() && sum.on_arrival(&pair).is_none());
        assert!(Op::from(Predefined::Maxloc).on_arrival(&Named::ShortInt.into()).is_none(), "it has gaps");
        assert!(Op::from(Predefined::Replace).on_arrival(&double).is_none());
        assert!(Op::user(|_, _, _, _| {}, true).on_arrival(&double).is_none(), "it may do anything");
    }
}
