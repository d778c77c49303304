//! Info objects by their handles.

use std::sync::{Arc, LazyLock};

use posthaste_core::error::Result;
use posthaste_core::info::{Info, MAX_KEY, MAX_VALUE};

use crate::abi::constants::{MPI_INFO_ENV, MPI_INFO_NULL, MPI_MAX_INFO_KEY, MPI_MAX_INFO_VAL};
use crate::abi::types::MPI_Info;
use crate::handle::{Kind, Table};
use crate::layer::object_ref::ObjectRef;

// What the engine keeps fits into what programs have room for; of keys, what they may set.
const _: () = assert!(MPI_MAX_INFO_KEY as usize <= MAX_KEY + 1 && MPI_MAX_INFO_VAL as usize > MAX_VALUE);

/// All info objects that were made and not freed.
static INFOS: Table<Info> = Table::new(Kind::Info);

/// What is known of how this program was started (MPI-5.0 §11.2.3).
pub(crate) static ENVIRONMENT: LazyLock<Info> = LazyLock::new(|| {
    let info = Info::new();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let folder = std::env::current_dir().unwrap_or_default();
    let known = [
        ("command", std::env::args_os().next().unwrap_or_default()),
        ("host", host.trim().into()),
        ("wdir", folder.into()),
    ];
    for (key, value) in known {
        // A value that is too long is left out.
        let _ = info.set(key.as_bytes(), value.as_encoded_bytes());
    }
    info
});

static NO_HINTS: LazyLock<Info> = LazyLock::new(Info::new);

/// The info object with this handle.
pub(crate) fn find(argument: &'static str, handle: MPI_Info) -> Result<ObjectRef<Info>> {
    if handle == MPI_INFO_ENV {
        return Ok(ObjectRef::Predefined(&*ENVIRONMENT));
    }
    INFOS.get(argument, handle.number()).map(ObjectRef::User)
}

/// An argument with hints, of which there may be none.
pub(crate) fn hints(handle: MPI_Info) -> Result<ObjectRef<Info>> {
    if handle == MPI_INFO_NULL { Ok(ObjectRef::Predefined(&*NO_HINTS)) } else { find("info", handle) }
}

/// The info object with this handle is found no more.
pub(crate) fn remove(handle: MPI_Info) -> Result<()> {
    INFOS.remove("info", handle.number()).map(drop)
}

/// Gives an info object to the program.
pub(crate) fn store(info: Info) -> Result<MPI_Info> {
    INFOS.insert(Arc::new(info)).map(MPI_Info::numbered)
}
