//! A job that starts while everybody else has the CPUs: nothing could be measured of copying, so pairs of ranks find the best way themselves
//! while their messages go. In the part `paths` of `cargo xtask test`.

use crate::{
    ctests,
    mpi::Mpi,
    process::{Job, Running},
    project::{Fallible, Project},
    tally::Tally,
};

/// Processes that take the two CPUs of the job.
const OTHERS: usize = 6;
/// Starts at most: once in a while something can be measured all the same.
const STARTS: usize = 5;

pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    tally.test("paths: a job that starts while the machine is busy", || start(project, mpi));
}

fn start(project: &Project, mpi: &Mpi) -> Fallible {
    let program = ctests::helper(project, mpi, "", "copy_ways")?;
    let cpus = ctests::cpus_of_this_process(2);
    let here = ["taskset", "-c", &cpus];
    let mut last = String::new();
    for number in 0..STARTS {
        // Nothing is cached there.
        let cache = project.folder(&format!("busy-start/{}-{number}", std::process::id()))?;
        let other = || Job::new("sh").args(["-c", "while :; do :; done"]).under(&here).start();
        let others: Vec<Running> = (0..OTHERS).map(|_| other()).collect::<Result<_, _>>()?;
        let job = mpi.mpiexec(2, false).arg(&program).env("POSTHASTE_EXPLAIN", "1");
        let job = job.env("XDG_CACHE_HOME", &cache).under(&here).start()?;
        let began = job.wait_for_output("copies long messages on its node", 60);
        others.into_iter().for_each(Running::end);
        let outcome = job.wait()?;
        let _ = std::fs::remove_dir_all(&cache);
        if !began || !outcome.ok() {
            return Err(outcome.complaint());
        }
        last = outcome.all();
        if last.contains("messages will tell") {
            return Ok(());
        }
    }
    Err(format!("{STARTS} jobs measured how to copy while {OTHERS} processes had their CPUs\n{last}"))
}
