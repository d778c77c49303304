//! Process sets: groups of processes that have names before anybody has made a communicator (MPI-5.0 §11.3.2).
//!
//! What must stay true: a name means the same set in every process that it names, but for `mpi://SELF` and `mpix://SHARED`, which
//! are told from the process that asks.

use posthaste_pmi::launcher::Launcher;

use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::Peer;
use crate::world::{World, wireup};

/// The sets that every process is in: all processes of the job; this process; those that share memory with it. The standard defines
/// the first two. Names are compared without regard to case, as those of URIs are.
const ALWAYS: [&str; 3] = ["mpi://WORLD", "mpi://SELF", "mpix://SHARED"];
/// What stands before the number of a node, and of a program of those that the job was started with.
const NODE: &str = "mpix://NODE/";
const PROGRAM: &str = "mpix://PROGRAM/";

/// Names, and who is in those sets.
pub(super) type Sets = Vec<(String, Vec<Peer>)>;

impl World {
    /// The names of the sets that this process is in: those that every process is in; that of its node; and, where the launcher
    /// says so, that of its program and those that the user has named.
    pub fn process_sets(&self) -> Vec<String> {
        let own = Peer(self.rank());
        let further = self.further_sets().iter().filter(|(_, set)| set.contains(&own));
        ALWAYS.map(String::from).into_iter().chain(further.map(|(name, _)| name.clone())).collect()
    }

    /// The processes of the set with this name, which may be one that this process is not in.
    ///
    /// # Errors
    /// A name that no set has.
    pub fn process_set(&self, name: &str) -> Result<Group> {
        match ALWAYS.iter().position(|known| known.eq_ignore_ascii_case(name)) {
            Some(0) => return Ok(Group::range(0, self.world.size() as u32)),
            Some(1) => return Ok(Group::range(self.rank(), 1)),
            Some(_) => {
                return Ok(Group::of(self.common.nodes.with(self.rank()).into_iter().map(Peer).collect()));
            }
            None => {}
        }
        let further = self.further_sets();
        let found = further.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, set)| Group::of(set.clone())).ok_or_else(|| {
            let known: Vec<&str> =
                ALWAYS.into_iter().chain(further.iter().map(|(name, _)| name.as_str())).collect();
            let expected = format!("one of {}", known.join(", "));
            Error::invalid(ErrorClass::Arg, "pset_name", format_args!("\"{name}\""), expected)
        })
    }

    /// Those of nodes, and what the launcher says, which is asked once.
    fn further_sets(&self) -> &Sets {
        self.common.sets.get_or_init(|| {
            let nodes = &self.common.nodes;
            let node = |(at, leader): (usize, u32)| {
                (format!("{NODE}{at}"), nodes.with(leader).into_iter().map(Peer).collect())
            };
            let mut sets: Sets = nodes.leaders().enumerate().map(node).collect();
            let told = wireup::ask(&self.common.launcher, Launcher::process_sets);
            let Some(told) = told.and_then(|told| told.ok().flatten()) else { return sets };
            let mut first = 0;
            for (at, count) in told.programs.into_iter().enumerate() {
                let end = first + count as u32;
                sets.push((format!("{PROGRAM}{at}"), (first..end).map(Peer).collect()));
                first = end;
            }
            let peers = |ranks: Vec<u32>| ranks.into_iter().map(Peer).collect();
            sets.extend(told.named.into_iter().map(|(name, ranks)| (name, peers(ranks))));
            sets
        })
    }
}
