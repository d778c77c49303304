//! The hidden part of `MPI_Status`: how many bytes arrived, and whether the request was cancelled
//! (MPI-5.0 §3.2.5, §3.8.4).
//!
//! Layout of `MPI_internal`: words 0 and 1 hold the byte count, low half first; word 2 is 1 for a cancelled request;
//! words 3 and 4 are zero. A status is plain memory of the user: it may hold anything, so every reading is total.

use std::ffi::c_int;

use posthaste_core::datatype::Datatype;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::request::Status;

use super::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, MPI_SUCCESS, MPI_UNDEFINED};
use super::types::MPI_Status;

impl MPI_Status {
    /// Status of a call that had nothing to complete (MPI-5.0 §3.7.3: the empty status).
    pub(crate) const EMPTY: Self = Self {
        MPI_SOURCE: MPI_ANY_SOURCE,
        MPI_TAG: MPI_ANY_TAG,
        MPI_ERROR: MPI_SUCCESS,
        MPI_internal: [0; 5],
    };

    /// Status of a receive from `MPI_PROC_NULL` (MPI-5.0 §3.11).
    pub(crate) const PROC_NULL: Self = Self { MPI_SOURCE: MPI_PROC_NULL, ..Self::EMPTY };

    /// Status of a message of `bytes` bytes.
    #[inline]
    pub(crate) fn of_message(source: c_int, tag: c_int, bytes: u64) -> Self {
        let internal = [bytes as u32 as c_int, (bytes >> 32) as u32 as c_int, 0, 0, 0];
        Self { MPI_SOURCE: source, MPI_TAG: tag, MPI_ERROR: MPI_SUCCESS, MPI_internal: internal }
    }

    /// Status of a request that is over.
    #[inline(always)]
    pub(crate) fn of(status: &Status) -> Self {
        let mut told = Self::of_message(status.source, status.tag, status.bytes);
        told.MPI_internal[2] = c_int::from(status.cancelled);
        told
    }

    /// What a status says that the program has filled in.
    pub(crate) fn read(&self) -> Status {
        let text = || format!("the program set error {} in the status", self.MPI_ERROR);
        let error = (self.MPI_ERROR != MPI_SUCCESS).then(|| Error::program(self.MPI_ERROR, text()));
        let (source, tag) = (self.MPI_SOURCE, self.MPI_TAG);
        Status { source, tag, bytes: self.bytes(), cancelled: self.cancelled(), error }
    }

    /// Bytes that arrived.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        u64::from(self.MPI_internal[0] as u32) | u64::from(self.MPI_internal[1] as u32) << 32
    }

    /// Changes the number of bytes (MPI-5.0 §13.3).
    pub(crate) fn set_bytes(&mut self, bytes: u64) {
        self.MPI_internal[0] = bytes as u32 as c_int;
        self.MPI_internal[1] = (bytes >> 32) as u32 as c_int;
    }

    /// Whether the request was cancelled.
    pub(crate) fn cancelled(&self) -> bool {
        self.MPI_internal[2] == 1
    }

    /// Changes whether the request was cancelled.
    pub(crate) fn set_cancelled(&mut self, cancelled: bool) {
        self.MPI_internal[2] = c_int::from(cancelled);
    }
}

/// How many whole elements of `size` bytes arrived; `None` where the standard says `MPI_UNDEFINED`
/// (MPI-5.0 §3.2.5). Elements of no size: none arrived if no byte did.
pub(crate) fn whole_elements(bytes: u64, size: u64) -> Option<u64> {
    match size {
        0 if bytes == 0 => Some(0),
        0 => None,
        _ if bytes.is_multiple_of(size) => Some(bytes / size),
        _ => None,
    }
}

/// Such a count as an `int`: `MPI_UNDEFINED` too where it does not fit (MPI-5.0 §3.2.5).
pub(crate) fn count_as_int(count: Option<u64>) -> c_int {
    count.and_then(|n| c_int::try_from(n).ok()).unwrap_or(MPI_UNDEFINED)
}

/// Such a count as an `MPI_Count`.
pub(crate) fn count_as_count(count: Option<u64>) -> i64 {
    count.and_then(|n| i64::try_from(n).ok()).unwrap_or(i64::from(MPI_UNDEFINED))
}

/// Bytes of the first `count` basic elements of an array of this type, for a status that the user fills in. A
/// count is a number that `MPI_Get_elements` gives back, so a type without data has only 0 elements.
pub(crate) fn bytes_of(count: i64, datatype: &Datatype) -> Result<u64> {
    let elements = u64::try_from(count).ok();
    let bytes = elements.and_then(|elements| datatype.bytes_of_elements(elements));
    bytes.filter(|bytes| i64::try_from(*bytes).is_ok()).ok_or_else(|| {
        let expected = match datatype.elements() {
            0 => format!("0, the basic elements of {datatype:?}"),
            _ => format!("0 or more, as many as 63 bits of bytes hold elements of {datatype:?}"),
        };
        Error::invalid(ErrorClass::Count, "count", count, expected)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_counts_survive() {
        let mut status = MPI_Status::of_message(3, 4, 0x1_2345_6789_abcd);
        assert_eq!(status.bytes(), 0x1_2345_6789_abcd);
        status.set_bytes(0xffff_ffff);
        assert_eq!(status.bytes(), 0xffff_ffff);
        assert!(!status.cancelled());
        status.set_cancelled(true);
        assert!(status.cancelled());
    }

    #[test]
    fn counts_that_do_not_divide_or_fit_are_undefined() {
        assert_eq!(whole_elements(12, 4), Some(3));
        assert_eq!(whole_elements(13, 4), None);
        assert_eq!(whole_elements(0, 0), Some(0));
        assert_eq!(whole_elements(1, 0), None);
        assert_eq!(count_as_int(Some(1 << 40)), MPI_UNDEFINED);
        assert_eq!(count_as_count(Some(1 << 40)), 1 << 40);
        let double = Datatype::of::<f64>();
        assert_eq!(bytes_of(3, &double).unwrap(), 24);
        assert!(bytes_of(i64::MAX, &double).is_err());
        assert!(bytes_of(-1, &double).is_err());
    }
}
