//! The types of MPICH's ABI: handles are integers of 32 bits, but those of files and of the tool interface, which are pointers;
//! and the layout of `MPI_Status`.
//!
//! Handles of the program's objects are negative: the library's number with the highest bit set. Those of predefined objects are
//! positive but for five types of pairs, which lie where `crate::handle` has no numbers (a generation of 0).

use std::ffi::{c_int, c_void};

use super::constants::{MPI_COMM_SELF, MPI_COMM_WORLD};
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
    /// The lower half of the number of bytes.
    pub count_lo: c_int,
    /// The upper bits of that number, and in the lowest bit whether the request was cancelled.
    pub count_hi_and_cancelled: c_int,
    /// Rank of the sender.
    pub MPI_SOURCE: c_int,
    /// Tag of the message.
    pub MPI_TAG: c_int,
    /// Error code; set only by calls that complete several requests.
    pub MPI_ERROR: c_int,
}

const USER: u32 = 1 << 31;

#[inline(always)]
const fn number(raw: i32) -> usize {
    (raw as u32 ^ USER) as usize
}

#[inline(always)]
const fn written(number: usize) -> i32 {
    (number as u32 ^ USER) as i32
}

handle_types! {
    i32, number, written;
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
    /// A session.
    MPI_Session
}

/// A handle that C declares as a pointer is the number itself.
#[inline(always)]
const fn same(number: usize) -> usize {
    number
}

handle_types! {
    usize, same, same;
    /// A file.
    MPI_File
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

/// Handles of most predefined datatypes: these bits, 8 that tell the size, and 8 for the place.
const TYPES: u32 = 0x4c00_0000;
/// Handles of the types of pairs that are no multiple of one element: these bits, and the place behind the others.
const PAIRS: u32 = 0x8c00_0000;
const PAIR_PLACES: usize = 5;

/// How many places there are for predefined datatypes.
pub(crate) const TYPE_PLACES: usize = 0x100 + PAIR_PLACES;

impl MPI_Datatype {
    /// The place of a predefined datatype; beyond [`TYPE_PLACES`] for all other handles.
    #[inline(always)]
    pub(crate) const fn place(self) -> usize {
        let bits = (self.0 as u32 ^ TYPES) as usize;
        let pair = (self.0 as u32).wrapping_sub(PAIRS) as usize;
        if bits <= 0xffff {
            bits & 0xff
        } else if pair < PAIR_PLACES {
            0x100 + pair
        } else {
            usize::MAX
        }
    }
}

impl MPI_Comm {
    /// The communicator as `layer` keeps it for a request: less than 2^30, as numbers of the program's are.
    pub(crate) fn key(self) -> u32 {
        match self {
            MPI_COMM_WORLD => 0,
            MPI_COMM_SELF => 1,
            other => other.number() as u32,
        }
    }

    /// The communicator behind such a key.
    pub(crate) fn of_key(key: u32) -> Self {
        match key {
            0 => MPI_COMM_WORLD,
            1 => MPI_COMM_SELF,
            number => Self::numbered(number as usize),
        }
    }
}
