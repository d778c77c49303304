//! Reduction operations by their handles.

use std::sync::Arc;

use posthaste_core::datatype::Datatype;
use posthaste_core::error::Result;
use posthaste_core::op::Op;

use crate::abi::types::MPI_Op;
use crate::handle::{Kind, Table};
use crate::layer::coll::check_op;
use crate::mapping::types;

/// All operations that were made and not freed.
static OPS: Table<Op> = Table::new(Kind::Op);

/// The operation with this handle, for a reduction of such elements.
#[inline]
pub(crate) fn find(handle: MPI_Op, datatype: &Datatype) -> Result<Op> {
    let found = any("op", handle)?;
    check_op(&found, datatype)?;
    Ok(found)
}

/// The operation with this handle.
#[inline]
pub(crate) fn any(argument: &'static str, handle: MPI_Op) -> Result<Op> {
    if let Some(op) = types::operation(handle) {
        return Ok(op.into());
    }
    OPS.get(argument, handle.number()).map(|found| Op::clone(&found))
}

/// The operation with this handle is found no more.
pub(crate) fn remove(handle: MPI_Op) -> Result<()> {
    OPS.remove("op", handle.number()).map(drop)
}

/// Gives an operation to the program.
pub(crate) fn store(op: Op) -> Result<MPI_Op> {
    OPS.insert(Arc::new(op)).map(MPI_Op::numbered)
}
