//! The hidden part of `MPI_Status`: how many bytes arrived, and whether the request was cancelled
//! (MPI-5.0 §3.2.5, §3.8.4).
//!
//! Layout of `MPI_internal`: words 0 and 1 hold the byte count, low half first; word 2 is 1 for a cancelled request;
//! words 3 and 4 are zero. A status is plain memory of the user: it may hold anything, so every reading is total.

use std::ffi::c_int;

use super::constants::MPI_SUCCESS;
use super::types::MPI_Status;

impl MPI_Status {
    /// Status of a message of `bytes` bytes.
    #[inline(always)]
    pub(crate) const fn of_message(source: c_int, tag: c_int, bytes: u64) -> Self {
        let internal = [bytes as u32 as c_int, (bytes >> 32) as u32 as c_int, 0, 0, 0];
        Self { MPI_SOURCE: source, MPI_TAG: tag, MPI_ERROR: MPI_SUCCESS, MPI_internal: internal }
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
    #[inline(always)]
    pub(crate) fn set_cancelled(&mut self, cancelled: bool) {
        self.MPI_internal[2] = c_int::from(cancelled);
    }

    /// Stores all but the error field, which stays as it was.
    ///
    /// # Safety
    /// `place` is valid for writing a status.
    #[inline(always)]
    pub(crate) unsafe fn store_but_error(&self, place: *mut Self) {
        // SAFETY: the caller's promise.
        unsafe {
            (*place).MPI_SOURCE = self.MPI_SOURCE;
            (*place).MPI_TAG = self.MPI_TAG;
            (*place).MPI_internal = self.MPI_internal;
        }
    }
}
