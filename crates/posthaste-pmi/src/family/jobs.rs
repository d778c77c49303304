//! Many jobs look like one: the jobs of a family, routed.
//!
//! Ranks are numbered through all jobs in the order in which those began, and so are agents; each job below numbers its
//! own from 0. What concerns one job only (its fence, a rank that will not come to it, its end) is settled here. What must
//! stay true: whoever asks for a job gets one answer, once all its ranks have introduced themselves or one of them cannot;
//! a job that could not be born is nobody's failure but that of the call that asked for it, and leaves nothing; a job that is
//! over is forgotten, so that ten thousand jobs one after the other cost what one does.

use super::Place;
use super::plan::{Planned, plan};
use crate::hosts::Tree;
use crate::line::Emit;
use crate::spawn::console::WINDOW;
use crate::spawn::ending::How;
use crate::spawn::output::Stream;
use crate::spawn::run::{Below, Token};
use crate::spawn::talk::{Common, Fault, Gone, Order, Report};
use crate::spawn::verdict::{Cause, Death, Stage};
use crate::spawning::{self, Spawning};
use nix::libc::{SIGCONT, SIGTSTP, SIGUSR1};
use nix::sys::epoll::Epoll;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What runs a job.
enum Side {
    /// The first one, by whatever.
    First(Box<dyn Below>),
    Agents(Box<Tree>),
}

impl Side {
    fn below(&mut self) -> &mut dyn Below {
        match self {
            Self::First(below) => below.as_mut(),
            Self::Agents(tree) => tree.as_mut(),
        }
    }
}

/// How far a job has come.
#[derive(Debug)]
enum State {
    /// Its asker, a rank of the family, waits for it, and gets these error codes.
    Unborn {
        asker: u32,
        codes: Vec<i32>,
    },
    /// The asker has been told that the job runs, as the so manyth one from 1 on, and waits for it.
    Expected {
        asker: u32,
        number: u32,
    },
    Running,
    /// It could not be born and is being ended.
    Stillborn,
    Over,
}

/// How long a job that has parted from others may take to end, where others wait for its room.
const LEAVING: Duration = Duration::from_secs(5);

/// What ends with a job that fails.
enum Fate {
    /// All jobs of the family.
    Family,
    /// Those that are connected with it, of this group; others go on.
    Connected(usize),
}

struct Entry {
    /// Its number in the family.
    number: usize,
    side: Side,
    state: State,
    /// Those who asked for it wait at a port.
    has_parents: bool,
    /// The number of their job.
    asker: Option<usize>,
    /// The jobs with the same number here are connected, and end together (MPI-5.0 §11.10.4).
    group: usize,
    /// It failed, and is being ended while others go on.
    failed: bool,
    /// Its first rank, and its agents, in the family.
    first: u32,
    agents: Range<usize>,
    /// The hosts that have ranks, each with its own.
    map: Vec<(String, Vec<usize>)>,
    /// Which of its ranks have ended, and how many have not.
    ended: Vec<bool>,
    running: usize,
}

/// The jobs of a family.
pub(super) struct Jobs<'a> {
    /// The first one, and those that are not over, in their order. Within, jobs are numbered by their places here.
    entries: Vec<Entry>,
    /// The numbers of the next job, of its first rank and of its first agent.
    next: (usize, u32, usize),
    /// What the first job was told.
    common: Common,
    limit: Option<usize>,
    place: &'a Place<'a>,
    epoll: Rc<Epoll>,
    queued: VecDeque<Report>,
    /// By their numbers, jobs that fail and what of, while others have more to report.
    failed: VecDeque<(usize, Fault)>,
    /// Per stream: the ranks are not read; nobody takes it any more.
    paused: [bool; 2],
    closed: [bool; 2],
    /// How often each rank has been told that its job runs.
    told: HashMap<u32, u32>,
    /// Who has asked for processes for which there is no room yet, and how long they wait.
    held: VecDeque<(u32, Spawning, Instant)>,
    /// A job has ended since they were looked at.
    has_room: bool,
    /// Keys that somebody has been warned of.
    warned: HashSet<String>,
    /// Everything is being ended: nothing more is begun.
    ending: bool,
    /// When the user's last signal was passed on.
    signalled: Option<Instant>,
    counters: Vec<u64>,
    over: bool,
}

impl<'a> Jobs<'a> {
    /// The family of a first job that `first` runs with so many agents. `limit`: the most processes at a time.
    pub(super) fn new(
        first: Box<dyn Below>,
        agents: usize,
        common: Common,
        limit: Option<usize>,
        place: &'a Place<'a>,
        epoll: Rc<Epoll>,
    ) -> Self {
        let size = common.size;
        let entry = Entry {
            number: 0,
            side: Side::First(first),
            state: State::Running,
            has_parents: false,
            asker: None,
            group: 0,
            failed: false,
            first: 0,
            agents: 0..agents,
            map: place.placement.as_ref().map_or(Vec::new(), |placement| placement.map(size)),
            ended: vec![false; size],
            running: size,
        };
        Self {
            entries: vec![entry],
            next: (1, size as u32, agents),
            common: Common { programs: Vec::new(), ..common },
            limit,
            place,
            epoll,
            queued: VecDeque::new(),
            failed: VecDeque::new(),
            paused: [false; 2],
            closed: [false; 2],
            told: HashMap::new(),
            held: VecDeque::new(),
            has_room: false,
            warned: HashSet::new(),
            ending: false,
            signalled: None,
            counters: Vec::new(),
            over: false,
        }
    }

    /// Answers whoever asked for a job.
    fn answer(&mut self, asker: u32, answer: Emit) {
        let line =
            answer.line().unwrap_or_else(|_| format!("cmd={} rc=-1 msg=unsendable\n", spawning::ANSWER));
        self.order_rank(asker, |rank| Order::Answer { rank, line });
    }

    fn refuse(&mut self, asker: u32, why: &str) {
        let Some(name) = self.name_of(asker) else { return };
        self.queued.push_back(Report::Say(format!("{name} cannot spawn processes: {why}\n")));
        self.answer(asker, spawning::refused(why));
    }

    /// Says once of each key that it is not followed.
    fn warn(&mut self, asker: u32, warnings: Vec<(String, String)>) {
        let Some(name) = self.name_of(asker) else { return };
        for (key, sentence) in warnings {
            if self.warned.insert(key) {
                self.queued.push_back(Report::Say(format!("warning: {name} spawns processes: {sentence}\n")));
            }
        }
    }

    /// A rank of the family as sentences name it; `None` when its job is over.
    fn name_of(&self, rank: u32) -> Option<String> {
        let (job, rank) = self.find(rank)?;
        let job = self.entries[job].number;
        Some(if job > 0 { format!("rank {rank} of job {job}") } else { format!("rank {rank}") })
    }

    /// The job of a rank of the family, and its number there; `None` when that job is over.
    fn find(&self, rank: u32) -> Option<(usize, u32)> {
        let job = self.entries.partition_point(|entry| entry.first <= rank).checked_sub(1)?;
        let within = rank - self.entries[job].first;
        ((within as usize) < self.entries[job].ended.len()).then_some((job, within))
    }

    fn order_rank(&mut self, rank: u32, order: impl FnOnce(u32) -> Order) {
        if let Some((job, rank)) = self.find(rank) {
            self.order_job(job, order(rank));
        }
    }

    fn order_job(&mut self, job: usize, order: Order) {
        self.entries[job].side.below().order(order);
    }

    /// Begins a job, at this time at the latest: where there is no room, and others are about to leave theirs, it waits for them.
    fn begin(&mut self, rank: u32, request: Spawning, until: Instant) {
        // Who has asked may have ended since.
        let asker = self.find(rank).map(|(asker, within)| (&self.entries[asker], within as usize));
        let Some((asker, within)) = asker else { return };
        if asker.ended[within] || matches!(asker.state, State::Over) {
            return;
        }
        if self.ending || asker.failed {
            return self.refuse(rank, "the job is being ended");
        }
        let stays = |entry: &&Entry| !matches!(entry.state, State::Stillborn);
        let running: usize = self.entries.iter().filter(stays).map(|entry| entry.running).sum();
        let room = self.limit.map(|limit| limit.saturating_sub(running));
        let (number, first, agents) = self.next;
        let planned = |room| plan(&request, number, &self.common, self.place, room, &self.busy());
        let Planned { plan, map, codes, warnings } = match planned(room) {
            Ok(planned) => planned,
            Err(_) if self.is_leaving() && until > Instant::now() && planned(self.limit).is_ok() => {
                return self.held.push_back((rank, request, until));
            }
            Err(why) => return self.refuse(rank, &why),
        };
        self.warn(rank, warnings);
        let asker = self.find(rank).map(|(asker, _)| &self.entries[asker]);
        let (asker, group) = asker.map_or((None, number), |asker| (Some(asker.number), asker.group));
        let size = plan.common.size;
        let has_parents = spawning::have_parents(&plan.common.preput);
        let tree = match Tree::start(plan, false, agents, self.epoll.clone()) {
            Ok(tree) => tree,
            Err(refused) => return self.refuse(rank, &refused.sentence),
        };
        self.next = (number + 1, first + size as u32, tree.end());
        let job = self.entries.len();
        self.entries.push(Entry {
            number,
            agents: agents..tree.end(),
            side: Side::Agents(Box::new(tree)),
            state: State::Unborn { asker: rank, codes },
            has_parents,
            asker,
            group,
            failed: false,
            first,
            map: Vec::new(),
            ended: vec![false; size],
            running: size,
        });
        self.queued.push_back(Report::Joined(map.clone()));
        self.entries[job].map = map;
        for stream in [Stream::Out, Stream::Err] {
            if self.closed[stream as usize] {
                self.order_job(job, Order::Close(stream));
            } else if self.paused[stream as usize] {
                self.order_job(job, Order::Read { stream, on: false });
            }
        }
    }

    /// Whether a job leaves room soon, in all likelihood: one that is connected with no other any more.
    fn is_leaving(&self) -> bool {
        self.entries.iter().any(|entry| entry.running > 0 && entry.number > 0 && entry.group == entry.number)
    }

    /// Tries once more what waits for room.
    fn begin_held(&mut self) {
        for (rank, request, until) in std::mem::take(&mut self.held) {
            self.begin(rank, request, until);
        }
    }

    /// How many processes run on each host.
    fn busy(&self) -> HashMap<&str, usize> {
        let mut busy = HashMap::new();
        for entry in &self.entries {
            for (host, ranks) in &entry.map {
                let running = ranks.iter().filter(|rank| !entry.ended[**rank]).count();
                *busy.entry(host.as_str()).or_default() += running;
            }
        }
        busy
    }

    /// A job cannot be born: ends what there is of it.
    fn give_up(&mut self, job: usize, why: &str) {
        if let State::Unborn { asker, .. } = self.entries[job].state {
            self.entries[job].state = State::Stillborn;
            self.refuse(asker, why);
            self.order_job(job, Order::End(How::Kill));
        }
    }

    /// What a job reports: settled here, or handed on as the family's.
    fn take(&mut self, job: usize, report: Report) {
        let Entry { first, number, .. } = self.entries[job];
        let in_family = |fault: Fault| Fault { job: number as u32, ..fault };
        let report = match report {
            Report::Fence(pairs) => return self.order_job(job, Order::Open(pairs)),
            Report::Ready => {
                if let State::Unborn { asker, codes } = &self.entries[job].state {
                    let (asker, answer) = (*asker, spawning::started(codes));
                    let told = self.told.entry(asker).or_default();
                    *told += 1;
                    let expected = State::Expected { asker, number: *told };
                    let entry = &mut self.entries[job];
                    entry.state = if entry.has_parents { expected } else { State::Running };
                    self.answer(asker, answer);
                }
                return;
            }
            Report::Met => {
                if matches!(self.entries[job].state, State::Expected { .. }) {
                    self.entries[job].state = State::Running;
                }
                return;
            }
            Report::Parted => {
                self.part(job);
                return;
            }
            Report::Spawn { rank, request } => {
                return self.begin(first + rank, request, Instant::now() + LEAVING);
            }
            Report::Over(counters) => return self.job_over(job, &counters),
            Report::Failed(fault) | Report::FailedLater(fault) | Report::Down { fault, .. }
                if matches!(self.entries[job].state, State::Unborn { .. } | State::Stillborn) =>
            {
                return self.give_up(job, &fault.cause.sentence(&fault.host, 0));
            }
            Report::Failed(fault) => {
                self.failed.push_back((number, in_family(fault)));
                return;
            }
            // It follows from what was told before.
            Report::FailedLater(_) if self.entries[job].failed => return,
            Report::FailedLater(fault) => {
                if let Cause::Death { rank, stage: Stage::Inside, .. } = fault.cause {
                    self.announce(job, vec![rank as u32], false);
                }
                Report::FailedLater(in_family(fault))
            }
            // Its hosts are given up while it is being ended: that is nobody else's end.
            Report::Down { ranks, .. } if self.entries[job].failed => {
                ranks.iter().for_each(|rank| _ = self.note_end(job, *rank));
                Report::Unseen(ranks.into_iter().map(|rank| first + rank).collect())
            }
            // As any other failure: what is not connected with it goes on.
            Report::Down { ranks, fault } if !self.common.goes_on => {
                ranks.iter().for_each(|rank| _ = self.note_end(job, *rank));
                self.failed.push_back((number, in_family(fault)));
                Report::Unseen(ranks.into_iter().map(|rank| first + rank).collect())
            }
            Report::Down { ranks, fault } => {
                // Of those that had ended before, the others have heard, or need not hear.
                let ended = &self.entries[job].ended;
                let lost = ranks.iter().filter(|rank| ended.get(**rank as usize) == Some(&false));
                let lost: Vec<u32> = lost.copied().collect();
                for &rank in &ranks {
                    self.note_end(job, rank);
                }
                if let Some(&rank) = ranks.first().filter(|_| self.entries[job].running > 0) {
                    // Where the job goes on, nobody may wait for it.
                    let gone = Gone { rank, pid: None, host: fault.host.clone() };
                    self.order_job(job, Order::Gone(gone));
                }
                self.announce(job, lost, true);
                let ranks = ranks.into_iter().map(|rank| first + rank).collect();
                Report::Down { ranks, fault: in_family(fault) }
            }
            Report::Ended { rank, pid, host, how } => {
                let is_first = self.note_end(job, rank);
                if is_first && self.entries[job].running > 0 {
                    self.order_job(job, Order::Gone(Gone { rank, pid: Some(pid), host: host.clone() }));
                }
                Report::Ended { rank: first + rank, pid, host, how }
            }
            Report::Output { rank, stream, continues, text } => {
                Report::Output { rank: first + rank, stream, continues, text }
            }
            Report::Begun(mut ranks) => {
                ranks.iter_mut().for_each(|begun| begun.rank += first);
                Report::Begun(ranks)
            }
            Report::Ask { rank, line } => Report::Ask { rank: first + rank, line },
            Report::Looks(mut looks) => {
                looks.iter_mut().for_each(|look| look.rank += first);
                Report::Looks(looks)
            }
            report => report,
        };
        self.queued.push_back(report);
    }

    /// A job is connected with no other any more, but with those that its processes have asked for.
    fn part(&mut self, job: usize) {
        let (number, group) = (self.entries[job].number, self.entries[job].group);
        let mut parted = HashSet::from([number]);
        // Who is asked for comes behind who asks.
        for entry in &mut self.entries[job..] {
            let follows = entry.asker.is_some_and(|asker| parted.contains(&asker)) && entry.group == group;
            if follows || entry.number == number {
                parted.insert(entry.number);
                entry.group = number;
            }
        }
    }

    /// A job fails: those that are connected with it end with it, and independent ones go on (MPI-5.0 §11.10.4).
    fn end_connected(&mut self, job: usize) -> Fate {
        let group = self.entries[job].group;
        if self.entries[job].failed {
            return Fate::Connected(group);
        }
        let (connected, others): (Vec<usize>, Vec<usize>) = (0..self.entries.len())
            .filter(|other| !matches!(self.entries[*other].state, State::Over))
            .partition(|other| self.entries[*other].group == group);
        if others.is_empty() {
            return Fate::Family;
        }
        let by_user = self.signalled.is_some_and(|at| at.elapsed() < WINDOW);
        for job in connected {
            self.entries[job].failed = true;
            self.order_job(job, Order::End(if by_user { How::User } else { How::Failure }));
        }
        Fate::Connected(group)
    }

    /// What jobs have failed of, once everything that was to be heard of all of them has been: who has parted, above all.
    fn settle_failed(&mut self) {
        while let Some((number, fault)) = self.failed.pop_front() {
            let job = self.entries.iter().position(|entry| entry.number == number);
            // Signals of the user are for all.
            let is_for_all = self.ending || matches!(fault.cause, Cause::User { .. });
            let fate = job.filter(|_| !is_for_all).map_or(Fate::Family, |job| self.end_connected(job));
            self.queued.push_back(match fate {
                Fate::Family => Report::Failed(fault),
                Fate::Connected(group) => Report::FailedAlone { group, fault },
            });
        }
    }

    /// Ranks of a job are lost: the others are to hear of it, if it goes on. One word for each host.
    fn announce(&mut self, job: usize, ranks: Vec<u32>, whole_host: bool) {
        if self.common.goes_on && self.entries[job].running > 0 && !ranks.is_empty() {
            self.order_job(job, Order::Lost { ranks, whole_host });
        }
    }

    /// A rank of a job has ended; whether it is the first one there.
    fn note_end(&mut self, job: usize, rank: u32) -> bool {
        let entry = &mut self.entries[job];
        let is_first = entry.running == entry.ended.len();
        let fresh = entry.ended.get_mut(rank as usize).is_some_and(|ended| !std::mem::replace(ended, true));
        let expected = match entry.state {
            State::Expected { asker, number } => Some((asker, number)),
            _ => None,
        };
        if let Some((asker, number)) = expected.filter(|_| fresh) {
            // Others of the job may never come to it without that one.
            self.entries[job].state = State::Running;
            let why =
                format!("rank {rank} of the new processes ended before they met those who asked for them");
            self.answer(asker, spawning::lost(number, &why));
        }
        let entry = &mut self.entries[job];
        if fresh {
            entry.running -= 1;
            if entry.running == 0 {
                self.order_job(job, Order::Finish);
            }
        }
        fresh && is_first
    }

    fn job_over(&mut self, job: usize, counters: &[u64]) {
        self.give_up(job, "its processes ended");
        self.counters.resize(self.counters.len().max(counters.len()), 0);
        for (sum, more) in self.counters.iter_mut().zip(counters) {
            *sum = sum.wrapping_add(*more);
        }
        let entry = &mut self.entries[job];
        entry.state = State::Over;
        entry.running = 0;
        if entry.number > 0 {
            let (first, count) = (entry.first, entry.ended.len() as u32);
            self.queued.push_back(Report::Left { first, count });
        }
        self.has_room = true;
        if !self.over && self.entries.iter().all(|entry| matches!(entry.state, State::Over)) {
            self.over = true;
            self.queued.push_back(Report::Over(std::mem::take(&mut self.counters)));
        }
    }

    /// Forgets jobs that are over and whose agents have ended.
    fn tidy(&mut self) {
        self.entries.retain(|entry| match &entry.side {
            Side::First(_) => true,
            Side::Agents(tree) => !(matches!(entry.state, State::Over) && tree.is_gone()),
        });
    }

    /// All that still run something.
    fn sides(&mut self) -> impl Iterator<Item = &mut dyn Below> {
        self.entries.iter_mut().map(|entry| entry.side.below())
    }
}

impl Below for Jobs<'_> {
    fn event(&mut self, token: Token) {
        let entry = match token {
            Token::Child(agent) | Token::ChildRoom(agent) | Token::ChildError(agent) => {
                // Gone, when the event came together with the end of the agent.
                let job = self.entries.partition_point(|entry| entry.agents.end <= agent);
                self.entries.get_mut(job).filter(|entry| entry.agents.contains(&agent))
            }
            _ => self.entries.first_mut(),
        };
        if let Some(entry) = entry {
            entry.side.below().event(token);
        }
    }

    fn children(&mut self, dead: &[Death]) {
        self.sides().for_each(|side| side.children(dead));
        self.tidy();
    }

    fn order(&mut self, order: Order) {
        match order {
            Order::Answer { rank, line } => {
                return self.order_rank(rank, |rank| Order::Answer { rank, line });
            }
            Order::Input(_) => return self.order_job(0, order),
            Order::Read { stream, on } => self.paused[stream as usize] = !on,
            Order::Close(stream) => self.closed[stream as usize] = true,
            Order::End(_) => self.ending = true,
            Order::Signal(signal) if ![SIGUSR1, SIGTSTP, SIGCONT].contains(&signal) => {
                self.signalled = Some(Instant::now());
            }
            _ => {}
        }
        for job in 0..self.entries.len() {
            if !matches!(self.entries[job].state, State::Over) {
                self.order_job(job, order.clone());
            }
        }
    }

    fn report(&mut self) -> Option<Report> {
        // In the order of the jobs: those that begin meanwhile are behind.
        let mut job = 0;
        while self.queued.is_empty() && job < self.entries.len() {
            match self.entries[job].side.below().report() {
                Some(report) => self.take(job, report),
                None => job += 1,
            }
        }
        if self.queued.is_empty() {
            self.settle_failed();
            if std::mem::take(&mut self.has_room) {
                self.begin_held();
            }
        }
        self.queued.pop_front()
    }

    fn on_time(&mut self, now: Instant) {
        self.sides().for_each(|side| side.on_time(now));
        if self.held.iter().any(|held| held.2 <= now) {
            self.begin_held();
        }
    }

    fn due(&self) -> Option<Instant> {
        let due = |entry: &Entry| match &entry.side {
            Side::First(below) => below.due(),
            Side::Agents(tree) => tree.due(),
        };
        let held = self.held.iter().map(|held| held.2);
        self.entries.iter().filter_map(due).chain(held).min()
    }
}
