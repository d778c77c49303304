//! One rank deals out: a number for each, and lists of different lengths.

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let is_root = rank == 0;

    let squares: Vec<usize> = if is_root { (0..size).map(|to| to * to).collect() } else { vec![] };
    let (mut mine, mut again) = ([0], [0]);
    world.scatter(&squares, &mut mine, 0)?;
    world.scope(|s| s.scatter(&squares, &mut again, 0).map(drop))?;
    assert_eq!((mine, again), ([rank * rank], [rank * rank]));

    // For rank r there are r numbers, one list behind the other. Who knows how many come, says so …
    let lists: Vec<usize> = (0..size).flat_map(|to| 0..to).collect();
    let lengths = Vec::from_iter(0..size);
    let mut list = vec![0; rank];
    world.scatter_varying(&lists, &lengths, &mut list, 0)?;
    assert_eq!(list, Vec::from_iter(0..rank));
    // … and who does not, is told.
    let (lists, lengths) = if is_root { (lists, lengths) } else { (vec![], vec![]) };
    assert_eq!(world.scatter_vec(&lists, lengths, 0)?, list);

    let total = world.all_reduce_one(mine[0], posthaste::Operation::Sum)?;
    if is_root {
        println!("the squares of {size} ranks add up to {total}");
    }
    Ok(())
}
