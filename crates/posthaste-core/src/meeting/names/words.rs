//! What is asked of a names server, and what it answers. Each is a frame: a letter, and texts with their lengths.
//!
//! What must stay true: bytes from the other side are checked and cause no panic; what is read is what was written.

use super::shown;
use crate::error::{Error, ErrorClass, Result};

/// Longest name of a service or a port.
pub(super) const MOST_TEXT: usize = 4096;
/// Longest question.
pub(super) const MOST_QUESTION: usize = 1 + 2 * (4 + MOST_TEXT);
/// Longest answer: all services of a full server.
pub(super) const MOST_ANSWER: usize = 64 << 20;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// To publish a port under the name of a service.
    Publish {
        /// The service.
        service: String,
        /// The port's name.
        port: String,
    },
    /// For the port that is published under a name.
    LookUp {
        /// The service.
        service: String,
    },
    /// To take a name back.
    Unpublish {
        /// The service.
        service: String,
        /// The port that is published.
        port: String,
    },
    /// For the services whose ports are published.
    List,
    /// That the server ends.
    End,
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Done,
    Port(String),
    Services(Vec<String>),
    /// The name is published already.
    Taken,
    /// The name is not published.
    Unknown,
    /// Another port is published under the name.
    OtherPort,
    /// There is no room for another name.
    Full,
}

impl Question {
    /// Makes sure that a server takes it.
    pub(super) fn check(&self) -> Result<()> {
        let (service, port) = match self {
            Self::Publish { service, port } | Self::Unpublish { service, port } => (&**service, &**port),
            Self::LookUp { service } => (&**service, ""),
            Self::List | Self::End => return Ok(()),
        };
        let expected = format!("at most {MOST_TEXT} bytes, as a names server takes them (POSTHASTE_NAMES)");
        let refuse = |argument, got| Err(Error::invalid(ErrorClass::Service, argument, got, &expected));
        if service.len() > MOST_TEXT {
            return refuse("service_name", format!("{} of {} bytes", shown(service), service.len()));
        }
        if port.len() > MOST_TEXT {
            return refuse("port_name", format!("a text of {} bytes", port.len()));
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Publish { service, port } => frame(b'P', &[service, port]),
            Self::LookUp { service } => frame(b'L', &[service]),
            Self::Unpublish { service, port } => frame(b'U', &[service, port]),
            Self::List => frame(b'A', &[]),
            Self::End => frame(b'E', &[]),
        }
    }

    /// `None` for what is no question.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, texts) = parts(bytes)?;
        if texts.iter().any(|text| text.len() > MOST_TEXT) {
            return None;
        }
        Some(match (kind, &texts[..]) {
            (b'P', &[service, port]) => Self::Publish { service: service.into(), port: port.into() },
            (b'L', &[service]) => Self::LookUp { service: service.into() },
            (b'U', &[service, port]) => Self::Unpublish { service: service.into(), port: port.into() },
            (b'A', []) => Self::List,
            (b'E', []) => Self::End,
            _ => return None,
        })
    }
}

impl Answer {
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Done => frame(b'd', &[]),
            Self::Port(port) => frame(b'p', &[port]),
            Self::Services(all) => frame(b's', &all.iter().map(String::as_str).collect::<Vec<_>>()),
            Self::Taken => frame(b't', &[]),
            Self::Unknown => frame(b'u', &[]),
            Self::OtherPort => frame(b'o', &[]),
            Self::Full => frame(b'f', &[]),
        }
    }

    /// `None` for what is no answer.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, texts) = parts(bytes)?;
        Some(match (kind, &texts[..]) {
            (b'd', []) => Self::Done,
            (b'p', &[port]) => Self::Port(port.into()),
            (b's', all) => Self::Services(all.iter().map(|text| (*text).to_owned()).collect()),
            (b't', []) => Self::Taken,
            (b'u', []) => Self::Unknown,
            (b'o', []) => Self::OtherPort,
            (b'f', []) => Self::Full,
            _ => return None,
        })
    }
}

fn frame(kind: u8, texts: &[&str]) -> Vec<u8> {
    let mut bytes = vec![kind];
    for text in texts {
        bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    bytes
}

/// The letter and the texts of a frame.
fn parts(bytes: &[u8]) -> Option<(u8, Vec<&str>)> {
    let (kind, mut rest) = bytes.split_first()?;
    let mut texts = Vec::new();
    while !rest.is_empty() {
        let (len, behind) = rest.split_first_chunk()?;
        let (text, behind) = behind.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        texts.push(std::str::from_utf8(text).ok()?);
        rest = behind;
    }
    Some((*kind, texts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_that_are_too_long_are_refused_on_both_sides() {
        let (short, long) = ("x".repeat(MOST_TEXT), "x".repeat(MOST_TEXT + 1));
        let publish =
            |service: &str, port: &str| Question::Publish { service: service.into(), port: port.into() };
        let good = publish(&short, &short);
        assert!(good.check().is_ok() && good.bytes().len() == MOST_QUESTION);
        assert_eq!(Question::read(&good.bytes()), Some(good));
        for (wrong, says) in [(publish(&long, "p"), "service_name"), (publish("s", &long), "port_name")] {
            let error = wrong.check().unwrap_err();
            assert!(error.class() == ErrorClass::Service && error.to_string().starts_with(says), "{error}");
            assert_eq!(Question::read(&wrong.bytes()), None);
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(service in ".{0,40}", port in ".{0,40}", all in proptest::collection::vec(".{0,9}", 0..5)) {
            let (one, other) = (service.clone(), port.clone());
            for question in [
                Question::Publish { service: one.clone(), port: other.clone() },
                Question::LookUp { service: one.clone() },
                Question::Unpublish { service: one, port: other },
                Question::List,
                Question::End,
            ] {
                prop_assert_eq!(Question::read(&question.bytes()), Some(question));
            }
            for answer in [
                Answer::Done, Answer::Port(port), Answer::Services(all), Answer::Taken, Answer::Unknown, Answer::OtherPort, Answer::Full,
            ] {
                prop_assert_eq!(Answer::read(&answer.bytes()), Some(answer));
            }
        }

        #[test]
        fn any_bytes_cause_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60), cut in 0..60usize, at in 0..60usize, kind in any::<u8>()) {
            drop((Question::read(&bytes), Answer::read(&bytes)));
            let mut good = frame(kind, &["a service", "ph1/1/x/y"]);
            if let Some(byte) = good.get_mut(at) { *byte ^= 0x55; }
            let cut = &good[..cut.min(good.len())];
            drop((Question::read(cut), Answer::read(cut)));
        }
    }
}
