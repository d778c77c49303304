//! Everybody gets what everybody has: a number, a row of a table, a truth value, lists of different lengths.

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());

    let mut powers = vec![0u64; size];
    world.all_gather(&[1 << (rank + 1)], &mut powers)?;
    assert!(powers.iter().zip(1..).all(|(power, exponent)| *power == 1 << exponent));

    let row: Vec<usize> = (1..=size).map(|column| column * (rank + 1)).collect();
    let mut table = vec![0; size * size];
    world.scope(|s| s.all_gather(&row, &mut table).map(drop))?;
    assert!((0..size * size).all(|at| table[at] == (at / size + 1) * (at % size + 1)));

    // Truth values travel as bytes, since not every byte that may arrive is one.
    let mut even = vec![0u8; size];
    world.all_gather(&[u8::from(rank % 2 == 0)], &mut even)?;
    assert!(even.iter().enumerate().all(|(of, even)| (*even != 0) == (of % 2 == 0)));

    // Rank r has r numbers.
    let mine: Vec<usize> = (0..rank).collect();
    let lengths = Vec::from_iter(0..size);
    let mut lists = vec![0; lengths.iter().sum()];
    world.all_gather_varying(&mine, &mut lists, &lengths)?;
    assert!(lists.iter().copied().eq((0..size).flat_map(|of| 0..of)));
    assert_eq!(world.all_gather_vec(&mine)?, (lists.clone(), lengths));

    if rank == 0 {
        println!("powers {powers:?}, lists {lists:?}");
    }
    Ok(())
}
