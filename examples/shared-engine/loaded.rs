//! What `dlopen` has loaded, for the programs here.
#![allow(dead_code)] // each of them uses what it needs

use std::ffi::{CStr, CString, c_char, c_int, c_void};

/// `MPI_COMM_WORLD`, `MPI_INT` and `MPI_STATUS_IGNORE` in the standard ABI.
const WORLD: *const c_void = std::ptr::without_provenance(0x101);
const INT: *const c_void = std::ptr::without_provenance(0x209);

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// A shared object, in a scope of its own.
#[derive(Clone, Copy)]
pub(crate) struct Loaded(*mut c_void);

impl Loaded {
    /// Loads it.
    pub(crate) fn new(file: &str) -> Self {
        let file = CString::new(file).expect("the name of a file");
        const NOW: c_int = 2;
        // SAFETY: loading a library runs what it runs when it is loaded, which is why it is loaded.
        let library = unsafe { dlopen(file.as_ptr(), NOW) };
        assert!(!library.is_null(), "{file:?} cannot be loaded");
        Self(library)
    }

    fn symbol(self, name: &CStr) -> *mut c_void {
        // SAFETY: a library that is loaded, and a C string.
        let symbol = unsafe { dlsym(self.0, name.as_ptr()) };
        assert!(!symbol.is_null(), "there is no {name:?}");
        symbol
    }

    /// Calls a function of up to two numbers.
    pub(crate) fn call(self, name: &CStr, first: c_int, second: c_int) -> c_int {
        type Function = extern "C" fn(c_int, c_int) -> c_int;
        // SAFETY: those of the extension are such functions; one with fewer arguments does not look at the others.
        let function: Function = unsafe { std::mem::transmute(self.symbol(name)) };
        function(first, second)
    }

    /// `MPI_Init`, as that of a library with the standard ABI.
    pub(crate) fn mpi_init(self) -> c_int {
        type Init = extern "C" fn(*mut c_int, *mut c_void) -> c_int;
        // SAFETY: that is its type.
        let init: Init = unsafe { std::mem::transmute(self.symbol(c"MPI_Init")) };
        init(std::ptr::null_mut(), std::ptr::null_mut())
    }

    /// `MPI_Comm_rank` of the world.
    pub(crate) fn mpi_rank(self) -> c_int {
        type Rank = extern "C" fn(*const c_void, *mut c_int) -> c_int;
        let mut rank = -1;
        // SAFETY: that is its type.
        let function: Rank = unsafe { std::mem::transmute(self.symbol(c"MPI_Comm_rank")) };
        function(WORLD, &mut rank);
        rank
    }

    /// `MPI_Send` of a number.
    pub(crate) fn mpi_send(self, number: c_int, to: c_int) -> c_int {
        type Send = extern "C" fn(*const c_int, c_int, *const c_void, c_int, c_int, *const c_void) -> c_int;
        // SAFETY: that is its type.
        let send: Send = unsafe { std::mem::transmute(self.symbol(c"MPI_Send")) };
        send(&number, 1, INT, to, 7, WORLD)
    }

    /// `MPI_Recv` of a number.
    pub(crate) fn mpi_receive(self, from: c_int) -> c_int {
        type Receive = extern "C" fn(
            *mut c_int,
            c_int,
            *const c_void,
            c_int,
            c_int,
            *const c_void,
            *mut c_void,
        ) -> c_int;
        let mut number = -1;
        // SAFETY: that is its type.
        let receive: Receive = unsafe { std::mem::transmute(self.symbol(c"MPI_Recv")) };
        receive(&mut number, 1, INT, from, 7, WORLD, std::ptr::null_mut());
        number
    }
}
