//! The crates, as a registry takes them and `cargo install` uses them.
//!
//! What must stay true: a crate is whole without the rest of the repository.

use std::{fs, path::PathBuf};

use serde_json::Value;

use super::{VERSION, fresh};
use crate::{
    process::Job,
    project::{Fallible, Project, cargo_home},
};

/// A crate that is for others.
struct Crate {
    name: String,
    /// The registry can show documentation of it.
    has_documents: bool,
}

/// All crates that do not say `publish = false`.
fn chosen(project: &Project) -> Fallible<Vec<Crate>> {
    let known = project.metadata(["--no-deps"])?;
    let crates = known["packages"].as_array().into_iter().flatten();
    let crates = crates.filter(|package| package["publish"].is_null()).filter_map(|package| {
        let name = package["name"].as_str()?.to_owned();
        let mut targets = package["targets"].as_array()?.iter();
        let is_binary = |target: &Value| target["kind"][0] == "bin";
        let has_documents = targets.any(|target| !is_binary(target) && target["doc"] == true);
        Some(Crate { name, has_documents })
    });
    let chosen: Vec<Crate> = crates.collect();
    if chosen.len() < 2 { Err("fewer than two crates are for others, says cargo".into()) } else { Ok(chosen) }
}

/// The crates as options of cargo.
fn options(crates: &[Crate]) -> impl Iterator<Item = String> {
    crates.iter().map(|one| format!("--package={}", one.name))
}

/// Packs all of them, without building what was packed; what of it lies outside its crate is a mistake.
pub(super) fn pack(project: &Project) -> Fallible<Vec<PathBuf>> {
    let folder = fresh(&project.folder("dist")?.join("crates"))?;
    let chosen = chosen(project)?;
    let arguments = ["package", "--quiet", "--no-verify", "--allow-dirty", "--target-dir"];
    project.cargo(&arguments).arg(&folder).args(options(&chosen)).succeed()?;
    let packed = crate::project::files(&folder.join("package"), "crate");
    if packed.len() != chosen.len() {
        return Err(format!("{} crates were expected, these are packed: {packed:?}", chosen.len()));
    }
    for package in &packed {
        let listed = Job::new("tar").arg("-tzf").arg(package).succeed()?.stdout;
        for wanted in ["src/lib.rs", "README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            if !listed.lines().any(|file| file.split_once('/').is_some_and(|(_, file)| file == wanted)) {
                return Err(format!("{} has no {wanted}:\n{listed}", package.display()));
            }
        }
    }
    Ok(packed)
}

/// As it would be published, crate by crate, each built from what was packed. Then, from what was packed: its documentation as
/// the registry makes it, and the launcher installed by cargo. It takes minutes.
pub(crate) fn publish(project: &Project) -> Fallible {
    let chosen = chosen(project)?;
    let packed = pack(project)?;
    forget_unpacked()?;
    let folder = fresh(&project.folder("dist")?.join("published"))?;
    let arguments = ["publish", "--dry-run", "--allow-dirty", "--target-dir"];
    project.cargo(&arguments).arg(folder).args(options(&chosen)).succeed()?;
    let unpacked = Unpacked::new(project, &packed)?;
    for one in chosen.iter().filter(|one| one.has_documents) {
        let arguments = ["doc", "--quiet", "--no-deps", "--lib", "--all-features", "--manifest-path"];
        let job = project.cargo(&arguments).arg(unpacked.folder(one)?.join("Cargo.toml"));
        let job = unpacked.instead_of_registry(job).env("RUSTDOCFLAGS", "--cfg docsrs -D warnings");
        job.succeed()?;
    }
    let launcher = chosen.iter().find(|one| one.name == "posthaste-launch");
    install(project, &unpacked, launcher.ok_or("the launcher is not for others")?)?;
    let names: Vec<&str> = chosen.iter().map(|one| one.name.as_str()).collect();
    println!("built, documented and installed from what a registry would get: {}", names.join(" "));
    Ok(())
}

/// Removes what cargo has unpacked when crates were last published to nowhere: it takes a crate of the same version for the same.
fn forget_unpacked() -> Fallible {
    let sources = cargo_home().join("registry/src");
    let folders = fs::read_dir(&sources).into_iter().flatten().flatten();
    // A registry without a host is a folder.
    for folder in folders.filter(|folder| folder.file_name().as_encoded_bytes().starts_with(b"-")) {
        let packages = fs::read_dir(folder.path()).into_iter().flatten().flatten();
        for package in packages.filter(|one| one.file_name().as_encoded_bytes().starts_with(b"posthaste")) {
            fs::remove_dir_all(package.path()).map_err(|e| format!("{}: {e}", package.path().display()))?;
        }
    }
    Ok(())
}

/// The crates, unpacked.
struct Unpacked {
    home: PathBuf,
    /// Options of cargo: our crates are these, not those of a registry, where they may not be yet.
    patches: Vec<String>,
    target: PathBuf,
}

impl Unpacked {
    fn new(project: &Project, packed: &[PathBuf]) -> Fallible<Self> {
        let home = fresh(&project.folder("dist")?.join("unpacked"))?;
        let mut patches = Vec::new();
        for package in packed {
            // As new: in the package all files are of one day, by which cargo could not tell that they have changed.
            Job::new("tar").arg("-C").arg(&home).arg("-xmzf").arg(package).succeed()?;
            let stem = crate::project::stem(package);
            let name =
                stem.strip_suffix(&format!("-{VERSION}")).ok_or(format!("{stem} is of another version"))?;
            let folder = home.join(&stem);
            // It lies in our workspace and is no member of it.
            let manifest = folder.join("Cargo.toml");
            let text = fs::read_to_string(&manifest).map_err(|e| format!("{}: {e}", manifest.display()))?;
            super::write(&manifest, &format!("{text}\n[workspace]\n"), 0o644)?;
            patches.push(format!("patch.crates-io.{name}.path='{}'", folder.display()));
        }
        Ok(Self { home, patches, target: project.folder("dist")?.join("built") })
    }

    fn folder(&self, one: &Crate) -> Fallible<PathBuf> {
        let folder = self.home.join(format!("{}-{VERSION}", one.name));
        if folder.is_dir() { Ok(folder) } else { Err(format!("there is no {}", folder.display())) }
    }

    fn instead_of_registry(&self, job: Job) -> Job {
        let patches = self.patches.iter().flat_map(|patch| ["--config", patch]);
        job.args(patches).arg("--target-dir").arg(&self.target)
    }
}

/// The crate of the launcher, installed by cargo, without optimisation.
fn install(project: &Project, unpacked: &Unpacked, launcher: &Crate) -> Fallible {
    let root = fresh(&project.folder("dist")?.join("cargo"))?;
    let arguments = ["install", "--quiet", "--debug", "--no-track", "--path"];
    let job = project.cargo(&arguments).arg(unpacked.folder(launcher)?).arg("--root").arg(&root);
    unpacked.instead_of_registry(job).succeed()?;
    let said = Job::new(root.join("bin/mpiexec")).args(["-n", "2", "echo", "a rank"]).succeed()?.stdout;
    let programs = fs::read_dir(root.join("bin")).map_err(|e| e.to_string())?.flatten().count();
    if said != "a rank\na rank\n" || programs != 6 {
        return Err(format!("mpiexec and five other programs were expected, there are {programs}:\n{said}"));
    }
    Ok(())
}
