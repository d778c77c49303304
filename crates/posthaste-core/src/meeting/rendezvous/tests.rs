//! Whoever comes to a port: callers, strangers, and those who say half of it.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::*;

fn port() -> (Port, Set) {
    (Port::open(&Config::default(), None).unwrap(), Set::new().unwrap())
}

/// A call from another host.
fn from_elsewhere(name: PortName) -> (Call, Set) {
    let config = Config { node: Some("elsewhere".into()), ..Config::default() };
    (Call::new(name, &config), Set::new().unwrap())
}

fn stranger(port: &Port) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port.name.port)).unwrap()
}

/// Steps until both have met.
fn meet(port: &mut Port, call: &mut Call, (at_port, at_call): (&Set, &Set)) -> (Meeting, Meeting) {
    let (mut one, mut other) = (None, None);
    let until = machine::now() + Duration::from_secs(60);
    while one.is_none() || other.is_none() {
        if one.is_none() {
            one = port.step(at_port).unwrap();
        }
        if let Some(Meeting { line, .. }) = &mut one {
            line.flush().unwrap();
        }
        if other.is_none() {
            other = call.step(at_call).unwrap();
        }
        assert!(machine::now() < until, "they do not meet: {one:?}, {call:?}");
    }
    (one.unwrap(), other.unwrap())
}

#[test]
fn a_caller_with_the_name_is_met_whatever_strangers_do() {
    let (mut port, set) = port();
    let mut strangers: Vec<TcpStream> = (0..6).map(|_| stranger(&port)).collect();
    strangers[0].write_all(&[b'x'; 300]).unwrap(); // garbage
    strangers[1].write_all(&hello(&[9; 16], &[1; WORD])).unwrap(); // another secret
    strangers[2].write_all(&hello(&port.name.secret, &[1; WORD])[..40]).unwrap(); // half of it
    strangers[3].write_all(&hello(&port.name.secret, &[1; WORD])).unwrap();
    strangers[3].write_all(&[1; WORD]).unwrap(); // a wrong proof
    drop(strangers.remove(4)); // gone at once; the last one says nothing
    let mut call = Call::new(port.name.clone(), &Config::default());
    let (one, other) = meet(&mut port, &mut call, (&set, &Set::new().unwrap()));
    assert_eq!((one.pass, one.is_first, other.is_first), (other.pass, true, false));
    for wrong in [0, 1] {
        let mut said = Vec::new();
        let _ = strangers[wrong].read_to_end(&mut said); // it ends, by a reset or not
        assert!(said.is_empty(), "stranger {wrong} heard {said:?}");
    }
    let (mut one, mut other) = (one.line, other.line);
    let long = vec![7; 3_000_000];
    one.send(&long);
    other.send(b"");
    let (mut there, mut here) = (None, None);
    while there.is_none() || here.is_none() {
        there = there.or(other.step().unwrap());
        here = here.or(one.step().unwrap());
    }
    assert_eq!((there.unwrap().len(), here.unwrap().len()), (long.len(), 0));
    drop(one);
    assert!(other.step().is_err(), "its end is an error");
}

#[test]
fn callers_wait_their_turn_and_those_who_went_are_forgotten() {
    let (mut port, set) = port();
    let config = Config::default();
    let call = || (Call::new(port.name.clone(), &config), Set::new().unwrap());
    let (mut gone, mut first, mut second) = (call(), call(), call());
    // The others stand at the port, too.
    for (call, set) in [&mut gone, &mut second] {
        while !call.tries.iter().any(|one| matches!(one.progress, Progress::Called(..))) {
            assert!(call.step(set).unwrap().is_none());
        }
    }
    let (first, ..) = meet(&mut port, &mut first.0, (&set, &first.1));
    drop(gone);
    let (second, ..) = meet(&mut port, &mut second.0, (&set, &second.1));
    let (mut third, at_third) = from_elsewhere(port.name.clone());
    let (third, ..) = meet(&mut port, &mut third, (&set, &at_third));
    assert!(first.pass != second.pass && second.pass != third.pass);
}

#[test]
fn a_host_needs_no_network_for_its_own() {
    let (mut port, set) = port();
    let nowhere = PortName { addresses: vec![[192, 0, 2, 1].into()], ..port.name.clone() };
    let (mut call, at_call) = (Call::new(nowhere.clone(), &Config::default()), Set::new().unwrap());
    meet(&mut port, &mut call, (&set, &at_call));
    assert_eq!(call.rest.len(), 1, "{call:?}");
    // Who has the wrong secret finds nobody, and a port that is gone leaves nothing behind.
    let name = |secret| local_name(&secret, host(&Config::default()));
    assert!(Stream::connect_local(name([9; 16]).as_bytes()).is_err());
    let secret = port.name.secret;
    drop(port);
    assert!(Stream::connect_local(name(secret).as_bytes()).is_err());
}

/// A name with two addresses of this host.
fn twice(port: &Port) -> PortName {
    PortName { addresses: vec![[127, 0, 0, 1].into(), [127, 0, 0, 2].into()], ..port.name.clone() }
}

#[test]
fn a_caller_that_was_away_goes_on_with_the_address_that_has_answered_meanwhile() {
    let (mut port, set) = port();
    let (mut call, at_call) = from_elsewhere(twice(&port));
    while !port.doors.iter().any(|door| matches!(door.stage, Stage::Proof(_))) {
        assert!(call.step(&at_call).unwrap().is_none());
        assert!(port.step(&set).unwrap().is_none());
    }
    // It comes back after the time in which another address is not called.
    call.next_at = Duration::ZERO;
    assert!(call.step(&at_call).unwrap().is_none());
    assert_eq!((call.tries.len(), call.rest.len()), (1, 1), "{call:?}");
    meet(&mut port, &mut call, (&set, &at_call));
    assert!(port.doors.is_empty());
}

#[test]
fn callers_that_have_gone_are_let_go_of_when_somebody_looks_and_others_keep_their_place() {
    let (mut port, set) = port();
    let (mut call, at_call) = (Call::new(port.name.clone(), &Config::default()), Set::new().unwrap());
    let gone = stranger(&port);
    while port.doors.len() < 2 {
        assert!(port.step(&set).unwrap().is_none());
        assert!(call.step(&at_call).unwrap().is_none());
    }
    drop(gone);
    let until = machine::now() + Duration::from_secs(20);
    while port.doors.len() > 1 {
        assert!(machine::now() < until, "{port:?}");
        port.look();
    }
    port.look();
    meet(&mut port, &mut call, (&set, &at_call));
    assert!(port.doors.is_empty());
}

#[test]
fn a_slow_stranger_is_dropped_in_time_and_they_are_bounded() {
    let (mut port, set) = port();
    let _strangers: Vec<TcpStream> = (0..MOST + 8).map(|_| stranger(&port)).collect();
    while port.doors.len() < MOST {
        assert!(port.step(&set).unwrap().is_none());
    }
    port.doors.iter_mut().for_each(|door| door.since = Duration::ZERO);
    // Those behind them come in.
    while port.doors.len() != 8 {
        assert!(port.step(&set).unwrap().is_none());
    }
}

#[test]
fn a_port_that_is_closed_is_an_error_on_both_sides() {
    let (mut port, set) = port();
    let mut call = Call::new(port.name.clone(), &Config::default());
    let at_call = Set::new().unwrap();
    while port.doors.is_empty() {
        assert!(call.step(&at_call).unwrap().is_none());
        assert!(port.step(&set).unwrap().is_none());
    }
    port.close();
    assert_eq!(port.step(&set).unwrap_err().class(), ErrorClass::Port);
    drop(port);
    let error = loop {
        match call.step(&at_call) {
            Ok(met) => assert!(met.is_none()),
            Err(error) => break error,
        }
    };
    assert!(
        error.class() == ErrorClass::Port && error.to_string().contains("nobody accepts at port"),
        "{error}"
    );
}

#[test]
fn a_stranger_behind_the_address_is_no_port() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let name = PortName {
        owner: None,
        port: listener.local_addr().unwrap().port(),
        secret: [1; 16],
        addresses: vec!["127.0.0.1".parse().unwrap()],
    };
    let (mut call, set) = (Call::new(name, &Config::default()), Set::new().unwrap());
    let mut there = None;
    let error = loop {
        match call.step(&set) {
            Ok(met) => assert!(met.is_none()),
            Err(error) => break error,
        }
        if there.is_none() {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(&[3; ANSWER]).unwrap();
            there = Some(stream);
        }
    };
    assert!(error.to_string().contains("somebody else is there"), "{error}");
}

#[test]
fn two_ends_of_a_socket_meet() {
    let (one, other) = std::os::unix::net::UnixStream::pair().unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd;
    let (mut here, mut there) = (over_socket(fd(&one)).unwrap(), over_socket(fd(&other)).unwrap());
    let (mut first, mut second) = (None, None);
    while first.is_none() || second.is_none() {
        first = first.or(here.step().unwrap());
        second = second.or(there.step().unwrap());
    }
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(first.pass == second.pass && first.is_first != second.is_first);
    drop((first, second));
    // The descriptors are the program's again, as they were.
    let (mut one, mut other) = (one, other);
    one.write_all(b"x").unwrap();
    other.read_exact(&mut [0]).unwrap();
    let file = std::fs::File::open("/dev/null").unwrap();
    assert_eq!(over_socket(std::os::fd::AsRawFd::as_raw_fd(&file)).unwrap_err().class(), ErrorClass::Arg);
    assert!(over_socket(-1).is_err());
}
