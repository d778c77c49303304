//! Whose functions the calls of a process reach, where two libraries have functions of the same names.
//!
//! The loader binds a call to the first library of the global scope that has the name: the program, what it was linked to, what has been
//! loaded with RTLD_GLOBAL. A library loaded without that, and what it brings along, is reached through scopes of its own, but only by
//! names that the global scope has not.

use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

/// The library that has this function in the global scope, and another one in this process whose file has a name with this beginning and
/// that has the function, too: whoever means the other reaches the first.
pub fn rivals(function: &CStr, beginning: &str) -> Option<[PathBuf; 2]> {
    let first = object_of(in_global_scope(function)?)?;
    let is_one = |path: &&CString| {
        let name = Path::new(OsStr::from_bytes(path.as_bytes())).file_name().unwrap_or_default();
        name.as_bytes().starts_with(beginning.as_bytes())
    };
    let paths = loaded();
    let others = paths.iter().filter(is_one).filter_map(|path| object_of(of_library(path, function)?));
    let other = others.into_iter().find(|other| other.0 != first.0)?;
    Some([first.1, other.1].map(|name| PathBuf::from(OsStr::from_bytes(name.as_bytes()))))
}

fn in_global_scope(function: &CStr) -> Option<*const c_void> {
    // SAFETY: nothing is loaded: this is the program itself.
    find(unsafe { libc::dlopen(ptr::null(), libc::RTLD_LAZY) }, function)
}

/// The function as a library that is loaded has it, or one that it brings along.
fn of_library(path: &CStr, function: &CStr) -> Option<*const c_void> {
    // SAFETY: what is loaded already is not loaded again.
    find(unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) }, function)
}

/// The handle is given back: nothing is unloaded by that.
fn find(handle: *mut c_void, function: &CStr) -> Option<*const c_void> {
    if handle.is_null() {
        return None;
    }
    // SAFETY: a handle of the loader's, and a C string.
    let found = unsafe { libc::dlsym(handle, function.as_ptr()) };
    // SAFETY: once for the `dlopen` that gave it.
    unsafe { libc::dlclose(handle) };
    (!found.is_null()).then_some(found.cast_const())
}

/// Where the object lies that has this address, and what the loader calls it.
pub(crate) fn object_of(address: *const c_void) -> Option<(usize, CString)> {
    // SAFETY: a place for the answer, all of whose values may be zero.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address will do.
    if unsafe { libc::dladdr(address, &raw mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a C string of the loader, copied while the object is there.
    let name = unsafe { CStr::from_ptr(info.dli_fname) }.to_owned();
    Some((info.dli_fbase.addr(), name))
}

/// The files of all libraries of this process.
fn loaded() -> Vec<CString> {
    let mut paths = Vec::new();
    // SAFETY: the function is called with what follows, before this call returns.
    unsafe { libc::dl_iterate_phdr(Some(note), ptr::from_mut(&mut paths).cast()) };
    paths
}

unsafe extern "C" fn note(object: *mut libc::dl_phdr_info, _: usize, paths: *mut c_void) -> c_int {
    // SAFETY: the loader hands over a description of an object that is loaded, and what `loaded` has given it.
    let (object, paths) = unsafe { (&*object, &mut *paths.cast::<Vec<CString>>()) };
    if !object.dlpi_name.is_null() {
        // SAFETY: a C string of the loader.
        paths.push(unsafe { CStr::from_ptr(object.dlpi_name) }.to_owned());
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_library_has_no_rival() {
        assert!(loaded().iter().any(|path| path.to_string_lossy().contains("libc.so")));
        let (_, file) = object_of(in_global_scope(c"malloc").unwrap()).unwrap();
        assert!(file.to_string_lossy().contains("libc.so"), "{file:?}");
        assert_eq!(rivals(c"malloc", "libc."), None);
        assert_eq!(rivals(c"no such function", "lib"), None);
    }
}
