//! Teams of a million: plans and engines of a sample of members, and of all with whom these exchange messages.

use super::plans::{Memory, depth, walk_through_some};
use super::*;
use crate::coll::steps::{Plan, Step};

const N: u32 = 1_000_000;

/// One operation of a member of the team, on one word.
fn plan(rank: u32, which: usize, crowded: bool, memory: &Memory) -> Box<Plan> {
    let team = Team::new(ContextId::WORLD, Arc::new(Group::range(0, N)), rank, Accord::of_cpus(crowded));
    let (word, sum) = (Datatype::of::<u64>(), Op::from(Predefined::Sum));
    let schedule = match which {
        0 => Ok(coll::barrier(&team)),
        1 => coll::bcast(&team, Operand::new(memory.buf(), 1, &word), 0),
        _ => coll::allreduce(&team, Reduced::new(None, memory.buf(), 1, &word), &sum),
    };
    schedule.expect("right arguments").0
}

/// Lengths of the messages that the plan sends to a member, or receives from it, in their order.
fn lengths(plan: &Plan, with: u32, sent: bool) -> Vec<u64> {
    let length = |step: &Step| match step {
        Step::Send { to, segment } if sent && to.0 == with => Some(segment.len()),
        Step::Receive { from, segment, .. } if !sent && *from == with => Some(segment.len()),
        _ => None,
    };
    plan.steps.iter().filter_map(length).collect()
}

/// With whom messages are exchanged.
fn partners(plan: &Plan) -> Vec<u32> {
    let partner = |step: &Step| match step {
        Step::Send { to, .. } => Some(to.0),
        Step::Receive { from, .. } => Some(*from),
        _ => None,
    };
    let mut partners: Vec<u32> = plan.steps.iter().filter_map(partner).collect();
    partners.sort_unstable();
    partners.dedup();
    partners
}

/// Some members: those at the ends and at powers of two, whose plans are the longest, and others.
fn sample() -> impl Iterator<Item = u32> {
    let powers = (1..20).step_by(3).flat_map(|power| [(1 << power) - 1, 1 << power]);
    let others = (1..10u32).map(|i| i.wrapping_mul(0x9e37_79b9) % N);
    [0, N / 2, N - 1].into_iter().chain(powers).chain(others)
}

#[test]
fn members_of_a_million_take_a_logarithm_of_steps_and_of_memory() {
    let memory = Memory::new(&[0]);
    let log = N.ilog2() as usize + 1;
    for (which, crowded) in (0..3).flat_map(|which| [(which, false), (which, true)]) {
        let label = format!("operation {which}, shared CPUs {crowded}");
        // A level of a tree has 63 members to serve at most and brings 6 bits, where CPUs are shared: each is heard, combined, answered.
        let most_steps = if crowded { 3 * 64 * log.div_ceil(6) } else { 4 * log + 4 };
        for rank in sample() {
            let own = plan(rank, which, crowded, &memory);
            assert!(own.steps.len() <= most_steps, "{} steps of rank {rank}, {label}", own.steps.len());
            let bytes: usize = own.temporaries.iter().map(crate::buffer::OwnedBuf::len).sum();
            assert!(bytes <= 64 * most_steps, "{bytes} bytes of rank {rank}, {label}");
            // Each message has one who sends it and one who receives it.
            for other in partners(&own).into_iter().step_by(if crowded { 7 } else { 1 }) {
                let theirs = plan(other, which, crowded, &memory);
                for sent in [true, false] {
                    let (ours, theirs) = (lengths(&own, other, sent), lengths(&theirs, rank, !sent));
                    assert_eq!(ours, theirs, "ranks {rank} and {other}, {label}");
                }
            }
        }
    }
}

/// The way of a broadcast's data to a member, and that of a member's operand to who combines everything.
#[test]
fn ways_in_a_team_of_a_million_are_short() {
    let memory = Memory::new(&[0]);
    for (which, crowded, radix) in [(0, true, 64), (1, false, 4), (1, true, 64), (2, true, 64)] {
        let most = depth(N, radix);
        assert!(most <= 10);
        for rank in sample() {
            let (mut at, mut steps) = (rank, 0);
            while at > 0 {
                let plan = plan(at, which, crowded, &memory);
                let parent = |step: &Step| match step {
                    Step::Receive { from, .. } if *from < at => Some(*from),
                    _ => None,
                };
                at = plan
                    .steps
                    .iter()
                    .find_map(parent)
                    .expect("all but the root hear from who is nearer to it");
                steps += 1;
            }
            assert!(steps <= most, "{steps} steps to rank {rank}, operation {which}, shared CPUs {crowded}");
        }
    }
}

/// A member and those with whom it exchanges messages, each with the operand and the plan of its own; of the plans of the others, what
/// concerns the member.
struct Neighbourhood {
    ranks: Vec<u32>,
    operands: Vec<Memory>,
    schedules: Vec<Schedule>,
}

impl Neighbourhood {
    fn of(rank: u32, which: usize, crowded: bool) -> Self {
        let mut ranks = partners(&plan(rank, which, crowded, &Memory::new(&[0])));
        ranks.push(rank);
        ranks.sort_unstable();
        // Who is nearer to the root of a broadcast has its data already.
        let operand = |at: &u32| match which {
            1 if *at == 0 || *at < rank => 4711,
            1 => 0,
            _ => u64::from(*at).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        };
        let operands: Vec<Memory> = ranks.iter().map(|at| Memory::new(&[operand(at)])).collect();
        let schedule = |(at, memory): (&u32, &Memory)| {
            let mut plan = plan(*at, which, crowded, memory);
            plan.steps.retain(|step| match step {
                Step::Send { to, .. } => *at == rank || to.0 == rank,
                Step::Receive { from, .. } => *at == rank || *from == rank,
                _ => true,
            });
            // Where the others have heard from nobody else, there is what an earlier plan has left.
            for memory in &mut plan.temporaries {
                let zeros = vec![0; memory.len()];
                memory.sink().copy_from(&zeros);
            }
            Schedule(plan)
        };
        let schedules = ranks.iter().zip(&operands).map(schedule).collect();
        Self { ranks, operands, schedules }
    }

    fn results(&self) -> Vec<u64> {
        self.operands.iter().flat_map(|memory| memory.get(1)).collect()
    }
}

/// What engines do is what plans say, and a barrier waits for each of those with whom messages are exchanged.
#[test]
fn engines_of_a_million_take_their_plans_to_the_end() {
    for (which, crowded) in (0..3).flat_map(|which| [(which, false), (which, true)]) {
        for (rank, weather) in sample().zip([CALM, ROUGH].into_iter().cycle()) {
            let label = format!("operation {which} of rank {rank}, shared CPUs {crowded}");
            let mut planned = Neighbourhood::of(rank, which, crowded);
            walk_through_some(planned.ranks.iter().copied().zip(planned.schedules.drain(..)).collect());
            let mut taken = Neighbourhood::of(rank, which, crowded);
            let config = Config::default();
            let bench = Bench::of_some(u64::from(rank) + 1, N, &taken.ranks, weather, &config);
            let mut room = Room { bench, teams: Vec::new(), seed: rank.into() };
            let own = taken.ranks.binary_search(&rank).expect("one of them");
            let sends = |at: &usize| {
                *at != own
                    && taken.schedules[*at].0.steps.iter().any(|step| matches!(step, Step::Send { .. }))
            };
            let senders: Vec<usize> = (0..taken.ranks.len()).filter(sends).collect();
            // The root of a broadcast hears from nobody.
            let late = senders.get(room.bench.network.random(senders.len().max(1) as u64) as usize);
            let (mut ids, mut waits) = (Vec::new(), None);
            for (at, schedule) in taken.schedules.drain(..).enumerate() {
                match Some(at) == late.copied() {
                    true => waits = Some((at, schedule)),
                    false => ids.push((at, room.start(at, schedule))),
                }
            }
            for _ in 0..40 * taken.ranks.len() {
                room.bench.step();
            }
            if let Some((at, schedule)) = waits {
                let (_, id) = ids.iter().find(|(at, _)| *at == own).expect("it has begun");
                assert!(
                    room.bench.take(own, *id).is_none(),
                    "{label} does not wait for rank {}",
                    taken.ranks[at]
                );
                ids.push((at, room.start(at, schedule)));
            }
            for status in room.finish(&ids) {
                assert!(status.error.is_none(), "{label}: {status:?}");
            }
            room.all_leave();
            assert_eq!(taken.results(), planned.results(), "{label}");
            if which == 1 {
                assert!(taken.results().iter().all(|word| *word == 4711), "{label}: {:?}", taken.results());
            }
        }
    }
}
