//! The VCIs of a process: each has connections of its own, made when it first needs them. The first one listens for all.
//!
//! Who calls says in its hello which VCI it looks for. The first one hears it, asks for the proof, and hands the connection over. A peer
//! whose connection breaks in one VCI is lost to all; what it has sent is read before. One that has finalised, or that cannot be reached,
//! is lost to that VCI alone. Whoever finds time opens a VCI that has been called: a peer's words do not wait for a communicator that
//! this process may have failed to make.
//!
//! What must stay true: nobody who is in a VCI enters another one for it: what is for a VCI waits in its box until it polls, whether it
//! is open yet or not, and who sleeps for all is woken; a box keeps one caller of each peer.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use posthaste_os::node::VCIS;
use posthaste_os::process;
use posthaste_os::socket::{Set, Tuning};
use posthaste_os::wake::Doorbell;

use crate::error::{Error, Result};
use crate::ids::Peer;
use crate::method::Method;
use crate::method::tcp::card::{AddressBook, BusinessCard};
use crate::method::tcp::door::Door;
use crate::method::tcp::handshake::{Identity, Introduction};
use crate::method::tcp::{OPEN_FILES, State, Tcp, VCI};

/// Connections that the VCIs of a process may have together to the other processes of the job.
const MOST_CONNECTIONS: usize = 2048;

/// What the VCIs of a process have in common.
#[derive(Debug)]
pub(super) struct Siblings {
    boxes: [Letterbox; VCIS],
    /// A bit for each VCI that has been called and is not open.
    called: AtomicU32,
    /// This process has nothing more to say to anybody.
    pub(super) is_leaving: AtomicBool,
    book: Mutex<Box<dyn AddressBook>>,
    /// Who sleeps for all of them, and on what.
    sleeper: OnceLock<(Doorbell, Arc<Set>)>,
}

/// What waits for one VCI.
#[derive(Debug, Default)]
struct Letterbox {
    has_some: AtomicBool,
    letters: Mutex<Letters>,
}

#[derive(Debug, Default)]
struct Letters {
    stage: Stage,
    all: Vec<Letter>,
}

/// How it stands with a VCI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    NotYet,
    Open,
    /// It will never be open.
    Never,
}

/// For a VCI from another one.
#[derive(Debug)]
pub(super) enum Letter {
    /// A peer has proved who it is, and waits for the word of this VCI.
    Caller(Box<Door>, Introduction),
    /// A connection to a peer is broken, and why.
    Lost(Peer, String),
}

/// What opens TCP in further VCIs.
#[derive(Debug)]
pub struct Opener {
    siblings: Arc<Siblings>,
    identity: Identity,
    card: BusinessCard,
    tuning: Tuning,
    connect_time: Duration,
}

impl Siblings {
    pub(super) fn new(book: Box<dyn AddressBook>) -> Self {
        let (boxes, called, is_leaving) = Default::default();
        Self { boxes, called, is_leaving, book: Mutex::new(book), sleeper: OnceLock::new() }
    }

    /// The business card of a peer: see [`AddressBook::card`].
    pub(super) fn card(&self, peer: Peer) -> Result<BusinessCard> {
        lock(&self.book).card(peer)
    }

    /// Whether something waits for a VCI.
    #[inline]
    pub(super) fn has_letters(&self, vci: usize) -> bool {
        // SYNC: pairs with the Release in `post`: who sees it finds the letter.
        self.boxes[vci].has_some.load(Ordering::Acquire)
    }

    /// Takes out what waits for a VCI.
    fn take(&self, vci: usize) -> Vec<Letter> {
        let mut letters = lock(&self.boxes[vci].letters);
        self.boxes[vci].has_some.store(false, Ordering::Relaxed);
        std::mem::take(&mut letters.all)
    }

    fn post(&self, vci: usize, letter: Letter) {
        let mut letters = lock(&self.boxes[vci].letters);
        if letters.stage == Stage::Never {
            return; // who called sees the end of its connection
        }
        if let Letter::Caller(_, Introduction { from, .. }) = letter {
            letters.all.retain(|other| !matches!(other, Letter::Caller(_, known) if known.from == from));
            if letters.stage == Stage::NotYet {
                self.called.fetch_or(1 << vci, Ordering::Relaxed);
            }
        }
        letters.all.push(letter);
        // SYNC: pairs with the Acquire in `has_letters`.
        self.boxes[vci].has_some.store(true, Ordering::Release);
        drop(letters);
        // Whoever has said since that it sleeps looks once more.
        if let Some((bell, _)) = self.sleeper.get() {
            bell.nudge();
        }
    }

    /// How it stands with a VCI from now on.
    fn set(&self, vci: usize, stage: Stage) {
        let mut letters = lock(&self.boxes[vci].letters);
        if stage == Stage::Never {
            letters.all.clear();
        }
        letters.stage = stage;
        self.called.fetch_and(!(1 << vci), Ordering::Relaxed);
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tcp {
    /// Whoever sleeps for this process does so on `set`, where what happens in further VCIs is heard, too, and is woken by this bell.
    pub fn set_sleeper(&self, bell: Doorbell, set: Arc<Set>) {
        self.siblings.sleeper.get_or_init(|| (bell, set));
    }

    /// What this VCI watches can be heard in `set`, too.
    ///
    /// # Errors
    /// What the system said.
    pub fn watch_in(&self, set: &Set) -> io::Result<()> {
        set.add(&*self.set, VCI | self.identity.vci as u64, false)
    }

    /// In how many VCIs this process may have a connection to every other one of the job.
    pub fn most_vcis(&self) -> usize {
        let files = process::most_open_files().saturating_sub(OPEN_FILES);
        let connections = files.min(MOST_CONNECTIONS as u64) as usize;
        (connections / self.identity.peers.max(1)).clamp(1, VCIS)
    }

    /// What opens TCP in further VCIs of this process.
    pub fn opener(&self) -> Opener {
        Opener {
            siblings: Arc::clone(&self.siblings),
            identity: self.identity.clone(),
            card: self.card.clone(),
            tuning: self.tuning,
            connect_time: self.connect_time,
        }
    }

    /// Hands a caller over to the VCI that it looks for.
    pub(super) fn hand_over(&mut self, door: Door, introduction: Introduction) {
        // It says nothing before it has heard from there.
        let _ = self.set.remove(&door.stream);
        self.listen_again();
        self.siblings.post(introduction.vci, Letter::Caller(Box::new(door), introduction));
    }

    /// A connection to a peer is broken: it is lost to the other VCIs, too, which know those of this job.
    pub(super) fn tell_of_loss(&self, peer: Peer, why: &str) {
        if self.is_leaving || peer.index() >= self.identity.peers {
            return;
        }
        for vci in (0..VCIS).filter(|vci| *vci != self.identity.vci) {
            self.siblings.post(vci, Letter::Lost(peer, why.to_owned()));
        }
    }

    /// Another connection to this peer is broken. If it lives it sees the end of what this one says, and ends it, too; who does not is
    /// lost when a silent one would be.
    pub(super) fn say_nothing_more(&mut self, peer: Peer) {
        let Some(way) = self.ways.get_mut(peer) else { return };
        if let State::Up(stream) = &way.state {
            stream.close_writing();
            // The system finds that there is always room to say nothing.
            if std::mem::take(&mut way.watched_for_room) {
                // What fails here has failed for good, as the next look finds.
                let _ = self.set.change(stream, peer.0.into(), false);
            }
        }
        self.until_look = 0;
    }

    /// What other VCIs have left for this one.
    #[cold]
    pub(super) fn read_letters(&mut self) {
        for letter in self.siblings.take(self.identity.vci) {
            match letter {
                Letter::Caller(door, introduction) => self.admit(*door, introduction),
                Letter::Lost(peer, why) => self.hear_of_loss(peer, why),
            }
        }
    }

    fn hear_of_loss(&mut self, peer: Peer, why: String) {
        let way = self.way(peer);
        match &way.state {
            // What it has sent here may still be on its way, and its end is behind that.
            State::Up(_) => {}
            State::Reaching(reaching) if reaching.has_found() => {}
            State::Reaching(_) | State::None => {
                let why = self.loss(peer, &why);
                return self.fail(peer, why);
            }
            State::Down => return,
        }
        way.unwritable.get_or_insert(why);
        self.say_nothing_more(peer);
    }
}

impl Opener {
    /// TCP in VCI `vci`. Who gives it up for good then says so ([`Opener::refuse`]).
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn open(&self, vci: usize) -> Result<Tcp> {
        let Self { siblings, identity, card, tuning, connect_time } = self;
        let identity = identity.of_vci(vci);
        process::allow_open_files(OPEN_FILES + (identity.callers() * (vci + 1)) as u64);
        let mut tcp = Tcp::with(identity, card.clone(), (*tuning, *connect_time), None, siblings.clone())?;
        if siblings.is_leaving.load(Ordering::Relaxed) {
            tcp.begin_leaving();
        }
        if let Some((_, set)) = siblings.sleeper.get() {
            let watched = tcp.watch_in(set);
            watched.map_err(|e| Error::system("watching the connections of a further VCI", e))?;
        }
        siblings.set(vci, Stage::Open);
        Ok(tcp)
    }

    /// A VCI that a peer has called and that is not open: the peer may have made a communicator there, and this process have failed to.
    /// Each is named once.
    #[inline]
    pub fn called(&self) -> Option<usize> {
        let called = self.siblings.called.load(Ordering::Relaxed);
        if called == 0 {
            return None;
        }
        let vci = called.trailing_zeros();
        self.siblings.called.fetch_and(!(1 << vci), Ordering::Relaxed);
        Some(vci as usize)
    }

    /// There will be no such VCI: whoever calls it is refused.
    pub fn refuse(&self, vci: usize) {
        self.siblings.set(vci, Stage::Never);
    }
}
