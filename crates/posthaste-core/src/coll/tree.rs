//! Trees of ranks: whose data goes through whom.
//!
//! A tree of radix k: the members form groups of k, the first of each group leads it, the leaders form groups of k
//! again, and so on. Radix 2 is the binomial tree; a radix of at least the size is the flat tree.
//!
//! What must stay true: whatever the radix, a member and all that reach the root through it are neighbours, so
//! that operands can be combined in the order of ranks.

/// One member's place in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The member towards the root; the root has none.
    pub(super) parent: Option<u32>,
    /// The members away from the root, in ascending order, each with the size of its subtree.
    pub(super) children: Vec<(u32, u32)>,
    /// How many members there are from here on, including this one.
    pub(super) subtree: u32,
}

/// The place of `member` (0 is the root) in the tree of `n` members.
pub(super) fn place(member: u32, n: u32, radix: u32) -> Node {
    let (member, n, radix) = (u64::from(member), u64::from(n), u64::from(radix.max(2)));
    let mut children = Vec::new();
    let mut step = 1; // distance of the members of a group at this level
    while step < n {
        let group = step * radix;
        if member % group != 0 {
            break;
        }
        let members = (1..radix).map(|i| member + i * step).take_while(|child| *child < n);
        children.extend(members.map(|child| (child as u32, step.min(n - child) as u32)));
        step = group;
    }
    let parent = (member != 0).then(|| (member - member % (step * radix)) as u32);
    Node { parent, children, subtree: step.min(n - member) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtrees_are_neighbours_and_everybody_has_one_parent() {
        for radix in [2, 3, 4, 8, 64] {
            for n in 1..=70 {
                let mut reached = 1;
                for member in 0..n {
                    let node = place(member, n, radix);
                    let mut next = member + 1;
                    for (child, size) in &node.children {
                        assert_eq!(*child, next, "{n} members, radix {radix}");
                        assert_eq!(place(*child, n, radix).parent, Some(member));
                        assert_eq!(place(*child, n, radix).subtree, *size);
                        next += size;
                        reached += 1;
                    }
                    assert_eq!(next, member + node.subtree);
                }
                assert_eq!(reached, n);
            }
        }
    }

    #[test]
    fn the_known_shapes() {
        assert_eq!(place(0, 8, 2).children, [(1, 1), (2, 2), (4, 4)]);
        assert_eq!(place(0, 5, 64).children, [(1, 1), (2, 1), (3, 1), (4, 1)]);
        assert_eq!(place(6, 8, 2), Node { parent: Some(4), children: vec![(7, 1)], subtree: 2 });
    }
}
