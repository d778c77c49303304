//! The memory of the members of a window, as far as this one knows it.
//!
//! What must stay true: few members know the memory of all from the beginning, so that an access finds it at once; of many, a
//! member knows what is the same of all, and of each other that it has accessed what that one has told when it was asked. So a window
//! over any number of members takes no more room than those that are used (MPI-5.0 §12.2).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{PoisonError, RwLock};

use posthaste_os::mapped::Mapped;

use super::Part;

/// The memory of all members.
#[derive(Debug)]
pub(crate) enum Parts {
    /// Of each, in the order of their ranks.
    Each(Box<[Part]>),
    /// Of those among many that have been asked, and what is alike of all.
    Many(Box<Many>),
}

/// In what the memory of all members is alike.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alike {
    /// In its length.
    pub(crate) size: bool,
    /// In the unit of displacement.
    pub(crate) unit: bool,
    /// In everything that a member on another node needs to know.
    pub(crate) all: Option<Part>,
}

/// What a member knows of many others.
#[derive(Debug)]
pub(crate) struct Many {
    members: usize,
    own: (usize, Part),
    /// Under which each member shows what it has.
    name: u64,
    alike: Alike,
    /// Those who are asked even if all is alike: they share memory with this node, or are reached in another way than most.
    exceptions: BTreeSet<usize>,
    told: RwLock<BTreeMap<usize, Told>>,
}

/// What a member has told.
#[derive(Debug)]
struct Told {
    part: Part,
    /// Its memory, where it is mapped here.
    mapped: Option<Mapped>,
}

impl Many {
    /// So many members, of whom this one is one; who has to be asked even if all is alike.
    pub(crate) fn new(
        members: usize,
        own: (usize, Part),
        name: u64,
        alike: Alike,
        exceptions: impl IntoIterator<Item = usize>,
    ) -> Self {
        Self {
            members,
            own,
            name,
            alike,
            exceptions: exceptions.into_iter().collect(),
            told: RwLock::default(),
        }
    }

    fn get(&self, rank: usize) -> Option<Part> {
        if rank == self.own.0 {
            return Some(self.own.1);
        }
        let told = self.told.read().unwrap_or_else(PoisonError::into_inner);
        let common = self.alike.all.filter(|_| rank < self.members && !self.exceptions.contains(&rank));
        told.get(&rank).map(|told| told.part).or(common)
    }
}

impl Parts {
    /// How many members there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Each(all) => all.len(),
            Self::Many(many) => many.members,
        }
    }

    /// That of a member where each has been known from the beginning.
    #[inline(always)]
    pub(crate) fn each(&self, rank: usize) -> Option<&Part> {
        match self {
            Self::Each(all) => all.get(rank),
            Self::Many(_) => None,
        }
    }

    /// That of a member, as far as it is known.
    #[inline(always)]
    pub(crate) fn get(&self, rank: usize) -> Option<Part> {
        match self {
            Self::Each(all) => all.get(rank).copied(),
            Self::Many(many) => many.get(rank),
        }
    }

    /// The name under which members show what they have, if they have to be asked.
    pub(crate) fn name(&self) -> Option<u64> {
        match self {
            Self::Each(_) => None,
            Self::Many(many) => Some(many.name),
        }
    }

    /// Whether a member has to be asked before its memory can be accessed.
    #[inline(always)]
    pub(crate) fn must_ask(&self, rank: usize) -> bool {
        match self {
            Self::Each(_) => false,
            Self::Many(many) => rank < many.members && many.get(rank).is_none(),
        }
    }

    /// In what that of all members is alike.
    pub(crate) fn alike(&self) -> Alike {
        match self {
            Self::Each(all) => Alike {
                size: all.iter().all(|part| part.size == all[0].size),
                unit: all.iter().all(|part| part.unit == all[0].unit),
                all: None,
            },
            Self::Many(many) => many.alike,
        }
    }

    /// A member has told what it has, and that may have been mapped here.
    pub(crate) fn learn(&self, rank: usize, part: Part, mapped: Option<Mapped>) {
        if let Self::Many(many) = self {
            // Two threads may have asked: what accesses have seen stays.
            let mut told = many.told.write().unwrap_or_else(PoisonError::into_inner);
            told.entry(rank).or_insert(Told { part, mapped });
        }
    }

    /// The first member that is known to have memory.
    pub(crate) fn first_with_memory(&self) -> Option<Part> {
        (0..self.len()).find_map(|rank| self.get(rank).filter(|part| part.size > 0))
    }

    /// What other members have told is mapped here no more.
    pub(crate) fn let_go(&self) {
        if let Self::Many(many) = self {
            let told = many.told.read().unwrap_or_else(PoisonError::into_inner);
            told.values().filter_map(|told| told.mapped.as_ref()).for_each(Mapped::let_go);
        }
    }
}

impl FromIterator<Part> for Parts {
    fn from_iter<T: IntoIterator<Item = Part>>(parts: T) -> Self {
        Self::Each(parts.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::RemoteKey;

    fn part(size: u64) -> Part {
        let key = RemoteKey { slot: 1, generation: 1 };
        Part { key, memory: None, size, unit: 4, base: None }
    }

    fn sizes(parts: &Parts, ranks: [usize; 5]) -> [Option<u64>; 5] {
        ranks.map(|rank| parts.get(rank).map(|part| part.size))
    }

    #[test]
    fn few_members_are_known_from_the_beginning() {
        let parts: Parts = [0, 8, 16].map(part).into_iter().collect();
        assert_eq!(parts.len(), 3);
        assert_eq!(sizes(&parts, [0, 1, 2, 3, 9]), [Some(0), Some(8), Some(16), None, None]);
        assert!((0..4).all(|rank| !parts.must_ask(rank)));
        assert_eq!(parts.first_with_memory().map(|part| part.size), Some(8));
    }

    #[test]
    fn of_many_those_are_known_that_have_been_asked() {
        let parts = Parts::Many(Box::new(Many::new(1000, (7, part(70)), 1, Alike::default(), [])));
        assert_eq!(parts.len(), 1000);
        assert_eq!(sizes(&parts, [0, 7, 8, 999, 1000]), [None, Some(70), None, None, None]);
        let asks = |ranks: [usize; 5]| ranks.map(|rank| parts.must_ask(rank));
        assert_eq!(asks([0, 7, 8, 999, 1000]), [true, false, true, true, false]);
        parts.learn(999, part(9), None);
        parts.learn(999, part(10), None);
        parts.learn(0, part(0), None);
        assert_eq!(sizes(&parts, [0, 7, 8, 999, 1000]), [Some(0), Some(70), None, Some(9), None]);
        assert_eq!(asks([0, 7, 8, 999, 1000]), [false, false, true, false, false]);
        assert_eq!(parts.first_with_memory().map(|part| part.size), Some(70));
    }

    #[test]
    fn what_is_the_same_of_all_is_known_but_of_those_on_this_node() {
        let alike = Alike { all: Some(part(71)), ..Alike::default() };
        let parts = Parts::Many(Box::new(Many::new(1000, (7, part(70)), 1, alike, [6, 8])));
        assert_eq!(sizes(&parts, [0, 6, 7, 999, 1000]), [Some(71), None, Some(70), Some(71), None]);
        parts.learn(6, part(72), None);
        assert_eq!(sizes(&parts, [0, 6, 7, 8, 1000]), [Some(71), Some(72), Some(70), None, None]);
        assert_eq!([0, 6, 8].map(|rank| parts.must_ask(rank)), [false, false, true]);
        assert_eq!(parts.first_with_memory().map(|part| part.size), Some(71));
    }
}
