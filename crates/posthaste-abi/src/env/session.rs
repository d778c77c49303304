//! C functions for sessions (MPI-5.0 §11.3).
//!
//! There are no sessions yet. A program may ask for one before `MPI_Init` and go on without when it is refused, so what
//! must stay true is: an error is raised by the error handler that the program gave, and a result is a null handle.

use std::ffi::{c_char, c_int};
use std::sync::PoisonError;

use posthaste_core::error::Error;

use crate::abi::constants::{MPI_INFO_NULL, MPI_SESSION_NULL};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Errhandler, MPI_Info, MPI_Session};
use crate::call::{none, unsupported};
use crate::failure;
use crate::handle::Kind;
use crate::object::errhandler::{SESSION_HANDLER, find_for};
use crate::object::site::Site;

// Sessions.
unsupported! {
    "11.3";
    fn MPI_Session_init / PMPI_Session_init(info: MPI_Info, errhandler: MPI_Errhandler,
        session: Out<MPI_Session>);
        leaving { none(session, MPI_SESSION_NULL) }
        refused by |call| init(call, errhandler);
    fn MPI_Session_finalize / PMPI_Session_finalize(session: Out<MPI_Session>);
        leaving { none(session, MPI_SESSION_NULL) }
    fn MPI_Session_get_num_psets / PMPI_Session_get_num_psets(session: MPI_Session, info: MPI_Info,
        npset_names: Out<c_int>);
        leaving { none(npset_names, 0) }
    fn MPI_Session_get_nth_pset / PMPI_Session_get_nth_pset(session: MPI_Session, info: MPI_Info, n: c_int,
        pset_len: Out<c_int>, pset_name: Out<c_char>);
    fn MPI_Session_get_info / PMPI_Session_get_info(session: MPI_Session, info_used: Out<MPI_Info>);
        leaving { none(info_used, MPI_INFO_NULL) }
    fn MPI_Session_get_pset_info / PMPI_Session_get_pset_info(session: MPI_Session, pset_name: In<c_char>,
        info: Out<MPI_Info>);
        leaving { none(info, MPI_INFO_NULL) }
}

/// Refuses a session by the handler that it was to have, which the calls that follow on it use, too.
#[cold]
fn init(call: &'static str, handle: MPI_Errhandler) -> c_int {
    match find_for(handle, Kind::Session) {
        Ok(handler) => {
            *SESSION_HANDLER.write().unwrap_or_else(PoisonError::into_inner) = Some(handler);
            failure::raise(call, Site::Session(MPI_SESSION_NULL), &Error::unsupported(call))
        }
        Err(error) => failure::raise(call, Site::Process, &error),
    }
}
