//! The types of the C interface: handles, `MPI_Status`, callbacks (MPI-5.0 §2.5, §3.2.5, chapter 20).
//!
//! A handle is a number the size of a pointer; `handle.rs` says how it is built. Layouts are those of `mpi.h`; `cargo
//! xtask abi-check` compiles the comparison.

use std::ffi::{c_int, c_void};

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

macro_rules! handle_types {
    ($($(#[$meta:meta])* $name:ident)*) => {$(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub usize);

        impl $name {
            /// The handle as the integer that other languages store.
            #[inline]
            pub fn to_int(self) -> c_int {
                self.0 as c_int
            }

            /// The handle behind such an integer.
            #[inline]
            pub fn from_int(value: c_int) -> Self {
                Self(value as isize as usize)
            }
        }
    )*};
}

handle_types! {
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

/// Callback `MPI_User_function`.
pub type MPI_User_function =
    Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut MPI_Datatype)>;
/// Callback `MPI_User_function_c`.
pub type MPI_User_function_c =
    Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *mut MPI_Count, *mut MPI_Datatype)>;
/// Callback `MPI_Grequest_query_function`.
pub type MPI_Grequest_query_function = Option<unsafe extern "C" fn(*mut c_void, *mut MPI_Status) -> c_int>;
/// Callback `MPI_Grequest_free_function`.
pub type MPI_Grequest_free_function = Option<unsafe extern "C" fn(*mut c_void) -> c_int>;
/// Callback `MPI_Grequest_cancel_function`.
pub type MPI_Grequest_cancel_function = Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>;
/// Callback `MPI_Copy_function`.
pub type MPI_Copy_function =
    Option<unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int>;
/// Callback `MPI_Delete_function`.
pub type MPI_Delete_function =
    Option<unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int>;
/// Callback `MPI_Comm_copy_attr_function`.
pub type MPI_Comm_copy_attr_function =
    Option<unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int>;
/// Callback `MPI_Comm_delete_attr_function`.
pub type MPI_Comm_delete_attr_function =
    Option<unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int>;
/// Callback `MPI_Type_copy_attr_function`.
pub type MPI_Type_copy_attr_function = Option<
    unsafe extern "C" fn(MPI_Datatype, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int,
>;
/// Callback `MPI_Type_delete_attr_function`.
pub type MPI_Type_delete_attr_function =
    Option<unsafe extern "C" fn(MPI_Datatype, c_int, *mut c_void, *mut c_void) -> c_int>;
/// Callback `MPI_Win_copy_attr_function`.
pub type MPI_Win_copy_attr_function =
    Option<unsafe extern "C" fn(MPI_Win, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int>;
/// Callback `MPI_Win_delete_attr_function`.
pub type MPI_Win_delete_attr_function =
    Option<unsafe extern "C" fn(MPI_Win, c_int, *mut c_void, *mut c_void) -> c_int>;
/// Callback `MPI_Datarep_extent_function`.
pub type MPI_Datarep_extent_function =
    Option<unsafe extern "C" fn(MPI_Datatype, *mut MPI_Aint, *mut c_void) -> c_int>;
/// Callback `MPI_Datarep_conversion_function`.
pub type MPI_Datarep_conversion_function = Option<
    unsafe extern "C" fn(*mut c_void, MPI_Datatype, c_int, *mut c_void, MPI_Offset, *mut c_void) -> c_int,
>;
/// Callback `MPI_Datarep_conversion_function_c`.
pub type MPI_Datarep_conversion_function_c = Option<
    unsafe extern "C" fn(*mut c_void, MPI_Datatype, MPI_Count, *mut c_void, MPI_Offset, *mut c_void) -> c_int,
>;
/// Callback `MPI_Comm_errhandler_function`.
pub type MPI_Comm_errhandler_function = Option<unsafe extern "C" fn(*mut MPI_Comm, *mut c_int, ...)>;
/// Callback `MPI_File_errhandler_function`.
pub type MPI_File_errhandler_function = Option<unsafe extern "C" fn(*mut MPI_File, *mut c_int, ...)>;
/// Callback `MPI_Win_errhandler_function`.
pub type MPI_Win_errhandler_function = Option<unsafe extern "C" fn(*mut MPI_Win, *mut c_int, ...)>;
/// Callback `MPI_Session_errhandler_function`.
pub type MPI_Session_errhandler_function = Option<unsafe extern "C" fn(*mut MPI_Session, *mut c_int, ...)>;
/// Callback `MPI_T_event_cb_function`.
pub type MPI_T_event_cb_function = Option<
    unsafe extern "C" fn(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, *mut c_void),
>;
/// Callback `MPI_T_event_free_cb_function`.
pub type MPI_T_event_free_cb_function =
    Option<unsafe extern "C" fn(MPI_T_event_registration, MPI_T_cb_safety, *mut c_void)>;
/// Callback `MPI_T_event_dropped_cb_function`.
pub type MPI_T_event_dropped_cb_function =
    Option<unsafe extern "C" fn(MPI_Count, MPI_T_event_registration, c_int, MPI_T_cb_safety, *mut c_void)>;
