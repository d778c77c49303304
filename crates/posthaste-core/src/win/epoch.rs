//! Epochs: which accesses and which calls of synchronisation are in order at this time (MPI-5.0 §12.5).
//!
//! What must stay true: an access needs an epoch towards its target, and one begins only where none of another kind is. A
//! fence opens an epoch only if an access follows it, so locks may be taken behind a fence.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorClass, Result};
use crate::pt2pt::contexts::REVOKED;

/// Assertions of a program (MPI-5.0 §12.5.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assert {
    /// The other side has made sure that there is nothing to wait for.
    pub no_check: bool,
    /// No access of ours is to be ended.
    pub no_precede: bool,
    /// No access of ours follows.
    pub no_succeed: bool,
}

/// How a target is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// For this member alone.
    Exclusive,
    /// For any number of members.
    Shared,
}

/// The access epoch of this member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Access {
    None,
    /// Between two fences, without an access so far.
    Fence,
    /// Between two fences.
    FenceUsed,
    /// Between `MPI_Win_start` and `MPI_Win_complete`.
    Started,
    /// Some targets are locked.
    Locks,
    /// All targets are locked.
    LockAll,
    /// There is no window any more.
    Freed,
    /// It is revoked, which nothing ends.
    Revoked = REVOKED as u8,
}

impl Access {
    #[inline(always)]
    fn of(number: u8) -> Self {
        match number {
            1 => Self::Fence,
            2 => Self::FenceUsed,
            3 => Self::Started,
            4 => Self::Locks,
            5 => Self::LockAll,
            6 => Self::Freed,
            0xff => Self::Revoked,
            _ => Self::None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::None => "no access epoch",
            Self::Fence | Self::FenceUsed => "the epoch of a fence",
            Self::Started => "the epoch of MPI_Win_start",
            Self::Locks => "the epoch of MPI_Win_lock",
            Self::LockAll => "the epoch of MPI_Win_lock_all",
            Self::Freed => "a window that was freed",
            Self::Revoked => "a window that is revoked",
        }
    }
}

/// How this member may access a target.
const CLOSED: u8 = 0;
const SHARED: u8 = 1;
const EXCLUSIVE: u8 = 2;
/// Locked by word of the program alone (`MPI_MODE_NOCHECK`).
const UNCHECKED: u8 = 3;
const STARTED: u8 = 4;

/// A lock that is to be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locked {
    /// For this member alone.
    Exclusive,
    /// Shared.
    Shared,
    /// By word of the program: nothing is to be given back.
    Unchecked,
}

/// The epochs of one member of a window.
#[derive(Debug)]
pub struct Epochs {
    /// The access epoch in the lowest byte, and above it how many targets are locked: threads lock several at once. The communicator
    /// marks it when it is revoked, so that the short ways look at nothing else.
    access: Arc<AtomicU64>,
    targets: Targets,
    /// `MPI_Win_lock_all` has taken locks, which are to be given back.
    has_all: AtomicBool,
}

/// Targets of which one begins to have a place with the others.
const CHUNK: usize = 4096;

/// How each target may be accessed: a byte for each of those near one that was ever locked, or accessed by `MPI_Win_start`.
#[derive(Debug)]
struct Targets {
    chunks: Box<[OnceLock<Box<[AtomicU8]>>]>,
    members: usize,
}

impl Targets {
    fn new(members: usize) -> Self {
        Self { chunks: (0..members.div_ceil(CHUNK)).map(|_| OnceLock::new()).collect(), members }
    }

    #[inline]
    fn get(&self, target: usize) -> u8 {
        let chunk = self.chunks[target / CHUNK].get();
        chunk.map_or(CLOSED, |chunk| chunk[target % CHUNK].load(Ordering::Relaxed))
    }

    fn set(&self, target: usize, state: u8) {
        let len = CHUNK.min(self.members - target / CHUNK * CHUNK);
        let chunk =
            self.chunks[target / CHUNK].get_or_init(|| (0..len).map(|_| AtomicU8::new(CLOSED)).collect());
        chunk[target % CHUNK].store(state, Ordering::Relaxed);
    }

    /// Those that may be accessed.
    fn open(&self) -> Vec<usize> {
        let with_any = self.chunks.iter().enumerate().filter(|(_, chunk)| chunk.get().is_some());
        let targets = with_any.flat_map(|(at, _)| at * CHUNK..((at + 1) * CHUNK).min(self.members));
        targets.filter(|target| self.get(*target) != CLOSED).collect()
    }

    fn close_all(&self) {
        let states = self.chunks.iter().filter_map(OnceLock::get).flat_map(|chunk| chunk.iter());
        states.for_each(|state| state.store(CLOSED, Ordering::Relaxed));
    }
}

const COUNT: u32 = 8;

impl Epochs {
    pub(super) fn new(members: usize) -> Self {
        Self {
            access: Arc::new(AtomicU64::new(Access::None as u64)),
            targets: Targets::new(members),
            has_all: AtomicBool::new(false),
        }
    }

    /// What the communicator marks when it is revoked.
    pub(super) fn word(&self) -> &Arc<AtomicU64> {
        &self.access
    }

    #[inline]
    fn access(&self) -> Access {
        Access::of(self.access.load(Ordering::Relaxed) as u8)
    }

    fn set(&self, access: Access) {
        self.change(|locked| (access, locked));
    }

    /// The epoch that a new number of locked targets makes.
    fn change(&self, of: impl Fn(u64) -> (Access, u64)) {
        let change = |word: u64| {
            if Access::of(word as u8) == Access::Revoked {
                return None;
            }
            let (access, locked) = of(word >> COUNT);
            Some(access as u64 | locked << COUNT)
        };
        let _ = self.access.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// Whether a target may be accessed now; `passive`: by an operation with a request, which needs a lock.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    #[inline]
    pub(super) fn check(&self, target: usize, passive: bool) -> Result<()> {
        match self.access() {
            Access::LockAll => Ok(()),
            Access::Locks if self.is_open(target) => Ok(()),
            Access::FenceUsed if !passive => Ok(()),
            Access::Fence if !passive => {
                self.set(Access::FenceUsed);
                Ok(())
            }
            Access::Started if !passive && self.is_open(target) => Ok(()),
            other => Err(closed(other, target, passive)),
        }
    }

    /// Whether a target may certainly be accessed now.
    #[inline(always)]
    pub(super) fn permits(&self, target: usize) -> bool {
        match self.access() {
            Access::LockAll | Access::FenceUsed => true,
            Access::Locks | Access::Started => self.is_open(target),
            Access::None | Access::Fence | Access::Freed | Access::Revoked => false,
        }
    }

    /// Whether this target, or some target, is certainly locked.
    #[inline(always)]
    pub(super) fn permits_flush(&self, target: Option<i32>) -> bool {
        let target = target.map(|target| target as u32 as usize);
        match self.access() {
            Access::LockAll => target.is_none_or(|target| target < self.targets.members),
            Access::Locks => {
                target.is_none_or(|target| target < self.targets.members && self.is_open(target))
            }
            _ => false,
        }
    }

    #[inline]
    fn is_open(&self, target: usize) -> bool {
        self.targets.get(target) != CLOSED
    }

    /// Whether a lock on this target is held, for flushes.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    pub fn check_locked(&self, target: usize) -> Result<()> {
        match self.access() {
            Access::LockAll => Ok(()),
            Access::Locks if self.is_open(target) => Ok(()),
            other => Err(closed(other, target, true)),
        }
    }

    /// The targets that are locked; `None`: all.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`: none is.
    pub fn locked(&self) -> Result<Option<Vec<usize>>> {
        match self.access() {
            Access::LockAll => Ok(None),
            Access::Locks => Ok(Some(self.targets.open())),
            other => Err(wrong(other, "MPI_Win_lock or MPI_Win_lock_all")),
        }
    }

    /// A fence. `exposed`: `MPI_Win_post` has begun an epoch that is not over.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`: an epoch of another kind is open.
    pub fn check_fence(&self, exposed: bool) -> Result<()> {
        match self.access() {
            Access::None | Access::Fence | Access::FenceUsed if !exposed => Ok(()),
            Access::None | Access::Fence | Access::FenceUsed => {
                let got = "called within the exposure epoch of MPI_Win_post";
                Err(Error::invalid(ErrorClass::RmaSync, "win", got, "MPI_Win_wait before"))
            }
            other => Err(ends_other(other)),
        }
    }

    /// `MPI_Win_post` of the member `me`. `exposed`: the epoch of another one is not over.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`: the own memory is exposed already, or locked by this member.
    pub fn check_post(&self, exposed: bool, me: usize) -> Result<()> {
        match self.access() {
            Access::Freed | Access::Revoked => self.check_begin(),
            _ if exposed => self.check_fence(true),
            Access::FenceUsed | Access::LockAll => self.check_begin(),
            Access::Locks if self.is_open(me) => self.check_begin(),
            _ => Ok(()),
        }
    }

    /// A fence is over.
    pub fn fenced(&self, no_succeed: bool) {
        self.set(if no_succeed { Access::None } else { Access::Fence });
    }

    /// The window has been freed: no epoch begins any more.
    pub(super) fn freed(&self) {
        self.completed();
        self.set(Access::Freed);
    }

    /// Whether an epoch of another kind than fences may begin.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    fn check_begin(&self) -> Result<()> {
        Self::check_begin_in(self.access())
    }

    /// The same in an epoch that may have been another thread's.
    fn check_begin_in(access: Access) -> Result<()> {
        match access {
            Access::None | Access::Fence => Ok(()),
            Access::FenceUsed => {
                let got = "within the epoch of a fence, with accesses";
                Err(Error::invalid(ErrorClass::RmaSync, "win", got, "MPI_Win_fence before"))
            }
            other => Err(ends_other(other)),
        }
    }

    /// `MPI_Win_start`: whether it is in order.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    pub fn check_start(&self) -> Result<()> {
        self.check_begin()
    }

    /// The targets may be accessed.
    pub fn started(&self, targets: &[usize]) {
        targets.iter().for_each(|target| self.targets.set(*target, STARTED));
        self.set(Access::Started);
    }

    /// `MPI_Win_complete`: the targets.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    pub fn check_complete(&self) -> Result<Vec<usize>> {
        match self.access() {
            Access::Started => Ok(self.targets.open()),
            other => Err(wrong(other, "MPI_Win_start")),
        }
    }

    /// They may be accessed no more.
    pub fn completed(&self) {
        self.targets.close_all();
        self.set(Access::None);
    }

    /// `MPI_Win_lock`: whether it is in order.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    pub fn check_lock(&self, target: usize) -> Result<()> {
        match self.access() {
            Access::Locks if !self.is_open(target) => Ok(()),
            Access::Locks => {
                let got = format_args!("{target}, which this process has locked");
                Err(Error::invalid(ErrorClass::RmaSync, "rank", got, "MPI_Win_unlock before"))
            }
            other => Self::check_begin_in(other),
        }
    }

    /// Whether the access epoch permits a fence.
    #[inline(always)]
    pub(super) fn permits_fence(&self) -> bool {
        matches!(self.access(), Access::None | Access::Fence | Access::FenceUsed)
    }

    /// Whether a target may certainly be locked now.
    #[inline(always)]
    pub(super) fn permits_lock(&self, target: usize) -> bool {
        match self.access() {
            Access::None | Access::Fence => true,
            Access::Locks => !self.is_open(target),
            _ => false,
        }
    }

    /// How a target is certainly locked that may be unlocked now; nothing where no lock is to be given back.
    #[inline(always)]
    pub(super) fn permits_unlock(&self, target: usize) -> Option<LockKind> {
        match (self.access(), self.targets.get(target)) {
            (Access::Locks, EXCLUSIVE) => Some(LockKind::Exclusive),
            (Access::Locks, SHARED) => Some(LockKind::Shared),
            _ => None,
        }
    }

    /// A target is locked.
    pub fn lock(&self, target: usize, kind: LockKind, no_check: bool) {
        let state = match (no_check, kind) {
            (true, _) => UNCHECKED,
            (_, LockKind::Exclusive) => EXCLUSIVE,
            (_, LockKind::Shared) => SHARED,
        };
        self.targets.set(target, state);
        self.change(|locked| (Access::Locks, locked + 1));
    }

    /// `MPI_Win_unlock`: how the target is locked.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    pub fn check_unlock(&self, target: usize) -> Result<Locked> {
        match (self.access(), self.targets.get(target)) {
            (Access::Locks, EXCLUSIVE) => Ok(Locked::Exclusive),
            (Access::Locks, SHARED) => Ok(Locked::Shared),
            (Access::Locks, UNCHECKED) => Ok(Locked::Unchecked),
            (Access::Locks, _) => {
                let got = format_args!("{target}, which this process has not locked");
                Err(Error::invalid(ErrorClass::RmaSync, "rank", got, "a target of MPI_Win_lock"))
            }
            (other, _) => Err(wrong(other, "MPI_Win_lock")),
        }
    }

    /// A target is locked no more.
    pub fn unlock(&self, target: usize) {
        self.targets.set(target, CLOSED);
        self.change(|locked| match locked {
            0 | 1 => (Access::None, 0),
            more => (Access::Locks, more - 1),
        });
    }

    /// `MPI_Win_lock_all`: whether it is in order.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    pub fn check_lock_all(&self) -> Result<()> {
        self.check_begin()
    }

    /// All targets are locked.
    pub fn lock_all(&self, no_check: bool) {
        self.has_all.store(!no_check, Ordering::Relaxed);
        self.set(Access::LockAll);
    }

    /// `MPI_Win_unlock_all`: whether locks are to be given back.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    pub fn check_unlock_all(&self) -> Result<bool> {
        match self.access() {
            Access::LockAll => Ok(self.has_all.load(Ordering::Relaxed)),
            other => Err(wrong(other, "MPI_Win_lock_all")),
        }
    }

    /// `MPI_Win_free`: whether everything is over.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    pub fn check_free(&self, exposed: bool) -> Result<()> {
        match self.access() {
            _ if exposed => self.check_fence(true),
            Access::FenceUsed => Ok(()),
            _ => self.check_begin(),
        }
    }
}

/// It was revoked since the call looked for that.
#[cold]
fn revoked() -> Error {
    Error::other(ErrorClass::Revoked, "the window has been revoked")
}

#[cold]
fn closed(access: Access, target: usize, passive: bool) -> Error {
    if access == Access::Revoked {
        return revoked();
    }
    let got = match access {
        Access::Locks => format!("{target}, which this process has not locked"),
        Access::Started => format!("{target}, which is not in the group of MPI_Win_start"),
        other => format!("{target}, within {}", other.words()),
    };
    let expected = match (passive, access) {
        (true, _) => "a target that is locked: MPI_Win_lock, MPI_Win_lock_all",
        (_, Access::Locks) => "a target that is locked: MPI_Win_lock",
        (_, Access::Started) => "a member of that group",
        _ => "an access epoch: MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all before",
    };
    Error::invalid(ErrorClass::RmaSync, "target_rank", got, expected)
}

#[cold]
fn wrong(access: Access, before: &str) -> Error {
    if access == Access::Revoked {
        return revoked();
    }
    let got = format_args!("within {}", access.words());
    Error::invalid(ErrorClass::RmaSync, "win", got, format_args!("{before} before"))
}

#[cold]
fn ends_other(access: Access) -> Error {
    let end = match access {
        Access::Started => "MPI_Win_complete",
        Access::Locks => "MPI_Win_unlock",
        Access::Freed => "a window that is there",
        _ => "MPI_Win_unlock_all",
    };
    wrong(access, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<T>(outcome: Result<T>) {
        assert_eq!(outcome.err().map(|why| why.class()), Some(ErrorClass::RmaSync));
    }

    /// The mark may come between a call's look for it and its look at the epoch.
    #[test]
    fn a_mark_is_no_wrong_synchronisation() {
        let epochs = Epochs::new(3);
        epochs.word().fetch_or(REVOKED, Ordering::Relaxed);
        let told = [
            epochs.check(0, false).err(),
            epochs.check_locked(1).err(),
            epochs.locked().err(),
            epochs.check_fence(false).err(),
            epochs.check_start().err(),
            epochs.check_complete().err(),
        ];
        for why in told {
            assert_eq!(why.map(|why| why.class()), Some(ErrorClass::Revoked));
        }
    }

    #[test]
    fn an_access_needs_an_epoch_towards_its_target() {
        let epochs = Epochs::new(3);
        refused(epochs.check(0, false));
        epochs.fenced(false);
        epochs.check(2, false).unwrap();
        refused(epochs.check(2, true));
        refused(epochs.check_lock(1));
        epochs.fenced(true);
        refused(epochs.check(2, false));
        epochs.check_start().unwrap();
        epochs.started(&[1]);
        epochs.check(1, false).unwrap();
        refused(epochs.check(0, false));
        refused(epochs.check_locked(1));
        refused(epochs.check_fence(false));
        assert_eq!(epochs.check_complete().unwrap(), [1]);
        epochs.completed();
        refused(epochs.check_complete());
    }

    #[test]
    fn targets_far_apart_are_open_by_themselves() {
        let members = 3 * CHUNK + 5;
        let epochs = Epochs::new(members);
        let targets = [0, CHUNK - 1, CHUNK, 3 * CHUNK + 4];
        epochs.started(&targets);
        assert_eq!(epochs.check_complete().unwrap(), targets);
        assert!(epochs.permits(CHUNK) && !epochs.permits(2 * CHUNK) && !epochs.permits(1));
        epochs.completed();
        assert!(!epochs.permits(CHUNK));
        epochs.lock_all(true);
        assert!(epochs.permits(2 * CHUNK) && epochs.locked().unwrap().is_none());
        assert!(!epochs.permits_flush(Some(members as i32)) && !epochs.check_unlock_all().unwrap());
    }

    #[test]
    fn memory_is_exposed_once_and_not_while_this_member_has_locked_it() {
        let epochs = Epochs::new(3);
        epochs.check_post(false, 1).unwrap();
        refused(epochs.check_post(true, 1));
        epochs.fenced(false);
        epochs.check_post(false, 1).unwrap();
        epochs.check(2, false).unwrap();
        refused(epochs.check_post(false, 1));
        epochs.fenced(true);
        epochs.started(&[2]);
        epochs.check_post(false, 1).unwrap();
        epochs.completed();
        epochs.lock(0, LockKind::Shared, false);
        epochs.check_post(false, 1).unwrap();
        refused(epochs.check_post(false, 0));
        epochs.unlock(0);
        epochs.lock_all(false);
        refused(epochs.check_post(false, 1));
    }

    #[test]
    fn threads_lock_targets_of_their_own() {
        let epochs = Epochs::new(2);
        std::thread::scope(|s| {
            for target in 0..2 {
                let epochs = &epochs;
                s.spawn(move || {
                    for _ in 0..20_000 {
                        epochs.check_lock(target).unwrap();
                        epochs.lock(target, LockKind::Shared, false);
                        epochs.check(target, true).unwrap();
                        epochs.check_unlock(target).unwrap();
                        epochs.unlock(target);
                    }
                });
            }
        });
        epochs.check_free(false).unwrap();
    }

    #[test]
    fn locks_are_taken_and_given_back_one_by_one_or_all_at_once() {
        let epochs = Epochs::new(3);
        epochs.fenced(false);
        epochs.check_lock(1).unwrap();
        epochs.lock(1, LockKind::Exclusive, false);
        refused(epochs.check_lock(1));
        epochs.check_lock(0).unwrap();
        epochs.lock(0, LockKind::Shared, true);
        epochs.check(0, true).unwrap();
        refused(epochs.check(2, true));
        refused(epochs.check_lock_all());
        refused(epochs.check_unlock(2));
        refused(epochs.check_free(false));
        assert_eq!(epochs.locked().unwrap(), Some(vec![0, 1]));
        assert_eq!(epochs.check_unlock(1).unwrap(), Locked::Exclusive);
        epochs.unlock(1);
        assert_eq!(epochs.check_unlock(0).unwrap(), Locked::Unchecked);
        epochs.unlock(0);
        refused(epochs.check_unlock_all());
        epochs.check_lock_all().unwrap();
        epochs.lock_all(false);
        epochs.check(2, true).unwrap();
        assert!(epochs.check_unlock_all().unwrap());
        epochs.completed();
        epochs.check_free(false).unwrap();
        refused(epochs.check_free(true));
        epochs.fenced(false);
        epochs.check(2, false).unwrap();
        epochs.check_free(false).unwrap();
        refused(epochs.check_free(true));
        epochs.fenced(true);
        epochs.word().fetch_or(REVOKED, Ordering::Relaxed);
        epochs.fenced(false);
        epochs.lock_all(false);
        assert!(!epochs.permits(1) && !epochs.permits_flush(Some(1)) && !epochs.permits_fence());
        assert!(!epochs.permits_lock(1) && epochs.permits_unlock(1).is_none());
        let epochs = Epochs::new(3);
        epochs.freed();
        refused(epochs.check(1, false));
        refused(epochs.check_lock(1));
        refused(epochs.check_lock_all());
        refused(epochs.check_fence(false));
        refused(epochs.check_start());
        refused(epochs.check_free(false));
        assert!(!epochs.permits(1) && !epochs.permits_flush(Some(1)));
    }
}
