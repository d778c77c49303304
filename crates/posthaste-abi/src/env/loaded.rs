//! What this library does when it is loaded.

use posthaste_core::rivals;

// SAFETY: what lies in this section the loader calls once, when everything is relocated and before anybody can call this library; the
// function needs none of the arguments that it is given.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

extern "C" fn loaded() {
    rivals::look();
}
