//! `cargo xtask bench`: posthaste against what the machine allows and, with `--rivals`, against MPICH, Intel MPI
//! and Open MPI, which are installed into the target folder.
//!
//! Everything that is compared is measured in the same run, in turns (limit, A, limit, B, ...), in several rounds.
//! The hand-off of a cache line is measured between all runs; where it wanders by more than two times while the
//! contenders take their turns, the round says nothing about them and is thrown away. A result is a ratio.
//! Every table names its processor. `--realtime` is for machines that others use, too.
//! What must stay true: one source for all; the same binary for all implementations of the standard ABI.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

use clap::Args;

use crate::{
    copies::{self, Band},
    forced, install, machine,
    measured::{Better, LIMIT, Measured, Row},
    mpi::Mpi,
    process::Job,
    project::{Fallible, Project, up_to_date},
};

/// The command line.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Also measure MPICH, Intel MPI and Open MPI
    #[arg(long)]
    rivals: bool,
    /// Only these groups (comma-separated): latency, bandwidth, rate, rotating, modes, queues, threads, pair, crowd,
    /// rma, startup, idle, datatypes, tcp, mixed, copies, async, spawn, faults
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// How many rounds must be kept
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Only these rivals (comma-separated): mpich, intel, openmpi
    #[arg(long, value_delimiter = ',', default_value = "mpich,intel,openmpi")]
    against: Vec<String>,
    /// Leave posthaste out, to see how the rivals do
    #[arg(long)]
    without_us: bool,
    /// Only posthaste's own choices for messages of 2 KiB to 16 MiB in shared memory, against every protocol, ring, kind
    /// of store and chunk that settings force. Says first how long that takes
    #[arg(long, conflicts_with_all = ["rivals", "only", "without_us"])]
    forced: bool,
    /// Measure at real-time priority (`chrt -r 10`), where there is a CPU for each thread that is measured
    #[arg(long)]
    realtime: bool,
}

const GROUPS: [&str; 19] = [
    "latency",
    "bandwidth",
    "rate",
    "rotating",
    "modes",
    "queues",
    "threads",
    "pair",
    "crowd",
    "rma",
    "startup",
    "idle",
    "datatypes",
    "tcp",
    "mixed",
    "copies",
    "async",
    "spawn",
    "faults",
];
/// What is compiled for everybody.
const PROGRAMS: [&str; 11] = [
    "pt2pt",
    "modes",
    "queues",
    "threads",
    "coll",
    "rma",
    "startup",
    "datatypes",
    "copies",
    "spawn",
    "agree",
];
/// What programs are run under with `--realtime`: in turns with others of the same priority. With the policy that knows no
/// turns (`-f`), two jobs that spin for their other halves, each on the other's CPU, stop each other for ever.
const REALTIME: [&str; 3] = ["chrt", "-r", "10"];
const CROWDS: [usize; 4] = [4, 8, 16, 32];
const STARTED: [usize; 3] = [2, 16, 64];
const AGREED: [usize; 3] = [2, 8, 16];
/// By how much the hand-off may differ between the turns of one round.
const MAY_WANDER: f64 = 2.0;

const fn row(
    group: &'static str,
    name: &'static str,
    label: &'static str,
    unit: &'static str,
    limit: Option<&'static str>,
    rival_goal: Option<f64>,
) -> Row {
    let better =
        if matches!(unit.as_bytes(), b"GB/s" | b"M/s" | b"x loop") { Better::Higher } else { Better::Lower };
    Row { name, label, unit, better, limit, rival_goal, group }
}

/// The goals are those of the rows that are promised now.
const ROWS: &[Row] = &[
    row("latency", "latency_8", "8 B one-way", "us", Some("handoff"), Some(1.0)),
    row("latency", "latency_1024", "1 KiB one-way", "us", Some("handoff"), None),
    row("latency", "latency_16384", "16 KiB one-way", "us", Some("handoff"), None),
    row("latency", "latency_65536", "64 KiB one-way", "us", None, None),
    row("latency", "oneway_16384", "16 KiB, ping-pong", "GB/s", Some("copy_16384"), None),
    row("latency", "oneway_65536", "64 KiB, ping-pong", "GB/s", Some("copy_65536"), Some(0.8)),
    row("latency", "oneway_1048576", "1 MiB, ping-pong", "GB/s", Some("copy_1048576"), Some(0.8)),
    row("latency", "oneway_4194304", "4 MiB, ping-pong", "GB/s", Some("copy_4194304"), None),
    row("bandwidth", "window_65536", "64 KiB, window 16", "GB/s", Some("copy_65536"), None),
    row("bandwidth", "window_1048576", "1 MiB, window 16", "GB/s", Some("copy_1048576"), None),
    row("rotating", "rotating_65536", "64 KiB, rotating", "GB/s", None, None),
    row("rotating", "rotating_1048576", "1 MiB, rotating", "GB/s", None, None),
    row("rotating", "rotating_4194304", "4 MiB, rotating", "GB/s", None, None),
    row("rate", "rate_8", "8 B rate, window 64", "M/s", Some("slots"), Some(1.0)),
    row("modes", "mode_send", "8 B Send, Recv", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_ssend", "8 B Ssend", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_bsend", "8 B Bsend", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_nonblocking", "8 B Isend, Irecv, Wait", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_persistent", "8 B persistent", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_any_source", "8 B ANY_SOURCE", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_any_tag", "8 B ANY_TAG", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_probe", "8 B Probe, Recv", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_probe_any", "8 B Probe ANY, Recv", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_iprobe", "8 B Iprobe, Recv", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_mprobe", "8 B Mprobe, Mrecv", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_sendrecv", "8 B Sendrecv", "us", Some("handoff"), Some(1.0)),
    row("modes", "alloc_mem_65536", "64 KiB, Alloc_mem", "GB/s", Some("memcpy_65536"), Some(1.1)),
    row("modes", "alloc_mem_1048576", "1 MiB, Alloc_mem", "GB/s", Some("memcpy_1048576"), Some(1.1)),
    row("modes", "alloc_mem_4194304", "4 MiB, Alloc_mem", "GB/s", Some("memcpy_4194304"), Some(1.1)),
    row("queues", "queue_empty_exact", "8 B, empty queues", "us", Some("handoff"), None),
    row("queues", "queue_empty_any", "same, ANY_SOURCE", "us", Some("handoff"), None),
    row("queues", "queue_posted_exact", "16384 posted", "us", Some("queue_empty_exact"), Some(100.0)),
    row("queues", "queue_posted_any", "16384 posted, ANY_SOURCE", "us", Some("queue_empty_any"), Some(100.0)),
    row("queues", "queue_wild_exact", "same, wildcards", "us", Some("queue_empty_exact"), Some(100.0)),
    row(
        "queues",
        "queue_wild_any",
        "same, wildcards, ANY_SOURCE",
        "us",
        Some("queue_empty_any"),
        Some(100.0),
    ),
    row("queues", "queue_unexpected_exact", "16384 unexpected", "us", Some("queue_empty_exact"), Some(1.0)),
    row(
        "queues",
        "queue_unexpected_any",
        "16384 unexpected, ANY_SOURCE",
        "us",
        Some("queue_empty_any"),
        Some(1.0),
    ),
    row("threads", "thread_pairs_1", "8 B rate, 1 thread pair", "M/s", None, None),
    row("threads", "thread_pairs_2", "8 B rate, 2 thread pairs", "M/s", None, Some(1.5)),
    row("pair", "barrier_2", "Barrier, 2 ranks", "us", Some("handoff"), Some(1.0)),
    row("pair", "allreduce_2", "Allreduce, 2 ranks", "us", Some("handoff"), Some(1.0)),
    row("pair", "bcast_2", "Bcast 1 KiB, 2 ranks", "us", None, Some(1.0)),
    row("pair", "alltoall_2", "Alltoall 64 B, 2 ranks", "us", None, Some(1.0)),
    row("pair", "dup_2", "Comm_dup, 2 ranks", "us", None, Some(1.0)),
    row("crowd", "barrier_4", "Barrier, 4 ranks", "us", None, Some(1.0)),
    row("crowd", "allreduce_4", "Allreduce, 4 ranks", "us", None, Some(1.0)),
    row("crowd", "ring_4", "ring of 1 KiB, 4 ranks", "us", None, None),
    row("crowd", "bcast_4", "Bcast 1 KiB, 4 ranks", "us", None, Some(1.0)),
    row("crowd", "alltoall_4", "Alltoall 64 B, 4 ranks", "us", None, Some(1.0)),
    row("crowd", "dup_4", "Comm_dup, 4 ranks", "us", None, Some(1.0)),
    row("crowd", "barrier_8", "Barrier, 8 ranks", "us", None, Some(1.0)),
    row("crowd", "allreduce_8", "Allreduce, 8 ranks", "us", None, Some(1.0)),
    row("crowd", "ring_8", "ring of 1 KiB, 8 ranks", "us", None, None),
    row("crowd", "bcast_8", "Bcast 1 KiB, 8 ranks", "us", None, Some(1.0)),
    row("crowd", "alltoall_8", "Alltoall 64 B, 8 ranks", "us", None, Some(1.0)),
    row("crowd", "dup_8", "Comm_dup, 8 ranks", "us", None, Some(1.0)),
    row("crowd", "barrier_16", "Barrier, 16 ranks", "us", None, Some(1.2)),
    row("crowd", "allreduce_16", "Allreduce, 16 ranks", "us", None, Some(1.2)),
    row("crowd", "ring_16", "ring of 1 KiB, 16 ranks", "us", None, None),
    row("crowd", "bcast_16", "Bcast 1 KiB, 16 ranks", "us", None, Some(1.0)),
    row("crowd", "alltoall_16", "Alltoall 64 B, 16 ranks", "us", None, Some(1.0)),
    row("crowd", "dup_16", "Comm_dup, 16 ranks", "us", None, Some(1.0)),
    row("crowd", "barrier_32", "Barrier, 32 ranks", "us", None, Some(1.0)),
    row("crowd", "allreduce_32", "Allreduce, 32 ranks", "us", None, Some(1.0)),
    row("crowd", "ring_32", "ring of 1 KiB, 32 ranks", "us", None, None),
    row("crowd", "bcast_32", "Bcast 1 KiB, 32 ranks", "us", None, Some(1.0)),
    row("crowd", "alltoall_32", "Alltoall 64 B, 32 ranks", "us", None, Some(1.0)),
    row("crowd", "dup_32", "Comm_dup, 32 ranks", "us", None, Some(1.0)),
    row("rma", "rma_put_8_2", "8 B Put, flush", "us", Some("handoff"), Some(1.0)),
    row("rma", "rma_get_8_2", "8 B Get, flush", "us", Some("handoff"), Some(1.0)),
    row("rma", "rma_fetch_and_op_2", "8 B Fetch_and_op, flush", "us", Some("handoff"), Some(1.0)),
    row("rma", "rma_compare_and_swap_2", "8 B Compare_and_swap, flush", "us", Some("handoff"), Some(1.0)),
    row("rma", "rma_put_65536_2", "64 KiB Put, flush", "us", None, Some(1.0)),
    row("rma", "rma_put_1048576_2", "1 MiB Put, flush", "us", None, Some(1.0)),
    row("rma", "rma_puts_1000_2", "1000 puts of 8 B, flush", "us", None, Some(1.0)),
    row("rma", "rma_accumulate_8192_2", "8 KiB Accumulate", "us", Some("rma_by_hand_8192_2"), Some(1.0)),
    row("rma", "rma_by_hand_8192_2", "8 KiB, by a loop", "us", None, None),
    row("rma", "rma_fence_2", "Put, fence, 2 ranks", "us", None, Some(1.0)),
    row("rma", "rma_post_start_2", "post to wait, 2 ranks", "us", None, Some(1.0)),
    row("rma", "rma_lock_2", "lock, Put, unlock, 2 ranks", "us", None, Some(1.0)),
    row("rma", "rma_contended_2", "one counter, 2 ranks", "us", None, Some(1.0)),
    row("rma", "rma_unfair_2", "most of it to least, 2 ranks", "x", None, None),
    row("rma", "rma_fence_8", "Put, fence, 8 ranks", "us", None, Some(1.0)),
    row("rma", "rma_post_start_8", "post to wait, 8 ranks", "us", None, Some(1.0)),
    row("rma", "rma_lock_8", "lock, Put, unlock, 8 ranks", "us", None, Some(1.0)),
    row("rma", "rma_contended_8", "one counter, 8 ranks", "us", None, Some(1.0)),
    row("rma", "rma_unfair_8", "most of it to least, 8 ranks", "x", None, None),
    row("rma", "rma_fence_16", "Put, fence, 16 ranks", "us", None, Some(1.0)),
    row("rma", "rma_post_start_16", "post to wait, 16 ranks", "us", None, Some(1.0)),
    row("rma", "rma_lock_16", "lock, Put, unlock, 16 ranks", "us", None, Some(1.0)),
    row("rma", "rma_contended_16", "one counter, 16 ranks", "us", None, Some(1.0)),
    row("rma", "rma_unfair_16", "most of it to least, 16 ranks", "x", None, None),
    row("startup", "startup_2", "start-up, 2 ranks", "ms", Some("fork_2"), Some(1.0)),
    row("startup", "startup_16", "start-up, 16 ranks", "ms", Some("fork_16"), Some(1.0)),
    row("startup", "startup_64", "start-up, 64 ranks", "ms", Some("fork_64"), Some(1.0)),
    row("idle", "idle_cpu", "CPU of a waiting rank", "%", None, None),
    row("idle", "wake_up", "its answer after 1 s", "us", Some("futex_wake"), None),
    row("tcp", "tcp_latency_8", "TCP 8 B one-way", "us", Some("socket_8"), Some(1.0)),
    row("tcp", "tcp_asleep_latency_8", "same, sleeping at once", "us", Some("socket_asleep"), None),
    row("tcp", "tcp_rate_8", "TCP 8 B rate, window 64", "M/s", None, Some(5.0)),
    row("tcp", "tcp_latency_65536", "TCP 64 KiB one-way", "us", None, None),
    row("tcp", "tcp_window_65536", "TCP 64 KiB, window 16", "GB/s", Some("socket_65536"), Some(1.0)),
    row("tcp", "tcp_window_1048576", "TCP 1 MiB, window 16", "GB/s", Some("socket_1048576"), Some(1.0)),
    row("tcp", "tcp_window_4194304", "TCP 4 MiB, window 16", "GB/s", Some("socket_4194304"), Some(1.0)),
    row("mixed", "near_latency_8", "8 B, shared memory", "us", Some("handoff"), None),
    row("mixed", "mixed_latency_8", "same, beside a TCP peer", "us", Some("near_latency_8"), None),
    row("mixed", "near_posted_latency_8", "with a posted ANY_SOURCE", "us", Some("handoff"), None),
    row(
        "mixed",
        "mixed_posted_latency_8",
        "same, beside a TCP peer",
        "us",
        Some("near_posted_latency_8"),
        None,
    ),
    row("mixed", "near_multiple_latency_8", "MPI_THREAD_MULTIPLE", "us", Some("handoff"), None),
    row(
        "mixed",
        "mixed_multiple_latency_8",
        "same, beside a TCP peer",
        "us",
        Some("near_multiple_latency_8"),
        None,
    ),
    // Goals: at least 0.8 of the rate (1.25 of the time), less than 50 ns more, and less than 1 %.
    row("async", "wait_10000", "Waitall of 10000 receives", "us", None, None),
    row("async", "await_10000", "same, awaited in one task", "us", Some("wait_10000"), None),
    row("async", "join_10000", "same, in a set of futures", "us", Some("wait_10000"), None),
    row("async", "wait_one", "8 B, one receive, Wait", "us", Some("handoff"), None),
    row("async", "await_one", "same, awaited", "us", Some("wait_one"), None),
    row("async", "await_more", "an await, beyond Wait", "ns", None, None),
    row("async", "handler_wait", "8 B to itself, Wait", "ns", None, None),
    row("async", "handler_run", "same, with a handler", "ns", Some("handler_wait"), None),
    row("async", "handler_more", "attach and run, beyond Wait", "ns", None, None),
    row("async", "loop_cpu", "CPU of an idle event loop", "%", None, None),
    row("spawn", "spawn_2", "spawn of 2 ranks", "ms", None, Some(3.0)),
    row("spawn", "spawn_16", "spawn of 16 ranks", "ms", None, Some(3.0)),
    row("spawn", "spawn_64", "spawn of 64 ranks", "ms", None, Some(3.0)),
    row("spawn", "meeting", "connect, accept, disconnect", "us", None, Some(3.0)),
    row("spawn", "first_latency_8", "8 B to a first rank", "us", Some("handoff"), Some(1.0)),
    row("spawn", "spawned_latency_8", "8 B to a spawned rank", "us", Some("first_latency_8"), Some(1.0)),
    row("faults", "agree_reduced_2", "Allreduce, 2 ranks", "us", None, Some(1.0)),
    row("faults", "agree_2", "agree, 2 ranks", "us", Some("agree_reduced_2"), Some(1.0)),
    row("faults", "agree_reduced_8", "Allreduce, 8 ranks", "us", None, Some(1.0)),
    row("faults", "agree_8", "agree, 8 ranks", "us", Some("agree_reduced_8"), Some(1.0)),
    row("faults", "agree_reduced_16", "Allreduce, 16 ranks", "us", None, Some(1.0)),
    row("faults", "agree_16", "agree, 16 ranks", "us", Some("agree_reduced_16"), Some(1.0)),
    row("limit", "socket_8", "TCP 8 B, spinning", "us", None, None),
    row("limit", "socket_asleep", "TCP 8 B, epoll", "us", None, None),
    row("limit", "socket_65536", "TCP 64 KiB", "GB/s", None, None),
    row("limit", "socket_1048576", "TCP 1 MiB", "GB/s", None, None),
    row("limit", "futex_wake", "wake-up from a futex", "us", None, None),
    row("limit", "handoff", "cache-line hand-off", "us", None, None),
    row("limit", "slots", "ring of 64 B slots", "M/s", None, None),
    row("limit", "memcpy_65536", "memcpy 64 KiB", "GB/s", None, None),
    row("limit", "memcpy_1048576", "memcpy 1 MiB", "GB/s", None, None),
    row("limit", "memcpy_4194304", "memcpy 4 MiB", "GB/s", None, None),
    row("limit", "memcpy_16777216", "memcpy 16 MiB", "GB/s", None, None),
    row("limit", "copy_16384", "pipelined copy 16 KiB", "GB/s", None, None),
    row("limit", "copy_65536", "pipelined copy 64 KiB", "GB/s", None, None),
    row("limit", "copy_1048576", "pipelined copy 1 MiB", "GB/s", None, None),
    row("limit", "copy_4194304", "pipelined copy 4 MiB", "GB/s", None, None),
];

/// Pack, unpack and ping-pong of one shape; the goals for packing hold for long messages.
macro_rules! shape {
    ($name:literal, $label:literal, $pack_goal:expr) => {
        [
            row("datatypes", concat!("pack_", $name), concat!("pack ", $label), "x loop", None, $pack_goal),
            row(
                "datatypes",
                concat!("unpack_", $name),
                concat!("unpack ", $label),
                "x loop",
                None,
                $pack_goal,
            ),
            row("datatypes", concat!("pingpong_", $name), concat!("one-way ", $label), "us", None, Some(2.0)),
        ]
    };
}

const SHAPES: [[Row; 3]; 17] = [
    shape!("vector8_8K", "8 B blocks 8 K", None),
    shape!("vector8_1M", "8 B blocks 1 M", Some(1.0)),
    shape!("vector64_8K", "64 B blocks 8 K", None),
    shape!("vector64_1M", "64 B blocks 1 M", Some(1.0)),
    shape!("planes_8K", "planes 8 K", None),
    shape!("planes_128K", "planes 128 K", Some(1.0)),
    shape!("planes_1M", "planes 1 M", Some(1.0)),
    shape!("rows_8K", "rows 8 K", None),
    shape!("rows_128K", "rows 128 K", Some(1.0)),
    shape!("rows_1M", "rows 1 M", Some(1.0)),
    shape!("columns_8K", "columns 8 K", None),
    shape!("columns_128K", "columns 128 K", Some(1.0)),
    shape!("columns_1M", "columns 1 M", Some(1.0)),
    shape!("blocks_8K", "indexed 8 K", None),
    shape!("blocks_1M", "indexed 1 M", Some(1.0)),
    shape!("records_8K", "records 8 K", None),
    shape!("records_1M", "records 1 M", Some(1.0)),
];

/// What one run of the command works with.
pub(crate) struct Plan {
    contenders: Vec<Mpi>,
    groups: Vec<&'static str>,
    raw: PathBuf,
    awaits: PathBuf,
    programs: PathBuf,
    realtime: bool,
    forced: bool,
}

/// Measures and prints.
pub(crate) fn run(project: &Project, options: &Options) -> Fallible {
    let plan = Plan::make(project, options)?;
    let parts = plan.parts();
    if plan.forced {
        let minutes = forced::estimate(options.rounds).as_secs_f64() / 60.0;
        eprintln!(
            "this takes about {minutes:.0} minutes if the machine is quiet (--rounds {})",
            options.rounds
        );
    }
    let mut kept = Measured::default();
    let mut noisy: Vec<Measured> = parts.iter().map(|_| Measured::default()).collect();
    let mut quiet_rounds = vec![0; parts.len()];
    let mut thrown = 0;
    let start = Instant::now();
    for attempt in 1..=options.rounds * 3 {
        for (i, part) in parts.iter().enumerate() {
            if quiet_rounds[i] >= options.rounds {
                continue;
            }
            let mut measured = Measured::default();
            let wander = plan.in_turns(*part, &mut measured)?;
            if wander <= MAY_WANDER {
                kept.merge(measured);
                quiet_rounds[i] += 1;
            } else {
                noisy[i].merge(measured);
                thrown += 1;
                eprintln!("thrown away: {part:?}, its hand-off wandered {wander:.1} x");
            }
        }
        let least = quiet_rounds.iter().min().copied().unwrap_or(0);
        eprintln!(
            "attempt {attempt} after {:.0} s: {least} quiet rounds of everything",
            start.elapsed().as_secs_f64()
        );
        if least >= options.rounds {
            break;
        }
    }
    for (i, part) in parts.iter().enumerate().filter(|(i, _)| quiet_rounds[*i] == 0) {
        println!("NOT QUIET: {part:?} is shown from rounds that should have been thrown away");
        kept.merge(std::mem::take(&mut noisy[i]));
    }
    plan.report(project, &kept, thrown, &quiet_rounds)
}

impl Plan {
    fn make(project: &Project, options: &Options) -> Fallible<Self> {
        if let Some(unknown) = options.only.iter().find(|o| !GROUPS.contains(&o.to_lowercase().as_str())) {
            return Err(format!("no group is called {unknown}; the groups are {}", GROUPS.join(" ")));
        }
        if options.realtime {
            let tried = Job::new(REALTIME[0]).args(&REALTIME[1..]).arg("true").succeed();
            tried.map_err(|complaint| format!("--realtime is not possible here: {complaint}"))?;
        }
        let wanted = |group: &&str| {
            options.only.is_empty() || options.only.iter().any(|o| o.eq_ignore_ascii_case(group))
        };
        let groups: Vec<&'static str> =
            if options.forced { Vec::new() } else { GROUPS.into_iter().filter(wanted).collect() };
        let mut contenders = Vec::new();
        if !options.without_us {
            install::stage(project)?;
            contenders.push(Mpi::posthaste(project));
        }
        if options.rivals || options.without_us {
            for name in &options.against {
                contenders.push(Mpi::rival(project, name)?);
            }
        }
        let programs = project.folder("bench")?;
        let source = project.root.join("bench");
        for mpi in &contenders {
            fs::create_dir_all(programs.join(mpi.flavour)).map_err(|e| e.to_string())?;
            // The first contender with the standard ABI compiles for all of them.
            let first = contenders.iter().find(|other| other.flavour == mpi.flavour).unwrap_or(mpi);
            for name in PROGRAMS {
                let program = programs.join(mpi.flavour).join(name);
                first.compile(
                    &[source.join(name).with_extension("c")],
                    &program,
                    &["-O2", "-w", "-Wl,--enable-new-dtags", "-ldl"],
                )?;
            }
        }
        let awaits = project.target.join("release/examples/awaits");
        if groups.contains(&"async") && !options.without_us {
            let handlers = programs.join("abi/handlers");
            Mpi::posthaste(project).compile(&[source.join("handlers.c")], &handlers, &["-O2", "-w"])?;
            let build = ["build", "--release", "--quiet", "-p", "posthaste", "--example", "awaits"];
            project.cargo(&build).succeed()?;
        }
        let raw = programs.join("raw");
        if !up_to_date(&raw, &[source.join("raw.c")]) {
            Job::new("cc").args(["-O2", "-o"]).arg(&raw).arg(source.join("raw.c")).succeed()?;
        }
        Ok(Self {
            contenders,
            groups,
            raw,
            awaits,
            programs,
            realtime: options.realtime,
            forced: options.forced,
        })
    }

    /// One part, all contenders in turns; gives by how much the hand-off wandered meanwhile.
    fn in_turns(&self, part: Part, measured: &mut Measured) -> Fallible<f64> {
        let mut handoffs = vec![self.handoff()?];
        if let Part::Limits = part {
            measured.take(LIMIT, &self.raw("all").limit(120).succeed()?.stdout);
            handoffs.push(self.handoff()?);
        }
        if let Part::Startup(ranks) = part {
            self.forks(ranks, measured)?;
        }
        if let Part::Tcp = part {
            measured.take(LIMIT, &self.raw("sockets").succeed()?.stdout);
        }
        if let Part::Pair("idle") = part {
            measured.take(LIMIT, &self.raw("wake").succeed()?.stdout);
        }
        if let Part::Copies(band) = part {
            handoffs.extend(band.in_turns(self, measured)?);
        }
        if let Part::Forced(band) = part {
            handoffs.extend(band.in_turns(self, measured)?);
        }
        for mpi in self.contenders.iter().filter(|mpi| part.concerns(mpi)) {
            if let Err(complaint) = part.run(self, mpi, measured) {
                if mpi.name == "posthaste" {
                    return Err(complaint);
                }
                eprintln!("{} can't do this: {complaint}", mpi.name);
            }
            handoffs.push(self.handoff()?);
        }
        for handoff in &handoffs {
            measured.add(LIMIT, "handoff", *handoff);
        }
        handoffs.sort_by(f64::total_cmp);
        // One disturbance among many does not speak against the rest.
        let high = handoffs[handoffs.len() - 1 - handoffs.len() / 10];
        Ok(high / handoffs[0])
    }

    fn parts(&self) -> Vec<Part> {
        let mut parts = vec![Part::Limits];
        if self.forced {
            parts.extend(forced::bands().into_iter().map(Part::Forced));
        }
        for group in &self.groups {
            match *group {
                "pair" => parts.push(Part::Ranks("coll", 2)),
                "crowd" => parts.extend(CROWDS.map(|ranks| Part::Ranks("coll", ranks))),
                "rma" => parts.extend([2, 8, 16].map(|ranks| Part::Ranks("rma", ranks))),
                "spawn" => parts.push(Part::Spawn),
                "faults" => parts.extend(AGREED.map(|ranks| Part::Ranks("agree", ranks))),
                "startup" => parts.extend(STARTED.map(Part::Startup)),
                "modes" => parts.push(Part::Program("modes")),
                "queues" => parts.push(Part::Program("queues")),
                "threads" => parts.push(Part::Threads),
                "tcp" => parts.push(Part::Tcp),
                "mixed" => parts.push(Part::Mixed),
                "async" => parts.push(Part::Async),
                "copies" => parts.extend(copies::BANDS.map(Part::Copies)),
                "datatypes" => parts.extend([Part::Types(1), Part::Types(2)]),
                group => parts.push(Part::Pair(group)),
            }
        }
        parts
    }

    /// fork + exec of as many programs, the limit of every start-up.
    fn forks(&self, ranks: usize, measured: &mut Measured) -> Fallible {
        let started = Instant::now();
        let all: Vec<_> =
            (0..ranks).map(|_| Job::new(&self.raw).arg("nothing").start()).collect::<Result<_, _>>()?;
        for one in all {
            one.wait()?;
        }
        measured.add(LIMIT, &format!("fork_{ranks}"), started.elapsed().as_secs_f64() * 1e3);
        Ok(())
    }

    /// Who is measured.
    pub(crate) fn contenders(&self) -> &[Mpi] {
        &self.contenders
    }

    /// `raw` with this word.
    pub(crate) fn raw(&self, what: &str) -> Job {
        let job = Job::new(&self.raw).arg(what);
        if self.realtime { job.under(&REALTIME) } else { job }
    }

    /// A program on two bound ranks, with options of mpiexec, to be completed with the program's arguments.
    pub(crate) fn bound_pair(&self, mpi: &Mpi, program: &str, options: &[&str]) -> Job {
        let job = mpi.mpiexec(2, true).args(options);
        self.ranks(job, 2).arg(self.program(mpi, program))
    }

    /// Before so many busy threads: at real-time priority if that was asked for, and each has a CPU. A thread that spins
    /// for one that it keeps from running would never see it at that priority.
    fn ranks(&self, job: Job, threads: usize) -> Job {
        if self.realtime && threads <= cpus() { job.args(REALTIME) } else { job }
    }

    /// The hand-off now, in microseconds.
    pub(crate) fn handoff(&self) -> Fallible<f64> {
        let output = self.raw("handoff").succeed()?.stdout;
        handoff_in(&output).ok_or_else(|| format!("the hand-off can't be measured here: {output}"))
    }

    fn report(&self, project: &Project, kept: &Measured, thrown: usize, rounds: &[usize]) -> Fallible {
        let names: Vec<&str> = self.contenders.iter().map(|mpi| mpi.name).collect();
        let (least, most) = (rounds.iter().min().unwrap_or(&0), rounds.iter().max().unwrap_or(&0));
        let mut heading = machine::heading(kept);
        if self.realtime {
            heading +=
                "priority: real-time (chrt -r 10), except for jobs of more threads than CPUs and start-up\n";
        }
        heading += &format!(
            "best (median) of {least} to {most} rounds; {thrown} were thrown away because the hand-off wandered\n\
             \"to limit\" is value / limit; \"to rivals\" is how many times as good as the best rival\n"
        );
        println!("{heading}");
        let all = ROWS.iter().chain(SHAPES.as_flattened());
        let wanted: Vec<Row> = all.filter(|row| self.groups.contains(&row.group)).copied().collect();
        let mut table = if wanted.is_empty() { String::new() } else { kept.table(&wanted, &names) };
        if self.groups.contains(&"copies") {
            let rivals: Vec<&str> = names.iter().copied().filter(|name| *name != "posthaste").collect();
            table += &copies::table(kept, &rivals);
        }
        if self.forced {
            table += &forced::table(kept);
        }
        println!("{table}");
        let limits: Vec<Row> = ROWS.iter().filter(|row| row.group == "limit").copied().collect();
        let limits = kept.table(&limits, &[LIMIT]);
        println!("{limits}");
        let report = project.folder("bench")?.join("last.txt");
        fs::write(&report, format!("{heading}\n{table}\n{limits}"))
            .map_err(|e| format!("can't write {}: {e}", report.display()))
    }

    fn program(&self, mpi: &Mpi, name: &str) -> PathBuf {
        self.programs.join(mpi.flavour).join(name)
    }
}

/// One run of one program.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// What the machine allows.
    Limits,
    /// Two bound ranks.
    Pair(&'static str),
    /// Two bound ranks of a program of its own.
    Program(&'static str),
    /// Two ranks of two threads each, which are not bound.
    Threads,
    /// A program of its own with so many ranks.
    Ranks(&'static str, usize),
    /// The wall time of a small job.
    Startup(usize),
    /// Processes that one rank starts, and two ranks that meet.
    Spawn,
    /// Derived types: packing by one rank, messages of two.
    Types(usize),
    /// Two bound ranks over TCP on this machine.
    Tcp,
    /// Two ranks in shared memory, alone and beside one that is reached by TCP; posthaste only.
    Mixed,
    /// What awaiting costs in the Rust API; posthaste only.
    Async,
    /// Long messages of some sizes, in all ways that settings force.
    Copies(Band),
    /// The same of more sizes, for the comparison with the automatic choice alone.
    Forced(forced::Band),
}

/// What makes everybody use TCP on one machine; each ignores what is meant for the others.
const OVER_TCP: [(&str, &str); 10] = [
    ("POSTHASTE_METHODS", "tcp"),
    ("MPIR_CVAR_NOLOCAL", "1"),
    ("UCX_TLS", "tcp,self"),
    ("I_MPI_FABRICS", "ofi"),
    ("I_MPI_OFI_PROVIDER", "tcp"),
    ("FI_PROVIDER", "tcp"),
    ("FI_TCP_IFACE", "lo"),
    ("OMPI_MCA_pml", "ob1"),
    ("OMPI_MCA_btl", "tcp,self"),
    ("OMPI_MCA_btl_tcp_if_include", "lo"),
];

/// Two ranks on a node that are bound to CPUs and spin, and perhaps a third one that is reached by TCP and sleeps
/// between the batches. It needs no CPU meanwhile, so all are assured that there are CPUs enough: three ranks on two CPUs
/// would wait in another way than two do, whatever lies between them.
fn beside_a_peer(mpi: &Mpi, program: &Path, words: &str, has_peer: bool) -> Job {
    let bound = format!("POSTHASTE_CPUS=3 exec taskset -c $MPI_LOCALRANKID {} {words}", program.display());
    let job = mpi.plain().args(["-bind-to", "none", "-n", "2", "-env", "POSTHASTE_NODE", "here"]);
    let job = job.args(["sh", "-c", &bound]);
    if !has_peer {
        return job;
    }
    let job = job.args([":", "-n", "1", "-env", "POSTHASTE_NODE", "there"]);
    let job = job.args(["-env", "POSTHASTE_SPIN_US", "0", "-env", "POSTHASTE_YIELD_US", "0"]);
    job.args(["env", "POSTHASTE_CPUS=3"]).arg(program).args(words.split(' '))
}

impl Part {
    fn concerns(self, mpi: &Mpi) -> bool {
        match self {
            Self::Mixed | Self::Async => mpi.name == "posthaste",
            Self::Copies(_) | Self::Forced(_) => false, // these take their turns way by way
            _ => true,
        }
    }

    fn run(self, plan: &Plan, mpi: &Mpi, measured: &mut Measured) -> Fallible {
        match self {
            Self::Limits | Self::Copies(_) | Self::Forced(_) => {}
            Self::Pair(group) => {
                let outcome = plan.bound_pair(mpi, "pt2pt", &[]).arg(group).succeed()?;
                measured.take(mpi.name, &outcome.stdout);
            }
            Self::Program(name) => {
                let outcome = plan.bound_pair(mpi, name, &[]).limit(120).succeed()?;
                measured.take(mpi.name, &outcome.stdout);
            }
            Self::Threads => {
                let job = plan.ranks(mpi.mpiexec(2, false), 4).arg(plan.program(mpi, "threads"));
                let outcome = job.limit(120).succeed()?;
                measured.take(mpi.name, &outcome.stdout);
            }
            Self::Ranks(program, ranks) => {
                let job = plan.ranks(mpi.mpiexec(ranks, ranks <= cpus()), ranks);
                let job = job.arg(plan.program(mpi, program)).arg(cpus().to_string());
                measured.take(mpi.name, &job.limit(120).succeed()?.stdout);
            }
            Self::Types(ranks) => {
                let what = if ranks == 1 { "pack" } else { "pingpong" };
                let job = plan.ranks(mpi.mpiexec(ranks, true), ranks);
                let job = job.arg(plan.program(mpi, "datatypes")).arg(what);
                measured.take(mpi.name, &job.succeed()?.stdout);
            }
            Self::Tcp => {
                let over_tcp =
                    |job: Job| OVER_TCP.iter().fold(job, |job, (name, value)| job.env(name, value));
                let job = over_tcp(plan.bound_pair(mpi, "pt2pt", &[])).args(["latency", "rate", "bandwidth"]);
                measured.take_as("tcp_", mpi.name, &job.limit(120).succeed()?.stdout);
                if mpi.name == "posthaste" {
                    let job = over_tcp(plan.bound_pair(mpi, "pt2pt", &[])).env("POSTHASTE_SPIN_US", "0");
                    let job = job.env("POSTHASTE_YIELD_US", "0").arg("latency");
                    measured.take_as("tcp_asleep_", mpi.name, &job.limit(120).succeed()?.stdout);
                }
            }
            Self::Mixed => {
                let program = plan.program(mpi, "pt2pt");
                for (prefix, words) in
                    [("", "latency"), ("posted_", "posted latency"), ("multiple_", "multiple latency")]
                {
                    for (name, has_peer) in [("near_", false), ("mixed_", true)] {
                        let outcome = beside_a_peer(mpi, &program, words, has_peer).limit(120).succeed()?;
                        measured.take_as(&format!("{name}{prefix}"), mpi.name, &outcome.stdout);
                    }
                }
            }
            Self::Async => {
                let job = plan.ranks(mpi.mpiexec(2, true), 2).arg(&plan.awaits);
                measured.take(mpi.name, &job.limit(120).succeed()?.stdout);
                for what in ["costs", "loop"] {
                    let job = plan.bound_pair(mpi, "handlers", &[]).arg(what);
                    measured.take(mpi.name, &job.limit(120).succeed()?.stdout);
                }
            }
            Self::Spawn => {
                // Not bound: a launcher that binds may not start more.
                for ranks in [1, 2] {
                    let job = plan.ranks(mpi.mpiexec(ranks, false), 2).arg(plan.program(mpi, "spawn"));
                    // Intel MPI over shared memory alone has no way to processes that come later.
                    match job.env("I_MPI_FABRICS", "shm:ofi").limit(120).succeed() {
                        Ok(outcome) => measured.take(mpi.name, &outcome.stdout),
                        Err(why) if mpi.name == "posthaste" => return Err(why),
                        Err(why) => eprintln!("{} can't do this with {ranks} ranks: {why}", mpi.name),
                    }
                }
            }
            Self::Startup(ranks) => {
                for _ in 0..3 {
                    let outcome =
                        mpi.mpiexec(ranks, ranks <= 2).arg(plan.program(mpi, "startup")).succeed()?;
                    measured.add(mpi.name, &format!("startup_{ranks}"), outcome.took.as_secs_f64() * 1e3);
                }
            }
        }
        Ok(())
    }
}

/// How many CPUs can be used.
fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn handoff_in(output: &str) -> Option<f64> {
    output
        .lines()
        .find_map(|line| line.strip_prefix("result handoff ")?.split_whitespace().next()?.parse().ok())
}
