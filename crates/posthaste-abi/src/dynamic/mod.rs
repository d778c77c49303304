//! C functions for starting processes and connecting jobs (MPI-5.0 §11.8 to §11.10).

pub mod session;

use std::ffi::{c_char, c_int};

use crate::abi::constants::MPI_COMM_NULL;
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Comm, MPI_Info};
use crate::call::{mpi_fn, unsupported};
use crate::coll::plan;
use crate::comm::communicator as comm;
use crate::layer::library::library;
use crate::object::site::Site;

// Starting processes.
unsupported! {
    "11.8";
    fn MPI_Comm_spawn / PMPI_Comm_spawn(command: In<c_char>, argv: Out<*mut c_char>, maxprocs: c_int,
        info: MPI_Info, root: c_int, comm: MPI_Comm, intercomm: Out<MPI_Comm>, array_of_errcodes: Out<c_int>);
    fn MPI_Comm_spawn_multiple / PMPI_Comm_spawn_multiple(count: c_int, array_of_commands: Out<*mut c_char>,
        array_of_argv: Out<*mut *mut c_char>, array_of_maxprocs: In<c_int>, array_of_info: In<MPI_Info>,
        root: c_int, comm: MPI_Comm, intercomm: Out<MPI_Comm>, array_of_errcodes: Out<c_int>);
}

// Connecting jobs.
unsupported! {
    "11.9";
    fn MPI_Open_port / PMPI_Open_port(info: MPI_Info, port_name: Out<c_char>);
    fn MPI_Close_port / PMPI_Close_port(port_name: In<c_char>);
    fn MPI_Comm_accept / PMPI_Comm_accept(port_name: In<c_char>, info: MPI_Info, root: c_int, comm: MPI_Comm,
        newcomm: Out<MPI_Comm>);
    fn MPI_Comm_connect / PMPI_Comm_connect(port_name: In<c_char>, info: MPI_Info, root: c_int,
        comm: MPI_Comm, newcomm: Out<MPI_Comm>);
    fn MPI_Publish_name / PMPI_Publish_name(service_name: In<c_char>, info: MPI_Info, port_name: In<c_char>);
    fn MPI_Unpublish_name / PMPI_Unpublish_name(service_name: In<c_char>, info: MPI_Info,
        port_name: In<c_char>);
    fn MPI_Lookup_name / PMPI_Lookup_name(service_name: In<c_char>, info: MPI_Info, port_name: Out<c_char>);
}

// Leaving and joining.
unsupported! {
    "11.10";
    fn MPI_Comm_join / PMPI_Comm_join(fd: c_int, intercomm: Out<MPI_Comm>);
}

mpi_fn! {
    /// MPI-5.0 §11.8.2. No process was started by another one yet, so there is no parent.
    fn MPI_Comm_get_parent / PMPI_Comm_get_parent(parent: Out<MPI_Comm>) raises Site::Process => {
        parent.set("parent", MPI_COMM_NULL)
    }
    /// MPI-5.0 §11.10.4. The program has completed its requests; what is still to be delivered arrives before the
    /// members leave together.
    fn MPI_Comm_disconnect / PMPI_Comm_disconnect(comm: Out<MPI_Comm>) raises comm::site_of(comm) => {
        let handle = comm.get("comm")?;
        comm::check_freeable(handle)?;
        library().world.run(plan::barrier(&*plan::member(handle)?)?)?;
        comm::free(comm)
    }
}
