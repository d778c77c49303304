//! C functions for info objects (MPI-5.0 chapter 10).
//!
//! They may be called at any time.

use std::ffi::{c_char, c_int};

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::info::Info;

use crate::abi::constants::{MPI_INFO_NULL, MPI_MAX_INFO_KEY};
use crate::abi::pointer::{In, Out};
use crate::abi::types::MPI_Info;
use crate::call::mpi_fn;
use crate::object::info::{ENVIRONMENT, find, remove, store};

mpi_fn! {
    /// MPI-5.0 §10
    fn MPI_Info_create / PMPI_Info_create(info: Out<MPI_Info>) anytime {
        info.set("info", store(Info::new())?)
    }
    /// MPI-5.0 §10. The same as `MPI_INFO_ENV` in a new object; the arguments tell us nothing that it does not.
    fn MPI_Info_create_env / PMPI_Info_create_env(argc: c_int, argv: Out<*mut c_char>, info: Out<MPI_Info>)
        anytime {
        let _ = (argc, argv);
        info.set("info", store(ENVIRONMENT.clone())?)
    }
    /// MPI-5.0 §10
    fn MPI_Info_delete / PMPI_Info_delete(info: MPI_Info, key: In<c_char>) anytime {
        find("info", info)?.delete(key.bytes("key")?)
    }
    /// MPI-5.0 §10
    fn MPI_Info_dup / PMPI_Info_dup(info: MPI_Info, newinfo: Out<MPI_Info>) anytime {
        let copy = Info::clone(&*find("info", info)?);
        newinfo.set("newinfo", store(copy)?)
    }
    /// MPI-5.0 §10
    fn MPI_Info_free / PMPI_Info_free(info: Out<MPI_Info>) anytime {
        remove(info.get("info")?)?;
        info.set("info", MPI_INFO_NULL)
    }
    /// MPI-5.0 §10
    fn MPI_Info_get_nkeys / PMPI_Info_get_nkeys(info: MPI_Info, nkeys: Out<c_int>) anytime {
        nkeys.set("nkeys", find("info", info)?.len() as c_int)
    }
    /// MPI-5.0 §10
    fn MPI_Info_get_nthkey / PMPI_Info_get_nthkey(info: MPI_Info, n: c_int, key: Out<c_char>) anytime {
        key.set_bytes("key", &find("info", info)?.nth_key(n)?, MPI_MAX_INFO_KEY as usize)
    }
    /// MPI-5.0 §10
    fn MPI_Info_get_string / PMPI_Info_get_string(info: MPI_Info, key: In<c_char>, buflen: Out<c_int>,
        value: Out<c_char>, flag: Out<c_int>) anytime {
        let found = find("info", info)?.get(checked(key.bytes("key")?)?);
        flag.set("flag", c_int::from(found.is_some()))?;
        let Some(found) = found else { return Ok(()) };
        let room = buflen.get("buflen")?;
        if room > 0 {
            value.set_bytes("value", &found, room as usize)?;
        }
        buflen.set("buflen", found.len() as c_int + 1)
    }
    /// MPI-5.0 §10
    fn MPI_Info_set / PMPI_Info_set(info: MPI_Info, key: In<c_char>, value: In<c_char>) anytime {
        find("info", info)?.set(checked(key.bytes("key")?)?, value.bytes("value")?)
    }
    /// MPI-5.0 §16.1
    fn MPI_Info_get / PMPI_Info_get(info: MPI_Info, key: In<c_char>, valuelen: c_int, value: Out<c_char>,
        flag: Out<c_int>) anytime {
        let found = find("info", info)?.get(checked(key.bytes("key")?)?);
        flag.set("flag", c_int::from(found.is_some()))?;
        let Some(found) = found else { return Ok(()) };
        let room = usize::try_from(valuelen)
            .map_err(|_| Error::invalid(ErrorClass::Arg, "valuelen", valuelen, "0 or more"))?;
        value.set_bytes("value", &found, room + 1)
    }
    /// MPI-5.0 §16.1
    fn MPI_Info_get_valuelen / PMPI_Info_get_valuelen(info: MPI_Info, key: In<c_char>, valuelen: Out<c_int>,
        flag: Out<c_int>) anytime {
        let found = find("info", info)?.get(checked(key.bytes("key")?)?);
        flag.set("flag", c_int::from(found.is_some()))?;
        match found {
            Some(found) => valuelen.set("valuelen", found.len() as c_int),
            None => Ok(()),
        }
    }
}

/// A key that a program may set; to look up another one is a mistake.
fn checked(key: &[u8]) -> Result<&[u8]> {
    if key.is_empty() || key.len() >= MPI_MAX_INFO_KEY as usize {
        let got = format_args!("{} bytes long", key.len());
        let expected = format_args!("1..={} bytes", MPI_MAX_INFO_KEY - 1);
        return Err(Error::invalid(ErrorClass::InfoKey, "key", got, expected));
    }
    Ok(key)
}
