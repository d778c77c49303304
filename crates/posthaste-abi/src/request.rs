//! C functions for completion of requests and what their status says (MPI-5.0 §3.7, §13.2, §13.3).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_int, c_void};

use crate::call::{mpi_fn, unsupported};
use crate::pointer::{In, Out};
use crate::types::{
    MPI_Count, MPI_Datatype, MPI_Grequest_cancel_function, MPI_Grequest_free_function,
    MPI_Grequest_query_function, MPI_Request, MPI_Status,
};

// Completion of one.
unsupported! {
    "3.7.3";
    fn MPI_Wait / PMPI_Wait(request: Out<MPI_Request>, status: Out<MPI_Status>);
    fn MPI_Test / PMPI_Test(request: Out<MPI_Request>, flag: Out<c_int>, status: Out<MPI_Status>);
    fn MPI_Request_free / PMPI_Request_free(request: Out<MPI_Request>);
}

// Completion of several.
unsupported! {
    "3.7.5";
    fn MPI_Waitany / PMPI_Waitany(count: c_int, array_of_requests: Out<MPI_Request>, indx: Out<c_int>,
        status: Out<MPI_Status>);
    fn MPI_Testany / PMPI_Testany(count: c_int, array_of_requests: Out<MPI_Request>, indx: Out<c_int>,
        flag: Out<c_int>, status: Out<MPI_Status>);
    fn MPI_Waitall / PMPI_Waitall(count: c_int, array_of_requests: Out<MPI_Request>,
        array_of_statuses: Out<MPI_Status>);
    fn MPI_Testall / PMPI_Testall(count: c_int, array_of_requests: Out<MPI_Request>, flag: Out<c_int>,
        array_of_statuses: Out<MPI_Status>);
    fn MPI_Waitsome / PMPI_Waitsome(incount: c_int, array_of_requests: Out<MPI_Request>, outcount: Out<c_int>,
        array_of_indices: Out<c_int>, array_of_statuses: Out<MPI_Status>);
    fn MPI_Testsome / PMPI_Testsome(incount: c_int, array_of_requests: Out<MPI_Request>, outcount: Out<c_int>,
        array_of_indices: Out<c_int>, array_of_statuses: Out<MPI_Status>);
}

// A look without completing.
unsupported! {
    "3.7.6";
    fn MPI_Request_get_status / PMPI_Request_get_status(request: MPI_Request, flag: Out<c_int>,
        status: Out<MPI_Status>);
    fn MPI_Request_get_status_any / PMPI_Request_get_status_any(count: c_int,
        array_of_requests: In<MPI_Request>, indx: Out<c_int>, flag: Out<c_int>, status: Out<MPI_Status>);
    fn MPI_Request_get_status_all / PMPI_Request_get_status_all(count: c_int,
        array_of_requests: In<MPI_Request>, flag: Out<c_int>, array_of_statuses: Out<MPI_Status>);
    fn MPI_Request_get_status_some / PMPI_Request_get_status_some(incount: c_int,
        array_of_requests: In<MPI_Request>, outcount: Out<c_int>, array_of_indices: Out<c_int>,
        array_of_statuses: Out<MPI_Status>);
}

// Cancelling.
unsupported! {
    "3.8.4";
    fn MPI_Cancel / PMPI_Cancel(request: Out<MPI_Request>);
}

// Status.
unsupported! {
    "3.2.5";
    fn MPI_Get_count / PMPI_Get_count(status: In<MPI_Status>, datatype: MPI_Datatype, count: Out<c_int>);
    fn MPI_Get_count_c / PMPI_Get_count_c(status: In<MPI_Status>, datatype: MPI_Datatype,
        count: Out<MPI_Count>);
    fn MPI_Get_elements / PMPI_Get_elements(status: In<MPI_Status>, datatype: MPI_Datatype,
        count: Out<c_int>);
    fn MPI_Get_elements_c / PMPI_Get_elements_c(status: In<MPI_Status>, datatype: MPI_Datatype,
        count: Out<MPI_Count>);
    fn MPI_Get_elements_x / PMPI_Get_elements_x(status: In<MPI_Status>, datatype: MPI_Datatype,
        count: Out<MPI_Count>);
}

// Status of generalised requests.
unsupported! {
    "13.3";
    fn MPI_Status_set_elements / PMPI_Status_set_elements(status: Out<MPI_Status>, datatype: MPI_Datatype,
        count: c_int);
    fn MPI_Status_set_elements_c / PMPI_Status_set_elements_c(status: Out<MPI_Status>, datatype: MPI_Datatype,
        count: MPI_Count);
    fn MPI_Status_set_elements_x / PMPI_Status_set_elements_x(status: Out<MPI_Status>, datatype: MPI_Datatype,
        count: MPI_Count);
}

// Generalised requests.
unsupported! {
    "13.2";
    fn MPI_Grequest_start / PMPI_Grequest_start(query_fn: MPI_Grequest_query_function,
        free_fn: MPI_Grequest_free_function, cancel_fn: MPI_Grequest_cancel_function,
        extra_state: *mut c_void, request: Out<MPI_Request>);
    fn MPI_Grequest_complete / PMPI_Grequest_complete(request: MPI_Request);
}

mpi_fn! {
    /// MPI-5.0 §3.8.4
    fn MPI_Test_cancelled / PMPI_Test_cancelled(status: In<MPI_Status>, flag: Out<c_int>) anytime {
        flag.set("flag", c_int::from(status.get("status")?.cancelled()))
    }
    /// MPI-5.0 §3.2.5
    fn MPI_Status_get_source / PMPI_Status_get_source(status: In<MPI_Status>, source: Out<c_int>) anytime {
        source.set("source", status.get("status")?.MPI_SOURCE)
    }
    /// MPI-5.0 §3.2.5
    fn MPI_Status_get_tag / PMPI_Status_get_tag(status: In<MPI_Status>, tag: Out<c_int>) anytime {
        tag.set("tag", status.get("status")?.MPI_TAG)
    }
    /// MPI-5.0 §3.2.5
    fn MPI_Status_get_error / PMPI_Status_get_error(status: In<MPI_Status>, error: Out<c_int>) anytime {
        error.set("error", status.get("status")?.MPI_ERROR)
    }
    /// MPI-5.0 §13.3
    fn MPI_Status_set_source / PMPI_Status_set_source(status: Out<MPI_Status>, source: c_int) anytime {
        status.set("status", MPI_Status { MPI_SOURCE: source, ..status.get("status")? })
    }
    /// MPI-5.0 §13.3
    fn MPI_Status_set_tag / PMPI_Status_set_tag(status: Out<MPI_Status>, tag: c_int) anytime {
        status.set("status", MPI_Status { MPI_TAG: tag, ..status.get("status")? })
    }
    /// MPI-5.0 §13.3
    fn MPI_Status_set_error / PMPI_Status_set_error(status: Out<MPI_Status>, error: c_int) anytime {
        status.set("status", MPI_Status { MPI_ERROR: error, ..status.get("status")? })
    }
    /// MPI-5.0 §13.3
    fn MPI_Status_set_cancelled / PMPI_Status_set_cancelled(status: Out<MPI_Status>, flag: c_int) anytime {
        let mut changed = status.get("status")?;
        changed.set_cancelled(flag != 0);
        status.set("status", changed)
    }
}
