//! Walks on the straight way, and ways that bend: at every look of every member.

use super::*;
use crate::buffer::OwnedBuf;

/// Operations of one word, or of one for each member.
const OPERATIONS: [&str; 8] =
    ["barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall", "scan", "reduce_scatter_block"];

struct Member {
    send: OwnedBuf,
    recv: OwnedBuf,
}

impl Member {
    fn new(rank: u32, n: u32) -> Self {
        let (mut send, recv) = (OwnedBuf::new(8 * n as usize), OwnedBuf::new(8 * n as usize));
        let bytes: Vec<u8> = (0..n).flat_map(|at| word(rank, at).to_le_bytes()).collect();
        send.sink().copy_from(&bytes);
        Self { send, recv }
    }

    fn plan(&mut self, team: &Team, operation: &str) -> Schedule {
        let (send, recv, type_of) = (self.send.user_buf(), self.recv.user_buf(), Datatype::of::<u64>());
        let (one, all) = (Operand::new(send, 1, &type_of), Operand::new(recv, 1, &type_of));
        let (reduced, sum) = (Reduced::new(Some(send), recv, 1, &type_of), Op::from(Predefined::Sum));
        let root = team.size() - 1;
        let planned = match operation {
            "barrier" => Ok(coll::barrier(team)),
            "bcast" if team.rank() == root => coll::bcast(team, one, root),
            "bcast" => coll::bcast(team, all, root),
            "reduce" => coll::reduce(team, reduced, &sum, root),
            "allreduce" => coll::allreduce(team, reduced, &sum),
            "allgather" => coll::allgather(team, Some(one), all),
            "alltoall" => coll::alltoall(team, Some(one), all),
            "scan" => coll::scan(team, reduced, &sum),
            _ => coll::reduce_scatter_block(team, reduced, &sum),
        };
        planned.expect("right arguments")
    }
}

fn word(rank: u32, at: u32) -> u64 {
    u64::from(rank) * 1000 + u64::from(at) + 1
}

/// What a member has received in the end.
fn expected(operation: &str, rank: u32, n: u32) -> Vec<u64> {
    let sum = |ranks: std::ops::Range<u32>, at| vec![ranks.map(|rank| word(rank, at)).sum()];
    match operation {
        "bcast" if rank + 1 < n => vec![word(n - 1, 0)],
        "reduce" if rank + 1 < n => vec![],
        "barrier" | "bcast" => vec![],
        "reduce" | "allreduce" => sum(0..n, 0),
        "allgather" => (0..n).map(|rank| word(rank, 0)).collect(),
        "alltoall" => (0..n).map(|from| word(from, rank)).collect(),
        "scan" => sum(0..rank + 1, 0),
        _ => sum(0..n, rank),
    }
}

/// Which member bends its way, behind how many looks, and whether it is then no walk any more.
type Bend = (usize, usize, bool);

/// All members walk, in turns; whether the way of each stayed straight, and how often each looked.
fn walk(room: &mut Room, operation: &str, bend: Option<Bend>) -> Vec<(bool, usize)> {
    let n = room.teams.len() as u32;
    let mut members: Vec<Member> = (0..n).map(|rank| Member::new(rank, n)).collect();
    let mut walks: Vec<Option<Walk>> =
        (0..n as usize).map(|at| Some(Walk::new(members[at].plan(&room.teams[at], operation)))).collect();
    let mut outcome = vec![(true, 0); n as usize];
    let (mut ids, mut rounds) = (Vec::new(), 0);
    while walks.iter().any(Option::is_some) {
        for at in 0..n as usize {
            let Some(mut walk) = walks[at].take() else { continue };
            let Vci { engine, methods, running, .. } = &mut room.bench.vcis[at];
            match bend {
                Some((who, looks, false)) if (who, looks) == (at, outcome[at].1) => {
                    walk.bend(engine, methods, running);
                }
                Some((who, looks, true)) if (who, looks) == (at, outcome[at].1) => {
                    ids.push((at, running.go_on(engine, methods, walk).expect("room for a request")));
                    continue;
                }
                _ => {}
            }
            let is_over = walk.look(engine, methods, running);
            outcome[at] = (walk.is_straight(), outcome[at].1 + 1);
            if is_over {
                running.over(engine, methods, walk).expect("everything goes well");
            } else {
                walks[at] = Some(walk);
            }
            room.bench.network.tick();
        }
        // Whose way is straight finds all by looking; the others make progress.
        let bent = (0..n as usize).filter(|at| !outcome[*at].0).chain(ids.iter().map(|(at, _)| *at));
        for at in bent {
            room.bench.vcis[at].progress();
        }
        rounds += 1;
        assert!(rounds < 10_000, "{operation} of {n} members does not end, {bend:?}");
    }
    for status in room.finish(&ids) {
        assert!(status.error.is_none(), "{operation}, {bend:?}: {:?}", status.error);
    }
    for (rank, member) in members.iter().enumerate() {
        let wanted = expected(operation, rank as u32, n);
        let got = &words(member.recv.source())[..wanted.len()];
        assert_eq!(got, wanted, "{operation} of {n} members at rank {rank}, {bend:?}");
    }
    outcome
}

fn room(n: u32) -> Room {
    Room::new(n, false, n.into(), CALM)
}

#[test]
fn what_is_short_and_comes_in_its_order_goes_straight_to_its_end() {
    for n in SIZES {
        for operation in OPERATIONS {
            let mut room = room(n);
            let outcome = walk(&mut room, operation, None);
            assert!(outcome.iter().all(|(straight, _)| *straight), "{operation} of {n} members: {outcome:?}");
            for vci in &room.bench.vcis {
                assert_eq!(
                    vci.engine.matching.arrivals(),
                    0,
                    "{operation} of {n} members: all is taken from its packet"
                );
            }
        }
    }
}

#[test]
fn a_way_may_bend_at_every_look_of_every_member() {
    for n in [2, 3, 4, 7] {
        for operation in OPERATIONS {
            let looks = walk(&mut room(n), operation, None);
            for (at, (_, looks)) in looks.into_iter().enumerate() {
                for (look, posts) in (0..looks).flat_map(|look| [(look, false), (look, true)]) {
                    walk(&mut room(n), operation, Some((at, look, posts)));
                }
            }
        }
    }
}

/// Where sends find no room now and then, the way bends in the middle of a group.
#[test]
fn a_way_bends_where_there_is_no_room() {
    let mut bent = 0;
    for n in [3, 5, 8] {
        let refusing = Weather { refuse: 4, ..CALM };
        for operation in OPERATIONS {
            let outcome = walk(&mut Room::new(n, false, n.into(), refusing), operation, None);
            bent += outcome.iter().filter(|(straight, _)| !straight).count();
        }
    }
    assert!(bent > 10, "{bent} ways bent");
}

/// What has come early lies among the unexpected messages.
#[test]
fn a_way_bends_at_a_message_that_has_been_taken_for_it() {
    for operation in OPERATIONS {
        let mut room = room(4);
        let mut members: Vec<Member> = (0..4).map(|rank| Member::new(rank, 4)).collect();
        let mut walks = Vec::new();
        for (at, member) in members.iter_mut().enumerate() {
            let schedule = member.plan(&room.teams[at], operation);
            match at {
                0 => walks.push(Walk::new(schedule)),
                _ => drop(room.start(at, schedule)),
            }
        }
        let mut walk = walks.pop().expect("that of member 0");
        for looks in 0.. {
            assert!(looks < 10_000, "{operation} does not end");
            (0..20).for_each(|_| room.bench.step());
            let Vci { engine, methods, running, .. } = &mut room.bench.vcis[0];
            if walk.look(engine, methods, running) {
                running.over(engine, methods, walk).expect("everything goes well");
                break;
            }
        }
        let wanted = expected(operation, 0, 4);
        assert_eq!(words(members[0].recv.source())[..wanted.len()], wanted, "{operation}");
    }
}
