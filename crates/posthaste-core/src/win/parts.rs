//! The memory of the members of a window, in a table that takes no more room than their memory differs.
//!
//! What must stay true: a window over any number of members whose parts are alike takes the same room (MPI-5.0 §12.2); where few
//! are members, each has its place, so that an access finds it at once.

use std::collections::BTreeMap;
use std::ops::Index;

use super::Part;

/// Members of whom each has a place.
const EACH: usize = 4096;

/// The memory of all members.
#[derive(Debug)]
pub(crate) struct Parts(Table);

#[derive(Debug)]
enum Table {
    Each(Box<[Part]>),
    /// That of most of so many members, and of those whose memory is another one.
    Alike(usize, Part, BTreeMap<usize, Part>),
}

impl Parts {
    /// Those of so many members, in the order of their ranks.
    pub(crate) fn of(members: usize, mut parts: impl Iterator<Item = Part>) -> Self {
        if members <= EACH {
            return Self(Table::Each(parts.collect()));
        }
        // The own memory is known by its address, too: what most have is what two neighbours have.
        let (mut common, mut others) = (None, BTreeMap::new());
        let mut before: Option<Part> = None;
        for rank in 0..members {
            let Some(part) = parts.next() else { break };
            if common.is_none() && before.is_some_and(|before| before == part) {
                common = Some(part);
                others.retain(|_, other| *other != part);
            }
            if common != Some(part) {
                others.insert(rank, part);
            }
            before = Some(part);
            if others.len() > members / 4 {
                // So many take less each in their order.
                let mut all = Vec::with_capacity(members);
                all.extend((0..=rank).filter_map(|rank| others.get(&rank).copied().or(common)));
                drop(others);
                all.extend(parts);
                return Self(Table::Each(all.into()));
            }
        }
        match common {
            Some(common) => Self(Table::Alike(members, common, others)),
            None => Self(Table::Each(others.into_values().collect())),
        }
    }

    /// How many members there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Table::Each(all) => all.len(),
            Table::Alike(members, ..) => *members,
        }
    }

    /// That of a member.
    #[inline(always)]
    pub(crate) fn get(&self, rank: usize) -> Option<&Part> {
        match &self.0 {
            Table::Each(all) => all.get(rank),
            Table::Alike(members, common, others) => {
                (rank < *members).then(|| others.get(&rank).unwrap_or(common))
            }
        }
    }

    /// Those that differ from each other, each at least once.
    pub(crate) fn different(&self) -> impl Iterator<Item = &Part> {
        let (each, alike) = match &self.0 {
            Table::Each(all) => (Some(all.iter()), None),
            Table::Alike(_, common, others) => (None, Some(std::iter::once(common).chain(others.values()))),
        };
        each.into_iter().flatten().chain(alike.into_iter().flatten())
    }
}

impl Index<usize> for Parts {
    type Output = Part;
    #[inline(always)]
    fn index(&self, rank: usize) -> &Part {
        match &self.0 {
            Table::Each(all) => &all[rank],
            Table::Alike(_, common, others) => others.get(&rank).unwrap_or(common),
        }
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

    #[test]
    fn each_member_has_its_part_whatever_the_others_have() {
        let of = |members: usize, size: &dyn Fn(usize) -> u64| {
            let parts = Parts::of(members, (0..members).map(|rank| part(size(rank))));
            assert_eq!(parts.len(), members);
            for rank in 0..members {
                assert_eq!(
                    (parts[rank].size, parts.get(rank).unwrap().size),
                    (size(rank), size(rank)),
                    "{rank}"
                );
            }
            assert!(parts.get(members).is_none());
            let sizes = parts.different().map(|part| part.size).collect::<std::collections::BTreeSet<u64>>();
            assert_eq!(sizes, (0..members).map(size).collect());
            parts
        };
        let is_small = |parts: &Parts| matches!(&parts.0, Table::Alike(_, _, others) if others.len() < 100);
        for members in [1, 5, EACH] {
            of(members, &|_| 8);
        }
        assert!(is_small(&of(EACH + 1, &|_| 8)));
        assert!(is_small(&of(3 * EACH, &|rank| if rank % 1000 == 0 { rank as u64 } else { 8 })));
        assert!(is_small(&of(2 * EACH, &|rank| if rank < 90 { rank as u64 } else { 7 })));
        assert!(!is_small(&of(2 * EACH, &|rank| rank as u64)));
        assert!(!is_small(&of(2 * EACH, &|rank| (rank / 2) as u64)));
        // It shows late that many differ, or what most have.
        assert!(!is_small(&of(2 * EACH, &|rank| if rank < EACH { 8 } else { rank as u64 })));
        assert!(!is_small(&of(2 * EACH, &|rank| (rank % 2) as u64)));
        of(2 * EACH, &|rank| if rank < EACH { rank as u64 } else { 8 });
    }
}
