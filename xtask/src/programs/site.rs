//! A program's place: its source, unpacked and built, and how it is run.
//!
//! What must stay true: the build and the runs know our installation by PATH alone; the second run builds nothing; a
//! program is built anew when its version, the way it is built, or our headers changed, and one in Fortran when our modules did.

use std::{
    env,
    ffi::{OsStr, OsString},
    fmt, fs,
    path::{Path, PathBuf},
    thread,
};

use super::{Archive, Program, shell};
use crate::{
    process::Job,
    project::{Fallible, Project, files},
    tally::show,
};

/// How many ranks a program gets, and whether messages between them go over TCP as between hosts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranks {
    pub(super) count: usize,
    pub(super) over_tcp: bool,
}

impl Ranks {
    /// As a user on one host starts them.
    pub(super) const fn of(count: usize) -> Self {
        Self { count, over_tcp: false }
    }

    /// Over TCP.
    pub(super) const fn tcp(count: usize) -> Self {
        Self { count, over_tcp: true }
    }
}

impl fmt::Display for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, over_tcp } = self;
        write!(f, "{count} rank{}", if *count == 1 { "" } else { "s" })?;
        if *over_tcp { f.write_str(" over TCP") } else { Ok(()) }
    }
}

/// What most programs run with. The first is what others are compared with.
pub(super) const RANKS: [Ranks; 6] =
    [Ranks::of(1), Ranks::of(2), Ranks::of(3), Ranks::of(4), Ranks::of(7), Ranks::tcp(4)];

/// A program that was built.
#[derive(Debug)]
pub(super) struct Site {
    /// What Debian's archive has.
    pub(super) version: String,
    /// The unpacked source, in which it was built.
    pub(super) source: PathBuf,
    /// The root of our repository, for lists.
    pub(super) root: PathBuf,
    home: PathBuf,
    path: OsString,
}

impl Site {
    /// Fetches, unpacks and builds, unless that was done before.
    pub(super) fn prepare(project: &Project, archive: &Archive, program: &Program) -> Fallible<Self> {
        let (tarball, version) = archive.fetch(program.source)?;
        let home = archive.folder(program.name);
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [project.stage.join("bin")].into_iter().chain(env::split_paths(&path));
        let path = env::join_paths(folders).map_err(|e| format!("PATH: {e}"))?;
        let site = Self { version, source: home.join(program.name), root: project.root.clone(), home, path };
        site.build(project, &tarball, program)?;
        Ok(site)
    }

    fn build(&self, project: &Project, tarball: &Path, program: &Program) -> Fallible {
        let mut wanted = format!("{} {}\n{}\n", self.version, project.stage.display(), program.build);
        for read in compiled_with(&project.stage.join("include"), program.needs.contains(&"gfortran")) {
            wanted +=
                &fs::read_to_string(&read).map_err(|e| format!("can't read {}: {e}", read.display()))?;
        }
        let stamp = self.home.join(format!("{}-built-for", program.name));
        if fs::read_to_string(&stamp).is_ok_and(|built| built == wanted) {
            return Ok(());
        }
        show(&format!("      building {} {} (once)", program.name, self.version));
        let explain = |e: std::io::Error| format!("{}: {e}", self.home.display());
        let _ = fs::remove_file(&stamp);
        let _ = fs::remove_dir_all(&self.source);
        fs::create_dir_all(&self.source).map_err(explain)?;
        let how = ["--strip-components=1", "--wildcards", "--no-wildcards-match-slash", "-xf"];
        let unpack = Job::new("tar").arg("-C").arg(&self.source).args(how).arg(tarball);
        unpack.args(program.parts).limit(300).succeed()?;
        let jobs = thread::available_parallelism().map_or(2, usize::from).to_string();
        let build = shell(program.build, &self.source).env("PATH", &self.path).env("JOBS", jobs);
        build.behind_others().limit(3600).succeed()?;
        fs::write(&stamp, wanted).map_err(explain)
    }

    /// `mpiexec -n ranks` as a user with our `bin` in PATH starts it, in a folder, to be completed with a program.
    pub(super) fn mpiexec(&self, ranks: Ranks, folder: &Path) -> Job {
        let job = self.run("mpiexec", folder).args(["-bind-to", "none", "-n"]).arg(ranks.count.to_string());
        if ranks.over_tcp { job.env("POSTHASTE_METHODS", "tcp") } else { job }
    }

    /// A program without mpiexec.
    pub(super) fn run(&self, program: impl AsRef<OsStr>, folder: &Path) -> Job {
        // BLAS would else start threads of its own in each rank.
        Job::new(program).env("PATH", &self.path).env("OPENBLAS_NUM_THREADS", "1").dir(folder).limit(120)
    }

    /// A shell script with our `bin` in PATH.
    pub(super) fn script(&self, script: &str, folder: &Path) -> Job {
        shell(script, folder).env("PATH", &self.path)
    }

    /// An empty folder for one run.
    pub(super) fn scratch(&self, name: &str) -> Fallible<PathBuf> {
        let folder = self.home.join("runs").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(folder)
    }
}

/// What of our installation's `include` a compiler reads: headers, and for Fortran the sources of the modules.
fn compiled_with(include: &Path, with_modules: bool) -> Vec<PathBuf> {
    let mut all = files(include, "h");
    if with_modules {
        all.extend(files(&include.join("fortran"), "f90"));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_in_fortran_depend_on_the_modules() {
        let include = env::temp_dir().join(format!("posthaste-site-{}", std::process::id()));
        fs::create_dir_all(include.join("fortran")).unwrap();
        for file in ["mpi.h", "mpif.h", "fortran/mpi.f90"] {
            fs::write(include.join(file), "").unwrap();
        }
        assert_eq!(compiled_with(&include, false).len(), 2);
        let all = compiled_with(&include, true);
        assert_eq!(all.len(), 3);
        assert!(all.contains(&include.join("fortran/mpi.f90")));
        fs::remove_dir_all(include).unwrap();
    }
}
