//! Short messages of two ranks by the typed API. Run under callgrind by `cargo xtask test`, which counts the instructions of these
//! functions as it does those of the C library (`bench/instructions.c`). Usage: instructions COUNT (a multiple of 64).

use std::hint::black_box;

use posthaste::{Communicator, PersistentSend, Request, Result, Scope};

const WINDOW: usize = 64;

#[inline(never)]
fn typed_send(world: &Communicator<'_>, data: &[u8; 8], to: usize) -> Result<()> {
    world.send(black_box(data), to, 1)
}

#[inline(never)]
fn typed_isend<'s>(scope: &Scope<'s, '_>, data: &'s [u8; 8]) -> Result<Request<'s>> {
    scope.send(black_box(data), 1, 2)
}

#[inline(never)]
fn typed_irecv<'s>(scope: &Scope<'s, '_>, room: &'s mut [u8; 8]) -> Result<Request<'s>> {
    scope.receive(room, 0, 2)
}

#[inline(never)]
fn typed_start(request: &mut PersistentSend<'_, u8>) -> Result<()> {
    request.start()
}

fn main() -> Result<()> {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(6400);
    let universe = posthaste::init()?;
    let world = universe.world();
    let (first, other) = (world.rank() == 0, 1 - world.rank());
    let (data, mut room) = ([0u8; 8], [0u8; 8]);
    for _ in 0..count {
        if first {
            typed_send(&world, &data, other)?;
        }
        world.receive(&mut room, other, 1)?;
        if !first {
            typed_send(&world, &data, other)?;
        }
    }
    // The receives are started before the messages are sent, so that every run counts the same.
    let mut rooms = [[0u8; 8]; WINDOW];
    for _ in 0..count / WINDOW {
        world.scope(|s| {
            let mut requests = Vec::with_capacity(WINDOW);
            if first {
                world.receive(&mut [0u8; 0], 1, 3)?;
                for _ in 0..WINDOW {
                    requests.push(typed_isend(s, &data)?);
                }
            } else {
                for room in &mut rooms {
                    requests.push(typed_irecv(s, room)?);
                }
                world.send(&[0u8; 0], 0, 3)?;
            }
            posthaste::wait_all(requests).map(drop)
        })?;
    }
    let mut persistent = world.persistent_send(&data, other, 4)?;
    for _ in 0..count {
        if first {
            typed_start(&mut persistent)?;
            persistent.wait()?;
            world.receive(&mut [0u8; 0], 1, 5)?;
        } else {
            world.receive(&mut room, 0, 4)?;
            world.send(&[0u8; 0], 0, 5)?;
        }
    }
    Ok(())
}
