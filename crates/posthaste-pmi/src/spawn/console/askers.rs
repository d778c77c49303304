//! Other commands that ask an mpiexec what its ranks are doing: for a job on several hosts, nobody else can see them all.
//!
//! [`Askers`] is the side of the mpiexec asked; [`ask`] is that of the command that asks. Between them is a Unix socket
//! whose abstract name is made of the process id, so nothing lies about in any folder; a connection is the question,
//! and the text up to its end the answer. What must stay true: only the job's user and root get an answer, whoever
//! listens in an mpiexec's place gets none believed, and an asker that does not read holds up nobody.

use crate::spawn::output::Sink;
use crate::spawn::run::Token;
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::{Uid, geteuid};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::rc::Rc;
use std::time::Duration;

/// Most that are answered at one time.
const MOST: usize = 16;
/// How long an mpiexec has for an answer, and between two pieces of it.
const ANSWERED: Duration = Duration::from_secs(5);

/// Those who have asked.
pub(super) struct Askers {
    listener: UnixListener,
    epoll: Rc<Epoll>,
    waiting: Vec<Sink>,
    answered: Vec<Sink>,
}

impl Askers {
    /// Listens for questions to this process.
    pub(super) fn new(epoll: Rc<Epoll>) -> io::Result<Self> {
        let listener = UnixListener::bind_addr(&name(std::process::id())?)?;
        listener.set_nonblocking(true)?;
        epoll.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, Token::Asker.emit()))?;
        Ok(Self { listener, epoll, waiting: Vec::new(), answered: Vec::new() })
    }

    /// Lets in who has come; whether anybody has.
    pub(super) fn accept(&mut self) -> bool {
        let before = self.waiting.len();
        while let Ok((stream, _)) = self.listener.accept() {
            let room = self.waiting.len() + self.answered.len() < MOST;
            let sink = Asker(stream).let_in().filter(|_| room);
            self.waiting.extend(sink);
        }
        self.waiting.len() > before
    }

    /// Gives all of them this answer.
    pub(super) fn answer(&mut self, text: &str) {
        for mut sink in self.waiting.drain(..) {
            sink.push(None, |out| out.extend_from_slice(text.as_bytes()));
            // Only a hint to come back: what goes at once goes in `flush`.
            let room = EpollEvent::new(EpollFlags::EPOLLOUT | EpollFlags::EPOLLET, Token::Asker.emit());
            let _ = self.epoll.add(&sink, room);
            self.answered.push(sink);
        }
    }

    /// Writes what goes; who has all of it is done.
    pub(super) fn flush(&mut self) {
        self.answered.retain_mut(|sink| {
            sink.flush();
            sink.is_waiting()
        });
    }
}

/// A connection.
struct Asker(UnixStream);

impl Asker {
    /// Where the answer goes, if this user may have one.
    fn let_in(self) -> Option<Sink> {
        let peer = Uid::from_raw(getsockopt(&self.0, PeerCredentials).ok()?.uid());
        if peer.is_root() || peer == geteuid() { Sink::plain(&self.0).ok() } else { None }
    }
}

fn name(pid: u32) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("posthaste-mpiexec-{pid}"))
}

/// Asks the mpiexec with this process id what the ranks of its job are doing; `None` when it takes no questions, as one
/// whose job is on one host.
///
/// # Errors
/// When it takes them and does not answer.
pub fn ask(pid: u32) -> io::Result<Option<String>> {
    let Ok(mut stream) = UnixStream::connect_addr(&name(pid)?) else { return Ok(None) };
    if getsockopt(&stream.as_fd(), PeerCredentials)?.pid().unsigned_abs() != pid {
        return Ok(None);
    }
    stream.set_read_timeout(Some(ANSWERED))?;
    let mut text = String::new();
    match stream.read_to_string(&mut text) {
        Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
            Err(io::Error::other(format!("it has not answered for {ANSWERED:?}; perhaps it is stopped")))
        }
        Err(why) => Err(why),
        Ok(0) => Err(io::Error::other("its job ended, or belongs to another user")),
        Ok(_) => Ok(Some(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spawn::run;

    #[test]
    fn a_long_answer_reaches_each_asker_and_one_that_does_not_read_holds_up_nobody() {
        let pid = std::process::id();
        let mut askers = Askers::new(run::epoll().unwrap()).unwrap();
        assert!(!askers.accept());
        let idle = UnixStream::connect_addr(&name(pid).unwrap()).unwrap();
        let asking = std::thread::spawn(move || ask(pid));
        while askers.waiting.len() < 2 {
            askers.accept();
        }
        let long = "what the ranks do\n".repeat(100_000);
        askers.answer(&long);
        while !asking.is_finished() {
            askers.flush();
        }
        assert_eq!(asking.join().unwrap().unwrap(), Some(long));
        assert_eq!(askers.answered.len(), 1);
        drop(idle);
        askers.flush();
        assert!(askers.answered.is_empty());
    }

    #[test]
    fn nobody_is_asked_who_takes_no_questions() {
        assert_eq!(ask(u32::MAX).unwrap(), None);
    }
}
