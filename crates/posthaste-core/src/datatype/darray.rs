//! The part of a distributed array that one process of a grid owns (MPI-5.0 §5.1.4, `MPI_Type_create_darray`).
//!
//! What must stay true: the ranks of the grid are in row-major order whatever the order of the array in memory;
//! a process that owns nothing gets a type without data but with the bounds of the whole array; dimension by
//! dimension, from the contiguous one outwards, the layout is composed as a subarray's is, so that a block
//! described both ways has one layout.

use super::build::{Combiner, Contents, Order, finish, too_large};
use super::layout::{Layout, TooLarge};
use super::{Bounds, Datatype};
use crate::error::{Error, ErrorClass, Result};
use std::fmt::Display;

/// How the indices of a dimension are dealt out to the processes along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Not at all: every process has all of them.
    None,
    /// One block for each process.
    Block,
    /// Blocks in turn.
    Cyclic,
}

/// `MPI_DISTRIBUTE_DFLT_DARG`: blocks as even as possible, or of one index if cyclic. No program can mean this number.
pub const DEFAULT_DARG: i64 = i64::MIN;

/// One dimension of a distributed array.
#[derive(Clone, Copy, Debug)]
pub struct Dimension {
    /// Indices of the whole array.
    pub size: i64,
    /// How they are dealt out.
    pub distribution: Distribution,
    /// Length of a block, or [`DEFAULT_DARG`].
    pub darg: i64,
    /// Processes along this dimension.
    pub processes: i64,
}

impl Datatype {
    /// What process `rank` of a grid of `size` processes owns of an array.
    pub fn darray(
        size: i64,
        rank: i64,
        dimensions: &[Dimension],
        order: Order,
        child: &Self,
    ) -> Result<Self> {
        check_grid(size, rank, dimensions)?;
        for (i, dimension) in dimensions.iter().enumerate() {
            dimension.check(i)?;
        }
        let places = coordinates(size, rank, dimensions);
        let mut inner_first: Vec<usize> = (0..dimensions.len()).collect();
        if order == Order::C {
            inner_first.reverse();
        }
        let (mut layout, mut stride, mut elements) =
            (child.layout().clone(), child.extent(), child.elements());
        for i in inner_first {
            let large = |TooLarge| too_large("array_of_gsizes", dimensions[i].shown(i));
            let owned;
            (layout, owned) = dimensions[i].owned(places[i], &layout, stride).map_err(large)?;
            elements = elements.checked_mul(owned).ok_or(TooLarge).map_err(large)?;
            stride = stride.checked_mul(dimensions[i].size).ok_or(TooLarge).map_err(large)?;
        }
        let column = |value: fn(&Dimension) -> i64| dimensions.iter().map(value);
        let ints = [size, rank, dimensions.len() as i64]
            .into_iter()
            .chain(column(|dimension| dimension.size))
            .chain(column(|dimension| dimension.distribution as i64))
            .chain(column(|dimension| dimension.darg))
            .chain(column(|dimension| dimension.processes))
            .chain([order as i64])
            .collect();
        let bounds = Bounds { lb: 0, ub: stride, marked: true, align: child.bounds().align };
        finish(Contents::of(Combiner::Darray, ints, vec![], child), layout, bounds, elements)
    }
}

impl Dimension {
    /// Layout and number of the indices that the process at `place` owns; `stride` is the distance of two indices.
    fn owned(&self, place: i64, one: &Layout, stride: i64) -> std::result::Result<(Layout, u64), TooLarge> {
        let size = i128::from(self.size);
        let block = i128::from(self.block());
        let period = block * i128::from(self.processes);
        let first = i128::from(place) * block;
        let whole = if size - first >= block { (size - first - block) / period + 1 } else { 0 };
        let rest_at = first + whole * period;
        let rest = (size - rest_at).clamp(0, block);
        let narrow = |value: i128| i64::try_from(value).map_err(|_| TooLarge);
        let piece = |at: i128, length: i128, blocks: i128| {
            if length == 0 || blocks == 0 {
                return Ok(Layout::EMPTY);
            }
            // A single block needs no distance to the next one.
            let apart = if blocks == 1 { 0 } else { narrow(period * i128::from(stride))? };
            let all = one.repeated(length as u64, stride)?.repeated(blocks as u64, apart)?;
            all.moved(narrow(at * i128::from(stride))?)
        };
        let layout = Layout::sequence([piece(first, block, whole)?, piece(rest_at, rest, 1)?])?;
        Ok((layout, (whole * block + rest) as u64))
    }

    /// Indices of one block.
    fn block(&self) -> i64 {
        match self.distribution {
            Distribution::None => self.size,
            Distribution::Block if self.darg == DEFAULT_DARG => (self.size - 1) / self.processes + 1,
            Distribution::Cyclic if self.darg == DEFAULT_DARG => 1,
            Distribution::Block | Distribution::Cyclic => self.darg,
        }
    }

    fn check(&self, i: usize) -> Result<()> {
        let Self { size, darg, processes, .. } = *self;
        if size < 1 {
            return wrong("array_of_gsizes", self.shown(i), "1 or more");
        }
        if self.distribution == Distribution::None && processes != 1 {
            let got = format_args!("{processes} in dimension {i}");
            return wrong("array_of_psizes", got, "1 where the distribution is MPI_DISTRIBUTE_NONE");
        }
        if self.distribution == Distribution::None || darg == DEFAULT_DARG {
            return Ok(());
        }
        let got = format_args!("{darg} in dimension {i}");
        if darg < 1 {
            return wrong("array_of_dargs", got, "1 or more, or MPI_DISTRIBUTE_DFLT_DARG");
        }
        if self.distribution == Distribution::Block && i128::from(darg) * i128::from(processes) < size.into()
        {
            let expected = format_args!("blocks that hold all {size} indices on {processes} processes");
            return wrong("array_of_dargs", got, expected);
        }
        Ok(())
    }

    fn shown(&self, i: usize) -> String {
        format!("{} in dimension {i}", self.size)
    }
}

fn check_grid(size: i64, rank: i64, dimensions: &[Dimension]) -> Result<()> {
    if size < 1 {
        return wrong("size", size, "1 or more");
    }
    if !(0..size).contains(&rank) {
        return Err(Error::invalid(ErrorClass::Rank, "rank", rank, format_args!("0..={}", size - 1)));
    }
    if dimensions.is_empty() {
        return wrong("ndims", 0, "1 or more");
    }
    let mut grid = 1i64;
    for (i, dimension) in dimensions.iter().enumerate() {
        if dimension.processes < 1 {
            return wrong(
                "array_of_psizes",
                format_args!("{} in dimension {i}", dimension.processes),
                "1 or more",
            );
        }
        grid = grid.saturating_mul(dimension.processes);
    }
    // A product that was cut to the largest number is nobody's.
    if grid != size || grid == i64::MAX {
        let got = format_args!("a grid of {grid} processes");
        return wrong("array_of_psizes", got, format_args!("a grid of size = {size} processes"));
    }
    Ok(())
}

/// Where `rank` stands in the grid, the last dimension running fastest.
fn coordinates(size: i64, rank: i64, dimensions: &[Dimension]) -> Vec<i64> {
    let (mut size, mut rank) = (size, rank);
    let place = |dimension: &Dimension| {
        size /= dimension.processes;
        let place = rank / size;
        rank %= size;
        place
    };
    dimensions.iter().map(place).collect()
}

fn wrong<T>(argument: &'static str, got: impl Display, expected: impl Display) -> Result<T> {
    Err(Error::invalid(ErrorClass::Arg, argument, got, expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;
    use Distribution::{Block, Cyclic};

    const DIMENSIONS: [(i64, Distribution, i64, i64); 12] = [
        (7, Block, DEFAULT_DARG, 3),
        (7, Block, 4, 2),
        (6, Block, 5, 2),
        (3, Block, DEFAULT_DARG, 5),
        (7, Cyclic, DEFAULT_DARG, 3),
        (11, Cyclic, 2, 3),
        (12, Cyclic, 2, 3),
        (5, Cyclic, 9, 2),
        (5, Cyclic, 2, 1),
        (1, Cyclic, 1, 4),
        (6, Distribution::None, 3, 1),
        (8, Cyclic, 1, 8),
    ];

    fn dimension((size, distribution, darg, processes): (i64, Distribution, i64, i64)) -> Dimension {
        Dimension { size, distribution, darg, processes }
    }

    /// Who owns index `at`, straight from the definition of the distributions.
    fn owner(dimension: &Dimension, at: i64) -> i64 {
        match (dimension.distribution, dimension.darg) {
            (Distribution::None, _) => 0,
            (Block, DEFAULT_DARG) => at / ((dimension.size + dimension.processes - 1) / dimension.processes),
            (Block, darg) => at / darg,
            (Cyclic, darg) => at / if darg == DEFAULT_DARG { 1 } else { darg } % dimension.processes,
        }
    }

    #[test]
    fn every_process_owns_what_the_definition_says() {
        let int = Datatype::from(Named::Int);
        for first in DIMENSIONS {
            for second in DIMENSIONS {
                for order in [Order::C, Order::Fortran] {
                    let grid = [dimension(first), dimension(second)];
                    let size = grid[0].processes * grid[1].processes;
                    for rank in 0..size {
                        let made = Datatype::darray(size, rank, &grid, order, &int).unwrap();
                        let place = [rank / grid[1].processes, rank % grid[1].processes];
                        let (outer, inner) = if order == Order::C { (0, 1) } else { (1, 0) };
                        let mut owned = Vec::new();
                        for i in (0..grid[outer].size).filter(|i| owner(&grid[outer], *i) == place[outer]) {
                            for j in (0..grid[inner].size).filter(|j| owner(&grid[inner], *j) == place[inner])
                            {
                                owned.push((i * grid[inner].size + j) * 4);
                            }
                        }
                        let spelled = Datatype::hindexed_block(1, &owned, &int).unwrap();
                        assert_eq!(made.layout(), spelled.layout(), "{grid:?} {order:?} {rank}");
                        assert_eq!(made.elements(), owned.len() as u64);
                        assert_eq!((made.lb(), made.extent()), (0, grid[0].size * grid[1].size * 4));
                    }
                }
            }
        }
    }

    #[test]
    fn wrong_grids_are_refused() {
        let int = Datatype::from(Named::Int);
        let refused = |size, rank, spec: &[(i64, Distribution, i64, i64)], says: &str| {
            let grid: Vec<Dimension> = spec.iter().copied().map(dimension).collect();
            let error = Datatype::darray(size, rank, &grid, Order::C, &int).unwrap_err().to_string();
            assert!(error.contains(says), "{error} does not say {says}");
        };
        refused(2, 2, &[(4, Block, 2, 2)], "rank is 2, expected 0..=1");
        refused(3, 0, &[(4, Block, 2, 2)], "array_of_psizes is a grid of 2 processes");
        refused(2, 0, &[(0, Block, 2, 2)], "array_of_gsizes is 0 in dimension 0");
        refused(2, 0, &[(5, Block, 2, 2)], "array_of_dargs is 2 in dimension 0");
        refused(2, 0, &[(5, Cyclic, 0, 2)], "array_of_dargs is 0 in dimension 0");
        refused(2, 0, &[(5, Distribution::None, 0, 2)], "array_of_psizes is 2 in dimension 0");
        refused(
            1,
            0,
            &[(1 << 40, Block, DEFAULT_DARG, 1), (1 << 40, Block, DEFAULT_DARG, 1)],
            "array_of_gsizes is 1099511627776",
        );
        refused(1, 0, &[], "ndims is 0");
    }
}
