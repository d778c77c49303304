//! C functions for windows as objects: made, freed, looked at (MPI-5.0 §12.2).

use std::ffi::{c_char, c_int, c_void};

use posthaste_core::comm::Comm;
use posthaste_core::datatype::Segment;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::info::Info;
use posthaste_core::win::Flavor;
use posthaste_core::world::NewWindow;

use crate::abi::constants::{MPI_IN_PLACE, MPI_MAX_OBJECT_NAME, MPI_WIN_NULL};
use crate::abi::pointer::{In, Out};
use crate::abi::types::{MPI_Aint, MPI_Comm, MPI_Group, MPI_Info, MPI_Win};
use crate::call::mpi_fn;
use crate::failure;
use crate::layer::attribute::KEYVALS;
use crate::layer::communicator::session_of;
use crate::layer::library::library;
use crate::mapping::ranks::rank_in;
use crate::object::memory::base;
use crate::object::{attribute, communicator, group, info, object_name, window};

// Constructors.
mpi_fn! {
    /// MPI-5.0 §12.2.1
    fn MPI_Win_create / PMPI_Win_create(base: *mut c_void, size: MPI_Aint, disp_unit: c_int, info: MPI_Info,
        comm: MPI_Comm, win: Out<MPI_Win>) raises comm => {
        create((base, size), disp_unit as MPI_Aint, info, comm, win)
    }
    /// MPI-5.0 §12.2.1
    fn MPI_Win_create_c / PMPI_Win_create_c(base: *mut c_void, size: MPI_Aint, disp_unit: MPI_Aint,
        info: MPI_Info, comm: MPI_Comm, win: Out<MPI_Win>) raises comm => {
        create((base, size), disp_unit, info, comm, win)
    }
    /// MPI-5.0 §12.2.2
    fn MPI_Win_allocate / PMPI_Win_allocate(size: MPI_Aint, disp_unit: c_int, info: MPI_Info, comm: MPI_Comm,
        baseptr: *mut c_void, win: Out<MPI_Win>) raises comm => {
        allocate(Flavor::Allocate, size, disp_unit as MPI_Aint, info, comm, baseptr, win)
    }
    /// MPI-5.0 §12.2.2
    fn MPI_Win_allocate_c / PMPI_Win_allocate_c(size: MPI_Aint, disp_unit: MPI_Aint, info: MPI_Info,
        comm: MPI_Comm, baseptr: *mut c_void, win: Out<MPI_Win>) raises comm => {
        allocate(Flavor::Allocate, size, disp_unit, info, comm, baseptr, win)
    }
    /// MPI-5.0 §12.2.3
    fn MPI_Win_allocate_shared / PMPI_Win_allocate_shared(size: MPI_Aint, disp_unit: c_int, info: MPI_Info,
        comm: MPI_Comm, baseptr: *mut c_void, win: Out<MPI_Win>) raises comm => {
        allocate(Flavor::Shared, size, disp_unit as MPI_Aint, info, comm, baseptr, win)
    }
    /// MPI-5.0 §12.2.3
    fn MPI_Win_allocate_shared_c / PMPI_Win_allocate_shared_c(size: MPI_Aint, disp_unit: MPI_Aint,
        info: MPI_Info, comm: MPI_Comm, baseptr: *mut c_void, win: Out<MPI_Win>) raises comm => {
        allocate(Flavor::Shared, size, disp_unit, info, comm, baseptr, win)
    }
    /// MPI-5.0 §12.2.4
    fn MPI_Win_create_dynamic / PMPI_Win_create_dynamic(info: MPI_Info, comm: MPI_Comm, win: Out<MPI_Win>)
        raises comm => {
        win.set("win", MPI_WIN_NULL)?;
        let (comm, info) = (communicator::find("comm", comm)?, info::hints(info)?);
        let new = NewWindow { comm: &comm, unit: 1, info: &info };
        win.set("win", window::store(library().world.create_dynamic_window(&new)?)?)
    }
}

// Memory that is attached, and memory that is shared.
mpi_fn! {
    /// MPI-5.0 §12.2.4
    fn MPI_Win_attach / PMPI_Win_attach(win: MPI_Win, base: *mut c_void, size: MPI_Aint) raises win => {
        let found = window::find("win", win)?;
        library().world.attach_memory(&found.window, &memory("base", base, bytes(size)?)?)
    }
    /// MPI-5.0 §12.2.4
    fn MPI_Win_detach / PMPI_Win_detach(win: MPI_Win, base: *const c_void) raises win => {
        let found = window::find("win", win)?;
        library().world.detach_memory(&found.window, base.expose_provenance() as u64)
    }
    /// MPI-5.0 §12.2.3
    fn MPI_Win_shared_query / PMPI_Win_shared_query(win: MPI_Win, rank: c_int, size: Out<MPI_Aint>,
        disp_unit: Out<c_int>, baseptr: *mut c_void) raises win => {
        let unit = query(win, rank, size, baseptr)?;
        disp_unit.set("disp_unit", c_int::try_from(unit).unwrap_or(c_int::MAX))
    }
    /// MPI-5.0 §12.2.3
    fn MPI_Win_shared_query_c / PMPI_Win_shared_query_c(win: MPI_Win, rank: c_int, size: Out<MPI_Aint>,
        disp_unit: Out<MPI_Aint>, baseptr: *mut c_void) raises win => {
        let unit = query(win, rank, size, baseptr)?;
        disp_unit.set("disp_unit", unit as MPI_Aint)
    }
}

// Destructor.
mpi_fn! {
    /// MPI-5.0 §12.2.5
    fn MPI_Win_free / PMPI_Win_free(win: Out<MPI_Win>) raises win.get("win").unwrap_or(MPI_WIN_NULL) => {
        let handle = win.get("win")?;
        let found = window::find("win", handle)?;
        found.window.check_free()?;
        found.window.attributes().delete_all(&KEYVALS, handle.number()).map_err(attribute::refused)?;
        let outcome = library().world.free_window(&found.window);
        // A window that is revoked is freed by each member alone, and that is in order.
        let outcome = outcome.or_else(|why| if why.class() == ErrorClass::Revoked { Ok(()) } else { Err(why) });
        if outcome.is_err() {
            failure::of_freed_window(found.handler());
        }
        window::remove(handle)?;
        win.set("win", MPI_WIN_NULL)?;
        outcome
    }
}

// Accessors.
mpi_fn! {
    /// MPI-5.0 §12.2.6
    fn MPI_Win_get_group / PMPI_Win_get_group(win: MPI_Win, group: Out<MPI_Group>) raises win => {
        let found = window::find("win", win)?;
        let comm = found.window.comm();
        group.set("group", group::store(comm.group().clone(), session_of(comm))?)
    }
    /// MPI-5.0 §12.2.7
    fn MPI_Win_set_info / PMPI_Win_set_info(win: MPI_Win, info: MPI_Info) raises win => {
        let (found, info) = (window::find("win", win)?, info::hints(info)?);
        found.window.hints().set(&info);
        Ok(())
    }
    /// MPI-5.0 §12.2.7
    fn MPI_Win_get_info / PMPI_Win_get_info(win: MPI_Win, info_used: Out<MPI_Info>) raises win => {
        let found = window::find("win", win)?;
        info_used.set("info_used", info::store(Info::clone(found.window.hints().shown()))?)
    }
    /// MPI-5.0 §7.8
    fn MPI_Win_set_name / PMPI_Win_set_name(win: MPI_Win, win_name: In<c_char>) raises win => {
        let name = object_name("win_name", win_name)?;
        window::find("win", win)?.window.set_name(&name);
        Ok(())
    }
    /// MPI-5.0 §7.8
    fn MPI_Win_get_name / PMPI_Win_get_name(win: MPI_Win, win_name: Out<c_char>, resultlen: Out<c_int>)
        raises win => {
        let name = match win {
            MPI_WIN_NULL => "MPI_WIN_NULL".to_string(),
            win => window::find("win", win)?.window.name(),
        };
        resultlen.set("resultlen", win_name.set_text("win_name", &name, MPI_MAX_OBJECT_NAME as usize)?)
    }
}

fn create(
    (base, size): (*mut c_void, MPI_Aint),
    unit: MPI_Aint,
    info: MPI_Info,
    comm: MPI_Comm,
    win: Out<MPI_Win>,
) -> Result<()> {
    win.set("win", MPI_WIN_NULL)?;
    let (comm, info) = (communicator::find("comm", comm)?, info::hints(info)?);
    let memory = memory("base", base, bytes(size)?)?;
    let new = new(&comm, unit, &info)?;
    win.set("win", window::store(library().world.create_window(&new, &memory)?)?)
}

fn allocate(
    flavor: Flavor,
    size: MPI_Aint,
    unit: MPI_Aint,
    info: MPI_Info,
    comm: MPI_Comm,
    baseptr: *mut c_void,
    win: Out<MPI_Win>,
) -> Result<()> {
    win.set("win", MPI_WIN_NULL)?;
    let place = Out::<*mut c_void>::at(baseptr);
    place.ready("baseptr")?;
    let (comm, info) = (communicator::find("comm", comm)?, info::hints(info)?);
    let new = new(&comm, unit, &info)?;
    let made = library().world.allocate_window(&new, bytes(size)?, flavor)?;
    place.set("baseptr", address(made.memory().0))?;
    win.set("win", window::store(made)?)
}

fn new<'a>(comm: &'a Comm, unit: MPI_Aint, info: &'a Info) -> Result<NewWindow<'a>> {
    match u64::try_from(unit) {
        Ok(unit @ 1..) => Ok(NewWindow { comm, unit, info }),
        _ => Err(Error::invalid(ErrorClass::Disp, "disp_unit", unit, "1 or more")),
    }
}

fn bytes(size: MPI_Aint) -> Result<u64> {
    u64::try_from(size).map_err(|_| Error::invalid(ErrorClass::Size, "size", size, "0 or more"))
}

/// Memory of the program, for peers.
fn memory(argument: &'static str, address: *mut c_void, size: u64) -> Result<Segment> {
    if size > 0 && (address.is_null() || address.addr() == MPI_IN_PLACE) {
        let got = if address.is_null() { "NULL" } else { "MPI_IN_PLACE" };
        let expected = format_args!("the address of {size} bytes");
        return Err(Error::invalid(ErrorClass::Base, argument, got, expected));
    }
    // SAFETY: the program describes its memory by this size, and keeps it until the window is freed or the memory is
    // detached (MPI-5.0 §12.2.1, §12.2.4).
    Ok(Segment::bytes_at(unsafe { base(address) }, size))
}

fn query(win: MPI_Win, rank: c_int, size: Out<MPI_Aint>, baseptr: *mut c_void) -> Result<u64> {
    let place = Out::<*mut c_void>::at(baseptr);
    place.ready("baseptr")?;
    let (base, len, unit) = {
        let found = window::find("win", win)?;
        library().world.query_window("MPI_Win_shared_query", &found.window, rank_in(rank))?
    };
    size.set("size", len as MPI_Aint)?;
    place.set("baseptr", address(base))?;
    Ok(unit)
}

/// Memory of a window, for the program.
fn address(base: usize) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(base)
}
