//! C functions for groups of processes (MPI-5.0 §7.3).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_char, c_int};

use crate::call::unsupported;
use crate::pointer::{In, Out};
use crate::types::{MPI_Comm, MPI_Group, MPI_Session};

// Group accessors.
unsupported! {
    "7.3.1";
    fn MPI_Group_size / PMPI_Group_size(group: MPI_Group, size: Out<c_int>);
    fn MPI_Group_rank / PMPI_Group_rank(group: MPI_Group, rank: Out<c_int>);
    fn MPI_Group_translate_ranks / PMPI_Group_translate_ranks(group1: MPI_Group, n: c_int, ranks1: In<c_int>,
        group2: MPI_Group, ranks2: Out<c_int>);
    fn MPI_Group_compare / PMPI_Group_compare(group1: MPI_Group, group2: MPI_Group, result: Out<c_int>);
}

// Group constructors.
unsupported! {
    "7.3.2";
    fn MPI_Comm_group / PMPI_Comm_group(comm: MPI_Comm, group: Out<MPI_Group>);
    fn MPI_Group_union / PMPI_Group_union(group1: MPI_Group, group2: MPI_Group, newgroup: Out<MPI_Group>);
    fn MPI_Group_intersection / PMPI_Group_intersection(group1: MPI_Group, group2: MPI_Group,
        newgroup: Out<MPI_Group>);
    fn MPI_Group_difference / PMPI_Group_difference(group1: MPI_Group, group2: MPI_Group,
        newgroup: Out<MPI_Group>);
    fn MPI_Group_incl / PMPI_Group_incl(group: MPI_Group, n: c_int, ranks: In<c_int>,
        newgroup: Out<MPI_Group>);
    fn MPI_Group_excl / PMPI_Group_excl(group: MPI_Group, n: c_int, ranks: In<c_int>,
        newgroup: Out<MPI_Group>);
    fn MPI_Group_range_incl / PMPI_Group_range_incl(group: MPI_Group, n: c_int, ranges: Out<[c_int; 3]>,
        newgroup: Out<MPI_Group>);
    fn MPI_Group_range_excl / PMPI_Group_range_excl(group: MPI_Group, n: c_int, ranges: Out<[c_int; 3]>,
        newgroup: Out<MPI_Group>);
    fn MPI_Group_from_session_pset / PMPI_Group_from_session_pset(session: MPI_Session, pset_name: In<c_char>,
        newgroup: Out<MPI_Group>);
}

// Group destructor.
unsupported! {
    "7.3.3";
    fn MPI_Group_free / PMPI_Group_free(group: Out<MPI_Group>);
}
