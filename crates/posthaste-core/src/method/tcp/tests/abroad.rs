//! Connections between jobs: who was welcomed gets one, whichever secret of several it names, and parting is no loss.

use super::*;
use crate::jobs::{JobId, ProcessName};

/// How the two processes of different jobs call each other: each has another number for the other one.
pub(super) const THERE: [Peer; 2] = [Peer(5), Peer(300)];

fn name(of: usize) -> ProcessName {
    ProcessName { job: JobId(10 + of as u64), rank: 1 - of as u32 }
}

fn pass(label: u64) -> Pass {
    Pass { label, secret: [label as u8; 32] }
}

/// Two processes with jobs of their own, which have not met.
pub(super) fn strangers() -> House {
    House::new(&[7, 8])
}

fn welcome(house: &mut House, at: usize, label: u64) {
    let card = house.tcps[1 - at].own_card().clone();
    house.tcps[at].welcome(name(at), THERE[at], name(1 - at), pass(label), card);
}

pub(super) fn meet(house: &mut House, label: u64) {
    (0..2).for_each(|at| welcome(house, at, label));
}

fn send(house: &mut House, from: usize) {
    let claim = house.tcps[from].claim(THERE[from], 0, Load::Message).expect("room");
    claim.write(&eager(from as u32), None);
}

pub(super) fn talk(house: &mut House, from: usize) {
    send(house, from);
    let to = 1 - from;
    let heard = house.hear();
    assert!(
        heard.len() == 1 && heard[0].starts_with(&format!("{to} from {}: eager", THERE[to].0)),
        "{heard:?}"
    );
}

/// Polls until both have parted.
fn part(house: &mut House, first: usize) {
    house.tcps[first].begin_parting(THERE[first]);
    assert!(house.poll().is_empty());
    house.tcps[1 - first].begin_parting(THERE[1 - first]);
    let began = Instant::now();
    while !(0..2).all(|at| house.tcps[at].has_parted(THERE[at])) {
        assert_eq!(house.poll(), Vec::<String>::new());
        assert!(began.elapsed() < Duration::from_secs(20), "they do not part");
    }
    (0..2).for_each(|at| house.tcps[at].forget_peers(&[THERE[at]]));
}

#[test]
fn two_that_have_met_are_connected_until_they_part() {
    let mut house = strangers();
    for round in 1..20_u64 {
        meet(&mut house, round);
        let first = round as usize % 2;
        talk(&mut house, first);
        talk(&mut house, 1 - first);
        part(&mut house, first);
        assert!((0..2).all(|at| house.tcps[at].identity.abroad.len() == 0 && house.doors(at) == 0));
    }
    assert_eq!(house.poll(), Vec::<String>::new());
}

#[test]
fn any_secret_that_they_have_in_common_will_do() {
    let mut house = strangers();
    // One has heard of the meetings in this order, the other in that, and of one more.
    [2, 1].iter().for_each(|label| welcome(&mut house, 0, *label));
    [1, 2, 3].iter().for_each(|label| welcome(&mut house, 1, *label));
    talk(&mut house, 0);
    talk(&mut house, 1);
    assert_eq!((house.refused(0), house.refused(1)), (0, 0));
}

#[test]
fn who_was_withdrawn_gets_no_connection() {
    let mut house = strangers();
    meet(&mut house, 4);
    house.tcps[1].withdraw(&[THERE[1]], 4);
    send(&mut house, 0);
    let heard = house.hear();
    assert!(heard[0].starts_with("0 lost 5: "), "{heard:?}");
    assert!(heard[0].contains("rank 0 of job 000000000000000b"), "{heard:?}");
    assert!(house.refused(1) > 0, "nobody was refused");
}
