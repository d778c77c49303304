//! Around a ring: a blocking exchange, messages of unknown length, and messages that travel while the rank computes.

use posthaste::{ANY, Strided, StridedMut};

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);

    let mut left = [0];
    world.send_receive(&[rank], next, 0, &mut left, before, 0)?;
    assert_eq!(left, [before]);

    // Everybody tells rank 0, which learns from each message how long it is, and whose.
    if rank > 0 {
        world.send(&vec![rank; rank + 1], 0, 1)?;
    } else {
        for _ in 1..size {
            let (list, status) = world.receive_vec::<usize>(ANY, 1)?;
            let sender = status.source().expect("somebody sent it");
            assert_eq!(list, vec![sender; sender + 1]);
        }
    }

    // Both directions are under way at once; the buffers are lent until the scope ends.
    let (mine, mut theirs) = ([rank, 2 * rank, 4 * rank], [0; 3]);
    world.scope(|s| {
        let mut sent = s.send(&mine, next, 2)?;
        let received = s.receive(&mut theirs, before, 2)?;
        while sent.test()?.is_none() {}
        assert_eq!(received.wait()?.source(), Some(before));
        Ok(())
    })?;
    assert_eq!(theirs, [before, 2 * before, 4 * before]);

    // Two of every three numbers are one column each; no datatype is made.
    let numbers: Vec<usize> = (1..=6).map(|factor| rank * factor).collect();
    let mut columns = [usize::MAX; 6];
    for column in 0..2 {
        world.scope(|s| {
            s.receive(StridedMut::new(&mut columns, column, 2, 3)?, before, 3)?;
            s.send(Strided::new(&numbers, column, 2, 3)?, next, 3)?;
            Ok(())
        })?;
    }
    let none = usize::MAX;
    assert_eq!(columns, [before, 2 * before, none, 4 * before, 5 * before, none]);

    assert!(world.probe_now(ANY, ANY)?.is_none());
    if rank == 0 {
        println!("rank 0 got {theirs:?}");
    }
    Ok(())
}
