//! C functions for reduction operations (MPI-5.0 §6.9).
//!
//! A function of the program enters the engine as a closure. What must stay true: the engine may be entered while it runs, so
//! what it calls of MPI does not look for handlers that are due.

use std::ffi::{c_int, c_void};

use posthaste_core::datatype::Datatype;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::op::{self, Op};

use crate::abi::constants::{MPI_DATATYPE_NULL, MPI_OP_NULL};
use crate::abi::pointer::Out;
use crate::abi::types::{MPI_Count, MPI_Datatype, MPI_Op, MPI_User_function, MPI_User_function_c};
use crate::call::mpi_fn;
use crate::layer::buffers::operands_apart;
use crate::layer::library::library;
use crate::mapping::types;
use crate::object::datatype;
use crate::object::memory::{array, base, count as checked_count};
use crate::object::op::{any, find, remove, store};
use crate::object::site::Site;

mpi_fn! {
    /// MPI-5.0 §6.9.5
    fn MPI_Op_create / PMPI_Op_create(user_fn: MPI_User_function, commute: c_int, op: Out<MPI_Op>)
        raises Site::Process => {
        let Some(function) = user_fn else { return Err(no_function()) };
        // Longer arrays come in several calls.
        const MOST: u64 = c_int::MAX as u64;
        create(op, commute, move |input, inout, count, datatype, handle| {
            let mut done = 0;
            while done < count {
                let mut now = (count - done).min(MOST) as c_int;
                let mut handle = handle;
                let by = (done as isize).wrapping_mul(datatype.extent() as isize);
                let (input, inout) = (input.wrapping_offset(by).cast(), inout.wrapping_offset(by).cast());
                // SAFETY: the program gave the function for this use; both arrays hold `now` elements.
                unsafe { function(input, inout, &mut now, &mut handle) };
                done += (count - done).min(MOST);
            }
        })
    }
    /// MPI-5.0 §6.9.5
    fn MPI_Op_create_c / PMPI_Op_create_c(user_fn: MPI_User_function_c, commute: c_int, op: Out<MPI_Op>)
        raises Site::Process => {
        let Some(function) = user_fn else { return Err(no_function()) };
        create(op, commute, move |input, inout, count, _, handle| {
            let (mut count, mut handle) = (count as MPI_Count, handle);
            // SAFETY: the program gave the function for this use; both arrays hold `count` elements.
            unsafe { function(input.cast(), inout.cast(), &mut count, &mut handle) };
        })
    }
    /// MPI-5.0 §6.9.5
    fn MPI_Op_free / PMPI_Op_free(op: Out<MPI_Op>) raises Site::Process => {
        let handle = op.get("op")?;
        if let Some(found) = types::operation(handle) {
            let got = format_args!("the predefined {}", found.name());
            return Err(Error::invalid(ErrorClass::Op, "op", got, "an operation made by the program"));
        }
        remove(handle)?;
        op.set("op", MPI_OP_NULL)
    }
    /// MPI-5.0 §6.9.7
    fn MPI_Op_commutative / PMPI_Op_commutative(op: MPI_Op, commute: Out<c_int>) raises Site::Process => {
        commute.set("commute", c_int::from(any("op", op)?.is_commutative()))
    }
    /// MPI-5.0 §6.9.6
    fn MPI_Reduce_local / PMPI_Reduce_local(inbuf: *const c_void, inoutbuf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, op: MPI_Op) raises Site::Process => {
        reduce_local(inbuf, inoutbuf, count.into(), datatype, op)
    }
    /// MPI-5.0 §6.9.6
    fn MPI_Reduce_local_c / PMPI_Reduce_local_c(inbuf: *const c_void, inoutbuf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, op: MPI_Op) raises Site::Process => {
        reduce_local(inbuf, inoutbuf, count, datatype, op)
    }
}

/// Makes an operation of a function that also wants the handle of the datatype.
fn create(
    op: Out<MPI_Op>,
    commute: c_int,
    function: impl Fn(*mut u8, *mut u8, u64, &Datatype, MPI_Datatype) + Send + Sync + 'static,
) -> Result<()> {
    let with_handle = move |input: *mut u8, inout: *mut u8, count: u64, datatype: &Datatype| {
        match datatype::handle_for(datatype) {
            Ok((handle, new)) => {
                op::calling(|| function(input, inout, count, datatype, handle));
                if new {
                    let _ = datatype::remove("datatype", handle);
                }
            }
            // 2^19 types exist: there is no handle to show to the function.
            Err(_) => op::calling(|| function(input, inout, count, datatype, MPI_DATATYPE_NULL)),
        }
    };
    op.set("op", store(Op::user(with_handle, commute != 0))?)
}

#[cold]
fn no_function() -> Error {
    Error::invalid(ErrorClass::Arg, "user_fn", "NULL", "a function")
}

fn reduce_local(
    inbuf: *const c_void,
    inoutbuf: *mut c_void,
    count: i64,
    datatype: MPI_Datatype,
    op: MPI_Op,
) -> Result<()> {
    let count = checked_count("count", count)?;
    let datatype = datatype::committed("datatype", datatype)?;
    let op = find(op, &datatype)?;
    let input = array("inbuf", inbuf, count, &datatype)?;
    let inout = array("inoutbuf", inoutbuf, count, &datatype)?;
    // SAFETY: the program describes both of its buffers by this count and datatype.
    let (input, inout) = unsafe { (base(input), base(inout)) };
    operands_apart(&input, &inout, count, &datatype)?;
    library().world.reduce_locally(&op, &datatype, (input, inout), count)
}
