//! The loop of the launcher: one epoll over the ranks' PMI connections and outputs, our streams and signals.
//!
//! Called by `spawn`; calls all rooms before it; its parts are `processes` (signals, ends), `connections` (PMI) and
//! `streams` (output, input). What must stay true: nothing here waits except the one
//! `epoll_wait`; before the end of a process is judged, everything it said is read; the first cause decides
//! the exit code and is the only one told.

mod connections;
mod processes;
mod streams;

use super::ending::{Due, Ending};
use super::input::{Forward, Input, Next};
use super::output::{Lines, Sink, Stream};
use super::start::{self, Common, Prepared, Started};
use super::verdict::{Cause, Ended};
use super::{Bind, Hooks, Job, Outcome, Refused};
use crate::line::Reassembly;
use crate::server::Server;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, dup2_stdin};
use posthaste_os::machine;
use posthaste_os::node::Node;
use posthaste_os::process::{Guardian, is_ignored};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long output may still come from processes that the ranks left behind.
const LINGER: Duration = Duration::from_secs(1);
/// How long after a signal of the user the ends of processes count as its consequence.
const USER_WINDOW: Duration = Duration::from_secs(10);

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Signal,
    Report,
    Pmi(usize),
    Output(usize, Stream),
    Sink(usize),
    Terminal,
    TerminalPipe,
}

impl Token {
    fn emit(self) -> u64 {
        let (kind, index) = match self {
            Self::Signal => (0, 0),
            Self::Report => (1, 0),
            Self::Pmi(rank) => (2, rank),
            Self::Output(rank, Stream::Out) => (3, rank),
            Self::Output(rank, Stream::Err) => (4, rank),
            Self::Sink(index) => (5, index),
            Self::Terminal => (6, 0),
            Self::TerminalPipe => (7, 0),
        };
        kind << 32 | index as u64
    }

    fn parse(word: u64) -> Option<Self> {
        let index = word as u32 as usize;
        Some(match word >> 32 {
            0 => Self::Signal,
            1 => Self::Report,
            2 => Self::Pmi(index),
            3 => Self::Output(index, Stream::Out),
            4 => Self::Output(index, Stream::Err),
            5 => Self::Sink(index),
            6 => Self::Terminal,
            7 => Self::TerminalPipe,
            _ => return None,
        })
    }
}

/// Everything about one rank.
#[derive(Debug)]
struct Rank {
    pid: i32,
    ended: Option<Ended>,
    /// The connection, until its end of file.
    pmi: Option<UnixStream>,
    asked: Reassembly,
    answers: Vec<u8>,
    /// Answers wait for room.
    waits: bool,
    outputs: [Output; 2],
}

#[derive(Debug)]
struct Output {
    pipe: Option<File>,
    lines: Lines,
}

/// A running job.
pub(super) struct Run<'a> {
    hooks: &'a mut dyn Hooks,
    name: &'a str,
    programs: Vec<String>,
    host: String,
    node: Node,
    server: Server,
    ranks: Vec<Rank>,
    by_pid: HashMap<i32, usize>,
    /// Ranks that have not ended.
    running: usize,
    guardian: Guardian,
    epoll: Epoll,
    signals: SignalFd,
    mask_before: SigSet,
    reports: File,
    report_bytes: Vec<u8>,
    /// One when both our streams lead to the same place, else two.
    sinks: Vec<Sink>,
    /// Per sink: reading of the ranks is stopped; room is being waited for.
    paused: [bool; 2],
    watched: [bool; 2],
    at_once: bool,
    input: Option<Forward>,
    watching_input: Next,
    cause: Option<(Cause, usize)>,
    later: Option<Cause>,
    ending: Option<Ending>,
    /// The last signal of the user that was passed on.
    passed_on: Option<(i32, Instant)>,
    deadline: Option<(Instant, Duration)>,
    linger: Option<Instant>,
    prompt: Option<Instant>,
    retry: Option<Instant>,
    told: bool,
    scratch: Vec<u8>,
}

fn refused(what: &'static str) -> impl Fn(io::Error) -> Refused {
    move |why| Refused::new(1, format!("{what}: {why}"))
}

fn refused_errno(what: &'static str) -> impl Fn(Errno) -> Refused {
    move |why| refused(what)(io_error(why))
}

fn io_error(errno: Errno) -> io::Error {
    io::Error::from_raw_os_error(errno as i32)
}

impl<'a> Run<'a> {
    /// Starts all processes of a job.
    pub(super) fn start(job: &Job, name: &'a str, hooks: &'a mut dyn Hooks) -> Result<Self, Refused> {
        let prepared: Vec<Prepared<'_>> =
            job.programs.iter().map(|program| Prepared::new(job, program)).collect::<Result<_, _>>()?;
        let of_rank: Vec<usize> = job
            .programs
            .iter()
            .enumerate()
            .flat_map(|(index, program)| std::iter::repeat_n(index, program.count))
            .collect();
        if of_rank.is_empty() {
            return Err(Refused::new(1, "the number of ranks is 0, expected 1 or more"));
        }
        // The guardian first: its copy of us is then smallest, and nothing can be started without it.
        let guardian = Guardian::new().map_err(refused("cannot start the guardian process"))?;
        // Orphans of the ranks come to us, so that none stays as a zombie.
        let _ = prctl::set_child_subreaper(true);
        let (reports, report) = io::pipe().map_err(refused("cannot make a pipe"))?;
        let mut run = Self::without_ranks(job, name, hooks, guardian, reports.into(), &of_rank)?;
        run.programs = of_rank.iter().map(|&index| prepared[index].name()).collect();
        run.start_ranks(job, &prepared, &of_rank, report.into())?;
        run.register().map_err(refused_errno("cannot watch the processes"))?;
        Ok(run)
    }

    /// All that is needed before the first rank is started.
    fn without_ranks(
        job: &Job,
        name: &'a str,
        hooks: &'a mut dyn Hooks,
        guardian: Guardian,
        reports: OwnedFd,
        of_rank: &[usize],
    ) -> Result<Self, Refused> {
        let size = of_rank.len();
        let node = Node::create(size).map_err(refused("cannot make the shared memory of the job"))?;
        let (signals, mask_before) = catch_signals().map_err(refused("cannot catch signals"))?;
        fcntl(&reports, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(refused_errno("cannot set a pipe"))?;
        let at_once = size == 1 && !hooks.wants_lines();
        Ok(Self {
            hooks,
            name,
            programs: Vec::new(),
            host: machine::host_name(),
            node,
            server: Server::new(&format!("posthaste-{}", std::process::id()), of_rank),
            ranks: Vec::with_capacity(size),
            by_pid: HashMap::with_capacity(size),
            running: 0,
            guardian,
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)
                .map_err(refused_errno("cannot make an epoll"))?,
            signals,
            mask_before,
            reports: reports.into(),
            report_bytes: Vec::new(),
            sinks: sinks().map_err(refused("cannot use the standard streams"))?,
            paused: [false; 2],
            watched: [false; 2],
            at_once,
            input: None,
            watching_input: Next::Nothing,
            cause: None,
            later: None,
            ending: None,
            passed_on: None,
            deadline: job.timeout.and_then(|limit| Some((Instant::now().checked_add(limit)?, limit))),
            linger: None,
            prompt: None,
            retry: None,
            told: false,
            scratch: vec![0; 64 << 10],
        })
    }

    fn start_ranks(
        &mut self,
        job: &Job,
        prepared: &[Prepared<'_>],
        of_rank: &[usize],
        report: OwnedFd,
    ) -> Result<(), Refused> {
        let size = of_rank.len();
        let (input, end_of_input) = Input::new().map_err(refused("cannot use standard input"))?;
        let null = OwnedFd::from(File::open("/dev/null").map_err(refused("cannot open /dev/null"))?);
        let stdin = io::stdin();
        let of_first = end_of_input.as_ref().map_or(stdin.as_fd(), AsFd::as_fd);
        let cpus = start::cpus(job.bind, size, &machine::affinity(), threads_per_rank(job));
        if job.bind == Bind::Core && cpus.iter().any(Vec::is_empty) {
            self.say("warning: there are not CPUs enough: ranks are not bound\n");
        }
        let open_files = raise_open_files();
        let usable = machine::usable_cpus();
        for (rank, &index) in of_rank.iter().enumerate() {
            let common = Common {
                node: &self.node,
                size,
                group: self.guardian.group(),
                mask: &self.mask_before,
                cpus: usable,
                open_files,
                report: report.as_fd(),
            };
            let stdin = if rank == 0 { of_first } else { null.as_fd() };
            let started = start::start(&prepared[index], &common, rank, &cpus[rank], stdin)
                .map_err(|why| Refused::new(1, format!("cannot start rank {rank} of {size}: {why}")))?;
            self.admit(rank, started);
        }
        // What only the ranks use, only they hold (here `report` and `end_of_input` end): otherwise nobody
        // would see an end of file.
        match input {
            Input::Same => drop(dup2_stdin(&null)),
            Input::Terminal(forward) => {
                self.input = Some(forward);
                self.watch_input(Next::Terminal);
            }
        }
        Ok(())
    }

    /// Takes a started process in.
    fn admit(&mut self, rank: usize, started: Started) {
        let output = |pipe| Output { pipe: Some(pipe), lines: Lines::default() };
        self.by_pid.insert(started.pid, rank);
        self.ranks.push(Rank {
            pid: started.pid,
            ended: None,
            pmi: Some(started.pmi),
            asked: Reassembly::default(),
            answers: Vec::new(),
            waits: false,
            outputs: [output(started.out), output(started.err)],
        });
        self.running += 1;
        self.hooks.started(rank, started.pid);
    }

    fn register(&self) -> nix::Result<()> {
        let read = |fd: BorrowedFd<'_>, token: Token| {
            self.epoll.add(fd, EpollEvent::new(EpollFlags::EPOLLIN, token.emit()))
        };
        read(self.signals.as_fd(), Token::Signal)?;
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

    /// Runs the loop until nothing of the job is left.
    pub(super) fn until_the_end(mut self) -> Result<Outcome, Refused> {
        let mut events = vec![EpollEvent::empty(); 256];
        while !self.is_over() {
            let count = match self.epoll.wait(&mut events, self.patience()) {
                Ok(count) => count,
                Err(Errno::EINTR) => 0,
                Err(why) => return Err(Refused::new(1, format!("cannot wait for the processes: {why}"))),
            };
            let mut children = false;
            for event in &events[..count] {
                match Token::parse(event.data()) {
                    Some(Token::Signal) => children |= self.read_signals(),
                    Some(Token::Report) => self.read_reports(),
                    Some(Token::Pmi(rank)) => self.serve(rank),
                    Some(Token::Output(rank, stream)) => self.read_output(rank, stream),
                    Some(Token::Sink(index)) => self.sinks[index].flush(),
                    Some(Token::Terminal) => self.input_event(Forward::read),
                    Some(Token::TerminalPipe) => self.input_event(Forward::write),
                    None => {}
                }
            }
            if children {
                self.reap();
            }
            self.check_barrier();
            self.on_time(Instant::now());
            self.move_output();
        }
        self.hooks.finished(&self.node);
        let code = self.cause.as_ref().map(|(cause, _)| cause).or(self.later.as_ref()).map_or(0, Cause::code);
        Ok(Outcome { code })
    }

    fn is_over(&mut self) -> bool {
        let given_up = self.ending.as_ref().is_some_and(|ending| ending.next().is_none());
        if self.running > 0 && !given_up {
            return false;
        }
        let open = self.ranks.iter().flat_map(|rank| &rank.outputs).any(|output| output.pipe.is_some());
        if open && !given_up {
            let until = || match &self.ending {
                Some(ending) => ending.next().unwrap_or_else(Instant::now),
                None => Instant::now() + LINGER,
            };
            self.linger = Some(self.linger.unwrap_or_else(until));
            return false;
        }
        if !self.told {
            self.told = true;
            self.tell();
            self.move_output();
        }
        !self.sinks.iter().any(Sink::is_waiting)
    }

    /// Time until something is due.
    fn patience(&self) -> EpollTimeout {
        let ending = self.ending.as_ref().and_then(Ending::next);
        let deadline = self.deadline.map(|deadline| deadline.0);
        let next = [ending, deadline, self.linger, self.prompt, self.retry].into_iter().flatten().min();
        let Some(next) = next else { return EpollTimeout::NONE };
        // Rounded up, lest the loop spins through the last millisecond.
        let wait = next.saturating_duration_since(Instant::now()) + Duration::from_micros(999);
        EpollTimeout::try_from(wait.min(Duration::from_secs(3600))).unwrap_or(EpollTimeout::NONE)
    }

    fn on_time(&mut self, now: Instant) {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if let Some((at, limit)) = self.deadline
            && at <= now
        {
            self.deadline = None;
            if self.running > 0 {
                self.explain();
                self.fail(Cause::Timeout { limit });
            }
        }
        while let Some(step) = self.ending.as_mut().and_then(|ending| ending.due(now)) {
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
        if due(self.linger) {
            self.linger = None;
            self.guardian.signal(Signal::SIGKILL as i32);
            self.close_outputs();
        }
        if due(self.prompt) {
            self.prompt = None;
            for rank in 0..self.ranks.len() {
                for stream in [Stream::Out, Stream::Err] {
                    if self.sinks[self.sink_of(stream)].is_terminal() {
                        self.flush_lines(rank, stream);
                    }
                }
            }
        }
        if due(self.retry) {
            self.retry = None;
            self.watch_input(Next::Terminal);
        }
    }

    /// The job is over because of `cause`, unless it was over before.
    fn fail(&mut self, cause: Cause) {
        if self.cause.is_some() {
            return;
        }
        let now = Instant::now();
        let user = self.passed_on.filter(|(_, at)| now.duration_since(*at) < USER_WINDOW).map(|user| user.0);
        let cause = match (cause, user) {
            (Cause::Death { ended: Ended::Signal(death), .. }, Some(signal)) if death == signal => {
                Cause::User { signal }
            }
            (cause, _) => cause,
        };
        let alone = matches!(cause, Cause::User { .. } | Cause::Timeout { .. });
        // An aborting rank and one that could not be started end by themselves.
        let itself = match cause {
            Cause::Abort { rank, .. } | Cause::NotStarted { rank, .. } | Cause::Protocol { rank, .. } => {
                usize::from(self.ranks.get(rank).is_some_and(|rank| rank.ended.is_none()))
            }
            _ => 0,
        };
        let others = if alone { 0 } else { self.running - itself };
        self.cause = Some((cause, others));
        if self.ending.is_none() {
            self.ending = Some(match user {
                Some(_) => Ending::after_user(now),
                None => Ending::after_failure(now),
            });
        }
    }

    /// Queues lines of our own for standard error, our name in front of the first.
    fn say(&mut self, lines: &str) {
        let lines = format!("{}: {lines}", self.name);
        let sink = self.sink_of(Stream::Err);
        self.sinks[sink].push(None, |out| out.extend_from_slice(lines.as_bytes()));
    }

    /// Queues what the ranks are doing.
    fn explain(&mut self) {
        let text = self.hooks.explain(&self.node);
        if !text.is_empty() {
            self.say(&format!("what the ranks are doing:\n{text}"));
        }
    }

    /// Queues the sentence about what went wrong.
    fn tell(&mut self) {
        self.close_outputs();
        if let Some(errno) = self.sinks[0].failure() {
            // A full disk, say: the ranks only saw that nobody reads.
            self.cause = Some((Cause::Output { errno: errno as i32 }, 0));
        }
        let (cause, others) = match (&self.cause, &self.later) {
            (Some((cause, others)), _) => (cause, *others),
            (None, Some(cause)) => (cause, 0),
            (None, None) => return,
        };
        let broken_pipe = Ended::Signal(Signal::SIGPIPE as i32);
        let quiet = matches!(cause, Cause::Death { ended, .. } if *ended == broken_pipe)
            && self.sinks.iter().any(Sink::is_closed);
        if !quiet {
            let line = format!("{}\n", cause.sentence(&self.host, others));
            self.say(&line);
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.signal_strays(Signal::SIGKILL);
        self.guardian.signal(Signal::SIGKILL as i32);
        self.wait_for_the_dead();
        let _ = prctl::set_child_subreaper(false);
        let _ = nix::sys::signal::sigprocmask(SigmaskHow::SIG_SETMASK, Some(&self.mask_before), None);
    }
}

impl Run<'_> {
    /// Waits for everybody who was just killed: ranks, their orphans (which came to us), the guardian.
    fn wait_for_the_dead(&mut self) {
        let until = Instant::now() + Duration::from_secs(2);
        let group = Pid::from_raw(-self.guardian.group());
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => {
                    let strays = self.by_pid.keys().any(|&pid| kill(Pid::from_raw(pid), None).is_ok());
                    // Other children than the job's are not waited for: a process may leave the job on purpose.
                    if (!strays && kill(group, None).is_err()) || Instant::now() > until {
                        return;
                    }
                    std::thread::sleep(Duration::from_micros(100));
                }
                Ok(status) => {
                    let pid = status.pid().map_or(0, Pid::as_raw);
                    self.by_pid.remove(&pid);
                    if pid == self.guardian.group() {
                        self.guardian.set_reaped();
                    }
                }
                Err(Errno::EINTR) => {}
                Err(_) => return,
            }
        }
    }
}

/// Signals that we handle arrive through a descriptor. Those ignored when we were started stay so.
fn catch_signals() -> io::Result<(SignalFd, SigSet)> {
    let mut caught = SigSet::empty();
    caught.add(Signal::SIGCHLD);
    for signal in [
        Signal::SIGINT,
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGQUIT,
        Signal::SIGUSR1,
        Signal::SIGUSR2,
        Signal::SIGTSTP,
        Signal::SIGCONT,
    ] {
        if !is_ignored(signal as i32) {
            caught.add(signal);
        }
    }
    let mut blocked = caught;
    // A read of the terminal from the background shall fail and not stop us.
    blocked.add(Signal::SIGTTIN);
    let mut before = SigSet::empty();
    nix::sys::signal::sigprocmask(SigmaskHow::SIG_BLOCK, Some(&blocked), Some(&mut before))
        .map_err(io_error)?;
    let signals =
        SignalFd::with_flags(&caught, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map_err(io_error)?;
    Ok((signals, before))
}

fn sinks() -> io::Result<Vec<Sink>> {
    let (out, err) = (io::stdout(), io::stderr());
    let mut sinks = vec![Sink::new(&out)?];
    if !Sink::same(&out, &err) {
        sinks.push(Sink::new(&err)?);
    }
    Ok(sinks)
}

/// Three descriptors per rank are more than the usual soft limit holds. Gives the limit the ranks are to have.
fn raise_open_files() -> Option<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).ok()?;
    Some(soft)
}

/// How many threads each rank is told to use.
fn threads_per_rank(job: &Job) -> usize {
    let wanted = job.environment.iter().find(|(name, _)| name == "OMP_NUM_THREADS");
    let first = wanted.and_then(|(_, value)| value.to_str()?.split(',').next()?.trim().parse().ok());
    first.unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_survive_the_kernel() {
        for token in [
            Token::Signal,
            Token::Report,
            Token::Pmi(7),
            Token::Output(70_000, Stream::Err),
            Token::Output(0, Stream::Out),
            Token::Sink(1),
            Token::Terminal,
            Token::TerminalPipe,
        ] {
            assert_eq!(Token::parse(token.emit()), Some(token));
        }
        assert_eq!(Token::parse(u64::MAX), None);
    }
}
