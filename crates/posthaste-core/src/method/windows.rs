//! Messages that come through windows: the middle of seed 003's RDMA Pipeline, both sides.
//!
//! ```text
//!   receiver                                     sender
//!   opens windows, up to DEPTH at a time
//!            ----- Window: a part, its place --> writes it there
//!   closes   <------------ Filled -------------- the part is written
//!            <============ Data ================ meanwhile, what lies behind all windows
//! ```
//!
//! For methods that can write into a peer's memory; does no I/O. The receiver registers a part when it opens its window
//! and may let it go when the part is filled, so only as much is registered as is under way. Where a part cannot be
//! registered, its window asks for fragments, and the sender may send fragments in any case; a `Filled` without a place
//! follows them. What must stay true: every byte in front of `until`'s answer is asked for by exactly one window;
//! windows and their completions may come in any order.

use crate::buffer::UserBuf;
use crate::ids::{IdMap, Peer, RequestId};
use crate::method::OpenReceive;
use crate::method::pinned::Lease;
use crate::wire::{Emit, Offer, Part};

/// Windows of one message that are open at a time: one is filled while the next is registered, and an answer is under way.
const DEPTH: usize = 4;

/// How far windows go in a message of which `arrived` bytes have come: what lies behind them, about as much as leaves while
/// the first window is asked for, comes in fragments.
fn until(len: u64, arrived: u64, part: u64) -> u64 {
    len - ((len - arrived) / 4).min(part / 4)
}

/// A receive whose message comes through windows.
#[derive(Debug)]
struct Receive {
    from: Peer,
    /// Where the message begins.
    memory: UserBuf,
    /// Where the next window begins.
    next: u64,
    until: u64,
    open: Vec<(u64, u64, Option<Lease>)>,
}

/// The receives of one process whose messages come through windows.
#[derive(Debug)]
pub struct Windows {
    receives: IdMap<RequestId, Receive>,
    /// Those that may open a window.
    ready: Vec<RequestId>,
    part: u64,
}

/// A window that is to be opened.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    /// The sender.
    pub from: Peer,
    /// The receive.
    pub receiver: RequestId,
    /// Where in the message it begins, and how long it is.
    pub offset: u64,
    /// Its length.
    pub len: u64,
    /// Where it lies.
    pub(crate) memory: UserBuf,
}

impl Windows {
    /// None yet; a window is for `part` bytes.
    pub fn new(part: usize) -> Self {
        Self { receives: IdMap::default(), ready: Vec::new(), part: part as u64 }
    }

    /// Takes a receive, if its message is meant to come like that and there is room for it in one piece; says how far the
    /// windows go. They open when the ok-to-send has left ([`Windows::granted`]), so that none comes before it.
    pub fn take(&mut self, opened: &OpenReceive) -> Option<u64> {
        let (rest, room) = opened.segment.contiguous_rest()?;
        let OpenReceive { from, offer, receiver, len, arrived, .. } = *opened;
        if offer != Offer::Pipeline || room < len - arrived.min(len) || arrived >= len {
            return None;
        }
        let until = until(len, arrived, self.part);
        // The segment stands behind what has arrived.
        let memory = rest.offset(-(arrived as isize));
        let receive = Receive { from, memory, next: arrived, until, open: Vec::new() };
        self.receives.insert(receiver, receive);
        Some(until)
    }

    /// This packet has left.
    pub fn granted(&mut self, emit: &Emit) {
        if !self.receives.is_empty()
            && let Some(receiver) = emit.grants_windows()
        {
            self.ready.push(receiver);
        }
    }

    /// The next window to be opened; [`Windows::opened`] follows.
    pub fn next_window(&mut self) -> Option<Next> {
        while let Some(receiver) = self.ready.last().copied() {
            match self.receives.get_mut(&receiver) {
                Some(receive) if receive.next < receive.until && receive.open.len() < DEPTH => {
                    let (from, offset) = (receive.from, receive.next);
                    let len = self.part.min(receive.until - offset);
                    let memory = receive.memory.offset(offset as isize);
                    return Some(Next { from, receiver, offset, len, memory });
                }
                _ => self.ready.pop(),
            };
        }
        None
    }

    /// A window has been opened, with a registration if one was needed.
    pub fn opened(&mut self, next: &Next, lease: Option<Lease>) {
        let Some(receive) = self.receives.get_mut(&next.receiver) else { return };
        receive.next += next.len;
        receive.open.push((next.offset, next.len, lease));
    }

    /// The sender has written a part, or sent it in fragments. `None`: there is no such window. Otherwise its
    /// registration, if it has one.
    pub fn filled(&mut self, from: Peer, part: &Part) -> Option<Option<Lease>> {
        let receive = self.receives.get_mut(&part.receiver).filter(|receive| receive.from == from)?;
        let at =
            receive.open.iter().position(|(offset, len, _)| (*offset, *len) == (part.offset, part.len))?;
        let (_, _, lease) = receive.open.swap_remove(at);
        if receive.next < receive.until {
            self.ready.push(part.receiver);
        }
        Some(lease)
    }

    /// All bytes of a message are in place: the registrations of its windows.
    pub fn close(&mut self, receiver: RequestId) -> impl Iterator<Item = Lease> + use<> {
        let open = self.receives.remove(&receiver).map(|receive| receive.open).unwrap_or_default();
        open.into_iter().filter_map(|(_, _, lease)| lease)
    }

    /// A peer is down: the registrations of its windows.
    pub fn lose(&mut self, peer: Peer) -> Vec<Lease> {
        let lost = self.receives.extract_if(|_, receive| receive.from == peer);
        lost.flat_map(|(_, receive)| receive.open).filter_map(|(_, _, lease)| lease).collect()
    }

    /// Whether no receive is open.
    pub fn is_empty(&self) -> bool {
        self.receives.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::OwnedBuf;
    use crate::datatype::Segment;
    use crate::wire::Granted;

    #[test]
    fn windows_and_the_rest_make_up_the_message_in_any_order() {
        for (len, arrived, part) in [(1000, 100, 64), (1000, 0, 4096), (65, 64, 64), (70_000, 300, 512)] {
            let buffer = OwnedBuf::new(len as usize);
            let mut segment = Segment::contiguous(buffer.user_buf(), len);
            segment.seek(arrived);
            let receiver = RequestId { slot: 1, generation: 1 };
            let (from, offer) = (Peer(3), Offer::Pipeline);
            let mut windows = Windows::new(part);
            let opened = OpenReceive { from, offer, receiver, segment, len, arrived };
            let until = windows.take(&opened).unwrap();
            assert!(windows.next_window().is_none(), "nothing has been granted");
            windows.granted(&Emit::ok_to_send(receiver, receiver, Granted::Windows { until }));
            assert!((arrived..=len).contains(&until));
            let mut covered: Vec<bool> = (0..len).map(|at| at < arrived || at >= until).collect();
            let mut open = Vec::new();
            loop {
                while let Some(next) = windows.next_window() {
                    assert!(next.len <= part as u64 && open.len() < DEPTH);
                    assert_eq!(next.memory.address(), buffer.user_buf().address() + next.offset as usize);
                    windows.opened(&next, None);
                    open.push(Part { receiver, offset: next.offset, len: next.len, memory: None });
                }
                let Some(part) = (!open.is_empty()).then(|| open.swap_remove(open.len() / 2)) else { break };
                assert_eq!(windows.filled(Peer(4), &part), None, "not from there");
                assert_eq!(windows.filled(from, &part), Some(None));
                assert_eq!(windows.filled(from, &part), None, "only once");
                for at in part.offset..part.offset + part.len {
                    assert!(!std::mem::replace(&mut covered[at as usize], true));
                }
            }
            assert!(covered.iter().all(|covered| *covered));
            assert_eq!(windows.close(receiver).count(), 0);
            assert!(windows.is_empty());
        }
    }

    #[test]
    fn only_a_pipeline_into_one_piece_comes_through_windows() {
        let buffer = OwnedBuf::new(100);
        let receiver = RequestId { slot: 1, generation: 1 };
        let mut windows = Windows::new(64);
        let mut take = |offer, room, len, arrived| {
            let mut segment = Segment::contiguous(buffer.user_buf(), room);
            segment.seek(arrived);
            windows.take(&OpenReceive { from: Peer(0), offer, receiver, segment, len, arrived })
        };
        assert_eq!(take(Offer::Write, 100, 100, 0), None);
        assert_eq!(take(Offer::Pipeline, 90, 100, 0), None);
        assert_eq!(take(Offer::Pipeline, 100, 100, 100), None);
        assert!(take(Offer::Pipeline, 100, 100, 50).is_some());
    }
}
