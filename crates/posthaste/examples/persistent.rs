//! One operation, planned once and started in every step: the largest change anywhere decides when the ranks are done.

use posthaste::Operation::Maximum;

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let mut largest = world.persistent(vec![0.0; 1], vec![0.0; 1], |plans, mine, result| {
        plans.all_reduce(mine, result, Maximum)
    })?;

    // Each rank halves its own error.
    let (mut error, mut steps) = (1.0 + world.rank() as f64, 0);
    loop {
        error /= 2.0;
        steps += 1;
        largest.data_mut()[0] = error;
        let running = largest.start()?;
        // … what does not depend on the others …
        running.wait()?;
        if largest.result()[0] < 0.01 {
            break;
        }
    }
    if world.rank() == 0 {
        println!("{} ranks are done after {steps} steps", world.size());
    }
    Ok(())
}
