//! Requests by their handles: given to the program, and completed.

use posthaste_core::error::{Error, Result};
use posthaste_core::ids::RequestId;
use posthaste_core::progress::Vci;
use posthaste_core::request::{Status, Table};
use posthaste_core::runtime::Entered;

use crate::abi::constants::{MPI_REQUEST_NULL, MPI_SUCCESS};
use crate::abi::pointer::Out;
use crate::abi::types::{MPI_Comm, MPI_Request, MPI_Status, MPI_Win};
use crate::handle::{self, Kind};
use crate::layer::library::library;
use crate::layer::request::{self, CommKey, Ended, Failure, SharedAtEnd};
use crate::mapping::errors::code;
use crate::object::site::{Located, Outcome, Site};

/// The name under which `layer` keeps a communicator.
pub(crate) fn key(comm: MPI_Comm) -> CommKey {
    CommKey(comm.key())
}

impl From<Failure> for Located {
    fn from(failure: Failure) -> Self {
        Self { site: failure.comm.map_or(Site::Process, site), error: failure.error }
    }
}

/// The communicator or window that `layer` keeps under this name.
fn site(CommKey(key): CommKey) -> Site {
    if handle::is_of(Kind::Win, key as usize) {
        return Site::Win(MPI_Win::numbered(key as usize));
    }
    Site::Comm(MPI_Comm::of_key(key))
}

/// Gives a new request of a window to the program; its errors go to the handler of that (MPI-5.0 §12.6).
pub(crate) fn give_of_window(id: RequestId, win: MPI_Win, request: Out<MPI_Request>) -> Result<()> {
    request::belongs(id, CommKey(win.number() as u32));
    hand_over(id, request)
}

/// Gives a new request to the program.
#[inline(always)]
pub(crate) fn give(id: RequestId, comm: MPI_Comm, request: Out<MPI_Request>) -> Result<()> {
    request::belongs(id, key(comm));
    hand_over(id, request)
}

/// Gives a new request with something to run at its end to the program.
pub(crate) fn give_special(
    id: RequestId,
    comm: MPI_Comm,
    at_end: SharedAtEnd,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    request::ends_with(id, key(comm), at_end);
    hand_over(id, request)
}

/// Gives a request that `layer` knows to the program.
#[inline(always)]
pub(crate) fn hand_over(id: RequestId, request: Out<MPI_Request>) -> Result<()> {
    request.set("request", MPI_Request::numbered(handle::of_request(Table::handle(id))))
}

/// The status, if nothing else is to be done.
#[inline(always)]
pub(crate) fn plain(ended: Ended) -> std::result::Result<MPI_Status, Ended> {
    if ended.is_plain() { Ok(MPI_Status::of(&ended.status)) } else { Err(ended) }
}

/// Runs what is to run at the end, outside the engine's lock. The status, if it is to be told, and the message's outcome.
#[cold]
#[inline(never)]
pub(crate) fn settle(ended: Ended) -> (Option<MPI_Status>, Outcome) {
    let (status, outcome) = ended.settle();
    (status.as_ref().map(mpi_status), outcome.map_err(Located::from))
}

/// A status that a function of the program may have filled in, its error too.
fn mpi_status(status: &Status) -> MPI_Status {
    let code = status.error.as_ref().map_or(MPI_SUCCESS, code);
    MPI_Status { MPI_ERROR: code, ..MPI_Status::of(status) }
}

/// The status of a request that is over, went well, and needs nothing else: the common case, without moving it.
#[inline(always)]
pub(crate) fn take_plain(vci: &mut Vci, request: MPI_Request) -> Option<MPI_Status> {
    request::take_plain(vci, handle::to_request(request.number())).map(|status| MPI_Status::of(&status))
}

/// Whether this is the request that is over and has nothing to report; it belongs to no VCI.
#[inline(always)]
pub(crate) fn is_done(request: MPI_Request) -> bool {
    request.number() == handle::of_request(Table::handle(Table::DONE))
}

/// The VCI of a request, whether it exists or not.
#[inline]
pub(crate) fn vci_of(request: MPI_Request) -> Entered<'static> {
    library().world.vci_with(request.number())
}

/// Takes a request out of the table if it is over. `ASKS`: who takes it, of `layer`'s kinds.
///
/// # Errors
/// A handle that names no request.
#[inline(always)]
pub(crate) fn take<const ASKS: u8>(vci: &mut Vci, request: MPI_Request) -> Result<Option<Ended>> {
    match named(vci, request) {
        Some(id) => Ok(request::take::<ASKS>(vci, id)),
        None => take_gone(vci, request),
    }
}

#[cold]
fn take_gone(vci: &mut Vci, request: MPI_Request) -> Result<Option<Ended>> {
    let gone = handle::to_request(request.number()).and_then(|number| request::take_gone(vci, number));
    gone.map_or_else(|| Err(stale(request)), |ended| Ok(Some(ended)))
}

/// The engine's name of a request; `None` for one that its handler has completed, and nobody was told.
pub(crate) fn find_or_gone(vci: &Vci, request: MPI_Request) -> Result<Option<RequestId>> {
    let is_gone = |number| vci.engine.handlers.is_unreported(number);
    match named(vci, request) {
        None if handle::to_request(request.number()).is_some_and(is_gone) => Ok(None),
        None => Err(stale(request)),
        found => Ok(found),
    }
}

/// Whether a wait for this request among others may end: neither null, nor inactive, nor kept from ending by the calling
/// thread, which has disabled its handler.
#[inline]
pub(crate) fn can_end(request: MPI_Request) -> bool {
    request != MPI_REQUEST_NULL && handle::to_request(request.number()).is_none_or(request::can_end)
}

/// The error of a wait that cannot end, if it is one.
#[cold]
pub(crate) fn never_ends(request: MPI_Request) -> Option<Error> {
    let mut vci = vci_of(request);
    let id = find_or_gone(&vci, request).ok()??;
    request::never_ends(&mut vci, id)
}

/// Before something is waited for: the handle names a request, whose end can come.
#[cold]
pub(crate) fn check(vci: &mut Vci, request: MPI_Request) -> Result<()> {
    let Some(id) = find_or_gone(vci, request)? else { return Ok(()) };
    request::never_ends(vci, id).map_or(Ok(()), Err)
}

/// Whether a request may have a handler.
#[inline]
pub(crate) fn may_be_handled(request: MPI_Request) -> bool {
    handle::to_request(request.number()).is_some_and(request::may_be_handled)
}

/// A test of this request is about to say that it is not over.
#[cold]
pub(crate) fn tested(request: MPI_Request, call: &'static str) {
    let found = enter(request).ok().map(|(_, id)| id);
    found.into_iter().for_each(|id| request::tested(id, call));
}

/// Whether there is anything to wait for: neither null nor inactive.
#[inline]
pub(crate) fn is_live(request: MPI_Request) -> bool {
    request != MPI_REQUEST_NULL && handle::to_request(request.number()).is_none_or(request::is_live)
}

/// The request whose end a wait for this one waits for. `None` if that is over.
///
/// # Errors
/// A handle that names no request.
pub(crate) fn waited_for(vci: &Vci, request: MPI_Request) -> Result<Option<RequestId>> {
    Ok(find_or_gone(vci, request)?.and_then(|id| request::waited_for(vci, id)))
}

/// The status of a request that is over, which stays; the empty one for a null request.
pub(crate) fn look(request: MPI_Request) -> Result<Option<MPI_Status>> {
    if request == MPI_REQUEST_NULL {
        return Ok(Some(MPI_Status::EMPTY));
    }
    let vci = vci_of(request);
    let Some(id) = find_or_gone(&vci, request)? else { return Ok(Some(MPI_Status::EMPTY)) };
    Ok(request::look(vci, id)?.as_ref().map(mpi_status))
}

/// The program does not want to hear of the request again (MPI-5.0 §3.7.3).
pub(crate) fn free(request: MPI_Request) -> Result<()> {
    let mut vci = vci_of(request);
    let Some(id) = find_or_gone(&vci, request)? else {
        _ = take_gone(&mut vci, request)?;
        return Ok(());
    };
    request::free(vci, id)
}

/// Cancels a request where that is still possible (MPI-5.0 §3.8.4).
pub(crate) fn cancel(request: MPI_Request) -> Result<()> {
    let vci = vci_of(request);
    let Some(id) = find_or_gone(&vci, request)? else { return Ok(()) };
    request::cancel(vci, id)
}

/// The engine's name of a request.
#[inline(always)]
pub(crate) fn find(vci: &Vci, request: MPI_Request) -> Result<RequestId> {
    named(vci, request).ok_or_else(|| stale(request))
}

/// The same, where there may be none.
#[inline(always)]
fn named(vci: &Vci, request: MPI_Request) -> Option<RequestId> {
    match handle::to_request(request.number())
        .and_then(|number| vci.engine.requests.by_handle(number as usize))
    {
        None if is_done(request) => Some(Table::DONE), // as good in any VCI
        found => found,
    }
}

/// A request in its VCI, which nobody has entered.
#[inline]
pub(crate) fn enter(request: MPI_Request) -> Result<(Entered<'static>, RequestId)> {
    let vci = vci_of(request);
    let id = find(&vci, request)?;
    Ok((vci, id))
}

#[cold]
fn stale(request: MPI_Request) -> Error {
    handle::invalid(Kind::Request, "request", request.number())
}
