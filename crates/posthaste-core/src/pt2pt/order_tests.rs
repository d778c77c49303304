//! Non-overtaking (MPI-5.0 §3.5) and flow control in the simulator: random sends, receives, probes, matched probes and
//! cancels over several peers and communicators, against a naive oracle that knows nothing but the standard's words. Buffers lie
//! in memory of the processor or of a device, whose copies wait and fail.

use std::sync::Arc;
use std::time::{Duration, Instant};

use posthaste_os::simulated_device::SimulatedDevice;

use crate::buffer::device::testing::simulated;
use crate::config::Config;
use crate::datatype::Format;
use crate::ids::{ANY_SOURCE, ANY_TAG, ContextId, Peer, RequestId};
use crate::method::sim::Weather;
use crate::progress::Vci;
use crate::pt2pt::send::Started;
use crate::pt2pt::{Pattern, cancel, probe, recv, send};
use crate::request::Status;
use crate::testing::{Bench, Buffer, CALM, ROUGH};
use crate::trace::Counter;
use crate::wire::{Envelope, Mode};

const ENGINES: u32 = 3;
const CONTEXTS: u64 = 2;
const TAGS: u64 = 3;
/// Lengths are below this prime, and no two messages of a run have the same.
const LENGTHS: u64 = 211;

fn len_of(message: usize) -> u64 {
    4 + message as u64 * 37 % LENGTHS
}

struct Message {
    from: usize,
    to: usize,
    context: u64,
    tag: i32,
    data: Buffer,
    /// The request, until it is over.
    request: Option<RequestId>,
    /// It was cancelled, or its data could not be copied out: it does not arrive.
    cancelled: bool,
    /// The receive that got it.
    got_by: Option<usize>,
}

struct Receive {
    at: usize,
    pattern: Pattern,
    into: Buffer,
    request: Option<RequestId>,
    cancelled: bool,
    got: Option<usize>,
}

/// A run, and what a program could know of it.
struct Run {
    seed: u64,
    /// By how much messages are longer than their lengths say.
    stretch: u64,
    /// Where about half of the buffers lie.
    device: Option<Arc<SimulatedDevice>>,
    /// Copies of it that have failed.
    failed: usize,
    bench: Bench,
    messages: Vec<Message>,
    /// In the order of posting; a matched probe that found something counts as posted at that moment.
    receives: Vec<Receive>,
}

impl Run {
    fn new(seed: u64, weather: Weather, config: &Config) -> Self {
        Self::on(Bench::new(seed, ENGINES, weather, config), seed, 1)
    }

    fn on(bench: Bench, seed: u64, stretch: u64) -> Self {
        let (device, failed, messages, receives) = (None, 0, Vec::new(), Vec::new());
        Self { seed, stretch, device, failed, bench, messages, receives }
    }

    fn random(&self, n: u64) -> u64 {
        self.bench.network.random(n)
    }

    fn engine(&self) -> usize {
        self.random(ENGINES.into()) as usize
    }

    fn pattern(&self) -> Pattern {
        let source = if self.random(3) == 0 { ANY_SOURCE } else { self.engine() as i32 };
        let tag = if self.random(3) == 0 { ANY_TAG } else { self.random(TAGS) as i32 };
        Pattern { context: ContextId(self.random(CONTEXTS)), source, tag }
    }

    fn fits(pattern: &Pattern, message: &Message) -> bool {
        pattern.context.0 == message.context
            && (pattern.source == ANY_SOURCE || pattern.source == message.from as i32)
            && (pattern.tag == ANY_TAG || pattern.tag == message.tag)
    }

    fn send(&mut self, from: usize, to: usize, context: u64, tag: i32) {
        let number = self.messages.len();
        let len = self.stretch * len_of(number);
        let mut data = self.buffer(len);
        data.fill(&(0..len as usize).map(|at| (at + number * 13) as u8).collect::<Vec<u8>>());
        let segment = data.all();
        let (synchronous, types) = (self.random(4) == 0, segment.types());
        let envelope = Envelope {
            context: ContextId(context),
            source: from as i32,
            tag,
            len,
            mode: if synchronous { Mode::Synchronous } else { Mode::Standard },
            types,
        };
        let Vci { engine, methods, .. } = &mut self.bench.vcis[from];
        let start = if segment.is_plain() { send::start } else { send::start_general };
        let request = match start(engine, methods, Peer(to as u32), &envelope, segment).unwrap() {
            Started::Complete => None,
            Started::Request(id) => Some(id),
        };
        let (cancelled, got_by) = (false, None);
        self.messages.push(Message { from, to, context, tag, data, request, cancelled, got_by });
    }

    /// A buffer somewhere.
    fn buffer(&self, len: u64) -> Buffer {
        Buffer::new(len as usize, self.device.as_ref().filter(|_| self.random(2) == 0))
    }

    fn recv(&mut self, at: usize, pattern: Pattern) {
        let into = self.buffer(2 * LENGTHS * self.stretch);
        let segment = into.all();
        let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
        let request = Some(recv::start(engine, methods, &pattern, segment).unwrap());
        self.receives.push(Receive { at, pattern, into, request, cancelled: false, got: None });
        self.look();
    }

    fn mprobe(&mut self, at: usize, pattern: Pattern) {
        let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
        let Some(message) = probe::take(engine, methods, &pattern) else { return };
        let into = self.buffer(2 * LENGTHS * self.stretch);
        let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
        let request = Some(recv::start_unexpected(engine, methods, message, into.all()).unwrap());
        self.receives.push(Receive { at, pattern, into, request, cancelled: false, got: None });
        self.look();
    }

    /// A probe may only find the first message of its sender that fits and that nobody has got.
    fn probe(&mut self, at: usize, pattern: Pattern) {
        self.look();
        let Vci { engine, methods, .. } = &mut self.bench.vcis[at];
        let Some(Status { source, tag, bytes, .. }) = probe::probe(engine, methods, &pattern) else { return };
        let found = self.messages.iter().position(|message| message.data.len() as u64 == bytes).unwrap();
        let message = &self.messages[found];
        let seed = self.seed;
        assert!(message.to == at && Self::fits(&pattern, message), "seed {seed}: probe found of {found}");
        assert_eq!((source, tag), (message.from as i32, message.tag), "seed {seed}");
        assert!(message.got_by.is_none() && !message.cancelled, "seed {seed}: {found} was gone");
        for (before, other) in self.messages[..found].iter().enumerate() {
            // One that is being cancelled may be gone already although its sender does not know yet.
            let cancelling = other.request.is_some_and(|id| {
                self.bench.vcis[other.from]
                    .engine
                    .requests
                    .get(id)
                    .is_some_and(|r| r.cancelling || r.status.cancelled)
            });
            // One may have been matched by a receive that has not ended.
            let reassembly = self.receives.iter().any(|r| r.request.is_some() && r.at == at);
            let same = other.from == message.from && other.to == at && Self::fits(&pattern, other);
            assert!(
                !same || other.got_by.is_some() || other.cancelled || cancelling || reassembly,
                "seed {seed}: a probe found of {found}, but {before} comes first"
            );
        }
    }

    fn cancel_send(&mut self, number: usize) {
        let message = &self.messages[number];
        if let Some(id) = message.request {
            let Vci { engine, methods, .. } = &mut self.bench.vcis[message.from];
            assert!(cancel::cancel(engine, methods, id));
        }
        self.look();
    }

    fn cancel_receive(&mut self, number: usize) {
        let receive = &self.receives[number];
        if let Some(id) = receive.request {
            let Vci { engine, methods, .. } = &mut self.bench.vcis[receive.at];
            assert!(cancel::cancel(engine, methods, id));
        }
        self.look();
    }

    /// Takes what is over.
    fn look(&mut self) {
        for message in &mut self.messages {
            let Some(id) = message.request else { continue };
            if let Some(status) = self.bench.take(message.from, id) {
                message.request = None;
                let copy_failed = copy_failed(&message.data, &status);
                message.cancelled = status.cancelled || copy_failed;
                self.failed += usize::from(copy_failed);
                assert_eq!(status.error.is_some(), copy_failed, "seed {}: {status:?}", self.seed);
            }
        }
        for number in 0..self.receives.len() {
            let Some(id) = self.receives[number].request else { continue };
            let Some(status) = self.bench.take(self.receives[number].at, id) else { continue };
            self.receives[number].request = None;
            self.receives[number].cancelled = status.cancelled;
            if !status.cancelled {
                self.received(number, &status);
            }
        }
    }

    fn received(&mut self, number: usize, status: &Status) {
        let seed = self.seed;
        let receive = &mut self.receives[number];
        let message = (0..self.messages.len()).find(|at| self.stretch * len_of(*at) == status.bytes).unwrap();
        let got = &mut self.messages[message];
        assert_eq!((status.source, status.tag), (got.from as i32, got.tag), "seed {seed}");
        assert!(
            receive.at == got.to && Self::fits(&receive.pattern, got),
            "seed {seed}: {message} does not fit"
        );
        assert_eq!(got.got_by, None, "seed {seed}: message {message} came twice");
        assert!(!got.cancelled, "seed {seed}: message {message} was cancelled and came all the same");
        let copy_failed = copy_failed(&receive.into, status);
        assert_eq!(status.error.is_some(), copy_failed, "seed {seed}: {status:?}");
        self.failed += usize::from(copy_failed);
        let (data, into) = (got.data.bytes(), receive.into.bytes());
        assert!(copy_failed || into[..data.len()] == data[..], "seed {seed}: message {message}");
        assert!(into[data.len()..].iter().all(|byte| *byte == 0), "seed {seed}: behind message {message}");
        got.got_by = Some(number);
        receive.got = Some(message);
    }

    /// Takes steps until `done`. A kernel with small buffers takes its time.
    fn until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(20) {
            for _ in 0..1000 {
                self.look();
                if done(self) {
                    return;
                }
                self.bench.step();
            }
        }
        panic!("seed {}: {what} does not end", self.seed);
    }

    /// Receives what is left, by everything or one by one from the last.
    fn drain(&mut self) {
        for number in 0..self.receives.len() {
            self.cancel_receive(number);
        }
        self.until("a cancelled receive", |run| run.receives.iter().all(|r| r.request.is_none()));
        self.until("a copy", |run| run.bench.vcis.iter().all(|vci| !vci.engine.has_staged()));
        // A cancelled send ends whatever others do: one that cannot be had back has been matched.
        let cancelling: Vec<usize> = (0..self.messages.len())
            .filter(|at| {
                let message = &self.messages[*at];
                message.request.is_some_and(|id| {
                    self.bench.vcis[message.from].engine.requests.get(id).is_some_and(|r| r.cancelling)
                })
            })
            .collect();
        self.until("a cancelled send", |run| cancelling.iter().all(|at| run.messages[*at].request.is_none()));
        let backwards = self.random(2) == 0;
        let mut left: Vec<usize> = (0..self.messages.len())
            .filter(|at| !self.messages[*at].cancelled && self.messages[*at].got_by.is_none())
            .collect();
        if backwards {
            left.reverse();
        }
        for number in left {
            let Message { from, to, context, tag, .. } = self.messages[number];
            let (source, tag) = if backwards { (from as i32, tag) } else { (ANY_SOURCE, ANY_TAG) };
            self.recv(to, Pattern { context: ContextId(context), source, tag });
            if backwards {
                let last = self.receives.len() - 1;
                self.until("a receive behind a flood", |run| run.receives[last].request.is_none());
            }
        }
        self.until("the rest", |run| {
            run.receives.iter().all(|r| r.request.is_none())
                && run.messages.iter().all(|m| m.request.is_none())
        });
    }

    /// The oracle: nothing overtakes.
    fn judge(&self) {
        let seed = self.seed;
        for (number, message) in self.messages.iter().enumerate() {
            assert!(message.cancelled != message.got_by.is_some(), "seed {seed}: message {number} is lost");
            let Some(by) = message.got_by else { continue };
            let receive = &self.receives[by];
            for (before, other) in self.messages[..number].iter().enumerate() {
                let one_way = (other.from, other.to) == (message.from, message.to);
                if one_way && Self::fits(&receive.pattern, other) && !other.cancelled {
                    assert!(
                        other.got_by < Some(by),
                        "seed {seed}: message {number} overtook {before}: receives {by} and {:?}",
                        other.got_by
                    );
                }
            }
            for (before, other) in self.receives[..by].iter().enumerate() {
                if other.at == receive.at && Self::fits(&other.pattern, message) && !other.cancelled {
                    let got = other.got.expect("every receive got something or was cancelled");
                    assert!(
                        self.messages[got].from != message.from || got < number,
                        "seed {seed}: receive {by} overtook {before} for message {number}"
                    );
                }
            }
        }
    }

    /// A random program and everything that must be true of it; `each` looks at every step.
    fn go(&mut self, each: impl Fn(&Self)) {
        let (seed, eager) = (self.seed, self.random(8) + 2);
        for _ in 0..300 {
            match self.random(14) {
                n if n < eager.min(6) && self.messages.len() < LENGTHS as usize => {
                    let (from, to) = (self.engine(), if self.random(2) == 0 { 0 } else { self.engine() });
                    self.send(from, to, self.random(CONTEXTS), self.random(TAGS) as i32);
                }
                6 | 7 => self.recv(if self.random(2) == 0 { 0 } else { self.engine() }, self.pattern()),
                8 => self.mprobe(self.engine(), self.pattern()),
                9 => self.probe(self.engine(), self.pattern()),
                10 if !self.messages.is_empty() && seed % 2 == 0 => {
                    self.cancel_send(self.random(self.messages.len() as u64) as usize);
                }
                11 if !self.receives.is_empty() && self.random(3) == 0 => {
                    self.cancel_receive(self.random(self.receives.len() as u64) as usize);
                }
                _ => (0..self.random(30)).for_each(|_| self.bench.step()),
            }
            each(self);
        }
        self.drain();
        self.judge();
        self.until("the chatter", |run| {
            run.bench.network.is_quiet() && run.bench.vcis.iter().all(|vci| !vci.engine.has_pending_work())
        });
        for vci in &self.bench.vcis {
            assert!(vci.engine.requests.is_empty(), "seed {seed}: requests are left");
            assert_eq!(vci.engine.matching.depths(), (0, 0), "seed {seed}");
        }
    }

    fn count(&self, counter: Counter) -> u64 {
        self.bench.vcis.iter().map(|vci| vci.engine.counts.get(counter)).sum()
    }
}

/// Whether a request ended because the device failed, and says so.
fn copy_failed(buffer: &Buffer, status: &Status) -> bool {
    let says =
        |text: String| text.starts_with("the copy of ") && text.contains("on the simulated device failed: ");
    buffer.is_on_device() && status.error.as_ref().is_some_and(|error| says(error.to_string()))
}

fn config(unexpected_bytes: u64) -> Config {
    Config { eager_limit: 64, tcp_eager_limit: 64, unexpected_bytes, ..Config::default() }
}

/// Memory that unexpected messages may take: nothing, one message, a few, plenty.
const BUDGETS: [u64; 4] = [0, 600, 3000, 1 << 20];

/// Random programs. Nothing overtakes, nothing is lost, nothing comes twice, everything ends, and what the receivers
/// keep stays within the setting and what is under way when it is reached.
#[test]
fn random_programs_keep_the_order_of_mpi() {
    let (mut throttled, mut sought, mut taken_back, mut received) = (0, 0, 0, 0);
    for seed in 1..=240u64 {
        let budget = BUDGETS[seed as usize % BUDGETS.len()];
        let get = seed % 3 != 0;
        let weather = Weather { get, ..if seed % 5 == 0 { CALM } else { ROUGH } };
        let mut run = Run::new(seed, weather, &config(budget));
        run.go(|run| {
            for vci in &run.bench.vcis {
                for from in 0..ENGINES {
                    let bytes = vci.engine.matching.unexpected_bytes(Peer(from));
                    // One message too many, what was under way, and what left before the mark was seen.
                    let late = 1 + 2 * weather.window as u64 + if budget < 1 << 20 { 0 } else { 100 };
                    let own = if from == 0 { 30 } else { 0 };
                    assert!(bytes <= budget + (late + own) * 800, "seed {seed}: {bytes} bytes of {budget}");
                }
            }
        });
        throttled += run.count(Counter::Throttled);
        sought += run.count(Counter::Sought);
        taken_back += run.messages.iter().filter(|message| message.cancelled).count();
        received += run.messages.iter().filter(|message| message.got_by.is_some()).count();
    }
    assert!(throttled > 200 && sought > 1000 && taken_back > 500 && received > 10_000);
    println!("{throttled} times throttled, {sought} sought, {taken_back} taken back, {received} received");
}

/// The same with half of the buffers in memory of a device, whose copies end in any order, and sometimes fail.
#[test]
fn random_programs_keep_the_order_of_mpi_in_device_memory() {
    let (mut failed, mut sought, mut taken_back, mut received) = (0, 0, 0, 0);
    for seed in 1..=80u64 {
        let budget = BUDGETS[seed as usize % BUDGETS.len()];
        let weather = Weather { get: seed % 3 != 0, ..if seed % 5 == 0 { CALM } else { ROUGH } };
        let device = simulated(seed, if seed % 4 < 2 { 0 } else { 10 });
        let mut run = Run { device: Some(device), ..Run::new(seed, weather, &config(budget)) };
        run.go(|_| ());
        failed += run.failed;
        sought += run.count(Counter::Sought);
        taken_back += run.messages.iter().filter(|message| message.cancelled).count();
        received += run.messages.iter().filter(|message| message.got_by.is_some()).count();
    }
    println!("{failed} copies failed, {sought} sought, {taken_back} taken back, {received} received");
    assert!(failed > 300 && sought > 300 && taken_back > 250 && received > 5000);
}

/// The same over TCP, with time and the kernel's buffers as they come; every other run with messages that leave from where
/// they lie.
#[test]
fn random_programs_keep_the_order_of_mpi_over_tcp() {
    let (mut throttled, mut sought, mut in_place) = (0, 0, 0);
    for seed in 1..=40u64 {
        let (stretch, tcp_eager_limit) = if seed % 2 == 0 { (1, 64) } else { (300, 50_000) };
        let tcp_buffer = if seed % 3 == 0 { 10_000 + 300 * stretch as usize } else { 0 };
        let budget = stretch * BUDGETS[seed as usize / 2 % BUDGETS.len()];
        let config = Config { tcp_buffer, tcp_eager_limit, ..config(budget) };
        let bench = Bench::over_tcp(seed, &[Format::NATIVE; ENGINES as usize], &config);
        let mut run = Run::on(bench, seed, stretch);
        run.go(|_| ());
        throttled += run.count(Counter::Throttled);
        sought += run.count(Counter::Sought);
        let sent = |vci: &Vci| vci.engine.counts.get(Counter::EagerTcpBytes);
        in_place += if stretch > 1 { run.bench.vcis.iter().map(sent).sum() } else { 0 };
    }
    assert!(throttled > 20 && sought > 100, "{throttled} times throttled, {sought} sought");
    assert!(in_place > 10 << 20, "{in_place} bytes");
}
