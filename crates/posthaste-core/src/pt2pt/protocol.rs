//! Which way a message goes: one pure function and its table.
//!
//! The sender proposes; the receiver may dispose otherwise (seed 003).

use crate::config::LongProtocol;
use crate::method::Caps;

/// The ways of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// One packet.
    Eager,
    /// One packet, too, for which the data is taken from where it lies.
    InPlace,
    /// A request to send; both sides copy through a buffer from the start.
    Stream,
    /// A request to send; the receiver copies directly.
    Get,
    /// A request to send; the sender copies directly, if the receive buffer lies in one piece.
    Write,
    /// A request to send with the first bytes; the sender copies the next part by part, and the last come in fragments.
    Pipeline,
    /// A request to send; after the ok, fragments.
    Put,
    /// A request to send; the receiver copies out of memory that the sender shares with it.
    Shared,
    /// A request to send; after the ok, the sender copies into memory that the receiver shares with it, if the receive
    /// buffer lies there.
    Into,
}

/// What the choice depends on.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// Length in bytes.
    pub len: u64,
    /// The message lies in one piece.
    pub contiguous: bool,
    /// Mean length of its pieces, in bytes.
    pub run: u64,
    /// The message lies in one piece in memory that this process shares with its peers.
    pub shared: bool,
    /// Shortest message for that, by setting.
    pub shared_limit: usize,
    /// Longest eager message by setting.
    pub eager_limit: usize,
    /// Shortest direct copy where CPUs are shared, by setting; what is longer than a bounce buffer is copied so, too.
    pub get_limit: usize,
    /// Shortest mean piece for a direct copy from or into many, by setting.
    pub run_limit: usize,
    /// Shortest message that is registered part by part, by setting.
    pub pipeline_limit: usize,
    /// Forced way of long messages, by setting.
    pub long: LongProtocol,
}

impl Protocol {
    /// Its name in `POSTHASTE_LONG_PROTOCOL` and in explanations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eager | Self::InPlace => "eager",
            Self::Stream => "stream",
            Self::Get => "get",
            Self::Write => "write",
            Self::Pipeline => "pipeline",
            Self::Put => "put",
            Self::Shared => "shared",
            Self::Into => "into",
        }
    }
}

/// The choice, and the reason for it in words.
///
/// Through a buffer that stays in the cache both CPUs copy at once, which beats the single copy several times
/// over where each rank has a CPU. Where ranks share CPUs, filling and draining in turn costs a context switch
/// for each buffer, and the direct copy needs the sender only once.
#[inline]
pub fn choose(traits: &Traits, caps: &Caps) -> (Protocol, &'static str) {
    if traits.len <= traits.eager_limit.min(caps.packet) as u64 {
        return (Protocol::Eager, "it is not longer than the eager limit");
    }
    if traits.len <= traits.eager_limit.min(caps.in_place) as u64 && traits.long == LongProtocol::Auto {
        return (Protocol::InPlace, "it is not longer than the eager limit, and is sent from where it lies");
    }
    let can_get = caps.get && (traits.contiguous || caps.get_any);
    let can_write = caps.put && !can_get;
    match traits.long {
        LongProtocol::Write if caps.put => (Protocol::Write, "POSTHASTE_LONG_PROTOCOL=write"),
        LongProtocol::Write => (
            Protocol::Put,
            "POSTHASTE_LONG_PROTOCOL=write, but the sender cannot write into the receiver's memory",
        ),
        LongProtocol::Pipeline if caps.windows => (Protocol::Pipeline, "POSTHASTE_LONG_PROTOCOL=pipeline"),
        LongProtocol::Pipeline => (
            Protocol::Put,
            "POSTHASTE_LONG_PROTOCOL=pipeline, but the sender cannot write into the receiver's memory part by part",
        ),
        LongProtocol::Put => (Protocol::Put, "POSTHASTE_LONG_PROTOCOL=put"),
        LongProtocol::Shared if traits.shared => (Protocol::Shared, "POSTHASTE_LONG_PROTOCOL=shared"),
        LongProtocol::Shared => (
            Protocol::Into,
            "POSTHASTE_LONG_PROTOCOL=shared, and the data does not lie in memory from MPI_Alloc_mem",
        ),
        LongProtocol::Get if can_get => (Protocol::Get, "POSTHASTE_LONG_PROTOCOL=get"),
        LongProtocol::Get if can_write => {
            (Protocol::Write, "POSTHASTE_LONG_PROTOCOL=get, and the data lies in many pieces")
        }
        LongProtocol::Get => (
            Protocol::Put,
            "POSTHASTE_LONG_PROTOCOL=get, but the receiver cannot read the data where it lies",
        ),
        LongProtocol::Stream if caps.bounce_buffer > 0 => {
            (Protocol::Stream, "POSTHASTE_LONG_PROTOCOL=stream")
        }
        LongProtocol::Stream => {
            (Protocol::Put, "POSTHASTE_LONG_PROTOCOL=stream, but there is no bounce buffer")
        }
        LongProtocol::Auto => {
            if traits.len >= traits.shared_limit as u64 {
                if traits.shared {
                    return (
                        Protocol::Shared,
                        "it lies in memory from MPI_Alloc_mem, which the receiver can reach",
                    );
                }
                if caps.into {
                    return (
                        Protocol::Into,
                        "messages like it are received into memory from MPI_Alloc_mem there",
                    );
                }
            }
            let get_limit = traits.get_limit.min(caps.bounce_buffer + 1);
            let is_dear = caps.oversubscribed && traits.len >= get_limit as u64;
            let by_parts = caps.windows && caps.registers && traits.len >= traits.pipeline_limit as u64;
            if by_parts && traits.contiguous {
                (Protocol::Pipeline, "its memory has to be registered, which is done part by part")
            } else if can_get && caps.bounce_buffer == 0 {
                (Protocol::Get, "the receiver can read the data where it lies")
            } else if can_get && is_dear {
                (
                    Protocol::Get,
                    "ranks share CPUs, and it is longer than a bounce buffer or not shorter than POSTHASTE_GET_LIMIT",
                )
            } else if can_write && is_dear && traits.run >= traits.run_limit as u64 {
                (
                    Protocol::Write,
                    "ranks share CPUs, and the data lies in pieces not shorter than POSTHASTE_RUN_LIMIT",
                )
            } else if caps.bounce_buffer > 0 {
                (Protocol::Stream, "both sides can copy at once through a buffer")
            } else {
                (
                    Protocol::Put,
                    "there is neither a bounce buffer nor can the receiver read the data where it lies",
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        use LongProtocol as L;
        use Protocol as P;
        let shm = Caps { packet: 4256, bounce_buffer: 1 << 19, get: true, put: true, ..Caps::default() };
        let oversubscribed = Caps { oversubscribed: true, ..shm };
        let small = Caps { bounce_buffer: 1 << 13, ..oversubscribed };
        let into = Caps { into: true, ..oversubscribed };
        let no_get = Caps { get: false, put: false, ..oversubscribed };
        let own = Caps { packet: 4096, get: true, get_any: true, ..Caps::default() };
        let bare = Caps { packet: 100, ..Caps::default() };
        let net = Caps { packet: 8000, get: true, put: true, windows: true, ..Caps::default() };
        let registers = Caps { registers: true, ..net };
        #[rustfmt::skip]
        let table = [
            // len, contiguous, forced, caps → protocol
            (0,        true,  L::Auto,   shm,     P::Eager),
            (4256,     false, L::Put,    shm,     P::Eager),
            (4257,     true,  L::Auto,   shm,     P::Stream),
            (1 << 20,  true,  L::Auto,   shm,     P::Stream),
            (1 << 20,  false, L::Auto,   shm,     P::Stream),
            (1 << 17,  true,  L::Auto,   oversubscribed, P::Stream),
            (1 << 20,  true,  L::Auto,   oversubscribed, P::Get),
            (1 << 13,  true,  L::Auto,   small,   P::Stream),
            (8193,     true,  L::Auto,   small,   P::Get),
            (8193,     true,  L::Stream, small,   P::Stream),
            (1 << 20,  false, L::Auto,   oversubscribed, P::Stream),
            (1 << 20,  true,  L::Auto,   no_get,  P::Stream),
            (1 << 20,  true,  L::Get,    no_get,  P::Put),
            (1 << 20,  true,  L::Get,    shm,     P::Get),
            (1 << 20,  false, L::Get,    shm,     P::Write),
            (1 << 20,  false, L::Get,    no_get,  P::Put),
            (1 << 20,  true,  L::Put,    shm,     P::Put),
            (1 << 20,  false, L::Auto,   own,     P::Get),
            (1 << 20,  true,  L::Stream, own,     P::Put),
            (101,      true,  L::Auto,   bare,    P::Put),
            (1 << 20,  true,  L::Auto,   net,     P::Get),
            (1 << 20,  false, L::Auto,   net,     P::Put),
            (1 << 20,  true,  L::Write,  net,     P::Write),
            (1 << 20,  true,  L::Write,  own,     P::Put),
            (1 << 20,  true,  L::Pipeline, net,   P::Pipeline),
            (1 << 20,  true,  L::Pipeline, shm,   P::Put),
            (1 << 20,  true,  L::Auto,   registers, P::Pipeline),
            (1 << 20,  false, L::Auto,   registers, P::Put),
            (9000,     true,  L::Auto,   registers, P::Get),
            (1 << 20,  true,  L::Shared, shm,     P::Into),
            (1 << 20,  true,  L::Auto,   into,    P::Into),
            (1 << 20,  false, L::Auto,   into,    P::Into),
            (1 << 20,  true,  L::Stream, into,    P::Stream),
            (1 << 20,  true,  L::Get,    into,    P::Get),
        ];
        for (len, contiguous, long, caps, expected) in table {
            let traits = Traits {
                len,
                contiguous,
                run: 64,
                shared: false,
                shared_limit: 0,
                eager_limit: 8192,
                get_limit: 1 << 18,
                run_limit: 1024,
                pipeline_limit: 1 << 16,
                long,
            };
            assert_eq!(choose(&traits, &caps).0, expected, "{traits:?} {caps:?}");
        }
    }

    #[test]
    fn the_reason_is_the_one_that_decided() {
        let caps = Caps {
            packet: 4256,
            bounce_buffer: 1 << 19,
            get: true,
            put: true,
            oversubscribed: true,
            ..Caps::default()
        };
        let traits = Traits {
            len: 1 << 20,
            contiguous: true,
            run: 100,
            shared: false,
            shared_limit: 1 << 14,
            eager_limit: 4096,
            get_limit: 1 << 18,
            run_limit: 1024,
            pipeline_limit: 1 << 16,
            long: LongProtocol::Auto,
        };
        assert_eq!(choose(&traits, &caps).0, Protocol::Get);
        let why = |traits: &Traits| choose(traits, &caps).1;
        assert!(why(&Traits { len: 8, ..traits }).contains("eager limit"));
        let shared = Traits { shared: true, ..traits };
        for (len, caps, protocol) in [
            (1 << 20, caps, Protocol::Shared),
            (1 << 14, Caps { into: true, ..caps }, Protocol::Shared),
            ((1 << 14) - 1, Caps { into: true, ..caps }, Protocol::Stream),
        ] {
            assert_eq!(choose(&Traits { len, ..shared }, &caps).0, protocol, "{len}");
        }
        assert!(why(&shared).contains("MPI_Alloc_mem"));
        for (long, protocol) in [(LongProtocol::Shared, Protocol::Shared), (LongProtocol::Put, Protocol::Put)]
        {
            assert_eq!(choose(&Traits { long, len: 9000, ..shared }, &caps).0, protocol);
        }
        assert!(why(&traits).contains("POSTHASTE_GET_LIMIT"));
        let pieces = Traits { contiguous: false, run: 2000, ..traits };
        assert_eq!(choose(&pieces, &caps).0, Protocol::Write);
        assert!(why(&pieces).contains("POSTHASTE_RUN_LIMIT"));
        assert!(why(&Traits { contiguous: false, ..traits }).contains("both sides"));
        let forced = Traits { contiguous: false, long: LongProtocol::Get, ..traits };
        assert!(why(&forced).contains("LONG_PROTOCOL=get, and"));
        let unreadable = Caps { get: false, put: false, ..caps };
        assert!(choose(&forced, &unreadable).1.contains("LONG_PROTOCOL=get, but"));
    }
}
