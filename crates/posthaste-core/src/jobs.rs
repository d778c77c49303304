//! Jobs: what names one among all, and the numbers that this process has for those it has heard of.
//!
//! A job is named by 64 random bits, which is too much for every key and every comparison. So a process numbers the
//! jobs whose names it meets, as a compiler numbers the words it reads. The numbers mean nothing to anybody else and never
//! travel; names do (`wire`).
//!
//! What must stay true: two names never have one number, whoever reads them first.

use std::collections::HashMap;
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

/// What names a job: random, and never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(pub u64);

/// What names a process among those of all jobs: its job, and its rank in the world there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessName {
    /// Its job.
    pub job: JobId,
    /// Its rank there.
    pub rank: u32,
}

impl std::fmt::Display for ProcessName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rank {} of job {:016x}", self.rank, self.job.0)
    }
}

/// What this process has instead of a [`JobId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobNumber(NonZeroU16);

#[derive(Debug, Default)]
struct Known {
    ids: Vec<JobId>,
    numbers: HashMap<JobId, JobNumber>,
}

/// Jobs that are found without a lock: those heard of first.
const FEW: usize = 8;

/// The jobs that this process has heard of.
#[derive(Debug)]
pub struct Jobs {
    all: RwLock<Option<Known>>,
    /// The names of the first ones in the order of their numbers; 0: there are not so many.
    few: [AtomicU64; FEW],
}

/// The table of this copy of the code, and the one in use: where another copy's engine is shared, that copy's, because numbers
/// stand in contexts that both read.
static OWN: Jobs = Jobs { all: RwLock::new(None), few: [const { AtomicU64::new(0) }; FEW] };
static IN_USE: OnceLock<&'static Jobs> = OnceLock::new();

impl Jobs {
    /// The table in use.
    pub fn of_process() -> &'static Self {
        IN_USE.get_or_init(|| &OWN)
    }

    /// Uses the table of another copy of the code, before this one has numbered any job.
    pub fn adopt(table: &'static Self) {
        let in_use = IN_USE.get_or_init(|| table);
        debug_assert!(std::ptr::eq(*in_use, table), "jobs have been numbered before");
    }
}

impl JobId {
    /// The number of this job in this process; `None` when it has heard of 65,535 others.
    #[inline]
    pub fn number(self) -> Option<JobNumber> {
        // SYNC: the name is all that is read; its place is its number.
        let is_this = |name: &AtomicU64| name.load(Ordering::Relaxed) == self.0;
        match Jobs::of_process().few.iter().position(is_this) {
            Some(at) if self.0 != 0 => JobNumber::new(at as u16 + 1),
            _ => self.number_of_many(),
        }
    }

    #[cold]
    fn number_of_many(self) -> Option<JobNumber> {
        let jobs = Jobs::of_process();
        let known = jobs.all.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.as_ref().and_then(|known| known.numbers.get(&self)) {
            return Some(*number);
        }
        drop(known);
        let mut known = jobs.all.write().unwrap_or_else(PoisonError::into_inner);
        let Known { ids, numbers } = known.get_or_insert_default();
        if let Some(number) = numbers.get(&self) {
            return Some(*number); // another thread was faster
        }
        let number = JobNumber(NonZeroU16::new(u16::try_from(ids.len() + 1).ok()?)?);
        ids.push(self);
        numbers.insert(self, number);
        if let Some(name) = jobs.few.get(ids.len() - 1) {
            name.store(self.0, Ordering::Relaxed);
        }
        Some(number)
    }
}

impl JobNumber {
    /// The number, if it is one: 0 names no job.
    pub fn new(number: u16) -> Option<Self> {
        NonZeroU16::new(number).map(Self)
    }

    /// As it stands in a context.
    pub fn get(self) -> u16 {
        self.0.get()
    }

    /// The job.
    #[inline]
    pub fn id(self) -> Option<JobId> {
        let jobs = Jobs::of_process();
        let few = jobs.few.get(usize::from(self.get()) - 1).map(|name| name.load(Ordering::Relaxed));
        if let Some(name) = few.filter(|name| *name != 0) {
            return Some(JobId(name));
        }
        let known = jobs.all.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref()?.ids.get(usize::from(self.get()) - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_keeps_its_number() {
        let ids: Vec<JobId> =
            (0..100).map(|n| JobId(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(n + 1))).collect();
        let number = |id: &JobId| id.number().unwrap();
        let numbers: Vec<JobNumber> = ids.iter().map(number).collect();
        assert!(ids.iter().map(number).eq(numbers.iter().copied()));
        assert!(numbers.iter().zip(&ids).all(|(number, id)| number.id() == Some(*id)));
        let distinct: std::collections::HashSet<JobNumber> = numbers.into_iter().collect();
        assert_eq!(distinct.len(), 100);
        assert!(JobNumber::new(0).is_none() && JobNumber::new(u16::MAX).unwrap().id().is_none());
    }
}
