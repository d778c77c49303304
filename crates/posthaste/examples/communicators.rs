//! Communicators: a name, a duplicate whose messages nobody else receives, and halves of the ranks that compute for themselves.

use posthaste::{Communicator, Operation, Result};

/// Works on any communicator: they all have one type.
fn ranks_before(communicator: &Communicator<'_>) -> Result<Option<usize>> {
    communicator.exclusive_scan_one(1, Operation::Sum)
}

fn main() -> Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    assert_eq!(world.name(), "MPI_COMM_WORLD");

    let library = world.dup()?;
    library.set_name("of a library");
    assert_eq!((library.name().as_str(), world.name().as_str()), ("of a library", "MPI_COMM_WORLD"));
    let next = (rank + 1) % size;
    library.send_one(rank, next, 0)?;
    world.send_one(size + rank, next, 0)?;
    let before = (rank + size - 1) % size;
    assert_eq!(world.receive_one::<usize>(before, 0)?.0, size + before);
    assert_eq!(library.receive_one::<usize>(before, 0)?.0, before);

    // Odd and even ranks, the highest first.
    let half = world.split(Some(rank % 2), -(rank as i32))?.expect("every rank has a color");
    let highest = half.broadcast_one(rank, 0)?;
    assert_eq!(highest % 2, rank % 2);
    assert_eq!(ranks_before(&half)?.unwrap_or(0), half.rank());
    assert_eq!(ranks_before(&world)?.unwrap_or(0), rank);
    // Who has no color is in no part.
    let odd = world.split((rank % 2 == 1).then_some(0), 0)?;
    assert_eq!(odd.is_some(), rank % 2 == 1);

    if rank == 0 {
        println!("{size} ranks, {} of them even, up to {highest}", half.size());
    }
    Ok(())
}
