//! Programs that survive the loss of processes: the functions of the MPI forum's fault tolerance working group (ULFM), under the names
//! that programs use until a standard has them; `mpi-ext.h` declares them, `docs/faults.md` says what they do.
//!
//! What must stay true: an agreement has stored its bits when it raises that somebody is lost.

use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};

use posthaste_core::comm::Comm;
use posthaste_core::datatype::{Datatype, Segment};
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::group::Group;
use posthaste_core::request::Status;
use posthaste_core::world::Shrinking;

use crate::abi::constants::MPI_COMM_NULL;
use crate::abi::pointer::Out;
use crate::abi::types::{MPI_Comm, MPI_File, MPI_Group, MPI_Request, MPI_Win};
use crate::call::mpi_fn;
use crate::layer::communicator::session_of;
use crate::layer::library::library;
use crate::layer::object_ref::ObjectRef;
use crate::layer::request::AtEnd;
use crate::object::communicator::{self, Reserved};
use crate::object::group;
use crate::object::memory::base;
use crate::object::window;
use crate::request::completion;

mpi_fn! {
    /// Ends whatever members wait for on the communicator, and what they start there later, with `MPIX_ERR_REVOKED`; not
    /// collective.
    fn MPIX_Comm_revoke / PMPIX_Comm_revoke(comm: MPI_Comm) raises comm => {
        library().world.revoke(&*communicator::find("comm", comm)?);
        Ok(())
    }
    /// Whether this process has heard that the communicator is revoked.
    fn MPIX_Comm_is_revoked / PMPIX_Comm_is_revoked(comm: MPI_Comm, flag: Out<c_int>) raises comm => {
        flag.ready("flag")?;
        flag.set("flag", library().world.is_revoked(&*communicator::find("comm", comm)?).into())
    }
    /// The members that this process knows to be lost, in the order in which it heard of them; of both groups of an
    /// intercommunicator.
    fn MPIX_Comm_get_failed / PMPIX_Comm_get_failed(comm: MPI_Comm, failedgrp: Out<MPI_Group>) raises comm => {
        let (failed, _) = library().world.failed(&*communicator::find("comm", comm)?);
        give(comm, failed, failedgrp)
    }
    /// Acknowledges the first ones of the group that `MPIX_Comm_get_failed` gives; how many are acknowledged then.
    fn MPIX_Comm_ack_failed / PMPIX_Comm_ack_failed(comm: MPI_Comm, num_to_ack: c_int, num_acked: Out<c_int>)
        raises comm => {
        num_acked.ready("num_acked")?;
        let comm = communicator::find("comm", comm)?;
        let count = usize::try_from(num_to_ack).map_err(|_| {
            Error::invalid(ErrorClass::Arg, "num_to_ack", num_to_ack, "0 or more")
        })?;
        num_acked.set("num_acked", library().world.acknowledge(&comm, count) as c_int)
    }
    /// Acknowledges all that this process knows to be lost.
    fn MPIX_Comm_failure_ack / PMPIX_Comm_failure_ack(comm: MPI_Comm) raises comm => {
        let comm = communicator::find("comm", comm)?;
        let (failed, _) = library().world.failed(&comm);
        library().world.acknowledge(&comm, failed.size() as usize);
        Ok(())
    }
    /// Those that are acknowledged.
    fn MPIX_Comm_failure_get_acked / PMPIX_Comm_failure_get_acked(comm: MPI_Comm, failedgrp: Out<MPI_Group>)
        raises comm => {
        let (failed, acknowledged) = library().world.failed(&*communicator::find("comm", comm)?);
        give(comm, Group::of(failed.peers().take(acknowledged).collect()), failedgrp)
    }
    /// Agrees on the bits that all have that are alive; fails at all of them if somebody is lost whom not all have acknowledged.
    fn MPIX_Comm_agree / PMPIX_Comm_agree(comm: MPI_Comm, flag: Out<c_int>) raises comm => {
        let own = flag.get("flag")?;
        let (agreed, outcome) =
            library().world.agree("MPIX_Comm_agree", &*communicator::find("comm", comm)?, own)?;
        flag.set("flag", agreed)?;
        outcome
    }
    /// The same, nonblocking.
    fn MPIX_Comm_iagree / PMPIX_Comm_iagree(comm: MPI_Comm, flag: Out<c_int>, request: Out<MPI_Request>)
        raises comm => {
        request.ready("request")?;
        flag.ready("flag")?;
        // SAFETY: the program's promise: an int of its own until the request is complete.
        let place = unsafe { base(flag.address() as *const _) };
        let flags = Segment::elements_at(place, 1, &Datatype::of::<c_int>());
        let id = library().world.start_agree(&*communicator::find("comm", comm)?, flags)?;
        completion::give(id, comm, request)
    }
    /// A communicator of the members that are left.
    fn MPIX_Comm_shrink / PMPIX_Comm_shrink(comm: MPI_Comm, newcomm: Out<MPI_Comm>) raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        let made = library().world.shrink("MPIX_Comm_shrink", &*communicator::find("comm", comm)?)?;
        newcomm.set("newcomm", communicator::store(Some(made))?)
    }
    /// The same, nonblocking: the handle is given at once, and may be used when the request is complete.
    fn MPIX_Comm_ishrink / PMPIX_Comm_ishrink(comm: MPI_Comm, newcomm: Out<MPI_Comm>, request: Out<MPI_Request>)
        raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        request.ready("request")?;
        let reserved = Reserved::new()?;
        let handle = reserved.handle();
        let old = communicator::find("comm", comm)?;
        let (id, shrinking) = library().world.start_shrink(&old)?;
        newcomm.set("newcomm", handle)?;
        let unfinished = Unfinished(Mutex::new(Some((old, shrinking, reserved))));
        completion::give_special(id, comm, Arc::new(unfinished), request)
    }
    /// Ends whatever members wait for in a synchronisation of the window, and what they begin there later except `MPI_Win_free`, with
    /// `MPIX_ERR_REVOKED`; not collective.
    fn MPIX_Win_revoke / PMPIX_Win_revoke(win: MPI_Win) raises win => {
        library().world.revoke_window(&window::find("win", win)?.window);
        Ok(())
    }
    /// Whether this process has heard that the window is revoked.
    fn MPIX_Win_is_revoked / PMPIX_Win_is_revoked(win: MPI_Win, flag: Out<c_int>) raises win => {
        flag.ready("flag")?;
        flag.set("flag", library().world.is_window_revoked(&window::find("win", win)?.window).into())
    }
    /// Not implemented, as files are not.
    fn MPIX_File_revoke / PMPIX_File_revoke(fh: MPI_File) raises crate::object::site::Site::File(fh) => {
        Err(Error::unsupported("MPIX_File_revoke"))
    }
}

/// Gives a group of members to the program.
fn give(comm: MPI_Comm, members: Group, place: Out<MPI_Group>) -> Result<()> {
    place.ready("failedgrp")?;
    let session = session_of(&*communicator::find("comm", comm)?);
    place.set("failedgrp", group::store(Arc::new(members), session)?)
}

/// A communicator of those that are left, in the making.
struct Unfinished(Mutex<Option<(ObjectRef<Comm>, Shrinking, Reserved)>>);

impl AtEnd for Unfinished {
    fn completed(&self, _status: &mut Status) -> Result<()> {
        let unfinished = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((old, shrinking, newcomm)) = unfinished else { return Ok(()) };
        newcomm.fill(library().world.finish_shrink(&old, &shrinking)?);
        Ok(())
    }
}
