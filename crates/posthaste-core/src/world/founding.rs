//! Communicators that are made of groups alone (MPI-5.0 §7.4.2, §7.6.2): where their members meet.
//!
//! Processes of this job meet in the communicator of all of them, those of several jobs in one that is theirs for as long as it
//! takes. What must stay true: all members come to the same of the two, and to the same context; so that depends on nothing but the
//! groups and the program's string.

use std::sync::Arc;

use crate::comm::{Comm, Founded, Mark, without_caller};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::Peer;
use crate::jobs::ProcessName;
use crate::world::World;

impl World {
    /// The communicator of a group, whose members make it in the call of this name; `stringtag` tells such calls apart.
    ///
    /// # Errors
    /// A group without this process, or with one of another job that it has parted from; what went wrong at one of them.
    pub fn found(&self, call: &'static str, group: &Arc<Group>, stringtag: &[u8]) -> Result<Arc<Comm>> {
        let among;
        let (place, mark, is_home) = match self.names_of(group)? {
            Some(names) => {
                group.rank_of(Peer(self.rank())).ok_or_else(|| without_caller("group", group))?;
                let mark = Mark::of_names(stringtag, &names);
                among = self.place_among(group, &names, mark)?;
                (&among, mark, false)
            }
            None => (&**self.founding(), Mark::of_peers(stringtag, group), true),
        };
        let reach = |rank| match group.peer(rank).filter(|_| !is_home) {
            Some(peer) => self.check_connected("group", (rank, peer)),
            None => Ok(()),
        };
        let allocate = || self.allocate_context_from(place);
        let mut next = place.plan_from_group(call, group, mark, reach, allocate)?;
        loop {
            match next {
                Founded::Run(schedule, founding) => next = founding.next(self.run(schedule))?,
                Founded::Made(comm) => {
                    self.joins(&comm)?;
                    return Ok(comm);
                }
                Founded::Doubtful(comm, why) => {
                    // Who cannot join is out of reach there for other nodes, which ends what they wait for.
                    if self.joins(&comm).is_ok() {
                        self.revoke(&comm);
                    }
                    return Err(why);
                }
            }
        }
    }

    /// The intercommunicator of the group `local` and another one, of which `remote` says, to the leader of `local`, who is in it and
    /// which rank its leader has there. All members of both groups call it, in the call of this name; `stringtag` tells such calls
    /// apart.
    ///
    /// # Errors
    /// As [`World::found`] and [`World::introduce`]; a leader of another job that this process has parted from.
    pub fn found_between(
        &self,
        call: &'static str,
        local: &Arc<Group>,
        local_leader: i32,
        remote: impl FnOnce() -> Result<(Arc<Group>, u32)>,
        stringtag: &[u8],
    ) -> Result<Arc<Comm>> {
        let leads = local.rank_of(Peer(self.rank())).is_some_and(|rank| rank as i32 == local_leader);
        let among = match self.found(call, local, stringtag) {
            Ok(among) => among,
            Err(why) => {
                // The other leader waits for this one. What becomes of that hides nothing of what has gone wrong here.
                if leads && let Ok((place, other, tag)) = self.place_between(local, remote, stringtag) {
                    let refusal = place.plan_refusal(other, tag, why.class());
                    drop(refusal.and_then(|refusal| self.run_in(call, refusal)));
                }
                return Err(why);
            }
        };
        if !leads {
            return self.introduce(&among, local_leader, Ok(self.founding()), 0, 0);
        }
        let found = self.place_between(local, remote, stringtag);
        let (place, other, tag) = match &found {
            Ok((place, other, tag)) => (Ok(&**place), *other, *tag),
            // The others of the group have to hear of it.
            Err(why) => (Err(why.clone()), 0, 0),
        };
        self.introduce(&among, local_leader, place, other, tag)
    }

    /// Where the leaders of two groups find each other: a communicator, the rank of the other one in it, and a tag.
    fn place_between(
        &self,
        local: &Group,
        remote: impl FnOnce() -> Result<(Arc<Group>, u32)>,
        stringtag: &[u8],
    ) -> Result<(Arc<Comm>, i32, i32)> {
        let nobody = || Error::other(ErrorClass::Intern, "a group without its leader");
        let (remote, leader) = remote()?;
        let other = remote.peer(leader).ok_or_else(nobody)?;
        if let Some(rank) = local.rank_of(other) {
            let expected =
                format_args!("a process of the other group (this one has rank {rank} in local_group)");
            return Err(Error::invalid(ErrorClass::Rank, "remote_leader", leader, expected));
        }
        let all = Group::of(local.peers().chain(remote.peers()).collect());
        let Some(names) = self.names_of(&all)? else {
            // In the communicator of all processes of this job a rank is the number of its process.
            let [one, two] = [local, &*remote].map(|group| Mark::of_peers(stringtag, group));
            return Ok((Arc::clone(self.founding()), other.0 as i32, one.between(two).tag()));
        };
        self.check_connected("remote_group", (leader, other))?;
        let (ours, theirs) = names.split_at(local.size() as usize);
        let mark = Mark::of_names(stringtag, ours).between(Mark::of_names(stringtag, theirs));
        let mut leaders = [(self.own_name(), Peer(self.rank())), (theirs[leader as usize], other)];
        leaders.sort_unstable_by_key(|(name, _)| *name);
        let group = Arc::new(Group::of(leaders.map(|(_, peer)| peer).to_vec()));
        let place = self.place_among(&group, &leaders.map(|(name, _)| name), mark)?;
        let rank = group.rank_of(other).ok_or_else(nobody)?;
        Ok((Arc::new(place), rank as i32, mark.tag()))
    }

    /// The communicator of processes of several jobs, with these names, in which they make another one.
    fn place_among(&self, group: &Arc<Group>, names: &[ProcessName], mark: Mark) -> Result<Comm> {
        let nobody = || Error::other(ErrorClass::Intern, "a group without this process");
        let rank = group.rank_of(Peer(self.rank())).ok_or_else(nobody)?;
        let mut place =
            Comm::founding_among(Arc::clone(group), rank, *names.first().ok_or_else(nobody)?, mark)?;
        place.set_accord(self.founding().accord());
        place.make_known(&mut self.vci_of(&place).engine);
        Ok(place)
    }
}
