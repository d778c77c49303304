//! Intel MPI: programs that its own compilers' wrappers build from C and Fortran, and the benchmarks that come with it, all from its
//! Python packages.
//!
//! What must stay true: the wrappers find Intel's headers and modules alone. A wrapper leaves the path of Intel's library in the program,
//! and ours comes before it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    ctests::{self, Wishes},
    mpi::Mpi,
    packages::present,
    process::Job,
    project::{Fallible, Project},
    tally::{Tally, show},
};

/// The compilers' wrappers with headers and modules, and the library for threads that a benchmark needs.
const PACKAGES: [(&str, &str); 2] = [("impi-devel", "bin/mpigcc"), ("intel-openmp", "lib/libiomp5.so")];

/// Programs of `tests/c` that Intel's header has all for.
const PROGRAMS: [&str; 22] = [
    "attributes",
    "cancel_send",
    "coll_data",
    "comms",
    "datatypes",
    "errhandlers",
    "from_group_jobs",
    "groups",
    "intercomm",
    "meeting",
    "neighbor",
    "pack",
    "probe",
    "sendrecv",
    "sessions",
    "spawn",
    "threads",
    "win_asserts",
    "win_jobs",
    "win_objects",
    "win_put_get",
    "win_types",
];

/// Tests of `tests/fortran`, with the interface that they are built for. For gfortran there is no
/// `mpi_f08` of Intel's, and its library lacks MPI_F_SYNC_REG.
const FORTRAN: [(&str, &str); 5] =
    [("heat", "MPIF"), ("jobs", "MPIF"), ("objects", "MPIF"), ("communicators", "MPI"), ("types", "MPI")];

/// A benchmark with these of its measurements, or all that it lists, short.
struct Benchmark {
    program: &'static str,
    ranks: usize,
    measurements: &'static [&'static str],
    options: &'static [&'static str],
}

/// All, also those that it does not do unless asked.
const ALL: &[&str] = &[];
const SHORT: &[&str] = &["-iter", "20", "-time", "0.2", "-msglog", "0:18"];
const WITHOUT_PAUSE: &[&str] = &["-iter", "20", "-pause", "0", "-msglog", "0:18"];
/// Two threads in each rank; lengths are in elements.
const THREADS: &[&str] =
    &["-thread_level", "multiple", "-check", "1", "-repeat", "5", "-count", "1,64,4096,65536"];

/// As Intel builds them most do not look at what arrives: each has to begin every measurement and to end well.
const BENCHMARKS: [Benchmark; 10] = [
    Benchmark { program: "IMB-MPI1", ranks: 2, measurements: ALL, options: SHORT },
    Benchmark { program: "IMB-MPI1", ranks: 4, measurements: ALL, options: SHORT },
    Benchmark { program: "IMB-NBC", ranks: 2, measurements: ALL, options: SHORT },
    Benchmark { program: "IMB-NBC", ranks: 4, measurements: ALL, options: SHORT },
    Benchmark { program: "IMB-RMA", ranks: 2, measurements: ALL, options: SHORT },
    Benchmark { program: "IMB-RMA", ranks: 4, measurements: ALL, options: SHORT },
    Benchmark {
        program: "IMB-P2P",
        ranks: 2,
        measurements: &["PingPong", "PingPing", "Unirandom", "Birandom", "Corandom", "SendRecv_Replace"],
        options: WITHOUT_PAUSE,
    },
    Benchmark { program: "IMB-P2P", ranks: 4, measurements: &["Stencil2D"], options: WITHOUT_PAUSE },
    Benchmark { program: "IMB-P2P", ranks: 8, measurements: &["Stencil3D"], options: WITHOUT_PAUSE },
    Benchmark {
        program: "IMB-MT",
        ranks: 2,
        measurements: &[
            "PingPongMT",
            "PingPingMT",
            "SendRecvMT",
            "ExchangeMT",
            "UniBandMT",
            "BiBandMT",
            "BarrierMT",
            "BcastMT",
            "ReduceMT",
            "AllReduceMT",
        ],
        options: THREADS,
    },
];

/// All of them.
pub(super) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let home = match installed(project) {
        Ok(home) => home,
        Err(complaint) => return tally.test("mpich: Intel's Python packages", || Err(complaint)),
    };
    let intel = Intel { project, mpi, home };
    match intel.compiler("mpicc") {
        Ok(compiler) => {
            let library = project.stage.join("mpich/lib");
            let mut built = Mpi::other_face(project, &compiler, &library);
            built.name = "posthaste for Intel MPI";
            ctests::run_some(project, &built, &PROGRAMS, tally);
        }
        Err(complaint) => tally.test("mpich: Intel's mpicc", || Err(complaint)),
    }
    if present("gfortran") {
        for (test, interface) in FORTRAN {
            tally.test(&format!("mpich: Fortran, built with Intel's mpifc: {test} ({interface})"), || {
                intel.fortran(test, interface)
            });
        }
    } else {
        tally.not_run(FORTRAN.len(), "mpich: Fortran, built with Intel's mpifc: there is no gfortran");
    }
    for benchmark in &BENCHMARKS {
        let Benchmark { program, ranks, .. } = benchmark;
        tally.test(&format!("mpich: Intel's {program} with {ranks} ranks"), || intel.benchmark(benchmark));
    }
}

/// Where all of Intel MPI is.
fn installed(project: &Project) -> Fallible<PathBuf> {
    let intel = Mpi::rival(project, "intel")?;
    let home = intel.launcher().parent().and_then(Path::parent).unwrap_or(&project.target).to_path_buf();
    for (package, proof) in PACKAGES {
        if !home.join(proof).exists() {
            show(&format!("installing {package} into {}", home.display()));
            Job::new(home.join("bin/pip")).args(["install", "--quiet", package]).limit(600).succeed()?;
        }
    }
    Ok(home)
}

struct Intel<'a> {
    project: &'a Project,
    mpi: &'a Mpi,
    home: PathBuf,
}

impl Intel<'_> {
    /// One of its wrappers, which asks the environment where it is.
    fn compiler(&self, name: &str) -> Fallible<PathBuf> {
        let compiler = self.project.folder("intel")?.join(name);
        let home = self.home.display();
        let script = format!("#!/bin/sh\nI_MPI_ROOT={home} exec {home}/bin/{name} \"$@\"\n");
        fs::write(&compiler, script).map_err(|e| format!("{}: {e}", compiler.display()))?;
        Job::new("chmod").arg("+x").arg(&compiler).succeed()?;
        Ok(compiler)
    }

    /// The modules that gfortran of this release, or of another with the same number, can read.
    fn modules(&self) -> Fallible<PathBuf> {
        let said = Job::new("gfortran").arg("-dumpversion").succeed()?.stdout;
        let release = said.trim().split('.').next().unwrap_or_default();
        let folder = self.home.join("include/mpi/gfortran");
        let known = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut known = known.flatten().map(|entry| entry.path());
        let is_of_release = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.split('.').next() == Some(release))
        };
        known
            .find(is_of_release)
            .ok_or_else(|| format!("{} has none of gfortran {release}", folder.display()))
    }

    fn fortran(&self, test: &str, interface: &str) -> Fallible {
        let source = self.project.root.join("tests/fortran").join(test).with_extension("F90");
        let folder = self.project.folder(&format!("intel/{test}-{interface}"))?;
        let program = folder.join(test);
        let job = Job::new(self.compiler("mpifc")?).args(["-w", "-I"]).arg(self.modules()?).dir(&folder);
        job.args([format!("-D{interface}"), "-DELSEWHERE".into()])
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .succeed()?;
        let text = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
        let wishes = Wishes::parse(&text)?;
        let ranks = wishes.ranks.first().copied().unwrap_or(2);
        wishes.judge(&wishes.prepare(self.mpi.mpiexec(ranks, false).arg(&program)).run()?)
    }

    fn benchmark(&self, benchmark: &Benchmark) -> Fallible {
        let Benchmark { program, ranks, measurements, options } = benchmark;
        let libraries = self.mpi.library().to_string_lossy().into_owned();
        let libraries = format!("LD_LIBRARY_PATH={libraries}:{}", self.home.join("lib").display());
        let on = |ranks: usize| {
            let environment = ["env", &libraries, "OMP_NUM_THREADS=2", "KMP_BLOCKTIME=0"];
            self.mpi.mpiexec(ranks, false).args(environment).arg(self.home.join("bin").join(program))
        };
        let measurements: Vec<String> = match measurements {
            [] => listed(&on(1).arg("-list").succeed()?.stdout),
            some => some.iter().map(ToString::to_string).collect(),
        };
        if measurements.is_empty() {
            return Err("it lists no measurements".into());
        }
        let said = on(*ranks).args(&measurements).args(*options).limit(120).succeed()?.stdout;
        match measurements.iter().find(|name| !said.contains(&format!("# Benchmarking {name}"))) {
            Some(missing) => Err(format!("{missing} is missing in:\n{said}")),
            None => Ok(()),
        }
    }
}

/// The measurements that a benchmark can do.
fn listed(said: &str) -> Vec<String> {
    let name = |line: &str| {
        let name = line.strip_prefix("    ")?.trim_end_matches(" (non-default)");
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_').then(|| name.to_owned())
    };
    said.lines().filter_map(name).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn measurements_are_told_from_what_is_said_of_them() {
        let said = "List of benchmarks:\nIMB-RMA:\n    Put_local\n    Get_local (non-default)\n        Uses MPI_INT\n\n";
        assert_eq!(super::listed(said), ["Put_local", "Get_local"]);
    }
}
