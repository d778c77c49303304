//! A call of a port by messages, between ranks of one job. Their job vouches for both, so there is a hello, which shows that the
//! caller has the port's name, and no proof; what the members of their groups know each other by comes out of it as it does from a
//! connection's.
//!
//! What must stay true: what another rank says is checked.

use super::PortName;
use super::handshake::{HELLO, Proofs, WORD, Word, hello, nonce, read_hello};
use crate::error::Result;
use crate::method::tcp::Pass;

/// A caller, who has said its hello.
#[derive(Debug)]
pub struct Knock {
    secret: [u8; 16],
    nonce: Word,
}

/// Bytes of a call: a hello and a tag.
const CALL: usize = HELLO + 4;

impl Knock {
    /// A caller, and what it says: it is answered under this tag.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn new(name: &PortName, tag: u32) -> Result<(Self, Vec<u8>)> {
        let nonce = nonce()?;
        let call = [&hello(&name.secret, &nonce)[..], &tag.to_le_bytes()].concat();
        Ok((Self { secret: name.secret, nonce }, call))
    }

    /// What the members of both groups know each other by, from the answer.
    pub fn answered(&self, answer: &[u8]) -> Option<Pass> {
        let theirs = answer.first_chunk().filter(|_| answer.len() == WORD)?;
        Some(Proofs::new(&self.secret, self.nonce, *theirs).pass())
    }
}

/// What the members of both groups know each other by, the tag of the call, and what it is answered; `None`: it is to be passed by.
///
/// # Errors
/// When the system has no random bytes.
pub fn answer(name: &PortName, call: &[u8]) -> Result<Option<(Pass, u32, Vec<u8>)>> {
    let heard = call.split_first_chunk::<HELLO>().filter(|_| call.len() == CALL);
    let caller = heard.and_then(|(hello, _)| read_hello(&name.secret, hello).ok());
    let tag = heard.and_then(|(_, tag)| tag.first_chunk().copied()).map(u32::from_le_bytes);
    let (Some(caller), Some(tag)) = (caller, tag) else { return Ok(None) };
    let own = nonce()?;
    Ok(Some((Proofs::new(&name.secret, caller, own).pass(), tag, own.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_the_name_is_answered() {
        let name = |secret| PortName { owner: None, port: 1, secret: [secret; 16], addresses: Vec::new() };
        let (caller, call) = Knock::new(&name(1), 70_000).unwrap();
        let (there, tag, said) = answer(&name(1), &call).unwrap().expect("the name is right");
        assert_eq!((caller.answered(&said), tag), (Some(there), 70_000));
        assert!(answer(&name(2), &call).unwrap().is_none(), "another secret");
        (0..call.len()).for_each(|cut| assert!(answer(&name(1), &call[..cut]).unwrap().is_none()));
        (0..said.len()).for_each(|cut| assert!(caller.answered(&said[..cut]).is_none()));
        assert!(answer(&name(1), &[&call[..], &[0]].concat()).unwrap().is_none());
    }
}
