//! Which protocol a message must have taken, from the rules of docs/protocols.md and not from the engine's own choice,
//! and which it took, by the counters.

use crate::case::Case;
use crate::memory::RUN_LIMIT;
use crate::pair::{Pair, Way};
use posthaste_core::config::{Config, LeavePinned, LongProtocol};
use posthaste_core::trace::Counter::{self, *};

/// What counts the messages and the bytes of each way.
const WAYS: [(Counter, Counter); 18] = [
    (EagerShm, EagerShmBytes),
    (StreamShm, StreamShmBytes),
    (GetShm, GetShmBytes),
    (PutShm, PutShmBytes),
    (WriteShm, WriteShmBytes),
    (PipelineShm, PipelineShmBytes),
    (EagerTcp, EagerTcpBytes),
    (PutTcp, PutTcpBytes),
    (EagerFabric, EagerFabricBytes),
    (GetFabric, GetFabricBytes),
    (PutFabric, PutFabricBytes),
    (WriteFabric, WriteFabricBytes),
    (PipelineFabric, PipelineFabricBytes),
    (SharedShm, SharedShmBytes),
    (EagerPlugin, EagerPluginBytes),
    (PutPlugin, PutPluginBytes),
    (EagerLoopback, EagerLoopbackBytes),
    (GetLoopback, GetLoopbackBytes),
];

/// The id of the sender's request, in front of a short message that wants an answer.
const ID: u64 = 8;

/// What each way has carried so far: messages and bytes.
pub(crate) fn carried(pair: &Pair) -> [(u64, u64); WAYS.len()] {
    WAYS.map(|(messages, bytes)| (pair.counted(messages), pair.counted(bytes)))
}

/// The ways that carried a message of `len` bytes between two looks.
pub(crate) fn taken(before: &[(u64, u64)], after: &[(u64, u64)], len: u64) -> Result<Vec<Counter>, String> {
    let mut taken = Vec::new();
    for ((before, after), (counter, _)) in before.iter().zip(after).zip(WAYS) {
        match (after.0 - before.0, after.1 - before.1) {
            (0, 0) => {}
            (1, bytes) if bytes == len => taken.push(counter),
            (messages, bytes) => {
                return Err(format!("{counter:?} counted {messages} messages of {bytes} bytes"));
            }
        }
    }
    Ok(taken)
}

/// The ways that a message may take; a direct copy that was refused is followed by another way.
pub(crate) fn allowed(way: Way, packet: u64, config: &Config, case: &Case) -> &'static [&'static [Counter]] {
    let front = if case.synchronous { ID } else { 0 };
    let eager = match way {
        // The queue takes a record of any length.
        Way::Loopback if !case.synchronous => config.eager_limit as u64,
        _ => (packet - front).min(config.eager_limit as u64),
    };
    let in_place = matches!(way, Way::Tcp { .. })
        && config.long_protocol == LongProtocol::Auto
        && case.len <= config.tcp_eager_limit as u64;
    if in_place && case.len > eager {
        return &[&[EagerTcp], &[PutTcp]]; // short pieces are asked for
    }
    if case.len <= eager {
        return match way {
            Way::Loopback => &[&[EagerLoopback]],
            Way::Tcp { .. } => &[&[EagerTcp]],
            Way::Fabric { .. } => &[&[EagerFabric]],
            Way::Plugin => &[&[EagerPlugin]],
            // From 2 KiB on rings are slower than a bounce buffer of the pair's own.
            Way::SharedMemory { own: 1.., .. } if case.len > 2016 => &[&[EagerShm], &[StreamShm]],
            Way::Simulator(_) | Way::SharedMemory { .. } => &[&[EagerShm]],
        };
    }
    match way {
        Way::Loopback => to_ourselves(config.long_protocol),
        Way::Simulator(weather) if weather.get => in_the_simulator(config.long_protocol, case),
        Way::Simulator(_) => &[&[PutShm]],
        Way::Tcp { .. } => &[&[PutTcp]],
        Way::Plugin => &[&[PutPlugin]],
        Way::Fabric { leave_pinned, .. } => by_libfabric(leave_pinned, config, case),
        Way::SharedMemory { oversubscribed, heap: true, .. } => {
            in_allocated_memory(oversubscribed, config, case)
        }
        Way::SharedMemory { oversubscribed, .. } => in_shared_memory(oversubscribed, config, case),
    }
}

fn to_ourselves(long: LongProtocol) -> &'static [&'static [Counter]] {
    match long {
        LongProtocol::Auto | LongProtocol::Get => &[&[GetLoopback]],
        _ => &[&[PutShm]],
    }
}

/// Gets and writes are refused now and then there, and now it is the sender who copies pieces, now the receiver.
fn in_the_simulator(long: LongProtocol, case: &Case) -> &'static [&'static [Counter]] {
    match long {
        LongProtocol::Write if case.is_one_place() => &[&[WriteShm], &[PutShm, WriteShm]],
        LongProtocol::Pipeline if case.is_one_place() => &[&[PipelineShm]],
        // Behind the first bytes the rest may lie in one piece.
        LongProtocol::Pipeline => &[&[PutShm], &[PipelineShm]],
        LongProtocol::Stream | LongProtocol::Put | LongProtocol::Write | LongProtocol::Shared => &[&[PutShm]],
        LongProtocol::Get if !case.from.is_whole(case.len) && case.is_one_place() => {
            &[&[GetShm], &[GetShm, PutShm], &[WriteShm], &[PutShm, WriteShm]]
        }
        LongProtocol::Auto | LongProtocol::Get if !case.from.is_whole(case.len) => {
            &[&[GetShm], &[GetShm, PutShm], &[PutShm]]
        }
        LongProtocol::Auto | LongProtocol::Get => &[&[GetShm], &[GetShm, PutShm]],
    }
}

fn by_libfabric(leave: LeavePinned, config: &Config, case: &Case) -> &'static [&'static [Counter]] {
    let whole = case.from.is_whole(case.len);
    let by_the_sender: &[&[Counter]] = if case.is_one_place() { &[&[WriteFabric]] } else { &[&[PutFabric]] };
    let parts: &[&[Counter]] =
        if case.is_one_place() { &[&[PipelineFabric]] } else { &[&[PutFabric], &[PipelineFabric]] };
    match config.long_protocol {
        LongProtocol::Auto
            if whole && leave == LeavePinned::Off && case.len >= config.pipeline_limit as u64 =>
        {
            parts
        }
        // The receiver declines where its own pieces are short.
        LongProtocol::Auto | LongProtocol::Get if whole => &[&[GetFabric], &[GetFabric, PutFabric]],
        LongProtocol::Get | LongProtocol::Write => by_the_sender,
        LongProtocol::Pipeline => parts,
        LongProtocol::Auto | LongProtocol::Stream | LongProtocol::Put | LongProtocol::Shared => {
            &[&[PutFabric]]
        }
    }
}

/// Whoever can copies directly. Where that is the sender, it asks first, but not each time.
fn in_allocated_memory(oversubscribed: bool, config: &Config, case: &Case) -> &'static [&'static [Counter]] {
    let (whole, one_place) = (case.from.is_whole(case.len), case.is_one_place());
    let granted: &[&[Counter]] = if one_place { &[&[SharedShm]] } else { &[&[PutShm]] };
    match config.long_protocol {
        LongProtocol::Shared | LongProtocol::Auto if whole && case.len >= config.shared_limit as u64 => {
            &[&[SharedShm]]
        }
        LongProtocol::Shared if whole => &[&[SharedShm]],
        LongProtocol::Shared => granted,
        LongProtocol::Auto if case.len >= config.shared_limit as u64 && one_place => {
            &[&[SharedShm], &[StreamShm]]
        }
        LongProtocol::Auto if case.len >= config.shared_limit as u64 => &[&[PutShm], &[StreamShm]],
        _ => in_shared_memory(oversubscribed, config, case),
    }
}

fn in_shared_memory(oversubscribed: bool, config: &Config, case: &Case) -> &'static [&'static [Counter]] {
    let whole = case.from.is_whole(case.len);
    let long_pieces = case.from.mean_run(case.len) >= RUN_LIMIT as u64;
    let by_the_sender: &[&[Counter]] = if case.is_one_place() { &[&[WriteShm]] } else { &[&[PutShm]] };
    match config.long_protocol {
        LongProtocol::Put | LongProtocol::Pipeline | LongProtocol::Shared => &[&[PutShm]],
        LongProtocol::Write => by_the_sender,
        LongProtocol::Stream => &[&[StreamShm]],
        LongProtocol::Get if whole => &[&[GetShm]],
        LongProtocol::Get => by_the_sender,
        LongProtocol::Auto if !oversubscribed || case.len < config.get_limit as u64 => &[&[StreamShm]],
        // The receiver declines where its own pieces are short.
        LongProtocol::Auto if whole && case.to.mean_run(case.room()) < RUN_LIMIT as u64 => {
            &[&[GetShm, PutShm]]
        }
        LongProtocol::Auto if whole => &[&[GetShm]],
        LongProtocol::Auto if long_pieces => by_the_sender,
        LongProtocol::Auto => &[&[StreamShm]],
    }
}
