//! Operations of members on several nodes: what arrives, in plans and over the simulated network, and how many messages go between
//! nodes. `steps` has what they take in teams of every size.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::plans::{Memory, run};
use super::*;
use crate::buffer::OwnedBuf;
use crate::coll::steps::Step;
use crate::coll::{Nodes, choose};

mod steps;

/// Where `n` members are: in runs of so many, by turns, in uneven runs, and anywhere.
fn layouts(n: u32) -> Vec<Vec<u32>> {
    let mut seed = u64::from(n);
    let mut random = |most: u32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u32 % most
    };
    let mut uneven = Vec::new();
    for node in 0.. {
        let len = 1 + random(5);
        uneven.extend((0..len).map(|_| node));
        if uneven.len() >= n as usize {
            break;
        }
    }
    uneven.truncate(n as usize);
    let nodes = 2 + n / 5;
    vec![
        (0..n).map(|rank| rank / 2).collect(),
        (0..n).map(|rank| rank / 4 + 7).collect(),
        (0..n).map(|rank| rank / n.div_ceil(2)).collect(),
        (0..n).map(|rank| rank % nodes).collect(),
        uneven,
        (0..n).map(|_| random(nodes)).collect(),
    ]
}

pub(super) fn teams_on(places: &[u32], oversubscribed: bool) -> Vec<Team> {
    let n = places.len() as u32;
    let group = Arc::new(Group::range(0, n));
    let team = |rank| {
        let team = Team::new(ContextId::WORLD, group.clone(), rank, Accord::of_cpus(oversubscribed));
        if let Some(nodes) = Nodes::of(rank, places.iter().copied()) {
            team.is_on(nodes);
        } else if Nodes::are_apart(places.iter().copied()) {
            team.stands_apart();
        }
        team
    };
    (0..n).map(team).collect()
}

/// Several sizes and layouts.
fn everywhere(sizes: &[u32], mut test: impl FnMut(&[u32], &[Team], &str)) {
    for n in sizes {
        for (which, places) in layouts(*n).into_iter().enumerate() {
            for oversubscribed in [false, true] {
                let label = format!("{n} members, layout {which}, shared CPUs {oversubscribed}");
                test(&places, &teams_on(&places, oversubscribed), &label);
            }
        }
    }
}

/// How many nodes there are, and whether two levels make a difference.
fn nodes(places: &[u32]) -> (usize, bool) {
    let nodes = places.iter().collect::<std::collections::HashSet<_>>().len();
    (nodes, nodes > 1 && nodes < places.len())
}

/// What of an operation goes between nodes, and the longest chain of its messages.
#[derive(Default)]
struct Crossing {
    messages: usize,
    /// The processes that exchange them, the lower rank first: each pair needs a connection.
    pairs: BTreeSet<(u32, u32)>,
    depth: u32,
}

/// Runs an operation; gives what of it goes between nodes.
fn crossing(places: &[u32], teams: &[Team], make: impl Fn(&Team, u32) -> Result<Schedule>) -> Crossing {
    let crossing = RefCell::new(Crossing::default());
    let cost = run(teams, |team, rank| {
        let schedule = make(team, rank)?;
        for step in &schedule.0.steps {
            if let Step::Send { to, .. } = step
                && places[to.0 as usize] != places[rank as usize]
            {
                let mut crossing = crossing.borrow_mut();
                crossing.messages += 1;
                crossing.pairs.insert((rank.min(to.0), rank.max(to.0)));
            }
        }
        Ok(schedule)
    });
    Crossing { depth: cost.depth, ..crossing.into_inner() }
}

/// Runs an operation; gives how many messages go between nodes.
fn between(places: &[u32], teams: &[Team], make: impl Fn(&Team, u32) -> Result<Schedule>) -> usize {
    crossing(places, teams, make).messages
}

const SIZES: [u32; 5] = [2, 3, 5, 8, 13];

#[test]
fn barriers_and_broadcasts_cross_the_network_once_for_each_node() {
    let word = Datatype::of::<u64>();
    everywhere(&SIZES, |places, teams, label| {
        let (n, (nodes, two_levels)) = (teams.len() as u32, nodes(places));
        let rounds = (0..).find(|rounds| 1 << (2 * rounds) >= nodes).unwrap_or(0);
        let messages = between(places, teams, |team, _| Ok(coll::barrier(team)));
        assert!(!two_levels || messages <= nodes * 3 * rounds, "barrier, {label}: {messages}");
        // Short, in several pieces, and in blocks.
        for (root, count) in [(0, 3), (n - 1, 3), (n / 3, 900), (n / 2, 6001), (n - 1, 40_000)] {
            if n > 8 && count > 5000 {
                continue;
            }
            let sent: Vec<u64> = (0..count).map(|i| i * i + u64::from(root)).collect();
            let start = |rank| if rank == root { sent.clone() } else { vec![0; sent.len()] };
            let bufs: Vec<Memory> = (0..n).map(|rank| Memory::new(&start(rank))).collect();
            let messages = between(places, teams, |team, rank| {
                coll::bcast(team, Operand::new(bufs[rank as usize].buf(), count, &word), root as i32)
            });
            for (rank, buf) in bufs.iter().enumerate() {
                assert!(buf.get(count as usize) == sent, "{count} words from {root} at {rank}, {label}");
            }
            assert!(!two_levels || count > 3 || messages == nodes - 1, "broadcast, {label}: {messages}");
        }
    });
}

#[test]
fn prefixes_are_right_wherever_members_are() {
    let (pair, compose) = (pair(), compose());
    everywhere(&SIZES, |places, teams, label| {
        let (n, (nodes, two_levels)) = (teams.len() as u32, nodes(places));
        let rounds = nodes.ilog2() as usize + 1;
        let in_runs = places.is_sorted();
        for (count, inclusive) in [(1, true), (1, false), (700, true), (700, false)] {
            let own: Vec<Memory> = (0..n).map(|rank| Memory::new(&maps(rank, count))).collect();
            let got: Vec<Memory> = (0..n).map(|_| Memory::new(&vec![0; 2 * count as usize])).collect();
            let in_place = |rank: u32| rank % 3 == 1;
            let messages = between(places, teams, |team, rank| {
                let (own, got) = (own[rank as usize].buf(), got[rank as usize].buf());
                let reduced = match in_place(rank) {
                    true => Reduced::new(None, own, count, &pair),
                    false => Reduced::new(Some(own), got, count, &pair),
                };
                if inclusive {
                    coll::scan(team, reduced, &compose)
                } else {
                    coll::exscan(team, reduced, &compose)
                }
            });
            for rank in u32::from(!inclusive)..n {
                let at = if in_place(rank) { &own } else { &got };
                let expected = folded(0..rank + u32::from(inclusive), 0..count);
                let is_right = at[rank as usize].get(expected.len()) == expected;
                assert!(is_right, "{count} at {rank}, inclusive {inclusive}, {label}");
            }
            assert!(!two_levels || !in_runs || messages <= nodes * rounds, "{label}: {messages}");
        }
    });
}

#[test]
fn reductions_are_right_wherever_members_are() {
    let (pair, word) = (pair(), Datatype::of::<u64>());
    let (compose, sum) = (compose(), Op::from(Predefined::Sum));
    everywhere(&SIZES, |places, teams, label| {
        let (n, (nodes, two_levels)) = (teams.len() as u32, nodes(places));
        for count in [1, 1103] {
            if n > 8 && count > 1 {
                continue;
            }
            // In the order of ranks, in place at some.
            let expected = folded(0..n, 0..count);
            let fresh = || -> Vec<Memory> { (0..n).map(|rank| Memory::new(&maps(rank, count))).collect() };
            let zeros = || -> Vec<Memory> { (0..n).map(|_| Memory::new(&vec![0; expected.len()])).collect() };
            let (own, got) = (fresh(), zeros());
            let in_place = |rank: u32| rank % 3 == 1;
            run(teams, |team, rank| {
                let (own, got) = (own[rank as usize].buf(), got[rank as usize].buf());
                let reduced = match in_place(rank) {
                    true => Reduced::new(None, own, count, &pair),
                    false => Reduced::new(Some(own), got, count, &pair),
                };
                coll::allreduce(team, reduced, &compose)
            });
            for rank in 0..n {
                let at = if in_place(rank) { &own } else { &got };
                assert!(
                    at[rank as usize].get(expected.len()) == expected,
                    "allreduce of {count} at {rank}, {label}"
                );
            }
            for root in [0, n / 2, n - 1] {
                let (own, got) = (fresh(), zeros());
                run(teams, |team, rank| {
                    let (own, got) = (own[rank as usize].buf(), got[rank as usize].buf());
                    coll::reduce(team, Reduced::new(Some(own), got, count, &pair), &compose, root as i32)
                });
                assert!(
                    got[root as usize].get(expected.len()) == expected,
                    "reduce of {count} to {root}, {label}"
                );
            }
            // What commutes goes over the network once for each node.
            let words = count * 2;
            let total: Vec<u64> = (0..words as usize)
                .map(|at| (0..n).fold(0u64, |sum, rank| sum.wrapping_add(maps(rank, count)[at])))
                .collect();
            let (own, got) = (fresh(), zeros());
            let messages = between(places, teams, |team, rank| {
                let (own, got) = (own[rank as usize].buf(), got[rank as usize].buf());
                coll::allreduce(team, Reduced::new(Some(own), got, words, &word), &sum)
            });
            assert!(got.iter().all(|got| got.get(total.len()) == total), "sum of {words}, {label}");
            let rounds = nodes.ilog2() as usize + 2;
            assert!(!two_levels || messages <= nodes * rounds.max(2 * (nodes - 1)), "{label}: {messages}");
            for root in [0, n / 2, n - 1] {
                let (own, got) = (fresh(), zeros());
                let messages = between(places, teams, |team, rank| {
                    let (own, got) = (own[rank as usize].buf(), got[rank as usize].buf());
                    let in_place = rank == root && count == 1;
                    let (send, recv) = if in_place { (None, own) } else { (Some(own), got) };
                    coll::reduce(team, Reduced::new(send, recv, words, &word), &sum, root as i32)
                });
                let at = if count == 1 { &own } else { &got };
                assert!(at[root as usize].get(total.len()) == total, "sum of {words} at {root}, {label}");
                assert!(!two_levels || count > 1 || messages == nodes - 1, "{label}: {messages}");
            }
        }
    });
}

#[test]
fn what_all_give_all_is_gathered_for_each_node() {
    let word = Datatype::of::<u64>();
    everywhere(&SIZES, |places, teams, label| {
        let (n, (nodes, two_levels)) = (teams.len() as u32, nodes(places));
        let in_runs = places.is_sorted();
        for count in [1u64, if n > 8 { 20 } else { 700 }] {
            let all: Vec<u64> = (0..u64::from(n) * count).map(|at| at * 7 + 3).collect();
            let block = |rank: u32| all[(u64::from(rank) * count) as usize..][..count as usize].to_vec();
            for in_place in [false, true] {
                let own: Vec<Memory> = (0..n).map(|rank| Memory::new(&block(rank))).collect();
                let got: Vec<Memory> = (0..n)
                    .map(|rank| {
                        let mut start = vec![0; all.len()];
                        start[(u64::from(rank) * count) as usize..][..count as usize]
                            .copy_from_slice(&block(rank));
                        Memory::new(&start)
                    })
                    .collect();
                let messages = between(places, teams, |team, rank| {
                    let own = Operand::new(own[rank as usize].buf(), count, &word);
                    let recv = Operand::new(got[rank as usize].buf(), count, &word);
                    coll::allgather(team, (!in_place).then_some(own), recv)
                });
                assert!(got.iter().all(|got| got.get(all.len()) == all), "allgather of {count}, {label}");
                let expected = nodes * (nodes - 1);
                assert!(!two_levels || !in_runs || messages == expected, "allgather, {label}: {messages}");

                let sent = |from: u32, to: u32| u64::from(from) * 1000 + u64::from(to);
                let row = |from: u32| -> Vec<u64> {
                    (0..n).flat_map(|to| vec![sent(from, to); count as usize]).collect()
                };
                let own: Vec<Memory> = (0..n).map(|rank| Memory::new(&row(rank))).collect();
                let got: Vec<Memory> = (0..n).map(|_| Memory::new(&vec![0; all.len()])).collect();
                let messages = between(places, teams, |team, rank| {
                    let at = |bufs: &[Memory]| Operand::new(bufs[rank as usize].buf(), count, &word);
                    match in_place {
                        true => coll::alltoall(team, None, at(&own)),
                        false => coll::alltoall(team, Some(at(&own)), at(&got)),
                    }
                });
                for (rank, got) in (0..n).zip(if in_place { &own } else { &got }) {
                    let expected: Vec<u64> =
                        (0..n).flat_map(|from| vec![sent(from, rank); count as usize]).collect();
                    assert!(got.get(all.len()) == expected, "alltoall of {count} at {rank}, {label}");
                }
                let few = !two_levels || !in_runs || count > 1 || messages == nodes * (nodes - 1);
                assert!(few, "alltoall, {label}: {messages}");
            }
        }
    });
}

/// A block of each for one and of one for each, of one length and of several; blocks of the combination of all.
#[test]
fn short_blocks_are_gathered_for_each_node() {
    let (word, pair, compose) = (Datatype::of::<u64>(), pair(), compose());
    let sum = Op::from(Predefined::Sum);
    everywhere(&SIZES, |places, teams, label| {
        let (n, (nodes, two_levels)) = (teams.len() as u32, nodes(places));
        let is_short = |block: u64| {
            let largest = places.iter().map(|at| places.iter().filter(|other| *other == at).count()).max();
            choose::alltoall_goes_through_leaders(largest.unwrap_or(0) as u32, block)
        };
        let few = |messages: usize, most: usize, block: u64, what: &str| {
            let is_gathered = two_levels && places.is_sorted() && is_short(block);
            assert!(!is_gathered || messages <= most, "{what}, blocks of {block} bytes, {label}: {messages}");
        };
        for (root, count) in [(0, 1u64), (n / 2, 3), (n - 1, 700)] {
            let all: Vec<u64> = (0..u64::from(n) * count).map(|at| at * 5 + 1).collect();
            let block = |rank: u32| all[(u64::from(rank) * count) as usize..][..count as usize].to_vec();
            for in_place in [false, true] {
                let own: Vec<Memory> = (0..n).map(|rank| Memory::new(&block(rank))).collect();
                let mut start = vec![0; all.len()];
                if in_place {
                    start[(u64::from(root) * count) as usize..][..count as usize]
                        .copy_from_slice(&block(root));
                }
                let got = Memory::new(&start);
                let stays = |rank: u32| in_place && rank == root;
                let own_of = |rank: u32| Operand::new(own[rank as usize].buf(), count, &word);
                let whole = |rank: u32| (rank == root).then(|| Operand::new(got.buf(), count, &word));
                let messages = between(places, teams, |team, rank| {
                    let own = (!stays(rank)).then(|| own_of(rank));
                    coll::gather(team, own, whole(rank), root as i32)
                });
                assert!(got.get(all.len()) == all, "gather of {count} at {root}, {label}");
                few(messages, nodes - 1, 8 * count, "gather");
                let back: Vec<Memory> = (0..n).map(|_| Memory::new(&vec![0; count as usize])).collect();
                let messages = between(places, teams, |team, rank| {
                    let own = Operand::new(back[rank as usize].buf(), count, &word);
                    coll::scatter(team, whole(rank), (!stays(rank)).then_some(own), root as i32)
                });
                for (rank, back) in (0..n).zip(&back).filter(|(rank, _)| !stays(*rank)) {
                    assert!(back.get(count as usize) == block(rank), "scatter of {count} to {rank}, {label}");
                }
                few(messages, nodes - 1, 8 * count, "scatter");
            }
        }
        for lengths in [[2, 2, 2], [0, 5, 3]] {
            let counts: Vec<u64> = (0..n).map(|rank| lengths[rank as usize % 3]).collect();
            let firsts: Vec<u64> = counts
                .iter()
                .scan(0, |first, count| Some(std::mem::replace(first, *first + count)))
                .collect();
            let all: u64 = counts.iter().sum();
            // Blocks in the other order, with gaps.
            let behind = |rank: usize| firsts[rank] + counts[rank] + rank as u64;
            let places_of: Vec<i64> =
                (0..n as usize).map(|rank| (2 * all + u64::from(n) - behind(rank)) as i64).collect();
            let block = |rank: u32| -> Vec<u64> {
                (0..counts[rank as usize]).map(|at| u64::from(rank) * 100 + at + 1).collect()
            };
            let mut expected = vec![0; 2 * all as usize + n as usize];
            for rank in 0..n {
                let block = block(rank);
                expected[places_of[rank as usize] as usize..][..block.len()].copy_from_slice(&block);
            }
            for in_place in [false, true] {
                let own: Vec<Memory> = (0..n).map(|rank| Memory::new(&block(rank))).collect();
                let mut got = Vec::new();
                for rank in 0..n {
                    let mut start = vec![0; expected.len()];
                    if in_place {
                        start[places_of[rank as usize] as usize..][..counts[rank as usize] as usize]
                            .copy_from_slice(&block(rank));
                    }
                    got.push(Memory::new(&start));
                }
                let messages = between(places, teams, |team, rank| {
                    let at = rank as usize;
                    let own = Operand::new(own[at].buf(), counts[at], &word);
                    let recv = Blocks {
                        buf: got[at].buf(),
                        counts: &counts,
                        displacements: &places_of,
                        datatype: &word,
                    };
                    coll::allgatherv(team, (!in_place).then_some(own), recv)
                });
                let is_right = got.iter().all(|got| got.get(expected.len()) == expected);
                assert!(is_right, "allgatherv of {lengths:?}, in place {in_place}, {label}");
                few(messages, nodes * (nodes - 1), 8, "allgatherv");
                for commutes in [false, true] {
                    let (datatype, op, size) = if commutes { (&word, &sum, 1) } else { (&pair, &compose, 2) };
                    let bufs =
                        || -> Vec<Memory> { (0..n).map(|rank| Memory::new(&maps(rank, all))).collect() };
                    let (sends, recvs) = (bufs(), bufs());
                    let messages = between(places, teams, |team, rank| {
                        let send = (!in_place).then(|| sends[rank as usize].buf());
                        let recv = recvs[rank as usize].buf();
                        if lengths[0] == lengths[1] {
                            let reduced = Reduced::new(send, recv, lengths[0], datatype);
                            return coll::reduce_scatter_block(team, reduced, op);
                        }
                        coll::reduce_scatter(team, Reduced::new(send, recv, &counts[..], datatype), op)
                    });
                    for rank in 0..n as usize {
                        let (first, len) = (firsts[rank], counts[rank]);
                        let expected: Vec<u64> = match commutes {
                            false => folded(0..n, first..first + len),
                            true => (first..first + len)
                                .map(|at| {
                                    let of = |rank| maps(rank, all)[at as usize];
                                    (0..n).map(of).fold(0, u64::wrapping_add)
                                })
                                .collect(),
                        };
                        let got = recvs[rank].get((len * size) as usize);
                        let label = format!("{lengths:?}, commutes {commutes}, in place {in_place}, {label}");
                        assert!(got == expected, "reduce-scatter at {rank} of {label}");
                    }
                    few(messages, nodes * (nodes - 1), 8 * size * 5, "reduce-scatter");
                }
            }
        }
    });
}

/// The connections of lanes: those who stand at the same place on different nodes, which have so many members each.
fn lanes(n: u32, members: u32) -> BTreeSet<(u32, u32)> {
    let pairs = (0..n).flat_map(|low| (low + 1..n).map(move |high| (low, high)));
    pairs.filter(|(low, high)| (high - low).is_multiple_of(members)).collect()
}

/// Each member of a node combines a part with those at the same place on the other nodes.
#[test]
fn long_reductions_to_all_go_in_lanes() {
    let (pair, compose) = (pair(), compose());
    // Parts of up to four members are long enough.
    let count = 4 * 4096 + 3;
    let mut in_lanes = 0;
    everywhere(&[4, 6, 8], |places, teams, label| {
        let n = teams.len() as u32;
        let expected = folded(0..n, 0..count);
        let own: Vec<Memory> = (0..n).map(|rank| Memory::new(&maps(rank, count))).collect();
        let got: Vec<Memory> = (0..n).map(|_| Memory::new(&vec![0; expected.len()])).collect();
        let in_place = |rank: u32| rank % 3 == 1;
        let Crossing { messages, pairs, .. } = crossing(places, teams, |team, rank| {
            let (own, got) = (own[rank as usize].buf(), got[rank as usize].buf());
            let (send, recv) = if in_place(rank) { (None, own) } else { (Some(own), got) };
            coll::allreduce(team, Reduced::new(send, recv, count, &pair), &compose)
        });
        for rank in 0..n {
            let at = if in_place(rank) { &own } else { &got };
            assert!(at[rank as usize].get(expected.len()) == expected, "at {rank}, {label}");
        }
        let members = Nodes::of(0, places.iter().copied()).and_then(|nodes| nodes.members_of_each());
        if let Some(members) = members {
            in_lanes += 1;
            let nodes = n / members;
            assert_eq!(messages as u32, members * nodes * 2 * (nodes - 1), "{label}");
            assert_eq!(pairs, lanes(n, members), "{label}");
        }
    });
    assert!(in_lanes > 6, "{in_lanes}");
    for seed in 1..=6 {
        let mut room = Room::new(6, seed % 2 == 0, seed, ROUGH);
        room.teams = teams_on(&[0, 0, 0, 1, 1, 1], seed % 2 == 0);
        let expected = folded(0..6, 0..count);
        let own: Vec<Words> = (0..6).map(|rank| Words::new(&maps(rank, count))).collect();
        let got: Vec<Words> = (0..6).map(|_| Words::zeros(expected.len())).collect();
        room.succeed(|team, rank| {
            let (own, got) = (own[rank as usize].buf(), got[rank as usize].buf());
            coll::allreduce(team, Reduced::new(Some(own), got, count, &pair), &compose)
        });
        assert!(got.iter().all(|got| got.get() == expected), "seed {seed}");
    }
}

/// Each member gathers from those at the same place on the other nodes: both of two, and all of more where blocks are very long.
#[test]
fn long_blocks_are_gathered_in_lanes() {
    let word = Datatype::of::<u64>();
    let mut in_lanes = [0; 2];
    everywhere(&[4, 6, 8], |places, teams, label| {
        let n = teams.len() as u32;
        let members = Nodes::of(0, places.iter().copied()).and_then(|nodes| nodes.members_of_each());
        let Some(members) = members else { return };
        let count = if members == 2 { 2048 + 3 } else { 128 << 10 };
        let all: Vec<u64> = (0..u64::from(n) * count).map(|at| at * 7 + 3).collect();
        let block = |rank: u32| &all[(u64::from(rank) * count) as usize..][..count as usize];
        let own: Vec<Memory> = (0..n).map(|rank| Memory::new(block(rank))).collect();
        let got: Vec<Memory> = (0..n)
            .map(|rank| {
                let mut start = vec![0; all.len()];
                start[(u64::from(rank) * count) as usize..][..count as usize].copy_from_slice(block(rank));
                Memory::new(&start)
            })
            .collect();
        let Crossing { messages, pairs, .. } = crossing(places, teams, |team, rank| {
            let own = Operand::new(own[rank as usize].buf(), count, &word);
            let recv = Operand::new(got[rank as usize].buf(), count, &word);
            coll::allgather(team, (rank % 3 != 1).then_some(own), recv)
        });
        assert!(got.iter().all(|got| got.get(all.len()) == all), "{label}");
        assert_eq!(messages as u32, n * (n / members - 1), "{label}");
        assert_eq!(pairs, lanes(n, members), "{label}");
        in_lanes[usize::from(members > 2)] += 1;
    });
    assert!(in_lanes.iter().all(|times| *times > 1), "{in_lanes:?}");
    for seed in 1..=6 {
        let (n, count) = (6, 2048u64);
        let mut room = Room::new(n, seed % 2 == 0, seed, ROUGH);
        room.teams = teams_on(&[0, 0, 1, 1, 2, 2], seed % 2 == 0);
        let own: Vec<Words> =
            (0..n).map(|rank| Words::new(&vec![u64::from(rank) + 1; count as usize])).collect();
        let got: Vec<Words> = (0..n).map(|_| Words::zeros((u64::from(n) * count) as usize)).collect();
        room.succeed(|team, rank| {
            let own = Operand::new(own[rank as usize].buf(), count, &word);
            coll::allgather(team, Some(own), Operand::new(got[rank as usize].buf(), count, &word))
        });
        let expected: Vec<u64> = (0..n).flat_map(|rank| vec![u64::from(rank) + 1; count as usize]).collect();
        assert!(got.iter().all(|got| got.get() == expected), "seed {seed}");
    }
}

#[test]
fn operations_in_two_levels_over_the_simulated_network() {
    let (pair, compose) = (pair(), compose());
    for seed in 1..=18u64 {
        let n = [3, 4, 6, 9, 12][seed as usize % 5];
        let places = layouts(n).swap_remove(seed as usize % 6);
        let mut room = Room::new(n, seed % 2 == 0, seed, if seed % 3 == 0 { CALM } else { ROUGH });
        room.teams = teams_on(&places, seed % 2 == 0);
        for count in [1u64, 40, 4001] {
            let expected = folded(0..n, 0..count);
            let own: Vec<Words> = (0..n).map(|rank| Words::new(&maps(rank, count))).collect();
            let got: Vec<Words> = (0..n).map(|_| Words::zeros(expected.len())).collect();
            room.succeed(|team, rank| {
                let (own, got) = (own[rank as usize].buf(), got[rank as usize].buf());
                coll::allreduce(team, Reduced::new(Some(own), got, count, &pair), &compose)
            });
            assert!(got.iter().all(|got| got.get() == expected), "allreduce of {count}, seed {seed}");
            let root = room.bench.network.random(u64::from(n)) as u32;
            room.succeed(|team, rank| {
                coll::bcast(team, Operand::new(own[rank as usize].buf(), count, &pair), root as i32)
            });
            assert!(
                own.iter().all(|own| own.get() == maps(root, count)),
                "broadcast of {count}, seed {seed}"
            );
            let all: Vec<u64> = (0..n).flat_map(|rank| maps(rank, count)).collect();
            let own: Vec<Words> = (0..n).map(|rank| Words::new(&maps(rank, count))).collect();
            let got: Vec<Words> = (0..n).map(|_| Words::zeros(all.len())).collect();
            room.succeed(|team, rank| {
                let own = Operand::new(own[rank as usize].buf(), count, &pair);
                coll::allgather(team, Some(own), Operand::new(got[rank as usize].buf(), count, &pair))
            });
            assert!(got.iter().all(|got| got.get() == all), "allgather of {count}, seed {seed}");
            let back: Vec<Words> = (0..n).map(|_| Words::zeros(all.len())).collect();
            room.succeed(|team, rank| {
                let send = Operand::new(got[rank as usize].buf(), count, &pair);
                coll::alltoall(team, Some(send), Operand::new(back[rank as usize].buf(), count, &pair))
            });
            for (rank, back) in (0..n).zip(&back) {
                let expected: Vec<u64> = (0..n).flat_map(|_| maps(rank, count)).collect();
                assert!(back.get() == expected, "alltoall of {count} at {rank}, seed {seed}");
            }
            let back: Vec<Words> = (0..n).map(|_| Words::zeros(all.len() / n as usize)).collect();
            let whole = Words::zeros(all.len());
            let at_root = |rank: u32| (rank == root).then(|| Operand::new(whole.buf(), count, &pair));
            room.succeed(|team, rank| {
                let own = Operand::new(own[rank as usize].buf(), count, &pair);
                coll::gather(team, Some(own), at_root(rank), root as i32)
            });
            assert!(whole.get() == all, "gather of {count}, seed {seed}");
            room.succeed(|team, rank| {
                let own = Operand::new(back[rank as usize].buf(), count, &pair);
                coll::scatter(team, at_root(rank), Some(own), root as i32)
            });
            for (rank, back) in (0..n).zip(&back) {
                assert!(back.get() == maps(rank, count), "scatter of {count} to {rank}, seed {seed}");
            }
            let long: Vec<Words> = (0..n).map(|rank| Words::new(&maps(rank, count * u64::from(n)))).collect();
            room.succeed(|team, rank| {
                let (own, got) = (long[rank as usize].buf(), back[rank as usize].buf());
                coll::reduce_scatter_block(team, Reduced::new(Some(own), got, count, &pair), &compose)
            });
            for (rank, back) in (0..u64::from(n)).zip(&back) {
                let expected = folded(0..n, rank * count..(rank + 1) * count);
                assert!(back.get() == expected, "reduce-scatter of {count} at {rank}, seed {seed}");
            }
            room.succeed(|team, _| Ok(coll::barrier(team)));
        }
    }
}

/// Data whose elements do not fit into pieces, and have many runs, comes packed; gaps stay as they are.
#[test]
fn a_long_broadcast_of_scattered_data_comes_packed() {
    const COUNT: u64 = 4000;
    let odd = Datatype::hindexed(&[1, 2], &[0, 24], &Datatype::of::<u64>()).unwrap();
    odd.commit();
    for seed in 1..=4 {
        let mut room = Room::new(5, false, seed, if seed % 2 == 0 { CALM } else { ROUGH });
        room.teams = teams_on(&[0, 0, 1, 1, 2], false);
        for root in [0u32, 3] {
            let sent = |at: u64| if [1, 2].contains(&(at % 5)) { 0 } else { at + 1 };
            let all: Vec<u64> = (0..5 * COUNT).map(sent).collect();
            let bufs: Vec<Words> = (0..5)
                .map(|rank| if rank == root { Words::new(&all) } else { Words::zeros(all.len()) })
                .collect();
            room.succeed(|team, rank| {
                coll::bcast(team, Operand::new(bufs[rank as usize].buf(), COUNT, &odd), root as i32)
            });
            assert!(bufs.iter().all(|buf| buf.get() == all), "root {root}, seed {seed}");
        }
    }
    let memory = OwnedBuf::new(8);
    let data = Operand::new(memory.user_buf(), 1 << 20, &odd);
    let team = &teams_on(&[0, 1, 2], false)[1];
    let plan = coll::bcast(team, data, 0).unwrap().0;
    assert_eq!(plan.temporaries.iter().map(OwnedBuf::len).sum::<usize>(), 24 << 20, "once");
}

/// However long the data, few pieces of a broadcast are under way to each member below.
#[test]
fn a_long_broadcast_has_few_pieces_under_way() {
    let (memory, byte) = (OwnedBuf::new(8), Datatype::byte());
    // Nothing is read: the plan alone is looked at.
    let data = Operand::new(memory.user_buf(), 200 * choose::PIECE, &byte);
    let few = teams_on(&[0, 0, 1, 1], false);
    for team in few.iter().chain(&teams(ContextId::WORLD, 70, Cpus::OneHost(2))) {
        let (mut sent, mut most) = (0, 0);
        for step in &coll::bcast(team, data, 0).unwrap().0.steps {
            match step {
                Step::Send { .. } => sent += 1,
                Step::Fence => sent = 0,
                _ => {}
            }
            most = most.max(sent);
        }
        assert!(most <= 69 * choose::PIECES_AT_ONCE, "{most} under way");
    }
}
