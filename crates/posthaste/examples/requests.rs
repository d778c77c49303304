//! Many requests at once: waiting for any, some and all of them, in the modes of sends.

use posthaste::{Request, Result, Scope, test_all, test_any, test_some, wait_all, wait_any};

const COUNT: usize = 32;

type Rows = [[i32; 4]; COUNT];

/// Starts to send all rows to `next`, and to receive as many from `before`.
fn begin<'scope>(
    s: &Scope<'scope, '_>,
    (next, before): (usize, usize),
    rows: &'scope Rows,
    room: &'scope mut Rows,
) -> Result<Vec<Request<'scope>>> {
    let receives: Result<Vec<_>> = room.iter_mut().map(|row| s.receive(&mut row[..], before, 0)).collect();
    let sends: Result<Vec<_>> = rows.iter().map(|row| s.send(&row[..], next, 0)).collect();
    Ok(receives?.into_iter().chain(sends?).collect())
}

fn main() -> Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let ends = ((rank + 1) % size, (rank + size - 1) % size);
    let rows: Rows = std::array::from_fn(|at| std::array::from_fn(|i| (at + i) as i32));

    let mut told = [0; 4];
    for (way, told) in told.iter_mut().enumerate() {
        let mut room = [[0; 4]; COUNT];
        world.scope(|s| {
            let mut requests = begin(s, ends, &rows, &mut room)?;
            match way {
                0 => {
                    while wait_any(&mut requests)?.is_some() {
                        *told += 1
                    }
                }
                1 => {
                    while *told < 2 * COUNT {
                        *told += usize::from(test_any(&mut requests)?.is_some())
                    }
                }
                2 => {
                    while *told < 2 * COUNT {
                        *told += test_some(&mut requests)?.len()
                    }
                }
                _ => while test_all(&mut requests)?.is_none() {},
            }
            *told = wait_all(requests)?.len();
            Ok(())
        })?;
        assert_eq!(room, rows);
    }

    // A buffered send waits for nobody. A ready one may be sent because the receive is there.
    universe.attach_buffer(1 << 20)?;
    let (mut first, mut second) = ([0; 1000], [0; 1000]);
    world.scope(|s| {
        s.receive(&mut second, ends.1, 2)?;
        world.barrier()?;
        s.send_buffered(&[1; 1000], ends.0, 1)?;
        s.send_ready(&[2; 1000], ends.0, 2)?;
        s.receive(&mut first, ends.1, 1).map(drop)
    })?;
    assert_eq!(universe.detach_buffer()?, Some(1 << 20));
    if rank == 0 {
        println!("{told:?} requests, and {} numbers", first.iter().chain(&second).sum::<i32>());
    }
    Ok(())
}
