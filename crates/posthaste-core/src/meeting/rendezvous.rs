//! How two roots find each other: one listens at a port, the other one calls it, and each proves that it knows the port's secret.
//!
//! A port is open at two places: under a name in the kernel for processes of its host, which need no network for it, and at a TCP
//! port. A caller tries the first one, which answers or refuses at once, and then the addresses.
//!
//! A call that comes before anybody accepts waits in the system, and calls that are not chosen wait for the next accept. What
//! must stay true: nothing here blocks; who is slow or a stranger is dropped after [`PATIENCE`], and only so many are waited
//! for at a time; a caller that goes away while it waits is forgotten.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::socket::{Listener, LocalListener, Set, Stream, Tuning};

use crate::config::Config;
use crate::error::{Error, ErrorClass, Result};
use crate::jobs::ProcessName;
use crate::meeting::handshake::{
    ANSWER, GO, HELLO, Proofs, WORD, hello, is_same, local_name, nonce, read_hello, word,
};
use crate::meeting::{Line, PortName};
use crate::method::tcp::{Pass, Tcp, own_addresses};

/// Time for a caller to prove who it is, once somebody looks.
const PATIENCE: Duration = Duration::from_secs(5);
/// Callers that are looked at together.
const MOST: usize = 64;
/// Until the next address is tried while one does not answer, and while one has taken the call.
const BETWEEN: Duration = Duration::from_millis(250);
const BETWEEN_TAKEN: Duration = Duration::from_secs(2);

/// Two roots that know each other.
#[derive(Debug)]
pub struct Meeting {
    /// What they talk over.
    pub line: Line,
    /// Whether this side's group is the first.
    pub is_first: bool,
    /// What their members know each other by.
    pub pass: Pass,
}

/// A port of this process.
#[derive(Debug)]
pub struct Port {
    name: PortName,
    listener: Listener,
    /// The same for processes of this host, where the system has such a thing.
    local: Option<LocalListener>,
    doors: Vec<Door>,
    tuning: Tuning,
    is_closed: bool,
}

/// A caller at the port.
#[derive(Debug)]
struct Door {
    line: Line,
    stage: Stage,
    since: Duration,
}

#[derive(Clone, Copy)]
enum Stage {
    /// Its hello is to come.
    Hello,
    /// Its proof is to come.
    Proof(Proofs),
    /// It waits for its turn.
    Proven(Proofs),
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Hello => "Hello",
            Self::Proof(_) => "Proof",
            Self::Proven(_) => "Proven",
        })
    }
}

impl Port {
    /// Opens a port, which belongs to this rank, if to any.
    ///
    /// # Errors
    /// When no TCP port is free, or no interface can be used.
    pub fn open(config: &Config, owner: Option<ProcessName>) -> Result<Self> {
        let (first, last) = config.tcp_ports;
        let listener = Listener::open(first..=last).map_err(|e| {
            Error::system(format!("listening at a port (POSTHASTE_TCP_PORTS is {first}-{last})"), e)
        })?;
        let port = listener.port().map_err(|e| Error::system("asking for the number of a port", e))?;
        let random = machine::random().map_err(|e| Error::system("making the secret of a port", e))?;
        let secret = *random.first_chunk().unwrap_or(&[0; 16]);
        let addresses: Vec<IpAddr> = own_addresses(config)?;
        let name = PortName { owner, port, secret, addresses };
        let local = LocalListener::open(local_name(&secret, host(config)).as_bytes()).ok();
        Ok(Self { name, listener, local, doors: Vec::new(), tuning: tuning(config), is_closed: false })
    }

    /// Its name.
    pub fn name(&self) -> &PortName {
        &self.name
    }

    /// Nobody is let in any more, and who waits is sent away.
    pub fn close(&mut self) {
        self.is_closed = true;
        self.doors.clear();
    }

    /// Lets in whoever has called, and gives the one whose turn it is. A sleeper waits in `set`, which is this call's own.
    ///
    /// # Errors
    /// When the port has been closed.
    pub fn step(&mut self, set: &Set) -> Result<Option<Meeting>> {
        if self.is_closed {
            let text = format!("{} has been closed meanwhile", self.name.shown());
            return Err(Error::other(ErrorClass::Port, text));
        }
        let now = machine::now();
        while self.doors.len() < MOST {
            let Some(stream) = self.next_caller() else { break };
            if set.add(&stream, 0, false).is_ok() {
                self.doors.push(Door { line: Line::new(stream), stage: Stage::Hello, since: now });
            }
        }
        let secret = self.name.secret;
        self.doors.retain_mut(|door| door.goes_on(&secret, now));
        let Some(at) = self.doors.iter().position(Door::is_proven) else { return Ok(None) };
        let Door { mut line, stage, .. } = self.doors.remove(at);
        let Stage::Proven(proofs) = stage else { return Ok(None) };
        line.say(&[GO]);
        Ok(Some(Meeting { line, is_first: true, pass: proofs.pass() }))
    }

    /// Whoever has called and has no door yet. Without descriptors it stays where it is.
    fn next_caller(&self) -> Option<Stream> {
        if let Some(stream) = self.local.as_ref().and_then(|local| local.accept().ok().flatten()) {
            return Some(stream);
        }
        while let Ok(Some((stream, _))) = self.listener.accept() {
            if stream.tune(&self.tuning).is_ok() {
                return Some(stream);
            }
        }
        None
    }

    /// Lets go of callers that have gone: a caller that has met at another of the port's addresses is one. It lets nobody in.
    pub fn look(&mut self) {
        let secret = self.name.secret;
        self.doors.retain_mut(|door| door.advance(&secret).is_ok());
    }

    /// What a sleeper has to wait for: the time of those who wait begins anew.
    ///
    /// # Errors
    /// What the system says.
    pub fn watch_in(&mut self, set: &Set) -> io::Result<()> {
        let now = machine::now();
        set.add(&self.listener, 0, false)?;
        self.local.iter().try_for_each(|local| set.add(local, 0, false))?;
        self.doors.iter_mut().try_for_each(|door| {
            door.since = now;
            door.line.watch_in(set)
        })
    }
}

impl Door {
    fn is_proven(&self) -> bool {
        matches!(self.stage, Stage::Proven(_))
    }

    /// Whether it is worth waiting for.
    fn goes_on(&mut self, secret: &[u8; 16], now: Duration) -> bool {
        match self.advance(secret) {
            Ok(true) => true,
            Ok(false) => now.saturating_sub(self.since) < PATIENCE,
            Err(_) => false,
        }
    }

    /// Whether it has proved who it is.
    fn advance(&mut self, secret: &[u8; 16]) -> io::Result<bool> {
        loop {
            self.line.flush()?;
            self.stage = match self.stage {
                Stage::Hello => {
                    let Some(said) = self.line.take(HELLO)? else { return Ok(false) };
                    let caller = read_hello(secret, &said).map_err(io::Error::other)?;
                    let own = machine::random()?;
                    let proofs = Proofs::new(secret, caller, own);
                    self.line.say(&[own, proofs.of_answerer()].concat());
                    Stage::Proof(proofs)
                }
                Stage::Proof(proofs) => {
                    let Some(said) = self.line.take(WORD)? else { return Ok(false) };
                    if !is_same(&word(&said, 0), &proofs.of_caller()) {
                        return Err(io::Error::other("a wrong proof"));
                    }
                    Stage::Proven(proofs)
                }
                // It says nothing before its turn: what comes is its end.
                Stage::Proven(_) => {
                    return match self.line.take(1)? {
                        None => Ok(true),
                        Some(_) => Err(io::Error::other("it speaks out of turn")),
                    };
                }
            };
        }
    }
}

/// A call of a port.
#[derive(Debug)]
pub struct Call {
    name: PortName,
    /// Where the port is found on this host, until it has been looked for there.
    local: Option<String>,
    rest: VecDeque<SocketAddr>,
    tries: Vec<Try>,
    next_at: Duration,
    failures: Vec<String>,
    tuning: Tuning,
}

/// A call of one of its addresses, or of none on this host.
#[derive(Debug)]
struct Try {
    address: Option<SocketAddr>,
    progress: Progress,
}

enum Progress {
    Connecting(Stream),
    /// The answer is to come.
    Called(Line, [u8; WORD]),
    /// Its turn is to come.
    Answered(Line, Proofs),
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connecting(_) => "Connecting",
            Self::Called(..) => "Called",
            Self::Answered(..) => "Answered",
        })
    }
}

/// What a step of a try comes to.
enum Step {
    Goes(Progress),
    Met(Line, Proofs),
}

impl Call {
    /// Calls the port with this name.
    pub fn new(name: PortName, config: &Config) -> Self {
        let rest = name.endpoints().collect();
        let local = Some(local_name(&name.secret, host(config)));
        let (tries, failures) = (Vec::new(), Vec::new());
        Self { name, local, rest, tries, next_at: Duration::ZERO, failures, tuning: tuning(config) }
    }

    /// Goes on; a sleeper waits in `set`, which is this call's own.
    ///
    /// # Errors
    /// When nobody is there.
    pub fn step(&mut self, set: &Set) -> Result<Option<Meeting>> {
        let now = machine::now();
        if let Some(local) = self.local.take()
            // Whoever is not there is elsewhere, or nowhere.
            && let Ok(progress) = Stream::connect_local(local.as_bytes()).and_then(|stream| {
                set.add(&stream, 0, false)?;
                self.say_hello(stream)
            })
        {
            self.next_at = now + BETWEEN_TAKEN;
            self.tries.push(Try { address: None, progress });
            return Ok(None);
        }
        for Try { address, progress } in std::mem::take(&mut self.tries) {
            let was_connecting = matches!(progress, Progress::Connecting(_));
            match self.advance(progress, set) {
                Ok(Step::Goes(progress)) => {
                    if was_connecting && !matches!(progress, Progress::Connecting(_)) {
                        self.next_at = now + BETWEEN_TAKEN;
                    }
                    self.tries.push(Try { address, progress });
                }
                Ok(Step::Met(line, proofs)) => {
                    return Ok(Some(Meeting { line, is_first: false, pass: proofs.pass() }));
                }
                Err(why) => self.failures.push(match address {
                    Some(address) => format!("{address}: {why}"),
                    None => format!("this host: {why}"),
                }),
            }
        }
        // After them: this process may have been away for long, and who has taken the call has done so in time.
        let is_answered = self.tries.iter().any(|one| matches!(one.progress, Progress::Answered(..)));
        if (self.tries.is_empty() || now >= self.next_at)
            && !is_answered
            && let Some(address) = self.rest.pop_front()
        {
            self.next_at = now + BETWEEN;
            match Stream::connect(address, &self.tuning) {
                Ok(stream) => {
                    // A full set is as good as an address that never answers.
                    let _ = set.add(&stream, 0, true);
                    self.tries.push(Try { address: Some(address), progress: Progress::Connecting(stream) });
                }
                Err(why) => self.failures.push(format!("{address}: {why}")),
            }
        }
        if self.tries.is_empty() && self.rest.is_empty() {
            let failures = self.failures.join("; ");
            let text = format!("nobody accepts at {}: {failures}", self.name.shown());
            return Err(Error::other(ErrorClass::Port, text));
        }
        Ok(None)
    }

    fn say_hello(&self, stream: Stream) -> io::Result<Progress> {
        let nonce = machine::random()?;
        let mut line = Line::new(stream);
        line.say(&hello(&self.name.secret, &nonce));
        line.flush()?;
        Ok(Progress::Called(line, nonce))
    }

    fn advance(&self, progress: Progress, set: &Set) -> io::Result<Step> {
        Ok(Step::Goes(match progress {
            Progress::Connecting(stream) => match stream.connected() {
                Err(why) if why.kind() == io::ErrorKind::NotConnected => Progress::Connecting(stream),
                Err(why) => return Err(why),
                Ok(()) => {
                    set.change(&stream, 0, false)?;
                    self.say_hello(stream)?
                }
            },
            Progress::Called(mut line, nonce) => {
                let Some(said) = line.take(ANSWER)? else {
                    return Ok(Step::Goes(Progress::Called(line, nonce)));
                };
                let proofs = Proofs::new(&self.name.secret, nonce, word(&said, 0));
                if !is_same(&word(&said, WORD), &proofs.of_answerer()) {
                    return Err(io::Error::other("somebody else is there"));
                }
                line.say(&proofs.of_caller());
                line.flush()?;
                Progress::Answered(line, proofs)
            }
            Progress::Answered(mut line, proofs) => match line.take(1)?.as_deref() {
                None => Progress::Answered(line, proofs),
                Some([GO]) => return Ok(Step::Met(line, proofs)),
                Some(_) => return Err(io::Error::other("it does not speak our protocol")),
            },
        }))
    }
}

/// The meeting over a socket whose other end another process has (`MPI_Comm_join`). Both say a number, and the higher one is
/// the first side. Whoever can read the socket can read what the members will know each other by.
#[derive(Debug)]
pub struct OverSocket {
    line: Option<Line>,
    own: [u8; WORD],
}

/// Begins it with the descriptor of the program, which stays open.
///
/// # Errors
/// When the descriptor is no connected socket.
pub fn over_socket(fd: RawFd) -> Result<OverSocket> {
    let wrong = |why: io::Error| {
        Error::invalid(ErrorClass::Arg, "fd", format!("{fd} ({why})"), "a connected stream socket")
    };
    let stream = Stream::of_program(fd).map_err(wrong)?;
    let own = nonce()?;
    let mut line = Line::new(stream);
    line.say(&own);
    Ok(OverSocket { line: Some(line), own })
}

impl OverSocket {
    /// Goes on.
    ///
    /// # Errors
    /// What became of the socket.
    pub fn step(&mut self) -> Result<Option<Meeting>> {
        let Some(line) = &mut self.line else { return Ok(None) };
        let said = line.flush().and_then(|()| line.take(WORD));
        let failed =
            |why: io::Error| Error::other(ErrorClass::Other, format!("the socket's other end: {why}"));
        let Some(theirs) = said.map_err(failed)?.map(|said| word(&said, 0)) else { return Ok(None) };
        let is_first = self.own > theirs;
        let (high, low) = if is_first { (self.own, theirs) } else { (theirs, self.own) };
        let pass = Proofs::new(&[0; 16], high, low).pass();
        Ok(self.line.take().map(|line| Meeting { line, is_first, pass }))
    }

    /// What a sleeper has to wait for.
    ///
    /// # Errors
    /// What the system says.
    pub fn watch_in(&self, set: &Set) -> io::Result<()> {
        self.line.as_ref().map_or(Ok(()), |line| line.watch_in(set))
    }
}

/// This host, as its processes know it.
fn host(config: &Config) -> u64 {
    Tcp::host_of(config.node.as_deref())
}

fn tuning(config: &Config) -> Tuning {
    Tuning { buffer: 0, dead: Duration::from_secs(config.tcp_dead_s.into()) }
}

#[cfg(test)]
mod tests;
