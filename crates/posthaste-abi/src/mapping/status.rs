//! Statuses: the engine's as the ABI's and back, and what the fields of one say (MPI-5.0 §3.2.5).

use std::ffi::c_int;

use posthaste_core::datatype::Datatype;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::request::Status;

use super::errors;
use super::ranks::{rank_out, source_in, tag_in, tag_out};
use crate::abi::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, MPI_SUCCESS, MPI_UNDEFINED};
use crate::abi::types::MPI_Status;

impl MPI_Status {
    /// Status of a call that had nothing to complete (MPI-5.0 §3.7.3: the empty status).
    pub(crate) const EMPTY: Self = Self::of_message(MPI_ANY_SOURCE, MPI_ANY_TAG, 0);

    /// Status of a receive from `MPI_PROC_NULL` (MPI-5.0 §3.11).
    pub(crate) const PROC_NULL: Self = Self::of_message(MPI_PROC_NULL, MPI_ANY_TAG, 0);

    /// Status of a request that is over.
    #[inline(always)]
    pub(crate) fn of(status: &Status) -> Self {
        let mut status_out = Self::of_message(rank_out(status.source), tag_out(status.tag), status.bytes);
        status_out.set_cancelled(status.cancelled);
        status_out
    }

    /// What a status says that the program has filled in.
    pub(crate) fn read(&self) -> Status {
        let text = || format!("the program set error {} in the status", self.MPI_ERROR);
        let error = (self.MPI_ERROR != MPI_SUCCESS).then(|| errors::program(self.MPI_ERROR, text()));
        let (source, tag) = (source_in(self.MPI_SOURCE), tag_in(self.MPI_TAG));
        Status { source, tag, bytes: self.bytes(), cancelled: self.cancelled(), error }
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
        assert!(status.cancelled() && status.bytes() == 0xffff_ffff);
        status.set_bytes(7 << 40);
        assert!(status.cancelled() && status.bytes() == 7 << 40);
    }

    #[test]
    fn special_values_come_back_from_the_engine() {
        let of = |source, tag| MPI_Status::of(&Status { source, tag, ..Status::EMPTY });
        assert_eq!(MPI_Status::of(&Status::EMPTY), MPI_Status::EMPTY);
        let nobody = of(posthaste_core::ids::PROC_NULL, Status::EMPTY.tag);
        assert_eq!((nobody, nobody.read().source), (MPI_Status::PROC_NULL, posthaste_core::ids::PROC_NULL));
        assert_eq!((of(7, 3).MPI_SOURCE, of(7, 3).MPI_TAG), (7, 3));
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
