//! Two groups become an intercommunicator (MPI-5.0 §7.6.2): within a job by the numbers of their processes, and where one of the
//! communicators has members of several jobs as jobs meet, with a communicator of the leaders in place of a port.
//!
//! ```text
//!   leader                                 other leader
//!     contexts and sizes   <----------->     (`comm/inter`, which ends here when a context names its job)
//!     greeting             <----------->     how long its list is, a nonce, the label of a secret of both
//!     members              <----------->
//!     all have entered them <---------->
//! ```
//!
//! What must stay true: the secret by which the members know each other comes out of one that the leaders have in common already, and does
//! not travel between them; a leader that has found the other one answers it in each step, whatever went wrong.

use std::sync::Arc;

use posthaste_os::machine;

use super::{Link, Met, Others, filled};
use crate::comm::{Comm, Groups, Next};
use crate::error::{Error, ErrorClass, Result};
use crate::meeting::{Member, Party, pass_between};
use crate::world::World;

const CALL: &str = "MPI_Intercomm_create";

/// What leaders tell each other before their lists.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Greeting {
    /// Bytes of the list; 0: there is none, and the class says why.
    len: u64,
    class: ErrorClass,
    /// Of a secret that the other one has, too.
    label: u64,
    nonce: [u8; 32],
}

impl World {
    /// An intercommunicator of the group of `local` and that of the rank `remote_leader` of `peer`; both of these are looked at by
    /// `local_leader` only. All members of both groups call it.
    ///
    /// # Errors
    /// As [`Comm::plan_intercomm`]; what went wrong at one of them.
    pub fn introduce(
        &self,
        local: &Comm,
        local_leader: i32,
        peer: Result<&Comm>,
        remote_leader: i32,
        tag: i32,
    ) -> Result<Arc<Comm>> {
        let processes = self.founding().size() as u32;
        let allocate =
            |spans_jobs| if spans_jobs { self.allocate_between_jobs() } else { self.allocate_context() };
        let mut next = local.plan_intercomm(local_leader, peer, remote_leader, tag, processes, allocate)?;
        loop {
            match next {
                Next::Run(schedule, introduction) => next = introduction.next(self.run(schedule))?,
                Next::Meet(strangers) => return self.meet_strangers(&strangers),
                Next::Made(made, groups) => return self.made(made, &groups),
            }
        }
    }

    /// What a member has is used if all members of both groups have theirs. Who cannot know that revokes it.
    fn made(&self, made: Result<Arc<Comm>>, groups: &Groups<'_>) -> Result<Arc<Comm>> {
        let has = made.is_ok() && groups.told.is_ok();
        let mut link = groups.other_leader().map(|_| Link::Way(groups));
        let all_have = self.all_have(CALL, groups.local, groups.leader, has, link.as_mut());
        let (may_have, comm) = (all_have.is_err(), made?);
        match groups.told.clone().and(all_have).and_then(|missing| missing.map_or(Ok(()), Err)) {
            Ok(()) => self.joins(&comm)?,
            Err(why) => {
                if may_have && self.joins(&comm).is_ok() {
                    self.revoke(&comm);
                }
                return Err(why);
            }
        }
        Ok(comm)
    }

    fn meet_strangers(&self, strangers: &Groups<'_>) -> Result<Arc<Comm>> {
        let Groups { local, leader, told, .. } = strangers;
        let gathered = self.gather_members(CALL, local, *leader);
        let gathered = told.clone().and(gathered);
        self.conclude(CALL, local, *leader, gathered, |members| self.greet(strangers, members))
    }

    /// The leader swaps lists with the other one.
    fn greet<'a>(&self, strangers: &'a Groups<'_>, members: Result<Vec<Member>>) -> Met<'a> {
        let Groups { context, accord, is_first, size, .. } = *strangers;
        let own = members.and_then(|members| {
            let party = Party { context, accord, members };
            let bytes = party.bytes()?;
            Ok((self.greeting(strangers, &bytes)?, party, bytes))
        });
        let said = own.as_ref().map_or_else(|why| Greeting::failed(why.class()), |(greeting, ..)| *greeting);
        let theirs = self.swap(strangers, &said.bytes(), Greeting::LEN);
        let theirs = theirs.and_then(|bytes| Greeting::read(&bytes, Party::most(size)));
        let ((greeting, party, bytes), theirs) = match own.and_then(|own| Ok((own, theirs?))) {
            Ok(both) => both,
            // The other one knows it, too, or is lost.
            Err(why) => return Met { link: None, outcome: Err(why) },
        };
        let first = if is_first { greeting } else { theirs };
        let second = if is_first { theirs } else { greeting };
        let outcome = self.swap(strangers, &bytes, theirs.len as usize).and_then(|list| {
            let others = Party::read(&list)?;
            if others.members.len() != size as usize {
                let text = format!("the other leader has named {} processes of {size}", others.members.len());
                return Err(Error::other(ErrorClass::Intern, text));
            }
            party.check_disjoint(&others, "local_comm")?;
            let secret = self.vci().methods.tcp().and_then(|tcp| tcp.secret_of(first.label));
            let secret = secret.ok_or_else(|| {
                Error::other(ErrorClass::Intern, "the other leader has named a secret that is not known here")
            })?;
            let pass = pass_between(&secret, &[first.nonce, second.nonce]);
            Ok(Others { is_first, pass, party: Party { context, accord, ..others } })
        });
        Met { link: Some(Link::Way(strangers)), outcome }
    }

    fn greeting(&self, strangers: &Groups<'_>, list: &[u8]) -> Result<Greeting> {
        let nonce = machine::random().map_err(|e| Error::system("making a secret for a meeting", e))?;
        let label =
            strangers.other_leader().and_then(|peer| Some(self.vci().methods.tcp()?.label_with(peer)));
        let (len, class) = (list.len() as u64, ErrorClass::Other);
        Ok(Greeting { len, class, label: label.unwrap_or(0), nonce })
    }

    /// The bytes of the other leader for our own.
    pub(super) fn swap(&self, strangers: &Groups<'_>, own: &[u8], theirs: usize) -> Result<Vec<u8>> {
        let mut both = own.to_vec();
        both.resize(own.len() + theirs, 0);
        let outcome = Arc::new(filled(&both));
        let nobody = || Error::other(ErrorClass::Intern, "who is no leader has no way to the other one");
        self.run_in(CALL, strangers.swap(own.len(), &outcome).ok_or_else(nobody)?)?;
        Ok(outcome.source().to_vec().split_off(own.len()))
    }
}

impl Greeting {
    const LEN: usize = 49;

    fn failed(class: ErrorClass) -> Self {
        Self { len: 0, class, label: 0, nonce: [0; 32] }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.len.to_le_bytes().to_vec();
        bytes.push(self.class as u8);
        bytes.extend_from_slice(&self.label.to_le_bytes());
        bytes.extend_from_slice(&self.nonce);
        bytes
    }

    /// # Errors
    /// When it says that something went wrong there, or makes no sense.
    fn read(bytes: &[u8], most: usize) -> Result<Self> {
        let word = |at: usize| {
            let word = bytes.get(at..).and_then(|rest| rest.first_chunk().copied());
            u64::from_le_bytes(word.unwrap_or_default())
        };
        let nonce = bytes.get(17..).and_then(|rest| rest.first_chunk().copied()).unwrap_or_default();
        let class = bytes.get(8).and_then(|class| ErrorClass::ALL.get(usize::from(*class)).copied());
        let class = class.unwrap_or(ErrorClass::Intern);
        let len = word(0);
        if (1..=most as u64).contains(&len) {
            return Ok(Self { len, class, label: word(9), nonce });
        }
        let (text, name) = (class.text(), class.name());
        let text = format!("a process of the remote group could not take part: {text} ({name})");
        Err(Error::other(class, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_understand_each_other() {
        let own =
            Greeting { len: 17, class: ErrorClass::Other, label: 0x0102_0304_0506_0708, nonce: [9; 32] };
        assert_eq!(own.bytes().len(), Greeting::LEN);
        assert_eq!(Greeting::read(&own.bytes(), 17).unwrap(), own);
        assert_eq!(
            Greeting::read(&own.bytes(), 16).unwrap_err().class(),
            ErrorClass::Other,
            "a list without an end"
        );
        let failed = Greeting::failed(ErrorClass::Comm).bytes();
        let error = Greeting::read(&failed, 17).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Comm);
        assert!(error.to_string().contains("of the remote group could not take part"), "{error}");
        for cut in 0..Greeting::LEN {
            drop(Greeting::read(&own.bytes()[..cut], usize::MAX));
        }
        assert_eq!(Greeting::read(&[255; Greeting::LEN], 17).unwrap_err().class(), ErrorClass::Intern);
    }
}
