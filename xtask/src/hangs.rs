//! Hang tests: jobs that wait for ever, each in its own way, and what mpiexec says about them. The part `hangs` of
//! `cargo xtask test`. What must stay true: every test checks the sentence that names the reason, read from a real job;
//! who asks, and how, makes no difference to it.

use std::{path::Path, path::PathBuf, thread, time::Duration, time::Instant};

use rustix::process::Signal;

use crate::{
    ctests,
    leftovers::Watch,
    mpi::Mpi,
    process::{Job, Running},
    project::{Fallible, Project},
    tally::Tally,
};

/// How long a job hangs before mpiexec ends it.
const LIMIT: &str = "3";
/// So many jobs hang side by side: they sleep.
const AT_ONCE: usize = 6;

/// A job that hangs, and what must be said about it.
struct Hang {
    name: &'static str,
    what: &'static str,
    ranks: usize,
    says: &'static [&'static str],
}

const fn hang(name: &'static str, what: &'static str, ranks: usize, says: &'static [&'static str]) -> Hang {
    Hang { name, what, ranks, says }
}

pub(crate) const DEADLOCK: &str = "so: rank 0 waits for rank 1, which waits for rank 0: a deadlock";

const HANGS: [Hang; 30] = [
    hang(
        "two synchronous sends head to head",
        "ssend",
        2,
        &[
            DEADLOCK,
            "has been in MPI_Ssend for",
            "waits for rank 1 to receive its message with tag 5 of 100 bytes on MPI_COMM_WORLD",
        ],
    ),
    hang(
        "two long sends head to head",
        "send",
        2,
        &[DEADLOCK, "has been in MPI_Send for", "of 4194304 bytes"],
    ),
    hang(
        "a cycle of three receives",
        "cycle",
        3,
        &["so: rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0: a deadlock"],
    ),
    hang(
        "everybody receives from anybody",
        "any",
        3,
        &["a message from any rank with any tag", ": a deadlock"],
    ),
    hang(
        "a wrong tag",
        "tag",
        2,
        &[
            DEADLOCK,
            "so: rank 0 waits for tag 7 from rank 1 on MPI_COMM_WORLD; rank 1 has sent tag 8, which lies unexpected \
             at rank 0",
            "has been in MPI_Barrier for",
        ],
    ),
    hang(
        "a wrong tag, sent synchronously",
        "synchronous-tag",
        2,
        &[DEADLOCK, "rank 0 waits for tag 7 from rank 1 on MPI_COMM_WORLD; rank 1 has sent tag 8"],
    ),
    hang(
        "a wrong communicator",
        "communicator",
        2,
        &[
            DEADLOCK,
            "rank 0 waits for tag 7 from rank 1 on MPI_COMM_WORLD; rank 1 has sent tag 7 on row, which lies",
        ],
    ),
    hang(
        "MPI_Bcast against MPI_Gather",
        "collectives",
        3,
        &[
            "so: rank 0 waits for rank 2, which waits for rank 0: a deadlock",
            "so: rank 0 is in MPI_Gather with root 0 and rank 2 in MPI_Bcast with root 0, both as collective operation 0 \
             of MPI_COMM_WORLD: all ranks must call the same",
        ],
    ),
    hang(
        "a broadcast of which each rank takes the other for the root",
        "roots",
        2,
        &[
            DEADLOCK,
            "so: rank 0 is in MPI_Bcast with root 1 and rank 1 in MPI_Bcast with root 0, both as collective operation 0 of \
             MPI_COMM_WORLD: all ranks must call the same",
        ],
    ),
    hang(
        "a barrier that one rank has not come to",
        "absent",
        3,
        &[
            "so: rank 1 has not come to MPI_Barrier, collective operation 0 of MPI_COMM_WORLD, where ranks 0 and 2 wait",
            "has been in MPI_Recv for",
        ],
    ),
    hang(
        "an edge of a graph that one of its ends does not know",
        "edge",
        2,
        &[
            "has been in MPI_Neighbor_alltoall for",
            "waits for rank 1 (collective operation 0 on half an edge)",
        ],
    ),
    hang(
        "barriers on two communicators in different orders",
        "barriers",
        2,
        &[DEADLOCK, "0 on rows)", "0 on columns)"],
    ),
    hang(
        "ranks that have other numbers in their communicator",
        "reversed",
        4,
        &["so: rank 2 waits for rank 3, which waits for rank 2: a deadlock", "rank 3 (0 there) to receive"],
    ),
    hang(
        "several requests, one of them persistent",
        "requests",
        2,
        &[
            DEADLOCK,
            "has been in MPI_Waitall for",
            "waits for all of a message from rank 1 with tag 4",
            "with tag 6",
        ],
    ),
    hang(
        "a probe for a rank that is in MPI_Finalize",
        "probe",
        2,
        &[DEADLOCK, "has been in MPI_Probe for", "has been in MPI_Finalize for"],
    ),
    hang(
        "a wrong tag in MPI_Sendrecv",
        "sendrecv",
        2,
        &["has been in MPI_Sendrecv for", "has sent tag 1, which lies"],
    ),
    hang(
        "two threads of each rank",
        "threads",
        2,
        &[
            "which waits for rank 0: a deadlock, unless another thread of theirs helps",
            "a message from rank 1 with tag 1,",
            "a message from rank 1 with tag 2,",
            "    and has been in MPI_Recv for",
        ],
    ),
    hang(
        "a lock of a window whose holder waits",
        "lock",
        3,
        &[
            DEADLOCK,
            "has been in MPI_Win_lock for",
            "waits for rank 1 to give back the lock of rank 2 there on board",
        ],
    ),
    hang(
        "a shared lock of a window, whose holder waits",
        "shared",
        3,
        &[
            DEADLOCK,
            "has been in MPI_Win_lock for",
            "waits for rank 1 to give back the lock of rank 2 there on board",
        ],
    ),
    hang(
        "a shared lock of a window that its owner keeps, whose holder waits",
        "asked-shared",
        3,
        &[
            DEADLOCK,
            "has been in MPI_Win_lock for",
            "waits for rank 1 to give back the lock of rank 2 there on board",
        ],
    ),
    hang(
        "elements of a window that a stopped rank is changing",
        "elements",
        2,
        &[
            "has been in an operation on elements of a window for",
            "waits for rank 1 to give back the lock of rank 0 there on board",
            "so: rank 0 waits for rank 1, which is stopped by a signal or a debugger",
        ],
    ),
    hang(
        "a lock of a window that its owner keeps, whose holder waits",
        "asked",
        3,
        &[
            DEADLOCK,
            "has been in MPI_Win_lock for",
            "waits for rank 1 to give back the lock of rank 2 there on board",
        ],
    ),
    hang(
        "epochs of a window to which a rank does not come, and a fence",
        "epochs",
        4,
        &[
            "so: rank 0 waits for rank 3, which waits for rank 0: a deadlock",
            "has been in MPI_Win_start for",
            "waits for rank 3 to call MPI_Win_post on board",
            "has been in MPI_Win_wait for",
            "waits for rank 3 to call MPI_Win_complete on board",
            "has been in MPI_Win_fence for",
            "rank 3 to call MPI_Win_fence on board",
        ],
    ),
    hang(
        "the same where the window is not mapped",
        "asked-epochs",
        4,
        &[
            "so: rank 0 waits for rank 3, which waits for rank 0: a deadlock",
            "has been in MPI_Win_start for",
            "waits for rank 3 to call MPI_Win_post on board",
            "has been in MPI_Win_wait for",
            "waits for rank 3 to call MPI_Win_complete on board",
            "has been in MPI_Win_fence for",
            "so: rank 0 has not come to MPI_Win_fence, collective operation ",
            "of board, where rank 2 waits",
        ],
    ),
    hang(
        "a flush that a stopped rank has to answer",
        "flush",
        2,
        &[
            "has been in MPI_Win_flush for",
            "waits for rank 1 to do what it was asked for on board",
            "so: rank 0 waits for rank 1, which is stopped by a signal or a debugger",
        ],
    ),
    hang(
        "a handler that waits",
        "handler",
        2,
        &[
            DEADLOCK,
            "a message from rank 1 with tag 4,",
            "    the handler of a finished receive with tag 3 from rank 1 of its communicator has been running for",
        ],
    ),
    hang(
        "a request whose handler another thread has disabled",
        "disabled",
        2,
        &[
            "has been in MPI_Wait for",
            "    the handler of a finished receive with tag 3 from rank 1 of its communicator does not run: handlers have \
             been disabled for",
        ],
    ),
    hang(
        "a rank that computes",
        "computing",
        2,
        &["so: rank 0 waits for rank 1, which is outside MPI, computing"],
    ),
    hang(
        "a rank that sleeps outside MPI",
        "asleep",
        3,
        &["so: ranks 0 and 2 wait for rank 1, which is outside MPI, asleep in a call to the system"],
    ),
    hang(
        "a stopped rank",
        "stopped",
        2,
        &["so: rank 0 waits for rank 1, which is stopped by a signal or a debugger in MPI_Recv"],
    ),
];

/// Two calls of which rank 0 makes the first and the others make the second (see `tests/c/fault/mismatch.c`), on how many
/// ranks, and what must be said before anybody waits for ever.
struct Mismatch {
    place: &'static str,
    calls: [&'static str; 2],
    ranks: usize,
    says: &'static str,
}

const fn mismatch(
    place: &'static str,
    calls: [&'static str; 2],
    ranks: usize,
    says: &'static str,
) -> Mismatch {
    Mismatch { place, calls, ranks, says }
}

impl Mismatch {
    /// The job ends by itself, and says why.
    fn told(&self, mpi: &Mpi, program: &Path) -> Fallible {
        let checks = if self.place == "types" { "1" } else { "0" };
        let job = mpi.plain().env("POSTHASTE_CHECK_TYPES", checks).arg("-n").arg(self.ranks.to_string());
        let job = job.arg(program).arg(self.place).args(self.calls);
        let cpus = ctests::cpus_of_this_process(2);
        let outcome = job.under(&["taskset", "-c", &cpus]).limit(30).run()?;
        if outcome.code() == 0 || !outcome.stderr.contains(self.says) {
            return Err(format!("\"{}\" is not said\n{}", self.says, outcome.complaint()));
        }
        Ok(())
    }
}

/// In each some rank gets a message that tells: pairs in which everybody waits are among [`HANGS`].
const MISMATCHES: [Mismatch; 36] = [
    // 64 KiB are combined by one member, 128 KiB by two, where eight share two CPUs.
    mismatch(
        "short",
        ["allreduce", "allreduce"],
        8,
        "called MPI_Allreduce with another count or datatype than rank 0",
    ),
    mismatch("shorter", ["allreduce", "allreduce"], 8, "with another count or datatype than rank "),
    mismatch("short", ["Iallreduce", "allreduce"], 8, "with another count or datatype than rank "),
    mismatch("short", ["Pallreduce", "Pallreduce"], 8, "another count or datatype than rank "),
    // Rank 1 hears of it in that operation, or rank 0, whose part is over, in the next one.
    mismatch("world", ["bcast0", "barrier"], 2, "rank 1 called MPI_Barrier"),
    mismatch("world", ["bcast0", "bcast1"], 2, "as collective operation 0 of MPI_COMM_WORLD and sent rank"),
    mismatch("world", ["bcast0", "bcast2"], 3, "called MPI_Bcast with root"),
    mismatch("world", ["Ibcast0", "Ibarrier"], 2, "rank 1 called MPI_Barrier"),
    mismatch("world", ["Ibcast0", "Ibcast1"], 2, "called MPI_Bcast with root"),
    mismatch(
        "world",
        ["bcast0", "Iscatter0"],
        2,
        "called MPI_Bcast with root 0 where rank 1 called MPI_Scatter with root 0",
    ),
    mismatch("world", ["scatter0", "Ireduce0"], 2, " called MPI_"),
    mismatch(
        "world",
        ["gather0", "reduce0"],
        2,
        "called MPI_Reduce with root 0 where rank 0 called MPI_Gather with root 0",
    ),
    mismatch("world", ["reduce1", "reduce0"], 2, "called MPI_Reduce with root"),
    // It hurts a third one, which has gone on.
    mismatch("middle", ["reduce2", "reduce0"], 3, "called MPI_Reduce with root 2"),
    mismatch("middle", ["gather2", "gather0"], 3, "called MPI_Gather with root 2"),
    mismatch("middle", ["gather2", "reduce0"], 4, "called MPI_Gather with root 2"),
    mismatch("middle", ["Igather2", "Igather0"], 3, "called MPI_Gather with root 2"),
    mismatch("world", ["allreduce", "allgather"], 2, " called MPI_All"),
    mismatch("world", ["Iallreduce", "Ialltoall"], 2, " called MPI_All"),
    mismatch(
        "world",
        ["alltoall", "bcast0"],
        2,
        "called MPI_Alltoall where rank 1 called MPI_Bcast with root 0",
    ),
    mismatch("world", ["scan", "gather0"], 2, " called MPI_"),
    mismatch("world", ["exscan", "scan"], 2, " called MPI_"),
    mismatch("world", ["gatherv0", "gather0"], 2, " called MPI_Gather"),
    mismatch("world", ["scatterv0", "scatter0"], 2, " called MPI_Scatter"),
    mismatch("world", ["allgatherv", "allgather"], 2, " called MPI_Allgather"),
    mismatch("world", ["alltoallv", "Ialltoallw"], 3, " called MPI_Alltoall"),
    mismatch("world", ["Ireduce_scatter", "reduce_scatter_block"], 2, " called MPI_Reduce_scatter"),
    // Among more members roots may look alike.
    mismatch("world", ["bcast1", "bcast31"], 33, "called MPI_Bcast with root 2 or 31"),
    mismatch("world", ["reduce30", "reduce0"], 33, "called MPI_Reduce with root "),
    mismatch("world", ["scan", "barrier"], 3, " called MPI_"),
    mismatch("window", ["fence", "free"], 2, " called MPI_Win_f"),
    // The root may be in its next operation when it hears of that.
    mismatch("inter", ["bcast0", "allgather"], 3, " called MPI_"),
    mismatch("inter", ["barrier", "alltoall"], 3, " called MPI_"),
    mismatch("inter", ["Ibcast0", "Iscatter0"], 2, "called MPI_Bcast with root"),
    mismatch(
        "types",
        ["bcast0", "bcast0"],
        2,
        "rank 0 sent 4 MPI_INT, the receive takes them for 4 MPI_FLOAT",
    ),
    mismatch("types", ["Iallreduce", "Iallreduce"], 3, "the receive takes them for 4 MPI_"),
];

/// All hang tests.
pub(crate) fn run(project: &Project, mpi: &Mpi, tally: &mut Tally) {
    let program = match ctests::helper(project, mpi, "fault", "hang") {
        Ok(program) => program,
        Err(complaint) => return tally.test("hangs: compile", || Err(complaint)),
    };
    let bench = Bench { mpi, program };
    let name = |hang: &Hang| format!("hangs: {}, explained before -timeout ends it", hang.name);
    tally.test_together(AT_ONCE, &HANGS, name, |hang| bench.timeout(hang));
    match ctests::helper(project, mpi, "fault", "mismatch") {
        Ok(program) => {
            let name = |Mismatch { place, calls: [first, second], ranks, .. }: &Mismatch| {
                format!("hangs: {first} against {second} of {place} at {ranks} ranks is said")
            };
            tally.test_together(AT_ONCE, &MISMATCHES, name, |mismatch| mismatch.told(mpi, &program));
        }
        Err(complaint) => tally.test("hangs: compile mismatch.c", || Err(complaint)),
    }
    tally.test("hangs: SIGUSR2 and mpiexec -explain", || bench.asked());
    tally.test("hangs: a stopped mpiexec does not have to help", || bench.stopped_launcher());
    tally.test("hangs: a wait that is over is not published any more", || bench.over());
}

struct Bench<'a> {
    mpi: &'a Mpi,
    program: PathBuf,
}

impl Bench<'_> {
    fn job(&self, options: &[&str], ranks: usize, what: &str) -> Job {
        let job = self.mpi.plain().args(options).arg("-n").arg(ranks.to_string());
        job.arg(&self.program).arg(what).limit(30)
    }

    fn timeout(&self, hang: &Hang) -> Fallible {
        let watch = Watch::begin();
        let outcome = watch.mark(self.job(&["-timeout", LIMIT], hang.ranks, hang.what)).run()?;
        if let Some(missing) = hang.says.iter().find(|part| !outcome.stderr.contains(*part)) {
            return Err(format!("\"{missing}\" is not said\n{}", outcome.complaint()));
        }
        if outcome.code() != 124 {
            return Err(format!("exit code 124 was expected\n{}", outcome.complaint()));
        }
        watch.nothing_left()
    }

    /// What `mpiexec -explain` says about a process.
    fn explain(&self, pid: u32) -> Fallible<String> {
        Ok(self.mpi.plain().args(["-explain", &pid.to_string()]).limit(10).run()?.all())
    }

    /// Asks until something is said; what was said last otherwise.
    fn explain_until(&self, pid: u32, part: &str) -> Fallible<String> {
        let start = Instant::now();
        loop {
            let said = self.explain(pid)?;
            if said.contains(part) {
                return Ok(said);
            }
            if start.elapsed() > Duration::from_secs(10) {
                return Err(format!("\"{part}\" is not said\n{said}"));
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    fn end(running: Running) -> Fallible<String> {
        running.signal(Signal::TERM);
        Ok(running.wait()?.stderr)
    }

    fn asked(&self) -> Fallible {
        let watch = Watch::begin();
        let running = watch.mark(self.job(&[], 2, "ssend")).start()?;
        let said = self.explain_until(running.pid(), DEADLOCK)?;
        let pid = said.split("(pid ").nth(1).and_then(|rest| rest.split(')').next()?.parse().ok());
        self.explain_until(pid.ok_or("no process id is said")?, DEADLOCK)?;
        running.signal(Signal::USR2);
        let published = running.wait_for_output(DEADLOCK, 10);
        let stderr = Self::end(running)?;
        if !published || !stderr.starts_with("mpiexec: what the ranks are doing:\n  rank 0 (pid ") {
            return Err(format!("nothing is said on SIGUSR2\n{stderr}"));
        }
        watch.nothing_left()
    }

    fn stopped_launcher(&self) -> Fallible {
        let watch = Watch::begin();
        let running = watch.mark(self.job(&[], 2, "ssend")).start()?;
        self.explain_until(running.pid(), DEADLOCK)?;
        running.signal(Signal::STOP);
        let said = self.explain_until(running.pid(), DEADLOCK);
        running.signal(Signal::CONT);
        Self::end(running)?;
        said?;
        watch.nothing_left()
    }

    fn over(&self) -> Fallible {
        let watch = Watch::begin();
        let running = watch.mark(self.job(&[], 2, "late")).start()?;
        self.explain_until(running.pid(), "has been in MPI_Recv for")?;
        let said =
            self.explain_until(running.pid(), "so: rank 1 waits for rank 0, which is outside MPI, asleep");
        Self::end(running)?;
        if said?.contains("MPI_Recv") {
            return Err("a receive that is over is still published".into());
        }
        watch.nothing_left()
    }
}
