//! Groups, communicators of them, and two groups that talk to each other.

use posthaste::{Comparison, Operation, Result, Root};

fn main() -> Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());

    let all = world.group();
    assert_eq!((all.size(), all.rank()), (size, Some(rank)));
    let low: Vec<usize> = (0..size / 2).collect();
    let (first, second) = (all.include(&low)?, all.exclude(&low)?);
    assert_eq!(first.union(&second).compare(&all), Comparison::Ident);
    assert_eq!(second.union(&first).compare(&all), Comparison::Similar);
    assert_eq!(first.intersection(&second).size(), 0);
    assert_eq!(all.difference(&second).compare(&first), Comparison::Ident);
    assert_eq!(second.translate(&[0], &all)?, [Some(size / 2)]);

    let is_first = first.rank().is_some();
    let half = world.create_from(if is_first { &first } else { &second })?.expect("everybody is in a half");
    assert_eq!(half.group().compare(if is_first { &first } else { &second }), Comparison::Ident);

    // Each half gets the sum of the other one.
    let bridge = (half.rank() == 0).then_some((&world, if is_first { size / 2 } else { 0 }));
    let others = half.intercommunicator(0, bridge, 0)?;
    let mut sum = [0];
    others.all_reduce(&[rank], &mut sum, Operation::Sum)?;
    // Rank 0 of the first half tells the second one.
    let root = match (is_first, half.rank()) {
        (true, 0) => Root::Me,
        (true, _) => Root::OfMyGroup,
        (false, _) => Root::Other(0),
    };
    let mut told = sum;
    others.broadcast(&mut told, root)?;
    if rank == size - 1 {
        println!("the other half adds up to {}, and mine to {}", sum[0], told[0]);
    }
    Ok(())
}
