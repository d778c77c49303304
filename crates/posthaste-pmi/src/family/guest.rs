//! A process that runs already and started this mpiexec to ask it for processes: the first job of a family.
//!
//! It is the only rank of its job and speaks PMI-1.1 over a socket. What must stay true: nobody started it through us, so
//! nothing here signals it; when it goes without taking leave, everything that it asked for is ended, also where processes that it
//! has forked have its end of the connection; it is sent nothing that makes us wait.

use crate::line::{Emit, Line, Reassembly};
use crate::server::{Action, Phase, Server};
use crate::spawn::Refused;
use crate::spawn::local::refused;
use crate::spawn::output::Sink;
use crate::spawn::run::{Below, Token};
use crate::spawn::talk::{Common, Fault, Order, Report};
use crate::spawn::verdict::{Cause, Death, Ended};
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use posthaste_os::{lives, machine};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::parent_id;
use std::time::{Duration, Instant};

/// How long a program of another library has for its part of the introduction.
const INTRODUCTION: Duration = Duration::from_secs(10);
/// What is heard of it: words, and that it has ended.
const TALKS: Token = Token::Pmi(0);
const ENDS: Token = Token::Pmi(1);
/// Longest line of that introduction.
const MOST_INTRODUCTION: usize = 4096;

/// A connection to a process that asks for processes.
#[derive(Debug)]
pub struct Caller {
    stream: UnixStream,
    /// Its process id, as far as it is known.
    pid: i32,
    /// It has introduced itself, and waits for the name of its key-value space.
    greeted: bool,
}

impl Caller {
    /// The process at our standard input: one that was started by [`crate::launcher::Launcher::start`].
    ///
    /// # Errors
    /// When standard input is no socket.
    pub fn at_stdin() -> Result<Self, Refused> {
        let stream =
            io::stdin().as_fd().try_clone_to_owned().map_err(refused("cannot use standard input"))?;
        // It has made both ends of the connection.
        let pid = getsockopt(&stream, PeerCredentials).map_or(0, |peer| peer.pid());
        Self::new(stream, pid, false).map_err(refused("standard input is not the socket of a program"))
    }

    /// A program of MPICH or Intel MPI that has called us with `-pmi_args PORT INTERFACE KEY PID`: it listens at that port of
    /// this host. What it says of its process id is that of the child that became this mpiexec; of who else starts it nothing is known.
    ///
    /// # Errors
    /// When it does not, or says something else than it should.
    pub fn at_port(port: u16, pid: i32) -> Result<Self, Refused> {
        let pid = if pid.unsigned_abs() == std::process::id() { parent_id() } else { 0 };
        let called = || -> io::Result<(TcpStream, String)> {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(INTRODUCTION))?;
            (&stream).write_all(b"cmd=singinit authtype=none\n")?;
            // One by one: what comes behind the line stays where it is.
            let (mut line, mut byte) = (Vec::new(), [0]);
            while line.len() < MOST_INTRODUCTION && (&stream).read(&mut byte)? > 0 && byte != *b"\n" {
                line.push(byte[0]);
            }
            Ok((stream, String::from_utf8_lossy(&line).into_owned()))
        };
        let (stream, hello) =
            called().map_err(refused("cannot talk to the program that called with -pmi_args"))?;
        let greets = |line: &Line<'_>| {
            line.command == "singinit" && line.get("authtype").is_none_or(|kind| kind == "none")
        };
        if !Line::parse(&hello).is_ok_and(|line| greets(&line)) {
            let sentence =
                format!("the program that called with -pmi_args said {hello:?}, expected cmd=singinit");
            return Err(Refused::new(1, sentence));
        }
        // Without a parent any more it is a child of whoever takes orphans.
        let pid = if pid == parent_id() { pid.cast_signed() } else { 0 };
        Self::new(stream.into(), pid, true).map_err(refused("cannot use the connection to a program"))
    }

    fn new(stream: OwnedFd, pid: i32, greeted: bool) -> io::Result<Self> {
        // Of either family: nothing is done with it but what any socket can do.
        let stream = UnixStream::from(stream);
        stream.set_nonblocking(true)?;
        Ok(Self { stream, pid, greeted })
    }
}

/// The job of such a process.
pub(super) struct Guest {
    stream: UnixStream,
    /// Readable when the process has ended, as far as it is known and in our namespace of processes.
    process: Option<OwnedFd>,
    to: Sink,
    pid: i32,
    server: Server,
    asked: Reassembly,
    ended: bool,
    over: bool,
    queued: VecDeque<Report>,
}

impl Guest {
    /// Begins to serve it.
    pub(super) fn new(caller: Caller, common: &Common, epoll: &Epoll) -> io::Result<Self> {
        let mut server =
            Server::new(&common.name, 1, &common.mapping, &[0]).within(common.universe, &common.preput);
        let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
        epoll.add(&caller.stream, EpollEvent::new(flags, TALKS.emit()))?;
        let process = u32::try_from(caller.pid).ok().filter(|pid| *pid > 0);
        let process = process.and_then(|pid| lives::open(pid).ok());
        if let Some(process) = &process {
            epoll.add(process, EpollEvent::new(EpollFlags::EPOLLIN, ENDS.emit()))?;
        }
        if caller.greeted {
            server.line(0, "cmd=init pmi_version=1 pmi_subversion=1");
        }
        let mut guest = Self {
            to: Sink::plain(&caller.stream)?,
            stream: caller.stream,
            process,
            pid: caller.pid,
            server,
            asked: Reassembly::default(),
            ended: false,
            over: false,
            queued: VecDeque::new(),
        };
        if caller.greeted {
            // It keeps its own standard streams.
            let welcome = Emit::new("singinit_info").pair("versionok", "yes").pair("stdio", "no");
            guest.reply(&welcome.pair("kvsname", &common.name).line().map_err(io::Error::other)?);
        }
        Ok(guest)
    }

    fn fault(cause: Cause) -> Fault {
        Fault { job: 0, host: machine::host_name(), cause }
    }

    fn read(&mut self) {
        let mut piece = [0; 4096];
        while !self.ended {
            match self.stream.read(&mut piece) {
                Ok(0) => self.gone(),
                Ok(count) => {
                    self.asked.push(&piece[..count]);
                    self.serve();
                }
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.gone(),
            }
        }
    }

    fn serve(&mut self) {
        loop {
            let actions = match self.asked.next_line() {
                Ok(Some(line)) => self.server.line(0, line),
                Ok(None) => return,
                Err(why) => return self.broken(&why.to_string()),
            };
            self.act(actions);
        }
    }

    fn act(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Reply { line, .. } => self.reply(&line),
                Action::Fence(pairs) => self.queued.push_back(Report::Fence(pairs)),
                Action::Ask { line, .. } => self.queued.push_back(Report::Ask { rank: 0, line }),
                Action::Spawn { request, .. } => {
                    self.queued.push_back(Report::Spawn { rank: 0, request });
                }
                Action::Abort { code, .. } => {
                    self.queued.push_back(Report::Failed(Self::fault(Cause::Abort { rank: 0, code })));
                }
            }
        }
    }

    fn reply(&mut self, line: &str) {
        self.to.push(None, |out| out.extend_from_slice(line.as_bytes()));
        self.to.flush();
        if self.to.is_full() {
            self.broken("it does not read its answers");
        }
    }

    fn broken(&mut self, why: &str) {
        let cause = Cause::Protocol { rank: 0, pid: self.pid, why: why.into() };
        self.queued.push_back(Report::Failed(Self::fault(cause)));
        self.leave();
    }

    /// The process is gone.
    fn gone(&mut self) {
        if !self.ended && self.server.phase(0) == Phase::Inside {
            let whose = if self.pid > 0 { format!("{} ", self.pid) } else { String::new() };
            let why =
                format!("the process {whose}that started this launcher ended without calling MPI_Finalize");
            self.queued.push_back(Report::Failed(Self::fault(Cause::Lost { why })));
        }
        self.leave();
    }

    /// The process is of no more use to us, and we are of none to it.
    fn leave(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            // Its end is how it hears of that.
            let _ = self.stream.shutdown(Shutdown::Both);
            let (pid, host) = (self.pid, machine::host_name());
            self.queued.push_back(Report::Ended { rank: 0, pid, host, how: Ended::Code(0) });
        }
    }

    fn finish(&mut self) {
        if !std::mem::replace(&mut self.over, true) {
            self.queued.push_back(Report::Over(Vec::new()));
        }
    }
}

impl Below for Guest {
    fn event(&mut self, token: Token) {
        self.to.flush();
        // First what it has said last.
        self.read();
        if token == ENDS {
            self.process = None;
            self.gone();
        }
    }

    fn children(&mut self, _: &[Death]) {}

    fn order(&mut self, order: Order) {
        match order {
            Order::Open(pairs) => {
                let actions = self.server.open(&pairs);
                self.act(actions);
            }
            Order::Answer { line, .. } => self.reply(&line),
            Order::End(_) | Order::Finish => {
                self.leave();
                self.finish();
            }
            _ => {}
        }
    }

    fn report(&mut self) -> Option<Report> {
        self.queued.pop_front()
    }

    fn on_time(&mut self, _: Instant) {}

    fn due(&self) -> Option<Instant> {
        None
    }
}
