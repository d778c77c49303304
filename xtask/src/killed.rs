//! A process is killed at every step of spawning, accepting, connecting, being introduced and making communicators of groups alone or by a socket, one
//! after the other: `tests/c/fault/killed.c` counts its steps, so nothing depends on time. In the part `faults` of `cargo xtask test`.
//!
//! What must stay true: whoever is left comes to an end, with a sentence, and goes on before that: he works with all that are left of his
//! job, and finalizes (`tests/c/fault/killed_on.c`). Nothing is left behind; and a job that had to do with one that was killed meets
//! the next one.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::{
    ctests,
    leftovers::Watch,
    mpi::Mpi,
    process::{Job, Outcome},
    project::{Fallible, Project},
    tally::Tally,
};

/// More steps than any of it has.
const MOST: usize = 200;
/// Seconds in which everybody comes to an end, on a busy machine, also if a peer has to be given up for its silence (20 s).
const LIMIT: u64 = 90;
/// What the victim says last.
const KILLED: &str = "killed here";
/// What each process says, with its number: when MPI has begun for it, and when all of its going on has succeeded.
const BEGUN: &str = "begun ";
const GOES_ON: &str = "goes on ";

/// Of whom it is asked that they go on.
#[derive(Clone, Copy)]
enum Left {
    /// Everybody for whom MPI has begun, but the victim, whom mpiexec names.
    All,
    /// The same, unless the launcher has ended all that are connected with the victim.
    AllOrNobody,
    /// The first one, which has started a launcher of its own that ends the rest; nobody, if that is the victim.
    First,
}

/// Communicators that are made without one that all members have: the call; what the program is told; how many ranks are started, and how
/// many processes make it; which of them are killed.
type Made = (&'static str, &'static str, &'static str, usize, &'static [&'static str]);
const MADE: &[Made] = &[
    ("MPI_Comm_create_from_group", "found", "3", 3, &["0:0", "0:1", "0:2"]),
    (
        "MPI_Comm_create_from_group of two jobs",
        "found-jobs",
        "2",
        4,
        &["0:0", "0:1", "children:0", "children:1"],
    ),
    ("MPI_Intercomm_create_from_groups", "between", "4", 4, &["0:0", "0:1", "0:2", "0:3"]),
    (
        "MPI_Intercomm_create_from_groups of two jobs",
        "between-jobs",
        "2",
        4,
        &["0:0", "0:1", "children:0", "children:1"],
    ),
    ("MPI_Comm_join", "join", "2", 2, &["0:0", "0:1"]),
];

/// All of them.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let program = match ctests::helper(project, mpi, "fault", "killed_on") {
        Ok(program) => program,
        Err(complaint) => return tally.test("faults: compile killed_on.c", || Err(complaint)),
    };
    let job = |options: &[&str]| mpi.plain().args(["-n", "1"]).args(options).arg(&program);
    for (launched, parent, options, left) in [
        ("by mpiexec", "0:0", Some(&[][..]), Left::AllOrNobody),
        ("by mpiexec -continue-on-loss", "0:0", Some(&["-continue-on-loss"][..]), Left::All),
        ("alone", ":", None, Left::First),
    ] {
        for (whose, victim) in
            [("the parent", parent), ("a child, the root", "1:0"), ("another child", "1:1")]
        {
            let new = || options.map_or_else(|| mpi.alone(&program), job).arg("spawn");
            tally.test(
                &format!("faults: {whose} is killed at every step of spawning, started {launched}"),
                || every_step(|step| spawn(new(), victim, step, left)),
            );
        }
    }
    // Over TCP each message is a step, also on one host.
    let over_tcp = |job: Job| job.env("POSTHASTE_METHODS", "tcp");
    for (whose, victim) in [("the root of three parents", "0:0"), ("another one of them", "0:1")] {
        tally.test(&format!("faults: {whose} is killed at every step of spawning"), || {
            let new =
                || over_tcp(mpi.plain().args(["-n", "3", "-continue-on-loss"]).arg(&program).arg("spawn"));
            every_step(|step| spawn(new(), victim, step, Left::All))
        });
    }
    for (whose, victim) in [
        ("the leader of a mixed group", "0:0"),
        ("a member of it", "left:1"),
        ("the leader of the other group", "right:0"),
        ("a member of the other group", "right:1"),
    ] {
        tally.test(&format!("faults: {whose} is killed at every step of MPI_Intercomm_create"), || {
            let new = || over_tcp(job(&["-continue-on-loss"])).arg("introduce");
            every_step(|step| spawn(new(), victim, step, Left::All))
        });
    }
    for (call, mode, ranks, members, victims) in MADE {
        for victim in *victims {
            tally.test(&format!("faults: {victim} is killed at every step of {call}"), || {
                let options = ["-n", ranks, "-continue-on-loss"];
                let new = || over_tcp(mpi.plain().args(options).arg(&program).arg(mode));
                every_step(|step| make(new(), victim, *members, step))
            });
        }
    }
    let file = program.with_extension("port");
    for (whose, accepts) in [("the job that connects", false), ("the job that accepts", true)] {
        tally.test(&format!("faults: {whose} is killed at every step"), || {
            every_step(|step| meet(|| job(&[]), &file, accepts, step))
        });
    }
}

/// Goes through the steps until nobody is killed any more: there are some, and not without end.
fn every_step(at: impl Fn(usize) -> Result<bool, String>) -> Fallible {
    for step in 1..MOST {
        if !at(step).map_err(|why| format!("killed at step {step}: {why}"))? {
            let expected = "steps at which the victim could be killed were expected";
            return if step > 5 { Ok(()) } else { Err(format!("{} of them; {expected}", step - 1)) };
        }
    }
    Err(format!("the victim was still killed at step {MOST}"))
}

fn victim(job: Job, name: &str, step: usize) -> Job {
    job.env("VICTIM", name).env("STEP", step.to_string())
}

/// Whether the victim was killed, when all others ended as they should.
fn spawn(job: Job, name: &str, step: usize, left: Left) -> Result<bool, String> {
    let watch = Watch::begin();
    let outcome = watch.mark(victim(job, name, step)).limit(LIMIT).run()?;
    let killed = check(&outcome, left)?;
    watch.nothing_left()?;
    Ok(killed)
}

/// The same of a communicator that `members` make: somebody who is left hears of it where the victim never had the communicator. Who needs
/// nothing of the victim may hear nothing.
fn make(job: Job, name: &str, members: usize, step: usize) -> Result<bool, String> {
    let watch = Watch::begin();
    let outcome = watch.mark(victim(job, name, step)).limit(LIMIT).run()?;
    let killed = check(&outcome, Left::All)?;
    let lines = |start: &str| outcome.stderr.lines().filter(|line| line.starts_with(start)).count();
    let had_it = outcome.stderr.lines().any(|line| line == format!("made {name}"));
    let (made, told) = (lines("made "), lines("told "));
    if killed && !had_it && told == 0 || !killed && (made, told) != (members, 0) {
        return Err(format!("{told} of {members} have been told, {made} have it\n{}", outcome.complaint()));
    }
    watch.nothing_left()?;
    Ok(killed)
}

/// Two jobs, of which one is killed, and a third one for the one that accepts, if that is left.
fn meet(job: impl Fn() -> Job, file: &Path, accepts: bool, step: usize) -> Result<bool, String> {
    let watch = Watch::begin();
    let _ = fs::remove_file(file);
    let doomed = |job: Job, is_it: bool| if is_it { victim(job, "0:0", step) } else { job };
    let new = |role: &str| watch.mark(job()).arg(role).arg(file).limit(LIMIT);
    let first = doomed(new("accept"), accepts).start()?;
    let until = Instant::now() + Duration::from_secs(LIMIT);
    while !file.exists() && !first.said().contains(KILLED) && Instant::now() < until {
        thread::sleep(Duration::from_millis(2));
    }
    let mut killed = false;
    if file.exists() {
        let outcome = doomed(new("connect"), !accepts).run()?;
        killed = check(&outcome, Left::All)?;
        let next = new("goodbye").succeed()?;
        who_is_left(&next, Left::All)?;
        if !accepts && next.stderr.contains("word: ") {
            return Err(next.complaint());
        }
    }
    let outcome = first.wait()?;
    killed |= check(&outcome, Left::All)?;
    if !accepts && outcome.code() != 0 {
        return Err(outcome.complaint());
    }
    watch.nothing_left()?;
    Ok(killed)
}

/// Whether a victim was killed; then somebody says something, and otherwise nobody does. Who is left goes on.
fn check(outcome: &Outcome, left: Left) -> Result<bool, String> {
    let killed = outcome.stderr.contains(KILLED);
    let is_word = |line: &str| line != KILLED && !line.starts_with(BEGUN) && !line.starts_with(GOES_ON);
    let is_fine = match killed {
        true => outcome.code() == 137 || outcome.stderr.lines().any(is_word),
        false => outcome.ok(),
    };
    if outcome.timed_out || outcome.output_held || !is_fine {
        return Err(outcome.complaint());
    }
    who_is_left(outcome, left)?;
    Ok(killed)
}

/// Makes sure that those go on who are left.
fn who_is_left(outcome: &Outcome, left: Left) -> Fallible {
    missing(&outcome.stderr, outcome.code(), left).map_err(|why| format!("{why}\n{}", outcome.complaint()))
}

/// What is wrong with who goes on, by what all have said.
fn missing(said: &str, code: i32, left: Left) -> Fallible {
    let numbers = |start: &str| said.lines().filter_map(|line| line.strip_prefix(start)).collect::<Vec<_>>();
    let (begun, go_on) = (numbers(BEGUN), numbers(GOES_ON));
    let killed = said.contains(KILLED);
    let asked: BTreeSet<&str> = match left {
        Left::First if killed && code != 0 => BTreeSet::new(),
        Left::First if killed => begun.first().copied().into_iter().collect(),
        Left::AllOrNobody if killed && code != 0 => BTreeSet::new(),
        Left::All | Left::AllOrNobody | Left::First => begun.into_iter().collect(),
    };
    let lost: BTreeSet<&str> = said.lines().filter_map(lost_process).collect();
    if matches!(left, Left::All) && lost.len() != usize::from(killed) {
        return Err(format!("mpiexec names {lost:?} as lost, and the victim alone was expected"));
    }
    let gone: Vec<&&str> = asked.iter().filter(|one| !go_on.contains(one) && !lost.contains(*one)).collect();
    if gone.is_empty() { Ok(()) } else { Err(format!("the processes {gone:?} do not go on")) }
}

/// The process of which a sentence of mpiexec says that it was lost.
fn lost_process(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("mpiexec: ")?.split_once(" (process ")?;
    rest.split_once(')').map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_go_on_is_missed() {
        let lost = "mpiexec: job 1: rank 1 (process 7) on vm was killed by signal 9 (SIGKILL)";
        let all = "begun 5\nbegun 6\nbegun 7\n";
        let check = |rest: &str, code, left| missing(&format!("{all}{rest}"), code, left);
        let killed = format!("killed here\ngoes on 6\n{lost}\n");
        assert!(check(&killed, 137, Left::All).unwrap_err().contains("[\"5\"]"));
        assert!(check(&format!("{killed}goes on 5\n"), 137, Left::All).is_ok());
        assert!(check("killed here\ngoes on 5\ngoes on 6\n", 0, Left::All).unwrap_err().contains("names {}"));
        assert!(check("goes on 5\ngoes on 6\n", 0, Left::All).is_err());
        assert!(check("goes on 7\ngoes on 5\ngoes on 6\n", 0, Left::All).is_ok());
        assert!(check(&killed, 137, Left::AllOrNobody).is_ok());
        assert!(check(&killed, 0, Left::AllOrNobody).is_err());
        assert!(check(&killed, 0, Left::First).is_err());
        assert!(check("killed here\ngoes on 5\n", 0, Left::First).is_ok());
        assert!(check("killed here\n", 137, Left::First).is_ok());
        assert!(check("goes on 5\n", 0, Left::First).is_err());
    }
}
