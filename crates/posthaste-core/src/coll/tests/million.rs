//! Plans of teams of a million: those of a sample of members, and of all with whom these exchange messages.

use super::plans::{Memory, depth};
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
