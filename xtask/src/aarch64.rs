//! The other processor: all crates compile for aarch64 Linux, and C programs run there under mpiexec, both emulated by
//! qemu-user. `cargo xtask aarch64`, a deeper tier of the tests.
//!
//! The kernel starts no program of another processor, so what the compiler makes is a script that calls qemu with the program;
//! mpiexec, which is emulated as well, starts that. What must stay true: everything lies under `target`, apart, and nothing is built
//! again for this processor because of it.

use std::path::Path;

use crate::{
    ctests, install,
    mpi::Mpi,
    packages::{self, Package, Proof},
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
};

const TARGET: &str = "aarch64-unknown-linux-gnu";
const COMPILER: &str = "aarch64-linux-gnu-gcc";
const QEMU: &str = "qemu-aarch64";
/// Where Debian puts what is of that system.
const SYSTEM: &str = "/usr/aarch64-linux-gnu";

const PACKAGES: &[Package] = &[
    row("gcc-aarch64-linux-gnu", Proof::Program(COMPILER), "a compiler and a linker for aarch64"),
    row("libc6-dev-arm64-cross", Proof::File("/usr/aarch64-linux-gnu/include/stdio.h"), "its C library"),
    row("qemu-user", Proof::Program(QEMU), "programs of aarch64"),
];

const fn row(name: &'static str, proof: Proof, why: &'static str) -> Package {
    Package { name, proof, parts: &["aarch64"], why }
}

/// Programs of `tests/c`: the modes and orders of messages, short and long ones, datatypes, collective operations, communicators,
/// windows over shared memory, threads, processes that are started, and messages over TCP.
const PROGRAMS: [&str; 20] = [
    "abi_types",
    "attributes",
    "coll_data",
    "comms",
    "datatypes",
    "errhandlers",
    "hello",
    "intercomm",
    "modes",
    "partitioned",
    "probe",
    "pt2pt_order",
    "pt2pt_sizes",
    "reductions",
    "ring",
    "sendrecv",
    "threads",
    "type_predefined",
    "wait_test",
    "win_put_get",
];
const OVER_TCP: [&str; 2] = ["modes", "ring"];

/// `cargo xtask aarch64`: checks everything but this program, and runs programs where they can be run.
pub(crate) fn command(project: &Project, may_install: bool) -> Fallible<bool> {
    let mut tally = Tally::default();
    let folder = project.folder("aarch64")?;
    if !has_target() {
        // Without rustup it stays so.
        let _ = Job::new("rustup").args(["target", "add", TARGET]).limit(300).run();
    }
    if has_target() {
        // A crate's build script links something small for that processor.
        packages::ensure_of(project, &[PACKAGES], &|_| true, may_install);
        tally.test("cargo check for aarch64", || {
            let arguments = ["check", "--quiet", "--workspace", "--exclude", "xtask", "--all-targets"];
            cargo(project, &arguments, &folder).env("RUSTFLAGS", "-D warnings").succeed().map(drop)
        });
        run_programs(project, &folder, &mut tally);
    } else {
        tally.not_run(1, format!("cargo check for aarch64: rustup target add {TARGET}"));
    }
    Ok(tally.finish())
}

fn has_target() -> bool {
    let job = Job::new("rustc").args(["--print", "target-libdir", "--target", TARGET]);
    job.succeed().is_ok_and(|said| Path::new(said.stdout.trim()).is_dir())
}

/// Cargo for aarch64, in a folder of its own.
fn cargo(project: &Project, arguments: &[&str], folder: &Path) -> Job {
    let job = project.cargo(arguments).args(["--target", TARGET, "--target-dir"]).arg(folder);
    job.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", COMPILER)
}

fn run_programs(project: &Project, folder: &Path, tally: &mut Tally) {
    if let Some(missing) = PACKAGES.iter().find(|package| !package.proof.holds()) {
        let count = PROGRAMS.len() + OVER_TCP.len();
        return tally.not_run(count, format!("C programs on aarch64: {} is not installed", missing.name));
    }
    let mut mpi = Err(String::new());
    tally.test("an installation for aarch64, mpicc of it", || {
        mpi = installed(project, folder);
        mpi.as_ref().map(drop).map_err(Clone::clone)
    });
    let Ok(mpi) = mpi else { return };
    ctests::run_some(project, &mpi, &PROGRAMS, tally);
    let over_tcp =
        ctests::run_those(project, &mpi, |name| OVER_TCP.contains(&name), ctests::Over::Tcp, tally);
    if let Err(complaint) = over_tcp {
        tally.test("C programs over TCP", || Err(complaint));
    }
}

/// Builds and installs for aarch64, and makes commands for it that this machine can run.
fn installed(project: &Project, folder: &Path) -> Fallible<Mpi> {
    let arguments = [&["build", "--quiet"][..], &install::CRATES].concat();
    cargo(project, &arguments, folder).succeed()?;
    let built = folder.join(TARGET).join("debug");
    install::assemble(COMPILER, &built)?;
    let prefix = folder.join("prefix");
    install::copy_built(project, &built, &prefix)?;
    let bin = folder.join("bin");
    let commands = ["mpicc", "mpiexec"].map(|name| (bin.join(name), prefix.join("bin").join(name)));
    for ((command, emulated), script) in commands.iter().zip([compile(), emulate()]) {
        install::write_script(command, &script.replace("PROGRAM", &emulated.display().to_string()))?;
    }
    let [(compiler, _), (mpiexec, _)] = commands;
    Ok(Mpi::emulated(mpiexec, compiler, &prefix.join("lib")))
}

/// The script that runs an emulated program, which it calls PROGRAM.
fn emulate() -> String {
    format!("#!/bin/sh\nexec {QEMU} -L {SYSTEM} \"PROGRAM\" \"$@\"\n")
}

/// The script that compiles by the emulated `mpicc`, and puts a script in the place of the program.
fn compile() -> String {
    format!(
        r#"#!/bin/sh
for word; do
    [ "$before" = -o ] && made=$word
    before=$word
done
POSTHASTE_CC={COMPILER} {QEMU} -L {SYSTEM} "PROGRAM" "$@" && mv "$made" "$made.aarch64" || exit
printf '#!/bin/sh\nexec {QEMU} -L {SYSTEM} "%s" "$@"\n' "$made.aarch64" >"$made"
chmod +x "$made"
"#
    )
}
