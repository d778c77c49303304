//! Atomic operations that the network does on memory of a peer, with elements that pass through a buffer to send from.
//!
//! They all fetch, so that one which has completed has been done. What must stay true: of elements that a provider does not
//! change by every operation it changes none, for what it does and what a processor does are not atomic with each other.

use std::ffi::c_int;
use std::io;

use super::abi::*;
use super::endpoint::{Endpoint, NotStarted, Place, Remote, Slot};
use crate::mem::Source;

/// An element, as networks know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the type of Rust of its name")]
#[repr(i32)]
pub enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// An operation on an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the operation of its name")]
#[repr(i32)]
pub enum Step {
    Min,
    Max,
    Sum,
    Product,
    Or,
    And,
    BitOr,
    BitAnd,
    Xor,
    BitXor,
    Read,
    Write,
    /// Of one element.
    CompareSwap,
}

/// An operation on so many elements in a row.
#[derive(Clone, Copy, Debug)]
pub struct Atomic {
    /// What they are.
    pub number: Number,
    /// What is done to them.
    pub step: Step,
    /// How many; [`Endpoint::atomic_limit`] at most.
    pub count: usize,
}

impl Number {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F32,
        Self::F64,
    ];

    /// Its bytes.
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    #[cfg(test)]
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::I8 => "FI_INT8",
            Self::U8 => "FI_UINT8",
            Self::I16 => "FI_INT16",
            Self::U16 => "FI_UINT16",
            Self::I32 => "FI_INT32",
            Self::U32 => "FI_UINT32",
            Self::I64 => "FI_INT64",
            Self::U64 => "FI_UINT64",
            Self::F32 => "FI_FLOAT",
            Self::F64 => "FI_DOUBLE",
        }
    }

    fn has(self, step: Step) -> bool {
        let floats =
            [Step::Min, Step::Max, Step::Sum, Step::Product, Step::Read, Step::Write, Step::CompareSwap];
        !matches!(self, Self::F32 | Self::F64) || floats.contains(&step)
    }
}

impl Step {
    pub(super) const ALL: [Self; 13] = [
        Self::Min,
        Self::Max,
        Self::Sum,
        Self::Product,
        Self::Or,
        Self::And,
        Self::BitOr,
        Self::BitAnd,
        Self::Xor,
        Self::BitXor,
        Self::Read,
        Self::Write,
        Self::CompareSwap,
    ];

    #[cfg(test)]
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Min => "FI_MIN",
            Self::Max => "FI_MAX",
            Self::Sum => "FI_SUM",
            Self::Product => "FI_PROD",
            Self::Or => "FI_LOR",
            Self::And => "FI_LAND",
            Self::BitOr => "FI_BOR",
            Self::BitAnd => "FI_BAND",
            Self::Xor => "FI_LXOR",
            Self::BitXor => "FI_BXOR",
            Self::Read => "FI_ATOMIC_READ",
            Self::Write => "FI_ATOMIC_WRITE",
            Self::CompareSwap => "FI_CSWAP",
        }
    }
}

impl Endpoint {
    /// So many elements of this kind at most the network changes at a time, by every operation that they have; 0: the owner of the
    /// memory has to.
    pub fn atomic_limit(&self, number: Number) -> usize {
        // SAFETY: an open endpoint.
        let table = unsafe { (*self.open.ep.as_ptr()).atomic };
        if !self.provider().has_atomics() || table.is_null() {
            return 0;
        }
        let limit = |step: Step| {
            let mut count = 0;
            // SAFETY: the table of an open endpoint, and a place for one number.
            let answer = unsafe {
                let valid = match step {
                    Step::CompareSwap => (*table).compwritevalid,
                    _ => (*table).readwritevalid,
                };
                let ep = self.open.ep.as_ptr();
                valid.map_or(-libc::ENOSYS, |valid| valid(ep, number as c_int, step as c_int, &mut count))
            };
            if answer == 0 { count } else { 0 }
        };
        let room = self.atomic_room() / number.size();
        Step::ALL
            .into_iter()
            .filter(|step| number.has(*step))
            .map(limit)
            .min()
            .map_or(0, |most| most.min(room))
    }

    /// Bytes of a buffer for the operands of an operation, which it begins with; what an element is expected to be lies as many bytes
    /// behind.
    pub fn atomic_room(&self) -> usize {
        self.sizes.packet / 4
    }

    /// Does this with operands that lie in a buffer; ends with [`Completion::Changed`](super::Completion::Changed).
    ///
    /// # Errors
    /// [`NotStarted`], with the buffer.
    pub fn atomic(
        &mut self,
        slot: Slot,
        Atomic { number, step, count }: Atomic,
        to: Remote,
        place: Place,
        token: u64,
    ) -> Result<(), NotStarted<Slot>> {
        let room = self.atomic_room();
        if count > room / number.size() {
            let text =
                format!("an atomic operation of {count} elements, of {} at most", room / number.size());
            return Err(NotStarted::Failed(slot, io::Error::other(text)));
        }
        let Some(transfer) = self.free_transfers.pop() else { return Err(NotStarted::Full(slot)) };
        let context =
            self.context(self.sizes.sends + self.sizes.receives + transfer, token, to, Some(slot.0));
        let descriptor = self.descriptor();
        let (number, step) = (number as c_int, step as c_int);
        // SAFETY: an open endpoint; the buffer is ours alone until its completion, since it is neither free nor claimed, and has
        // room for four times these operands.
        let answer = unsafe {
            let (ep, memory) = (self.open.ep.as_ptr(), self.open.pages.at(slot.0));
            let (operands, expected) = (memory.cast_const().cast(), memory.add(room).cast_const().cast());
            let results = memory.add(2 * room).cast();
            let (address, key) = (place.address, place.key);
            match (*ep).atomic.as_ref() {
                Some(OpsAtomic { compwrite: Some(swap), .. }) if step == Step::CompareSwap as c_int => swap(
                    ep, operands, count, descriptor, expected, descriptor, results, descriptor, to.0,
                    address, key, number, step, context,
                ),
                Some(OpsAtomic { readwrite: Some(change), .. }) => change(
                    ep, operands, count, descriptor, results, descriptor, to.0, address, key, number, step,
                    context,
                ),
                _ => -(libc::ENOSYS as isize),
            }
        };
        self.started(answer, "changing remote memory").map_err(|why| {
            self.free_transfers.push(transfer);
            match why {
                NotStarted::Full(()) => NotStarted::Full(slot),
                NotStarted::Failed((), why) => NotStarted::Failed(slot, why),
            }
        })
    }

    /// What so many bytes of elements were before an operation that has ended with this buffer.
    pub fn fetched(&self, slot: &Slot, len: usize) -> Source<'_> {
        let room = self.atomic_room();
        let (_, results) = self.open.pages.source(slot.0, 2 * room + len.min(room)).split_at(2 * room);
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_and_step_is_listed_once() {
        for (at, number) in Number::ALL.into_iter().enumerate() {
            assert_eq!(number as usize, at);
        }
        for (at, step) in Step::ALL.into_iter().enumerate() {
            assert_eq!(step as usize, at);
        }
    }
}
