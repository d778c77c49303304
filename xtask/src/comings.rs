//! What comes and goes, sessions, calls that wait for another job, and jobs that were spawned side by side, while a process is killed
//! (`tests/c/fault/session_lost.c`, `accept_lost.c`, `caller_lost.c`, `stranger_lost.c`, `siblings_lost.c`). In the part `faults` of `cargo xtask test`.
//!
//! What must stay true: whatever needs the lost one ends with an error that says so, and all others go on together, to a
//! MPI_Finalize or MPI_Session_finalize that succeeds; mpiexec names who was lost, and nobody else.

use std::path::PathBuf;

use crate::{
    ctests,
    faults::{WAYS, Way},
    leftovers::Watch,
    mpi::Mpi,
    project::{Fallible, Project},
    tally::Tally,
};

/// These jobs mostly wait.
const AT_ONCE: usize = 3;

/// Rank 1 of three is killed; see `session_lost.c`.
const SESSIONS: [(&str, &str); 5] = [
    ("before", "before a communicator is made of a group of a session"),
    ("collective", "in collective operations of a session"),
    ("waiting", "while all others of a session sleep in a collective operation"),
    ("shrunk", "in collective operations of a session, whose communicator is shrunk"),
    ("between", "between two sessions"),
];

/// What becomes of a communicator whose members wait for another job, and whether it kills one of them; see `accept_lost.c`.
const FATES: [(&str, bool, &str); 7] = [
    ("member", true, "a member that waits, too, is killed"),
    ("thread", false, "a thread of a member that waits, too, revokes the communicator"),
    ("absent", true, "a member that has not come is killed"),
    ("root", true, "the root is killed"),
    ("revoked", false, "a member that has not come revokes the communicator"),
    ("both", true, "a member that has not come revokes the communicator, and is killed"),
    ("before", true, "a member was killed before"),
];

/// Who is killed while a rank calls another one of its job at a port; see `caller_lost.c`.
const CALLERS: [(&str, &str); 2] = [
    ("owner", "a rank is called at its port by another one of its job, and killed"),
    ("caller", "a rank calls another one of its job at its port, and is killed"),
];

/// Who hears that a spawned process is killed that has never talked to its parent; see `stranger_lost.c`.
const STRANGERS: [(&str, &str); 5] = [
    ("any", "who receives from anybody"),
    ("named", "who receives from it"),
    ("tests", "who tests a receive from anybody for ever"),
    ("probes", "who probes for its message for ever"),
    ("asks", "who asks whom it has lost"),
];

/// How two spawned jobs know each other, and who is killed: so many processes; see `siblings_lost.c`.
const SIBLINGS: [(&str, &str); 3] = [
    ("apart", "that know nothing of each other"),
    ("merged", "that are in one communicator with their parents"),
    ("met", "that have met at a port"),
];
const KILLED: [(&str, usize, &str); 3] =
    [("one", 1, "a process of one"), ("all", 2, "all processes of one"), ("parent", 1, "one of the parents")];

/// A job.
struct Case {
    name: String,
    program: PathBuf,
    arguments: Vec<&'static str>,
    ranks: usize,
    way: Way,
    /// How many processes are killed, and how many go on.
    killed: usize,
    left: usize,
}

/// All of them.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let programs = ["session_lost", "accept_lost", "caller_lost", "stranger_lost", "siblings_lost"]
        .map(|name| ctests::helper(project, mpi, "fault", name).map_err(|complaint| (name, complaint)));
    let [session, accept, caller, stranger, siblings] = match programs {
        [Ok(session), Ok(accept), Ok(caller), Ok(stranger), Ok(siblings)] => {
            [session, accept, caller, stranger, siblings]
        }
        some => {
            for (name, complaint) in some.into_iter().filter_map(Result::err) {
                tally.test(&format!("faults: compile {name}.c"), || Err(complaint));
            }
            return;
        }
    };
    let mut cases = Vec::new();
    for way in WAYS {
        for (mode, name) in SESSIONS {
            let name =
                format!("faults: a rank{} is killed {name}, and the others open further ones", way.name);
            let (program, arguments) = (session.clone(), vec![mode]);
            cases.push(Case { name, program, arguments, ranks: 3, way, killed: 1, left: 2 });
        }
        for call in ["accept", "connect"] {
            for (fate, kills, name) in FATES {
                let name = format!("faults: ranks{} wait in MPI_Comm_{call}, and {name}", way.name);
                let (program, arguments, killed) = (accept.clone(), vec![call, fate], usize::from(kills));
                cases.push(Case { name, program, arguments, ranks: 4, way, killed, left: 4 - killed });
            }
        }
        for (who, what) in CALLERS {
            let name = format!("faults: {what}{}", way.name);
            let (program, arguments) = (caller.clone(), vec![who]);
            cases.push(Case { name, program, arguments, ranks: 3, way, killed: 1, left: 2 });
        }
        for (mode, who) in STRANGERS {
            let name = format!("faults: a spawned process{} is killed, of which {who} hears", way.name);
            let (program, arguments) = (stranger.clone(), vec![mode]);
            cases.push(Case { name, program, arguments, ranks: 1, way, killed: 1, left: 3 });
        }
        for (mode, how) in SIBLINGS {
            for (who, killed, whose) in KILLED {
                let name = format!("faults: of two jobs{} {how} {whose} is killed", way.name);
                let (program, arguments) = (siblings.clone(), vec![mode, who]);
                cases.push(Case { name, program, arguments, ranks: 2, way, killed, left: 6 - killed });
            }
        }
    }
    tally.test_together(AT_ONCE, &cases, |case| case.name.clone(), |case| case.run(mpi));
}

impl Case {
    fn run(&self, mpi: &Mpi) -> Fallible {
        let watch = Watch::begin();
        let job = watch.mark(self.way.job_that_goes_on(mpi, self.ranks)).arg(&self.program);
        let outcome = job.args(&self.arguments).limit(60).run()?;
        let code = if self.killed > 0 { 137 } else { 0 };
        let went_on = outcome.stdout.matches("goes on").count();
        let named = |words: &str| outcome.stderr.matches(words).count();
        let lost = [named(" (process "), named(" was killed by signal 9 (SIGKILL)")];
        if outcome.code() != code || went_on != self.left || lost != [self.killed; 2] {
            return Err(format!(
                "exit code {code}, {} processes that go on and {} that are named were expected\n{}",
                self.left,
                self.killed,
                outcome.complaint()
            ));
        }
        watch.nothing_left()
    }
}
