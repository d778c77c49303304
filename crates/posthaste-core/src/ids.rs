//! Checked names for the numbers that travel through the engine, so that one kind cannot be taken for another.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};

use rustc_hash::FxBuildHasher;

use crate::jobs::{JobId, JobNumber};

/// A map by such numbers. They are small and close to each other, so a hash that nobody can foresee would only cost time.
pub type IdMap<K, V> = HashMap<K, V, FxBuildHasher>;

/// A set of such numbers.
pub type IdSet<K> = HashSet<K, FxBuildHasher>;

/// A process this process can talk to: its place in the table of processes (the world's ranks come first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Peer(pub u32);

impl Peer {
    /// As a table index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The communication context of a communicator (MPI-5.0 §7.2.3): messages of different contexts never match.
/// 48 bits: the world rank of the process that allocated it, the VCI that it chose, and that process's
/// count. So a founder needs nobody's agreement, only to announce it. The two lowest bits tell the traffic of one
/// communicator apart: point-to-point, collective, partitioned.
///
/// That is unique within a job. A communicator with members of several jobs is named by its founder's job as well, so that
/// contexts of jobs that meet later cannot collide: the upper 16 bits are the number that this process has for that job
/// ([`JobNumber`]), 0 where all members are of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextId(pub u64);

impl Hash for ContextId {
    /// The upper half goes into the lower one: in a small [`IdMap`] the highest bits would not count for the bucket.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0 ^ self.0 >> 32);
    }
}

impl ContextId {
    /// Point-to-point context of the world.
    pub const WORLD: Self = Self(0);
    /// Point-to-point context of the communicator that holds only this process.
    pub const SELF: Self = Self(4);
    /// In which processes found communicators that are made of a group alone (MPI-5.0 §7.4.2).
    pub const FOUNDING: Self = Self(8);
    /// First count that a founder may use for communicators made later; the next ones follow in steps of
    /// [`ContextId::STEP`].
    pub const FIRST_COUNT: u32 = 12;
    /// From one count of a founder to the next.
    pub const STEP: u32 = 4;
    const COUNT_BITS: u32 = 25;
    const VCI_BITS: u32 = 3;
    const JOB_SHIFT: u32 = 48;

    /// The context number `count` of founder `rank`, in a VCI; `None` when the founder has used up its numbers.
    pub fn allocated(rank: u32, vci: usize, count: u32) -> Option<Self> {
        let fits = count.is_multiple_of(Self::STEP) && count < 1 << Self::COUNT_BITS && rank < 1 << 20;
        let vci = (vci as u64) << Self::COUNT_BITS;
        let founder = u64::from(rank) << (Self::COUNT_BITS + Self::VCI_BITS);
        fits.then_some(Self(founder | vci | u64::from(count)))
    }

    /// The VCI that all traffic of the communicator goes through: 0..8.
    #[inline]
    pub fn vci(self) -> usize {
        (self.0 >> Self::COUNT_BITS) as usize & ((1 << Self::VCI_BITS) - 1)
    }

    /// The context by which the communicator is known, whichever of its contexts this is.
    #[inline]
    pub fn point_to_point(self) -> Self {
        Self(self.0 & !u64::from(Self::STEP - 1))
    }

    /// The context of the same communicator's collective traffic.
    #[inline]
    pub fn collective(self) -> Self {
        Self(self.0 | 1)
    }

    /// Whether this is such a context.
    #[inline]
    pub fn is_collective(self) -> bool {
        self.0 % u64::from(Self::STEP) == 1
    }

    /// The context in which the same communicator's partitioned operations find each other.
    pub fn partitioned(self) -> Self {
        Self(self.0 | 2)
    }

    /// The same, for a communicator with members of several jobs: its founder is of this one. `None` when this process has
    /// heard of too many jobs.
    pub fn allocated_in(self, job: JobId) -> Option<Self> {
        let number = if job == JobId(0) { None } else { job.number() }?;
        Some(Self(self.within_job() | u64::from(number.get()) << Self::JOB_SHIFT))
    }

    /// Whether the job of the founder has to be named with this context.
    #[inline(always)]
    pub fn spans_jobs(self) -> bool {
        self.0 >> Self::JOB_SHIFT != 0
    }

    /// The job of the founder, if it has to be named.
    pub fn job(self) -> Option<JobId> {
        JobNumber::new((self.0 >> Self::JOB_SHIFT) as u16)?.id()
    }

    /// What the context is within its founder's job.
    #[inline(always)]
    pub fn within_job(self) -> u64 {
        self.0 & ((1 << Self::JOB_SHIFT) - 1)
    }

    /// As one process sends it to another: within the founder's job, and that job, 0 where it is the job of both.
    pub fn words(self) -> [u64; 2] {
        [self.within_job(), self.job().map_or(0, |job| job.0)]
    }

    /// The context that another process sent, if it can be one: that of point-to-point messages.
    pub fn from_words([context, job]: [u64; 2]) -> Option<Self> {
        let first = u64::from(Self::FIRST_COUNT);
        let fits =
            context >= first && context >> Self::JOB_SHIFT == 0 && context.is_multiple_of(Self::STEP.into());
        let context = fits.then_some(Self(context))?;
        if job == 0 { Some(context) } else { context.allocated_in(JobId(job)) }
    }
}

/// Names a request: its slot in the table and the generation of that slot. It is the table key, it travels on
/// the wire, and (packed) it is the C handle; a stale or forged id finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId {
    /// Place in the table.
    pub slot: u32,
    /// How often that place had been taken, never 0.
    pub generation: u32,
}

impl RequestId {
    /// Names no request: for packets whose sender waits for nothing.
    pub const NONE: Self = Self { slot: u32::MAX, generation: 0 };
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}.{}", self.slot, self.generation)
    }
}

/// A receive from whoever sends (`MPI_ANY_SOURCE`).
///
/// This and the three numbers that follow are the engine's own, and every API layer converts its program's. That they
/// are those of the standard ABI makes its conversion cost nothing.
pub const ANY_SOURCE: i32 = -1;
/// A receive of whatever tag (`MPI_ANY_TAG`).
pub const ANY_TAG: i32 = -2;
/// Nobody: what is sent there is gone at once (`MPI_PROC_NULL`).
pub const PROC_NULL: i32 = -3;
/// The caller is the root of an operation on an intercommunicator (`MPI_ROOT`).
pub const ROOT: i32 = -4;
/// What an API layer gives for a number of its program that means no rank and no tag, and is one of the four above here.
pub const MEANINGLESS: i32 = i32::MIN;
/// Largest tag a user may pass (`MPI_TAG_UB`).
pub const TAG_UB: i32 = i32::MAX;

/// A wrong rank or tag, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Wrong(pub i32);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            MEANINGLESS => f.write_str("a number without a meaning"),
            number => number.fmt(f),
        }
    }
}

/// The same of a root, whose special values are shown by their names: programs know their numbers from a header alone.
#[derive(Clone, Copy, Debug)]
pub struct WrongRoot(pub i32);

impl fmt::Display for WrongRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            PROC_NULL => f.write_str("MPI_PROC_NULL"),
            ROOT => f.write_str("MPI_ROOT"),
            number => Wrong(number).fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn contexts_of_different_jobs_lie_in_different_buckets() {
        let first = u64::from(ContextId::FIRST_COUNT);
        let hashes =
            (1..=1000).map(|job| FxBuildHasher.hash_one(ContextId(first | job << ContextId::JOB_SHIFT)));
        let hashes: Vec<u64> = hashes.collect();
        for bits in 7..=16 {
            let buckets: HashSet<u64> = hashes.iter().map(|hash| hash % (1 << bits)).collect();
            let most = hashes.len().min(1 << bits);
            assert!(buckets.len() >= most / 2, "{} buckets of {bits} bits", buckets.len());
        }
    }
}
