//! The ranks of this host, from their start to their end: the side of the ranks where it is real.
//!
//! It is under mpiexec itself or in an agent. Its parts are `processes` (signals, ends), `cores` (their files), `connections` (PMI), `streams`
//! (output, input) and `claims` (CPUs). What must stay true: before the end of a process is judged, everything it said
//! is read; of several failures here the first cause is the only one reported; when this is dropped, nothing of the job
//! is left on this host.

mod claims;
mod connections;
mod cores;
mod processes;
mod streams;

use super::ending::{Due, Ending, How};
use super::input::Feed;
use super::look::look;
use super::output::{Lines, Stream};
use super::run::{Below, Token, take_dead};
use super::start::{self, Prepared, Started};
use super::talk::{Begun, Common, Fault, Gone, Order, Report, Seats};
use super::verdict::{Cause, Death, Ended};
use super::{Bind, Part, Refused};
use crate::line::Reassembly;
use crate::server::Server;
use claims::Claims;
use cores::Cores;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::stat::{Mode, umask};
use nix::unistd::Pid;
use posthaste_os::node::{self, Node};
use posthaste_os::process::Guardian;
use posthaste_os::{copying, machine};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long output may still come from processes that the ranks left behind.
const LINGER: Duration = Duration::from_secs(1);

/// Everything about one rank.
#[derive(Debug)]
struct Rank {
    /// Its number in the job.
    number: u32,
    pid: i32,
    ended: Option<Ended>,
    /// The connection, until its end of file.
    pmi: Option<UnixStream>,
    asked: Reassembly,
    answers: Vec<u8>,
    /// Answers wait for room.
    waits: bool,
    outputs: [Output; 2],
    /// A library that its loader did not find, as it said on standard error.
    missing: Option<String>,
    /// Its working directory, as far as we know.
    directory: PathBuf,
    /// It has been seen there after its first word to us.
    was_seen: bool,
}

#[derive(Debug)]
struct Output {
    pipe: Option<File>,
    lines: Lines,
}

/// What the ranks of this host depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ties {
    /// Ranks get as their standard input what the other side passes on, instead of our own.
    pub(crate) passed_on: bool,
    /// The ranks are killed when we have been stopped for so long.
    pub(crate) patience: Option<Duration>,
}

/// The ranks of this host. Within, ranks are numbered from 0; to the outside as in the job.
pub(crate) struct Local {
    host: String,
    programs: Vec<String>,
    node: Node,
    server: Server,
    ranks: Vec<Rank>,
    by_number: HashMap<u32, usize>,
    by_pid: HashMap<i32, usize>,
    /// Ranks that have not ended.
    running: usize,
    guardian: Guardian,
    epoll: Rc<Epoll>,
    reports: File,
    report_bytes: Vec<u8>,
    /// A process asked for this job, and waits until all its ranks have introduced themselves.
    spawned: bool,
    ready: bool,
    /// It has said that it has met them, and that it has parted from them.
    met: bool,
    parted: bool,
    /// A rank that is killed does not end the others.
    goes_on: bool,
    at_once: bool,
    prompts: [bool; 2],
    /// Per stream: reading of the ranks is stopped.
    paused: [bool; 2],
    /// Inputs that are passed on; none any more when all ranks have closed theirs.
    feeds: Vec<Feed>,
    /// A rank of the job that has ended.
    gone: Option<Gone>,
    /// Why the job fails is known.
    failed: bool,
    ending: Option<Ending>,
    /// The last signal of the user that was passed on.
    passed_on: Option<(i32, Instant)>,
    /// All ranks of the job have ended.
    finishing: bool,
    over: bool,
    linger: Option<Instant>,
    prompt: Option<Instant>,
    queued: VecDeque<Report>,
    scratch: Vec<u8>,
    cores: Cores,
    /// What stands between `core.` and the rank in the names of core files.
    label: String,
    /// CPUs that another agent of the job on this machine shall not bind to.
    claims: Claims,
}

pub(crate) fn refused(what: &'static str) -> impl Fn(io::Error) -> Refused {
    move |why| Refused::new(1, format!("{what}: {why}"))
}

fn refused_errno(what: &'static str) -> impl Fn(Errno) -> Refused {
    move |why| refused(what)(why.into())
}

impl Local {
    /// Starts the ranks of a job that run here. `mask`: the signals blocked in them.
    pub(crate) fn start(
        common: &Common,
        seats: &Seats,
        ties: Ties,
        mask: &SigSet,
        epoll: Rc<Epoll>,
    ) -> Result<Self, Refused> {
        let programs = common.programs.iter().enumerate();
        // A program that runs elsewhere need not be here.
        let prepared: Vec<Option<Prepared<'_>>> = programs
            .map(|(index, program)| {
                let here = seats.ranks.iter().any(|seat| seat.1 as usize == index);
                here.then(|| Prepared::new(common, program)).transpose()
            })
            .collect::<Result<_, _>>()?;
        let of_rank = seats.ranks.iter().map(|seat| prepared.get(seat.1 as usize).and_then(Option::as_ref));
        let of_rank: Vec<&Prepared<'_>> =
            of_rank.collect::<Option<_>>().ok_or_else(|| Refused::new(1, "a rank has no program"))?;
        // The guardian first: its copy of us is then smallest, and nothing can be started without it.
        let guardian = Guardian::new(ties.patience).map_err(refused("cannot start the guardian process"))?;
        // Orphans of the ranks come to us, so that none stays as a zombie.
        let _ = prctl::set_child_subreaper(true);
        let (reports, report) = io::pipe().map_err(refused("cannot make a pipe"))?;
        let mut local = Self::without_ranks(common, seats, guardian, reports.into(), epoll)?;
        local.programs = of_rank.iter().map(|prepared| prepared.name()).collect();
        local.start_ranks(common, seats, &of_rank, ties, mask, report.into())?;
        local.register().map_err(refused_errno("cannot watch the processes"))?;
        let begun = local.ranks.iter().zip(&of_rank).map(|(rank, prepared)| Begun {
            rank: rank.number,
            host: seats.host.clone(),
            executable: prepared.path(),
            pid: rank.pid,
        });
        let begun = begun.collect();
        local.report(Report::Begun(begun));
        Ok(local)
    }

    /// All that is needed before the first rank is started.
    fn without_ranks(
        common: &Common,
        seats: &Seats,
        guardian: Guardian,
        reports: OwnedFd,
        epoll: Rc<Epoll>,
    ) -> Result<Self, Refused> {
        let count = seats.ranks.len();
        // What follows counts the CPUs that ranks may use.
        confine(&common.cpu_set)?;
        let node = Node::create_on(count, machine::usable_cpus())
            .map_err(refused("cannot make the shared memory of the job"))?;
        let node = copying::publish(node, &machine::affinity());
        fcntl(&reports, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(refused_errno("cannot set a pipe"))?;
        let applications: Vec<usize> = seats.ranks.iter().map(|&(_, program)| program as usize).collect();
        Ok(Self {
            host: seats.host.clone(),
            programs: Vec::new(),
            node,
            server: Server::new(&common.name, common.size, &common.mapping, &applications)
                .within(common.universe, &common.preput),
            ranks: Vec::with_capacity(count),
            by_number: seats.ranks.iter().enumerate().map(|(local, &(number, _))| (number, local)).collect(),
            by_pid: HashMap::with_capacity(count),
            running: 0,
            guardian,
            epoll,
            reports: reports.into(),
            report_bytes: Vec::new(),
            spawned: common.spawned,
            ready: false,
            met: false,
            parted: false,
            goes_on: common.goes_on,
            at_once: common.at_once,
            prompts: common.prompt,
            paused: [false; 2],
            feeds: Vec::new(),
            gone: None,
            failed: false,
            ending: None,
            passed_on: None,
            finishing: false,
            over: false,
            linger: None,
            prompt: None,
            queued: VecDeque::new(),
            scratch: vec![0; 64 << 10],
            cores: Cores::default(),
            // `-2` behind the name of the family is the second spawned job.
            label: match common.name.strip_prefix(&common.family) {
                None | Some("") => String::new(),
                Some(job) => format!("job{job}."),
            },
            claims: Claims::default(),
        })
    }

    fn start_ranks(
        &mut self,
        common: &Common,
        seats: &Seats,
        of_rank: &[&Prepared<'_>],
        ties: Ties,
        mask: &SigSet,
        report: OwnedFd,
    ) -> Result<(), Refused> {
        let count = seats.ranks.len();
        let null = OwnedFd::from(File::open("/dev/null").map_err(refused("cannot open /dev/null"))?);
        let own = io::stdin();
        if let Some(mask) = common.umask {
            umask(Mode::from_bits_truncate(mask));
        }
        let cpus = self.cpus(common, count)?;
        if matches!(common.bind, Bind::Core | Bind::Within(_)) && cpus.iter().any(Vec::is_empty) {
            self.queued
                .push_back(Report::Say("warning: there are not CPUs enough: ranks are not bound\n".into()));
        }
        let open_files = raise_open_files();
        let usable = machine::usable_cpus();
        let cpu_list = machine::list_of(&machine::affinity());
        let own_directory = std::env::current_dir().unwrap_or_default();
        for (local, (&(number, _), prepared)) in seats.ranks.iter().zip(of_rank).enumerate() {
            let shared = start::Shared {
                node: &self.node,
                size: common.size,
                spawned: common.spawned,
                secret: &common.secret,
                group: self.guardian.group(),
                mask,
                cpus: usable,
                cpu_list: &cpu_list,
                open_files,
                report: report.as_fd(),
            };
            let mut end_of_feed = None;
            if ties.passed_on && common.input.is_for(number) {
                let (feed, end) = Feed::new().map_err(refused("cannot make a pipe"))?;
                self.feeds.push(feed);
                end_of_feed = Some(end);
            }
            let stdin = match &end_of_feed {
                Some(end) => end.as_fd(),
                None if common.input.is_for(number) => own.as_fd(),
                None => null.as_fd(),
            };
            let started =
                start::start(prepared, &shared, local, number, &cpus[local], stdin).map_err(|why| {
                    Refused::new(1, format!("cannot start rank {number} of {}: {why}", common.size))
                })?;
            self.admit(number, started, own_directory.join(prepared.directory().unwrap_or(Path::new(""))));
        }
        // What only the ranks use, only they hold (here `report` and `end_of_feed` end): otherwise nobody
        // would see an end of file.
        Ok(())
    }

    /// The CPUs of each of the ranks here, which nobody else of the family takes; none for ranks that are not bound.
    fn cpus(&mut self, common: &Common, ranks: usize) -> Result<Vec<Vec<usize>>, Refused> {
        let usable = machine::affinity();
        let width = common.width.unwrap_or_else(|| threads_per_rank(common));
        let cpus = match common.per_part {
            Some((part, each)) => self.cpus_by_part(common, ranks, &usable, (part, each), width)?,
            None => {
                let in_order = match common.spread {
                    Some(part) => start::in_turn(&usable, |cpu| start::part_of(part, cpu)),
                    None => usable.clone(),
                };
                let wanted: usize =
                    start::cpus(common.bind, ranks, &in_order, width).iter().map(Vec::len).sum();
                if wanted > 0 {
                    self.claims = Claims::new(&common.family, &in_order, wanted);
                }
                start::cpus(common.bind, ranks, &self.claims.cpus(), width)
            }
        };
        Ok(match common.bind {
            Bind::Within(part) => {
                let widened =
                    |cpus: &Vec<usize>| start::widened(cpus, &usable, |cpu| start::part_of(part, cpu));
                cpus.iter().map(widened).collect()
            }
            _ => cpus,
        })
    }

    /// The same where so many ranks are on each part.
    fn cpus_by_part(
        &mut self,
        common: &Common,
        ranks: usize,
        usable: &[usize],
        (part, each): (Part, usize),
        width: usize,
    ) -> Result<Vec<Vec<usize>>, Refused> {
        let parts = start::parts(usable, |cpu| start::part_of(part, cpu)).unwrap_or_default();
        if ranks > parts.len() * each {
            let (host, name) = (&self.host, part.name());
            let sentence = format!(
                "{ranks} ranks are to run on {host}, {each} on each {name}, but it has {} with usable CPUs",
                parts.len()
            );
            return Err(Refused::new(1, sentence));
        }
        let wanted = start::cpus_by_part(common.bind, ranks, &parts, each, width);
        let mut claims = Vec::new();
        for (part, ranks) in parts.iter().zip(wanted.chunks(each)) {
            let wanted = ranks.iter().map(Vec::len).sum();
            claims.push(Claims::new(&common.family, part, wanted));
        }
        let claimed: Vec<Vec<usize>> = claims.iter().map(Claims::cpus).collect();
        let cpus = start::cpus_by_part(common.bind, ranks, &claimed, each, width);
        if cpus.iter().any(|cpus| !cpus.is_empty()) {
            self.claims.extend(claims);
        }
        Ok(cpus)
    }

    /// Takes a started process in.
    fn admit(&mut self, number: u32, started: Started, directory: PathBuf) {
        let output = |pipe| Output { pipe: Some(pipe), lines: Lines::default() };
        self.by_pid.insert(started.pid, self.ranks.len());
        self.ranks.push(Rank {
            number,
            pid: started.pid,
            ended: None,
            pmi: Some(started.pmi),
            asked: Reassembly::default(),
            answers: Vec::new(),
            waits: false,
            outputs: [output(started.out), output(started.err)],
            missing: None,
            directory,
            was_seen: false,
        });
        self.running += 1;
    }

    fn register(&self) -> nix::Result<()> {
        let read = |fd: BorrowedFd<'_>, token: Token| {
            self.epoll.add(fd, EpollEvent::new(EpollFlags::EPOLLIN, token.emit()))
        };
        read(self.reports.as_fd(), Token::Report)?;
        for (index, rank) in self.ranks.iter().enumerate() {
            if let Some(pmi) = &rank.pmi {
                read(pmi.as_fd(), Token::Pmi(index))?;
            }
            for stream in [Stream::Out, Stream::Err] {
                if let Some(pipe) = &rank.outputs[stream as usize].pipe {
                    read(pipe.as_fd(), Token::Output(index, stream))?;
                }
            }
        }
        Ok(())
    }

    fn report(&mut self, report: Report) {
        self.queued.push_back(report);
    }

    fn fault(&self, cause: Cause) -> Fault {
        Fault { job: 0, host: self.host.clone(), cause }
    }

    /// The job is over because of `cause`, unless it was over before.
    fn fail(&mut self, cause: Cause) {
        if self.failed {
            return;
        }
        let now = Instant::now();
        let user = self.user_signal(now);
        let cause = match (cause, user) {
            (Cause::Death { ended: Ended::Signal(death), .. }, Some(signal)) if death == signal => {
                Cause::User { signal }
            }
            (cause, _) => cause,
        };
        self.report(Report::Failed(self.fault(cause)));
        self.end(if user.is_some() { How::User } else { How::Failure });
    }

    /// Ends the ranks. A plan that was made before stands, unless it is too gentle.
    fn end(&mut self, how: How) {
        self.failed = true;
        if self.ending.is_none() || how == How::Kill {
            self.ending = Some(Ending::new(how, Instant::now()));
        }
    }

    fn end_step(&mut self, step: Due) {
        match step {
            Due::Ask => {
                self.guardian.signal(Signal::SIGTERM as i32);
                // A stopped process hears it only when it goes on.
                self.guardian.signal(Signal::SIGCONT as i32);
                self.signal_strays(Signal::SIGTERM);
            }
            Due::Kill => {
                self.signal_strays(Signal::SIGKILL);
                self.guardian.signal(Signal::SIGKILL as i32);
            }
            Due::GiveUp => {}
        }
    }

    /// Finds out whether all is over, and then says so.
    fn check_end(&mut self) {
        let given_up = self.ending.as_ref().is_some_and(|ending| ending.next().is_none());
        if self.over || (self.running > 0 && !given_up) || !(self.finishing || self.ending.is_some()) {
            return;
        }
        let open = self.ranks.iter().flat_map(|rank| &rank.outputs).any(|output| output.pipe.is_some());
        if open && !given_up {
            let until = self.ending.as_ref().map_or(Some(Instant::now() + LINGER), Ending::next);
            self.linger = self.linger.or(until);
            return;
        }
        self.close_outputs();
        self.over = true;
        self.report(Report::Over(self.counters()));
    }

    /// Sums of the counters of the ranks here.
    fn counters(&self) -> Vec<u64> {
        let count = |rank: usize, place: usize| self.node.counters(rank)[place].load(Ordering::Relaxed);
        let sum = |place| (0..self.node.ranks()).map(|rank| count(rank, place)).fold(0, u64::wrapping_add);
        (0..node::COUNTERS).map(sum).collect()
    }
}

impl Below for Local {
    fn event(&mut self, token: Token) {
        match token {
            Token::Report => self.read_reports(),
            Token::Pmi(rank) => self.serve(rank),
            Token::Output(rank, stream) => self.read_output(rank, stream),
            Token::Feed(index) => self.feed_again(index),
            _ => {}
        }
    }

    fn children(&mut self, dead: &[Death]) {
        self.judge(dead);
    }

    fn order(&mut self, order: Order) {
        match order {
            Order::Open(pairs) => {
                let actions = self.server.open(&pairs);
                self.act(actions);
            }
            Order::Answer { rank, line } => {
                if let Some(&rank) = self.by_number.get(&rank) {
                    self.reply(rank, &line);
                }
            }
            Order::Gone(gone) => self.gone = Some(gone),
            Order::Lost { ranks, whole_host } => self.announce(&ranks, whole_host),
            Order::Signal(signal) => self.pass_on(signal),
            Order::End(how) => self.end(how),
            Order::Finish => self.finishing = true,
            Order::Read { stream, on } => self.pause(stream, !on),
            Order::Close(stream) => (0..self.ranks.len()).for_each(|rank| self.close_output(rank, stream)),
            Order::Input(bytes) => self.feed(|feed| feed.push(&bytes)),
            Order::Look => {
                let ranks = self.ranks.iter().enumerate();
                let looks = ranks.map(|(local, rank)| look(&self.node, local, rank.number)).collect();
                self.report(Report::Looks(looks));
            }
        }
        // Some orders end something, and nothing else may come to wake us.
        self.check_barrier();
        self.check_end();
    }

    fn report(&mut self) -> Option<Report> {
        self.queued.pop_front()
    }

    fn on_time(&mut self, now: Instant) {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        self.check_barrier();
        while let Some(step) = self.ending.as_mut().and_then(|ending| ending.due(now)) {
            self.end_step(step);
        }
        if due(self.linger) {
            self.linger = None;
            self.guardian.signal(Signal::SIGKILL as i32);
            self.close_outputs();
        }
        if due(self.prompt) {
            self.prompt = None;
            for stream in [Stream::Out, Stream::Err] {
                let ranks = if self.prompts[stream as usize] { self.ranks.len() } else { 0 };
                (0..ranks).for_each(|rank| self.flush_lines(rank, stream));
            }
        }
        self.check_end();
    }

    fn due(&self) -> Option<Instant> {
        let ending = self.ending.as_ref().and_then(Ending::next).filter(|_| !self.over);
        [ending, self.linger, self.prompt].into_iter().flatten().min()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.signal_strays(Signal::SIGKILL);
        self.guardian.signal(Signal::SIGKILL as i32);
        self.wait_for_the_dead();
        let _ = prctl::set_child_subreaper(false);
    }
}

impl Local {
    /// Waits for everybody who was just killed: ranks, their orphans (which came to us), the guardian.
    fn wait_for_the_dead(&mut self) {
        let until = Instant::now() + Duration::from_secs(2);
        let group = Pid::from_raw(-self.guardian.group());
        loop {
            if let Some(Death { pid, .. }) = take_dead() {
                self.by_pid.remove(&pid);
                if pid == self.guardian.group() {
                    self.guardian.set_reaped();
                }
                continue;
            }
            let strays = self.by_pid.keys().any(|&pid| kill(Pid::from_raw(pid), None).is_ok());
            // Other children than the job's are not waited for: a process may leave the job on purpose.
            if (!strays && kill(group, None).is_err()) || Instant::now() > until {
                return;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

/// Three descriptors per rank are more than the usual soft limit holds. Gives the limit the ranks are to have.
fn raise_open_files() -> Option<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).ok()?;
    Some(soft)
}

/// Lets this process, and with it the ranks, use these CPUs alone; all when none are named.
fn confine(cpus: &[usize]) -> Result<(), Refused> {
    if cpus.is_empty() {
        return Ok(());
    }
    let usable = machine::affinity();
    let mut set = CpuSet::new();
    let mut any = false;
    for &cpu in cpus.iter().filter(|cpu| usable.contains(cpu)) {
        any |= set.set(cpu).is_ok();
    }
    if !any {
        let sentence = format!("the ranks may use the CPUs {cpus:?} only, but usable here are {usable:?}");
        return Err(Refused::new(1, sentence));
    }
    sched_setaffinity(Pid::from_raw(0), &set).map_err(refused_errno("cannot choose CPUs"))
}

/// How many threads each rank is asked to use.
fn threads_per_rank(common: &Common) -> usize {
    let wanted = common.environment.iter().find(|(name, _)| name == "OMP_NUM_THREADS");
    let first = wanted.and_then(|(_, value)| value.to_str()?.split(',').next()?.trim().parse().ok());
    first.unwrap_or(1).max(1)
}
