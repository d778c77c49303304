//! `posthaste-info`: see `posthaste_launch::info`.
#![forbid(unsafe_code)]

fn main() {
    std::process::exit(posthaste_launch::info::main());
}
