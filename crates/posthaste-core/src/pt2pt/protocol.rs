//! Which way a message goes: one pure function and its table.
//!
//! Called by `send`; calls nothing. The sender proposes; the receiver may dispose otherwise (seed 003).

use crate::config::LongProtocol;
use crate::method::Caps;

/// The ways of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// One packet.
    Eager,
    /// A request to send; both sides copy through a buffer from the start.
    Stream,
    /// A request to send; the receiver copies directly.
    Get,
    /// A request to send; after the ok, fragments.
    Put,
}

/// What the choice depends on.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    /// Length in bytes.
    pub len: u64,
    /// The message lies in one piece.
    pub contiguous: bool,
    /// Longest eager message by setting.
    pub eager_limit: usize,
    /// Shortest direct copy where CPUs are shared, by setting.
    pub get_limit: usize,
    /// Forced way of long messages, by setting.
    pub long: LongProtocol,
}

/// The choice.
///
/// Through a buffer that stays in the cache both CPUs copy at once, which beats the single copy several times
/// over where each rank has a CPU. Where ranks share CPUs, filling and draining in turn costs a context switch
/// for each buffer, and the direct copy needs the sender only once.
#[inline]
pub fn choose(traits: &Traits, caps: &Caps) -> Protocol {
    if traits.len <= traits.eager_limit.min(caps.packet) as u64 {
        return Protocol::Eager;
    }
    let can_get = caps.get && (traits.contiguous || caps.get_any);
    match traits.long {
        LongProtocol::Put => Protocol::Put,
        LongProtocol::Get if can_get => Protocol::Get,
        LongProtocol::Get => Protocol::Put,
        LongProtocol::Stream if caps.stream => Protocol::Stream,
        LongProtocol::Stream => Protocol::Put,
        LongProtocol::Auto => {
            let prefer_get = !caps.stream || (caps.crowded && traits.len >= traits.get_limit as u64);
            if can_get && prefer_get {
                Protocol::Get
            } else if caps.stream {
                Protocol::Stream
            } else {
                Protocol::Put
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
        let shm = Caps { packet: 4064, stream: true, get: true, get_any: false, crowded: false };
        let crowded = Caps { crowded: true, ..shm };
        let no_get = Caps { get: false, ..crowded };
        let own = Caps { packet: 4096, stream: false, get: true, get_any: true, crowded: false };
        let bare = Caps { packet: 100, stream: false, get: false, get_any: false, crowded: false };
        #[rustfmt::skip]
        let table = [
            // len, contiguous, forced, caps → protocol
            (0,        true,  L::Auto,   shm,     P::Eager),
            (4064,     false, L::Put,    shm,     P::Eager),
            (4065,     true,  L::Auto,   shm,     P::Stream),
            (1 << 20,  true,  L::Auto,   shm,     P::Stream),
            (1 << 20,  false, L::Auto,   shm,     P::Stream),
            (1 << 17,  true,  L::Auto,   crowded, P::Stream),
            (1 << 20,  true,  L::Auto,   crowded, P::Get),
            (1 << 20,  false, L::Auto,   crowded, P::Stream),
            (1 << 20,  true,  L::Auto,   no_get,  P::Stream),
            (1 << 20,  true,  L::Get,    no_get,  P::Put),
            (1 << 20,  true,  L::Get,    shm,     P::Get),
            (1 << 20,  false, L::Get,    shm,     P::Put),
            (1 << 20,  true,  L::Put,    shm,     P::Put),
            (1 << 20,  false, L::Auto,   own,     P::Get),
            (1 << 20,  true,  L::Stream, own,     P::Put),
            (101,      true,  L::Auto,   bare,    P::Put),
        ];
        for (len, contiguous, long, caps, expected) in table {
            let traits = Traits { len, contiguous, eager_limit: 8192, get_limit: 1 << 18, long };
            assert_eq!(choose(&traits, &caps), expected, "{traits:?} {caps:?}");
        }
    }
}
