//! `posthaste-names`: see `posthaste_launch::names`.
#![forbid(unsafe_code)]

fn main() {
    std::process::exit(posthaste_launch::names::main());
}
