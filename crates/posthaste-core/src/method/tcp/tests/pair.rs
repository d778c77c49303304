//! Processes of two jobs on one host agree to share memory, or not to, before the first packet.

use super::abroad::{THERE, meet, strangers, talk};
use super::*;
use crate::method::tcp::outgoing::{FAR, OFFER, SHARED};
use crate::method::tcp::pair::{OFFERED, Said};

/// Two processes that have met, on these hosts.
fn on(hosts: [u64; 2]) -> House {
    let mut house = strangers();
    house
        .tcps
        .iter_mut()
        .zip(hosts)
        .for_each(|(tcp, host)| tcp.shares_memory_on(host, Some(Copying::default())));
    meet(&mut house, 1);
    house
}

/// Polls until `done`.
fn until(house: &mut House, what: &str, mut done: impl FnMut(&mut House) -> bool) {
    let began = Instant::now();
    while !done(house) {
        assert_eq!(house.poll(), Vec::<String>::new());
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
    }
}

fn has_room(house: &mut House, at: usize) -> bool {
    house.tcps[at].claim(THERE[at], 0, Load::Message).is_some()
}

/// Polls until both share memory; what has been settled.
fn settled(house: &mut House) -> [Settled; 2] {
    let mut settled: [Vec<Settled>; 2] = Default::default();
    until(house, "they do not share memory", |house| {
        house.tcps.iter_mut().zip(&mut settled).for_each(|(tcp, settled)| settled.extend(tcp.settled()));
        settled.iter().all(|settled| !settled.is_empty())
    });
    settled.map(|mut settled| settled.remove(0))
}

#[test]
fn two_on_one_host_agree_on_a_segment_and_send_nothing_before() {
    for (first, there) in THERE.into_iter().enumerate() {
        let mut house = on([9, 9]);
        assert!(!has_room(&mut house, first) && house.tcps[first].caps(there).packet < PACKET);
        let [one, other] = settled(&mut house).map(|settled| match settled {
            Settled::Shares(peer, name, node, me) => (peer, name, node.inode().unwrap(), me),
            Settled::Lost(peer, why) => panic!("{} is lost: {why}", peer.0),
        });
        assert_eq!(([one.0, other.0], one.2), (THERE, other.2));
        assert_eq!(one.3 + other.3, 1, "each is one of the two");
        assert_ne!(one.1, other.1);
    }
}

#[test]
fn on_different_hosts_or_where_one_does_not_want_to_packets_go_over_the_connection() {
    for hosts in [[9, 8], [9, 0], [0, 0]] {
        let mut house = on(hosts);
        assert!(has_room(&mut house, 0) && house.tcps[0].caps(THERE[0]).packet == PACKET);
        talk(&mut house, 0);
        talk(&mut house, 1);
        assert!(house.tcps.iter_mut().all(|tcp| tcp.settled().is_empty()));
    }
}

#[test]
fn who_cannot_map_the_segment_says_so_and_packets_go_over_the_connection() {
    let mut house = on([9, 9]);
    house.tcps[0].want(THERE[0]);
    settled(&mut house);
    // Once more, and what is offered is not there.
    let (offers, hears) = if house.tcps[0].identity.goes_before(THERE[0]) { (0, 1) } else { (1, 0) };
    house.tcps[hears].way(THERE[hears]).pairing = Pairing::Open;
    house.tcps[offers].way(THERE[offers]).pairing =
        Pairing::Offered(posthaste_os::node::Node::create_pair(0).unwrap());
    let nowhere: [u8; OFFERED] = [255; OFFERED];
    assert!(house.tcps[hears].hear_of_segment(THERE[hears], Said::Offer(nowhere)));
    until(&mut house, "nobody has said that it cannot", |house| has_room(house, offers));
    assert!(has_room(&mut house, hears) && house.tcps.iter_mut().all(|tcp| tcp.settled().is_empty()));
    talk(&mut house, offers);
}

#[test]
fn words_out_of_turn_end_the_connection() {
    for words in [vec![SHARED], vec![FAR], vec![OFFER, 1, 2, 3, 4]] {
        let mut house = on([9, 8]);
        talk(&mut house, 0);
        words.iter().for_each(|word| house.tcps[0].way(THERE[0]).out.push_own(*word));
        house.tcps[0].flush(THERE[0]);
        let heard = house.hear();
        assert!(
            heard.iter().any(|heard| heard.contains("lost") && heard.contains("unreadable")),
            "{heard:?}"
        );
    }
}
