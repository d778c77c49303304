//! HDF5, as Debian has built it for MPICH: files of one process, and the error of a file of several, which takes MPI-IO.

use std::path::Path;

use super::program;
use crate::{
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
    unpacked::{Needs, Unpacked, system},
};

/// With the library itself, whose name changes with every release.
const PACKAGES: [&str; 1] = ["libhdf5-mpich-dev"];

/// How many tests these are.
pub(super) const COUNT: usize = 1;

pub(super) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    match Unpacked::fetch(project, "hdf5", &PACKAGES, Needs::Too) {
        Ok(unpacked) => {
            let name =
                "mpich: Debian's HDF5, files of one process, and MPI-IO that says that it is not there";
            tally.test(name, || files(project, mpi, &unpacked));
        }
        Err(complaint) => tally.not_run(COUNT, format!("mpich: HDF5 can't be fetched: {complaint}")),
    }
}

fn files(project: &Project, mpi: &Mpi, unpacked: &Unpacked) -> Fallible {
    let here = project.folder("debian/hdf5-files")?;
    let built = here.join("hdf5");
    let [headers, of_mpich] = ["hdf5/mpich".into(), format!("{}/mpich", system())]
        .map(|at| unpacked.root.join("usr/include").join(at));
    let library = unpacked.libraries().join("hdf5/mpich/libhdf5.so");
    let compiler =
        Job::new("cc").args(["-Wall", "-Wextra", "-Werror", "-Wl,--allow-shlib-undefined", "-isystem"]);
    compiler
        .arg(headers)
        .arg("-isystem")
        .arg(of_mpich)
        .arg(project.root.join("tests/mpich/hdf5.c"))
        .arg("-o")
        .arg(&built)
        .arg(library)
        .arg(unpacked.libraries().join("libmpich.so.12"))
        .succeed()?;
    let outcome = program(mpi, unpacked, 2, &built).arg(&here).dir(Path::new(&here)).limit(60).succeed()?;
    // What HDF5 shows of its errors: the call, and our sentence for it.
    let said = outcome.all();
    let wanted = ["hdf5: right", "MPI_File_open failed", "MPI_File_open is not implemented"];
    match wanted.iter().find(|wanted| !said.contains(**wanted)) {
        Some(missing) => Err(format!("\"{missing}\" was expected:\n{said}")),
        None => Ok(()),
    }
}
