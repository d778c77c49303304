//! Gives the C library its SONAME, `libmpi_abi.so.1`, by which programs built for the standard ABI find it,
//! and binds references inside the library to the library itself, so that a tool which overrides `MPI_X`
//! never comes between two functions of ours (MPI-5.0 §15.2, chapter 20).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
}
