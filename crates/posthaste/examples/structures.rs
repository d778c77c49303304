//! Structures as elements of messages, and the bytes of a message by hand. The compiler makes the datatypes.

use posthaste::{Equivalence, Operation, Result};

#[derive(Clone, Copy, Debug, Default, PartialEq, Equivalence)]
struct Complex {
    real: f64,
    imaginary: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Equivalence)]
struct Pair([f32; 2], u8);

#[derive(Clone, Copy, Debug, Default, PartialEq, Equivalence)]
struct Everything {
    is_valid: u8, // not all bytes that may arrive are a bool
    numbers: [i32; 4],
    pair: Pair,
    root: Complex,
}

fn main() -> Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());

    let everything = Everything {
        is_valid: 1,
        numbers: [1, -2, 3, -4],
        pair: Pair([-0.1, 0.1], 7),
        root: Complex { real: 0.5, imaginary: -0.5 },
    };
    let got = world.broadcast_one(if rank == 0 { everything } else { Everything::default() }, 0)?;
    assert_eq!(got, everything);

    // Padding does not travel.
    let packed = world.pack(&[everything; 3])?;
    assert_eq!(packed.len(), 3 * (1 + 4 * 4 + 2 * 4 + 1 + 2 * 8));
    let mut unpacked = [Everything::default(); 3];
    world.unpack(&packed, &mut unpacked)?;
    assert_eq!(unpacked, [everything; 3]);

    // The product of numbers that MPI has no operation for.
    let product = Operation::from_fn(
        |left: &[Complex], right: &mut [Complex]| {
            for (a, b) in left.iter().zip(right) {
                let real = a.real * b.real - a.imaginary * b.imaginary;
                *b = Complex { real, imaginary: a.real * b.imaginary + a.imaginary * b.real };
            }
        },
        true,
    );
    let turned = world.all_reduce_one(Complex { real: 0.0, imaginary: 1.0 }, &product)?;
    if rank == 0 {
        println!("i to the {size} is {} + {}i", turned.real, turned.imaginary.abs());
    }
    Ok(())
}
