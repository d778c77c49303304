//! What operations in two levels take in teams of every size: how many steps, and which processes of different nodes exchange messages,
//! for each pair of which there is a connection. What arrives is compared with what the operation should give.
//!
//! Counts are short; [`long_data_crosses_between_leaders`] has long ones, and `super` those of lanes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::super::plans::{depth, rounds};
use super::*;

/// A team on nodes.
struct Site {
    places: Vec<u32>,
    teams: Vec<Team>,
    /// The members of each node.
    nodes: Vec<Vec<u32>>,
    /// Most members of a node, and whether each has as many.
    largest: u32,
    is_even: bool,
    /// The ranks of each node follow each other.
    in_runs: bool,
    shares_cpus: bool,
    label: String,
}

impl Site {
    fn new(places: &[u32], shares_cpus: bool, which: usize) -> Self {
        let mut nodes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (rank, place) in (0..).zip(places) {
            nodes.entry(*place).or_default().push(rank);
        }
        let nodes: Vec<Vec<u32>> = nodes.into_values().collect();
        let largest = nodes.iter().map(Vec::len).max().unwrap_or(0);
        Self {
            teams: teams_on(places, shares_cpus),
            largest: largest as u32,
            is_even: nodes.iter().all(|node| node.len() == largest),
            in_runs: places.is_sorted(),
            shares_cpus,
            label: format!("{} members, layout {which}, shared CPUs {shares_cpus}", places.len()),
            places: places.to_vec(),
            nodes,
        }
    }

    fn n(&self) -> u32 {
        self.places.len() as u32
    }

    fn nodes(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Radix of trees.
    fn radix(&self) -> u32 {
        if self.shares_cpus { 64 } else { 4 }
    }

    /// Radix of exchanges between nodes.
    fn radix_of_nodes(&self) -> u32 {
        if self.shares_cpus { 2 } else { 4 }
    }

    /// Whether it makes a difference where members are.
    fn has_two_levels(&self) -> bool {
        self.nodes() > 1 && self.largest > 1
    }

    /// Whether blocks of so many bytes go through one member of each node.
    fn gathers_blocks_of(&self, bytes: u64) -> bool {
        self.in_runs && choose::alltoall_goes_through_leaders(self.largest, bytes)
    }

    /// The first member of each node, but that the root stands for its own.
    fn leaders(&self, root: u32) -> BTreeSet<u32> {
        self.nodes.iter().map(|node| if node.contains(&root) { root } else { node[0] }).collect()
    }

    /// The last member of each node.
    fn lasts(&self) -> BTreeSet<u32> {
        self.nodes.iter().map(|node| node[node.len() - 1]).collect()
    }

    fn memories(&self, words: impl Fn(u32) -> Vec<u64>) -> Vec<Memory> {
        (0..self.n()).map(|rank| Memory::new(&words(rank))).collect()
    }

    /// Runs an operation that takes two levels, if there are two. Then only `leaders` exchange messages with other nodes, `connections`
    /// pairs of them; and the longest chain of messages has as many `steps`, or fewer where some nodes have fewer members.
    fn run(
        &self,
        what: &str,
        (leaders, connections): (&BTreeSet<u32>, RangeInclusive<u32>),
        steps: RangeInclusive<u32>,
        make: impl Fn(&Team, u32) -> Result<Schedule>,
    ) {
        let Crossing { pairs, depth, .. } = crossing(&self.places, &self.teams, make);
        if !self.has_two_levels() {
            return;
        }
        let label = &self.label;
        let lead = |(low, high): &(u32, u32)| leaders.contains(low) && leaders.contains(high);
        assert!(pairs.iter().all(lead), "{what}, {label}: {pairs:?} are connected, and {leaders:?} lead");
        let count = pairs.len() as u32;
        assert!(connections.contains(&count), "{what}, {label}: {count} connections, not {connections:?}");
        let is_less = !self.is_even && depth <= *steps.end();
        assert!(is_less || steps.contains(&depth), "{what}, {label}: {depth} steps, not {steps:?}");
    }
}

fn exactly(number: u32) -> RangeInclusive<u32> {
    number..=number
}

/// Every size up to 70 and two larger ones, other ones each time, in all layouts. Size and number of the layout say where all are.
fn every_size(mut test: impl FnMut(&Site)) {
    let now = std::time::UNIX_EPOCH.elapsed().expect("a clock").subsec_nanos();
    let large = [71 + now / 100 % 60, 131 + now / 10_000 % 100];
    for n in (1..=70).chain(large) {
        for (which, places) in layouts(n).iter().enumerate() {
            for shares_cpus in [false, true] {
                // Of small teams, one with and one without shared CPUs in turns: those of four more members are the other ones.
                if n > 70 || (n as usize / 4 + which).is_multiple_of(2) == shares_cpus {
                    test(&Site::new(places, shares_cpus, which));
                }
            }
        }
    }
}

#[test]
fn steps_grow_with_the_logarithms_of_nodes_and_of_their_members() {
    let (word, sum) = (Datatype::of::<u64>(), Op::from(Predefined::Sum));
    let (pair, compose) = (pair(), compose());
    every_size(|site| {
        let (n, nodes, label) = (site.n(), site.nodes(), &site.label);
        let (inside, others) = (depth(site.largest, site.radix()), nodes - 1);
        let (first, turns) = (site.leaders(0), rounds(nodes, site.radix_of_nodes()));
        let meet = |team: &Team, _| Ok(coll::barrier(team));
        site.run(
            "barrier",
            (&first, others..=nodes * (site.radix_of_nodes() - 1) * turns),
            exactly(2 * inside + turns),
            meet,
        );

        let count = u64::from(1 + n % 3);
        let words = 2 * count as usize;
        let own = site.memories(|rank| maps(rank, count));
        let all: Vec<Vec<u64>> = (0..n).map(|rank| maps(rank, count)).collect();
        let total: Vec<u64> =
            (0..words).map(|at| all.iter().map(|own| own[at]).fold(0, u64::wrapping_add)).collect();
        for root in BTreeSet::from([0, n / 3, n - 1]) {
            let leaders = site.leaders(root);
            let bufs = site.memories(|rank| if rank == root { maps(root, count) } else { vec![0; words] });
            let steps = exactly(depth(nodes, 4) + inside);
            site.run("broadcast", (&leaders, exactly(others)), steps, |team, rank| {
                coll::bcast(team, Operand::new(bufs[rank as usize].buf(), count, &pair), root as i32)
            });
            let is_right = bufs.iter().all(|buf| buf.get(words) == all[root as usize]);
            assert!(is_right, "broadcast from {root}, {label}");
            let result = Memory::new(&vec![0; words]);
            let steps = exactly(depth(nodes, site.radix()) + inside);
            site.run("reduce", (&leaders, exactly(others)), steps, |team, rank| {
                let recv = if rank == root { result.buf() } else { UserBuf::none() };
                let send = Some(own[rank as usize].buf());
                coll::reduce(team, Reduced::new(send, recv, 2 * count, &word), &sum, root as i32)
            });
            assert!(result.get(words) == total, "reduce to {root}, {label}");
        }
        // Where the number of nodes is no power of two, pairs come before that and after it.
        let power = 1 << nodes.ilog2();
        let fours = if site.radix_of_nodes() == 4 { nodes.ilog2() / 2 } else { 0 };
        let pairs = nodes.ilog2() - 2 * fours;
        let connections = exactly(power / 4 * 6 * fours + power / 2 * pairs + nodes - power);
        let least = 2 * inside + fours + pairs;
        let most = least + 2 * u32::from(nodes > power);
        for commutes in [true, false] {
            let (datatype, op, count) =
                if commutes { (&word, &sum, 2 * count) } else { (&pair, &compose, count) };
            let results = site.memories(|_| vec![0; words]);
            let plan = |team: &Team, rank: u32| {
                let [own, got] = [&own, &results].map(|all| all[rank as usize].buf());
                coll::allreduce(team, Reduced::new(Some(own), got, count, datatype), op)
            };
            match commutes || site.in_runs {
                true => {
                    let steps = least..=most;
                    site.run("allreduce", (&first, connections.clone()), steps, plan);
                }
                false => drop(run(&site.teams, plan)),
            }
            let expected = if commutes { total.clone() } else { folded(0..n, 0..count) };
            let is_right = results.iter().all(|got| got.get(words) == expected);
            assert!(is_right, "allreduce, commutes {commutes}, {label}");
        }
    });
}

/// With a node and a CPU for each, in groups of four.
#[test]
fn members_on_nodes_of_their_own_go_in_groups_of_four() {
    let (pair, compose) = (pair(), compose());
    for n in 2..=70 {
        let places: Vec<u32> = (0..n).collect();
        let teams = teams_on(&places, false);
        let Crossing { depth, .. } = crossing(&places, &teams, |team, _| Ok(coll::barrier(team)));
        assert_eq!(depth, rounds(n, 4), "barrier of {n}");
        let own: Vec<Memory> = (0..n).map(|rank| Memory::new(&maps(rank, 2))).collect();
        let results: Vec<Memory> = (0..n).map(|_| Memory::new(&[0; 4])).collect();
        let Crossing { depth, .. } = crossing(&places, &teams, |team, rank| {
            let [own, got] = [&own, &results].map(|all| all[rank as usize].buf());
            coll::allreduce(team, Reduced::new(Some(own), got, 2, &pair), &compose)
        });
        let turns = n.ilog2().div_ceil(2);
        assert!((turns..=turns + 2).contains(&depth), "allreduce of {n}: {depth} steps");
        assert!(n.is_power_of_two() <= (depth == turns), "allreduce of {n}: {depth} steps");
        let expected = folded(0..n, 0..2);
        assert!(results.iter().all(|got| got.get(4) == expected), "allreduce of {n}");
    }
}

/// Blocks that all have for one or for all, or one for all, and prefixes, whose last members of nodes lead.
#[test]
fn blocks_go_between_one_member_of_each_node() {
    let (word, pair, compose) = (Datatype::of::<u64>(), pair(), compose());
    let sum = Op::from(Predefined::Sum);
    every_size(|site| {
        let (n, nodes, label) = (site.n(), site.nodes(), &site.label);
        // In messages to the leader, in those between all leaders, and from the leader.
        let (collected, inside) = (depth(site.largest, 64), depth(site.largest, site.radix()));
        let (windows, all_pairs) = ((nodes - 1).div_ceil(32), exactly(nodes * (nodes - 1) / 2));
        let first = site.leaders(0);
        let block = |from: u32, to: u32| u64::from(from) << 20 | u64::from(to + 1);
        let blocks: Vec<u64> = (0..n).map(|rank| block(rank, 0)).collect();
        let own = site.memories(|rank| vec![block(rank, 0)]);
        let at = |bufs: &[Memory], rank: u32| Operand::new(bufs[rank as usize].buf(), 1, &word);
        // What goes flat is `super`'s and `shapes`'s business.
        if site.gathers_blocks_of(8) {
            for root in BTreeSet::from([0, n / 3, n - 1]) {
                let (leaders, whole) = (site.leaders(root), Memory::new(&vec![0; n as usize]));
                let to_root = (&leaders, exactly(nodes - 1));
                let all = |rank: u32| (rank == root).then(|| Operand::new(whole.buf(), 1, &word));
                site.run("gather", to_root.clone(), exactly(collected + 1), |team, rank| {
                    coll::gather(team, Some(at(&own, rank)), all(rank), root as i32)
                });
                assert!(whole.get(n as usize) == blocks, "gather to {root}, {label}");
                let back = site.memories(|_| vec![0]);
                site.run("scatter", to_root, exactly(collected + 1), |team, rank| {
                    coll::scatter(team, all(rank), Some(at(&back, rank)), root as i32)
                });
                let is_right = back.iter().zip(&blocks).all(|(back, block)| back.get(1) == [*block]);
                assert!(is_right, "scatter from {root}, {label}");
            }
            let own = site.memories(|from| (0..n).map(|to| block(from, to)).collect());
            let got = site.memories(|_| vec![0; n as usize]);
            site.run("alltoall", (&first, all_pairs.clone()), exactly(windows + 2), |team, rank| {
                coll::alltoall(team, Some(at(&own, rank)), at(&got, rank))
            });
            for (rank, got) in (0..n).zip(&got) {
                let expected: Vec<u64> = (0..n).map(|from| block(from, rank)).collect();
                assert!(got.get(n as usize) == expected, "alltoall at {rank}, {label}");
            }
        }
        if site.gathers_blocks_of(16) {
            let terms: Vec<Vec<u64>> = (0..n).map(|rank| maps(rank, n.into())).collect();
            let own = site.memories(|rank| terms[rank as usize].clone());
            let all = folded(0..n, 0..n.into());
            for commutes in [true, false] {
                let got = site.memories(|_| vec![0; 2]);
                let (datatype, op, count) = if commutes { (&word, &sum, 2) } else { (&pair, &compose, 1) };
                let steps = inside + 2..=inside + windows + 1;
                site.run("reduce-scatter", (&first, all_pairs.clone()), steps, |team, rank| {
                    let [own, got] = [&own, &got].map(|all| all[rank as usize].buf());
                    coll::reduce_scatter_block(team, Reduced::new(Some(own), got, count, datatype), op)
                });
                let total = |at: usize| terms.iter().map(|own| own[at]).fold(0, u64::wrapping_add);
                for (at, got) in got.iter().enumerate() {
                    let expected = match commutes {
                        true => [total(2 * at), total(2 * at + 1)],
                        false => [all[2 * at], all[2 * at + 1]],
                    };
                    assert!(got.get(2) == expected, "reduce-scatter at {at}, commutes {commutes}, {label}");
                }
            }
        }
        if !site.in_runs {
            return;
        }
        let counts = vec![1; n as usize];
        let places: Vec<i64> = (0..i64::from(n)).collect();
        for of_lengths in [false, true] {
            let got = site.memories(|_| vec![0; n as usize]);
            let to_leader = if of_lengths { 1 } else { collected };
            let steps = exactly(to_leader + windows + inside);
            site.run("allgather", (&first, all_pairs.clone()), steps, |team, rank| {
                let (own, recv) = (Some(at(&own, rank)), at(&got, rank));
                let blocks =
                    Blocks { buf: recv.buf, counts: &counts, displacements: &places, datatype: &word };
                if of_lengths {
                    coll::allgatherv(team, own, blocks)
                } else {
                    coll::allgather(team, own, recv)
                }
            });
            let is_right = got.iter().all(|got| got.get(n as usize) == blocks);
            assert!(is_right, "allgather, of lengths {of_lengths}, {label}");
        }
        let own = site.memories(|rank| maps(rank, 1));
        for inclusive in [true, false] {
            let got = site.memories(|_| vec![0; 2]);
            let chain = site.shares_cpus && site.largest > 2;
            let shift = u32::from(!inclusive);
            let before = if chain { site.largest - 1 } else { shift + rounds(site.largest - shift, 2) };
            let between = 1 + rounds((nodes - 1).max(1), 2);
            let connections = nodes - 1..=nodes * between;
            site.run("scan", (&site.lasts(), connections), 1..=before + between + inside, |team, rank| {
                let [own, got] = [&own, &got].map(|all| all[rank as usize].buf());
                let reduced = Reduced::new(Some(own), got, 1, &pair);
                if inclusive {
                    coll::scan(team, reduced, &compose)
                } else {
                    coll::exscan(team, reduced, &compose)
                }
            });
            for rank in shift..n {
                let expected = folded(0..rank + 1 - shift, 0..1);
                assert!(got[rank as usize].get(2) == expected, "scan {inclusive} at {rank}, {label}");
            }
        }
    });
}

/// Between leaders long data goes in blocks, each of which goes from one leader to all others.
#[test]
fn long_data_crosses_between_leaders() {
    const COUNT: u64 = 9000;
    let (word, sum) = (Datatype::of::<u64>(), Op::from(Predefined::Sum));
    everywhere(&[6, 9, 13], |places, teams, label| {
        let (n, (nodes, two_levels)) = (teams.len() as u32, nodes(places));
        if !two_levels {
            return;
        }
        let site = Site::new(places, teams[0].is_oversubscribed(), 0);
        let all_pairs = exactly((nodes * (nodes - 1) / 2) as u32);
        let words = |rank: u32| -> Vec<u64> { (0..COUNT).map(|at| at * 3 + u64::from(rank)).collect() };
        let ranks = u64::from(n) * u64::from(n - 1) / 2;
        let total: Vec<u64> = (0..COUNT).map(|at| at * 3 * u64::from(n) + ranks).collect();
        let own = site.memories(words);
        for root in [0, n - 1] {
            let leaders = site.leaders(root);
            let bufs = site.memories(|rank| if rank == root { words(root) } else { vec![0; COUNT as usize] });
            site.run("broadcast", (&leaders, all_pairs.clone()), 0..=u32::MAX, |team, rank| {
                coll::bcast(team, Operand::new(bufs[rank as usize].buf(), COUNT, &word), root as i32)
            });
            let is_right = bufs.iter().all(|buf| buf.get(COUNT as usize) == words(root));
            assert!(is_right, "broadcast from {root}, {label}");
            let result = Memory::new(&words(n));
            site.run("reduce", (&leaders, all_pairs.clone()), 0..=u32::MAX, |team, rank| {
                let recv = if rank == root { result.buf() } else { UserBuf::none() };
                let send = Some(own[rank as usize].buf());
                coll::reduce(team, Reduced::new(send, recv, COUNT, &word), &sum, root as i32)
            });
            assert!(result.get(COUNT as usize) == total, "reduce to {root}, {label}");
        }
        let results = site.memories(|_| vec![0; COUNT as usize]);
        site.run("allreduce", (&site.leaders(0), all_pairs.clone()), 0..=u32::MAX, |team, rank| {
            let [own, got] = [&own, &results].map(|all| all[rank as usize].buf());
            coll::allreduce(team, Reduced::new(Some(own), got, COUNT, &word), &sum)
        });
        assert!(results.iter().all(|got| got.get(COUNT as usize) == total), "allreduce, {label}");
        if site.in_runs {
            // Shorter than what goes in lanes.
            let block = |rank: u32| words(rank)[..1000].to_vec();
            let expected: Vec<u64> = (0..n).flat_map(block).collect();
            let got = site.memories(|_| vec![0; expected.len()]);
            site.run("allgather", (&site.leaders(0), all_pairs), 0..=u32::MAX, |team, rank| {
                let [own, recv] = [&own, &got].map(|all| Operand::new(all[rank as usize].buf(), 1000, &word));
                coll::allgather(team, Some(own), recv)
            });
            assert!(got.iter().all(|got| got.get(expected.len()) == expected), "allgather, {label}");
        }
    });
}
