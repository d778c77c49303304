//! Accumulate operations on memory that all members have mapped (MPI-5.0 §12.3.4).
//!
//! What must stay true: an integer, or another element without arithmetic of its own, of 1, 2, 4, 8 or, where the processor can, 16
//! bytes without holes that is aligned is changed by one step of the processor; every other element, floating-point numbers above all,
//! under the lock of its target, and in some windows every one. Which of the two depends on the window, the type and the place alone, so all members
//! choose the same. Elements are changed one after the other, in the order of the origin's.

use posthaste_os::mapped::{Atom, Mapped};
use posthaste_os::mem::{Sink, Source};

use super::place::{At, Place};
use super::{Window, Words};
use crate::buffer::{OwnedBuf, UserBuf};
use crate::datatype::{Builtin, Datatype, Kind, Segment};
use crate::error::Result;
use crate::op::{Op, Predefined};

/// What is done to elements of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// They are combined with the operands.
    Combine(Predefined),
    /// One is replaced by the second operand if it equals the first one.
    CompareAndSwap,
}

/// Bytes of the longest element that a processor changes in one step.
pub(crate) const WIDE: u64 = 16;
/// Operands that are worked on at a time, in bytes.
const PORTION: u64 = 4096;
/// The same where there are not many.
const FEW: u64 = 64;
/// Bytes of elements that are changed before another member may have the lock.
pub(super) const HELD: u64 = 32 << 10;

/// Whether the processor changes such elements in one step each, where they are aligned. It has no step for numbers that are not
/// integers, and a lock for a whole array of them is cheaper than a compare-and-swap for each.
#[inline(always)]
pub(super) fn steps(element: &Builtin) -> bool {
    let computes =
        matches!(element.kind, Kind::Float(_) | Kind::Extended | Kind::Complex(_) | Kind::ComplexExtended);
    element.size as i64 == element.extent && !computes
}

/// Whether the element that lies here, and all of its kind behind it, are changed so.
fn changes_in_a_step(first: UserBuf, element: &Builtin) -> bool {
    let is_wide = || element.size == WIDE && first.wide_atom().is_some();
    steps(element) && (first.atom(element.size as usize).is_some() || is_wide())
}

/// What an accumulate operation takes, and what it fetches.
pub(crate) struct Operands {
    pub(crate) given: Option<Segment>,
    pub(crate) old: Option<Segment>,
}

impl Window {
    /// Does an accumulate operation on mapped memory. `busy` takes the lock where elements, or all of the window's, need it.
    ///
    /// # Errors
    /// An operation that the elements do not have; what `busy` says.
    pub(crate) fn update_mapped(
        &self,
        memory: &Mapped,
        (at, place): (&At<'_>, Place),
        (element, update): (&'static Builtin, Update),
        mut operands: Operands,
        busy: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let Some(base) = self.part(place.target)?.base else { return Ok(()) }; // it has no memory
        let words = Words::of(memory, place.target);
        for (offset, count) in at.arrays(element) {
            let first = base.offset((place.offset + offset) as isize);
            if !self.under_lock && changes_in_a_step(first, element) {
                Stepwise { first, element, update }.array(count, &mut operands)?;
            } else {
                let array = Locked { words, element, update };
                array.array(first, count, &mut operands, &busy)?;
            }
        }
        Ok(())
    }
}

/// Elements that are changed under the lock of their target.
struct Locked<'a> {
    words: Words<'a>,
    element: &'static Builtin,
    update: Update,
}

impl Locked<'_> {
    /// An array of elements, in portions, so that nobody waits long for the lock.
    fn array(
        &self,
        to: UserBuf,
        count: u64,
        operands: &mut Operands,
        busy: &impl Fn() -> Result<()>,
    ) -> Result<()> {
        let Self { words, element, update } = self;
        let per_element = if *update == Update::CompareAndSwap { 2 * element.size } else { element.size };
        let mut packed = Vec::new();
        let mut done = 0;
        while done < count {
            let now = (count - done).min((HELD / element.size).max(1));
            let to = to.offset((done as i64 * element.extent) as isize);
            let bytes = (now * per_element) as usize;
            // The program's memory may have to come from the disk: what does not lie in one piece is packed before.
            let given = match &mut operands.given {
                None => Source::from(&[][..]),
                Some(given) => match given.contiguous_rest() {
                    Some((memory, len)) if len >= bytes as u64 => {
                        given.seek(given.position() + bytes as u64);
                        memory.source(bytes)
                    }
                    _ => {
                        packed.resize(bytes, 0);
                        given.pack(Sink::from(&mut packed[..]));
                        Source::from(&packed[..])
                    }
                },
            };
            busy()?;
            let outcome = change((to, now), (element, *update), given, operands.old.as_mut());
            words.idle();
            outcome?;
            done += now;
        }
        Ok(())
    }
}

/// Changes an array of elements, of which nobody else changes one meanwhile.
fn change(
    (to, count): (UserBuf, u64),
    (element, update): (&'static Builtin, Update),
    given: Source<'_>,
    old: Option<&mut Segment>,
) -> Result<()> {
    let datatype = Datatype::from(element.named);
    let fetch = |old: Option<&mut Segment>| {
        old.map(|old| crate::datatype::copy(&mut Segment::new(to, count, &datatype), old));
    };
    match update {
        Update::Combine(Predefined::NoOp) => {
            fetch(old);
            Ok(())
        }
        Update::Combine(op) => {
            fetch(old);
            Op::from(op).apply_packed(&datatype, given, to, count)
        }
        Update::CompareAndSwap => {
            let mut was = vec![0; element.size as usize];
            Segment::new(to, count, &datatype).pack(Sink::from(&mut was[..]));
            fetch(old);
            let (expected, new) = given.split_at(was.len());
            if expected.to_vec() == was {
                Segment::new(to, 1, &datatype).unpack(new);
            }
            Ok(())
        }
    }
}

/// Elements that the processor changes in one step each.
struct Stepwise {
    /// Where the first one is.
    first: UserBuf,
    element: &'static Builtin,
    update: Update,
}

impl Stepwise {
    /// An array of elements, in portions.
    fn array(&self, count: u64, operands: &mut Operands) -> Result<()> {
        let Self { first, element, update } = *self;
        let per_element = if update == Update::CompareAndSwap { 2 * element.size } else { element.size };
        // Both are zeroed, so the long ones are for many operands only.
        let (mut few, mut many);
        let (given, taken): (&mut [u8], &mut [u8]) = if count.saturating_mul(element.size) <= FEW {
            few = [[0; 2 * FEW as usize]; 2];
            let [given, taken] = &mut few;
            (given, taken)
        } else {
            many = [[0; PORTION as usize]; 2];
            let [given, taken] = &mut many;
            (given, taken)
        };
        let mut done = 0;
        while done < count {
            let now = (count - done).min(given.len() as u64 / per_element);
            let (given, taken) =
                (&mut given[..(now * per_element) as usize], &mut taken[..(now * element.size) as usize]);
            if let Some(operands) = &mut operands.given {
                operands.pack(Sink::from(&mut *given));
            }
            let first = first.offset((done * element.size) as isize);
            Self { first, element, update }.all(now, given, taken)?;
            if let Some(old) = &mut operands.old {
                old.unpack(Source::from(&*taken));
            }
            done += now;
        }
        Ok(())
    }

    fn all(&self, count: u64, given: &[u8], taken: &mut [u8]) -> Result<()> {
        let size = self.element.size as usize;
        let step = step(self.update, self.element);
        if let Step::Plain(plain) = step
            && size < WIDE as usize
        {
            match plain {
                Plain::Swap => self.plainly(count, given, taken, |atom, operand| atom.swap(operand)),
                Plain::Load => self.plainly(count, given, taken, |atom, _| atom.load()),
                Plain::Add => self.plainly(count, given, taken, |atom, operand| atom.fetch_add(operand)),
                Plain::And => self.plainly(count, given, taken, |atom, operand| atom.fetch_and(operand)),
                Plain::Or => self.plainly(count, given, taken, |atom, operand| atom.fetch_or(operand)),
                Plain::Xor => self.plainly(count, given, taken, |atom, operand| atom.fetch_xor(operand)),
            }
            return Ok(());
        }
        let scratch = Scratch::of(&step, self.element);
        for at in 0..count as usize {
            let place = self.first.offset((at * size) as isize);
            if size == WIDE as usize {
                let Some(atom) = place.wide_atom() else { continue };
                let was = atom.update(|was| self.widely(&scratch, (given, at), was));
                taken[at * size..][..size].copy_from_slice(&was.to_le_bytes());
                continue;
            }
            let Some(atom) = place.atom(size) else { continue };
            let was = match step {
                Step::Plain(_) => continue, // all of them have been done above
                Step::Swap => {
                    let [expected, new] = [0, 1].map(|half| bits(&given[(2 * at + half) * size..][..size]));
                    atom.compare_and_swap(expected, new)
                }
                Step::Words(combined) => {
                    let operand = bits(&given[at * size..][..size]);
                    atom.update(|was| combined(operand, was))
                }
                Step::General(op) => {
                    let operand = &given[at * size..][..size];
                    atom.update(|was| scratch.combined(&op, operand, was.into()) as u64)
                }
            };
            taken[at * size..][..size].copy_from_slice(&was.to_le_bytes()[..size]);
        }
        Ok(())
    }

    /// Those of up to 8 bytes, each by one step: a loop for each step and size, which is as fast as the processor.
    #[inline(always)]
    fn plainly(&self, count: u64, given: &[u8], taken: &mut [u8], step: impl Fn(Atom<'_>, u64) -> u64) {
        match self.element.size {
            1 => self.sized::<1>(count, given, taken, step),
            2 => self.sized::<2>(count, given, taken, step),
            4 => self.sized::<4>(count, given, taken, step),
            _ => self.sized::<8>(count, given, taken, step),
        }
    }

    #[inline(always)]
    fn sized<const SIZE: usize>(
        &self,
        count: u64,
        given: &[u8],
        taken: &mut [u8],
        step: impl Fn(Atom<'_>, u64) -> u64,
    ) {
        let (given, taken) = (given.as_chunks::<SIZE>().0, taken.as_chunks_mut::<SIZE>().0);
        for (at, (given, taken)) in given.iter().zip(taken).take(count as usize).enumerate() {
            let place = self.first.offset((at * SIZE) as isize);
            let Some(atom) = place.atom(SIZE) else { continue };
            taken.copy_from_slice(&step(atom, bits(given)).to_le_bytes()[..SIZE]);
        }
    }

    /// What the element number `at` of 16 bytes becomes.
    fn widely(&self, scratch: &Scratch, (given, at): (&[u8], usize), was: u128) -> u128 {
        let size = WIDE as usize;
        match self.update {
            Update::Combine(Predefined::NoOp) => was,
            Update::Combine(op) => scratch.combined(&op, &given[at * size..][..size], was),
            Update::CompareAndSwap => {
                let [expected, new] = [0, 1].map(|half| wide_bits(&given[(2 * at + half) * size..][..size]));
                if was == expected { new } else { was }
            }
        }
    }
}

/// How an element is changed.
enum Step {
    /// By a step of the processor.
    Plain(Plain),
    /// By compare-and-swap with an operand.
    Swap,
    /// By compare-and-swap with what this gives.
    Words(fn(u64, u64) -> u64),
    /// By compare-and-swap with what the operation gives.
    General(Predefined),
}

/// Steps of the processor that need one operand, or none.
#[derive(Clone, Copy)]
enum Plain {
    Swap,
    Load,
    Add,
    And,
    Or,
    Xor,
}

fn step(update: Update, element: &Builtin) -> Step {
    let Update::Combine(op) = update else { return Step::Swap };
    let is_integer = matches!(element.kind, Kind::Signed(_) | Kind::Unsigned(_));
    match op {
        Predefined::Replace => Step::Plain(Plain::Swap),
        Predefined::NoOp => Step::Plain(Plain::Load),
        Predefined::Sum if is_integer => Step::Plain(Plain::Add),
        Predefined::Band if is_integer => Step::Plain(Plain::And),
        Predefined::Bor if is_integer => Step::Plain(Plain::Or),
        Predefined::Bxor if is_integer => Step::Plain(Plain::Xor),
        op => op.on_words(element).map_or(Step::General(op), Step::Words),
    }
}

/// Memory in which one element is combined.
struct Scratch {
    memory: Option<OwnedBuf>,
    datatype: Datatype,
    size: usize,
}

impl Scratch {
    fn of(step: &Step, element: &Builtin) -> Self {
        let size = element.size as usize;
        let memory = (matches!(step, Step::General(_)) || element.size == WIDE).then(|| OwnedBuf::new(size));
        Self { memory, datatype: element.named.into(), size }
    }

    fn combined(&self, op: &Predefined, operand: &[u8], was: u128) -> u128 {
        let Some(memory) = &self.memory else { return was };
        let place = memory.user_buf();
        place.copy_in(0, Source::from(&was.to_le_bytes()[..self.size]));
        // The operation was checked for the type before.
        let applied = Op::from(*op).apply_packed(&self.datatype, Source::from(operand), place, 1);
        debug_assert!(applied.is_ok());
        wide_bits(&memory.source().to_vec())
    }
}

/// The bits of an element of at most 16 bytes.
fn wide_bits(element: &[u8]) -> u128 {
    let mut all = [0; WIDE as usize];
    all[..element.len()].copy_from_slice(element);
    u128::from_le_bytes(all)
}

/// The bits of an element of at most eight bytes.
fn bits(element: &[u8]) -> u64 {
    wide_bits(element) as u64
}

const _: () = assert!(cfg!(target_endian = "little"), "elements are taken for the low bytes of a word");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::Named;

    /// Every operation on every type gives what the operation gives on an array, mapped or not aligned.
    #[test]
    fn each_element_becomes_what_the_operation_makes_of_it() {
        let (memory, _) = Mapped::create(8192).unwrap();
        for builtin in Builtin::all() {
            let datatype = Datatype::from(builtin.named);
            for number in 1.. {
                let Some(op) = Predefined::from_the_wire(number) else { break };
                if Op::from(op).check(&datatype).is_err() {
                    continue;
                }
                let bytes = 3 * builtin.size as usize;
                let given: Vec<u8> = (0..bytes).map(|at| (at * 3 + 1) as u8 % 60).collect();
                let start: Vec<u8> = (0..bytes).map(|at| (at * 7 + 5) as u8 % 60).collect();
                let place = UserBuf::mapped(&memory, 64);
                Segment::new(place, 3, &datatype).unpack(Source::from(&start[..]));
                let expected = OwnedBuf::new(3 * builtin.extent as usize + 64);
                Segment::new(expected.user_buf(), 3, &datatype).unpack(Source::from(&start[..]));
                Op::from(op)
                    .apply_packed(&datatype, Source::from(&given[..]), expected.user_buf(), 3)
                    .unwrap();
                let mut taken = vec![0; bytes];
                let update = Update::Combine(op);
                if changes_in_a_step(place, builtin) {
                    let all = Stepwise { first: place, element: builtin, update };
                    all.all(3, &given, &mut taken).unwrap();
                } else {
                    let into = OwnedBuf::new(bytes);
                    let mut old = Segment::contiguous(into.user_buf(), bytes as u64);
                    change((place, 3), (builtin, update), Source::from(&given[..]), Some(&mut old)).unwrap();
                    taken = into.source().to_vec();
                }
                assert_eq!(taken, start, "{op:?} of {}", builtin.name);
                let [mut found, mut wanted] = [vec![0; bytes], vec![0; bytes]];
                Segment::new(place, 3, &datatype).pack(Sink::from(&mut found[..]));
                Segment::new(expected.user_buf(), 3, &datatype).pack(Sink::from(&mut wanted[..]));
                assert_eq!(found, wanted, "{op:?} of {}", builtin.name);
            }
        }
    }

    #[test]
    fn compare_and_swap_replaces_what_is_as_expected() {
        let (memory, _) = Mapped::create(4096).unwrap();
        let element = Builtin::of(Named::Int);
        let swap = |expected: i32, new: i32| {
            let given = [expected.to_le_bytes(), new.to_le_bytes()].concat();
            let mut taken = [0; 4];
            let update = Update::CompareAndSwap;
            Stepwise { first: UserBuf::mapped(&memory, 8), element, update }
                .all(1, &given, &mut taken)
                .unwrap();
            i32::from_le_bytes(taken)
        };
        assert_eq!((swap(0, 5), swap(0, 6), swap(5, -1), swap(-1, 2)), (0, 5, 5, -1));
    }

    /// The lock is taken once for each portion, and operands and what is fetched may lie in pieces.
    #[test]
    fn an_array_of_doubles_is_changed_portion_by_portion() {
        const COUNT: u64 = 3 * HELD / 8 + 5;
        let (memory, _) = Mapped::create(4096 + 8 * COUNT as usize).unwrap();
        let (element, double) = (Builtin::of(Named::Double), Datatype::from(Named::Double));
        let apart = Datatype::resized(&double, 0, 16).unwrap();
        let [given, old] = [0, 1].map(|_| OwnedBuf::new(16 * COUNT as usize));
        let of = |buf: &OwnedBuf, datatype: &Datatype| Segment::new(buf.user_buf(), COUNT, datatype);
        let ones: Vec<u8> = (0..COUNT).flat_map(|at| (at as f64).to_le_bytes()).collect();
        of(&given, &apart).unpack(Source::from(&ones[..]));
        let array =
            Locked { words: Words::of(&memory, 0), element, update: Update::Combine(Predefined::Sum) };
        let taken = std::cell::Cell::new(0);
        let busy = || {
            taken.set(taken.get() + 1);
            assert!(Words::of(&memory, 0).try_busy(0), "it was given back");
            Ok(())
        };
        let to = UserBuf::mapped(&memory, 4096);
        for _ in 0..2 {
            let mut operands = Operands { given: Some(of(&given, &apart)), old: Some(of(&old, &apart)) };
            array.array(to, COUNT, &mut operands, &busy).unwrap();
        }
        assert_eq!(taken.get(), 2 * 4);
        let packed = |mut segment: Segment| {
            let mut bytes = vec![0; 8 * COUNT as usize];
            segment.pack(Sink::from(&mut bytes[..]));
            let double = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            bytes.chunks_exact(8).map(double).collect::<Vec<f64>>()
        };
        let times = |by: f64| (0..COUNT).map(|at| by * at as f64).collect::<Vec<f64>>();
        assert_eq!(packed(Segment::new(to, COUNT, &double)), times(2.0));
        assert_eq!(packed(of(&old, &apart)), times(1.0), "what the second one has found");
    }
}
