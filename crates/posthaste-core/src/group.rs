//! Groups: ordered sets of processes, and the set operations on them.
//!
//! MPI-5.0 §7.3.
//!
//! What must stay true: a group never changes, no process stands in it twice, and what is a range stays one, so that the
//! world's ranks are peers without looking anything up, and every second rank of a million takes no list.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::error::{Error, ErrorClass, Result};
use crate::ids::{IdMap, PROC_NULL, Peer};

/// How alike two groups or two communicators are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The same processes in the same order (and, of communicators, the same object).
    Ident,
    /// Communicators only: ident groups in different contexts.
    Congruent,
    /// The same processes in another order.
    Similar,
    /// Anything else.
    Unequal,
}

/// An ordered set of processes.
#[derive(Debug)]
pub struct Group(Repr);

#[derive(Debug)]
enum Repr {
    /// Processes at equal distances: rank `r` is peer `first + r * stride`. The stride is 1 where there are less than two.
    Range { first: u32, stride: i32, size: u32 },
    /// Any others. The map back is built when it is first asked for.
    List { peers: Box<[Peer]>, ranks: OnceLock<IdMap<Peer, u32>> },
}

impl Group {
    /// The processes `first..first + size` of the table.
    pub fn range(first: u32, size: u32) -> Self {
        Self(Repr::Range { first, stride: 1, size })
    }

    /// The group without members (`MPI_GROUP_EMPTY`).
    pub fn empty() -> Self {
        Self::range(0, 0)
    }

    /// These processes in this order; each may stand there once.
    pub fn of(peers: Vec<Peer>) -> Self {
        let (first, stride) = match peers[..] {
            [] => return Self::empty(),
            [only] => return Self::range(only.0, 1),
            [first, second, ..] => (first.0, i64::from(second.0) - i64::from(first.0)),
        };
        let mut neighbours = peers.iter().zip(&peers[1..]);
        // One process twice is no range, whoever names it so.
        if let Ok(stride) = i32::try_from(stride)
            && stride != 0
            && neighbours.all(|(one, next)| i64::from(next.0) - i64::from(one.0) == i64::from(stride))
        {
            return Self(Repr::Range { first, stride, size: peers.len() as u32 });
        }
        Self(Repr::List { peers: peers.into(), ranks: OnceLock::new() })
    }

    /// Number of members.
    #[inline]
    pub fn size(&self) -> u32 {
        match &self.0 {
            Repr::Range { size, .. } => *size,
            Repr::List { peers, .. } => peers.len() as u32,
        }
    }

    /// The member with this rank.
    #[inline]
    pub fn peer(&self, rank: u32) -> Option<Peer> {
        match &self.0 {
            Repr::Range { first, stride, size } => (rank < *size)
                .then(|| Peer((i64::from(*first) + i64::from(rank) * i64::from(*stride)) as u32)),
            Repr::List { peers, .. } => peers.get(rank as usize).copied(),
        }
    }

    /// The rank of a process; `None` if it is no member.
    pub fn rank_of(&self, peer: Peer) -> Option<u32> {
        match &self.0 {
            Repr::Range { first, stride, size } => {
                let (distance, stride) = (i64::from(peer.0) - i64::from(*first), i64::from(*stride));
                let rank = u32::try_from(distance / stride).ok().filter(|rank| rank < size)?;
                (distance % stride == 0).then_some(rank)
            }
            Repr::List { peers, ranks } => {
                ranks.get_or_init(|| peers.iter().copied().zip(0..).collect()).get(&peer).copied()
            }
        }
    }

    /// The members in the order of their ranks.
    pub fn peers(&self) -> impl Iterator<Item = Peer> + '_ {
        (0..self.size()).filter_map(|rank| self.peer(rank))
    }

    /// Whether rank `r` is peer `r` for every rank.
    pub fn is_identity(&self) -> bool {
        matches!(self.0, Repr::Range { first: 0, stride: 1, .. })
    }

    /// How alike two groups are (never [`Comparison::Congruent`]).
    pub fn compare(&self, other: &Self) -> Comparison {
        if let (
            Repr::Range { first, stride, size },
            Repr::Range { first: other_first, stride: other_stride, size: other_size },
        ) = (&self.0, &other.0)
            && (first, stride, size) == (other_first, other_stride, other_size)
        {
            return Comparison::Ident;
        }
        if self.size() != other.size() {
            Comparison::Unequal
        } else if self.peers().eq(other.peers()) {
            Comparison::Ident
        } else if self.peers().all(|peer| other.rank_of(peer).is_some()) {
            Comparison::Similar
        } else {
            Comparison::Unequal
        }
    }

    /// The ranks in `other` of the members with the given ranks here; `None` where there is none, and
    /// `MPI_PROC_NULL` stays itself.
    ///
    /// # Errors
    /// A rank that is not one of this group.
    pub fn translate(&self, ranks: &[i32], other: &Self) -> Result<Vec<Option<i32>>> {
        let translate = |rank: &i32| {
            if *rank == PROC_NULL {
                return Ok(Some(PROC_NULL));
            }
            let peer = self.member("ranks1", *rank)?;
            Ok(other.rank_of(peer).map(|rank| rank as i32))
        };
        ranks.iter().map(translate).collect()
    }

    /// The members of this group, then those of `other` that are not in it.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::of(self.peers().chain(other.peers().filter(|peer| self.rank_of(*peer).is_none())).collect())
    }

    /// The members that are in `other` too, in the order of this group.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self::of(self.peers().filter(|peer| other.rank_of(*peer).is_some()).collect())
    }

    /// The members that are not in `other`, in the order of this group.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self::of(self.peers().filter(|peer| other.rank_of(*peer).is_none()).collect())
    }

    /// The members with these ranks, in the order of the list.
    ///
    /// # Errors
    /// A rank that is not one of this group, or that stands in the list twice.
    pub fn incl(&self, ranks: &[i32]) -> Result<Self> {
        let mut seen = Seen::new(self, "ranks");
        let peers = ranks.iter().map(|rank| seen.take(i64::from(*rank))).collect::<Result<_>>()?;
        Ok(Self::of(peers))
    }

    /// The members without those with these ranks.
    ///
    /// # Errors
    /// As [`Group::incl`].
    pub fn excl(&self, ranks: &[i32]) -> Result<Self> {
        let mut seen = Seen::new(self, "ranks");
        for rank in ranks {
            seen.take(i64::from(*rank))?;
        }
        Ok(seen.rest())
    }

    /// The members that ranges `[first, last, stride]` of ranks name.
    ///
    /// # Errors
    /// As [`Group::incl`], and a stride of 0 or one that leads away from `last`.
    pub fn range_incl(&self, ranges: &[[i32; 3]]) -> Result<Self> {
        let mut seen = Seen::new(self, "ranges");
        let mut peers = Vec::new();
        for range in ranges {
            seen.take_range(*range, |peer| peers.push(peer))?;
        }
        Ok(Self::of(peers))
    }

    /// The members without those that the ranges name.
    ///
    /// # Errors
    /// As [`Group::range_incl`].
    pub fn range_excl(&self, ranges: &[[i32; 3]]) -> Result<Self> {
        let mut seen = Seen::new(self, "ranges");
        for range in ranges {
            seen.take_range(*range, |_| ())?;
        }
        Ok(seen.rest())
    }

    fn member(&self, argument: &'static str, rank: i32) -> Result<Peer> {
        u32::try_from(rank).ok().and_then(|rank| self.peer(rank)).ok_or_else(|| {
            Error::invalid(ErrorClass::Rank, argument, rank, format_args!("ranks below {}", self.size()))
        })
    }
}

/// The ranks of a group that a list has named so far.
struct Seen<'a> {
    group: &'a Group,
    argument: &'static str,
    taken: HashSet<u32>,
}

impl<'a> Seen<'a> {
    fn new(group: &'a Group, argument: &'static str) -> Self {
        Self { group, argument, taken: HashSet::new() }
    }

    fn take(&mut self, rank: i64) -> Result<Peer> {
        let wrong = |got: String| {
            let expected = format!("different ranks below {}", self.group.size());
            Error::invalid(ErrorClass::Rank, self.argument, got, expected)
        };
        let found = u32::try_from(rank).ok().and_then(|rank| self.group.peer(rank));
        let Some(peer) = found else { return Err(wrong(format!("a list with {rank} in it"))) };
        if !self.taken.insert(rank as u32) {
            return Err(wrong(format!("a list with {rank} twice in it")));
        }
        Ok(peer)
    }

    fn take_range(&mut self, [first, last, stride]: [i32; 3], mut on: impl FnMut(Peer)) -> Result<()> {
        let distance = i64::from(last) - i64::from(first);
        if stride == 0 || distance.signum() * i64::from(stride.signum()) < 0 {
            let got = format_args!("({first}, {last}, {stride})");
            let expected = "a stride that leads from the first rank to the last";
            return Err(Error::invalid(ErrorClass::Arg, "ranges", got, expected));
        }
        // Ends at the first rank that is wrong or named twice, so after size + 1 steps at most.
        for step in 0..=distance / i64::from(stride) {
            on(self.take(i64::from(first) + step * i64::from(stride))?);
        }
        Ok(())
    }

    fn rest(&self) -> Group {
        let rest = (0..).zip(self.group.peers()).filter(|(rank, _)| !self.taken.contains(rank));
        Group::of(rest.map(|(_, peer)| peer).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(peers: &[u32]) -> Group {
        Group::of(peers.iter().copied().map(Peer).collect())
    }

    fn list(group: &Group) -> Vec<u32> {
        group.peers().map(|peer| peer.0).collect()
    }

    #[test]
    fn ranges_and_lists_answer_alike() {
        for peers in
            [&[][..], &[4], &[3, 4, 5], &[5, 3, 4], &[9, 0, 2], &[9, 6, 3, 0], &[0, 1 << 31], &[1 << 31, 0]]
        {
            let group = of(peers);
            assert_eq!(list(&group), peers);
            for (rank, peer) in peers.iter().enumerate() {
                assert_eq!(group.rank_of(Peer(*peer)), Some(rank as u32));
            }
            for stranger in [77, 8, u32::MAX] {
                assert_eq!(group.rank_of(Peer(stranger)), None, "{stranger} in {peers:?}");
            }
            assert_eq!(group.peer(peers.len() as u32), None);
        }
        assert!(matches!(of(&[3, 4, 5]).0, Repr::Range { first: 3, stride: 1, size: 3 }));
        assert!(matches!(of(&[9, 6, 3, 0]).0, Repr::Range { first: 9, stride: -3, size: 4 }));
        assert!(Group::range(0, 8).is_identity() && !of(&[1, 2]).is_identity() && !of(&[1, 0]).is_identity());
        assert!(!of(&[0, 2]).is_identity() && of(&[0]).is_identity());
    }

    #[test]
    fn set_operations_keep_the_order_of_the_first_group() {
        let (a, b) = (of(&[5, 1, 3]), of(&[3, 9, 5]));
        assert_eq!(list(&a.union(&b)), [5, 1, 3, 9]);
        assert_eq!(list(&a.intersection(&b)), [5, 3]);
        assert_eq!(list(&a.difference(&b)), [1]);
        assert_eq!(list(&a.difference(&a)), [0; 0]);
        assert_eq!(a.compare(&of(&[5, 1, 3])), Comparison::Ident);
        assert_eq!(a.compare(&of(&[1, 3, 5])), Comparison::Similar);
        assert_eq!(a.compare(&b), Comparison::Unequal);
        assert_eq!(a.compare(&of(&[5, 1])), Comparison::Unequal);
        assert_eq!(
            a.translate(&[0, 1, PROC_NULL, 2], &b).unwrap(),
            [Some(2), None, Some(PROC_NULL), Some(0)]
        );
        assert!(
            a.translate(&[3], &b).unwrap_err().to_string().contains("ranks1 is 3, expected ranks below 3")
        );
    }

    #[test]
    fn subsets_check_their_lists() {
        let world = Group::range(0, 8);
        assert_eq!(list(&world.incl(&[7, 0, 3]).unwrap()), [7, 0, 3]);
        assert_eq!(list(&world.excl(&[7, 0, 3]).unwrap()), [1, 2, 4, 5, 6]);
        assert_eq!(list(&world.range_incl(&[[6, 1, -2], [1, 5, 2]]).unwrap()), [6, 4, 2, 1, 3, 5]);
        assert_eq!(list(&world.range_excl(&[[0, 7, 3]]).unwrap()), [1, 2, 4, 5, 7]);
        assert_eq!(list(&world.range_incl(&[[2, 2, -1]]).unwrap()), [2]);
        for (ranges, word) in [
            ([0, 8, 4], "a list with 8 in it"),
            ([-1, 2, 1], "a list with -1 in it"),
            ([0, i32::MAX, 1], "a list with 8 in it"),
            ([0, 3, 0], "(0, 3, 0)"),
            ([0, 3, -1], "(0, 3, -1)"),
        ] {
            let error = world.range_incl(&[ranges]).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
            assert!(world.range_excl(&[ranges]).is_err());
        }
        let twice = world.incl(&[1, 2, 1]).unwrap_err();
        assert_eq!(twice.class(), ErrorClass::Rank);
        assert!(twice.to_string().contains("1 twice"), "{twice}");
        assert!(world.excl(&[8]).is_err() && world.incl(&[-3]).is_err());
        assert!(world.range_incl(&[[0, 3, 1], [3, 3, 1]]).is_err());
    }
}
