//! The engine's numbers, names and classes as this face's, and back. Here alone the two meet.
//!
//! What must stay true: where the numbers are the same, as in the standard ABI, a conversion compiles to nothing; where
//! they are not, a number of the program that means nothing never becomes one of the engine that means something.

pub(crate) mod ranks;
pub(crate) mod errors;
pub(crate) mod types;
pub(crate) mod status;
