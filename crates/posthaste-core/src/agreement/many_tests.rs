//! Agreement among many: of a million processes every one's place in the tree is looked at.

use super::{Agreement, Tree};

const MILLION: u32 = 1_000_000;

#[test]
fn a_million_have_a_tree_as_deep_as_its_logarithm() {
    let losses = [&[][..], &[0, 1, 524_288, 999_999]];
    let trees = [(Tree::Binomial, 20), (Tree::Flat(64), 4), (Tree::Flat(1), u32::MAX)];
    for (lost, (tree, most)) in losses.into_iter().flat_map(|lost| trees.map(|tree| (lost, tree))) {
        let mut depth = vec![0_u32; MILLION as usize];
        let mut below = 0;
        for rank in (0..MILLION).filter(|rank| !lost.contains(rank)) {
            let part = Agreement::new(rank, MILLION, tree, lost.iter().copied());
            // The one above has a lower rank, so its depth is known.
            depth[rank as usize] = part.above().map_or(0, |above| depth[above as usize] + 1);
            below += part.below().count();
        }
        assert_eq!(below, MILLION as usize - lost.len() - 1, "each has one above it");
        assert!(depth.iter().max() <= Some(&most), "{tree:?}: {:?}", depth.iter().max());
    }
}
