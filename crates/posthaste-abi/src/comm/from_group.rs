//! C functions for communicators made of groups alone, as sessions need them (MPI-5.0 §7.4.2, §7.6.2).
//!
//! What must stay true: as there is no communicator yet whose error handler could be called, it is the one that was given.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use posthaste_core::comm::Comm;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::group::Group;
use posthaste_core::info::Info;

use crate::abi::constants::{MPI_COMM_NULL, MPI_COMM_SELF, MPI_MAX_STRINGTAG_LEN, MPI_SUCCESS};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Comm, MPI_Errhandler, MPI_Group, MPI_Info};
use crate::call::{inside, mpi_fn};
use crate::failure;
use crate::handle::Kind;
use crate::layer::communicator::set_session;
use crate::layer::errhandler;
use crate::layer::library::library;
use crate::mapping::ranks::rank_in;
use crate::object::communicator;
use crate::object::errhandler::{Handler, find_for};
use crate::object::group;
use crate::object::info;
use crate::object::site::Site;

mpi_fn! {
    /// MPI-5.0 §7.4.2. Only the members of the group call it.
    fn MPI_Comm_create_from_group / PMPI_Comm_create_from_group(group: MPI_Group, stringtag: In<c_char>,
        info: MPI_Info, errhandler: MPI_Errhandler, newcomm: Out<MPI_Comm>) -> c_int {
        handled("MPI_Comm_create_from_group", errhandler, |call, handler| {
            newcomm.set("newcomm", MPI_COMM_NULL)?;
            let hints = info::hints(info)?;
            let (members, stringtag) = (group::find("group", group)?, checked(&stringtag)?);
            if members.size() == 0 {
                return Ok(()); // nobody calls it with others (MPI-5.0 §7.4.2)
            }
            let made = library().world.found(call, &members, stringtag)?;
            newcomm.set("newcomm", give(made, group, &hints, handler)?)
        })
    }
    /// MPI-5.0 §7.6.2. Only the leader looks at `remote_group` and `remote_leader`.
    fn MPI_Intercomm_create_from_groups / PMPI_Intercomm_create_from_groups(local_group: MPI_Group,
        local_leader: c_int, remote_group: MPI_Group, remote_leader: c_int, stringtag: In<c_char>,
        info: MPI_Info, errhandler: MPI_Errhandler, newintercomm: Out<MPI_Comm>) -> c_int {
        handled("MPI_Intercomm_create_from_groups", errhandler, |call, handler| {
            newintercomm.set("newintercomm", MPI_COMM_NULL)?;
            let hints = info::hints(info)?;
            let (local, stringtag) = (group::find("local_group", local_group)?, checked(&stringtag)?);
            if local.size() == 0 {
                return Err(Error::invalid(ErrorClass::Group, "local_group", "empty", "a group with the calling process"));
            }
            let local_leader = leader("local_leader", "local_group", local_leader, &local)?;
            let remote = || {
                let remote = group::find("remote_group", remote_group)?;
                let leader = leader("remote_leader", "remote_group", remote_leader, &remote)?;
                Ok((remote, leader as u32))
            };
            let made = library().world.found_between(call, &local, local_leader, remote, stringtag)?;
            newintercomm.set("newintercomm", give(made, local_group, &hints, handler)?)
        })
    }
}

/// Runs the body of a call that makes a communicator with this error handler, which is called for its errors as well.
fn handled(
    call: &'static str,
    errhandler: MPI_Errhandler,
    body: impl FnOnce(&'static str, &Handler) -> Result<()>,
) -> c_int {
    let handler = match find_for(errhandler, Kind::Comm) {
        Ok(handler) => handler,
        Err(error) => return failure::raise(call, Site::Process, &error),
    };
    match inside(|| body(call, &handler)) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => failure::raise_with(&handler, Site::Comm(MPI_COMM_SELF), call, Site::Process, &error),
    }
}

fn checked(stringtag: &In<c_char>) -> Result<&[u8]> {
    let bytes = stringtag.bytes("stringtag")?;
    let most = MPI_MAX_STRINGTAG_LEN as usize - 1;
    if bytes.len() > most {
        let (got, expected) =
            (format_args!("{} bytes long", bytes.len()), format_args!("at most {most} bytes"));
        return Err(Error::invalid(ErrorClass::Arg, "stringtag", got, expected));
    }
    Ok(bytes)
}

fn leader(argument: &'static str, of: &str, rank: c_int, group: &Group) -> Result<i32> {
    let rank = rank_in(rank);
    if rank >= 0 && (rank as u32) < group.size() {
        return Ok(rank);
    }
    let expected = format_args!("0..={}, a rank of {of}", i64::from(group.size()) - 1);
    Err(Error::invalid(ErrorClass::Rank, argument, rank, expected))
}

/// Gives it to the program, with the session of its group, its hints and its error handler.
fn give(made: Arc<Comm>, of: MPI_Group, hints: &Info, handler: &Handler) -> Result<MPI_Comm> {
    library().world.set_hints(&made, hints)?;
    errhandler::set(&made, handler.clone());
    if let Some(session) = group::session_of(of) {
        set_session(&made, session);
    }
    communicator::store(Some(made))
}
