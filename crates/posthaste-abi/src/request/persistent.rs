//! Persistent requests, and requests of two messages, by their handles.

use posthaste_core::comm::Comm;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::RequestId;
use posthaste_core::pt2pt::persistent::Message;

use super::completion;
use crate::abi::pointer::Out;
use crate::abi::types::{MPI_Comm, MPI_Request};
use crate::layer::object_ref::ObjectRef;
use crate::layer::{persistent as layer, request};
use crate::object::site::Outcome;

pub(crate) use crate::layer::persistent::Plan;

/// Gives a persistent request to the program.
pub(crate) fn prepare(plan: Plan, comm: MPI_Comm, request: Out<MPI_Request>) -> Result<()> {
    request.ready("request")?;
    completion::hand_over(layer::prepare(plan, completion::key(comm))?, request)
}

/// The same for a message, whose communicator is `owner`.
pub(crate) fn prepare_message(
    message: Message,
    owner: ObjectRef<Comm>,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    completion::hand_over(layer::prepare_message(message, owner, completion::key(comm))?, request)
}

/// Gives a request for a send and a receive to the program.
pub(crate) fn give_both(
    messages: (RequestId, RequestId),
    sent: Option<Vec<u8>>,
    owner: &Comm,
    comm: MPI_Comm,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    completion::hand_over(layer::both(messages, sent, owner, completion::key(comm))?, request)
}

/// Starts a persistent request.
#[inline]
pub(crate) fn start(request: MPI_Request) -> Outcome {
    let id = {
        let mut vci = completion::vci_of(request);
        let id = completion::find(&vci, request)?;
        if layer::start(&mut vci, id)? {
            return Ok(());
        }
        id
    };
    start_other(request, id)
}

#[cold]
fn start_other(request: MPI_Request, id: RequestId) -> Outcome {
    match request::special(id) {
        Some(behind) => {
            behind.start()?;
            Ok(request::started(id)?)
        }
        None => {
            let got = format_args!("{request:#x}, which is not persistent");
            Err(Error::invalid(ErrorClass::Request, "request", got, "a persistent request").into())
        }
    }
}
