//! `mpiexec`, also installed as `mpirun`: see `posthaste_launch::mpiexec`.
#![forbid(unsafe_code)]

fn main() {
    std::process::exit(posthaste_launch::mpiexec::main());
}
