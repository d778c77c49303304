//! The handshake of a connection: who speaks, in which version and format, and the proof of knowing the job's secret.
//!
//! ```text
//!   caller                                answerer
//!   hello: version, format, from, to, VCI, nonce; and its seal ---->
//!          <---- the same of its own, and its proof over both
//!   proof over both ------------------------------------------>
//!          <---- go, when this connection is the one
//! ```
//!
//! A proof is the keyed hash (BLAKE3) of everything said so far under the job's secret, so the secret itself never travels,
//! a proof serves one connection in one direction only, and nobody can give it who does not know the secret. The seal is
//! the same hash of the hello alone: it can be repeated by who has heard it, and so proves nothing, but strangers have none,
//! and who has one is waited for: it may be a rank that computes. What this does not do: what follows the handshake is neither encrypted nor signed, so who can change packets on the way can
//! change messages. Does no I/O. What must stay true: every byte from a peer is checked; proofs are compared in
//! constant time.
//!
//! Between jobs a process is not its rank alone: the hello names the jobs of both, and by a label the secret on which the two
//! agreed when they met (`abroad`). Inside a job label and jobs are 0, and the secret is that of the job.

use posthaste_os::node::VCIS;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::datatype::Format;
use crate::ids::Peer;
use crate::jobs::{JobId, ProcessName};
use crate::method::tcp::abroad::Abroad;

/// What both speak.
const VERSION: u32 = 6;
const MAGIC: [u8; 8] = *b"pstHaste";
/// The last byte of a handshake.
pub(super) const GO: u8 = b'G';
/// All that one hears whose seal is wrong.
pub(super) const NO: u8 = b'N';

/// Bytes of a proof.
pub(super) const PROOF: usize = 32;
/// Bytes of a hello.
pub(super) const HELLO: usize = size_of::<Words>();
/// Bytes of a hello with its seal, and of the answer to it with its proof.
pub(super) const GREETING: usize = HELLO + PROOF;

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Words {
    magic: [u8; 8],
    version: U32,
    format: U32,
    from: U32,
    to: U32,
    label: U64,
    from_job: U64,
    to_job: U64,
    vci: U32,
    nonce: [u8; 32],
}

/// This process, as it introduces itself.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) me: Peer,
    pub(super) peers: usize,
    pub(super) format: Format,
    /// Which of its VCIs speaks.
    pub(super) vci: usize,
    secret: [u8; 32],
    pub(super) abroad: Abroad,
}

/// What a peer says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Introduction {
    pub(super) from: Peer,
    pub(super) format: Format,
    /// The VCI from which and to which the connection leads.
    pub(super) vci: usize,
    /// Of the secret by which the two know each other.
    label: u64,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("me", &self.me).field("peers", &self.peers).finish_non_exhaustive()
    }
}

impl Identity {
    pub(super) fn new(me: Peer, peers: usize, format: Format, secret: [u8; 32]) -> Self {
        Self { me, peers, format, vci: 0, secret, abroad: Abroad::default() }
    }

    /// The same process in a further VCI, which processes of other jobs do not know.
    pub(super) fn of_vci(&self, vci: usize) -> Self {
        Self { vci, ..Self::new(self.me, self.peers, self.format, self.secret) }
    }

    pub(super) fn secret_of(&self, label: u64) -> Option<[u8; 32]> {
        if label == 0 { Some(self.secret) } else { self.abroad.secret(label).copied() }
    }

    /// The first words to a peer.
    pub(super) fn hello(&self, to: Peer, nonce: [u8; 32]) -> [u8; HELLO] {
        self.words(to, self.abroad.label(to).unwrap_or(0), self.vci, nonce)
    }

    /// The first words of the answer to a peer, which has chosen the secret.
    pub(super) fn answer(&self, to: &Introduction, nonce: [u8; 32]) -> [u8; HELLO] {
        self.words(to.from, to.label, to.vci, nonce)
    }

    fn words(&self, to: Peer, label: u64, vci: usize, nonce: [u8; 32]) -> [u8; HELLO] {
        let (from, to) = self.names(to);
        let words = Words {
            magic: MAGIC,
            version: U32::new(VERSION),
            format: U32::new(self.format.word()),
            from: U32::new(from.rank),
            to: U32::new(to.rank),
            label: U64::new(label),
            from_job: U64::new(from.job.0),
            to_job: U64::new(to.job.0),
            vci: U32::new(vci as u32),
            nonce,
        };
        zerocopy::transmute!(words)
    }

    /// What this process and a peer call each other.
    fn names(&self, peer: Peer) -> (ProcessName, ProcessName) {
        if let (Some(own), Some(name)) = (self.abroad.own(), self.abroad.name(peer)) {
            return (own, name);
        }
        let at_home = |peer: Peer| ProcessName { job: JobId(0), rank: peer.0 };
        (at_home(self.me), at_home(peer))
    }

    /// Whether, of two that call each other at once, this process keeps its own call: the peer comes to the opposite.
    pub(super) fn goes_before(&self, peer: Peer) -> bool {
        let (own, name) = self.names(peer);
        own < name
    }

    /// What a peer is called in sentences.
    pub(super) fn name(&self, peer: Peer) -> String {
        match self.abroad.name(peer) {
            Some(name) => name.to_string(),
            None => format!("rank {} of the world", peer.0),
        }
    }

    /// How many processes may connect.
    pub(super) fn callers(&self) -> usize {
        self.peers + self.abroad.len()
    }

    /// Reads a hello, or the front of an answer.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn read(&self, bytes: &[u8; HELLO]) -> Result<Introduction, String> {
        let words: Words = zerocopy::transmute!(*bytes);
        if words.magic != MAGIC {
            return Err("it does not speak our protocol".into());
        }
        if words.version.get() != VERSION {
            return Err(format!("it speaks version {} of our protocol, we speak {VERSION}", words.version));
        }
        let Some(format) = Format::from_word(words.format.get()) else {
            return Err(format!("its data has the unknown format {:#x}", words.format));
        };
        let (label, to, vci) = (words.label.get(), words.to.get(), words.vci.get() as usize);
        // Processes of other jobs know the first one alone.
        let vcis = if label == 0 { VCIS } else { 1 };
        if vci >= vcis {
            return Err(format!("it looks for VCI {vci}, and there are at most {vcis} for it"));
        }
        if label != 0 {
            let name = ProcessName { job: JobId(words.from_job.get()), rank: words.from.get() };
            let own = ProcessName { job: JobId(words.to_job.get()), rank: to };
            let known = self.abroad.peer(name, label).filter(|_| self.abroad.own() == Some(own));
            let from = known.ok_or_else(|| format!("{name} is there, which looks for {own}"))?;
            return Ok(Introduction { from, format, vci, label });
        }
        let from = Peer(words.from.get());
        if from.index() >= self.peers || from == self.me {
            return Err(format!("it says that it is rank {}, which cannot be", from.0));
        }
        if to != self.me.0 {
            return Err(format!("rank {} is there, which looks for rank {to}", from.0));
        }
        Ok(Introduction { from, format, vci, label })
    }

    /// The seal of a hello.
    pub(super) fn seal(&self, hello: &[u8; HELLO]) -> [u8; PROOF] {
        self.proof(b"hello", hello, &[0; HELLO])
    }

    /// The answerer's proof.
    pub(super) fn answerer_proof(&self, hello: &[u8; HELLO], answer: &[u8; HELLO]) -> [u8; PROOF] {
        self.proof(b"answerer", hello, answer)
    }

    /// The caller's proof.
    pub(super) fn caller_proof(&self, hello: &[u8; HELLO], answer: &[u8; HELLO]) -> [u8; PROOF] {
        self.proof(b"caller", hello, answer)
    }

    fn proof(&self, role: &[u8], hello: &[u8; HELLO], answer: &[u8; HELLO]) -> [u8; PROOF] {
        let words: Words = zerocopy::transmute!(*hello);
        // A label that nobody has been given proves nothing: whoever read it has refused it.
        let secret = self.abroad.secret(words.label.get()).unwrap_or(&self.secret);
        let mut hasher = blake3::Hasher::new_keyed(secret);
        hasher.update(hello).update(answer).update(role);
        hasher.finalize().into()
    }
}

/// Whether two proofs are the same, in a time that does not depend on where they differ.
pub(super) fn is_same(a: &[u8; PROOF], b: &[u8; PROOF]) -> bool {
    blake3::Hash::from_bytes(*a) == blake3::Hash::from_bytes(*b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(me: u32, secret: u8) -> Identity {
        Identity::new(Peer(me), 4, Format::NATIVE, [secret; 32])
    }

    #[test]
    fn both_sides_come_to_the_same_proofs_only_with_the_same_secret_and_words() {
        let (a, b, stranger) = (identity(0, 7), identity(1, 7), identity(1, 8));
        let (hello, answer) = (a.hello(Peer(1), [1; 32]), b.hello(Peer(0), [2; 32]));
        let introduction = Introduction { from: Peer(0), format: Format::NATIVE, vci: 0, label: 0 };
        assert_eq!(b.read(&hello), Ok(introduction));
        assert!(is_same(&a.answerer_proof(&hello, &answer), &b.answerer_proof(&hello, &answer)));
        assert!(is_same(&a.caller_proof(&hello, &answer), &b.caller_proof(&hello, &answer)));
        // A proof cannot be handed back, and none fits other words or another secret.
        assert!(!is_same(&a.caller_proof(&hello, &answer), &a.answerer_proof(&hello, &answer)));
        assert!(!is_same(&a.answerer_proof(&hello, &answer), &stranger.answerer_proof(&hello, &answer)));
        let other = a.hello(Peer(1), [3; 32]);
        assert!(!is_same(&a.caller_proof(&hello, &answer), &a.caller_proof(&other, &answer)));
        assert!(
            is_same(&a.seal(&hello), &b.seal(&hello)) && !is_same(&a.seal(&hello), &stranger.seal(&hello))
        );
    }

    #[test]
    fn a_wrong_hello_is_refused_in_words() {
        let (a, b) = (identity(0, 7), identity(1, 7));
        let hello = a.hello(Peer(1), [1; 32]);
        let wrong = |at: usize, byte: u8| {
            let mut bytes = hello;
            bytes[at] = byte;
            b.read(&bytes).unwrap_err()
        };
        assert!(wrong(0, b'G').contains("does not speak our protocol"));
        assert!(wrong(8, 9).contains("version 9"));
        assert!(wrong(15, 9).contains("unknown format"));
        assert!(wrong(16, 4).contains("rank 4, which cannot be"));
        assert!(wrong(16, 1).contains("rank 1, which cannot be"));
        assert!(wrong(20, 2).contains("looks for rank 2"));
        assert!(wrong(48, 8).contains("looks for VCI 8, and there are at most 8"));
        assert!(!format!("{b:?}").contains("secret"));
    }
}
