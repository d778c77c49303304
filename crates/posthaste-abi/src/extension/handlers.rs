//! Handlers of requests (seed 004): attached, replaced, detached, asked for, disabled. What they do is `core::pt2pt::handlers`,
//! and when they run `core::runtime::handlers`; a handler of a C program is given its request by value.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use posthaste_core::ids::RequestId;
use posthaste_core::request::{Invoke, Table, states};
use posthaste_core::runtime::Entered;

use crate::abi::constants::{MPI_COMM_SELF, MPI_REQUEST_NULL};
use crate::abi::pointer::Out;
use crate::abi::types::MPI_Request;
use crate::call::extension_fn;
use crate::handle::{self, Kind};
use crate::layer::library::{library, watch};
use crate::layer::request::is_handled;
use crate::object::site::{Located, Outcome};
use crate::request::completion;

/// `Posthaste_handler_function *`.
pub type HandlerFunction = Option<unsafe extern "C" fn(MPI_Request, *mut c_void)>;

/// A handler of a C program.
struct OfProgram {
    function: unsafe extern "C" fn(MPI_Request, *mut c_void),
    extra_state: AtomicPtr<c_void>,
}

impl Invoke for OfProgram {
    fn invoke(&self, request: RequestId) {
        let request = MPI_Request::numbered(handle::of_request(Table::handle(request)));
        // SAFETY: the program gave the function and its state for this use, on any thread that is inside the library or is
        // its own (docs/handlers.md).
        unsafe { (self.function)(request, self.extra_state.load(Ordering::Relaxed)) }
    }
}

extension_fn! {
    /// Attaches a handler to a request, in the place of the one that it has, or detaches that.
    fn Posthaste_Request_attach(request: Out<MPI_Request>, handler: HandlerFunction, extra_state: *mut c_void) {
        match handler {
            Some(function) => {
                let handle = request.get("request")?;
                let extra_state = extra_state.into();
                Ok(request.set("request", attach(handle, Arc::new(OfProgram { function, extra_state }))?)?)
            }
            None => detach(request),
        }
    }

    /// Detaches the handler of a request.
    fn Posthaste_Request_detach(request: Out<MPI_Request>) {
        detach(request)
    }

    /// Tells the handler of a request.
    fn Posthaste_Request_get_handler(
        request: MPI_Request,
        handler: *mut c_void,
        extra_state: *mut c_void,
    ) {
        let (handler, extra_state) = (Out::<*mut c_void>::at(handler), Out::<*mut c_void>::at(extra_state));
        handler.ready("handler")?;
        extra_state.ready("extra_state")?;
        let (vci, id) = find(request)?;
        let attached = vci.engine.handlers.get(id).cloned();
        drop(vci);
        let of_program = attached.as_deref().and_then(|attached| {
            let attached: &dyn Any = attached;
            attached.downcast_ref::<OfProgram>()
        });
        let (function, state) = of_program.map_or((std::ptr::null_mut(), std::ptr::null_mut()), |of_program| {
            (of_program.function as *mut c_void, of_program.extra_state.load(Ordering::Relaxed))
        });
        handler.set("handler", function)?;
        Ok(extra_state.set("extra_state", state)?)
    }

    /// Tells where a request is, and makes no progress.
    fn Posthaste_Request_get_state(request: MPI_Request, state: Out<c_int>) {
        state.ready("state")?;
        let mut found = states::State::Null;
        if request != MPI_REQUEST_NULL {
            let vci = completion::vci_of(request);
            if let Some(id) = completion::find_or_gone(&vci, request)? {
                found = vci.engine.state_of(id);
            }
        }
        Ok(state.set("state", found as c_int)?)
    }

    /// Disables all handlers, until the calling thread enables them as often.
    fn Posthaste_Handlers_disable() {
        library().world.disable_handlers();
        Ok(())
    }

    /// Enables them.
    fn Posthaste_Handlers_enable() {
        Ok(library().world.enable_handlers()?)
    }

    /// Tells whether any thread has disabled handlers.
    fn Posthaste_Handlers_are_disabled(flag: Out<c_int>) {
        Ok(flag.set("flag", c_int::from(library().world.handlers_disabled().0))?)
    }
}

/// Attaches a handler. The handle of the request, which is another one if it was over when it was started.
pub(crate) fn attach(handle: MPI_Request, handler: Arc<dyn Invoke>) -> Result<MPI_Request, Located> {
    let (vci, id) = find(handle)?;
    let own = completion::key(MPI_COMM_SELF);
    let marks = |name| is_handled(name, (name != id).then_some(own));
    let attached = library().world.attach(vci, id, handler, marks);
    watch();
    let name = attached?;
    Ok(MPI_Request::numbered(handle::of_request(Table::handle(name))))
}

fn detach(request: Out<MPI_Request>) -> Outcome {
    let (vci, id) = find(request.get("request")?)?;
    drop(vci);
    Ok(library().world.detach(id)?)
}

/// A request that is neither null nor stale.
pub(super) fn find(request: MPI_Request) -> Result<(Entered<'static>, RequestId), Located> {
    if request == MPI_REQUEST_NULL {
        return Err(handle::invalid(Kind::Request, "request", request.number()).into());
    }
    Ok(completion::enter(request)?)
}
