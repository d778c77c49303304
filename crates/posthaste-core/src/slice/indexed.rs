//! Ranges of a slice as one buffer. MPI-5.0 §5.1.2.

use std::ops::Range;

use super::{RecvBuf, SendBuf};
use crate::buffer::{Equivalence, UserBuf};
use crate::datatype::{Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};

impl<'a> SendBuf<'a> {
    /// Some ranges of a slice, in this order.
    ///
    /// # Errors
    /// A range that is not within the slice.
    pub fn indexed<T: Equivalence>(data: &'a [T], ranges: &[Range<usize>]) -> Result<Self> {
        within(ranges, data.len())?;
        segment::<T>(UserBuf::borrowed(data), ranges).map(Self::of)
    }
}

impl<'a> RecvBuf<'a> {
    /// Some ranges of a slice, in this order.
    ///
    /// # Errors
    /// A range that is not within the slice, or shares an element with another.
    pub fn indexed<T: Equivalence>(room: &'a mut [T], ranges: &[Range<usize>]) -> Result<Self> {
        within(ranges, room.len())?;
        apart(ranges)?;
        segment::<T>(UserBuf::borrowed_mut(room), ranges).map(Self::of)
    }
}

fn within(ranges: &[Range<usize>], len: usize) -> Result<()> {
    let wrong = ranges.iter().find(|range| range.start > range.end || range.end > len);
    wrong.map_or(Ok(()), |range| {
        let expected = format_args!("one within the {len} elements of the slice");
        Err(Error::invalid(ErrorClass::Buffer, "a range of the view", format_args!("{range:?}"), expected))
    })
}

/// Nothing is received twice.
fn apart(ranges: &[Range<usize>]) -> Result<()> {
    let mut sorted: Vec<&Range<usize>> = ranges.iter().filter(|range| !range.is_empty()).collect();
    sorted.sort_unstable_by_key(|range| range.start);
    let clash = sorted.windows(2).find(|pair| pair[0].end > pair[1].start);
    clash.map_or(Ok(()), |pair| {
        let expected = format_args!("no element in common with {:?}", pair[0]);
        let got = format_args!("{:?}", pair[1]);
        Err(Error::invalid(ErrorClass::Buffer, "a range of the view", got, expected))
    })
}

fn segment<T: Equivalence>(base: UserBuf, ranges: &[Range<usize>]) -> Result<Segment> {
    // They fit: the elements lie in a slice, and slices have at most isize::MAX bytes.
    let lengths: Vec<i64> = ranges.iter().map(|range| range.len() as i64).collect();
    let starts: Vec<i64> = ranges.iter().map(|range| range.start as i64).collect();
    Ok(Segment::new(base, 1, &Datatype::indexed(&lengths, &starts, &Datatype::of::<T>())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_stay_within_the_slice_and_are_received_apart() {
        let mut room = [0u16; 10];
        let len = |buffer: Result<SendBuf<'_>>| buffer.map(|buffer| buffer.lend().len());
        assert_eq!(len(SendBuf::indexed(&room, &[8..10, 0..3, 1..2, 10..10])).unwrap(), 12);
        let backwards = Range { start: 3, end: 2 };
        for wrong in [8..11, 11..11, backwards] {
            let error = len(SendBuf::indexed(&room, std::slice::from_ref(&wrong))).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Buffer);
            RecvBuf::indexed(&mut room, &[wrong]).unwrap_err();
        }
        let error = RecvBuf::indexed(&mut room, &[4..6, 0..3, 2..4]).unwrap_err().to_string();
        assert!(error.contains("2..4, expected no element in common with 0..3"), "{error}");
        RecvBuf::indexed(&mut room, &[4..6, 2..4, 0..2, 5..5]).unwrap();
    }
}
