//! Error classes and codes that the program adds, and the sentences of errors that have happened (MPI-5.0 §9.4, §9.5).
//!
//! The numbers of the library's own codes are a face's.

use std::cell::RefCell;
use std::collections::BTreeMap;

use posthaste_core::error::{Error, ErrorClass, Result};

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
    codes: BTreeMap<i32, Code>,
    last: i32,
}

/// A class or code of the program.
struct Code {
    /// Its class; `None` for a class.
    class: Option<i32>,
    text: Option<String>,
}

impl Added {
    /// Nothing yet; what is added gets numbers above `last`.
    pub(crate) const fn after(last: i32) -> Self {
        Self { codes: BTreeMap::new(), last }
    }

    /// The largest number in use.
    pub(crate) fn last(&self) -> i32 {
        self.last
    }

    /// The class of a code that was added.
    pub(crate) fn class_of(&self, code: i32) -> Option<i32> {
        self.codes.get(&code).map(|found| found.class.unwrap_or(code))
    }

    /// The string of a code that was added.
    pub(crate) fn text_of(&self, code: i32) -> Option<String> {
        self.codes.get(&code).and_then(|found| found.text.clone())
    }

    /// A new code in a class, or a new class.
    pub(crate) fn add(&mut self, class: Option<i32>) -> Result<i32> {
        let Some(next) = self.last.checked_add(1) else {
            return Err(Error::no_memory("all numbers for error codes are used up".to_string()));
        };
        self.last = next;
        self.codes.insert(next, Code { class, text: None });
        Ok(next)
    }

    pub(crate) fn set_text(&mut self, code: i32, text: String) -> Result<()> {
        self.get_mut(code)?.text = Some(text);
        Ok(())
    }

    pub(crate) fn remove_text(&mut self, code: i32) -> Result<()> {
        if self.get_mut(code)?.text.take().is_none() {
            let expected = "a code that has a string of the program";
            return Err(Error::invalid(ErrorClass::Arg, "errorcode", code, expected));
        }
        Ok(())
    }

    pub(crate) fn remove_class(&mut self, class: i32) -> Result<()> {
        if self.get_mut(class)?.class.is_some() {
            let expected = "an error class, not a code";
            return Err(Error::invalid(ErrorClass::Arg, "errorclass", class, expected));
        }
        if self.codes.values().any(|code| code.class == Some(class)) {
            let expected = "a class none of whose codes are left";
            return Err(Error::invalid(ErrorClass::Arg, "errorclass", class, expected));
        }
        self.remove(class)
    }

    pub(crate) fn remove_code(&mut self, code: i32) -> Result<()> {
        if self.get_mut(code)?.class.is_none() {
            let expected = "an error code, not a class";
            return Err(Error::invalid(ErrorClass::Arg, "errorcode", code, expected));
        }
        self.remove(code)
    }

    fn get_mut(&mut self, code: i32) -> Result<&mut Code> {
        self.codes.get_mut(&code).ok_or_else(|| {
            Error::invalid(ErrorClass::Arg, "error code", code, "a code or class that the program added")
        })
    }

    fn remove(&mut self, code: i32) -> Result<()> {
        if self.get_mut(code)?.text.is_some() {
            let expected = "one whose string was removed before";
            return Err(Error::invalid(ErrorClass::Arg, "error code", code, expected));
        }
        self.codes.remove(&code);
        Ok(())
    }
}
