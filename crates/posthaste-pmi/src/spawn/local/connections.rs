//! The PMI connections of the ranks.
//!
//! `server` decides every answer. What must stay true: a rank that does not read its answers, or sends nonsense without
//! end, costs us bounded memory and ends its own job only.

use super::{Local, Token};
use crate::server::Action;
use crate::spawn::talk::Report;
use crate::spawn::verdict::Cause;
use nix::errno::Errno;
use nix::sys::epoll::{EpollEvent, EpollFlags};
use nix::sys::socket::{MsgFlags, send};
use std::io::{self, Read};
use std::os::fd::AsRawFd;

/// Unread answers to a rank that are kept.
const MOST_UNREAD: usize = 4 << 20;

impl Local {
    /// Reads and answers what a rank asks.
    pub(super) fn serve(&mut self, rank: usize) {
        let mut piece = [0; 4096];
        loop {
            let state = &mut self.ranks[rank];
            let Some(pmi) = &mut state.pmi else { return };
            match pmi.read(&mut piece) {
                Ok(0) => return self.close_pmi(rank),
                Ok(count) => {
                    state.asked.push(&piece[..count]);
                    // Scripts go to a directory of each rank before they become the program.
                    if !std::mem::replace(&mut state.was_seen, true)
                        && let Ok(directory) = std::fs::read_link(format!("/proc/{}/cwd", state.pid))
                    {
                        state.directory = directory;
                    }
                }
                Err(why) if why.kind() == io::ErrorKind::Interrupted => continue,
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return self.close_pmi(rank),
            }
            if let Err(why) = self.answer(rank) {
                return self.protocol_broken(rank, why);
            }
        }
    }

    fn protocol_broken(&mut self, rank: usize, why: String) {
        let (pid, number) = (self.ranks[rank].pid, self.ranks[rank].number as usize);
        self.close_pmi(rank);
        self.fail(Cause::Protocol { rank: number, pid, why });
    }

    /// Answers every whole line that has come.
    fn answer(&mut self, rank: usize) -> Result<(), String> {
        loop {
            let actions = match self.ranks[rank].asked.next_line() {
                Ok(Some(line)) => self.server.line(rank, line),
                Ok(None) => return Ok(()),
                Err(why) => return Err(why.to_string()),
            };
            self.act(actions);
            if !self.ready && self.server.all_have_come() {
                self.ready = true;
                self.report(Report::Ready);
            }
            if !self.met && self.server.has_met() {
                self.met = true;
                self.report(Report::Met);
            }
            if !self.parted && self.server.has_parted() {
                self.parted = true;
                self.report(Report::Parted);
            }
        }
    }

    pub(super) fn act(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Reply { rank, line } => self.reply(rank, &line),
                Action::Fence(pairs) => self.report(Report::Fence(pairs)),
                Action::Ask { rank, line } => {
                    self.report(Report::Ask { rank: self.ranks[rank].number, line })
                }
                Action::Spawn { rank, request } => {
                    self.report(Report::Spawn { rank: self.ranks[rank].number, request });
                }
                Action::Abort { rank, code } => {
                    self.fail(Cause::Abort { rank: self.ranks[rank].number as usize, code });
                }
            }
        }
    }

    pub(super) fn reply(&mut self, rank: usize, line: &str) {
        if self.ranks[rank].answers.len() > MOST_UNREAD {
            return self.protocol_broken(rank, "it does not read its answers".into());
        }
        self.ranks[rank].answers.extend_from_slice(line.as_bytes());
        self.send_answers(rank);
    }

    fn send_answers(&mut self, rank: usize) {
        let state = &mut self.ranks[rank];
        let Some(pmi) = &state.pmi else { return };
        let mut sent = 0;
        let mut waits = false;
        while sent < state.answers.len() {
            match send(
                pmi.as_raw_fd(),
                &state.answers[sent..],
                MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT,
            ) {
                Ok(count) => sent += count,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => {
                    waits = true;
                    break;
                }
                // Its end of file will be seen when it is read.
                Err(_) => sent = state.answers.len(),
            }
        }
        state.answers.drain(..sent);
        if waits != state.waits {
            state.waits = waits;
            let room = if waits { EpollFlags::EPOLLOUT } else { EpollFlags::empty() };
            let mut event = EpollEvent::new(EpollFlags::EPOLLIN | room, Token::Pmi(rank).emit());
            let _ = self.epoll.modify(pmi, &mut event);
        }
    }

    fn close_pmi(&mut self, rank: usize) {
        if let Some(pmi) = self.ranks[rank].pmi.take() {
            // A child that has not yet executed its program shares the descriptor: closing is not enough.
            let _ = self.epoll.delete(&pmi);
        }
    }
}
