//! The rows of the tables of `cargo xtask bench`: what is measured, what bounds it, and the goals.

use crate::measured::{Better, Row};

/// How many ranks take part in collective operations of several lengths.
pub(crate) const SIZED: [usize; 5] = [2, 4, 8, 16, 32];

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
    Row { name, label, unit, better, limit, within: None, most: None, rival_goal, group }
}

/// A row that should take so many times its limit at most; of a rate, that should be so many times slower at most.
const fn within(most: f64, row: Row) -> Row {
    Row { within: Some(most), ..row }
}

/// A row that should be so much at most.
const fn at_most(most: f64, row: Row) -> Row {
    Row { most: Some(most), ..row }
}

/// Collective operations with data at several lengths, as `bench/sizes.c` reports them.
pub(crate) fn of_sizes() -> Vec<Row> {
    // Name, label, and whether some rank has a block for each.
    const OPERATIONS: [(&str, &str, bool); 9] = [
        ("bcast", "Bcast", false),
        ("reduce", "Reduce", false),
        ("allreduce", "Allreduce", false),
        ("gather", "Gather", true),
        ("scatter", "Scatter", true),
        ("allgather", "Allgather", true),
        ("alltoall", "Alltoall", true),
        ("reduce_scatter", "Reduce_scatter_block", true),
        ("scan", "Scan", false),
    ];
    const LENGTHS: [(usize, &str); 5] =
        [(8, "8 B"), (1 << 10, "1 KiB"), (16 << 10, "16 KiB"), (256 << 10, "256 KiB"), (4 << 20, "4 MiB")];
    // What else is reported of short messages.
    const SINGLE: [(&str, &str); 3] = [("_p50", ", median"), ("_p99", ", 99 %"), ("_late", ", one late")];
    let mut rows = Vec::new();
    for ((name, operation, has_blocks), (bytes, length)) in
        OPERATIONS.iter().flat_map(|operation| LENGTHS.map(|length| (operation, length)))
    {
        let is_measured = |ranks: usize| bytes * if *has_blocks { ranks } else { 1 } <= MOST;
        for ranks in SIZED.into_iter().filter(|ranks| is_measured(*ranks)) {
            // What a table is made of lives as long as the command.
            let name = |end: &str| &*format!("coll_{name}_{bytes}_{ranks}{end}").leak();
            let label = |end: &str| &*format!("{operation} {length}, {ranks}{end}").leak();
            let goal = Some(if ranks > 2 { 1.5 } else { 1.2 });
            rows.push(row("coll", name(""), label(""), "us", None, goal));
            let singles = SINGLE.iter().filter(|_| bytes <= SHORT);
            rows.extend(singles.map(|(end, what)| row("coll", name(end), label(what), "us", None, None)));
        }
    }
    rows
}

/// Longest buffer of `bench/sizes.c`, and longest message of which it also measures single operations.
const MOST: usize = 16 << 20;
const SHORT: usize = 16 << 10;

/// The goals are those of the rows that are promised now.
pub(crate) const ROWS: &[Row] = &[
    row("latency", "latency_8", "8 B one-way", "us", Some("handoff"), Some(1.0)),
    row("latency", "latency_1024", "1 KiB one-way", "us", Some("handoff"), None),
    row("latency", "latency_16384", "16 KiB one-way", "us", Some("handoff"), Some(1.1)),
    row("latency", "latency_65536", "64 KiB one-way", "us", None, Some(1.1)),
    row("latency", "oneway_16384", "16 KiB, ping-pong", "GB/s", Some("copy_16384"), Some(1.1)),
    row("latency", "oneway_65536", "64 KiB, ping-pong", "GB/s", Some("copy_65536"), Some(1.1)),
    row("latency", "oneway_1048576", "1 MiB, ping-pong", "GB/s", Some("copy_1048576"), Some(1.1)),
    row("latency", "oneway_4194304", "4 MiB, ping-pong", "GB/s", Some("copy_4194304"), Some(1.1)),
    row("bandwidth", "window_65536", "64 KiB, window 16", "GB/s", Some("copy_65536"), Some(1.1)),
    row("bandwidth", "window_1048576", "1 MiB, window 16", "GB/s", Some("copy_1048576"), Some(1.1)),
    row("rotating", "rotating_65536", "64 KiB, past the caches", "GB/s", None, Some(1.1)),
    row("rotating", "rotating_262144", "256 KiB, past the caches", "GB/s", None, Some(1.1)),
    row("rotating", "rotating_1048576", "1 MiB, past the caches", "GB/s", None, Some(1.1)),
    row("rotating", "rotating_4194304", "4 MiB, past the caches", "GB/s", None, Some(1.1)),
    row("rate", "rate_8", "8 B rate, window 64", "M/s", Some("slots"), Some(2.0)),
    row("modes", "mode_send", "8 B Send, Recv", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_ssend", "8 B Ssend", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_bsend", "8 B Bsend", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_nonblocking", "8 B Isend, Irecv, Wait", "us", Some("handoff"), Some(1.15)),
    row("modes", "mode_persistent", "8 B persistent", "us", Some("handoff"), Some(1.15)),
    row("modes", "mode_any_source", "8 B ANY_SOURCE", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_any_tag", "8 B ANY_TAG", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_probe", "8 B Probe, Recv", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_probe_any", "8 B Probe ANY, Recv", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_iprobe", "8 B Iprobe, Recv", "us", Some("handoff"), Some(1.0)),
    row("modes", "mode_mprobe", "8 B Mprobe, Mrecv", "us", Some("handoff"), Some(1.15)),
    row("modes", "mode_sendrecv", "8 B Sendrecv", "us", Some("handoff"), Some(1.0)),
    within(
        1.05,
        row("modes", "alloc_mem_65536", "64 KiB, Alloc_mem", "GB/s", Some("memcpy_65536"), Some(1.1)),
    ),
    within(
        1.05,
        row("modes", "alloc_mem_1048576", "1 MiB, Alloc_mem", "GB/s", Some("memcpy_1048576"), Some(1.1)),
    ),
    within(
        1.05,
        row("modes", "alloc_mem_4194304", "4 MiB, Alloc_mem", "GB/s", Some("memcpy_4194304"), Some(1.1)),
    ),
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
    row("pair", "barrier_2", "Barrier, 2 ranks", "us", Some("handoff"), Some(1.2)),
    row("pair", "allreduce_2", "Allreduce, 2 ranks", "us", Some("handoff"), Some(1.2)),
    row("pair", "bcast_2", "Bcast 1 KiB, 2 ranks", "us", None, Some(1.2)),
    row("pair", "alltoall_2", "Alltoall 64 B, 2 ranks", "us", None, Some(1.2)),
    row("pair", "dup_2", "Comm_dup, 2 ranks", "us", None, Some(1.0)),
    row("crowd", "barrier_4", "Barrier, 4 ranks", "us", None, Some(1.5)),
    row("crowd", "allreduce_4", "Allreduce, 4 ranks", "us", None, Some(1.5)),
    row("crowd", "ring_4", "ring of 1 KiB, 4 ranks", "us", None, Some(1.2)),
    row("crowd", "bcast_4", "Bcast 1 KiB, 4 ranks", "us", None, Some(1.5)),
    row("crowd", "alltoall_4", "Alltoall 64 B, 4 ranks", "us", None, Some(1.5)),
    row("crowd", "dup_4", "Comm_dup, 4 ranks", "us", None, Some(1.0)),
    row("crowd", "barrier_8", "Barrier, 8 ranks", "us", None, Some(1.5)),
    row("crowd", "allreduce_8", "Allreduce, 8 ranks", "us", None, Some(1.5)),
    row("crowd", "ring_8", "ring of 1 KiB, 8 ranks", "us", None, Some(1.2)),
    row("crowd", "bcast_8", "Bcast 1 KiB, 8 ranks", "us", None, Some(1.5)),
    row("crowd", "alltoall_8", "Alltoall 64 B, 8 ranks", "us", None, Some(1.5)),
    row("crowd", "dup_8", "Comm_dup, 8 ranks", "us", None, Some(1.0)),
    row("crowd", "barrier_16", "Barrier, 16 ranks", "us", None, Some(1.5)),
    row("crowd", "allreduce_16", "Allreduce, 16 ranks", "us", None, Some(1.5)),
    row("crowd", "ring_16", "ring of 1 KiB, 16 ranks", "us", None, Some(1.2)),
    row("crowd", "bcast_16", "Bcast 1 KiB, 16 ranks", "us", None, Some(1.5)),
    row("crowd", "alltoall_16", "Alltoall 64 B, 16 ranks", "us", None, Some(1.5)),
    row("crowd", "dup_16", "Comm_dup, 16 ranks", "us", None, Some(1.0)),
    row("crowd", "barrier_32", "Barrier, 32 ranks", "us", None, Some(1.5)),
    row("crowd", "allreduce_32", "Allreduce, 32 ranks", "us", None, Some(1.5)),
    row("crowd", "ring_32", "ring of 1 KiB, 32 ranks", "us", None, Some(1.2)),
    row("crowd", "bcast_32", "Bcast 1 KiB, 32 ranks", "us", None, Some(1.5)),
    row("crowd", "alltoall_32", "Alltoall 64 B, 32 ranks", "us", None, Some(1.5)),
    row("crowd", "dup_32", "Comm_dup, 32 ranks", "us", None, Some(1.0)),
    row("exchange", "exchange_65536_2", "64 KiB with all, 2 ranks", "us", None, Some(1.2)),
    row("exchange", "exchange_1048576_2", "1 MiB with all, 2 ranks", "us", None, Some(1.2)),
    row("exchange", "exchange_fresh_65536_2", "64 KiB fresh, 2 ranks", "us", None, Some(1.2)),
    row("exchange", "exchange_fresh_1048576_2", "1 MiB fresh, 2 ranks", "us", None, Some(1.2)),
    row("exchange", "exchange_65536_4", "64 KiB with all, 4 ranks", "us", None, Some(1.2)),
    row("exchange", "exchange_1048576_4", "1 MiB with all, 4 ranks", "us", None, Some(1.2)),
    row("exchange", "exchange_fresh_65536_4", "64 KiB fresh, 4 ranks", "us", None, Some(1.2)),
    row("exchange", "exchange_fresh_1048576_4", "1 MiB fresh, 4 ranks", "us", None, Some(1.2)),
    row("exchange", "exchange_65536_8", "64 KiB with all, 8 ranks", "us", None, Some(1.2)),
    row("exchange", "exchange_1048576_8", "1 MiB with all, 8 ranks", "us", None, Some(1.2)),
    row("exchange", "exchange_fresh_65536_8", "64 KiB fresh, 8 ranks", "us", None, Some(1.2)),
    row("exchange", "exchange_fresh_1048576_8", "1 MiB fresh, 8 ranks", "us", None, Some(1.2)),
    row("jobs", "alone_65536", "64 KiB both ways, alone", "us", None, None),
    // Half of the CPUs, and a tenth.
    within(2.2, row("jobs", "beside_65536", "same, beside a second job", "us", Some("alone_65536"), None)),
    row("jobs", "alone_1048576", "1 MiB both ways, alone", "us", None, None),
    within(
        2.2,
        row("jobs", "beside_1048576", "same, beside a second job", "us", Some("alone_1048576"), None),
    ),
    row("rma", "rma_put_8_2", "8 B Put, flush", "us", Some("rma_bare_put_2"), Some(1.2)),
    row("rma", "rma_get_8_2", "8 B Get, flush", "us", Some("rma_bare_get_2"), Some(1.2)),
    row(
        "rma",
        "rma_fetch_and_op_2",
        "8 B Fetch_and_op, flush",
        "us",
        Some("rma_bare_fetch_and_op_2"),
        Some(1.2),
    ),
    row(
        "rma",
        "rma_compare_and_swap_2",
        "8 B Compare_and_swap, flush",
        "us",
        Some("rma_bare_compare_and_swap_2"),
        Some(1.2),
    ),
    row("rma", "rma_bare_put_2", "bare store, fence", "us", None, None),
    row("rma", "rma_bare_get_2", "bare load, fence", "us", None, None),
    row("rma", "rma_bare_fetch_and_op_2", "bare fetch-and-add, fence", "us", None, None),
    row("rma", "rma_bare_compare_and_swap_2", "bare compare-and-swap, fence", "us", None, None),
    at_most(10.0, row("rma", "rma_more_put_2", "Put, beyond the bare step", "ns", None, None)),
    at_most(10.0, row("rma", "rma_more_get_2", "Get, beyond the bare step", "ns", None, None)),
    at_most(10.0, row("rma", "rma_more_fetch_and_op_2", "Fetch_and_op, beyond it", "ns", None, None)),
    at_most(10.0, row("rma", "rma_more_compare_and_swap_2", "Compare_and_swap, beyond it", "ns", None, None)),
    within(
        1.2,
        row("rma", "rma_far_put_2", "Put, line of the other", "us", Some("rma_bare_far_put_2"), None),
    ),
    within(
        1.2,
        row("rma", "rma_far_get_2", "Get, line of the other", "us", Some("rma_bare_far_get_2"), None),
    ),
    within(
        1.2,
        row(
            "rma",
            "rma_far_fetch_and_op_2",
            "Fetch_and_op, line of the other",
            "us",
            Some("rma_bare_far_fetch_and_op_2"),
            None,
        ),
    ),
    within(
        1.2,
        row(
            "rma",
            "rma_far_compare_and_swap_2",
            "Compare_and_swap, line of the other",
            "us",
            Some("rma_bare_far_compare_and_swap_2"),
            None,
        ),
    ),
    row("rma", "rma_bare_far_put_2", "bare store there, fence", "us", None, None),
    row("rma", "rma_bare_far_get_2", "bare load there, fence", "us", None, None),
    row("rma", "rma_bare_far_fetch_and_op_2", "bare fetch-and-add there", "us", None, None),
    row("rma", "rma_bare_far_compare_and_swap_2", "bare compare-and-swap there", "us", None, None),
    within(1.1, row("rma", "rma_created_put_8_2", "8 B Put, created", "us", Some("rma_put_8_2"), None)),
    within(1.1, row("rma", "rma_created_get_8_2", "8 B Get, created", "us", Some("rma_get_8_2"), None)),
    within(
        1.1,
        row(
            "rma",
            "rma_created_fetch_and_op_2",
            "Fetch_and_op, created",
            "us",
            Some("rma_fetch_and_op_2"),
            None,
        ),
    ),
    within(
        1.1,
        row("rma", "rma_created_lock_2", "lock, Put, unlock, created", "us", Some("rma_lock_2"), None),
    ),
    within(
        1.05,
        row("rma", "rma_put_65536_2", "64 KiB Put, flush", "us", Some("rma_memcpy_65536_2"), Some(1.0)),
    ),
    within(
        1.05,
        row("rma", "rma_put_1048576_2", "1 MiB Put, flush", "us", Some("rma_memcpy_1048576_2"), Some(1.0)),
    ),
    row("rma", "rma_memcpy_65536_2", "64 KiB memcpy there", "us", None, None),
    row("rma", "rma_memcpy_1048576_2", "1 MiB memcpy there", "us", None, None),
    row("rma", "rma_puts_1000_2", "1000 puts of 8 B, flush", "us", None, Some(1.0)),
    within(
        1.11,
        row("rma", "rma_accumulate_8192_2", "8 KiB Accumulate", "us", Some("rma_by_hand_8192_2"), Some(1.0)),
    ),
    row("rma", "rma_by_hand_8192_2", "8 KiB, by a loop", "us", None, None),
    row("rma", "rma_fence_2", "Put, fence, 2 ranks", "us", None, Some(1.2)),
    row("rma", "rma_post_start_2", "post to wait, 2 ranks", "us", None, Some(1.2)),
    row("rma", "rma_lock_2", "lock, Put, unlock, 2 ranks", "us", None, Some(1.2)),
    row("rma", "rma_contended_2", "one counter, 2 ranks", "us", None, Some(1.0)),
    at_most(2.0, row("rma", "rma_unfair_2", "most of it to least, 2 ranks", "x", None, None)),
    row("rma", "rma_fence_8", "Put, fence, 8 ranks", "us", None, Some(1.5)),
    row("rma", "rma_post_start_8", "post to wait, 8 ranks", "us", None, Some(1.5)),
    row("rma", "rma_lock_8", "lock, Put, unlock, 8 ranks", "us", None, Some(1.5)),
    row("rma", "rma_contended_8", "one counter, 8 ranks", "us", None, Some(1.0)),
    at_most(2.0, row("rma", "rma_unfair_8", "most of it to least, 8 ranks", "x", None, None)),
    row("rma", "rma_fence_16", "Put, fence, 16 ranks", "us", None, Some(1.5)),
    row("rma", "rma_post_start_16", "post to wait, 16 ranks", "us", None, Some(1.5)),
    row("rma", "rma_lock_16", "lock, Put, unlock, 16 ranks", "us", None, Some(1.5)),
    row("rma", "rma_contended_16", "one counter, 16 ranks", "us", None, Some(1.0)),
    at_most(2.0, row("rma", "rma_unfair_16", "most of it to least, 16 ranks", "x", None, None)),
    within(1.2, row("rma", "tcp_rma_put_8_2", "TCP 8 B Put, flush", "us", Some("socket_turn_8"), Some(1.0))),
    within(1.2, row("rma", "tcp_rma_get_8_2", "TCP 8 B Get, flush", "us", Some("socket_turn_8"), Some(1.0))),
    within(
        1.2,
        row(
            "rma",
            "tcp_rma_fetch_and_op_2",
            "TCP Fetch_and_op, flush",
            "us",
            Some("socket_turn_8"),
            Some(1.0),
        ),
    ),
    within(
        1.05,
        row(
            "rma",
            "tcp_rma_put_65536_2",
            "TCP 64 KiB Put, flush",
            "us",
            Some("socket_turn_65536"),
            Some(1.0),
        ),
    ),
    within(
        1.05,
        row(
            "rma",
            "tcp_rma_get_65536_2",
            "TCP 64 KiB Get, flush",
            "us",
            Some("socket_turn_65536"),
            Some(1.0),
        ),
    ),
    within(
        1.05,
        row(
            "rma",
            "tcp_rma_put_1048576_2",
            "TCP 1 MiB Put, flush",
            "us",
            Some("socket_turn_1048576"),
            Some(1.0),
        ),
    ),
    within(
        1.05,
        row(
            "rma",
            "tcp_rma_get_1048576_2",
            "TCP 1 MiB Get, flush",
            "us",
            Some("socket_turn_1048576"),
            Some(1.0),
        ),
    ),
    row("rma", "tcp_rma_puts_1000_2", "TCP 1000 puts of 8 B, flush", "us", None, Some(5.0)),
    within(
        1.05,
        row(
            "rma",
            "tcp_rma_stream_1048576_2",
            "TCP 1 MiB Put, 16 to a flush",
            "GB/s",
            Some("socket_1048576"),
            Some(1.0),
        ),
    ),
    row("startup", "startup_2", "start-up, 2 ranks", "ms", Some("fork_2"), Some(1.0)),
    row("startup", "startup_16", "start-up, 16 ranks", "ms", Some("fork_16"), Some(1.0)),
    row("startup", "startup_64", "start-up, 64 ranks", "ms", Some("fork_64"), Some(1.0)),
    at_most(2.0, row("idle", "idle_cpu", "CPU of a waiting rank", "%", None, None)),
    within(1.3, row("idle", "wake_up", "its answer after 1 s", "us", Some("futex_wake"), None)),
    within(1.1, row("tcp", "tcp_latency_8", "TCP 8 B one-way", "us", Some("socket_8"), Some(1.0))),
    row("tcp", "tcp_asleep_latency_8", "same, sleeping at once", "us", Some("socket_asleep"), None),
    row("tcp", "tcp_rate_8", "TCP 8 B rate, window 64", "M/s", None, Some(5.0)),
    within(
        1.05,
        row("tcp", "tcp_latency_65536", "TCP 64 KiB one-way", "us", Some("socket_oneway_65536"), Some(1.0)),
    ),
    within(
        1.05,
        row("tcp", "tcp_window_65536", "TCP 64 KiB, window 16", "GB/s", Some("socket_65536"), Some(1.0)),
    ),
    row("tcp", "tcp_window_1048576", "TCP 1 MiB, window 16", "GB/s", Some("socket_1048576"), Some(1.0)),
    row("tcp", "tcp_window_4194304", "TCP 4 MiB, window 16", "GB/s", Some("socket_4194304"), Some(1.0)),
    row("mixed", "near_latency_8", "8 B, shared memory", "us", Some("handoff"), None),
    within(
        1.03,
        row("mixed", "mixed_latency_8", "same, beside a TCP peer", "us", Some("near_latency_8"), None),
    ),
    row("mixed", "near_posted_latency_8", "with a posted ANY_SOURCE", "us", Some("handoff"), None),
    within(
        1.03,
        row(
            "mixed",
            "mixed_posted_latency_8",
            "same, beside a TCP peer",
            "us",
            Some("near_posted_latency_8"),
            None,
        ),
    ),
    row("mixed", "near_multiple_latency_8", "MPI_THREAD_MULTIPLE", "us", Some("handoff"), None),
    within(
        1.03,
        row(
            "mixed",
            "mixed_multiple_latency_8",
            "same, beside a TCP peer",
            "us",
            Some("near_multiple_latency_8"),
            None,
        ),
    ),
    row("async", "wait_10000", "Waitall of 10000 receives", "us", None, None),
    within(1.25, row("async", "await_10000", "same, awaited in one task", "us", Some("wait_10000"), None)),
    row("async", "join_10000", "same, in a set of futures", "us", Some("wait_10000"), None),
    row("async", "wait_one", "8 B, one receive, Wait", "us", Some("handoff"), None),
    row("async", "await_one", "same, awaited", "us", Some("wait_one"), None),
    at_most(50.0, row("async", "await_more", "an await, beyond Wait", "ns", None, None)),
    row("async", "handler_wait", "8 B to itself, Wait", "ns", None, None),
    row("async", "handler_run", "same, with a handler", "ns", Some("handler_wait"), None),
    row("async", "handler_more", "attach and run, beyond Wait", "ns", None, None),
    at_most(1.0, row("async", "loop_cpu", "CPU of an idle event loop", "%", None, None)),
    row("spawn", "spawn_2", "spawn of 2 ranks", "ms", None, Some(3.0)),
    row("spawn", "spawn_16", "spawn of 16 ranks", "ms", None, Some(3.0)),
    row("spawn", "spawn_64", "spawn of 64 ranks", "ms", None, Some(3.0)),
    row("spawn", "meeting", "connect, accept, disconnect", "us", None, Some(3.0)),
    row("spawn", "first_latency_8", "8 B to a first rank", "us", Some("handoff"), Some(1.0)),
    within(
        1.1,
        row("spawn", "spawned_latency_8", "8 B to a spawned rank", "us", Some("first_latency_8"), Some(1.0)),
    ),
    row("spawn", "first_latency_65536", "64 KiB to a first rank", "us", None, Some(1.0)),
    within(
        1.1,
        row(
            "spawn",
            "spawned_latency_65536",
            "64 KiB to a spawned rank",
            "us",
            Some("first_latency_65536"),
            Some(1.0),
        ),
    ),
    row("spawn", "first_latency_1048576", "1 MiB to a first rank", "us", None, Some(1.0)),
    within(
        1.1,
        row(
            "spawn",
            "spawned_latency_1048576",
            "1 MiB to a spawned rank",
            "us",
            Some("first_latency_1048576"),
            Some(1.0),
        ),
    ),
    row("faults", "agree_reduced_2", "Allreduce, 2 ranks", "us", None, Some(1.0)),
    within(3.0, row("faults", "agree_2", "agree, 2 ranks", "us", Some("agree_reduced_2"), Some(1.0))),
    row("faults", "agree_reduced_8", "Allreduce, 8 ranks", "us", None, Some(1.0)),
    within(3.0, row("faults", "agree_8", "agree, 8 ranks", "us", Some("agree_reduced_8"), Some(1.0))),
    row("faults", "agree_reduced_16", "Allreduce, 16 ranks", "us", None, Some(1.0)),
    within(3.0, row("faults", "agree_16", "agree, 16 ranks", "us", Some("agree_reduced_16"), Some(1.0))),
    row("bindings", "binding_standard", "a call, standard ABI", "ns", None, None),
    // At most 5, and at most 10 in Fortran but for arrays of handles; the counts of instructions guard them.
    row("bindings", "binding_mpich", "more with MPICH's ABI", "ns", None, None),
    row("bindings", "binding_fortran", "more in Fortran", "ns", None, None),
    row("bindings", "binding_f08", "more by mpi_f08", "ns", None, None),
    row("bindings", "binding_waitall_standard", "Waitall of 64, none open", "ns", None, None),
    row("bindings", "binding_waitall_mpich", "more with MPICH's ABI", "ns", None, None),
    row("bindings", "binding_waitall_fortran", "more in Fortran", "ns", None, None),
    row("bindings", "binding_waitall_f08", "more by mpi_f08", "ns", None, None),
    row("limit", "socket_8", "TCP 8 B, spinning", "us", None, None),
    row("limit", "socket_turn_8", "TCP 8 B there and back", "us", None, None),
    row("limit", "socket_oneway_65536", "TCP 64 KiB one-way", "us", None, None),
    row("limit", "socket_turn_65536", "TCP 64 KiB, answered", "us", None, None),
    row("limit", "socket_turn_1048576", "TCP 1 MiB, answered", "us", None, None),
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

pub(crate) const SHAPES: [[Row; 3]; 17] = [
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that nothing fills would look like something that failed.
    #[test]
    fn sizes_are_those_that_are_measured() {
        let program = include_str!("../../bench/sizes.c");
        assert!(
            program.contains("MOST = 16 << 20, SHORT = 16 << 10") && (MOST, SHORT) == (16 << 20, 16 << 10)
        );
        let rows = of_sizes();
        let has = |name: &str| rows.iter().any(|row| row.name == name);
        assert!(has("coll_bcast_4194304_32") && has("coll_alltoall_4194304_4"));
        assert!(!has("coll_alltoall_4194304_8") && !has("coll_reduce_scatter_4194304_8"));
        assert!(has("coll_scan_16384_8_p99") && !has("coll_scan_262144_8_p99"));
    }
}
