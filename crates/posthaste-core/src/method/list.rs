//! The list of methods: a method is a file with an implementation of [`Method`], and a line here.
//!
//! The list makes the names of the ways to peers, the places of the methods, and the `match` that calls the one that leads
//! to a peer. What must stay true: no call goes through a table of functions, so that what a method inlines stays inline;
//! polls go in the order of the list.

use super::contract::{Method, Room};
use super::pinned::Pin;
use super::*;

/// What a way knows of its peer besides its number: the type of that, and what the method learns.
macro_rules! index {
    ($index:ident) => {
        u32
    };
}
macro_rules! at {
    ($peer:expr) => {
        $peer
    };
    ($peer:expr, $index:ident) => {
        $index as usize
    };
}

macro_rules! methods {
    ($d:tt $($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])?
        $name:ident $(($index:ident))? => $field:ident: $method:ty, $words:literal;)*) => {
        /// The way to one peer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Route {
            $($(#[doc = $doc])* $(#[cfg($cfg)])? $name $((index!($index)))?,)*
        }

        impl Route {
            /// In words.
            pub(super) fn name(self) -> &'static str {
                match self {
                    $($(#[cfg($cfg)])? Self::$name { .. } => $words,)*
                }
            }
        }

        /// The methods of this process.
        #[derive(Debug, Default)]
        pub struct All {
            $($(#[cfg($cfg)])? pub(super) $field: Option<$method>,)*
        }

        /// A buffer that networks know.
        #[derive(Debug, Default)]
        pub struct Pins {
            $($(#[cfg($cfg)])? $field: Option<Pin>,)*
        }

        /// Room for one packet on its way to a peer.
        #[derive(Debug)]
        pub enum Claim<'a> {
            $($(#[doc = $doc])* $(#[cfg($cfg)])? $name(<$method as Method>::Claim<'a>),)*
        }

        impl Claim<'_> {
            /// Writes the packet with the next bytes of `data` behind it, and commits it.
            #[inline]
            pub fn write(self, emit: &Emit, data: Option<&mut Segment>) {
                match self {
                    $($(#[cfg($cfg)])? Self::$name(claim) => claim.write(emit, data),)*
                }
            }
        }

        $($(#[cfg($cfg)])? impl Listed for $method {
            fn place(all: &mut All) -> &mut Option<Self> {
                &mut all.$field
            }
        })*

        impl Methods {
            /// Room for a packet with `len` bytes of payload, or `None` while there is none, or while the packet is a message
            /// and the peer throttles those.
            #[inline]
            pub fn claim(&mut self, to: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
                match self.route(to) {
                    $($(#[cfg($cfg)])? Route::$name $(($index))? => match &mut self.all.$field {
                        Some(method) => method.claim(at!(to $(, $index)?), len, load).map(Claim::$name),
                        None => None,
                    },)*
                }
            }

            /// Makes a buffer known to the networks that want that, for messages that are sent from it or received into it
            /// again and again. The buffer stays until [`Methods::unpin`].
            pub fn pin(&mut self, segment: &Segment, writing: bool) -> Pins {
                if segment.is_on_device() {
                    return Pins::default(); // what leaves or comes is a copy
                }
                Pins {
                    $($(#[cfg($cfg)])? $field: self.all.$field.as_mut().and_then(|method| method.pin(segment, writing)),)*
                }
            }

            /// Ends that.
            pub fn unpin(&mut self, pins: Pins) {
                $($(#[cfg($cfg)])? {
                    if let (Some(method), Some(pin)) = (&mut self.all.$field, pins.$field) {
                        method.unpin(pin);
                    }
                })*
            }
        }

        /// Calls the method that leads to a peer, with what it calls the peer.
        macro_rules! leading_to {
            ($d methods:expr, $d peer:expr, |$d method:ident, $d at:ident| $d body:expr) => {
                match $d methods.route($d peer) {
                    $($(#[cfg($cfg)])? Route::$name $(($index))? => {
                        let $d method = $d methods.all.$field.as_mut().expect("a way exists only with its method");
                        let $d at = at!($d peer $(, $index)?);
                        $d body
                    })*
                }
            };
        }

        /// Calls all methods in turn.
        macro_rules! each {
            ($d all:expr, $d get:ident, |$d method:ident| $d body:expr) => {
                $($(#[cfg($cfg)])? {
                    if let Some($d method) = $d all.$field.$d get() {
                        $d body;
                    }
                })*
            };
        }
    };
}

/// A method of the list.
pub trait Listed: Method + Sized {
    /// Its place.
    fn place(all: &mut All) -> &mut Option<Self>;
}

methods! { $
    /// The peer is on this host, with this local rank.
    Shm(rank) => shm: Shm, "through shared memory";
    /// The peer is of another job and on this host, in this pair.
    Near(pair) => near: Near, "through shared memory";
    /// The peer is this process.
    Loopback => loopback: Loopback, "within the process";
    /// The peer is reached over the network.
    Tcp => tcp: Tcp, "over TCP";
    /// The peer is reached by libfabric.
    Fabric => fabric: Fabric, "over libfabric";
    /// The peer is reached over several links.
    Bundle => bundle: Bundle, "over several links";
    /// The peer is reached by a plug-in.
    Plugin => plugin: Plugin, "through a plug-in";
    /// The peer is another engine in this process (tests).
    Sim => sim: Sim, "through the simulated network";
    /// The same, without a network between them.
    #[cfg(test)]
    Mailbox => mailbox: mailbox::Mailbox, "through a mailbox";
}
