//! What ranks may share of their machines, for splits by it (MPI-5.0 §7.4.2, §9.1.2).

use posthaste_os::resources::{Place, Resource};

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

/// More CPUs than a machine has in an affinity mask. A rank of the world has 20 bits, so both fit into a number.
const CPUS: i32 = 1 << 10;

impl World {
    /// All kinds of hardware that ranks may share, the widest first, in the same order at all ranks. Nothing but the memory of a
    /// node is shared beyond it.
    pub fn hardware(&self) -> Vec<Hardware> {
        let node = self.node() as i32;
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
