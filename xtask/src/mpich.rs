//! Programs built for MPICH, with our library of its ABI (`libmpi.so.12`). The part `mpich` of `cargo xtask test`.
//!
//! MPICH's own mpicc, from its Python package, builds the C programs of `tests/c`; mpi4py is the wheel that its authors publish;
//! the benchmarks are Intel's, from their Python package. What must stay true: everything runs under our mpiexec with our library
//! first in the loader's path, and nothing of it was built with a header of ours.

use std::{collections::BTreeMap, collections::BTreeSet, fmt::Write as _, fs, path::Path};

use crate::{
    ctests,
    mpi::Mpi,
    mpi4py,
    process::Job,
    project::{Fallible, Project},
    python,
    tally::Tally,
};

/// Programs of `tests/c` whose source knows nothing of posthaste.
const PROGRAMS: [&str; 33] = [
    "alltoall",
    "attributes",
    "bad_pt2pt",
    "cancel_send",
    "cart",
    "coll_data",
    "comms",
    "datatypes",
    "dist_graph",
    "errhandlers",
    "every_kind",
    "graph",
    "groups",
    "intercomm",
    "matrix",
    "modes",
    "neighbor",
    "pack",
    "partitioned",
    "probe",
    "pt2pt_sizes",
    "reductions_all",
    "sendrecv",
    "stress",
    "threads",
    "truncate",
    "type_all",
    "type_random",
    "wait_test",
    "win_forms",
    "win_put_get",
    "win_requests",
    "win_types",
];

/// Intel's benchmarks, each with a few of its measurements, short: they check what arrives.
const BENCHMARKS: [(&str, &[&str]); 3] = [
    ("IMB-MPI1", &["PingPong", "Sendrecv", "Allreduce", "Alltoall", "Bcast", "Reduce_scatter", "Barrier"]),
    ("IMB-NBC", &["Ibcast", "Iallreduce", "Ialltoall"]),
    ("IMB-RMA", &["Unidir_put", "Unidir_get", "Accumulate", "Fetch_and_op", "Compare_and_swap"]),
];

/// All of them.
pub(crate) fn run(project: &Project, tally: &mut Tally) {
    let mpich = match Mpi::rival(project, "mpich") {
        Ok(mpich) => mpich,
        Err(complaint) => return tally.test("mpich: its Python package", || Err(complaint)),
    };
    let home = mpich.launcher().parent().and_then(|bin| bin.parent()).unwrap_or(project.target.as_path());
    let library = project.stage.join("mpich/lib");
    tally.test("mpich: names, constants and layouts are those of its header and library", || {
        let header = home.join("include");
        same_names(&home.join("lib/libmpi.so.12"), &library.join("libmpi.so.12"))?;
        same_numbers(project, &header)
    });
    let mut built = Mpi::other_face(project, &home.join("bin/mpicc"), &library);
    // Its programs lie apart from those of other faces.
    built.name = "posthaste for MPICH";
    ctests::run_some(project, &built, &PROGRAMS, tally);
    wheel(project, &built, tally);
    benchmarks(project, &built, tally);
}

/// The functions and variables that a library exports, without extensions that only one implementation has.
fn exported(library: &Path) -> Fallible<BTreeSet<String>> {
    let listed = Job::new("nm").args(["-D", "--defined-only"]).arg(library).succeed()?.stdout;
    let names = listed.lines().filter_map(|line| line.split_whitespace().nth(2));
    Ok(names.filter(|name| name.trim_start_matches('P').starts_with("MPI_")).map(str::to_owned).collect())
}

fn same_names(theirs: &Path, ours: &Path) -> Fallible {
    let (theirs, ours) = (exported(theirs)?, exported(ours)?);
    let missing: Vec<&String> = theirs.difference(&ours).collect();
    if missing.is_empty() && theirs.len() > 1000 {
        Ok(())
    } else {
        Err(format!("of {} names these are missing: {missing:?}", theirs.len()))
    }
}

/// Compiles a program that holds only if our numbers are those of MPICH's header.
fn same_numbers(project: &Project, header: &Path) -> Fallible {
    let path = project.root.join("crates/posthaste-mpich/src/abi/constants.rs");
    let rust = fs::read_to_string(&path).map_err(|e| format!("can't read {}: {e}", path.display()))?;
    let there = fs::read_to_string(header.join("mpi.h")).map_err(|e| format!("{}: {e}", header.display()))?;
    let known: BTreeSet<&str> = there.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut text = String::from("#include <mpi.h>\n#include <stddef.h>\n#include <stdint.h>\n");
    text.push_str(
        "_Static_assert(sizeof(MPI_Comm) == 4 && sizeof(MPI_File) == 8 && sizeof(MPI_Status) == 20, \"\");\n",
    );
    for (field, place) in [
        ("count_lo", 0),
        ("count_hi_and_cancelled", 4),
        ("MPI_SOURCE", 8),
        ("MPI_TAG", 12),
        ("MPI_ERROR", 16),
    ] {
        let _ = writeln!(text, "_Static_assert(offsetof(MPI_Status, {field}) == {place}, \"{field}\");");
    }
    let values: BTreeMap<&str, &str> = rust
        .lines()
        .filter_map(|line| line.trim().strip_suffix(';')?.split_once(" = "))
        .filter_map(|(left, value)| Some((left.split_once(':')?.0, value)))
        .collect();
    // What is a variable or a function there has no number.
    let not_numbers = |name: &str| {
        name.ends_with("DUP_FN")
            || ["MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY", "MPI_T_PVAR_ALL_HANDLES"].contains(&name)
    };
    let mut compared = 0;
    for (name, value) in values.iter().filter(|(name, _)| known.contains(**name) && !not_numbers(name)) {
        let number = value.split_once('(').map_or(*value, |(_, inner)| inner.trim_end_matches(')'));
        let number = number.trim_end_matches("_u32 as i32").replace("usize::MAX", "-1");
        let _ =
            writeln!(text, "_Static_assert((uint32_t)(intptr_t){name} == (uint32_t)({number}), \"{name}\");");
        compared += 1;
    }
    if compared < 280 {
        return Err(format!("only {compared} constants could be compared"));
    }
    let source = project.folder("mpich")?.join("same.c");
    fs::write(&source, text + "int main(void) { return 0; }\n")
        .map_err(|e| format!("{}: {e}", source.display()))?;
    let cc = Job::new("cc").args(["-std=gnu11", "-Wno-pointer-to-int-cast", "-fsyntax-only", "-I"]);
    cc.arg(header).arg(&source).succeed().map(drop)
}

/// mpi4py as it is published: its loader looks for `libmpi.so.12`.
fn wheel(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let name = "mpich: mpi4py's published wheel";
    let published = match python::published(project) {
        Ok(published) => published,
        Err(complaint) => return tally.test(name, || Err(complaint)),
    };
    tally.test(&format!("{name}: the library is ours"), || {
        let code = "from mpi4py import MPI; print(MPI.Get_library_version(), MPI.COMM_WORLD.allreduce(1))";
        let outcome = mpi.mpiexec(3, false).arg(&published.python).args(["-c", code]).succeed()?;
        let right = outcome.stdout.lines().filter(|line| line.contains("posthaste") && line.ends_with(" 3"));
        if right.count() == 3 { Ok(()) } else { Err(outcome.stdout) }
    });
    tally.test(&format!("{name}: beside the library of the standard ABI, on one engine"), || {
        let job = mpi.mpiexec(2, false).arg(&published.python).arg(project.root.join("tests/mpich/both.py"));
        let said = job.arg(project.stage.join("lib/libmpi_abi.so.1")).succeed()?.stdout;
        if said.matches("both agree").count() == 2 { Ok(()) } else { Err(said) }
    });
    // It wants MPIX_C_FLOAT16, which is no type of the standard's nor of ours.
    let without = "test_util_dtlib";
    mpi4py::run_again(project, mpi, &published, (name, 2, without), tally);
    tally.not_run(1, format!("{name}: the module {without}, for MPIX_C_FLOAT16 of MPICH"));
}

fn benchmarks(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let intel = match Mpi::rival(project, "intel") {
        Ok(intel) => intel,
        Err(complaint) => return tally.test("mpich: Intel's Python package", || Err(complaint)),
    };
    let bin = intel.launcher().parent().unwrap_or(project.target.as_path());
    for (program, measurements) in BENCHMARKS {
        tally.test(&format!("mpich: Intel's {program}"), || {
            let job = mpi.mpiexec(2, false).arg(bin.join(program)).args(measurements);
            let short = ["-iter", "20", "-time", "0.2", "-msglog", "0:18"];
            let said = job.args(short).limit(120).succeed()?.stdout;
            for measurement in measurements {
                if !said.contains(&format!("# Benchmarking {measurement}")) {
                    return Err(format!("{measurement} is missing in:\n{said}"));
                }
            }
            Ok(())
        });
    }
}
