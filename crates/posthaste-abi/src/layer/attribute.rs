//! Keys of attributes as programs name them, and the attributes of objects that the engine keeps none for (MPI-5.0 §7.7).
//!
//! Such an object is known by a number that its face chose. What must stay true: no lock is held while a callback runs.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use posthaste_core::attribute::{Attributes, Keyval, Keyvals, Kind, Refused};
use posthaste_core::error::Result;
use posthaste_core::ids::{ANY_SOURCE, PROC_NULL, TAG_UB};

use super::library::library;

/// All keys of the program.
pub(crate) static KEYVALS: Keyvals = Keyvals::new();

/// Keys that were freed while values stood under them; they still name those values (MPI-5.0 §7.7.2).
static FREED: Mutex<Vec<Weak<Keyval>>> = Mutex::new(Vec::new());

/// The key with this number.
pub(crate) fn key(kind: Kind, number: i32) -> Result<Arc<Keyval>> {
    KEYVALS.get(kind, number).or_else(|unknown| {
        let freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut in_use = freed.iter().filter_map(Weak::upgrade);
        in_use.find(|key| key.number() == number && key.kind() == kind).ok_or(unknown)
    })
}

/// The program frees a key.
pub(crate) fn free(kind: Kind, number: i32) -> Result<()> {
    let freed = KEYVALS.get(kind, number)?;
    KEYVALS.free(kind, number)?;
    let mut all = FREED.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|key| key.strong_count() > 0);
    all.push(Arc::downgrade(&freed));
    Ok(())
}

/// The attributes that every communicator shows (MPI-5.0 §9.1.2).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Predefined {
    /// `MPI_TAG_UB`.
    LargestTag,
    /// `MPI_WTIME_IS_GLOBAL`.
    ClockIsGlobal,
    /// `MPI_HOST`.
    Host,
    /// `MPI_IO`.
    Io,
    /// `MPI_APPNUM`.
    Program,
    /// `MPI_UNIVERSE_SIZE`.
    UniverseSize,
}

impl Predefined {
    /// The value; ranks may be special values of the engine.
    pub(crate) fn value(self) -> i32 {
        match self {
            Self::LargestTag => TAG_UB,
            // It counts from the start of a host: those of one read the same.
            Self::ClockIsGlobal => i32::from(library().world.is_on_one_node()),
            Self::Host => PROC_NULL,
            Self::Io => ANY_SOURCE,
            Self::Program => library().world.application() as i32,
            Self::UniverseSize => library().world.universe_size() as i32,
        }
    }
}

/// Attributes of datatypes, by the numbers that a face knows them by.
static OF_TYPES: LazyLock<Mutex<HashMap<usize, Arc<Attributes>>>> = LazyLock::new(Mutex::default);

fn of_types() -> MutexGuard<'static, HashMap<usize, Arc<Attributes>>> {
    OF_TYPES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The attributes of a datatype, if it ever had one.
pub(crate) fn of_type(datatype: usize) -> Option<Arc<Attributes>> {
    of_types().get(&datatype).cloned()
}

/// The attributes of a datatype, to add one.
pub(crate) fn of_type_to_set(datatype: usize) -> Arc<Attributes> {
    of_types().entry(datatype).or_default().clone()
}

/// Deletes all attributes of a datatype.
pub(crate) fn delete_all_of_type(datatype: usize) -> std::result::Result<(), Refused> {
    if let Some(attributes) = of_type(datatype) {
        attributes.delete_all(&KEYVALS, datatype)?;
        of_types().remove(&datatype);
    }
    Ok(())
}

/// Gives a duplicate of a datatype its attributes.
pub(crate) fn copy_all_of_type(from: usize, to: usize) -> std::result::Result<(), Refused> {
    if let Some(attributes) = of_type(from) {
        let copies = attributes.copied(&KEYVALS, from, to)?;
        of_types().insert(to, Arc::new(copies));
    }
    Ok(())
}
