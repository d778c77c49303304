//! Proofs by random input: datatypes against a naive type map, through segments and through real transfers, and
//! bytes from a fuzzer as types and as packets.
//!
//! - `oracle`: what MPI-5.0 §5.1 says about a type, element by element; recipes for types; guarded memory.
//! - `segments`: packing and unpacking in pieces.
//! - `pair`: two engines in one process, over the simulated network, shared memory, or one that talks to itself;
//!   `transfers`: messages between them.
//! - `fuzz`: the targets of the fuzzer; CONTRIBUTING.md says how to let them run for long.
//!
//! A failing test prints the smallest input that fails, and the seed.

mod fuzz;
mod oracle;
mod pair;
mod segments;
mod transfers;
