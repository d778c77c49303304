//! Attributes (MPI-5.0 §7.7, §19.3.7): in Fortran an attribute is an integer as long as an address; its callbacks get
//! everything by address.
//!
//! An attribute that Fortran or MPI itself has set is in C the address of its value; what C has set is in Fortran the address.
//! So what Fortran sets lies in a cell, and C keeps the address of that. What must stay true: a cell stays where it is as long as the
//! attribute is there; the lock of the table of cells is not held while C or a callback runs.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::abi::{Attribute, attribute};
use crate::argument::{Address, Handle, Integer, handle, number, report};
use crate::names::named;
use crate::routine::routine;

type Copy = unsafe extern "C" fn(
    *const Integer,
    *const Integer,
    *mut isize,
    *const isize,
    *mut isize,
    *mut Integer,
    *mut Integer,
);
type Delete = unsafe extern "C" fn(*const Integer, *const Integer, *const isize, *mut isize, *mut Integer);

/// What C keeps as the extra state of a key. It lives as long as the process: nobody hears when the last attribute of a key that
/// was freed is gone. Callbacks get `extra_state` by address and may change it, so nobody has a reference to a key.
struct Key {
    copy: Copy,
    delete: Delete,
    extra_state: isize,
    /// Made by MPI_KEYVAL_CREATE, whose attributes are INTEGERs.
    is_short: bool,
}

impl Key {
    fn keep(self) -> Address {
        Box::into_raw(Box::new(self)).cast()
    }
}

/// Addresses of the values that Fortran has set: how an attribute of Fortran is told from one of C.
static CELLS: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

fn cells() -> MutexGuard<'static, BTreeSet<usize>> {
    CELLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What C gets for a value that Fortran sets. A C `int` is read there as well: the machine is a little-endian one.
fn put(value: isize) -> Address {
    let cell = Box::into_raw(Box::new(value));
    cells().insert(cell.addr());
    cell.cast()
}

/// Ends a cell; what C has set is none. One under a key whose callbacks are those of C stays: nobody hears of its end, and copies of
/// the attribute have the same address.
fn end(attribute: Address) {
    if cells().remove(&attribute.addr()) {
        // SAFETY: the table has those that `put` has made, each once.
        drop(unsafe { Box::from_raw(attribute.cast::<isize>()) });
    }
}

/// The value that Fortran has set; `None`: C has set the attribute.
fn of_fortran(attribute: Address) -> Option<isize> {
    // SAFETY: a cell is there as long as it is in the table, which is locked.
    cells().contains(&attribute.addr()).then(|| unsafe { *attribute.cast::<isize>() })
}

unsafe extern "C" fn copy(
    of: Handle,
    keyval: c_int,
    key: Address,
    value: Address,
    out: Address,
    flag: *mut c_int,
) -> c_int {
    let (mut result, mut code) = (0, 0);
    // SAFETY: C hands back what `keep` gave it, and has room for the answers.
    unsafe {
        let key = key.cast::<Key>();
        let set = of_fortran(value);
        let seen = set.unwrap_or(value as isize);
        let extra_state = &raw mut (*key).extra_state;
        ((*key).copy)(&number(of), &keyval, extra_state, &seen, &mut result, flag, &mut code);
        if code == 0 && *flag != 0 {
            let is_short = (*key).is_short;
            // What wrote an INTEGER has written half of it.
            let result = if is_short { result as i32 as isize } else { result };
            // A copy is of the language of its original. MPI_DUP_FN, which takes INTEGERs, copies an address whole.
            *out.cast::<Address>() = match set {
                Some(_) => put(result),
                None if is_short && result == seen as i32 as isize => value,
                None => result as Address,
            };
        }
    }
    code
}

unsafe extern "C" fn delete(of: Handle, keyval: c_int, value: Address, key: Address) -> c_int {
    let mut code = 0;
    // SAFETY: C hands back what `keep` gave it.
    unsafe {
        let key = key.cast::<Key>();
        let seen = of_fortran(value).unwrap_or(value as isize);
        ((*key).delete)(&number(of), &keyval, &seen, &raw mut (*key).extra_state, &mut code);
    }
    if code == 0 {
        end(value);
    }
    code
}

macro_rules! keys {
    ($($stem:literal $c:ident $pc:ident;)*) => {$(
        routine! {
            plain $stem $c $pc, as call
            (copy_fn: Copy, delete_fn: Delete, keyval: *mut Integer, extra_state: *const isize, ierror: *mut Integer) {
                let key = Key { copy: copy_fn, delete: delete_fn, extra_state: *extra_state, is_short: false };
                let code = call(copy as Address, delete as Address, keyval.cast(), key.keep());
                report(ierror, code);
            }
        }
    )*};
}

keys! {
    "comm_create_keyval" MPI_Comm_create_keyval PMPI_Comm_create_keyval;
    "type_create_keyval" MPI_Type_create_keyval PMPI_Type_create_keyval;
    "win_create_keyval" MPI_Win_create_keyval PMPI_Win_create_keyval;
}

routine! {
    plain "keyval_create" MPI_Keyval_create PMPI_Keyval_create, as call
    (copy_fn: Copy, delete_fn: Delete, keyval: *mut Integer, extra_state: *const Integer, ierror: *mut Integer) {
        let key = Key { copy: copy_fn, delete: delete_fn, extra_state: *extra_state as isize, is_short: true };
        let code = call(copy as Address, delete as Address, keyval.cast(), key.keep());
        report(ierror, code);
    }
}

macro_rules! setting {
    ($($stem:literal $c:ident $pc:ident, $ty:ty;)*) => {$(
        routine! {
            plain $stem $c $pc, as call
            (of: *const Integer, keyval: *const Integer, attribute_val: *const $ty, ierror: *mut Integer) {
                let cell = put(*attribute_val as isize);
                let code = call(handle(of), *keyval, cell);
                if code != 0 {
                    end(cell);
                }
                report(ierror, code);
            }
        }
    )*};
}

setting! {
    "comm_set_attr" MPI_Comm_set_attr PMPI_Comm_set_attr, isize;
    "type_set_attr" MPI_Type_set_attr PMPI_Type_set_attr, isize;
    "win_set_attr" MPI_Win_set_attr PMPI_Win_set_attr, isize;
    "attr_put" MPI_Attr_put PMPI_Attr_put, Integer;
}

macro_rules! getting {
    ($($stem:literal $c:ident $pc:ident, $ty:ty;)*) => {$(
        routine! {
            plain $stem $c $pc, as call
            (of: *const Integer, keyval: *const Integer, attribute_val: *mut $ty, flag: *mut Integer,
                ierror: *mut Integer) {
                let mut value: Address = std::ptr::null_mut();
                let (c_keyval, kind) = attribute(*keyval);
                let code = call(handle(of), c_keyval, (&raw mut value).cast(), flag.cast());
                if code == 0 && *flag != 0 {
                    *attribute_val = seen(kind, value) as $ty;
                }
                report(ierror, code);
            }
        }
    )*};
}

getting! {
    "comm_get_attr" MPI_Comm_get_attr PMPI_Comm_get_attr, isize;
    "type_get_attr" MPI_Type_get_attr PMPI_Type_get_attr, isize;
    "win_get_attr" MPI_Win_get_attr PMPI_Win_get_attr, isize;
    "attr_get" MPI_Attr_get PMPI_Attr_get, Integer;
}

/// An attribute as Fortran sees it.
unsafe fn seen(attribute: Attribute, value: Address) -> isize {
    // SAFETY: of these keys C has given the address of a value.
    unsafe {
        match attribute {
            Attribute::Aint => *value.cast(),
            Attribute::Int => *value.cast::<c_int>() as isize,
            Attribute::Itself => of_fortran(value).unwrap_or(value as isize),
        }
    }
}

// The callbacks that MPI has of its own; programs may also call them.

pub(crate) unsafe extern "C" fn copies(
    _: *const Integer,
    _: *const Integer,
    _: *const isize,
    value: *const isize,
    out: *mut isize,
    flag: *mut Integer,
    ierror: *mut Integer,
) {
    // SAFETY: the arguments are those of a copy function.
    unsafe { (*out, *flag, *ierror) = (*value, 1, 0) };
}

unsafe extern "C" fn copies_short(
    _: *const Integer,
    _: *const Integer,
    _: *const isize,
    value: *const isize,
    out: *mut isize,
    flag: *mut Integer,
    ierror: *mut Integer,
) {
    // SAFETY: as above, with INTEGERs as attributes.
    unsafe { (*out.cast::<Integer>(), *flag, *ierror) = (*value.cast::<Integer>(), 1, 0) };
}

pub(crate) unsafe extern "C" fn copies_nothing(
    _: *const Integer,
    _: *const Integer,
    _: *const isize,
    _: *const isize,
    _: *mut isize,
    flag: *mut Integer,
    ierror: *mut Integer,
) {
    // SAFETY: the arguments are those of a copy function.
    unsafe { (*flag, *ierror) = (0, 0) };
}

pub(crate) unsafe extern "C" fn deletes_nothing(
    _: *const Integer,
    _: *const Integer,
    _: *const isize,
    _: *const isize,
    ierror: *mut Integer,
) {
    // SAFETY: the arguments are those of a delete function.
    unsafe { *ierror = 0 };
}

macro_rules! copying {
    ($($stem:literal $body:ident)*) => {$(
        named! {
            plain "mpi_" "mpi_" $stem (of: *const Integer, keyval: *const Integer, extra_state: *const isize,
                value: *const isize, out: *mut isize, flag: *mut Integer, ierror: *mut Integer) [] {
                // SAFETY: the arguments are those of a copy function.
                unsafe { $body(of, keyval, extra_state, value, out, flag, ierror) }
            }
        }
    )*};
}

macro_rules! deleting {
    ($($stem:literal)*) => {$(
        named! {
            plain "mpi_" "mpi_" $stem (of: *const Integer, keyval: *const Integer, value: *const isize,
                extra_state: *const isize, ierror: *mut Integer) [] {
                // SAFETY: the arguments are those of a delete function.
                unsafe { deletes_nothing(of, keyval, value, extra_state, ierror) }
            }
        }
    )*};
}

copying! {
    "comm_dup_fn" copies "type_dup_fn" copies "win_dup_fn" copies "dup_fn" copies_short
    "comm_null_copy_fn" copies_nothing "type_null_copy_fn" copies_nothing "win_null_copy_fn" copies_nothing
    "null_copy_fn" copies_nothing
}

deleting! { "comm_null_delete_fn" "type_null_delete_fn" "win_null_delete_fn" "null_delete_fn" }
