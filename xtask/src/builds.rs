//! How users build: mpicc and mpicxx, several language standards, pkg-config, CMake, a profiling tool before the
//! library, an installation under another prefix, a single method (`single`). The part `builds` of `cargo xtask test`.
//! What must stay true: every program that is built is also run.

use std::{fs, path::Path, path::PathBuf};

use crate::{
    install,
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project},
    python, single,
    tally::Tally,
};

const PROGRAM: &str = "tests/c/build/program.c";

/// All of them.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let ways = match Ways::new(project, mpi) {
        Ok(ways) => ways,
        Err(complaint) => return tally.test("builds", || Err(complaint)),
    };
    for standard in ["-std=c99", "-std=c11", "-std=c2x"] {
        tally.test(&format!("builds: mpicc {standard} -pedantic"), || ways.wrapper("mpicc", standard));
    }
    for standard in ["-std=c++11", "-std=c++20"] {
        tally.test(&format!("builds: mpicxx {standard} -pedantic"), || ways.wrapper("mpicxx", standard));
    }
    tally.test("builds: compiled and linked in two steps", || ways.two_steps());
    tally.test("builds: a profiling tool linked before the library", || ways.profiler(false));
    tally.test("builds: a profiling tool that is preloaded", || ways.profiler(true));
    tally.test("builds: installed under another prefix", || ways.installed());
    if present("pkg-config") {
        tally.test("builds: pkg-config", || ways.pkg_config());
    } else {
        tally.not_run(1, "builds: pkg-config is not installed (apt install pkg-config)");
    }
    match cmake(project) {
        Some(cmake) => {
            tally.test("builds: CMake, find_package(MPI) and find_package(posthaste)", || ways.cmake(&cmake))
        }
        None => tally.not_run(1, "builds: cmake is not installed, and pip can't install it"),
    }
    single::run(project, mpi, tally);
}

struct Ways<'a> {
    project: &'a Project,
    mpi: &'a Mpi,
    folder: PathBuf,
    source: PathBuf,
}

impl<'a> Ways<'a> {
    fn new(project: &'a Project, mpi: &'a Mpi) -> Fallible<Self> {
        Ok(Self { project, mpi, folder: project.folder("builds")?, source: project.root.join(PROGRAM) })
    }

    fn tool(&self, name: &str) -> Job {
        Job::new(self.project.stage.join("bin").join(name))
    }

    /// Runs without any help from the environment: the program must find its library by itself.
    fn works(&self, program: &Path) -> Fallible {
        let outcome =
            Job::new(self.project.stage.join("bin/mpiexec")).args(["-n", "3"]).arg(program).succeed()?;
        said(&outcome.stdout, "program: 3 ranks, sum 3")
    }

    fn wrapper(&self, compiler: &str, standard: &str) -> Fallible {
        let program = self.folder.join(format!("by-{compiler}{standard}"));
        let language = if compiler == "mpicxx" { "c++" } else { "c" };
        let strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", standard, "-x", language];
        self.tool(compiler).args(strict).arg(&self.source).arg("-o").arg(&program).succeed()?;
        self.works(&program)
    }

    fn two_steps(&self) -> Fallible {
        let (object, program) = (self.folder.join("program.o"), self.folder.join("two-steps"));
        self.tool("mpicc").arg("-c").arg(&self.source).arg("-o").arg(&object).succeed()?;
        self.tool("mpicc").arg(&object).arg("-o").arg(&program).succeed()?;
        self.works(&program)
    }

    fn profiler(&self, preloaded: bool) -> Fallible {
        let tool = self.folder.join("libprofiler.so");
        let program = self.folder.join(if preloaded { "preloaded" } else { "profiled" });
        let source = self.project.root.join("tests/c/build/profiler.c");
        self.tool("mpicc").args(["-shared", "-fPIC"]).arg(source).arg("-o").arg(&tool).succeed()?;
        let mut build = self.tool("mpicc").arg(&self.source).arg("-o").arg(&program);
        if !preloaded {
            build = build.arg(&tool).arg(format!("-Wl,-rpath,{}", self.folder.display()));
        }
        build.succeed()?;
        let mut job = self.mpi.alone(&program);
        if preloaded {
            job = job.env("LD_PRELOAD", &tool);
        }
        said(&job.succeed()?.stdout, "profiler saw 3 sends")
    }

    /// A second installation is complete and does not need the first.
    fn installed(&self) -> Fallible {
        let prefix = self.folder.join("prefix");
        let _ = fs::remove_dir_all(&prefix);
        install::copy(self.project, &prefix)?;
        let program = self.folder.join("elsewhere");
        let _ = fs::remove_file(&program);
        Job::new(prefix.join("bin/mpicc")).arg(&self.source).arg("-o").arg(&program).succeed()?;
        let libraries = Job::new("ldd").arg(&program).succeed()?.stdout;
        said(&libraries, &prefix.join("lib/libmpi_abi.so.1").to_string_lossy())?;
        let outcome = Job::new(prefix.join("bin/mpirun")).args(["-np", "2"]).arg(&program).succeed()?;
        said(&outcome.stdout, "program: 2 ranks, sum 1")
    }

    fn pkg_config(&self) -> Fallible {
        for package in ["posthaste", "mpi"] {
            let flags = self.flags("lib/pkgconfig", package)?;
            let program = self.folder.join(format!("by-pkg-config-{package}"));
            Job::new("cc").arg(&self.source).arg("-o").arg(&program).args(flags).succeed()?;
            self.works(&program)?;
        }
        self.pkg_config_mpich()?;
        self.pkg_config_fortran()
    }

    /// What `pkg-config` says of a package in this folder of the installation.
    fn flags(&self, folder: &str, package: &str) -> Fallible<Vec<String>> {
        let job = Job::new("pkg-config").args(["--cflags", "--libs", package]);
        let said = job.env("PKG_CONFIG_PATH", self.project.stage.join(folder)).succeed()?.stdout;
        Ok(said.split_whitespace().map(str::to_owned).collect())
    }

    fn pkg_config_mpich(&self) -> Fallible {
        let program = self.folder.join("by-pkg-config-mpich");
        let flags = self.flags("mpich/lib/pkgconfig", "mpich")?;
        Job::new("cc").arg(&self.source).arg("-o").arg(&program).args(flags).succeed()?;
        let libraries = Job::new("ldd").arg(&program).succeed()?.stdout;
        said(&libraries, "/mpich/lib/pkgconfig/../../lib/libmpi.so.12")?;
        self.works(&program)
    }

    /// A routine of Fortran as a compiler calls it.
    fn pkg_config_fortran(&self) -> Fallible {
        let program = self.folder.join("by-pkg-config-fortran");
        let source = "void mpi_get_version_(int *, int *, int *);\n\
                      int main(void) { int v, s, e; mpi_get_version_(&v, &s, &e); return v != 5 || s || e; }\n";
        let flags = self.flags("lib/pkgconfig", "posthaste-fortran")?;
        let cc = Job::new("cc").args(["-x", "c", "-", "-x", "none", "-o"]).arg(&program).args(flags);
        cc.input(source).succeed()?;
        Job::new(&program).succeed().map(drop)
    }

    fn cmake(&self, cmake: &Path) -> Fallible {
        let build = self.folder.join("cmake");
        let _ = fs::remove_dir_all(&build);
        let stage = &self.project.stage;
        Job::new(cmake)
            .arg("-S")
            .arg(self.project.root.join("tests/cmake"))
            .arg("-B")
            .arg(&build)
            .arg(format!("-DMPI_HOME={}", stage.display()))
            .arg(format!("-DCMAKE_PREFIX_PATH={}", stage.display()))
            .succeed()?;
        Job::new(cmake).arg("--build").arg(&build).limit(120).succeed()?;
        self.works(&build.join("by_findmpi"))?;
        self.works(&build.join("by_config"))
    }
}

/// cmake of the system, or from the Python registry.
pub(crate) fn cmake(project: &Project) -> Option<PathBuf> {
    if present("cmake") {
        return Some("cmake".into());
    }
    let cmake = project.target.join("python-tools/bin/cmake");
    if !cmake.exists() {
        python::pip(project).ok()?.args(["install", "--quiet", "cmake"]).succeed().ok()?;
    }
    cmake.exists().then_some(cmake)
}

fn present(program: &str) -> bool {
    Job::new(program).arg("--version").run().is_ok_and(|outcome| outcome.ok())
}

fn said(output: &str, wanted: &str) -> Fallible {
    if output.contains(wanted) {
        Ok(())
    } else {
        Err(format!("\"{wanted}\" was expected, this was said:\n{output}"))
    }
}
