//! How a [`Report`] stands on the status page: bytes, little-endian, with a version in front.
//!
//! What must stay true: [`Report::decode`] takes any bytes and never panics; whatever it accepts was written by
//! [`Report::encode`] of the same version, or reads like it.

use std::time::Duration;

use super::{Goal, Handled, List, Message, Operation, Part, Report, Standing, Wait};

/// Stands in front; grows with every change of the format.
const VERSION: u32 = 0x7068_0004;
/// Longest name, in bytes.
const LONGEST_NAME: usize = 127;
/// How many messages are published of each list and goal, and how many goals of each wait: as many as there is room for.
const SIZES: [usize; 5] = [24, 12, 6, 2, 0];
const NOBODY: u32 = u32::MAX;
const NOWHERE: u64 = u64::MAX;

impl Report {
    /// The report in at most `room` bytes: long lists are cut.
    pub fn encode(&self, room: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for most in SIZES {
            bytes.clear();
            self.put(&mut Writer { bytes: &mut bytes, most });
            if bytes.len() <= room {
                return bytes;
            }
        }
        Vec::new()
    }

    /// Reads what [`Report::encode`] wrote; `None` if these bytes are something else.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader { rest: bytes };
        if from.u32()? != VERSION {
            return None;
        }
        let report = Self {
            at: Duration::from_nanos(from.u64()?),
            threaded: from.u8()? != 0,
            waits: from.several(Reader::wait)?,
            posted: from.list()?,
            unexpected: from.list()?,
            sends: from.list()?,
            handled: from.several(Reader::handled)?,
            under_way: from.several(|from| Some((from.u64()?, from.u32()? as i32)))?,
            locks: from.several(|from| Some((from.u32()?, from.u32()?)))?,
            names: from.several(|from| Some((from.u64()?, from.text()?)))?,
        };
        from.rest.is_empty().then_some(report)
    }

    fn put(&self, to: &mut Writer<'_>) {
        to.u32(VERSION);
        to.u64(self.at.as_nanos() as u64);
        to.bytes.push(u8::from(self.threaded));
        to.several(&self.waits, Writer::wait);
        for list in [&self.posted, &self.unexpected, &self.sends] {
            to.list(list);
        }
        to.several(&self.handled, Writer::handled);
        to.several(&self.under_way, |to, (communicator, number)| {
            to.u64(*communicator);
            to.u32(*number as u32);
        });
        to.several(&self.locks, |to, (waiter, holder)| {
            to.u32(*waiter);
            to.u32(*holder);
        });
        to.several(&self.names, |to, (context, name)| {
            to.u64(*context);
            to.text(name);
        });
    }
}

struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    /// Longest list.
    most: usize,
}

impl Writer<'_> {
    fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        let text = &text[..text.floor_char_boundary(LONGEST_NAME)];
        self.bytes.push(text.len() as u8);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn several<T>(&mut self, all: &[T], put: impl Fn(&mut Self, &T)) {
        let all = &all[..all.len().min(self.most)];
        self.u32(all.len() as u32);
        all.iter().for_each(|one| put(self, one));
    }

    fn list(&mut self, list: &List) {
        self.u64(list.more + list.shown.len().saturating_sub(self.most) as u64);
        self.several(&list.shown, Self::message);
    }

    fn wait(&mut self, wait: &Wait) {
        self.text(&wait.call);
        self.u64(wait.since.as_nanos() as u64);
        self.bytes.push(u8::from(wait.any));
        self.u64(wait.more + wait.goals.len().saturating_sub(self.most) as u64);
        self.several(&wait.goals, Self::goal);
    }

    fn goal(&mut self, goal: &Goal) {
        match goal {
            Goal::Message(message) => {
                self.bytes.push(0);
                self.message(message);
            }
            Goal::Operation(operation) => {
                self.bytes.push(1);
                self.text(&operation.name);
                self.u64(operation.communicator);
                self.u32(operation.number as u32);
                self.u32(operation.root as u32);
                self.several(&operation.messages, Self::message);
            }
        }
    }

    fn handled(&mut self, handled: &Handled) {
        self.bytes.push(handled.standing as u8);
        self.u32(handled.rank as u32);
        self.u32(handled.tag as u32);
        self.u64(handled.since.as_nanos() as u64);
    }

    fn message(&mut self, message: &Message) {
        self.bytes.push(message.part as u8);
        self.u32(message.peer.unwrap_or(NOBODY));
        self.u32(message.rank as u32);
        self.u32(message.tag as u32);
        self.u64(message.communicator.unwrap_or(NOWHERE));
        self.u64(message.bytes);
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*first)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Option<String> {
        let len = self.u8()? as usize;
        let (text, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        // A name is shown on a terminal: no line ends and no control sequences from another process.
        let shown = |c: char| if c.is_control() { '?' } else { c };
        Some(String::from_utf8_lossy(text).chars().map(shown).collect())
    }

    fn several<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.u32()? as usize;
        // Everything takes a byte at least, so a wild count is no wild allocation.
        (count <= self.rest.len()).then(|| (0..count).map(|_| read(self)).collect())?
    }

    fn list(&mut self) -> Option<List> {
        let more = self.u64()?;
        Some(List { shown: self.several(Self::message)?, more })
    }

    fn wait(&mut self) -> Option<Wait> {
        Some(Wait {
            call: self.text()?,
            since: Duration::from_nanos(self.u64()?),
            any: self.u8()? != 0,
            more: self.u64()?,
            goals: self.several(Self::goal)?,
        })
    }

    fn goal(&mut self) -> Option<Goal> {
        match self.u8()? {
            0 => self.message().map(Goal::Message),
            1 => Some(Goal::Operation(Operation {
                name: self.text()?,
                communicator: self.u64()?,
                number: self.u32()? as i32,
                root: self.u32()? as i32,
                messages: self.several(Self::message)?,
            })),
            _ => None,
        }
    }

    fn handled(&mut self) -> Option<Handled> {
        let standing = match self.u8()? {
            1 => Standing::Runs,
            2 => Standing::Disabled,
            3 => Standing::TooDeep,
            _ => return None,
        };
        let (rank, tag) = (self.u32()? as i32, self.u32()? as i32);
        Some(Handled { rank, tag, standing, since: Duration::from_nanos(self.u64()?) })
    }

    fn message(&mut self) -> Option<Message> {
        let part = match self.u8()? {
            1 => Part::Posted,
            2 => Part::Probed,
            3 => Part::Reassembly,
            4 => Part::Unexpected,
            5 => Part::ForRoom,
            6 => Part::ForMatch,
            7 => Part::ForData,
            8 => Part::ForLock,
            9 => Part::ForOwner,
            10 => Part::ForPost,
            11 => Part::ForComplete,
            12 => Part::ForFence,
            _ => return None,
        };
        Some(Message {
            part,
            peer: self.u32().map(|peer| (peer != NOBODY).then_some(peer))?,
            rank: self.u32()? as i32,
            tag: self.u32()? as i32,
            communicator: self.u64().map(|context| (context != NOWHERE).then_some(context))?,
            bytes: self.u64()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tag: i32) -> Message {
        Message { part: Part::Posted, peer: Some(1), rank: 0, tag, communicator: Some(6), bytes: 1 << 40 }
    }

    fn report(messages: i32) -> Report {
        let shown: Vec<Message> = (0..messages).map(message).collect();
        let (name, messages) = ("MPI_Bcast".into(), shown.clone());
        let operation = Operation { name, communicator: 6, number: -3, root: 2, messages };
        let wait = Wait {
            call: "MPI_Waitany".into(),
            since: Duration::from_nanos(5_000_000_007),
            any: true,
            more: 2,
            goals: vec![
                Goal::Message(Message { peer: None, communicator: None, ..message(-2) }),
                Goal::Operation(operation),
            ],
        };
        Report {
            at: Duration::from_nanos(6_000_000_008),
            threaded: true,
            waits: vec![wait],
            posted: List { shown: shown.clone(), more: 3 },
            unexpected: List::default(),
            sends: List { shown, more: 0 },
            handled: vec![Handled {
                rank: 1,
                tag: -1,
                standing: Standing::TooDeep,
                since: Duration::from_nanos(7),
            }],
            under_way: vec![(6, 3)],
            locks: vec![(0, 2)],
            names: vec![(6, "rows é".into())],
        }
    }

    #[test]
    fn a_report_comes_back_as_it_was() {
        for report in [Report::default(), report(0), report(20)] {
            assert_eq!(Report::decode(&report.encode(8000)), Some(report));
        }
    }

    #[test]
    fn long_lists_are_cut_and_say_so() {
        let whole = report(1000);
        for room in [8000, 2000, 500, 400] {
            let bytes = whole.encode(room);
            assert!(bytes.len() <= room);
            let posted = Report::decode(&bytes).unwrap().posted;
            assert_eq!(posted.shown.len() as u64 + posted.more, 1003, "{room}");
        }
        assert_eq!(whole.encode(10), []);
    }

    #[test]
    fn any_other_bytes_are_refused() {
        let bytes = report(3).encode(8000);
        for len in 0..bytes.len() {
            assert_eq!(Report::decode(&bytes[..len]), None, "{len} bytes");
        }
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xff] {
                let mut wrong = bytes.clone();
                wrong[at] ^= flip;
                // Either refused or another report; no panic and no wild allocation.
                let _ = Report::decode(&wrong);
            }
        }
        assert_eq!(Report::decode(&[]), None);
    }

    #[test]
    fn names_of_others_do_nothing_to_a_terminal() {
        let report = Report { names: vec![(2, "\u{1b}[2Jrow\n".into())], ..Report::default() };
        assert_eq!(Report::decode(&report.encode(100)).unwrap().names[0].1, "?[2Jrow?");
    }
}
