//! Programs that nobody here wrote, fetched by the ordinary package clients, built with nothing but our `bin` in PATH,
//! and run with results that are compared as numbers. The part `programs` of `cargo xtask test` has those that build in
//! a minute or so; `cargo xtask programs` also runs the deeper tier.
//!
//! Each program is one file with a [`Program`]; [`ALL`] lists them. mpi4py and the Rust crate `mpi` have parts of their
//! own (`mpi4py`, `rsmpi`). What was tried, and with what result, stands in `docs/programs.md`. What must stay true: all
//! that is fetched lies under `target/programs`; a program counts by its numbers, not by its exit code alone; what does
//! not run here is counted and says why.

mod archive;
mod arpack;
mod espresso;
mod fftw;
mod hpcc;
mod hypre;
mod lammps;
mod mpich;
mod mumps;
mod netpipe;
mod numbers;
mod scotch;
mod site;

use std::{path::Path, time::Instant};

use crate::{
    packages::{self, Package, Proof},
    process::Job,
    project::{Fallible, Project},
    tally::{Tally, show},
};
use archive::Archive;
use site::{RANKS, Ranks, Site};

/// In which order they run, quick ones first.
const ALL: [&Program; 12] = [
    &netpipe::PROGRAM,
    &mpich::RMA,
    &hpcc::PROGRAM,
    &fftw::PROGRAM,
    &scotch::PROGRAM,
    &mumps::PROGRAM,
    &arpack::PROGRAM,
    &mpich::fortran::PROGRAM,
    &lammps::PROGRAM,
    &espresso::PROGRAM,
    &hypre::PROGRAM,
    &mpich::PROGRAM,
];

/// A program of other people.
#[derive(Debug)]
struct Program {
    /// As it is called on the command line and in the results.
    name: &'static str,
    tier: Tier,
    /// Debian's source package that carries it.
    source: &'static str,
    /// What of the archive is unpacked, as patterns of tar; empty: all.
    parts: &'static [&'static str],
    /// Debian packages that its build needs, by their names in [`PACKAGES`].
    needs: &'static [&'static str],
    /// A shell script that builds it, run in the unpacked source. `$JOBS` says how many jobs make may run.
    build: &'static str,
    /// How many tests it has, for when none of them can be run.
    tests: usize,
    /// Runs it and compares.
    check: fn(&Site, &mut Tally),
}

/// When a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tier {
    /// In every `cargo xtask test`.
    Gate,
    /// On demand: it takes minutes to build or to run.
    Deep,
}

/// What the builds need beyond a C and a C++ compiler.
pub(crate) const PACKAGES: &[Package] = &[
    row("make", Proof::Program("make"), "other people's programs: their makefiles"),
    row("xz-utils", Proof::Program("xz"), "other people's programs: their archives"),
    row("g++", Proof::Program("c++"), "LAMMPS (deeper tier)"),
    row("perl", Proof::Program("perl"), "the build of MPICH's tests"),
    row("gfortran", Proof::Program("gfortran"), "PARPACK, MPICH's tests in Fortran, MUMPS, Quantum ESPRESSO"),
    row(
        "libopenblas-dev",
        Proof::Header("cblas.h"),
        "HPC Challenge, MUMPS, PARPACK, Quantum ESPRESSO: BLAS and LAPACK",
    ),
    row("zlib1g-dev", Proof::Header("zlib.h"), "PT-Scotch: compressed graphs"),
    row("bison", Proof::Program("bison"), "PT-Scotch: the parser of its strategies"),
    row("flex", Proof::Program("flex"), "PT-Scotch: the parser of its strategies"),
];

const fn row(name: &'static str, proof: Proof, why: &'static str) -> Package {
    Package { name, proof, parts: &["programs"], why }
}

/// The programs of the gate, or, `deep`, all of them, as a part of `cargo xtask test`.
pub(crate) fn run(project: &Project, deep: bool, tally: &mut Tally) {
    if deep {
        return each(project, &ALL, tally);
    }
    let quick: Vec<&Program> = ALL.into_iter().filter(|program| program.tier == Tier::Gate).collect();
    let longer: Vec<&str> =
        ALL.iter().filter(|program| program.tier == Tier::Deep).map(|program| program.name).collect();
    each(project, &quick, tally);
    show(&format!(
        "      more programs, which take longer: cargo xtask programs --all ({})",
        longer.join(" ")
    ));
}

/// `cargo xtask programs`: the named ones, all, or those of the gate.
pub(crate) fn command(project: &Project, names: &[String], all: bool, install: bool) -> Fallible<bool> {
    let known = |name: &String| ALL.iter().any(|program| program.name == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let names: Vec<&str> = ALL.iter().map(|program| program.name).collect();
        return Err(format!("no program is called {unknown}; the programs are {}", names.join(" ")));
    }
    packages::ensure(project, &|part| part == "programs", install);
    crate::install::stage(project)?;
    let mut tally = Tally::default();
    if names.is_empty() {
        run(project, all, &mut tally);
    } else {
        let wanted = |program: &&Program| names.iter().any(|name| name == program.name);
        let wanted: Vec<&Program> = ALL.into_iter().filter(wanted).collect();
        each(project, &wanted, &mut tally);
    }
    Ok(tally.finish())
}

/// Fetches, builds and checks programs, one after the other.
fn each(project: &Project, programs: &[&Program], tally: &mut Tally) {
    let archive = match Archive::open(project) {
        Ok(archive) => archive,
        Err(complaint) => return tally.test("programs: their sources", || Err(complaint)),
    };
    for program in programs {
        if let Some(missing) = lacking(program) {
            let why = format!("{}: the Debian package {missing} is missing", program.name);
            tally.not_run(program.tests, why);
            continue;
        }
        if let Some(why) = archive.unusable(program.source) {
            tally.not_run(program.tests, format!("{}: {why}", program.name));
            continue;
        }
        let start = Instant::now();
        match Site::prepare(project, &archive, program) {
            Ok(site) => {
                let (name, version, took) = (program.name, &site.version, start.elapsed().as_secs_f64());
                show(&format!("      {name} {version} took {took:.0} s to fetch and build"));
                (program.check)(&site, tally);
            }
            Err(complaint) => {
                tally.test(&format!("{}: fetch and build", program.name), || Err(complaint));
                tally.not_run(program.tests, format!("{}: it could not be built", program.name));
            }
        }
    }
}

/// A package that the build of a program needs and that is not there.
fn lacking(program: &Program) -> Option<&'static str> {
    let needed = |package: &&Package| program.needs.contains(&package.name);
    PACKAGES.iter().filter(needed).find(|package| !package.proof.holds()).map(|package| package.name)
}

/// A shell that stops at the first command that fails, in a folder.
fn shell(script: &str, folder: &Path) -> Job {
    Job::new("sh").args(["-e", "-c", script]).dir(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_need_is_in_the_table_and_names_differ() {
        for (i, program) in ALL.iter().enumerate() {
            for need in program.needs {
                assert!(PACKAGES.iter().any(|package| package.name == *need), "{}: {need}", program.name);
            }
            assert!(ALL[..i].iter().all(|other| other.name != program.name), "{} stands twice", program.name);
        }
    }
}
