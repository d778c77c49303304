//! The steps in which the members of a group make a communicator without another one that is theirs (MPI-5.0 §7.4.2, §7.6.2).
//!
//! ```text
//!   the context    down a tree of the members, from the first of them
//!   who has it     up the tree: whether all from here on have it
//!   the verdict    down the tree
//! ```
//!
//! What must stay true: all members go through all steps, whatever has gone wrong at one of them, so nobody is waited for but through its
//! loss, and no message is left that a later call with the same string could take for its own. Who has the communicator and cannot know
//! whether others use it makes it, to be revoked.

use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::coll::{self, Schedule};
use crate::comm::Comm;
use crate::comm::create::{CONTEXT, Creation, Members, What, bytes_of, filled};
use crate::comm::from_group::{Mark, without_caller};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::ContextId;

/// What a member says of itself and of those below it, and a verdict: nothing yet, all have it, or this and the class of what went
/// wrong.
const UNKNOWN: u8 = 0;
const YES: u8 = 1;
const NO: u8 = 2;

/// How a communicator in the making goes on.
#[derive(Debug)]
pub enum Founded<'a> {
    /// This schedule has to be run; its outcome goes to [`Founding::next`].
    Run(Schedule, Founding<'a>),
    /// All members have it.
    Made(Arc<Comm>),
    /// It is not known whether others have it: it has to be revoked.
    Doubtful(Arc<Comm>, Error),
}

/// A communicator of a group in the making.
#[derive(Debug)]
pub struct Founding<'a> {
    place: &'a Comm,
    name: &'static str,
    tag: i32,
    /// The neighbors in the tree, as ranks of `place`; no one above the first member, and above one that cannot be reached.
    above: Option<u32>,
    below: Vec<u32>,
    is_first: bool,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Context { outcome: Arc<OwnedBuf>, creation: Box<Creation>, ready: Result<()> },
    Below { outcome: Arc<OwnedBuf>, own: Own },
    Above { own: Own, said: u8 },
    Verdict { outcome: Arc<OwnedBuf>, own: Own },
}

/// What a member has after the first step: the communicator, what went wrong here, or nothing, because something went wrong above.
type Own = std::result::Result<Arc<Comm>, Option<Error>>;

impl Comm {
    /// Plans a communicator of `group`, for the operation `name`, which its members call; `self` is [`Comm::founding`], or
    /// [`Comm::founding_among`] the members. `mark` tells such calls apart that several threads make at the same time. `reach` says of
    /// each rank of the group whether this process can reach it; both of two members must say the same of each other.
    /// Whether the members share CPUs is what the first of them says.
    ///
    /// # Errors
    /// A group without this process. What else goes wrong is an error at the end, at all members.
    pub fn plan_from_group(
        &self,
        name: &'static str,
        group: &Arc<Group>,
        mark: Mark,
        reach: impl Fn(u32) -> Result<()>,
        allocate: impl FnOnce() -> Result<ContextId>,
    ) -> Result<Founded<'_>> {
        let ranks = self.members(group)?;
        let Some(rank) = group.rank_of(self.me()) else {
            return Err(without_caller("group", group));
        };
        let is_first = rank == 0;
        let mut ready = (0..group.size()).filter(|other| *other != rank).try_for_each(&reach);
        let context = match (is_first && ready.is_ok()).then(allocate).transpose() {
            Ok(context) => context,
            Err(why) => {
                ready = Err(why);
                None
            }
        };
        let accord = u64::from(self.accord().bits()).to_le_bytes();
        let outcome = filled(&[&bytes_of(context)[..], &mark.proof().to_le_bytes(), &accord].concat());
        let members = Members { group: group.clone(), rank, remote: None };
        let creation = self.creation(outcome.clone(), What::Founded { members, proof: mark.proof() });
        let (above, below) = coll::neighbors_in_group(&ranks, ranks[rank as usize]);
        let can_reach = |rank: &u32| {
            self.group()
                .peer(*rank)
                .and_then(|peer| group.rank_of(peer))
                .is_some_and(|rank| reach(rank).is_ok())
        };
        let below = below.into_iter().filter(can_reach).collect();
        let stage = Stage::Context { outcome, creation: Box::new(creation), ready };
        let (above, tag) = (above.filter(can_reach), mark.tag());
        Ok(Founding { place: self, name, tag, above, below, is_first, stage }.run())
    }
}

impl<'a> Founding<'a> {
    /// The next step, after the last one's schedule ended with `outcome`.
    ///
    /// # Errors
    /// When something went wrong that all members know of now.
    pub fn next(self, outcome: Result<()>) -> Result<Founded<'a>> {
        let Self { place, name, tag, above, below, is_first, stage } = self;
        let stage = match stage {
            Stage::Context { outcome: received, creation, ready } => {
                let nothing_came = received.source().to_vec()[..CONTEXT].iter().all(|byte| *byte == 0);
                let own = match ready.and(outcome) {
                    Err(why) => Err(Some(why)),
                    Ok(()) if nothing_came => Err(None),
                    Ok(()) => creation.finish().map_err(Some).and_then(|made| made.ok_or(None)),
                };
                Stage::Below { outcome: filled(&vec![UNKNOWN; below.len()]), own }
            }
            Stage::Below { outcome: received, own } => {
                let lacks = received.source().to_vec().into_iter().find(|said| *said != YES);
                let said = match (&own, outcome) {
                    (Ok(_), Ok(())) => lacks.map_or(YES, |said| said.max(NO)),
                    (Ok(_), Err(why)) => no(why.class()),
                    (Err(why), _) => no(why.as_ref().map_or(ErrorClass::Other, Error::class)),
                };
                Stage::Above { own, said }
            }
            // Who could not tell it will hear no verdict either.
            Stage::Above { own, said } => {
                // Who knows of one that lacks it needs no verdict: nobody will use it.
                let known = if is_first || said != YES { said } else { UNKNOWN };
                Stage::Verdict { outcome: filled(&[known]), own }
            }
            Stage::Verdict { outcome: received, own } => {
                let verdict = received.source().to_vec().first().copied().unwrap_or(UNKNOWN);
                return match (own, verdict, outcome) {
                    (Ok(comm), YES, Ok(())) => Ok(Founded::Made(comm)),
                    (Ok(comm), YES | UNKNOWN, Err(why)) => Ok(Founded::Doubtful(comm, why)),
                    (Ok(comm), UNKNOWN, Ok(())) => Ok(Founded::Doubtful(comm, nobody_said())),
                    (Err(Some(why)), ..) => Err(why),
                    (_, YES | UNKNOWN, _) => Err(nobody_said()),
                    (_, verdict, _) => Err(not_all(verdict)),
                };
            }
        };
        Ok(Self { place, name, tag, above, below, is_first, stage }.run())
    }

    fn run(self) -> Founded<'a> {
        let above: &[u32] = self.above.as_slice();
        let (from, to, outcome): (&[u32], &[u32], _) = match &self.stage {
            Stage::Context { outcome, .. } | Stage::Verdict { outcome, .. } => {
                (above, &self.below, outcome.clone())
            }
            Stage::Below { outcome, .. } => (&self.below, &[], outcome.clone()),
            Stage::Above { said, .. } => (&[], above, filled(&[*said])),
        };
        let schedule = coll::pass_on(self.place, self.name, (from, to), self.tag, outcome);
        Founded::Run(schedule, self)
    }
}

fn no(class: ErrorClass) -> u8 {
    NO.saturating_add(class as u8)
}

fn not_all(verdict: u8) -> Error {
    let class = ErrorClass::ALL.get(usize::from(verdict.saturating_sub(NO))).copied();
    let class = class.unwrap_or(ErrorClass::Intern);
    let (text, name) = (class.text(), class.name());
    Error::other(class, format!("a member of the group could not take part: {text} ({name})"))
}

fn nobody_said() -> Error {
    let text = "a member of the group has ended before it could tell whether all have the new communicator";
    Error::other(ErrorClass::ProcAborted, text)
}
