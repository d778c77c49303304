//! The two-dimensional heat equation on a grid that is divided among the ranks; the same as `demo/heat.c`, to the
//! last bit of every cell: `mpiexec -n 4 target/release/examples/heat 960 640 2000 field.raw`.
//!
//! Each rank owns a block and one line of its neighbours' cells around it (the halo). In every step the four edges
//! are exchanged within a scope, which lends parts of the field to the messages: rows as they lie in memory,
//! columns as evenly spaced elements. Every tenth step the largest change anywhere is found by a reduction.

use std::io::Write;
use std::time::Instant;

use posthaste::{Communicator, Operation, Parts, Result};

const NORTH: usize = 0;
const SOUTH: usize = 1;
const WEST: usize = 2;
const EAST: usize = 3;
const GATHER: i32 = 9;

/// A rank's part of the whole field.
#[derive(Clone, Copy)]
struct Block {
    /// The whole field, its fixed border included.
    width: usize,
    height: usize,
    /// The first cell of the block, and its size.
    x0: usize,
    y0: usize,
    nx: usize,
    ny: usize,
    neighbours: [Option<usize>; 4],
}

impl Block {
    /// The block of `rank` on the most nearly square grid of `size` processes.
    fn of(rank: usize, size: usize, width: usize, height: usize) -> Self {
        let rows = (1..=size).filter(|n| n * n <= size && size.is_multiple_of(*n)).max().unwrap_or(1);
        let columns = size / rows;
        let (column, row) = (rank % columns, rank / columns);
        let (inner_x, inner_y) = (width - 2, height - 2);
        let (x0, y0) = (1 + inner_x * column / columns, 1 + inner_y * row / rows);
        Self {
            width,
            height,
            x0,
            y0,
            nx: 1 + inner_x * (column + 1) / columns - x0,
            ny: 1 + inner_y * (row + 1) / rows - y0,
            neighbours: [
                (row > 0).then(|| rank - columns),
                (row + 1 < rows).then(|| rank + columns),
                (column > 0).then(|| rank - 1),
                (column + 1 < columns).then(|| rank + 1),
            ],
        }
    }

    /// From one row of the block to the next, with the halo.
    fn stride(&self) -> usize {
        self.nx + 2
    }

    /// The temperature at the beginning: some discs and a ring in a cold field, a border of which one part is
    /// warm.
    fn initial(&self, x: usize, y: usize) -> f64 {
        const DISCS: [(i64, i64, i64, f64); 5] = [
            (25, 30, 12, 100.0),
            (70, 25, 8, 80.0),
            (60, 70, 16, 90.0),
            (20, 75, 6, 100.0),
            (85, 60, 5, 70.0),
        ];
        let (w, h, x, y) = (self.width as i64, self.height as i64, x as i64, y as i64);
        if x == 0 {
            return if y * 3 > h && y * 3 < 2 * h { 60.0 } else { 0.0 };
        }
        if y == 0 || x == w - 1 || y == h - 1 {
            return 0.0;
        }
        let mut value = 0.0;
        for (i, (cx, cy, radius, temperature)) in DISCS.into_iter().enumerate() {
            let (dx, dy, r) = (100 * x - cx * w, 100 * y - cy * h, radius * w.min(h));
            let (square, hole) = (dx * dx + dy * dy, if i == 2 { r * r / 3 } else { -1 });
            if square < r * r && square > hole {
                value = temperature;
            }
        }
        value
    }

    /// Sends the four edges and receives the halo.
    fn exchange(&self, world: &Communicator<'_>, field: &mut [f64]) -> Result<()> {
        let (nx, ny, stride) = (self.nx, self.ny, self.stride());
        // Start, number and distance of the cells, in the order of the sides.
        let edges = [
            (stride + 1, nx, 1),
            (ny * stride + 1, nx, 1),
            (stride + 1, ny, stride),
            (stride + nx, ny, stride),
        ];
        let halo =
            [(1, nx, 1), ((ny + 1) * stride + 1, nx, 1), (stride, ny, stride), (stride + nx + 1, ny, stride)];
        let mut parts = Parts::new(field);
        world.scope(|s| {
            for side in [NORTH, SOUTH, WEST, EAST] {
                let ((from, count, step), (into, _, _)) = (edges[side], halo[side]);
                // The tag is the direction in which a message travels.
                let opposite = (side ^ 1) as i32;
                s.receive(parts.write(into, count, step)?, self.neighbours[side], opposite)?;
                s.send(parts.read(from, count, step)?, self.neighbours[side], side as i32)?;
            }
            Ok(())
        })
    }

    /// One step; gives the largest change of a cell.
    fn step(&self, field: &[f64], next: &mut [f64]) -> f64 {
        let stride = self.stride();
        let mut largest = 0.0;
        for y in 1..=self.ny {
            let [north, here, south] = [y - 1, y, y + 1].map(|y| &field[y * stride..][..stride]);
            let out = &mut next[y * stride..][..stride];
            for x in 1..=self.nx {
                let cross = (north[x] + south[x]) + (here[x - 1] + here[x + 1]);
                let change = 0.2 * (cross - 4.0 * here[x]);
                let size = if change < 0.0 { -change } else { change };
                out[x] = here[x] + change;
                if size > largest {
                    largest = size;
                }
            }
        }
        largest
    }

    /// The cells of this block without the halo, row by row.
    fn inner(&self, field: &[f64]) -> Vec<f64> {
        (1..=self.ny).flat_map(|y| &field[y * self.stride() + 1..][..self.nx]).copied().collect()
    }
}

/// Everybody's block goes to rank 0 and there into its place in the whole field.
fn gather(world: &Communicator<'_>, block: &Block, field: &[f64]) -> Result<Option<Vec<f64>>> {
    let mine = block.inner(field);
    if world.rank() > 0 {
        world.send(&mine, 0, GATHER)?;
        return Ok(None);
    }
    let (width, height) = (block.width, block.height);
    let mut whole: Vec<f64> = (0..width * height).map(|i| block.initial(i % width, i / width)).collect();
    for rank in 0..world.size() {
        let theirs = if rank == 0 { mine.clone() } else { world.receive_vec::<f64>(rank, GATHER)?.0 };
        let other = Block::of(rank, world.size(), width, height);
        for (y, row) in theirs.chunks_exact(other.nx).enumerate() {
            whole[(other.y0 + y) * width + other.x0..][..other.nx].copy_from_slice(row);
        }
    }
    Ok(Some(whole))
}

fn save(name: &str, whole: &[f64]) -> std::io::Result<()> {
    let bytes: Vec<u8> = whole.iter().flat_map(|value| value.to_ne_bytes()).collect();
    std::fs::File::create(name)?.write_all(&bytes)
}

/// Width, height, steps, file.
fn arguments(size: usize) -> Option<(usize, usize, usize, String)> {
    let [width, height, steps, file]: [String; 4] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().ok()?;
    let (width, height, steps) = (width.parse().ok()?, height.parse().ok()?, steps.parse().ok()?);
    (width >= 3 + size && height >= 3 + size && steps >= 1).then_some((width, height, steps, file))
}

fn main() -> Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let Some((width, height, steps, file)) = arguments(world.size()) else {
        if world.rank() == 0 {
            eprintln!("usage: heat WIDTH HEIGHT STEPS FILE");
        }
        universe.abort(2)
    };
    let block = Block::of(world.rank(), world.size(), width, height);
    let stride = block.stride();
    let mut field: Vec<f64> = (0..stride * (block.ny + 2))
        .map(|i| block.initial(block.x0 + i % stride - 1, block.y0 + i / stride - 1))
        .collect();
    let mut next = field.clone();
    let mut residual = [0.0];

    world.barrier()?;
    let start = Instant::now();
    for i in 1..=steps {
        block.exchange(&world, &mut field)?;
        let largest = block.step(&field, &mut next);
        std::mem::swap(&mut field, &mut next);
        if i % 10 == 0 || i == steps {
            world.all_reduce(&[largest], &mut residual, Operation::Maximum)?;
        }
    }
    let mut slowest = [0.0];
    world.all_reduce(&[start.elapsed().as_secs_f64()], &mut slowest, Operation::Maximum)?;

    if let Some(whole) = gather(&world, &block, &field)? {
        if let Err(error) = save(&file, &whole) {
            eprintln!("{file}: {error}");
            universe.abort(3)
        }
        let us = slowest[0] / steps as f64 * 1e6;
        println!("heat: {} ranks, us_per_step {us:.2}, residual {:e}", world.size(), residual[0]);
    }
    Ok(())
}
