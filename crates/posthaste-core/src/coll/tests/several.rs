//! Several operations at once, and one schedule that runs several times.

use super::*;
use crate::buffer::OwnedBuf;
use crate::coll::label::{Function, MEETING};
use crate::coll::plan::Draft;
use crate::datatype::Segment;

#[test]
fn many_at_once_on_two_communicators() {
    let (pair, compose, word) = (pair(), compose(), Datatype::of::<u64>());
    for seed in 1..=12 {
        let n = 2 + (seed % 6) as u32;
        let mut room = Room::new(n, seed % 2 == 0, seed, ROUGH);
        let other = teams(ContextId(64), n, if seed % 3 == 0 { crowded(seed) } else { Cpus::Own });
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
                .repeated()
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

/// Who stands by in every operation neither sends nor waits; numbers of operations come round all the same.
#[test]
fn who_stands_by_is_never_a_round_ahead_of_the_others() {
    let mut room = Room::new(3, false, 1, CALM);
    room.teams.iter().for_each(|team| team.skip(MEETING - 2));
    let words = OwnedBuf::new(24);
    let word = |rank: isize| Segment::contiguous(words.user_buf().offset(8 * rank), 8);
    // Rank 2 sends to rank 0, rank 1 stands by.
    let start = |room: &mut Room, rank: usize| {
        let mut draft = Draft::new(&room.teams[rank], Function::Bcast, 1);
        match rank {
            0 => draft.receive(2, word(0)),
            2 => draft.send(0, word(2)),
            _ => {}
        }
        let schedule = draft.done();
        (rank, room.start(rank, schedule))
    };
    let mut ids = vec![start(&mut room, 0)];
    let waiting = (0..1 << 21).find_map(|_| {
        let (rank, id) = start(&mut room, 1);
        room.bench.take(rank, id).is_none().then_some((rank, id))
    });
    ids.push(waiting.expect("rank 1 waits for the others once in a while"));
    (0..200).for_each(|_| room.bench.step());
    assert!(ids.iter().all(|(at, id)| room.bench.take(*at, *id).is_none()), "nobody has come");
    // The others come to the same operation, of whom rank 0 has begun one.
    for (rank, operations) in [(2, 3), (0, 2)] {
        ids.extend((0..operations).map(|_| start(&mut room, rank)));
    }
    for status in room.finish(&ids) {
        assert!(status.error.is_none(), "{:?}", status.error);
    }
    room.succeed(|team, _| Ok(coll::barrier(team)));
}
