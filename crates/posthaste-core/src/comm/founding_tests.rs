//! Communicators out of groups alone, over the simulated network: with members that refuse, and with members that are lost at each step.

use std::sync::Arc;

use crate::comm::tests::Room;
use crate::comm::{Comm, Founded, Founding, Mark};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::{Peer, RequestId};
use crate::progress::Vci;

const CALL: &str = "MPI_Comm_create_from_group";
/// Steps of a member.
const STEPS: usize = 4;

/// How it ended at a member.
#[derive(Debug)]
enum End {
    Made(Arc<Comm>),
    Doubtful,
    Failed(Error),
    Lost,
}

/// A member and where it is.
struct Member<'a> {
    at: usize,
    steps: usize,
    running: Option<(RequestId, Founding<'a>)>,
    end: Option<End>,
}

impl<'a> Member<'a> {
    fn goes_on(&mut self, room: &mut Room, next: Result<Founded<'a>>, lost: Option<(usize, usize)>) {
        if lost == Some((self.at, self.steps)) {
            let others = (0..room.worlds.len()).filter(|other| *other != self.at);
            others.for_each(|other| room.bench.network.cut(Peer(self.at as u32), Peer(other as u32)));
            self.end = Some(End::Lost);
            return;
        }
        match next {
            Ok(Founded::Run(schedule, founding)) => {
                let Vci { engine, methods, running, .. } = &mut room.bench.vcis[self.at];
                let id = running.start(engine, methods, schedule).expect("room for a request");
                self.running = Some((id, founding));
            }
            Ok(Founded::Made(comm)) => self.end = Some(End::Made(comm)),
            Ok(Founded::Doubtful(..)) => self.end = Some(End::Doubtful),
            Err(why) => self.end = Some(End::Failed(why)),
        }
    }
}

/// All members of a group make a communicator; `reach` says whether a process can reach the one with a rank. `lost`: who goes before its
/// step of this number.
fn found(
    room: &mut Room,
    group: &Arc<Group>,
    reach: impl Fn(usize, u32) -> Result<()>,
    lost: Option<(usize, usize)>,
) -> Vec<(usize, End)> {
    let (n, mark) = (room.worlds.len() as u32, Mark::of_peers(b"x", group));
    let places: Vec<Comm> = (0..n).map(|at| Comm::founding(at, n)).collect();
    let mut members = Vec::new();
    for Peer(at) in group.peers() {
        let at = at as usize;
        let mut member = Member { at, steps: 0, running: None, end: None };
        let allocate = || room.allocate(at);
        let next = places[at].plan_from_group(CALL, group, mark, |rank| reach(at, rank), allocate);
        member.goes_on(room, next, lost);
        members.push(member);
    }
    for _ in 0..200_000 {
        for member in &mut members {
            let Some((id, _)) = &member.running else { continue };
            let Some(status) = room.bench.take(member.at, *id) else { continue };
            let (_, founding) = member.running.take().expect("it runs");
            member.steps += 1;
            let next = founding.next(status.error.map_or(Ok(()), Err));
            member.goes_on(room, next, lost);
        }
        if members.iter().all(|member| member.end.is_some()) {
            return members.into_iter().filter_map(|member| Some((member.at, member.end?))).collect();
        }
        room.bench.step();
    }
    let waiting: Vec<_> = members.iter().filter(|member| member.end.is_none()).collect();
    panic!("{:?} wait for ever", waiting.iter().map(|member| (member.at, member.steps)).collect::<Vec<_>>());
}

/// Everybody has spoken with everybody, or nobody would notice that one is lost.
fn room(n: u32, seed: u64) -> Room {
    let mut room = Room::new(n, seed);
    let dups = room.make(0..n as usize, |room, at| room.worlds[at].plan_dup(|| room.allocate(at)));
    room.check(&dups, &(0..n as usize).collect::<Vec<_>>());
    room
}

#[test]
fn all_members_get_the_communicator_and_again() {
    for (n, seed) in [(1, 1), (2, 2), (5, 3), (12, 4), (40, 5)] {
        let mut room = room(n, seed);
        for first in [0, n / 2] {
            let group = Arc::new(Group::of((first..n).rev().map(Peer).collect()));
            let members: Vec<usize> = group.peers().map(|peer| peer.0 as usize).collect();
            for _ in 0..2 {
                let ends = found(&mut room, &group, |_, _| Ok(()), None);
                let made: Vec<Option<Arc<Comm>>> = ends
                    .into_iter()
                    .map(|(_, end)| if let End::Made(comm) = end { Some(comm) } else { None })
                    .collect();
                room.check(&made, &members);
            }
        }
    }
}

/// Two members that cannot reach each other, neighbors in the tree or not: nobody has it, all are told, and nothing is left for the next.
#[test]
fn whoever_refuses_refuses_for_all() {
    let parted = || Error::invalid(ErrorClass::Group, "group", "parted", "connected");
    for n in [2, 3, 6, 12] {
        let group = Arc::new(Group::range(0, n));
        for (one, other) in [(0, 1), (0, n - 1), (1, n - 1), (n / 2, n - 1)] {
            if one == other {
                continue;
            }
            let mut room = room(n, u64::from(n + one));
            let reach = |at: usize, rank: u32| match (at as u32, rank) {
                pair if pair == (one, other) || pair == (other, one) => Err(parted()),
                _ => Ok(()),
            };
            for (at, end) in found(&mut room, &group, reach, None) {
                let End::Failed(why) = end else { panic!("{n} members, {one} and {other}: {end:?} at {at}") };
                let refuses = at as u32 == one || at as u32 == other;
                assert_eq!(why.class(), ErrorClass::Group, "{why}");
                assert_eq!(why.to_string().contains("could not take part"), !refuses, "{why}");
            }
            let ends = found(&mut room, &group, |_, _| Ok(()), None);
            let made: Vec<Option<Arc<Comm>>> = ends
                .into_iter()
                .map(|(_, end)| if let End::Made(comm) = end { Some(comm) } else { None })
                .collect();
            room.check(&made, &(0..n as usize).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_member_without_a_context_to_give_is_an_error_at_all() {
    let mut room = room(5, 1);
    let group = Arc::new(Group::range(0, 5));
    room.run_dry(0);
    for (at, end) in found(&mut room, &group, |_, _| Ok(()), None) {
        let End::Failed(why) = end else { panic!("{end:?} at {at}") };
        assert_eq!(why.class(), ErrorClass::NoMem, "{why}");
    }
}

/// Whoever is lost at whichever step: nobody waits, and where one has it, those that do not know that all have it revoke it.
#[test]
fn a_member_that_is_lost_at_any_step_keeps_nobody_waiting() {
    let (mut made, mut doubtful, mut failed) = (0, 0, 0);
    for n in [2, 3, 6, 12] {
        let group = Arc::new(Group::range(0, n));
        for victim in 0..n as usize {
            for step in 0..STEPS {
                let mut room = room(n, u64::from(n) + step as u64);
                let ends = found(&mut room, &group, |_, _| Ok(()), Some((victim, step)));
                let has = ends.iter().any(|(_, end)| matches!(end, End::Made(_)));
                for (at, end) in ends {
                    match end {
                        End::Made(_) => made += 1,
                        End::Doubtful => doubtful += 1,
                        End::Failed(why) => {
                            assert!(!has, "{n} members, {victim} at step {step}: {at} has nothing: {why}");
                            failed += 1;
                        }
                        End::Lost => assert_eq!(at, victim),
                    }
                }
            }
        }
    }
    assert!(made > 0 && doubtful > 0 && failed > 0, "{made} {doubtful} {failed}");
}
