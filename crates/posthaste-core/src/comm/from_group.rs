//! Communicators of a group alone, without a communicator that its members have in common (MPI-5.0 §7.4.2, §7.6.2).
//!
//! The members meet in [`Comm::founding`], to which all processes of the job belong. What tells one creation from others
//! that are under way is the program's string, and who takes part; both are folded into a tag, and once more into a proof
//! that the founder sends along: two creations with one tag by chance end with an error, and never with each other's context.

use std::sync::Arc;

use crate::coll::{self, Schedule};
use crate::comm::Comm;
use crate::comm::create::{Creation, Members, What, bytes_of, filled};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::ContextId;

/// Where two independent folds begin.
const FOR_TAG: u64 = 0xcbf2_9ce4_8422_2325;
const FOR_PROOF: u64 = 0x6c62_272e_07bb_0142;

impl Comm {
    /// Plans a communicator of `group`, for the operation `name`, which its members call; `self` is [`Comm::founding`].
    /// `stringtag` tells such calls apart that several threads make at the same time.
    ///
    /// # Errors
    /// A group without this process; no context can be allocated.
    pub fn plan_from_group(
        &self,
        name: &'static str,
        group: &Arc<Group>,
        stringtag: &[u8],
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<(Schedule, Creation)> {
        check_of_this_job("group", group, self.group().size())?;
        let ranks = self.members(group)?;
        let Some(rank) = group.rank_of(self.me()) else {
            let got = format_args!("a group of {} processes without this one", group.size());
            return Err(Error::invalid(ErrorClass::Group, "group", got, "a group with the calling process"));
        };
        let proof = fold(FOR_PROOF, stringtag, &[group]);
        let context = if rank == 0 { Some(allocate()?) } else { None };
        let outcome = filled(&[&bytes_of(context)[..], &proof.to_le_bytes()].concat());
        let tag = as_tag(fold(FOR_TAG, stringtag, &[group]));
        let schedule = coll::broadcast_group(self, name, &ranks, tag, outcome.clone());
        let members = Members { group: group.clone(), rank, remote: None };
        Ok((schedule, self.creation(outcome, What::Founded { members, proof })))
    }
}

/// Makes sure that a group has processes of this job only, which is one of so many.
///
/// # Errors
/// A process of another job: nothing but a communicator connects it with this one.
pub fn check_of_this_job(argument: &'static str, group: &Group, processes: u32) -> Result<()> {
    let stranger = group.peers().position(|peer| peer.0 >= processes);
    stranger.map_or(Ok(()), |rank| {
        let got = format_args!("a group whose rank {rank} is a process of another job");
        let expected = "processes of this job (MPI_Comm_connect and MPI_Comm_accept join groups of two)";
        Err(Error::invalid(ErrorClass::Group, argument, got, expected))
    })
}

/// The tag by which the leaders of two groups find each other in [`Comm::founding`]: the same for both.
pub fn tag_between(stringtag: &[u8], one: &Group, other: &Group) -> i32 {
    let (one, other) = (fold(FOR_TAG, stringtag, &[one]), fold(FOR_TAG, stringtag, &[other]));
    as_tag(one ^ other)
}

/// Whether the founder has meant the same creation.
pub(super) fn check(founders: u64, own: u64) -> Result<()> {
    if founders == own {
        return Ok(());
    }
    let text = "another communicator is made from a group at the same time, and their string tags are alike by chance: \
                give one of them another string tag";
    Err(Error::other(ErrorClass::Arg, text))
}

/// FNV-1a. A chance collision has to be rare; whoever wants one has only the own job to confuse.
fn fold(start: u64, stringtag: &[u8], groups: &[&Group]) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = stringtag.iter().copied().chain([0]).fold(start, step);
    let peers = groups.iter().flat_map(|group| group.peers());
    peers.flat_map(|peer| peer.0.to_le_bytes()).fold(hash, step)
}

fn as_tag(hash: u64) -> i32 {
    (hash ^ hash >> 32) as i32 & i32::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::create::context_in;

    fn plan(rank: u32, stringtag: &[u8], group: &Arc<Group>) -> Result<(Schedule, Creation)> {
        let allocate = || Ok(ContextId::allocated(rank, 0, ContextId::FIRST_COUNT).expect("a small count"));
        Comm::founding(rank, 8).plan_from_group("MPI_Comm_create_from_group", group, stringtag, allocate)
    }

    #[test]
    fn the_first_of_the_group_founds_the_communicator() {
        let group = Arc::new(Group::range(3, 4));
        let (_, creation) = plan(3, b"a", &group).expect("a member");
        let made = creation.finish().expect("its own context").expect("a member");
        assert_eq!(
            (made.rank(), made.size(), made.context().words()),
            (0, 4, context_in(&bytes_of(ContextId::allocated(3, 0, ContextId::FIRST_COUNT)), 0))
        );
    }

    #[test]
    fn who_is_no_member_is_told_so() {
        let error = plan(2, b"a", &Arc::new(Group::range(3, 4))).expect_err("no member");
        assert_eq!(error.class(), ErrorClass::Group);
        assert!(error.to_string().contains("a group of 4 processes without this one"), "{error}");
        let error = plan(3, b"a", &Arc::new(Group::range(3, 7))).expect_err("a world of 8");
        assert!(error.to_string().contains("a group whose rank 5 is a process of another job"), "{error}");
    }

    #[test]
    fn another_creation_with_the_same_tag_is_refused() {
        let group = Arc::new(Group::range(3, 4));
        // A member that is not the founder has heard nothing yet but its own proof, and no context.
        let (_, creation) = plan(4, b"a", &group).expect("a member");
        assert_eq!(creation.finish().expect_err("no context").class(), ErrorClass::Intern);
        let proofs = [b"a", b"b"].map(|stringtag| fold(FOR_PROOF, stringtag, &[&group]));
        assert_ne!(proofs[0], proofs[1]);
        let error = check(proofs[0], proofs[1]).expect_err("another creation");
        assert!(error.to_string().contains("another string tag"), "{error}");
    }

    #[test]
    fn tags_tell_strings_and_groups_apart_and_are_the_same_on_both_sides() {
        let (one, other) = (Group::range(0, 3), Group::range(3, 5));
        assert_eq!(tag_between(b"x", &one, &other), tag_between(b"x", &other, &one));
        assert_ne!(tag_between(b"x", &one, &other), tag_between(b"y", &one, &other));
        assert_ne!(fold(FOR_TAG, b"x", &[&one]), fold(FOR_TAG, b"x", &[&other]));
        assert!((0..1000_u32).all(|tag| tag_between(&tag.to_le_bytes(), &one, &other) >= 0));
    }
}
