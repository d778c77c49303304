//! `mpifort`: see `posthaste_launch::wrapper`.
#![forbid(unsafe_code)]

fn main() {
    std::process::exit(posthaste_launch::wrapper::main(&posthaste_launch::wrapper::FORTRAN));
}
