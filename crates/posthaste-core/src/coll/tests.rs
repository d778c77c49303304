//! Collective operations against what they should give, over the simulated network.
//!
//! Values are compositions of affine maps modulo 2^64: associative, not commutative, and exact, so every wrong
//! order, lost or doubled operand shows. About half of the buffers lie in memory of a simulated device.

use std::cell::{Cell, LazyCell};
use std::sync::Arc;

use posthaste_os::mem::{Sink, Source};
use posthaste_os::simulated_device::SimulatedDevice;

use crate::buffer::UserBuf;
use crate::buffer::device::testing::simulated;
use crate::coll::{self, Blocks, Operand, Reduced, Schedule, Team, TypedBlocks, Walk};
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

const SIZES: [u32; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16];

thread_local! {
    /// One for each test.
    static DEVICE: LazyCell<Arc<SimulatedDevice>> = LazyCell::new(|| simulated(5, 0));
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
        let config = Config { eager_limit: 90, ..Config::default() };
        let bench = Bench::new(seed, n, weather, &config);
        Self { bench, teams: teams(ContextId::WORLD, n, oversubscribed), seed }
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
                walks.push((at, self.bench.vcis[at].running.walk(schedule)));
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
            } else if walk.look(engine, methods) {
                let error = running.over(walk).err();
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
        for vci in &self.bench.vcis {
            assert!(vci.running.is_empty() && vci.engine.requests.is_empty(), "seed {}", self.seed);
        }
    }
}

fn teams(context: ContextId, n: u32, oversubscribed: bool) -> Vec<Team> {
    let group = Arc::new(Group::range(0, n));
    (0..n).map(|rank| Team::new(context, group.clone(), rank, oversubscribed)).collect()
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

#[test]
fn barrier_waits_for_everybody() {
    rooms(|room, n| {
        let mut ids = Vec::new();
        for at in 0..n as usize {
            for _ in 0..20 * n {
                room.bench.step();
            }
            for (at, id) in &ids {
                assert!(room.bench.take(*at, *id).is_none(), "rank {at} left early, seed {}", room.seed);
            }
            let schedule = coll::barrier(&room.teams[at]);
            ids.push((at, room.start(at, schedule)));
        }
        assert!(room.finish(&ids).iter().all(|status| status.error.is_none()));
    });
}

#[test]
fn bcast_gives_everybody_the_data_of_the_root() {
    let spaced = Datatype::resized(&Datatype::of::<u64>(), 0, 16).expect("a type with gaps");
    spaced.commit();
    rooms(|room, n| {
        for (root, count) in [(0, 3u64), (n - 1, 40), (n / 2, 9000)] {
            let sent: Vec<u64> = (0..count).map(|i| i * i + 7).collect();
            let bufs: Vec<Words> = (0..n)
                .map(|rank| match (rank == root, rank % 2) {
                    (false, _) => Words::zeros(2 * count as usize),
                    (true, 0) => Words::new(&sent),
                    (true, _) => Words::new(&sent.iter().flat_map(|word| [*word, 9]).collect::<Vec<_>>()),
                })
                .collect();
            // Odd ranks have gaps between the words.
            room.succeed(|team, rank| {
                let datatype = if rank % 2 == 0 { Datatype::of::<u64>() } else { spaced.clone() };
                let data = Operand::new(bufs[rank as usize].buf(), count, &datatype);
                coll::bcast(team, data, root as i32)
            });
            for (rank, buf) in (0..n).zip(&bufs).filter(|(rank, _)| *rank != root) {
                let got = buf.get();
                let got: Vec<u64> = if rank % 2 == 0 {
                    got[..count as usize].to_vec()
                } else {
                    got.iter().step_by(2).copied().collect()
                };
                assert_eq!(got, sent, "rank {rank} of {n}, root {root}, seed {}", room.seed);
            }
        }
    });
}

#[test]
fn reductions_keep_the_order_of_ranks() {
    let (pair, compose) = (pair(), compose());
    rooms(|room, n| {
        // The last ones are long enough to be cut into blocks.
        let long = u64::from(n.max(8)) * 128 + 5;
        for (count, in_place) in [(1, false), (1, true), (5, false), (long, true), (long, false)] {
            let expected = folded(0..n, 0..count);
            let sends: Vec<Words> = (0..n).map(|rank| Words::new(&maps(rank, count))).collect();
            let fresh = || -> Vec<Words> {
                let operand = |rank| if in_place { maps(rank, count) } else { vec![0; 2 * count as usize] };
                (0..n).map(|rank| Words::new(&operand(rank))).collect()
            };
            let label = format!("{n} ranks, {count} elements, in place {in_place}, seed {}", room.seed);

            let recvs = fresh();
            room.succeed(|team, rank| {
                let send = (!in_place).then(|| sends[rank as usize].buf());
                coll::allreduce(team, Reduced::new(send, recvs[rank as usize].buf(), count, &pair), &compose)
            });
            for recv in &recvs {
                assert!(recv.get() == expected, "allreduce, {label}");
            }

            for root in [0, n - 1, n / 2] {
                let recvs = fresh();
                room.succeed(|team, rank| {
                    let send = (!in_place || rank != root).then(|| sends[rank as usize].buf());
                    let recv = if rank == root { recvs[rank as usize].buf() } else { UserBuf::none() };
                    coll::reduce(team, Reduced::new(send, recv, count, &pair), &compose, root as i32)
                });
                assert!(recvs[root as usize].get() == expected, "reduce to {root}, {label}");
            }

            if count == long {
                continue; // prefixes are computed in one way for all lengths
            }
            let recvs = fresh();
            room.succeed(|team, rank| {
                let send = (!in_place).then(|| sends[rank as usize].buf());
                coll::scan(team, Reduced::new(send, recvs[rank as usize].buf(), count, &pair), &compose)
            });
            for (rank, recv) in (0..n).zip(&recvs) {
                assert!(recv.get() == folded(0..=rank, 0..count), "scan at {rank}, {label}");
            }

            let recvs = fresh();
            room.succeed(|team, rank| {
                let send = (!in_place).then(|| sends[rank as usize].buf());
                coll::exscan(team, Reduced::new(send, recvs[rank as usize].buf(), count, &pair), &compose)
            });
            for (rank, recv) in (0..n).zip(&recvs).skip(1) {
                assert!(recv.get() == folded(0..rank, 0..count), "exscan at {rank}, {label}");
            }
            for (send, rank) in sends.iter().zip(0..) {
                assert!(send.get() == maps(rank, count), "operand of {rank} changed, {label}");
            }
        }
    });
}

#[test]
fn sums_to_any_root() {
    let word = Datatype::of::<u64>();
    let sum = Op::from(Predefined::Sum);
    rooms(|room, n| {
        for (root, count) in [(0, 1u64), (n - 1, 6), (n / 2, 5000)] {
            let sends: Vec<Words> =
                (0..n).map(|rank| Words::new(&maps(rank, count)[..count as usize])).collect();
            let expected =
                sends.iter().map(Words::get).reduce(|a, b| a.iter().zip(b).map(|(a, b)| a + b).collect());
            let result = Words::zeros(count as usize);
            room.succeed(|team, rank| {
                let recv = if rank == root { result.buf() } else { UserBuf::none() };
                let send = sends[rank as usize].buf();
                coll::reduce(team, Reduced::new(Some(send), recv, count, &word), &sum, root as i32)
            });
            assert_eq!(Some(result.get()), expected, "{n} ranks, root {root}, seed {}", room.seed);
        }
    });
}

#[test]
fn reduce_scatter_leaves_each_rank_its_block() {
    let (pair, compose) = (pair(), compose());
    rooms(|room, n| {
        for in_place in [false, true] {
            let counts: Vec<u64> = (0..n).map(|rank| u64::from((rank * 3) % 5)).collect();
            for (blocks, counts) in [(false, counts), (true, vec![3; n as usize])] {
                let all: u64 = counts.iter().sum();
                let sends: Vec<Words> = (0..n).map(|rank| Words::new(&maps(rank, all))).collect();
                let recvs: Vec<Words> =
                    (0..n)
                        .map(|rank| {
                            if in_place {
                                Words::new(&maps(rank, all))
                            } else {
                                Words::zeros(2 * all as usize)
                            }
                        })
                        .collect();
                room.succeed(|team, rank| {
                    let send = (!in_place).then(|| sends[rank as usize].buf());
                    let recv = recvs[rank as usize].buf();
                    match blocks {
                        true => {
                            coll::reduce_scatter_block(team, Reduced::new(send, recv, 3, &pair), &compose)
                        }
                        false => {
                            coll::reduce_scatter(team, Reduced::new(send, recv, &counts[..], &pair), &compose)
                        }
                    }
                });
                let mut first = 0;
                for (rank, count) in counts.iter().enumerate() {
                    let got = recvs[rank].get();
                    let expected = folded(0..n, first..first + count);
                    assert_eq!(got[..expected.len()], expected, "rank {rank} of {n}, seed {}", room.seed);
                    first += count;
                }
            }
        }
    });
}

#[test]
fn gather_and_scatter_are_inverse() {
    let word = Datatype::of::<u64>();
    rooms(|room, n| {
        for (root, count, in_place) in [(0, 2u64, false), (n - 1, 30, true), (n / 2, 700, false)] {
            gather_and_scatter(room, n, root, count, in_place, &word);
        }
    });
    // More members than one serves in one round.
    gather_and_scatter(&mut Room::new(70, true, 5, CALM), 70, 3, 2, false, &word);
    gather_and_scatter(&mut Room::new(131, false, 6, CALM), 131, 130, 1, true, &word);
}

fn gather_and_scatter(room: &mut Room, n: u32, root: u32, count: u64, in_place: bool, word: &Datatype) {
    let of = |rank: u32| (0..count).map(move |i| u64::from(rank) << 32 | i);
    let all: Vec<u64> = (0..n).flat_map(of).collect();
    let own: Vec<Words> = (0..n).map(|rank| Words::new(&of(rank).collect::<Vec<_>>())).collect();
    let own_operand = |rank: u32, bufs: &[Words]| {
        (!in_place || rank != root).then(|| Operand::new(bufs[rank as usize].buf(), count, word))
    };
    let at_root = if in_place { Words::new(&all) } else { Words::zeros(all.len()) };
    room.succeed(|team, rank| {
        let recv = (rank == root).then(|| Operand::new(at_root.buf(), count, word));
        coll::gather(team, own_operand(rank, &own), recv, root as i32)
    });
    assert!(at_root.get() == all, "gather to {root} of {n}, seed {}", room.seed);
    let got: Vec<Words> = (0..n).map(|_| Words::zeros(count as usize)).collect();
    room.succeed(|team, rank| {
        let send = (rank == root).then(|| Operand::new(at_root.buf(), count, word));
        coll::scatter(team, send, own_operand(rank, &got), root as i32)
    });
    for (rank, got) in (0..n).zip(&got).filter(|(rank, _)| !in_place || *rank != root) {
        assert!(
            got.get() == of(rank).collect::<Vec<_>>(),
            "scatter from {root} to {rank} of {n}, seed {}",
            room.seed
        );
    }
}

#[test]
fn blocks_of_different_lengths() {
    let word = Datatype::of::<u64>();
    rooms(|room, n| {
        let root = n / 2;
        let counts: Vec<u64> = (0..n).map(|rank| u64::from((rank * 7 + 3) % 20)).collect();
        // The blocks lie in reverse, a word apart.
        let mut displacements = vec![0; n as usize];
        let mut end = 0;
        for rank in (0..n as usize).rev() {
            displacements[rank] = end;
            end += counts[rank] as i64 + 1;
        }
        let of = |rank: u32| (0..counts[rank as usize]).map(move |i| u64::from(rank) << 32 | (i + 1));
        let mut all = vec![0; end as usize];
        for rank in 0..n {
            for (value, at) in of(rank).zip(displacements[rank as usize]..) {
                all[at as usize] = value;
            }
        }
        let own: Vec<Words> = (0..n).map(|rank| Words::new(&of(rank).collect::<Vec<_>>())).collect();
        let operand =
            |bufs: &[Words], rank: u32| Operand::new(bufs[rank as usize].buf(), counts[rank as usize], &word);
        let blocks =
            |buf: UserBuf| Blocks { buf, counts: &counts, displacements: &displacements, datatype: &word };
        let at_root = Words::zeros(all.len());
        room.succeed(|team, rank| {
            let recv = (rank == root).then(|| blocks(at_root.buf()));
            coll::gatherv(team, Some(operand(&own, rank)), recv, root as i32)
        });
        assert_eq!(at_root.get(), all, "gatherv, {n} ranks, seed {}", room.seed);
        let got: Vec<Words> = own.iter().map(|own| Words::zeros(own.get().len())).collect();
        room.succeed(|team, rank| {
            let send = (rank == root).then(|| blocks(at_root.buf()));
            coll::scatterv(team, send, Some(operand(&got, rank)), root as i32)
        });
        for (own, got) in own.iter().zip(&got) {
            assert_eq!(own.get(), got.get(), "scatterv, {n} ranks, seed {}", room.seed);
        }
        let everywhere: Vec<Words> = (0..n).map(|_| Words::zeros(all.len())).collect();
        room.succeed(|team, rank| {
            coll::allgatherv(team, Some(operand(&own, rank)), blocks(everywhere[rank as usize].buf()))
        });
        for got in &everywhere {
            assert_eq!(got.get(), all, "allgatherv, {n} ranks, seed {}", room.seed);
        }
    });
}

#[test]
fn allgather_in_all_ways() {
    let word = Datatype::of::<u64>();
    rooms(|room, n| {
        for (count, in_place) in [(1, false), (3, true), (40, false), (600, true), (600, false)] {
            allgather(room, n, count, in_place, &word);
        }
    });
    allgather(&mut Room::new(33, false, 7, CALM), 33, 520, false, &word);
    allgather(&mut Room::new(70, true, 8, CALM), 70, 1, true, &word);
    allgather(&mut Room::new(70, true, 9, CALM), 70, 1, false, &word);
}

fn allgather(room: &mut Room, n: u32, count: u64, in_place: bool, word: &Datatype) {
    let of = |rank: u32| (0..count).map(move |i| u64::from(rank) << 32 | (i + 1));
    let all: Vec<u64> = (0..n).flat_map(of).collect();
    let own: Vec<Words> = (0..n).map(|rank| Words::new(&of(rank).collect::<Vec<_>>())).collect();
    let recvs: Vec<Words> = (0..n)
        .map(|rank| {
            let mut start = vec![0; all.len()];
            let block = rank as usize * count as usize..(rank + 1) as usize * count as usize;
            if in_place {
                start[block.clone()].copy_from_slice(&all[block]);
            }
            Words::new(&start)
        })
        .collect();
    room.succeed(|team, rank| {
        let send = (!in_place).then(|| Operand::new(own[rank as usize].buf(), count, word));
        coll::allgather(team, send, Operand::new(recvs[rank as usize].buf(), count, word))
    });
    for (rank, recv) in recvs.iter().enumerate() {
        assert!(
            recv.get() == all,
            "rank {rank} of {n}, {count} words, in place {in_place}, seed {}",
            room.seed
        );
    }
}

#[test]
fn alltoall_of_all_kinds() {
    let word = Datatype::of::<u64>();
    rooms(|room, n| {
        let value = |from: u32, to: u32, i: u64| u64::from(from) << 40 | u64::from(to) << 20 | (i + 1);
        for (count, in_place) in [(1, false), (4, true), (300, false)] {
            let sent = |from: u32| -> Vec<u64> {
                (0..n).flat_map(|to| (0..count).map(move |i| value(from, to, i))).collect()
            };
            let sends: Vec<Words> = (0..n).map(|rank| Words::new(&sent(rank))).collect();
            let fresh = || -> Vec<Words> {
                let start =
                    |rank| if in_place { sent(rank) } else { vec![0; (u64::from(n) * count) as usize] };
                (0..n).map(|rank| Words::new(&start(rank))).collect()
            };
            let counts = vec![count; n as usize];
            let displacements: Vec<i64> = (0..i64::from(n)).map(|rank| rank * count as i64).collect();
            let bytes: Vec<i64> = displacements.iter().map(|at| at * 8).collect();
            let types = vec![word.clone(); n as usize];
            for kind in 0..3 {
                let recvs = fresh();
                room.succeed(|team, rank| {
                    let (send, recv) = (sends[rank as usize].buf(), recvs[rank as usize].buf());
                    match kind {
                        0 => {
                            let operand = |buf| Operand::new(buf, count, &word);
                            coll::alltoall(team, (!in_place).then(|| operand(send)), operand(recv))
                        }
                        1 => {
                            let blocks = |buf| Blocks {
                                buf,
                                counts: &counts,
                                displacements: &displacements,
                                datatype: &word,
                            };
                            coll::alltoallv(team, (!in_place).then(|| blocks(send)), blocks(recv))
                        }
                        _ => {
                            let blocks = |buf| TypedBlocks {
                                buf,
                                counts: &counts,
                                displacements: &bytes,
                                datatypes: &types,
                            };
                            coll::alltoallw(team, (!in_place).then(|| blocks(send)), blocks(recv))
                        }
                    }
                });
                for (rank, recv) in (0..n).zip(&recvs) {
                    let expected: Vec<u64> =
                        (0..n).flat_map(|from| (0..count).map(move |i| value(from, rank, i))).collect();
                    assert_eq!(recv.get(), expected, "kind {kind}, rank {rank} of {n}, seed {}", room.seed);
                }
            }
        }
    });
}

#[test]
fn counts_that_differ_are_errors_and_do_no_harm() {
    let word = Datatype::of::<u64>();
    let sum = Op::from(Predefined::Sum);
    for oversubscribed in [false, true] {
        for n in [2, 3, 5, 8] {
            let mut room = Room::new(n, oversubscribed, u64::from(n), ROUGH);
            // Rank 1 has fewer elements than the others, then more.
            for (few, class) in [(true, ErrorClass::Truncate), (false, ErrorClass::NotSame)] {
                let count = |rank: u32| if (rank == 1) == few { 3 } else { 5 };
                let bufs: Vec<Words> = (0..n).map(|_| Words::new(&[7; 8])).collect();
                let statuses = room.run(|team, rank| {
                    coll::bcast(team, Operand::new(bufs[rank as usize].buf(), count(rank), &word), 0)
                });
                let error = statuses[1].error.as_ref().expect("an error at rank 1");
                assert_eq!(error.class(), class, "{error}");
                assert!(error.to_string().starts_with("MPI_Bcast: rank 0 sent"), "{error}");
                assert_eq!(bufs[1].get()[3..], [7; 5], "rank 1 wrote past its buffer");

                let recvs: Vec<Words> = (0..n).map(|_| Words::new(&[7; 8])).collect();
                let statuses = room.run(|team, rank| {
                    let (send, recv) = (bufs[rank as usize].buf(), recvs[rank as usize].buf());
                    coll::allreduce(team, Reduced::new(Some(send), recv, count(rank), &word), &sum)
                });
                assert!(statuses.iter().any(|status| status.error.is_some()));
                for (rank, recv) in (0..n).zip(&recvs) {
                    let room = if (rank == 1) == few { 3 } else { 5 };
                    assert_eq!(recv.get()[room..], vec![7; 8 - room], "rank {rank} wrote past its buffer");
                }
            }
            // Nothing is left over for the next operation.
            allgather(&mut room, n, 2, false, &word);
        }
    }
}

#[test]
fn wrong_arguments_are_named() {
    let word = Datatype::of::<u64>();
    let (float, band) = (Datatype::of::<f64>(), Op::from(Predefined::Band));
    let team = &teams(ContextId::WORLD, 3, false)[1];
    let none = || Operand::new(UserBuf::none(), 0, &word);
    for root in [-1, 3, i32::MAX] {
        let error = coll::bcast(team, none(), root).unwrap_err();
        assert_eq!(error.to_string(), format!("root is {root}, expected 0..=2"));
        assert_eq!(error.class(), ErrorClass::Root);
    }
    let error = coll::allreduce(team, Reduced::new(None, UserBuf::none(), 1, &float), &band).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Op);
    let error =
        coll::reduce(team, Reduced::new(None, UserBuf::none(), 1, &word), &band, 0).unwrap_err().to_string();
    assert!(error.contains("MPI_IN_PLACE at rank 1") && error.contains("rank 0"), "{error}");
    assert!(coll::gather(team, None, None, 0).unwrap_err().to_string().contains("sendbuf is MPI_IN_PLACE"));
    assert!(
        coll::gather(team, Some(none()), None, 1).unwrap_err().to_string().contains("recvbuf is missing")
    );
    let short = Blocks { buf: UserBuf::none(), counts: &[1], displacements: &[0], datatype: &word };
    assert!(coll::allgatherv(team, None, short).unwrap_err().to_string().contains("3 ranks"));
    assert!(coll::alltoallv(team, None, short).is_err());
    assert!(coll::reduce_scatter(team, Reduced::new(None, UserBuf::none(), &[1], &word), &band).is_err());
}

#[test]
fn many_at_once_on_two_communicators() {
    let (pair, compose, word) = (pair(), compose(), Datatype::of::<u64>());
    for seed in 1..=12 {
        let n = 2 + (seed % 6) as u32;
        let mut room = Room::new(n, seed % 2 == 0, seed, ROUGH);
        let other = teams(ContextId(64), n, seed % 3 == 0);
        let operations = 6;
        let sends: Vec<Words> = (0..n).map(|rank| Words::new(&maps(rank, 4))).collect();
        let buffers = || -> Vec<Vec<Words>> {
            (0..operations).map(|_| (0..n).map(|_| Words::zeros(8 * n as usize)).collect()).collect()
        };
        let (first, second) = (buffers(), buffers());
        let mut ids = Vec::new();
        // Each rank starts the operations of a communicator in their order, but mixes the two differently.
        let mut next = vec![[0; 2]; n as usize];
        while next.iter().any(|next| next.iter().any(|next| *next < operations)) {
            let at = room.bench.network.random(u64::from(n)) as usize;
            let which = room.bench.network.random(2) as usize;
            let operation = next[at][which];
            if operation == operations {
                continue;
            }
            next[at][which] += 1;
            let team = if which == 0 { &room.teams[at] } else { &other[at] };
            let recv = if which == 0 { &first } else { &second }[operation][at].buf();
            let send = sends[at].buf();
            let schedule = match operation {
                0 | 3 => coll::allreduce(team, Reduced::new(Some(send), recv, 4, &pair), &compose),
                1 | 4 => {
                    coll::allgather(team, Some(Operand::new(send, 8, &word)), Operand::new(recv, 8, &word))
                }
                _ => coll::scan(team, Reduced::new(Some(send), recv, 4, &pair), &compose),
            };
            ids.push((at, room.start(at, schedule.expect("right arguments"))));
            for _ in 0..room.bench.network.random(30) {
                room.bench.step();
            }
        }
        assert!(room.finish(&ids).iter().all(|status| status.error.is_none()), "seed {seed}");
        for results in [&first, &second] {
            for (operation, result) in results.iter().enumerate() {
                for rank in 0..n {
                    let expected = match operation {
                        0 | 3 => folded(0..n, 0..4),
                        1 | 4 => (0..n).flat_map(|rank| maps(rank, 4)).collect(),
                        _ => folded(0..=rank, 0..4),
                    };
                    let got = result[rank as usize].get();
                    assert_eq!(
                        got[..expected.len()],
                        expected,
                        "operation {operation}, rank {rank}, seed {seed}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_schedule_can_run_again() {
    let (pair, compose) = (pair(), compose());
    let mut room = Room::new(5, false, 3, ROUGH);
    let mut sends: Vec<Words> = (0..5).map(|rank| Words::new(&maps(rank, 2))).collect();
    let recvs: Vec<Words> = (0..5).map(|_| Words::zeros(4)).collect();
    let schedules: Vec<Arc<Schedule>> = (0..5)
        .map(|rank| {
            let (send, recv) = (sends[rank].buf(), recvs[rank].buf());
            let team = &room.teams[rank];
            coll::allreduce(team, Reduced::new(Some(send), recv, 2, &pair), &compose)
                .expect("right arguments")
                .into()
        })
        .collect();
    for turn in 0..3 {
        for (rank, send) in (0..5).zip(&mut sends) {
            let mut words = maps(rank, 2);
            words[0] += turn;
            send.fill(&words);
        }
        let again = schedules.iter().enumerate();
        let ids: Vec<_> = again.map(|(at, schedule)| (at, room.start_again(at, schedule))).collect();
        assert!(room.finish(&ids).iter().all(|status| status.error.is_none()), "turn {turn}");
        let first = (0..5)
            .map(|rank| {
                let [a, b] = map(rank, 0);
                [a + turn, b]
            })
            .reduce(composed)
            .expect("a rank");
        for recv in &recvs {
            assert_eq!(recv.get()[..2], first, "turn {turn}");
            assert_eq!(recv.get()[2..], folded(0..5, 1..2), "turn {turn}");
        }
    }
}

/// A device that fails does not keep the others waiting, and its rank hears of it.
#[test]
fn a_copy_that_fails_ends_the_operation_of_its_rank_alone() {
    let (pair, compose) = (pair(), compose());
    let device = simulated(3, 40);
    let mut failures = 0;
    for seed in 1..40 {
        let mut room = Room::new(4, seed % 2 == 0, seed, ROUGH);
        let on_device = |rank: u32| rank.is_multiple_of(2).then_some(&device);
        let bufs = |_| -> Vec<Buffer> { (0..4).map(|rank| Buffer::new(32, on_device(rank))).collect() };
        let [sends, recvs] = [0, 1].map(bufs);
        let statuses = room.run(|team, rank| {
            let (send, recv) = (sends[rank as usize].user_buf(), recvs[rank as usize].user_buf());
            coll::allreduce(team, Reduced::new(Some(send), recv, 2, &pair), &compose)
        });
        for (rank, status) in statuses.iter().enumerate() {
            let Some(error) = &status.error else { continue };
            assert!(rank % 2 == 0, "rank {rank}: {error} (seed {seed})");
            assert!(error.to_string().contains("the simulated device failed"), "{error}");
            failures += 1;
        }
    }
    assert!(failures > 20, "{failures} of 78 ranks");
}

#[test]
fn what_an_operation_does_not_write_keeps_its_bytes() {
    let column = Datatype::vector(4, 1, 3, &Datatype::of::<u64>()).expect("a column");
    column.commit();
    let device = simulated(8, 0);
    let mut room = Room::new(3, false, 2, ROUGH);
    let all: Vec<Buffer> = (0..3).map(|_| Buffer::new(3 * 80, Some(&device))).collect();
    let fill = |rank: usize| (0..240).map(|at| (rank * 50 + at) as u8).collect::<Vec<u8>>();
    all.iter().enumerate().for_each(|(rank, buffer)| device.write(buffer.user_buf().address(), &fill(rank)));
    room.succeed(|team, rank| {
        coll::bcast(team, Operand::new(all[rank as usize].user_buf().offset(8), 1, &column), 1)
    });
    for (rank, buffer) in all.iter().enumerate() {
        let mut expected = fill(rank);
        for at in [8, 32, 56, 80] {
            expected[at..at + 8].copy_from_slice(&fill(1)[at..at + 8]);
        }
        assert_eq!(buffer.bytes(), expected, "rank {rank}");
    }
}

#[test]
fn a_team_of_some_processes() {
    let word = Datatype::of::<u64>();
    let mut room = Room::new(6, false, 11, ROUGH);
    let group = Arc::new(Group::of([5, 0, 3].map(Peer).to_vec()));
    let teams: Vec<Team> = (0..3).map(|rank| Team::new(ContextId(8), group.clone(), rank, false)).collect();
    let recvs: Vec<Words> = (0..3).map(|_| Words::zeros(3)).collect();
    let sends: Vec<Words> = (0..3).map(|rank| Words::new(&[rank + 100])).collect();
    let ids: Vec<_> = (0..3)
        .map(|rank| {
            let (send, recv) = (sends[rank].buf(), recvs[rank].buf());
            let send = Operand::new(send, 1, &word);
            let schedule = coll::allgather(&teams[rank], Some(send), Operand::new(recv, 1, &word));
            let at = group.peer(rank as u32).expect("a member").index();
            (at, room.start(at, schedule.expect("right arguments")))
        })
        .collect();
    assert!(room.finish(&ids).iter().all(|status| status.error.is_none()));
    for recv in &recvs {
        assert_eq!(recv.get(), [100, 101, 102]);
    }
}
