//! Threads under valgrind's helgrind, which sees two threads at the same memory without a lock between them. The part
//! `races` of `cargo xtask test`.
//!
//! The library is built aside with `--cfg helgrind`, which gives each VCI a lock that helgrind knows; what it may
//! report all the same stands in `tests/valgrind/races.supp`, each with its reason. What must stay true: a race that is
//! there is found, or the proof is worth nothing.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::{
    ctests,
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project, QUICKLY},
    tally::Tally,
};

/// The exit code of a program in which helgrind has found something.
const FOUND: i32 = 9;

/// The proofs: no race where there is none, a race where there is one.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    if !Job::new("valgrind").arg("--version").run().is_ok_and(|outcome| outcome.ok()) {
        return tally.not_run(3, "races between threads: valgrind is not installed (apt install valgrind)");
    }
    let library = match build(project) {
        Ok(library) => library,
        Err(complaint) => return tally.test("races: build", || Err(complaint)),
    };
    tally.test("races: none between 8 threads in each of 2 ranks", || {
        let program = ctests::helper(project, mpi, "", "torture")?;
        helgrind(project, mpi, &library, 2).arg(program).args(["1", "10"]).succeed().map(drop)
    });
    tally.test("races: none in collective operations of 4 threads", || {
        let program = ctests::helper(project, mpi, "", "threads")?;
        helgrind(project, mpi, &library, 2).arg(program).succeed().map(drop)
    });
    tally.test("races: one of the program itself is found", || {
        let program = ctests::helper(project, mpi, "fault", "race")?;
        let outcome = helgrind(project, mpi, &library, 1).arg(program).run()?;
        let found = outcome.code() == FOUND && outcome.all().contains("Possible data race");
        if found { Ok(()) } else { Err(outcome.complaint()) }
    });
}

/// The folder with a library in which helgrind sees the locks.
pub(crate) fn build(project: &Project) -> Fallible<PathBuf> {
    let folder = project.folder("helgrind")?;
    let job = project.cargo(&["build", "--quiet", "-p", "posthaste-abi"]).args(QUICKLY);
    job.arg("--target-dir").arg(&folder).env("RUSTFLAGS", "--cfg helgrind").limit(900).succeed()?;
    let library = folder.join("debug");
    let name = library.join("libmpi_abi.so.1");
    if !name.exists() {
        symlink("libmpi_abi.so", &name)
            .map_err(|e| format!("can't make the link {}: {e}", name.display()))?;
    }
    Ok(library)
}

fn helgrind(project: &Project, mpi: &Mpi, library: &Path, ranks: usize) -> Job {
    let known = project.root.join("tests/valgrind/races.supp");
    mpi.mpiexec(ranks, false)
        .env("LD_LIBRARY_PATH", library)
        .args(["valgrind", "--tool=helgrind", "--quiet", "--history-level=approx"])
        .arg(format!("--error-exitcode={FOUND}"))
        .arg(format!("--suppressions={}", known.display()))
        .limit(240)
}
