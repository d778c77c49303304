//! Parts of `cargo xtask test` that are a command or two: cargo's own tests and checks, loom, licences, valgrind.
//!
//! What must stay true: a test that leaves itself out is not counted as passed.

use std::fs;

use crate::{
    ctests,
    mpi::Mpi,
    process::{Job, Outcome},
    project::Project,
    tally::{Tally, show},
};

/// Formatting.
pub(super) fn fmt(project: &Project, tally: &mut Tally) {
    tally.test("cargo fmt --check", || {
        project.cargo(&["fmt", "--all", "--", "--check", "-l"]).succeed().map(drop)
    });
}

/// Lints.
pub(super) fn clippy(project: &Project, tally: &mut Tally) {
    let arguments = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    tally.test("cargo clippy", || project.cargo(&arguments).succeed().map(drop));
}

/// The documentation of the crates.
pub(super) fn doc(project: &Project, tally: &mut Tally) {
    let job = project.cargo(&["doc", "--quiet", "--workspace", "--no-deps"]);
    tally.test("cargo doc", || job.env("RUSTDOCFLAGS", "-D warnings").succeed().map(drop));
    tally.test("docs/decisions.md lists its questions", || {
        let text = fs::read_to_string(project.root.join("docs/decisions.md")).map_err(|e| e.to_string())?;
        let missing = unlisted(&text);
        if missing.is_empty() { Ok(()) } else { Err(format!("its contents lack {missing:?}")) }
    });
}

/// Headings that the contents of a document lack.
fn unlisted(text: &str) -> Vec<&str> {
    let Some((_, text)) = text.split_once("## Contents\n") else { return vec!["Contents"] };
    let (contents, rest) = text.split_once("\n## ").unwrap_or((text, ""));
    let first = rest.lines().next();
    let headings = rest.lines().filter_map(|line| line.strip_prefix("## ").or(line.strip_prefix("### ")));
    first
        .into_iter()
        .chain(headings)
        .filter(|heading| !contents.contains(&format!("- [{heading}](#")))
        .collect()
}

/// Every interleaving of the structures in shared memory, by loom. Built aside: the whole workspace would have to
/// be built again for it.
pub(super) fn loom(project: &Project, tally: &mut Tally) {
    tally.test("loom: rings, bounce buffers, the doorbell, locks and fences of windows", || {
        let folder = project.folder("loom")?;
        let arguments =
            ["test", "--quiet", "--release", "-p", "posthaste-os", "--test", "loom", "--target-dir"];
        // So few functions gain nothing from the linker's optimisation, which takes longer than the test.
        let job = project.cargo(&arguments).arg(folder).env("CARGO_PROFILE_RELEASE_LTO", "off");
        job.env("RUSTFLAGS", "--cfg loom").limit(600).succeed().map(drop)
    });
}

/// Tests beside the code, and those of whole crates; `deep`: also those that take minutes.
pub(super) fn unit(project: &Project, deep: bool, tally: &mut Tally) {
    // What `build_unit` has built are also the launcher and the examples.
    let tests = || project.cargo(&TEST).arg("--tests").env("POSTHASTE_TEST_BUILT", "1").limit(1200);
    cargo_test(tests(), "cargo test", tally);
    if deep {
        let ignored = tests().limit(3600).args(["--", "--ignored"]);
        tally.test("cargo test, what takes minutes", || ignored.succeed().map(drop));
    } else {
        show("      those that take minutes: cargo xtask test --deep --only unit");
    }
}

/// Examples of the documentation.
pub(super) fn doctests(project: &Project, tally: &mut Tally) {
    cargo_test(project.cargo(&TEST).arg("--doc").limit(1200), "cargo test --doc", tally);
}

/// All crates: their tests share what is built of them.
const TEST: [&str; 4] = ["test", "--quiet", "--workspace", "--no-fail-fast"];

/// Tests, counted one by one. `--show-output`: those that pass may say that they left something out.
fn cargo_test(job: Job, name: &str, tally: &mut Tally) {
    match job.args(["--", "--show-output"]).run() {
        Ok(outcome) => {
            let (mut passed, mut failed, ignored) = count(&outcome.all());
            let omitted = omitted(&outcome.stdout);
            passed -= omitted.len().min(passed);
            if !outcome.ok() && failed == 0 {
                failed = 1;
            }
            tally.counted(name, passed, failed, outcome.took, &failures(&outcome));
            if ignored > 0 {
                tally.not_run(ignored, "tests that take minutes (cargo xtask test --deep --only unit)");
            }
            let mut reasons: Vec<&str> = omitted.iter().map(String::as_str).collect();
            reasons.dedup();
            for reason in reasons {
                let count = omitted.iter().filter(|other| *other == reason).count();
                tally.not_run(count, format!("{name}: {reason}"));
            }
        }
        Err(complaint) => tally.test(name, || Err(complaint)),
    }
}

/// Builds what [`unit()`] runs. What can't be built is reported there.
pub(super) fn build_unit(project: &Project) {
    let _ = project.cargo(&[&TEST[..], &["--no-run"]].concat()).limit(1200).run();
}

/// Why tests have left themselves out, or a part of what they do, sorted: they pass and say `omitted: WHY`.
fn omitted(output: &str) -> Vec<String> {
    let is_heading = |line: &str| line.starts_with("---- ") && line.ends_with(" stdout ----");
    let (mut reasons, mut omitted) = (Vec::new(), false);
    for line in output.lines() {
        if is_heading(line) {
            omitted = false;
        } else if let Some(reason) = line.strip_prefix("omitted: ").filter(|_| !omitted) {
            omitted = true;
            reasons.push(reason.to_owned());
        }
    }
    reasons.sort_unstable();
    reasons
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

/// Tier 2: C tests under valgrind, which sees reads and writes beside memory, of freed memory, and uses of bytes that
/// were never set.
pub(super) fn valgrind(project: &Project, mpi: &Mpi, tally: &mut Tally) {
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
    fn headings_that_the_contents_lack_are_found() {
        let text =
            "# T\n## Contents\n\n- [A](#a)\n  - [Why?](#why)\n\n## A\n\n### Why?\n\n### Who?\n\n## B\n";
        assert_eq!(super::unlisted(text), ["Who?", "B"]);
    }

    #[test]
    fn results_of_cargo_test_are_counted() {
        let text = "running 3 tests\n...\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                    test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n";
        assert_eq!(super::count(text), (5, 4, 1));
    }

    #[test]
    fn tests_that_left_themselves_out_are_counted_once_each() {
        let text = "successes:\n\n---- a::b stdout ----\nomitted: no x\nomitted: no y\n\n---- c stdout ----\nfine\n\
                    \n---- d stdout ----\nomitted: no x\n\nsuccesses:\n    a::b\n    c\n    d\n";
        assert_eq!(super::omitted(text), ["no x", "no x"]);
    }
}
