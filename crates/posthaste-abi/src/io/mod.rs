//! C functions for files (MPI-5.0 chapter 14).

use std::ffi::{c_char, c_int, c_void};

use crate::abi::pointer::{In, Out};
use crate::abi::types::{
    MPI_Aint, MPI_Comm, MPI_Count, MPI_Datarep_conversion_function, MPI_Datarep_conversion_function_c,
    MPI_Datarep_extent_function, MPI_Datatype, MPI_File, MPI_Group, MPI_Info, MPI_Offset, MPI_Request,
    MPI_Status,
};
use crate::call::unsupported;

// File manipulation.
unsupported! {
    "14.2";
    fn MPI_File_open / PMPI_File_open(comm: MPI_Comm, filename: In<c_char>, amode: c_int, info: MPI_Info,
        fh: Out<MPI_File>);
    fn MPI_File_close / PMPI_File_close(fh: Out<MPI_File>);
    fn MPI_File_delete / PMPI_File_delete(filename: In<c_char>, info: MPI_Info);
    fn MPI_File_set_size / PMPI_File_set_size(fh: MPI_File, size: MPI_Offset);
    fn MPI_File_preallocate / PMPI_File_preallocate(fh: MPI_File, size: MPI_Offset);
    fn MPI_File_get_size / PMPI_File_get_size(fh: MPI_File, size: Out<MPI_Offset>);
    fn MPI_File_get_group / PMPI_File_get_group(fh: MPI_File, group: Out<MPI_Group>);
    fn MPI_File_get_amode / PMPI_File_get_amode(fh: MPI_File, amode: Out<c_int>);
    fn MPI_File_set_info / PMPI_File_set_info(fh: MPI_File, info: MPI_Info);
    fn MPI_File_get_info / PMPI_File_get_info(fh: MPI_File, info_used: Out<MPI_Info>);
}

// Views.
unsupported! {
    "14.3";
    fn MPI_File_set_view / PMPI_File_set_view(fh: MPI_File, disp: MPI_Offset, etype: MPI_Datatype,
        filetype: MPI_Datatype, datarep: In<c_char>, info: MPI_Info);
    fn MPI_File_get_view / PMPI_File_get_view(fh: MPI_File, disp: Out<MPI_Offset>, etype: Out<MPI_Datatype>,
        filetype: Out<MPI_Datatype>, datarep: Out<c_char>);
}

// Access at explicit offsets.
unsupported! {
    "14.4.2";
    fn MPI_File_read_at / PMPI_File_read_at(fh: MPI_File, offset: MPI_Offset, buf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_read_at_c / PMPI_File_read_at_c(fh: MPI_File, offset: MPI_Offset, buf: *mut c_void,
        count: MPI_Count, datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_read_at_all / PMPI_File_read_at_all(fh: MPI_File, offset: MPI_Offset, buf: *mut c_void,
        count: c_int, datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_read_at_all_c / PMPI_File_read_at_all_c(fh: MPI_File, offset: MPI_Offset, buf: *mut c_void,
        count: MPI_Count, datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write_at / PMPI_File_write_at(fh: MPI_File, offset: MPI_Offset, buf: *const c_void,
        count: c_int, datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write_at_c / PMPI_File_write_at_c(fh: MPI_File, offset: MPI_Offset, buf: *const c_void,
        count: MPI_Count, datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write_at_all / PMPI_File_write_at_all(fh: MPI_File, offset: MPI_Offset, buf: *const c_void,
        count: c_int, datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write_at_all_c / PMPI_File_write_at_all_c(fh: MPI_File, offset: MPI_Offset,
        buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_iread_at / PMPI_File_iread_at(fh: MPI_File, offset: MPI_Offset, buf: *mut c_void,
        count: c_int, datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iread_at_c / PMPI_File_iread_at_c(fh: MPI_File, offset: MPI_Offset, buf: *mut c_void,
        count: MPI_Count, datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iread_at_all / PMPI_File_iread_at_all(fh: MPI_File, offset: MPI_Offset, buf: *mut c_void,
        count: c_int, datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iread_at_all_c / PMPI_File_iread_at_all_c(fh: MPI_File, offset: MPI_Offset, buf: *mut c_void,
        count: MPI_Count, datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iwrite_at / PMPI_File_iwrite_at(fh: MPI_File, offset: MPI_Offset, buf: *const c_void,
        count: c_int, datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iwrite_at_c / PMPI_File_iwrite_at_c(fh: MPI_File, offset: MPI_Offset, buf: *const c_void,
        count: MPI_Count, datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iwrite_at_all / PMPI_File_iwrite_at_all(fh: MPI_File, offset: MPI_Offset, buf: *const c_void,
        count: c_int, datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iwrite_at_all_c / PMPI_File_iwrite_at_all_c(fh: MPI_File, offset: MPI_Offset,
        buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype, request: Out<MPI_Request>);
}

// Access at individual file pointers.
unsupported! {
    "14.4.3";
    fn MPI_File_read / PMPI_File_read(fh: MPI_File, buf: *mut c_void, count: c_int, datatype: MPI_Datatype,
        status: Out<MPI_Status>);
    fn MPI_File_read_c / PMPI_File_read_c(fh: MPI_File, buf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_read_all / PMPI_File_read_all(fh: MPI_File, buf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_read_all_c / PMPI_File_read_all_c(fh: MPI_File, buf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write / PMPI_File_write(fh: MPI_File, buf: *const c_void, count: c_int,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write_c / PMPI_File_write_c(fh: MPI_File, buf: *const c_void, count: MPI_Count,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write_all / PMPI_File_write_all(fh: MPI_File, buf: *const c_void, count: c_int,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write_all_c / PMPI_File_write_all_c(fh: MPI_File, buf: *const c_void, count: MPI_Count,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_iread / PMPI_File_iread(fh: MPI_File, buf: *mut c_void, count: c_int, datatype: MPI_Datatype,
        request: Out<MPI_Request>);
    fn MPI_File_iread_c / PMPI_File_iread_c(fh: MPI_File, buf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iread_all / PMPI_File_iread_all(fh: MPI_File, buf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iread_all_c / PMPI_File_iread_all_c(fh: MPI_File, buf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iwrite / PMPI_File_iwrite(fh: MPI_File, buf: *const c_void, count: c_int,
        datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iwrite_c / PMPI_File_iwrite_c(fh: MPI_File, buf: *const c_void, count: MPI_Count,
        datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iwrite_all / PMPI_File_iwrite_all(fh: MPI_File, buf: *const c_void, count: c_int,
        datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iwrite_all_c / PMPI_File_iwrite_all_c(fh: MPI_File, buf: *const c_void, count: MPI_Count,
        datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_seek / PMPI_File_seek(fh: MPI_File, offset: MPI_Offset, whence: c_int);
    fn MPI_File_get_position / PMPI_File_get_position(fh: MPI_File, offset: Out<MPI_Offset>);
    fn MPI_File_get_byte_offset / PMPI_File_get_byte_offset(fh: MPI_File, offset: MPI_Offset,
        disp: Out<MPI_Offset>);
}

// Access at the shared file pointer.
unsupported! {
    "14.4.4";
    fn MPI_File_read_shared / PMPI_File_read_shared(fh: MPI_File, buf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_read_shared_c / PMPI_File_read_shared_c(fh: MPI_File, buf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write_shared / PMPI_File_write_shared(fh: MPI_File, buf: *const c_void, count: c_int,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write_shared_c / PMPI_File_write_shared_c(fh: MPI_File, buf: *const c_void, count: MPI_Count,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_iread_shared / PMPI_File_iread_shared(fh: MPI_File, buf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iread_shared_c / PMPI_File_iread_shared_c(fh: MPI_File, buf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iwrite_shared / PMPI_File_iwrite_shared(fh: MPI_File, buf: *const c_void, count: c_int,
        datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_iwrite_shared_c / PMPI_File_iwrite_shared_c(fh: MPI_File, buf: *const c_void,
        count: MPI_Count, datatype: MPI_Datatype, request: Out<MPI_Request>);
    fn MPI_File_read_ordered / PMPI_File_read_ordered(fh: MPI_File, buf: *mut c_void, count: c_int,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_read_ordered_c / PMPI_File_read_ordered_c(fh: MPI_File, buf: *mut c_void, count: MPI_Count,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write_ordered / PMPI_File_write_ordered(fh: MPI_File, buf: *const c_void, count: c_int,
        datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_write_ordered_c / PMPI_File_write_ordered_c(fh: MPI_File, buf: *const c_void,
        count: MPI_Count, datatype: MPI_Datatype, status: Out<MPI_Status>);
    fn MPI_File_seek_shared / PMPI_File_seek_shared(fh: MPI_File, offset: MPI_Offset, whence: c_int);
    fn MPI_File_get_position_shared / PMPI_File_get_position_shared(fh: MPI_File, offset: Out<MPI_Offset>);
}

// Split collective access.
unsupported! {
    "14.4.5";
    fn MPI_File_read_at_all_begin / PMPI_File_read_at_all_begin(fh: MPI_File, offset: MPI_Offset,
        buf: *mut c_void, count: c_int, datatype: MPI_Datatype);
    fn MPI_File_read_at_all_begin_c / PMPI_File_read_at_all_begin_c(fh: MPI_File, offset: MPI_Offset,
        buf: *mut c_void, count: MPI_Count, datatype: MPI_Datatype);
    fn MPI_File_read_at_all_end / PMPI_File_read_at_all_end(fh: MPI_File, buf: *mut c_void,
        status: Out<MPI_Status>);
    fn MPI_File_write_at_all_begin / PMPI_File_write_at_all_begin(fh: MPI_File, offset: MPI_Offset,
        buf: *const c_void, count: c_int, datatype: MPI_Datatype);
    fn MPI_File_write_at_all_begin_c / PMPI_File_write_at_all_begin_c(fh: MPI_File, offset: MPI_Offset,
        buf: *const c_void, count: MPI_Count, datatype: MPI_Datatype);
    fn MPI_File_write_at_all_end / PMPI_File_write_at_all_end(fh: MPI_File, buf: *const c_void,
        status: Out<MPI_Status>);
    fn MPI_File_read_all_begin / PMPI_File_read_all_begin(fh: MPI_File, buf: *mut c_void, count: c_int,
        datatype: MPI_Datatype);
    fn MPI_File_read_all_begin_c / PMPI_File_read_all_begin_c(fh: MPI_File, buf: *mut c_void,
        count: MPI_Count, datatype: MPI_Datatype);
    fn MPI_File_read_all_end / PMPI_File_read_all_end(fh: MPI_File, buf: *mut c_void,
        status: Out<MPI_Status>);
    fn MPI_File_write_all_begin / PMPI_File_write_all_begin(fh: MPI_File, buf: *const c_void, count: c_int,
        datatype: MPI_Datatype);
    fn MPI_File_write_all_begin_c / PMPI_File_write_all_begin_c(fh: MPI_File, buf: *const c_void,
        count: MPI_Count, datatype: MPI_Datatype);
    fn MPI_File_write_all_end / PMPI_File_write_all_end(fh: MPI_File, buf: *const c_void,
        status: Out<MPI_Status>);
    fn MPI_File_read_ordered_begin / PMPI_File_read_ordered_begin(fh: MPI_File, buf: *mut c_void,
        count: c_int, datatype: MPI_Datatype);
    fn MPI_File_read_ordered_begin_c / PMPI_File_read_ordered_begin_c(fh: MPI_File, buf: *mut c_void,
        count: MPI_Count, datatype: MPI_Datatype);
    fn MPI_File_read_ordered_end / PMPI_File_read_ordered_end(fh: MPI_File, buf: *mut c_void,
        status: Out<MPI_Status>);
    fn MPI_File_write_ordered_begin / PMPI_File_write_ordered_begin(fh: MPI_File, buf: *const c_void,
        count: c_int, datatype: MPI_Datatype);
    fn MPI_File_write_ordered_begin_c / PMPI_File_write_ordered_begin_c(fh: MPI_File, buf: *const c_void,
        count: MPI_Count, datatype: MPI_Datatype);
    fn MPI_File_write_ordered_end / PMPI_File_write_ordered_end(fh: MPI_File, buf: *const c_void,
        status: Out<MPI_Status>);
}

// Data representations.
unsupported! {
    "14.5";
    fn MPI_File_get_type_extent / PMPI_File_get_type_extent(fh: MPI_File, datatype: MPI_Datatype,
        extent: Out<MPI_Aint>);
    fn MPI_File_get_type_extent_c / PMPI_File_get_type_extent_c(fh: MPI_File, datatype: MPI_Datatype,
        extent: Out<MPI_Count>);
    fn MPI_Register_datarep / PMPI_Register_datarep(datarep: In<c_char>,
        read_conversion_fn: MPI_Datarep_conversion_function,
        write_conversion_fn: MPI_Datarep_conversion_function,
        dtype_file_extent_fn: MPI_Datarep_extent_function, extra_state: *mut c_void);
    fn MPI_Register_datarep_c / PMPI_Register_datarep_c(datarep: In<c_char>,
        read_conversion_fn: MPI_Datarep_conversion_function_c,
        write_conversion_fn: MPI_Datarep_conversion_function_c,
        dtype_file_extent_fn: MPI_Datarep_extent_function, extra_state: *mut c_void);
}

// Consistency.
unsupported! {
    "14.6";
    fn MPI_File_set_atomicity / PMPI_File_set_atomicity(fh: MPI_File, flag: c_int);
    fn MPI_File_get_atomicity / PMPI_File_get_atomicity(fh: MPI_File, flag: Out<c_int>);
    fn MPI_File_sync / PMPI_File_sync(fh: MPI_File);
}
