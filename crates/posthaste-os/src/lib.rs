//! Everything of posthaste that talks to the operating system or to memory shared between processes.
//! All `unsafe` of that kind is here, behind safe functions; see ARCHITECTURE.md for the arrows between crates.
pub mod allocated;
pub mod bias;
pub mod status_page;
#[cfg(not(loom))]
pub mod copying;
pub mod counted_word;
#[cfg(not(loom))]
pub mod debugger;
pub mod fabric;
#[cfg(not(loom))]
pub mod heap;
#[cfg(not(loom))]
pub mod lives;
pub mod lock_words;
pub mod machine;
#[cfg(not(loom))]
pub mod mapped;
pub mod mem;
mod memory;
#[cfg_attr(loom, allow(dead_code))]
pub mod node;
pub mod park;
pub mod peer_copy;
pub mod plugin;
pub mod pmix;
pub mod pool;
pub mod process;
pub mod pulse;
pub mod ranges;
pub mod resources;
pub mod ring;
pub mod scope;
#[cfg(not(loom))]
pub mod simulated_device;
pub mod slot;
pub mod socket;
pub mod sync;
pub mod wake;
pub mod watch;

#[cfg(loom)]
pub use memory::model;
