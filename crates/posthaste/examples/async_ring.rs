//! A message goes around all ranks in several laps, while another future of the same thread waits for the word to stop:
//! `mpiexec -n 4 target/debug/examples/async_ring`.

use futures::future::{Either, select};
use posthaste::{Communicator, Result};

const LAPS: u64 = 100;
const BALL: i32 = 0;
const STOP: i32 = 1;

fn main() -> Result<()> {
    let universe = posthaste::init()?;
    universe.block_on(play(&universe.world()))
}

async fn play(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    let mut stop = world.receive_owned(vec![0u64], 0, STOP);
    let mut balls = world.incoming::<u64>(left, BALL)?;
    if rank == 0 {
        world.send_owned(vec![1u64], right, BALL).await.0?;
    }
    loop {
        // Whichever comes first; the other goes on waiting, and no message is lost.
        let ball = Box::pin(balls.next());
        match select(ball, stop).await {
            Either::Left((ball, still_waiting)) => {
                stop = still_waiting;
                let Some(ball) = ball else { return Ok(()) };
                let (mut passes, _) = ball?;
                if rank == 0 && passes[0] >= LAPS * size as u64 {
                    println!("the ball was passed {} times", passes[0]);
                    for to in 0..size {
                        world.send_owned(passes.clone(), to, STOP).await.0?;
                    }
                } else {
                    passes[0] += 1;
                    world.send_owned(passes, right, BALL).await.0?;
                }
            }
            Either::Right(((status, passes), _)) => {
                status?;
                assert_eq!(passes, [LAPS * size as u64]);
                return Ok(());
            }
        }
    }
}
