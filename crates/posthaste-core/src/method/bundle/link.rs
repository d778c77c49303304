//! One link of a bundle: a whole method of its own, of which only a part is used.
//!
//! What must stay true: nothing here knows of other links.

use std::sync::Arc;
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::socket::Set;

use super::frame::{FRONT, Mark};
use crate::ids::{Peer, RequestId};
use crate::method::contract::Method as _;
use crate::method::fabric::{self, Fabric};
use crate::method::sim::Sim;
use crate::method::tcp::{self, Tcp};
use crate::method::{Event, GrantedSend, Load, OpenReceive};
use crate::trace::Counts;
use crate::wire::Emit;

/// A link.
#[derive(Debug)]
pub struct Link {
    /// What it is called in sentences.
    pub(super) name: String,
    method: Method,
}

#[derive(Debug)]
enum Method {
    Tcp(Box<Tcp>),
    Fabric(Box<Fabric>),
    Sim(Box<Sim>),
}

/// What the set of descriptors says of those of links.
const TOKEN: u64 = 1 << 36;

impl Link {
    /// Over TCP.
    pub fn tcp(name: String, tcp: Tcp) -> Self {
        Self { name, method: Method::Tcp(Box::new(tcp)) }
    }

    /// By libfabric.
    pub fn fabric(name: String, fabric: Fabric) -> Self {
        Self { name, method: Method::Fabric(Box::new(fabric)) }
    }

    /// Through a simulated network.
    pub fn sim(name: String, sim: Sim) -> Self {
        Self { name, method: Method::Sim(Box::new(sim)) }
    }

    /// Whether it goes over TCP.
    pub(super) fn is_tcp(&self) -> bool {
        matches!(self.method, Method::Tcp(_))
    }

    /// Whether it goes by libfabric.
    pub(super) fn is_fabric(&self) -> bool {
        matches!(self.method, Method::Fabric(_))
    }

    /// Other peers are polled, too.
    pub(super) fn sharing(self) -> Self {
        let method = match self.method {
            Method::Tcp(tcp) => Method::Tcp(Box::new(tcp.sharing())),
            Method::Fabric(fabric) => Method::Fabric(Box::new(fabric.sharing())),
            sim @ Method::Sim(_) => sim,
        };
        Self { method, ..self }
    }

    /// Adds what a sleeper has to watch to this set.
    pub(super) fn watch_in(&self, set: &Arc<Set>) {
        match &self.method {
            // Without it, naps end by themselves.
            Method::Tcp(tcp) => drop(set.add(&*tcp.set(), TOKEN, false)),
            Method::Fabric(fabric) => drop(fabric.watch_in(set)),
            Method::Sim(_) => {}
        }
    }

    /// Longest payload.
    pub(super) fn packet(&self) -> usize {
        match &self.method {
            Method::Tcp(_) => tcp::PACKET,
            Method::Fabric(_) => fabric::PACKET,
            Method::Sim(sim) => sim.packet(),
        }
    }

    pub(super) fn now(&self) -> Duration {
        match &self.method {
            Method::Tcp(_) | Method::Fabric(_) => machine::now(),
            Method::Sim(sim) => sim.now(),
        }
    }

    pub(super) fn is_heterogeneous(&mut self, to: Peer) -> bool {
        match &mut self.method {
            Method::Tcp(tcp) => tcp.is_heterogeneous(to),
            Method::Fabric(fabric) => fabric.is_heterogeneous(to),
            Method::Sim(sim) => sim.is_heterogeneous(to),
        }
    }

    /// Begins to reach for a peer.
    pub(super) fn want(&mut self, peer: Peer) {
        match &mut self.method {
            Method::Tcp(tcp) => tcp.want(peer),
            Method::Fabric(fabric) => fabric.want(peer),
            Method::Sim(_) => {}
        }
    }

    /// Whether what is sent now leaves soon.
    pub(super) fn stands(&self, to: Peer) -> bool {
        match &self.method {
            Method::Tcp(tcp) => tcp.stands(to),
            Method::Fabric(fabric) => fabric.stands(to),
            Method::Sim(sim) => sim.stands(to),
        }
    }

    /// Whether a connection stands that breaks when the peer's process ends.
    pub(super) fn breaks_with(&self, peer: Peer) -> bool {
        if let Method::Tcp(tcp) = &self.method { tcp.stands(peer) } else { false }
    }

    /// Sends a frame; false while there is no room.
    pub(super) fn send(&mut self, to: Peer, mark: Mark, body: &[u8]) -> bool {
        let (emit, len, load) = (Emit::bundled(), FRONT + body.len(), Load::Control);
        let data = |mut room: posthaste_os::mem::Sink<'_>| {
            let (mut front, mut rest) = room.reborrow().split_at(FRONT);
            front.copy_from(&mark.write());
            rest.copy_from(body);
        };
        match &mut self.method {
            Method::Tcp(tcp) => tcp.claim(to, len, load).map(|claim| claim.write_with(&emit, data)),
            Method::Fabric(fabric) => fabric.claim(to, len, load).map(|claim| claim.write_with(&emit, data)),
            Method::Sim(sim) => sim.claim(to, len, load).map(|claim| claim.write_with(&emit, data)),
        }
        .is_some()
    }

    /// Sends a part of a long message.
    pub(super) fn send_granted(&mut self, send: GrantedSend) {
        match &mut self.method {
            Method::Tcp(tcp) => tcp.send_granted(send.to, send),
            Method::Fabric(fabric) => fabric.send_granted(send.to, send),
            Method::Sim(sim) => sim.send_granted(send.to, send),
        }
    }

    /// Opens a receive for the fragments that come here.
    pub(super) fn open_receive(&mut self, opened: OpenReceive) {
        match &mut self.method {
            Method::Tcp(tcp) => tcp.expose_shared(opened),
            Method::Fabric(fabric) => fabric.expose_shared(opened),
            Method::Sim(sim) => sim.expose_shared(opened),
        }
    }

    /// Ends that.
    pub(super) fn close(&mut self, from: Peer, receiver: RequestId) {
        match &mut self.method {
            Method::Tcp(tcp) => tcp.close(from, receiver),
            Method::Fabric(fabric) => fabric.close(from, receiver),
            Method::Sim(sim) => sim.close(from, receiver),
        }
    }

    /// The link is lost, though its method has not noticed.
    pub(super) fn give_up(&mut self, peer: Peer, why: &str) {
        match &mut self.method {
            Method::Tcp(tcp) => tcp.lose(peer, why),
            Method::Fabric(fabric) => fabric.lose(peer, why),
            Method::Sim(sim) => sim.cut(peer),
        }
    }

    /// The peer is taken for lost.
    pub(super) fn exclude(&mut self, peer: Peer) {
        match &mut self.method {
            Method::Tcp(tcp) => drop(tcp.exclude(peer)),
            Method::Fabric(fabric) => drop(fabric.exclude(peer)),
            Method::Sim(sim) => drop(sim.exclude(peer)),
        }
    }

    pub(super) fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        match &mut self.method {
            Method::Tcp(tcp) => tcp.poll(counts, on),
            Method::Fabric(fabric) => fabric.poll(counts, on),
            Method::Sim(sim) => sim.poll(counts, on),
        }
    }

    pub(super) fn look_soon(&mut self) {
        match &mut self.method {
            Method::Tcp(tcp) => tcp.look_soon(),
            Method::Fabric(fabric) => fabric.look_soon(),
            Method::Sim(_) => {}
        }
    }

    pub(super) fn flush_gathered(&mut self) {
        if let Method::Tcp(tcp) = &mut self.method {
            tcp.flush_gathered();
        }
    }

    pub(super) fn is_connecting(&self) -> bool {
        matches!(&self.method, Method::Tcp(tcp) if tcp.is_connecting())
    }

    pub(super) fn is_quiet(&self) -> bool {
        match &self.method {
            Method::Tcp(tcp) => tcp.is_quiet(),
            Method::Fabric(fabric) => fabric.is_quiet(),
            Method::Sim(_) => true,
        }
    }

    pub(super) fn begin_leaving(&mut self) {
        match &mut self.method {
            Method::Tcp(tcp) => tcp.begin_leaving(),
            Method::Fabric(fabric) => fabric.begin_leaving(),
            Method::Sim(_) => {}
        }
    }

    pub(super) fn has_left(&self) -> bool {
        match &self.method {
            Method::Tcp(tcp) => tcp.has_left(),
            Method::Fabric(fabric) => fabric.has_left(),
            Method::Sim(_) => true,
        }
    }
}
