//! The lines of PMI-1.1: `cmd=NAME key=value key=value`, one per request and one per reply.
//!
//! What must stay true: no input panics, and what [`Emit`] wrote [`Line::parse`] reads back. Keys and values have no
//! spaces, quotes or line ends in this version of the wire, so nothing is escaped; a value may contain `=`.

use thiserror::Error;

/// Longest line that is accepted. Libraries of the family send at most 1024 bytes.
pub const LONGEST: usize = 16 << 10;

/// Why a line is not one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadLine {
    /// Nothing, or only spaces.
    #[error("the line is empty")]
    Empty,
    /// The first pair is not `cmd=` or `mcmd=`.
    #[error("the line begins with {0:?}, expected cmd=NAME")]
    NoCommand(String),
    /// A word without `=`, or with nothing before it.
    #[error("{0:?} is not of the form key=value")]
    NotAPair(String),
    /// A key or value that this wire cannot carry.
    #[error("{0:?} has a space, a line end or a control character, which the wire cannot carry")]
    Unsendable(String),
    /// A value that does not fit into a line.
    #[error("the value of {0} has {1} bytes, and a line has room for {LONGEST}")]
    Long(String, usize),
    /// A pair that the command needs is not there.
    #[error("cmd={command} has no {key}=")]
    Missing {
        /// The command of the line.
        command: String,
        /// The key that it lacks.
        key: String,
    },
    /// A value that should be a number is not.
    #[error("{key}={value} is not a number")]
    NotANumber {
        /// The key.
        key: String,
        /// Its value.
        value: String,
    },
    /// Longer than [`LONGEST`], or not text.
    #[error("the line is longer than {LONGEST} bytes or not text")]
    NotText,
}

/// A line, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The name after `cmd=` (or `mcmd=`, which opens a command of several lines).
    pub command: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Line<'a> {
    /// Takes a line apart; a line end at its end is allowed.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(text: &'a str) -> Result<Self, BadLine> {
        if text.len() > LONGEST {
            return Err(BadLine::NotText);
        }
        let mut words = text.split([' ', '\n', '\r', '\t']).filter(|word| !word.is_empty());
        let first = words.next().ok_or(BadLine::Empty)?;
        let command = first
            .strip_prefix("cmd=")
            .or_else(|| first.strip_prefix("mcmd="))
            .filter(|name| !name.is_empty())
            .ok_or_else(|| BadLine::NoCommand(shortened(first)))?;
        let pairs = words
            .map(|word| match word.split_once('=') {
                Some((key, value)) if !key.is_empty() => Ok((key, value)),
                _ => Err(BadLine::NotAPair(shortened(word))),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { command, pairs })
    }

    /// The value of `key`; of several, the first.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().find(|pair| pair.0 == key).map(|pair| pair.1)
    }

    /// The value of `key`.
    ///
    /// # Errors
    /// When there is none.
    pub fn need(&self, key: &str) -> Result<&'a str, BadLine> {
        self.get(key).ok_or_else(|| BadLine::Missing { command: self.command.into(), key: key.into() })
    }

    /// The value of `key` as a number.
    ///
    /// # Errors
    /// When there is none or it is not a number.
    pub fn number(&self, key: &str) -> Result<i64, BadLine> {
        let value = self.need(key)?;
        value.parse().map_err(|_| BadLine::NotANumber { key: key.into(), value: shortened(value) })
    }
}

/// Free text as one word of the wire, [`read_words`] on the other side. The words are joined as all launchers do it, by `_`, unless one of
/// them, the name of a program, say, has that itself.
pub fn sendable_words(text: &str) -> String {
    let join =
        |between| text.chars().map(move |c| if c.is_whitespace() || c.is_control() { between } else { c });
    if text.contains('_') { join(NO_BREAK).chain([NO_BREAK]).collect() } else { join('_').collect() }
}

/// Free text that came as one word.
pub fn read_words(word: &str) -> String {
    match word.strip_suffix(NO_BREAK) {
        Some(ours) => ours.replace(NO_BREAK, " "),
        None => word.replace('_', " "),
    }
}

/// A space that does not end a word of the wire. At the end it says that it stands for each space before.
const NO_BREAK: char = '\u{a0}';

/// Writes a line.
#[derive(Clone, Debug)]
pub struct Emit {
    text: String,
    refused: Option<String>,
}

impl Emit {
    /// Begins the line of `command`.
    pub fn new(command: &str) -> Self {
        Self { text: String::new(), refused: None }.word("cmd", command)
    }

    /// Appends a pair.
    #[must_use]
    pub fn pair(self, key: &str, value: &str) -> Self {
        self.word(key, value)
    }

    /// Appends a pair whose value is a number.
    #[must_use]
    pub fn number(self, key: &str, value: impl Into<i64>) -> Self {
        let value: i64 = value.into();
        self.word(key, &value.to_string())
    }

    /// The finished line with its line end.
    ///
    /// # Errors
    /// When a key or value cannot be sent.
    pub fn line(mut self) -> Result<String, BadLine> {
        if let Some(word) = self.refused {
            return Err(BadLine::Unsendable(word));
        }
        if self.text.len() >= LONGEST {
            return Err(BadLine::NotText);
        }
        self.text.push('\n');
        Ok(self.text)
    }

    fn word(mut self, key: &str, value: &str) -> Self {
        let sendable = |text: &str| !text.contains(|c: char| c.is_ascii_whitespace() || c.is_control());
        if key.is_empty() || key.contains('=') || !sendable(key) {
            self.refused.get_or_insert_with(|| shortened(key));
        }
        if !sendable(value) {
            self.refused.get_or_insert_with(|| shortened(value));
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(key);
        self.text.push('=');
        self.text.push_str(value);
        self
    }
}

/// Cuts bytes that arrived in pieces into lines, with a bound on what it keeps.
#[derive(Debug, Default)]
pub struct Reassembly {
    bytes: Vec<u8>,
    taken: usize,
}

impl Reassembly {
    /// Adds what arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line without its end, `None` when there is none yet.
    ///
    /// # Errors
    /// When the line is too long or not text; the connection is then of no more use.
    pub fn next_line(&mut self) -> Result<Option<&str>, BadLine> {
        let rest = &self.bytes[self.taken..];
        let Some(length) = rest.iter().position(|&byte| byte == b'\n') else {
            return if rest.len() > LONGEST { Err(BadLine::NotText) } else { Ok(None) };
        };
        self.taken += length + 1;
        let line = &self.bytes[self.taken - length - 1..self.taken - 1];
        std::str::from_utf8(line).map(Some).map_err(|_| BadLine::NotText)
    }
}

/// A piece of somebody else's text, short enough for an error message.
fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_comes_apart() {
        let line = Line::parse("cmd=put kvsname=k1  key=a value=x=y==\n").unwrap();
        assert_eq!(line.command, "put");
        assert_eq!((line.get("value"), line.get("none")), (Some("x=y=="), None));
        assert_eq!(Line::parse("cmd=a rc=-1").unwrap().number("rc"), Ok(-1));
        assert_eq!(Line::parse("mcmd=spawn").unwrap().command, "spawn");
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        assert_eq!(Line::parse(" \n"), Err(BadLine::Empty));
        assert_eq!(Line::parse("command=x"), Err(BadLine::NoCommand("command=x".into())));
        assert_eq!(Line::parse("cmd="), Err(BadLine::NoCommand("cmd=".into())));
        assert_eq!(Line::parse("cmd=x alone"), Err(BadLine::NotAPair("alone".into())));
        assert_eq!(Line::parse("cmd=x =v"), Err(BadLine::NotAPair("=v".into())));
        assert!(Line::parse("cmd=x rc=no").unwrap().number("rc").is_err());
        assert!(Line::parse("cmd=x").unwrap().need("rc").is_err());
        assert_eq!(Line::parse(&"x".repeat(LONGEST + 1)), Err(BadLine::NotText));
        assert!(Emit::new("put").pair("value", "two words").line().is_err());
        assert!(Emit::new("put").pair("value", "a\nb").line().is_err());
        assert!(Emit::new("put").pair("a=b", "c").line().is_err());
    }

    #[test]
    fn free_text_keeps_the_names_in_it() {
        assert_eq!(sendable_words("no such key"), "no_such_key");
        assert_eq!(read_words("process_in_group"), "process in group", "as other launchers write it");
        for text in ["no such key", "can't start a_b: rc=1\u{e9}", "a_b", "ab", ""] {
            let line = Emit::new("x").pair("msg", &sendable_words(text)).line().unwrap();
            assert_eq!(read_words(Line::parse(&line).unwrap().get("msg").unwrap()), text);
        }
        assert_eq!(read_words(&sendable_words("my_solver is\nnot there")), "my_solver is not there");
    }

    #[test]
    fn lines_are_found_in_pieces() {
        let mut lines = Reassembly::default();
        lines.push(b"cmd=a\ncm");
        assert_eq!(lines.next_line(), Ok(Some("cmd=a")));
        assert_eq!(lines.next_line(), Ok(None));
        lines.push(b"d=b\n\xff\n");
        assert_eq!(lines.next_line(), Ok(Some("cmd=b")));
        assert_eq!(lines.next_line(), Err(BadLine::NotText));
        lines.push(&vec![b'x'; LONGEST + 1]);
        assert_eq!(lines.next_line(), Err(BadLine::NotText));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in ".*") {
            let _ = Line::parse(&text);
        }

        #[test]
        fn no_bytes_panic(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut lines = Reassembly::default();
            for piece in pieces {
                lines.push(&piece);
                while let Ok(Some(line)) = lines.next_line() {
                    let _ = Line::parse(line);
                }
            }
        }

        #[test]
        fn what_is_written_is_read(command in "[!-<>-~]{1,20}", key in "[!-<>-~]{1,20}", value in "[!-~]{0,200}") {
            prop_assume!(key != "cmd" && key != "mcmd");
            let text = Emit::new(&command).pair(&key, &value).line().unwrap();
            let line = Line::parse(&text).unwrap();
            prop_assert_eq!(line.command, command.as_str());
            prop_assert_eq!(line.get(&key), Some(value.as_str()));
        }

        #[test]
        fn pieces_make_no_difference(lines in prop::collection::vec("[a-z=]{0,30}", 0..10), cut in 1usize..7) {
            let all: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let mut seen = Vec::new();
            let mut pieces = Reassembly::default();
            for piece in all.as_bytes().chunks(cut) {
                pieces.push(piece);
                while let Some(line) = pieces.next_line().unwrap() {
                    seen.push(line.to_string());
                }
            }
            prop_assert_eq!(seen, lines);
        }
    }
}
