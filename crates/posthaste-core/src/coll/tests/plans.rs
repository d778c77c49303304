//! Plans without engines: the steps of all members are taken one fence after the other, messages are copied from queue to queue.
//! So every team of 1 to 70 members and random ones of up to 4,096 are gone through in seconds: what arrives, operands in the
//! order of ranks, how many steps it takes, and that nothing is left over.
//!
//! What must stay true: a section of steps is begun only when all of the one before it is over, as in `schedule`. A message is read
//! as late as may be, when it is received or where its sender waits for it, and has to be what it was when it was sent: nobody
//! writes where something is on its way.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use super::*;
use crate::buffer::OwnedBuf;
use crate::coll::choose::{self, Allreduce, Reduce, Scan};
use crate::coll::steps::{Plan, Step};
use crate::datatype::{self, Segment};

/// What an operation took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// The longest chain of messages of which each has to wait for the one before.
    pub(super) depth: u32,
    /// Most messages that one member sends.
    pub(super) sends: u32,
}

/// A member's way through its plan.
struct Member {
    plan: Box<Plan>,
    next: usize,
    /// Receives of this section that have got nothing yet.
    open: VecDeque<usize>,
    /// Messages that came before this section began, in a chain.
    depth: u32,
    /// The same, of what has come since.
    deepest: u32,
    sends: u32,
    /// What was sent since the last fence.
    under_way: Vec<Message>,
}

/// A message under way: how long the chain is that it ends, and what it brings.
#[derive(Clone)]
struct Message {
    depth: u32,
    contents: Rc<RefCell<Contents>>,
}

/// What was to be sent, and where it lies as long as it has not been read.
struct Contents {
    bytes: Vec<u8>,
    unread: Option<Segment>,
}

impl Message {
    fn of(depth: u32, segment: &Segment) -> Self {
        let contents = Contents { bytes: packed(segment), unread: Some(segment.clone()) };
        Self { depth, contents: Rc::new(RefCell::new(contents)) }
    }

    /// Reads it, if that has not been done.
    fn read(&self, rank: u32, members: usize) -> Vec<u8> {
        let mut contents = self.contents.borrow_mut();
        if let Some(segment) = contents.unread.take() {
            let is_same = packed(&segment) == contents.bytes;
            assert!(is_same, "what rank {rank} of {members} sends is written over before it is read");
        }
        contents.bytes.clone()
    }
}

fn packed(segment: &Segment) -> Vec<u8> {
    let mut bytes = vec![0; segment.len() as usize];
    segment.clone().pack((&mut bytes[..]).into());
    bytes
}

/// Takes the plans of all members to their ends.
pub(super) fn walk_through(schedules: Vec<Schedule>) -> Cost {
    walk_through_some((0..).zip(schedules).collect())
}

/// The same of some members, in the order of their ranks, which exchange messages with no others.
pub(super) fn walk_through_some(schedules: Vec<(u32, Schedule)>) -> Cost {
    thread_local! {
        static TURN: Cell<u32> = const { Cell::new(0) };
    }
    // Who was told last goes on first, or last: some run far ahead then, or all go in step. What is sent has left at once, or when it has
    // been received.
    let turn = TURN.replace(TURN.get() + 1);
    let (last_first, asks) = (turn & 1 != 0, turn & 2 != 0);
    let member = |schedule: Schedule| Member {
        plan: schedule.0,
        next: 0,
        open: VecDeque::new(),
        depth: 0,
        deepest: 0,
        sends: 0,
        under_way: Vec::new(),
    };
    let (ranks, mut members): (Vec<u32>, Vec<Member>) =
        schedules.into_iter().map(|(rank, schedule)| (rank, member(schedule))).unzip();
    let mut wires: HashMap<(u32, u32), VecDeque<Message>> = HashMap::new();
    let mut ready: VecDeque<u32> = ranks.iter().copied().collect();
    let size = members.len();
    while let Some(rank) = if last_first { ready.pop_back() } else { ready.pop_front() } {
        let member = &mut members[ranks.binary_search(&rank).expect("one of them")];
        loop {
            // Who has sent it may wait for that.
            ready.extend(member.receive(rank, size, &mut wires));
            if !member.open.is_empty() || member.is_over() || (asks && member.waits_for_receivers()) {
                break;
            }
            ready.extend(member.section(rank, size, &mut wires));
        }
    }
    for (rank, member) in ranks.iter().zip(&members) {
        assert!(
            member.is_over() && member.open.is_empty(),
            "rank {rank} of {} waits for ever",
            members.len()
        );
    }
    assert!(wires.values().all(VecDeque::is_empty), "messages are left over");
    members.iter().fold(Cost::default(), |cost, member| Cost {
        depth: cost.depth.max(member.depth.max(member.deepest)),
        sends: cost.sends.max(member.sends),
    })
}

impl Member {
    fn is_over(&self) -> bool {
        self.next == self.plan.steps.len()
    }

    /// Whether it is at a fence, and something that it has sent has not been received.
    fn waits_for_receivers(&self) -> bool {
        let is_at_fence = matches!(self.plan.steps.get(self.next.wrapping_sub(1)), Some(Step::Fence));
        is_at_fence && self.under_way.iter().any(|message| message.contents.borrow().unread.is_some())
    }

    /// Takes the steps up to the next fence. Gives those that messages have left for.
    fn section(
        &mut self,
        rank: u32,
        members: usize,
        wires: &mut HashMap<(u32, u32), VecDeque<Message>>,
    ) -> Vec<u32> {
        // A turn waits for what comes, a fence also for what goes.
        if let Some(Step::Fence) = self.plan.steps.get(self.next.wrapping_sub(1)) {
            self.under_way.drain(..).for_each(|message| drop(message.read(rank, members)));
        }
        self.depth = self.depth.max(self.deepest);
        let mut told = Vec::new();
        while let Some(step) = self.plan.steps.get(self.next) {
            self.next += 1;
            match step {
                Step::Fence | Step::Turn => break,
                Step::Receive { .. } => self.open.push_back(self.next - 1),
                Step::Send { to, segment } => {
                    let message = Message::of(self.depth + 1, segment);
                    wires.entry((rank, to.0)).or_default().push_back(message.clone());
                    self.under_way.push(message);
                    self.sends += 1;
                    told.push(to.0);
                }
                Step::Combine { input, inout, count } => {
                    let (op, datatype) = self.plan.reduction.as_ref().expect("an operation");
                    op.apply(datatype, *input, *inout, *count).expect("a type for the operation");
                }
                Step::Copy { from, to } => {
                    assert!(from.len() <= to.len());
                    datatype::copy(&mut from.clone(), &mut to.clone());
                }
                Step::Stage { .. } => unreachable!("no memory of devices"),
            }
        }
        told
    }

    /// Receives what has come. Gives those that have sent it.
    fn receive(
        &mut self,
        rank: u32,
        members: usize,
        wires: &mut HashMap<(u32, u32), VecDeque<Message>>,
    ) -> Vec<u32> {
        let Self { plan, open, deepest, .. } = self;
        let mut senders = Vec::new();
        // The first of those from one sender gets its first message.
        let mut waiting = Vec::new();
        open.retain(|step| {
            let Step::Receive { from, segment, .. } = &plan.steps[*step] else { unreachable!("a receive") };
            let queue = wires.get_mut(&(*from, rank)).filter(|_| !waiting.contains(from));
            let Some(message) = queue.and_then(VecDeque::pop_front) else {
                waiting.push(*from);
                return true;
            };
            let (depth, bytes) = (message.depth, message.read(*from, members));
            assert_eq!(bytes.len() as u64, segment.len(), "what rank {from} sends rank {rank}");
            segment.clone().unpack(bytes[..].into());
            *deepest = (*deepest).max(depth);
            senders.push(*from);
            false
        });
        senders
    }
}

/// Memory of the processor; that of devices is the business of `staged`.
pub(super) struct Memory(OwnedBuf);

impl Memory {
    pub(super) fn new(words: &[u64]) -> Self {
        let memory = Self(OwnedBuf::new(words.len().max(1) * 8));
        memory.fill(words);
        memory
    }

    pub(super) fn fill(&self, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.buf().sink(bytes.len()).copy_from(&bytes);
    }

    pub(super) fn buf(&self) -> UserBuf {
        self.0.user_buf()
    }

    pub(super) fn get(&self, len: usize) -> Vec<u64> {
        words(self.0.user_buf().source(len * 8))
    }
}

/// Runs an operation of which `make` plans the part of each rank.
pub(super) fn run(teams: &[Team], make: impl Fn(&Team, u32) -> Result<Schedule>) -> Cost {
    let plans = teams.iter().zip(0..).map(|(team, rank)| make(team, rank).expect("right arguments"));
    walk_through(plans.collect())
}

/// Every size of a team up to 70, and some up to 4,096, the same each time; where CPUs are shared and where not.
pub(super) fn sizes(mut test: impl FnMut(u32, Cpus, &[Team])) {
    let mut seed = 7u64;
    let large = (0..4).map(|at| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        [71, 200, 700, 2000][at] + (seed >> 33) as u32 % [100, 400, 1000, 2096][at]
    });
    for n in (1..=70).chain(large).chain([4096]) {
        for cpus in [Cpus::Own, crowded(n.into())] {
            // Of the large ones each is gone through once.
            if n <= 70 || (cpus != Cpus::Own) == n.is_multiple_of(2) {
                test(n, cpus, &teams(ContextId::WORLD, n, cpus));
            }
        }
        // Where data is long, it also depends on how many CPUs there are.
        if is_long(n) {
            for cpus in
                [Cpus::Shared, Cpus::OneHost(1), Cpus::OneHost(2), Cpus::OneHost(3), Cpus::OneHost(12)]
            {
                test(n, cpus, &teams(ContextId::WORLD, n, cpus));
            }
        }
    }
}

/// Rounds in which each member serves so many others until all are served.
pub(super) fn rounds(n: u32, radix: u32) -> u32 {
    (0..).find(|rounds| u64::from(radix).pow(*rounds) >= u64::from(n)).expect("few")
}

/// The longest way in a tree: each digit of a member that is not 0 is a step.
pub(super) fn depth(n: u32, radix: u32) -> u32 {
    let steps = |mut member: u32| {
        let mut steps = 0;
        while member > 0 {
            steps += u32::from(!member.is_multiple_of(radix));
            member /= radix;
        }
        steps
    };
    (0..n).map(steps).max().unwrap_or(0)
}

/// Sizes that go through long operations, too: those of all sizes would take long.
fn is_long(n: u32) -> bool {
    n <= 6 || [8, 13, 33].contains(&n)
}

fn radix(crowded: bool) -> u32 {
    if crowded { 64 } else { 4 }
}

#[test]
fn barriers_and_broadcasts_take_a_logarithm_of_steps() {
    let word = Datatype::of::<u64>();
    sizes(|n, cpus, teams| {
        let crowded = cpus != Cpus::Own;
        let label = format!("{n} ranks, {cpus:?}");
        let cost = run(teams, |team, _| Ok(coll::barrier(team)));
        let steps = if crowded && n > 2 { 2 * depth(n, 64) } else { rounds(n, 2) };
        assert_eq!(cost.depth, steps, "barrier, {label}");
        for (root, count) in [(0, 3), (n - 1, 3), (n / 3, if is_long(n) { 9000 } else { 9 })] {
            let sent: Vec<u64> = (0..count).map(|i| i * i + u64::from(root)).collect();
            let bufs: Vec<Memory> = (0..n)
                .map(|rank| Memory::new(&if rank == root { sent.clone() } else { vec![0; sent.len()] }))
                .collect();
            let cost = run(teams, |team, rank| {
                coll::bcast(team, Operand::new(bufs[rank as usize].buf(), count, &word), root as i32)
            });
            for (rank, buf) in bufs.iter().enumerate() {
                assert!(buf.get(count as usize) == sent, "broadcast from {root} at {rank}, {label}");
            }
            let steps = if count == 9000 && n > 2 && !crowded { 2 } else { depth(n, radix(crowded)) };
            assert_eq!(cost.depth, steps, "broadcast of {count} words, {label}");
        }
    });
}

#[test]
fn reductions_combine_in_the_order_of_ranks_and_take_few_steps() {
    let (pair, compose) = (pair(), compose());
    sizes(|n, cpus, teams| {
        let crowded = cpus != Cpus::Own;
        // Long enough for blocks; where all share the CPUs of a host, of one member and of several.
        let counts = match is_long(n) {
            true if crowded && n > 2 => vec![1, 4101, 16_387],
            true => vec![1, u64::from(n.max(8)) * 128 + 5],
            false => vec![1],
        };
        for count in counts {
            let label = format!("{n} ranks, {cpus:?}, {count} elements");
            let expected = folded(0..n, 0..count);
            let sends: Vec<Memory> = (0..n).map(|rank| Memory::new(&maps(rank, count))).collect();
            let fresh =
                || -> Vec<Memory> { (0..n).map(|_| Memory::new(&vec![0; 2 * count as usize])).collect() };
            let recvs = fresh();
            let cost = run(teams, |team, rank| {
                let [send, recv] = [&sends, &recvs].map(|all| all[rank as usize].buf());
                coll::allreduce(team, Reduced::new(Some(send), recv, count, &pair), &compose)
            });
            for recv in &recvs {
                assert!(recv.get(2 * count as usize) == expected, "allreduce, {label}");
            }
            let steps = match choose::allreduce(n, 16 * count, cpus) {
                _ if n == 1 => 0..=0,
                Allreduce::Blocks(_) => 2..=2,
                Allreduce::Tree(radix) => 2 * depth(n, radix)..=2 * depth(n, radix),
                // Where n is no power of two, pairs come before that and after it.
                Allreduce::Multiplying(_) => rounds(n, 2)..=n.ilog2() + 2 * u32::from(!n.is_power_of_two()),
            };
            assert!(steps.contains(&cost.depth), "allreduce in {} steps, {label}", cost.depth);

            for root in [0, n - 1, n / 2] {
                let result = Memory::new(&vec![0; 2 * count as usize]);
                let cost = run(teams, |team, rank| {
                    let recv = if rank == root { result.buf() } else { UserBuf::none() };
                    let send = Some(sends[rank as usize].buf());
                    coll::reduce(team, Reduced::new(send, recv, count, &pair), &compose, root as i32)
                });
                assert!(result.get(2 * count as usize) == expected, "reduce to {root}, {label}");
                // Rank 0 combines what does not commute, and hands it on.
                let steps = match choose::reduce(n, 16 * count, cpus, false) {
                    _ if n == 1 => 0,
                    Reduce::Blocks(owners) => 1 + u32::from(owners > 1),
                    Reduce::Tree(radix) => depth(n, radix) + u32::from(root != 0),
                };
                assert_eq!(cost.depth, steps, "reduce to {root}, {label}");
            }
            if count > 1 {
                continue;
            }
            for inclusive in [true, false] {
                let recvs = fresh();
                let cost = run(teams, |team, rank| {
                    let [send, recv] = [&sends, &recvs].map(|all| all[rank as usize].buf());
                    let reduced = Reduced::new(Some(send), recv, count, &pair);
                    if inclusive {
                        coll::scan(team, reduced, &compose)
                    } else {
                        coll::exscan(team, reduced, &compose)
                    }
                });
                let mut so_far: Option<[u64; 2]> = None;
                for (rank, recv) in (0..n).zip(&recvs) {
                    let before = so_far;
                    so_far = Some(before.map_or(map(rank, 0), |before| composed(before, map(rank, 0))));
                    if let Some(expected) = if inclusive { so_far } else { before } {
                        assert_eq!(recv.get(2), expected, "scan {inclusive} at {rank}, {label}");
                    }
                }
                // Rank 0 waits for nobody.
                let most = match choose::scan(n, matches!(cpus, Cpus::OneHost(_))) {
                    Scan::Chain => n - 1,
                    Scan::Doubling if inclusive => rounds(n, 2),
                    Scan::Doubling => u32::from(n > 1) + rounds((n - 1).max(1), 2),
                };
                assert!(cost.depth <= most, "scan {inclusive} in {} steps, {label}", cost.depth);
            }
        }
    });
}

#[test]
fn gathers_scatters_and_exchanges_of_every_size() {
    let word = Datatype::of::<u64>();
    sizes(|n, cpus, teams| {
        let label = format!("{n} ranks, {cpus:?}");
        let value = |from: u32, to: u32| (u64::from(from) << 32) | (u64::from(to) + 1);
        let everything: Vec<u64> = (0..n).map(|rank| value(rank, 0)).collect();
        let sends: Vec<Memory> = (0..n).map(|rank| Memory::new(&[value(rank, 0)])).collect();
        for root in [0, n - 1, n / 2] {
            let all = Memory::new(&vec![0; n as usize]);
            let operand = |rank| Operand::new(sends[rank as usize].buf(), 1, &word);
            let whole = |rank| (rank == root).then(|| Operand::new(all.buf(), 1, &word));
            let cost =
                run(teams, |team, rank| coll::gather(team, Some(operand(rank)), whole(rank), root as i32));
            assert!(all.get(n as usize) == everything, "gather to {root}, {label}");
            assert_eq!(cost.depth, depth(n, 64), "gather to {root}, {label}");
            let recvs: Vec<Memory> = (0..n).map(|_| Memory::new(&[0])).collect();
            let cost = run(teams, |team, rank| {
                let recv = Operand::new(recvs[rank as usize].buf(), 1, &word);
                coll::scatter(team, whole(rank), Some(recv), root as i32)
            });
            for (recv, expected) in recvs.iter().zip(&everything) {
                assert_eq!(recv.get(1), [*expected], "scatter from {root}, {label}");
            }
            assert_eq!(cost.depth, depth(n, 64), "scatter from {root}, {label}");
        }
        if n > 300 {
            return; // the messages grow with the square
        }
        for count in if is_long(n) { vec![1, 600] } else { vec![1] } {
            let recvs: Vec<Memory> =
                (0..n).map(|_| Memory::new(&vec![0; n as usize * count as usize])).collect();
            let words = |rank: u32| vec![value(rank, 0); count as usize];
            let sends: Vec<Memory> = (0..n).map(|rank| Memory::new(&words(rank))).collect();
            run(teams, |team, rank| {
                let [send, recv] =
                    [&sends, &recvs].map(|all| Operand::new(all[rank as usize].buf(), count, &word));
                coll::allgather(team, Some(send), recv)
            });
            let expected: Vec<u64> = (0..n).flat_map(words).collect();
            for recv in &recvs {
                assert!(recv.get(expected.len()) == expected, "allgather of {count}, {label}");
            }
        }
        let line = |from: u32| -> Vec<u64> { (0..n).map(|to| value(from, to)).collect() };
        let sends: Vec<Memory> = (0..n).map(|rank| Memory::new(&line(rank))).collect();
        let recvs: Vec<Memory> = (0..n).map(|_| Memory::new(&vec![0; n as usize])).collect();
        let cost = run(teams, |team, rank| {
            let [send, recv] = [&sends, &recvs].map(|all| Operand::new(all[rank as usize].buf(), 1, &word));
            coll::alltoall(team, Some(send), recv)
        });
        for (to, recv) in (0..n).zip(&recvs) {
            assert!(
                recv.get(n as usize) == (0..n).map(|from| value(from, to)).collect::<Vec<_>>(),
                "alltoall, {label}"
            );
        }
        // Where CPUs are shared, short blocks go through one member: 64 KiB of all together, or 256.
        let through_one = match cpus {
            Cpus::Own => false,
            Cpus::Shared => (3..=90).contains(&n),
            Cpus::OneHost(_) => (7..=181).contains(&n),
        };
        let depth = if through_one { 2 } else { (n - 1).div_ceil(32) };
        assert_eq!(cost, Cost { depth, sends: n - 1 }, "alltoall, {label}");
    });
}

/// Sums, which are combined as they arrive: nothing is lost, doubled or taken for something else, and nobody waits for what only comes
/// after something of its own.
#[test]
fn sums_that_are_combined_as_they_arrive() {
    let (word, sum) = (Datatype::of::<u64>(), Op::from(Predefined::Sum));
    sizes(|n, cpus, teams| {
        let counts = match n {
            71.. => vec![3],
            _ if is_long(n) => vec![200, u64::from(n.max(8)) * 260 + 5],
            _ => vec![130],
        };
        for count in counts {
            let label = format!("{n} ranks, {cpus:?}, {count} elements");
            let operand =
                |rank: u32| -> Vec<u64> { (0..count).map(|at| at << 32 | u64::from(rank + 1)).collect() };
            let total = u64::from(n) * u64::from(n + 1) / 2;
            let expected: Vec<u64> = (0..count).map(|at| (at * u64::from(n)) << 32 | total).collect();
            for in_place in [false, true] {
                let sends: Vec<Memory> = (0..n).map(|rank| Memory::new(&operand(rank))).collect();
                let send = |rank: u32| (!in_place).then(|| sends[rank as usize].buf());
                let recvs: Vec<Memory> = (0..n).map(|rank| Memory::new(&operand(rank))).collect();
                run(teams, |team, rank| {
                    let recv = recvs[rank as usize].buf();
                    coll::allreduce(team, Reduced::new(send(rank), recv, count, &word), &sum)
                });
                for recv in &recvs {
                    assert!(recv.get(count as usize) == expected, "allreduce, {label}");
                }
                let root = n / 2;
                let result = Memory::new(&operand(root));
                run(teams, |team, rank| {
                    let recv = if rank == root { result.buf() } else { UserBuf::none() };
                    let own = if rank == root { send(rank) } else { Some(sends[rank as usize].buf()) };
                    coll::reduce(team, Reduced::new(own, recv, count, &word), &sum, root as i32)
                });
                assert!(result.get(count as usize) == expected, "reduce, {label}");
                for (send, rank) in sends.iter().zip(0..) {
                    assert!(send.get(count as usize) == operand(rank), "operand of {rank}, {label}");
                }
            }
        }
    });
}

/// Long data that has several levels to go passes through in pieces: a piece is passed on before the next one comes.
#[test]
fn a_long_broadcast_is_forwarded_while_it_arrives() {
    let word = Datatype::of::<u64>();
    for (n, root) in [(65, 0), (70, 69), (200, 3)] {
        let teams = teams(ContextId::WORLD, n, Cpus::OneHost(2));
        let sent: Vec<u64> = (0..20_000).collect(); // five pieces of 32 KiB
        let bufs: Vec<Memory> = (0..n)
            .map(|rank| Memory::new(&if rank == root { sent.clone() } else { vec![0; sent.len()] }))
            .collect();
        let plan = |team: &Team, rank: u32| {
            coll::bcast(team, Operand::new(bufs[rank as usize].buf(), 20_000, &word), root as i32)
        };
        let inner = (root + 64) % n;
        let steps = plan(&teams[inner as usize], inner).expect("right arguments").0.steps;
        let first_send = steps.iter().position(|step| matches!(step, Step::Send { .. }));
        let receives =
            |steps: &[Step]| steps.iter().filter(|step| matches!(step, Step::Receive { .. })).count();
        if n > 65 {
            let first_send = first_send.expect("it has somebody to pass it on to");
            assert_eq!((receives(&steps[..first_send]), receives(&steps)), (1, 5), "{n} ranks");
        }
        // The plan above has taken a number.
        teams.iter().filter(|team| team.rank() != inner as i32).for_each(|team| team.skip(1));
        let cost = run(&teams, plan);
        assert_eq!(cost.depth, depth(n, 64));
        for buf in &bufs {
            assert!(buf.get(sent.len()) == sent, "{n} ranks from {root}");
        }
    }
}
