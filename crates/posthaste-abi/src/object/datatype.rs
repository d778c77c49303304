//! Datatypes by their handles.
//!
//! What must stay true: for a predefined datatype nothing is locked, counted or allocated.

use std::sync::Arc;

use posthaste_core::datatype::Datatype;
use posthaste_core::error::Result;

use crate::abi::types::MPI_Datatype;
use crate::handle::{Kind, Table, invalid};
use crate::mapping::types;

/// All derived types that were made and not freed.
static TYPES: Table<Datatype> = Table::new(Kind::Datatype);

/// The datatype with this handle.
#[inline]
pub(crate) fn find(argument: &'static str, handle: MPI_Datatype) -> Result<Datatype> {
    if let Some(named) = types::named(handle) {
        return Ok(named.into());
    }
    // The type is counted once, not its place in the table as well.
    TYPES
        .look(handle.number(), |found| Datatype::clone(found))
        .ok_or_else(|| invalid(Kind::Datatype, argument, handle.number()))
}

/// The datatype with this handle, ready for communication.
#[inline]
pub(crate) fn committed(argument: &'static str, handle: MPI_Datatype) -> Result<Datatype> {
    let found = find(argument, handle)?;
    found.check_committed()?;
    Ok(found)
}

/// The datatype with this handle is found no more.
pub(crate) fn remove(argument: &'static str, handle: MPI_Datatype) -> Result<()> {
    TYPES.remove(argument, handle.number()).map(drop)
}

/// Gives a derived type to the program.
pub(crate) fn store(datatype: Datatype) -> Result<MPI_Datatype> {
    TYPES.insert(Arc::new(datatype)).map(MPI_Datatype::numbered)
}

/// A handle for a type that the engine shows to the program: the predefined one, or the program's own, or a new one
/// for as long as the caller lets it live. Returns whether it is new.
pub(crate) fn handle_for(datatype: &Datatype) -> Result<(MPI_Datatype, bool)> {
    if let Some(named) = datatype.named() {
        return Ok((types::handle(named), false));
    }
    match TYPES.find(|known| known.is_same(datatype)) {
        Some(handle) => Ok((MPI_Datatype::numbered(handle), false)),
        None => Ok((store(datatype.clone())?, true)),
    }
}
