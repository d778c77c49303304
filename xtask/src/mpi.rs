//! The MPI implementations that programs are run with: posthaste as staged, and the rivals from the Python
//! package registry, each in a virtual environment under `target/rivals`.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

use crate::{
    process::Job,
    project::{Fallible, Project, up_to_date},
};

/// One implementation: how to compile for it and how to run with it.
#[derive(Clone, Debug)]
pub(crate) struct Mpi {
    /// For tables: "posthaste", "MPICH", "Intel MPI", "Open MPI".
    pub(crate) name: &'static str,
    /// Programs built for it; those with the same flavour share binaries.
    pub(crate) flavour: &'static str,
    mpiexec: PathBuf,
    compiler: PathBuf,
    environment: Vec<(String, OsString)>,
    /// Options of mpiexec: always, when ranks are bound, when they are not.
    always: &'static [&'static str],
    bound: &'static [&'static str],
    unbound: &'static [&'static str],
}

/// The C files that a C file includes.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix("\""))
        .filter(|name| name.ends_with(".c"))
}

impl Mpi {
    /// posthaste, from the staged installation.
    pub(crate) fn posthaste(project: &Project) -> Self {
        Self {
            name: "posthaste",
            flavour: "abi",
            mpiexec: project.stage.join("bin/mpiexec"),
            compiler: project.stage.join("bin/mpicc"),
            environment: library_path(&project.stage.join("lib")),
            always: &[],
            bound: &["-bind-to", "core"],
            unbound: &["-bind-to", "none"],
        }
    }

    /// Another face of posthaste: programs that this compiler makes use the library in `lib`.
    pub(crate) fn other_face(project: &Project, compiler: &Path, lib: &Path) -> Self {
        Self {
            name: "posthaste over another ABI",
            compiler: compiler.to_path_buf(),
            environment: library_path(lib),
            ..Self::posthaste(project)
        }
    }

    /// posthaste for another processor, by commands that emulate it.
    pub(crate) fn emulated(mpiexec: PathBuf, compiler: PathBuf, lib: &Path) -> Self {
        Self {
            name: "posthaste on aarch64",
            flavour: "abi",
            mpiexec,
            compiler,
            environment: library_path(lib),
            always: &[],
            bound: &["-bind-to", "core"],
            unbound: &["-bind-to", "none"],
        }
    }

    /// The named rivals ("mpich", "intel", "openmpi"), installed when they are missing.
    pub(crate) fn rival(project: &Project, name: &str) -> Fallible<Self> {
        match name {
            "mpich" => mpich(project),
            "intel" => intel(project),
            "openmpi" => openmpi(project),
            _ => Err(format!("no rival is called {name}; known are mpich, intel and openmpi")),
        }
    }

    /// What a rival is called in tables.
    pub(crate) fn rival_name(word: &str) -> Option<&'static str> {
        match word {
            "mpich" => Some("MPICH"),
            "intel" => Some("Intel MPI"),
            "openmpi" => Some("Open MPI"),
            _ => None,
        }
    }

    /// Compiles C sources into a program; nothing is done when the program is newer than the sources.
    pub(crate) fn compile(&self, sources: &[PathBuf], program: &Path, options: &[&str]) -> Fallible {
        let mut depends = sources.to_vec();
        if let Some(folder) = sources.first().and_then(|s| s.parent()) {
            depends.extend(crate::project::files(folder, "h"));
            // A test may be another one with other settings.
            let texts = sources.iter().filter_map(|source| fs::read_to_string(source).ok());
            let includes = |text: String| included(&text).map(|name| folder.join(name)).collect::<Vec<_>>();
            depends.extend(texts.flat_map(includes));
        }
        if self.flavour == "abi" {
            // A new header can change what is compiled; a new library alone can't.
            let include = self.compiler.parent().and_then(Path::parent).map(|p| p.join("include"));
            depends.extend(include.iter().flat_map(|folder| crate::project::files(folder, "h")));
        }
        if up_to_date(program, &depends) {
            return Ok(());
        }
        Job::new(&self.compiler).args(options).arg("-o").arg(program).args(sources).succeed().map(drop)
    }

    /// `mpiexec -n ranks`, to be completed with a program; `bound` = each rank on a core of its own.
    pub(crate) fn mpiexec(&self, ranks: usize, bound: bool) -> Job {
        Job::new(&self.mpiexec)
            .envs(&self.environment)
            .envs(&self.binding(bound))
            .args(self.always)
            .args(if bound { self.bound } else { self.unbound })
            .arg("-n")
            .arg(ranks.to_string())
    }

    /// Intel MPI binds by an environment variable, the others by an option.
    fn binding(&self, bound: bool) -> Vec<(String, OsString)> {
        match (self.name, bound) {
            ("Intel MPI", true) => vec![("I_MPI_PIN".into(), "1".into())],
            ("Intel MPI", false) => vec![("I_MPI_PIN".into(), "0".into())],
            _ => Vec::new(),
        }
    }

    /// `mpiexec` with nothing but the environment.
    pub(crate) fn plain(&self) -> Job {
        Job::new(&self.mpiexec).envs(&self.environment)
    }

    /// Where its mpiexec is, for scripts.
    pub(crate) fn launcher(&self) -> &Path {
        &self.mpiexec
    }

    /// What its library needs of the environment.
    pub(crate) fn environment(&self) -> &[(String, OsString)] {
        &self.environment
    }

    /// The value of `LD_LIBRARY_PATH` that leads to its library.
    pub(crate) fn library(&self) -> &OsStr {
        self.environment
            .iter()
            .find(|(name, _)| name == "LD_LIBRARY_PATH")
            .map_or(OsStr::new(""), |(_, path)| path)
    }

    /// A program without mpiexec, with the environment.
    pub(crate) fn alone(&self, program: &Path) -> Job {
        Job::new(program).envs(&self.environment)
    }
}

fn mpich(project: &Project) -> Fallible<Mpi> {
    let home = installed(project, "mpich", "mpich")?;
    Ok(Mpi {
        name: "MPICH",
        flavour: "abi",
        mpiexec: home.join("bin/mpiexec"),
        compiler: home.join("bin/mpicc_abi"),
        environment: library_path(&home.join("lib")),
        always: &[],
        bound: &["-bind-to", "core"],
        // What it does by itself. Said in words, it keeps this mpiexec from spawning: "duplicate setting: binding".
        unbound: &[],
    })
}

fn intel(project: &Project) -> Fallible<Mpi> {
    let home = installed(project, "intel", "impi-rt")?;
    let mut environment = library_path(&home.join("lib"));
    environment.push(("I_MPI_ROOT".into(), home.clone().into()));
    environment.push(("FI_PROVIDER_PATH".into(), home.join("lib").into()));
    environment.push(("I_MPI_FABRICS".into(), "shm".into()));
    Ok(Mpi {
        name: "Intel MPI",
        flavour: "abi",
        mpiexec: home.join("bin/mpiexec"),
        compiler: project.stage.join("bin/mpicc"),
        environment,
        always: &[],
        bound: &[],
        unbound: &[],
    })
}

fn openmpi(project: &Project) -> Fallible<Mpi> {
    let home = installed(project, "openmpi", "openmpi")?;
    Ok(Mpi {
        name: "Open MPI",
        flavour: "openmpi",
        mpiexec: home.join("bin/mpiexec"),
        compiler: home.join("bin/mpicc"),
        environment: library_path(&home.join("lib")),
        always: &["--allow-run-as-root", "--oversubscribe"],
        bound: &["--bind-to", "core"],
        unbound: &["--bind-to", "none"],
    })
}

fn library_path(folder: &Path) -> Vec<(String, OsString)> {
    let mut path = OsString::from(folder);
    if let Some(old) = env::var_os("LD_LIBRARY_PATH").filter(|old| !old.is_empty()) {
        path.push(":");
        path.push(old);
    }
    vec![("LD_LIBRARY_PATH".into(), path)]
}

/// A virtual environment with this package of the Python registry.
fn installed(project: &Project, folder: &str, package: &str) -> Fallible<PathBuf> {
    let home = project.folder("rivals")?.join(folder);
    if !home.join("bin/mpiexec").exists() {
        crate::tally::show(&format!("installing {package} into {}", home.display()));
        Job::new("python3").args(["-m", "venv"]).arg(&home).succeed()?;
        Job::new(home.join("bin/pip")).args(["install", "--quiet", package]).limit(600).succeed()?;
    }
    if home.join("bin/mpiexec").exists() {
        Ok(home)
    } else {
        Err(format!("the Python package {package} has no bin/mpiexec"))
    }
}
