//! Probes: looking for a message before it is received, and taking it out of the queue so that nobody else receives it.
//!
//! MPI-5.0 §3.8.
//!
//! What must stay true: a message that was taken out is received or discarded, so its sender never waits for it in vain.

use std::fmt;

use posthaste_core::buffer::Equivalence;
use posthaste_core::error::{Result as Checked, say};
use posthaste_core::slice::{BufferMut, RecvBuf};
use posthaste_core::world::Matched;

use crate::argument::{Source, Status, Tag};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::point_to_point::{outcome, room, whole};
use crate::scope::{Request, Scope};

/// A message that a matched probe has taken out of the queue (`MPI_Message`): only its owner can receive it.
///
/// A message that is dropped is discarded: its sender goes on as if it had been received.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::ANY;
/// world.send(&[1, 2, 3], 0, 5)?;
/// world.send(&[4, 5, 6], 0, 5)?;
/// let first = world.matched_probe(ANY, 5)?;
/// let mut second = [0; 3];
/// world.receive(&mut second, ANY, 5)?; // not the one that was taken out
/// assert_eq!(first.status().count::<i32>(), Some(3));
/// assert_eq!((first.receive_vec::<i32>()?.0, second), (vec![1, 2, 3], [4, 5, 6]));
/// # Ok(())
/// # }
/// ```
///
/// It is received once:
///
/// ```compile_fail,E0382
/// # let universe = posthaste::init().unwrap();
/// # let world = universe.world();
/// let message = world.matched_probe(0, 0).unwrap();
/// message.receive(&mut [0; 3]).unwrap();
/// message.receive(&mut [0; 3]).unwrap(); // error: use of moved value
/// ```
#[doc(alias = "MPI_Message")]
#[must_use = "a message that is dropped is discarded"]
pub struct Message<'c> {
    communicator: &'c Communicator<'c>,
    /// `None`: from nobody, or received.
    message: Option<Matched>,
}

impl<'u> Communicator<'u> {
    /// Waits until a message could be received, and says which (`MPI_Probe`). The message stays where it is.
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::ANY;
    /// world.send(&[1u16, 2, 3], 0, 9)?;
    /// let status = world.probe(ANY, ANY)?;
    /// assert_eq!((status.tag(), status.count::<u16>()), (9, Some(3)));
    /// # world.receive_vec::<u16>(0, 9)?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Probe")]
    pub fn probe(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Result<Status> {
        let (from, tag) = self.named("probe", self.pattern(from.into(), tag.into()))?;
        let status = self.during("probe", |engine| engine.probe(self.core(), from, tag));
        self.named("probe", status.map(|status| Status::of(&status)))
    }

    /// Says which message could be received now, if any (`MPI_Iprobe`). The message stays where it is.
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// assert!(world.probe_now(0, 0)?.is_none());
    /// world.send_one(1, 0, 0)?;
    /// assert!(world.probe_now(0, 0)?.is_some());
    /// # world.receive_one::<i32>(0, 0)?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Iprobe", alias = "immediate_probe")]
    pub fn probe_now(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Result<Option<Status>> {
        let (from, tag) = self.named("probe_now", self.pattern(from.into(), tag.into()))?;
        let status = self.during("probe_now", |engine| engine.iprobe(self.core(), from, tag));
        self.named("probe_now", status.map(|status| status.map(|status| Status::of(&status))))
    }

    /// Waits until a message could be received, and takes it out of the queue (`MPI_Mprobe`).
    ///
    /// # Errors
    /// A rank or a tag that does not exist; a sender that has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// world.send(b"hello", 0, 0)?;
    /// let message = world.matched_probe(0, 0)?;
    /// assert_eq!(message.status().bytes(), 5);
    /// drop(message); // nobody receives it
    /// assert!(world.probe_now(0, 0)?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Mprobe")]
    pub fn matched_probe(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Result<Message<'_>> {
        const CALL: &str = "matched_probe";
        let (from, tag) = self.named(CALL, self.pattern(from.into(), tag.into()))?;
        let message = self.named(CALL, self.engine().mprobe(self.core(), from, tag))?;
        Ok(Message::new(self, message))
    }

    /// Takes the message out of the queue that could be received now, if any (`MPI_Improbe`).
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// assert!(world.matched_probe_now(0, 0)?.is_none());
    /// world.send_one(4, 0, 0)?;
    /// let message = world.matched_probe_now(0, 0)?.expect("it is there");
    /// assert_eq!(message.receive_vec::<i32>()?.0, [4]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Improbe", alias = "immediate_matched_probe")]
    pub fn matched_probe_now(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Option<Message<'_>>> {
        const CALL: &str = "matched_probe_now";
        let (from, tag) = self.named(CALL, self.pattern(from.into(), tag.into()))?;
        let found = self.named(CALL, self.engine().improbe(self.core(), from, tag))?;
        Ok(found.map(|message| Message::new(self, message)))
    }
}

impl<'c> Message<'c> {
    pub(crate) fn new(communicator: &'c Communicator<'_>, message: Option<Matched>) -> Self {
        Self { communicator, message }
    }

    /// Who sent it, with which tag, and how long it is.
    pub fn status(&self) -> Status {
        Status::of_message(self.message.as_ref())
    }

    /// Receives it (`MPI_Mrecv`).
    ///
    /// # Errors
    /// As [`Communicator::receive`].
    #[doc(alias = "MPI_Mrecv", alias = "matched_receive_into")]
    pub fn receive<B: BufferMut + ?Sized>(mut self, buffer: &mut B) -> Result<Status> {
        let received = self.communicator.engine().mrecv_slice(&mut self.message, buffer.lent_mut());
        self.communicator.named("receive", received.and_then(outcome))
    }

    /// Receives it whatever its length.
    ///
    /// # Errors
    /// As [`Communicator::receive_vec`].
    #[doc(alias = "MPI_Mrecv", alias = "matched_receive_vec")]
    pub fn receive_vec<T: Equivalence>(self) -> Result<(Vec<T>, Status)> {
        self.into_vec("receive_vec")
    }

    pub(crate) fn into_vec<T: Equivalence>(mut self, call: &'static str) -> Result<(Vec<T>, Status)> {
        let received = self.vec();
        self.communicator.named(call, received)
    }

    fn vec<T: Equivalence>(&mut self) -> Checked<(Vec<T>, Status)> {
        let bytes = self.message.as_ref().map_or(0, |message| message.envelope.len);
        // With no memory the message is still taken, into no room at all: its sender must not wait for ever.
        let (mut buffer, no_memory) = match room::<T>(bytes) {
            Ok(buffer) => (buffer, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let engine = self.communicator.engine();
        let status = engine.mrecv_slice(&mut self.message, RecvBuf::new(&mut buffer))?;
        no_memory.map_or(Ok(()), Err)?;
        let status = outcome(status)?;
        whole::<T>(bytes)?;
        Ok((buffer, status))
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts to receive a message that was taken out of the queue (`MPI_Imrecv`).
    ///
    /// # Errors
    /// When there is no memory for another request; the message is lost then, and its sender goes on. [`Message::receive`] needs
    /// none of those that `POSTHASTE_REQUESTS` limits.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// world.send(&[1, 2], 0, 0)?;
    /// let message = world.matched_probe(0, 0)?;
    /// let mut got = [0; 2];
    /// world.scope(|s| s.receive_message(message, &mut got).map(drop))?;
    /// assert_eq!(got, [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Imrecv", alias = "immediate_matched_receive_into")]
    pub fn receive_message(
        &self,
        mut message: Message<'_>,
        buffer: impl Into<RecvBuf<'scope>>,
    ) -> Result<Request<'scope>> {
        const CALL: &str = "receive_message";
        self.started(CALL, self.operations().imrecv(CALL, &mut message.message, buffer.into()))
    }
}

impl Drop for Message<'_> {
    fn drop(&mut self) {
        if let Some(message) = self.message.take()
            && let Err(error) = self.communicator.named("drop", self.communicator.engine().discard(message))
        {
            say(format_args!("{error}"));
        }
    }
}

impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.status();
        match status.source() {
            Some(rank) => {
                write!(f, "Message({} bytes from {rank} with tag {})", status.bytes(), status.tag())
            }
            None => f.write_str("Message(from nobody)"),
        }
    }
}
