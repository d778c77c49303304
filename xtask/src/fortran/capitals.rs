//! The routines under the names of compilers with other habits: in capital letters, and without an underscore behind. Only
//! MPICH's library has them.

use std::fmt::Write as _;

use super::table::Routine;

const START: &str = "\
//! Written by `cargo xtask fortran`; do not edit.
//!
//! The routines under the names of compilers that write them in capital letters, or put no underscore behind.

use crate::export::elsewhere;

elsewhere! {
";

/// Routines that MPI-3.0 removed, and one that the table does not have.
const BESIDES: [&str; 11] = [
    "address",
    "errhandler_create",
    "errhandler_get",
    "errhandler_set",
    "f_sync_reg",
    "type_extent",
    "type_hindexed",
    "type_hvector",
    "type_lb",
    "type_struct",
    "type_ub",
];

/// What programs give to MPI, which has no name with P.
const CALLBACKS: [&str; 13] = [
    "comm_dup_fn",
    "comm_null_copy_fn",
    "comm_null_delete_fn",
    "conversion_fn_null",
    "dup_fn",
    "null_copy_fn",
    "null_delete_fn",
    "type_dup_fn",
    "type_null_copy_fn",
    "type_null_delete_fn",
    "win_dup_fn",
    "win_null_copy_fn",
    "win_null_delete_fn",
];

pub(super) fn capitals(table: &[Routine]) -> String {
    let mut text = START.to_string();
    let of_table = table.iter().filter(|routine| !routine.is_absent && !routine.is_large());
    let of_table = of_table.map(|routine| routine.name["MPI_".len()..].to_lowercase());
    for stem in of_table.chain(BESIDES.map(String::from)) {
        for start in ["mpi_", "pmpi_"] {
            line(&mut text, &format!("{start}{stem}"));
        }
    }
    CALLBACKS.iter().for_each(|stem| line(&mut text, &format!("mpi_{stem}")));
    text + "}\n"
}

fn line(text: &mut String, name: &str) {
    let _ = writeln!(text, "    \"{name}\" \"{}\"", name.to_uppercase());
}
