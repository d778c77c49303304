//! The loop of a launcher: one epoll over everything, between the side of the user ([`Above`]) and the side of the ranks
//! ([`Below`]).
//!
//! Above is the user's console, or the parent of an agent; below are the ranks of this host, or the agents of several.
//! What must stay true: nothing here waits except the one `epoll_wait`; every report and order is handed over before
//! the next wait.

use super::Refused;
use super::output::Stream;
use super::talk::{Order, Report};
use super::verdict::{Death, Ended};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use posthaste_os::process::is_ignored;
use rustix::process::WaitOptions;
use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Signal,
    /// The side of the ranks, on this host.
    Report,
    Pmi(usize),
    Output(usize, Stream),
    /// Room in the input of a rank.
    Feed(usize),
    /// The side of the ranks, on others: what an agent says, room for what we say, and its standard error.
    Child(usize),
    ChildRoom(usize),
    ChildError(usize),
    /// The side of the user.
    Sink(usize),
    Source,
    Parent,
    /// A command that asks what the ranks are doing.
    Asker,
}

impl Token {
    pub(crate) fn emit(self) -> u64 {
        let (kind, index) = match self {
            Self::Signal => (0, 0),
            Self::Report => (1, 0),
            Self::Pmi(rank) => (2, rank),
            Self::Output(rank, Stream::Out) => (3, rank),
            Self::Output(rank, Stream::Err) => (4, rank),
            Self::Feed(index) => (5, index),
            Self::Child(index) => (6, index),
            Self::ChildRoom(index) => (7, index),
            Self::ChildError(index) => (8, index),
            Self::Sink(index) => (9, index),
            Self::Source => (10, 0),
            Self::Parent => (11, 0),
            Self::Asker => (12, 0),
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
            5 => Self::Feed(index),
            6 => Self::Child(index),
            7 => Self::ChildRoom(index),
            8 => Self::ChildError(index),
            9 => Self::Sink(index),
            10 => Self::Source,
            11 => Self::Parent,
            12 => Self::Asker,
            _ => return None,
        })
    }
}

/// The side of the ranks.
pub(crate) trait Below {
    /// Something is to be read or written.
    fn event(&mut self, token: Token);
    /// These child processes have ended and were waited for.
    fn children(&mut self, dead: &[Death]);
    /// Does what the other side wants.
    fn order(&mut self, order: Order);
    /// The next report.
    fn report(&mut self) -> Option<Report>;
    /// Does what is due; called in every turn.
    fn on_time(&mut self, now: Instant);
    /// When something is due.
    fn due(&self) -> Option<Instant>;
}

/// The side of the user.
pub(crate) trait Above {
    /// Something is to be read or written.
    fn event(&mut self, token: Token);
    /// A signal has come.
    fn signal(&mut self, signal: Signal);
    /// Takes a report.
    fn report(&mut self, report: Report);
    /// The next order.
    fn order(&mut self) -> Option<Order>;
    /// Does what is due; called in every turn.
    fn on_time(&mut self, now: Instant);
    /// When something is due.
    fn due(&self) -> Option<Instant>;
    /// All has been handed over: does what comes of that. Orders may follow.
    fn settle(&mut self);
    /// Whether nothing is left to do.
    fn is_over(&self) -> bool;
}

/// Runs the loop until nothing is left to do.
pub(crate) fn run(
    epoll: &Epoll,
    signals: &Signals,
    above: &mut dyn Above,
    below: &mut dyn Below,
) -> Result<(), Refused> {
    let mut events = vec![EpollEvent::empty(); 256];
    // What ended before signals were caught has sent none.
    let mut children = true;
    loop {
        if std::mem::take(&mut children) {
            below.children(&reap());
        }
        hand_over(above, below);
        if above.is_over() {
            return Ok(());
        }
        let due = [above.due(), below.due()].into_iter().flatten().min();
        let count = match epoll.wait(&mut events, patience(due)) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(why) => return Err(Refused::new(1, format!("cannot wait for the processes: {why}"))),
        };
        for token in events[..count].iter().filter_map(|event| Token::parse(event.data())) {
            match token {
                Token::Signal => signals.read(|signal| match signal {
                    Signal::SIGCHLD => children = true,
                    signal => above.signal(signal),
                }),
                Token::Sink(_) | Token::Source | Token::Parent | Token::Asker => above.event(token),
                _ => below.event(token),
            }
        }
        if std::mem::take(&mut children) {
            below.children(&reap());
        }
        let now = Instant::now();
        below.on_time(now);
        above.on_time(now);
    }
}

/// Takes all child processes that have ended. Whoever started them hears of it; orphans of ranks are nobody's.
fn reap() -> Vec<Death> {
    std::iter::from_fn(take_dead).collect()
}

/// Takes a child process that has ended, if there is one, by whatever signal: nix knows no real-time ones.
pub(crate) fn take_dead() -> Option<Death> {
    const DUMPED: i32 = 0x80;
    loop {
        let (pid, status) = match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(ended) => ended?,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return None, // there are no children
        };
        let code = status.exit_status().map(Ended::Code);
        if let Some(how) = code.or_else(|| status.terminating_signal().map(Ended::Signal)) {
            let core = status.signaled() && status.as_raw() & DUMPED != 0;
            return Some(Death { pid: pid.as_raw_nonzero().get(), how, core });
        }
    }
}

/// Hands reports up and orders down until there are no more.
fn hand_over(above: &mut dyn Above, below: &mut dyn Below) {
    loop {
        if let Some(report) = below.report() {
            above.report(report);
        } else if let Some(order) = above.order() {
            below.order(order);
        } else {
            above.settle();
            let Some(order) = above.order() else { return };
            below.order(order);
        }
    }
}

/// Time until something is due.
fn patience(due: Option<Instant>) -> EpollTimeout {
    let Some(due) = due else { return EpollTimeout::NONE };
    // Rounded up, lest the loop spins through the last millisecond.
    let wait = due.saturating_duration_since(Instant::now()) + Duration::from_micros(999);
    EpollTimeout::try_from(wait.min(Duration::from_secs(3600))).unwrap_or(EpollTimeout::NONE)
}

/// The signals that we handle, which arrive through a descriptor; as they were before when this is dropped.
#[derive(Debug)]
pub(crate) struct Signals {
    descriptor: SignalFd,
    before: SigSet,
}

impl Signals {
    /// Catches what a launcher handles. Signals that were ignored when we were started stay so.
    pub(crate) fn catch(epoll: &Epoll) -> io::Result<Self> {
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
        sigprocmask(SigmaskHow::SIG_BLOCK, Some(&blocked), Some(&mut before))?;
        let descriptor = SignalFd::with_flags(&caught, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        epoll.add(descriptor.as_fd(), EpollEvent::new(EpollFlags::EPOLLIN, Token::Signal.emit()))?;
        Ok(Self { descriptor, before })
    }

    /// The signals that were blocked before.
    pub(crate) fn before(&self) -> SigSet {
        self.before
    }

    fn read(&self, mut on: impl FnMut(Signal)) {
        while let Ok(Some(info)) = self.descriptor.read_signal() {
            if let Ok(signal) = Signal::try_from(info.ssi_signo as i32) {
                on(signal);
            }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&self.before), None);
    }
}

/// The epoll that both sides share.
pub(crate) fn epoll() -> io::Result<Rc<Epoll>> {
    Ok(Rc::new(Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?))
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
            Token::Feed(3),
            Token::Child(3),
            Token::ChildRoom(3),
            Token::ChildError(3),
            Token::Sink(1),
            Token::Source,
            Token::Parent,
            Token::Asker,
        ] {
            assert_eq!(Token::parse(token.emit()), Some(token));
        }
        assert_eq!(Token::parse(u64::MAX), None);
    }
}
