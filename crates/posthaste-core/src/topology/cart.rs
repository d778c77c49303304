//! Grids (MPI-5.0 §8.5.1, §8.5.5 to §8.5.7). Ranks count the last coordinate fastest.
//!
//! What must stay true: the product of the sizes is the number of ranks of the communicator that carries the grid.

use std::sync::Arc;

use crate::coll::Schedule;
use crate::comm::{Comm, Creation};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::{ContextId, PROC_NULL};
use crate::topology::order::{self, Order};
use crate::topology::{Topology, intra};

/// A grid of processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cart {
    dims: Vec<Dim>,
}

/// One dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dim {
    size: u32,
    periodic: bool,
}

impl Cart {
    /// A grid for the ranks of `comm`, which may be more than it needs. No dimensions make a grid of one process.
    ///
    /// # Errors
    /// On an intercommunicator; a size below 1; a grid with more places than there are ranks.
    pub fn new(comm: &Comm, dims: &[i32], periods: &[i32]) -> Result<Self> {
        intra(comm)?;
        let mut places: i64 = 1;
        for (at, size) in dims.iter().enumerate() {
            if *size < 1 {
                let got = format_args!("{size} at index {at}");
                return Err(Error::invalid(ErrorClass::Dims, "dims", got, "1 or more"));
            }
            places = places.saturating_mul(i64::from(*size));
        }
        if places > i64::from(comm.size()) {
            let got = format_args!("{dims:?}, a grid of {places} places");
            let expected = format_args!("at most as many as the communicator has ranks, {}", comm.size());
            return Err(Error::invalid(ErrorClass::Dims, "dims", got, expected));
        }
        let dim = |(size, periodic): (&i32, &i32)| Dim { size: *size as u32, periodic: *periodic != 0 };
        Ok(Self { dims: dims.iter().zip(periods).map(dim).collect() })
    }

    /// Plans the communicator that carries the grid; those that it has no place for get none. Ranks stay as they are, or get the
    /// order in which the fewest neighbours are on different nodes (`reorder`).
    ///
    /// # Errors
    /// When no context can be allocated.
    pub fn plan(
        self,
        comm: &Comm,
        reorder: bool,
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        let order = if reorder { self.order(comm) } else { Order::Kept };
        let group = order.group(comm, self.places());
        comm.plan_subset("MPI_Cart_create", &Arc::new(group), Some(Topology::Cart(self).stored()), allocate)
    }

    /// The place that rank `rank` of `comm` gets where ranks are reordered; `None` if it gets none.
    pub fn place_of(&self, comm: &Comm, rank: u32) -> Option<u32> {
        self.order(comm).place_of(rank, self.places())
    }

    fn order(&self, comm: &Comm) -> Order {
        let dims: Vec<(u32, bool)> = self.dims.iter().map(|dim| (dim.size, dim.periodic)).collect();
        order::nodes(comm, self.places()).map_or(Order::Kept, |nodes| order::of_grid(&nodes, &dims))
    }

    /// Plans the grids of fewer dimensions that the grid of `comm`, this one, falls into: those of `remain` stay.
    ///
    /// # Errors
    /// When no context can be allocated.
    pub fn plan_sub(
        &self,
        comm: &Comm,
        remain: &[i32],
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        let stays = |at: usize| remain.get(at).is_some_and(|stays| *stays != 0);
        let mine = self.split(comm.rank() as u32);
        // In the order of the old ranks the coordinates that stay count as they do in the new grid.
        let same = |rank: &u32| {
            self.split(*rank).iter().zip(&mine).enumerate().all(|(at, (one, own))| stays(at) || one == own)
        };
        let ranks = (0..self.places()).filter(same);
        let group = Group::of(ranks.filter_map(|rank| comm.group().peer(rank)).collect());
        let dims = self.dims.iter().enumerate().filter(|(at, _)| stays(*at));
        let sub = Self { dims: dims.map(|(_, dim)| *dim).collect() };
        comm.plan_subset("MPI_Cart_sub", &Arc::new(group), Some(Topology::Cart(sub).stored()), allocate)
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.dims.len()
    }

    /// Size of each dimension, and whether it goes round.
    pub fn sizes(&self) -> impl Iterator<Item = (i32, bool)> + '_ {
        self.dims.iter().map(|dim| (dim.size as i32, dim.periodic))
    }

    /// Number of places.
    pub fn places(&self) -> u32 {
        self.dims.iter().map(|dim| dim.size).product()
    }

    /// The rank at some coordinates; in dimensions that go round, any number is one.
    ///
    /// # Errors
    /// Coordinates outside of the grid, or of another number of dimensions.
    pub fn rank(&self, coords: &[i32]) -> Result<i32> {
        if coords.len() != self.dims.len() {
            let expected = format_args!("one for each of {} dimensions", self.dims.len());
            return Err(Error::invalid(ErrorClass::Arg, "coords", format_args!("{coords:?}"), expected));
        }
        let mut rank = 0;
        for (at, (dim, coord)) in self.dims.iter().zip(coords).enumerate() {
            let Some(coord) = dim.place(i64::from(*coord)) else {
                let got = format_args!("{coord} at index {at}");
                let expected = format_args!("0..={}: the dimension is not periodic", dim.size - 1);
                return Err(Error::invalid(ErrorClass::Arg, "coords", got, expected));
            };
            rank = rank * dim.size + coord;
        }
        Ok(rank as i32)
    }

    /// The coordinates of a rank.
    ///
    /// # Errors
    /// A rank that nobody has.
    pub fn coords(&self, rank: i32) -> Result<Vec<i32>> {
        match u32::try_from(rank) {
            Ok(rank) if rank < self.places() => Ok(self.split(rank).iter().map(|one| *one as i32).collect()),
            _ => {
                let expected = format_args!("0..={}", self.places() - 1);
                Err(Error::invalid(ErrorClass::Rank, "rank", rank, expected))
            }
        }
    }

    /// Where `rank` gets data from and where it sends to when everybody sends by `displacement` along a dimension;
    /// `MPI_PROC_NULL` beyond the border.
    ///
    /// # Errors
    /// A dimension or a rank that there is not.
    pub fn shift(&self, rank: i32, direction: i32, displacement: i32) -> Result<(i32, i32)> {
        let coords = self.coords(rank)?;
        let at = usize::try_from(direction).ok().filter(|at| *at < self.dims.len());
        let Some(at) = at else {
            let expected = format_args!("a dimension of the grid, below {}", self.dims.len());
            return Err(Error::invalid(ErrorClass::Arg, "direction", direction, expected));
        };
        // Distance in ranks between neighbours along this dimension.
        let stride: i64 = self.dims[at + 1..].iter().map(|dim| i64::from(dim.size)).product();
        let own = i64::from(coords[at]);
        let by = |displacement: i64| match self.dims[at].place(own + displacement) {
            Some(place) => (i64::from(rank) + (i64::from(place) - own) * stride) as i32,
            None => PROC_NULL,
        };
        Ok((by(-i64::from(displacement)), by(i64::from(displacement))))
    }

    /// The neighbours of `rank` along each dimension, the one below before the one above; `MPI_PROC_NULL` beyond the border
    /// (MPI-5.0 §8.6).
    ///
    /// # Errors
    /// A rank that nobody has.
    pub fn neighbors(&self, rank: i32) -> Result<Vec<i32>> {
        let pair = |direction: usize| self.shift(rank, direction as i32, 1);
        let pairs: Vec<[i32; 2]> =
            (0..self.dims.len()).map(|at| pair(at).map(Into::into)).collect::<Result<_>>()?;
        Ok(pairs.into_flattened())
    }

    fn split(&self, rank: u32) -> Vec<u32> {
        let mut rest = rank;
        let mut coords: Vec<u32> = self.dims.iter().rev().map(|dim| take(&mut rest, dim.size)).collect();
        coords.reverse();
        coords
    }
}

impl Dim {
    fn place(&self, coord: i64) -> Option<u32> {
        let size = i64::from(self.size);
        let place = if self.periodic { coord.rem_euclid(size) } else { coord };
        (0..size).contains(&place).then_some(place as u32)
    }
}

/// The lowest digit of a number, which loses it.
fn take(number: &mut u32, base: u32) -> u32 {
    let digit = *number % base;
    *number /= base;
    digit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(dims: &[i32], periods: &[i32]) -> Cart {
        Cart::new(&Comm::world(0, 24), dims, periods).unwrap()
    }

    #[test]
    fn ranks_and_coordinates_are_inverse() {
        let grid = grid(&[2, 3, 4], &[1, 0, 1]);
        assert_eq!(grid.places(), 24);
        for rank in 0..24 {
            assert_eq!(grid.rank(&grid.coords(rank).unwrap()).unwrap(), rank);
        }
        assert_eq!(grid.coords(23).unwrap(), [1, 2, 3]);
        assert_eq!(grid.rank(&[-1, 2, 7]).unwrap(), 23);
        assert_eq!(grid.rank(&[i32::MIN, 0, i32::MAX]).unwrap(), 3);
        let error = grid.rank(&[0, 3, 0]).unwrap_err().to_string();
        assert_eq!(error, "coords is 3 at index 1, expected 0..=2: the dimension is not periodic");
        assert_eq!(grid.coords(24).unwrap_err().class(), ErrorClass::Rank);
        assert!(grid.coords(-1).is_err() && grid.rank(&[0, 0]).is_err());
    }

    #[test]
    fn shifts_stop_at_borders_and_go_round() {
        let grid = grid(&[2, 3, 4], &[1, 0, 1]);
        assert_eq!(grid.shift(0, 0, 1).unwrap(), (12, 12));
        assert_eq!(grid.shift(0, 1, 1).unwrap(), (PROC_NULL, 4));
        assert_eq!(grid.shift(8, 1, 1).unwrap(), (4, PROC_NULL));
        assert_eq!(grid.shift(8, 1, -2).unwrap(), (PROC_NULL, 0));
        assert_eq!(grid.shift(5, 2, 6).unwrap(), (7, 7));
        assert_eq!(grid.shift(5, 2, 0).unwrap(), (5, 5));
        assert_eq!(grid.shift(5, 1, i32::MIN).unwrap(), (PROC_NULL, PROC_NULL));
        assert!(grid.shift(5, 3, 1).is_err() && grid.shift(5, -1, 1).is_err());
    }

    #[test]
    fn a_grid_fits_its_communicator() {
        let world = Comm::world(0, 6);
        assert_eq!(Cart::new(&world, &[], &[]).unwrap().places(), 1);
        assert!(grid(&[], &[]).shift(0, 0, 1).is_err());
        for wrong in [&[0][..], &[2, -1], &[7], &[3, 3], &[i32::MAX, i32::MAX, i32::MAX]] {
            assert_eq!(Cart::new(&world, wrong, &[0; 3]).unwrap_err().class(), ErrorClass::Dims);
        }
    }
}
