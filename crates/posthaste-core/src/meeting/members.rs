//! What two roots tell each other: the context, and who is in their groups and how each is reached.
//!
//! What must stay true: bytes from the other root are checked and cause no panic; a process stands in a list once.

use std::collections::HashSet;

use crate::coll::Accord;
use crate::error::{Error, ErrorClass, Result};
use crate::jobs::{JobId, ProcessName};

/// Most members of a group: world ranks in contexts have 20 bits.
const MOST: usize = 1 << 20;
/// Longest card.
const CARD: usize = 1000;
/// Bytes of a member without its card.
const FRONT: usize = 14;
/// Bytes in front of the members.
const HEAD: usize = 17;

/// A process that takes part in a meeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name among the processes of all jobs.
    pub name: ProcessName,
    /// Its business card, in words.
    pub card: String,
}

/// One of the two groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// The context that its root has allocated; that of the side that accepts is used.
    pub context: [u64; 2],
    /// What its members go by.
    pub accord: Accord,
    /// Who is in it, in the order of ranks.
    pub members: Vec<Member>,
}

impl Member {
    /// Bytes of one in a table of equal places.
    pub const PLACE: usize = FRONT + CARD;

    /// As it is sent.
    ///
    /// # Errors
    /// A card that is too long.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        let card = self.card.as_bytes();
        if card.len() > CARD {
            return Err(malformed(format!("a card of {} bytes", card.len())));
        }
        let mut bytes = Vec::with_capacity(FRONT + card.len());
        bytes.extend_from_slice(&self.name.job.0.to_le_bytes());
        bytes.extend_from_slice(&self.name.rank.to_le_bytes());
        bytes.extend_from_slice(&(card.len() as u16).to_le_bytes());
        bytes.extend_from_slice(card);
        Ok(bytes)
    }

    /// The one at the front of these bytes, and how many were its.
    ///
    /// # Errors
    /// When they are none.
    pub fn read(bytes: &[u8]) -> Result<(Self, usize)> {
        let cut = || malformed("a list that is cut off".into());
        let (front, rest) = bytes.split_first_chunk::<FRONT>().ok_or_else(cut)?;
        let (job, rank) = (number(&front[..8]), number(&front[8..12]) as u32);
        let len = number(&front[12..]) as usize;
        let card = rest.get(..len).filter(|_| len <= CARD).ok_or_else(cut)?;
        let card = std::str::from_utf8(card).map_err(|_| malformed("a card that is no text".into()))?;
        if job == 0 || rank as usize >= MOST {
            return Err(malformed(format!("rank {rank} of job {job:x}")));
        }
        Ok((Self { name: ProcessName { job: JobId(job), rank }, card: card.to_owned() }, FRONT + len))
    }
}

impl Party {
    /// Most bytes of a list of so many.
    pub fn most(members: u32) -> usize {
        HEAD + members as usize * Member::PLACE
    }

    /// As it is sent.
    ///
    /// # Errors
    /// A card that is too long.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        let mut bytes: Vec<u8> = self.context.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.push(self.accord.bits());
        for member in &self.members {
            bytes.extend(member.bytes()?);
        }
        Ok(bytes)
    }

    /// What the other root has sent.
    ///
    /// # Errors
    /// When it makes no sense.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let Some((head, mut rest)) = bytes.split_first_chunk::<HEAD>() else {
            return Err(malformed(format!("{} bytes", bytes.len())));
        };
        let context = [number(&head[..8]), number(&head[8..16])];
        let (mut members, mut seen) = (Vec::new(), HashSet::new());
        while !rest.is_empty() {
            let (member, len) = Member::read(rest)?;
            if !seen.insert(member.name) {
                return Err(malformed(format!("{} twice", member.name)));
            }
            members.push(member);
            rest = &rest[len..];
        }
        if members.is_empty() || members.len() > MOST {
            return Err(malformed(format!("{} members", members.len())));
        }
        Ok(Self { context, accord: Accord::from_bits(head[16]), members })
    }

    /// Makes sure that nobody is in both groups; the own one comes from the communicator `argument`.
    ///
    /// # Errors
    /// Who is.
    pub fn check_disjoint(&self, other: &Self, argument: &'static str) -> Result<()> {
        let own: HashSet<ProcessName> = self.members.iter().map(|member| member.name).collect();
        match other.members.iter().find(|member| own.contains(&member.name)) {
            None => Ok(()),
            Some(both) => {
                let got = format!("a group with {}, which is in the other group, too", both.name);
                Err(Error::invalid(ErrorClass::Comm, argument, got, "two groups without a common member"))
            }
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn malformed(what: String) -> Error {
    Error::other(ErrorClass::Intern, format!("the other root has sent {what}, expected a list of members"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn party(members: u32) -> Party {
        let member = |rank: u32| Member {
            name: ProcessName { job: JobId(9), rank },
            card: "tcp1/x".repeat(rank as usize),
        };
        Party { context: [8, 9], accord: Accord::from_bits(5), members: (0..members).map(member).collect() }
    }

    #[test]
    fn a_party_survives_its_bytes() {
        assert_eq!(Party::read(&party(5).bytes().unwrap()).unwrap(), party(5));
        let long = Member { card: "x".repeat(CARD + 1), ..party(1).members[0].clone() };
        assert!(long.bytes().is_err());
    }

    #[test]
    fn what_is_wrong_with_a_party_is_said() {
        let twice = Party { members: [party(2).members, party(1).members].concat(), ..party(1) };
        let nobody = Party { members: Vec::new(), ..party(1) };
        for (wrong, says) in [(twice, "rank 0 of job 0000000000000009 twice"), (nobody, "0 members")] {
            let error = Party::read(&wrong.bytes().unwrap()).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        let error = party(3).check_disjoint(&party(1), "comm").unwrap_err();
        assert_eq!(error.class(), ErrorClass::Comm);
    }

    proptest! {
        #[test]
        fn any_bytes_cause_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0..200usize, at in 0..200usize) {
            drop(Party::read(&bytes));
            let mut good = party(4).bytes().unwrap();
            if let Some(byte) = good.get_mut(at) { *byte ^= 0x55; }
            drop(Party::read(&good[..cut.min(good.len())]));
        }
    }
}
