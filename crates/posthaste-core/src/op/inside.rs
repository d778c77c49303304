//! What the function of an operation does besides computing: it panics, or calls the library.
//!
//! What must stay true: an error of that names the call and the rank, also where the panic ends the process before anybody has
//! heard of the error. A function that communicates is found where it enters the engine, which does not know for which call;
//! an API that names its calls says so while the panic leaves them.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, ErrorClass, Result, say};

thread_local! {
    /// Whether the thread is in the function of an operation. Of each copy of the code its own: it is marked by the copy that the
    /// function calls.
    static IS_CALLED: Cell<bool> = const { Cell::new(false) };
    /// The call that a panic has left first since a function on slices was last called, and the rank that has called.
    static LEFT: Cell<Option<(&'static str, usize)>> = const { Cell::new(None) };
    /// The panic under way is one of [`panics_inside`].
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The function of an operation has made a call that it must not make: who it was is said by whoever knows that.
#[cold]
pub(crate) fn panics_inside(why: &str) -> ! {
    IS_INSIDE.set(true);
    panic!("{why}")
}

/// A panic leaves a call of an API, of the process with this rank in its world. The function of an operation may have made it.
#[cold]
pub fn leaves_by_panic(call: &'static str, rank: usize) {
    LEFT.set(LEFT.get().or(Some((call, rank))));
    if IS_INSIDE.take() {
        say(format_args!(
            "rank {rank}: {call}: the function of a reduction operation (MPI_Op_create) has made this call, which it must not \
             do (MPI-5.0 §6.9.5)"
        ));
    }
}

/// Calls the function of an operation. The thread may be inside an engine meanwhile, where the function must not come: it
/// communicates with nobody (MPI-5.0 §6.9.5).
pub fn calling(function: impl FnOnce()) {
    let before = IS_CALLED.replace(true);
    function();
    IS_CALLED.set(before);
}

/// Whether the calling thread is in the function of an operation.
#[inline]
pub fn is_called() -> bool {
    IS_CALLED.get()
}

/// Calls a function on slices. A panic of it ends here, because the peers wait for what comes next.
pub(super) fn caught(function: impl FnOnce()) -> Result<()> {
    LEFT.set(None);
    let outcome = catch_unwind(AssertUnwindSafe(function));
    // The function may have caught the panic itself.
    IS_INSIDE.set(false);
    outcome.map_err(|panic| {
        let said = panic.downcast_ref::<&str>().copied();
        let said = said.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
        let during = LEFT.get();
        let during = during.map_or_else(String::new, |(call, rank)| format!(" in {call} on rank {rank}"));
        Error::other(ErrorClass::Op, format!("the function of the operation panicked{during}: {said}"))
    })
}
