//! Generalized requests (MPI-5.0 §13.2), whose callbacks get everything by address.

use std::ffi::c_int;

use crate::argument::{Address, Integer, number, report};
use crate::routine::routine;

type Query = unsafe extern "C" fn(*mut isize, Address, *mut Integer);
type Free = unsafe extern "C" fn(*mut isize, *mut Integer);
type Cancel = unsafe extern "C" fn(*mut isize, *const Integer, *mut Integer);

/// What C keeps as the extra state; it goes when the request is freed. The callbacks may change the program's extra state, which
/// is a copy: what the program gave may be an expression, or a variable that is gone when they are called.
struct Functions {
    query: Query,
    free: Free,
    cancel: Cancel,
    extra_state: isize,
}

unsafe extern "C" fn query(state: Address, status: Address) -> c_int {
    let mut code = 0;
    // SAFETY: C hands back what it was given.
    unsafe {
        let functions = state.cast::<Functions>();
        ((*functions).query)(&raw mut (*functions).extra_state, status, &mut code);
    }
    code
}

unsafe extern "C" fn free(state: Address) -> c_int {
    let mut code = 0;
    // SAFETY: C hands back what it was given, and never after this.
    unsafe {
        let mut functions = Box::from_raw(state.cast::<Functions>());
        (functions.free)(&mut functions.extra_state, &mut code);
    }
    code
}

unsafe extern "C" fn cancel(state: Address, complete: c_int) -> c_int {
    let mut code = 0;
    // SAFETY: C hands back what it was given.
    unsafe {
        let functions = state.cast::<Functions>();
        ((*functions).cancel)(&raw mut (*functions).extra_state, &complete, &mut code);
    }
    code
}

routine! {
    plain "grequest_start" MPI_Grequest_start PMPI_Grequest_start, as call
    (query_fn: Query, free_fn: Free, cancel_fn: Cancel, extra_state: *const isize, request: *mut Integer,
        ierror: *mut Integer) {
        let functions = Functions { query: query_fn, free: free_fn, cancel: cancel_fn, extra_state: *extra_state };
        let state = Box::into_raw(Box::new(functions));
        let mut c_request = 0_usize;
        let code =
            call(query as Address, free as Address, cancel as Address, state.cast(), (&raw mut c_request).cast());
        if code == 0 {
            *request = number(c_request);
        } else {
            drop(Box::from_raw(state));
        }
        report(ierror, code);
    }
}
