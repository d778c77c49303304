//! At which level of a hierarchy the ranks of a communicator part (MPI-5.0 §7.4.2, `MPI_COMM_TYPE_HW_UNGUIDED`).
//!
//! What must stay true: all ranks of `MPI_Comm_split_type` send the same number of places, whatever split they ask for, because
//! some may ask for none and do not know what the others want.

use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::coll::{self, Schedule};
use crate::comm::Comm;
use crate::comm::create::{filled, number};
use crate::error::{Error, ErrorClass, Result};

/// What everybody asks for and where everybody is; the schedule that shares it is under way.
#[derive(Debug)]
pub struct Levels {
    outcome: Arc<OwnedBuf>,
    levels: usize,
}

/// Sent instead of a place by who is at none, and of a kind by who asks for no split.
const NONE: i32 = -1;

impl Comm {
    /// Plans to share with everybody, of both groups, which kind of split this rank asks for (`None`: it comes into no communicator)
    /// and where it is at each level, the widest first.
    pub fn plan_levels(&self, kind: Option<i32>, places: &[Option<i32>]) -> (Schedule, Levels) {
        let team = self.everybody();
        let own = std::iter::once(kind).chain(places.iter().copied());
        let own: Vec<u8> = own.flat_map(|one| one.unwrap_or(NONE).to_le_bytes()).collect();
        let mut shared = vec![0; own.len() * team.size() as usize];
        shared[own.len() * team.rank() as usize..][..own.len()].copy_from_slice(&own);
        let outcome = filled(&shared);
        let levels = Levels { outcome: outcome.clone(), levels: places.len() };
        (coll::share(team, "MPI_Comm_split_type", outcome), levels)
    }
}

impl Levels {
    /// The widest level at which the ranks that ask for a split are not all at one place, once the schedule is over and went
    /// well.
    ///
    /// # Errors
    /// Ranks that ask for different kinds of splits.
    pub fn dividing(&self) -> Result<Option<usize>> {
        let shared = self.outcome.source().to_vec();
        let words: Vec<i32> = (0..shared.len() / 4).map(|at| number(&shared, at * 4) as i32).collect();
        let asking: Vec<&[i32]> = words.chunks(1 + self.levels).filter(|rank| rank[0] != NONE).collect();
        let Some(first) = asking.first() else { return Ok(None) };
        if asking.iter().any(|rank| rank[0] != first[0]) {
            let expected = "the same at all ranks, or MPI_UNDEFINED";
            return Err(Error::invalid(ErrorClass::Arg, "split_type", "different at ranks", expected));
        }
        Ok((0..self.levels).find(|level| asking.iter().any(|rank| rank[1 + level] != first[1 + level])))
    }
}
