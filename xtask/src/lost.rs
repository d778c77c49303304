//! A rank that is killed while nobody but its peers can notice, over each method. In the part
//! `faults` of `cargo xtask test`.
//!
//! What must stay true: whatever was under way towards or from it ends, in bounded time, with the same class of error and a
//! sentence that names it; the other ranks still reach each other.

use std::time::Duration;

use crate::{
    comings, ctests,
    leftovers::Watch,
    mpi::Mpi,
    process::Outcome,
    project::{Fallible, Project},
    tally::Tally,
};

/// What is under way; see `tests/c/fault/lost.c`.
const UNDER_WAY: [&str; 9] =
    ["recv", "any", "test", "send", "read", "written", "flood", "idle", "collective"];

/// The same, which methods hear of that look for a peer somebody waits for.
const STRANGER: &str = "stranger";

/// Shared memory, and the methods that reach other hosts.
const OVER: [ctests::Over; 5] = [
    ctests::Over::Own,
    ctests::Over::OwnBuffers,
    ctests::Over::Tcp,
    ctests::Over::Plugin,
    ctests::Over::Fabric,
];

/// Until then every survivor has heard of it: TCP and the plug-in report at once, libfabric's provider never.
const PATIENCE: Duration = Duration::from_secs(10);

/// All of them, over libfabric, if there is one, and what comes and goes.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    comings::run(project, mpi, tally);
    let program = match ctests::helper(project, mpi, "fault", "lost") {
        Ok(program) => program,
        Err(complaint) => return tally.test("faults: compile lost.c", || Err(complaint)),
    };
    for over in OVER {
        if let Err(why) = over.can_be_used(project) {
            tally.not_run(UNDER_WAY.len(), format!("faults: a lost peer over {}: {why}", over.name()));
            continue;
        }
        let hears = !matches!(over, ctests::Over::Plugin | ctests::Over::Fabric);
        for what in UNDER_WAY.into_iter().chain(hears.then_some(STRANGER)) {
            tally.test(&format!("faults: a lost peer over {}: {what}", over.name()), || {
                let watch = Watch::begin();
                // The shell goes on, so the launcher sees nothing.
                let job = over.method(project, watch.mark(mpi.plain())).args(["-n", "3", "sh", "-c"]);
                let job = job.args(["\"$@\"; sleep 60", "sh"]).arg(&program).arg(what).limit(40);
                judge(&job.run()?)?;
                watch.nothing_left()
            });
        }
        if over == ctests::Over::Fabric {
            tally.test("faults: a provider that never reports a lost peer is refused", || {
                let job = over.method(project, mpi.plain()).env("POSTHASTE_FABRIC_PROVIDER", "udp;ofi_rxd");
                let outcome = job.args(["-n", "2"]).arg(&program).limit(20).run()?;
                if outcome.code() == 0 || !outcome.stderr.contains("it never reports that a peer is lost") {
                    return Err(format!("a sentence that says why was expected\n{}", outcome.complaint()));
                }
                Ok(())
            });
        }
    }
}

fn judge(outcome: &Outcome) -> Fallible {
    let reported = outcome.stdout.contains("reported after") && outcome.stdout.contains("the others go on");
    if outcome.code() == 3 && reported && outcome.took < PATIENCE {
        return Ok(());
    }
    Err(format!("an error that names rank 1 was expected within {PATIENCE:?}\n{}", outcome.complaint()))
}
