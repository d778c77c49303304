//! C functions for pack and unpack (MPI-5.0 §5.2, §5.3).
//!
//! What must stay true: nothing is written beyond the size that the caller gave.

use std::ffi::{c_char, c_int, c_void};

use posthaste_core::buffer::Base;
use posthaste_core::datatype::{Datatype, Segment, external};
use posthaste_core::error::{Error, ErrorClass, Result};

use crate::abi::constants::MPI_UNDEFINED;
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype};
use crate::call::mpi_fn;
use crate::layer::library::library;
use crate::object::communicator;
use crate::object::datatype::{committed, find};
use crate::object::memory::{array, base, count as checked_count, segment_to_pack};
use crate::object::site::Site;

// Pack and unpack.
mpi_fn! {
    /// MPI-5.0 §5.2
    fn MPI_Pack / PMPI_Pack(inbuf: *const c_void, incount: c_int, datatype: MPI_Datatype,
        outbuf: *mut c_void, outsize: c_int, position: Out<c_int>, comm: MPI_Comm) raises comm => {
        communicator::find("comm", comm)?;
        let from = segment_to_pack(inbuf, incount.into(), datatype)?;
        let at = pack(from, outbuf, outsize.into(), position.get("position")?.into())?;
        position.set("position", at as c_int)
    }
    /// MPI-5.0 §5.2
    fn MPI_Unpack / PMPI_Unpack(inbuf: *const c_void, insize: c_int, position: Out<c_int>,
        outbuf: *mut c_void, outcount: c_int, datatype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        communicator::find("comm", comm)?;
        let to = segment_to_pack(outbuf, outcount.into(), datatype)?;
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
        let from = segment_to_pack(inbuf, incount, datatype)?;
        let at = pack(from, outbuf, outsize, position.get("position")?)?;
        position.set("position", at)
    }
    /// MPI-5.0 §5.2
    fn MPI_Unpack_c / PMPI_Unpack_c(inbuf: *const c_void, insize: MPI_Count, position: Out<MPI_Count>,
        outbuf: *mut c_void, outcount: MPI_Count, datatype: MPI_Datatype, comm: MPI_Comm) raises comm => {
        communicator::find("comm", comm)?;
        let to = segment_to_pack(outbuf, outcount, datatype)?;
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
mpi_fn! {
    /// MPI-5.0 §5.3
    fn MPI_Pack_external / PMPI_Pack_external(datarep: In<c_char>, inbuf: *const c_void, incount: c_int,
        datatype: MPI_Datatype, outbuf: *mut c_void, outsize: MPI_Aint, position: Out<MPI_Aint>)
        raises Site::Process => {
        let at = position.get("position")? as i64;
        let at = pack_external(datarep, (inbuf, incount.into(), datatype), (outbuf, outsize as i64), at)?;
        position.set("position", at as MPI_Aint)
    }
    /// MPI-5.0 §5.3
    fn MPI_Pack_external_c / PMPI_Pack_external_c(datarep: In<c_char>, inbuf: *const c_void,
        incount: MPI_Count, datatype: MPI_Datatype, outbuf: *mut c_void, outsize: MPI_Count,
        position: Out<MPI_Count>) raises Site::Process => {
        let at = position.get("position")?;
        let at = pack_external(datarep, (inbuf, incount, datatype), (outbuf, outsize), at)?;
        position.set("position", at)
    }
    /// MPI-5.0 §5.3
    fn MPI_Unpack_external / PMPI_Unpack_external(datarep: In<c_char>, inbuf: *const c_void, insize: MPI_Aint,
        position: Out<MPI_Aint>, outbuf: *mut c_void, outcount: c_int, datatype: MPI_Datatype)
        raises Site::Process => {
        let at = position.get("position")? as i64;
        let at = unpack_external(datarep, (inbuf, insize as i64), at, (outbuf, outcount.into(), datatype))?;
        position.set("position", at as MPI_Aint)
    }
    /// MPI-5.0 §5.3
    fn MPI_Unpack_external_c / PMPI_Unpack_external_c(datarep: In<c_char>, inbuf: *const c_void,
        insize: MPI_Count, position: Out<MPI_Count>, outbuf: *mut c_void, outcount: MPI_Count,
        datatype: MPI_Datatype) raises Site::Process => {
        let at = position.get("position")?;
        let at = unpack_external(datarep, (inbuf, insize), at, (outbuf, outcount, datatype))?;
        position.set("position", at)
    }
    /// MPI-5.0 §5.3
    fn MPI_Pack_external_size / PMPI_Pack_external_size(datarep: In<c_char>, incount: c_int,
        datatype: MPI_Datatype, size: Out<MPI_Aint>) raises Site::Process => {
        check_datarep(datarep)?;
        size.set("size", external_size(incount.into(), datatype)? as MPI_Aint)
    }
    /// MPI-5.0 §5.3
    fn MPI_Pack_external_size_c / PMPI_Pack_external_size_c(datarep: In<c_char>, incount: MPI_Count,
        datatype: MPI_Datatype, size: Out<MPI_Count>) raises Site::Process => {
        check_datarep(datarep)?;
        size.set("size", external_size(incount, datatype)? as MPI_Count)
    }
}

/// Packs to `outbuf` from byte `position` on, and returns the position behind.
fn pack(from: Segment, outbuf: *mut c_void, outsize: i64, position: i64) -> Result<i64> {
    check_room("outsize", outsize, position, from.len())?;
    let len = from.len() as usize;
    if len > 0 {
        not_null("outbuf", outbuf)?;
        // SAFETY: within the bytes that the program has there.
        let base = unsafe { base(outbuf.wrapping_byte_offset(position as isize)) };
        library().world.copy(from, Segment::bytes_at(base, len as u64))?;
    }
    Ok(position + len as i64)
}

/// Unpacks from `inbuf`, beginning at byte `position`, and returns the position behind.
fn unpack(to: Segment, inbuf: *const c_void, insize: i64, position: i64) -> Result<i64> {
    check_room("insize", insize, position, to.len())?;
    let len = to.len() as usize;
    if len > 0 {
        not_null("inbuf", inbuf)?;
        // SAFETY: within the bytes that the program has there.
        let base = unsafe { base(inbuf.wrapping_byte_offset(position as isize)) };
        library().world.copy(Segment::bytes_at(base, len as u64), to)?;
    }
    Ok(position + len as i64)
}

/// A buffer of the caller: address and bytes.
type Bytes<P> = (P, i64);

/// A buffer of the caller with elements of a datatype.
type Elements<P> = (P, i64, MPI_Datatype);

/// As `pack`, in `external32`.
fn pack_external(
    datarep: In<c_char>,
    (inbuf, incount, datatype): Elements<*const c_void>,
    (outbuf, outsize): Bytes<*mut c_void>,
    position: i64,
) -> Result<i64> {
    check_datarep(datarep)?;
    let bytes = external_size(incount, datatype)?;
    let from = typed_segment("inbuf", inbuf, incount, datatype)?;
    check_room("outsize", outsize, position, bytes)?;
    if bytes > 0 {
        not_null("outbuf", outbuf)?;
        // SAFETY: within the bytes that the program has there.
        let base = || unsafe { base(outbuf.wrapping_byte_offset(position as isize)) };
        let to = Segment::bytes_at(base(), bytes);
        if from.is_on_device() || to.is_on_device() {
            pack_external_of_device(from, to)?;
        } else {
            external::pack(&from, 0, base().sink(bytes as usize))?;
        }
    }
    Ok(position + bytes as i64)
}

/// As `unpack`, from `external32`.
fn unpack_external(
    datarep: In<c_char>,
    (inbuf, insize): Bytes<*const c_void>,
    position: i64,
    (outbuf, outcount, datatype): Elements<*mut c_void>,
) -> Result<i64> {
    check_datarep(datarep)?;
    let bytes = external_size(outcount, datatype)?;
    let to = typed_segment("outbuf", outbuf, outcount, datatype)?;
    check_room("insize", insize, position, bytes)?;
    if bytes > 0 {
        not_null("inbuf", inbuf)?;
        // SAFETY: within the bytes that the program has there.
        let base = || unsafe { base(inbuf.wrapping_byte_offset(position as isize)) };
        let from = Segment::bytes_at(base(), bytes);
        if from.is_on_device() || to.is_on_device() {
            unpack_external_of_device(from, to)?;
        } else {
            external::unpack(&to, 0, base().source(bytes as usize));
        }
    }
    Ok(position + bytes as i64)
}

/// As `pack_external`, through memory of ours.
#[cold]
fn pack_external_of_device(from: Segment, to: Segment) -> Result<()> {
    let (mut native, mut packed) = (vec![0u8; from.len() as usize], vec![0u8; to.len() as usize]);
    // SAFETY: as long as the data, and they stay behind the copies.
    let [host, form] = [&mut native, &mut packed].map(|memory| unsafe { Base::new(memory.as_mut_ptr()) });
    let (host, form) = (from.repacked_at(host), Segment::bytes_at(form, to.len()));
    library().world.copy(from, host.clone())?;
    // SAFETY: as above.
    let packing = external::pack(&host, 0, unsafe { Base::new(packed.as_mut_ptr()) }.sink(packed.len()));
    library().world.copy(form, to)?;
    packing
}

/// As `unpack_external`, through memory of ours.
#[cold]
fn unpack_external_of_device(from: Segment, to: Segment) -> Result<()> {
    let (mut native, mut packed) = (vec![0u8; to.len() as usize], vec![0u8; from.len() as usize]);
    // SAFETY: as long as the data, and they stay behind the copies.
    let [host, form] = [&mut native, &mut packed].map(|memory| unsafe { Base::new(memory.as_mut_ptr()) });
    let (host, form) = (to.repacked_at(host), Segment::bytes_at(form, from.len()));
    library().world.copy(from, form)?;
    // SAFETY: as above.
    external::unpack(&host, 0, unsafe { Base::new(packed.as_mut_ptr()) }.source(packed.len()));
    library().world.copy(host, to)
}

/// `external32` is the only representation that MPI-5.0 §5.3 knows.
fn check_datarep(datarep: In<c_char>) -> Result<()> {
    match datarep.text("datarep")?.as_str() {
        "external32" => Ok(()),
        other => {
            let (class, got) = (ErrorClass::UnsupportedDatarep, format_args!("\"{other}\""));
            Err(Error::invalid(class, "datarep", got, "\"external32\""))
        }
    }
}

fn typed_segment(
    argument: &'static str,
    buf: *const c_void,
    count: i64,
    handle: MPI_Datatype,
) -> Result<Segment> {
    let count = checked_count("count", count)?;
    let datatype = committed("datatype", handle)?;
    // SAFETY: the program describes its buffer by this count and datatype.
    let base = unsafe { base(array(argument, buf, count, &datatype)?) };
    Ok(Segment::typed_at(base, count, &datatype))
}

fn external_size(incount: i64, datatype: MPI_Datatype) -> Result<u64> {
    let count = checked_count("incount", incount)?;
    let datatype = find("datatype", datatype)?;
    external::packed_size(count, &datatype).ok_or_else(|| too_many(count, &datatype))
}

#[cold]
fn too_many(count: u64, datatype: &Datatype) -> Error {
    let expected = format_args!("elements of {datatype:?} within 63 bits");
    Error::invalid(ErrorClass::Count, "incount", count, expected)
}

/// Checks that `needed` bytes lie behind a position.
fn check_room(argument: &'static str, size: i64, position: i64, needed: u64) -> Result<()> {
    if size < 0 {
        return Err(Error::invalid(ErrorClass::Arg, argument, size, "0 or more"));
    }
    if position < 0 || position > size {
        return Err(Error::invalid(ErrorClass::Arg, "position", position, format_args!("0..={size}")));
    }
    let left = (size - position) as u64;
    if needed > left {
        let got = format_args!("{size} with {left} bytes left behind position {position}");
        let expected = format_args!("{needed} packed bytes there");
        return Err(Error::invalid(ErrorClass::Truncate, argument, got, expected));
    }
    Ok(())
}

fn packed_size(incount: i64, datatype: MPI_Datatype) -> Result<u64> {
    let count = checked_count("incount", incount)?;
    let datatype = find("datatype", datatype)?;
    count
        .checked_mul(datatype.size())
        .filter(|size| i64::try_from(*size).is_ok())
        .ok_or_else(|| too_many(count, &datatype))
}

fn not_null(argument: &'static str, buf: *const c_void) -> Result<()> {
    if buf.is_null() {
        return Err(Error::invalid(ErrorClass::Buffer, argument, "NULL", "the address of a buffer"));
    }
    Ok(())
}
