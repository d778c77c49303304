//! The check that the buffers of a collective operation, or of a local reduction, are apart (MPI-5.0 §2.3, §6.2).
//!
//! What must stay true: buffers that both count at a rank and share a byte are refused, others never are; a check of
//! buffers that are apart takes a few comparisons.

use posthaste_core::buffer::Base;
use posthaste_core::comm::Comm;
use posthaste_core::datatype::{Array, Datatype, Overlap, overlap};
use posthaste_core::error::{Error, ErrorClass, Result};

/// The memory of one array.
pub(crate) fn memory<'a>(
    base: &Base,
    count: u64,
    datatype: &'a Datatype,
) -> impl Iterator<Item = Array<'a>> + Clone + use<'a> {
    std::iter::once(Array { address: base.address(), count, datatype })
}

/// Which buffer may be `MPI_IN_PLACE`.
#[derive(Clone, Copy)]
pub(crate) enum InPlace {
    /// The send buffer.
    Send,
    /// The receive buffer.
    Recv,
    /// None, among neighbours (MPI-5.0 §8.6).
    Neither,
}

/// Refuses buffers that share a byte.
#[inline]
pub(crate) fn apart<'a>(
    comm: &Comm,
    send: impl Iterator<Item = Array<'a>> + Clone,
    recv: impl Iterator<Item = Array<'a>> + Clone,
    in_place: InPlace,
) -> Result<()> {
    overlap(send, recv).map_or(Ok(()), |overlap| Err(aliased(comm, &overlap, in_place)))
}

#[cold]
fn aliased(comm: &Comm, overlap: &Overlap, in_place: InPlace) -> Error {
    // Between two groups nothing is in place (MPI-5.0 §6.2.3).
    let expected = match (comm.remote(), in_place) {
        (Some(_), _) | (None, InPlace::Neither) => "buffers that share no byte",
        (None, InPlace::Send) => "buffers that share no byte, or MPI_IN_PLACE as sendbuf",
        (None, InPlace::Recv) => "buffers that share no byte, or MPI_IN_PLACE as recvbuf",
    };
    shared("sendbuf", "recvbuf", overlap, expected)
}

/// Refuses operands of `MPI_Reduce_local` that share a byte.
pub(crate) fn operands_apart(input: &Base, inout: &Base, count: u64, datatype: &Datatype) -> Result<()> {
    let overlap = overlap(memory(input, count, datatype), memory(inout, count, datatype));
    overlap.map_or(Ok(()), |overlap| Err(shared("inbuf", "inoutbuf", &overlap, "buffers that share no byte")))
}

#[cold]
fn shared(argument: &'static str, other: &str, overlap: &Overlap, expected: &str) -> Error {
    let Overlap { first, second, shared } = overlap;
    let got = format_args!(
        "at {:#x}..{:#x}, and {other} at {:#x}..{:#x}: both have the bytes at {:#x}..{:#x}",
        first.start, first.end, second.start, second.end, shared.start, shared.end
    );
    Error::invalid(ErrorClass::Buffer, argument, got, expected)
}
