//! The targets of the fuzzer: bytes become types and packets. `cargo test` gives each a second of random bytes; with
//! `cargo xtask fuzz` the same targets are led by coverage, for as long as one likes.
//!
//! What must stay true: no bytes make a constructor panic, move a byte that the type map does not name, or make an
//! engine panic or write outside the buffers of its receives.

use std::time::Duration;

use crate::oracle::{BASIC, Recipe, dimension, noise, sized};
use crate::pair::{Pair, Way};
use crate::segments::pack_and_unpack;
use posthaste_core::buffer::{Base, Block};
use posthaste_core::config::Config;
use posthaste_core::datatype::{Datatype, Dimension, Distribution, Order, Segment, Types};
use posthaste_core::error::Result;
use posthaste_core::ids::{ANY_SOURCE, ANY_TAG, ContextId, Peer, RequestId};
use posthaste_core::method::Load;
use posthaste_core::method::sim::Weather;
use posthaste_core::named::Named;
use posthaste_core::pt2pt::recv;
use posthaste_core::pt2pt::send::Started;
use posthaste_core::wire::{
    Access, Atomically, BufferCursor, Emit, Envelope, Granted, HEADER, Mode, Offer, Part, Refusal, Refused,
    RemoteKey, RemoteMemory, Scattered, WriteOutcome,
};

/// Time for random bytes in `cargo test`.
const BUDGET: Duration = Duration::from_secs(1);

/// Decisions taken from bytes; past the end all are 0.
struct Dice<'a>(&'a [u8]);

impl Dice<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number in `low..=high`, which are less than 256 apart.
    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::from(self.byte()) % (high - low + 1)
    }

    fn coin(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    fn list<T>(&mut self, most: i64, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.between(0, most)).map(|_| one(self)).collect()
    }

    fn take(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.byte()).collect()
    }

    /// A number of 64 bits, mostly one of those that go wrong.
    fn wide(&mut self) -> i64 {
        const EDGES: [i64; 12] =
            [0, 1, -1, 7, 1 << 31, -(1 << 31), 1 << 32, 1 << 61, 1 << 62, i64::MAX, i64::MIN, -(1 << 62)];
        match self.byte() {
            n @ 0..200 => EDGES[n as usize % EDGES.len()].wrapping_add(self.between(-4, 4)),
            _ => i64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }

    fn recipe(&mut self, depth: usize) -> Recipe {
        if depth == 0 || self.0.is_empty() {
            return Recipe::Builtin(BASIC[self.byte() as usize % BASIC.len()]);
        }
        let child = |dice: &mut Self| Box::new(dice.recipe(depth - 1));
        let entry = |dice: &mut Self| (dice.between(-9, 40), dice.between(0, 3));
        match self.byte() % 13 {
            0 => self.recipe(0),
            1 => Recipe::Contiguous(self.between(0, 6), child(self)),
            2 => Recipe::Vector(self.between(0, 6), self.between(0, 4), self.between(-6, 9), child(self)),
            3 => Recipe::Hvector(self.between(0, 6), self.between(0, 4), self.between(-50, 70), child(self)),
            4 => Recipe::Indexed(self.list(6, entry), child(self)),
            5 => Recipe::Hindexed(self.list(6, entry), child(self)),
            6 => {
                let length = self.between(0, 4);
                Recipe::IndexedBlock(length, self.list(6, |dice| dice.between(-9, 40)), child(self))
            }
            7 => {
                let length = self.between(0, 4);
                Recipe::HindexedBlock(length, self.list(6, |dice| dice.between(-60, 90)), child(self))
            }
            8 => {
                Recipe::Struct(self.list(4, |dice| (dice.between(-40, 90), dice.between(0, 3), *child(dice))))
            }
            9 => Recipe::Resized(self.between(-20, 20), self.between(-5, 90), child(self)),
            10 => Recipe::Dup(child(self)),
            11 => {
                let mut dimensions =
                    vec![dimension(2, self.between(1, 6), self.between(1, 3), self.between(0, 3))];
                dimensions.extend(self.list(2, |dice| {
                    dimension(dice.between(0, 2), dice.between(1, 6), dice.between(1, 3), dice.between(0, 3))
                }));
                Recipe::Darray(dimensions, self.between(0, 26), self.coin(), child(self))
            }
            _ => {
                let dimensions = self.list(3, |dice| {
                    let (part, more) = (dice.between(1, 4), dice.between(0, 4));
                    (part + more, part, dice.between(0, more))
                });
                if dimensions.is_empty() {
                    return *child(self);
                }
                Recipe::Subarray(dimensions, self.coin(), child(self))
            }
        }
    }

    /// A type built with arguments that may be anything, out of such types.
    fn hostile(&mut self, depth: usize) -> Result<Datatype> {
        const BASIC: [Named; 5] = [Named::Byte, Named::Int, Named::Double, Named::DoubleInt, Named::Real2];
        if depth == 0 || self.0.is_empty() {
            let handle = BASIC[self.byte() as usize % BASIC.len()];
            return Ok(handle.into());
        }
        let child = self.hostile(depth - 1)?;
        let numbers = |dice: &mut Self| dice.list(4, Self::wide);
        match self.byte() % 11 {
            0 => Datatype::contiguous(self.wide(), &child),
            1 => Datatype::vector(self.wide(), self.wide(), self.wide(), &child),
            2 => Datatype::hvector(self.wide(), self.wide(), self.wide(), &child),
            3 => Datatype::indexed(&numbers(self), &numbers(self), &child),
            4 => Datatype::hindexed(&numbers(self), &numbers(self), &child),
            5 => Datatype::indexed_block(self.wide(), &numbers(self), &child),
            6 => Datatype::hindexed_block(self.wide(), &numbers(self), &child),
            7 => {
                let types: Result<Vec<_>> =
                    self.list(3, |dice| dice.hostile(depth - 1)).into_iter().collect();
                Datatype::structure(&numbers(self), &numbers(self), &types?)
            }
            8 => Datatype::resized(&child, self.wide(), self.wide()),
            9 => {
                let dimensions = self.list(3, |dice| {
                    let kinds = [Distribution::None, Distribution::Block, Distribution::Cyclic];
                    let distribution = kinds[dice.byte() as usize % 3];
                    Dimension { size: dice.wide(), distribution, darg: dice.wide(), processes: dice.wide() }
                });
                let grid = dimensions.iter().map(|dimension| dimension.processes).fold(1, i64::wrapping_mul);
                let size = if self.coin() { grid } else { self.wide() };
                let rank = if self.coin() { 0 } else { self.wide() };
                Datatype::darray(size, rank, &dimensions, Order::C, &child)
            }
            _ => {
                let order = if self.coin() { Order::C } else { Order::Fortran };
                Datatype::subarray(&numbers(self), &numbers(self), &numbers(self), order, &child)
            }
        }
    }

    fn id(&mut self) -> RequestId {
        match self.byte() {
            255 => RequestId::NONE,
            n => RequestId { slot: u32::from(n % 5), generation: u32::from(n / 5 % 4) },
        }
    }

    fn cursor(&mut self) -> BufferCursor {
        let start = if self.coin() { 0 } else { self.wide() as u64 };
        BufferCursor { buffer: u32::from(self.byte() % 9), persistent: self.coin(), start }
    }

    /// A packet of which one thing or another is wrong.
    fn packet(&mut self, somewhere: usize) -> Emit {
        let len = if self.coin() { self.wide() as u64 } else { u64::from(self.byte()) };
        let (source, tag) = (self.between(-1, 1) as i32, self.between(-1, 2) as i32);
        let types = match self.byte() % 4 {
            0 => Datatype::of::<i32>().signature().types(3),
            1 => Types { canonical: true, ..Types::UNKNOWN },
            _ => Types::UNKNOWN,
        };
        let mode = [Mode::Standard, Mode::Synchronous, Mode::Ready][usize::from(self.byte() % 3)];
        let envelope = Envelope { context: ContextId::WORLD, source, tag, len, mode, types };
        let address = if self.coin() { somewhere as u64 } else { self.wide() as u64 };
        let memory = RemoteMemory::Address { address, key: 0 };
        let mut emit = match self.byte() % 11 {
            0 => Emit::eager(&envelope),
            1 => Emit::eager_synchronous(&envelope, self.id()),
            2 => {
                let offer = match self.byte() % 7 {
                    0 => Offer::Nothing,
                    6 => Offer::Memory(RemoteMemory::Shared { offset: self.wide() as u64 }),
                    4 => Offer::Write,
                    5 => Offer::Pipeline,
                    1 => Offer::Memory(memory),
                    _ => Offer::Stream { cursor: self.cursor(), filled: self.wide() as u64 },
                };
                Emit::request_to_send(&envelope, self.id(), offer)
            }
            // Nobody's memory: the peer of these tests is this very process.
            3 => {
                let granted = match self.byte() % 4 {
                    0 => Granted::Fragments,
                    1 => Granted::Memory(RemoteMemory::Address { address: 8, key: 0 }),
                    2 => Granted::Memory(RemoteMemory::Shared { offset: self.wide() as u64 }),
                    _ => Granted::Windows { until: self.wide() as u64 },
                };
                Emit::ok_to_send(self.id(), self.id(), granted)
            }
            9 => {
                let (receiver, offset, len) = (self.id(), self.byte().into(), self.wide() as u64);
                let part = Part { receiver, offset, len, memory: self.coin().then_some(memory) };
                if self.coin() { Emit::window(part) } else { Emit::filled(part) }
            }
            10 => self.onesided(),
            4 => Emit::data(self.id(), if self.coin() { self.byte().into() } else { self.wide() as u64 }),
            5 => Emit::stream(self.id(), self.cursor()),
            6 => Emit::fin(self.id(), self.coin()),
            7 => {
                let outcomes = [WriteOutcome::Done, WriteOutcome::Unreadable, WriteOutcome::Refused];
                Emit::written(self.id(), outcomes[usize::from(self.byte() % 3)])
            }
            _ => Emit::sync_ack(self.id()),
        };
        match self.byte() {
            0..16 => emit.header = std::array::from_fn(|_| self.byte()),
            16..64 => emit.header[self.byte() as usize % HEADER] ^= self.byte(),
            _ => {}
        }
        emit
    }

    /// About exposed memory, of which there may be as much as guards enclose.
    fn onesided(&mut self) -> Emit {
        let (slot, generation) = (self.between(0, 1) as u32, self.between(0, 2) as u32);
        let offset = if self.coin() { self.byte().into() } else { self.wide() as u64 };
        let (serial, key) = (self.byte().into(), RemoteKey { slot, generation });
        let (layout, count, from) =
            (self.between(0, 20) as u32, self.between(0, 9) as u32, self.byte().into());
        let scattered = self.coin().then_some(Scattered { layout, count, from });
        let access = Access { serial, key, offset, scattered };
        let len = if self.coin() { self.byte().into() } else { self.wide() as u64 };
        let operation = [0, 0x21, 0x22, 0x24, 0x28, 0x30, 0x38, 0x3c, 0x3d, 9][usize::from(self.byte()) % 10];
        let element = 0x200 + u16::from(self.byte());
        match self.byte() % 7 {
            0 => Emit::put(access),
            5 => Emit::layout(layout),
            1 => Emit::get(access, len),
            2 => Emit::atomic(access, Atomically { operation, element, fetches: self.coin() }),
            3 => Emit::flush(serial),
            4 => Emit::answer(serial),
            _ => Emit::refused(Refused { access, why: Refusal::OutOfRange, len, size: 0 }),
        }
    }
}

#[test]
fn types() {
    bolero::check!().with_test_time(BUDGET).with_max_len(400).for_each(|bytes| {
        let mut dice = Dice(bytes);
        let sizes: Vec<usize> = (0..4).map(|_| dice.between(1, 200) as usize).collect();
        let count = dice.between(0, 40) as u64;
        if let Some((model, count)) = sized(&dice.recipe(5), count, 60_000) {
            pack_and_unpack(&model, count, &sizes);
        }
    });
}

/// Whatever a constructor lets through can be asked and walked, without touching memory.
#[test]
fn arguments() {
    bolero::check!().with_test_time(BUDGET).with_max_len(300).for_each(|bytes| {
        let mut dice = Dice(bytes);
        let (count, position) = (dice.wide() as u64, dice.wide() as u64);
        let datatype = match dice.hostile(4) {
            Ok(datatype) => datatype,
            Err(why) => return assert!(!why.to_string().is_empty()),
        };
        assert_eq!(datatype.extent(), datatype.ub() - datatype.lb());
        assert!(datatype.true_extent() >= 0);
        assert!(!format!("{datatype:?} {}", datatype.layout()).is_empty());
        assert!(datatype.elements_in(datatype.size()).is_none_or(|n| n == datatype.elements()));
        datatype.elements_in(position);
        // SAFETY: no byte of it is ever moved.
        let nowhere = unsafe { Base::new(std::ptr::null_mut()) };
        let mut segment = Segment::elements_at(nowhere, count, &datatype);
        segment.seek(position);
        let (left, mut list) = (segment.remaining(), Vec::new());
        let most = left.min(1000);
        let bytes = segment.runs(16, most, &mut list);
        assert_eq!(bytes == 0, left == 0);
        assert_eq!(list.iter().map(|(_, len)| *len as u64).sum::<u64>(), bytes);
        segment.rest();
    });
}

/// Bytes as packets, from one who also sends and receives honestly.
#[test]
fn packets() {
    bolero::check!().with_test_time(BUDGET).with_max_len(600).for_each(|bytes| {
        let mut dice = Dice(bytes);
        let weather = Weather {
            packet: 100,
            window: 4,
            refuse: 0,
            delay: 0,
            get: true,
            refuse_get: 0,
            registers: false,
        };
        let way = match dice.byte() % 4 {
            0 => Way::Loopback,
            1 => Way::Simulator(weather),
            _ => {
                let own = if dice.coin() { 0 } else { 20_000 };
                Way::SharedMemory { oversubscribed: dice.coin(), ranks: 2, heap: true, own }
            }
        };
        let config = Config { eager_limit: 40, stream_chunk: 64, requests: 64, ..Config::default() };
        let pair = Pair::new(1, way, &config);
        // What packets that speak of shared memory may speak of.
        let _blocks = pair.heaps(way).map(|heap| Block::new(heap.as_ref(), 10_000));
        Story { pair, rooms: Vec::new(), open: Vec::new() }.run(&mut dice);
    });
}

/// What happens to two engines, of which the first one may lie.
struct Story {
    pair: Pair,
    /// Where receives may write, between guards.
    rooms: Vec<Box<[u8]>>,
    /// Requests, by VCI.
    open: Vec<(usize, RequestId)>,
}

impl Story {
    const GUARD: usize = 32;

    fn run(mut self, dice: &mut Dice<'_>) {
        let mut scratch: Vec<u8> = (0..4096).map(noise).collect();
        let somewhere = scratch.as_ptr().expose_provenance();
        let last = self.pair.receiver();
        let exposed = Segment::bytes_at(self.room(64), 64);
        self.pair.vcis[last].engine.with_onesided(|onesided, _| onesided.expose(&exposed)).unwrap();
        while !dice.0.is_empty() {
            let vci = if dice.coin() { last } else { 0 };
            match dice.byte() % 8 {
                0..3 => {
                    let emit = dice.packet(somewhere);
                    let len = if dice.coin() { 0 } else { dice.byte() as usize };
                    let bytes = dice.take(len.min(40));
                    scratch[..bytes.len()].copy_from_slice(&bytes);
                    // SAFETY: the bytes are in place until the packet is written.
                    let scratch = unsafe { Base::new(scratch.as_mut_ptr()) };
                    let mut data = Segment::bytes_at(scratch, len as u64);
                    if let Some(claim) = self.pair.vcis[0].methods.claim(
                        Peer(last as u32),
                        emit.front().len() + len,
                        Load::Control,
                    ) {
                        claim.write(&emit, Some(&mut data));
                    }
                }
                3 => self.post(vci, dice),
                4 => {
                    let len = if dice.coin() { dice.byte().into() } else { 3000 };
                    // SAFETY: the bytes stay until the end of the story.
                    let data = unsafe { Base::new(scratch.as_mut_ptr()) };
                    let segment = Segment::bytes_at(data, len);
                    let (tag, synchronous) = (dice.between(0, 2) as i32, dice.coin());
                    if self.pair.vcis[vci].engine.requests.ensure_room().is_ok()
                        && let Started::Request(id) = self.pair.send(vci, tag, segment, synchronous)
                    {
                        self.open.push((vci, id));
                    }
                }
                5 if !self.open.is_empty() => {
                    let (vci, id) = self.open[dice.byte() as usize % self.open.len()];
                    if dice.coin() {
                        recv::cancel(&mut self.pair.vcis[vci].engine, id);
                    }
                    self.pair.take(vci, id);
                }
                _ => {
                    self.pair.vcis[vci].progress();
                }
            }
        }
        for _ in 0..100 {
            self.pair.step();
        }
        for room in &self.rooms {
            let (front, back) = (&room[..Self::GUARD], &room[room.len() - Self::GUARD..]);
            assert!(front.iter().chain(back).all(|byte| *byte == 0xA5), "a guard was overwritten");
        }
    }

    /// So many bytes between guards.
    fn room(&mut self, len: usize) -> Base {
        let mut room = vec![0xA5u8; len + 2 * Self::GUARD].into_boxed_slice();
        // SAFETY: the room stays where it is until the end of the story.
        let base = unsafe { Base::new(room.as_mut_ptr().add(Self::GUARD)) };
        self.rooms.push(room);
        base
    }

    /// A receive of every other group of 8 bytes, or of a run.
    fn post(&mut self, vci: usize, dice: &mut Dice<'_>) {
        if self.pair.vcis[vci].engine.requests.ensure_room().is_err() {
            return;
        }
        let count = i64::from(dice.byte());
        let datatype = match dice.byte() % 2 {
            0 => Datatype::vector(count, 8, 16, &Datatype::byte()).unwrap(),
            _ => Datatype::contiguous(count * 7, &Datatype::byte()).unwrap(),
        };
        let base = self.room(datatype.true_extent() as usize);
        let source = if dice.coin() { ANY_SOURCE } else { dice.between(0, 1) as i32 };
        let tag = if dice.coin() { ANY_TAG } else { dice.between(0, 2) as i32 };
        let id = self.pair.recv(vci, source, tag, Segment::elements_at(base, 1, &datatype));
        self.open.push((vci, id));
    }
}
