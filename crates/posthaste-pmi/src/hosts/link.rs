//! The parent above an agent: what it says and what we say to it.
//!
//! The side of the user for an agent. What must stay true: a parent that is gone, silent for too long, or says what
//! nobody understands is the end of this agent, and with it of all that is below. A slow file server may hold the loop up:
//! then a thread of its own says that we are there, and looks after the parent.

use super::frame::{Down, Frames, Up, emit};
use super::shared::Shared;
use super::{BEAT, SILENCE};
use crate::spawn::Stream;
use crate::spawn::ending::How;
use crate::spawn::output::Sink;
use crate::spawn::run::{Above, Token};
use crate::spawn::talk::{Fault, Order, Report};
use crate::spawn::verdict::Cause;
use nix::libc::{SIGCONT, SIGTSTP};
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use nix::sys::signal::Signal;
use posthaste_os::pulse::Pulse;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// What the loop lets its thread know.
#[derive(Debug, Default)]
struct Signs {
    /// How often it has turned.
    turns: AtomicU64,
    /// The parent has said that it will be stopped and silent.
    excused: AtomicBool,
}

/// Looks after the parent while the loop does not turn.
#[derive(Debug)]
struct Watch {
    /// The loop's turns and the unread bytes of the parent when we last looked, and since when both have been so.
    seen: (u64, u64),
    since: Instant,
    looked: Instant,
}

impl Watch {
    fn new(now: Instant) -> Self {
        Self { seen: (0, 0), since: now, looked: now }
    }

    /// Whether the parent has said nothing for too long, and nobody but us can notice.
    fn misses(&mut self, now: Instant, turns: u64, unread: u64) -> bool {
        // After a long while it was us who did not run.
        let has_run = now.duration_since(self.looked) < 3 * BEAT;
        self.looked = now;
        if (turns, unread) != self.seen || !has_run {
            (self.seen, self.since) = ((turns, unread), now);
        }
        now.duration_since(self.since) > SILENCE
    }
}

/// The parent above us.
pub(super) struct Link {
    host: String,
    from: File,
    to: Shared,
    _pulse: Pulse,
    frames: Frames,
    epoll: Rc<Epoll>,
    orders: VecDeque<Order>,
    heard: Instant,
    signs: Arc<Signs>,
    /// When to look whether the parent is there.
    look: Instant,
    /// Room is being waited for.
    watched: bool,
    /// The parent reads too slowly, so the ranks are not read.
    full: bool,
    /// Per stream: what the parent wants.
    wanted: [bool; 2],
    lost: bool,
    over: bool,
    scratch: Vec<u8>,
}

impl Link {
    /// The parent at our standard streams; `frames` has what it has said so far.
    pub(super) fn new(host: &str, frames: Frames, epoll: Rc<Epoll>) -> io::Result<Self> {
        let from = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        epoll.add(&from, EpollEvent::new(EpollFlags::EPOLLIN, Token::Parent.emit()))?;
        let now = Instant::now();
        let to = Shared::new(Sink::new(&io::stdout())?);
        let signs = Arc::new(Signs::default());
        let (above, below, said) = (to.clone(), signs.clone(), from.try_clone()?);
        let mut watch = Watch::new(now);
        let beat = move || {
            above.beat(&Up::Beat);
            let unread = rustix::io::ioctl_fionread(&said).unwrap_or(0);
            if watch.misses(Instant::now(), below.turns.load(Ordering::Relaxed), unread)
                && !below.excused.load(Ordering::Relaxed)
            {
                // The guardian of our ranks kills them.
                std::process::exit(1);
            }
        };
        Ok(Self {
            host: host.into(),
            from,
            to,
            _pulse: Pulse::start(BEAT, beat)?,
            frames,
            epoll,
            orders: VecDeque::new(),
            heard: now,
            signs,
            look: now,
            watched: false,
            full: false,
            wanted: [true; 2],
            lost: false,
            over: false,
            scratch: vec![0; 64 << 10],
        })
    }

    fn read(&mut self) {
        match self.from.read(&mut self.scratch) {
            Ok(count @ 1..) => {
                self.frames.push(&self.scratch[..count]);
                self.take_frames();
            }
            Err(why) if matches!(why.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Ok(0) | Err(_) => self.lost = true,
        }
    }

    /// Takes the messages that have come.
    pub(super) fn take_frames(&mut self) {
        loop {
            match self.frames.next() {
                Ok(Some(Down::Order(order))) => {
                    if let Order::Signal(signal @ (SIGTSTP | SIGCONT)) = order {
                        self.signs.excused.store(signal == SIGTSTP, Ordering::Relaxed);
                    }
                    self.take_order(order);
                }
                Ok(Some(Down::Beat)) => self.signs.excused.store(false, Ordering::Relaxed),
                Ok(None) => break,
                // A second plan makes no sense either.
                Ok(Some(Down::Start(_))) | Err(_) => {
                    self.lost = true;
                    break;
                }
            }
        }
        self.heard = Instant::now();
    }

    fn take_order(&mut self, order: Order) {
        if let Order::Read { stream, on } = order {
            self.wanted[stream as usize] = on;
            if self.full {
                return;
            }
        }
        self.orders.push_back(order);
    }

    fn send(&mut self, message: &Up) {
        self.to.lock().push(None, |out| emit(message, out));
    }
}

impl Above for Link {
    fn event(&mut self, token: Token) {
        match token {
            Token::Parent => self.read(),
            Token::Sink(_) => self.to.lock().flush(),
            _ => {}
        }
    }

    /// Signals of the user come as orders. Whoever ends this process means the job.
    fn signal(&mut self, signal: Signal) {
        if matches!(signal, Signal::SIGTERM | Signal::SIGINT | Signal::SIGHUP | Signal::SIGQUIT) {
            let why = format!("the agent on {} was ended by {}", self.host, signal.as_str());
            let fault = Fault { job: 0, host: self.host.clone(), cause: Cause::Lost { why } };
            self.send(&Up::Report(Report::Failed(fault)));
            self.orders.push_back(Order::End(How::Failure));
        }
    }

    fn report(&mut self, report: Report) {
        self.over |= matches!(report, Report::Over(_));
        self.send(&Up::Report(report));
    }

    fn order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    fn on_time(&mut self, now: Instant) {
        self.signs.turns.fetch_add(1, Ordering::Relaxed);
        if now < self.look {
            return;
        }
        // After a long while it was us who could not hear.
        if now.duration_since(self.look) > 2 * BEAT {
            self.heard = now;
        }
        self.look = now + BEAT;
        let excused = self.signs.excused.load(Ordering::Relaxed);
        self.lost |= !excused && now.duration_since(self.heard) > SILENCE;
    }

    fn due(&self) -> Option<Instant> {
        Some(self.look)
    }

    fn settle(&mut self) {
        let full = {
            let mut to = self.to.lock();
            to.flush();
            self.lost |= to.is_closed();
            let waits = to.is_waiting();
            if waits != self.watched {
                let event = EpollEvent::new(EpollFlags::EPOLLOUT, Token::Sink(0).emit());
                let changed = if waits { self.epoll.add(&*to, event) } else { self.epoll.delete(&*to) };
                self.watched = waits && changed.is_ok();
            }
            to.is_full()
        };
        if std::mem::replace(&mut self.full, full) != full {
            for stream in
                [Stream::Out, Stream::Err].into_iter().filter(|&stream| self.wanted[stream as usize])
            {
                self.orders.push_back(Order::Read { stream, on: !full });
            }
        }
    }

    fn is_over(&self) -> bool {
        self.lost || (self.over && !self.to.lock().is_waiting())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_parent_is_missed_when_neither_it_nor_the_loop_moves() {
        let begin = Instant::now();
        let at = |beats: u32| begin + beats * BEAT;
        let mut watch = Watch::new(begin);
        // The loop turns, then the parent beats.
        assert!((0..100).all(|beat| !watch.misses(at(beat), beat.into(), 0)));
        assert!((100..200).all(|beat| !watch.misses(at(beat), 99, beat.into())));
        let missed = (200..300).find(|&beat| watch.misses(at(beat), 99, 199)).unwrap();
        assert_eq!(at(missed), at(199) + SILENCE + BEAT);
        // We were stopped.
        let mut watch = Watch::new(begin);
        assert!(!watch.misses(begin + Duration::from_secs(60), 0, 0));
        assert!(!watch.misses(begin + Duration::from_secs(60) + BEAT, 0, 0));
    }
}
