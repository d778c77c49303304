//! How much operations copy: bytes copied for each byte that is delivered, with operands that are combined where they arrive and with
//! those that are not.

use super::levels::teams_on;
use super::plans::Memory;
use super::*;
use crate::trace::Counter;

const N: u32 = 4;

/// A sum that the engine takes for a function of the program, which it calls behind a fence only.
fn sum_of_program() -> Op {
    let add = |input: &[u64], inout: &mut [u64]| {
        inout.iter_mut().zip(input).for_each(|(to, from)| *to = to.wrapping_add(*from));
    };
    Op::of_slices(add, true)
}

/// Bytes that an operation delivers, and those that it copies, at all members together.
fn cost(make: impl Fn(&Team, u32) -> Result<Schedule>) -> (u64, u64) {
    cost_in(Room::new(N, false, 1, CALM), make)
}

/// The same of other members.
fn cost_in(mut room: Room, make: impl Fn(&Team, u32) -> Result<Schedule>) -> (u64, u64) {
    room.succeed(make);
    let count = |counter| room.bench.vcis.iter().map(|vci| vci.engine.counts.get(counter)).sum::<u64>();
    (count(Counter::CollectiveDelivered), count(Counter::CollectiveCopied))
}

/// What a gather and a scatter deliver and copy in such rooms, with blocks of `count` words, of which that of the root is in place, or
/// is not. What arrives is compared.
fn moved(room: impl Fn() -> Room, root: u32, count: u64, in_place: bool) -> [(u64, u64); 2] {
    let word = Datatype::of::<u64>();
    let n = room().teams.len() as u32;
    let owns: Vec<Memory> = (0..n).map(|rank| Memory::new(&operand(rank, count))).collect();
    let all: Vec<u64> = (0..n).flat_map(|rank| operand(rank, count)).collect();
    // In place, what the root gives itself is there.
    let mut start = vec![0; all.len()];
    if in_place {
        let own = (u64::from(root) * count) as usize..(u64::from(root + 1) * count) as usize;
        start[own.clone()].copy_from_slice(&all[own]);
    }
    let whole = Memory::new(&start);
    let at = |memory: &Memory| Operand::new(memory.buf(), count, &word);
    let at_root = |rank: u32| (rank == root).then(|| at(&whole));
    let stays = |rank: u32| in_place && rank == root;
    let gathered = cost_in(room(), |team, rank| {
        let own = (!stays(rank)).then(|| at(&owns[rank as usize]));
        coll::gather(team, own, at_root(rank), root as i32)
    });
    assert!(whole.get(all.len()) == all, "gather of {count} at {root} of {n}");
    let others: Vec<Memory> = (0..n).map(|_| Memory::new(&vec![0; count as usize])).collect();
    let scattered = cost_in(room(), |team, rank| {
        let own = (!stays(rank)).then(|| at(&others[rank as usize]));
        coll::scatter(team, at_root(rank), own, root as i32)
    });
    for (rank, other) in (0..n).zip(&others).filter(|(rank, _)| !stays(*rank)) {
        assert!(other.get(count as usize) == operand(rank, count), "scatter of {count} to {rank} of {n}");
    }
    [gathered, scattered]
}

fn memories(words: impl Fn(u32) -> Vec<u64>) -> Vec<Memory> {
    (0..N).map(|rank| Memory::new(&words(rank))).collect()
}

fn operand(rank: u32, count: u64) -> Vec<u64> {
    (0..count).map(|at| at * 1_000_003 + u64::from(rank) * 17).collect()
}

fn sums(count: u64) -> Vec<u64> {
    (0..count).map(|at| (0..N).map(|rank| operand(rank, count)[at as usize]).sum()).collect()
}

/// Blocks of 1024 words; in the plain way the last member copies its own operand besides.
#[test]
fn reductions_of_blocks_copy_nothing_to_combine_it() {
    const BLOCK: u64 = 1024 * 8;
    let word = Datatype::of::<u64>();
    let count = 1024 * u64::from(N);
    let expected = sums(count);
    for (on_arrival, op) in [(true, Op::from(Predefined::Sum)), (false, sum_of_program())] {
        for in_place in [false, true] {
            let label = format!("combined on arrival {on_arrival}, in place {in_place}");
            let sends = memories(|rank| operand(rank, count));
            let send = |rank: u32| (!in_place).then(|| sends[rank as usize].buf());
            let fresh =
                || memories(|rank| if in_place { operand(rank, count) } else { vec![0; count as usize] });

            let recvs = fresh();
            let got = cost(|team, rank| {
                let recv = recvs[rank as usize].buf();
                coll::allreduce(team, Reduced::new(send(rank), recv, count, &word), &op)
            });
            assert!(recvs.iter().all(|recv| recv.get(count as usize) == expected), "allreduce, {label}");
            let copied = match (on_arrival, in_place) {
                (true, _) => 12,
                (false, _) => 12 + 12,
            };
            assert_eq!(got, (24 * BLOCK, copied * BLOCK), "allreduce, {label}");

            let recvs = fresh();
            let got = cost(|team, rank| {
                let recv = recvs[rank as usize].buf();
                coll::reduce_scatter_block(team, Reduced::new(send(rank), recv, 1024, &word), &op)
            });
            for (recv, block) in recvs.iter().zip(expected.chunks(1024)) {
                assert!(recv.get(1024) == block, "reduce_scatter_block, {label}");
            }
            let copied = match (on_arrival, in_place) {
                (true, false) => 0,
                // Three members combine apart, and copy what they have got.
                (true, true) => 3,
                (false, false) => 12,
                (false, true) => 12 + 3,
            };
            assert_eq!(got, (12 * BLOCK, copied * BLOCK), "reduce_scatter_block, {label}");

            let result = Memory::new(&if in_place { operand(0, count) } else { vec![0; count as usize] });
            let got = cost(|team, rank| {
                let own = if rank == 0 { send(0) } else { Some(sends[rank as usize].buf()) };
                let recv = if rank == 0 { result.buf() } else { UserBuf::none() };
                coll::reduce(team, Reduced::new(own, recv, count, &word), &op, 0)
            });
            assert!(result.get(count as usize) == expected, "reduce, {label}");
            let copied = match (on_arrival, in_place) {
                (true, _) => 3,
                (false, _) => 12 + 3,
            };
            assert_eq!(got, (15 * BLOCK, copied * BLOCK), "reduce, {label}");
        }
    }
}

#[test]
fn reductions_up_a_tree_copy_nothing() {
    const BYTES: u64 = 512 * 8;
    let word = Datatype::of::<u64>();
    let sends = memories(|rank| operand(rank, 512));
    for (op, copied) in [(Op::from(Predefined::Sum), 0), (sum_of_program(), 3)] {
        let result = Memory::new(&[0; 512]);
        let got = cost(|team, rank| {
            let recv = if rank == 2 { result.buf() } else { UserBuf::none() };
            let send = Some(sends[rank as usize].buf());
            coll::reduce(team, Reduced::new(send, recv, 512, &word), &op, 2)
        });
        assert!(result.get(512) == sums(512));
        assert_eq!(got, (3 * BYTES, copied * BYTES));
    }
}

/// What is only moved is copied once, to where it belongs; the root's own block is copied besides, if it is not in place.
#[test]
fn what_is_moved_is_copied_once() {
    let word = Datatype::of::<u64>();
    for (count, bytes) in [(10, 80), (1024, 8192), (9000, 72000)] {
        let [owns, others] = [(); 2].map(|()| memories(|rank| operand(rank, count)));
        let all: Vec<u64> = (0..N).flat_map(|rank| operand(rank, count)).collect();
        let whole = Memory::new(&vec![0; all.len()]);
        let at = |memory: &Memory| Operand::new(memory.buf(), count, &word);
        let root = |rank: u32| (rank == 1).then(|| at(&whole));
        let got = cost(|team, rank| coll::gather(team, Some(at(&owns[rank as usize])), root(rank), 1));
        assert!(whole.get(all.len()) == all);
        assert_eq!(got, (3 * bytes, 4 * bytes), "gather of {count}");
        for in_place in [false, true] {
            let got = cost(|team, rank| {
                let recv = (!in_place || rank != 1).then(|| at(&others[rank as usize]));
                coll::scatter(team, root(rank), recv, 1)
            });
            assert_eq!(got, (3 * bytes, (4 - u64::from(in_place)) * bytes), "scatter of {count}");
        }
        assert!(
            others.iter().zip(0..).all(|(other, rank)| other.get(count as usize) == operand(rank, count))
        );
        let got = cost(|team, rank| coll::bcast(team, at(&others[rank as usize]), 3));
        assert!(others.iter().all(|other| other.get(count as usize) == operand(3, count)));
        assert_eq!(got, (3 * bytes, 3 * bytes), "broadcast of {count}");
    }
}

/// Above 64 members the inner ones of the tree hold the blocks of their own subtrees, once (docs/decisions.md). Of 70 members the one
/// that is 64 behind the root holds six: its own, which it copies itself, and five that go one message further. All others are copied
/// once, as they are without inner members.
#[test]
fn inner_members_of_trees_copy_blocks_once_more() {
    for (count, bytes) in [(10, 80), (1024, 8192)] {
        for root in [0, 1, 69] {
            for in_place in [false, true] {
                let room = || Room::new(70, false, 1, CALM);
                let delivered = 63 + 6 + 5;
                let copied = delivered + 1 + u64::from(!in_place);
                let expected = [(delivered * bytes, copied * bytes); 2];
                let got = moved(room, root, count, in_place);
                assert_eq!(got, expected, "{count} words, root {root}, in place {in_place}");
            }
        }
    }
}

/// Three members on one node and four on another one. Where blocks are short, the leader of the node that is not the root's holds those
/// of its members, as an inner member of a tree does: its own, and the others, which go one message further. Long ones, of more than
/// 2 KiB here, go straight to the root or from there, as on one node. A broadcast is copied once at each member, however long it is.
#[test]
fn leaders_of_other_nodes_copy_short_blocks_once_more() {
    let places = [0, 0, 0, 1, 1, 1, 1];
    let room = || {
        let mut room = Room::new(7, false, 1, CALM);
        room.teams = teams_on(&places, false);
        room
    };
    for (count, bytes, through_leader) in
        [(10, 80, true), (256, 2048, true), (257, 2056, false), (9000, 72000, false)]
    {
        for (root, beside, behind) in [(1, 2, 4), (5, 3, 3)] {
            for in_place in [false, true] {
                let (delivered, held) = match through_leader {
                    // Those at the root's node, and those at the other one, but the leader's, twice.
                    true => (beside + behind + behind - 1, 1),
                    false => (6, 0),
                };
                let copied = delivered + held + u64::from(!in_place);
                let expected = [(delivered * bytes, copied * bytes); 2];
                let got = moved(room, root, count, in_place);
                assert_eq!(got, expected, "{count} words, root {root}, in place {in_place}");
            }
        }
        let word = Datatype::of::<u64>();
        let bufs: Vec<Memory> = (0..7).map(|rank| Memory::new(&operand(rank, count))).collect();
        let got = cost_in(room(), |team, rank| {
            coll::bcast(team, Operand::new(bufs[rank as usize].buf(), count, &word), 4)
        });
        assert!(bufs.iter().all(|buf| buf.get(count as usize) == operand(4, count)));
        assert_eq!(got, (6 * bytes, 6 * bytes), "broadcast of {count}");
    }
}
