//! Tests of the wire format: every kind goes out and comes back, and any bytes are read or refused.

use super::*;
use proptest::prelude::*;

fn envelope() -> Envelope {
    let (context, types) = (ContextId(7 << 40), Types::UNKNOWN);
    Envelope { context, source: 3, tag: -5, len: 4, mode: Mode::Standard, types }
}

fn at(address: u64, key: u64) -> RemoteMemory {
    RemoteMemory::Address { address, key }
}

fn bytes(emit: &Emit, data: &[u8]) -> Vec<u8> {
    [emit.front(), data].concat()
}

/// A context of several jobs travels with the job of its founder, whatever the packet says besides; header and job take
/// 32 bytes, so a short message of it fits into a cache line too.
#[test]
fn a_context_of_several_jobs_names_its_job() {
    let job = JobId(0xfeed_0000_0000_0007);
    let context = ContextId::allocated(3, 1, 16).and_then(|context| context.allocated_in(job)).unwrap();
    assert!(context.spans_jobs() && context.vci() == 1 && context.job() == Some(job));
    assert_eq!(ContextId::from_words(context.words()), Some(context));
    let (id, data) = (RequestId { slot: 9, generation: 4 }, [1, 2, 3, 4]);
    let typed = Types { hash: 5, first: 6, uniform: true, canonical: false };
    for types in [Types::UNKNOWN, typed] {
        let envelope = Envelope { context, types, ..envelope() };
        for emit in [Emit::eager(&envelope), Emit::eager_synchronous(&envelope, id)] {
            let payload = bytes(&emit, &data);
            let Ok(Packet::Eager { envelope: read, data, .. }) =
                Packet::parse(&emit.header, payload[..].into())
            else {
                panic!("not read")
            };
            assert_eq!((read.context, read.types, data.to_vec()), (context, types, vec![1, 2, 3, 4]));
            assert_eq!(emit.front().len(), read.front());
            assert!(Packet::parse(&emit.header, payload[..7].into()).is_err());
        }
    }
    let envelope = Envelope { context, ..envelope() };
    assert!(HEADER + envelope.front() <= 32);
    let seek = Seek { serial: 1, first: 2, what: Sought::Next(context, 3, 4) };
    let emit = Emit::seek(&seek);
    assert!(
        matches!(Packet::parse(&emit.header, emit.front().into()), Ok(Packet::Seek(read)) if read == seek)
    );
}

/// The short way to write and read a message makes the same bytes as the general one, and takes no other message.
#[test]
fn a_plain_message_is_an_eager_one() {
    let job = |id| ContextId(64).allocated_in(JobId(id)).unwrap();
    let contexts = [ContextId(64), job(0xfeed_0000_0000_0008), job(0xfeed_0000_0000_0009)];
    let envelopes = contexts.map(|context| Envelope { context, ..envelope() });
    let packets = envelopes.map(|envelope| {
        let mut payload = vec![0; envelope.front() + 4];
        let spans_jobs = envelope.context.spans_jobs();
        let header = envelope.plain_header(spans_jobs);
        let mut data = envelope.plain_room(spans_jobs, payload[..].as_mut().into());
        data.copy_from(&[1, 2, 3, 4]);
        let emit = Emit::eager(&envelope);
        assert_eq!((header, &payload), (emit.header, &bytes(&emit, &[1, 2, 3, 4])));
        (header, payload)
    });
    for (at, envelope) in envelopes.iter().enumerate() {
        let take = |wanted: Envelope, (header, payload): &([u8; HEADER], Vec<u8>), room| {
            let data = wanted.plain_data(wanted.context.spans_jobs(), header, payload[..].into(), room);
            data.map(|data| data.to_vec())
        };
        for (other, packet) in packets.iter().enumerate() {
            let expected = (at == other).then(|| vec![1, 2, 3, 4]);
            assert_eq!(take(*envelope, packet, 4), expected, "{at} from {other}");
        }
        let own = &packets[at];
        assert_eq!(take(*envelope, own, 3), None, "there is no room");
        assert_eq!(take(Envelope { len: 2, ..*envelope }, own, 4), Some(vec![1, 2, 3, 4]), "a longer one");
        assert_eq!(take(Envelope { len: 5, ..*envelope }, own, 9), None, "a shorter one");
        assert_eq!(take(Envelope { tag: 1, ..*envelope }, own, 4), None, "another tag");
        let cut = (own.0, own.1[..3].to_vec());
        assert_eq!(take(*envelope, &cut, 4), None, "too short for the job, or shorter than wanted");
    }
}

/// Every kind survives the way out and in, as its text shows.
#[test]
fn round_trips() {
    let id = RequestId { slot: 9, generation: 4 };
    let other = RequestId { slot: 1, generation: 2 };
    let cursor = BufferCursor { buffer: 3, persistent: true, start: 77 };
    let key = RemoteKey::from_bytes(RemoteKey { slot: 2, generation: 7 }.to_bytes());
    let access = Access { serial: 5, key, offset: 1 << 40, scattered: None };
    let cases = [
        (Emit::eager(&envelope()), "eager (context 7696581394432, source 3, tag -5, 4 bytes)"),
        (
            Emit::eager(&Envelope { mode: Mode::Ready, ..envelope() }),
            "eager (context 7696581394432, source 3, tag -5, 4 bytes, ready)",
        ),
        (
            Emit::eager_synchronous(&envelope(), id),
            "eager (context 7696581394432, source 3, tag -5, 4 bytes, synchronous)",
        ),
        (
            Emit::request_to_send(&envelope(), id, Offer::Stream { cursor, filled: 5 }),
            "request-to-send #9.4 (context 7696581394432, source 3, tag -5, 4 bytes) offer Stream { cursor: BufferCursor { buffer: 3, persistent: true, start: 77 }, filled: 5 }",
        ),
        (
            Emit::request_to_send(&envelope(), id, Offer::Write),
            "request-to-send #9.4 (context 7696581394432, source 3, tag -5, 4 bytes) offer Write",
        ),
        (Emit::ok_to_send(id, other, Granted::Fragments), "ok-to-send #9.4 into #1.2"),
        (Emit::revoke(ContextId(8)), "revoke context 8"),
        (Emit::agreement(ContextId(8), 3, &[7; 20]), "agreement 3 in context 8, 13 of 20 words"),
        (Emit::ok_to_send(id, other, Granted::Memory(at(0x1000, 0))), "ok-to-send #9.4 into #1.2 at 0x1000"),
        (Emit::ok_to_send(id, other, Granted::Memory(at(0, 5))), "ok-to-send #9.4 into #1.2 at 0x0, key 0x5"),
        (
            Emit::ok_to_send(id, other, Granted::Windows { until: 9 }),
            "ok-to-send #9.4 into #1.2, windows up to 9",
        ),
        (
            Emit::ok_to_send(id, other, Granted::Memory(RemoteMemory::Shared { offset: 0 })),
            "ok-to-send #9.4 into #1.2 at 0x0 of its shared memory",
        ),
        (
            Emit::request_to_send(&envelope(), id, Offer::Memory(RemoteMemory::Shared { offset: 8 })),
            "request-to-send #9.4 (context 7696581394432, source 3, tag -5, 4 bytes) offer Memory(Shared { offset: 8 })",
        ),
        (
            Emit::request_to_send(&Envelope { len: 9, ..envelope() }, id, Offer::Pipeline),
            "request-to-send #9.4 (context 7696581394432, source 3, tag -5, 9 bytes) offer Pipeline, 4 bytes",
        ),
        (
            Emit::window(Part { receiver: id, offset: 8, len: 16, memory: Some(at(0x1000, 5)) }),
            "window for #9.4 at 8, 16 bytes at 0x1000, key 0x5",
        ),
        (
            Emit::window(Part { receiver: id, offset: 8, len: 16, memory: None }),
            "window for #9.4 at 8, 16 bytes in fragments",
        ),
        (Emit::filled(Part { receiver: id, offset: 8, len: 16, memory: None }), "filled #9.4 at 8, 16 bytes"),
        (Emit::written(id, WriteOutcome::Done), "written #9.4"),
        (Emit::written(id, WriteOutcome::Unreadable), "written #9.4, unreadable"),
        (Emit::written(id, WriteOutcome::Refused), "written #9.4, refused"),
        (Emit::data(id, 1 << 40), "data for #9.4 at 1099511627776, 4 bytes"),
        (
            Emit::stream(id, cursor),
            "stream for #9.4 at BufferCursor { buffer: 3, persistent: true, start: 77 }",
        ),
        (Emit::fin(id, false), "fin #9.4"),
        (Emit::fin(id, true), "fin #9.4, unreadable"),
        (Emit::sync_ack(id), "sync-ack #9.4"),
        (
            Emit::seek(&Seek { serial: 3, first: 8, what: Sought::Fitting(ContextId(7), -1, 5) }),
            "seek 3 from 8: Fitting(ContextId(7), -1, 5)",
        ),
        (Emit::seek(&Seek { serial: 3, first: 8, what: Sought::All(9) }), "seek 3 from 8: All(9)"),
        (
            Emit::seek(&Seek { serial: 3, first: 8, what: Sought::Next(ContextId(7), 1, -1) }),
            "seek 3 from 8: Next(ContextId(7), 1, -1)",
        ),
        (
            Emit::found(&Found { serial: 3, place: 1 << 40, message: Some((id, envelope())) }),
            "found 3: #9.4 (context 7696581394432, source 3, tag -5, 4 bytes) at 1099511627776",
        ),
        (Emit::found(&Found { serial: 3, place: 6, message: None }), "found 3: nothing up to 6"),
        (Emit::resume(), "resume"),
        (Emit::take_back(id), "take-back #9.4"),
        (Emit::taken_back(id, true), "taken-back #9.4: true"),
        (Emit::put(access), "put 5 at 1099511627776 of memory 2.7, 4 bytes"),
        (Emit::get(access, 1 << 33), "get 5 at 1099511627776 of memory 2.7, 8589934592 bytes"),
        (
            Emit::atomic(access, Atomically { operation: 0x21, element: 0x250, fetches: true }),
            "fetch and atomic 0x21 of 0x250 5 at 1099511627776 of memory 2.7, 4 bytes",
        ),
        (Emit::flush(6), "flush 6"),
        (Emit::lock(7, key, true), "exclusive lock 7 of memory 2.7"),
        (Emit::lock(8, key, false), "shared lock 8 of memory 2.7"),
        (Emit::unlock(key), "unlock memory 2.7"),
        (Emit::answer(6), "answer 6, 4 bytes"),
        (
            Emit::refused(Refused { access, why: Refusal::OutOfRange, len: 3, size: 10 }),
            "refused 5 at 1099511627776 of memory 2.7: OutOfRange, 3 bytes of 10",
        ),
    ];
    for (emit, text) in cases {
        let payload = bytes(&emit, b"data");
        let packet = Packet::parse(&emit.header, payload[..].into()).unwrap();
        assert_eq!(packet.to_string(), text);
    }
}

#[test]
fn types_and_form_travel_with_the_envelope() {
    let types = Types { hash: 0xdead_beef, first: 0x209, uniform: true, canonical: true };
    let sent = Envelope { types, ..envelope() };
    let id = RequestId { slot: 9, generation: 4 };
    for emit in [Emit::eager(&sent), Emit::eager_synchronous(&sent, id)] {
        let payload = bytes(&emit, b"data");
        let Packet::Eager { envelope, data, .. } = Packet::parse(&emit.header, payload[..].into()).unwrap()
        else {
            panic!("not eager")
        };
        assert_eq!(envelope.types, types);
        assert_eq!((data.to_vec(), emit.front().len()), (b"data".to_vec(), envelope.front()));
    }
    let ask = Emit::request_to_send(&sent, id, Offer::Memory(at(5, 6)));
    let packet = Packet::parse(&ask.header, ask.front().into()).unwrap();
    assert_eq!(
        packet.to_string(),
        "request-to-send #9.4 (context 7696581394432, source 3, tag -5, 4 bytes, canonical, types deadbeef from 0x209) offer Memory(Address { address: 5, key: 6 })"
    );
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(header: [u8; HEADER], payload: Vec<u8>) {
        if let Ok(packet) = Packet::parse(&header, payload[..].into()) {
            prop_assert!(!packet.to_string().is_empty());
        }
    }
}
