//! Halo exchange on a line of ranks while computing: `mpiexec -n 4 target/debug/examples/scope`.
//!
//! Each rank owns some cells and needs its neighbours' outermost ones. They travel while the inner cells, which do
//! not need them, are computed. The compiler checks that nobody touches the halo before it has come.

const CELLS: usize = 1000;
const STEPS: usize = 100;
const TO_LEFT: i32 = 0;
const TO_RIGHT: i32 = 1;

/// A step of the heat equation for one cell.
fn next(left: f64, own: f64, right: f64) -> f64 {
    own + 0.25 * (left - 2.0 * own + right)
}

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    // At the ends of the line there is nobody: nothing is sent, and the halo keeps its zero.
    let left = rank.checked_sub(1);
    let right = Some(rank + 1).filter(|right| *right < size);

    let mut cells = vec![0.0; CELLS];
    if rank == size / 2 {
        cells[CELLS / 2] = 1000.0;
    }
    let mut new = cells.clone();
    let (mut left_halo, mut right_halo) = ([0.0], [0.0]);
    for _ in 0..STEPS {
        world.scope(|s| {
            s.receive(&mut left_halo, left, TO_RIGHT)?;
            s.receive(&mut right_halo, right, TO_LEFT)?;
            s.send(&cells[..1], left, TO_LEFT)?;
            s.send(&cells[CELLS - 1..], right, TO_RIGHT)?;
            for i in 1..CELLS - 1 {
                new[i] = next(cells[i - 1], cells[i], cells[i + 1]);
            }
            Ok(())
        })?;
        new[0] = next(left_halo[0], cells[0], cells[1]);
        new[CELLS - 1] = next(cells[CELLS - 2], cells[CELLS - 1], right_halo[0]);
        std::mem::swap(&mut cells, &mut new);
    }
    let heat = world.all_reduce_one(cells.iter().sum::<f64>(), posthaste::Operation::Sum)?;
    if rank == 0 {
        println!("after {STEPS} steps {size} ranks hold {heat:.6} units of heat");
    }
    Ok(())
}
