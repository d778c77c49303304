//! The last that a peer is told: that this process takes it for lost, because others have found that. It may live, and has to hear
//! it, or it would wait for this process.
//!
//! The network may have no room for the packet just then, nor for those that were handed over before it, without which the
//! peer does not look at it. So they are copied, and sent when there is room; other peers' messages come first. What must stay
//! true: a peer that does not take them, because it has ended after all, is given up after a while.

use std::collections::VecDeque;
use std::time::Duration;

use posthaste_os::fabric::{NotStarted, Remote};
use posthaste_os::machine;

use super::link::Frame;
use super::{Fabric, FabricSetup, RESERVE};
use crate::ids::Peer;
use crate::wire::Emit;

/// What one peer is still to be sent.
#[derive(Debug)]
pub(super) struct Farewell {
    remote: Remote,
    packets: VecDeque<Vec<u8>>,
    until: Duration,
}

impl Fabric {
    /// Tells a peer whose link stands that it is taken for lost. The link is shut next.
    #[cold]
    pub(super) fn say_farewell(&mut self, peer: Peer) {
        let FabricSetup { me, mark, .. } = self.setup;
        let Some(link) = self.links.get_mut(peer) else { return };
        let Some(remote) = link.remote() else { return };
        let mut packets = VecDeque::new();
        for (slot, len) in std::mem::take(&mut link.backlog) {
            packets.push_back(self.endpoint.filled(&slot, len).to_vec());
            self.endpoint.unclaim(slot);
        }
        let preamble = link.mark(mark, me.0, Frame::Packet).write();
        packets.push_back([&preamble[..], &Emit::excluded().header].concat());
        let until = machine::now() + self.listening.dead();
        self.farewells.push(Farewell { remote, packets, until });
        self.send_farewells();
    }

    /// Sends what there is room for. Whether anything left.
    #[cold]
    pub(super) fn send_farewells(&mut self) -> bool {
        let (now, mut busy) = (machine::now(), false);
        for mut farewell in std::mem::take(&mut self.farewells) {
            let is_over = loop {
                let Some(packet) = farewell.packets.front() else { break true };
                if self.broken || now >= farewell.until {
                    break true;
                }
                if self.endpoint.free() <= RESERVE {
                    break false;
                }
                let Some(slot) = self.endpoint.claim() else { break false };
                self.endpoint.sink(&slot).copy_from(packet);
                match self.endpoint.send(slot, packet.len(), farewell.remote) {
                    Ok(()) => {
                        farewell.packets.pop_front();
                        busy = true;
                    }
                    Err(NotStarted::Full(slot)) => {
                        self.endpoint.unclaim(slot);
                        break false;
                    }
                    Err(NotStarted::Failed(slot, _)) => {
                        self.endpoint.unclaim(slot);
                        break true;
                    }
                }
            };
            if !is_over {
                self.farewells.push(farewell);
            }
        }
        busy
    }
}
