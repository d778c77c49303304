//! Receives that are open for fragments: where the data packets of a put go.
//!
//! Owned by each method; the engine never sees these packets. What must stay true: a fragment outside its
//! message, for a receive that is not open, or from another process than the receive's sender, changes nothing and is
//! counted.

use std::collections::HashMap;

use posthaste_os::mem::Source;

use crate::datatype::Segment;
use crate::ids::{Peer, RequestId};
use crate::trace::{Counter, Counts};

#[derive(Debug)]
struct Open {
    from: Peer,
    segment: Segment,
    len: u64,
    arrived: u64,
}

/// Open receives by their ids.
#[derive(Debug, Default)]
pub struct Landing {
    open: HashMap<RequestId, Open>,
}

impl Landing {
    /// Opens a receive for a message of `len` bytes from `from`, of which the segment takes as many as fit.
    pub fn open(&mut self, from: Peer, receiver: RequestId, segment: Segment, len: u64) {
        self.open.insert(receiver, Open { from, segment, len, arrived: 0 });
    }

    /// Whether no receive is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
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
        let Some(open) = self.open.get_mut(&receiver).filter(|open| open.from == from) else {
            counts.add(Counter::StalePackets, 1);
            return false;
        };
        let n = data.len() as u64;
        if offset.checked_add(n).is_none_or(|end| end > open.len) || open.arrived + n > open.len {
            counts.add(Counter::MalformedPackets, 1);
            return false;
        }
        if offset < open.segment.len() {
            if open.segment.position() != offset {
                open.segment.seek(offset);
            }
            open.segment.unpack(data);
        }
        open.arrived += n;
        let whole = open.arrived == open.len;
        if whole {
            self.open.remove(&receiver);
        }
        whole
    }
}
