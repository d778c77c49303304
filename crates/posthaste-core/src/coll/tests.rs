//! Collective operations against what they should give, over the simulated network.
//!
//! Values are compositions of affine maps modulo 2^64: associative, not commutative, and exact, so every wrong
//! order, lost or doubled operand shows. About half of the buffers lie in memory of a simulated device.
//!
//! Here is what the tests share; the other files have them.

use std::cell::{Cell, LazyCell};
use std::sync::Arc;

use posthaste_os::heap::Heap;
use posthaste_os::mem::{Sink, Source};
use posthaste_os::node::Node;
use posthaste_os::simulated_device::SimulatedDevice;

use crate::buffer::UserBuf;
use crate::buffer::device::testing::simulated;
use crate::coll::choose::Cpus;
use crate::coll::{self, Accord, Blocks, Boards, Operand, Reduced, Schedule, Team, TypedBlocks, Walk};
use crate::config::Config;
use crate::datatype::Datatype;
use crate::error::{ErrorClass, Result};
use crate::group::Group;
use crate::ids::{ContextId, Peer, RequestId};
use crate::method::sim::Weather;
use crate::op::{Op, Predefined};
use crate::progress::Vci;
use crate::request::Status;
use crate::testing::{Bench, Buffer, CALM, ROUGH};

mod behind;
mod copies;
mod costs;
mod data;
mod failures;
mod levels;
mod million;
mod plans;
mod reductions;
mod several;
mod shapes;
mod straight;

const SIZES: [u32; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16];

thread_local! {
    /// One for each test.
    static DEVICE: LazyCell<Arc<SimulatedDevice>> = LazyCell::new(|| simulated(5, 0));
    static BOARDS: LazyCell<Arc<Boards>> =
        LazyCell::new(|| Boards::new(Heap::new(&Node::create(1).expect("memory"), 0), 1, 0));
    static BUFFERS: Cell<u32> = const { Cell::new(0) };
}

/// 64-bit words in memory of the processor or of a device.
struct Words(Buffer);

impl Words {
    fn new(words: &[u64]) -> Self {
        let mut buf = Self::zeros(words.len());
        buf.fill(words);
        buf
    }

    fn zeros(len: usize) -> Self {
        let number = BUFFERS.replace(BUFFERS.get() + 1);
        let here = number.wrapping_mul(0x9e37_79b9) >> 31 == 0;
        DEVICE.with(|device| Self(Buffer::new(len * 8, Some(&**device).filter(|_| !here))))
    }

    fn fill(&mut self, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.0.fill(&bytes);
    }

    fn buf(&self) -> UserBuf {
        self.0.user_buf()
    }

    fn get(&self) -> Vec<u64> {
        words(self.0.bytes()[..].into())
    }
}

fn words(source: Source<'_>) -> Vec<u64> {
    let bytes = source.to_vec();
    bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))).collect()
}

/// One affine map.
fn pair() -> Datatype {
    let pair = Datatype::contiguous(2, &Datatype::of::<u64>()).expect("two words");
    pair.commit();
    pair
}

/// `left` first, then `right`.
fn composed(left: [u64; 2], right: [u64; 2]) -> [u64; 2] {
    let [a, b] = left;
    let [c, d] = right;
    [a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)]
}

/// The operation on maps. Commutative operations are tested by what `MPI_SUM` gives.
fn compose() -> Op {
    let function = |input: *mut u8, inout: *mut u8, count: u64, _: &Datatype| {
        let [input, inout] = [input, inout].map(|at| UserBuf::none().offset(at.expose_provenance() as isize));
        let len = count as usize * 16;
        let (left, right) = (words(input.source(len)), words(inout.source(len)));
        let mut out = Vec::new();
        for (left, right) in left.chunks(2).zip(right.chunks(2)) {
            for word in composed([left[0], left[1]], [right[0], right[1]]) {
                out.extend(word.to_le_bytes());
            }
        }
        let mut sink: Sink<'_> = inout.sink(len);
        sink.copy_from(&out);
    };
    Op::user(function, false)
}

/// The map that rank `rank` contributes as element `element`.
fn map(rank: u32, element: u64) -> [u64; 2] {
    [u64::from(rank) * 2 + 3 + element, u64::from(rank) * 1_000_003 + element * 17 + 1]
}

/// `count` maps of a rank.
fn maps(rank: u32, count: u64) -> Vec<u64> {
    (0..count).flat_map(|element| map(rank, element)).collect()
}

/// The composition over ranks, element by element.
fn folded(ranks: impl Iterator<Item = u32> + Clone, elements: std::ops::Range<u64>) -> Vec<u64> {
    let fold = |element| ranks.clone().map(|rank| map(rank, element)).reduce(composed).expect("a rank");
    elements.flat_map(fold).collect()
}

/// Engines, and the team that each of them sees.
struct Room {
    bench: Bench,
    teams: Vec<Team>,
    seed: u64,
}

impl Room {
    fn new(n: u32, oversubscribed: bool, seed: u64, weather: Weather) -> Self {
        Self::sharing(n, if oversubscribed { crowded(seed) } else { Cpus::Own }, seed, weather)
    }

    fn sharing(n: u32, cpus: Cpus, seed: u64, weather: Weather) -> Self {
        let config = Config { eager_limit: 90, ..Config::default() };
        let bench = Bench::new(seed, n, weather, &config);
        Self { bench, teams: teams(ContextId::WORLD, n, cpus), seed }
    }

    fn start(&mut self, at: usize, schedule: Schedule) -> RequestId {
        let Vci { engine, methods, running, .. } = &mut self.bench.vcis[at];
        running.start(engine, methods, schedule).expect("room for a request")
    }

    fn start_again(&mut self, at: usize, schedule: &Arc<Schedule>) -> RequestId {
        let Vci { engine, methods, running, .. } = &mut self.bench.vcis[at];
        running.start_again(engine, methods, schedule).expect("room for a request")
    }

    /// Steps until all requests are over.
    fn finish(&mut self, ids: &[(usize, RequestId)]) -> Vec<Status> {
        let mut statuses = vec![None; ids.len()];
        for _ in 0..4_000_000 {
            for ((at, id), status) in ids.iter().zip(&mut statuses) {
                if status.is_none() {
                    *status = self.bench.take(*at, *id);
                }
            }
            if statuses.iter().all(Option::is_some) {
                return statuses.into_iter().flatten().collect();
            }
            for _ in 0..8 {
                self.bench.step();
            }
        }
        panic!("an operation of {} members does not end, seed {}", self.teams.len(), self.seed);
    }

    /// Runs one operation on all ranks, which start at random times; some start it and some walk through it, and of
    /// those some lose patience.
    fn run(&mut self, make: impl Fn(&Team, u32) -> Result<Schedule>) -> Vec<Status> {
        let mut ids = Vec::new();
        let mut walks = Vec::new();
        let first = self.bench.network.random(self.teams.len() as u64) as usize;
        for i in 0..self.teams.len() {
            let at = (first + i) % self.teams.len();
            let schedule = make(&self.teams[at], at as u32).expect("right arguments");
            if self.bench.network.random(2) == 0 {
                ids.push((at, self.start(at, schedule)));
            } else {
                walks.push((at, Walk::new(schedule)));
            }
            for _ in 0..self.bench.network.random(10) {
                self.bench.step();
            }
        }
        let mut walked = self.walk(walks, &mut ids);
        let over = self.finish(&ids);
        walked.extend(ids.into_iter().map(|(at, _)| at).zip(over));
        walked.sort_by_key(|(at, _)| *at);
        walked.into_iter().map(|(_, status)| status).collect()
    }

    /// Goes on with walks until they are over or have become requests.
    fn walk(
        &mut self,
        mut walks: Vec<(usize, Walk)>,
        ids: &mut Vec<(usize, RequestId)>,
    ) -> Vec<(usize, Status)> {
        let mut over = Vec::new();
        while let Some((at, mut walk)) = walks.pop() {
            let patient = self.bench.network.random(200) > 0;
            let Vci { engine, methods, running, .. } = &mut self.bench.vcis[at];
            if !patient {
                ids.push((at, running.go_on(engine, methods, walk).expect("room for a request")));
            } else if walk.look(engine, methods, running) {
                let error = running.over(engine, methods, walk).err();
                over.push((at, Status { error, ..Status::EMPTY }));
            } else {
                let place = self.bench.network.random(walks.len() as u64 + 1) as usize;
                walks.insert(place, (at, walk));
            }
            self.bench.step();
        }
        over
    }

    /// As `run`, and everything goes well.
    fn succeed(&mut self, make: impl Fn(&Team, u32) -> Result<Schedule>) {
        for (rank, status) in self.run(make).into_iter().enumerate() {
            if let Some(error) = status.error {
                panic!("rank {rank} of {}: {error} (seed {})", self.teams.len(), self.seed);
            }
        }
        self.all_leave();
    }

    /// Steps until nothing is under way any more, and nothing stays behind.
    fn all_leave(&mut self) {
        let over = |vci: &Vci| vci.running.is_empty() && vci.running.has_left();
        for _ in 0..1_000_000 {
            if self.bench.vcis.iter().all(over) {
                break;
            }
            self.bench.step();
        }
        for vci in &self.bench.vcis {
            assert!(over(vci) && vci.engine.requests.is_empty(), "seed {}", self.seed);
        }
    }
}

/// How CPUs are shared: of any hosts, or so many of one.
fn crowded(seed: u64) -> Cpus {
    const CROWDS: [Cpus; 5] =
        [Cpus::OneHost(2), Cpus::Shared, Cpus::OneHost(1), Cpus::OneHost(3), Cpus::OneHost(12)];
    // Not in step with what else tests do every second or third time.
    CROWDS[(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % CROWDS.len()]
}

fn teams(context: ContextId, n: u32, cpus: Cpus) -> Vec<Team> {
    let group = Arc::new(Group::range(0, n));
    let team = |rank| Team::new(context, group.clone(), rank, Accord::of_cpus(cpus != Cpus::Own));
    let teams: Vec<Team> = (0..n).map(team).collect();
    if let Cpus::OneHost(cpus) = cpus {
        // Who has boards and who has none need not agree.
        let crowd = teams.iter().enumerate();
        BOARDS.with(|boards| {
            crowd.for_each(|(at, team)| team.is_crowd(cpus, Some(&**boards).filter(|_| at % 2 == 0)));
        });
    }
    teams
}

/// All sizes, oversubscribed and not, in all weathers.
fn rooms(mut test: impl FnMut(&mut Room, u32)) {
    let mut seed = 1;
    for n in SIZES {
        for (oversubscribed, weather) in [(false, CALM), (true, ROUGH), (false, ROUGH)] {
            seed += 1;
            test(&mut Room::new(n, oversubscribed, seed, weather), n);
        }
    }
}
