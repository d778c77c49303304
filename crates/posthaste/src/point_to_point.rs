//! Messages from one rank to another: the blocking calls.
//!
//! MPI-5.0 §3.2 (send, receive), §3.4 (modes), §3.11 (send-receive). Probes are in `matched`, the nonblocking calls in `scope`.
//!
//! What must stay true: a call returns only when its buffers are the caller's again.

use posthaste_core::buffer::{Equivalence, packed_size, zeroed};
use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::request;
use posthaste_core::slice::{Buffer, BufferMut, RecvBuf, SendBuf};
use posthaste_core::wire::Mode;

use crate::argument::{Destination, Source, Status, Tag};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::matched::Message;

impl Communicator<'_> {
    /// Sends a slice, one element or a view ([`Buffer`]) to rank `to` (`MPI_Send`).
    ///
    /// Returns when `data` may be changed again. A short message may be on its way then; a long one waits for
    /// its receive to begin. `tag` goes with the message, from 0 to [`TAG_MAX`](crate::TAG_MAX).
    ///
    /// # Errors
    /// A rank or a tag that does not exist; a receiver that has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let last = world.size() - 1;
    /// if world.rank() == 0 {
    ///     world.send(&[1.5, 2.5, 3.5], last, 7)?; // a job of one sends to itself: it is short
    /// }
    /// if world.rank() == last {
    ///     let mut values = [0.0; 3];
    ///     let status = world.receive(&mut values, 0, 7)?;
    ///     assert_eq!((status.count::<f64>(), values), (Some(3), [1.5, 2.5, 3.5]));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Send")]
    #[inline]
    pub fn send<B: Buffer + ?Sized>(&self, data: &B, to: impl Into<Destination>, tag: i32) -> Result<()> {
        self.send_segment("send", data.lent(), to.into(), tag, Mode::Standard)
    }

    /// Sends one value; the receiver sees a message of one element.
    ///
    /// # Errors
    /// As [`Communicator::send`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// world.send_one(world.size(), 0, 0)?;
    /// assert_eq!(world.receive_one::<usize>(0, 0)?.0, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Send")]
    #[inline]
    pub fn send_one<T: Equivalence>(&self, value: T, to: impl Into<Destination>, tag: i32) -> Result<()> {
        let data = [value];
        self.send_segment("send_one", SendBuf::new(&data), to.into(), tag, Mode::Standard)
    }

    /// Sends and returns when the receive has begun (`MPI_Ssend`, MPI-5.0 §3.4).
    ///
    /// # Errors
    /// As [`Communicator::send`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut got = [0; 2];
    /// world.scope(|s| {
    ///     s.receive(&mut got, 0, 0)?;
    ///     world.send_synchronous(&[1, 2], 0, 0)
    /// })?;
    /// assert_eq!(got, [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Ssend", alias = "synchronous_send")]
    #[inline]
    pub fn send_synchronous<B: Buffer + ?Sized>(
        &self,
        data: &B,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<()> {
        self.send_segment("send_synchronous", data.lent(), to.into(), tag, Mode::Synchronous)
    }

    /// Sends with the promise that the receive has been started (`MPI_Rsend`, MPI-5.0 §3.4), which saves a long message the question.
    ///
    /// # Errors
    /// As [`Communicator::send`]. A broken promise is an error at the receiver.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut got = 0;
    /// world.scope(|s| {
    ///     s.receive(&mut got, 0, 0)?;
    ///     world.send_ready(&7, 0, 0)
    /// })?;
    /// assert_eq!(got, 7);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Rsend", alias = "ready_send")]
    #[inline]
    pub fn send_ready<B: Buffer + ?Sized>(
        &self,
        data: &B,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<()> {
        self.send_segment("send_ready", data.lent(), to.into(), tag, Mode::Ready)
    }

    /// Sends without ever waiting for the receive (`MPI_Bsend`, MPI-5.0 §3.4): what does not leave at once is copied. Memory for that is
    /// allocated as it is needed; [`Universe::attach_buffer`](crate::Universe::attach_buffer) limits it.
    ///
    /// # Errors
    /// As [`Communicator::send`]; when the attached buffer is full ([`ErrorClass::Buffer`]).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // To ourselves, and much too long to leave before it is received.
    /// let data = vec![1.5; 1 << 20];
    /// world.send_buffered(&data, 0, 0)?;
    /// assert_eq!(world.receive_vec::<f64>(0, 0)?.0, data);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Bsend", alias = "buffered_send")]
    pub fn send_buffered<B: Buffer + ?Sized>(
        &self,
        data: &B,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<()> {
        self.buffered("send_buffered", data.lent(), to.into(), tag)
    }

    /// Receives a message into a slice, one element or a view ([`BufferMut`]) (`MPI_Recv`): from rank `from` with tag `tag`, either of which may be
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
    /// assert_eq!((buffer, status.source(), status.tag()), ([1, 2, 0, 0], Some(0), 5));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Recv", alias = "receive_into")]
    #[inline]
    pub fn receive<B: BufferMut + ?Sized>(
        &self,
        buffer: &mut B,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Status> {
        self.receive_segment("receive", buffer.lent_mut(), from.into(), tag.into())
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
    #[doc(alias = "MPI_Recv")]
    #[inline]
    pub fn receive_one<T: Equivalence>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(T, Status)> {
        const CALL: &str = "receive_one";
        let mut buffer = [zeroed::<T>()];
        let status = self.receive_segment(CALL, RecvBuf::new(&mut buffer), from.into(), tag.into())?;
        if status.bytes() != packed_size::<T>() as u64 && status.source().is_some() {
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
    #[doc(alias = "MPI_Mprobe", alias = "MPI_Mrecv")]
    pub fn receive_vec<T: Equivalence>(
        &self,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<(Vec<T>, Status)> {
        const CALL: &str = "receive_vec";
        let pattern = self.named(CALL, self.pattern(from.into(), tag.into()))?;
        let message =
            self.named(CALL, self.during(CALL, |engine| engine.mprobe(self.core(), pattern.0, pattern.1)))?;
        Message::new(self, message).into_vec(CALL)
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
    #[doc(alias = "MPI_Sendrecv", alias = "send_receive_into")]
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

    /// Sends the contents of `buffer` and receives another message into it (`MPI_Sendrecv_replace`).
    ///
    /// # Errors
    /// As [`Communicator::send_receive`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // Everybody's values go round by one rank.
    /// let (rank, size) = (world.rank(), world.size());
    /// let mut values = [rank; 3];
    /// world.send_receive_replace(&mut values, (rank + 1) % size, 0, (rank + size - 1) % size, 0)?;
    /// assert_eq!(values, [(rank + size - 1) % size; 3]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Sendrecv_replace", alias = "send_receive_replace_into")]
    pub fn send_receive_replace<T: Equivalence>(
        &self,
        buffer: &mut [T],
        to: impl Into<Destination>,
        send_tag: i32,
        from: impl Into<Source>,
        receive_tag: impl Into<Tag>,
    ) -> Result<Status> {
        let (to, from, tag) = (to.into(), from.into(), receive_tag.into());
        let data = buffer.to_vec();
        let exchanged = self.exchange(SendBuf::new(&data), to, send_tag, RecvBuf::new(buffer), from, tag);
        self.named("send_receive_replace", exchanged)
    }

    /// The bytes of a message with this content, without padding (`MPI_Pack`, MPI-5.0 §5.2). They mean the same to every rank of this
    /// job on machines of one kind; `Communicator::send_value` (feature `serde`) writes what all machines read.
    ///
    /// # Errors
    /// No memory.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let matrix = [1u16, 2, 3, 4];
    /// let mut packed = world.pack(&posthaste::Strided::new(&matrix, 1, 2, 2)?)?; // a column
    /// packed.extend(world.pack(&7.5)?);
    /// world.send(&packed, 0, 0)?;
    ///
    /// let (bytes, _) = world.receive_vec::<u8>(0, 0)?;
    /// let (mut column, mut number) = ([0u16; 2], 0.0);
    /// world.unpack(&bytes[..4], &mut column)?;
    /// world.unpack(&bytes[4..], &mut number)?;
    /// assert_eq!((column, number), ([2, 4], 7.5));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Pack", alias = "MPI_Pack_size")]
    pub fn pack<B: Buffer + ?Sized>(&self, data: &B) -> Result<Vec<u8>> {
        self.named("pack", self.engine().pack(data.lent()))
    }

    /// Puts what [`Communicator::pack`] has written where a receive would (`MPI_Unpack`). Nothing is unsafe about it: whatever the bytes
    /// are, they are numbers.
    ///
    /// # Errors
    /// More or fewer bytes than `buffer` takes ([`ErrorClass::Truncate`]).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut numbers = [0u32; 2];
    /// world.unpack(&world.pack(&[3u32, 4])?, &mut numbers)?;
    /// assert_eq!(numbers, [3, 4]);
    /// let error = world.unpack(&[0; 7], &mut numbers).unwrap_err();
    /// assert!(error.to_string().contains("is 7, expected 8"), "{error}");
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Unpack", alias = "unpack_into")]
    pub fn unpack<B: BufferMut + ?Sized>(&self, bytes: &[u8], buffer: &mut B) -> Result<()> {
        self.named("unpack", self.engine().unpack(bytes, buffer.lent_mut()))
    }

    /// What a receive looks for, as core spells it.
    #[inline]
    pub(crate) fn pattern(&self, from: Source, tag: Tag) -> Checked<(i32, i32)> {
        Ok((from.number(self.peers())?, tag.number()?))
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
        let to = self.named(call, to.number(self.peers()))?;
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

    #[inline]
    pub(crate) fn buffered(
        &self,
        call: &'static str,
        data: SendBuf<'_>,
        to: Destination,
        tag: i32,
    ) -> Result<()> {
        let to = self.named(call, to.number(self.peers()))?;
        self.named(call, self.buffer().send(self.engine(), self.core(), to, tag, data))
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
        let to = to.number(self.peers())?;
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
pub(crate) fn room<T: Equivalence>(bytes: u64) -> Checked<Vec<T>> {
    let count = usize::try_from(bytes.div_ceil(element_size::<T>())).unwrap_or(usize::MAX);
    let mut buffer = Vec::new();
    let reserved = buffer.try_reserve_exact(count);
    reserved.map_err(|_| {
        Cause::no_memory(format!("a message of {bytes} bytes needs more memory than there is"))
    })?;
    buffer.resize(count, zeroed());
    Ok(buffer)
}

/// Checks that a message of so many bytes is a whole number of elements.
pub(crate) fn whole<T: Equivalence>(bytes: u64) -> Checked<()> {
    let size = element_size::<T>();
    if bytes.is_multiple_of(size) {
        return Ok(());
    }
    let expected = format_args!("a multiple of {size}, the size of {}", std::any::type_name::<T>());
    Err(Cause::invalid(ErrorClass::Type, "the message's length in bytes", bytes, expected))
}

/// Bytes of an element in a message; 1 for one without bytes, so that nobody divides by it.
fn element_size<T: Equivalence>() -> u64 {
    (packed_size::<T>() as u64).max(1)
}

#[cold]
fn not_one<T: Equivalence>(bytes: u64) -> Cause {
    let expected = format_args!("{}, one {}", packed_size::<T>(), std::any::type_name::<T>());
    Cause::invalid(ErrorClass::Count, "the message's length in bytes", bytes, expected)
}
