//! Communicators of a group alone, without a communicator that its members have in common (MPI-5.0 §7.4.2, §7.6.2).
//!
//! The members meet in [`Comm::founding`], to which all processes of the job belong; those of several jobs in a communicator
//! whose context all of them work out ([`Comm::founding_among`]). What tells one creation from others that are under way is
//! the program's string, and who takes part; both are folded into a tag, and once more into a proof that the founder sends
//! along: two creations with one tag by chance end with an error, and never with each other's context.

use std::sync::Arc;

use crate::coll::{Accord, Team};
use crate::comm::Comm;
use crate::comm::create::{CONTEXT, number};
use crate::comm::details::{Details, Inherited};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::ContextId;
use crate::jobs::ProcessName;

/// Where two independent folds begin.
const FOR_TAG: u64 = 0xcbf2_9ce4_8422_2325;
const FOR_PROOF: u64 = 0x6c62_272e_07bb_0142;

/// What tells the creation of a communicator from others: the program's string, and who takes part. The same at all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    tag: u64,
    proof: u64,
}

impl Mark {
    /// Of processes of this job, whose numbers are the same at all of them.
    pub fn of_peers(stringtag: &[u8], group: &Group) -> Self {
        Self::of(stringtag, || group.peers().map(|peer| u64::from(peer.0)))
    }

    /// Of processes of several jobs.
    pub fn of_names(stringtag: &[u8], names: &[ProcessName]) -> Self {
        Self::of(stringtag, || names.iter().flat_map(|name| [name.job.0, u64::from(name.rank)]))
    }

    fn of<I: Iterator<Item = u64>>(stringtag: &[u8], who: impl Fn() -> I) -> Self {
        let [tag, proof] = [FOR_TAG, FOR_PROOF].map(|start| fold(start, stringtag, who()));
        Self { tag, proof }
    }

    /// That of two groups which become an intercommunicator, whichever of them comes first.
    pub fn between(self, other: Self) -> Self {
        Self { tag: self.tag ^ other.tag, proof: self.proof ^ other.proof }
    }

    /// What the first of them sends along, so that two creations with one tag by chance are told apart.
    pub(super) fn proof(self) -> u64 {
        self.proof
    }

    /// The tag by which those who take part find each other.
    pub fn tag(self) -> i32 {
        as_tag(self.tag)
    }
}

impl Comm {
    /// A communicator of these processes of several jobs, in which this one has the rank `rank` and `first` is the name of the
    /// first: they found another one in it. It has no founder and no handle, and nobody has to hear of its context.
    ///
    /// # Errors
    /// When this process has heard of too many jobs.
    pub fn founding_among(group: Arc<Group>, rank: u32, first: ProcessName, mark: Mark) -> Result<Self> {
        let counts = u64::from((1 << 25) / ContextId::STEP - ContextId::FIRST_COUNT);
        let count = ContextId::FIRST_COUNT + (mark.proof % counts) as u32 * ContextId::STEP;
        let context = ContextId::allocated(ContextId::NOBODY, 0, count)
            .and_then(|context| context.allocated_in(first.job));
        let context = context.ok_or_else(|| {
            let text = "this process has heard of as many jobs as it can tell apart (65535)";
            Error::other(ErrorClass::Other, text)
        })?;
        let name = "the founding of communicators from groups of several jobs";
        Ok(Self::new(
            Team::new(context, group, rank, Accord::default()),
            None,
            Details::new(name, Inherited::default()),
        ))
    }
}

/// The error of a group that needs the calling process and has it not.
pub fn without_caller(argument: &'static str, group: &Group) -> Error {
    let got = format_args!("a group of {} processes without this one", group.size());
    Error::invalid(ErrorClass::Group, argument, got, "a group with the calling process")
}

/// What the founder has sent: what the members go by.
///
/// # Errors
/// It has meant another creation.
pub(super) fn founded(received: &[u8], own: u64) -> Result<Accord> {
    check(number(received, CONTEXT), own)?;
    Ok(Accord::from_bits(number(received, CONTEXT + 8) as u8))
}

/// Whether the founder has meant the same creation.
fn check(founders: u64, own: u64) -> Result<()> {
    if founders == own {
        return Ok(());
    }
    let text = "another communicator is made from a group at the same time, and their string tags are alike by chance: \
                give one of them another string tag";
    Err(Error::other(ErrorClass::Arg, text))
}

/// FNV-1a. A chance collision has to be rare; whoever wants one has only the own job, or one that it is connected with, to confuse.
fn fold(start: u64, stringtag: &[u8], who: impl Iterator<Item = u64>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = stringtag.iter().copied().chain([0]).fold(start, step);
    who.flat_map(u64::to_le_bytes).fold(hash, step)
}

fn as_tag(hash: u64) -> i32 {
    (hash ^ hash >> 32) as i32 & i32::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Peer;
    use crate::jobs::JobId;

    #[test]
    fn another_creation_with_the_same_tag_is_refused() {
        let group = Arc::new(Group::range(3, 4));
        let [one, other] = [b"a", b"b"].map(|stringtag| Mark::of_peers(stringtag, &group).proof);
        assert_ne!(one, other);
        let error = check(one, other).expect_err("another creation");
        assert!(error.to_string().contains("another string tag"), "{error}");
    }

    #[test]
    fn what_the_founder_goes_by_counts() {
        let said = |accord: u64| [&[0; CONTEXT][..], &7_u64.to_le_bytes(), &accord.to_le_bytes()].concat();
        for bits in 0..8 {
            assert_eq!(founded(&said(bits), 7).expect("the same").bits(), bits as u8);
        }
        assert!(founded(&said(1), 8).is_err());
    }

    #[test]
    fn tags_tell_strings_and_groups_apart_and_are_the_same_on_both_sides() {
        let of = |stringtag: &[u8], first| Mark::of_peers(stringtag, &Group::range(first, 3));
        assert_eq!(of(b"x", 0).between(of(b"x", 3)), of(b"x", 3).between(of(b"x", 0)));
        assert_ne!(of(b"x", 0).between(of(b"x", 3)), of(b"y", 0).between(of(b"y", 3)));
        assert_ne!(of(b"x", 0), of(b"x", 3));
        assert!((0..1000_u32).all(|tag| of(&tag.to_le_bytes(), 0).tag() >= 0));
    }

    #[test]
    fn processes_of_several_jobs_meet_in_a_context_that_all_work_out() {
        let name = |job, rank| ProcessName { job: JobId(job), rank };
        let names = [name(77, 1), name(0x4711_0815, 0)];
        let mark = Mark::of_names(b"x", &names);
        // Each has a number of its own for the other.
        let context = |peers: [u32; 2], rank| {
            let group = Arc::new(Group::of(peers.map(Peer).to_vec()));
            let comm = Comm::founding_among(group, rank, names[0], mark).expect("few jobs");
            assert_eq!((comm.rank(), comm.size()), (rank as i32, 2));
            comm.context().words()
        };
        let [own, theirs] = [context([1, 8], 0), context([2, 0], 1)];
        assert_eq!(own, theirs);
        assert_eq!(own[1], 77);
        assert!(ContextId::from_words(own).is_some_and(ContextId::spans_jobs));
        let turned = Mark::of_names(b"x", &[names[1], names[0]]);
        assert_ne!(turned, mark);
        for tag in 0..1000_u32 {
            let mark = Mark::of_names(&tag.to_le_bytes(), &names);
            let group = Arc::new(Group::of(vec![Peer(1), Peer(8)]));
            let words = Comm::founding_among(group, 0, names[0], mark).expect("few jobs").context().words();
            assert!(ContextId::from_words(words).is_some(), "{words:x?}");
        }
    }
}
