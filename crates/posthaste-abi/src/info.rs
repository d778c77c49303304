//! C functions for info objects (MPI-5.0 chapter 10).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_char, c_int};

use crate::call::unsupported;
use crate::pointer::{In, Out};
use crate::types::MPI_Info;

// Info.
unsupported! {
    "10";
    fn MPI_Info_create / PMPI_Info_create(info: Out<MPI_Info>);
    fn MPI_Info_create_env / PMPI_Info_create_env(argc: c_int, argv: Out<*mut c_char>, info: Out<MPI_Info>);
    fn MPI_Info_delete / PMPI_Info_delete(info: MPI_Info, key: In<c_char>);
    fn MPI_Info_dup / PMPI_Info_dup(info: MPI_Info, newinfo: Out<MPI_Info>);
    fn MPI_Info_free / PMPI_Info_free(info: Out<MPI_Info>);
    fn MPI_Info_get_nkeys / PMPI_Info_get_nkeys(info: MPI_Info, nkeys: Out<c_int>);
    fn MPI_Info_get_nthkey / PMPI_Info_get_nthkey(info: MPI_Info, n: c_int, key: Out<c_char>);
    fn MPI_Info_get_string / PMPI_Info_get_string(info: MPI_Info, key: In<c_char>, buflen: Out<c_int>,
        value: Out<c_char>, flag: Out<c_int>);
    fn MPI_Info_set / PMPI_Info_set(info: MPI_Info, key: In<c_char>, value: In<c_char>);
}

// Deprecated names.
unsupported! {
    "16.1";
    fn MPI_Info_get / PMPI_Info_get(info: MPI_Info, key: In<c_char>, valuelen: c_int, value: Out<c_char>,
        flag: Out<c_int>);
    fn MPI_Info_get_valuelen / PMPI_Info_get_valuelen(info: MPI_Info, key: In<c_char>, valuelen: Out<c_int>,
        flag: Out<c_int>);
}
