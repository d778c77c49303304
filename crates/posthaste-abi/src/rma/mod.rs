//! C functions for one-sided communication (MPI-5.0 chapter 12).

use std::ffi::{c_char, c_int, c_void};

use crate::abi::pointer::{In, Out};
use crate::abi::types::{
    MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Group, MPI_Info, MPI_Op, MPI_Request, MPI_Win,
};
use crate::call::unsupported;

// Windows.
unsupported! {
    "12.2";
    fn MPI_Win_create / PMPI_Win_create(base: *mut c_void, size: MPI_Aint, disp_unit: c_int, info: MPI_Info,
        comm: MPI_Comm, win: Out<MPI_Win>);
    fn MPI_Win_create_c / PMPI_Win_create_c(base: *mut c_void, size: MPI_Aint, disp_unit: MPI_Aint,
        info: MPI_Info, comm: MPI_Comm, win: Out<MPI_Win>);
    fn MPI_Win_allocate / PMPI_Win_allocate(size: MPI_Aint, disp_unit: c_int, info: MPI_Info, comm: MPI_Comm,
        baseptr: *mut c_void, win: Out<MPI_Win>);
    fn MPI_Win_allocate_c / PMPI_Win_allocate_c(size: MPI_Aint, disp_unit: MPI_Aint, info: MPI_Info,
        comm: MPI_Comm, baseptr: *mut c_void, win: Out<MPI_Win>);
    fn MPI_Win_allocate_shared / PMPI_Win_allocate_shared(size: MPI_Aint, disp_unit: c_int, info: MPI_Info,
        comm: MPI_Comm, baseptr: *mut c_void, win: Out<MPI_Win>);
    fn MPI_Win_allocate_shared_c / PMPI_Win_allocate_shared_c(size: MPI_Aint, disp_unit: MPI_Aint,
        info: MPI_Info, comm: MPI_Comm, baseptr: *mut c_void, win: Out<MPI_Win>);
    fn MPI_Win_shared_query / PMPI_Win_shared_query(win: MPI_Win, rank: c_int, size: Out<MPI_Aint>,
        disp_unit: Out<c_int>, baseptr: *mut c_void);
    fn MPI_Win_shared_query_c / PMPI_Win_shared_query_c(win: MPI_Win, rank: c_int, size: Out<MPI_Aint>,
        disp_unit: Out<MPI_Aint>, baseptr: *mut c_void);
    fn MPI_Win_create_dynamic / PMPI_Win_create_dynamic(info: MPI_Info, comm: MPI_Comm, win: Out<MPI_Win>);
    fn MPI_Win_attach / PMPI_Win_attach(win: MPI_Win, base: *mut c_void, size: MPI_Aint);
    fn MPI_Win_detach / PMPI_Win_detach(win: MPI_Win, base: *const c_void);
    fn MPI_Win_free / PMPI_Win_free(win: Out<MPI_Win>);
    fn MPI_Win_get_group / PMPI_Win_get_group(win: MPI_Win, group: Out<MPI_Group>);
    fn MPI_Win_set_info / PMPI_Win_set_info(win: MPI_Win, info: MPI_Info);
    fn MPI_Win_get_info / PMPI_Win_get_info(win: MPI_Win, info_used: Out<MPI_Info>);
    fn MPI_Win_set_name / PMPI_Win_set_name(win: MPI_Win, win_name: In<c_char>);
    fn MPI_Win_get_name / PMPI_Win_get_name(win: MPI_Win, win_name: Out<c_char>, resultlen: Out<c_int>);
}

// Communication.
unsupported! {
    "12.3";
    fn MPI_Put / PMPI_Put(origin_addr: *const c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype,
        win: MPI_Win);
    fn MPI_Put_c / PMPI_Put_c(origin_addr: *const c_void, origin_count: MPI_Count,
        origin_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count,
        target_datatype: MPI_Datatype, win: MPI_Win);
    fn MPI_Get / PMPI_Get(origin_addr: *mut c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype,
        win: MPI_Win);
    fn MPI_Get_c / PMPI_Get_c(origin_addr: *mut c_void, origin_count: MPI_Count,
        origin_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count,
        target_datatype: MPI_Datatype, win: MPI_Win);
    fn MPI_Accumulate / PMPI_Accumulate(origin_addr: *const c_void, origin_count: c_int,
        origin_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: c_int,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win);
    fn MPI_Accumulate_c / PMPI_Accumulate_c(origin_addr: *const c_void, origin_count: MPI_Count,
        origin_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win);
    fn MPI_Get_accumulate / PMPI_Get_accumulate(origin_addr: *const c_void, origin_count: c_int,
        origin_datatype: MPI_Datatype, result_addr: *mut c_void, result_count: c_int,
        result_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: c_int,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win);
    fn MPI_Get_accumulate_c / PMPI_Get_accumulate_c(origin_addr: *const c_void, origin_count: MPI_Count,
        origin_datatype: MPI_Datatype, result_addr: *mut c_void, result_count: MPI_Count,
        result_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win);
    fn MPI_Fetch_and_op / PMPI_Fetch_and_op(origin_addr: *const c_void, result_addr: *mut c_void,
        datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, op: MPI_Op, win: MPI_Win);
    fn MPI_Compare_and_swap / PMPI_Compare_and_swap(origin_addr: *const c_void, compare_addr: *const c_void,
        result_addr: *mut c_void, datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint,
        win: MPI_Win);
    fn MPI_Rput / PMPI_Rput(origin_addr: *const c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype,
        win: MPI_Win, request: Out<MPI_Request>);
    fn MPI_Rput_c / PMPI_Rput_c(origin_addr: *const c_void, origin_count: MPI_Count,
        origin_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count,
        target_datatype: MPI_Datatype, win: MPI_Win, request: Out<MPI_Request>);
    fn MPI_Rget / PMPI_Rget(origin_addr: *mut c_void, origin_count: c_int, origin_datatype: MPI_Datatype,
        target_rank: c_int, target_disp: MPI_Aint, target_count: c_int, target_datatype: MPI_Datatype,
        win: MPI_Win, request: Out<MPI_Request>);
    fn MPI_Rget_c / PMPI_Rget_c(origin_addr: *mut c_void, origin_count: MPI_Count,
        origin_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count,
        target_datatype: MPI_Datatype, win: MPI_Win, request: Out<MPI_Request>);
    fn MPI_Raccumulate / PMPI_Raccumulate(origin_addr: *const c_void, origin_count: c_int,
        origin_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: c_int,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: Out<MPI_Request>);
    fn MPI_Raccumulate_c / PMPI_Raccumulate_c(origin_addr: *const c_void, origin_count: MPI_Count,
        origin_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: Out<MPI_Request>);
    fn MPI_Rget_accumulate / PMPI_Rget_accumulate(origin_addr: *const c_void, origin_count: c_int,
        origin_datatype: MPI_Datatype, result_addr: *mut c_void, result_count: c_int,
        result_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: c_int,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: Out<MPI_Request>);
    fn MPI_Rget_accumulate_c / PMPI_Rget_accumulate_c(origin_addr: *const c_void, origin_count: MPI_Count,
        origin_datatype: MPI_Datatype, result_addr: *mut c_void, result_count: MPI_Count,
        result_datatype: MPI_Datatype, target_rank: c_int, target_disp: MPI_Aint, target_count: MPI_Count,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: Out<MPI_Request>);
}

// Synchronisation.
unsupported! {
    "12.5";
    fn MPI_Win_fence / PMPI_Win_fence(assert: c_int, win: MPI_Win);
    fn MPI_Win_start / PMPI_Win_start(group: MPI_Group, assert: c_int, win: MPI_Win);
    fn MPI_Win_complete / PMPI_Win_complete(win: MPI_Win);
    fn MPI_Win_post / PMPI_Win_post(group: MPI_Group, assert: c_int, win: MPI_Win);
    fn MPI_Win_wait / PMPI_Win_wait(win: MPI_Win);
    fn MPI_Win_test / PMPI_Win_test(win: MPI_Win, flag: Out<c_int>);
    fn MPI_Win_lock / PMPI_Win_lock(lock_type: c_int, rank: c_int, assert: c_int, win: MPI_Win);
    fn MPI_Win_lock_all / PMPI_Win_lock_all(assert: c_int, win: MPI_Win);
    fn MPI_Win_unlock / PMPI_Win_unlock(rank: c_int, win: MPI_Win);
    fn MPI_Win_unlock_all / PMPI_Win_unlock_all(win: MPI_Win);
    fn MPI_Win_flush / PMPI_Win_flush(rank: c_int, win: MPI_Win);
    fn MPI_Win_flush_all / PMPI_Win_flush_all(win: MPI_Win);
    fn MPI_Win_flush_local / PMPI_Win_flush_local(rank: c_int, win: MPI_Win);
    fn MPI_Win_flush_local_all / PMPI_Win_flush_local_all(win: MPI_Win);
    fn MPI_Win_sync / PMPI_Win_sync(win: MPI_Win);
}
