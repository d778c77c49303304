//! Gives the Fortran library its SONAME and the need for the C library, which is not there yet when this one is linked: an
//! empty library with its SONAME stands in for it.

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    let folder = env::var("OUT_DIR").expect("cargo names a folder");
    let stand_in = Path::new(&folder).join("libmpi_abi.so");
    // For another processor cargo names a linker of it, which is a compiler.
    let linker = env::var("RUSTC_LINKER").ok().filter(|_| env::var("TARGET") != env::var("HOST"));
    let compiler = linker.unwrap_or_else(|| "cc".into());
    let made = Command::new(&compiler)
        .args(["-shared", "-nostdlib", "-Wl,-soname,libmpi_abi.so.1", "-o"])
        .arg(&stand_in)
        .args(["-x", "c", "/dev/null"])
        .status();
    assert!(made.is_ok_and(|status| status.success()), "{compiler} cannot make {}", stand_in.display());
    for option in ["-soname,libmpifort_abi.so.1", "-rpath,$ORIGIN", "--no-as-needed"] {
        println!("cargo:rustc-cdylib-link-arg=-Wl,{option}");
    }
    println!("cargo:rustc-cdylib-link-arg={}", stand_in.display());
}
