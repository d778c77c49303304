//! Connections: who gets in, who does not, and how long reaching for a peer may take. Messages over them are tested with
//! those of the other methods.

mod abroad;
mod pair;
mod siblings;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use super::*;
use crate::buffer::OwnedBuf;
use crate::ids::ContextId;
use crate::method::Event;
use crate::trace::{Counter, Counts};
use crate::wire::{Envelope, Offer};

/// Processes with these secrets, whose business cards are on one shelf.
struct House {
    tcps: Vec<Tcp>,
    shelf: Shelf,
    counts: Vec<Counts>,
}

impl House {
    fn new(secrets: &[u8]) -> Self {
        let config = Config { tcp_interfaces: "lo".into(), tcp_connect_s: 3, ..Config::default() };
        let shelf = Shelf::default();
        let tcps = (0..).zip(secrets).map(|(me, secret)| {
            let (me, peers, secret) = (Peer(me), secrets.len(), [*secret; 32]);
            let setup =
                TcpSetup { me, peers, secret, format: Format::NATIVE, node: format!("node-{}", me.0) };
            let (tcp, card) = Tcp::new(setup, &config, Box::new(shelf.clone())).unwrap();
            shelf.put(me, &card);
            tcp
        });
        let tcps: Vec<Tcp> = tcps.collect();
        Self { counts: vec![Counts::default(); tcps.len()], tcps, shelf }
    }

    /// Everybody polls once. What happened, in words.
    fn poll(&mut self) -> Vec<String> {
        let mut heard = Vec::new();
        for (tcp, counts) in self.tcps.iter_mut().zip(&mut self.counts) {
            let (me, before) = (tcp.identity.me.0, heard.len());
            let busy = tcp.poll(counts, &mut |event, _| match event {
                Event::Packet(from, packet) => heard.push(format!("{me} from {}: {packet}", from.0)),
                Event::PeerDown(peer, why) => heard.push(format!("{me} lost {}: {why}", peer.0)),
                other => heard.push(format!("{me}: {other:?}")),
            });
            assert!(busy || heard.len() == before, "who waits would sleep over {heard:?}");
        }
        heard
    }

    /// Polls until something happens.
    fn hear(&mut self) -> Vec<String> {
        let began = Instant::now();
        loop {
            let heard = self.poll();
            if !heard.is_empty() {
                return heard;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "nothing happens");
        }
    }

    fn send(&mut self, from: u32, to: u32) {
        let claim = self.tcps[from as usize].claim(Peer(to), 0, Load::Message).expect("room");
        claim.write(&eager(from), None);
    }

    /// A message arrives.
    fn talk(&mut self, from: u32, to: u32) {
        self.send(from, to);
        let heard = self.hear();
        assert!(heard.len() == 1 && heard[0].starts_with(&format!("{to} from {from}: eager")), "{heard:?}");
    }

    /// A stranger at the door of process `at`.
    fn stranger(&self, at: usize) -> TcpStream {
        let stranger = TcpStream::connect(("127.0.0.1", self.tcps[at].own_card().port)).unwrap();
        stranger.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stranger
    }

    fn refused(&self, at: usize) -> u64 {
        self.counts[at].get(Counter::ConnectionsRefused)
    }

    fn doors(&self, at: usize) -> usize {
        self.tcps[at].doors.iter().flatten().count()
    }
}

fn eager(source: u32) -> Emit {
    eager_of(source, 0)
}

fn eager_of(source: u32, len: u64) -> Emit {
    let (mode, types) = (crate::wire::Mode::Standard, crate::datatype::Types::UNKNOWN);
    Emit::eager(&Envelope { context: ContextId::WORLD, source: source as i32, tag: 0, len, mode, types })
}

#[test]
fn a_connection_is_made_when_it_is_first_needed_and_only_one() {
    let mut house = House::new(&[7; 3]);
    assert!(house.poll().is_empty() && house.tcps[0].ways.iter().count() == 0);
    house.talk(0, 1);
    house.talk(1, 0);
    house.talk(2, 1);
    assert!(house.tcps[0].ways.get(Peer(2)).is_none(), "nobody has asked for it");
    assert!(house.tcps[0].ways.bytes() < 4096, "{} bytes for idle peers", house.tcps[0].ways.bytes());
    let made: Vec<u64> = house.counts.iter().map(|counts| counts.get(Counter::ConnectionsMade)).collect();
    assert_eq!(made, [1, 2, 1]);
}

#[test]
fn a_poll_that_hands_something_on_says_so() {
    let mut house = House::new(&[7; 2]);
    for idle in 0..20 {
        house.talk(0, 1);
        (0..idle).for_each(|_| drop(house.poll()));
        house.tcps[1].look_soon();
    }
}

/// With peers in shared memory, whose polls must stay cheap.
#[test]
fn most_polls_leave_the_sockets_alone_and_a_message_is_seen_in_time() {
    let mut house = House::new(&[7; 2]);
    house.talk(0, 1);
    house.tcps[1].shares = true;
    (0..100).for_each(|_| drop(house.poll()));
    let before = house.tcps[1].looks;
    assert!((0..10_000).all(|_| house.poll().is_empty()));
    let looks = house.tcps[1].looks.wrapping_sub(before);
    assert!(looks <= 10_000 / 32, "{looks} looks at the sockets in 10000 polls");
    // Every look may fall upon the busy connection or upon all, and the system may take its time.
    for _ in 0..20 {
        house.send(0, 1);
        std::thread::sleep(Duration::from_millis(2));
        assert!((0..=33).any(|_| !house.poll().is_empty()), "not seen within 34 polls");
        (0..100).for_each(|_| drop(house.poll()));
    }
}

/// However long another connection has been the busy one.
#[test]
fn a_message_of_another_peer_is_seen_as_soon() {
    let mut house = House::new(&[7; 3]);
    house.talk(2, 1);
    house.tcps[1].shares = true;
    for _ in 0..20 {
        (0..200).for_each(|_| house.talk(0, 1));
        (0..1000).for_each(|_| drop(house.poll()));
        house.send(2, 1);
        std::thread::sleep(Duration::from_millis(2));
        assert!((0..=33).any(|_| !house.poll().is_empty()), "not seen within 34 polls");
    }
}

#[test]
fn two_that_reach_for_each_other_at_once_end_with_one_connection() {
    for round in 0..50 {
        let mut house = House::new(&[7; 2]);
        house.send(0, 1);
        house.send(1, 0);
        let mut heard = Vec::new();
        // Now one is faster, now the other.
        for _ in 0..round {
            let (tcp, counts) = (&mut house.tcps[round % 2], &mut house.counts[round % 2]);
            tcp.poll(counts, &mut |event, _| heard.push(format!("{event:?}")));
        }
        while heard.len() < 2 {
            heard.extend(house.hear());
        }
        for _ in 0..20 {
            house.poll();
        }
        assert!(heard.iter().all(|what| what.contains("ager")), "{heard:?}");
        assert_eq!((house.doors(0), house.doors(1)), (0, 0));
        let port = |at: usize, other: usize| match &house.tcps[at].ways.get(Peer(other as u32)).unwrap().state
        {
            State::Up(stream) => stream.ports().unwrap(),
            other => panic!("{other:?}"),
        };
        let ((near, far), (other_near, other_far)) = (port(0, 1), port(1, 0));
        assert_eq!((near, far), (other_far, other_near), "two ends of one connection");
        house.talk(0, 1);
        house.talk(1, 0);
    }
}

#[test]
fn strangers_are_turned_away_counted_and_harm_nobody() {
    let mut house = House::new(&[7; 2]);
    let hello = Identity::new(Peer(1), 2, Format::NATIVE, [8; 32]).hello(Peer(0), [1; 32]);
    let long = vec![0xff; 1 << 16];
    let http = b"GET / HTTP/1.1\r\nHost: example\r\nAccept: text/html, and so on and on\r\n\r\n";
    let unsealed = [&hello[..], &[0; 32]].concat();
    for (number, bytes) in [&long[..], http, &unsealed].into_iter().enumerate() {
        let mut stranger = house.stranger(0);
        let _ = stranger.write_all(bytes);
        while house.refused(0) <= number as u64 {
            assert_eq!(house.poll(), Vec::<String>::new());
        }
        // Closed: there is an end, or it says that nobody reads what was written.
        let mut rest = Vec::new();
        let _ = stranger.read_to_end(&mut rest);
        assert!(rest.len() <= handshake::GREETING && house.doors(0) == 0);
    }
    // One who comes and goes is not worth a word.
    drop(house.stranger(0));
    house.talk(1, 0);
    assert_eq!(house.refused(0), 3);
}

#[test]
fn strangers_that_say_nothing_have_their_time_and_others_get_through() {
    let mut house = House::new(&[7; 2]);
    let crowd: Vec<TcpStream> = (0..300).map(|_| house.stranger(0)).collect();
    for _ in 0..100 {
        house.poll();
    }
    assert_eq!(house.doors(0), 256);
    house.talk(1, 0);
    assert!(house.refused(0) > 0, "somebody had to make room");
    // One byte now and then is not enough.
    let _ = (&crowd[299]).write_all(b"p");
    house.tcps[0].ahead = Duration::from_secs(6);
    house.tcps[0].look_at_the_clock(&mut house.counts[0]);
    assert_eq!(house.doors(0), 0);
    for _ in 0..100 {
        house.poll();
    }
    house.talk(0, 1);
}

#[test]
fn who_does_not_know_the_secret_reaches_nobody() {
    let mut house = House::new(&[7, 8]);
    house.send(0, 1);
    let heard = house.hear();
    assert!(
        heard[0].starts_with("0 lost 1: rank 1 of the world on node node-1 cannot be reached"),
        "{heard:?}"
    );
    assert!(heard[0].contains("it does not know the secret of this job"), "{heard:?}");
    // Lost for good: nothing waits any more.
    let tcp = &mut house.tcps[0];
    assert!(tcp.claim(Peer(1), 0, Load::Message).is_none());
    tcp.claim(Peer(1), 0, Load::Control).expect("it disappears").write(&Emit::resume(), None);
    assert!(tcp.is_drained() && tcp.is_quiet());
}

#[test]
fn of_several_addresses_one_that_works_is_enough() {
    let mut house = House::new(&[7; 2]);
    let card = house.shelf.clone().card(Peer(1)).unwrap();
    // Nobody there, nobody knows where, and the right one.
    let addresses = ["127.1.2.3", "192.0.2.1", "127.0.0.1"].map(|text| text.parse().unwrap()).to_vec();
    house.shelf.put(Peer(1), &BusinessCard { addresses, ..card });
    let began = Instant::now();
    house.talk(0, 1);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[test]
fn when_no_address_works_each_is_named() {
    let mut house = House::new(&[7; 3]);
    let card = house.shelf.clone().card(Peer(2)).unwrap();
    let nobody = Listener::open(0..=0).unwrap().port().unwrap();
    let addresses = vec!["127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap()];
    house.shelf.put(Peer(2), &BusinessCard { addresses: addresses.clone(), port: nobody, ..card });
    house.send(0, 2);
    let heard = house.hear();
    for address in &addresses {
        assert!(heard[0].contains(&format!("{address}:{nobody}: Connection refused")), "{heard:?}");
    }
    // A listener of the job, but of another rank.
    let other = house.shelf.clone().card(Peer(1)).unwrap();
    let mut house_of_wrong_cards = House::new(&[7; 3]);
    let port = house_of_wrong_cards.shelf.clone().card(Peer(1)).unwrap().port;
    house_of_wrong_cards.shelf.put(Peer(2), &BusinessCard { port, ..other });
    house_of_wrong_cards.send(0, 2);
    let heard = house_of_wrong_cards.hear();
    assert!(heard[0].contains("0 lost 2") && heard[0].contains("127.0.0.1"), "{heard:?}");
    house_of_wrong_cards.talk(0, 1);
}

#[test]
fn who_takes_the_call_and_says_nothing_is_waited_for_as_long_as_it_is_there() {
    let mut house = House::new(&[7; 2]);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let card = house.shelf.clone().card(Peer(1)).unwrap();
    house.shelf.put(Peer(1), &BusinessCard { port: silent.local_addr().unwrap().port(), ..card });
    house.send(0, 1);
    for seconds in 0..100 {
        house.tcps[0].ahead = Duration::from_secs(seconds);
        assert_eq!(house.poll(), Vec::<String>::new());
    }
    drop(silent);
    let heard = house.hear();
    assert!(heard[0].contains("cannot be reached") && heard[0].contains("Connection refused"), "{heard:?}");
}

/// Both may compute for long, at any step.
#[test]
fn a_rank_that_does_not_look_for_long_is_reached_all_the_same() {
    for steps in 0..12 {
        for absent in 0..2 {
            let mut house = House::new(&[7; 2]);
            house.send(0, 1);
            let poll = |house: &mut House, at: usize| {
                let mut heard = Vec::new();
                let (tcp, counts) = (&mut house.tcps[at], &mut house.counts[at]);
                tcp.poll(counts, &mut |event, _| heard.push(format!("{event:?}")));
                heard
            };
            let mut heard = Vec::new();
            for step in 0..steps {
                heard.extend(poll(&mut house, step % 2));
            }
            // The other one looks on while a minute passes.
            for half_seconds in 0..120 {
                house.tcps[1 - absent].ahead = Duration::from_millis(500 * half_seconds);
                heard.extend(poll(&mut house, 1 - absent));
            }
            house.tcps[absent].ahead = Duration::from_secs(60);
            for more in 1..200 {
                house.tcps.iter_mut().for_each(|tcp| tcp.ahead = Duration::from_millis(60_000 + 60 * more));
                heard.extend(house.poll());
            }
            assert!(heard.len() == 1 && heard[0].contains("ager"), "{heard:?} after {steps} steps");
        }
    }
}

#[test]
fn garbage_on_a_connection_that_stands_loses_the_peer() {
    let mut house = House::new(&[7; 2]);
    house.talk(0, 1);
    for word in [u32::MAX, outgoing::OWN | 9, 1 << 30] {
        let mut house = House::new(&[7; 2]);
        house.talk(0, 1);
        house.tcps[0].way(Peer(1)).out.push_own(word);
        house.tcps[0].flush(Peer(1));
        let heard = house.hear();
        assert!(heard[0].contains("1: Malformed(Peer(0))"), "{heard:?}");
        assert!(heard[1].contains("1 lost 0: the connection to rank 0 of the world is lost"), "{heard:?}");
        let heard = house.hear();
        assert!(heard[0].contains("0 lost 1: the connection to rank 1 of the world is lost"), "{heard:?}");
    }
}

/// A message of so many bytes at its sender, and room for it.
fn long(len: usize) -> (OwnedBuf, OwnedBuf, Emit) {
    let (mut out, into) = (OwnedBuf::new(len), OwnedBuf::new(len));
    out.sink().copy_from(&(0..len).map(|at| (at * 7 + at / 251) as u8).collect::<Vec<_>>());
    let (mode, types) = (crate::wire::Mode::Standard, crate::datatype::Types::UNKNOWN);
    let envelope = Envelope { context: ContextId::WORLD, source: 0, tag: 0, len: len as u64, mode, types };
    (out, into, Emit::eager(&envelope))
}

fn segment(buf: &OwnedBuf) -> Segment {
    Segment::contiguous(buf.user_buf(), buf.len() as u64)
}

/// Polls until a long message of process 0 for each of these places has come to process 1, there or, where none is given,
/// kept; what came. Short messages may come behind them and are counted.
fn receive(house: &mut House, places: &[Option<&OwnedBuf>]) -> (Vec<Vec<u8>>, u32) {
    let (began, mut begun, mut behind, mut came) = (Instant::now(), 0, 0, Vec::new());
    while came.len() < places.len() {
        let mut open = None;
        house.tcps[0].poll(&mut house.counts[0], &mut |_, _| ());
        house.tcps[1].poll(&mut house.counts[1], &mut |event, _| match event {
            Event::Arriving(from, envelope, None) => open = Some((from, envelope.len)),
            Event::Received(_) => came.push(places[came.len()].expect("a place").source().to_vec()),
            Event::Arrived(_, _, None, data) => came.push(data),
            Event::Packet(..) if came.len() == places.len() => behind += 1,
            other => panic!("{other:?}"),
        });
        if let Some((from, len)) = open {
            if let Some(into) = places[begun] {
                let (receiver, offer) = (RequestId { slot: 5, generation: 1 }, Offer::Nothing);
                let segment = segment(into);
                house.tcps[1].receive_arriving(OpenReceive {
                    from,
                    offer,
                    receiver,
                    segment,
                    len,
                    arrived: 0,
                });
            }
            begun += 1;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "nothing arrives");
    }
    (came, behind)
}

/// One call of the system sends a message of 64 KiB from where it lies, and where they follow each other closely one takes
/// each into its receive buffer.
#[test]
fn long_eager_messages_take_one_write_and_one_read_each() {
    const MESSAGES: usize = 8;
    let mut house = House::new(&[7; 2]);
    house.talk(0, 1);
    let (out, into, emit) = long(64 << 10);
    let sender = Some(Owner::Send(RequestId { slot: 1, generation: 1 }));
    for _ in 0..MESSAGES {
        let sent = house.tcps[0].send_in_place(Peer(1), &emit, sender, segment(&out));
        assert!(matches!(sent, Ok(true)), "the system has room for it");
    }
    let (came, _) = receive(&mut house, &[Some(&into); MESSAGES]);
    assert!(came.iter().all(|data| *data == out.source().to_vec()));
    assert_eq!(house.tcps[0].way(Peer(1)).out.writes, 1 + MESSAGES);
    let reads = house.tcps[1].way(Peer(0)).input.reads;
    // A few find the end of what has come so far.
    assert!(reads <= MESSAGES + 8, "{reads} reads");
}

/// More than the system takes at once: the rest leaves later, nothing overtakes it, and what nobody opens a receive for
/// is kept.
#[test]
fn a_long_eager_message_that_leaves_in_parts_keeps_its_place() {
    let mut house = House::new(&[7; 2]);
    house.talk(0, 1);
    let (out, into, emit) = long(12 << 20);
    let sender = |slot| Some(Owner::Send(RequestId { slot, generation: 1 }));
    let to = Peer(1);
    let tcp = &mut house.tcps[0];
    assert!(matches!(tcp.send_in_place(to, &emit, sender(1), segment(&out)), Ok(false)));
    assert!(matches!(tcp.send_in_place(to, &emit, sender(2), segment(&out)), Ok(false)));
    assert!(tcp.send_in_place(to, &emit, sender(3), segment(&out)).is_err(), "two are enough");
    house.send(0, 1);
    let (came, behind) = receive(&mut house, &[Some(&into), None]);
    assert!(came.iter().all(|data| *data == out.source().to_vec()));
    assert!(behind == 1 || house.hear()[0].starts_with("1 from 0: eager"));
}

/// What is put in front of a long message says nothing about throttling.
#[test]
fn a_long_message_does_not_end_throttling() {
    let mut house = House::new(&[7; 2]);
    house.talk(0, 1);
    let throttle = THROTTLE;
    house.tcps[0].way(Peer(1)).out.push_own(throttle);
    let (out, into, emit) = long(64 << 10);
    let sender = Some(Owner::Send(RequestId { slot: 1, generation: 1 }));
    assert!(house.tcps[0].send_in_place(Peer(1), &emit, sender, segment(&out)).is_ok());
    receive(&mut house, &[Some(&into)]);
    assert!(house.tcps[1].way(Peer(0)).throttled);
}

/// Between the beginning of a long eager message and the answer where it goes nobody looks at it, also when its sender was
/// looked at by the fast path of a receive before.
#[test]
fn a_long_eager_message_is_not_stored_before_the_engine_has_answered() {
    let mut house = House::new(&[7; 2]);
    house.talk(0, 1);
    let (out, into, emit) = long(64 << 10);
    let fast = |house: &mut House, take: bool, expected: Next| {
        let began = Instant::now();
        while house.tcps[1].take_next(Peer(0), |_| take) != expected {
            assert!(began.elapsed() < Duration::from_secs(20), "nothing arrives");
        }
    };
    house.send(0, 1);
    house.send(0, 1);
    fast(&mut house, true, Next::Taken);
    fast(&mut house, true, Next::Taken);
    house.send(0, 1);
    house.tcps[0].flush_gathered();
    let sender = Some(Owner::Send(RequestId { slot: 1, generation: 1 }));
    let sent = house.tcps[0].send_in_place(Peer(1), &emit, sender, segment(&out));
    assert!(matches!(sent, Ok(true)));
    fast(&mut house, false, Next::Left);
    let (began, mut open, mut over) = (Instant::now(), None, false);
    while !over {
        house.tcps[1].poll(&mut house.counts[1], &mut |event, _| match event {
            Event::Packet(..) => {}
            Event::Arriving(from, envelope, None) => open = Some((from, envelope.len)),
            Event::Received(_) => over = true,
            Event::Arrived(..) => panic!("stored before the answer"),
            other => panic!("{other:?}"),
        });
        if let Some((from, len)) = open.take() {
            let (receiver, offer) = (RequestId { slot: 5, generation: 1 }, Offer::Nothing);
            let segment = segment(&into);
            house.tcps[1].receive_arriving(OpenReceive { from, offer, receiver, segment, len, arrived: 0 });
        }
        assert!(began.elapsed() < Duration::from_secs(20), "nothing arrives");
    }
    assert!(into.source().to_vec() == out.source().to_vec());
}

/// A peer that calls nothing but MPI_Send polls only when there is no room.
#[test]
fn who_only_sends_hears_in_time_that_it_floods() {
    let mut house = House::new(&[7; 2]);
    house.talk(0, 1);
    house.tcps[1].throttle(Peer(0), true);
    let began = Instant::now();
    let mut sent = 0;
    while !house.tcps[0].way(Peer(1)).throttled {
        match house.tcps[0].claim(Peer(1), 0, Load::Message) {
            Some(claim) => claim.write(&eager(0), None),
            None => drop(house.tcps[0].poll(&mut house.counts[0], &mut |_, _| ())),
        }
        sent += 1;
        assert!(began.elapsed() < Duration::from_secs(20), "it has sent {sent}");
    }
    assert!(house.tcps[0].claim(Peer(1), 0, Load::Message).is_none());
    house.tcps[1].throttle(Peer(0), false);
    let may_go_on = |house: &mut House| house.tcps[0].claim(Peer(1), 0, Load::Message).is_some();
    while !may_go_on(&mut house) {
        house.poll();
        assert!(began.elapsed() < Duration::from_secs(20), "it may not go on");
    }
}

#[test]
fn what_has_arrived_comes_before_the_loss_that_a_write_has_found() {
    let mut house = House::new(&[7; 2]);
    house.talk(0, 1);
    // It has not read this, so the system resets the connection when it ends.
    house.send(0, 1);
    (0..5).for_each(|_| house.send(1, 0));
    house.tcps[1].flush_gathered();
    drop((house.tcps.pop(), house.counts.pop()));
    let began = Instant::now();
    let is_unwritable = |house: &mut House| house.tcps[0].way(Peer(1)).unwritable.is_some();
    while !is_unwritable(&mut house) {
        if let Some(claim) = house.tcps[0].claim(Peer(1), 0, Load::Control) {
            claim.write(&eager(0), None);
        }
        house.tcps[0].flush_pending();
        assert!(began.elapsed() < Duration::from_secs(20), "writes go on");
    }
    let mut heard = Vec::new();
    while heard.last().is_none_or(|last: &String| !last.contains("lost")) {
        heard.extend(house.hear());
    }
    assert_eq!(heard.len(), 6, "{heard:?}");
    assert!(heard[..5].iter().all(|heard| heard.starts_with("0 from 1: eager")), "{heard:?}");
}
