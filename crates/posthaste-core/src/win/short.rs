//! The short way of an access: contiguous elements of memory that is mapped here, in an epoch that is open, and nothing to
//! wait for. All of an access is then a check of the epoch, a check of the range, and one move, one step of the processor, or one loop under the
//! lock of the target.
//!
//! What must stay true: nothing is done unless everything is certain. What is not goes the general way (`World::put` and its
//! kin), which alone finds the words for what is wrong. Elements change by the same steps on both ways.

use std::sync::atomic::{AtomicU32, Ordering, fence};

use posthaste_os::mapped::{Atom, Mapped};

use super::{EpochWords, LockKind, Part, Window, Words, direct};
use crate::buffer::Run;
use crate::datatype::{Builtin, Class, Kind};
use crate::op::Predefined;

/// Flushes and unlocks of which one looks whether there is progress to be made: a program may wait by them alone for what only its
/// own progress brings about.
const FLUSHES: u32 = 64;

/// Where an access goes: the rank and the displacement, in units of the target.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// Rank in the window's group.
    pub rank: i32,
    /// Displacement, in units of the target.
    pub disp: i64,
}

/// The flushes and unlocks that were asked for.
#[derive(Debug, Default)]
pub(super) struct Flushes(AtomicU32);

impl Window {
    /// Writes to a target, if it is over at once. Whether it is.
    #[inline]
    pub fn put_now(&self, data: Run, to: Spot) -> bool {
        let Some((part, offset)) = self.range(to, data.len()) else { return false };
        let Some(base) = part.base else { return false };
        data.copy_to(base.offset(offset as isize));
        true
    }

    /// Reads from a target, if it is over at once. Whether it is.
    #[inline]
    pub fn get_now(&self, into: Run, from: Spot) -> bool {
        let Some((part, offset)) = self.range(from, into.len()) else { return false };
        let Some(base) = part.base else { return false };
        into.copy_from(base.offset(offset as isize));
        true
    }

    /// Combines one element with an operand and fetches what it was, if the processor does that in one step. Whether it has
    /// been done. `MPI_NO_OP` needs no operand.
    #[inline]
    pub fn update_now(
        &self,
        element: &'static Builtin,
        op: Predefined,
        operand: Option<Run>,
        old: Option<Run>,
        at: Spot,
    ) -> bool {
        let size = element.size;
        let fits = |run: Option<Run>| run.is_none_or(|run| run.len() == size);
        if !fits(operand) || !fits(old) || size as i64 != element.extent {
            return false;
        }
        let Some(operand) = operand.map_or(Some(0), Run::word) else { return false };
        let Some(atom) = self.atom(size, at) else { return false };
        let kind = match element.class {
            Class::Integer | Class::FortranInteger => Numbers::Integers,
            Class::MultiLanguage => Numbers::Addresses,
            Class::Floating if element.kind == Kind::Float(8) => Numbers::Doubles,
            _ => Numbers::Others,
        };
        let was = match (op, kind) {
            (_, Numbers::Doubles) => {
                let Some(was) = self.update_double(atom, op, operand, at.rank as usize) else { return false };
                was
            }
            _ if self.under_lock => return false,
            (Predefined::Sum, Numbers::Integers | Numbers::Addresses) => atom.fetch_add(operand),
            _ if !direct::steps(element) => return false,
            (Predefined::Replace, _) => atom.swap(operand),
            (Predefined::NoOp, _) => atom.load(),
            (Predefined::Band, Numbers::Integers) => atom.fetch_and(operand),
            (Predefined::Bor, Numbers::Integers) => atom.fetch_or(operand),
            (Predefined::Bxor, Numbers::Integers) => atom.fetch_xor(operand),
            (op, Numbers::Integers) => match combined(atom, op, element, operand) {
                Some(was) => was,
                None => return false,
            },
            _ => return false,
        };
        if let Some(old) = old {
            old.set_word(was);
        }
        true
    }

    /// Combines an array of elements with operands, if that needs the lock of their target and nobody has it. Whether it has been
    /// done.
    #[inline]
    pub fn combine_now(
        &self,
        element: &'static Builtin,
        op: Predefined,
        operands: Run,
        at @ Spot { rank, .. }: Spot,
    ) -> bool {
        let (bytes, takes_lock) = (operands.len(), self.under_lock || !direct::steps(element));
        if !takes_lock || bytes == 0 || bytes > direct::HELD {
            return false;
        }
        let (Some(memory), Some((part, offset))) = (self.mapped(), self.range(at, bytes)) else {
            return false;
        };
        let Some(base) = part.base else { return false };
        let words = Words::of(memory, rank as usize);
        if !words.try_busy(self.comm.rank() as u32) {
            return false;
        }
        let is_done = op.combine(element, operands.source(), base.offset(offset as isize));
        words.idle();
        is_done
    }

    /// Replaces one element by a new one if it is as expected, and fetches what it was, if the processor does that in one step.
    /// Whether it has been done.
    #[inline]
    pub fn swap_now(&self, element: &'static Builtin, [expected, new, old]: [Run; 3], at: Spot) -> bool {
        let size = element.size;
        if self.under_lock
            || [expected, new, old].iter().any(|run| run.len() != size)
            || size as i64 != element.extent
        {
            return false;
        }
        let (Some(expected), Some(new)) = (expected.word(), new.word()) else { return false };
        let Some(atom) = self.atom(size, at) else { return false };
        old.set_word(atom.compare_and_swap(expected, new));
        true
    }

    /// Changes a double under the lock of its target, unless somebody has that; what it was.
    #[inline]
    fn update_double(&self, atom: Atom<'_>, op: Predefined, operand: u64, target: usize) -> Option<u64> {
        let combined = |was: u64| match op {
            Predefined::Sum => Some((f64::from_bits(was) + f64::from_bits(operand)).to_bits()),
            Predefined::Replace => Some(operand),
            Predefined::NoOp => Some(was),
            _ => None,
        };
        let words = Words::of(self.mapped()?, target);
        if !words.try_busy(self.comm.rank() as u32) {
            return None;
        }
        let was = atom.load();
        let new = combined(was);
        if let Some(new) = new.filter(|new| *new != was) {
            atom.store(new);
        }
        words.idle();
        new.map(|_| was)
    }

    /// `MPI_Win_lock`, if the lock of mapped memory is free. Whether it is taken.
    #[inline]
    pub fn lock_now(&self, rank: i32, kind: LockKind) -> bool {
        let Some(memory) = self.mapped() else { return false };
        let target = rank as u32 as usize;
        if target >= self.parts.len() || self.hints.no_locks() || !self.epochs.permits_lock(target) {
            return false;
        }
        if rank == self.comm.rank() && super::lock(&self.exposure).is_some() {
            return false; // an error, for which the general way has the words
        }
        let is_taken = Words::of(memory, target).try_lock(self.comm.rank() as u32, kind.is_exclusive());
        if is_taken {
            self.epochs.lock(target, kind, false);
            self.shares(memory, target, kind, true);
        }
        is_taken
    }

    /// Says whether this member has a shared lock of a target, for reports.
    #[inline]
    pub(crate) fn shares(&self, memory: &Mapped, target: usize, kind: LockKind, shares: bool) {
        if !kind.is_exclusive() {
            EpochWords::of(memory, self.parts.len()).share(self.comm.rank() as usize, target, shares);
        }
    }

    /// `MPI_Win_unlock` of a lock of mapped memory. `None`: it has to go the general way; else whether somebody waits for the lock,
    /// who is to be woken.
    #[inline]
    pub fn unlock_now(&self, rank: i32) -> Option<bool> {
        let (memory, target) = (self.mapped()?, rank as u32 as usize);
        if target >= self.parts.len() {
            return None;
        }
        let kind = self.epochs.permits_unlock(target)?;
        if self.is_time_for_progress() {
            return None;
        }
        self.epochs.unlock(target);
        self.shares(memory, target, kind, false);
        // What was done under the lock comes before the step that gives it back.
        Some(Words::of(memory, target).unlock(kind.is_exclusive()))
    }

    /// One call in some goes the general way, which makes progress.
    #[inline(always)]
    pub(crate) fn is_time_for_progress(&self) -> bool {
        let calls = self.flushes.0.load(Ordering::Relaxed).wrapping_add(1);
        self.flushes.0.store(calls, Ordering::Relaxed);
        calls.is_multiple_of(FLUSHES)
    }

    /// Whether a fence is certainly in order now.
    #[inline]
    pub(crate) fn permits_fence(&self) -> bool {
        self.epochs.permits_fence() && super::lock(&self.exposure).is_none()
    }

    /// `MPI_Win_flush` and its kin, if all that was started is over already. Whether it is.
    #[inline]
    pub fn flush_now(&self, target: Option<i32>) -> bool {
        if self.mapped().is_none() || !self.epochs.permits_flush(target) {
            return false;
        }
        fence(Ordering::SeqCst);
        !self.is_time_for_progress()
    }

    /// The part of a target, and where in it so many bytes lie, if they may be accessed.
    #[inline(always)]
    fn range(&self, Spot { rank, disp }: Spot, len: u64) -> Option<(&Part, u64)> {
        let part = self.parts.each(rank as u32 as usize)?;
        // A negative displacement is beyond every size.
        let offset = (disp as u64).checked_mul(part.unit)?;
        let end = offset.checked_add(len)?;
        (end <= part.size && self.epochs.permits(rank as u32 as usize)).then_some((part, offset))
    }

    /// One element that the processor changes in one step, if it may be accessed.
    #[inline(always)]
    fn atom(&self, size: u64, at: Spot) -> Option<Atom<'_>> {
        self.mapped()?;
        let (part, offset) = self.range(at, size)?;
        part.base?.offset(offset as isize).atom(size as usize)
    }
}

/// Changes an integer by compare-and-swap, if it has the operation; what it was. By itself, so that the steps of the processor do not pay
/// for its registers.
#[inline(never)]
fn combined(atom: Atom<'_>, op: Predefined, element: &Builtin, operand: u64) -> Option<u64> {
    let combined = op.on_words(element)?;
    Some(atom.update(|was| combined(operand, was)))
}

/// What elements are, as far as that decides which operations they have.
#[derive(Clone, Copy)]
enum Numbers {
    Integers,
    /// They have no operations on bits here.
    Addresses,
    Doubles,
    /// The general way knows.
    Others,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use posthaste_os::mapped::Mapped;

    use super::*;
    use crate::buffer::{OwnedBuf, UserBuf};
    use crate::comm::Comm;
    use crate::info::Info;
    use crate::named::Named;
    use crate::onesided::RemoteKey;
    use crate::win::{Flavor, Heeded, Memory, control};

    /// A window of two members of 64 bytes, in units of 8.
    fn window() -> Window {
        let start = control(2);
        let (mapped, _) = Mapped::create(start + 128).unwrap();
        let part = |rank: usize| Part {
            key: RemoteKey { slot: u32::MAX, generation: 0 },
            memory: None,
            size: 64,
            unit: 8,
            base: Some(UserBuf::mapped(&mapped, start + 64 * rank)),
        };
        let (comm, parts) = (Arc::new(Comm::world(0, 2)), [part(0), part(1)].into_iter().collect());
        Window::new(
            comm,
            Flavor::Allocate,
            parts,
            (Memory::Mapped(mapped, Heeded::new([None; 2].into_iter())), Vec::new()),
            (&Info::new(), true),
        )
    }

    fn all(buf: &OwnedBuf) -> Run {
        Run::of(buf)
    }

    fn number(value: u64) -> OwnedBuf {
        let mut buf = OwnedBuf::new(8);
        buf.sink().copy_from(&value.to_le_bytes());
        buf
    }

    fn value(buf: &OwnedBuf) -> u64 {
        u64::from_le_bytes(buf.source().to_vec().try_into().unwrap())
    }

    #[test]
    fn an_access_is_short_only_within_an_open_epoch_and_within_the_target() {
        let (window, data) = (window(), number(77));
        let to = |rank, disp| Spot { rank, disp };
        assert!(!window.put_now(all(&data), to(1, 0)), "no epoch");
        window.epochs().fenced(false);
        assert!(
            !window.put_now(all(&data), to(1, 0)),
            "the first access of a fence is noted by the general way"
        );
        window.epochs().check(1, false).unwrap();
        assert!(window.put_now(all(&data), to(1, 7)));
        for (rank, disp) in [(1, 8), (1, -1), (1, i64::MIN), (1, i64::MAX), (2, 0), (-1, 0), (-3, 0)] {
            assert!(!window.put_now(all(&data), to(rank, disp)), "rank {rank}, displacement {disp}");
            assert!(!window.get_now(all(&data), to(rank, disp)), "rank {rank}, displacement {disp}");
        }
        let back = number(0);
        assert!(window.get_now(all(&back), to(1, 7)) && value(&back) == 77);
        assert!(!window.flush_now(Some(1)), "no lock is held");
        window.epochs().fenced(true);
        window.epochs().lock(1, LockKind::Shared, false);
        assert!(!window.put_now(all(&data), to(0, 0)) && window.put_now(all(&data), to(1, 0)));
        assert!(window.flush_now(Some(1)) && window.flush_now(None));
        assert!(!window.flush_now(Some(0)) && !window.flush_now(Some(2)));
    }

    #[test]
    fn an_array_is_combined_at_once_if_its_lock_is_free() {
        let (window, doubles) = (window(), Builtin::of(Named::Double));
        let array = |values: [f64; 3]| {
            let mut buf = OwnedBuf::new(24);
            buf.sink().copy_from(values.map(f64::to_le_bytes).as_flattened());
            buf
        };
        let (ones, there) = (array([1.0, 2.0, 3.0]), array([0.0; 3]));
        let to = |disp| Spot { rank: 1, disp };
        let add = |window: &Window, element, disp| {
            window.combine_now(element, Predefined::Sum, all(&ones), to(disp))
        };
        assert!(!add(&window, doubles, 5), "no epoch");
        window.epochs().lock_all(false);
        assert!(add(&window, doubles, 5) && add(&window, doubles, 5));
        assert!(window.get_now(all(&there), to(5)));
        assert_eq!(there.source().to_vec(), array([2.0, 4.0, 6.0]).source().to_vec());
        assert!(!add(&window, doubles, 6), "beyond the end");
        assert!(!window.combine_now(doubles, Predefined::Band, all(&ones), to(0)), "no such operation");
        assert!(!add(&window, Builtin::of(Named::Int64), 0), "the processor changes these by itself");
        let words = Words::of(window.mapped().unwrap(), 1);
        assert!(words.try_busy(0) && !add(&window, doubles, 5), "somebody has the lock");
        words.idle();
        assert!(add(&window, doubles, 5), "it was given back");
        let window = window.changed_under_lock(true);
        assert!(add(&window, Builtin::of(Named::Int64), 0));
        let number = number(1);
        let alone = (all(&number), Some(all(&number)), to(0));
        assert!(!window.update_now(
            Builtin::of(Named::Int64),
            Predefined::Sum,
            Some(alone.0),
            alone.1,
            alone.2
        ));
        assert!(!window.swap_now(Builtin::of(Named::Int64), [all(&number); 3], to(0)));
    }

    #[test]
    fn one_flush_in_some_goes_the_general_way() {
        let window = window();
        window.epochs().lock_all(false);
        assert_eq!((0..640).filter(|_| !window.flush_now(None)).count(), 10);
    }

    #[test]
    fn a_lock_that_is_free_is_taken_at_once() {
        let window = window();
        assert!(window.unlock_now(1).is_none(), "no lock is held");
        assert!(window.lock_now(1, LockKind::Exclusive) && !window.lock_now(1, LockKind::Shared));
        assert!(!window.lock_now(2, LockKind::Shared) && !window.lock_now(-1, LockKind::Shared));
        assert!(window.lock_now(0, LockKind::Shared), "of another target");
        let words = Words::of(window.mapped().unwrap(), 1);
        let waiter = words.waits(false);
        assert_eq!((window.unlock_now(1), window.unlock_now(0)), (Some(true), Some(false)));
        assert!(window.unlock_now(0).is_none() && words.is_free(waiter));
        words.waits_no_more(waiter);
        window.epochs().lock_all(false);
        assert!(!window.lock_now(1, LockKind::Shared) && window.unlock_now(1).is_none());
        window.epochs().completed();
        let long = |_: &i32| {
            window.lock_now(1, LockKind::Shared);
            let is_long = window.unlock_now(1).is_none();
            if is_long {
                window.epochs().unlock(1);
                words.unlock(false);
            }
            is_long
        };
        assert_eq!((0..640).filter(long).count(), 10, "these make progress");
    }

    #[test]
    fn an_element_is_changed_at_once_if_the_processor_can() {
        let (window, five, old) = (window(), number(5), number(0));
        let (at, element) = (Spot { rank: 1, disp: 2 }, Builtin::of(Named::Uint64));
        let change = |op| window.update_now(element, op, Some(all(&five)), Some(all(&old)), at);
        assert!(!change(Predefined::Sum), "no epoch");
        window.epochs().lock_all(false);
        assert!(change(Predefined::Sum) && value(&old) == 0);
        assert!(change(Predefined::Bxor) && value(&old) == 5);
        assert!(change(Predefined::Replace) && value(&old) == 0);
        assert!(change(Predefined::Max) && value(&old) == 5);
        assert!(!change(Predefined::Minloc), "no pairs");
        assert!(window.update_now(element, Predefined::NoOp, None, Some(all(&old)), at) && value(&old) == 5);
        let (new, other) = (number(9), number(4));
        let swap = |expected: &OwnedBuf| window.swap_now(element, [all(expected), all(&new), all(&old)], at);
        assert!(swap(&other) && value(&old) == 5);
        assert!(swap(&five) && value(&old) == 5);
        assert!(swap(&five) && value(&old) == 9);
        let int = Builtin::of(Named::Int);
        assert!(
            !window.update_now(int, Predefined::Sum, Some(all(&five)), None, at),
            "eight bytes are no int"
        );
        let logical = Builtin::of(Named::CBool);
        let byte = OwnedBuf::new(1);
        assert!(!window.update_now(logical, Predefined::Sum, Some(all(&byte)), None, at), "no sum of these");
    }
}
