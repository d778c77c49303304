//! C functions for starting and ending MPI, versions, memory, timers, profiling control and addresses
//! (MPI-5.0 chapters 9 and 11, §5.1.5, §15.2).

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::Ordering;
use std::thread;

use posthaste_core::error::{Error, ErrorClass, Result, say};
use posthaste_core::instance::Job;
use posthaste_core::rivals;
use posthaste_core::win::wanted_alignment;

use crate::abi::constants::{
    MPI_COMM_SELF, MPI_MAX_LIBRARY_VERSION_STRING, MPI_MAX_PROCESSOR_NAME, MPI_SUBVERSION, MPI_SUCCESS,
    MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_SINGLE, MPI_VERSION,
};
use crate::abi::pointer::Out;
use crate::abi::types::{MPI_Aint, MPI_Comm, MPI_Info};
use crate::call::mpi_fn;
use crate::layer::bsend;
use crate::layer::hardware;
use crate::layer::library::{self, Library, Life, ThreadLevel, library, life};
use crate::object::site::Site;
use crate::object::{attribute, info, memory, parents};

// Starting and ending MPI.
mpi_fn! {
    /// MPI-5.0 §11.2.1
    fn MPI_Init / PMPI_Init(argc: Out<c_int>, argv: Out<*mut *mut c_char>) anytime {
        let _ = (argc, argv);
        start(ThreadLevel::Single)
    }
    /// MPI-5.0 §11.6.2
    fn MPI_Init_thread / PMPI_Init_thread(argc: Out<c_int>, argv: Out<*mut *mut c_char>, required: c_int,
        provided: Out<c_int>) anytime {
        let _ = (argc, argv);
        let Some((_, level)) = LEVELS.iter().find(|(number, _)| *number == required) else {
            return Err(Error::invalid(ErrorClass::Arg, "required", required,
                "MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE"));
        };
        provided.set("provided", MPI_THREAD_SINGLE)?;
        start(*level)?;
        provided.set("provided", number_of(library().provided))
    }
    /// MPI-5.0 §11.2.2
    fn MPI_Finalize / PMPI_Finalize() raises Site::Process => {
        finish()
    }
    /// MPI-5.0 §9.3.2. Ends the whole job, whichever communicator is given.
    fn MPI_Abort / PMPI_Abort(comm: MPI_Comm, errorcode: c_int) anytime {
        let _ = comm;
        let rank = library::WORLD_RANK.load(Ordering::Relaxed);
        if rank >= 0 {
            say(format_args!("MPI_Abort({errorcode}) was called on rank {rank} of MPI_COMM_WORLD"));
        } else {
            say(format_args!("MPI_Abort({errorcode}) was called"));
        }
        library::abort(errorcode)
    }
    /// MPI-5.0 §11.6.2
    fn MPI_Query_thread / PMPI_Query_thread(provided: Out<c_int>) raises Site::Process => {
        provided.set("provided", number_of(of_world()?.provided))
    }
    /// MPI-5.0 §11.6.2
    fn MPI_Is_thread_main / PMPI_Is_thread_main(flag: Out<c_int>) raises Site::Process => {
        flag.set("flag", c_int::from(of_world()?.main == thread::current().id()))
    }
}

// The machine and memory for messages.
mpi_fn! {
    /// MPI-5.0 §9.1.2
    fn MPI_Get_processor_name / PMPI_Get_processor_name(name: Out<c_char>, resultlen: Out<c_int>)
        raises Site::Process => {
        let length = name.set_text("name", &library().world.node_name(), MPI_MAX_PROCESSOR_NAME as usize)?;
        resultlen.set("resultlen", length)
    }
    /// MPI-5.0 §9.1.2
    fn MPI_Get_hw_resource_info / PMPI_Get_hw_resource_info(hw_info: Out<MPI_Info>) raises Site::Process => {
        hw_info.set("hw_info", info::store(hardware::kinds()?)?)
    }
    /// MPI-5.0 §9.2
    fn MPI_Alloc_mem / PMPI_Alloc_mem(size: MPI_Aint, info: MPI_Info, baseptr: *mut c_void)
        raises Site::Process => {
        let alignment = wanted_alignment(&*info::hints(info)?).unwrap_or(1);
        let size = usize::try_from(size)
            .map_err(|_| Error::invalid(ErrorClass::Arg, "size", size, "0 or more"))?;
        let base = Out::<*mut c_void>::at(baseptr);
        base.ready("baseptr")?;
        base.set("baseptr", heap::allocate(size, alignment)?)
    }
    /// MPI-5.0 §9.2
    fn MPI_Free_mem / PMPI_Free_mem(base: *mut c_void) raises Site::Process => {
        heap::free(base)
    }
}

mpi_fn! {
    /// MPI-5.0 §11.4.1
    fn MPI_Initialized / PMPI_Initialized(flag: Out<c_int>) anytime {
        flag.set("flag", c_int::from(life() != Life::Before))
    }
    /// MPI-5.0 §11.4.1
    fn MPI_Finalized / PMPI_Finalized(flag: Out<c_int>) anytime {
        flag.set("flag", c_int::from(life() == Life::After))
    }
    /// MPI-5.0 §9.1.1
    fn MPI_Get_version / PMPI_Get_version(version: Out<c_int>, subversion: Out<c_int>) anytime {
        version.set("version", MPI_VERSION)?;
        subversion.set("subversion", MPI_SUBVERSION)
    }
    /// MPI-5.0 §9.1.1
    fn MPI_Get_library_version / PMPI_Get_library_version(version: Out<c_char>, resultlen: Out<c_int>) anytime {
        let length = version.set_text("version", &library_version(), MPI_MAX_LIBRARY_VERSION_STRING as usize)?;
        resultlen.set("resultlen", length)
    }
    /// MPI-5.0 §9.6
    fn MPI_Wtime / PMPI_Wtime() -> f64 {
        clock::now()
    }
    /// MPI-5.0 §9.6
    fn MPI_Wtick / PMPI_Wtick() -> f64 {
        1e-9
    }
    /// MPI-5.0 §15.2.4. The standard's further arguments are for tools; this library has no use for them.
    fn MPI_Pcontrol / PMPI_Pcontrol(level: c_int) -> c_int {
        let _ = level;
        MPI_SUCCESS
    }
    /// MPI-5.0 §5.1.5
    fn MPI_Get_address / PMPI_Get_address(location: *const c_void, address: Out<MPI_Aint>) anytime {
        address.set("address", location.addr() as MPI_Aint)
    }
    /// MPI-5.0 §5.1.5
    fn MPI_Aint_add / PMPI_Aint_add(base: MPI_Aint, disp: MPI_Aint) -> MPI_Aint {
        base.wrapping_add(disp)
    }
    /// MPI-5.0 §5.1.5
    fn MPI_Aint_diff / PMPI_Aint_diff(addr1: MPI_Aint, addr2: MPI_Aint) -> MPI_Aint {
        addr1.wrapping_sub(addr2)
    }
}

/// What `MPI_Get_library_version` says. It must not begin like another library's, or bindings such as mpi4py
/// would apply that library's workarounds.
fn library_version() -> String {
    format!("posthaste {}, an MPI-5.0 library with {}", env!("CARGO_PKG_VERSION"), crate::abi::NAME)
}

/// The levels of thread support.
const LEVELS: [(c_int, ThreadLevel); 4] = [
    (MPI_THREAD_SINGLE, ThreadLevel::Single),
    (MPI_THREAD_FUNNELED, ThreadLevel::Funneled),
    (MPI_THREAD_SERIALIZED, ThreadLevel::Serialized),
    (MPI_THREAD_MULTIPLE, ThreadLevel::Multiple),
];

/// What stands for a level in C.
fn number_of(level: ThreadLevel) -> c_int {
    LEVELS.iter().find(|(_, other)| *other == level).map_or(MPI_THREAD_SINGLE, |(number, _)| *number)
}

/// Starts MPI, once in the life of the process.
fn start(required: ThreadLevel) -> Result<()> {
    match life() {
        Life::Before => {
            rivals::look();
            let library = library::start(required)?;
            memory::learn_sizes(library.world.vci().engine.config.check_types);
            // Who cannot meet them has not been initialised.
            parents::meet(&library.world)?;
            library::open(library);
            Ok(())
        }
        Life::Inside => Err(Error::other(ErrorClass::Other, "MPI has been initialised already")),
        Life::After => {
            Err(Error::other(ErrorClass::Other, "MPI was finalised; it cannot be initialised again"))
        }
    }
}

/// The library of `MPI_Init`; what asks for it tells nothing of sessions.
fn of_world() -> Result<&'static Library> {
    library::of_world().ok_or_else(|| {
        let when = if life() == Life::After { "after MPI_Finalize" } else { "before MPI_Init" };
        Error::other(
            ErrorClass::Other,
            format!("it was called {when}; that there is a session is not enough"),
        )
    })
}

/// Ends MPI: first the attributes of `MPI_COMM_SELF`, whose callbacks may still use everything
/// (MPI-5.0 §11.2.4), then the share of the engine.
fn finish() -> Result<()> {
    let library = of_world()?;
    attribute::delete_all_of_comm(MPI_COMM_SELF)?;
    bsend::finish()?;
    library.world.close(Job::Left)?;
    library::end();
    Ok(())
}

/// Memory that C programs get and give back.
mod heap {
    use std::collections::BTreeMap;
    use std::sync::{Mutex, PoisonError};

    use posthaste_core::buffer::Block;

    use super::{Error, ErrorClass, Result, c_void, library};

    /// What programs have got and not given back, by address.
    static GIVEN: Mutex<BTreeMap<usize, Block>> = Mutex::new(BTreeMap::new());

    /// The alignment is a power of two. What begins elsewhere is given back, and asked for once more with room to move up; for lack of
    /// that much memory it is not aligned.
    pub(super) fn allocate(size: usize, alignment: usize) -> Result<*mut c_void> {
        let world = &library().world;
        let mut block = world.allocate(size)?;
        let beyond = |block: &Block| block.as_ptr().addr().wrapping_neg() & (alignment - 1);
        if beyond(&block) > 0 {
            // At once it may be all the memory that there is.
            drop(block);
            let with_room = world.allocate(size.saturating_add(alignment - 1));
            block = with_room.or_else(|_| world.allocate(size))?;
        }
        let up = Some(beyond(&block)).filter(|up| up.saturating_add(size) <= block.len()).unwrap_or(0);
        let base: *mut c_void = block.as_ptr().wrapping_add(up).cast();
        GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(base.addr(), block);
        Ok(base)
    }

    pub(super) fn free(base: *mut c_void) -> Result<()> {
        if base.is_null() {
            return Ok(());
        }
        let block = GIVEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&base.addr());
        if block.is_none() {
            let got = format_args!("{base:p}");
            return Err(Error::invalid(ErrorClass::Base, "base", got, "what MPI_Alloc_mem gave, once"));
        }
        Ok(())
    }
}

/// The clock of the host, which all its processes share.
mod clock {
    use super::c_int;

    #[repr(C)]
    struct Moment {
        seconds: i64,
        nanoseconds: i64,
    }

    const MONOTONIC: c_int = 1;

    unsafe extern "C" {
        fn clock_gettime(clock: c_int, moment: *mut Moment) -> c_int;
    }

    /// Seconds since the host was started.
    pub(super) fn now() -> f64 {
        let mut moment = Moment { seconds: 0, nanoseconds: 0 };
        // SAFETY: `moment` is laid out like `struct timespec` of 64-bit systems, and the clock always exists.
        unsafe { clock_gettime(MONOTONIC, &mut moment) };
        moment.seconds as f64 + moment.nanoseconds as f64 * 1e-9
    }
}
