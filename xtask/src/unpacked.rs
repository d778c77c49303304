//! Debian packages that are fetched by apt and unpacked in a folder of their own under `target/debian`, where nothing else finds them:
//! programs that are linked to another MPI's libraries, and compilers that few have.
//!
//! What must stay true: nothing is installed, and no root is needed; what was fetched once is kept until other packages are wanted.

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
        let (done, wanted) = (folder.join("done"), packages.join("\n"));
        if fs::read_to_string(&done).is_ok_and(|fetched| fetched == wanted) {
            return Ok(Self { root: folder.join("root") });
        }
        let _ = fs::remove_dir_all(&folder);
        let unpacked = Self { root: project.folder(&format!("debian/{name}/root"))? };
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
            update()?;
            download()?;
        }
        for package in files(&folder, "deb") {
            Job::new("dpkg-deb").arg("-x").arg(&package).arg(&unpacked.root).limit(120).succeed()?;
        }
        fs::write(&done, wanted).map_err(|e| format!("{}: {e}", done.display()))?;
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

/// The newest package that apt knows with this prefix and a number behind it.
pub(crate) fn newest(prefix: &str) -> Fallible<String> {
    let known = || Job::new("apt-cache").args(["pkgnames", prefix]).succeed();
    let mut number = highest(&known()?.stdout, prefix);
    if number.is_none() {
        update()?;
        number = highest(&known()?.stdout, prefix);
    }
    number.map(|number| format!("{prefix}{number}")).ok_or_else(|| format!("apt knows no package {prefix}N"))
}

fn highest(known: &str, prefix: &str) -> Option<u32> {
    known.lines().filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).max()
}

/// Tells apt what there is: on a fresh system it does not know.
fn update() -> Fallible {
    Job::new("apt-get").args(["-q", "update"]).limit(120).succeed().map(drop)
}

/// What these packages need and this system lacks.
fn lacking(packages: &[&str]) -> Fallible<Vec<String>> {
    let asked = Job::new("apt-get").args(["install", "--simulate", "--no-install-recommends"]);
    Ok(installed_anew(&asked.args(packages).succeed()?.stdout))
}

/// What apt says it would install, without what is there in an older version: `Inst NAME [OLD] (NEW ...)`.
fn installed_anew(said: &str) -> Vec<String> {
    let name = |line: &str| {
        let (name, versions) = line.strip_prefix("Inst ")?.split_once(' ')?;
        versions.starts_with('(').then(|| name.to_owned())
    };
    said.lines().filter_map(name).collect()
}

/// What Debian calls the folder of this kind of machine.
pub(crate) fn system() -> String {
    format!("{}-linux-gnu", std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_package_has_the_highest_number() {
        let known = "flang-9\nflang-19-doc\nflang-16\nflang-\nlibflang-20\n";
        assert_eq!(highest(known, "flang-"), Some(16));
        assert_eq!(highest("flang-19-doc\n", "flang-"), None);
    }

    #[test]
    fn what_is_only_upgraded_is_not_lacking() {
        let said = "Reading package lists...\n\
                    Inst libc6 [2.36-9] (2.36-10 Debian:12/stable [amd64]) []\n\
                    Inst libllvm19 (1:19.1.7-3 Debian:12/stable [amd64])\n\
                    Inst flang-19 (1:19.1.7-3 Debian:12/stable [amd64]) []\n\
                    Conf libc6 (2.36-10 Debian:12/stable [amd64])\n";
        assert_eq!(installed_anew(said), ["libllvm19", "flang-19"]);
    }
}
