//! C functions for starting processes (MPI-5.0 §11.8).

use std::ffi::{c_char, c_int};

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::meeting::Spec;

use crate::abi::constants::{MPI_COMM_NULL, MPI_ERR_SPAWN, MPI_ERRCODES_IGNORE, MPI_SUCCESS};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Comm, MPI_Info};
use crate::call::mpi_fn;
use crate::layer::library::library;
use crate::mapping::ranks::rank_in;
use crate::object::site::Site;
use crate::object::{communicator, info, parents};

mpi_fn! {
    /// MPI-5.0 §11.8.1. Only the root looks at what is to be started.
    fn MPI_Comm_spawn / PMPI_Comm_spawn(command: In<c_char>, argv: Out<*mut c_char>, maxprocs: c_int,
        info: MPI_Info, root: c_int, comm: MPI_Comm, intercomm: Out<MPI_Comm>, array_of_errcodes: Out<c_int>)
        raises comm => {
        let specs = || Ok(vec![spec(command.sendable_text("command")?, argv, maxprocs, info)?]);
        start("MPI_Comm_spawn", specs, root, comm, intercomm, array_of_errcodes)
    }
    /// MPI-5.0 §11.8.3. Only the root looks at what is to be started.
    fn MPI_Comm_spawn_multiple / PMPI_Comm_spawn_multiple(count: c_int, array_of_commands: Out<*mut c_char>,
        array_of_argv: Out<*mut *mut c_char>, array_of_maxprocs: In<c_int>, array_of_info: In<MPI_Info>,
        root: c_int, comm: MPI_Comm, intercomm: Out<MPI_Comm>, array_of_errcodes: Out<c_int>) raises comm => {
        let specs = || {
            let many = usize::try_from(count).ok().filter(|&count| count > 0);
            let count = many.ok_or_else(|| wrong("count", count))?;
            let numbers = array_of_maxprocs.slice("array_of_maxprocs", count)?;
            let infos = array_of_info.slice("array_of_info", count)?;
            let all = numbers.iter().zip(infos).enumerate();
            all.map(|(index, (&maxprocs, &info))| {
                let command = array_of_commands.text_at("array_of_commands", index)?;
                spec(command, array_of_argv.array_at("array_of_argv", index)?, maxprocs, info)
            }).collect()
        };
        start("MPI_Comm_spawn_multiple", specs, root, comm, intercomm, array_of_errcodes)
    }
    /// MPI-5.0 §11.8.2
    fn MPI_Comm_get_parent / PMPI_Comm_get_parent(parent: Out<MPI_Comm>) raises Site::Process => {
        parent.set("parent", parents::handle())
    }
}

fn wrong(argument: &'static str, got: impl std::fmt::Display) -> Error {
    Error::invalid(ErrorClass::Arg, argument, got, "1 or more")
}

fn spec(name: String, argv: Out<*mut c_char>, maxprocs: c_int, info: MPI_Info) -> Result<Spec> {
    let count = usize::try_from(maxprocs).ok().filter(|&count| count > 0);
    Ok(Spec {
        count: count.ok_or_else(|| wrong("maxprocs", maxprocs))?,
        name,
        arguments: argv.texts("argv")?,
        info: info::hints(info)?.texts(),
    })
}

fn start(
    call: &'static str,
    specs: impl FnOnce() -> Result<Vec<Spec>>,
    root: c_int,
    comm: MPI_Comm,
    intercomm: Out<MPI_Comm>,
    errcodes: Out<c_int>,
) -> Result<()> {
    intercomm.set("intercomm", MPI_COMM_NULL)?;
    let comm = communicator::find("comm", comm)?;
    let (made, runs) = library().world.spawn(call, &comm, rank_in(root), specs);
    let made = made.and_then(|made| intercomm.set("intercomm", communicator::store(Some(made))?));
    if errcodes.address() == MPI_ERRCODES_IGNORE {
        return made;
    }
    // A call that fails has codes, too.
    let codes: Vec<c_int> =
        runs.into_iter().map(|runs| if runs { MPI_SUCCESS } else { MPI_ERR_SPAWN }).collect();
    made.and(errcodes.set_all("array_of_errcodes", &codes))
}
