//! Messages from one rank to another: the blocking calls.
//!
//! MPI-5.0 §3.2 (send, receive), §3.8 (probe), §3.11 (send-receive). The nonblocking calls are in `scope`.
//!
//! What must stay true: a call returns only when its buffers are the caller's again.

use posthaste_core::buffer::Equivalence;
use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::request;
use posthaste_core::slice::{RecvBuf, SendBuf};
use posthaste_core::wire::Mode;

use crate::argument::{Destination, Source, Status, Tag};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::strided::{Strided, StridedMut};

impl Communicator<'_> {
    /// Sends a slice to rank `to` (`MPI_Send`).
    ///
    /// Returns when `data` may be changed again. A short message may be on its way then; a long one waits for
    /// its receive to begin. `tag` goes with the message, from 0 to [`TAG_MAX`](crate::TAG_MAX).
    ///
    /// # Errors
    /// A rank or a tag that does not exist; a receiver that has ended.
    ///
    /// ```no_run
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// if world.rank() == 0 {
    ///     world.send(&[1.5, 2.5, 3.5], 1, 7)?;
    /// } else if world.rank() == 1 {
    ///     let mut values = [0.0; 3];
    ///     let status = world.receive(&mut values, 0, 7)?;
    ///     assert_eq!(status.count::<f64>(), Some(3));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn send<T: Equivalence>(&self, data: &[T], to: impl Into<Destination>, tag: i32) -> Result<()> {
        self.send_segment("send", SendBuf::new(data), to.into(), tag, Mode::Standard)
    }

    /// Sends one value; the receiver sees a message of one element.
    ///
    /// # Errors
    /// As [`Communicator::send`].
    #[inline]
    pub fn send_one<T: Equivalence>(&self, value: T, to: impl Into<Destination>, tag: i32) -> Result<()> {
        let data = [value];
        self.send_segment("send_one", SendBuf::new(&data), to.into(), tag, Mode::Standard)
    }

    /// Sends a slice and returns when the receive has begun (`MPI_Ssend`, MPI-5.0 §3.4).
    ///
    /// # Errors
    /// As [`Communicator::send`].
    pub fn send_synchronous<T: Equivalence>(
        &self,
        data: &[T],
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<()> {
        self.send_segment("send_synchronous", SendBuf::new(data), to.into(), tag, Mode::Synchronous)
    }

    /// Sends evenly spaced elements, such as a column.
    ///
    /// # Errors
    /// As [`Communicator::send`].
    pub fn send_strided<T: Equivalence>(
        &self,
        data: Strided<'_, T>,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<()> {
        self.send_segment("send_strided", data.elements(), to.into(), tag, Mode::Standard)
    }

    /// Receives a message into a slice (`MPI_Recv`): from rank `from` with tag `tag`, either of which may be
    /// [`ANY`](crate::ANY). A message may be shorter than `buffer`; the rest of the buffer stays as it is. Elements
    /// are received as what they were sent as: both sides name the same type.
    ///
    /// # Errors
    /// A rank or a tag that does not exist. A message longer than `buffer` ([`ErrorClass::Truncate`]): the buffer
    /// is filled then and the rest of the message is lost.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::ANY;
    /// world.send(&[1u8, 2], 0, 5)?; // short enough to wait at the receiver, which is this rank
    /// let mut buffer = [0u8; 4];
    /// let status = world.receive(&mut buffer, ANY, ANY)?;
    /// assert_eq!((buffer, status.source(), status.tag()), ([1, 2, 0, 0], 0, 5));
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn receive<T: Equivalence>(
        &self,
        buffer: &mut [T],
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Status> {
        self.receive_segment("receive", RecvBuf::new(buffer), from.into(), tag.into())
    }

    /// Receives a message of exactly one element.
    ///
    /// # Errors
    /// As [`Communicator::receive`]; also when the message is shorter ([`ErrorClass::Count`]).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// world.send_one(42, 0, 0)?;
    /// let (answer, _) = world.receive_one::<i32>(0, 0)?;
    /// assert_eq!(answer, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn receive_one<T: Equivalence + Default>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(T, Status)> {
        const CALL: &str = "receive_one";
        let mut buffer = [T::default()];
        let status = self.receive_segment(CALL, RecvBuf::new(&mut buffer), from.into(), tag.into())?;
        if status.bytes() != size_of::<T>() as u64 && !status.is_from_nobody() {
            return self.named(CALL, Err(not_one::<T>(status.bytes())));
        }
        Ok((buffer[0], status))
    }

    /// Receives a message of any length.
    ///
    /// # Errors
    /// As [`Communicator::receive`], except that nothing is ever too long; when the message is no whole number of
    /// elements ([`ErrorClass::Type`]), and when there is no memory for it.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// world.send(b"hello", 0, 0)?;
    /// let (text, _) = world.receive_vec::<u8>(0, 0)?;
    /// assert_eq!(text, b"hello");
    /// # Ok(())
    /// # }
    /// ```
    pub fn receive_vec<T: Equivalence + Default>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(Vec<T>, Status)> {
        let received = self.receive_any_length(from.into(), tag.into());
        self.named("receive_vec", received)
    }

    /// Receives evenly spaced elements, such as a column.
    ///
    /// # Errors
    /// As [`Communicator::receive`].
    pub fn receive_strided<T: Equivalence>(
        &self,
        buffer: StridedMut<'_, T>,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Status> {
        self.receive_segment("receive_strided", buffer.elements(), from.into(), tag.into())
    }

    /// Sends one message and receives another at the same time (`MPI_Sendrecv`): ranks that exchange cannot block
    /// each other. The lengths may differ, and so may the ranks.
    ///
    /// # Errors
    /// As [`Communicator::send`] and [`Communicator::receive`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// // Everybody hands its rank to the next.
    /// let world = universe.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mut left = [0];
    /// world.send_receive(&[rank], (rank + 1) % size, 0, &mut left, (rank + size - 1) % size, 0)?;
    /// assert_eq!(left[0], (rank + size - 1) % size);
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_receive<T: Equivalence>(
        &self,
        data: &[T],
        to: impl Into<Destination>,
        send_tag: i32,
        buffer: &mut [T],
        from: impl Into<Source>,
        receive_tag: impl Into<Tag>,
    ) -> Result<Status> {
        let (to, from, tag) = (to.into(), from.into(), receive_tag.into());
        let exchanged = self.exchange(SendBuf::new(data), to, send_tag, RecvBuf::new(buffer), from, tag);
        self.named("send_receive", exchanged)
    }

    /// Waits until a message could be received, and says which (`MPI_Probe`). The message stays where it is.
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    pub fn probe(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Result<Status> {
        let (from, tag) = self.named("probe", self.pattern(from.into(), tag.into()))?;
        let status = self.engine().probe(self.core(), from, tag);
        self.named("probe", status.map(|status| Status::of(&status)))
    }

    /// Says which message could be received now, if any (`MPI_Iprobe`). The message stays where it is.
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    pub fn probe_now(&self, from: impl Into<Source>, tag: impl Into<Tag>) -> Result<Option<Status>> {
        let (from, tag) = self.named("probe_now", self.pattern(from.into(), tag.into()))?;
        let status = self.engine().iprobe(self.core(), from, tag);
        self.named("probe_now", status.map(|status| status.map(|status| Status::of(&status))))
    }

    /// What a receive looks for, as core spells it.
    #[inline]
    pub(crate) fn pattern(&self, from: Source, tag: Tag) -> Checked<(i32, i32)> {
        Ok((from.number(self.core().size())?, tag.number()?))
    }

    #[inline]
    fn send_segment(
        &self,
        call: &'static str,
        data: SendBuf<'_>,
        to: Destination,
        tag: i32,
        mode: Mode,
    ) -> Result<()> {
        let to = self.named(call, to.number(self.core().size()))?;
        self.named(call, self.engine().send_slice(self.core(), to, tag, data, mode))
    }

    #[inline]
    fn receive_segment(
        &self,
        call: &'static str,
        buffer: RecvBuf<'_>,
        from: Source,
        tag: Tag,
    ) -> Result<Status> {
        let (from, tag) = self.named(call, self.pattern(from, tag))?;
        let status = self.engine().recv_slice(self.core(), from, tag, buffer);
        self.named(call, status.and_then(outcome))
    }

    fn receive_any_length<T: Equivalence + Default>(
        &self,
        from: Source,
        tag: Tag,
    ) -> Checked<(Vec<T>, Status)> {
        let (from, tag) = self.pattern(from, tag)?;
        let mut message = self.engine().mprobe(self.core(), from, tag)?;
        let bytes = message.as_ref().map_or(0, |message| message.envelope.len);
        // With no memory the message is still taken, into no room at all: its sender must not wait for ever.
        let (mut buffer, no_memory) = match room::<T>(bytes) {
            Ok(buffer) => (buffer, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let status = self.engine().mrecv_slice(&mut message, RecvBuf::new(&mut buffer))?;
        no_memory.map_or(Ok(()), Err)?;
        let status = outcome(status)?;
        whole::<T>(bytes)?;
        Ok((buffer, status))
    }

    fn exchange(
        &self,
        outgoing: SendBuf<'_>,
        to: Destination,
        send_tag: i32,
        incoming: RecvBuf<'_>,
        from: Source,
        tag: Tag,
    ) -> Checked<Status> {
        let (from, tag) = self.pattern(from, tag)?;
        let to = to.number(self.core().size())?;
        outcome(self.engine().exchange_slices(
            self.core(),
            (outgoing, to, send_tag),
            (incoming, from, tag),
        )?)
    }
}

/// What a finished transfer says: its error, if it has one.
#[inline]
pub(crate) fn outcome(status: request::Status) -> Checked<Status> {
    match status.error {
        None => Ok(Status::of(&status)),
        Some(cause) => Err(cause),
    }
}

/// Room for a message of so many bytes.
pub(crate) fn room<T: Equivalence + Default>(bytes: u64) -> Checked<Vec<T>> {
    let count = usize::try_from(bytes.div_ceil(size_of::<T>() as u64)).unwrap_or(usize::MAX);
    let mut buffer = Vec::new();
    let reserved = buffer.try_reserve_exact(count);
    reserved.map_err(|_| {
        Cause::no_memory(format!("a message of {bytes} bytes needs more memory than there is"))
    })?;
    buffer.resize(count, T::default());
    Ok(buffer)
}

/// Checks that a message of so many bytes is a whole number of elements.
pub(crate) fn whole<T>(bytes: u64) -> Checked<()> {
    let size = size_of::<T>() as u64;
    if bytes.is_multiple_of(size) {
        return Ok(());
    }
    let expected = format_args!("a multiple of {size}, the size of {}", std::any::type_name::<T>());
    Err(Cause::invalid(ErrorClass::Type, "the message's length in bytes", bytes, expected))
}

#[cold]
fn not_one<T>(bytes: u64) -> Cause {
    let expected = format_args!("{}, one {}", size_of::<T>(), std::any::type_name::<T>());
    Cause::invalid(ErrorClass::Count, "the message's length in bytes", bytes, expected)
}
