//! C functions for sessions, for starting processes and for connecting jobs (MPI-5.0 §11.3, §11.8 to §11.10).

pub mod ports;
pub mod session;
pub mod spawn;

use crate::abi::pointer::Out;
use crate::abi::types::MPI_Comm;
use crate::call::mpi_fn;
use crate::comm::communicator as comm;
use crate::layer::library::library;
use crate::object::communicator;

mpi_fn! {
    /// MPI-5.0 §11.10.4. The program has completed its requests; what is still to be delivered arrives before the
    /// members leave together.
    fn MPI_Comm_disconnect / PMPI_Comm_disconnect(comm: Out<MPI_Comm>) raises comm::site_of(comm) => {
        let handle = comm.get("comm")?;
        comm::check_freeable(handle)?;
        let found = communicator::find("comm", handle)?;
        library().world.disconnect(&found)?;
        drop(found);
        comm::free(comm)
    }
}
