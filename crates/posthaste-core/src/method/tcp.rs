//! TCP: connections between processes of different nodes.

mod card;
#[allow(dead_code)]
mod handshake;

use std::sync::Arc;

use posthaste_os::socket::{Listener, Set};

use crate::config::Config;
use crate::datatype::Format;
use crate::datatype::Segment;
use crate::error::{Error, Result};
use crate::ids::Peer;
use crate::method::{Caps, Load};
use crate::wire::Emit;

pub use card::{AddressBook, Card, Shelf};
use handshake::Identity;

/// What the method needs to know of the job.
#[derive(Clone, Debug)]
pub struct TcpSetup {
    /// This process.
    pub me: Peer,
    /// Number of processes.
    pub peers: usize,
    /// What only processes of this job know.
    pub secret: [u8; 32],
    /// How the data of this process looks.
    pub format: Format,
    /// What this node is called in sentences.
    pub node: String,
}

/// The method.
#[derive(Debug)]
pub struct Tcp {
    identity: Identity,
    set: Arc<Set>,
    listener: Listener,
    book: Box<dyn AddressBook>,
}

/// Room for one packet.
#[derive(Debug)]
pub struct Claim<'a>(&'a mut Tcp);

impl Tcp {
    /// Opens the listener; the card is for the other processes.
    ///
    /// # Errors
    /// When no port is free, no interface can be used, or there are no descriptors left.
    pub fn new(setup: TcpSetup, config: &Config, book: Box<dyn AddressBook>) -> Result<(Self, Card)> {
        let addresses = card::own_addresses(&config.tcp_interfaces)?;
        let (first, last) = config.tcp_ports;
        let listener = Listener::open(first..=last).map_err(|e| {
            Error::system(format!("listening for other ranks (POSTHASTE_TCP_PORTS is {first}-{last})"), e)
        })?;
        let port = listener.port().map_err(|e| Error::system("asking for the port of the listener", e))?;
        let set = Set::new().map_err(|e| Error::system("making an epoll set", e))?;
        set.add(&listener, 0, false).map_err(|e| Error::system("watching the listener", e))?;
        let TcpSetup { me, peers, secret, format, node } = setup;
        let card = Card { format, port, addresses, node };
        let identity = Identity::new(me, peers, format, secret);
        Ok((Self { identity, set: Arc::new(set), listener, book }, card))
    }

    /// What a sleeper has to watch.
    pub fn set(&self) -> Arc<Set> {
        self.set.clone()
    }

    pub(super) fn caps(&self) -> Caps {
        Caps { packet: 16 << 10, stream: false, get: false, get_any: false, crowded: false }
    }

    pub(super) fn claim(&mut self, _to: Peer, _len: usize, _load: Load) -> Option<Claim<'_>> {
        None
    }
}

impl Claim<'_> {
    pub(super) fn write(self, _emit: &Emit, _data: Option<&mut Segment>) {}
}
