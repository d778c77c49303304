//! Written by `cargo xtask fortran`; do not edit.
//!
//! The routines of Fortran, in the order of the table.

use crate::argument::*;
use crate::peers::*;
use crate::routine::routine;
use crate::section::*;
use crate::text::*;

routine! {
    address "abi_get_fortran_booleans" MPI_Abi_get_fortran_booleans PMPI_Abi_get_fortran_booleans, as call
    (logical_size: *const Integer, logical_true: Address, logical_false: Address, is_set: Address, ierror: *mut Integer) {
        let code = call(*logical_size, place(logical_true), place(logical_false), is_set);
        report(ierror, code);
    }
}

routine! {
    descriptor "abi_get_fortran_booleans" MPI_Abi_get_fortran_booleans PMPI_Abi_get_fortran_booleans, as call
    (logical_size: *const Integer, logical_true: Choice, logical_false: Choice, is_set: Address, ierror: *mut Integer) {
        let c_logical_true = copied(logical_true, true);
        let c_logical_false = copied(logical_false, true);
        let code = call(*logical_size, c_logical_true.address(), c_logical_false.address(), is_set);
        report(ierror, code);
    }
}

routine! {
    plain "abi_get_fortran_info" MPI_Abi_get_fortran_info PMPI_Abi_get_fortran_info, as call
    (info: *mut Integer, ierror: *mut Integer) {
        let mut c_info = handle(info);
        let code = call((&raw mut c_info).cast());
        *info = number(c_info);
        report(ierror, code);
    }
}

routine! {
    plain "abi_get_info" MPI_Abi_get_info PMPI_Abi_get_info, as call
    (info: *mut Integer, ierror: *mut Integer) {
        let mut c_info = handle(info);
        let code = call((&raw mut c_info).cast());
        *info = number(c_info);
        report(ierror, code);
    }
}

routine! {
    plain "abi_get_version" MPI_Abi_get_version PMPI_Abi_get_version, as call
    (abi_major: Address, abi_minor: Address, ierror: *mut Integer) {
        let code = call(abi_major, abi_minor);
        report(ierror, code);
    }
}

routine! {
    address "abi_set_fortran_booleans" MPI_Abi_set_fortran_booleans PMPI_Abi_set_fortran_booleans, as call
    (logical_size: *const Integer, logical_true: Address, logical_false: Address, ierror: *mut Integer) {
        let code = call(*logical_size, place(logical_true), place(logical_false));
        report(ierror, code);
    }
}

routine! {
    descriptor "abi_set_fortran_booleans" MPI_Abi_set_fortran_booleans PMPI_Abi_set_fortran_booleans, as call
    (logical_size: *const Integer, logical_true: Choice, logical_false: Choice, ierror: *mut Integer) {
        let c_logical_true = copied(logical_true, true);
        let c_logical_false = copied(logical_false, true);
        let code = call(*logical_size, c_logical_true.address(), c_logical_false.address());
        report(ierror, code);
    }
}

routine! {
    plain "abi_set_fortran_info" MPI_Abi_set_fortran_info PMPI_Abi_set_fortran_info, as call
    (info: *const Integer, ierror: *mut Integer) {
        let code = call(handle(info));
        report(ierror, code);
    }
}

routine! {
    plain "abort" MPI_Abort PMPI_Abort, as call
    (comm: *const Integer, errorcode: *const Integer, ierror: *mut Integer) {
        let code = call(handle(comm), *errorcode);
        report(ierror, code);
    }
}

routine! {
    address "accumulate" MPI_Accumulate PMPI_Accumulate, as call
    (origin_addr: Address, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, op: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(place(origin_addr), *origin_count, handle(origin_datatype), *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win));
        report(ierror, code);
    }
}

routine! {
    descriptor "accumulate" MPI_Accumulate PMPI_Accumulate, as call
    (origin_addr: Choice, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, op: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Accumulate", "origin_addr")) };
        let code = call(c_origin_addr.address, c_origin_addr.count as Integer, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "accumulate" MPI_Accumulate_c PMPI_Accumulate_c, as call
    (origin_addr: Choice, origin_count: *const i64, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const i64, target_datatype: *const Integer, op: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Accumulate_c", "origin_addr")) };
        let code = call(c_origin_addr.address, c_origin_addr.count, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "add_error_class" MPI_Add_error_class PMPI_Add_error_class, as call
    (errorclass: Address, ierror: *mut Integer) {
        let code = call(errorclass);
        report(ierror, code);
    }
}

routine! {
    plain "add_error_code" MPI_Add_error_code PMPI_Add_error_code, as call
    (errorclass: *const Integer, errorcode: Address, ierror: *mut Integer) {
        let code = call(*errorclass, errorcode);
        report(ierror, code);
    }
}

routine! {
    plain "add_error_string" MPI_Add_error_string PMPI_Add_error_string, as call
    (errorcode: *const Integer, string: *const u8, ierror: *mut Integer, string_len: usize) {
        let c_string = text(string, string_len);
        let code = call(*errorcode, c_string.as_ptr() as Address);
        report(ierror, code);
    }
}

routine! {
    address "allgather" MPI_Allgather PMPI_Allgather, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "allgather" MPI_Allgather PMPI_Allgather, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "allgather" MPI_Allgather_c PMPI_Allgather_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "allgather_init" MPI_Allgather_init PMPI_Allgather_init, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "allgather_init" MPI_Allgather_init PMPI_Allgather_init, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allgather_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allgather_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "allgather_init" MPI_Allgather_init_c PMPI_Allgather_init_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allgather_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allgather_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "allgatherv" MPI_Allgatherv PMPI_Allgatherv, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), recvcounts, displs, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "allgatherv" MPI_Allgatherv PMPI_Allgatherv, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), recvcounts, displs, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "allgatherv" MPI_Allgatherv_c PMPI_Allgatherv_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), recvcounts, displs, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "allgatherv_init" MPI_Allgatherv_init PMPI_Allgatherv_init, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), recvcounts, displs, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "allgatherv_init" MPI_Allgatherv_init PMPI_Allgatherv_init, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allgatherv_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allgatherv_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "allgatherv_init" MPI_Allgatherv_init_c PMPI_Allgatherv_init_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allgatherv_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allgatherv_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    c_pointer "alloc_mem" MPI_Alloc_mem PMPI_Alloc_mem, as call
    (size: *const isize, info: *const Integer, baseptr: Address, ierror: *mut Integer) {
        let code = call(*size, handle(info), baseptr);
        report(ierror, code);
    }
}

routine! {
    address "allreduce" MPI_Allreduce PMPI_Allreduce, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "allreduce" MPI_Allreduce PMPI_Allreduce, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), *count, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "allreduce" MPI_Allreduce_c PMPI_Allreduce_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), *count, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "allreduce_init" MPI_Allreduce_init PMPI_Allreduce_init, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "allreduce_init" MPI_Allreduce_init PMPI_Allreduce_init, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allreduce_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allreduce_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "allreduce_init" MPI_Allreduce_init_c PMPI_Allreduce_init_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allreduce_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Allreduce_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "alltoall" MPI_Alltoall PMPI_Alltoall, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "alltoall" MPI_Alltoall PMPI_Alltoall, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "alltoall" MPI_Alltoall_c PMPI_Alltoall_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "alltoall_init" MPI_Alltoall_init PMPI_Alltoall_init, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "alltoall_init" MPI_Alltoall_init PMPI_Alltoall_init, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoall_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoall_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "alltoall_init" MPI_Alltoall_init_c PMPI_Alltoall_init_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoall_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoall_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "alltoallv" MPI_Alltoallv PMPI_Alltoallv, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), sendcounts, sdispls, handle(sendtype), place(recvbuf), recvcounts, rdispls, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "alltoallv" MPI_Alltoallv PMPI_Alltoallv, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), sendcounts, sdispls, handle(sendtype), c_recvbuf.address(), recvcounts, rdispls, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "alltoallv" MPI_Alltoallv_c PMPI_Alltoallv_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), sendcounts, sdispls, handle(sendtype), c_recvbuf.address(), recvcounts, rdispls, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "alltoallv_init" MPI_Alltoallv_init PMPI_Alltoallv_init, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), sendcounts, sdispls, handle(sendtype), place(recvbuf), recvcounts, rdispls, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "alltoallv_init" MPI_Alltoallv_init PMPI_Alltoallv_init, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoallv_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoallv_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, handle(sendtype), c_recvbuf, recvcounts, rdispls, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "alltoallv_init" MPI_Alltoallv_init_c PMPI_Alltoallv_init_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoallv_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoallv_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, handle(sendtype), c_recvbuf, recvcounts, rdispls, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "alltoallw" MPI_Alltoallw PMPI_Alltoallw, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(place(sendbuf), || peers(handle(comm))));
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, peers(handle(comm)));
        let code = call(place(sendbuf), sendcounts, sdispls, c_sendtypes.address(), place(recvbuf), recvcounts, rdispls, c_recvtypes.address(), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "alltoallw" MPI_Alltoallw PMPI_Alltoallw, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || peers(handle(comm))));
        let c_recvbuf = copied(recvbuf, true);
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, peers(handle(comm)));
        let code = call(c_sendbuf.address(), sendcounts, sdispls, c_sendtypes.address(), c_recvbuf.address(), recvcounts, rdispls, c_recvtypes.address(), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "alltoallw" MPI_Alltoallw_c PMPI_Alltoallw_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || peers(handle(comm))));
        let c_recvbuf = copied(recvbuf, true);
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, peers(handle(comm)));
        let code = call(c_sendbuf.address(), sendcounts, sdispls, c_sendtypes.address(), c_recvbuf.address(), recvcounts, rdispls, c_recvtypes.address(), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "alltoallw_init" MPI_Alltoallw_init PMPI_Alltoallw_init, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(place(sendbuf), || peers(handle(comm))));
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, peers(handle(comm)));
        let mut c_request = handle(request);
        let code = call(place(sendbuf), sendcounts, sdispls, c_sendtypes.address(), place(recvbuf), recvcounts, rdispls, c_recvtypes.address(), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "alltoallw_init" MPI_Alltoallw_init PMPI_Alltoallw_init, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoallw_init", "sendbuf")) };
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || peers(handle(comm))));
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoallw_init", "recvbuf")) };
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, peers(handle(comm)));
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, c_sendtypes.address(), c_recvbuf, recvcounts, rdispls, c_recvtypes.address(), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "alltoallw_init" MPI_Alltoallw_init_c PMPI_Alltoallw_init_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoallw_init_c", "sendbuf")) };
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || peers(handle(comm))));
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Alltoallw_init_c", "recvbuf")) };
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, peers(handle(comm)));
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, c_sendtypes.address(), c_recvbuf, recvcounts, rdispls, c_recvtypes.address(), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "attr_delete" MPI_Attr_delete PMPI_Attr_delete, as call
    (comm: *const Integer, keyval: *const Integer, ierror: *mut Integer) {
        let code = call(handle(comm), *keyval);
        report(ierror, code);
    }
}

routine! {
    plain "barrier" MPI_Barrier PMPI_Barrier, as call
    (comm: *const Integer, ierror: *mut Integer) {
        let code = call(handle(comm));
        report(ierror, code);
    }
}

routine! {
    plain "barrier_init" MPI_Barrier_init PMPI_Barrier_init, as call
    (comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "bcast" MPI_Bcast PMPI_Bcast, as call
    (buffer: Address, count: *const Integer, datatype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(buffer), *count, handle(datatype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "bcast" MPI_Bcast PMPI_Bcast, as call
    (buffer: Choice, count: *const Integer, datatype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_buffer = copied(buffer, true);
        let code = call(c_buffer.address(), *count, handle(datatype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "bcast" MPI_Bcast_c PMPI_Bcast_c, as call
    (buffer: Choice, count: *const i64, datatype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_buffer = copied(buffer, true);
        let code = call(c_buffer.address(), *count, handle(datatype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "bcast_init" MPI_Bcast_init PMPI_Bcast_init, as call
    (buffer: Address, count: *const Integer, datatype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buffer), *count, handle(datatype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "bcast_init" MPI_Bcast_init PMPI_Bcast_init, as call
    (buffer: Choice, count: *const Integer, datatype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buffer) = described(buffer, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Bcast_init", "buffer")) };
        let mut c_request = handle(request);
        let code = call(c_buffer.address, c_buffer.count as Integer, c_buffer.datatype, *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "bcast_init" MPI_Bcast_init_c PMPI_Bcast_init_c, as call
    (buffer: Choice, count: *const i64, datatype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buffer) = described(buffer, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Bcast_init_c", "buffer")) };
        let mut c_request = handle(request);
        let code = call(c_buffer.address, c_buffer.count, c_buffer.datatype, *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "bsend" MPI_Bsend PMPI_Bsend, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "bsend" MPI_Bsend PMPI_Bsend, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(c_buf.address(), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "bsend" MPI_Bsend_c PMPI_Bsend_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(c_buf.address(), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "bsend_init" MPI_Bsend_init PMPI_Bsend_init, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "bsend_init" MPI_Bsend_init PMPI_Bsend_init, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Bsend_init", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "bsend_init" MPI_Bsend_init_c PMPI_Bsend_init_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Bsend_init_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "buffer_attach" MPI_Buffer_attach PMPI_Buffer_attach, as call
    (buffer: Address, size: *const Integer, ierror: *mut Integer) {
        let code = call(place(buffer), *size);
        report(ierror, code);
    }
}

routine! {
    descriptor "buffer_attach" MPI_Buffer_attach PMPI_Buffer_attach, as call
    (buffer: Choice, size: *const Integer, ierror: *mut Integer) {
        let Some(c_buffer) = whole(buffer) else { return report(ierror, refuse(Owner::Process, "MPI_Buffer_attach", "buffer")) };
        let code = call(c_buffer, *size);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "buffer_attach" MPI_Buffer_attach_c PMPI_Buffer_attach_c, as call
    (buffer: Choice, size: *const i64, ierror: *mut Integer) {
        let Some(c_buffer) = whole(buffer) else { return report(ierror, refuse(Owner::Process, "MPI_Buffer_attach_c", "buffer")) };
        let code = call(c_buffer, *size);
        report(ierror, code);
    }
}

routine! {
    address "buffer_detach" MPI_Buffer_detach PMPI_Buffer_detach, as call
    (buffer_addr: Address, size: Address, ierror: *mut Integer) {
        let _ = buffer_addr;
        let mut c_buffer_addr = 0_usize;
        let code = call((&raw mut c_buffer_addr).cast(), size);
        report(ierror, code);
    }
}

routine! {
    pointer "buffer_detach" MPI_Buffer_detach PMPI_Buffer_detach, as call
    (buffer_addr: Address, size: Address, ierror: *mut Integer) {
        let code = call(buffer_addr, size);
        detached(buffer_addr);
        report(ierror, code);
    }
}

routine! {
    large_pointer "buffer_detach" MPI_Buffer_detach_c PMPI_Buffer_detach_c, as call
    (buffer_addr: Address, size: Address, ierror: *mut Integer) {
        let code = call(buffer_addr, size);
        detached(buffer_addr);
        report(ierror, code);
    }
}

routine! {
    plain "buffer_flush" MPI_Buffer_flush PMPI_Buffer_flush, as call
    (ierror: *mut Integer) {
        let code = call();
        report(ierror, code);
    }
}

routine! {
    plain "buffer_iflush" MPI_Buffer_iflush PMPI_Buffer_iflush, as call
    (request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call((&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "cancel" MPI_Cancel PMPI_Cancel, as call
    (request: *const Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call((&raw mut c_request).cast());
        report(ierror, code);
    }
}

routine! {
    plain "cart_coords" MPI_Cart_coords PMPI_Cart_coords, as call
    (comm: *const Integer, rank: *const Integer, maxdims: *const Integer, coords: Address, ierror: *mut Integer) {
        let code = call(handle(comm), *rank, *maxdims, coords);
        report(ierror, code);
    }
}

routine! {
    plain "cart_create" MPI_Cart_create PMPI_Cart_create, as call
    (comm_old: *const Integer, ndims: *const Integer, dims: Address, periods: Address, reorder: *const Integer, comm_cart: *mut Integer, ierror: *mut Integer) {
        let mut c_comm_cart = handle(comm_cart);
        let code = call(handle(comm_old), *ndims, dims, periods, logical(reorder), (&raw mut c_comm_cart).cast());
        *comm_cart = number(c_comm_cart);
        report(ierror, code);
    }
}

routine! {
    plain "cart_get" MPI_Cart_get PMPI_Cart_get, as call
    (comm: *const Integer, maxdims: *const Integer, dims: Address, periods: Address, coords: Address, ierror: *mut Integer) {
        let code = call(handle(comm), *maxdims, dims, periods, coords);
        report(ierror, code);
    }
}

routine! {
    plain "cart_map" MPI_Cart_map PMPI_Cart_map, as call
    (comm: *const Integer, ndims: *const Integer, dims: Address, periods: Address, newrank: Address, ierror: *mut Integer) {
        let code = call(handle(comm), *ndims, dims, periods, newrank);
        report(ierror, code);
    }
}

routine! {
    plain "cart_rank" MPI_Cart_rank PMPI_Cart_rank, as call
    (comm: *const Integer, coords: Address, rank: Address, ierror: *mut Integer) {
        let code = call(handle(comm), coords, rank);
        report(ierror, code);
    }
}

routine! {
    plain "cart_shift" MPI_Cart_shift PMPI_Cart_shift, as call
    (comm: *const Integer, direction: *const Integer, disp: *const Integer, rank_source: Address, rank_dest: Address, ierror: *mut Integer) {
        let code = call(handle(comm), *direction, *disp, rank_source, rank_dest);
        report(ierror, code);
    }
}

routine! {
    plain "cart_sub" MPI_Cart_sub PMPI_Cart_sub, as call
    (comm: *const Integer, remain_dims: Address, newcomm: *mut Integer, ierror: *mut Integer) {
        let mut c_newcomm = handle(newcomm);
        let code = call(handle(comm), remain_dims, (&raw mut c_newcomm).cast());
        *newcomm = number(c_newcomm);
        report(ierror, code);
    }
}

routine! {
    plain "cartdim_get" MPI_Cartdim_get PMPI_Cartdim_get, as call
    (comm: *const Integer, ndims: Address, ierror: *mut Integer) {
        let code = call(handle(comm), ndims);
        report(ierror, code);
    }
}

routine! {
    plain "close_port" MPI_Close_port PMPI_Close_port, as call
    (port_name: *const u8, ierror: *mut Integer, port_name_len: usize) {
        let c_port_name = text(port_name, port_name_len);
        let code = call(c_port_name.as_ptr() as Address);
        report(ierror, code);
    }
}

routine! {
    plain "comm_accept" MPI_Comm_accept PMPI_Comm_accept, as call
    (port_name: *const u8, info: *const Integer, root: *const Integer, comm: *const Integer, newcomm: *mut Integer, ierror: *mut Integer, port_name_len: usize) {
        let c_port_name = text(port_name, port_name_len);
        let mut c_newcomm = handle(newcomm);
        let code = call(c_port_name.as_ptr() as Address, handle(info), *root, handle(comm), (&raw mut c_newcomm).cast());
        *newcomm = number(c_newcomm);
        report(ierror, code);
    }
}

routine! {
    address "comm_attach_buffer" MPI_Comm_attach_buffer PMPI_Comm_attach_buffer, as call
    (comm: *const Integer, buffer: Address, size: *const Integer, ierror: *mut Integer) {
        let code = call(handle(comm), place(buffer), *size);
        report(ierror, code);
    }
}

routine! {
    descriptor "comm_attach_buffer" MPI_Comm_attach_buffer PMPI_Comm_attach_buffer, as call
    (comm: *const Integer, buffer: Choice, size: *const Integer, ierror: *mut Integer) {
        let Some(c_buffer) = whole(buffer) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Comm_attach_buffer", "buffer")) };
        let code = call(handle(comm), c_buffer, *size);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "comm_attach_buffer" MPI_Comm_attach_buffer_c PMPI_Comm_attach_buffer_c, as call
    (comm: *const Integer, buffer: Choice, size: *const i64, ierror: *mut Integer) {
        let Some(c_buffer) = whole(buffer) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Comm_attach_buffer_c", "buffer")) };
        let code = call(handle(comm), c_buffer, *size);
        report(ierror, code);
    }
}

routine! {
    plain "comm_call_errhandler" MPI_Comm_call_errhandler PMPI_Comm_call_errhandler, as call
    (comm: *const Integer, errorcode: *const Integer, ierror: *mut Integer) {
        let code = call(handle(comm), *errorcode);
        report(ierror, code);
    }
}

routine! {
    plain "comm_compare" MPI_Comm_compare PMPI_Comm_compare, as call
    (comm1: *const Integer, comm2: *const Integer, result: Address, ierror: *mut Integer) {
        let code = call(handle(comm1), handle(comm2), result);
        report(ierror, code);
    }
}

routine! {
    plain "comm_connect" MPI_Comm_connect PMPI_Comm_connect, as call
    (port_name: *const u8, info: *const Integer, root: *const Integer, comm: *const Integer, newcomm: *mut Integer, ierror: *mut Integer, port_name_len: usize) {
        let c_port_name = text(port_name, port_name_len);
        let mut c_newcomm = handle(newcomm);
        let code = call(c_port_name.as_ptr() as Address, handle(info), *root, handle(comm), (&raw mut c_newcomm).cast());
        *newcomm = number(c_newcomm);
        report(ierror, code);
    }
}

routine! {
    plain "comm_create" MPI_Comm_create PMPI_Comm_create, as call
    (comm: *const Integer, group: *const Integer, newcomm: *mut Integer, ierror: *mut Integer) {
        let mut c_newcomm = handle(newcomm);
        let code = call(handle(comm), handle(group), (&raw mut c_newcomm).cast());
        *newcomm = number(c_newcomm);
        report(ierror, code);
    }
}

routine! {
    plain "comm_create_errhandler" MPI_Comm_create_errhandler PMPI_Comm_create_errhandler, as call
    (comm_errhandler_fn: Address, errhandler: *mut Integer, ierror: *mut Integer) {
        let mut c_errhandler = handle(errhandler);
        let code = call(comm_errhandler_fn, (&raw mut c_errhandler).cast());
        *errhandler = number(c_errhandler);
        report(ierror, code);
    }
}

routine! {
    plain "comm_create_from_group" MPI_Comm_create_from_group PMPI_Comm_create_from_group, as call
    (group: *const Integer, stringtag: *const u8, info: *const Integer, errhandler: *const Integer, newcomm: *mut Integer, ierror: *mut Integer, stringtag_len: usize) {
        let c_stringtag = text(stringtag, stringtag_len);
        let mut c_newcomm = handle(newcomm);
        let code = call(handle(group), c_stringtag.as_ptr() as Address, handle(info), handle(errhandler), (&raw mut c_newcomm).cast());
        *newcomm = number(c_newcomm);
        report(ierror, code);
    }
}

routine! {
    plain "comm_create_group" MPI_Comm_create_group PMPI_Comm_create_group, as call
    (comm: *const Integer, group: *const Integer, tag: *const Integer, newcomm: *mut Integer, ierror: *mut Integer) {
        let mut c_newcomm = handle(newcomm);
        let code = call(handle(comm), handle(group), *tag, (&raw mut c_newcomm).cast());
        *newcomm = number(c_newcomm);
        report(ierror, code);
    }
}

routine! {
    plain "comm_delete_attr" MPI_Comm_delete_attr PMPI_Comm_delete_attr, as call
    (comm: *const Integer, comm_keyval: *const Integer, ierror: *mut Integer) {
        let code = call(handle(comm), *comm_keyval);
        report(ierror, code);
    }
}

routine! {
    address "comm_detach_buffer" MPI_Comm_detach_buffer PMPI_Comm_detach_buffer, as call
    (comm: *const Integer, buffer_addr: Address, size: Address, ierror: *mut Integer) {
        let _ = buffer_addr;
        let mut c_buffer_addr = 0_usize;
        let code = call(handle(comm), (&raw mut c_buffer_addr).cast(), size);
        report(ierror, code);
    }
}

routine! {
    pointer "comm_detach_buffer" MPI_Comm_detach_buffer PMPI_Comm_detach_buffer, as call
    (comm: *const Integer, buffer_addr: Address, size: Address, ierror: *mut Integer) {
        let code = call(handle(comm), buffer_addr, size);
        detached(buffer_addr);
        report(ierror, code);
    }
}

routine! {
    large_pointer "comm_detach_buffer" MPI_Comm_detach_buffer_c PMPI_Comm_detach_buffer_c, as call
    (comm: *const Integer, buffer_addr: Address, size: Address, ierror: *mut Integer) {
        let code = call(handle(comm), buffer_addr, size);
        detached(buffer_addr);
        report(ierror, code);
    }
}

routine! {
    plain "comm_disconnect" MPI_Comm_disconnect PMPI_Comm_disconnect, as call
    (comm: *mut Integer, ierror: *mut Integer) {
        let mut c_comm = handle(comm);
        let code = call((&raw mut c_comm).cast());
        *comm = number(c_comm);
        report(ierror, code);
    }
}

routine! {
    plain "comm_dup" MPI_Comm_dup PMPI_Comm_dup, as call
    (comm: *const Integer, newcomm: *mut Integer, ierror: *mut Integer) {
        let mut c_newcomm = handle(newcomm);
        let code = call(handle(comm), (&raw mut c_newcomm).cast());
        *newcomm = number(c_newcomm);
        report(ierror, code);
    }
}

routine! {
    plain "comm_dup_with_info" MPI_Comm_dup_with_info PMPI_Comm_dup_with_info, as call
    (comm: *const Integer, info: *const Integer, newcomm: *mut Integer, ierror: *mut Integer) {
        let mut c_newcomm = handle(newcomm);
        let code = call(handle(comm), handle(info), (&raw mut c_newcomm).cast());
        *newcomm = number(c_newcomm);
        report(ierror, code);
    }
}

routine! {
    plain "comm_flush_buffer" MPI_Comm_flush_buffer PMPI_Comm_flush_buffer, as call
    (comm: *const Integer, ierror: *mut Integer) {
        let code = call(handle(comm));
        report(ierror, code);
    }
}

routine! {
    plain "comm_free" MPI_Comm_free PMPI_Comm_free, as call
    (comm: *mut Integer, ierror: *mut Integer) {
        let mut c_comm = handle(comm);
        let code = call((&raw mut c_comm).cast());
        *comm = number(c_comm);
        report(ierror, code);
    }
}

routine! {
    plain "comm_free_keyval" MPI_Comm_free_keyval PMPI_Comm_free_keyval, as call
    (comm_keyval: Address, ierror: *mut Integer) {
        let code = call(comm_keyval);
        report(ierror, code);
    }
}

routine! {
    plain "comm_get_errhandler" MPI_Comm_get_errhandler PMPI_Comm_get_errhandler, as call
    (comm: *const Integer, errhandler: *mut Integer, ierror: *mut Integer) {
        let mut c_errhandler = handle(errhandler);
        let code = call(handle(comm), (&raw mut c_errhandler).cast());
        *errhandler = number(c_errhandler);
        report(ierror, code);
    }
}

routine! {
    plain "comm_get_info" MPI_Comm_get_info PMPI_Comm_get_info, as call
    (comm: *const Integer, info_used: *mut Integer, ierror: *mut Integer) {
        let mut c_info_used = handle(info_used);
        let code = call(handle(comm), (&raw mut c_info_used).cast());
        *info_used = number(c_info_used);
        report(ierror, code);
    }
}

routine! {
    plain "comm_get_name" MPI_Comm_get_name PMPI_Comm_get_name, as call
    (comm: *const Integer, comm_name: *mut u8, resultlen: Address, ierror: *mut Integer, comm_name_len: usize) {
        let mut c_comm_name = room(128, comm_name, comm_name_len);
        let code = call(handle(comm), c_comm_name.address(), resultlen);
        report(ierror, code);
    }
}

routine! {
    plain "comm_get_parent" MPI_Comm_get_parent PMPI_Comm_get_parent, as call
    (parent: *mut Integer, ierror: *mut Integer) {
        let mut c_parent = handle(parent);
        let code = call((&raw mut c_parent).cast());
        *parent = number(c_parent);
        report(ierror, code);
    }
}

routine! {
    plain "comm_group" MPI_Comm_group PMPI_Comm_group, as call
    (comm: *const Integer, group: *mut Integer, ierror: *mut Integer) {
        let mut c_group = handle(group);
        let code = call(handle(comm), (&raw mut c_group).cast());
        *group = number(c_group);
        report(ierror, code);
    }
}

routine! {
    plain "comm_idup" MPI_Comm_idup PMPI_Comm_idup, as call
    (comm: *const Integer, newcomm: *mut Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_newcomm = handle(newcomm);
        let mut c_request = handle(request);
        let code = call(handle(comm), (&raw mut c_newcomm).cast(), (&raw mut c_request).cast());
        *newcomm = number(c_newcomm);
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "comm_idup_with_info" MPI_Comm_idup_with_info PMPI_Comm_idup_with_info, as call
    (comm: *const Integer, info: *const Integer, newcomm: *mut Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_newcomm = handle(newcomm);
        let mut c_request = handle(request);
        let code = call(handle(comm), handle(info), (&raw mut c_newcomm).cast(), (&raw mut c_request).cast());
        *newcomm = number(c_newcomm);
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "comm_iflush_buffer" MPI_Comm_iflush_buffer PMPI_Comm_iflush_buffer, as call
    (comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "comm_join" MPI_Comm_join PMPI_Comm_join, as call
    (fd: *const Integer, intercomm: *mut Integer, ierror: *mut Integer) {
        let mut c_intercomm = handle(intercomm);
        let code = call(*fd, (&raw mut c_intercomm).cast());
        *intercomm = number(c_intercomm);
        report(ierror, code);
    }
}

routine! {
    plain "comm_rank" MPI_Comm_rank PMPI_Comm_rank, as call
    (comm: *const Integer, rank: Address, ierror: *mut Integer) {
        let code = call(handle(comm), rank);
        report(ierror, code);
    }
}

routine! {
    plain "comm_remote_group" MPI_Comm_remote_group PMPI_Comm_remote_group, as call
    (comm: *const Integer, group: *mut Integer, ierror: *mut Integer) {
        let mut c_group = handle(group);
        let code = call(handle(comm), (&raw mut c_group).cast());
        *group = number(c_group);
        report(ierror, code);
    }
}

routine! {
    plain "comm_remote_size" MPI_Comm_remote_size PMPI_Comm_remote_size, as call
    (comm: *const Integer, size: Address, ierror: *mut Integer) {
        let code = call(handle(comm), size);
        report(ierror, code);
    }
}

routine! {
    plain "comm_set_errhandler" MPI_Comm_set_errhandler PMPI_Comm_set_errhandler, as call
    (comm: *const Integer, errhandler: *const Integer, ierror: *mut Integer) {
        let code = call(handle(comm), handle(errhandler));
        report(ierror, code);
    }
}

routine! {
    plain "comm_set_info" MPI_Comm_set_info PMPI_Comm_set_info, as call
    (comm: *const Integer, info: *const Integer, ierror: *mut Integer) {
        let code = call(handle(comm), handle(info));
        report(ierror, code);
    }
}

routine! {
    plain "comm_set_name" MPI_Comm_set_name PMPI_Comm_set_name, as call
    (comm: *const Integer, comm_name: *const u8, ierror: *mut Integer, comm_name_len: usize) {
        let c_comm_name = text(comm_name, comm_name_len);
        let code = call(handle(comm), c_comm_name.as_ptr() as Address);
        report(ierror, code);
    }
}

routine! {
    plain "comm_size" MPI_Comm_size PMPI_Comm_size, as call
    (comm: *const Integer, size: Address, ierror: *mut Integer) {
        let code = call(handle(comm), size);
        report(ierror, code);
    }
}

routine! {
    plain "comm_split" MPI_Comm_split PMPI_Comm_split, as call
    (comm: *const Integer, color: *const Integer, key: *const Integer, newcomm: *mut Integer, ierror: *mut Integer) {
        let mut c_newcomm = handle(newcomm);
        let code = call(handle(comm), *color, *key, (&raw mut c_newcomm).cast());
        *newcomm = number(c_newcomm);
        report(ierror, code);
    }
}

routine! {
    plain "comm_split_type" MPI_Comm_split_type PMPI_Comm_split_type, as call
    (comm: *const Integer, split_type: *const Integer, key: *const Integer, info: *const Integer, newcomm: *mut Integer, ierror: *mut Integer) {
        let mut c_newcomm = handle(newcomm);
        let code = call(handle(comm), *split_type, *key, handle(info), (&raw mut c_newcomm).cast());
        *newcomm = number(c_newcomm);
        report(ierror, code);
    }
}

routine! {
    plain "comm_test_inter" MPI_Comm_test_inter PMPI_Comm_test_inter, as call
    (comm: *const Integer, flag: Address, ierror: *mut Integer) {
        let code = call(handle(comm), flag);
        report(ierror, code);
    }
}

routine! {
    address "compare_and_swap" MPI_Compare_and_swap PMPI_Compare_and_swap, as call
    (origin_addr: Address, compare_addr: Address, result_addr: Address, datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, win: *const Integer, ierror: *mut Integer) {
        let code = call(place(origin_addr), place(compare_addr), place(result_addr), handle(datatype), *target_rank, *target_disp, handle(win));
        report(ierror, code);
    }
}

routine! {
    descriptor "compare_and_swap" MPI_Compare_and_swap PMPI_Compare_and_swap, as call
    (origin_addr: Choice, compare_addr: Choice, result_addr: Choice, datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, win: *const Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = whole(origin_addr) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Compare_and_swap", "origin_addr")) };
        let Some(c_compare_addr) = whole(compare_addr) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Compare_and_swap", "compare_addr")) };
        let Some(c_result_addr) = whole(result_addr) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Compare_and_swap", "result_addr")) };
        let code = call(c_origin_addr, c_compare_addr, c_result_addr, handle(datatype), *target_rank, *target_disp, handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "dims_create" MPI_Dims_create PMPI_Dims_create, as call
    (nnodes: *const Integer, ndims: *const Integer, dims: Address, ierror: *mut Integer) {
        let code = call(*nnodes, *ndims, dims);
        report(ierror, code);
    }
}

routine! {
    plain "dist_graph_create" MPI_Dist_graph_create PMPI_Dist_graph_create, as call
    (comm_old: *const Integer, n: *const Integer, sources: Address, degrees: Address, destinations: Address, weights: Address, info: *const Integer, reorder: *const Integer, comm_dist_graph: *mut Integer, ierror: *mut Integer) {
        let mut c_comm_dist_graph = handle(comm_dist_graph);
        let code = call(handle(comm_old), *n, sources, degrees, destinations, place(weights), handle(info), logical(reorder), (&raw mut c_comm_dist_graph).cast());
        *comm_dist_graph = number(c_comm_dist_graph);
        report(ierror, code);
    }
}

routine! {
    plain "dist_graph_create_adjacent" MPI_Dist_graph_create_adjacent PMPI_Dist_graph_create_adjacent, as call
    (comm_old: *const Integer, indegree: *const Integer, sources: Address, sourceweights: Address, outdegree: *const Integer, destinations: Address, destweights: Address, info: *const Integer, reorder: *const Integer, comm_dist_graph: *mut Integer, ierror: *mut Integer) {
        let mut c_comm_dist_graph = handle(comm_dist_graph);
        let code = call(handle(comm_old), *indegree, sources, place(sourceweights), *outdegree, destinations, place(destweights), handle(info), logical(reorder), (&raw mut c_comm_dist_graph).cast());
        *comm_dist_graph = number(c_comm_dist_graph);
        report(ierror, code);
    }
}

routine! {
    plain "dist_graph_neighbors" MPI_Dist_graph_neighbors PMPI_Dist_graph_neighbors, as call
    (comm: *const Integer, maxindegree: *const Integer, sources: Address, sourceweights: Address, maxoutdegree: *const Integer, destinations: Address, destweights: Address, ierror: *mut Integer) {
        let code = call(handle(comm), *maxindegree, sources, place(sourceweights), *maxoutdegree, destinations, place(destweights));
        report(ierror, code);
    }
}

routine! {
    plain "dist_graph_neighbors_count" MPI_Dist_graph_neighbors_count PMPI_Dist_graph_neighbors_count, as call
    (comm: *const Integer, indegree: Address, outdegree: Address, weighted: Address, ierror: *mut Integer) {
        let code = call(handle(comm), indegree, outdegree, weighted);
        report(ierror, code);
    }
}

routine! {
    plain "errhandler_free" MPI_Errhandler_free PMPI_Errhandler_free, as call
    (errhandler: *mut Integer, ierror: *mut Integer) {
        let mut c_errhandler = handle(errhandler);
        let code = call((&raw mut c_errhandler).cast());
        *errhandler = number(c_errhandler);
        report(ierror, code);
    }
}

routine! {
    plain "error_class" MPI_Error_class PMPI_Error_class, as call
    (errorcode: *const Integer, errorclass: Address, ierror: *mut Integer) {
        let code = call(*errorcode, errorclass);
        report(ierror, code);
    }
}

routine! {
    plain "error_string" MPI_Error_string PMPI_Error_string, as call
    (errorcode: *const Integer, string: *mut u8, resultlen: Address, ierror: *mut Integer, string_len: usize) {
        let mut c_string = room(512, string, string_len);
        let code = call(*errorcode, c_string.address(), resultlen);
        report(ierror, code);
    }
}

routine! {
    address "exscan" MPI_Exscan PMPI_Exscan, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "exscan" MPI_Exscan PMPI_Exscan, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), *count, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "exscan" MPI_Exscan_c PMPI_Exscan_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), *count, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "exscan_init" MPI_Exscan_init PMPI_Exscan_init, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "exscan_init" MPI_Exscan_init PMPI_Exscan_init, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Exscan_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Exscan_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "exscan_init" MPI_Exscan_init_c PMPI_Exscan_init_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Exscan_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Exscan_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "fetch_and_op" MPI_Fetch_and_op PMPI_Fetch_and_op, as call
    (origin_addr: Address, result_addr: Address, datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, op: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(place(origin_addr), place(result_addr), handle(datatype), *target_rank, *target_disp, handle(op), handle(win));
        report(ierror, code);
    }
}

routine! {
    descriptor "fetch_and_op" MPI_Fetch_and_op PMPI_Fetch_and_op, as call
    (origin_addr: Choice, result_addr: Choice, datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, op: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = whole(origin_addr) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Fetch_and_op", "origin_addr")) };
        let Some(c_result_addr) = whole(result_addr) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Fetch_and_op", "result_addr")) };
        let code = call(c_origin_addr, c_result_addr, handle(datatype), *target_rank, *target_disp, handle(op), handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "file_call_errhandler" MPI_File_call_errhandler PMPI_File_call_errhandler, as call
    (fh: *const Integer, errorcode: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh), *errorcode);
        report(ierror, code);
    }
}

routine! {
    plain "file_close" MPI_File_close PMPI_File_close, as call
    (fh: *mut Integer, ierror: *mut Integer) {
        let mut c_fh = handle(fh);
        let code = call((&raw mut c_fh).cast());
        *fh = number(c_fh);
        report(ierror, code);
    }
}

routine! {
    plain "file_create_errhandler" MPI_File_create_errhandler PMPI_File_create_errhandler, as call
    (file_errhandler_fn: Address, errhandler: *mut Integer, ierror: *mut Integer) {
        let mut c_errhandler = handle(errhandler);
        let code = call(file_errhandler_fn, (&raw mut c_errhandler).cast());
        *errhandler = number(c_errhandler);
        report(ierror, code);
    }
}

routine! {
    plain "file_delete" MPI_File_delete PMPI_File_delete, as call
    (filename: *const u8, info: *const Integer, ierror: *mut Integer, filename_len: usize) {
        let c_filename = text(filename, filename_len);
        let code = call(c_filename.as_ptr() as Address, handle(info));
        report(ierror, code);
    }
}

routine! {
    plain "file_get_amode" MPI_File_get_amode PMPI_File_get_amode, as call
    (fh: *const Integer, amode: Address, ierror: *mut Integer) {
        let code = call(handle(fh), amode);
        report(ierror, code);
    }
}

routine! {
    plain "file_get_atomicity" MPI_File_get_atomicity PMPI_File_get_atomicity, as call
    (fh: *const Integer, flag: Address, ierror: *mut Integer) {
        let code = call(handle(fh), flag);
        report(ierror, code);
    }
}

routine! {
    plain "file_get_byte_offset" MPI_File_get_byte_offset PMPI_File_get_byte_offset, as call
    (fh: *const Integer, offset: *const i64, disp: Address, ierror: *mut Integer) {
        let code = call(handle(fh), *offset, disp);
        report(ierror, code);
    }
}

routine! {
    plain "file_get_errhandler" MPI_File_get_errhandler PMPI_File_get_errhandler, as call
    (file: *const Integer, errhandler: *mut Integer, ierror: *mut Integer) {
        let mut c_errhandler = handle(errhandler);
        let code = call(handle(file), (&raw mut c_errhandler).cast());
        *errhandler = number(c_errhandler);
        report(ierror, code);
    }
}

routine! {
    plain "file_get_group" MPI_File_get_group PMPI_File_get_group, as call
    (fh: *const Integer, group: *mut Integer, ierror: *mut Integer) {
        let mut c_group = handle(group);
        let code = call(handle(fh), (&raw mut c_group).cast());
        *group = number(c_group);
        report(ierror, code);
    }
}

routine! {
    plain "file_get_info" MPI_File_get_info PMPI_File_get_info, as call
    (fh: *const Integer, info_used: *mut Integer, ierror: *mut Integer) {
        let mut c_info_used = handle(info_used);
        let code = call(handle(fh), (&raw mut c_info_used).cast());
        *info_used = number(c_info_used);
        report(ierror, code);
    }
}

routine! {
    plain "file_get_position" MPI_File_get_position PMPI_File_get_position, as call
    (fh: *const Integer, offset: Address, ierror: *mut Integer) {
        let code = call(handle(fh), offset);
        report(ierror, code);
    }
}

routine! {
    plain "file_get_position_shared" MPI_File_get_position_shared PMPI_File_get_position_shared, as call
    (fh: *const Integer, offset: Address, ierror: *mut Integer) {
        let code = call(handle(fh), offset);
        report(ierror, code);
    }
}

routine! {
    plain "file_get_size" MPI_File_get_size PMPI_File_get_size, as call
    (fh: *const Integer, size: Address, ierror: *mut Integer) {
        let code = call(handle(fh), size);
        report(ierror, code);
    }
}

routine! {
    plain "file_get_type_extent" MPI_File_get_type_extent PMPI_File_get_type_extent, as call
    (fh: *const Integer, datatype: *const Integer, extent: Address, ierror: *mut Integer) {
        let code = call(handle(fh), handle(datatype), extent);
        report(ierror, code);
    }
}

routine! {
    large_plain "file_get_type_extent" MPI_File_get_type_extent_c PMPI_File_get_type_extent_c, as call
    (fh: *const Integer, datatype: *const Integer, extent: Address, ierror: *mut Integer) {
        let code = call(handle(fh), handle(datatype), extent);
        report(ierror, code);
    }
}

routine! {
    plain "file_get_view" MPI_File_get_view PMPI_File_get_view, as call
    (fh: *const Integer, disp: Address, etype: *mut Integer, filetype: *mut Integer, datarep: *mut u8, ierror: *mut Integer, datarep_len: usize) {
        let mut c_etype = handle(etype);
        let mut c_filetype = handle(filetype);
        let mut c_datarep = room(128, datarep, datarep_len);
        let code = call(handle(fh), disp, (&raw mut c_etype).cast(), (&raw mut c_filetype).cast(), c_datarep.address());
        *etype = number(c_etype);
        *filetype = number(c_filetype);
        report(ierror, code);
    }
}

routine! {
    address "file_iread" MPI_File_iread PMPI_File_iread, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(fh), place(buf), *count, handle(datatype), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "file_iread" MPI_File_iread PMPI_File_iread, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iread", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count as Integer, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_iread" MPI_File_iread_c PMPI_File_iread_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iread_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "file_iread_all" MPI_File_iread_all PMPI_File_iread_all, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(fh), place(buf), *count, handle(datatype), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "file_iread_all" MPI_File_iread_all PMPI_File_iread_all, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iread_all", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count as Integer, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_iread_all" MPI_File_iread_all_c PMPI_File_iread_all_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iread_all_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "file_iread_at" MPI_File_iread_at PMPI_File_iread_at, as call
    (fh: *const Integer, offset: *const i64, buf: Address, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, place(buf), *count, handle(datatype), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "file_iread_at" MPI_File_iread_at PMPI_File_iread_at, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iread_at", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count as Integer, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_iread_at" MPI_File_iread_at_c PMPI_File_iread_at_c, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const i64, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iread_at_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "file_iread_at_all" MPI_File_iread_at_all PMPI_File_iread_at_all, as call
    (fh: *const Integer, offset: *const i64, buf: Address, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, place(buf), *count, handle(datatype), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "file_iread_at_all" MPI_File_iread_at_all PMPI_File_iread_at_all, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iread_at_all", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count as Integer, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_iread_at_all" MPI_File_iread_at_all_c PMPI_File_iread_at_all_c, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const i64, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iread_at_all_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "file_iread_shared" MPI_File_iread_shared PMPI_File_iread_shared, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(fh), place(buf), *count, handle(datatype), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "file_iread_shared" MPI_File_iread_shared PMPI_File_iread_shared, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iread_shared", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count as Integer, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_iread_shared" MPI_File_iread_shared_c PMPI_File_iread_shared_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iread_shared_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "file_iwrite" MPI_File_iwrite PMPI_File_iwrite, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(fh), place(buf), *count, handle(datatype), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "file_iwrite" MPI_File_iwrite PMPI_File_iwrite, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iwrite", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count as Integer, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_iwrite" MPI_File_iwrite_c PMPI_File_iwrite_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iwrite_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "file_iwrite_all" MPI_File_iwrite_all PMPI_File_iwrite_all, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(fh), place(buf), *count, handle(datatype), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "file_iwrite_all" MPI_File_iwrite_all PMPI_File_iwrite_all, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iwrite_all", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count as Integer, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_iwrite_all" MPI_File_iwrite_all_c PMPI_File_iwrite_all_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iwrite_all_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "file_iwrite_at" MPI_File_iwrite_at PMPI_File_iwrite_at, as call
    (fh: *const Integer, offset: *const i64, buf: Address, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, place(buf), *count, handle(datatype), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "file_iwrite_at" MPI_File_iwrite_at PMPI_File_iwrite_at, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iwrite_at", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count as Integer, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_iwrite_at" MPI_File_iwrite_at_c PMPI_File_iwrite_at_c, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const i64, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iwrite_at_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "file_iwrite_at_all" MPI_File_iwrite_at_all PMPI_File_iwrite_at_all, as call
    (fh: *const Integer, offset: *const i64, buf: Address, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, place(buf), *count, handle(datatype), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "file_iwrite_at_all" MPI_File_iwrite_at_all PMPI_File_iwrite_at_all, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iwrite_at_all", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count as Integer, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_iwrite_at_all" MPI_File_iwrite_at_all_c PMPI_File_iwrite_at_all_c, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const i64, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iwrite_at_all_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "file_iwrite_shared" MPI_File_iwrite_shared PMPI_File_iwrite_shared, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(fh), place(buf), *count, handle(datatype), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "file_iwrite_shared" MPI_File_iwrite_shared PMPI_File_iwrite_shared, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iwrite_shared", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count as Integer, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_iwrite_shared" MPI_File_iwrite_shared_c PMPI_File_iwrite_shared_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_iwrite_shared_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(handle(fh), c_buf.address, c_buf.count, c_buf.datatype, (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "file_open" MPI_File_open PMPI_File_open, as call
    (comm: *const Integer, filename: *const u8, amode: *const Integer, info: *const Integer, fh: *mut Integer, ierror: *mut Integer, filename_len: usize) {
        let c_filename = text(filename, filename_len);
        let mut c_fh = handle(fh);
        let code = call(handle(comm), c_filename.as_ptr() as Address, *amode, handle(info), (&raw mut c_fh).cast());
        *fh = number(c_fh);
        report(ierror, code);
    }
}

routine! {
    plain "file_preallocate" MPI_File_preallocate PMPI_File_preallocate, as call
    (fh: *const Integer, size: *const i64, ierror: *mut Integer) {
        let code = call(handle(fh), *size);
        report(ierror, code);
    }
}

routine! {
    address "file_read" MPI_File_read PMPI_File_read, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read" MPI_File_read PMPI_File_read, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_read" MPI_File_read_c PMPI_File_read_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_read_all" MPI_File_read_all PMPI_File_read_all, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read_all" MPI_File_read_all PMPI_File_read_all, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_read_all" MPI_File_read_all_c PMPI_File_read_all_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_read_all_begin" MPI_File_read_all_begin PMPI_File_read_all_begin, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read_all_begin" MPI_File_read_all_begin PMPI_File_read_all_begin, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_read_all_begin", "buf")) };
        let code = call(handle(fh), c_buf.address, c_buf.count as Integer, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_read_all_begin" MPI_File_read_all_begin_c PMPI_File_read_all_begin_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_read_all_begin_c", "buf")) };
        let code = call(handle(fh), c_buf.address, c_buf.count, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    address "file_read_all_end" MPI_File_read_all_end PMPI_File_read_all_end, as call
    (fh: *const Integer, buf: Address, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read_all_end" MPI_File_read_all_end PMPI_File_read_all_end, as call
    (fh: *const Integer, buf: Choice, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), first_of(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_read_at" MPI_File_read_at PMPI_File_read_at, as call
    (fh: *const Integer, offset: *const i64, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), *offset, place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read_at" MPI_File_read_at PMPI_File_read_at, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), *offset, c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_read_at" MPI_File_read_at_c PMPI_File_read_at_c, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), *offset, c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_read_at_all" MPI_File_read_at_all PMPI_File_read_at_all, as call
    (fh: *const Integer, offset: *const i64, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), *offset, place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read_at_all" MPI_File_read_at_all PMPI_File_read_at_all, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), *offset, c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_read_at_all" MPI_File_read_at_all_c PMPI_File_read_at_all_c, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), *offset, c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_read_at_all_begin" MPI_File_read_at_all_begin PMPI_File_read_at_all_begin, as call
    (fh: *const Integer, offset: *const i64, buf: Address, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh), *offset, place(buf), *count, handle(datatype));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read_at_all_begin" MPI_File_read_at_all_begin PMPI_File_read_at_all_begin, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_read_at_all_begin", "buf")) };
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count as Integer, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_read_at_all_begin" MPI_File_read_at_all_begin_c PMPI_File_read_at_all_begin_c, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const i64, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_read_at_all_begin_c", "buf")) };
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    address "file_read_at_all_end" MPI_File_read_at_all_end PMPI_File_read_at_all_end, as call
    (fh: *const Integer, buf: Address, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read_at_all_end" MPI_File_read_at_all_end PMPI_File_read_at_all_end, as call
    (fh: *const Integer, buf: Choice, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), first_of(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_read_ordered" MPI_File_read_ordered PMPI_File_read_ordered, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read_ordered" MPI_File_read_ordered PMPI_File_read_ordered, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_read_ordered" MPI_File_read_ordered_c PMPI_File_read_ordered_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_read_ordered_begin" MPI_File_read_ordered_begin PMPI_File_read_ordered_begin, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read_ordered_begin" MPI_File_read_ordered_begin PMPI_File_read_ordered_begin, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_read_ordered_begin", "buf")) };
        let code = call(handle(fh), c_buf.address, c_buf.count as Integer, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_read_ordered_begin" MPI_File_read_ordered_begin_c PMPI_File_read_ordered_begin_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_read_ordered_begin_c", "buf")) };
        let code = call(handle(fh), c_buf.address, c_buf.count, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    address "file_read_ordered_end" MPI_File_read_ordered_end PMPI_File_read_ordered_end, as call
    (fh: *const Integer, buf: Address, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read_ordered_end" MPI_File_read_ordered_end PMPI_File_read_ordered_end, as call
    (fh: *const Integer, buf: Choice, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), first_of(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_read_shared" MPI_File_read_shared PMPI_File_read_shared, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_read_shared" MPI_File_read_shared PMPI_File_read_shared, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_read_shared" MPI_File_read_shared_c PMPI_File_read_shared_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    plain "file_seek" MPI_File_seek PMPI_File_seek, as call
    (fh: *const Integer, offset: *const i64, whence: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh), *offset, *whence);
        report(ierror, code);
    }
}

routine! {
    plain "file_seek_shared" MPI_File_seek_shared PMPI_File_seek_shared, as call
    (fh: *const Integer, offset: *const i64, whence: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh), *offset, *whence);
        report(ierror, code);
    }
}

routine! {
    plain "file_set_atomicity" MPI_File_set_atomicity PMPI_File_set_atomicity, as call
    (fh: *const Integer, flag: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh), logical(flag));
        report(ierror, code);
    }
}

routine! {
    plain "file_set_errhandler" MPI_File_set_errhandler PMPI_File_set_errhandler, as call
    (file: *const Integer, errhandler: *const Integer, ierror: *mut Integer) {
        let code = call(handle(file), handle(errhandler));
        report(ierror, code);
    }
}

routine! {
    plain "file_set_info" MPI_File_set_info PMPI_File_set_info, as call
    (fh: *const Integer, info: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh), handle(info));
        report(ierror, code);
    }
}

routine! {
    plain "file_set_size" MPI_File_set_size PMPI_File_set_size, as call
    (fh: *const Integer, size: *const i64, ierror: *mut Integer) {
        let code = call(handle(fh), *size);
        report(ierror, code);
    }
}

routine! {
    plain "file_set_view" MPI_File_set_view PMPI_File_set_view, as call
    (fh: *const Integer, disp: *const i64, etype: *const Integer, filetype: *const Integer, datarep: *const u8, info: *const Integer, ierror: *mut Integer, datarep_len: usize) {
        let c_datarep = text(datarep, datarep_len);
        let code = call(handle(fh), *disp, handle(etype), handle(filetype), c_datarep.as_ptr() as Address, handle(info));
        report(ierror, code);
    }
}

routine! {
    plain "file_sync" MPI_File_sync PMPI_File_sync, as call
    (fh: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh));
        report(ierror, code);
    }
}

routine! {
    address "file_write" MPI_File_write PMPI_File_write, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write" MPI_File_write PMPI_File_write, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_write" MPI_File_write_c PMPI_File_write_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_write_all" MPI_File_write_all PMPI_File_write_all, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write_all" MPI_File_write_all PMPI_File_write_all, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_write_all" MPI_File_write_all_c PMPI_File_write_all_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_write_all_begin" MPI_File_write_all_begin PMPI_File_write_all_begin, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write_all_begin" MPI_File_write_all_begin PMPI_File_write_all_begin, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_write_all_begin", "buf")) };
        let code = call(handle(fh), c_buf.address, c_buf.count as Integer, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_write_all_begin" MPI_File_write_all_begin_c PMPI_File_write_all_begin_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_write_all_begin_c", "buf")) };
        let code = call(handle(fh), c_buf.address, c_buf.count, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    address "file_write_all_end" MPI_File_write_all_end PMPI_File_write_all_end, as call
    (fh: *const Integer, buf: Address, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write_all_end" MPI_File_write_all_end PMPI_File_write_all_end, as call
    (fh: *const Integer, buf: Choice, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), first_of(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_write_at" MPI_File_write_at PMPI_File_write_at, as call
    (fh: *const Integer, offset: *const i64, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), *offset, place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write_at" MPI_File_write_at PMPI_File_write_at, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), *offset, c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_write_at" MPI_File_write_at_c PMPI_File_write_at_c, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), *offset, c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_write_at_all" MPI_File_write_at_all PMPI_File_write_at_all, as call
    (fh: *const Integer, offset: *const i64, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), *offset, place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write_at_all" MPI_File_write_at_all PMPI_File_write_at_all, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), *offset, c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_write_at_all" MPI_File_write_at_all_c PMPI_File_write_at_all_c, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), *offset, c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_write_at_all_begin" MPI_File_write_at_all_begin PMPI_File_write_at_all_begin, as call
    (fh: *const Integer, offset: *const i64, buf: Address, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh), *offset, place(buf), *count, handle(datatype));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write_at_all_begin" MPI_File_write_at_all_begin PMPI_File_write_at_all_begin, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_write_at_all_begin", "buf")) };
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count as Integer, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_write_at_all_begin" MPI_File_write_at_all_begin_c PMPI_File_write_at_all_begin_c, as call
    (fh: *const Integer, offset: *const i64, buf: Choice, count: *const i64, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_write_at_all_begin_c", "buf")) };
        let code = call(handle(fh), *offset, c_buf.address, c_buf.count, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    address "file_write_at_all_end" MPI_File_write_at_all_end PMPI_File_write_at_all_end, as call
    (fh: *const Integer, buf: Address, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write_at_all_end" MPI_File_write_at_all_end PMPI_File_write_at_all_end, as call
    (fh: *const Integer, buf: Choice, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), first_of(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_write_ordered" MPI_File_write_ordered PMPI_File_write_ordered, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write_ordered" MPI_File_write_ordered PMPI_File_write_ordered, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_write_ordered" MPI_File_write_ordered_c PMPI_File_write_ordered_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_write_ordered_begin" MPI_File_write_ordered_begin PMPI_File_write_ordered_begin, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write_ordered_begin" MPI_File_write_ordered_begin PMPI_File_write_ordered_begin, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_write_ordered_begin", "buf")) };
        let code = call(handle(fh), c_buf.address, c_buf.count as Integer, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_write_ordered_begin" MPI_File_write_ordered_begin_c PMPI_File_write_ordered_begin_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::File(handle(fh)), "MPI_File_write_ordered_begin_c", "buf")) };
        let code = call(handle(fh), c_buf.address, c_buf.count, c_buf.datatype);
        report(ierror, code);
    }
}

routine! {
    address "file_write_ordered_end" MPI_File_write_ordered_end PMPI_File_write_ordered_end, as call
    (fh: *const Integer, buf: Address, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write_ordered_end" MPI_File_write_ordered_end PMPI_File_write_ordered_end, as call
    (fh: *const Integer, buf: Choice, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), first_of(buf), place(status));
        report(ierror, code);
    }
}

routine! {
    address "file_write_shared" MPI_File_write_shared PMPI_File_write_shared, as call
    (fh: *const Integer, buf: Address, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(fh), place(buf), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "file_write_shared" MPI_File_write_shared PMPI_File_write_shared, as call
    (fh: *const Integer, buf: Choice, count: *const Integer, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "file_write_shared" MPI_File_write_shared_c PMPI_File_write_shared_c, as call
    (fh: *const Integer, buf: Choice, count: *const i64, datatype: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(handle(fh), c_buf.address(), *count, handle(datatype), place(status));
        report(ierror, code);
    }
}

routine! {
    plain "finalize" MPI_Finalize PMPI_Finalize, as call
    (ierror: *mut Integer) {
        let code = call();
        report(ierror, code);
    }
}

routine! {
    plain "finalized" MPI_Finalized PMPI_Finalized, as call
    (flag: Address, ierror: *mut Integer) {
        let code = call(flag);
        report(ierror, code);
    }
}

routine! {
    address "free_mem" MPI_Free_mem PMPI_Free_mem, as call
    (base: Address, ierror: *mut Integer) {
        let code = call(place(base));
        report(ierror, code);
    }
}

routine! {
    descriptor "free_mem" MPI_Free_mem PMPI_Free_mem, as call
    (base: Choice, ierror: *mut Integer) {
        let code = call(first_of(base));
        report(ierror, code);
    }
}

routine! {
    address "gather" MPI_Gather PMPI_Gather, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "gather" MPI_Gather PMPI_Gather, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "gather" MPI_Gather_c PMPI_Gather_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "gather_init" MPI_Gather_init PMPI_Gather_init, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "gather_init" MPI_Gather_init PMPI_Gather_init, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Gather_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Gather_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "gather_init" MPI_Gather_init_c PMPI_Gather_init_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Gather_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Gather_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "gatherv" MPI_Gatherv PMPI_Gatherv, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, displs: Address, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), recvcounts, displs, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "gatherv" MPI_Gatherv PMPI_Gatherv, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), recvcounts, displs, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "gatherv" MPI_Gatherv_c PMPI_Gatherv_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), recvcounts, displs, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "gatherv_init" MPI_Gatherv_init PMPI_Gatherv_init, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, displs: Address, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), recvcounts, displs, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "gatherv_init" MPI_Gatherv_init PMPI_Gatherv_init, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Gatherv_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Gatherv_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "gatherv_init" MPI_Gatherv_init_c PMPI_Gatherv_init_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Gatherv_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Gatherv_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "get" MPI_Get PMPI_Get, as call
    (origin_addr: Address, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(place(origin_addr), *origin_count, handle(origin_datatype), *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win));
        report(ierror, code);
    }
}

routine! {
    descriptor "get" MPI_Get PMPI_Get, as call
    (origin_addr: Choice, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Get", "origin_addr")) };
        let code = call(c_origin_addr.address, c_origin_addr.count as Integer, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "get" MPI_Get_c PMPI_Get_c, as call
    (origin_addr: Choice, origin_count: *const i64, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const i64, target_datatype: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Get_c", "origin_addr")) };
        let code = call(c_origin_addr.address, c_origin_addr.count, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win));
        report(ierror, code);
    }
}

routine! {
    address "get_accumulate" MPI_Get_accumulate PMPI_Get_accumulate, as call
    (origin_addr: Address, origin_count: *const Integer, origin_datatype: *const Integer, result_addr: Address, result_count: *const Integer, result_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, op: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(place(origin_addr), *origin_count, handle(origin_datatype), place(result_addr), *result_count, handle(result_datatype), *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win));
        report(ierror, code);
    }
}

routine! {
    descriptor "get_accumulate" MPI_Get_accumulate PMPI_Get_accumulate, as call
    (origin_addr: Choice, origin_count: *const Integer, origin_datatype: *const Integer, result_addr: Choice, result_count: *const Integer, result_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, op: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Get_accumulate", "origin_addr")) };
        let Some(c_result_addr) = described(result_addr, *result_count, handle(result_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Get_accumulate", "result_addr")) };
        let code = call(c_origin_addr.address, c_origin_addr.count as Integer, c_origin_addr.datatype, c_result_addr.address, c_result_addr.count as Integer, c_result_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "get_accumulate" MPI_Get_accumulate_c PMPI_Get_accumulate_c, as call
    (origin_addr: Choice, origin_count: *const i64, origin_datatype: *const Integer, result_addr: Choice, result_count: *const i64, result_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const i64, target_datatype: *const Integer, op: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Get_accumulate_c", "origin_addr")) };
        let Some(c_result_addr) = described(result_addr, *result_count, handle(result_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Get_accumulate_c", "result_addr")) };
        let code = call(c_origin_addr.address, c_origin_addr.count, c_origin_addr.datatype, c_result_addr.address, c_result_addr.count, c_result_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win));
        report(ierror, code);
    }
}

routine! {
    address "get_address" MPI_Get_address PMPI_Get_address, as call
    (location: Address, address: Address, ierror: *mut Integer) {
        let code = call(place(location), address);
        report(ierror, code);
    }
}

routine! {
    descriptor "get_address" MPI_Get_address PMPI_Get_address, as call
    (location: Choice, address: Address, ierror: *mut Integer) {
        let code = call(first_of(location), address);
        report(ierror, code);
    }
}

routine! {
    plain "get_count" MPI_Get_count PMPI_Get_count, as call
    (status: Address, datatype: *const Integer, count: Address, ierror: *mut Integer) {
        let code = call(status, handle(datatype), count);
        report(ierror, code);
    }
}

routine! {
    large_plain "get_count" MPI_Get_count_c PMPI_Get_count_c, as call
    (status: Address, datatype: *const Integer, count: Address, ierror: *mut Integer) {
        let code = call(status, handle(datatype), count);
        report(ierror, code);
    }
}

routine! {
    plain "get_elements" MPI_Get_elements PMPI_Get_elements, as call
    (status: Address, datatype: *const Integer, count: Address, ierror: *mut Integer) {
        let code = call(status, handle(datatype), count);
        report(ierror, code);
    }
}

routine! {
    large_plain "get_elements" MPI_Get_elements_c PMPI_Get_elements_c, as call
    (status: Address, datatype: *const Integer, count: Address, ierror: *mut Integer) {
        let code = call(status, handle(datatype), count);
        report(ierror, code);
    }
}

routine! {
    plain "get_elements_x" MPI_Get_elements_x PMPI_Get_elements_x, as call
    (status: Address, datatype: *const Integer, count: Address, ierror: *mut Integer) {
        let code = call(status, handle(datatype), count);
        report(ierror, code);
    }
}

routine! {
    plain "get_hw_resource_info" MPI_Get_hw_resource_info PMPI_Get_hw_resource_info, as call
    (hw_info: *mut Integer, ierror: *mut Integer) {
        let mut c_hw_info = handle(hw_info);
        let code = call((&raw mut c_hw_info).cast());
        *hw_info = number(c_hw_info);
        report(ierror, code);
    }
}

routine! {
    plain "get_library_version" MPI_Get_library_version PMPI_Get_library_version, as call
    (version: *mut u8, resultlen: Address, ierror: *mut Integer, version_len: usize) {
        let mut c_version = room(8192, version, version_len);
        let code = call(c_version.address(), resultlen);
        report(ierror, code);
    }
}

routine! {
    plain "get_processor_name" MPI_Get_processor_name PMPI_Get_processor_name, as call
    (name: *mut u8, resultlen: Address, ierror: *mut Integer, name_len: usize) {
        let mut c_name = room(256, name, name_len);
        let code = call(c_name.address(), resultlen);
        report(ierror, code);
    }
}

routine! {
    plain "get_version" MPI_Get_version PMPI_Get_version, as call
    (version: Address, subversion: Address, ierror: *mut Integer) {
        let code = call(version, subversion);
        report(ierror, code);
    }
}

routine! {
    plain "graph_create" MPI_Graph_create PMPI_Graph_create, as call
    (comm_old: *const Integer, nnodes: *const Integer, indx: Address, edges: Address, reorder: *const Integer, comm_graph: *mut Integer, ierror: *mut Integer) {
        let mut c_comm_graph = handle(comm_graph);
        let code = call(handle(comm_old), *nnodes, indx, edges, logical(reorder), (&raw mut c_comm_graph).cast());
        *comm_graph = number(c_comm_graph);
        report(ierror, code);
    }
}

routine! {
    plain "graph_get" MPI_Graph_get PMPI_Graph_get, as call
    (comm: *const Integer, maxindex: *const Integer, maxedges: *const Integer, indx: Address, edges: Address, ierror: *mut Integer) {
        let code = call(handle(comm), *maxindex, *maxedges, indx, edges);
        report(ierror, code);
    }
}

routine! {
    plain "graph_map" MPI_Graph_map PMPI_Graph_map, as call
    (comm: *const Integer, nnodes: *const Integer, indx: Address, edges: Address, newrank: Address, ierror: *mut Integer) {
        let code = call(handle(comm), *nnodes, indx, edges, newrank);
        report(ierror, code);
    }
}

routine! {
    plain "graph_neighbors" MPI_Graph_neighbors PMPI_Graph_neighbors, as call
    (comm: *const Integer, rank: *const Integer, maxneighbors: *const Integer, neighbors: Address, ierror: *mut Integer) {
        let code = call(handle(comm), *rank, *maxneighbors, neighbors);
        report(ierror, code);
    }
}

routine! {
    plain "graph_neighbors_count" MPI_Graph_neighbors_count PMPI_Graph_neighbors_count, as call
    (comm: *const Integer, rank: *const Integer, nneighbors: Address, ierror: *mut Integer) {
        let code = call(handle(comm), *rank, nneighbors);
        report(ierror, code);
    }
}

routine! {
    plain "graphdims_get" MPI_Graphdims_get PMPI_Graphdims_get, as call
    (comm: *const Integer, nnodes: Address, nedges: Address, ierror: *mut Integer) {
        let code = call(handle(comm), nnodes, nedges);
        report(ierror, code);
    }
}

routine! {
    plain "grequest_complete" MPI_Grequest_complete PMPI_Grequest_complete, as call
    (request: *const Integer, ierror: *mut Integer) {
        let code = call(handle(request));
        report(ierror, code);
    }
}

routine! {
    plain "group_compare" MPI_Group_compare PMPI_Group_compare, as call
    (group1: *const Integer, group2: *const Integer, result: Address, ierror: *mut Integer) {
        let code = call(handle(group1), handle(group2), result);
        report(ierror, code);
    }
}

routine! {
    plain "group_difference" MPI_Group_difference PMPI_Group_difference, as call
    (group1: *const Integer, group2: *const Integer, newgroup: *mut Integer, ierror: *mut Integer) {
        let mut c_newgroup = handle(newgroup);
        let code = call(handle(group1), handle(group2), (&raw mut c_newgroup).cast());
        *newgroup = number(c_newgroup);
        report(ierror, code);
    }
}

routine! {
    plain "group_excl" MPI_Group_excl PMPI_Group_excl, as call
    (group: *const Integer, n: *const Integer, ranks: Address, newgroup: *mut Integer, ierror: *mut Integer) {
        let mut c_newgroup = handle(newgroup);
        let code = call(handle(group), *n, ranks, (&raw mut c_newgroup).cast());
        *newgroup = number(c_newgroup);
        report(ierror, code);
    }
}

routine! {
    plain "group_free" MPI_Group_free PMPI_Group_free, as call
    (group: *mut Integer, ierror: *mut Integer) {
        let mut c_group = handle(group);
        let code = call((&raw mut c_group).cast());
        *group = number(c_group);
        report(ierror, code);
    }
}

routine! {
    plain "group_from_session_pset" MPI_Group_from_session_pset PMPI_Group_from_session_pset, as call
    (session: *const Integer, pset_name: *const u8, newgroup: *mut Integer, ierror: *mut Integer, pset_name_len: usize) {
        let c_pset_name = text(pset_name, pset_name_len);
        let mut c_newgroup = handle(newgroup);
        let code = call(handle(session), c_pset_name.as_ptr() as Address, (&raw mut c_newgroup).cast());
        *newgroup = number(c_newgroup);
        report(ierror, code);
    }
}

routine! {
    plain "group_incl" MPI_Group_incl PMPI_Group_incl, as call
    (group: *const Integer, n: *const Integer, ranks: Address, newgroup: *mut Integer, ierror: *mut Integer) {
        let mut c_newgroup = handle(newgroup);
        let code = call(handle(group), *n, ranks, (&raw mut c_newgroup).cast());
        *newgroup = number(c_newgroup);
        report(ierror, code);
    }
}

routine! {
    plain "group_intersection" MPI_Group_intersection PMPI_Group_intersection, as call
    (group1: *const Integer, group2: *const Integer, newgroup: *mut Integer, ierror: *mut Integer) {
        let mut c_newgroup = handle(newgroup);
        let code = call(handle(group1), handle(group2), (&raw mut c_newgroup).cast());
        *newgroup = number(c_newgroup);
        report(ierror, code);
    }
}

routine! {
    plain "group_range_excl" MPI_Group_range_excl PMPI_Group_range_excl, as call
    (group: *const Integer, n: *const Integer, ranges: Address, newgroup: *mut Integer, ierror: *mut Integer) {
        let mut c_newgroup = handle(newgroup);
        let code = call(handle(group), *n, ranges, (&raw mut c_newgroup).cast());
        *newgroup = number(c_newgroup);
        report(ierror, code);
    }
}

routine! {
    plain "group_range_incl" MPI_Group_range_incl PMPI_Group_range_incl, as call
    (group: *const Integer, n: *const Integer, ranges: Address, newgroup: *mut Integer, ierror: *mut Integer) {
        let mut c_newgroup = handle(newgroup);
        let code = call(handle(group), *n, ranges, (&raw mut c_newgroup).cast());
        *newgroup = number(c_newgroup);
        report(ierror, code);
    }
}

routine! {
    plain "group_rank" MPI_Group_rank PMPI_Group_rank, as call
    (group: *const Integer, rank: Address, ierror: *mut Integer) {
        let code = call(handle(group), rank);
        report(ierror, code);
    }
}

routine! {
    plain "group_size" MPI_Group_size PMPI_Group_size, as call
    (group: *const Integer, size: Address, ierror: *mut Integer) {
        let code = call(handle(group), size);
        report(ierror, code);
    }
}

routine! {
    plain "group_translate_ranks" MPI_Group_translate_ranks PMPI_Group_translate_ranks, as call
    (group1: *const Integer, n: *const Integer, ranks1: Address, group2: *const Integer, ranks2: Address, ierror: *mut Integer) {
        let code = call(handle(group1), *n, ranks1, handle(group2), ranks2);
        report(ierror, code);
    }
}

routine! {
    plain "group_union" MPI_Group_union PMPI_Group_union, as call
    (group1: *const Integer, group2: *const Integer, newgroup: *mut Integer, ierror: *mut Integer) {
        let mut c_newgroup = handle(newgroup);
        let code = call(handle(group1), handle(group2), (&raw mut c_newgroup).cast());
        *newgroup = number(c_newgroup);
        report(ierror, code);
    }
}

routine! {
    address "iallgather" MPI_Iallgather PMPI_Iallgather, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "iallgather" MPI_Iallgather PMPI_Iallgather, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallgather", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallgather", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "iallgather" MPI_Iallgather_c PMPI_Iallgather_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallgather_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallgather_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "iallgatherv" MPI_Iallgatherv PMPI_Iallgatherv, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), recvcounts, displs, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "iallgatherv" MPI_Iallgatherv PMPI_Iallgatherv, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallgatherv", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallgatherv", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "iallgatherv" MPI_Iallgatherv_c PMPI_Iallgatherv_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallgatherv_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallgatherv_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "iallreduce" MPI_Iallreduce PMPI_Iallreduce, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "iallreduce" MPI_Iallreduce PMPI_Iallreduce, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallreduce", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallreduce", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "iallreduce" MPI_Iallreduce_c PMPI_Iallreduce_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallreduce_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iallreduce_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ialltoall" MPI_Ialltoall PMPI_Ialltoall, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ialltoall" MPI_Ialltoall PMPI_Ialltoall, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoall", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoall", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ialltoall" MPI_Ialltoall_c PMPI_Ialltoall_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoall_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoall_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ialltoallv" MPI_Ialltoallv PMPI_Ialltoallv, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), sendcounts, sdispls, handle(sendtype), place(recvbuf), recvcounts, rdispls, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ialltoallv" MPI_Ialltoallv PMPI_Ialltoallv, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoallv", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoallv", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, handle(sendtype), c_recvbuf, recvcounts, rdispls, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ialltoallv" MPI_Ialltoallv_c PMPI_Ialltoallv_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoallv_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoallv_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, handle(sendtype), c_recvbuf, recvcounts, rdispls, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ialltoallw" MPI_Ialltoallw PMPI_Ialltoallw, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(place(sendbuf), || peers(handle(comm))));
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, peers(handle(comm)));
        let mut c_request = handle(request);
        let code = call(place(sendbuf), sendcounts, sdispls, c_sendtypes.address(), place(recvbuf), recvcounts, rdispls, c_recvtypes.address(), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ialltoallw" MPI_Ialltoallw PMPI_Ialltoallw, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoallw", "sendbuf")) };
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || peers(handle(comm))));
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoallw", "recvbuf")) };
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, peers(handle(comm)));
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, c_sendtypes.address(), c_recvbuf, recvcounts, rdispls, c_recvtypes.address(), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ialltoallw" MPI_Ialltoallw_c PMPI_Ialltoallw_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoallw_c", "sendbuf")) };
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || peers(handle(comm))));
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ialltoallw_c", "recvbuf")) };
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, peers(handle(comm)));
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, c_sendtypes.address(), c_recvbuf, recvcounts, rdispls, c_recvtypes.address(), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "ibarrier" MPI_Ibarrier PMPI_Ibarrier, as call
    (comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ibcast" MPI_Ibcast PMPI_Ibcast, as call
    (buffer: Address, count: *const Integer, datatype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buffer), *count, handle(datatype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ibcast" MPI_Ibcast PMPI_Ibcast, as call
    (buffer: Choice, count: *const Integer, datatype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buffer) = described(buffer, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ibcast", "buffer")) };
        let mut c_request = handle(request);
        let code = call(c_buffer.address, c_buffer.count as Integer, c_buffer.datatype, *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ibcast" MPI_Ibcast_c PMPI_Ibcast_c, as call
    (buffer: Choice, count: *const i64, datatype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buffer) = described(buffer, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ibcast_c", "buffer")) };
        let mut c_request = handle(request);
        let code = call(c_buffer.address, c_buffer.count, c_buffer.datatype, *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ibsend" MPI_Ibsend PMPI_Ibsend, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ibsend" MPI_Ibsend PMPI_Ibsend, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ibsend", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ibsend" MPI_Ibsend_c PMPI_Ibsend_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ibsend_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "iexscan" MPI_Iexscan PMPI_Iexscan, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "iexscan" MPI_Iexscan PMPI_Iexscan, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iexscan", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iexscan", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "iexscan" MPI_Iexscan_c PMPI_Iexscan_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iexscan_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iexscan_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "igather" MPI_Igather PMPI_Igather, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "igather" MPI_Igather PMPI_Igather, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Igather", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Igather", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "igather" MPI_Igather_c PMPI_Igather_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Igather_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Igather_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "igatherv" MPI_Igatherv PMPI_Igatherv, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, displs: Address, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), recvcounts, displs, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "igatherv" MPI_Igatherv PMPI_Igatherv, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Igatherv", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Igatherv", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "igatherv" MPI_Igatherv_c PMPI_Igatherv_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Igatherv_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Igatherv_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "improbe" MPI_Improbe PMPI_Improbe, as call
    (source: *const Integer, tag: *const Integer, comm: *const Integer, flag: Address, message: *mut Integer, status: Address, ierror: *mut Integer) {
        let mut c_message = handle(message);
        let code = call(*source, *tag, handle(comm), flag, (&raw mut c_message).cast(), place(status));
        *message = number(c_message);
        report(ierror, code);
    }
}

routine! {
    address "imrecv" MPI_Imrecv PMPI_Imrecv, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, message: *mut Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_message = handle(message);
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), (&raw mut c_message).cast(), (&raw mut c_request).cast());
        *message = number(c_message);
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "imrecv" MPI_Imrecv PMPI_Imrecv, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, message: *mut Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Process, "MPI_Imrecv", "buf")) };
        let mut c_message = handle(message);
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, (&raw mut c_message).cast(), (&raw mut c_request).cast());
        *message = number(c_message);
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "imrecv" MPI_Imrecv_c PMPI_Imrecv_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, message: *mut Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Process, "MPI_Imrecv_c", "buf")) };
        let mut c_message = handle(message);
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, (&raw mut c_message).cast(), (&raw mut c_request).cast());
        *message = number(c_message);
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ineighbor_allgather" MPI_Ineighbor_allgather PMPI_Ineighbor_allgather, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ineighbor_allgather" MPI_Ineighbor_allgather PMPI_Ineighbor_allgather, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_allgather", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_allgather", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ineighbor_allgather" MPI_Ineighbor_allgather_c PMPI_Ineighbor_allgather_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_allgather_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_allgather_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ineighbor_allgatherv" MPI_Ineighbor_allgatherv PMPI_Ineighbor_allgatherv, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), recvcounts, displs, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ineighbor_allgatherv" MPI_Ineighbor_allgatherv PMPI_Ineighbor_allgatherv, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_allgatherv", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_allgatherv", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ineighbor_allgatherv" MPI_Ineighbor_allgatherv_c PMPI_Ineighbor_allgatherv_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_allgatherv_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_allgatherv_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ineighbor_alltoall" MPI_Ineighbor_alltoall PMPI_Ineighbor_alltoall, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ineighbor_alltoall" MPI_Ineighbor_alltoall PMPI_Ineighbor_alltoall, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoall", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoall", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ineighbor_alltoall" MPI_Ineighbor_alltoall_c PMPI_Ineighbor_alltoall_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoall_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoall_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ineighbor_alltoallv" MPI_Ineighbor_alltoallv PMPI_Ineighbor_alltoallv, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), sendcounts, sdispls, handle(sendtype), place(recvbuf), recvcounts, rdispls, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ineighbor_alltoallv" MPI_Ineighbor_alltoallv PMPI_Ineighbor_alltoallv, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoallv", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoallv", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, handle(sendtype), c_recvbuf, recvcounts, rdispls, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ineighbor_alltoallv" MPI_Ineighbor_alltoallv_c PMPI_Ineighbor_alltoallv_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoallv_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoallv_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, handle(sendtype), c_recvbuf, recvcounts, rdispls, handle(recvtype), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ineighbor_alltoallw" MPI_Ineighbor_alltoallw PMPI_Ineighbor_alltoallw, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(place(sendbuf), || destinations(handle(comm))));
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, sources(handle(comm)));
        let mut c_request = handle(request);
        let code = call(place(sendbuf), sendcounts, sdispls, c_sendtypes.address(), place(recvbuf), recvcounts, rdispls, c_recvtypes.address(), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ineighbor_alltoallw" MPI_Ineighbor_alltoallw PMPI_Ineighbor_alltoallw, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoallw", "sendbuf")) };
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || destinations(handle(comm))));
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoallw", "recvbuf")) };
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, sources(handle(comm)));
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, c_sendtypes.address(), c_recvbuf, recvcounts, rdispls, c_recvtypes.address(), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ineighbor_alltoallw" MPI_Ineighbor_alltoallw_c PMPI_Ineighbor_alltoallw_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoallw_c", "sendbuf")) };
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || destinations(handle(comm))));
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ineighbor_alltoallw_c", "recvbuf")) };
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, sources(handle(comm)));
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, c_sendtypes.address(), c_recvbuf, recvcounts, rdispls, c_recvtypes.address(), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "info_create" MPI_Info_create PMPI_Info_create, as call
    (info: *mut Integer, ierror: *mut Integer) {
        let mut c_info = handle(info);
        let code = call((&raw mut c_info).cast());
        *info = number(c_info);
        report(ierror, code);
    }
}

routine! {
    plain "info_delete" MPI_Info_delete PMPI_Info_delete, as call
    (info: *const Integer, key: *const u8, ierror: *mut Integer, key_len: usize) {
        let c_key = stripped(key, key_len);
        let code = call(handle(info), c_key.as_ptr() as Address);
        report(ierror, code);
    }
}

routine! {
    plain "info_dup" MPI_Info_dup PMPI_Info_dup, as call
    (info: *const Integer, newinfo: *mut Integer, ierror: *mut Integer) {
        let mut c_newinfo = handle(newinfo);
        let code = call(handle(info), (&raw mut c_newinfo).cast());
        *newinfo = number(c_newinfo);
        report(ierror, code);
    }
}

routine! {
    plain "info_free" MPI_Info_free PMPI_Info_free, as call
    (info: *mut Integer, ierror: *mut Integer) {
        let mut c_info = handle(info);
        let code = call((&raw mut c_info).cast());
        *info = number(c_info);
        report(ierror, code);
    }
}

routine! {
    plain "info_get" MPI_Info_get PMPI_Info_get, as call
    (info: *const Integer, key: *const u8, valuelen: *const Integer, value: *mut u8, flag: Address, ierror: *mut Integer, key_len: usize, value_len: usize) {
        let c_key = stripped(key, key_len);
        let mut c_value = room((*valuelen).max(0) as usize + 1, value, value_len);
        let code = call(handle(info), c_key.as_ptr() as Address, *valuelen, c_value.address(), flag);
        report(ierror, code);
    }
}

routine! {
    plain "info_get_nkeys" MPI_Info_get_nkeys PMPI_Info_get_nkeys, as call
    (info: *const Integer, nkeys: Address, ierror: *mut Integer) {
        let code = call(handle(info), nkeys);
        report(ierror, code);
    }
}

routine! {
    plain "info_get_nthkey" MPI_Info_get_nthkey PMPI_Info_get_nthkey, as call
    (info: *const Integer, n: *const Integer, key: *mut u8, ierror: *mut Integer, key_len: usize) {
        let mut c_key = room(256, key, key_len);
        let code = call(handle(info), *n, c_key.address());
        report(ierror, code);
    }
}

routine! {
    plain "info_get_valuelen" MPI_Info_get_valuelen PMPI_Info_get_valuelen, as call
    (info: *const Integer, key: *const u8, valuelen: Address, flag: Address, ierror: *mut Integer, key_len: usize) {
        let c_key = stripped(key, key_len);
        let code = call(handle(info), c_key.as_ptr() as Address, valuelen, flag);
        report(ierror, code);
    }
}

routine! {
    plain "info_set" MPI_Info_set PMPI_Info_set, as call
    (info: *const Integer, key: *const u8, value: *const u8, ierror: *mut Integer, key_len: usize, value_len: usize) {
        let c_key = stripped(key, key_len);
        let c_value = stripped(value, value_len);
        let code = call(handle(info), c_key.as_ptr() as Address, c_value.as_ptr() as Address);
        report(ierror, code);
    }
}

routine! {
    plain "initialized" MPI_Initialized PMPI_Initialized, as call
    (flag: Address, ierror: *mut Integer) {
        let code = call(flag);
        report(ierror, code);
    }
}

routine! {
    plain "intercomm_create" MPI_Intercomm_create PMPI_Intercomm_create, as call
    (local_comm: *const Integer, local_leader: *const Integer, peer_comm: *const Integer, remote_leader: *const Integer, tag: *const Integer, newintercomm: *mut Integer, ierror: *mut Integer) {
        let mut c_newintercomm = handle(newintercomm);
        let code = call(handle(local_comm), *local_leader, handle(peer_comm), *remote_leader, *tag, (&raw mut c_newintercomm).cast());
        *newintercomm = number(c_newintercomm);
        report(ierror, code);
    }
}

routine! {
    plain "intercomm_create_from_groups" MPI_Intercomm_create_from_groups PMPI_Intercomm_create_from_groups, as call
    (local_group: *const Integer, local_leader: *const Integer, remote_group: *const Integer, remote_leader: *const Integer, stringtag: *const u8, info: *const Integer, errhandler: *const Integer, newintercomm: *mut Integer, ierror: *mut Integer, stringtag_len: usize) {
        let c_stringtag = text(stringtag, stringtag_len);
        let mut c_newintercomm = handle(newintercomm);
        let code = call(handle(local_group), *local_leader, handle(remote_group), *remote_leader, c_stringtag.as_ptr() as Address, handle(info), handle(errhandler), (&raw mut c_newintercomm).cast());
        *newintercomm = number(c_newintercomm);
        report(ierror, code);
    }
}

routine! {
    plain "intercomm_merge" MPI_Intercomm_merge PMPI_Intercomm_merge, as call
    (intercomm: *const Integer, high: *const Integer, newintracomm: *mut Integer, ierror: *mut Integer) {
        let mut c_newintracomm = handle(newintracomm);
        let code = call(handle(intercomm), logical(high), (&raw mut c_newintracomm).cast());
        *newintracomm = number(c_newintracomm);
        report(ierror, code);
    }
}

routine! {
    plain "iprobe" MPI_Iprobe PMPI_Iprobe, as call
    (source: *const Integer, tag: *const Integer, comm: *const Integer, flag: Address, status: Address, ierror: *mut Integer) {
        let code = call(*source, *tag, handle(comm), flag, place(status));
        report(ierror, code);
    }
}

routine! {
    address "irecv" MPI_Irecv PMPI_Irecv, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, source: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), *source, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "irecv" MPI_Irecv PMPI_Irecv, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, source: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Irecv", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, *source, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "irecv" MPI_Irecv_c PMPI_Irecv_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, source: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Irecv_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, *source, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ireduce" MPI_Ireduce PMPI_Ireduce, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ireduce" MPI_Ireduce PMPI_Ireduce, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ireduce" MPI_Ireduce_c PMPI_Ireduce_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ireduce_scatter" MPI_Ireduce_scatter PMPI_Ireduce_scatter, as call
    (sendbuf: Address, recvbuf: Address, recvcounts: Address, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), recvcounts, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ireduce_scatter" MPI_Ireduce_scatter PMPI_Ireduce_scatter, as call
    (sendbuf: Choice, recvbuf: Choice, recvcounts: Address, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce_scatter", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce_scatter", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, recvcounts, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ireduce_scatter" MPI_Ireduce_scatter_c PMPI_Ireduce_scatter_c, as call
    (sendbuf: Choice, recvbuf: Choice, recvcounts: Address, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce_scatter_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce_scatter_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, recvcounts, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "ireduce_scatter_block" MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block, as call
    (sendbuf: Address, recvbuf: Address, recvcount: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), *recvcount, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ireduce_scatter_block" MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block, as call
    (sendbuf: Choice, recvbuf: Choice, recvcount: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce_scatter_block", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce_scatter_block", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *recvcount, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ireduce_scatter_block" MPI_Ireduce_scatter_block_c PMPI_Ireduce_scatter_block_c, as call
    (sendbuf: Choice, recvbuf: Choice, recvcount: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce_scatter_block_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ireduce_scatter_block_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *recvcount, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "irsend" MPI_Irsend PMPI_Irsend, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "irsend" MPI_Irsend PMPI_Irsend, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Irsend", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "irsend" MPI_Irsend_c PMPI_Irsend_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Irsend_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "is_thread_main" MPI_Is_thread_main PMPI_Is_thread_main, as call
    (flag: Address, ierror: *mut Integer) {
        let code = call(flag);
        report(ierror, code);
    }
}

routine! {
    address "iscan" MPI_Iscan PMPI_Iscan, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "iscan" MPI_Iscan PMPI_Iscan, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscan", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscan", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "iscan" MPI_Iscan_c PMPI_Iscan_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscan_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscan_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "iscatter" MPI_Iscatter PMPI_Iscatter, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "iscatter" MPI_Iscatter PMPI_Iscatter, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscatter", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscatter", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "iscatter" MPI_Iscatter_c PMPI_Iscatter_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscatter_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscatter_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "iscatterv" MPI_Iscatterv PMPI_Iscatterv, as call
    (sendbuf: Address, sendcounts: Address, displs: Address, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), sendcounts, displs, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "iscatterv" MPI_Iscatterv PMPI_Iscatterv, as call
    (sendbuf: Choice, sendcounts: Address, displs: Address, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscatterv", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscatterv", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, displs, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "iscatterv" MPI_Iscatterv_c PMPI_Iscatterv_c, as call
    (sendbuf: Choice, sendcounts: Address, displs: Address, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, root: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscatterv_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Iscatterv_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, displs, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "isend" MPI_Isend PMPI_Isend, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "isend" MPI_Isend PMPI_Isend, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Isend", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "isend" MPI_Isend_c PMPI_Isend_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Isend_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "isendrecv" MPI_Isendrecv PMPI_Isendrecv, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, dest: *const Integer, sendtag: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), *dest, *sendtag, place(recvbuf), *recvcount, handle(recvtype), *source, *recvtag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "isendrecv" MPI_Isendrecv PMPI_Isendrecv, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, dest: *const Integer, sendtag: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = described(sendbuf, *sendcount, handle(sendtype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Isendrecv", "sendbuf")) };
        let Some(c_recvbuf) = described(recvbuf, *recvcount, handle(recvtype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Isendrecv", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf.address, c_sendbuf.count as Integer, c_sendbuf.datatype, *dest, *sendtag, c_recvbuf.address, c_recvbuf.count as Integer, c_recvbuf.datatype, *source, *recvtag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "isendrecv" MPI_Isendrecv_c PMPI_Isendrecv_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, dest: *const Integer, sendtag: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = described(sendbuf, *sendcount, handle(sendtype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Isendrecv_c", "sendbuf")) };
        let Some(c_recvbuf) = described(recvbuf, *recvcount, handle(recvtype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Isendrecv_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf.address, c_sendbuf.count, c_sendbuf.datatype, *dest, *sendtag, c_recvbuf.address, c_recvbuf.count, c_recvbuf.datatype, *source, *recvtag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "isendrecv_replace" MPI_Isendrecv_replace PMPI_Isendrecv_replace, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, sendtag: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), *dest, *sendtag, *source, *recvtag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "isendrecv_replace" MPI_Isendrecv_replace PMPI_Isendrecv_replace, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, sendtag: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Isendrecv_replace", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, *dest, *sendtag, *source, *recvtag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "isendrecv_replace" MPI_Isendrecv_replace_c PMPI_Isendrecv_replace_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, sendtag: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Isendrecv_replace_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, *dest, *sendtag, *source, *recvtag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "issend" MPI_Issend PMPI_Issend, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "issend" MPI_Issend PMPI_Issend, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Issend", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "issend" MPI_Issend_c PMPI_Issend_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Issend_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "keyval_free" MPI_Keyval_free PMPI_Keyval_free, as call
    (keyval: Address, ierror: *mut Integer) {
        let code = call(keyval);
        report(ierror, code);
    }
}

routine! {
    plain "lookup_name" MPI_Lookup_name PMPI_Lookup_name, as call
    (service_name: *const u8, info: *const Integer, port_name: *mut u8, ierror: *mut Integer, service_name_len: usize, port_name_len: usize) {
        let c_service_name = text(service_name, service_name_len);
        let mut c_port_name = room(1024, port_name, port_name_len);
        let code = call(c_service_name.as_ptr() as Address, handle(info), c_port_name.address());
        report(ierror, code);
    }
}

routine! {
    plain "mprobe" MPI_Mprobe PMPI_Mprobe, as call
    (source: *const Integer, tag: *const Integer, comm: *const Integer, message: *mut Integer, status: Address, ierror: *mut Integer) {
        let mut c_message = handle(message);
        let code = call(*source, *tag, handle(comm), (&raw mut c_message).cast(), place(status));
        *message = number(c_message);
        report(ierror, code);
    }
}

routine! {
    address "mrecv" MPI_Mrecv PMPI_Mrecv, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, message: *mut Integer, status: Address, ierror: *mut Integer) {
        let mut c_message = handle(message);
        let code = call(place(buf), *count, handle(datatype), (&raw mut c_message).cast(), place(status));
        *message = number(c_message);
        report(ierror, code);
    }
}

routine! {
    descriptor "mrecv" MPI_Mrecv PMPI_Mrecv, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, message: *mut Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let mut c_message = handle(message);
        let code = call(c_buf.address(), *count, handle(datatype), (&raw mut c_message).cast(), place(status));
        *message = number(c_message);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "mrecv" MPI_Mrecv_c PMPI_Mrecv_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, message: *mut Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let mut c_message = handle(message);
        let code = call(c_buf.address(), *count, handle(datatype), (&raw mut c_message).cast(), place(status));
        *message = number(c_message);
        report(ierror, code);
    }
}

routine! {
    address "neighbor_allgather" MPI_Neighbor_allgather PMPI_Neighbor_allgather, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "neighbor_allgather" MPI_Neighbor_allgather PMPI_Neighbor_allgather, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "neighbor_allgather" MPI_Neighbor_allgather_c PMPI_Neighbor_allgather_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "neighbor_allgather_init" MPI_Neighbor_allgather_init PMPI_Neighbor_allgather_init, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "neighbor_allgather_init" MPI_Neighbor_allgather_init PMPI_Neighbor_allgather_init, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_allgather_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_allgather_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "neighbor_allgather_init" MPI_Neighbor_allgather_init_c PMPI_Neighbor_allgather_init_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_allgather_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_allgather_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "neighbor_allgatherv" MPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), recvcounts, displs, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "neighbor_allgatherv" MPI_Neighbor_allgatherv PMPI_Neighbor_allgatherv, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), recvcounts, displs, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "neighbor_allgatherv" MPI_Neighbor_allgatherv_c PMPI_Neighbor_allgatherv_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), recvcounts, displs, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "neighbor_allgatherv_init" MPI_Neighbor_allgatherv_init PMPI_Neighbor_allgatherv_init, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), recvcounts, displs, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "neighbor_allgatherv_init" MPI_Neighbor_allgatherv_init PMPI_Neighbor_allgatherv_init, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_allgatherv_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_allgatherv_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "neighbor_allgatherv_init" MPI_Neighbor_allgatherv_init_c PMPI_Neighbor_allgatherv_init_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, displs: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_allgatherv_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_allgatherv_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, recvcounts, displs, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "neighbor_alltoall" MPI_Neighbor_alltoall PMPI_Neighbor_alltoall, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "neighbor_alltoall" MPI_Neighbor_alltoall PMPI_Neighbor_alltoall, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "neighbor_alltoall" MPI_Neighbor_alltoall_c PMPI_Neighbor_alltoall_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "neighbor_alltoall_init" MPI_Neighbor_alltoall_init PMPI_Neighbor_alltoall_init, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "neighbor_alltoall_init" MPI_Neighbor_alltoall_init PMPI_Neighbor_alltoall_init, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoall_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoall_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "neighbor_alltoall_init" MPI_Neighbor_alltoall_init_c PMPI_Neighbor_alltoall_init_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoall_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoall_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "neighbor_alltoallv" MPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), sendcounts, sdispls, handle(sendtype), place(recvbuf), recvcounts, rdispls, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "neighbor_alltoallv" MPI_Neighbor_alltoallv PMPI_Neighbor_alltoallv, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), sendcounts, sdispls, handle(sendtype), c_recvbuf.address(), recvcounts, rdispls, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "neighbor_alltoallv" MPI_Neighbor_alltoallv_c PMPI_Neighbor_alltoallv_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), sendcounts, sdispls, handle(sendtype), c_recvbuf.address(), recvcounts, rdispls, handle(recvtype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "neighbor_alltoallv_init" MPI_Neighbor_alltoallv_init PMPI_Neighbor_alltoallv_init, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), sendcounts, sdispls, handle(sendtype), place(recvbuf), recvcounts, rdispls, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "neighbor_alltoallv_init" MPI_Neighbor_alltoallv_init PMPI_Neighbor_alltoallv_init, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoallv_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoallv_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, handle(sendtype), c_recvbuf, recvcounts, rdispls, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "neighbor_alltoallv_init" MPI_Neighbor_alltoallv_init_c PMPI_Neighbor_alltoallv_init_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtype: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtype: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoallv_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoallv_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, handle(sendtype), c_recvbuf, recvcounts, rdispls, handle(recvtype), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "neighbor_alltoallw" MPI_Neighbor_alltoallw PMPI_Neighbor_alltoallw, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(place(sendbuf), || destinations(handle(comm))));
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, sources(handle(comm)));
        let code = call(place(sendbuf), sendcounts, sdispls, c_sendtypes.address(), place(recvbuf), recvcounts, rdispls, c_recvtypes.address(), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "neighbor_alltoallw" MPI_Neighbor_alltoallw PMPI_Neighbor_alltoallw, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || destinations(handle(comm))));
        let c_recvbuf = copied(recvbuf, true);
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, sources(handle(comm)));
        let code = call(c_sendbuf.address(), sendcounts, sdispls, c_sendtypes.address(), c_recvbuf.address(), recvcounts, rdispls, c_recvtypes.address(), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "neighbor_alltoallw" MPI_Neighbor_alltoallw_c PMPI_Neighbor_alltoallw_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || destinations(handle(comm))));
        let c_recvbuf = copied(recvbuf, true);
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, sources(handle(comm)));
        let code = call(c_sendbuf.address(), sendcounts, sdispls, c_sendtypes.address(), c_recvbuf.address(), recvcounts, rdispls, c_recvtypes.address(), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "neighbor_alltoallw_init" MPI_Neighbor_alltoallw_init PMPI_Neighbor_alltoallw_init, as call
    (sendbuf: Address, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Address, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(place(sendbuf), || destinations(handle(comm))));
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, sources(handle(comm)));
        let mut c_request = handle(request);
        let code = call(place(sendbuf), sendcounts, sdispls, c_sendtypes.address(), place(recvbuf), recvcounts, rdispls, c_recvtypes.address(), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "neighbor_alltoallw_init" MPI_Neighbor_alltoallw_init PMPI_Neighbor_alltoallw_init, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoallw_init", "sendbuf")) };
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || destinations(handle(comm))));
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoallw_init", "recvbuf")) };
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, sources(handle(comm)));
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, c_sendtypes.address(), c_recvbuf, recvcounts, rdispls, c_recvtypes.address(), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "neighbor_alltoallw_init" MPI_Neighbor_alltoallw_init_c PMPI_Neighbor_alltoallw_init_c, as call
    (sendbuf: Choice, sendcounts: Address, sdispls: Address, sendtypes: *const Integer, recvbuf: Choice, recvcounts: Address, rdispls: Address, recvtypes: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoallw_init_c", "sendbuf")) };
        let mut few_sendtypes = Few::new();
        let mut c_sendtypes = handles(&mut few_sendtypes, sendtypes, unless_in_place(first_of(sendbuf), || destinations(handle(comm))));
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Neighbor_alltoallw_init_c", "recvbuf")) };
        let mut few_recvtypes = Few::new();
        let mut c_recvtypes = handles(&mut few_recvtypes, recvtypes, sources(handle(comm)));
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, sdispls, c_sendtypes.address(), c_recvbuf, recvcounts, rdispls, c_recvtypes.address(), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "op_commutative" MPI_Op_commutative PMPI_Op_commutative, as call
    (op: *const Integer, commute: Address, ierror: *mut Integer) {
        let code = call(handle(op), commute);
        report(ierror, code);
    }
}

routine! {
    plain "op_create" MPI_Op_create PMPI_Op_create, as call
    (user_fn: Address, commute: *const Integer, op: *mut Integer, ierror: *mut Integer) {
        let mut c_op = handle(op);
        let code = call(user_fn, logical(commute), (&raw mut c_op).cast());
        *op = number(c_op);
        report(ierror, code);
    }
}

routine! {
    large_plain "op_create" MPI_Op_create_c PMPI_Op_create_c, as call
    (user_fn: Address, commute: *const Integer, op: *mut Integer, ierror: *mut Integer) {
        let mut c_op = handle(op);
        let code = call(user_fn, logical(commute), (&raw mut c_op).cast());
        *op = number(c_op);
        report(ierror, code);
    }
}

routine! {
    plain "op_free" MPI_Op_free PMPI_Op_free, as call
    (op: *mut Integer, ierror: *mut Integer) {
        let mut c_op = handle(op);
        let code = call((&raw mut c_op).cast());
        *op = number(c_op);
        report(ierror, code);
    }
}

routine! {
    plain "open_port" MPI_Open_port PMPI_Open_port, as call
    (info: *const Integer, port_name: *mut u8, ierror: *mut Integer, port_name_len: usize) {
        let mut c_port_name = room(1024, port_name, port_name_len);
        let code = call(handle(info), c_port_name.address());
        report(ierror, code);
    }
}

routine! {
    address "pack" MPI_Pack PMPI_Pack, as call
    (inbuf: Address, incount: *const Integer, datatype: *const Integer, outbuf: Address, outsize: *const Integer, position: Address, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(inbuf), *incount, handle(datatype), place(outbuf), *outsize, position, handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "pack" MPI_Pack PMPI_Pack, as call
    (inbuf: Choice, incount: *const Integer, datatype: *const Integer, outbuf: Choice, outsize: *const Integer, position: Address, comm: *const Integer, ierror: *mut Integer) {
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_inbuf.address(), *incount, handle(datatype), c_outbuf.address(), *outsize, position, handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "pack" MPI_Pack_c PMPI_Pack_c, as call
    (inbuf: Choice, incount: *const i64, datatype: *const Integer, outbuf: Choice, outsize: *const i64, position: Address, comm: *const Integer, ierror: *mut Integer) {
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_inbuf.address(), *incount, handle(datatype), c_outbuf.address(), *outsize, position, handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "pack_external" MPI_Pack_external PMPI_Pack_external, as call
    (datarep: *const u8, inbuf: Address, incount: *const Integer, datatype: *const Integer, outbuf: Address, outsize: *const isize, position: Address, ierror: *mut Integer, datarep_len: usize) {
        let c_datarep = text(datarep, datarep_len);
        let code = call(c_datarep.as_ptr() as Address, place(inbuf), *incount, handle(datatype), place(outbuf), *outsize, position);
        report(ierror, code);
    }
}

routine! {
    text "pack_external" MPI_Pack_external PMPI_Pack_external, as call
    (datarep: Choice, inbuf: Choice, incount: *const Integer, datatype: *const Integer, outbuf: Choice, outsize: *const isize, position: Address, ierror: *mut Integer) {
        let c_datarep = text(first_of(datarep).cast(), element(datarep));
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_datarep.as_ptr() as Address, c_inbuf.address(), *incount, handle(datatype), c_outbuf.address(), *outsize, position);
        report(ierror, code);
    }
}

routine! {
    lengths "pack_external" MPI_Pack_external PMPI_Pack_external, as call
    (datarep: *const u8, inbuf: Choice, incount: *const Integer, datatype: *const Integer, outbuf: Choice, outsize: *const isize, position: Address, ierror: *mut Integer, datarep_len: usize) {
        let c_datarep = text(datarep, datarep_len);
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_datarep.as_ptr() as Address, c_inbuf.address(), *incount, handle(datatype), c_outbuf.address(), *outsize, position);
        report(ierror, code);
    }
}

routine! {
    large_text "pack_external" MPI_Pack_external_c PMPI_Pack_external_c, as call
    (datarep: Choice, inbuf: Choice, incount: *const i64, datatype: *const Integer, outbuf: Choice, outsize: *const i64, position: Address, ierror: *mut Integer) {
        let c_datarep = text(first_of(datarep).cast(), element(datarep));
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_datarep.as_ptr() as Address, c_inbuf.address(), *incount, handle(datatype), c_outbuf.address(), *outsize, position);
        report(ierror, code);
    }
}

routine! {
    large_lengths "pack_external" MPI_Pack_external_c PMPI_Pack_external_c, as call
    (datarep: *const u8, inbuf: Choice, incount: *const i64, datatype: *const Integer, outbuf: Choice, outsize: *const i64, position: Address, ierror: *mut Integer, datarep_len: usize) {
        let c_datarep = text(datarep, datarep_len);
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_datarep.as_ptr() as Address, c_inbuf.address(), *incount, handle(datatype), c_outbuf.address(), *outsize, position);
        report(ierror, code);
    }
}

routine! {
    plain "pack_external_size" MPI_Pack_external_size PMPI_Pack_external_size, as call
    (datarep: *const u8, incount: *const Integer, datatype: *const Integer, size: Address, ierror: *mut Integer, datarep_len: usize) {
        let c_datarep = text(datarep, datarep_len);
        let code = call(c_datarep.as_ptr() as Address, *incount, handle(datatype), size);
        report(ierror, code);
    }
}

routine! {
    large_plain "pack_external_size" MPI_Pack_external_size_c PMPI_Pack_external_size_c, as call
    (datarep: *const u8, incount: *const i64, datatype: *const Integer, size: Address, ierror: *mut Integer, datarep_len: usize) {
        let c_datarep = text(datarep, datarep_len);
        let code = call(c_datarep.as_ptr() as Address, *incount, handle(datatype), size);
        report(ierror, code);
    }
}

routine! {
    plain "pack_size" MPI_Pack_size PMPI_Pack_size, as call
    (incount: *const Integer, datatype: *const Integer, comm: *const Integer, size: Address, ierror: *mut Integer) {
        let code = call(*incount, handle(datatype), handle(comm), size);
        report(ierror, code);
    }
}

routine! {
    large_plain "pack_size" MPI_Pack_size_c PMPI_Pack_size_c, as call
    (incount: *const i64, datatype: *const Integer, comm: *const Integer, size: Address, ierror: *mut Integer) {
        let code = call(*incount, handle(datatype), handle(comm), size);
        report(ierror, code);
    }
}

routine! {
    plain "parrived" MPI_Parrived PMPI_Parrived, as call
    (request: *const Integer, partition: *const Integer, flag: Address, ierror: *mut Integer) {
        let code = call(handle(request), *partition, flag);
        report(ierror, code);
    }
}

routine! {
    plain "pready" MPI_Pready PMPI_Pready, as call
    (partition: *const Integer, request: *const Integer, ierror: *mut Integer) {
        let code = call(*partition, handle(request));
        report(ierror, code);
    }
}

routine! {
    plain "pready_list" MPI_Pready_list PMPI_Pready_list, as call
    (length: *const Integer, array_of_partitions: Address, request: *const Integer, ierror: *mut Integer) {
        let code = call(*length, array_of_partitions, handle(request));
        report(ierror, code);
    }
}

routine! {
    plain "pready_range" MPI_Pready_range PMPI_Pready_range, as call
    (partition_low: *const Integer, partition_high: *const Integer, request: *const Integer, ierror: *mut Integer) {
        let code = call(*partition_low, *partition_high, handle(request));
        report(ierror, code);
    }
}

routine! {
    address "precv_init" MPI_Precv_init PMPI_Precv_init, as call
    (buf: Address, partitions: *const Integer, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *partitions, *count, handle(datatype), *dest, *tag, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "precv_init" MPI_Precv_init PMPI_Precv_init, as call
    (buf: Choice, partitions: *const Integer, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = whole(buf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Precv_init", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf, *partitions, *count, handle(datatype), *dest, *tag, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "precv_init_c" MPI_Precv_init_c PMPI_Precv_init_c, as call
    (buf: Address, partitions: *const Integer, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *partitions, *count, handle(datatype), *dest, *tag, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "precv_init" MPI_Precv_init_c PMPI_Precv_init_c, as call
    (buf: Choice, partitions: *const Integer, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = whole(buf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Precv_init_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf, *partitions, *count, handle(datatype), *dest, *tag, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "probe" MPI_Probe PMPI_Probe, as call
    (source: *const Integer, tag: *const Integer, comm: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(*source, *tag, handle(comm), place(status));
        report(ierror, code);
    }
}

routine! {
    address "psend_init" MPI_Psend_init PMPI_Psend_init, as call
    (buf: Address, partitions: *const Integer, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *partitions, *count, handle(datatype), *dest, *tag, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "psend_init" MPI_Psend_init PMPI_Psend_init, as call
    (buf: Choice, partitions: *const Integer, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = whole(buf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Psend_init", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf, *partitions, *count, handle(datatype), *dest, *tag, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "psend_init_c" MPI_Psend_init_c PMPI_Psend_init_c, as call
    (buf: Address, partitions: *const Integer, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *partitions, *count, handle(datatype), *dest, *tag, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "psend_init" MPI_Psend_init_c PMPI_Psend_init_c, as call
    (buf: Choice, partitions: *const Integer, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = whole(buf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Psend_init_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf, *partitions, *count, handle(datatype), *dest, *tag, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "publish_name" MPI_Publish_name PMPI_Publish_name, as call
    (service_name: *const u8, info: *const Integer, port_name: *const u8, ierror: *mut Integer, service_name_len: usize, port_name_len: usize) {
        let c_service_name = text(service_name, service_name_len);
        let c_port_name = text(port_name, port_name_len);
        let code = call(c_service_name.as_ptr() as Address, handle(info), c_port_name.as_ptr() as Address);
        report(ierror, code);
    }
}

routine! {
    address "put" MPI_Put PMPI_Put, as call
    (origin_addr: Address, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(place(origin_addr), *origin_count, handle(origin_datatype), *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win));
        report(ierror, code);
    }
}

routine! {
    descriptor "put" MPI_Put PMPI_Put, as call
    (origin_addr: Choice, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Put", "origin_addr")) };
        let code = call(c_origin_addr.address, c_origin_addr.count as Integer, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "put" MPI_Put_c PMPI_Put_c, as call
    (origin_addr: Choice, origin_count: *const i64, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const i64, target_datatype: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Put_c", "origin_addr")) };
        let code = call(c_origin_addr.address, c_origin_addr.count, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "query_thread" MPI_Query_thread PMPI_Query_thread, as call
    (provided: Address, ierror: *mut Integer) {
        let code = call(provided);
        report(ierror, code);
    }
}

routine! {
    address "raccumulate" MPI_Raccumulate PMPI_Raccumulate, as call
    (origin_addr: Address, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, op: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(origin_addr), *origin_count, handle(origin_datatype), *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "raccumulate" MPI_Raccumulate PMPI_Raccumulate, as call
    (origin_addr: Choice, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, op: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Raccumulate", "origin_addr")) };
        let mut c_request = handle(request);
        let code = call(c_origin_addr.address, c_origin_addr.count as Integer, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "raccumulate" MPI_Raccumulate_c PMPI_Raccumulate_c, as call
    (origin_addr: Choice, origin_count: *const i64, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const i64, target_datatype: *const Integer, op: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Raccumulate_c", "origin_addr")) };
        let mut c_request = handle(request);
        let code = call(c_origin_addr.address, c_origin_addr.count, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "recv" MPI_Recv PMPI_Recv, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, source: *const Integer, tag: *const Integer, comm: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(place(buf), *count, handle(datatype), *source, *tag, handle(comm), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "recv" MPI_Recv PMPI_Recv, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, source: *const Integer, tag: *const Integer, comm: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(c_buf.address(), *count, handle(datatype), *source, *tag, handle(comm), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "recv" MPI_Recv_c PMPI_Recv_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, source: *const Integer, tag: *const Integer, comm: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(c_buf.address(), *count, handle(datatype), *source, *tag, handle(comm), place(status));
        report(ierror, code);
    }
}

routine! {
    address "recv_init" MPI_Recv_init PMPI_Recv_init, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, source: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), *source, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "recv_init" MPI_Recv_init PMPI_Recv_init, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, source: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Recv_init", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, *source, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "recv_init" MPI_Recv_init_c PMPI_Recv_init_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, source: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Recv_init_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, *source, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "reduce" MPI_Reduce PMPI_Reduce, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "reduce" MPI_Reduce PMPI_Reduce, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), *count, handle(datatype), handle(op), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "reduce" MPI_Reduce_c PMPI_Reduce_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), *count, handle(datatype), handle(op), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "reduce_init" MPI_Reduce_init PMPI_Reduce_init, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "reduce_init" MPI_Reduce_init PMPI_Reduce_init, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "reduce_init" MPI_Reduce_init_c PMPI_Reduce_init_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "reduce_local" MPI_Reduce_local PMPI_Reduce_local, as call
    (inbuf: Address, inoutbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, ierror: *mut Integer) {
        let code = call(place(inbuf), place(inoutbuf), *count, handle(datatype), handle(op));
        report(ierror, code);
    }
}

routine! {
    descriptor "reduce_local" MPI_Reduce_local PMPI_Reduce_local, as call
    (inbuf: Choice, inoutbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, ierror: *mut Integer) {
        let c_inbuf = copied(inbuf, false);
        let c_inoutbuf = copied(inoutbuf, true);
        let code = call(c_inbuf.address(), c_inoutbuf.address(), *count, handle(datatype), handle(op));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "reduce_local" MPI_Reduce_local_c PMPI_Reduce_local_c, as call
    (inbuf: Choice, inoutbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, ierror: *mut Integer) {
        let c_inbuf = copied(inbuf, false);
        let c_inoutbuf = copied(inoutbuf, true);
        let code = call(c_inbuf.address(), c_inoutbuf.address(), *count, handle(datatype), handle(op));
        report(ierror, code);
    }
}

routine! {
    address "reduce_scatter" MPI_Reduce_scatter PMPI_Reduce_scatter, as call
    (sendbuf: Address, recvbuf: Address, recvcounts: Address, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), place(recvbuf), recvcounts, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "reduce_scatter" MPI_Reduce_scatter PMPI_Reduce_scatter, as call
    (sendbuf: Choice, recvbuf: Choice, recvcounts: Address, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), recvcounts, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "reduce_scatter" MPI_Reduce_scatter_c PMPI_Reduce_scatter_c, as call
    (sendbuf: Choice, recvbuf: Choice, recvcounts: Address, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), recvcounts, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "reduce_scatter_block" MPI_Reduce_scatter_block PMPI_Reduce_scatter_block, as call
    (sendbuf: Address, recvbuf: Address, recvcount: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), place(recvbuf), *recvcount, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "reduce_scatter_block" MPI_Reduce_scatter_block PMPI_Reduce_scatter_block, as call
    (sendbuf: Choice, recvbuf: Choice, recvcount: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), *recvcount, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "reduce_scatter_block" MPI_Reduce_scatter_block_c PMPI_Reduce_scatter_block_c, as call
    (sendbuf: Choice, recvbuf: Choice, recvcount: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), *recvcount, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "reduce_scatter_block_init" MPI_Reduce_scatter_block_init PMPI_Reduce_scatter_block_init, as call
    (sendbuf: Address, recvbuf: Address, recvcount: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), *recvcount, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "reduce_scatter_block_init" MPI_Reduce_scatter_block_init PMPI_Reduce_scatter_block_init, as call
    (sendbuf: Choice, recvbuf: Choice, recvcount: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_scatter_block_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_scatter_block_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *recvcount, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "reduce_scatter_block_init" MPI_Reduce_scatter_block_init_c PMPI_Reduce_scatter_block_init_c, as call
    (sendbuf: Choice, recvbuf: Choice, recvcount: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_scatter_block_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_scatter_block_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *recvcount, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "reduce_scatter_init" MPI_Reduce_scatter_init PMPI_Reduce_scatter_init, as call
    (sendbuf: Address, recvbuf: Address, recvcounts: Address, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), recvcounts, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "reduce_scatter_init" MPI_Reduce_scatter_init PMPI_Reduce_scatter_init, as call
    (sendbuf: Choice, recvbuf: Choice, recvcounts: Address, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_scatter_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_scatter_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, recvcounts, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "reduce_scatter_init" MPI_Reduce_scatter_init_c PMPI_Reduce_scatter_init_c, as call
    (sendbuf: Choice, recvbuf: Choice, recvcounts: Address, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_scatter_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Reduce_scatter_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, recvcounts, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "remove_error_class" MPI_Remove_error_class PMPI_Remove_error_class, as call
    (errorclass: *const Integer, ierror: *mut Integer) {
        let code = call(*errorclass);
        report(ierror, code);
    }
}

routine! {
    plain "remove_error_code" MPI_Remove_error_code PMPI_Remove_error_code, as call
    (errorcode: *const Integer, ierror: *mut Integer) {
        let code = call(*errorcode);
        report(ierror, code);
    }
}

routine! {
    plain "remove_error_string" MPI_Remove_error_string PMPI_Remove_error_string, as call
    (errorcode: *const Integer, ierror: *mut Integer) {
        let code = call(*errorcode);
        report(ierror, code);
    }
}

routine! {
    plain "request_free" MPI_Request_free PMPI_Request_free, as call
    (request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call((&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "request_get_status" MPI_Request_get_status PMPI_Request_get_status, as call
    (request: *const Integer, flag: Address, status: Address, ierror: *mut Integer) {
        let code = call(handle(request), flag, place(status));
        report(ierror, code);
    }
}

routine! {
    plain "request_get_status_all" MPI_Request_get_status_all PMPI_Request_get_status_all, as call
    (count: *const Integer, array_of_requests: *const Integer, flag: Address, array_of_statuses: Address, ierror: *mut Integer) {
        let mut few_array_of_requests = Few::new();
        let mut c_array_of_requests = handles(&mut few_array_of_requests, array_of_requests, *count);
        let code = call(*count, c_array_of_requests.address(), flag, place(array_of_statuses));
        report(ierror, code);
    }
}

routine! {
    plain "request_get_status_any" MPI_Request_get_status_any PMPI_Request_get_status_any, as call
    (count: *const Integer, array_of_requests: *const Integer, indx: *mut Integer, flag: Address, status: Address, ierror: *mut Integer) {
        let mut few_array_of_requests = Few::new();
        let mut c_array_of_requests = handles(&mut few_array_of_requests, array_of_requests, *count);
        let mut c_indx = UNDEFINED;
        let code = call(*count, c_array_of_requests.address(), (&raw mut c_indx).cast(), flag, place(status));
        count_from_one(&raw mut c_indx, 1);
        *indx = c_indx;
        report(ierror, code);
    }
}

routine! {
    plain "request_get_status_some" MPI_Request_get_status_some PMPI_Request_get_status_some, as call
    (incount: *const Integer, array_of_requests: *const Integer, outcount: *mut Integer, array_of_indices: *mut Integer, array_of_statuses: Address, ierror: *mut Integer) {
        let mut few_array_of_requests = Few::new();
        let mut c_array_of_requests = handles(&mut few_array_of_requests, array_of_requests, *incount);
        *outcount = 0;
        let code = call(*incount, c_array_of_requests.address(), outcount.cast(), array_of_indices.cast(), place(array_of_statuses));
        count_from_one(array_of_indices, *outcount);
        report(ierror, code);
    }
}

routine! {
    address "rget" MPI_Rget PMPI_Rget, as call
    (origin_addr: Address, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(origin_addr), *origin_count, handle(origin_datatype), *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "rget" MPI_Rget PMPI_Rget, as call
    (origin_addr: Choice, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Rget", "origin_addr")) };
        let mut c_request = handle(request);
        let code = call(c_origin_addr.address, c_origin_addr.count as Integer, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "rget" MPI_Rget_c PMPI_Rget_c, as call
    (origin_addr: Choice, origin_count: *const i64, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const i64, target_datatype: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Rget_c", "origin_addr")) };
        let mut c_request = handle(request);
        let code = call(c_origin_addr.address, c_origin_addr.count, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "rget_accumulate" MPI_Rget_accumulate PMPI_Rget_accumulate, as call
    (origin_addr: Address, origin_count: *const Integer, origin_datatype: *const Integer, result_addr: Address, result_count: *const Integer, result_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, op: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(origin_addr), *origin_count, handle(origin_datatype), place(result_addr), *result_count, handle(result_datatype), *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "rget_accumulate" MPI_Rget_accumulate PMPI_Rget_accumulate, as call
    (origin_addr: Choice, origin_count: *const Integer, origin_datatype: *const Integer, result_addr: Choice, result_count: *const Integer, result_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, op: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Rget_accumulate", "origin_addr")) };
        let Some(c_result_addr) = described(result_addr, *result_count, handle(result_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Rget_accumulate", "result_addr")) };
        let mut c_request = handle(request);
        let code = call(c_origin_addr.address, c_origin_addr.count as Integer, c_origin_addr.datatype, c_result_addr.address, c_result_addr.count as Integer, c_result_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "rget_accumulate" MPI_Rget_accumulate_c PMPI_Rget_accumulate_c, as call
    (origin_addr: Choice, origin_count: *const i64, origin_datatype: *const Integer, result_addr: Choice, result_count: *const i64, result_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const i64, target_datatype: *const Integer, op: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Rget_accumulate_c", "origin_addr")) };
        let Some(c_result_addr) = described(result_addr, *result_count, handle(result_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Rget_accumulate_c", "result_addr")) };
        let mut c_request = handle(request);
        let code = call(c_origin_addr.address, c_origin_addr.count, c_origin_addr.datatype, c_result_addr.address, c_result_addr.count, c_result_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(op), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "rput" MPI_Rput PMPI_Rput, as call
    (origin_addr: Address, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(origin_addr), *origin_count, handle(origin_datatype), *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "rput" MPI_Rput PMPI_Rput, as call
    (origin_addr: Choice, origin_count: *const Integer, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const Integer, target_datatype: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Rput", "origin_addr")) };
        let mut c_request = handle(request);
        let code = call(c_origin_addr.address, c_origin_addr.count as Integer, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "rput" MPI_Rput_c PMPI_Rput_c, as call
    (origin_addr: Choice, origin_count: *const i64, origin_datatype: *const Integer, target_rank: *const Integer, target_disp: *const isize, target_count: *const i64, target_datatype: *const Integer, win: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_origin_addr) = described(origin_addr, *origin_count, handle(origin_datatype)) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Rput_c", "origin_addr")) };
        let mut c_request = handle(request);
        let code = call(c_origin_addr.address, c_origin_addr.count, c_origin_addr.datatype, *target_rank, *target_disp, *target_count, handle(target_datatype), handle(win), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "rsend" MPI_Rsend PMPI_Rsend, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "rsend" MPI_Rsend PMPI_Rsend, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(c_buf.address(), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "rsend" MPI_Rsend_c PMPI_Rsend_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(c_buf.address(), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "rsend_init" MPI_Rsend_init PMPI_Rsend_init, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "rsend_init" MPI_Rsend_init PMPI_Rsend_init, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Rsend_init", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "rsend_init" MPI_Rsend_init_c PMPI_Rsend_init_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Rsend_init_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "scan" MPI_Scan PMPI_Scan, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "scan" MPI_Scan PMPI_Scan, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), *count, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "scan" MPI_Scan_c PMPI_Scan_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), c_recvbuf.address(), *count, handle(datatype), handle(op), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "scan_init" MPI_Scan_init PMPI_Scan_init, as call
    (sendbuf: Address, recvbuf: Address, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), place(recvbuf), *count, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "scan_init" MPI_Scan_init PMPI_Scan_init, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const Integer, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scan_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scan_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "scan_init" MPI_Scan_init_c PMPI_Scan_init_c, as call
    (sendbuf: Choice, recvbuf: Choice, count: *const i64, datatype: *const Integer, op: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scan_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scan_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, c_recvbuf, *count, handle(datatype), handle(op), handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "scatter" MPI_Scatter PMPI_Scatter, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "scatter" MPI_Scatter PMPI_Scatter, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "scatter" MPI_Scatter_c PMPI_Scatter_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "scatter_init" MPI_Scatter_init PMPI_Scatter_init, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), *sendcount, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "scatter_init" MPI_Scatter_init PMPI_Scatter_init, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scatter_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scatter_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "scatter_init" MPI_Scatter_init_c PMPI_Scatter_init_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scatter_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scatter_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, *sendcount, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "scatterv" MPI_Scatterv PMPI_Scatterv, as call
    (sendbuf: Address, sendcounts: Address, displs: Address, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(sendbuf), sendcounts, displs, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "scatterv" MPI_Scatterv PMPI_Scatterv, as call
    (sendbuf: Choice, sendcounts: Address, displs: Address, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), sendcounts, displs, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "scatterv" MPI_Scatterv_c PMPI_Scatterv_c, as call
    (sendbuf: Choice, sendcounts: Address, displs: Address, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, root: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), sendcounts, displs, handle(sendtype), c_recvbuf.address(), *recvcount, handle(recvtype), *root, handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "scatterv_init" MPI_Scatterv_init PMPI_Scatterv_init, as call
    (sendbuf: Address, sendcounts: Address, displs: Address, sendtype: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(sendbuf), sendcounts, displs, handle(sendtype), place(recvbuf), *recvcount, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "scatterv_init" MPI_Scatterv_init PMPI_Scatterv_init, as call
    (sendbuf: Choice, sendcounts: Address, displs: Address, sendtype: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scatterv_init", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scatterv_init", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, displs, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "scatterv_init" MPI_Scatterv_init_c PMPI_Scatterv_init_c, as call
    (sendbuf: Choice, sendcounts: Address, displs: Address, sendtype: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, root: *const Integer, comm: *const Integer, info: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_sendbuf) = whole(sendbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scatterv_init_c", "sendbuf")) };
        let Some(c_recvbuf) = whole(recvbuf) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Scatterv_init_c", "recvbuf")) };
        let mut c_request = handle(request);
        let code = call(c_sendbuf, sendcounts, displs, handle(sendtype), c_recvbuf, *recvcount, handle(recvtype), *root, handle(comm), handle(info), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "send" MPI_Send PMPI_Send, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "send" MPI_Send PMPI_Send, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(c_buf.address(), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "send" MPI_Send_c PMPI_Send_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(c_buf.address(), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "send_init" MPI_Send_init PMPI_Send_init, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "send_init" MPI_Send_init PMPI_Send_init, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Send_init", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "send_init" MPI_Send_init_c PMPI_Send_init_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Send_init_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    address "sendrecv" MPI_Sendrecv PMPI_Sendrecv, as call
    (sendbuf: Address, sendcount: *const Integer, sendtype: *const Integer, dest: *const Integer, sendtag: *const Integer, recvbuf: Address, recvcount: *const Integer, recvtype: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(place(sendbuf), *sendcount, handle(sendtype), *dest, *sendtag, place(recvbuf), *recvcount, handle(recvtype), *source, *recvtag, handle(comm), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "sendrecv" MPI_Sendrecv PMPI_Sendrecv, as call
    (sendbuf: Choice, sendcount: *const Integer, sendtype: *const Integer, dest: *const Integer, sendtag: *const Integer, recvbuf: Choice, recvcount: *const Integer, recvtype: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, status: Address, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), *dest, *sendtag, c_recvbuf.address(), *recvcount, handle(recvtype), *source, *recvtag, handle(comm), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "sendrecv" MPI_Sendrecv_c PMPI_Sendrecv_c, as call
    (sendbuf: Choice, sendcount: *const i64, sendtype: *const Integer, dest: *const Integer, sendtag: *const Integer, recvbuf: Choice, recvcount: *const i64, recvtype: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, status: Address, ierror: *mut Integer) {
        let c_sendbuf = copied(sendbuf, false);
        let c_recvbuf = copied(recvbuf, true);
        let code = call(c_sendbuf.address(), *sendcount, handle(sendtype), *dest, *sendtag, c_recvbuf.address(), *recvcount, handle(recvtype), *source, *recvtag, handle(comm), place(status));
        report(ierror, code);
    }
}

routine! {
    address "sendrecv_replace" MPI_Sendrecv_replace PMPI_Sendrecv_replace, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, sendtag: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(place(buf), *count, handle(datatype), *dest, *sendtag, *source, *recvtag, handle(comm), place(status));
        report(ierror, code);
    }
}

routine! {
    descriptor "sendrecv_replace" MPI_Sendrecv_replace PMPI_Sendrecv_replace, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, sendtag: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(c_buf.address(), *count, handle(datatype), *dest, *sendtag, *source, *recvtag, handle(comm), place(status));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "sendrecv_replace" MPI_Sendrecv_replace_c PMPI_Sendrecv_replace_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, sendtag: *const Integer, source: *const Integer, recvtag: *const Integer, comm: *const Integer, status: Address, ierror: *mut Integer) {
        let c_buf = copied(buf, true);
        let code = call(c_buf.address(), *count, handle(datatype), *dest, *sendtag, *source, *recvtag, handle(comm), place(status));
        report(ierror, code);
    }
}

routine! {
    address "session_attach_buffer" MPI_Session_attach_buffer PMPI_Session_attach_buffer, as call
    (session: *const Integer, buffer: Address, size: *const Integer, ierror: *mut Integer) {
        let code = call(handle(session), place(buffer), *size);
        report(ierror, code);
    }
}

routine! {
    descriptor "session_attach_buffer" MPI_Session_attach_buffer PMPI_Session_attach_buffer, as call
    (session: *const Integer, buffer: Choice, size: *const Integer, ierror: *mut Integer) {
        let Some(c_buffer) = whole(buffer) else { return report(ierror, refuse(Owner::Session(handle(session)), "MPI_Session_attach_buffer", "buffer")) };
        let code = call(handle(session), c_buffer, *size);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "session_attach_buffer" MPI_Session_attach_buffer_c PMPI_Session_attach_buffer_c, as call
    (session: *const Integer, buffer: Choice, size: *const i64, ierror: *mut Integer) {
        let Some(c_buffer) = whole(buffer) else { return report(ierror, refuse(Owner::Session(handle(session)), "MPI_Session_attach_buffer_c", "buffer")) };
        let code = call(handle(session), c_buffer, *size);
        report(ierror, code);
    }
}

routine! {
    plain "session_call_errhandler" MPI_Session_call_errhandler PMPI_Session_call_errhandler, as call
    (session: *const Integer, errorcode: *const Integer, ierror: *mut Integer) {
        let code = call(handle(session), *errorcode);
        report(ierror, code);
    }
}

routine! {
    plain "session_create_errhandler" MPI_Session_create_errhandler PMPI_Session_create_errhandler, as call
    (session_errhandler_fn: Address, errhandler: *mut Integer, ierror: *mut Integer) {
        let mut c_errhandler = handle(errhandler);
        let code = call(session_errhandler_fn, (&raw mut c_errhandler).cast());
        *errhandler = number(c_errhandler);
        report(ierror, code);
    }
}

routine! {
    address "session_detach_buffer" MPI_Session_detach_buffer PMPI_Session_detach_buffer, as call
    (session: *const Integer, buffer_addr: Address, size: Address, ierror: *mut Integer) {
        let _ = buffer_addr;
        let mut c_buffer_addr = 0_usize;
        let code = call(handle(session), (&raw mut c_buffer_addr).cast(), size);
        report(ierror, code);
    }
}

routine! {
    pointer "session_detach_buffer" MPI_Session_detach_buffer PMPI_Session_detach_buffer, as call
    (session: *const Integer, buffer_addr: Address, size: Address, ierror: *mut Integer) {
        let code = call(handle(session), buffer_addr, size);
        detached(buffer_addr);
        report(ierror, code);
    }
}

routine! {
    large_pointer "session_detach_buffer" MPI_Session_detach_buffer_c PMPI_Session_detach_buffer_c, as call
    (session: *const Integer, buffer_addr: Address, size: Address, ierror: *mut Integer) {
        let code = call(handle(session), buffer_addr, size);
        detached(buffer_addr);
        report(ierror, code);
    }
}

routine! {
    plain "session_finalize" MPI_Session_finalize PMPI_Session_finalize, as call
    (session: *mut Integer, ierror: *mut Integer) {
        let mut c_session = handle(session);
        let code = call((&raw mut c_session).cast());
        *session = number(c_session);
        report(ierror, code);
    }
}

routine! {
    plain "session_flush_buffer" MPI_Session_flush_buffer PMPI_Session_flush_buffer, as call
    (session: *const Integer, ierror: *mut Integer) {
        let code = call(handle(session));
        report(ierror, code);
    }
}

routine! {
    plain "session_get_errhandler" MPI_Session_get_errhandler PMPI_Session_get_errhandler, as call
    (session: *const Integer, errhandler: *mut Integer, ierror: *mut Integer) {
        let mut c_errhandler = handle(errhandler);
        let code = call(handle(session), (&raw mut c_errhandler).cast());
        *errhandler = number(c_errhandler);
        report(ierror, code);
    }
}

routine! {
    plain "session_get_info" MPI_Session_get_info PMPI_Session_get_info, as call
    (session: *const Integer, info_used: *mut Integer, ierror: *mut Integer) {
        let mut c_info_used = handle(info_used);
        let code = call(handle(session), (&raw mut c_info_used).cast());
        *info_used = number(c_info_used);
        report(ierror, code);
    }
}

routine! {
    plain "session_get_num_psets" MPI_Session_get_num_psets PMPI_Session_get_num_psets, as call
    (session: *const Integer, info: *const Integer, npset_names: Address, ierror: *mut Integer) {
        let code = call(handle(session), handle(info), npset_names);
        report(ierror, code);
    }
}

routine! {
    plain "session_get_pset_info" MPI_Session_get_pset_info PMPI_Session_get_pset_info, as call
    (session: *const Integer, pset_name: *const u8, info: *mut Integer, ierror: *mut Integer, pset_name_len: usize) {
        let c_pset_name = text(pset_name, pset_name_len);
        let mut c_info = handle(info);
        let code = call(handle(session), c_pset_name.as_ptr() as Address, (&raw mut c_info).cast());
        *info = number(c_info);
        report(ierror, code);
    }
}

routine! {
    plain "session_iflush_buffer" MPI_Session_iflush_buffer PMPI_Session_iflush_buffer, as call
    (session: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(handle(session), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "session_init" MPI_Session_init PMPI_Session_init, as call
    (info: *const Integer, errhandler: *const Integer, session: *mut Integer, ierror: *mut Integer) {
        let mut c_session = handle(session);
        let code = call(handle(info), handle(errhandler), (&raw mut c_session).cast());
        *session = number(c_session);
        report(ierror, code);
    }
}

routine! {
    plain "session_set_errhandler" MPI_Session_set_errhandler PMPI_Session_set_errhandler, as call
    (session: *const Integer, errhandler: *const Integer, ierror: *mut Integer) {
        let code = call(handle(session), handle(errhandler));
        report(ierror, code);
    }
}

routine! {
    address "ssend" MPI_Ssend PMPI_Ssend, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "ssend" MPI_Ssend PMPI_Ssend, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(c_buf.address(), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ssend" MPI_Ssend_c PMPI_Ssend_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_buf = copied(buf, false);
        let code = call(c_buf.address(), *count, handle(datatype), *dest, *tag, handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "ssend_init" MPI_Ssend_init PMPI_Ssend_init, as call
    (buf: Address, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call(place(buf), *count, handle(datatype), *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    descriptor "ssend_init" MPI_Ssend_init PMPI_Ssend_init, as call
    (buf: Choice, count: *const Integer, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ssend_init", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count as Integer, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "ssend_init" MPI_Ssend_init_c PMPI_Ssend_init_c, as call
    (buf: Choice, count: *const i64, datatype: *const Integer, dest: *const Integer, tag: *const Integer, comm: *const Integer, request: *mut Integer, ierror: *mut Integer) {
        let Some(c_buf) = described(buf, *count, handle(datatype)) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Ssend_init_c", "buf")) };
        let mut c_request = handle(request);
        let code = call(c_buf.address, c_buf.count, c_buf.datatype, *dest, *tag, handle(comm), (&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "start" MPI_Start PMPI_Start, as call
    (request: *mut Integer, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call((&raw mut c_request).cast());
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "startall" MPI_Startall PMPI_Startall, as call
    (count: *const Integer, array_of_requests: *mut Integer, ierror: *mut Integer) {
        let mut few_array_of_requests = Few::new();
        let mut c_array_of_requests = handles_and_back(&mut few_array_of_requests, array_of_requests, *count);
        let code = call(*count, c_array_of_requests.address());
        report(ierror, code);
    }
}

routine! {
    plain "status_get_error" MPI_Status_get_error PMPI_Status_get_error, as call
    (status: Address, error: Address, ierror: *mut Integer) {
        let code = call(status, error);
        report(ierror, code);
    }
}

routine! {
    plain "status_get_source" MPI_Status_get_source PMPI_Status_get_source, as call
    (status: Address, source: Address, ierror: *mut Integer) {
        let code = call(status, source);
        report(ierror, code);
    }
}

routine! {
    plain "status_get_tag" MPI_Status_get_tag PMPI_Status_get_tag, as call
    (status: Address, tag: Address, ierror: *mut Integer) {
        let code = call(status, tag);
        report(ierror, code);
    }
}

routine! {
    plain "status_set_cancelled" MPI_Status_set_cancelled PMPI_Status_set_cancelled, as call
    (status: Address, flag: *const Integer, ierror: *mut Integer) {
        let code = call(place(status), logical(flag));
        report(ierror, code);
    }
}

routine! {
    plain "status_set_elements" MPI_Status_set_elements PMPI_Status_set_elements, as call
    (status: Address, datatype: *const Integer, count: *const Integer, ierror: *mut Integer) {
        let code = call(place(status), handle(datatype), *count);
        report(ierror, code);
    }
}

routine! {
    large_plain "status_set_elements" MPI_Status_set_elements_c PMPI_Status_set_elements_c, as call
    (status: Address, datatype: *const Integer, count: *const i64, ierror: *mut Integer) {
        let code = call(place(status), handle(datatype), *count);
        report(ierror, code);
    }
}

routine! {
    plain "status_set_elements_x" MPI_Status_set_elements_x PMPI_Status_set_elements_x, as call
    (status: Address, datatype: *const Integer, count: *const i64, ierror: *mut Integer) {
        let code = call(place(status), handle(datatype), *count);
        report(ierror, code);
    }
}

routine! {
    plain "status_set_error" MPI_Status_set_error PMPI_Status_set_error, as call
    (status: Address, error: *const Integer, ierror: *mut Integer) {
        let code = call(place(status), *error);
        report(ierror, code);
    }
}

routine! {
    plain "status_set_source" MPI_Status_set_source PMPI_Status_set_source, as call
    (status: Address, source: *const Integer, ierror: *mut Integer) {
        let code = call(place(status), *source);
        report(ierror, code);
    }
}

routine! {
    plain "status_set_tag" MPI_Status_set_tag PMPI_Status_set_tag, as call
    (status: Address, tag: *const Integer, ierror: *mut Integer) {
        let code = call(place(status), *tag);
        report(ierror, code);
    }
}

routine! {
    plain "test" MPI_Test PMPI_Test, as call
    (request: *mut Integer, flag: Address, status: Address, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call((&raw mut c_request).cast(), flag, place(status));
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "test_cancelled" MPI_Test_cancelled PMPI_Test_cancelled, as call
    (status: Address, flag: Address, ierror: *mut Integer) {
        let code = call(status, flag);
        report(ierror, code);
    }
}

routine! {
    plain "testall" MPI_Testall PMPI_Testall, as call
    (count: *const Integer, array_of_requests: *mut Integer, flag: Address, array_of_statuses: Address, ierror: *mut Integer) {
        let mut few_array_of_requests = Few::new();
        let mut c_array_of_requests = handles_and_back(&mut few_array_of_requests, array_of_requests, *count);
        let code = call(*count, c_array_of_requests.address(), flag, place(array_of_statuses));
        report(ierror, code);
    }
}

routine! {
    plain "testany" MPI_Testany PMPI_Testany, as call
    (count: *const Integer, array_of_requests: *mut Integer, indx: *mut Integer, flag: Address, status: Address, ierror: *mut Integer) {
        let mut few_array_of_requests = Few::new();
        let mut c_array_of_requests = handles_and_back(&mut few_array_of_requests, array_of_requests, *count);
        let mut c_indx = UNDEFINED;
        let code = call(*count, c_array_of_requests.address(), (&raw mut c_indx).cast(), flag, place(status));
        count_from_one(&raw mut c_indx, 1);
        *indx = c_indx;
        report(ierror, code);
    }
}

routine! {
    plain "testsome" MPI_Testsome PMPI_Testsome, as call
    (incount: *const Integer, array_of_requests: *mut Integer, outcount: *mut Integer, array_of_indices: *mut Integer, array_of_statuses: Address, ierror: *mut Integer) {
        let mut few_array_of_requests = Few::new();
        let mut c_array_of_requests = handles_and_back(&mut few_array_of_requests, array_of_requests, *incount);
        *outcount = 0;
        let code = call(*incount, c_array_of_requests.address(), outcount.cast(), array_of_indices.cast(), place(array_of_statuses));
        count_from_one(array_of_indices, *outcount);
        report(ierror, code);
    }
}

routine! {
    plain "topo_test" MPI_Topo_test PMPI_Topo_test, as call
    (comm: *const Integer, status: Address, ierror: *mut Integer) {
        let code = call(handle(comm), status);
        report(ierror, code);
    }
}

routine! {
    plain "type_commit" MPI_Type_commit PMPI_Type_commit, as call
    (datatype: *mut Integer, ierror: *mut Integer) {
        let mut c_datatype = handle(datatype);
        let code = call((&raw mut c_datatype).cast());
        *datatype = number(c_datatype);
        report(ierror, code);
    }
}

routine! {
    plain "type_contiguous" MPI_Type_contiguous PMPI_Type_contiguous, as call
    (count: *const Integer, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_contiguous" MPI_Type_contiguous_c PMPI_Type_contiguous_c, as call
    (count: *const i64, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_create_darray" MPI_Type_create_darray PMPI_Type_create_darray, as call
    (size: *const Integer, rank: *const Integer, ndims: *const Integer, array_of_gsizes: Address, array_of_distribs: Address, array_of_dargs: Address, array_of_psizes: Address, order: *const Integer, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*size, *rank, *ndims, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes, *order, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_create_darray" MPI_Type_create_darray_c PMPI_Type_create_darray_c, as call
    (size: *const Integer, rank: *const Integer, ndims: *const Integer, array_of_gsizes: Address, array_of_distribs: Address, array_of_dargs: Address, array_of_psizes: Address, order: *const Integer, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*size, *rank, *ndims, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes, *order, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_create_f90_complex" MPI_Type_create_f90_complex PMPI_Type_create_f90_complex, as call
    (p: *const Integer, r: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*p, *r, (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_create_f90_integer" MPI_Type_create_f90_integer PMPI_Type_create_f90_integer, as call
    (r: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*r, (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_create_f90_real" MPI_Type_create_f90_real PMPI_Type_create_f90_real, as call
    (p: *const Integer, r: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*p, *r, (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_create_hindexed" MPI_Type_create_hindexed PMPI_Type_create_hindexed, as call
    (count: *const Integer, array_of_blocklengths: Address, array_of_displacements: Address, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, array_of_blocklengths, array_of_displacements, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_create_hindexed" MPI_Type_create_hindexed_c PMPI_Type_create_hindexed_c, as call
    (count: *const i64, array_of_blocklengths: Address, array_of_displacements: Address, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, array_of_blocklengths, array_of_displacements, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_create_hindexed_block" MPI_Type_create_hindexed_block PMPI_Type_create_hindexed_block, as call
    (count: *const Integer, blocklength: *const Integer, array_of_displacements: Address, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, *blocklength, array_of_displacements, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_create_hindexed_block" MPI_Type_create_hindexed_block_c PMPI_Type_create_hindexed_block_c, as call
    (count: *const i64, blocklength: *const i64, array_of_displacements: Address, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, *blocklength, array_of_displacements, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_create_hvector" MPI_Type_create_hvector PMPI_Type_create_hvector, as call
    (count: *const Integer, blocklength: *const Integer, stride: *const isize, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, *blocklength, *stride, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_create_hvector" MPI_Type_create_hvector_c PMPI_Type_create_hvector_c, as call
    (count: *const i64, blocklength: *const i64, stride: *const i64, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, *blocklength, *stride, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_create_indexed_block" MPI_Type_create_indexed_block PMPI_Type_create_indexed_block, as call
    (count: *const Integer, blocklength: *const Integer, array_of_displacements: Address, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, *blocklength, array_of_displacements, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_create_indexed_block" MPI_Type_create_indexed_block_c PMPI_Type_create_indexed_block_c, as call
    (count: *const i64, blocklength: *const i64, array_of_displacements: Address, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, *blocklength, array_of_displacements, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_create_resized" MPI_Type_create_resized PMPI_Type_create_resized, as call
    (oldtype: *const Integer, lb: *const isize, extent: *const isize, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(handle(oldtype), *lb, *extent, (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_create_resized" MPI_Type_create_resized_c PMPI_Type_create_resized_c, as call
    (oldtype: *const Integer, lb: *const i64, extent: *const i64, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(handle(oldtype), *lb, *extent, (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_create_struct" MPI_Type_create_struct PMPI_Type_create_struct, as call
    (count: *const Integer, array_of_blocklengths: Address, array_of_displacements: Address, array_of_types: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut few_array_of_types = Few::new();
        let mut c_array_of_types = handles(&mut few_array_of_types, array_of_types, *count);
        let mut c_newtype = handle(newtype);
        let code = call(*count, array_of_blocklengths, array_of_displacements, c_array_of_types.address(), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_create_struct" MPI_Type_create_struct_c PMPI_Type_create_struct_c, as call
    (count: *const i64, array_of_blocklengths: Address, array_of_displacements: Address, array_of_types: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut few_array_of_types = Few::new();
        let mut c_array_of_types = handles(&mut few_array_of_types, array_of_types, *count as Integer);
        let mut c_newtype = handle(newtype);
        let code = call(*count, array_of_blocklengths, array_of_displacements, c_array_of_types.address(), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_create_subarray" MPI_Type_create_subarray PMPI_Type_create_subarray, as call
    (ndims: *const Integer, array_of_sizes: Address, array_of_subsizes: Address, array_of_starts: Address, order: *const Integer, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*ndims, array_of_sizes, array_of_subsizes, array_of_starts, *order, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_create_subarray" MPI_Type_create_subarray_c PMPI_Type_create_subarray_c, as call
    (ndims: *const Integer, array_of_sizes: Address, array_of_subsizes: Address, array_of_starts: Address, order: *const Integer, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*ndims, array_of_sizes, array_of_subsizes, array_of_starts, *order, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_delete_attr" MPI_Type_delete_attr PMPI_Type_delete_attr, as call
    (datatype: *const Integer, type_keyval: *const Integer, ierror: *mut Integer) {
        let code = call(handle(datatype), *type_keyval);
        report(ierror, code);
    }
}

routine! {
    plain "type_dup" MPI_Type_dup PMPI_Type_dup, as call
    (oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_free" MPI_Type_free PMPI_Type_free, as call
    (datatype: *mut Integer, ierror: *mut Integer) {
        let mut c_datatype = handle(datatype);
        let code = call((&raw mut c_datatype).cast());
        *datatype = number(c_datatype);
        report(ierror, code);
    }
}

routine! {
    plain "type_free_keyval" MPI_Type_free_keyval PMPI_Type_free_keyval, as call
    (type_keyval: Address, ierror: *mut Integer) {
        let code = call(type_keyval);
        report(ierror, code);
    }
}

routine! {
    plain "type_get_contents" MPI_Type_get_contents PMPI_Type_get_contents, as call
    (datatype: *const Integer, max_integers: *const Integer, max_addresses: *const Integer, max_datatypes: *const Integer, array_of_integers: Address, array_of_addresses: Address, array_of_datatypes: *mut Integer, ierror: *mut Integer) {
        let mut few_array_of_datatypes = Few::new();
        let mut c_array_of_datatypes = handles_and_back(&mut few_array_of_datatypes, array_of_datatypes, *max_datatypes);
        let code = call(handle(datatype), *max_integers, *max_addresses, *max_datatypes, array_of_integers, array_of_addresses, c_array_of_datatypes.address());
        report(ierror, code);
    }
}

routine! {
    large_plain "type_get_contents" MPI_Type_get_contents_c PMPI_Type_get_contents_c, as call
    (datatype: *const Integer, max_integers: *const i64, max_addresses: *const i64, max_large_counts: *const i64, max_datatypes: *const i64, array_of_integers: Address, array_of_addresses: Address, array_of_large_counts: Address, array_of_datatypes: *mut Integer, ierror: *mut Integer) {
        let mut few_array_of_datatypes = Few::new();
        let mut c_array_of_datatypes = handles_and_back(&mut few_array_of_datatypes, array_of_datatypes, *max_datatypes as Integer);
        let code = call(handle(datatype), *max_integers, *max_addresses, *max_large_counts, *max_datatypes, array_of_integers, array_of_addresses, array_of_large_counts, c_array_of_datatypes.address());
        report(ierror, code);
    }
}

routine! {
    plain "type_get_envelope" MPI_Type_get_envelope PMPI_Type_get_envelope, as call
    (datatype: *const Integer, num_integers: Address, num_addresses: Address, num_datatypes: Address, combiner: Address, ierror: *mut Integer) {
        let code = call(handle(datatype), num_integers, num_addresses, num_datatypes, combiner);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_get_envelope" MPI_Type_get_envelope_c PMPI_Type_get_envelope_c, as call
    (datatype: *const Integer, num_integers: Address, num_addresses: Address, num_large_counts: Address, num_datatypes: Address, combiner: Address, ierror: *mut Integer) {
        let code = call(handle(datatype), num_integers, num_addresses, num_large_counts, num_datatypes, combiner);
        report(ierror, code);
    }
}

routine! {
    plain "type_get_extent" MPI_Type_get_extent PMPI_Type_get_extent, as call
    (datatype: *const Integer, lb: Address, extent: Address, ierror: *mut Integer) {
        let code = call(handle(datatype), lb, extent);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_get_extent" MPI_Type_get_extent_c PMPI_Type_get_extent_c, as call
    (datatype: *const Integer, lb: Address, extent: Address, ierror: *mut Integer) {
        let code = call(handle(datatype), lb, extent);
        report(ierror, code);
    }
}

routine! {
    plain "type_get_extent_x" MPI_Type_get_extent_x PMPI_Type_get_extent_x, as call
    (datatype: *const Integer, lb: Address, extent: Address, ierror: *mut Integer) {
        let code = call(handle(datatype), lb, extent);
        report(ierror, code);
    }
}

routine! {
    plain "type_get_name" MPI_Type_get_name PMPI_Type_get_name, as call
    (datatype: *const Integer, type_name: *mut u8, resultlen: Address, ierror: *mut Integer, type_name_len: usize) {
        let mut c_type_name = room(128, type_name, type_name_len);
        let code = call(handle(datatype), c_type_name.address(), resultlen);
        report(ierror, code);
    }
}

routine! {
    plain "type_get_true_extent" MPI_Type_get_true_extent PMPI_Type_get_true_extent, as call
    (datatype: *const Integer, true_lb: Address, true_extent: Address, ierror: *mut Integer) {
        let code = call(handle(datatype), true_lb, true_extent);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_get_true_extent" MPI_Type_get_true_extent_c PMPI_Type_get_true_extent_c, as call
    (datatype: *const Integer, true_lb: Address, true_extent: Address, ierror: *mut Integer) {
        let code = call(handle(datatype), true_lb, true_extent);
        report(ierror, code);
    }
}

routine! {
    plain "type_get_true_extent_x" MPI_Type_get_true_extent_x PMPI_Type_get_true_extent_x, as call
    (datatype: *const Integer, true_lb: Address, true_extent: Address, ierror: *mut Integer) {
        let code = call(handle(datatype), true_lb, true_extent);
        report(ierror, code);
    }
}

routine! {
    plain "type_get_value_index" MPI_Type_get_value_index PMPI_Type_get_value_index, as call
    (value_type: *const Integer, index_type: *const Integer, pair_type: *mut Integer, ierror: *mut Integer) {
        let mut c_pair_type = handle(pair_type);
        let code = call(handle(value_type), handle(index_type), (&raw mut c_pair_type).cast());
        *pair_type = number(c_pair_type);
        report(ierror, code);
    }
}

routine! {
    plain "type_indexed" MPI_Type_indexed PMPI_Type_indexed, as call
    (count: *const Integer, array_of_blocklengths: Address, array_of_displacements: Address, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, array_of_blocklengths, array_of_displacements, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_indexed" MPI_Type_indexed_c PMPI_Type_indexed_c, as call
    (count: *const i64, array_of_blocklengths: Address, array_of_displacements: Address, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, array_of_blocklengths, array_of_displacements, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    plain "type_match_size" MPI_Type_match_size PMPI_Type_match_size, as call
    (typeclass: *const Integer, size: *const Integer, datatype: *mut Integer, ierror: *mut Integer) {
        let mut c_datatype = handle(datatype);
        let code = call(*typeclass, *size, (&raw mut c_datatype).cast());
        *datatype = number(c_datatype);
        report(ierror, code);
    }
}

routine! {
    plain "type_set_name" MPI_Type_set_name PMPI_Type_set_name, as call
    (datatype: *const Integer, type_name: *const u8, ierror: *mut Integer, type_name_len: usize) {
        let c_type_name = text(type_name, type_name_len);
        let code = call(handle(datatype), c_type_name.as_ptr() as Address);
        report(ierror, code);
    }
}

routine! {
    plain "type_size" MPI_Type_size PMPI_Type_size, as call
    (datatype: *const Integer, size: Address, ierror: *mut Integer) {
        let code = call(handle(datatype), size);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_size" MPI_Type_size_c PMPI_Type_size_c, as call
    (datatype: *const Integer, size: Address, ierror: *mut Integer) {
        let code = call(handle(datatype), size);
        report(ierror, code);
    }
}

routine! {
    plain "type_size_x" MPI_Type_size_x PMPI_Type_size_x, as call
    (datatype: *const Integer, size: Address, ierror: *mut Integer) {
        let code = call(handle(datatype), size);
        report(ierror, code);
    }
}

routine! {
    plain "type_vector" MPI_Type_vector PMPI_Type_vector, as call
    (count: *const Integer, blocklength: *const Integer, stride: *const Integer, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, *blocklength, *stride, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    large_plain "type_vector" MPI_Type_vector_c PMPI_Type_vector_c, as call
    (count: *const i64, blocklength: *const i64, stride: *const i64, oldtype: *const Integer, newtype: *mut Integer, ierror: *mut Integer) {
        let mut c_newtype = handle(newtype);
        let code = call(*count, *blocklength, *stride, handle(oldtype), (&raw mut c_newtype).cast());
        *newtype = number(c_newtype);
        report(ierror, code);
    }
}

routine! {
    address "unpack" MPI_Unpack PMPI_Unpack, as call
    (inbuf: Address, insize: *const Integer, position: Address, outbuf: Address, outcount: *const Integer, datatype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let code = call(place(inbuf), *insize, position, place(outbuf), *outcount, handle(datatype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    descriptor "unpack" MPI_Unpack PMPI_Unpack, as call
    (inbuf: Choice, insize: *const Integer, position: Address, outbuf: Choice, outcount: *const Integer, datatype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_inbuf.address(), *insize, position, c_outbuf.address(), *outcount, handle(datatype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    large_descriptor "unpack" MPI_Unpack_c PMPI_Unpack_c, as call
    (inbuf: Choice, insize: *const i64, position: Address, outbuf: Choice, outcount: *const i64, datatype: *const Integer, comm: *const Integer, ierror: *mut Integer) {
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_inbuf.address(), *insize, position, c_outbuf.address(), *outcount, handle(datatype), handle(comm));
        report(ierror, code);
    }
}

routine! {
    address "unpack_external" MPI_Unpack_external PMPI_Unpack_external, as call
    (datarep: *const u8, inbuf: Address, insize: *const isize, position: Address, outbuf: Address, outcount: *const Integer, datatype: *const Integer, ierror: *mut Integer, datarep_len: usize) {
        let c_datarep = text(datarep, datarep_len);
        let code = call(c_datarep.as_ptr() as Address, place(inbuf), *insize, position, place(outbuf), *outcount, handle(datatype));
        report(ierror, code);
    }
}

routine! {
    text "unpack_external" MPI_Unpack_external PMPI_Unpack_external, as call
    (datarep: Choice, inbuf: Choice, insize: *const isize, position: Address, outbuf: Choice, outcount: *const Integer, datatype: *const Integer, ierror: *mut Integer) {
        let c_datarep = text(first_of(datarep).cast(), element(datarep));
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_datarep.as_ptr() as Address, c_inbuf.address(), *insize, position, c_outbuf.address(), *outcount, handle(datatype));
        report(ierror, code);
    }
}

routine! {
    lengths "unpack_external" MPI_Unpack_external PMPI_Unpack_external, as call
    (datarep: *const u8, inbuf: Choice, insize: *const isize, position: Address, outbuf: Choice, outcount: *const Integer, datatype: *const Integer, ierror: *mut Integer, datarep_len: usize) {
        let c_datarep = text(datarep, datarep_len);
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_datarep.as_ptr() as Address, c_inbuf.address(), *insize, position, c_outbuf.address(), *outcount, handle(datatype));
        report(ierror, code);
    }
}

routine! {
    large_text "unpack_external" MPI_Unpack_external_c PMPI_Unpack_external_c, as call
    (datarep: Choice, inbuf: Choice, insize: *const i64, position: Address, outbuf: Choice, outcount: *const i64, datatype: *const Integer, ierror: *mut Integer) {
        let c_datarep = text(first_of(datarep).cast(), element(datarep));
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_datarep.as_ptr() as Address, c_inbuf.address(), *insize, position, c_outbuf.address(), *outcount, handle(datatype));
        report(ierror, code);
    }
}

routine! {
    large_lengths "unpack_external" MPI_Unpack_external_c PMPI_Unpack_external_c, as call
    (datarep: *const u8, inbuf: Choice, insize: *const i64, position: Address, outbuf: Choice, outcount: *const i64, datatype: *const Integer, ierror: *mut Integer, datarep_len: usize) {
        let c_datarep = text(datarep, datarep_len);
        let c_inbuf = copied(inbuf, false);
        let c_outbuf = copied(outbuf, true);
        let code = call(c_datarep.as_ptr() as Address, c_inbuf.address(), *insize, position, c_outbuf.address(), *outcount, handle(datatype));
        report(ierror, code);
    }
}

routine! {
    plain "unpublish_name" MPI_Unpublish_name PMPI_Unpublish_name, as call
    (service_name: *const u8, info: *const Integer, port_name: *const u8, ierror: *mut Integer, service_name_len: usize, port_name_len: usize) {
        let c_service_name = text(service_name, service_name_len);
        let c_port_name = text(port_name, port_name_len);
        let code = call(c_service_name.as_ptr() as Address, handle(info), c_port_name.as_ptr() as Address);
        report(ierror, code);
    }
}

routine! {
    plain "wait" MPI_Wait PMPI_Wait, as call
    (request: *mut Integer, status: Address, ierror: *mut Integer) {
        let mut c_request = handle(request);
        let code = call((&raw mut c_request).cast(), place(status));
        *request = number(c_request);
        report(ierror, code);
    }
}

routine! {
    plain "waitall" MPI_Waitall PMPI_Waitall, as call
    (count: *const Integer, array_of_requests: *mut Integer, array_of_statuses: Address, ierror: *mut Integer) {
        let mut few_array_of_requests = Few::new();
        let mut c_array_of_requests = handles_and_back(&mut few_array_of_requests, array_of_requests, *count);
        let code = call(*count, c_array_of_requests.address(), place(array_of_statuses));
        report(ierror, code);
    }
}

routine! {
    plain "waitany" MPI_Waitany PMPI_Waitany, as call
    (count: *const Integer, array_of_requests: *mut Integer, indx: *mut Integer, status: Address, ierror: *mut Integer) {
        let mut few_array_of_requests = Few::new();
        let mut c_array_of_requests = handles_and_back(&mut few_array_of_requests, array_of_requests, *count);
        let mut c_indx = UNDEFINED;
        let code = call(*count, c_array_of_requests.address(), (&raw mut c_indx).cast(), place(status));
        count_from_one(&raw mut c_indx, 1);
        *indx = c_indx;
        report(ierror, code);
    }
}

routine! {
    plain "waitsome" MPI_Waitsome PMPI_Waitsome, as call
    (incount: *const Integer, array_of_requests: *mut Integer, outcount: *mut Integer, array_of_indices: *mut Integer, array_of_statuses: Address, ierror: *mut Integer) {
        let mut few_array_of_requests = Few::new();
        let mut c_array_of_requests = handles_and_back(&mut few_array_of_requests, array_of_requests, *incount);
        *outcount = 0;
        let code = call(*incount, c_array_of_requests.address(), outcount.cast(), array_of_indices.cast(), place(array_of_statuses));
        count_from_one(array_of_indices, *outcount);
        report(ierror, code);
    }
}

routine! {
    c_pointer "win_allocate" MPI_Win_allocate PMPI_Win_allocate, as call
    (size: *const isize, disp_unit: *const Integer, info: *const Integer, comm: *const Integer, baseptr: Address, win: *mut Integer, ierror: *mut Integer) {
        let mut c_win = handle(win);
        let code = call(*size, *disp_unit, handle(info), handle(comm), baseptr, (&raw mut c_win).cast());
        *win = number(c_win);
        report(ierror, code);
    }
}

routine! {
    large_plain "win_allocate" MPI_Win_allocate_c PMPI_Win_allocate_c, as call
    (size: *const isize, disp_unit: *const isize, info: *const Integer, comm: *const Integer, baseptr: Address, win: *mut Integer, ierror: *mut Integer) {
        let mut c_win = handle(win);
        let code = call(*size, *disp_unit, handle(info), handle(comm), baseptr, (&raw mut c_win).cast());
        *win = number(c_win);
        report(ierror, code);
    }
}

routine! {
    c_pointer "win_allocate_shared" MPI_Win_allocate_shared PMPI_Win_allocate_shared, as call
    (size: *const isize, disp_unit: *const Integer, info: *const Integer, comm: *const Integer, baseptr: Address, win: *mut Integer, ierror: *mut Integer) {
        let mut c_win = handle(win);
        let code = call(*size, *disp_unit, handle(info), handle(comm), baseptr, (&raw mut c_win).cast());
        *win = number(c_win);
        report(ierror, code);
    }
}

routine! {
    large_plain "win_allocate_shared" MPI_Win_allocate_shared_c PMPI_Win_allocate_shared_c, as call
    (size: *const isize, disp_unit: *const isize, info: *const Integer, comm: *const Integer, baseptr: Address, win: *mut Integer, ierror: *mut Integer) {
        let mut c_win = handle(win);
        let code = call(*size, *disp_unit, handle(info), handle(comm), baseptr, (&raw mut c_win).cast());
        *win = number(c_win);
        report(ierror, code);
    }
}

routine! {
    address "win_attach" MPI_Win_attach PMPI_Win_attach, as call
    (win: *const Integer, base: Address, size: *const isize, ierror: *mut Integer) {
        let code = call(handle(win), place(base), *size);
        report(ierror, code);
    }
}

routine! {
    descriptor "win_attach" MPI_Win_attach PMPI_Win_attach, as call
    (win: *const Integer, base: Choice, size: *const isize, ierror: *mut Integer) {
        let Some(c_base) = whole(base) else { return report(ierror, refuse(Owner::Win(handle(win)), "MPI_Win_attach", "base")) };
        let code = call(handle(win), c_base, *size);
        report(ierror, code);
    }
}

routine! {
    plain "win_call_errhandler" MPI_Win_call_errhandler PMPI_Win_call_errhandler, as call
    (win: *const Integer, errorcode: *const Integer, ierror: *mut Integer) {
        let code = call(handle(win), *errorcode);
        report(ierror, code);
    }
}

routine! {
    plain "win_complete" MPI_Win_complete PMPI_Win_complete, as call
    (win: *const Integer, ierror: *mut Integer) {
        let code = call(handle(win));
        report(ierror, code);
    }
}

routine! {
    address "win_create" MPI_Win_create PMPI_Win_create, as call
    (base: Address, size: *const isize, disp_unit: *const Integer, info: *const Integer, comm: *const Integer, win: *mut Integer, ierror: *mut Integer) {
        let mut c_win = handle(win);
        let code = call(place(base), *size, *disp_unit, handle(info), handle(comm), (&raw mut c_win).cast());
        *win = number(c_win);
        report(ierror, code);
    }
}

routine! {
    descriptor "win_create" MPI_Win_create PMPI_Win_create, as call
    (base: Choice, size: *const isize, disp_unit: *const Integer, info: *const Integer, comm: *const Integer, win: *mut Integer, ierror: *mut Integer) {
        let Some(c_base) = whole(base) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Win_create", "base")) };
        let mut c_win = handle(win);
        let code = call(c_base, *size, *disp_unit, handle(info), handle(comm), (&raw mut c_win).cast());
        *win = number(c_win);
        report(ierror, code);
    }
}

routine! {
    large_descriptor "win_create" MPI_Win_create_c PMPI_Win_create_c, as call
    (base: Choice, size: *const isize, disp_unit: *const isize, info: *const Integer, comm: *const Integer, win: *mut Integer, ierror: *mut Integer) {
        let Some(c_base) = whole(base) else { return report(ierror, refuse(Owner::Comm(handle(comm)), "MPI_Win_create_c", "base")) };
        let mut c_win = handle(win);
        let code = call(c_base, *size, *disp_unit, handle(info), handle(comm), (&raw mut c_win).cast());
        *win = number(c_win);
        report(ierror, code);
    }
}

routine! {
    plain "win_create_dynamic" MPI_Win_create_dynamic PMPI_Win_create_dynamic, as call
    (info: *const Integer, comm: *const Integer, win: *mut Integer, ierror: *mut Integer) {
        let mut c_win = handle(win);
        let code = call(handle(info), handle(comm), (&raw mut c_win).cast());
        *win = number(c_win);
        report(ierror, code);
    }
}

routine! {
    plain "win_create_errhandler" MPI_Win_create_errhandler PMPI_Win_create_errhandler, as call
    (win_errhandler_fn: Address, errhandler: *mut Integer, ierror: *mut Integer) {
        let mut c_errhandler = handle(errhandler);
        let code = call(win_errhandler_fn, (&raw mut c_errhandler).cast());
        *errhandler = number(c_errhandler);
        report(ierror, code);
    }
}

routine! {
    plain "win_delete_attr" MPI_Win_delete_attr PMPI_Win_delete_attr, as call
    (win: *const Integer, win_keyval: *const Integer, ierror: *mut Integer) {
        let code = call(handle(win), *win_keyval);
        report(ierror, code);
    }
}

routine! {
    address "win_detach" MPI_Win_detach PMPI_Win_detach, as call
    (win: *const Integer, base: Address, ierror: *mut Integer) {
        let code = call(handle(win), place(base));
        report(ierror, code);
    }
}

routine! {
    descriptor "win_detach" MPI_Win_detach PMPI_Win_detach, as call
    (win: *const Integer, base: Choice, ierror: *mut Integer) {
        let code = call(handle(win), first_of(base));
        report(ierror, code);
    }
}

routine! {
    plain "win_fence" MPI_Win_fence PMPI_Win_fence, as call
    (assert: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(*assert, handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_flush" MPI_Win_flush PMPI_Win_flush, as call
    (rank: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(*rank, handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_flush_all" MPI_Win_flush_all PMPI_Win_flush_all, as call
    (win: *const Integer, ierror: *mut Integer) {
        let code = call(handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_flush_local" MPI_Win_flush_local PMPI_Win_flush_local, as call
    (rank: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(*rank, handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_flush_local_all" MPI_Win_flush_local_all PMPI_Win_flush_local_all, as call
    (win: *const Integer, ierror: *mut Integer) {
        let code = call(handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_free" MPI_Win_free PMPI_Win_free, as call
    (win: *mut Integer, ierror: *mut Integer) {
        let mut c_win = handle(win);
        let code = call((&raw mut c_win).cast());
        *win = number(c_win);
        report(ierror, code);
    }
}

routine! {
    plain "win_free_keyval" MPI_Win_free_keyval PMPI_Win_free_keyval, as call
    (win_keyval: Address, ierror: *mut Integer) {
        let code = call(win_keyval);
        report(ierror, code);
    }
}

routine! {
    plain "win_get_errhandler" MPI_Win_get_errhandler PMPI_Win_get_errhandler, as call
    (win: *const Integer, errhandler: *mut Integer, ierror: *mut Integer) {
        let mut c_errhandler = handle(errhandler);
        let code = call(handle(win), (&raw mut c_errhandler).cast());
        *errhandler = number(c_errhandler);
        report(ierror, code);
    }
}

routine! {
    plain "win_get_group" MPI_Win_get_group PMPI_Win_get_group, as call
    (win: *const Integer, group: *mut Integer, ierror: *mut Integer) {
        let mut c_group = handle(group);
        let code = call(handle(win), (&raw mut c_group).cast());
        *group = number(c_group);
        report(ierror, code);
    }
}

routine! {
    plain "win_get_info" MPI_Win_get_info PMPI_Win_get_info, as call
    (win: *const Integer, info_used: *mut Integer, ierror: *mut Integer) {
        let mut c_info_used = handle(info_used);
        let code = call(handle(win), (&raw mut c_info_used).cast());
        *info_used = number(c_info_used);
        report(ierror, code);
    }
}

routine! {
    plain "win_get_name" MPI_Win_get_name PMPI_Win_get_name, as call
    (win: *const Integer, win_name: *mut u8, resultlen: Address, ierror: *mut Integer, win_name_len: usize) {
        let mut c_win_name = room(128, win_name, win_name_len);
        let code = call(handle(win), c_win_name.address(), resultlen);
        report(ierror, code);
    }
}

routine! {
    plain "win_lock" MPI_Win_lock PMPI_Win_lock, as call
    (lock_type: *const Integer, rank: *const Integer, assert: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(*lock_type, *rank, *assert, handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_lock_all" MPI_Win_lock_all PMPI_Win_lock_all, as call
    (assert: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(*assert, handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_post" MPI_Win_post PMPI_Win_post, as call
    (group: *const Integer, assert: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(handle(group), *assert, handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_set_errhandler" MPI_Win_set_errhandler PMPI_Win_set_errhandler, as call
    (win: *const Integer, errhandler: *const Integer, ierror: *mut Integer) {
        let code = call(handle(win), handle(errhandler));
        report(ierror, code);
    }
}

routine! {
    plain "win_set_info" MPI_Win_set_info PMPI_Win_set_info, as call
    (win: *const Integer, info: *const Integer, ierror: *mut Integer) {
        let code = call(handle(win), handle(info));
        report(ierror, code);
    }
}

routine! {
    plain "win_set_name" MPI_Win_set_name PMPI_Win_set_name, as call
    (win: *const Integer, win_name: *const u8, ierror: *mut Integer, win_name_len: usize) {
        let c_win_name = text(win_name, win_name_len);
        let code = call(handle(win), c_win_name.as_ptr() as Address);
        report(ierror, code);
    }
}

routine! {
    c_pointer "win_shared_query" MPI_Win_shared_query PMPI_Win_shared_query, as call
    (win: *const Integer, rank: *const Integer, size: Address, disp_unit: Address, baseptr: Address, ierror: *mut Integer) {
        let code = call(handle(win), *rank, size, disp_unit, baseptr);
        report(ierror, code);
    }
}

routine! {
    large_plain "win_shared_query" MPI_Win_shared_query_c PMPI_Win_shared_query_c, as call
    (win: *const Integer, rank: *const Integer, size: Address, disp_unit: Address, baseptr: Address, ierror: *mut Integer) {
        let code = call(handle(win), *rank, size, disp_unit, baseptr);
        report(ierror, code);
    }
}

routine! {
    plain "win_start" MPI_Win_start PMPI_Win_start, as call
    (group: *const Integer, assert: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(handle(group), *assert, handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_sync" MPI_Win_sync PMPI_Win_sync, as call
    (win: *const Integer, ierror: *mut Integer) {
        let code = call(handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_test" MPI_Win_test PMPI_Win_test, as call
    (win: *const Integer, flag: Address, ierror: *mut Integer) {
        let code = call(handle(win), flag);
        report(ierror, code);
    }
}

routine! {
    plain "win_unlock" MPI_Win_unlock PMPI_Win_unlock, as call
    (rank: *const Integer, win: *const Integer, ierror: *mut Integer) {
        let code = call(*rank, handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_unlock_all" MPI_Win_unlock_all PMPI_Win_unlock_all, as call
    (win: *const Integer, ierror: *mut Integer) {
        let code = call(handle(win));
        report(ierror, code);
    }
}

routine! {
    plain "win_wait" MPI_Win_wait PMPI_Win_wait, as call
    (win: *const Integer, ierror: *mut Integer) {
        let code = call(handle(win));
        report(ierror, code);
    }
}
