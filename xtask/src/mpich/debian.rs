//! Programs and libraries that Debian has linked to its MPICH, and Fortran programs that MPICH's own modules have built: all run
//! with our libraries first in the loader's path.
//!
//! What must stay true: a program finds MPICH's libraries only where it is linked; packages that can't be had keep only their own tests
//! from running.

mod chemistry;
mod coarrays;
mod hdf5;
mod scalapack;

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::fortran;
use crate::{
    ctests::Wishes,
    fortran::{COUNTED, said},
    mpi::Mpi,
    packages::present,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
    unpacked::{Needs, Unpacked, system},
};

/// With the BLAS and LAPACK that the tests need, where the system has none.
const PACKAGES: [&str; 7] = [
    "libmpich12",
    "libmpich-dev",
    "libscalapack-mpich2.2",
    "scalapack-mpi-test",
    "scalapack-test-common",
    "libblas3",
    "liblapack3",
];

/// Tests of `tests/fortran`, with the interface that they are built for.
const FORTRAN: [(&str, &str); 28] = [
    ("kernels", "MPIF"),
    ("communicators_more", "MPIF"),
    ("heat", "MPIF"),
    ("jobs", "MPIF"),
    ("messages_more", "MPIF"),
    ("objects", "MPIF"),
    ("communicators", "MPI"),
    ("messages", "MPI"),
    ("neighborhoods", "MPI"),
    ("types", "MPI"),
    ("windows_more", "MPI"),
    ("gathers", "F08"),
    ("reductions", "F08"),
    ("types_more", "F08"),
    ("collectives", "F08"),
    ("communicators", "F08"),
    ("jobs", "F08"),
    ("large", "F08"),
    ("messages", "F08"),
    ("objects", "F08"),
    ("sections", "F08"),
    ("topologies", "F08"),
    ("types", "F08"),
    ("windows", "F08"),
    ("gathers", "LARGE"),
    ("messages_more", "LARGE"),
    ("partitioned", "LARGE"),
    ("windows_more", "LARGE"),
];

/// Interfaces of MPICH for which a tool in C counts calls.
const PROFILED: [&str; 3] = ["MPIF", "MPI", "F08"];

/// All of them.
pub(super) fn run(project: &Project, mpi: &Mpi, is_deep: bool, tally: &mut Tally) {
    let all = FORTRAN.len()
        + PROFILED.len()
        + scalapack::count(is_deep)
        + chemistry::COUNT
        + coarrays::COUNT
        + hdf5::COUNT
        + 1;
    if !present("gfortran") || !present("apt-get") {
        return tally.not_run(all, "mpich: Debian's packages take gfortran and apt-get");
    }
    let debian = match Unpacked::fetch(project, "mpich", &PACKAGES, Needs::No) {
        Ok(unpacked) => Debian { project, mpi, unpacked },
        Err(complaint) => {
            return tally.not_run(all, format!("mpich: Debian's packages can't be fetched: {complaint}"));
        }
    };
    chemistry::run(project, mpi, tally);
    hdf5::run(project, mpi, tally);
    coarrays::run(project, mpi, tally);
    tally.test("mpich: the names of libmpifort.so.12 are those of Debian's MPICH and Intel MPI", || {
        let theirs = debian.unpacked.libraries().join("libmpichfort.so.12");
        let intel = Mpi::rival(project, "intel")?;
        let home = intel.launcher().parent().and_then(Path::parent).unwrap_or(&project.target);
        fortran::same_names(project, &[&theirs, &home.join("lib/libmpifort.so.12")])
    });
    for (test, interface) in FORTRAN {
        tally.test(&format!("mpich: Fortran, built with MPICH's: {test} ({interface})"), || {
            debian.fortran(test, interface)
        });
    }
    for interface in PROFILED {
        tally.test(
            &format!("mpich: Fortran, built with MPICH's: a tool in C sees every call once ({interface})"),
            || debian.profiled(interface),
        );
    }
    tally.test("mpich: Fortran, built with MPICH's: handles and statuses between Fortran and C", || {
        debian.languages()
    });
    scalapack::run(project, mpi, &debian.unpacked, is_deep, tally);
}

struct Debian<'a> {
    project: &'a Project,
    mpi: &'a Mpi,
    /// With MPICH's libraries and ScaLAPACK's tests.
    unpacked: Unpacked,
}

/// A program of Debian's packages, with our libraries before theirs, and one thread of the system's BLAS for each rank.
fn program(mpi: &Mpi, unpacked: &Unpacked, ranks: usize, program: &Path) -> Job {
    let path = format!("LD_LIBRARY_PATH={}", unpacked.search_path(&[Path::new(mpi.library())]));
    mpi.mpiexec(ranks, false).args(["env", &path, "OPENBLAS_NUM_THREADS=1"]).arg(program)
}

/// A program in Fortran with the modules of Debian's MPICH, which finds its libraries only where it is linked.
fn gfortran(unpacked: &Unpacked, source: &Path, program: &Path, options: &[String]) -> Fallible {
    let modules = unpacked.root.join("usr/include").join(system()).join("mpich");
    let libraries = ["libmpichfort.so.12", "libmpich.so.12"].map(|name| unpacked.libraries().join(name));
    let job =
        Job::new("gfortran").args(["-w", "-fallow-argument-mismatch", "-Wl,--allow-shlib-undefined", "-I"]);
    let job = job.arg(modules).args(options).dir(program.parent().unwrap_or(program)).arg(source);
    job.arg("-o").arg(program).args(&libraries).limit(120).succeed().map(drop)
}

/// The same with an optimizing compiler, for those who count instructions.
pub(crate) fn optimized(project: &Project, source: &Path, program: &Path) -> Fallible {
    let unpacked = Unpacked::fetch(project, "mpich", &PACKAGES, Needs::No)?;
    gfortran(&unpacked, source, program, &["-O2".into()])
}

impl Debian<'_> {
    /// A test of `tests/fortran`, built with MPICH's modules: its source and the program.
    fn built(&self, test: &str, interface: &str) -> Fallible<(PathBuf, PathBuf)> {
        let source = self.project.root.join("tests/fortran").join(test).with_extension("F90");
        let folder = self.project.folder(&format!("debian/{test}-{interface}"))?;
        let program = folder.join(test);
        let too = if interface == "LARGE" { "-DF08" } else { "-DELSEWHERE" };
        let options = [format!("-D{interface}"), too.into(), "-DELSEWHERE".into()];
        gfortran(&self.unpacked, &source, &program, &options)?;
        Ok((source, program))
    }

    /// The tool is one of MPICH's ABI.
    fn profiled(&self, interface: &str) -> Fallible {
        let (_, program) = self.built("profiled", interface)?;
        let tool = program.with_file_name("counter.so");
        let compiler = Job::new(self.project.stage.join("mpich/bin/mpicc")).args(["-shared", "-fPIC"]);
        let source = self.project.root.join("tests/fortran/counter.c");
        compiler.arg(source).arg("-o").arg(&tool).succeed()?;
        let preload = format!("LD_PRELOAD={}", tool.display());
        let job = self.mpi.mpiexec(2, false).args(["env", &preload]).arg(program);
        said(&job.succeed()?.stdout, COUNTED)
    }

    fn languages(&self) -> Fallible {
        let folder = self.project.folder("debian/languages")?;
        let (object, program) = (folder.join("languages-c.o"), folder.join("languages"));
        let [c, fortran] =
            ["c", "f90"].map(|ext| self.project.root.join("tests/fortran/languages").with_extension(ext));
        let header = self.unpacked.root.join("usr/include").join(system()).join("mpich");
        let compiler = Job::new("cc").args(["-Wall", "-Werror", "-c", "-I"]).arg(header);
        compiler.arg(c).arg("-o").arg(&object).succeed()?;
        gfortran(&self.unpacked, &fortran, &program, &[object.display().to_string()])?;
        said(&self.mpi.mpiexec(2, false).arg(program).succeed()?.stdout, "languages: right")
    }

    fn fortran(&self, test: &str, interface: &str) -> Fallible {
        let (source, program) = self.built(test, interface)?;
        let text = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
        let wishes = Wishes::parse(&text)?;
        let ranks = wishes.ranks.first().copied().unwrap_or(2);
        wishes.judge(&wishes.prepare(self.mpi.mpiexec(ranks, false).arg(&program)).run()?)
    }
}
