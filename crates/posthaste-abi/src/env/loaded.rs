//! What this library does when it is loaded.

use posthaste_core::rivals;

#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

extern "C" fn loaded() {
    rivals::look();
}
