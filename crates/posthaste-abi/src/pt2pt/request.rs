//! C functions for completion of requests and what their status says (MPI-5.0 §3.7, §13.2, §13.3).
//!
//! What must stay true: an error of a message goes to the error handler of the communicator of its request;
//! functions that complete several requests report it in the status too.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::RequestId;
use posthaste_core::progress::Vci;
use posthaste_core::wait::Awaited;

use crate::abi::constants::{MPI_REQUEST_NULL, MPI_SUCCESS, MPI_UNDEFINED};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{
    MPI_Count, MPI_Datatype, MPI_Grequest_cancel_function, MPI_Grequest_free_function,
    MPI_Grequest_query_function, MPI_Request, MPI_Status,
};
use crate::call::mpi_fn;
use crate::layer::library::{is_watched, library};
use crate::layer::request::{Ended, TESTS, WAITS, WAITS_AMONG};
use crate::mapping::errors::code;
use crate::mapping::status::{bytes_of, count_as_count, count_as_int, whole_elements};
use crate::object::datatype;
use crate::object::memory::length;
use crate::object::site::{Located, Outcome, Site};
use crate::request::completion::{self, look, plain, settle, take};
use crate::request::grequest;

// Completion of one.
mpi_fn! {
    /// MPI-5.0 §3.7.3
    fn MPI_Wait / PMPI_Wait(request: Out<MPI_Request>, status: Out<MPI_Status>) raises where it belongs {
        let handle = request.get("request")?;
        if handle == MPI_REQUEST_NULL {
            status.set_status_at(0, MPI_Status::EMPTY);
            return Ok(());
        }
        if completion::is_done(handle) && library().world.has_vcis() {
            request.set("request", MPI_REQUEST_NULL)?;
            status.set_status_at(0, MPI_Status::EMPTY);
            return Ok(()); // without a VCI, in which other threads may be
        }
        if let Some(ended) = completion::take_plain(&mut completion::vci_of(handle), handle) {
            request.set("request", MPI_REQUEST_NULL)?;
            status.set_status(&ended);
            return Ok(());
        }
        let awaited = |vci: &Vci| Awaited::All(waited_for(vci, handle).into_iter().collect());
        let world = &library().world;
        let next = |vci: &Vci| waited_for(vci, handle);
        let ended = world.wait_in_order(handle.number(), "MPI_Wait", awaited, next, |vci| {
            take::<WAITS>(vci, handle).transpose()
        })?;
        one_ended(ended, request, status)
    }
    /// MPI-5.0 §3.7.3
    fn MPI_Test / PMPI_Test(request: Out<MPI_Request>, flag: Out<c_int>, status: Out<MPI_Status>)
        raises where it belongs {
        let handle = request.get("request")?;
        if handle == MPI_REQUEST_NULL {
            status.set_status_at(0, MPI_Status::EMPTY);
            return Ok(flag.set("flag", 1)?);
        }
        flag.set("flag", 0)?;
        let mut ended = take::<TESTS>(&mut completion::vci_of(handle), handle)?;
        if ended.is_none() {
            library().world.step_with(handle.number());
            if completion::may_be_handled(handle) {
                completion::tested(handle, "MPI_Test");
            }
            ended = take::<TESTS>(&mut completion::vci_of(handle), handle)?;
        }
        let Some(ended) = ended else { return Ok(()) };
        flag.set("flag", 1)?;
        one_ended(ended, request, status)
    }
    /// MPI-5.0 §3.7.3
    fn MPI_Request_free / PMPI_Request_free(request: Out<MPI_Request>) raises where it belongs {
        completion::free(request.get("request")?)?;
        Ok(request.set("request", MPI_REQUEST_NULL)?)
    }
    /// MPI-5.0 §3.8.4
    fn MPI_Cancel / PMPI_Cancel(request: Out<MPI_Request>) raises where it belongs {
        Ok(completion::cancel(request.get("request")?)?)
    }
}

// Completion of one of several, or of all.
mpi_fn! {
    /// MPI-5.0 §3.7.5
    fn MPI_Waitany / PMPI_Waitany(count: c_int, array_of_requests: Out<MPI_Request>, indx: Out<c_int>,
        status: Out<MPI_Status>) raises where it belongs {
        let requests = handles(count, array_of_requests)?;
        indx.ready("indx")?;
        if !requests.any_can_end() {
            requests.none_is_barred()?;
            indx.set("indx", MPI_UNDEFINED)?;
            status.set_status_at(0, MPI_Status::EMPTY);
            return Ok(());
        }
        let awaited = |vci: &Vci| Awaited::Any(requests.waited_for(vci));
        let world = &library().world;
        let call = "MPI_Waitany";
        let (at, ended) = match requests.home() {
            Home::One(slot) => {
                world.wait_until(slot, call, awaited, |vci| requests.first_ended::<WAITS_AMONG>(vci).transpose())?
            }
            Home::Several(vcis) => {
                world.wait_among(vcis, call, awaited, || requests.first_ended::<WAITS_AMONG>(&mut Each).transpose())?
            }
            Home::Nowhere => {
                let over = |vci: &mut Vci| requests.first_ended::<WAITS_AMONG>(vci).transpose();
                world.wait_until(0, call, awaited, over)?
            }
        };
        indx.set("indx", at as c_int)?;
        one_ended(ended, requests.place(at), status)
    }
    /// MPI-5.0 §3.7.5
    fn MPI_Testany / PMPI_Testany(count: c_int, array_of_requests: Out<MPI_Request>, indx: Out<c_int>,
        flag: Out<c_int>, status: Out<MPI_Status>) raises where it belongs {
        let requests = handles(count, array_of_requests)?;
        flag.ready("flag")?;
        indx.set("indx", MPI_UNDEFINED)?;
        if !requests.any() {
            status.set_status_at(0, MPI_Status::EMPTY);
            return Ok(flag.set("flag", 1)?);
        }
        requests.step();
        let first = requests.first_ended::<TESTS>(&mut Each)?;
        flag.set("flag", c_int::from(first.is_some()))?;
        let Some((at, ended)) = first else { return Ok(()) };
        indx.set("indx", at as c_int)?;
        one_ended(ended, requests.place(at), status)
    }
    /// MPI-5.0 §3.7.5
    fn MPI_Waitall / PMPI_Waitall(count: c_int, array_of_requests: Out<MPI_Request>,
        array_of_statuses: Out<MPI_Status>) raises where it belongs {
        let requests = handles(count, array_of_requests)?;
        let mut batch = Batch::default();
        let (next, mut waits) = (Cell::new(0), 0);
        // One after the other: the last to end decides, whichever it is.
        let awaited = |vci: &Vci| Awaited::All(requests.waited_for(vci));
        let first = |vci: &Vci| waited_for(vci, requests.at(next.get())?);
        let (world, call) = (&library().world, "MPI_Waitall");
        let taken = match requests.home() {
            Home::One(slot) => world.wait_in_order(slot, call, awaited, first, |vci| {
                vci.methods.flush_gathered();
                requests.take_all::<WAITS_AMONG>(vci, &next, &mut waits, &mut batch, array_of_statuses)
            }),
            Home::Several(vcis) => world.wait_among(vcis, call, awaited, || {
                requests.take_all::<WAITS_AMONG>(&mut Each, &next, &mut waits, &mut batch, array_of_statuses)
            }),
            Home::Nowhere => {
                requests.take_in_order::<WAITS_AMONG>(&mut Each, &next, &mut batch, array_of_statuses).unwrap_or(Ok(()))
            }
        };
        let outcome = batch.settle(array_of_statuses);
        taken?;
        outcome
    }
    /// MPI-5.0 §3.7.5
    fn MPI_Testall / PMPI_Testall(count: c_int, array_of_requests: Out<MPI_Request>, flag: Out<c_int>,
        array_of_statuses: Out<MPI_Status>) raises where it belongs {
        let requests = handles(count, array_of_requests)?;
        flag.set("flag", 0)?;
        requests.step();
        let mut batch = Batch::default();
        if !requests.all_ended()? {
            return Ok(());
        }
        let _ = requests.take_in_order::<TESTS>(&mut Each, &Cell::new(0), &mut batch, array_of_statuses).transpose()?;
        flag.set("flag", 1)?;
        batch.settle(array_of_statuses)
    }
    /// MPI-5.0 §3.7.5
    fn MPI_Waitsome / PMPI_Waitsome(incount: c_int, array_of_requests: Out<MPI_Request>, outcount: Out<c_int>,
        array_of_indices: Out<c_int>, array_of_statuses: Out<MPI_Status>) raises where it belongs {
        let requests = handles(incount, array_of_requests)?;
        outcount.ready("outcount")?;
        if requests.count > 0 {
            array_of_indices.ready("array_of_indices")?;
        }
        if !requests.any_can_end() {
            requests.none_is_barred()?;
            return Ok(outcount.set("outcount", MPI_UNDEFINED)?);
        }
        let awaited = |vci: &Vci| Awaited::Any(requests.waited_for(vci));
        let mut batch = Batch::default();
        let (world, call) = (&library().world, "MPI_Waitsome");
        let some = |taken| if matches!(taken, Ok(0)) { None } else { Some(taken) };
        let taken = match requests.home() {
            Home::One(slot) => world.wait_until(slot, call, awaited, |vci| {
                some(requests.take_ended::<WAITS_AMONG>(vci, &mut batch, array_of_indices, array_of_statuses))
            }),
            Home::Several(vcis) => world.wait_among(vcis, call, awaited, || {
                some(requests.take_ended::<WAITS_AMONG>(&mut Each, &mut batch, array_of_indices, array_of_statuses))
            }),
            Home::Nowhere => requests.take_ended::<WAITS_AMONG>(&mut Each, &mut batch, array_of_indices, array_of_statuses),
        }?;
        outcount.set("outcount", taken as c_int)?;
        batch.settle(array_of_statuses)
    }
    /// MPI-5.0 §3.7.5
    fn MPI_Testsome / PMPI_Testsome(incount: c_int, array_of_requests: Out<MPI_Request>, outcount: Out<c_int>,
        array_of_indices: Out<c_int>, array_of_statuses: Out<MPI_Status>) raises where it belongs {
        let requests = handles(incount, array_of_requests)?;
        outcount.ready("outcount")?;
        if requests.count > 0 {
            array_of_indices.ready("array_of_indices")?;
        }
        if !requests.any() {
            return Ok(outcount.set("outcount", MPI_UNDEFINED)?);
        }
        requests.step();
        let mut batch = Batch::default();
        let taken = requests.take_ended::<TESTS>(&mut Each, &mut batch, array_of_indices, array_of_statuses)?;
        outcount.set("outcount", taken as c_int)?;
        batch.settle(array_of_statuses)
    }
}

// A look without completing.
mpi_fn! {
    /// MPI-5.0 §3.7.6
    fn MPI_Request_get_status / PMPI_Request_get_status(request: MPI_Request, flag: Out<c_int>,
        status: Out<MPI_Status>) raises where it belongs {
        flag.set("flag", 0)?;
        library().world.step_with(request.number());
        let found = look(request)?;
        if let Some(found) = &found {
            status.set_status(found);
        }
        Ok(flag.set("flag", c_int::from(found.is_some()))?)
    }
    /// MPI-5.0 §3.7.6
    fn MPI_Request_get_status_any / PMPI_Request_get_status_any(count: c_int,
        array_of_requests: In<MPI_Request>, indx: Out<c_int>, flag: Out<c_int>, status: Out<MPI_Status>)
        raises where it belongs {
        let requests = array_of_requests.slice("array_of_requests", length("count", count.into())?)?;
        flag.set("flag", 0)?;
        indx.set("indx", MPI_UNDEFINED)?;
        step_all(requests);
        if !requests.iter().any(|request| completion::is_live(*request)) {
            status.set_status_at(0, MPI_Status::EMPTY);
            return Ok(flag.set("flag", 1)?);
        }
        for (at, request) in requests.iter().enumerate().filter(|(_, r)| completion::is_live(**r)) {
            if let Some(found) = look(*request).map_err(|error| placed(at, &error))? {
                status.set_status(&found);
                indx.set("indx", at as c_int)?;
                return Ok(flag.set("flag", 1)?);
            }
        }
        Ok(flag.set("flag", 0)?)
    }
    /// MPI-5.0 §3.7.6
    fn MPI_Request_get_status_all / PMPI_Request_get_status_all(count: c_int,
        array_of_requests: In<MPI_Request>, flag: Out<c_int>, array_of_statuses: Out<MPI_Status>)
        raises where it belongs {
        let requests = array_of_requests.slice("array_of_requests", length("count", count.into())?)?;
        flag.set("flag", 0)?;
        step_all(requests);
        let mut found = Vec::with_capacity(requests.len());
        for (at, request) in requests.iter().enumerate() {
            match look(*request).map_err(|error| placed(at, &error))? {
                Some(status) => found.push(status),
                None => return Ok(flag.set("flag", 0)?),
            }
        }
        for (at, status) in found.into_iter().enumerate() {
            array_of_statuses.set_status_at(at, status);
        }
        Ok(flag.set("flag", 1)?)
    }
    /// MPI-5.0 §3.7.6
    fn MPI_Request_get_status_some / PMPI_Request_get_status_some(incount: c_int,
        array_of_requests: In<MPI_Request>, outcount: Out<c_int>, array_of_indices: Out<c_int>,
        array_of_statuses: Out<MPI_Status>) raises where it belongs {
        let requests = array_of_requests.slice("array_of_requests", length("incount", incount.into())?)?;
        outcount.ready("outcount")?;
        if !requests.is_empty() {
            array_of_indices.ready("array_of_indices")?;
        }
        if !requests.iter().any(|request| completion::is_live(*request)) {
            return Ok(outcount.set("outcount", MPI_UNDEFINED)?);
        }
        step_all(requests);
        let mut found = 0;
        for (at, request) in requests.iter().enumerate().filter(|(_, r)| completion::is_live(**r)) {
            if let Some(status) = look(*request).map_err(|error| placed(at, &error))? {
                array_of_indices.set_at("array_of_indices", found, at as c_int)?;
                array_of_statuses.set_status_at(found, status);
                found += 1;
            }
        }
        Ok(outcount.set("outcount", found as c_int)?)
    }
}

// What a status says.
mpi_fn! {
    /// MPI-5.0 §3.2.5
    fn MPI_Get_count / PMPI_Get_count(status: In<MPI_Status>, datatype: MPI_Datatype, count: Out<c_int>)
        raises Site::Process => {
        let size = datatype::find("datatype", datatype)?.size();
        count.set("count", count_as_int(whole_elements(status.get("status")?.bytes(), size)))
    }
    /// MPI-5.0 §3.2.5
    fn MPI_Get_count_c / PMPI_Get_count_c(status: In<MPI_Status>, datatype: MPI_Datatype,
        count: Out<MPI_Count>) raises Site::Process => {
        let size = datatype::find("datatype", datatype)?.size();
        count.set("count", count_as_count(whole_elements(status.get("status")?.bytes(), size)))
    }
    /// MPI-5.0 §5.1.11
    fn MPI_Get_elements / PMPI_Get_elements(status: In<MPI_Status>, datatype: MPI_Datatype,
        count: Out<c_int>) raises Site::Process => {
        let datatype = datatype::find("datatype", datatype)?;
        count.set("count", count_as_int(datatype.elements_in(status.get("status")?.bytes())))
    }
    /// MPI-5.0 §5.1.11
    fn MPI_Get_elements_c / PMPI_Get_elements_c(status: In<MPI_Status>, datatype: MPI_Datatype,
        count: Out<MPI_Count>) raises Site::Process => {
        let datatype = datatype::find("datatype", datatype)?;
        count.set("count", count_as_count(datatype.elements_in(status.get("status")?.bytes())))
    }
    /// MPI-5.0 §5.1.11
    fn MPI_Get_elements_x / PMPI_Get_elements_x(status: In<MPI_Status>, datatype: MPI_Datatype,
        count: Out<MPI_Count>) raises Site::Process => {
        let datatype = datatype::find("datatype", datatype)?;
        count.set("count", count_as_count(datatype.elements_in(status.get("status")?.bytes())))
    }
    /// MPI-5.0 §13.3
    fn MPI_Status_set_elements / PMPI_Status_set_elements(status: Out<MPI_Status>, datatype: MPI_Datatype,
        count: c_int) raises Site::Process => {
        set_elements(status, datatype, count.into())
    }
    /// MPI-5.0 §13.3
    fn MPI_Status_set_elements_c / PMPI_Status_set_elements_c(status: Out<MPI_Status>, datatype: MPI_Datatype,
        count: MPI_Count) raises Site::Process => {
        set_elements(status, datatype, count)
    }
    /// MPI-5.0 §13.3
    fn MPI_Status_set_elements_x / PMPI_Status_set_elements_x(status: Out<MPI_Status>, datatype: MPI_Datatype,
        count: MPI_Count) raises Site::Process => {
        set_elements(status, datatype, count)
    }
}

// Generalised requests.
mpi_fn! {
    /// MPI-5.0 §13.2
    fn MPI_Grequest_start / PMPI_Grequest_start(query_fn: MPI_Grequest_query_function,
        free_fn: MPI_Grequest_free_function, cancel_fn: MPI_Grequest_cancel_function,
        extra_state: *mut c_void, request: Out<MPI_Request>) raises Site::Process => {
        grequest::start(query_fn, free_fn, cancel_fn, extra_state, request)
    }
    /// MPI-5.0 §13.2
    fn MPI_Grequest_complete / PMPI_Grequest_complete(request: MPI_Request) raises Site::Process => {
        grequest::complete(request)
    }
}

mpi_fn! {
    /// MPI-5.0 §3.8.4
    fn MPI_Test_cancelled / PMPI_Test_cancelled(status: In<MPI_Status>, flag: Out<c_int>) anytime {
        flag.set("flag", c_int::from(status.get("status")?.cancelled()))
    }
    /// MPI-5.0 §3.2.5
    fn MPI_Status_get_source / PMPI_Status_get_source(status: In<MPI_Status>, source: Out<c_int>) anytime {
        source.set("source", status.get("status")?.MPI_SOURCE)
    }
    /// MPI-5.0 §3.2.5
    fn MPI_Status_get_tag / PMPI_Status_get_tag(status: In<MPI_Status>, tag: Out<c_int>) anytime {
        tag.set("tag", status.get("status")?.MPI_TAG)
    }
    /// MPI-5.0 §3.2.5
    fn MPI_Status_get_error / PMPI_Status_get_error(status: In<MPI_Status>, error: Out<c_int>) anytime {
        error.set("error", status.get("status")?.MPI_ERROR)
    }
    /// MPI-5.0 §13.3
    fn MPI_Status_set_source / PMPI_Status_set_source(status: Out<MPI_Status>, source: c_int) anytime {
        status.set("status", MPI_Status { MPI_SOURCE: source, ..status.get("status")? })
    }
    /// MPI-5.0 §13.3
    fn MPI_Status_set_tag / PMPI_Status_set_tag(status: Out<MPI_Status>, tag: c_int) anytime {
        status.set("status", MPI_Status { MPI_TAG: tag, ..status.get("status")? })
    }
    /// MPI-5.0 §13.3
    fn MPI_Status_set_error / PMPI_Status_set_error(status: Out<MPI_Status>, error: c_int) anytime {
        status.set("status", MPI_Status { MPI_ERROR: error, ..status.get("status")? })
    }
    /// MPI-5.0 §13.3
    fn MPI_Status_set_cancelled / PMPI_Status_set_cancelled(status: Out<MPI_Status>, flag: c_int) anytime {
        let mut changed = status.get("status")?;
        changed.set_cancelled(flag != 0);
        status.set("status", changed)
    }
}

fn set_elements(status: Out<MPI_Status>, datatype: MPI_Datatype, count: i64) -> Result<()> {
    let datatype = datatype::find("datatype", datatype)?;
    let mut changed = status.get("status")?;
    changed.set_bytes(bytes_of(count, &datatype)?);
    status.set("status", changed)
}

/// Reports the end of one request.
#[inline(always)]
fn one_ended(ended: Ended, request: Out<MPI_Request>, status: Out<MPI_Status>) -> Outcome {
    if !ended.stays {
        request.set("request", MPI_REQUEST_NULL)?;
    }
    match plain(ended) {
        Ok(found) => {
            status.set_status(&found);
            Ok(())
        }
        Err(odd) => {
            let (found, outcome) = settle(odd);
            found.iter().for_each(|found| status.set_status(found));
            outcome
        }
    }
}

/// An error of one of several requests.
#[cold]
fn placed(at: usize, error: &Error) -> Error {
    Error::other(error.class(), format!("array_of_requests[{at}]: {error}"))
}

/// The requests of a call with several: places in the caller's array, read and written one by one.
#[derive(Clone, Copy)]
struct Handles {
    array: Out<MPI_Request>,
    count: usize,
}

fn handles(count: c_int, array: Out<MPI_Request>) -> Result<Handles> {
    let count = length("count", count.into())?;
    if count > 0 {
        array.get("array_of_requests")?;
    }
    Ok(Handles { array, count })
}

/// Where the requests of a call live.
enum Home {
    /// In one VCI, that of this handle.
    One(usize),
    /// In these VCIs, a bit for each.
    Several(u32),
    /// In none: there are only such as were over when they were started.
    Nowhere,
}

/// How a call gets at the VCIs of its requests.
trait Vcis {
    /// Does something in the VCI of a request.
    fn with<T>(&mut self, request: MPI_Request, what: impl FnOnce(&mut Vci) -> T) -> T;
}

/// The VCI that all of them live in, entered.
impl Vcis for Vci {
    #[inline(always)]
    fn with<T>(&mut self, _request: MPI_Request, what: impl FnOnce(&mut Self) -> T) -> T {
        what(self)
    }
}

/// The VCI of each, entered for it.
struct Each;

impl Vcis for Each {
    fn with<T>(&mut self, request: MPI_Request, what: impl FnOnce(&mut Vci) -> T) -> T {
        what(&mut completion::vci_of(request))
    }
}

/// The request whose end a wait for this one waits for, for who says so; a handle that names none has none.
fn waited_for(vci: &Vci, request: MPI_Request) -> Option<RequestId> {
    completion::waited_for(vci, request).ok().flatten()
}

/// One step of progress in the VCIs of requests.
fn step_all(requests: &[MPI_Request]) {
    let vcis =
        requests.iter().fold(0, |vcis, request| vcis | 1 << library().world.vci_number(request.number()));
    library().world.step_among(vcis.max(1));
}

/// Ends of several requests that were taken and still have to be reported.
#[derive(Default)]
struct Batch {
    /// Those that need more than writing a plain status: failed, or with something to run at their end. Each with
    /// its place among the requests and the place of its status.
    odd: Vec<(usize, usize, Ended)>,
}

impl Batch {
    /// Reports the odd ones; the others have their statuses already.
    fn settle(self, statuses: Out<MPI_Status>) -> Outcome {
        let mut failed: Option<Located> = None;
        for (at, place, ended) in self.odd {
            let (found, outcome) = settle(ended);
            let Some(mut found) = found else { continue };
            if let Err(Located { site, error }) = outcome {
                found.MPI_ERROR = code(&error);
                let text = format!("request {at} failed: {error}");
                failed.get_or_insert(Located { site, error: Error::other(ErrorClass::InStatus, text) });
            }
            statuses.set_status_at(place, found);
        }
        failed.map_or(Ok(()), Err)
    }
}

impl Handles {
    /// The handle at a place; `None` after the last.
    #[inline(always)]
    fn at(&self, at: usize) -> Option<MPI_Request> {
        if at < self.count { self.place(at).get("array_of_requests").ok() } else { None }
    }

    /// Places of requests that are not null.
    fn some(&self) -> impl Iterator<Item = (usize, MPI_Request)> {
        let all = (0..self.count).map_while(|at| Some((at, self.at(at)?)));
        all.filter(|(_, request)| *request != MPI_REQUEST_NULL)
    }

    fn any(&self) -> bool {
        self.some().any(|(_, request)| completion::is_live(request))
    }

    /// Whether there is one whose end can be waited for.
    fn any_can_end(&self) -> bool {
        self.some().any(|(_, request)| completion::can_end(request))
    }

    /// Of those whose ends cannot be waited for, none is kept from ending by the calling thread.
    #[cold]
    fn none_is_barred(&self) -> Result<()> {
        let barred = self.some().find_map(|(at, request)| Some((at, completion::never_ends(request)?)));
        barred.map_or(Ok(()), |(at, error)| Err(placed(at, &error)))
    }

    fn place(&self, at: usize) -> Out<MPI_Request> {
        self.array.nth(at)
    }

    /// The VCIs of these requests.
    fn home(&self) -> Home {
        if !library().world.has_vcis() {
            return Home::One(0);
        }
        let mut home = Home::Nowhere;
        for (_, request) in self.some().filter(|(_, request)| !completion::is_done(*request)) {
            let vci = 1 << library().world.vci_number(request.number());
            home = match home {
                Home::Nowhere => Home::One(request.number()),
                Home::One(first) if vci == 1 << library().world.vci_number(first) => home,
                Home::One(first) => Home::Several(vci | 1 << library().world.vci_number(first)),
                Home::Several(vcis) => Home::Several(vcis | vci),
            };
        }
        home
    }

    /// One step of progress in each of their VCIs; handlers that run for them on other threads return.
    fn step(&self) {
        self.progress();
        if is_watched() {
            let handled = self.some().filter(|(_, request)| completion::may_be_handled(*request));
            handled.for_each(|(_, request)| completion::tested(request, "MPI_Test"));
        }
    }

    fn progress(&self) {
        match self.home() {
            Home::One(slot) => library().world.step_with(slot),
            Home::Several(vcis) => library().world.step_among(vcis),
            Home::Nowhere => {}
        }
    }

    /// Takes the first request that is over.
    fn first_ended<const ASKS: u8>(&self, vcis: &mut impl Vcis) -> Result<Option<(usize, Ended)>> {
        for (at, request) in self.some() {
            if let Some(ended) =
                vcis.with(request, |vci| take::<ASKS>(vci, request)).map_err(|error| placed(at, &error))?
                && !ended.is_inactive()
            {
                return Ok(Some((at, ended)));
            }
        }
        Ok(None)
    }

    /// Takes all requests that are over, reports their places and the plain statuses. Returns how many there were.
    fn take_ended<const ASKS: u8>(
        &self,
        vcis: &mut impl Vcis,
        batch: &mut Batch,
        indices: Out<c_int>,
        statuses: Out<MPI_Status>,
    ) -> Result<usize> {
        let mut taken = 0;
        for (at, request) in self.some() {
            let ended = match vcis.with(request, |vci| take::<ASKS>(vci, request)) {
                Ok(ended) => ended,
                Err(error) if taken == 0 => return Err(placed(at, &error)),
                // Those that were taken are reported first.
                Err(_) => break,
            };
            let Some(ended) = ended.filter(|ended| !ended.is_inactive()) else { continue };
            if !ended.stays {
                self.place(at).set("array_of_requests", MPI_REQUEST_NULL)?;
            }
            indices.set_at("array_of_indices", taken, at as c_int)?;
            match plain(ended) {
                Ok(status) => statuses.set_status_at(taken, status),
                Err(ended) => batch.odd.push((at, taken, ended)),
            }
            taken += 1;
        }
        Ok(taken)
    }

    /// The same; a wrong handle further on is an error when something has to be waited for a second time. What is waited for the first time may
    /// be there already.
    #[inline]
    fn take_all<const ASKS: u8>(
        &self,
        vcis: &mut impl Vcis,
        next: &Cell<usize>,
        waits: &mut u32,
        batch: &mut Batch,
        statuses: Out<MPI_Status>,
    ) -> Option<Result<()>> {
        let taken = self.take_in_order::<ASKS>(vcis, next, batch, statuses);
        *waits = waits.saturating_add(taken.is_none().into());
        if taken.is_none() && *waits == 2 {
            return self.check_from(vcis, next.get()).err().map(Err);
        }
        taken
    }

    /// Goes on taking at `next` until one is not over yet; `Some` when all are taken.
    #[inline]
    fn take_in_order<const ASKS: u8>(
        &self,
        vcis: &mut impl Vcis,
        next: &Cell<usize>,
        batch: &mut Batch,
        statuses: Out<MPI_Status>,
    ) -> Option<Result<()>> {
        while let Some(request) = self.at(next.get()) {
            let at = next.get();
            if completion::is_done(request) {
                if let Err(error) = self.place(at).set("array_of_requests", MPI_REQUEST_NULL) {
                    return Some(Err(error));
                }
                statuses.set_status_at(at, MPI_Status::EMPTY);
            } else if let Some(status) = vcis.with(request, |vci| completion::take_plain(vci, request)) {
                if let Err(error) = self.place(at).set("array_of_requests", MPI_REQUEST_NULL) {
                    return Some(Err(error));
                }
                statuses.set_status_at(at, MPI_Status { MPI_ERROR: MPI_SUCCESS, ..status });
            } else if request == MPI_REQUEST_NULL {
                statuses.set_status_at(at, MPI_Status::EMPTY);
            } else {
                let ended = match vcis.with(request, |vci| take::<ASKS>(vci, request)) {
                    Ok(Some(ended)) => ended,
                    Ok(None) => return None,
                    Err(error) => return Some(Err(placed(at, &error))),
                };
                if !ended.stays
                    && let Err(error) = self.place(at).set("array_of_requests", MPI_REQUEST_NULL)
                {
                    return Some(Err(error));
                }
                match plain(ended) {
                    Ok(status) => statuses.set_status_at(at, MPI_Status { MPI_ERROR: MPI_SUCCESS, ..status }),
                    Err(ended) => batch.odd.push((at, at, ended)),
                }
            }
            next.set(at + 1);
        }
        Some(Ok(()))
    }

    /// Whether all handles from a place on are requests', whose ends can come.
    #[cold]
    fn check_from(&self, vcis: &mut impl Vcis, first: usize) -> Result<()> {
        for (at, request) in self.some().filter(|(at, _)| *at >= first) {
            vcis.with(request, |vci| completion::check(vci, request)).map_err(|error| placed(at, &error))?;
        }
        Ok(())
    }

    /// The requests whose ends a wait for these waits for.
    fn waited_for(&self, vci: &Vci) -> Vec<RequestId> {
        self.some().filter_map(|(_, request)| waited_for(vci, request)).collect()
    }

    fn all_ended(&self) -> Result<bool> {
        for (at, request) in self.some() {
            let waited_for = completion::waited_for(&completion::vci_of(request), request);
            if waited_for.map_err(|error| placed(at, &error))?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
