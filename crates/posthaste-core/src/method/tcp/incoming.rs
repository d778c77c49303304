//! What arrives over one connection: one buffered read for heads and short packets, long data straight into its place.
//!
//! What must stay true: every length is checked before it is used; where a long eager message begins, nothing more is
//! looked at until the engine has said where it goes; where bytes of a one-sided operation go is asked each time that some are here,
//! and not remembered; of a fragment that nobody expects every byte is dropped; while
//! the rest of a long fragment is read into its place, little more than the next head is read behind it, so that hardly
//! anything is copied twice.

use std::io;

use posthaste_os::mem::{Sink, Source};
use posthaste_os::socket::{self, Stream};

use crate::datatype::Segment;
use crate::ids::{Peer, RequestId};
use crate::method::reassembly::Reassembly;
use crate::method::tcp::outgoing::{
    BYE, FAR, OFFER, OWN, PACKET, PAD, PART, PREFIX, RESUME, SHARED, THROTTLE,
};
use crate::method::tcp::pair::{OFFERED, Said};
use crate::method::{Event, Next, OpenReceive};
use crate::trace::{Counter, Counts};
use crate::wire::{self, DATA_FRONT, Envelope, HEADER, Kind, LONG_FRONT, Long, OneSidedData, Packet};

/// Bytes of the buffer: several of the longest packets.
const BUFFER: usize = 64 << 10;
/// Bytes read behind the rest of a long fragment.
const BEHIND: usize = 2 << 10;
/// Longest payload that is believed.
pub(super) const MOST: usize = 16 << 20;

/// What arrives over one connection.
#[derive(Debug)]
pub(super) struct Input {
    buffer: Box<[u8]>,
    /// Bytes that have not been looked at.
    start: usize,
    end: usize,
    stage: Stage,
    /// How much to read at once: little where a long message is likely to begin, which is better not read through here.
    appetite: usize,
    /// The long eager message that began last, and what has been stored of it.
    arrival: Option<Arrival>,
    /// What the last bytes that were read into their place have completed.
    complete: Option<Complete>,
    /// What of a one-sided operation was read into its place.
    placed: Option<(OneSidedData, u64)>,
    /// The peer has said that nothing more comes.
    pub(super) bye: bool,
    /// The peer has parted from this process.
    pub(super) has_parted: bool,
    /// What the peer has said of a segment.
    pub(super) said: Option<Said>,
    /// Calls of the system so far.
    #[cfg(test)]
    pub(super) reads: usize,
    pub(super) reassembly: Reassembly,
}

/// A long eager message.
#[derive(Debug)]
struct Arrival {
    envelope: Envelope,
    sender: Option<RequestId>,
    /// Its data, of which the first `filled` bytes are here; none while a receive takes them.
    data: Vec<u8>,
    filled: usize,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// A record begins.
    Records,
    /// The data of a fragment, at this offset of its message; the fragment began at `begin`.
    Data { receiver: RequestId, begin: u64, offset: u64, left: u64 },
    /// The rest of a packet that nobody wants.
    Drop(u64),
    /// The data of a one-sided operation, of which so many bytes are left.
    OneSided(OneSidedData, u64),
    /// The data of a message that was just reported to the engine; it may open a receive for it.
    Asking,
    /// The data of a message for which it has not.
    Storing,
}

/// What is reported once it is in its place.
#[derive(Clone, Copy, Debug)]
enum Complete {
    /// A message.
    Message(RequestId),
    /// A fragment, from here to there, of a message that comes over several links.
    Fragment(RequestId, u64, u64),
}

impl Complete {
    fn event(self) -> Event<'static> {
        match self {
            Self::Message(receiver) => Event::Received(receiver),
            Self::Fragment(receiver, from, to) => Event::Placed(receiver, from, to),
        }
    }
}

/// What stands in front of the buffer.
enum Front {
    /// Less than a record.
    Part,
    /// A word between the methods.
    Own(u32),
    /// What the peer says of a segment.
    Said(Said),
    /// The head of a fragment.
    Fragment { receiver: RequestId, offset: u64, len: u64 },
    /// What a packet that is longer than a record says in front of its data, so many bytes before so many.
    Long(Long, usize, u64),
    /// A packet whose payload is the next so many bytes behind the prefix.
    Packet([u8; HEADER], usize),
    /// Nothing that could be read.
    Garbage,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// Nothing has come.
    Nothing,
    /// Something, and perhaps there is more.
    Full,
    /// All that has come so far.
    Some,
    /// The peer has closed the connection.
    End,
}

/// The stream of bytes makes no sense, so nothing behind it does.
#[derive(Debug)]
pub(super) struct Garbage;

impl Default for Input {
    fn default() -> Self {
        Self {
            buffer: Box::default(),
            start: 0,
            end: 0,
            stage: Stage::Records,
            appetite: BUFFER,
            arrival: None,
            complete: None,
            placed: None,
            bye: false,
            has_parted: false,
            said: None,
            #[cfg(test)]
            reads: 0,
            reassembly: Reassembly::default(),
        }
    }
}

impl Input {
    /// Reads what has come, once. `into`: where what [comes next](Self::arriving) of a one-sided operation goes, if that may be told.
    ///
    /// # Errors
    /// What became of the connection.
    pub(super) fn read(&mut self, stream: &Stream, into: Option<Segment>) -> io::Result<Read> {
        #[cfg(test)]
        {
            self.reads += 1;
        }
        if self.buffer.is_empty() {
            self.buffer = vec![0; BUFFER].into();
        }
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.buffer.len() - self.end < PREFIX + PACKET {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if let (Stage::Storing, Some(Arrival { data, filled, .. })) = (self.stage, &mut self.arrival)
            && self.end == 0
        {
            let wanted = data.len() - *filled;
            let read = stream.read_one(&mut Sink::from(&mut data[*filled..]))?;
            *filled += read.unwrap_or(0);
            return Ok(outcome(read, wanted));
        }
        if let Stage::Data { receiver, begin, offset, left } = self.stage
            && self.end == 0
            && let Some((place, room)) = self.reassembly.place(receiver, offset)
        {
            let direct = left.min(room) as usize;
            let mut pieces = [place.sink(direct), Sink::from(&mut self.buffer[..BEHIND])];
            if let Some(read) = in_place(stream.read(&mut pieces))? {
                if let Some(n) = read {
                    let placed = n.min(direct);
                    self.end = n - placed;
                    let is_whole = self.reassembly.placed(receiver, placed as u64);
                    self.complete = self.advance(receiver, begin, offset, left, placed as u64, is_whole);
                }
                return Ok(outcome(read, direct + BEHIND));
            }
        }
        if let Stage::OneSided(data, left) = self.stage
            && self.end == 0
            && let Some((place, room)) = into.as_ref().and_then(Segment::contiguous_rest)
        {
            let direct = left.min(room) as usize;
            let mut pieces = [place.sink(direct), Sink::from(&mut self.buffer[..BEHIND])];
            if let Some(read) = in_place(stream.read(&mut pieces))? {
                let placed = read.unwrap_or(0).min(direct);
                self.end = read.unwrap_or(0) - placed;
                self.placed = (placed > 0).then_some((data, placed as u64));
                self.go_on(data, left, placed as u64);
                return Ok(outcome(read, direct + BEHIND));
            }
        }
        let most = self.buffer.len().min(self.end + self.appetite);
        let mut free = Sink::from(&mut self.buffer[self.end..most]);
        let wanted = free.len();
        if wanted == 0 {
            return Ok(Read::Full); // what is here has to be looked at first
        }
        let read = stream.read_one(&mut free)?;
        self.end += read.unwrap_or(0);
        if read == Some(wanted) {
            self.appetite = self.buffer.len().min(2 * self.appetite);
        }
        Ok(outcome(read, wanted))
    }

    /// Whether a whole record, or the end of a message, waits to be looked at.
    pub(super) fn has_something(&self) -> bool {
        self.complete.is_some()
            || self.placed.is_some()
            || match self.stage {
                Stage::Records => !matches!(self.front(), Front::Part),
                Stage::Data { .. } | Stage::OneSided(..) | Stage::Drop(_) => self.start < self.end,
                Stage::Asking => true,
                Stage::Storing => {
                    self.start < self.end || self.arrival.as_ref().is_some_and(Arrival::is_whole)
                }
            }
    }

    /// What comes next of a one-sided operation: whoever has the memory says where it goes.
    pub(super) fn arriving(&self) -> Option<(OneSidedData, u64)> {
        match self.stage {
            Stage::OneSided(data, left) if self.start == self.end => Some((data, left)),
            _ => None,
        }
    }

    /// So many of the bytes that are left of a one-sided operation are done.
    fn go_on(&mut self, mut data: OneSidedData, left: u64, n: u64) {
        if let OneSidedData::Put(access) = &mut data {
            access.go_on(n, n);
        }
        self.stage = if n == left { Stage::Records } else { Stage::OneSided(data, left - n) };
    }

    /// Whether a message has been reported to the engine, which has not had the time to open a receive for it.
    pub(super) fn is_asking(&self) -> bool {
        matches!(self.stage, Stage::Asking)
    }

    /// The engine has had the time to open a receive: if it has not, the message is stored.
    pub(super) fn store_what_nobody_took(&mut self) {
        if let (Stage::Asking, Some(arrival)) = (self.stage, &mut self.arrival) {
            arrival.data = vec![0; arrival.envelope.len as usize];
            self.stage = Stage::Storing;
        }
    }

    /// A receive for the message that begins to arrive.
    pub(super) fn open_arriving(&mut self, opened: OpenReceive) {
        debug_assert!(self.is_asking(), "nothing was asked, or it was answered too late");
        if let Stage::Asking = self.stage {
            self.arrival = None;
            self.stage = Stage::Data { receiver: opened.receiver, begin: 0, offset: 0, left: opened.len };
            self.reassembly.open(opened);
        }
    }

    #[inline]
    fn front(&self) -> Front {
        let bytes = &self.buffer[self.start..self.end];
        let Some((word, rest)) = bytes.split_first_chunk::<4>() else { return Front::Part };
        let word = u32::from_le_bytes(*word);
        if word & OWN != 0 {
            return match word {
                THROTTLE | RESUME | BYE | PART | PAD => Front::Own(word),
                OFFER => rest.first_chunk().map_or(Front::Part, |offer| Front::Said(Said::Offer(*offer))),
                SHARED => Front::Said(Said::Shared),
                FAR => Front::Said(Said::Far),
                _ => Front::Garbage,
            };
        }
        let len = word as usize;
        if len > MOST {
            return Front::Garbage;
        }
        let Some((header, payload)) = rest.split_first_chunk::<HEADER>() else { return Front::Part };
        // A fragment need not be here whole.
        if header[..2] == [Kind::Data as u8, 0] && len >= DATA_FRONT {
            let Some(front) = payload.get(..DATA_FRONT) else { return Front::Part };
            if let Ok(Packet::Data { receiver, offset, .. }) = Packet::parse(header, front.into()) {
                return Front::Fragment { receiver, offset, len: (len - DATA_FRONT) as u64 };
            }
        }
        if len > PACKET {
            let Some(front) = payload.get(..LONG_FRONT) else { return Front::Part };
            let Ok(Some((long, begun))) = wire::parse_long(header, front.into()) else {
                return Front::Garbage;
            };
            let front = LONG_FRONT - begun.len();
            let data = (len - front) as u64;
            return match long {
                Long::Message(envelope, _) if envelope.len != data => Front::Garbage,
                _ => Front::Long(long, front, data),
            };
        }
        if payload.len() < len { Front::Part } else { Front::Packet(*header, len) }
    }

    /// Looks at everything that has been read. `throttled`: the peer throttles our messages. Returns whether there was
    /// anything.
    ///
    /// # Errors
    /// When the bytes make no sense.
    pub(super) fn process(
        &mut self,
        peer: Peer,
        throttled: &mut bool,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> Result<bool, Garbage> {
        let mut busy = false;
        loop {
            if let Some(complete) = self.complete.take() {
                busy = true;
                on(complete.event(), counts);
            }
            if let Some((data, n)) = self.placed.take() {
                busy = true;
                on(Event::DataPlaced(peer, data, n), counts);
            }
            let here = (self.end - self.start) as u64;
            match self.stage {
                Stage::Data { receiver, begin, offset, left } => {
                    let n = left.min(here);
                    if n == 0 {
                        return Ok(busy);
                    }
                    let data = Source::from(&self.buffer[self.start..self.start + n as usize]);
                    let is_whole = self.reassembly.arrived(peer, receiver, offset, data, counts);
                    self.start += n as usize;
                    self.complete = self.advance(receiver, begin, offset, left, n, is_whole);
                }
                Stage::Drop(left) => {
                    let n = left.min(here);
                    if n == 0 {
                        return Ok(busy);
                    }
                    self.start += n as usize;
                    self.stage = if n == left { Stage::Records } else { Stage::Drop(left - n) };
                }
                Stage::OneSided(data, left) => {
                    let n = left.min(here);
                    if n == 0 {
                        return Ok(busy);
                    }
                    let mut into = None;
                    on(Event::DataArriving(peer, data, left, &mut into), counts);
                    let is_unwanted = into.is_none();
                    if let Some(mut into) = into {
                        into.unpack(Source::from(&self.buffer[self.start..self.start + n as usize]));
                        on(Event::DataPlaced(peer, data, n), counts);
                    }
                    self.start += n as usize;
                    self.go_on(data, left, n);
                    if is_unwanted && n < left {
                        self.stage = Stage::Drop(left - n);
                    }
                }
                Stage::Storing => {
                    let Some(arrival) = &mut self.arrival else { return Ok(busy) };
                    self.start += arrival.store(&self.buffer[self.start..self.end]);
                    if !arrival.is_whole() {
                        return Ok(busy);
                    }
                    self.stage = Stage::Records;
                    if let Some(Arrival { envelope, sender, data, .. }) = self.arrival.take() {
                        on(Event::Arrived(peer, envelope, sender, data), counts);
                    }
                }
                Stage::Asking => return Ok(true),
                Stage::Records => match self.front() {
                    Front::Part => return Ok(busy),
                    Front::Garbage => return Err(Garbage),
                    Front::Own(word) => {
                        *throttled = word == THROTTLE || word == PAD && *throttled;
                        self.bye |= word == BYE;
                        self.has_parted |= word == PART;
                        self.start += 4;
                    }
                    Front::Said(said) => {
                        // One word settles it, or is answered first.
                        if self.said.replace(said).is_some() {
                            return Err(Garbage);
                        }
                        self.start += if let Said::Offer(_) = said { 4 + OFFERED } else { 4 };
                    }
                    Front::Fragment { receiver, offset, len } => {
                        self.start += PREFIX + DATA_FRONT;
                        self.appetite = BEHIND;
                        let expected = self.reassembly.expects(peer, receiver, offset, len, counts);
                        self.stage = match len {
                            0 => Stage::Records,
                            left if expected => Stage::Data { receiver, begin: offset, offset, left },
                            left => Stage::Drop(left),
                        };
                    }
                    Front::Long(Long::OneSided(data), front, len) => {
                        self.start += PREFIX + front;
                        self.appetite = BEHIND;
                        self.stage = Stage::OneSided(data, len);
                    }
                    Front::Long(Long::Message(envelope, sender), front, _) => {
                        self.start += PREFIX + front;
                        self.appetite = BEHIND;
                        self.arrival = Some(Arrival { envelope, sender, data: Vec::new(), filled: 0 });
                        self.stage = Stage::Asking;
                        on(Event::Arriving(peer, envelope, sender), counts);
                    }
                    Front::Packet(header, len) => {
                        let payload = &self.buffer[self.start + PREFIX..][..len];
                        match Packet::parse(&header, payload.into()) {
                            Ok(packet) => on(Event::Packet(peer, packet), counts),
                            Err(_) => counts.add(Counter::MalformedPackets, 1),
                        }
                        self.start += PREFIX + len;
                    }
                },
            }
            busy = true;
        }
    }

    /// Goes on behind `n` of the `left` bytes of a fragment, with which its message `is_whole` or not.
    fn advance(
        &mut self,
        receiver: RequestId,
        begin: u64,
        offset: u64,
        left: u64,
        n: u64,
        is_whole: bool,
    ) -> Option<Complete> {
        let offset = offset + n;
        if n < left {
            self.stage = Stage::Data { receiver, begin, offset, left: left - n };
            return None;
        }
        self.stage = Stage::Records;
        let is_shared = || self.reassembly.is_shared(receiver);
        match is_whole {
            true => Some(Complete::Message(receiver)),
            false => is_shared().then_some(Complete::Fragment(receiver, begin, offset)),
        }
    }

    /// Shows the next packet to `take`, if it is here.
    #[inline]
    pub(super) fn take_next(&mut self, take: impl FnOnce(&Packet<'_>) -> bool) -> Next {
        if self.complete.is_some() || self.placed.is_some() || !matches!(self.stage, Stage::Records) {
            return Next::Left;
        }
        let (header, len) = match self.front() {
            Front::Part => return Next::Nothing,
            Front::Packet(header, len) => (header, len),
            Front::Own(_) | Front::Said(_) | Front::Fragment { .. } | Front::Long(..) | Front::Garbage => {
                return Next::Left;
            }
        };
        match Packet::parse(&header, self.buffer[self.start + PREFIX..][..len].into()) {
            Ok(packet) if take(&packet) => {
                self.start += PREFIX + len;
                Next::Taken
            }
            _ => Next::Left,
        }
    }
}

impl Arrival {
    /// Stores what is here of it; how much that was.
    fn store(&mut self, here: &[u8]) -> usize {
        let n = here.len().min(self.data.len() - self.filled);
        self.data[self.filled..][..n].copy_from_slice(&here[..n]);
        self.filled += n;
        n
    }

    fn is_whole(&self) -> bool {
        self.filled == self.data.len()
    }
}

/// What was read into its place; nothing, if the program has no such memory: that is found where its bytes are copied there.
fn in_place(read: io::Result<Option<usize>>) -> io::Result<Option<Option<usize>>> {
    match read {
        Err(error) if socket::is_of_memory(&error) => Ok(None),
        read => read.map(Some),
    }
}

fn outcome(read: Option<usize>, wanted: usize) -> Read {
    match read {
        None => Read::Nothing,
        Some(0) => Read::End,
        Some(n) if n == wanted => Read::Full,
        Some(_) => Read::Some,
    }
}
