//! Everybody has something for everybody: a column of a table becomes a row, and lists of different lengths change hands.

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());

    let data = vec![rank; size];
    let (mut now, mut later, mut place) = (vec![0; size], vec![0; size], data.clone());
    world.all_to_all(&data, &mut now)?;
    world.scope(|s| s.all_to_all(&data, &mut later).map(drop))?;
    world.all_to_all_in_place(&mut place)?;
    let everybody = Vec::from_iter(0..size);
    assert!(now == everybody && later == everybody && place == everybody);

    // Rank r gets r numbers from each, and does not need to know that.
    let data = vec![rank; everybody.iter().sum()];
    let (lists, lengths) = world.all_to_all_vec(&data, &everybody)?;
    assert_eq!(lengths, vec![rank; size]);
    assert_eq!(lists.len(), rank * size);

    if rank == size - 1 {
        println!("rank {rank} got {now:?} and {lists:?}");
    }
    Ok(())
}
