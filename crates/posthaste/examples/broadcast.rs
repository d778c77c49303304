//! One rank tells all others: a number, a table, a text of which only it knows the length, and a table while they compute.

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let is_root = world.rank() == 0;

    let number = world.broadcast_one(if is_root { 1024 } else { 0 }, 0)?;
    assert_eq!(number, 1024);

    let mut powers = if is_root { [2, 4, 8, 16] } else { [0; 4] };
    world.broadcast(&mut powers, 0)?;
    assert_eq!(powers, [2, 4, 8, 16]);

    let mut text = if is_root { b"as long as it is".to_vec() } else { vec![] };
    world.broadcast_vec(&mut text, 0)?;
    assert_eq!(text, b"as long as it is");

    let mut later = if is_root { [3.5; 100] } else { [0.0; 100] };
    let computed: u64 = world.scope(|s| {
        s.broadcast(&mut later, 0)?;
        Ok((1..=100).sum())
    })?;
    assert_eq!((later, computed), ([3.5; 100], 5050));

    let heard = world.all_reduce_one(1, posthaste::Operation::Sum)?;
    if is_root {
        println!("{heard} ranks know {number} and {powers:?}");
    }
    Ok(())
}
