//! Operations that move data: each member gets exactly the bytes that it should.

use super::*;

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

pub(super) fn allgather(room: &mut Room, n: u32, count: u64, in_place: bool, word: &Datatype) {
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
    let teams: Vec<Team> =
        (0..3).map(|rank| Team::new(ContextId(8), group.clone(), rank, Accord::of_cpus(false))).collect();
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
