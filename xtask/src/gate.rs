//! `cargo xtask test`: everything that must hold before a change is taken. Called by the README's test command
//! and by `.ci/run`.
//!
//! Tier 1 needs rustc, cargo, gcc and python3. Tier 2 needs root (mount namespaces) and more programs; what of
//! it can't run is counted and explained. The last line is `N passed, N failed`.

use std::time::Instant;

use crate::{
    abi_check, arrows, builds, conformance, ctests, demo, faults, hangs, headers, hosts, install,
    instructions, launchers, lost,
    mpi::Mpi,
    process::{Job, Outcome},
    project::{Fallible, Project},
    python, races, rsmpi,
    tally::Tally,
};

/// The parts in the order in which they run, cheap ones first.
pub(crate) const PARTS: [&str; 25] = [
    "fmt",
    "arrows",
    "clippy",
    "unit",
    "loom",
    "doc",
    "deny",
    "stage",
    "abi",
    "headers",
    "conformance",
    "builds",
    "c",
    "paths",
    "faults",
    "hangs",
    "launchers",
    "methods",
    "hosts",
    "python",
    "rsmpi",
    "demo",
    "valgrind",
    "races",
    "instructions",
];

/// Runs the parts in `only`, or all of them. `Ok(true)` when nothing failed.
pub(crate) fn run(project: &Project, only: &[String]) -> Fallible<bool> {
    if let Some(unknown) = only.iter().find(|part| !PARTS.contains(&part.as_str())) {
        return Err(format!("no part is called {unknown}; the parts are {}", PARTS.join(" ")));
    }
    let wanted = |part: &str| only.is_empty() || only.iter().any(|o| o == part);
    let mut tally = Tally::default();
    let start = Instant::now();
    if wanted("fmt") {
        tally.test("cargo fmt --check", || {
            project.cargo(&["fmt", "--all", "--", "--check", "-l"]).succeed().map(drop)
        });
    }
    if wanted("arrows") {
        tally.test("arrows between crates and rooms", || arrows::run(project));
    }
    if wanted("clippy") {
        let arguments = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
        tally.test("cargo clippy", || project.cargo(&arguments).succeed().map(drop));
    }
    if wanted("unit") {
        unit_tests(project, &mut tally);
    }
    if wanted("loom") {
        loom(project, &mut tally);
    }
    if wanted("doc") {
        let job =
            project.cargo(&["doc", "--quiet", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
        tally.test("cargo doc", || job.succeed().map(drop));
    }
    if wanted("deny") {
        deny(project, &mut tally);
    }
    if wanted("conformance") {
        tally.test("docs/conformance.md says what is implemented", || conformance::check(project));
    }
    let staged = install::stage(project);
    let usable = staged.is_ok();
    if wanted("stage") || !usable {
        tally.test("release build, staged installation", || staged);
    }
    if usable {
        with_library(project, &wanted, &mut tally)?;
    } else {
        tally.not_run(1, "everything that needs the library: it can't be built");
    }
    println!("all of it took {:.0} s", start.elapsed().as_secs_f64());
    Ok(tally.finish())
}

/// The parts that run programs with the staged library.
fn with_library(project: &Project, wanted: &dyn Fn(&str) -> bool, tally: &mut Tally) -> Fallible {
    let mpi = Mpi::posthaste(project);
    if wanted("abi") {
        tally.test("abi-check: names, signatures, constants, layouts", || abi_check::run().map(drop));
    }
    if wanted("headers") {
        headers::run(project, tally);
    }
    if wanted("builds") {
        builds::run(project, &mpi, tally);
    }
    if wanted("c") {
        ctests::run(project, &mpi, "", ctests::Over::Own, tally)?;
    }
    if wanted("paths") {
        faults::paths(project, &mpi, tally);
    }
    if wanted("faults") {
        faults::run(project, &mpi, tally);
        lost::run(project, &mpi, tally);
    }
    if wanted("hangs") {
        hangs::run(project, &mpi, tally);
    }
    if wanted("launchers") {
        launchers::run(project, &mpi, tally);
    }
    if wanted("methods") {
        ctests::over_methods(project, &mpi, tally)?;
    }
    if wanted("hosts") {
        hosts::run(project, &mpi, tally);
    }
    if wanted("python") {
        python::tests(project, &mpi, tally);
    }
    if wanted("rsmpi") {
        rsmpi::run(project, &mpi, tally);
    }
    if wanted("demo") {
        tally.test("the demo, short", || demo::run(project, &demo::Length::Short));
    }
    if wanted("valgrind") {
        valgrind(project, &mpi, tally);
    }
    if wanted("races") {
        races::run(project, &mpi, tally);
    }
    if wanted("instructions") {
        instructions::run(project, &mpi, tally);
    }
    Ok(())
}

/// Every interleaving of the structures in shared memory, by loom. Built aside: the whole workspace would have to
/// be built again for it.
fn loom(project: &Project, tally: &mut Tally) {
    tally.test("loom: rings, copy buffers and the doorbell", || {
        let folder = project.folder("loom")?;
        let arguments =
            ["test", "--quiet", "--release", "-p", "posthaste-os", "--test", "loom", "--target-dir"];
        project.cargo(&arguments).arg(folder).env("RUSTFLAGS", "--cfg loom").limit(600).succeed().map(drop)
    });
}

/// `cargo test`, its tests counted one by one.
fn unit_tests(project: &Project, tally: &mut Tally) {
    match project.cargo(&["test", "--quiet", "--workspace", "--no-fail-fast"]).limit(1200).run() {
        Ok(outcome) => {
            let (passed, mut failed, ignored) = count(&outcome.all());
            if !outcome.ok() && failed == 0 {
                failed = 1;
            }
            tally.counted("cargo test", passed, failed, outcome.took, &failures(&outcome));
            if ignored > 0 {
                tally.not_run(ignored, "marked #[ignore]");
            }
        }
        Err(complaint) => tally.test("cargo test", || Err(complaint)),
    }
}

/// What failing tests said; everything when no test said anything (it did not compile, or it crashed).
fn failures(outcome: &Outcome) -> String {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in outcome.stdout.lines() {
        inside = (inside || line == "failures:") && !line.starts_with("test result:");
        if inside {
            lines.push(format!("    | {line}"));
        }
    }
    if lines.is_empty() { outcome.complaint() } else { lines.join("\n") }
}

/// Passed, failed and ignored tests in what `cargo test` wrote.
fn count(output: &str) -> (usize, usize, usize) {
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    for line in output.lines().filter(|line| line.starts_with("test result:")) {
        for part in line.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let number: usize = words.next().and_then(|n| n.parse().ok()).unwrap_or(0);
            match words.next() {
                Some("passed") => passed += number,
                Some("failed") => failed += number,
                Some("ignored") => ignored += number,
                _ => {}
            }
        }
    }
    (passed, failed, ignored)
}

/// Tier 2: licences, bans, sources.
fn deny(project: &Project, tally: &mut Tally) {
    let tools = project.target.join("tools");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", tools.join("bin").display());
    let present =
        || Job::new("cargo").args(["deny", "--version"]).env("PATH", &path).run().is_ok_and(|o| o.ok());
    if !present() {
        println!("building cargo-deny into {} (once)", tools.display());
        let root = tools.to_string_lossy().into_owned();
        let _ = project
            .cargo(&["install", "--quiet", "--locked", "--debug", "--root", &root, "cargo-deny"])
            .limit(900)
            .run();
    }
    if !present() {
        return tally
            .not_run(1, "cargo deny: cargo-deny is not installed (cargo install --locked cargo-deny)");
    }
    let job = project.cargo(&["deny", "check", "licenses", "bans", "sources"]).env("PATH", &path);
    tally.test("cargo deny: licences, bans, sources", || job.succeed().map(drop));
}

/// Tier 2: C tests under valgrind, which sees reads and writes beside memory, of freed memory, and uses of bytes that
/// were never set.
fn valgrind(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let programs = [
        ("matching and the wait family", "wait_test", "--undef-value-errors=no"),
        ("every constructor of datatypes", "type_all", "--undef-value-errors=yes"),
    ];
    if !Job::new("valgrind").arg("--version").run().is_ok_and(|o| o.ok()) {
        let why = "memory checks: valgrind is not installed (apt install valgrind)";
        return tally.not_run(programs.len(), why);
    }
    for (what, name, undefined) in programs {
        tally.test(&format!("valgrind: {what}"), || {
            let program = ctests::helper(project, mpi, "", name)?;
            let job = mpi.mpiexec(2, false).args(["valgrind", "--quiet", "--error-exitcode=9", undefined]);
            job.arg(program).limit(240).succeed().map(drop)
        });
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_of_cargo_test_are_counted() {
        let text = "running 3 tests\n...\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                    test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n";
        assert_eq!(super::count(text), (5, 4, 1));
    }
}
