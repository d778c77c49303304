//! The user's side of a job: our standard streams, the signals sent to us, what went wrong first, and the last word.
//!
//! Its parts are `signals`, `streams` and `askers`. What must stay true: the first cause decides the exit code and is
//! the only one reported, but of jobs that others are not connected with each has its own; a slow reader of our output never keeps us from noticing anything. It does not know where the
//! ranks are.

mod askers;
mod signals;
mod streams;

pub use askers::ask;
pub(crate) use signals::WINDOW;

use super::ending::How;
use super::input::Source;
use super::output::{Sink, Stream};
use super::run::{Above, Token};
use super::talk::{Begun, Common, Fault, Look, Order, Report};
use super::verdict::{Cause, Ended, Stage};
use super::{Hooks, Outcome};
use crate::server::Names;
use askers::Askers;
use nix::sys::epoll::Epoll;
use nix::sys::signal::Signal;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How long after the first cause a better one, noticed on another host at the same time, may replace it.
const SAME_TIME: Duration = Duration::from_millis(200);
/// How long the hosts have to say what is to be seen of their ranks.
const LOOKING: Duration = Duration::from_secs(1);

/// The user's side of a running job.
pub(crate) struct Console<'a> {
    hooks: &'a mut dyn Hooks,
    name: &'a str,
    epoll: Rc<Epoll>,
    /// Who is lost does not end the others.
    goes_on: bool,
    /// Which ranks have ended, or are out of reach: those of spawned jobs behind those of the first.
    ended: Vec<bool>,
    /// For each job its first rank among them.
    jobs: Vec<usize>,
    /// Ranks that have not ended.
    running: usize,
    /// Ranks of jobs that are not over.
    present: usize,
    /// Ranks of these that have been started, by their numbers.
    begun: BTreeMap<u32, Begun>,
    names: Names,
    /// One when both our streams lead to the same place, else two.
    sinks: Vec<Sink>,
    /// Per sink: the ranks are not read; nobody takes it any more; room is being waited for.
    paused: [bool; 2],
    closed: [bool; 2],
    watched: [bool; 2],
    source: Option<Source>,
    /// When to try again to read a terminal that is not ours now.
    retry: Option<Instant>,
    cause: Option<Reported>,
    /// What ended no other rank: the first one, and all losses of a job that goes on.
    later: Vec<Fault>,
    /// What ended jobs that others were not connected with.
    alone: Vec<Alone>,
    /// The last signal of the user that was passed on.
    passed_on: Option<(Signal, Instant)>,
    /// When ranks that do not mind being asked to end are killed.
    grace: Option<Instant>,
    /// Our own stop was asked for; it comes when the ranks have been signalled.
    stopping: bool,
    deadline: Option<(Instant, Duration)>,
    looking: Option<Looking>,
    askers: Option<Askers>,
    /// Nothing is left on the other side.
    over: bool,
    said_last: bool,
    orders: VecDeque<Order>,
}

/// What has been seen of the ranks, while it is being asked for.
struct Looking {
    until: Instant,
    looks: Vec<Look>,
    /// It goes to standard error; otherwise only to those who have asked.
    aloud: bool,
    /// The job's time is up: it is ended when that has been seen.
    up: Option<Duration>,
}

/// The cause that will be reported.
#[derive(Debug)]
struct Reported {
    fault: Fault,
    /// How many other ranks had to be ended.
    others: usize,
    at: Instant,
}

/// What ended a group of connected jobs while others go on.
struct Alone {
    group: usize,
    fault: Fault,
    at: Instant,
    /// Nothing had failed before: it decides the exit code.
    is_first: bool,
    said: bool,
}

impl<'a> Console<'a> {
    /// The console of a job whose ranks are still to be started. `common` learns what the other side has to know of
    /// our streams; `name` begins what we say ourselves.
    pub(crate) fn new(
        hooks: &'a mut dyn Hooks,
        name: &'a str,
        timeout: Option<Duration>,
        common: &mut Common,
        epoll: Rc<Epoll>,
    ) -> io::Result<Self> {
        let sinks = streams::sinks()?;
        common.at_once = common.size == 1 && !hooks.wants_lines();
        common.prompt = [Stream::Out, Stream::Err].map(|stream| streams::of(&sinks, stream).is_terminal());
        Ok(Self {
            hooks,
            name,
            epoll,
            goes_on: common.goes_on,
            ended: vec![false; common.size],
            jobs: vec![0],
            running: common.size,
            present: common.size,
            begun: BTreeMap::new(),
            names: Names::default(),
            sinks,
            paused: [false; 2],
            closed: [false; 2],
            watched: [false; 2],
            source: None,
            retry: None,
            cause: None,
            later: Vec::new(),
            alone: Vec::new(),
            passed_on: None,
            grace: None,
            stopping: false,
            deadline: timeout.and_then(|limit| Some((Instant::now().checked_add(limit)?, limit))),
            looking: None,
            askers: None,
            over: false,
            said_last: false,
            orders: VecDeque::new(),
        })
    }

    /// Answers other commands that ask what the ranks are doing; they see the ranks of one host without our help.
    pub(crate) fn take_questions(&mut self) {
        // Without this the job runs as well.
        self.askers = Askers::new(self.epoll.clone()).ok();
    }

    /// How the job went, when the loop has ended.
    pub(crate) fn outcome(&self) -> Outcome {
        let alone = self.alone.iter().find(|alone| alone.is_first).map(|alone| &alone.fault);
        let cause = alone.or(self.cause.as_ref().map(|reported| &reported.fault)).or(self.later.first());
        Outcome { code: cause.map_or(0, |fault| fault.cause.code()) }
    }

    /// A rank has ended.
    fn note_end(&mut self, rank: u32) -> bool {
        let fresh = self.ended.get_mut(rank as usize).is_some_and(|ended| !std::mem::replace(ended, true));
        if fresh {
            self.running -= 1;
            if self.running == 0 {
                self.close_source();
            }
        }
        fresh
    }

    /// A new job has begun.
    fn joined(&mut self, map: &[(String, Vec<usize>)]) {
        let size = map.iter().map(|(_, ranks)| ranks.len()).sum::<usize>();
        self.jobs.push(self.ended.len());
        self.ended.resize(self.ended.len() + size, false);
        self.running += size;
        self.present += size;
        // Its ranks are the children of agents, also on this host.
        if self.askers.is_none() {
            self.take_questions();
        }
        self.hooks.joined(map);
    }

    /// A spawned job is over.
    fn left(&mut self, first: u32, count: u32) {
        for rank in first..first.saturating_add(count) {
            self.note_end(rank);
        }
        self.present = self.present.saturating_sub(count as usize);
        self.begun.retain(|rank, _| !(first..first.saturating_add(count)).contains(rank));
        self.show_begun(Vec::new());
    }

    /// More ranks have been started.
    fn show_begun(&mut self, more: Vec<Begun>) {
        self.begun.extend(more.into_iter().map(|begun| (begun.rank, begun)));
        if self.begun.len() == self.present {
            self.hooks.begun(&self.begun.values().cloned().collect::<Vec<_>>());
        }
    }

    /// The job is over because of this, unless it was over before.
    fn fail(&mut self, fault: Fault) {
        let now = Instant::now();
        let replaces =
            |reported: &Reported| replaces(&fault, &reported.fault, now.duration_since(reported.at));
        if self.cause.as_ref().is_some_and(|reported| !replaces(reported)) {
            return;
        }
        let alone = matches!(fault.cause, Cause::User { .. } | Cause::Timeout { .. });
        // An aborting rank and one that could not be started end by themselves.
        let itself = match fault.cause {
            Cause::Abort { rank, .. } | Cause::NotStarted { rank, .. } | Cause::Protocol { rank, .. } => {
                let first = self.jobs.get(fault.job as usize).copied().unwrap_or_default();
                usize::from(self.ended.get(first + rank).is_some_and(|ended| !ended))
            }
            _ => 0,
        };
        let others = if alone { 0 } else { self.running - itself };
        let user = self.passed_on.is_some_and(|(_, at)| now.duration_since(at) < WINDOW);
        self.orders.push_back(Order::End(if user { How::User } else { How::Failure }));
        self.hooks.failing(&sentence(&fault, others));
        self.cause = Some(Reported { fault, others, at: now });
    }

    /// A group of jobs is over because of this, and others go on.
    fn fail_alone(&mut self, group: usize, fault: Fault) {
        if self.cause.is_some() {
            return; // all are being ended
        }
        let at = Instant::now();
        let is_first = self.later.is_empty() && self.alone.is_empty();
        match self.alone.iter_mut().find(|alone| alone.group == group) {
            None => self.alone.push(Alone { group, fault, at, is_first, said: false }),
            Some(alone) if !alone.said && replaces(&fault, &alone.fault, at.duration_since(alone.at)) => {
                alone.fault = fault;
            }
            Some(_) => {}
        }
    }

    /// Says what ended groups of jobs, once nothing better can come; `all`: it cannot.
    fn say_alone(&mut self, all: bool) {
        let mut lines = Vec::new();
        for alone in
            self.alone.iter_mut().filter(|alone| !alone.said && (all || alone.at.elapsed() >= SAME_TIME))
        {
            alone.said = true;
            lines.push(sentence(&alone.fault, 0));
        }
        lines.iter().for_each(|line| self.say(&format!("{line}\n")));
    }

    /// As [`Console::fail`], for what we notice ourselves.
    fn fail_here(&mut self, cause: Cause) {
        self.fail(Fault { job: 0, host: posthaste_os::machine::host_name(), cause });
    }

    /// Queues lines of our own for standard error, our name in front of the first.
    fn say(&mut self, lines: &str) {
        let lines = format!("{}: {lines}", self.name);
        streams::of_mut(&mut self.sinks, Stream::Err)
            .push(None, |out| out.extend_from_slice(lines.as_bytes()));
    }

    /// Asks what is to be seen of the ranks.
    fn explain(&mut self, aloud: bool) {
        if let Some(looking) = &mut self.looking {
            looking.aloud |= aloud;
        } else if !self.over {
            self.looking =
                Some(Looking { until: Instant::now() + LOOKING, looks: Vec::new(), aloud, up: None });
            self.orders.push_back(Order::Look);
        }
    }

    fn take_looks(&mut self, more: Vec<Look>) {
        let Some(Looking { looks, .. }) = &mut self.looking else { return };
        looks.extend(more);
        if looks.len() >= self.present {
            self.say_looks();
        }
    }

    /// Queues what the ranks are doing, as far as it is known.
    fn say_looks(&mut self) {
        let Some(Looking { mut looks, aloud, up, .. }) = self.looking.take() else { return };
        looks.sort_unstable_by_key(|look| look.rank);
        let text = self.hooks.explain(&looks);
        if let Some(askers) = &mut self.askers {
            askers.answer(&text);
        }
        if aloud && !text.is_empty() {
            self.say(&format!("what the ranks are doing:\n{text}"));
        }
        if let Some(limit) = up.filter(|_| self.running > 0) {
            self.fail_here(Cause::Timeout { limit });
        }
    }

    /// What ended no other rank: named once, but each lost rank by itself.
    fn note_later(&mut self, fault: Fault) {
        if self.later.is_empty() || matches!(fault.cause, Cause::Death { stage: Stage::Inside, .. }) {
            self.later.push(fault);
        }
    }

    /// Queues the sentences about what went wrong.
    fn say_last(&mut self) {
        self.say_looks();
        self.say_alone(true);
        if let Some(errno) = self.sinks[0].failure() {
            // A full disk, say: the ranks only saw that nobody reads.
            self.cause = None;
            self.fail_here(Cause::Output { errno: errno as i32 });
            self.cause.iter_mut().for_each(|reported| reported.others = 0);
        }
        let broken_pipe = Ended::Signal(Signal::SIGPIPE as i32);
        let nobody_reads = self.sinks.iter().any(Sink::is_closed);
        let faults: Vec<(&Fault, usize)> = match &self.cause {
            Some(reported) => vec![(&reported.fault, reported.others)],
            None => self.later.iter().map(|fault| (fault, 0)).collect(),
        };
        let quiet = |fault: &Fault| matches!(fault.cause, Cause::Death { ended, .. } if nobody_reads && ended == broken_pipe);
        let line = |(fault, others): (&Fault, usize)| format!("{}\n", sentence(fault, others));
        let lines: Vec<String> = faults.into_iter().filter(|(fault, _)| !quiet(fault)).map(line).collect();
        lines.iter().for_each(|line| self.say(line));
    }
}

/// Whether a fault is to be told in place of one that was told so long before: what follows from the death of a rank may
/// arrive before the news of it.
fn replaces(fault: &Fault, reported: &Fault, since: Duration) -> bool {
    since < SAME_TIME && fault.cause.is_first_hand() && !reported.cause.is_first_hand()
}

/// What went wrong, and how many others had to be ended.
fn sentence(fault: &Fault, others: usize) -> String {
    let job = if fault.job > 0 { format!("job {}: ", fault.job) } else { String::new() };
    format!("{job}{}", fault.cause.sentence(&fault.host, others))
}

impl Above for Console<'_> {
    fn event(&mut self, token: Token) {
        match token {
            Token::Sink(index) => self.sinks[index].flush(),
            Token::Source => self.read_source(),
            Token::Asker if self.askers.as_mut().is_some_and(Askers::accept) => self.explain(false),
            _ => {}
        }
    }

    fn signal(&mut self, signal: Signal) {
        self.user_signal(signal);
    }

    fn report(&mut self, report: Report) {
        match report {
            Report::Output { rank, stream, continues, text } => {
                self.take_output(rank, stream, continues, &text)
            }
            Report::Say(lines) => self.say(&lines),
            Report::Begun(ranks) => self.show_begun(ranks),
            Report::Joined(map) => self.joined(&map),
            Report::Left { first, count } => self.left(first, count),
            Report::Ask { rank, line } => {
                let line = self.names.answer(&line);
                self.orders.push_back(Order::Answer { rank, line });
            }
            Report::Ended { rank, how, .. } => {
                if self.note_end(rank) {
                    self.hooks.ended(rank as usize, how);
                }
            }
            Report::Failed(fault) => self.fail(fault),
            Report::FailedLater(fault) => self.note_later(fault),
            Report::FailedAlone { group, fault } => self.fail_alone(group, fault),
            Report::Unseen(ranks) => ranks.into_iter().for_each(|rank| _ = self.note_end(rank)),
            Report::Down { ranks, fault } => {
                let had_begun = ranks.iter().all(|rank| self.begun.contains_key(rank));
                for rank in ranks {
                    self.note_end(rank);
                }
                if self.goes_on && had_begun {
                    self.later.push(fault);
                } else {
                    self.fail(fault);
                }
            }
            Report::InputTaken => self.watch_source(),
            Report::InputClosed => self.close_source(),
            Report::Looks(looks) => self.take_looks(looks),
            // What a family does about these itself.
            Report::Fence(_) | Report::Ready | Report::Met | Report::Parted | Report::Spawn { .. } => {}
            Report::Over(counters) => {
                self.over = true;
                self.hooks.finished(&counters);
            }
        }
    }

    fn order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    fn on_time(&mut self, now: Instant) {
        if let Some((at, limit)) = self.deadline
            && at <= now
        {
            self.deadline = None;
            if self.running > 0 {
                self.explain(true);
                match &mut self.looking {
                    Some(looking) => looking.up = Some(limit),
                    None => self.fail_here(Cause::Timeout { limit }),
                }
            }
        }
        if self.grace.is_some_and(|at| at <= now) {
            self.grace = None;
            self.fail_here(Cause::User { signal: Signal::SIGTERM as i32 });
            self.orders.push_back(Order::End(How::Kill));
        }
        if self.looking.as_ref().is_some_and(|looking| looking.until <= now) {
            self.say_looks();
        }
        if self.retry.is_some_and(|at| at <= now) {
            self.watch_source();
        }
        self.say_alone(false);
    }

    fn due(&self) -> Option<Instant> {
        let deadline = self.deadline.map(|deadline| deadline.0);
        let looking = self.looking.as_ref().map(|looking| looking.until);
        let alone = self.alone.iter().find(|alone| !alone.said).map(|alone| alone.at + SAME_TIME);
        [deadline, looking, alone, self.retry, self.grace].into_iter().flatten().min()
    }

    fn settle(&mut self) {
        if self.over && !self.said_last {
            // What cannot be written is among what is said.
            self.move_output();
            self.said_last = true;
            self.say_last();
        }
        self.move_output();
        self.askers.iter_mut().for_each(Askers::flush);
        if std::mem::take(&mut self.stopping) {
            signals::stop();
        }
    }

    fn is_over(&self) -> bool {
        self.over && !self.sinks.iter().any(Sink::is_waiting)
    }
}
