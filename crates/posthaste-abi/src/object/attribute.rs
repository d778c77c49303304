//! Attributes of objects by their handles, and what a callback's refusal becomes (MPI-5.0 §7.7).

use posthaste_core::attribute::Refused;
use posthaste_core::error::{Error, Result};

use super::communicator;
use super::error_code::meaning;
use crate::abi::types::{MPI_Comm, MPI_Datatype};
use crate::layer::attribute::{self, KEYVALS};
use crate::mapping::errors;

/// Deletes all attributes of a communicator, the last one first.
pub(crate) fn delete_all_of_comm(comm: MPI_Comm) -> Result<()> {
    communicator::find("comm", comm)?.attributes().delete_all(&KEYVALS, comm.number()).map_err(refused)
}

/// Deletes all attributes of a datatype.
pub(crate) fn delete_all_of_type(datatype: MPI_Datatype) -> Result<()> {
    attribute::delete_all_of_type(datatype.number()).map_err(refused)
}

/// Gives a duplicate of a datatype its attributes.
pub(crate) fn copy_all_of_type(from: MPI_Datatype, to: MPI_Datatype) -> Result<()> {
    attribute::copy_all_of_type(from.number(), to.number()).map_err(refused)
}

/// The error of a callback that refused; the code that it returned becomes that of the call.
#[cold]
pub(crate) fn refused(Refused(code): Refused) -> Error {
    let meaning = meaning(code);
    let meaning = if meaning.is_empty() { meaning } else { format!(": {meaning}") };
    errors::program(code, format!("an attribute callback of the program returned error {code}{meaning}"))
}
