//! Accumulate operations on memory that all members have mapped (MPI-5.0 §12.3.4).
//!
//! What must stay true: an element of 1, 2, 4 or 8 bytes without holes that is aligned is changed by one step of the
//! processor, every other one under the lock of its target; which of the two depends on the type and the place alone, so all
//! members choose the same. Elements are changed one after the other, in the order of the origin's.

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

/// Operands that are worked on at a time, in bytes.
const PORTION: u64 = 4096;
/// The same where there are not many.
const FEW: u64 = 64;

impl Window {
    /// Does an accumulate operation on mapped memory; `old` gets what the elements were. `busy` takes the lock for elements
    /// that need it.
    ///
    /// # Errors
    /// An operation that the elements do not have; what `busy` says.
    pub(crate) fn update_mapped(
        &self,
        memory: &Mapped,
        (at, place): (&At<'_>, Place),
        (element, update): (&'static Builtin, Update),
        mut operands: Option<Segment>,
        mut old: Option<Segment>,
        busy: impl Fn(Words<'_>) -> Result<()>,
    ) -> Result<()> {
        let start = self.parts()[place.target].start;
        let swaps = update == Update::CompareAndSwap;
        let per_element = if swaps { 2 * element.size } else { element.size };
        // Both are zeroed, so the long ones are for many operands only.
        let (mut few, mut many);
        let (portion, before): (&mut [u8], &mut [u8]) = if at.count.saturating_mul(at.datatype.size()) <= FEW
        {
            few = [[0; 2 * FEW as usize]; 2];
            let [portion, before] = &mut few;
            (portion, before)
        } else {
            many = [[0; PORTION as usize]; 2];
            let [portion, before] = &mut many;
            (portion, before)
        };
        for (offset, count) in at.arrays(element) {
            let mut done = 0;
            while done < count {
                let now = (count - done).min(portion.len() as u64 / per_element);
                let (operand_bytes, old_bytes) =
                    ((now * per_element) as usize, (now * element.size) as usize);
                if let Some(operands) = &mut operands {
                    operands.pack(Sink::from(&mut portion[..operand_bytes]));
                }
                let first = place.offset + offset + (done as i64) * element.extent;
                let first = start + first as usize;
                let (given, taken) = (&portion[..operand_bytes], &mut before[..old_bytes]);
                match memory.atom(first, element.size as usize) {
                    Some(_) if element.size as i64 == element.extent => {
                        let changed = Stepwise { memory, first, element, update };
                        changed.all(now, given, taken)?;
                    }
                    _ => {
                        let words = Words::of(memory, place.target);
                        busy(words)?;
                        let at = UserBuf::mapped(memory, first);
                        let outcome = under_lock(at, now, (element, update), given, taken);
                        words.idle();
                        outcome?;
                    }
                }
                if let Some(old) = &mut old {
                    old.unpack(Source::from(&*taken));
                }
                done += now;
            }
        }
        Ok(())
    }
}

/// Elements that the processor changes in one step each.
struct Stepwise<'a> {
    memory: &'a Mapped,
    /// Where the first one is.
    first: usize,
    element: &'static Builtin,
    update: Update,
}

impl Stepwise<'_> {
    fn all(&self, count: u64, given: &[u8], taken: &mut [u8]) -> Result<()> {
        let size = self.element.size as usize;
        let step = step(self.update, self.element);
        let scratch = Scratch::of(&step, self.element);
        for at in 0..count as usize {
            let Some(atom) = self.memory.atom(self.first + at * size, size) else { continue };
            let was = match step {
                Step::Plain(change) => change(atom, bits(&given[at * size..][..size])),
                Step::Swap => {
                    let [expected, new] = [0, 1].map(|half| bits(&given[(2 * at + half) * size..][..size]));
                    atom.compare_and_swap(expected, new)
                }
                Step::General(op) => {
                    let operand = &given[at * size..][..size];
                    atom.update(|was| scratch.combined(&op, operand, was))
                }
            };
            taken[at * size..][..size].copy_from_slice(&was.to_le_bytes()[..size]);
        }
        Ok(())
    }
}

/// How an element is changed.
enum Step {
    /// By these steps of the processor.
    Plain(fn(Atom<'_>, u64) -> u64),
    /// By compare-and-swap with an operand.
    Swap,
    /// By compare-and-swap with what the operation gives.
    General(Predefined),
}

fn step(update: Update, element: &Builtin) -> Step {
    let Update::Combine(op) = update else { return Step::Swap };
    let is_integer = matches!(element.kind, Kind::Signed(_) | Kind::Unsigned(_));
    match op {
        Predefined::Replace => Step::Plain(|atom, operand| atom.swap(operand)),
        Predefined::NoOp => Step::Plain(|atom, _| atom.load()),
        Predefined::Sum if is_integer => Step::Plain(|atom, operand| atom.fetch_add(operand)),
        Predefined::Band if is_integer => Step::Plain(|atom, operand| atom.fetch_and(operand)),
        Predefined::Bor if is_integer => Step::Plain(|atom, operand| atom.fetch_or(operand)),
        Predefined::Bxor if is_integer => Step::Plain(|atom, operand| atom.fetch_xor(operand)),
        Predefined::Sum if element.kind == Kind::Float(8) => Step::Plain(add_doubles),
        Predefined::Sum if element.kind == Kind::Float(4) => Step::Plain(|atom, operand| {
            let float = |bits: u64| f32::from_bits(bits as u32);
            atom.update(|was| (float(was) + float(operand)).to_bits().into())
        }),
        op => Step::General(op),
    }
}

/// Adds a double to one, each by its bits; what it was.
#[inline]
pub(super) fn add_doubles(atom: Atom<'_>, operand: u64) -> u64 {
    atom.update(|was| (f64::from_bits(was) + f64::from_bits(operand)).to_bits())
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
        let memory = matches!(step, Step::General(_)).then(|| OwnedBuf::new(size));
        Self { memory, datatype: element.named.into(), size }
    }

    fn combined(&self, op: &Predefined, operand: &[u8], was: u64) -> u64 {
        let Some(memory) = &self.memory else { return was };
        let place = memory.user_buf();
        place.copy_in(0, Source::from(&was.to_le_bytes()[..self.size]));
        // The operation was checked for the type before.
        let applied = Op::from(*op).apply_packed(&self.datatype, Source::from(operand), place, 1);
        debug_assert!(applied.is_ok());
        bits(&memory.source().to_vec())
    }
}

/// The bits of an element of at most eight bytes.
fn bits(element: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..element.len()].copy_from_slice(element);
    u64::from_le_bytes(all)
}

/// Changes an array of elements, of which nobody else changes one meanwhile.
fn under_lock(
    at: UserBuf,
    count: u64,
    (element, update): (&'static Builtin, Update),
    given: &[u8],
    taken: &mut [u8],
) -> Result<()> {
    let datatype = Datatype::from(element.named);
    Segment::new(at, count, &datatype).pack(Sink::from(&mut *taken));
    match update {
        Update::Combine(op) => Op::from(op).apply_packed(&datatype, Source::from(given), at, count),
        Update::CompareAndSwap => {
            let (expected, new) = given.split_at(element.size as usize);
            if *expected == *taken {
                Segment::new(at, 1, &datatype).unpack(Source::from(new));
            }
            Ok(())
        }
    }
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
                let (size, bytes) = (builtin.size as usize, 3 * builtin.size as usize);
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
                if size as i64 == builtin.extent && memory.atom(64, size).is_some() {
                    let all = Stepwise { memory: &memory, first: 64, element: builtin, update };
                    all.all(3, &given, &mut taken).unwrap();
                } else {
                    under_lock(place, 3, (builtin, update), &given, &mut taken).unwrap();
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
            Stepwise { memory: &memory, first: 8, element, update }.all(1, &given, &mut taken).unwrap();
            i32::from_le_bytes(taken)
        };
        assert_eq!((swap(0, 5), swap(0, 6), swap(5, -1), swap(-1, 2)), (0, 5, 5, -1));
    }
}
