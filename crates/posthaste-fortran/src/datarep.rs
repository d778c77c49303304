//! Data representations of the program's own (MPI-5.0 §14.5.3), whose callbacks get everything by address.
//!
//! What must stay true: what C keeps lives as long as the process, as a representation does; a conversion that is
//! MPI_CONVERSION_FN_NULL is none in C, too.

use std::ffi::c_int;

use crate::abi::converts_nothing;
use crate::argument::{Address, Handle, Integer, number, report};
use crate::names::named;
use crate::routine::routine;
use crate::text::text;

/// A conversion with a count of this type.
type Convert<Count> = unsafe extern "C" fn(
    Address,
    *const Integer,
    *const Count,
    Address,
    *const i64,
    *mut isize,
    *mut Integer,
);
type Extent = unsafe extern "C" fn(*const Integer, *mut isize, *mut isize, *mut Integer);

/// What C keeps as the extra state.
struct Functions<Count> {
    read: Convert<Count>,
    write: Convert<Count>,
    extent: Extent,
    extra_state: isize,
}

/// Defines a conversion as C calls it, which calls the program's own that [`Functions`] has under the same name.
macro_rules! conversion {
    ($name:ident) => {
        unsafe extern "C" fn $name<Count>(
            userbuf: Address,
            datatype: Handle,
            count: Count,
            filebuf: Address,
            position: i64,
            state: Address,
        ) -> c_int {
            let mut code = 0;
            // SAFETY: C hands back what it was given, which lives as long as the process (`registering`), and buffers that hold
            // what it says.
            unsafe {
                let functions = state.cast::<Functions<Count>>();
                let extra_state = &raw mut (*functions).extra_state;
                let (datatype, ours) = (number(datatype), (*functions).$name);
                ours(userbuf, &datatype, &count, filebuf, &position, extra_state, &mut code);
            }
            code
        }
    };
}

conversion!(read);
conversion!(write);

unsafe extern "C" fn extent<Count>(datatype: Handle, extent: *mut isize, state: Address) -> c_int {
    let mut code = 0;
    // SAFETY: C hands back what it was given, which lives as long as the process (`registering`), and has room for the answer.
    unsafe {
        let functions = state.cast::<Functions<Count>>();
        ((*functions).extent)(&number(datatype), extent, &raw mut (*functions).extra_state, &mut code);
    }
    code
}

macro_rules! registering {
    ($($form:ident $c:ident $pc:ident, $count:ty;)*) => {$(
        routine! {
            $form "register_datarep" $c $pc, as call
            (datarep: *const u8, read_fn: Convert<$count>, write_fn: Convert<$count>, extent_fn: Extent,
                extra_state: *const isize, ierror: *mut Integer, datarep_len: usize) {
                let name = text(datarep, datarep_len);
                let state = Functions { read: read_fn, write: write_fn, extent: extent_fn, extra_state: *extra_state };
                let state = Box::into_raw(Box::new(state));
                let unless_none = |function: Convert<$count>, ours: Address| {
                    if converts_nothing(function as Address) { std::ptr::null_mut() } else { ours }
                };
                let code = call(
                    name.as_ptr() as Address,
                    unless_none(read_fn, read::<$count> as Address),
                    unless_none(write_fn, write::<$count> as Address),
                    extent::<$count> as Address,
                    state.cast(),
                );
                if code != 0 {
                    drop(Box::from_raw(state));
                }
                report(ierror, code);
            }
        }
    )*};
}

registering! {
    plain MPI_Register_datarep PMPI_Register_datarep, Integer;
    large_plain MPI_Register_datarep_c PMPI_Register_datarep_c, i64;
}

/// The body of MPI_CONVERSION_FN_NULL, should a program call it: it stands for no conversion.
pub(crate) unsafe fn converts(ierror: *mut Integer) {
    // SAFETY: the caller has an INTEGER.
    unsafe { report(ierror, 0) };
}

macro_rules! null {
    ($($stem:literal $count:ty;)*) => {$(
        named! {
            plain "mpi_" "mpi_" $stem (userbuf: Address, datatype: *const Integer, count: *const $count,
                filebuf: Address, position: *const i64, extra_state: *const isize, ierror: *mut Integer) [] {
                let _ = (userbuf, datatype, count, filebuf, position, extra_state);
                // SAFETY: the arguments are those of a conversion.
                unsafe { converts(ierror) }
            }
        }
    )*};
}

null! {
    "conversion_fn_null" Integer;
    "conversion_fn_null_c" i64;
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn doubles(
        userbuf: Address,
        datatype: *const Integer,
        count: *const i64,
        filebuf: Address,
        position: *const i64,
        extra_state: *mut isize,
        ierror: *mut Integer,
    ) {
        // SAFETY: the test passes all of them.
        unsafe {
            *userbuf.cast::<i64>() = i64::from(*datatype) + *count + *filebuf.cast::<i64>() + *position;
            *extra_state += 1;
            *ierror = 5;
        }
    }

    unsafe extern "C" fn long(
        datatype: *const Integer,
        extent: *mut isize,
        state: *mut isize,
        code: *mut Integer,
    ) {
        // SAFETY: as above.
        unsafe { (*extent, *code) = (*datatype as isize + *state, 0) };
    }

    #[test]
    fn callbacks_get_everything_by_address_and_keep_their_state() {
        let mut state = Functions { read: doubles, write: doubles, extent: long, extra_state: 40 };
        let state: Address = (&raw mut state).cast();
        let (mut user, mut file, mut answer) = (0_i64, 1000_i64, 0_isize);
        let (user_at, file_at) = ((&raw mut user).cast(), (&raw mut file).cast());
        // SAFETY: the state and the buffers are there.
        unsafe {
            assert_eq!(read::<i64>(user_at, 7, 1 << 40, file_at, 20, state), 5);
            assert_eq!(write::<i64>(user_at, 7, 1 << 40, file_at, 20, state), 5);
            assert_eq!(extent::<i64>(8, &raw mut answer, state), 0);
        }
        assert_eq!((user, answer), (7 + (1 << 40) + 1000 + 20, 8 + 42));
    }
}
