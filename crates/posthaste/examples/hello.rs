//! Every rank says who it is: `mpiexec -n 4 target/debug/examples/hello`.

fn main() -> posthaste::Result<()> {
    let universe = posthaste::init()?;
    let world = universe.world();
    println!("hello from rank {} of {}", world.rank(), world.size());
    world.barrier()
}
