//! Messages beside timers in one task of Tokio: rank 0 collects what the others send, and looks at the clock meanwhile:
//! `mpiexec -n 4 target/debug/examples/tokio`.
//!
//! The executor sleeps in its own way, so messages are moved by the progress thread.

use std::time::Duration;

use posthaste::{ANY, Communicator, Result};

const READING: i32 = 0;
const READINGS: usize = 20;

fn main() -> Result<()> {
    let universe = posthaste::init_with_progress()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(run(&universe.world()))
}

async fn run(world: &Communicator<'_>) -> Result<()> {
    if world.rank() > 0 {
        for number in 0..READINGS {
            tokio::time::sleep(Duration::from_millis(2)).await;
            world.send_owned(vec![number as f64; 1 + number], 0, READING).await.0?;
        }
        return world.barrier_async().await.0.map(drop);
    }
    let (mut readings, mut numbers, mut idle) = (0, 0, 0);
    let mut messages = world.incoming::<f64>(ANY, READING)?;
    while readings < READINGS * (world.size() - 1) {
        match tokio::time::timeout(Duration::from_millis(1), messages.next()).await {
            Ok(Some(message)) => {
                numbers += message?.0.len();
                readings += 1;
            }
            Ok(None) => break,
            Err(_) => idle += 1, // a message that has begun to arrive is the next one
        }
    }
    println!("{readings} readings with {numbers} numbers");
    eprintln!("nothing came for a millisecond {idle} times");
    world.barrier_async().await.0.map(drop)
}
