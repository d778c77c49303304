//! Partitioned requests (MPI-5.0 chapter 4).
//!
//! Persistent requests, each start of which is a start of one of the ends of `posthaste_core::pt2pt::partitioned`.
//!
//! What must stay true: an end is locked inside the VCI's lock, never the other way round.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_core::comm::Comm;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::{RequestId, TAG_UB};
use posthaste_core::progress::Vci;
use posthaste_core::pt2pt::partitioned::{Parts, Receiving, Sending};
use posthaste_core::request::{Request, State, Status};
use posthaste_core::runtime::Entered;

use super::library::library;
use super::object_ref::ObjectRef;
use super::request::{self, AtEnd, CommKey, Failure, SharedAtEnd};

/// A partitioned request.
struct Partitioned {
    id: RequestId,
    comm: CommKey,
    /// Where: its VCI is that of the partitions, too.
    owner: ObjectRef<Comm>,
    end: Mutex<End>,
}

enum End {
    Sending(Sending),
    Receiving(Receiving),
}

impl Partitioned {
    fn vci(&self) -> Entered<'static> {
        library().world.vci_of(&self.owner)
    }

    fn end(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn go(&self) -> Result<()> {
        let mut vci = self.vci();
        let Vci { engine, methods, .. } = &mut *vci;
        engine.persistent.check_inactive(&engine.requests, self.id)?;
        let started = match &mut *self.end() {
            End::Sending(sending) => sending.start(engine)?,
            End::Receiving(receiving) => receiving.start(engine, methods)?,
        };
        engine.persistent.begin(self.id, started);
        Ok(())
    }

    /// Errors belong to the communicator.
    fn failure(&self, error: Error) -> Failure {
        Failure { comm: Some(self.comm), error }
    }

    fn ready(&self, argument: &'static str, partitions: impl Iterator<Item = i32> + Clone) -> Result<()> {
        let mut vci = self.vci();
        let End::Sending(sending) = &mut *self.end() else {
            let got = "that of a partitioned receive";
            return Err(Error::invalid(ErrorClass::Request, "request", got, "that of a partitioned send"));
        };
        // A wrong number is found before any partition leaves.
        for partition in partitions.clone() {
            sending.may_be_ready(&vci.engine.requests, sending.parts().number(argument, partition)?)?;
        }
        let Vci { engine, methods, .. } = &mut *vci;
        for partition in partitions {
            sending.ready(engine, methods, sending.parts().number(argument, partition)?)?;
        }
        Ok(())
    }

    fn has_arrived(&self, partition: i32) -> Result<bool> {
        let look = || {
            let vci = self.vci();
            let End::Receiving(receiving) = &*self.end() else {
                let got = "that of a partitioned send";
                return Err(Error::invalid(
                    ErrorClass::Request,
                    "request",
                    got,
                    "that of a partitioned receive",
                ));
            };
            let partition = receiving.parts().number("partition", partition)?;
            Ok(receiving.has_arrived(&vci.engine.requests, partition))
        };
        if look()? {
            return Ok(true);
        }
        library().world.step_in(&self.owner);
        look()
    }
}

impl AtEnd for Partitioned {
    fn start(&self) -> std::result::Result<(), Failure> {
        self.go().map_err(|error| self.failure(error))
    }

    fn cancel(&self, _over: bool) -> Result<bool> {
        let got = "a partitioned request";
        Err(Error::invalid(ErrorClass::Request, "request", got, "one that can be cancelled (MPI-5.0 §4.2.1)"))
    }

    fn freed(&self) -> Result<bool> {
        let mut vci = self.vci();
        if request::waited_for(&vci, self.id).is_some() {
            let got = "an active partitioned request";
            let expected = "one that is complete: it cannot be freed before (MPI-5.0 §4.2.1)";
            return Err(Error::invalid(ErrorClass::Request, "request", got, expected));
        }
        let Vci { engine, methods, .. } = &mut *vci;
        if let Some(over) = engine.persistent.forget(self.id) {
            engine.requests.remove(over);
        }
        match &mut *self.end() {
            End::Sending(sending) => sending.forget(engine),
            End::Receiving(receiving) => receiving.forget(engine, methods),
        }
        Ok(true)
    }
}

/// A request for sending. `parts` describes the buffer.
pub(crate) fn send_init(
    comm: ObjectRef<Comm>,
    key: CommKey,
    dest: i32,
    tag: i32,
    parts: impl FnOnce() -> Result<Parts>,
) -> Result<RequestId> {
    let world = &library().world;
    let to = comm.destination(dest)?;
    check_tag(tag)?;
    let parts = parts()?;
    let channel = world.allocate_context_beside(&comm)?;
    let sending = Sending::new(to, comm.rank(), channel, parts);
    let (partitioned, id) = make(key, comm.clone(), End::Sending(sending))?;
    let announced = {
        let mut vci = partitioned.vci();
        let Vci { engine, methods, .. } = &mut *vci;
        match &*partitioned.end() {
            End::Sending(sending) => sending.announce(engine, methods, comm.context(), tag),
            End::Receiving(_) => Ok(()),
        }
    };
    announced.or_else(|error| take_back(id, error)).map(|()| id)
}

/// A request for receiving.
pub(crate) fn recv_init(
    comm: ObjectRef<Comm>,
    key: CommKey,
    source: i32,
    tag: i32,
    parts: impl FnOnce() -> Result<Parts>,
) -> Result<RequestId> {
    let from = comm.source(source)?;
    check_tag(tag)?;
    let parts = parts()?;
    if from.is_none() {
        let nobody = Receiving::from_nobody(&Status { source, ..Status::EMPTY }, parts);
        return make(key, comm, End::Receiving(nobody)).map(|(_, id)| id);
    }
    let (partitioned, id) = make(key, comm.clone(), End::Receiving(Receiving::new(source, tag, parts)))?;
    let at = partitioned.clone();
    let handler = move |_, status: &Status| {
        let mut vci = at.vci();
        let Vci { engine, methods, .. } = &mut *vci;
        if let End::Receiving(receiving) = &mut *at.end() {
            receiving.announced(engine, methods, status);
        }
    };
    let listening = {
        let mut vci = partitioned.vci();
        let Vci { engine, methods, .. } = &mut *vci;
        match &mut *partitioned.end() {
            End::Receiving(receiving) => receiving.listen(engine, methods, comm.context(), Box::new(handler)),
            End::Sending(_) => Ok(()),
        }
    };
    listening.or_else(|error| take_back(id, error)).map(|()| id)
}

fn make(key: CommKey, owner: ObjectRef<Comm>, end: End) -> Result<(Arc<Partitioned>, RequestId)> {
    let id = {
        let engine = &mut library().world.vci_of(&owner).engine;
        let id = engine.requests.insert(Request::new(State::Inactive))?;
        engine.persistent.insert(id, None);
        id
    };
    let partitioned = Arc::new(Partitioned { id, comm: key, owner, end: Mutex::new(end) });
    request::persists(id, key, partitioned.clone());
    Ok((partitioned, id))
}

/// A request that cannot be: the other side does not hear of it.
#[cold]
fn take_back(id: RequestId, error: Error) -> Result<()> {
    request::free(library().world.vci_with(id.slot as usize), id)?;
    Err(error)
}

/// Partitioned operations have no wildcards.
fn check_tag(tag: i32) -> Result<()> {
    if tag < 0 {
        return Err(Error::invalid(ErrorClass::Tag, "tag", tag, format_args!("0..={TAG_UB}")));
    }
    Ok(())
}

/// What is behind a request, if it is partitioned.
pub(crate) fn behind(id: RequestId) -> Option<SharedAtEnd> {
    request::special(id).filter(|behind| as_partitioned(behind).is_some())
}

fn as_partitioned(behind: &SharedAtEnd) -> Option<&Partitioned> {
    let behind: &dyn Any = &**behind;
    behind.downcast_ref()
}

/// These partitions may leave.
pub(crate) fn ready(
    behind: &SharedAtEnd,
    argument: &'static str,
    partitions: impl Iterator<Item = i32> + Clone,
) -> std::result::Result<(), Failure> {
    as_partitioned(behind).map_or(Ok(()), |partitioned| {
        partitioned.ready(argument, partitions).map_err(|error| partitioned.failure(error))
    })
}

/// Whether a partition has arrived.
pub(crate) fn has_arrived(behind: &SharedAtEnd, partition: i32) -> std::result::Result<bool, Failure> {
    as_partitioned(behind).map_or(Ok(true), |partitioned| {
        partitioned.has_arrived(partition).map_err(|error| partitioned.failure(error))
    })
}
