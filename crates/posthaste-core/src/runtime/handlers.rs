//! Running handlers: the library's own, and those of the program, which may call whatever they like, wait, and so come here
//! again.
//!
//! Handlers run at the earliest opportunity: with each step of a call that waits or tests, before every other call
//! (`World::run_due_handlers`), and on the progress thread, if there is one, without any call. Seed 004 "Handler
//! Invocation", "Disabling Request Handlers".
//!
//! What must stay true: a handler runs outside all locks; on one thread no more run inside each other than the setting
//! allows; a handler that unwinds, or is left by a jump, counts as one that has returned.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use posthaste_os::machine;
use posthaste_os::sync::Mutex;

use crate::error::{Error, ErrorClass, Result, say};
use crate::ids::RequestId;
use crate::request::SharedHandler;
use crate::request::complete::{self, Due};
use crate::runtime::{Runtime, is_progress_thread, serves_only};

/// How far above an invocation's place on the stack a call still counts as made after a jump out of it: a coroutine that a
/// handler goes on with has a stack elsewhere.
const NEAR: usize = 1 << 20;

/// Who has disabled the handlers of the program.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    closed: AtomicBool,
    by: Mutex<Vec<ThreadId>>,
}

/// What only threads of the program may do, and the progress thread has found: whoever of them comes by next does it, wherever
/// that one waits.
#[derive(Default)]
pub(crate) struct ForProgram {
    is_any: AtomicBool,
    all: Mutex<VecDeque<Left>>,
}

/// Something that is left to a thread of the program.
pub type Left = Box<dyn FnOnce() + Send>;

impl fmt::Debug for ForProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForProgram").field("is_any", &self.is_any).finish()
    }
}

impl ForProgram {
    fn leave(&self, left: Left) {
        self.all.with(|all| {
            all.push_back(left);
            self.is_any.store(true, Ordering::Release);
        });
    }

    fn take(&self) -> Option<Left> {
        self.all.with(|all| {
            let next = all.pop_front();
            self.is_any.store(!all.is_empty(), Ordering::Release);
            next
        })
    }
}

/// An invocation that has not returned.
#[derive(Clone, Copy)]
struct Invocation {
    at: usize,
    request: RequestId,
    /// Its place on the stack.
    place: usize,
}

thread_local! {
    /// The handlers that run on this thread, inside each other. Of each copy of the code its own: one that another copy runs is
    /// not seen, and may nest as deep once more.
    static INSIDE: RefCell<Vec<Invocation>> = const { RefCell::new(Vec::new()) };
}

/// Which handlers have been left by a jump that comes from deeper in the stack than `place`.
fn left(place: usize) -> Vec<Invocation> {
    INSIDE.with_borrow_mut(|inside| {
        let is_left = |invocation: &Invocation| place > invocation.place && place - invocation.place < NEAR;
        let stay = inside.iter().position(is_left).unwrap_or(inside.len());
        inside.split_off(stay)
    })
}

/// Where the stack is.
#[inline(never)]
fn place_on_stack() -> usize {
    let here = 0u8;
    (&raw const here).addr()
}

impl Gate {
    /// Whether handlers are disabled, and whether by the calling thread.
    pub(crate) fn is_closed(&self) -> (bool, bool) {
        if !self.closed.load(Ordering::Acquire) {
            return (false, false);
        }
        let thread = thread::current().id();
        self.by.with(|by| (!by.is_empty(), by.contains(&thread)))
    }

    /// Closes it once more. Whether it was open.
    fn close(&self) -> bool {
        self.by.with(|by| {
            by.push(thread::current().id());
            !self.closed.swap(true, Ordering::AcqRel)
        })
    }

    /// Takes one closing of the calling thread back. Whether handlers may run now.
    fn open(&self) -> Result<bool> {
        let thread = thread::current().id();
        self.by.with(|by| {
            let Some(own) = by.iter().rposition(|closer| *closer == thread) else {
                let text = "handlers are enabled by a thread that has not disabled them, or not so often";
                return Err(Error::other(ErrorClass::Other, text));
            };
            by.remove(own);
            self.closed.store(!by.is_empty(), Ordering::Release);
            Ok(by.is_empty())
        })
    }
}

impl Runtime {
    /// Disables the handlers of the program for all threads, until this thread enables them as often.
    pub(crate) fn disable_handlers(&self) {
        let since = machine::now();
        if self.gate.close() {
            self.open_vcis().for_each(|at| self.enter(at).engine.handlers.are_disabled(Some(since)));
        }
    }

    /// Enables them; those that have become due meanwhile run.
    pub(crate) fn enable_handlers(&self) -> Result<()> {
        if self.gate.open()? {
            for at in self.open_vcis() {
                let engine = &mut self.enter(at).engine;
                engine.handlers.are_disabled(None);
                engine.release_postponed();
            }
            self.run_due_handlers();
        }
        Ok(())
    }

    /// Leaves something to the threads of the program; those that sleep, in whichever VCI, wake up for it.
    pub(crate) fn leave_to_program(&self, left: Left) {
        self.for_program.leave(left);
        // Who is about to sleep has registered before it looks, so one of both sees the other.
        let wakes = self.sleepers.with(|parked| {
            let listener = parked.rouse_listener();
            parked.rouse_parked().into_iter().chain(listener).collect::<Vec<_>>()
        });
        wakes.into_iter().for_each(|wake| self.wake(wake));
    }

    /// Whether something has been left to threads of the program.
    #[inline]
    pub(crate) fn has_left(&self) -> bool {
        self.for_program.is_any.load(Ordering::Acquire)
    }

    /// Whether the calling thread may do what has been left, and there is any.
    pub(crate) fn may_take_over(&self) -> bool {
        self.has_left() && !is_progress_thread() && !serves_only() && !self.gate.is_closed().0
    }

    /// Does what has been left to threads of the program, outside all VCIs, if the calling one is such.
    #[cold]
    pub(crate) fn take_over(&self) {
        while self.may_take_over()
            && let Some(left) = self.for_program.take()
        {
            left();
        }
    }

    /// Runs the handlers that are due in any VCI. How many requests have handlers.
    #[inline(always)]
    pub(crate) fn run_due_handlers(&self) -> usize {
        if self.has_left() {
            self.take_over();
        }
        if self.has_vcis() {
            self.open_vcis().map(|at| self.run_due_in(at)).sum()
        } else {
            self.run_due_in(0)
        }
    }

    /// The same in one VCI. Every call comes here while any request has a handler.
    #[inline(always)]
    fn run_due_in(&self, at: usize) -> usize {
        let vci = self.enter(at);
        let attached = vci.engine.handlers.len();
        if vci.engine.handlers.any_runs() || !vci.engine.finished.handlers.is_empty() {
            drop(vci);
            self.run_what_is_due(at);
        }
        attached
    }

    #[cold]
    fn run_what_is_due(&self, at: usize) {
        let runs = self.enter(at).engine.handlers.any_runs();
        if runs {
            self.end_those_left();
        }
        self.run_handlers(at);
    }

    /// Handlers that have been left by a jump count as those that have returned.
    #[cold]
    fn end_those_left(&self) {
        for invocation in left(place_on_stack()) {
            say(format_args!(
                "the handler of a request was left by a jump (longjmp), not by returning: it counts as one that has returned"
            ));
            self.end_run(invocation.at, invocation.request);
        }
    }

    /// Runs the handlers that are due in a VCI, outside the lock.
    #[cold]
    pub(crate) fn run_handlers(&self, at: usize) {
        loop {
            let deep = INSIDE.with_borrow(Vec::len);
            let mut vci = self.enter(at);
            let may_invoke = !self.gate.is_closed().0 && deep < vci.engine.config.handler_depth;
            match vci.engine.next_due(may_invoke) {
                None => break,
                Some(Due::Run(id, handler, status)) => {
                    drop(vci);
                    handler(id, &status);
                    let engine = &mut self.enter(at).engine;
                    complete::handled(&mut engine.requests, &mut engine.finished, id);
                }
                Some(Due::Wake(waker)) => {
                    drop(vci);
                    if catch_unwind(AssertUnwindSafe(|| waker.wake())).is_err() {
                        say(format_args!("the waker of a task panicked: the task may not go on"));
                    }
                }
                Some(Due::Invoke(request)) => {
                    let handler = vci.engine.begin_run(request);
                    drop(vci);
                    if let Some(handler) = handler
                        && !self.invoke(Invocation { at, request, place: place_on_stack() }, &handler)
                    {
                        break;
                    }
                }
            }
        }
    }

    /// Whether more is due afterwards.
    fn invoke(&self, invocation: Invocation, handler: &SharedHandler) -> bool {
        INSIDE.with_borrow_mut(|inside| inside.push(invocation));
        let caught = catch_unwind(AssertUnwindSafe(|| handler.invoke(invocation.request)));
        // What it was left by a jump into this frame's callers has been taken out already.
        INSIDE.with_borrow_mut(|inside| {
            let own = inside.iter().rposition(|other| other.place == invocation.place);
            inside.truncate(own.unwrap_or(inside.len()));
        });
        let more = self.end_run(invocation.at, invocation.request);
        if caught.is_err() {
            say(format_args!("the handler of a request panicked: it counts as one that has returned"));
        }
        more
    }

    /// Whether more is due afterwards.
    fn end_run(&self, at: usize, request: RequestId) -> bool {
        let mut vci = self.enter(at);
        vci.engine.end_run(request);
        // This thread may be able to run what it had to leave.
        if !vci.engine.finished.postponed.is_empty() && !self.gate.is_closed().0 {
            vci.engine.release_postponed();
        }
        !vci.engine.finished.handlers.is_empty()
    }
}
