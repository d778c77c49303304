//! The door: how every C function is defined, and what surrounds its body.
//!
//! [`mpi_fn!`] defines a function under both of its names, `MPI_X` and the profiling name `PMPI_X`
//! (MPI-5.0 §15.2). Both are real exports with the same body, and nothing inside the library calls either, so
//! a tool may override one and reach the other. [`unsupported!`] does the same for functions that do not work
//! yet. Around a body stands [`guarded`]: has MPI been initialised, is it finalised; and errors go to the
//! error handler (`failure`). What must stay true: an entry never panics and never unwinds into C.

use std::ffi::c_int;

use posthaste_core::error::{Error, ErrorClass, Result};

use crate::abi::constants::{MPI_SUCCESS, MPI_T_ERR_NOT_SUPPORTED};
use crate::abi::pointer::{Out, Plain};
use crate::failure;
use crate::layer::library::{Life, has_had_sessions, life, may_enter};
use crate::object::site::{Located, Outcome, Site};

/// Runs the body of an entry that needs MPI to be initialised, and turns its outcome into an error code. Handlers of requests
/// that are due run before it.
#[inline(always)]
pub(crate) fn guarded(call: &'static str, site: impl Into<Site>, body: impl FnOnce() -> Result<()>) -> c_int {
    let outcome = if may_enter() { body() } else { Err(outside()) };
    match outcome {
        Ok(()) => MPI_SUCCESS,
        Err(error) => failure::raise(call, site.into(), &error),
    }
}

/// Runs what needs MPI to be initialised, or a session.
pub(crate) fn inside(body: impl FnOnce() -> Result<()>) -> Result<()> {
    if may_enter() { body() } else { Err(outside()) }
}

/// The same where only the failure says to which object it belongs, as in functions on requests.
#[inline(always)]
pub(crate) fn located(call: &'static str, body: impl FnOnce() -> Outcome) -> c_int {
    let outcome = if may_enter() { body() } else { Err(outside().into()) };
    match outcome {
        Ok(()) => MPI_SUCCESS,
        Err(Located { site, error }) => failure::raise(call, site, &error),
    }
}

/// Runs the body of an entry that may be called at any time (MPI-5.0 §11.4.1).
#[inline(always)]
pub(crate) fn unguarded(call: &'static str, body: impl FnOnce() -> Result<()>) -> c_int {
    match body() {
        Ok(()) => MPI_SUCCESS,
        Err(error) => failure::raise(call, Site::Process, &error),
    }
}

/// Outcome of a function that does not work yet.
#[cold]
#[inline(never)]
pub(crate) fn raise_unsupported(call: &'static str) -> c_int {
    if call.starts_with("MPI_T_") {
        // Functions of the tool interface never call an error handler (MPI-5.0 §15.3.10).
        return MPI_T_ERR_NOT_SUPPORTED;
    }
    let site = if call.starts_with("MPI_File_") {
        Site::File(crate::abi::constants::MPI_FILE_NULL)
    } else {
        Site::Process
    };
    guarded(call, site, || Err(Error::unsupported(call)))
}

#[cold]
fn outside() -> Error {
    let text = match life() {
        Life::Before if has_had_sessions() => "it was called before MPI_Init, while no session was open",
        Life::Before => "it was called before MPI_Init",
        Life::Inside | Life::After => "it was called after MPI_Finalize",
    };
    Error::other(ErrorClass::Other, text)
}

/// Defines C functions, each under both names. Four forms of a body:
/// `raises comm => { … }` gives `Result<()>`, needs MPI to be initialised, and errors go to the error handler of
/// `comm` (or of a window, file, session, or `Site::Process`); `raises where it belongs { … }` gives
/// `Outcome` for errors that know their object; `anytime { … }` gives `Result<()>` and may run before
/// `MPI_Init`; `-> T { … }` gives the C result itself.
macro_rules! mpi_fn {
    () => {};
    ($(#[$meta:meta])* fn $name:ident / $pname:ident($($arg:ident: $ty:ty),* $(,)?)
        raises where it belongs $body:block $($rest:tt)*) => {
        $crate::call::both! { [$(#[$meta])*] $name $pname ($($arg: $ty),*) -> std::ffi::c_int {
            $crate::call::located(stringify!($name), || $body)
        } }
        $crate::call::mpi_fn! { $($rest)* }
    };
    ($(#[$meta:meta])* fn $name:ident / $pname:ident($($arg:ident: $ty:ty),* $(,)?)
        raises $site:expr => $body:block $($rest:tt)*) => {
        $crate::call::both! { [$(#[$meta])*] $name $pname ($($arg: $ty),*) -> std::ffi::c_int {
            $crate::call::guarded(stringify!($name), $site, || $body)
        } }
        $crate::call::mpi_fn! { $($rest)* }
    };
    ($(#[$meta:meta])* fn $name:ident / $pname:ident($($arg:ident: $ty:ty),* $(,)?)
        anytime $body:block $($rest:tt)*) => {
        $crate::call::both! { [$(#[$meta])*] $name $pname ($($arg: $ty),*) -> std::ffi::c_int {
            $crate::call::unguarded(stringify!($name), || $body)
        } }
        $crate::call::mpi_fn! { $($rest)* }
    };
    ($(#[$meta:meta])* fn $name:ident / $pname:ident($($arg:ident: $ty:ty),* $(,)?)
        -> $ret:ty $body:block $($rest:tt)*) => {
        $crate::call::both! { [$(#[$meta])*] $name $pname ($($arg: $ty),*) -> $ret $body }
        $crate::call::mpi_fn! { $($rest)* }
    };
}

/// Defines C functions beside the standard, each under its one name: `posthaste.h` finds it at run time. Errors belong to their
/// objects.
macro_rules! extension_fn {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> std::ffi::c_int {
            $crate::call::located(stringify!($name), || $body)
        }
    )*};
}

/// Defines C functions that do not work yet; the literal is their section of MPI-5.0. What stands in `leaving` is done
/// before the error is raised: results become "none", for programs that ignore error codes. With `refused by`, an
/// expression that is called with the function's name raises the error and gives its code.
macro_rules! unsupported {
    ($section:literal; $(fn $name:ident / $pname:ident($($arg:ident: $ty:ty),* $(,)?);
        $(leaving $none:block)? $(refused by $refuse:expr;)?)*) => {$(
        $crate::call::both! {
            [#[doc = concat!("MPI-5.0 §", $section, ". Not implemented yet.")]]
            $name $pname ($($arg: $ty),*) -> std::ffi::c_int {
                $(let _ = $arg;)*
                $($none)?
                $(return ($refuse)(stringify!($name));)?
                #[allow(unreachable_code)]
                $crate::call::raise_unsupported(stringify!($name))
            }
        }
    )*};
}

/// Leaves "none" in the place of a result, if there is one.
pub(crate) fn none<T: Plain>(place: Out<T>, none: T) {
    let _ = place.set("result", none);
}

/// The two exports of one function.
macro_rules! both {
    ([$(#[$meta:meta])*] $name:ident $pname:ident ($($arg:ident: $ty:ty),*) -> $ret:ty $body:block) => {
        $(#[$meta])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $ret $body

        #[doc = concat!("Profiling name of [`", stringify!($name), "`].")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $pname($($arg: $ty),*) -> $ret $body
    };
}

pub(crate) use {both, extension_fn, mpi_fn, unsupported};
