//! A call of a port by messages, between ranks of one job. Their job vouches for both, so there is a hello, which shows that the
//! caller has the port's name, and no proof; what the members of their groups know each other by comes out of it as it does from a
//! connection's.
//!
//! What must stay true: what another rank says is checked.

use posthaste_os::machine;

use super::handshake::{HELLO, Proofs, WORD, Word, hello, read_hello, word};
use super::{PortName, line};
use crate::error::{Error, Result};
use crate::method::tcp::Pass;

/// A caller, who has said its hello.
#[derive(Debug)]
pub struct Knock {
    secret: [u8; 16],
    nonce: Word,
}

/// What one side learns of the other.
#[derive(Debug)]
pub struct Knocked {
    /// What the members of both groups know each other by.
    pub pass: Pass,
    /// Bytes of the other root's list.
    pub list: usize,
}

/// Bytes of a call: a hello, the length of a list, a tag.
const CALL: usize = HELLO + 8 + 4;
/// Bytes of an answer: a nonce, the length of a list.
const ANSWER: usize = WORD + 8;

impl Knock {
    /// A caller, and what it says: its list has so many bytes, and is answered under this tag.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn new(name: &PortName, list: usize, tag: u32) -> Result<(Self, Vec<u8>)> {
        let nonce = nonce()?;
        let mut call = hello(&name.secret, &nonce).to_vec();
        call.extend_from_slice(&(list as u64).to_le_bytes());
        call.extend_from_slice(&tag.to_le_bytes());
        Ok((Self { secret: name.secret, nonce }, call))
    }

    /// What the answer says.
    pub fn answered(&self, answer: &[u8]) -> Option<Knocked> {
        let list = length(answer, WORD).filter(|_| answer.len() == ANSWER)?;
        let pass = Proofs::new(&self.secret, self.nonce, word(answer, 0)).pass();
        Some(Knocked { pass, list })
    }
}

/// Who calls, the tag of its call, and what it is answered for a list of so many bytes; `None`: it is to be passed by.
///
/// # Errors
/// When the system has no random bytes.
pub fn answer(name: &PortName, call: &[u8], list: usize) -> Result<Option<(Knocked, u32, Vec<u8>)>> {
    let heard = call.split_first_chunk::<HELLO>().filter(|_| call.len() == CALL);
    let caller = heard.and_then(|(hello, _)| read_hello(&name.secret, hello).ok());
    let tag = call.get(HELLO + 8..).and_then(|rest| rest.first_chunk().copied()).map(u32::from_le_bytes);
    let (Some(caller), Some(theirs), Some(tag)) = (caller, length(call, HELLO), tag) else { return Ok(None) };
    let own = nonce()?;
    let pass = Proofs::new(&name.secret, caller, own).pass();
    let answer = [&own[..], &(list as u64).to_le_bytes()].concat();
    Ok(Some((Knocked { pass, list: theirs }, tag, answer)))
}

fn nonce() -> Result<Word> {
    machine::random().map_err(|e| Error::system("making a number that nobody guesses", e))
}

/// The length of a list that stands there.
fn length(bytes: &[u8], at: usize) -> Option<usize> {
    let length = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
    usize::try_from(length).ok().filter(|length| (1..=line::MOST).contains(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_the_name_is_answered() {
        let name = |secret| PortName { owner: None, port: 1, secret: [secret; 16], addresses: Vec::new() };
        let (caller, call) = Knock::new(&name(1), 300, 70_000).unwrap();
        let (there, tag, said) = answer(&name(1), &call, 200).unwrap().expect("the name is right");
        let here = caller.answered(&said).expect("it is an answer");
        assert_eq!((here.pass, here.list, there.list, tag), (there.pass, 200, 300, 70_000));
        assert!(answer(&name(2), &call, 200).unwrap().is_none(), "another secret");
        (0..call.len()).for_each(|cut| assert!(answer(&name(1), &call[..cut], 200).unwrap().is_none()));
        (0..said.len()).for_each(|cut| assert!(caller.answered(&said[..cut]).is_none()));
        let endless = [&call[..HELLO], &[255; 12]].concat();
        assert!(answer(&name(1), &endless, 200).unwrap().is_none());
        assert!(caller.answered(&[255; ANSWER]).is_none());
    }
}
