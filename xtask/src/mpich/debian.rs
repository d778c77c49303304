//! Programs and libraries that Debian has linked to its MPICH, and Fortran programs that MPICH's own modules have built: all run
//! with our libraries first in the loader's path.
//!
//! What must stay true: a program finds MPICH's libraries only where it is linked; packages that can't be had keep only their own tests
//! from running.

mod chemistry;

use std::{fs, path::Path};

use crate::{
    ctests::Wishes,
    mpi::Mpi,
    packages::present,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
    unpacked::{Needs, Unpacked, system},
};

const PACKAGES: [&str; 5] =
    ["libmpich12", "libmpich-dev", "libscalapack-mpich2.2", "scalapack-mpi-test", "scalapack-test-common"];

/// Tests of `tests/fortran`, with the interface that they are built for.
const FORTRAN: [(&str, &str); 13] = [
    ("kernels", "MPIF"),
    ("heat", "MPIF"),
    ("objects", "MPIF"),
    ("communicators", "MPI"),
    ("messages", "MPI"),
    ("types", "MPI"),
    ("collectives", "F08"),
    ("communicators", "F08"),
    ("messages", "F08"),
    ("objects", "F08"),
    ("topologies", "F08"),
    ("types", "F08"),
    ("windows", "F08"),
];

/// Tests of ScaLAPACK's own, with what they say at their end: BLACS in Fortran, which ends with an abort, an LU factorization, and the
/// first level of PBLAS.
const SCALAPACK: [(&str, &str, &[&str]); 3] = [
    ("BLACS", "xFbtest", &["INTEGER SDRV TESTS:", "INTEGER SUM TESTS:", "PASSED  BLACS_SET/BLACS_GET TESTS"]),
    (".", "xdlu", &["0 tests completed and failed residual checks.", "END OF TESTS."]),
    ("PBLAS", "dpb1tst", &["End of Tests."]),
];

/// Of five kinds of numbers two are enough here.
const FEWER: [(&str, &str); 2] = [
    ("5                               Number of precisions", "2 Number of precisions"),
    ("'I' 'S' 'D' 'C' 'Z'", "'I' 'D'"),
];

/// All of them.
pub(super) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let all = FORTRAN.len() + SCALAPACK.len() + chemistry::COUNT;
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
    for (test, interface) in FORTRAN {
        tally.test(&format!("mpich: Fortran, built with MPICH's: {test} ({interface})"), || {
            debian.fortran(test, interface)
        });
    }
    for (folder, program, wanted) in SCALAPACK {
        tally.test(&format!("mpich: Debian's ScaLAPACK, its own {program}"), || {
            debian.scalapack(folder, program, wanted)
        });
    }
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

impl Debian<'_> {
    fn fortran(&self, test: &str, interface: &str) -> Fallible {
        let source = self.project.root.join("tests/fortran").join(test).with_extension("F90");
        let folder = self.project.folder(&format!("debian/{test}-{interface}"))?;
        let program = folder.join(test);
        let modules = self.unpacked.root.join("usr/include").join(system()).join("mpich");
        let libraries =
            ["libmpichfort.so.12", "libmpich.so.12"].map(|name| self.unpacked.libraries().join(name));
        Job::new("gfortran")
            .args(["-w", "-fallow-argument-mismatch", "-Wl,--allow-shlib-undefined", "-I"])
            .arg(modules)
            .arg(format!("-D{interface}"))
            .dir(&folder)
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .args(&libraries)
            .succeed()?;
        let text = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
        let wishes = Wishes::parse(&text)?;
        let ranks = wishes.ranks.first().copied().unwrap_or(2);
        wishes.judge(&wishes.prepare(self.mpi.mpiexec(ranks, false).arg(&program)).run()?)
    }

    /// In a folder of its own, as some of them leave files.
    fn scalapack(&self, folder: &str, program: &str, wanted: &[&str]) -> Fallible {
        let tests = self.unpacked.libraries().join("scalapack/mpich-tests");
        let data = self.unpacked.root.join("usr/share/scalapack").join(folder);
        let here = self.project.folder(&format!("debian/{program}"))?;
        for file in crate::project::files(&data, "dat") {
            let to = here.join(file.file_name().unwrap_or_default());
            let explain = |e| format!("{}: {e}", to.display());
            let text = fs::read_to_string(&file).map_err(explain)?;
            let fewer = FEWER.iter().fold(text, |text, (from, to)| text.replace(from, to));
            fs::write(&to, fewer).map_err(explain)?;
        }
        let job = self::program(self.mpi, &self.unpacked, 4, &tests.join(folder).join(program)).dir(&here);
        let said = job.limit(180).run()?.stdout;
        // BLACS says how many, PBLAS of each.
        let has_failed = |line: &&str| {
            (line.contains(" FAILED.") && !line.contains(" 0 FAILED.")) || line.contains("FAILED  *")
        };
        let wrong = said.lines().find(has_failed).map(String::from).or_else(|| {
            let missing = wanted.iter().find(|wanted| !said.contains(**wanted))?;
            Some(format!("\"{missing}\" was expected:\n{said}"))
        });
        wrong.map_or(Ok(()), Err)
    }
}
