//! How long a target that calls nothing delays its origins, by every way that leads to its memory, and what programs that compute
//! beside ranks cost them, and ranks of other hosts that share their CPUs. The part `delays` of `cargo xtask test`.
//!
//! What must stay true: the bound is the one of `docs/windows.md`; where no help is needed there is no thread that could give it.

use std::collections::BTreeSet;

use crate::{
    ctests::{self, Over},
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
};

/// Microseconds within which 99 of 100 accesses are over that need the target's thread.
const BOUND: &str = "1000";
/// The same where they need nobody: what the system takes for other things.
const AT_ONCE: &str = "250";

/// What the program fails with when something is late.
const TOO_LATE: &str = "kinds of accesses take longer than";
/// In so many runs the same has to be late.
const RUNS: usize = 10;

/// So many times less messages go beside programs that compute on all CPUs: 2 to 4 by the share of the CPUs that ranks get, and what
/// it takes that they are there at the same time.
const BESIDE: &str = "10";

/// So many times longer ranks may take that share memory with some peers; it was 5 times while connections were looked at rarely,
/// and by ranks that spun meanwhile.
const ACROSS: f64 = 2.0;

/// A way to the memory of the target.
struct Way {
    name: &'static str,
    over: Over,
    /// What kind of memory it is, the bound, and which accesses; all, if none is named.
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
}

const PACKETS: &[(&str, &str)] = &[("POSTHASTE_MAP_WINDOWS", "0"), ("POSTHASTE_WINDOW_TRANSPORT", "0")];
const ALONE: &[(&str, &str)] = &[("POSTHASTE_WINDOW_THREAD", "0")];

const WAYS: [Way; 15] = [
    Way { name: "mapped memory", over: Over::Own, arguments: &["allocate", AT_ONCE], environment: ALONE },
    Way {
        name: "mapped memory of the program",
        over: Over::Own,
        arguments: &["heap", AT_ONCE],
        environment: ALONE,
    },
    Way { name: "a shared window", over: Over::Own, arguments: &["shared", AT_ONCE], environment: ALONE },
    Way {
        name: "mapped memory beside other",
        over: Over::Own,
        arguments: &["beside", AT_ONCE, "put", "get", "long_put", "put_64k", "get_64k"],
        environment: ALONE,
    },
    Way {
        name: "copies by the system",
        over: Over::Own,
        arguments: &["created", AT_ONCE, "put", "get", "long_put", "put_64k", "get_64k"],
        environment: ALONE,
    },
    Way { name: "the node's packets", over: Over::Own, arguments: &["created", BOUND], environment: PACKETS },
    Way {
        name: "copies by the system to what is attached",
        over: Over::Own,
        arguments: &["dynamic", AT_ONCE, "put", "get", "long_put", "put_64k", "get_64k"],
        environment: ALONE,
    },
    Way { name: "a dynamic window", over: Over::Own, arguments: &["dynamic", BOUND], environment: PACKETS },
    Way { name: "TCP", over: Over::Tcp, arguments: &["allocate", BOUND], environment: PACKETS },
    Way { name: "two TCP links", over: Over::Links, arguments: &["allocate", BOUND], environment: PACKETS },
    Way {
        name: "TCP and libfabric",
        over: Over::Both,
        arguments: &["allocate", BOUND],
        environment: &[("POSTHASTE_MAP_WINDOWS", "0")],
    },
    Way { name: "two hosts", over: Over::Hosts, arguments: &["allocate", BOUND], environment: &[] },
    Way { name: "a plug-in", over: Over::Plugin, arguments: &["allocate", BOUND], environment: PACKETS },
    Way {
        name: "libfabric",
        over: Over::Fabric,
        arguments: &["allocate", BOUND],
        environment: &[("POSTHASTE_MAP_WINDOWS", "0")],
    },
    Way {
        name: "libfabric that does atomic operations",
        over: Over::Atomics,
        arguments: &["allocate", BOUND],
        environment: &[("POSTHASTE_MAP_WINDOWS", "0")],
    },
];

/// All of them; over libfabric, if there is one.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let program = match ctests::helper(project, mpi, "delay", "win_delay") {
        Ok(program) => program,
        Err(complaint) => return tally.test("delays: compile win_delay.c", || Err(complaint)),
    };
    for Way { name, over, arguments, environment } in WAYS {
        if let Err(why) = over.can_be_used(project) {
            tally.not_run(1, format!("delays: {name}: {why}"));
            continue;
        }
        tally.test(&format!("delays: a target that calls nothing, {name}"), || {
            let job = || {
                let job = over.method(project, mpi.plain());
                let job = if over == Over::Hosts { ctests::on_hosts(job, 2, 1) } else { job };
                let job = job.args(["-n", "2"]).arg(&program).args(arguments);
                environment.iter().fold(job, |job, (name, value)| job.env(name, value)).limit(120)
            };
            // Something else may have had the CPUs for a while: what is late in each of some runs is late.
            let (mut late, mut said) = late_in(job())?;
            for _ in 1..RUNS {
                if late.is_empty() {
                    break;
                }
                let (again, complaint) = late_in(job())?;
                late.retain(|access| again.contains(access));
                said = complaint;
            }
            let names: Vec<&str> = late.iter().map(String::as_str).collect();
            match names[..] {
                [] => Ok(()),
                _ => Err(format!("    late in each of {RUNS} runs: {}\n{said}", names.join("; "))),
            }
        });
    }
}

/// Two ranks that talk, beside as many programs that compute as there are CPUs.
pub(crate) fn beside(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let name = "delays: two ranks beside programs that compute";
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
    if cpus < 2 {
        return tally.not_run(1, format!("{name}: there is one CPU"));
    }
    tally.test(name, || {
        let program = ctests::helper(project, mpi, "delay", "beside")?;
        let job = || mpi.mpiexec(2, false).arg(&program).args([&cpus.to_string(), BESIDE]).limit(60);
        let mut outcome = job().run()?;
        // Something else may have had the CPUs for a while.
        for _ in 1..RUNS {
            if outcome.ok() || !outcome.stderr.contains("times less beside others") {
                break;
            }
            outcome = job().run()?;
        }
        if outcome.ok() { Ok(()) } else { Err(outcome.complaint()) }
    });
}

/// Ranks of several hosts that share CPUs, as pods on one machine do, against the same ranks over the network alone. Two of a host
/// would have a CPU each.
pub(crate) fn across(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    for each in [2, 4] {
        tally.test(&format!("delays: {each} ranks of each of four hosts that share two CPUs"), || {
            let program = ctests::helper(project, mpi, "delay", "across")?;
            let cpus = ctests::cpus_of_this_process(2);
            let mean = |settings: &[(&str, &str)]| -> Fallible<f64> {
                let job = ctests::on_hosts(mpi.plain(), 4, each);
                let job = settings.iter().fold(job, |job, (name, value)| job.env(name, value));
                let job = job.args(["-n", &(4 * each).to_string()]).arg(&program);
                let said = job.under(&["taskset", "-c", &cpus]).limit(60).succeed()?.stdout;
                let number = said.split_whitespace().nth(1).and_then(|number| number.parse().ok());
                number.ok_or_else(|| format!("`mean N us` was expected, this was said: {said}"))
            };
            // Something else may have had the CPUs for a while.
            let mut ratios = Vec::new();
            for _ in 0..RUNS {
                let ratio = mean(&[])? / mean(&[("POSTHASTE_METHODS", "tcp"), ("POSTHASTE_SPIN_US", "0")])?;
                if ratio < ACROSS {
                    return Ok(());
                }
                ratios.push(ratio);
            }
            Err(format!("they take {ratios:.1?} times as long, below {ACROSS} was expected"))
        });
    }
}

/// The accesses that are late in a run, and its output; an error where it failed for another reason.
fn late_in(job: Job) -> Fallible<(BTreeSet<String>, String)> {
    let outcome = job.run()?;
    let late = outcome.stdout.lines().filter_map(|line| line.strip_prefix("late: ").map(str::to_owned));
    let late: BTreeSet<String> = late.collect();
    if !(outcome.ok() || outcome.stderr.contains(TOO_LATE) && !late.is_empty()) {
        return Err(outcome.complaint());
    }
    Ok((late, outcome.complaint()))
}
