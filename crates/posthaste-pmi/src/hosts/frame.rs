//! Bytes on the way between mpiexec and its agents.
//!
//! No I/O. An agent begins with a line of text, its [`greeting`]: what a login shell wrote before it is passed over,
//! and an agent of another version is recognised. Then frames follow in both directions: four bytes of length,
//! little-endian, and a message in the form of `postcard`. What must stay true: nothing that arrives panics or takes
//! memory that was not paid for by bytes.

use super::launcher::Launcher;
use crate::kvs;
use crate::spawn::talk::{Common, Order, Report, Seats};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Longest frame: all that a key-value space holds, and something around it.
const LONGEST: usize = 2 * kvs::MOST_BYTES;
/// Most bytes in front of a greeting.
const MOST_NOISE: usize = 64 << 10;
const NAME: &str = "posthaste-agent ";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What an agent is to do: run the ranks of one host, or start the agents of several.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) common: Common,
    pub(crate) seats: Vec<Seats>,
    pub(crate) launcher: Launcher,
}

/// To an agent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Down {
    /// The first message.
    Start(Box<Plan>),
    Order(Order),
    Beat,
}

/// From an agent.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Up {
    Report(Report),
    Beat,
}

/// What is wrong with what arrived.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum Bad {
    #[error("it sent a frame of {0} bytes, expected at most {LONGEST}")]
    Long(usize),
    #[error("it sent a frame that is no message of this version")]
    Message,
    #[error("it is version {0} of posthaste, this is version {VERSION}: all hosts need the same")]
    Version(String),
    #[error("it wrote {MOST_NOISE} bytes and none of them is the greeting of an agent")]
    Noise,
}

/// The first line of an agent.
pub(super) fn greeting() -> String {
    format!("{NAME}{VERSION}\n")
}

/// Appends a message.
pub(super) fn emit<M: Serialize>(message: &M, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    // Serialisation into memory fails only for types whose length is not known beforehand; ours have none.
    let written = postcard::to_io(message, &mut *out).is_ok();
    let length = out.len().saturating_sub(start + 4);
    debug_assert!(written && u32::try_from(length).is_ok());
    out[start..start + 4].copy_from_slice(&(length as u32).to_le_bytes());
}

/// Cuts bytes that arrived in pieces into messages.
#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
    taken: usize,
}

impl Frames {
    /// Adds what arrived.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Whether the greeting has come, which is then taken.
    pub(super) fn greeted(&mut self) -> Result<bool, Bad> {
        let mut from = self.taken;
        while let Some(length) = self.bytes[from..].iter().position(|&byte| byte == b'\n') {
            let line = &self.bytes[from..from + length];
            from += length + 1;
            if let Some(version) =
                line.strip_prefix(NAME.as_bytes()).filter(|version| *version != VERSION.as_bytes())
            {
                let version = String::from_utf8_lossy(version);
                return Err(Bad::Version(version.chars().take(40).collect()));
            }
            // A shell may have written something before it without the end of a line.
            if line.strip_suffix(VERSION.as_bytes()).is_some_and(|rest| rest.ends_with(NAME.as_bytes())) {
                self.taken = from;
                return Ok(true);
            }
        }
        if self.bytes.len() - self.taken > MOST_NOISE { Err(Bad::Noise) } else { Ok(false) }
    }

    /// The next whole message; `None` when there is none yet.
    pub(super) fn next<M: DeserializeOwned>(&mut self) -> Result<Option<M>, Bad> {
        let rest = &self.bytes[self.taken..];
        let Some((length, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > LONGEST {
            return Err(Bad::Long(length));
        }
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        match postcard::take_from_bytes(frame) {
            Ok((message, [])) => {
                self.taken += 4 + length;
                Ok(Some(message))
            }
            _ => Err(Bad::Message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spawn::Stream;
    use crate::spawn::verdict::{Cause, Ended, Stage};
    use proptest::prelude::*;

    fn reports() -> Vec<Report> {
        let cause = Cause::Death {
            rank: 3,
            pid: 9,
            ended: Ended::Signal(11),
            stage: Stage::Inside,
            missing: None,
            core: None,
        };
        vec![
            Report::Output { rank: 1, stream: Stream::Err, continues: true, text: vec![0, 255, 10] },
            Report::Failed(crate::spawn::talk::Fault { job: 0, host: "b".into(), cause }),
            Report::Fence(vec![("key".into(), "value".into())]),
            Report::Over(vec![1, u64::MAX]),
        ]
    }

    #[test]
    fn messages_survive_any_cut() {
        let mut bytes = b"Welcome!\nno newline needed ".to_vec();
        bytes.extend_from_slice(greeting().as_bytes());
        for report in reports() {
            emit(&Up::Report(report), &mut bytes);
        }
        for step in [1, 3, 1000] {
            let mut frames = Frames::default();
            let (mut greeted, mut seen) = (false, Vec::new());
            for piece in bytes.chunks(step) {
                frames.push(piece);
                greeted = greeted || frames.greeted().unwrap();
                while let Some(Up::Report(report)) = if greeted { frames.next().unwrap() } else { None } {
                    seen.push(report);
                }
            }
            assert_eq!(seen, reports());
        }
    }

    #[test]
    fn what_is_no_agent_is_reported() {
        let mut frames = Frames::default();
        frames.push(b"posthaste-agent 9.9\n");
        assert_eq!(frames.greeted(), Err(Bad::Version("9.9".into())));
        let mut frames = Frames::default();
        frames.push(&vec![b'x'; MOST_NOISE + 1]);
        assert_eq!(frames.greeted(), Err(Bad::Noise));
        let mut frames = Frames::default();
        frames.push(&u32::MAX.to_le_bytes());
        assert!(matches!(frames.next::<Up>(), Err(Bad::Long(_))));
        let mut frames = Frames::default();
        frames.push(&[1, 0, 0, 0, 77]);
        assert!(matches!(frames.next::<Up>(), Err(Bad::Message)));
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), small in any::<bool>()) {
            let mut frames = Frames::default();
            if small {
                frames.push(&(bytes.len() as u32).to_le_bytes());
            }
            frames.push(&bytes);
            let _ = frames.greeted();
            while let Ok(Some(_)) = frames.next::<Down>() {}
            while let Ok(Some(_)) = frames.next::<Up>() {}
        }
    }
}
