//! Groups by their handles.

use std::sync::Arc;

use posthaste_core::error::Result;
use posthaste_core::group::Group;

use crate::abi::constants::MPI_GROUP_EMPTY;
use crate::abi::types::MPI_Group;
use crate::handle::{Kind, Table};

/// All groups that were made and not freed.
static GROUPS: Table<Group> = Table::new(Kind::Group);

/// The group with this handle.
pub(crate) fn find(argument: &'static str, handle: MPI_Group) -> Result<Arc<Group>> {
    if handle == MPI_GROUP_EMPTY {
        return Ok(Arc::new(Group::empty()));
    }
    GROUPS.get(argument, handle.number())
}

/// The group with this handle is found no more.
pub(crate) fn remove(handle: MPI_Group) -> Result<()> {
    GROUPS.remove("group", handle.number()).map(drop)
}

/// Gives a group to the program.
pub(crate) fn store(group: Arc<Group>) -> Result<MPI_Group> {
    if group.size() == 0 {
        return Ok(MPI_GROUP_EMPTY);
    }
    GROUPS.insert(group).map(MPI_Group::numbered)
}
