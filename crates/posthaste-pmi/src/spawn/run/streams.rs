//! The ranks' output on its way to our streams, and a terminal's keys on their way to rank 0.
//!
//! Called by the loop; calls `output` and `input`. What must stay true: a descriptor is taken out of the epoll
//! before it is closed (a child that has not executed its program yet still shares it); while a sink is full, none
//! of its sources is read.

use super::{Run, Token};
use crate::spawn::input::{Forward, Next};
use crate::spawn::output::Stream;
use nix::sys::epoll::{EpollEvent, EpollFlags};
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// How long an incomplete line waits before a terminal shows it (a prompt, say).
const PROMPT: Duration = Duration::from_millis(100);
/// How often a background job asks whether it may read the terminal again.
const RETRY: Duration = Duration::from_millis(300);

impl Run<'_> {
    pub(super) fn sink_of(&self, stream: Stream) -> usize {
        (stream as usize).min(self.sinks.len() - 1)
    }

    pub(super) fn read_output(&mut self, rank: usize, stream: Stream) {
        let sink = self.sink_of(stream);
        if self.paused[sink] {
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

    /// Moves the first `count` bytes of the scratch memory to the sink.
    fn take_output(&mut self, rank: usize, stream: Stream, count: usize) {
        let sink = self.sink_of(stream);
        let lines = &mut self.ranks[rank].outputs[stream as usize].lines;
        let (sink, hooks) = (&mut self.sinks[sink], &mut self.hooks);
        lines.push(&self.scratch[..count], self.at_once, |text, continues| {
            sink.push(Some(rank), |out| hooks.output(rank, stream, text, continues, out));
        });
        if lines.is_partial() && sink.is_terminal() && self.prompt.is_none() {
            self.prompt = Some(Instant::now() + PROMPT);
        }
        if sink.is_full() {
            sink.flush();
        }
    }

    pub(super) fn flush_lines(&mut self, rank: usize, stream: Stream) {
        let sink = self.sink_of(stream);
        let (sink, hooks) = (&mut self.sinks[sink], &mut self.hooks);
        self.ranks[rank].outputs[stream as usize].lines.flush(|text, continues| {
            sink.push(Some(rank), |out| hooks.output(rank, stream, text, continues, out));
        });
    }

    fn close_output(&mut self, rank: usize, stream: Stream) {
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

    /// Writes what goes, and adapts what is watched to what does not.
    pub(super) fn move_output(&mut self) {
        for index in 0..self.sinks.len() {
            self.sinks[index].flush();
            let sink = &self.sinks[index];
            let (waits, full, closed) = (sink.is_waiting(), sink.is_full(), sink.is_closed());
            if waits != self.watched[index] {
                let event = EpollEvent::new(EpollFlags::EPOLLOUT, Token::Sink(index).emit());
                let changed = if waits { self.epoll.add(sink, event) } else { self.epoll.delete(sink) };
                self.watched[index] = waits && changed.is_ok();
            }
            if closed {
                // The ranks' next write fails, as it would if they wrote there themselves.
                for stream in self.streams_into(index) {
                    for rank in 0..self.ranks.len() {
                        self.close_output(rank, stream);
                    }
                }
            } else if full != self.paused[index] {
                self.pause(index, full);
            }
        }
    }

    fn streams_into(&self, sink: usize) -> Vec<Stream> {
        [Stream::Out, Stream::Err].into_iter().filter(|&stream| self.sink_of(stream) == sink).collect()
    }

    /// Stops reading what goes to a sink, or goes on with it.
    fn pause(&mut self, sink: usize, full: bool) {
        self.paused[sink] = full;
        for stream in self.streams_into(sink) {
            for (rank, state) in self.ranks.iter().enumerate() {
                let Some(pipe) = &state.outputs[stream as usize].pipe else { continue };
                // Not even a hang-up is to wake us while we cannot take the bytes before it.
                let _ = if full {
                    self.epoll.delete(pipe)
                } else {
                    let token = Token::Output(rank, stream).emit();
                    self.epoll.add(pipe, EpollEvent::new(EpollFlags::EPOLLIN, token))
                };
            }
        }
    }

    pub(super) fn input_event(&mut self, act: impl FnOnce(&mut Forward) -> Next) {
        if self.input.is_some() {
            // Before `act`, which may close the pipe.
            let watched = self.watching_input;
            self.unwatch_input(watched);
            if let Some(input) = &mut self.input {
                let next = act(input);
                self.watch_input(next);
            }
        }
    }

    fn unwatch_input(&mut self, watched: Next) {
        let Some(input) = &self.input else { return };
        let _ = match (watched, input.pipe()) {
            (Next::Terminal, _) => self.epoll.delete(input.terminal()),
            (Next::Pipe, Some(pipe)) => self.epoll.delete(pipe),
            _ => Ok(()),
        };
        self.watching_input = Next::Nothing;
    }

    pub(super) fn watch_input(&mut self, next: Next) {
        self.unwatch_input(self.watching_input);
        let Some(input) = &self.input else { return };
        let _ = match (next, input.pipe()) {
            (Next::Terminal, _) => {
                self.epoll.add(input.terminal(), EpollEvent::new(EpollFlags::EPOLLIN, Token::Terminal.emit()))
            }
            (Next::Pipe, Some(pipe)) => {
                self.epoll.add(pipe, EpollEvent::new(EpollFlags::EPOLLOUT, Token::TerminalPipe.emit()))
            }
            _ => Ok(()),
        };
        self.retry = (next == Next::Later).then(|| Instant::now() + RETRY);
        self.watching_input = next;
    }
}
