//! Programs built for MPICH, with our library of its ABI (`libmpi.so.12`). The part `mpich` of `cargo xtask test`.
//!
//! MPICH's own mpicc, from its Python package, builds the C programs of `tests/c`; mpi4py is the wheel that its authors publish;
//! the benchmarks are Intel's, from their Python package. What must stay true: everything runs under our mpiexec with our library
//! first in the loader's path, and nothing of it was built with a header of ours but `posthaste.h`.

mod debian;
mod header;

pub(crate) use header::header;

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

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

/// Those that our own compiler builds, too.
const OURS: [&str; 6] = ["attributes", "datatypes", "dist_graph", "errhandlers", "sendrecv", "win_put_get"];

/// Programs that use `posthaste.h`, too.
const WITH_MORE: [&str; 4] = ["handlers", "handlers_kinds", "handlers_own", "continuations"];

/// Intel's benchmarks, each with a few of its measurements, short. As Intel builds them they do not look at what arrives: each has
/// to begin every measurement and to end well.
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
        same_names(&home.join("lib/libmpi.so.12"), &library.join("libmpi.so.12"))?;
        same_numbers(project, &home.join("include"))
    });
    tally.test(
        "mpich: our header of its ABI has its numbers and declares the functions as its own does",
        || {
            let ours = project.stage.join("mpich/include");
            same_numbers(project, &ours)?;
            same_functions(project, &home.join("include"), &ours)
        },
    );
    let built = for_mpich(project, &home.join("bin/mpicc"), &library);
    ctests::run_some(project, &built, &PROGRAMS, tally);
    match with_more(project, &home.join("bin/mpicc"), &library) {
        Ok(with_more) => ctests::run_some(project, &with_more, &WITH_MORE, tally),
        Err(complaint) => tally.test("mpich: a compiler that finds posthaste.h", || Err(complaint)),
    }
    second_prefix(project, tally);
    debian::run(project, &built, tally);
    wheel(project, &built, tally);
    benchmarks(project, &built, tally);
}

/// Programs that this compiler makes, apart from those of other faces.
fn for_mpich(project: &Project, compiler: &Path, library: &Path) -> Mpi {
    let mut mpi = Mpi::other_face(project, compiler, library);
    mpi.name = "posthaste for MPICH";
    mpi
}

/// Programs that our own compiler builds for this ABI, by the option and in the prefix.
fn second_prefix(project: &Project, tally: &mut Tally) {
    let stage = &project.stage;
    let mut ours = for_mpich(project, &stage.join("mpich/bin/mpicc"), &stage.join("mpich/lib"));
    ours.name = "posthaste for MPICH by its own header";
    ctests::run_some(project, &ours, &OURS, tally);
    tally.test("mpich: mpicc -abi=mpich links the library of that ABI and no other", || {
        let program = project.folder("mpich")?.join("linked");
        let source = project.root.join("tests/c/sendrecv.c");
        let job = Job::new(stage.join("bin/mpicc")).args(["-abi=mpich", "-o"]).arg(&program).arg(source);
        job.succeed()?;
        let needed = Job::new("readelf").arg("-d").arg(&program).succeed()?.stdout;
        if needed.contains("[libmpi.so.12]") && !needed.contains("libmpi_abi") { Ok(()) } else { Err(needed) }
    });
    tally.test("mpich: mpifort says that it builds for the standard ABI", || {
        let said = Job::new(stage.join("bin/mpifort")).args(["-abi=mpich", "a.f90"]).run()?;
        let right = !said.ok() && said.stderr.contains("mpifort builds for the standard ABI");
        if right { Ok(()) } else { Err(said.stderr) }
    });
}

/// MPICH's compiler with the header of what posthaste has besides.
fn with_more(project: &Project, mpicc: &Path, library: &Path) -> Fallible<Mpi> {
    let compiler = project.folder("mpich")?.join("mpicc");
    let include = project.stage.join("mpich/include");
    // Behind MPICH's own folder, whose mpi.h ours must not hide.
    let script = format!("#!/bin/sh\nexec {} -idirafter {} \"$@\"\n", mpicc.display(), include.display());
    fs::write(&compiler, script).map_err(|e| format!("{}: {e}", compiler.display()))?;
    Job::new("chmod").arg("+x").arg(&compiler).succeed()?;
    Ok(for_mpich(project, &compiler, library))
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

/// Compiles a program that holds only if our numbers are those of a header of MPICH's ABI.
fn same_numbers(project: &Project, header: &Path) -> Fallible {
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
    let constants = header::constants(&project.root)?;
    let numbers = constants.iter().filter(|(name, ..)| known.contains(name.as_str()));
    let mut compared = 0;
    for (name, _, value) in numbers.filter(|(name, ..)| !header::is_no_number(name)) {
        let number = header::number(value);
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

/// Compiles MPICH's declarations behind our header, which a compiler takes only where they agree.
fn same_functions(project: &Project, theirs: &Path, ours: &Path) -> Fallible {
    let source = project.folder("mpich")?.join("declared.c");
    let put = |text: &str| fs::write(&source, text).map_err(|e| format!("{}: {e}", source.display()));
    put("#include <mpi.h>\n")?;
    let expanded = Job::new("cc").args(["-E", "-P", "-I"]).arg(theirs).arg(&source).succeed()?.stdout;
    let mut text = String::from("#include <mpi.h>\n");
    let mut compared = 0;
    for declaration in expanded.split(';').map(|declaration| declaration.replace('\n', " ")) {
        let declaration = declaration.trim();
        let head = declaration.split_once('(').map_or("", |(head, _)| head);
        let name = head.rsplit(' ').next().unwrap_or_default();
        let is_of_mpi = name.trim_start_matches('P').starts_with("MPI_") && !name.starts_with("MPIX");
        // Both read the low half of the count of these.
        let differs = name.ends_with("Psend_init") || name.ends_with("Precv_init");
        if is_of_mpi && !differs && !head.contains(['{', '*', '=']) && !head.starts_with("typedef") {
            let plain = declaration.split("__attribute__").next().unwrap_or_default();
            let _ = writeln!(text, "{plain};");
            compared += 1;
        }
    }
    put(&text)?;
    if compared < 1200 {
        return Err(format!("only {compared} functions could be compared"));
    }
    let cc = Job::new("cc").args(["-std=gnu11", "-fsyntax-only", "-I"]);
    cc.arg(ours).arg(&source).succeed().map(drop)
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
    let types = "test_util_dtlib";
    // The published wheel uses the functions for programs that survive a loss with Open MPI only.
    let survival = "test_ulfm";
    mpi4py::run_again(project, mpi, &published, (name, 2, &[types, survival]), tally);
    tally.not_run(1, format!("{name}: the module {types}, for MPIX_C_FLOAT16 of MPICH"));
    tally.not_run(1, format!("{name}: the module {survival}, which it is not built for"));
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
