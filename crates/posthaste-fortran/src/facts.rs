//! What C hears of Fortran when the library is loaded (MPI-5.0 chapter 20).

use std::ffi::c_int;

use crate::argument::{Address, Handle, Integer};
use crate::c;

/// Types of a fixed size that gfortran and flang have on this machine, and that they do not have.
const SUPPORTED: [(&str, bool); 18] = [
    ("logical1", true),
    ("logical2", true),
    ("logical4", true),
    ("logical8", true),
    ("logical16", true),
    ("integer1", true),
    ("integer2", true),
    ("integer4", true),
    ("integer8", true),
    ("integer16", true),
    ("real2", false),
    ("real4", true),
    ("real8", true),
    ("real16", true),
    ("complex4", false),
    ("complex8", true),
    ("complex16", true),
    ("complex32", true),
];

const SIZES: [(&str, &str); 4] = [
    ("mpi_logical_size", "4"),
    ("mpi_integer_size", "4"),
    ("mpi_real_size", "4"),
    ("mpi_double_precision_size", "8"),
];

/// Runs when the library is loaded, so that C knows before anybody can ask. Whoever has said it before has decided.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = tell;

extern "C" fn tell() {
    let (truth, falsehood): (c_int, c_int) = (1, 0);
    let mut info: Handle = 0;
    // SAFETY: these functions may be called at any time; the texts end with a null byte.
    unsafe {
        let values = ((&raw const truth) as Address, (&raw const falsehood) as Address);
        c::PMPI_Abi_set_fortran_booleans(size_of::<Integer>() as c_int, values.0, values.1);
        if c::PMPI_Info_create((&raw mut info).cast()) != 0 {
            return;
        }
        let set = |key: String, value: &str| {
            let (key, value) = (format!("{key}\0"), format!("{value}\0"));
            c::PMPI_Info_set(info, key.as_ptr() as Address, value.as_ptr() as Address);
        };
        SIZES.iter().for_each(|(key, value)| set((*key).into(), value));
        for (name, is_there) in SUPPORTED {
            set(format!("mpi_{name}_supported"), if is_there { "true" } else { "false" });
        }
        c::PMPI_Abi_set_fortran_info(info);
        c::PMPI_Info_free((&raw mut info).cast());
    }
}
