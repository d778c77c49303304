//! Nonblocking communication within a scope that borrows the buffers until it is over.
//!
//! A scope comes from [`Communicator::scope`]. MPI-5.0 §3.7.
//!
//! What must stay true: whatever way a scope is left, every operation started in it is over first. The lifetime
//! `'scope` of the buffers ends after that, as with the scoped threads of the standard library: the closure is
//! made for every `'scope`, so only what lives outside of it can be lent to it.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use posthaste_core::buffer::Equivalence;
use posthaste_core::datatype::Segment;
use posthaste_core::error::Result as Checked;
use posthaste_core::ids::RequestId;
use posthaste_core::pt2pt::recv;
use posthaste_core::wire::Mode;

use crate::argument::{Destination, Source, Status, Tag};
use crate::communicator::Communicator;
use crate::error::Result;
use crate::memory::{incoming, outgoing};
use crate::point_to_point::fate;
use crate::strided::{Strided, StridedMut};

/// Starts operations that go on while the program does; see [`Communicator::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    pending: &'scope Pending<'env>,
    // Neither lifetime may be taken for a shorter or longer one.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// An operation under way. Dropping it does not end the operation: the scope waits for it.
pub struct Request<'scope> {
    call: &'static str,
    pending: &'scope Pending<'scope>,
    /// Its place among the pending ones.
    place: usize,
    done: Option<Result<Status>>,
}

impl<'u> Communicator<'u> {
    /// Runs `body`, which may start operations that go on by themselves, and waits for all of them.
    ///
    /// Buffers are lent to the scope: until it is over, the compiler lets nobody write to what is being sent and
    /// nobody look at what is being received. Requests may be waited for earlier, one by one.
    ///
    /// # Errors
    /// What `body` returned; otherwise what went wrong with an operation that `body` did not wait for. When `body`
    /// returns an error or panics, receives that have no message yet are taken back, since their messages may
    /// never come; everything else is waited for.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mine = [rank as f64; 100];
    /// let mut theirs = [0.0; 100];
    /// world.scope(|s| {
    ///     let incoming = s.receive(&mut theirs, (rank + size - 1) % size, 0)?;
    ///     s.send(&mine, (rank + 1) % size, 0)?;
    ///     // … compute something else …
    ///     let status = incoming.wait()?;
    ///     assert_eq!(status.count::<f64>(), Some(100));
    ///     Ok(())
    /// })?;
    /// assert_eq!(theirs[0] as usize, (rank + size - 1) % size);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A buffer that is being received into cannot be read:
    ///
    /// ```compile_fail,E0502
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut buffer = [0; 4];
    /// world.scope(|s| {
    ///     s.receive(&mut buffer, 0, 0)?;
    ///     println!("{buffer:?}"); // error: cannot borrow as immutable
    ///     s.send(&[1, 2, 3, 4], 0, 0)?;
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// A buffer that is being sent cannot be written:
    ///
    /// ```compile_fail,E0506
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut data = [1, 2, 3, 4];
    /// world.scope(|s| {
    ///     s.send(&data, 0, 0)?;
    ///     data[0] = 5; // error: cannot assign because it is borrowed
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// A buffer that does not live as long as the scope cannot be lent to it:
    ///
    /// ```compile_fail,E0597
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// world.scope(|s| {
    ///     let mut short_lived = [0; 4];
    ///     s.receive(&mut short_lived, 0, 0)?; // error: does not live long enough
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// Two receives cannot share a buffer:
    ///
    /// ```compile_fail,E0499
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let mut buffer = [0; 4];
    /// world.scope(|s| {
    ///     s.receive(&mut buffer, 0, 0)?;
    ///     s.receive(&mut buffer, 0, 1)?; // error: cannot borrow as mutable more than once
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// And a request cannot leave its scope:
    ///
    /// ```compile_fail
    /// # let universe = posthaste::init().unwrap();
    /// # let world = universe.world();
    /// let data = [1, 2, 3, 4];
    /// let request = world.scope(|s| s.send(&data, 0, 0)).unwrap(); // error: lifetime may not live long enough
    /// ```
    pub fn scope<'env, F, R>(&'env self, body: F) -> Result<R>
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R>,
    {
        let pending = Pending { communicator: self, requests: RefCell::new(Vec::new()) };
        let scope = Scope { pending: &pending, scope: PhantomData, env: PhantomData };
        // A panic or an error leaves the rest to the destructor of `pending`.
        let result = body(&scope)?;
        pending.finish()?;
        Ok(result)
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Starts to send a slice (`MPI_Isend`); see [`Communicator::send`].
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    pub fn send<T: Equivalence>(
        &'scope self,
        data: &'scope [T],
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<Request<'scope>> {
        self.start_send("send", outgoing(data), to.into(), tag, Mode::Standard)
    }

    /// Starts to send a slice; the request is over when the receive has begun (`MPI_Issend`).
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    pub fn send_synchronous<T: Equivalence>(
        &'scope self,
        data: &'scope [T],
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<Request<'scope>> {
        self.start_send("send_synchronous", outgoing(data), to.into(), tag, Mode::Synchronous)
    }

    /// Starts to send evenly spaced elements, such as a column.
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    pub fn send_strided<T: Equivalence>(
        &'scope self,
        data: Strided<'scope, T>,
        to: impl Into<Destination>,
        tag: i32,
    ) -> Result<Request<'scope>> {
        self.start_send("send_strided", data.segment(), to.into(), tag, Mode::Standard)
    }

    /// Starts to receive into a slice (`MPI_Irecv`); see [`Communicator::receive`].
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    pub fn receive<T: Equivalence>(
        &'scope self,
        buffer: &'scope mut [T],
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request<'scope>> {
        self.start_receive("receive", incoming(buffer), from.into(), tag.into())
    }

    /// Starts to receive evenly spaced elements, such as a column.
    ///
    /// # Errors
    /// A rank or a tag that does not exist.
    pub fn receive_strided<T: Equivalence>(
        &'scope self,
        buffer: StridedMut<'scope, T>,
        from: impl Into<Source>,
        tag: impl Into<Tag>,
    ) -> Result<Request<'scope>> {
        self.start_receive("receive_strided", buffer.segment(), from.into(), tag.into())
    }

    fn start_send(
        &'scope self,
        call: &'static str,
        segment: Segment,
        to: Destination,
        tag: i32,
        mode: Mode,
    ) -> Result<Request<'scope>> {
        let communicator = self.pending.communicator;
        let to = communicator.named(call, to.number(communicator.core().size()))?;
        let id = communicator.engine().isend(communicator.core(), to, tag, segment, mode);
        self.started(call, id)
    }

    fn start_receive(
        &'scope self,
        call: &'static str,
        segment: Segment,
        from: Source,
        tag: Tag,
    ) -> Result<Request<'scope>> {
        let communicator = self.pending.communicator;
        let (from, tag) = communicator.named(call, communicator.pattern(from, tag))?;
        self.started(call, communicator.engine().irecv(communicator.core(), from, tag, segment))
    }

    pub(crate) fn communicator(&self) -> &'env Communicator<'env> {
        self.pending.communicator
    }

    /// The request for an operation, which must have been started on buffers lent for `'scope`.
    pub(crate) fn started(
        &'scope self,
        call: &'static str,
        id: Checked<RequestId>,
    ) -> Result<Request<'scope>> {
        let id = self.pending.communicator.named(call, id)?;
        Ok(Request { call, pending: self.pending, place: self.pending.add(call, id), done: None })
    }
}

impl Request<'_> {
    /// Waits until the operation is over (`MPI_Wait`). The status of a receive tells about its message; that of
    /// any other operation is empty.
    ///
    /// # Errors
    /// What went wrong with the message: one longer than the buffer, a peer that has ended.
    pub fn wait(mut self) -> Result<Status> {
        if let Some(done) = self.done.take() {
            return done;
        }
        let communicator = self.pending.communicator;
        match self.pending.take(self.place) {
            Some(id) => communicator.named(self.call, communicator.engine().wait(id).and_then(fate)),
            None => Ok(Status::of(&posthaste_core::request::Status::EMPTY)),
        }
    }

    /// Says whether the operation is over (`MPI_Test`), and its status if so; again at every later call.
    ///
    /// # Errors
    /// As [`Request::wait`].
    pub fn test(&mut self) -> Result<Option<Status>> {
        if self.done.is_none() {
            let communicator = self.pending.communicator;
            let Some(id) = self.pending.get(self.place) else { return Ok(None) };
            let tested = communicator.named(self.call, communicator.engine().test(id))?;
            let Some(status) = tested else { return Ok(None) };
            self.pending.take(self.place);
            self.done = Some(communicator.named(self.call, fate(status)));
        }
        self.done.clone().transpose()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let active = self.pending.requests.borrow().iter().flatten().count();
        write!(f, "Scope({active} operations under way)")
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({}, {})", self.call, if self.done.is_some() { "over" } else { "under way" })
    }
}

/// What has been started in a scope and not been waited for. Its end is the end of all of it.
struct Pending<'env> {
    communicator: &'env Communicator<'env>,
    /// Requests keep their places; places at the end are given back when they are empty.
    requests: RefCell<Vec<Option<(&'static str, RequestId)>>>,
}

impl Pending<'_> {
    fn add(&self, call: &'static str, id: RequestId) -> usize {
        let mut requests = self.requests.borrow_mut();
        requests.push(Some((call, id)));
        requests.len() - 1
    }

    fn get(&self, place: usize) -> Option<RequestId> {
        self.requests.borrow().get(place).copied().flatten().map(|(_, id)| id)
    }

    fn take(&self, place: usize) -> Option<RequestId> {
        let mut requests = self.requests.borrow_mut();
        let (_, id) = requests.get_mut(place)?.take()?;
        while let Some(None) = requests.last() {
            requests.pop();
        }
        Some(id)
    }

    fn next(&self) -> Option<(&'static str, RequestId)> {
        let mut requests = self.requests.borrow_mut();
        loop {
            if let Some(request) = requests.pop()? {
                return Some(request);
            }
        }
    }

    /// Waits for everything; the error is that of the operation started first.
    fn finish(&self) -> Result<()> {
        let mut result = Ok(());
        while let Some((call, id)) = self.next() {
            let status = self.communicator.engine().wait(id).and_then(fate);
            if let Err(error) = self.communicator.named(call, status) {
                result = Err(error);
            }
        }
        result
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        // First all, then the waiting: one that goes on may need the end of another.
        let left: Vec<RequestId> = std::iter::from_fn(|| self.next()).map(|(_, id)| id).collect();
        for id in &left {
            recv::cancel(&mut self.communicator.engine().lane_of(self.communicator.core()).engine, *id);
        }
        for id in left {
            // The scope has an error or a panic to report already.
            let _ = self.communicator.engine().wait(id);
        }
    }
}
