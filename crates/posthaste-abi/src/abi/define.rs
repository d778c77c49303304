//! What all ABIs have alike: how constants and handle types are defined, and the types of callbacks, which the standard
//! gives in terms of them. Shared by all faces.

/// Defines public constants whose documentation is the topic they stand under.
macro_rules! constants {
    ($($topic:literal { $($name:ident: $ty:ty = $value:expr;)* })*) => {
        $($(#[doc = concat!("`", stringify!($name), "`: ", $topic)] pub const $name: $ty = $value;)*)*
    };
}

/// Defines the handle types over the number that a C program holds, with the functions that make the library's number
/// (`crate::handle`) of it, and it of that.
macro_rules! handle_types {
    ($raw:ty, $number:path, $written:path; $($(#[$meta:meta])* $name:ident)*) => {$(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub $raw);

        impl $name {
            /// The number by which the library knows the object.
            #[inline(always)]
            pub const fn number(self) -> usize {
                $number(self.0)
            }

            /// The handle of the object with this number.
            #[inline(always)]
            pub const fn numbered(number: usize) -> Self {
                Self($written(number))
            }

            /// The handle as the integer that other languages store.
            #[inline]
            pub fn to_int(self) -> std::ffi::c_int {
                self.0 as std::ffi::c_int
            }

            /// The handle behind such an integer.
            #[inline]
            pub fn from_int(value: std::ffi::c_int) -> Self {
                Self(value as isize as $raw)
            }
        }

        impl std::fmt::LowerHex for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::LowerHex::fmt(&self.0, f)
            }
        }
    )*};
}

/// Defines the types of callbacks, out of the types of handles.
macro_rules! callback_types {
    () => {
        /// Callback `MPI_User_function`.
        pub type MPI_User_function =
            Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut MPI_Datatype)>;
        /// Callback `MPI_User_function_c`.
        pub type MPI_User_function_c =
            Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *mut MPI_Count, *mut MPI_Datatype)>;
        /// Callback `MPI_Grequest_query_function`.
        pub type MPI_Grequest_query_function =
            Option<unsafe extern "C" fn(*mut c_void, *mut MPI_Status) -> c_int>;
        /// Callback `MPI_Grequest_free_function`.
        pub type MPI_Grequest_free_function = Option<unsafe extern "C" fn(*mut c_void) -> c_int>;
        /// Callback `MPI_Grequest_cancel_function`.
        pub type MPI_Grequest_cancel_function = Option<unsafe extern "C" fn(*mut c_void, c_int) -> c_int>;
        /// Callback `MPI_Copy_function`.
        pub type MPI_Copy_function = Option<
            unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int,
        >;
        /// Callback `MPI_Delete_function`.
        pub type MPI_Delete_function =
            Option<unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int>;
        /// Callback `MPI_Comm_copy_attr_function`.
        pub type MPI_Comm_copy_attr_function = Option<
            unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int,
        >;
        /// Callback `MPI_Comm_delete_attr_function`.
        pub type MPI_Comm_delete_attr_function =
            Option<unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int>;
        /// Callback `MPI_Type_copy_attr_function`.
        pub type MPI_Type_copy_attr_function = Option<
            unsafe extern "C" fn(
                MPI_Datatype,
                c_int,
                *mut c_void,
                *mut c_void,
                *mut c_void,
                *mut c_int,
            ) -> c_int,
        >;
        /// Callback `MPI_Type_delete_attr_function`.
        pub type MPI_Type_delete_attr_function =
            Option<unsafe extern "C" fn(MPI_Datatype, c_int, *mut c_void, *mut c_void) -> c_int>;
        /// Callback `MPI_Win_copy_attr_function`.
        pub type MPI_Win_copy_attr_function = Option<
            unsafe extern "C" fn(MPI_Win, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int,
        >;
        /// Callback `MPI_Win_delete_attr_function`.
        pub type MPI_Win_delete_attr_function =
            Option<unsafe extern "C" fn(MPI_Win, c_int, *mut c_void, *mut c_void) -> c_int>;
        /// Callback `MPI_Datarep_extent_function`.
        pub type MPI_Datarep_extent_function =
            Option<unsafe extern "C" fn(MPI_Datatype, *mut MPI_Aint, *mut c_void) -> c_int>;
        /// Callback `MPI_Datarep_conversion_function`.
        pub type MPI_Datarep_conversion_function = Option<
            unsafe extern "C" fn(
                *mut c_void,
                MPI_Datatype,
                c_int,
                *mut c_void,
                MPI_Offset,
                *mut c_void,
            ) -> c_int,
        >;
        /// Callback `MPI_Datarep_conversion_function_c`.
        pub type MPI_Datarep_conversion_function_c = Option<
            unsafe extern "C" fn(
                *mut c_void,
                MPI_Datatype,
                MPI_Count,
                *mut c_void,
                MPI_Offset,
                *mut c_void,
            ) -> c_int,
        >;
        /// Callback `MPI_Comm_errhandler_function`.
        pub type MPI_Comm_errhandler_function = Option<unsafe extern "C" fn(*mut MPI_Comm, *mut c_int, ...)>;
        /// Callback `MPI_File_errhandler_function`.
        pub type MPI_File_errhandler_function = Option<unsafe extern "C" fn(*mut MPI_File, *mut c_int, ...)>;
        /// Callback `MPI_Win_errhandler_function`.
        pub type MPI_Win_errhandler_function = Option<unsafe extern "C" fn(*mut MPI_Win, *mut c_int, ...)>;
        /// Callback `MPI_Session_errhandler_function`.
        pub type MPI_Session_errhandler_function =
            Option<unsafe extern "C" fn(*mut MPI_Session, *mut c_int, ...)>;
        /// Callback `MPI_T_event_cb_function`.
        pub type MPI_T_event_cb_function = Option<
            unsafe extern "C" fn(
                MPI_T_event_instance,
                MPI_T_event_registration,
                MPI_T_cb_safety,
                *mut c_void,
            ),
        >;
        /// Callback `MPI_T_event_free_cb_function`.
        pub type MPI_T_event_free_cb_function =
            Option<unsafe extern "C" fn(MPI_T_event_registration, MPI_T_cb_safety, *mut c_void)>;
        /// Callback `MPI_T_event_dropped_cb_function`.
        pub type MPI_T_event_dropped_cb_function = Option<
            unsafe extern "C" fn(MPI_Count, MPI_T_event_registration, c_int, MPI_T_cb_safety, *mut c_void),
        >;
    };
}

pub(crate) use {callback_types, constants, handle_types};
