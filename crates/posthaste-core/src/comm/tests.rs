//! Making communicators, over the simulated network.

use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::coll::{self, Accord, Operand, Schedule};
use crate::comm::{Comm, Creation, MAX_NAME};
use crate::config::Config;
use crate::datatype::Datatype;
use crate::error::{Error, ErrorClass, Result};
use crate::group::{Comparison, Group};
use crate::ids::{ContextId, Founder, PROC_NULL, Peer};
use crate::progress::Vci;
use crate::testing::{Bench, ROUGH};

/// Engines and their worlds; a counter for each allocates contexts.
pub(crate) struct Room {
    pub(crate) bench: Bench,
    pub(crate) worlds: Vec<Arc<Comm>>,
    founders: Vec<Founder>,
}

/// What all members go by, of all kinds.
fn accord(seed: u64) -> Accord {
    Accord::from_bits((seed as u8).wrapping_add(1) & 7)
}

impl Room {
    pub(crate) fn new(n: u32, seed: u64) -> Self {
        let mut worlds: Vec<Comm> = (0..n).map(|rank| Comm::world(rank, n)).collect();
        worlds.iter_mut().for_each(|world| world.set_accord(accord(seed)));
        Self {
            bench: Bench::new(seed, n, ROUGH, &Config::default()),
            worlds: worlds.into_iter().map(Arc::new).collect(),
            founders: (0..n).map(|rank| Founder::apart(rank, n)).collect(),
        }
    }

    pub(crate) fn allocate(&self, at: usize) -> Result<ContextId> {
        let count = self.founders[at].count();
        let count = count.ok_or_else(|| Error::no_memory("no context is left"))?;
        Ok(self.founders[at].context(0, count).expect("a small count"))
    }

    /// An engine has no further context.
    pub(super) fn run_dry(&self, at: usize) {
        self.founders[at].set(u64::MAX);
    }

    /// It has some again.
    pub(super) fn refill(&self, at: usize) {
        self.founders[at].set(ContextId::FIRST_COUNT.into());
    }

    /// Runs schedules, each at its engine, and all must go well.
    pub(crate) fn run(&mut self, schedules: Vec<(usize, Schedule)>) {
        let mut ids = Vec::new();
        for (at, schedule) in schedules {
            let Vci { engine, methods, running, .. } = &mut self.bench.vcis[at];
            ids.push((at, running.start(engine, methods, schedule).expect("room for a request")));
            for _ in 0..self.bench.network.random(20) {
                self.bench.step();
            }
        }
        for (at, id) in ids {
            let status = self.bench.finish(at, id);
            assert!(status.error.is_none(), "{:?}", status.error);
        }
    }

    /// Makes communicators at the given engines.
    pub(crate) fn make(
        &mut self,
        at: impl Iterator<Item = usize>,
        plan: impl Fn(&Self, usize) -> Result<(Schedule, Creation)>,
    ) -> Vec<Option<Arc<Comm>>> {
        self.attempt(at, plan).into_iter().map(|made| made.expect("a communicator")).collect()
    }

    /// The same; what the engines have come to.
    pub(super) fn attempt(
        &mut self,
        at: impl Iterator<Item = usize>,
        plan: impl Fn(&Self, usize) -> Result<(Schedule, Creation)>,
    ) -> Vec<Result<Option<Arc<Comm>>>> {
        let mut schedules = Vec::new();
        let creations: Vec<Result<Creation>> = at
            .map(|at| {
                let (schedule, creation) = plan(self, at)?;
                schedules.push((at, schedule));
                Ok(creation)
            })
            .collect();
        self.run(schedules);
        creations.into_iter().map(|creation| creation.and_then(Creation::finish)).collect()
    }

    /// An allgather of world ranks shows that a communicator's members and order are as planned.
    pub(super) fn check(&mut self, comms: &[Option<Arc<Comm>>], members: &[usize]) {
        let byte = Datatype::byte();
        let mut bufs = Vec::new();
        let mut schedules = Vec::new();
        for world_rank in members {
            let comm = comms
                .iter()
                .flatten()
                .find(|comm| comm.group().peer(comm.rank() as u32) == Some(Peer(*world_rank as u32)));
            let comm = comm.expect("a member has a communicator");
            let mut mine = OwnedBuf::new(1);
            mine.sink().copy_from(&[*world_rank as u8]);
            let all = OwnedBuf::new(members.len());
            let recv = Operand::new(all.user_buf(), 1, &byte);
            let schedule = coll::allgather(comm, Some(Operand::new(mine.user_buf(), 1, &byte)), recv);
            schedules.push((*world_rank, schedule.expect("right arguments")));
            bufs.push((mine, all));
        }
        self.run(schedules);
        let expected: Vec<u8> = members.iter().map(|member| *member as u8).collect();
        for (_, all) in &bufs {
            assert_eq!(all.source().to_vec(), expected);
        }
    }
}

#[test]
fn a_duplicate_is_congruent_and_separate() {
    for n in [1, 2, 5] {
        let mut room = Room::new(n, u64::from(n));
        let dups = room.make(0..n as usize, |room, at| room.worlds[at].plan_dup(|| room.allocate(at)));
        let again = room.make(0..n as usize, |room, at| room.worlds[at].plan_dup(|| room.allocate(at)));
        let context = dups[0].as_ref().unwrap().context();
        for ((dup, other), world) in dups.iter().flatten().zip(again.iter().flatten()).zip(&room.worlds) {
            assert_eq!(dup.context(), context);
            assert_eq!(dup.compare(world), Comparison::Congruent);
            assert_eq!(dup.compare(other), Comparison::Congruent);
            assert_eq!(dup.compare(dup), Comparison::Ident);
            assert_eq!(
                (dup.rank(), dup.size(), dup.accord()),
                (world.rank(), world.size(), accord(u64::from(n)))
            );
        }
        let members: Vec<usize> = (0..n as usize).collect();
        room.check(&dups, &members);
    }
}

#[test]
fn a_split_sorts_by_key_and_then_by_rank() {
    let mut room = Room::new(7, 3);
    let colors = [Some(0), Some(1), Some(0), None, Some(1), Some(0), Some(0)];
    let keys = [5, -1, -3, 0, -7, 5, i32::MIN];
    let comms =
        room.make(0..7, |room, at| room.worlds[at].plan_split(colors[at], keys[at], || room.allocate(at)));
    assert!(comms[3].is_none());
    room.check(&comms, &[6, 2, 0, 5]);
    room.check(&comms, &[4, 1]);
    let (zero, one) = (comms[0].as_ref().unwrap(), comms[1].as_ref().unwrap());
    assert_ne!(zero.context(), one.context());
    assert_eq!(zero.compare(&room.worlds[0]), Comparison::Unequal);
    assert_eq!(zero.destination(0).unwrap(), Some(Peer(6)));
    let error = room.worlds[0].plan_split(Some(-5), 0, || room.allocate(0)).unwrap_err().to_string();
    assert_eq!(error, "color is -5, expected 0 or more, or MPI_UNDEFINED");

    // A reversed world is similar, and splits of splits work.
    let back =
        room.make(0..7, |room, at| room.worlds[at].plan_split(Some(0), -(at as i32), || room.allocate(at)));
    assert_eq!(back[2].as_ref().unwrap().compare(&room.worlds[2]), Comparison::Similar);
    room.check(&back, &[6, 5, 4, 3, 2, 1, 0]);
    let halves = room.make(0..7, |room, at| {
        back[at].as_ref().unwrap().plan_split(Some((at % 2) as i32), 0, || room.allocate(at))
    });
    room.check(&halves, &[6, 4, 2, 0]);
    room.check(&halves, &[5, 3, 1]);
}

/// Whoever founds it, in whichever operation: nobody waits, and nothing is left over for the next time.
#[test]
fn a_founder_without_a_context_is_an_error_at_all_members() {
    type Plan = fn(&Room, usize) -> Result<(Schedule, Creation)>;
    fn backwards(room: &Room) -> Arc<Group> {
        Arc::new(Group::of((0..room.worlds.len() as u32).rev().map(Peer).collect()))
    }
    let plans: [(bool, Plan); 4] = [
        (false, |room, at| room.worlds[at].plan_dup(|| room.allocate(at))),
        (true, |room, at| room.worlds[at].plan_create(&backwards(room), || room.allocate(at))),
        (true, |room, at| room.worlds[at].plan_create_group(&backwards(room), 3, || room.allocate(at))),
        (true, |room, at| room.worlds[at].plan_split(Some(0), -(at as i32), || room.allocate(at))),
    ];
    for n in [1, 2, 5, 12] {
        for (is_last, plan) in plans {
            let mut room = Room::new(n, u64::from(n));
            let n = n as usize;
            let founder = if is_last { n - 1 } else { 0 };
            room.run_dry(founder);
            for (at, made) in room.attempt(0..n, plan).into_iter().enumerate() {
                let why = made.expect_err("there is no context");
                assert_eq!(why.class(), ErrorClass::NoMem, "{why}");
                assert_eq!(why.to_string().starts_with("rank 0 of the new"), at != founder, "{why}");
            }
            room.refill(founder);
            let made = room.make(0..n, plan);
            let members: Vec<usize> = if is_last { (0..n).rev().collect() } else { (0..n).collect() };
            room.check(&made, &members);
        }
    }
}

#[test]
fn a_split_fails_for_those_whose_founder_has_no_context() {
    let mut room = Room::new(5, 6);
    let colors = [Some(0), Some(1), Some(0), None, Some(1)];
    // The last one founds nothing, and its context is not asked for.
    [0, 4].into_iter().for_each(|at| room.run_dry(at));
    let made = room.attempt(0..5, |room, at| room.worlds[at].plan_split(colors[at], 0, || room.allocate(at)));
    let classes = made.iter().map(|made| made.as_ref().err().map(Error::class));
    let no_context = Some(ErrorClass::NoMem);
    assert_eq!(classes.collect::<Vec<_>>(), [no_context, None, no_context, None, None]);
    let made: Vec<Option<Arc<Comm>>> = made.into_iter().map(|made| made.unwrap_or(None)).collect();
    assert!(made[3].is_none());
    room.check(&made, &[1, 4]);
}

#[test]
fn subsets_by_group() {
    let mut room = Room::new(6, 4);
    let of = |peers: &[u32]| Arc::new(Group::of(peers.iter().copied().map(Peer).collect()));
    let (left, right, all) = (of(&[4, 0]), of(&[1, 5, 2]), of(&[0, 1, 2, 3, 4, 5]));
    let own = |at: usize| if at == 0 || at == 4 { &left } else { &right };
    let comms = room.make(0..6, |room, at| room.worlds[at].plan_create(own(at), || room.allocate(at)));
    assert!(comms[3].is_none());
    room.check(&comms, &[4, 0]);
    room.check(&comms, &[1, 5, 2]);
    // Only the members take part, twice at the same time under two tags.
    let first = room.make([5, 1, 2].into_iter(), |room, at| {
        room.worlds[at].plan_create_group(&right, 7, || room.allocate(at))
    });
    let second = room.make([1, 2, 5].into_iter(), |room, at| {
        room.worlds[at].plan_create_group(&right, i32::MAX - 1, || room.allocate(at))
    });
    assert_ne!(first[0].as_ref().unwrap().context(), second[0].as_ref().unwrap().context());
    room.check(&first, &[1, 5, 2]);
    room.check(&second, &[1, 5, 2]);
    let allocate = || room.allocate(0);
    let error = room.worlds[0].plan_create_group(&right, 0, allocate).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Group);
    assert!(room.worlds[0].plan_create_group(&left, -1, allocate).is_err());
    let outsider = comms[0].as_ref().unwrap().plan_create(&all, allocate).unwrap_err();
    assert!(outsider.to_string().contains("process 1 of the world"), "{outsider}");
}

#[test]
fn ranks_are_checked() {
    let world = Comm::world(1, 4);
    assert_eq!(world.destination(3).unwrap(), Some(Peer(3)));
    assert_eq!(world.source(PROC_NULL).unwrap(), None);
    for wrong in [4, -1, -2, i32::MAX] {
        let error = world.destination(wrong).unwrap_err();
        assert_eq!(error.to_string(), format!("dest is {wrong}, expected 0..=3 or MPI_PROC_NULL"));
        assert_eq!(error.class(), ErrorClass::Rank);
        assert!(world.source(wrong).unwrap_err().to_string().starts_with("source is"));
    }
    let own = Comm::own(Peer(9));
    assert_eq!(own.destination(0).unwrap(), Some(Peer(9)));
    assert!(own.destination(1).is_err());
}

#[test]
fn names_and_handlers() {
    let world = Comm::world(0, 1);
    assert_eq!(world.name(), "MPI_COMM_WORLD");
    world.set_name(&"é".repeat(100));
    assert_eq!(world.name(), "é".repeat(MAX_NAME / 2));
    world.set_handler(5);
    assert_eq!(world.handler(), Some(Arc::new(5)));
    let mut room = Room::new(1, 1);
    room.worlds[0].set_handler(4);
    room.worlds[0].set_handler("of another API layer");
    room.worlds[0].set_handler(6);
    let dup = room.make(0..1, |room, at| room.worlds[at].plan_dup(|| room.allocate(at))).remove(0).unwrap();
    assert_eq!((dup.handler(), dup.handler()), (Some(Arc::new(6)), Some(Arc::new("of another API layer"))));
    assert_eq!(dup.handler::<u8>(), None);
    assert_eq!(dup.name(), "");
}

#[test]
fn ranks_part_at_the_widest_level_that_divides_those_who_ask() {
    for (seed, ranks, expected) in [
        (1, &[(Some(1), [7, 1]), (Some(1), [7, 2])][..], Ok(Some(1))),
        (2, &[(Some(1), [7, 1]), (Some(1), [8, 1])], Ok(Some(0))),
        (3, &[(Some(1), [7, 1]), (None, [8, 2]), (Some(1), [7, 1])], Ok(None)),
        (4, &[(Some(0), [-1, -1]), (Some(0), [-1, 3])], Ok(Some(1))),
        (5, &[(None, [1, 1]), (None, [2, 2])], Ok(None)),
        (6, &[(Some(1), [1, 1]), (Some(0), [1, 1])], Err(ErrorClass::Arg)),
    ] {
        let mut room = Room::new(ranks.len() as u32, seed);
        let plan = |(world, (kind, places)): (&Arc<Comm>, &(Option<i32>, [i32; 2]))| {
            world.plan_levels(*kind, &places.map(|place| (place >= 0).then_some(place)))
        };
        let (schedules, levels): (Vec<_>, Vec<_>) = room.worlds.iter().zip(ranks).map(plan).unzip();
        room.run(schedules.into_iter().enumerate().collect());
        for levels in levels {
            assert_eq!(levels.dividing().map_err(|error| error.class()), expected, "seed {seed}");
        }
    }
}
