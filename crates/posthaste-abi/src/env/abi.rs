//! C functions for what the ABI says about itself and about Fortran (MPI-5.0 chapter 20).
//!
//! They may be called at any time. This library has no Fortran part of its own, so it knows of Fortran what a binding
//! says it, once.

use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::info::Info;

use crate::abi::constants::{MPI_ABI_SUBVERSION, MPI_ABI_VERSION, MPI_INFO_NULL};
use crate::abi::pointer::Out;
use crate::abi::types::{MPI_Aint, MPI_Count, MPI_Info, MPI_Offset};
use crate::call::mpi_fn;
use crate::object::info;
use crate::object::memory::base;

mpi_fn! {
    /// MPI-5.0 chapter 20
    fn MPI_Abi_get_version / PMPI_Abi_get_version(abi_major: Out<c_int>, abi_minor: Out<c_int>) anytime {
        abi_major.set("abi_major", MPI_ABI_VERSION)?;
        abi_minor.set("abi_minor", MPI_ABI_SUBVERSION)
    }
    /// MPI-5.0 chapter 20
    fn MPI_Abi_get_info / PMPI_Abi_get_info(info: Out<MPI_Info>) anytime {
        let facts = Info::new();
        let sizes = [
            ("mpi_aint_size", size_of::<MPI_Aint>()),
            ("mpi_count_size", size_of::<MPI_Count>()),
            ("mpi_offset_size", size_of::<MPI_Offset>()),
        ];
        for (key, size) in sizes {
            facts.set(key.as_bytes(), size.to_string().as_bytes())?;
        }
        info.set("info", info::store(facts)?)
    }
    /// MPI-5.0 chapter 20
    fn MPI_Abi_get_fortran_info / PMPI_Abi_get_fortran_info(info: Out<MPI_Info>) anytime {
        match FORTRAN.get() {
            Some(facts) => info.set("info", info::store(facts.clone())?),
            None => info.set("info", MPI_INFO_NULL),
        }
    }
    /// MPI-5.0 chapter 20
    fn MPI_Abi_set_fortran_info / PMPI_Abi_set_fortran_info(info: MPI_Info) anytime {
        let facts = Info::clone(&*info::find("info", info)?);
        FORTRAN.set(facts).map_err(|_| Error::other(ErrorClass::Abi, "the facts about Fortran are known already"))
    }
    /// MPI-5.0 chapter 20
    fn MPI_Abi_get_fortran_booleans / PMPI_Abi_get_fortran_booleans(logical_size: c_int,
        logical_true: *mut c_void, logical_false: *mut c_void, is_set: Out<c_int>) anytime {
        let size = checked(logical_size)?;
        let known = booleans().iter().find(|known| known.size == size).copied();
        if let Some(known) = known {
            write(logical_true, &known.truth[..size])?;
            write(logical_false, &known.falsehood[..size])?;
        }
        is_set.set("is_set", c_int::from(known.is_some()))
    }
    /// MPI-5.0 chapter 20
    fn MPI_Abi_set_fortran_booleans / PMPI_Abi_set_fortran_booleans(logical_size: c_int,
        logical_true: *mut c_void, logical_false: *mut c_void) anytime {
        let size = checked(logical_size)?;
        let mut all = booleans();
        if all.iter().any(|known| known.size == size) {
            let text = format!("the values of logicals of {size} bytes are known already");
            return Err(Error::other(ErrorClass::Abi, text));
        }
        let (truth, falsehood) = (read(logical_true, size)?, read(logical_false, size)?);
        all.push(Booleans { size, truth, falsehood });
        Ok(())
    }
}

/// What a Fortran binding said about its compiler.
static FORTRAN: OnceLock<Info> = OnceLock::new();

/// Longest logical, in bytes.
const LONGEST: usize = 16;

/// The values of Fortran logicals of one size.
#[derive(Clone, Copy)]
struct Booleans {
    size: usize,
    truth: [u8; LONGEST],
    falsehood: [u8; LONGEST],
}

fn booleans() -> MutexGuard<'static, Vec<Booleans>> {
    static KNOWN: Mutex<Vec<Booleans>> = Mutex::new(Vec::new());
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn checked(size: c_int) -> Result<usize> {
    match size {
        1 | 2 | 4 | 8 | 16 => Ok(size as usize),
        _ => Err(Error::invalid(ErrorClass::Arg, "logical_size", size, "1, 2, 4, 8 or 16")),
    }
}

fn read(from: *mut c_void, size: usize) -> Result<[u8; LONGEST]> {
    if from.is_null() {
        return Err(Error::invalid(ErrorClass::Arg, "logical value", "NULL", "an address"));
    }
    let mut bytes = [0; LONGEST];
    // SAFETY: the program has a value of this size there.
    unsafe { base(from) }.source(size).copy_to(&mut bytes[..size]);
    Ok(bytes)
}

fn write(to: *mut c_void, bytes: &[u8]) -> Result<()> {
    if to.is_null() {
        return Err(Error::invalid(ErrorClass::Arg, "logical value", "NULL", "an address"));
    }
    // SAFETY: the program has room for a value of this size there.
    unsafe { base(to) }.sink(bytes.len()).copy_from(bytes);
    Ok(())
}
