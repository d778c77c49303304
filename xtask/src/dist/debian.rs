//! The Debian package: everything under `/usr/lib/posthaste`, and a choice among others for the commands in `/usr/bin`.
//!
//! What must stay true: it lies beside the packages of MPICH and Open MPI, whose groups of alternatives (`mpi`, `mpirun`) it
//! joins with the same names and a lower priority, so that its installation changes nothing for anybody who has another.
//! The library is not put where the loader looks: programs that our mpicc has built know its place.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{SUMMARY, VERSION, c_library, copy_all, fresh, write};
use crate::{packages, process::Job, project::Fallible};

/// Where the package puts all files.
pub(super) const HOME: &str = "usr/lib/posthaste";

/// But for this one, where Debian looks for it.
pub(super) const COPYRIGHT: &str = "usr/share/doc/posthaste/copyright";

const AFTER: &str = r#"#!/bin/sh
set -e
home=/usr/lib/posthaste/bin
alternatives() { update-alternatives ${DPKG_ROOT:+--root "$DPKG_ROOT"} --quiet "$@"; }
if [ "$1" = configure ]; then
    alternatives --install /usr/bin/mpirun mpirun $home/mpirun 30 --slave /usr/bin/mpiexec mpiexec $home/mpiexec
    alternatives --install /usr/bin/mpicc mpi $home/mpicc 30 --slave /usr/bin/mpicxx mpicxx $home/mpicxx \
        --slave /usr/bin/mpic++ mpic++ $home/mpicxx --slave /usr/bin/mpiCC mpiCC $home/mpicxx \
        --slave /usr/bin/mpifort mpifort $home/mpifort --slave /usr/bin/mpif90 mpif90 $home/mpif90 \
        --slave /usr/bin/mpif77 mpif77 $home/mpif77
fi
"#;

const BEFORE: &str = r#"#!/bin/sh
set -e
home=/usr/lib/posthaste/bin
alternatives() { update-alternatives ${DPKG_ROOT:+--root "$DPKG_ROOT"} --quiet "$@"; }
if [ "$1" = remove ] || [ "$1" = deconfigure ]; then
    alternatives --remove mpirun $home/mpirun
    alternatives --remove mpi $home/mpicc
    # What mpifort has compiled there.
    rm -rf "$DPKG_ROOT/usr/lib/posthaste/lib/fortran"
fi
"#;

/// Both licences in full, and where those of what is linked in lie.
fn copyright(tree: &Path) -> Fallible<String> {
    let about = tree.join("share/doc/posthaste");
    let mut text = format!(
        "posthaste {VERSION}, under the MIT licence or the Apache licence 2.0, as you choose. The licences of what is\n\
         linked in lie in /{HOME}/share/doc/posthaste.\n"
    );
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let path = about.join(name);
        let licence = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        text += &format!("\n{}\n\n{licence}", "-".repeat(72));
    }
    Ok(text)
}

pub(super) fn pack(tree: &Path, folder: &Path) -> Fallible<Option<PathBuf>> {
    if !packages::present("dpkg-deb") {
        return Ok(None);
    }
    let architecture = Job::new("dpkg").arg("--print-architecture").succeed()?.stdout;
    let architecture = architecture.trim();
    let root = fresh(&folder.join("debian"))?;
    copy_all(tree, &fresh(&root.join(HOME))?)?;
    let (major, minor) = c_library(tree)?;
    let control = format!(
        "Package: posthaste\nVersion: {VERSION}\nArchitecture: {architecture}\nSection: net\nPriority: optional\n\
         Maintainer: the developers of posthaste\nDepends: libc6 (>= {major}.{minor})\nRecommends: gcc\n\
         Description: {SUMMARY}\n \
         A message-passing library with the C interface of MPI 5.0 and its standard ABI,\n \
         mpiexec, mpicc and mpicxx. It is chosen by update-alternatives --config mpi and\n \
         --config mpirun, or by its own place, /usr/lib/posthaste/bin.\n"
    );
    write(&root.join("DEBIAN/control"), &control, 0o644)?;
    write(&root.join(COPYRIGHT), &copyright(tree)?, 0o644)?;
    write(&root.join("DEBIAN/postinst"), AFTER, 0o755)?;
    write(&root.join("DEBIAN/prerm"), BEFORE, 0o755)?;
    let package = folder.join(format!("posthaste_{VERSION}_{architecture}.deb"));
    let job = Job::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&root).arg(&package);
    job.limit(300).succeed()?;
    Ok(Some(package))
}
