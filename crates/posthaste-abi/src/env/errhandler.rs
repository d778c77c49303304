//! C functions for error handlers, classes, codes and strings (MPI-5.0 §9.3 to §9.5).
//!
//! Handlers are applied in `failure`.

use std::ffi::{c_char, c_int};
use std::sync::{Arc, PoisonError};

use posthaste_core::error::{Error, ErrorClass, Result};

use crate::abi::constants::{MPI_ERRHANDLER_NULL, MPI_FILE_NULL, MPI_MAX_ERROR_STRING};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{
    MPI_Comm, MPI_Comm_errhandler_function, MPI_Errhandler, MPI_File, MPI_File_errhandler_function,
    MPI_Session, MPI_Session_errhandler_function, MPI_Win, MPI_Win_errhandler_function,
};
use crate::call::mpi_fn;
use crate::failure;
use crate::handle::{Kind, invalid};
use crate::layer::errhandler as layer;
use crate::object::errhandler::{self as handlers, FILE_NULL_HANDLER, UserHandler, find_for, handle_of};
use crate::object::error_code::{added, class_of, text};
use crate::object::site::Site;
use crate::object::{communicator, session, window};

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
        let handler = find_for(errhandler, Kind::Comm)?;
        if communicator::set_handler_later(comm, &handler) {
            return Ok(());
        }
        layer::set(&*communicator::find("comm", comm)?, handler);
        Ok(())
    }
    /// MPI-5.0 §9.3.1
    fn MPI_Comm_get_errhandler / PMPI_Comm_get_errhandler(comm: MPI_Comm, errhandler: Out<MPI_Errhandler>)
        raises comm => {
        errhandler.set("errhandler", handle_of(layer::of(&*communicator::find("comm", comm)?))?)
    }
    /// MPI-5.0 §9.3.4
    fn MPI_Comm_call_errhandler / PMPI_Comm_call_errhandler(comm: MPI_Comm, errorcode: c_int)
        raises comm => {
        communicator::find("comm", comm)?;
        failure::call_handler("MPI_Comm_call_errhandler", Site::Comm(comm), errorcode);
        Ok(())
    }
    /// MPI-5.0 §9.3.2
    fn MPI_Win_set_errhandler / PMPI_Win_set_errhandler(win: MPI_Win, errhandler: MPI_Errhandler)
        raises win => {
        let handler = find_for(errhandler, Kind::Win)?;
        window::find("win", win)?.window.set_handler(Some(Arc::new(handler)));
        Ok(())
    }
    /// MPI-5.0 §9.3.2
    fn MPI_Win_get_errhandler / PMPI_Win_get_errhandler(win: MPI_Win, errhandler: Out<MPI_Errhandler>)
        raises win => {
        errhandler.set("errhandler", handle_of(window::find("win", win)?.handler())?)
    }
    /// MPI-5.0 §9.3.4
    fn MPI_Win_call_errhandler / PMPI_Win_call_errhandler(win: MPI_Win, errorcode: c_int) raises win => {
        window::find("win", win)?;
        failure::call_handler("MPI_Win_call_errhandler", Site::Win(win), errorcode);
        Ok(())
    }
    /// MPI-5.0 §9.3.3
    fn MPI_File_set_errhandler / PMPI_File_set_errhandler(file: MPI_File, errhandler: MPI_Errhandler)
        raises file => {
        null_file(file)?;
        let handler = find_for(errhandler, Kind::File)?;
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
    /// MPI-5.0 §9.3.4
    fn MPI_Session_set_errhandler / PMPI_Session_set_errhandler(session: MPI_Session,
        errhandler: MPI_Errhandler) raises session => {
        let handler = find_for(errhandler, Kind::Session)?;
        session::find("session", session)?.set_handler(handler);
        Ok(())
    }
    /// MPI-5.0 §9.3.4
    fn MPI_Session_get_errhandler / PMPI_Session_get_errhandler(session: MPI_Session,
        errhandler: Out<MPI_Errhandler>) raises session => {
        errhandler.set("errhandler", handle_of(session::find("session", session)?.handler())?)
    }
    /// MPI-5.0 §9.3.5
    fn MPI_Session_call_errhandler / PMPI_Session_call_errhandler(session: MPI_Session, errorcode: c_int)
        raises session => {
        session::find("session", session)?;
        failure::call_handler("MPI_Session_call_errhandler", Site::Session(session), errorcode);
        Ok(())
    }
    /// MPI-5.0 §9.3
    fn MPI_Errhandler_free / PMPI_Errhandler_free(errhandler: Out<MPI_Errhandler>) anytime {
        handlers::free(errhandler.get("errhandler")?)?;
        errhandler.set("errhandler", MPI_ERRHANDLER_NULL)
    }
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
        added().set_text(errorcode, string)
    }
    /// MPI-5.0 §9.5
    fn MPI_Remove_error_class / PMPI_Remove_error_class(errorclass: c_int) anytime {
        added().remove_class(errorclass)
    }
    /// MPI-5.0 §9.5
    fn MPI_Remove_error_code / PMPI_Remove_error_code(errorcode: c_int) anytime {
        added().remove_code(errorcode)
    }
    /// MPI-5.0 §9.5
    fn MPI_Remove_error_string / PMPI_Remove_error_string(errorcode: c_int) anytime {
        added().remove_text(errorcode)
    }
}

fn create(errhandler: Out<MPI_Errhandler>, function: Option<UserHandler>) -> Result<()> {
    let Some(function) = function else {
        return Err(Error::invalid(ErrorClass::Arg, "errhandler function", "NULL", "a function"));
    };
    errhandler.set("errhandler", handlers::store(Arc::new(function))?)
}

fn null_file(file: MPI_File) -> Result<()> {
    if file == MPI_FILE_NULL { Ok(()) } else { Err(invalid(Kind::File, "file", file.number())) }
}
