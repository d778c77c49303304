//! The ABI of this face: all that is written down in the header of a C library. For this crate the standard ABI (MPI-5.0
//! chapter 20).
//!
//! A face is `types` (handles, `MPI_Status`), `constants` and `status` (what the fields of a status say); everything else
//! of this crate is written against their names, contains no number of an ABI, and is compiled once for each face
//! (`docs/decisions.md`). `define` and `pointer` are shared.

pub(crate) mod define;
pub mod types;
pub mod constants;
pub(crate) mod status;
pub(crate) mod pointer;

/// The ABI in words.
pub(crate) const NAME: &str = "the standard ABI 1.0";
