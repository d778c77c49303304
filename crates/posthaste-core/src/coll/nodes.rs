//! Which members of a team share a node, where there are several nodes.
//!
//! What must stay true: all members know the same nodes in the same order, so that what follows from them is the same everywhere.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The nodes of a team, from the point of view of one member: about 8 bytes for each of all members.
#[derive(Debug)]
pub struct Nodes {
    /// The node of each member; nodes are numbered in the order of their first members.
    of: Box<[u32]>,
    /// Members by nodes, in the order of their ranks, and where those of each node begin.
    members: Box<[u32]>,
    firsts: Box<[u32]>,
    /// The members of the own node, and the first ones of all nodes.
    own: Arc<[u32]>,
    leaders: Arc<[u32]>,
    in_runs: bool,
    /// How many members each has, if all have as many.
    each: Option<u32>,
}

impl Nodes {
    /// Those of members that are where `places` says, seen by the one with rank `me`; `None` where it makes no difference, because all
    /// are on one node or each on its own.
    pub fn of(me: u32, places: impl Iterator<Item = u32>) -> Option<Arc<Self>> {
        let mut numbers = HashMap::new();
        let number = |place| {
            let next = numbers.len() as u32;
            *numbers.entry(place).or_insert(next)
        };
        let of: Box<[u32]> = places.map(number).collect();
        let nodes = numbers.len();
        if nodes < 2 || nodes == of.len() {
            return None;
        }
        let mut members: Box<[u32]> = (0..of.len() as u32).collect();
        members.sort_by_key(|member| of[*member as usize]); // keeps the order of ranks
        let node = |member: &u32| of[*member as usize];
        let firsts: Box<[u32]> =
            (0..=nodes as u32).map(|at| members.partition_point(|member| node(member) < at) as u32).collect();
        let in_runs = members.iter().zip(0..).all(|(member, rank)| *member == rank);
        let leaders = firsts[..nodes].iter().map(|first| members[*first as usize]).collect();
        let each = of.len() as u32 / nodes as u32;
        let is_even = (0..).zip(&firsts).all(|(node, first)| node * each == *first);
        let each = is_even.then_some(each);
        let mut made = Self { of, members, firsts, own: Arc::from([]), leaders, in_runs, each };
        made.own = made.members(made.node(me)).into();
        Some(Arc::new(made))
    }

    /// Whether members that are there, several, are each on a node of its own.
    pub fn are_apart(mut places: impl Iterator<Item = u32>) -> bool {
        let mut seen = HashSet::new();
        let all = places.all(|place| seen.insert(place));
        all && seen.len() > 1
    }

    /// The number of a member's node.
    pub(crate) fn node(&self, member: u32) -> u32 {
        self.of[member as usize]
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.leaders.len() as u32
    }

    /// How many members they have together.
    pub(super) fn size(&self) -> u32 {
        self.of.len() as u32
    }

    /// The members of a node.
    pub(super) fn members(&self, node: u32) -> &[u32] {
        let at = node as usize;
        &self.members[self.firsts[at] as usize..self.firsts[at + 1] as usize]
    }

    /// How many members each has, if all have as many and those of each follow each other.
    pub(super) fn members_of_each(&self) -> Option<u32> {
        self.each.filter(|_| self.in_runs)
    }

    /// Those of the own one.
    pub(super) fn own(&self) -> &Arc<[u32]> {
        &self.own
    }

    /// The first member of each, but that a root leads its node.
    pub(super) fn leaders_for(&self, root: u32) -> Arc<[u32]> {
        let node = self.node(root) as usize;
        if self.leaders[node] == root {
            return self.leaders.clone();
        }
        let mut leaders: Vec<u32> = self.leaders.to_vec();
        leaders[node] = root;
        leaders.into()
    }

    /// The last member of each.
    pub(super) fn lasts(&self) -> Arc<[u32]> {
        self.firsts[1..].iter().map(|end| self.members[*end as usize - 1]).collect()
    }

    /// Whether the ranks of each node follow each other, and those of the next one them.
    pub(super) fn are_runs(&self) -> bool {
        self.in_runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_by_their_first_members() {
        let nodes = Nodes::of(4, [7, 7, 3, 3, 7, 9].into_iter()).unwrap();
        assert_eq!(
            (nodes.count(), nodes.node(5), &nodes.own()[..], nodes.are_runs()),
            (3, 2, &[0, 1, 4][..], false)
        );
        assert_eq!((&nodes.leaders[..], &nodes.leaders_for(3)[..]), (&[0, 2, 5][..], &[0, 3, 5][..]));
        assert_eq!(nodes.lasts()[..], [4, 3, 5]);
        assert_eq!([0, 1, 2].map(|node| nodes.members(node).to_vec()), [vec![0, 1, 4], vec![2, 3], vec![5]]);
        assert!(Nodes::of(0, [4, 4, 1].into_iter()).unwrap().are_runs());
        let each = |places: &[u32]| Nodes::of(0, places.iter().copied()).unwrap().members_of_each();
        assert_eq!([&[4, 4, 1, 1, 7, 7][..], &[4, 4, 4, 1], &[4, 1, 4, 1]].map(each), [Some(2), None, None]);
        // By turns.
        assert!(!Nodes::of(0, [0, 1, 0, 1].into_iter()).unwrap().are_runs());
        assert!(
            Nodes::of(0, [5, 5, 5].into_iter()).is_none() && Nodes::of(0, [5, 4, 3].into_iter()).is_none()
        );
    }
}
