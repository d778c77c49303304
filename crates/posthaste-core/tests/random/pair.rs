//! A sender and a receiver in one process, driven by hand in random order, over each method.
//!
//! A run is a function of its seed.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use posthaste_core::config::{BounceBuffer, Config, LeavePinned};
use posthaste_core::datatype::{Format, Segment, Types};
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::{ContextId, Peer, RequestId};
use posthaste_core::method::fabric::{Fabric, FabricSetup, FabricShelf};
use posthaste_core::method::plugin::{Plugin, PluginCard, PluginSetup};
use posthaste_core::method::shm::Shm;
use posthaste_core::method::sim::{Network, Weather};
use posthaste_core::method::tcp::{Shelf, Tcp, TcpSetup};
use posthaste_core::method::{Methods, Route};
use posthaste_core::progress::Vci;
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
    /// By shared memory: rings, bounce buffers, direct copies.
    SharedMemory {
        /// As if the two had to share a CPU.
        oversubscribed: bool,
        /// Ranks on the host, of which the two are the first: where there are many, rings and buffers are small, and
        /// buffers are borrowed message by message.
        ranks: usize,
        /// Buffers lie in memory that the two share.
        heap: bool,
        /// Bytes of a bounce buffer of the pair's own; 0: there is none.
        own: usize,
    },
    /// By TCP over this host's own addresses.
    Tcp {
        /// Bytes of the system's buffers, 0 for as many as it likes.
        buffer: usize,
    },
    /// By libfabric.
    #[allow(dead_code)] // one of the two tests that share this file takes it
    Fabric {
        /// The provider.
        provider: &'static str,
        /// Whether registrations are cached.
        leave_pinned: LeavePinned,
    },
    /// By the plug-in in `examples`.
    #[allow(dead_code)] // as above
    Plugin,
    /// They are one.
    Loopback,
}

/// An end of TCP connections, whose business card is put on the shelf.
pub(crate) fn tcp(me: Peer, peers: usize, buffer: usize, config: &Config, shelf: &Shelf) -> Tcp {
    let setup = TcpSetup { me, peers, secret: [7; 32], format: Format::NATIVE, node: "here".into() };
    let config = Config { tcp_buffer: buffer, ..config.clone() };
    let (tcp, card) = Tcp::new(setup, &config, Box::new(shelf.clone())).unwrap();
    shelf.put(me, &card);
    tcp
}

/// An endpoint of libfabric, whose business card is put on the shelf.
pub(crate) fn fabric(me: Peer, way: Way, config: &Config, shelf: &FabricShelf) -> Result<Fabric> {
    let Way::Fabric { provider, leave_pinned } = way else { panic!("another way") };
    let setup = FabricSetup { me, peers: 2, mark: 0x1234_5678_9abc, format: Format::NATIVE };
    let fabric_provider = Some(provider.to_owned());
    let config = Config { fabric_provider, leave_pinned, ..config.clone() };
    let (fabric, card) = Fabric::new(setup, &config, Box::new(shelf.clone()))?;
    shelf.put(me, &card);
    Ok(fabric)
}

/// Business cards of plug-ins.
type Cards = Arc<Mutex<HashMap<Peer, PluginCard>>>;

/// The plug-in in `examples`, compiled, or why it cannot be.
fn example() -> &'static std::result::Result<String, String> {
    static EXAMPLE: OnceLock<std::result::Result<String, String>> = OnceLock::new();
    EXAMPLE.get_or_init(|| {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates have a folder");
        let file =
            format!("{}/libposthaste_unix.{}.so", env!("CARGO_TARGET_TMPDIR"), env!("CARGO_CRATE_NAME"));
        let compiler = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-I"])
            .arg(crates.join("posthaste-abi/include"))
            .args(["-o", &file])
            .arg(crates.join("../examples/unix-method/unix_method.c"))
            .output();
        let said = compiler.map_err(|why| format!("there is no C compiler: {why}"))?;
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        Ok(file)
    })
}

/// A plug-in at work, whose business card is put where the other one finds it.
pub(crate) fn plugin(me: Peer, config: &Config, shelf: &Cards) -> Result<Plugin> {
    let file = example().clone().map_err(|why| Error::other(ErrorClass::Other, why))?;
    let setup = PluginSetup { me, peers: 2, secret: [7; 32], format: Format::NATIVE };
    let config = Config { plugin: Some(file), ..config.clone() };
    let others = shelf.clone();
    let cards = Box::new(move |peer| Ok(others.lock().unwrap()[&peer].clone()));
    let (plugin, card) = Plugin::new(setup, &config, cards)?;
    shelf.lock().unwrap().insert(me, card.to_string().parse()?);
    Ok(plugin)
}

/// Whether this machine has what the way needs; if not, a line says so.
pub(crate) fn is_there(way: Way) -> bool {
    let config = Config::default();
    let found = match way {
        Way::Fabric { .. } => fabric(Peer(0), way, &config, &FabricShelf::default()).map(drop),
        Way::Plugin => plugin(Peer(0), &config, &Cards::default()).map(drop),
        _ => Ok(()),
    };
    found.inspect_err(|why| println!("omitted: {why}")).is_ok()
}

/// The sender is the first VCI, the receiver the last.
pub(crate) struct Pair {
    pub(crate) network: Network,
    pub(crate) vcis: Vec<Vci>,
}

impl Pair {
    pub(crate) fn new(seed: u64, way: Way, config: &Config) -> Self {
        let weather = match way {
            Way::Simulator(weather) => weather,
            _ => Weather {
                packet: 0,
                window: 0,
                refuse: 0,
                delay: 0,
                get: false,
                refuse_get: 0,
                registers: false,
            },
        };
        let bounce_buffer = match way {
            Way::SharedMemory { own, .. } if own > 0 => BounceBuffer::Own(own),
            _ => config.bounce_buffer,
        };
        let config = &Config { bounce_buffer, ..config.clone() };
        let network = Network::new(seed, weather);
        let node = match way {
            Way::SharedMemory { ranks, .. } => {
                // One of the two gets one, the other makes do with small ones.
                Some(Node::create(ranks).unwrap().with_own_buffers(32 << 10, 1))
            }
            Way::Simulator(_) | Way::Tcp { .. } | Way::Fabric { .. } | Way::Plugin | Way::Loopback => None,
        };
        let (shelf, cards, plugins) = (Shelf::default(), FabricShelf::default(), Cards::default());
        let ranks = if matches!(way, Way::Loopback) { 1 } else { 2 };
        let vcis = (0..ranks)
            .map(|me| {
                let route = |peer| match way {
                    _ if peer == me => Route::Loopback,
                    Way::Simulator(_) => Route::Sim,
                    Way::Tcp { .. } => Route::Tcp,
                    Way::Fabric { .. } => Route::Fabric,
                    Way::Plugin => Route::Plugin,
                    _ => Route::Shm(peer),
                };
                let shm = node.as_ref().map(|node| {
                    let rank = me as usize;
                    node.set_pid(rank, std::process::id());
                    node.set_probe_address(rank, peer_copy::probe_address());
                    let oversubscribed = matches!(way, Way::SharedMemory { oversubscribed: true, .. });
                    Shm::new(node, rank, vec![Peer(0), Peer(1)], config, oversubscribed).unwrap()
                });
                let sim =
                    matches!(way, Way::Simulator(_)).then(|| network.join(Peer(me), Format::NATIVE, config));
                let tcp = match way {
                    Way::Tcp { buffer } => Some(tcp(Peer(me), ranks as usize, buffer, config, &shelf)),
                    _ => None,
                };
                let fabric = matches!(way, Way::Fabric { .. })
                    .then(|| fabric(Peer(me), way, config, &cards).expect("looked for before"));
                let plugin = matches!(way, Way::Plugin)
                    .then(|| plugin(Peer(me), config, &plugins).expect("looked for before"));
                let methods = Methods::new((0..ranks).map(route).collect(), Peer(me))
                    .with(shm)
                    .with(tcp)
                    .with(sim)
                    .with(fabric)
                    .with(plugin);
                Vci::new(Engine::new(config.clone()), methods)
            })
            .collect();
        Self { network, vcis }
    }

    /// Where the buffers of sender and receiver are allocated.
    pub(crate) fn heaps(&self, way: Way) -> [Option<Arc<Heap>>; 2] {
        let heap = |at: usize| self.vcis[at].methods.heap().cloned();
        match way {
            Way::SharedMemory { heap: true, .. } => [heap(0), heap(1)],
            _ => [None, None],
        }
    }

    /// The number of the VCI that receives what the first one sends.
    pub(crate) fn receiver(&self) -> usize {
        self.vcis.len() - 1
    }

    /// Lets either take a step.
    pub(crate) fn step(&mut self) {
        let at = self.network.random(self.vcis.len() as u64) as usize;
        self.vcis[at].progress();
        if self.network.random(4) == 0 {
            self.network.tick();
        }
    }

    /// Starts a send from VCI `from` to the other one.
    pub(crate) fn send(&mut self, from: usize, tag: i32, segment: Segment, synchronous: bool) -> Started {
        let to = Peer((self.receiver() - from) as u32);
        let (context, source, len) = (ContextId::WORLD, from as i32, segment.len());
        let mode = if synchronous { Mode::Synchronous } else { Mode::Standard };
        let envelope = Envelope { context, source, tag, len, mode, types: Types::UNKNOWN };
        let Vci { engine, methods, .. } = &mut self.vcis[from];
        let start = if segment.is_plain() { send::start } else { send::start_general };
        start(engine, methods, to, &envelope, segment).unwrap()
    }

    /// Starts a receive at VCI `at`.
    pub(crate) fn recv(&mut self, at: usize, source: i32, tag: i32, segment: Segment) -> RequestId {
        let Vci { engine, methods, .. } = &mut self.vcis[at];
        let pattern = Pattern { context: ContextId::WORLD, source, tag };
        recv::start(engine, methods, &pattern, segment).unwrap()
    }

    /// The status of a request that is over, which is then forgotten.
    pub(crate) fn take(&mut self, at: usize, id: RequestId) -> Option<Status> {
        let requests = &mut self.vcis[at].engine.requests;
        if !complete::is_complete(requests.get(id)?) {
            return None;
        }
        requests.remove(id).map(|request| request.status)
    }

    /// Steps until the request is over.
    pub(crate) fn finish(&mut self, at: usize, id: RequestId) -> Status {
        let began = Instant::now();
        for step in 0u64.. {
            if let Some(status) = self.take(at, id) {
                return status;
            }
            // A kernel with small buffers may wait for its own timers.
            let enough = step >= 1_000_000 && began.elapsed() > Duration::from_secs(20);
            assert!(!enough, "request {id} of VCI {at} does not end");
            self.step();
        }
        unreachable!("the steps are endless");
    }

    /// The sum of a counter over both.
    pub(crate) fn counted(&self, counter: Counter) -> u64 {
        let counts = |vci: &Vci| vci.engine.counts.get(counter) + vci.methods.counts.get(counter);
        self.vcis.iter().map(counts).sum()
    }
}
