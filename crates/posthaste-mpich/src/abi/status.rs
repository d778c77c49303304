//! The fields of MPICH's `MPI_Status`, whatever a program has left there. The face of the tests has the same.

use std::ffi::c_int;

use super::constants::MPI_SUCCESS;
use super::types::MPI_Status;

const CANCELLED: u64 = 1 << 32;
const LOW: u64 = CANCELLED - 1;

impl MPI_Status {
    /// Status of a message of `bytes` bytes.
    #[inline(always)]
    pub(crate) const fn of_message(source: c_int, tag: c_int, bytes: u64) -> Self {
        let mut made = Self {
            count_lo: 0,
            count_hi_and_cancelled: 0,
            MPI_SOURCE: source,
            MPI_TAG: tag,
            MPI_ERROR: MPI_SUCCESS,
        };
        made.set_words((bytes & LOW) | (bytes & !LOW) << 1);
        made
    }

    /// The low half of the bytes, the mark, the rest of the bytes.
    const fn words(&self) -> u64 {
        self.count_lo as u32 as u64 | (self.count_hi_and_cancelled as u32 as u64) << 32
    }

    const fn set_words(&mut self, words: u64) {
        self.count_lo = words as u32 as c_int;
        self.count_hi_and_cancelled = (words >> 32) as u32 as c_int;
    }

    /// Bytes that arrived.
    pub(crate) fn bytes(&self) -> u64 {
        let words = self.words();
        (words & LOW) | (words >> 1 & !LOW)
    }

    /// Changes the number of bytes (MPI-5.0 §13.3).
    pub(crate) fn set_bytes(&mut self, bytes: u64) {
        self.set_words((bytes & LOW) | (bytes & !LOW) << 1 | self.words() & CANCELLED);
    }

    /// Whether the request was cancelled.
    pub(crate) fn cancelled(&self) -> bool {
        self.words() & CANCELLED != 0
    }

    /// Changes whether the request was cancelled.
    pub(crate) fn set_cancelled(&mut self, cancelled: bool) {
        let mark = if cancelled { CANCELLED } else { 0 };
        self.set_words(self.words() & !CANCELLED | mark);
    }

    /// Stores all but the error field, which stays as it was.
    ///
    /// # Safety
    /// `place` is valid for writing a status.
    pub(crate) unsafe fn store_but_error(&self, place: *mut Self) {
        // SAFETY: the caller's promise.
        unsafe {
            (*place).count_lo = self.count_lo;
            (*place).count_hi_and_cancelled = self.count_hi_and_cancelled;
            (*place).MPI_SOURCE = self.MPI_SOURCE;
            (*place).MPI_TAG = self.MPI_TAG;
        }
    }
}
