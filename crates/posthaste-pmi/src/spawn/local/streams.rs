//! The ranks' output on its way up, and input on its way to them.
//!
//! What must stay true: a descriptor is taken out of the epoll before it is closed (a child that has not executed its
//! program yet still shares it); while a stream is not to be read, none of its pipes is.

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
            Ok(count) => {
                if stream == Stream::Err && self.ranks[rank].missing.is_none() {
                    self.ranks[rank].missing = missing_library(&self.scratch[..count]);
                }
                self.take_output(rank, stream, count);
            }
            Err(why) if matches!(why.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(_) => self.close_output(rank, stream),
        }
    }

    /// Reports the first `count` bytes of the scratch memory.
    fn take_output(&mut self, rank: usize, stream: Stream, count: usize) {
        let Self { ranks, queued, scratch, .. } = self;
        let Rank { number: rank, outputs, .. } = &mut ranks[rank];
        let lines = &mut outputs[stream as usize].lines;
        lines.push(&scratch[..count], self.at_once, |text, continues| {
            queued.push_back(Report::Output { rank: *rank, stream, continues, text: text.to_vec() });
        });
        if lines.is_partial() && self.prompts[stream as usize] && self.prompt.is_none() {
            self.prompt = Some(Instant::now() + PROMPT);
        }
    }

    pub(super) fn flush_lines(&mut self, rank: usize, stream: Stream) {
        let Self { ranks, queued, .. } = self;
        let Rank { number: rank, outputs, .. } = &mut ranks[rank];
        outputs[stream as usize].lines.flush(|text, continues| {
            queued.push_back(Report::Output { rank: *rank, stream, continues, text: text.to_vec() });
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

    /// Lets something happen to every input that is passed on.
    pub(super) fn feed(&mut self, act: impl Fn(&mut Feed) -> Fed) {
        (0..self.feeds.len()).for_each(|index| self.feed_one(index, &act));
        self.report_fed();
    }

    /// There may be room in an input that was full.
    pub(super) fn feed_again(&mut self, index: usize) {
        if index < self.feeds.len() {
            self.feed_one(index, Feed::write);
            self.report_fed();
        }
    }

    fn feed_one(&mut self, index: usize, act: impl FnOnce(&mut Feed) -> Fed) {
        let feed = &mut self.feeds[index];
        // Before `act`, which may close the pipe.
        if let Some(pipe) = feed.pipe() {
            let _ = self.epoll.delete(pipe);
        }
        if act(feed) == Fed::Waits
            && let Some(pipe) = feed.pipe()
        {
            let _ = self.epoll.add(pipe, EpollEvent::new(EpollFlags::EPOLLOUT, Token::Feed(index).emit()));
        }
    }

    /// Reports that all have taken what came, or that nobody will take more. A piece is answered once: the next one comes
    /// only after that.
    fn report_fed(&mut self) {
        if self.feeds.is_empty() || self.feeds.iter().any(Feed::is_waiting) {
            return;
        }
        if self.feeds.iter().all(|feed| feed.pipe().is_none()) {
            self.feeds.clear();
            self.report(Report::InputClosed);
        } else {
            self.report(Report::InputTaken);
        }
    }
}

/// The library of which the loader says here that it has not found it. The sentence comes in one piece, from glibc
/// (`PROGRAM: error while loading shared libraries: NAME: cannot open ...`).
fn missing_library(said: &[u8]) -> Option<String> {
    const LONGEST: usize = 256;
    let words = b": error while loading shared libraries: ";
    let at = said.windows(words.len()).position(|window| window == words)? + words.len();
    let name: Vec<u8> = said[at..].iter().copied().take_while(|byte| !b":\n".contains(byte)).collect();
    (!name.is_empty() && name.len() <= LONGEST).then(|| String::from_utf8_lossy(&name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::missing_library;

    #[test]
    fn the_words_of_the_loader_are_understood() {
        let said = b"./a: error while loading shared libraries: libmpi.so.12: cannot open shared object file: No such\n";
        assert_eq!(missing_library(said).as_deref(), Some("libmpi.so.12"));
        assert_eq!(missing_library(b"error while loading shared libraries: x"), None);
        assert_eq!(missing_library(b"./a: error while loading shared libraries: \n"), None);
        assert_eq!(missing_library(b""), None);
    }
}
