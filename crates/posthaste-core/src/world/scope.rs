//! The calls that take borrowed slices: blocking ones, and scopes in which operations go on while the program does.
//!
//! MPI-5.0 §3.2, §3.7.
//!
//! What must stay true: the borrow of a slice (`slice`) ends after the operation on it. A blocking call returns only then.
//! Whatever way a scope is left, every operation started in it is over first; the lifetime `'scope` of the buffers ends
//! after that, as with the scoped threads of the standard library: the body is made for every `'scope`, so only what lives
//! outside of it can be lent to it, and nothing that ends the operations is left to a value that the body could forget.
//! A panic in a call (of a user's reduction, say) does not get past it while the engine has the buffers: it ends the process.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::task::{Poll, Waker};

use super::World;
use crate::comm::Comm;
use crate::error::Result;
use crate::ids::RequestId;
use crate::op;
use crate::pt2pt::matching::Unexpected;
use crate::pt2pt::recv;
use crate::request::{State, Status, Table};
use crate::slice::{Collective, RecvBuf, SendBuf};
use crate::wire::Mode;

impl World {
    /// As [`World::send`].
    ///
    /// # Errors
    /// As [`World::send`].
    #[inline]
    pub fn send_slice(&self, comm: &Comm, to: i32, tag: i32, data: SendBuf<'_>, mode: Mode) -> Result<()> {
        self.to_the_end_of("MPI_Send", || self.send(comm, to, tag, data.lend(), mode))
    }

    /// As [`World::recv`].
    ///
    /// # Errors
    /// As [`World::recv`].
    #[inline]
    pub fn recv_slice(&self, comm: &Comm, from: i32, tag: i32, room: RecvBuf<'_>) -> Result<Status> {
        self.to_the_end_of("MPI_Recv", || self.recv(comm, from, tag, room.lend()))
    }

    /// As [`World::exchange`].
    ///
    /// # Errors
    /// As [`World::exchange`].
    pub fn exchange_slices(
        &self,
        comm: &Comm,
        (data, to, send_tag): (SendBuf<'_>, i32, i32),
        (room, from, receive_tag): (RecvBuf<'_>, i32, i32),
    ) -> Result<Status> {
        self.to_the_end_of("MPI_Sendrecv", || {
            self.exchange(comm, (data.lend(), to, send_tag), (room.lend(), from, receive_tag))
        })
    }

    /// Receives a message taken out by a probe. If this fails, `message` stays.
    ///
    /// # Errors
    /// A table of requests that is full with its reserve.
    pub fn mrecv_slice(&self, message: &mut Option<Unexpected>, room: RecvBuf<'_>) -> Result<Status> {
        self.to_the_end_of("MPI_Mrecv", || self.wait(self.imrecv_for_sure(message, room.lend())?))
    }

    /// As [`World::run`], in a call with this name.
    ///
    /// # Errors
    /// As [`World::run`].
    pub fn run_collective(&self, call: &'static str, operation: Collective<'_>) -> Result<()> {
        self.to_the_end_of(call, || self.run(operation.lend()))
    }

    /// As `to_the_end`; the call is named first, should the function of an operation have made it.
    #[inline(always)]
    fn to_the_end_of<R>(&self, name: &'static str, call: impl FnOnce() -> R) -> R {
        struct Unwinding<'w>(&'w World, &'static str);
        impl Drop for Unwinding<'_> {
            #[cold]
            fn drop(&mut self) {
                op::leaves_by_panic(self.1, self.0.rank() as usize);
                std::process::abort();
            }
        }
        let unwinding = Unwinding(self, name);
        let result = call();
        std::mem::forget(unwinding);
        result
    }

    /// Runs `body`, which may start operations that go on by themselves. Those that it has not waited for are waited for
    /// here; receives among them that have no message yet are taken back, since their messages may never come.
    ///
    /// A buffer that ends before the scope cannot be lent to it:
    ///
    /// ```compile_fail,E0597
    /// use posthaste_core::{comm::Comm, slice::RecvBuf, world::World};
    /// fn wrong(world: &World, comm: &Comm) {
    ///     world.scope(|scope| {
    ///         let mut short_lived = [0; 4];
    ///         scope.irecv("wrong", comm, (RecvBuf::new(&mut short_lived), 0, 0)).map(drop) // error: does not live long enough
    ///     }).unwrap();
    /// }
    /// ```
    ///
    /// And an operation cannot leave its scope:
    ///
    /// ```compile_fail
    /// use posthaste_core::{comm::Comm, slice::RecvBuf, world::World};
    /// fn wrong(world: &World, comm: &Comm, room: &mut [u8]) {
    ///     let left = world.scope(|scope| scope.irecv("wrong", comm, (RecvBuf::new(room), 0, 0))); // error: lifetime
    /// }
    /// ```
    pub fn scope<'env, F, R>(&'env self, body: F) -> R
    where
        F: for<'scope> FnOnce(Scope<'scope, 'env>) -> R,
    {
        // Its destructor does the waiting, also when `body` panics.
        let pending = Pending { world: self, requests: RefCell::new(Vec::new()) };
        body(Scope { pending: &pending, scope: PhantomData, env: PhantomData })
    }

    /// Takes back what has no message yet: a receive, or one that is a part of this request.
    fn take_back(&self, id: RequestId) {
        let engine = &mut self.vci_with(id.slot as usize).engine;
        let parts = match engine.requests.get(id).map(|request| &request.state) {
            Some(State::Composite(whole)) => whole.parts().to_vec(),
            _ => Vec::new(),
        };
        recv::cancel(engine, id);
        parts.into_iter().for_each(|part| _ = recv::cancel(engine, part));
    }
}

/// Starts operations on buffers that are lent to it; see [`World::scope`].
#[derive(Clone, Copy)]
pub struct Scope<'scope, 'env: 'scope> {
    pending: &'scope Pending<'env>,
    // Neither lifetime may be taken for a shorter or longer one.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// An operation under way. Dropping it does not end the operation: its scope does.
pub struct Operation<'scope> {
    pending: &'scope Pending<'scope>,
    /// Its place among the pending ones, until it is known to be over.
    place: usize,
}

/// The place of an operation that is known to be over.
const NOWHERE: usize = usize::MAX;

/// What an operation tells when it is over: the call that it was started by, for errors, and its outcome.
pub type Told = (&'static str, Result<Status>);

/// After it has been told.
const TOLD: Told = ("", Ok(Status::EMPTY));

impl<'scope> Scope<'scope, '_> {
    /// As [`World::isend`]; `call` is what [`Scope::wait_for_last`] says.
    ///
    /// # Errors
    /// As [`World::isend`].
    pub fn isend(
        &self,
        call: &'static str,
        comm: &Comm,
        (data, to, tag): (SendBuf<'scope>, i32, i32),
        mode: Mode,
    ) -> Result<Operation<'scope>> {
        self.started(call, |world| world.isend(comm, to, tag, data.lend(), mode))
    }

    /// As [`World::irecv`].
    ///
    /// # Errors
    /// As [`World::irecv`].
    pub fn irecv(
        &self,
        call: &'static str,
        comm: &Comm,
        (room, from, tag): (RecvBuf<'scope>, i32, i32),
    ) -> Result<Operation<'scope>> {
        self.started(call, |world| world.irecv(comm, from, tag, room.lend()))
    }

    /// As [`World::imrecv`].
    ///
    /// # Errors
    /// As [`World::imrecv`].
    pub fn imrecv(
        &self,
        call: &'static str,
        message: &mut Option<Unexpected>,
        room: RecvBuf<'scope>,
    ) -> Result<Operation<'scope>> {
        self.started(call, |world| world.imrecv(message, room.lend()))
    }

    /// As [`World::start`].
    ///
    /// # Errors
    /// As [`World::start`].
    pub fn start(&self, call: &'static str, operation: Collective<'scope>) -> Result<Operation<'scope>> {
        self.started(call, |world| world.start(operation.lend()))
    }

    /// Waits for the operation that was started last, of those that nobody has waited for. `None` when there is none.
    pub fn wait_for_last(&self) -> Option<(&'static str, Result<Status>)> {
        let (call, id) = self.pending.pop()?;
        Some((call, to_the_end(|| self.pending.world.wait(id))))
    }

    /// How many operations nobody has waited for.
    pub fn under_way(&self) -> usize {
        self.pending.requests.borrow().iter().flatten().count()
    }

    /// An operation that was over when it was started.
    pub fn over(&self) -> Operation<'scope> {
        Operation { pending: self.pending, place: NOWHERE }
    }

    pub(super) fn started(
        &self,
        call: &'static str,
        start: impl FnOnce(&World) -> Result<RequestId>,
    ) -> Result<Operation<'scope>> {
        let world = self.pending.world;
        let place = world.to_the_end_of(call, || start(world).map(|id| self.pending.add(call, id)))?;
        Ok(Operation { pending: self.pending, place })
    }
}

impl Operation<'_> {
    /// As [`World::wait`]. After [`Operation::test`] has returned the status, it is empty.
    pub fn wait(self) -> Told {
        match self.pending.take(self.place) {
            Some((call, id)) => (call, to_the_end(|| self.pending.world.wait(id))),
            None => TOLD,
        }
    }

    /// As [`World::test`]; `None` again after it has returned the status.
    pub fn test(&mut self) -> Option<Told> {
        let (call, id) = self.pending.get(self.place)?;
        let status = self.pending.world.test(id).transpose()?;
        if status.is_ok() {
            self.is_told();
        }
        Some((call, status))
    }

    fn is_told(&mut self) {
        self.pending.take(std::mem::replace(&mut self.place, NOWHERE));
    }

    /// The call that it was started by, until it is told that it is over.
    pub fn call(&self) -> Option<&'static str> {
        self.pending.get(self.place).map(|(call, _)| call)
    }
}

impl<'scope> Operation<'scope> {
    /// Waits until one of the operations is over, and says which; `None` for none at all. It has still to be completed.
    pub fn wait_for_one(operations: &[&Self]) -> Option<usize> {
        let world = operations.first()?.pending.world;
        Some(world.wait_for_one(&Self::ids(operations)))
    }

    /// The first of the operations that is over after one step of progress, if one is. It has still to be completed.
    pub fn find_over(operations: &[&Self]) -> Option<usize> {
        let world = operations.first()?.pending.world;
        world.find_over(&Self::ids(operations))
    }

    /// Whether all of the operations are over, after one step of progress if one is not. They have still to be completed.
    pub fn are_over(operations: &[&Self]) -> bool {
        operations.first().is_none_or(|first| first.pending.world.are_over(&Self::ids(operations)))
    }

    /// Whether it is over, as far as that is known.
    pub fn is_over(&self) -> bool {
        self.pending.get(self.place).is_none_or(|(_, id)| self.pending.world.is_over(id))
    }

    /// As [`World::cancel`].
    pub fn cancel(&self) {
        if let Some((_, id)) = self.pending.get(self.place) {
            self.pending.world.cancel(id);
        }
    }

    /// Those that have been completed are as good as any that is over.
    fn ids(operations: &[&Self]) -> Vec<RequestId> {
        let id = |operation: &&Self| operation.pending.get(operation.place).map_or(Table::DONE, |(_, id)| id);
        operations.iter().map(id).collect()
    }

    /// As [`World::poll`]; empty after the status has been told.
    pub fn poll(&mut self, waker: &Waker) -> Poll<Told> {
        self.poll_by(|world, id| world.poll(id, waker))
    }

    /// As [`World::poll_patiently`].
    pub fn poll_patiently(&mut self, waker: &Waker) -> Poll<Told> {
        self.poll_by(|world, id| world.poll_patiently(id, waker))
    }

    fn poll_by(&mut self, poll: impl FnOnce(&World, RequestId) -> Result<Poll<Status>>) -> Poll<Told> {
        let Some((call, id)) = self.pending.get(self.place) else { return Poll::Ready(TOLD) };
        let status = match to_the_end(|| poll(self.pending.world, id)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(status)) => Ok(status),
            Err(why) => Err(why),
        };
        if status.is_ok() {
            self.is_told();
        }
        Poll::Ready((call, status))
    }
}

/// What has been started in a scope and not been waited for. Its end is the end of all of it.
struct Pending<'env> {
    world: &'env World,
    /// Requests keep their places; places at the end are given back when they are empty.
    requests: RefCell<Vec<Option<(&'static str, RequestId)>>>,
}

impl Pending<'_> {
    fn add(&self, call: &'static str, id: RequestId) -> usize {
        let mut requests = self.requests.borrow_mut();
        requests.push(Some((call, id)));
        requests.len() - 1
    }

    fn get(&self, place: usize) -> Option<(&'static str, RequestId)> {
        self.requests.borrow().get(place).copied().flatten()
    }

    fn take(&self, place: usize) -> Option<(&'static str, RequestId)> {
        let mut requests = self.requests.borrow_mut();
        let taken = requests.get_mut(place)?.take()?;
        while let Some(None) = requests.last() {
            requests.pop();
        }
        Some(taken)
    }

    fn pop(&self) -> Option<(&'static str, RequestId)> {
        let mut requests = self.requests.borrow_mut();
        loop {
            if let Some(request) = requests.pop()? {
                return Some(request);
            }
        }
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        to_the_end(|| {
            // First all, then the waiting: one that goes on may need the end of another.
            let left: Vec<RequestId> = std::iter::from_fn(|| self.pop()).map(|(_, id)| id).collect();
            left.iter().for_each(|id| self.world.take_back(*id));
            for id in left {
                // The scope has an error or a panic to report already.
                let _ = self.world.wait(id);
            }
        });
    }
}

/// Makes a call that ends after the operations on the buffers that it was lent. It does not if it panics, so then the process
/// ends.
#[inline(always)]
pub(super) fn to_the_end<R>(call: impl FnOnce() -> R) -> R {
    struct Unwinding;
    impl Drop for Unwinding {
        fn drop(&mut self) {
            std::process::abort();
        }
    }
    let unwinding = Unwinding;
    let result = call();
    std::mem::forget(unwinding);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    #[test]
    fn no_panic_gets_past_a_call_that_has_buffers() {
        const CHILD: &str = "POSTHASTE_TEST_PANIC";
        const SIGABRT: i32 = 6;
        if std::env::var_os(CHILD).is_some() {
            let caught = std::panic::catch_unwind(|| to_the_end(|| panic!("in the middle of a call")));
            drop(caught);
            return;
        }
        let name = "world::scope::tests::no_panic_gets_past_a_call_that_has_buffers";
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", name]).env(CHILD, "1").stdout(Stdio::null()).stderr(Stdio::null());
        assert_eq!(child.status().unwrap().signal(), Some(SIGABRT));
        assert_eq!(to_the_end(|| 7), 7);
    }
}
