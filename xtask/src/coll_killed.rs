//! Ranks that are killed or stopped inside each collective function (`tests/c/fault/coll_killed.c`). In the part `faults` of `cargo xtask
//! test`.
//!
//! What must stay true: whoever is left gets an error that says that a rank was lost, or a right result, and goes on; nobody waits
//! for ever. Who is stopped keeps the others waiting, and nothing else.

use std::path::Path;

use crate::{
    ctests,
    faults::{WAYS, Way},
    leftovers::Watch,
    mpi::Mpi,
    project::{Fallible, Project},
    tally::Tally,
};

/// Functions by their numbers there, so many in one job.
const FUNCTIONS: [(usize, usize); 6] = [(0, 6), (6, 11), (11, 17), (17, 22), (22, 29), (29, 36)];
/// Ranks that are left in the end.
const LEFT: usize = 4;
/// These jobs mostly wait.
const AT_ONCE: usize = 3;

/// A job.
#[derive(Clone, Copy)]
struct Loss {
    kills: bool,
    functions: (usize, usize),
    who: &'static str,
    way: Way,
    /// The form that comes first: blocking, nonblocking or persistent.
    form: usize,
}

/// All of them.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let program = match ctests::helper(project, mpi, "fault", "coll_killed") {
        Ok(program) => program,
        Err(complaint) => return tally.test("faults: compile coll_killed.c", || Err(complaint)),
    };
    let mut jobs = Vec::new();
    // In six turns each form comes first, for the first rank and for the last one. On two hosts the first one of all speaks for its host.
    for (form, way) in (0..).step_by(2).zip(WAYS) {
        for functions in FUNCTIONS {
            let job = |kills, who, form| Loss { kills, functions, who, way, form };
            jobs.extend([job(true, "first", form), job(true, "last", form + 1), job(false, "last", form)]);
        }
    }
    let name = |Loss { kills, functions: (first, last), who, way, .. }: &Loss| {
        let fate = if *kills { "killed" } else { "stopped for a second" };
        format!(
            "faults: the {who} rank is {fate} in collective functions {first} to {}{}",
            last - 1,
            way.name
        )
    };
    tally.test_together(AT_ONCE, &jobs, name, |loss| loss.run(mpi, &program));
}

impl Loss {
    fn run(&self, mpi: &Mpi, program: &Path) -> Fallible {
        let Self { kills, functions: (first, last), who, way, form } = *self;
        let watch = Watch::begin();
        let ranks = if kills { LEFT + last - first } else { LEFT };
        let job = watch.mark(way.job_that_goes_on(mpi, ranks)).arg(program);
        let what = if kills { "kill" } else { "stop" };
        let job = job.args([what, &first.to_string(), &last.to_string(), who, &form.to_string()]).limit(120);
        let outcome = job.run()?;
        let went_on = outcome.stdout.matches("the others go on").count();
        let code = if kills { 137 } else { 0 };
        if outcome.code() != code || went_on != last - first {
            return Err(format!(
                "exit code {code} and {} functions in which the others go on were expected, not {went_on}\n{}{}",
                last - first,
                outcome.stdout,
                outcome.complaint()
            ));
        }
        watch.nothing_left()
    }
}
