//! Buffered sends as C describes them: buffers by address, `MPI_BUFFER_AUTOMATIC`, requests.

use std::ffi::{c_int, c_void};

use posthaste_core::comm::Comm;
use posthaste_core::datatype::Segment;
use posthaste_core::error::Result;
use posthaste_core::request::Table;

use super::completion;
use crate::abi::constants::{MPI_BUFFER_AUTOMATIC, MPI_COMM_SELF};
use crate::abi::pointer::Out;
use crate::abi::types::{MPI_Comm, MPI_Request};
use crate::layer::bsend;

pub(crate) use crate::layer::bsend::{Owner, flush, send};

/// Sends; the request is over from the start.
pub(crate) fn isend(
    handle: MPI_Comm,
    comm: &Comm,
    (dest, tag): (c_int, c_int),
    data: &Segment,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    send(comm, dest, tag, data)?;
    completion::give(Table::DONE, handle, request)
}

/// Attaches a buffer.
pub(crate) fn attach(owner: Owner, buffer: *mut c_void, size: i64) -> Result<()> {
    let base = Some(buffer.expose_provenance()).filter(|base| *base != MPI_BUFFER_AUTOMATIC);
    bsend::attach(owner, base, size)
}

/// Gives a buffer back: reports its address, and returns its size.
pub(crate) fn detach(owner: Owner, address: *mut c_void) -> Result<u64> {
    let place = Out::<*mut c_void>::at(address);
    place.ready("buffer_addr")?;
    let (base, size) = bsend::detach(owner)?.unwrap_or((MPI_BUFFER_AUTOMATIC, 0));
    place.set("buffer_addr", std::ptr::with_exposed_provenance_mut(base))?;
    Ok(size)
}

/// A request that is over when all messages have left the buffer.
pub(crate) fn iflush(owner: Owner, request: Out<MPI_Request>) -> Result<()> {
    request.ready("request")?;
    completion::hand_over(bsend::iflush(owner, completion::key(MPI_COMM_SELF))?, request)
}
