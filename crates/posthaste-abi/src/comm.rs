//! C functions for communicators and intercommunicators (MPI-5.0 §7.4, §7.6).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_char, c_int};

use crate::call::unsupported;
use crate::pointer::{In, Out};
use crate::types::{MPI_Comm, MPI_Errhandler, MPI_Group, MPI_Info, MPI_Request};

// Communicator accessors.
unsupported! {
    "7.4.1";
    fn MPI_Comm_size / PMPI_Comm_size(comm: MPI_Comm, size: Out<c_int>);
    fn MPI_Comm_rank / PMPI_Comm_rank(comm: MPI_Comm, rank: Out<c_int>);
    fn MPI_Comm_compare / PMPI_Comm_compare(comm1: MPI_Comm, comm2: MPI_Comm, result: Out<c_int>);
}

// Communicator constructors.
unsupported! {
    "7.4.2";
    fn MPI_Comm_dup / PMPI_Comm_dup(comm: MPI_Comm, newcomm: Out<MPI_Comm>);
    fn MPI_Comm_dup_with_info / PMPI_Comm_dup_with_info(comm: MPI_Comm, info: MPI_Info,
        newcomm: Out<MPI_Comm>);
    fn MPI_Comm_idup / PMPI_Comm_idup(comm: MPI_Comm, newcomm: Out<MPI_Comm>, request: Out<MPI_Request>);
    fn MPI_Comm_idup_with_info / PMPI_Comm_idup_with_info(comm: MPI_Comm, info: MPI_Info,
        newcomm: Out<MPI_Comm>, request: Out<MPI_Request>);
    fn MPI_Comm_create / PMPI_Comm_create(comm: MPI_Comm, group: MPI_Group, newcomm: Out<MPI_Comm>);
    fn MPI_Comm_create_group / PMPI_Comm_create_group(comm: MPI_Comm, group: MPI_Group, tag: c_int,
        newcomm: Out<MPI_Comm>);
    fn MPI_Comm_split / PMPI_Comm_split(comm: MPI_Comm, color: c_int, key: c_int, newcomm: Out<MPI_Comm>);
    fn MPI_Comm_split_type / PMPI_Comm_split_type(comm: MPI_Comm, split_type: c_int, key: c_int,
        info: MPI_Info, newcomm: Out<MPI_Comm>);
    fn MPI_Comm_create_from_group / PMPI_Comm_create_from_group(group: MPI_Group, stringtag: In<c_char>,
        info: MPI_Info, errhandler: MPI_Errhandler, newcomm: Out<MPI_Comm>);
}

// Communicator destructor.
unsupported! {
    "7.4.3";
    fn MPI_Comm_free / PMPI_Comm_free(comm: Out<MPI_Comm>);
}

// Hints.
unsupported! {
    "7.4.4";
    fn MPI_Comm_set_info / PMPI_Comm_set_info(comm: MPI_Comm, info: MPI_Info);
    fn MPI_Comm_get_info / PMPI_Comm_get_info(comm: MPI_Comm, info_used: Out<MPI_Info>);
}

// Intercommunicators.
unsupported! {
    "7.6";
    fn MPI_Comm_test_inter / PMPI_Comm_test_inter(comm: MPI_Comm, flag: Out<c_int>);
    fn MPI_Comm_remote_size / PMPI_Comm_remote_size(comm: MPI_Comm, size: Out<c_int>);
    fn MPI_Comm_remote_group / PMPI_Comm_remote_group(comm: MPI_Comm, group: Out<MPI_Group>);
    fn MPI_Intercomm_create / PMPI_Intercomm_create(local_comm: MPI_Comm, local_leader: c_int,
        peer_comm: MPI_Comm, remote_leader: c_int, tag: c_int, newintercomm: Out<MPI_Comm>);
    fn MPI_Intercomm_create_from_groups / PMPI_Intercomm_create_from_groups(local_group: MPI_Group,
        local_leader: c_int, remote_group: MPI_Group, remote_leader: c_int, stringtag: In<c_char>,
        info: MPI_Info, errhandler: MPI_Errhandler, newintercomm: Out<MPI_Comm>);
    fn MPI_Intercomm_merge / PMPI_Intercomm_merge(intercomm: MPI_Comm, high: c_int,
        newintracomm: Out<MPI_Comm>);
}

// Names.
unsupported! {
    "7.8";
    fn MPI_Comm_set_name / PMPI_Comm_set_name(comm: MPI_Comm, comm_name: In<c_char>);
    fn MPI_Comm_get_name / PMPI_Comm_get_name(comm: MPI_Comm, comm_name: Out<c_char>, resultlen: Out<c_int>);
}
