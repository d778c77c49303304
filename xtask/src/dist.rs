//! `dist`: what users install without a compiler of Rust, made of the staged installation: a Python wheel, a Debian package
//! and an archive, in `target/dist`. One folder, `tree`, is packed three times.
//!
//! What must stay true: everything inside finds the rest by its own place, so a package works under any prefix; nothing
//! is left of the machine that built it; the licences of all that is linked in lie beside it.

mod archive;
mod check;
mod crates;
mod debian;
mod licences;
mod module_file;
mod wheel;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

pub(crate) use check::run as check;
pub(crate) use crates::publish;

use crate::{
    install,
    process::Job,
    project::{Fallible, Project},
};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a package says of itself in one line.
const SUMMARY: &str = "posthaste: MPI 5.0 with the standard ABI, its launcher and compiler commands";

/// The packages.
#[derive(Debug)]
pub(crate) struct Packages {
    pub(crate) wheel: PathBuf,
    pub(crate) archive: PathBuf,
    /// `None` where there is no `dpkg-deb`.
    pub(crate) debian: Option<PathBuf>,
}

/// Stages the installation and packs it.
pub(crate) fn run(project: &Project) -> Fallible<Packages> {
    install::stage(project)?;
    let folder = project.folder("dist")?;
    let tree = tree(project, &folder)?;
    Ok(Packages {
        wheel: wheel::pack(project, &tree, &folder)?,
        archive: archive::pack(&tree, &folder)?,
        debian: debian::pack(&tree, &folder)?,
    })
}

/// What is installed, without what only debuggers read, but for mpiexec.
fn tree(project: &Project, folder: &Path) -> Fallible<PathBuf> {
    let tree = fresh(&folder.join("tree"))?;
    install::copy_staged(project, &tree)?;
    for binary in binaries(&tree)? {
        // Debuggers read in mpiexec what its variables are.
        let job = match binary.ends_with("mpiexec") {
            true => Job::new("objcopy").arg("--compress-debug-sections"),
            false => Job::new("strip").arg("--strip-debug"),
        };
        job.arg(&binary).succeed()?;
    }
    let about = tree.join("share/doc/posthaste");
    fs::create_dir_all(&about).map_err(|e| format!("{}: {e}", about.display()))?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"] {
        copy(&project.root.join(name), &about.join(name))?;
    }
    let pages = about.join("docs");
    fs::create_dir_all(&pages).map_err(|e| format!("{}: {e}", pages.display()))?;
    let all = fs::read_dir(project.root.join("docs")).map_err(|e| format!("docs: {e}"))?;
    for page in all.flatten() {
        copy(&page.path(), &pages.join(page.file_name()))?;
    }
    licences::write(project, &about.join("third-party-licences.txt"))?;
    licences::of_standard_library(&about.join("rust-standard-library.html"))?;
    Ok(tree)
}

/// The programs and the libraries, each once.
fn binaries(tree: &Path) -> Fallible<Vec<PathBuf>> {
    let programs = fs::read_dir(tree.join("bin")).map_err(|e| format!("{}: {e}", tree.display()))?;
    let mut found: Vec<PathBuf> =
        programs.flatten().map(|entry| entry.path()).filter(|path| !path.is_symlink()).collect();
    found.extend(install::LIBRARIES.map(|library| tree.join(library)));
    Ok(found)
}

/// The newest version of the system's C library that a binary of the tree asks for, as `(2, 34)`.
fn c_library(tree: &Path) -> Fallible<(u32, u32)> {
    let mut newest = (2, 17);
    for binary in binaries(tree)? {
        let symbols = Job::new("objdump").arg("-T").arg(&binary).succeed()?.stdout;
        newest = symbols.split("GLIBC_").skip(1).filter_map(version).fold(newest, Ord::max);
    }
    Ok(newest)
}

/// The first two numbers of a version that text begins with.
fn version(text: &str) -> Option<(u32, u32)> {
    let word = text.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    let mut numbers = word.split('.').map_while(|number| number.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

/// An empty folder.
fn fresh(folder: &Path) -> Fallible<PathBuf> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|e| format!("can't make the folder {}: {e}", folder.display()))?;
    Ok(folder.to_path_buf())
}

fn copy(from: &Path, to: &Path) -> Fallible {
    fs::copy(from, to)
        .map(drop)
        .map_err(|e| format!("can't copy {} to {}: {e}", from.display(), to.display()))
}

fn write(to: &Path, text: &str, mode: u32) -> Fallible {
    let explain = |e| format!("can't write {}: {e}", to.display());
    fs::create_dir_all(to.parent().unwrap_or(to)).map_err(explain)?;
    fs::write(to, text).map_err(explain)?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).map_err(explain)
}

/// Copies a folder with all that is in it, links as links.
fn copy_all(from: &Path, to: &Path) -> Fallible {
    Job::new("cp").arg("-a").arg(from.join(".")).arg(to).succeed().map(drop)
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_are_read_and_ordered_as_numbers() {
        assert_eq!(version("2.2.5) getenv"), Some((2, 2)));
        assert_eq!(version("2.34   pthread_create"), Some((2, 34)));
        assert!(version("2.9)") < version("2.34"));
        assert_eq!(version("PRIVATE"), None);
    }
}
