//! The Fortran tests with LLVM's compiler, whose descriptors of sections, names and strictness are not gfortran's.

use std::path::{Path, PathBuf};

use super::{BUILDS, Tests, defined, is_for, side_by_side};
use crate::{
    mpi::Mpi,
    packages::present,
    project::{Fallible, Project, files, stem},
    tally::Tally,
    unpacked::{Needs, Unpacked, newest},
};

/// Tests that are built for `mpi` and `mpif.h`, too.
const IN_ALL: [&str; 16] = [
    "abort",
    "communicators",
    "communicators_more",
    "environment_more",
    "gathers",
    "heat",
    "jobs",
    "messages_more",
    "neighborhoods",
    "objects",
    "partitioned",
    "reductions",
    "sessions",
    "types",
    "types_more",
    "windows_more",
];
/// The same for `mpi` alone: calls with arguments of several types, which nothing declares in `mpif.h`, are errors there.
const IN_MPI: [&str; 3] = ["kernels", "messages", "windows"];

/// All of them.
pub(super) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let sources = files(&project.root.join("tests/fortran"), "F90");
    let is_wanted = |source: &Path, interface: &str| {
        let name = stem(source);
        let is_new = matches!(interface, "f08" | "large");
        let too = is_new || IN_ALL.contains(&&*name) || interface == "mpi" && IN_MPI.contains(&&*name);
        too && is_for(source, interface)
    };
    let all = sources.iter().flat_map(|source| BUILDS.map(|interface| (source, interface)));
    let builds: Vec<(&PathBuf, &'static str)> =
        all.filter(|(source, interface)| is_wanted(source, interface)).collect();
    if !present("apt-get") {
        return tally.not_run(builds.len(), "fortran: flang is fetched by apt-get");
    }
    let flang = match Flang::fetch(project) {
        Ok(flang) => flang,
        Err(complaint) => {
            return tally.not_run(builds.len(), format!("fortran: flang can't be fetched: {complaint}"));
        }
    };
    let folder = match project.folder("fortran/flang") {
        Ok(folder) => folder,
        Err(complaint) => return tally.test("fortran: flang", || Err(complaint)),
    };
    let tests = Tests { project, mpi, folder };
    let built = side_by_side(&builds, |source, interface| flang.build(&tests, source, interface));
    for ((source, interface), program) in builds.into_iter().zip(built) {
        tests.one(source, &format!("{interface}, {}", flang.name), program, tally);
    }
}

struct Flang {
    name: String,
    unpacked: Unpacked,
}

impl Flang {
    /// The newest one that apt knows.
    fn fetch(project: &Project) -> Fallible<Self> {
        let name = newest("flang-")?;
        let unpacked = Unpacked::fetch(project, "flang", &[&name], Needs::Too)?;
        Ok(Self { name, unpacked })
    }

    fn build(&self, tests: &Tests<'_>, source: &Path, interface: &str) -> Fallible<PathBuf> {
        let program = tests.folder.join(format!("{}-{interface}", stem(source)));
        let home = self.unpacked.root.join(format!("usr/lib/{}", self.name.replace("flang", "llvm")));
        let compiler = tests.compiler().arg(format!("-fc={}", home.join("bin/flang-new").display()));
        let compiler = compiler.env("LD_LIBRARY_PATH", self.unpacked.search_path(&[&home.join("lib")]));
        let modules = tests.project.folder(&format!("fortran/flang/modules/{}-{interface}", stem(source)))?;
        let compiler = compiler.arg("-O1").args(defined(interface)).dir(&modules);
        compiler.arg(source).arg("-o").arg(&program).succeed()?;
        Ok(program)
    }
}
