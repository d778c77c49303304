//! Receives that are open for fragments: where the data packets of a put go.
//!
//! Each method has its own; the engine never sees these packets. What must stay true: a fragment outside its message,
//! for a receive that is not open, or from another process than the receive's sender, changes nothing and is counted; a
//! receive that is shared with other links never ends here, whoever shares it hears of each fragment.

use posthaste_os::mem::Source;

use crate::buffer::UserBuf;
use crate::datatype::Segment;
use crate::ids::{IdMap, Peer, RequestId};
use crate::method::{Event, OpenReceive};
use crate::trace::{Counter, Counts};

#[derive(Debug)]
struct Open {
    from: Peer,
    segment: Segment,
    len: u64,
    arrived: u64,
    /// Fragments of it come over other links as well.
    shared: bool,
}

/// Open receives by their ids.
#[derive(Debug, Default)]
pub struct Reassembly {
    open: IdMap<RequestId, Open>,
}

impl Reassembly {
    /// Opens a receive for the rest of a message, of which the segment takes as many bytes as fit.
    pub fn open(&mut self, opened: OpenReceive) {
        let OpenReceive { from, receiver, segment, len, arrived, .. } = opened;
        self.open.insert(receiver, Open { from, segment, len, arrived, shared: false });
    }

    /// The same for a message whose fragments come over other links as well: it stays open until it is closed.
    pub fn open_shared(&mut self, opened: OpenReceive) {
        let OpenReceive { from, receiver, segment, len, arrived, .. } = opened;
        self.open.insert(receiver, Open { from, segment, len, arrived, shared: true });
    }

    /// Whether that is so for this receive.
    pub fn is_shared(&self, receiver: RequestId) -> bool {
        self.open.get(&receiver).is_some_and(|open| open.shared)
    }

    /// Whether no receive is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Nothing more comes from this process: the receives that were open for it.
    pub fn lose(&mut self, peer: Peer) -> Vec<RequestId> {
        self.open.extract_if(|_, open| open.from == peer).map(|(receiver, _)| receiver).collect()
    }

    /// Closes a receive whose message comes another way, as its sender says; where it goes, and its length.
    pub fn close(&mut self, from: Peer, receiver: RequestId) -> Option<(Segment, u64)> {
        self.open.get(&receiver).filter(|open| open.from == from)?;
        self.open.remove(&receiver).map(|open| (open.segment, open.len))
    }

    /// A fragment has come. Returns true when it was the last of its message.
    pub fn arrived(
        &mut self,
        from: Peer,
        receiver: RequestId,
        offset: u64,
        data: Source<'_>,
        counts: &mut Counts,
    ) -> bool {
        let n = data.len() as u64;
        if !self.expects(from, receiver, offset, n, counts) {
            return false;
        }
        self.unpack(receiver, offset, data);
        self.placed(receiver, n)
    }

    /// The same, and what is to be reported of it.
    pub fn fragment(
        &mut self,
        from: Peer,
        receiver: RequestId,
        offset: u64,
        data: Source<'_>,
        counts: &mut Counts,
    ) -> Option<Event<'static>> {
        let n = data.len() as u64;
        if !self.expects(from, receiver, offset, n, counts) {
            return None;
        }
        self.unpack(receiver, offset, data);
        if self.placed(receiver, n) {
            return Some(Event::Received(receiver));
        }
        self.is_shared(receiver).then_some(Event::Placed(receiver, offset, offset + n))
    }

    fn unpack(&mut self, receiver: RequestId, offset: u64, data: Source<'_>) {
        let Some(open) = self.open.get_mut(&receiver) else { return };
        if offset < open.segment.len() {
            if open.segment.position() != offset {
                open.segment.seek(offset);
            }
            open.segment.unpack(data);
        }
    }

    /// Whether a fragment of `n` bytes may come from there. What may not is counted.
    pub fn expects(&self, from: Peer, receiver: RequestId, offset: u64, n: u64, counts: &mut Counts) -> bool {
        let Some(open) = self.open.get(&receiver).filter(|open| open.from == from) else {
            counts.add(Counter::StalePackets, 1);
            return false;
        };
        let fits = offset.checked_add(n).is_some_and(|end| end <= open.len)
            && (open.shared || open.arrived + n <= open.len);
        if !fits {
            counts.add(Counter::MalformedPackets, 1);
        }
        fits
    }

    /// Where the bytes from `offset` on go, if all the rest of the message goes to one place: whoever has them may put
    /// them there, and then calls [`Reassembly::placed`].
    pub(crate) fn place(&mut self, receiver: RequestId, offset: u64) -> Option<(UserBuf, u64)> {
        let open = self.open.get_mut(&receiver)?;
        open.segment.seek(offset);
        open.segment.contiguous_rest().filter(|(_, room)| *room > 0)
    }

    /// So many bytes have been put in their place. Returns true when they were the last of their message.
    pub fn placed(&mut self, receiver: RequestId, n: u64) -> bool {
        let Some(open) = self.open.get_mut(&receiver).filter(|open| !open.shared) else { return false };
        open.arrived += n;
        let whole = open.arrived == open.len;
        if whole {
            self.open.remove(&receiver);
        }
        whole
    }
}
