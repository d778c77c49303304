//! mpi4py's own tests of its futures, whose pools start their workers by MPI_Comm_spawn: from plain `python`, under mpiexec, and with
//! `-m mpi4py.futures`, where the ranks of the job are the workers.
//!
//! The part `python` runs each class where it costs little; `cargo xtask futures` runs all of them in every way, which takes minutes.
//! What must stay true: a test that leaves itself out has failed.

use std::time::Instant;

use crate::{
    install,
    mpi::Mpi,
    mpi4py::{Counts, complaint},
    process::{Job, Outcome},
    project::{Fallible, Project},
    python::{self, Environment},
    tally::{Tally, show},
};

/// Seconds for one run of everything.
const LIMIT: u64 = 600;

/// A way of running the tests.
struct Way {
    name: &'static str,
    /// Under mpiexec with so many ranks.
    ranks: Option<usize>,
    /// The ranks of the job are the workers.
    shared: bool,
    /// What the part `python` runs; everything where nothing is named.
    short: &'static [&'static str],
}

const WAYS: [Way; 5] = [
    Way {
        name: "from plain python",
        ranks: None,
        shared: false,
        short: &["ProcessPoolInitTest", "ProcessPoolShutdownTest"],
    },
    Way {
        name: "with 1 rank",
        ranks: Some(1),
        shared: false,
        short: &["ProcessPoolBootupTest", "ProcessPoolPickleTest", "ProcessPoolSubmitTest"],
    },
    // Where there are several ranks, these tests start none.
    Way { name: "with 2 ranks", ranks: Some(2), shared: false, short: &[] },
    Way {
        name: "by -m mpi4py.futures with 1 rank",
        ranks: Some(1),
        shared: true,
        short: &["SharedPoolInitTest", "MPICommExecutorTest"],
    },
    Way { name: "by -m mpi4py.futures with 3 ranks", ranks: Some(3), shared: true, short: &[] },
];

/// `cargo xtask futures`.
pub(crate) fn command(project: &Project) -> Fallible<bool> {
    install::stage(project)?;
    let environment = python::environment(project)?;
    let mut tally = Tally::default();
    run(&Mpi::posthaste(project), &environment, true, &mut tally);
    Ok(tally.finish())
}

/// Runs them; `all`: everything in every way.
pub(crate) fn run(mpi: &Mpi, environment: &Environment, all: bool, tally: &mut Tally) {
    for way in &WAYS {
        let start = Instant::now();
        let name = format!("mpi4py.futures {}", way.name);
        let outcome = way.job(mpi, environment, all).limit(LIMIT).run();
        let label = way.ranks.map_or("", |_| "[0] ");
        match outcome {
            Ok(outcome) => {
                let counts = Counts::read(&outcome, label);
                let (failed, complaint) = judge(&outcome, counts);
                let passed = counts.ran.saturating_sub(counts.wrong + counts.skipped);
                tally.counted(&name, passed, failed, start.elapsed(), &complaint);
            }
            Err(complaint) => tally.counted(&name, 0, 1, start.elapsed(), &complaint),
        }
    }
    if !all {
        show("      all of them in every way: cargo xtask futures");
    }
}

impl Way {
    fn job(&self, mpi: &Mpi, environment: &Environment, all: bool) -> Job {
        let folder = environment.source.join("demo/futures");
        let job = match self.ranks {
            None => mpi.alone(&environment.python),
            Some(ranks) => {
                let job = mpi.plain().args(["-l", "-bind-to", "none", "-n"]).arg(ranks.to_string());
                job.arg(&environment.python)
            }
        };
        let job = if self.shared { job.args(["-m", "mpi4py.futures"]) } else { job };
        let job = job.arg(folder.join("test_futures.py")).arg("-v").dir(&folder);
        if all { job } else { job.args(self.short) }
    }
}

/// How many have failed, and what they said.
fn judge(outcome: &Outcome, counts: Counts) -> (usize, String) {
    match counts.wrong + counts.skipped {
        0 if outcome.ok() && counts.ran > 0 => (0, String::new()),
        failed => (failed.max(1), complaint(outcome)),
    }
}
