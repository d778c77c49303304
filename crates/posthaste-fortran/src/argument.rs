//! How Fortran passes what C takes by value, and arrays of handles (MPI-5.0 §19.1, §19.3).

use std::ffi::{c_int, c_void};

use crate::abi::Word;
pub(crate) use crate::abi::{detached, is_no_argument, place};

/// An INTEGER.
pub(crate) type Integer = c_int;

/// Any pointer of the C interface.
pub(crate) type Address = *mut c_void;

/// A handle of the C interface, whose number Fortran has.
pub(crate) type Handle = usize;

/// # Safety
/// There is an INTEGER.
#[inline]
pub(crate) unsafe fn handle(number: *const Integer) -> Handle {
    // SAFETY: as promised.
    unsafe { *number as u32 as Handle }
}

/// The INTEGER for a handle.
#[inline]
pub(crate) fn number(handle: Handle) -> Integer {
    handle as Integer
}

/// A LOGICAL as C has it. What C writes, 0 or 1, is a LOGICAL as it is: compilers differ only in what else is `.TRUE.`.
///
/// # Safety
/// There is a LOGICAL.
#[inline]
pub(crate) unsafe fn logical(value: *const Integer) -> Integer {
    // SAFETY: as promised.
    Integer::from(unsafe { *value } != 0)
}

/// MPI_UNDEFINED.
pub(crate) const UNDEFINED: Integer = -32766;

/// Ends a routine: `ierror` is absent when the program left it out.
///
/// # Safety
/// `ierror` is null or an INTEGER.
#[inline]
pub(crate) unsafe fn report(ierror: *mut Integer, code: Integer) {
    if !ierror.is_null() {
        // SAFETY: as promised.
        unsafe { *ierror = code };
    }
}

/// Indices count from 1 in Fortran; MPI_UNDEFINED, which is negative, stays as it is.
///
/// # Safety
/// There are `len` INTEGERs, or `len` is not positive.
pub(crate) unsafe fn count_from_one(indices: *mut Integer, len: Integer) {
    for at in 0..usize::try_from(len).unwrap_or(0) {
        // SAFETY: as promised.
        let index = unsafe { &mut *indices.add(at) };
        if *index >= 0 {
            *index += 1;
        }
    }
}

// Arrays of handles.

/// So many handles need no memory from the heap.
const FEW: usize = 16;

/// An array of handles as C has it.
pub(crate) struct Handles {
    few: [Word; FEW],
    many: Vec<Word>,
    len: usize,
    /// Where they go back to in the end; null: nowhere.
    back: *mut Integer,
}

/// Handles that C only reads.
///
/// # Safety
/// There are `len` INTEGERs, or `len` is not positive.
pub(crate) unsafe fn handles(from: *const Integer, len: Integer) -> Handles {
    let len = usize::try_from(len).unwrap_or(0);
    let mut handles = Handles { few: [0; FEW], many: Vec::new(), len, back: std::ptr::null_mut() };
    // SAFETY: as promised; and a place in memory is not asked for when there is none.
    let all = (0..len).map(|at| unsafe { handle(from.add(at)) as Word });
    if len > FEW {
        handles.many = all.collect();
    } else {
        handles.few.iter_mut().zip(all).for_each(|(to, from)| *to = from);
    }
    handles
}

/// Handles that C also writes: Fortran has them when this is dropped.
///
/// # Safety
/// As of [`handles`], until then.
pub(crate) unsafe fn handles_and_back(from: *mut Integer, len: Integer) -> Handles {
    // SAFETY: as promised.
    let mut handles = unsafe { handles(from, len) };
    handles.back = from;
    handles
}

impl Handles {
    fn all(&mut self) -> &mut [Word] {
        if self.len > FEW { &mut self.many } else { &mut self.few[..self.len] }
    }

    /// The array of C.
    pub(crate) fn address(&mut self) -> Address {
        self.all().as_mut_ptr().cast()
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        if !self.back.is_null() {
            let back = self.back;
            for (at, &mut word) in self.all().iter_mut().enumerate() {
                // SAFETY: whoever made this promised it.
                unsafe { *back.add(at) = word as Integer };
            }
        }
    }
}
