//! Jobs of several launchers: what ranks of Open MPI's mpirun spawn, and jobs that meet whose launchers are different.
//!
//! What must stay true: what was started for a job ends with that job, however it ends; of two jobs that meet each may be there first;
//! nobody waits for ever.

use std::{
    fs,
    path::Path,
    process,
    sync::atomic::{AtomicUsize, Ordering},
};

use rustix::process::Signal;

use super::{House, ends_with, first_line};
use crate::{
    leftovers::Watch,
    mpi::Mpi,
    process::{Job, Running},
    project::{Fallible, Project},
    tally::Tally,
};

/// How many tests there are of what is spawned.
pub(super) const SPAWNED: usize = 4;

/// Seconds until the first of two jobs is ready.
const READY: u64 = 20;

/// Who accepts, and who connects.
const PAIRS: [[&str; 2]; 6] = [
    ["ours", "mpich"],
    ["mpich", "openmpi"],
    ["openmpi", "ours"],
    ["openmpi", "openmpi"],
    ["ours", "intel"],
    ["intel", "mpich"],
];

/// The ways in which two jobs meet: see `tests/c/build/partner.c`.
pub(crate) const WAYS: [&str; 3] = ["port", "name", "join"];

/// That, in words.
pub(crate) fn by(way: &str) -> &'static str {
    match way {
        "port" => "a port",
        "name" => "a name",
        _ => "a socket",
    }
}

/// What ranks of mpirun spawn: our own mpiexec starts it for them, and it lives no longer than they.
pub(super) fn spawned(house: &House<'_>, openmpi: &Mpi, tally: &mut Tally) {
    let spawner = |arguments: &[&str]| house.ours(openmpi, 2).limit(30).arg(&house.spawner).args(arguments);
    let mut test = |what: &str, body: &dyn Fn() -> Fallible| {
        tally.test(&format!("launchers: under Open MPI's mpirun what ranks spawn {what}"), body);
    };
    test("is in the folder and on the host they name, and fails where the program is not there", &|| {
        ends_with(spawner(&["miss", "/usr", "localhost"]), "they have met and parted")
    });
    test("can be lost", &|| ends_with(spawner(&["lose", "/usr", "localhost"]), "they are lost"));
    test("ends when a rank aborts", &|| {
        // A file that is there from the beginning.
        let go = house.spawner.to_string_lossy();
        let watch = Watch::begin();
        let outcome = watch.mark(spawner(&["hold", "/usr", "localhost", &go])).run()?;
        if outcome.code() == 0 || outcome.timed_out || !outcome.stdout.contains("they hold") {
            return Err(format!("a failure was expected\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    });
    test("ends when mpirun is told to end", &|| {
        let watch = Watch::begin();
        let job = watch.mark(spawner(&["hold", "/usr", "localhost"])).start()?;
        if !job.wait_for_output("they hold", READY) {
            return Err(job.wait()?.complaint());
        }
        job.signal(Signal::TERM);
        let outcome = job.wait()?;
        if outcome.code() == 0 || outcome.timed_out {
            return Err(format!("a failure was expected\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    });
}

/// Jobs of different launchers meet, by a port, by a name and by a socket, and each of the two is there first.
pub(super) fn run(project: &Project, house: &House<'_>, tally: &mut Tally) {
    let job = |name: &str| match name {
        "ours" => Ok(house.mpi.mpiexec(2, false)),
        name => Mpi::rival(project, name).map(|rival| house.ours(&rival, 3)),
    };
    for names in PAIRS {
        let [accepts, connects] = names.map(shown);
        if let Some(why) = names.iter().find_map(|name| job(name).err()) {
            tally.not_run(WAYS.len(), format!("jobs of {accepts} and {connects}: {}", first_line(&why)));
            continue;
        }
        for way in WAYS {
            tally.test(
                &format!("launchers: a job of {accepts} accepts one of {connects} by {}", by(way)),
                || {
                    [true, false].iter().try_for_each(|accepts_first| {
                        let jobs = [job(names[0])?, job(names[1])?];
                        meet(&house.partner, jobs, way, &house.partner.with_file_name("port"), *accepts_first)
                    })
                },
            );
        }
    }
}

/// Two jobs, the one that accepts and the one that connects, meet by a port or the address of a socket that is left in a file of this name, or by a name.
pub(crate) fn meet(partner: &Path, jobs: [Job; 2], way: &str, file: &Path, accepts_first: bool) -> Fallible {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let place = match way {
        "name" => format!("posthaste-test-{}-{number}", process::id()),
        _ => format!("{}-{number}", file.display()),
    };
    let _ = fs::remove_file(&place);
    let watch = Watch::begin();
    let [accepts, connects] = jobs;
    let start = |job: Job, role: &str, word: &str| {
        let job = watch.mark(job).limit(60).arg(partner).args([role, way, &place]).start()?;
        if job.wait_for_output(word, READY) { Ok(job) } else { Err(job.wait()?.complaint()) }
    };
    let accept = || start(accepts, "accept", "open");
    let connect = || start(connects, "connect", "looking");
    let both: [Running; 2] = if accepts_first { [accept()?, connect()?] } else { [connect()?, accept()?] };
    let outcomes = both.map(Running::wait);
    let _ = fs::remove_file(&place);
    let [one, other] = outcomes;
    let both = [one?, other?];
    if both.iter().any(|outcome| !outcome.ok() || !outcome.stdout.contains("they have met")) {
        // What one waits for often stands in what the other says.
        let [one, other] = both.map(|outcome| outcome.complaint());
        return Err(format!("accepting came first: {accepts_first}\n{one}\n{other}"));
    }
    watch.nothing_left()
}

fn shown(name: &str) -> &str {
    match name {
        "ours" => "our mpiexec",
        "mpich" => "MPICH's Hydra",
        "intel" => "Intel's Hydra",
        _ => "Open MPI's mpirun",
    }
}
