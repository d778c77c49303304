//! The one place where a request ends, and what then happens, in this order. One whose buffer is memory of a device comes
//! here twice: when its transfer is over, which starts the last copy (`pt2pt::staging`), and when the device is done.
//!
//! 1. Its status is there, and its buffer is the user's again.
//! 2. Its handler, if it has one, is due: queued, and run outside all locks (`runtime::handlers`). Only the handler itself may
//!    complete the request meanwhile (seed 004).
//! 3. It is *complete*: a wait or test may take its status.
//! 4. Who wants to know is notified: the thread that sleeps for it, the task that awaits it, or the request that it is a part of, whose end follows this
//!    list too. A request of which nobody wants to know leaves the table.
//! 5. Who takes the status, or looks at it, runs what a binding has to add, on its own thread: the query function of a
//!    generalized request, the last step of a communicator in the making, the error handler.
//!
//! Every kind of request ends here, whoever ends it: a packet handler, a method, a schedule, the last part of a composite
//! request, or somebody outside the engine ([`crate::request::outside`]). Nobody asks a request whether it is over.

use std::collections::VecDeque;
use std::task::Waker;

use posthaste_os::park::SleeperId;

use crate::ids::RequestId;
use crate::request::tasks::{TaskId, Tasks};
use crate::request::{AtEnd, Audience, Handler, Request, State, Status, Table};

/// A handler that is to be run.
pub enum Due {
    /// Something that the library does at the end of this request, and what the request tells.
    Run(RequestId, Handler, Status),
    /// A handler of the program, attached to the request that it knows by this name.
    Invoke(RequestId),
    /// A task is woken, which has awaited a request or a message.
    Wake(Waker),
}

/// What the end of requests leaves to be done outside the lock.
#[derive(Default)]
pub struct Finished {
    /// Handlers to be run, in the order in which their requests ended.
    pub handlers: VecDeque<Due>,
    /// Requests whose handlers are due and may not be run now: handlers are disabled, or nest too deep here.
    pub postponed: Vec<RequestId>,
    /// Counts every end, so that a waiter sees that something happened.
    pub ends: u64,
    /// Requests in device memory whose transfers are over, for `pt2pt::staging`.
    pub staged: Vec<RequestId>,
    /// Sleepers that are to be notified of an end, once for each.
    pub sleepers: Vec<SleeperId>,
    /// The tasks that await requests.
    pub tasks: Tasks,
}

impl std::fmt::Debug for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Finished").field("handlers", &self.handlers.len()).field("ends", &self.ends).finish()
    }
}

impl Finished {
    /// A task is to be woken, and awaits its request no more.
    fn wake(&mut self, task: TaskId) {
        self.handlers.extend(self.tasks.take(task).map(Due::Wake));
    }
}

/// Ends a request: fills in its status, queues its handler, and forgets it if nobody will ask. One whose buffer is device
/// memory ends when the device is done with it.
#[inline]
pub fn complete(table: &mut Table, finished: &mut Finished, id: RequestId, status: Status) {
    let Some(request) = table.get_mut(id) else { return };
    if let Err(status) = complete_plain(request, finished, status) {
        complete_special(table, finished, id, status);
    }
}

/// Ends a request that somebody waits for and that has no handler: the common case, for who holds it already. The
/// status comes back where that is not so.
///
/// # Errors
/// The status, for [`complete`].
#[inline(always)]
pub fn complete_plain(request: &mut Request, finished: &mut Finished, status: Status) -> Result<(), Status> {
    debug_assert!(is_active(&request.state), "{:?} ends twice", request.state);
    if request.handler.is_some() || request.staged || request.audience != Audience::Caller {
        return Err(status);
    }
    finished.ends += 1;
    request.status = status;
    request.state = State::Complete;
    Ok(())
}

#[cold]
fn complete_special(table: &mut Table, finished: &mut Finished, id: RequestId, status: Status) {
    let Some(request) = table.get_mut(id) else { return };
    if request.staged {
        request.state = State::Staging;
        request.status = status;
        return finished.staged.push(id);
    }
    finished.ends += 1;
    if request.handler.is_some() {
        return with_handler(request, finished, id, status);
    }
    request.status = status;
    is_over(table, finished, id);
}

/// A request that needed more than a new state is over.
fn is_over(table: &mut Table, finished: &mut Finished, id: RequestId) {
    let Some(request) = table.get_mut(id) else { return };
    request.state = State::Complete;
    match std::mem::replace(&mut request.audience, Audience::Caller) {
        Audience::Caller => {}
        Audience::Sleeper(sleeper) => finished.sleepers.push(sleeper),
        Audience::Task(task) => finished.wake(task),
        Audience::Part { whole, leads } => {
            if let (Some(part), Some(whole)) = (table.remove(id), table.in_slot(whole)) {
                part_ended(table, finished, whole, part.status, leads);
            }
        }
        Audience::Nobody => drop(table.remove(id)),
    }
}

/// A part of a composite request has ended, which counts; with the last one the whole ends. `leads`: the whole reports what
/// the part reports; otherwise only its error, if that is the first, and its bytes.
pub fn part_ended(table: &mut Table, finished: &mut Finished, whole: RequestId, part: Status, leads: bool) {
    let Some(request) = table.get_mut(whole) else { return };
    let State::Composite(composite) = &mut request.state else { return };
    let status = &mut request.status;
    if leads {
        (status.source, status.tag, status.cancelled) = (part.source, part.tag, part.cancelled);
    }
    status.bytes += part.bytes;
    let error = part.error.map(|error| composite.explained(error));
    status.error = if leads { error.or(status.error.take()) } else { status.error.take().or(error) };
    if composite.ends_one() {
        let status = std::mem::replace(status, Status::EMPTY);
        complete(table, finished, whole, status);
    }
}

/// Lets a sleeping thread know of the end of a request, in the place of a task, which looks again. Returns false if it is over, or
/// the id is stale.
pub fn watch(table: &mut Table, finished: &mut Finished, id: RequestId, sleeper: SleeperId) -> bool {
    let Some(request) = table.get_mut(id) else { return false };
    let goes_on = !is_complete(request);
    if goes_on && let Audience::Task(task) = request.audience {
        finished.wake(task);
        request.audience = Audience::Caller;
    }
    if goes_on && request.audience == Audience::Caller {
        request.audience = Audience::Sleeper(sleeper);
    }
    goes_on
}

/// Lets a task know of the end of a request that is not over, in the place of one that has awaited it, whose waker comes back.
#[must_use]
pub fn watch_by_task(
    table: &mut Table,
    finished: &mut Finished,
    id: RequestId,
    waker: &Waker,
) -> Option<Waker> {
    let request = table.get_mut(id)?;
    match request.audience {
        Audience::Task(task) => return finished.tasks.change(task, waker),
        Audience::Caller => request.audience = Audience::Task(finished.tasks.add(waker)),
        _ => {}
    }
    None
}

/// Nobody asks for a request any more: it leaves the table when it ends. The waker of the task that has awaited it comes back.
pub fn forget(table: &mut Table, finished: &mut Finished, id: RequestId) -> Option<Waker> {
    match std::mem::replace(&mut table.get_mut(id)?.audience, Audience::Nobody) {
        Audience::Task(task) => finished.tasks.take(task),
        _ => None,
    }
}

/// Takes [`watch`] back.
pub fn unwatch(table: &mut Table, id: RequestId, sleeper: SleeperId) {
    if let Some(request) = table.get_mut(id)
        && request.audience == Audience::Sleeper(sleeper)
    {
        request.audience = Audience::Caller;
    }
}

fn with_handler(request: &mut Request, finished: &mut Finished, id: RequestId, status: Status) {
    request.state = State::Finished;
    match request.handler.take().map(|handler| *handler) {
        Some(AtEnd::Run(handler)) => finished.handlers.push_back(Due::Run(id, handler, status.clone())),
        Some(AtEnd::Invoke(name)) => finished.handlers.push_back(Due::Invoke(name)),
        None => {}
    }
    request.status = status;
}

/// Whether a request may end for the time being: nobody but the program waits for its end.
pub fn may_halt(request: &Request) -> bool {
    request.handler.is_none() && matches!(request.audience, Audience::Caller | Audience::Sleeper(_))
}

/// Ends such a request until it goes on; its buffer stays what it is.
pub fn halt(request: &mut Request, finished: &mut Finished, status: Status) {
    finished.ends += 1;
    (request.state, request.status) = (State::Complete, status);
    if let Audience::Sleeper(sleeper) = std::mem::replace(&mut request.audience, Audience::Caller) {
        finished.sleepers.push(sleeper);
    }
}

/// The handler of a finished request has run: anybody may complete it.
pub fn handled(table: &mut Table, finished: &mut Finished, id: RequestId) {
    if table.get(id).is_some_and(|request| matches!(request.state, State::Finished)) {
        finished.ends += 1;
        is_over(table, finished, id);
    }
}

/// A finished request leaves before its handler has returned, which has completed it: what it tells. Who waits for it
/// is told.
pub fn take_finished(table: &mut Table, finished: &mut Finished, id: RequestId) -> Option<Status> {
    let request = table.retire(id)?;
    finished.ends += 1;
    match request.audience {
        Audience::Sleeper(sleeper) => finished.sleepers.push(sleeper),
        Audience::Task(task) => finished.wake(task),
        _ => {}
    }
    Some(request.status)
}

/// Something that the library does at the end of a request of its own. For one that is over already it is done with the
/// next progress. Returns false when the id is stale.
pub fn attach(table: &mut Table, finished: &mut Finished, id: RequestId, handler: Handler) -> bool {
    let Some(request) = table.get_mut(id) else { return false };
    if matches!(request.state, State::Complete | State::Finished) {
        if id != Table::DONE {
            request.state = State::Finished;
        }
        let status = request.status.clone();
        finished.handlers.push_back(Due::Run(id, handler, status));
    } else {
        request.handler = Some(Box::new(AtEnd::Run(handler)));
    }
    true
}

/// Whether a wait or test may take the status now.
#[inline]
pub fn is_complete(request: &Request) -> bool {
    matches!(request.state, State::Complete)
}

/// Whether the transfer is under way.
#[inline]
pub fn is_active(state: &State) -> bool {
    !matches!(state, State::Inactive | State::Finished | State::Complete)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ContextId;

    #[test]
    fn a_handler_runs_between_finished_and_complete() {
        let (mut table, mut finished) = (Table::new(8), Finished::default());
        let id = table.insert(Request::new(State::Schedule(ContextId::WORLD))).unwrap();
        assert!(attach(&mut table, &mut finished, id, Box::new(|_, _| ())));
        complete(&mut table, &mut finished, id, Status { bytes: 5, ..Status::EMPTY });
        assert!(matches!(table.get(id).unwrap().state, State::Finished));
        let Some(Due::Run(ended, handler, status)) = finished.handlers.pop_front() else {
            panic!("it is due")
        };
        handler(ended, &status);
        handled(&mut table, &mut finished, id);
        assert!(is_complete(table.get(id).unwrap()));
        assert_eq!(table.remove(id).unwrap().status.bytes, 5);
        assert!(!attach(&mut table, &mut finished, id, Box::new(|_, _| ())));
    }

    #[test]
    fn a_detached_request_leaves_by_itself() {
        let (mut table, mut finished) = (Table::new(8), Finished::default());
        let id = table
            .insert(Request { audience: Audience::Nobody, ..Request::new(State::Schedule(ContextId::WORLD)) })
            .unwrap();
        complete(&mut table, &mut finished, id, Status::EMPTY);
        assert!(table.is_empty());
    }

    #[test]
    fn a_handler_attached_late_still_runs() {
        let (mut table, mut finished) = (Table::new(8), Finished::default());
        let id = table.insert(Request::new(State::Schedule(ContextId::WORLD))).unwrap();
        complete(&mut table, &mut finished, id, Status::EMPTY);
        assert!(attach(&mut table, &mut finished, id, Box::new(|_, _| ())));
        assert!(!is_complete(table.get(id).unwrap()));
        assert_eq!(finished.handlers.len(), 1);
    }
}
