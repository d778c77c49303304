//! Several VCIs of a process: who calls one of them finds it, and a connection that breaks is a loss for all.

use super::*;

/// Two processes, whose further VCIs are behind them: process `at` in VCI `vci` is `tcps[2 * vci + at]`.
fn with_vcis(vcis: usize) -> House {
    let mut house = House::new(&[7; 2]);
    for vci in 1..vcis {
        (0..2).for_each(|at| open(&mut house, at, vci));
    }
    house
}

fn open(house: &mut House, at: usize, vci: usize) {
    let tcp = house.tcps[at].opener().open(vci).unwrap();
    house.tcps.push(tcp);
    house.counts.push(Counts::default());
}

fn send(house: &mut House, vci: usize, from: usize) {
    let to = Peer(1 - from as u32);
    let claim = house.tcps[2 * vci + from].claim(to, 0, Load::Message).expect("room");
    claim.write(&eager(from as u32), None);
}

/// A message arrives in a VCI.
fn talk(house: &mut House, vci: usize, from: usize) {
    send(house, vci, from);
    let heard = house.hear();
    assert!(heard.len() == 1 && heard[0].contains(": eager"), "{heard:?}");
    assert!(house.tcps[2 * vci + 1 - from].ways.get(Peer(from as u32)).is_some_and(Way::is_up));
}

/// Whether a process has a connection in a VCI.
fn stands(house: &House, at: usize, vci: usize) -> bool {
    house.tcps[2 * vci + at].stands(Peer(1 - at as u32))
}

fn made(house: &House) -> u64 {
    house.counts.iter().map(|counts| counts.get(Counter::ConnectionsMade)).sum()
}

#[test]
fn each_vci_has_a_connection_of_its_own_once_it_needs_one() {
    let mut house = with_vcis(3);
    for (vci, from) in [(2, 1), (0, 0), (1, 0)] {
        assert!(!stands(&house, 0, vci));
        (0..3).for_each(|_| talk(&mut house, vci, from));
        talk(&mut house, vci, 1 - from);
        assert!(stands(&house, 0, vci) && stands(&house, 1, vci));
    }
    assert_eq!((made(&house), house.doors(0), house.doors(1)), (6, 0, 0));
}

#[test]
fn two_that_call_each_other_in_a_further_vci_end_with_one_connection() {
    for round in 0..50 {
        let mut house = with_vcis(2);
        (0..2).for_each(|from| send(&mut house, 1, from));
        let mut heard = Vec::new();
        for step in 0..round {
            // Now one is faster, now the other.
            let at = round % 2 + 2 * (step % 2);
            house.tcps[at].poll(&mut house.counts[at], &mut |event, _| heard.push(format!("{event:?}")));
        }
        while heard.len() < 2 {
            heard.extend(house.hear());
        }
        (0..20).for_each(|_| drop(house.poll()));
        assert!(heard.iter().all(|what| what.contains("ager")), "{heard:?}");
        assert_eq!((house.doors(2), house.doors(3)), (0, 0));
        (0..2).for_each(|from| talk(&mut house, 1, from));
    }
}

#[test]
fn who_calls_a_vci_that_is_not_open_yet_waits_for_it() {
    let mut house = with_vcis(1);
    // Process 0 alone has it.
    open(&mut house, 0, 1);
    send(&mut house, 1, 0);
    for _ in 0..200 {
        assert_eq!(house.poll(), Vec::<String>::new());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(house.tcps[1].siblings.has_letters(1) && house.doors(1) == 0);
    let opener = house.tcps[1].opener();
    assert_eq!((opener.called(), opener.called()), (Some(1), None));
    open(&mut house, 1, 1);
    assert!(!house.tcps[3].is_quiet(), "nobody may sleep over it");
    let heard = house.hear();
    assert!(heard.len() == 1 && heard[0].starts_with("1 from 0: eager"), "{heard:?}");
}

#[test]
fn a_peer_whose_connection_breaks_in_one_vci_is_lost_to_all() {
    for cut in 0..2 {
        let mut house = with_vcis(3);
        // VCI 2 has no connection.
        (0..2).for_each(|vci| talk(&mut house, vci, 0));
        (0..2).for_each(|vci| send(&mut house, vci, 1));
        let Some(Way { state: State::Up(stream), .. }) = house.tcps[2 * cut].ways.get(Peer(1)) else {
            panic!("there was a connection")
        };
        stream.close();
        let (mut lost, began) = (Vec::new(), Instant::now());
        while lost.len() < 6 {
            lost.extend(house.poll().into_iter().filter(|what| what.contains(" lost ")));
            assert!(began.elapsed() < Duration::from_secs(20), "only {lost:?}");
        }
        (0..50).for_each(|_| assert_eq!(house.poll(), Vec::<String>::new(), "each is lost once"));
        let of = |at: &str| lost.iter().filter(|what| what.starts_with(at)).count();
        assert_eq!((of("0 lost 1"), of("1 lost 0")), (3, 3), "{lost:?}");
    }
}

#[test]
fn what_was_sent_before_another_vci_lost_the_peer_is_received() {
    let mut house = with_vcis(2);
    (0..2).for_each(|vci| talk(&mut house, vci, 0));
    // More than one look takes in; all of it is in the system's buffers.
    let sent = 40;
    for _ in 0..sent {
        let claim = house.tcps[3].claim(Peer(0), 1 << 13, Load::Control).expect("room");
        claim.write_with(&eager_of(1, 1 << 13), |mut sink| _ = sink.copy_from(&[7; 1 << 13]));
    }
    while house.tcps[3].ways.get(Peer(0)).is_some_and(|way| !way.out.is_empty()) {
        house.tcps[3].progress(&mut Counts::default(), &mut |_, _| {});
    }
    house.tcps[0].lose(Peer(1), "cut");
    let mut heard = Vec::new();
    while heard.iter().filter(|what: &&String| what.contains(" lost ")).count() < 4 {
        heard.extend(house.hear());
    }
    assert_eq!(heard.iter().filter(|what| what.starts_with("0 from 1: eager")).count(), sent, "{heard:?}");
}

#[test]
fn a_peer_that_another_vci_has_lost_ends_no_sleep_and_is_lost_in_time() {
    let mut house = with_vcis(2);
    (0..2).for_each(|vci| talk(&mut house, vci, 0));
    // It reads nothing in VCI 1.
    let is_blocked = |house: &House| house.tcps[2].ways.get(Peer(1)).is_some_and(|way| way.watched_for_room);
    while !is_blocked(&house) {
        let claim = house.tcps[2].claim(Peer(1), 1 << 13, Load::Control).expect("room");
        claim.write_with(&eager_of(0, 1 << 13), |mut sink| _ = sink.copy_from(&[7; 1 << 13]));
        house.tcps[2].progress(&mut Counts::default(), &mut |_, _| {});
    }
    house.tcps[2].tuning.dead = Duration::from_millis(100);
    house.tcps[0].lose(Peer(1), "cut");
    let (began, mut lost, mut ready) = (Instant::now(), Vec::new(), Vec::new());
    while lost.is_empty() {
        house.tcps[2].look_at_sockets();
        house.tcps[2].progress(&mut Counts::default(), &mut |event, _| lost.push(format!("{event:?}")));
        if lost.is_empty() {
            house.tcps[2].set.wait(Duration::ZERO, &mut ready);
            assert!(ready.is_empty(), "{ready:?}");
        }
        assert!(began.elapsed() < Duration::from_secs(15));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(lost.len() == 1 && lost[0].contains("cut"), "{lost:?}");
}

/// It may have no room for it, and is there all the same.
#[test]
fn a_peer_that_cannot_be_reached_in_one_vci_is_not_lost_to_others() {
    let mut house = with_vcis(1);
    talk(&mut house, 0, 0);
    house.tcps[1].opener().refuse(1);
    open(&mut house, 0, 1);
    send(&mut house, 1, 0);
    let heard = house.hear();
    assert!(heard.len() == 1 && heard[0].starts_with("0 lost 1: "), "{heard:?}");
    (0..2).for_each(|from| talk(&mut house, 0, from));
}

#[test]
fn a_vci_that_is_opened_while_this_process_leaves_leaves_too() {
    let mut house = with_vcis(1);
    talk(&mut house, 0, 0);
    open(&mut house, 0, 1);
    house.tcps[1].begin_leaving();
    open(&mut house, 1, 1);
    assert!(house.tcps[3].is_leaving);
}

#[test]
fn leaving_is_no_loss_to_a_sibling() {
    let mut house = with_vcis(2);
    (0..2).for_each(|vci| talk(&mut house, vci, 0));
    // Process 1 takes leave in its first VCI alone.
    house.tcps[1].begin_leaving();
    let heard = house.hear();
    assert!(heard.len() == 1 && heard[0].contains("0 lost 1") && heard[0].contains("finalised"), "{heard:?}");
    (0..2).for_each(|from| talk(&mut house, 1, from));
    for at in [0, 2, 3] {
        house.tcps[at].begin_leaving();
    }
    let began = Instant::now();
    while !house.tcps.iter().all(Tcp::has_left) {
        assert_eq!(house.poll(), Vec::<String>::new());
        assert!(began.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn large_jobs_have_fewer_vcis_and_not_more_connections() {
    let most = |peers: usize| {
        let mut house = House::new(&[7]);
        house.tcps[0].identity.peers = peers;
        house.tcps[0].most_vcis()
    };
    let got = [2, 256, 512, 1024, 2048, 1_000_000].map(most);
    assert_eq!((got[0], got[5]), (8, 1));
    // Unless this process may have few descriptors.
    if process::allow_open_files(OPEN_FILES + 2048) >= OPEN_FILES + 2048 {
        assert_eq!(got, [8, 8, 4, 2, 1, 1]);
    }
}
