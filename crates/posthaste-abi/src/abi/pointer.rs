//! Pointers that C callers pass: `In` for what is read, `Out` for what is written (MPI-5.0 §2.3).
//!
//! They stand in the signatures of entries. Only a C caller can make one, and the C signature obliges it to pass NULL or the
//! address of as many objects as the call says; that promise is what the unsafe blocks of this file rest on. NULL and wrongly
//! aligned addresses become errors that name the argument.

use std::ffi::{CStr, c_char, c_int, c_void};

use posthaste_core::error::{Error, ErrorClass, Result};

use super::constants::{MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE};
use super::types::{
    MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File, MPI_Group, MPI_Info, MPI_Message, MPI_Op, MPI_Request,
    MPI_Session, MPI_Status, MPI_T_cvar_handle, MPI_T_enum, MPI_T_event_registration, MPI_T_pvar_handle,
    MPI_T_pvar_session, MPI_Win,
};

/// Types of which every bit pattern is a value, so that whatever C left in memory can be read.
///
/// # Safety
/// No bit pattern of the type may be invalid, and it must be laid out as in C.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($ty:ty),* $(,)?) => {$(
        // SAFETY: integers, raw pointers, and `repr(transparent)` or `repr(C)` wrappers of them.
        unsafe impl Plain for $ty {}
    )*};
}

plain! {
    c_int, c_char, i64, isize, *mut c_char, *mut *mut c_char, *mut *mut *mut c_char, *mut c_void, [c_int; 3],
    MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File, MPI_Group, MPI_Info, MPI_Message, MPI_Op, MPI_Request,
    MPI_Session, MPI_Status, MPI_T_cvar_handle, MPI_T_enum, MPI_T_event_registration, MPI_T_pvar_handle,
    MPI_T_pvar_session, MPI_Win,
}

/// Integers of several widths in arguments of C.
pub(crate) trait Number: Copy {
    /// The number in the width of the engine.
    fn widen(self) -> i64;
}

impl Number for c_int {
    fn widen(self) -> i64 {
        self.into()
    }
}

impl Number for i64 {
    fn widen(self) -> i64 {
        self
    }
}

impl Number for isize {
    fn widen(self) -> i64 {
        self as i64
    }
}

/// `const T *` of the caller.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct In<T>(*const T);

/// `T *` of the caller: written, and read where the standard says INOUT.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Out<T>(*mut T);

impl<T: Plain> In<T> {
    /// The object.
    #[inline]
    pub(crate) fn get(&self, argument: &'static str) -> Result<T> {
        check(self.0, argument)?;
        // SAFETY: not NULL and aligned; the caller's promise: it then names an object of this type.
        Ok(unsafe { *self.0 })
    }

    /// The first `length` objects. An empty array may be NULL.
    #[inline]
    pub(crate) fn slice(&self, argument: &'static str, length: usize) -> Result<&[T]> {
        if length == 0 {
            return Ok(&[]);
        }
        check(self.0, argument)?;
        // SAFETY: not NULL and aligned; the caller's promise: `length` objects that nobody changes meanwhile.
        Ok(unsafe { std::slice::from_raw_parts(self.0, length) })
    }
}

impl<T> In<T> {
    /// The address, to be compared with those that have a meaning of their own.
    pub(crate) fn address(&self) -> usize {
        self.0.addr()
    }
}

impl In<c_char> {
    /// The bytes up to the closing zero.
    pub(crate) fn bytes(&self, argument: &'static str) -> Result<&[u8]> {
        check(self.0, argument)?;
        // SAFETY: not NULL; the caller's promise: a string with a closing zero that lives through the call.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }

    /// The text up to its closing zero; bytes that are not UTF-8 are replaced.
    pub(crate) fn text(&self, argument: &'static str) -> Result<String> {
        check(self.0, argument)?;
        // SAFETY: not NULL; the caller's promise: a string with a closing zero.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }

    /// The text up to its closing zero, for a launcher, to whom other bytes than UTF-8 cannot be told.
    pub(crate) fn sendable_text(&self, argument: &'static str) -> Result<String> {
        String::from_utf8(self.bytes(argument)?.to_vec()).map_err(|bad| {
            let got = String::from_utf8_lossy(bad.as_bytes()).into_owned();
            Error::invalid(ErrorClass::Arg, argument, format_args!("{got:?}"), "text in UTF-8")
        })
    }
}

impl<T> Out<T> {
    /// A `void *` argument that the standard says is the address of a `T`.
    #[inline]
    pub(crate) fn at(address: *mut c_void) -> Self {
        Self(address.cast())
    }
}

// What stands for no status is no address that one can have.
const _: () = assert!(!MPI_STATUS_IGNORE.is_multiple_of(align_of::<MPI_Status>()) || MPI_STATUS_IGNORE == 0);
const _: () =
    assert!(!MPI_STATUSES_IGNORE.is_multiple_of(align_of::<MPI_Status>()) || MPI_STATUSES_IGNORE == 0);

impl Out<MPI_Status> {
    /// Stores the status of a completed request, unless the caller ignores it. The error field stays as it was, as
    /// MPI-5.0 §3.2.5 wants for functions that complete one request.
    #[inline(always)]
    pub(crate) fn set_status(&self, status: &MPI_Status) {
        if !self.0.is_null() && self.0.is_aligned() {
            // SAFETY: not NULL and aligned; the caller's promise: it then names a status.
            unsafe { status.store_but_error(self.0) };
        }
    }

    /// Stores a whole status at place `index` of an array, unless the caller ignores it.
    #[inline]
    pub(crate) fn set_status_at(&self, index: usize, status: MPI_Status) {
        if !self.0.is_null() && self.0.is_aligned() {
            // SAFETY: not NULL and aligned; the caller's promise: the array has more than `index` statuses.
            unsafe { self.0.add(index).write(status) };
        }
    }
}

impl Out<MPI_Status> {
    /// The place of one status of several, all of which may be ignored.
    pub(crate) fn nth_status(&self, index: usize) -> Self {
        let ignored = self.0.is_null() || !self.0.is_aligned();
        Self(if ignored { self.0 } else { self.0.wrapping_add(index) })
    }

    /// Where it is stored, for a call that is over before.
    pub(crate) fn place(&self) -> *mut c_void {
        self.0.cast()
    }
}

impl<T> Out<T> {
    /// The address, to be compared with those that have a meaning of their own.
    pub(crate) fn address(&self) -> usize {
        self.0.addr()
    }

    /// Whether a result can be stored later: what cannot be reported must not happen.
    #[inline(always)]
    pub(crate) fn ready(&self, argument: &'static str) -> Result<()> {
        check(self.0, argument)
    }
}

impl<T: Plain> Out<T> {
    /// The object as it is now.
    #[inline]
    pub(crate) fn get(&self, argument: &'static str) -> Result<T> {
        check(self.0, argument)?;
        // SAFETY: not NULL and aligned; the caller's promise: it then names an object of this type.
        Ok(unsafe { *self.0 })
    }

    /// Stores a result.
    #[inline]
    pub(crate) fn set(&self, argument: &'static str, value: T) -> Result<()> {
        check(self.0, argument)?;
        // SAFETY: not NULL and aligned; the caller's promise: it then names an object of this type.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Stores objects at the first places of an array that the call says has room for them.
    pub(crate) fn set_all(&self, argument: &'static str, values: &[T]) -> Result<()> {
        values.iter().enumerate().try_for_each(|(at, value)| self.set_at(argument, at, *value))
    }

    /// The first `length` objects, to read. An empty array may be NULL.
    #[inline]
    pub(crate) fn slice(&self, argument: &'static str, length: usize) -> Result<&[T]> {
        if length == 0 {
            return Ok(&[]);
        }
        check(self.0, argument)?;
        // SAFETY: not NULL and aligned; the caller's promise: `length` objects that nobody changes meanwhile.
        Ok(unsafe { std::slice::from_raw_parts(self.0, length) })
    }

    /// The address of place `index` of an array.
    #[inline]
    pub(crate) fn nth(&self, index: usize) -> Self {
        Self(self.0.wrapping_add(index))
    }

    /// Stores at place `index` of an array that the call says is longer than `index`.
    #[inline]
    pub(crate) fn set_at(&self, argument: &'static str, index: usize, value: T) -> Result<()> {
        check(self.0, argument)?;
        // SAFETY: not NULL and aligned; the caller's promise: the array has more than `index` objects.
        unsafe { self.0.add(index).write(value) };
        Ok(())
    }
}

impl Out<*mut c_char> {
    /// The string at place `index` of an array that the call says is longer than `index`, as [`In::sendable_text`].
    pub(crate) fn text_at(&self, argument: &'static str, index: usize) -> Result<String> {
        In(self.nth(index).get(argument)?.cast_const()).sendable_text(argument)
    }

    /// The strings of an array that NULL ends; none where the array itself is NULL.
    pub(crate) fn texts(&self, argument: &'static str) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        while !self.0.is_null() && !self.nth(texts.len()).get(argument)?.is_null() {
            texts.push(self.text_at(argument, texts.len())?);
        }
        Ok(texts)
    }
}

impl Out<*mut *mut c_char> {
    /// The array at place `index` of an array of arrays; NULL where the array itself is NULL.
    pub(crate) fn array_at(&self, argument: &'static str, index: usize) -> Result<Out<*mut c_char>> {
        if self.0.is_null() { Ok(Out(std::ptr::null_mut())) } else { self.nth(index).get(argument).map(Out) }
    }
}

impl Out<c_char> {
    /// Stores as many of the bytes as `room` holds, with a closing zero.
    pub(crate) fn set_bytes(&self, argument: &'static str, bytes: &[u8], room: usize) -> Result<()> {
        check(self.0, argument)?;
        let length = bytes.len().min(room.saturating_sub(1));
        if room > 0 {
            // SAFETY: not NULL; the caller's promise: `room` bytes; `length < room`, and `bytes` is elsewhere.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr().cast::<c_char>(), self.0, length);
                self.0.add(length).write(0);
            }
        }
        Ok(())
    }

    /// Stores as much of `text` as `room` bytes hold, with a closing zero, and returns the length stored.
    pub(crate) fn set_text(&self, argument: &'static str, text: &str, room: usize) -> Result<c_int> {
        check(self.0, argument)?;
        let mut length = text.len().min(room.saturating_sub(1));
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        if room > 0 {
            // SAFETY: not NULL; the caller's promise: `room` bytes; `length < room`, and `text` is elsewhere.
            unsafe {
                std::ptr::copy_nonoverlapping(text.as_ptr().cast::<c_char>(), self.0, length);
                self.0.add(length).write(0);
            }
        }
        Ok(length as c_int)
    }
}

#[inline]
fn check<T>(pointer: *const T, argument: &'static str) -> Result<()> {
    if pointer.is_null() || !pointer.is_aligned() { Err(bad(pointer, argument)) } else { Ok(()) }
}

#[cold]
fn bad<T>(pointer: *const T, argument: &'static str) -> Error {
    if pointer.is_null() {
        Error::invalid(ErrorClass::Arg, argument, "NULL", "an address")
    } else {
        let expected = format!("an address divisible by {}", align_of::<T>());
        Error::invalid(ErrorClass::Arg, argument, format_args!("{pointer:p}"), expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_misaligned_pointers_are_errors_that_name_the_argument() {
        let null = Out::<c_int>(std::ptr::null_mut());
        assert_eq!(null.set("rank", 1).unwrap_err().to_string(), "rank is NULL, expected an address");
        let odd = In::<c_int>(std::ptr::without_provenance(13));
        assert!(odd.get("dims").unwrap_err().to_string().starts_with("dims is 0xd, expected an address"));
        assert!(null.slice("counts", 0).unwrap().is_empty());
    }

    #[test]
    fn text_is_cut_at_a_character_and_closed() {
        let mut room = [7 as c_char; 6];
        let out = Out(room.as_mut_ptr());
        assert_eq!(out.set_text("name", "abcd\u{e9}", 6).unwrap(), 4);
        assert_eq!(room[4], 0);
        assert_eq!(out.set_text("name", "xy", 6).unwrap(), 2);
        assert_eq!(In(room.as_ptr()).text("name").unwrap(), "xy");
    }
}
