//! What awaiting costs beside waiting, on two ranks; a part of `cargo xtask bench --only async`.

use std::hint::black_box;
use std::time::Instant;

use futures::future::join_all;
use posthaste::{Communicator, Result};

const OUTSTANDING: usize = 10_000;
const BATCHES: usize = 30;
const PING_PONGS: usize = 20_000;

fn main() -> Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    assert_eq!(world.size(), 2, "two ranks");
    let [mut waited, mut awaited, mut joined] = [f64::INFINITY; 3];
    for _ in 0..BATCHES {
        waited = waited.min(batch(&world, wait_for_all)?);
        awaited = awaited.min(batch(&world, await_all)?);
        joined = joined.min(batch(&world, join_tasks)?);
    }
    let mut one = [f64::INFINITY; 2];
    for _ in 0..5 {
        one[0] = one[0].min(ping_pong(&world, false)?);
        one[1] = one[1].min(ping_pong(&world, true)?);
    }
    if world.rank() == 0 {
        println!("result wait_10000 {waited}\nresult await_10000 {awaited}\nresult join_10000 {joined}");
        println!("result wait_one {}\nresult await_one {}", one[0], one[1]);
        println!("result await_more {}", (one[1] - one[0]) * 1e3);
    }
    Ok(())
}

/// Rank 0 receives many messages that are outstanding at once; microseconds from the word to send them to the last end.
fn batch(
    world: &Communicator<'_>,
    receive: fn(&Communicator<'_>, &mut [[u64; 1]]) -> Result<f64>,
) -> Result<f64> {
    world.barrier()?;
    if world.rank() == 0 {
        let mut rooms = vec![[0u64]; OUTSTANDING];
        let took = receive(world, &mut rooms)?;
        assert!(rooms.iter().zip(0..).all(|(room, number)| room[0] == number));
        return Ok(took);
    }
    world.receive_one::<u8>(0, 1)?;
    for number in 0..OUTSTANDING as u64 {
        world.send_one(number, 0, 0)?;
    }
    Ok(f64::INFINITY)
}

fn wait_for_all(world: &Communicator<'_>, rooms: &mut [[u64; 1]]) -> Result<f64> {
    world.scope(|s| {
        let requests: Result<Vec<_>> = rooms.iter_mut().map(|room| s.receive(room, 1, 0)).collect();
        let requests = requests?;
        world.send_one(0u8, 1, 1)?;
        let start = Instant::now();
        black_box(posthaste::wait_all(requests)?);
        Ok(start.elapsed().as_secs_f64() * 1e6)
    })
}

fn await_all(world: &Communicator<'_>, rooms: &mut [[u64; 1]]) -> Result<f64> {
    world.scope_async(async |s| {
        let requests: Result<Vec<_>> = rooms.iter_mut().map(|room| s.receive(room, 1, 0)).collect();
        let requests = requests?;
        world.send_one(0u8, 1, 1)?;
        let start = Instant::now();
        black_box(posthaste::join_all(requests).await?);
        Ok(start.elapsed().as_secs_f64() * 1e6)
    })
}

/// A set of futures, each with a waker of its own.
fn join_tasks(world: &Communicator<'_>, rooms: &mut [[u64; 1]]) -> Result<f64> {
    world.scope_async(async |s| {
        let requests: Result<Vec<_>> = rooms.iter_mut().map(|room| s.receive(room, 1, 0)).collect();
        let requests = requests?;
        world.send_one(0u8, 1, 1)?;
        let start = Instant::now();
        for status in join_all(requests).await {
            black_box(status?);
        }
        Ok(start.elapsed().as_secs_f64() * 1e6)
    })
}

/// Microseconds of a message one way, received by a nonblocking receive that is waited for, or awaited.
fn ping_pong(world: &Communicator<'_>, awaits: bool) -> Result<f64> {
    let other = 1 - world.rank();
    world.barrier()?;
    let start = Instant::now();
    world.scope_async(async |_| {
        let mut room = vec![0u64];
        for _ in 0..PING_PONGS {
            if world.rank() == 0 {
                world.send_one(0u64, other, 0)?;
            }
            let receive = world.receive_owned(room, other, 0);
            let (status, same) = if awaits { receive.await } else { receive.wait() };
            black_box(status?);
            room = same;
            if world.rank() == 1 {
                world.send_one(0u64, other, 0)?;
            }
        }
        Ok(())
    })?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / (2.0 * PING_PONGS as f64))
}
