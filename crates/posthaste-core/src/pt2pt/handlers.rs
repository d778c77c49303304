//! Handlers that the program attaches to its requests: who has one, when it is due, and who may complete a request with one.
//! What each event does to a request is said by one table, [`crate::request::states`]; here it is done. Seed 004.
//!
//! A request is meant by the name that the program knows, which for a persistent one is not that of the request behind it,
//! of its start. Persistent requests with handlers are set aside, and no other request is looked up here on its way: one
//! that has no handler costs nothing.
//!
//! What must stay true: a handler is invoked once for each message, except for messages that it has completed itself while it
//! ran; it is never invoked for a request for which it runs already; nobody but the handler completes a finished request
//! before the handler has returned.

use std::time::Duration;

use posthaste_os::machine;

use crate::error::{Error, ErrorClass, Result};
use crate::explain::{Handled, Standing};
use crate::ids::{ANY_SOURCE, ANY_TAG, IdSet, RequestId};
use crate::pt2pt::{Engine, recv};
use crate::request::by_slot::{BySlot, Handles};
use crate::request::complete::{self, Due};
use crate::request::states::{self, Event, Outcome, outcome};
use crate::request::{AtEnd, Audience, Request, SharedHandler, State, Status, Table};

/// The handlers of one VCI.
#[derive(Default)]
pub struct Handlers {
    attached: BySlot<Attached>,
    /// Those that run. One that runs may have been detached meanwhile, and its request may be gone.
    runs: Vec<Run>,
    /// Ordinary requests that their handlers have completed: whoever waits for one next is told that it is over, and nothing
    /// more.
    unreported: Handles,
    /// Persistent requests that are looked at like those with handlers.
    watched: IdSet<RequestId>,
    /// Requests at which whoever waits for them has to look before he sleeps.
    to_be_looked_at: IdSet<RequestId>,
    /// Since when handlers have been disabled, if they are.
    disabled: Option<Duration>,
}

struct Attached {
    handler: SharedHandler,
    /// It has completed its persistent request, and nobody has been told yet.
    unreported: bool,
}

/// An invocation.
struct Run {
    request: RequestId,
    thread: usize,
    since: Duration,
    /// The request behind the message for which it is; `None` once the handler has completed that.
    message: Option<RequestId>,
    /// Another handler was attached meanwhile.
    replaced: bool,
}

/// What has to be done before a handler can be attached or detached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It has been done; the name of the request may be a new one.
    Done(RequestId),
    /// The current handler is due: it has to be run first.
    RunsFirst,
    /// The current handler runs on another thread: it has to return first.
    AwaitsReturn,
}

/// How a test or wait goes.
#[derive(Debug)]
pub enum Taken {
    /// It completes the request, which tells this.
    Completed(Status),
    /// The request was completed by its handler, and nothing is told.
    ByHandler,
    /// There was nothing to complete.
    Inactive,
    /// Not yet. `returns`: it waits for the return of a handler that runs elsewhere.
    NotYet {
        /// A handler runs elsewhere.
        returns: bool,
    },
    /// Never, as long as handlers are disabled.
    Deadlock,
}

impl std::fmt::Debug for Handlers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handlers").field("attached", &self.attached.len()).finish_non_exhaustive()
    }
}

impl Handlers {
    /// How many requests have handlers, or are looked at as if they had; 0 only if no handler runs, either.
    pub fn len(&self) -> usize {
        self.attached.len() + self.runs.len() + self.watched.len()
    }

    /// Whether no request has one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The handler of a request.
    pub fn get(&self, id: RequestId) -> Option<&SharedHandler> {
        self.attached.get(id).map(|attached| &attached.handler)
    }

    /// Whether the handler of a request runs.
    pub fn runs(&self, id: RequestId) -> bool {
        self.runs.iter().any(|run| run.request == id)
    }

    /// Whether any handler runs.
    pub(crate) fn any_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Whether a request has a handler that has not been invoked and cannot be taken away.
    pub fn stays(&self, id: RequestId) -> bool {
        self.get(id).is_some_and(|handler| handler.stays()) && !self.runs(id)
    }

    /// From now on handlers are disabled, or they are enabled again; for who looks at a hang.
    pub(crate) fn are_disabled(&mut self, since: Option<Duration>) {
        self.disabled = since;
    }

    /// Whether a request that is gone was completed by its handler and nobody has been told, who is told now.
    pub fn report_gone(&mut self, handle: u32) -> bool {
        self.unreported.remove(handle)
    }

    /// The same, without telling.
    pub fn is_unreported(&self, handle: u32) -> bool {
        self.unreported.contains(handle)
    }

    /// Whether somebody who waits for one of these has something to do.
    pub(crate) fn any_to_be_looked_at(&self, ids: &[RequestId]) -> bool {
        !self.to_be_looked_at.is_empty() && ids.iter().any(|id| self.to_be_looked_at.contains(id))
    }

    fn run_mut(&mut self, id: RequestId) -> Option<&mut Run> {
        self.runs.iter_mut().find(|run| run.request == id)
    }

    fn stands(&self, id: RequestId, disabled: bool) -> states::Handler {
        match self.runs.iter().find(|run| run.request == id) {
            Some(run) if run.thread == machine::this_thread() => states::Handler::RunningHere,
            Some(_) => states::Handler::RunningElsewhere,
            None if !self.attached.contains(id) => states::Handler::None,
            None if disabled => states::Handler::Disabled,
            None => states::Handler::Attached,
        }
    }
}

impl Engine {
    /// Where a request is.
    pub fn state_of(&self, id: RequestId) -> states::State {
        if id != Table::DONE && self.requests.get(id).is_none() {
            return states::State::Null;
        }
        let Some(behind) = self.persistent.waited_for(id) else { return states::State::Inactive };
        if behind == Table::DONE {
            return states::State::Finished;
        }
        match self.requests.get(behind).map(|request| &request.state) {
            Some(State::Finished | State::Complete) | None => states::State::Finished,
            Some(State::Inactive) => states::State::Inactive,
            Some(_) => states::State::Active,
        }
    }

    /// A persistent request that is not to be taken on the way of those without handlers, as long as it is there.
    pub fn watch_request(&mut self, id: RequestId, watched: bool) {
        if watched {
            self.handlers.watched.insert(id);
            self.persistent.set_aside(id);
        } else {
            self.handlers.watched.remove(&id);
        }
    }

    /// Whoever waits for a request has something to do for it, or has not any more. Who sleeps for it is woken.
    pub fn is_to_be_looked_at(&mut self, id: RequestId, looked_at: bool) {
        if !looked_at {
            self.handlers.to_be_looked_at.remove(&id);
        } else if let Some(request) = self.requests.get_mut(id) {
            self.handlers.to_be_looked_at.insert(id);
            if let Audience::Sleeper(sleeper) = request.audience {
                request.audience = Audience::Caller;
                self.finished.sleepers.push(sleeper);
            }
        }
    }

    /// The request has no handler any more. One that runs is forgotten when it returns. Whether it had one.
    fn remove_handler(&mut self, id: RequestId) -> bool {
        let had_one = self.handlers.attached.remove(id).is_some();
        if !self.handlers.runs(id) && !self.handlers.watched.contains(&id) {
            self.persistent.bring_back(id);
        }
        had_one
    }

    /// Attaches a handler to a request, or detaches it, as far as that is possible now. The handler is taken when it has been
    /// attached.
    ///
    /// # Errors
    /// A null request; one whose handler stays until it has been invoked; a full table of requests.
    pub fn set_handler(
        &mut self,
        id: RequestId,
        handler: &mut Option<SharedHandler>,
        disabled: bool,
    ) -> Result<Step> {
        let event = if handler.is_some() { Event::Attach } else { Event::Detach };
        let mut name = id;
        if self.handlers.stays(id) {
            return Err(given_away());
        }
        match outcome(self.state_of(id), self.handlers.stands(id, disabled), event) {
            Outcome::RunsFirst => return Ok(Step::RunsFirst),
            Outcome::AwaitsReturn => return Ok(Step::AwaitsReturn),
            Outcome::Sets => match handler.take() {
                Some(handler) => {
                    self.put(id, handler);
                    self.arm(id)?;
                }
                None => self.drop_handler(id),
            },
            Outcome::SetsDue => {
                if id == Table::DONE {
                    name = self.requests.insert(Request::new(State::Complete))?;
                }
                if let Some(handler) = handler.take() {
                    self.put(name, handler);
                    self.arm(name).inspect_err(|_| self.drop_handler(name))?;
                }
            }
            Outcome::SetsAtReturn => {
                let replaced = handler.is_some();
                self.handlers.run_mut(id).into_iter().for_each(|run| run.replaced = replaced);
                match handler.take() {
                    Some(handler) => self.put(id, handler),
                    None => _ = self.remove_handler(id),
                }
            }
            Outcome::Replaces => {
                if let Some(handler) = handler.take() {
                    self.put(id, handler);
                }
            }
            _ => return Err(null(id)),
        }
        Ok(Step::Done(name))
    }

    fn put(&mut self, id: RequestId, handler: SharedHandler) {
        match self.handlers.attached.get_mut(id) {
            Some(attached) => attached.handler = handler,
            None => {
                self.handlers.attached.insert(id, Attached { handler, unreported: false });
                self.persistent.set_aside(id);
            }
        }
    }

    /// Detaches a handler, which is not invoked any more.
    fn drop_handler(&mut self, id: RequestId) {
        if !self.remove_handler(id) {
            return;
        }
        if let Some(behind) = self.persistent.waited_for(id) {
            if let Some(request) = self.requests.get_mut(behind) {
                request.handler = None;
            }
            complete::handled(&mut self.requests, &mut self.finished, behind);
        }
    }

    /// The request has been started, or has been given a handler: that is due when the transfer is over.
    ///
    /// # Errors
    /// When the table of requests is full.
    pub fn arm(&mut self, id: RequestId) -> Result<()> {
        let Some(attached) = self.handlers.attached.get_mut(id) else { return Ok(()) };
        let Some(mut behind) = self.persistent.waited_for(id) else { return Ok(()) };
        attached.unreported = false;
        if behind == Table::DONE {
            behind = self.requests.insert(Request::new(State::Complete))?;
            self.persistent.begin(id, behind);
        }
        let Some(request) = self.requests.get_mut(behind) else { return Ok(()) };
        match request.state {
            State::Complete | State::Finished => {
                request.state = State::Finished;
                self.finished.handlers.push_back(Due::Invoke(id));
                recv::finish(self, behind);
            }
            _ => request.handler = Some(Box::new(AtEnd::Invoke(id))),
        }
        Ok(())
    }

    /// The next handler to run, under its request's name; `may_invoke`: those of the program, too. What may not be run is kept.
    pub fn next_due(&mut self, may_invoke: bool) -> Option<Due> {
        loop {
            match self.finished.handlers.pop_front()? {
                Due::Invoke(id) if self.is_due(id) => {
                    if may_invoke {
                        return Some(Due::Invoke(id));
                    }
                    self.finished.postponed.push(id);
                }
                Due::Invoke(_) => {} // detached, replaced or completed since, or due again when it returns
                library => return Some(library),
            }
        }
    }

    fn is_due(&self, id: RequestId) -> bool {
        self.state_of(id) == states::State::Finished
            && self.handlers.attached.contains(id)
            && !self.handlers.runs(id)
    }

    /// Some of the requests whose handlers keep them from being completed, for who looks at a hang.
    pub(crate) fn handled(&self, most: usize) -> Vec<Handled> {
        let about = |id: RequestId, standing, since| {
            let behind = self.persistent.waited_for(id).and_then(|behind| self.requests.get(behind));
            let (rank, tag) =
                behind.map_or((ANY_SOURCE, ANY_TAG), |request| (request.status.source, request.status.tag));
            Handled { rank, tag, standing, since }
        };
        let run = self.handlers.runs.iter().map(|run| about(run.request, Standing::Runs, run.since));
        let standing = match self.handlers.disabled {
            Some(since) => (Standing::Disabled, since),
            None => (Standing::TooDeep, Duration::ZERO),
        };
        let held = self.finished.postponed.iter().map(|id| about(*id, standing.0, standing.1));
        run.chain(held).take(most).collect()
    }

    /// What was held may be run.
    pub fn release_postponed(&mut self) {
        self.finished.handlers.extend(self.finished.postponed.drain(..).map(Due::Invoke));
    }

    /// The calling thread invokes the handler of a request.
    pub fn begin_run(&mut self, id: RequestId) -> Option<SharedHandler> {
        let message = self.persistent.waited_for(id);
        let handler = self.handlers.get(id)?.clone();
        let (thread, since) = (machine::this_thread(), machine::now_coarsely());
        self.handlers.runs.push(Run { request: id, thread, since, message, replaced: false });
        Some(handler)
    }

    /// The handler of a request has returned.
    pub fn end_run(&mut self, id: RequestId) {
        let Some(at) = self.handlers.runs.iter().rposition(|run| run.request == id) else { return };
        let run = self.handlers.runs.remove(at);
        let same_message = run.message.is_some() && self.persistent.waited_for(id) == run.message;
        let (stays, again) = match outcome(self.state_of(id), states::Handler::RunningHere, Event::Return) {
            Outcome::Detaches if same_message => (run.replaced, run.replaced),
            // What has finished is a later message.
            Outcome::Detaches => (true, true),
            Outcome::Stays => (true, false),
            _ => (false, false),
        };
        let stays = stays && self.handlers.get(id).is_some();
        if stays && again {
            self.finished.handlers.push_back(Due::Invoke(id));
        }
        if !stays {
            self.remove_handler(id);
        }
        if let Some(message) = run.message.filter(|_| !(stays && again)) {
            complete::handled(&mut self.requests, &mut self.finished, message);
        }
    }

    /// Tests a request that has a handler, or may have one, or is persistent and inactive; with `waits` as a wait
    /// does. `disabled`: whether handlers are disabled, and whether by the calling thread.
    pub fn take_handled(&mut self, id: RequestId, waits: bool, (disabled, by_us): (bool, bool)) -> Taken {
        let event = if waits { Event::Wait } else { Event::Test };
        let stands = self.handlers.stands(id, disabled);
        match outcome(self.state_of(id), stands, event) {
            Outcome::Completes => self.take(id, stands),
            Outcome::Deadlock if by_us => Taken::Deadlock,
            Outcome::AwaitsReturn => Taken::NotYet { returns: true },
            Outcome::Nothing => {
                let attached = self.handlers.attached.get_mut(id);
                let unreported = attached.is_some_and(|attached| std::mem::take(&mut attached.unreported));
                if unreported { Taken::ByHandler } else { Taken::Inactive }
            }
            _ => Taken::NotYet { returns: false },
        }
    }

    /// Whether the handler of a request runs on another thread.
    pub fn handler_runs_elsewhere(&self, id: RequestId) -> bool {
        self.handlers.stands(id, false) == states::Handler::RunningElsewhere
    }

    fn take(&mut self, id: RequestId, stands: states::Handler) -> Taken {
        let Some(behind) = self.persistent.waited_for(id) else { return Taken::Inactive };
        let is_open = |request: &Request| !complete::is_complete(request);
        if stands == states::Handler::None && self.requests.get(behind).is_some_and(is_open) {
            return Taken::NotYet { returns: false }; // the library has to do something first
        }
        self.persistent.end(id);
        let status = if stands == states::Handler::RunningHere {
            self.completed_by_handler(id);
            complete::take_finished(&mut self.requests, &mut self.finished, behind)
        } else {
            self.requests.remove(behind).map(|ended| ended.status)
        };
        status.map_or(Taken::Inactive, Taken::Completed)
    }

    /// The handler has completed its request, which is another's to know.
    fn completed_by_handler(&mut self, id: RequestId) {
        self.handlers.run_mut(id).into_iter().for_each(|run| run.message = None);
        if !self.persistent.is_aside(id) {
            self.handlers.unreported.insert(Table::handle(id));
        } else if let Some(attached) = self.handlers.attached.get_mut(id) {
            attached.unreported = true;
        }
    }
}

#[cold]
fn null(id: RequestId) -> Error {
    Error::invalid(ErrorClass::Request, "request", id, "a request that has not been completed or freed")
}

/// The error of a request whose handler stays.
#[cold]
pub fn given_away() -> Error {
    let got = "a request with a continuation that has not run";
    Error::invalid(ErrorClass::Request, "request", got, "one that has not been given away")
}

#[cfg(test)]
#[path = "handlers_tests.rs"]
mod tests;
