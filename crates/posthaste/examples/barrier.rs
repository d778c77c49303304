//! What a barrier separates: rank 0 hears from everybody once before it, and once behind it. Then the same with a barrier that is
//! only announced: messages sent between the announcement and its end may arrive on either side.

use posthaste::ANY;

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let others = world.size() - 1;
    let receive = |count, tag| -> posthaste::Result<Vec<u64>> {
        (0..count).map(|_| Ok(world.receive_one(ANY, tag)?.0)).collect()
    };

    let mut heard = vec![];
    if world.rank() == 0 {
        heard.extend(receive(others, 0)?);
        world.barrier()?;
        heard.extend(receive(others, 0)?);
        assert!(
            heard[..others].iter().all(|said| *said == 1) && heard[others..].iter().all(|said| *said == 2)
        );
    } else {
        world.send_one(1u64, 0, 0)?;
        world.barrier()?;
        world.send_one(2u64, 0, 0)?;
    }

    world.scope(|s| {
        if world.rank() == 0 {
            let mut early = receive(2 * others, 1)?;
            s.barrier()?;
            early.sort_unstable();
            assert!(
                early[..others].iter().all(|said| *said == 3)
                    && early[others..].iter().all(|said| *said == 4)
            );
            assert!(receive(others, 1)?.iter().all(|said| *said == 5));
        } else {
            world.send_one(3u64, 0, 1)?;
            let announced = s.barrier()?;
            world.send_one(4u64, 0, 1)?;
            announced.wait()?;
            world.send_one(5u64, 0, 1)?;
        }
        Ok(())
    })?;
    if world.rank() == 0 {
        println!("{heard:?}");
    }
    Ok(())
}
