//! The memory of both sides: how the bytes of a message lie, with guard bytes around them and in the gaps.
//!
//! What a receive must leave behind is computed here from the lists of runs alone, without the engine's datatypes.

use std::collections::HashMap;

use std::sync::{Arc, Once};

use posthaste_core::buffer::{Base, Block, Memory as Bytes, device};
use posthaste_core::datatype::{Datatype, Segment};
use posthaste_os::heap::Heap;
use posthaste_os::simulated_device::{Region, SimulatedDevice};

/// What stands where nothing may be written.
const GUARD: u8 = 0xA5;
/// Guard bytes on each side.
const AROUND: usize = 64;

/// How the bytes of one side lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Layout {
    /// In one piece.
    Whole,
    /// In pieces shorter than the run limit of the matrix, on average.
    Pieces,
    /// In pieces longer than that.
    Blocks,
}

/// The shortest mean piece for direct copies from and into many, in the matrix.
pub(crate) const RUN_LIMIT: usize = 200;

impl Layout {
    pub(crate) const ALL: [Self; 3] = [Self::Whole, Self::Pieces, Self::Blocks];

    /// Where the runs of `len` bytes begin, and their lengths.
    fn runs(self, len: u64) -> Vec<(usize, usize)> {
        let (lengths, gaps): (&[usize], &[usize]) = match self {
            Self::Whole => (&[usize::MAX], &[0]),
            Self::Pieces => (&[1, 100, 7, 330, 40, 3], &[3, 8, 1, 5]),
            Self::Blocks => (&[700, 512, 1500], &[100, 4]),
        };
        let (mut at, mut left, mut runs) = (0, len as usize, Vec::new());
        for (length, gap) in lengths.iter().cycle().zip(gaps.iter().cycle()) {
            if left == 0 {
                break;
            }
            let length = left.min(*length);
            runs.push((at, length));
            at += length + gap;
            left -= length;
        }
        runs
    }

    /// Whether so many bytes lie in one piece.
    pub(crate) fn is_whole(self, len: u64) -> bool {
        self.runs(len).len() <= 1
    }

    /// The mean length of the pieces.
    pub(crate) fn mean_run(self, len: u64) -> u64 {
        len / (self.runs(len).len() as u64).max(1)
    }

    fn datatype(self, len: u64) -> Datatype {
        let runs = self.runs(len);
        let lengths: Vec<i64> = runs.iter().map(|(_, length)| *length as i64).collect();
        let places: Vec<i64> = runs.iter().map(|(at, _)| *at as i64).collect();
        Datatype::hindexed(&lengths, &places, &Datatype::byte()).unwrap()
    }
}

/// The bit that makes an address one of the simulated device, whose bytes lie where the address without it says. No such
/// address can be accessed.
const DEVICE: usize = 1 << 52;
/// Addresses of user space are below this.
const USER_SPACE: usize = 1 << 47;

/// Whose memory the messages of a matrix lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Host,
    /// A device's, whose copies wait and end in any order.
    Device,
}

impl Kind {
    /// The address that the engine gets.
    fn address(self, host: *mut u8) -> *mut u8 {
        static ONCE: Once = Once::new();
        match self {
            Self::Host => host,
            Self::Device => {
                let region = Region { base: DEVICE, len: USER_SPACE, view: 0 };
                // SAFETY: only addresses of the matrix's own memory get that bit, and it outlives its messages.
                let device = || unsafe { SimulatedDevice::over(vec![region], 1, 0) };
                ONCE.call_once(|| device::register(Arc::new(device())));
                host.map_addr(|address| address | DEVICE)
            }
        }
    }
}

/// The memories of a sender and of a receiver.
pub(crate) struct Memory {
    kind: Kind,
    source: Bytes<u8>,
    /// What `source` must still be in the end.
    original: Vec<u8>,
    target: Bytes<u8>,
    types: HashMap<(Layout, u64), Datatype>,
    /// Where the next message begins: each has other bytes than the one before it.
    shift: usize,
}

impl Memory {
    /// Memory for messages of up to `most` bytes, in these heaps.
    pub(crate) fn new(most: u64, heaps: &[Option<Arc<Heap>>; 2], kind: Kind) -> Self {
        let span = 3 * most as usize + SHIFTS + 2 * AROUND;
        let [mut source, mut target] =
            heaps.each_ref().map(|heap| Bytes::new(Block::new(heap.as_ref(), span).unwrap()));
        let original: Vec<u8> = (0..span).map(noise).collect();
        source.copy_from_slice(&original);
        target.fill(GUARD);
        Self { kind, original, source, target, types: HashMap::new(), shift: 0 }
    }

    /// Whose memory it is.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The next message, `len` bytes in `from`, and a receive of up to `room` bytes into `to`.
    pub(crate) fn segments(
        &mut self,
        (from, len): (Layout, u64),
        (to, room): (Layout, u64),
    ) -> (Segment, Segment) {
        self.shift = (self.shift + 1) % SHIFTS;
        // SAFETY: there is room for every run behind the shift, and both memories outlive the messages of a case.
        let source = unsafe { Base::new(self.kind.address(self.source.as_mut_ptr().add(self.shift))) };
        // SAFETY: as above.
        let target = unsafe { Base::new(self.kind.address(self.target.as_mut_ptr().add(AROUND))) };
        (self.segment(source, from, len), self.segment(target, to, room))
    }

    fn segment(&mut self, base: Base, layout: Layout, len: u64) -> Segment {
        if layout == Layout::Whole {
            return Segment::bytes_at(base, len);
        }
        let datatype = self.types.entry((layout, len)).or_insert_with(|| layout.datatype(len));
        Segment::elements_at(base, 1, datatype)
    }

    /// Whether the receiver's memory is what it must be after that; wipes it for the next message.
    pub(crate) fn check(
        &mut self,
        (from, len): (Layout, u64),
        (to, room): (Layout, u64),
    ) -> Result<(), String> {
        let mut message = Vec::with_capacity(len as usize);
        for (at, length) in from.runs(len) {
            message.extend_from_slice(&self.source[self.shift + at..][..length]);
        }
        let runs = to.runs(room);
        let span = runs.last().map_or(0, |(at, length)| at + length) + 2 * AROUND;
        let mut expected = vec![GUARD; span];
        let mut left = &message[..len.min(room) as usize];
        for (at, length) in runs {
            let (now, rest) = left.split_at(left.len().min(length));
            expected[AROUND + at..][..now.len()].copy_from_slice(now);
            left = rest;
        }
        let found = &mut self.target[..span];
        if *found == *expected {
            found.fill(GUARD);
            return Ok(());
        }
        let at = found.iter().zip(&expected).position(|(found, expected)| found != expected).unwrap_or(0);
        let (found, expected) = (found[at], expected[at]);
        Err(format!(
            "byte {} of the receiver's memory is {found}, expected {expected}",
            at as i64 - AROUND as i64
        ))
    }

    /// Nothing has written to the sender's memory, or behind the receiver's.
    pub(crate) fn check_rest(&self) {
        assert!(*self.source == self.original, "the sender's memory was changed");
        assert!(self.target.iter().all(|byte| *byte == GUARD), "the receiver's memory was changed far away");
    }
}

/// Places where a message may begin.
const SHIFTS: usize = 251;

/// A byte that hardly ever is the same elsewhere, whatever the distance: not even one round of a ring away.
fn noise(i: usize) -> u8 {
    let x = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 56) as u8
}
