//! Buffers of collective operations as C describes them, resolved and checked (MPI-5.0 §2.3, §6.2).
//!
//! Called by `plan`; calls the engine's `datatype::overlap`. What must stay true: buffers that both count at a rank and
//! share a byte are refused, others never are; a check of buffers that are apart takes a few comparisons.

use std::ffi::c_void;

use posthaste_core::buffer::UserBuf;
use posthaste_core::coll::{Blocks, Operand, TypedBlocks};
use posthaste_core::comm::Comm;
use posthaste_core::datatype::{Array, Datatype, Overlap, overlap};
use posthaste_core::error::{Error, ErrorClass, Result};

use crate::abi::constants::MPI_IN_PLACE;
use crate::abi::pointer::{In, Number, Plain};
use crate::abi::types::MPI_Datatype;
use crate::object::datatype::committed;
use crate::object::memory::{array, count as checked_count};

/// One buffer with its count and type, resolved.
pub(crate) struct Data {
    buf: UserBuf,
    count: u64,
    datatype: Datatype,
}

impl Data {
    pub(crate) fn new(
        argument: &'static str,
        buf: *const c_void,
        count: i64,
        datatype: MPI_Datatype,
    ) -> Result<Self> {
        let count = checked_count("count", count)?;
        let datatype = committed("datatype", datatype)?;
        Ok(Self { buf: array(argument, buf, count, &datatype)?, count, datatype })
    }

    /// `None` for `MPI_IN_PLACE`.
    pub(crate) fn unless_in_place(
        argument: &'static str,
        buf: *const c_void,
        count: i64,
        datatype: MPI_Datatype,
    ) -> Result<Option<Self>> {
        if is_in_place(buf) { Ok(None) } else { Self::new(argument, buf, count, datatype).map(Some) }
    }

    /// `None` also where the argument is not looked at.
    pub(crate) fn if_needed(
        needed: bool,
        argument: &'static str,
        buf: *const c_void,
        count: i64,
        datatype: MPI_Datatype,
    ) -> Result<Option<Self>> {
        if needed { Self::unless_in_place(argument, buf, count, datatype) } else { Ok(None) }
    }

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
    buf: UserBuf,
    counts: Vec<u64>,
    displacements: Vec<i64>,
    datatype: Datatype,
}

impl Pieces {
    pub(crate) fn new<C: Plain + Number, D: Plain + Number>(
        buf: *const c_void,
        counts: In<C>,
        displacements: In<D>,
        datatype: MPI_Datatype,
        ranks: usize,
    ) -> Result<Self> {
        let counts = list_of_counts(counts, ranks)?;
        let displacements = list("displs", displacements, ranks)?;
        let datatype = committed("datatype", datatype)?;
        let buf = array("buffer", buf, counts.iter().copied().max().unwrap_or(0), &datatype)?;
        Ok(Self { buf, counts, displacements, datatype })
    }

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
    buf: UserBuf,
    counts: Vec<u64>,
    displacements: Vec<i64>,
    datatypes: Vec<Datatype>,
}

impl TypedPieces {
    pub(crate) fn new<C: Plain + Number, D: Plain + Number>(
        buf: *const c_void,
        counts: In<C>,
        displacements: In<D>,
        datatypes: In<MPI_Datatype>,
        ranks: usize,
    ) -> Result<Self> {
        let counts = list_of_counts(counts, ranks)?;
        let displacements = list("displs", displacements, ranks)?;
        let datatypes = datatypes.slice("datatypes", ranks)?;
        let datatypes = datatypes.iter().map(|one| committed("datatypes", *one)).collect::<Result<_>>()?;
        Ok(Self { buf: crate::object::memory::user_buf(buf), counts, displacements, datatypes })
    }

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

pub(crate) fn is_in_place(buf: *const c_void) -> bool {
    buf.addr() == MPI_IN_PLACE
}

fn list<T: Plain + Number>(argument: &'static str, numbers: In<T>, ranks: usize) -> Result<Vec<i64>> {
    Ok(numbers.slice(argument, ranks)?.iter().map(|number| number.widen()).collect())
}

pub(crate) fn list_of_counts<T: Plain + Number>(counts: In<T>, ranks: usize) -> Result<Vec<u64>> {
    let counts = counts.slice("counts", ranks)?;
    counts
        .iter()
        .enumerate()
        .map(|(rank, count)| {
            u64::try_from(count.widen()).map_err(|_| {
                let got = format_args!("{} for rank {rank}", count.widen());
                Error::invalid(ErrorClass::Count, "counts", got, "0 or more")
            })
        })
        .collect()
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
