//! C functions for partitioned communication (MPI-5.0 chapter 4).
//!
//! Some headers for this ABI pass the count of `MPI_Psend_init` and `MPI_Precv_init` as a 64-bit integer, others as
//! `int`. Read as an `int`, the low half of what the former pass is the same count.

use std::ffi::{c_int, c_void};

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::pt2pt::partitioned::Parts;

use crate::abi::constants::MPI_REQUEST_NULL;
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Request};
use crate::call::mpi_fn;
use crate::layer::partitioned;
use crate::layer::request::SharedAtEnd;
use crate::mapping::ranks::rank_in;
use crate::object::communicator;
use crate::object::info::hints;
use crate::object::memory::{self, length, segment};
use crate::object::site::Outcome;
use crate::request::completion;

mpi_fn! {
    /// MPI-5.0 §4.2.1
    fn MPI_Psend_init / PMPI_Psend_init(buf: *const c_void, partitions: c_int, count: c_int,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        send_init((buf, partitions, count.into(), datatype), dest, tag, comm, info, request)
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Psend_init_c / PMPI_Psend_init_c(buf: *const c_void, partitions: c_int, count: MPI_Count,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        send_init((buf, partitions, count, datatype), dest, tag, comm, info, request)
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Precv_init / PMPI_Precv_init(buf: *mut c_void, partitions: c_int, count: c_int,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        recv_init((buf, partitions, count.into(), datatype), dest, tag, comm, info, request)
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Precv_init_c / PMPI_Precv_init_c(buf: *mut c_void, partitions: c_int, count: MPI_Count,
        datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm, info: MPI_Info,
        request: Out<MPI_Request>) raises comm => {
        recv_init((buf, partitions, count, datatype), dest, tag, comm, info, request)
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Pready / PMPI_Pready(partition: c_int, request: MPI_Request) raises where it belongs {
        ready(request, "partition", std::iter::once(partition))
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Pready_range / PMPI_Pready_range(partition_low: c_int, partition_high: c_int,
        request: MPI_Request) raises where it belongs {
        if partition_low > partition_high {
            let expected = format_args!("partition_high ({partition_high}) or less");
            return Err(Error::invalid(ErrorClass::Arg, "partition_low", partition_low, expected).into());
        }
        ready(request, "partition", partition_low..=partition_high)
    }
    /// MPI-5.0 §4.2.1
    fn MPI_Pready_list / PMPI_Pready_list(length: c_int, array_of_partitions: In<c_int>,
        request: MPI_Request) raises where it belongs {
        let list = array_of_partitions.slice("array_of_partitions", self::length("length", length.into())?)?;
        ready(request, "an entry of array_of_partitions", list.iter().copied())
    }
    /// MPI-5.0 §4.2.2
    fn MPI_Parrived / PMPI_Parrived(request: MPI_Request, partition: c_int, flag: Out<c_int>)
        raises where it belongs {
        flag.ready("flag")?;
        if request == MPI_REQUEST_NULL {
            return Ok(flag.set("flag", 1)?);
        }
        let arrived = partitioned::has_arrived(&behind(request)?, partition)?;
        Ok(flag.set("flag", c_int::from(arrived))?)
    }
}

/// The buffer of a partitioned operation, checked: address, partitions, elements of each, their datatype.
fn parts(
    (buf, partitions, count, datatype): (*const c_void, c_int, MPI_Count, MPI_Datatype),
) -> Result<Parts> {
    let number = u32::try_from(partitions)
        .map_err(|_| Error::invalid(ErrorClass::Arg, "partitions", partitions, "0 or more"))?;
    memory::count("count", count)?;
    let elements = count.checked_mul(number.into()).ok_or_else(|| {
        let got = format_args!("{count} in each of {partitions} partitions");
        Error::invalid(ErrorClass::Count, "count", got, "a buffer within 63 bits")
    })?;
    Ok(Parts::new(segment(buf, elements, datatype)?, number))
}

fn send_init(
    data: (*const c_void, c_int, MPI_Count, MPI_Datatype),
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
    info: MPI_Info,
    request: Out<MPI_Request>,
) -> Result<()> {
    let found = communicator::find("comm", comm)?;
    let parts = || {
        let parts = parts(data)?;
        hints(info)?;
        request.ready("request").map(|()| parts)
    };
    completion::hand_over(
        partitioned::send_init(found, completion::key(comm), rank_in(dest), tag, parts)?,
        request,
    )
}

fn recv_init(
    data: (*const c_void, c_int, MPI_Count, MPI_Datatype),
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    info: MPI_Info,
    request: Out<MPI_Request>,
) -> Result<()> {
    let found = communicator::find("comm", comm)?;
    let parts = || {
        let parts = parts(data)?;
        hints(info)?;
        request.ready("request").map(|()| parts)
    };
    completion::hand_over(
        partitioned::recv_init(found, completion::key(comm), rank_in(source), tag, parts)?,
        request,
    )
}

/// What is behind the handle of a partitioned request.
fn behind(request: MPI_Request) -> Result<SharedAtEnd> {
    let (_, id) = completion::enter(request)?;
    partitioned::behind(id).ok_or_else(|| {
        let got = format_args!("{request:#x}, which is not partitioned");
        Error::invalid(ErrorClass::Request, "request", got, "a partitioned request")
    })
}

fn ready(
    request: MPI_Request,
    argument: &'static str,
    partitions: impl Iterator<Item = c_int> + Clone,
) -> Outcome {
    Ok(partitioned::ready(&behind(request)?, argument, partitions)?)
}
