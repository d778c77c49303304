//! The names server: a port, the table of names, and whoever has come with a question.
//!
//! Who comes in knows the secret in the port's name. What must stay true: a name goes with the connection by which it was
//! published; bytes that are no question end their connection and nothing else; who is slow or silent is waited for by nobody, and
//! without a name only for [`PATIENCE`]; names and connections are bounded.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::socket::{Ready, Set};

use super::words::{Answer, MOST_QUESTION, Question};
use crate::config::Config;
use crate::error::Result;
use crate::meeting::{Line, Meeting, Port, PortName};

/// Most names, each of which keeps a connection open.
const MOST_NAMES: usize = 10_000;
/// Most connections without a name.
const MOST_ASKING: usize = 64;
/// Descriptors besides: those of callers whose proof is to come, and the server's own.
const OTHERS: usize = 128;
/// Time for a question of somebody without a name.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks at who has been silent.
const BETWEEN: Duration = Duration::from_secs(1);
/// Steps for strangers, one after the other, until the server pauses between two of them.
const STEPS: u32 = 200;
/// What the port and its callers are in the set.
const AT_PORT: u64 = 0;

/// A names server.
#[derive(Debug)]
pub struct Server {
    port: Port,
    clients: HashMap<u64, Client>,
    last: u64,
    table: Table,
    looked: Duration,
    /// Steps in which something was at the port and nobody came in.
    in_vain: u32,
}

/// Somebody with questions.
#[derive(Debug)]
struct Client {
    line: Line,
    since: Duration,
}

/// What a server's step comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It waits for what comes next.
    Wait,
    /// It leaves the CPU to others for a moment: strangers keep it busy.
    Pause,
    /// Somebody has asked it to end.
    End,
}

impl Server {
    /// Descriptors that a server uses when it is full.
    pub const OPEN_FILES: u64 = (MOST_NAMES + MOST_ASKING + OTHERS) as u64;
    /// How long it may sleep when nothing happens.
    pub const NAP: Duration = BETWEEN;

    /// Opens the port of a server that may have so many descriptors.
    ///
    /// # Errors
    /// As [`Port::open`].
    pub fn open(config: &Config, open_files: u64) -> Result<Self> {
        let names = (open_files as usize).saturating_sub(MOST_ASKING + OTHERS).clamp(1, MOST_NAMES);
        Ok(Self {
            port: Port::open(config, None)?,
            clients: HashMap::new(),
            last: AT_PORT,
            table: Table::new(names),
            looked: machine::now(),
            in_vain: 0,
        })
    }

    /// What `POSTHASTE_NAMES` has to be.
    pub fn name(&self) -> &PortName {
        self.port.name()
    }

    /// Adds it to the set that it is woken by.
    ///
    /// # Errors
    /// What the system says.
    pub fn watch_in(&mut self, set: &Set) -> io::Result<()> {
        self.port.watch_in(set)
    }

    /// Deals with what is ready in its set.
    ///
    /// # Errors
    /// When the port has been closed.
    pub fn step(&mut self, set: &Set, ready: &[Ready]) -> Result<Next> {
        for Ready { token, .. } in ready {
            match self.clients.get_mut(token).map(|client| client.step(*token, set, &mut self.table)) {
                None | Some(Ok(false)) => {}
                Some(Ok(true)) => return Ok(Next::End),
                Some(Err(_)) => self.forget(*token),
            }
        }
        let before = self.last;
        while self.clients.len() < self.table.most + MOST_ASKING
            && let Some(Meeting { line, .. }) = self.port.step(set)?
        {
            self.last += 1;
            let mut client = Client { line, since: machine::now() };
            // Its first word is that it may ask.
            if client.line.flush().is_ok() && client.line.watch_as(self.last, set).is_ok() {
                self.clients.insert(self.last, client);
            }
        }
        for id in self.table.freed.drain(..) {
            self.clients.remove(&id);
        }
        self.look();
        let only_strangers = self.last == before && ready.iter().any(|one| one.token == AT_PORT);
        self.in_vain = if only_strangers { self.in_vain.saturating_add(1) } else { 0 };
        Ok(if self.in_vain > STEPS { Next::Pause } else { Next::Wait })
    }

    /// Lets go of those who have no name and have asked nothing for long.
    fn look(&mut self) {
        let now = machine::now();
        if now.saturating_sub(self.looked) < BETWEEN {
            return;
        }
        self.looked = now;
        let Self { clients, table, .. } = self;
        clients.retain(|id, client| table.has(*id) || now.saturating_sub(client.since) < PATIENCE);
    }

    fn forget(&mut self, id: u64) {
        self.clients.remove(&id);
        self.table.forget(id);
    }
}

impl Client {
    /// Answers the next question; whether it was that the server ends.
    fn step(&mut self, id: u64, set: &Set, table: &mut Table) -> io::Result<bool> {
        self.line.flush()?;
        // Who does not read its answer asks nothing more.
        if self.line.is_flushed()
            && let Some(said) = self.line.step_within(MOST_QUESTION)?
        {
            let question = Question::read(&said).ok_or_else(|| io::Error::other("it asks something else"))?;
            self.since = machine::now();
            let ends = question == Question::End;
            self.line.send(&table.answer(id, question).bytes());
            self.line.flush()?;
            if ends {
                return Ok(true);
            }
        }
        self.line.watch_as(id, set).map(|()| false)
    }
}

/// The names, and whose each is. Does no I/O.
#[derive(Debug)]
struct Table {
    names: BTreeMap<String, Entry>,
    /// How many names each has published that are still there.
    owners: HashMap<u64, usize>,
    /// Those whose last name others have taken back: their connections are of no more use.
    freed: Vec<u64>,
    most: usize,
}

#[derive(Debug)]
struct Entry {
    port: String,
    owner: u64,
}

impl Table {
    fn new(most: usize) -> Self {
        Self { names: BTreeMap::new(), owners: HashMap::new(), freed: Vec::new(), most }
    }

    fn answer(&mut self, who: u64, question: Question) -> Answer {
        match question {
            Question::Publish { service, .. } if self.names.contains_key(&service) => Answer::Taken,
            Question::Publish { .. } if self.names.len() >= self.most => Answer::Full,
            Question::Publish { service, port } => {
                self.names.insert(service, Entry { port, owner: who });
                *self.owners.entry(who).or_default() += 1;
                Answer::Done
            }
            Question::LookUp { service } => {
                self.names.get(&service).map_or(Answer::Unknown, |entry| Answer::Port(entry.port.clone()))
            }
            Question::Unpublish { service, port } => match self.names.get(&service) {
                None => Answer::Unknown,
                Some(entry) if entry.port != port => Answer::OtherPort,
                Some(Entry { owner, .. }) => {
                    let owner = *owner;
                    self.names.remove(&service);
                    let left = self.owners.get(&owner).map_or(0, |count| count - 1);
                    if left > 0 {
                        self.owners.insert(owner, left);
                    } else {
                        self.owners.remove(&owner);
                        self.freed.extend((owner != who).then_some(owner));
                    }
                    Answer::Done
                }
            },
            Question::List => Answer::Services(self.names.keys().cloned().collect()),
            Question::End => Answer::Done,
        }
    }

    fn has(&self, who: u64) -> bool {
        self.owners.contains_key(&who)
    }

    /// All names of one who has gone.
    fn forget(&mut self, who: u64) {
        if self.owners.remove(&who).is_some() {
            self.names.retain(|_, entry| entry.owner != who);
        }
    }
}

#[cfg(test)]
mod tests;
