//! Groups by their handles.

use std::sync::Arc;

use posthaste_core::error::Result;
use posthaste_core::group::Group;

use crate::abi::constants::MPI_GROUP_EMPTY;
use crate::abi::types::MPI_Group;
use crate::handle::{Kind, Table};

/// All groups that were made and not freed.
static GROUPS: Table<Derived> = Table::new(Kind::Group);

/// A group, and the number of the session that it comes from, if it comes from one.
struct Derived {
    group: Arc<Group>,
    session: Option<usize>,
}

/// The group with this handle.
pub(crate) fn find(argument: &'static str, handle: MPI_Group) -> Result<Arc<Group>> {
    if handle == MPI_GROUP_EMPTY {
        return Ok(Arc::new(Group::empty()));
    }
    GROUPS.get(argument, handle.number()).map(|found| found.group.clone())
}

/// The number of the session that a group comes from, if it comes from one.
pub(crate) fn session_of(handle: MPI_Group) -> Option<usize> {
    GROUPS.peek(handle.number())?.session
}

/// The group with this handle is found no more.
pub(crate) fn remove(handle: MPI_Group) -> Result<()> {
    GROUPS.remove("group", handle.number()).map(drop)
}

/// Gives a group to the program, which comes from this session.
pub(crate) fn store(group: Arc<Group>, session: Option<usize>) -> Result<MPI_Group> {
    if group.size() == 0 {
        return Ok(MPI_GROUP_EMPTY);
    }
    GROUPS.insert(Arc::new(Derived { group, session })).map(MPI_Group::numbered)
}
