//! A sender and a receiver in one process, driven by hand in random order, over each method.
//!
//! Used by `transfers`, `fuzz` and the conformance matrix. A run is a function of its seed.

use std::sync::Arc;

use posthaste_core::config::Config;
use posthaste_core::datatype::{Format, Segment, Types};
use posthaste_core::ids::{ContextId, Peer, RequestId};
use posthaste_core::method::shm::Shm;
use posthaste_core::method::sim::{Network, Weather};
use posthaste_core::method::{Methods, Route};
use posthaste_core::progress::Lane;
use posthaste_core::pt2pt::matching::Pattern;
use posthaste_core::pt2pt::send::Started;
use posthaste_core::pt2pt::{Engine, recv, send};
use posthaste_core::request::{Status, complete};
use posthaste_core::trace::Counter;
use posthaste_core::wire::{Envelope, Mode};
use posthaste_os::heap::Heap;
use posthaste_os::node::Node;
use posthaste_os::peer_copy;

/// How the two are connected.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// By a simulated network.
    Simulator(Weather),
    /// By shared memory: rings, copy buffers, direct copies.
    SharedMemory {
        /// As if the two had to share a CPU.
        crowded: bool,
        /// Ranks on the host, of which the two are the first: where there are many, rings and buffers are small, and
        /// buffers are borrowed message by message.
        ranks: usize,
        /// Buffers lie in memory that the two share.
        heap: bool,
    },
    /// They are one.
    Loopback,
}

/// The sender is the first lane, the receiver the last.
pub(crate) struct Pair {
    pub(crate) network: Network,
    pub(crate) lanes: Vec<Lane>,
}

impl Pair {
    pub(crate) fn new(seed: u64, way: Way, config: &Config) -> Self {
        let weather = match way {
            Way::Simulator(weather) => weather,
            _ => Weather { packet: 0, window: 0, refuse: 0, delay: 0, get: false, refuse_get: 0 },
        };
        let network = Network::new(seed, weather);
        let node = match way {
            Way::SharedMemory { ranks, .. } => Some(Node::create(ranks).unwrap()),
            Way::Simulator(_) | Way::Loopback => None,
        };
        let ranks = if matches!(way, Way::Loopback) { 1 } else { 2 };
        let lanes = (0..ranks)
            .map(|me| {
                let route = |peer| match way {
                    _ if peer == me => Route::Loopback,
                    Way::Simulator(_) => Route::Sim,
                    _ => Route::Shm(peer),
                };
                let shm = node.as_ref().map(|node| {
                    let rank = me as usize;
                    node.set_pid(rank, std::process::id());
                    node.set_probe_address(rank, peer_copy::probe_address());
                    let crowded = matches!(way, Way::SharedMemory { crowded: true, .. });
                    Shm::new(node, rank, vec![Peer(0), Peer(1)], config, crowded)
                });
                let sim =
                    matches!(way, Way::Simulator(_)).then(|| network.join(Peer(me), ranks, Format::NATIVE));
                let methods = Methods::new((0..ranks).map(route).collect(), shm, sim, Peer(me));
                Lane::new(Engine::new(config.clone(), ranks as usize), methods)
            })
            .collect();
        Self { network, lanes }
    }

    /// Where the buffers of sender and receiver are allocated.
    pub(crate) fn heaps(&self, way: Way) -> [Option<Arc<Heap>>; 2] {
        let heap = |at: usize| self.lanes[at].methods.heap().cloned();
        match way {
            Way::SharedMemory { heap: true, .. } => [heap(0), heap(1)],
            _ => [None, None],
        }
    }

    /// The number of the lane that receives what the first one sends.
    pub(crate) fn receiver(&self) -> usize {
        self.lanes.len() - 1
    }

    /// Lets either take a step.
    pub(crate) fn step(&mut self) {
        let at = self.network.random(self.lanes.len() as u64) as usize;
        self.lanes[at].progress();
        if self.network.random(4) == 0 {
            self.network.tick();
        }
    }

    /// Starts a send from lane `from` to the other one.
    pub(crate) fn send(&mut self, from: usize, tag: i32, segment: Segment, synchronous: bool) -> Started {
        let to = Peer((self.receiver() - from) as u32);
        let (context, source, len) = (ContextId::WORLD, from as i32, segment.len());
        let mode = if synchronous { Mode::Synchronous } else { Mode::Standard };
        let envelope = Envelope { context, source, tag, len, mode, types: Types::UNKNOWN };
        let Lane { engine, methods, .. } = &mut self.lanes[from];
        send::start(engine, methods, to, &envelope, segment).unwrap()
    }

    /// Starts a receive at lane `at`.
    pub(crate) fn recv(&mut self, at: usize, source: i32, tag: i32, segment: Segment) -> RequestId {
        let Lane { engine, methods, .. } = &mut self.lanes[at];
        let pattern = Pattern { context: ContextId::WORLD, source, tag };
        recv::start(engine, methods, &pattern, segment).unwrap()
    }

    /// The status of a request that is over, which is then forgotten.
    pub(crate) fn take(&mut self, at: usize, id: RequestId) -> Option<Status> {
        let requests = &mut self.lanes[at].engine.requests;
        if !complete::is_complete(requests.get(id)?) {
            return None;
        }
        requests.remove(id).map(|request| request.status)
    }

    /// Steps until the request is over.
    pub(crate) fn finish(&mut self, at: usize, id: RequestId) -> Status {
        for _ in 0..1_000_000 {
            if let Some(status) = self.take(at, id) {
                return status;
            }
            self.step();
        }
        panic!("request {id} of lane {at} does not end");
    }

    /// The sum of a counter over both.
    pub(crate) fn counted(&self, counter: Counter) -> u64 {
        let counts = |lane: &Lane| lane.engine.counts.get(counter) + lane.methods.counts.get(counter);
        self.lanes.iter().map(counts).sum()
    }
}
