//! Plans of every size of a team, without engines (see `plans`), of what moves blocks of different lengths: the v and w forms,
//! neighbours, both groups of an intercommunicator; reductions that scatter; and long data of teams that are larger than those there.

use super::plans::{Memory, depth, rounds, run, sizes, walk_through};
use super::*;
use crate::coll::choose::{self, Allgather, ReduceScatter};
use crate::coll::{Bridge, Neighbors, inter};
use crate::ids::{PROC_NULL, ROOT};

/// The largest team in which each has something of all, whose bytes or messages grow with the square.
const MOST_SQUARE: u32 = 600;

/// A word that says who gave it to whom, and where in the block it was.
fn word_of(from: u32, to: u32, place: u64) -> u64 {
    u64::from(from) << 40 | u64::from(to) << 16 | (place + 1)
}

/// How many words of the block of one rank for another.
fn len(from: u32, to: u32) -> u64 {
    u64::from((3 * from + to) % 4)
}

/// Blocks of different lengths one behind the other: counts, places in words, and how long all are.
struct Layout {
    counts: Vec<u64>,
    places: Vec<i64>,
    bytes: Vec<i64>,
    types: Vec<Datatype>,
    all: usize,
}

impl Layout {
    fn new(n: u32, len: impl Fn(u32) -> u64) -> Self {
        let counts: Vec<u64> = (0..n).map(len).collect();
        let mut places = Vec::new();
        let all = counts.iter().fold(0, |at, count| {
            places.push(at);
            at + *count as i64
        });
        let bytes = places.iter().map(|place| place * 8).collect();
        Self { counts, places, bytes, types: vec![Datatype::of::<u64>(); n as usize], all: all as usize }
    }

    fn blocks<'a>(&'a self, buf: UserBuf, word: &'a Datatype) -> Blocks<'a> {
        Blocks { buf, counts: &self.counts, displacements: &self.places, datatype: word }
    }

    fn typed(&self, buf: UserBuf) -> TypedBlocks<'_> {
        TypedBlocks { buf, counts: &self.counts, displacements: &self.bytes, datatypes: &self.types }
    }
}

fn zeros(lens: impl Iterator<Item = usize>) -> Vec<Memory> {
    lens.map(|len| Memory::new(&vec![0; len])).collect()
}

/// What each of `froms` has for `to`, one block behind the other.
fn arriving(froms: impl Iterator<Item = u32>, to: u32) -> Vec<u64> {
    froms.flat_map(|from| (0..len(from, to)).map(move |place| word_of(from, to, place))).collect()
}

#[test]
fn gathers_to_all_take_the_steps_of_their_way() {
    let word = Datatype::of::<u64>();
    sizes(|n, cpus, teams| {
        if n > MOST_SQUARE {
            return;
        }
        let sends: Vec<Memory> = (0..n).map(|rank| Memory::new(&[word_of(rank, 0, 0)])).collect();
        let recvs = zeros((0..n).map(|_| n as usize));
        let cost = run(teams, |team, rank| {
            let [send, recv] = [&sends, &recvs].map(|all| Operand::new(all[rank as usize].buf(), 1, &word));
            coll::allgather(team, Some(send), recv)
        });
        let expected: Vec<u64> = (0..n).map(|rank| word_of(rank, 0, 0)).collect();
        assert!(recvs.iter().all(|recv| recv.get(n as usize) == expected), "{n} ranks, {cpus:?}");
        let steps = match choose::allgather(n, 8, cpus != Cpus::Own) {
            Allgather::Tree(radix) => 2 * depth(n, radix),
            Allgather::Dissemination => rounds(n, 2),
            Allgather::Direct => (n - 1).div_ceil(32),
            Allgather::Ring => n - 1,
        };
        assert_eq!(cost.depth, steps, "{n} ranks, {cpus:?}");
    });
}

#[test]
fn blocks_of_different_lengths_of_every_size() {
    let word = Datatype::of::<u64>();
    sizes(|n, cpus, teams| {
        let label = format!("{n} ranks, {cpus:?}");
        let root = n / 3;
        // To all: what each has for rank 0.
        let to_all = Layout::new(n, |from| len(from, 0));
        let own = |rank: u32| arriving(std::iter::once(rank), 0);
        let sends: Vec<Memory> = (0..n).map(|rank| Memory::new(&own(rank))).collect();
        let operand = |all: &[Memory], rank: u32| Operand::new(all[rank as usize].buf(), len(rank, 0), &word);
        let expected = arriving(0..n, 0);
        let recv = Memory::new(&vec![0; to_all.all]);
        run(teams, |team, rank| {
            let whole = (rank == root).then(|| to_all.blocks(recv.buf(), &word));
            coll::gatherv(team, Some(operand(&sends, rank)), whole, root as i32)
        });
        assert!(recv.get(to_all.all) == expected, "gatherv, {label}");
        let back = zeros((0..n).map(|rank| len(rank, 0) as usize));
        run(teams, |team, rank| {
            let whole = (rank == root).then(|| to_all.blocks(recv.buf(), &word));
            coll::scatterv(team, whole, Some(operand(&back, rank)), root as i32)
        });
        for (rank, back) in (0..n).zip(&back) {
            assert!(back.get(len(rank, 0) as usize) == own(rank), "scatterv, {label}");
        }
        if n > MOST_SQUARE {
            return;
        }
        let recvs = zeros((0..n).map(|_| to_all.all));
        run(teams, |team, rank| {
            let recv = to_all.blocks(recvs[rank as usize].buf(), &word);
            coll::allgatherv(team, Some(operand(&sends, rank)), recv)
        });
        assert!(recvs.iter().all(|recv| recv.get(to_all.all) == expected), "allgatherv, {label}");
        // Each for each.
        let out: Vec<Layout> = (0..n).map(|rank| Layout::new(n, |to| len(rank, to))).collect();
        let into: Vec<Layout> = (0..n).map(|rank| Layout::new(n, |from| len(from, rank))).collect();
        let leaving =
            |from: u32| -> Vec<u64> { (0..n).flat_map(|to| arriving(std::iter::once(from), to)).collect() };
        let sends: Vec<Memory> = (0..n).map(|rank| Memory::new(&leaving(rank))).collect();
        for typed in [false, true] {
            let recvs = zeros(into.iter().map(|layout| layout.all));
            let cost = run(teams, |team, rank| {
                let at = rank as usize;
                let (send, recv) = (sends[at].buf(), recvs[at].buf());
                match typed {
                    true => coll::alltoallw(team, Some(out[at].typed(send)), into[at].typed(recv)),
                    false => {
                        coll::alltoallv(team, Some(out[at].blocks(send, &word)), into[at].blocks(recv, &word))
                    }
                }
            });
            assert_eq!(cost.depth, (n - 1).div_ceil(32), "{label}");
            for (rank, recv) in (0..n).zip(&recvs) {
                let expected = arriving(0..n, rank);
                assert!(recv.get(expected.len()) == expected, "alltoall, typed {typed}, to {rank}, {label}");
            }
        }
    });
}

#[test]
fn reductions_that_scatter_of_every_size() {
    let (pair, compose) = (pair(), compose());
    sizes(|n, cpus, teams| {
        if n > MOST_SQUARE {
            return;
        }
        for same in [false, true] {
            for in_place in if n > 70 { vec![same] } else { vec![false, true] } {
                let counts: Vec<u64> =
                    (0..n).map(|rank| if same { 2 } else { u64::from((rank * 3) % 5) }).collect();
                let all: u64 = counts.iter().sum();
                let memories =
                    || -> Vec<Memory> { (0..n).map(|rank| Memory::new(&maps(rank, all))).collect() };
                let (sends, recvs) = (memories(), memories());
                let cost = run(teams, |team, rank| {
                    let send = (!in_place).then(|| sends[rank as usize].buf());
                    let recv = recvs[rank as usize].buf();
                    if same {
                        coll::reduce_scatter_block(team, Reduced::new(send, recv, 2, &pair), &compose)
                    } else {
                        coll::reduce_scatter(team, Reduced::new(send, recv, &counts[..], &pair), &compose)
                    }
                });
                let bytes = all * 16 / u64::from(n);
                let steps = match choose::reduce_scatter(n, bytes, cpus) {
                    ReduceScatter::Direct => u32::from(n > 1),
                    ReduceScatter::ThroughOne => depth(n, 64) + 1,
                };
                assert_eq!(cost.depth, steps, "{n} ranks, {cpus:?}");
                let mut first = 0;
                for (rank, count) in counts.iter().enumerate() {
                    let got = recvs[rank].get(2 * *count as usize);
                    let label =
                        format!("rank {rank} of {n}, {cpus:?}, same lengths {same}, in place {in_place}");
                    assert!(got == folded(0..n, first..first + count), "{label}");
                    first += count;
                }
            }
        }
    });
}

/// A ring with edges to the next two and to oneself, of which each is there twice where the ring is short; and a line of two dimensions.
#[test]
fn neighbours_of_every_size() {
    let word = Datatype::of::<u64>();
    sizes(|n, cpus, teams| {
        let label = format!("{n} ranks, {cpus:?}");
        let ring = |rank: u32, step: i64| (i64::from(rank) + step).rem_euclid(i64::from(n)) as i32;
        let sources: Vec<[i32; 4]> =
            (0..n).map(|rank| [ring(rank, -1), ring(rank, -2), rank as i32, ring(rank, 1)]).collect();
        let destinations: Vec<[i32; 4]> =
            (0..n).map(|rank| [ring(rank, 1), ring(rank, 2), rank as i32, ring(rank, -1)]).collect();
        // The k-th edge to a rank meets the k-th from there; all of these have other lengths.
        let out: Vec<Layout> = (0..n).map(|rank| Layout::new(4, |edge| len(rank, edge))).collect();
        let meets = |rank: u32, edge: usize| {
            let from = sources[rank as usize][edge];
            let before = sources[rank as usize][..edge].iter().filter(|source| **source == from).count();
            let edges = destinations[from as usize].iter().enumerate().filter(|(_, to)| **to == rank as i32);
            let (edge, _) = edges.clone().nth(before).expect("as many edges at both ends");
            (from as u32, edge as u32)
        };
        let into: Vec<Layout> = (0..n)
            .map(|rank| {
                Layout::new(4, |edge| {
                    let (from, edge) = meets(rank, edge as usize);
                    len(from, edge)
                })
            })
            .collect();
        let leaving = |rank: u32| -> Vec<u64> {
            (0..4).flat_map(|edge| arriving(std::iter::once(rank), edge)).collect()
        };
        let sends: Vec<Memory> = (0..n).map(|rank| Memory::new(&leaving(rank))).collect();
        for typed in [false, true] {
            let recvs = zeros(into.iter().map(|layout| layout.all));
            let cost = run(teams, |team, rank| {
                let at = rank as usize;
                let neighbors = Neighbors::of_graph(&sources[at], &destinations[at]);
                let (send, recv) = (sends[at].buf(), recvs[at].buf());
                match typed {
                    true => {
                        coll::neighbor_alltoallw(team, &neighbors, out[at].typed(send), into[at].typed(recv))
                    }
                    false => {
                        let (send, recv) = (out[at].blocks(send, &word), into[at].blocks(recv, &word));
                        coll::neighbor_alltoallv(team, &neighbors, send, recv)
                    }
                }
            });
            assert!(cost.depth <= 1 && cost.sends <= 3, "{label}");
            for (rank, recv) in (0..n).zip(&recvs) {
                let expected: Vec<u64> = (0..4)
                    .flat_map(|edge| {
                        let (from, edge) = meets(rank, edge);
                        arriving(std::iter::once(from), edge)
                    })
                    .collect();
                assert!(recv.get(expected.len()) == expected, "to {rank}, typed {typed}, {label}");
            }
        }
        // A line: nobody is before the first and behind the last one.
        let line = |rank: u32| {
            let [before, behind] = [i64::from(rank) - 1, i64::from(rank) + 1];
            let there = |at: i64| if (0..i64::from(n)).contains(&at) { at as i32 } else { PROC_NULL };
            Neighbors::of_grid(vec![there(before), there(behind)])
        };
        let own: Vec<Memory> =
            (0..n).map(|rank| Memory::new(&[word_of(rank, 0, 0), word_of(rank, 1, 0)])).collect();
        for to_all in [false, true] {
            let recvs = zeros((0..n).map(|_| 2));
            run(teams, |team, rank| {
                let [send, recv] = [&own, &recvs].map(|all| Operand::new(all[rank as usize].buf(), 1, &word));
                match to_all {
                    true => coll::neighbor_allgather(team, &line(rank), send, recv),
                    false => coll::neighbor_alltoall(team, &line(rank), send, recv),
                }
            });
            for (rank, recv) in (0..n).zip(&recvs) {
                let before = if rank == 0 { 0 } else { word_of(rank - 1, u32::from(!to_all), 0) };
                let behind = if rank + 1 == n { 0 } else { word_of(rank + 1, 0, 0) };
                assert_eq!(recv.get(2), [before, behind], "line, to all {to_all}, at {rank}, {label}");
            }
        }
    });
}

/// On a torus of two in each dimension, and on a graph with an edge twice: short blocks for one process are packed, long ones leave from
/// where they lie.
#[test]
fn blocks_of_several_edges_to_one_neighbour_are_one_message() {
    let word = Datatype::of::<u64>();
    let team = teams(ContextId::WORLD, 4, Cpus::Own);
    let twice = |rank: u32| {
        let (next, last) = ((rank as i32 + 1) % 4, (rank as i32 + 3) % 4);
        ([last, last, PROC_NULL, last], [next, PROC_NULL, next, next])
    };
    for count in [1u64, 8, 5000] {
        for on_grid in [true, false] {
            let block = |rank: u32, edge: u32| vec![u64::from(rank * 10 + edge) + 1; count as usize];
            let whole = |rank: u32| -> Vec<u64> { (0..4).flat_map(|edge| block(rank, edge)).collect() };
            let sends: Vec<Memory> = (0..4).map(|rank| Memory::new(&whole(rank))).collect();
            let recvs = zeros((0..4).map(|_| 4 * count as usize));
            let cost = run(&team, |team, rank| {
                let (sources, destinations) = twice(rank);
                let [x, y] = [rank ^ 1, rank ^ 2].map(|rank| rank as i32);
                let neighbors = match on_grid {
                    true => Neighbors::of_grid(vec![x, x, y, y]),
                    false => Neighbors::of_graph(&sources, &destinations),
                };
                let [send, recv] =
                    [&sends, &recvs].map(|all| Operand::new(all[rank as usize].buf(), count, &word));
                coll::neighbor_alltoall(team, &neighbors, send, recv)
            });
            assert_eq!(cost.sends, if on_grid { 2 } else { 1 }, "{count} words, on a grid {on_grid}");
            for (rank, recv) in (0..4u32).zip(&recvs) {
                let expected: Vec<u64> = match on_grid {
                    // What leaves below comes from above.
                    true => [(1, 1), (1, 0), (2, 3), (2, 2)]
                        .into_iter()
                        .flat_map(|(bit, edge)| block(rank ^ bit, edge))
                        .collect(),
                    false => {
                        let from = |edge| block((rank + 3) % 4, edge);
                        [from(0), from(2), vec![0; count as usize], from(3)].concat()
                    }
                };
                assert!(recv.get(expected.len()) == expected, "{count} words at {rank}, on a grid {on_grid}");
            }
        }
    }
}

/// Groups of every two sizes together, and what each of them gets from the other.
#[test]
fn both_groups_of_every_size() {
    let (word, pair, compose) = (Datatype::of::<u64>(), pair(), compose());
    for n in 2..=70u32 {
        for first in [1, n / 2, n - n.div_ceil(3), n - 1].into_iter().filter(|first| (1..n).contains(first)) {
            both_groups([first, n - first], n % 2 == 0, (&word, &pair, &compose));
        }
    }
}

fn both_groups(groups: [u32; 2], crowded: bool, (word, pair, compose): (&Datatype, &Datatype, &Op)) {
    let n = groups[0] + groups[1];
    let label = format!("groups of {groups:?}, shared CPUs {crowded}");
    let which = |at: u32| usize::from(at >= groups[0]);
    // The rank in its group, and the first of the other group.
    let rank = |at: u32| if which(at) == 0 { at } else { at - groups[0] };
    let others = |at: u32| if which(at) == 0 { groups[0]..n } else { 0..groups[0] };
    let halves = [Group::range(0, groups[0]), Group::range(groups[0], groups[1])];
    let bridges: Vec<Bridge> = (0..n)
        .map(|at| {
            let (own, other) = (&halves[which(at)], &halves[1 - which(at)]);
            Bridge::new(ContextId::WORLD, (own, other), rank(at), which(at) == 0, Accord::of_cpus(crowded))
        })
        .collect();
    let each = |make: &dyn Fn(&Bridge, u32) -> Result<Schedule>| {
        walk_through((0..n).map(|at| make(&bridges[at as usize], at).expect("right arguments")).collect())
    };
    each(&|bridge, _| Ok(inter::barrier(bridge)));
    for root in [0, groups[0], n - 1] {
        let said = |at: u32| match () {
            () if at == root => ROOT,
            () if which(at) == which(root) => PROC_NULL,
            () => rank(root) as i32,
        };
        let is_other = |at: &u32| which(*at) != which(root);
        let bufs: Vec<Memory> =
            (0..n).map(|at| Memory::new(&if at == root { [7, 8, 9] } else { [0; 3] })).collect();
        each(&|bridge, at| {
            let data = Operand::new(bufs[at as usize].buf(), 3, word);
            inter::bcast(bridge, (said(at) != PROC_NULL).then_some(data), said(at))
        });
        assert!((0..n).filter(is_other).all(|at| bufs[at as usize].get(3) == [7, 8, 9]), "bcast, {label}");
        let sends: Vec<Memory> = (0..n).map(|at| Memory::new(&[word_of(at, 0, 0)])).collect();
        let all = Memory::new(&vec![0; n as usize]);
        let one =
            |all: &[Memory], at: u32| is_other(&at).then(|| Operand::new(all[at as usize].buf(), 1, word));
        let whole = |at: u32| (at == root).then(|| Operand::new(all.buf(), 1, word));
        each(&|bridge, at| inter::gather(bridge, one(&sends, at), whole(at), said(at)));
        let expected: Vec<u64> = others(root).map(|at| word_of(at, 0, 0)).collect();
        assert!(all.get(expected.len()) == expected, "gather, {label}");
        let back = zeros((0..n).map(|_| 1));
        each(&|bridge, at| inter::scatter(bridge, whole(at), one(&back, at), said(at)));
        assert!(others(root).all(|at| back[at as usize].get(1) == [word_of(at, 0, 0)]), "scatter, {label}");
        // Blocks of other lengths.
        let layout = Layout::new(others(root).len() as u32, |other| len(others(root).start + other, 0));
        let sends: Vec<Memory> = (0..n).map(|at| Memory::new(&arriving(std::iter::once(at), 0))).collect();
        let all = Memory::new(&vec![0; layout.all]);
        let one = |bufs: &[Memory], at: u32| {
            is_other(&at).then(|| Operand::new(bufs[at as usize].buf(), len(at, 0), word))
        };
        let whole = |at: u32| (at == root).then(|| layout.blocks(all.buf(), word));
        each(&|bridge, at| inter::gatherv(bridge, one(&sends, at), whole(at), said(at)));
        assert!(all.get(layout.all) == arriving(others(root), 0), "gatherv, {label}");
        let back = zeros((0..n).map(|at| len(at, 0) as usize));
        each(&|bridge, at| inter::scatterv(bridge, whole(at), one(&back, at), said(at)));
        for at in others(root) {
            let expected = arriving(std::iter::once(at), 0);
            assert!(back[at as usize].get(expected.len()) == expected, "scatterv, {label}");
        }
        let sends: Vec<Memory> = (0..n).map(|at| Memory::new(&maps(at, 3))).collect();
        let result = Memory::new(&[0; 6]);
        each(&|bridge, at| {
            let recv = if at == root { result.buf() } else { UserBuf::none() };
            inter::reduce(
                bridge,
                Reduced::new(Some(sends[at as usize].buf()), recv, 3, pair),
                compose,
                said(at),
            )
        });
        assert!(result.get(6) == folded(others(root), 0..3), "reduce, {label}");
    }
    // Everybody gets what the other group has for it.
    let out: Vec<Layout> = (0..n)
        .map(|at| Layout::new(others(at).len() as u32, |other| len(at, others(at).start + other)))
        .collect();
    let into: Vec<Layout> = (0..n)
        .map(|at| Layout::new(others(at).len() as u32, |other| len(others(at).start + other, at)))
        .collect();
    let leaving =
        |at: u32| -> Vec<u64> { others(at).flat_map(|to| arriving(std::iter::once(at), to)).collect() };
    let sends: Vec<Memory> = (0..n).map(|at| Memory::new(&leaving(at))).collect();
    for typed in [false, true] {
        let recvs = zeros(into.iter().map(|layout| layout.all));
        each(&|bridge, at| {
            let at = at as usize;
            let (send, recv) = (sends[at].buf(), recvs[at].buf());
            match typed {
                true => inter::alltoallw(bridge, Some(out[at].typed(send)), into[at].typed(recv)),
                false => {
                    inter::alltoallv(bridge, Some(out[at].blocks(send, word)), into[at].blocks(recv, word))
                }
            }
        });
        for (at, recv) in (0..n).zip(&recvs) {
            let expected = arriving(others(at), at);
            assert!(recv.get(expected.len()) == expected, "alltoall, typed {typed}, {label}");
        }
    }
    let sends: Vec<Memory> = (0..n).map(|at| Memory::new(&maps(at, 2 * u64::from(n)))).collect();
    let recvs = zeros((0..n).map(|_| 4 * n as usize));
    each(&|bridge, at| {
        let [send, recv] = [&sends, &recvs].map(|all| all[at as usize].buf());
        inter::allreduce(bridge, Reduced::new(Some(send), recv, 2, pair), compose)
    });
    assert!((0..n).all(|at| recvs[at as usize].get(4) == folded(others(at), 0..2)), "allreduce, {label}");
    // Both groups' blocks are equally long together: of the lengths of the other group.
    let all = u64::from(groups[0]) * u64::from(groups[1]);
    if all <= 2 * u64::from(n) {
        let counts: Vec<Vec<u64>> =
            (0..n).map(|at| vec![u64::from(groups[1 - which(at)]); groups[which(at)] as usize]).collect();
        each(&|bridge, at| {
            let [send, recv] = [&sends, &recvs].map(|all| all[at as usize].buf());
            inter::reduce_scatter(
                bridge,
                Reduced::new(Some(send), recv, &counts[at as usize][..], pair),
                compose,
            )
        });
        for at in 0..n {
            let count = u64::from(groups[1 - which(at)]);
            let first = u64::from(rank(at)) * count;
            let got = recvs[at as usize].get(2 * count as usize);
            assert!(got == folded(others(at), first..first + count), "reduce_scatter, {label}");
        }
    }
}

/// Long data of teams that `plans` only takes through short ones.
#[test]
fn long_data_of_larger_teams() {
    let (word, sum) = (Datatype::of::<u64>(), Op::from(Predefined::Sum));
    for (n, cpus) in [(40, Cpus::OneHost(2)), (48, Cpus::Shared), (65, Cpus::Own), (70, Cpus::OneHost(12))] {
        let label = format!("{n} ranks, {cpus:?}");
        let teams = teams(ContextId::WORLD, n, cpus);
        let count = u64::from(n) * 300 + 5;
        let root = n / 2;
        let value = |rank: u32| -> Vec<u64> { (0..count).map(|at| at * 5 + u64::from(rank)).collect() };
        let sends: Vec<Memory> = (0..n).map(|rank| Memory::new(&value(rank))).collect();
        let ranks = u64::from(n) * u64::from(n - 1) / 2;
        let summed: Vec<u64> = (0..count).map(|at| at * 5 * u64::from(n) + ranks).collect();
        let bufs: Vec<Memory> = (0..n)
            .map(|rank| Memory::new(&if rank == root { value(root) } else { vec![0; count as usize] }))
            .collect();
        run(&teams, |team, rank| {
            coll::bcast(team, Operand::new(bufs[rank as usize].buf(), count, &word), root as i32)
        });
        assert!(bufs.iter().all(|buf| buf.get(count as usize) == value(root)), "broadcast, {label}");
        run(&teams, |team, rank| {
            let [send, recv] = [&sends, &bufs].map(|all| all[rank as usize].buf());
            coll::allreduce(team, Reduced::new(Some(send), recv, count, &word), &sum)
        });
        assert!(bufs.iter().all(|buf| buf.get(count as usize) == summed), "allreduce, {label}");
        let result = Memory::new(&value(root));
        run(&teams, |team, rank| {
            let recv = if rank == root { result.buf() } else { UserBuf::none() };
            let send = (rank != root).then(|| sends[rank as usize].buf());
            coll::reduce(team, Reduced::new(send, recv, count, &word), &sum, root as i32)
        });
        assert!(result.get(count as usize) == summed, "reduce, {label}");
    }
}
