//! Messages as they come: a stream, and a receive of one message of any length as a future.
//!
//! A message is looked for as a probe does, taken out of the queue, and received into a vector of its length. MPI-5.0 §3.8.2.
//!
//! What must stay true: between two messages a stream holds none, so whoever stops polling it, or drops it then, loses none.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use posthaste_core::buffer::Equivalence;
use posthaste_core::error::{Error as Cause, Result as Checked};
use posthaste_core::ids::PROC_NULL;
use posthaste_core::request;
use posthaste_core::slice::RecvBuf;
use posthaste_core::world::{Ended, Listener, Owned, Transfer, Unexpected};

use crate::argument::{Source, Status, Tag};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::matched::Message;
use crate::point_to_point::{outcome, room, whole};

const CALL: &str = "incoming";

/// The messages from somebody, one after the other, each in a vector of its length.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use futures::StreamExt;
/// for number in 0..3u32 {
///     world.send(&vec![number; number as usize], 0, 4)?;
/// }
/// // It is a `Stream`, with all that the crate `futures` has for one.
/// let sums = world.incoming::<u32>(posthaste::ANY, 4)?.take(3).map(|message| message.map(|(list, _)| list.iter().sum()));
/// let sums: Vec<posthaste::Result<u32>> = universe.block_on(sums.collect());
/// assert_eq!(sums.into_iter().collect::<posthaste::Result<Vec<_>>>()?, [0, 1, 4]);
/// # Ok(())
/// # }
/// ```
///
/// A stream of messages from nobody is empty; any other goes on for ever, unless the sender is lost: then it tells so and ends.
/// To wait for the next message together with something else, [`Incoming::next`] may be dropped and called again: the
/// message that has begun to arrive is the next one then. A stream that is dropped loses that one, and no other.
pub struct Incoming<'u, T: Equivalence> {
    communicator: Communicator<'u>,
    pattern: (i32, i32),
    listener: Option<Listener>,
    /// A message whose receive could not be started.
    held: Option<Unexpected>,
    receiving: Option<Receiving<'u, T>>,
    over: bool,
}

struct Receiving<'u, T: Equivalence> {
    message: Owned<'u, (Vec<T>, Option<Unexpected>)>,
    bytes: u64,
    no_memory: Option<Cause>,
}

impl<'u> Communicator<'u> {
    /// The messages from rank `from` with tag `tag`, either of which may be [`ANY`](crate::ANY).
    ///
    /// # Errors
    /// A rank or a tag that does not exist. For each message as [`Communicator::receive_vec`]; where that is for lack of memory for
    /// another request, the message stays the next one.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::ANY;
    /// world.send(b"one", 0, 0)?;
    /// world.send(b"and another", 0, 0)?;
    /// let mut messages = world.incoming::<u8>(ANY, 0)?;
    /// universe.block_on(async {
    ///     for expected in ["one", "and another"] {
    ///         let (text, status) = messages.next().await.expect("it goes on")?;
    ///         assert_eq!((text, status.source()), (expected.as_bytes().to_vec(), Some(0)));
    ///     }
    ///     Ok::<(), posthaste::Error>(())
    /// })?;
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    pub fn incoming<T: Equivalence>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Incoming<'u, T>> {
        let pattern = self.named(CALL, self.pattern(from.into(), tag.into()))?;
        Ok(Incoming {
            communicator: self.clone(),
            pattern,
            listener: None,
            held: None,
            receiving: None,
            over: false,
        })
    }

    /// Receives a message of any length, as [`Communicator::receive_vec`] does. Dropped before a message has come, it takes
    /// none.
    ///
    /// # Errors
    /// As [`Communicator::receive_vec`].
    pub async fn receive_vec_async<T: Equivalence>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(Vec<T>, Status)> {
        let message = self.incoming(from, tag)?.next().await;
        let nobody = request::Status { source: PROC_NULL, ..request::Status::EMPTY };
        message.unwrap_or_else(|| Ok((Vec::new(), Status::of(&nobody))))
    }
}

impl<T: Equivalence> Incoming<'_, T> {
    /// The next message; `None` when none can come.
    ///
    /// # Errors
    /// As [`Communicator::receive_vec`].
    pub async fn next(&mut self) -> Option<Result<(Vec<T>, Status)>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    fn begin(&mut self, message: Unexpected) -> Checked<()> {
        let bytes = message.envelope.len;
        // With no memory the message is still taken, into no room at all: its sender must not wait for ever.
        let (buffer, no_memory) = match room::<T>(bytes) {
            Ok(buffer) => (buffer, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let (engine, comm) = (self.communicator.engine(), self.communicator.core());
        let started = engine.start_owned(comm, (buffer, Some(message)), |(buffer, message)| {
            Ok(Transfer::Matched(RecvBuf::new(buffer), message))
        });
        match started {
            Ok(message) => {
                self.receiving = Some(Receiving { message, bytes, no_memory });
                Ok(())
            }
            Err((why, (_, message))) => {
                self.held = message;
                Err(why)
            }
        }
    }
}

impl<T: Equivalence> Drop for Incoming<'_, T> {
    fn drop(&mut self) {
        // Its sender may wait for somebody to receive it.
        if self.held.is_some() {
            drop(Message::new(&self.communicator, self.held.take()));
        }
    }
}

impl<T: Equivalence> Unpin for Incoming<'_, T> {}

impl<T: Equivalence> Stream for Incoming<'_, T> {
    type Item = Result<(Vec<T>, Status)>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let incoming = self.get_mut();
        loop {
            if let Some(receiving) = &mut incoming.receiving {
                let ended = ready!(receiving.message.poll(context.waker()));
                let received = incoming.receiving.take().map(|receiving| receiving.received(ended));
                return Poll::Ready(received.map(|received| incoming.communicator.named(CALL, received)));
            }
            if incoming.over {
                return Poll::Ready(None);
            }
            let Incoming { communicator, pattern, listener, held, over, .. } = incoming;
            let found = match held.take() {
                Some(message) => Ok(Poll::Ready(Some(message))),
                None => {
                    let engine = communicator.engine();
                    engine.poll_message(communicator.core(), *pattern, listener, context.waker())
                }
            };
            let begun = match found {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(Some(message))) => incoming.begin(message),
                Ok(Poll::Ready(None)) => {
                    *over = true;
                    Ok(())
                }
                Err(why) => {
                    *over = true;
                    Err(why)
                }
            };
            if let Err(why) = begun {
                return Poll::Ready(Some(incoming.communicator.named(CALL, Err(why))));
            }
        }
    }
}

impl<T: Equivalence> Receiving<'_, T> {
    fn received(
        self,
        (status, (buffer, _)): Ended<(Vec<T>, Option<Unexpected>)>,
    ) -> Checked<(Vec<T>, Status)> {
        let status = status?;
        self.no_memory.map_or(Ok(()), Err)?;
        let status = outcome(status)?;
        whole::<T>(self.bytes)?;
        Ok((buffer, status))
    }
}

impl<T: Equivalence> fmt::Debug for Incoming<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let receiving = if self.receiving.is_some() { ", one is being received" } else { "" };
        write!(f, "Incoming({:?}{receiving})", self.communicator)
    }
}
