//! Every limit and tunable: default, environment name, meaning. Read once, at initialisation.
//!
//! Used by every room; the launcher lists the table. A value that cannot be read is an error that names the
//! variable, what it holds and what was expected; it is never ignored.

use crate::error::{Error, ErrorClass, Result};

/// How long messages travel when a setting forces one way (tests do).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongProtocol {
    /// Chosen by rule for each message.
    Auto,
    /// Through a copy buffer, both sides copying.
    Stream,
    /// The receiver reads the sender's memory in one copy.
    Get,
    /// The receiver asks, the sender puts in fragments.
    Put,
    /// Whoever can reach the other's memory from MPI_Alloc_mem copies.
    Shared,
}

/// What is said of a message in ready mode that came before its receive was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyCheck {
    /// A line on standard error.
    Warn,
    /// The receive fails, though it has got the message.
    Error,
    /// Nothing.
    Off,
}

/// Most requests at one time: as many as a C handle can name, less a reserve for collective operations.
pub const HIGHEST_REQUESTS: usize = (1 << 20) - (1 << 16);

/// The values in force.
#[derive(Clone, Debug)]
pub struct Config {
    /// Longest message sent eagerly, in bytes; cut to what one ring record holds.
    pub eager_limit: usize,
    /// How messages longer than that travel.
    pub long_protocol: LongProtocol,
    /// Bytes that a side copies before it tells the other side.
    pub stream_chunk: usize,
    /// Shortest message for a direct copy when the ranks outnumber the CPUs.
    pub get_limit: usize,
    /// Shortest mean piece of a direct copy from or into many pieces, in bytes.
    pub run_limit: usize,
    /// Shortest message that is copied directly from or into memory from MPI_Alloc_mem.
    pub shared_limit: usize,
    /// Most requests at one time.
    pub requests: usize,
    /// Memory that the unexpected messages of one peer may take here, in bytes.
    pub unexpected_bytes: u64,
    /// Time spent spinning before the CPU is given away, in µs, when every rank has a CPU.
    pub spin_us: u32,
    /// Time spent yielding before sleeping, in µs.
    pub yield_us: u32,
    /// Whether messages carry their types and receives check them.
    pub check_types: bool,
    /// Whether every committed datatype is shown on stderr.
    pub show_types: bool,
    /// Whether each message is explained on standard error.
    pub explain: bool,
    /// What is said of a message in ready mode that came before its receive was posted.
    pub ready_check: ReadyCheck,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            eager_limit: 4 << 10,
            long_protocol: LongProtocol::Auto,
            stream_chunk: 8 << 10,
            get_limit: 256 << 10,
            run_limit: 4 << 10,
            shared_limit: 16 << 10,
            requests: HIGHEST_REQUESTS,
            unexpected_bytes: 16 << 20,
            spin_us: 50,
            yield_us: 1000,
            check_types: false,
            show_types: false,
            explain: false,
            ready_check: ReadyCheck::Warn,
        }
    }
}

/// One setting, for the list that users see.
#[derive(Clone, Copy, Debug)]
pub struct Tunable {
    /// Environment variable.
    pub name: &'static str,
    /// Default, in words.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// All settings.
pub const TUNABLES: &[Tunable] = &[
    Tunable {
        name: "POSTHASTE_EAGER_LIMIT",
        default: "4096",
        meaning: "longest message sent eagerly, in bytes; cut to what one record of the ring holds",
    },
    Tunable {
        name: "POSTHASTE_LONG_PROTOCOL",
        default: "auto",
        meaning: "how longer messages travel: auto, stream (copy buffer, both sides copy), get (direct copy by whoever has the data or the room in many pieces, else by the receiver), shared (one copy from or into memory from MPI_Alloc_mem), put (fragments)",
    },
    Tunable {
        name: "POSTHASTE_STREAM_CHUNK",
        default: "8192",
        meaning: "bytes one side copies through a copy buffer before it tells the other; cut to half a buffer",
    },
    Tunable {
        name: "POSTHASTE_GET_LIMIT",
        default: "262144",
        meaning: "shortest message for the direct copy where ranks outnumber CPUs, in bytes",
    },
    Tunable {
        name: "POSTHASTE_RUN_LIMIT",
        default: "4096",
        meaning: "shortest mean piece, in bytes, of data in many pieces that is copied directly; shorter ones go through a copy buffer",
    },
    Tunable {
        name: "POSTHASTE_SHARED_LIMIT",
        default: "16384",
        meaning: "shortest message that is copied directly from or into memory from MPI_Alloc_mem, in bytes",
    },
    Tunable {
        name: "POSTHASTE_REQUESTS",
        default: "983040",
        meaning: "most requests at one time (at most 983040); those of collective operations may go beyond it",
    },
    Tunable {
        name: "POSTHASTE_UNEXPECTED_BYTES",
        default: "16777216",
        meaning: "memory that the unexpected messages of one peer may take, in bytes; each counts 256 for its envelope",
    },
    Tunable {
        name: "POSTHASTE_SPIN_US",
        default: "50",
        meaning: "time spent spinning before the CPU is given away, in µs, where every rank has a CPU",
    },
    Tunable {
        name: "POSTHASTE_YIELD_US",
        default: "1000",
        meaning: "time spent yielding before sleeping, in µs",
    },
    Tunable {
        name: "POSTHASTE_CHECK_TYPES",
        default: "0",
        meaning: "1: messages carry a hash of their types, and a receive with other types fails with MPI_ERR_TYPE",
    },
    Tunable {
        name: "POSTHASTE_SHOW_TYPES",
        default: "0",
        meaning: "1 shows on stderr what every datatype became when it is committed",
    },
    Tunable {
        name: "POSTHASTE_EXPLAIN",
        default: "0",
        meaning: "1: each message is explained by a line of its sender and one of its receiver on standard error",
    },
    Tunable {
        name: "POSTHASTE_READY_CHECK",
        default: "warn",
        meaning: "a ready send that came before its receive was posted: warn, error (the receive fails) or off",
    },
];

impl Config {
    /// Defaults overridden by what `lookup` finds (the environment, in a real process).
    ///
    /// # Errors
    /// When a variable holds something that cannot be read.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let mut config = Self::default();
        number(&lookup, "POSTHASTE_EAGER_LIMIT", 0..=1 << 30, &mut config.eager_limit)?;
        number(&lookup, "POSTHASTE_STREAM_CHUNK", 64..=1 << 30, &mut config.stream_chunk)?;
        number(&lookup, "POSTHASTE_GET_LIMIT", 0..=usize::MAX, &mut config.get_limit)?;
        number(&lookup, "POSTHASTE_RUN_LIMIT", 0..=usize::MAX, &mut config.run_limit)?;
        number(&lookup, "POSTHASTE_SHARED_LIMIT", 0..=usize::MAX, &mut config.shared_limit)?;
        number(&lookup, "POSTHASTE_REQUESTS", 64..=HIGHEST_REQUESTS, &mut config.requests)?;
        number(&lookup, "POSTHASTE_UNEXPECTED_BYTES", 0..=1 << 40, &mut config.unexpected_bytes)?;
        number(&lookup, "POSTHASTE_SPIN_US", 0..=1_000_000_000, &mut config.spin_us)?;
        number(&lookup, "POSTHASTE_YIELD_US", 0..=1_000_000_000, &mut config.yield_us)?;
        switch(&lookup, "POSTHASTE_CHECK_TYPES", &mut config.check_types)?;
        switch(&lookup, "POSTHASTE_SHOW_TYPES", &mut config.show_types)?;
        switch(&lookup, "POSTHASTE_EXPLAIN", &mut config.explain)?;
        let ways = [
            ("auto", LongProtocol::Auto),
            ("stream", LongProtocol::Stream),
            ("get", LongProtocol::Get),
            ("put", LongProtocol::Put),
            ("shared", LongProtocol::Shared),
        ];
        word(&lookup, "POSTHASTE_LONG_PROTOCOL", &ways, &mut config.long_protocol)?;
        let checks = [("warn", ReadyCheck::Warn), ("error", ReadyCheck::Error), ("off", ReadyCheck::Off)];
        word(&lookup, "POSTHASTE_READY_CHECK", &checks, &mut config.ready_check)?;
        Ok(config)
    }
}

/// A setting that is one of some words.
fn word<T: Copy>(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    words: &[(&str, T)],
    value: &mut T,
) -> Result<()> {
    let Some(text) = lookup(name) else { return Ok(()) };
    let Some((_, meant)) = words.iter().find(|(word, _)| *word == text) else {
        let (last, others) = words.split_last().map_or(("", words), |((last, _), others)| (*last, others));
        let others: Vec<&str> = others.iter().map(|(word, _)| *word).collect();
        return Err(Error::invalid(ErrorClass::Arg, name, text, format!("{} or {last}", others.join(", "))));
    };
    *value = *meant;
    Ok(())
}

/// A setting that is off (0) or on (1).
fn switch(lookup: &impl Fn(&str) -> Option<String>, name: &'static str, value: &mut bool) -> Result<()> {
    let mut on = u8::from(*value);
    number(lookup, name, 0..=1, &mut on)?;
    *value = on == 1;
    Ok(())
}

fn number<T>(
    lookup: &impl Fn(&str) -> Option<String>,
    name: &'static str,
    range: std::ops::RangeInclusive<T>,
    value: &mut T,
) -> Result<()>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    let Some(text) = lookup(name) else { return Ok(()) };
    match text.parse() {
        Ok(number) if range.contains(&number) => {
            *value = number;
            Ok(())
        }
        _ => Err(Error::invalid(
            ErrorClass::Arg,
            name,
            format!("\"{text}\""),
            format!("a number in {}..={}", range.start(), range.end()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_override_defaults_and_nonsense_is_named() {
        let set = |name: &'static str, value: &'static str| {
            Config::read(move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(set("POSTHASTE_EAGER_LIMIT", "100").unwrap().eager_limit, 100);
        assert_eq!(set("POSTHASTE_LONG_PROTOCOL", "get").unwrap().long_protocol, LongProtocol::Get);
        let error = set("POSTHASTE_SPIN_US", "soon").unwrap_err().to_string();
        assert_eq!(error, "POSTHASTE_SPIN_US is \"soon\", expected a number in 0..=1000000000");
        assert!(set("POSTHASTE_LONG_PROTOCOL", "fast").is_err());
    }

    #[test]
    fn every_tunable_is_read() {
        for tunable in TUNABLES {
            let error = Config::read(|asked| (asked == tunable.name).then(|| "?".to_owned()));
            assert!(error.is_err(), "{} is listed but not read", tunable.name);
        }
    }
}
