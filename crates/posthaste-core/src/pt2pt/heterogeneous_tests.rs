//! Engines of unlike format in the simulator: one is native, one keeps every number with its bytes in the other order.
//! What arrives must be the same values in the receiver's own order, whatever the type, the protocol, the direction
//! and the places where packets cut it.

use crate::buffer::OwnedBuf;
use crate::config::{Config, LongProtocol};
use crate::datatype::{Builtin, Datatype, Format, Kind, Measure, Segment};
use crate::error::ErrorClass;
use crate::method::sim::Weather;
use crate::named::Named;
use crate::pt2pt::send::Started;
use crate::testing::{Bench, ROUGH};

/// A generator for types and values.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % n
    }

    fn builtin(&mut self) -> &'static Builtin {
        &Builtin::all()[self.below(Builtin::all().len() as u64) as usize]
    }

    /// A nested type whose elements do not overlap.
    fn datatype(&mut self, depth: u64) -> Datatype {
        if depth == 0 || self.below(4) == 0 {
            return self.builtin().named.into();
        }
        match self.below(4) {
            0 => Datatype::contiguous(self.below(4) as i64, &self.datatype(depth - 1)).unwrap(),
            1 => {
                let child = self.datatype(depth - 1);
                Datatype::vector(1 + self.below(3) as i64, 2, 3, &child).unwrap()
            }
            2 => Datatype::dup(&self.datatype(depth - 1)).unwrap(),
            _ => {
                let children: Vec<Datatype> = (0..=self.below(3)).map(|_| self.datatype(depth - 1)).collect();
                let lengths: Vec<i64> = children.iter().map(|_| self.below(3) as i64).collect();
                let mut at = 0;
                let mut places = Vec::new();
                for (child, length) in children.iter().zip(&lengths) {
                    places.push(at - child.lb().min(0));
                    at += (child.extent().max(child.true_extent()) + 3) * length;
                }
                Datatype::structure(&lengths, &places, &children).unwrap()
            }
        }
    }
}

/// Random packed data of `count` elements, each number valid in its type, and the same with the bytes of every number
/// in the other order.
fn values(random: &mut Random, datatype: &Datatype, count: u64) -> (Vec<u8>, Vec<u8>) {
    let total = count * datatype.size();
    let mut native = Vec::with_capacity(total as usize);
    let mut swapped = Vec::with_capacity(total as usize);
    datatype.signature().runs(Measure::Native, 0, total, &mut |run| {
        let (numbers, extended) = match run.basic.kind {
            Kind::Complex(_) => (2, false),
            Kind::ComplexExtended => (2, true),
            Kind::Extended => (1, true),
            _ => (1, false),
        };
        for _ in 0..run.count * numbers {
            let mut number: Vec<u8> =
                (0..run.basic.size / numbers).map(|_| random.below(256) as u8).collect();
            if extended {
                // A normal number: integer bit set, exponent neither 0 nor the largest, padding zero.
                number[7] |= 0x80;
                number[8] = number[8].clamp(1, 0xfe);
                number[10..].fill(0);
            }
            native.extend(&number);
            swapped.extend(number.iter().rev());
        }
        true
    });
    (native, swapped)
}

/// Memory for `count` elements, and the segment of it.
fn memory(datatype: &Datatype, count: u64) -> (OwnedBuf, Segment) {
    let reach = datatype.extent().unsigned_abs() * count + datatype.true_extent().unsigned_abs() + 64;
    let mut buf = OwnedBuf::new(2 * reach as usize);
    let len = buf.len();
    buf.sink().copy_from(&vec![0xee; len]);
    let at = buf.user_buf().offset(reach as isize);
    (buf, Segment::typed(at, count, datatype))
}

fn packed(segment: &Segment) -> Vec<u8> {
    let mut bytes = vec![0; segment.len() as usize];
    segment.clone().pack(bytes[..].as_mut().into());
    bytes
}

/// Sends `count` elements and receives `room`; the error, if there is one. `formats[0]` sends.
fn exchange(
    seed: u64,
    formats: [Format; 2],
    (weather, config): (Weather, &Config),
    datatype: &Datatype,
    (count, room): (u64, u64),
) -> Option<ErrorClass> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut bench = Bench::with_formats(seed, &formats, weather, config);
    let (native, swapped) = values(&mut random, datatype, count);
    let of = |format| if format == Format::NATIVE { &native } else { &swapped };
    let (_from, out) = memory(datatype, count);
    out.clone().unpack(of(formats[0])[..].into());
    let (_to, into) = memory(datatype, room);
    let before = packed(&into);
    let early = random.below(2) == 0;
    let posted = early.then(|| bench.recv_segment(1, 0, 3, into.clone()));
    let started = bench.send_segment(0, 1, 3, out, random.below(4) == 0);
    for _ in 0..random.below(100) {
        bench.step();
    }
    let id = posted.unwrap_or_else(|| bench.recv_segment(1, 0, 3, into.clone()));
    let status = bench.finish(1, id);
    let whole = count.min(room) * datatype.size();
    let what = format!("seed {seed}, {count} into {room} of {datatype:?}");
    assert_eq!(status.bytes, whole, "{what}");
    let (whole, arrived) = (whole as usize, packed(&into));
    assert_eq!(arrived[..whole], of(formats[1])[..whole], "{what}");
    assert_eq!(arrived[whole..], before[whole..], "{what}: overrun");
    if let Started::Request(id) = started {
        assert!(bench.finish(0, id).error.is_none(), "{what}");
    }
    status.error.map(|error| error.class())
}

const NATIVE: Format = Format::NATIVE;

fn directions() -> [[Format; 2]; 4] {
    let swapped = NATIVE.swapped();
    [[NATIVE, swapped], [swapped, NATIVE], [swapped, swapped], [NATIVE, NATIVE]]
}

fn config(long: LongProtocol) -> Config {
    Config { long_protocol: long, eager_limit: 64, ..Config::default() }
}

#[test]
fn every_basic_type_arrives_in_the_receivers_order() {
    for (n, builtin) in Builtin::all().iter().enumerate() {
        let datatype = Datatype::from(builtin.named);
        for (formats, long) in
            directions().into_iter().zip([LongProtocol::Put, LongProtocol::Get].into_iter().cycle())
        {
            for count in [1, 3, 100] {
                let seed = n as u64 * 1000 + count;
                let verdict = exchange(seed, formats, (ROUGH, &config(long)), &datatype, (count, count));
                assert_eq!(verdict, None, "seed {seed}: {}", builtin.name);
            }
        }
    }
}

/// Packets of odd sizes, so that numbers are cut at any byte.
#[test]
fn nested_types_arrive_whatever_the_splits() {
    for seed in 1..=300u64 {
        let mut random = Random(seed);
        let datatype = random.datatype(4);
        let weather = Weather { packet: 90 + random.below(60) as usize, ..ROUGH };
        let long = [LongProtocol::Put, LongProtocol::Get][random.below(2) as usize];
        let formats = directions()[random.below(4) as usize];
        let count = random.below(12);
        let room = count + random.below(3);
        let verdict = exchange(seed, formats, (weather, &config(long)), &datatype, (count, room));
        assert_eq!(verdict, None, "seed {seed}");
    }
}

/// Types are checked by every protocol, and between unlike formats too: a signature has no byte order.
#[test]
fn other_types_are_an_error_and_the_bytes_arrive() {
    let (int, float) = (Datatype::from(Named::Int), Datatype::from(Named::Float));
    let pair = Datatype::from(Named::TwoInt);
    for seed in 1..=60u64 {
        let long = [LongProtocol::Put, LongProtocol::Get][seed as usize % 2];
        let formats = directions()[seed as usize % 4];
        let count = [2, 16, 500][seed as usize % 3];
        let mut bench = match seed % 3 {
            0 => Bench::over_tcp(seed, &formats, &config(long)),
            _ => Bench::with_formats(seed, &formats, ROUGH, &config(long)),
        };
        let (_from, out) = memory(&int, count);
        out.clone().unpack(vec![7; 4 * count as usize][..].into());
        for (received, room, class) in [(&float, count, Some(ErrorClass::Type)), (&pair, count, None)] {
            let (_to, into) = memory(received, room);
            let started = bench.send_segment(0, 1, 3, out.clone(), seed % 5 == 0);
            let id = bench.recv_segment(1, 0, 3, into.clone());
            let status = bench.finish(1, id);
            assert_eq!(status.error.map(|error| error.class()), class, "seed {seed}");
            assert_eq!(
                (status.bytes, packed(&into)[..][4 * count as usize - 1]),
                (4 * count, 7),
                "seed {seed}"
            );
            if let Started::Request(id) = started {
                assert!(bench.finish(0, id).error.is_none(), "seed {seed}");
            }
        }
    }
}

#[test]
fn a_message_that_is_too_long_is_cut_in_the_receivers_order_too() {
    for seed in 1..=100u64 {
        let mut random = Random(seed);
        let datatype = random.datatype(3);
        if datatype.size() == 0 {
            continue;
        }
        let long = [LongProtocol::Put, LongProtocol::Get][random.below(2) as usize];
        let room = random.below(9);
        let count = room + 1 + random.below(9);
        let formats = directions()[seed as usize % 2];
        let verdict = exchange(seed, formats, (ROUGH, &config(long)), &datatype, (count, room));
        assert_eq!(verdict, Some(ErrorClass::Truncate), "seed {seed}");
    }
}
