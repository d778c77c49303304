//! The group `jobs` of `bench`: two jobs of two ranks side by side on the same CPUs, against one of them alone.
//!
//! The program is `bench/exchange.c`: the jobs begin each length together and report the mean, for a short batch may have
//! the CPUs to itself. What must stay true: the slower of both counts, so that neither can win by what the other loses.

use std::fs;

use crate::{bench::Plan, measured::Measured, mpi::Mpi, project::Fallible};

/// The results of a job beside another one.
const BESIDE: [&str; 2] = ["beside_65536", "beside_1048576"];

/// The job alone, and then twice at once.
pub(crate) fn run(plan: &Plan, mpi: &Mpi, measured: &mut Measured) -> Fallible {
    let job = |words: &[&str]| plan.bound_beside(mpi, "exchange").args(words).limit(120);
    measured.take(mpi.name, &job(&["alone"]).succeed()?.stdout);
    let folder = plan.program(mpi, "meeting");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let [one, other] = ["one", "other"].map(|name| folder.join(name).display().to_string());
    let first = job(&["beside", &one, &other]).start()?;
    let second = job(&["beside", &other, &one]).run();
    let both = [first.wait()?, second?];
    if let Some(failed) = both.iter().find(|outcome| !outcome.ok()) {
        return Err(failed.complaint());
    }
    take_slower(measured, mpi.name, &both.map(|outcome| outcome.stdout));
    Ok(())
}

/// Of each result the one of the job that took longer.
fn take_slower(measured: &mut Measured, contender: &str, outputs: &[String; 2]) {
    let mut both = Measured::default();
    outputs.iter().for_each(|output| both.take(contender, output));
    for name in BESIDE.into_iter().filter(|name| both.count(contender, name) == outputs.len()) {
        let slower = both.values(contender, name).iter().copied().max_by(f64::total_cmp);
        slower.into_iter().for_each(|slower| measured.add(contender, name, slower));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slower_job_counts_and_both_must_have_a_result() {
        let mut m = Measured::default();
        let outputs =
            ["result beside_65536 3 us\nresult beside_1048576 9 us\n", "result beside_65536 5 us\n"];
        take_slower(&mut m, "a", &outputs.map(String::from));
        assert_eq!(m.values("a", "beside_65536"), [5.0]);
        assert_eq!(m.count("a", "beside_1048576"), 0);
    }
}
