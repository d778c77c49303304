//! `cargo xtask demo`: the main job on real input. The heat equation from C (`demo/heat.c`) and from Rust
//! (`crates/posthaste/examples/heat.rs`) on 4 ranks, each compared bit for bit with a serial run; a picture of the
//! field; what the messages did; then mpi4py's own benches. Also the last part of `cargo xtask test`, shorter.
//! What must stay true: a failure says which step it was and shows the output; success is only what was compared.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::{
    faults, install,
    mpi::Mpi,
    picture,
    process::{Job, Outcome},
    project::{Fallible, Project},
    python,
};

/// How much to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// What the README shows.
    Full,
    /// The same steps on a smaller field: for the tests.
    Short,
}

impl Length {
    fn size(self) -> Size {
        match self {
            Self::Full => Size { width: 960, height: 640, steps: 2000 },
            Self::Short => Size { width: 240, height: 160, steps: 300 },
        }
    }
}

const RANKS: usize = 4;

/// The size of the job.
struct Size {
    width: usize,
    height: usize,
    steps: usize,
}

/// A finished run of one of the heat programs.
struct Run {
    field: Vec<u8>,
    us_per_step: f64,
    residual: f64,
    outcome: Outcome,
}

/// Runs everything.
pub(crate) fn run(project: &Project, length: &Length) -> Fallible {
    let start = Instant::now();
    let size = length.size();
    println!("building posthaste (release): some minutes the first time");
    let staged = if *length == Length::Full { install::stage_seen } else { install::stage };
    step("build", staged(project))?;
    let mpi = Mpi::posthaste(project);
    let out = project.folder("demo")?;

    let in_c = out.join("heat-c");
    step("compile demo/heat.c with our mpicc", compile_c(project, &mpi, &in_c))?;
    let in_rust = step("build the Rust example", build_rust(project, length))?;
    println!("heat equation, {}x{} cells, {} steps", size.width, size.height, size.steps);
    let serial = step("C on 1 rank", heat(mpi.plain(), &in_c, 1, &size, &out))?;
    let c = step("C on 4 ranks", heat(mpi.plain(), &in_c, RANKS, &size, &out))?;
    step("C on 4 ranks against the serial run", same(&serial, &c, &size))?;
    let rust = step("Rust on 4 ranks", heat(mpi.plain(), &in_rust, RANKS, &size, &out))?;
    step("Rust on 4 ranks against the serial run", same(&serial, &rust, &size))?;
    let rust_serial = step("Rust on 1 rank", heat(mpi.plain(), &in_rust, 1, &size, &out))?;
    step("Rust on 1 rank against C on 1 rank", same(&serial, &rust_serial, &size))?;
    let picture = out.join("heat.png");
    step("the picture", picture::write(&picture, &numbers(&c.field), size.width))?;
    step("the counters of the messages", check_counters(&c.outcome))?;

    println!("building mpi4py from its published source");
    let python = step("mpi4py from source", python::environment(project))?.python;
    let hello = step("mpi4py helloworld on 4 ranks", python::bench(&mpi, &python, RANKS, "helloworld", &[]))?;
    step("mpi4py helloworld", check_hello(&hello))?;
    let ring = python::bench(&mpi, &python, RANKS, "ringtest", &["--size", "1024", "--loop", "1000"]);
    let ring = step("mpi4py ringtest on 4 ranks", ring)?;
    let largest = if *length == Length::Short { "65536" } else { "67108864" };
    let pingpong = python::bench(&mpi, &python, 2, "pingpong", &["--max-size", largest]);
    let pingpong = step("mpi4py pingpong on 2 ranks", pingpong)?;

    println!();
    println!("heat equation, {} steps on {}x{} cells, {RANKS} ranks:", size.steps, size.width, size.height);
    println!("  serial   {:9.1} us per step", serial.us_per_step);
    println!(
        "  C        {:9.1} us per step, field and residual {} bit for bit as in the serial run",
        c.us_per_step, c.residual
    );
    println!("  Rust     {:9.1} us per step, the same bits", rust.us_per_step);
    println!("  picture  {}", picture.display());
    println!("  messages of the C run, by protocol and method:");
    for line in traffic(&c.outcome) {
        println!("    {line}");
    }
    println!("mpi4py (built from its published source with our mpicc):");
    hello.lines().take(RANKS).for_each(|line| println!("  {line}"));
    ring.lines().filter(|l| !l.is_empty()).take(3).for_each(|line| println!("  {line}"));
    pingpong.lines().filter(|l| !l.is_empty()).for_each(|line| println!("  {line}"));
    println!("the demo is complete: everything above was checked ({:.0} s)", start.elapsed().as_secs_f64());
    Ok(())
}

/// The C program on 4 ranks under this mpiexec, which starts them on two hosts, against a serial run here.
pub(crate) fn across(project: &Project, mpi: &Mpi, mpiexec: Job) -> Fallible {
    let size = Length::Short.size();
    let out = project.folder("demo")?;
    let program = out.join("heat-c");
    compile_c(project, mpi, &program)?;
    let serial = heat(mpi.plain(), &program, 1, &size, &out)?;
    let placed = heat(mpiexec, &program, RANKS, &size, &out)?;
    same(&serial, &placed, &size)?;
    let counters = faults::counters(&placed.outcome.stderr);
    let moved = |name: &str| counters.iter().any(|(counter, n)| counter == name && *n > 0);
    if !moved("messages.eager.shm") || !moved("messages.eager.tcp") {
        return Err(format!(
            "messages by shared memory and by TCP were expected\n{}",
            placed.outcome.complaint()
        ));
    }
    Ok(())
}

fn compile_c(project: &Project, mpi: &Mpi, program: &Path) -> Fallible {
    let source = project.root.join("demo/heat.c");
    // No fused multiply-add: then C and Rust round alike on every machine.
    mpi.compile(
        &[source],
        program,
        &["-std=gnu11", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"],
    )
}

/// The Rust program; for the tests as all of them are built, since to link an optimized one keeps a CPU busy for minutes.
fn build_rust(project: &Project, length: &Length) -> Fallible<PathBuf> {
    let folder = match length {
        Length::Full => {
            let optimized = ["build", "--release", "-p", "posthaste", "--example", "heat"];
            project.cargo(&optimized).seen().succeed()?;
            "release"
        }
        Length::Short => {
            project.build_debug()?;
            "debug"
        }
    };
    Ok(project.target.join(folder).join("examples/heat"))
}

/// Under this mpiexec, which is to be completed.
fn heat(mpiexec: Job, program: &Path, ranks: usize, size: &Size, out: &Path) -> Fallible<Run> {
    let file = out.join(format!("field-{ranks}.raw"));
    let _ = fs::remove_file(&file);
    let numbers = [size.width, size.height, size.steps].map(|n| n.to_string());
    let job = mpiexec.args(["-counters", "-n"]).arg(ranks.to_string()).arg(program).args(numbers).arg(&file);
    let outcome = job.limit(300).succeed()?;
    let field = fs::read(&file).map_err(|e| format!("no field was written: {e}\n{}", outcome.complaint()))?;
    let value = |name: &str| {
        let rest = outcome.stdout.split_once(name).map(|(_, rest)| rest.trim_start()).unwrap_or_default();
        rest.split([',', '\n']).next().unwrap_or_default().trim().to_owned()
    };
    let us_per_step =
        value("us_per_step").parse().map_err(|_| format!("no time was printed\n{}", outcome.complaint()))?;
    let residual =
        value("residual").parse().map_err(|_| format!("no residual was printed\n{}", outcome.complaint()))?;
    Ok(Run { field, us_per_step, residual, outcome })
}

/// The same field and residual, bit for bit.
fn same(serial: &Run, other: &Run, size: &Size) -> Fallible {
    let wanted = size.width * size.height * 8;
    if serial.field.len() != wanted || other.field.len() != wanted {
        let (a, b) = (serial.field.len(), other.field.len());
        return Err(format!("fields of {a} and {b} bytes, {wanted} were expected"));
    }
    if let Some(byte) = serial.field.iter().zip(&other.field).position(|(a, b)| a != b) {
        let cell = byte / 8;
        let value = |run: &Run| numbers(&run.field[cell * 8..cell * 8 + 8])[0];
        let (x, y) = (cell % size.width, cell / size.width);
        return Err(format!("cell ({x}, {y}) is {:e}, in the serial run {:e}", value(other), value(serial)));
    }
    if serial.residual.to_bits() != other.residual.to_bits() {
        return Err(format!("the residual is {:e}, in the serial run {:e}", other.residual, serial.residual));
    }
    Ok(())
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|c| f64::from_ne_bytes(c.try_into().expect("chunks of 8"))).collect()
}

fn check_counters(outcome: &Outcome) -> Fallible {
    let counters = faults::counters(&outcome.stderr);
    if counters.iter().any(|(name, count)| name.starts_with("messages.") && *count > 0) {
        Ok(())
    } else {
        Err(format!("mpiexec -counters shows no messages\n{}", outcome.complaint()))
    }
}

/// Messages and bytes by protocol and method.
fn traffic(outcome: &Outcome) -> Vec<String> {
    let counters = faults::counters(&outcome.stderr);
    let mut lines = Vec::new();
    for (name, count) in counters.iter().filter(|(_, count)| *count > 0) {
        let Some(kind) = name.strip_prefix("messages.") else { continue };
        let bytes = format!("bytes.{kind}");
        let bytes = counters.iter().find(|(name, _)| *name == bytes).map_or(0, |(_, n)| *n);
        let shown = kind.replacen('.', " by ", 1);
        lines.push(format!("{shown:<22} {count:9} messages {bytes:13} bytes"));
    }
    lines
}

fn check_hello(output: &str) -> Fallible {
    for rank in 0..RANKS {
        let wanted = format!("process {rank} of {RANKS}");
        if !output.contains(&wanted) {
            return Err(format!("no line contains \"{wanted}\":\n{output}"));
        }
    }
    Ok(())
}

fn step<T>(name: &str, result: Fallible<T>) -> Fallible<T> {
    match result {
        Ok(value) => {
            println!("  ok  {name}");
            Ok(value)
        }
        Err(complaint) => Err(format!("the demo failed at the step \"{name}\":\n{complaint}")),
    }
}
