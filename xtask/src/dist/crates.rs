//! The crates, as a registry takes them and `cargo install` uses them.
//!
//! What must stay true: a crate is whole without the rest of the repository.

use std::{fs, path::PathBuf};

use serde_json::Value;

use super::fresh;
use crate::{
    process::Job,
    project::{Fallible, Project},
};

/// The crates that are for others, as options of cargo: all that do not say `publish = false`.
fn chosen(project: &Project) -> Fallible<Vec<String>> {
    let known = project.cargo(&["metadata", "--no-deps", "--format-version", "1"]).succeed()?.stdout;
    let known: Value = serde_json::from_str(&known).map_err(|e| format!("cargo metadata: {e}"))?;
    let crates = known["packages"].as_array().into_iter().flatten();
    let names =
        crates.filter(|package| package["publish"].is_null()).filter_map(|package| package["name"].as_str());
    let chosen: Vec<String> = names.map(|name| format!("--package={name}")).collect();
    if chosen.len() < 2 {
        Err(format!("these crates are for others, says cargo: {chosen:?}"))
    } else {
        Ok(chosen)
    }
}

/// Packs all of them, without building what was packed; what of it lies outside its crate is a mistake.
pub(super) fn pack(project: &Project) -> Fallible<Vec<PathBuf>> {
    let folder = fresh(&project.folder("dist")?.join("crates"))?;
    let chosen = chosen(project)?;
    let arguments = ["package", "--quiet", "--no-verify", "--allow-dirty", "--target-dir"];
    project.cargo(&arguments).arg(&folder).args(&chosen).succeed()?;
    let packed = crate::project::files(&folder.join("package"), "crate");
    if packed.len() != chosen.len() {
        return Err(format!("{chosen:?} were expected, these are packed: {packed:?}"));
    }
    for package in &packed {
        let listed = Job::new("tar").arg("-tzf").arg(package).succeed()?.stdout;
        if !listed.lines().any(|file| file.ends_with("/src/lib.rs")) {
            return Err(format!("{} has no library:\n{listed}", package.display()));
        }
    }
    Ok(packed)
}

/// As it would be published, crate by crate, each built from what was packed; its documentation; the launcher installed by cargo.
/// It takes minutes.
pub(crate) fn publish(project: &Project) -> Fallible {
    let arguments = ["publish", "--dry-run", "--allow-dirty"];
    project.cargo(&arguments).args(chosen(project)?).succeed()?;
    let arguments = ["doc", "--no-deps", "-p", "posthaste", "-p", "posthaste-launch"];
    project.cargo(&arguments).env("RUSTDOCFLAGS", "--cfg docsrs -D warnings").succeed()?;
    install(project)
}

/// The crate of the launcher, installed by cargo, without optimisation.
fn install(project: &Project) -> Fallible {
    let root = fresh(&project.folder("dist")?.join("cargo"))?;
    let arguments = ["install", "--quiet", "--locked", "--debug", "--no-track", "--path"];
    let launcher = project.root.join("crates/posthaste-launch");
    let job = project.cargo(&arguments).arg(launcher).arg("--root").arg(&root);
    job.arg("--target-dir").arg(&project.target).succeed()?;
    let said = Job::new(root.join("bin/mpiexec")).args(["-n", "2", "echo", "a rank"]).succeed()?.stdout;
    let programs = fs::read_dir(root.join("bin")).map_err(|e| e.to_string())?.flatten().count();
    if said != "a rank\na rank\n" || programs != 5 {
        return Err(format!("mpiexec and four other programs were expected, there are {programs}:\n{said}"));
    }
    Ok(())
}
