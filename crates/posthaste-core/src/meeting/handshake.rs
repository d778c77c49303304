//! The handshake at a port: who connects proves that it has the port's name, and so does who accepts. Does no I/O, but for random bytes.
//!
//! A proof is the keyed hash (BLAKE3) of both nonces under the port's secret, so the secret never travels, and neither does
//! the one that both derive for their members. The seal of the hello proves nothing that could not be repeated, but sends
//! strangers away at once. What must stay true: every byte is checked; proofs are compared in constant time.

use posthaste_os::machine;

use crate::error::Error;
use crate::method::tcp::Pass;

const MAGIC: [u8; 12] = *b"pstMeet\0\x01\0\0\0";

/// Bytes of a nonce, a proof or a seal.
pub(super) const WORD: usize = 32;
/// Bytes of the hello with its seal.
pub(super) const HELLO: usize = MAGIC.len() + 2 * WORD;
/// Bytes of the answer: a nonce and a proof.
pub(super) const ANSWER: usize = 2 * WORD;
/// What the caller hears when it is its turn.
pub(super) const GO: u8 = b'G';

pub(super) type Word = [u8; WORD];

/// What two roots need to trust each other, from the port's secret and both nonces.
#[derive(Clone, Copy)]
pub(super) struct Proofs {
    key: Word,
    nonces: [Word; 2],
}

/// The hello of a caller.
pub(super) fn hello(secret: &[u8; 16], nonce: &Word) -> [u8; HELLO] {
    let mut hello = [0; HELLO];
    hello[..MAGIC.len()].copy_from_slice(&MAGIC);
    hello[MAGIC.len()..][..WORD].copy_from_slice(nonce);
    let seal = keyed(&key(secret), b"hello", &[*nonce, [0; WORD]]);
    hello[MAGIC.len() + WORD..].copy_from_slice(&seal);
    hello
}

/// The nonce of a caller.
///
/// # Errors
/// What is wrong with the hello.
pub(super) fn read_hello(secret: &[u8; 16], hello: &[u8]) -> Result<Word, &'static str> {
    let Some((magic, rest)) = hello.split_first_chunk() else { return Err("it says too little") };
    if *magic != MAGIC {
        return Err("it does not speak our protocol");
    }
    let (nonce, seal) = (word(rest, 0), word(rest, WORD));
    if !is_same(&seal, &keyed(&key(secret), b"hello", &[nonce, [0; WORD]])) {
        return Err("it does not know the secret of the port");
    }
    Ok(nonce)
}

impl Proofs {
    /// Of a caller and an answerer with these nonces.
    pub(super) fn new(secret: &[u8; 16], caller: Word, answerer: Word) -> Self {
        Self { key: key(secret), nonces: [caller, answerer] }
    }

    pub(super) fn of_answerer(&self) -> Word {
        keyed(&self.key, b"answerer", &self.nonces)
    }

    pub(super) fn of_caller(&self) -> Word {
        keyed(&self.key, b"caller", &self.nonces)
    }

    /// What all members of the two groups will know each other by.
    pub(super) fn pass(&self) -> Pass {
        pass(&self.key, b"members", &self.nonces)
    }
}

/// The same for groups whose leaders have a secret already, from a nonce of each, that of the first group before the other.
pub fn pass_between(secret: &Word, nonces: &[Word; 2]) -> Pass {
    pass(secret, b"introduced", nonces)
}

fn pass(key: &Word, role: &[u8], nonces: &[Word; 2]) -> Pass {
    let secret = keyed(key, role, nonces);
    let label = keyed(&secret, b"label", nonces);
    let label = u64::from_le_bytes(*label.first_chunk().unwrap_or(&[1; 8]));
    Pass { label: label.max(1), secret }
}

/// Under what a port is found without a network by processes of its host, who know its secret; it tells nobody what that is.
pub(super) fn local_name(secret: &[u8; 16], host: u64) -> String {
    let name =
        blake3::Hasher::new_keyed(&key(secret)).update(b"local").update(&host.to_le_bytes()).finalize();
    format!("posthaste/{}", name.to_hex())
}

/// A number that nobody guesses.
///
/// # Errors
/// When the system has no random bytes.
pub(super) fn nonce() -> crate::error::Result<Word> {
    machine::random().map_err(|e| Error::system("making a number that nobody guesses", e))
}

/// The 32 bytes from `at` on; zeros for what is not there.
pub(super) fn word(bytes: &[u8], at: usize) -> Word {
    bytes.get(at..).and_then(|rest| rest.first_chunk().copied()).unwrap_or_default()
}

/// Whether two proofs are the same, in a time that does not depend on where they differ.
pub(super) fn is_same(a: &Word, b: &Word) -> bool {
    blake3::Hash::from_bytes(*a) == blake3::Hash::from_bytes(*b)
}

fn key(secret: &[u8; 16]) -> Word {
    blake3::hash(secret).into()
}

fn keyed(key: &Word, role: &[u8], words: &[Word; 2]) -> Word {
    blake3::Hasher::new_keyed(key).update(words.as_flattened()).update(role).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_agree_only_with_the_same_secret() {
        let (secret, other) = ([7; 16], [8; 16]);
        let hello = hello(&secret, &[1; WORD]);
        assert_eq!(read_hello(&secret, &hello), Ok([1; WORD]));
        assert!(read_hello(&other, &hello).is_err());
        for at in 0..HELLO {
            let mut wrong = hello;
            wrong[at] ^= 1;
            assert!(read_hello(&secret, &wrong).is_err(), "byte {at}");
            assert!(read_hello(&secret, &hello[..at]).is_err(), "{at} bytes");
        }
        let proofs = |secret| Proofs::new(secret, [1; WORD], [2; WORD]);
        let own = proofs(&secret);
        assert!(own.of_caller() != own.of_answerer() && own.of_caller() != proofs(&other).of_caller());
        assert_eq!(own.pass(), proofs(&secret).pass());
        assert!(own.pass() != proofs(&other).pass());
        assert!(own.pass() != Proofs::new(&secret, [3; WORD], [2; WORD]).pass());
        assert_eq!(local_name(&secret, 1), local_name(&secret, 1));
        assert!(
            local_name(&secret, 1) != local_name(&secret, 2)
                && local_name(&secret, 1) != local_name(&other, 1)
        );
        let nonces = [[1; WORD], [2; WORD]];
        assert_eq!(pass_between(&[7; WORD], &nonces), pass_between(&[7; WORD], &nonces));
        assert!(pass_between(&[7; WORD], &nonces) != pass_between(&[8; WORD], &nonces));
        assert!(pass_between(&[7; WORD], &nonces) != pass_between(&[7; WORD], &[[1; WORD], [3; WORD]]));
    }
}
