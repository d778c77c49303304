//! What the modules have besides routines: handles are equal when their numbers are (MPI-5.0 §19.1.3).

use crate::argument::Integer;
use crate::export::export;

macro_rules! comparisons {
    ($($handle:literal)*) => {$(
        export! {
            [concat!("posthaste_", $handle, "_equal_"), concat!("posthaste_", $handle, "_equal__")]
            (a: *const Integer, b: *const Integer) [-> Integer] {
                // SAFETY: there are two handles.
                unsafe { Integer::from(*a == *b) }
            }
        }
        export! {
            [concat!("posthaste_", $handle, "_differ_"), concat!("posthaste_", $handle, "_differ__")]
            (a: *const Integer, b: *const Integer) [-> Integer] {
                // SAFETY: as above.
                unsafe { Integer::from(*a != *b) }
            }
        }
    )*};
}

comparisons! {
    "comm" "datatype" "errhandler" "file" "group" "info" "message" "op" "request" "session" "win"
}
