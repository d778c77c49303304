//! C functions for sessions and their process sets (MPI-5.0 §11.3).
//!
//! What must stay true: beginning and ending a session waits for no other process that has begun (`posthaste_core::instance`);
//! an error in `MPI_Session_init` is raised by the error handler that it was given.

use std::ffi::{c_char, c_int};

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::info::Info;

use crate::abi::constants::{MPI_INFO_NULL, MPI_SESSION_NULL, MPI_SUCCESS};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Errhandler, MPI_Info, MPI_Session};
use crate::call::mpi_fn;
use crate::comm::communicator as comm;
use crate::failure;
use crate::handle::Kind;
use crate::layer::bsend;
use crate::layer::library::{self, ThreadLevel, library};
use crate::object::errhandler::{Handler, find_for};
use crate::object::session::{Session, find, remove, store};
use crate::object::site::Site;
use crate::object::{communicator, info, memory};

// Sessions.
mpi_fn! {
    /// MPI-5.0 §11.3.1
    fn MPI_Session_init / PMPI_Session_init(info: MPI_Info, errhandler: MPI_Errhandler,
        session: Out<MPI_Session>) -> c_int {
        init("MPI_Session_init", info, errhandler, session)
    }
    /// MPI-5.0 §11.3.1. Communicators that come from the session and were not freed are freed now, without waiting for their
    /// other members; its buffer is detached.
    fn MPI_Session_finalize / PMPI_Session_finalize(session: Out<MPI_Session>) raises site_of(session) => {
        let handle = session.get("session")?;
        find("session", handle)?;
        while let Some(left) = communicator::any_of_session(handle.number()) {
            comm::forget(left)?;
        }
        bsend::leave_session(handle.number())?;
        library::close_session()?;
        remove("session", handle)?;
        session.set("session", MPI_SESSION_NULL)
    }
    /// MPI-5.0 §11.3.3
    fn MPI_Session_get_info / PMPI_Session_get_info(session: MPI_Session, info_used: Out<MPI_Info>)
        raises session => {
        info_used.set("info_used", MPI_INFO_NULL)?;
        info_used.set("info_used", info::store(find("session", session)?.hints.clone())?)
    }
}

// Process sets.
mpi_fn! {
    /// MPI-5.0 §11.3.2
    fn MPI_Session_get_num_psets / PMPI_Session_get_num_psets(session: MPI_Session, info: MPI_Info,
        npset_names: Out<c_int>) raises session => {
        find("session", session)?;
        info::hints(info)?;
        npset_names.set("npset_names", library().world.process_sets().len() as c_int)
    }
    /// MPI-5.0 §11.3.2. `pset_len` becomes the length of the name with its closing zero, whatever it was.
    fn MPI_Session_get_nth_pset / PMPI_Session_get_nth_pset(session: MPI_Session, info: MPI_Info, n: c_int,
        pset_len: Out<c_int>, pset_name: Out<c_char>) raises session => {
        find("session", session)?;
        info::hints(info)?;
        let sets = library().world.process_sets();
        let name = usize::try_from(n).ok().and_then(|n| sets.get(n));
        let Some(name) = name else {
            let expected = format_args!("0..={}, one of the process sets", sets.len() - 1);
            return Err(Error::invalid(ErrorClass::Arg, "n", n, expected));
        };
        let room = pset_len.get("pset_len")?;
        let room = usize::try_from(room)
            .map_err(|_| Error::invalid(ErrorClass::Arg, "pset_len", room, "0 or more"))?;
        if room > 0 {
            pset_name.set_bytes("pset_name", name.as_bytes(), room)?;
        }
        pset_len.set("pset_len", name.len() as c_int + 1)
    }
    /// MPI-5.0 §11.3.2
    fn MPI_Session_get_pset_info / PMPI_Session_get_pset_info(session: MPI_Session, pset_name: In<c_char>,
        info: Out<MPI_Info>) raises session => {
        info.set("info", MPI_INFO_NULL)?;
        find("session", session)?;
        let set = library().world.process_set(&pset_name.text("pset_name")?)?;
        let found = Info::new();
        found.set(b"mpi_size", set.size().to_string().as_bytes())?;
        info.set("info", info::store(found)?)
    }
}

/// The key of the level of thread support among the hints of a session, and the levels as its values (MPI-5.0 §11.3.1).
const THREAD_LEVEL: &[u8] = b"thread_level";
const LEVELS: [(&str, ThreadLevel); 4] = [
    ("MPI_THREAD_SINGLE", ThreadLevel::Single),
    ("MPI_THREAD_FUNNELED", ThreadLevel::Funneled),
    ("MPI_THREAD_SERIALIZED", ThreadLevel::Serialized),
    ("MPI_THREAD_MULTIPLE", ThreadLevel::Multiple),
];
/// The key of the kinds of memory that buffers may lie in (MPI-5.0 §12.4.3), and those of all sessions.
const MEMORY_KINDS: (&[u8], &[u8]) = (b"mpi_memory_alloc_kinds", b"mpi,system");

fn init(call: &'static str, info: MPI_Info, errhandler: MPI_Errhandler, session: Out<MPI_Session>) -> c_int {
    let handler = match find_for(errhandler, Kind::Session) {
        Ok(handler) => handler,
        Err(error) => return failure::raise(call, Site::Process, &error),
    };
    match begin(info, &handler, session) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => {
            failure::raise_with(&handler, Site::Session(MPI_SESSION_NULL), call, Site::Process, &error)
        }
    }
}

fn begin(info: MPI_Info, handler: &Handler, session: Out<MPI_Session>) -> Result<()> {
    session.set("session", MPI_SESSION_NULL)?;
    let provided = library::open_session(asked(&*info::hints(info)?)?)?;
    memory::learn_sizes(library().world.vci().engine.config.check_types);
    let name = LEVELS.iter().find(|(_, level)| *level == provided).map_or("", |(name, _)| *name);
    // What is told of the session are the hints that it knows (MPI-5.0 §11.3.3).
    let hints = Info::new();
    let begun = hints
        .set(THREAD_LEVEL, name.as_bytes())
        .and_then(|()| hints.set(MEMORY_KINDS.0, MEMORY_KINDS.1))
        .and_then(|()| store(Session::new(handler.clone(), hints)));
    match begun {
        Ok(begun) => session.set("session", begun),
        Err(error) => library::close_session().and(Err(error)),
    }
}

/// The level of thread support that hints ask for; without a hint any thread may call at any time, for who begins a session often
/// knows nothing of the others in its process.
fn asked(hints: &Info) -> Result<ThreadLevel> {
    let Some(value) = hints.get(THREAD_LEVEL) else { return Ok(ThreadLevel::Multiple) };
    let level = LEVELS.iter().find(|(name, _)| name.as_bytes() == value).map(|(_, level)| *level);
    level.ok_or_else(|| {
        let got = format_args!("\"{}\"", String::from_utf8_lossy(&value));
        let expected = LEVELS.map(|(name, _)| name).join(", ");
        Error::invalid(ErrorClass::InfoValue, "thread_level in info", got, format_args!("one of {expected}"))
    })
}

/// The session behind an argument that is also a result.
fn site_of(session: Out<MPI_Session>) -> Site {
    session.get("session").map_or(Site::Process, Into::into)
}
