//! Debian packages that are fetched by apt and unpacked in a folder of their own under `target/debian`, where nothing else finds them:
//! programs that are linked to another MPI's libraries, and compilers that few have.
//!
//! What must stay true: nothing is installed, and no root is needed; what was fetched once is kept.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    process::Job,
    project::{Fallible, Project, files},
};

/// Packages, unpacked one over the other.
#[derive(Debug)]
pub(crate) struct Unpacked {
    /// What would be `/`.
    pub(crate) root: PathBuf,
}

impl Unpacked {
    /// These packages and, if wanted, all that they need and this system lacks.
    pub(crate) fn fetch(project: &Project, name: &str, packages: &[&str], needs: Needs) -> Fallible<Self> {
        let folder = project.folder(&format!("debian/{name}"))?;
        let unpacked = Self { root: project.folder(&format!("debian/{name}/root"))? };
        let done = folder.join("done");
        if done.exists() {
            return Ok(unpacked);
        }
        let download = || -> Fallible {
            let mut all: Vec<String> = packages.iter().map(ToString::to_string).collect();
            if needs == Needs::Too {
                all.extend(lacking(packages)?);
                all.sort();
                all.dedup();
            }
            Job::new("apt-get").arg("download").args(all).dir(&folder).limit(300).succeed().map(drop)
        };
        if download().is_err() {
            // It does not know where they are on a fresh system.
            Job::new("apt-get").args(["-q", "update"]).limit(120).succeed()?;
            download()?;
        }
        for package in files(&folder, "deb") {
            Job::new("dpkg-deb").arg("-x").arg(&package).arg(&unpacked.root).limit(120).succeed()?;
        }
        fs::write(&done, "").map_err(|e| format!("{}: {e}", done.display()))?;
        Ok(unpacked)
    }

    /// Where their libraries are.
    pub(crate) fn libraries(&self) -> PathBuf {
        self.root.join("usr/lib").join(system())
    }

    /// What the loader has to search for a program of theirs, with these folders first.
    pub(crate) fn search_path(&self, first: &[&Path]) -> String {
        let folders = ["", "blas", "lapack"].map(|folder| self.libraries().join(folder));
        let folders = first.iter().copied().chain(folders.iter().map(PathBuf::as_path));
        let folders: Vec<String> = folders.map(|folder| folder.display().to_string()).collect();
        folders.join(":")
    }
}

/// Whether other packages come along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Those that they need.
    Too,
    /// None.
    No,
}

/// What apt would install for these packages.
fn lacking(packages: &[&str]) -> Fallible<Vec<String>> {
    let asked = Job::new("apt-get").args(["install", "--simulate", "--no-install-recommends"]);
    let said = asked.args(packages).succeed()?.stdout;
    let name = |line: &str| Some(line.strip_prefix("Inst ")?.split_whitespace().next()?.to_owned());
    Ok(said.lines().filter_map(name).collect())
}

/// What Debian calls the folder of this kind of machine.
pub(crate) fn system() -> String {
    format!("{}-linux-gnu", std::env::consts::ARCH)
}
