//! What a program asks about its surroundings: versions, clocks, threads, and what belongs to a communicator.

use std::time::Instant;

use posthaste::{Communicator, Result, TAG_MAX};

/// What belongs to a communicator stands beside it, and is duplicated and dropped with it.
struct Library<'u> {
    communicator: Communicator<'u>,
    calls: u32,
}

impl Library<'_> {
    fn duplicate(&self) -> Result<Self> {
        Ok(Self { communicator: self.communicator.dup()?, calls: self.calls + 1 })
    }
}

fn main() -> Result<()> {
    // With locks, so that threads may have shares of their own, and with a thread that moves messages.
    let universe = posthaste::init_with_progress()?;
    let world = universe.world();

    let start = Instant::now();
    world.barrier()?;
    assert!(start.elapsed().as_nanos() > 0, "the clock has a resolution of nanoseconds");

    let library = Library { communicator: world, calls: 10 }.duplicate()?;
    let own = universe.own();
    own.send_one(5, 0, TAG_MAX)?;
    assert_eq!(own.receive_one::<i32>(0, TAG_MAX)?.0, 5);
    let ranks = std::thread::scope(|threads| {
        let worker = threads.spawn(|| {
            let own = posthaste::init()?;
            Ok::<usize, posthaste::Error>(own.own().size())
        });
        worker.join().expect("it does not panic")
    })?;
    if library.communicator.rank() == 0 {
        println!("{} ranks, {} calls, {ranks} rank in a thread", library.communicator.size(), library.calls);
    }
    Ok(())
}
