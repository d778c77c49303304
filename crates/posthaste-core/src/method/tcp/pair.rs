//! Processes of two jobs on one host agree to share memory, over the connection between them and before the first packet.
//!
//! ```text
//!   who goes before the other                  the other
//!   makes a segment; OFFER, where it is ---->  maps it
//!          <---- SHARED: from now on packets go through it; or FAR: they go over the connection
//! ```
//!
//! What must stay true: until that is settled, neither side sends a packet; then both send all packets the same way. The connection
//! stays, for it tells of the end of a peer, which counts when everything that lies in the segment has been taken.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;

use posthaste_os::copying::{self, Copying};
use posthaste_os::machine;
use posthaste_os::node::Node;

use crate::error::Error;
use crate::ids::Peer;
use crate::jobs::ProcessName;
use crate::method::tcp::outgoing::{FAR, OFFER, SHARED};
use crate::method::tcp::{BusinessCard, Tcp};

/// Bytes behind the word that offers a segment: whose it is, its descriptor there, its file.
pub(super) const OFFERED: usize = 16;
/// Most segments of a process.
const MOST: usize = 64;

/// How far a process has come with a peer.
#[derive(Debug, Default)]
pub(super) enum Pairing {
    /// They share no memory.
    #[default]
    Far,
    /// Nothing has been offered.
    Open,
    /// The peer has not answered.
    Offered(Node),
    /// They share memory.
    Shared,
}

/// What a peer has said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Offer([u8; OFFERED]),
    Shared,
    Far,
}

/// What the method has settled.
#[derive(Debug)]
pub enum Settled {
    /// From now on the way to this peer, which is called so, is this segment, in which this process has this number.
    Shares(Peer, ProcessName, Node, usize),
    /// A peer that shares memory is lost.
    Lost(Peer, Error),
}

impl Pairing {
    /// Whether no packet may leave yet.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open | Self::Offered(_))
    }
}

impl Tcp {
    /// What stands in the business card of processes that can share memory with this one: the kernel's start and the namespace of
    /// processes, and the name of the node if it has one.
    pub fn host_of(node: Option<&str>) -> u64 {
        static IDENTITY: OnceLock<String> = OnceLock::new();
        let identity = IDENTITY.get_or_init(machine::identity);
        let memory = identity.rsplit_once('.').map_or(&**identity, |(memory, _)| memory);
        let mut hasher = blake3::Hasher::new();
        hasher.update(memory.as_bytes()).update(&[0]).update(node.unwrap_or_default().as_bytes());
        u64::from_le_bytes(*hasher.finalize().as_bytes().first_chunk().unwrap_or(&[0; 8])).max(1)
    }

    /// Processes of other jobs that say that they are on this host are asked to share memory. `copying`: what is known there of
    /// long messages.
    pub fn shares_memory_on(&mut self, host: u64, copying: Option<Copying>) {
        self.card.host = host;
        self.copying = copying;
    }

    /// What has been settled since the last question.
    #[inline]
    pub fn settled(&mut self) -> Vec<Settled> {
        std::mem::take(&mut self.settled)
    }

    /// How it begins with a peer that has this business card.
    pub(super) fn begin_pairing(&mut self, peer: Peer, card: &BusinessCard) {
        let is_near = self.card.host != 0 && self.card.host == card.host;
        let way = self.way(peer);
        if is_near && matches!(way.pairing, Pairing::Far) {
            way.pairing = Pairing::Open;
        }
    }

    /// The connection stands: one of the two offers a segment.
    pub(super) fn offer_segment(&mut self, peer: Peer) {
        if !matches!(self.way(peer).pairing, Pairing::Open) || !self.identity.goes_before(peer) {
            return;
        }
        let made = match self.pairs() {
            pairs if pairs < MOST => {
                copying::publish_pair(self.copying, pairs).and_then(|node| Ok((node.inode()?, node)))
            }
            _ => Err(too_many()),
        };
        let way = self.way(peer);
        match made {
            Ok((inode, node)) => {
                way.out.push_own(OFFER);
                way.out.push_own(std::process::id());
                way.out.push_own(node.as_fd().as_raw_fd() as u32);
                way.out.push_own(inode as u32);
                way.out.push_own((inode >> 32) as u32);
                way.pairing = Pairing::Offered(node);
            }
            Err(_) => {
                way.out.push_own(FAR);
                way.pairing = Pairing::Far;
            }
        }
    }

    /// The peer has said something of it. Whether that makes sense.
    pub(super) fn hear_of_segment(&mut self, peer: Peer, said: Said) -> bool {
        let Some(name) = self.identity.abroad.name(peer) else { return false };
        let has_room = self.pairs() < MOST;
        let way = self.way(peer);
        match (said, std::mem::take(&mut way.pairing)) {
            (Said::Offer(offer), Pairing::Open) => {
                let attached = if has_room { attach(offer) } else { Err(too_many()) };
                way.out.push_own(if attached.is_ok() { SHARED } else { FAR });
                if let Ok(node) = attached {
                    way.pairing = Pairing::Shared;
                    self.settled.push(Settled::Shares(peer, name, node, 1));
                }
                self.flush(peer);
                true
            }
            (Said::Shared, Pairing::Offered(node)) => {
                way.pairing = Pairing::Shared;
                self.settled.push(Settled::Shares(peer, name, node, 0));
                true
            }
            (Said::Far, Pairing::Open | Pairing::Offered(_)) => true,
            _ => false,
        }
    }

    fn pairs(&self) -> usize {
        self.ways
            .iter()
            .filter(|(_, way)| matches!(way.pairing, Pairing::Offered(_) | Pairing::Shared))
            .count()
    }
}

/// Maps the segment that a peer has offered.
fn attach(offer: [u8; OFFERED]) -> io::Result<Node> {
    let word = |at: usize| u32::from_le_bytes([offer[at], offer[at + 1], offer[at + 2], offer[at + 3]]);
    let (pid, fd, inode) = (word(0), word(4), u64::from(word(8)) | u64::from(word(12)) << 32);
    let path = format!("/proc/{pid}/fd/{fd}");
    let is_it = |about: &Metadata| about.is_file() && about.ino() == inode;
    // To open something else could block, or do something.
    let file =
        Some(fs::metadata(&path)?).filter(is_it).map(|_| File::options().read(true).write(true).open(path));
    match file.transpose()? {
        Some(file) if is_it(&file.metadata()?) => Node::attach_pair(file.into()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "another file has that number there")),
    }
}

fn too_many() -> io::Error {
    io::Error::other("this process has so many segments already")
}
