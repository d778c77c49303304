//! The message-passing engine of posthaste. (Its bindings: `posthaste-abi` for C, `posthaste` for Rust.)
//!
//! # The journey of a message
//! 1. A binding hands buffer, count and datatype over as a [`datatype::Segment`] and calls [`world::World`], which turns
//!    ranks into peers ([`comm::Comm`]) and checks rank and tag.
//! 2. [`pt2pt::send::start`]: a short message goes straight into a packet of the peer's [`method::Methods`] (the
//!    fast path); otherwise [`pt2pt::protocol::choose`] says how, and `pt2pt::rendezvous` begins.
//! 3. A packet ([`wire::Packet`]) travels by a method: [`method::loopback`], [`method::shm`], [`method::tcp`],
//!    [`method::fabric`], [`method::plugin`], [`method::sim`]; one that finds no room waits its turn in [`pt2pt::Pending`].
//! 4. At the receiver [`progress::Vci::progress`] polls the methods; [`dispatch::on_event`] knows whose each packet is.
//! 5. [`pt2pt::arrival`] offers it to the receives, and [`pt2pt::matching::Matching`] says which one came first.
//! 6. [`pt2pt::eager`] or [`pt2pt::rendezvous`] puts the data in place, or returns an [`pt2pt::Action`] for progress to
//!    perform.
//! 7. [`request::complete`] ends the request; [`wait::Waiting`], the only room that blocks, sees it. All of this happens in a
//!    VCI that a thread has entered ([`runtime::Runtime`]).
//!
//! One-sided communication ([`onesided`]) goes beneath messages: memory is exposed, and peers read, write and combine it.
//!
//! Collective operations ([`coll`]) are schedules of such messages that progress advances; making communicators
//! ([`comm`]) is one of them.
//!
//! The rooms below stand in that order; a room uses only rooms before it (tested by `cargo xtask test`).
#![deny(unsafe_code)]

/// For macros, which may be used where `core` is something else.
#[doc(hidden)]
pub use ::core as core_crate;

pub mod jobs;
pub mod ids;
pub mod named;
pub mod peers;
pub mod error;
pub mod rivals;
pub mod config;
pub mod explain;
pub mod trace;
#[allow(unsafe_code)] // one of the two homes of unsafe code: memory that users vouched for or lent
pub mod buffer;
pub mod datatype;
pub mod wire;
pub mod request;
pub mod method;
pub mod group;
pub mod op;
pub mod agreement;
pub mod onesided;
pub mod pt2pt;
pub mod info;
pub mod attribute;
pub mod coll;
pub mod comm;
pub mod topology;
pub mod win;
pub mod meeting;
pub mod slice;
pub mod dispatch;
pub mod progress;
pub mod runtime;
pub mod wait;
pub mod world;
pub mod instance;

#[cfg(test)]
mod testing;
