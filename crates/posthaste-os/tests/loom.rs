//! The shared-memory protocols under loom: every order in which two or three ranks can reach the same words.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p posthaste-os --release --test loom`; empty otherwise. Calls the
//! ring, the bounce buffers and the doorbell exactly as the core does, over the model in `posthaste_os::model`. What
//! must stay true: a run that ends without a panic has seen every record whole and in order, no access that races
//! with another, and nobody asleep over work. Tests that end in a panic leave out one step of the protocol, to
//! show that the model is sharp enough to notice.
#![cfg(loom)]

use std::sync::atomic::Ordering;
use std::time::Duration;

use loom::sync::atomic::{AtomicU32, AtomicU64};
use loom::sync::{Arc, Mutex};
use loom::thread;
use posthaste_os::bias::Bias;
use posthaste_os::counted_word::CountedWord;
use posthaste_os::lock_words::{LockWords, Waiter};
use posthaste_os::model::{Node, Shape};
use posthaste_os::park::{self, Parked, SleeperId, Wake, Wants};
use posthaste_os::pool;
use posthaste_os::ranges::Ranges;
use posthaste_os::ring::{HEADER, Load, Reader, Writer};
use posthaste_os::status_page::StatusPage;
use posthaste_os::wake::Doorbell;

/// A payload that takes a second cell.
const LONG: usize = 40;

fn explore(preemptions: Option<usize>, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(preemptions);
    builder.max_branches = 10_000;
    builder.check(run);
}

fn shape(ranks: usize, ring_cells: usize) -> Shape {
    Shape { ranks, ring_cells, buffers: 1, buffer_bytes: 4, payload_word: 2 }
}

fn try_send(writer: &mut Writer, mark: u8, len: usize) -> bool {
    let Some(mut claim) = writer.claim(len, Load::Message) else { return false };
    claim.set_header(&[mark; HEADER]);
    claim.payload().copy_from(&vec![mark; len]);
    claim.commit();
    true
}

fn send(writer: &mut Writer, mark: u8, len: usize) {
    while !try_send(writer, mark, len) {
        thread::yield_now();
    }
}

/// Takes the next record if there is one; it must be the one that `mark` and `len` say.
fn try_receive(reader: &mut Reader, mark: u8, len: usize) -> bool {
    let Some(record) = reader.peek().expect("a record that obeys the rules") else { return false };
    assert_eq!((record.header, record.payload.to_vec()), ([mark; HEADER], vec![mark; len]));
    reader.release();
    true
}

fn receive(reader: &mut Reader, mark: u8, len: usize) {
    while !try_receive(reader, mark, len) {
        thread::yield_now();
    }
}

/// Sends `before` and takes it, one record at a time; then both ends at once send and take `lens`.
fn stream(cells: usize, before: &[usize], lens: &'static [usize], preemptions: Option<usize>) {
    let before = before.to_vec();
    explore(preemptions, move || {
        let node = Node::new(shape(2, cells));
        let (mut writer, mut reader) = (Writer::new(&node, 1, 0), Reader::new(&node, 1, 0));
        for len in &before {
            send(&mut writer, 99, *len);
            receive(&mut reader, 99, *len);
        }
        let sender = thread::spawn(move || {
            for (mark, len) in lens.iter().enumerate() {
                send(&mut writer, mark as u8, *len);
            }
        });
        for (mark, len) in lens.iter().enumerate() {
            receive(&mut reader, mark as u8, *len);
        }
        sender.join().unwrap();
        assert!(reader.peek().unwrap().is_none());
    });
}

/// More one-cell records than fit, over the end of the ring.
#[test]
fn a_ring_of_four_cells_fills_and_goes_round() {
    stream(4, &[], &[0, 1, 32, 0, 8, 0], Some(3));
    stream(4, &[0, 0, 0], &[0, 1, 32], None);
}

/// Long and short records from every cell: the end of the ring is filled up where a long one does not fit.
#[test]
fn long_records_stay_in_one_piece() {
    for start in 0..8 {
        stream(8, &[0; 8][..start], &[LONG, 0, LONG, LONG], Some(3));
    }
}

/// The lap before left payload where sequence numbers are looked for, and it reads like this lap's number.
#[test]
fn what_payload_left_behind_is_cleared_before_anyone_looks() {
    for start in 0..3 {
        stream(8, &[LONG; 4], &[&[0, 0, LONG, 0], &[0, LONG, 0, 0], &[LONG, 0, 0, LONG]][start][..], Some(3));
    }
    stream(8, &[0, LONG, LONG, LONG], &[0, 0, 0, 0], Some(3));
}

/// A claim that is dropped may have been written to; nobody sees that.
#[test]
fn a_claim_that_is_dropped_leaves_nothing_to_find() {
    explore(Some(3), || {
        let node = Node::new(shape(2, 8));
        let (mut writer, mut reader) = (Writer::new(&node, 1, 0), Reader::new(&node, 1, 0));
        for _ in 0..6 {
            send(&mut writer, 99, 0);
            receive(&mut reader, 99, 0);
        }
        let sender = thread::spawn(move || {
            // Written at cells 6 and 7 of the first lap, then 1 and 2 of the second.
            for mark in 0..4 {
                if let Some(mut claim) = writer.claim(LONG, Load::Message) {
                    claim.payload().copy_from(&[7; LONG]);
                }
                send(&mut writer, mark, 0);
            }
        });
        (0..3).for_each(|mark| receive(&mut reader, mark, 0));
        // The last one is in the ring, or on its way: nothing else is.
        sender.join().unwrap();
        assert!(try_receive(&mut reader, 3, 0));
        assert!(reader.peek().unwrap().is_none());
    });
}

/// Bytes of a message; every message has its own.
fn byte(message: u8, at: usize) -> u8 {
    message * 16 + at as u8
}

/// Fills as much of `message` as there is room for; returns how far it has come.
fn fill(filler: &mut pool::Filler, message: u8, at: usize, len: usize) -> usize {
    let bytes: Vec<u8> = (at..len).map(|at| byte(message, at)).collect();
    at + filler.fill(bytes.len(), |mut sink| sink.copy_from(&bytes)).unwrap_or(0)
}

fn fill_all(filler: &mut pool::Filler, message: u8, len: usize) {
    let mut at = 0;
    while at < len {
        let now = fill(filler, message, at, len);
        if now == at {
            thread::yield_now();
        }
        at = now;
    }
}

/// Drains a whole message that begins at `start`, `piece` bytes at a time at most.
fn drain_all(buffer: &mut pool::Buffer, start: u64, piece: usize, len: usize) -> Vec<u8> {
    let (mut cursor, mut got) = (pool::Cursor::new(start, 0), Vec::new());
    while got.len() < len {
        let most = piece.min(len - got.len());
        if buffer.drain(&mut cursor, most, |source| got.extend(source.to_vec())).is_none() {
            thread::yield_now();
        }
    }
    got
}

/// Sender and receiver copy at once, round and round through a buffer that is smaller than the message.
#[test]
fn a_message_streams_through_a_small_buffer() {
    for piece in [1, 3, 4] {
        explore(Some(2), move || {
            let node = Node::new(shape(2, 4));
            let sender = node.clone();
            let sender = thread::spawn(move || {
                let mut filler = pool::claim(&sender, 1, 0).unwrap();
                assert_eq!(filler.index(), 0);
                fill_all(&mut filler, 1, 7);
            });
            let mut buffer = pool::Buffer::open(&node, 1, 0).unwrap();
            let got = drain_all(&mut buffer, 0, piece, 7);
            assert_eq!(got, (0..7).map(|at| byte(1, at)).collect::<Vec<_>>());
            let _ = buffer.give_back();
            sender.join().unwrap();
            assert!(pool::claim(&node, 1, 0).is_some());
        });
    }
}

/// Two messages through one buffer; each begins where the last ended, and `drained` makes the sender wait until
/// the last has been copied out.
fn persistent(drained: bool) {
    explore(Some(3), move || {
        let node = Node::new(shape(2, 4));
        let sender = node.clone();
        let sender = thread::spawn(move || {
            let mut filler = pool::claim(&sender, 1, 0).unwrap();
            for message in 0..2 {
                while drained && !filler.is_drained() {
                    thread::yield_now();
                }
                assert_eq!(filler.position(), u64::from(message) * 3);
                fill_all(&mut filler, message, 3);
            }
        });
        let mut buffer = pool::Buffer::open(&node, 1, 0).unwrap();
        for message in 0..2 {
            let got = drain_all(&mut buffer, u64::from(message) * 3, 3, 3);
            assert_eq!(got, (0..3).map(|at| byte(message, at)).collect::<Vec<_>>());
            buffer.finish(&pool::Cursor::new(0, 0));
        }
        sender.join().unwrap();
    });
}

/// Two messages lie whole in the buffer and are copied out in the other order, while the sender waits for room for a
/// third: it gets it when the first has been copied out, too, and overwrites nothing that has not been. `told` is the
/// packet that says that the two are there.
#[test]
fn messages_are_copied_out_in_any_order() {
    explore(Some(3), || {
        let node = Node::new(shape(2, 4));
        let told = Arc::new(AtomicU32::new(0));
        let (sender, tell) = (node.clone(), told.clone());
        let sender = thread::spawn(move || {
            let mut filler = pool::claim(&sender, 1, 0).unwrap();
            fill_all(&mut filler, 0, 2);
            fill_all(&mut filler, 1, 2);
            filler.mark_uncertain();
            tell.store(1, Ordering::Release);
            while !filler.is_certain() {
                thread::yield_now();
            }
            assert!(filler.is_drained() && filler.has_room(4));
            fill_all(&mut filler, 2, 3);
        });
        while told.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        let mut buffer = pool::Buffer::open(&node, 1, 0).unwrap();
        for message in [1, 0] {
            let (mut cursor, mut got) = (pool::Cursor::new(u64::from(message) * 2, 2), Vec::new());
            assert_eq!(buffer.drain(&mut cursor, 2, |source| got.extend(source.to_vec())), Some(2));
            assert_eq!(got, (0..2).map(|at| byte(message, at)).collect::<Vec<_>>());
            buffer.finish(&pool::Cursor::new(0, 0));
        }
        assert_eq!(drain_all(&mut buffer, 4, 3, 3), (0..3).map(|at| byte(2, at)).collect::<Vec<_>>());
        sender.join().unwrap();
    });
}

#[test]
fn a_persistent_buffer_serves_message_after_message() {
    persistent(true);
}

#[test]
fn a_persistent_buffer_serves_messages_that_overlap() {
    persistent(false);
}

/// Two senders want the one buffer: whoever gets it second finds everything of the first one's over.
#[test]
fn a_buffer_goes_from_sender_to_sender() {
    explore(Some(2), || {
        let node = Node::new(shape(3, 4));
        let senders: Vec<_> = (1..3)
            .map(|rank| {
                let node = node.clone();
                thread::spawn(move || {
                    let mut filler = loop {
                        match pool::claim(&node, 0, 0) {
                            Some(filler) => break filler,
                            None => thread::yield_now(),
                        }
                    };
                    fill_all(&mut filler, rank, 3);
                })
            })
            .collect();
        let mut firsts = Vec::new();
        for start in [0, 3] {
            let mut buffer = pool::Buffer::open(&node, 0, 0).unwrap();
            let got = drain_all(&mut buffer, start, 2, 3);
            firsts.push(got[0] / 16);
            assert_eq!(got, (0..3).map(|at| byte(got[0] / 16, at)).collect::<Vec<_>>());
            let _ = buffer.give_back();
        }
        firsts.sort_unstable();
        assert_eq!(firsts, [1, 2]);
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

/// Who finds no buffer free is woken, whichever comes first: its look, or the end of the message in the buffer.
#[test]
fn who_finds_no_buffer_is_heard_of() {
    explore(None, || {
        let node = Node::new(shape(3, 4));
        let filler = pool::claim(&node, 0, 0).unwrap();
        let other = node.clone();
        let other = thread::spawn(move || pool::claim(&other, 0, 0).is_none());
        let is_wanted = filler.give_back_unused();
        assert_eq!(other.join().unwrap(), is_wanted);
    });
}

/// A buffer that was claimed and not needed goes to whoever waits for one.
#[test]
fn an_unused_buffer_comes_back() {
    explore(None, || {
        let node = Node::new(shape(3, 4));
        let unused = pool::claim(&node, 0, 0).unwrap();
        let other = node.clone();
        let other = thread::spawn(move || {
            while pool::claim(&other, 0, 0).is_none() {
                thread::yield_now();
            }
        });
        let _ = unused.give_back_unused();
        other.join().unwrap();
        assert!(pool::claim(&node, 0, 0).is_none());
    });
}

/// No buffer has two senders, and the spare ones stay.
#[test]
fn claims_exclude_each_other() {
    explore(None, || {
        let node = Node::new(Shape { buffers: 3, ..shape(3, 4) });
        let other = node.clone();
        let claimed = thread::spawn(move || pool::claim(&other, 0, 1).map(|filler| filler.index()));
        let mine: Vec<_> =
            (0..2).filter_map(|_| pool::claim(&node, 0, 1)).map(|filler| filler.index()).collect();
        let mut all: Vec<_> = mine.into_iter().chain(claimed.join().unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1]);
    });
}

/// Waits as `core::wait` does; `look` is one look at everything, true when something happened. The second look
/// can be left out.
fn wait(doorbell: &Doorbell, look_again: bool, mut look: impl FnMut() -> bool) {
    while !look() {
        let ticket = doorbell.about_to_sleep();
        if look_again && look() {
            doorbell.stay_awake();
            return;
        }
        doorbell.sleep(ticket, Duration::MAX);
        doorbell.stay_awake();
    }
}

/// Each sender sends `each` records to one sleeper. It only looks at rings that were announced, as `core` does.
fn records_wake(senders: usize, each: u8, look_again: bool) {
    explore(Some(5 - senders), move || {
        let node = Node::new(shape(senders + 1, 4));
        let sleeper = Doorbell::new(&node, 0);
        let threads: Vec<_> = (1..=senders)
            .map(|rank| {
                let (mut writer, bell) = (Writer::new(&node, 0, rank), Doorbell::new(&node, rank));
                thread::spawn(move || {
                    for mark in 0..each {
                        send(&mut writer, mark, 0);
                        bell.ring(0);
                    }
                })
            })
            .collect();
        let mut readers: Vec<_> = (1..=senders).map(|rank| (Reader::new(&node, 0, rank), 0)).collect();
        for _ in 0..senders * usize::from(each) {
            wait(&sleeper, look_again, || {
                let active = sleeper.active(0);
                let mut rings = readers.iter_mut().enumerate();
                rings.any(|(at, (reader, next))| {
                    let got = active & (2 << at) != 0 && try_receive(reader, *next, 0);
                    *next += u8::from(got);
                    got
                })
            });
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_record_wakes_the_sleeper() {
    records_wake(1, 1, true);
    records_wake(1, 2, true);
}

/// Only one of the senders makes the system call, and that is enough.
#[test]
fn records_of_two_senders_wake_the_sleeper() {
    records_wake(2, 1, true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_the_second_look_a_record_is_slept_over() {
    records_wake(1, 1, false);
}

/// The receiver forgets that the ring was active while the sender is at it.
fn forgotten_rings_are_announced_again(look_again: bool) {
    explore(None, move || {
        let node = Node::new(shape(2, 4));
        let (mut writer, mut reader) = (Writer::new(&node, 1, 0), Reader::new(&node, 1, 0));
        let (bell, sleeper) = (Doorbell::new(&node, 0), Doorbell::new(&node, 1));
        bell.ring(1);
        let sender = thread::spawn(move || {
            send(&mut writer, 0, 0);
            bell.ring(1);
        });
        sleeper.clear_active(&[1, 0, 0, 0, 0, 0]);
        let mut again = u64::from(look_again);
        wait(&sleeper, true, || {
            sleeper.active(0) | std::mem::take(&mut again) != 0 && try_receive(&mut reader, 0, 0)
        });
        sender.join().unwrap();
    });
}

#[test]
fn a_ring_that_was_forgotten_is_announced_again() {
    forgotten_rings_are_announced_again(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_a_look_at_what_was_forgotten_a_record_is_slept_over() {
    forgotten_rings_are_announced_again(false);
}

/// A sender sleeps until the full ring has room; the reader wakes it when it says how far it has come.
fn room_wakes(look_again: bool) {
    explore(Some(4), move || {
        let node = Node::new(shape(2, 4));
        let (mut writer, mut reader) = (Writer::new(&node, 1, 0), Reader::new(&node, 1, 0));
        let (sleeper, bell) = (Doorbell::new(&node, 0), Doorbell::new(&node, 1));
        (0..3).for_each(|mark| send(&mut writer, mark, 0));
        let receiver = thread::spawn(move || {
            for mark in 0..3 {
                receive(&mut reader, mark, 0);
                if reader.has_published() {
                    bell.ring_for_room(0);
                }
            }
            reader
        });
        wait(&sleeper, look_again, || try_send(&mut writer, 3, 0));
        assert!(try_receive(&mut receiver.join().unwrap(), 3, 0));
    });
}

#[test]
fn room_in_the_ring_wakes_the_sender() {
    room_wakes(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_the_second_look_room_is_slept_over() {
    room_wakes(false);
}

/// The same for a bounce buffer: both sides sleep when they have nothing to do.
#[test]
fn both_ends_of_a_bounce_buffer_sleep_and_are_woken() {
    explore(Some(3), || {
        const LEN: usize = 6;
        let node = Node::new(shape(2, 4));
        let (sending, receiving) = (Doorbell::new(&node, 0), Doorbell::new(&node, 1));
        let mut filler = pool::claim(&node, 1, 0).unwrap();
        let (mut buffer, mut cursor) = (pool::Buffer::open(&node, 1, 0).unwrap(), pool::Cursor::new(0, 0));
        let sender = thread::spawn(move || {
            let mut at = 0;
            while at < LEN {
                wait(&sending, true, || {
                    let before = at;
                    at = fill(&mut filler, 1, before, LEN);
                    at > before
                });
                sending.ring(1);
            }
        });
        let mut got = Vec::new();
        while got.len() < LEN {
            wait(&receiving, true, || {
                buffer.drain(&mut cursor, 3, |source| got.extend(source.to_vec())).is_some()
            });
            if buffer.has_published() {
                receiving.ring_for_room(0);
            }
        }
        assert_eq!(got, (0..LEN).map(|at| byte(1, at)).collect::<Vec<_>>());
        sender.join().unwrap();
    });
}

#[test]
fn a_board_is_read_whole_or_not_at_all() {
    // Every order, in two minutes, shows no more.
    explore(Some(4), || {
        let words: std::sync::Arc<Vec<AtomicU64>> =
            std::sync::Arc::new((0..4).map(|_| AtomicU64::new(0)).collect());
        let owner = {
            let words = words.clone();
            thread::spawn(move || {
                StatusPage::over(&words).write(&[1; 16]);
                StatusPage::over(&words).write(&[2; 9]);
            })
        };
        if let Some(text) = StatusPage::over(&words).read() {
            assert!([vec![], vec![1; 16], vec![2; 9]].contains(&text), "{text:?}");
        }
        owner.join().unwrap();
        assert_eq!(StatusPage::over(&words).read(), Some(vec![2; 9]));
    });
}

/// What two threads of a process and their peer share: requests that are over, as far as anybody has looked.
#[derive(Default)]
struct Requests {
    /// What has come from the peer and nobody has looked at.
    arrived: Vec<usize>,
    over: [bool; 2],
    sleeper: [Option<SleeperId>; 2],
    /// What no packet tells.
    word: bool,
    parked: Parked,
}

impl Requests {
    /// One step of progress: looks at what has come, for everybody.
    fn progress(&mut self) -> Vec<Wake> {
        let mut wakes = Vec::new();
        for request in std::mem::take(&mut self.arrived) {
            self.over[request] = true;
            wakes.extend(self.sleeper[request].and_then(|sleeper| self.parked.ended(sleeper)));
        }
        wakes
    }
}

fn wake(wakes: impl IntoIterator<Item = Wake>) {
    wakes.into_iter().for_each(|wake| wake.now(|| unreachable!("nobody sleeps at a bell")));
}

/// Waits for a request as `core::wait` does.
fn wait_for(shared: &Mutex<Requests>, request: usize) {
    let mut slept = false;
    loop {
        let mut vci = shared.lock().unwrap();
        let mut wakes = vci.progress();
        if vci.over[request] {
            if slept {
                vci.parked.stops_looking();
            }
            wakes.extend(vci.parked.call_listener());
            drop(vci);
            return wake(wakes);
        }
        if std::mem::replace(&mut slept, true) {
            vci.parked.stops_looking();
        }
        let sleeper = vci.parked.register(Wants::Ends(1), true);
        vci.sleeper[request] = Some(sleeper);
        if vci.parked.is_listener(sleeper) {
            wakes.extend(vci.parked.look_again());
        }
        drop(vci);
        wake(wakes);
        park::park(Duration::ZERO);
        let mut vci = shared.lock().unwrap();
        vci.sleeper[request] = None;
        vci.parked.unregister(sleeper);
    }
}

/// Two threads wait for a message each, which come in this order.
fn two_wait(order: [usize; 2]) {
    explore(Some(3), move || {
        let shared = Arc::new(Mutex::new(Requests::default()));
        let threads = [0, 1].map(|request| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || wait_for(&shared, request))
        });
        for request in order {
            let mut vci = shared.lock().unwrap();
            vci.arrived.push(request);
            let listener = vci.parked.rouse_listener(); // the doorbell
            drop(vci);
            wake(listener);
        }
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(shared.lock().unwrap().parked.is_empty());
    });
}

#[test]
fn each_thread_is_woken_by_its_own_end_and_the_listener_hands_on() {
    two_wait([0, 1]);
    two_wait([1, 0]);
}

/// Waits for the word.
fn wait_for_word(shared: &Mutex<Requests>) {
    let mut slept = false;
    loop {
        let mut vci = shared.lock().unwrap();
        if slept {
            vci.parked.stops_looking();
        }
        if vci.word {
            let called = vci.parked.call_listener();
            drop(vci);
            return wake(called);
        }
        slept = true;
        let sleeper = vci.parked.register(Wants::Unannounced, true);
        drop(vci);
        park::park(Duration::ZERO);
        shared.lock().unwrap().parked.unregister(sleeper);
    }
}

/// One thread waits for a message, another one for a word in shared memory. The bell for that wakes the listener, whoever it is.
#[test]
fn who_waits_for_what_no_packet_tells_is_woken_while_another_one_listens() {
    explore(Some(3), || {
        let shared = Arc::new(Mutex::new(Requests::default()));
        let [for_message, for_word] = [Arc::clone(&shared), Arc::clone(&shared)];
        let message = thread::spawn(move || wait_for(&for_message, 0));
        let word = thread::spawn(move || wait_for_word(&for_word));
        let mut vci = shared.lock().unwrap();
        vci.word = true;
        let listener = vci.parked.rouse_listener(); // the doorbell
        drop(vci);
        wake(listener);
        word.join().unwrap();
        let mut vci = shared.lock().unwrap();
        vci.arrived.push(0);
        let listener = vci.parked.rouse_listener();
        drop(vci);
        wake(listener);
        message.join().unwrap();
        assert!(shared.lock().unwrap().parked.is_empty());
    });
}

/// A lock with a bias, as `sync` has it, around a value that loom watches.
struct Biased {
    bias: Bias,
    raw: Mutex<()>,
    value: loom::cell::UnsafeCell<u32>,
}

// SAFETY: what the test is about: the model stops when two threads are inside at once.
unsafe impl Send for Biased {}
// SAFETY: as above.
unsafe impl Sync for Biased {}

impl Biased {
    fn add(&self, thread: usize) {
        if self.bias.enter(thread) {
            self.value.with_mut(|value| unsafe { *value += 1 });
            return self.bias.leave(thread);
        }
        let _raw = self.raw.lock().unwrap();
        self.bias.revoke();
        self.value.with_mut(|value| unsafe { *value += 1 });
        self.bias.count(thread);
    }
}

#[test]
fn who_has_the_bias_and_who_takes_it_back_are_never_inside_together() {
    explore(Some(4), || {
        let lock =
            Biased { bias: Bias::new(true), raw: Mutex::new(()), value: loom::cell::UnsafeCell::new(0) };
        let lock = Arc::new(lock);
        // The first thread gets the bias by entering twice.
        (0..2).for_each(|_| lock.add(1));
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || (0..5).for_each(|_| lock.add(2)))
        };
        (0..2).for_each(|_| lock.add(1));
        other.join().unwrap();
        let _raw = lock.raw.lock().unwrap();
        lock.bias.revoke();
        assert_eq!(lock.value.with(|value| unsafe { *value }), 9);
    });
}

/// Memory under a lock: the model stops when two are inside at once of whom one writes.
struct Guarded {
    words: LockWords,
    /// Woken by who gives the lock back while somebody waits.
    asleep: Mutex<Vec<thread::Thread>>,
    value: loom::cell::UnsafeCell<u32>,
}

// SAFETY: what the tests are about.
unsafe impl Send for Guarded {}
// SAFETY: as above.
unsafe impl Sync for Guarded {}

/// Not one of the model, which cannot drop its own while it complains.
type Shared = std::sync::Arc<Guarded>;

impl Guarded {
    fn new() -> Shared {
        let value = loom::cell::UnsafeCell::new(0);
        Shared::new(Self { words: LockWords::default(), asleep: Mutex::new(Vec::new()), value })
    }

    /// As `World::take_mapped_lock`: tries, says that it waits, and sleeps until it is woken.
    fn lock(&self, me: u32, exclusive: bool, says_so: bool) {
        if self.words.try_lock(me, exclusive) {
            return;
        }
        let mut waiter = if says_so { self.words.waits(exclusive) } else { Waiter::Exclusive(0) };
        loop {
            self.asleep.lock().unwrap().push(thread::current());
            if self.words.try_lock_in_turn(me, &mut waiter) {
                break;
            }
            if !self.words.is_free(waiter) {
                thread::park();
            }
        }
        if says_so {
            self.words.waits_no_more(waiter);
        }
    }

    fn unlock(&self, exclusive: bool) {
        if self.words.unlock(exclusive) {
            self.asleep.lock().unwrap().drain(..).for_each(|sleeper| sleeper.unpark());
        }
    }

    fn write(&self, me: u32, says_so: bool) {
        self.lock(me, true, says_so);
        self.value.with_mut(|value| unsafe { *value += 1 });
        self.unlock(true);
    }

    fn read(&self, me: u32) -> u32 {
        self.lock(me, false, true);
        let value = self.value.with(|value| unsafe { *value });
        self.unlock(false);
        value
    }
}

fn two_writers(says_so: bool) {
    explore(Some(3), move || {
        let memory = Guarded::new();
        let other = Shared::clone(&memory);
        let other = thread::spawn(move || other.write(1, says_so));
        memory.write(0, says_so);
        other.join().unwrap();
        assert_eq!(memory.read(0), 2);
    });
}

#[test]
fn writers_of_a_window_exclude_each_other_and_are_woken() {
    two_writers(true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_a_word_that_it_waits_a_writer_sleeps_for_good() {
    two_writers(false);
}

#[test]
fn writers_of_a_window_that_wait_are_woken_when_it_is_their_turn() {
    explore(Some(2), || {
        let memory = Guarded::new();
        assert!(memory.words.try_lock(0, true));
        let others = [1, 2].map(|me| {
            let other = Shared::clone(&memory);
            thread::spawn(move || other.write(me, true))
        });
        memory.unlock(true);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(memory.read(0), 2);
    });
}

#[test]
fn readers_of_a_window_see_what_the_writer_has_done() {
    explore(Some(3), || {
        let memory = Guarded::new();
        let other = Shared::clone(&memory);
        let writer = thread::spawn(move || other.write(1, true));
        assert!(memory.read(0) <= 1);
        writer.join().unwrap();
        assert_eq!(memory.read(0), 1);
    });
}

#[test]
fn one_member_at_a_time_changes_elements_that_need_a_lock() {
    explore(Some(3), || {
        let memory = Guarded::new();
        let add = |memory: &Guarded| {
            while !memory.words.try_busy(0) {
                thread::yield_now();
            }
            memory.value.with_mut(|value| unsafe { *value += 1 });
            memory.words.idle();
        };
        let other = Shared::clone(&memory);
        let other = thread::spawn(move || add(&other));
        add(&memory);
        other.join().unwrap();
        while !memory.words.try_busy(0) {
            thread::yield_now();
        }
        assert_eq!(memory.value.with(|value| unsafe { *value }), 2);
    });
}

/// What a member of a fence leaves out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    Nothing,
    /// The look between saying that it sleeps and sleeping.
    SecondLook,
    /// Ringing the others when it has seen all of them.
    Ringing,
}

/// As `World::fence_now` and `World::meet_at_fence`: every member writes its memory, comes, waits for the others, rings them, and reads
/// what they have written.
fn fences(members: usize, times: u32, leaves: Leaves) {
    fences_of(members, times, 2, leaves);
}

/// So many fences each time: with one the memory is not written again.
fn fences_of(members: usize, times: u32, each: u64, leaves: Leaves) {
    struct Member {
        word: CountedWord,
        memory: loom::cell::UnsafeCell<u32>,
    }
    // SAFETY: what the test is about.
    unsafe impl Sync for Member {}
    explore(Some(5 - members), move || {
        let node = Node::new(shape(members, 4));
        let new = |_| Member { word: CountedWord::default(), memory: loom::cell::UnsafeCell::new(0) };
        let window: std::sync::Arc<Vec<Member>> = std::sync::Arc::new((0..members).map(new).collect());
        let member = |me: usize| {
            let (bell, window) = (Doorbell::new(&node, me), std::sync::Arc::clone(&window));
            move || {
                for time in 1..=times {
                    window[me].memory.with_mut(|memory| unsafe { *memory = time });
                    for turn in 1..=each {
                        // After the second fence the memory may be written again.
                        let fence = (u64::from(time) - 1) * each + turn;
                        window[me].word.counts(fence);
                        let all_came = || window.iter().all(|member| member.word.count() >= fence);
                        wait(&bell, leaves != Leaves::SecondLook, all_came);
                        if leaves != Leaves::Ringing {
                            (0..window.len()).filter(|to| *to != me).for_each(|to| bell.ring_for_room(to));
                        }
                        let theirs = |member: &Member| member.memory.with(|memory| unsafe { *memory });
                        if fence % each == 1 % each {
                            assert!(window.iter().all(|member| theirs(member) == time), "fence {fence}");
                        }
                    }
                }
            }
        };
        let others: Vec<_> = (1..members).map(|rank| thread::spawn(member(rank))).collect();
        member(0)();
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn what_was_written_before_a_fence_is_there_behind_it() {
    fences(2, 1, Leaves::Nothing);
}

/// Nobody knows who of three is the last to come: whoever has seen all of them rings those who sleep.
#[test]
fn three_members_come_to_a_fence_in_any_order() {
    fences_of(3, 1, 1, Leaves::Nothing);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_the_ring_of_who_has_seen_all_one_of_three_sleeps_for_good() {
    fences_of(3, 1, 1, Leaves::Ringing);
}

#[test]
fn members_come_to_fence_after_fence() {
    fences(2, 2, Leaves::Nothing);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_the_second_look_a_fence_is_slept_over() {
    fences(2, 1, Leaves::SecondLook);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_the_ring_of_who_has_seen_all_a_member_sleeps_for_good() {
    fences(2, 1, Leaves::Ringing);
}

/// As `World::post`, `until_members_posted`, `complete_now` and `wait_exposure`: the target posts, the origin writes the target's memory and
/// completes, so many times; each tells the other one by a word of its own and rings it, and heeds what it is told once.
fn epochs(times: u64, leaves: Leaves) {
    #[derive(Default)]
    struct Words {
        posted: CountedWord,
        completed: CountedWord,
    }
    struct Target {
        words: Words,
        memory: loom::cell::UnsafeCell<u64>,
    }
    // SAFETY: what the test is about.
    unsafe impl Sync for Target {}
    explore(Some(3), move || {
        let node = Node::new(shape(2, 4));
        let memory = loom::cell::UnsafeCell::new(0);
        let target = std::sync::Arc::new(Target { words: Words::default(), memory });
        let tell = move |bell: &Doorbell, word: &CountedWord, to: usize| {
            word.counts(word.count() + 1);
            if leaves != Leaves::Ringing {
                bell.ring_for_room(to);
            }
        };
        let until = move |bell: &Doorbell, word: &CountedWord, heeded: u64| {
            wait(bell, leaves != Leaves::SecondLook, || word.count() > heeded);
        };
        let (bell, theirs) = (Doorbell::new(&node, 1), std::sync::Arc::clone(&target));
        let origin = thread::spawn(move || {
            for epoch in 0..times {
                until(&bell, &theirs.words.posted, epoch);
                theirs.memory.with_mut(|memory| unsafe { *memory += epoch + 1 });
                tell(&bell, &theirs.words.completed, 0);
            }
        });
        let bell = Doorbell::new(&node, 0);
        for epoch in 0..times {
            // Its own until it is exposed, and again once the origin has completed.
            target.memory.with_mut(|memory| unsafe { *memory *= 10 });
            tell(&bell, &target.words.posted, 1);
            until(&bell, &target.words.completed, epoch);
        }
        let expected = (1..=times).fold(0, |before, epoch| 10 * before + epoch);
        assert_eq!(target.memory.with(|memory| unsafe { *memory }), expected);
        origin.join().unwrap();
    });
}

#[test]
fn an_epoch_begins_behind_its_post_and_ends_behind_its_complete() {
    epochs(1, Leaves::Nothing);
}

#[test]
fn epochs_follow_each_other() {
    epochs(2, Leaves::Nothing);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_the_second_look_an_epoch_is_slept_over() {
    epochs(1, Leaves::SecondLook);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_a_ring_an_epoch_is_slept_over() {
    epochs(1, Leaves::Ringing);
}

/// Memory that is attached, and what tells others of it.
struct Attached {
    ranges: Ranges,
    /// Of the one who copies.
    word: AtomicU64,
    memory: loom::cell::UnsafeCell<u32>,
}

// SAFETY: what the tests are about.
unsafe impl Send for Attached {}
// SAFETY: as above.
unsafe impl Sync for Attached {}

/// A member copies where another one has attached memory, which that detaches and writes; it leaves out the wait, perhaps.
fn detach_while_others_copy(waits: bool) {
    explore(None, move || {
        let attached = std::sync::Arc::new(Attached {
            ranges: Ranges::default(),
            word: AtomicU64::new(0),
            memory: loom::cell::UnsafeCell::new(0),
        });
        attached.ranges.tell([(100, 140)].into_iter());
        let other = {
            let attached = std::sync::Arc::clone(&attached);
            thread::spawn(move || {
                // The beginning of one and the end of the other: nobody has told this range.
                assert!(attached.ranges.begin(&attached.word, 105, 50).is_none());
                if let Some(_using) = attached.ranges.begin(&attached.word, 100, 40) {
                    attached.memory.with_mut(|memory| unsafe { *memory += 1 });
                }
            })
        };
        let version = attached.ranges.tell([(120, 180)].into_iter());
        while waits && !version.is_unused_before(&attached.word) {
            thread::yield_now();
        }
        attached.memory.with_mut(|memory| unsafe { *memory += 1 });
        other.join().unwrap();
    });
}

#[test]
fn nobody_copies_where_memory_is_detached() {
    detach_while_others_copy(true);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn without_the_wait_a_copy_meets_the_owner() {
    detach_while_others_copy(false);
}
