//! The target's side: memory that is exposed, and what peers do to it.
//!
//! What must stay true: a key that is not in the table, or a range beyond its memory, reaches nothing; what a packet asks for
//! is done as a whole or not at all.

use std::collections::BTreeMap;

use posthaste_os::mem::Source;

use super::attached::Attached;
use super::lock::Lock;
use crate::buffer::{OwnedBuf, UserBuf};
use crate::datatype::{Builtin, Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::named::Named;
use crate::op::{Op, Predefined};
use crate::wire::{Access, Atomically, Refusal, Refused, RemoteKey, Scattered};

/// Memory that is exposed, by the slots of its keys.
#[derive(Debug, Default)]
pub struct Exposed {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// What peers know by name.
    named: BTreeMap<RemoteKey, Notice>,
}

/// Bytes that peers only read, and memory whose lock they take by this name.
#[derive(Debug)]
struct Notice {
    shown: OwnedBuf,
    of: RemoteKey,
}

#[derive(Debug)]
pub(super) struct Slot {
    generation: u32,
    memory: Option<(UserBuf, u64)>,
    /// Instead of that, memory that is found by its addresses.
    pub(super) attached: Option<Attached>,
    pub(super) lock: Lock,
}

impl Exposed {
    pub(super) fn add(&mut self, memory: UserBuf, len: u64) -> RemoteKey {
        let memory = Some((memory, len));
        if let Some(slot) = self.free.pop() {
            let place = &mut self.slots[slot as usize];
            place.memory = memory;
            return RemoteKey { slot, generation: place.generation };
        }
        self.slots.push(Slot { generation: 1, memory, attached: None, lock: Lock::default() });
        RemoteKey { slot: self.slots.len() as u32 - 1, generation: 1 }
    }

    /// Gives memory a name, under which bytes are shown; not if that is taken.
    pub(super) fn name(&mut self, name: RemoteKey, of: RemoteKey, bytes: &[u8]) -> bool {
        let is_new = name.is_named() && !self.named.contains_key(&name);
        if is_new {
            let mut shown = OwnedBuf::new(bytes.len());
            shown.sink().copy_from(bytes);
            self.named.insert(name, Notice { shown, of });
        }
        is_new
    }

    pub(super) fn remove(&mut self, key: RemoteKey) {
        if key.is_named() {
            self.named.remove(&key);
            return;
        }
        let Some(slot) =
            self.slots.get_mut(key.slot as usize).filter(|slot| slot.generation == key.generation)
        else {
            return;
        };
        if slot.memory.take().is_some() {
            (slot.attached, slot.lock) = (None, Lock::default());
            slot.generation = slot.generation.wrapping_add(1).max(1);
            self.free.push(key.slot);
        }
    }

    /// What stands under a key, or has this name.
    pub(super) fn slot(&mut self, key: RemoteKey) -> Option<&mut Slot> {
        let key = if key.is_named() { self.named.get(&key)?.of } else { key };
        let slot = self.slots.get_mut(key.slot as usize)?;
        (slot.generation == key.generation && slot.memory.is_some()).then_some(slot)
    }

    /// All that stands under keys.
    pub(super) fn slots(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.slots.iter_mut()
    }

    /// The locks of all memory.
    pub(super) fn locks(&self) -> impl Iterator<Item = &Lock> {
        self.slots.iter().map(|slot| &slot.lock)
    }

    /// The memory of a key.
    pub(super) fn memory(&self, key: RemoteKey) -> Option<(UserBuf, u64)> {
        if key.is_named() {
            let shown = &self.named.get(&key)?.shown;
            return Some((shown.user_buf(), shown.len() as u64));
        }
        self.slots.get(key.slot as usize).filter(|slot| slot.generation == key.generation)?.memory
    }

    /// Whether memory is found there by its addresses.
    pub(super) fn is_attached(&self, key: RemoteKey) -> bool {
        self.attached(key).is_some()
    }

    fn attached(&self, key: RemoteKey) -> Option<&Attached> {
        self.slots.get(key.slot as usize)?.attached.as_ref()
    }

    /// The memory of an access of so many bytes.
    ///
    /// # Errors
    /// What is reported to its origin.
    pub(super) fn range(&self, access: &Access, len: u64) -> std::result::Result<UserBuf, Refused> {
        let (access, Access { key, offset, .. }) = (*access, *access);
        let Some((memory, size)) = self.memory(key) else {
            return Err(Refused { access, why: Refusal::NotExposed, len, size: 0 });
        };
        if let Some(attached) = self.attached(key) {
            return attached.find(offset, len).ok_or(Refused {
                access,
                why: Refusal::NotAttached,
                len,
                size,
            });
        }
        if offset.checked_add(len).is_none_or(|end| end > size) {
            return Err(Refused { access, why: Refusal::OutOfRange, len, size });
        }
        Ok(memory.offset(offset as isize))
    }

    /// The rest of the elements of an access, of which so many bytes are meant: as they lie by this layout, if they are scattered.
    ///
    /// # Errors
    /// What is reported to its origin.
    pub(super) fn elements(
        &self,
        access: &Access,
        layout: Option<&Datatype>,
        len: u64,
    ) -> std::result::Result<Segment, Refused> {
        let Some(Scattered { count, from, .. }) = access.scattered else {
            return Ok(Segment::contiguous(self.range(access, len)?, len));
        };
        let refused = |why, size| Refused { access: *access, why, len, size };
        let (memory, size) = self.memory(access.key).ok_or(refused(Refusal::NotExposed, 0))?;
        let layout = layout.ok_or(refused(Refusal::NoSuchLayout, size))?;
        let last = (i128::from(count) - 1) * i128::from(layout.extent());
        let low = i128::from(access.offset) + i128::from(layout.true_lb()) + last.min(0);
        let high = low + i128::from(layout.true_extent()) + last.abs();
        let total = u128::from(count) * u128::from(layout.size());
        let ends = u128::from(from) + u128::from(len);
        let is_within =
            count > 0 && low >= 0 && high <= i128::from(size) && ends <= total && total <= i64::MAX as u128;
        // Attached memory is found by its addresses, so its origins name each run.
        if !is_within || self.attached(access.key).is_some() {
            return Err(refused(Refusal::OutOfRange, size));
        }
        let mut elements = Segment::new(memory.offset(access.offset as isize), u64::from(count), layout);
        elements.seek(from);
        Ok(elements)
    }

    /// Does an atomic operation with these operands, on elements that lie by this layout, if they are scattered; the old values,
    /// packed, if they are wanted.
    ///
    /// # Errors
    /// What is reported to its origin.
    pub(super) fn atomic(
        &self,
        access: &Access,
        layout: Option<&Datatype>,
        what: Atomically,
        operands: Source<'_>,
    ) -> std::result::Result<Option<OwnedBuf>, Refused> {
        let len = operands.len() as u64;
        let unknown = Refused { access: *access, why: Refusal::NoSuchOperation, len, size: 0 };
        let named = Named::from_the_wire(what.element).ok_or(unknown)?;
        let (element, datatype) = (Builtin::of(named), Datatype::from(named));
        let swaps = what.operation == super::COMPARE_AND_SWAP;
        if access.scattered.is_some() {
            let whole = !swaps && element.size as i64 == element.extent && len.is_multiple_of(element.size);
            let operation = operation(what.operation, element).ok().filter(|_| whole).ok_or(unknown)?;
            let elements = self.elements(access, layout, len)?;
            let (memory, _) = self.memory(access.key).ok_or(unknown)?;
            let done = combine((memory, &elements), (element, &datatype), &operation, operands, what.fetches);
            return done.ok_or(unknown);
        }
        let count = if swaps { 1 } else { len / element.size };
        if count == 0 || (if swaps { 2 } else { count }) * element.size != len {
            return Err(unknown);
        }
        let memory = self.range(access, reach(element, &datatype, count))?;
        let mut old = None;
        if what.fetches || swaps {
            let mut bytes = OwnedBuf::new((count * element.size) as usize);
            Segment::new(memory, count, &datatype).pack(bytes.sink());
            old = Some(bytes);
        }
        if swaps {
            let (expected, replacement) = operands.split_at(element.size as usize);
            if old.as_ref().is_some_and(|old| old.source().to_vec() == expected.to_vec()) {
                Segment::new(memory, 1, &datatype).unpack(replacement);
            }
        } else {
            let operation = operation(what.operation, element).map_err(|_| unknown)?;
            operation.apply_packed(&datatype, operands, memory, count).map_err(|_| unknown)?;
        }
        Ok(old.filter(|_| what.fetches))
    }
}

/// Combines scattered elements, each of which is one run; the old values, packed, if they are wanted. `None`: they are others, and
/// nothing has been done.
fn combine(
    (memory, elements): (UserBuf, &Segment),
    (element, datatype): (&Builtin, &Datatype),
    operation: &Op,
    mut operands: Source<'_>,
    fetches: bool,
) -> Option<Option<OwnedBuf>> {
    let len = operands.len();
    let mut runs = Vec::new();
    elements.clone().runs(usize::MAX, len as u64, &mut runs);
    if runs.iter().any(|(_, len)| !(*len as u64).is_multiple_of(element.size)) {
        return None;
    }
    let old = fetches.then(|| {
        let mut bytes = OwnedBuf::new(len);
        elements.clone().pack(bytes.sink());
        bytes
    });
    for (address, len) in runs {
        let (now, later) = operands.split_at(len);
        let run = memory.offset(address.wrapping_sub(memory.address()) as isize);
        operation.apply_packed(datatype, now, run, len as u64 / element.size).ok()?;
        operands = later;
    }
    Some(old)
}

/// Bytes from the first one of an array to its last one, without padding behind the last element.
fn reach(element: &Builtin, datatype: &Datatype, count: u64) -> u64 {
    (count - 1).saturating_mul(element.extent as u64).saturating_add(datatype.true_extent() as u64)
}

/// The operation of this number, if elements of the type have it.
///
/// # Errors
/// `MPI_ERR_OP`.
pub(super) fn operation(number: u32, element: &'static Builtin) -> Result<Op> {
    let unknown = || Error::other(ErrorClass::Op, format!("there is no operation {number}"));
    let operation = Op::from(Predefined::from_the_wire(number).ok_or_else(unknown)?);
    operation.check(&Datatype::from(element.named))?;
    Ok(operation)
}
