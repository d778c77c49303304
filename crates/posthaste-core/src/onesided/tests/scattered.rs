//! Elements of a target that are not one run.

use super::*;

const LEN: usize = 4096;

/// `count` numbers, each `stride` numbers behind the last.
fn column(count: i64, stride: i64) -> Datatype {
    Datatype::vector(count, 1, stride, &Datatype::of::<i32>()).expect("a datatype")
}

/// The numbers of memory.
fn numbers(memory: &OwnedBuf) -> Vec<i32> {
    let bytes = memory.source().to_vec();
    bytes.as_chunks().0.iter().map(|bytes| i32::from_ne_bytes(*bytes)).collect()
}

/// What the target has been told so far.
fn layouts(bench: &Bench) -> u64 {
    bench.vcis[0].engine.counts.get(Counter::Layouts)
}

/// Two engines, the first of which exposes some memory.
struct Pair {
    bench: Bench,
    exposed: OwnedBuf,
    key: RemoteKey,
    tokens: u64,
}

impl Pair {
    fn new(mut bench: Bench) -> Self {
        let exposed = OwnedBuf::new(LEN);
        let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
        Self { bench, exposed, key, tokens: 0 }
    }

    /// Does one operation on elements from the beginning of the memory, and a flush.
    fn does(
        &mut self,
        (layout, count): (&Datatype, u64),
        start: impl FnOnce(&mut OneSided, &mut Methods, Target, Token) -> Result<()>,
    ) {
        let (key, token) = (self.key, self.tokens);
        self.tokens += 2;
        at(&mut self.bench, 1, |onesided, methods| {
            let scattered = onesided.scatter(methods, Peer(0), (layout, count));
            assert!(scattered.is_some(), "{layout:?} can be described");
            let target = Target { peer: Peer(0), key, memory: None, offset: 0, scattered };
            start(onesided, methods, target, Token(token)).unwrap();
            onesided.flush(methods, (Peer(0), key), Token(token + 1)).unwrap();
        });
        (token..token + 2).for_each(|token| succeeds(&mut self.bench, 1, token));
    }
}

/// Puts, gets and sums through many more layouts than a target keeps, long ones in many packets.
fn against_a_model(seed: u64, bench: Bench) {
    let mut pair = Pair::new(bench);
    let mut model = vec![0i32; LEN / 4];
    let layouts_used = if seed.is_multiple_of(2) { 10 } else { 40 };
    for round in 0..120 {
        let which = pair.bench.network.random(layouts_used) as i64;
        let (count, stride) = (2 + which, 2 + which % 7);
        let layout = Datatype::resized(&column(count, stride), 0, 4 * (count * stride + which % 3)).unwrap();
        let elements = 1 + pair.bench.network.random(2);
        let places: Vec<usize> = (0..elements as i64)
            .flat_map(|element| {
                (0..count).map(move |at| element * (count * stride + which % 3) + at * stride)
            })
            .map(|at| at as usize)
            .collect();
        let fresh: Vec<i32> = places.iter().map(|_| pair.bench.network.random(1000) as i32).collect();
        let data = memory(&fresh.iter().flat_map(|n| n.to_ne_bytes()).collect::<Vec<u8>>());
        let was: Vec<i32> = places.iter().map(|at| model[*at]).collect();
        let old = OwnedBuf::new(4 * places.len());
        match pair.bench.network.random(4) {
            0 => {
                pair.does((&layout, elements), |onesided, methods, target, token| {
                    onesided.put(methods, target, all(&data), token)
                });
                places.iter().zip(&fresh).for_each(|(at, n)| model[*at] = *n);
            }
            1 => {
                pair.does((&layout, elements), |onesided, methods, target, token| {
                    onesided.get(methods, target, all(&old), token)
                });
                assert_eq!(numbers(&old), was, "seed {seed}, round {round}: a get");
            }
            fetches => {
                let wanted = (fetches == 2).then(|| all(&old));
                let what = Atomic::Combine(Predefined::Sum, all(&data));
                pair.does((&layout, elements), |onesided, methods, target, token| {
                    onesided.atomic(methods, target, i32s(), what, wanted, token)
                });
                places.iter().zip(&fresh).for_each(|(at, n)| model[*at] += *n);
                if fetches == 2 {
                    assert_eq!(numbers(&old), was, "seed {seed}, round {round}: a sum");
                }
            }
        }
        assert_eq!(numbers(&pair.exposed), model, "seed {seed}, round {round}");
    }
    let told = layouts(&pair.bench);
    if layouts_used == 10 {
        assert_eq!(told, 10, "seed {seed}: each travels once");
    } else {
        assert!(
            (40..120).contains(&told),
            "seed {seed}: {told} descriptions: those that have gone come again"
        );
    }
}

#[test]
fn elements_that_lie_apart_are_reached_and_described_once() {
    for seed in 1..=20 {
        against_a_model(
            seed,
            Bench::new(seed, 2, if seed % 3 == 0 { CALM } else { ROUGH }, &Config::default()),
        );
    }
    for seed in 1..=2 {
        against_a_model(seed, Bench::over_tcp(seed, &[Format::NATIVE; 2], &Config::default()));
        against_a_model(seed, Bench::over_mailboxes(seed, 2, &Config::default()));
        let links = Bench::over_links(seed, &[Format::NATIVE; 2], &[CALM, CALM], &Config::default());
        against_a_model(seed, links);
    }
}

/// Numbers are given away while accesses by them wait to leave; elements lie before the place, too, and backwards.
#[test]
fn a_number_is_given_away_behind_what_it_was_for() {
    const OPERATIONS: u64 = 60;
    for seed in 1..=10 {
        let mut bench = Bench::new(seed, 2, if seed % 3 == 0 { CALM } else { ROUGH }, &Config::default());
        let exposed = OwnedBuf::new(LEN);
        let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
        let (mut model, mut kept) = (vec![0i32; LEN / 4], Vec::new());
        for token in 0..OPERATIONS {
            // Four numbers, of which the middle ones lie before the first, three times, each time lower.
            let gap = 1 + bench.network.random(40) as i64;
            let offsets = [0, -4 * gap, -4 * (gap + 1), 4 * gap];
            let four = Datatype::hindexed_block(1, &offsets, &Datatype::of::<i32>()).unwrap();
            let layout = Datatype::resized(&four, 0, -8 * (gap + 9)).unwrap();
            let place = 500i64;
            let places = (0..3).flat_map(|n| offsets.map(|offset| place + n * -2 * (gap + 9) + offset / 4));
            let fresh: Vec<i32> = (0..12).map(|_| bench.network.random(1000) as i32).collect();
            let data = memory(&fresh.iter().flat_map(|n| n.to_ne_bytes()).collect::<Vec<u8>>());
            let adds = bench.network.random(2) == 0;
            for (at, n) in places.zip(&fresh) {
                let number = &mut model[at as usize];
                *number = if adds { *number + n } else { *n };
            }
            at(&mut bench, 1, |onesided, methods| {
                let scattered = onesided.scatter(methods, Peer(0), (&layout, 3));
                let target = Target { peer: Peer(0), key, memory: None, offset: 4 * place as u64, scattered };
                if adds {
                    let what = Atomic::Combine(Predefined::Sum, all(&data));
                    onesided.atomic(methods, target, i32s(), what, None, Token(token)).unwrap();
                } else {
                    onesided.put(methods, target, all(&data), Token(token)).unwrap();
                }
            });
            kept.push(data);
        }
        at(&mut bench, 1, |onesided, methods| {
            onesided.flush(methods, (Peer(0), key), Token(OPERATIONS)).unwrap();
        });
        (0..=OPERATIONS).for_each(|token| succeeds(&mut bench, 1, token));
        assert_eq!(numbers(&exposed), model, "seed {seed}");
        assert!(layouts(&bench) > 20, "seed {seed}: numbers have been given away");
    }
}

/// Who meets a peer again after they have parted tells it anew.
#[test]
fn after_parting_layouts_are_described_again() {
    let mut pair = Pair::new(Bench::new(1, 2, CALM, &Config::default()));
    let data = memory(&[1; 12]);
    for expected in 1..=2 {
        for _ in 0..2 {
            pair.does((&column(3, 4), 1), |onesided, methods, target, token| {
                onesided.put(methods, target, all(&data), token)
            });
        }
        assert_eq!(layouts(&pair.bench), expected);
        at(&mut pair.bench, 1, |onesided, _| onesided.parted(Peer(0)));
    }
}

/// More than a packet holds, in each direction.
#[test]
fn long_accesses_go_on_where_they_were() {
    for seed in 1..=5 {
        let mut bench = Bench::new(seed, 2, ROUGH, &Config::default());
        let bytes: Vec<u8> = (0..200_000u32).map(|at| (at * 13 / 7) as u8).collect();
        let (exposed, data, back) =
            (OwnedBuf::new(2 * bytes.len()), memory(&bytes), OwnedBuf::new(bytes.len()));
        let key = at(&mut bench, 0, |onesided, _| onesided.expose(&all(&exposed))).unwrap();
        let layout = Datatype::vector(bytes.len() as i64 / 20, 20, 40, &Datatype::of::<u8>()).unwrap();
        at(&mut bench, 1, |onesided, methods| {
            let scattered = onesided.scatter(methods, Peer(0), (&layout, 1));
            let target = Target { peer: Peer(0), key, memory: None, offset: 20, scattered };
            onesided.put(methods, target, all(&data), Token(1)).unwrap();
            onesided.get(methods, target, all(&back), Token(2)).unwrap();
        });
        (1..=2).for_each(|token| succeeds(&mut bench, 1, token));
        assert_eq!(back.source().to_vec(), bytes, "seed {seed}");
        let there = exposed.source().to_vec();
        for (block, at) in bytes.chunks(20).zip((20..).step_by(40)) {
            assert_eq!((&there[at - 20..at], &there[at..at + 20]), (&[0; 20][..], block), "seed {seed}");
        }
    }
}

/// What a peer says of elements is believed as far as they lie in the memory.
#[test]
fn beyond_the_memory_no_element_is_reached() {
    let mut bench = Bench::new(1, 2, CALM, &Config::default());
    let (whole, data) = (memory(&[7; 64]), memory(&[1; 1000]));
    let exposed = Segment::contiguous(whole.user_buf().offset(16), 32);
    let key = at(&mut bench, 0, |onesided, _| onesided.expose(&exposed)).unwrap();
    let back = Datatype::hindexed(&[4, 4], &[0, -8], &Datatype::of::<u8>()).unwrap();
    let (own, other) = at(&mut bench, 1, |onesided, methods| {
        let own = onesided.scatter(methods, Peer(0), (&column(2, 4), 1)).unwrap();
        (own, onesided.scatter(methods, Peer(0), (&back, 1)).unwrap())
    });
    let range = "the memory has 32 bytes";
    let unknown = "it does not know how the elements lie";
    let wrong = [
        (13, own, 8, ErrorClass::RmaRange, range),
        (u64::MAX, own, 8, ErrorClass::RmaRange, range),
        (7, other, 8, ErrorClass::RmaRange, range),
        (29, other, 8, ErrorClass::RmaRange, range),
        (0, Scattered { count: 3, ..own }, 24, ErrorClass::RmaRange, range),
        (0, Scattered { count: u32::MAX, ..own }, 8, ErrorClass::RmaRange, range),
        (0, Scattered { count: 0, ..own }, 8, ErrorClass::RmaRange, range),
        (0, own, 9, ErrorClass::RmaRange, range),
        (0, Scattered { from: 1, ..own }, 8, ErrorClass::RmaRange, range),
        (0, Scattered { from: u64::MAX, ..own }, 8, ErrorClass::RmaRange, range),
        (0, Scattered { layout: 2, ..own }, 8, ErrorClass::Intern, unknown),
        (0, Scattered { layout: u32::MAX, ..own }, 8, ErrorClass::Intern, unknown),
    ];
    for (offset, scattered, len, class, why) in wrong {
        let target = Target { peer: Peer(0), key, memory: None, offset, scattered: Some(scattered) };
        let segment = || Segment::contiguous(data.user_buf(), len);
        let text = format!("rank 0 of the world refuses access to {len} bytes at {offset}: {why}");
        at(&mut bench, 1, |onesided, methods| onesided.get(methods, target, segment(), Token(1))).unwrap();
        fails(&mut bench, 1, 1, class, &text);
        at(&mut bench, 1, |onesided, methods| {
            onesided.put(methods, target, segment(), Token(2)).unwrap();
            onesided.flush(methods, (Peer(0), key), Token(3)).unwrap();
        });
        succeeds(&mut bench, 1, 2);
        fails(&mut bench, 1, 3, class, &text);
        if len.is_multiple_of(4) {
            at(&mut bench, 1, |onesided, methods| {
                let what = Atomic::Combine(Predefined::Sum, segment());
                onesided.atomic(methods, target, i32s(), what, None, Token(4)).unwrap();
                onesided.flush(methods, (Peer(0), key), Token(5)).unwrap();
            });
            succeeds(&mut bench, 1, 4);
            fails(&mut bench, 1, 5, class, &text);
        }
    }
    // Runs that are no whole elements have no sum.
    let halves = Datatype::hindexed(&[2, 2], &[0, 8], &Datatype::of::<u8>()).unwrap();
    at(&mut bench, 1, |onesided, methods| {
        let scattered = onesided.scatter(methods, Peer(0), (&halves, 1));
        let target = Target { peer: Peer(0), key, memory: None, offset: 0, scattered };
        let what = Atomic::Combine(Predefined::Sum, Segment::contiguous(data.user_buf(), 4));
        onesided.atomic(methods, target, i32s(), what, None, Token(6)).unwrap();
        onesided.flush(methods, (Peer(0), key), Token(7)).unwrap();
    });
    succeeds(&mut bench, 1, 6);
    assert_eq!(next_done(&mut bench, 1).outcome.unwrap_err().class(), ErrorClass::Op);
    assert_eq!(whole.source().to_vec(), [7; 64]);
}

#[test]
fn a_layout_that_takes_too_many_words_is_not_described() {
    // A packet of the second network holds no description.
    let narrow = Bench::over_links(1, &[Format::NATIVE; 2], &[ROUGH, CALM], &Config::default());
    let mut benches = [Bench::new(1, 2, CALM, &Config::default()), narrow];
    for (bench, is_wide) in benches.iter_mut().zip([true, false]) {
        at(bench, 1, |onesided, methods| {
            assert_eq!(onesided.scatter(methods, Peer(0), (&column(9, 4), 1)).is_some(), is_wide);
        });
    }
    let bench = &mut benches[0];
    let offsets: Vec<i64> = (0..200i64).map(|at| at * at * 8).collect();
    let irregular = Datatype::hindexed_block(4, &offsets, &Datatype::of::<u8>()).unwrap();
    at(bench, 1, |onesided, methods| {
        assert_eq!(onesided.scatter(methods, Peer(0), (&irregular, 1)), None);
        assert_eq!(onesided.scatter(methods, Peer(0), (&column(2, 4), 1 << 32)), None);
    });
}
