//! The handshake of a connection: who speaks, in which version and format, and the proof of knowing the job's secret.
//!
//! ```text
//!   caller                                answerer
//!   hello: version, format, from, to, nonce; and its seal ---->
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

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::datatype::Format;
use crate::ids::Peer;

/// What both speak.
const VERSION: u32 = 1;
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
    nonce: [u8; 32],
}

/// This process, as it introduces itself.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) me: Peer,
    pub(super) peers: usize,
    pub(super) format: Format,
    secret: [u8; 32],
}

/// What a peer says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Introduction {
    pub(super) from: Peer,
    pub(super) format: Format,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("me", &self.me).field("peers", &self.peers).finish_non_exhaustive()
    }
}

impl Identity {
    pub(super) fn new(me: Peer, peers: usize, format: Format, secret: [u8; 32]) -> Self {
        Self { me, peers, format, secret }
    }

    /// The first words to a peer.
    pub(super) fn hello(&self, to: Peer, nonce: [u8; 32]) -> [u8; HELLO] {
        let words = Words {
            magic: MAGIC,
            version: U32::new(VERSION),
            format: U32::new(self.format.word()),
            from: U32::new(self.me.0),
            to: U32::new(to.0),
            nonce,
        };
        zerocopy::transmute!(words)
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
        let from = Peer(words.from.get());
        let Some(format) = Format::from_word(words.format.get()) else {
            return Err(format!("its data has the unknown format {:#x}", words.format));
        };
        if from.index() >= self.peers || from == self.me {
            return Err(format!("it says that it is rank {}, which cannot be", from.0));
        }
        if words.to.get() != self.me.0 {
            return Err(format!("rank {} is there, which looks for rank {}", from.0, words.to));
        }
        Ok(Introduction { from, format })
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
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
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
        assert_eq!(b.read(&hello), Ok(Introduction { from: Peer(0), format: Format::NATIVE }));
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
        assert!(!format!("{b:?}").contains("secret"));
    }
}
