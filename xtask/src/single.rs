//! Builds with a single method (features of Cargo): each compiles without a complaint, works, and says what it lacks.
//! What must stay true: these libraries are made aside, so that what is staged has all methods.

use std::{fs, path::PathBuf};

use crate::{
    copies, ctests,
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project, QUICKLY},
    tally::Tally,
};

/// The crates that have the features; posthaste-core is built for them.
const CRATES: [&str; 6] = ["-p", "posthaste", "-p", "posthaste-abi", "-p", "posthaste-launch"];
const WAYS: [&str; 2] = ["shm", "tcp"];

pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    for way in WAYS {
        tally.test(&format!("builds: with {way} alone, no warnings"), || build(project, way));
        tally.test(&format!("builds: with {way} alone, two ranks"), || works(project, mpi, way));
    }
    tally.test("builds: without TCP, another node", || far(project, mpi));
    tally.test("builds: without TCP, a setting asks for it", || asked_for(project, mpi));
    tally.test("builds: posthaste-info says what lacks", || missing_is_said(project));
}

/// Where they are built.
fn aside(project: &Project) -> Fallible<PathBuf> {
    project.folder("single")
}

/// Builds everything. What is left unused without the other methods is a mistake.
fn build(project: &Project, way: &str) -> Fallible {
    let options = ["build", "--quiet", "--no-default-features", "--features", way];
    let job = project.cargo(&options).args(CRATES).args(QUICKLY);
    job.arg("--target-dir").arg(aside(project)?).env("RUSTFLAGS", "-D warnings").succeed().map(drop)
}

/// Runs a program with the library.
fn works(project: &Project, mpi: &Mpi, way: &str) -> Fallible {
    let aside = aside(project)?;
    let folder = folder(project, way)?;
    let library = folder.join("libmpi_abi.so.1");
    fs::copy(aside.join("debug/libmpi_abi.so"), &library)
        .map_err(|e| format!("can't write {}: {e}", library.display()))?;
    let ring = ctests::helper(project, mpi, "", "ring")?;
    let job = mpi.mpiexec(2, false).arg("-counters").arg(ring).env("LD_LIBRARY_PATH", &folder);
    let said = job.succeed()?.all();
    let counter = format!("messages.eager.{way}");
    if copies::counted(&said, &counter) { Ok(()) } else { Err(format!("no {counter} was counted:\n{said}")) }
}

/// A rank that only the method that lacks would reach.
fn far(project: &Project, mpi: &Mpi) -> Fallible {
    let hello = ctests::helper(project, mpi, "", "hello")?;
    let job = mpi.plain().args(["-n", "1", "-env", "POSTHASTE_NODE", "a"]).arg(&hello);
    let job = job.args([":", "-n", "1", "-env", "POSTHASTE_NODE", "b"]).arg(&hello);
    let outcome = job.env("LD_LIBRARY_PATH", folder(project, "shm")?).run()?;
    let sentence = "is on another node than rank";
    let reason = "(POSTHASTE_METHODS admits shm, and this build of posthaste has shm)";
    let refused = !outcome.ok() && outcome.stderr.contains(sentence) && outcome.stderr.contains(reason);
    if refused { Ok(()) } else { Err(outcome.complaint()) }
}

fn asked_for(project: &Project, mpi: &Mpi) -> Fallible {
    let hello = ctests::helper(project, mpi, "", "hello")?;
    let job = mpi.mpiexec(2, false).arg(hello).env("POSTHASTE_METHODS", "tcp");
    let outcome = job.env("LD_LIBRARY_PATH", folder(project, "shm")?).run()?;
    let sentence = "POSTHASTE_METHODS is \"tcp\", expected some of shm: this build of posthaste has no tcp";
    let refused = !outcome.ok() && outcome.stderr.contains(sentence);
    if refused { Ok(()) } else { Err(outcome.complaint()) }
}

fn missing_is_said(project: &Project) -> Fallible {
    // The last of the ways, whose launcher is there.
    let info = Job::new(aside(project)?.join("debug/posthaste-info")).succeed()?;
    let says = |line: &str| info.stdout.lines().any(|said| said.trim() == line);
    let lack = says("shm     not in this build") && says("plugin  not in this build");
    if lack && info.stdout.contains("tcp     usable") { Ok(()) } else { Err(info.stdout) }
}

fn folder(project: &Project, way: &str) -> Fallible<PathBuf> {
    project.folder(&format!("single/{way}"))
}
