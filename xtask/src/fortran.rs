//! The Fortran interface, from the table of the C interface and `abi/fortran.csv` of posthaste-fortran. `cargo xtask fortran`
//! writes the routines of the library in Rust; an installation gets `mpif.h` and the sources of the modules `mpi` and
//! `mpi_f08`, which `mpifort` compiles for the compiler at hand.
//!
//! What must stay true: what is committed is what would be written, which the part `conformance` of the tests checks; a routine
//! that the table cannot describe is written by hand in posthaste-fortran, and the table says so.

mod called;
mod capitals;
mod fixed;
mod library;
mod modules;
mod table;
mod tests;

pub(crate) use called::check as check_called;
pub(crate) use fixed::CELLS;
pub(crate) use tests::{COUNTED, run as tests, said};

use std::{fs, path::Path};

use crate::project::{Fallible, Project};

const C: &str = "crates/posthaste-fortran/src/c.rs";
const ROUTINES: &str = "crates/posthaste-fortran/src/routines.rs";
const CAPITALS: &str = "crates/posthaste-mpich-fortran/src/capitals.rs";

/// What is committed.
fn rust(root: &Path) -> Fallible<[(&'static str, String); 3]> {
    let table = table::read(root)?;
    Ok([
        (C, library::declarations(&table)),
        (ROUTINES, library::routines(&table)),
        (CAPITALS, capitals::capitals(&table)),
    ])
}

/// What is installed below `include`.
pub(crate) fn sources(root: &Path) -> Fallible<[(&'static str, String); 4]> {
    let table = table::read(root)?;
    let constants = modules::Constants::read(root)?;
    Ok([
        ("mpif.h", modules::header(&constants)),
        ("fortran/mpi_f08_types.f90", modules::types()),
        ("fortran/mpi.f90", modules::mpi(&table, &constants)),
        ("fortran/mpi_f08.f90", modules::mpi_f08(&table, &constants)),
    ])
}

/// Writes the routines.
pub(crate) fn write(project: &Project) -> Fallible {
    for (file, text) in rust(&project.root)? {
        let path = project.root.join(file);
        fs::write(&path, text).map_err(|e| format!("can't write {}: {e}", path.display()))?;
    }
    Ok(())
}

/// They are what would be written.
pub(crate) fn check(project: &Project) -> Fallible {
    for (file, wanted) in rust(&project.root)? {
        if fs::read_to_string(project.root.join(file)).unwrap_or_default() != wanted {
            return Err(format!("{file} is out of date; write it anew with `cargo xtask fortran`"));
        }
    }
    Ok(())
}
