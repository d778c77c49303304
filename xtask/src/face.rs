//! C programs with another face of the library (`tests/face`): the same rooms over an ABI with other handles, other numbers
//! and another layout of `MPI_Status`. The part `face` of `cargo xtask test`.
//!
//! What must stay true: the programs are those that run with the standard ABI, so whatever they check holds in both.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use crate::{
    abi_check, ctests,
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
};

/// Programs of `tests/c` that look at most kinds of numbers: special ranks and tags, fields of statuses, many requests at once,
/// derived datatypes and what they were built from, operations, error classes and handlers, attributes, groups.
const PROGRAMS: [&str; 24] = [
    "attribute_codes",
    "attributes",
    "bad_comm",
    "bad_request",
    "bad_pt2pt",
    "cancel_send",
    "cart",
    "comms",
    "datatypes",
    "dist_graph",
    "errhandlers",
    "graph",
    "groups",
    "intercomm",
    "modes",
    "neighbor",
    "partitioned",
    "probe",
    "reductions",
    "sendrecv",
    "truncate",
    "type_all",
    "type_f90",
    "wait_test",
];

/// Builds the library and its header, and runs the programs.
pub(crate) fn run(project: &Project, tally: &mut Tally) {
    let mpi = match install(project) {
        Ok(mpi) => mpi,
        Err(complaint) => return tally.test("face: another ABI, library and header", || Err(complaint)),
    };
    tally.test("face: its numbers and layouts are others than the standard's", || differs(project, &mpi));
    ctests::run_some(project, &mpi, &PROGRAMS, tally);
}

/// Puts the library, its header and a compiler for it into a folder of their own.
pub(crate) fn install(project: &Project) -> Fallible<Mpi> {
    let home = project.folder("face")?;
    let [include, lib, bin] = ["include", "lib", "bin"].map(|name| project.folder(&format!("face/{name}")));
    let (include, lib, bin) = (include?, lib?, bin?);
    project.build_debug()?;
    copy(&project.target.join("debug/libmpi_face.so"), &lib.join("libmpi_face.so"))?;
    write_if_new(&include.join("mpi.h"), &read(&project.root.join("tests/face/include/mpi.h"))?)?;
    write_if_new(&include.join("face.h"), &header(project)?)?;
    let compiler = bin.join("mpicc");
    let home = home.display();
    let script = format!("#!/bin/sh\nexec cc -I{home}/include \"$@\" -L{home}/lib -lmpi_face\n");
    write_if_new(&compiler, &script)?;
    Job::new("chmod").arg("+x").arg(&compiler).succeed()?;
    Ok(Mpi::other_face(project, &compiler, &lib))
}

/// The constants, callbacks and functions: all that the standard names, and of the constants those that the face has.
fn header(project: &Project) -> Fallible<String> {
    let tables = project.root.join("crates/posthaste-abi/abi");
    let rust = read(&project.root.join("tests/face/src/abi/constants.rs"))?;
    let values: BTreeMap<&str, &str> = rust
        .lines()
        .filter_map(|line| line.trim().strip_suffix(';')?.split_once(" = "))
        .filter_map(|(left, value)| Some((left.split_once(':')?.0, value)))
        .collect();
    let mut text = String::from("/* Made by `cargo xtask test --only face`. */\n");
    for row in abi_check::table(&tables.join("constants.csv"))? {
        let Some(value) = values.get(row[0].as_str()) else { continue };
        let bare = value.split_once('(').map_or(*value, |(_, inner)| inner.trim_end_matches(')'));
        let bare = bare.replace("usize::MAX", "-1");
        let _ = match row[1].as_str() {
            "define" | "int" => writeln!(text, "#define {} ({bare})", row[0]),
            kind => writeln!(text, "#define {} (({kind})({bare}))", row[0]),
        };
    }
    for (table, definition) in [("callbacks.csv", "typedef "), ("functions.csv", "")] {
        for row in abi_check::table(&tables.join(table))? {
            let parameters = if row[2].is_empty() { "void" } else { &row[2] };
            let _ = writeln!(text, "{definition}{} {}({parameters});", row[1], row[0]);
        }
    }
    Ok(text)
}

/// Compiles a program that holds only if the two headers have nothing in common that could make the other programs pass with
/// the numbers of the standard ABI.
fn differs(project: &Project, mpi: &Mpi) -> Fallible {
    let standard = abi_check::table(&project.root.join("crates/posthaste-abi/abi/constants.csv"))?;
    let mut text = String::from("#include <mpi.h>\n#include <stddef.h>\n");
    text.push_str("_Static_assert(sizeof(MPI_Comm) == 4 && sizeof(MPI_Status) == 20, \"sizes\");\n");
    text.push_str("_Static_assert(offsetof(MPI_Status, MPI_SOURCE) != 0, \"MPI_SOURCE\");\n");
    let special = ["MPI_ANY_SOURCE", "MPI_ANY_TAG", "MPI_PROC_NULL", "MPI_ROOT", "MPI_UNDEFINED"];
    for row in &standard {
        let (name, kind) = (row[0].as_str(), row[1].as_str());
        let is_handle = kind.starts_with("MPI_") && !kind.ends_with('*') && kind != "MPI_Offset";
        let is_class = name.starts_with("MPI_ERR_") && name != "MPI_ERR_LASTCODE";
        if !name.starts_with("MPI_T_") && (is_handle || is_class || special.contains(&name)) {
            let _ = writeln!(text, "_Static_assert((long){name} != (long)({}), \"{name}\");", row[2]);
        }
    }
    let source = project.folder("face")?.join("differs.c");
    write_if_new(&source, &format!("{text}int main(void) {{ return 0; }}\n"))?;
    mpi.compile(std::slice::from_ref(&source), &source.with_extension(""), &["-std=c11", "-Wall", "-Werror"])
}

fn read(path: &Path) -> Fallible<String> {
    fs::read_to_string(path).map_err(|e| format!("can't read {}: {e}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Fallible {
    fs::copy(from, to).map(drop).map_err(|e| format!("can't write {}: {e}", to.display()))
}

/// Programs are compiled again when a header is newer.
fn write_if_new(path: &Path, text: &str) -> Fallible {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(|e| format!("can't write {}: {e}", path.display()))
}
