//! The table of requests: slots with generations, so that a stale or forged id finds nothing.
//!
//! The table grows up to its limit and never moves a slot's number. House decision on C handles: `MPI_Request_toint`
//! has 31 bits, so a handle packs 21 bits of slot and the low 9 bits of the generation above them. Those are never 0, so
//! every handle is at least 2^21 and outside the predefined ones. A stale handle is mistaken for a live one only after
//! exactly a multiple of 511 further uses of the same slot. On the wire the full 32-bit generation travels.
//!
//! Each VCI has a table, and each table slots of its own: the first half of all is the first VCI's, the second half is
//! shared out to the others. So an id and a handle say which VCI they belong to.
//!
//! One request is always there: [`Table::DONE`], which stands for everything that was over when it was started and
//! has nothing to report. It can be taken out any number of times, so that a short send needs no slot.
//!
//! The limit is for messages that the program starts. A collective operation that one rank refused would leave its peers
//! waiting, so the requests of collective operations may go beyond the limit, into a reserve ([`Table::reserve`]).

use std::collections::VecDeque;

use posthaste_os::node::VCIS;

use crate::config::HIGHEST_REQUESTS;
use crate::error::{Error, Result};
use crate::ids::RequestId;
use crate::request::{Request, State, Status};

const SLOT_BITS: u32 = 21;
/// Slots in all: as many as a handle can name.
pub const MOST: usize = 1 << SLOT_BITS;
/// Slots of the first VCI.
const FIRST: usize = MOST / 2;
/// Slots of each other VCI.
const FURTHER: usize = FIRST / VCIS;
/// Slots of each other VCI that are reserved for collective operations.
const FURTHER_RESERVE: usize = 1 << 13;
/// Generations that a handle can tell apart, one of which is none.
pub(crate) const HANDLE_GENERATIONS: usize = 1 << 9;
const HANDLE_GENERATION: u32 = HANDLE_GENERATIONS as u32 - 1;

/// The generation after this one.
#[inline(always)]
const fn next(generation: u32) -> u32 {
    let next = generation.wrapping_add(1);
    next + (next & HANDLE_GENERATION == 0) as u32
}

/// The VCI that a slot belongs to; what is no VCI's counts as the first one's.
#[inline]
pub const fn vci_of(slot: usize) -> usize {
    if slot < FIRST || slot >= FIRST + (VCIS - 1) * FURTHER { 0 } else { 1 + (slot - FIRST) / FURTHER }
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    /// Next free slot while this one is free.
    next_free: u32,
    request: Option<Request>,
}

/// The place of a slot among those of its VCI.
#[inline]
pub(crate) const fn place(slot: u32) -> usize {
    let slot = slot as usize;
    if slot < FIRST { slot } else { (slot - FIRST) % FURTHER }
}

/// The slot and the generation that a handle names.
pub(crate) const fn named(handle: u32) -> (u32, u32) {
    (handle & (MOST as u32 - 1), handle >> SLOT_BITS & HANDLE_GENERATION)
}

/// Requests by id.
#[derive(Debug)]
pub struct Table {
    slots: Vec<Slot>,
    /// Number of the first slot; 0 in the first VCI. A multiple of the number of slots.
    base: u32,
    /// Slots that there can be.
    most: usize,
    free: u32,
    limit: usize,
    /// First free slot beyond the limit.
    free_beyond: u32,
    /// Free slots that wait before they are taken again, the first one longest.
    retired: VecDeque<u32>,
    /// Slots beyond the limit may be taken now.
    reserve: bool,
    live: usize,
}

const NONE: u32 = u32::MAX;
/// Most slots that wait before they are taken again.
const RETIRED: usize = 1024;

impl Table {
    /// The request that is over and has nothing to report. It stands in the first VCI's table; the others find nothing
    /// under it, which is over as well, and let it be taken out.
    pub const DONE: RequestId = RequestId { slot: 0, generation: 1 };

    /// An empty table for at most `limit` requests of the first VCI.
    pub fn new(limit: usize) -> Self {
        Self::of_vci(0, limit)
    }

    /// An empty table for at most `limit` requests of a VCI.
    pub fn of_vci(vci: usize, limit: usize) -> Self {
        let mut slots = Vec::with_capacity(256.min(limit));
        slots.push(Slot { generation: 1, next_free: NONE, request: Some(Request::new(State::Complete)) });
        let (base, most, highest) = match vci {
            0 => (0, FIRST, HIGHEST_REQUESTS),
            _ => (FIRST + (vci - 1) * FURTHER, FURTHER, FURTHER - FURTHER_RESERVE),
        };
        let (base, limit) = (base as u32, limit.min(highest) + 1);
        let retired = VecDeque::new();
        Self { slots, base, most, free: NONE, limit, free_beyond: NONE, retired, reserve: false, live: 0 }
    }

    /// Where the slot with this number is.
    #[inline(always)]
    fn at(&self, slot: u32) -> usize {
        slot.wrapping_sub(self.base) as usize
    }

    /// Number of requests in the table, not counting [`Table::DONE`].
    pub fn len(&self) -> usize {
        self.live
    }

    /// Whether the table holds nothing.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Makes sure that the next [`Table::insert`] succeeds.
    ///
    /// # Errors
    /// When the table is full.
    #[inline]
    pub fn ensure_room(&mut self) -> Result<()> {
        if self.free == NONE { self.grow() } else { Ok(()) }
    }

    /// Makes sure that the next [`Table::insert`] succeeds with the reserve open ([`Table::reserve`]).
    ///
    /// # Errors
    /// When the reserve is full, too.
    #[inline]
    pub fn ensure_reserved_room(&mut self) -> Result<()> {
        if self.free == NONE { self.grow_into_reserve() } else { Ok(()) }
    }

    #[cold]
    fn grow_into_reserve(&mut self) -> Result<()> {
        self.reserve(true);
        let grown = self.grow();
        self.reserve(false);
        grown
    }

    /// Makes sure that so many requests find room.
    ///
    /// # Errors
    /// When the table has not so much room.
    pub fn ensure_room_for(&self, requests: usize) -> Result<()> {
        if self.live + requests < self.limit { Ok(()) } else { Err(self.full()) }
    }

    /// Takes a request in.
    ///
    /// # Errors
    /// When the table is full.
    #[inline(always)] // moving a request costs more than what is done to it
    pub fn insert(&mut self, request: Request) -> Result<RequestId> {
        let id = self.next_id()?;
        self.insert_next(request);
        Ok(id)
    }

    /// Takes in the request for which [`Table::next_id`] has just given the id.
    #[inline(always)]
    pub fn insert_next(&mut self, request: Request) {
        let place = &mut self.slots[self.free as usize];
        self.free = place.next_free;
        place.request = Some(request);
        self.live += 1;
    }

    /// Lets requests beyond the limit in, or only such as keep it.
    #[inline]
    pub fn reserve(&mut self, open: bool) {
        self.reserve = open;
        if self.free as usize >= self.limit && self.free != NONE {
            let unused = std::mem::replace(&mut self.free, NONE);
            self.put_beyond(unused);
        }
    }

    /// A free slot beyond the limit goes back to its kind.
    #[cold]
    fn put_beyond(&mut self, slot: u32) {
        self.slots[slot as usize].next_free = self.free_beyond;
        self.free_beyond = slot;
    }

    /// A slot has become free.
    #[inline]
    fn put_back(&mut self, slot: u32) {
        if slot as usize >= self.limit {
            return self.put_beyond(slot);
        }
        self.slots[slot as usize].next_free = self.free;
        self.free = slot;
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        if self.slots.len() >= self.limit {
            while self.free == NONE
                && let Some(slot) = self.retired.pop_front()
            {
                self.put_back(slot);
            }
            if self.free != NONE {
                return Ok(());
            }
            if !self.reserve || (self.free_beyond == NONE && self.slots.len() >= self.most) {
                return Err(self.full());
            }
            if self.free_beyond != NONE {
                self.free = self.free_beyond;
                self.free_beyond = std::mem::replace(&mut self.slots[self.free as usize].next_free, NONE);
                return Ok(());
            }
        }
        self.free = self.slots.len() as u32;
        self.slots.push(Slot { generation: 1, next_free: NONE, request: None });
        Ok(())
    }

    fn full(&self) -> Error {
        let (live, most) = (self.live, self.limit - 1);
        let used = if live >= most { format!("all {most}") } else { format!("{live} of {most}") };
        Error::no_memory(format!(
            "{used} requests are in use (POSTHASTE_REQUESTS sets the limit, at most {HIGHEST_REQUESTS})"
        ))
    }

    /// The request, if the id is not stale.
    #[inline]
    pub fn get(&self, id: RequestId) -> Option<&Request> {
        self.slots.get(self.at(id.slot)).filter(|slot| slot.generation == id.generation)?.request.as_ref()
    }

    /// The request, if the id is not stale.
    #[inline]
    pub fn get_mut(&mut self, id: RequestId) -> Option<&mut Request> {
        let at = self.at(id.slot);
        self.slots.get_mut(at).filter(|slot| slot.generation == id.generation)?.request.as_mut()
    }

    /// Takes the request out; its id is stale from now on.
    #[inline]
    pub fn remove(&mut self, id: RequestId) -> Option<Request> {
        if id == Self::DONE {
            return Some(Request::new(State::Complete));
        }
        let at = self.at(id.slot);
        let slot = self.slots.get_mut(at).filter(|slot| slot.generation == id.generation)?;
        let request = slot.request.take()?;
        slot.generation = next(slot.generation);
        self.put_back(at as u32);
        self.live -= 1;
        Some(request)
    }

    /// Takes a request out whose handle the program may still show. Its slot waits its turn, so that the handle is not given to
    /// another request soon: the generations of a slot come round in a handle, and threads may be stopped for long.
    pub fn retire(&mut self, id: RequestId) -> Option<Request> {
        let at = self.at(id.slot);
        let slot = self.slots.get_mut(at).filter(|slot| slot.generation == id.generation)?;
        let request = slot.request.take()?;
        slot.generation = next(slot.generation);
        self.live -= 1;
        self.retired.push_back(at as u32);
        if self.retired.len() > RETIRED
            && let Some(slot) = self.retired.pop_front()
        {
            self.put_back(slot);
        }
        Some(request)
    }

    /// The id that the next [`Table::insert`] gives.
    ///
    /// # Errors
    /// When the table is full.
    #[inline]
    pub fn next_id(&mut self) -> Result<RequestId> {
        self.ensure_room()?;
        Ok(RequestId { slot: self.base + self.free, generation: self.slots[self.free as usize].generation })
    }

    /// The status of the request that a C handle names, if it is over and went well; then the request leaves the
    /// table without being moved. Everything else is for the general way.
    #[inline(always)]
    pub fn take_ended(&mut self, handle: usize) -> Option<Status> {
        if handle == Self::handle(Self::DONE) as usize {
            return Some(Status::EMPTY);
        }
        let number = (handle & (MOST - 1)) as u32;
        let at = self.at(number);
        let slot = self.slots.get_mut(at)?;
        if Self::handle(RequestId { slot: number, generation: slot.generation }) as usize != handle {
            return None;
        }
        let Some(Request { state: State::Complete, status, .. }) = &slot.request else { return None };
        if status.error.is_some() {
            return None;
        }
        let ended = Status {
            source: status.source,
            tag: status.tag,
            bytes: status.bytes,
            cancelled: status.cancelled,
            error: None,
        };
        slot.request = None;
        slot.generation = next(slot.generation);
        self.put_back(at as u32);
        self.live -= 1;
        Some(ended)
    }

    /// The C handle of a request.
    #[inline]
    pub const fn handle(id: RequestId) -> u32 {
        (id.generation & HANDLE_GENERATION) << SLOT_BITS | id.slot
    }

    /// The live request that a C handle names.
    #[inline]
    pub fn by_handle(&self, handle: usize) -> Option<RequestId> {
        let number = (handle & (MOST - 1)) as u32;
        let slot = self.slots.get(self.at(number))?;
        let id = RequestId { slot: number, generation: slot.generation };
        (slot.request.is_some() && Self::handle(id) as usize == handle).then_some(id)
    }

    /// The live request in a slot.
    pub fn in_slot(&self, slot: u32) -> Option<RequestId> {
        let found = self.slots.get(self.at(slot))?;
        found.request.is_some().then_some(RequestId { slot, generation: found.generation })
    }

    /// All requests with their ids, [`Table::DONE`] among them.
    pub fn iter(&self) -> impl Iterator<Item = (RequestId, &Request)> {
        self.slots.iter().enumerate().filter_map(|(at, slot)| {
            let id = RequestId { slot: self.base + at as u32, generation: slot.generation };
            slot.request.as_ref().map(|request| (id, request))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ContextId;

    #[test]
    fn a_handle_that_may_still_be_shown_is_not_given_again_soon() {
        let mut table = Table::new(100_000);
        let shown = table.insert(Request::new(State::Finished)).unwrap();
        table.retire(shown).unwrap();
        for _ in 0..RETIRED * (HANDLE_GENERATIONS - 2) {
            let other = table.insert(Request::new(State::Finished)).unwrap();
            assert_ne!(Table::handle(other), Table::handle(shown));
            table.retire(other).unwrap();
        }
        assert!(table.is_empty() && table.slots.len() <= RETIRED + 3);
    }

    #[test]
    fn slots_that_wait_are_taken_when_there_is_no_other() {
        let mut table = Table::new(2);
        for _ in 0..10 {
            let both = [(); 2].map(|()| table.insert(Request::new(State::Finished)).unwrap());
            assert!(table.insert(Request::new(State::Inactive)).is_err());
            for id in both {
                table.retire(id).unwrap();
            }
        }
    }

    #[test]
    fn stale_ids_and_forged_handles_find_nothing() {
        let mut table = Table::new(2);
        let a = table.insert(Request::new(State::Inactive)).unwrap();
        let handle = Table::handle(a);
        assert!((1 << 21..1 << 31).contains(&u64::from(handle)));
        assert_eq!(table.by_handle(handle as usize), Some(a));
        assert!(table.remove(a).is_some());
        assert!(table.get(a).is_none() && table.remove(a).is_none());
        let b = table.insert(Request::new(State::Inactive)).unwrap();
        assert_eq!(b.slot, a.slot);
        assert!(table.get(a).is_none());
        assert_eq!(table.by_handle(handle as usize), None);
        for garbage in [0, 0x180, 4096, usize::MAX, handle as usize + 1, 0xdead_beef_dead_beef] {
            assert_eq!(table.by_handle(garbage), None, "{garbage:#x}");
        }
    }

    #[test]
    fn vcis_have_slots_of_their_own() {
        let mut tables: Vec<Table> = (0..8).map(|vci| Table::of_vci(vci, HIGHEST_REQUESTS)).collect();
        let ids: Vec<_> = tables
            .iter_mut()
            .map(|table| table.insert(Request::new(State::Schedule(ContextId::WORLD))).unwrap())
            .collect();
        for (vci, id) in ids.iter().enumerate() {
            let handle = Table::handle(*id) as usize;
            assert_eq!((vci_of(id.slot as usize), vci_of(handle & (MOST - 1))), (vci, vci));
            for (other, table) in tables.iter_mut().enumerate() {
                assert_eq!(table.get(*id).is_some(), other == vci);
                assert_eq!(table.by_handle(handle), (other == vci).then_some(*id));
                assert!(table.take_ended(handle).is_none());
                assert!(table.remove(Table::DONE).is_some());
            }
        }
        assert_eq!((vci_of(u32::MAX as usize), vci_of(FIRST - 1), vci_of(MOST - 1)), (0, 0, 0));
        let further = &mut tables[3];
        let most =
            (1..).find(|_| further.insert(Request::new(State::Schedule(ContextId::WORLD))).is_err()).unwrap();
        assert_eq!(most, FURTHER - FURTHER_RESERVE);
        assert_eq!(vci_of(further.iter().last().unwrap().0.slot as usize), 3);
        assert!(
            further.remove(ids[3]).is_some()
                && further.insert(Request::new(State::Schedule(ContextId::WORLD))).is_ok()
        );
    }

    #[test]
    fn only_what_is_over_is_taken_by_its_handle() {
        let mut table = Table::new(2);
        let expected = table.next_id().unwrap();
        let id = table.insert(Request::new(State::Schedule(ContextId::WORLD))).unwrap();
        assert_eq!(id, expected);
        let handle = Table::handle(id) as usize;
        assert!(table.take_ended(handle).is_none());
        table.get_mut(id).unwrap().state = State::Complete;
        table.get_mut(id).unwrap().status.bytes = 7;
        assert!(table.take_ended(handle + 1).is_none());
        assert_eq!(table.take_ended(handle).unwrap().bytes, 7);
        assert!(table.take_ended(handle).is_none() && table.is_empty());
    }

    #[test]
    fn collective_operations_go_beyond_the_limit_and_nobody_else() {
        let mut table = Table::new(2);
        let new = || Request::new(State::Schedule(ContextId::WORLD));
        let own = [table.insert(new()).unwrap(), table.insert(new()).unwrap()];
        for _ in 0..3 {
            table.reserve(true);
            assert!(table.ensure_room().is_ok());
            let beyond: Vec<_> = (0..5).map(|_| table.insert(new()).unwrap()).collect();
            assert!(table.ensure_room().is_ok());
            table.reserve(false);
            assert!(table.insert(new()).unwrap_err().to_string().contains("all 2 requests"));
            for id in &beyond {
                assert_eq!(table.by_handle(Table::handle(*id) as usize), Some(*id));
                assert!(table.remove(*id).is_some());
            }
            assert!(table.insert(new()).is_err() && table.slots.len() <= 9);
        }
        table.remove(own[0]);
        assert!(table.insert(new()).is_ok() && table.insert(new()).is_err());
    }

    #[test]
    fn a_full_table_says_so() {
        let mut table = Table::new(2);
        let first = table.insert(Request::new(State::Inactive)).unwrap();
        table.insert(Request::new(State::Inactive)).unwrap();
        assert!(
            table.insert(Request::new(State::Inactive)).unwrap_err().to_string().contains("all 2 requests")
        );
        table.remove(first);
        assert!(table.insert(Request::new(State::Inactive)).is_ok());
        assert_eq!(table.len(), 2);
    }
}
