//! Sizes for the dimensions of a grid (MPI-5.0 §8.5.2, `MPI_Dims_create`): as close to each other as possible.
//!
//! Closest is the split with the smallest difference between its largest and its smallest factor; of those the one with
//! the smallest largest factor, then the smallest second largest, and so on. What must stay true: the work is bounded,
//! whatever the number: a test counts it for the numbers with the most divisors.

use crate::error::{Error, ErrorClass, Result};

/// Fills in the sizes that are 0, so that their product is `nodes`: the largest first.
///
/// # Errors
/// No nodes; a negative size; given sizes whose product does not divide `nodes`.
pub fn balance(nodes: i32, dims: &mut [i32]) -> Result<()> {
    if nodes < 1 {
        return Err(Error::invalid(ErrorClass::Arg, "nnodes", nodes, "1 or more"));
    }
    let mut fixed: i64 = 1;
    for (at, size) in dims.iter().enumerate() {
        if *size < 0 {
            let got = format_args!("{size} at index {at}");
            return Err(Error::invalid(ErrorClass::Dims, "dims", got, "0 or more"));
        }
        fixed = fixed.saturating_mul(i64::from((*size).max(1)));
    }
    let free = dims.iter().filter(|size| **size == 0).count();
    let rest = i64::from(nodes) / fixed;
    if rest * fixed != i64::from(nodes) || (free == 0 && rest != 1) {
        let got = format_args!("{dims:?}");
        let expected = format_args!("fixed dimensions whose product divides nnodes, {nodes}");
        return Err(Error::invalid(ErrorClass::Dims, "dims", got, expected));
    }
    let mut search = Search::new(rest as u64, free);
    for (size, found) in dims.iter_mut().filter(|size| **size == 0).zip(search.closest()) {
        *size = *found as i32;
    }
    Ok(())
}

/// A search for the closest split of a number into factors.
struct Search {
    number: u64,
    /// How many factors.
    count: usize,
    /// In ascending order.
    divisors: Vec<u64>,
    /// The closest split so far, the largest factor first.
    best: Vec<u64>,
    /// The factors above the ones that are tried.
    chosen: Vec<u64>,
    /// Factors tried so far.
    #[cfg(test)]
    work: u64,
}

impl Search {
    fn new(number: u64, count: usize) -> Self {
        let mut divisors: Vec<u64> =
            (1..=number).take_while(|d| d * d <= number).filter(|d| number.is_multiple_of(*d)).collect();
        let large = divisors.iter().rev().map(|d| number / d).filter(|d| d * d > number);
        divisors.extend(large.collect::<Vec<u64>>());
        Self {
            number,
            count,
            divisors,
            best: Vec::new(),
            chosen: Vec::new(),
            #[cfg(test)]
            work: 0,
        }
    }

    /// The closest split, the largest factor first.
    fn closest(&mut self) -> &[u64] {
        if self.count == 0 {
            return &[];
        }
        for at in self.at_least_root(self.number, self.count)..self.divisors.len() {
            let largest = self.divisors[at];
            // The smallest factor is at most the root, so from here on no split is closer.
            let spread = self.best.first().zip(self.best.last()).map(|(most, least)| most - least);
            if spread
                .is_some_and(|spread| !reaches(largest.saturating_sub(spread) + 1, self.count, self.number))
            {
                break;
            }
            let above = spread.map_or(0, |spread| largest.saturating_sub(spread));
            self.chosen.push(largest);
            self.split(self.number / largest, self.count - 1, at, above);
            self.chosen.pop();
        }
        &self.best
    }

    /// Splits `rest` into `count` factors up to the divisor at `most`, all larger than `above`, and keeps the split with the
    /// largest smallest factor; of those the first one, which has the smallest second largest factor, and so on. Returns
    /// the new lower bound.
    fn split(&mut self, rest: u64, count: usize, most: usize, mut above: u64) -> u64 {
        #[cfg(test)]
        {
            self.work += 1;
        }
        if rest == 1 || count == 0 {
            // What is left are ones.
            let least = if count > 0 { 1 } else { self.chosen.last().copied().unwrap_or(1) };
            if rest == 1 && least > above {
                self.best.clone_from(&self.chosen);
                self.best.resize(self.count, 1);
                return least;
            }
            return above;
        }
        for at in self.at_least_root(rest, count)..=most {
            // The smallest factor would have to be too small.
            if !reaches(above + 1, count, rest) {
                break;
            }
            let factor = self.divisors[at];
            if factor > rest {
                break;
            }
            if rest.is_multiple_of(factor) {
                self.chosen.push(factor);
                above = self.split(rest / factor, count - 1, at, above);
                self.chosen.pop();
            }
        }
        above
    }

    /// Where the divisors begin of which `count` together reach `number`.
    fn at_least_root(&self, number: u64, count: usize) -> usize {
        self.divisors.partition_point(|divisor| !reaches_up(*divisor, count, number))
    }
}

/// Whether `factor` to the power of `count` is at most `number`.
fn reaches(factor: u64, count: usize, number: u64) -> bool {
    power(factor, count).is_some_and(|power| power <= number)
}

/// Whether `factor` to the power of `count` is at least `number`.
fn reaches_up(factor: u64, count: usize, number: u64) -> bool {
    power(factor, count).is_none_or(|power| power >= number)
}

/// `None` where it does not fit.
fn power(factor: u64, count: usize) -> Option<u64> {
    match u32::try_from(count) {
        Ok(count) => factor.checked_pow(count),
        Err(_) => (factor <= 1).then_some(factor),
    }
}

#[cfg(test)]
#[path = "dims_tests.rs"]
mod tests;
