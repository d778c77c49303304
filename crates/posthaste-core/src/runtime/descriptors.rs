//! Requests that end when a descriptor says so: of a file, a device, a name server. A thread that sleeps in the library sleeps
//! on these descriptors, too.
//!
//! Whoever finds nothing else to do looks at them. What must stay true: what a descriptor's owner does when it is ready runs in
//! no VCI, and one at a time; a descriptor is closed when its request has ended.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use posthaste_os::socket::{Ready, Set};
use posthaste_os::sync::Mutex;

use crate::ids::RequestId;
use crate::request::Status;
use crate::request::outside::Outside;
use crate::runtime::Runtime;

/// Says what came of it, when the descriptor can be read, or that the request goes on. It must not call MPI.
pub type WhenReady = Box<dyn FnMut(BorrowedFd<'_>) -> Option<Status> + Send>;

struct Watched {
    fd: OwnedFd,
    when_ready: WhenReady,
    outside: Arc<Outside>,
    id: RequestId,
}

/// The descriptors that requests of this process wait for, by their tokens in the set.
pub(super) struct Descriptors {
    set: Set,
    watched: Mutex<Vec<Option<Watched>>>,
}

impl std::fmt::Debug for Descriptors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Descriptors").field("set", &self.set).finish_non_exhaustive()
    }
}

impl Descriptors {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { set: Set::new()?, watched: Mutex::new(Vec::new()) })
    }

    /// What a sleeper has to wait for.
    pub(super) fn set(&self) -> &Set {
        &self.set
    }

    fn add(&self, watched: Watched) -> io::Result<()> {
        self.watched.with(|all| {
            let free = all.iter().position(Option::is_none).unwrap_or(all.len());
            self.set.add(&watched.fd, free as u64, false)?;
            match all.get_mut(free) {
                Some(place) => *place = Some(watched),
                None => all.push(Some(watched)),
            }
            Ok(())
        })
    }

    /// Looks once. Whether a request has ended.
    fn look(&self) -> bool {
        let mut ready = Vec::new();
        self.watched.with(|all| {
            self.set.wait(Duration::ZERO, &mut ready);
            let mut ended = false;
            for Ready { token, .. } in ready {
                let Some(place) = all.get_mut(token as usize) else { continue };
                if let Some(Watched { fd, when_ready, outside, id }) = place
                    && let Some(status) = when_ready(fd.as_fd())
                {
                    outside.leave(*id, status);
                    (*place, ended) = (None, true);
                }
            }
            ended
        })
    }
}

impl Runtime {
    /// From now on the request `id`, whose VCI has this `outside`, ends when `when_ready` says so.
    ///
    /// # Errors
    /// When the system refuses to watch the descriptor.
    pub(crate) fn watch(
        &self,
        (outside, id): (&Arc<Outside>, RequestId),
        fd: OwnedFd,
        when_ready: WhenReady,
    ) -> io::Result<()> {
        let outside = outside.clone();
        self.descriptors()?.add(Watched { fd, when_ready, outside, id })?;
        if let Some(wake) = self.sleepers.with(|parked| parked.rouse_listener()) {
            self.wake(wake); // it may sleep where it does not see descriptors yet
        }
        Ok(())
    }

    /// From now on a thread that sleeps in the library sleeps on this set, too, until the set is dropped.
    ///
    /// # Errors
    /// When the system refuses that.
    pub(crate) fn sleep_on(&self, set: &Set) -> io::Result<()> {
        let one_thread = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        self.doorbell.watch_too(set)?;
        drop(one_thread);
        if let Some(wake) = self.sleepers.with(|parked| parked.rouse_listener()) {
            self.wake(wake); // as above
        }
        Ok(())
    }

    fn descriptors(&self) -> io::Result<&Descriptors> {
        let _one_thread = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.descriptors.get() {
            return Ok(known);
        }
        let made = Descriptors::new()?;
        self.doorbell.watch_too(made.set())?;
        Ok(self.descriptors.get_or_init(|| made))
    }

    /// Looks at the descriptors, if there are any. Whether a request has ended.
    #[inline]
    pub(crate) fn look_at_descriptors(&self) -> bool {
        let ended = self.descriptors.get().is_some_and(Descriptors::look);
        if ended {
            self.advance(0); // where the requests are
        }
        ended
    }
}
