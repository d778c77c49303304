//! Buffers as C describes them, (address, count, datatype), as the engine's segments and buffers (MPI-5.0 §3.2.2).
//!
//! What must stay true: for a predefined datatype nothing is locked, counted or allocated; a count is 0 or more and its
//! bytes fit into 63 bits before the engine sees it.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use posthaste_core::buffer::{Base, Run};
use posthaste_core::datatype::{Builtin, Datatype, Segment};
use posthaste_core::error::Result;

use super::datatype;
use crate::abi::constants::{MPI_BYTE, MPI_DATATYPE_NULL, MPI_IN_PLACE};
use crate::abi::types::{MPI_Datatype, TYPE_PLACES};
use crate::layer::arguments::{self, Address, check_array};
use crate::layer::library::library;
use crate::mapping::types;

pub(crate) use crate::layer::arguments::{count, length};

/// Sizes of the predefined datatypes without holes, by the places of their handles; 0 for all other places.
static SIZES: [AtomicU8; TYPE_PLACES] = [const { AtomicU8::new(0) }; TYPE_PLACES];

/// Whether segments remember their types, to be checked at the receiver.
static TYPED: AtomicBool = AtomicBool::new(false);

/// Fills the table of sizes, unless types are to be checked: then every segment is made the general way. Called once,
/// before MPI is initialised.
pub(crate) fn learn_sizes(check_types: bool) {
    TYPED.store(check_types, Ordering::Relaxed);
    if check_types {
        return;
    }
    for builtin in Builtin::all() {
        if builtin.size as i64 == builtin.extent {
            SIZES[types::handle(builtin.named).place()].store(builtin.size as u8, Ordering::Relaxed);
        }
    }
}

/// Whether an address is neither NULL nor `MPI_IN_PLACE`.
#[inline(always)]
pub(crate) fn is_address(buf: *const c_void) -> bool {
    !buf.is_null() && buf.addr() != MPI_IN_PLACE
}

/// Counts below this times any size of a predefined datatype stay far below 2^63.
const SHORT_COUNT: u64 = 1 << 48;

/// Bytes of a buffer with a predefined datatype; `None` for all other datatypes and for all mistakes.
#[inline(always)]
fn plain_bytes(buf: *const c_void, count: i64, datatype: MPI_Datatype) -> Option<u64> {
    let size = SIZES.get(datatype.place())?.load(Ordering::Relaxed);
    // Negative counts are huge here; neither NULL nor MPI_IN_PLACE is a buffer.
    let named = is_address(buf) || count == 0;
    let fits = size != 0 && (count as u64) < SHORT_COUNT && named;
    fits.then_some((count as u64).wrapping_mul(size.into()))
}

/// The segment of a buffer with a predefined datatype; `None` as for [`plain_bytes`].
#[inline(always)]
pub(crate) fn plain_segment(buf: *const c_void, count: i64, datatype: MPI_Datatype) -> Option<Segment> {
    let bytes = plain_bytes(buf, count, datatype)?;
    // SAFETY: the program describes its buffer by this count and datatype.
    Some(Segment::bytes_at(unsafe { base(buf) }, bytes))
}

/// The same for what is over before its call returns; `None` also for memory of a device.
#[inline(always)]
pub(crate) fn plain_run(buf: *const c_void, count: i64, datatype: MPI_Datatype) -> Option<Run> {
    let bytes = plain_bytes(buf, count, datatype)?;
    // SAFETY: as above.
    Run::at(unsafe { base(buf) }, bytes)
}

/// The segment of a buffer for a message. No elements need no datatype, except with `POSTHASTE_STRICT`.
#[inline]
pub(crate) fn segment(buf: *const c_void, count: i64, datatype: MPI_Datatype) -> Result<Segment> {
    plain_segment(buf, count, datatype).map_or_else(|| message_slow(buf, count, datatype), Ok)
}

/// The segment of a buffer that is packed or unpacked.
#[inline]
pub(crate) fn segment_to_pack(buf: *const c_void, count: i64, datatype: MPI_Datatype) -> Result<Segment> {
    plain_segment(buf, count, datatype).map_or_else(|| segment_slow(buf, count, datatype), Ok)
}

#[cold]
#[inline(never)]
fn message_slow(buf: *const c_void, count: i64, datatype: MPI_Datatype) -> Result<Segment> {
    let is_nothing = datatype == MPI_DATATYPE_NULL && count == 0 && !library().strict;
    segment_slow(buf, count, if is_nothing { MPI_BYTE } else { datatype })
}

#[cold]
#[inline(never)]
fn segment_slow(buf: *const c_void, count: i64, handle: MPI_Datatype) -> Result<Segment> {
    let count = arguments::count("count", count)?;
    let datatype = datatype::committed("datatype", handle)?;
    let buf = array("buf", buf, count, &datatype)?;
    Ok(segment_of(buf, count, datatype))
}

/// So many elements at an address that was checked. They remember their types where these are to be compared.
pub(crate) fn segment_of(buf: *const c_void, count: u64, datatype: Datatype) -> Segment {
    // SAFETY: the program describes its buffer by this count and datatype.
    let base = unsafe { base(buf) };
    if TYPED.load(Ordering::Relaxed) {
        return Segment::typed_at(base, count, &datatype);
    }
    Segment::owning_at(base, count, datatype)
}

/// The address of an array of `count` elements, checked.
#[inline]
pub(crate) fn array(
    argument: &'static str,
    buf: *const c_void,
    count: u64,
    datatype: &Datatype,
) -> Result<*const c_void> {
    let is_short = match datatype.builtin() {
        Some(_) => count < SHORT_COUNT,
        None => [count, datatype.size(), datatype.extent().unsigned_abs()].iter().all(|n| *n < 1 << 31),
    };
    if is_short && is_address(buf) {
        return Ok(buf);
    }
    let address = match buf.addr() {
        _ if buf.is_null() => Address::Null,
        MPI_IN_PLACE => Address::InPlace,
        _ => Address::Some,
    };
    check_array(argument, address, count, datatype).map(|()| buf)
}

/// Takes an address of the program into the engine.
///
/// # Safety
/// As for [`Base::new`]. It is the promise of every C caller (MPI-5.0 §3.2.2, §3.7.2): the buffer that it describes is its
/// own and stays until the operation is complete. So the address is one that the program gave, and it goes to the engine with
/// the counts and datatypes that the program gave with it.
#[inline(always)]
pub(crate) unsafe fn base(buf: *const c_void) -> Base {
    // SAFETY: handed on to the caller.
    unsafe { Base::new(buf.cast_mut().cast()) }
}
