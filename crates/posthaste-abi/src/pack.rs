//! C functions for pack and unpack (MPI-5.0 §5.2, §5.3).
//!
//! Called by user programs; calls `posthaste_core::datatype`. What must stay true: nothing is written beyond the
//! size that the caller gave.

use std::ffi::{c_char, c_int, c_void};

use posthaste_core::datatype::Segment;
use posthaste_core::error::{Error, ErrorClass, Result};

use crate::call::{mpi_fn, unsupported};
use crate::communicator;
use crate::constants::MPI_UNDEFINED;
use crate::datatype::find;
use crate::memory::{count as checked_count, segment, user_buf};
use crate::pointer::{In, Out};
use crate::types::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype};

// Pack and unpack.
mpi_fn! {
    /// MPI-5.0 §5.2
    fn MPI_Pack / PMPI_Pack(inbuf: *const c_void, incount: c_int, datatype: MPI_Datatype,
        outbuf: *mut c_void, outsize: c_int, position: Out<c_int>, comm: MPI_Comm) raises comm => {
        communicator::find("comm", comm)?;
        let from = segment(inbuf, incount.into(), datatype)?;
        let at = pack(from, outbuf, outsize.into(), position.get("position")?.into())?;
        position.set("position", at as c_int)
    }
    /// MPI-5.0 §5.2
    fn MPI_Unpack / PMPI_Unpack(inbuf: *const c_void, insize: c_int, position: Out<c_int>,
        outbuf: *mut c_void, outcount: c_int, datatype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        communicator::find("comm", comm)?;
        let to = segment(outbuf, outcount.into(), datatype)?;
        let at = unpack(to, inbuf, insize.into(), position.get("position")?.into())?;
        position.set("position", at as c_int)
    }
    /// MPI-5.0 §5.2
    fn MPI_Pack_size / PMPI_Pack_size(incount: c_int, datatype: MPI_Datatype, comm: MPI_Comm,
        size: Out<c_int>) raises comm => {
        communicator::find("comm", comm)?;
        let packed = packed_size(incount.into(), datatype)?;
        size.set("size", c_int::try_from(packed).unwrap_or(MPI_UNDEFINED))
    }
    /// MPI-5.0 §5.2
    fn MPI_Pack_c / PMPI_Pack_c(inbuf: *const c_void, incount: MPI_Count, datatype: MPI_Datatype,
        outbuf: *mut c_void, outsize: MPI_Count, position: Out<MPI_Count>, comm: MPI_Comm) raises comm => {
        communicator::find("comm", comm)?;
        let from = segment(inbuf, incount, datatype)?;
        let at = pack(from, outbuf, outsize, position.get("position")?)?;
        position.set("position", at)
    }
    /// MPI-5.0 §5.2
    fn MPI_Unpack_c / PMPI_Unpack_c(inbuf: *const c_void, insize: MPI_Count, position: Out<MPI_Count>,
        outbuf: *mut c_void, outcount: MPI_Count, datatype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        communicator::find("comm", comm)?;
        let to = segment(outbuf, outcount, datatype)?;
        let at = unpack(to, inbuf, insize, position.get("position")?)?;
        position.set("position", at)
    }
    /// MPI-5.0 §5.2
    fn MPI_Pack_size_c / PMPI_Pack_size_c(incount: MPI_Count, datatype: MPI_Datatype, comm: MPI_Comm,
        size: Out<MPI_Count>) raises comm => {
        communicator::find("comm", comm)?;
        let packed = packed_size(incount, datatype)?;
        size.set("size", packed as MPI_Count)
    }
}

// Canonical pack and unpack.
unsupported! {
    "5.3";
    fn MPI_Pack_external / PMPI_Pack_external(datarep: In<c_char>, inbuf: *const c_void, incount: c_int,
        datatype: MPI_Datatype, outbuf: *mut c_void, outsize: MPI_Aint, position: Out<MPI_Aint>);
    fn MPI_Pack_external_c / PMPI_Pack_external_c(datarep: In<c_char>, inbuf: *const c_void,
        incount: MPI_Count, datatype: MPI_Datatype, outbuf: *mut c_void, outsize: MPI_Count,
        position: Out<MPI_Count>);
    fn MPI_Unpack_external / PMPI_Unpack_external(datarep: In<c_char>, inbuf: *const c_void, insize: MPI_Aint,
        position: Out<MPI_Aint>, outbuf: *mut c_void, outcount: c_int, datatype: MPI_Datatype);
    fn MPI_Unpack_external_c / PMPI_Unpack_external_c(datarep: In<c_char>, inbuf: *const c_void,
        insize: MPI_Count, position: Out<MPI_Count>, outbuf: *mut c_void, outcount: MPI_Count,
        datatype: MPI_Datatype);
    fn MPI_Pack_external_size / PMPI_Pack_external_size(datarep: In<c_char>, incount: c_int,
        datatype: MPI_Datatype, size: Out<MPI_Aint>);
    fn MPI_Pack_external_size_c / PMPI_Pack_external_size_c(datarep: In<c_char>, incount: MPI_Count,
        datatype: MPI_Datatype, size: Out<MPI_Count>);
}

/// Packs to `outbuf` from byte `position` on, and returns the position behind.
fn pack(mut from: Segment, outbuf: *mut c_void, outsize: i64, position: i64) -> Result<i64> {
    let room = room("outsize", outsize, position)?;
    if from.len() > room {
        let got = format_args!("{outsize} with {room} bytes left behind position {position}");
        let expected = format_args!("room for {} packed bytes", from.len());
        return Err(Error::invalid(ErrorClass::Truncate, "outsize", got, expected));
    }
    let len = from.len() as usize;
    if len > 0 {
        not_null("outbuf", outbuf)?;
        from.pack(user_buf(outbuf).offset(position as isize).sink(len));
    }
    Ok(position + len as i64)
}

/// Unpacks from `inbuf`, beginning at byte `position`, and returns the position behind.
fn unpack(mut to: Segment, inbuf: *const c_void, insize: i64, position: i64) -> Result<i64> {
    let rest = room("insize", insize, position)?;
    if to.len() > rest {
        let got = format_args!("{insize} with {rest} bytes left behind position {position}");
        let expected = format_args!("{} packed bytes", to.len());
        return Err(Error::invalid(ErrorClass::Truncate, "insize", got, expected));
    }
    let len = to.len() as usize;
    if len > 0 {
        not_null("inbuf", inbuf)?;
        to.unpack(user_buf(inbuf).offset(position as isize).source(len));
    }
    Ok(position + len as i64)
}

/// Bytes behind a position.
fn room(argument: &'static str, size: i64, position: i64) -> Result<u64> {
    if size < 0 {
        return Err(Error::invalid(ErrorClass::Arg, argument, size, "0 or more"));
    }
    if position < 0 || position > size {
        return Err(Error::invalid(ErrorClass::Arg, "position", position, format_args!("0..={size}")));
    }
    Ok((size - position) as u64)
}

fn packed_size(incount: i64, datatype: MPI_Datatype) -> Result<u64> {
    let count = checked_count("incount", incount)?;
    let datatype = find("datatype", datatype)?;
    count.checked_mul(datatype.size()).filter(|size| i64::try_from(*size).is_ok()).ok_or_else(|| {
        let expected = format_args!("elements of {datatype:?} within 63 bits");
        Error::invalid(ErrorClass::Count, "incount", count, expected)
    })
}

fn not_null(argument: &'static str, buf: *const c_void) -> Result<()> {
    if buf.is_null() {
        return Err(Error::invalid(ErrorClass::Buffer, argument, "NULL", "the address of a buffer"));
    }
    Ok(())
}
