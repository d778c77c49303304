//! C functions for attributes of communicators, windows and datatypes (MPI-5.0 §7.7).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_int, c_void};

use crate::call::unsupported;
use crate::pointer::Out;
use crate::types::{
    MPI_Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function, MPI_Copy_function, MPI_Datatype,
    MPI_Delete_function, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function, MPI_Win,
    MPI_Win_copy_attr_function, MPI_Win_delete_attr_function,
};

// Communicators.
unsupported! {
    "7.7.2";
    fn MPI_Comm_create_keyval / PMPI_Comm_create_keyval(comm_copy_attr_fn: MPI_Comm_copy_attr_function,
        comm_delete_attr_fn: MPI_Comm_delete_attr_function, comm_keyval: Out<c_int>,
        extra_state: *mut c_void);
    fn MPI_Comm_free_keyval / PMPI_Comm_free_keyval(comm_keyval: Out<c_int>);
    fn MPI_Comm_set_attr / PMPI_Comm_set_attr(comm: MPI_Comm, comm_keyval: c_int, attribute_val: *mut c_void);
    fn MPI_Comm_get_attr / PMPI_Comm_get_attr(comm: MPI_Comm, comm_keyval: c_int, attribute_val: *mut c_void,
        flag: Out<c_int>);
    fn MPI_Comm_delete_attr / PMPI_Comm_delete_attr(comm: MPI_Comm, comm_keyval: c_int);
}

// Windows.
unsupported! {
    "7.7.3";
    fn MPI_Win_create_keyval / PMPI_Win_create_keyval(win_copy_attr_fn: MPI_Win_copy_attr_function,
        win_delete_attr_fn: MPI_Win_delete_attr_function, win_keyval: Out<c_int>, extra_state: *mut c_void);
    fn MPI_Win_free_keyval / PMPI_Win_free_keyval(win_keyval: Out<c_int>);
    fn MPI_Win_set_attr / PMPI_Win_set_attr(win: MPI_Win, win_keyval: c_int, attribute_val: *mut c_void);
    fn MPI_Win_get_attr / PMPI_Win_get_attr(win: MPI_Win, win_keyval: c_int, attribute_val: *mut c_void,
        flag: Out<c_int>);
    fn MPI_Win_delete_attr / PMPI_Win_delete_attr(win: MPI_Win, win_keyval: c_int);
}

// Datatypes.
unsupported! {
    "7.7.4";
    fn MPI_Type_create_keyval / PMPI_Type_create_keyval(type_copy_attr_fn: MPI_Type_copy_attr_function,
        type_delete_attr_fn: MPI_Type_delete_attr_function, type_keyval: Out<c_int>,
        extra_state: *mut c_void);
    fn MPI_Type_free_keyval / PMPI_Type_free_keyval(type_keyval: Out<c_int>);
    fn MPI_Type_set_attr / PMPI_Type_set_attr(datatype: MPI_Datatype, type_keyval: c_int,
        attribute_val: *mut c_void);
    fn MPI_Type_get_attr / PMPI_Type_get_attr(datatype: MPI_Datatype, type_keyval: c_int,
        attribute_val: *mut c_void, flag: Out<c_int>);
    fn MPI_Type_delete_attr / PMPI_Type_delete_attr(datatype: MPI_Datatype, type_keyval: c_int);
}

// Deprecated names.
unsupported! {
    "16.1";
    fn MPI_Keyval_create / PMPI_Keyval_create(copy_fn: MPI_Copy_function, delete_fn: MPI_Delete_function,
        keyval: Out<c_int>, extra_state: *mut c_void);
    fn MPI_Keyval_free / PMPI_Keyval_free(keyval: Out<c_int>);
    fn MPI_Attr_put / PMPI_Attr_put(comm: MPI_Comm, keyval: c_int, attribute_val: *mut c_void);
    fn MPI_Attr_get / PMPI_Attr_get(comm: MPI_Comm, keyval: c_int, attribute_val: *mut c_void,
        flag: Out<c_int>);
    fn MPI_Attr_delete / PMPI_Attr_delete(comm: MPI_Comm, keyval: c_int);
}
