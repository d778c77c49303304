//! C functions for the tool information interface (MPI-5.0 §15.3).
//!
//! Tools may call them before `MPI_Init` and after `MPI_Finalize` as well. There are no variables, events, sources and
//! categories yet, and the functions that count them say so. What asks for one of them is refused with an error code,
//! and never calls an error handler. What must stay true: a program that ignores the code finds a null handle, an index
//! of -1 or a count of 0 in the place of a result.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::abi::constants::{
    MPI_INFO_NULL, MPI_SUCCESS, MPI_T_CVAR_HANDLE_NULL, MPI_T_ERR_INVALID, MPI_T_ERR_NOT_INITIALIZED,
    MPI_T_PVAR_HANDLE_NULL, MPI_T_PVAR_SESSION_NULL, MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE,
    MPI_THREAD_SERIALIZED, MPI_THREAD_SINGLE,
};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{
    MPI_Aint, MPI_Count, MPI_Datatype, MPI_Info, MPI_T_cb_safety, MPI_T_cvar_handle, MPI_T_enum,
    MPI_T_event_cb_function, MPI_T_event_dropped_cb_function, MPI_T_event_free_cb_function,
    MPI_T_event_instance, MPI_T_event_registration, MPI_T_pvar_handle, MPI_T_pvar_session,
    MPI_T_source_order,
};
use crate::call::{mpi_fn, none, unsupported};

// Start and end.
mpi_fn! {
    /// MPI-5.0 §15.3.4
    fn MPI_T_init_thread / PMPI_T_init_thread(required: c_int, provided: Out<c_int>) -> c_int {
        let levels = [MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE];
        if !levels.contains(&required) || provided.set("provided", required).is_err() {
            return MPI_T_ERR_INVALID;
        }
        STARTS.fetch_add(1, Ordering::Relaxed);
        MPI_SUCCESS
    }
    /// MPI-5.0 §15.3.4
    fn MPI_T_finalize / PMPI_T_finalize() -> c_int {
        let ended = STARTS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |starts| starts.checked_sub(1));
        if ended.is_ok() { MPI_SUCCESS } else { MPI_T_ERR_NOT_INITIALIZED }
    }
}

// How many there are of each: none.
mpi_fn! {
    /// MPI-5.0 §15.3.6
    fn MPI_T_cvar_get_num / PMPI_T_cvar_get_num(num_cvar: Out<c_int>) -> c_int {
        zero(num_cvar)
    }
    /// MPI-5.0 §15.3.7
    fn MPI_T_pvar_get_num / PMPI_T_pvar_get_num(num_pvar: Out<c_int>) -> c_int {
        zero(num_pvar)
    }
    /// MPI-5.0 §15.3.8
    fn MPI_T_source_get_num / PMPI_T_source_get_num(num_sources: Out<c_int>) -> c_int {
        zero(num_sources)
    }
    /// MPI-5.0 §15.3.8
    fn MPI_T_event_get_num / PMPI_T_event_get_num(num_events: Out<c_int>) -> c_int {
        zero(num_events)
    }
    /// MPI-5.0 §15.3.9
    fn MPI_T_category_get_num / PMPI_T_category_get_num(num_cat: Out<c_int>) -> c_int {
        zero(num_cat)
    }
    /// MPI-5.0 §15.3.9. Categories never change.
    fn MPI_T_category_changed / PMPI_T_category_changed(update_number: Out<c_int>) -> c_int {
        zero(update_number)
    }
}

/// How many calls of `MPI_T_init_thread` no `MPI_T_finalize` has ended.
static STARTS: AtomicU32 = AtomicU32::new(0);

/// Reports that there are none.
fn zero(place: Out<c_int>) -> c_int {
    if place.set("number", 0).is_err() {
        MPI_T_ERR_INVALID
    } else if STARTS.load(Ordering::Relaxed) == 0 {
        MPI_T_ERR_NOT_INITIALIZED
    } else {
        MPI_SUCCESS
    }
}

// Enumerations.
unsupported! {
    "15.3.5";
    fn MPI_T_enum_get_info / PMPI_T_enum_get_info(enumtype: MPI_T_enum, num: Out<c_int>, name: Out<c_char>,
        name_len: Out<c_int>);
        leaving { none(num, 0) }
    fn MPI_T_enum_get_item / PMPI_T_enum_get_item(enumtype: MPI_T_enum, indx: c_int, value: Out<c_int>,
        name: Out<c_char>, name_len: Out<c_int>);
}

// Control variables.
unsupported! {
    "15.3.6";
    fn MPI_T_cvar_get_info / PMPI_T_cvar_get_info(cvar_index: c_int, name: Out<c_char>, name_len: Out<c_int>,
        verbosity: Out<c_int>, datatype: Out<MPI_Datatype>, enumtype: Out<MPI_T_enum>, desc: Out<c_char>,
        desc_len: Out<c_int>, bind: Out<c_int>, scope: Out<c_int>);
    fn MPI_T_cvar_get_index / PMPI_T_cvar_get_index(name: In<c_char>, cvar_index: Out<c_int>);
        leaving { none(cvar_index, -1) }
    fn MPI_T_cvar_handle_alloc / PMPI_T_cvar_handle_alloc(cvar_index: c_int, obj_handle: *mut c_void,
        handle: Out<MPI_T_cvar_handle>, count: Out<c_int>);
        leaving { none(handle, MPI_T_CVAR_HANDLE_NULL); none(count, 0) }
    fn MPI_T_cvar_handle_free / PMPI_T_cvar_handle_free(handle: Out<MPI_T_cvar_handle>);
    fn MPI_T_cvar_read / PMPI_T_cvar_read(handle: MPI_T_cvar_handle, buf: *mut c_void);
    fn MPI_T_cvar_write / PMPI_T_cvar_write(handle: MPI_T_cvar_handle, buf: *const c_void);
}

// Performance variables.
unsupported! {
    "15.3.7";
    fn MPI_T_pvar_get_info / PMPI_T_pvar_get_info(pvar_index: c_int, name: Out<c_char>, name_len: Out<c_int>,
        verbosity: Out<c_int>, var_class: Out<c_int>, datatype: Out<MPI_Datatype>, enumtype: Out<MPI_T_enum>,
        desc: Out<c_char>, desc_len: Out<c_int>, bind: Out<c_int>, readonly: Out<c_int>,
        continuous: Out<c_int>, atomic: Out<c_int>);
    fn MPI_T_pvar_get_index / PMPI_T_pvar_get_index(name: In<c_char>, var_class: c_int,
        pvar_index: Out<c_int>);
        leaving { none(pvar_index, -1) }
    fn MPI_T_pvar_session_create / PMPI_T_pvar_session_create(session: Out<MPI_T_pvar_session>);
        leaving { none(session, MPI_T_PVAR_SESSION_NULL) }
    fn MPI_T_pvar_session_free / PMPI_T_pvar_session_free(session: Out<MPI_T_pvar_session>);
    fn MPI_T_pvar_handle_alloc / PMPI_T_pvar_handle_alloc(session: MPI_T_pvar_session, pvar_index: c_int,
        obj_handle: *mut c_void, handle: Out<MPI_T_pvar_handle>, count: Out<c_int>);
        leaving { none(handle, MPI_T_PVAR_HANDLE_NULL); none(count, 0) }
    fn MPI_T_pvar_handle_free / PMPI_T_pvar_handle_free(session: MPI_T_pvar_session,
        handle: Out<MPI_T_pvar_handle>);
    fn MPI_T_pvar_start / PMPI_T_pvar_start(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle);
    fn MPI_T_pvar_stop / PMPI_T_pvar_stop(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle);
    fn MPI_T_pvar_read / PMPI_T_pvar_read(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle,
        buf: *mut c_void);
    fn MPI_T_pvar_write / PMPI_T_pvar_write(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle,
        buf: *const c_void);
    fn MPI_T_pvar_reset / PMPI_T_pvar_reset(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle);
    fn MPI_T_pvar_readreset / PMPI_T_pvar_readreset(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle,
        buf: *mut c_void);
}

// Events.
unsupported! {
    "15.3.8";
    fn MPI_T_source_get_info / PMPI_T_source_get_info(source_index: c_int, name: Out<c_char>,
        name_len: Out<c_int>, desc: Out<c_char>, desc_len: Out<c_int>, ordering: Out<MPI_T_source_order>,
        ticks_per_second: Out<MPI_Count>, max_ticks: Out<MPI_Count>, info: Out<MPI_Info>);
    fn MPI_T_source_get_timestamp / PMPI_T_source_get_timestamp(source_index: c_int,
        timestamp: Out<MPI_Count>);
    fn MPI_T_event_get_info / PMPI_T_event_get_info(event_index: c_int, name: Out<c_char>,
        name_len: Out<c_int>, verbosity: Out<c_int>, array_of_datatypes: Out<MPI_Datatype>,
        array_of_displacements: Out<MPI_Aint>, num_elements: Out<c_int>, enumtype: Out<MPI_T_enum>,
        info: Out<MPI_Info>, desc: Out<c_char>, desc_len: Out<c_int>, bind: Out<c_int>);
        leaving { none(num_elements, 0) }
    fn MPI_T_event_get_index / PMPI_T_event_get_index(name: In<c_char>, event_index: Out<c_int>);
        leaving { none(event_index, -1) }
    fn MPI_T_event_handle_alloc / PMPI_T_event_handle_alloc(event_index: c_int, obj_handle: *mut c_void,
        info: MPI_Info, event_registration: Out<MPI_T_event_registration>);
        leaving { none(event_registration, MPI_T_event_registration::numbered(0)) }
    fn MPI_T_event_handle_set_info / PMPI_T_event_handle_set_info(
        event_registration: MPI_T_event_registration, info: MPI_Info);
    fn MPI_T_event_handle_get_info / PMPI_T_event_handle_get_info(
        event_registration: MPI_T_event_registration, info_used: Out<MPI_Info>);
        leaving { none(info_used, MPI_INFO_NULL) }
    fn MPI_T_event_handle_free / PMPI_T_event_handle_free(event_registration: MPI_T_event_registration,
        user_data: *mut c_void, free_cb_function: MPI_T_event_free_cb_function);
    fn MPI_T_event_register_callback / PMPI_T_event_register_callback(
        event_registration: MPI_T_event_registration, cb_safety: MPI_T_cb_safety, info: MPI_Info,
        user_data: *mut c_void, event_cb_function: MPI_T_event_cb_function);
    fn MPI_T_event_callback_set_info / PMPI_T_event_callback_set_info(
        event_registration: MPI_T_event_registration, cb_safety: MPI_T_cb_safety, info: MPI_Info);
    fn MPI_T_event_callback_get_info / PMPI_T_event_callback_get_info(
        event_registration: MPI_T_event_registration, cb_safety: MPI_T_cb_safety, info_used: Out<MPI_Info>);
        leaving { none(info_used, MPI_INFO_NULL) }
    fn MPI_T_event_set_dropped_handler / PMPI_T_event_set_dropped_handler(
        event_registration: MPI_T_event_registration, dropped_cb_function: MPI_T_event_dropped_cb_function);
    fn MPI_T_event_read / PMPI_T_event_read(event_instance: MPI_T_event_instance, element_index: c_int,
        buffer: *mut c_void);
    fn MPI_T_event_copy / PMPI_T_event_copy(event_instance: MPI_T_event_instance, buffer: *mut c_void);
    fn MPI_T_event_get_timestamp / PMPI_T_event_get_timestamp(event_instance: MPI_T_event_instance,
        event_timestamp: Out<MPI_Count>);
    fn MPI_T_event_get_source / PMPI_T_event_get_source(event_instance: MPI_T_event_instance,
        source_index: Out<c_int>);
        leaving { none(source_index, -1) }
}

// Categories.
unsupported! {
    "15.3.9";
    fn MPI_T_category_get_info / PMPI_T_category_get_info(cat_index: c_int, name: Out<c_char>,
        name_len: Out<c_int>, desc: Out<c_char>, desc_len: Out<c_int>, num_cvars: Out<c_int>,
        num_pvars: Out<c_int>, num_categories: Out<c_int>);
        leaving { none(num_cvars, 0); none(num_pvars, 0); none(num_categories, 0) }
    fn MPI_T_category_get_num_events / PMPI_T_category_get_num_events(cat_index: c_int,
        num_events: Out<c_int>);
        leaving { none(num_events, 0) }
    fn MPI_T_category_get_index / PMPI_T_category_get_index(name: In<c_char>, cat_index: Out<c_int>);
        leaving { none(cat_index, -1) }
    fn MPI_T_category_get_cvars / PMPI_T_category_get_cvars(cat_index: c_int, len: c_int,
        indices: Out<c_int>);
    fn MPI_T_category_get_pvars / PMPI_T_category_get_pvars(cat_index: c_int, len: c_int,
        indices: Out<c_int>);
    fn MPI_T_category_get_events / PMPI_T_category_get_events(cat_index: c_int, len: c_int,
        indices: Out<c_int>);
    fn MPI_T_category_get_categories / PMPI_T_category_get_categories(cat_index: c_int, len: c_int,
        indices: Out<c_int>);
}
