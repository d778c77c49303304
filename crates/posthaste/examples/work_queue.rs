//! A queue of work that needs no master: a counter in a window of rank 0, from which every rank takes the next items by
//! fetch-and-op: `mpiexec -n 4 target/debug/examples/work_queue`.
//!
//! A rank with long items takes fewer of them. Each item is noted where it belongs, on rank `item % size`, by an accumulate; at the
//! end every item has been done once.

use posthaste::{Operation, Result};

const ITEMS: usize = 1000;
/// Items that are taken at a time.
const CHUNK: usize = 16;

/// The work: items take different times.
fn work(item: usize) -> f64 {
    (0..50 * (item % 17)).fold(item as f64, |x, _| x * 0.5 + 1.0)
}

fn main() -> Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let queue = world.window().allocate::<usize>(usize::from(rank == 0))?;
    let mut done = world.window().allocate::<u32>((ITEMS + size - 1 - rank) / size)?;

    let (one, mut mine, mut sum) = ([1], 0, 0.0);
    queue.lock_all(|queue| {
        done.lock_all(|done| {
            loop {
                let first = queue.fetch_and_op(CHUNK, 0, 0, Operation::Sum)?;
                if first >= ITEMS {
                    return Ok(());
                }
                for item in first..ITEMS.min(first + CHUNK) {
                    sum += work(item);
                    mine += 1;
                    done.accumulate(&one, item % size, item / size, Operation::Sum)?;
                }
            }
        })
    })?;
    world.barrier()?;

    let once = done.lock_own(|items| items.iter().all(|times| *times == 1))?;
    assert!(once, "rank {rank}: an item was done more or less than once");
    assert_eq!(world.all_reduce_one(mine, Operation::Sum)?, ITEMS);
    assert!(world.all_reduce_one(sum, Operation::Sum)? > 0.0);
    if rank == 0 {
        println!("{ITEMS} items by {size} ranks, each of them once");
    }
    done.free()?;
    queue.free()
}
