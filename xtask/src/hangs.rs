//! Hang tests: jobs that wait for ever, each in its own way, and what mpiexec says about them. The part `hangs` of
//! `cargo xtask test`. What must stay true: every test checks the sentence that names the reason, read from a real job;
//! who asks, and how, makes no difference to it. Most of this file is tables of jobs and what must be said
//! about them, so it is long.

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

/// A job of `tests/c/fault/mismatch.c`. On two CPUs, because who waits for whom depends on them.
fn mismatched(mpi: &Mpi, program: &Path, hosts: usize, ranks: usize, arguments: &[&str]) -> Job {
    let job =
        if hosts == 0 { mpi.plain() } else { ctests::on_hosts(mpi.plain(), hosts, ranks.div_ceil(hosts)) };
    let job = job.arg("-n").arg(ranks.to_string()).arg(program).args(arguments);
    job.under(&["taskset", "-c", &ctests::cpus_of_this_process(2)]).limit(30)
}

/// A job that hangs because the ranks of `who` make the first call, or none, and the others the second, and what must be said:
/// all lines about ranks that have not come, and parts of others.
struct Absence {
    name: &'static str,
    place: &'static str,
    calls: [&'static str; 2],
    who: &'static str,
    ranks: usize,
    hosts: usize,
    says: &'static [&'static str],
}

const fn absence(
    name: &'static str,
    place: &'static str,
    calls: [&'static str; 2],
    (who, ranks): (&'static str, usize),
    says: &'static [&'static str],
) -> Absence {
    Absence { name, place, calls, who, ranks, hosts: 0, says }
}

impl Absence {
    const fn on_hosts(self, hosts: usize) -> Self {
        Self { hosts, ..self }
    }
}

/// Somebody waits for each rank that does not come: the report names no others.
const ABSENCES: [Absence; 16] = [
    absence(
        "two of five ranks, one of them outside of MPI, do not come to a barrier",
        "world",
        ["away", "barrier"],
        ("14", 5),
        &[
            "so: ranks 1 and 4 have not come to MPI_Barrier, collective operation 0 of \
             MPI_COMM_WORLD, or left MPI again before its end, where ranks 0, 2 and 3 wait",
            "is outside MPI, asleep in a call to the system",
            "waits for a message from rank 0 with tag 9",
        ],
    ),
    absence(
        "two of five ranks are in MPI_Recv instead of MPI_Allreduce",
        "world",
        ["receiving", "allreduce"],
        ("13", 5),
        &["so: ranks 1 and 3 have not come to MPI_Allreduce, collective operation 0 of \
           MPI_COMM_WORLD, where ranks 0, 2 and 4 wait"],
    ),
    absence(
        "two of five ranks do not come to MPI_Gather, which others have left",
        "world",
        ["receiving", "gather0"],
        ("12", 5),
        &[
            "so: ranks 1 and 2 have not come to MPI_Gather with root 0, collective operation \
             0 of MPI_COMM_WORLD, where rank 0 waits",
            "so: ranks 0, 1 and 2 have not come to MPI_Barrier, collective operation 1 of \
             MPI_COMM_WORLD, where ranks 3 and 4 wait",
        ],
    ),
    absence(
        "the root of MPI_Bcast computes",
        "world",
        ["computing", "bcast0"],
        ("0", 4),
        &[
            "so: rank 0 has not come to MPI_Bcast with root 0, collective operation 0 of \
             MPI_COMM_WORLD, or left MPI again before its end, where ranks 1, 2 and 3 wait",
            "so: ranks 1, 2 and 3 wait for rank 0, which is outside MPI, computing",
        ],
    ),
    absence(
        "two of four ranks do not come to a barrier, and one of them is one for which nobody waits",
        "world",
        ["receiving", "barrier"],
        ("03", 4),
        &[
            "so: ranks 0 and 3 have not come to MPI_Barrier, collective operation 0 of MPI_COMM_WORLD, where ranks 1 and 2 wait",
        ],
    ),
    absence(
        "two of five ranks do not start a persistent operation",
        "world",
        ["receiving", "Pallreduce"],
        ("13", 5),
        &[
            "so: ranks 1 and 3 have not come to MPI_Allreduce, persistent collective operation 0 of MPI_COMM_WORLD, where ranks 0, 2 and 4 wait",
        ],
    ),
    absence(
        "two ranks start persistent operations of different functions",
        "world",
        ["Pgather1", "Preduce0"],
        ("1", 2),
        &[
            "so: rank 0 is in MPI_Reduce with root 0 and rank 1 in MPI_Gather with root 1, both as persistent collective operation 0 of \
           MPI_COMM_WORLD: all ranks must call the same",
        ],
    ),
    // Rank 0 sleeps as well, and is no member.
    absence(
        "two ranks do not come to MPI_Iallreduce on a part of the ranks",
        "rows",
        ["away", "Iallreduce"],
        ("23", 5),
        &[
            "so: ranks 2 and 3 have not come to MPI_Allreduce, collective operation 1 of \
             rows, or left MPI again before its end, where ranks 1 and 4 wait",
            "has been in MPI_Wait for",
            "waits for ranks 2 and 3 (MPI_Allreduce, collective operation 1 on rows)",
        ],
    ),
    absence(
        "a rank of each group does not come to a barrier between them",
        "halves",
        ["away", "barrier"],
        ("23", 5),
        &["so: ranks 2 and 3 have not come to MPI_Barrier, collective operation 0 of \
           bridge, or left MPI again before its end, where ranks 0, 1 and 4 wait"],
    ),
    absence(
        "two neighbours do not come to MPI_Neighbor_allgather",
        "ring",
        ["away", "neighbor_allgather"],
        ("23", 4),
        &["so: ranks 2 and 3 have not come to MPI_Neighbor_allgather, collective operation \
           0 of ring, or left MPI again before its end, where ranks 0 and 1 wait"],
    ),
    absence(
        "two ranks do not come to MPI_Ineighbor_alltoall",
        "ring",
        ["receiving", "Ineighbor_alltoall"],
        ("03", 5),
        &[
            "so: ranks 0 and 3 have not come to MPI_Neighbor_alltoall, collective operation 0 \
             of ring, where ranks 1, 2 and 4 wait",
            "waits for ranks 0 and 3 (MPI_Neighbor_alltoall, collective operation 0 on ring)",
        ],
    ),
    absence(
        "a rank of each host does not come to a barrier",
        "world",
        ["away", "barrier"],
        ("12", 4),
        &[
            "so: ranks 1 and 2 have not come to MPI_Barrier, collective operation 0 of \
             MPI_COMM_WORLD, or left MPI again before its end, where ranks 0 and 3 wait",
            "so: rank 0 waits for rank 1, which is outside MPI, asleep in a call to the system",
        ],
    )
    .on_hosts(2),
    absence(
        "a rank of each host does not come to MPI_Iallreduce on a part of the ranks",
        "rows",
        ["receiving", "Iallreduce"],
        ("24", 5),
        &[
            "so: ranks 2 and 4 have not come to MPI_Allreduce, collective operation 1 of \
             rows, where ranks 1 and 3 wait",
            "has been in MPI_Wait for",
        ],
    )
    .on_hosts(2),
    absence(
        "a rank of each host does not come to MPI_Neighbor_alltoall",
        "ring",
        ["away", "neighbor_alltoall"],
        ("12", 4),
        &["so: ranks 1 and 2 have not come to MPI_Neighbor_alltoall, collective operation 0 \
           of ring, or left MPI again before its end, where ranks 0 and 3 wait"],
    )
    .on_hosts(2),
    absence(
        "MPI_Gather on one host against MPI_Bcast on another",
        "world",
        ["gather0", "bcast0"],
        ("01", 4),
        &[
            "so: rank 0 waits for rank 2, which waits for rank 0: a deadlock",
            "so: rank 0 is in MPI_Gather with root 0 and rank 2 in MPI_Bcast with root 0, \
             both as collective operation 0 of MPI_COMM_WORLD: all ranks must call the same",
            "so: ranks 0, 2 and 3 have not come to MPI_Barrier, collective operation 1 of \
             MPI_COMM_WORLD, where rank 1 waits",
        ],
    )
    .on_hosts(2),
    absence(
        "a broadcast of which each host takes a rank of the other for the root",
        "world",
        ["bcast2", "bcast0"],
        ("01", 4),
        &[
            "so: rank 0 waits for rank 2, which waits for rank 0: a deadlock",
            "so: rank 0 is in MPI_Bcast with root 2 and rank 2 in MPI_Bcast with root 0, both \
             as collective operation 0 of MPI_COMM_WORLD: all ranks must call the same",
        ],
    )
    .on_hosts(2),
];

/// What one rank says otherwise than the others.
#[derive(Clone, Copy)]
enum Differs {
    /// The count: it has 4 elements, the others 8; with `POSTHASTE_CHECK_TYPES` or without.
    Count { checks: bool },
    /// The type, which is as long: MPI_INT against MPI_FLOAT.
    Type,
}

/// Functions that all ranks call, with counts or types that differ, and how mismatch.c calls them.
const FUNCTIONS: [(&str, &str); 6] = [
    ("MPI_Reduce", "reduce0"),
    ("MPI_Gather", "gather0"),
    ("MPI_Scatter", "scatter0"),
    ("MPI_Allgather", "allgather"),
    ("MPI_Alltoall", "alltoall"),
    ("MPI_Allreduce", "allreduce"),
];

impl Differs {
    const ALL: [Self; 3] = [Self::Count { checks: false }, Self::Count { checks: true }, Self::Type];

    fn name(self) -> &'static str {
        match self {
            Self::Count { checks: false } => "another count",
            Self::Count { checks: true } => "another count, where types are checked,",
            Self::Type => "another type",
        }
    }

    /// How what `to` may say begins and ends, of a message of `from`: one of both is `odd`. It may be of several blocks.
    fn said(self, odd: usize, [from, to]: [usize; 2], blocks: usize) -> (String, &'static str) {
        let is_odd = from == odd;
        match self {
            Self::Count { .. } => {
                let (few, many) = (16 * blocks, 32 * blocks);
                let (sent, expected, class) = if is_odd {
                    (few, many, "(MPI_ERR_NOT_SAME)")
                } else {
                    (many, few, "(MPI_ERR_TRUNCATE)")
                };
                let differ = "counts or datatypes differ between the ranks";
                (
                    format!("rank {from} sent {sent} bytes where rank {to} expected {expected}: {differ}"),
                    class,
                )
            }
            Self::Type => {
                let count = 4 * blocks;
                let (sent, taken) = if is_odd { ("MPI_INT", "MPI_FLOAT") } else { ("MPI_FLOAT", "MPI_INT") };
                let text =
                    format!("rank {from} sent {count} {sent}, the receive takes them for {count} {taken}");
                (text, "(MPI_ERR_TYPE)")
            }
        }
    }

    /// One rank differs from the others, and whoever complains of it names a rank that differs from itself, and how.
    fn told(self, mpi: &Mpi, program: &Path, (name, call): (&str, &str)) -> Fallible {
        for (ranks, odd) in [(2, 0), (4, 0), (4, 3)] {
            let place = if matches!(self, Self::Type) { "types" } else { "counts" };
            let who = odd.to_string();
            let checks = if matches!(self, Self::Count { checks: false }) { "0" } else { "1" };
            let job = mismatched(mpi, program, 0, ranks, &[place, call, call, &who]);
            let outcome = job.env("POSTHASTE_CHECK_TYPES", checks).run()?;
            let others = (0..ranks).filter(|rank| *rank != odd);
            let pairs: Vec<_> = others.flat_map(|other| [[odd, other], [other, odd]]).collect();
            let is_right = |line: &str| {
                let is_said = |[from, to]: [usize; 2], blocks| {
                    let (begin, end) = self.said(odd, [from, to], blocks);
                    let begin = format!("posthaste: {name} on rank {to} of MPI_COMM_WORLD: {begin}");
                    line.starts_with(&begin) && line.ends_with(end)
                };
                pairs.iter().any(|pair| (1..=ranks).any(|blocks| is_said(*pair, blocks)))
            };
            // Others may notice first that who complains has ended.
            let complains =
                |line: &&str| line.starts_with("posthaste: ") && !line.contains("(MPI_ERR_PROC_ABORTED)");
            let complaints: Vec<&str> = outcome.stderr.lines().filter(complains).collect();
            if outcome.code() == 0 || complaints.is_empty() || !complaints.iter().all(|line| is_right(line)) {
                let (expected, end) = self.said(odd, pairs[0], 1);
                return Err(format!(
                    "\"{expected}... {end}\", or the like of other ranks, is not all that is said\n{}",
                    outcome.complaint()
                ));
            }
        }
        Ok(())
    }
}

/// What the one or the other of two neighbours says that call different functions.
const NEIGHBOURS: [&str; 2] = [
    "rank 0 called MPI_Neighbor_allgather where rank 1 called MPI_Neighbor_alltoall, as collective operation 0 of ring",
    "rank 1 called MPI_Neighbor_alltoall where rank 0 called MPI_Neighbor_allgather, as collective operation 0 of ring",
];

/// Two calls of which rank 0 makes the first and the others make the second (see `tests/c/fault/mismatch.c`), on how many
/// ranks, and what must be said before anybody waits for ever.
struct Mismatch {
    place: &'static str,
    calls: [&'static str; 2],
    ranks: usize,
    hosts: usize,
    says: &'static str,
    /// What may be said instead, by who hears of it on the other side.
    or: Option<&'static str>,
}

const fn mismatch(
    place: &'static str,
    calls: [&'static str; 2],
    ranks: usize,
    says: &'static str,
) -> Mismatch {
    Mismatch { place, calls, ranks, hosts: 0, says, or: None }
}

impl Mismatch {
    const fn or(self, says: &'static str) -> Self {
        Self { or: Some(says), ..self }
    }

    /// Each rank on a host of its own.
    const fn on_hosts(self) -> Self {
        Self { hosts: self.ranks, ..self }
    }

    fn name(&self) -> String {
        let Self { place, calls: [first, second], ranks, hosts, .. } = self;
        let on = if *hosts == 0 { String::new() } else { format!(" on {hosts} hosts") };
        format!("hangs: {first} against {second} of {place} at {ranks} ranks{on} is said")
    }

    /// The job ends by itself, and says why.
    fn told(&self, mpi: &Mpi, program: &Path) -> Fallible {
        let checks = if self.place == "types" { "1" } else { "0" };
        let [first, second] = self.calls;
        let job = mismatched(mpi, program, self.hosts, self.ranks, &[self.place, first, second]);
        let outcome = job.env("POSTHASTE_CHECK_TYPES", checks).run()?;
        let is_said =
            [Some(self.says), self.or].into_iter().flatten().any(|says| outcome.stderr.contains(says));
        if outcome.code() == 0 || !is_said {
            return Err(format!("\"{}\" is not said\n{}", self.says, outcome.complaint()));
        }
        Ok(())
    }
}

/// In each some rank gets a message that tells: pairs in which everybody waits are among [`HANGS`].
const MISMATCHES: [Mismatch; 43] = [
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
    // Those who have only heard of it wait for the one who knows more.
    mismatch("late", ["reduce2", "reduce0"], 3, "and sent rank 2 what that has not asked for"),
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
    // Of neighbours each hears of it from the other.
    mismatch("ring", ["neighbor_allgather", "neighbor_alltoall"], 2, NEIGHBOURS[0]).or(NEIGHBOURS[1]),
    mismatch(
        "ring",
        ["Ineighbor_allgather", "neighbor_alltoallv"],
        2,
        "rank 0 called MPI_Neighbor_allgather where rank 1 called MPI_Neighbor_alltoallv, as \
         collective operation 0 of ring",
    )
    .or("rank 1 called MPI_Neighbor_alltoallv where rank 0 called MPI_Neighbor_allgather, as \
         collective operation 0 of ring"),
    mismatch("ring", ["neighbor_allgather", "neighbor_alltoall"], 2, NEIGHBOURS[0])
        .or(NEIGHBOURS[1])
        .on_hosts(),
    // Between hosts: another function, and another root.
    mismatch(
        "world",
        ["allreduce", "allgather"],
        2,
        "rank 0 called MPI_Allreduce where rank 1 called MPI_Allgather, as collective operation 0 \
         of MPI_COMM_WORLD",
    )
    .or("rank 1 called MPI_Allgather where rank 0 called MPI_Allreduce, as collective operation 0 \
         of MPI_COMM_WORLD")
    .on_hosts(),
    mismatch(
        "world",
        ["bcast0", "gather0"],
        2,
        "rank 1 called MPI_Gather with root 0 as collective operation 0 of MPI_COMM_WORLD and \
         sent rank 0",
    )
    .or("rank 0 called MPI_Bcast with root 0 as collective operation 0 of MPI_COMM_WORLD and sent \
         rank 1")
    .on_hosts(),
    mismatch(
        "world",
        ["reduce1", "reduce0"],
        2,
        "rank 1 called MPI_Reduce with root 0 as collective operation 0 of MPI_COMM_WORLD and \
         sent rank 0",
    )
    .or("rank 0 called MPI_Reduce with root 1 as collective operation 0 of MPI_COMM_WORLD and \
         sent rank 1")
    .on_hosts(),
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
            tally
                .test_together(AT_ONCE, &MISMATCHES, Mismatch::name, |mismatch| mismatch.told(mpi, &program));
            let differences: Vec<_> = Differs::ALL
                .into_iter()
                .flat_map(|what| FUNCTIONS.map(|function| (what, function)))
                .collect();
            let name = |(what, (function, _)): &(Differs, (&str, &str))| {
                format!("hangs: {function} with {} at one of 2 and of 4 ranks is said", what.name())
            };
            tally.test_together(AT_ONCE, &differences, name, |(what, function)| {
                what.told(mpi, &program, *function)
            });
            let name = |absence: &Absence| format!("hangs: {}, explained by mpiexec -explain", absence.name);
            tally.test_together(AT_ONCE, &ABSENCES, name, |absence| bench.absence(absence, &program));
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
        self.explain_until_all(pid, &[part])
    }

    /// The same with several parts of what is said.
    fn explain_until_all(&self, pid: u32, parts: &[&str]) -> Fallible<String> {
        let start = Instant::now();
        loop {
            let said = self.explain(pid)?;
            let Some(part) = parts.iter().find(|part| !said.contains(**part)) else { return Ok(said) };
            if start.elapsed() > Duration::from_secs(10) {
                return Err(format!("\"{part}\" is not said\n{said}"));
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// All that must be said is said, and of nobody else that he has not come.
    fn absence(&self, absence: &Absence, program: &Path) -> Fallible {
        let Absence { place, calls: [first, second], who, ranks, hosts, says, .. } = *absence;
        let watch = Watch::begin();
        let job = mismatched(self.mpi, program, hosts, ranks, &[place, first, second, who]);
        let running = watch.mark(job).start()?;
        let said = self.explain_until_all(running.pid(), says);
        Self::end(running)?;
        let said = said?;
        let absent = |line: &&str| line.contains("not come to");
        if let Some(more) = said.lines().map(str::trim).filter(absent).find(|line| !says.contains(line)) {
            return Err(format!("\"{more}\" is said as well\n{said}"));
        }
        watch.nothing_left()
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
