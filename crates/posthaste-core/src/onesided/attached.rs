//! Memory that is attached piece by piece under one key, and found by its addresses: dynamic windows (MPI-5.0 §12.2.4).
//!
//! What must stay true: an access lies in one piece, or in several of which each begins where the one before ends, or reaches
//! nothing; pieces share no byte.

use std::collections::BTreeMap;

use super::{OneSided, RemoteKey, on_host};
use crate::buffer::UserBuf;
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass, Result};

/// The pieces by their addresses.
#[derive(Debug, Default)]
pub(super) struct Attached {
    /// Those with bytes.
    pieces: BTreeMap<u64, (UserBuf, u64)>,
    /// How many have none at an address: they are in nobody's way.
    empty: BTreeMap<u64, usize>,
}

impl Attached {
    /// The memory of an access.
    pub(super) fn find(&self, address: u64, len: u64) -> Option<UserBuf> {
        let (base, (memory, size)) = self.pieces.range(..=address).next_back()?;
        let skip = address - base;
        let end = address.checked_add(len)?;
        let mut reached = base + size;
        if skip > *size {
            return None;
        }
        while reached < end {
            let (_, more) = self.pieces.get(&reached)?;
            reached += more;
        }
        Some(memory.offset(skip as isize))
    }

    /// The ranges, each from its first byte to the one behind its last; pieces that touch are one.
    fn ranges(&self) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (start, (_, size)) in &self.pieces {
            match ranges.last_mut() {
                Some((_, end)) if end == start => *end += size,
                _ => ranges.push((*start, start + size)),
            }
        }
        ranges
    }

    fn add(&mut self, memory: UserBuf, len: u64) -> Result<()> {
        let address = memory.address() as u64;
        if len == 0 {
            *self.empty.entry(address).or_default() += 1;
            return Ok(());
        }
        let before = self.pieces.range(..address.saturating_add(len)).next_back();
        if let Some((base, (_, size))) = before.filter(|(base, (_, size))| *base + *size > address) {
            let got = format_args!("{address:#x}, {len} bytes");
            let expected = format_args!("memory apart from what is attached: {size} bytes at {base:#x}");
            return Err(Error::invalid(ErrorClass::RmaAttach, "base", got, expected));
        }
        self.pieces.insert(address, (memory, len));
        Ok(())
    }

    /// Whether something was attached at this address, of which one piece is not any more.
    fn remove(&mut self, address: u64) -> bool {
        if self.pieces.remove(&address).is_some() {
            return true;
        }
        let Some(count) = self.empty.get_mut(&address) else { return false };
        *count -= 1;
        if *count == 0 {
            self.empty.remove(&address);
        }
        true
    }
}

impl OneSided {
    /// A key for memory that is attached later; the offset of an access is its address.
    pub fn expose_attached(&mut self) -> RemoteKey {
        let key = self.exposed.add(UserBuf::none(), 0);
        if let Some(slot) = self.exposed.slot(key) {
            slot.attached = Some(Attached::default());
        }
        key
    }

    /// Lets peers at this memory, too.
    ///
    /// # Errors
    /// `MPI_ERR_BASE` when the memory does not lie in one piece, `MPI_ERR_BUFFER` when it lies on a device,
    /// `MPI_ERR_RMA_ATTACH` when some of it is attached already.
    pub fn attach(&mut self, key: RemoteKey, memory: &Segment) -> Result<()> {
        on_host(memory)?;
        let attached = self.exposed.slot(key).and_then(|slot| slot.attached.as_mut());
        match (attached, memory.contiguous_rest()) {
            (Some(attached), Some((memory, len))) => attached.add(memory, len),
            _ => {
                let text = "memory for one-sided communication has to lie in one piece";
                Err(Error::other(ErrorClass::Base, text.to_owned()))
            }
        }
    }

    /// What is attached: each range from its first byte to the one behind its last, in order; pieces that touch are one.
    pub fn attached(&mut self, key: RemoteKey) -> Vec<(u64, u64)> {
        let attached = self.exposed.slot(key).and_then(|slot| slot.attached.as_ref());
        attached.map_or(Vec::new(), Attached::ranges)
    }

    /// Ends that for the memory at this address.
    ///
    /// # Errors
    /// `MPI_ERR_BASE` when no memory is attached there.
    pub fn detach(&mut self, key: RemoteKey, address: u64) -> Result<()> {
        let attached = self.exposed.slot(key).and_then(|slot| slot.attached.as_mut());
        if attached.is_some_and(|attached| attached.remove(address)) {
            return Ok(());
        }
        let got = format_args!("{address:#x}");
        Err(Error::invalid(ErrorClass::Base, "base", got, "the address of attached memory"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::OwnedBuf;

    #[test]
    fn an_access_finds_pieces_without_a_gap_or_nothing() {
        let memory = OwnedBuf::new(100);
        let (base, at) = (memory.user_buf(), memory.user_buf().address() as u64);
        let mut attached = Attached::default();
        attached.add(base, 40).unwrap();
        attached.add(base.offset(40), 20).unwrap();
        for (from, len) in [(39, 1), (20, 40), (59, 9), (0, 100)] {
            let why = attached.add(base.offset(from), len).unwrap_err();
            assert_eq!(why.class(), ErrorClass::RmaAttach, "{why}");
        }
        assert_eq!(attached.find(at + 10, 30), Some(base.offset(10)));
        assert_eq!(attached.find(at + 40, 20), Some(base.offset(40)));
        assert_eq!(attached.find(at + 10, 50), Some(base.offset(10)), "pieces one behind the other");
        attached.add(base.offset(61), 9).unwrap();
        for (from, len) in [(10, 51), (50, 11), (50, 15), (60, 1), (0, u64::MAX)] {
            assert!(attached.find(at + from, len).is_none());
        }
        assert!(attached.find(at - 1, 1).is_none());
        for empty in [0, 10, 40] {
            attached.add(base.offset(empty), 0).unwrap();
        }
        assert_eq!(attached.find(at, 60), Some(base));
        assert!(attached.add(base.offset(10), 8).is_err());
        assert!(attached.remove(at + 10) && !attached.remove(at + 10));
        assert_eq!(attached.ranges(), [(at, at + 60), (at + 61, at + 70)]);
    }
}
