//! A message goes once around all ranks, and each adds its rank: `mpiexec -n 4 target/debug/examples/ring`.

fn main() -> posthaste::Result<()> {
    const TAG: i32 = 0;
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);

    if rank == 0 {
        world.send_one(0u64, right, TAG)?;
        let (sum, _) = world.receive_one::<u64>(left, TAG)?;
        println!("the ranks add up to {sum}, says rank {left}");
    } else {
        let (sum, _) = world.receive_one::<u64>(left, TAG)?;
        world.send_one(sum + rank as u64, right, TAG)?;
    }
    Ok(())
}
