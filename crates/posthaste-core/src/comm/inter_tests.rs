//! Intercommunicators over the simulated network: made, used, merged, split.

use std::sync::Arc;

use super::tests::Room;
use crate::buffer::OwnedBuf;
use crate::coll::inter;
use crate::coll::{Operand, Reduced, Schedule};
use crate::comm::{Comm, Creation, Next};
use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result};
use crate::group::Comparison;
use crate::ids::{PROC_NULL, Peer, ROOT, RequestId};
use crate::jobs::JobId;
use crate::op::{Op, Predefined};
use crate::progress::Vci;

/// The world falls into two halves; `false` for the left one.
fn halves(room: &mut Room, right: impl Fn(usize) -> bool) -> Vec<Arc<Comm>> {
    let n = room.worlds.len();
    let made = room
        .make(0..n, |room, at| room.worlds[at].plan_split(Some(right(at).into()), 0, || room.allocate(at)));
    made.into_iter().flatten().collect()
}

/// Runs an introduction at every engine; `plan` gives the first steps.
fn introduce<'a>(room: &mut Room, plan: impl Fn(&Room, usize) -> Result<Next<'a>>) -> Vec<Result<Arc<Comm>>> {
    let made = |next| match next {
        Next::Made(made, groups) => groups.told.and(made),
        other => panic!("{other:?} in one job"),
    };
    to_the_end(room, plan).into_iter().map(|end| end.and_then(made)).collect()
}

/// The same, up to where nothing is to be run any more.
fn to_the_end<'a>(room: &mut Room, plan: impl Fn(&Room, usize) -> Result<Next<'a>>) -> Vec<Result<Next<'a>>> {
    let n = room.worlds.len();
    let mut results: Vec<Option<Result<Next<'a>>>> = (0..n).map(|_| None).collect();
    let mut under_way = Vec::new();
    let mut fresh: Vec<(usize, Result<Next<'a>>)> = (0..n).map(|at| (at, plan(room, at))).collect();
    for _ in 0..1_000_000 {
        for (at, next) in fresh.drain(..) {
            match next {
                Ok(Next::Run(schedule, rest)) => under_way.push((at, room.start(at, schedule), rest)),
                end => results[at] = Some(end),
            }
        }
        if under_way.is_empty() {
            return results.into_iter().flatten().collect();
        }
        room.bench.step();
        for (at, id, rest) in std::mem::take(&mut under_way) {
            match room.bench.take(at, id) {
                Some(status) => fresh.push((at, rest.next(status.error.map_or(Ok(()), Err)))),
                None => under_way.push((at, id, rest)),
            }
        }
    }
    panic!("the introduction does not end");
}

/// Both halves, whose leaders are the last of the left and the first of the right.
fn bridged(room: &mut Room, right: impl Fn(usize) -> bool) -> Vec<Arc<Comm>> {
    let halves = halves(room, &right);
    let n = halves.len();
    let last_left = (0..n).rfind(|at| !right(*at)).expect("a left half") as i32;
    let first_right = (0..n).find(|at| right(*at)).expect("a right half") as i32;
    let worlds = room.worlds.clone();
    let made = introduce(room, |room, at| {
        let (leader, other) = if right(at) { (0, last_left) } else { (halves[at].size() - 1, first_right) };
        halves[at].plan_intercomm(leader, Ok(&worlds[at]), other, 5, n as u32, |_| room.allocate(at))
    });
    made.into_iter().map(|made| made.expect("an intercommunicator")).collect()
}

impl Room {
    fn start(&mut self, at: usize, schedule: Schedule) -> RequestId {
        let Vci { engine, methods, running, .. } = &mut self.bench.vcis[at];
        running.start(engine, methods, schedule).expect("room for a request")
    }
}

fn bytes(bytes: &[u8]) -> OwnedBuf {
    let mut buf = OwnedBuf::new(bytes.len());
    buf.sink().copy_from(bytes);
    buf
}

/// What the members of the other side say, in their order, as an allgather across shows it.
fn check(room: &mut Room, comms: &[Option<Arc<Comm>>]) {
    let byte = Datatype::byte();
    let mut bufs = Vec::new();
    let mut schedules = Vec::new();
    for (at, comm) in comms.iter().enumerate() {
        let Some(comm) = comm else { continue };
        let remote = comm.remote().expect("an intercommunicator");
        let (mine, all) = (bytes(&[at as u8]), OwnedBuf::new(remote.size() as usize));
        let recv = Operand::new(all.user_buf(), 1, &byte);
        let send = Some(Operand::new(mine.user_buf(), 1, &byte));
        let schedule = inter::allgather(comm.bridge().expect("a bridge"), send, recv);
        schedules.push((at, schedule.expect("right arguments")));
        bufs.push((mine, all, remote.clone()));
    }
    room.run(schedules);
    for (_, all, remote) in &bufs {
        let expected: Vec<u8> = remote.peers().map(|peer| peer.0 as u8).collect();
        assert_eq!(all.source().to_vec(), expected);
    }
}

#[test]
fn two_groups_meet() {
    for (n, seed) in [(2, 1), (3, 2), (7, 3), (12, 4)] {
        for modulus in [2, 3] {
            let right = |at: usize| at % modulus == 1;
            let mut room = Room::new(n, seed);
            let comms = bridged(&mut room, right);
            for (at, comm) in comms.iter().enumerate() {
                assert_eq!(comm.context(), comms[0].context());
                let others: Vec<Peer> = (0..n as usize)
                    .filter(|one| right(*one) != right(at))
                    .map(|one| Peer(one as u32))
                    .collect();
                assert!(comm.remote().unwrap().peers().eq(others.iter().copied()));
                assert_eq!(comm.destination(0).unwrap(), Some(others[0]));
                assert!(comm.destination(others.len() as i32).is_err());
                assert_eq!(
                    comm.bridge().unwrap().is_first(),
                    comms[0].bridge().unwrap().is_first() == (right(at) == right(0))
                );
            }
            let comms: Vec<_> = comms.into_iter().map(Some).collect();
            check(&mut room, &comms);
            let dups = room
                .make(0..n as usize, |room, at| comms[at].as_ref().unwrap().plan_dup(|| room.allocate(at)));
            check(&mut room, &dups);
            let (one, dup) = (comms[0].as_ref().unwrap(), dups[0].as_ref().unwrap());
            assert_eq!(one.compare(dup), Comparison::Congruent);
            assert_eq!(one.compare(&room.worlds[0]), Comparison::Unequal);
        }
    }
}

#[test]
fn merging_orders_the_groups() {
    let right = |at: usize| at == 0 || at == 3;
    let mut room = Room::new(5, 9);
    let comms = bridged(&mut room, right);
    let left_first = room.make(0..5, |room, at| comms[at].plan_merge(right(at), || room.allocate(at)));
    room.check(&left_first, &[1, 2, 4, 0, 3]);
    let right_first = room.make(0..5, |room, at| comms[at].plan_merge(!right(at), || room.allocate(at)));
    room.check(&right_first, &[0, 3, 1, 2, 4]);
    let any = room.make(0..5, |room, at| comms[at].plan_merge(true, || room.allocate(at)));
    let first = any[0].as_ref().unwrap().group().peers().next().unwrap();
    room.check(&any, if first == Peer(0) { &[0, 3, 1, 2, 4] } else { &[1, 2, 4, 0, 3] });
    assert!(room.worlds[0].plan_merge(true, || room.allocate(0)).is_err());

    // A group that does not agree with itself.
    let (mut schedules, mut creations) = (Vec::new(), Vec::new());
    for (at, comm) in comms.iter().enumerate() {
        let (schedule, creation) = comm.plan_merge(at == 4, || room.allocate(at)).unwrap();
        schedules.push((at, schedule));
        creations.push(creation);
    }
    room.run(schedules);
    for creation in creations {
        let error = creation.finish().unwrap_err().to_string();
        assert!(error.starts_with("high is different"), "{error}");
    }
    // Nobody has said anything: what is wrong is not what they would have said.
    let (_, creation) = comms[0].plan_merge(true, || room.allocate(0)).unwrap();
    let error = creation.finish().unwrap_err();
    assert_eq!(error.class(), ErrorClass::ProcAborted, "{error}");
}

/// The context is that of the first side's founder: both sides hear that it has none; that the other one has none hurts nobody.
#[test]
fn a_founder_without_a_context_is_an_error_on_both_sides() {
    type Plan<'a> = &'a dyn Fn(&Room, usize) -> Result<(Schedule, Creation)>;
    let right = |at: usize| at % 2 == 1;
    for seed in 1..=4 {
        let mut room = Room::new(5, seed);
        let comms = bridged(&mut room, right);
        let founder = (0..5).find(|at| comms[*at].everybody().rank() == 0).unwrap();
        let other = usize::from(!right(founder));
        let dup = |room: &Room, at: usize| comms[at].plan_dup(|| room.allocate(at));
        let merge = |room: &Room, at: usize| comms[at].plan_merge(right(at), || room.allocate(at));
        let split = |room: &Room, at: usize| comms[at].plan_split(Some(7), 0, || room.allocate(at));
        let create =
            |room: &Room, at: usize| comms[at].plan_create(&comms[at].group().clone(), || room.allocate(at));
        let plans: [Plan<'_>; 4] = [&dup, &merge, &split, &create];
        for plan in plans {
            room.run_dry(founder);
            for made in room.attempt(0..5, plan) {
                let why = made.expect_err("there is no context");
                assert_eq!(why.class(), ErrorClass::NoMem, "{why}");
            }
            room.refill(founder);
            room.run_dry(other);
            assert!(room.make(0..5, plan).iter().all(Option::is_some));
            room.refill(other);
        }
    }
}

#[test]
fn splits_and_subsets_have_two_sides() {
    let right = |at: usize| at % 2 == 1;
    let mut room = Room::new(8, 11);
    let comms = bridged(&mut room, right);
    // Left 0 2 4 6, right 1 3 5 7; color 7 is said by the left only.
    let colors = [Some(1), Some(1), Some(0), Some(0), Some(1), Some(1), Some(7), None];
    let split =
        room.make(0..8, |room, at| comms[at].plan_split(colors[at], -(at as i32), || room.allocate(at)));
    assert!(split[6].is_none() && split[7].is_none());
    check(&mut room, &split);
    let ranks = |comm: &Comm| -> Vec<u32> { comm.remote().unwrap().peers().map(|peer| peer.0).collect() };
    assert_eq!(ranks(split[0].as_ref().unwrap()), [5, 1]);
    assert_eq!(ranks(split[5].as_ref().unwrap()), [4, 0]);
    assert_eq!(ranks(split[3].as_ref().unwrap()), [2]);

    let subset = room.make(0..8, |room, at| {
        let ranks: &[i32] = if right(at) { &[3, 0] } else { &[2] };
        let group = Arc::new(comms[at].group().incl(ranks).unwrap());
        comms[at].plan_create(&group, || room.allocate(at))
    });
    check(&mut room, &subset);
    assert_eq!(ranks(subset[4].as_ref().unwrap()), [7, 1]);
    assert_eq!(subset.iter().flatten().count(), 3);
    let strangers = comms[0].remote().unwrap();
    assert_eq!(comms[0].plan_create(strangers, || room.allocate(0)).unwrap_err().class(), ErrorClass::Group);
}

#[test]
fn operations_with_a_root_and_reductions() {
    let right = |at: usize| at >= 2;
    let mut room = Room::new(7, 12);
    let comms = bridged(&mut room, right);
    let word = Datatype::of::<u8>();
    // Left is {0, 1}, right {2, .., 6}. Rank 1 of the left is the root.
    let root = |at: usize| match at {
        0 => PROC_NULL,
        1 => ROOT,
        _ => 1,
    };
    let bufs: Vec<OwnedBuf> = (0..7).map(|at| bytes(&[at as u8 + 1; 3])).collect();
    let outs: Vec<OwnedBuf> = (0..7).map(|_| bytes(&[0; 15])).collect();
    let bridge = |at: usize| comms[at].bridge().unwrap();
    let own = |at: usize| Operand::new(bufs[at].user_buf(), 3, &word);
    let out = |at: usize| Operand::new(outs[at].user_buf(), 3, &word);

    room.run((0..7).map(|at| (at, inter::barrier(bridge(at)))).collect());
    let data = |at: usize| if at < 2 { own(at) } else { out(at) };
    room.run((0..7).map(|at| (at, inter::bcast(bridge(at), Some(data(at)), root(at)).unwrap())).collect());
    for out in &outs[2..] {
        assert_eq!(out.source().to_vec()[..4], [2, 2, 2, 0]);
    }
    room.run(
        (0..7)
            .map(|at| (at, inter::gather(bridge(at), Some(own(at)), Some(out(at)), root(at)).unwrap()))
            .collect(),
    );
    assert_eq!(outs[1].source().to_vec(), [3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7]);
    let sum = Op::from(Predefined::Sum);
    room.run(
        (0..7)
            .map(|at| {
                let (send, recv) = (bufs[at].user_buf(), outs[at].user_buf());
                (
                    at,
                    inter::reduce(bridge(at), Reduced::new(Some(send), recv, 3, &word), &sum, root(at))
                        .unwrap(),
                )
            })
            .collect(),
    );
    assert_eq!(outs[1].source().to_vec()[..4], [25, 25, 25, 4]);
    room.run(
        (0..7)
            .map(|at| {
                let (send, recv) = (bufs[at].user_buf(), outs[at].user_buf());
                (at, inter::allreduce(bridge(at), Reduced::new(Some(send), recv, 3, &word), &sum).unwrap())
            })
            .collect(),
    );
    for (at, out) in outs.iter().enumerate() {
        assert_eq!(out.source().to_vec()[..3], if at < 2 { [25; 3] } else { [3; 3] });
    }
    let wrong = inter::bcast(bridge(0), Some(own(0)), 5).unwrap_err();
    assert_eq!(wrong.class(), ErrorClass::Root);
    assert!(wrong.to_string().contains("root is 5, expected 0..=4"), "{wrong}");
    assert_eq!(inter::bcast(bridge(2), None, 0).unwrap_err().class(), ErrorClass::Buffer);
}

#[test]
fn nobody_waits_for_a_leader_that_failed() {
    let mut room = Room::new(4, 21);
    let halves = halves(&mut room, |at| at >= 2);
    let worlds = room.worlds.clone();
    let null = || Err(Error::invalid(ErrorClass::Comm, "peer_comm", "MPI_COMM_NULL", "a communicator"));
    for (peer, remote, class) in
        [(false, 0, ErrorClass::Comm), (true, 9, ErrorClass::Rank), (true, -1, ErrorClass::Rank)]
    {
        let made = introduce(&mut room, |room, at| {
            let peer = if peer { Ok(&*worlds[at]) } else { null() };
            halves[at].plan_intercomm(1, peer, remote, 0, 4, |_| room.allocate(at))
        });
        for made in &made {
            assert_eq!(made.as_ref().unwrap_err().class(), class);
        }
        assert!(
            made[0].as_ref().unwrap_err().to_string().contains("the leader of the local group could not")
        );
    }
    // One side cannot allocate a context: both hear of it.
    let made = introduce(&mut room, |room, at| {
        let (leader, other) = (0, if at < 2 { 2 } else { 0 });
        let allocate = |_| if at == 0 { Err(Error::no_memory("none left")) } else { room.allocate(at) };
        halves[at].plan_intercomm(leader, Ok(&worlds[at]), other, 0, 4, allocate)
    });
    for made in &made {
        assert_eq!(made.as_ref().unwrap_err().class(), ErrorClass::NoMem);
    }
    // Both groups are the world.
    let made = introduce(&mut room, |room, at| {
        worlds[at].plan_intercomm(0, Ok(&worlds[at]), 1, 0, 4, |_| room.allocate(at))
    });
    for made in &made {
        assert_eq!(made.as_ref().unwrap_err().class(), ErrorClass::Rank);
    }
    let intro =
        |leader, tag| worlds[0].plan_intercomm(leader, null(), 0, tag, 4, |_| room.allocate(0)).unwrap_err();
    assert_eq!(intro(4, 0).to_string(), "local_leader is 4, expected 0..=3, a rank of local_comm");
    assert_eq!(intro(-1, 0).class(), ErrorClass::Rank);
    assert_eq!(intro(0, -1).class(), ErrorClass::Tag);
}

/// Whose leader allocates a context that names its job is what both groups go by, and all of them know that they have to be told of each
/// other by name.
#[test]
fn groups_of_several_jobs_are_not_described_by_numbers() {
    // Which side's context names its job, and whose is used then; the left one has the smaller number otherwise.
    for (naming, used) in [([true, false], 0), ([false, true], 1), ([true, true], 0)] {
        let mut room = Room::new(5, 31);
        let halves = halves(&mut room, |at| at >= 2);
        let worlds = room.worlds.clone();
        let ends = to_the_end(&mut room, |room, at| {
            let right = usize::from(at >= 2);
            let allocate = |_| {
                let context = room.allocate(at)?;
                Ok(if naming[right] {
                    context.allocated_in(JobId(77 + right as u64)).unwrap()
                } else {
                    context
                })
            };
            let (leader, other) = if right == 0 { (1, 2) } else { (0, 1) };
            halves[at].plan_intercomm(leader, Ok(&worlds[at]), other, 0, 5, allocate)
        });
        for (at, end) in ends.into_iter().enumerate() {
            let Ok(Next::Meet(strangers)) = end else { panic!("{naming:?}, rank {at}: {end:?}") };
            let side = usize::from(at >= 2);
            assert_eq!(strangers.context[1], 77 + used, "{naming:?}, rank {at}");
            assert_eq!(strangers.is_first, side as u64 == used, "{naming:?}, rank {at}");
            assert!(strangers.size == [3, 2][side] && strangers.told.is_ok(), "{naming:?}, rank {at}");
            assert_eq!(strangers.leader, [1, 0][side]);
            let other = [None, Some(Peer(2)), Some(Peer(1)), None, None][at];
            assert_eq!(strangers.other_leader(), other);
        }
    }
}

/// The leaders may have an intercommunicator in common, in which a rank is one of the other group.
#[test]
fn a_leader_that_is_lost_behind_an_intercommunicator_is_not_waited_for() {
    let mut room = Room::new(4, 41);
    let comms = bridged(&mut room, |at| at >= 2);
    let halves = halves(&mut room, |at| at >= 2);
    comms[0].make_known(&mut room.bench.vcis[0].engine);
    let next = halves[0].plan_intercomm(0, Ok(&comms[0]), 0, 3, 4, |_| room.allocate(0)).unwrap();
    let Next::Run(schedule, _) = next else { panic!("{next:?}") };
    let id = room.start(0, schedule);
    (0..50).for_each(|_| room.bench.step());
    assert!(room.bench.take(0, id).is_none(), "the other leader has said nothing");
    room.bench.network.cut(Peer(0), Peer(2));
    let status = (0..2000).find_map(|_| {
        room.bench.step();
        room.bench.take(0, id)
    });
    let error = status.expect("it waits for a lost leader").error.expect("an error");
    assert_eq!(error.class(), ErrorClass::ProcAborted);
}

/// A leader that cannot tell one member tells the others all the same, in both ways of describing groups.
#[test]
fn a_member_that_is_lost_to_its_leader_leaves_nobody_waiting() {
    for by_name in [false, true] {
        let mut room = Room::new(5, 43);
        let halves = halves(&mut room, |at| at >= 3);
        let worlds = room.worlds.clone();
        room.bench.network.cut(Peer(0), Peer(2));
        let ends = to_the_end(&mut room, |room, at| {
            let allocate = |_| {
                let context = room.allocate(at)?;
                Ok(if by_name { context.allocated_in(JobId(77)).unwrap() } else { context })
            };
            let other = if at < 3 { 3 } else { 0 };
            halves[at].plan_intercomm(0, Ok(&worlds[at]), other, 0, 5, allocate)
        });
        for (at, end) in ends.into_iter().enumerate() {
            match end {
                Ok(Next::Made(made, groups)) => {
                    assert!(!by_name && made.is_ok() && at != 2, "rank {at}");
                    assert_eq!(groups.told.is_err(), at == 0, "rank {at}");
                }
                Ok(Next::Meet(strangers)) => {
                    assert!(by_name && at != 2, "rank {at}");
                    assert_eq!(strangers.told.is_err(), at == 0, "rank {at}");
                }
                Ok(next) => panic!("rank {at}: {next:?}"),
                Err(why) => {
                    assert_eq!(why.class(), ErrorClass::ProcAborted, "rank {at}");
                    assert_eq!(at, 2, "{why}");
                }
            }
        }
    }
}
