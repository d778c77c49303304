//! Numbers of all ranks become one: by operations of the standard, by functions of the program, on one rank and on all.

use posthaste::Operation::{self, BitAnd, LogicalAnd, Maximum, MaximumLocation, Minimum, Product, Sum};

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());

    let mut sum = [0];
    world.reduce(&[rank], &mut sum, Sum, 0)?;
    assert!(rank != 0 || sum == [size * (size - 1) / 2]);

    assert_eq!(world.all_reduce_one(rank, Maximum)?, size - 1);
    assert_eq!(world.all_reduce_one(rank + 1, Product)?, (1..=size).product());
    assert_eq!(world.all_reduce_one(0b10_1111u8, BitAnd)?, 0b10_1111);
    assert_eq!(world.all_reduce_one(u8::from(rank > 0), LogicalAnd)?, 0);

    // Who has the largest?
    let mine = posthaste::Located { value: (rank as f64).cos(), index: rank as i64 };
    assert_eq!(world.all_reduce_one(mine, MaximumLocation)?.index, 0);

    // A function of slices; its type is that of the data, which the compiler checks.
    let add = Operation::from_fn(
        |incoming: &[usize], result: &mut [usize]| {
            result.iter_mut().zip(incoming).for_each(|(to, from)| *to += from);
        },
        true,
    );
    let (mine, mut total) = ([rank + 1], [0]);
    world.scope(|s| s.all_reduce(&mine, &mut total, &add).map(drop))?;
    assert_eq!(total, [size * (size + 1) / 2]);

    // Each rank gets its part of the result.
    let mut part = [0];
    world.reduce_scatter_block(&Vec::from_iter(0..size), &mut part, Sum)?;
    assert_eq!(part, [rank * size]);

    // On this rank alone.
    let mut lower = [5, 1];
    world.reduce_local(&[3, 3], &mut lower, Minimum)?;
    assert_eq!(lower, [3, 1]);

    if rank == 0 {
        println!("{size} ranks add up to {}, counted from one to {}", sum[0], total[0]);
    }
    Ok(())
}
