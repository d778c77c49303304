//! Two extensions in one process, one built for the standard ABI and one for MPICH's, on one engine: each gets callbacks with handles,
//! numbers and statuses of its own ABI.
//!
//! What must stay true: each is loaded in a local scope, in both orders, and the program that loads them is built without MPI.

use std::path::{Path, PathBuf};

use crate::{
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
};

/// In both orders, with so many ranks.
const RUNS: [(bool, usize); 4] = [(false, 2), (true, 2), (false, 3), (true, 3)];

/// All of them.
pub(super) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let built = match build(project) {
        Ok(built) => built,
        Err(complaint) => {
            return tally.test("mpich: extensions of both ABIs: compile", || Err(complaint));
        }
    };
    for (reversed, ranks) in RUNS {
        let order = if reversed { "MPICH's first" } else { "the standard's first" };
        let name = format!("mpich: callbacks of both ABIs in one process, {order}, with {ranks} ranks");
        tally.test(&name, || {
            let [program, mut first, mut second] = built.clone();
            if reversed {
                std::mem::swap(&mut first, &mut second);
            }
            let said =
                mpi.mpiexec(ranks, false).arg(program).arg(first).arg(second).limit(60).succeed()?.stdout;
            if said.matches("each saw its own").count() == ranks { Ok(()) } else { Err(said) }
        });
    }
}

/// The program, and the extensions of the standard ABI and of MPICH's.
fn build(project: &Project) -> Fallible<[PathBuf; 3]> {
    let (folder, sources) = (project.folder("mpich/faces")?, project.root.join("tests/mpich"));
    let strict = ["-Wall", "-Wextra", "-Werror", "-g"];
    let extension = |compiler: &Path, name: &str| -> Fallible<PathBuf> {
        let library = folder.join(format!("{name}.so"));
        let job = Job::new(project.stage.join(compiler)).args(strict).args(["-shared", "-fPIC"]);
        let job = job.arg(format!("-DFACE=\"{name}\"")).arg("-o").arg(&library);
        job.arg(sources.join("face.c")).succeed()?;
        Ok(library)
    };
    let program = folder.join("faces");
    let job = Job::new("cc").args(strict).arg("-o").arg(&program).arg(sources.join("faces.c"));
    job.arg("-ldl").succeed()?;
    let standard = extension(Path::new("bin/mpicc"), "standard")?;
    Ok([program, standard, extension(Path::new("mpich/bin/mpicc"), "mpich")?])
}
