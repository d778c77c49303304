//! Programs and libraries that Debian has linked to its MPICH, and Fortran programs that MPICH's own modules have built: all run
//! with our libraries first in the loader's path.
//!
//! Packages are fetched by apt and unpacked under `target/debian`, nothing is installed. What must stay true: a program finds MPICH's
//! libraries only where it is linked.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    ctests::Wishes,
    mpi::Mpi,
    packages::present,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
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

/// What Debian calls the folder of this kind of machine.
fn system() -> String {
    format!("{}-linux-gnu", std::env::consts::ARCH)
}

/// All of them.
pub(super) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let all = FORTRAN.len() + SCALAPACK.len();
    if !present("gfortran") || !present("apt-get") {
        return tally.not_run(all, "mpich: Debian's packages take gfortran and apt-get");
    }
    let debian = match Debian::fetch(project, mpi) {
        Ok(debian) => debian,
        Err(complaint) => {
            return tally.not_run(all, format!("mpich: Debian's packages can't be fetched: {complaint}"));
        }
    };
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
    /// Where the packages are unpacked, one over the other.
    root: PathBuf,
}

impl<'a> Debian<'a> {
    /// What was fetched once is kept.
    fn fetch(project: &'a Project, mpi: &'a Mpi) -> Fallible<Self> {
        let root = project.folder("debian/root")?;
        let debian = Self { project, mpi, root };
        let packages = project.folder("debian/packages")?;
        let done = project.target.join("debian/done");
        if done.exists() {
            return Ok(debian);
        }
        let download = || Job::new("apt-get").arg("download").args(PACKAGES).dir(&packages).limit(300);
        if !download().run()?.ok() {
            // It does not know where they are on a fresh system.
            Job::new("apt-get").args(["-q", "update"]).limit(120).succeed()?;
            download().succeed()?;
        }
        for package in crate::project::files(&packages, "deb") {
            Job::new("dpkg-deb").arg("-x").arg(&package).arg(&debian.root).limit(120).succeed()?;
        }
        fs::write(&done, "").map_err(|e| format!("{}: {e}", done.display()))?;
        Ok(debian)
    }

    fn libraries(&self) -> PathBuf {
        self.root.join("usr/lib").join(system())
    }

    fn fortran(&self, test: &str, interface: &str) -> Fallible {
        let source = self.project.root.join("tests/fortran").join(test).with_extension("F90");
        let folder = self.project.folder(&format!("debian/{test}-{interface}"))?;
        let program = folder.join(test);
        let modules = self.root.join("usr/include").join(system()).join("mpich");
        let libraries = ["libmpichfort.so.12", "libmpich.so.12"].map(|name| self.libraries().join(name));
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
        let tests = self.libraries().join("scalapack/mpich-tests");
        let data = self.root.join("usr/share/scalapack").join(folder);
        let here = self.project.folder(&format!("debian/{program}"))?;
        for file in crate::project::files(&data, "dat") {
            let to = here.join(file.file_name().unwrap_or_default());
            let explain = |e| format!("{}: {e}", to.display());
            let text = fs::read_to_string(&file).map_err(explain)?;
            let fewer = FEWER.iter().fold(text, |text, (from, to)| text.replace(from, to));
            fs::write(&to, fewer).map_err(explain)?;
        }
        let ours = Path::new(self.mpi.library());
        let path = format!("LD_LIBRARY_PATH={}:{}", ours.display(), self.libraries().display());
        // One thread of the system's BLAS for each rank.
        let job = self.mpi.mpiexec(4, false).args(["env", &path, "OPENBLAS_NUM_THREADS=1"]).dir(&here);
        let said = job.arg(tests.join(folder).join(program)).limit(180).run()?.stdout;
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
