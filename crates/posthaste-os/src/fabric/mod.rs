//! Networks with remote memory, by libfabric, which is loaded at run time.
//!
//! Nothing of it is needed to build or to run without such a network: the few functions that are exported are looked up
//! by name and version, everything else is called through tables in libfabric's objects, whose layout is written down
//! in `abi`. What must stay true: all `unsafe` about libfabric is in this room; a read or write of user memory is the
//! only call that asks for a promise.
//!
//! - `abi`: layouts and numbers; `layout`: their test against libfabric's headers.
//! - `library`: loading, and which providers there are; `endpoint`: packets, reads and writes, completions;
//!   `atomic`: operations on elements; `memory`: registrations and buffers.

mod abi;
mod atomic;
mod endpoint;
#[cfg(test)]
mod layout;
mod library;
mod memory;

pub use atomic::{Atomic, Number, Step};
pub use endpoint::{Arrived, Completion, Endpoint, NotStarted, Place, Remote, Sizes, Slot};
pub use library::{FILE, Library, Provider, Wanted};
pub use memory::Registration;
