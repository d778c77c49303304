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
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use posthaste_os::machine;
use posthaste_os::sync::Mutex;

use crate::error::{Error, ErrorClass, Result, say};
use crate::ids::RequestId;
use crate::request::SharedHandler;
use crate::request::complete::{self, Due};
use crate::runtime::Runtime;

/// How far above an invocation's place on the stack a call still counts as made after a jump out of it: a coroutine that a
/// handler goes on with has a stack elsewhere.
const NEAR: usize = 1 << 20;

/// Who has disabled the handlers of the program.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    closed: AtomicBool,
    by: Mutex<Vec<ThreadId>>,
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

    /// Runs the handlers that are due in any VCI. How many requests have handlers.
    #[cold]
    pub(crate) fn run_due_handlers(&self) -> usize {
        for invocation in left(place_on_stack()) {
            say(format_args!(
                "the handler of a request was left by a jump (longjmp), not by returning: it counts as one that has returned"
            ));
            self.end_run(invocation.at, invocation.request);
        }
        self.open_vcis()
            .map(|at| {
                let mut vci = self.enter(at);
                vci.engine.takes_over();
                let (attached, due) = (vci.engine.handlers.len(), !vci.engine.finished.handlers.is_empty());
                drop(vci);
                if due {
                    self.run_handlers(at);
                }
                attached
            })
            .sum()
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
                    if let Some(handler) = handler {
                        self.invoke(Invocation { at, request, place: place_on_stack() }, &handler);
                    }
                }
            }
        }
    }

    fn invoke(&self, invocation: Invocation, handler: &SharedHandler) {
        INSIDE.with_borrow_mut(|inside| inside.push(invocation));
        let caught = catch_unwind(AssertUnwindSafe(|| handler.invoke(invocation.request)));
        // What it was left by a jump into this frame's callers has been taken out already.
        INSIDE.with_borrow_mut(|inside| {
            let own = inside.iter().rposition(|other| other.place == invocation.place);
            inside.truncate(own.unwrap_or(inside.len()));
        });
        self.end_run(invocation.at, invocation.request);
        if caught.is_err() {
            say(format_args!("the handler of a request panicked: it counts as one that has returned"));
        }
    }

    fn end_run(&self, at: usize, request: RequestId) {
        let mut vci = self.enter(at);
        vci.engine.end_run(request);
        // This thread may be able to run what it had to leave.
        if !self.gate.is_closed().0 {
            vci.engine.release_postponed();
        }
    }
}
