//! Buffers of collective operations as C describes them, resolved (MPI-5.0 §6.2).

use std::ffi::c_void;

use posthaste_core::coll::{Data, Pieces, TypedPieces};
use posthaste_core::datatype::Datatype;
use posthaste_core::error::{Error, ErrorClass, Result};

use crate::abi::constants::{MPI_BYTE, MPI_DATATYPE_NULL, MPI_IN_PLACE};
use crate::abi::pointer::{In, Number, Plain};
use crate::abi::types::MPI_Datatype;
use crate::layer::arguments::NULL_PAGE;
use crate::layer::library::library;
use crate::object::datatype::committed;
use crate::object::memory::{array, base, count as checked_count};

/// One buffer with its count and type.
pub(crate) fn data(
    argument: &'static str,
    buf: *const c_void,
    count: i64,
    datatype: MPI_Datatype,
) -> Result<Data> {
    let count = checked_count("count", count)?;
    let datatype = committed("datatype", datatype)?;
    let buf = array(argument, buf, count, &datatype)?;
    // SAFETY: the program describes its buffer by this count and datatype.
    Ok(Data::at(unsafe { base(buf) }, count, datatype))
}

/// A buffer with a block for each rank.
pub(crate) fn pieces<C: Plain + Number, D: Plain + Number>(
    buf: *const c_void,
    counts: In<C>,
    displacements: In<D>,
    datatype: MPI_Datatype,
    ranks: usize,
) -> Result<Pieces> {
    pieces_of(buf, list_of_counts(counts, ranks)?, displacements, datatype)
}

/// The same with counts that are known.
pub(crate) fn pieces_of<D: Plain + Number>(
    buf: *const c_void,
    counts: Vec<u64>,
    displacements: In<D>,
    datatype: MPI_Datatype,
) -> Result<Pieces> {
    let displacements = list("displs", displacements, counts.len())?;
    let datatype = committed("datatype", datatype)?;
    if buf.is_null() {
        // MPI_BOTTOM: each block may have an absolute displacement.
        for (count, displacement) in counts.iter().zip(&displacements) {
            let at = block_at(buf, displacement.wrapping_mul(datatype.extent()));
            array("buffer", at, *count, &datatype)?;
        }
    }
    let most = if buf.is_null() { 0 } else { counts.iter().copied().max().unwrap_or(0) };
    let buf = array("buffer", buf, most, &datatype)?;
    // SAFETY: the program describes its buffer by these lists and this datatype.
    Ok(Pieces::at(unsafe { base(buf) }, counts, displacements, datatype))
}

/// A buffer with a block of its own type for each rank.
pub(crate) fn typed_pieces<C: Plain + Number, D: Plain + Number>(
    buf: *const c_void,
    counts: In<C>,
    displacements: In<D>,
    datatypes: In<MPI_Datatype>,
    ranks: usize,
) -> Result<TypedPieces> {
    typed_pieces_of(buf, list_of_counts(counts, ranks)?, displacements, datatypes)
}

/// The same with counts that are known.
pub(crate) fn typed_pieces_of<D: Plain + Number>(
    buf: *const c_void,
    counts: Vec<u64>,
    displacements: In<D>,
    datatypes: In<MPI_Datatype>,
) -> Result<TypedPieces> {
    let displacements = list("displs", displacements, counts.len())?;
    let datatypes = datatypes.slice("datatypes", counts.len())?;
    let datatypes = datatypes.iter().zip(&counts).map(|(one, count)| type_of_block(*one, *count));
    let datatypes = datatypes.collect::<Result<Vec<_>>>()?;
    if buf.addr() == MPI_IN_PLACE && counts.iter().any(|count| *count > 0) {
        return Err(Error::invalid(ErrorClass::Buffer, "buffer", "MPI_IN_PLACE", "the address of a buffer"));
    }
    for ((count, displacement), datatype) in counts.iter().zip(&displacements).zip(&datatypes) {
        array("buffer", block_at(buf, *displacement), *count, datatype)?;
    }
    // SAFETY: the program describes its buffer by these lists.
    Ok(TypedPieces::at(unsafe { base(buf) }, counts, displacements, datatypes))
}

/// The datatype of a block. As in messages, no elements need none, except with `POSTHASTE_STRICT`.
fn type_of_block(handle: MPI_Datatype, count: u64) -> Result<Datatype> {
    let is_nothing = handle == MPI_DATATYPE_NULL && count == 0 && !library().strict;
    committed("datatypes", if is_nothing { MPI_BYTE } else { handle })
}

/// Where a block begins, for checks only. `MPI_BOTTOM` and an absolute displacement are an address; NULL and an offset are
/// NULL.
fn block_at(buf: *const c_void, displacement: i64) -> *const c_void {
    let at = buf.wrapping_byte_offset(displacement as isize);
    if NULL_PAGE.contains(&(at.addr() as i64)) { std::ptr::null() } else { at }
}

/// What `resolve` makes of a buffer; `None` for `MPI_IN_PLACE`.
pub(super) fn unless_in_place<T>(
    buf: *const c_void,
    resolve: impl FnOnce() -> Result<T>,
) -> Result<Option<T>> {
    if buf.addr() == MPI_IN_PLACE { Ok(None) } else { resolve().map(Some) }
}

fn list<T: Plain + Number>(argument: &'static str, numbers: In<T>, ranks: usize) -> Result<Vec<i64>> {
    Ok(numbers.slice(argument, ranks)?.iter().map(|number| number.widen()).collect())
}

/// Numbers of elements, one for each rank.
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
