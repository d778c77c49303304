use super::*;

const TUNING: Tuning = Tuning { buffer: 0, dead: Duration::from_secs(20) };

/// Two ends of a connection over the loopback interface.
fn pair(to: IpAddr) -> (Stream, Stream) {
    let listener = Listener::open(0..=0).unwrap();
    let set = Set::new().unwrap();
    let near = Stream::connect(SocketAddr::new(to, listener.port().unwrap()), &TUNING).unwrap();
    set.add(&listener, 1, false).unwrap();
    let mut ready = Vec::new();
    set.wait(Duration::from_secs(10), &mut ready);
    assert_eq!(ready, [Ready { token: 1, read: true, write: false }]);
    let (far, from) = listener.accept().unwrap().unwrap();
    assert!(listener.accept().unwrap().is_none());
    assert_eq!(from.ip(), to);
    near.connected().unwrap();
    (near, far)
}

#[test]
fn bytes_travel_in_pieces_over_both_families() {
    let mut all = vec![IpAddr::V4(Ipv4Addr::LOCALHOST)];
    if interfaces().unwrap().iter().any(|known| known.address == IpAddr::V6(Ipv6Addr::LOCALHOST)) {
        all.push(IpAddr::V6(Ipv6Addr::LOCALHOST));
    }
    for address in all {
        let (near, far) = pair(address);
        let mut into = [0u8; 5];
        assert_eq!(far.read_one(&mut Sink::from(&mut into[..])).unwrap(), None);
        let pieces = [Source::from(&b"ab"[..]), Source::from(&b"cd"[..]), Source::from(&b"e"[..])];
        assert_eq!(near.write(&pieces).unwrap(), Some(5));
        let set = Set::new().unwrap();
        set.add(&far, 7, false).unwrap();
        let mut ready = Vec::new();
        set.wait(Duration::from_secs(10), &mut ready);
        let (a, b) = into.split_at_mut(3);
        assert_eq!(far.read(&mut [Sink::from(a), Sink::from(b)]).unwrap(), Some(5));
        assert_eq!(&into, b"abcde");
        assert!(!far.health().unwrap().unanswered);
        near.close_writing();
        set.wait(Duration::from_secs(10), &mut ready);
        assert_eq!(far.read_one(&mut Sink::from(&mut into[..])).unwrap(), Some(0));
    }
}

#[test]
fn a_full_connection_takes_no_more_and_a_closed_one_is_an_error() {
    let (near, far) = pair(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let bytes = vec![1u8; 1 << 20];
    let mut left = 0;
    while let Some(n) = near.write(&[Source::from(&bytes[..])]).unwrap() {
        left += n;
        assert!(left < 1 << 30, "it takes any number of bytes");
    }
    drop(far);
    // The first failure reports the close; no signal ends this process.
    let failed = (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        near.write(&[Source::from(&bytes[..1])]).is_err()
    });
    assert!(failed);
}

#[test]
fn nobody_listens_and_ports_run_out() {
    let port = Listener::open(0..=0).unwrap().port().unwrap();
    let nobody = Stream::connect(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port), &TUNING);
    let refused = nobody.and_then(|stream| {
        let set = Set::new()?;
        set.add(&stream, 0, true)?;
        set.wait(Duration::from_secs(10), &mut Vec::new());
        stream.connected()
    });
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    let taken = Listener::open(0..=0).unwrap();
    let port = taken.port().unwrap();
    assert_eq!(Listener::open(port..=port).unwrap_err().kind(), ErrorKind::AddrInUse);
}

#[test]
fn a_name_leads_to_its_listener_while_that_is_there() {
    let name = format!("posthaste test {}", std::process::id());
    let nobody = Stream::connect_local(name.as_bytes()).unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::ConnectionRefused);
    let listener = LocalListener::open(name.as_bytes()).unwrap();
    assert!(listener.accept().unwrap().is_none());
    assert_eq!(LocalListener::open(name.as_bytes()).unwrap_err().kind(), ErrorKind::AddrInUse);
    let one = Stream::connect_local(name.as_bytes()).unwrap();
    let other = listener.accept().unwrap().unwrap();
    assert_eq!(one.write(&[Source::from(&b"hello"[..])]).unwrap(), Some(5));
    let mut room = [0; 9];
    assert_eq!(other.read_one(&mut Sink::from(&mut room[..])).unwrap(), Some(5));
    assert_eq!(&room[..5], b"hello");
    assert!(other.read_one(&mut Sink::from(&mut room[..])).unwrap().is_none());
    drop(one);
    assert_eq!(other.read_one(&mut Sink::from(&mut room[..])).unwrap(), Some(0));
    drop(listener);
    assert!(Stream::connect_local(name.as_bytes()).is_err());
    let long = Stream::connect_local(&[b'x'; 108]).unwrap_err();
    assert_eq!(long.kind(), ErrorKind::InvalidInput);
    assert!(Stream::connect_local(&[b'x'; 107]).is_err());
}
