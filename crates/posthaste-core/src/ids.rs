//! Checked names for the numbers that travel through the engine, so that one kind cannot be taken for another.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

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
/// count, whose upper part is above the rank, in the bits that no rank of the job needs. So a founder needs nobody's agreement, only to announce it. The two lowest bits tell the traffic of one
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
    const RANK_BITS: u32 = 20;
    /// The founder in the contexts of several jobs that nobody has allocated: no job is so large.
    pub const NOBODY: u32 = (1 << Self::RANK_BITS) - 1;
    const JOB_SHIFT: u32 = 48;

    /// The context with a small number `count` of founder `rank`, in a VCI.
    pub fn allocated(rank: u32, vci: usize, count: u32) -> Option<Self> {
        let fits =
            count.is_multiple_of(Self::STEP) && count < 1 << Self::COUNT_BITS && rank < 1 << Self::RANK_BITS;
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

    /// The context in which members of the same communicator agree that all of them have made something of it.
    pub fn making(self) -> Self {
        Self(self.0 | 3)
    }

    /// The context of a series of agreements, of which this is one: its own, where members agree on what they make.
    pub(crate) fn of_agreements(self) -> Self {
        if self == self.making() { self } else { self.point_to_point() }
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

/// A process of a job that allocates contexts.
#[derive(Debug)]
pub struct Founder {
    rank: u32,
    /// Bits that the ranks of its job take.
    bits: u32,
    next: Arc<AtomicU64>,
}

/// The next count of this process: it goes on when the engine is opened again, for processes of other jobs may know contexts of before.
static NEXT: LazyLock<Arc<AtomicU64>> = LazyLock::new(first);

fn first() -> Arc<AtomicU64> {
    Arc::new(AtomicU64::new(ContextId::FIRST_COUNT.into()))
}

impl Founder {
    /// This process, which has this rank in a job of so many.
    pub fn new(rank: u32, processes: u32) -> Self {
        let bits = processes.next_power_of_two().trailing_zeros();
        Self { rank, bits, next: NEXT.clone() }
    }

    /// One of several in this process, with counts of its own.
    #[cfg(test)]
    pub(crate) fn apart(rank: u32, processes: u32) -> Self {
        Self { next: first(), ..Self::new(rank, processes) }
    }

    /// Its next count; `None` when it has used them up, now and ever after.
    pub fn count(&self) -> Option<u64> {
        let end = 1 << (ContextId::COUNT_BITS + ContextId::RANK_BITS.saturating_sub(self.bits));
        let next = |count: u64| (count < end).then(|| count + u64::from(ContextId::STEP));
        // SYNC: a number; nothing is read on account of it.
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()
    }

    /// The context with one of its counts, in a VCI.
    pub fn context(&self, vci: usize, count: u64) -> Option<ContextId> {
        let upper = count >> ContextId::COUNT_BITS;
        let founder = u32::try_from(upper << self.bits | u64::from(self.rank)).ok()?;
        let lower = count & ((1 << ContextId::COUNT_BITS) - 1);
        // What has no founder takes the place of the very last ones.
        if founder == ContextId::NOBODY && upper > 0 {
            return None;
        }
        ContextId::allocated(founder, vci, lower as u32)
    }

    /// It has used them up, or begins again.
    #[cfg(test)]
    pub(crate) fn set(&self, count: u64) {
        self.next.store(count, Ordering::Relaxed);
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
    fn a_founder_that_has_used_up_its_counts_begins_no_second_time() {
        for (rank, processes) in [(0, 2), (3, 5), (999, 1000), (1 << 19, 1 << 20)] {
            let founder = Founder::apart(rank, processes);
            let end = 1 << (45 - founder.bits);
            founder.set(end - u64::from(ContextId::STEP));
            let last = founder.count().expect("the last one");
            assert!(founder.context(1, last).is_some());
            // As often as it takes from there around to 0, if each failure counted.
            for count in [end, u64::MAX - 3, u64::MAX] {
                founder.set(count);
                assert_eq!((0..10).find_map(|_| founder.count()), None);
            }
        }
    }

    #[test]
    fn an_engine_that_is_opened_again_uses_no_count_again() {
        let first = Founder::new(0, 2).count().expect("a count");
        assert!(Founder::new(0, 2).count().expect("a count") > first);
    }

    #[test]
    fn no_two_founders_allocate_the_same_context() {
        let mut seen =
            HashSet::from([ContextId::allocated(ContextId::NOBODY, 0, 12).expect("a small count").0]);
        let counts = [12, (1 << 25) - 4, 1 << 25, (1 << 25) + 12, 7 << 25, (1 << 42) + 16];
        let mut founded = 0;
        for rank in 0..5 {
            let founder = Founder::apart(rank, 5);
            let contexts = counts.iter().filter_map(|count| founder.context(3, *count));
            for context in contexts {
                assert_eq!(context.vci(), 3);
                assert_eq!(ContextId::from_words(context.words()), Some(context));
                founded += 1;
                assert!(seen.insert(context.0), "{context:?} of rank {rank}");
            }
        }
        assert_eq!(founded, 5 * 5, "all but the last count, of which there are none");
        let last = Founder::apart(3, 4);
        assert!(last.context(0, (1 << 43) - 4).is_none() && last.context(0, (1 << 42) - 4).is_some());
    }

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
