//! C functions for error handlers, classes, codes and strings (MPI-5.0 §9.3 to §9.5).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_char, c_int};

use crate::call::unsupported;
use crate::pointer::{In, Out};
use crate::types::{
    MPI_Comm, MPI_Comm_errhandler_function, MPI_Errhandler, MPI_File, MPI_File_errhandler_function,
    MPI_Session, MPI_Session_errhandler_function, MPI_Win, MPI_Win_errhandler_function,
};

// Error handlers.
unsupported! {
    "9.3";
    fn MPI_Comm_create_errhandler / PMPI_Comm_create_errhandler(
        comm_errhandler_fn: MPI_Comm_errhandler_function, errhandler: Out<MPI_Errhandler>);
    fn MPI_Comm_set_errhandler / PMPI_Comm_set_errhandler(comm: MPI_Comm, errhandler: MPI_Errhandler);
    fn MPI_Comm_get_errhandler / PMPI_Comm_get_errhandler(comm: MPI_Comm, errhandler: Out<MPI_Errhandler>);
    fn MPI_Comm_call_errhandler / PMPI_Comm_call_errhandler(comm: MPI_Comm, errorcode: c_int);
    fn MPI_Win_create_errhandler / PMPI_Win_create_errhandler(win_errhandler_fn: MPI_Win_errhandler_function,
        errhandler: Out<MPI_Errhandler>);
    fn MPI_Win_set_errhandler / PMPI_Win_set_errhandler(win: MPI_Win, errhandler: MPI_Errhandler);
    fn MPI_Win_get_errhandler / PMPI_Win_get_errhandler(win: MPI_Win, errhandler: Out<MPI_Errhandler>);
    fn MPI_Win_call_errhandler / PMPI_Win_call_errhandler(win: MPI_Win, errorcode: c_int);
    fn MPI_File_create_errhandler / PMPI_File_create_errhandler(
        file_errhandler_fn: MPI_File_errhandler_function, errhandler: Out<MPI_Errhandler>);
    fn MPI_File_set_errhandler / PMPI_File_set_errhandler(file: MPI_File, errhandler: MPI_Errhandler);
    fn MPI_File_get_errhandler / PMPI_File_get_errhandler(file: MPI_File, errhandler: Out<MPI_Errhandler>);
    fn MPI_File_call_errhandler / PMPI_File_call_errhandler(fh: MPI_File, errorcode: c_int);
    fn MPI_Session_create_errhandler / PMPI_Session_create_errhandler(
        session_errhandler_fn: MPI_Session_errhandler_function, errhandler: Out<MPI_Errhandler>);
    fn MPI_Session_set_errhandler / PMPI_Session_set_errhandler(session: MPI_Session,
        errhandler: MPI_Errhandler);
    fn MPI_Session_get_errhandler / PMPI_Session_get_errhandler(session: MPI_Session,
        errhandler: Out<MPI_Errhandler>);
    fn MPI_Session_call_errhandler / PMPI_Session_call_errhandler(session: MPI_Session, errorcode: c_int);
    fn MPI_Errhandler_free / PMPI_Errhandler_free(errhandler: Out<MPI_Errhandler>);
}

// Error codes and classes.
unsupported! {
    "9.4";
    fn MPI_Error_class / PMPI_Error_class(errorcode: c_int, errorclass: Out<c_int>);
    fn MPI_Error_string / PMPI_Error_string(errorcode: c_int, string: Out<c_char>, resultlen: Out<c_int>);
}

// Error classes, codes and strings of the user.
unsupported! {
    "9.5";
    fn MPI_Add_error_class / PMPI_Add_error_class(errorclass: Out<c_int>);
    fn MPI_Remove_error_class / PMPI_Remove_error_class(errorclass: c_int);
    fn MPI_Add_error_code / PMPI_Add_error_code(errorclass: c_int, errorcode: Out<c_int>);
    fn MPI_Remove_error_code / PMPI_Remove_error_code(errorcode: c_int);
    fn MPI_Add_error_string / PMPI_Add_error_string(errorcode: c_int, string: In<c_char>);
    fn MPI_Remove_error_string / PMPI_Remove_error_string(errorcode: c_int);
}
