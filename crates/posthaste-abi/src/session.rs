//! C functions for sessions (MPI-5.0 §11.3).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_char, c_int};

use crate::call::unsupported;
use crate::pointer::{In, Out};
use crate::types::{MPI_Errhandler, MPI_Info, MPI_Session};

// Sessions.
unsupported! {
    "11.3";
    fn MPI_Session_init / PMPI_Session_init(info: MPI_Info, errhandler: MPI_Errhandler,
        session: Out<MPI_Session>);
    fn MPI_Session_finalize / PMPI_Session_finalize(session: Out<MPI_Session>);
    fn MPI_Session_get_num_psets / PMPI_Session_get_num_psets(session: MPI_Session, info: MPI_Info,
        npset_names: Out<c_int>);
    fn MPI_Session_get_nth_pset / PMPI_Session_get_nth_pset(session: MPI_Session, info: MPI_Info, n: c_int,
        pset_len: Out<c_int>, pset_name: Out<c_char>);
    fn MPI_Session_get_info / PMPI_Session_get_info(session: MPI_Session, info_used: Out<MPI_Info>);
    fn MPI_Session_get_pset_info / PMPI_Session_get_pset_info(session: MPI_Session, pset_name: In<c_char>,
        info: Out<MPI_Info>);
}
