//! Wrong arguments, and operations that fail at some of their members.

use super::data::allgather;
use super::*;
use crate::buffer::OwnedBuf;
use crate::coll::bcast::by_tree;
use crate::coll::choose;
use crate::coll::label::Function;
use crate::coll::plan::Draft;
use crate::datatype::Segment;
use crate::pt2pt::contexts::{Membership, Name};
use crate::pt2pt::revoked;

/// Operations of [`operation`].
const OPERATIONS: usize = 11;

/// An operation of all members on so many words each, between these buffers.
fn operation(
    which: usize,
    team: &Team,
    [send, recv]: [UserBuf; 2],
    count: u32,
    root: u32,
) -> Result<Schedule> {
    let (word, sum) = (Datatype::of::<u64>(), Op::from(Predefined::Sum));
    let operand = |buf| Operand::new(buf, u64::from(count), &word);
    let reduced = Reduced::new(Some(send), recv, u64::from(count), &word);
    let root = root as i32;
    match which {
        0 => Ok(coll::barrier(team)),
        1 => coll::bcast(team, operand(send), root),
        2 => coll::gather(team, Some(operand(send)), Some(operand(recv)), root),
        3 => coll::scatter(team, Some(operand(recv)), Some(operand(send)), root),
        4 => coll::allgather(team, Some(operand(send)), operand(recv)),
        5 => coll::alltoall(team, Some(operand(send)), operand(recv)),
        6 => coll::reduce(team, reduced, &sum, root),
        7 => coll::allreduce(team, reduced, &sum),
        8 => coll::reduce_scatter_block(team, reduced, &sum),
        9 => coll::scan(team, reduced, &sum),
        _ => coll::exscan(team, reduced, &sum),
    }
}

/// Whether a member needs what another one gives.
fn needs(which: usize, (rank, root): (u32, u32), giver: u32) -> bool {
    match which {
        1 | 3 => giver == root,
        2 | 6 => rank == root,
        9 | 10 => rank > giver,
        _ => true,
    }
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

/// Long data goes down a tree in pieces, and who expects more or fewer of them than come is told and waits for nothing; nothing
/// is left over.
#[test]
fn counts_that_differ_in_a_broadcast_in_pieces_are_errors() {
    let piece = choose::PIECE;
    let lengths = [0, 1000, piece - 8, piece, piece + 8, 60_000, 2 * piece, 3 * piece, 100_000, 5 * piece];
    let (n, radix) = (6, 2); // 0 sends to 1, 2 and 4, 2 to 3, 4 to 5
    let parents = [0, 0, 0, 2, 0, 4];
    for (at, usual) in (0..).zip(lengths) {
        for (seed, other) in (1..).zip(lengths) {
            for odd in [0, 2, 5] {
                let mut room = Room::new(n, true, at * 100 + seed, if seed % 2 == 0 { CALM } else { ROUGH });
                let len = |rank: u32| if rank == odd { other } else { usual };
                let bufs: Vec<OwnedBuf> = (0..n).map(|rank| OwnedBuf::new(len(rank) as usize)).collect();
                let statuses = room.run(|team, rank| {
                    let mut draft = Draft::new(team, Function::Bcast, 8);
                    let data = Segment::contiguous(bufs[rank as usize].user_buf(), len(rank));
                    by_tree(&mut draft, &data, 0, radix);
                    Ok(draft.done())
                });
                for rank in 0..n {
                    let (own, sent) = (len(rank), len(parents[rank as usize]));
                    let error = statuses[rank as usize].error.as_ref();
                    let label = format!("rank {rank} got {sent} bytes for {own}, seed {seed}: {error:?}");
                    assert_eq!(error.is_some(), own != sent, "{label}");
                    let Some(error) = error else { continue };
                    assert!(matches!(error.class(), ErrorClass::Truncate | ErrorClass::NotSame), "{label}");
                    let said = format!("MPI_Bcast: rank {} sent", parents[rank as usize]);
                    assert!(error.to_string().starts_with(&said), "{label}");
                }
                room.succeed(|team, _| Ok(coll::barrier(team)));
            }
        }
    }
}

#[test]
fn wrong_arguments_are_named() {
    let word = Datatype::of::<u64>();
    let (float, band) = (Datatype::of::<f64>(), Op::from(Predefined::Band));
    let team = &teams(ContextId::WORLD, 3, Cpus::Own)[1];
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

/// A communicator that is freed while an operation runs in it is known until that has ended, however many others come
/// meanwhile: also where no receive of the operation is posted just then.
#[test]
fn a_loss_ends_what_runs_in_a_freed_communicator() {
    let context = ContextId::allocated(0, 0, ContextId::FIRST_COUNT).expect("a small count");
    let mut room = Room::new(3, false, 5, CALM);
    let word = Datatype::of::<u64>();
    let [greeting, long, back] = [1, 5000, 1].map(|len| OwnedBuf::new(len * 8));
    // They have spoken, or nobody would notice.
    let hello = room.bench.recv(0, 2, 1, &greeting);
    room.bench.send(2, 0, 1, &greeting, false);
    room.bench.finish(0, hello);
    // Ranks are not numbers of peers here: rank 0 is peer 2.
    let group = Arc::new(Group::of([2, 1, 0].map(Peer).to_vec()));
    let [_, near, own] =
        [0, 1, 2].map(|rank| Team::new(context, group.clone(), rank, Accord::of_cpus(false)));
    let segment = |buf: &OwnedBuf| Segment::new(buf.user_buf(), buf.len() as u64 / 8, &word);
    let mut draft = Draft::new(&own, Function::Other, 3);
    draft.send(1, segment(&long));
    draft.fence();
    draft.receive(0, segment(&back));
    let schedule = draft.done();
    let membership = Membership::new(Name::default(), group.clone(), 2);
    let learn = |room: &mut Room, context: ContextId, membership| {
        let engine = &mut room.bench.vcis[0].engine;
        engine.contexts.learn(context.collective(), membership, &engine.matching, &engine.requests);
    };
    learn(&mut room, context, membership.clone());
    let id = room.start(0, schedule);
    membership.free();
    for count in 1..300 {
        let next = ContextId::allocated(0, 0, ContextId::FIRST_COUNT + count * ContextId::STEP);
        let other = Membership::new(Name::default(), group.clone(), 2);
        learn(&mut room, next.expect("a small count"), other);
    }
    room.bench.network.cut(Peer(0), Peer(2));
    (0..200).for_each(|_| room.bench.step());
    assert!(room.bench.take(0, id).is_none(), "it waits for its message to leave");
    let mut draft = Draft::new(&near, Function::Other, 1);
    draft.receive(2, segment(&long));
    let taken = room.start(1, draft.done());
    let statuses = room.finish(&[(1, taken), (0, id)]);
    assert!(statuses[0].error.is_none(), "{:?}", statuses[0].error);
    let error = statuses[1].error.as_ref().expect("the sender of the answer is gone");
    assert_eq!(error.class(), ErrorClass::ProcAborted, "{error}");
}

/// Whatever the operation, and wherever a member dies in it: the others come to the end, and say who it was if they needed it.
#[test]
fn a_member_that_dies_inside_an_operation_keeps_nobody_waiting() {
    let mut errors = [0; OPERATIONS + 1];
    for (which, errors) in errors.iter_mut().enumerate() {
        for seed in 1..=12u64 {
            let n = [2, 3, 5, 8][seed as usize % 4];
            let count = if seed % 3 == 0 { 5000 } else { 3 };
            let mut room = Room::new(n, seed % 2 == 0, seed, ROUGH);
            let bufs =
                |_| -> Vec<OwnedBuf> { (0..n).map(|_| OwnedBuf::new((n * count * 8) as usize)).collect() };
            let [sends, recvs] = [0, 1].map(bufs);
            // The last one is a broadcast from the other end.
            let plan = |team: &Team, rank: u32, which: usize| {
                let own = [&sends, &recvs].map(|all| all[rank as usize].user_buf());
                let (which, root) = if which == OPERATIONS { (1, n - 1) } else { (which, 0) };
                operation(which, team, own, count, root)
            };
            // They have spoken, or nobody would notice.
            room.succeed(|team, rank| plan(team, rank, 5));
            let victim = room.bench.network.random(u64::from(n)) as u32;
            let mut ids = Vec::new();
            for at in 0..n {
                let schedule = plan(&room.teams[at as usize], at, which).expect("right arguments");
                ids.push((at as usize, room.start(at as usize, schedule)));
            }
            for _ in 0..room.bench.network.random(60) {
                room.bench.step();
            }
            (0..n).filter(|at| *at != victim).for_each(|at| room.bench.network.cut(Peer(at), Peer(victim)));
            ids.retain(|(at, _)| *at != victim as usize);
            for status in room.finish(&ids) {
                let Some(error) = status.error else { continue };
                assert_eq!(error.class(), ErrorClass::ProcAborted, "operation {which}, seed {seed}: {error}");
                *errors += 1;
            }
        }
    }
    // Some members need nobody's help; but none of the operations is so short that nobody ever notices.
    assert!(errors.iter().all(|errors| *errors > 0), "{errors:?}");
}

/// A member that never comes is lost: whoever needs what it should have given hears of it, from whomever the rest comes, and which one
/// it was. No result that lacks its part is taken for whole.
#[test]
fn nobody_takes_a_result_that_lacks_the_part_of_a_lost_member() {
    let mut seed = 0;
    for which in 0..OPERATIONS {
        for (n, oversubscribed) in [2, 3, 5, 8].into_iter().flat_map(|n| [(n, false), (n, true)]) {
            let roots: &[u32] = if [1, 2, 3, 6].contains(&which) { &[0, n - 1] } else { &[0] };
            for (victim, root) in (0..n).flat_map(|victim| roots.iter().map(move |root| (victim, *root))) {
                seed += 1;
                let is_repeated = seed % 3 == 0;
                let count = if seed % 4 == 0 { 5000 } else { 3 };
                let mut room = Room::new(n, oversubscribed, seed, ROUGH);
                let bufs = |_| -> Vec<OwnedBuf> {
                    (0..n).map(|_| OwnedBuf::new((n * count * 8) as usize)).collect()
                };
                let [sends, recvs] = [0, 1].map(bufs);
                let plan = |team: &Team, rank: u32| {
                    let own = [&sends, &recvs].map(|all| all[rank as usize].user_buf());
                    operation(which, team, own, count, root)
                };
                room.succeed(|team, _| Ok(coll::barrier(team)));
                (0..n)
                    .filter(|at| *at != victim)
                    .for_each(|at| room.bench.network.cut(Peer(at), Peer(victim)));
                let mut ids = Vec::new();
                for at in (0..n).filter(|at| *at != victim) {
                    let schedule = plan(&room.teams[at as usize], at).expect("right arguments");
                    let id = match is_repeated {
                        true => room.start_again(at as usize, &schedule.repeated()),
                        false => room.start(at as usize, schedule),
                    };
                    ids.push((at as usize, id));
                }
                let others = (0..n).filter(|at| *at != victim);
                for (rank, status) in others.zip(room.finish(&ids)) {
                    let error = status.error.as_ref();
                    let label = format!(
                        "operation {which}, root {root}, rank {rank} of {n} without {victim}, seed {seed}: {error:?}"
                    );
                    assert!(error.is_some() || !needs(which, (rank, root), victim), "{label}");
                    let Some(error) = error else { continue };
                    assert_eq!(error.class(), ErrorClass::ProcAborted, "{label}");
                    assert_eq!(error.lost_process(), Some(victim), "{label}");
                }
            }
        }
    }
}

/// A member comes late, and another one revokes the communicator: whoever has to wait hears of it, and nobody takes what others send on
/// without having it for a result.
#[test]
fn nobody_takes_a_result_that_lacks_the_part_of_who_is_late_in_a_revoked_communicator() {
    let mut seed = 0;
    for which in 0..OPERATIONS {
        for (n, oversubscribed) in [3, 5, 8].into_iter().flat_map(|n| [(n, false), (n, true)]) {
            let roots: &[u32] = if [1, 2, 3, 6].contains(&which) { &[0, n - 1] } else { &[0] };
            for (late, root) in (0..n).flat_map(|late| roots.iter().map(move |root| (late, *root))) {
                seed += 1;
                let count = if seed % 4 == 0 { 5000 } else { 3 };
                let mut room = Room::new(n, oversubscribed, seed, ROUGH);
                let group = Arc::new(Group::range(0, n));
                for (rank, vci) in (0..).zip(&mut room.bench.vcis) {
                    let (engine, member) =
                        (&mut vci.engine, Membership::new(Name::default(), group.clone(), rank));
                    let context = ContextId::WORLD.collective();
                    engine.contexts.learn(context, member, &engine.matching, &engine.requests);
                }
                let bufs = |_| -> Vec<OwnedBuf> {
                    (0..n).map(|_| OwnedBuf::new((n * count * 8) as usize)).collect()
                };
                let [sends, recvs] = [0, 1].map(bufs);
                let (mut ids, mut walks) = (Vec::new(), Vec::new());
                for at in (0..n).filter(|at| *at != late) {
                    let own = [&sends, &recvs].map(|all| all[at as usize].user_buf());
                    let schedule = operation(which, &room.teams[at as usize], own, count, root);
                    let schedule = schedule.expect("right arguments");
                    match room.bench.network.random(3) {
                        0 => ids.push((at as usize, room.start(at as usize, schedule))),
                        _ => walks.push((at as usize, Walk::new(schedule))),
                    }
                }
                for _ in 0..room.bench.network.random(200) {
                    room.bench.step();
                }
                let revoker = (late + 1 + room.bench.network.random(u64::from(n) - 1) as u32) % n;
                let Vci { engine, methods, .. } = &mut room.bench.vcis[revoker as usize];
                revoked::revoke(engine, methods, ContextId::WORLD);
                let mut over = room.walk(walks, &mut ids);
                over.extend(ids.iter().map(|(at, _)| *at).zip(room.finish(&ids)));
                for (at, status) in over {
                    let rank = at as u32;
                    let error = status.error.as_ref();
                    let label = format!(
                        "operation {which}, root {root}, rank {rank} of {n} without {late}, revoked by {revoker}, seed {seed}: {error:?}"
                    );
                    assert!(error.is_some() || !needs(which, (rank, root), late), "{label}");
                    assert!(error.is_none_or(|error| error.class() == ErrorClass::Revoked), "{label}");
                }
            }
        }
    }
}

/// Its starts have one tag. Who is ahead of who has failed neither waits for ever nor gets what is of another start.
#[test]
fn a_persistent_operation_that_has_failed_for_a_loss_goes_on_failing() {
    const STARTS: u64 = 4;
    let word = Datatype::of::<u64>();
    let sum = Op::from(Predefined::Sum);
    for (seed, reduces) in (1..=120).flat_map(|seed| [(seed, false), (seed, true)]) {
        let (n, victim) = (7, 1 + (seed % 6) as usize);
        let mut room = Room::new(n, seed % 2 == 0, seed, ROUGH);
        room.succeed(|team, _| Ok(coll::barrier(team)));
        let mut bufs: Vec<[OwnedBuf; 2]> = (0..n).map(|_| [OwnedBuf::new(8), OwnedBuf::new(8)]).collect();
        let others: Vec<usize> = (0..n as usize).filter(|at| *at != victim).collect();
        others.iter().for_each(|at| room.bench.network.cut(Peer(*at as u32), Peer(victim as u32)));
        let plans: Vec<Arc<Schedule>> = (0..n as usize)
            .map(|at| {
                let [send, recv] = &bufs[at];
                let plan = match reduces {
                    true => {
                        let reduced = Reduced::new(Some(send.user_buf()), recv.user_buf(), 1, &word);
                        coll::allreduce(&room.teams[at], reduced, &sum)
                    }
                    false => coll::bcast(&room.teams[at], Operand::new(send.user_buf(), 1, &word), 0),
                };
                plan.expect("right arguments").repeated()
            })
            .collect();
        let mut failed = vec![0; n as usize];
        let mut under_way: Vec<(usize, u64, Option<RequestId>)> =
            others.iter().map(|at| (*at, 0, None)).collect();
        for step in 0.. {
            assert!(step < 1_000_000, "somebody waits for ever, seed {seed}: {under_way:?}");
            room.bench.step();
            for (at, starts, id) in &mut under_way {
                if let Some(status) = id.and_then(|id| room.bench.take(*at, id)) {
                    *id = None;
                    let got = bufs[*at][0].source().to_vec();
                    match status.error {
                        Some(error) => {
                            assert_eq!(
                                error.class(),
                                ErrorClass::ProcAborted,
                                "rank {at}, seed {seed}: {error}"
                            );
                            failed[*at] += 1;
                        }
                        None => {
                            let label = format!("rank {at} without {victim}, start {starts}, seed {seed}");
                            assert!(!reduces && failed[*at] == 0, "{label}: no error after one");
                            assert_eq!(got, starts.to_ne_bytes(), "{label}: data of another start");
                        }
                    }
                }
                if id.is_none() && *starts < STARTS {
                    *starts += 1;
                    let value = if *at == 0 || reduces { *starts } else { 0 };
                    bufs[*at][0].sink().copy_from(&value.to_ne_bytes());
                    *id = Some(room.start_again(*at, &plans[*at]));
                }
            }
            if under_way.iter().all(|(_, starts, id)| *starts == STARTS && id.is_none()) {
                break;
            }
        }
    }
}

/// However many operations a member is behind, it hears in each of them that a part is missing.
#[test]
fn who_is_far_behind_hears_what_is_missing() {
    const MANY: usize = 300;
    let word = Datatype::of::<u64>();
    let mut room = Room::new(3, false, 7, CALM);
    let bufs: Vec<OwnedBuf> = (0..3).map(|_| OwnedBuf::new(8)).collect();
    room.succeed(|team, _| Ok(coll::barrier(team)));
    // Only rank 1 hears of it.
    room.bench.network.cut(Peer(1), Peer(0));
    for at in [1, 2] {
        let data = || Segment::new(bufs[at].user_buf(), 1, &word);
        let mut ids = Vec::new();
        for _ in 0..MANY {
            let mut draft = Draft::new(&room.teams[at], Function::Other, 3);
            draft.receive(at as u32 - 1, data());
            draft.fence();
            if at == 1 {
                draft.send(2, data());
            }
            let schedule = draft.done();
            ids.push((at, room.start(at, schedule)));
        }
        for (number, status) in room.finish(&ids).iter().enumerate() {
            let class = status.error.as_ref().map(|error| error.class());
            assert_eq!(class, Some(ErrorClass::ProcAborted), "rank {at}, operation {number}: {status:?}");
        }
    }
}

/// Ranks that call different functions, or with different roots, are told so, and nobody waits who has been told.
#[test]
fn different_operations_on_one_communicator_are_errors() {
    let word = Datatype::of::<u64>();
    for (count, oversubscribed) in [(2, false), (2, true), (3000, false), (3000, true)] {
        for seed in 1..=8 {
            let mut room = Room::new(2, oversubscribed, seed, ROUGH);
            let bufs: Vec<OwnedBuf> = (0..2).map(|_| OwnedBuf::new(2 * count as usize * 8)).collect();
            let operand = |rank: u32| Operand::new(bufs[rank as usize].user_buf(), count, &word);
            // Rank 1 waits for what rank 0 sends, and gets something else.
            let statuses = room.run(|team, rank| match rank {
                0 => coll::bcast(team, operand(0), 0),
                _ => coll::scatter(team, None, Some(operand(1)), 0),
            });
            let error = statuses[1].error.as_ref().expect("rank 1 has been told");
            assert_eq!(error.class(), ErrorClass::NotSame);
            let said = "MPI_Scatter: rank 0 called MPI_Bcast with root 0 where rank 1 called MPI_Scatter with root 0, as \
                        collective operation 0 of ";
            assert!(error.to_string().starts_with(said), "{error}");
            assert!(statuses[0].error.is_none(), "the message has been taken");

            // Both send, wait for nobody and are done; what they have sent is found then, or at the end of the next operation.
            let mut errors = Vec::new();
            for turn in 0..2 {
                let statuses = room.run(|team, rank| match (turn, count) {
                    (0, 2) => coll::bcast(team, operand(rank), rank as i32),
                    _ => Ok(coll::barrier(team)), // a long message needs its receiver
                });
                errors.extend(
                    statuses.into_iter().filter_map(|status| status.error).map(|error| error.to_string()),
                );
            }
            assert_eq!(errors.len(), if count == 2 { 2 } else { 0 }, "{errors:?}");
            for error in errors {
                assert!(
                    error.contains("called MPI_Bcast with root") && error.contains("operation 1 of"),
                    "{error}"
                );
            }
            // It is said once.
            room.succeed(|team, _| Ok(coll::barrier(team)));
        }
    }
}

/// Who is sent nothing but that another one has given up is told what that one called.
#[test]
fn who_gives_up_says_what_it_called() {
    let word = Datatype::of::<u64>();
    for seed in 1..=8 {
        let mut room = Room::new(2, seed % 2 == 0, seed, ROUGH);
        let bufs: Vec<OwnedBuf> = (0..4).map(|_| OwnedBuf::new(64)).collect();
        let operand = |at: usize| Operand::new(bufs[at].user_buf(), 4, &word);
        let statuses = room.run(|team, rank| match rank {
            0 => coll::alltoall(team, Some(operand(0)), operand(1)),
            _ => coll::bcast(team, operand(2), 0),
        });
        let errors = statuses.iter().map(|status| status.error.as_ref().expect("both are told").to_string());
        let said = [
            "MPI_Alltoall: rank 1 called MPI_Bcast with root 0 where rank 0 called MPI_Alltoall, as ",
            "MPI_Bcast: rank 0 called MPI_Alltoall where rank 1 called MPI_Bcast with root 0, as ",
        ];
        for (error, said) in errors.zip(said) {
            assert!(error.starts_with(said), "{error}");
        }
    }
}

/// For some counts an operation goes another way than for others: who goes another one is told so, nobody waits, and nothing is left over.
#[test]
fn counts_for_which_an_operation_goes_different_ways_are_errors() {
    let word = Datatype::of::<u64>();
    let sum = Op::from(Predefined::Sum);
    // What it is, whether CPUs are shared, counts.
    type Make = fn(&Team, [UserBuf; 2], u64, &Datatype, &Op) -> Result<Schedule>;
    let allreduce: Make = |team, [send, recv], count, word, sum| {
        coll::allreduce(team, Reduced::new(Some(send), recv, count, word), sum)
    };
    let reduce: Make = |team, [send, recv], count, word, sum| {
        coll::reduce(team, Reduced::new(Some(send), recv, count, word), sum, 2)
    };
    let bcast: Make = |team, [send, _], count, word, _| coll::bcast(team, Operand::new(send, count, word), 0);
    let allgather: Make = |team, [send, recv], count, word, _| {
        coll::allgather(team, Some(Operand::new(send, count, word)), Operand::new(recv, count, word))
    };
    let alltoall: Make = |team, [send, recv], count, word, _| {
        coll::alltoall(team, Some(Operand::new(send, count, word)), Operand::new(recv, count, word))
    };
    const KIB: u64 = 128; // words
    let cases = [
        ("MPI_Allreduce", allreduce, true, [64, 128]),
        ("MPI_Allreduce", allreduce, true, [100, 128]),
        ("MPI_Allreduce", allreduce, true, [1, 128]),
        ("MPI_Allreduce", allreduce, false, [1, 128]),
        ("MPI_Reduce", reduce, true, [256, 512]),
        ("MPI_Reduce", reduce, true, [8, 512]),
        ("MPI_Bcast", bcast, false, [16, 128]),
        ("MPI_Allgather", allgather, true, [1, 8]),
        ("MPI_Allgather", allgather, false, [1, 8]),
        ("MPI_Alltoall", alltoall, true, [1, 8]),
    ];
    let mut seed = 0;
    for (name, make, oversubscribed, counts) in cases {
        for counts in [counts, [counts[1], counts[0]]] {
            for odd in [0, 1, 7] {
                seed += 1;
                let cpus = if oversubscribed { Cpus::OneHost(2) } else { Cpus::Own };
                let mut room = Room::sharing(8, cpus, seed, if seed % 2 == 0 { CALM } else { ROUGH });
                let bufs = |_| -> Vec<OwnedBuf> { (0..8).map(|_| OwnedBuf::new(512 << 10)).collect() };
                let [sends, recvs] = [0, 1].map(bufs);
                let plan = |team: &Team, rank: u32| {
                    let bufs = [&sends, &recvs].map(|all| all[rank as usize].user_buf());
                    make(team, bufs, KIB * counts[usize::from(rank == odd)], &word, &sum)
                };
                let statuses = room.run(plan);
                let label = format!("{name} of {counts:?} KiB, rank {odd} is odd, seed {seed}");
                let errors: Vec<String> =
                    statuses.iter().filter_map(|status| Some(status.error.as_ref()?.to_string())).collect();
                // Everybody waits for the result that is for all; elsewhere some have what they need.
                let fewest = if name == "MPI_Allreduce" { 8 } else { 1 };
                assert!(errors.len() >= fewest, "{label}: {errors:?}");
                let said = format!("{name}: rank ");
                assert!(errors.iter().all(|error| error.starts_with(&said)), "{label}: {errors:?}");
                let reason = [" with another count or datatype than rank ", " bytes where rank "];
                let is_said = |error: &String| reason.iter().any(|reason| error.contains(reason));
                assert!(errors.iter().any(is_said), "{label}: {errors:?}");
                (0..100).for_each(|_| room.bench.step());
                room.succeed(|team, _| Ok(coll::barrier(team)));
            }
        }
    }
}

/// The same of operations that are started again and again; the next one goes well.
#[test]
fn counts_of_persistent_reductions_that_go_different_ways_are_errors() {
    let word = Datatype::of::<u64>();
    let sum = Op::from(Predefined::Sum);
    for seed in 1..8 {
        let mut room = Room::sharing(8, Cpus::OneHost(2), seed, if seed % 2 == 0 { CALM } else { ROUGH });
        let bufs: Vec<OwnedBuf> = (0..8).map(|_| OwnedBuf::new(128 << 10)).collect();
        let again: Vec<Arc<Schedule>> = (0..8)
            .map(|rank| {
                let count = if rank == 3 { 8 << 10 } else { 16 << 10 };
                let reduced = Reduced::new(None, bufs[rank].user_buf(), count, &word);
                coll::allreduce(&room.teams[rank], reduced, &sum).expect("right arguments").repeated()
            })
            .collect();
        let ids: Vec<_> = (0..8).map(|at| (at, room.start_again(at, &again[at]))).collect();
        for (rank, status) in room.finish(&ids).iter().enumerate() {
            let error = status.error.as_ref().expect("an error").to_string();
            assert!(error.contains("a persistent operation of "), "rank {rank}: {error}");
        }
    }
}
