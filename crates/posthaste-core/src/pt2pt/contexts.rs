//! Who is behind a context: the communicators of this process, as matching, loss and explanations have to know them.
//!
//! What must stay true: a communicator that was freed while receives wait in it or collective operations run in it is known
//! until they have ended (MPI-5.0 §7.4.3); nothing here keeps it from being freed. A communicator that is revoked stays so, also
//! if this process heard of that before it knew the communicator.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::agreement::Tree;
use crate::error::{Error, ErrorClass, Result};
use crate::explain::names;
use crate::group::Group;
use crate::ids::{ANY_SOURCE, ContextId, IdMap, IdSet, Peer};
use crate::pt2pt::Matching;
use crate::request::{State, Table};

/// Members below one in the tree of an agreement where they share CPUs, as in collective operations (`coll::choose`).
const CROWDED_RADIX: u32 = crate::agreement::MOST_BELOW;

/// The name of a communicator, which its user may change.
pub type Name = Arc<Mutex<String>>;

/// Contexts of which it is remembered that their receiver is gone: what is still on its way there soon comes.
const MOST_GONE: usize = 1 << 10;

/// What stands in the lowest byte of the word of a membership that is revoked.
pub const REVOKED: u64 = 0xff;

/// The processes that messages of a context come from and go to.
#[derive(Debug)]
pub struct Membership {
    name: Name,
    group: Arc<Group>,
    /// Our own rank, in our own group.
    own: i32,
    freed: AtomicBool,
    revoked: AtomicBool,
    /// A word whose lowest byte becomes [`REVOKED`] then: what looks at that word looks at nothing else.
    mark: OnceLock<Arc<AtomicU64>>,
    /// Its members share CPUs; all of them say so, or none.
    is_crowded: AtomicBool,
    /// How many ranks are the processes of the same number, starting at 0; none once it is revoked, so that a call that looks
    /// for a rank there looks at nothing else.
    identity: AtomicU32,
}

impl Membership {
    /// Of a communicator with this name: messages go to `group`, and come from there.
    pub fn new(name: Name, group: Arc<Group>, own: i32) -> Arc<Self> {
        let identity = AtomicU32::new(if group.is_identity() { group.size() } else { 0 });
        Arc::new(Self {
            name,
            group,
            own,
            freed: AtomicBool::new(false),
            revoked: AtomicBool::new(false),
            mark: OnceLock::new(),
            is_crowded: AtomicBool::new(false),
            identity,
        })
    }

    /// How many ranks are the processes of the same number, as far as messages may go there.
    #[inline(always)]
    pub fn identity(&self) -> u32 {
        self.identity.load(Ordering::Relaxed)
    }

    /// Says that its members share CPUs; all have to say so.
    pub fn set_crowded(&self, crowded: bool) {
        // SYNC: nothing is read on account of it.
        self.is_crowded.store(crowded, Ordering::Relaxed);
    }

    /// The tree by which its members agree.
    pub fn tree(&self) -> Tree {
        if self.is_crowded.load(Ordering::Relaxed) { Tree::Flat(CROWDED_RADIX) } else { Tree::Binomial }
    }

    /// The communicator is revoked.
    fn revoke(&self) {
        // SYNC: nothing is read on account of it.
        self.revoked.store(true, Ordering::Relaxed);
        self.identity.store(0, Ordering::Relaxed);
        self.mark.get().into_iter().for_each(|word| _ = word.fetch_or(REVOKED, Ordering::Relaxed));
    }

    /// The lowest byte of this word becomes [`REVOKED`] when it is revoked: of one word.
    pub fn marks(&self, word: &Arc<AtomicU64>) {
        let word = self.mark.get_or_init(|| word.clone());
        if self.is_revoked() {
            word.fetch_or(REVOKED, Ordering::Relaxed);
        }
    }

    /// Whether it is revoked.
    pub fn is_revoked(&self) -> bool {
        self.revoked.load(Ordering::Relaxed)
    }

    /// Fails when it is revoked.
    ///
    /// # Errors
    /// `MPIX_ERR_REVOKED`.
    pub fn check_revoked(&self) -> Result<()> {
        if self.is_revoked() { Err(self.revoked()) } else { Ok(()) }
    }

    #[cold]
    fn revoked(&self) -> Error {
        let name = self.name();
        let text = match &*name {
            "" => "the communicator, which has no name, has been revoked".to_owned(),
            name => format!("the communicator \"{name}\" has been revoked"),
        };
        Error::other(ErrorClass::Revoked, text)
    }

    /// The processes.
    pub fn group(&self) -> &Arc<Group> {
        &self.group
    }

    /// The communicator is gone.
    pub fn free(&self) {
        // SYNC: only says that this need not be kept; nothing is read on account of it.
        self.freed.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    pub fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Relaxed)
    }

    /// The communicator's name, empty when it has none.
    pub fn name(&self) -> String {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Our own rank.
    pub fn own(&self) -> i32 {
        self.own
    }

    /// The process with a rank.
    pub fn peer(&self, rank: i32) -> Option<Peer> {
        self.group.peer(u32::try_from(rank).ok()?)
    }

    /// The rank of a process.
    pub fn rank(&self, peer: Peer) -> Option<i32> {
        self.group.rank_of(peer).map(|rank| rank as i32)
    }

    /// Whether a message from `source`, or from any, could come from this process.
    pub fn may_come_from(&self, source: i32, peer: Peer) -> bool {
        if source == ANY_SOURCE { self.rank(peer).is_some() } else { self.peer(source) == Some(peer) }
    }
}

/// What is known of each context.
#[derive(Debug, Default)]
pub struct Contexts {
    known: IdMap<ContextId, Arc<Membership>>,
    /// Contexts of their own in which some messages of communicators travel, with how many ends of each are here.
    ends: IdMap<ContextId, u32>,
    /// Those of point-to-point messages of communicators that are revoked.
    revoked: IdSet<ContextId>,
    /// Contexts of their own whose receiver was here and is gone, and in the order in which that came.
    gone: IdSet<ContextId>,
    goings: VecDeque<ContextId>,
    /// How many of the lost members of a communicator, in the order in which they were lost, its user has acknowledged.
    acknowledged: IdMap<ContextId, usize>,
    /// How many make it worth looking for those that were freed.
    purge_at: usize,
}

impl Contexts {
    /// A communicator of this process uses this context.
    pub fn learn(
        &mut self,
        context: ContextId,
        membership: Arc<Membership>,
        matching: &Matching,
        requests: &Table,
    ) {
        if self.is_revoked(context) {
            membership.revoke();
        }
        self.known.insert(context, membership);
        if self.known.len() >= self.purge_at {
            let posted = matching.all_posted().map(|(pattern, _)| pattern.context);
            let running = requests.iter().filter_map(|(_, request)| match request.state {
                State::Schedule(context) | State::Agreeing(context) => Some(context),
                _ => None,
            });
            let in_use: IdSet<ContextId> = posted.chain(running).collect();
            let Self { known, ends, revoked, acknowledged, .. } = self;
            known.retain(|context, membership| {
                let stays = !membership.freed.load(Ordering::Relaxed) || in_use.contains(context);
                if !stays {
                    ends.remove(context);
                    revoked.remove(context);
                    acknowledged.remove(context);
                }
                stays
            });
            self.purge_at = 2 * self.known.len() + 64;
        }
    }

    /// Some messages of a communicator travel in this context of their own, one more end of which is here. False: that cannot be, for
    /// it is the context of a communicator.
    pub fn alias(
        &mut self,
        context: ContextId,
        communicator: ContextId,
        matching: &Matching,
        requests: &Table,
    ) -> bool {
        if self.known.contains_key(&context) && !self.ends.contains_key(&context) {
            return false;
        }
        *self.ends.entry(context).or_default() += 1;
        if self.is_revoked(communicator) {
            self.revoked.insert(context);
        }
        if let Some(membership) = self.get(communicator).cloned() {
            self.learn(context, membership, matching, requests);
        }
        true
    }

    /// An end of such a context is gone: with the last one that is here, the context is forgotten.
    pub fn forget(&mut self, context: ContextId) {
        let Some(ends) = self.ends.get_mut(&context) else { return };
        *ends -= 1;
        if *ends == 0 {
            self.ends.remove(&context);
            self.known.remove(&context);
            self.revoked.remove(&context);
            self.acknowledged.remove(&context);
        }
    }

    /// Nobody receives in such a context any more.
    pub fn receives_no_more(&mut self, context: ContextId) {
        if self.gone.insert(context) {
            self.goings.push_back(context);
        }
        if self.goings.len() > MOST_GONE
            && let Some(oldest) = self.goings.pop_front()
        {
            self.gone.remove(&oldest);
        }
    }

    /// Whether nobody will ever receive what comes in a context.
    pub(super) fn is_over(&self, context: ContextId) -> bool {
        self.is_revoked(context) || self.gone.contains(&context)
    }

    /// Who is behind a context.
    pub fn get(&self, context: ContextId) -> Option<&Arc<Membership>> {
        self.known.get(&context)
    }

    /// The communicator with this context of point-to-point messages is revoked. Whether that is new.
    pub(super) fn revoke(&mut self, context: ContextId) -> bool {
        let is_new = self.revoked.insert(context);
        for context in [context, context.collective(), context.partitioned()] {
            if let Some(membership) = self.known.get(&context) {
                membership.revoke();
            }
        }
        if let Some(users) = self.known.get(&context) {
            // Contexts of their own are known by the same membership.
            let aliases = self.known.iter().filter(|(_, membership)| Arc::ptr_eq(membership, users));
            self.revoked.extend(aliases.map(|(alias, _)| alias.point_to_point()));
        }
        is_new
    }

    /// Whether the communicator of a context is revoked.
    #[inline]
    pub fn is_revoked(&self, context: ContextId) -> bool {
        !self.revoked.is_empty() && self.revoked.contains(&context.point_to_point())
    }

    /// Fails when the communicator of a context is revoked.
    ///
    /// # Errors
    /// `MPIX_ERR_REVOKED`.
    #[inline]
    pub fn check_revoked(&self, context: ContextId) -> Result<()> {
        if self.is_revoked(context) { Err(self.revoked(context)) } else { Ok(()) }
    }

    /// The sentence about that.
    #[cold]
    pub(super) fn revoked(&self, context: ContextId) -> Error {
        let unknown = || Error::other(ErrorClass::Revoked, "the communicator has been revoked");
        self.get(context).map_or_else(unknown, |membership| membership.revoked())
    }

    /// How many of a communicator's lost members are acknowledged.
    pub fn acknowledged(&self, context: ContextId) -> usize {
        self.acknowledged.get(&context.point_to_point()).copied().unwrap_or(0)
    }

    /// So many of them are; never less than before.
    pub(super) fn acknowledge(&mut self, context: ContextId, count: usize) {
        let known = self.acknowledged.entry(context.point_to_point()).or_default();
        *known = count.max(*known);
    }

    /// How much is known.
    #[cfg(test)]
    pub(crate) fn sizes(&self) -> [usize; 4] {
        [self.known.len(), self.ends.len(), self.revoked.len(), self.acknowledged.len()]
    }

    /// How the communicator of a context is called.
    pub fn name(&self, context: ContextId) -> String {
        let name = self.get(context).map_or_else(String::new, |membership| membership.name());
        names::shown(context.0, &name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ANY_TAG, RequestId};
    use crate::pt2pt::matching::Pattern;

    fn membership(first: u32) -> Arc<Membership> {
        let name = Name::default();
        *name.lock().unwrap() = format!("from {first}");
        Membership::new(name, Arc::new(Group::range(first, 3)), 0)
    }

    fn context(count: u32) -> ContextId {
        ContextId::allocated(0, 0, count * ContextId::STEP).unwrap()
    }

    #[test]
    fn a_freed_communicator_is_known_while_receives_wait_in_it() {
        let (mut contexts, mut matching, requests) =
            (Contexts::default(), Matching::default(), Table::new(8));
        let pattern = Pattern { context: context(3), source: ANY_SOURCE, tag: ANY_TAG };
        let entry = matching.post(pattern, RequestId { slot: 0, generation: 1 });
        for count in 2..40 {
            let freed = membership(count);
            freed.free();
            contexts.learn(context(count), freed, &matching, &requests);
        }
        let forgotten =
            |contexts: &Contexts| (2..40).filter(|at| contexts.get(context(*at)).is_none()).count();
        let learn_more = |contexts: &mut Contexts, matching: &Matching, first: u32| {
            (first..first + 300)
                .for_each(|count| contexts.learn(context(count), membership(count), matching, &requests));
        };
        learn_more(&mut contexts, &matching, 100);
        assert_eq!(forgotten(&contexts), 37);
        assert_eq!(contexts.name(context(3)), "from 3");
        let known = contexts.get(context(3)).unwrap();
        assert!(known.may_come_from(ANY_SOURCE, Peer(4)) && !known.may_come_from(0, Peer(4)));
        matching.unpost(entry);
        learn_more(&mut contexts, &matching, 1000);
        assert_eq!(forgotten(&contexts), 38);
        assert!(contexts.name(context(3)).starts_with("the unnamed communicator 0.3"));
    }

    #[test]
    fn an_alias_is_known_as_its_communicator() {
        let (mut contexts, matching, requests) = (Contexts::default(), Matching::default(), Table::new(8));
        contexts.learn(context(5), membership(7), &matching, &requests);
        contexts.alias(context(6), context(5), &matching, &requests);
        contexts.alias(context(8), context(7), &matching, &requests);
        assert_eq!((contexts.name(context(6)), contexts.get(context(8)).is_none()), ("from 7".into(), true));
    }

    #[test]
    fn an_alias_is_forgotten_with_its_last_end_and_a_communicator_by_nobody() {
        let (mut contexts, matching, requests) = (Contexts::default(), Matching::default(), Table::new(8));
        for at in [5, 9] {
            contexts.learn(context(at), membership(at), &matching, &requests);
        }
        let before = contexts.sizes();
        // Both ends are here: a process sends to itself.
        assert!((0..2).all(|_| contexts.alias(context(6), context(5), &matching, &requests)));
        contexts.revoke(context(5));
        contexts.acknowledge(context(6), 1);
        contexts.forget(context(6));
        assert!(contexts.is_revoked(context(6)) && contexts.get(context(6)).is_some());
        contexts.forget(context(6));
        assert!(!contexts.is_revoked(context(6)) && contexts.get(context(6)).is_none());
        assert_eq!(contexts.sizes(), [before[0], before[1], 1, before[3]]);
        assert!(!contexts.alias(context(9), context(5), &matching, &requests), "a peer has made it up");
        [6, 9].into_iter().for_each(|at| contexts.forget(context(at)));
        assert_eq!(contexts.name(context(9)), "from 9");
    }
}
