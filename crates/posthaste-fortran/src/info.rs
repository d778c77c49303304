//! Texts whose length goes both ways: without the null byte in Fortran, with it in C (MPI-5.0 §10, §11.3.2).

use std::ptr::null_mut;

use crate::argument::{Integer, handle, number, report};
use crate::routine::routine;
use crate::text::{room, stripped};

/// The length of a text in C for one in Fortran; 0 only asks how long it is.
fn with_null(len: Integer) -> Integer {
    if len > 0 { len.saturating_add(1) } else { 0 }
}

routine! {
    plain "info_get_string" MPI_Info_get_string PMPI_Info_get_string, as call
    (info: *const Integer, key: *const u8, buflen: *mut Integer, value: *mut u8, flag: *mut Integer, ierror: *mut Integer,
        key_len: usize, value_len: usize) {
        let key = stripped(key, key_len);
        let mut c_buflen = with_null(*buflen);
        let mut c_value = room(c_buflen as usize, value, value_len);
        let code =
            call(handle(info), key.as_ptr() as _, (&raw mut c_buflen).cast(), c_value.address(), flag.cast());
        if code == 0 && *flag != 0 {
            *buflen = (c_buflen - 1).max(0);
        }
        report(ierror, code);
    }
}

routine! {
    plain "session_get_nth_pset" MPI_Session_get_nth_pset PMPI_Session_get_nth_pset, as call
    (session: *const Integer, info: *const Integer, n: *const Integer, pset_len: *mut Integer, pset_name: *mut u8,
        ierror: *mut Integer, pset_name_len: usize) {
        let mut c_len = with_null(*pset_len);
        let mut c_name = room(c_len as usize, pset_name, pset_name_len);
        let code = call(handle(session), handle(info), *n, (&raw mut c_len).cast(), c_name.address());
        if code == 0 {
            *pset_len = (c_len - 1).max(0);
        }
        report(ierror, code);
    }
}

routine! {
    plain "info_create_env" MPI_Info_create_env PMPI_Info_create_env, as call
    (info: *mut Integer, ierror: *mut Integer) {
        let mut c_info = 0_usize;
        let code = call(0, null_mut(), (&raw mut c_info).cast());
        if code == 0 {
            *info = number(c_info);
        }
        report(ierror, code);
    }
}
