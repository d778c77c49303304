//! C functions for jobs that find each other: ports, names of services, sockets (MPI-5.0 §11.9, §11.10.5).

use std::ffi::{c_char, c_int};

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::meeting::time_limit;

use crate::abi::constants::{MPI_COMM_NULL, MPI_MAX_PORT_NAME};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Comm, MPI_Info};
use crate::call::mpi_fn;
use crate::layer::library::library;
use crate::mapping::ranks::rank_in;
use crate::object::site::Site;
use crate::object::{communicator, info};

// Ports.
mpi_fn! {
    /// MPI-5.0 §11.9.2
    fn MPI_Open_port / PMPI_Open_port(info: MPI_Info, port_name: Out<c_char>) raises Site::Process => {
        info::hints(info)?;
        port_name.ready("port_name")?;
        set_port(port_name, &library().world.open_port()?)
    }
    /// MPI-5.0 §11.9.2
    fn MPI_Close_port / PMPI_Close_port(port_name: In<c_char>) raises Site::Process => {
        library().world.close_port(&port_name.text("port_name")?)
    }
    /// MPI-5.0 §11.9.2. Only the root looks at `port_name` and `info`.
    fn MPI_Comm_accept / PMPI_Comm_accept(port_name: In<c_char>, info: MPI_Info, root: c_int, comm: MPI_Comm,
        newcomm: Out<MPI_Comm>) raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        let (comm, root) = (communicator::find("comm", comm)?, rank_in(root));
        let port = || Ok((port_name.text("port_name")?, time_limit(&*info::hints(info)?)?));
        let made = library().world.accept("MPI_Comm_accept", &comm, root, port)?;
        newcomm.set("newcomm", communicator::store(Some(made))?)
    }
    /// MPI-5.0 §11.9.3. Only the root looks at `port_name` and `info`.
    fn MPI_Comm_connect / PMPI_Comm_connect(port_name: In<c_char>, info: MPI_Info, root: c_int,
        comm: MPI_Comm, newcomm: Out<MPI_Comm>) raises comm => {
        newcomm.set("newcomm", MPI_COMM_NULL)?;
        let (comm, root) = (communicator::find("comm", comm)?, rank_in(root));
        let port = || Ok((port_name.text("port_name")?, time_limit(&*info::hints(info)?)?));
        let made = library().world.connect("MPI_Comm_connect", &comm, root, port)?;
        newcomm.set("newcomm", communicator::store(Some(made))?)
    }
}

// Names of services.
mpi_fn! {
    /// MPI-5.0 §11.9.4
    fn MPI_Publish_name / PMPI_Publish_name(service_name: In<c_char>, info: MPI_Info, port_name: In<c_char>)
        raises Site::Process => {
        info::hints(info)?;
        let (service, port) = (service_name.text("service_name")?, port_name.text("port_name")?);
        if port.len() >= MPI_MAX_PORT_NAME as usize {
            let expected = format_args!("less than {MPI_MAX_PORT_NAME} bytes (MPI_MAX_PORT_NAME)");
            return Err(Error::invalid(ErrorClass::Arg, "port_name", format_args!("{} bytes long", port.len()), expected));
        }
        library().world.publish_name("MPI_Publish_name", &service, &port)
    }
    /// MPI-5.0 §11.9.4
    fn MPI_Unpublish_name / PMPI_Unpublish_name(service_name: In<c_char>, info: MPI_Info,
        port_name: In<c_char>) raises Site::Process => {
        info::hints(info)?;
        let (service, port) = (service_name.text("service_name")?, port_name.text("port_name")?);
        library().world.unpublish_name("MPI_Unpublish_name", &service, &port)
    }
    /// MPI-5.0 §11.9.4
    fn MPI_Lookup_name / PMPI_Lookup_name(service_name: In<c_char>, info: MPI_Info, port_name: Out<c_char>)
        raises Site::Process => {
        info::hints(info)?;
        port_name.ready("port_name")?;
        let service = service_name.text("service_name")?;
        set_port(port_name, &library().world.look_up_name("MPI_Lookup_name", &service)?)
    }
}

// Sockets.
mpi_fn! {
    /// MPI-5.0 §11.10.5
    fn MPI_Comm_join / PMPI_Comm_join(fd: c_int, intercomm: Out<MPI_Comm>) raises Site::Process => {
        intercomm.set("intercomm", MPI_COMM_NULL)?;
        let made = library().world.join_over(fd)?;
        intercomm.set("intercomm", communicator::store(Some(made))?)
    }
}

fn set_port(place: Out<c_char>, name: &str) -> Result<()> {
    place.set_text("port_name", name, MPI_MAX_PORT_NAME as usize).map(drop)
}
