//! C functions for error handlers, classes, codes and strings (MPI-5.0 §9.3 to §9.5).
//!
//! Handlers are applied in `failure`. Codes up to `MPI_ERR_LASTCODE` are the library's, each its own class; above it
//! the program adds classes and codes, kept here in one list.
//!
//! What must stay true: no lock of this file is held while a function of the program runs.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_core::error::{Error, ErrorClass, Result};

use crate::call::{mpi_fn, none, unsupported};
use crate::communicator;
use crate::constants::{
    MPI_ERR_LASTCODE, MPI_ERRHANDLER_NULL, MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN,
    MPI_FILE_NULL, MPI_MAX_ERROR_STRING, MPI_SUCCESS,
};
use crate::failure::{self, FILE_NULL_HANDLER, Handler, Site, UserHandler};
use crate::handle::{Kind, Table, invalid};
use crate::pointer::{In, Out};
use crate::types::{
    MPI_Comm, MPI_Comm_errhandler_function, MPI_Errhandler, MPI_File, MPI_File_errhandler_function,
    MPI_Session, MPI_Session_errhandler_function, MPI_Win, MPI_Win_errhandler_function,
};

// Error handlers.
mpi_fn! {
    /// MPI-5.0 §9.3
    fn MPI_Comm_create_errhandler / PMPI_Comm_create_errhandler(
        comm_errhandler_fn: MPI_Comm_errhandler_function, errhandler: Out<MPI_Errhandler>) anytime {
        create(errhandler, comm_errhandler_fn.map(UserHandler::Comm))
    }
    /// MPI-5.0 §9.3
    fn MPI_Win_create_errhandler / PMPI_Win_create_errhandler(
        win_errhandler_fn: MPI_Win_errhandler_function, errhandler: Out<MPI_Errhandler>) anytime {
        create(errhandler, win_errhandler_fn.map(UserHandler::Win))
    }
    /// MPI-5.0 §9.3
    fn MPI_File_create_errhandler / PMPI_File_create_errhandler(
        file_errhandler_fn: MPI_File_errhandler_function, errhandler: Out<MPI_Errhandler>) anytime {
        create(errhandler, file_errhandler_fn.map(UserHandler::File))
    }
    /// MPI-5.0 §9.3
    fn MPI_Session_create_errhandler / PMPI_Session_create_errhandler(
        session_errhandler_fn: MPI_Session_errhandler_function, errhandler: Out<MPI_Errhandler>) anytime {
        create(errhandler, session_errhandler_fn.map(UserHandler::Session))
    }
    /// MPI-5.0 §9.3.1
    fn MPI_Comm_set_errhandler / PMPI_Comm_set_errhandler(comm: MPI_Comm, errhandler: MPI_Errhandler)
        raises comm => {
        let handler = find(errhandler)?;
        suits(errhandler, &handler, Kind::Comm)?;
        if communicator::set_handler_later(comm, &handler) {
            return Ok(());
        }
        communicator::set_handler(&*communicator::find("comm", comm)?, handler);
        Ok(())
    }
    /// MPI-5.0 §9.3.1
    fn MPI_Comm_get_errhandler / PMPI_Comm_get_errhandler(comm: MPI_Comm, errhandler: Out<MPI_Errhandler>)
        raises comm => {
        errhandler.set("errhandler", handle_of(communicator::handler(&*communicator::find("comm", comm)?))?)
    }
    /// MPI-5.0 §9.3.4
    fn MPI_Comm_call_errhandler / PMPI_Comm_call_errhandler(comm: MPI_Comm, errorcode: c_int)
        raises comm => {
        communicator::find("comm", comm)?;
        failure::call_handler("MPI_Comm_call_errhandler", Site::Comm(comm), errorcode);
        Ok(())
    }
    /// MPI-5.0 §9.3.3
    fn MPI_File_set_errhandler / PMPI_File_set_errhandler(file: MPI_File, errhandler: MPI_Errhandler)
        raises file => {
        null_file(file)?;
        let handler = find(errhandler)?;
        suits(errhandler, &handler, Kind::File)?;
        *FILE_NULL_HANDLER.write().unwrap_or_else(PoisonError::into_inner) = handler;
        Ok(())
    }
    /// MPI-5.0 §9.3.3
    fn MPI_File_get_errhandler / PMPI_File_get_errhandler(file: MPI_File, errhandler: Out<MPI_Errhandler>)
        raises file => {
        null_file(file)?;
        let handler = FILE_NULL_HANDLER.read().unwrap_or_else(PoisonError::into_inner).clone();
        errhandler.set("errhandler", handle_of(handler)?)
    }
    /// MPI-5.0 §9.3.4
    fn MPI_File_call_errhandler / PMPI_File_call_errhandler(fh: MPI_File, errorcode: c_int) raises fh => {
        null_file(fh)?;
        failure::call_handler("MPI_File_call_errhandler", Site::File(fh), errorcode);
        Ok(())
    }
    /// MPI-5.0 §9.3
    fn MPI_Errhandler_free / PMPI_Errhandler_free(errhandler: Out<MPI_Errhandler>) anytime {
        let handle = errhandler.get("errhandler")?;
        // MPI_Comm_get_errhandler may have given a predefined one, and the program must free what it got.
        if predefined(handle).is_none() {
            HANDLERS.remove("errhandler", handle.0)?;
        }
        errhandler.set("errhandler", MPI_ERRHANDLER_NULL)
    }
}

unsupported! {
    "9.3";
    fn MPI_Win_set_errhandler / PMPI_Win_set_errhandler(win: MPI_Win, errhandler: MPI_Errhandler);
    fn MPI_Win_get_errhandler / PMPI_Win_get_errhandler(win: MPI_Win, errhandler: Out<MPI_Errhandler>);
    fn MPI_Win_call_errhandler / PMPI_Win_call_errhandler(win: MPI_Win, errorcode: c_int);
    fn MPI_Session_set_errhandler / PMPI_Session_set_errhandler(session: MPI_Session,
        errhandler: MPI_Errhandler);
    fn MPI_Session_get_errhandler / PMPI_Session_get_errhandler(session: MPI_Session,
        errhandler: Out<MPI_Errhandler>);
        leaving { none(errhandler, MPI_ERRHANDLER_NULL) }
    fn MPI_Session_call_errhandler / PMPI_Session_call_errhandler(session: MPI_Session, errorcode: c_int);
}

// Error codes, classes and strings.
mpi_fn! {
    /// MPI-5.0 §9.4
    fn MPI_Error_class / PMPI_Error_class(errorcode: c_int, errorclass: Out<c_int>) anytime {
        errorclass.set("errorclass", class_of(errorcode)?)
    }
    /// MPI-5.0 §9.4
    fn MPI_Error_string / PMPI_Error_string(errorcode: c_int, string: Out<c_char>, resultlen: Out<c_int>) anytime {
        class_of(errorcode)?;
        let length = string.set_text("string", &text(errorcode), MPI_MAX_ERROR_STRING as usize)?;
        resultlen.set("resultlen", length)
    }
    /// MPI-5.0 §9.5
    fn MPI_Add_error_class / PMPI_Add_error_class(errorclass: Out<c_int>) anytime {
        errorclass.set("errorclass", added().add(None)?)
    }
    /// MPI-5.0 §9.5
    fn MPI_Add_error_code / PMPI_Add_error_code(errorclass: c_int, errorcode: Out<c_int>) anytime {
        if class_of(errorclass)? != errorclass {
            return Err(Error::invalid(ErrorClass::Arg, "errorclass", errorclass, "an error class"));
        }
        errorcode.set("errorcode", added().add(Some(errorclass))?)
    }
    /// MPI-5.0 §9.5
    fn MPI_Add_error_string / PMPI_Add_error_string(errorcode: c_int, string: In<c_char>) anytime {
        let string = string.text("string")?;
        if string.len() >= MPI_MAX_ERROR_STRING as usize {
            let expected = format_args!("at most {} bytes", MPI_MAX_ERROR_STRING - 1);
            return Err(Error::invalid(ErrorClass::Arg, "string", format_args!("{} bytes", string.len()), expected));
        }
        added().get_mut(errorcode)?.text = Some(string);
        Ok(())
    }
    /// MPI-5.0 §9.5
    fn MPI_Remove_error_class / PMPI_Remove_error_class(errorclass: c_int) anytime {
        let mut added = added();
        if added.get_mut(errorclass)?.class.is_some() {
            return Err(Error::invalid(ErrorClass::Arg, "errorclass", errorclass, "an error class, not a code"));
        }
        if added.codes.values().any(|code| code.class == Some(errorclass)) {
            let expected = "a class none of whose codes are left";
            return Err(Error::invalid(ErrorClass::Arg, "errorclass", errorclass, expected));
        }
        added.remove(errorclass)
    }
    /// MPI-5.0 §9.5
    fn MPI_Remove_error_code / PMPI_Remove_error_code(errorcode: c_int) anytime {
        let mut added = added();
        if added.get_mut(errorcode)?.class.is_none() {
            return Err(Error::invalid(ErrorClass::Arg, "errorcode", errorcode, "an error code, not a class"));
        }
        added.remove(errorcode)
    }
    /// MPI-5.0 §9.5
    fn MPI_Remove_error_string / PMPI_Remove_error_string(errorcode: c_int) anytime {
        if added().get_mut(errorcode)?.text.take().is_none() {
            let expected = "a code that has a string of the program";
            return Err(Error::invalid(ErrorClass::Arg, "errorcode", errorcode, expected));
        }
        Ok(())
    }
}

/// All error handlers that were made and not freed.
static HANDLERS: Table<UserHandlerPlace> = Table::new(Kind::Errhandler);

/// A handler in the table; objects that use it hold the handler itself.
struct UserHandlerPlace(Arc<UserHandler>);

fn create(errhandler: Out<MPI_Errhandler>, function: Option<UserHandler>) -> Result<()> {
    let Some(function) = function else {
        return Err(Error::invalid(ErrorClass::Arg, "errhandler function", "NULL", "a function"));
    };
    let place = UserHandlerPlace(Arc::new(function));
    errhandler.set("errhandler", MPI_Errhandler(HANDLERS.insert(Arc::new(place))?))
}

fn predefined(handle: MPI_Errhandler) -> Option<Handler> {
    match handle {
        MPI_ERRORS_ARE_FATAL => Some(Handler::Fatal),
        MPI_ERRORS_ABORT => Some(Handler::Abort),
        MPI_ERRORS_RETURN => Some(Handler::Return),
        _ => None,
    }
}

/// The error handler with this handle.
pub(crate) fn find(handle: MPI_Errhandler) -> Result<Handler> {
    match predefined(handle) {
        Some(handler) => Ok(handler),
        None => match HANDLERS.peek(handle.0) {
            Some(place) => Ok(Handler::User(place.0.clone())),
            None => Err(invalid(Kind::Errhandler, "errhandler", handle.0)),
        },
    }
}

/// Whether a handler of the program was made for objects of this kind.
pub(crate) fn suits(handle: MPI_Errhandler, handler: &Handler, kind: Kind) -> Result<()> {
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
    let got = format_args!("{:#x}, made for {}", handle.0, made_for.noun());
    let expected = format_args!("an error handler for {}", kind.noun());
    Err(Error::invalid(ErrorClass::Errhandler, "errhandler", got, expected))
}

/// A handle for an error handler; of a program's one a new handle, which the program has to free.
fn handle_of(handler: Handler) -> Result<MPI_Errhandler> {
    match handler {
        Handler::Fatal => Ok(MPI_ERRORS_ARE_FATAL),
        Handler::Abort => Ok(MPI_ERRORS_ABORT),
        Handler::Return => Ok(MPI_ERRORS_RETURN),
        Handler::User(function) => {
            if let Some(known) = HANDLERS.find(|place| Arc::ptr_eq(&place.0, &function)) {
                return Ok(MPI_Errhandler(known));
            }
            HANDLERS.insert(Arc::new(UserHandlerPlace(function))).map(MPI_Errhandler)
        }
    }
}

fn null_file(file: MPI_File) -> Result<()> {
    if file == MPI_FILE_NULL { Ok(()) } else { Err(invalid(Kind::File, "file", file.0)) }
}

/// What the program added.
struct Added {
    codes: BTreeMap<c_int, Code>,
    last: c_int,
}

/// A class or code of the program.
struct Code {
    /// Its class; `None` for a class.
    class: Option<c_int>,
    text: Option<String>,
}

static ADDED: Mutex<Added> = Mutex::new(Added { codes: BTreeMap::new(), last: MPI_ERR_LASTCODE });

fn added() -> MutexGuard<'static, Added> {
    ADDED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Added {
    fn add(&mut self, class: Option<c_int>) -> Result<c_int> {
        let Some(next) = self.last.checked_add(1) else {
            return Err(Error::no_memory("all numbers for error codes are used up".to_string()));
        };
        self.last = next;
        self.codes.insert(next, Code { class, text: None });
        Ok(next)
    }

    fn get_mut(&mut self, code: c_int) -> Result<&mut Code> {
        self.codes.get_mut(&code).ok_or_else(|| {
            Error::invalid(ErrorClass::Arg, "error code", code, "a code or class that the program added")
        })
    }

    fn remove(&mut self, code: c_int) -> Result<()> {
        if self.get_mut(code)?.text.is_some() {
            let expected = "one whose string was removed before";
            return Err(Error::invalid(ErrorClass::Arg, "error code", code, expected));
        }
        self.codes.remove(&code);
        Ok(())
    }
}

/// The largest error code in use (`MPI_LASTUSEDCODE`).
pub(crate) fn last_used() -> c_int {
    added().last
}

fn class_of(code: c_int) -> Result<c_int> {
    if code == MPI_SUCCESS || ErrorClass::from_value(code).is_some() || tool_text(code).is_some() {
        return Ok(code);
    }
    match added().codes.get(&code) {
        Some(found) => Ok(found.class.unwrap_or(code)),
        None => Err(Error::invalid(
            ErrorClass::Arg,
            "errorcode",
            code,
            "an error code of this library or added to it",
        )),
    }
}

/// What an error code means; for an error that just happened on this thread, its sentence too.
pub(crate) fn text(code: c_int) -> String {
    if code == MPI_SUCCESS {
        return "MPI_SUCCESS: no error".to_string();
    }
    if let Some(class) = ErrorClass::from_value(code) {
        let general = format!("{}: {}", class.name(), class.text());
        return match failure::latest(class) {
            Some(sentence) => format!("{general}; {sentence}"),
            None => general,
        };
    }
    if let Some(text) = tool_text(code) {
        return text.to_string();
    }
    added().codes.get(&code).and_then(|found| found.text.clone()).unwrap_or_default()
}

/// Classes of the tool interface (MPI-5.0 §15.3.10).
fn tool_text(code: c_int) -> Option<&'static str> {
    const TEXTS: [&str; 18] = [
        "MPI_T_ERR_CANNOT_INIT: the tool interface cannot be initialised",
        "MPI_T_ERR_NOT_ACCESSIBLE: the function cannot be called now",
        "MPI_T_ERR_NOT_INITIALIZED: the tool interface is not initialised",
        "MPI_T_ERR_NOT_SUPPORTED: not supported",
        "MPI_T_ERR_MEMORY: out of memory",
        "MPI_T_ERR_INVALID: invalid use or argument",
        "MPI_T_ERR_INVALID_INDEX: invalid index of a variable, category or event",
        "MPI_T_ERR_INVALID_ITEM: invalid index of an item of an enumeration",
        "MPI_T_ERR_INVALID_SESSION: invalid session",
        "MPI_T_ERR_INVALID_HANDLE: invalid handle",
        "MPI_T_ERR_INVALID_NAME: no variable, category or event has this name",
        "MPI_T_ERR_OUT_OF_HANDLES: no more handles",
        "MPI_T_ERR_OUT_OF_SESSIONS: no more sessions",
        "MPI_T_ERR_CVAR_SET_NOT_NOW: the variable cannot be set now",
        "MPI_T_ERR_CVAR_SET_NEVER: the variable cannot be set",
        "MPI_T_ERR_PVAR_NO_WRITE: the variable cannot be written",
        "MPI_T_ERR_PVAR_NO_STARTSTOP: the variable cannot be started or stopped",
        "MPI_T_ERR_PVAR_NO_ATOMIC: the variable cannot be read and written in one step",
    ];
    TEXTS.get(usize::try_from(code.checked_sub(crate::constants::MPI_T_ERR_CANNOT_INIT)?).ok()?).copied()
}
