//! What some requests of a VCI have beside the table: found by their slots, without hashing.
//!
//! What must stay true: what belongs to one request is never found under another that has its slot later.

use crate::ids::RequestId;
use crate::request::table::{self, place};

/// Something for each of some requests.
#[derive(Debug)]
pub struct BySlot<T> {
    /// By the places of the slots, with the generations of the requests.
    places: Vec<Option<(u32, T)>>,
    len: usize,
}

impl<T> Default for BySlot<T> {
    fn default() -> Self {
        Self { places: Vec::new(), len: 0 }
    }
}

impl<T> BySlot<T> {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What a request has.
    #[inline]
    pub fn get(&self, id: RequestId) -> Option<&T> {
        match self.places.get(place(id.slot)) {
            Some(Some((generation, thing))) if *generation == id.generation => Some(thing),
            _ => None,
        }
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, id: RequestId) -> Option<&mut T> {
        match self.places.get_mut(place(id.slot)) {
            Some(Some((generation, thing))) if *generation == id.generation => Some(thing),
            _ => None,
        }
    }

    /// Whether a request has something.
    #[inline]
    pub fn contains(&self, id: RequestId) -> bool {
        self.get(id).is_some()
    }

    /// The request has this from now on; what an earlier one in the same slot had is forgotten.
    pub fn insert(&mut self, id: RequestId, thing: T) {
        let at = place(id.slot);
        if self.places.len() <= at {
            self.places.resize_with(at + 1, || None);
        }
        self.len += usize::from(self.places[at].is_none());
        self.places[at] = Some((id.generation, thing));
    }

    /// All of them, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten().map(|(_, thing)| thing)
    }

    /// The request has it no more.
    pub fn remove(&mut self, id: RequestId) -> Option<T> {
        let found = self.places.get_mut(place(id.slot))?;
        let taken = found.take_if(|(generation, _)| *generation == id.generation);
        self.len -= usize::from(taken.is_some());
        taken.map(|(_, thing)| thing)
    }
}

/// A set of C handles, of requests that may be gone: a bit for each generation that a handle can name, where a slot has had one.
#[derive(Debug, Default)]
pub struct Handles {
    places: Vec<[u64; table::HANDLE_GENERATIONS / 64]>,
}

impl Handles {
    /// The place of a handle's slot, the word there, and its bit.
    fn bit(handle: u32) -> (usize, usize, u64) {
        let (slot, generation) = table::named(handle);
        (place(slot), generation as usize / 64, 1 << (generation % 64))
    }

    /// Whether it is among them.
    pub fn contains(&self, handle: u32) -> bool {
        let (at, word, bit) = Self::bit(handle);
        self.places.get(at).is_some_and(|words| words[word] & bit != 0)
    }

    /// Takes it in.
    pub fn insert(&mut self, handle: u32) {
        let (at, word, bit) = Self::bit(handle);
        if self.places.len() <= at {
            self.places.resize(at + 1, Default::default());
        }
        self.places[at][word] |= bit;
    }

    /// Takes it out. Whether it was among them.
    pub fn remove(&mut self, handle: u32) -> bool {
        let is_there = self.contains(handle);
        if is_there {
            let (at, word, bit) = Self::bit(handle);
            self.places[at][word] &= !bit;
        }
        is_there
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Table;

    #[test]
    fn what_belongs_to_a_request_is_not_found_under_the_next_one_in_its_slot() {
        let (old, new) = (RequestId { slot: 3, generation: 7 }, RequestId { slot: 3, generation: 8 });
        let mut things = BySlot::default();
        things.insert(old, "old");
        assert_eq!((things.get(old), things.get(new), things.len()), (Some(&"old"), None, 1));
        assert_eq!(things.remove(new), None);
        things.insert(new, "new");
        assert_eq!((things.get(old), things.get(new), things.len()), (None, Some(&"new"), 1));
        assert_eq!((things.remove(old), things.remove(new), things.len()), (None, Some("new"), 0));
        assert!(things.is_empty() && things.get_mut(RequestId { slot: 900, generation: 1 }).is_none());
    }

    #[test]
    fn a_set_of_handles_holds_every_handle_by_itself() {
        let id = |slot, generation| Table::handle(RequestId { slot, generation });
        let all = [id(0, 1), id(0, 63), id(0, 64), id(0, 511), id(5, 1), id(5, 200)];
        let mut handles = Handles::default();
        for (at, handle) in all.into_iter().enumerate() {
            assert!(!handles.contains(handle));
            handles.insert(handle);
            assert_eq!(all.iter().filter(|handle| handles.contains(**handle)).count(), at + 1);
        }
        for handle in all {
            assert!(handles.remove(handle) && !handles.remove(handle) && !handles.contains(handle));
        }
        assert!(!handles.contains(u32::MAX) && !handles.remove(u32::MAX));
    }
}
