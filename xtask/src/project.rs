//! Where things are: the repository, cargo's target folder, the staged installation.
//! Every command starts from a `Project`; nothing else in xtask knows a path by heart.
//! What must stay true: all that is written lies under the target folder (`install --prefix` excepted).

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::process::Job;

/// What went wrong, ready to be printed: a sentence, perhaps followed by the output of a program.
pub(crate) type Fallible<T = ()> = Result<T, String>;

/// The folders every command works in.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    /// The root of the repository.
    pub(crate) root: PathBuf,
    /// Cargo's target folder.
    pub(crate) target: PathBuf,
    /// The installation that tests, demo and bench use.
    pub(crate) stage: PathBuf,
    /// Use what is staged as it is, without building.
    pub(crate) as_staged: bool,
    /// Builds keep nothing for the next one after a change: to keep it takes a third longer.
    pub(crate) builds_once: bool,
}

/// Options of cargo for builds that are used for moments: the engine is compiled quickly.
pub(crate) const QUICKLY: [&str; 2] = ["--config", "profile.dev.package.posthaste-core.opt-level=0"];

impl Project {
    /// Finds the repository from the place xtask was built at.
    pub(crate) fn find() -> Self {
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask has a parent folder").to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) if !folder.is_empty() => root.join(folder),
            _ => root.join("target"),
        };
        let stage = target.join("stage");
        Self { root, target, stage, as_staged: false, builds_once: false }
    }

    /// `cargo` with these arguments, in the root of the repository. What it builds in release mode may be handed on: nothing
    /// in it names a folder of this machine where sources lie, ours or those of other crates.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Job {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let job =
            Job::new(cargo).args(arguments).dir(&self.root).env("CARGO_TERM_COLOR", "never").limit(1500);
        let runs_tests = arguments.first() == Some(&"test") && !arguments.contains(&"--no-run");
        let job = if runs_tests { job } else { job.behind_others().limit(3000) };
        let job = if self.builds_once { job.env("CARGO_INCREMENTAL", "0") } else { job };
        if !arguments.contains(&"--release") {
            return job;
        }
        let mut flags = env::var("RUSTFLAGS").unwrap_or_default();
        for (folder, name) in self.sources() {
            flags += &format!(" --remap-path-prefix={}={name}", folder.display());
        }
        job.env("RUSTFLAGS", flags.trim())
    }

    /// Builds the libraries and examples without optimisation: of the whole workspace, since the tests use the same crates then.
    pub(crate) fn build_debug(&self) -> Fallible {
        self.cargo(&["build", "--quiet", "--workspace", "--lib", "--examples"]).succeed().map(drop)
    }

    /// What cargo knows of the crates in the build, and of those that they need, with these options.
    pub(crate) fn metadata<'a>(&self, options: impl IntoIterator<Item = &'a str>) -> Fallible<Value> {
        let known = self.cargo(&["metadata", "--format-version", "1"]).args(options).succeed()?.stdout;
        serde_json::from_str(&known).map_err(|e| format!("cargo metadata: {e}"))
    }

    /// The folders that the sources lie in, each with what it is called in messages and by debuggers.
    fn sources(&self) -> Vec<(PathBuf, &'static str)> {
        let registries = cargo_home().join("registry/src");
        let mut registries: Vec<PathBuf> =
            fs::read_dir(registries).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        registries.sort();
        let registries = registries.into_iter().map(|registry| (registry, "crates"));
        registries.chain([(self.root.clone(), "posthaste")]).collect()
    }

    /// A folder under the target folder, made when missing.
    pub(crate) fn folder(&self, name: &str) -> Fallible<PathBuf> {
        let path = self.target.join(name);
        fs::create_dir_all(&path).map_err(|e| format!("can't make the folder {}: {e}", path.display()))?;
        Ok(path)
    }
}

/// Where cargo keeps what it has downloaded.
pub(crate) fn cargo_home() -> PathBuf {
    let home = || PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".cargo");
    env::var_os("CARGO_HOME").filter(|folder| !folder.is_empty()).map_or_else(home, PathBuf::from)
}

/// The files in a folder with one of these extensions, sorted by name; a missing folder is empty.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).map(|entries| entries.flatten().map(|e| e.path()).collect()).unwrap_or_default();
    found.retain(|path| path.extension().is_some_and(|e| e == extension));
    found.sort();
    found
}

/// The files in a folder whose names begin with one of these, sorted.
pub(crate) fn files_named(folder: &Path, beginnings: &[&str]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).map(|entries| entries.flatten().map(|e| e.path()).collect()).unwrap_or_default();
    let is_wanted = |name: String| beginnings.iter().any(|beginning| name.starts_with(beginning));
    found.retain(|path| {
        path.is_file() && path.file_name().is_some_and(|n| is_wanted(n.to_string_lossy().into()))
    });
    found.sort();
    found
}

/// The last part of a path without its extension, for showing.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether the file `made` exists and is newer than all of `sources`.
pub(crate) fn up_to_date(made: &Path, sources: &[PathBuf]) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|m| m.modified());
    let Ok(made) = time(made) else { return false };
    sources.iter().all(|source| time(source).is_ok_and(|source| source < made))
}
