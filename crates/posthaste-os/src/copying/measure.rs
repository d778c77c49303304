//! The measurement: two threads on two cores play ping-pong through the bounce buffers of a node segment, as two ranks would.
//!
//! What must stay true: it ends after [`LONGEST`] whatever the machine does, and what other programs have disturbed is
//! an error and no answer.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{LONG, LONGEST, MEDIUM, Measured, large_bytes};
use crate::machine;
use crate::mem::{Sink, Store};
use crate::node::Node;
use crate::pool::{self, Buffer, Cursor, Filler};

/// Bytes of the first piece of a message; pieces grow to four times that, as those of messages do.
const PIECE: usize = 8 << 10;
/// Rounds with one buffer, of 1 MiB each way where it is large; the first two only warm up.
const ROUNDS: usize = 9;
const WARM_UP: usize = 2;
/// Bytes of the memory of a side, which messages leave or enter in turns: more than the first caches hold, as programs' data are. The
/// string instruction is as fast as others between places that are at hand, and up to eight times as slow between others.
const OWN: usize = 16 * LONG;
/// What one side has of one kind of buffer: the end that it fills and the one that it drains.
struct Ends {
    filler: Filler,
    buffer: Buffer,
    store: Store,
    /// Bytes received.
    received: u64,
    /// Messages of each length in a round.
    messages: [usize; 2],
}

impl Ends {
    /// Sends one message, piece by piece; false when time is up.
    fn send(&mut self, from: &[u8], over: &AtomicBool) -> bool {
        let (mut at, mut piece) = (0, PIECE);
        while at < from.len() {
            let rest = &from[at..from.len().min(at + piece)];
            let store = self.store;
            match self.filler.fill(rest.len(), |mut sink: Sink<'_>| sink.send_from(rest, store)) {
                Some(n) => (at, piece) = (at + n, (2 * piece).min(4 * PIECE)),
                None if over.load(Ordering::Relaxed) => return false,
                None => std::hint::spin_loop(),
            }
        }
        true
    }

    /// Receives one message; false when time is up.
    fn receive(&mut self, to: &mut [u8], over: &AtomicBool) -> bool {
        let (mut cursor, mut at) = (Cursor::new(self.received, 0), 0);
        while at < to.len() {
            let rest = &mut to[at..];
            let store = self.store;
            match self.buffer.drain(&mut cursor, rest.len(), |source| _ = source.receive_to(rest, store)) {
                Some(n) => at += n,
                None if over.load(Ordering::Relaxed) => return false,
                None => std::hint::spin_loop(),
            }
        }
        self.received += to.len() as u64;
        self.buffer.finish(&cursor);
        true
    }
}

/// What is measured, in this order: size of the buffer and kind of copy.
const KINDS: [(bool, Store); 6] = [
    (false, Store::Plain),
    (false, Store::Streaming),
    (false, Store::String),
    (true, Store::Plain),
    (true, Store::Streaming),
    (true, Store::String),
];

/// Both sides of all kinds.
fn ends(large_bytes: usize) -> Option<[Vec<Ends>; 2]> {
    let large = KINDS.iter().filter(|(large, _)| *large).count();
    let node = Node::create(2).ok()?.with_own_buffers(large_bytes, 2 * large);
    let mut sides = [Vec::new(), Vec::new()];
    for (large, store) in KINDS {
        let messages = if large { [32, 8] } else { [16, 4] };
        let claim = |to| {
            if large { pool::claim_own(&node, to, large_bytes, false) } else { pool::claim(&node, to, 0) }
        };
        let fillers = [claim(1)?, claim(0)?];
        let buffers =
            [Buffer::open(&node, 0, fillers[1].index())?, Buffer::open(&node, 1, fillers[0].index())?];
        for ((side, filler), buffer) in sides.iter_mut().zip(fillers).zip(buffers) {
            side.push(Ends { filler, buffer, store, received: 0, messages });
        }
    }
    Some(sides)
}

/// The best and the second best time of a message, in ns.
pub(super) type Times = [u64; 2];

/// Plays one side of all rounds: times of a medium and a long message one way for each kind of buffer. `None` when time is
/// up.
fn play(mut kinds: Vec<Ends>, side: usize, over: &AtomicBool) -> Option<Vec<[Times; 2]>> {
    // Not zeros: pages that nobody has written are all the same one.
    let (from, mut to) = (vec![1 + side as u8; OWN], vec![1; OWN]);
    let mut next = 0;
    let mut all = vec![[[u64::MAX; 2]; 2]; kinds.len()];
    for (ends, times) in kinds.iter_mut().zip(&mut all) {
        for round in 0..ROUNDS {
            for (at, len) in [MEDIUM, LONG].into_iter().enumerate() {
                let (start, messages) = (Instant::now(), ends.messages[at]);
                for _ in 0..messages {
                    let first = if next + len > OWN { 0 } else { next };
                    let place = first..first + len;
                    next = place.end;
                    for way in 0..2 {
                        let goes_on = if way == side {
                            ends.send(&from[place.clone()], over)
                        } else {
                            ends.receive(&mut to[place.clone()], over)
                        };
                        if !goes_on {
                            return None;
                        }
                    }
                }
                let took = start.elapsed().as_nanos() as u64 / (2 * messages as u64);
                let [best, second] = &mut times[at];
                if round >= WARM_UP && took < *best {
                    (*second, *best) = (*best, took);
                } else if round >= WARM_UP {
                    *second = took.min(*second);
                }
            }
        }
    }
    Some(all)
}

/// The first of these CPUs, and the first of the others that is not the same core under another number.
fn two_cores(cpus: &[usize]) -> Option<(usize, usize)> {
    let (first, others) = cpus.split_first()?;
    let path = format!("/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list");
    let siblings = machine::cpu_list(fs::read_to_string(path).unwrap_or_default().trim()).unwrap_or_default();
    others.iter().find(|cpu| !siblings.contains(cpu)).map(|second| (*first, *second))
}

/// Measures on two cores of these CPUs.
pub(super) fn measure(cpus: &[usize]) -> Result<Measured, String> {
    let Some((first, second)) = two_cores(cpus) else { return Err("there is only one core".to_owned()) };
    let large_bytes = large_bytes();
    let Some([here, there]) = ends(large_bytes) else { return Err("there is no shared memory".to_owned()) };
    let over = AtomicBool::new(false);
    let deadline = Instant::now() + LONGEST;
    let times = std::thread::scope(|scope| {
        let over = &over;
        let sides = [(0, first, here), (1, second, there)].map(|(side, cpu, kinds)| {
            let play = move || {
                let times = if machine::pin(cpu) { play(kinds, side, over) } else { None };
                if times.is_none() {
                    over.store(true, Ordering::Relaxed);
                }
                times
            };
            let thread = std::thread::Builder::new().spawn_scoped(scope, play);
            if thread.is_err() {
                over.store(true, Ordering::Relaxed);
            }
            thread.ok()
        });
        while !sides.iter().flatten().all(std::thread::ScopedJoinHandle::is_finished) {
            if Instant::now() > deadline {
                over.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        sides.map(|side| side?.join().ok().flatten())
    });
    let [Some(times), Some(_)] = times else {
        return Err(format!("CPUs {first} and {second} are busy, or may not be used"));
    };
    judge(&times, large_bytes)
}

/// Times that were found only once say more about what else ran than about the processor.
pub(super) fn judge(times: &[[Times; 2]], large_bytes: usize) -> Result<Measured, String> {
    if times.len() != KINDS.len() {
        return Err("times are missing".to_owned());
    }
    if times.iter().flatten().any(|[best, second]| *second > best + best / 4 + 50) {
        return Err("other programs took the CPUs meanwhile".to_owned());
    }
    let best = |at: usize| times[at].map(|[best, _]| best);
    let (small, large) = ([best(0), best(1), best(2)], [best(3), best(4), best(5)]);
    Ok(Measured { small, large, large_bytes })
}
