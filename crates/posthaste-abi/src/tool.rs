//! C functions for the tool information interface (MPI-5.0 §15.3).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_char, c_int, c_void};

use crate::call::unsupported;
use crate::pointer::{In, Out};
use crate::types::{
    MPI_Aint, MPI_Count, MPI_Datatype, MPI_Info, MPI_T_cb_safety, MPI_T_cvar_handle, MPI_T_enum,
    MPI_T_event_cb_function, MPI_T_event_dropped_cb_function, MPI_T_event_free_cb_function,
    MPI_T_event_instance, MPI_T_event_registration, MPI_T_pvar_handle, MPI_T_pvar_session,
    MPI_T_source_order,
};

// Start and end.
unsupported! {
    "15.3.4";
    fn MPI_T_init_thread / PMPI_T_init_thread(required: c_int, provided: Out<c_int>);
    fn MPI_T_finalize / PMPI_T_finalize();
}

// Enumerations.
unsupported! {
    "15.3.5";
    fn MPI_T_enum_get_info / PMPI_T_enum_get_info(enumtype: MPI_T_enum, num: Out<c_int>, name: Out<c_char>,
        name_len: Out<c_int>);
    fn MPI_T_enum_get_item / PMPI_T_enum_get_item(enumtype: MPI_T_enum, indx: c_int, value: Out<c_int>,
        name: Out<c_char>, name_len: Out<c_int>);
}

// Control variables.
unsupported! {
    "15.3.6";
    fn MPI_T_cvar_get_num / PMPI_T_cvar_get_num(num_cvar: Out<c_int>);
    fn MPI_T_cvar_get_info / PMPI_T_cvar_get_info(cvar_index: c_int, name: Out<c_char>, name_len: Out<c_int>,
        verbosity: Out<c_int>, datatype: Out<MPI_Datatype>, enumtype: Out<MPI_T_enum>, desc: Out<c_char>,
        desc_len: Out<c_int>, bind: Out<c_int>, scope: Out<c_int>);
    fn MPI_T_cvar_get_index / PMPI_T_cvar_get_index(name: In<c_char>, cvar_index: Out<c_int>);
    fn MPI_T_cvar_handle_alloc / PMPI_T_cvar_handle_alloc(cvar_index: c_int, obj_handle: *mut c_void,
        handle: Out<MPI_T_cvar_handle>, count: Out<c_int>);
    fn MPI_T_cvar_handle_free / PMPI_T_cvar_handle_free(handle: Out<MPI_T_cvar_handle>);
    fn MPI_T_cvar_read / PMPI_T_cvar_read(handle: MPI_T_cvar_handle, buf: *mut c_void);
    fn MPI_T_cvar_write / PMPI_T_cvar_write(handle: MPI_T_cvar_handle, buf: *const c_void);
}

// Performance variables.
unsupported! {
    "15.3.7";
    fn MPI_T_pvar_get_num / PMPI_T_pvar_get_num(num_pvar: Out<c_int>);
    fn MPI_T_pvar_get_info / PMPI_T_pvar_get_info(pvar_index: c_int, name: Out<c_char>, name_len: Out<c_int>,
        verbosity: Out<c_int>, var_class: Out<c_int>, datatype: Out<MPI_Datatype>, enumtype: Out<MPI_T_enum>,
        desc: Out<c_char>, desc_len: Out<c_int>, bind: Out<c_int>, readonly: Out<c_int>,
        continuous: Out<c_int>, atomic: Out<c_int>);
    fn MPI_T_pvar_get_index / PMPI_T_pvar_get_index(name: In<c_char>, var_class: c_int,
        pvar_index: Out<c_int>);
    fn MPI_T_pvar_session_create / PMPI_T_pvar_session_create(session: Out<MPI_T_pvar_session>);
    fn MPI_T_pvar_session_free / PMPI_T_pvar_session_free(session: Out<MPI_T_pvar_session>);
    fn MPI_T_pvar_handle_alloc / PMPI_T_pvar_handle_alloc(session: MPI_T_pvar_session, pvar_index: c_int,
        obj_handle: *mut c_void, handle: Out<MPI_T_pvar_handle>, count: Out<c_int>);
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
    fn MPI_T_source_get_num / PMPI_T_source_get_num(num_sources: Out<c_int>);
    fn MPI_T_source_get_info / PMPI_T_source_get_info(source_index: c_int, name: Out<c_char>,
        name_len: Out<c_int>, desc: Out<c_char>, desc_len: Out<c_int>, ordering: Out<MPI_T_source_order>,
        ticks_per_second: Out<MPI_Count>, max_ticks: Out<MPI_Count>, info: Out<MPI_Info>);
    fn MPI_T_source_get_timestamp / PMPI_T_source_get_timestamp(source_index: c_int,
        timestamp: Out<MPI_Count>);
    fn MPI_T_event_get_num / PMPI_T_event_get_num(num_events: Out<c_int>);
    fn MPI_T_event_get_info / PMPI_T_event_get_info(event_index: c_int, name: Out<c_char>,
        name_len: Out<c_int>, verbosity: Out<c_int>, array_of_datatypes: Out<MPI_Datatype>,
        array_of_displacements: Out<MPI_Aint>, num_elements: Out<c_int>, enumtype: Out<MPI_T_enum>,
        info: Out<MPI_Info>, desc: Out<c_char>, desc_len: Out<c_int>, bind: Out<c_int>);
    fn MPI_T_event_get_index / PMPI_T_event_get_index(name: In<c_char>, event_index: Out<c_int>);
    fn MPI_T_event_handle_alloc / PMPI_T_event_handle_alloc(event_index: c_int, obj_handle: *mut c_void,
        info: MPI_Info, event_registration: Out<MPI_T_event_registration>);
    fn MPI_T_event_handle_set_info / PMPI_T_event_handle_set_info(
        event_registration: MPI_T_event_registration, info: MPI_Info);
    fn MPI_T_event_handle_get_info / PMPI_T_event_handle_get_info(
        event_registration: MPI_T_event_registration, info_used: Out<MPI_Info>);
    fn MPI_T_event_handle_free / PMPI_T_event_handle_free(event_registration: MPI_T_event_registration,
        user_data: *mut c_void, free_cb_function: MPI_T_event_free_cb_function);
    fn MPI_T_event_register_callback / PMPI_T_event_register_callback(
        event_registration: MPI_T_event_registration, cb_safety: MPI_T_cb_safety, info: MPI_Info,
        user_data: *mut c_void, event_cb_function: MPI_T_event_cb_function);
    fn MPI_T_event_callback_set_info / PMPI_T_event_callback_set_info(
        event_registration: MPI_T_event_registration, cb_safety: MPI_T_cb_safety, info: MPI_Info);
    fn MPI_T_event_callback_get_info / PMPI_T_event_callback_get_info(
        event_registration: MPI_T_event_registration, cb_safety: MPI_T_cb_safety, info_used: Out<MPI_Info>);
    fn MPI_T_event_set_dropped_handler / PMPI_T_event_set_dropped_handler(
        event_registration: MPI_T_event_registration, dropped_cb_function: MPI_T_event_dropped_cb_function);
    fn MPI_T_event_read / PMPI_T_event_read(event_instance: MPI_T_event_instance, element_index: c_int,
        buffer: *mut c_void);
    fn MPI_T_event_copy / PMPI_T_event_copy(event_instance: MPI_T_event_instance, buffer: *mut c_void);
    fn MPI_T_event_get_timestamp / PMPI_T_event_get_timestamp(event_instance: MPI_T_event_instance,
        event_timestamp: Out<MPI_Count>);
    fn MPI_T_event_get_source / PMPI_T_event_get_source(event_instance: MPI_T_event_instance,
        source_index: Out<c_int>);
}

// Categories.
unsupported! {
    "15.3.9";
    fn MPI_T_category_get_num / PMPI_T_category_get_num(num_cat: Out<c_int>);
    fn MPI_T_category_get_info / PMPI_T_category_get_info(cat_index: c_int, name: Out<c_char>,
        name_len: Out<c_int>, desc: Out<c_char>, desc_len: Out<c_int>, num_cvars: Out<c_int>,
        num_pvars: Out<c_int>, num_categories: Out<c_int>);
    fn MPI_T_category_get_num_events / PMPI_T_category_get_num_events(cat_index: c_int,
        num_events: Out<c_int>);
    fn MPI_T_category_get_index / PMPI_T_category_get_index(name: In<c_char>, cat_index: Out<c_int>);
    fn MPI_T_category_get_cvars / PMPI_T_category_get_cvars(cat_index: c_int, len: c_int,
        indices: Out<c_int>);
    fn MPI_T_category_get_pvars / PMPI_T_category_get_pvars(cat_index: c_int, len: c_int,
        indices: Out<c_int>);
    fn MPI_T_category_get_events / PMPI_T_category_get_events(cat_index: c_int, len: c_int,
        indices: Out<c_int>);
    fn MPI_T_category_get_categories / PMPI_T_category_get_categories(cat_index: c_int, len: c_int,
        indices: Out<c_int>);
    fn MPI_T_category_changed / PMPI_T_category_changed(update_number: Out<c_int>);
}
