//! The parent above an agent: what it says and what we say to it.
//!
//! The side of the user for an agent. What must stay true: a parent that is gone, silent for too long, or says what
//! nobody understands is the end of this agent, and with it of all that is below; that we are there is said by a thread of its own,
//! since a slow file server may hold us up.

use super::frame::{Down, Frames, Up, emit};
use super::shared::Shared;
use super::{BEAT, SILENCE};
use crate::spawn::Stream;
use crate::spawn::ending::How;
use crate::spawn::output::Sink;
use crate::spawn::run::{Above, Token};
use crate::spawn::talk::{Fault, Order, Report};
use crate::spawn::verdict::Cause;
use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use nix::sys::signal::Signal;
use posthaste_os::pulse::Pulse;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::Instant;

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
    /// The parent has said that it will be stopped and silent.
    excused: bool,
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
        let above = to.clone();
        Ok(Self {
            host: host.into(),
            from,
            to,
            _pulse: Pulse::start(BEAT, move || above.beat(&Up::Beat))?,
            frames,
            epoll,
            orders: VecDeque::new(),
            heard: now,
            excused: false,
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
                    self.excused = order == Order::Signal(Signal::SIGTSTP as i32);
                    self.take_order(order);
                }
                Ok(Some(Down::Beat)) => self.excused = false,
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
        if now < self.look {
            return;
        }
        // After a long while it was us who could not hear.
        if now.duration_since(self.look) > 2 * BEAT {
            self.heard = now;
        }
        self.look = now + BEAT;
        self.lost |= !self.excused && now.duration_since(self.heard) > SILENCE;
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
