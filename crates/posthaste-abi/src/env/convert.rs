//! C functions for handles as integers and back, for other languages (MPI-5.0 chapter 20).
//!
//! They are for Fortran and other bindings. A handle is a number of at most 31 bits (see `handle.rs`), so its integer
//! is the handle itself; these functions never fail and may be called at any time.

use std::ffi::c_int;

use crate::abi::types::{
    MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_File, MPI_Group, MPI_Info, MPI_Message, MPI_Op, MPI_Request,
    MPI_Session, MPI_Win,
};
use crate::call::mpi_fn;

mpi_fn! {
    /// MPI-5.0 chapter 20
    fn MPI_Comm_toint / PMPI_Comm_toint(comm: MPI_Comm) -> c_int {
        comm.to_int()
    }
    /// MPI-5.0 chapter 20
    fn MPI_Comm_fromint / PMPI_Comm_fromint(comm: c_int) -> MPI_Comm {
        MPI_Comm::from_int(comm)
    }
    /// MPI-5.0 chapter 20
    fn MPI_Errhandler_toint / PMPI_Errhandler_toint(errhandler: MPI_Errhandler) -> c_int {
        errhandler.to_int()
    }
    /// MPI-5.0 chapter 20
    fn MPI_Errhandler_fromint / PMPI_Errhandler_fromint(errhandler: c_int) -> MPI_Errhandler {
        MPI_Errhandler::from_int(errhandler)
    }
    /// MPI-5.0 chapter 20
    fn MPI_File_toint / PMPI_File_toint(file: MPI_File) -> c_int {
        file.to_int()
    }
    /// MPI-5.0 chapter 20
    fn MPI_File_fromint / PMPI_File_fromint(file: c_int) -> MPI_File {
        MPI_File::from_int(file)
    }
    /// MPI-5.0 chapter 20
    fn MPI_Group_toint / PMPI_Group_toint(group: MPI_Group) -> c_int {
        group.to_int()
    }
    /// MPI-5.0 chapter 20
    fn MPI_Group_fromint / PMPI_Group_fromint(group: c_int) -> MPI_Group {
        MPI_Group::from_int(group)
    }
    /// MPI-5.0 chapter 20
    fn MPI_Info_toint / PMPI_Info_toint(info: MPI_Info) -> c_int {
        info.to_int()
    }
    /// MPI-5.0 chapter 20
    fn MPI_Info_fromint / PMPI_Info_fromint(info: c_int) -> MPI_Info {
        MPI_Info::from_int(info)
    }
    /// MPI-5.0 chapter 20
    fn MPI_Message_toint / PMPI_Message_toint(message: MPI_Message) -> c_int {
        message.to_int()
    }
    /// MPI-5.0 chapter 20
    fn MPI_Message_fromint / PMPI_Message_fromint(message: c_int) -> MPI_Message {
        MPI_Message::from_int(message)
    }
    /// MPI-5.0 chapter 20
    fn MPI_Op_toint / PMPI_Op_toint(op: MPI_Op) -> c_int {
        op.to_int()
    }
    /// MPI-5.0 chapter 20
    fn MPI_Op_fromint / PMPI_Op_fromint(op: c_int) -> MPI_Op {
        MPI_Op::from_int(op)
    }
    /// MPI-5.0 chapter 20
    fn MPI_Request_toint / PMPI_Request_toint(request: MPI_Request) -> c_int {
        request.to_int()
    }
    /// MPI-5.0 chapter 20
    fn MPI_Request_fromint / PMPI_Request_fromint(request: c_int) -> MPI_Request {
        MPI_Request::from_int(request)
    }
    /// MPI-5.0 chapter 20
    fn MPI_Session_toint / PMPI_Session_toint(session: MPI_Session) -> c_int {
        session.to_int()
    }
    /// MPI-5.0 chapter 20
    fn MPI_Session_fromint / PMPI_Session_fromint(session: c_int) -> MPI_Session {
        MPI_Session::from_int(session)
    }
    /// MPI-5.0 chapter 20
    fn MPI_Type_toint / PMPI_Type_toint(datatype: MPI_Datatype) -> c_int {
        datatype.to_int()
    }
    /// MPI-5.0 chapter 20
    fn MPI_Type_fromint / PMPI_Type_fromint(datatype: c_int) -> MPI_Datatype {
        MPI_Datatype::from_int(datatype)
    }
    /// MPI-5.0 chapter 20
    fn MPI_Win_toint / PMPI_Win_toint(win: MPI_Win) -> c_int {
        win.to_int()
    }
    /// MPI-5.0 chapter 20
    fn MPI_Win_fromint / PMPI_Win_fromint(win: c_int) -> MPI_Win {
        MPI_Win::from_int(win)
    }
}
