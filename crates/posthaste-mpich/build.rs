//! Gives the library the SONAME by which programs of the MPICH ABI find it, and binds references inside the library to the
//! library itself, as in `posthaste-abi`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmpi.so.12");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
}
