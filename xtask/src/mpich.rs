//! Programs built for MPICH, with our library of its ABI (`libmpi.so.12`). The part `mpich` of `cargo xtask test`.
//!
//! MPICH's own mpicc, from its Python package, builds the C programs of `tests/c`, and Intel's builds some of them; mpi4py is the wheel
//! that its authors publish; the benchmarks are Intel's, from their Python package. What must stay true: everything runs under our mpiexec with our library
//! first in the loader's path, and nothing of it was built with a header of ours but `posthaste.h`.

mod debian;
mod faces;
mod fortran;
mod header;
mod intel;
mod same;

pub(crate) use debian::optimized as optimized_by_debian;
pub(crate) use header::{extensions, header};
pub(crate) use same::check;

use std::{fs, path::Path};

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
const PROGRAMS: [&str; 45] = [
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
    "from_group_jobs",
    "graph",
    "groups",
    "inter_jobs",
    "intercomm",
    "matrix",
    "meeting_jobs",
    "modes",
    "neighbor",
    "pack",
    "partitioned",
    "probe",
    "pt2pt_sizes",
    "reductions_all",
    "sendrecv",
    "sessions",
    "sessions_world",
    "spawn",
    "spawn_hints",
    "spawn_sessions",
    "stress",
    "threads",
    "truncate",
    "type_all",
    "type_random",
    "wait_test",
    "win_asserts",
    "win_dynamic",
    "win_forms",
    "win_jobs",
    "win_objects",
    "win_put_get",
    "win_requests",
    "win_types",
];

/// Tests of mpi4py's that go through all kinds of numbers of NumPy, and take MPIX_C_FLOAT16 of MPICH's header for its float16: a type besides
/// MPI_REAL2, which contents of datatypes have to name, and which the engine, whose types are the standard's, does not have.
const FLOAT16: (&str, &[&str]) = (
    "test_util_dtlib",
    &[
        "testBasic",
        "testMissingNumPy",
        "testStruct1",
        "testStruct2",
        "testStruct4",
        "testStruct5",
        "testSubarray1",
    ],
);

/// Those that our own compiler builds, too.
const OURS: [&str; 6] = ["attributes", "datatypes", "dist_graph", "errhandlers", "sendrecv", "win_put_get"];

/// Programs that use `posthaste.h`, too.
const WITH_MORE: [&str; 4] = ["handlers", "handlers_kinds", "handlers_own", "continuations"];

/// All of them; `is_deep`: whole what the gate samples.
pub(crate) fn run(project: &Project, is_deep: bool, tally: &mut Tally) {
    let mpich = match Mpi::rival(project, "mpich") {
        Ok(mpich) => mpich,
        Err(complaint) => return tally.test("mpich: its Python package", || Err(complaint)),
    };
    let home = mpich.launcher().parent().and_then(|bin| bin.parent()).unwrap_or(project.target.as_path());
    let library = project.stage.join("mpich/lib");
    for (what, compare) in same::COMPARISONS {
        tally.test(&format!("mpich: {what}"), || compare(project, home));
    }
    let built = for_mpich(project, &home.join("bin/mpicc"), &library);
    ctests::run_some(project, &built, &PROGRAMS, tally);
    match with_more(project, &home.join("bin/mpicc"), &library) {
        Ok(with_more) => ctests::run_some(project, &with_more, &WITH_MORE, tally),
        Err(complaint) => tally.test("mpich: a compiler that finds posthaste.h", || Err(complaint)),
    }
    let ours = project.stage.join("bin/mpicc");
    for (what, compiler, options) in [
        ("its own mpicc", home.join("bin/mpicc"), &[][..]),
        ("mpicc -abi=mpich, which has mpi-ext.h, too", ours, &["-abi=mpich", "-include", "mpi-ext.h"]),
    ] {
        tally.test(&format!("mpich: a rank is lost, and others go on, by {what}"), || {
            lost(project, &built, &compiler, options)
        });
    }
    second_prefix(project, home, tally);
    faces::run(project, &built, tally);
    debian::run(project, &built, is_deep, tally);
    wheel(project, &built, is_deep, tally);
    intel::run(project, &built, tally);
}

/// Programs that this compiler makes, apart from those of other faces.
fn for_mpich(project: &Project, compiler: &Path, library: &Path) -> Mpi {
    let mut mpi = Mpi::other_face(project, compiler, library);
    mpi.name = "posthaste for MPICH";
    mpi
}

/// Programs that our own compiler builds for this ABI, by the option and in the prefix.
fn second_prefix(project: &Project, home: &Path, tally: &mut Tally) {
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
    version(project, home, tally);
    tally.test("mpich: routines of Fortran in capital letters and without an underscore", || {
        let program = project.folder("mpich")?.join("capitals");
        let job = Job::new(stage.join("bin/mpicc")).args(["-abi=mpich", "-Wall", "-Wextra", "-Werror"]);
        let job = job.arg(project.root.join("tests/mpich/capitals.c")).arg("-o").arg(&program);
        job.arg("-L").arg(stage.join("mpich/lib")).arg("-l:libmpifort.so.12").succeed()?;
        let said = Mpi::posthaste(project).mpiexec(3, false).arg(&program).succeed()?.stdout;
        if said.matches("all names are there").count() == 3 { Ok(()) } else { Err(said) }
    });
    tally.test("mpich: mpifort says that it builds for the standard ABI", || {
        let said = Job::new(stage.join("bin/mpifort")).args(["-abi=mpich", "a.f90"]).run()?;
        let right = !said.ok() && said.stderr.contains("mpifort builds for the standard ABI");
        if right { Ok(()) } else { Err(said.stderr) }
    });
}

/// A program that goes on without a rank, with the functions that MPICH's own header has for that.
fn lost(project: &Project, mpi: &Mpi, compiler: &Path, options: &[&str]) -> Fallible {
    let program = project.folder("mpich")?.join("lost");
    let job = Job::new(compiler).args(options).args(["-Wall", "-Wextra", "-Werror"]).arg("-o").arg(&program);
    job.arg(project.root.join("tests/mpich/lost.c")).succeed()?;
    let outcome = mpi.plain().args(["-disable-auto-cleanup", "-bind-to", "none", "-n", "4"]).arg(&program);
    let outcome = outcome.limit(60).run()?;
    // As ever, mpiexec ends with the code of the lost one.
    let right = outcome.code() == 137 && outcome.stdout.matches("3 are left").count() == 3;
    if right { Ok(()) } else { Err(outcome.complaint()) }
}

/// A program that asks the library which ABI it has, built as C and as C++ by our compilers with the option, and by MPICH's for C++.
fn version(project: &Project, home: &Path, tally: &mut Tally) {
    let ours = project.stage.join("bin");
    for (what, compiler, options, language) in [
        ("mpicc -abi=mpich", ours.join("mpicc"), &["-abi=mpich"][..], "c"),
        ("mpicxx -abi=mpich", ours.join("mpicxx"), &["-abi=mpich"], "c++"),
        ("its own mpicxx", home.join("bin/mpicxx"), &[], "c++"),
    ] {
        tally.test(
            &format!("mpich: {what}, and MPI_Abi_get_version says that it is not the standard's"),
            || {
                let program = project.folder("mpich")?.join(what.replace(' ', "-"));
                let source = project.root.join("tests/mpich/version.c");
                let job = Job::new(&compiler).args(options).args(["-Wall", "-Wextra", "-Werror"]);
                job.args(["-x", language]).arg(source).arg("-o").arg(&program).succeed()?;
                let library = project.stage.join("mpich/lib");
                let mpi = for_mpich(project, &compiler, &library);
                let said = mpi.mpiexec(2, false).arg(&program).succeed()?.stdout;
                if said.matches("no version of the standard ABI").count() == 2 { Ok(()) } else { Err(said) }
            },
        );
    }
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

/// mpi4py as it is published: its loader looks for `libmpi.so.12`.
fn wheel(project: &Project, mpi: &Mpi, is_deep: bool, tally: &mut Tally) {
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
    // The published wheel uses the functions for programs that survive a loss with Open MPI only.
    let survival = "test_ulfm";
    let without = mpi4py::Without { module: survival, of_kinds: FLOAT16 };
    mpi4py::run_again(project, mpi, &published, (name, without), is_deep, tally);
    let (module, tests) = FLOAT16;
    let why = format!("{name}: of {module} {}, with MPIX_C_FLOAT16 of MPICH", tests.join(", "));
    tally.not_run(tests.len(), why);
    tally.not_run(1, format!("{name}: the module {survival}, which it is not built for"));
}
