//! Buffers of collective operations, resolved, and the check that they are apart (MPI-5.0 §2.3, §6.2).
//!
//! Made by faces, used by `coll`; calls the engine's `datatype::overlap`. What must stay true: buffers that both count at a
//! rank and share a byte are refused, others never are; a check of buffers that are apart takes a few comparisons.

use posthaste_core::buffer::UserBuf;
use posthaste_core::coll::{Blocks, Operand, TypedBlocks};
use posthaste_core::comm::Comm;
use posthaste_core::datatype::{Array, Datatype, Overlap, overlap};
use posthaste_core::error::{Error, ErrorClass, Result};

/// One buffer with its count and type, resolved.
pub(crate) struct Data {
    /// Where the first element lies.
    pub(crate) buf: UserBuf,
    /// Number of elements.
    pub(crate) count: u64,
    /// Their type.
    pub(crate) datatype: Datatype,
}

impl Data {
    pub(crate) fn operand(&self) -> Operand<'_> {
        Operand::new(self.buf, self.count, &self.datatype)
    }

    /// The memory of one block for each of so many ranks.
    pub(crate) fn memory(&self, ranks: usize) -> impl Iterator<Item = Array<'_>> + Clone {
        memory(self.buf, self.count.saturating_mul(ranks as u64), &self.datatype)
    }
}

/// A buffer with a block for each rank, resolved.
pub(crate) struct Pieces {
    /// What displacements count from.
    pub(crate) buf: UserBuf,
    /// Number of elements of each block.
    pub(crate) counts: Vec<u64>,
    /// Place of each block, in extents of the datatype.
    pub(crate) displacements: Vec<i64>,
    /// Type of the elements.
    pub(crate) datatype: Datatype,
}

impl Pieces {
    /// The memory of all blocks.
    pub(crate) fn memory(&self) -> impl Iterator<Item = Array<'_>> + Clone {
        let extent = self.datatype.extent();
        self.counts.iter().zip(&self.displacements).map(move |(count, displacement)| {
            let buf = self.buf.offset(displacement.wrapping_mul(extent) as isize);
            Array { buf, count: *count, datatype: &self.datatype }
        })
    }

    pub(crate) fn blocks(&self) -> Blocks<'_> {
        Blocks {
            buf: self.buf,
            counts: &self.counts,
            displacements: &self.displacements,
            datatype: &self.datatype,
        }
    }
}

/// A buffer with a block of its own type for each rank, resolved.
pub(crate) struct TypedPieces {
    /// What displacements count from.
    pub(crate) buf: UserBuf,
    /// Number of elements of each block.
    pub(crate) counts: Vec<u64>,
    /// Place of each block, in bytes.
    pub(crate) displacements: Vec<i64>,
    /// Type of the elements of each block.
    pub(crate) datatypes: Vec<Datatype>,
}

impl TypedPieces {
    /// The memory of all blocks.
    pub(crate) fn memory(&self) -> impl Iterator<Item = Array<'_>> + Clone {
        let blocks = self.counts.iter().zip(&self.displacements).zip(&self.datatypes);
        blocks.map(|((count, displacement), datatype)| Array {
            buf: self.buf.offset(*displacement as isize),
            count: *count,
            datatype,
        })
    }

    pub(crate) fn blocks(&self) -> TypedBlocks<'_> {
        TypedBlocks {
            buf: self.buf,
            counts: &self.counts,
            displacements: &self.displacements,
            datatypes: &self.datatypes,
        }
    }
}

/// The memory of one array.
pub(crate) fn memory(
    buf: UserBuf,
    count: u64,
    datatype: &Datatype,
) -> impl Iterator<Item = Array<'_>> + Clone {
    std::iter::once(Array { buf, count, datatype })
}

/// Which buffer may be `MPI_IN_PLACE`.
#[derive(Clone, Copy)]
pub(crate) enum InPlace {
    /// The send buffer.
    Send,
    /// The receive buffer.
    Recv,
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
    let Overlap { first, second, shared } = overlap;
    let got = format_args!(
        "at {:#x}..{:#x}, and recvbuf at {:#x}..{:#x}: both have the bytes at {:#x}..{:#x}",
        first.start, first.end, second.start, second.end, shared.start, shared.end
    );
    // Between two groups nothing is in place (MPI-5.0 §6.2.3).
    let expected = match (comm.remote(), in_place) {
        (Some(_), _) => "buffers that share no byte",
        (None, InPlace::Send) => "buffers that share no byte, or MPI_IN_PLACE as sendbuf",
        (None, InPlace::Recv) => "buffers that share no byte, or MPI_IN_PLACE as recvbuf",
    };
    Error::invalid(ErrorClass::Buffer, "sendbuf", got, expected)
}
