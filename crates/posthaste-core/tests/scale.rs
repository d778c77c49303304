//! A thousand ranks in one process: only those that talk are connected, and a peer that nobody talks to costs a few words.
//!
//! Over the simulated network and over real TCP the same pairs talk: a ring, a halo exchange on a grid, random pairs, and
//! then everybody with everybody among 64. Each time connections are counted. What the tables of a rank take is counted
//! by the allocator, before anybody has talked and after those 64 have. What this prints stands in docs/tcp.md. And what a window
//! over a million ranks takes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

use posthaste_core::buffer::Base;
use posthaste_core::comm::Comm;
use posthaste_core::config::Config;
use posthaste_core::datatype::{Format, Segment, Types};
use posthaste_core::ids::{ContextId, Peer, RequestId};
use posthaste_core::method::sim::{Network, Weather};
use posthaste_core::method::tcp::{Shelf, Tcp, TcpSetup};
use posthaste_core::method::{Methods, Route, Routes};
use posthaste_core::progress::Vci;
use posthaste_core::pt2pt::matching::Pattern;
use posthaste_core::pt2pt::send::Started;
use posthaste_core::pt2pt::{Engine, recv, send};
use posthaste_core::request::complete;
use posthaste_core::win::{LockKind, Window};
use posthaste_core::wire::{Envelope, Mode};
use posthaste_os::allocated::Counting;
use posthaste_os::process;

#[global_allocator]
static ALLOCATED: Counting = Counting::new();

const RANKS: u32 = 1000;
/// Columns of the grid.
const COLUMNS: u32 = 40;
/// Those among which everybody talks to everybody in the end.
const DENSE: u32 = 64;
/// Bytes that a peer may cost that nobody talks to: its part of a page that others have made.
const IDLE: f64 = 1.0;
/// Descriptors that a rank needs in this process: a listener, an epoll set, its ends of about ten connections.
const DESCRIPTORS: u64 = 14;

const CALM: Weather =
    Weather { packet: 256, window: 64, refuse: 0, delay: 0, get: true, refuse_get: 0, registers: false };

/// Ranks that talk to each other, in pairs, the lower one first.
type Pairs = BTreeSet<(u32, u32)>;

fn pairs(some: impl Iterator<Item = (u32, u32)>) -> Pairs {
    some.filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect()
}

/// A ring, a periodic grid of two dimensions with four neighbours each, and a random partner for each.
fn sparse(ranks: u32) -> Pairs {
    let ring = (0..ranks).map(|rank| (rank, (rank + 1) % ranks));
    let halo = (0..ranks).flat_map(|rank| {
        let right = rank / COLUMNS * COLUMNS + (rank + 1) % COLUMNS;
        [(rank, (rank + COLUMNS) % ranks), (rank, right)]
    });
    let random = Network::new(7, CALM);
    let random = (0..ranks).map(|rank| (rank, random.random(u64::from(ranks)) as u32));
    pairs(ring.chain(halo).chain(random))
}

/// All pairs of some ranks, `apart` from each other.
fn dense(apart: u32) -> Pairs {
    pairs((0..DENSE).flat_map(|a| (0..a).map(move |b| (a * apart, b * apart))))
}

/// Some ranks of a job, in one process.
struct Job {
    vcis: BTreeMap<u32, Vci>,
    network: Network,
}

impl Job {
    fn new(ranks: u32, vci: impl Fn(u32, &Network) -> Vci) -> Self {
        let network = Network::new(1, CALM);
        Self { vcis: (0..ranks).map(|rank| (rank, vci(rank, &network))).collect(), network }
    }

    fn over_tcp(ranks: u32, size: u32) -> Self {
        let shelf = Shelf::default();
        Self::new(ranks, |rank, _| by_tcp(rank, size, &shelf))
    }

    /// Messages with the rank of their sender between all pairs, first from the lower ranks and then from the higher ones.
    fn talk(&mut self, pairs: &Pairs) {
        let up: Vec<(u32, u32)> = pairs.iter().copied().collect();
        let down: Vec<(u32, u32)> = pairs.iter().map(|&(a, b)| (b, a)).collect();
        for ways in [up, down] {
            let own: Vec<u32> = ways.iter().map(|way| way.0).collect();
            let mut come = vec![u32::MAX; ways.len()];
            let mut open: Vec<(u32, RequestId)> = Vec::new();
            for (&(from, to), into) in ways.iter().zip(come.chunks_mut(1)) {
                open.push((to, self.receive(to, from, into)));
            }
            for (&(from, to), data) in ways.iter().zip(own.chunks(1)) {
                open.extend(self.send(from, to, data).map(|id| (from, id)));
            }
            self.finish(open);
            assert_eq!(come, own);
        }
    }

    fn receive(&mut self, at: u32, from: u32, into: &mut [u32]) -> RequestId {
        // SAFETY: four bytes; the caller keeps them until the message is there.
        let segment = Segment::bytes_at(unsafe { Base::new(into.as_mut_ptr().cast()) }, 4);
        let Vci { engine, methods, .. } = self.vcis.get_mut(&at).unwrap();
        let pattern = Pattern { context: ContextId::WORLD, source: from as i32, tag: 1 };
        recv::start(engine, methods, &pattern, segment).unwrap()
    }

    fn send(&mut self, from: u32, to: u32, data: &[u32]) -> Option<RequestId> {
        // SAFETY: four bytes, which are only read; the caller keeps them until the message has left.
        let segment = Segment::bytes_at(unsafe { Base::new(data.as_ptr().cast_mut().cast()) }, 4);
        let (context, source, types) = (ContextId::WORLD, from as i32, Types::UNKNOWN);
        let envelope = Envelope { context, source, tag: 1, len: segment.len(), mode: Mode::Standard, types };
        let Vci { engine, methods, .. } = self.vcis.get_mut(&from).unwrap();
        match send::start(engine, methods, Peer(to), &envelope, segment).unwrap() {
            Started::Complete => None,
            Started::Request(id) => Some(id),
        }
    }

    /// Lets all take steps until these requests are over.
    fn finish(&mut self, mut open: Vec<(u32, RequestId)>) {
        for _ in 0..10_000 {
            if open.is_empty() {
                return;
            }
            for vci in self.vcis.values_mut() {
                vci.methods.look_at_sockets();
                vci.progress();
            }
            self.network.tick();
            open.retain(|(at, id)| {
                let requests = &mut self.vcis.get_mut(at).unwrap().engine.requests;
                let over = requests.get(*id).is_none_or(complete::is_complete);
                let ended = if over { requests.remove(*id) } else { None };
                let error = ended.and_then(|request| request.status.error);
                assert!(error.is_none(), "{error:?}");
                !over
            });
        }
        panic!("{} requests do not end", open.len());
    }
}

fn vci(methods: Methods) -> Vci {
    Vci::new(Engine::new(Config::default()), methods)
}

fn routes(me: u32, size: u32, route: Route) -> Routes {
    Routes::new(size, route).with(Peer(me), Route::Loopback)
}

fn by_simulator(rank: u32, size: u32, network: &Network) -> Vci {
    let sim = network.join(Peer(rank), Format::NATIVE, &Config::default());
    vci(Methods::new(routes(rank, size, Route::Sim), Peer(rank)).with(Some(sim)))
}

fn by_tcp(rank: u32, size: u32, shelf: &Shelf) -> Vci {
    let (me, peers, secret) = (Peer(rank), size as usize, [7; 32]);
    let setup = TcpSetup { me, peers, secret, format: Format::NATIVE, node: "here".into() };
    // One address is enough, and all of them are this machine's.
    let config = Config { tcp_interfaces: "lo".into(), ..Config::default() };
    let (tcp, card) = Tcp::new(setup, &config, Box::new(shelf.clone())).unwrap();
    shelf.put(me, &card);
    vci(Methods::new(routes(rank, size, Route::Tcp), me).with(Some(tcp)))
}

/// Sockets of this process.
fn sockets() -> usize {
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    targets.filter(|target| target.to_string_lossy().starts_with("socket:")).count()
}

/// One test, because allocations and descriptors are counted for all threads.
#[test]
fn ranks_that_do_not_talk_are_not_connected_and_cost_a_few_words() {
    tables_of_one_rank();
    a_window_of_a_million();
    tables_after_an_all_to_all();
    let network = Network::new(1, CALM);
    a_rank_of_a_million("simulated", |rank| by_simulator(rank, 1_000_000, &network), &network);
    let shelf = Shelf::default();
    a_rank_of_a_million("TCP", |rank| by_tcp(rank, 1_000_000, &shelf), &network);
    let mut job = Job::new(RANKS, |rank, network| by_simulator(rank, RANKS, network));
    connections_are_pairs_that_talk("simulated", &mut job, RANKS, |job| job.network.connections());
    let ranks = (process::allow_open_files(DESCRIPTORS * u64::from(RANKS)) / DESCRIPTORS) as u32;
    let ranks = ranks.min(RANKS) / COLUMNS * COLUMNS;
    let mut job = Job::over_tcp(ranks, ranks);
    let listeners = sockets();
    // Both ends of a connection are in this process.
    connections_are_pairs_that_talk("TCP", &mut job, ranks, |_| (sockets() - listeners) / 2);
}

/// What a window takes does not depend on how many members it has, but on how many of them are used, whether their memory is alike or
/// not.
fn a_window_of_a_million() {
    const SIZE: u32 = 1_000_000;
    let window_of = |size: u32, same: Option<u64>| {
        let comm = Arc::new(Comm::world(1, size));
        let before = ALLOCATED.bytes();
        let window = Window::counted(comm, 8, same);
        let taken = ALLOCATED.bytes() - before;
        (window, taken)
    };
    for same in [Some(4096), None] {
        let (_, few) = window_of(8192, same);
        let (window, many) = window_of(SIZE, same);
        assert!(many < few + 8192, "a window of 8192 takes {few} bytes, one of a million {many}");
        let targets: Vec<usize> = (0..SIZE as usize).step_by(1000).collect();
        let before = ALLOCATED.bytes();
        window.count_asked(&targets);
        let each = (ALLOCATED.bytes() - before) as f64 / targets.len() as f64;
        println!("a window of a million, alike: {}: {many} bytes, {each:.0} for each target", same.is_some());
        // As docs/windows.md says.
        assert!(if same.is_some() { each == 0.0 } else { each < 300.0 });
    }
    let (window, many) = window_of(SIZE, Some(4096));
    let before = ALLOCATED.bytes();
    let targets = [3, 500_000, 500_001, 999_999];
    for target in targets {
        window.epochs().check_lock(target).unwrap();
        window.epochs().lock(target, LockKind::Shared, false);
    }
    let used = ALLOCATED.bytes() - before;
    assert!(used < 3 * 4096 + 512, "to lock {} targets takes {used} bytes", targets.len());
    println!("a window of a million: {many} bytes, and {used} with {} targets locked", targets.len());
}

/// A rank that has talked to nobody, in jobs of two sizes.
fn tables_of_one_rank() {
    let sizes = [RANKS, 1_000_000];
    let [few, many] = sizes.map(|size| {
        let before = ALLOCATED.bytes();
        let _rank = (by_tcp(0, size, &Shelf::default()), Comm::world(0, size));
        ALLOCATED.bytes() - before
    });
    let idle = (many as f64 - few as f64) / f64::from(sizes[1] - sizes[0]);
    println!(
        "tables of a rank: {few} bytes among {RANKS}, {many} among {}: {idle} for an idle peer",
        sizes[1]
    );
    assert!(idle < IDLE);
}

/// A rank of a job of a million, with a duplicate of its world, before its first message and after it has talked to 20
/// others across the whole range.
fn a_rank_of_a_million(name: &str, vci: impl Fn(u32) -> Vci, network: &Network) {
    const SIZE: u32 = 1_000_000;
    let before = ALLOCATED.bytes();
    let world = Comm::world(0, SIZE);
    let found = || Ok(ContextId::allocated(0, 0, ContextId::FIRST_COUNT).unwrap());
    let copy = world.plan_dup(found).unwrap().1.finish().unwrap().unwrap();
    assert_eq!(copy.size(), SIZE as i32);
    let rank = vci(0);
    let silent = ALLOCATED.bytes() - before;
    let others: Vec<u32> = (1..=20).map(|step| step * (SIZE / 20) - 1).collect();
    let vcis = others.iter().map(|other| (*other, vci(*other)));
    let mut job = Job { vcis: vcis.chain([(0, rank)]).collect(), network: network.clone() };
    let made = ALLOCATED.bytes();
    job.talk(&pairs(others.iter().map(|other| (0, *other))));
    // Of each pair's two ends one is the rank's own.
    let talking = silent + (ALLOCATED.bytes() - made) / 2;
    println!(
        "{name}, a rank of {SIZE}: {silent} bytes before its first message, {talking} after it has talked to 20"
    );
    assert!(silent < 1 << 20 && talking < 2 << 20);
}

/// 64 ranks that have talked to each other, in jobs of two sizes.
fn tables_after_an_all_to_all() {
    let sizes = [RANKS, 10 * RANKS];
    let [few, many] = sizes.map(|size| {
        let before = ALLOCATED.bytes();
        let mut job = Job::over_tcp(DENSE, size);
        let made = ALLOCATED.bytes();
        job.talk(&dense(1));
        let each = |bytes| bytes as f64 / f64::from(DENSE);
        (each(ALLOCATED.bytes() - before), each(ALLOCATED.bytes() - made) / f64::from(DENSE - 1))
    });
    let idle = (many.0 - few.0) / f64::from(sizes[1] - sizes[0]);
    println!("after all-to-all among {DENSE}: {idle} bytes for an idle peer, {:.0} for one talked to", few.1);
    assert!(idle < IDLE);
}

fn connections_are_pairs_that_talk(name: &str, job: &mut Job, ranks: u32, count: impl Fn(&Job) -> usize) {
    let mut talking = Pairs::new();
    for more in [sparse(ranks), dense(ranks / DENSE)] {
        job.talk(&more);
        talking.extend(&more);
        let connections = count(job);
        println!("{name}, {ranks} ranks: {} pairs talk, {connections} connections", talking.len());
        assert_eq!(connections, talking.len());
    }
}
