//! The ranks' output on its way to our streams, and our input on its way to rank 0.
//!
//! What must stay true: while a sink is full, the ranks whose output goes there are not read.

use super::Console;
use crate::spawn::input::{Piece, Source};
use crate::spawn::output::{Sink, Stream};
use crate::spawn::run::Token;
use crate::spawn::talk::Order;
use nix::errno::Errno;
use nix::sys::epoll::{EpollEvent, EpollFlags};
use std::io;
use std::time::{Duration, Instant};

/// How often a background job asks whether it may read the terminal again.
const RETRY: Duration = Duration::from_millis(300);

/// Our standard streams: one sink when both lead to the same place, else two.
pub(super) fn sinks() -> io::Result<Vec<Sink>> {
    let (out, err) = (io::stdout(), io::stderr());
    let mut sinks = vec![Sink::new(&out)?];
    if !Sink::same(&out, &err) {
        sinks.push(Sink::new(&err)?);
    }
    Ok(sinks)
}

fn place(sinks: &[Sink], stream: Stream) -> usize {
    (stream as usize).min(sinks.len() - 1)
}

/// The sink of a stream.
pub(super) fn of(sinks: &[Sink], stream: Stream) -> &Sink {
    &sinks[place(sinks, stream)]
}

/// The sink of a stream.
pub(super) fn of_mut(sinks: &mut [Sink], stream: Stream) -> &mut Sink {
    let place = place(sinks, stream);
    &mut sinks[place]
}

impl Console<'_> {
    pub(super) fn take_output(&mut self, rank: u32, stream: Stream, continues: bool, text: &[u8]) {
        let Self { sinks, hooks, .. } = self;
        let rank = rank as usize;
        let sink = of_mut(sinks, stream);
        sink.push(Some(rank), |out| hooks.output(rank, stream, text, continues, out));
        if sink.is_full() {
            sink.flush();
        }
    }

    /// Writes what goes, and adapts what is watched and read to what does not.
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
            if closed && !self.closed[index] {
                self.closed[index] = true;
                // The ranks' next write fails, as it would if they wrote there themselves.
                self.order_for(index, Order::Close);
            } else if full != self.paused[index] && !closed {
                self.paused[index] = full;
                self.order_for(index, |stream| Order::Read { stream, on: !full });
            }
        }
    }

    /// Orders something for every stream that goes into a sink.
    fn order_for(&mut self, sink: usize, order: impl Fn(Stream) -> Order) {
        let streams = [Stream::Out, Stream::Err].into_iter();
        let streams = streams.filter(|&stream| place(&self.sinks, stream) == sink);
        self.orders.extend(streams.map(order));
    }

    /// From now on passes on what comes from `source`.
    pub(crate) fn read_from(&mut self, source: Source) {
        self.source = Some(source);
        self.watch_source();
    }

    /// Waits for the next piece of input.
    pub(super) fn watch_source(&mut self) {
        self.retry = None;
        let Some(source) = &self.source else { return };
        let event = EpollEvent::new(EpollFlags::EPOLLIN, Token::Source.emit());
        // A file cannot be waited for: it is there.
        if self.epoll.add(source, event) == Err(Errno::EPERM) {
            self.read_source();
        }
    }

    pub(super) fn read_source(&mut self) {
        let Some(source) = &mut self.source else { return };
        let piece = source.read();
        match piece {
            Piece::None => return,
            // The next piece is read when this one has been taken.
            _ => drop(self.epoll.delete(&*source)),
        }
        match piece {
            Piece::Bytes(bytes) => {
                if bytes.is_empty() {
                    self.source = None;
                }
                self.orders.push_back(Order::Input(bytes));
            }
            Piece::Later => self.retry = Some(Instant::now() + RETRY),
            Piece::None => {}
        }
    }

    pub(super) fn close_source(&mut self) {
        if let Some(source) = self.source.take() {
            let _ = self.epoll.delete(&source);
        }
        self.retry = None;
    }
}
