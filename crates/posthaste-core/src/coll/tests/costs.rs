//! How long operations on few bytes take in a machine of many members, by a model: a message takes a time on its way, and each member
//! sends and receives one after the other, each for a time of its own and for that of its bytes.
//!
//! Teams of up to 30,000 are gone through whole. Of a million those members are planned whose sections decide.

use std::collections::{HashMap, VecDeque};

use super::plans::Memory;
use super::*;
use crate::coll::steps::{Plan, Step};

/// Time on the way, of a member for each message, and for each byte: microseconds.
const WAY: f64 = 1.0;
const EACH: f64 = 0.1;
const BYTE: f64 = 0.0001;

/// What matters of a step.
enum Event {
    Send(u32, u64),
    Receive(u32),
    /// Waits for what comes, and maybe for what goes.
    Wait(bool),
}

fn events(plan: &Plan) -> Vec<Event> {
    let event = |step: &Step| match step {
        Step::Send { to, segment } => Some(Event::Send(to.0, segment.len())),
        Step::Receive { from, .. } => Some(Event::Receive(*from)),
        Step::Fence => Some(Event::Wait(true)),
        Step::Turn => Some(Event::Wait(false)),
        _ => None,
    };
    plan.steps.iter().filter_map(event).collect()
}

/// A member on its way.
struct Member {
    events: Vec<Event>,
    next: usize,
    /// Since when it is in this section, and until when it sends.
    now: f64,
    sends_until: f64,
    /// From whom it waits for messages, in order, and when those came that have come.
    open: VecDeque<u32>,
    arrivals: Vec<f64>,
}

/// When the last member is through.
fn time(plans: impl Iterator<Item = Vec<Event>>) -> f64 {
    let member = |events| Member {
        events,
        next: 0,
        now: 0.0,
        sends_until: 0.0,
        open: VecDeque::new(),
        arrivals: Vec::new(),
    };
    let mut members: Vec<Member> = plans.map(member).collect();
    let mut wires: HashMap<(u32, u32), VecDeque<f64>> = HashMap::new();
    let mut ready: VecDeque<u32> = (0..members.len() as u32).collect();
    while let Some(rank) = ready.pop_front() {
        let member = &mut members[rank as usize];
        loop {
            // The first of those from one sender gets its first message.
            let Member { open, arrivals, .. } = member;
            open.retain(|from| match wires.get_mut(&(*from, rank)).and_then(VecDeque::pop_front) {
                Some(arrival) => {
                    arrivals.push(arrival);
                    false
                }
                None => true,
            });
            if !member.open.is_empty() || member.next == member.events.len() && member.arrivals.is_empty() {
                break;
            }
            member.arrivals.sort_by(f64::total_cmp);
            member.now = member.arrivals.drain(..).fold(member.now, |now, arrival| now.max(arrival) + EACH);
            if let Some(Event::Wait(true)) = member.events.get(member.next.wrapping_sub(1)) {
                member.now = member.now.max(member.sends_until);
            }
            while let Some(event) = member.events.get(member.next) {
                member.next += 1;
                match event {
                    Event::Wait(_) => break,
                    Event::Receive(from) => member.open.push_back(*from),
                    Event::Send(to, bytes) => {
                        let leaves = member.sends_until.max(member.now) + EACH + *bytes as f64 * BYTE;
                        member.sends_until = leaves;
                        wires.entry((rank, *to)).or_default().push_back(leaves + WAY);
                        ready.push_back(*to);
                    }
                }
            }
        }
    }
    assert!(members.iter().all(|member| member.open.is_empty()), "somebody waits for ever");
    members.iter().map(|member| member.now.max(member.sends_until)).fold(0.0, f64::max)
}

/// One operation of a member of a team of so many, on one word.
fn plan(n: u32, rank: u32, which: usize, crowded: bool, memory: &Memory) -> Vec<Event> {
    let team = Team::new(ContextId::WORLD, Arc::new(Group::range(0, n)), rank, Accord::of_cpus(crowded));
    let (word, sum) = (Datatype::of::<u64>(), Op::from(Predefined::Sum));
    let schedule = match which {
        0 => Ok(coll::barrier(&team)),
        1 => coll::bcast(&team, Operand::new(memory.buf(), 1, &word), 0),
        _ => coll::allreduce(&team, Reduced::new(None, memory.buf(), 1, &word), &sum),
    };
    events(&schedule.expect("right arguments").0)
}

/// Time that is allowed for each doubling of a team: radix 4 has three to serve in two doublings, and 64 has 63 in six, twice.
fn allowed(n: u32, crowded: bool) -> f64 {
    let doublings = f64::from(n.next_power_of_two().ilog2().max(1));
    doublings
        * if crowded { 2.0 * (63.0 * (EACH + 8.0 * BYTE) + WAY) / 6.0 } else { 2.0 * (2.0 * EACH + WAY) }
        + 2.0 * WAY
        + 13.0
}

#[test]
fn time_grows_with_the_logarithm_of_the_team() {
    let memory = Memory::new(&[0]);
    for (which, crowded) in (0..3).flat_map(|which| [(which, false), (which, true)]) {
        let mut before = 0.0;
        for n in [2, 16, 64, 512, 4096, 30_000] {
            let took = time((0..n).map(|rank| plan(n, rank, which, crowded, &memory)));
            let label = format!("operation {which} of {n} members, shared CPUs {crowded}: {took} us");
            assert!(took <= allowed(n, crowded), "{label}, allowed are {}", allowed(n, crowded));
            assert!(took > before, "{label}: no more than of fewer members, {before}");
            before = took;
        }
    }
}

/// A broadcast reaches a member of a million by way of those that are between it and the root, each of which serves its members in its order.
/// In a barrier and a reduction of pairs all members do the same in each section.
#[test]
fn a_million_members_take_little_longer() {
    const N: u32 = 1_000_000;
    let memory = Memory::new(&[0]);
    for crowded in [false, true] {
        for rank in [1, 3, 63, 64, 4095, N / 3, N / 2 + 7, N - 2, N - 1] {
            // From the member up to the root, and back by time.
            let mut way = vec![rank];
            while let Some(Event::Receive(from)) = plan(N, way[way.len() - 1], 1, crowded, &memory).first() {
                way.push(*from);
            }
            assert_eq!(way.last(), Some(&0));
            let mut now = 0.0;
            for pair in way.windows(2).rev() {
                let own = plan(N, pair[1], 1, crowded, &memory);
                let sends: Vec<u32> = own
                    .iter()
                    .filter_map(|event| if let Event::Send(to, _) = event { Some(*to) } else { None })
                    .collect();
                let place = sends.iter().position(|to| *to == pair[0]).expect("it sends it on");
                now += (place + 1) as f64 * (EACH + 8.0 * BYTE) + WAY + EACH;
            }
            assert!(now <= allowed(N, crowded), "rank {rank}, shared CPUs {crowded}: {now} us");
        }
    }
    for which in [0, 2] {
        for rank in [0, 1, 2, N / 2, N - 1] {
            let sections = |n: u32, rank: u32| {
                let events = plan(n, rank, which, false, &memory);
                events.iter().filter(|event| matches!(event, Event::Receive(_))).count() as f64
            };
            let now = sections(N, rank) * (WAY + 2.0 * EACH + 8.0 * BYTE);
            assert!(now <= allowed(N, false), "rank {rank}, operation {which}: {now} us");
            // That is what the whole team takes, where it can be gone through.
            let whole = time((0..4096).map(|rank| plan(4096, rank, which, false, &memory)));
            let estimate = sections(4096, rank % 4096) * (WAY + 2.0 * EACH + 8.0 * BYTE);
            assert!((whole - estimate).abs() < 0.5 * WAY, "{whole} and {estimate}");
        }
    }
}
