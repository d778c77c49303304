//! Starting a test again under `mpiexec`.
//!
//! `POSTHASTE_MPIEXEC` names the launcher; without it, the one of this workspace is built. The ranks of a test are
//! copies of this program that run the one test only, as asked by `POSTHASTE_TEST_RANKS`. With `POSTHASTE_TEST_BUILT` the
//! whole workspace is built already, and nothing is built again with the features of one crate.
#![allow(dead_code)] // each program of tests uses what it needs

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use posthaste::{Communicator, Result};

pub(crate) const BODY: &str = "POSTHASTE_TEST_RANKS";

/// Folder of the programs of this build: `deps` lies in it.
pub(crate) fn programs() -> PathBuf {
    let own = std::env::current_exe().expect("this program has a path");
    own.ancestors().nth(2).expect("it lies in a folder of the build").to_path_buf()
}

/// Has cargo build something into the folder of this build, unless it is there.
pub(crate) fn build(arguments: &[&str]) {
    if std::env::var_os("POSTHASTE_TEST_BUILT").is_some() {
        return;
    }
    let mut build = Command::new(env!("CARGO"));
    build.arg("build").args(arguments);
    build.arg("--target-dir").arg(programs().parent().expect("a profile has a parent"));
    if programs().ends_with("release") {
        build.arg("--release");
    }
    let output = build.output().expect("cargo starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(crate) fn mpiexec() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| match std::env::var_os("POSTHASTE_MPIEXEC") {
        Some(path) => path.into(),
        None => {
            build(&["-p", "posthaste-launch", "--bin", "mpiexec"]);
            programs().join("mpiexec")
        }
    })
}

/// Runs a program on `ranks` ranks; kills it when it hangs.
pub(crate) fn run(ranks: usize, program: &Path, arguments: &[&str], body: Option<&str>) -> Output {
    run_with(ranks, program, arguments, body, &[])
}

/// The same with settings.
pub(crate) fn run_with(
    ranks: usize,
    program: &Path,
    arguments: &[&str],
    body: Option<&str>,
    settings: &[(&str, &str)],
) -> Output {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "60"]).arg(mpiexec()).args(["-n", &ranks.to_string()]);
    command.arg(program).args(arguments);
    if let Some(body) = body {
        command.env(BODY, body);
    }
    command.envs(settings.iter().copied());
    command.output().expect("timeout starts")
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Runs `body` on each of `ranks` ranks; `name` is that of the test.
pub(crate) fn on_ranks(ranks: usize, name: &str, body: impl FnOnce(&Communicator<'_>) -> Result<()>) {
    if std::env::var(BODY).is_ok_and(|asked| asked == name) {
        let universe = posthaste::init().unwrap();
        assert_eq!(universe.world().size(), ranks);
        body(&universe.world()).unwrap();
        return universe.finalize().unwrap();
    }
    let output = launch(ranks, name);
    assert!(output.status.success(), "{}\n{}", output.status, text(&output));
}

pub(crate) fn launch(ranks: usize, name: &str) -> Output {
    launch_with(ranks, name, &[])
}

/// The same where a rank that ends does not end the others.
pub(crate) fn launch_going_on(ranks: usize, name: &str) -> Output {
    let own = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "60"]).arg(mpiexec()).args(["-continue-on-loss", "-n", &ranks.to_string()]);
    command.arg(own).args(["--exact", name, "--nocapture", "--test-threads=1"]).env(BODY, name);
    command.output().expect("timeout starts")
}

/// Starts the test again on so many ranks, with settings.
pub(crate) fn launch_with(ranks: usize, name: &str, settings: &[(&str, &str)]) -> Output {
    let own = std::env::current_exe().expect("this program has a path");
    run_with(ranks, &own, &["--exact", name, "--nocapture", "--test-threads=1"], Some(name), settings)
}
