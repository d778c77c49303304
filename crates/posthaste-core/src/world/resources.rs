//! What ranks may share of their machines, and splits by it and by process sets (MPI-5.0 §7.4.2, §9.1.2).
//!
//! What must stay true: ranks of different jobs come together by nothing of this, for their numbers of nodes and the names of
//! their process sets mean something within one job only.

use posthaste_os::resources::{Place, Resource};

use crate::comm::Comm;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::Peer;
use crate::info::Info;
use crate::world::World;

/// One kind of hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// The standard's name or that of hwloc, as a URI.
    pub name: &'static str,
    /// Whether the system knows of it.
    pub is_known: bool,
    /// A number for the one that this rank is restricted to, if it is: the same for ranks that are restricted to the same,
    /// another for all others.
    pub instance: Option<i32>,
}

/// Which split is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// By memory that is shared.
    Shared,
    /// By the kind of hardware that a hint names.
    Guided,
    /// By the kind of hardware or the process set that hints name.
    Resource,
    /// By the widest kind of hardware that divides the ranks.
    Unguided,
}

/// Where a rank belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Ranks of the same color come together.
    pub color: i32,
    /// The kind of hardware that was found for them.
    pub found: Option<&'static str>,
}

/// The hint that names the kind of hardware.
pub const TYPE: &[u8] = b"mpi_hw_resource_type";

/// The hint that names the process set.
const SET: &[u8] = b"mpi_pset_name";

/// In the place of a split that may mean either of two.
const EITHER: i32 = -2;

/// More CPUs than a machine has in an affinity mask. A rank of the world has 20 bits, so both fit into a number.
const CPUS: i32 = 1 << 10;

impl World {
    /// The part of this rank; `None` where it has none, or asks for none. All ranks of the communicator call it.
    ///
    /// # Errors
    /// Ranks that ask for different kinds of splits; hints for two of them; a rank that has ended.
    pub fn part_in(&self, comm: &Comm, split: Option<Split>, hints: &Info) -> Result<Option<Part>> {
        let hardware = self.hardware(comm);
        let places: Vec<Option<i32>> = hardware.iter().map(|kind| kind.instance).collect();
        // Both hints at once are an error (MPI-5.0 §7.4.2), of which all ranks hear, whether they gave both or not.
        let set = hints.get(SET);
        let is_either = split == Some(Split::Resource) && set.is_some() && hints.get(TYPE).is_some();
        let kind = split.map(|split| if is_either { EITHER } else { split as i32 });
        let (schedule, levels) = comm.plan_levels(kind, &places);
        self.run(schedule)?;
        let dividing = levels.dividing()?;
        if is_either {
            let got = "with mpi_hw_resource_type and mpi_pset_name";
            return Err(Error::invalid(ErrorClass::Info, "info", got, "one of them"));
        }
        let guided = || {
            let name = hints.get(TYPE)?;
            hardware.iter().find(|kind| kind.name.as_bytes() == name)?.instance
        };
        // The sets of one name do not overlap, so the first member here stands for its set, among those who are in one.
        let in_set = || {
            let set = self.process_set(str::from_utf8(set.as_deref()?).ok()?).ok()?;
            set.rank_of(Peer(self.rank()))?;
            self.first_of(comm, |peer| set.rank_of(peer).is_some()).map(|first| first as i32)
        };
        let color = match split {
            None => None,
            Some(Split::Shared) => Some(self.memory_in(comm) as i32),
            Some(Split::Guided) => guided(),
            Some(Split::Resource) => {
                if hints.get(TYPE).is_some() {
                    guided()
                } else {
                    in_set()
                }
            }
            Some(Split::Unguided) => dividing.and_then(|level| places[level]),
        };
        let found = dividing.filter(|_| split == Some(Split::Unguided)).map(|level| hardware[level].name);
        Ok(color.map(|color| Part { color, found }))
    }

    /// All kinds of hardware that ranks of `comm` may share, the widest first, in the same order at all of them. Nothing but the
    /// memory of a node is shared beyond it.
    pub fn hardware(&self, comm: &Comm) -> Vec<Hardware> {
        let node = self.memory_in(comm) as i32;
        let memory = Hardware { name: "mpi_shared_memory", is_known: true, instance: Some(node) };
        let part = |resource: Resource| {
            let place = resource.place();
            let instance = match place {
                Place::One(cpu) => {
                    i32::try_from(cpu).ok().filter(|cpu| *cpu < CPUS).map(|cpu| node * CPUS + cpu)
                }
                Place::Unknown | Place::Several => None,
            };
            Hardware { name: name(resource), is_known: place != Place::Unknown, instance }
        };
        std::iter::once(memory).chain(Resource::ALL.map(part)).collect()
    }
}

fn name(resource: Resource) -> &'static str {
    match resource {
        Resource::Package => "hwloc://Package",
        Resource::NumaNode => "hwloc://NUMANode",
        Resource::L3Cache => "hwloc://L3Cache",
        Resource::L2Cache => "hwloc://L2Cache",
        Resource::Core => "hwloc://Core",
        Resource::Thread => "hwloc://PU",
    }
}
