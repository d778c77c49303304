//! Several engines in one process over the simulated network, or over TCP, driven by hand: the protocols' first test
//! bench.
//!
//! For unit tests only. Every run over the simulated network is a function of its seed; a failing test prints it.

use std::sync::Arc;

use posthaste_os::simulated_device::SimulatedDevice;

use crate::buffer::device::testing::DeviceBuf;
use crate::buffer::{OwnedBuf, UserBuf};
use crate::config::Config;
use crate::datatype::{Datatype, Format, Segment};
use crate::ids::{ContextId, Peer, RequestId};
use crate::method::bundle::{Bundle, Link};
use crate::method::mailbox::{Mailbox, PostOffice};
use crate::method::sim::{Network, Weather};
use crate::method::tcp::{Shelf, Tcp, TcpSetup};
use crate::method::{Methods, Route, Routes};
use crate::progress::Vci;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::send::Started;
use crate::pt2pt::{Engine, recv, send};
use crate::request::{Status, complete};
use crate::wire::{Envelope, Mode};

/// Calm weather: nothing is refused or delayed.
pub(crate) const CALM: Weather =
    Weather { packet: 256, window: 64, refuse: 0, delay: 0, get: true, refuse_get: 0, registers: false };

/// Rough weather: everything that may happen does.
pub(crate) const ROUGH: Weather =
    Weather { packet: 100, window: 3, refuse: 4, delay: 20, get: true, refuse_get: 3, registers: false };

/// A buffer in memory of either kind.
#[derive(Debug)]
pub(crate) enum Buffer {
    Host(OwnedBuf),
    Device(DeviceBuf),
}

impl Buffer {
    /// Zero bytes, on the device if there is one.
    pub(crate) fn new(len: usize, device: Option<&Arc<SimulatedDevice>>) -> Self {
        let Some(device) = device else { return Self::Host(OwnedBuf::new(len)) };
        let buffer = DeviceBuf::new(device, len);
        buffer.fill(&vec![0; len]);
        Self::Device(buffer)
    }

    pub(crate) fn fill(&mut self, bytes: &[u8]) {
        match self {
            Self::Host(buffer) => assert_eq!(buffer.sink().copy_from(bytes), bytes.len()),
            Self::Device(buffer) => buffer.fill(bytes),
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Host(buffer) => buffer.source().to_vec(),
            Self::Device(buffer) => buffer.bytes(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Host(buffer) => buffer.len(),
            Self::Device(buffer) => buffer.len(),
        }
    }

    pub(crate) fn user_buf(&self) -> UserBuf {
        match self {
            Self::Host(buffer) => buffer.user_buf(),
            Self::Device(buffer) => buffer.base().buf(),
        }
    }

    pub(crate) fn is_on_device(&self) -> bool {
        matches!(self, Self::Device(_))
    }

    /// Elements of a datatype from its beginning.
    pub(crate) fn elements(&self, count: u64, datatype: &Datatype) -> Segment {
        match self {
            Self::Host(buffer) => Segment::new(buffer.user_buf(), count, datatype),
            Self::Device(buffer) => Segment::elements_at(buffer.base(), count, datatype),
        }
    }

    /// The same, typed.
    pub(crate) fn typed(&self, count: u64, datatype: &Datatype) -> Segment {
        match self {
            Self::Host(buffer) => Segment::typed(buffer.user_buf(), count, datatype),
            Self::Device(buffer) => Segment::typed_at(buffer.base(), count, datatype),
        }
    }

    /// All of its bytes.
    pub(crate) fn all(&self) -> Segment {
        self.elements(self.len() as u64, &Datatype::byte())
    }
}

/// Engines on one network.
pub(crate) struct Bench {
    pub(crate) network: Network,
    /// Networks beside it, where engines have several links.
    pub(crate) others: Vec<Network>,
    pub(crate) vcis: Vec<Vci>,
}

impl Bench {
    pub(crate) fn new(seed: u64, engines: u32, weather: Weather, config: &Config) -> Self {
        Self::with_formats(seed, &vec![Format::NATIVE; engines as usize], weather, config)
    }

    /// Jobs of these sizes, one after the other: a process knows those of its own job.
    pub(crate) fn of_jobs(seed: u64, sizes: &[u32], weather: Weather, config: &Config) -> Self {
        let network = Network::new(seed, weather);
        let mut vcis = Vec::new();
        for size in sizes {
            let first = vcis.len() as u32;
            for me in 0..*size {
                let routes = Routes::new(*size, Route::Sim).with(Peer(me), Route::Loopback);
                let sim = network.join(Peer(first + me), Format::NATIVE, config);
                let mut methods = Methods::new(routes, Peer(me)).with(Some(sim));
                (0..*size).for_each(|peer| methods.name_simulated(Peer(peer), Peer(first + peer)));
                vcis.push(Vci::new(Engine::new(config.clone()), methods));
            }
        }
        Self { network, others: Vec::new(), vcis }
    }

    /// Engines of some of very many processes, by their numbers.
    pub(crate) fn of_some(
        seed: u64,
        processes: u32,
        some: &[u32],
        weather: Weather,
        config: &Config,
    ) -> Self {
        let network = Network::new(seed, weather);
        let vci = |me: &u32| {
            let routes = Routes::new(processes, Route::Sim).with(Peer(*me), Route::Loopback);
            let sim = network.join(Peer(*me), Format::NATIVE, config);
            Vci::new(Engine::new(config.clone()), Methods::new(routes, Peer(*me)).with(Some(sim)))
        };
        let vcis = some.iter().map(vci).collect();
        Self { network, others: Vec::new(), vcis }
    }

    /// One engine for each format, in which its users' data is.
    pub(crate) fn with_formats(seed: u64, formats: &[Format], weather: Weather, config: &Config) -> Self {
        let network = Network::new(seed, weather);
        let engines = formats.len() as u32;
        let vcis = (0..engines)
            .zip(formats)
            .map(|(me, format)| {
                let routes =
                    (0..engines).map(|peer| if peer == me { Route::Loopback } else { Route::Sim }).collect();
                let sim = network.join(Peer(me), *format, config);
                let methods = Methods::new(routes, Peer(me)).with(Some(sim));
                let mut engine = Engine::new(config.clone());
                engine.format = *format;
                Vci::new(engine, methods)
            })
            .collect();
        Self { network, others: Vec::new(), vcis }
    }

    /// The same with several links between any two engines, each through a network with a weather of its own.
    pub(crate) fn over_links(seed: u64, formats: &[Format], weathers: &[Weather], config: &Config) -> Self {
        let networks: Vec<Network> =
            (0..).zip(weathers).map(|(n, weather)| Network::new(seed + n * 1000, *weather)).collect();
        let engines = formats.len() as u32;
        let vcis = (0..engines)
            .zip(formats)
            .map(|(me, format)| {
                let sim = |(n, net): (usize, &Network)| {
                    Link::sim(format!("net{n}"), net.join(Peer(me), *format, config))
                };
                let links = networks.iter().enumerate().map(sim).collect();
                let bundle = Bundle::new(Peer(me), links, config);
                let route = |peer| if peer == me { Route::Loopback } else { Route::Bundle };
                let methods = Methods::new((0..engines).map(route).collect(), Peer(me));
                let mut engine = Engine::new(config.clone());
                engine.format = *format;
                Vci::new(engine, methods.with(Some(bundle)))
            })
            .collect();
        let mut networks = networks.into_iter();
        let network = networks.next().expect("a link");
        Self { network, others: networks.collect(), vcis }
    }

    /// The same by the smallest method there can be; the network serves for random numbers only.
    pub(crate) fn over_mailboxes(seed: u64, engines: u32, config: &Config) -> Self {
        let (network, office) = (Network::new(seed, CALM), PostOffice::default());
        let vci = |me| {
            let routes = Routes::new(engines, Route::Mailbox).with(me, Route::Loopback);
            let methods = Methods::new(routes, me).with(Some(Mailbox::new(me, office.clone())));
            Vci::new(Engine::new(config.clone()), methods)
        };
        let vcis = (0..engines).map(|me| vci(Peer(me))).collect();
        Self { network, others: Vec::new(), vcis }
    }

    /// The same over TCP, between this host's own addresses; the network serves for random numbers only.
    pub(crate) fn over_tcp(seed: u64, formats: &[Format], config: &Config) -> Self {
        let (network, shelf) = (Network::new(seed, CALM), Shelf::default());
        let vcis = (0..)
            .zip(formats)
            .map(|(me, format)| {
                let peers = formats.len();
                let (me, secret, node) = (Peer(me), [7; 32], format!("node-{me}"));
                let setup = TcpSetup { me, peers, secret, format: *format, node };
                let (tcp, card) = Tcp::new(setup, config, Box::new(shelf.clone())).expect("a listener");
                shelf.put(me, &card);
                let route = |peer| if Peer(peer) == me { Route::Loopback } else { Route::Tcp };
                let methods = Methods::new((0..peers as u32).map(route).collect(), me).with(Some(tcp));
                let mut engine = Engine::new(config.clone());
                engine.format = *format;
                Vci::new(engine, methods)
            })
            .collect();
        Self { network, others: Vec::new(), vcis }
    }

    /// Lets a random engine take a step.
    pub(crate) fn step(&mut self) {
        let at = self.network.random(self.vcis.len() as u64) as usize;
        self.vcis[at].progress();
        if self.network.random(4) == 0 {
            self.network.tick();
            self.others.iter().for_each(Network::tick);
        }
    }

    /// Starts a send on the world's context; the sender's rank is its engine's number.
    pub(crate) fn send(
        &mut self,
        from: usize,
        to: u32,
        tag: i32,
        data: &OwnedBuf,
        synchronous: bool,
    ) -> Started {
        let segment = Segment::new(data.user_buf(), data.len() as u64, &Datatype::byte());
        self.send_segment(from, to, tag, segment, synchronous)
    }

    pub(crate) fn send_segment(
        &mut self,
        from: usize,
        to: u32,
        tag: i32,
        segment: Segment,
        synchronous: bool,
    ) -> Started {
        let (len, types) = (segment.len(), segment.types());
        let (context, source) = (ContextId::WORLD, from as i32);
        let mode = if synchronous { Mode::Synchronous } else { Mode::Standard };
        let envelope = Envelope { context, source, tag, len, mode, types };
        let Vci { engine, methods, .. } = &mut self.vcis[from];
        let start = if segment.is_plain() { send::start } else { send::start_general };
        start(engine, methods, Peer(to), &envelope, segment).expect("room for a request")
    }

    /// Starts a receive on the world's context.
    pub(crate) fn recv(&mut self, at: usize, source: i32, tag: i32, data: &OwnedBuf) -> RequestId {
        self.recv_segment(
            at,
            source,
            tag,
            Segment::new(data.user_buf(), data.len() as u64, &Datatype::byte()),
        )
    }

    pub(crate) fn recv_segment(&mut self, at: usize, source: i32, tag: i32, segment: Segment) -> RequestId {
        let Vci { engine, methods, .. } = &mut self.vcis[at];
        let pattern = Pattern { context: ContextId::WORLD, source, tag };
        recv::start(engine, methods, &pattern, segment).expect("room for a request")
    }

    /// The status of a request that is over, which it then forgets.
    pub(crate) fn take(&mut self, at: usize, id: RequestId) -> Option<Status> {
        let engine = &mut self.vcis[at].engine;
        if !complete::is_complete(engine.requests.get(id)?) {
            return None;
        }
        recv::finish(engine, id);
        engine.requests.remove(id).map(|request| request.status)
    }

    /// Steps until the request is over.
    pub(crate) fn finish(&mut self, at: usize, id: RequestId) -> Status {
        for _ in 0..1_000_000 {
            if let Some(status) = self.take(at, id) {
                return status;
            }
            self.step();
        }
        panic!("request {id} of engine {at} does not end");
    }
}
