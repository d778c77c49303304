//! Error codes and what they mean: the library's, and those that the program adds (MPI-5.0 §9.4, §9.5).
//!
//! Codes up to `MPI_ERR_LASTCODE` are the library's, each its own class; above it the program adds classes and codes.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use posthaste_core::error::{Error, ErrorClass, Result};

use crate::abi::constants::{self, MPI_ERR_LASTCODE, MPI_SUCCESS};
use crate::layer::error_code::{Added, latest};
use crate::mapping::errors;

static ADDED: Mutex<Added> = Mutex::new(Added::after(MPI_ERR_LASTCODE));

/// What the program added, locked.
pub(crate) fn added() -> MutexGuard<'static, Added> {
    ADDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The largest error code in use (`MPI_LASTUSEDCODE`).
pub(crate) fn last_used() -> c_int {
    added().last()
}

/// The class of an error code.
pub(crate) fn class_of(code: c_int) -> Result<c_int> {
    if code == MPI_SUCCESS || errors::class(code).is_some() || tool_text(code).is_some() {
        return Ok(code);
    }
    added().class_of(code).ok_or_else(|| {
        let expected = "an error code of this library or added to it";
        Error::invalid(ErrorClass::Arg, "errorcode", code, expected)
    })
}

/// What an error code means; for an error that just happened on this thread, its sentence too.
pub(crate) fn text(code: c_int) -> String {
    let general = meaning(code);
    match errors::class(code).and_then(latest) {
        Some(sentence) => format!("{general}; {sentence}"),
        None => general,
    }
}

/// What an error code means in general. Part of another error's sentence, which would otherwise carry the sentence before.
pub(crate) fn meaning(code: c_int) -> String {
    if code == MPI_SUCCESS {
        return "MPI_SUCCESS: no error".to_string();
    }
    if let Some(class) = errors::class(code) {
        return format!("{}: {}", class.name(), class.text());
    }
    if let Some(text) = tool_text(code) {
        return text.to_string();
    }
    added().text_of(code).unwrap_or_default()
}

/// Classes of the tool interface (MPI-5.0 §15.3.10).
fn tool_text(code: c_int) -> Option<&'static str> {
    macro_rules! texts {
        ($($name:ident: $text:literal)*) => {
            match code { $(constants::$name => Some(concat!(stringify!($name), ": ", $text)),)* _ => None }
        };
    }
    texts! {
        MPI_T_ERR_CANNOT_INIT: "the tool interface cannot be initialised"
        MPI_T_ERR_NOT_ACCESSIBLE: "the function cannot be called now"
        MPI_T_ERR_NOT_INITIALIZED: "the tool interface is not initialised"
        MPI_T_ERR_NOT_SUPPORTED: "not supported"
        MPI_T_ERR_MEMORY: "out of memory"
        MPI_T_ERR_INVALID: "invalid use or argument"
        MPI_T_ERR_INVALID_INDEX: "invalid index of a variable, category or event"
        MPI_T_ERR_INVALID_ITEM: "invalid index of an item of an enumeration"
        MPI_T_ERR_INVALID_SESSION: "invalid session"
        MPI_T_ERR_INVALID_HANDLE: "invalid handle"
        MPI_T_ERR_INVALID_NAME: "no variable, category or event has this name"
        MPI_T_ERR_OUT_OF_HANDLES: "no more handles"
        MPI_T_ERR_OUT_OF_SESSIONS: "no more sessions"
        MPI_T_ERR_CVAR_SET_NOT_NOW: "the variable cannot be set now"
        MPI_T_ERR_CVAR_SET_NEVER: "the variable cannot be set"
        MPI_T_ERR_PVAR_NO_WRITE: "the variable cannot be written"
        MPI_T_ERR_PVAR_NO_STARTSTOP: "the variable cannot be started or stopped"
        MPI_T_ERR_PVAR_NO_ATOMIC: "the variable cannot be read and written in one step"
    }
}
