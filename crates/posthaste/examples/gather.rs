//! One rank collects what all have: a number of each, a row of a table, and lists of different lengths.

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let room = |len| vec![0; if rank == 0 { len } else { 0 }];

    let mut powers = room(size);
    world.gather(&[1usize << (rank + 1)], &mut powers, 0)?;
    assert!(powers.iter().enumerate().all(|(from, power)| *power == 1 << (from + 1)));

    // Row r of the table has the multiples of r + 1; it arrives while the others go on.
    let row: Vec<usize> = (1..=size).map(|column| column * (rank + 1)).collect();
    let mut table = room(size * size);
    world.scope(|s| s.gather(&row, &mut table, 0).map(drop))?;
    for (from, row) in table.chunks(size).enumerate() {
        assert!(row.iter().zip(1..).all(|(product, column)| *product == (from + 1) * column));
    }

    // Rank r has r numbers. The root knows how many from whom …
    let mine: Vec<usize> = (0..rank).collect();
    let lengths = Vec::from_iter(0..size);
    let mut lists = room(lengths.iter().sum());
    world.gather_varying(&mine, &mut lists, &lengths, 0)?;
    // … or has it worked out.
    let found = world.gather_vec(&mine, 0)?;
    if let Some((same, counts)) = found {
        assert_eq!((&same, &counts), (&lists, &lengths));
        println!("powers {powers:?}, lists {lists:?}");
    }
    Ok(())
}
