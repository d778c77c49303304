//! Reductions and scans: every operand once, in the order of ranks.

use super::*;

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
