//! A rank's side of PMI-1.1, and how a process finds out whether it is a rank at all.
//!
//! What must stay true: one `write` per line (servers of other launchers read line by line), every call returns an
//! error instead of a guess when the answer is not what it should be, and any 1.x answer is accepted.

use crate::line::{BadLine, Emit, Line, Reassembly, read_words};
use crate::spawning::{self, Spawning};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};
use posthaste_os::process;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use thiserror::Error;

/// The variables that make a process a rank of a job. They are spent once it has joined: programs that it
/// starts afterwards belong to no job.
pub const JOB_VARIABLES: &[&str] = &[
    "PMI_RANK",
    "PMI_SIZE",
    "PMI_FD",
    "PMI_SPAWNED",
    "PMI_PORT",
    "PMI_ID",
    "POSTHASTE_NODE_FD",
    "POSTHASTE_LOCAL_RANK",
    "POSTHASTE_LOCAL_SIZE",
    "POSTHASTE_CPUS",
    "POSTHASTE_CPU_LIST",
    "POSTHASTE_SECRET",
    "MPI_LOCALRANKID",
    "MPI_LOCALNRANKS",
    // Not ours, but `membership` reads them.
    "PMIX_RANK",
    "PMIX_NAMESPACE",
    "OMPI_COMM_WORLD_SIZE",
    "SLURM_STEP_NUM_TASKS",
];

/// Why joining the job, or talking to its launcher, failed.
#[derive(Debug, Error)]
pub enum Error {
    /// The environment contradicts itself.
    #[error("the launcher set {name}={value:?}, expected {expected}")]
    Environment {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A launcher whose protocol we do not speak has started this process as one of several.
    #[error(
        "this process belongs to a job that {launcher} started ({seen}={value}), and can't join it{why}: {remedy}"
    )]
    Foreign {
        /// Its name.
        launcher: &'static str,
        /// The variable that shows it.
        seen: &'static str,
        /// Its value.
        value: String,
        /// What to do instead.
        remedy: &'static str,
        /// Why, in brackets, where more is known.
        why: String,
    },
    /// The launcher's own library failed.
    #[error("{0}")]
    Library(String),
    /// The connection broke.
    #[error("the connection to the launcher broke in {command}: {source}")]
    Connection {
        /// The command under way.
        command: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A line that is not one.
    #[error("{command}: {source}")]
    Line {
        /// The command under way.
        command: &'static str,
        /// What is wrong.
        source: BadLine,
    },
    /// The answer to something else.
    #[error("{command}: the launcher answered cmd={got}, expected cmd={expected}")]
    Unexpected {
        /// The command under way.
        command: &'static str,
        /// What came.
        got: String,
        /// What should have come.
        expected: &'static str,
    },
    /// The launcher knows that this rank is done, and does not let it in again.
    #[error(
        "this process reported to its launcher that it was done when it called MPI_Finalize, and the launcher does not let it in \
         again ({0}): whatever comes after MPI_Finalize has to be opened before it"
    )]
    Left(Box<Self>),
    /// The same, of an mpiexec that this process has started.
    #[error("the mpiexec that this process has started for those that it spawned is not there any more: {0}")]
    Own(Box<Self>),
    /// The launcher cannot start processes.
    #[error("processes cannot be spawned: {0}")]
    CannotSpawn(String),
    /// The launcher said no.
    #[error("{command} of {what:?} was refused by the launcher: {why}")]
    Refused {
        /// The command.
        command: &'static str,
        /// Its key or version.
        what: String,
        /// The launcher's reason.
        why: String,
    },
}

impl Error {
    /// The same with the reason why a launcher's job cannot be joined.
    pub(crate) fn because(self, why: String) -> Self {
        match self {
            Self::Foreign { launcher, seen, value, remedy, .. } => {
                Self::Foreign { launcher, seen, value, remedy, why: format!(" ({why})") }
            }
            other => other,
        }
    }
}

/// What the environment says about this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Rank in the job.
    pub rank: usize,
    /// Ranks in the job.
    pub size: usize,
    /// Descriptor of the connection to the launcher.
    pub fd: i32,
}

/// Reads the environment through `variable`: `None` is a process that no launcher started, a job of its own.
///
/// # Errors
/// When the variables contradict themselves, or name a launcher that we cannot talk to: a process that was
/// meant to be one of many must not go on as one of one.
pub fn membership(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Membership>, Error> {
    let number = |name: &'static str| -> Result<Option<usize>, Error> {
        variable(name)
            .map(|value| {
                let parsed = value.trim().parse();
                parsed.map_err(|_| Error::Environment { name, value, expected: "a number" })
            })
            .transpose()
    };
    let Some(fd) = number("PMI_FD")? else {
        let (size, rank) = (number("PMI_SIZE")?, number("PMI_RANK")?);
        let alone = size.is_none_or(|size| size <= 1) && rank.unwrap_or(0) == 0;
        return foreign(&variable, alone).map_or(Ok(None), Err);
    };
    let need = |name: &'static str| {
        let missing =
            Error::Environment { name, value: String::new(), expected: "a number, as PMI_FD is set" };
        number(name)?.ok_or(missing)
    };
    let (rank, size) = (need("PMI_RANK")?, need("PMI_SIZE")?);
    if rank >= size {
        return Err(Error::Environment {
            name: "PMI_RANK",
            value: rank.to_string(),
            expected: "a number below PMI_SIZE",
        });
    }
    let fd = i32::try_from(fd).map_err(|_| Error::Environment {
        name: "PMI_FD",
        value: fd.to_string(),
        expected: "an open descriptor",
    })?;
    Ok(Some(Membership { rank, size, fd }))
}

/// The job of another launcher that a process without `PMI_FD` belongs to; `alone`: the PMI variables name no job
/// of several. An allocation without a step (the shell of salloc, the script of sbatch) is no such job, and
/// neither is a job of one.
fn foreign(variable: &impl Fn(&str) -> Option<String>, alone: bool) -> Option<Error> {
    const MPIEXEC: &str = "start it with posthaste's mpiexec";
    const SLURM: &str = "start it with srun --mpi=pmi2, or with posthaste's mpiexec";
    let size = |name: &str| variable(name).and_then(|value| value.trim().parse::<usize>().ok());
    let (open_mpi, slurm) = (size("OMPI_COMM_WORLD_SIZE"), size("SLURM_STEP_NUM_TASKS"));
    let (launcher, seen, remedy) = if variable("PMI_PORT").is_some() {
        ("a launcher that speaks PMI over TCP", "PMI_PORT", MPIEXEC)
    } else if !alone {
        let seen = if variable("PMI_SIZE").is_some() { "PMI_SIZE" } else { "PMI_RANK" };
        ("a PMI launcher without PMI_FD", seen, MPIEXEC)
    } else if open_mpi.is_some_and(|size| size > 1) {
        ("Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", MPIEXEC)
    } else if slurm.is_some_and(|size| size > 1) {
        ("srun", "SLURM_STEP_NUM_TASKS", SLURM)
    } else if variable("PMIX_NAMESPACE").is_some()
        && variable("PMIX_RANK").is_some()
        && open_mpi.or(slurm).is_none()
    {
        // PMIx keeps the size of its jobs to itself.
        ("a PMIx launcher", "PMIX_NAMESPACE", MPIEXEC)
    } else {
        return None;
    };
    Some(Error::Foreign {
        launcher,
        seen,
        value: variable(seen).unwrap_or_default(),
        remedy,
        why: String::new(),
    })
}

/// What the launcher holds of names and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maxes {
    /// Longest name of a key-value space.
    pub name: usize,
    /// Longest key.
    pub key: usize,
    /// Longest value.
    pub value: usize,
}

/// The inherited descriptor. A launcher that has closed its end is an error here and no SIGPIPE.
#[derive(Debug)]
pub struct Connection(File);

impl Read for Connection {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match send(self.0.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL) {
            Err(Errno::ENOTSOCK) => self.0.write(bytes),
            sent => Ok(sent?),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Counts connections.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A job that was asked for, and whose launcher says when its processes end too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// The connection by which it was asked for ([`Client::number`]).
    launcher: u32,
    /// The so manyth that was granted there, from 1 on.
    pub number: u32,
}

/// The connection of a rank to its launcher.
#[derive(Debug)]
pub struct Client<S = Connection> {
    stream: S,
    lines: Reassembly,
    /// The launcher owes an answer to a request for processes.
    is_asked: bool,
    /// That answer, when it came while another one was waited for.
    heard: Option<String>,
    /// How many requests for processes were granted, and of which of them some have ended too early, and why.
    started: u32,
    lost: Vec<(u32, String)>,
    /// The launcher says when processes of the last one end too early.
    is_watched: bool,
    /// Which connection of this process it is.
    number: u32,
    /// How long the launcher has to answer, where that is limited.
    patience: Option<Duration>,
    /// Rank in the job.
    pub rank: usize,
    /// Ranks in the job.
    pub size: usize,
}

/// Joins the job that the environment names: `None` without a launcher. Done once per process.
///
/// # Errors
/// As [`membership`], and when the launcher does not answer as it should.
pub fn connect() -> Result<Option<Client>, Error> {
    let Some(found) = membership(|name| std::env::var(name).ok())? else { return Ok(None) };
    let stream =
        process::inherited(found.fd).map_err(|source| Error::Connection { command: "init", source })?;
    let mut client = Client::new(Connection(File::from(stream)), found.rank, found.size);
    client.init()?;
    Ok(Some(client))
}

impl Client {
    /// The only rank of a job, over this socket; [`Client::init`] comes next.
    pub(crate) fn over(socket: OwnedFd) -> Self {
        Self::new(Connection(File::from(socket)), 0, 1)
    }

    /// Whether the processes of the job `started` ([`Client::started`]) may still come to meet this one, as far as that is known. Nothing is
    /// waited for.
    ///
    /// # Errors
    /// One of them has ended, or the launcher has.
    pub fn check_spawned(&mut self, started: Option<Started>) -> Result<(), Error> {
        let command = "spawn";
        // Another one has taken the place of the launcher that was asked, which is no more.
        if started.is_some_and(|started| started.launcher != self.number) {
            return Err(closed(command));
        }
        let (mut piece, mut is_closed) = ([0; 4096], false);
        loop {
            match recv(self.stream.0.as_raw_fd(), &mut piece, MsgFlags::MSG_DONTWAIT) {
                Ok(0) => {
                    is_closed = true;
                    break;
                }
                Ok(length) => self.lines.push(&piece[..length]),
                Err(Errno::EINTR) => {}
                // Of a connection that is no socket nothing is known.
                Err(Errno::EAGAIN | Errno::ENOTSOCK) => break,
                Err(source) => return Err(Error::Connection { command, source: source.into() }),
            }
        }
        // Nothing is expected; answers to others are kept for them.
        self.read_answer(command, "", |_| Ok(Ok(())))?;
        let number = started.map(|started| started.number);
        match self.lost.iter().position(|(of, _)| Some(*of) == number) {
            Some(at) => Err(Error::CannotSpawn(self.lost.swap_remove(at).1)),
            None if is_closed => Err(closed(command)),
            None => Ok(()),
        }
    }

    /// Whether the launcher has closed the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.check_spawned(None), Err(Error::Connection { .. }))
    }

    /// From now on whatever is not answered within `limit` is an error.
    ///
    /// # Errors
    /// A limit of 0.
    pub(crate) fn wait_at_most(&mut self, limit: Duration) -> Result<(), Error> {
        let limited = self.stream.0.try_clone().and_then(|stream| {
            // The limit belongs to the socket, whoever has a descriptor of it.
            UnixStream::from(OwnedFd::from(stream)).set_read_timeout(Some(limit))
        });
        self.patience = Some(limit);
        limited.map_err(|source| Error::Connection { command: "finalize", source })
    }
}

impl<S: AsFd> Client<S> {
    /// The descriptor of the connection; readable without a request under way means that the launcher is gone.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl<S: Read + Write> Client<S> {
    /// A client of `rank` of `size` over a connection; [`Client::init`] comes next.
    pub fn new(stream: S, rank: usize, size: usize) -> Self {
        Self {
            stream,
            lines: Reassembly::default(),
            is_asked: false,
            heard: None,
            started: 0,
            lost: Vec::new(),
            is_watched: false,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            patience: None,
            rank,
            size,
        }
    }

    /// Introduces this rank.
    ///
    /// # Errors
    /// When the launcher does not speak version 1.
    pub fn init(&mut self) -> Result<(), Error> {
        let command = "init";
        // Flux compares this line literally, Slurm accepts exactly 1.1 or 2.0.
        let line = Emit::new(command).number("pmi_version", 1).number("pmi_subversion", 1);
        self.ask(command, line, "response_to_init", |answer| {
            let version = answer.number("pmi_version")?;
            let fine = version == 1 && answer.get("rc").is_none_or(|rc| rc == "0");
            Ok(if fine {
                Ok(())
            } else {
                Err(("version 1.1".into(), format!("it speaks version {version}")))
            })
        })
    }

    /// Asks how long names and values may be.
    ///
    /// # Errors
    /// When the connection breaks or the answer is wrong; so for every request below.
    pub fn get_maxes(&mut self) -> Result<Maxes, Error> {
        self.ask("get_maxes", Emit::new("get_maxes"), "maxes", |answer| {
            let length = |key| answer.number(key).map(|length| usize::try_from(length).unwrap_or(0));
            Ok(Ok(Maxes {
                name: length("kvsname_max")?,
                key: length("keylen_max")?,
                value: length("vallen_max")?,
            }))
        })
    }

    /// Asks for the number of the program that this rank runs, of those in the launch command.
    ///
    /// # Errors
    /// See [`Client::get_maxes`].
    pub fn get_appnum(&mut self) -> Result<i64, Error> {
        self.ask("get_appnum", Emit::new("get_appnum"), "appnum", |answer| Ok(Ok(answer.number("appnum")?)))
    }

    /// Asks for the name of the job's key-value space.
    ///
    /// # Errors
    /// See [`Client::get_maxes`].
    pub fn get_my_kvsname(&mut self) -> Result<String, Error> {
        self.ask("get_my_kvsname", Emit::new("get_my_kvsname"), "my_kvsname", |answer| {
            Ok(Ok(answer.need("kvsname")?.to_string()))
        })
    }

    /// Asks how many processes the launcher could start.
    ///
    /// # Errors
    /// See [`Client::get_maxes`].
    pub fn get_universe_size(&mut self) -> Result<i64, Error> {
        self.ask("get_universe_size", Emit::new("get_universe_size"), "universe_size", |answer| {
            Ok(Ok(answer.number("size")?))
        })
    }

    /// Puts a pair; others see it after the next barrier.
    ///
    /// # Errors
    /// See [`Client::get_maxes`]; also when key or value cannot be sent or are refused.
    pub fn put(&mut self, kvsname: &str, key: &str, value: &str) -> Result<(), Error> {
        let line = Emit::new("put").pair("kvsname", kvsname).pair("key", key).pair("value", value);
        self.ask("put", line, "put_result", |answer| {
            let refused = || (key.to_string(), read_words(answer.get("msg").unwrap_or("no reason given")));
            Ok(if answer.number("rc")? == 0 { Ok(()) } else { Err(refused()) })
        })
    }

    /// Gets the value of a key, `None` when nobody has put it.
    ///
    /// # Errors
    /// See [`Client::get_maxes`].
    pub fn get(&mut self, kvsname: &str, key: &str) -> Result<Option<String>, Error> {
        let line = Emit::new("get").pair("kvsname", kvsname).pair("key", key);
        self.ask("get", line, "get_result", |answer| {
            Ok(Ok(if answer.number("rc")? == 0 { Some(answer.need("value")?.to_string()) } else { None }))
        })
    }

    /// Waits until all ranks of the job have come here.
    ///
    /// # Errors
    /// See [`Client::get_maxes`].
    pub fn barrier(&mut self) -> Result<(), Error> {
        self.ask("barrier_in", Emit::new("barrier_in"), "barrier_out", |_| Ok(Ok(())))
    }

    /// Asks the launcher to start a new job, and waits until it says that its processes run. Gives an error code for each of
    /// them, 0 for one that does: where fewer will do, not all do.
    ///
    /// # Errors
    /// See [`Client::get_maxes`]; also when none was started, or the wire cannot carry the request.
    pub fn spawn(&mut self, request: &Spawning) -> Result<Vec<i32>, Error> {
        self.ask_for(request)?;
        loop {
            if let Some(codes) = self.hear_of(request, true)? {
                return Ok(codes);
            }
        }
    }

    /// The first half of [`Client::spawn`]: asks, and does not wait. The answer has no number, so it has to come before the next
    /// request of this kind ([`Client::is_asked`]); others may come between.
    ///
    /// # Errors
    /// When the connection breaks, or the wire cannot carry the request.
    pub fn ask_for(&mut self, request: &Spawning) -> Result<(), Error> {
        let command = "spawn";
        for block in request.emit().map_err(|source| Error::Line { command, source })? {
            self.write(command, &block)?;
        }
        self.is_asked = true;
        Ok(())
    }

    /// How many requests for processes were granted: the launcher counts the same, for both count its answers. Requests that were refused
    /// have no number, because some are refused before they come to whoever counts. `None`: what this launcher has started, it does not watch.
    pub fn started(&self) -> Option<Started> {
        self.is_watched.then_some(Started { launcher: self.number, number: self.started })
    }

    /// Which connection of this process it is.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether the launcher owes an answer to [`Client::ask_for`].
    pub fn is_asked(&self) -> bool {
        self.is_asked
    }

    /// The second half: the answer, if it has come. `is_readable`: the connection can be read, which is then done once.
    ///
    /// # Errors
    /// As [`Client::spawn`].
    pub fn hear_of(&mut self, request: &Spawning, is_readable: bool) -> Result<Option<Vec<i32>>, Error> {
        let heard = self.hear(request, is_readable);
        self.is_asked = matches!(heard, Ok(None));
        self.started += u32::from(matches!(heard, Ok(Some(_))));
        heard
    }

    fn hear(&mut self, request: &Spawning, is_readable: bool) -> Result<Option<Vec<i32>>, Error> {
        let command = "spawn";
        let count = request.specs.iter().map(|spec| spec.count).sum();
        let mut is_watched = false;
        let read = |answer: &Line<'_>| {
            is_watched = spawning::is_watched(answer);
            let names: Vec<&str> = request.specs.iter().map(|spec| spec.name.as_str()).collect();
            Ok(spawning::read_answer(answer, count)?.map_err(|why| (names.join(", "), why)))
        };
        if let Some(text) = self.heard.take() {
            let codes = understand(command, &text, read)?;
            self.is_watched = is_watched;
            return Ok(Some(codes));
        }
        if is_readable {
            self.read_more(command)?;
        }
        let codes = self.read_answer(command, spawning::ANSWER, read)?;
        self.is_watched = is_watched;
        Ok(codes)
    }

    /// Asks the launcher to end the job with an exit code. There is no answer; the caller exits next.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn abort(&mut self, code: i32) -> Result<(), Error> {
        self.send("abort", Emit::new("abort").number("exitcode", code))
    }

    /// Takes leave of the launcher.
    ///
    /// # Errors
    /// See [`Client::get_maxes`].
    pub fn finalize(&mut self) -> Result<(), Error> {
        self.ask("finalize", Emit::new("finalize"), "finalize_ack", |_| Ok(Ok(())))
    }

    fn send(&mut self, command: &'static str, line: Emit) -> Result<(), Error> {
        let line = line.line().map_err(|source| Error::Line { command, source })?;
        self.write(command, &line)
    }

    fn write(&mut self, command: &'static str, text: &str) -> Result<(), Error> {
        self.stream.write_all(text.as_bytes()).map_err(|source| Error::Connection { command, source })
    }

    /// Sends a request and reads its reply; `read` takes the values out, or says what was refused and why.
    fn ask<T>(
        &mut self,
        command: &'static str,
        request: Emit,
        expected: &'static str,
        read: impl FnMut(&Line<'_>) -> Result<Result<T, (String, String)>, BadLine>,
    ) -> Result<T, Error> {
        self.send(command, request)?;
        self.answer(command, expected, read)
    }

    fn answer<T>(
        &mut self,
        command: &'static str,
        expected: &'static str,
        mut read: impl FnMut(&Line<'_>) -> Result<Result<T, (String, String)>, BadLine>,
    ) -> Result<T, Error> {
        loop {
            if let Some(value) = self.read_answer(command, expected, &mut read)? {
                return Ok(value);
            }
            self.read_more(command)?;
        }
    }

    /// The answer, if it has come. That to a request for processes is kept for whoever waits for it.
    fn read_answer<T>(
        &mut self,
        command: &'static str,
        expected: &'static str,
        read: impl FnOnce(&Line<'_>) -> Result<Result<T, (String, String)>, BadLine>,
    ) -> Result<Option<T>, Error> {
        while let Some(text) = self.lines.next_line().map_err(|source| Error::Line { command, source })? {
            let answer = Line::parse(text).map_err(|source| Error::Line { command, source })?;
            if answer.command == expected {
                return understand(command, text, read).map(Some);
            }
            if answer.command == spawning::LOST {
                let asked = answer.number("asked").map_err(|source| Error::Line { command, source })?;
                let why = read_words(answer.get("msg").unwrap_or_default());
                self.lost.push((asked as u32, why));
                continue;
            }
            if !self.is_asked || answer.command != spawning::ANSWER {
                let got = answer.command.chars().take(60).collect();
                return Err(Error::Unexpected { command, got, expected });
            }
            self.heard = Some(text.to_owned());
        }
        Ok(None)
    }

    /// Waits for a piece of what the launcher says.
    fn read_more(&mut self, command: &'static str) -> Result<(), Error> {
        let mut piece = [0; 4096];
        loop {
            match self.stream.read(&mut piece) {
                Err(interrupted) if interrupted.kind() == io::ErrorKind::Interrupted => {}
                Err(late) if late.kind() == io::ErrorKind::WouldBlock => {
                    let limit = self.patience.unwrap_or_default().as_secs_f64();
                    let why = format!("it has not answered for {limit} s");
                    let source = io::Error::new(io::ErrorKind::TimedOut, why);
                    return Err(Error::Connection { command, source });
                }
                Err(source) => return Err(Error::Connection { command, source }),
                Ok(0) => {
                    return Err(closed(command));
                }
                Ok(length) => {
                    self.lines.push(&piece[..length]);
                    return Ok(());
                }
            }
        }
    }
}

fn closed(command: &'static str) -> Error {
    let source = io::Error::new(io::ErrorKind::UnexpectedEof, "the launcher closed it");
    Error::Connection { command, source }
}

/// What an answer says.
fn understand<T>(
    command: &'static str,
    text: &str,
    read: impl FnOnce(&Line<'_>) -> Result<Result<T, (String, String)>, BadLine>,
) -> Result<T, Error> {
    let value = Line::parse(text).and_then(|answer| read(&answer));
    let value = value.map_err(|source| Error::Line { command, source })?;
    value.map_err(|(what, why)| Error::Refused { command, what, why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::{Action, Server};

    fn environment(pairs: &'static [(&'static str, &'static str)]) -> Result<Option<Membership>, Error> {
        membership(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_string()))
    }

    #[test]
    fn the_environment_decides_who_we_are() {
        assert_eq!(environment(&[]).unwrap(), None);
        let member = environment(&[("PMI_FD", "5"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")]).unwrap();
        assert_eq!(member, Some(Membership { rank: 1, size: 2, fd: 5 }));
        for bad in [
            &[("PMI_FD", "x"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")][..],
            &[("PMI_FD", "5"), ("PMI_RANK", "2"), ("PMI_SIZE", "2")],
            &[("PMI_FD", "5"), ("PMI_SIZE", "2")],
            &[("PMI_PORT", "host:1")],
            &[("PMI_SIZE", "2")],
            &[("PMI_RANK", "1")],
            &[("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "n")],
            &[("OMPI_COMM_WORLD_SIZE", "2")],
            &[("OMPI_COMM_WORLD_SIZE", "2"), ("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "n")],
            &[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "4")],
        ] {
            assert!(environment(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn some_environments_of_other_launchers_are_those_of_a_job_of_one() {
        for alone in [
            // The shell of salloc or the script of sbatch: an allocation, but no step.
            &[("SLURM_JOB_ID", "7"), ("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")][..],
            // The step that salloc runs an interactive shell in, and a step of one task.
            &[("SLURM_NTASKS", "4"), ("SLURM_STEP_ID", "4294967290"), ("SLURM_STEP_NUM_TASKS", "1")],
            &[("SLURM_STEP_NUM_TASKS", "1"), ("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "n")],
            &[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "n")],
            &[("PMI_SIZE", "1"), ("PMI_RANK", "0")],
            &[("PMIX_RANK", "0")],
        ] {
            assert_eq!(environment(alone).unwrap(), None, "{alone:?}");
        }
    }

    #[test]
    fn a_job_that_cannot_be_joined_is_named() {
        let said = environment(&[("SLURM_STEP_NUM_TASKS", "4")]).unwrap_err().to_string();
        assert!(said.contains("srun") && said.contains("SLURM_STEP_NUM_TASKS=4"), "{said}");
        assert!(said.contains("--mpi=pmi2"), "{said}");
    }

    /// Two clients against a server thread over real sockets.
    #[test]
    fn two_ranks_exchange_a_word() {
        let (mut ours, theirs): (Vec<_>, Vec<_>) = (0..2).map(|_| UnixStream::pair().unwrap()).unzip();
        let ranks: Vec<_> = theirs
            .into_iter()
            .enumerate()
            .map(|(rank, stream)| {
                std::thread::spawn(move || {
                    let mut client = Client::new(stream, rank, 2);
                    client.init().unwrap();
                    assert!(client.get_maxes().unwrap().value >= 1024);
                    assert_eq!(client.get_appnum().unwrap(), 0);
                    assert_eq!(client.get_universe_size().unwrap(), 2);
                    let kvs = client.get_my_kvsname().unwrap();
                    client.put(&kvs, &format!("card-{rank}"), &format!("value={rank}")).unwrap();
                    assert!(client.put(&kvs, "key", "two words").is_err());
                    assert!(matches!(client.put("other", "key", "v"), Err(Error::Refused { .. })));
                    client.barrier().unwrap();
                    let other = client.get(&kvs, &format!("card-{}", 1 - rank)).unwrap();
                    assert_eq!(other, Some(format!("value={}", 1 - rank)));
                    assert_eq!(client.get(&kvs, "none").unwrap(), None);
                    client.finalize().unwrap();
                })
            })
            .collect();
        let mut server = Server::new("kvs", 2, "", &[0, 0]);
        let mut lines = [Reassembly::default(), Reassembly::default()];
        for stream in &ours {
            stream.set_nonblocking(true).unwrap();
        }
        let mut piece = [0; 999];
        while !ranks.iter().all(std::thread::JoinHandle::is_finished) {
            for rank in 0..2 {
                match ours[rank].read(&mut piece) {
                    // The end of one rank's stream says nothing about the other's.
                    Ok(0) | Err(_) => std::thread::yield_now(),
                    Ok(length) => lines[rank].push(&piece[..length]),
                }
                while let Some(line) = lines[rank].next_line().unwrap().map(String::from) {
                    let mut actions = server.line(rank, &line);
                    if let [Action::Fence(pairs)] = &actions[..] {
                        actions = server.open(&pairs.clone());
                    }
                    for action in actions {
                        let Action::Reply { rank, line } = action else { panic!("{action:?}") };
                        ours[rank].write_all(line.as_bytes()).unwrap();
                    }
                }
            }
        }
        for rank in ranks {
            rank.join().unwrap();
        }
    }

    /// What a client gets that asks for two processes, and what it sends, when the launcher answers `answer`.
    fn spawned(answer: &str) -> (Result<Vec<i32>, Error>, String) {
        let (mut launcher, stream) = UnixStream::pair().unwrap();
        launcher.write_all(answer.as_bytes()).unwrap();
        let request = Spawning {
            specs: vec![spawning::Spec { count: 2, name: "a".into(), ..Default::default() }],
            preput: vec![("port".into(), "x".into())],
        };
        let mut client = Client::new(stream, 0, 1);
        let result = client.spawn(&request);
        drop(client);
        let mut sent = String::new();
        launcher.read_to_string(&mut sent).unwrap();
        (result, sent)
    }

    #[test]
    fn processes_are_asked_for_and_each_has_a_code() {
        let (codes, sent) = spawned(
            "cmd=spawn_result rc=0
",
        );
        assert_eq!(codes.unwrap(), [0, 0]);
        assert_eq!(
            sent,
            "mcmd=spawn\nnprocs=2\nexecname=a\ntotspawns=1\nspawnssofar=1\nargcnt=0\npreput_num=1\n\
             preput_key_0=port\npreput_val_0=x\ninfo_num=0\nendcmd\n"
        );
        assert_eq!(spawned("cmd=spawn_result rc=0 errcodes=0,-1\n").0.unwrap(), [0, -1]);
        let why = spawned("cmd=spawn_result rc=-1 msg=no_such_program\n").0.unwrap_err().to_string();
        assert_eq!(why, "spawn of \"a\" was refused by the launcher: no such program");
        assert!(matches!(spawned("cmd=spawn_result rc=0 errcodes=0\n").0, Err(Error::Line { .. })));
        assert!(matches!(spawned("cmd=error rc=-1 msg=unknown_command\n").0, Err(Error::Unexpected { .. })));
    }

    #[test]
    fn other_questions_are_answered_while_processes_start() {
        let (mut launcher, stream) = UnixStream::pair().unwrap();
        let request = Spawning {
            specs: vec![spawning::Spec { count: 1, name: "a".into(), ..Default::default() }],
            preput: Vec::new(),
        };
        let mut client = Client::new(stream, 0, 1);
        client.ask_for(&request).unwrap();
        assert_eq!(client.hear_of(&request, false).unwrap(), None);
        launcher.write_all(b"cmd=spawn_result rc=0\ncmd=universe_size size=7 rc=0\n").unwrap();
        assert_eq!(client.get_universe_size().unwrap(), 7);
        assert!(client.is_asked());
        assert_eq!(client.hear_of(&request, false).unwrap(), Some(vec![0]));
        assert!(!client.is_asked());
        launcher.write_all(b"cmd=spawn_result rc=0\n").unwrap();
        assert!(matches!(client.get_appnum(), Err(Error::Unexpected { .. })), "nobody has asked for it");
    }

    /// What a client says when the launcher answers `answer`.
    fn answered(answer: &str) -> Error {
        let (mut launcher, stream) = UnixStream::pair().unwrap();
        launcher.write_all(answer.as_bytes()).unwrap();
        launcher.shutdown(std::net::Shutdown::Write).unwrap();
        Client::new(stream, 0, 1).init().unwrap_err()
    }

    #[test]
    fn wrong_answers_are_errors() {
        assert!(matches!(answered(""), Error::Connection { .. }));
        assert!(matches!(answered("hello\n"), Error::Line { .. }));
        assert!(matches!(answered("cmd=maxes\n"), Error::Unexpected { .. }));
        assert!(matches!(answered("cmd=response_to_init rc=0\n"), Error::Line { .. }));
        let other = "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=-1\n";
        assert!(answered(other).to_string().contains("speaks version 2"));
    }

    #[test]
    fn any_version_1_answer_is_accepted() {
        let (mut launcher, stream) = UnixStream::pair().unwrap();
        launcher.write_all(b"cmd=response_to_init pmi_version=1 pmi_subversion=2 rc=0\n").unwrap();
        Client::new(stream, 0, 1).init().unwrap();
    }
}
