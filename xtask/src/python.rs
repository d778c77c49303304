//! Python programs: a virtual environment under `target/python` with NumPy and mpi4py, built by pip from its published
//! source with our compiler wrapper; the programs of `tests/python`; mpi4py's own benches.
//! mpi4py's own tests are in `mpi4py`. What must stay true: the second run builds nothing; the environment is made anew
//! when `mpi.h`, the Python interpreter or the release of mpi4py changed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    futures,
    mpi::Mpi,
    mpi4py,
    process::Job,
    project::{Fallible, Project, files, stem},
    tally::{Tally, show},
};

/// The release of mpi4py that is built: the list of its tests belongs to it.
pub(crate) const RELEASE: &str = "mpi4py==4.1.2";

/// Without these, parts of mpi4py's tests leave themselves out.
const LIBRARIES: [&str; 4] = ["numpy<3", "cffi", "dill", "pyyaml"];

/// An environment in which `import mpi4py.MPI` uses the staged library.
#[derive(Debug)]
pub(crate) struct Environment {
    /// The interpreter.
    pub(crate) python: PathBuf,
    /// mpi4py's published source, unpacked: its tests are there.
    pub(crate) source: PathBuf,
}

/// Makes the environment, unless it is there.
pub(crate) fn environment(project: &Project) -> Fallible<Environment> {
    let home = project.target.join("python");
    let found = Environment { python: home.join("bin/python"), source: home.join("source") };
    let stamp = home.join("built-for");
    let wanted = fingerprint(project)?;
    if fs::read_to_string(&stamp).is_ok_and(|built| built == wanted) && found.python.exists() {
        return Ok(found);
    }
    show("building mpi4py from its published source with our mpicc (once; about a minute)");
    let _ = fs::remove_dir_all(&home);
    Job::new("python3").args(["-m", "venv"]).arg(&home).limit(120).succeed().map_err(|e| {
        format!(
            "python3 can't make a virtual environment (on Debian: apt install python3-venv python3-dev)\n{e}"
        )
    })?;
    let pip = || Job::new(&found.python).args(["-m", "pip", "--quiet"]).limit(900);
    let download = pip().args(["download", "--no-binary", "mpi4py", "--no-deps", RELEASE, "-d"]).arg(&home);
    download.succeed().map_err(|e| format!("pip can't download the source of {RELEASE}\n{e}"))?;
    let archive = files(&home, "gz").pop().ok_or("pip downloaded no source archive of mpi4py")?;
    fs::create_dir_all(&found.source).map_err(|e| format!("{}: {e}", found.source.display()))?;
    let unpack = Job::new("tar").args(["--strip-components=1", "-xzf"]).arg(&archive);
    unpack.arg("-C").arg(&found.source).succeed()?;
    let mpicc = project.stage.join("bin/mpicc");
    // Its one big C file takes minutes with the interpreter's own -O3; the last -O wins.
    let flags = format!("-O1 -g0 {}", survival());
    let install = pip().arg("install").arg(&found.source).env("MPICC", &mpicc).env("CFLAGS", flags);
    install.behind_others().succeed().map_err(|e| format!("pip can't build mpi4py with our mpicc\n{e}"))?;
    let libraries = pip().args(["install", "--only-binary", ":all:"]).args(LIBRARIES);
    libraries.succeed().map_err(|e| format!("pip can't install {}\n{e}", LIBRARIES.join(" ")))?;
    fs::write(&stamp, wanted).map_err(|e| format!("can't write {}: {e}", stamp.display()))?;
    Ok(found)
}

/// Flags that let mpi4py use the functions for programs that survive a loss, which it looks for with Open MPI only.
fn survival() -> String {
    let names = [
        "ERR_REVOKED",
        "ERR_PROC_FAILED",
        "ERR_PROC_FAILED_PENDING",
        "Comm_revoke",
        "Comm_is_revoked",
        "Comm_get_failed",
        "Comm_ack_failed",
        "Comm_agree",
        "Comm_iagree",
        "Comm_shrink",
        "Comm_ishrink",
    ];
    let there = names.map(|name| format!("-DPyMPI_HAVE_MPIX_{name}=1"));
    format!("-include mpi-ext.h {}", there.join(" "))
}

/// An environment with mpi4py as its authors publish it, built for MPICH's ABI and Open MPI's; its tests are those of
/// [`environment`].
pub(crate) fn published(project: &Project) -> Fallible<Environment> {
    let source = environment(project)?.source;
    let home = project.target.join("python-published");
    let found = Environment { python: home.join("bin/python"), source };
    let stamp = home.join("built-for");
    let wanted = format!("{RELEASE} {LIBRARIES:?}");
    if !fs::read_to_string(&stamp).is_ok_and(|built| built == wanted) {
        let _ = fs::remove_dir_all(&home);
        Job::new("python3").args(["-m", "venv"]).arg(&home).limit(120).succeed()?;
        let pip = Job::new(&found.python).args([
            "-m",
            "pip",
            "--quiet",
            "install",
            "--only-binary",
            ":all:",
            RELEASE,
        ]);
        pip.args(LIBRARIES).limit(300).succeed()?;
        fs::write(&stamp, wanted).map_err(|e| format!("can't write {}: {e}", stamp.display()))?;
    }
    Ok(found)
}

/// pip, to be completed: that of an environment for tools, as the system's own may be missing.
pub(crate) fn pip(project: &Project) -> Fallible<Job> {
    let home = project.target.join("python-tools");
    let pip = home.join("bin/pip");
    if !pip.exists() {
        Job::new("python3").args(["-m", "venv"]).arg(&home).limit(120).succeed()?;
    }
    Ok(Job::new(pip).limit(300))
}

/// The interpreter of the environment for tools, in which this package is installed.
pub(crate) fn tool(project: &Project, package: &str) -> Fallible<PathBuf> {
    pip(project)?.args(["install", "--quiet", package]).succeed()?;
    Ok(project.target.join("python-tools/bin/python"))
}

/// Runs every program of `tests/python` as often as its first lines ask (`# ranks: 1 2 4`, default 2);
/// `is_deep`: mpi4py's own tests with all their numbers of ranks.
pub(crate) fn tests(project: &Project, mpi: &Mpi, is_deep: bool, tally: &mut Tally) {
    let programs = files(&project.root.join("tests/python"), "py");
    match environment(project) {
        Ok(environment) => {
            programs.iter().for_each(|program| test(mpi, &environment.python, program, tally));
            mpi4py::run(project, mpi, &environment, is_deep, tally);
            futures::run(mpi, &environment, false, tally);
        }
        Err(complaint) => tally.test("python: environment with mpi4py", || Err(complaint)),
    }
}

fn test(mpi: &Mpi, python: &Path, program: &Path, tally: &mut Tally) {
    let text = fs::read_to_string(program).unwrap_or_default();
    let ranks = text.lines().take(20).find_map(|line| line.strip_prefix("# ranks:")).unwrap_or("2");
    for ranks in ranks.split_whitespace() {
        tally.test(&format!("python/{} with {ranks} ranks", stem(program)), || {
            let ranks = ranks.parse().map_err(|_| format!("`{ranks}` is not a number of ranks"))?;
            mpi.mpiexec(ranks, false).arg(python).arg(program).limit(120).succeed().map(drop)
        });
    }
}

/// One of mpi4py's own benches; gives its output.
pub(crate) fn bench(
    mpi: &Mpi,
    python: &Path,
    ranks: usize,
    bench: &str,
    options: &[&str],
) -> Fallible<String> {
    let job =
        mpi.mpiexec(ranks, false).arg(python).args(["-m", "mpi4py.bench", bench]).args(options).limit(180);
    job.succeed().map(|outcome| outcome.stdout)
}

/// What the build depends on: our headers, without the one that only warns, and the interpreter.
fn fingerprint(project: &Project) -> Fallible<String> {
    let mut text = Vec::new();
    for name in ["mpi.h", "mpi-ext.h", "posthaste_fortran.h", "posthaste_removed.h"] {
        let header = project.stage.join("include").join(name);
        text.extend(fs::read(&header).map_err(|e| format!("can't read {}: {e}", header.display()))?);
    }
    // FNV-1a: a change must be noticed, nobody attacks this.
    let hash =
        text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    let version = Job::new("python3").arg("-VV").succeed()?.stdout;
    Ok(format!("{RELEASE} {LIBRARIES:?} {} {hash:016x} {} {version}", survival(), project.stage.display()))
}
