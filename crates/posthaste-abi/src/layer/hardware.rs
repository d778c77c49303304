//! What this process may be restricted to of its machine (MPI-5.0 §9.1.2).

use posthaste_core::error::Result;
use posthaste_core::info::Info;

use super::library::library;

/// The kinds of hardware that a split may name, and whether this process is restricted to one of a kind.
pub(crate) fn kinds() -> Result<Info> {
    let (kinds, world) = (Info::new(), &library().world);
    for kind in world.hardware(world.world()).iter().filter(|kind| kind.is_known) {
        let restricted: &[u8] = if kind.instance.is_some() { b"true" } else { b"false" };
        kinds.set(kind.name.as_bytes(), restricted)?;
    }
    Ok(kinds)
}
