//! Making communicators: contexts, duplicates with their hints and attributes (MPI-5.0 §7.4.2).
//!
//! Callbacks get a communicator by the number that its face chose.

use std::sync::Arc;

use posthaste_core::attribute::Refused;
use posthaste_core::comm::Comm;
use posthaste_core::error::Result;
use posthaste_core::ids::ContextId;
use posthaste_core::info::Info;

use super::attribute::KEYVALS;
use super::library::{has_had_sessions, library};

/// The session that a communicator was made from, directly or through others, by the number that its face chose: hung on the
/// communicator, so that those that are made of it have it, too.
struct OfSession(usize);

/// Says from which session a communicator comes.
pub(crate) fn set_session(comm: &Comm, session: usize) {
    comm.set_handler(OfSession(session));
}

/// The session that a communicator comes from, if it comes from one.
pub(crate) fn session_of(comm: &Comm) -> Option<usize> {
    if !has_had_sessions() {
        return None;
    }
    comm.handler::<OfSession>().map(|of| of.0)
}

/// A context that this process allocates, for a communicator that is made out of `parent`.
pub(crate) fn allocate_from(parent: &Comm) -> impl FnOnce() -> Result<ContextId> {
    || library().world.allocate_context_from(parent)
}

/// A duplicate without attributes; `info` replaces the hints.
pub(crate) fn duplicate(comm: &Comm, info: Option<&Info>) -> Result<Option<Arc<Comm>>> {
    let (schedule, creation) = comm.plan_dup(allocate_from(comm))?;
    library().world.run(schedule)?;
    let made = library().world.finish(creation)?;
    if let Some(made) = &made {
        adorn(made, info)?;
    }
    Ok(made)
}

/// A duplicate has the hints that were given, and none of the original (MPI-5.0 §7.4.2).
pub(crate) fn adorn(made: &Comm, info: Option<&Info>) -> Result<()> {
    info.map_or(Ok(()), |info| library().world.set_hints(made, info))
}

/// Gives a duplicate the attributes of its original. If a copy function refuses, it has none.
pub(crate) fn copy_attributes(
    (from, number): (&Comm, usize),
    (to, new_number): (&Comm, usize),
) -> std::result::Result<(), Refused> {
    let copies = from.attributes().copied(&KEYVALS, number, new_number)?;
    to.attributes().replace(copies);
    Ok(())
}
