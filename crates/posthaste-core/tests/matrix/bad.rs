//! Packets that nobody may send, over each method: forged, stale, cut short, out of range. Each is dropped and counted
//! once, nothing is written, and honest messages go on.

use crate::pair::{Pair, Way};
use posthaste_core::buffer::Base;
use posthaste_core::config::Config;
use posthaste_core::datatype::{Segment, Types};
use posthaste_core::ids::{ANY_SOURCE, ANY_TAG, ContextId, Peer, RequestId};
use posthaste_core::method::Load;
use posthaste_core::pt2pt::send::Started;
use posthaste_core::trace::Counter;
use posthaste_core::wire::{
    Access, BufferCursor, Emit, Envelope, Granted, HEADER, Mode, Offer, Part, Refusal, Refused, RemoteKey,
    RemoteMemory, WriteOutcome,
};

/// Where a header says what the packet is, how it is to be read, and how long its message is.
const KIND: usize = 0;
const FLAGS: usize = 1;
const LEN: usize = 16;
const BUNDLED: u8 = 16;

const EAGER: u8 = 1;
const REQUEST_TO_SEND: u8 = 2;
const OK_TO_SEND: u8 = 3;
const DATA: u8 = 4;
const STREAM: u8 = 7;
const PUT: u8 = 17;
const AGREEMENT: u8 = 25;
/// The last kind that there is.
const ATOMIC_SCATTERED: u8 = 31;

/// A request that does not exist.
const NOBODY: RequestId = RequestId { slot: 77, generation: 3 };

fn envelope(len: u64) -> Envelope {
    Envelope {
        context: ContextId::WORLD,
        source: 0,
        tag: 5,
        len,
        mode: Mode::Standard,
        types: Types::UNKNOWN,
    }
}

/// A packet with some bytes of its header changed.
fn changed(mut emit: Emit, changes: &[(usize, u8)]) -> Emit {
    for (at, byte) in changes {
        emit.header[*at] = *byte;
    }
    emit
}

/// Packets for requests that are not there: `old` was once.
fn stale(old: RequestId) -> Vec<Emit> {
    let cursor = BufferCursor { buffer: 0, persistent: true, start: 0 };
    let mut all = Vec::new();
    for id in [NOBODY, old, RequestId::NONE, RequestId { slot: u32::MAX - 1, generation: u32::MAX }] {
        all.extend([
            Emit::ok_to_send(id, id, Granted::Fragments),
            Emit::ok_to_send(id, id, Granted::Memory(RemoteMemory::Address { address: 4096, key: 0 })),
            Emit::ok_to_send(id, id, Granted::Windows { until: 4096 }),
            Emit::ok_to_send(id, id, Granted::Memory(RemoteMemory::Shared { offset: 4096 })),
            Emit::window(Part { receiver: id, offset: 0, len: 8, memory: None }),
            Emit::filled(Part { receiver: id, offset: 0, len: 8, memory: None }),
            Emit::fin(id, false),
            Emit::fin(id, true),
            Emit::sync_ack(id),
            Emit::data(id, 0),
            Emit::data(id, u64::MAX),
            Emit::stream(id, cursor),
            Emit::stream(id, BufferCursor { buffer: u32::MAX, persistent: false, start: u64::MAX }),
            Emit::written(id, WriteOutcome::Done),
            Emit::written(id, WriteOutcome::Unreadable),
            Emit::written(id, WriteOutcome::Refused),
        ]);
    }
    // Answers to questions that nobody asked.
    all.extend([0, 1, u64::MAX].map(Emit::answer));
    let key = RemoteKey { slot: 0, generation: 1 };
    let (why, access) = (Refusal::NotExposed, Access { serial: u64::MAX, key, offset: 0, scattered: None });
    all.push(Emit::refused(Refused { access, why, len: 8, size: 0 }));
    // What only comes over one of several links.
    all.push(changed(Emit::request_to_send(&envelope(10), NOBODY, Offer::Nothing), &[(KIND, BUNDLED)]));
    all
}

/// Packets that cannot be read.
fn malformed() -> Vec<Emit> {
    let ask = Emit::request_to_send(&envelope(10), NOBODY, Offer::Nothing);
    let mut all = vec![
        changed(ask, &[(KIND, 0)]),
        changed(ask, &[(KIND, ATOMIC_SCATTERED + 1)]),
        changed(ask, &[(KIND, 255)]),
        // Messages that are longer or shorter than they say, or so long that sums overflow.
        Emit::eager(&envelope(1)),
        changed(Emit::sync_ack(NOBODY), &[(KIND, EAGER)]),
        changed(Emit::eager(&envelope(0)), &[(LEN + 7, 0xff)]),
        // A synchronous message without the id of its sender, and types announced that are not there.
        changed(Emit::eager(&envelope(0)), &[(FLAGS, 1)]),
        changed(Emit::eager(&envelope(0)), &[(FLAGS, 2)]),
        changed(Emit::sync_ack(NOBODY), &[(FLAGS, 2)]),
    ];
    // Everything that has a front, with less of it.
    for kind in (REQUEST_TO_SEND..=STREAM + 1).chain(PUT..=AGREEMENT) {
        all.push(changed(Emit::eager(&envelope(0)), &[(KIND, kind)]));
    }
    for kind in [REQUEST_TO_SEND, OK_TO_SEND, DATA, STREAM] {
        all.push(changed(Emit::sync_ack(NOBODY), &[(KIND, kind)]));
    }
    assert!(all.iter().all(|emit| emit.header.len() == HEADER));
    all
}

/// Lets the first VCI send the packet with `data` behind it, and waits until the last one has read it.
fn throw(pair: &mut Pair, emit: &Emit, data: &mut [u8]) {
    let to = Peer(pair.receiver() as u32);
    loop {
        if let Some(claim) = pair.vcis[0].methods.claim(to, emit.front().len() + data.len(), Load::Control) {
            let mut segment = bytes(data);
            claim.write(emit, Some(&mut segment));
            break;
        }
        pair.step();
    }
    for _ in 0..200 {
        pair.step();
    }
}

/// Memory that its owner keeps until what is done with it is over.
fn bytes(memory: &mut [u8]) -> Segment {
    // SAFETY: as long as the segment; each caller waits for the end.
    Segment::bytes_at(unsafe { Base::new(memory.as_mut_ptr()) }, memory.len() as u64)
}

fn counted(pair: &Pair) -> (u64, u64) {
    (pair.counted(Counter::StalePackets), pair.counted(Counter::MalformedPackets))
}

/// A message of `len` bytes goes there and nothing is left behind; returns the request that received it.
fn honest(pair: &mut Pair, len: usize) -> RequestId {
    let (mut out, mut into) = (vec![0x3Cu8; len], vec![0u8; len]);
    let last = pair.receiver();
    let segment = bytes(&mut into);
    let id = pair.recv(last, ANY_SOURCE, ANY_TAG, segment);
    let started = pair.send(0, 9, bytes(&mut out), false);
    let status = pair.finish(last, id);
    assert_eq!((status.source, status.tag, status.bytes), (0, 9, len as u64));
    if let Started::Request(id) = started {
        pair.finish(0, id);
    }
    assert!(into == out, "the message is not whole");
    assert!(pair.vcis.iter().all(|vci| vci.engine.requests.is_empty()), "a request is left over");
    id
}

/// All of it over one method.
pub(crate) fn bad_packets(way: Way) {
    let config = Config { eager_limit: 100, tcp_eager_limit: 100, ..Config::default() };
    let mut pair = Pair::new(1, way, &config);
    let last = pair.receiver();
    let old = honest(&mut pair, 1000);
    for (packets, which) in [(stale(old), (1, 0)), (malformed(), (0, 1))] {
        for emit in packets {
            let before = counted(&pair);
            throw(&mut pair, &emit, &mut []);
            let after = counted(&pair);
            let found = (after.0 - before.0, after.1 - before.1);
            assert_eq!(found, which, "stale and malformed packets counted for {emit:?} over {way:?}");
            assert!(pair.vcis.iter().all(|vci| vci.engine.requests.is_empty()), "{emit:?} left a request");
            assert_eq!(pair.vcis[last].engine.matching.depths(), (0, 0), "{emit:?} left an entry");
        }
        honest(&mut pair, 50);
        honest(&mut pair, 5000);
    }
    out_of_range(&mut pair);
}

/// A receive that is open for fragments takes none that reach beyond its message, and none after the last.
fn out_of_range(pair: &mut Pair) {
    let last = pair.receiver();
    let mut room = vec![0xA5u8; 300];
    // Room for 100 bytes in the middle, for a message of 120.
    let segment = bytes(&mut room[100..200]);
    let id = pair.recv(last, 0, 5, segment);
    throw(pair, &Emit::request_to_send(&envelope(120), NOBODY, Offer::Nothing), &mut []);
    let (stale, malformed) = counted(pair);
    for (offset, len) in [(119, 2), (120, 1), (u64::MAX, 1), (u64::MAX - 1, 4), (1 << 63, 30), (0, 121)] {
        throw(pair, &Emit::data(id, offset), &mut vec![7; len]);
    }
    assert_eq!(counted(pair), (stale, malformed + 6), "fragments beyond the message are malformed");
    assert!(pair.take(last, id).is_none(), "the receive has ended without its message");
    for offset in [60, 0] {
        throw(pair, &Emit::data(id, offset), &mut [8; 60]);
    }
    let status = pair.finish(last, id);
    assert_eq!(status.bytes, 100);
    assert!(status.error.is_some(), "the message was cut");
    throw(pair, &Emit::data(id, 0), &mut [9; 60]);
    assert_eq!(counted(pair), (stale + 1, malformed + 6), "a fragment after the last is stale");
    assert!(room[..100].iter().chain(&room[200..]).all(|byte| *byte == 0xA5), "written beside the buffer");
    assert!(room[100..200].iter().all(|byte| *byte == 8), "the message is not whole");
    honest(pair, 5000);
}
