//! Two MPI libraries in one process, of which one takes the other's calls: all have the same names, and none has versions of them.

use std::sync::Once;

use posthaste_os::scope;

use crate::error::say;

/// Says so, once for each copy of this library. A C library calls it when it is loaded, and when MPI is initialised, for another may
/// have come in between.
pub fn look() {
    static SAID: Once = Once::new();
    // A function that profilers leave alone.
    let Some([first, other]) = scope::rivals(c"PMPI_Init", "libmpi") else { return };
    SAID.call_once(|| {
        say(format_args!(
            "two MPI libraries are in this process, and {} takes the calls that are meant for {}: handles and constants may \
             differ. Build everything for one of them, or load each in a scope of its own (dlopen without RTLD_GLOBAL, nothing \
             linked to the program)",
            first.display(),
            other.display(),
        ));
    });
}
