//! The agents below us: their processes, and what goes to them and comes from them.
//!
//! The side of the ranks for mpiexec in a job on several hosts, and for an agent that stands for a group of hosts.
//! `relay` decides everything. What must stay true: an agent that does not read what we send costs bounded memory and
//! blocks nobody; no agent is signalled after its end was waited for.

use super::frame::{Bad, Down, Frames, Plan, Up, emit};
use super::launcher::Launcher;
use super::relay::Relay;
use super::shared::{Borrowed, Shared};
use super::{BEAT, FAN_OUT, PATIENCE, SILENCE};
use crate::spawn::Refused;
use crate::spawn::ending::Ending;
use crate::spawn::output::Sink;
use crate::spawn::run::{Below, Token};
use crate::spawn::talk::{Order, Report, Seats};
use crate::spawn::verdict::{Death, Ended};
use nix::libc::{SIGCONT, SIGTSTP};
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use posthaste_os::process::Guardian;
use posthaste_os::pulse::Pulse;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Stdio};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long after an agent's end or that of its output the other and its last words are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How long agents have to end when we do.
const FAREWELL: Duration = Duration::from_millis(2500);
/// What is kept of an agent's standard error: before it greets us, or of an incomplete line.
const MOST_WORDS: usize = 4096;

#[derive(Debug)]
struct Agent {
    process: Child,
    /// What started it: ssh, say.
    means: String,
    status: Option<Ended>,
    from: Option<ChildStdout>,
    words: Option<ChildStderr>,
    /// Gone when it is given up: the end of its input says so.
    to: Option<Shared>,
    /// Room is being waited for.
    watched: bool,
    frames: Frames,
    /// What it is to do, until it has greeted us; then what was ordered before.
    plan: Option<Box<Plan>>,
    early: Vec<Order>,
    /// What it said on standard error: before the greeting all of it, then an incomplete line.
    said: Vec<u8>,
    /// It or its output has ended: when we stop waiting for the rest.
    ending: Option<Instant>,
}

/// Says to agents that we are there.
#[derive(Debug, Default)]
struct Beats {
    /// Those that have their plan.
    to: Vec<Borrowed>,
    /// We are about to be stopped, and the agents have been told so.
    stopping: bool,
}

impl Beats {
    /// A beat behind the order to stop would say that we go on.
    fn heed(&mut self, order: &Order) {
        if let Order::Signal(signal @ (SIGTSTP | SIGCONT)) = *order {
            self.stopping = signal == SIGTSTP;
        }
    }

    fn beat(&mut self) {
        if !self.stopping {
            self.to.retain(|to| to.beat(&Down::Beat));
        }
    }
}

fn lock(beats: &Mutex<Beats>) -> MutexGuard<'_, Beats> {
    beats.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The agents below us.
pub(crate) struct Tree {
    relay: Relay,
    agents: Vec<Agent>,
    /// The number of the first one among all agents of this process.
    first: usize,
    epoll: Rc<Epoll>,
    /// When to look who is silent.
    look: Instant,
    scratch: Vec<u8>,
    /// When agents have to have ended that were told to.
    farewell: Option<Instant>,
    beats: Arc<Mutex<Beats>>,
    _pulse: Pulse,
    /// Of an agent: kills it when it has been stopped.
    guardian: Option<Guardian>,
}

impl Tree {
    /// Starts the agents of a plan, numbered from `first` on. `own_first`: we are an agent ourselves and the first host is ours.
    pub(crate) fn start(
        plan: Plan,
        own_first: bool,
        first: usize,
        epoll: Rc<Epoll>,
    ) -> Result<Self, Refused> {
        let refused = |why: io::Error| Refused::new(1, format!("cannot start agents: {why}"));
        let guardian = own_first.then(|| Guardian::new(Some(PATIENCE))).transpose().map_err(refused)?;
        let groups = groups(&plan.seats, own_first);
        let now = Instant::now();
        let beats = Arc::new(Mutex::new(Beats::default()));
        let its = beats.clone();
        let mut tree = Self {
            relay: Relay::new(groups.iter().copied(), &plan.common.input, now),
            agents: Vec::with_capacity(groups.len()),
            first,
            epoll,
            look: now + BEAT,
            farewell: None,
            scratch: vec![0; 64 << 10],
            _pulse: Pulse::start(BEAT, move || lock(&its).beat()).map_err(refused)?,
            beats,
            guardian,
        };
        for (index, group) in groups.iter().enumerate() {
            let host = &group[0].host;
            let mut launcher = plan.launcher.clone();
            // What our own host is called means nothing to an agent elsewhere.
            let theirs = Launcher { own: Vec::new(), ..launcher.clone() };
            let plan = Plan { common: plan.common.clone(), seats: group.to_vec(), launcher: theirs };
            if own_first && index == 0 {
                launcher.own.push(host.clone());
            }
            let mut command = launcher.command(host);
            // Keys of the terminal are for us alone.
            command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let means = launcher.name(host);
            let mut process = command.spawn().map_err(|why| {
                Refused::new(1, format!("cannot execute {means} to start an agent on {host}: {why}"))
            })?;
            let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
            let (Some(to), Some(from), Some(words)) = pipes else {
                return Err(Refused::new(1, "an agent has no standard streams"));
            };
            let to = Shared::new(Sink::new(&to.as_fd()).map_err(refused)?);
            let watch = |fd: &dyn AsFd, token: Token| {
                tree.epoll.add(fd.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN, token.emit()))
            };
            watch(&from, Token::Child(first + index)).map_err(|why| refused(why.into()))?;
            watch(&words, Token::ChildError(first + index)).map_err(|why| refused(why.into()))?;
            tree.agents.push(Agent {
                process,
                means,
                status: None,
                from: Some(from),
                words: Some(words),
                to: Some(to),
                watched: false,
                frames: Frames::default(),
                plan: Some(Box::new(plan)),
                early: Vec::new(),
                said: Vec::new(),
                ending: None,
            });
        }
        Ok(tree)
    }

    /// Where the numbers of the agents end.
    pub(crate) fn end(&self) -> usize {
        self.first + self.agents.len()
    }

    /// Whether all agents have ended and were waited for.
    pub(crate) fn is_gone(&self) -> bool {
        self.agents.iter().all(|agent| agent.status.is_some())
    }

    fn send(&mut self, agent: usize, message: &Down) {
        if let Some(to) = &self.agents[agent].to {
            to.lock().push(None, |out| emit(message, out));
            self.flush(agent);
        }
    }

    fn flush(&mut self, agent: usize) {
        let number = self.first + agent;
        let Agent { to: Some(to), watched, .. } = &mut self.agents[agent] else { return };
        // A reader that has gone shows itself at the other stream.
        let mut to = to.lock();
        to.flush();
        let waits = to.is_waiting();
        if waits != *watched {
            let event = EpollEvent::new(EpollFlags::EPOLLOUT, Token::ChildRoom(number).emit());
            let changed = if waits { self.epoll.add(&*to, event) } else { self.epoll.delete(&*to) };
            *watched = waits && changed.is_ok();
        }
    }

    fn read(&mut self, agent: usize) {
        let state = &mut self.agents[agent];
        let Some(from) = &mut state.from else { return };
        match from.read(&mut self.scratch) {
            Ok(count @ 1..) => {
                state.frames.push(&self.scratch[..count]);
                if let Err(bad) = self.take_frames(agent) {
                    let why = format!("the agent on {} cannot be used: {bad}", self.relay.host(agent));
                    self.lose(agent, why);
                }
            }
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => {
                let _ = self.epoll.delete(&*from);
                state.from = None;
                state.ending = Some(Instant::now() + LAST_WORDS);
                self.check_end(agent);
            }
        }
    }

    fn take_frames(&mut self, agent: usize) -> Result<(), Bad> {
        let now = Instant::now();
        if self.agents[agent].plan.is_some() {
            if !self.agents[agent].frames.greeted()? {
                return Ok(());
            }
            self.relay.heard(agent, now);
            self.agents[agent].said.clear();
            if let Some(plan) = self.agents[agent].plan.take() {
                self.send(agent, &Down::Start(plan));
                lock(&self.beats).to.extend(self.agents[agent].to.as_ref().map(Shared::lend));
            }
            for order in std::mem::take(&mut self.agents[agent].early) {
                self.send(agent, &Down::Order(order));
            }
        }
        while let Some(message) = self.agents[agent].frames.next()? {
            self.relay.heard(agent, now);
            if let Up::Report(report) = message {
                self.relay.report(agent, report);
            }
        }
        Ok(())
    }

    fn read_words(&mut self, agent: usize) {
        let state = &mut self.agents[agent];
        let Some(words) = &mut state.words else { return };
        match words.read(&mut self.scratch) {
            Ok(count @ 1..) => {
                state.said.extend_from_slice(&self.scratch[..count]);
                if self.relay.is_up(agent) {
                    while let Some(end) = state.said.iter().position(|&byte| byte == b'\n') {
                        let line: Vec<u8> = state.said.drain(..=end).collect();
                        let line = String::from_utf8_lossy(&line).into_owned();
                        self.relay.say(format!("{}: {line}", self.relay.host(agent)));
                    }
                }
                let more = state.said.len().saturating_sub(MOST_WORDS);
                state.said.drain(..more);
            }
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => {
                let _ = self.epoll.delete(&*words);
                state.words = None;
                self.check_end(agent);
            }
        }
    }

    /// An agent whose streams have ended without the report of its end is lost.
    fn check_end(&mut self, agent: usize) {
        let Agent { status, from, words, ending, .. } = &self.agents[agent];
        let all_known = status.is_some() && from.is_none() && words.is_none();
        if self.relay.is_done(agent) || ending.is_none_or(|until| !all_known && Instant::now() < until) {
            return;
        }
        let why = self.why_lost(agent);
        self.lose(agent, why);
    }

    fn why_lost(&self, agent: usize) -> String {
        let Agent { means, status, said, .. } = &self.agents[agent];
        let host = self.relay.host(agent);
        let end = match status {
            Some(Ended::Code(code)) => format!("{means} exited with code {code}"),
            Some(Ended::Signal(signal)) => format!("{means} was killed by signal {signal}"),
            None => format!("{means} closed its output"),
        };
        let said = String::from_utf8_lossy(said);
        let words: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let words = if words.is_empty() { String::new() } else { format!(": {}", words.join("; ")) };
        if self.relay.is_up(agent) {
            format!("the connection to {host} was lost ({end}{words})")
        } else {
            format!("no agent could be started on {host} ({end}{words})")
        }
    }

    /// Gives an agent up.
    fn lose(&mut self, agent: usize, why: String) {
        self.relay.lost(agent, why);
        self.give_up(agent);
    }

    fn give_up(&mut self, agent: usize) {
        let state = &mut self.agents[agent];
        if let Some(to) = state.to.take().filter(|_| state.watched) {
            let _ = self.epoll.delete(&*to.lock());
        }
        if let Some(from) = state.from.take() {
            let _ = self.epoll.delete(&from);
        }
        if state.status.is_none() {
            // An ssh or srun that is killed takes its connection along, which ends the agent at its other end.
            let _ = state.process.kill();
        }
    }
}

impl Below for Tree {
    fn event(&mut self, token: Token) {
        match token {
            Token::Child(agent) => self.read(agent - self.first),
            Token::ChildRoom(agent) => self.flush(agent - self.first),
            Token::ChildError(agent) => self.read_words(agent - self.first),
            _ => {}
        }
    }

    fn children(&mut self, dead: &[Death]) {
        if let Some(guardian) = &mut self.guardian
            && dead.iter().any(|death| death.pid == guardian.group())
        {
            guardian.set_reaped();
        }
        for agent in 0..self.agents.len() {
            let pid = self.agents[agent].process.id().cast_signed();
            if self.agents[agent].status.is_none()
                && let Some(death) = dead.iter().find(|death| death.pid == pid)
            {
                let state = &mut self.agents[agent];
                state.status = Some(death.how);
                // Its output may be open still: somebody else has it, too.
                state.ending.get_or_insert(Instant::now() + LAST_WORDS);
                self.check_end(agent);
            }
        }
    }

    fn order(&mut self, order: Order) {
        // An agent is not stopped with mpiexec.
        if self.guardian.is_none() {
            lock(&self.beats).heed(&order);
        }
        if let Order::End(how) = order {
            // Longer than they take by themselves.
            let until = Ending::new(how, Instant::now()).gives_up().map(|until| until + SILENCE);
            self.farewell = [self.farewell, until].into_iter().flatten().min();
        }
        for agent in 0..self.agents.len() {
            if self.relay.is_done(agent) || !self.relay.is_for(&order, agent) {
                continue;
            }
            self.relay.sends(&order, agent);
            if self.agents[agent].plan.is_some() {
                self.agents[agent].early.push(order.clone());
            } else {
                self.send(agent, &Down::Order(order.clone()));
            }
        }
    }

    fn report(&mut self) -> Option<Report> {
        self.relay.next()
    }

    fn on_time(&mut self, now: Instant) {
        if now >= self.look {
            self.look = now + BEAT;
            for agent in self.relay.lose_silent(now) {
                self.give_up(agent);
            }
        }
        if self.farewell.is_some_and(|until| now >= until) {
            self.farewell = None;
            for agent in
                (0..self.agents.len()).filter(|&agent| !self.relay.is_done(agent)).collect::<Vec<_>>()
            {
                let why = format!("{} was told to end its ranks and does not answer", self.relay.host(agent));
                self.lose(agent, why);
            }
        }
        for agent in 0..self.agents.len() {
            self.check_end(agent);
        }
    }

    fn due(&self) -> Option<Instant> {
        let waiting = (0..self.agents.len()).filter(|&agent| !self.relay.is_done(agent));
        waiting.filter_map(|agent| self.agents[agent].ending).chain([self.look]).chain(self.farewell).min()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // End of file ends the agents.
        let processes: Vec<Child> =
            self.agents.drain(..).filter(|agent| agent.status.is_none()).map(|agent| agent.process).collect();
        let until = Instant::now() + FAREWELL;
        for mut process in processes {
            while matches!(process.try_wait(), Ok(None)) {
                if Instant::now() > until {
                    let _ = process.kill();
                    let _ = process.wait();
                } else {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }
}

/// Parts the hosts among agents: each its own while there are few, else groups. With `own_first` the first host is the
/// group of one that is on this host.
fn groups(seats: &[Seats], own_first: bool) -> Vec<&[Seats]> {
    let (own, rest) = seats.split_at(usize::from(own_first).min(seats.len()));
    let places = FAN_OUT - own.len();
    let each = rest.len().div_ceil(places).max(1);
    own.chunks(1).chain(rest.chunks(each)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_hosts_have_an_agent_each_and_many_are_grouped() {
        let seats = vec![Seats::default(); 1000];
        let sizes = |count: usize, own: bool| {
            groups(&seats[..count], own).iter().map(|g| g.len()).collect::<Vec<_>>()
        };
        assert_eq!(sizes(3, false), [1, 1, 1]);
        assert_eq!(sizes(FAN_OUT, false), [1; FAN_OUT]);
        assert_eq!(sizes(FAN_OUT + 1, false), [vec![2; FAN_OUT / 2], vec![1]].concat());
        assert_eq!(sizes(3, true), [1, 1, 1]);
        let large = sizes(1000, true);
        assert_eq!((large[0], large[1], large.iter().sum::<usize>()), (1, 33, 1000));
        assert!(large.len() <= FAN_OUT);
        assert_eq!(sizes(1, true), [1]);
    }

    /// How many agents stand one behind the other until the last host is reached.
    fn depth(seats: &[Seats], own_first: bool) -> u32 {
        let deepest = |group: &&[Seats]| if group.len() == 1 { 1 } else { 1 + depth(group, true) };
        // All groups but the first are as long as each other, or the last one is shorter.
        groups(seats, own_first).iter().take(2).map(deepest).max().unwrap_or(0)
    }

    #[test]
    fn a_million_hosts_are_reached_in_as_many_steps_as_their_logarithm() {
        let seats = vec![Seats::default(); 1_000_000];
        for (count, expected) in [(1, 1), (32, 1), (33, 2), (1000, 3), (1_000_000, 5)] {
            assert!(
                depth(&seats[..count], false) <= expected,
                "{count} hosts: {}",
                depth(&seats[..count], false)
            );
        }
    }

    /// Messages one behind the other until the last host has one, where each agent sends one after the other.
    fn rounds(seats: &[Seats], own_first: bool) -> usize {
        let groups = groups(seats, own_first);
        let last = |(place, group): (usize, &&[Seats])| {
            let further = if group.len() == 1 { 0 } else { rounds(group, true) };
            // Nothing is sent to the host that is our own.
            place + usize::from(!own_first) + further
        };
        // Of groups of one length the last has it latest; the very last may be shorter.
        groups.iter().enumerate().rev().take(2).map(last).max().unwrap_or(0)
    }

    /// MPI_Init passes a few fences; each of them is a message from each host up the tree, and one down to each.
    #[test]
    fn a_fence_of_a_million_ranks_takes_a_multiple_of_the_logarithm_of_rounds() {
        let seats = vec![Seats::default(); 1_000_000];
        for (hosts, each) in [(1_000_000, 1), (15_625, 64)] {
            let log = 1_000_000_usize.ilog2() as usize + 1;
            // The ranks of a host come to their agent one after the other, and hear from it so.
            let rounds = 2 * (rounds(&seats[..hosts], false) + each);
            println!("{hosts} hosts with {each} ranks: {rounds} rounds for each fence");
            assert!(rounds <= 2 * FAN_OUT * log / 5 + 2 * each, "{hosts} hosts: {rounds} rounds");
        }
    }
}
