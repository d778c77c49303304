//! Fault tests: real jobs in which something goes wrong, or that run under hard conditions, and what is left
//! behind afterwards. The parts `paths` and `faults` of `cargo xtask test`. What must stay true: a fault test measures
//! the time to the end from the moment of the fault, checks the exit code and the one sentence that explains it, and
//! then that no process, zombie or file is left.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, thread, time::Duration, time::Instant};

use rustix::process::Signal;

use crate::{
    ctests,
    leftovers::Watch,
    mpi::Mpi,
    process::{Job, Outcome, Running},
    project::{Fallible, Project},
    tally::Tally,
};

/// Within how many seconds everybody must have ended after a fault: 2, and a little for busy machines.
const END_WITHIN: f64 = 2.5;

/// What the fault tests work with.
struct Bench<'a> {
    mpi: &'a Mpi,
    faulty: std::path::PathBuf,
    survive: std::path::PathBuf,
    win_lost: std::path::PathBuf,
    win_made: std::path::PathBuf,
    win_streamed: std::path::PathBuf,
    recovers: std::path::PathBuf,
    independent: std::path::PathBuf,
    ulfm_lost: std::path::PathBuf,
    inter_lost: std::path::PathBuf,
    stopped: std::path::PathBuf,
    busy: std::path::PathBuf,
    no_peer_copy: std::path::PathBuf,
    sizes: std::path::PathBuf,
    order: std::path::PathBuf,
    matrix: std::path::PathBuf,
    windows: std::path::PathBuf,
    alltoall: std::path::PathBuf,
}

/// How ranks reach each other.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    options: &'static [&'static str],
    settings: &'static [(&'static str, &'static str)],
}

/// By what they choose themselves, by TCP alone, and on what mpiexec takes for two hosts.
pub(crate) const WAYS: [Way; 3] = [
    OWN,
    Way { name: " over TCP", options: &[], settings: &[("POSTHASTE_METHODS", "tcp")] },
    Way { name: " on two hosts", options: &["-launcher", "fork", "-hosts", "a,b"], settings: &[] },
];
const FOUR_HOSTS: Way = Way {
    name: " on one of four hosts",
    options: &["-launcher", "fork", "-hosts", "a:1,b:1,c:1,d:1"],
    settings: &[],
};
const OWN: Way = Way { name: "", options: &[], settings: &[] };

impl Way {
    /// A job that goes on when it has lost a rank.
    pub(crate) fn job_that_goes_on(&self, mpi: &Mpi, ranks: usize) -> Job {
        let job = mpi.plain().args(self.options).args(["-continue-on-loss", "-n", &ranks.to_string()]);
        self.settings.iter().fold(job, |job, (name, value)| job.env(name, value))
    }
}

/// What a faulty job must look like from outside.
#[derive(Clone, Copy)]
struct Expected<'a> {
    /// The arguments of `faulty`.
    what: &'a [&'a str],
    ranks: usize,
    /// How long messages travel.
    protocol: &'a str,
    /// The exit code of mpiexec; None: any but 0.
    code: Option<i32>,
    /// Each of these groups must be met by one of its words in the output.
    says: &'a [&'a [&'a str]],
}

/// Every protocol for long messages, forced, proved by its counter.
pub(crate) fn paths(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let bench = match Bench::new(project, mpi) {
        Ok(bench) => bench,
        Err(complaint) => return tally.test("paths: compile", || Err(complaint)),
    };
    for (protocol, counters) in
        [("stream", "messages.stream."), ("get", "messages.get."), ("put", "messages.put.")]
    {
        tally.test(&format!("paths: every long message by {protocol}"), || {
            bench.forced(protocol, counters, false)
        });
    }
    tally.test("paths: get is forbidden by the kernel (seccomp)", || bench.forced("get", "", true));
    tally
        .test("paths: left to the rule, peer copies forbidden by the kernel", || bench.peer_copy_forbidden());
    // Memory from MPI_Alloc_mem is copied even where the kernel forbids the rest.
    for (long, forbidden, moves) in [("auto", false, true), ("auto", true, true), ("get", true, false)] {
        let name = format!("paths: windows that are not mapped, protocol {long}, forbidden: {forbidden}");
        tally.test(&name, || bench.windows(long, forbidden, moves));
    }
    match ctests::Over::Fabric.can_be_used(project) {
        Ok(()) => tally.test("paths: windows over libfabric are read and written by its RMA", || {
            let job = ctests::Over::Fabric.method(project, mpi.plain().args(["-counters", "-n", "2"]));
            bench.window_transfers(job.env("POSTHASTE_MAP_WINDOWS", "0"), true)
        }),
        Err(why) => tally.not_run(1, format!("paths: windows over libfabric: {why}")),
    }
}

/// All fault tests.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let bench = match Bench::new(project, mpi) {
        Ok(bench) => bench,
        Err(complaint) => return tally.test("faults: compile", || Err(complaint)),
    };
    let one_sentence: &[&[&str]] = &[&["rank 1"], &["SIGKILL", "signal 9", "Killed"]];
    let cases = [
        ("a rank is killed in the middle of a rendezvous", &["die", "9"][..], 2, Some(137), one_sentence),
        ("one of 8 ranks is killed in the middle of a rendezvous", &["die", "9"], 8, Some(137), one_sentence),
        ("a rank crashes", &["die", "11"], 2, Some(139), &[&["rank 1"], &["SIGSEGV", "signal 11"]]),
        ("MPI_Abort with code 7", &["abort", "7"], 4, Some(7), &[&["rank 1"]]),
        ("a rank exits with code 5 inside MPI", &["leave", "5"], 4, Some(5), &[&["rank 1"], &["5"]]),
        (
            "a rank exits with code 0 without MPI_Finalize",
            &["leave", "0"],
            4,
            None,
            &[&["rank 1"], &["MPI_Finalize"]],
        ),
        (
            "an error with the default handler",
            &["error"],
            3,
            None,
            &[&["MPI_Send"], &["rank 1"], &["6", "8"]],
        ),
    ];
    for (name, what, ranks, code, says) in cases {
        let expected = Expected { what, ranks, protocol: "auto", code, says };
        tally.test(&format!("faults: {name}"), || bench.fault(expected));
    }
    for protocol in ["stream", "get", "put"] {
        let what = &["die", "9"];
        let expected = Expected { what, ranks: 2, protocol, code: Some(137), says: one_sentence };
        tally.test(&format!("faults: a rank is killed in a rendezvous by {protocol}"), || {
            bench.fault(expected)
        });
    }
    for (ranks, way) in
        [2, 3, 8].map(|ranks| (ranks, OWN)).into_iter().chain(WAYS[1..].iter().map(|way| (4, *way)))
    {
        let name = format!("faults: {ranks} ranks{} of which one is killed, and the others go on", way.name);
        tally.test(&name, || bench.survivors(&bench.survive, ranks, way, &[]).map(drop));
    }
    for (what, ranks, name, value) in [
        ("in several VCIs", 4, "POSTHASTE_THREADED", "1"),
        ("while it streams", 2, "POSTHASTE_LONG_PROTOCOL", "stream"),
        ("while it is read", 3, "POSTHASTE_LONG_PROTOCOL", "get"),
    ] {
        tally.test(&format!("faults: a rank is killed {what}, and the others go on"), || {
            bench.survivors(&bench.survive, ranks, OWN, &[(name, value)]).map(drop)
        });
    }
    for (hosts, ranks, left) in [("a:1,b:1", 2, 1), ("a:2,b:2", 4, 2), ("a:2,b:2,c:1", 5, 4)] {
        tally.test(&format!("faults: one of the hosts {hosts} is lost, and the others go on"), || {
            bench.a_host_that_is_lost(project, hosts, ranks, left)
        });
    }
    for (lost, way) in [("rank", WAYS[1]), ("rank", FOUR_HOSTS), ("host", FOUR_HOSTS)] {
        tally.test(
            &format!("faults: a {lost}{} that nobody had talked to is lost, and heard of", way.name),
            || bench.unheard(project, lost, way),
        );
    }
    for (ranks, maps) in [(2, "1"), (3, "1"), (3, "0"), (4, "0")] {
        let name =
            format!("faults: {ranks} ranks of which one is killed in epochs of windows, mapped: {maps}");
        tally.test(&name, || {
            bench.survivors(&bench.win_lost, ranks, OWN, &[("POSTHASTE_MAP_WINDOWS", maps)]).map(drop)
        });
    }
    for (ranks, way) in WAYS[1..].iter().flat_map(|way| [(3, way), (4, way)]) {
        let name = format!("faults: {ranks} ranks of which one is killed in epochs of windows,{}", way.name);
        tally.test(&name, || {
            bench.survivors(&bench.win_lost, ranks, *way, &[("POSTHASTE_MAP_WINDOWS", "0")]).map(drop)
        });
    }
    const MAP: (&str, &str) = ("POSTHASTE_MAP_WINDOWS", "1");
    const ASK: (&str, &str) = ("POSTHASTE_WINDOW_TABLE", "1");
    tally.test("faults: 4 ranks of which one is killed in epochs of windows whose members are asked", || {
        bench.survivors(&bench.win_lost, 4, OWN, &[ASK, ("POSTHASTE_MAP_WINDOWS", "0")]).map(drop)
    });
    for (ranks, setting) in [(3, MAP), (4, ("POSTHASTE_MAP_WINDOWS", "0")), (7, MAP), (5, ASK)] {
        let (name, value) = setting;
        let name =
            format!("faults: {ranks} ranks of which one is killed while windows are made, {name}={value}");
        tally.test(&name, || bench.survivors(&bench.win_made, ranks, OWN, &[setting]).map(drop));
    }
    for (flavor, ranks) in [
        ("create", 3),
        ("heap", 2),
        ("heap", 4),
        ("allocate", 3),
        ("shared", 4),
        ("dynamic", 2),
        ("dynamic", 4),
    ] {
        tally
            .test(&format!("faults: a rank of {ranks} is killed that streams to a window, {flavor}"), || {
                bench.streamed(flavor, ranks, OWN, false)
            });
    }
    for (flavor, way) in
        ["create", "allocate", "dynamic"].iter().flat_map(|f| WAYS[1..].iter().map(move |way| (f, way)))
    {
        tally.test(
            &format!("faults: a rank of 3 is killed that streams to a window, {flavor},{}", way.name),
            || bench.streamed(flavor, 3, *way, false),
        );
    }
    for flavor in ["heap", "allocate", "shared"] {
        tally.test(
            &format!("faults: a rank is killed with the lock of elements of a window, {flavor}"),
            || bench.streamed(flavor, 4, OWN, true),
        );
    }
    for (what, name) in [
        ("window", "while another one makes windows"),
        ("spawn", "while processes are started"),
        ("spawn_lost", "before they ask for processes"),
        ("partitioned", "to whom they send partitions"),
        ("status", "and look at receives from anybody"),
    ] {
        for way in WAYS {
            let name = format!("faults: ranks{} recover from the loss of one {name}", way.name);
            tally.test(&name, || {
                let job = || bench.job_that_goes_on(3, way).arg(&bench.recovers).arg(what);
                bench.those_who_go_on(3, job).map(drop)
            });
        }
    }
    for (what, who, code, name) in [
        ("child_killed", "parents", 137, "a rank of an independent job that was spawned is killed"),
        ("child_aborts", "parents", 5, "a rank of an independent job that was spawned aborts"),
        ("parent_killed", "children", 137, "a rank is killed of the job that has spawned an independent one"),
        ("connected", "nobody", 137, "a rank of a connected job that was spawned is killed"),
    ] {
        for way in [OWN, WAYS[2]] {
            tally.test(&format!("faults: {name}{}", way.name), || bench.independent(what, way, who, code));
        }
    }
    for (when, name) in [
        ("revoke", "before a communicator is revoked"),
        ("agree", "inside an agreement"),
        ("shrink", "inside shrinking"),
        ("any", "while others receive from anybody"),
    ] {
        for way in WAYS {
            let name = format!("faults: ranks{} are killed {name}", way.name);
            tally.test(&name, || bench.those_that_are_left(when, way));
        }
    }
    for way in WAYS {
        for (how, name) in [("spawned", "a job that was spawned"), ("met", "a job that was met")] {
            let name = format!("faults: ranks{} of {name}, and of its partner, are killed", way.name);
            tally.test(&name, || bench.between_jobs(how, way));
        }
        let name = format!("faults: a rank{} that is stopped for 6 s is not lost", way.name);
        tally.test(&name, || bench.nobody_is_lost(&bench.stopped, 4, way));
        let name = format!("faults: ranks{} that compute for 6 s on a loaded machine are not lost", way.name);
        tally.test(&name, || bench.nobody_is_lost(&bench.busy, 6, way));
    }
    for (example, arguments, says) in [
        ("example_bag_of_tasks", &["2"][..], "right, 2 workers lost"),
        ("example_stencil", &["1", "37", "3", "95"], "the same bit for bit after 200 steps, on 2 of 4 ranks"),
        (
            "example_respawn",
            &["1", "37", "3", "95"],
            "the same bit for bit after 200 steps, on 4 ranks, 2 of them replacements",
        ),
    ] {
        for way in WAYS {
            tally.test(&format!("faults: {example}{}", way.name), || {
                bench.example(project, example, arguments, says, way)
            });
        }
    }
    tally
        .test("faults: short messages between survivors are as fast as before", || bench.as_fast_as_before());
    tally.test("faults: mpiexec is killed by SIGKILL", || bench.launcher_ends(Signal::KILL));
    tally.test("faults: mpiexec gets SIGTERM", || bench.launcher_ends(Signal::TERM));
    tally.test("faults: mpiexec gets SIGINT", || bench.launcher_ends(Signal::INT));
    tally.test("faults: a rank is killed from outside while waiting", || bench.killed_from_outside());
    tally.test("faults: programs that can't be started", || bench.wrong_command_lines());
    if can_be_nobody(mpi) {
        tally.test("faults: folders and programs that are closed to the user", || bench.closed(project));
    } else {
        tally.not_run(1, "faults: closed folders: needs root");
    }
    tally.test("faults: two jobs at once", || bench.two_jobs());
    tally.test("faults: 64 ranks, all to all", || bench.many_ranks());
    tally.test("faults: a job confined to one CPU", || bench.one_cpu());
    tally.test("faults: a megabyte of standard input reaches rank 0", || bench.standard_input());
    tally.test("faults: a rank starts programs of its own", || bench.forks(project));
    for (name, limits, limits_of_ranks) in [
        ("files of mpiexec", "ulimit -f 100", "true"),
        ("memory of mpiexec", "ulimit -v 30000", "true"),
        ("memory of the ranks", "true", "ulimit -v 30000"),
    ] {
        tally.test(&format!("faults: no room for the node segment, by a limit on the {name}"), || {
            bench.no_room(limits, limits_of_ranks)
        });
    }
    for (name, size) in [("64 MB", "64m"), ("almost nothing", "4k")] {
        if can_mount() {
            tally.test(&format!("faults: /dev/shm of {name}"), || bench.small_shm(size));
        } else {
            tally.not_run(1, format!("/dev/shm of {name}: needs root and mount namespaces (unshare)"));
        }
    }
}

impl<'a> Bench<'a> {
    fn new(project: &Project, mpi: &'a Mpi) -> Fallible<Self> {
        Ok(Self {
            mpi,
            faulty: ctests::helper(project, mpi, "fault", "faulty")?,
            survive: ctests::helper(project, mpi, "fault", "survive")?,
            win_lost: ctests::helper(project, mpi, "fault", "win_lost")?,
            win_made: ctests::helper(project, mpi, "fault", "win_made")?,
            win_streamed: ctests::helper(project, mpi, "fault", "win_streamed")?,
            recovers: ctests::helper(project, mpi, "fault", "recovers")?,
            independent: ctests::helper(project, mpi, "fault", "independent")?,
            ulfm_lost: ctests::helper(project, mpi, "fault", "ulfm_lost")?,
            inter_lost: ctests::helper(project, mpi, "fault", "inter_lost")?,
            stopped: ctests::helper(project, mpi, "fault", "stopped")?,
            busy: ctests::helper(project, mpi, "fault", "busy")?,
            no_peer_copy: ctests::helper(project, mpi, "fault", "no_peer_copy")?,
            sizes: ctests::helper(project, mpi, "", "pt2pt_sizes")?,
            order: ctests::helper(project, mpi, "", "pt2pt_order")?,
            matrix: ctests::helper(project, mpi, "", "matrix")?,
            windows: ctests::helper(project, mpi, "", "win_put_get")?,
            alltoall: ctests::helper(project, mpi, "", "alltoall")?,
        })
    }

    fn job(&self, ranks: usize) -> Job {
        self.mpi.plain().arg("-n").arg(ranks.to_string())
    }

    /// Starts a faulty job and waits until it says that the fault is about to happen.
    fn until_the_fault(&self, watch: &Watch, job: Job, what: &[&str]) -> Fallible<(Running, Instant)> {
        let job = watch.mark(job).arg(&self.faulty).args(what).limit(30);
        let running = job.start()?;
        if running.wait_for_output("about to", 20) {
            return Ok((running, Instant::now()));
        }
        let outcome = running.wait()?;
        Err(format!("the fault did not happen\n{}", outcome.complaint()))
    }

    fn fault(&self, expected: Expected<'_>) -> Fallible {
        let watch = Watch::begin();
        let job = self.job(expected.ranks).env("POSTHASTE_LONG_PROTOCOL", expected.protocol);
        let (running, fault) = self.until_the_fault(&watch, job, expected.what)?;
        let outcome = running.wait()?;
        in_time(&outcome, fault)?;
        match expected.code {
            Some(code) if outcome.code() != code => {
                return Err(format!("exit code {code} was expected\n{}", outcome.complaint()));
            }
            None if outcome.code() == 0 => {
                return Err(format!("an exit code other than 0 was expected\n{}", outcome.complaint()));
            }
            _ => {}
        }
        for words in expected.says {
            if !words.iter().any(|word| outcome.stderr.contains(word)) {
                return Err(format!(
                    "nothing on stderr says {}\n{}",
                    words.join(" or "),
                    outcome.complaint()
                ));
            }
        }
        watch.nothing_left()
    }

    /// A rank is killed, and the job is asked not to end: the program checks what the others hear of it. What it said. Only
    /// to be late is forgiven twice: the machine may do something else.
    fn survivors(
        &self,
        program: &Path,
        ranks: usize,
        way: Way,
        settings: &[(&str, &str)],
    ) -> Fallible<String> {
        let timed: &[&str] = if ranks == 3 { &["timed"] } else { &[] };
        self.those_who_go_on(ranks, || {
            let job = self.job_that_goes_on(ranks, way);
            settings.iter().fold(job, |job, (name, value)| job.env(name, value)).arg(program).args(timed)
        })
    }

    /// A rank is killed that streams to a window of some flavor; with a lock of elements, if `locked`.
    fn streamed(&self, flavor: &str, ranks: usize, way: Way, locked: bool) -> Fallible {
        let arguments: &[&str] = if locked { &[flavor, "70000", "locked"] } else { &[flavor, "70000"] };
        let one_cpu = ctests::cpus_of_this_process(1);
        self.those_who_go_on(ranks, || {
            let job = self.job_that_goes_on(ranks, way).arg(&self.win_streamed).args(arguments);
            if locked { job.under(&["taskset", "-c", &one_cpu]) } else { job }
        })
        .map(drop)
    }

    /// Rank 1 of the job is killed, all others go on. Who hears of it too late has some more chances, for machines are busy.
    fn those_who_go_on(&self, ranks: usize, job: impl Fn() -> Job) -> Fallible<String> {
        let is_late = |outcome: &Fallible<String>| {
            outcome.as_ref().is_err_and(|complaint| complaint.contains("heard too late"))
        };
        let once = || Self::who_goes_on(ranks, job());
        (0..2).map(|_| once()).find(|outcome| !is_late(outcome)).unwrap_or_else(once)
    }

    fn who_goes_on(ranks: usize, job: Job) -> Fallible<String> {
        let watch = Watch::begin();
        let outcome = watch.mark(job).limit(60).run()?;
        let went_on = outcome.stdout.matches("goes on").count();
        let named = outcome.stderr.contains("rank 1 (process ") && outcome.stderr.contains("SIGKILL");
        if outcome.code() != 137 || went_on != ranks - 1 || !named {
            return Err(format!(
                "exit code 137 and {} ranks that go on were expected\n{}{}",
                ranks - 1,
                outcome.stdout,
                outcome.complaint()
            ));
        }
        watch.nothing_left()?;
        Ok(outcome.stdout)
    }

    fn job_that_goes_on(&self, ranks: usize, way: Way) -> Job {
        way.job_that_goes_on(self.mpi, ranks)
    }

    /// A job of two ranks that has started another one of two, of which one loses a rank: `who` goes on.
    fn independent(&self, what: &str, way: Way, who: &str, code: i32) -> Fallible {
        let watch = Watch::begin();
        let job = self.mpi.plain().args(way.options).args(["-n", "2"]).arg(&self.independent).arg(what);
        let outcome = watch.mark(job).limit(60).run()?;
        let [all, theirs] =
            ["goes on", &format!("of the {who} goes on")].map(|words| outcome.stdout.matches(words).count());
        let expected = if who == "nobody" { 0 } else { 2 };
        if outcome.code() != code || [all, theirs] != [expected; 2] {
            return Err(format!(
                "exit code {code} was expected, and {expected} ranks that go on, of the {who}\n{}{}",
                outcome.stdout,
                outcome.complaint()
            ));
        }
        watch.nothing_left()
    }

    /// Two jobs of three ranks that know each other; each loses one.
    fn between_jobs(&self, how: &str, way: Way) -> Fallible {
        let watch = Watch::begin();
        let job = watch.mark(self.job_that_goes_on(3, way)).arg(&self.inter_lost).arg(how);
        let outcome = job.limit(60).run()?;
        let went_on = ["first", "second"].map(|group| outcome.stdout.matches(group).count());
        let named = outcome.stderr.matches("rank 1 (process ").count();
        if outcome.code() != 137 || went_on != [2, 2] || named != 2 {
            return Err(format!(
                "exit code 137 was expected, two of each group that go on, and the names of both lost ones\n{}{}",
                outcome.stdout,
                outcome.complaint()
            ));
        }
        watch.nothing_left()
    }

    /// Ranks call nothing for longer than a silent host would be given, and than mpiexec would wait for an agent.
    fn nobody_is_lost(&self, program: &Path, ranks: usize, way: Way) -> Fallible {
        let watch = Watch::begin();
        let job = watch.mark(self.job_that_goes_on(ranks, way)).env("POSTHASTE_TCP_DEAD_S", "2");
        let outcome = job.arg(program).limit(90).succeed()?;
        match outcome.stdout.matches("goes on").count() {
            n if n == ranks => watch.nothing_left(),
            n => Err(format!("{n} of {ranks} ranks go on\n{}", outcome.complaint())),
        }
    }

    /// Ranks that a seed chooses are killed, twice; those that are left see the same.
    fn those_that_are_left(&self, when: &str, way: Way) -> Fallible {
        for (ranks, seed, threaded) in [(4, 1, "0"), (8, 2, "0"), (5, 3, "1"), (8, 4, "0")] {
            let watch = Watch::begin();
            let job = self.job_that_goes_on(ranks, way);
            let job = watch.mark(job).env("POSTHASTE_THREADED", threaded).arg(&self.ulfm_lost);
            let outcome = job.args([when, &seed.to_string()]).limit(60).run()?;
            let went_on = outcome.stdout.matches("goes on").count();
            let left = outcome.stdout.split("one of ").nth(1).and_then(|rest| rest.lines().next());
            if outcome.code() != 137 || went_on == 0 || left != Some(&*went_on.to_string()) {
                return Err(format!(
                    "{ranks} ranks, seed {seed}: exit code 137 was expected, and that all go on that are left\n{}{}",
                    outcome.stdout,
                    outcome.complaint()
                ));
            }
            watch.nothing_left()?;
        }
        Ok(())
    }

    /// One of four ranks that have never talked to it is lost: the other three hear of it all the same.
    fn unheard(&self, project: &Project, lost: &str, way: Way) -> Fallible {
        let watch = Watch::begin();
        let program = ctests::helper(project, self.mpi, "fault", "unheard")?;
        let job = watch.mark(self.mpi.plain().arg("-continue-on-loss").args(way.options).args(["-n", "4"]));
        let job = way.settings.iter().fold(job, |job, (name, value)| job.env(name, value));
        let outcome = job.arg(&program).arg(lost).limit(60).run()?;
        let code = if lost == "rank" { 137 } else { 1 };
        if outcome.code() != code || outcome.stdout.matches("has heard of it").count() != 3 {
            return Err(format!(
                "exit code {code} and 3 ranks that hear of it were expected\n{}",
                outcome.complaint()
            ));
        }
        watch.nothing_left()
    }

    /// A host is lost, and the job is asked not to end: its ranks are lost to those of the others, which go on.
    fn a_host_that_is_lost(&self, project: &Project, hosts: &str, ranks: usize, left: usize) -> Fallible {
        let watch = Watch::begin();
        let program = ctests::helper(project, self.mpi, "fault", "host_lost")?;
        let job = self.mpi.plain().args(["-continue-on-loss", "-launcher", "fork", "-hosts", hosts]);
        let job = watch.mark(job.args(["-n", &ranks.to_string()])).arg(&program);
        let outcome = job.arg(left.to_string()).limit(60).run()?;
        let went_on = outcome.stdout.matches(&format!("goes on, one of {left}")).count();
        let says = outcome.stderr.contains("the connection to") && outcome.stderr.contains("was lost");
        if outcome.code() != 1 || went_on != left || !says {
            return Err(format!(
                "exit code 1, a sentence and {left} ranks that go on were expected\n{}{}",
                outcome.stdout,
                outcome.complaint()
            ));
        }
        watch.nothing_left()
    }

    /// An example in which two of four ranks are killed.
    fn example(&self, project: &Project, name: &str, arguments: &[&str], says: &str, way: Way) -> Fallible {
        let watch = Watch::begin();
        let program = ctests::helper(project, self.mpi, "fault", name)?;
        let job = watch.mark(self.job_that_goes_on(4, way));
        let outcome = job.arg(&program).args(arguments).limit(60).run()?;
        if outcome.code() != 137 || !outcome.stdout.contains(says) {
            return Err(format!(
                "exit code 137 and \"{says}\" were expected\n{}{}",
                outcome.stdout,
                outcome.complaint()
            ));
        }
        watch.nothing_left()
    }

    /// The best of some runs, for machines are busy: what a loss leaves behind would be there in each of them.
    fn as_fast_as_before(&self) -> Fallible {
        let mut ratios = Vec::new();
        for _ in 0..5 {
            let said = self.survivors(&self.survive, 3, OWN, &[])?;
            let ratio =
                said.split("ratio ").nth(1).and_then(|text| text.split_whitespace().next()?.parse().ok());
            let ratio: f64 = ratio.ok_or_else(|| format!("no ratio in {said:?}"))?;
            if ratio <= 1.03 {
                return Ok(());
            }
            ratios.push(ratio);
        }
        Err(format!("8 bytes took longer after a loss than before it, by these factors: {ratios:?}"))
    }

    fn launcher_ends(&self, signal: Signal) -> Fallible {
        let watch = Watch::begin();
        // A shell that runs this in the background has it ignore interrupts, and mpiexec keeps to that.
        let job = self.job(4).under(&["env", "--default-signal=INT"]);
        let (running, fault) = self.until_the_fault(&watch, job, &["exchange"])?;
        running.signal(signal);
        let outcome = running.wait()?;
        in_time(&outcome, fault)?;
        watch.nothing_left()
    }

    fn killed_from_outside(&self) -> Fallible {
        let watch = Watch::begin();
        let (running, _) = self.until_the_fault(&watch, self.job(3), &["wait"])?;
        thread::sleep(Duration::from_millis(300));
        let ranks: Vec<u32> = watch
            .processes()
            .into_iter()
            .filter(|(_, command)| command.starts_with(&*self.faulty.to_string_lossy()))
            .map(|(pid, _)| pid)
            .collect();
        let victim = *ranks.get(1).ok_or("the ranks can't be found in /proc")?;
        let fault = Instant::now();
        Job::new("kill").arg("-9").arg(victim.to_string()).succeed()?;
        let outcome = running.wait()?;
        in_time(&outcome, fault)?;
        if outcome.code() != 137 {
            return Err(format!("exit code 137 was expected\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    }

    fn wrong_command_lines(&self) -> Fallible {
        let cases: [(&[&str], Option<i32>); 6] = [
            (&["-n", "0", "true"], None),
            (&["-n", "many", "true"], None),
            (&["-n", "2"], None),
            (&["-n", "2", "./no-such-program"], Some(127)),
            (&["-n", "2", "-wdir", "/no/such/folder", "true"], None),
            (&["-n", "2", "-no-such-option", "true"], None),
        ];
        for (arguments, code) in cases {
            let watch = Watch::begin();
            let outcome = watch.mark(self.mpi.plain()).args(arguments).limit(10).run()?;
            let right = code.map_or(outcome.code() != 0, |code| outcome.code() == code);
            if !right || outcome.timed_out || outcome.stderr.trim().is_empty() {
                return Err(format!("a sentence and an error code were expected\n{}", outcome.complaint()));
            }
            watch.nothing_left()?;
        }
        Ok(())
    }

    /// A user without rights: the working directory may not be entered, the program not be executed.
    fn closed(&self, project: &Project) -> Fallible {
        let folder = project.folder("closed")?;
        let closed = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
        closed.map_err(|e| format!("{}: {e}", folder.display()))?;
        let path = folder.to_string_lossy();
        let program = format!("{path}/program");
        for (arguments, code) in [(["-wdir", &*path, "true"], 1), (["-n", "2", &*program], 126)] {
            let watch = Watch::begin();
            let job = watch.mark(self.mpi.plain().args(arguments).under(&NOBODY)).limit(10);
            let outcome = job.run()?;
            if outcome.code() != code || !outcome.stderr.contains(&*path) || outcome.timed_out {
                return Err(format!(
                    "exit code {code} and a sentence were expected\n{}",
                    outcome.complaint()
                ));
            }
            watch.nothing_left()?;
        }
        Ok(())
    }

    /// Two jobs of two ranks on the same CPUs: both must get on.
    fn two_jobs(&self) -> Fallible {
        let watch = Watch::begin();
        let steps = "5000";
        let jobs: Vec<Running> = (0..2)
            .map(|_| watch.mark(self.job(2)).arg(&self.faulty).args(["busy", steps]).limit(30).start())
            .collect::<Fallible<_>>()?;
        for job in jobs {
            let outcome = job.wait()?;
            if !outcome.ok() {
                return Err(outcome.complaint());
            }
        }
        watch.nothing_left()
    }

    fn many_ranks(&self) -> Fallible {
        let watch = Watch::begin();
        watch.mark(self.job(64)).arg(&self.alltoall).limit(120).succeed()?;
        watch.nothing_left()
    }

    fn one_cpu(&self) -> Fallible {
        let watch = Watch::begin();
        let mpiexec = self.job(4).arg(&self.faulty).args(["busy", "3000"]);
        watch
            .mark(mpiexec.under(&["taskset", "-c", &ctests::cpus_of_this_process(1)]))
            .limit(30)
            .succeed()?;
        watch.nothing_left()
    }

    /// Rank 0 gets it whole, the others get none.
    fn standard_input(&self) -> Fallible {
        let watch = Watch::begin();
        let text: String =
            (0..20_000).map(|i| format!("line {i} with some padding to make it longer\n")).collect();
        let outcome = watch.mark(self.job(3)).arg("cat").input(text.clone()).limit(20).succeed()?;
        if outcome.stdout != text {
            return Err(format!("{} bytes went in, {} came out", text.len(), outcome.stdout.len()));
        }
        watch.nothing_left()
    }

    /// A shell is the rank's parent; the program it starts afterwards, outside MPI, is a singleton.
    fn forks(&self, project: &Project) -> Fallible {
        let watch = Watch::begin();
        let hello = ctests::helper(project, self.mpi, "", "hello")?;
        let script = format!("{0} && env -i {0} && true", hello.display());
        watch.mark(self.job(2)).args(["sh", "-c", &script]).limit(30).succeed()?;
        watch.nothing_left()
    }

    /// A way for long messages, forced by its setting.
    fn forced(&self, protocol: &str, counter: &str, forbidden: bool) -> Fallible {
        for program in [&self.sizes, &self.order, &self.matrix] {
            let mut job =
                self.mpi.plain().args(["-counters", "-n", "2"]).env("POSTHASTE_LONG_PROTOCOL", protocol);
            if forbidden {
                job = job.arg(&self.no_peer_copy);
            }
            let outcome = job.arg(program).limit(180).succeed()?;
            if !counter.is_empty() && counted(&outcome, counter) == 0 {
                return Err(format!("no counter {counter}* has moved\n{}", outcome.complaint()));
            }
        }
        Ok(())
    }

    /// Windows whose memory is not mapped; whether the method does puts and gets by itself.
    fn windows(&self, protocol: &str, forbidden: bool, moves: bool) -> Fallible {
        let job = self.mpi.plain().args(["-counters", "-n", "2"]);
        let mut job = job.env("POSTHASTE_MAP_WINDOWS", "0").env("POSTHASTE_LONG_PROTOCOL", protocol);
        if forbidden {
            job = job.arg(&self.no_peer_copy);
        }
        self.window_transfers(job, moves)
    }

    /// Whether the method has done puts and gets by itself is as it should be.
    fn window_transfers(&self, job: Job, moves: bool) -> Fallible {
        let outcome = job.arg(&self.windows).limit(180).succeed()?;
        let transfers = counted(&outcome, "onesided.transfers");
        if (transfers > 0) == moves {
            return Ok(());
        }
        Err(format!("{transfers} puts and gets by the method\n{}", outcome.complaint()))
    }

    fn peer_copy_forbidden(&self) -> Fallible {
        let job = self.mpi.plain().args(["-counters", "-n", "2"]).arg(&self.no_peer_copy).arg(&self.sizes);
        let outcome = job.limit(180).succeed()?;
        match counted(&outcome, "messages.get.shm") {
            0 => Ok(()),
            n => Err(format!("{n} messages are said to have gone by peer copies, which are forbidden")),
        }
    }

    /// The segment for 64 ranks is refused: it is said how large it is, and all ends.
    fn no_room(&self, limits: &str, limits_of_ranks: &str) -> Fallible {
        let watch = Watch::begin();
        let limited = |limits: &str| format!("{limits} && exec \"$@\"");
        let job = self.job(64).args(["sh", "-c", &limited(limits_of_ranks), "sh"]).arg(&self.alltoall);
        let outcome = watch.mark(job.under(&["sh", "-c", &limited(limits), "sh"])).limit(20).run()?;
        let said = outcome.stderr.contains("KiB needed: ");
        if !said || outcome.timed_out || outcome.code() == 0 || outcome.code() >= 128 {
            return Err(format!("a sentence with the size was expected\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    }

    /// The job runs, or says how much memory it needs; it must not die of SIGBUS.
    fn small_shm(&self, size: &str) -> Fallible {
        let watch = Watch::begin();
        let mount = format!("mount -t tmpfs -o size={size} none /dev/shm && exec \"$@\"");
        let job = self.job(32).arg(&self.alltoall).limit(120);
        let outcome = watch.mark(job.under(&["unshare", "--mount", "sh", "-c", &mount, "sh"])).run()?;
        let explained =
            outcome.code() < 128 && ["bytes", "MB", "MiB", "KiB"].iter().any(|w| outcome.stderr.contains(w));
        if outcome.ok() || (explained && !outcome.timed_out) {
            watch.nothing_left()
        } else {
            Err(outcome.complaint())
        }
    }
}

/// The sum of the counters whose name begins like this, as `mpiexec -counters` prints them.
pub(crate) fn counted(outcome: &Outcome, beginning: &str) -> u64 {
    counters(&outcome.stderr)
        .into_iter()
        .filter(|(name, _)| name.starts_with(beginning))
        .map(|(_, n)| n)
        .sum()
}

/// All lines `counter NAME SUM`.
pub(crate) fn counters(stderr: &str) -> Vec<(String, u64)> {
    stderr
        .lines()
        .filter_map(|line| {
            let mut words = line.strip_prefix("counter ")?.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
        })
        .collect()
}

fn in_time(outcome: &Outcome, fault: Instant) -> Fallible {
    let took = fault.elapsed().as_secs_f64();
    if outcome.timed_out || outcome.output_held || took > END_WITHIN {
        return Err(format!("the end came {took:.1} s after the fault\n{}", outcome.complaint()));
    }
    Ok(())
}

/// Runs a program as a user without rights. It is opened before, so that it may lie in a folder that is closed to him, as
/// root's own is.
const NOBODY: [&str; 3] = [
    "sh",
    "-c",
    "exec 3<\"$0\"; exec setpriv --reuid=65534 --regid=65534 --clear-groups /proc/self/fd/3 \"$@\"",
];

/// Whether a user without rights can run our mpiexec.
fn can_be_nobody(mpi: &Mpi) -> bool {
    mpi.plain().arg("true").under(&NOBODY).run().is_ok_and(|o| o.ok())
}

/// Whether a mount namespace can be made here.
fn can_mount() -> bool {
    Job::new("unshare")
        .args(["--mount", "sh", "-c", "mount -t tmpfs none /dev/shm"])
        .run()
        .is_ok_and(|o| o.ok())
}

#[cfg(test)]
mod tests {
    #[test]
    fn counters_are_read() {
        let text = "noise\ncounter messages.get.shm 12\ncounter bytes.get.shm 99\ncounter broken\n";
        assert_eq!(super::counters(text), [("messages.get.shm".into(), 12), ("bytes.get.shm".into(), 99)]);
    }
}
