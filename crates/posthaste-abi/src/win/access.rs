//! C functions for accesses to the memory of windows (MPI-5.0 §12.3).

use std::ffi::{c_int, c_void};

use posthaste_core::datatype::{Builtin, Datatype, Segment};
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::PROC_NULL;
use posthaste_core::op::{Op, Predefined};
use posthaste_core::win::{At, Window};

use super::short::{self, Data, Target};
use crate::abi::pointer::Out;
use crate::abi::types::{MPI_Aint, MPI_Count, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win};
use crate::call::mpi_fn;
use crate::layer::arguments::count;
use crate::layer::library::library;
use crate::mapping::ranks::rank_in;
use crate::object::memory::{array, plain_segment, segment_of};
use crate::object::{datatype, op, window};
use crate::request::completion;

// Put and get.
mpi_fn! {
    /// MPI-5.0 §12.3.1
    fn MPI_Put / PMPI_Put(origin_addr: *const c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype, win: MPI_Win) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count.into(), origin_datatype), Target(target_rank, target_disp, target_count.into(), target_datatype));
        put(origin, target, win, None)
    }
    /// MPI-5.0 §12.3.1
    fn MPI_Put_c / PMPI_Put_c(origin_addr: *const c_void, origin_count: MPI_Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count, target_datatype: MPI_Datatype, win: MPI_Win) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count, origin_datatype), Target(target_rank, target_disp, target_count, target_datatype));
        put(origin, target, win, None)
    }
    /// MPI-5.0 §12.3.2
    fn MPI_Get / PMPI_Get(origin_addr: *mut c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype, win: MPI_Win) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count.into(), origin_datatype), Target(target_rank, target_disp, target_count.into(), target_datatype));
        get(origin, target, win, None)
    }
    /// MPI-5.0 §12.3.2
    fn MPI_Get_c / PMPI_Get_c(origin_addr: *mut c_void, origin_count: MPI_Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count, target_datatype: MPI_Datatype, win: MPI_Win) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count, origin_datatype), Target(target_rank, target_disp, target_count, target_datatype));
        get(origin, target, win, None)
    }
    /// MPI-5.0 §12.3.5
    fn MPI_Rput / PMPI_Rput(origin_addr: *const c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype, win: MPI_Win, request: Out<MPI_Request>) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count.into(), origin_datatype), Target(target_rank, target_disp, target_count.into(), target_datatype));
        put(origin, target, win, Some(request))
    }
    /// MPI-5.0 §12.3.5
    fn MPI_Rput_c / PMPI_Rput_c(origin_addr: *const c_void, origin_count: MPI_Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count, target_datatype: MPI_Datatype, win: MPI_Win, request: Out<MPI_Request>) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count, origin_datatype), Target(target_rank, target_disp, target_count, target_datatype));
        put(origin, target, win, Some(request))
    }
    /// MPI-5.0 §12.3.5
    fn MPI_Rget / PMPI_Rget(origin_addr: *mut c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype, win: MPI_Win, request: Out<MPI_Request>) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count.into(), origin_datatype), Target(target_rank, target_disp, target_count.into(), target_datatype));
        get(origin, target, win, Some(request))
    }
    /// MPI-5.0 §12.3.5
    fn MPI_Rget_c / PMPI_Rget_c(origin_addr: *mut c_void, origin_count: MPI_Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count, target_datatype: MPI_Datatype, win: MPI_Win, request: Out<MPI_Request>) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count, origin_datatype), Target(target_rank, target_disp, target_count, target_datatype));
        get(origin, target, win, Some(request))
    }
}

// Accumulate.
mpi_fn! {
    /// MPI-5.0 §12.3.4
    fn MPI_Accumulate / PMPI_Accumulate(origin_addr: *const c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count.into(), origin_datatype), Target(target_rank, target_disp, target_count.into(), target_datatype));
        accumulate(origin, target, op, win, None)
    }
    /// MPI-5.0 §12.3.4
    fn MPI_Accumulate_c / PMPI_Accumulate_c(origin_addr: *const c_void, origin_count: MPI_Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count, origin_datatype), Target(target_rank, target_disp, target_count, target_datatype));
        accumulate(origin, target, op, win, None)
    }
    /// MPI-5.0 §12.3.4
    fn MPI_Get_accumulate / PMPI_Get_accumulate(origin_addr: *const c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        result_addr: *mut c_void, result_count: c_int, result_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count.into(), origin_datatype), Target(target_rank, target_disp, target_count.into(), target_datatype));
        let result = Data(result_addr, result_count.into(), result_datatype);
        get_accumulate(origin, result, target, op, win, None)
    }
    /// MPI-5.0 §12.3.4
    fn MPI_Get_accumulate_c / PMPI_Get_accumulate_c(origin_addr: *const c_void, origin_count: MPI_Count, origin_datatype: MPI_Datatype,
        result_addr: *mut c_void, result_count: MPI_Count, result_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count, origin_datatype), Target(target_rank, target_disp, target_count, target_datatype));
        let result = Data(result_addr, result_count, result_datatype);
        get_accumulate(origin, result, target, op, win, None)
    }
    /// MPI-5.0 §12.3.5
    fn MPI_Raccumulate / PMPI_Raccumulate(origin_addr: *const c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: Out<MPI_Request>) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count.into(), origin_datatype), Target(target_rank, target_disp, target_count.into(), target_datatype));
        accumulate(origin, target, op, win, Some(request))
    }
    /// MPI-5.0 §12.3.5
    fn MPI_Raccumulate_c / PMPI_Raccumulate_c(origin_addr: *const c_void, origin_count: MPI_Count, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: Out<MPI_Request>) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count, origin_datatype), Target(target_rank, target_disp, target_count, target_datatype));
        accumulate(origin, target, op, win, Some(request))
    }
    /// MPI-5.0 §12.3.5
    fn MPI_Rget_accumulate / PMPI_Rget_accumulate(origin_addr: *const c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        result_addr: *mut c_void, result_count: c_int, result_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: Out<MPI_Request>) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count.into(), origin_datatype), Target(target_rank, target_disp, target_count.into(), target_datatype));
        let result = Data(result_addr, result_count.into(), result_datatype);
        get_accumulate(origin, result, target, op, win, Some(request))
    }
    /// MPI-5.0 §12.3.5
    fn MPI_Rget_accumulate_c / PMPI_Rget_accumulate_c(origin_addr: *const c_void, origin_count: MPI_Count, origin_datatype: MPI_Datatype,
        result_addr: *mut c_void, result_count: MPI_Count, result_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: Out<MPI_Request>) raises win => {
        let (origin, target) = (Data(origin_addr, origin_count, origin_datatype), Target(target_rank, target_disp, target_count, target_datatype));
        let result = Data(result_addr, result_count, result_datatype);
        get_accumulate(origin, result, target, op, win, Some(request))
    }
    /// MPI-5.0 §12.3.4
    fn MPI_Fetch_and_op / PMPI_Fetch_and_op(origin_addr: *const c_void, result_addr: *mut c_void,
        datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, op: MPI_Op, win: MPI_Win)
        raises win => {
        let (origin, result) = (Data(origin_addr, 1, datatype), Data(result_addr, 1, datatype));
        let target = Target(target_rank, target_disp, 1, datatype);
        if short::combined(&origin, Some(&result), &target, op, win) {
            return Ok(());
        }
        let found = datatype::committed("datatype", datatype)?;
        if !found.is_predefined() {
            let expected = "a predefined datatype";
            return Err(Error::invalid(ErrorClass::Type, "datatype", found.title(), expected));
        }
        get_accumulate(origin, result, target, op, win, None)
    }
    /// MPI-5.0 §12.3.4
    fn MPI_Compare_and_swap / PMPI_Compare_and_swap(origin_addr: *const c_void, compare_addr: *const c_void,
        result_addr: *mut c_void, datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint,
        win: MPI_Win) raises win => {
        let addresses = [compare_addr, origin_addr, result_addr.cast_const()];
        if short::swapped(addresses, datatype, (target_rank, target_disp as i64), win) {
            return Ok(());
        }
        let found = window::find("win", win)?;
        let element = swappable(datatype)?;
        let one = |names, address| buffer(names, Data(address, 1, datatype));
        let new = one(["origin_addr", "count", "datatype"], origin_addr)?;
        let expected = one(["compare_addr", "count", "datatype"], compare_addr)?;
        let old = one(["result_addr", "count", "datatype"], result_addr)?;
        let datatype = Datatype::from(element.named);
        let at = At { rank: rank_in(target_rank), disp: target_disp as i64, count: 1, datatype: &datatype };
        library().world.compare_and_swap(&found.window, (expected, new), old, &at, element)
    }
}

const ORIGIN: [&str; 3] = ["origin_addr", "origin_count", "origin_datatype"];
const RESULT: [&str; 3] = ["result_addr", "result_count", "result_datatype"];

impl Target {
    /// Calls with the target as the engine describes it.
    #[inline]
    fn with<T>(self, call: impl FnOnce(&At<'_>) -> Result<T>) -> Result<T> {
        let Self(rank, disp, elements, handle) = self;
        let datatype = datatype::committed("target_datatype", handle)?;
        let count = count("target_count", elements)?;
        call(&At { rank: rank_in(rank), disp: disp as i64, count, datatype: &datatype })
    }
}

/// A buffer of the program.
#[inline]
fn buffer(names: [&'static str; 3], Data(address, elements, handle): Data) -> Result<Segment> {
    match plain_segment(address, elements, handle) {
        Some(segment) => Ok(segment),
        None => buffer_of_any_type(names, address, elements, handle),
    }
}

#[inline(never)]
fn buffer_of_any_type(
    names: [&'static str; 3],
    address: *const c_void,
    elements: i64,
    handle: MPI_Datatype,
) -> Result<Segment> {
    let count = count(names[1], elements)?;
    let datatype = datatype::committed(names[2], handle)?;
    let address = array(names[0], address, count, &datatype)?;
    Ok(segment_of(address, count, datatype))
}

#[inline]
fn put(origin: Data, target: Target, win: MPI_Win, request: Option<Out<MPI_Request>>) -> Result<()> {
    if request.is_none() && short::copied(&origin, &target, win, Window::put_now) {
        return Ok(());
    }
    put_anywhere(origin, target, win, request)
}

#[inline(never)]
fn put_anywhere(origin: Data, target: Target, win: MPI_Win, request: Option<Out<MPI_Request>>) -> Result<()> {
    let found = window::find("win", win)?;
    let data = buffer(ORIGIN, origin)?;
    ready(&request)?;
    let id = target.with(|at| library().world.put(&found.window, data, at, request.is_some()))?;
    request.map_or(Ok(()), |request| completion::give_of_window(id, win, request))
}

#[inline]
fn get(origin: Data, target: Target, win: MPI_Win, request: Option<Out<MPI_Request>>) -> Result<()> {
    if request.is_none() && short::copied(&origin, &target, win, Window::get_now) {
        return Ok(());
    }
    get_anywhere(origin, target, win, request)
}

#[inline(never)]
fn get_anywhere(origin: Data, target: Target, win: MPI_Win, request: Option<Out<MPI_Request>>) -> Result<()> {
    let found = window::find("win", win)?;
    let into = buffer(ORIGIN, origin)?;
    ready(&request)?;
    let id = target.with(|at| library().world.get(&found.window, into, at, request.is_some()))?;
    request.map_or(Ok(()), |request| completion::give_of_window(id, win, request))
}

#[inline]
fn accumulate(
    origin: Data,
    target: Target,
    op: MPI_Op,
    win: MPI_Win,
    request: Option<Out<MPI_Request>>,
) -> Result<()> {
    if request.is_none() && short::combined(&origin, None, &target, op, win) {
        return Ok(());
    }
    accumulate_anywhere(origin, target, op, win, request)
}

#[inline(never)]
fn accumulate_anywhere(
    origin: Data,
    target: Target,
    op: MPI_Op,
    win: MPI_Win,
    request: Option<Out<MPI_Request>>,
) -> Result<()> {
    let (op, operation) = operation(op)?;
    if operation == Predefined::NoOp {
        let expected = "an operation that changes something: MPI_NO_OP only fetches";
        return Err(Error::invalid(ErrorClass::Op, "op", op.name(), expected));
    }
    update(Some(origin), None, target, (&op, operation), win, request)
}

fn get_accumulate(
    origin: Data,
    result: Data,
    target: Target,
    op: MPI_Op,
    win: MPI_Win,
    request: Option<Out<MPI_Request>>,
) -> Result<()> {
    let (op, operation) = operation(op)?;
    // What is given to MPI_NO_OP is not looked at.
    let origin = (operation != Predefined::NoOp).then_some(origin);
    update(origin, Some(result), target, (&op, operation), win, request)
}

fn update(
    origin: Option<Data>,
    result: Option<Data>,
    target: Target,
    (op, operation): (&Op, Predefined),
    win: MPI_Win,
    request: Option<Out<MPI_Request>>,
) -> Result<()> {
    let found = window::find("win", win)?;
    let ours = |name, data: &Option<Data>| {
        let datatype = data.as_ref().map(|Data(.., handle)| datatype::committed(name, *handle));
        datatype.transpose()
    };
    let (given, taken) = (ours(ORIGIN[2], &origin)?, ours(RESULT[2], &result)?);
    let operands = origin.map(|origin| buffer(ORIGIN, origin)).transpose()?;
    let old = result.map(|result| buffer(RESULT, result)).transpose()?;
    if let (Some(operands), Some(old)) = (&operands, &old)
        && operands.len() != old.len()
    {
        let got = format_args!("{} bytes", old.len());
        let expected = format_args!("{} bytes, as at the origin", operands.len());
        return Err(Error::invalid(ErrorClass::Type, "result_datatype", got, expected));
    }
    ready(&request)?;
    let id = target.with(|at| {
        // Who gives or gets nothing has no elements that could differ.
        let has_elements = |data: &Option<Segment>| {
            at.rank != PROC_NULL && data.as_ref().is_some_and(|data| !data.is_empty())
        };
        let given = given.as_ref().filter(|_| has_elements(&operands));
        let taken = taken.as_ref().filter(|_| has_elements(&old));
        let ours = [(ORIGIN[2], given), (RESULT[2], taken)];
        let element = Window::element(at, &ours, op)?;
        if library().strict {
            op.check_strict(&Datatype::from(element.named))?;
        }
        let what = (element, operation);
        library().world.accumulate(&found.window, operands, old, at, what, request.is_some())
    })?;
    request.map_or(Ok(()), |request| completion::give_of_window(id, win, request))
}

/// The operation with this handle, one of the predefined.
fn operation(handle: MPI_Op) -> Result<(Op, Predefined)> {
    let op = op::any("op", handle)?;
    match op.predefined() {
        Some(operation) => Ok((op, operation)),
        None => {
            let expected = "a predefined operation, MPI_REPLACE or MPI_NO_OP";
            Err(Error::invalid(ErrorClass::Op, "op", op.name(), expected))
        }
    }
}

/// The type of an element that can be compared (MPI-5.0 §12.3.4).
fn swappable(handle: MPI_Datatype) -> Result<&'static Builtin> {
    let datatype = datatype::committed("datatype", handle)?;
    match datatype.builtin().or_else(|| datatype.stands_for()).filter(|builtin| short::is_comparable(builtin))
    {
        Some(element) => Ok(element),
        None => {
            let expected = "a predefined integer, logical or byte type";
            Err(Error::invalid(ErrorClass::Type, "datatype", datatype.title(), expected))
        }
    }
}

/// Whether there is a place for the request, before anything begins.
fn ready(request: &Option<Out<MPI_Request>>) -> Result<()> {
    request.as_ref().map_or(Ok(()), |request| request.ready("request"))
}
