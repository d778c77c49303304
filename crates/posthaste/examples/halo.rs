//! A field in rows, divided among the ranks: in every step each puts its first and its last row into the windows of its neighbours.
//! Once with fences, once with post and start among neighbours only; both become what one rank alone makes of the field, to the
//! last bit: `mpiexec -n 4 target/debug/examples/halo`.
//!
//! A window has the rows of the neighbours alone: the one before in its first half, the one behind in its second.

use posthaste::{Communicator, Epoch, Result};

const NX: usize = 60;
const NY: usize = 50;
const STEPS: usize = 40;

/// Makes the next values of some rows, which lie between two others.
fn step(field: &[f64], [before, behind]: [&[f64]; 2]) -> Vec<f64> {
    let rows: Vec<&[f64]> = std::iter::once(before).chain(field.chunks(NX)).chain([behind]).collect();
    let mut next = field.to_vec();
    for (rows, next) in rows.windows(3).zip(next.chunks_mut(NX)) {
        for x in 1..NX - 1 {
            let (here, beside) = (rows[1][x], rows[1][x - 1] + rows[1][x + 1]);
            next[x] = 0.25 * here + 0.2 * beside + 0.175 * (rows[0][x] + rows[2][x]);
        }
    }
    next
}

/// A row of the field at the beginning. Rows 0 and `NY + 1` stay like this.
fn row(y: usize) -> Vec<f64> {
    let value = |x| if y == 0 { 100.0 } else { (y * 7919 % 101) as f64 / (x + 3) as f64 };
    (0..NX).map(value).collect()
}

/// The rows of the field from `first` on.
fn rows(first: usize, end: usize) -> Vec<f64> {
    (first..end).flat_map(row).collect()
}

/// Which way the rows go.
#[derive(Clone, Copy)]
enum Way {
    Fences,
    PostAndStart,
}

/// The rows of this rank after all steps.
fn run(world: &Communicator<'_>, [first, end]: [usize; 2], way: Way) -> Result<Vec<f64>> {
    let (rank, size) = (world.rank(), world.size());
    let before = rank.checked_sub(1);
    let behind = Some(rank + 1).filter(|next| *next < size);
    let mut window = world.window().create([row(first - 1), row(end)].concat())?;
    let neighbours: Vec<usize> = before.into_iter().chain(behind).collect();
    let neighbours = window.group().include(&neighbours)?;

    let mut field = rows(first, end);
    for _ in 0..STEPS {
        match way {
            Way::Fences => window.fence(|epoch| put_edges(epoch, &field, [before, behind]))?,
            Way::PostAndStart => window.post(&neighbours, |_| {
                window.start(&neighbours, |epoch| put_edges(epoch, &field, [before, behind]))
            })?,
        }
        field = window.lock_own(|halo| {
            let (before, behind) = halo.split_at(NX);
            step(&field, [before, behind])
        })?;
    }
    window.free()?;
    Ok(field)
}

/// Gives both neighbours the rows that they lie next to. There may be none.
fn put_edges<'scope>(
    epoch: &Epoch<'scope, '_, f64>,
    field: &'scope [f64],
    [before, behind]: [Option<usize>; 2],
) -> Result<()> {
    epoch.put(&field[..NX], before, NX)?;
    epoch.put(&field[field.len() - NX..], behind, 0)
}

fn main() -> Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let part = [rank, rank + 1].map(|rank| 1 + NY * rank / size);

    let serial = (0..STEPS).fold(rows(1, NY + 1), |field, _| step(&field, [&row(0), &row(NY + 1)]));
    let expected = &serial[(part[0] - 1) * NX..(part[1] - 1) * NX];
    for way in [Way::Fences, Way::PostAndStart] {
        let field = run(&world, part, way)?;
        let bits = |field: &[f64]| field.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert!(bits(&field) == bits(expected), "rank {rank}: its rows differ from those of a serial run");
    }
    world.barrier()?;
    if rank == 0 {
        let both = format!("{STEPS} steps with fences and {STEPS} with post and start");
        println!("{both} on {size} ranks are those of a serial run");
    }
    Ok(())
}
