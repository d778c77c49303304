//! The examples of the published crate `mpi` (rsmpi), built against our mpicc and run unchanged under our mpiexec:
//! Rust programs that nobody here wrote. The part `rsmpi` of `cargo xtask test`.
//!
//! The crate makes its bindings with libclang, which comes from the Python registry into the target folder, like
//! the crate itself from cargo's. What must stay true: an example that is left out is named, with the reason, in
//! `tests/rust/rsmpi-without.txt`, and counted.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::{
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project, files, stem},
    python,
    tally::Tally,
};

const RELEASE: &str = "0.8.2";
const WITHOUT: &str = "tests/rust/rsmpi-without.txt";
const RANKS: [usize; 2] = [4, 5];

/// Builds and runs all examples.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let clang = match libclang(project) {
        Ok(clang) => clang,
        Err(why) => return tally.not_run(1, format!("the crate `mpi`: libclang can't be had ({why})")),
    };
    let start = Instant::now();
    let (examples, folder) = match build(project, &clang) {
        Ok(built) => built,
        Err(complaint) => return tally.test("rsmpi: build", || Err(complaint)),
    };
    crate::tally::show(&format!(
        "      the crate `mpi` and its {} examples took {:.0} s to build",
        examples.len(),
        start.elapsed().as_secs_f64()
    ));
    let without = match without(project, &examples) {
        Ok(without) => without,
        Err(complaint) => return tally.test("rsmpi: the list of examples left out", || Err(complaint)),
    };
    tally.test("rsmpi: each example has its counterpart in docs/rsmpi.md", || {
        counterparts(project, &examples)
    });
    for ranks in RANKS {
        let start = Instant::now();
        let (mut passed, mut complaints) = (0, Vec::new());
        for example in examples.iter().filter(|example| !without.contains_key(*example)) {
            let job = mpi.mpiexec(ranks, false).arg(folder.join(example)).limit(60);
            match job.succeed() {
                Ok(_) => passed += 1,
                Err(complaint) => complaints.push(complaint),
            }
        }
        let name = format!("examples of the Rust crate mpi with {ranks} ranks");
        tally.counted(&name, passed, complaints.len(), start.elapsed(), &complaints.join("\n"));
    }
    for (example, why) in &without {
        tally.not_run(RANKS.len(), format!("example {example} of the Rust crate mpi: {why}"));
    }
}

/// The page that sets the two crates side by side names each example.
fn counterparts(project: &Project, examples: &[String]) -> Fallible {
    let page =
        fs::read_to_string(project.root.join("docs/rsmpi.md")).map_err(|e| format!("docs/rsmpi.md: {e}"))?;
    let missing: Vec<&str> =
        examples.iter().filter(|name| !page.contains(&format!("`{name}`"))).map(String::as_str).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("without a counterpart: {}", missing.join(", "))) }
}

/// Builds the examples from cargo's copy of the published source; gives their names and where they are.
fn build(project: &Project, clang: &Path) -> Fallible<(Vec<String>, PathBuf)> {
    let home = project.folder("rsmpi")?;
    let explain = |e: std::io::Error| format!("{}: {e}", home.display());
    // A package that only asks for the crate, so that cargo fetches it.
    fs::create_dir_all(home.join("src")).map_err(explain)?;
    fs::write(home.join("src/lib.rs"), "").map_err(explain)?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nmpi = \"={RELEASE}\"\n"
    );
    fs::write(home.join("Cargo.toml"), manifest).map_err(explain)?;
    let metadata = project.cargo(&["metadata", "--format-version", "1"]).dir(&home).succeed()?.stdout;
    let wanted = format!("/mpi-{RELEASE}/Cargo.toml");
    let manifest = metadata.split('"').find(|part| part.ends_with(&wanted)).map(PathBuf::from);
    let manifest = manifest.ok_or("cargo metadata does not say where the crate `mpi` is")?;

    let builtin = Job::new("gcc").arg("-print-file-name=include").succeed()?.stdout;
    let target = home.join("target");
    project
        .cargo(&["build", "--quiet", "--locked", "--examples", "--features", "derive,complex"])
        .arg("--manifest-path")
        .arg(&manifest)
        .env("CARGO_TARGET_DIR", &target)
        .env("MPICC", project.stage.join("bin/mpicc"))
        .env("LIBCLANG_PATH", clang)
        .env("BINDGEN_EXTRA_CLANG_ARGS", format!("-I{}", builtin.trim()))
        .succeed()?;
    let sources = manifest.parent().map(|folder| files(&folder.join("examples"), "rs")).unwrap_or_default();
    let folder = target.join("debug/examples");
    let examples: Vec<String> =
        sources.iter().map(|source| stem(source)).filter(|name| folder.join(name).exists()).collect();
    if examples.is_empty() { Err("the crate `mpi` has no examples".into()) } else { Ok((examples, folder)) }
}

/// The folder of libclang.so from the Python registry.
fn libclang(project: &Project) -> Fallible<PathBuf> {
    let home = project.target.join("libclang");
    let found = home.join("clang/native");
    if !found.join("libclang.so").exists() {
        let pip = python::pip(project)?.args(["install", "--quiet", "--no-deps", "--target"]);
        pip.arg(&home).arg("libclang").succeed()?;
    }
    if found.join("libclang.so").exists() {
        Ok(found)
    } else {
        Err("the Python package libclang has no libclang.so".into())
    }
}

/// `example: reason`, one in a line; `#` begins a comment.
fn without(project: &Project, examples: &[String]) -> Fallible<BTreeMap<String, String>> {
    let text =
        fs::read_to_string(project.root.join(WITHOUT)).map_err(|e| format!("can't read {WITHOUT}: {e}"))?;
    let mut without = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let (name, why) =
            line.split_once(':').ok_or_else(|| format!("{WITHOUT}: `{line}` is not `example: reason`"))?;
        if !examples.iter().any(|example| example == name) {
            return Err(format!("{WITHOUT}: there is no example {name}"));
        }
        without.insert(name.to_owned(), why.trim().to_owned());
    }
    Ok(without)
}
