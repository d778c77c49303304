//! The way of the ranks' output to our own standard streams: whole lines, nothing lost, never waiting.
//!
//! [`Lines`] is the side of the ranks, [`Sink`] that of the user and of what goes to other hosts. What must stay true:
//! lines of different ranks do not mix; what a rank wrote arrives in its order; a full pipe of ours makes us stop
//! reading (so the ranks wait, not we) and never blocks the loop. To that end pipes and terminals are opened anew,
//! which gives us a non-blocking description of our own and leaves alone the one that we share with other programs.

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, send};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

/// A rank's output stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stream {
    /// Standard output.
    Out = 0,
    /// Standard error.
    Err = 1,
}

/// Longest line that is kept whole.
const LONGEST_LINE: usize = 4 << 20;
/// Bytes waiting for a slow reader from which on we stop reading the ranks.
const ENOUGH: usize = 1 << 20;

/// Keeps the incomplete last line of one stream of one rank.
#[derive(Debug, Default)]
pub(super) struct Lines {
    partial: Vec<u8>,
    /// The last piece handed on had no line end.
    continues: bool,
}

impl Lines {
    /// Takes what arrived and hands whole lines on: the text, and whether it continues a piece before.
    /// With `at_once`, incomplete lines are handed on too.
    pub(super) fn push(&mut self, bytes: &[u8], at_once: bool, mut on: impl FnMut(&[u8], bool)) {
        let whole = match bytes.iter().rposition(|&byte| byte == b'\n') {
            _ if at_once => bytes.len(),
            Some(end) => end + 1,
            None => 0,
        };
        if whole > 0 {
            if self.partial.is_empty() {
                self.emit(&bytes[..whole], &mut on);
            } else {
                self.partial.extend_from_slice(&bytes[..whole]);
                self.flush(&mut on);
            }
        }
        self.partial.extend_from_slice(&bytes[whole..]);
        if self.partial.len() > LONGEST_LINE {
            self.flush(&mut on);
        }
    }

    /// Hands on what is left, without a line end.
    pub(super) fn flush(&mut self, mut on: impl FnMut(&[u8], bool)) {
        if !self.partial.is_empty() {
            let mut partial = std::mem::take(&mut self.partial);
            self.emit(&partial, &mut on);
            partial.clear();
            self.partial = partial;
        }
    }

    /// Whether an incomplete line waits.
    pub(super) fn is_partial(&self) -> bool {
        !self.partial.is_empty()
    }

    fn emit(&mut self, text: &[u8], on: &mut impl FnMut(&[u8], bool)) {
        on(text, self.continues);
        self.continues = text.last() != Some(&b'\n');
    }
}

/// How bytes get into a descriptor without waiting.
#[derive(Debug)]
enum Way {
    /// It never makes us wait, or is non-blocking.
    Write,
    /// A socket, asked not to wait with each call.
    Send,
    /// Could not be opened anew: only small pieces, only when the system says there is room.
    Careful,
}

/// A descriptor with what waits to be written there: one of our standard streams, or the way to another host.
#[derive(Debug)]
pub(crate) struct Sink {
    file: File,
    way: Way,
    waiting: Vec<u8>,
    written: usize,
    /// The reader is gone; everything is dropped.
    closed: bool,
    /// Why, when it was not the reader's leaving.
    failure: Option<Errno>,
    /// A rank whose last piece lacks a line end.
    open_line: Option<usize>,
    terminal: bool,
}

impl Sink {
    /// The sink of a standard stream.
    pub(crate) fn new(stream: &(impl AsFd + IsTerminal)) -> io::Result<Self> {
        Self::to(stream, stream.is_terminal())
    }

    /// The sink of something that is no terminal.
    pub(crate) fn plain(stream: &impl AsFd) -> io::Result<Self> {
        Self::to(stream, false)
    }

    fn to(stream: &impl AsFd, terminal: bool) -> io::Result<Self> {
        let file = File::from(stream.as_fd().try_clone_to_owned()?);
        let kind = file.metadata()?.file_type();
        let (file, way) = if kind.is_fifo() || terminal {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
            match OpenOptions::new().write(true).custom_flags(flags).open(path) {
                Ok(own) => (own, Way::Write),
                Err(_) => (file, Way::Careful),
            }
        } else if kind.is_socket() {
            (file, Way::Send)
        } else {
            (file, Way::Write)
        };
        Ok(Self {
            file,
            way,
            waiting: Vec::new(),
            written: 0,
            closed: false,
            failure: None,
            open_line: None,
            terminal,
        })
    }

    /// Whether both lead to the same place, so that one queue has to serve both.
    pub(crate) fn same(a: &impl AsFd, b: &impl AsFd) -> bool {
        let identity = |fd: BorrowedFd<'_>| {
            let found = File::from(fd.try_clone_to_owned().ok()?).metadata().ok()?;
            Some((found.dev(), found.ino(), found.rdev()))
        };
        let (a, b) = (identity(a.as_fd()), identity(b.as_fd()));
        a.is_some() && a == b
    }

    /// Queues text of `rank` (`None`: our own), made by `write`. Call [`Sink::flush`] afterwards.
    pub(crate) fn push(&mut self, rank: Option<usize>, write: impl FnOnce(&mut Vec<u8>)) {
        if self.closed {
            return;
        }
        if self.open_line.is_some() && self.open_line != rank {
            self.waiting.push(b'\n');
        }
        write(&mut self.waiting);
        self.open_line = if self.waiting.last().is_none_or(|&byte| byte == b'\n') { None } else { rank };
    }

    /// Writes as much as goes without waiting.
    pub(crate) fn flush(&mut self) {
        while self.written < self.waiting.len() && !self.closed {
            match self.write_some() {
                Ok(count) => self.written += count,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                Err(why) => {
                    self.closed = true;
                    self.failure = (why != Errno::EPIPE).then_some(why);
                }
            }
        }
        if self.closed || self.written == self.waiting.len() {
            self.waiting.clear();
            self.written = 0;
            self.waiting.shrink_to(2 * ENOUGH);
        } else if self.written > ENOUGH {
            self.waiting.drain(..self.written);
            self.written = 0;
        }
    }

    fn write_some(&mut self) -> Result<usize, Errno> {
        let rest = &self.waiting[self.written..];
        let plain = |mut file: &File, bytes: &[u8]| {
            file.write(bytes).map_err(|why| Errno::from_raw(why.raw_os_error().unwrap_or(nix::libc::EIO)))
        };
        match self.way {
            Way::Write => plain(&self.file, rest),
            Way::Send => send(self.file.as_raw_fd(), rest, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL),
            Way::Careful => {
                use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
                let mut room = [PollFd::new(self.file.as_fd(), PollFlags::POLLOUT)];
                if poll(&mut room, PollTimeout::ZERO)? == 0 {
                    return Err(Errno::EAGAIN);
                }
                plain(&self.file, &rest[..rest.len().min(4096)])
            }
        }
    }

    /// Whether bytes wait for room.
    pub(crate) fn is_waiting(&self) -> bool {
        self.written < self.waiting.len()
    }

    /// Whether so many bytes wait that no more should come.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() - self.written > ENOUGH
    }

    /// Whether the reader is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// What made writing impossible, when it was not that the reader has left.
    pub(crate) fn failure(&self) -> Option<Errno> {
        self.failure
    }

    /// Whether it is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Drops what waits.
    pub(crate) fn give_up(&mut self) {
        self.closed = true;
        self.waiting.clear();
        self.written = 0;
    }
}

impl AsFd for Sink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn collect(pieces: &[&str], at_once: bool) -> Vec<(String, bool)> {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        let mut on =
            |text: &[u8], continues: bool| seen.push((String::from_utf8_lossy(text).into_owned(), continues));
        for piece in pieces {
            lines.push(piece.as_bytes(), at_once, &mut on);
        }
        lines.flush(&mut on);
        seen
    }

    #[test]
    fn lines_are_handed_on_whole() {
        let seen = collect(&["on", "e\ntwo\nth", "ree", "\n", "rest"], false);
        let whole = |text: &str| (text.to_string(), false);
        assert_eq!(seen, [whole("one\ntwo\n"), whole("three\n"), whole("rest")]);
    }

    #[test]
    fn pieces_are_handed_on_at_once_when_asked() {
        let seen = collect(&["a", "b\n", "c\n"], true);
        assert_eq!(seen, [("a".to_string(), false), ("b\n".to_string(), true), ("c\n".to_string(), false)]);
    }

    #[test]
    fn an_endless_line_is_cut() {
        let mut lines = Lines::default();
        let mut count = 0;
        for _ in 0..100 {
            lines.push(&[b'x'; 1 << 16], false, |text, _| count += text.len());
        }
        assert!(count > LONGEST_LINE && lines.partial.len() <= LONGEST_LINE);
    }

    #[test]
    fn a_full_pipe_keeps_what_does_not_fit() {
        let (mut end, start) = io::pipe().unwrap();
        let start = File::from(std::os::fd::OwnedFd::from(start));
        let mut sink = Sink::new(&start).unwrap();
        drop(start);
        sink.push(Some(0), |out| out.extend((0..3_000_000u32).map(|n| n as u8)));
        sink.flush();
        assert!(sink.is_waiting() && sink.is_full() && !sink.is_closed());
        let mut seen = Vec::new();
        let mut piece = vec![0; 100_000];
        while sink.is_waiting() {
            let count = end.read(&mut piece).unwrap();
            seen.extend_from_slice(&piece[..count]);
            sink.flush();
        }
        drop(sink);
        end.read_to_end(&mut seen).unwrap();
        assert!(seen.iter().copied().eq((0..3_000_000u32).map(|n| n as u8)));
    }

    #[test]
    fn a_line_left_open_is_ended_before_another_rank_writes() {
        let (mut end, start) = io::pipe().unwrap();
        let start = File::from(std::os::fd::OwnedFd::from(start));
        let mut sink = Sink::new(&start).unwrap();
        drop(start);
        for (rank, text) in [(0, "a"), (0, "b"), (1, "c\n"), (0, "d\n")] {
            sink.push(Some(rank), |out| out.extend_from_slice(text.as_bytes()));
        }
        sink.flush();
        drop(sink);
        let mut seen = String::new();
        end.read_to_string(&mut seen).unwrap();
        assert_eq!(seen, "ab\nc\nd\n");
    }

    #[test]
    fn a_reader_that_left_closes_the_sink() {
        let (end, start) = io::pipe().unwrap();
        let start = File::from(std::os::fd::OwnedFd::from(start));
        let mut sink = Sink::new(&start).unwrap();
        drop((end, start));
        sink.push(None, |out| out.push(b'x'));
        sink.flush();
        assert!(sink.is_closed() && !sink.is_waiting());
    }
}
