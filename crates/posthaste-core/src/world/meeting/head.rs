//! What a root tells its group about a meeting.
//!
//! What must stay true: it is as long for a success as for a failure, so that nobody needs to know which it is.

use crate::coll::Accord;
use crate::error::{Error, ErrorClass};
use crate::method::tcp::Pass;

/// What a root tells its group: how it went, and how long what follows is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) failed: Option<ErrorClass>,
    pub(super) is_first: bool,
    pub(super) accord: Accord,
    pub(super) len: u64,
    pub(super) context: [u64; 2],
    pub(super) pass: Pass,
}

impl Head {
    pub(super) const LEN: usize = 67;

    pub(super) fn failed(error: &Error, len: usize) -> Self {
        let pass = Pass { label: 0, secret: [0; 32] };
        let failed = Some(error.class());
        Self { failed, is_first: false, accord: Accord::default(), len: len as u64, context: [0; 2], pass }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let failed = self.failed.map_or(0, |class| 1 + class as u8);
        let mut bytes = vec![failed, u8::from(self.is_first), self.accord.bits()];
        let words = [self.len, self.context[0], self.context[1], self.pass.label];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend_from_slice(&self.pass.secret);
        bytes
    }

    /// From a rank of the own group; a failure where it makes no sense.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let word = |at: usize| {
            let word = bytes.get(at..).and_then(|rest| rest.first_chunk().copied());
            u64::from_le_bytes(word.unwrap_or_default())
        };
        let secret = bytes.get(35..).and_then(|rest| rest.first_chunk().copied()).unwrap_or_default();
        let failed = match bytes.first() {
            Some(0) if bytes.len() == Self::LEN => None,
            Some(class) => Some(*ErrorClass::ALL.get(usize::from(*class) - 1).unwrap_or(&ErrorClass::Intern)),
            None => Some(ErrorClass::Intern),
        };
        let flag = |at: usize| bytes.get(at).is_some_and(|flag| *flag != 0);
        let pass = Pass { label: word(27), secret };
        let context = [word(11), word(19)];
        Self {
            failed,
            is_first: flag(1),
            accord: Accord::from_bits(bytes.get(2).copied().unwrap_or(0)),
            len: word(3),
            context,
            pass,
        }
    }
}
