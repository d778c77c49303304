//! Blocks of different lengths in a slice: one for each rank or each neighbour (the counts and displacements of the v-forms,
//! MPI-5.0 §6.5 to §6.8).
//!
//! What must stay true: what comes out of [`Counts::read`] and [`Counts::write`] lies within the slice, and no two blocks that are
//! written share an element.

use std::borrow::Cow;

use crate::buffer::{Equivalence, UserBuf};
use crate::coll::Pieces;
use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result};

/// Lengths and places of blocks, in elements.
///
/// A list of lengths alone means blocks that follow each other and fill the slice. Blocks that are received into have no element
/// in common; what is sent may go to several.
///
/// ```
/// use posthaste_core::slice::Counts;
/// let lengths = [2, 5];
/// let packed: Counts<'_> = (&lengths).into();
/// assert_eq!(packed, Counts::packed(vec![2, 5]));
/// // The second block before the first one.
/// let turned = Counts::at(&lengths, &[5, 0]);
/// assert_eq!(turned.lengths(), lengths);
/// turned.check("data", 7, 2).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts<'a> {
    counts: Cow<'a, [usize]>,
    /// `None`: one behind the other.
    displacements: Option<Cow<'a, [usize]>>,
}

impl<'a> Counts<'a> {
    /// Blocks of these lengths, one behind the other.
    pub fn packed(counts: impl Into<Cow<'a, [usize]>>) -> Self {
        Self { counts: counts.into(), displacements: None }
    }

    /// Blocks of these lengths that begin at these elements.
    pub fn at(counts: impl Into<Cow<'a, [usize]>>, displacements: impl Into<Cow<'a, [usize]>>) -> Self {
        Self { counts: counts.into(), displacements: Some(displacements.into()) }
    }

    /// The lengths.
    pub fn lengths(&self) -> &[usize] {
        &self.counts
    }

    /// Checks that these are `n` blocks, one for each rank, within `len` elements.
    ///
    /// # Errors
    /// [`ErrorClass::Count`]: which of them is not, or that there are more or fewer.
    pub fn check(&self, argument: &'static str, len: usize, n: usize) -> Result<()> {
        self.within(argument, len, n, "rank").map(drop)
    }

    /// The length of a block; 0 where there is none.
    pub(super) fn count(&self, block: usize) -> usize {
        self.counts.get(block).copied().unwrap_or(0)
    }

    /// The blocks of a slice that is sent; there are `n` of them, one for each `of`.
    pub(super) fn read<T: Equivalence>(
        &self,
        argument: &'static str,
        data: &[T],
        (n, of): (usize, &str),
    ) -> Result<Pieces> {
        let (counts, places) = self.within(argument, data.len(), n, of)?;
        Ok(Pieces::new(UserBuf::borrowed(data), counts, places, Datatype::of::<T>()))
    }

    /// The blocks of a slice that is received into.
    pub(super) fn write<T: Equivalence>(
        &self,
        argument: &'static str,
        room: &mut [T],
        (n, of): (usize, &str),
    ) -> Result<Pieces> {
        let (counts, places) = self.within(argument, room.len(), n, of)?;
        self.check_apart(&places, of)?;
        Ok(Pieces::new(UserBuf::borrowed_mut(room), counts, places, Datatype::of::<T>()))
    }

    /// Lengths and places, if all lie within `len` elements.
    fn within(&self, argument: &'static str, len: usize, n: usize, of: &str) -> Result<(Vec<u64>, Vec<i64>)> {
        check_entries("counts", self.counts.len(), n, of)?;
        let places = match &self.displacements {
            Some(places) => {
                check_entries("displacements", places.len(), n, of)?;
                places.to_vec()
            }
            None => {
                let mut end = 0usize;
                let places = self.counts.iter().map(|count| {
                    let first = end;
                    end = end.saturating_add(*count);
                    first
                });
                let places = places.collect();
                if end != len {
                    let expected = format_args!("the sum of the counts, {end}");
                    return Err(Error::invalid(ErrorClass::Count, argument, len, expected));
                }
                places
            }
        };
        for (block, (count, first)) in self.counts.iter().zip(&places).enumerate() {
            if first.checked_add(*count).is_none_or(|end| end > len) {
                let got = format_args!("{count} elements from {first} for {of} {block}");
                let expected = format_args!("a block within the {len} elements of the slice");
                return Err(Error::invalid(ErrorClass::Count, argument, got, expected));
            }
        }
        // Fit: slices have no more than isize::MAX bytes.
        let counts = self.counts.iter().map(|count| *count as u64).collect();
        Ok((counts, places.into_iter().map(|first| first as i64).collect()))
    }

    /// Checks that no two blocks have an element in common.
    fn check_apart(&self, places: &[i64], of: &str) -> Result<()> {
        if self.displacements.is_none() {
            return Ok(());
        }
        let blocks = self.counts.iter().zip(places).enumerate();
        let mut blocks: Vec<_> = blocks
            .filter(|(_, (count, _))| **count > 0)
            .map(|(block, (count, first))| (*first as usize, *count, block))
            .collect();
        blocks.sort_unstable();
        for pair in blocks.windows(2) {
            let [(first, count, block), (next, _, other)] = pair else { continue };
            if first + count > *next {
                let got = format_args!("{next} for {of} {other}");
                let expected =
                    format_args!("a place behind the {count} elements from {first} for {of} {block}");
                return Err(Error::invalid(ErrorClass::Buffer, "displacements", got, expected));
            }
        }
        Ok(())
    }
}

fn check_entries(argument: &'static str, got: usize, n: usize, of: &str) -> Result<()> {
    if got == n {
        return Ok(());
    }
    let expected = format_args!("{n}, one for each {of}");
    Err(Error::invalid(ErrorClass::Count, argument, format_args!("{got} entries long"), expected))
}

impl<'a> From<&'a [usize]> for Counts<'a> {
    fn from(counts: &'a [usize]) -> Self {
        Self::packed(counts)
    }
}

impl<'a, const N: usize> From<&'a [usize; N]> for Counts<'a> {
    fn from(counts: &'a [usize; N]) -> Self {
        Self::packed(&counts[..])
    }
}

impl<'a> From<&'a Vec<usize>> for Counts<'a> {
    fn from(counts: &'a Vec<usize>) -> Self {
        Self::packed(counts)
    }
}

impl From<Vec<usize>> for Counts<'_> {
    fn from(counts: Vec<usize>) -> Self {
        Self::packed(counts)
    }
}

impl From<&Self> for Counts<'_> {
    fn from(counts: &Self) -> Self {
        counts.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lie_within_the_slice_and_apart() {
        let mut room = [0u32; 10];
        let mut write = |counts: Counts<'_>| {
            counts
                .write("all", &mut room, (3, "rank"))
                .map(drop)
                .map_err(|error| (error.class(), error.to_string()))
        };
        write(Counts::packed(&[2, 5, 3][..])).unwrap();
        write(Counts::at(&[2, 5, 0][..], &[8, 0, 10][..])).unwrap();
        let mut says = |counts: Counts<'_>, class: ErrorClass, text: &str| {
            let (got, said) = write(counts).unwrap_err();
            assert_eq!(got, class);
            assert!(said.contains(text), "{said}");
        };
        says(Counts::packed(&[2, 5][..]), ErrorClass::Count, "expected 3, one for each rank");
        says(Counts::packed(&[2, 5, 4][..]), ErrorClass::Count, "expected the sum of the counts, 11");
        says(Counts::packed(&[usize::MAX, 5, 4][..]), ErrorClass::Count, "the sum of the counts");
        says(Counts::at(&[2, 5, 1][..], &[0, 2][..]), ErrorClass::Count, "displacements is 2 entries long");
        says(Counts::at(&[2, 5, 1][..], &[0, 2, 10][..]), ErrorClass::Count, "1 elements from 10 for rank 2");
        says(Counts::at(&[2, 5, 1][..], &[0, usize::MAX, 9][..]), ErrorClass::Count, "for rank 1");
        says(
            Counts::at(&[2, 5, 1][..], &[4, 0, 9][..]),
            ErrorClass::Buffer,
            "is 4 for rank 0, expected a place behind",
        );
        // What is sent may be sent to several.
        Counts::at(&[4, 4, 4][..], &[0, 0, 3][..]).read("data", &[0u8; 7], (3, "rank")).unwrap();
    }
}
