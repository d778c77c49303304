//! What the members of a dynamic window on one node have attached, as each of them tells the others in memory that all have mapped:
//! so they have the system copy there, and the owner takes no part (MPI-5.0 §12.2.4).
//!
//! ```text
//!   a row for each member: its ranges, and a word for each other one, which uses a range
//! ```
//!
//! What must stay true: a member uses only what its owner has told; what it does not find its owner is asked for, by a packet, and that
//! alone says what is wrong. One thread of a process at a time uses a range.

use posthaste_os::lock_words::LINE;
use posthaste_os::mapped::Mapped;
use posthaste_os::ranges::{self, Use, Version};

/// The memory in which they tell it.
#[derive(Debug)]
pub(crate) struct Attachments {
    mapped: Mapped,
    /// The ranks of those who tell, in order; each has a row.
    members: Vec<usize>,
}

impl Attachments {
    /// Bytes for so many members.
    pub(crate) fn room(members: usize) -> usize {
        members * row(members)
    }

    /// In memory with room for these members, whose ranks are in order.
    pub(crate) fn new(mapped: Mapped, members: Vec<usize>) -> Self {
        Self { mapped, members }
    }

    fn number(&self, member: usize) -> Option<usize> {
        self.members.binary_search(&member).ok()
    }

    /// Whether a member tells here what it has attached.
    pub(crate) fn include(&self, member: usize) -> bool {
        self.number(member).is_some()
    }

    fn row_at(&self, number: usize) -> usize {
        number * row(self.members.len())
    }

    fn word_at(&self, owner: usize, user: usize) -> usize {
        self.row_at(owner) + ranges::ROOM + 8 * user
    }

    /// This member has attached these ranges, and nothing else; each from its first byte to the one behind its last.
    pub(crate) fn tell(&self, me: usize, attached: impl Iterator<Item = (u64, u64)>) -> Option<Version> {
        let me = self.number(me)?;
        Some(self.mapped.ranges(self.row_at(me)).tell(attached))
    }

    /// The members that still use what this one had attached before.
    pub(crate) fn users_before(&self, me: usize, version: Version) -> impl Iterator<Item = usize> {
        let number = self.number(me);
        let uses = move |user: usize| {
            number.is_some_and(|me| !version.is_unused_before(self.mapped.word(self.word_at(me, user))))
        };
        self.members.iter().enumerate().filter(move |(user, _)| uses(*user)).map(|(_, member)| *member)
    }

    /// Uses so many bytes of a member's memory, if that has told that they are attached.
    pub(crate) fn begin(&self, me: usize, owner: usize, address: u64, len: u64) -> Option<Use<'_>> {
        let (me, owner) = (self.number(me)?, self.number(owner)?);
        let word = self.mapped.word(self.word_at(owner, me));
        self.mapped.ranges(self.row_at(owner)).begin(word, address, len)
    }

    /// All members have mapped the memory.
    pub(crate) fn known_to_all(&self) {
        self.mapped.close();
    }

    /// The window is freed.
    pub(super) fn let_go(&self) {
        self.mapped.let_go();
    }
}

/// Bytes of a row.
fn row(members: usize) -> usize {
    ranges::ROOM + (8 * members).next_multiple_of(LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_has_a_row_and_in_it_a_word_of_each() {
        let (mapped, _) = Mapped::create(Attachments::room(3)).unwrap();
        let attachments = Attachments::new(mapped, vec![3, 7, 9]);
        attachments.tell(7, [(4096, 8192)].into_iter()).unwrap();
        assert!(attachments.tell(5, [(0, 4096)].into_iter()).is_none(), "it is elsewhere");
        assert!(attachments.begin(3, 9, 5000, 8).is_none() && attachments.begin(3, 5, 8, 8).is_none());
        let uses = [3, 9].map(|me| attachments.begin(me, 7, 5000, 8).unwrap());
        let version = attachments.tell(7, std::iter::empty()).unwrap();
        assert!(attachments.begin(3, 7, 5000, 8).is_none());
        drop(uses);
        assert_eq!(attachments.users_before(7, version).count(), 0);
    }

    #[test]
    fn who_uses_what_was_attached_is_known() {
        let (mapped, _) = Mapped::create(Attachments::room(3)).unwrap();
        let attachments = Attachments::new(mapped, vec![0, 1, 2]);
        attachments.tell(0, [(4096, 8192)].into_iter()).unwrap();
        let using = attachments.begin(2, 0, 5000, 8).unwrap();
        let version = attachments.tell(0, std::iter::empty()).unwrap();
        assert_eq!(attachments.users_before(0, version).collect::<Vec<_>>(), [2]);
        drop(using);
        assert_eq!(attachments.users_before(0, version).count(), 0);
    }
}
