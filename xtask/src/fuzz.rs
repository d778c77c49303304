//! `cargo xtask fuzz`: a fuzz target of the engine, led by coverage, for as long as one likes. Run by hand.
//!
//! The stable compiler can note which branches run (LLVM's coverage pass) and libFuzzer comes with `bolero`, so nothing
//! but a C++ compiler is needed. What was found interesting is kept in `target/fuzz/corpus` and is the start of the
//! next run; an input that fails is in `target/fuzz/crashes`.

use std::process::Command;

use crate::project::{Fallible, Project};

/// What every part that can fail is compiled with.
const COVERAGE: &str = "--cfg fuzzing --cfg fuzzing_libfuzzer -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cllvm-args=-sanitizer-coverage-stack-depth";

/// Lets `target` (of `crates/posthaste-core/tests/random/fuzz.rs`) run. `Ok(false)`: it failed and has said how.
pub(crate) fn run(project: &Project, target: &str, seconds: u64) -> Fallible<bool> {
    let corpus = project.folder(&format!("fuzz/corpus/{target}"))?;
    let crashes = project.folder("fuzz/crashes")?;
    let machine = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    // Named, so that the flags are for it alone and not for what runs while building.
    let status = Command::new("cargo")
        .args(["test", "-p", "posthaste-core", "--test", "random", "--target", &machine, "--target-dir"])
        .arg(project.folder("fuzz/build")?)
        .args(["--", "--exact", "--nocapture", &format!("fuzz::{target}")])
        .current_dir(&project.root)
        .env("RUSTFLAGS", COVERAGE)
        .env("BOLERO_FUZZER", "libfuzzer")
        .env(
            "BOLERO_LIBFUZZER_ARGS",
            format!(
                "{} -artifact_prefix={}/{target}- -max_total_time={seconds} -timeout=10 -max_len=600",
                corpus.display(),
                crashes.display()
            ),
        )
        .status()
        .map_err(|e| format!("cargo can't be started: {e}"))?;
    Ok(status.success())
}
