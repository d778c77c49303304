//! The types of the C interface: handles, `MPI_Status`, callbacks (MPI-5.0 §2.5, §3.2.5, chapter 20).
//!
//! A handle is a number the size of a pointer; `handle.rs` says how it is built. Layouts are those of `mpi.h`; `cargo
//! xtask abi-check` compiles the comparison.

use std::ffi::{c_int, c_void};

use super::define::{callback_types, handle_types};

/// An address or a difference of addresses.
pub type MPI_Aint = isize;
/// A place in a file.
pub type MPI_Offset = i64;
/// A count that may exceed `int`.
pub type MPI_Count = i64;
/// What a tool callback may do.
pub type MPI_T_cb_safety = c_int;
/// Whether a source delivers events in order.
pub type MPI_T_source_order = c_int;

/// What is known about a message that arrived; `status.rs` knows the hidden part.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MPI_Status {
    /// Rank of the sender.
    pub MPI_SOURCE: c_int,
    /// Tag of the message.
    pub MPI_TAG: c_int,
    /// Error code; set only by calls that complete several requests.
    pub MPI_ERROR: c_int,
    /// The library's part.
    pub MPI_internal: [c_int; 5],
}

const _: () = assert!(size_of::<MPI_Status>() == 32 && align_of::<MPI_Status>() == align_of::<c_int>());

/// A handle is the number itself.
#[inline(always)]
const fn number(raw: usize) -> usize {
    raw
}

handle_types! {
    usize, number, number;
    /// A communicator.
    MPI_Comm
    /// A group of processes.
    MPI_Group
    /// A datatype.
    MPI_Datatype
    /// A reduction operation.
    MPI_Op
    /// A request.
    MPI_Request
    /// A message taken by a matched probe.
    MPI_Message
    /// An info object.
    MPI_Info
    /// An error handler.
    MPI_Errhandler
    /// A window.
    MPI_Win
    /// A file.
    MPI_File
    /// A session.
    MPI_Session
    /// An enumeration of the tool interface.
    MPI_T_enum
    /// A bound control variable.
    MPI_T_cvar_handle
    /// A bound performance variable.
    MPI_T_pvar_handle
    /// A session of performance variables.
    MPI_T_pvar_session
    /// A registration for events.
    MPI_T_event_registration
    /// An event that occurred.
    MPI_T_event_instance
}

callback_types!();

/// Handles of predefined datatypes begin here.
const FIRST_TYPE: usize = 0x200;

/// How many places there are for predefined datatypes.
pub(crate) const TYPE_PLACES: usize = 0x100;

impl MPI_Datatype {
    /// The place of a predefined datatype; beyond [`TYPE_PLACES`] for all other handles.
    #[inline(always)]
    pub(crate) const fn place(self) -> usize {
        self.0.wrapping_sub(FIRST_TYPE)
    }
}

impl MPI_Comm {
    /// The communicator as `layer` keeps it for a request: less than 2^30, as all handles of communicators are.
    #[inline(always)]
    pub(crate) fn key(self) -> u32 {
        self.0 as u32
    }

    /// The communicator behind such a key.
    pub(crate) fn of_key(key: u32) -> Self {
        Self(key as usize)
    }
}
