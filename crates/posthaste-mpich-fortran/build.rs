//! Gives the library the SONAME by which programs of MPICH's ABI find it, and the need for the C library, for which an empty one
//! with its SONAME stands in, as in `posthaste-fortran`.

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    let folder = env::var("OUT_DIR").expect("cargo names a folder");
    let stand_in = Path::new(&folder).join("libmpi.so");
    // For another processor cargo names a linker of it, which is a compiler.
    let linker = env::var("RUSTC_LINKER").ok().filter(|_| env::var("TARGET") != env::var("HOST"));
    let compiler = linker.unwrap_or_else(|| "cc".into());
    let made = Command::new(&compiler)
        .args(["-shared", "-nostdlib", "-Wl,-soname,libmpi.so.12", "-o"])
        .arg(&stand_in)
        .args(["-x", "c", "/dev/null"])
        .status();
    assert!(made.is_ok_and(|status| status.success()), "{compiler} cannot make {}", stand_in.display());
    for option in ["-soname,libmpifort.so.12", "-rpath,$ORIGIN", "--no-as-needed"] {
        println!("cargo:rustc-cdylib-link-arg=-Wl,{option}");
    }
    println!("cargo:rustc-cdylib-link-arg={}", stand_in.display());
}
