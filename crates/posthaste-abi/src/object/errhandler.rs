//! Error handlers by their handles, and those of objects that are not there yet (MPI-5.0 §9.3).
//!
//! What must stay true: no lock of this file is held while a function of the program runs.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, RwLock};

use posthaste_core::error::{Error, ErrorClass, Result};

use super::site::Site;
use crate::abi::constants::{MPI_COMM_SELF, MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN};
use crate::abi::types::{MPI_Comm, MPI_Errhandler, MPI_File, MPI_Session, MPI_Win};
use crate::handle::{Kind, Table, invalid};
use crate::layer::errhandler;

/// An error handler; the handle of one of the program keeps the object's identity.
pub(crate) type Handler = errhandler::Handler<Arc<UserHandler>>;

/// An error handler of the program.
#[derive(Debug)]
pub(crate) enum UserHandler {
    /// For communicators.
    Comm(unsafe extern "C" fn(*mut MPI_Comm, *mut c_int, ...)),
    /// For windows.
    Win(unsafe extern "C" fn(*mut MPI_Win, *mut c_int, ...)),
    /// For files.
    File(unsafe extern "C" fn(*mut MPI_File, *mut c_int, ...)),
    /// For sessions.
    Session(unsafe extern "C" fn(*mut MPI_Session, *mut c_int, ...)),
}

impl UserHandler {
    /// Calls it with an error code and the object that it belongs to.
    pub(crate) fn call(&self, site: Site, code: c_int) {
        let mut code = code;
        let end = std::ptr::null::<c_void>();
        match (self, site) {
            // SAFETY: the program gave this function for this use (MPI-5.0 §9.3.1); the arguments live through the call.
            (Self::Comm(function), Site::Comm(mut comm)) => unsafe { function(&mut comm, &mut code, end) },
            (Self::Comm(function), _) => {
                let mut comm = MPI_COMM_SELF;
                // SAFETY: as above.
                unsafe { function(&mut comm, &mut code, end) }
            }
            // SAFETY: as above.
            (Self::Win(function), Site::Win(mut win)) => unsafe { function(&mut win, &mut code, end) },
            // SAFETY: as above.
            (Self::File(function), Site::File(mut file)) => unsafe { function(&mut file, &mut code, end) },
            (Self::Session(function), Site::Session(mut session)) => {
                // SAFETY: as above.
                unsafe { function(&mut session, &mut code, end) }
            }
            (Self::Win(_) | Self::File(_) | Self::Session(_), _) => {}
        }
    }
}

/// The handler of files that are not open yet.
pub(crate) static FILE_NULL_HANDLER: RwLock<Handler> = RwLock::new(Handler::Return);

/// All error handlers that were made and not freed.
static HANDLERS: Table<UserHandlerPlace> = Table::new(Kind::Errhandler);

/// A handler in the table; objects that use it hold the handler itself.
struct UserHandlerPlace {
    handler: Arc<UserHandler>,
    /// How often the program has got the handle and not freed it; at 0 it goes.
    held: AtomicUsize,
}

impl UserHandlerPlace {
    /// Once more, unless it is going.
    fn hold(&self) -> bool {
        let more = |held: usize| (held > 0).then_some(held + 1);
        self.held.fetch_update(Relaxed, Relaxed, more).is_ok()
    }

    /// Once less; whether nothing is left.
    fn let_go(&self) -> bool {
        self.held.fetch_update(Relaxed, Relaxed, |held| held.checked_sub(1)) == Ok(1)
    }
}

fn predefined(handle: MPI_Errhandler) -> Option<Handler> {
    match handle {
        MPI_ERRORS_ARE_FATAL => Some(Handler::Fatal),
        MPI_ERRORS_ABORT => Some(Handler::Abort),
        MPI_ERRORS_RETURN => Some(Handler::Return),
        _ => None,
    }
}

/// Gives an error handler of the program to it.
pub(crate) fn store(function: Arc<UserHandler>) -> Result<MPI_Errhandler> {
    let place = UserHandlerPlace { handler: function, held: AtomicUsize::new(1) };
    HANDLERS.insert(Arc::new(place)).map(MPI_Errhandler::numbered)
}

/// The program frees a handle, as often as it got it: MPI_Comm_get_errhandler behaves as if it made a new one (MPI-5.0 §9.3).
pub(crate) fn free(handle: MPI_Errhandler) -> Result<()> {
    // MPI_Comm_get_errhandler may have given a predefined one, and the program must free what it got.
    if predefined(handle).is_none() && HANDLERS.get("errhandler", handle.number())?.let_go() {
        HANDLERS.remove("errhandler", handle.number())?;
    }
    Ok(())
}

/// The error handler with this handle, for an object of this kind.
pub(crate) fn find_for(handle: MPI_Errhandler, kind: Kind) -> Result<Handler> {
    let handler = find(handle)?;
    suits(handle, &handler, kind)?;
    Ok(handler)
}

/// The error handler with this handle.
fn find(handle: MPI_Errhandler) -> Result<Handler> {
    match predefined(handle) {
        Some(handler) => Ok(handler),
        None => match HANDLERS.peek(handle.number()) {
            Some(place) => Ok(Handler::User(place.handler.clone())),
            None => Err(invalid(Kind::Errhandler, "errhandler", handle.number())),
        },
    }
}

/// Whether a handler of the program was made for objects of this kind.
fn suits(handle: MPI_Errhandler, handler: &Handler, kind: Kind) -> Result<()> {
    let Handler::User(function) = handler else { return Ok(()) };
    let made_for = match **function {
        UserHandler::Comm(_) => Kind::Comm,
        UserHandler::Win(_) => Kind::Win,
        UserHandler::File(_) => Kind::File,
        UserHandler::Session(_) => Kind::Session,
    };
    if made_for == kind {
        return Ok(());
    }
    let got = format_args!("{handle:#x}, made for {}", made_for.noun());
    let expected = format_args!("an error handler for {}", kind.noun());
    Err(Error::invalid(ErrorClass::Errhandler, "errhandler", got, expected))
}

/// A handle for an error handler; that of a program's one has to be freed once more.
pub(crate) fn handle_of(handler: Handler) -> Result<MPI_Errhandler> {
    match handler {
        Handler::Fatal => Ok(MPI_ERRORS_ARE_FATAL),
        Handler::Abort => Ok(MPI_ERRORS_ABORT),
        Handler::Return => Ok(MPI_ERRORS_RETURN),
        Handler::User(function) => {
            if let Some(known) = HANDLERS.find(|place| Arc::ptr_eq(&place.handler, &function) && place.hold())
            {
                return Ok(MPI_Errhandler::numbered(known));
            }
            store(function)
        }
    }
}
