//! Frames between two roots that trust each other: a length, and so many bytes.
//!
//! What must stay true: nothing blocks; memory grows with what has come, not with what a length promises.

use std::io;

use posthaste_os::mem::{Sink, Source};
use posthaste_os::socket::{Set, Stream};

/// Longest frame: a million members with their cards.
const MOST: usize = 1 << 30;
/// Bytes read at once.
const PIECE: usize = 64 << 10;

/// The connection of two roots.
#[derive(Debug)]
pub struct Line {
    stream: Stream,
    out: Vec<u8>,
    sent: usize,
    input: Vec<u8>,
}

impl Line {
    /// Over a connection that is nobody else's.
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, out: Vec::new(), sent: 0, input: Vec::new() }
    }

    /// Bytes without a frame around them.
    pub(super) fn say(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Begins to send a frame.
    pub fn send(&mut self, frame: &[u8]) {
        self.out.extend_from_slice(&(frame.len() as u32).to_le_bytes());
        self.out.extend_from_slice(frame);
    }

    /// Adds it to what a sleeper waits for.
    ///
    /// # Errors
    /// What the system says.
    pub fn watch_in(&self, set: &Set) -> io::Result<()> {
        set.add(&self.stream, 0, !self.is_flushed())
    }

    /// A sleeper that waits for it wakes when there is room for what has not left.
    pub fn watch_for_room(&self, set: &Set) {
        // A set without it is looked at all the same, only later.
        let _ = set.change(&self.stream, 0, !self.is_flushed());
    }

    /// The same with a token, in a set that has it.
    pub(super) fn watch_as(&self, token: u64, set: &Set) -> io::Result<()> {
        set.change(&self.stream, token, !self.is_flushed())
    }

    pub(super) fn is_flushed(&self) -> bool {
        self.sent == self.out.len()
    }

    /// Writes what there is room for.
    ///
    /// # Errors
    /// What became of the connection.
    pub fn flush(&mut self) -> io::Result<()> {
        while self.sent < self.out.len() {
            match self.stream.write(&[Source::from(&self.out[self.sent..])])? {
                Some(n) => self.sent += n,
                None => return Ok(()),
            }
        }
        (self.out, self.sent) = (Vec::new(), 0);
        Ok(())
    }

    /// The next `n` bytes, once they are there; nothing behind them is read.
    ///
    /// # Errors
    /// What became of the connection.
    pub(super) fn take(&mut self, n: usize) -> io::Result<Option<Vec<u8>>> {
        while self.input.len() < n {
            let from = self.input.len();
            self.input.resize(n.min(from + PIECE), 0);
            let read = self.stream.read_one(&mut Sink::from(&mut self.input[from..]));
            self.input.truncate(from + read.as_ref().map_or(0, |n| n.unwrap_or(0)));
            match read? {
                None => return Ok(None),
                Some(0) => return Err(io::Error::other("it closed the connection")),
                Some(_) => {}
            }
        }
        Ok(Some(self.input.drain(..n).collect()))
    }

    /// Takes one step, and the next frame if it is there.
    ///
    /// # Errors
    /// What became of the connection; a frame that is too long.
    pub fn step(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.step_within(MOST)
    }

    /// The same for frames of at most so many bytes.
    pub(super) fn step_within(&mut self, most: usize) -> io::Result<Option<Vec<u8>>> {
        self.flush()?;
        let Some(front) = self.peek(4)? else { return Ok(None) };
        let len = u32::from_le_bytes(front) as usize;
        if len > most {
            return Err(io::Error::other(format!("it announces {len} bytes")));
        }
        let Some(mut frame) = self.take(4 + len)? else { return Ok(None) };
        frame.drain(..4);
        Ok(Some(frame))
    }

    fn peek(&mut self, n: usize) -> io::Result<Option<[u8; 4]>> {
        if self.input.len() < n
            && let Some(bytes) = self.take(n)?
        {
            self.input = bytes;
        }
        Ok(self.input.first_chunk().copied())
    }
}
