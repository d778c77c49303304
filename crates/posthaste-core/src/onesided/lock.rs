//! Locks on exposed memory, which its owner keeps: whoever wants one asks, and gets the answer when it is its turn. Windows
//! whose memory is not mapped stand on it (MPI-5.0 §12.5.3).
//!
//! ```text
//!   origin                    target
//!   lock   -- Lock -------->  granted at once, or queued
//!   done   <------ Answer
//!   unlock -- Unlock ------>  the next ones in the queue are answered
//! ```
//!
//! What must stay true: one exclusive holder or any number of shared ones; locks are granted in the order in which they were
//! asked for, but that so many shared ones pass who waits for an exclusive one, as they do in mapped memory; so nobody starves; a lost
//! peer holds nothing and waits for nothing.

use std::collections::VecDeque;

use posthaste_os::lock_words::PASSES;

use super::emulation::{Asked, Outgoing, Wanted};
use super::{OneSided, RemoteKey, Token};
use crate::buffer::OwnedBuf;
use crate::error::Result;
use crate::ids::Peer;
use crate::method::Methods;

/// Who holds a lock, and who wants it.
#[derive(Debug, Default)]
pub(super) struct Lock {
    holders: Vec<Peer>,
    exclusive: bool,
    queue: VecDeque<Waiter>,
    /// Shared locks that were granted before an exclusive one that had been asked for earlier, since the last exclusive one.
    passed: u64,
}

#[derive(Debug)]
struct Waiter {
    peer: Peer,
    serial: u64,
    exclusive: bool,
}

impl Lock {
    /// Somebody asks. Those who get the lock by that: whom, and the number of its operation.
    pub(super) fn asked(&mut self, peer: Peer, serial: u64, exclusive: bool) -> Vec<(Peer, u64)> {
        self.queue.push_back(Waiter { peer, serial, exclusive });
        self.grant()
    }

    /// A holder is done. Those who get the lock by that.
    pub(super) fn released(&mut self, peer: Peer) -> Vec<(Peer, u64)> {
        if let Some(at) = self.holders.iter().position(|holder| *holder == peer) {
            self.holders.swap_remove(at);
        }
        self.grant()
    }

    /// A peer is lost. Those who get the lock by that.
    pub(super) fn lost(&mut self, peer: Peer) -> Vec<(Peer, u64)> {
        self.holders.retain(|holder| *holder != peer);
        self.queue.retain(|waiter| waiter.peer != peer);
        if !self.queue.iter().any(|waiter| waiter.exclusive) {
            self.passed = 0;
        }
        self.grant()
    }

    /// Who waits for whom, as long as that is so.
    fn awaited(&self) -> impl Iterator<Item = (Peer, Peer)> {
        self.queue.iter().flat_map(|waiter| self.holders.iter().map(|holder| (waiter.peer, *holder)))
    }

    fn grant(&mut self) -> Vec<(Peer, u64)> {
        let mut granted = Vec::new();
        while let Some(next) = self.next_to_be_granted().and_then(|at| self.queue.remove(at)) {
            self.exclusive = next.exclusive;
            self.holders.push(next.peer);
            granted.push((next.peer, next.serial));
        }
        granted
    }

    fn next_to_be_granted(&mut self) -> Option<usize> {
        if self.holders.is_empty() {
            let is_exclusive = self.queue.front()?.exclusive;
            self.passed = if is_exclusive { 0 } else { self.passed };
            return Some(0);
        }
        let reader = self.queue.iter().position(|waiter| !waiter.exclusive).filter(|_| !self.exclusive)?;
        if reader > 0 {
            if self.passed >= PASSES {
                return None;
            }
            self.passed += 1;
        }
        Some(reader)
    }
}

impl OneSided {
    /// Asks for the lock of a peer's memory; the operation is over when it is granted.
    ///
    /// # Errors
    /// The peer is lost.
    pub fn lock(
        &mut self,
        methods: &mut Methods,
        (peer, key): (Peer, RemoteKey),
        exclusive: bool,
        token: Token,
    ) -> Result<()> {
        self.check(peer)?;
        let serial = self.next_serial();
        self.asked.insert(serial, Asked::new(peer, token, Wanted::Lock));
        self.start(methods, peer, Outgoing::Lock { serial, key, exclusive });
        Ok(())
    }

    /// Gives the lock back. Nothing is heard of it: what was done under the lock has been flushed before.
    ///
    /// # Errors
    /// The peer is lost.
    pub fn unlock(&mut self, methods: &mut Methods, (peer, key): (Peer, RemoteKey)) -> Result<()> {
        self.check(peer)?;
        self.start(methods, peer, Outgoing::Unlock(key));
        Ok(())
    }

    /// Who waits for a lock of memory of this process, and who has it.
    pub fn awaited_locks(&self) -> impl Iterator<Item = (Peer, Peer)> {
        self.exposed.locks().flat_map(Lock::awaited)
    }

    /// Tells those who have got a lock.
    pub(super) fn tell_holders(&mut self, granted: Vec<(Peer, u64)>) {
        for (peer, serial) in granted {
            self.queue(peer, Outgoing::Answer(serial, OwnedBuf::new(0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_granted_in_order_to_one_writer_or_several_readers() {
        let mut lock = Lock::default();
        let peers: Vec<Peer> = (0..6).map(Peer).collect();
        assert_eq!(lock.asked(peers[0], 1, false), [(peers[0], 1)]);
        assert_eq!(lock.asked(peers[1], 2, false), [(peers[1], 2)]);
        assert!(lock.asked(peers[2], 3, true).is_empty());
        for _ in 0..PASSES {
            assert_eq!(
                lock.asked(peers[5], 6, false),
                [(peers[5], 6)],
                "a reader passes a writer that waits"
            );
            assert!(lock.released(peers[5]).is_empty());
        }
        assert!(lock.asked(peers[3], 4, false).is_empty(), "so many have passed");
        let awaited: Vec<(u32, u32)> = lock.awaited().map(|(waiter, holder)| (waiter.0, holder.0)).collect();
        assert_eq!(awaited, [(2, 0), (2, 1), (3, 0), (3, 1)]);
        assert!(lock.released(peers[0]).is_empty());
        assert_eq!(lock.released(peers[1]), [(peers[2], 3)]);
        assert!(lock.asked(peers[4], 5, false).is_empty());
        assert_eq!(lock.released(peers[2]), [(peers[3], 4), (peers[4], 5)]);
    }

    #[test]
    fn what_a_lost_peer_holds_or_wants_is_free() {
        let mut lock = Lock::default();
        let peers: Vec<Peer> = (0..4).map(Peer).collect();
        assert_eq!(lock.asked(peers[0], 1, true).len(), 1);
        assert!(lock.asked(peers[1], 1, true).is_empty() && lock.asked(peers[2], 9, false).is_empty());
        assert!(lock.lost(peers[1]).is_empty());
        assert_eq!(lock.lost(peers[0]), [(peers[2], 9)]);
        assert!(lock.released(peers[3]).is_empty(), "who holds nothing releases nothing");
        assert!(lock.asked(peers[3], 7, true).is_empty());
        assert_eq!(lock.released(peers[2]), [(peers[3], 7)]);
    }
}
