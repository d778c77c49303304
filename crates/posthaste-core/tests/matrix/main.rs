//! The conformance matrix of point-to-point messages: mode × protocol × method × layouts of both sides × meeting ×
//! wildcards × room × sizes around every limit, as one suite that runs once for each method.
//!
//! A method joins by a [`Way`] in `pair` and one line at the end of this file. Every message is followed by a look at
//! all memory of both sides, guard bytes included, at the status, at what is left over, and at the counters, which must
//! say that the message went by the protocol that the rules of docs/protocols.md name. Buffered and ready mode are
//! made of these two above the engine; `tests/c/matrix.c` has them. MPI-5.0 §3.2 to §3.8.
//!
//! - `case`: one message, the product of all choices, what must come of it.
//! - `memory`: layouts, guard bytes, what a receive must leave behind.
//! - `proof`: the protocol that must have run.
//! - `ready`: long messages in ready mode.
//! - `bad`: packets that nobody may send, over the same methods.

mod bad;
mod case;
mod memory;
#[path = "../random/pair.rs"]
mod pair;
mod proof;
mod ready;

use std::collections::BTreeSet;

use memory::{Kind, Memory, RUN_LIMIT};
use pair::{Pair, Way, is_there};
use posthaste_core::config::{BounceBuffer, Config, LeavePinned, LongProtocol};
use posthaste_core::method::fabric;
use posthaste_core::method::sim::Weather;
use posthaste_core::method::tcp::PACKET;
use posthaste_core::trace::Counter::{self, *};
use posthaste_os::node::Node;
use posthaste_os::{pool, ring};

const PROTOCOLS: [LongProtocol; 7] = [
    LongProtocol::Auto,
    LongProtocol::Stream,
    LongProtocol::Get,
    LongProtocol::Put,
    LongProtocol::Write,
    LongProtocol::Pipeline,
    LongProtocol::Shared,
];

/// Data in the first cell of a record.
const CELL: u64 = 32;

/// What a method does not let one change.
struct Limits {
    /// The longest payload of a packet.
    packet: u64,
    /// The bounce buffer, if there is one.
    buffer: Option<u64>,
}

impl Limits {
    fn of(way: Way) -> Self {
        match way {
            Way::Loopback => Self { packet: 4096, buffer: None },
            Way::Simulator(weather) => Self { packet: weather.packet as u64, buffer: None },
            Way::Tcp { .. } => Self { packet: PACKET as u64, buffer: None },
            Way::Fabric { .. } => Self { packet: fabric::PACKET as u64, buffer: None },
            Way::Plugin => Self { packet: (16 << 10) - 28, buffer: None }, // what the example takes, less our front
            Way::SharedMemory { ranks, own, .. } => {
                let node = Node::create(ranks).unwrap();
                let buffer = if own > 0 { own } else { pool::bytes(&node) };
                Self { packet: ring::max_payload(&node) as u64, buffer: Some(buffer as u64) }
            }
        }
    }
}

/// All messages of the matrix over one method, by every protocol. Some have a choice: in the end each of the ways in `by`
/// has been taken.
fn matrix(way: Way, by: &[Counter]) {
    let taken = every_protocol(way, Kind::Host, &PROTOCOLS);
    assert!(by.iter().all(|counter| taken.contains(counter)), "only {taken:?} of {by:?}");
}

/// The ways that all messages of the matrix take over one method.
fn every_protocol(way: Way, kind: Kind, protocols: &[LongProtocol]) -> Vec<Counter> {
    let limits = Limits::of(way);
    let mut taken = Vec::new();
    for long_protocol in protocols.iter().copied() {
        let base = Config { long_protocol, run_limit: RUN_LIMIT, ..Config::default() };
        // Limits far below those of the method, then an eager limit that is cut to a packet.
        let eager = |limit| Config { eager_limit: limit, tcp_eager_limit: limit, ..base.clone() };
        let low = Config {
            stream_chunk: 512,
            shared_limit: 2000,
            get_limit: 3000,
            pipeline_part: 512,
            pipeline_limit: 2000,
            ..eager(300)
        };
        let high = eager(limits.packet as usize + 100);
        let chunk = low.stream_chunk as u64;
        let mut around = vec![CELL, 300, chunk, 2 * chunk, 2000, 3000, 8 * chunk];
        around.extend(limits.buffer);
        rows((way, kind), &limits, &low, &around, &mut taken);
        rows((way, kind), &limits, &high, &[limits.packet, high.eager_limit as u64], &mut taken);
    }
    taken
}

/// The same with both buffers in memory of a device, whose copies wait and end in any order.
mod memory_of_a_device {
    use super::*;

    const PROTOCOLS: [LongProtocol; 2] = [LongProtocol::Auto, LongProtocol::Write];

    #[test]
    fn in_the_simulator() {
        every_protocol(Way::Simulator(CALM), Kind::Device, &PROTOCOLS);
    }

    #[test]
    fn in_shared_memory() {
        let way = Way::SharedMemory { oversubscribed: false, ranks: 2, heap: false, own: 0 };
        every_protocol(way, Kind::Device, &PROTOCOLS);
    }

    #[test]
    fn over_tcp() {
        every_protocol(Way::Tcp { buffer: 0 }, Kind::Device, &PROTOCOLS);
    }
}

/// All messages with these settings, of lengths around these limits.
fn rows(
    (way, kind): (Way, Kind),
    limits: &Limits,
    config: &Config,
    around: &[u64],
    taken: &mut Vec<Counter>,
) {
    let lengths: BTreeSet<u64> = around.iter().flat_map(|limit| limit - 1..=limit + 1).chain(0..2).collect();
    // Where nothing is known of the processor, pairs have buffers of their own unless a setting says otherwise.
    let small = Config { bounce_buffer: BounceBuffer::Small, ..config.clone() };
    let config = if matches!(way, Way::SharedMemory { own: 0, .. }) { &small } else { config };
    let mut pair = Pair::new(1, way, config);
    let mut memory = Memory::new(lengths.last().copied().unwrap_or(0), &pair.heaps(way), kind);
    for len in lengths {
        for case in case::product(len) {
            match case.run(&mut pair, way, limits.packet, config, &mut memory) {
                Ok(ways) => {
                    let new: Vec<Counter> = ways.into_iter().filter(|way| !taken.contains(way)).collect();
                    taken.extend(new);
                }
                Err(what) => panic!("{what}\n{case:?}\nover {way:?}\nwith {config:?}"),
            }
        }
    }
    memory.check_rest();
}

const CALM: Weather =
    Weather { packet: 400, window: 8, refuse: 0, delay: 0, get: true, refuse_get: 0, registers: false };

const FABRIC_TCP: Way = Way::Fabric { provider: "tcp", leave_pinned: LeavePinned::Auto };
/// Registrations end with their messages.
const FABRIC_SHM: Way = Way::Fabric { provider: "shm", leave_pinned: LeavePinned::Off };

/// The suite over one method after the other.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident: $way:expr, by $ways:expr;)*) => {$(
        $(#[$doc])*
        mod $name {
            use super::*;

            #[test]
            fn matrix() {
                if is_there($way) {
                    super::matrix($way, &$ways);
                }
            }

            #[test]
            fn bad_packets() {
                if is_there($way) {
                    bad::bad_packets($way);
                }
            }
        }
    )*};
}

methods! {
    simulator: Way::Simulator(CALM), by [EagerShm, GetShm, WriteShm, PipelineShm, PutShm];
    /// As a network with remote memory: what is not registered is refused.
    registered_memory: Way::Simulator(Weather { registers: true, ..CALM }),
        by [EagerShm, GetShm, WriteShm, PipelineShm, PutShm];
    /// The same on a poor network.
    registered_memory_and_refusals:
        Way::Simulator(Weather { registers: true, window: 3, refuse: 3, delay: 3, refuse_get: 2, ..CALM }),
        by [EagerShm, GetShm, WriteShm, PipelineShm, PutShm];
    /// Packets only, few at a time, late and refused at first, as on a poor network.
    packets_only: Way::Simulator(Weather { packet: 333, window: 2, refuse: 4, delay: 2, get: false, ..CALM }),
        by [EagerShm, PutShm];
    refusals: Way::Simulator(Weather { window: 3, refuse: 3, delay: 3, refuse_get: 2, ..CALM }),
        by [EagerShm, GetShm, WriteShm, PutShm];
    ourselves: Way::Loopback, by [EagerLoopback, GetLoopback, PutShm];
    tcp: Way::Tcp { buffer: 0 }, by [EagerTcp, PutTcp];
    /// The kernel takes few bytes at a time.
    tcp_with_small_buffers: Way::Tcp { buffer: 20_000 }, by [EagerTcp, PutTcp];
    fabric_over_tcp: FABRIC_TCP, by [EagerFabric, GetFabric, WriteFabric, PipelineFabric, PutFabric];
    fabric_over_shm: FABRIC_SHM, by [EagerFabric, GetFabric, WriteFabric, PipelineFabric, PutFabric];
    plugin: Way::Plugin, by [EagerPlugin, PutPlugin];
    shared_memory: Way::SharedMemory { oversubscribed: false, ranks: 2, heap: false, own: 0 },
        by [EagerShm, StreamShm, GetShm, WriteShm, PutShm];
    shared_memory_where_ranks_share_cpus: Way::SharedMemory { oversubscribed: true, ranks: 2, heap: false, own: 0 },
        by [EagerShm, StreamShm, GetShm, WriteShm, PutShm];
    /// All buffers lie in memory that the two share.
    allocated_memory: Way::SharedMemory { oversubscribed: false, ranks: 2, heap: true, own: 0 },
        by [EagerShm, StreamShm, GetShm, WriteShm, PutShm, SharedShm];
    allocated_memory_where_ranks_share_cpus: Way::SharedMemory { oversubscribed: true, ranks: 2, heap: true, own: 0 },
        by [EagerShm, StreamShm, GetShm, WriteShm, PutShm, SharedShm];
    /// A bounce buffer of the pair's own.
    shared_memory_with_an_own_buffer: Way::SharedMemory { oversubscribed: false, ranks: 2, heap: false, own: 20_000 },
        by [EagerShm, StreamShm, GetShm, WriteShm, PutShm];
    /// Small rings, and bounce buffers that are borrowed for each message.
    shared_memory_of_many_ranks: Way::SharedMemory { oversubscribed: false, ranks: 32, heap: false, own: 0 },
        by [EagerShm, StreamShm, GetShm, WriteShm, PutShm];
}
