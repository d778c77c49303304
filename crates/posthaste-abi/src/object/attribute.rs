//! Attributes as objects have them: keys by their numbers, and the attributes of datatypes, which go by handle (MPI-5.0 §7.7).
//!
//! Used by the entries about attributes, and by those that duplicate and free objects. What must stay true: no lock is held
//! while a callback runs.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use posthaste_core::attribute::{Attributes, Keyval, Keyvals, Kind, Refused};
use posthaste_core::error::{Error, Result};

use super::communicator;
use super::error_code::text;
use crate::abi::types::{MPI_Comm, MPI_Datatype};

/// All keys of the program.
pub(crate) static KEYVALS: Keyvals = Keyvals::new();

/// Keys that were freed while values stood under them; they still name those values (MPI-5.0 §7.7.2).
static FREED: Mutex<Vec<Weak<Keyval>>> = Mutex::new(Vec::new());

/// The key with this number.
pub(crate) fn key(kind: Kind, number: c_int) -> Result<Arc<Keyval>> {
    KEYVALS.get(kind, number).or_else(|unknown| {
        let freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut in_use = freed.iter().filter_map(Weak::upgrade);
        in_use.find(|key| key.number() == number && key.kind() == kind).ok_or(unknown)
    })
}

/// Attributes of datatypes, by handle.
static TYPE_ATTRIBUTES: LazyLock<Mutex<ByHandle>> = LazyLock::new(Mutex::default);

/// Deletes all attributes of a communicator, the last one first.
pub(crate) fn delete_all_of_comm(comm: MPI_Comm) -> Result<()> {
    communicator::find("comm", comm)?.attributes().delete_all(comm.0).map_err(refused)
}

/// Deletes all attributes of a datatype.
pub(crate) fn delete_all_of_type(datatype: MPI_Datatype) -> Result<()> {
    let attributes = type_attributes().get(&datatype.0).cloned();
    if let Some(attributes) = attributes {
        attributes.delete_all(datatype.0).map_err(refused)?;
        type_attributes().remove(&datatype.0);
    }
    Ok(())
}

/// Gives a duplicate of a datatype its attributes.
pub(crate) fn copy_all_of_type(from: MPI_Datatype, to: MPI_Datatype) -> Result<()> {
    let attributes = type_attributes().get(&from.0).cloned();
    if let Some(attributes) = attributes {
        let copies = attributes.copied(from.0, to.0).map_err(refused)?;
        type_attributes().insert(to.0, Arc::new(copies));
    }
    Ok(())
}

/// The error of a callback that refused; the code that it returned becomes that of the call.
#[cold]
pub(crate) fn refused(Refused(code): Refused) -> Error {
    let meaning = text(code);
    let meaning = if meaning.is_empty() { meaning } else { format!(": {meaning}") };
    Error::program(code, format!("an attribute callback of the program returned error {code}{meaning}"))
}

pub(crate) type ByHandle = HashMap<usize, Arc<Attributes>>;

/// The attributes of datatypes, locked.
pub(crate) fn type_attributes() -> MutexGuard<'static, ByHandle> {
    TYPE_ATTRIBUTES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program frees a key.
pub(crate) fn free(kind: Kind, number: c_int) -> Result<()> {
    let freed = KEYVALS.get(kind, number)?;
    KEYVALS.free(kind, number)?;
    let mut all = FREED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|key| key.strong_count() > 0);
    all.push(Arc::downgrade(&freed));
    Ok(())
}
