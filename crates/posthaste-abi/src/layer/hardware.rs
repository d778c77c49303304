//! Splits by what ranks share of their machines (MPI-5.0 §7.4.2): who comes together, by which kind of hardware.

use posthaste_core::comm::Comm;
use posthaste_core::error::Result;
use posthaste_core::info::Info;

use super::library::library;

/// Which split is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
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
pub(crate) struct Part {
    /// Ranks of the same color come together.
    pub(crate) color: i32,
    /// The kind of hardware that was found for them.
    pub(crate) found: Option<&'static str>,
}

/// The kind of hardware.
pub(crate) const TYPE: &[u8] = b"mpi_hw_resource_type";

/// The part of this rank; `None` where it has none, or asks for none. All ranks of the communicator call it.
pub(crate) fn part(comm: &Comm, split: Option<Split>, hints: &Info) -> Result<Option<Part>> {
    let world = &library().world;
    let hardware = world.hardware();
    let places: Vec<Option<i32>> = hardware.iter().map(|kind| kind.instance).collect();
    let (schedule, levels) = comm.plan_levels(split.map(|split| split as i32), &places);
    world.run(schedule)?;
    let dividing = levels.dividing()?;
    let guided = || {
        let name = hints.get(TYPE)?;
        hardware.iter().find(|kind| kind.name.as_bytes() == name)?.instance
    };
    // The sets of one name do not overlap, so the first member stands for its set.
    let in_set = || {
        let set = world.process_set(str::from_utf8(&hints.get(b"mpi_pset_name")?).ok()?).ok()?;
        set.peer(0).map(|first| first.0 as i32)
    };
    let color = match split {
        None => None,
        Some(Split::Shared) => Some(world.memory_in(comm) as i32),
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

/// The kinds of hardware that a split may name, and whether this process is restricted to one of a kind (MPI-5.0 §9.1.2).
pub(crate) fn kinds() -> Result<Info> {
    let kinds = Info::new();
    for kind in library().world.hardware().iter().filter(|kind| kind.is_known) {
        let restricted: &[u8] = if kind.instance.is_some() { b"true" } else { b"false" };
        kinds.set(kind.name.as_bytes(), restricted)?;
    }
    Ok(kinds)
}
