//! Error codes and what they mean: the library's, and those that the program adds (MPI-5.0 §9.4, §9.5).
//!
//! Codes up to `MPI_ERR_LASTCODE` are the library's, each its own class; above it the program adds classes and codes, kept
//! here in one list. Used by `failure`, which leaves its sentences here, and by the entries about error codes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use posthaste_core::error::{Error, ErrorClass, Result};

use crate::abi::constants::{MPI_ERR_LASTCODE, MPI_SUCCESS, MPI_T_ERR_CANNOT_INIT};

thread_local! {
    /// The latest sentence on this thread, and its class.
    static LATEST: RefCell<Option<(ErrorClass, String)>> = const { RefCell::new(None) };
}

/// A call has failed on this thread, with this sentence.
pub(crate) fn remember(class: ErrorClass, sentence: String) {
    LATEST.with_borrow_mut(|latest| *latest = Some((class, sentence)));
}

/// The latest sentence of this class on this thread.
pub(crate) fn latest(class: ErrorClass) -> Option<String> {
    LATEST.with_borrow(|latest| latest.as_ref().filter(|(c, _)| *c == class).map(|(_, text)| text.clone()))
}

/// What the program added.
pub(crate) struct Added {
    pub(crate) codes: BTreeMap<c_int, Code>,
    last: c_int,
}

/// A class or code of the program.
pub(crate) struct Code {
    /// Its class; `None` for a class.
    pub(crate) class: Option<c_int>,
    pub(crate) text: Option<String>,
}

static ADDED: Mutex<Added> = Mutex::new(Added { codes: BTreeMap::new(), last: MPI_ERR_LASTCODE });

/// What the program added, locked.
pub(crate) fn added() -> MutexGuard<'static, Added> {
    ADDED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Added {
    pub(crate) fn add(&mut self, class: Option<c_int>) -> Result<c_int> {
        let Some(next) = self.last.checked_add(1) else {
            return Err(Error::no_memory("all numbers for error codes are used up".to_string()));
        };
        self.last = next;
        self.codes.insert(next, Code { class, text: None });
        Ok(next)
    }

    pub(crate) fn get_mut(&mut self, code: c_int) -> Result<&mut Code> {
        self.codes.get_mut(&code).ok_or_else(|| {
            Error::invalid(ErrorClass::Arg, "error code", code, "a code or class that the program added")
        })
    }

    pub(crate) fn remove(&mut self, code: c_int) -> Result<()> {
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

/// The class of an error code.
pub(crate) fn class_of(code: c_int) -> Result<c_int> {
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
        return match latest(class) {
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
    TEXTS.get(usize::try_from(code.checked_sub(MPI_T_ERR_CANNOT_INIT)?).ok()?).copied()
}
