//! What the ranks up to each one have, combined; and what those before it have.

use posthaste::Operation::{Product, Sum};

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let rank = world.rank();

    let up_to = world.scan_one(rank, Sum)?;
    assert_eq!(up_to, rank * (rank + 1) / 2);
    // Before rank 0 is nobody: what it gets is `None`.
    let before = world.exclusive_scan_one(rank + 1, Product)?;
    assert_eq!(before, (rank > 0).then(|| (1..=rank).product()));

    let (mine, mut sum, mut product) = ([rank + 1], [0], [1]);
    world.scope(|s| {
        s.scan(&mine, &mut sum, Sum)?;
        s.exclusive_scan(&mine, &mut product, Product)?;
        Ok(())
    })?;
    assert_eq!((sum[0], product[0]), (up_to + rank + 1, before.unwrap_or(1)));

    if rank == world.size() - 1 {
        println!("rank {rank}: the sum is {up_to}, the product before it {}", product[0]);
    }
    Ok(())
}
