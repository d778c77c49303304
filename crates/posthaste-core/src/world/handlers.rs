//! Handlers that the program attaches to its requests (seed 004): [`Invoke`](crate::request::Invoke) says what one is.
//!
//! Attaching may have to run the handler before it, or wait until that has returned, so this stands where waiting may be.

use crate::error::{Error, ErrorClass, Result};
use crate::ids::RequestId;
use crate::progress::Vci;
use crate::pt2pt::handlers::{Step, Taken};
use crate::request::{SharedHandler, states};
use crate::runtime::{Entered, Left};
use crate::wait::Awaited;
use crate::world::World;

impl World {
    /// Attaches a handler to a request of a VCI that has been entered, in the place of the one that it has. That of a finished request
    /// runs first; the new one runs at once if the request is still finished. Returns the name of the request, which is a new one if it was
    /// [`Table::DONE`](crate::request::Table::DONE). `marks` is called with it inside the VCI.
    ///
    /// # Errors
    /// A null request; a full table of requests.
    pub fn attach(
        &self,
        vci: Entered<'_>,
        id: RequestId,
        handler: SharedHandler,
        marks: impl FnOnce(RequestId),
    ) -> Result<RequestId> {
        let (name, is_due) = self.set_handler(Some(vci), id, Some(handler), marks)?;
        if is_due {
            self.runtime.run_handlers(self.vci_number(name.slot as usize));
        }
        Ok(name)
    }

    /// Detaches the handler of a request. That of a finished request runs first, unless handlers are disabled; one that runs on
    /// another thread returns first.
    ///
    /// # Errors
    /// A null request.
    pub fn detach(&self, id: RequestId) -> Result<()> {
        self.set_handler(None, id, None, |_| ()).map(drop)
    }

    /// The name of the request, and whether handlers are due in its VCI.
    fn set_handler(
        &self,
        mut entered: Option<Entered<'_>>,
        id: RequestId,
        mut handler: Option<SharedHandler>,
        marks: impl FnOnce(RequestId),
    ) -> Result<(RequestId, bool)> {
        let at = self.vci_number(id.slot as usize);
        loop {
            let step = {
                let mut vci = entered.take().unwrap_or_else(|| self.runtime.enter(at));
                let disabled = self.runtime.gate.is_closed().0;
                let step = vci.engine.set_handler(id, &mut handler, disabled)?;
                if let Step::Done(name) = step {
                    marks(name);
                    return Ok((name, !vci.engine.finished.handlers.is_empty()));
                }
                step
            };
            match step {
                Step::AwaitsReturn => self.await_return(id, "attaching a handler"),
                _ => self.run_first(id),
            }
        }
    }

    /// The due handler of a request runs, here or on a thread that is quicker.
    fn run_first(&self, id: RequestId) {
        self.runtime.run_due_handlers();
        let at = self.vci_number(id.slot as usize);
        let open = |vci: &mut Vci| {
            let is_due = !vci.engine.handlers.runs(id)
                && vci.engine.handlers.get(id).is_some()
                && vci.engine.state_of(id) == states::State::Finished
                && !self.runtime.gate.is_closed().0;
            (!is_due).then_some(())
        };
        self.waiting.until(at, "attaching a handler", |vci| awaited(vci, id), open);
    }

    /// Waits until the handler of a request, which runs on another thread, has returned or completed it.
    pub fn await_return(&self, id: RequestId, call: &'static str) {
        let at = self.vci_number(id.slot as usize);
        let over = |vci: &mut Vci| (!vci.engine.handler_runs_elsewhere(id)).then_some(());
        self.waiting.until(at, call, |vci| awaited(vci, id), over);
    }

    /// Runs the handlers that are due. How many requests have handlers.
    #[inline]
    pub fn run_due_handlers(&self) -> usize {
        self.runtime.run_due_handlers()
    }

    /// Has the next thread of the program do something that waits, tests or makes a call that looks for handlers.
    pub fn leave_to_program(&self, left: Left) {
        self.runtime.leave_to_program(left);
    }

    /// Whether something waits for a thread of the program.
    pub fn has_left_to_program(&self) -> bool {
        self.runtime.has_left()
    }

    /// How many requests have handlers.
    pub fn handlers_attached(&self) -> usize {
        self.runtime.open_vcis().map(|at| self.runtime.enter(at).engine.handlers.len()).sum()
    }

    /// Disables handlers, on all threads, until the calling thread enables them as often. Those that run go on.
    pub fn disable_handlers(&self) {
        self.runtime.disable_handlers();
    }

    /// Enables handlers; those that have become due meanwhile run before this returns.
    ///
    /// # Errors
    /// When the calling thread has not disabled them.
    pub fn enable_handlers(&self) -> Result<()> {
        self.runtime.enable_handlers()
    }

    /// Whether handlers are disabled, and whether by the calling thread.
    pub fn handlers_disabled(&self) -> (bool, bool) {
        self.runtime.gate.is_closed()
    }

    /// As [`Engine::take_handled`](crate::pt2pt::Engine::take_handled), in a VCI that has been entered.
    pub fn take_handled(&self, vci: &mut Vci, id: RequestId, waits: bool) -> Taken {
        vci.engine.take_handled(id, waits, self.runtime.gate.is_closed())
    }
}

fn awaited(vci: &Vci, id: RequestId) -> Awaited {
    Awaited::All(vci.engine.persistent.waited_for(id).into_iter().collect())
}

/// The error of a wait that cannot end.
pub fn deadlock() -> Error {
    let text = "guaranteed deadlock: the request has a handler, which cannot run because this thread has disabled handlers";
    Error::other(ErrorClass::Pending, text)
}
