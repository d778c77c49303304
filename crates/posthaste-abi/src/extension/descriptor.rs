//! A descriptor of this process for event loops, and which requests make it readable: `core::world::descriptor`.

use std::ffi::c_int;
use std::os::fd::{AsFd, AsRawFd};
use std::task::Waker;

use crate::abi::pointer::Out;
use crate::abi::types::MPI_Request;
use crate::call::extension_fn;
use crate::extension::handlers::find;
use crate::layer::library::library;

extension_fn! {
    /// Tells the descriptor of this process, and starts the progress thread if there is none.
    fn Posthaste_Get_fd(fd: Out<c_int>) {
        fd.ready("fd")?;
        let bell = library().world.bell()?;
        Ok(fd.set("fd", bell.as_fd().as_raw_fd())?)
    }

    /// Makes the descriptor unreadable until the next request finishes.
    fn Posthaste_Drain_fd() {
        library().world.bell()?.drain();
        Ok(())
    }

    /// Has the descriptor become readable when a request is finished, or now if it is.
    fn Posthaste_Request_watch(request: MPI_Request) {
        let (vci, id) = find(request)?;
        drop(vci);
        let world = &library().world;
        world.watch(id, &Waker::from(world.bell()?));
        Ok(())
    }
}
