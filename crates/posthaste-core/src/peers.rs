//! Tables by peer that cost nothing for peers that nobody talks to.
//!
//! A table has two levels: a page is made when somebody in it gets an entry. So a rank of a job of a million pays for the
//! pages of those it talks to, and processes that come later need no place made for them.
//!
//! What must stay true: looking something up is one bounds check and two loads, for it is on the way of every message.

use std::{array, fmt};

use crate::ids::Peer;

/// Entries of a page.
const PAGE: usize = 256;

/// A value for each peer that has been given one.
pub struct PeerTable<T> {
    pages: Vec<Option<Box<[T; PAGE]>>>,
}

impl<T> Default for PeerTable<T> {
    fn default() -> Self {
        Self { pages: Vec::new() }
    }
}

impl<T> PeerTable<T> {
    /// The entry of a peer; `None` if nobody in its page has one.
    #[inline(always)]
    pub fn get(&self, peer: Peer) -> Option<&T> {
        match self.pages.get(peer.index() / PAGE) {
            Some(Some(page)) => Some(&page[peer.index() % PAGE]),
            _ => None,
        }
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, peer: Peer) -> Option<&mut T> {
        match self.pages.get_mut(peer.index() / PAGE) {
            Some(Some(page)) => Some(&mut page[peer.index() % PAGE]),
            _ => None,
        }
    }

    /// The entries of all pages that there are, in the order of peers.
    pub fn iter(&self) -> impl Iterator<Item = (Peer, &T)> {
        self.iter_from(Peer(0))
    }

    /// The same from a peer on.
    pub fn iter_from(&self, first: Peer) -> impl Iterator<Item = (Peer, &T)> {
        let pages = self.pages.iter().enumerate().skip(first.index() / PAGE);
        let entries =
            pages.flat_map(|(page, entries)| of_page(page).zip(entries.iter().flat_map(|page| page.iter())));
        entries.skip_while(move |(peer, _)| *peer < first)
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Peer, &mut T)> {
        let pages = self.pages.iter_mut().enumerate();
        pages.flat_map(|(page, entries)| {
            of_page(page).zip(entries.iter_mut().flat_map(|page| page.iter_mut()))
        })
    }

    /// Bytes that the table itself takes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let pages = self.pages.iter().flatten().count();
        self.pages.capacity() * size_of::<Option<Box<[T; PAGE]>>>() + pages * PAGE * size_of::<T>()
    }
}

impl<T: Default> PeerTable<T> {
    /// The entry of a peer, made with its page if there is none.
    #[inline]
    pub fn entry(&mut self, peer: Peer) -> &mut T {
        if self.get(peer).is_none() {
            self.make_page(peer);
        }
        self.get_mut(peer).expect("its page has just been made")
    }

    #[cold]
    fn make_page(&mut self, peer: Peer) {
        let page = peer.index() / PAGE;
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        self.pages[page] = Some(Box::new(array::from_fn(|_| T::default())));
    }
}

impl<T: fmt::Debug> fmt::Debug for PeerTable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// What is stored of some peers, each in a place of its own: a peer that has nothing costs a pointer at most.
pub struct PeerMap<T>(PeerTable<Option<Box<T>>>);

impl<T> Default for PeerMap<T> {
    fn default() -> Self {
        Self(PeerTable::default())
    }
}

impl<T> PeerMap<T> {
    /// What is stored of a peer.
    #[inline(always)]
    pub fn get(&self, peer: Peer) -> Option<&T> {
        self.0.get(peer)?.as_deref()
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, peer: Peer) -> Option<&mut T> {
        self.0.get_mut(peer)?.as_deref_mut()
    }

    /// What is stored of a peer; `make` makes it if there is nothing.
    #[inline]
    pub fn get_or_make(&mut self, peer: Peer, make: impl FnOnce() -> T) -> &mut T {
        if self.get(peer).is_none() {
            *self.0.entry(peer) = Some(Box::new(make()));
        }
        self.get_mut(peer).expect("it has just been made")
    }

    /// Nothing is stored of a peer any more.
    pub fn forget(&mut self, peer: Peer) {
        if let Some(entry) = self.0.get_mut(peer) {
            *entry = None;
        }
    }

    /// Those of whom something is stored, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (Peer, &T)> {
        self.iter_from(Peer(0))
    }

    /// The same from a peer on.
    pub fn iter_from(&self, first: Peer) -> impl Iterator<Item = (Peer, &T)> {
        self.0.iter_from(first).filter_map(|(peer, entry)| Some((peer, entry.as_deref()?)))
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Peer, &mut T)> {
        self.0.iter_mut().filter_map(|(peer, entry)| Some((peer, entry.as_deref_mut()?)))
    }

    /// Bytes that the table takes, without what is stored.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl<T: fmt::Debug> fmt::Debug for PeerMap<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

fn of_page(page: usize) -> impl Iterator<Item = Peer> {
    (page * PAGE..(page + 1) * PAGE).map(|at| Peer(at as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a map.
        #[test]
        fn entries_are_found_under_their_peers(peers in proptest::collection::vec((0..2_000_000u32, 1..9u32), 0..40)) {
            let (mut table, mut map) = (PeerTable::<u32>::default(), BTreeMap::new());
            for (peer, value) in &peers {
                *table.entry(Peer(*peer)) += value;
                *map.entry(*peer).or_insert(0) += value;
            }
            for (peer, value) in &map {
                prop_assert_eq!(table.get(Peer(*peer)), Some(value));
                prop_assert_eq!(table.get_mut(Peer(*peer)).copied(), Some(*value));
            }
            let there: Vec<(u32, u32)> =
                table.iter().filter(|(_, value)| **value > 0).map(|(peer, value)| (peer.0, *value)).collect();
            prop_assert_eq!(&there, &map.clone().into_iter().collect::<Vec<_>>());
            table.iter_mut().for_each(|(_, value)| *value = 0);
            prop_assert!(table.iter().all(|(_, value)| *value == 0));
        }
    }

    #[test]
    fn a_peer_of_a_million_costs_one_page() {
        let mut map = PeerMap::<[u8; 64]>::default();
        assert!(map.get(Peer(999_999)).is_none() && map.bytes() == 0);
        assert_eq!(map.get_or_make(Peer(999_999), || [1; 64])[0], 1);
        assert_eq!(map.get_or_make(Peer(999_999), || [2; 64])[0], 1);
        assert!(map.bytes() < 48 << 10, "{}", map.bytes());
        assert!(map.get(Peer(0)).is_none() && map.get(Peer(u32::MAX)).is_none());
        assert_eq!(map.iter().map(|(peer, _)| peer.0).collect::<Vec<_>>(), [999_999]);
        assert_eq!(map.iter_from(Peer(1_000_000)).count(), 0);
        map.forget(Peer(999_999));
        map.forget(Peer(0));
        assert!(map.get(Peer(999_999)).is_none() && map.iter().next().is_none());
    }
}
