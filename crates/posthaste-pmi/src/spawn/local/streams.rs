//! The ranks' output on its way up, and input on its way to rank 0.
//!
//! Called by `local`; calls `output` and `input`. What must stay true: a descriptor is taken out of the epoll
//! before it is closed (a child that has not executed its program yet still shares it); while a stream is not to be
//! read, none of its pipes is.

use super::{Local, Rank, Token};
use crate::spawn::input::{Fed, Feed};
use crate::spawn::output::Stream;
use crate::spawn::talk::Report;
use nix::sys::epoll::{EpollEvent, EpollFlags};
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// How long an incomplete line waits before a terminal shows it (a prompt, say).
const PROMPT: Duration = Duration::from_millis(100);

impl Local {
    pub(super) fn read_output(&mut self, rank: usize, stream: Stream) {
        if self.paused[stream as usize] {
            return;
        }
        let Some(pipe) = &mut self.ranks[rank].outputs[stream as usize].pipe else { return };
        match pipe.read(&mut self.scratch) {
            Ok(0) => self.close_output(rank, stream),
            Ok(count) => self.take_output(rank, stream, count),
            Err(why) if matches!(why.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(_) => self.close_output(rank, stream),
        }
    }

    /// Reports the first `count` bytes of the scratch memory.
    fn take_output(&mut self, rank: usize, stream: Stream, count: usize) {
        let Self { ranks, told, scratch, .. } = self;
        let Rank { number: rank, outputs, .. } = &mut ranks[rank];
        let lines = &mut outputs[stream as usize].lines;
        lines.push(&scratch[..count], self.at_once, |text, continues| {
            told.push_back(Report::Output { rank: *rank, stream, continues, text: text.to_vec() });
        });
        if lines.is_partial() && self.prompts[stream as usize] && self.prompt.is_none() {
            self.prompt = Some(Instant::now() + PROMPT);
        }
    }

    pub(super) fn flush_lines(&mut self, rank: usize, stream: Stream) {
        let Self { ranks, told, .. } = self;
        let Rank { number: rank, outputs, .. } = &mut ranks[rank];
        outputs[stream as usize].lines.flush(|text, continues| {
            told.push_back(Report::Output { rank: *rank, stream, continues, text: text.to_vec() });
        });
    }

    pub(super) fn close_output(&mut self, rank: usize, stream: Stream) {
        if let Some(pipe) = self.ranks[rank].outputs[stream as usize].pipe.take() {
            let _ = self.epoll.delete(&pipe);
        }
        self.flush_lines(rank, stream);
    }

    /// Reads what is in the pipes, and closes them.
    pub(super) fn close_outputs(&mut self) {
        for rank in 0..self.ranks.len() {
            for stream in [Stream::Out, Stream::Err] {
                // Processes that escaped may go on writing; a pipe's worth is what they get.
                for _ in 0..32 {
                    let Some(pipe) = &mut self.ranks[rank].outputs[stream as usize].pipe else { break };
                    match pipe.read(&mut self.scratch) {
                        Ok(count) if count > 0 => self.take_output(rank, stream, count),
                        Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                        _ => break,
                    }
                }
                self.close_output(rank, stream);
            }
        }
    }

    /// Stops reading a stream of the ranks, or goes on with it.
    pub(super) fn pause(&mut self, stream: Stream, stop: bool) {
        if std::mem::replace(&mut self.paused[stream as usize], stop) == stop {
            return;
        }
        for (rank, state) in self.ranks.iter().enumerate() {
            let Some(pipe) = &state.outputs[stream as usize].pipe else { continue };
            // Not even a hang-up is to wake us while we cannot take the bytes before it.
            let _ = if stop {
                self.epoll.delete(pipe)
            } else {
                let token = Token::Output(rank, stream).emit();
                self.epoll.add(pipe, EpollEvent::new(EpollFlags::EPOLLIN, token))
            };
        }
    }

    /// Lets something happen to the input of rank 0, if that is here and gets it from us.
    pub(super) fn feed(&mut self, act: impl FnOnce(&mut Feed) -> Fed) {
        let Some(feed) = &mut self.feed else { return };
        // Before `act`, which may close the pipe.
        if let Some(pipe) = feed.pipe() {
            let _ = self.epoll.delete(pipe);
        }
        match act(feed) {
            Fed::All => self.tell(Report::InputTaken),
            Fed::Waits => {
                if let Some(pipe) = feed.pipe() {
                    let _ = self.epoll.add(pipe, EpollEvent::new(EpollFlags::EPOLLOUT, Token::Feed.emit()));
                }
            }
            Fed::Closed => {
                self.feed = None;
                self.tell(Report::InputClosed);
            }
        }
    }
}
