//! Many agents look like one: the state of those below us, without I/O.
//!
//! Reports of the agents go in and reports for above come out; orders are routed. What must stay true: the fence is
//! reported once all have come to it; the end is reported once, when every agent has reported its own or is lost; the
//! ranks of a lost agent are reported lost; a piece of input is reported taken once, when all have taken it. Nothing
//! depends on the order in which agents speak.

use super::{BEAT, SILENCE};
use crate::spawn::Input;
use crate::spawn::talk::{Fault, Order, Report, Seats};
use crate::spawn::verdict::Cause;
use crate::spawning::Pair;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long an agent may take to greet us. ssh gives up earlier by itself.
const START: Duration = Duration::from_secs(150);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Starting,
    Up,
    /// Its end is reported, or it is lost.
    Done,
}

#[derive(Debug)]
struct Member {
    host: String,
    ranks: Vec<u32>,
    state: State,
    heard: Instant,
    fence: Option<Vec<Pair>>,
    ready: bool,
    input: Feeding,
}

/// How an agent takes input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeding {
    /// It has taken all that was sent.
    Ready,
    /// It has been sent a piece.
    Owes,
    /// It takes none, or no more.
    Closed,
}

/// The agents below us.
#[derive(Debug)]
pub(super) struct Relay {
    members: Vec<Member>,
    counters: Vec<u64>,
    reports: VecDeque<Report>,
    /// The end was reported.
    over: bool,
    /// When we last looked at the time: after a long while it was us who could not hear.
    looked: Instant,
}

impl Relay {
    /// Agents that have just been started, each with the hosts that it stands for.
    /// `input`: the ranks that get it.
    pub(super) fn new<'a>(groups: impl Iterator<Item = &'a [Seats]>, input: &Input, now: Instant) -> Self {
        let members = groups.map(|group| {
            let mut ranks: Vec<u32> =
                group.iter().flat_map(|seats| seats.ranks.iter().map(|seat| seat.0)).collect();
            ranks.sort_unstable();
            let host = group.first().map_or(String::new(), |seats| seats.host.clone());
            let takes = ranks.iter().any(|&rank| input.is_for(rank));
            let input = if takes { Feeding::Ready } else { Feeding::Closed };
            Member { host, ranks, state: State::Starting, heard: now, fence: None, ready: false, input }
        });
        Self {
            members: members.collect(),
            counters: Vec::new(),
            reports: VecDeque::new(),
            over: false,
            looked: now,
        }
    }

    /// The host of an agent.
    pub(super) fn host(&self, agent: usize) -> &str {
        &self.members[agent].host
    }

    /// Whether an agent's end has been reported, or it is lost.
    pub(super) fn is_done(&self, agent: usize) -> bool {
        self.members[agent].state == State::Done
    }

    /// Whether an agent has greeted us and is not done.
    pub(super) fn is_up(&self, agent: usize) -> bool {
        self.members[agent].state == State::Up
    }

    /// An agent has sent something.
    pub(super) fn heard(&mut self, agent: usize, now: Instant) {
        let member = &mut self.members[agent];
        member.heard = now;
        if member.state == State::Starting {
            member.state = State::Up;
        }
    }

    /// An agent reports something.
    pub(super) fn report(&mut self, agent: usize, report: Report) {
        let member = &mut self.members[agent];
        match report {
            _ if member.state == State::Done => {}
            Report::Fence(pairs) => {
                member.fence = Some(pairs);
                if self.members.iter().all(|member| member.fence.is_some()) {
                    let pairs = self.members.iter_mut().filter_map(|member| member.fence.take()).flatten();
                    self.reports.push_back(Report::Fence(pairs.collect()));
                }
            }
            Report::Ready => {
                member.ready = true;
                if self.members.iter().all(|member| member.ready) {
                    self.reports.push_back(Report::Ready);
                }
            }
            Report::Over(counters) => {
                member.state = State::Done;
                self.counters.resize(self.counters.len().max(counters.len()), 0);
                for (sum, more) in self.counters.iter_mut().zip(counters) {
                    *sum = sum.wrapping_add(more);
                }
                self.check_end();
            }
            Report::InputTaken => self.fed(agent, Feeding::Ready),
            Report::InputClosed => self.fed(agent, Feeding::Closed),
            other => self.reports.push_back(other),
        }
    }

    /// An agent is lost.
    pub(super) fn lost(&mut self, agent: usize, why: String) {
        let member = &mut self.members[agent];
        if member.state == State::Done {
            return;
        }
        member.state = State::Done;
        let fault = Fault { job: 0, host: member.host.clone(), cause: Cause::Lost { why } };
        self.reports.push_back(Report::Down { ranks: member.ranks.clone(), fault });
        self.fed(agent, Feeding::Closed);
        self.check_end();
    }

    /// An agent has taken a piece of input, or takes none any more.
    fn fed(&mut self, agent: usize, now: Feeding) {
        let before = std::mem::replace(&mut self.members[agent].input, now);
        if before == Feeding::Closed {
            self.members[agent].input = Feeding::Closed;
        } else if self.members.iter().all(|member| member.input == Feeding::Closed) {
            self.reports.push_back(Report::InputClosed);
        } else if before == Feeding::Owes && self.members.iter().all(|member| member.input != Feeding::Owes) {
            self.reports.push_back(Report::InputTaken);
        }
    }

    /// An order is about to go to this agent.
    pub(super) fn sends(&mut self, order: &Order, agent: usize) {
        if matches!(order, Order::Input(_)) {
            self.members[agent].input = Feeding::Owes;
        }
    }

    fn check_end(&mut self) {
        if !self.over && self.members.iter().all(|member| member.state == State::Done) {
            self.over = true;
            self.reports.push_back(Report::Over(std::mem::take(&mut self.counters)));
        }
    }

    /// The next report for above.
    pub(super) fn next(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }

    /// Something to say to above from ourselves.
    pub(super) fn say(&mut self, line: String) {
        self.reports.push_back(Report::Say(line));
    }

    /// Whether an order is for this agent.
    pub(super) fn is_for(&self, order: &Order, agent: usize) -> bool {
        let member = &self.members[agent];
        match order {
            Order::Answer { rank, .. } => member.ranks.binary_search(rank).is_ok(),
            Order::Input(_) => member.input != Feeding::Closed,
            _ => true,
        }
    }

    /// Loses agents that have been silent for too long, and names them.
    pub(super) fn lose_silent(&mut self, now: Instant) -> Vec<usize> {
        let stopped = now.duration_since(self.looked) > 3 * BEAT;
        self.looked = now;
        if stopped {
            self.members.iter_mut().for_each(|member| member.heard = now);
        }
        let silent = |member: &Member| match member.state {
            State::Starting => now.duration_since(member.heard) > START,
            State::Up => now.duration_since(member.heard) > SILENCE,
            State::Done => false,
        };
        let lost: Vec<usize> =
            (0..self.members.len()).filter(|&agent| silent(&self.members[agent])).collect();
        for &agent in &lost {
            let Member { host, state, .. } = &self.members[agent];
            let why = match state {
                State::Starting => format!("the agent on {host} did not start within {} s", START.as_secs()),
                _ => format!("{host} has not answered for {} s", SILENCE.as_secs_f64()),
            };
            self.lost(agent, why);
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relay(now: Instant) -> Relay {
        with_input(&Input::default(), now)
    }

    fn with_input(input: &Input, now: Instant) -> Relay {
        let seats = |host: &str, ranks: &[u32]| Seats {
            host: host.into(),
            ranks: ranks.iter().map(|&r| (r, 0)).collect(),
        };
        let groups = [vec![seats("a", &[0, 2])], vec![seats("b", &[1]), seats("c", &[3])]];
        let mut relay = Relay::new(groups.iter().map(Vec::as_slice), input, now);
        relay.heard(0, now);
        relay.heard(1, now);
        relay
    }

    fn all(relay: &mut Relay) -> Vec<Report> {
        std::iter::from_fn(|| relay.next()).collect()
    }

    #[test]
    fn the_fence_is_reported_when_all_have_come_and_again() {
        let mut relay = relay(Instant::now());
        let pair = |key: &str| (key.to_string(), "v".to_string());
        for _ in 0..2 {
            relay.report(1, Report::Fence(vec![pair("b")]));
            assert_eq!(all(&mut relay), []);
            relay.report(0, Report::Fence(vec![pair("a")]));
            assert_eq!(all(&mut relay), [Report::Fence(vec![pair("a"), pair("b")])]);
        }
    }

    #[test]
    fn the_end_is_reported_once_with_the_sums() {
        let mut relay = relay(Instant::now());
        relay.report(0, Report::Over(vec![1]));
        relay.report(0, Report::Over(vec![1]));
        assert_eq!(all(&mut relay), []);
        relay.report(1, Report::Over(vec![2, 5]));
        assert_eq!(all(&mut relay), [Report::Over(vec![3, 5])]);
        relay.lost(1, "late".into());
        assert_eq!(all(&mut relay), []);
    }

    #[test]
    fn who_is_silent_is_lost_with_its_ranks() {
        let now = Instant::now();
        let mut relay = relay(now);
        for second in 1..=4 {
            let now = now + Duration::from_secs(second);
            relay.heard(0, now);
            assert_eq!(relay.lose_silent(now), if second == 4 { vec![1] } else { vec![] });
        }
        let [Report::Down { ranks, fault }] = &all(&mut relay)[..] else { panic!() };
        assert_eq!((&ranks[..], fault.host.as_str()), (&[1, 3][..], "b"));
        relay.report(1, Report::Say("a word too late".into()));
        relay.report(0, Report::Over(vec![]));
        assert_eq!(all(&mut relay), [Report::Over(vec![])]);
    }

    #[test]
    fn input_goes_on_when_all_have_taken_it() {
        let now = Instant::now();
        let mut relay = with_input(&Input::All, now);
        let piece = Order::Input(vec![1]);
        for _ in 0..2 {
            (0..2).for_each(|agent| relay.sends(&piece, agent));
            relay.report(1, Report::InputTaken);
            assert_eq!(all(&mut relay), []);
            relay.report(0, Report::InputTaken);
            assert_eq!(all(&mut relay), [Report::InputTaken]);
        }
        // One that stops taking it between two pieces holds nobody up, and one that is lost neither.
        relay.report(0, Report::InputClosed);
        assert_eq!(all(&mut relay), []);
        assert!(!relay.is_for(&piece, 0) && relay.is_for(&piece, 1));
        relay.sends(&piece, 1);
        relay.lost(1, "gone".into());
        assert!(all(&mut relay).contains(&Report::InputClosed));
        assert!(!with_input(&Input::Ranks(vec![]), now).is_for(&piece, 0));
    }

    #[test]
    fn whoever_was_stopped_himself_blames_nobody() {
        let now = Instant::now();
        let mut relay = relay(now);
        assert_eq!(relay.lose_silent(now + Duration::from_secs(60)), []);
    }

    #[test]
    fn orders_find_their_way() {
        let relay = relay(Instant::now());
        let who = |order: Order| (relay.is_for(&order, 0), relay.is_for(&order, 1));
        assert_eq!(who(Order::Finish), (true, true));
        assert_eq!(who(Order::Input(vec![1])), (true, false));
        assert_eq!(who(Order::Answer { rank: 3, line: String::new() }), (false, true));
    }
}
