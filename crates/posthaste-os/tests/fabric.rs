//! libfabric for real: two processes exchange packets and move memory, over each provider that works on any machine.
//!
//! The parent starts this very test binary again as its peer; they exchange their addresses through the child's
//! standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use posthaste_os::fabric::{
    Atomic, Completion, Endpoint, FILE, Library, NotStarted, Number, Place, Registration, Remote, Sizes,
    Step, Wanted,
};

const SIZES: Sizes = Sizes { packet: 4096, sends: 8, receives: 16, transfers: 8 };
const ROLE: &str = "POSTHASTE_TEST_FABRIC_PEER";
const PACKETS: u32 = 2000;
const LONG: usize = 3 << 20;

/// An endpoint, or a line that says why there is none.
fn endpoint(provider: &str) -> Option<Endpoint> {
    let file = std::env::var("POSTHASTE_TEST_LIBFABRIC").unwrap_or(FILE.to_owned());
    let found = Library::open(&file)
        .and_then(|library| library.providers(Wanted { provider: Some(provider), ..Wanted::default() }))
        .and_then(|found| found.into_iter().next().ok_or_else(|| std::io::Error::other("no provider")));
    match found {
        Ok(provider) => {
            let provider = provider.with_atomics().unwrap_or(provider);
            Some(Endpoint::open(provider, SIZES).expect("a provider that was found can be opened"))
        }
        Err(why) => {
            println!("omitted: no libfabric with provider {provider}: {why}");
            None
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
    (0..text.trim().len() / 2).map(|at| digits(2 * at)).collect()
}

/// One side: what has arrived, in order.
struct Side {
    endpoint: Endpoint,
    peer: Remote,
    arrived: std::collections::VecDeque<Vec<u8>>,
    moved: Vec<Result<u64, String>>,
    deadline: Instant,
}

impl Side {
    fn new(mut endpoint: Endpoint, address: &[u8]) -> Self {
        let peer = endpoint.connect(address).expect("the peer's address");
        let deadline = Instant::now() + Duration::from_secs(60);
        Self { endpoint, peer, arrived: Default::default(), moved: Vec::new(), deadline }
    }

    fn poll(&mut self) {
        let mut found = Vec::new();
        self.endpoint.poll(&mut found).expect("a poll");
        for completion in found {
            match completion {
                Completion::Arrived(arrived) => {
                    self.arrived.push_back(self.endpoint.bytes(&arrived).to_vec());
                    self.endpoint.repost(arrived);
                }
                Completion::Sent => {}
                Completion::Moved(token) => self.moved.push(Ok(token)),
                Completion::Failed(_, why) => self.moved.push(Err(why.to_string())),
                Completion::Lost(_, why) => panic!("a packet was lost: {why}"),
                Completion::Changed(..) => panic!("nothing was to be changed"),
            }
        }
        assert!(Instant::now() < self.deadline, "nothing happens");
    }

    fn send(&mut self, bytes: &[u8]) {
        loop {
            if let Some(slot) = self.endpoint.claim() {
                self.endpoint.sink(&slot).copy_from(bytes);
                match self.endpoint.send(slot, bytes.len(), self.peer) {
                    Ok(()) => return,
                    Err(NotStarted::Full(slot)) => self.endpoint.unclaim(slot),
                    Err(NotStarted::Failed(_, why)) => panic!("{why}"),
                }
            }
            self.poll();
        }
    }

    fn receive(&mut self) -> Vec<u8> {
        loop {
            if let Some(bytes) = self.arrived.pop_front() {
                return bytes;
            }
            self.poll();
        }
    }

    fn place(&mut self) -> Place {
        let bytes = self.receive();
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        Place { address: number(0), key: number(8) }
    }

    /// Moves `memory` in pieces that the provider takes; `reading` or writing.
    fn transfer(&mut self, memory: &mut [u8], local: &Registration, place: Place, reading: bool) {
        let most = self.endpoint.longest_transfer().min(1 << 20);
        let (mut under_way, mut at) = (0, 0);
        while under_way > 0 || at < memory.len() {
            if at < memory.len() {
                let n = most.min(memory.len() - at);
                let piece = (memory[at..].as_mut_ptr().expose_provenance(), n);
                let there = Place { address: place.address + at as u64, key: place.key };
                // SAFETY: the memory is borrowed exclusively until all transfers are over.
                let started = unsafe {
                    if reading {
                        self.endpoint.read(piece, Some(local), self.peer, there, at as u64)
                    } else {
                        self.endpoint.write(piece, Some(local), self.peer, there, at as u64)
                    }
                };
                match started {
                    Ok(()) => (under_way, at) = (under_way + 1, at + n),
                    Err(NotStarted::Full(())) => {}
                    Err(NotStarted::Failed((), why)) => panic!("{why}"),
                }
            }
            self.poll();
            for moved in self.moved.drain(..) {
                moved.expect("a transfer");
                under_way -= 1;
            }
        }
    }
}

fn pattern(salt: u8) -> Vec<u8> {
    (0..LONG).map(|at| (at / 7) as u8 ^ (at >> 12) as u8 ^ salt).collect()
}

fn packet(number: u32) -> Vec<u8> {
    let len = 4 + number as usize * 37 % 4093;
    let mut bytes = vec![number as u8; len];
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    bytes
}

/// What both sides do: exchange packets, then the child's memory is read, then written.
fn exchange(side: &mut Side, is_child: bool) {
    for number in 0..PACKETS {
        side.send(&packet(number));
        if number % 3 == 0 {
            assert_eq!(side.receive(), packet(number / 3), "packets stay in order");
        }
    }
    for number in PACKETS.div_ceil(3)..PACKETS {
        assert_eq!(side.receive(), packet(number), "packets stay in order");
    }
    let mut memory = pattern(u8::from(is_child));
    let registration = side
        .endpoint
        .register(memory.as_mut_ptr().expose_provenance(), memory.len())
        .expect("a registration");
    if is_child {
        let (address, key) = registration.place(memory.as_ptr().addr());
        side.send(&[address.to_le_bytes(), key.to_le_bytes()].concat());
        assert_eq!(side.receive(), b"written", "the write is over when this arrives");
        assert!(memory == pattern(2), "every byte was written");
        side.send(b"seen");
    } else {
        let place = side.place();
        side.transfer(&mut memory, &registration, place, true);
        assert!(memory == pattern(1), "every byte was read");
        memory = pattern(2);
        let again = side.endpoint.register(memory.as_mut_ptr().expose_provenance(), memory.len()).unwrap();
        side.transfer(&mut memory, &again, place, false);
        side.send(b"written");
        assert_eq!(side.receive(), b"seen");
    }
    while !side.endpoint.is_drained() {
        side.poll();
    }
}

fn two_processes(provider: &str) {
    let Some(endpoint) = endpoint(provider) else { return };
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_other_process", "--nocapture"])
        .env(ROLE, provider)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{}", hex(endpoint.address())).unwrap();
    let mut line = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    while !line.contains("address=") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "the other process ended early");
    }
    let address = unhex(line.trim().split_once("address=").unwrap().1);
    exchange(&mut Side::new(endpoint, &address), false);
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_other_process() {
    let Ok(provider) = std::env::var(ROLE) else { return };
    let endpoint = endpoint(&provider).expect("what the first process has found");
    println!("\naddress={}", hex(endpoint.address()));
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    exchange(&mut Side::new(endpoint, &unhex(line.trim())), true);
}

#[test]
fn two_processes_over_tcp() {
    two_processes("tcp");
}

#[test]
fn two_processes_over_shm() {
    two_processes("shm");
}

#[test]
fn a_sleeper_is_woken_by_a_packet() {
    let (Some(mut a), Some(mut b)) = (endpoint("tcp"), endpoint("tcp")) else { return };
    let to_b = a.connect(b.address()).unwrap();
    let mut found = Vec::new();
    // The first packet makes the connection, which takes both sides.
    let slot = a.claim().unwrap();
    let mut waiting = Some(slot);
    let deadline = Instant::now() + Duration::from_secs(20);
    while !found.iter().any(|completion| matches!(completion, Completion::Arrived(_))) {
        if let Some(slot) = waiting.take() {
            match a.send(slot, 8, to_b) {
                Ok(()) => {}
                Err(NotStarted::Full(slot)) => waiting = Some(slot),
                Err(NotStarted::Failed(_, why)) => panic!("{why}"),
            }
        }
        a.poll(&mut found).unwrap();
        b.poll(&mut found).unwrap();
        assert!(Instant::now() < deadline);
    }
    let began = Instant::now();
    let sender = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        let slot = a.claim().unwrap();
        assert!(a.send(slot, 8, to_b).is_ok());
        let mut found = Vec::new();
        while !a.is_drained() {
            a.poll(&mut found).unwrap();
        }
        a
    });
    found.clear();
    while !found.iter().any(|completion| matches!(completion, Completion::Arrived(_))) {
        if b.may_sleep() {
            let fd = b.wait_fd().expect("tcp has a descriptor");
            let mut poll =
                libc::pollfd { fd: std::os::fd::AsRawFd::as_raw_fd(&fd), events: libc::POLLIN, revents: 0 };
            // SAFETY: one entry, as said.
            unsafe { libc::poll(&mut poll, 1, 10_000) };
        }
        b.poll(&mut found).unwrap();
        assert!(began.elapsed() < Duration::from_secs(5), "a packet wakes");
    }
    assert!(began.elapsed() >= Duration::from_millis(100));
    drop(sender.join().unwrap());
}

#[test]
fn what_is_not_there_is_said() {
    let why = Library::open("libnothing-of-this-name.so.1").unwrap_err().to_string();
    assert!(why.contains("libnothing-of-this-name"), "{why}");
    let Some(mut endpoint) = endpoint("tcp") else { return };
    let why = endpoint.provider().name();
    assert!(why.starts_with("tcp"), "{why}");
    assert!(endpoint.connect(&[]).is_err());
    let library = Library::open(FILE);
    if let Ok(library) = library {
        let why = library
            .providers(Wanted { provider: Some("pigeon"), ..Wanted::default() })
            .unwrap_err()
            .to_string();
        assert!(why.contains("\"pigeon\""), "{why}");
    }
}

/// A peer that is gone is reported by what is sent to it.
#[test]
fn a_peer_that_is_gone_is_noticed() {
    let (Some(mut a), Some(b)) = (endpoint("tcp"), endpoint("tcp")) else { return };
    let to_b = a.connect(b.address()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut b = Some(b);
    let mut found = Vec::new();
    loop {
        let mut failed = false;
        if let Some(slot) = a.claim() {
            match a.send(slot, 8, to_b) {
                Ok(()) => {}
                Err(NotStarted::Full(slot)) => a.unclaim(slot),
                Err(NotStarted::Failed(slot, _)) => {
                    a.unclaim(slot);
                    failed = true;
                }
            }
        }
        a.poll(&mut found).unwrap();
        failed |= found.drain(..).any(|completion| matches!(completion, Completion::Lost(..)));
        if failed {
            assert!(b.is_none(), "lost while it was there");
            return;
        }
        if let Some(there) = &mut b {
            there.poll(&mut found).unwrap();
            if found.drain(..).any(|completion| matches!(completion, Completion::Arrived(_))) {
                b = None;
            }
        }
        assert!(Instant::now() < deadline, "nobody notices");
    }
}

/// Changes elements of this process's own memory by the network.
#[test]
fn elements_are_changed_by_every_step() {
    let Some(mut endpoint) = endpoint("tcp") else { return };
    let address = endpoint.address().to_vec();
    let own = endpoint.connect(&address).expect("the own address");
    let mut memory = [10_u64, 20, 30, 40];
    let start = memory.as_mut_ptr().expose_provenance();
    let registration = endpoint.register(start, size_of_val(&memory)).expect("a registration");
    let (address, key) = registration.place(start + 8);
    assert!(endpoint.atomic_limit(Number::U64) >= 2, "libfabric's tcp does no atomic operations");
    let mut change = |step, operands: [u64; 2], expected: u64, count: usize| {
        let slot = endpoint.claim().expect("a buffer");
        let room = endpoint.atomic_room();
        let (mut first, mut second) = endpoint.sink(&slot).split_at(room);
        first.copy_from(&operands.map(u64::to_le_bytes).concat()[..8 * count]);
        second.copy_from(&expected.to_le_bytes());
        let (what, there) = (Atomic { number: Number::U64, step, count }, Place { address, key });
        let deadline = Instant::now() + Duration::from_secs(60);
        let (mut found, mut waiting) = (Vec::new(), Some(slot));
        loop {
            if let Some(slot) = waiting.take() {
                match endpoint.atomic(slot, what, own, there, 7) {
                    Ok(()) => {}
                    Err(NotStarted::Full(slot)) => waiting = Some(slot),
                    Err(NotStarted::Failed(_, why)) => panic!("{why}"),
                }
            }
            endpoint.poll(&mut found).expect("a poll");
            if let Some(Completion::Changed(7, ended)) = found.pop() {
                let ended = ended.expect("an operation that is done");
                let old = endpoint.fetched(&ended, 8 * count).to_vec();
                endpoint.unclaim(ended);
                return old
                    .chunks(8)
                    .map(|old| u64::from_le_bytes(old.try_into().unwrap()))
                    .collect::<Vec<_>>();
            }
            assert!(Instant::now() < deadline, "nothing happens");
        }
    };
    assert_eq!(change(Step::Sum, [1, 2], 0, 2), [20, 30]);
    assert_eq!(change(Step::Read, [0, 0], 0, 2), [21, 32]);
    assert_eq!(change(Step::Write, [5, 0], 0, 1), [21]);
    assert_eq!(change(Step::CompareSwap, [9, 0], 4, 1), [5], "it is not as expected");
    assert_eq!(change(Step::CompareSwap, [9, 0], 5, 1), [5]);
    assert_eq!(change(Step::Max, [100, 3], 0, 2), [9, 32]);
    assert_eq!(change(Step::And, [0, 1], 0, 2), [100, 32]);
    drop(registration);
    // SAFETY: the network has changed it behind the compiler's back.
    let memory = unsafe { std::ptr::read_volatile(&memory) };
    assert_eq!(memory, [10, 0, 1, 40], "neighbours stay as they are");
}
