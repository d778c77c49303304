//! How many datatypes MPI_ALLTOALLW and its like have: one for each process that data goes to or comes from.

use crate::abi::{CART, DIST_GRAPH, GRAPH, IN_PLACE};
use crate::argument::{Address, Handle, Integer};
use crate::c;

/// `len`, or 0 where the buffer is MPI_IN_PLACE and what belongs to it is not read.
pub(crate) fn unless_in_place(buffer: Address, len: impl FnOnce() -> Integer) -> Integer {
    if buffer as usize == IN_PLACE { 0 } else { len() }
}

/// The processes of a communicator, of an intercommunicator those of the other group.
///
/// # Safety
/// MPI is initialised; a wrong handle has no processes.
pub(crate) unsafe fn peers(comm: Handle) -> Integer {
    let (mut is_inter, mut size): (Integer, Integer) = (0, 0);
    // SAFETY: C writes into these variables.
    unsafe {
        if c::PMPI_Comm_test_inter(comm, (&raw mut is_inter).cast()) == 0 {
            let count = if is_inter != 0 { c::PMPI_Comm_remote_size } else { c::PMPI_Comm_size };
            count(comm, (&raw mut size).cast());
        }
    }
    size
}

/// The neighbours that data goes to.
///
/// # Safety
/// As of [`peers`].
pub(crate) unsafe fn destinations(comm: Handle) -> Integer {
    // SAFETY: as promised.
    unsafe { neighbors(comm, |_, out_degree| out_degree) }
}

/// The neighbours that data comes from.
///
/// # Safety
/// As of [`peers`].
pub(crate) unsafe fn sources(comm: Handle) -> Integer {
    // SAFETY: as promised.
    unsafe { neighbors(comm, |in_degree, _| in_degree) }
}

unsafe fn neighbors(comm: Handle, chosen: fn(Integer, Integer) -> Integer) -> Integer {
    let (mut kind, mut first, mut second): (Integer, Integer, Integer) = (0, 0, 0);
    // SAFETY: C writes into these variables.
    unsafe {
        if c::PMPI_Topo_test(comm, (&raw mut kind).cast()) != 0 {
            return 0;
        }
        match kind {
            CART => {
                c::PMPI_Cartdim_get(comm, (&raw mut first).cast());
                2 * first
            }
            GRAPH => {
                c::PMPI_Comm_rank(comm, (&raw mut first).cast());
                c::PMPI_Graph_neighbors_count(comm, first, (&raw mut second).cast());
                second
            }
            DIST_GRAPH => {
                let mut weighted: Integer = 0;
                let weighted = (&raw mut weighted).cast();
                let (ins, outs) = ((&raw mut first).cast(), (&raw mut second).cast());
                c::PMPI_Dist_graph_neighbors_count(comm, ins, outs, weighted);
                chosen(first, second)
            }
            _ => 0,
        }
    }
}
