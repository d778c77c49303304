//! Continuations, as the MPI forum's working group proposes them (hybrid-issues 6): the program gives its requests away, and a
//! function is called when all of them are over. Each request gets a handler (`core::pt2pt::handlers`) that completes it.
//!
//! A continuation request is a persistent one of the library. Each start of it is a whole of as many parts as continuations
//! are registered and have not run.
//!
//! What must stay true: a continuation runs once, outside all locks, while its continuation request is active; whoever is told
//! that the request is over finds all of them run.

use std::any::Any;
use std::collections::{HashSet, VecDeque};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::RequestId;
use posthaste_core::pt2pt::handlers::given_away;
use posthaste_core::pt2pt::recv;
use posthaste_core::request::{
    Composite, Handler, Invoke, Request, State, Status, Table, complete, composite,
};
use posthaste_core::runtime::{Entered, is_progress_thread};

use super::handlers::attach;
use crate::abi::constants::{MPI_COMM_SELF, MPI_INFO_NULL, MPI_REQUEST_NULL, MPI_SUCCESS};
use crate::abi::pointer::Out;
use crate::abi::types::{MPI_Info, MPI_Request, MPI_Status};
use crate::call::extension_fn;
use crate::handle;
use crate::layer::library::{library, watch};
use crate::layer::request::{self, AtEnd, Failure, TESTS};
use crate::mapping::errors::{self, code};
use crate::object::info;
use crate::object::memory::length;
use crate::object::site::{Located, Outcome};
use crate::request::completion;

const REQBUF_VOLATILE: c_int = 1 << 0;
const REQUESTS_FREE: c_int = 1 << 1;
const POLL_ONLY: c_int = 1 << 2;
const DEFER_COMPLETE: c_int = 1 << 3;
const INVOKE_FAILED: c_int = 1 << 4;

/// `MPIX_Continue_cb_function *`.
pub type ContinueFunction = Option<unsafe extern "C" fn(c_int, *mut c_void) -> c_int>;

/// What is to be called.
struct Continuation {
    function: unsafe extern "C" fn(c_int, *mut c_void) -> c_int,
    data: AtomicPtr<c_void>,
    invoke_failed: bool,
}

/// How a continuation request runs its continuations.
#[derive(Clone, Copy, Default)]
struct Manner {
    poll_only: bool,
    defer: bool,
    /// 0: any number.
    max_poll: usize,
    /// Also on the progress thread.
    any_thread: bool,
}

/// A continuation request.
struct Continuations {
    id: RequestId,
    manner: Manner,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    /// Continuations that are registered and have not run.
    missing: usize,
    /// Those that may run, each with the error code of its operations.
    ready: VecDeque<(Continuation, c_int)>,
    /// Somebody has been asked to run them.
    polled: bool,
    /// The program has let the request go.
    freed: bool,
    failed: Vec<AtomicPtr<c_void>>,
}

/// Several operations with one continuation.
struct Together {
    of: Arc<Continuations>,
    state: Mutex<Missing>,
}

struct Missing {
    /// Operations that go on, and one more while they are being registered.
    operations: usize,
    continuation: Option<Continuation>,
    /// Of the first operation that failed.
    code: c_int,
}

/// The handler of one of them.
struct Part {
    together: Arc<Together>,
    /// Where its status goes.
    status: AtomicPtr<c_void>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

extension_fn! {
    /// Makes a continuation request, inactive.
    fn MPIX_Continue_init(flags: c_int, max_poll: c_int, info: MPI_Info, cont_req: Out<MPI_Request>) {
        cont_req.ready("cont_req")?;
        let manner = manner(flags, max_poll, info)?;
        let world = &library().world;
        let continuations = {
            let engine = &mut world.vci_of(world.own()).engine;
            let id = engine.requests.insert(Request::new(State::Inactive))?;
            engine.persistent.insert(id, None);
            engine.watch_request(id, true);
            Arc::new(Continuations { id, manner, queue: Mutex::default() })
        };
        let id = continuations.id;
        request::persists(id, completion::key(MPI_COMM_SELF), continuations);
        request::is_handled(id, None);
        watch();
        Ok(completion::hand_over(id, cont_req)?)
    }

    /// Registers a continuation of one operation.
    fn MPIX_Continue(
        request: Out<MPI_Request>,
        cb: ContinueFunction,
        cb_data: *mut c_void,
        flags: c_int,
        status: Out<MPI_Status>,
        cont_req: MPI_Request,
    ) {
        request.ready("request")?;
        register(1, request, Continued { cb, cb_data, flags }, status, cont_req)
    }

    /// Registers a continuation of several operations.
    fn MPIX_Continueall(
        count: c_int,
        array_of_requests: Out<MPI_Request>,
        cb: ContinueFunction,
        cb_data: *mut c_void,
        flags: c_int,
        array_of_statuses: Out<MPI_Status>,
        cont_req: MPI_Request,
    ) {
        let count = length("count", count.into())?;
        let continued = Continued { cb, cb_data, flags };
        register(count, array_of_requests, continued, array_of_statuses, cont_req)
    }

    /// Tells what was registered with continuations that failed, and forgets them.
    fn MPIX_Continue_get_failed(cont_req: MPI_Request, count: Out<c_int>, cb_data: Out<*mut c_void>) {
        let room = length("count", count.get("count")?.into())?;
        let continuations = find(cont_req)?;
        let mut queue = locked(&continuations.queue);
        let told = queue.failed.len().min(room);
        for (place, failed) in queue.failed.drain(..told).enumerate() {
            cb_data.set_at("cb_data", place, failed.load(Ordering::Relaxed))?;
        }
        Ok(count.set("count", told as c_int)?)
    }
}

/// What the program asks for, in the flags and the keys of an info object.
fn manner(flags: c_int, max_poll: c_int, handle: MPI_Info) -> Result<Manner> {
    let max_poll = length("max_poll", max_poll.into())?;
    if flags & !(POLL_ONLY | DEFER_COMPLETE) != 0 {
        let expected = "MPIX_CONT_POLL_ONLY, MPIX_CONT_DEFER_COMPLETE or 0";
        return Err(Error::invalid(ErrorClass::Arg, "flags", flags, expected));
    }
    let mut manner = Manner {
        poll_only: flags & POLL_ONLY != 0,
        defer: flags & DEFER_COMPLETE != 0,
        max_poll,
        any_thread: false,
    };
    if handle == MPI_INFO_NULL {
        return Ok(manner);
    }
    let hints = info::find("info", handle)?;
    let text =
        |key: &str| hints.get(key.as_bytes()).map(|value| String::from_utf8_lossy(&value).into_owned());
    let wrong = |key: &str, value: String, expected: &str| {
        Err(Error::invalid(ErrorClass::InfoValue, "info", format!("{key} = {value}"), expected))
    };
    for (key, switch) in [
        ("mpi_continue_poll_only", &mut manner.poll_only),
        ("mpi_continue_enqueue_complete", &mut manner.defer),
    ] {
        match text(key).as_deref() {
            None => {}
            Some("true" | "1" | "yes") => *switch = true,
            Some("false" | "0" | "no") => *switch = false,
            Some(value) => return wrong(key, value.to_owned(), "true or false"),
        }
    }
    if let Some(value) = text("mpi_continue_max_poll") {
        let Ok(number) = value.parse() else {
            return wrong("mpi_continue_max_poll", value, "a number, 0 or more");
        };
        manner.max_poll = number;
    }
    match text("mpi_continue_thread").as_deref() {
        None | Some("application") => {}
        Some("all" | "any") => manner.any_thread = true,
        Some(value) => return wrong("mpi_continue_thread", value.to_owned(), "all or application"),
    }
    Ok(manner)
}

/// The arguments of a registration.
struct Continued {
    cb: ContinueFunction,
    cb_data: *mut c_void,
    flags: c_int,
}

/// What is behind a continuation request.
fn find(cont_req: MPI_Request) -> Result<Arc<Continuations>> {
    let wrong = |got: String| {
        let expected = "a continuation request of MPIX_Continue_init";
        Error::invalid(ErrorClass::Request, "cont_req", got, expected)
    };
    if cont_req == MPI_REQUEST_NULL {
        return Err(wrong("MPI_REQUEST_NULL".into()));
    }
    let (_, id) = completion::enter(cont_req)?;
    let behind = request::special(id).map(|behind| -> Arc<dyn Any + Send + Sync> { behind });
    let found = behind.and_then(|behind| behind.downcast::<Continuations>().ok());
    found.ok_or_else(|| wrong(format!("{cont_req:#x}, which is another request")))
}

fn register(
    count: usize,
    requests: Out<MPI_Request>,
    Continued { cb, cb_data, flags }: Continued,
    statuses: Out<MPI_Status>,
    cont_req: MPI_Request,
) -> Outcome {
    let known = REQBUF_VOLATILE | REQUESTS_FREE | POLL_ONLY | DEFER_COMPLETE | INVOKE_FAILED;
    if flags & !known != 0 {
        return Err(Error::invalid(ErrorClass::Arg, "flags", flags, "a sum of MPIX_CONT_ constants").into());
    }
    let Some(function) = cb else {
        return Err(Error::invalid(ErrorClass::Arg, "cb", "NULL", "a function").into());
    };
    let of = find(cont_req)?;
    let mut seen = HashSet::new();
    // Nothing is given away before everything is right.
    for at in 0..count {
        let request = requests.nth(at).get("array_of_requests")?;
        if request == cont_req {
            let got = "the continuation request itself";
            return Err(Error::invalid(ErrorClass::Request, "request", got, "another request").into());
        }
        if request == MPI_REQUEST_NULL {
            continue;
        }
        let (vci, id) = completion::enter(request)?;
        if vci.engine.handlers.stays(id) {
            return Err(given_away().into());
        }
        // What was over when it was started is any number of operations.
        if id != Table::DONE && !seen.insert(id) {
            let got = format!("{request:#x}, for the second time");
            return Err(
                Error::invalid(ErrorClass::Request, "array_of_requests", got, "each request once").into()
            );
        }
    }
    of.registers()?;
    let invoke_failed = flags & INVOKE_FAILED != 0;
    let continuation = Some(Continuation { function, data: cb_data.into(), invoke_failed });
    let state = Mutex::new(Missing { operations: 1, continuation, code: MPI_SUCCESS });
    let together = Arc::new(Together { of: of.clone(), state });
    let mut given = Ok(());
    for at in 0..count {
        given = give(requests.nth(at), statuses.nth_status(at), &together);
        if given.is_err() {
            break;
        }
    }
    let code = given.as_ref().err().map_or(MPI_SUCCESS, |failed: &Located| code(&failed.error));
    together.one_is_over(code, of.manner.defer || flags & DEFER_COMPLETE != 0);
    given
}

/// Gives an operation away.
fn give(place: Out<MPI_Request>, status: Out<MPI_Status>, together: &Arc<Together>) -> Outcome {
    let request = place.get("array_of_requests")?;
    if request == MPI_REQUEST_NULL {
        status.set_status_at(0, MPI_Status::EMPTY);
        return Ok(());
    }
    let stays = {
        let (vci, id) = completion::enter(request)?;
        vci.engine.persistent.is_persistent(id)
    };
    // Before its handler runs, which may be inside of this.
    place.set("array_of_requests", if stays { request } else { MPI_REQUEST_NULL })?;
    locked(&together.state).operations += 1;
    let part = Part { together: together.clone(), status: status.place().into() };
    attach(request, Arc::new(part)).map(drop).inspect_err(|_| {
        locked(&together.state).operations -= 1;
        _ = place.set("array_of_requests", request);
    })
}

impl Invoke for Part {
    fn stays(&self) -> bool {
        true
    }

    fn invoke(&self, id: RequestId) {
        let request = MPI_Request::numbered(handle::of_request(Table::handle(id)));
        let status = Out::<MPI_Status>::at(self.status.load(Ordering::Relaxed));
        let taken = completion::take::<TESTS>(&mut completion::vci_of(request), request);
        let code = match taken {
            Ok(Some(ended)) => match completion::plain(ended) {
                Ok(told) => {
                    status.set_status_at(0, MPI_Status { MPI_ERROR: MPI_SUCCESS, ..told });
                    MPI_SUCCESS
                }
                Err(odd) => {
                    let (told, outcome) = completion::settle(odd);
                    let code = outcome.err().map_or(MPI_SUCCESS, |failed| code(&failed.error));
                    told.into_iter()
                        .for_each(|told| status.set_status_at(0, MPI_Status { MPI_ERROR: code, ..told }));
                    code
                }
            },
            Ok(None) => MPI_SUCCESS,
            Err(error) => code(&error),
        };
        // It was for this once, and nobody asks for the request again.
        _ = library().world.detach(id);
        library().world.vci_with(id.slot as usize).engine.handlers.report_gone(Table::handle(id));
        self.together.one_is_over(code, false);
    }
}

impl Together {
    /// An operation is over, or their registration. With the last one the continuation may run: not at once if it `waits`.
    fn one_is_over(&self, code: c_int, waits: bool) {
        let (continuation, code) = {
            let mut state = locked(&self.state);
            state.operations -= 1;
            if state.code == MPI_SUCCESS {
                state.code = code;
            }
            if state.operations > 0 {
                return;
            }
            (state.continuation.take(), state.code)
        };
        continuation.into_iter().for_each(|continuation| self.of.may_run(continuation, code, waits));
    }
}

impl Continuations {
    fn vci(&self) -> Entered<'static> {
        library().world.vci_with(self.id.slot as usize)
    }

    /// Whether the calling thread may run continuations.
    fn is_for_this_thread(&self) -> bool {
        self.manner.any_thread || !is_progress_thread()
    }

    /// A continuation is registered.
    fn registers(&self) -> Result<()> {
        let mut vci = self.vci();
        locked(&self.queue).missing += 1;
        if let Some(whole) = vci.engine.persistent.active(self.id) {
            composite::reopen(&mut vci.engine.requests, whole);
            vci.engine.arm(self.id)?;
        }
        Ok(())
    }

    /// The operations of a continuation are over.
    fn may_run(self: &Arc<Self>, continuation: Continuation, code: c_int, waits: bool) {
        let mut vci = self.vci();
        let active = vci.engine.persistent.active(self.id);
        let mut queue = locked(&self.queue);
        let (without_test, here) = if queue.freed {
            // Nobody can test the request any more, but nobody has asked for a thread of the library either.
            let any_thread = self.manner.any_thread && !self.manner.poll_only;
            (true, any_thread || !is_progress_thread())
        } else {
            (active.is_some() && !self.manner.poll_only && !waits, self.is_for_this_thread())
        };
        if without_test && here {
            drop((queue, vci));
            return self.run(&continuation, code);
        }
        queue.ready.push_back((continuation, code));
        active.into_iter().for_each(|active| vci.engine.is_to_be_looked_at(active, true));
        drop((queue, vci));
        if without_test {
            self.leave_to_program();
        }
    }

    /// The progress thread leaves those that are ready to whichever thread of the program comes by: it may wait for something
    /// else than this request.
    fn leave_to_program(self: &Arc<Self>) {
        let of = Arc::clone(self);
        library().world.leave_to_program(Box::new(move || of.run_ready(usize::MAX)));
        watch();
    }

    /// Runs one, outside all locks.
    fn run(&self, continuation: &Continuation, code: c_int) {
        let data = continuation.data.load(Ordering::Relaxed);
        let failed = if code == MPI_SUCCESS || continuation.invoke_failed {
            // SAFETY: the program gave the function and its data for this use, once.
            let answer = unsafe { (continuation.function)(code, data) };
            (answer != MPI_SUCCESS).then(|| errors::program(answer, "a continuation returned an error code"))
        } else {
            Some(errors::program(code, "an operation failed that had a continuation, which was not called"))
        };
        let mut vci = self.vci();
        let mut queue = locked(&self.queue);
        queue.missing -= 1;
        if failed.is_some() {
            queue.failed.push(data.into());
        }
        drop(queue);
        let engine = &mut vci.engine;
        if let Some(whole) = engine.persistent.active(self.id) {
            let told = Status { error: failed, ..Status::EMPTY };
            complete::part_ended(&mut engine.requests, &mut engine.finished, whole, told, false);
        }
    }

    /// Runs those that are ready, as many as one test may.
    fn run_ready(&self, most: usize) {
        for _ in 0..most {
            let next = locked(&self.queue).ready.pop_front();
            let Some((continuation, code)) = next else { break };
            self.run(&continuation, code);
        }
        let mut vci = self.vci();
        let mut queue = locked(&self.queue);
        queue.polled = false;
        if queue.ready.is_empty()
            && let Some(active) = vci.engine.persistent.active(self.id)
        {
            vci.engine.is_to_be_looked_at(active, false);
        }
    }

    fn most(&self) -> usize {
        if self.manner.max_poll == 0 { usize::MAX } else { self.manner.max_poll }
    }
}

impl AtEnd for Continuations {
    fn start(&self) -> std::result::Result<(), Failure> {
        {
            let mut vci = self.vci();
            let engine = &mut vci.engine;
            let queue = locked(&self.queue);
            let failed = |error| Failure { comm: Some(completion::key(MPI_COMM_SELF)), error };
            engine.persistent.check_inactive(&engine.requests, self.id).map_err(failed)?;
            let whole = Composite::of(queue.missing);
            let whole = composite::begin(&mut engine.requests, whole, Status::EMPTY).map_err(failed)?;
            engine.persistent.begin(self.id, whole);
            engine.is_to_be_looked_at(whole, !queue.ready.is_empty());
        }
        if !self.manner.poll_only && self.is_for_this_thread() {
            self.run_ready(usize::MAX);
        }
        Ok(())
    }

    fn polled(self: Arc<Self>) -> Option<Handler> {
        let mut queue = locked(&self.queue);
        if queue.ready.is_empty() || queue.polled || !self.is_for_this_thread() {
            return None;
        }
        queue.polled = true;
        drop(queue);
        Some(Box::new(move |_, _| {
            // Another thread may have been quicker than the one that asked.
            let most = if self.is_for_this_thread() { self.most() } else { 0 };
            self.run_ready(most);
        }))
    }

    fn waits_for_handlers(&self) -> bool {
        locked(&self.queue).missing > 0
    }

    fn cancel(&self, _complete: bool) -> Result<bool> {
        Ok(true) // it is no communication
    }

    fn freed(&self) -> Result<bool> {
        {
            let mut vci = self.vci();
            let engine = &mut vci.engine;
            locked(&self.queue).freed = true;
            if let Some(whole) = engine.persistent.forget(self.id) {
                engine.is_to_be_looked_at(whole, false);
                recv::detach(engine, whole);
            }
            engine.watch_request(self.id, false);
        }
        self.run_ready(usize::MAX);
        Ok(true)
    }
}
