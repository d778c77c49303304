//! Puts that leave from where they lie and go where they belong.

use super::*;

const LEN: usize = 3_000_000;
/// More than the system holds.
const MUCH: usize = 40 << 20;

fn over_tcp() -> Bench {
    Bench::over_tcp(1, &[Format::NATIVE; 2], &Config::default())
}

fn pattern(len: usize, seed: usize) -> OwnedBuf {
    memory(&(0..len).map(|at| (at * 7 + at / 251 + seed) as u8).collect::<Vec<_>>())
}

/// Puts all of `data` there, and flushes: these tokens.
fn put(bench: &mut Bench, (key, offset): (RemoteKey, u64), data: &OwnedBuf, [put, flush]: [u64; 2]) {
    let target = Target { peer: Peer(0), key, memory: None, offset, scattered: None };
    at(bench, 1, |onesided, methods| {
        onesided.put(methods, target, all(data), Token(put)).unwrap();
        onesided.flush(methods, (Peer(0), key), Token(flush)).unwrap();
    });
}

/// Longer than a part, than all parts that may wait, and than the system takes; of every place within a word.
#[test]
fn long_puts_arrive_between_short_ones() {
    let mut bench = over_tcp();
    let exposed = OwnedBuf::new(2 * LEN);
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
    let mut model = vec![0; 2 * LEN];
    for (turn, len) in
        [LEN, 32 << 10, (32 << 10) - 1, 512 << 10, (512 << 10) + 1, 1 << 20].into_iter().enumerate()
    {
        let (long, short) = (pattern(len, turn), pattern(100 + turn, 3));
        let offset = 1001 * turn;
        put(&mut bench, (key, offset as u64), &long, [1, 2]);
        put(&mut bench, (key, offset as u64 + 5), &short, [3, 4]);
        (0..4).for_each(|_| next_done(&mut bench, 1).outcome.unwrap());
        model[offset..][..len].copy_from_slice(&long.source().to_vec());
        model[offset + 5..][..short.len()].copy_from_slice(&short.source().to_vec());
        assert!(exposed.source().to_vec() == model, "{len} bytes");
    }
}

/// Each part is one call of the system, but where the system takes it in parts.
#[test]
fn a_long_put_is_not_copied_into_packets() {
    let mut bench = over_tcp();
    let (exposed, data) = (OwnedBuf::new(64 << 10), pattern(64 << 10, 1));
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
    put(&mut bench, (key, 0), &data, [1, 2]);
    (1..=2).for_each(|token| succeeds(&mut bench, 1, token));
    let writes = |bench: &mut Bench| bench.vcis[1].methods.tcp().expect("it is there").writes(Peer(0));
    let before = writes(&mut bench);
    put(&mut bench, (key, 0), &data, [3, 4]);
    (3..=4).for_each(|token| succeeds(&mut bench, 1, token));
    assert_eq!(writes(&mut bench) - before, 2, "the put and the flush");
}

/// What the system has room for decides how much of a put is under way when it is refused.
#[test]
fn a_long_put_that_is_refused_is_told_by_the_flush_for_its_memory() {
    let mut bench = over_tcp();
    let (small, data) = (memory(&[7; 100_000]), pattern(LEN, 1));
    let inside = Segment::contiguous(small.user_buf(), 80_000);
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&inside)).unwrap();
    let notice = RemoteKey::named(5);
    assert!(at(&mut bench, 0, |onesided, _| onesided.name(notice, key, &[1; 50_000])));
    let short = Segment::contiguous(data.user_buf(), 50_000);
    for (turn, (key, text)) in [
        (key, "rank 0 of the world refuses access to 524288 bytes at 0: the memory has 80000 bytes"),
        (
            RemoteKey { slot: 9, generation: 1 },
            "rank 0 of the world refuses access to 524288 bytes at 0: the memory is not exposed",
        ),
        (notice, "rank 0 of the world refuses access to 524288 bytes at 0: the memory is not exposed"),
    ]
    .into_iter()
    .enumerate()
    {
        let first = 10 * turn as u64;
        put(&mut bench, (key, 0), &data, [first, first + 1]);
        succeeds(&mut bench, 1, first);
        fails(
            &mut bench,
            1,
            first + 1,
            if turn == 0 { ErrorClass::RmaRange } else { ErrorClass::RmaAttach },
            text,
        );
        // The connection goes on.
        let target = Target { peer: Peer(0), key, memory: None, offset: 0, scattered: None };
        if turn == 0 {
            at(&mut bench, 1, |onesided, methods| {
                onesided.put(methods, target, short.clone(), Token(first + 2)).unwrap();
                onesided.flush(methods, (Peer(0), key), Token(first + 3)).unwrap();
            });
            (2..=3).for_each(|token| succeeds(&mut bench, 1, first + token));
            assert!(small.source().to_vec()[..50_000] == data.source().to_vec()[..50_000]);
        }
    }
    assert!(small.source().to_vec()[80_000..] == [7; 20_000]);
}

/// Memory that is closed while a put comes gets nothing of what comes then.
#[test]
fn what_is_closed_gets_no_rest_of_a_put() {
    let mut bench = over_tcp();
    let (exposed, data) = (memory(&vec![0; MUCH]), memory(&vec![1; MUCH]));
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
    put(&mut bench, (key, 0), &data, [1, 2]);
    while exposed.source().to_vec()[0] == 0 {
        bench.step();
    }
    at(&mut bench, 0, |onesided, methods| onesided.forget(methods, key));
    let so_far = exposed.source().to_vec();
    assert!(so_far.contains(&0), "the system takes less than all of it at once");
    succeeds(&mut bench, 1, 1);
    let error = next_done(&mut bench, 1).outcome.unwrap_err();
    assert_eq!(error.class(), ErrorClass::RmaAttach);
    assert!(exposed.source().to_vec() == so_far);
}

/// Elements of a target that are not one run are put where they lie.
#[test]
fn a_long_put_may_be_scattered() {
    let mut bench = over_tcp();
    let (exposed, data) = (memory(&[9; 400_000]), pattern(200_000, 1));
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
    let every_other = Datatype::vector(1000, 50, 100, &Datatype::of::<i32>()).unwrap();
    at(&mut bench, 1, |onesided, methods| {
        let scattered = onesided.scatter(methods, Peer(0), (&every_other, 1));
        assert!(scattered.is_some());
        let target = Target { peer: Peer(0), key, memory: None, offset: 0, scattered };
        onesided.put(methods, target, all(&data), Token(1)).unwrap();
        onesided.flush(methods, (Peer(0), key), Token(2)).unwrap();
    });
    (1..=2).for_each(|token| succeeds(&mut bench, 1, token));
    let (came, sent) = (exposed.source().to_vec(), data.source().to_vec());
    for (block, of) in came.chunks(400).zip(sent.chunks(200)) {
        assert!(block[..200] == *of && block[200..].iter().all(|byte| *byte == 9));
    }
}

/// A put that is under way when its target is lost ends once, with the reason.
#[test]
fn a_long_put_to_who_is_lost_ends_once() {
    let mut bench = over_tcp();
    let (exposed, data) = (OwnedBuf::new(LEN), pattern(LEN, 1));
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
    put(&mut bench, (key, 0), &data, [1, 2]);
    let why = Error::other(ErrorClass::ProcAborted, "it is gone".to_owned());
    at(&mut bench, 1, |onesided, _| onesided.lose(Peer(0), &why, false));
    for token in 1..=2 {
        let done = at(&mut bench, 1, |onesided, _| onesided.next_done()).expect("it is over");
        assert_eq!(done.token, Token(token));
        assert_eq!(done.outcome.unwrap_err().class(), ErrorClass::ProcAborted);
    }
    for _ in 0..100 {
        bench.step();
        assert!(at(&mut bench, 1, |onesided, _| onesided.next_done()).is_none(), "it ends again");
    }
}

fn get(bench: &mut Bench, (key, offset): (RemoteKey, u64), into: &OwnedBuf, token: u64) {
    let target = Target { peer: Peer(0), key, memory: None, offset, scattered: None };
    at(bench, 1, |onesided, methods| onesided.get(methods, target, all(into), Token(token)).unwrap());
}

/// Answers in parts, with short ones between them, and into elements that are not one run.
#[test]
fn long_gets_bring_what_is_there() {
    let mut bench = over_tcp();
    let exposed = pattern(LEN, 3);
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
    let sent = exposed.source().to_vec();
    for (turn, len) in
        [LEN - 5000, 32 << 10, (32 << 10) - 1, (512 << 10) + 1, 1 << 20].into_iter().enumerate()
    {
        let (long, short, offset) = (OwnedBuf::new(len), OwnedBuf::new(100), 1001 * turn);
        get(&mut bench, (key, offset as u64), &long, 1);
        get(&mut bench, (key, 7), &short, 2);
        (1..=2).for_each(|token| succeeds(&mut bench, 1, token));
        assert!(long.source().to_vec() == sent[offset..][..len], "{len} bytes");
        assert!(short.source().to_vec() == sent[7..107]);
    }
    let every_other = Datatype::vector(1000, 50, 100, &Datatype::of::<i32>()).unwrap();
    let into = memory(&[9; 400_000]);
    let target = Target { peer: Peer(0), key, memory: None, offset: 0, scattered: None };
    let elements = Segment::new(into.user_buf(), 1, &every_other);
    at(&mut bench, 1, |onesided, methods| onesided.get(methods, target, elements, Token(3)).unwrap());
    succeeds(&mut bench, 1, 3);
    for (block, of) in into.source().to_vec().chunks(400).zip(sent.chunks(200)) {
        assert!(block[..200] == *of && block[200..].iter().all(|byte| *byte == 9));
    }
}

/// What is on its way when memory is closed leaves as it was; what was to follow does not.
#[test]
fn what_is_closed_is_read_no_more() {
    let mut bench = over_tcp();
    let (mut exposed, into) = (memory(&vec![5; MUCH]), OwnedBuf::new(MUCH));
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
    // The connection is made first.
    get(&mut bench, (key, 0), &OwnedBuf::new(8), 1);
    succeeds(&mut bench, 1, 1);
    get(&mut bench, (key, 0), &into, 2);
    bench.vcis[1].progress();
    // Nobody reads meanwhile, so the system's memory for it fills.
    (0..1000).for_each(|_| _ = bench.vcis[0].progress());
    at(&mut bench, 0, |onesided, methods| onesided.forget(methods, key));
    exposed.sink().copy_from(&vec![6; MUCH]);
    drop(exposed);
    let error = next_done(&mut bench, 1).outcome.unwrap_err();
    assert_eq!(error.class(), ErrorClass::RmaAttach);
    let came = into.source().to_vec();
    let end = came.iter().rposition(|byte| *byte != 0).expect("something came");
    assert!(end < MUCH - 1 && came[..=end].iter().all(|byte| *byte == 5));
}

/// What is said to belong to nothing, or to more than was asked for, goes nowhere, and what comes behind it is understood.
#[test]
fn bytes_that_belong_nowhere_are_dropped() {
    let mut bench = over_tcp();
    let (exposed, data) = (pattern(200_000, 1), memory(&[9; 200_000]));
    let key = at(&mut bench, 1, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
    let small = memory(&[8; 8]);
    let theirs = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&small))).unwrap();
    // The connection is made first.
    put(&mut bench, (theirs, 0), &memory(&[1; 8]), [1, 2]);
    (1..=2).for_each(|token| succeeds(&mut bench, 1, token));
    let into = OwnedBuf::new(100_000);
    let target = Target { peer: Peer(1), key, memory: None, offset: 0, scattered: None };
    let (get, flush) = at(&mut bench, 0, |onesided, methods| {
        onesided.get(methods, target, all(&into), Token(3)).unwrap();
        onesided.flush(methods, (Peer(1), key), Token(4)).unwrap();
        (onesided.serial - 1, onesided.serial)
    });
    let access = |scattered| Access { serial: 77, key: theirs, offset: 0, scattered };
    let unknown = Scattered { layout: 5, count: 3, from: 0 };
    let packets = [
        (Emit::answer(12_345), 100_000),
        (Emit::answer(get), 100_001),
        (Emit::answer(flush), 50_000),
        (Emit::put(access(None)), 200_000),
        (Emit::put(access(Some(unknown))), 60_000),
        (Emit::put(access(Some(Scattered { from: u64::MAX, count: 0, ..unknown }))), 60_000),
    ];
    for (emit, len) in packets {
        let part = || Segment::contiguous(data.user_buf(), len);
        let mut tries = 0;
        while at(&mut bench, 1, |_, methods| methods.send_in_place(Peer(0), &emit, None, part())).is_err() {
            bench.step();
            tries += 1;
            assert!(tries < 1_000_000, "it does not leave");
        }
    }
    (3..=4).for_each(|token| succeeds(&mut bench, 0, token));
    assert!(into.source().to_vec() == exposed.source().to_vec()[..100_000]);
    put(&mut bench, (theirs, 0), &memory(&[2; 8]), [5, 6]);
    (5..=6).for_each(|token| {
        _ = next_done(&mut bench, 1).outcome.map_err(|error| assert!(token == 6, "{error}"))
    });
    assert_eq!(small.source().to_vec(), [2; 8]);
}

/// The connection ends while bytes of a put and of a get are under way: both sides hear of it, once.
#[test]
fn a_connection_that_ends_ends_long_accesses() {
    for read in [false, true] {
        let mut bench = over_tcp();
        let (exposed, here) = (memory(&vec![5; MUCH]), memory(&vec![6; MUCH]));
        let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
        match read {
            true => get(&mut bench, (key, 0), &here, 1),
            false => put(&mut bench, (key, 0), &here, [1, 2]),
        }
        let (came, first) = if read { (&here, 6) } else { (&exposed, 5) };
        let mut steps = 0;
        while came.source().to_vec()[0] == first {
            bench.step();
            steps += 1;
            assert!(steps < 100_000, "nothing arrives");
        }
        bench.vcis[0].methods.exclude(Peer(1));
        for _ in 0..if read { 1 } else { 2 } {
            let error = next_done(&mut bench, 1).outcome.unwrap_err();
            assert_eq!(error.class(), ErrorClass::ProcAborted, "{error}");
        }
        let so_far = came.source().to_vec();
        (0..200).for_each(|_| bench.step());
        assert!(at(&mut bench, 1, |onesided, _| onesided.next_done()).is_none(), "it ends again");
        assert!(came.source().to_vec() == so_far && so_far[MUCH - 1] == first);
    }
}
