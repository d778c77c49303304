//! Process sets: groups of processes that have names before anybody has made a communicator (MPI-5.0 §11.3.2).

use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::Peer;
use crate::world::World;

/// The sets that every process is in, by their names: all processes of the job; this process; those that share memory with it.
/// The standard defines the first two. Names are compared without regard to case, as those of URIs are.
pub const PROCESS_SETS: [&str; 3] = ["mpi://WORLD", "mpi://SELF", "mpix://SHARED"];

impl World {
    /// The processes of the set with this name.
    ///
    /// # Errors
    /// A name that no set has.
    pub fn process_set(&self, name: &str) -> Result<Group> {
        let at = PROCESS_SETS.iter().position(|known| known.eq_ignore_ascii_case(name));
        match at {
            Some(0) => Ok(Group::range(0, self.world.size() as u32)),
            Some(1) => Ok(Group::range(self.rank(), 1)),
            Some(_) => Ok(Group::of(self.common.nodes.with(self.rank()).into_iter().map(Peer).collect())),
            None => {
                let expected = format!("one of {}", PROCESS_SETS.join(", "));
                Err(Error::invalid(ErrorClass::Arg, "pset_name", format_args!("\"{name}\""), expected))
            }
        }
    }
}
